"""Columns of Arrow and of JSON: a buffer, and where in it each value stands. No string is made of a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.kernel.trec.blocks import PART, padded_text, parts_of
from gradedeval.kernel.trec.file_formats import TableColumns, is_record
from gradedeval.kernel.trec.lines import LONGEST, decode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.tokenizer import (
    NEWLINE,
    PAD,
    SPACE,
    Bytes,
    Words,
    decimals,
    gather,
    gather_trailing,
    hashes,
    padded,
    run_starts,
    tokens,
    words_at,
)

# Columns of text, and those of Arrow.


@dataclass(eq=False, repr=False)
class Text:
    """A column of ids: a buffer, and where in it each begins, and how long it is."""

    buffer: Bytes
    start: Ints
    length: Ints

    def __getitem__(self, rows: slice) -> Text:
        return Text(self.buffer, self.start[rows], self.length[rows])

    def tolist(self) -> list[str]:
        """The ids themselves."""
        return list(map(decode, tokens(self.buffer, self.start, self.start + self.length)))

    def stretches(self) -> tuple[list[bytes], Ints]:
        """The id of each stretch of rows with one id, and how many rows it has."""
        first = run_starts(gather(self.buffer, self.start, self.length), self.length)
        begin, bounds = self.start[first], np.append(first, len(self.start))
        return tokens(self.buffer, begin, begin + self.length[first]), bounds[1:] - bounds[:-1]

    def hashes(self) -> Words:
        """rows: the hash of the id."""
        return hashes(gather(self.buffer, self.start, self.length), self.length)


def check_column(values: Any, name: Any, rows: int, place: str) -> Any:
    """Return a column of Arrow, in which all offsets, indices and texts are valid, with a value for each row.

    Raises InputError otherwise. Arrow trusts them: to read a damaged column may end the process, or give the values of
    other rows.
    """
    try:
        values.validate(full=True)
        is_valid = len(values) == rows
    except ValueError:  # as errors of Arrow are
        is_valid = False
    if not is_valid:
        raise InputError(place, f"column '{name}' is damaged", "write the table again", kind="format")
    return values


def held_in_arrow(values: Any) -> Text | Floats | None:
    """A column of Arrow as text or as numbers; None where it holds anything else, or a value is missing or empty."""
    text = text_of_arrow(values)
    return numbers_of_arrow(values) if text is None else text


def text_of_arrow(values: Any) -> Text | None:
    """A column of Arrow as text; None where it holds anything else, or a value is missing or empty."""
    values = _in_one_piece(values)
    wide = {"string": np.int32, "large_string": np.int64}.get(str(values.type))
    if wide is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    _, offsets, data = values.buffers()
    end = np.frombuffer(offsets, wide, values.offset + len(values) + 1)[values.offset :].astype(np.int64, copy=False)
    length = end[1:] - end[:-1]
    if not length.all():
        return None
    size = int(end[-1] - end[0])
    buffer = padded(size)
    buffer[PAD : PAD + size] = np.frombuffer(data, np.uint8)[end[0] : end[-1]]
    return Text(buffer, end[:-1] + (PAD - end[0]), length)


def _in_one_piece(values: Any) -> Any:
    """A column of Arrow as one array, which most columns hold alone."""
    if not hasattr(values, "combine_chunks"):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


_NUMBERS = {
    **{f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float": "float32",
    "double": "float64",
}


def numbers_of_arrow(values: Any) -> Floats | None:
    """A column of Arrow as numbers; None where it holds anything else, or a value is missing. Arrow itself would import
    pandas first."""
    values = _in_one_piece(values)
    kind = _NUMBERS.get(str(values.type))
    if kind is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    held = np.frombuffer(values.buffers()[1], kind, values.offset + len(values))[values.offset :]
    return held.astype(np.float64)


# JSON Lines in which only the values differ from line to line -> where these stand, thousands of lines at a time.


_U = np.uint64
_EACH = 0x0101010101010101
_ONES, _HIGH = _U(_EACH), _U(0x80 * _EACH)
_MINUS, _DOT, _ZERO, _LETTER, _LOWER, BACKSLASH = 45, 46, 48, ord("e"), 32, 92
MOST = 1 << 12
"""Bytes of a value, at most: a step is taken for every eight of the longest one."""
MOST_DIGITS = 300
"""Bytes of a number, at most: Python refuses integers of thousands of digits."""

_MEMBER = re.compile(rb'"? *[{,] *"([^"\\]*)" *: *(?:("[^"\\]*)|-?[0-9][-+.0-9eE]*)')


class _Values(NamedTuple):
    """The values of one name: where they begin, how long they are, and what they are where they are numbers."""

    start: Ints
    length: Ints
    numbers: Floats | None


class _Between(NamedTuple):
    """What stands between values in every line: before the first, between two, and behind the last. A text's quotes
    belong to it."""

    names: list[str]
    is_text: list[bool]
    literals: list[bytes]


def regular_lines(stream: Stream, line: bytes, first: Mapping[str, Any]) -> TableColumns | None:
    """The columns of records that are written alike; None of any others, such as where a text has an escape.

    line   the first line
    first  its record, which is valid
    """
    if b"\\" in line or (between := _between(line, first)) is None:
        return None
    buffer, end = padded_text(stream)
    parts: list[list[_Values]] = []
    for begin, stop in parts_of(buffer, PAD, end):
        if (values := _values(buffer, begin, stop, between)) is None:
            return None
        parts.append(values)
    columns = dict(zip(between.names, zip(*parts, strict=True), strict=True))

    @cache
    def text(name: str) -> Text:
        start, length, _ = zip(*columns[name], strict=True)
        return Text(buffer, np.concatenate(start), np.concatenate(length))

    @cache
    def held(name: str) -> Text | Floats | None:
        numbers = [values.numbers for values in columns[name] if values.numbers is not None]
        return np.concatenate(numbers) if numbers else text(name) if text(name).length.all() else None

    @cache
    def listed(name: str) -> list[Any]:
        found = tokens(buffer, text(name).start, text(name).start + text(name).length)
        is_text = columns[name][0].numbers is None
        return list(map(decode, found)) if is_text else json.loads(b"[%b]" % b",".join(found))

    return TableColumns(between.names, listed, sum(len(part[0].start) for part in parts), held=held)


def _between(line: bytes, first: Mapping[str, Any]) -> _Between | None:
    """What stands between the values of a line; None where it is no object of text and numbers."""
    at, names, is_text, literals = 0, list[str](), list[bool](), list[bytes]()
    while found := _MEMBER.match(line, at):
        names.append(decode(found[1]))
        is_text.append(found[2] is not None)
        value = found.start(2) + 1 if is_text[-1] else found.end() - len(found[0].rpartition(b":")[2].lstrip())
        literals.append(line[at:value])
        at = found.end()
    literals.append(line[at:])
    return _Between(names, is_text, literals) if names == list(first) and literals[-1].strip(b'" ') == b"}" else None


def _values(buffer: Bytes, begin: int, end: int, between: _Between) -> list[_Values] | None:
    """The values of the lines in `buffer[begin:end]`, the last of which ends with a newline; None where a line is
    written in another way."""
    text, words, small = buffer[begin:end], words_at(buffer), np.int32 if len(buffer) < 1 << 31 else np.int64
    ends = np.flatnonzero(text < SPACE)
    if not (text[ends] == NEWLINE).all() or (text == BACKSLASH).any():
        return None
    ends += begin
    at, found = np.append(begin, ends[:-1] + 1), list[_Values]()
    for is_text, literal, following in zip(between.is_text, between.literals, between.literals[1:], strict=False):
        if not begin_with(buffer, at, literal):
            return None
        start = at + len(literal)
        if (stop := _first(words, start, following[0])) is None:
            return None
        numbers = None if is_text else json_numbers(buffer, start, stop, text, begin)
        if numbers is None and not is_text:
            return None
        found.append(_Values(start.astype(small), (stop - start).astype(np.int32), numbers))
        at = stop
    last = between.literals[-1]
    return found if (at + len(last) == ends).all() and begin_with(buffer, at, last) else None


def begin_with(buffer: Bytes, at: Ints, literal: bytes) -> bool:
    """Whether the text begins with some bytes at all these places."""
    word = gather(buffer, at, np.array([len(literal)]))
    for offset in range(0, len(literal), 8):
        piece = literal[offset : offset + 8]
        other = word(offset, slice(None)) ^ _U(int.from_bytes(piece, "little"))
        if (other << _U(64 - 8 * len(piece))).any():
            return False
    return True


def _first(words: Words, start: Ints, byte: int) -> Ints | None:
    """Where a byte is first met from each place on; None where that is far away."""
    stop, rows, sought = start.copy(), np.empty(0, np.int64), _U(byte * _EACH)
    places = start
    for step in range(0, MOST, 8):
        word = words[places] ^ sought
        found = (word - _ONES) & ~word & _HIGH  # the lowest bit is of the first byte that is sought
        after = ((np.bitwise_count(found ^ (found - _U(1))) - np.uint8(1)) >> np.uint8(3)).astype(np.int64)
        missing = np.flatnonzero(found == 0)
        after[missing] = 8
        if step:
            stop[rows] += after
            rows = rows[missing]
        else:
            stop += after
            rows = missing
        if not len(rows):
            return stop
        places = stop[rows]
        if places.max() + 8 > len(words):
            return None
    return None


def json_numbers(buffer: Bytes, start: Ints, stop: Ints, text: Bytes, begin: int) -> Floats | None:
    """The values of numbers; None where one is none of JSON, which takes no sign but a minus, no zero before other
    digits, and no dot without digits on both sides."""
    negative = buffer[start] == _MINUS
    digits = [buffer[start + negative + after] - np.uint8(_ZERO) for after in (0, 1)]
    wrong: Bools = (digits[0] > 9) | ((digits[0] == 0) & (digits[1] <= 9)) | (buffer[stop - 1] == _DOT)
    longest = int((stop - start).max())
    if wrong.any() or longest > MOST_DIGITS:
        return None
    if longest == 1 and not negative.any():
        return np.asarray(digits[0], np.float64)
    dots = np.flatnonzero((text[:-1] == _DOT) & (text[1:] | np.uint8(_LOWER) == _LETTER)) + begin
    number = np.searchsorted(start, dots, side="right") - 1
    if (dots < stop[number])[number >= 0].any():
        return None
    length: NDArray[Any] = stop - start
    try:
        return decimals(buffer, stop, length, gather_trailing(buffer, stop))
    except ValueError:
        return None


# A JSON document topic -> docno -> number as `json` and `orjson` write it -> where its docnos stand, and numbers.


_QUOTE, _OPEN, _CLOSE = 34, ord("{"), ord("}")
_BEGIN = re.compile(rb'\{"[^"]+"(: ?)\{"[^"]+"\1[-+.0-9eE]+\}?(, ?)"')
MOST_OF_BEGIN = 1 << 12
"""Bytes within which the first document ends."""
NAMES = 1 << 14
"""Names that are looked at together, so that the arrays stay in the cache."""


class NestedNumbers(NamedTuple):
    """The documents of such a file, topic after topic.

    topics  the ids, all different
    size    topics: how many documents
    docno   documents: some may be alike
    value   documents: a finite number
    """

    topics: list[bytes]
    size: Ints
    docno: Text
    value: Floats


def nested_numbers(stream: Stream) -> NestedNumbers | None:
    """The documents of a stream; None of any other document, where a name has an escape, or where spaces or lines are
    other than those of the first names."""
    if (begin := _BEGIN.match(stream.peek(MOST_OF_BEGIN))) is None:
        return None
    colon, comma = begin.groups()
    buffer, end = padded_text(stream)
    last = buffer[max(PAD, end - PAD) : end].tobytes()
    end -= len(last) - len(last.rstrip(b" \t\r\n"))
    if not last.rstrip(b" \t\r\n").endswith(b"}}"):
        return None
    # Another topic seems to follow, so that the last document ends as the others do.
    behind = np.frombuffer(comma + b'"', np.uint8)
    buffer[end - 1 : end - 1 + len(behind)] = behind
    end += len(behind) - 1
    if (quotes := _quotes(buffer, end)) is None or len(quotes) % 2 == 0:
        return None
    opens, closes, following = quotes[:-1:2], quotes[1::2], quotes[2::2]
    is_topic = buffer[closes + (1 + len(colon))] == _OPEN
    is_last = np.append(is_topic[1:], True)
    if opens[0] != PAD + 1 or not is_topic[0]:
        return None
    values: list[Floats] = []
    for at in range(0, len(closes), NAMES):
        some = [column[at : at + NAMES] for column in (closes, following, is_topic, is_last)]
        if (found := _nested_numbers_values(buffer, colon, comma, *some)) is None:
            return None
        values.append(found)
    return _columns(buffer, opens + 1, closes, is_topic, np.concatenate(values))


def _quotes(buffer: Bytes, end: int) -> NDArray[Any] | None:
    """Where the quotes of a text stand; None where it has escapes or lines."""
    small, quotes = np.int32 if len(buffer) < 1 << 31 else np.int64, []
    for begin in range(PAD, end, PART):
        text = buffer[begin : min(begin + PART, end)]
        if (text < SPACE).any() or (text == BACKSLASH).any():
            return None
        quotes.append((np.flatnonzero(text == _QUOTE) + begin).astype(small))
    return np.concatenate(quotes)


def _nested_numbers_values(
    buffer: Bytes, colon: bytes, comma: bytes, close: Ints, following: Ints, is_topic: Bools, is_last: Bools
) -> Floats | None:
    """The numbers of some names that follow each other; None where something else is among them.

    close      where each name ends
    following  where the next one begins
    is_topic   whether an object follows the name
    is_last    whether the next one is of a topic
    """
    close, following = close.astype(np.int64), following.astype(np.int64)
    begin = close + (1 + len(colon))
    topics, documents = np.flatnonzero(is_topic), np.flatnonzero(~is_topic)
    if not begin_with(buffer, close + 1, colon) or (following[topics] != begin[topics] + 1).any():
        return None
    if is_last[topics].any():
        return None
    if not len(documents):
        return np.empty(0)
    start, is_last = begin[documents], is_last[documents]
    stop = following[documents] - len(comma)
    if not begin_with(buffer, stop, comma):
        return None
    stop -= is_last
    if not (buffer[stop[is_last]] == _CLOSE).all() or (stop <= start).any():
        return None
    numbers = json_numbers(buffer, start, stop, buffer[start[0] : stop[-1]], int(start[0]))
    return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _columns(buffer: Bytes, start: Ints, stop: Ints, is_topic: Bools, value: Floats) -> NestedNumbers | None:
    """The documents of names that begin and end at these places."""
    length = stop - start
    first = np.flatnonzero(is_topic)
    topics = tokens(buffer, start[first], stop[first])
    if not length.all() or len(set(topics)) < len(topics) or is_record(dict.fromkeys(map(decode, topics))):
        return None
    size = np.diff(first, append=len(is_topic)) - 1
    docno = Text(buffer, start[~is_topic], length[~is_topic])
    return NestedNumbers(topics, size, docno, value) if docno.length.max() <= LONGEST else None
