"""Columns of numbers under their names -> text: for programs as they are, for people aligned and rounded."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from gradedeval.render import TABLES, aligned

# What the extension of a file asks for; the first is the default.
EXTENSIONS = {"": "csv", ".csv": "csv", ".tsv": "tsv", ".json": "json", ".md": "markdown", ".txt": "table"}
FORMATS = tuple(dict.fromkeys(EXTENSIONS.values()))
SIGNED = ("json", "markdown", "table")
"""The formats that have a place for the signature."""


def columns_text(
    header: Sequence[str], rows: Sequence[Sequence[Any]], form: str, *, signature: str, digits: int | None = None
) -> str:
    """The table as csv, tsv, json, markdown or table. `digits` rounds; without it the latter two have 6."""
    if form in TABLES:
        digits = 6 if digits is None else digits
        body = [[f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
        return f"{_table(list(header), body, form)}\n\n{signature}\n"
    if digits is not None:
        rows = [[round(cell, digits) if isinstance(cell, float) else cell for cell in row] for row in rows]
    if form == "json":
        lines = ",\n  ".join(json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) for row in rows)
        return f'{{"signature": {json.dumps(signature, ensure_ascii=False)},\n "rows": [\n  {lines}]}}\n'
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t" if form == "tsv" else ",", lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def _table(header: list[str], body: list[list[str]], form: str) -> str:
    if form == "table":
        return aligned(header, body, 0)
    from tabulate import tabulate

    escaped = [name.replace("|", "\\|") for name in header]
    align = ["right"] * len(header)
    return tabulate(body, headers=escaped, tablefmt=TABLES[form], disable_numparse=True, colalign=align)
