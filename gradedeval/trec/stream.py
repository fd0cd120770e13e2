"""A source as a stream of unpacked bytes that can be read again, and the stream as blocks of whole topics."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from gradedeval.trec.source import Source, file_faults, opener, standard_input, temporary_faults, unpack
from gradedeval.trec.unpacking import Unpacked
from gradedeval.trec.words import HASH, NEWLINE, PAD, Bytes, words_at

BLOCK = 1 << 21
"""Bytes of a block: enough that calls of numpy cost nothing, little enough that a few blocks at work fit in memory."""

IN_MEMORY = 1 << 23
"""Bytes of a pipe that are kept in memory before they go to a temporary file."""


SEGMENT = 1 << 24
"""Bytes of a segment: a few blocks. Towards the end they become fewer, down to a quarter: processes that share a file
end at about the same time."""


@dataclass
class Segment:
    """Bytes `at` to `end` of an open file; reads leave the place of the file alone."""

    file: int
    at: int
    end: int

    def read_into(self, view: memoryview) -> int:
        """Fill the view, or as much of it as there are bytes; how much that is."""
        filled = 0
        while filled < len(view) and self.at < self.end:
            count = os.preadv(self.file, [view[filled : filled + self.end - self.at]], self.at)
            if not count:
                break
            filled += count
            self.at += count
        return filled


GRACE = 0.5
"""Seconds that a thread has to end when nobody wants its bytes any more."""


class Stream:
    """The bytes of a source from its beginning, unpacked. Raises Fault where it cannot be read.

    A file can be read again; what comes from a pipe is kept, as it came, in memory or in a temporary file.
    """

    def __init__(self, source: Source) -> None:
        self.place = source.place
        with file_faults(self.place):
            self._raw = _opened(source)
            self._own = isinstance(source.target, str | os.PathLike) and os.fspath(source.target) != "-"
            self._kept = None if self._raw.seekable() else _Kept(self._raw)
            self._begin = self._raw.tell() if self._kept is None else 0
        self._unpacked: Unpacked | None = None
        self.again()

    def again(self) -> None:
        """Begin anew."""
        self._rewind()
        with file_faults(self.place):
            head = self._read(8)
            self._ahead = head
            opened = opener(head, self.place)
        self._unpacked = Unpacked(opened, self._read, self.place) if opened else None

    def _rewind(self) -> None:
        if self._unpacked is not None:
            self._unpacked.close()
        if self._kept is not None:
            self._kept.rewind()
        else:
            self._raw.seek(self._begin)
        self._ahead = b""

    @property
    def plain(self) -> bool:
        """Whether the bytes are those of the file, at the same places."""
        return self._unpacked is None and self._kept is None

    @property
    def file(self) -> Segment | None:
        """Where all of it stands in a file; None where it was packed or comes through a pipe, or is no file."""
        try:
            file = self._raw.fileno() if self.plain and self._own else None
        except (OSError, AttributeError):
            file = None
        return None if file is None else Segment(file, self._begin, os.fstat(file).st_size)

    def read_into(self, view: memoryview) -> int:
        """Fill the view, or as much of it as there are bytes; how much that is."""
        filled = 0
        with file_faults(self.place):
            while filled < len(view):
                if self._unpacked is not None:
                    count = self._unpacked.read_into(view[filled:])
                elif self._kept is None and not self._ahead and hasattr(self._raw, "readinto"):
                    count = self._raw.readinto(view[filled:]) or 0
                else:
                    got = self._read(min(len(view) - filled, 1 << 20))
                    count = len(got)
                    view[filled : filled + count] = got
                if not count:
                    break
                filled += count
        return filled

    def _read(self, size: int) -> bytes:
        """Bytes as they are stored."""
        if self._ahead:
            got, self._ahead = self._ahead[:size], self._ahead[size:]
            return got
        return (self._kept.read(size) if self._kept is not None else self._raw.read(size)) or b""

    def whole(self) -> bytes:
        """All of it, from the beginning."""
        self._rewind()
        self._unpacked = None
        with file_faults(self.place):
            parts = []
            while part := self._read(1 << 24):
                parts.append(part)
        return unpack(b"".join(parts), self.place)

    def token(self, start: int, length: int) -> bytes:
        """The bytes at a place of a plain stream that has been read to its end."""
        with file_faults(self.place):
            if (file := self.file) is not None:  # the place in an open file is shared by all processes
                return os.pread(file.file, length, file.at + start)
            self._raw.seek(self._begin + start)
            found: bytes = self._raw.read(length)
        return found

    def close(self) -> None:
        """Let go of the source; one that was opened here is closed."""
        # A thread that waits for a pipe keeps its place in it; the process ends without both.
        ended = self._unpacked is None or self._unpacked.close(wait=GRACE)
        if self._own and ended:
            self._raw.close()


def _opened(source: Source) -> Any:
    target = source.target
    if isinstance(target, str | os.PathLike):
        return standard_input(source.place) if os.fspath(target) == "-" else open(target, "rb", buffering=0)
    from io import BytesIO, TextIOBase

    if isinstance(target, TextIOBase) or not all(hasattr(target, name) for name in ("readinto", "seekable", "tell")):
        return BytesIO(source.packed())
    return target


class _Kept:
    """A pipe whose bytes are kept as they are read, so that they can be read again."""

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
        with temporary_faults():
            self._file.seek(self._size)
            self._file.write(got)
        self._size += len(got)

    def rewind(self) -> None:
        self._at = 0


@dataclass(frozen=True, eq=False)
class Block:
    """Whole topics: `buffer[begin:end]`, which ends with a newline; `offset` is where it begins in the stream."""

    buffer: Bytes
    begin: int
    end: int
    offset: int


def blocks(stream: Stream | Segment, size: int, offset: int = 0) -> Iterator[Block]:
    """The stream in blocks of about `size` bytes, cut where a topic begins; larger where a single topic is larger.

    `offset` bytes of the source came before it.

    A topic that comes again after another is none of their business.
    """
    part = stream.file if isinstance(stream, Stream) else stream
    whole = part.end - part.at + 1 if part is not None else 0  # with a newline that may be missing
    capacity, filled = max(size, whole if whole <= 2 * size else 0), 0
    buffer = _buffer(capacity)
    while True:
        filled += stream.read_into(memoryview(buffer)[PAD + filled : PAD + capacity])  # type: ignore[arg-type]
        if filled < capacity:
            break
        cut = _last_topic(buffer, PAD, PAD + filled) - PAD
        carried = filled - cut
        capacity = max(size, 2 * carried)
        following = _buffer(capacity)
        following[PAD : PAD + carried] = buffer[PAD + cut : PAD + filled]
        if cut:
            yield Block(buffer, PAD, PAD + cut, offset)
        buffer, filled, offset = following, carried, offset + cut
    if filled and buffer[PAD + filled - 1] != NEWLINE:
        buffer[PAD + filled] = NEWLINE
        filled += 1
    yield Block(buffer, PAD, PAD + filled, offset)


def _buffer(capacity: int) -> Bytes:
    buffer = np.empty(capacity + 2 * PAD, dtype=np.uint8)
    buffer[:PAD] = 0
    buffer[PAD + capacity :] = 0
    return buffer


def _last_topic(buffer: Bytes, begin: int, end: int) -> int:
    """Where the lines of the last topic begin: after the last complete line that is of another topic."""
    size, words = 1 << 16, words_at(buffer)
    while True:
        low = max(begin, end - size)
        starts = np.flatnonzero(buffer[low:end] == NEWLINE) + low + 1
        if low == begin:
            starts = np.append(begin, starts)
        first = buffer[starts[:-1]]  # the last start is that of an incomplete line
        # Comments, blank lines and lines that begin with blanks do not tell their topic at once: they end none.
        told = starts[:-1][(first > 32) & (first != HASH)]
        if len(told):
            last = int(told[-1])
            topic = buffer[last : int(starts[-1])].tobytes().split(None, 1)[0]
            same = np.ones(len(told), dtype=bool)
            for at in range(0, len(topic), 8):
                part = topic[at : at + 8]
                differ = words[told + at] ^ np.uint64(int.from_bytes(part, "little"))
                same &= differ << np.uint64(64 - 8 * len(part)) == 0
            same &= buffer[told + len(topic)] <= 32
            others = np.flatnonzero(~same)
            if len(others):
                return int(starts[np.searchsorted(starts, told[others[-1]]) + 1])
        if low == begin:
            return begin
        size *= 4


def segments(file: int, begin: int, end: int, processes: int, first: int | None = None) -> list[Segment]:
    """The bytes `begin` to `end` of a file in segments for so many processes, each of which begins with a topic;
    `first`: about so many bytes in the first of them."""
    starts, near = [begin], begin + (first or SEGMENT)
    least = SEGMENT // 4
    while near < end - least // 2 and (start := _topic_start(file, near, end)) is not None:
        starts.append(start)
        near = start + min(max((end - start) // (2 * processes), least), SEGMENT)
    return [Segment(file, *bounds) for bounds in zip(starts, [*starts[1:], end], strict=True)]


def _topic_start(file: int, at: int, end: int) -> int | None:
    """Where a line begins, from `at` on, whose topic is not that of the line before: the last in the first window that
    has one."""
    size = min(1 << 17, SEGMENT)
    within = True  # a window begins within a line, or at one
    while True:
        buffer = _buffer(size)
        filled = PAD + Segment(file, at, end).read_into(memoryview(buffer)[PAD : PAD + size])  # type: ignore[arg-type]
        text = buffer[PAD:filled].tobytes()
        begin = text.find(b"\n") + 1 if within else 0
        if (begin or not within) and (start := _last_topic(buffer, PAD + begin, filled) - PAD) > begin:
            return at + start
        if at + size >= end:
            return None
        last = text.rfind(b"\n", 0, max(text.rfind(b"\n"), 0)) + 1  # the last whole line is looked at again
        if last > begin:
            at, within = at + last, False
        else:
            size *= 4
