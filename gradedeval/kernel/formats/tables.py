"""What a result is before it is text: tables of values with their columns, marks of cells, and what stands around."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple
from unicodedata import category, east_asian_width

from gradedeval.errors import visible

Layout = Literal["wide", "trec", "long"]
Kind = Literal["text", "run", "figures", "count", "score", "signed", "share", "percent", "number"]

# How a table for people writes a float, as a format specification in which D is the digits of the column.
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
    r"""Text for people in a form that is UTF-8, as HTML, XML, LaTeX and pictures are: a byte of a name that is not
    stands as its number, `\xe9`."""
    return as_bytes(text).decode("utf-8", "backslashreplace")


def as_bytes(text: str) -> bytes:
    r"""Text as it is written. Half of a character, which JSON can escape and nothing can write, stays its escape,
    `\ud800`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub(_HALF, lambda half: repr(half[0])[1:-1], text).encode("utf-8", "surrogateescape")


class Mark(NamedTuple):
    """How a text stands out, a cell of a table as a rule: bold where it is the best of its column (`place` 1),
    underlined where it is the second best (2), with raised `signs` behind it."""

    place: int = 0
    signs: str = ""


NO_MARK = Mark()


class View(NamedTuple):
    """How people see tables: in lines of that many columns, on a `terminal` or not, with all columns or without those
    that few need; and how wide a `line` of words may be that programs read where there is no terminal.

    flags  whether words name options by the flags of the command line, in place of Python's keywords
    """

    width: int = 100
    terminal: bool = False
    wide: bool = False
    line: int | None = None
    flags: bool = False


PAGE = View()
"""Where there is no terminal: pages and pipes have the same lines everywhere."""

TOPIC, QUERY = "topic", "query"
"""The columns of topics and of their texts."""

Marked = Sequence[tuple[str, Mark]]
"""A paragraph, piece by piece."""


def _spaces(mark: Mark, marks: Sequence[Mark]) -> str:
    """What plain text lacks behind a number so that all of a column end alike."""
    ends = [bool(one.place) + len(_raised(one.signs)) for one in (mark, *marks)]
    return " " * (max(ends) - ends[0])


def _raised(signs: str) -> str:
    return f"^{signs}" if signs.isalnum() else signs


@dataclass(eq=False, repr=False)
class Markup:
    """How a format writes text and marks: as plain text where it does not say otherwise.

    escape  text -> the same in the language of the format
    best    a format string around the best of a column, `second` around the second best
    raised  signs -> what stands behind a text
    filled  mark of a number, marks of its column -> what stands behind it so that all of the column end alike
    """

    escape: Callable[[str], str] = str
    best: str = "*{}*"
    second: str = "_{}_"
    raised: Callable[[str], str] = _raised
    filled: Callable[[Mark, Sequence[Mark]], str] = _spaces

    def write(self, text: str, mark: Mark = NO_MARK) -> str:
        """A text and its mark."""
        around = {1: self.best, 2: self.second}.get(mark.place, "{}")
        return around.format(self.escape(text)) + (self.raised(mark.signs) if mark.signs else "")

    def paragraph(self, pieces: Marked) -> str:
        return "".join(self.write(*piece) for piece in pieces)

    def column(self, texts: Sequence[str], marks: Sequence[Mark], left: bool) -> list[str]:
        """The cells of a column; those of numbers, which do not begin at the left, are filled up."""
        return [
            self.write(text, mark) + ("" if left else self.filled(mark, marks))
            for text, mark in zip(texts, marks, strict=True)
        ]


PLAIN_TEXT = Markup()


@dataclass(eq=False, repr=False)
class Column:
    """A column of a table for people; of a table for programs the name alone counts.

    kind    decides alignment and how numbers are written: `text` stands at the left, and `run`, names of runs; all
            others at the right; `figures` is text made of numbers, as in "0.1 to 0.3"; `signed` and `percent` always
            have a sign, that of the rounded number, `share` is a percentage without; `number` has up to six significant
            digits
    digits  after the decimal point of a `score` or `signed` number, where the user asks for no others
    wide    whether few need it, so that only --wide shows it
    of_run  whether its name is that of a run
    cut     whether its text may be cut where a plain table would be too wide
    """

    name: str
    kind: Kind = "text"
    digits: int = 4
    wide: bool = False
    of_run: bool = False
    cut: bool = False

    @property
    def left(self) -> bool:
        """Whether it begins at the left."""
        return self.kind in ("text", "run")

    @property
    def names_runs(self) -> bool:
        """Whether its cells are names of runs."""
        return self.kind == "run" or (self.kind == "text" and self.name in ("run", "baseline"))

    def cells(self, values: Iterable[Any], digits: int | None = None) -> list[str]:
        """The values as text for people: blank where None; strings in one line, and whole numbers as they are."""
        form = _SPECIFICATIONS[self.kind].replace("D", str(self.digits if digits is None else digits))
        return [
            format(value, form) if isinstance(value, float) else "" if value is None else visible(str(value))
            for value in values
        ]


@dataclass(eq=False, repr=False)
class Table:
    """Columns and rows of values, None where blank.

    marks     those of cells, by row and column
    pipeline  whether a row stays a line, however wide, where there is no terminal
    together  how many columns belong together, behind those at the left that say what a row is of
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
        """Whether each column begins at the left."""
        return [column.left for column in self.columns]

    def header(self, markup: Markup = PLAIN_TEXT) -> list[str]:
        """The names of the columns as text for people."""
        return [markup.escape(visible(column.name)) for column in self.columns]

    def cells(self, digits: int | None = None, markup: Markup = PLAIN_TEXT) -> list[list[str]]:
        """The rows as text for people, with their marks."""
        by_column = zip(*self.rows, strict=True)
        columns = []
        for number, (column, values) in enumerate(zip(self.columns, by_column, strict=bool(self.rows))):
            texts = column.cells(values, digits)
            marks = [self.marks.get((row, number), NO_MARK) for row in range(len(texts))] if self.marks else []
            columns.append(
                markup.column(texts, marks, column.left) if any(map(any, marks)) else [*map(markup.escape, texts)]
            )
        return list(map(list, zip(*columns, strict=True)))

    def records(self, digits: int | None = None) -> Iterable[Sequence[Any]]:
        """The rows for programs: floats rounded where digits are asked for."""
        if digits is None:
            return self.rows
        return ([round(value, digits) if isinstance(value, float) else value for value in row] for row in self.rows)


class SignedRows(Sequence[Any]):
    """Rows, each with its signature as the last value; none of them is copied before it is asked for."""

    def __init__(self, rows: Sequence[Sequence[Any]], signatures: Sequence[str | None]) -> None:
        self.rows, self.signatures = rows, signatures

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[list[Any]]:
        return ([*row, signed] for row, signed in zip(self.rows, self.signatures, strict=True))

    def __getitem__(self, wanted: Any) -> Any:
        if not isinstance(wanted, slice):
            return [*self.rows[wanted], self.signatures[wanted]]
        return list(SignedRows(self.rows[wanted], self.signatures[wanted]))


@dataclass(eq=False, repr=False)
class Document:
    """What a command prints, in one layout.

    blocks          paragraphs and tables; in the layout for programs one table alone
    signature       what the numbers depend on: below the tables, and in JSON
    full            the full signature, where `signature` leaves out what are defaults: HTML has it at hand
    title           above all
    head            what else a JSON document says before its rows
    nested          the JSON document, where it is not made of rows
    row_signatures  what each row for programs depends on: the last column where a format has no place for `signature`
    caption         of the table, in a layout for people
    runs            all runs that it is of, where its tables do not name them all
    messages        whether programs read its paragraphs, too: where there is no terminal a line stays one, however long
    legend          what the marks mean: below the table, in LaTeX too
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
    runs: Sequence[str] = ()
    messages: bool = False

    @property
    def table(self) -> Table:
        """The only table."""
        (table,) = (block for block in self.blocks if isinstance(block, Table))
        return table

    @property
    def signed_table(self) -> Table:
        """The only table, with what its rows depend on as the last column."""
        if not self.row_signatures:
            return self.table
        return Table([*self.table.columns, Column("signature")], SignedRows(self.table.rows, self.row_signatures))


def with_queries(document: Document, texts: Mapping[str, str]) -> Document:
    """The document with a column `query` behind each column `topic`: the texts of topics, blank where there is none."""
    if not texts:
        return document
    blocks = [_with_queries(one, texts) if isinstance(one, Table) else one for one in document.blocks]
    return replace(document, blocks=blocks)


def _with_queries(table: Table, texts: Mapping[str, str]) -> Table:
    if TOPIC not in table.names or QUERY in table.names:
        return table
    at = table.names.index(TOPIC)
    columns = [*table.columns[: at + 1], Column(QUERY, cut=True), *table.columns[at + 1 :]]
    rows = [[*row[: at + 1], texts.get(row[at]), *row[at + 1 :]] for row in table.rows]
    marks = {(row, column + (column > at)): mark for (row, column), mark in table.marks.items()}
    return replace(table, columns=columns, rows=rows, marks=marks)


# Lines of a terminal.

GAP = "  "
"""What stands between the columns of a plain table."""


def aligned(table: Table, lines: Iterable[Sequence[str]], widths: Sequence[int]) -> str:
    """Cells as lines, those of each column as wide as it is."""
    kinds = zip(table.columns, widths, strict=True)
    form = GAP.join([f"{{:{'<' if column.left else '>'}{width}}}" for column, width in kinds])
    done = list[str]()
    for cells in lines:
        if all(map(str.isascii, cells)):
            done.append(form.format(*cells).rstrip())
            continue
        filled = [" " * (width - across(one)) for one, width in zip(cells, widths, strict=True)]
        pairs = zip(cells, filled, table.left, strict=True)
        done.append(GAP.join([one + more if at else more + one for one, more, at in pairs]).rstrip())
    return "\n".join(done)


def across(text: str) -> int:
    """The columns of a terminal that a text takes: two for a character of East Asia, none for one that is invisible or
    stands above another."""
    if text.isascii():
        return len(text)
    return sum(_column(one) for one in text)


def _column(one: str) -> int:
    if one < "\u0300":
        return 1
    return 0 if category(one) in ("Mn", "Me", "Cf") else 2 if east_asian_width(one) in "WF" else 1


def cut(line: str, width: int) -> str:
    """The line, or as much of it as there is room for: whole clauses if that is most of it, else whole words, and less
    than a word where these are little."""
    if across(line) <= width:
        return line
    room = _beginning(line, width - 1)
    clauses = [room[: end.start()] for end in re.finditer(r"[:;,] | \(", room)]
    whole = [clause for clause in clauses if 3 * across(clause) > 2 * width and clause.count("(") == clause.count(")")]
    words = room.rpartition(" ")[0].rstrip()
    if whole or 3 * across(words) >= width:
        return f"{whole[-1] if whole else words} …"
    return f"{room.rstrip()}…"


def _beginning(text: str, width: int) -> str:
    """As many characters as there are columns for."""
    end = taken = 0
    while end < len(text) and (taken := taken + _column(text[end])) <= width:
        end += 1
    return text[:end]
