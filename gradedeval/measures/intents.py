"""A batch by intent, for topics that mean several things, and the relevant documents of a topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.measures.gains import Gains, row_sums, safe_divide

_SAME = 1e-12
"""Relative differences below this are rounding: the same sum in two orders."""
_NONE = np.iinfo(np.int64).max
"""The position of a missing document."""


@dataclass(frozen=True, eq=False, repr=False)
class Pool:
    """The relevant documents of one topic, in descending order of docno; `gain` is documents × intents."""

    gain: Floats
    _known: dict[tuple[float, bytes], Floats] = field(default_factory=dict, init=False, repr=False)

    def greedy(self, rate: float, weight: Floats, depth: int) -> Floats:
        """ranks: the gain that each document adds where the next always adds most, ties by docno descending.

        rate    by how much a document of gain 1 reduces the gain of further ones for the same intent
        weight  intents: their weights

        Clarke et al., SIGIR 2008, section 4.3: the best order is NP-hard to find. The tie rule is ndeval's.
        """
        key = (rate, weight.tobytes())
        depth = min(depth, len(self.gain))
        if key not in self._known or len(self._known[key]) < depth:
            self._known[key] = self._greedy(rate, weight, depth)
        return self._known[key][:depth]

    def _greedy(self, rate: float, weight: Floats, depth: int) -> Floats:
        # Identical documents are taken in order: only the first of each kind needs to be considered.
        kinds, kind = np.unique(self.gain, axis=0, return_inverse=True)
        waiting = [np.flatnonzero(kind.ravel() == i).tolist()[::-1] for i in range(len(kinds))]
        first = np.array([positions.pop() for positions in waiting])
        left = np.array(weight)
        added = np.zeros(depth)
        for rank in range(depth):
            worth = row_sums(kinds * left)
            worth[first == _NONE] = -1
            added[rank] = worth.max()
            tied = np.flatnonzero(worth >= added[rank] * (1 - _SAME))
            best = tied[first[tied].argmin()]
            first[best] = waiting[best].pop() if waiting[best] else _NONE
            left *= 1 - rate * kinds[best]
        return added


@dataclass(frozen=True, eq=False, repr=False)
class Intents:
    """A batch of topics by intent: what a measure for ambiguous topics is a function of.

    each    the batch as judged for the first, second, … intent of each topic
    weight  intents × topics: the weight of an intent: 1 if it has a relevant document and 0 if not, or its probability
    listed  intents × topics: whether the topic has that many intents
    pool    row of a topic -> its relevant documents
    best    whether this is the best case, where what is not judged has the top gain
    open    intents × topics: whether the intent would enter a uniform distribution by its first relevant document
    """

    each: Sequence[Gains]
    weight: Floats
    listed: Bools
    pool: Callable[[int], Pool]
    best: bool
    open: Bools

    def marginal(self, scores: Sequence[Floats]) -> Floats:
        """topics: the mean of the intents' scores (intents × topics) by their weights; 0 where all are 0.

        In the best case the mean is the largest that any set of further intents makes of it.
        """
        summed, count = self.weighted(scores), row_sums(self.weight.T)
        best = safe_divide(summed, count)
        if not (self.best and self.open.any()):
            return best
        for score in np.sort(np.where(self.open, np.array(scores), -np.inf), axis=0)[::-1]:
            count = count + 1
            summed = summed + score
            best = np.maximum(best, summed / count)
        return best

    def share_left(self, may_open: Bools) -> Floats:
        """topics: what share of the weight the intents keep where all `open` ones enter, in the topics where they
        may."""
        weight = row_sums(self.weight.T)
        return safe_divide(weight, weight + row_sums((self.open & may_open).T))

    def weighted(self, scores: Sequence[Floats]) -> Floats:
        """topics: the sum of the intents' scores by their weights."""
        return _sum(self.weight * np.array(scores), self.weight > 0)

    def total(self, scores: Sequence[Floats]) -> Floats:
        """topics: the sum of the intents' scores, those of intents that the topic has."""
        return _sum(np.array(scores), self.listed)

    def ideal(self, rate: float, depth: int | None, weight: Floats | None = None) -> Floats:
        """topics × ranks: the greedy ideal ranking's novelty, see `Pool.greedy`; zeros after its last document.

        weight  intents × topics; 1 unless given
        """
        pools = [self.pool(topic) for topic in range(self.weight.shape[1])]
        sizes = [len(pool.gain) if depth is None else min(depth, len(pool.gain)) for pool in pools]
        added = np.zeros((len(pools), max(sizes, default=0)))
        for topic, (pool, size) in enumerate(zip(pools, sizes, strict=True)):
            weights = np.ones(pool.gain.shape[1]) if weight is None else weight[: pool.gain.shape[1], topic]
            added[topic, :size] = pool.greedy(rate, weights, size)
        return added


def _sum(scores: Floats, counted: Bools) -> Floats:
    """topics: the sum of intents × topics, added up one by one. A score that does not count may be infinite."""
    return row_sums(np.where(counted, scores, 0.0).T)
