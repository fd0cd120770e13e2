"""Frames -> text: a table for people, or the rows themselves for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gradedeval.errors import Fault, nearest
from gradedeval.layout import TABLES, json_document, json_lines, laid_out, separated, signed

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
        cells = [[cell(row) for cell in shown.values()] for row in rows]
        return signed(laid_out(list(shown), cells, form, WORDS), form, signature)
    if form in ("csv", "tsv"):
        return separated([str(name) for name in frame.columns], rows, form)
    if form == "jsonl":
        return json_lines(rows)
    if form == "json":
        return json_document({"signature": signature}, rows)
    raise Fault("--format", f"no format '{form}'", nearest(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True)


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
