"""Results before they are text: tables of values with columns and marks, and their captions, legends and signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, Literal, NamedTuple
from unicodedata import category, east_asian_width

from gradedeval.errors import visible

Layout = Literal["wide", "trec", "long"]
Kind = Literal["text", "run", "figures", "count", "score", "signed", "share", "percent", "number"]

# Format specifications of floats in tables for people; D stands for the digits of the column.
_SPECIFICATIONS: dict[Kind, str] = {
    "text": ".Df",
    "run": ".Df",
    "figures": ".Df",
    "count": ".0f",
    "score": ".Df",
    "signed": "+z.Df",
    "share": ".1%",
    "percent": "+z.1%",
    "number": ".6g",
}


_HALF = "[\ud800-\udc7f\udd00-\udfff]"


def in_utf8(text: str) -> str:
    r"""Convert text to valid UTF-8, for HTML, XML, LaTeX and pictures: a byte outside UTF-8 becomes `\xe9`."""
    return as_bytes(text).decode("utf-8", "backslashreplace")


def as_bytes(text: str) -> bytes:
    r"""Encode text as it is written to files. A lone surrogate, which JSON can escape but UTF-8 cannot encode, becomes
    its escape, `\ud800`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub(_HALF, lambda half: repr(half[0])[1:-1], text).encode("utf-8", "surrogateescape")


class Mark(NamedTuple):
    """The emphasis of a text, usually a cell: bold for the best of its column (`place` 1), underlined for the second
    best (2), followed by raised `signs`."""

    place: int = 0
    signs: str = ""


NO_MARK = Mark()


class View(NamedTuple):
    """The output that people see.

    width        its columns
    terminal     whether it is a terminal
    wide         whether it has all columns of tables
    prose_width  the maximum width of paragraphs that programs may read; None: unlimited
    names_flags  whether words name options by flags of the command line, not by Python's keywords
    """

    width: int = 100
    terminal: bool = False
    wide: bool = False
    prose_width: int | None = None
    names_flags: bool = False


PAGE = View()
"""The view of pages and pipes: without a terminal, lines are the same everywhere."""

TOPIC, QUERY = "topic", "query"
"""The names of the columns of topics and of their texts."""

Marked = Sequence[tuple[str, Mark]]
"""A paragraph as pieces of text with marks."""


def _spaces(mark: Mark, marks: Sequence[Mark]) -> str:
    """Return the padding behind a number so that all numbers of its column end alike."""
    ends = [bool(column_mark.place) + len(_raised(column_mark.signs)) for column_mark in (mark, *marks)]
    return " " * (max(ends) - ends[0])


def _raised(signs: str) -> str:
    return f"^{signs}" if signs.isalnum() else signs


@dataclass(eq=False, repr=False)
class Markup:
    """The text and marks of a format; the defaults are for plain text.

    escape  text -> the text escaped for the format
    best    a format string for the best of a column; `second` for the second best
    raised  signs -> raised text
    padded  whether numbers are padded so that all of a column end alike
    """

    escape: Callable[[str], str] = str
    best: str = "*{}*"
    second: str = "_{}_"
    raised: Callable[[str], str] = _raised
    padded: bool = True

    def write(self, text: str, mark: Mark = NO_MARK) -> str:
        """Escape a text and add its mark."""
        around = {1: self.best, 2: self.second}.get(mark.place, "{}")
        return around.format(self.escape(text)) + (self.raised(mark.signs) if mark.signs else "")

    def paragraph(self, pieces: Marked) -> str:
        return "".join(self.write(*piece) for piece in pieces)

    def column(self, texts: Sequence[str], marks: Sequence[Mark], left: bool) -> list[str]:
        """Return the cells of a column; numbers, aligned at the right, are padded."""
        return [
            self.write(text, mark) + (_spaces(mark, marks) if self.padded and not left else "")
            for text, mark in zip(texts, marks, strict=True)
        ]


PLAIN_TEXT = Markup()


@dataclass(eq=False, repr=False)
class Column:
    """A column of a table for people; in tables for programs only the name counts.

    kind    alignment and number format: `text`, and `run` for names of runs, are aligned at the left, all others at the
            right; `figures` is text made of numbers, as in "0.1 to 0.3"; `signed` and `percent` always have a sign, of
            the rounded number; `share` is a percentage without one; `number` has up to six significant digits
    digits  default number of digits after the decimal point
    wide    whether only --wide shows it
    of_run  whether its name is a run's
    cut     whether its text may be cut if a plain table is too wide
    """

    name: str
    kind: Kind = "text"
    digits: int = 4
    wide: bool = False
    of_run: bool = False
    cut: bool = False

    @property
    def left(self) -> bool:
        """Whether it is aligned at the left."""
        return self.kind in ("text", "run")

    @property
    def names_runs(self) -> bool:
        """Whether its cells are names of runs."""
        return self.kind == "run" or (self.kind == "text" and self.name in ("run", "baseline"))

    def cells(self, values: Iterable[Any], digits: int | None = None) -> list[str]:
        """Format the values for people: None is blank, strings are one line, and whole numbers stay as they are."""
        form = _SPECIFICATIONS[self.kind].replace("D", str(self.digits if digits is None else digits))
        return [
            format(value, form) if isinstance(value, float) else "" if value is None else visible(str(value))
            for value in values
        ]


@dataclass(eq=False, repr=False)
class Table:
    """Columns and rows of values; None is blank.

    marks     (row, column) -> mark
    pipeline  whether a row stays a line of any width if the output is not a terminal
    together  the number of columns to keep together when a wide table is split, after the leftmost that identify rows
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)
    pipeline: bool = False
    together: int = 1

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def left(self) -> list[bool]:
        """Whether each column is aligned at the left."""
        return [column.left for column in self.columns]

    def cells(self, digits: int | None = None, markup: Markup = PLAIN_TEXT) -> list[list[str]]:
        """Return the header and the rows as text for people, with their marks."""
        by_column = zip(*self.rows, strict=True) if self.rows else repeat((), len(self.columns))
        columns = []
        for number, (column, values) in enumerate(zip(self.columns, by_column, strict=True)):
            texts = column.cells(values, digits)
            marks = [self.marks.get((row, number), NO_MARK) for row in range(len(texts))] if self.marks else []
            written = markup.column(texts, marks, column.left) if any(map(any, marks)) else map(markup.escape, texts)
            columns.append([markup.escape(visible(column.name)), *written])
        return list(map(list, zip(*columns, strict=True)))

    def records(self, digits: int | None = None) -> Iterable[Sequence[Any]]:
        """Return the rows for programs, with floats rounded if `digits` is given."""
        if digits is None:
            return self.rows
        return ([round(value, digits) if isinstance(value, float) else value for value in row] for row in self.rows)


@dataclass(eq=False, repr=False)
class Document:
    """The printed result of a command, in one layout.

    blocks          paragraphs and tables; in the layout for programs a single table
    signature       the settings that the numbers depend on: below the tables, and in JSON
    full            the full signature, if `signature` omits defaults; HTML shows it as a tooltip
    title           a line above everything
    head            further entries of a JSON document before its rows
    nested          the whole JSON document, if it is not made of rows
    row_signatures  the signature of each row for programs: the last column in formats without a place for `signature`
    caption         of the table, in a layout for people
    legend          the meaning of the marks: below the table, also in LaTeX
    messages        whether programs also read its paragraphs: lines are not broken unless the output is a terminal
    """

    blocks: Sequence[Table | str]
    signature: str = ""
    full: str = ""
    title: str = ""
    head: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, Any] | None = None
    row_signatures: Sequence[str | None] = ()
    caption: str = ""
    legend: Marked = ()
    messages: bool = False

    @property
    def table(self) -> Table:
        """The only table."""
        (table,) = (block for block in self.blocks if isinstance(block, Table))
        return table

    @property
    def signed_table(self) -> Table:
        """The only table, with the signatures of rows as the last column."""
        if not self.row_signatures:
            return self.table
        rows = [[*row, signed] for row, signed in zip(self.table.rows, self.row_signatures, strict=True)]
        return Table([*self.table.columns, Column("signature")], rows)


def with_queries(document: Document, texts: Mapping[str, str]) -> Document:
    """Insert a column `query` behind each column `topic`: the text of the topic, blank if there is none."""
    if not texts:
        return document
    blocks = [_with_queries(block, texts) if isinstance(block, Table) else block for block in document.blocks]
    return replace(document, blocks=blocks)


def _with_queries(table: Table, texts: Mapping[str, str]) -> Table:
    if TOPIC not in table.names or QUERY in table.names:
        return table
    position = table.names.index(TOPIC)
    columns = [*table.columns[: position + 1], Column(QUERY, cut=True), *table.columns[position + 1 :]]
    rows = [[*row[: position + 1], texts.get(row[position]), *row[position + 1 :]] for row in table.rows]
    marks = {(row, column + (column > position)): mark for (row, column), mark in table.marks.items()}
    return replace(table, columns=columns, rows=rows, marks=marks)


# Lines of a terminal.

GAP = "  "
"""The space between the columns of a plain table."""


def aligned(table: Table, lines: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    """Write cells as lines, with columns of the given widths."""
    kinds = zip(table.columns, widths, strict=True)
    form = GAP.join([f"{{:{'<' if column.left else '>'}{width}}}" for column, width in kinds])
    text_lines = list[str]()
    for cells in lines:
        if all(map(str.isascii, cells)):
            text_lines.append(form.format(*cells).rstrip())
            continue
        padding = [" " * (width - across(cell)) for cell, width in zip(cells, widths, strict=True)]
        pairs = zip(cells, padding, table.left, strict=True)
        text_lines.append(
            GAP.join([cell + space if is_left else space + cell for cell, space, is_left in pairs]).rstrip()
        )
    return "\n".join(text_lines)


def across(text: str) -> int:
    """Return the width of a text in columns of a terminal: two for an East Asian character, none for a combining or
    invisible one."""
    if text.isascii():
        return len(text)
    return sum(_column(character) for character in text)


def _column(character: str) -> int:
    if character < "\u0300":
        return 1
    return 0 if category(character) in ("Mn", "Me", "Cf") else 2 if east_asian_width(character) in "WF" else 1


def cut(line: str, width: int) -> str:
    """Cut a line to a width: at the end of a clause if most of the line remains, else of a word, else within a word."""
    if across(line) <= width:
        return line
    room = beginning(line, width - 1)
    clauses = [room[: end.start()] for end in re.finditer(r"[:;,] | \(", room)]
    complete = [
        clause for clause in clauses if 3 * across(clause) > 2 * width and clause.count("(") == clause.count(")")
    ]
    words = room.rpartition(" ")[0].rstrip()
    if complete or 3 * across(words) >= width:
        return f"{complete[-1] if complete else words} …"
    return f"{room.rstrip()}…"


def beginning(text: str, width: int) -> str:
    """Return as many characters as fit."""
    end = columns = 0
    while end < len(text) and (columns := columns + _column(text[end])) <= width:
        end += 1
    return text[:end]
