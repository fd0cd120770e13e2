"""Wilcoxon's signed ranks of many pairs of runs at once: p values, and the interval of the pseudo-median."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from gradedeval.arrays import Bools, Floats

COUNTED, LISTED = 50, 13
"""All signs of the ranks are counted of up to 50 topics without zeros and ties, and of up to 13 with them; p is that of
a normal distribution elsewhere. So does scipy from 1.15."""
CLOSE = 1e-9
"""Sizes that differ by no more than this share of the largest are tied."""


def signed_rank_p(differences: Floats) -> Floats:
    """Two-sided p of Wilcoxon's signed-rank test of each pair; zeros are dropped. 1 where no topic differs.

    differences  pairs × topics
    """
    rank, above, tied = _ranks(differences)
    count, topics = (rank > 0).sum(1), differences.shape[1]
    plus, mean = (rank * above).sum(1), count * (count + 1) / 4
    variance = count * (count + 1) * (2 * count + 1) / 24 - (tied**2 - 1).sum(1) / 48
    distance = np.abs(plus - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(distance > 0, distance / np.sqrt(variance), 0)
    p = np.array([math.erfc(distant / math.sqrt(2)) for distant in z.tolist()])
    plain = (count == topics) & (tied == 1).all(1)
    for row in np.flatnonzero((topics <= LISTED) | (plain & (topics <= COUNTED))).tolist():
        doubled = np.rint(2 * rank[row]).astype(int)
        tail = _tail(tuple(doubled[doubled > 0].tolist()))
        p[row] = min(1.0, 2 * tail[round(2 * min(plus[row], 2 * mean[row] - plus[row]))])
    return p


def _ranks(differences: Floats) -> tuple[Floats, Bools, Floats]:
    """Of the differences of each pair in the order of their sizes: the rank, 0 of a zero and the mean of those that are
    tied, whether the difference is above 0, and how many are tied with it."""
    pairs, topics = differences.shape
    ordered = np.take_along_axis(differences, np.argsort(np.abs(differences), axis=1), 1)
    sizes = np.abs(ordered)
    apart = np.diff(sizes, axis=1, prepend=0) > CLOSE * sizes[:, -1:]  # the first of those that are tied
    place, after = np.arange(topics), np.hstack([apart[:, 1:], np.ones((pairs, 1), dtype=bool)])
    first = np.maximum.accumulate(np.where(apart, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(after, place, topics)[:, ::-1], axis=1)[:, ::-1]
    counted = np.logical_or.accumulate(apart, axis=1)
    zeros = topics - counted.sum(1, keepdims=True)
    rank = np.where(counted, (first + last) / 2 + 1 - zeros, 0)
    return rank, ordered > 0, np.where(counted, last - first + 1.0, 1)


@lru_cache(maxsize=1 << 13)
def _tail(doubled: tuple[int, ...]) -> Floats:
    """The probability that the ranks above 0 sum to s / 2 or less, by s from 0, where each sign is as likely.

    doubled  the ranks, times 2
    """
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    tail: Floats = ways.cumsum() / 2.0 ** len(doubled)
    return tail


def signed_rank_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    """The interval of each pair's pseudo-median, the median of the means of two topics: from the lowest to the highest
    difference that `signed_rank_p` does not reject, but for single values at which differences tie or are dropped.

    differences  pairs × topics

    The ends are such means, or infinite. Where topics that differ alike leave none they are the pseudo-median.
    """
    low, high = np.empty((2, len(differences)))
    for row, own in enumerate(np.sort(differences, axis=1)):
        means = np.concatenate([own[at:] + own[at] for at in range(len(own))]) / 2
        least, most = _kept(own, means, alpha)
        low[row] = np.partition(means, least - 1)[least - 1] if least > 0 else -np.inf
        high[row] = np.partition(means, most)[most] if most < len(means) else np.inf
    return low, high


def _kept(own: Floats, means: Floats, alpha: float) -> tuple[int, int]:
    """The least and the greatest number of the means of two topics that lie below a difference that is not rejected."""
    topics, count = len(own), len(means)
    alike = np.diff(np.flatnonzero(np.diff(own, prepend=-np.inf, append=np.inf) > CLOSE * np.abs(own).max()))
    plain = bool((alike == 1).all())
    if topics <= LISTED and not plain:
        return _tried(own, means, alpha)
    if plain and topics <= COUNTED:
        least = int(np.argmax(2 * _tail(tuple(range(2, 2 * topics + 1, 2)))[::2] > alpha))
    else:
        variance = topics * (topics + 1) * (2 * topics + 1) / 24 - (alike**3.0 - alike).sum() / 48
        least = max(0, math.floor(count / 2 + NormalDist().inv_cdf(alpha / 2) * math.sqrt(variance)) + 1)
    return least, count - least


def _tried(own: Floats, means: Floats, alpha: float) -> tuple[int, int]:
    """As `_kept`, by the p of a value between each two means."""
    ordered = np.sort(means)
    edges = np.hstack([ordered[0] - 1, ordered, ordered[-1] + 1])
    wide = np.diff(edges) > 2 * CLOSE * np.abs(edges).max()
    tried = (edges[1:] + edges[:-1]) / 2
    kept = np.flatnonzero(wide & (signed_rank_p(own - tried[:, None]) > alpha))
    middle = len(means) // 2
    return (int(kept[0]), int(kept[-1])) if len(kept) else (middle + 1, middle)
