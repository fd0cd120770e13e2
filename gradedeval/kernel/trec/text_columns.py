"""Represent columns of Arrow and JSON by a buffer and the positions of values, without a string per value."""

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
from gradedeval.kernel.trec import tokenizer
from gradedeval.kernel.trec.blocks import PART, padded_text, parts_of
from gradedeval.kernel.trec.file_formats import TableColumns, is_record
from gradedeval.kernel.trec.lines import LONGEST, decode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.tokenizer import NEWLINE, PAD, SPACE, Bytes, Words, hashes

# Columns of text and of Arrow.


@dataclass(eq=False, repr=False)
class Text:
    """A column of ids: a buffer, and the start and length of each id in it."""

    buffer: Bytes
    start: Ints
    length: Ints

    def __getitem__(self, rows: slice) -> Text:
        return Text(self.buffer, self.start[rows], self.length[rows])

    def tolist(self) -> list[str]:
        """Return the ids as text."""
        return list(map(decode, tokenizer.tokens(self.buffer, self.start, self.start + self.length)))

    def stretches(self) -> tuple[list[bytes], Ints]:
        """Return the id and the number of rows of each stretch of rows with one id."""
        first = tokenizer.run_starts(tokenizer.gather(self.buffer, self.start, self.length), self.length)
        begin, bounds = self.start[first], np.append(first, len(self.start))
        return tokenizer.tokens(self.buffer, begin, begin + self.length[first]), bounds[1:] - bounds[:-1]

    def hashes(self) -> Words:
        """Return rows: the hash of the id."""
        return hashes(tokenizer.gather(self.buffer, self.start, self.length), self.length)


def check_column(values: Any, name: Any, rows: int, place: str) -> Any:
    """Return a column of Arrow after validating all its offsets, indices and texts, and its number of rows.

    Raises InputError if it is damaged: Arrow trusts it, and could crash or return the values of other rows.
    """
    try:
        values.validate(full=True)
        is_valid = len(values) == rows
    except ValueError:  # a base of Arrow's errors
        is_valid = False
    if not is_valid:
        raise InputError(place, f"column '{name}' is damaged", "write the table again", kind="format")
    return values


def array_of_arrow(values: Any) -> Text | Floats | None:
    """Return a column of Arrow as text or as numbers; None if it is neither, or a value is missing or empty."""
    text = text_of_arrow(values)
    return numbers_of_arrow(values) if text is None else text


def text_of_arrow(values: Any) -> Text | None:
    """Return a column of Arrow as text; None if it is not, or a value is missing or empty."""
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
    buffer = tokenizer.padded(size)
    buffer[PAD : PAD + size] = np.frombuffer(data, np.uint8)[end[0] : end[-1]]
    return Text(buffer, end[:-1] + (PAD - end[0]), length)


def _in_one_piece(values: Any) -> Any:
    """Return a column of Arrow as a single array."""
    if not hasattr(values, "combine_chunks"):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()


_NUMBERS = {
    **{f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "float": "float32",
    "double": "float64",
}


def numbers_of_arrow(values: Any) -> Floats | None:
    """Return a column of Arrow as numbers; None if it is not, or a value is missing. Arrow itself would import pandas
    first."""
    values = _in_one_piece(values)
    kind = _NUMBERS.get(str(values.type))
    if kind is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    numbers = np.frombuffer(values.buffers()[1], kind, values.offset + len(values))[values.offset :]
    return numbers.astype(np.float64)


# Uniform JSON Lines, which differ only in values: positions of the values, thousands of lines at a time.

_U = np.uint64
_EACH = 0x0101010101010101
_ONES, _HIGH = _U(_EACH), _U(0x80 * _EACH)
_MINUS, _DOT, _ZERO, _LETTER, _LOWER, BACKSLASH = 45, 46, 48, ord("e"), 32, 92
MOST = 1 << 12
"""Maximum bytes of a value: the longest one costs a step for every eight."""
MOST_DIGITS = 300
"""Maximum bytes of a number: Python refuses integers of thousands of digits."""

_MEMBER = re.compile(rb'"? *[{,] *"([^"\\]*)" *: *(?:("[^"\\]*)|-?[0-9][-+.0-9eE]*)')


class _Values(NamedTuple):
    """The values of one name: their starts and lengths, and the numbers if they are numeric."""

    start: Ints
    length: Ints
    numbers: Floats | None


class _Between(NamedTuple):
    """The literal text around the values of every line: before the first, between two, and after the last, including
    the quotes of texts."""

    names: list[str]
    is_text: list[bool]
    literals: list[bytes]


def regular_lines(stream: Stream, line: bytes, first: Mapping[str, Any]) -> TableColumns | None:
    """Return the columns of records with a uniform format; None for any others, such as texts with escapes.

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
    def array(name: str) -> Text | Floats | None:
        numbers = [values.numbers for values in columns[name] if values.numbers is not None]
        return np.concatenate(numbers) if numbers else text(name) if text(name).length.all() else None

    @cache
    def listed(name: str) -> list[Any]:
        values = tokenizer.tokens(buffer, text(name).start, text(name).start + text(name).length)
        is_text = columns[name][0].numbers is None
        return list(map(decode, values)) if is_text else json.loads(b"[%b]" % b",".join(values))

    return TableColumns(between.names, listed, sum(len(part[0].start) for part in parts), array=array)


def _between(line: bytes, first: Mapping[str, Any]) -> _Between | None:
    """Return the literals around the values of a line; None if it is not an object of text and numbers."""
    position, names, is_text, literals = 0, list[str](), list[bool](), list[bytes]()
    while member := _MEMBER.match(line, position):
        names.append(decode(member[1]))
        is_text.append(member[2] is not None)
        value = member.start(2) + 1 if is_text[-1] else member.end() - len(member[0].rpartition(b":")[2].lstrip())
        literals.append(line[position:value])
        position = member.end()
    literals.append(line[position:])
    return _Between(names, is_text, literals) if names == list(first) and literals[-1].strip(b'" ') == b"}" else None


def _values(buffer: Bytes, begin: int, end: int, between: _Between) -> list[_Values] | None:
    """Return the values of the lines in `buffer[begin:end]`, which ends with a newline; None if a line has another
    format."""
    text, words, small = buffer[begin:end], tokenizer.words_at(buffer), np.int32 if len(buffer) < 1 << 31 else np.int64
    ends = np.flatnonzero(text < SPACE)
    if not (text[ends] == NEWLINE).all() or (text == BACKSLASH).any():
        return None
    ends += begin
    position, columns = np.append(begin, ends[:-1] + 1), list[_Values]()
    for is_text, literal, following in zip(between.is_text, between.literals, between.literals[1:], strict=False):
        if not begin_with(buffer, position, literal):
            return None
        start = position + len(literal)
        if (stop := _first(words, start, following[0])) is None:
            return None
        numbers = None if is_text else json_numbers(buffer, start, stop, text, begin)
        if numbers is None and not is_text:
            return None
        columns.append(_Values(start.astype(small), (stop - start).astype(np.int32), numbers))
        position = stop
    last = between.literals[-1]
    return columns if (position + len(last) == ends).all() and begin_with(buffer, position, last) else None


def begin_with(buffer: Bytes, positions: Ints, literal: bytes) -> bool:
    """Return whether the text has the literal at all these positions."""
    word = tokenizer.gather(buffer, positions, np.array([len(literal)]))
    for offset in range(0, len(literal), 8):
        piece = literal[offset : offset + 8]
        difference = word(offset, slice(None)) ^ _U(int.from_bytes(piece, "little"))
        if (difference << _U(64 - 8 * len(piece))).any():
            return False
    return True


def _first(words: Words, start: Ints, byte: int) -> Ints | None:
    """Return the first position of a byte from each start; None if one is too far away."""
    stop, rows, sought = start.copy(), np.empty(0, np.int64), _U(byte * _EACH)
    places = start
    for step in range(0, MOST, 8):
        word = words[places] ^ sought
        matches = (word - _ONES) & ~word & _HIGH  # the lowest bit belongs to the first matching byte
        offset = ((np.bitwise_count(matches ^ (matches - _U(1))) - np.uint8(1)) >> np.uint8(3)).astype(np.int64)
        missing = np.flatnonzero(matches == 0)
        offset[missing] = 8
        if step:
            stop[rows] += offset
            rows = rows[missing]
        else:
            stop += offset
            rows = missing
        if not len(rows):
            return stop
        places = stop[rows]
        if places.max() + 8 > len(words):
            return None
    return None


def json_numbers(buffer: Bytes, start: Ints, stop: Ints, text: Bytes, begin: int) -> Floats | None:
    """Return the values of numbers; None if one is not valid JSON, which allows no sign but a minus, no zero before
    other digits, and no dot without digits on both sides."""
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
        return tokenizer.decimals(buffer, stop, length, tokenizer.gather_trailing(buffer, stop))
    except ValueError:
        return None


# JSON documents topic -> docno -> number in the format of `json` and `orjson`: positions of docnos, and numbers.

_QUOTE, _OPEN, _CLOSE = 34, ord("{"), ord("}")
_BEGIN = re.compile(rb'\{"[^"]+"(: ?)\{"[^"]+"\1[-+.0-9eE]+\}?(, ?)"')
MOST_OF_BEGIN = 1 << 12
"""Maximum bytes up to the end of the first document."""
NAMES = 1 << 14
"""Names processed together, so that the arrays stay in the cache."""


class NestedNumbers(NamedTuple):
    """The documents of a file topic -> docno -> number, topic by topic.

    topics  distinct ids
    size    topics: number of documents
    docno   documents: may repeat
    value   documents: a finite number
    """

    topics: list[bytes]
    size: Ints
    docno: Text
    value: Floats


def nested_numbers(stream: Stream) -> NestedNumbers | None:
    """Return the documents of a stream; None if it has another structure, a name has an escape, or the spacing is not
    uniform."""
    if (begin := _BEGIN.match(stream.peek(MOST_OF_BEGIN))) is None:
        return None
    colon, comma = begin.groups()
    buffer, end = padded_text(stream)
    last = buffer[max(PAD, end - PAD) : end].tobytes()
    end -= len(last) - len(last.rstrip(b" \t\r\n"))
    if not last.rstrip(b" \t\r\n").endswith(b"}}"):
        return None
    # Pretend that another topic follows, so that the last document ends as the others do.
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
    for i in range(0, len(closes), NAMES):
        columns = [column[i : i + NAMES] for column in (closes, following, is_topic, is_last)]
        if (numbers := _nested_numbers_values(buffer, colon, comma, *columns)) is None:
            return None
        values.append(numbers)
    return _columns(buffer, opens + 1, closes, is_topic, np.concatenate(values))


def _quotes(buffer: Bytes, end: int) -> NDArray[Any] | None:
    """Return the positions of the quotes in a text; None if it has escapes or line ends."""
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
    """Return the numbers of consecutive names; None if there is anything else among them.

    close      the end of each name
    following  the start of the next one
    is_topic   whether an object follows the name
    is_last    whether the next one is a topic
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
    """Return the documents of names with these starts and ends."""
    length = stop - start
    first = np.flatnonzero(is_topic)
    topics = tokenizer.tokens(buffer, start[first], stop[first])
    if not length.all() or len(set(topics)) < len(topics) or is_record(dict.fromkeys(map(decode, topics))):
        return None
    size = np.diff(first, append=len(is_topic)) - 1
    docno = Text(buffer, start[~is_topic], length[~is_topic])
    return NestedNumbers(topics, size, docno, value) if docno.length.max() <= LONGEST else None
