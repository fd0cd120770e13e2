"""A measure applied to judgments: its gain table, the ranks that it looks at, and its scores."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains, GainTable, Grades, binary_table, graded_table, threshold_table
from gradedeval.measures.table import MEASURES


def gain_table(measure: Measure, grades: Grades) -> GainTable:
    """What each grade is worth to the measure. Raises InputError where its gain scheme does not fit the grades."""
    place = f"'{measure}'"
    if measure.rel is not None:
        return binary_table(measure.rel, grades)
    if measure.definition.scale is None or measure.gain is None:
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    if measure.threshold_shares is not None and grades.top > 0:
        return threshold_table(measure.threshold_shares, grades, place)
    return graded_table(measure.gain, measure.definition.scale, grades, place)


def depends_on_top(measure: Measure) -> bool:
    """Whether what a grade is worth depends on the top grade of the scale."""
    scale = measure.definition.scale if measure.rel is None else None
    return scale == "thresholds" or (scale == "unit" and measure.gain in ("linear", "exp", "ntcir"))


def last_rank(measure: Measure) -> int | None:
    """The last rank that a measure looks at; None where it looks at all: weights of the full depth need the gains of
    the full depth."""
    return None if measure.definition.cutoff == "sums_to_k" else measure.cutoff


def scores_of(measure: Measure, gains: Gains) -> Floats:
    """The scores of a batch. Raises InputError where a user's own measure fails, or returns NaN."""
    scores = run_measure(measure, gains)
    highest = np.maximum.reduce(scores, initial=-np.inf)
    if highest != highest:
        raise InputError(f"measure '{measure}'", "returned NaN", "the gains may be too large")
    ceiling = measure.definition.ceiling  # which the last bit of a sum may pass
    if highest > ceiling:
        return np.where((scores > ceiling) & (scores < ceiling + 1e-12), ceiling, scores)
    return scores.astype(np.float64)


def run_measure(measure: Measure, gains: Gains) -> Floats:
    """What the measure's function returns for a batch. Raises InputError where a user's own fails."""
    known = MEASURES.get(measure.name)
    is_ours = known is not None and known.definition is measure.definition
    try:
        if is_ours:
            with np.errstate(over="ignore", invalid="ignore"):
                return measure.score(gains)
        scores = np.asarray(measure.score(gains), dtype=np.float64)
    except InputError as error:
        raise error if error.place else error.replace(place=f"measure '{measure}'") from None
    except (Exception, SystemExit) as error:
        if is_ours:
            raise
        # A user's own measure: its errors are messages, not our tracebacks.
        from gradedeval.measures.parse import failure  # few evaluations have one, and fewer fail

        hint = "fix its function; --debug shows the traceback"
        raise failure(error, f"measure '{measure}'", "failed", hint) from error
    if scores.shape != (len(gains.gain),):
        what = f"returned shape {scores.shape}"
        raise InputError(f"measure '{measure}'", what, f"expected one score per topic, ({len(gains.gain)},)")
    return scores
