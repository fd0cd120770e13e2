"""The greatest difference of two runs that judgments of their unjudged documents lead to, by kinds of measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, Item

# The documents of two runs that nobody judged: a document that both retrieved is one, and has one grade.


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedDocuments:
    """The unjudged documents of two runs, those of all topics one after the other.

    topic   of each that one of the runs has at a rank that counts: its row
    first   of each: its rank in the first run, from 0; `depth` where it is below the last rank that counts, or not
            there
    second  of each: its rank in the second run
    hidden  topics: how many more there are, at no rank that counts
    depth   how many ranks count
    """

    topic: Ints
    first: Ints
    second: Ints
    hidden: Ints
    depth: int

    @classmethod
    def joined(cls, several: Sequence[UnjudgedDocuments]) -> UnjudgedDocuments:
        """Those of several pairs of runs, the topics of one pair after those of the other."""
        begin = np.cumsum([0, *(len(one.hidden) for one in several)]).tolist()
        topic = np.concatenate([one.topic + row for one, row in zip(several, begin, strict=False)])
        first, second, hidden = (
            np.concatenate([getattr(one, name) for one in several]) for name in ("first", "second", "hidden")
        )
        return cls(topic, first, second, hidden, several[0].depth)

    def swapped(self) -> UnjudgedDocuments:
        """The same of the second run and the first."""
        return replace(self, first=self.second, second=self.first)

    def select(self, chosen: Bools) -> UnjudgedDocuments:
        """Some of the documents."""
        return replace(self, topic=self.topic[chosen], first=self.first[chosen], second=self.second[chosen])

    def of_topics(self, rows: Ints) -> UnjudgedDocuments:
        """Those of some topics alone, which become the rows 0, 1, …"""
        row = np.full(len(self.hidden), -1)
        row[rows] = np.arange(len(rows))
        some = self.select(row[self.topic] >= 0)
        return replace(some, topic=row[some.topic], hidden=self.hidden[rows])

    def cut(self, depth: int) -> UnjudgedDocuments:
        """Those of rankings with no more ranks; what stands below them is no longer there."""
        if depth >= self.depth:
            return self
        first, second = np.minimum(self.first, depth), np.minimum(self.second, depth)
        return replace(self, first=first, second=second, depth=depth).select(np.minimum(first, second) < depth)

    @property
    def counts(self) -> Ints:
        """topics: how many documents that count at their ranks."""
        counts: Ints = np.bincount(self.topic, minlength=len(self.hidden))
        return counts

    def padded(self, values: NDArray[Item], fill: float) -> NDArray[Item]:
        """topics × …: values of the documents, the rest filled."""
        counts = self.counts
        order = np.argsort(self.topic, kind="stable")
        table = np.full((len(counts), int(counts.max(initial=0))), fill, dtype=values.dtype)
        table[np.arange(table.shape[1]) < counts[:, None]] = values[order]
        return table


def cumulative_counts(topic: Ints, rank: NDArray[Any], topics: int, depth: int) -> Ints:
    """topics × depth: how many documents stand at or above each rank, where these are the topics and ranks of all."""
    at = np.bincount(topic * (depth + 1) + np.minimum(rank, depth), minlength=topics * (depth + 1))
    counts: Ints = at.reshape(topics, depth + 1)[:, :depth].cumsum(1, dtype=small_integers(depth))
    return counts


def small_integers(most: int) -> Any:
    """The kind of whole numbers that is used up to this one: the smaller it is, the faster tables of them are read."""
    return np.int16 if most < 1 << 15 else np.int64


# Differences of cascade measures: a document that a user may stop at takes the chance from those below it.


CELLS = 1 << 16
"""Up to this many completions × ranks of a topic, each completion is tried."""
PASSES = 2
"""How often the documents whose effect is known narrow down that of the others."""
NEGLIGIBLE, WIDTHS = 1e-12, 4
"""Where no more than this can be gained below a rank, the ranks below it are left out: of rankings that are cut alike
to a power of this."""


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """One run.

    chance   topics × depth: of stopping at each rank, once there; 0 where the document is not judged
    utility  depth: of stopping there; it does not rise
    """

    chance: Floats
    utility: Floats

    def put(self, topic: Ints, rank: Ints, chance: float) -> Cascade:
        """The same where documents have another chance."""
        changed = self.chance.copy()
        changed[topic, rank] = chance
        return Cascade(changed, self.utility)

    def of_topics(self, rows: Ints | Bools) -> Cascade:
        """That of some topics alone."""
        return Cascade(self.chance[rows], self.utility)

    def cut(self, depth: int) -> Cascade:
        """Its first ranks."""
        return Cascade(self.chance[:, :depth], self.utility[:depth])

    @cached_property
    def reached(self) -> Floats:
        """topics × (depth + 1): the chance of getting to each rank, and past the last."""
        return _reached(1 - self.chance)

    @property
    def first_certain(self) -> Ints:
        """topics: the first rank, from 0, at which everybody stops; past the last where there is none."""
        first: Ints = np.pad(self.chance == 1, ((0, 0), (0, 1)), constant_values=True).argmax(1)
        return first

    @property
    def score(self) -> Floats:
        """topics."""
        summed: Floats = (self.reached[:, :-1] * self.chance) @ self.utility
        return summed

    @cached_property
    def after(self) -> Floats:
        """topics × depth: what a user who goes on from a rank can expect."""
        ends = self.chance == 1  # nobody goes on from there, and so what follows is divided by the way since then
        certain = ends.any()
        on = _reached(np.where(ends, 1.0, 1 - self.chance)) if certain else self.reached
        depth = self.chance.shape[1]
        summed = np.zeros((len(on), depth + 2))
        summed[:, :depth] = (on[:, :-1] * self.chance * self.utility)[:, ::-1].cumsum(1)[:, ::-1]
        following = summed[:, 1:-1]
        if certain:
            place = np.where(ends, np.arange(depth), depth)
            nearest = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
            last = np.pad(nearest[:, 1:], ((0, 0), (0, 1)), constant_values=depth)
            following = following - np.take_along_axis(summed, last + 1, 1)
        return np.divide(following, on[:, 1:], out=np.zeros_like(following), where=on[:, 1:] > 0)


def _reached(on: Floats) -> Floats:
    """topics × (ranks + 1): 1, and the products of the chances of going on."""
    reached = np.ones((len(on), on.shape[1] + 1))
    np.cumprod(on, axis=1, out=reached[:, 1:])
    return reached


def slopes(low: Cascade, high: Cascade, unknown: UnjudgedDocuments, rank: Ints) -> tuple[Floats, Floats]:
    """of each document: the least and the largest derivative of the score by its chance, with the others anywhere
    between two states of the run; 0 below the last rank that counts.

    By the chance at rank i the score grows by the chance of getting there times (utility there − what follows).
    """
    at = unknown.topic, np.minimum(rank, unknown.depth - 1)
    here = low.utility[at[1]] if unknown.depth else np.zeros(len(rank))
    if not unknown.depth:
        return here, here
    least = high.reached[at] * np.maximum(here - high.after[at], 0)
    most = low.reached[at] * np.maximum(here - low.after[at], 0)
    there = rank < unknown.depth
    return least * there, most * there


def greatest_cascade(first: Cascade, second: Cascade, unknown: UnjudgedDocuments, top: float) -> Floats:
    """topics: a difference (first − second) that none of the ways to judge the documents exceeds; exact where those
    that may serve either run are few.

    The score is linear in the chance of each document, so that the extremes are at 0 and `top`; it never falls where a
    document becomes better. So documents of the first run alone are at the top, those of the second alone at 0. Of
    those in both some have a derivative of known sign whatever the others are, which narrows down that of the rest.
    Few of these are tried in all ways; of more, no more is assumed than what the derivatives allow.
    """
    if top == 1 and (first.chance * (1 - first.chance) == 0).all() and (second.chance * (1 - second.chance) == 0).all():
        return _first_relevant(first, second, unknown)
    end = np.maximum(*(_last_useful_rank(run) for run in (first, second)))
    found, left = np.empty(len(end)), np.arange(len(end))
    width = WIDTHS
    while len(left):
        now = (end[left] <= width) | (width >= unknown.depth)
        rows, left, width = left[now], left[~now], width * WIDTHS
        if len(rows):
            last = width // WIDTHS
            rest = first.reached[rows, last] * first.utility[last] if last < unknown.depth else 0.0
            cut, other = (run.of_topics(rows).cut(last) for run in (first, second))
            found[rows] = _greatest(cut, other, unknown.of_topics(rows).cut(last), top) + rest
    return found


def _last_useful_rank(run: Cascade) -> Ints:
    """topics: the rank, from 0, below which next to nothing can be gained, whatever is known of the documents."""
    end: Ints = (run.reached[:, :-1] * run.utility > NEGLIGIBLE).sum(1)
    return end


def _greatest(first: Cascade, second: Cascade, unknown: UnjudgedDocuments, top: float) -> Floats:
    """As `greatest_cascade`, of rankings that are cut alike."""
    in_first, in_second = unknown.first < unknown.depth, unknown.second < unknown.depth
    alone = in_first & ~in_second
    first = first.put(unknown.topic[alone], unknown.first[alone], top)
    return _greatest_shared(first, second, unknown.select(in_first & in_second), top, PASSES)


def _greatest_shared(first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float, passes: int) -> Floats:
    """The same, where no other documents are left than those of both runs: this many times those whose effect is known
    are settled, which narrows down that of the others."""
    done = both.counts == 0
    found = np.empty(len(done))
    found[done] = first.of_topics(done).score - second.of_topics(done).score
    if done.all():
        return found
    rows = np.flatnonzero(~done)
    first, second, both = first.of_topics(rows), second.of_topics(rows), both.of_topics(rows)
    least, most, ends = _ranges(first, second, both, top)
    sure = (least >= 0) | (most <= 0)
    if passes and sure.any():
        lifted = both.select(sure & (least >= 0))
        first = first.put(lifted.topic, lifted.first, top)
        second = second.put(lifted.topic, lifted.second, top)
        found[rows] = _greatest_shared(first, second, both.select(~sure), top, passes - 1)
        return found
    none, every = (one.score - other.score for one, other in ((ends[0], ends[2]), (ends[1], ends[3])))
    up, down = (np.bincount(both.topic, top * np.maximum(step, 0), minlength=len(rows)) for step in (most, -least))
    greatest: Floats = np.minimum.reduce([none + up, every + down, ends[1].score - ends[2].score])
    counts = both.counts
    few = both.depth * 2.0**counts <= CELLS
    for count in np.flatnonzero(np.bincount(counts[few])).tolist():
        some = np.flatnonzero(few & (counts == count))
        tried = first.of_topics(some), second.of_topics(some), both.of_topics(some)
        greatest[some] = _enumerated(*tried, top, count)
    found[rows] = greatest
    return found


def _first_relevant(first: Cascade, second: Cascade, unknown: UnjudgedDocuments) -> Floats:
    """As `greatest_cascade`, exact, where everybody stops at the first relevant document: that of the first run is one
    of its unjudged ones, or a judged one, and in the second no more need be relevant."""
    utility = np.append(first.utility, 0.0)
    worth = [utility[run.first_certain] for run in (first, second)]
    alone = (unknown.first < unknown.depth) & (unknown.second == unknown.depth)
    np.maximum.at(worth[0], unknown.topic[alone], utility[unknown.first[alone]])
    found: Floats = worth[0] - worth[1]
    both = unknown.select((unknown.first < unknown.depth) & (unknown.second < unknown.depth))
    own = np.maximum(worth[0][both.topic], utility[both.first])
    np.maximum.at(found, both.topic, own - np.maximum(worth[1][both.topic], utility[both.second]))
    return found


def _ranges(
    first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float
) -> tuple[Floats, Floats, tuple[Cascade, Cascade, Cascade, Cascade]]:
    """of each document of both runs: the least and largest derivative of the difference; and the first run with none
    and with all of them at the top, and the second."""
    ends = (
        first,
        first.put(both.topic, both.first, top),
        second,
        second.put(both.topic, both.second, top),
    )
    own, other = slopes(ends[0], ends[1], both, both.first), slopes(ends[2], ends[3], both, both.second)
    return own[0] - other[1], own[1] - other[0], ends


def _enumerated(first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float, count: int) -> Floats:
    """topics: the largest difference, by trying all.

    count  how many documents each topic has
    """
    chosen: Bools = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1 == 1  # ways × documents
    found, size = np.empty(len(both.hidden)), max(1, CELLS // (len(chosen) * both.depth))
    for begin in range(0, len(found), size):
        rows = np.arange(begin, min(begin + size, len(found)))
        some, scores = both.of_topics(rows), []
        for run, rank in ((first, some.first), (second, some.second)):
            chance = np.repeat(run.chance[rows], len(chosen), axis=0).reshape(len(rows), len(chosen), both.depth)
            at = some.padded(rank, 0)
            chance[np.arange(len(rows))[:, None, None], np.arange(len(chosen))[:, None], at[:, None]] = top * chosen
            scores.append(Cascade(chance.reshape(-1, both.depth), run.utility).score.reshape(len(rows), -1))
        found[rows] = (scores[0] - scores[1]).max(1)
    return found


# Differences that are sums of gains by rank, and such sums over what both runs share: that of the ideal ranking.


ROUNDS = 100
"""Most rounds of a search that takes two to five."""


def greatest_sum(difference: Floats, unknown: UnjudgedDocuments, worth: Floats) -> Floats:
    """topics: the largest Σ gain · w of the first run less that of the second. Exact: of each document that is the
    better for the first run the gain is the highest there is, of the others 0.

    difference  topics: of what is judged
    worth       depth + 1: what a document of the top gain adds at each rank; the last is 0
    """
    rise = worth[unknown.first] - worth[unknown.second]
    return difference + np.bincount(unknown.topic, np.maximum(rise, 0.0), minlength=len(unknown.hidden))


@dataclass(frozen=True, eq=False, repr=False)
class Ideal:
    """What the sums of both runs are divided by: Σ_j step_j I(number of documents with a gain of level j or more).

    steps   levels: from each gain to the next higher one
    counts  topics × levels: how many judged documents have that gain or more
    value   I(0), I(1), I(2), …, concave, and the last one of all that follow
    """

    steps: Floats
    counts: Ints
    value: Floats

    def of_topics(self, rows: Ints) -> Ideal:
        """That of some topics alone."""
        return replace(self, counts=self.counts[rows])

    def at(self, more: Ints, level: int) -> Floats:
        """topics × …: the part of a level, with `more` more documents of that gain."""
        number = np.minimum(self.counts[:, level, None] + more, len(self.value) - 1)
        part: Floats = self.steps[level] * self.value[number]
        return part


def greatest_share(difference: Floats, unknown: UnjudgedDocuments, weights: Floats, ideal: Ideal) -> Floats:
    """topics: the largest Σ gain · w of the first run less that of the second, as a share of the ideal. Exact.

    For a share λ the numerator less λ times the ideal is a sum over levels of gain. Of a level it is best to lift the
    documents that serve the first run most, some number of them, and the numbers of the levels fit each other where λ
    is 0 or more: a lift costs the less the more documents have that gain already. Below 0 it is the other way round,
    and all levels have one number: each document has no gain or the top gain.

    difference  topics: of what is judged, before the division
    weights     depth + 1: of a gain of 1 at each rank; the last is 0
    """
    lift = weights[unknown.first] - weights[unknown.second]
    rising = lift > 0
    rises = unknown.select(rising).padded(lift[rising], 0.0)
    lifted = np.pad(-np.sort(-rises, axis=1), ((0, 0), (1, 0))).cumsum(1)
    number = np.arange(lifted.shape[1])
    steps = [step * lifted for step in ideal.steps]
    parts = [ideal.at(number, level) for level in range(len(ideal.steps))]
    top = ideal.steps.sum()
    below = np.flatnonzero(difference + top * lifted[:, -1] < 0)
    found = largest_ratio(difference, steps, parts, parts)
    if len(below):
        found[below] = _greatest_negative_share(
            difference[below], unknown.of_topics(below), weights, ideal.of_topics(below)
        )
    return found


def _greatest_negative_share(difference: Floats, unknown: UnjudgedDocuments, weights: Floats, ideal: Ideal) -> Floats:
    """As `greatest_share`, where it is below 0. What serves no run makes the ideal larger, and the difference
    smaller."""
    lift = -np.sort(-unknown.padded(weights[unknown.first] - weights[unknown.second], -np.inf), axis=1)
    there = np.pad(np.isfinite(lift), ((0, 0), (1, 0)), constant_values=True)
    lifted = np.pad(np.where(np.isfinite(lift), lift, 0.0), ((0, 0), (1, 0))).cumsum(1)
    number = np.arange(lifted.shape[1])
    number = number + np.where(number >= (lift > 0).sum(1)[:, None], unknown.hidden[:, None], 0)
    numerator = difference[:, None] + ideal.steps.sum() * lifted
    whole = np.sum([ideal.at(number, level) for level in range(len(ideal.steps))], axis=0)
    largest: Floats = np.where(there, numerator / whole, -np.inf).max(1)
    return largest


def largest_ratio(base: Floats, parts: list[Floats], least: list[Floats], most: list[Floats]) -> Floats:
    """topics: the largest (base + Σ_j parts_j[c_j]) / Σ_j whole_j[c_j] over all choices of a cell c_j in every part; 0
    where both are 0. Dinkelbach, Management Science 1967: from below, each round takes what is best at the ratio found.

    base   topics
    parts  of each: topics × cells, -inf where there is none
    least  of each: topics × cells, the smallest that the whole may be there, and `most` the largest: what makes the
           ratio larger is taken. In the first cell they are the same
    """
    ratio = _ratio(base + _firsts(parts), _firsts(least), np.zeros(len(base)))
    for _ in range(ROUNDS):
        numerator, low, high = base.copy(), np.zeros(len(base)), np.zeros(len(base))
        for part, *wholes in zip(parts, least, most, strict=True):
            best = (part - ratio[:, None] * np.where(ratio[:, None] < 0, wholes[1], wholes[0])).argmax(1)[:, None]
            for total, cells in zip((numerator, low, high), (part, *wholes), strict=True):
                total += np.take_along_axis(cells, best, 1)[:, 0]
        found = _ratio(numerator, np.where(numerator < 0, high, low), ratio)
        if not (found > ratio).any():
            break
        ratio = np.maximum(found, ratio)
    return ratio


def _firsts(parts: list[Floats]) -> Floats:
    """topics: the sum of the first cells."""
    firsts: Floats = np.sum([part[:, 0] for part in parts], axis=0)
    return firsts


def _ratio(numerator: Floats, whole: Floats, otherwise: Floats) -> Floats:
    return np.divide(numerator, whole, out=otherwise.copy(), where=whole > 0)


# Differences of average precision, by one threshold of relevance or several.
#
# Σ_{i relevant} P@i is Σ_n ω_n H_n (H_n + 1) / 2, H_n: relevant documents down to rank n, ω_n = 1/n − 1/(n+1), and 1/n
# at the last rank. So a difference is a sum over ranks, and at each rank it depends on how many documents are relevant
# that stand above it in one run, in the other, or in both.


COMPLETIONS = 4096
"""Up to this many ways to judge the documents of a topic, each is tried."""
CELLS_OF_PAIRS = 1 << 18
"""Ways × ranks that are tried in one go."""
NEGLIGIBLE_SUM = 1e-9
"""The last bits of sums of precisions that are added in another order are less."""
EXACT, STEP = 4, 2
"""From the first number on the number of relevant documents is known up to this factor."""


@dataclass(frozen=True, eq=False, repr=False)
class Threshold:
    """A threshold: what is judged relevant from it on.

    step    its share of the users
    first   topics × depth: how many such documents the first run has down to each rank
    second  the same of the second run
    reach   topics × …: what `reaches` gives of the first run
    base    topics: the first of what it gives of the second run
    counts  topics: how many there are; None where the sums are not divided by them
    most    no more of them count
    """

    step: float
    first: Ints
    second: Ints
    reach: Floats
    base: Floats
    counts: Ints | None
    most: float = np.inf

    def of_topics(self, rows: Ints) -> Threshold:
        """That of some topics alone."""
        names = ("first", "second", "reach", "base", "counts")
        return replace(self, **{name: value[rows] for name in names if (value := getattr(self, name)) is not None})

    def ceilings(self, high: Ints) -> Floats:
        """topics × …: what the difference of the sums does not exceed where no more than that many documents are
        relevant, in the first cell none: of the first run the most that it can come to, of the second what it has."""
        at = np.minimum(np.frexp(high)[1], self.reach.shape[1] - 1)
        found: Floats = self.step * (self.reach[:, at] - self.base[:, None])
        found[:, 1:] += NEGLIGIBLE_SUM
        return found

    def number(self, more: Ints) -> Floats:
        """topics × …: what its sums are divided by with that many more such documents."""
        return np.ones(np.shape(more)) if self.counts is None else np.minimum(self.counts[:, None] + more, self.most)


def rank_weights(depth: int) -> Floats:
    """ω_n / 2 of ranks 1 to `depth`."""
    rank = np.arange(1.0, depth + 1)
    weights: Floats = 1 / (rank * (rank + 1))
    weights[-1:] = 1 / rank[-1:]
    return weights / 2


def sums_of_precisions(twice: Floats) -> Floats:
    """topics: Σ_n ω_n / 2 · the values of each topic. Each sum is the same whichever topics go together."""
    summed: Floats = np.einsum("ij,j->i", twice, rank_weights(twice.shape[1]))
    return summed


def reachable_sums(hits: Ints, unjudged: Ints) -> Floats:
    """topics × …: Σ_n ω_n H_n (H_n + 1) / 2 as it is, and the most that it can be where no more of the unjudged
    documents are relevant than 1, 3, 7, …, the last number no less than there are.

    hits      topics × depth: how many documents are relevant down to each rank, and `unjudged` how many nobody judged
    """
    depth = hits.shape[1]
    numbers = (hits + np.minimum(unjudged, min((1 << bits) - 1, depth)) for bits in range(depth.bit_length() + 1))
    return np.stack([sums_of_precisions(number * (number + 1.0)) for number in numbers], axis=1)


def greatest_precision(
    levels: list[Threshold], counts: Counts, listed: Callable[[Ints], UnjudgedDocuments], enough: Floats
) -> Floats:
    """topics: a difference of average precision (first − second) that none of the ways to judge the documents exceeds;
    exact where these are no more than `COMPLETIONS`.

    listed  rows of topics -> their documents one by one, asked for where they are few
    enough  topics: a difference as large, or a larger one, need not be told from another; nan: all are
    """
    seen, found = counts.seen, np.empty(len(counts.total))
    few = _are_enumerable(levels, seen)
    if few.any():
        chosen = np.flatnonzero(few)
        unknown = listed(chosen)
        for count in np.flatnonzero(np.bincount(seen[chosen])).tolist():
            at = np.flatnonzero(seen[chosen] == count)
            own = [level.of_topics(chosen[at]) for level in levels]
            found[chosen[at]] = _enumerated_pairs(own, unknown.of_topics(at), count)
    if not few.all():
        rows = np.flatnonzero(~few)
        found[rows] = _bound_by_rank([level.of_topics(rows) for level in levels], counts.of_topics(rows), enough[rows])
    return found


def _are_enumerable(levels: Sequence[Threshold], seen: Ints) -> Bools:
    """topics: whether each way to judge that many documents is tried."""
    few: Bools = (len(levels) + 1.0) ** np.minimum(seen, 64) <= COMPLETIONS  # powers of thousands overflow
    return few


def _bound_by_rank(levels: list[Threshold], counts: Counts, enough: Floats) -> Floats:
    """Rank by rank the largest difference with that many relevant documents; at each rank it may be of another set."""
    total = counts.total
    edges = _edges(int(total.max(initial=0)))
    low, high = edges[:-1], edges[1:] - 1
    there = low <= total[:, None]
    parts = [np.where(there, level.ceilings(high), -np.inf) for level in levels]
    least, most = (
        [level.step * level.number(np.minimum(number, total[:, None])) for level in levels] for number in (low, high)
    )

    def exact(part: int, rows: Ints, cells: Ints) -> Floats:
        level = levels[part]
        return level.step * counts.of_topics(rows).largest(level.of_topics(rows), low[cells], high[cells])

    sure = [np.arange(len(low)) + np.zeros((len(total), 1)) == 0 for _ in parts]
    return UpperBounds(parts, least, most, exact, sure).largest_ratio(enough)


ExactValues = Callable[[int, Ints, Ints], Floats]
"""What some cells of a part hold: the number of the part, and of each cell the topic and the column."""


@dataclass(frozen=True, eq=False, repr=False)
class UpperBounds:
    """Parts as `largest_ratio` takes them, without a base, of which it is not known what they hold but in the first
    cell: what they do not exceed. What their cells hold is put in where it may be the best; few need be asked for.

    parts, least, most  as there
    exact               what cells hold
    sure                of each part: topics × cells: whether it is known
    """

    parts: list[Floats]
    least: list[Floats]
    most: list[Floats]
    exact: ExactValues
    sure: list[Bools]

    def largest_ratio(self, enough: Floats) -> Floats:
        """topics: as there; where it is `enough` or more, a ratio that is."""
        ratio = _ratio(_firsts(self.parts), _firsts(self.least), np.zeros(len(enough)))
        rows = np.flatnonzero(ratio < enough)
        ratio[rows] = np.maximum(ratio[rows], self._better(rows, enough[rows], ratio[rows]))
        rows = np.flatnonzero(~(ratio >= enough))
        for _ in range(ROUNDS):
            found = self._better(rows, ratio[rows], ratio[rows])
            rising = found > ratio[rows]
            rows = rows[rising]
            ratio[rows] = found[rising]
            if not len(rows):
                break
        return ratio

    def _better(self, rows: Ints, ratio: Floats, otherwise: Floats) -> Floats:
        """of some topics: the ratio of the cells that are best at a ratio: no less than it where any are as good.
        Something else where there is nothing to divide by."""
        numerator, low, high = np.zeros((3, len(rows)))
        for number, (part, least, most) in enumerate(zip(self.parts, self.least, self.most, strict=True)):
            cost = ratio[:, None] * np.where(ratio[:, None] < 0, most[rows], least[rows])
            best = self._best(number, rows, cost)
            for total, cells in zip((numerator, low, high), (part, least, most), strict=True):
                total += cells[rows, best]
        return _ratio(numerator, np.where(numerator < 0, high, low), otherwise)

    def _best(self, number: int, rows: Ints, cost: Floats) -> Ints:
        """of some topics: the cell of a part that is best less its cost."""
        part, sure = self.parts[number], self.sure[number]
        worth = part[rows] - cost
        best: Ints = worth.argmax(1)
        unsure = np.flatnonzero(~sure[rows, best])
        while len(unsure):
            at, cells = rows[unsure], best[unsure]
            part[at, cells], sure[at, cells] = self.exact(number, at, cells), True
            worth[unsure, cells] = part[at, cells] - cost[unsure, cells]
            best[unsure] = worth[unsure].argmax(1)
            unsure = unsure[~sure[at, best[unsure]]]
        return best


def _edges(most: int) -> Ints:
    """0, 1, 2, 3, 4 and then in larger steps, past the most there are: where each cell of numbers of documents begins,
    and the end of the last. They are the same whichever topics go together."""
    edges = [*range(EXACT + 1)]
    while edges[-1] <= most:
        edges.append(edges[-1] * STEP)
    return np.array(edges)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many unjudged documents two runs have.

    total    topics: at whichever rank
    alone    topics × depth: above each rank in the first run alone
    other    the same in the second run alone
    both     in both
    neither  in neither, of all
    seen     topics: how many stand at a rank that counts in one of the runs
    """

    total: Ints
    alone: Ints
    other: Ints
    both: Ints
    neither: Ints
    seen: Ints

    @classmethod
    def of(cls, total: Ints, first: Ints, second: Ints, both: Ints) -> Counts:
        """first   topics × depth: how many the first run has down to each rank, `second` the second, and `both` both"""
        neither = total[:, None].astype(small_integers(int(total.max(initial=0)))) - first - second + both
        seen = sum(sign * table[:, -1:].sum(1, dtype=np.int64) for table, sign in ((first, 1), (second, 1), (both, -1)))
        return cls(total, first - both, second - both, both, neither, seen)

    @classmethod
    def joined(cls, several: Sequence[Counts]) -> Counts:
        """Those of several pairs of runs, the topics of one pair after those of the other."""
        return cls(*(np.concatenate([getattr(one, each.name) for one in several]) for each in fields(cls)))

    def swapped(self) -> Counts:
        """The same of the second run and the first."""
        return replace(self, alone=self.other, other=self.alone)

    def of_topics(self, rows: Ints) -> Counts:
        """Those of some topics alone."""
        return Counts(*(getattr(self, each.name)[rows] for each in fields(self)))

    def largest(self, level: Threshold, low: Ints, high: Ints) -> Floats:
        """topics: Σ_n the largest ω_n (H_n (H_n + 1) − H'_n (H'_n + 1)) / 2 where `low` to `high` documents are
        relevant, of each topic its own number.

        Those above the rank in the first run alone serve most. Those above it in both serve where the first run has
        more, and are taken as few as can be elsewhere; of those in the second alone, it is always as few as can be.
        """
        # Of tables alone, without numbers and np.where: five times as fast as what is plainer.
        none = self.alone.dtype.type(0)
        most = np.minimum(high, self.alone.shape[1]).astype(self.alone.dtype)[:, None]
        alone = np.minimum(self.alone, most)
        first = level.first + alone
        forced = low.astype(self.neither.dtype)[:, None] - self.neither - alone
        fewest = np.minimum(np.maximum(forced, none), self.both)
        both = fewest + (first > level.second) * (np.minimum(self.both, most - alone) - fewest)
        other = np.minimum(np.maximum(forced - both, none), self.other)
        first, second = first + both, level.second + both + other
        return sums_of_precisions(np.multiply(first - second, first + second + 1, dtype=np.float64))


# Whether a difference of average precision is large enough, judged at a few ranks: as a rule it is, by far.


EACH, WIDER = 8, 4 / 3
"""How many first ranks are looked at one by one, and how many times as far down as it begins each block of the ranks
below them ends."""
SURE = 1e-6
"""A sum of precisions that is larger by more than this is larger in whichever order its terms are added."""


def rank_blocks(depth: int) -> Ints:
    """Where blocks of ranks begin, from 0, and the end of the last."""
    edges = [*range(min(depth, EACH) + 1)]
    while edges[-1] < depth:
        edges.append(min(depth, math.ceil(edges[-1] * WIDER)))
    return np.array(edges)


@dataclass(frozen=True, eq=False, repr=False)
class Outline:
    """Two runs by blocks of ranks, of many topics or pairs.

    levels    topics × blocks: what the first run has down to the first rank of each block, and the second down to its
              last; the first alone of what `reaches` gives is looked at
    unjudged  topics × blocks: how many unjudged documents the first run has down to the first rank of each block
    both      topics × blocks: how many of them both runs have down to its last
    room      topics: how many the second run has at no rank that counts; perhaps there are more
    seen      topics: how many stand at a rank that counts in one of the runs
    weights   blocks: Σ ω_n / 2 of the ranks of each
    """

    levels: Sequence[Threshold]
    unjudged: Ints
    both: Ints
    room: Ints
    seen: Ints
    weights: Floats

    def reaches(self, enough: Floats) -> Bools:
        """topics: whether `greatest_precision` is sure to find a difference that is enough; False proves nothing.

        Some cell of each level is enough for that, as `Ceilings` has them: its value is no less than `_least` says, and
        costs what is enough of the smallest number that sums are divided by there.
        """
        possible, sure = (enough >= 0) & ~_are_enumerable(self.levels, self.seen), np.zeros(len(enough), dtype=bool)
        best = np.array(
            [
                level.step * (level.reach[:, 0] - level.base - enough * level.number(np.array([[0]]))[:, 0])
                for level in self.levels
            ]
        )
        edges = _edges(int(self.room.max(initial=0)))
        for low, end in zip(edges[-2:0:-1].tolist(), edges[:1:-1].tolist(), strict=True):
            rows = np.flatnonzero(possible & ~sure & (low <= self.room))
            for at, level in enumerate(level.of_topics(rows) for level in self.levels):
                cost = enough[rows] * level.number(np.array([[low]]))[:, 0]
                best[at, rows] = np.maximum(best[at, rows], level.step * (self._least(level, rows, end - 1) - cost))
            sure[rows] = best[:, rows].sum(0) > SURE
        return sure

    def _least(self, level: Threshold, rows: Ints, high: int) -> Floats:
        """of some topics: what `Counts.largest` is no less than, where up to `high` documents are relevant, and none
        of those that the second run alone has must be.

        At each rank of a block the first run has no fewer documents than at the first, and the second no more than at
        the last; and no more are in both, which lift the second run too.
        """
        both = np.minimum(self.both[rows], self.unjudged[rows])
        alone = np.minimum(self.unjudged[rows] - both, high)
        more = level.first + alone - level.second
        lifted = level.second + np.where(more > 0, np.minimum(both, high - alone), 0)
        least: Floats = (more * (more + 2.0 * lifted + 1)) @ self.weights
        return least


def block_weights(edges: Ints) -> Floats:
    """blocks: Σ ω_n / 2 of the ranks of each.

    edges  as of `rank_blocks`
    """
    weights: Floats = np.add.reduceat(rank_weights(int(edges[-1])), edges[:-1])
    return weights


def _enumerated_pairs(levels: list[Threshold], unknown: UnjudgedDocuments, count: int) -> Floats:
    """topics: the largest difference, by trying all. Documents at no rank that counts change the number of relevant
    ones alone, and so all of them or none.

    count  how many documents each topic has
    """
    unknown, levels = _cut_constant_ranks(unknown, levels)
    base = len(levels) + 1
    grades = np.arange(base**count)[:, None] // base ** np.arange(count) % base  # ways × documents
    found, size = np.empty(len(unknown.hidden)), max(1, CELLS_OF_PAIRS // (len(grades) * max(unknown.depth, 1)))
    for begin in range(0, len(found), size):
        rows = np.arange(begin, min(begin + size, len(found)))
        found[rows] = _enumerated_grades([level.of_topics(rows) for level in levels], unknown.of_topics(rows), grades)
    return found


def _cut_constant_ranks(
    unknown: UnjudgedDocuments, levels: list[Threshold]
) -> tuple[UnjudgedDocuments, list[Threshold]]:
    """The same down to the last rank at which a run has a document that is relevant or may be, where that is far above
    the others: below it no number changes, and what it counts there is the weight of the last rank."""
    ends = [1, *(int(rank[rank < unknown.depth].max(initial=0)) + 1 for rank in (unknown.first, unknown.second))]
    for table in (table for level in levels for table in (level.first, level.second)):
        ends.append(int((table < table[:, -1:]).sum(1).max(initial=0)) + 1)
    depth = max(ends)
    if depth > unknown.depth // WIDTHS:
        return unknown, levels
    cut = replace(unknown, first=np.minimum(unknown.first, depth), second=np.minimum(unknown.second, depth))
    shorter = [replace(level, first=level.first[:, :depth], second=level.second[:, :depth]) for level in levels]
    return replace(cut, depth=depth), shorter


def _enumerated_grades(levels: list[Threshold], unknown: UnjudgedDocuments, grades: Ints) -> Floats:
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
