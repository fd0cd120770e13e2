"""`correlate`: how far measures agree, by the scores of topics or the ordering of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind, measure_agreement
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.errors import InputError, check_choice
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd


def correlate(
    scores: Scores | Matrix | pd.DataFrame | str | Path, above: Kind = "tau", below: Kind = "weighted-tau"
) -> pd.DataFrame:
    """How far measures agree, pair by pair.

    scores  what `gradedeval.evaluate` returns, or saved scores
    above   kind of agreement above the diagonal of the matrix of measures
    below   kind of agreement below it

    `pearson` and `spearman` compare the scores of the (run, topic) pairs that both measures have; `tau`, `weighted-tau`
    and `tau-ap` the orderings of runs by their means over the topics that all runs have by both. Returns a frame with
    the columns measure (the row of the matrix; tau-ap's truth), other (its column), kind, agreement (blank where scores
    are all the same), n (pairs or runs). Raises InputError (usage) for a single measure, or the ordering of a single
    run; InputError if no agreement is defined for any two measures.
    """
    for kind, option in ((above, "--above"), (below, "--below")):
        check_choice(kind, KINDS, option)
    matrix = to_matrix(scores)
    if len(matrix.measures) < 2:
        raise InputError("", "correlate needs at least two measures", "add another -m", usage=True)
    if len(matrix.runs) < 2 and not {above, below} <= set(BY_TOPIC):
        hint = "add a run, or use --above pearson --below spearman"
        raise InputError("", "rank correlation needs at least two runs", hint, usage=True)
    import pandas as pd  # not before it is needed

    rows = []
    for row, measure in enumerate(matrix.measures):
        for column, other in enumerate(matrix.measures):
            if row != column:
                kind = above if row < column else below
                agreement, count = measure_agreement(matrix, kind, row, column)
                rows.append((measure, other, kind, agreement, count))
    frame = pd.DataFrame(rows, columns=["measure", "other", "kind", "agreement", "n"])
    if frame["agreement"].isna().all():
        raise _undefined(matrix, {above, below})
    return frame


def _undefined(matrix: Matrix, kinds: set[Kind]) -> InputError:
    """Why no agreement is defined."""
    if matrix.included.sum(2).max(initial=0) < 2:
        return InputError("", "no (run, topic) pair that two measures have", matrix.hint)
    if not kinds & set(BY_TOPIC) and matrix.included.all(0).sum(1).max(initial=0) < 2:
        return InputError("", f"no topic that all {len(matrix.runs)} runs have by two measures", matrix.hint)
    what = "scores are all the same, or infinite, so no agreement is defined"
    return InputError("", what, "use runs that differ, or other measures")
