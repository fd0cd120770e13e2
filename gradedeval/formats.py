"""Cells and rows -> text: a table for people, or CSV, TSV and JSON for programs. What every renderer ends with.

The libraries are imported by the forms that need them: the default table waits for none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd


# Formats for people, as tabulate calls them.
TABLES = {"table": "plain", "markdown": "github", "latex": "latex_booktabs", "html": "html"}


def laid_out(header: list[str], body: list[list[str]], form: str, left: Collection[str] = ()) -> str:
    """Cells as a table of one of the forms TABLES; columns with a title in `left` begin at the left."""
    if form == "table":
        return aligned(header, body, left)
    from tabulate import tabulate

    align = ["left" if title in left else "right" for title in header]
    if form == "markdown":
        header, *body = [[cell.replace("|", "\\|") for cell in line] for line in (header, *body)]
    return tabulate(
        body, headers=header, tablefmt=TABLES[form], disable_numparse=True, colalign=align if body else None
    )


def aligned(header: list[str], body: list[list[str]], left: Collection[str] = ()) -> str:
    """A plain table.

    As tabulate's, which takes a tenth of the time of a small evaluation to import.
    """
    width = [max(map(len, column)) for column in zip(header, *body, strict=True)]
    line = "  ".join(f"{{:{'<' if title in left else '>'}{wide}}}" for title, wide in zip(header, width, strict=True))
    rows = [header, ["-" * wide for wide in width], *body]
    return "\n".join(line.format(*row).rstrip() for row in rows)


def signed(table: str, form: str, signature: str) -> str:
    """A table with what its numbers depend on below: a comment in LaTeX, a paragraph in HTML."""
    if form == "html":
        from html import escape

        return f"{table}\n<p>{escape(signature)}</p>\n"
    if form == "latex":
        return f"{table}\n% " + signature.replace("\n", "\n% ") + "\n"
    return f"{table}\n\n{signature}\n"


def separated(columns: Sequence[str], rows: list[dict[str, Any]], form: str) -> str:
    """Rows as csv or tsv, None as nothing."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, delimiter="," if form == "csv" else "\t", lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if value is None else value for value in row.values()] for row in rows])
    return out.getvalue()


def json_document(head: Mapping[str, Any], rows: list[dict[str, Any]]) -> str:
    """A document of what stands at its head, and `rows`, one a line."""
    import json

    entries = "".join(
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)},\n " for name, value in head.items()
    )
    lines = ",\n  ".join(json_lines(rows).rstrip("\n").split("\n"))
    return f'{{{entries}"rows": [\n  {lines}]}}\n'


def json_lines(rows: list[dict[str, Any]]) -> str:
    """Each row as a line of JSON."""
    import json

    return "".join(json.dumps(finite(row), ensure_ascii=False) + "\n" for row in rows)


def finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: null."""
    return {key: None if value in (float("inf"), float("-inf")) else value for key, value in row.items()}


def rounded(row: dict[str, Any], digits: int | None) -> dict[str, Any]:
    """The row with its numbers that are no counts rounded, where digits are asked for."""
    return {
        key: round(value, digits) if digits is not None and isinstance(value, float) else value
        for key, value in row.items()
    }


Row = dict[str, Any]
Shown = Mapping[str, Callable[[Row], str]]
"""Title -> the cell of a row: the columns of a table for people."""

WORDS = ("measure", "run", "baseline", "by", "parameter")  # columns that begin at the left
FORMATS = ("table", "csv", "tsv", "json", "jsonl", "markdown", "latex", "html")


def render_frame(frame: pd.DataFrame, form: str, shown: Shown, signature: str) -> str:
    """A frame as text.

    form       table, markdown, latex and html have the columns `shown` and the signature below; csv, tsv, json and
               jsonl have the columns of the frame in full precision
    signature  what the numbers depend on

    Raises InputError (usage) for an unknown format.
    """
    rows = rows_of(frame)
    if form in TABLES:
        cells = [[cell(row) for cell in shown.values()] for row in rows]
        return signed(laid_out(list(shown), cells, form, WORDS), form, signature)
    if form in ("csv", "tsv"):
        return separated([str(name) for name in frame.columns], rows, form)
    if form == "jsonl":
        return json_lines(rows)
    if form == "json":
        return json_document({"signature": signature}, rows)
    raise InputError(
        "--format", f"no format '{form}'", did_you_mean(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True
    )


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame, with Python's own values, None where blank."""
    columns = {str(name): [_plain(value) for value in frame[name].astype(object)] for name in frame.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def decimals(value: float | None, digits: int = 4, sign: str = "") -> str:
    """A number for people; nothing where it is blank. `sign` is "+" where both signs are written."""
    return "" if value is None else f"{value:{sign}.{digits}f}"


def percent(value: float | None) -> str:
    """A share as a signed percentage."""
    return "" if value is None else f"{value:+.1%}"


def probability(value: float | None) -> str:
    """A p value: four digits, or that it is smaller."""
    return "" if value is None else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, str | int | float | bool) else None
