"""A source as a stream of decompressed bytes that can be read again."""

from __future__ import annotations

import os
from io import BytesIO
from typing import IO, Any

from gradedeval.trec.decompression import BackgroundDecompressor, packing_of
from gradedeval.trec.open_files import OpenFile, Segment, fill
from gradedeval.trec.source import (
    Source,
    file_errors,
    is_url,
    remote,
    standard_input,
    temporary_file_errors,
)

IN_MEMORY = 1 << 23
"""Bytes of a pipe that are kept in memory; more go to a temporary file."""


WHOLE = 1 << 20
"""Bytes that are read at once where all are wanted."""

GRACE = 0.5
"""Seconds that a thread has to end when its bytes are no longer needed."""


class Stream:
    """The bytes of a source from its beginning, decompressed. Raises InputError where it cannot be read.

    A file can be read again; the bytes of a pipe are kept, as they came, in memory or in a temporary file.
    """

    def __init__(self, source: Source) -> None:
        self.place = source.place
        with file_errors(self.place):
            self._raw = _opened(source)
            self._opened_here = isinstance(source.target, str | os.PathLike) and os.fspath(source.target) != "-"
            self._target, self._is_url = source.target, is_url(source.target)
            self._replay = None if self._raw.seekable() else ReplayablePipe(self._raw)
            self._begin = self._raw.tell() if self._replay is None else 0
        self._decompressor: BackgroundDecompressor | None = None
        self._ahead = self._peeked = b""
        self.again()

    def again(self) -> None:
        """Start again from the beginning."""
        self._rewind()
        with file_errors(self.place):
            self._ahead = head = self._read(8)
            packing = packing_of(head, self.place)
        self._decompressor = BackgroundDecompressor(packing, self._read, self.place) if packing else None

    def _rewind(self) -> None:
        if self._decompressor is not None:
            self._decompressor.close()
        if self._replay is not None:
            self._replay.rewind()
        else:
            self._raw.seek(self._begin)
        self._ahead = self._peeked = b""

    def peek(self, size: int) -> bytes:
        """So many of the first bytes, or all there are; they are still to be read."""
        if len(self._peeked) < size:
            known, self._peeked = self._peeked, b""
            more = bytearray(size - len(known))
            self._peeked = known + more[: self.read_into(memoryview(more))]
        return self._peeked[:size]

    def keep(self, most: int) -> None:
        """Have the bytes here from now on, as those of most sources are, where there are at most so many."""
        if (file := self.file) is not None and file.file.is_far and file.end <= most:
            self._raw = remote(self._target)
            self.again()

    @property
    def plain(self) -> bool:
        """Whether the bytes are those of the file, at the same offsets."""
        return self._decompressor is None and self._replay is None

    @property
    def file(self) -> Segment | None:
        """The segment of a file that holds all bytes; None for compressed data, pipes and objects in memory."""
        if self._is_url:
            far = getattr(self._raw, "ranged", None) if self.plain else None
            return None if far is None else Segment(far, 0, far.size)
        try:
            number = self._raw.fileno() if self.plain and self._opened_here else None
        except (OSError, AttributeError):
            number = None
        if number is None:
            return None
        file = OpenFile(self.place, number)
        return Segment(file, self._begin, file.size)

    def read_into(self, view: memoryview) -> int:
        """Fill the view as far as there are bytes; returns their number."""
        with file_errors(self.place):
            return fill(view, self._some)

    def _some(self, view: memoryview) -> int:
        if self._peeked:
            got, self._peeked = self._peeked[: len(view)], self._peeked[len(view) :]
            view[: len(got)] = got
            return len(got)
        if self._decompressor is not None:
            return self._decompressor.read_into(view)
        if self._replay is None and not self._ahead and hasattr(self._raw, "readinto"):
            return self._raw.readinto(view) or 0
        got = self._read(min(len(view), 1 << 20))
        view[: len(got)] = got
        return len(got)

    def _read(self, size: int) -> bytes:
        """The next bytes as they are stored."""
        if self._ahead:
            got, self._ahead = self._ahead[:size], self._ahead[size:]
            return got
        return (self._replay.read(size) if self._replay is not None else self._raw.read(size)) or b""

    def whole(self) -> bytes:
        """All bytes, from the beginning."""
        self.again()
        held, part = BytesIO(), memoryview(bytearray(WHOLE))
        while size := self.read_into(part):
            held.write(part[:size])
        return held.getvalue()  # which copies nothing

    def token(self, start: int, length: int) -> bytes:
        """The bytes at an offset of a plain stream that has been read to its end."""
        with file_errors(self.place):
            if (file := self.file) is not None:  # processes share the position of an open file
                return file.file.token(file.at, start, length)
            self._raw.seek(self._begin + start)
            token: bytes = self._raw.read(length)
        return token

    def close(self) -> None:
        """Release the source; a file that was opened here is closed."""
        # A thread that waits for a pipe keeps the pipe open: both end with the process.
        ended = self._decompressor is None or self._decompressor.close(wait=GRACE)
        if self._opened_here and ended:
            self._raw.close()


def _opened(source: Source) -> Any:
    target = source.target
    if is_url(target):
        from gradedeval.trec.remote import opened  # few evaluations read one

        with temporary_file_errors():
            return opened(str(target))
    if isinstance(target, str | os.PathLike):
        return standard_input(source.place) if os.fspath(target) == "-" else open(target, "rb", buffering=0)
    from io import TextIOBase

    if isinstance(target, TextIOBase) or not all(hasattr(target, name) for name in ("readinto", "seekable", "tell")):
        return BytesIO(source.stored())
    return target


def first_bytes(source: Source, most: int = 1 << 12) -> bytes:
    """How a file begins, decompressed."""
    stream = Stream(source)
    try:
        head = bytearray(most)
        return bytes(head[: stream.read_into(memoryview(head))])
    finally:
        stream.close()


class ReplayablePipe:
    """A pipe that can be read again, because its bytes are kept as they are read."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._file: Any = None
        self._at = self._size = 0

    def read(self, size: int) -> bytes:
        if self._at < self._size:
            self._file.seek(self._at)
            got: bytes = self._file.read(min(size, self._size - self._at))
        else:
            read = getattr(self._pipe, "read1", self._pipe.read)
            got = read(size) or b""
            self._keep(got)
        self._at += len(got)
        return got

    def _keep(self, got: bytes) -> None:
        if self._file is None:
            from tempfile import SpooledTemporaryFile  # only for pipes

            self._file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115
        with temporary_file_errors():
            self._file.seek(self._size)
            self._file.write(got)
        self._size += len(got)

    def rewind(self) -> None:
        self._at = 0
