"""Differences of average precision, by one threshold of relevance or several.

Σ_{i relevant} P@i is Σ_n ω_n H_n (H_n + 1) / 2, H_n: relevant documents down to rank n, ω_n = 1/n − 1/(n+1), and 1/n at
the last rank. So a difference is a sum over ranks, and at each rank it depends on how many documents are relevant that
stand above it in one run, in the other, or in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradedeval.analysis.completions.ratios import largest_ratio
from gradedeval.analysis.completions.unknown import Unknown, small_integers, within
from gradedeval.arrays import Floats, Ints

COMPLETIONS = 4096
"""Up to so many ways to judge the documents of a topic each is tried."""
CELLS = 1 << 18
"""So many ways × ranks are tried in one go."""
EXACT, STEP = 4, 2
"""From the first number on the number of relevant documents is known up to this factor."""


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """A threshold: what is judged relevant from it on.

    step    its share of the users
    first   topics × depth: how many such documents the first run has down to each rank
    second  the same of the second run
    counts  topics: how many there are; None where the sums are not divided by them
    most    no more of them count
    """

    step: float
    first: Ints
    second: Ints
    counts: Ints | None
    most: float = np.inf

    def of_topics(self, rows: Ints) -> Level:
        """That of some topics alone."""
        counts = None if self.counts is None else self.counts[rows]
        return Level(self.step, self.first[rows], self.second[rows], counts, self.most)

    def number(self, more: Ints) -> Floats:
        """topics × …: what its sums are divided by with so many more such documents."""
        return np.ones(np.shape(more)) if self.counts is None else np.minimum(self.counts[:, None] + more, self.most)


def rank_weights(depth: int) -> Floats:
    """ω_n / 2 of ranks 1 to `depth`."""
    rank = np.arange(1.0, depth + 1)
    weights: Floats = 1 / (rank * (rank + 1))
    weights[-1:] = 1 / rank[-1:]
    return weights / 2


def greatest_precision(levels: list[Level], unknown: Unknown, first: Ints, second: Ints) -> Floats:
    """topics: a difference of average precision (first − second) that none of the ways to judge the documents exceeds;
    exact where these are no more than `COMPLETIONS`.

    first   topics × depth: how many unjudged documents the first run has down to each rank
    second  the same of the second run
    """
    counts, found = unknown.counts, np.empty(len(unknown.hidden))
    few = (len(levels) + 1.0) ** np.minimum(counts, 64) <= COMPLETIONS  # powers of thousands overflow
    for count in np.flatnonzero(np.bincount(counts[few])).tolist():
        rows = np.flatnonzero(few & (counts == count))
        found[rows] = _enumerated([level.of_topics(rows) for level in levels], unknown.of_topics(rows), count)
    if not few.all():
        rows = np.flatnonzero(~few)
        some = unknown.of_topics(rows)
        found[rows] = _by_rank([level.of_topics(rows) for level in levels], Counts.of(some, first[rows], second[rows]))
    return found


def _by_rank(levels: list[Level], counts: Counts) -> Floats:
    """Rank by rank the largest difference with so many relevant documents, which another set may have at each rank."""
    total = counts.total
    edges = _edges(int(total.max(initial=0)))
    low, high = edges[:-1], edges[1:] - 1
    parts: list[Floats] = []
    least: list[Floats] = []
    most: list[Floats] = []
    for level in levels:
        cells = [counts.largest(level, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
        parts.append(np.where(low <= total[:, None], level.step * np.stack(cells, axis=1), -np.inf))
        for whole, number in ((least, low), (most, high)):
            whole.append(level.step * level.number(np.minimum(number, total[:, None])))
    return largest_ratio(np.zeros(len(total)), parts, least, most)


def _edges(most: int) -> Ints:
    """0, 1, 2, 3, 4 and then in larger steps: where each cell of numbers of documents begins, and the end of the
    last."""
    edges = [*range(min(most, EXACT) + 1)]
    while edges[-1] < most:
        edges.append(min(most, edges[-1] * STEP))
    return np.array([*edges, most + 1])


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many unjudged documents two runs have.

    total    topics: at whichever rank
    alone    topics × depth: above each rank in the first run alone
    other    the same in the second run alone
    both     in both
    neither  in neither, of all
    """

    total: Ints
    alone: Ints
    other: Ints
    both: Ints
    neither: Ints

    @classmethod
    def of(cls, unknown: Unknown, first: Ints, second: Ints) -> Counts:
        """first   topics × depth: how many the first run has down to each rank, and `second` the second"""
        total = unknown.counts + unknown.hidden
        both = within(unknown.topic, np.maximum(unknown.first, unknown.second), *first.shape)
        neither = total[:, None].astype(small_integers(int(total.max(initial=0)))) - first - second + both
        return cls(total, first - both, second - both, both, neither)

    def largest(self, level: Level, low: int, high: int) -> Floats:
        """topics: Σ_n the largest ω_n (H_n (H_n + 1) − H'_n (H'_n + 1)) / 2 where `low` to `high` documents are
        relevant.

        Those above the rank in the first run alone serve most. Those above it in both serve where the first run has
        more, and are taken as few as can be elsewhere; of those in the second alone, it is always as few as can be.
        """
        # Of tables alone, without numbers and np.where: five times as fast as what is plainer.
        none, most = np.zeros_like(self.alone), np.full_like(self.alone, min(high, self.alone.shape[1]))
        alone = np.minimum(self.alone, most)
        first = level.first + alone
        forced = low - self.neither - alone
        fewest = np.minimum(np.maximum(forced, none), self.both)
        both = fewest + (first > level.second) * (np.minimum(self.both, most - alone) - fewest)
        other = np.minimum(np.maximum(forced - both, none), self.other)
        first, second = first + both, level.second + both + other
        summed: Floats = np.multiply(first - second, first + second + 1, dtype=np.float64) @ rank_weights(
            first.shape[1]
        )
        return summed


def _enumerated(levels: list[Level], unknown: Unknown, count: int) -> Floats:
    """topics: the largest difference, by trying all. Documents at no rank that counts change the number of relevant
    ones alone, and so all of them or none.

    count  how many documents each topic has
    """
    base = len(levels) + 1
    grades = np.arange(base**count)[:, None] // base ** np.arange(count) % base  # ways × documents
    found, size = np.empty(len(unknown.hidden)), max(1, CELLS // (len(grades) * max(unknown.depth, 1)))
    for begin in range(0, len(found), size):
        rows = np.arange(begin, min(begin + size, len(found)))
        found[rows] = _tried([level.of_topics(rows) for level in levels], unknown.of_topics(rows), grades)
    return found


def _tried(levels: list[Level], unknown: Unknown, grades: Ints) -> Floats:
    """As `_enumerated`, of a few topics."""
    ranks, weights = np.arange(unknown.depth), rank_weights(unknown.depth)
    above = [
        (unknown.padded(rank, 0)[:, :, None] <= ranks).astype(np.float64) for rank in (unknown.first, unknown.second)
    ]  # topics × documents × depth
    shape = len(unknown.hidden), len(grades)
    numerator, whole, most = np.zeros((3, *shape))
    for threshold, level in enumerate(levels, 1):
        relevant = (grades >= threshold).astype(np.float64)
        first, second = level.first[:, None] + relevant @ above[0], level.second[:, None] + relevant @ above[1]
        numerator += level.step * ((first * (first + 1) - second * (second + 1)) @ weights)
        whole += level.step * level.number(relevant.sum(1) + np.zeros(shape))
        most += level.step * level.number(relevant.sum(1) + unknown.hidden[:, None])
    whole = np.where(numerator < 0, most, whole)
    largest: Floats = np.divide(numerator, whole, out=np.zeros(shape), where=whole > 0).max(1)
    return largest
