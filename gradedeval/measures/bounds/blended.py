"""Bounds of the Q-measure, whose every term depends on how many documents are relevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from gradedeval.arrays import Floats, Ints
from gradedeval.measures.bounds.ratios import from_above, from_below
from gradedeval.measures.cumulated_gain import q
from gradedeval.measures.gains import Gains, row_sums


def blended(g: Gains, *, beta: float, norm: str | None) -> tuple[Floats, Floats]:
    """q. With gains of 0 and 1 the score is lowest where the deepest unjudged documents are relevant and highest where
    the first are; how many is tried out. With more grades the lowest is a bound: the ideal ranking has that many of
    the top gain, while their own terms, and what they add to others, are those of the lowest gain; and so is the
    highest, as nothing is above score + residual, and no term above what it can come to."""
    if len(g.levels) > 1:
        best = replace(g, gain=np.where(g.unknown, g.levels[-1], g.gain))
        high = np.minimum(q.definition.function(best, beta=beta, norm=norm), _capped(g, beta, norm))
    else:
        high = _greatest(g, beta, norm)
    return _least(g, beta, norm), high


def _counted(g: Gains, number: Floats | Ints, norm: str | None) -> Floats | Ints:
    """topics × candidates: what the sum of terms is divided by with so many relevant documents beside those of the
    pool: no more than the cutoff with norm=k, and where all is 0, 1."""
    whole = g.num_relevant[:, None] + number
    return np.maximum(whole if norm is None else np.minimum(whole, g.last_rank), 1)


def _capped(g: Gains, beta: float, norm: str | None) -> Floats:
    """topics: the highest mean of the most that terms can come to, over so many unjudged documents and those found.

    The ideal ranking gains no less than the ranking itself down to any rank, and that at most C times the top gain t:
    (C + β cg) / (i + β cg*) ≤ C (1 + β t) / (i + β t C), which rises with C.
    """
    most, worth = (g.relevant | g.unknown).cumsum(1), beta * float(g.levels[-1])
    term = most * (1 + worth) / (g.rank + worth * most)
    added = from_above(-np.sort(-term * g.unknown, axis=1))
    number = np.minimum(np.arange(added.shape[1]), np.count_nonzero(g.unknown, axis=1)[:, None])
    highest: Floats = ((row_sums(term * g.relevant)[:, None] + added) / _counted(g, number, norm)).max(1)
    return highest


class Shares:
    """What each term is divided by, inverted, as a function of how many documents of the top gain the ideal ranking has
    beside those judged: a convex one, because every further document adds less to the ideal's cumulated gain."""

    def __init__(self, g: Gains, beta: float) -> None:
        width, self.top, self.beta, self.rank = g.gain.shape[1], float(g.levels[-1]), beta, g.rank
        ideal = g.ideal_at_ranks()
        # Ranks from −width to width, counted from the last of those documents.
        judged, pushed_out = np.zeros((2, len(ideal), 2 * width + 1))
        ideal.cumsum(1, out=judged[:, width + 1 :])
        pushed_out[:, width + 1 :] = self.top - ideal
        self.judged, self.pushed_out = (sliding_window_view(each, width, axis=1) for each in (judged, pushed_out))

    def at(self, topics: Ints, number: Floats) -> Floats:
        """topics × ranks: the shares where there are so many."""
        ideal = self.judged[topics, self._begin(number)] + self.top * np.minimum(self.rank, number[:, None])
        share: Floats = 1 / (self.rank + self.beta * ideal)
        return share

    def slope(self, topics: Ints, number: Floats, share: Floats) -> Floats:
        """topics × ranks: of a line through the shares where there are so many, and below all others."""
        slope: Floats = -self.beta * self.pushed_out[topics, self._begin(number)] * share * share
        return slope

    def _begin(self, number: Floats) -> Ints:
        width = len(self.rank)
        return width + 1 - np.minimum(number, width).astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """What the terms count before they are divided, where unjudged documents are relevant from a rank on, or down to
    it.

    found  topics × ranks: documents judged relevant: what they count as judged
    own    the same: unjudged ones: what they count where they are the last to be relevant
    adds   the same: what an unjudged one adds to each term below that `sees` it
    sees   topics × ranks: 1 or 0
    along  adds up from the end or from the beginning
    """

    found: Floats
    own: Floats
    adds: Floats
    sees: Floats
    along: Callable[[Floats], Floats]

    def sums(self, topics: Ints, share: Floats) -> Floats:
        """topics × (ranks + 1): the sum of the terms, times these shares."""
        below = from_below(self.sees[topics] * share)[:, 1:]
        later = self.along(self.own[topics] * share + self.adds[topics] * below)
        return row_sums(self.found[topics] * share)[:, None] + later


def _terms(g: Gains, beta: float, *, deepest: bool) -> Terms:
    worth, relevant, unknown = 1 + beta * float(g.levels[0]), g.relevant, g.unknown
    adds, above = worth * unknown.astype(np.float64), g.hits + (1.0 if deepest else unknown.cumsum(1))
    sees = (relevant | unknown if deepest else relevant).astype(np.float64)
    found = relevant * (g.hits + beta * g.gain.cumsum(1))
    return Terms(found, adds * above, adds, sees, from_below if deepest else from_above)


def _least(g: Gains, beta: float, norm: str | None) -> Floats:
    """topics: the lowest score of any number of documents that turn out to be relevant.

    No sum of terms falls below that with the shares on their tangents at one number; where no other number may be lower
    still, the search ends. Kelley, Journal of SIAM 1960.
    """
    terms, shares = _terms(g, beta, deepest=True), Shares(g, beta)
    number = g.hidden[:, None] + from_below(g.unknown.astype(np.float64))
    whole, number = _counted(g, number, norm), np.minimum(number, len(g.rank))  # where the ideal ranking is full
    lowest, limit = np.full(len(whole), np.inf), np.full(whole.shape, -np.inf)
    topics, column = np.arange(len(whole)), np.zeros(len(whole), np.int64)
    while len(topics):
        at = number[topics, column]
        share = shares.at(topics, at)
        sums, rises = terms.sums(topics, share), terms.sums(topics, shares.slope(topics, at, share))
        tangent = (sums + (number[topics] - at[:, None]) * rises) / whole[topics]
        lowest[topics] = np.minimum(lowest[topics], tangent[np.arange(len(topics)), column])
        limit[topics] = nearest = np.maximum(limit[topics], tangent)
        column = nearest.argmin(1)
        lower = nearest[np.arange(len(topics)), column] < lowest[topics]
        topics, column = topics[lower], column[lower]
    return lowest


def _greatest(g: Gains, beta: float, norm: str | None) -> Floats:
    """topics: the highest score of any number of documents that turn out to be relevant.

    Between two numbers no sum of terms rises above that with the shares on their chords; where no number may be higher
    still, the search ends.
    """
    terms, shares = _terms(g, beta, deepest=False), Shares(g, beta)
    number = from_above(g.unknown.astype(np.float64))
    whole = _counted(g, number, norm)
    topics = np.arange(len(whole))
    # The nearest numbers worked out on both sides, none and all at first, and the sums with their shares.
    begin, end = np.zeros_like(number), np.repeat(number[:, -1:], number.shape[1], axis=1)
    left, right = (terms.sums(topics, shares.at(topics, near[:, 0])) for near in (begin, end))
    highest = np.maximum(left[:, 0] / whole[:, 0], right[:, -1] / whole[:, -1])
    while True:
        chord = (left + (number - begin) / np.maximum(end - begin, 1) * (right - left)) / whole
        chord[(number <= begin) | (number >= end)] = -np.inf
        column = chord.argmax(1)
        higher = chord[np.arange(len(topics)), column] > highest[topics]
        if not higher.any():
            return highest
        state = (topics, column, number, whole, begin, end, left, right)
        topics, column, number, whole, begin, end, left, right = (each[higher] for each in state)
        at = number[np.arange(len(topics)), column]
        found = terms.sums(topics, shares.at(topics, at))
        reached = (found / whole)[np.arange(len(topics)), column]
        highest[topics], at = np.maximum(highest[topics], reached), at[:, None]
        for near, summed, closer in (
            (begin, left, (begin < at) & (at <= number)),
            (end, right, (number <= at) & (at < end)),
        ):
            np.copyto(near, at, where=closer)
            np.copyto(summed, found, where=closer)
