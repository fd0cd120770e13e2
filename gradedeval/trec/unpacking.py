"""Packed bytes -> the bytes they hold, as a stream, in a thread of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradedeval.trec.blocks import Irregular

PIECE = 1 << 20
AHEAD = 4
"""Pieces that may wait for the reader."""

Read = Callable[[int], bytes]


def packing(head: bytes) -> Callable[[Read], Iterator[bytes]] | None:
    """How a file that begins with these bytes is unpacked; None where it is not packed."""
    for magic, unpack in _METHODS.items():
        if head.startswith(magic):
            return unpack
    return None


class Unpacked:
    """The unpacked bytes, read by a thread that stays a few pieces ahead: zlib and its kin work beside Python.

    Broken data raise Irregular: the simple reader says what is wrong with them.
    """

    def __init__(self, method: Callable[[Read], Iterator[bytes]], read: Read, place: str) -> None:
        from queue import Queue
        from threading import Thread

        self._queue: Any = Queue(AHEAD)
        self._closed = False
        self._piece = memoryview(b"")
        self._ended = False
        self._thread = Thread(target=self._fill, args=(method, read), name=f"unpack {place}", daemon=True)
        self._thread.start()

    def _fill(self, method: Callable[[Read], Iterator[bytes]], read: Read) -> None:
        end: Any = b""
        try:
            for piece in method(read):
                if piece and not self._put(piece):
                    return
        except BaseException as error:
            end = error
        self._put(end)

    def _put(self, piece: Any) -> bool:
        """Whether somebody still waits for pieces."""
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
                raise Irregular from piece
            self._piece = memoryview(piece)
        count = min(len(view), len(self._piece))
        view[:count] = self._piece[:count]
        self._piece = self._piece[count:]
        return count

    def close(self) -> None:
        """Stop the thread; the source is free to be read by somebody else then."""
        self._closed = True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._thread.join()


def _readable(read: Read) -> Any:
    """What the libraries take for a file."""
    from types import SimpleNamespace

    return SimpleNamespace(read=read, seek=None, seekable=lambda: False, readable=lambda: True)


def _gzip(read: Read) -> Iterator[bytes]:
    import zlib

    packed = read(PIECE)
    while packed:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            yield member.decompress(packed, PIECE)
            packed = member.unconsumed_tail
            if not packed and not member.eof:
                # What is still inside comes out with the next bytes, or is not there at all.
                packed = read(PIECE)
                if not packed:
                    rest = member.flush()
                    if not member.eof:
                        raise Irregular
                    yield rest
        packed = member.unused_data.lstrip(b"\x00")  # padding between members
        while not packed and (more := read(PIECE)):
            packed = more.lstrip(b"\x00")


def _bzip2(read: Read) -> Iterator[bytes]:
    from bz2 import BZ2File

    with BZ2File(_readable(read)) as unpacked:
        while piece := unpacked.read(PIECE):
            yield piece


def _xz(read: Read) -> Iterator[bytes]:
    from lzma import LZMAFile

    with LZMAFile(_readable(read)) as unpacked:
        while piece := unpacked.read(PIECE):
            yield piece


def _zstd(read: Read) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise Irregular from None
    head = read(PIECE)
    expected = zstandard.frame_content_size(head)
    count = 0

    def from_head(size: int) -> bytes:
        nonlocal head
        if head:
            got, head = head[:size], head[size:]
            return got
        return read(size)

    with zstandard.ZstdDecompressor().stream_reader(_readable(from_head), read_across_frames=True) as unpacked:
        while piece := unpacked.read(PIECE):
            count += len(piece)
            yield piece
    # A stream that ends inside a frame is not an error to the library: it just stops.
    if count < expected or (expected < 0 and not count):
        raise Irregular


_METHODS: dict[bytes, Callable[[Read], Iterator[bytes]]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": _bzip2,
    b"\xfd7zXZ\x00": _xz,
    b"\x28\xb5\x2f\xfd": _zstd,
}
