"""Tables -> text: a `Document` of tables for each result, an entry of `FORMATS` for each output format.

A result has two layouts: `wide` tables for people, rounded, and a `long` table for programs, in full precision; scores
also have trec_eval's. Each format imports its own libraries: the plain table waits for none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

from gradedeval.errors import InputError, did_you_mean, flag, visible, with_flags, with_keywords
from gradedeval.kernel.formats.tables import GAP, PLAIN_TEXT, across, aligned
from gradedeval.kernel.formats.tables import PAGE as PAGE
from gradedeval.kernel.formats.tables import QUERY as QUERY
from gradedeval.kernel.formats.tables import Column as Column
from gradedeval.kernel.formats.tables import Document as Document
from gradedeval.kernel.formats.tables import Kind as Kind
from gradedeval.kernel.formats.tables import Layout as Layout
from gradedeval.kernel.formats.tables import Mark as Mark
from gradedeval.kernel.formats.tables import Marked as Marked
from gradedeval.kernel.formats.tables import Table as Table
from gradedeval.kernel.formats.tables import View as View
from gradedeval.kernel.formats.tables import cut as cut
from gradedeval.kernel.formats.tables import in_utf8 as in_utf8

FORM = 1
"""The version of the JSON documents in which scores are saved."""
Maker = Callable[[Layout], Document]
"""Layout -> document of a result; only the layout of the requested format is made."""


def as_text(document: Document, digits: int | None, view: View = PAGE) -> str:
    """Write plain tables and paragraphs in lines that fit: tables as tabulate's, whose import would take a tenth of the
    time of a small evaluation."""
    legend = PLAIN_TEXT.paragraph(document.legend) if document.legend else ""
    line = view.prose_width if document.messages else view.width
    parts: list[tuple[Table | str, int | None]] = [
        *zip((document.title, visible(document.caption)), repeat(view.width)),
        *zip(document.blocks, repeat(line)),
        *zip((legend, document.signature), repeat(view.width)),
    ]
    texts = list[str]()
    for part, width in parts:
        if isinstance(part, Table):
            header, *body = part.cells(digits)
            widths = [max(map(across, column)) for column in zip(header, *body, strict=True)]
            rule = ["-" * column for column in widths]
            if across(GAP.join(rule)) > view.width:
                from gradedeval.kernel.formats.fitting import fitted  # most tables fit

                texts.append(fitted(part, digits, view))
            else:
                texts.append(aligned(part, [header, rule, *body], widths))
        elif width is not None and max(map(across, part.split("\n"))) > width:
            from gradedeval.kernel.formats.fitting import wrapped

            texts.append(wrapped(part, width))
        elif part:
            texts.append(part)
    return "\n\n".join(texts) + "\n"


def as_markup(document: Document, digits: int | None, form: str) -> str:
    """Write Markdown, LaTeX or HTML; imported late, as few evaluations need it."""
    from gradedeval.kernel.formats import markup

    return markup.WRITERS[form](document, digits)


def as_trec(document: Document, digits: int | None) -> str:
    """Write the rows in trec_eval's three columns: measure, topic, value."""
    table = document.table
    return "".join(trec_line(*cells) for cells in table.cells(digits)[1:])


def trec_line(name: str, topic: str, value: str) -> str:
    """Write a line as trec_eval prints it."""
    return f"{name:<22}\t{topic}\t{value}\n"


def as_csv(document: Document, digits: int | None, delimiter: str = ",") -> str:
    """Write a header and the rows; None is an empty field."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")  # writes None as an empty field
    table = document.signed_table
    writer.writerow(table.names)
    writer.writerows(table.records(digits))
    return out.getvalue()


def as_json(document: Document, digits: int | None) -> str:
    """Write a JSON document: its form's version, the signature, further entries, and `rows`, one a line."""
    if document.nested is not None:
        return json_text(_for_json(document.nested, digits), indent=1) + "\n"
    head = {"form": FORM, "signature": document.signature, **document.head}
    entries = "".join(f"{json_text(name)}: {json_text(_for_json(value, digits))},\n " for name, value in head.items())
    rows = ",\n  ".join(_json_rows(document.table, digits))
    return f'{{{entries}"rows": [\n  {rows}]}}\n'


def as_jsonl(document: Document, digits: int | None) -> str:
    """Write each row as a line of JSON."""
    return "".join(f"{row}\n" for row in _json_rows(document.signed_table, digits))


def _json_rows(table: Table, digits: int | None) -> list[str]:
    rows = (_for_json(dict(zip(table.names, row, strict=True)), digits) for row in table.rows)
    return [json_text(row) for row in rows]


def json_text(value: Any, **settings: Any) -> str:
    r"""Convert a value to JSON, which is UTF-8 by definition (RFC 8259). A byte of a name outside UTF-8 becomes the
    escape `\udcXX`, which Python reads as that byte again (`surrogateescape`)."""
    import json  # not before it is needed

    return json.dumps(value, ensure_ascii=False, **settings).encode("utf-8", "backslashreplace").decode("utf-8")


def _for_json(value: Any, digits: int | None) -> Any:
    """Round floats if digits are given, and replace infinity, which JSON lacks, by None."""
    if isinstance(value, float):
        return None if math.isinf(value) else value if digits is None else round(value, digits)
    if isinstance(value, Mapping):
        return {key: _for_json(inner, digits) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(inner, digits) for inner in value]
    return value


@dataclass(eq=False, repr=False)
class Format:
    """An output format.

    write      Document, digits -> text. Digits None: each column's own in tables, full precision for programs
    extension  the extension of files in this format
    layout     the layout of results in this format
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
    "markdown": Format(partial(as_markup, form="markdown"), ".md", "wide"),
    "latex": Format(partial(as_markup, form="latex"), ".tex", "wide"),
    "html": Format(partial(as_markup, form="html"), ".html", "wide"),
}

EXTENSIONS = {row.extension: name for name, row in FORMATS.items()} | {"": "table"}


def formats_for(*layouts: Layout) -> tuple[str, ...]:
    """Return the names of the formats of some layouts, by default of `wide` and `long`, which every result has."""
    return tuple(name for name, row in FORMATS.items() if row.layout in (layouts or ("wide", "long")))


SCORE_FORMATS, TABLE_FORMATS = formats_for("wide", "trec", "long"), formats_for()


def render(
    make: Maker, form: str, digits: int | None = None, sign: Callable[[str], str] = str, view: View = PAGE
) -> str:
    """Write a result as text.

    make    makes the document in the layout of the format
    digits  decimal digits; None: each column's own in tables, full precision for programs
    sign    the signature -> its visible form in tables for people; programs get all of it
    view    the width and kind of the output

    Raises InputError (usage) for an unknown format.
    """
    if form not in FORMATS:
        hint = did_you_mean(form, FORMATS) or f"choose from {', '.join(FORMATS)}"
        raise InputError(flag.format, f"unknown format '{form}'", hint, usage=True)
    document = make(FORMATS[form].layout)
    named = with_flags if view.names_flags else with_keywords
    blocks = [named(block) if isinstance(block, str) else block for block in document.blocks]
    document = replace(document, blocks=blocks)
    if FORMATS[form].layout != "wide":
        return FORMATS[form].write(document, digits)
    if (visible_signature := sign(document.signature)) != document.signature:
        document = replace(document, signature=visible_signature, full=document.signature if visible_signature else "")
    if any(column.wide for block in blocks if isinstance(block, Table) for column in block.columns):
        from gradedeval.kernel.formats.fitting import without_wide_columns

        document = without_wide_columns(document, view)
    return as_text(document, digits, view) if form == "table" else FORMATS[form].write(document, digits)
