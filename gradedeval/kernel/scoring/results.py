"""Results in Python and notebooks: DataFrames, and the tables of commands.

Bytes of ids that are not UTF-8 are surrogates in text. From version 3 on pandas keeps text in Arrow if pyarrow is
installed, and Arrow refuses surrogates. Only this module creates, joins and groups frames, and keeps text in Python if
Arrow refuses it. pandas 2 treats all such text as equal; `groups` tells it apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradedeval.errors import hint_of

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.arrays import Ints
    from gradedeval.kernel.formats import Document, Layout, Maker, Table


_STORAGE = Lock()


def to_frame(content: Any, columns: list[str] | tuple[str, ...] | None = None) -> pd.DataFrame:
    """Return a DataFrame of columns by name, rows by name, or rows with the names of `columns`."""
    import pandas as pd  # imports more slowly than a run is scored

    try:
        return pd.DataFrame(content, columns=columns)
    except UnicodeEncodeError:
        # Threads that set the option and set it back in turn could leave it changed.
        with _STORAGE, pd.option_context("mode.string_storage", "python"):
            return pd.DataFrame(content, columns=columns)


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return frames concatenated, one below the other."""
    import pandas as pd

    return _combined(lambda parts: pd.concat(parts, ignore_index=True), frames)


def merged(left: pd.DataFrame, right: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return the inner join of two frames on some columns."""
    return _combined(lambda pair: pair[0].merge(pair[1], on=on), [left, right])


def _combined(make: Callable[[Sequence[pd.DataFrame]], pd.DataFrame], frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Combine frames, with Python text if their text is stored in different ways."""
    try:
        return make(frames)
    except UnicodeEncodeError:
        import pandas as pd

        kept = pd.StringDtype("python", na_value=math.nan)
        return make([frame.astype({name: kept for name in frame if frame[name].dtype == "str"}) for frame in frames])


def distinct(frame: pd.DataFrame, *columns: str) -> list[Any]:
    """Return the distinct values of a column, or rows of several, in order of first appearance."""
    return list(dict.fromkeys(_keys(frame, columns)))


def group_numbers(frame: pd.DataFrame, *columns: str) -> Ints:
    """Return for each row the index of its value among the distinct ones, for `groupby`."""
    import numpy as np

    number: dict[Any, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in _keys(frame, columns)], dtype=np.int64)


def groups(frame: pd.DataFrame, *columns: str) -> dict[Any, pd.DataFrame]:
    """Return value -> rows of each distinct value of a column, or of several, in order of first appearance."""
    parts = frame.groupby(group_numbers(frame, *columns), sort=False)
    return dict(zip(distinct(frame, *columns), (group for _, group in parts), strict=True))


def _keys(frame: pd.DataFrame, columns: Sequence[str]) -> Iterable[Any]:
    return frame[columns[0]] if len(columns) == 1 else zip(*(frame[name] for name in columns), strict=True)


class FrameRows(Sequence[Any]):
    """The rows of a frame as Python values, None if blank, converted a few at a time: the rows of 100,000 pairs of runs
    would take more memory than the frame."""

    AT_ONCE = 1 << 12

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for begin in range(0, len(self), self.AT_ONCE):
            yield from self[begin : begin + self.AT_ONCE]

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self[index : index + 1 or None][0]
        part = self.frame.iloc[index]
        columns = [[_plain(value) for value in part.iloc[:, column].astype(object)] for column in range(part.shape[1])]
        return list(zip(*columns, strict=True))


def to_table(frame: pd.DataFrame) -> Table:
    """Return a frame as a table of Python's own values, None if blank."""
    from gradedeval.kernel.formats.tables import Column, Table  # not before it is text

    return Table([Column(str(name)) for name in frame.columns], FrameRows(frame))


def to_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts of Python's own values, None if blank."""
    return list(each_row(frame))


def each_row(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of `to_rows`."""
    names = [str(name) for name in frame.columns]
    return (dict(zip(names, row, strict=True)) for row in FrameRows(frame))


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, str | int | float | bool) else None


ENDS = 30
"""Rows of each end of a long table in a notebook."""


class InNotebook:
    """A result that notebooks show as tables in HTML; all content of files is escaped as text.

    frame      its table for programs
    signature  the settings that it depends on
    texts      topic -> text, if known
    """

    if TYPE_CHECKING:

        @property
        def frame(self) -> pd.DataFrame: ...
        @property
        def signature(self) -> str: ...
        @property
        def texts(self) -> Mapping[str, str]: ...
    else:
        texts = MappingProxyType({})

        def __getattr__(self, name):
            """Return the frame or the signature of the document for programs; raise AttributeError with a suggestion
            for a name of another library."""
            if name.startswith("_") or hasattr(type(self), name):  # a property that failed: raise its error
                return object.__getattribute__(self, name)
            if name in ("frame", "signature"):  # no property: it would be the default of a dataclass's field
                document = self.tables("long")
                names = list(document.table.names)
                value = document.signature if name == "signature" else to_frame(document.table.rows, columns=names)
                return self.__dict__.setdefault(name, value)
            public = [attribute for attribute in dir(self) if not attribute.startswith("_")]
            hint = hint_of("attributes", name, [*public, "frame", "signature"])
            problem = f"'{type(self).__name__}' has no attribute '{name}'"
            raise AttributeError(f"{problem}; {hint}" if hint else problem)

    def __str__(self) -> str:
        """Return the tables for people, as a command prints them without a terminal."""
        return self._as(self.tables, "table")

    def _repr_html_(self) -> str:
        return self._as(self._shortened, "html")

    def _as(self, make: Maker, form: str) -> str:
        from gradedeval.kernel.formats import render  # few results become text in Python
        from gradedeval.kernel.scoring.signature import short  # imports numpy, which help pages do not need

        return render(make, form, sign=short).rstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from gradedeval.kernel.formats import in_utf8

        printer.text(in_utf8(repr(self)))  # a notebook is UTF-8

    @property
    def settings_text(self) -> str:
        """The settings of the analysis, printed separately if a format has no place for them."""
        return ""

    @property
    def remarks(self) -> list[str]:
        """Notes that a command prints with the result."""
        return []

    def document(self, layout: Layout) -> Document:
        """Return the tables, for people or for programs."""
        raise NotImplementedError

    def tables(self, layout: Layout, **keywords: Any) -> Document:
        """Return the `document`, with texts of topics."""
        document = self.document(layout, **keywords)
        if not self.texts or layout == "trec":
            return document
        from gradedeval.kernel.formats.tables import with_queries  # few topics have texts

        return with_queries(document, self.texts)

    def shown(self, **keywords: Any) -> InNotebook:
        """Return the result as the keywords of `document` show it, as in `result.shown(top=100)`."""
        return _Shown(self, keywords)

    def _shortened(self, layout: Layout) -> Document:
        document = self.tables(layout)
        blocks = [block if isinstance(block, str) else _ends(block) for block in document.blocks]
        return replace(document, blocks=blocks)


class FrameResult(InNotebook):
    """A result with a single table. `result["p"]`, `len(result)` and iteration act on `.frame`, a DataFrame with all
    further methods of pandas."""

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, key: Any) -> Any:
        return self.frame[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frame)

    def __repr__(self) -> str:
        return self._as(self._shortened, "table")


class _Shown(InNotebook):
    """A result with keywords of its document."""

    def __init__(self, result: InNotebook, keywords: dict[str, Any]) -> None:
        self.result, self.keywords = result, keywords

    @property
    def texts(self) -> Mapping[str, str]:
        return self.result.texts

    def document(self, layout: Layout) -> Document:
        return self.result.document(layout, **self.keywords)

    def __repr__(self) -> str:
        return str(self)


def _ends(table: Table) -> Table:
    """Return the table, shortened to its first and last rows."""
    if len(table.rows) <= 2 * ENDS:
        return table
    between = [["…" for _ in table.columns]]
    return replace(table, rows=[*table.rows[:ENDS], *between, *table.rows[-ENDS:]], marks={})
