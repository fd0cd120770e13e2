"""Interpolated precision: the best that can be had at a level of recall."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.definition import measure
from gradedeval.measures.gains import Gains, safe_divide
from gradedeval.measures.parameters import BELOW_1, SHARE, Check
from gradedeval.measures.properties import Bounds

INTERPOLATED = Bounds("precision.interpolated", exact=False, but="exact at recall=0")
ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def interpolated(g: Gains, recall: float, add: float) -> Floats:
    """topics: the highest precision at any rank from the one that reaches `recall` on."""
    precision = g.ordinal / g.ranks_of_relevant
    # From the end: the best precision still to come.
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    wanted = np.maximum(np.floor(recall * g.num_relevant + add), 1).astype(np.int64)
    reached = np.append(best, np.zeros((len(best), 1)), axis=1)
    value = reached[np.arange(len(best)), np.minimum(wanted - 1, best.shape[1])]
    return safe_divide(value, np.minimum(g.num_relevant, 1))


@measure(
    residual="within_run",
    bounds=INTERPOLATED,
    ceiling=1,
    checks={"recall": SHARE, "add": BELOW_1},
)
def iprec(g: Gains, *, recall: float = 0.0, add: float = 0.5) -> Floats:
    """Interpolated precision: the highest precision at a rank that reaches a level of recall, or at any rank below it.

    max of P@i over the i with hits_i ≥ ⌊recall·R + add⌋

    trec_eval's iprec_at_recall; add=0.5 as version 10, add=0.9 as version 9.

    recall  the level of recall
    add     what is added to recall · R before it is rounded down
    """
    return interpolated(g, recall, add)


SHARES = Check("numbers in [0, 1]", lambda shares: all(0 <= share <= 1 for share in np.atleast_1d(shares)))


@measure(
    residual="within_run",
    bounds=INTERPOLATED,
    ceiling=1,
    checks={"recall": SHARES, "add": BELOW_1},
)
def iprec_avg(g: Gains, *, recall: tuple[float, ...] = ELEVEN, add: float = 0.5) -> Floats:
    """Interpolated precision averaged over levels of recall, of which there are eleven by tradition.

    mean of iprec(recall=x) over the levels x

    trec_eval's 11pt_avg; Salton & McGill, Introduction to Modern Information Retrieval, 1983.

    recall  the levels of recall, as in 0:0.5:1
    add     what is added to recall · R before it is rounded down
    """
    levels = np.atleast_1d(recall).tolist()
    return sum((interpolated(g, level, add) for level in levels), start=np.zeros(len(g.gain))) / len(levels)
