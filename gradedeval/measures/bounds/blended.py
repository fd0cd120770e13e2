"""Bounds of the Q-measure, whose every term depends on how many documents are relevant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.measures.cumulated_gain import q
from gradedeval.measures.gains import Gains

ANCHORS = 8
"""For how many numbers of relevant documents the score is worked out at a time."""


def blended(g: Gains, *, beta: float) -> tuple[Floats, Floats]:
    """q. With gains of 0 and 1 the score is lowest where the deepest unjudged documents are relevant and highest where
    the first are; how many is tried out. With more grades the lowest is a bound: the ideal ranking has that many of
    the top gain, found documents count as judged, and those judged later what they count without these."""
    if len(g.levels) > 1:
        best = replace(g, gain=np.where(g.unknown, g.levels[-1], g.gain))
        high = np.minimum(q.definition.function(best, beta=beta), 1)
    else:
        high = np.array([-_least(_topic(g, row, beta, deepest=False)) for row in range(len(g.gain))])
    if np.isinf(g.unseen):
        return np.zeros(len(g.gain)), high
    return np.array([_least(_topic(g, row, beta, deepest=True)) for row in range(len(g.gain))]), high


@dataclass(frozen=True, eq=False, repr=False)
class Topic:
    """One topic: its documents that are relevant or unjudged, in the order in which those judged later are relevant:
    from the first on where the highest score is looked for, from the deepest on for the lowest.

    rank      documents: their ranks
    open      documents: whether they are unjudged
    counted   documents: what stands above the relevant ones, themselves included, in documents and gain
    above     the same of the unjudged ones, themselves included
    worth     what a document judged later counts in it
    deepest   whether the order is that from the deepest on
    blind     whether documents judged later change only their own terms
    relevant  how many documents are relevant, with those that cannot be found
    hidden    how many these are
    ideal     the cumulated gain of the ideal ranking as judged: of 0, 1, … documents
    top       the top gain
    beta      how much gain counts beside the number of documents
    """

    rank: Floats
    open: Bools
    counted: Floats
    above: Floats
    worth: float
    deepest: bool
    blind: bool
    relevant: int
    hidden: int
    ideal: Floats
    top: float
    beta: float

    def shares(self, supposed: Ints) -> Floats:
        """numbers × documents: what a term is divided by, inverted, where so many more documents of the top gain are
        in the ideal ranking: a convex function of that number."""
        first = (self.hidden + supposed)[:, None]
        rest = np.clip(self.rank - first, 0, len(self.ideal) - 1).astype(np.int64)
        inverted: Floats = 1 / (self.rank + self.beta * (self.top * np.minimum(self.rank, first) + self.ideal[rest]))
        return inverted

    def sums(self, share: Floats) -> Floats:
        """numbers × (unjudged + 1): the sum of the terms where 0, 1, … documents judged later are relevant."""
        judged, later = np.where(self.open, 0.0, share), share[:, self.open]
        steps = later * self.above
        if not self.blind:
            deeper = judged.cumsum(1) if self.deepest else judged.sum(1, keepdims=True) - judged.cumsum(1)
            steps = steps + self.worth * deeper[:, self.open]
        if self.deepest:
            steps += self.worth * (later.cumsum(1) - later)
        summed = np.empty((len(share), later.shape[1] + 1))
        summed[:, 0] = (judged * self.counted).cumsum(1)[:, -1] if share.shape[1] else 0.0
        np.cumsum(steps, axis=1, out=summed[:, 1:])
        summed[:, 1:] += summed[:, :1]
        return summed


def _topic(g: Gains, row: int, beta: float, *, deepest: bool) -> Topic:
    """A topic of the batch."""
    place = np.flatnonzero(g.unknown[row] | g.relevant[row])
    unjudged, gain = g.unknown[row, place], g.gain[row, place]
    blind, worth = len(g.levels) > 1, 1 + beta * float(g.levels[0])
    counted = (~unjudged * (1 + beta * gain)).cumsum()
    above = worth + np.zeros(len(place)) if blind else counted + worth
    if not deepest:
        above = above + worth * (unjudged.cumsum() - unjudged)
    order = slice(None, None, -1 if deepest else 1)
    hidden = int(g.hidden[row]) if deepest else 0
    return Topic(
        g.rank[place][order],
        unjudged[order],
        counted[order],
        above[unjudged][order],
        worth,
        deepest,
        blind,
        int(g.num_relevant[row]) + hidden,
        hidden,
        np.append(0.0, g.ideal[row].cumsum()),
        float(g.levels[-1]),
        beta,
    )


def _least(topic: Topic) -> float:
    """The lowest score, or where that is looked for the highest, negative, over 0, 1, … all unjudged documents that
    turn out to be relevant.

    Between two numbers a term is no more than on the chord of its share, and no less than on its tangent: what may
    still be better than the best so far is worked out, until nothing is.
    """
    every = np.arange(np.count_nonzero(topic.open) + 1)
    whole, best, candidates = np.maximum(topic.relevant + every, 1), np.inf, every
    while len(candidates):
        picked = np.linspace(0, len(candidates) - 1, min(ANCHORS, len(candidates))).astype(np.int64)
        anchors = candidates[picked]
        sums, number = topic.sums(topic.shares(anchors)), np.arange(len(anchors))
        exact = sums[number, anchors] / whole[anchors]
        best = min(best, float(exact.min() if topic.deepest else -exact.max()))
        candidates = np.delete(candidates, picked)
        at = np.searchsorted(anchors, candidates) - 1
        begin = sums[at, candidates]
        if topic.deepest:
            slope = topic.sums(topic.shares(anchors + 1))[at, candidates] - begin
            limit = (begin + (candidates - anchors[at]) * slope) / whole[candidates]
        else:
            share = (candidates - anchors[at]) / (anchors[np.minimum(at + 1, len(anchors) - 1)] - anchors[at])
            limit = -(begin + share * (sums[np.minimum(at + 1, len(anchors) - 1), candidates] - begin))
            limit = limit / whole[candidates]
        candidates = candidates[limit < best]
    return best
