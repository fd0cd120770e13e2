"""Compressed bytes -> a stream of decompressed bytes, made in a background thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradedeval.trec.lines import NeedsLineReader
from gradedeval.trec.source import decompressed_pieces

AHEAD = 16
"""Pieces that may be decompressed before the reader takes them."""


class BackgroundDecompressor:
    """The decompressed bytes, from a thread that stays a few pieces ahead: zlib and the like release the GIL.

    Broken data raise NeedsLineReader: the line reader reports what is wrong with them.
    """

    def __init__(self, make: Callable[[], Any], read: Callable[[int], bytes], place: str) -> None:
        from queue import Queue
        from threading import Thread

        self._queue: Any = Queue(AHEAD)
        self._closed = False
        self._piece = memoryview(b"")
        self._ended = False
        self._thread = Thread(target=self._fill, args=(make, read), name=f"decompress {place}", daemon=True)
        self._thread.start()

    def _fill(self, make: Callable[[], Any], read: Callable[[int], bytes]) -> None:
        end: Any = b""
        try:
            for piece in decompressed_pieces(read, make):
                if piece and not self._put(piece):
                    return
        except BaseException as error:
            end = error
        self._put(end)

    def _put(self, piece: Any) -> bool:
        """Queue a piece; False if the reader has stopped."""
        from queue import Full

        while not self._closed:
            try:
                self._queue.put(piece, timeout=0.1)
                return True
            except Full:
                pass
        return False

    def read_into(self, view: memoryview) -> int:
        if not len(self._piece) and not self._ended:
            piece = self._queue.get()
            self._ended = not piece or isinstance(piece, BaseException)
            if isinstance(piece, OSError) and piece.errno is not None:
                raise piece
            if isinstance(piece, BaseException):
                raise NeedsLineReader from piece
            self._piece = memoryview(piece)
        count = min(len(view), len(self._piece))
        view[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count

    def close(self, wait: float | None = None) -> bool:
        """Stop the thread, and tell whether it ended within `wait` seconds: only then may the source be read again or
        closed."""
        self._closed = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._thread.join(wait)
        return not self._thread.is_alive()
