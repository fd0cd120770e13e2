"""Bounds of scores that follow from how many relevant documents are found, and how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.applied import run_measure
from gradedeval.measures.bounds.ratios import at_ranks
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains, row_sums
from gradedeval.measures.tied import mean_gains


def fewest_and_most(measure: Measure, g: Gains, best: Callable[[], Gains]) -> tuple[Floats, Floats]:
    """recall and its like: the scores where all is relevant that cannot be found, and nothing of what is found; and
    where all is that can be.

    best  the gains where every unjudged document has the top gain
    """
    if g.first is not None:
        return fewest(measure, g), _over_ties(measure, g, best=True)
    return fewest(measure, g), run_measure(measure, replace(best(), further=row_sums(g.unknown)))


def fewest(measure: Measure, g: Gains) -> Floats:
    """topics: the lowest score."""
    low = (
        _over_ties(measure, g, best=False)
        if g.first is not None
        else run_measure(measure, replace(g, further=g.hidden))
    )
    return np.where(np.isnan(low), 0.0, low)  # an empty run misses infinitely many: 0 times infinity


def _over_ties(measure: Measure, g: Gains, *, best: bool) -> Floats:
    """topics: the lowest or the highest mean over the orders of tied documents, which are given one by one. A document
    tied across the cutoff is found in a share of the orders: how many of these are relevant is tried out."""
    assert g.first is not None
    share = at_ranks(g, np.ones_like(g.rank))
    across = g.unknown & (share > 0) & (share < 1)
    certain = g.unknown & (share == 1) if best else g.unknown & (share == 0)
    found = mean_gains(g.gain + certain if best else g.gain, g.first)
    more, number = mean_gains(across.astype(np.float64), g.first), np.count_nonzero(across, axis=1)
    each = more / np.maximum(number, 1)[:, None]
    further = row_sums(certain) + (0.0 if best else g.hidden)
    scores = []
    for most in range(int(number.max(initial=0)) + 1):
        count = np.minimum(most, number)
        cut = replace(
            g,
            gain=(found + count[:, None] * each)[:, : g.k],
            retrieved=g.retrieved if g.k is None else np.minimum(g.retrieved, g.k),
            further=further + count,
        )
        scores.append(run_measure(measure, cut))
    ends: Floats = np.max(scores, axis=0) if best else np.min(scores, axis=0)
    return ends
