"""Columns and rows as DataFrames, and DataFrames as tables.

Ids are bytes: what is not UTF-8 in them is a surrogate in text. From version 3 on pandas keeps text in Arrow where
pyarrow is installed, and Arrow refuses that. So frames are made and put together here alone, and where Arrow refuses,
Python keeps all text of the frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from gradedeval.formats.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

_STORAGE = Lock()


def to_frame(content: Any, columns: list[str] | tuple[str, ...] | None = None) -> pd.DataFrame:
    """A frame of what `pandas.DataFrame` takes: columns by name, rows by name, or rows with the names of `columns`."""
    import pandas as pd  # not before it is needed: it takes longer to import than a run takes to score

    try:
        return pd.DataFrame(content, columns=columns)
    except UnicodeEncodeError:
        # Threads that set the option and set it back in turn could leave it changed.
        with _STORAGE, pd.option_context("mode.string_storage", "python"):
            return pd.DataFrame(content, columns=columns)


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Frames, one below the other."""
    import pandas as pd

    return _together(lambda own: pd.concat(own, ignore_index=True), frames)


def merged(left: pd.DataFrame, right: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """The rows of two frames that are alike in some columns, beside each other."""
    return _together(lambda own: own[0].merge(own[1], on=on), [left, right])


def _together(make: Callable[[Sequence[pd.DataFrame]], pd.DataFrame], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One frame of several, whose text may be kept in different ways."""
    try:
        return make(frames)
    except UnicodeEncodeError:
        import pandas as pd

        kept = pd.StringDtype("python", na_value=math.nan)
        return make([one.astype({name: kept for name in one if one[name].dtype == "str"}) for one in frames])


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
