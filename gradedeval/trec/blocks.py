"""Blocks of whole lines -> the bounds of their fields, thousands of lines at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gradedeval.gains import Ints
from gradedeval.trec.decimals import decimals
from gradedeval.trec.lines import BYTE_ORDER_MARKS
from gradedeval.trec.words import Bytes, Words, changes, equal, hashes, words_at

TAB, NEWLINE, RETURN, BLANK, HASH = 9, 10, 13, 32, 35


class Irregular(Exception):
    """There is something in the bytes that only the simple reader has words for: it reads the source again, and says
    what is wrong, or, with `--lenient`, skips it."""


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a block that hold fields, without comments and blank lines. Positions are those in `buffer`.

    buffer  the bytes, PAD of them before the text and after it
    starts  fields × lines: where each field begins
    ends    fields × lines: where it ends
    """

    buffer: Bytes
    starts: list[Ints] = field(default_factory=list)
    ends: list[Ints] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.starts[0])

    @cached_property
    def words(self) -> Words:
        return words_at(self.buffer)

    def token(self, column: int, row: int) -> bytes:
        return self.buffer[self.starts[column][row] : self.ends[column][row]].tobytes()

    def numbers(self, column: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """A field as numbers. Raises Irregular where one is no plain decimal."""
        try:
            return decimals(self.buffer, self.starts[column], self.ends[column])
        except ValueError:
            raise Irregular from None

    def hashes(self, column: int) -> Words:
        return hashes(self.words, self.starts[column], self.ends[column])

    def keep(self, rows: Ints) -> Lines:
        """Only these lines, in this order."""
        return Lines(self.buffer, [start[rows] for start in self.starts], [end[rows] for end in self.ends])

    def stretches(self) -> tuple[list[bytes], Ints, Ints]:
        """Topics in order of appearance; for each stretch of lines with one topic its number among those, and its first
        line."""
        first = changes(self.words, self.starts[0], self.ends[0])
        if len(first) > MANY:
            return self._many_stretches(first)
        number: dict[bytes, int] = {}
        own = [number.setdefault(self.token(0, row), len(number)) for row in first.tolist()]
        return list(number), np.array(own, dtype=np.int64), first

    def _many_stretches(self, first: Ints) -> tuple[list[bytes], Ints, Ints]:
        """As `stretches`, for interleaved topics: one look at each topic, not at each stretch."""
        start, end = self.starts[0][first], self.ends[0][first]
        hashed = hashes(self.words, start, end)
        order = np.argsort(hashed, kind="stable")
        new = np.append(True, hashed[order[1:]] != hashed[order[:-1]])
        leader = order[new]  # the first stretch of each topic, in the order of hashes
        group = np.empty(len(first), dtype=np.int64)
        group[order] = np.cumsum(new) - 1
        by_appearance = np.argsort(leader)
        place = np.empty(len(leader), dtype=np.int64)
        place[by_appearance] = np.arange(len(leader))
        length = end - start
        same = length == length[leader[group]]
        if same.all():
            same = equal(self.words, start, self.words, start[leader[group]], length)
        if not same.all():  # two topics with one hash
            raise Irregular
        topics = [self.token(0, row) for row in first[leader[by_appearance]].tolist()]
        return topics, place[group], first


MANY = 1 << 12
"""Stretches of lines with one topic, up to which a look at each is quick enough."""


def check_beginning(buffer: Bytes, begin: int) -> None:
    """Raise Irregular where a text begins with a byte order mark."""
    if buffer[begin : begin + 3].tobytes().startswith(BYTE_ORDER_MARKS):
        raise Irregular


def split_lines(buffer: Bytes, begin: int, end: int, width: int) -> Lines:
    """The fields of the lines in `buffer[begin:end]`, the last of which ends with a newline.

    Raises Irregular where a line has not `width` fields, or holds bytes that no text has.
    """
    separated = buffer[begin:end] <= BLANK
    at = np.flatnonzero(separated)
    at += begin
    if len(at) % width == 0 and len(at):
        found = buffer[at]
        if _regular(buffer, at, found, begin, width):
            ends = [at[column::width] for column in range(width)]
            starts = [end + 1 for end in ends[:-1]]
            return Lines(buffer, [np.append(begin, ends[-1][:-1] + 1), *starts], ends)
    return _normalised(buffer, at, begin, end, width)


def _regular(buffer: Bytes, at: Ints, found: Bytes, begin: int, width: int) -> bool:
    """Whether one blank or tab stands between two fields, nothing else stands around them, and no line is a comment."""
    last = at[width - 1 :: width]
    between = np.count_nonzero(found == BLANK) + np.count_nonzero(found == TAB)
    return bool(
        at[0] > begin
        and between == len(at) - len(last)
        and (found[width - 1 :: width] == NEWLINE).all()
        and (at[1:] - at[:-1]).min(initial=2) > 1
        and buffer[begin] != HASH
        and not (buffer[last[:-1] + 1] == HASH).any()
    )


def _normalised(buffer: Bytes, at: Ints, begin: int, end: int, width: int) -> Lines:
    """As `split_lines`, for lines of any form: blanks repeated, before or after the fields, CRLF, comments."""
    found = buffer[at]
    newline = found == NEWLINE
    returned = found == RETURN
    plain = np.count_nonzero(newline) + np.count_nonzero(found == BLANK) + np.count_nonzero(found == TAB)
    if plain != len(at) and (plain + np.count_nonzero(returned) != len(at) or _return_inside(buffer, at[returned])):
        raise Irregular
    before = np.append(begin - 1, at[:-1])
    token = at - before > 1  # a field ends where a separator stands after something else
    line = np.cumsum(newline) - newline
    start, stop, line = (before + 1)[token], at[token], line[token]
    lines = int(np.count_nonzero(newline))
    begins = np.append(begin, at[newline][:-1] + 1)
    comment = buffer[begins] == HASH
    if comment.any():
        kept = ~comment[line]
        start, stop, line = start[kept], stop[kept], line[kept]
    fields = np.bincount(line, minlength=lines)
    if ((fields != width) & (fields != 0)).any():
        raise Irregular
    return Lines(
        buffer,
        list(np.ascontiguousarray(start.reshape(-1, width).T)),
        list(np.ascontiguousarray(stop.reshape(-1, width).T)),
    )


def _return_inside(buffer: Bytes, at: Ints) -> bool:
    """Whether a carriage return stands elsewhere than at the end of its line."""
    return bool((buffer[at + 1] != NEWLINE).any())
