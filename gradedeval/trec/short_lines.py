"""Short lines of a block as a table, one line a row: all fields of all lines are found by a few steps on words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Ints
from gradedeval.trec.words import BLANK, HASH, NEWLINE, TAB, Bytes, Word

FIRST = 128
"""Bytes that tell whether tabs separate fields."""

Within = NDArray[np.uint8]
"""Positions within a line: lines."""


@dataclass(frozen=True, eq=False)
class Table:
    """Lines that are short enough for a bit of a word for each byte.

    rows    lines × bytes: each line from its first byte on; what follows it in the text stands behind it
    line    where each line begins in the buffer
    begins  where each field begins within the line, by the number of the field
    ends    where it ends
    """

    rows: Bytes
    line: Ints
    begins: list[Within]
    ends: list[Within]

    def token(self, column: int, row: int) -> bytes:
        return self.rows[row, self.begins[column][row] : self.ends[column][row]].tobytes()

    def word(self, column: int) -> Word | None:
        """The words of a field: nothing is gathered where it begins at one place in all lines; else None."""
        begin = self.begins[column]
        at, width = int(begin[0]), self.rows.shape[1]
        if int(self.ends[column].max()) + 7 > width or not (begin == at).all():
            return None
        return lambda after, rows: np.ndarray(len(begin), "<u8", self.rows.data, at + after, (width,))[rows]


def table(buffer: Bytes, begin: int, end: int, fields: int) -> Table | None:
    """The lines in `buffer[begin:end]`, the last of which ends with a newline.

    None where one is too long, or is a comment, or blank, or has not so many fields, or where there is anything else
    than fields and what separates them.
    """
    ends = _newlines(buffer[begin:end])
    if ends is None:
        return None
    line = np.append(0, ends[:-1] + 1)
    length = (ends - line).astype(np.uint8)
    longest = int((ends - line).max())
    width = 32 if longest < 24 else 64
    if longest >= width:
        return None
    line += begin
    rows = np.ndarray(len(buffer) - width + 1, f"V{width}", buffer.data, strides=(1,))[line]
    rows = rows.view(np.uint8).reshape(-1, width)
    # A bit for each byte, the first lowest.
    kind: Any = np.uint32 if width == 32 else np.uint64
    separates = np.packbits(rows <= BLANK, bitorder="little").view(kind)
    one = kind(1)
    inside = (kind(2) << length) - one
    separates &= inside
    after = (separates << one) | one
    stops = separates & ~after
    if (np.bitwise_count(stops) != fields).any() or (rows[:, 0] == HASH).any():
        return None
    if (separates & after).any():
        begins = _places(~separates & after & inside, fields)
        return Table(rows, line, begins, _places(stops, fields))
    stopped = [*_places(stops, fields - 1), length]
    return Table(rows, line, [np.zeros_like(length), *(stop + np.uint8(1) for stop in stopped[:-1])], stopped)


def _newlines(text: Bytes) -> Ints | None:
    """Where the newlines are; None where other control bytes stand than they, and tabs."""
    if TAB not in text[:FIRST]:
        ends = np.flatnonzero(text < BLANK)
        return ends if (text[ends] == NEWLINE).all() else None
    ends = np.flatnonzero(text == NEWLINE)
    return ends if len(ends) + np.count_nonzero(text == TAB) == np.count_nonzero(text < BLANK) else None


def _places(bits: NDArray[Any], count: int) -> list[Within]:
    """Where the lowest bits of each word are, so many of them."""
    places = []
    below = np.empty_like(bits)
    lowest = np.empty_like(bits)
    rest = bits.copy()
    for _ in range(count):
        np.subtract(rest, bits.dtype.type(1), out=below)
        np.bitwise_xor(rest, below, out=lowest)  # the lowest bit and all below it
        places.append(np.bitwise_count(lowest) - np.uint8(1))
        rest &= below
    return places
