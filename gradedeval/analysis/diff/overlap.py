"""How far rankings agree, without judgments: rank-biased overlap with ties and its bounds, of many topics at once."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gradedeval.analysis.ranked_runs import RankedRun
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.parallel import workers
from gradedeval.rankings.batch import ranks

Ties = Literal["a", "b", "w"]
TIES: tuple[Ties, ...] = get_args(Ties)


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

    def part(self, begin: int, end: int) -> Lists:
        """The topics from one row to before another."""
        ends = np.append(0, np.cumsum(self.counts))
        inside = slice(int(ends[begin]), int(ends[end]))
        return Lists(self.document[inside], self.counts[begin:end], self.first[inside], self.last[inside])


def lists_of(run: RankedRun, topics: Ints) -> Lists:
    """The rankings of some topics of a run, with their ties."""
    counts = run.counts[topics]
    chosen = np.repeat(run.begin[topics], counts) + ranks(counts)
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
    ties       `a`: the mean over all orders of tied documents; `b`: the same, as a share of what a list with these ties
               agrees with itself; `w`: tied documents share the rank of the first

    Webber, Moffat & Zobel, TOIS 2010; lists of different lengths and ties as Corsi & Urbano, SIGIR 2024.
    """
    found = np.full((3, len(one.counts)), np.nan)
    width = int(max(one.counts.max(initial=0), other.counts.max(initial=0)))
    for begin, end in _blocks(len(one.counts), width):
        found[:, begin:end] = _overlap(one.part(begin, end), other.part(begin, end), documents, p, ties)
    return found


def _blocks(topics: int, width: int) -> Iterator[tuple[int, int]]:
    """Topics in blocks of bounded size."""
    size = max(1, workers.LIMITS.cells // max(width, 1))
    for begin in range(0, topics, size):
        yield begin, min(begin + size, topics)


def _overlap(one: Lists, other: Lists, documents: int, p: float, ties: Ties) -> Floats:
    pair = _Pair.of(one, other, documents, ties)
    s, l, width = pair.short[:, None], pair.long[:, None], pair.width  # noqa: E741
    depth = np.arange(1.0, width + 1)
    beyond_short = (depth > s) & (depth <= l)
    weight = (1 - p) * p ** (depth - 1) * (depth <= l)
    seen, norm = pair.shared(), pair.norms(ties)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.where(norm > 0, seen / norm, 0.0)
        at_short = np.take_along_axis(agreed, np.maximum(s - 1, 0), 1)
        unseen = np.where(beyond_short, depth - s, 0.0)
        # Unseen documents of the shorter list: as many as agreed so far are the longer one's, at its ranks.
        extrapolated = unseen * at_short * pair.unmatched_mean() / norm
        best = pair.best_unmatched(unseen) / norm
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
    odds = min((1 - p) / p, sys.float_info.max)
    low = least + odds * common * (-math.log1p(-p) - shares[l])
    tail = 2 * (powers[full] - powers[l]) + (common - l - s) * (shares[full] - shares[l])
    high = least + (weight * rest[1]).sum(1) + odds * tail + p**full
    return np.where(s > 0, np.stack([ext, low, high]), np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class _Pair:
    """Two rankings of each topic, the shorter and the longer one.

    short, long          topics: their lengths
    topic                documents that both have: the row of the topic
    first, last          documents that both have: where their ties begin and end, 2 × documents, in the shorter list
                         and in the longer one
    visible, squares     2 × topics × depths: how many documents have begun in each list, and the sum of the squares of
                         what is there of them
    spanning             topics × depths: how much of the documents that are tied at this depth is there in the longer
    ended                topics × depths: how many documents of the longer list are there whole
    """

    short: Ints
    long: Ints
    topic: Ints
    first: Ints
    last: Ints
    visible: Floats
    squares: Floats
    spanning: Floats
    ended: Floats

    @classmethod
    def of(cls, one: Lists, other: Lists, documents: int, ties: Ties) -> _Pair:
        width = int(max(one.counts.max(initial=0), other.counts.max(initial=0)))
        at = np.full(documents, -1)
        at[other.document] = np.arange(len(other.document))
        there = at[one.document]
        mine = np.flatnonzero(there >= 0)
        theirs = there[mine]
        topic = one.topic[mine]
        swap = one.counts > other.counts  # then the other one is the shorter
        swapped = swap[topic]
        first = np.stack([one.first[mine], other.first[theirs]])
        last = np.stack([one.last[mine], other.last[theirs]])
        if ties == "w":
            last = first
        first, last = (np.where(swapped, part[::-1], part) for part in (first, last))
        shown = [_alone(lists, width, ties) for lists in (one, other)]
        visible, squares, ended, spanning = (
            np.stack([np.where(swap[:, None], b, a), np.where(swap[:, None], a, b)])
            for a, b in zip(*shown, strict=True)
        )
        lengths = np.sort(np.stack([one.counts, other.counts]), axis=0)
        return cls(lengths[0], lengths[1], topic, first, last, visible, squares, spanning[1], ended[1])

    @property
    def width(self) -> int:
        return int(self.visible.shape[2])

    def shared(self) -> Floats:
        """topics × depths: how much of the two lists is shared down to each depth."""
        begin, end = self.first.max(0), self.last.max(0)
        return self._summed(begin, end, lambda which, depth: self._part(0, which, depth) * self._part(1, which, depth))

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
        if (self.spanning == 1).all():
            return self.spanning
        begun = self._summed(self.first[1], self.first[1], None)
        there = self._summed(self.first[1], self.last[1], lambda which, depth: self._part(1, which, depth))
        whole = np.broadcast_to(np.arange(1.0, self.width + 1), begun.shape)
        mean: Floats = (whole - there) / (self.visible[1] - begun)
        return mean

    def best_unmatched(self, unseen: Floats) -> Floats:
        """topics × depths: how much so many unseen documents of the shorter list can share with the longer one."""
        if (self.spanning == 1).all():
            return unseen
        whole = self.ended - self._summed(self.last[1], self.last[1], None)
        best: Floats = np.minimum(unseen, whole) + np.maximum(unseen - whole, 0) * self.spanning
        return best

    def _part(self, which: int, documents: Ints, depth: Ints) -> Floats:
        """How much of some documents is there in a list at a depth, from 0: all orders of a tie are as likely."""
        first, last = self.first[which, documents], self.last[which, documents]
        part: Floats = np.clip((depth - first + 1) / (last - first + 1), 0.0, 1.0)
        return part

    def _summed(self, begin: Ints, end: Ints, part: object) -> Floats:
        """topics × depths: the sum over documents of a part of each from `begin` on, which is 1 from `end` on."""
        topics, width = len(self.short), self.width
        inside = end < width
        cells = self.topic[inside] * width + end[inside]
        total: Floats = np.cumsum(
            np.bincount(cells, minlength=topics * width).reshape(topics, width).astype(float), axis=1
        )
        sizes = end - begin
        if callable(part) and sizes.any():
            which = np.repeat(np.arange(len(begin)), sizes)
            depth = np.repeat(begin, sizes) + ranks(sizes)
            which, depth = which[depth < width], depth[depth < width]
            values = part(which, depth)
            cells = self.topic[which] * width + depth
            total += np.bincount(cells, weights=values, minlength=topics * width).reshape(topics, width)
        return total


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
