"""Bounds of nDCG."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gradedeval.arrays import Floats, shared
from gradedeval.measures.bounds.ratios import Layer, at_ranks, from_above, from_below, greatest, least, steps
from gradedeval.measures.cumulated_gain import divisor
from gradedeval.measures.gains import Gains, row_sums

LONGEST = 1 << 23
"""The longest ideal ranking that is added up rank by rank: the deepest of runs, and the documents of --unseen."""


@lru_cache(maxsize=4)
def _sums(log: float | None, length: int) -> Floats:
    """0, then the sum of the discounts down to rank 1, 2, … `length`."""
    return shared(np.append(0.0, (1 / divisor(np.arange(1.0, length + 1), log)).cumsum()))


def _ideal_sums(log: float | None, count: Floats, k: int | None) -> Floats:
    """topics × candidates: the discounts of so many first ranks, down to the cutoff, in sum; infinite where the ranks
    are more than can be added up."""
    cut = np.minimum(count, np.inf if k is None else k)
    endless = cut > LONGEST
    ranks = np.where(endless, 0, cut).astype(np.int64)
    summed = _sums(log, 1 << int(ranks.max(initial=0)).bit_length())[ranks]
    return np.where(endless, np.inf, summed)


def share_of_ideal(g: Gains, *, log: float | None = None) -> tuple[Floats, Floats]:
    """ndcg."""
    discount = at_ranks(g, 1 / divisor(g.rank, log))
    unknown = g.unknown.astype(np.float64)
    weight = unknown * discount
    lowest, count = from_below(weight), g.hidden[:, None] + from_below(unknown)
    highest, raised = from_above(weight), from_above(unknown)
    worse, better = [], []
    for step, level, relevant in steps(g):
        base = row_sums((g.gain >= level) * discount)[:, None]
        worse.append(Layer(step, base + lowest, _ideal_sums(log, relevant[:, None] + count, g.k)))
        better.append(Layer(step, base + highest, _ideal_sums(log, relevant[:, None] + raised, g.k)))
    return least(worse), greatest(better)
