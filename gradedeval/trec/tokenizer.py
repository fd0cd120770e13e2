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


SAMPLED = 1021
"""Of so many bytes one tells whether most of a block is blank: then a list of all blanks would take memory."""


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

    def joined(self, width: int, separator: int) -> Bytes:
        """The text of the lines, which have `width` fields, with one byte between fields and nothing else."""
        bounds = [self.fields.start, self.fields.end]
        starts, ends = (np.stack([bound(at) for at in range(width)], axis=1).ravel() for bound in bounds)
        begin, end = (int(starts[0]), int(ends[-1]) + 1) if len(self) else (0, 0)
        change = np.zeros(end - begin + 1, dtype=np.int8)
        change[starts - begin] = 1
        change[ends + 1 - begin] -= 1  # the byte behind a field is a separator
        text = self.buffer[begin:end][change.cumsum(dtype=np.int8)[:-1] > 0]
        behind = np.cumsum(ends - starts + 1) - 1
        text[behind] = separator
        text[behind[width - 1 :: width]] = NEWLINE
        return text

    def topic_starts(self) -> Ints:
        """The first line of each run of lines of one topic."""
        return swar.run_starts(self.fields.word(0), self.length(0))


def separate(text: Bytes, layout: LineLayout) -> None:
    """Commas that separate fields become tabs, in place. Raises NeedsLineReader where there are tabs as well."""
    if layout.separator == b",":
        if (text == TAB).any():
            raise NeedsLineReader
        text[text == COMMA] = TAB


def is_sparse(text: Bytes) -> bool:
    """Whether most bytes of a text are blanks or comments."""
    blank = np.count_nonzero(text <= SPACE)
    if 2 * blank <= len(text) and (text == HASH).any():
        newlines = np.flatnonzero(text == NEWLINE)
        begins = np.append(0, newlines[:-1] + 1) if len(newlines) else newlines
        blank += int((newlines - begins)[text[begins] == HASH].sum())
    return bool(2 * blank > len(text))


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
    blank = 2 * SAMPLED * np.count_nonzero(separated[::SAMPLED]) > len(separated)
    at = np.empty(0, dtype=np.int64) if blank else np.flatnonzero(separated)
    at += begin
    if len(at) % width == 0 and len(at) and _regular(buffer, at, separated, begin, width):
        of_line = at.reshape(-1, width)

        @cache
        def bounds(column: int) -> tuple[Ints, Ints]:
            end = np.ascontiguousarray(of_line[:, column])
            start = of_line[:, column - 1] + 1 if column else np.append(begin, of_line[:-1, -1] + 1)
            return start, end

        return Lines(buffer, LineFields(buffer, len(of_line), bounds))
    return _normalized(buffer, separated, begin, width)


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


def _normalized(buffer: Bytes, separated: Bools, begin: int, width: int) -> Lines:
    """As `split_lines`, for lines of any format: repeated spaces, spaces around fields, CRLF, comments. What takes
    memory are fields: of the bytes between them there may be a million for each."""
    text = buffer[begin : begin + len(separated)]
    newline, returned = text == NEWLINE, text == RETURN
    plain = sum(np.count_nonzero(text == kind) for kind in (SPACE, TAB)) + np.count_nonzero(newline)
    if plain + np.count_nonzero(returned) != np.count_nonzero(separated) or (returned[:-1] & ~newline[1:]).any():
        raise NeedsLineReader
    edges = np.flatnonzero(separated[1:] != separated[:-1]) + 1  # where fields begin and end, in turn
    edges = edges if separated[:1].all() else np.append(0, edges)
    start, stop = edges[::2], edges[1::2]
    first = np.ones(len(start), dtype=bool)  # of its line
    first[1:] = np.logical_or.reduceat(newline, stop)[:-1]  # no newline is in a field
    begins = np.flatnonzero(first)
    at_begin = (start[begins] == 0) | newline[start[begins] - 1]
    comment, fields = at_begin & (text[start[begins]] == HASH), np.diff(begins, append=len(start))
    if comment.any():
        included = np.repeat(~comment, fields)
        start, stop, fields = start[included], stop[included], fields[~comment]
    if (fields != width).any():
        raise NeedsLineReader
    starts, ends = (np.ascontiguousarray(edge.reshape(-1, width).T) + begin for edge in (start, stop))
    return Lines(buffer, LineFields(buffer, starts.shape[1], lambda column: (starts[column], ends[column])))
