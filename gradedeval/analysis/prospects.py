"""What judging could do to the order of two runs where no number of documents of the run behind is known to reverse
it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from gradedeval.analysis.completions.differences import Differences
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.tables import Row
from gradedeval.arrays import TOLERANCE

if TYPE_CHECKING:
    import pandas as pd

Prospect = Literal["same order", "could be reversed", "could be tied", "unknown"]


def measures_that_reach(frame: pd.DataFrame, matrix: Matrix) -> frozenset[str]:
    """The measures of a comparison by which some judgments lead to `lowest` and `highest`, of those that have a
    pair with an order that may be reversed, and no number of documents that does it."""
    asked = frame["measure"][frame["conclusive"].eq(False) & frame["flip"].isna()].unique().tolist()
    reread = Reread.of(matrix.scores) if asked else None
    if reread is None:
        return frozenset()
    return frozenset(name for name in asked if Differences(reread, matrix.paired(name)).are_exact)


def prospect(row: Row, reached: frozenset[str]) -> Prospect:
    """What judging could do to the order of a pair, a row of a comparison without `flip`.

    reached  the measures by which some judgments lead to `lowest` and `highest`
    """
    if row["conclusive"]:
        return "same order"
    lowest, highest, difference = (
        np.nan if row[name] is None else row[name] for name in ("lowest", "highest", "difference")
    )
    past = -lowest if difference > 0 else highest if difference < 0 else max(-lowest, highest)
    if np.isnan(past):
        return "unknown"
    if past <= TOLERANCE:
        return "could be tied"
    return "could be reversed" if row["measure"] in reached else "unknown"
