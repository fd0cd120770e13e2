"""Two runs topic by topic: by how much they differ, and whether judging could reverse their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.baseline import with_baseline
from gradedeval.analysis.comparison_notes import unseen_in
from gradedeval.analysis.completions.differences import never_falls, topic_bounds
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.completions.settled import settled
from gradedeval.analysis.score_matrix import AnyScores, Paired
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import InputError, in_python, plural
from gradedeval.formats.frames import joined, to_frame

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
    baseline_score), baseline_residual, residual, low, high (what judging could make of the difference, a document that
    both runs have being judged alike for both; blank where that is not known), settled (whether judging could not
    reverse the order of the two; blank without residuals), sign (1 where more is better or neither is, −1 where less
    is). `.attrs["if_fully_judged"]` is what low, high and settled assume. Raises InputError (usage) unless there are
    two runs.
    """
    matrix, name = with_baseline(scores, baseline, allow_mismatch)
    if len(matrix.runs) != 2:
        what = f"{len(matrix.runs)} {plural(len(matrix.runs), 'run')} given, and two are compared topic by topic"
        raise InputError("", what, "add a run" if len(matrix.runs) < 2 else "choose two", usage=True)
    first = matrix.run_index(name) if name is not None else 0
    reread = Reread.of(matrix.scores)
    frames = [_by_topic(matrix.paired(measure), first, reread) for measure in matrix.comparable_measures()]
    frame = joined(frames)
    frame.attrs = {"if_fully_judged": in_python("; ".join(unseen_in(frame, matrix, "settled")))}
    return frame


def _by_topic(paired: Paired, first: int, reread: Reread | None) -> pd.DataFrame:
    """The rows of one measure, the largest gain first."""
    before, after = paired.score[[first, 1 - first]]
    old, new = paired.residual[[first, 1 - first]]
    difference = after - before
    difference[np.abs(difference) <= TOLERANCE] = 0
    lowest, highest = topic_bounds(paired, np.array([first]), np.array([1 - first]), reread)[:, 0]
    rises = never_falls(paired.measure, reread)
    low, high = (difference - old, difference + new) if rises else (np.nan, np.nan)
    low, high = np.where(np.isnan(lowest), low, lowest), np.where(np.isnan(highest), high, highest)
    columns = {
        "measure": paired.measure,
        "topic": np.array(paired.topics, dtype=object),
        "baseline": paired.runs[first],
        "run": paired.runs[1 - first],
        "baseline_score": before,
        "score": after,
        "difference": difference,
        "baseline_residual": old,
        "residual": new,
        "low": np.minimum(low, difference),  # but for the last bits they are
        "high": np.maximum(high, difference),
        "settled": settled(difference, (old, new), (lowest, highest), rises),
        "sign": paired.reading.sign,
    }
    order = np.argsort(-paired.reading.sign * difference, kind="stable")
    return to_frame(columns).astype({"settled": "boolean"}).iloc[order]
