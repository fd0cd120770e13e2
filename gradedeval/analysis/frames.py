"""Frames as tables, and rows of frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
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


def text_column(values: Sequence[str | None]) -> pd.Series:
    """Names as a column of a frame. Bytes that are not UTF-8 survive in names, but not in the text of pandas and Arrow:
    such names are objects there."""
    import pandas as pd  # not before it is needed

    try:
        return pd.Series(list(values))
    except UnicodeEncodeError:
        return pd.Series(list(values), dtype=object)


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, str | int | float | bool) else None
