"""Upper bounds of the difference of two runs over all judgments of their unjudged documents, by kinds of measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, Item

# A document that both runs retrieved is one document, with one grade.


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedDocuments:
    """The unjudged documents of two runs, topic after topic. Only documents at a rank that counts in either run are
    listed.

    topic   per document: its row
    first   per document: its rank in the first run, from 0; `depth` if it is absent or below the last rank that counts
    second  per document: its rank in the second run
    hidden  topics: the number of other unjudged documents, at no rank that counts
    depth   the number of ranks that count
    """

    topic: Ints
    first: Ints
    second: Ints
    hidden: Ints
    depth: int

    @classmethod
    def joined(cls, pairs: Sequence[UnjudgedDocuments]) -> UnjudgedDocuments:
        """Concatenate the documents of pairs of runs: the topics of one pair after the topics of the previous one."""
        begin = np.cumsum([0, *(len(pair.hidden) for pair in pairs)]).tolist()
        topic = np.concatenate([pair.topic + row for pair, row in zip(pairs, begin, strict=False)])
        first, second, hidden = (
            np.concatenate([getattr(pair, name) for pair in pairs]) for name in ("first", "second", "hidden")
        )
        return cls(topic, first, second, hidden, pairs[0].depth)

    def swapped(self) -> UnjudgedDocuments:
        """Return the documents of the second run and the first."""
        return replace(self, first=self.second, second=self.first)

    def select(self, chosen: Bools) -> UnjudgedDocuments:
        """Select documents by a mask."""
        return replace(self, topic=self.topic[chosen], first=self.first[chosen], second=self.second[chosen])

    def of_topics(self, rows: Ints) -> UnjudgedDocuments:
        """Select topics, which become the rows 0, 1, …"""
        row = np.full(len(self.hidden), -1)
        row[rows] = np.arange(len(rows))
        some = self.select(row[self.topic] >= 0)
        return replace(some, topic=row[some.topic], hidden=self.hidden[rows])

    def cut(self, depth: int) -> UnjudgedDocuments:
        """Cut both rankings to fewer ranks; documents below are dropped."""
        if depth >= self.depth:
            return self
        first, second = np.minimum(self.first, depth), np.minimum(self.second, depth)
        return replace(self, first=first, second=second, depth=depth).select(np.minimum(first, second) < depth)

    @property
    def counts(self) -> Ints:
        """The number of listed documents of each topic."""
        counts: Ints = np.bincount(self.topic, minlength=len(self.hidden))
        return counts

    def padded(self, values: NDArray[Item], fill: float) -> NDArray[Item]:
        """Return values of the documents as topics × …, padded with `fill`."""
        counts = self.counts
        order = np.argsort(self.topic, kind="stable")
        table = np.full((len(counts), int(counts.max(initial=0))), fill, dtype=values.dtype)
        table[np.arange(table.shape[1]) < counts[:, None]] = values[order]
        return table


def cumulative_counts(topic: Ints, rank: NDArray[Any], topics: int, depth: int) -> Ints:
    """Count documents at or above each rank, topics × depth, from the topics and ranks of all."""
    counts_at = np.bincount(topic * (depth + 1) + np.minimum(rank, depth), minlength=topics * (depth + 1))
    counts: Ints = counts_at.reshape(topics, depth + 1)[:, :depth].cumsum(1, dtype=small_integers(depth))
    return counts


def small_integers(most: int) -> Any:
    """Return the smallest integer type for numbers up to `most`: smaller tables are read faster."""
    return np.int16 if most < 1 << 15 else np.int64


# Differences of cascade measures: a document at which a user may stop takes the chance from the documents below it.


CELLS = 1 << 16
"""Up to this many completions × ranks of a topic, all completions are tried."""
PASSES = 2
"""Passes in which documents of known effect narrow down the effects of the others."""
NEGLIGIBLE, WIDTHS = 1e-12, 4
"""Gain below a rank that is neglected, with the ranks; and the base: rankings are cut to one of its powers."""


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """One run under a cascade model.

    chance   topics × depth: probability of stopping at each rank, once there; 0 for unjudged documents
    utility  depth: utility of stopping there; never increasing
    """

    chance: Floats
    utility: Floats

    def put(self, topic: Ints, rank: Ints, chance: float) -> Cascade:
        """Return the run with another chance for some documents."""
        changed = self.chance.copy()
        changed[topic, rank] = chance
        return Cascade(changed, self.utility)

    def of_topics(self, rows: Ints | Bools) -> Cascade:
        """Select topics."""
        return Cascade(self.chance[rows], self.utility)

    def cut(self, depth: int) -> Cascade:
        """Return the first ranks."""
        return Cascade(self.chance[:, :depth], self.utility[:depth])

    @cached_property
    def reached(self) -> Floats:
        """The probability of reaching each rank, and of passing the last: topics × (depth + 1)."""
        return _reached(1 - self.chance)

    @property
    def score(self) -> Floats:
        """The score of each topic."""
        summed: Floats = (self.reached[:, :-1] * self.chance) @ self.utility
        return summed

    @cached_property
    def after(self) -> Floats:
        """The expected utility of a user who goes on from each rank, topics × depth."""
        ends = self.chance == 1  # nobody goes on from there: the rest is divided by the chances since then
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
    """Return 1 and the cumulative products of the chances of going on, topics × (ranks + 1)."""
    reached = np.ones((len(on), on.shape[1] + 1))
    np.cumprod(on, axis=1, out=reached[:, 1:])
    return reached


def slopes(low: Cascade, high: Cascade, unknown: UnjudgedDocuments, rank: Ints) -> tuple[Floats, Floats]:
    """Return the least and the largest derivative of the score by the chance of each document. The other documents may
    be anywhere between two states of the run; the derivative is 0 below the last rank that counts. By the chance at
    rank i the score grows by the chance of reaching it times (its utility − the utility that follows)."""
    cell = unknown.topic, np.minimum(rank, unknown.depth - 1)
    here = low.utility[cell[1]] if unknown.depth else np.zeros(len(rank))
    if not unknown.depth:
        return here, here
    least = high.reached[cell] * np.maximum(here - high.after[cell], 0)
    most = low.reached[cell] * np.maximum(here - low.after[cell], 0)
    there = rank < unknown.depth
    return least * there, most * there


def greatest_cascade(first: Cascade, second: Cascade, unknown: UnjudgedDocuments, top: float) -> Floats:
    """Return an upper bound of each topic's difference (first − second) over all judgments of the documents.

    It is exact if few documents may serve either run. The score is linear in the chance of each document, so that the
    extremes are at 0 and `top`, and never falls if a document becomes better. So documents of the first run alone are
    at the top, documents of the second alone at 0. Some documents of both have a derivative of known sign whatever the
    others are, which narrows down the derivatives of the rest. If these are few, all combinations are tried; otherwise
    the bound follows from the derivatives.
    """
    if top == 1 and (first.chance * (1 - first.chance) == 0).all() and (second.chance * (1 - second.chance) == 0).all():
        return _first_relevant(first, second, unknown)
    # Below these ranks next to nothing can be gained under any judgments.
    end = np.maximum(*((run.reached[:, :-1] * run.utility > NEGLIGIBLE).sum(1) for run in (first, second)))
    greatest, remaining = np.empty(len(end)), np.arange(len(end))
    width = WIDTHS
    while len(remaining):
        now = (end[remaining] <= width) | (width >= unknown.depth)
        rows, remaining, width = remaining[now], remaining[~now], width * WIDTHS
        if len(rows):
            last = width // WIDTHS
            rest = first.reached[rows, last] * first.utility[last] if last < unknown.depth else 0.0
            cut, other_cut = (run.of_topics(rows).cut(last) for run in (first, second))
            greatest[rows] = _greatest(cut, other_cut, unknown.of_topics(rows).cut(last), top) + rest
    return greatest


def _greatest(first: Cascade, second: Cascade, unknown: UnjudgedDocuments, top: float) -> Floats:
    """Compute `greatest_cascade` for rankings cut alike."""
    in_first, in_second = unknown.first < unknown.depth, unknown.second < unknown.depth
    alone = in_first & ~in_second
    first = first.put(unknown.topic[alone], unknown.first[alone], top)
    return _greatest_shared(first, second, unknown.select(in_first & in_second), top, PASSES)


def _greatest_shared(first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float, passes: int) -> Floats:
    """Compute the greatest difference for documents of both runs. Each of `passes` settles the terms of known sign."""
    done = both.counts == 0
    greatest_of_topics = np.empty(len(done))
    greatest_of_topics[done] = first.of_topics(done).score - second.of_topics(done).score
    if done.all():
        return greatest_of_topics
    rows = np.flatnonzero(~done)
    first, second, both = first.of_topics(rows), second.of_topics(rows), both.of_topics(rows)
    least, most, ends = _ranges(first, second, both, top)
    sure = (least >= 0) | (most <= 0)
    if passes and sure.any():
        lifted = both.select(sure & (least >= 0))
        first = first.put(lifted.topic, lifted.first, top)
        second = second.put(lifted.topic, lifted.second, top)
        greatest_of_topics[rows] = _greatest_shared(first, second, both.select(~sure), top, passes - 1)
        return greatest_of_topics
    none, every = (a.score - b.score for a, b in ((ends[0], ends[2]), (ends[1], ends[3])))
    up, down = (np.bincount(both.topic, top * np.maximum(step, 0), minlength=len(rows)) for step in (most, -least))
    greatest: Floats = np.minimum.reduce([none + up, every + down, ends[1].score - ends[2].score])
    counts = both.counts
    few = both.depth * 2.0**counts <= CELLS
    for count in np.flatnonzero(np.bincount(counts[few])).tolist():
        some = np.flatnonzero(few & (counts == count))
        tried = first.of_topics(some), second.of_topics(some), both.of_topics(some)
        greatest[some] = _enumerated(*tried, top, count)
    greatest_of_topics[rows] = greatest
    return greatest_of_topics


def _first_relevant(first: Cascade, second: Cascade, unknown: UnjudgedDocuments) -> Floats:
    """Compute `greatest_cascade`, exactly, for users who stop at the first relevant document. In the first run it is an
    unjudged document or a judged one, and in the second no more need be relevant."""
    utility = np.append(first.utility, 0.0)
    certain = (np.pad(run.chance == 1, ((0, 0), (0, 1)), constant_values=True) for run in (first, second))
    best_utility = [utility[stops.argmax(1)] for stops in certain]
    alone = (unknown.first < unknown.depth) & (unknown.second == unknown.depth)
    np.maximum.at(best_utility[0], unknown.topic[alone], utility[unknown.first[alone]])
    greatest: Floats = best_utility[0] - best_utility[1]
    both = unknown.select((unknown.first < unknown.depth) & (unknown.second < unknown.depth))
    lifted = np.maximum(best_utility[0][both.topic], utility[both.first])
    np.maximum.at(greatest, both.topic, lifted - np.maximum(best_utility[1][both.topic], utility[both.second]))
    return greatest


def _ranges(
    first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float
) -> tuple[Floats, Floats, tuple[Cascade, Cascade, Cascade, Cascade]]:
    """Return the least and the largest derivative of the difference by each document of both runs. Also returns the
    first run with none and with all of them at the top, and the second run."""
    ends = first, first.put(both.topic, both.first, top), second, second.put(both.topic, both.second, top)
    of_first, of_second = slopes(ends[0], ends[1], both, both.first), slopes(ends[2], ends[3], both, both.second)
    return of_first[0] - of_second[1], of_first[1] - of_second[0], ends


def _enumerated(first: Cascade, second: Cascade, both: UnjudgedDocuments, top: float, count: int) -> Floats:
    """Return the largest difference of each topic over all combinations of its `count` documents."""
    chosen: Bools = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1 == 1  # ways × documents
    greatest, size = np.empty(len(both.hidden)), max(1, CELLS // (len(chosen) * both.depth))
    for begin in range(0, len(greatest), size):
        rows = np.arange(begin, min(begin + size, len(greatest)))
        some, scores = both.of_topics(rows), []
        for run, rank in ((first, some.first), (second, some.second)):
            chance = np.repeat(run.chance[rows], len(chosen), axis=0).reshape(len(rows), len(chosen), both.depth)
            ranks = some.padded(rank, 0)
            chance[np.arange(len(rows))[:, None, None], np.arange(len(chosen))[:, None], ranks[:, None]] = top * chosen
            scores.append(Cascade(chance.reshape(-1, both.depth), run.utility).score.reshape(len(rows), -1))
        greatest[rows] = (scores[0] - scores[1]).max(1)
    return greatest


# Differences that are sums of gains by rank, also divided by the sum of the ideal ranking, which both runs share.


ROUNDS = 100
"""Maximum rounds of a search that takes two to five."""


def greatest_sum(difference: Floats, unknown: UnjudgedDocuments, values: Floats) -> Floats:
    """Return the largest Σ gain · w of the first run less the same sum of the second, per topic. Exact.

    Documents that serve the first run more get the top gain, the others 0.

    difference  topics: the difference of judged documents
    values      depth + 1: the value of a document of the top gain at each rank; the last is 0
    """
    rise = values[unknown.first] - values[unknown.second]
    return difference + np.bincount(unknown.topic, np.maximum(rise, 0.0), minlength=len(unknown.hidden))


@dataclass(frozen=True, eq=False, repr=False)
class Ideal:
    """The divisor of the sums of both runs: Σ_j step_j I(number of documents with a gain of level j or more).

    steps   levels: from each gain to the next higher one
    counts  topics × levels: the number of judged documents with that gain or more
    value   I(0), I(1), I(2), …, concave; the last entry stands for all that follow
    """

    steps: Floats
    counts: Ints
    value: Floats

    def of_topics(self, rows: Ints) -> Ideal:
        """Select topics."""
        return replace(self, counts=self.counts[rows])

    def at(self, more: Ints, level: int) -> Floats:
        """Return the part of a level, topics × …, with `more` more documents of that gain."""
        number = np.minimum(self.counts[:, level, None] + more, len(self.value) - 1)
        part: Floats = self.steps[level] * self.value[number]
        return part


def greatest_share(difference: Floats, unknown: UnjudgedDocuments, weights: Floats, ideal: Ideal) -> Floats:
    """Return the largest Σ gain · w of the first run less that of the second, as a share of the ideal, per topic.
    Exact.

    For a share λ, the numerator less λ times the ideal is a sum over levels of gain. At each level it is best to lift
    the documents that serve the first run most, some number of them, and the numbers of the levels are consistent for λ
    ≥ 0: a lift costs less, the more documents have that gain already. For λ < 0 it is the reverse, and all levels have
    one number: each document has no gain or the top gain.

    difference  topics: the difference of judged documents, before the division
    weights     depth + 1: the weight of a gain of 1 at each rank; the last is 0
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
    greatest = largest_ratio(difference, steps, parts, parts)
    if len(below):
        greatest[below] = _greatest_negative_share(
            difference[below], unknown.of_topics(below), weights, ideal.of_topics(below)
        )
    return greatest


def _greatest_negative_share(difference: Floats, unknown: UnjudgedDocuments, weights: Floats, ideal: Ideal) -> Floats:
    """Compute `greatest_share` below 0, where documents that serve neither run count: they enlarge the ideal."""
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
    """Return the largest (base + Σ_j parts_j[c_j]) / Σ_j whole_j[c_j] over all choices of a cell c_j of each part, per
    topic.

    0 if both are 0. Dinkelbach, Management Science 1967: from below, each round takes the best cells at the current
    ratio.

    base   topics
    parts  per part: topics × cells, -inf for no cell
    least  per part: topics × cells, the smallest that the whole may be there, and `most` the largest; the value for the
           larger ratio is used. In the first cell they are equal
    """
    ratio = _ratio(base + _firsts(parts), _firsts(least), np.zeros(len(base)))
    for _ in range(ROUNDS):
        numerator, low, high = base.copy(), np.zeros(len(base)), np.zeros(len(base))
        for part, *wholes in zip(parts, least, most, strict=True):
            best = (part - ratio[:, None] * np.where(ratio[:, None] < 0, wholes[1], wholes[0])).argmax(1)[:, None]
            for total, cells in zip((numerator, low, high), (part, *wholes), strict=True):
                total += np.take_along_axis(cells, best, 1)[:, 0]
        improved = _ratio(numerator, np.where(numerator < 0, high, low), ratio)
        if not (improved > ratio).any():
            break
        ratio = np.maximum(improved, ratio)
    return ratio


def _firsts(parts: list[Floats]) -> Floats:
    """Return the sum of the first cells of each topic."""
    return np.asarray(np.sum([part[:, 0] for part in parts], axis=0))


def _ratio(numerator: Floats, whole: Floats, otherwise: Floats) -> Floats:
    return np.divide(numerator, whole, out=otherwise.copy(), where=whole > 0)


# Differences of average precision, by one or more thresholds of relevance.
#
# Σ_{i relevant} P@i is Σ_n ω_n H_n (H_n + 1) / 2, H_n: relevant documents down to rank n, ω_n = 1/n − 1/(n+1), and 1/n
# at the last rank. So a difference is a sum over ranks, and at each rank it depends on the counts of relevant documents
# above it in the first run alone, in the second alone, and in both.


COMPLETIONS = 4096
"""Up to this many judgments of the documents of a topic, all are tried."""
CELLS_OF_PAIRS = 1 << 18
"""Judgments × ranks tried in one go."""
NEGLIGIBLE_SUM = 1e-9
"""More than the last bits by which sums of precisions in another order differ."""
EXACT, STEP = 4, 2
"""Beyond the first, numbers of relevant documents are known up to the factor STEP."""


@dataclass(frozen=True, eq=False, repr=False)
class Threshold:
    """A threshold of relevance.

    step    its share of the users
    first   topics × depth: the relevant judged documents of the first run down to each rank
    second  the same of the second run
    reach   topics × …: `reachable_sums` of the first run
    base    topics: the first of `reachable_sums` of the second run
    counts  topics: the number of relevant documents; None if the sums are not divided by it
    most    the maximum of it that counts
    """

    step: float
    first: Ints
    second: Ints
    reach: Floats
    base: Floats
    counts: Ints | None
    most: float = np.inf

    def of_topics(self, rows: Ints) -> Threshold:
        """Select topics."""
        names = ("first", "second", "reach", "base", "counts")
        return replace(self, **{name: value[rows] for name in names if (value := getattr(self, name)) is not None})

    def ceilings(self, high: Ints) -> Floats:
        """Return upper bounds of the difference of the sums for at most `high` relevant documents, from none on."""
        column = np.minimum(np.frexp(high)[1], self.reach.shape[1] - 1)
        bounds: Floats = self.step * (self.reach[:, column] - self.base[:, None])
        bounds[:, 1:] += NEGLIGIBLE_SUM
        return bounds

    def number(self, more: Ints) -> Floats:
        """Return the divisor of the sums, topics × …, with `more` more relevant documents."""
        return np.ones(np.shape(more)) if self.counts is None else np.minimum(self.counts[:, None] + more, self.most)


def rank_weights(depth: int) -> Floats:
    """Return ω_n / 2 of ranks 1 to `depth`."""
    rank = np.arange(1.0, depth + 1)
    weights: Floats = 1 / (rank * (rank + 1))
    weights[-1:] = 1 / rank[-1:]
    return weights / 2


def sums_of_precisions(twice: Floats) -> Floats:
    """Return Σ_n ω_n / 2 · the values of each topic, equal to the last bit whichever topics are summed together."""
    return np.asarray(np.einsum("ij,j->i", twice, rank_weights(twice.shape[1])))


def reachable_sums(hits: Ints, unjudged: Ints) -> Floats:
    """Return Σ_n ω_n H_n (H_n + 1) / 2, topics × …, as it is, and its maxima for at most 1, 3, 7, … relevant unjudged
    documents.

    The last number is at least the number of ranks.

    hits      topics × depth: the relevant documents down to each rank, and `unjudged` the unjudged ones
    """
    depth = hits.shape[1]
    numbers = (hits + np.minimum(unjudged, min((1 << bits) - 1, depth)) for bits in range(depth.bit_length() + 1))
    return np.stack([sums_of_precisions(number * (number + 1.0)) for number in numbers], axis=1)


def greatest_precision(
    levels: list[Threshold], counts: Counts, listed: Callable[[Ints], UnjudgedDocuments], enough: Floats
) -> Floats:
    """Return an upper bound of each topic's difference of average precision (first − second) over all judgments.

    It is exact for at most `COMPLETIONS` judgments.

    listed  rows of topics -> their documents one by one, called for topics with few
    enough  topics: differences of at least this need not be told apart; nan: no limit
    """
    seen, greatest = counts.seen, np.empty(len(counts.total))
    few = _are_enumerable(levels, seen)
    if few.any():
        chosen = np.flatnonzero(few)
        unknown = listed(chosen)
        for count in np.flatnonzero(np.bincount(seen[chosen])).tolist():
            same_count = np.flatnonzero(seen[chosen] == count)
            thresholds = [level.of_topics(chosen[same_count]) for level in levels]
            greatest[chosen[same_count]] = _enumerated_pairs(thresholds, unknown.of_topics(same_count), count)
    if not few.all():
        rows = np.flatnonzero(~few)
        greatest[rows] = _bound_by_rank(
            [level.of_topics(rows) for level in levels], counts.of_topics(rows), enough[rows]
        )
    return greatest


def _are_enumerable(levels: Sequence[Threshold], seen: Ints) -> Bools:
    """Return for each topic whether all judgments of that many documents are tried."""
    return np.asarray((len(levels) + 1.0) ** np.minimum(seen, 64) <= COMPLETIONS)  # powers of thousands overflow


def _bound_by_rank(levels: list[Threshold], counts: Counts, enough: Floats) -> Floats:
    """Bound the difference rank by rank, over numbers of relevant documents."""
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
"""Values of cells, from the number of the part, and the topic and the column of each cell."""


@dataclass(frozen=True, eq=False, repr=False)
class UpperBounds:
    """Upper bounds of the parts of `largest_ratio`, without a base; only the first cell is exact.

    Exact values of cells replace bounds where they may be the best; few are needed.

    parts, least, most  as in `largest_ratio`
    exact               exact values of cells
    sure                per part: topics × cells: whether the value is exact
    """

    parts: list[Floats]
    least: list[Floats]
    most: list[Floats]
    exact: ExactValues
    sure: list[Bools]

    def largest_ratio(self, enough: Floats) -> Floats:
        """Return the largest ratio of each topic; if it is `enough` or more, a ratio that is."""
        ratio = _ratio(_firsts(self.parts), _firsts(self.least), np.zeros(len(enough)))
        rows = np.flatnonzero(ratio < enough)
        ratio[rows] = np.maximum(ratio[rows], self._better(rows, enough[rows], ratio[rows]))
        rows = np.flatnonzero(~(ratio >= enough))
        for _ in range(ROUNDS):
            better = self._better(rows, ratio[rows], ratio[rows])
            rising = better > ratio[rows]
            rows = rows[rising]
            ratio[rows] = better[rising]
            if not len(rows):
                break
        return ratio

    def _better(self, rows: Ints, ratio: Floats, otherwise: Floats) -> Floats:
        """Return the ratio of the cells that are best at a ratio; `otherwise` if there is nothing to divide by."""
        numerator, low, high = np.zeros((3, len(rows)))
        for number, (part, least, most) in enumerate(zip(self.parts, self.least, self.most, strict=True)):
            cost = ratio[:, None] * np.where(ratio[:, None] < 0, most[rows], least[rows])
            best = self._best(number, rows, cost)
            for total, cells in zip((numerator, low, high), (part, least, most), strict=True):
                total += cells[rows, best]
        return _ratio(numerator, np.where(numerator < 0, high, low), otherwise)

    def _best(self, number: int, rows: Ints, cost: Floats) -> Ints:
        """Return the cell of a part with the largest value less its cost, for some topics."""
        part, sure = self.parts[number], self.sure[number]
        net = part[rows] - cost
        best: Ints = net.argmax(1)
        unsure = np.flatnonzero(~sure[rows, best])
        while len(unsure):
            topics, cells = rows[unsure], best[unsure]
            part[topics, cells], sure[topics, cells] = self.exact(number, topics, cells), True
            net[unsure, cells] = part[topics, cells] - cost[unsure, cells]
            best[unsure] = net[unsure].argmax(1)
            unsure = unsure[~sure[topics, best[unsure]]]
        return best


def _edges(most: int) -> Ints:
    """Return the begins of cells of numbers of documents, and the end of the last; the same for any topics."""
    edges = [*range(EXACT + 1)]
    while edges[-1] <= most:
        edges.append(edges[-1] * STEP)
    return np.array(edges)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Numbers of unjudged documents of two runs.

    total        topics: at any rank
    first_only   topics × depth: above each rank in the first run alone
    second_only  the same in the second run alone
    both         in both
    neither      in neither, of all
    seen         topics: at a rank that counts in either run
    """

    total: Ints
    first_only: Ints
    second_only: Ints
    both: Ints
    neither: Ints
    seen: Ints

    @classmethod
    def of(cls, total: Ints, first: Ints, second: Ints, both: Ints) -> Counts:
        """Build from the documents down to each rank, topics × depth, of the first run, the second, and both."""
        neither = total[:, None].astype(small_integers(int(total.max(initial=0)))) - first - second + both
        seen = sum(sign * table[:, -1:].sum(1, dtype=np.int64) for table, sign in ((first, 1), (second, 1), (both, -1)))
        return cls(total, first - both, second - both, both, neither, seen)

    @classmethod
    def joined(cls, pairs: Sequence[Counts]) -> Counts:
        """Concatenate counts of pairs of runs: the topics of one pair after the topics of the previous one."""
        return cls(*(np.concatenate([getattr(pair, each.name) for pair in pairs]) for each in fields(cls)))

    def swapped(self) -> Counts:
        """Return the counts of the second run and the first."""
        return replace(self, first_only=self.second_only, second_only=self.first_only)

    def of_topics(self, rows: Ints) -> Counts:
        """Select topics."""
        return Counts(*(getattr(self, each.name)[rows] for each in fields(self)))

    def largest(self, level: Threshold, low: Ints, high: Ints) -> Floats:
        """Return Σ_n of the largest ω_n (H_n (H_n + 1) − H'_n (H'_n + 1)) / 2 with `low` to `high` relevant documents,
        per topic. Documents above the rank in the first run alone serve most. Documents above it in both serve if the
        first run has more, and are as few as possible otherwise; documents of the second alone are always as few as
        possible."""
        # Tables alone, without numbers and np.where, are five times as fast as plainer code.
        none = self.first_only.dtype.type(0)
        most = np.minimum(high, self.first_only.shape[1]).astype(self.first_only.dtype)[:, None]
        lifted = np.minimum(self.first_only, most)
        first = level.first + lifted
        forced = low.astype(self.neither.dtype)[:, None] - self.neither - lifted
        fewest = np.minimum(np.maximum(forced, none), self.both)
        both = fewest + (first > level.second) * (np.minimum(self.both, most - lifted) - fewest)
        added = np.minimum(np.maximum(forced - both, none), self.second_only)
        first, second = first + both, level.second + both + added
        return sums_of_precisions(np.multiply(first - second, first + second + 1, dtype=np.float64))


# Whether a difference of average precision is large enough, judged at a few ranks: as a rule it is, by far.


EACH, WIDER = 8, 4 / 3
"""Number of first ranks taken one by one, and the ratio of end to begin of each block of the ranks below."""
SURE = 1e-6
"""A sum of precisions larger by more than this is larger in any order of its terms."""


def rank_blocks(depth: int) -> Ints:
    """Return the begins of blocks of ranks, from 0, and the end of the last."""
    edges = [*range(min(depth, EACH) + 1)]
    while edges[-1] < depth:
        edges.append(min(depth, math.ceil(edges[-1] * WIDER)))
    return np.array(edges)


@dataclass(frozen=True, eq=False, repr=False)
class Outline:
    """Two runs by blocks of ranks, for many topics or pairs.

    levels    topics × blocks: the first run down to the first rank of each block, the second down to the last; only the
              first of `reachable_sums` is used
    unjudged  topics × blocks: unjudged documents of the first run down to the first rank of each block
    both      topics × blocks: unjudged documents of both runs down to its last rank
    room      topics: unjudged documents of the second run at no rank that counts; there may be more
    seen      topics: unjudged documents at a rank that counts in either run
    weights   blocks: Σ ω_n / 2 of the ranks of each
    """

    levels: Sequence[Threshold]
    unjudged: Ints
    both: Ints
    room: Ints
    seen: Ints
    weights: Floats

    def reaches(self, enough: Floats) -> Bools:
        """Return for each topic whether `greatest_precision` surely reaches `enough`; False proves nothing. Some cell
        of each level suffices, as in `UpperBounds`: its value is at least `_least`, and its cost is `enough` times the
        smallest divisor there."""
        possible, sure = (enough >= 0) & ~_are_enumerable(self.levels, self.seen), np.zeros(len(enough), dtype=bool)
        least = (level.reach[:, 0] - level.base - enough * level.number(np.array([[0]]))[:, 0] for level in self.levels)
        best = np.array([level.step * value for level, value in zip(self.levels, least, strict=True)])
        edges = _edges(int(self.room.max(initial=0)))
        for low, end in zip(edges[-2:0:-1].tolist(), edges[:1:-1].tolist(), strict=True):
            rows = np.flatnonzero(possible & ~sure & (low <= self.room))
            for position, level in enumerate(level.of_topics(rows) for level in self.levels):
                cost = enough[rows] * level.number(np.array([[low]]))[:, 0]
                value = level.step * (self._least(level, rows, end - 1) - cost)
                best[position, rows] = np.maximum(best[position, rows], value)
            sure[rows] = best[:, rows].sum(0) > SURE
        return sure

    def _least(self, level: Threshold, rows: Ints, high: int) -> Floats:
        """Return a lower bound of `Counts.largest` for some topics, with up to `high` relevant documents. No document
        of the second run alone needs to be relevant. At each rank of a block the first run has at least its documents
        at the first rank, and the second at most its documents at the last; and no more are in both, which lift the
        second run too."""
        both = np.minimum(self.both[rows], self.unjudged[rows])
        alone = np.minimum(self.unjudged[rows] - both, high)
        more = level.first + alone - level.second
        lifted = level.second + np.where(more > 0, np.minimum(both, high - alone), 0)
        least: Floats = (more * (more + 2.0 * lifted + 1)) @ self.weights
        return least


def _enumerated_pairs(levels: list[Threshold], unknown: UnjudgedDocuments, count: int) -> Floats:
    """Return the largest difference of each topic over all judgments of its `count` documents. Documents at no rank
    that counts change only the number of relevant ones, and so are all relevant or none."""
    unknown, levels = _cut_constant_ranks(unknown, levels)
    base = len(levels) + 1
    grades = np.arange(base**count)[:, None] // base ** np.arange(count) % base  # ways × documents
    greatest, size = np.empty(len(unknown.hidden)), max(1, CELLS_OF_PAIRS // (len(grades) * max(unknown.depth, 1)))
    for begin in range(0, len(greatest), size):
        rows = np.arange(begin, min(begin + size, len(greatest)))
        greatest[rows] = _enumerated_grades(
            [level.of_topics(rows) for level in levels], unknown.of_topics(rows), grades
        )
    return greatest


def _cut_constant_ranks(
    unknown: UnjudgedDocuments, levels: list[Threshold]
) -> tuple[UnjudgedDocuments, list[Threshold]]:
    """Cut both runs at the last rank with a relevant or unjudged document, if that is far above the end. Below it no
    number changes: these ranks count with the weight of the last rank."""
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
    """Compute `_enumerated_pairs` for a few topics and all `grades`."""
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
