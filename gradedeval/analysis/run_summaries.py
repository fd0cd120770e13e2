"""Runs by their summaries: score, interval, and how far judging could raise it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.score_matrix import AnyScores, Matrix, comparable
from gradedeval.errors import InputError
from gradedeval.formats.frames import to_frame
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers
from gradedeval.scoring.intervals import Scale, summary_intervals
from gradedeval.scoring.summaries import summarize, summarize_rises

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.95
"""Of the interval, unless told otherwise."""


def run_summaries(scores: AnyScores, level: float = LEVEL, *, allow_mismatch: bool = False) -> pd.DataFrame:
    """What is known of each run by each measure, over the topics on which it is scored.

    Returns a frame with the columns measure, run, score, low, high (the interval, by the studentized bootstrap),
    unjudged (how far the unjudged documents of the run could raise the score), beyond (how far what lies beyond its end
    could), residual (both), topics, summary (mean, total or geometric) and sign (1 where more is better or neither is,
    −1 where less is). What is not known is nan. Raises InputError (usage) unless the level is between 0 and 1.
    """
    level = numbers.LEVEL.check(level)
    matrix = comparable(scores, allow_mismatch)
    scales = [_scale(matrix, column) for column in range(len(matrix.measures))]
    cells = [(matrix.score[row], matrix.included[row]) for row in range(len(matrix.runs))]
    intervals = summary_intervals(cells, scales, 1 - level)
    rows = []
    for column, name in enumerate(matrix.measures):
        reading = matrix.reading(column)
        for row, run in enumerate(matrix.runs):
            kept = matrix.included[row, :, column]
            score = matrix.score[row, kept, column]
            unjudged, residual = (
                float(summarize_rises(score, part[row, kept, column], reading.summary))
                for part in (matrix.unjudged, matrix.residual)
            )
            _, low, high = intervals[row, column].tolist()
            rows.append(
                {
                    "measure": name,
                    "run": run,
                    "score": float(summarize(score, reading.summary)),
                    "low": low,
                    "high": high,
                    "unjudged": unjudged,
                    "beyond": residual - unjudged if np.isfinite(residual) else residual,
                    "residual": residual,
                    "topics": int(kept.sum()),
                    "summary": reading.summary,
                    "sign": reading.sign,
                }
            )
    return to_frame(rows)


def _scale(matrix: Matrix, column: int) -> Scale:
    """The scale of a measure; without limits where it is not known here, and where its scores were transformed."""
    name, summary = matrix.measures[column], matrix.reading(column).summary
    if matrix.scores is not None:
        scored = {} if matrix.scores.transformations else {one.label: one for one in matrix.scores.measures}
        return Scale.of(scored[name]) if name in scored else Scale(summary)
    try:
        (measure,) = parse_measures(name)
    except (InputError, ValueError):
        return Scale(summary)
    return Scale.of(measure)
