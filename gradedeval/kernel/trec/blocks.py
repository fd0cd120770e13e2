"""Split files of lines into blocks of whole topics, after detecting their format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from gradedeval.errors import InputError
from gradedeval.kernel.trec.lines import (
    LONGEST,
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
    HASH,
    NEWLINE,
    PAD,
    SPACE,
    TAB,
    Bytes,
    commas_to_tabs,
    equal,
    is_sparse,
    lines_of,
    padded,
    words_at,
)

FIRST = 1 << 12
"""First bytes, enough to recognize a TREC file."""


def format_of(stream: Stream, holds: str, requested: str | None = None) -> LineLayout | WholeFile:
    """Return the layout of a file, or its format if it is not a file of lines.

    holds      run or qrels
    requested  the format named by the user, as `format_name` spells it

    A file of unknown format gets the layout of TREC, whose reader reports the problem. Raises InputError if the format
    is not supported, or ambiguous.
    """
    trec = RUN if holds == "run" else QRELS
    if requested is not None and is_stratified(requested):
        trec = STRATA
        requested = None if requested == STRATA.format else requested  # a file of any layout may have strata
    if requested is None:
        head = stream.peek(FIRST)
        if is_trec(head, trec) and not head.startswith(b"PK\x03\x04") and head[257:262] != b"ustar":
            return trec  # but not an archive that begins with such a line
    from gradedeval.kernel.trec.recognition import recognize  # most files are plain TREC

    return recognize(stream, holds, trec, requested)


def is_certain_run(source: Source) -> bool:
    """Return whether a file is certainly a run: its first lines are of MS MARCO, or its column `score` holds
    fractions."""
    with closing(Stream(source)) as stream:
        try:
            form = format_of(stream, "run")
        except InputError:
            return False
        if isinstance(form, WholeFile) or form.format == MSMARCO.format:
            return form.format == MSMARCO.format
        has_three_columns = form.format in ("beir", "tsv", "csv", "headed", "topic,docno,score")
        index = form.position("score") if has_three_columns else None
        lines = stream.peek(FIRST)[form.skip :].split(b"\n")[:-1]
    return index is not None and any(
        decimal(fields[index]) % 1 for line in lines if len(fields := form.split(line)) > index
    )


@dataclass(eq=False, repr=False)
class Block:
    """Whole topics: `buffer[begin:end]`, ending with a newline, at byte `offset` of the stream."""

    buffer: Bytes
    begin: int
    end: int
    offset: int
    layout: LineLayout = RUN


def blocks(stream: Stream | Segment, size: int, offset: int = 0, layout: LineLayout = RUN) -> Iterator[Block]:
    """Yield the stream in blocks of about `size` bytes that begin with a topic; larger for larger topics.

    offset  bytes of the source before the stream
    layout  of its lines

    A topic can occur in more than one block, if its lines are not contiguous, or are mostly separated by blanks and
    comments, which are not held. Raises NeedsLineReader as `commas_to_tabs`, and for a line that is too long.
    """
    part = stream.file if isinstance(stream, Stream) else stream
    whole = part.end - part.position + 1 if part is not None else 0  # plus a missing newline
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


# Files held whole: the text in one buffer, processed part by part.

STEP = 1 << 22
"""Bytes read at once."""

PART = 1 << 20
"""Bytes of a text processed at once."""


def whole_text(stream: Stream, layout: LineLayout, *, numbered: bool = False) -> tuple[Bytes, int]:
    """Return a buffer with the lines of a stream, and the end of the text, after a newline. A long text that is mostly
    blanks and comments is rewritten without them.

    numbered  whether the text must stay unchanged, because its lines will be counted

    Raises NeedsLineReader as `lines_of`, for a line that is too long, and if an unchangeable text is mostly blank.
    """
    file = stream.file
    buffer = padded(file.end - file.position + 2 if file else STEP)  # enough unless the file grows meanwhile
    line, filled = PAD + layout.skip, PAD  # `line` is the start of the first line not processed yet
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
    """Return a buffer with all bytes of a stream, and the end of the text; a final newline is added if missing."""
    stream.again()
    file = stream.file
    buffer, end = padded(file.end - file.position + 2 if file else STEP), PAD
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
    """Return the end of the whole lines in `buffer[begin:end]` and the end of the text, after rewriting mostly blank
    lines. Raises NeedsLineReader as `whole_text`."""
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
    """Yield the begin and end of parts of `buffer[begin:end]` that consist of whole lines."""
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


LOOK, MOST = 1 << 16, 1 << 22
"""Bytes read around a position at first, and at most at once within a topic."""

NEAR = 1 << 17
"""Bytes before the last line in which its topic usually begins: about a thousand documents."""


def _plain_stretch(text: bytes, is_whole: bool) -> int | None:
    """Return the start of the lines of the last topic, by searches for bytes, in a text that ends with a line. None
    unless all lines from there on begin with the topic and one separator, and the line above has another topic.

    is_whole  whether the text begins with a line
    """
    last = text.rfind(b"\n", 0, -1) + 1
    words = text[last:].split(None, 1)
    if not words or not text.startswith(words[0], last) or words[0].startswith(b"#"):
        return None
    topic = words[0]
    mark = b"\n" + text[last : last + len(topic) + 1]
    size, start, position = NEAR, last, last - 1
    while text.startswith(topic, start):  # the text searched begins within the last topic
        if size > 8 * len(text) or (position := text.find(mark, max(0, last - size))) <= 0:
            return None
        start, size = text.rfind(b"\n", 0, position) + 1, 8 * size
    if (not start and not is_whole) or text[start] <= SPACE or text[start] == HASH:
        return None
    return position + 1 if text.count(mark, position) == text.count(b"\n", position, -1) else None


def last_topic(buffer: Bytes, begin: int, end: int) -> int:
    """Return the start of the lines of the last topic: after the last complete line of another topic."""
    size, words, view = 1 << 16, words_at(buffer), memoryview(buffer)  # type: ignore[arg-type]
    while True:
        low = max(begin, end - size)
        text = buffer[low : last_newline(view, low, end) + 1]
        if (stretch := _plain_stretch(text.tobytes(), low == begin)) is not None:
            return low + stretch
        # Skip comments, blank lines and lines that begin with spaces: their topic is not at their start.
        has_topic = (text > SPACE) & (text != HASH)
        has_topic[1:] &= text[:-1] == NEWLINE
        has_topic[:1] &= low == begin
        candidates = np.flatnonzero(has_topic) + low
        if len(candidates):
            last = int(candidates[-1])
            length = len(text[last - low :].tobytes().split(None, 1)[0])
            same = equal(words, candidates, words, np.full_like(candidates, last), np.full_like(candidates, length))
            same &= buffer[candidates + length] <= SPACE
            others = np.flatnonzero(~same)
            if len(others):
                preceding, following = map(int, candidates[others[-1] : others[-1] + 2])
                return preceding + 1 + int((buffer[preceding:following] == NEWLINE).argmax())
        if low == begin:
            return begin
        size *= 4


def segments(
    file: Segment, processes: int, size: int, first: int | None = None, layout: LineLayout = RUN
) -> list[Segment]:
    """Split a file into segments for several processes; each begins with a topic.

    size    bytes of a segment, decreasing towards the end to a quarter, so that processes that share a file finish at
            about the same time
    first   approximate bytes of the first segment
    layout  of its lines
    """
    near = file.position + (first or size)
    starts, minimum = [file.position], size // 4
    while near < file.end - minimum // 2 and (start := topic_start(file, near, layout)) < file.end:
        starts.append(start)
        near = start + min(max((file.end - start) // (2 * processes), minimum), size)
    return [Segment(file.file, *bounds) for bounds in zip(starts, [*starts[1:], file.end], strict=True)]


def topic_start(file: Segment, position: int, layout: LineLayout = RUN) -> int:
    """Return the start of the first line, from `position` on, whose topic differs from the last topic before
    `position`; the end of the file if there is none. Blank lines and comments have no topic.

    It reads some kilobytes around the position, as a rule. The result is monotonic in `position`: between two positions
    there are whole topics, and all lines of a contiguous topic. Raises NeedsLineReader for a line that is too long.
    """
    begin = file.position + layout.skip
    if position <= begin or position >= file.end:
        return file.position if position <= begin else file.end
    topic, start, text = _topic_before(file, position, begin, layout)
    pattern, size = _other_topic(topic, layout), LOOK
    while start < file.end:
        text = text or file.file.token(0, start, min(size, file.end - start))
        whole = len(text) if start + len(text) == file.end else text.rfind(b"\n") + 1
        if not whole and len(text) > LONGEST:
            raise NeedsLineReader
        if _holds_more_than_blanks(text[:whole]) and (match := pattern.search(text, 0, whole)):
            return start + match.start()
        start, size, text = start + whole, min(2 * size, MOST) if whole else 4 * size, b""
    return file.end


def _topic_before(file: Segment, position: int, begin: int, layout: LineLayout) -> tuple[bytes | None, int, bytes]:
    """Return the last topic before a position, the start of the first line after it, and some text from there on."""
    back, ahead = LOOK // 8, LOOK
    while True:
        low, high = max(begin, position - back), min(file.end, position + ahead)
        text = file.file.token(0, low, high - low)
        after = text.find(b"\n", position - 1 - low) + 1 or len(text)
        if after < len(text) or high == file.end:
            break
        if ahead > LONGEST:
            raise NeedsLineReader
        ahead *= 4
    start, following, text = low + after, text[after:], text[:after]
    while True:
        whole = 0 if low == begin else text.find(b"\n") + 1 or len(text)
        if _holds_more_than_blanks(text[whole:]):
            for line in reversed(text[whole:].split(b"\n")):
                if line.strip() and line[:1] != b"#":
                    return line.split(layout.separator or None, 1)[0], start, following
        if low == begin:
            return None, start, following
        if whole == len(text) > LONGEST:
            raise NeedsLineReader
        # Read the preceding text, to the end of the line that is cut here.
        high, back = low + whole, min(4 * back, MOST)
        low = max(begin, high - back)
        text = file.file.token(0, low, high - low)


def _holds_more_than_blanks(text: bytes) -> bool:
    return bool(text.translate(None, b" \t\r\n"))


def _other_topic(topic: bytes | None, layout: LineLayout) -> re.Pattern[bytes]:
    """Return a pattern that matches at the start of a line with another topic."""
    ends = re.escape(layout.separator) if layout.separator else rb"[ \t\r]"
    same = rb"|[ \t]*%b(?:%b|\n|\Z)" % (re.escape(topic), ends) if topic is not None else b""
    return re.compile(rb"^(?!#|[ \t\r]*(?:\n|\Z)%b)" % same, re.MULTILINE)
