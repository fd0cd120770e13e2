"""Correlations, fits and power -> tables: which columns people see, and how the numbers were made."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.correlate import BY_TOPIC, NAMES
from gradedeval.analysis.fit import FitResult
from gradedeval.analysis.power import Power
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.topic_plan import Aim
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Shown = dict[Column, Callable[[Row], Any]]
"""The columns of a table for people, each with the value that it takes from a row of the frame."""


def frame_document(
    frame: pd.DataFrame, layout: Layout, shown: Shown, signature: str, *, signed: bool = False
) -> Document:
    """A frame as a table: for people the columns `shown`, for programs those of the frame.

    signed  whether the first row of each measure has the signature as its last column, where a format has no other
            place for it
    """
    if layout == "long":
        return Document(
            [frame_table(frame)], signature, row_signatures=_signed_rows(frame, signature) if signed else ()
        )
    rows = [[value(row) for value in shown.values()] for row in frame_rows(frame)]
    return Document([Table(list(shown), rows)], signature)


def _signed_rows(frame: pd.DataFrame, signature: str) -> list[str | None]:
    """The signature for the first row of each measure, in one line."""
    return [None if again else signature.replace("\n", " | ") for again in frame["measure"].duplicated()]


def curve_document(curve: pd.DataFrame, settings: str, layout: Layout) -> Document:
    """The second result of `power` and `fit`, for programs alone."""
    return frame_document(curve, layout, {}, settings)


def signature_lines(settings: str, scores: str) -> str:
    """The lines under a table: the settings of the analysis, and what its scores depend on."""
    return "\n".join(part for part in (settings, scores) if part)


def same(*columns: Column) -> Shown:
    """Columns of the frame that people see as they are."""
    return {column: itemgetter(column.name) for column in columns}


def level(alpha: float) -> str:
    return f"{100 * (1 - alpha):.10g}%"


def readings(matrix: Matrix, measures: list[str], tested: bool = True) -> list[str]:
    """By which measures lower scores win, or none do, and which are tested by ratios."""
    said: dict[str, list[str]] = {}
    for name in measures:
        reading = matrix.reading(matrix.measure_index(name))
        for word in (reading.summary, reading.better) if tested else (reading.better,):
            if word in _READINGS:
                said.setdefault(_READINGS[word], []).append(name)
    return [f"{', '.join(names)}: {words}" for words, names in said.items()]


_READINGS = {
    "geometric": "ratio of geometric means, tested by logarithms",
    "lower": "lower is better",
    "neither": "neither more nor less is better",
}


_SCALES = {"total": "by topic", "geometric": "of logarithms"}


def scales(matrix: Matrix, measures: list[str], what: str) -> list[str]:
    """By which measures some numbers are not on the scale of the summaries: totals are counted by topic, and geometric
    means compared by their logarithms."""
    of = {name: matrix.reading(matrix.measure_index(name)).summary for name in measures}
    return [
        f"{', '.join(name for name in measures if of[name] == summary)}: {what} {scale}"
        for summary, scale in _SCALES.items()
        if summary in of.values()
    ]


def ratio(value: float) -> str:
    return f"×{value:.4f}"


# Correlations


def correlation_settings(frame: pd.DataFrame) -> str:
    """Which kind of agreement stands above the diagonal and which below, and what they are taken over."""
    counts: dict[str, list[int]] = {}
    for row in frame_rows(frame):
        counts.setdefault(row["kind"], []).append(row["n"])
    # The first row stands above the diagonal.
    places = ("above", "below") if len(counts) > 1 else ("off",)
    over = {kind: "(run, topic) pairs" if kind in BY_TOPIC else "runs" for kind in counts}
    return " | ".join(
        f"{place} the diagonal: {NAMES[kind]}, {_extent(numbers)} {over[kind]}"
        for place, (kind, numbers) in zip(places, counts.items(), strict=True)
    )


def correlation_document(frame: pd.DataFrame, matrix: Matrix, settings: str, layout: Layout) -> Document:
    """The result of `correlate`, for people as a matrix."""
    signature = signature_lines(settings, matrix.signature)
    if layout == "long":
        return Document([frame_table(frame)], signature)
    cells = {(row["measure"], row["other"]): row["agreement"] for row in frame_rows(frame)}
    columns = [Column(""), *(Column(name, "score", digits=3) for name in matrix.measures)]
    rows = [[name, *(cells.get((name, other), "—") for other in matrix.measures)] for name in matrix.measures]
    return Document([Table(columns, rows)], signature)


def _extent(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


# Power


def power_document(result: Power, layout: Layout, signature: str = "") -> Document:
    """The result of `power`."""
    counts = (Column(name, "count") for name in ("runs", "topics", "pairs", "significant"))
    shown: Shown = {
        **same(Column("measure"), *counts, Column("power", "share")),
        Column("difference needed", "score"): _needed,
    }
    return frame_document(result.frame, layout, shown, signature_lines(result.settings, signature))


def _needed(row: Row) -> Any:
    return ratio(row["needed"]) if row["tested"] == "ratio" else row["needed"]


def plan_settings(aim: Aim, matrix: Matrix | None) -> str:
    """What the topics of a plan suffice for."""
    found = f"topics to detect a difference of {aim.difference:g} with power {1 - aim.beta:g} at alpha {aim.alpha:g}"
    interval = f"interval: {level(aim.alpha)}, as wide as that difference"
    units = [] if matrix is None else scales(matrix, matrix.measures, "variance, difference and width")
    return " | ".join([found, interval, *units])


def plan_document(frame: pd.DataFrame, signature: str, settings: str, layout: Layout) -> Document:
    """The result of `power --plan`."""
    known = [] if frame["measure"].isna().all() else [Column("measure")]
    had = [] if frame["topics"].isna().all() else [Column("topics", "count")]
    shown: Shown = {
        **same(*known, Column("design"), Column("systems", "count"), Column("variance", "score"), *had),
        Column("topics needed", "count"): itemgetter("needed"),
        **same(Column("power", "share")),
        Column("interval width", "score"): itemgetter("width"),
    }
    return frame_document(frame, layout, shown, signature_lines(settings, signature))


# Fits


def fit_document(result: FitResult, layout: Layout) -> Document:
    """The result of `fit` or `fit_weights`: of these columns, those that its frame has."""
    shown: dict[str, Shown] = {
        "measure": same(Column("measure")),
        "by": same(Column("by")),
        "parameter": same(Column("parameter")),
        "value": {Column("best", "number"): itemgetter("value")},
        "agreement": same(Column("agreement", "score")),
        "divergence": {Column("KL (nats)", "score"): itemgetter("divergence")},
        "low": {Column("within 0.001", "figures"): near_best},
        "step": {Column("step", "number"): itemgetter("step")},
        "covered": same(Column("covered", "score")),
        "pairs": same(Column("pairs", "count")),
        "agreement_there": {Column("there", "score"): itemgetter("agreement_there")},
        "best_there": {Column("best there", "figures"): _best_there},
    }
    columns = {column: value for name, part in shown.items() if name in result.frame for column, value in part.items()}
    return frame_document(result.frame, layout, columns, signature_lines(result.settings, result.signature))


def near_best(row: Row) -> str | None:
    """The range of values that are nearly as good as the best."""
    return None if row["low"] is None else f"{row['low']:.6g} to {row['high']:.6g}"


def _best_there(row: Row) -> str | None:
    return None if row["best_there"] is None else f"{row['best_there']:.4f} at {row['value_there']:.6g}"
