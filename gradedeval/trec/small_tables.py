"""Small tables that a user gives in a file: weights, gains, costs, probabilities, saved scores.

All of them are read alike: compressed or not; with tabs, commas or spaces between columns; with or without a byte order
mark, a header, blank lines, and comments (lines that begin with `#`); rows with ranks in any order.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.trec.duplicates import duplicate, settle_duplicates
from gradedeval.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode
from gradedeval.trec.source import Source

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


def small_table(
    path: str | os.PathLike[str],
    *columns: tuple[str, ...],
    hint: str,
    words: bool = False,
    usage: bool = False,
    data: bytes | None = None,
) -> SmallTable:
    """The rows of a file that may have a header.

    columns  the names of a row's columns; several where rows may have different numbers of columns
    hint     what the file should hold, for messages
    words    whether the first column holds words: then a header is known by that column's name; otherwise by having no
             number
    usage    whether problems are those of the command line (exit code 2), as for the file of a measure's parameter
    data     the bytes of the file, if they have been read already

    Raises InputError where the file cannot be read, or is empty. Rows with a wrong number of columns are `problems`.
    """
    source = Source(path)
    table = SmallTable(source.place, usage)
    widths = {len(shape): shape for shape in columns}
    may_be_header, unnamed_header = True, 0
    for line, record in _records(source, set(widths), usage, data):
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
            table.rows.append(TableRow(line, dict(zip(shape, cells, strict=True))))
    if not table.rows and not table.problems.count:
        if unnamed_header:
            raise InputError(
                f"{table.place}:{unnamed_header}", "no number in this line", hint, kind="number", usage=usage
            )
        raise InputError(table.place, "is empty", hint, kind="empty", usage=usage)
    return table


def headed_table(path: Any, columns: Sequence[str], hint: str, data: bytes | None = None) -> SmallTable:
    """The rows of a file whose header names these columns, in any order, and perhaps others; cells as they are.

    data  the content, where it has been read

    Raises InputError where the file cannot be read, or a column is missing.
    """
    source = Source(path)
    table = SmallTable(source.place)
    header: list[str] = []
    for line, cells in _records(source, set(), False, data):
        # A row may begin with # as well: the name of a run does, sometimes.
        if cells[0].startswith("#") and len(cells) != len(header):
            continue
        if not header:
            header = cells
            if missing := [name for name in columns if name not in header]:
                raise InputError(f"{source.place}:{line}", f"no column '{missing[0]}'", hint)
        elif len(cells) != len(header):
            what = f"{len(cells)} {plural(len(cells), 'field')}, expected {len(header)}"
            table.problems.add(line, what, hint, kind="fields")
        else:
            table.rows.append(TableRow(line, dict(zip(header, cells, strict=True))))
    if not header:
        raise InputError(source.place, "is empty", hint, kind="empty")
    return table


def _is_header(cells: list[str], first: str, words: bool) -> bool:
    named = cells[0].lower() == first.lower()
    return (named or not words) and all(math.isnan(decimal(encode(cell))) for cell in cells)


def _records(source: Source, widths: set[int], usage: bool, data: bytes | None) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of the lines that are not blank. Raises InputError where there is no text to read."""
    try:
        content = source.read() if data is None else data
    except InputError as error:
        raise error.replace(usage=usage) from None
    if content.startswith(BYTE_ORDER_MARKS[1:]):
        raise InputError(f"{source.place}:1", "is UTF-16", "save the file as UTF-8", kind="format", usage=usage)
    content = content.removeprefix(BYTE_ORDER_MARKS[0]).replace(b"\r\n", b"\n")
    space = encode(SPACE)
    rows = (line for line in content.split(b"\n") if line.strip(space) and not line.lstrip(space).startswith(b"#"))
    separator = _separator(next(rows, b""), widths)
    if separator is None:
        for number, line in enumerate(content.split(b"\n"), 1):
            if cells := [cell for cell in re.split(f"[{SPACE}]+", decode(line)) if cell]:
                yield number, cells
        return
    import csv  # few evaluations need a table
    import io

    reader = csv.reader(io.StringIO(decode(content), newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip(SPACE) for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        what, hint = f"not a valid CSV file ({error})", "close every quote"
        raise InputError(f"{source.place}:{reader.line_num}", what, hint, kind="format", usage=usage) from None


def _separator(line: bytes, widths: set[int]) -> str | None:
    """What separates the columns: tabs or commas if the first line has them, else spaces (None). Tabs may stand among
    spaces, but not at the end: there a cell is missing."""
    present = [separator for separator in (b"\t", b",") if separator in line]
    fitting = [separator for separator in present if len(line.split(separator)) in widths or not widths]
    if not fitting and len(line.split()) in widths and not line.rstrip(b" \r").endswith(b"\t"):
        return None
    return next((decode(separator) for separator in (*fitting, *present)), None)
