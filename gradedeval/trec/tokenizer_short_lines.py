"""Short lines of a block as a table, one line a row: all fields of all lines are found by a few steps on words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.trec.swar import (
    BLANK,
    HASH,
    NEWLINE,
    TAB,
    Bytes,
    TrailingBytes,
    Word,
    Words,
    gather,
    gather_trailing,
    tokens,
    words_at,
)

FIRST = 128
"""Bytes that tell whether tabs separate fields, and how long lines are."""

Within = NDArray[np.uint8]
"""Positions within a line: lines."""


@dataclass(frozen=True, eq=False)
class ShortLineFields:
    """Lines that are short enough for a bit of a word for each byte.

    buffer  the bytes they stand in
    rows    lines × bytes: each line from its first byte on; what follows it in the text stands behind it
    line    where each line begins in the buffer
    begins  where each field begins within the line, by the number of the field
    ends    where it ends
    """

    buffer: Bytes
    rows: Bytes
    line: Ints
    begins: list[Within]
    ends: list[Within]

    def __len__(self) -> int:
        return len(self.line)

    def start(self, column: int) -> Ints:
        return self.line + self.begins[column]

    def end(self, column: int) -> Ints:
        return self.line + self.ends[column]

    def length(self, column: int) -> Within:
        return self.ends[column] - self.begins[column]

    def tokens(self, column: int, rows: Ints) -> list[bytes]:
        line = self.line[rows]
        return tokens(self.buffer, line + self.begins[column][rows], line + self.ends[column][rows])

    def word(self, column: int) -> Word:
        """The words of a field. Nothing is gathered where it begins at one place in all lines."""
        begin = self.begins[column]
        at, width = int(begin[0]), self.rows.shape[1]
        if not (begin == at).all():
            return gather(words_at(self.buffer), self.start(column))

        def word(after: int, rows: Any) -> Words:
            if at + after + 8 <= width:
                found: Words = self._column(at + after)[rows]
                return found
            return gather(words_at(self.buffer), self.start(column))(after, rows)

        return word

    def trailing_bytes(self, column: int) -> TrailingBytes:
        """The last bytes of a field. Nothing is gathered where it ends at about one place in all lines: two columns of
        words have all of them."""
        end = self.ends[column]
        first, last = int(end.min()), int(end.max())
        if last - first > 7 or not 9 <= first <= self.rows.shape[1] - 7:
            return gather_trailing(self.buffer, self.end(column))

        def nine(rows: slice) -> tuple[Words, Words]:
            low, high = self._column(first - 9)[rows].copy(), self._column(first - 1)[rows].copy()
            up = ((end[rows] - np.uint8(first)) << np.uint8(3)).astype(np.uint64)
            down = np.uint64(64) - up  # a shift by 64 leaves nothing
            before = low >> up
            before |= high << down
            up += np.uint64(8)
            down -= np.uint64(8)
            low >>= up
            low |= high << down
            return before, low

        return nine

    def _column(self, at: int) -> Words:
        """The word that begins at a place of each line, the same in all."""
        return np.ndarray(len(self.rows), "<u8", self.rows.data, at, (self.rows.shape[1],))


def short_line_fields(buffer: Bytes, begin: int, end: int, fields: int) -> ShortLineFields | None:
    """The lines in `buffer[begin:end]`, the last of which ends with a newline.

    None where one is too long, or is a comment, or blank, or has not so many fields, or where there is anything else
    than fields and what separates them.
    """
    ends = _newlines(buffer, begin, end)
    if ends is None:
        return None
    line = np.empty_like(ends)
    line[0] = 0
    np.add(ends[:-1], 1, out=line[1:])
    ends -= line
    longest = int(ends.max())
    width = 32 if longest <= 30 else 64
    if longest > width - 2:  # a bit must be left over: where there is none, all fields seem to end at the last
        return None
    length = ends.astype(np.uint8)
    line += begin
    rows = np.ndarray(len(buffer) - width + 1, f"V{width}", buffer.data, strides=(1,))[line]
    rows = rows.view(np.uint8).reshape(-1, width)
    if (rows[:, 0] == HASH).any():
        return None
    # A bit for each byte, the first lowest.
    kind: Any = np.uint32 if width == 32 else np.uint64
    separates = np.packbits(rows <= BLANK, bitorder="little").view(kind)
    separates[-1:] &= (kind(2) << length[-1:]) - kind(1)  # what follows the last line may be anything
    found = _single_spaced(separates, length, fields) or _spaced(separates, length, fields)
    return ShortLineFields(buffer, rows, line, *found) if found else None


def _single_spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """Where fields begin and end that one byte separates, and nothing stands around; None where it is otherwise."""
    one = separates.dtype.type(1)
    if (separates & (separates << one | one)).any():
        return None
    after = _places(separates, fields)
    if not (after[-1] == length + np.uint8(1)).all():
        return None
    return [np.zeros_like(length), *after[:-1]], [place - np.uint8(1) for place in after]


def _spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """The same where blanks are repeated, or stand before the fields or after them."""
    kind = separates.dtype.type
    inside = (kind(2) << length) - kind(1)
    separates = separates & inside
    after = separates << kind(1) | kind(1)
    stops = separates & ~after
    if (np.bitwise_count(stops) != fields).any():
        return None
    begins, ends = _places(~separates & after & inside, fields), _places(stops, fields)
    return [place - np.uint8(1) for place in begins], [place - np.uint8(1) for place in ends]


def _newlines(buffer: Bytes, begin: int, end: int) -> Ints | None:
    """Where the newlines are in `buffer[begin:end]`; None where two are among eight bytes, or other control bytes stand
    than they, and tabs, of which the first bytes must have one."""
    size = end - begin
    text = buffer[begin : end + -size % 32]
    tabs = TAB in text[:FIRST]
    flags = text == NEWLINE if tabs else text < BLANK
    flags[size:] = False
    bits = np.packbits(flags, bitorder="little")
    long = np.count_nonzero(flags[:FIRST]) <= FIRST // 32
    ends = _single_bits(bits.view("<u4"), 32) if long else None
    if ends is None and (ends := _single_bits(bits, 8)) is None:
        return None
    if tabs:
        text = text[:size]
        return ends if len(ends) + np.count_nonzero(text == TAB) == np.count_nonzero(text < BLANK) else None
    return ends if (text[ends] == NEWLINE).all() else None


def _single_bits(words: NDArray[Any], width: int) -> Ints | None:
    """Which bits are set in words of so many; None where one has two. All words are looked through, not all bits."""
    at = np.flatnonzero(words != 0)
    word = words[at]
    below = word - word.dtype.type(1)
    if (word & below).any():
        return None
    below ^= word  # the bit and all below it
    at *= width
    at += np.bitwise_count(below) - np.uint8(1)
    return at


def _places(bits: NDArray[Any], count: int) -> list[Within]:
    """Behind which bytes the lowest bits of each word are, so many of them."""
    places = []
    one = bits.dtype.type(1)
    below = np.empty_like(bits)
    lowest = np.empty_like(bits)
    for at in range(count):
        np.subtract(bits, one, out=below)
        np.bitwise_xor(bits, below, out=lowest)  # the lowest bit and all below it
        places.append(np.bitwise_count(lowest))
        bits = np.bitwise_and(bits, below, out=None if at == 0 else bits)
    return places
