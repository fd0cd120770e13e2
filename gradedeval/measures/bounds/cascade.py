"""Bounds of nERR."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import comb

import numpy as np

from gradedeval.arrays import Floats, Ints, distinct, shared
from gradedeval.measures.bounds.ratios import from_below, steps
from gradedeval.measures.cascade_models import expected_utility
from gradedeval.measures.gains import Gains, row_sums, safe_divide

MOST_WAYS, CELLS = 20_000, 400_000
"""In how many ways unjudged documents are graded at most to find the highest score, and in how many cells of ways ×
ranks; beyond that it is the bound of all at the top gain."""
NEGLIGIBLE = 1e-18
"""A chance of going on that changes no digit of a score."""


def share_of_ideal(g: Gains) -> tuple[Floats, Floats]:
    """nerr."""
    return _least(g), _greatest(g)


def _least(g: Gains) -> Floats:
    """topics: as of the ratios of `ratios`, the deepest unjudged documents are at the top gain."""
    top = g.levels[-1]
    found = _raised_from_below(g, top)
    count = g.hidden[:, None] + from_below(g.unknown.astype(np.float64))
    endless = replace(g, gain=g.gain[:, :0], retrieved=np.zeros_like(g.retrieved), tail=float(top))
    if np.isinf(g.unseen):
        return np.asarray(safe_divide(found, expected_utility(endless)[:, None]).min(1))
    # So many documents of the top gain, and nobody goes on past them.
    enough = np.log(NEGLIGIBLE) / np.log1p(-top) if top < 1 else 1.0
    last = int(min(np.ceil(enough), count.max(initial=0), g.last_rank))
    ideal = _ideals(g, top, last)
    lowest: Floats = safe_divide(found, np.take_along_axis(ideal, np.minimum(count, last).astype(np.int64), 1)).min(1)
    return lowest


def _raised_from_below(g: Gains, top: float) -> Floats:
    """topics × (ranks + 1): ERR where the unjudged documents from each rank on have the top gain; last as judged."""
    gain, best, width = g.gain, np.where(g.unknown, top, g.gain), g.gain.shape[1]
    by_rank = np.ascontiguousarray(best.T)
    value = np.zeros((width + 1, len(gain)))  # for a user who reaches the rank
    for column in range(width - 1, -1, -1):
        value[column] = by_rank[column] / (column + 1) + (1 - by_rank[column]) * value[column + 1]
    reached = np.ones((len(gain), width + 1))
    np.cumprod(1 - gain, axis=1, out=reached[:, 1:])
    before = np.zeros((len(gain), width + 1))
    (reached[:, :-1] * gain / g.rank).cumsum(1, out=before[:, 1:])
    return np.asarray(before + reached * value.T)


def _ideals(g: Gains, top: float, most: int) -> Floats:
    """topics × (most + 1): ERR of the ideal ranking with 0, 1, … `most` more documents of the top gain before it."""
    ideal = g.ideal[:, : g.k]
    stops = ideal.copy()
    stops[:, 1:] *= np.cumprod(1 - ideal, axis=1)[:, :-1]
    rank = np.arange(1.0, ideal.shape[1] + 1)
    utility = np.empty((len(ideal), most + 1))
    more = 0.0
    for count in range(most + 1):
        kept = ideal.shape[1] if g.k is None else max(g.k - count, 0)
        utility[:, count] = more + (1 - top) ** count * row_sums((stops / (rank + count))[:, :kept])
        more += top * (1 - top) ** count / (count + 1)
    return utility


def _greatest(g: Gains) -> Floats:
    """topics: for each number of documents of each gain the best place is at the first unjudged ranks, the better ones
    first; all numbers are tried, or where these are too many it is the score of all at the top gain."""
    top = g.levels[-1]
    best = replace(g, gain=np.where(g.unknown, top, g.gain))
    highest = np.minimum(safe_divide(expected_utility(best), expected_utility(g.ideal_batch)), 1)
    counts = np.count_nonzero(g.unknown, axis=1)
    for count in distinct(counts)[0].tolist():
        topics = np.flatnonzero(counts == count)
        width = g.gain.shape[1] + g.ideal.shape[1] + count
        ways = comb(count + len(g.levels), len(g.levels))
        if ways > MOST_WAYS or ways * width > CELLS:
            continue
        at_once = max(1, CELLS // (ways * width))
        for begin in range(0, len(topics), at_once):
            some = topics[begin : begin + at_once]
            highest[some] = _best_way(g, some, count)
    return highest


@lru_cache(maxsize=64)
def _ways(count: int, levels: int) -> Ints:
    """ways × levels: how many of so many documents reach each level, in every way."""
    ways = np.zeros((1, 0), np.int64)
    for _ in range(levels):
        least = ways[:, -1] if ways.shape[1] else np.zeros(1, np.int64)
        number = count - least + 1
        first = np.repeat(np.cumsum(number) - number, number)
        rising = np.repeat(least, number) + np.arange(len(first)) - first
        ways = np.column_stack([np.repeat(ways, number, axis=0), rising])
    return shared(np.ascontiguousarray(ways[:, ::-1]))


def _best_way(g: Gains, topics: Ints, count: int) -> Floats:
    """topics: the highest nERR of these, each with so many unjudged documents."""
    ways = _ways(count, len(g.levels))
    worth = np.append(0.0, g.levels)
    gain = np.repeat(g.gain[topics][:, None], len(ways), axis=1)
    place = g.unknown[topics].nonzero()[1].reshape(len(topics), count)
    reached = (np.arange(count) < ways[:, :, None]).sum(1)  # ways × documents: how many levels
    np.put_along_axis(gain, np.repeat(place[:, None], len(ways), axis=1), worth[reached][None], 2)
    relevant = np.stack([in_pool[topics] for _, _, in_pool in steps(g)], axis=1)[:, None] + ways
    width = int(min(relevant[:, :, 0].max(initial=0), g.last_rank))
    ideal = worth[(np.arange(width) < relevant[..., None]).sum(2)]
    lowest: Floats = safe_divide(_err(gain), _err(ideal)).max(1)
    return lowest


def _err(gain: Floats) -> Floats:
    """topics × ways: ERR of the gains, topics × ways × ranks."""
    flat = gain.reshape(gain.shape[0] * gain.shape[1], gain.shape[2])
    stops = flat.copy()
    stops[:, 1:] *= np.cumprod(1 - flat, axis=1)[:, :-1]
    return row_sums(stops / np.arange(1.0, flat.shape[1] + 1)).reshape(gain.shape[:2])
