"""Precision at levels of recall, and at multiples of R."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.gains import Floats, Gains, share
from gradedeval.measures.definition import measure
from gradedeval.measures.parameters import Valid
from gradedeval.measures.standing import found, nth

ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

SHARE: Valid = ("between 0 and 1", lambda value: isinstance(value, int | float) and 0 <= value <= 1)
ADD: Valid = ("from 0 to below 1", lambda value: isinstance(value, int | float) and 0 <= value < 1)


def _is_shares(value: Any) -> bool:
    listed = value if isinstance(value, tuple) else (value,)
    return all(isinstance(one, int | float) and 0 <= one <= 1 for one in listed)


def interpolated(g: Gains, recall: float, add: float) -> Floats:
    """topics: the highest precision at any rank from the one that reaches `recall` on."""
    precision = nth(g) / found(g)
    # From the end on: the best that is still to come.
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    wanted = np.maximum(np.floor(recall * g.R + add), 1).astype(np.int64)
    reached = np.append(best, np.zeros((len(best), 1)), axis=1)
    value = reached[np.arange(len(best)), np.minimum(wanted - 1, best.shape[1])]
    return share(value, np.minimum(g.R, 1))


@measure(residual="retrieved", ceiling=1, valid={"recall": SHARE, "add": ADD})
def iprec(g: Gains, *, recall: float = 0.0, add: float = 0.5) -> Floats:
    """Interpolated precision: the highest precision at a rank that reaches a level of recall, or at any rank below it.

    max of P@i over the i with hits_i ≥ ⌊recall·R + add⌋

    trec_eval's iprec_at_recall; add=0.5 as version 10, add=0.9 as version 9.
    """
    return interpolated(g, recall, add)


@measure(residual="retrieved", ceiling=1, valid={"recall": ("numbers between 0 and 1", _is_shares), "add": ADD})
def iprec_avg(g: Gains, *, recall: tuple[float, ...] = ELEVEN, add: float = 0.5) -> Floats:
    """Interpolated precision averaged over levels of recall, of which there are eleven by tradition.

    mean of iprec(recall=x) over the levels x

    trec_eval's 11pt_avg; Salton & McGill, Introduction to Modern Information Retrieval, 1983.
    """
    levels = recall if isinstance(recall, tuple) else (recall,)
    summed = np.zeros(len(g.gain))
    for level in levels:
        summed = summed + interpolated(g, level, add)
    return summed / len(levels)


@measure(cutoff="none", ceiling=1, valid={"times": ("above 0", lambda times: times > 0)})
def rprec_mult(g: Gains, *, times: float = 1.0) -> Floats:
    """Precision at a multiple of R.

    P@k with k = ⌊times·R + 0.9⌋

    trec_eval's Rprec_mult.
    """
    depth = np.floor(times * g.R + 0.9).astype(np.int64)
    depth = np.where(g.R > 0, depth, 0)
    return share(np.count_nonzero(found(g) <= depth[:, None], axis=1), depth)
