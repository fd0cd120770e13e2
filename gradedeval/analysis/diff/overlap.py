"""How far rankings agree, without judgments: rank-biased overlap with ties and its bounds, of many topics at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gradedeval.analysis.ranked_runs import RankedRun
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.parallel import workers
from gradedeval.rankings.batch import by_width, positions_of, ranks

Ties = Literal["a", "b", "w"]
TIES: tuple[Ties, ...] = get_args(Ties)
LARGEST_ODDS = 1e300
"""Of stopping at a rank, for the smallest persistence: times the number of documents it is still finite."""


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Rankings of some topics, topic after topic.

    document  their documents, by number
    counts    topics: how many
    first     the rank, from 0, where the documents tied with each one begin, and `last` where they end
    """

    document: Ints
    counts: Ints
    first: Ints
    last: Ints

    @property
    def topic(self) -> Ints:
        """The row of each document's topic."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def of_topics(self, rows: Ints) -> Lists:
        """Some of the topics."""
        inside = positions_of(self.counts, rows)
        return Lists(self.document[inside], self.counts[rows], self.first[inside], self.last[inside])


def lists_of(run: RankedRun, topics: Ints) -> Lists:
    """The rankings of some topics of a run, with their ties."""
    counts, chosen = run.counts[topics], positions_of(run.counts, topics)
    first = ranks(counts) if run.first is None else run.first[chosen]
    topic = np.repeat(np.arange(len(topics)), counts)
    begins = np.flatnonzero(np.append(True, (first[1:] != first[:-1]) | (topic[1:] != topic[:-1]))[: len(first)])
    sizes = np.diff(begins, append=len(first))
    return Lists(run.document[chosen], counts, first, first + np.repeat(sizes, sizes) - 1)


def rank_biased_overlap(one: Lists, other: Lists, documents: int, p: float, ties: Ties) -> Floats:
    """3 × topics: rank-biased overlap, extrapolated; and its bounds, whatever stands below the ends of the lists. nan
    where a list is empty.

    documents  how many there are
    p          persistence, between 0 and 1
    ties       `a`: the means over all orders of tied documents; `b`: what is shared, as a share of what a list with
               these ties agrees with itself; `w`: tied documents share the rank of the first

    Webber, Moffat & Zobel, TOIS 2010, equation 32; `b` and `w` as Corsi & Urbano, SIGIR 2024. Of lists of different
    lengths with ties they extrapolate by a product of means, which is not the mean over orders: `a` is.
    """
    found = np.full((3, len(one.counts)), np.nan)
    common = _Common.of(one, other, documents)
    for rows in by_width(np.maximum(one.counts, other.counts), workers.LIMITS.cells):
        pair = _Pair.of(one.of_topics(rows), other.of_topics(rows), common.of_topics(rows), ties)
        found[:, rows] = _overlap(pair, p, ties)
    return found


def _overlap(pair: _Pair, p: float, ties: Ties) -> Floats:
    s, l, width = pair.short[:, None], pair.long[:, None], pair.width  # noqa: E741
    depth = np.arange(1.0, width + 1)
    beyond_short = (depth > s) & (depth <= l)
    weight = (1 - p) * p ** (depth - 1) * (depth <= l)
    seen, norm = pair.shared(), pair.norms(ties)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.where(norm > 0, seen / norm, 0.0)
        at_short = np.take_along_axis(agreed, np.maximum(s - 1, 0), 1)
        # Unseen documents of the shorter list: as many as agreed so far are the longer one's, at its ranks.
        extrapolated = best = np.where(beyond_short, depth - s, 0.0)
        if ties == "b":
            extrapolated, best = extrapolated * pair.unmatched_mean(), pair.best_unmatched(best)
        extrapolated, best = extrapolated * at_short / norm, best / norm
    common = np.take_along_axis(seen, np.maximum(l - 1, 0), 1)[:, 0] if width else np.zeros(len(s))
    s, l = pair.short, pair.long  # noqa: E741
    shares = np.cumsum(p ** np.arange(1.0, 2 * width + 1) / np.arange(1.0, 2 * width + 1))
    shares = np.append(0.0, shares)
    powers = p * (1 - p ** np.arange(2 * width + 1)) / (1 - p)
    full = (l + s - common).round().astype(np.int64)  # the first depth at which all could be shared
    least = (weight * agreed).sum(1)
    rest = np.where(beyond_short, extrapolated, 0.0), np.where(beyond_short, best, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (common + (l - s) * at_short[:, 0]) / l * p**l
    ext = least + (weight * rest[0]).sum(1) + ends
    odds = min((1 - p) / p, LARGEST_ODDS)
    low = least + odds * common * (-math.log1p(-p) - shares[l])
    tail = 2 * (powers[full] - powers[l]) + (common - l - s) * (shares[full] - shares[l])
    high = least + (weight * rest[1]).sum(1) + odds * tail + p**full
    return np.where(s > 0, np.stack([ext, low, high]), np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class _Common:
    """The documents that both rankings of a topic have, topic after topic.

    counts       topics: how many
    first, last  where their ties begin and end, 2 × documents, in the one list and in the other
    """

    counts: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, one: Lists, other: Lists, documents: int) -> _Common:
        at = np.full(documents, -1)
        at[other.document] = np.arange(len(other.document))
        there = at[one.document]
        mine = np.flatnonzero(there >= 0)
        theirs = there[mine]
        counts = np.bincount(one.topic[mine], minlength=len(one.counts))
        first = np.stack([one.first[mine], other.first[theirs]])
        return cls(counts, first, np.stack([one.last[mine], other.last[theirs]]))

    def of_topics(self, rows: Ints) -> _Common:
        """Those of some of the topics."""
        inside = positions_of(self.counts, rows)
        return _Common(self.counts[rows], self.first[:, inside], self.last[:, inside])


@dataclass(frozen=True, eq=False, repr=False)
class _Pair:
    """Two rankings of each topic, the shorter and the longer one.

    short, long          topics: their lengths
    topic                documents that both have: the row of the topic
    first, last          documents that both have: where their ties begin and end, 2 × documents, in the shorter list
                         and in the longer one
    visible, squares     2 × topics × depths: how many documents have begun in each list, and the sum of the squares of
                         what is there of them
    part                 2 × topics × depths: how much of the documents that are tied at this depth is there: all orders
                         are as likely
    ended                topics × depths: how many documents of the longer list are there whole
    """

    short: Ints
    long: Ints
    topic: Ints
    first: Ints
    last: Ints
    visible: Floats
    squares: Floats
    part: Floats
    ended: Floats

    @classmethod
    def of(cls, one: Lists, other: Lists, common: _Common, ties: Ties) -> _Pair:
        width = int(max(one.counts.max(initial=0), other.counts.max(initial=0)))
        topic = np.repeat(np.arange(len(common.counts)), common.counts)
        swap = one.counts > other.counts  # then the other one is the shorter
        swapped = swap[topic]
        last = common.first if ties == "w" else common.last
        first, last = (np.where(swapped, part[::-1], part) for part in (common.first, last))
        shown = [_alone(lists, width, ties) for lists in (one, other)]
        visible, squares, ended, part = (
            np.stack([np.where(swap[:, None], b, a), np.where(swap[:, None], a, b)])
            for a, b in zip(*shown, strict=True)
        )
        lengths = np.sort(np.stack([one.counts, other.counts]), axis=0)
        return cls(lengths[0], lengths[1], topic, first, last, visible, squares, part, ended[1])

    @property
    def width(self) -> int:
        return int(self.visible.shape[2])

    def shared(self) -> Floats:
        """topics × depths: how much of the two lists is shared down to each depth.

        A document is there whole in both, or in part in one of them or in both: counted by depth, so that a tie of a
        million takes no more than a million untied.
        """
        (first, other_first), (last, other_last) = self.first, self.last
        total = self._down_to(np.maximum(last, other_last))
        part, other_part = self.part
        for begin, end, share in (
            (np.maximum(first, other_last), last, part),
            (np.maximum(other_first, last), other_last, other_part),
            (self.first.max(0), self.last.min(0), part * other_part),
        ):
            total += share * self._standing(begin, end)
        return total

    def norms(self, ties: Ties) -> Floats:
        """topics × depths: how much could be shared."""
        if ties == "w":
            could: Floats = self.visible.mean(0)
        elif ties == "b":
            could = np.sqrt(self.squares[0] * self.squares[1])
        else:
            could = np.broadcast_to(np.arange(1.0, self.width + 1), self.visible.shape[1:])
        return could

    def unmatched_mean(self) -> Floats:
        """topics × depths: how much is there, on average, of the documents of the longer list that the shorter one
        lacks and that have begun."""
        first, last, part = self.first[1], self.last[1], self.part[1]
        there = self._down_to(last) + part * self._standing(first, last)
        mean: Floats = (np.arange(1.0, self.width + 1) - there) / (self.visible[1] - self._down_to(first))
        return mean

    def best_unmatched(self, unseen: Floats) -> Floats:
        """topics × depths: how much so many unseen documents of the shorter list can share with the longer one."""
        whole = self.ended - self._down_to(self.last[1])
        best: Floats = np.minimum(unseen, whole) + np.maximum(unseen - whole, 0) * self.part[1]
        return best

    def _standing(self, begin: Ints, end: Ints) -> Floats:
        """topics × depths: how many documents begin at this depth or above, and end below it."""
        some = np.flatnonzero(begin < end)
        return self._down_to(begin, some) - self._down_to(end, some) if len(some) else np.zeros((1, 1))

    def _down_to(self, depth: Ints, some: Ints | None = None) -> Floats:
        """topics × depths: how many documents, or how many of some, have this depth or one above."""
        topic, depth = (self.topic, depth) if some is None else (self.topic[some], depth[some])
        cells = np.bincount(topic * self.width + depth, minlength=len(self.short) * self.width)
        return np.cumsum(cells.reshape(len(self.short), self.width), axis=1, dtype=np.float64)


def _alone(lists: Lists, width: int, ties: Ties) -> tuple[Floats, Floats, Floats, Floats]:
    """Of lists by themselves, topics × depths: how many documents have begun, the sum of the squares of what is there,
    how many are there whole, and how much of those at this depth. Below its end a list goes on without ties."""
    counts = lists.counts
    topics, depth = len(counts), np.arange(width)
    if (lists.first == lists.last).all():
        whole = np.broadcast_to(depth + 1.0, (topics, width))
        return whole, whole, whole, np.ones((topics, width))
    inside: Bools = depth < counts[:, None]
    first, last = np.tile(depth, (topics, 1)), np.tile(depth, (topics, 1))
    first[inside] = lists.first
    last[inside] = lists.first if ties == "w" else lists.last
    visible = np.tile(depth + 1.0, (topics, 1))
    visible[inside] = lists.last + 1
    size = last - first + 1
    share = (depth - first + 1) / size if ties != "w" else np.ones((topics, width))
    # The documents before a tie are there whole, those of the tie in part.
    squares = first.astype(np.float64) + size * share**2
    ended = np.where(last == depth, depth + 1.0, first.astype(np.float64))
    return visible, squares, ended, share
