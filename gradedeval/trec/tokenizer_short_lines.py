"""The fields of short lines, by SWAR: one bit for each byte of a line, so that a few steps find all fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.trec import swar
from gradedeval.trec.swar import HASH, NEWLINE, SPACE, TAB, Bytes, TrailingBytes, Word, Words

ALL = slice(None)

FIRST = 128
"""First bytes of a block, which show whether tabs separate fields, and how long lines are."""

Within = NDArray[np.uint8]
"""lines: a position within the line."""


@dataclass(frozen=True, eq=False, repr=False)
class ShortLineFields:
    """The fields of lines that have at most 62 bytes.

    buffer  the bytes of the block
    rows    lines × bytes: each line, followed by whatever follows it in the text
    line    where each line begins in the buffer
    begins  number of a field -> where it begins within each line
    ends    number of a field -> where it ends
    """

    buffer: Bytes
    rows: Bytes
    line: Ints
    begins: list[Within]
    ends: list[Within]

    def __len__(self) -> int:
        return len(self.line)

    def start(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.line[rows] + self.begins[column][rows]

    def end(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.line[rows] + self.ends[column][rows]

    def length(self, column: int) -> Within:
        return self.ends[column] - self.begins[column]

    def word(self, column: int) -> Word:
        """The words of a field. Where it begins at the same position in all lines, they are a view, not a copy."""
        begin = self.begins[column]
        at, width = int(begin[0]), self.rows.shape[1]
        if not (begin == at).all():
            return swar.gather(swar.words_at(self.buffer), self.start(column))

        def word(after: int, rows: Any) -> Words:
            if at + after + 8 <= width:
                words: Words = self._column(at + after)[rows]
                return words
            return swar.gather(swar.words_at(self.buffer), self.start(column))(after, rows)

        return word

    def trailing_bytes(self, column: int) -> TrailingBytes:
        """The last bytes of a field. Where it ends at about the same position in all lines, two columns of words hold
        them all, and nothing is gathered."""
        end = self.ends[column]
        first, last = int(end.min()), int(end.max())
        if last - first > 7 or not 9 <= first <= self.rows.shape[1] - 7:
            return swar.gather_trailing(self.buffer, self.end(column))

        def nine(rows: slice) -> tuple[Words, Words]:
            low, high = self._column(first - 9)[rows].copy(), self._column(first - 1)[rows].copy()
            up = ((end[rows] - np.uint8(first)) << np.uint8(3)).astype(np.uint64)
            down = np.uint64(64) - up  # a shift by 64 gives 0
            before = low >> up
            before |= high << down
            up += np.uint64(8)
            down -= np.uint64(8)
            low >>= up
            low |= high << down
            return before, low

        return nine

    def _column(self, at: int) -> Words:
        """The word that begins at a position of each line."""
        return np.ndarray(len(self.rows), "<u8", self.rows.data, at, (self.rows.shape[1],))


def short_line_fields(buffer: Bytes, begin: int, end: int, fields: int) -> ShortLineFields | None:
    """The fields of the lines in `buffer[begin:end]`, the last of which ends with a newline.

    None if a line is too long, a comment, or blank, has another number of fields, or contains control bytes.
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
    if longest > width - 2:  # the shifts below need a spare bit
        return None
    length = ends.astype(np.uint8)
    line += begin
    rows = np.ndarray(len(buffer) - width + 1, f"V{width}", buffer.data, strides=(1,))[line]
    rows = rows.view(np.uint8).reshape(-1, width)
    if (rows[:, 0] == HASH).any():
        return None
    # One bit for each byte, the first byte lowest.
    kind: Any = np.uint32 if width == 32 else np.uint64
    separates = np.packbits(rows <= SPACE, bitorder="little").view(kind)
    separates[-1:] &= (kind(2) << length[-1:]) - kind(1)  # the last line may be followed by anything
    bounds = _single_spaced(separates, length, fields) or _spaced(separates, length, fields)
    return ShortLineFields(buffer, rows, line, *bounds) if bounds else None


def _single_spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """Where fields begin and end if exactly one byte separates them, and none is around them; None otherwise."""
    one = separates.dtype.type(1)
    if (separates & (separates << one | one)).any():
        return None
    after = _places(separates, fields)
    if not (after[-1] == length + np.uint8(1)).all():
        return None
    return [np.zeros_like(length), *after[:-1]], [place - np.uint8(1) for place in after]


def _spaced(separates: Any, length: Within, fields: int) -> tuple[list[Within], list[Within]] | None:
    """The same where separators are repeated, or are before or after the fields."""
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
    """Where the newlines are in `buffer[begin:end]`; None if two are within eight bytes, or if there are control bytes
    other than newlines and tabs. Tabs are allowed if the first bytes have one."""
    size = end - begin
    text = buffer[begin : end + -size % 32]
    tabs = TAB in text[:FIRST]
    flags = text == NEWLINE if tabs else text < SPACE
    flags[size:] = False
    bits = np.packbits(flags, bitorder="little")
    long = np.count_nonzero(flags[:FIRST]) <= FIRST // 32
    ends = _single_bits(bits.view("<u4"), 32) if long else None
    if ends is None and (ends := _single_bits(bits, 8)) is None:
        return None
    if tabs:
        text = text[:size]
        return ends if len(ends) + np.count_nonzero(text == TAB) == np.count_nonzero(text < SPACE) else None
    return ends if (text[ends] == NEWLINE).all() else None


def _single_bits(words: NDArray[Any], width: int) -> Ints | None:
    """Which bits are set, in words of `width` bits; None if a word has two. This scans words, not bits."""
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
    """The positions, counted from 1, of the `count` lowest bits of each word."""
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
