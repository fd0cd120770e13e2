"""Decompress streams in bounded pieces, ahead in a background thread; keep the bytes of pipes for rereading.

Compression is recognized by content. A stream that grows beyond a limit, as a decompression bomb does, is refused.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any

from gradedeval.errors import InputError, reason

SLICE = 1 << 16
"""Compressed bytes processed at once."""

FEW = 1 << 11
"""The same for zst, whose library cannot bound its output: it may be 32,768 times as large."""

PIECE = 1 << 20
"""Maximum decompressed bytes of a piece."""

AHEAD = 16
"""Maximum pieces decompressed ahead of the reader."""


@dataclass(eq=False, repr=False)
class Packing:
    """A compression format.

    make    return a decompressor for one stream
    pieces  yield the decompressed bytes of some input, at most PIECE at a time
    size    bytes of input at a time
    most    maximum growth factor
    """

    make: Callable[[], Any]
    pieces: Callable[[Any, bytes], Iterator[bytes]]
    size: int = SLICE
    most: int = field(default_factory=lambda: most_growth())


def packing_of(head: bytes, place: str) -> Packing | None:
    """Return the compression format of a file that starts with these bytes; None if it is not compressed."""
    packings: dict[bytes, Packing] = {
        b"\x1f\x8b": Packing(lambda: zlib.decompressobj(wbits=31), _of_zlib),
        b"BZh": Packing(lambda: _library("bz2", place).BZ2Decompressor(), _bounded),
        b"\xfd7zXZ\x00": Packing(lambda: _library("lzma", place).LZMADecompressor(), _bounded),
        b"\x28\xb5\x2f\xfd": Packing(
            lambda: _library("zstandard", place).ZstdDecompressor().decompressobj(), _at_once, FEW
        ),
        b"\x04\x22\x4d\x18": Packing(lambda: _library("lz4.frame", place).LZ4FrameDecompressor(), _bounded),
    }
    if head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F:  # a zstd file may start with a skippable frame
        return packings[b"\x28\xb5\x2f\xfd"]
    return next((packing for magic, packing in packings.items() if head.startswith(magic)), None)


def _of_zlib(stream: Any, piece: bytes) -> Iterator[bytes]:
    while True:
        yield (output := stream.decompress(piece, PIECE))
        piece = stream.unconsumed_tail
        if stream.eof or (not piece and len(output) < PIECE):
            return


def _bounded(stream: Any, piece: bytes) -> Iterator[bytes]:
    while True:
        yield stream.decompress(piece, PIECE)
        if stream.eof or stream.needs_input:
            return
        piece = b""


def _at_once(stream: Any, piece: bytes) -> Iterator[bytes]:
    output = stream.decompress(piece)
    yield from (output[i : i + PIECE] for i in range(0, len(output), PIECE))


def decompressed_pieces(read: Callable[[int], bytes], packing: Packing, place: str) -> Iterator[bytes]:
    """Yield the decompressed bytes of the input from `read`, piece by piece.

    Raises InputError if the data are broken or grow too much, and any OSError of `read`.
    """
    try:
        yield from _pieces(read, packing, place)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # each library has its own exceptions
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InputError(place, f"broken compressed data ({error})", "copy or compress the file again") from None


def _pieces(read: Callable[[int], bytes], packing: Packing, place: str) -> Iterator[bytes]:
    size, consumed, produced = packing.size, 0, 0
    piece = read(size)
    consumed += len(piece)
    while piece:
        piece = piece.lstrip(b"\x00")  # zero padding after a stream, as on tapes
        stream = packing.make() if piece else None
        while stream is not None and not stream.eof:
            if not piece:
                piece = read(size)
                consumed += len(piece)
            if not piece:
                raise EOFError("unexpected end of file")
            # In slices, because a decompressor keeps a copy of all bytes after the end of its stream.
            for output in packing.pieces(stream, piece):
                produced += len(output)
                check_growth(produced, consumed, place, packing.most)
                yield output
            piece = (stream.unused_data or b"") if stream.eof else b""
        # Streams may follow each other: the output of `cat a.gz b.gz` is a valid file.
        while len(piece) < size and (more := read(size - len(piece))):
            piece += more
            consumed += len(more)


GROWTH, MOST_GROWTH = "GRADEDEVAL_MAX_GROWTH", 1000
"""The variable for the maximum growth factor of a compressed stream, and its default. Runs and qrels grow by factors up
to a hundred."""


def limit_of(variable: str, default: int, description: str) -> int:
    """Return the limit in an environment variable, a whole number above 0. Raises InputError (usage)."""
    text = os.environ.get(variable) or str(default)
    if not re.fullmatch("0*[1-9][0-9]{0,17}", text):
        raise InputError(variable, f"'{text}' is not {description}", f"as in {variable}={default}", usage=True)
    return int(text)


def most_growth() -> int:
    """Return the maximum growth factor of a compressed stream."""
    return limit_of(GROWTH, MOST_GROWTH, "a whole number of times")


def check_growth(grown: int, size: int, place: str, most: int | None = None) -> None:
    """Raise InputError if `size` bytes grow to more than `most` times as many (default: the user's limit)."""
    most = most_growth() if most is None else most
    if grown > most * size:
        problem = f"expands to more than {most:,} times its size"
        hint = f"if the file is trusted, allow more, as with {GROWTH}={1000 * most}"
        raise InputError(place, problem, hint, kind="growth")


_MISSING = {
    "zstandard": ("is compressed with zstd", "pip install 'gradedeval[zstd]'"),
    "lz4.frame": ("is compressed with lz4", "pip install lz4"),
}


def _library(name: str, place: str) -> Any:
    """Import a compression library on first use: most runs are plain, and not every Python has it."""
    try:
        return import_module(name)
    except ImportError:
        of_python = f"is compressed, but this Python lacks {name}", "decompress the file first"
        raise InputError(place, *_MISSING.get(name, of_python)) from None


class BackgroundDecompressor:
    """Decompressed bytes from a thread that stays a few pieces ahead: zlib and others release the GIL. Without `ahead`,
    or if no thread can be started, they are decompressed on request.

    Raises the errors of `decompressed_pieces`.
    """

    def __init__(self, packing: Packing, read: Callable[[int], bytes], place: str, *, ahead: bool = True) -> None:
        self._pieces = decompressed_pieces(read, packing, place)
        self._closed = False
        self._piece = memoryview(b"")
        self._end: Any = None  # at the end: empty bytes, or an error
        self._thread: Any = None
        if ahead:
            from queue import Queue
            from threading import Thread

            self._queue: Any = Queue(AHEAD)
            thread = Thread(target=self._fill, name=f"decompress {place}", daemon=True)
            with suppress(RuntimeError):  # limits of processes count threads, too
                thread.start()
                self._thread = thread

    def _fill(self) -> None:
        end: Any = b""
        try:
            for piece in self._pieces:
                if piece and not self._put(piece):
                    return
        except BaseException as error:
            end = error
        self._put(end)

    def _put(self, piece: Any) -> bool:
        """Add a piece to the queue; return False if the reader has stopped."""
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
            piece = next(filter(None, self._pieces), b"") if self._thread is None else self._queue.get()
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
        """Stop the thread, and return whether it ended within `wait` seconds: only then may the source be reused or
        closed."""
        self._closed = True
        if self._thread is None:
            return True
        while not self._queue.empty():
            self._queue.get_nowait()
        self._thread.join(wait)
        return not self._thread.is_alive()


IN_MEMORY = 1 << 23
"""Maximum bytes of a pipe kept in memory; more go to a temporary file."""


class ReplayablePipe:
    """A pipe that can be read again, because its bytes are kept."""

    def __init__(self, pipe: IO[bytes]) -> None:
        from tempfile import SpooledTemporaryFile  # only for pipes

        self._pipe, self._file = pipe, SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        self._position = self._size = 0

    def read(self, size: int) -> bytes:
        if self._position < self._size:
            self._file.seek(self._position)
            data: bytes = self._file.read(min(size, self._size - self._position))
        else:
            fetch = getattr(self._pipe, "read1", self._pipe.read)
            data = fetch(size) or b""
            with temporary_file_errors():
                self._file.seek(self._size)
                self._file.write(data)
            self._size += len(data)
        self._position += len(data)
        return data

    def readinto(self, view: memoryview) -> int:
        data = self.read(min(len(view), PIECE))
        view[: len(data)] = data
        return len(data)

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        self._position = position

    def close(self) -> None:
        self._pipe.close()


@contextmanager
def temporary_file_errors() -> Iterator[None]:
    """Raise errors of the operating system about a temporary file as InputError."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({reason(error)})"
        raise InputError("temporary file", problem, "set TMPDIR to a folder with more space") from None
