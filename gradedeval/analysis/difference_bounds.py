"""Bounds of the difference of two runs over all judgments of their unjudged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis import greatest_differences
from gradedeval.analysis.greatest_differences import (
    Cascade,
    Counts,
    Threshold,
    UnjudgedDocuments,
    cumulative_counts,
    small_integers,
)
from gradedeval.analysis.reversals import Part, RereadRuns
from gradedeval.analysis.score_matrix import Paired, known_measure
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, distinct, ranges
from gradedeval.errors import Note
from gradedeval.kernel.measures.bounds import may_fall
from gradedeval.kernel.measures.definition import Measure, RankSum
from gradedeval.kernel.measures.gains import Gains, run_measure, scores_of
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import progress
from gradedeval.kernel.scoring.scorer import Scorer, bounds_of_rows, bounds_with_unretrieved, unseen_note

# The documents of a run by rank, judged and unjudged, and the shared ones of two runs.


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """One run by one measure.

    gain    topics × depth: gains of judged documents
    levels  the gains of the labels
    beyond  topics: maximum contribution beyond the end of the run
    topic   per unjudged document at a rank that counts, or that counts in the divisor of scores: its row; topic after
            topic, by rank
    rank    per document: its rank, from 0
    number  per document: its number
    place   number of a document -> its rank; −1 if absent
    """

    gain: Floats
    levels: Floats
    beyond: Floats
    topic: Ints
    rank: Ints
    number: Ints
    place: NDArray[Any]

    @classmethod
    def of(cls, gain: Floats, levels: Floats, beyond: Floats, topic: Ints, rank: Ints, number: Ints) -> Ranking:
        """Build the ranking with these unjudged documents, by rank within each topic."""
        if (topic[1:] < topic[:-1]).any():
            order = np.argsort(topic, kind="stable")
            topic, rank, number = topic[order], rank[order], number[order]
        deepest = max(int(rank.max(initial=0)), gain.shape[1])
        place = np.full(int(number.max(initial=0)) + 2, -1, dtype=small_integers(deepest))
        place[number] = rank
        return cls(gain, levels, beyond, topic, rank, number, place)

    def places(self, number: Ints) -> NDArray[Any]:
        """Return the ranks of documents, also of documents without a number when this run was read."""
        return self.place.take(number, mode="clip")

    @cached_property
    def hits(self) -> list[Ints]:
        """Documents of each level of gain or more at or above each rank: per level, topics × depth."""
        kind = small_integers(2 * self.gain.shape[1] + 1)
        return [(self.gain >= level).cumsum(1, dtype=kind) for level in self.levels.tolist()]

    @cached_property
    def sizes(self) -> Ints:
        """The number of unjudged documents of each topic."""
        return np.bincount(self.topic, minlength=len(self.gain))

    @cached_property
    def begin(self) -> Ints:
        """The index of the first unjudged document of each topic."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @cached_property
    def unjudged(self) -> Ints:
        """Unjudged documents at or above each rank, topics × depth."""
        return cumulative_counts(self.topic, self.rank, *self.gain.shape)

    @cached_property
    def reach(self) -> list[Floats]:
        """`reachable_sums` of each level: per level, topics × …"""
        return [greatest_differences.reachable_sums(hits, self.unjudged) for hits in self.hits]

    @cached_property
    def top(self) -> Ints:
        """The unjudged documents at a rank that counts."""
        return np.flatnonzero(self.rank < self.gain.shape[1])


def unjudged_of(first: Ranking, second: Ranking, unseen: int | Ints) -> UnjudgedDocuments:
    """Return the unjudged documents of two runs, and `unseen` in each topic that neither retrieved."""
    topics, depth = first.gain.shape
    of_first, of_second = first.top, second.top
    there = first.places(second.number[of_second])
    below, only = of_second[there >= depth], of_second[there < 0]  # in the first run: no rank that counts, nowhere
    topic = np.append(first.topic[of_first], second.topic[below])
    number = np.append(first.number[of_first], second.number[below])
    rank = np.append(first.rank[of_first], there[there >= depth])
    if len(below):  # by topic and rank, as all are listed
        order = np.lexsort((rank, topic))
        topic, number, rank = topic[order], number[order], rank[order]
    place = second.places(number)
    ranks = (
        np.append(np.minimum(rank, depth), np.full(len(only), depth)),
        np.append(np.where(place < 0, depth, np.minimum(place, depth)), second.rank[only]),
    )
    topic = np.append(topic, second.topic[only])
    of_both = np.flatnonzero(second.places(first.number) >= 0)
    shared = np.diff(np.searchsorted(of_both, first.begin + first.sizes), prepend=0)
    hidden = first.sizes + second.sizes - shared - np.bincount(topic, minlength=topics) + unseen
    return UnjudgedDocuments(topic, *ranks, hidden, depth)


def counts_of(first: Ranking, second: Ranking, unseen: int | Ints, rows: Ints) -> Counts:
    """Count the unjudged documents of two runs in these topics, with `unseen` in each that neither retrieved."""
    sizes = first.sizes[rows]
    documents = ranges(first.begin[rows], sizes)
    rank, place = first.rank[documents], second.places(first.number[documents])
    shared = np.flatnonzero(place >= 0)
    row = np.repeat(np.arange(len(rows)), sizes)[shared]
    both = cumulative_counts(row, np.maximum(place[shared], rank[shared]), len(rows), first.gain.shape[1])
    more = np.broadcast_to(unseen, first.sizes.shape)[rows]
    total = sizes + second.sizes[rows] - np.bincount(row, minlength=len(rows)) + more
    return Counts.of(total, first.unjudged[rows], second.unjudged[rows], both)


def shared_above(runs: Sequence[Ranking], first: Ints, ends: Ints) -> Iterator[Floats]:
    """Yield for each topic the unjudged documents that two runs share above some ranks: ends × first runs × runs."""
    topic_of = _topic_by_document([(runs[run].topic, runs[run].number) for run in first.tolist()])
    order = np.argsort(topic_of, kind="stable")
    begins = np.searchsorted(topic_of[order], np.arange(len(runs[0].gain) + 1)).tolist()
    for begin, end in pairwise(begins):
        place = np.stack([run.places(order[begin:end]) for run in runs])
        nowhere = np.iinfo(place.dtype).max
        place[place < 0] = nowhere
        best = place.min(0, initial=nowhere)
        by_best = np.argsort(best, kind="stable")
        place, counts = place[:, by_best], np.searchsorted(best[by_best], ends).tolist()
        shared = np.empty((len(ends), len(first), len(runs)))
        for i, (rank, count) in enumerate(zip(ends.tolist(), counts, strict=True)):
            above = (place[:, :count] < rank).astype(np.float32)  # whose products are exact, and quick
            shared[i] = above[first] @ above.T
        yield shared


# Bounds of the score of each of two runs over all judgments of the unjudged documents of both.
#
# The difference of two runs stays between low − high and high − low of each: no more is known if a measure is not a sum
# over ranks. Documents that only the second run retrieved are missed by the first, and may be relevant.


PRECISION = 8
"""Missed documents are exact up to twice this; above, rounded up to an eighth of a power of two: a few more lower a
score little, and topics with equal numbers are scored once."""


def separate_bounds(
    paired: Paired, first: Ints, second: Ints, reread: RereadRuns, beside_all: bool = False
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest score of each run of a pair, each 2 runs × pairs × topics; nan if unknown.

    beside_all  whether the runs miss the documents of all paired runs, not of the other run alone
    """
    ends, runs = np.full((2, 2, len(first), len(paired.topics)), np.nan), np.array([first, second])
    parts = [reread.parts(name, paired.topics) for name in paired.runs]
    readable = np.array([part is not None for part in parts])
    readable_pairs = readable[runs].all(0)
    unretrieved = np.zeros(ends.shape[1:], dtype=np.int64)
    if may_fall(reread.scorer.measures[reread.column[paired.measure]]):
        unretrieved = _unretrieved_counts(parts, runs, readable_pairs, paired.topics, beside_all)
    for run in np.unique(runs[:, readable_pairs]).tolist():
        cells = (runs == run) & readable_pairs
        some = parts[run]
        assert some is not None
        low, score, high = _score_bounds(reread, some, paired, unretrieved[cells])
        if np.allclose(score, paired.score[run], rtol=1e-9, atol=1e-9):  # else the file has changed since
            ends[:, cells] = low, high
    return ends[0], ends[1]


def _unretrieved_counts(
    parts: list[list[Part] | None], runs: Ints, readable: Bools, topics: list[str], beside_all: bool
) -> Ints:
    """Count the unjudged documents that a run misses, rounded up: 2 runs × pairs × topics."""
    row = {topic: row for row, topic in enumerate(topics)}
    of_run, none = list[tuple[Ints, Ints]](), np.zeros(0, np.int64)
    for parts_of_run in parts:
        rows = [np.array([row[name] for name in part.names])[part.unjudged.nonzero()[0]] for part in parts_of_run or ()]
        numbers = [part.number[part.unjudged] for part in parts_of_run or ()]
        of_run.append((np.concatenate([*rows, none]), np.concatenate([*numbers, none])))
    size = max(int(number.max(initial=0)) for _, number in of_run) + 1
    unretrieved = np.zeros((*runs.shape, len(topics)), dtype=np.int64)
    has = {}
    for run in np.unique(runs[:, readable]).tolist():
        has[run] = np.zeros(size, dtype=bool)
        has[run][of_run[run][1]] = True
    count = [np.bincount(topic, minlength=len(topics)) for topic, _ in of_run]
    whole = documents_by_topic(of_run, len(topics)) if beside_all else None
    for pair in np.flatnonzero(readable).tolist():
        first, second = runs[:, pair].tolist()
        topic, number = of_run[first]
        shared = np.bincount(topic[has[second][number]], minlength=len(topics))
        every = count[first] + count[second] - shared if whole is None else whole
        unretrieved[0, pair], unretrieved[1, pair] = every - count[first], every - count[second]
    step = 1 << np.maximum(np.frexp(unretrieved / PRECISION)[1] - 1, 0)
    rounded: Ints = -(-unretrieved // step) * step
    return rounded


def documents_by_topic(of_runs: Sequence[tuple[Ints, Ints]], topics: int) -> Ints:
    """Count the documents of each topic, from the topic and the number of each document of each run."""
    topic_of = _topic_by_document(of_runs)
    return np.bincount(topic_of[topic_of >= 0], minlength=topics)


def _topic_by_document(of_runs: Sequence[tuple[Ints, Ints]]) -> Ints:
    """Return the topic of each document number; −1 if no run has it."""
    topic_of = np.full(max(int(number.max(initial=-1)) for _, number in of_runs) + 1, -1)
    for topic, number in of_runs:
        topic_of[number] = topic
    return topic_of


def _score_bounds(reread: RereadRuns, parts: list[Part], paired: Paired, unretrieved: Ints) -> Floats:
    """Return the lowest score, the score and the highest of a run that missed documents: 3 × pairs × topics."""
    topics, column = len(paired.topics), reread.column[paired.measure]
    cell, place = distinct((unretrieved * topics + np.arange(topics)).ravel())
    number, row = np.divmod(cell, topics)
    ends = np.full((3, len(cell)), np.nan)
    for part in parts:
        row_of = {name: rows for rows, name in enumerate(part.names)}
        rows = np.array([row_of.get(topic, -1) for topic in paired.topics])[row]
        mine = np.flatnonzero(rows >= 0)
        ends[:, mine] = _part_score_bounds(reread.scorer, part, column, rows[mine], number[mine])
    return ends[:, place.reshape(unretrieved.shape)]


def _part_score_bounds(scorer: Scorer, part: Part, column: int, rows: Ints, unretrieved: Ints) -> Floats:
    """Compute `_score_bounds` for topics of a part, 3 × rows; a topic has as many rows as numbers."""
    bounds = bounds_of_rows(scorer, part.batch, column, rows, unretrieved)
    if bounds is not None:
        return bounds
    size, ends = max(1, CELLS // max(part.number.shape[1], 1)), np.empty((3, len(rows)))
    for begin in range(0, len(rows), size):
        some = slice(begin, begin + size)
        ends[:, some] = bounds_with_unretrieved(scorer, part.batch.select(rows[some]), column, unretrieved[some])
    return ends


# Bounds of the difference of two runs over all judgments of their unjudged documents.
#
# Both runs are under one completion of the judgments: each unjudged document of either run has a grade, or stays
# unjudged, for both. Of other documents `Options.unseen` may be relevant too, by default none.


CELLS = 1 << 18
"""Topics × ranks processed in one go."""
ENDLESS = 1 << 40
"""Stands for any number of documents."""


class Differences:
    """All pairs of runs by one measure. Besides the documents of the two, documents of all paired runs may turn out to
    be relevant with `beside_all`."""

    def __init__(self, reread: RereadRuns, paired: Paired, beside_all: bool = False) -> None:
        self.reread, self.paired, self.beside_all = reread, paired, beside_all
        self.scorer, self.column = reread.scorer, reread.column[paired.measure]
        self.measure: Measure = self.scorer.measures[self.column]
        self.table = self.scorer.tables[self.column]
        self.rankings: dict[str, Ranking | None] = {}
        unseen = self.scorer.options.unseen or 0
        self.unseen = ENDLESS if np.isinf(unseen) else int(unseen)

    @cached_property
    def rank_sum(self) -> RankSum | None:
        """The sum over ranks of the measure, if it counts here."""
        options, measure = self.scorer.options, self.measure
        moved = options.ties == "average" or options.costs is not None or options.residual_depth == "full"
        mean = measure.residual != "none" and measure.reading.summary != "geometric" and not measure.by_intent
        return measure.rank_sum if mean and not moved and self.table.top > 0 else None

    @property
    def are_exact(self) -> bool:
        """Whether some completion of the judgments reaches the bounds on all topics."""
        sums = self.rank_sum
        return sums is not None and sums.of == "gain" and self.measure.residual != "beyond_run"

    def bounds(self, first: Ints, second: Ints, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and highest second − first, pairs × topics; nan if unknown.

        least  pairs × topics: lower bounds known otherwise, nan for none: differences that can come as low are not told
               apart. `most` has the upper ones
        """
        ends = np.full((2, len(first), len(self.paired.topics)), np.nan)
        sums, names = self.rank_sum, self.paired.runs
        pairs = progress("pairs of runs")(list(zip(first.tolist(), second.tolist(), strict=True)))
        readable = np.array(
            [sums is not None and all(self._ranking(names[run]) for run in pair) for pair in pairs], bool
        )
        if sums is None or not readable.any():
            return ends[0], ends[1]
        of = self._of_precision if sums.of == "precision" else self._of_gains
        greatest = of(first[readable], second[readable], np.array([most[readable], -least[readable]]))
        greatest = np.minimum(greatest, self.measure.definition.ceiling - self.measure.definition.floor)
        ends[:, readable] = -greatest[1], greatest[0]
        return ends[0], ends[1]

    def _others(self, first: Ranking, second: Ranking) -> int | Ints:
        """Count the documents that neither run retrieved and that may be relevant, per topic if other runs count."""
        if not self.beside_all:
            return self.unseen
        of_pair = documents_by_topic([(run.topic, run.number) for run in (first, second)], len(first.gain))
        return self._every - of_pair + self.unseen

    @cached_property
    def _every(self) -> Ints:
        """The number of unjudged documents of all runs together, per topic."""
        rankings = [ranking for ranking in map(self._ranking, self.paired.runs) if ranking is not None]
        return documents_by_topic([(run.topic, run.number) for run in rankings], len(self.paired.topics))

    def _readable(self, run: int) -> Ranking:
        ranking = self._ranking(self.paired.runs[run])
        assert ranking is not None
        return ranking

    def _ranking(self, run: str) -> Ranking | None:
        if run not in self.rankings:
            self.rankings[run] = self._read(run)
        return self.rankings[run]

    def _read(self, run: str) -> Ranking | None:
        """Read a run; None if it cannot be read again as it was scored."""
        parts = self.reread.parts(run, self.paired.topics)
        if parts is None:
            return None
        row = {topic: row for row, topic in enumerate(self.paired.topics)}
        gain, (score, beyond) = np.zeros((len(row), self.depth)), np.zeros((2, len(row)))
        topics, ranks, numbers = [], [], []
        for part in parts:
            rows = np.array([row[name] for name in part.names])
            gains_of = self.scorer.gains_cache(part.batch)
            gains = gains_of(self.table, self.measure)
            width = min(self.depth, gains.gain.shape[1])
            gain[rows, :width] = gains.gain[:, :width]
            score[rows] = scores_of(self.measure, gains)
            if self.measure.residual == "beyond_run":
                both = gains_of(self.table, self.measure, tail=self.table.top)
                beyond[rows] = np.maximum(run_measure(self.measure, both) - score[rows], 0)
            unknown = part.unjudged
            if self.table.filled is not None:
                codes = part.batch.codes
                unknown = unknown & ((codes < len(self.table.gain_of_label)) | (codes >= part.batch.unjudged_code))
            topic, rank = np.nonzero(unknown)
            topics.append(rows[topic])
            ranks.append(rank)
            numbers.append(part.number[unknown].astype(np.int64))
        topic, rank, number = map(np.concatenate, (topics, ranks, numbers))
        if not np.allclose(score, self.paired.score[self.paired.runs.index(run)], rtol=1e-9, atol=1e-9):
            return None
        if not self.over:  # documents below the cutoff change nothing
            topic, rank, number = (column[rank < self.depth] for column in (topic, rank, number))
        return Ranking.of(gain, self.table.levels, beyond, topic, rank, number)

    @property
    def over(self) -> str:
        """The divisor of the sums, empty if there is none."""
        return self.rank_sum.pool if self.rank_sum is not None else ""

    @cached_property
    def deepest(self) -> int:
        """The number of ranks of the longest run."""
        of_runs = (self.reread.parts(run, self.paired.topics) for run in self.paired.runs)
        return max((part.number.shape[1] for parts in of_runs for part in parts or ()), default=0)

    @cached_property
    def depth(self) -> int:
        """The number of ranks that count in any run."""
        return min(self.deepest, self.measure.cutoff or self.deepest)

    @cached_property
    def weights(self) -> Floats:
        """The score of a document of gain 1 at each rank that counts, if it is the only relevant one."""
        scores, size = [np.zeros(0)], max(1, CELLS // max(self.depth, 1))
        for begin in range(0, self.depth, size):
            positions = np.arange(begin, min(begin + size, self.depth))
            gain = (positions[:, None] == np.arange(self.depth)) * 1.0
            scores.append(run_measure(self.measure, self._alone(gain)))
        return np.concatenate(scores)

    def _alone(self, gain: Floats) -> Gains:
        """Return rankings by their gains, with one relevant document each."""
        counts = np.ones(len(gain), dtype=np.int64)
        ideal = np.ones((len(gain), 1))
        return Gains(gain, gain > 0, ideal, gain.shape[1] * counts, counts, np.ones(1), self.measure.cutoff)

    @cached_property
    def steps(self) -> Floats:
        """The steps from each gain to the next higher one."""
        return np.diff(self.table.levels, prepend=0.0)

    @cached_property
    def ideal(self) -> Floats:
        """The gains of the pool, descending, topics × …"""
        row = {topic: row for row, topic in enumerate(self.paired.topics)}
        parts = self.reread.parts(next(run for run, gains in self.rankings.items() if gains), self.paired.topics) or []
        ideals = [(part, self.scorer.gains_cache(part.batch)(self.table, self.measure).ideal) for part in parts]
        gains = np.zeros((len(row), max(ideal.shape[1] for _, ideal in ideals)))
        for part, ideal in ideals:
            gains[[row[name] for name in part.names], : ideal.shape[1]] = ideal
        return gains

    @cached_property
    def counts(self) -> Ints:
        """The number of documents of the pool with each gain or more, topics × levels."""
        return np.stack([np.count_nonzero(self.ideal >= level, axis=1) for level in self.table.levels], axis=1)

    def _of_gains(self, first: Ints, second: Ints, enough: Floats) -> Floats:
        """Return upper bounds of second − first and of first − second: 2 × pairs × topics. `enough` is unused here."""
        assert self.rank_sum is not None
        of = {"gain": self._of_gain, "stop": self._of_stop}[self.rank_sum.of]
        bounds, size = np.empty(enough.shape), max(1, CELLS // max(len(self.paired.topics) * self.depth, 1))
        for begin in range(0, len(first), size):
            part = slice(begin, begin + size)
            baselines, runs = ([self._readable(run) for run in some[part].tolist()] for some in (first, second))
            unknown = [unjudged_of(*both, self._others(*both)) for both in zip(runs, baselines, strict=True)]
            unknown += [pair.swapped() for pair in unknown]
            greatest = of([*runs, *baselines], [*baselines, *runs], UnjudgedDocuments.joined(unknown))
            greatest += np.concatenate([ranking.beyond for ranking in (*runs, *baselines)])
            bounds[:, part] = greatest.reshape(2, -1, enough.shape[2])
        return bounds

    def _of_gain(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: UnjudgedDocuments) -> Floats:
        difference = np.concatenate([(a.gain - b.gain) @ self.weights for a, b in zip(first, second, strict=True)])
        return self._of_sum(difference, unknown, np.append(self.weights, 0.0))

    def _of_sum(self, difference: Floats, unknown: UnjudgedDocuments, weights: Floats) -> Floats:
        """Return the greatest Σ gain · w, divided as the scores are, by `greatest_sum` or `greatest_share`."""
        if not self.over:
            return greatest_differences.greatest_sum(difference, unknown, self.table.top * weights)
        counts = np.tile(self.counts, (len(difference) // len(self.counts), 1))
        most = int(counts.max(initial=0) + (unknown.counts + unknown.hidden).max(initial=0))
        return greatest_differences.greatest_share(
            difference, unknown, weights, greatest_differences.Ideal(self.steps, counts, self._ideal_of(most))
        )

    def bounds_of_means(self, first: Ints, second: Ints) -> Floats:
        """Return the lowest and highest mean of the second runs less the mean of the first ones, by a sum of gains: 2 ×
        topics. nan if unknown, and by other measures. The mean of such sums is also such a sum: a document adds the
        mean of its values at its rank in each run."""
        sums, names = self.rank_sum, self.paired.runs
        if sums is None or sums.of != "gain" or not all(self._ranking(names[run]) for run in (*first, *second)):
            return np.full((2, len(self.paired.topics)), np.nan)
        left, right = ([self._readable(run) for run in runs.tolist()] for runs in (first, second))
        unknown, lift = self._lifts(left, right)
        judged = [np.mean([ranking.gain @ self.weights for ranking in runs], 0) for runs in (left, right)]
        beyond = [np.mean([ranking.beyond for ranking in runs], 0) for runs in (left, right)]
        most = self.measure.definition.ceiling - self.measure.definition.floor
        ends = [
            np.minimum(self._of_sum(sign * (judged[1] - judged[0]), unknown, sign * lift) + more, most)
            for sign, more in ((-1, beyond[0]), (1, beyond[1]))
        ]
        return np.array([-ends[0], ends[1]])

    def _lifts(self, left: Sequence[Ranking], right: Sequence[Ranking]) -> tuple[UnjudgedDocuments, Floats]:
        """Return the unjudged documents of all these runs, each at a rank of its own, and the value of a gain of 1
        there. The value is the mean over the right runs less the mean over the left ones; 0 comes last."""
        weights, topics = np.append(self.weights, 0.0), len(self.paired.topics)
        size = max(int(ranking.number.max(initial=-1)) for ranking in (*left, *right)) + 1
        lift, topic, counted = np.zeros(size), np.full(size, -1), np.zeros(size, dtype=bool)
        for runs, sign in ((left, -1), (right, 1)):
            for ranking in runs:
                topic[ranking.number] = ranking.topic
                counted[ranking.number[ranking.top]] = True
                lift[ranking.number] += sign * weights[np.minimum(ranking.rank, self.depth)] / len(runs)
        hidden = np.bincount(topic[(topic >= 0) & ~counted], minlength=topics) + self.unseen
        number = np.flatnonzero(counted)
        ranks = np.arange(len(number))
        unknown = UnjudgedDocuments(topic[number], ranks, np.full(len(ranks), len(ranks)), hidden, len(ranks))
        return unknown, np.append(lift[number], 0.0)

    def _ideal_of(self, most: int) -> Floats:
        """Return the divisor of scores for 0, 1, 2, … documents of gain 1, up to `most`, and for all that follow."""
        endless = most >= ENDLESS
        most = most - ENDLESS if endless else most
        value = np.arange(most + 1.0)
        if self.over == "ideal":
            ranks = min(most, self.measure.cutoff or most)
            value = np.append(0.0, self._discounts(ranks).cumsum())
            endless &= self.measure.cutoff is None
        return np.append(value, np.inf) if endless else value

    def _discounts(self, ranks: int) -> Floats:
        """Return the weights of the first ranks of an ideal ranking, with 1 first."""
        sums = self.rank_sum
        assert sums is not None
        arguments = {**self.measure.definition.parameters, **self.measure.arguments}
        weights = replace(sums, over=None).at_ranks(self._alone(np.zeros((1, ranks))), arguments)[0]
        return np.asarray(weights / weights[:1])

    def _of_stop(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: UnjudgedDocuments) -> Floats:
        top, utility = self.table.top, self.weights
        of_first, of_second = (
            Cascade(np.concatenate([ranking.gain for ranking in some]), utility) for some in (first, second)
        )
        greatest = greatest_differences.greatest_cascade(of_first, of_second, unknown, top)
        if not self.over:
            return greatest
        # The ideal ranking is between that of the pool and that with all documents at the top.
        ranks = int(self.counts.max(initial=0)) + 2 * self.deepest
        utility = self._discounts(min(ranks, self.measure.cutoff or ranks))
        rank = np.arange(len(utility))
        ideal = np.pad(self.ideal, ((0, 0), (0, max(0, len(rank) - self.ideal.shape[1]))))[:, : len(rank)]
        ideal = np.tile(ideal, (len(first), 1))
        more = (unknown.counts + unknown.hidden)[:, None]
        best = np.where(rank < more, top, np.take_along_axis(ideal, np.maximum(rank - more, 0), 1))
        every = Cascade(best, utility)
        # A user who passes the last of these ranks stops at the next one, or further down.
        beyond = 0.0 if self.measure.cutoff == len(utility) else every.reached[:, -1] / (len(utility) + 1)
        whole = np.where(greatest < 0, every.score + beyond, Cascade(ideal, utility).score)
        share: Floats = np.divide(greatest, whole, out=np.where(greatest > 0, 1.0, 0.0), where=whole > 0)
        return np.minimum(share, 1.0)

    def _of_precision(self, first: Ints, second: Ints, enough: Floats) -> Floats:
        """Compute `_of_gains` for average precision; infinite if a few ranks show that it is enough."""
        reached = self._reached(first, second, enough)
        bounds, size = np.where(reached, np.inf, np.nan), max(1, CELLS // max(self.depth, 1))
        pair, topic = np.nonzero(~reached.all(0))
        for begin in range(0, len(pair), size):
            pairs, topics = pair[begin : begin + size], topic[begin : begin + size]
            used, place = distinct(pairs)
            rows = np.split(topics, np.searchsorted(place, np.arange(1, len(used))))
            runs, baselines = ([self._readable(run) for run in some[used].tolist()] for some in (second, first))
            both = [*zip(runs, baselines, rows, strict=True)]
            greatest = self._by_rank(both, enough[:, pairs, topics].ravel()).reshape(2, -1)
            bounds[:, pairs, topics] = np.where(reached[:, pairs, topics], np.inf, greatest)
        return bounds

    def _by_rank(self, both: Sequence[tuple[Ranking, Ranking, Ints]], enough: Floats) -> Floats:
        """Return upper bounds of the difference on some topics of each pair, then of all pairs the other way round."""
        counts = [counts_of(run, baseline, self._others(run, baseline), rows) for run, baseline, rows in both]
        sides = [*both, *((baseline, run, rows) for run, baseline, rows in both)]
        owner = np.repeat(np.arange(len(sides)), [len(rows) for *_, rows in sides])
        topic = np.concatenate([rows for *_, rows in sides])
        levels = [
            Threshold(
                step,
                np.concatenate([first.hits[i][rows] for first, _, rows in sides]),
                np.concatenate([second.hits[i][rows] for _, second, rows in sides]),
                np.concatenate([first.reach[i][rows] for first, _, rows in sides]),
                np.concatenate([second.reach[i][rows, 0] for _, second, rows in sides]),
                self.counts[topic, i] if self.over else None,
                self._most,
            )
            for i, step in enumerate(self.steps.tolist())
        ]

        def listed(rows: Ints) -> UnjudgedDocuments:
            used, place = distinct(owner[rows])
            runs = [(first, second) for first, second, _ in (sides[side] for side in used.tolist())]
            joined = UnjudgedDocuments.joined([unjudged_of(*pair, self._others(*pair)) for pair in runs])
            return joined.of_topics(place * len(self.paired.topics) + topic[rows])

        every = Counts.joined([*counts, *(run.swapped() for run in counts)])
        beyond = np.concatenate([first.beyond[rows] for first, _, rows in sides])
        greatest: Floats = greatest_differences.greatest_precision(levels, every, listed, enough) + beyond
        return greatest

    @property
    def _most(self) -> float:
        """The maximum of relevant documents in the divisor of scores: the cutoff of the ideal ranking."""
        return (self.measure.cutoff or np.inf) if self.over == "ideal" else np.inf

    def _reached(self, first: Ints, second: Ints, enough: Floats) -> Bools:
        """Return whether the difference is surely enough: 2 × pairs × topics."""
        if not self.depth:
            return np.zeros(enough.shape, dtype=bool)
        used, run_index = distinct(np.append(second, first))
        runs, edges = [self._readable(run) for run in used.tolist()], greatest_differences.rank_blocks(self.depth)
        baseline_index, (baselines, row) = np.roll(run_index, len(first)), distinct(run_index[len(second) :])
        begins, lasts = edges[:-1], edges[1:] - 1
        weights = np.add.reduceat(greatest_differences.rank_weights(self.depth), begins)
        tables = [[run.unjudged, *run.hits] for run in runs]
        above, below = (
            np.array([[table[:, ranks] for table in of_run] for of_run in tables], dtype=np.int64)
            for ranks in (begins, lasts)
        )  # runs × tables × topics × blocks
        reach = np.array([[reach[:, 0] for reach in run.reach] for run in runs])
        reached, unseen = np.empty(enough.shape, dtype=bool), np.broadcast_to(self.unseen, len(self.counts))
        for topic, table in enumerate(shared_above(runs, baselines, edges[1:])):
            both = np.tile(table[:, row, run_index[: len(second)]], 2).T.astype(np.int64)
            levels = [
                Threshold(
                    step,
                    above[run_index, 1 + i, topic],
                    below[baseline_index, 1 + i, topic],
                    reach[run_index, i, topic, None],
                    reach[baseline_index, i, topic],
                    np.full(len(run_index), self.counts[topic, i]) if self.over else None,
                    self._most,
                )
                for i, step in enumerate(self.steps.tolist())
            ]
            below_in_run, of_baseline = (below[side, 0, topic, -1] for side in (run_index, baseline_index))
            room = below_in_run - both[:, -1] + unseen[topic]
            outline = greatest_differences.Outline(
                levels, above[run_index, 0, topic], both, room, below_in_run + of_baseline - both[:, -1], weights
            )
            reached[:, :, topic] = outline.reaches(enough[:, :, topic].ravel()).reshape(2, -1)
        return reached


def topic_bounds(
    paired: Paired, first: Ints, second: Ints, reread: RereadRuns | None, beside_all: bool = False
) -> Floats:
    """Return the lowest and highest difference of scores (second − first), 2 × pairs × topics; nan if unknown.

    If the bounds of the difference are not the best possible ones, or there are none, bounds of each run are used too.

    beside_all  whether documents of all paired runs may turn out to be relevant, not of the two alone
    """
    if reread is None:
        return np.full((2, len(first), len(paired.topics)), np.nan)
    differences = Differences(reread, paired, beside_all)
    least, most = np.full((2, len(first), len(paired.topics)), np.nan)
    if not differences.are_exact:
        lows, highs = separate_bounds(paired, first, second, reread, beside_all)
        least, most = lows[1] - highs[0], highs[1] - lows[0]
    lowest, highest = differences.bounds(first, second, least, most)
    return np.array([np.fmax(lowest, least), np.fmin(highest, most)])


def bounds_of_means(paired: Paired, first: Ints, second: Ints, reread: RereadRuns | None) -> Floats:
    """Return the lowest and highest difference of two means over runs (second − first), 2 × topics; nan if unknown.

    A document is judged alike for all runs. For sums of gains, also divided by the ideal one, some completion reaches
    the bounds. For other measures these are means of the bounds of all pairs of a run of each: no completion exceeds
    them, but each pair is at its own worst, so that perhaps none reaches them.

    paired  these runs and no others
    """
    is_of_many = len(first) * len(second) > 1
    means = np.full((2, len(paired.topics)), np.nan)
    if is_of_many and reread is not None:
        differences = Differences(reread, paired)
        means = differences.bounds_of_means(first, second)
        if differences.are_exact and not np.isnan(means).any():
            return means
    pairs = np.repeat(first, len(second)), np.tile(second, len(first))
    of_pairs = topic_bounds(paired, *pairs, reread, beside_all=is_of_many).mean(1)
    return np.array([np.fmax(of_pairs[0], means[0]), np.fmin(of_pairs[1], means[1])])


def difference_bounds(paired: Paired, first: Ints, second: Ints, reread: RereadRuns | None) -> tuple[Floats, Floats]:
    """Return the lowest and highest difference of summaries of each pair, each topic at its worst; nan if unknown."""
    summary = paired.reading.summary
    if summary == "geometric" and reread is not None:
        least, most = separate_bounds(paired, first, second, reread)
        lows, highs = paired.reading.summarize(least), paired.reading.summarize(most)
        return lows[1] - highs[0], highs[1] - lows[0]
    lowest, highest = topic_bounds(paired, first, second, reread)
    return paired.reading.summarize(lowest), paired.reading.summarize(highest)


def never_falls(label: str, reread: RereadRuns | None) -> bool:
    """Return whether no judgment lowers a score by this measure."""
    measure = known_measure(label) if reread is None else reread.scorer.measures[reread.column[label]]
    return measure is not None and measure.bounds == "rises"


def drop_keeps_order(both: Paired, reread: RereadRuns | None) -> bool | None:
    """Return whether the second of two runs stays behind the first under all judgments of both; None if unknown."""
    lowest, highest = difference_bounds(both, np.array([0]), np.array([1]), reread)
    ends = both.reading.sign * np.array([lowest[0], highest[0]])
    return None if np.isnan(ends).any() else bool(ends.max() < -TOLERANCE)


# Whether judging could reverse the order of two scores.


def same_order(
    difference: Floats,
    residuals: tuple[Floats, Floats],
    bounds: tuple[Floats, Floats],
    rises: bool,
    same: Bools | None = None,
) -> list[bool | None]:
    """Return for each pair whether no judging can reverse the order of two scores; None if unknown.

    It follows from the bounds of their difference, or else because the lower score cannot rise as far. If the scores
    are equal, either may be the lower one.

    difference  the second score − the first
    residuals   of the first and of the second; nan for none
    bounds      the lowest and highest difference; nan if unknown
    rises       whether no judging lowers a score: otherwise the residual settles nothing
    same        whether both are of the same ranking, so that nothing can tell them apart; None: unknown for all
    """
    (old, new), (lowest, highest) = residuals, bounds
    lower = np.where(difference > 0, old, np.where(difference < 0, new, np.maximum(old, new)))
    with np.errstate(invalid="ignore"):
        by_residual = (np.abs(difference) > lower) | ((difference == 0) & (lower == 0))
        equal = (difference == 0) & (np.maximum(-lowest, highest) <= TOLERANCE)
        by_bounds = (lowest > TOLERANCE) | (highest < -TOLERANCE) | equal
    sure = np.where(np.isnan(lowest), by_residual & rises, by_bounds)
    sure = sure if same is None else sure | same
    unknown = np.isnan(lowest) & np.isnan(lower)
    return [None if blank else bool(is_sure) for blank, is_sure in zip(unknown.tolist(), sure.tolist(), strict=True)]


# Documents that no run retrieved: whether scores depend on them, and the assumptions on them.


IF_JUDGED = "if fully judged"
"""Heading of the order of two runs after full judging."""


def depends_on_unseen(notation: str) -> bool:
    """Return whether scores are divided by the number of relevant documents, or by the ideal ranking."""
    measure = known_measure(notation)
    return measure is None or may_fall(measure)


def unseen_notes(notations: Iterable[tuple[str, str]], options: Options | None, systems: bool = False) -> list[Note]:
    """Return a note if the order of two runs after full judging depends on further documents.

    notations  the label of each measure, and its notation
    options    of the evaluation; None of saved scores
    systems    whether the two are systems with seeds
    """
    names = [label for label, notation in notations if depends_on_unseen(notation)]
    if options is None or options.unseen is not None or not names:
        return []
    who = "no run of either system" if systems else "neither run"
    return [unseen_note(", ".join(names), f"{who} retrieved")]
