"""Tables -> text: one `Document` of tables a result, one row of `FORMATS` an output format.

A result has two layouts: `wide` tables for people, rounded, and one `long` table for programs, in full precision; of
scores also that of trec_eval. Libraries are imported by the formats that need them: the plain table waits for none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from gradedeval.errors import InputError, did_you_mean, visible

Layout = Literal["wide", "trec", "long"]
Kind = Literal["text", "figures", "count", "score", "signed", "share", "percent", "number"]

# How a table for people writes a float, as a format specification in which D is the digits of the column.
_SPECIFICATIONS: dict[Kind, str] = {
    "text": ".Df",
    "figures": ".Df",
    "count": ".0f",
    "score": ".Df",
    "signed": "+.Df",
    "share": ".1%",
    "percent": "+.1%",
    "number": ".6g",
}


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A column of a table for people; of a table for programs the name alone counts.

    kind    decides alignment and how numbers are written: `text` stands at the left, all others at the right; `figures`
            is text made of numbers, as in "0.1 to 0.3"; `signed` and `percent` always have their sign, `share` is a
            percentage without; `number` has up to six significant digits
    digits  after the decimal point of a `score` or `signed` number, where the user asks for no others
    """

    name: str
    kind: Kind = "text"
    digits: int = 4

    def cells(self, values: Iterable[Any], digits: int | None = None) -> list[str]:
        """The values as text for people: blank where None; strings in one line, and whole numbers as they are."""
        form = _SPECIFICATIONS[self.kind].replace("D", str(self.digits if digits is None else digits))
        return [
            format(value, form) if isinstance(value, float) else "" if value is None else visible(str(value))
            for value in values
        ]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns and rows of values, None where blank."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def left(self) -> list[bool]:
        """Whether each column begins at the left."""
        return [column.kind == "text" for column in self.columns]

    def cells(self, digits: int | None = None) -> list[list[str]]:
        """The rows as text for people."""
        by_column = zip(*self.rows, strict=True)
        columns = (
            column.cells(values, digits) for column, values in zip(self.columns, by_column, strict=bool(self.rows))
        )
        return [list(row) for row in zip(*columns, strict=True)]

    def records(self, digits: int | None = None) -> list[Sequence[Any]]:
        """The rows for programs: floats rounded where digits are asked for."""
        if digits is None:
            return list(self.rows)
        return [[round(value, digits) if isinstance(value, float) else value for value in row] for row in self.rows]


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """What a command prints, in one layout.

    blocks          paragraphs and tables; in the layout for programs one table alone
    signature       what the numbers depend on: below the tables, and in JSON
    title           above all
    head            what else a JSON document says before its rows
    nested          the JSON document, where it is not made of rows
    row_signatures  what each row for programs depends on: the last column where a format has no place for `signature`
    """

    blocks: Sequence[Table | str]
    signature: str = ""
    title: str = ""
    head: Mapping[str, Any] = field(default_factory=dict)
    nested: Mapping[str, Any] | None = None
    row_signatures: Sequence[str | None] = ()

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
        rows = [[*row, signed] for row, signed in zip(self.table.rows, self.row_signatures, strict=True)]
        return Table([*self.table.columns, Column("signature")], rows)


Maker = Callable[[Layout], Document]
"""Makes the document of a result in the layout that a format needs, so that no other is made."""


def as_text(document: Document, digits: int | None) -> str:
    """Plain tables.

    As tabulate's, which takes a tenth of the time of a small evaluation to import.
    """
    blocks = [_aligned(block, digits) if isinstance(block, Table) else block for block in document.blocks]
    return "\n\n".join(part for part in (document.title, *blocks, document.signature) if part) + "\n"


def as_markdown(document: Document, digits: int | None) -> str:
    """GitHub's tables. A paragraph of several lines keeps them."""
    blocks = [
        _tabulated(block, digits, "github", lambda cell: _plain_markdown(cell).replace("|", "\\|"))
        if isinstance(block, Table)
        else (f"```\n{block}\n```" if "\n" in block else _plain_markdown(block))
        for block in document.blocks
    ]
    title = document.title and f"**{_plain_markdown(document.title)}**"
    return "\n\n".join(part for part in (title, *blocks, _plain_markdown(document.signature)) if part) + "\n"


# An underscore within a word is one.
_MARKUP = re.compile(r"[\\`*~$\[\]]|(?<![^\W_])_|_(?![^\W_])")


def _plain_markdown(text: str) -> str:
    """Text that markdown shows as it is."""
    from html import escape

    return _MARKUP.sub(r"\\\g<0>", escape(text, quote=False))


def as_latex(document: Document, digits: int | None) -> str:
    """booktabs tables; everything else is a comment."""
    blocks = [
        _latex_table(block, digits) if isinstance(block, Table) else "% " + block.replace("\n", "\n% ")
        for block in (document.title, *document.blocks, document.signature)
        if block
    ]
    return "\n".join(blocks) + "\n"


# What tabulate leaves alone: without T1 fonts a bar is a dash, and with babel a quotation mark may be a command.
_UNSAFE = str.maketrans({"|": "\ue000", '"': "\ue001"})


def _latex_table(table: Table, digits: int | None) -> str:
    text = _tabulated(table, digits, "latex_booktabs", lambda cell: cell.translate(_UNSAFE))
    return text.replace("\ue000", r"\textbar{}").replace("\ue001", "''")


def as_html(document: Document, digits: int | None) -> str:
    """Tables and paragraphs, to be put on a page."""
    from html import escape

    blocks = [f"<p><strong>{escape(document.title)}</strong></p>"] if document.title else []
    blocks += [
        _tabulated(block, digits, "html") if isinstance(block, Table) else f"<p>{escape(block)}</p>"
        for block in (*document.blocks, document.signature)
        if block
    ]
    return "\n".join(blocks) + "\n"


def as_trec(document: Document, digits: int | None) -> str:
    """The rows in trec_eval's three columns: measure, topic, value."""
    table = document.table
    return "".join(trec_line(*cells) for cells in table.cells(digits))


def trec_line(name: str, topic: str, value: str) -> str:
    """A line as trec_eval prints it."""
    return f"{name:<22}\t{topic}\t{value}\n"


def as_csv(document: Document, digits: int | None, delimiter: str = ",") -> str:
    """A header and the rows; blank is empty."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")  # which writes None as nothing
    table = document.signed_table
    writer.writerow(table.names)
    writer.writerows(table.records(digits))
    return out.getvalue()


def as_json(document: Document, digits: int | None) -> str:
    """One document: the signature, what else is said of all rows, and `rows`, one a line."""
    import json

    if document.nested is not None:
        return json.dumps(_for_json(document.nested, digits), ensure_ascii=False, indent=1) + "\n"
    head = {"signature": document.signature, **document.head}
    entries = "".join(
        f"{json.dumps(name)}: {json.dumps(_for_json(value, digits), ensure_ascii=False)},\n "
        for name, value in head.items()
    )
    rows = ",\n  ".join(_json_rows(document.table, digits))
    return f'{{{entries}"rows": [\n  {rows}]}}\n'


def as_jsonl(document: Document, digits: int | None) -> str:
    """Each row as a line of JSON."""
    return "".join(f"{row}\n" for row in _json_rows(document.signed_table, digits))


def _json_rows(table: Table, digits: int | None) -> list[str]:
    import json

    rows = (_for_json(dict(zip(table.names, row, strict=True)), digits) for row in table.rows)
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def _for_json(value: Any, digits: int | None) -> Any:
    """The value with its floats rounded where digits are asked for, and null for infinity, which JSON lacks."""
    if isinstance(value, float):
        return None if math.isinf(value) else value if digits is None else round(value, digits)
    if isinstance(value, Mapping):
        return {key: _for_json(inner, digits) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(inner, digits) for inner in value]
    return value


@dataclass(frozen=True, eq=False, repr=False)
class Format:
    """An output format.

    write      Document, digits -> text. Digits None: each column's own in tables, full precision for programs
    extension  of the files that -o writes in this format
    layout     the layout of results that it writes
    signed     whether it has a place for the signature
    """

    write: Callable[[Document, int | None], str]
    extension: str
    layout: Layout
    signed: bool = True


FORMATS: dict[str, Format] = {
    "table": Format(as_text, ".txt", "wide"),
    "trec": Format(as_trec, ".trec", "trec", signed=False),
    "csv": Format(as_csv, ".csv", "long", signed=False),
    "tsv": Format(partial(as_csv, delimiter="\t"), ".tsv", "long", signed=False),
    "json": Format(as_json, ".json", "long"),
    "jsonl": Format(as_jsonl, ".jsonl", "long", signed=False),
    "markdown": Format(as_markdown, ".md", "wide"),
    "latex": Format(as_latex, ".tex", "wide"),
    "html": Format(as_html, ".html", "wide"),
}

EXTENSIONS = {row.extension: name for name, row in FORMATS.items()} | {"": "table"}


def formats_for(*layouts: Layout) -> tuple[str, ...]:
    """The names of the formats that write one of the layouts; every result has `wide` and `long`."""
    return tuple(name for name, row in FORMATS.items() if row.layout in (layouts or ("wide", "long")))


def render(make: Maker, form: str, digits: int | None = None, signed: bool = True) -> str:
    """A result as text.

    make    makes the document in the layout that the format needs
    digits  rounds; without it tables have those of their columns, and programs full precision
    signed  whether tables for people have the signature; what programs read always has it

    Raises InputError (usage) for an unknown format.
    """
    if form not in FORMATS:
        hint = did_you_mean(form, FORMATS) or f"choose from {', '.join(FORMATS)}"
        raise InputError("--format", f"unknown format '{form}'", hint, usage=True)
    document = make(FORMATS[form].layout)
    unsigned = FORMATS[form].layout == "wide" and not signed
    return FORMATS[form].write(replace(document, signature="") if unsigned else document, digits)


def _aligned(table: Table, digits: int | None) -> str:
    """A plain table: columns two spaces apart, a rule below the header."""
    header, body = list(map(visible, table.names)), table.cells(digits)
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    line = "  ".join(f"{{:{'<' if left else '>'}{width}}}" for left, width in zip(table.left, widths, strict=True))
    rows = [header, ["-" * width for width in widths], *body]
    return "\n".join(line.format(*row).rstrip() for row in rows)


def _tabulated(table: Table, digits: int | None, style: str, escape: Callable[[str], str] = str) -> str:
    """A table in one of tabulate's styles."""
    from tabulate import tabulate

    header, *body = [[escape(cell) for cell in row] for row in (map(visible, table.names), *table.cells(digits))]
    align = ["left" if left else "right" for left in table.left]
    return tabulate(body, headers=header, tablefmt=style, disable_numparse=True, colalign=align if body else None)
