"""Bounds of the Q-measure, whose every term depends on how many documents are relevant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, distinct
from gradedeval.measures.cumulated_gain import q
from gradedeval.measures.gains import Gains, row_sums

PARTS = 16
"""Into how many parts what is still open is divided at a time."""


def blended(g: Gains, *, beta: float) -> tuple[Floats, Floats]:
    """q. With gains of 0 and 1 the score is lowest where the deepest unjudged documents are relevant and highest where
    the first are; how many is tried out. With more grades the lowest is a bound: the ideal ranking has that many of
    the top gain, found documents count as judged, and those judged later what they count without these."""
    graded = len(g.levels) > 1
    if graded:
        function = q.definition.function
        high = np.minimum(function(replace(g, gain=np.where(g.unknown, g.levels[-1], g.gain)), beta=beta), 1)
    else:
        high = np.array([_most(_topic(g, row, beta, deepest=False)) for row in range(len(g.gain))])
    if np.isinf(g.unseen):
        return np.zeros(len(g.gain)), high
    low = [-_most(_topic(g, row, beta, deepest=True), -1.0) for row in range(len(g.gain))]
    return np.array(low), high


@dataclass(frozen=True, eq=False, repr=False)
class Topic:
    """One topic: the documents that are relevant or unjudged, from the first on.

    rank      documents: their ranks
    gain      documents: the gain; 0 of the unjudged
    turn      documents: how many others turn out to be relevant before this one does; below 0 where it is
    unjudged  how many are unjudged
    relevant  how many documents are relevant, with those that cannot be found
    ideal     the cumulated gain of the ideal ranking as judged: of 0, 1, … documents
    added     how many documents of the top gain stand before it even if no unjudged one is relevant
    levels    the gains above 0
    beta      how much gain counts beside the number of documents
    """

    rank: Floats
    gain: Floats
    turn: Ints
    unjudged: int
    relevant: int
    ideal: Floats
    added: int
    levels: Floats
    beta: float

    def score(self, found: Ints, supposed: Ints) -> Floats:
        """numbers: the score where so many unjudged documents are relevant to the sums of what is found, and so many
        to the ideal ranking and to R."""
        raised = (self.turn >= 0) & (self.turn < found[:, None])
        judged = self.turn < 0
        worth = 1 + self.beta * np.where(judged, self.gain, self.levels[0])
        if len(self.levels) == 1:
            counted = ((judged | raised) * worth).cumsum(1)
        else:
            counted = np.where(judged, (judged * worth).cumsum(), (raised * worth).cumsum(1))
        before = (self.added + supposed)[:, None]
        rest = np.clip(self.rank - before, 0, len(self.ideal) - 1).astype(np.int64)
        gained = self.levels[-1] * np.minimum(self.rank, before) + self.ideal[rest]
        terms = np.where(judged | raised, counted / (self.rank + self.beta * gained), 0.0)
        whole = self.relevant + supposed
        return row_sums(terms) / np.maximum(whole, 1)


def _topic(g: Gains, row: int, beta: float, *, deepest: bool) -> Topic:
    """A topic of the batch; its unjudged documents turn out to be relevant from the deepest or from the first on."""
    unknown: Bools = g.unknown[row]
    place = np.flatnonzero(unknown | g.relevant[row])
    open_ = unknown[place]
    number = int(np.count_nonzero(open_))
    turn = np.full(len(place), -1)
    turn[open_] = np.arange(number)[::-1] if deepest else np.arange(number)
    hidden = int(g.hidden[row]) if deepest else 0
    ideal = np.append(0.0, g.ideal[row].cumsum())
    relevant = int(g.num_relevant[row]) + hidden
    return Topic(g.rank[place], g.gain[row, place], turn, number, relevant, ideal, hidden, g.levels, beta)


def _most(topic: Topic, sign: float = 1.0) -> float:
    """The greatest of sign × score over 0, 1, … all unjudged documents that turn out to be relevant. Of some numbers in
    a row none is beyond the sums with the last of them over the ideal with the first, or below them the other way."""
    ends = distinct(np.linspace(0, topic.unjudged, PARTS + 1).astype(np.int64))[0]
    best = float((sign * topic.score(ends, ends)).max())
    first, last = ends[:-1], ends[1:]
    while len(first):
        limit = sign * (topic.score(last, first) if sign > 0 else topic.score(first, last))
        open_ = (limit > best) & (last - first > 1)
        first, last = first[open_], last[open_]
        middle = (first + last) // 2
        if len(middle):
            best = max(best, float((sign * topic.score(middle, middle)).max()))
        first, last = np.append(first, middle), np.append(middle, last)
    return best
