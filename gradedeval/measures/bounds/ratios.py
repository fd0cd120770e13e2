"""Scores that are ratios, gains found over gains to be found: the least and the greatest over all judgments.

Gains count in layers: a gain is the sum of the steps up to it, and a score is Σ_j step_j found_j / Σ_j step_j ideal_j,
where layer j sees only whether a gain reaches its level. The score as a function of the gain of one document has its
minimum at gain 0 or the top gain, and of documents at the top gain those further down lift it least. So in the least
score the deepest unjudged documents have the top gain and the others none: only how many is open. In the greatest the
first so many reach each level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.measures.gains import Gains, safe_divide

MOST_ROUNDS = 100
"""Of Dinkelbach's iteration, which needs two to four."""


def at_ranks(g: Gains, weight: Floats) -> Floats:
    """topics × ranks, or ranks alone without ties: what a document weighs at each rank (`weight`); over ties the mean
    of their ranks, where those below the cutoff weigh nothing."""
    if g.first is None:
        return weight
    from gradedeval.measures.tied import mean_gains  # few evaluations average over ties

    return mean_gains(np.broadcast_to(np.where(g.rank <= g.last_rank, weight, 0.0), g.first.shape), g.first)


class Layer(NamedTuple):
    """What one step of gain sees.

    step  by how much the gain rises
    found  topics × candidates: what it adds to the numerator where so many of the unjudged documents reach its level
    ideal  the same: what it adds to the denominator
    """

    step: float
    found: Floats
    ideal: Floats | Ints


def steps(g: Gains) -> list[tuple[float, float, Ints]]:
    """For each level of gain, from the lowest: the step up to it, the level, and topics: R_j, how many documents of the
    pool reach it."""
    rises = np.diff(g.levels, prepend=0.0).tolist()
    counts = [np.count_nonzero(g.ideal >= level, axis=1) for level in g.levels]
    return list(zip(rises, g.levels.tolist(), counts, strict=True))


def from_below(values: Floats) -> Floats:
    """topics × (ranks + 1): the sum of the values from each rank on; 0 last."""
    summed = np.zeros((len(values), values.shape[1] + 1), values.dtype)
    values[:, ::-1].cumsum(1, out=summed[:, -2::-1])
    return summed


def from_above(values: Floats) -> Floats:
    """topics × (ranks + 1): 0, then the sum of the values down to each rank."""
    summed = np.zeros((len(values), values.shape[1] + 1), values.dtype)
    values.cumsum(1, out=summed[:, 1:])
    return summed


def ratio(layers: Sequence[Layer]) -> Floats:
    """topics × candidates: the score where all layers have the same candidate."""
    found = sum(layer.step * layer.found for layer in layers)
    ideal = sum(layer.step * layer.ideal for layer in layers)
    return safe_divide(np.asarray(found), np.asarray(ideal))


def least(layers: Sequence[Layer]) -> Floats:
    """topics: the lowest ratio of any candidate."""
    lowest: Floats = ratio(layers).min(1)
    return lowest


def greatest(layers: Sequence[Layer]) -> Floats:
    """topics: the highest ratio, where each layer has a candidate of its own.

    At the greatest ratio λ the sum over layers of max(found − λ ideal) is 0, and each layer is solved alone.
    Dinkelbach, Management Science 1967.
    """
    if len(layers) == 1:
        highest: Floats = ratio(layers).max(1)
        return highest
    best: Floats = ratio(layers).max(1)
    for _ in range(MOST_ROUNDS):
        found, ideal = np.zeros((2, len(best)))
        for layer in layers:
            chosen = (layer.found - best[:, None] * layer.ideal).argmax(1)[:, None]
            found += layer.step * np.take_along_axis(layer.found, chosen, 1)[:, 0]
            ideal += layer.step * np.take_along_axis(np.asarray(layer.ideal, np.float64), chosen, 1)[:, 0]
        better = safe_divide(found, ideal)
        rises = better > best
        if not rises.any():
            break
        best = np.where(rises, better, best)
    return best
