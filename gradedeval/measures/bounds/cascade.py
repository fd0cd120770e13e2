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
"""In how many ways unjudged documents are graded at most to find the highest score, beyond which it is the bound of all
at the top gain; and how many numbers of ways and of stretches of ranks are worked out at a time."""
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
        ways = comb(count + len(g.levels), len(g.levels))
        if ways > MOST_WAYS:
            continue
        topics = np.flatnonzero(counts == count)
        width = max(g.gain.shape[1], g.ideal.shape[1] + count, count + 1)
        at_once = max(1, CELLS // (ways + (count + 1) * width))
        for begin in range(0, len(topics), at_once):
            some = topics[begin : begin + at_once]
            highest[some] = _best_way(g, some, count)
    return highest


@lru_cache(maxsize=64)
def _ways(count: int, levels: int) -> Ints:
    """levels × ways: how many of so many documents reach each level, in every way."""
    ways = np.zeros((1, 0), np.int64)
    for _ in range(levels):
        least = ways[:, -1] if ways.shape[1] else np.zeros(1, np.int64)
        number = count - least + 1
        first = np.repeat(np.cumsum(number) - number, number)
        rising = np.repeat(least, number) + np.arange(len(first)) - first
        ways = np.column_stack([np.repeat(ways, number, axis=0), rising])
    return shared(np.ascontiguousarray(ways[:, ::-1].T))


def _best_way(g: Gains, topics: Ints, count: int) -> Floats:
    """topics: the highest nERR of these, each with so many unjudged documents.

    A ranking is a chain of stretches, each with its unjudged documents, or the whole ideal ranking, at one level; what
    each is worth depends on where it begins and ends alone.
    """
    ways, gain, unknown = _ways(count, len(g.levels)), g.gain[topics], g.unknown[topics]
    after = np.zeros((len(topics), count + 1), np.int64)  # the rank of the last of 0, 1, … unjudged documents
    after[:, 1:] = unknown.nonzero()[1].reshape(len(topics), count) + 1
    end = np.full((len(topics), 1), gain.shape[1])
    pool = [relevant[topics] for _, _, relevant in steps(g)]
    ends = [np.minimum(relevant[:, None] + np.arange(count + 1), g.last_rank).astype(np.int64) for relevant in pool]
    starts = [*ends[1:], np.zeros_like(after)]
    found, ideal = _stretches(gain, after, end)[0][:, ways[0], 0], np.zeros((len(topics), ways.shape[1]))
    for number, level in enumerate(g.levels):
        better = ways[number + 1] if number + 1 < len(ways) else np.zeros_like(ways[0])
        place = better * (count + 1) + ways[number]
        alike = np.full((len(topics), int(ends[number].max(initial=0))), level)
        for at, parts in (
            (found, _stretches(np.where(unknown, level, gain), after, after)),
            (ideal, _stretches(alike, starts[number], ends[number])),
        ):
            worth, reached = (part.reshape(len(topics), -1)[:, place] for part in parts)
            at *= reached
            at += worth
    highest: Floats = safe_divide(found, ideal).max(1)
    return highest


def _stretches(gain: Floats, begin: Ints, end: Ints) -> tuple[Floats, Floats]:
    """topics × begins × ends, twice: what the ranks past one and down to the other add to ERR for a user who gets that
    far, and the probability of going on past them."""
    seen = np.where(np.arange(gain.shape[1]) >= begin[:, :, None], gain[:, None], 0.0)
    reached, worth = np.ones((*seen.shape[:2], seen.shape[2] + 1)), np.zeros((*seen.shape[:2], seen.shape[2] + 1))
    np.cumprod(1 - seen, axis=2, out=reached[..., 1:])
    np.cumsum(reached[..., :-1] * seen / np.arange(1.0, seen.shape[2] + 1), axis=2, out=worth[..., 1:])
    places = np.broadcast_to(end[:, None], (*seen.shape[:2], end.shape[1]))
    return np.take_along_axis(worth, places, 2), np.take_along_axis(reached, places, 2)
