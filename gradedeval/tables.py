"""Frames -> text: a table for people, or the rows themselves for programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from gradedeval.errors import Fault, nearest
from gradedeval.render import TABLES, aligned

if TYPE_CHECKING:
    import pandas as pd

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

    Raises Fault (usage) for an unknown format.
    """
    rows = rows_of(frame)
    if form in TABLES:
        left = [title for title in shown if title in WORDS]
        return grid(list(shown), [[cell(row) for cell in shown.values()] for row in rows], form, left, signature)
    if form in ("csv", "tsv"):
        return _separated(rows, [str(name) for name in frame.columns], "," if form == "csv" else "\t")
    if form == "jsonl":
        return "".join(f"{_json(row)}\n" for row in rows)
    if form == "json":
        lines = ",\n  ".join(map(_json, rows))
        return f'{{"signature": {json.dumps(signature, ensure_ascii=False)},\n "rows": [\n  {lines}]}}\n'
    raise Fault("--format", f"no format '{form}'", nearest(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True)


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame, with Python's own values, None where blank."""
    columns = {str(name): [_plain(value) for value in frame[name].astype(object)] for name in frame.columns}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def grid(header: list[str], body: list[list[str]], form: str, left: list[str], signature: str) -> str:
    """Cells as a table for people, with the signature below. `left` are the columns that begin at the left."""
    if form == "table":
        # `aligned` takes those to the left first.
        order = [*(at for at, title in enumerate(header) if title in left),
                 *(at for at, title in enumerate(header) if title not in left)]  # fmt: skip
        cells = [[line[at] for at in order] for line in (header, *body)]
        return f"{aligned(cells[0], cells[1:], len(left))}\n\n{signature}\n"
    from tabulate import tabulate

    if form == "markdown":
        header, *body = [[cell.replace("|", "\\|") for cell in line] for line in (header, *body)]
    align = ["left" if title in left else "right" for title in header]
    text = tabulate(
        body, headers=header, tablefmt=TABLES[form], disable_numparse=True, colalign=align if body else None
    )
    signed = {"latex": "% {}", "html": "<p>{}</p>"}.get(form, "\n{}")
    if form == "latex":
        signature = signature.replace("\n", "\n% ")
    return f"{text}\n{signed.format(escape(signature) if form == 'html' else signature)}\n"


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


def _separated(rows: list[Row], names: list[str], delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([["" if value is None else value for value in row.values()] for row in rows])
    return out.getvalue()


def _json(row: Row) -> str:
    """JSON knows no infinity: null."""
    finite = {name: None if isinstance(value, float) and math.isinf(value) else value for name, value in row.items()}
    return json.dumps(finite, ensure_ascii=False)
