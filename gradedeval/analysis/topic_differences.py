"""Two runs topic by topic: by how much they differ, and whether judging could turn their order around."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.baseline import with_baseline
from gradedeval.analysis.score_matrix import AnyScores
from gradedeval.arrays import TOLERANCE, Bools, Floats
from gradedeval.errors import InputError, plural

if TYPE_CHECKING:
    import pandas as pd


def topic_differences(
    scores: AnyScores, baseline: AnyScores | None = None, *, allow_mismatch: bool = False
) -> pd.DataFrame:
    """How two runs differ on each topic that both are scored on, by each measure, the largest gain first.

    scores          what `gradedeval.evaluate` returns, with residuals="total" to get `settled`; or saved scores
    baseline        the run that the other is compared with: its name, or its saved scores; None: the first of the two
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with the columns measure, topic, baseline, run, baseline_score, score, difference (score −
    baseline_score), baseline_residual, residual, low, high (difference − baseline_residual and difference + residual:
    what judging could make of it), settled (whether judging could not turn the order of the two around; blank without
    residuals), sign (1 where more is better or neither is, −1 where less is). Raises InputError (usage) unless there
    are two runs.
    """
    import pandas as pd  # not before it is needed

    matrix, name = with_baseline(scores, baseline, allow_mismatch)
    if len(matrix.runs) != 2:
        what = f"{len(matrix.runs)} {plural(len(matrix.runs), 'run')} given, and two are compared topic by topic"
        raise InputError("", what, "add a run" if len(matrix.runs) < 2 else "choose two", usage=True)
    first = matrix.run_index(name) if name is not None else 0
    frames = []
    for measure in matrix.comparable_measures():
        paired = matrix.paired(measure)
        before, after = paired.score[[first, 1 - first]]
        old, new = paired.residual[[first, 1 - first]]
        difference = after - before
        difference[np.abs(difference) <= TOLERANCE] = 0
        columns = {
            "measure": measure,
            "topic": np.array(paired.topics, dtype=object),
            "baseline": paired.runs[first],
            "run": paired.runs[1 - first],
            "baseline_score": before,
            "score": after,
            "difference": difference,
            "baseline_residual": old,
            "residual": new,
            "low": difference - old,
            "high": difference + new,
            "settled": pd.array(settled(difference, old, new), dtype="boolean"),
            "sign": paired.reading.sign,
        }
        order = np.argsort(-paired.reading.sign * difference, kind="stable")
        frames.append(pd.DataFrame(columns).iloc[order])
    return pd.concat(frames, ignore_index=True)


def settled(difference: Floats, old: Floats, new: Floats, moved: Bools | None = None) -> Sequence[bool | None]:
    """topics: whether no judgment could reverse the order of two scores: the lower one cannot rise as far. None without
    a residual.

    old, new  residuals of the two scores
    moved     whether anything changed: what did not cannot turn around; None: that is not known
    """
    lower = np.where(difference > 0, old, np.where(difference < 0, new, np.maximum(old, new)))
    sure = (np.abs(difference) > lower) | ((difference == 0) & (lower == 0))
    sure = sure if moved is None else sure | ~moved
    return [None if np.isnan(bound) else bool(one) for bound, one in zip(lower, sure, strict=True)]
