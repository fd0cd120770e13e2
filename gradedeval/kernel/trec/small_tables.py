"""Small tables that a user gives in a file: weights, gains, costs, probabilities, saved scores.

All of them are read alike: compressed or not; with tabs, commas or spaces between columns; with or without a byte order
mark, a header, blank lines, and comments (lines that begin with `#`); rows with ranks in any order.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple

from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.kernel.trec.line_reader import Pieces, csv_rows, duplicate, settle_duplicates, whole_lines
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode
from gradedeval.kernel.trec.stream import Source, Stream

SPACE = " \t\r"
"""What stands around cells; other control characters are part of them."""


class TableRow(NamedTuple):
    """A row: column -> cell, and the line it stands on."""

    line: int
    cells: dict[str, str]


class SmallTable:
    """The rows of a file. `problems` collects what is wrong with them."""

    def __init__(self, place: str, usage: bool = False) -> None:
        self.place, self.problems = place, ProblemList(place, usage=usage)
        self.rows: list[TableRow] = []

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *columns: tuple[str, ...],
        hint: str,
        words: bool = False,
        usage: bool = False,
        pieces: Iterable[tuple[int, bytes]] | None = None,
    ) -> SmallTable:
        """The rows of a file that may have a header.

        columns  the names of a row's columns; several where rows may have different numbers of columns
        hint     what the file should hold, for messages
        words    whether the first column holds words: then a header is known by that column's name; otherwise by having
                 no number
        usage    whether problems are those of the command line (exit code 2), as for the file of a measure's parameter
        pieces   its lines, if they have been read already, as `whole_lines` gives them

        Raises InputError where the file cannot be read, or is empty. Rows with a wrong number of columns are
        `problems`.
        """
        table = cls(Source(path).place, usage)
        widths = {len(shape): shape for shape in columns}
        may_be_header, unnamed_header = True, 0
        for line, record in _records(path, pieces, set(widths), usage):
            cells = [cell.strip(SPACE) for cell in record]
            if cells[0].startswith("#"):
                continue
            if may_be_header and _is_header(cells, columns[0][0], words):
                may_be_header = False
                unnamed_header = 0 if cells[0].lower() == columns[0][0].lower() else line
                continue
            may_be_header = False
            shape = widths.get(len(cells))
            if shape is None:
                expected = " or ".join(f"{len(shape)} ({', '.join(shape)})" for shape in columns)
                what = f"{len(cells)} {plural(len(cells), 'field')}, expected {expected}"
                table.problems.add(line, what, hint, kind="fields")
            else:
                table.add(line, dict(zip(shape, cells, strict=True)))
        if not table.rows and not table.problems.count:
            if unnamed_header:
                place = f"{table.place}:{unnamed_header}"
                raise InputError(place, "a number is missing", hint, kind="number", usage=usage)
            raise InputError(table.place, "is empty", hint, kind="empty", usage=usage)
        return table

    @classmethod
    def headed(cls, path: Any, columns: Sequence[str], hint: str, pieces: Pieces | None = None) -> SmallTable:
        """The rows of a file whose header names these columns, in any order, and perhaps others; cells as they are.

        pieces  as of `read`

        Raises InputError where the file cannot be read, or a column is missing.
        """
        table = cls(Source(path).place)
        header: list[str] = []
        for line, cells in _records(path, pieces, set(), False):
            # A row may begin with # as well: the name of a run does, sometimes.
            if cells[0].startswith("#") and len(cells) != len(header):
                continue
            if not header:
                header = cells
                if missing := [name for name in columns if name not in header]:
                    raise InputError(f"{table.place}:{line}", f"no column '{missing[0]}'", hint)
            elif len(cells) != len(header):
                what = f"{len(cells)} {plural(len(cells), 'field')}, expected {len(header)}"
                table.problems.add(line, what, hint, kind="fields")
            else:
                table.add(line, dict(zip(header, cells, strict=True)))
        if not header:
            raise InputError(table.place, "is empty", hint, kind="empty")
        return table

    def add(self, line: int, cells: dict[str, str]) -> None:
        """Add a row that stands on this line."""
        self.rows.append(TableRow(line, cells))

    def number(self, row: TableRow, column: str, minimum: float = -math.inf, maximum: float = math.inf) -> float:
        """A cell as a finite number from `minimum` to `maximum`; nan, and a problem, where it is not."""
        cell = row.cells[column]
        value = decimal(encode(cell))
        if value != value:
            self.problems.add(row.line, f"{column} '{cell}' is not a number", "expected a finite decimal such as 12.5")
        elif not minimum <= value <= maximum:
            limits = f"from {minimum:g} to {maximum:g}" if maximum < math.inf else f"of {minimum:g} or more"
            self.problems.add(row.line, f"{column} {cell} is out of range", f"expected a number {limits}")
            value = math.nan
        return value

    def check(self, keys: Sequence[Hashable] = (), columns: Sequence[str] = ()) -> None:
        """Raise InputError if there is any problem, or if rows have the same key, which stands in these columns."""
        self.problems.check()

        def repeated(position: int, first: int) -> None:
            row = self.rows[position]
            what = " of ".join(f"{column} '{row.cells[column]}'" for column in columns)
            self.problems.add(row.line, duplicate(what, self.rows[first].line), "list each once")

        settle_duplicates(keys, "error", repeated)
        self.problems.check()

    def by_rank(self, column: str, rows: Iterable[TableRow] | None = None, maximum: float = math.inf) -> list[float]:
        """A column's numbers from 0 to `maximum` by ascending rank, whatever the order of the rows.

        Raises InputError unless each rank from 1 to the last has one row.
        """
        values: dict[int, tuple[int, float]] = {}
        for row in self.rows if rows is None else rows:
            rank, value = self.number(row, "rank", 1), self.number(row, column, 0, maximum)
            if rank % 1 > 0:
                self.problems.add(row.line, f"rank {rank:g} is not a whole number", "ranks are 1, 2, 3, …")
            elif rank in values:
                self.problems.add(row.line, duplicate(f"rank {rank:g}", values[int(rank)][0]), "list each once")
            elif rank == rank:
                values[int(rank)] = row.line, value
        self.problems.check()
        missing = next((rank for rank in range(1, len(values) + 1) if rank not in values), None)
        if missing is not None:
            what, hint = f"rank {missing} is missing", "list every rank from 1, in any order"
            raise InputError(self.place, what, hint, usage=self.problems.usage)
        return [values[rank][1] for rank in sorted(values)]


def _is_header(cells: list[str], first: str, words: bool) -> bool:
    named = cells[0].lower() == first.lower()
    return (named or not words) and all(math.isnan(decimal(encode(cell))) for cell in cells)


def _records(
    path: Any, pieces: Iterable[tuple[int, bytes]] | None, widths: set[int], usage: bool
) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of the lines that are not blank. Raises InputError where there is no text to read."""
    try:
        if pieces is not None:
            yield from _cells(iter(pieces), Source(path).place, widths)
            return
        with closing(Stream(Source(path))) as stream:
            yield from _cells(whole_lines(stream), stream.place, widths)
    except InputError as error:
        raise error.replace(usage=usage) from None


def _cells(pieces: Pieces, place: str, widths: set[int]) -> Iterator[tuple[int, list[str]]]:
    space, rows = encode(SPACE), list[bytes]()
    for number, text in pieces:
        if number == 1 and text.startswith(BYTE_ORDER_MARKS[1:]):
            raise InputError(f"{place}:1", "is UTF-16", "save the file as UTF-8", kind="format")
        text = text.removeprefix(BYTE_ORDER_MARKS[0]) if number == 1 else text
        rows = [line for line in text.split(b"\n") if line.strip(space) and not line.lstrip(space).startswith(b"#")]
        if rows:
            pieces = chain([(number, text)], pieces)
            break
    separator = _separator(rows[0], widths) if rows else None
    if separator is None:
        for number, text in pieces:
            for at, line in enumerate(text.split(b"\n"), number):
                if cells := [cell for cell in re.split(f"[{SPACE}]+", decode(line)) if cell]:
                    yield at, cells
        return

    def broken(at: int, error: Exception) -> None:
        raise InputError(f"{place}:{at}", f"not a valid CSV file ({error})", "close every quote", kind="format")

    for at, row in csv_rows(pieces, separator, broken):
        if any(cell.strip(SPACE) for cell in row):
            yield at, row


def _separator(line: bytes, widths: set[int]) -> str | None:
    """What separates the columns: tabs or commas if the first line has them, else spaces (None). Tabs may stand among
    spaces, but not at the end: there a cell is missing."""
    present = [separator for separator in (b"\t", b",") if separator in line]
    fitting = [separator for separator in present if len(line.split(separator)) in widths or not widths]
    if not fitting and len(line.split()) in widths and not line.rstrip(b" \r").endswith(b"\t"):
        return None
    return next((decode(separator) for separator in (*fitting, *present)), None)
