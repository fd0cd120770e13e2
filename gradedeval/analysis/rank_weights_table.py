"""Weights -> text: a line a rank, a column a measure."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.rank_weights import Weights
from gradedeval.errors import InputError, did_you_mean
from gradedeval.formats import json_document, laid_out, separated, signed

FORMATS = ("csv", "tsv", "json", "markdown", "table")
SIGNED = ("json", "markdown", "table")
"""The formats that have a place for the signature."""


def render_weights(weights: Weights, form: str, *, digits: int | None = None) -> str:
    """The weights as text. `digits` rounds; without it tables have 6 and the others full precision.

    Raises InputError (usage) for an unknown format.
    """
    if form in ("table", "markdown"):
        digits = 6 if digits is None else digits
        body = [[str(rank), *(f"{weight:.{digits}f}" for weight in row)] for rank, *row in weights.rows]
        return signed(laid_out(weights.columns, body, form), form, weights.signature)
    rows = [dict(zip(weights.columns, _rounded(row, digits), strict=True)) for row in weights.rows]
    if form in ("csv", "tsv"):
        return separated(weights.columns, rows, form)
    if form == "json":
        return json_document({"signature": weights.signature}, rows)
    raise InputError(
        "--format", f"no format '{form}'", did_you_mean(form, FORMATS) or f"one of {', '.join(FORMATS)}", usage=True
    )


def _rounded(row: list[Any], digits: int | None) -> list[Any]:
    return row if digits is None else [round(cell, digits) for cell in row]
