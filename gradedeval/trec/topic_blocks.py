"""A stream in blocks of whole topics, and a file in segments for several processes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradedeval.trec.layouts import RUN, LineLayout
from gradedeval.trec.stream import OpenFile, Segment, Stream
from gradedeval.trec.swar import HASH, NEWLINE, PAD, Bytes, padded, words_at
from gradedeval.trec.tokenizer import Lines, lines_of, separate


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Whole topics: `buffer[begin:end]`, which ends with a newline; `offset` is where it begins in the stream."""

    buffer: Bytes
    begin: int
    end: int
    offset: int
    layout: LineLayout = RUN

    @property
    def lines(self) -> Lines:
        """The lines of the block, without a header. Raises NeedsLineReader as `lines_of`."""
        begin = min(self.begin + max(0, self.layout.skip - self.offset), self.end)
        return lines_of(self.buffer, begin, self.end, self.layout)


def blocks(stream: Stream | Segment, size: int, offset: int = 0, layout: LineLayout = RUN) -> Iterator[Block]:
    """The stream in blocks of about `size` bytes that begin with a topic; larger where a single topic is larger.

    offset  bytes of the source before the stream
    layout  of its lines

    A topic may occur in several blocks, if its lines are not together. Raises NeedsLineReader as `separate`.
    """
    part = stream.file if isinstance(stream, Stream) else stream
    whole = part.end - part.at + 1 if part is not None else 0  # plus a newline that may be missing
    capacity, filled = max(size, whole if whole <= 2 * size else 0), 0
    buffer = padded(capacity)
    while True:
        count = stream.read_into(memoryview(buffer)[PAD + filled : PAD + capacity])  # type: ignore[arg-type]
        separate(buffer[PAD + filled : PAD + filled + count], layout)
        filled += count
        if filled < capacity:
            break
        cut = _last_topic(buffer, PAD, PAD + filled) - PAD
        carried = filled - cut
        capacity = max(size, 2 * carried)
        following = padded(capacity)
        following[PAD : PAD + carried] = buffer[PAD + cut : PAD + filled]
        if cut:
            yield Block(buffer, PAD, PAD + cut, offset, layout)
        buffer, filled, offset = following, carried, offset + cut
    if filled and buffer[PAD + filled - 1] != NEWLINE:
        buffer[PAD + filled] = NEWLINE
        filled += 1
    yield Block(buffer, PAD, PAD + filled, offset, layout)


def _last_topic(buffer: Bytes, begin: int, end: int) -> int:
    """Where the lines of the last topic begin: after the last complete line of another topic."""
    size, words = 1 << 16, words_at(buffer)
    while True:
        low = max(begin, end - size)
        starts = np.flatnonzero(buffer[low:end] == NEWLINE) + low + 1
        if low == begin:
            starts = np.append(begin, starts)
        first = buffer[starts[:-1]]  # the last line is incomplete
        # Comments, blank lines and lines that begin with spaces are skipped: their topic is not at their beginning.
        candidates = starts[:-1][(first > 32) & (first != HASH)]
        if len(candidates):
            last = int(candidates[-1])
            topic = buffer[last : int(starts[-1])].tobytes().split(None, 1)[0]
            same = np.ones(len(candidates), dtype=bool)
            for at in range(0, len(topic), 8):
                part = topic[at : at + 8]
                differ = words[candidates + at] ^ np.uint64(int.from_bytes(part, "little"))
                same &= differ << np.uint64(64 - 8 * len(part)) == 0
            same &= buffer[candidates + len(topic)] <= 32
            others = np.flatnonzero(~same)
            if len(others):
                return int(starts[np.searchsorted(starts, candidates[others[-1]]) + 1])
        if low == begin:
            return begin
        size *= 4


def segments(
    file: Segment, processes: int, size: int, first: int | None = None, layout: LineLayout = RUN
) -> list[Segment]:
    """A file in segments for so many processes, each of which begins with a topic.

    size   bytes of a segment. Towards the end they become fewer, down to a quarter: processes that share a file end at
           about the same time
    first  about so many bytes in the first of them
    layout  of its lines
    """
    starts, near = [file.at], file.at + (first or size)
    minimum = size // 4
    while (
        near < file.end - minimum // 2 and (start := _topic_start(file.file, near, file.end, size, layout)) is not None
    ):
        starts.append(start)
        near = start + min(max((file.end - start) // (2 * processes), minimum), size)
    return [Segment(file.file, *bounds) for bounds in zip(starts, [*starts[1:], file.end], strict=True)]


def _topic_start(file: OpenFile, at: int, end: int, segment: int, layout: LineLayout) -> int | None:
    """Where a line begins, from `at` on, whose topic is not that of the line before: the last in the first window that
    has one."""
    size = min(1 << 17, segment)
    within = True  # a window begins within a line, or at one
    while True:
        buffer = padded(size)
        filled = PAD + Segment(file, at, end).read_into(memoryview(buffer)[PAD : PAD + size])  # type: ignore[arg-type]
        separate(buffer[PAD:filled], layout)
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
