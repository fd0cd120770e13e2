"""A file as lines of fields: which format it has, and its lines in blocks of whole topics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from gradedeval.errors import InputError
from gradedeval.kernel.trec.lines import (
    MSMARCO,
    QRELS,
    RUN,
    STRATA,
    LineLayout,
    NeedsLineReader,
    WholeFile,
    decimal,
    is_stratified,
    is_trec,
    last_newline,
    long_line,
)
from gradedeval.kernel.trec.stream import Segment, Source, Stream
from gradedeval.kernel.trec.tokenizer import (
    NEWLINE,
    PAD,
    SPACE,
    TAB,
    Bytes,
    Lines,
    commas_to_tabs,
    is_sparse,
    lines_of,
    padded,
)

FIRST = 1 << 12
"""First bytes, which are enough to know a TREC file."""


def format_of(stream: Stream, holds: str, wanted: str | None = None) -> LineLayout | WholeFile:
    """The layout of a file, or its format where it has no lines of fields.

    holds   what it should be: run or qrels
    wanted  the format that the user names, as `format_name` spells it

    A file of no known format has the layout of TREC, whose reader says what is wrong with it. Raises InputError where
    the file is of no format that is read, or could be of two.
    """
    trec = RUN if holds == "run" else STRATA if is_stratified(wanted) else QRELS
    wanted = None if wanted == STRATA.format else wanted  # a file of any layout may have strata
    if wanted is None:
        head = stream.peek(FIRST)
        if is_trec(head, trec) and not head.startswith(b"PK\x03\x04") and head[257:262] != b"ustar":
            return trec  # and no archive, of which the first line may be one as well
    from gradedeval.kernel.trec.file_formats import recognize  # most files are plain TREC

    return recognize(stream, holds, trec, wanted)


def is_certain_run(source: Source) -> bool:
    """Whether the first lines of a file are those of MS MARCO, or its column `score` holds fractions."""
    with closing(Stream(source)) as stream:
        try:
            form = format_of(stream, "run")
        except InputError:
            return False
        if isinstance(form, WholeFile) or form.format == MSMARCO.format:
            return form.format == MSMARCO.format
        at = form.position("score") if form.format in ("beir", "tsv", "csv", "headed") else None
        lines = stream.peek(FIRST)[form.skip :].split(b"\n")[:-1]
    return at is not None and any(decimal(fields[at]) % 1 for line in lines if len(fields := form.split(line)) > at)


@dataclass(eq=False, repr=False)
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

    A topic may occur in several blocks, if its lines are not together, or if most of the bytes between them are blanks
    and comments: of these no more is held than of lines. Raises NeedsLineReader as `commas_to_tabs`, and for a line
    that is too long.
    """
    part = stream.file if isinstance(stream, Stream) else stream
    whole = part.end - part.at + 1 if part is not None else 0  # plus a newline that may be missing
    capacity, filled = max(size, whole if whole <= 2 * size else 0), 0
    buffer = padded(capacity)
    while True:
        count = stream.read_into(memoryview(buffer)[PAD + filled : PAD + capacity])  # type: ignore[arg-type]
        if layout.separator == b",":
            commas_to_tabs(buffer[PAD + filled : PAD + filled + count])
        filled += count
        text = memoryview(buffer)[PAD : PAD + filled]  # type: ignore[arg-type]
        if long_line(text, 0, filled) is not None:
            raise NeedsLineReader
        if filled < capacity:
            break
        from gradedeval.kernel.trec.topic_blocks import last_topic  # most files are one block

        cut = last_topic(buffer, PAD, PAD + filled) - PAD
        if not cut and is_sparse(buffer[PAD : PAD + filled]):
            cut = last_newline(text, 0, filled) + 1
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


# A file that is held whole: its text in one buffer, which is worked on part by part.


STEP = 1 << 22
"""Bytes of a file that are read at once."""


PART = 1 << 20
"""Bytes of a text that are worked on at once."""


def whole_text(stream: Stream, layout: LineLayout, *, numbered: bool = False) -> tuple[Bytes, int]:
    """A buffer with the lines of a stream, and where they end, with a newline. Where most of a long text is blanks and
    comments its lines are written anew, without these.

    numbered  whether the text must stay as it is, because its lines are to be counted

    Raises NeedsLineReader as `lines_of`, for a line that is too long, and where a text must stay that is mostly blank.
    """
    file = stream.file
    buffer = padded(file.end - file.at + 2 if file else STEP)  # reading ends before, unless the file grows meanwhile
    line, filled = PAD + layout.skip, PAD  # where the first line begins that is not looked at yet
    while True:
        if filled == len(buffer) - PAD:
            larger = padded(2 * filled)
            larger[:filled] = buffer[:filled]
            buffer = larger
        room = min(STEP, len(buffer) - PAD - filled)
        count = stream.read_into(memoryview(buffer)[filled : filled + room])  # type: ignore[arg-type]
        if layout.separator == b",":
            commas_to_tabs(buffer[filled : filled + count])
        filled += count
        if count < room and filled > PAD and buffer[filled - 1] != NEWLINE:
            buffer[filled] = NEWLINE
            filled += 1
        if long_line(memoryview(buffer), line, filled) is not None:  # type: ignore[arg-type]
            raise NeedsLineReader
        if count < room and filled < STEP:  # as most files are
            return buffer, filled
        if filled > line:
            line, filled = _without_blanks(buffer, line, filled, layout, numbered)
        if count < room:
            return buffer, filled


def padded_text(stream: Stream) -> tuple[Bytes, int]:
    """A buffer with the bytes of a stream as they are, from its beginning, and where they end; a newline behind them
    where they end without one."""
    stream.again()
    file = stream.file
    buffer, end = padded(file.end - file.at + 2 if file else STEP), PAD
    while count := stream.read_into(memoryview(buffer)[end : len(buffer) - PAD]):  # type: ignore[arg-type]
        end += count
        if end == len(buffer) - PAD:
            larger = padded(2 * end)
            larger[:end] = buffer[:end]
            buffer = larger
    if end > PAD and buffer[end - 1] != NEWLINE:
        buffer[end] = NEWLINE
        end += 1
    return buffer, end


def _without_blanks(buffer: Bytes, begin: int, end: int, layout: LineLayout, numbered: bool) -> tuple[int, int]:
    """The end of the whole lines in `buffer[begin:end]` and that of all, once they are written anew where most of them
    is blank. Raises NeedsLineReader as `whole_text`."""
    whole = last_newline(memoryview(buffer), begin, end) + 1  # type: ignore[arg-type]
    if end < STEP or not is_sparse(buffer[begin:whole]):
        return whole, end
    if numbered:
        raise NeedsLineReader
    text = lines_of(buffer, begin, whole, layout).joined(layout.width, TAB if layout.separator else SPACE)
    text = np.append(text, buffer[whole:end])
    buffer[begin : begin + len(text)] = text
    return begin + len(text) - (end - whole), begin + len(text)


def parts_of(buffer: Bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Where parts of whole lines begin and end in `buffer[begin:end]`."""
    view = memoryview(buffer)  # type: ignore[arg-type]
    while begin < end:
        stop = min(begin + PART, end)
        if stop < end:
            size = 1 << 10
            while (newline := bytes(view[stop : stop + size]).find(b"\n")) < 0:  # to the end of the line
                size *= 4
            stop += newline + 1
        yield begin, stop
        begin = stop
