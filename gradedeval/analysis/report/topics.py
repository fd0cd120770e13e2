"""The topics of a report: a heat map of runs × topics, and a row for each topic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradedeval.analysis.report.findings import Findings
from gradedeval.analysis.topic_table import ACROSS
from gradedeval.arrays import Floats
from gradedeval.formats import Column

LEVELS = 9
"""Colors of the heat map."""
SHORT, EXACT, SIGNED = Column("", "score", digits=2), Column("", "score"), Column("", "signed")


def heat_map(found: Findings, column: int, topics: Sequence[int]) -> dict[str, Any]:
    """One measure: the scores of these topics, run by run, each with its color, and what the lightest and the darkest
    color stand for."""
    matrix = found.matrix
    score = np.where(matrix.included, matrix.score, np.nan)[:, topics, column]
    known = score[np.isfinite(score)]
    low, high = float(known.min(initial=0)), float(known.max(initial=0))
    with np.errstate(invalid="ignore"):
        share = np.clip((score - low) / ((high - low) or 1.0), 0, 1)
    levels = np.nan_to_num(np.minimum(share * LEVELS, LEVELS - 1), nan=0.0).astype(np.int64)
    rows = [
        {"run": run, "cells": list(_cells(values, colors))}
        for run, values, colors in zip(matrix.runs, score, levels, strict=True)
    ]
    return {"rows": rows, "low": EXACT.cells([low])[0], "high": EXACT.cells([high])[0]}


def _cells(values: Floats, colors: Any) -> Iterator[tuple[str, str]]:
    """Class and text of each cell of a run."""
    for value, color in zip(values.tolist(), colors.tolist(), strict=True):
        yield ("no", "") if math.isnan(value) else (f"h{color}", SHORT.cells([value])[0])


def topic_rows(found: Findings, column: int, pair: tuple[int, int | None]) -> list[dict[str, Any]]:
    """A row for each topic by one measure: the scores of two runs, their difference and residuals, and the median, best
    and worst over all runs; blank where not every run is scored on it."""
    matrix, measure = found.matrix, found.measures[column].label
    own = found.topics[found.topics["measure"] == measure].drop_duplicates("topic")
    across = dict(zip(own["topic"], own[list(ACROSS)].to_numpy().tolist(), strict=True))
    score, residual = (
        np.where(matrix.included, part, np.nan)[:, :, column] for part in (matrix.score, matrix.residual)
    )
    blank, (one, other) = [math.nan] * len(ACROSS), pair
    rows = []
    for index, topic in enumerate(matrix.topics):
        values = [score[one, index], residual[one, index]]
        if other is not None:
            values += [score[other, index], residual[other, index], score[other, index] - score[one, index]]
        shown = dict(zip(("a", "a_residual", "b", "b_residual"), _exact(values[:4]), strict=False))
        if other is not None:
            shown["difference"] = "" if math.isnan(values[4]) else SIGNED.cells([float(values[4])])[0]
        rows.append({"topic": topic, **shown, **dict(zip(ACROSS, _exact(across.get(topic, blank)), strict=True))})
    return rows


def _exact(values: Sequence[float]) -> list[str]:
    return ["" if math.isnan(value) else EXACT.cells([float(value)])[0] for value in values]


def default_pair(found: Findings) -> tuple[int, int | None]:
    """The two runs that stand beside each other at first: the baseline, and the best of the others."""
    runs = found.runs
    if len(runs) == 1:
        return 0, None
    first = runs.index(found.baseline) if found.baseline is not None else 0
    return first, next(run for run in range(len(runs)) if run != first)


def default_topic(found: Findings, pair: tuple[int, int | None], among: Sequence[int]) -> int:
    """Of these topics, the one on which the two runs differ most by the first measure."""
    one, other = pair
    score = np.where(found.matrix.included, found.matrix.score, np.nan)[:, among, 0]
    spread = np.zeros(len(among)) if other is None else np.abs(score[one] - score[other])
    return among[int(np.nan_to_num(spread, nan=-1.0).argmax())]
