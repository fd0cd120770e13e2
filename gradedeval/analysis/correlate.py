"""`correlate`: how far measures agree, on topics or on the ordering of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind, of_columns
from gradedeval.analysis.score_matrix import Matrix, matrix_of
from gradedeval.analysis.significance import check_choice
from gradedeval.errors import InputError
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd


def correlate(
    scores: Scores | Matrix | pd.DataFrame | str | Path, above: Kind = "tau", below: Kind = "weighted-tau"
) -> pd.DataFrame:
    """How far measures agree, two by two.

    scores  what `gradedeval.evaluate` returns, or saved scores
    above   the kind of agreement above the diagonal of the matrix of measures
    below   and below it

    `pearson` and `spearman` compare the scores of the (run, topic) pairs that both measures keep; `tau`, `weighted-tau`
    and `tau-ap` the orderings of runs by their means over the topics that all runs keep by both. Returns a frame with
    the columns measure (the row of the matrix; tau-ap's truth), other (its column), kind, agreement (blank where scores
    are all the same), n (pairs or runs). Raises InputError (usage) for a single measure, or the ordering of a single
    run; InputError where no two measures have an agreement.
    """
    for kind, option in ((above, "--above"), (below, "--below")):
        check_choice(kind, KINDS, option)
    matrix = matrix_of(scores)
    if len(matrix.measures) < 2:
        raise InputError("", "two measures or more are correlated", "give another -m", usage=True)
    if len(matrix.runs) < 2 and not {above, below} <= set(BY_TOPIC):
        raise InputError(
            "", "one run has no ordering", "give more runs, or --above pearson --below spearman", usage=True
        )
    import pandas as pd  # not before it is needed

    rows = []
    for row, measure in enumerate(matrix.measures):
        for column, other in enumerate(matrix.measures):
            if row != column:
                kind = above if row < column else below
                found, count = of_columns(matrix, kind, row, column)
                rows.append((measure, other, kind, found, count))
    frame = pd.DataFrame(rows, columns=["measure", "other", "kind", "agreement", "n"])
    if frame["agreement"].isna().all():
        raise _nothing(matrix, {above, below})
    return frame


def _nothing(matrix: Matrix, kinds: set[Kind]) -> InputError:
    """Why no two measures have an agreement."""
    if matrix.included.sum(2).max(initial=0) < 2:
        return InputError("", "no (run, topic) pair that two measures keep", matrix.hint)
    if not kinds & set(BY_TOPIC) and matrix.included.all(0).sum(1).max(initial=0) < 2:
        return InputError("", f"no topic that all {len(matrix.runs)} runs keep by two measures", matrix.hint)
    what = "scores are all the same, or infinite: nothing can agree with them"
    return InputError("", what, "take runs that differ, or other measures")
