"""Where topics begin in a file: its segments for several processes, and the last topic of a block."""

from __future__ import annotations

import re

import numpy as np

from gradedeval.kernel.trec.lines import LONGEST, RUN, LineLayout, NeedsLineReader, last_newline
from gradedeval.kernel.trec.stream import Segment
from gradedeval.kernel.trec.tokenizer import (
    HASH,
    NEWLINE,
    SPACE,
    Bytes,
    equal,
    words_at,
)

LOOK, MOST = 1 << 16, 1 << 22
"""Bytes that are looked at around a place at first, and at once where a topic goes on."""

NEAR = 1 << 17
"""Bytes before the last line in which its topic is expected to begin: about a thousand documents."""


def _plain_stretch(text: bytes, is_whole: bool) -> int | None:
    """Where the lines of the last topic begin in a text that ends with a line, where searches for bytes tell: all lines
    from there on begin with the topic and one separator, and the one before is of another topic. None where not.

    is_whole  whether the text begins with a line
    """
    last = text.rfind(b"\n", 0, -1) + 1
    words = text[last:].split(None, 1)
    if not words or not text.startswith(words[0], last) or words[0].startswith(b"#"):
        return None
    topic = words[0]
    mark = b"\n" + text[last : last + len(topic) + 1]
    size, start, at = NEAR, last, last - 1
    while text.startswith(topic, start):  # as long as the text looked at begins within the last topic
        if size > 8 * len(text) or (at := text.find(mark, max(0, last - size))) <= 0:
            return None
        start, size = text.rfind(b"\n", 0, at) + 1, 8 * size
    if (not start and not is_whole) or text[start] <= SPACE or text[start] == HASH:
        return None
    return at + 1 if text.count(mark, at) == text.count(b"\n", at, -1) else None


def last_topic(buffer: Bytes, begin: int, end: int) -> int:
    """Where the lines of the last topic begin: after the last complete line of another topic."""
    size, words, view = 1 << 16, words_at(buffer), memoryview(buffer)  # type: ignore[arg-type]
    while True:
        low = max(begin, end - size)
        text = buffer[low : last_newline(view, low, end) + 1]
        if (found := _plain_stretch(text.tobytes(), low == begin)) is not None:
            return low + found
        # Comments, blank lines and lines that begin with spaces are skipped: their topic is not at their beginning.
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
                other, following = map(int, candidates[others[-1] : others[-1] + 2])
                return other + 1 + int((buffer[other:following] == NEWLINE).argmax())
        if low == begin:
            return begin
        size *= 4


def segments(
    file: Segment, processes: int, size: int, first: int | None = None, layout: LineLayout = RUN
) -> list[Segment]:
    """A file in segments for several processes, each of which begins with a topic.

    size    bytes of a segment. Towards the end they become fewer, down to a quarter: processes that share a file end at
            about the same time
    first   about how many bytes are in the first of them
    layout  of its lines
    """
    near = file.at + (first or size)
    starts, minimum = [file.at], size // 4
    while near < file.end - minimum // 2 and (start := topic_start(file, near, layout)) < file.end:
        starts.append(start)
        near = start + min(max((file.end - start) // (2 * processes), minimum), size)
    return [Segment(file.file, *bounds) for bounds in zip(starts, [*starts[1:], file.end], strict=True)]


def topic_start(file: Segment, at: int, layout: LineLayout = RUN) -> int:
    """Where the first line begins, from `at` on, whose topic is not that of the last line before `at` that has one;
    the end of the file where there is none. Blank lines and comments have no topic.

    Some kilobytes around a place tell, as a rule. The result never falls as `at` grows: from one place to the next
    there are whole topics, and of a topic whose lines are together all lines. Raises NeedsLineReader for a line that is
    too long.
    """
    begin = file.at + layout.skip
    if at <= begin or at >= file.end:
        return file.at if at <= begin else file.end
    topic, start, text = _topic_before(file, at, begin, layout)
    other, size = _other_topic(topic, layout), LOOK
    while start < file.end:
        text = text or file.file.token(0, start, min(size, file.end - start))
        whole = len(text) if start + len(text) == file.end else text.rfind(b"\n") + 1
        if not whole and len(text) > LONGEST:
            raise NeedsLineReader
        if _holds_more_than_blanks(text[:whole]) and (found := other.search(text, 0, whole)):
            return start + found.start()
        start, size, text = start + whole, min(2 * size, MOST) if whole else 4 * size, b""
    return file.end


def _topic_before(file: Segment, at: int, begin: int, layout: LineLayout) -> tuple[bytes | None, int, bytes]:
    """The topic of the last line that begins before a place, and has one; where the first line begins behind, and some
    text from there on."""
    back, ahead = LOOK // 8, LOOK
    while True:
        low, high = max(begin, at - back), min(file.end, at + ahead)
        text = file.file.token(0, low, high - low)
        after = text.find(b"\n", at - 1 - low) + 1 or len(text)
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
        # The text before, to the end of the line that is cut here.
        high, back = low + whole, min(4 * back, MOST)
        low = max(begin, high - back)
        text = file.file.token(0, low, high - low)


def _holds_more_than_blanks(text: bytes) -> bool:
    return bool(text.translate(None, b" \t\r\n"))


def _other_topic(topic: bytes | None, layout: LineLayout) -> re.Pattern[bytes]:
    """Finds a line that has another topic, where lines begin."""
    ends = re.escape(layout.separator) if layout.separator else rb"[ \t\r]"
    same = rb"|[ \t]*%b(?:%b|\n|\Z)" % (re.escape(topic), ends) if topic is not None else b""
    return re.compile(rb"^(?!#|[ \t\r]*(?:\n|\Z)%b)" % same, re.MULTILINE)
