"""A batch by intent: what each reading of an ambiguous topic makes of the same rankings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.errors import Fault
from gradedeval.gains import Bools, Floats, Gains, share, total

if TYPE_CHECKING:
    from gradedeval.notation import Value

UNIFORM = "uniform"
PRIOR = f"{UNIFORM} or a file as in @prior.txt"

_SAME = 1e-12
"""Novelties that differ by less, relatively, are one number added up in two orders."""
_NONE = np.iinfo(np.int64).max
"""The position of a document that is not there."""


def is_prior(value: Value) -> bool:
    """Whether `value` says how intents are weighed: `uniform`, or a file as in `@prior.txt`.

    Raises Fault (usage) where there is no such file.
    """
    if not isinstance(value, str) or value[:1] != "@":
        return value == UNIFORM
    if not os.path.isfile(value[1:]):
        cure = "prior=@FILE reads lines of topic, subtopic and probability"
        raise Fault(f"prior={value}", f"no file '{value[1:]}'", cure, usage=True)
    return True


@dataclass(frozen=True, eq=False)
class Pool:
    """The relevant documents of one topic, by docno in descending order: documents × intents, what each is worth."""

    gain: Floats
    _known: dict[tuple[float, bytes], Floats] = field(default_factory=dict, init=False, repr=False)

    def greedy(self, rate: float, weight: Floats, depth: int) -> Floats:
        """ranks: what each document adds when the next is always the one that adds most, ties by docno descending.

        rate    by how much a document of gain 1 lowers what further ones are worth to the same intent
        weight  intents: what each counts

        Clarke et al., SIGIR 2008, section 4.3: the best order is too hard to find. The tie rule is ndeval's.
        """
        key = (rate, weight.tobytes())
        depth = min(depth, len(self.gain))
        if key not in self._known or len(self._known[key]) < depth:
            self._known[key] = self._walked(rate, weight, depth)
        return self._known[key][:depth]

    def _walked(self, rate: float, weight: Floats, depth: int) -> Floats:
        # Documents that are alike are taken in their order: only the first of each kind need be looked at.
        kinds, kind = np.unique(self.gain, axis=0, return_inverse=True)
        waiting = [np.flatnonzero(kind.ravel() == one).tolist()[::-1] for one in range(len(kinds))]
        first = np.array([positions.pop() for positions in waiting])
        left = np.array(weight)
        added = np.zeros(depth)
        for rank in range(depth):
            worth = total(kinds * left)
            worth[first == _NONE] = -1
            added[rank] = worth.max()
            tied = np.flatnonzero(worth >= added[rank] * (1 - _SAME))
            best = tied[first[tied].argmin()]
            first[best] = waiting[best].pop() if waiting[best] else _NONE
            left *= 1 - rate * kinds[best]
        return added


@dataclass(frozen=True, eq=False)
class Intents:
    """A batch of topics by intent: what a measure for ambiguous topics is a function of.

    each    the batch as somebody with the first, second, … intent of each topic sees it
    weight  intents × topics: what an intent counts: 1 if it has a relevant document and 0 if not, or its probability
    listed  intents × topics: whether the topic has so many intents
    pool    the relevant documents of a topic, by its row
    best    whether this is the best case, where what is not judged has the top gain
    open    intents × topics: in the best case, whether the intent would enter a uniform distribution by its first
            relevant document
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
        summed, count = self.weighted(scores), total(self.weight.T)
        best = share(summed, count)
        if not self.open.any():
            return best
        for score in np.sort(np.where(self.open, np.array(scores), -np.inf), axis=0)[::-1]:
            count = count + 1
            summed = summed + score
            best = np.maximum(best, summed / count)
        return best

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
            own = np.ones(pool.gain.shape[1]) if weight is None else weight[: pool.gain.shape[1], topic]
            added[topic, :size] = pool.greedy(rate, own, size)
        return added


def _sum(scores: Floats, counted: Bools) -> Floats:
    """topics: the sum of intents × topics, added up one by one. A score that does not count may be infinite."""
    return total(np.where(counted, scores, 0.0).T)
