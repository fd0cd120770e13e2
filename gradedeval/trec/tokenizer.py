"""Blocks of whole lines -> where their fields begin and end, thousands of lines at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.trec import swar
from gradedeval.trec.floats import decimals, sort_keys
from gradedeval.trec.layouts import LineLayout
from gradedeval.trec.lines import NeedsLineReader
from gradedeval.trec.swar import COMMA, HASH, NEWLINE, QUOTE, RETURN, SPACE, TAB, Bytes, TrailingBytes, Word, Words
from gradedeval.trec.tokenizer_short_lines import ALL, ShortLineFields, short_line_fields

Bounds = Callable[[int], tuple[Ints, Ints]]
"""Number of a field -> where it begins and where it ends in every line."""


@dataclass(frozen=True, eq=False, repr=False)
class LineFields:
    """The fields of lines of any length and format.

    buffer  the bytes of the block
    count   how many lines
    """

    buffer: Bytes
    count: int
    bounds: Bounds

    def __len__(self) -> int:
        return self.count

    def start(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.bounds(column)[0][rows]

    def end(self, column: int, rows: Ints | slice = ALL) -> Ints:
        return self.bounds(column)[1][rows]

    def length(self, column: int) -> Ints:
        return self.end(column) - self.start(column)

    def word(self, column: int) -> Word:
        return swar.gather(swar.words_at(self.buffer), self.start(column))

    def trailing_bytes(self, column: int) -> TrailingBytes:
        return swar.gather_trailing(self.buffer, self.end(column))


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """The lines of a block, without comments and blank lines. Positions are those in `buffer`, which has PAD bytes
    before and after the text."""

    buffer: Bytes
    fields: ShortLineFields | LineFields

    def __len__(self) -> int:
        return len(self.fields)

    def start(self, column: int) -> Ints:
        """Where a field begins in each line."""
        return self.fields.start(column)

    def length(self, column: int) -> NDArray[Any]:
        """How many bytes a field has in each line."""
        return self.fields.length(column)

    def tokens(self, column: int, rows: Ints) -> list[bytes]:
        """A field of some lines."""
        return swar.tokens(self.buffer, self.fields.start(column, rows), self.fields.end(column, rows))

    def numbers(self, column: int) -> Floats:
        """A field as numbers. Raises NeedsLineReader where one is not a plain decimal."""
        numbers: Floats = self._read(decimals, column)
        return numbers

    def sort_keys(self, column: int) -> Floats | Ints:
        """Numbers that order lines as a field does. Raises NeedsLineReader where one is not a plain decimal."""
        keys: Floats | Ints = self._read(sort_keys, column)
        return keys

    def _read(self, as_numbers: Callable[[Bytes, Ints, NDArray[Any], TrailingBytes], Any], column: int) -> Any:
        fields = self.fields
        try:
            return as_numbers(self.buffer, fields.end(column), fields.length(column), fields.trailing_bytes(column))
        except ValueError:
            raise NeedsLineReader from None

    def hashes(self, column: int) -> Words:
        return swar.hashes(self.fields.word(column), self.length(column))

    def topic_starts(self) -> Ints:
        """The first line of each run of lines of one topic."""
        return swar.run_starts(self.fields.word(0), self.length(0))


def separate(text: Bytes, layout: LineLayout) -> None:
    """Commas that separate fields become tabs, in place. Raises NeedsLineReader where there are tabs as well."""
    if layout.separator == b",":
        if (text == TAB).any():
            raise NeedsLineReader
        text[text == COMMA] = TAB


def lines_of(buffer: Bytes, begin: int, end: int, layout: LineLayout) -> Lines:
    """The lines in `buffer[begin:end]`, the last of which ends with a newline, after `separate`.

    Raises NeedsLineReader where a line does not have the fields of the layout, or contains bytes that no text has; and,
    where tabs or commas alone separate fields, for what could shift them: a space or a quote in a field, an empty one.
    """
    lines = split_lines(buffer, begin, end, layout.width)
    if layout.separator:
        text = buffer[begin:end]
        tabs = np.count_nonzero(text == TAB)
        if tabs != len(lines) * (layout.width - 1) or (text == SPACE).any() or (text == QUOTE).any():
            raise NeedsLineReader
    return lines


def split_lines(buffer: Bytes, begin: int, end: int, width: int) -> Lines:
    """The fields of the lines in `buffer[begin:end]`, the last of which ends with a newline.

    Raises NeedsLineReader where a line does not have `width` fields, or contains bytes that no text has.
    """
    if end > begin and (short := short_line_fields(buffer, begin, end, width)) is not None:
        return Lines(buffer, short)
    separated = buffer[begin:end] <= SPACE
    at = np.flatnonzero(separated)
    at += begin
    if len(at) % width == 0 and len(at) and _regular(buffer, at, separated, begin, width):
        of_line = at.reshape(-1, width)

        @cache
        def bounds(column: int) -> tuple[Ints, Ints]:
            end = np.ascontiguousarray(of_line[:, column])
            start = of_line[:, column - 1] + 1 if column else np.append(begin, of_line[:-1, -1] + 1)
            return start, end

        return Lines(buffer, LineFields(buffer, len(of_line), bounds))
    return _normalized(buffer, at, begin, end, width)


def _regular(buffer: Bytes, at: Ints, separated: Bools, begin: int, width: int) -> bool:
    """Whether exactly one space or tab separates fields, lines have none around them, and no line is a comment."""
    last = at[width - 1 :: width]
    text = buffer[begin : int(at[-1]) + 1]
    between = np.count_nonzero(text == SPACE)
    if between != len(at) - len(last):
        between += np.count_nonzero(text == TAB)
    return bool(
        between == len(at) - len(last)
        and (buffer[last] == NEWLINE).all()
        and not separated[0]
        and not (separated[1:] & separated[:-1]).any()
        and buffer[begin] != HASH
        and not (buffer[last[:-1] + 1] == HASH).any()
    )


def _normalized(buffer: Bytes, at: Ints, begin: int, end: int, width: int) -> Lines:
    """As `split_lines`, for lines of any format: repeated spaces, spaces around fields, CRLF, comments."""
    separator = buffer[at]
    newline = separator == NEWLINE
    returned = separator == RETURN
    plain = np.count_nonzero(newline) + np.count_nonzero(separator == SPACE) + np.count_nonzero(separator == TAB)
    if plain != len(at) and plain + np.count_nonzero(returned) != len(at):
        raise NeedsLineReader
    if (buffer[at[returned] + 1] != NEWLINE).any():
        raise NeedsLineReader
    before = np.append(begin - 1, at[:-1])
    token = at - before > 1  # a field ends at a separator that does not follow another
    line = np.cumsum(newline) - newline
    start, stop, line = (before + 1)[token], at[token], line[token]
    lines = int(np.count_nonzero(newline))
    begins = np.append(begin, at[newline][:-1] + 1)
    comment = buffer[begins] == HASH
    if comment.any():
        included = ~comment[line]
        start, stop, line = start[included], stop[included], line[included]
    fields = np.bincount(line, minlength=lines)
    if ((fields != width) & (fields != 0)).any():
        raise NeedsLineReader
    starts, ends = np.ascontiguousarray(start.reshape(-1, width).T), np.ascontiguousarray(stop.reshape(-1, width).T)
    return Lines(buffer, LineFields(buffer, starts.shape[1], lambda column: (starts[column], ends[column])))
