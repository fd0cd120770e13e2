"""Compressed bytes -> a stream of decompressed bytes, made in a background thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradedeval.trec.source import decompressed_pieces

AHEAD = 16
"""Pieces that may be decompressed before the reader takes them."""


class BackgroundDecompressor:
    """The decompressed bytes, from a thread that stays a few pieces ahead: zlib and the like release the GIL.

    Reading raises what happened in the thread: InputError where the data are broken, OSError where they cannot be read.
    """

    def __init__(self, make: Callable[[], Any], read: Callable[[int], bytes], place: str) -> None:
        from queue import Queue
        from threading import Thread

        self._queue: Any = Queue(AHEAD)
        self._closed = False
        self._piece = memoryview(b"")
        self._end: Any = None  # empty bytes, or what happened, once there is no more
        self._thread = Thread(target=self._fill, args=(make, read, place), name=f"decompress {place}", daemon=True)
        self._thread.start()

    def _fill(self, make: Callable[[], Any], read: Callable[[int], bytes], place: str) -> None:
        end: Any = b""
        try:
            for piece in decompressed_pieces(read, make, place):
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
        if not len(self._piece) and self._end is None:
            piece = self._queue.get()
            if piece and not isinstance(piece, BaseException):
                self._piece = memoryview(piece)
            else:
                self._end = piece
        if isinstance(self._end, BaseException):
            raise self._end
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
