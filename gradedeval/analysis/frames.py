"""Frames as tables, and rows of frames."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradedeval.formats import Column, Table

if TYPE_CHECKING:
    import pandas as pd


def frame_table(frame: pd.DataFrame) -> Table:
    """A frame as a table, with Python's own values, None where blank."""
    columns = [[_plain(value) for value in frame[name].astype(object)] for name in frame.columns]
    return Table([Column(str(name)) for name in frame.columns], list(zip(*columns, strict=True)))


def frame_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame by the names of its columns, with Python's own values, None where blank."""
    table = frame_table(frame)
    return [dict(zip(table.names, row, strict=True)) for row in table.rows]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, str | int | float | bool) else None
