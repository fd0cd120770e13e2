"""Frames as tables: the columns that people see, and the lines under a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from gradedeval import kernel
from gradedeval.errors import visible
from gradedeval.kernel.scoring.results import FrameResult

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.score_matrix import Matrix
    from gradedeval.kernel import Column, Document, Layout, Table
    from gradedeval.kernel.formats import Kind


Row = dict[str, Any]
DisplayColumns: TypeAlias = "dict[Column, Callable[[Row], Any]]"
"""The columns of a table for people, each with a function for its value from a row of the frame."""


def frame_document(
    frame: pd.DataFrame, layout: Layout, shown: DisplayColumns, signature: str, *, signed: bool = False
) -> Document:
    """Return a frame as a table: for people the columns `shown`, for programs the columns of the frame.

    signed  whether the first row of each measure has the signature as its last column, in formats without another place
    """
    if layout == "long":
        joint = signature.replace("\n", " | ")  # for the first row of each measure
        signatures = [None if again else joint for again in frame["measure"].duplicated()] if signed else ()
        return kernel.Document([kernel.results.to_table(frame)], signature, row_signatures=signatures)
    rows = [[value(row) for value in shown.values()] for row in kernel.results.each_row(frame)]
    return kernel.Document([kernel.Table(list(shown), rows)], signature)


@dataclass(frozen=True, eq=False, repr=False)
class ScoredFrame(FrameResult):
    """A frame made of scores of runs × topics, or of none."""

    frame: pd.DataFrame
    scores: Matrix | None

    @property
    def signature(self) -> str:
        """The settings and files that the scores depend on."""
        return "" if self.scores is None else self.scores.common_signature

    @property
    def texts(self) -> Mapping[str, str]:
        return {} if self.scores is None or self.scores.queries is None else self.scores.queries.texts

    def document(self, layout: Layout) -> Document:
        """Return the frame as it is; people see four digits."""
        numbers = [
            kernel.Column(str(name), "score" if kind.kind == "f" else "text")
            for name, kind in self.frame.dtypes.items()
        ]
        table = kernel.results.to_table(self.frame)
        return kernel.Document([table if layout == "long" else replace(table, columns=numbers)], self.signature)


def signature_lines(settings: str, scores: str) -> str:
    """Return the lines under a table: the settings of the analysis, and the signature of its scores."""
    return "\n".join(part for part in (settings, scores) if part)


def plain_columns(*columns: Column) -> DisplayColumns:
    """Return columns of the frame, shown as they are."""
    return {column: itemgetter(column.name) for column in columns}


def total_formatter(matrix: Matrix, name: str, sign: str = "") -> Callable[[Row], Any]:
    """Return a function for the value of a column: it shows totals of counts as whole numbers."""

    def shown(row: Row) -> Any:
        value, reading = row[name], matrix.reading(matrix.measure_index(row["measure"]))
        counted = reading.summary == "total" and value is not None and float(value).is_integer()
        return f"{value:{sign}.0f}" if counted else value

    return shown


def confidence_level(alpha: float) -> str:
    return f"{100 * (1 - alpha):.10g}%"


def describe_readings(matrix: Matrix, measures: list[str], tested: bool = True) -> list[str]:
    """Return lines that name the measures with lower scores better, or neither, and the measures tested by ratios."""
    names_of: dict[str, list[str]] = {}
    for name in measures:
        reading = matrix.reading(matrix.measure_index(name))
        for word in (reading.summary, reading.better) if tested else (reading.better,):
            if word in _READINGS:
                names_of.setdefault(_READINGS[word], []).append(name)
    return [f"{', '.join(names)}: {words}" for words, names in names_of.items()]


_READINGS = {
    "geometric": "ratio of geometric means, tested by logarithms",
    "lower": "lower is better",
    "neither": "no preferred direction",
}


_SCALES = {"total": "by topic", "geometric": "of logarithms"}


def describe_scales(matrix: Matrix, measures: list[str], quantity: str) -> list[str]:
    """Return lines on the measures whose numbers are on another scale than their summaries."""
    summaries = {name: matrix.reading(matrix.measure_index(name)).summary for name in measures}
    return [
        f"{', '.join(name for name in measures if summaries[name] == summary)}: {quantity} {scale}"
        for summary, scale in _SCALES.items()
        if summary in summaries.values()
    ]


def format_ratio(value: float) -> str:
    return f"×{value:.4f}"


def format_range(row: Row) -> str | None:
    """Return the range of values that are nearly as good as the best."""
    return None if row["low"] is None else f"{row['low']:.6g} to {row['high']:.6g}"


def topic_text(text: str, longest: int) -> str:
    """Return the text of a topic in one line, cut to a length."""
    return kernel.formats.cut(visible(text), longest)


BELOW = 60
"""Maximum characters of the text of a topic below a picture."""


def text_lines(texts: Mapping[str, str]) -> list[str]:
    """Return topics with their texts, as they stand below a picture: a line each."""
    return [f"{topic}: {topic_text(text, BELOW)}" for topic, text in texts.items()]


GROUP: dict[str, tuple[str, Kind]] = {"group": ("group", "text")}


def display_table(frame: pd.DataFrame, **columns: tuple[str, Kind]) -> Table:
    """Return some columns of a frame for people: name -> title and kind; columns without a value are left out."""
    rows = kernel.results.to_rows(frame)
    kept = {name: column for name, column in columns.items() if any(row[name] is not None for row in rows)}
    titles = [kernel.Column(title, kind) for title, kind in kept.values()]
    return kernel.Table(titles, [[row[name] for name in kept] for row in rows])
