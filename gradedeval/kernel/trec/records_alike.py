"""JSON Lines in which only the values differ from line to line -> where these stand, thousands of lines at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.kernel.trec.blocks import padded_text, parts_of
from gradedeval.kernel.trec.file_formats import TableColumns
from gradedeval.kernel.trec.lines import decode
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.text_columns import Text
from gradedeval.kernel.trec.tokenizer import (
    NEWLINE,
    PAD,
    SPACE,
    Bytes,
    Words,
    decimals,
    gather,
    gather_trailing,
    tokens,
    words_at,
)

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
