"""How low and how high the difference of two runs can come, whatever their unjudged documents turn out to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis.greatest_differences import (
    Cascade,
    Counts,
    Ideal,
    Outline,
    Threshold,
    UnjudgedDocuments,
    block_weights,
    cumulative_counts,
    greatest_cascade,
    greatest_precision,
    greatest_share,
    greatest_sum,
    rank_blocks,
    reachable_sums,
    small_integers,
)
from gradedeval.analysis.reversals import Part, RereadRuns
from gradedeval.analysis.score_matrix import Paired
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, distinct, ranges
from gradedeval.errors import InputError, Note
from gradedeval.kernel.measures.bounds import falls
from gradedeval.kernel.measures.definition import Measure, RankSum
from gradedeval.kernel.measures.gains import Gains, run_measure, scores_of
from gradedeval.kernel.measures.parse import parse_measures
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import progress
from gradedeval.kernel.scoring.scorer import Scorer, bounds_beside, bounds_beside_any, unseen_note

# The documents of a run by rank, judged and unjudged, and what two runs have in common.


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """One run by one measure.

    gain    topics × depth: of what is judged
    levels  the gains there are
    beyond  topics: how much what lies past the end of the run could add
    topic   of each unjudged document that counts at its rank, or in what scores are divided by: its row; they come
            topic after topic, by rank
    rank    of each: its rank, from 0
    number  of each: its number
    place   number of a document -> its rank; −1 where it is not there
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
        """The ranking with these unjudged documents, those of a topic by rank."""
        if (topic[1:] < topic[:-1]).any():
            order = np.argsort(topic, kind="stable")
            topic, rank, number = topic[order], rank[order], number[order]
        deepest = max(int(rank.max(initial=0)), gain.shape[1])
        place = np.full(int(number.max(initial=0)) + 2, -1, dtype=small_integers(deepest))
        place[number] = rank
        return cls(gain, levels, beyond, topic, rank, number, place)

    def places(self, number: Ints) -> NDArray[Any]:
        """The ranks of documents, also of those that had no number when this run was read."""
        return self.place.take(number, mode="clip")

    @cached_property
    def hits(self) -> list[Ints]:
        """of each level: topics × depth: how many documents of that gain or more stand at or above each rank."""
        kind = small_integers(2 * self.gain.shape[1] + 1)
        return [(self.gain >= level).cumsum(1, dtype=kind) for level in self.levels.tolist()]

    @cached_property
    def sizes(self) -> Ints:
        """topics: how many unjudged documents."""
        sizes: Ints = np.bincount(self.topic, minlength=len(self.gain))
        return sizes

    @cached_property
    def begin(self) -> Ints:
        """topics: where theirs begin."""
        begin: Ints = np.cumsum(self.sizes) - self.sizes
        return begin

    @cached_property
    def unjudged(self) -> Ints:
        """topics × depth: how many unjudged documents stand at or above each rank."""
        return cumulative_counts(self.topic, self.rank, *self.gain.shape)

    @cached_property
    def reach(self) -> list[Floats]:
        """of each level: topics × …: see `reaches`."""
        return [reachable_sums(hits, self.unjudged) for hits in self.hits]

    @cached_property
    def top(self) -> Ints:
        """The unjudged documents at a rank that counts."""
        return np.flatnonzero(self.rank < self.gain.shape[1])


def unjudged_of(first: Ranking, second: Ranking, unseen: int | Ints) -> UnjudgedDocuments:
    """The unjudged documents of two runs, and `unseen` in each topic that neither retrieved."""
    topics, depth = first.gain.shape
    own, other = first.top, second.top
    there = first.places(second.number[other])
    below, only = other[there >= depth], other[there < 0]  # in the first run: below the last rank that counts, nowhere
    topic = np.append(first.topic[own], second.topic[below])
    number = np.append(first.number[own], second.number[below])
    rank = np.append(first.rank[own], there[there >= depth])
    if len(below):  # by topic and rank, as all are listed
        order = np.lexsort((rank, topic))
        topic, number, rank = topic[order], number[order], rank[order]
    place = second.places(number)
    ranks = (
        np.append(np.minimum(rank, depth), np.full(len(only), depth)),
        np.append(np.where(place < 0, depth, np.minimum(place, depth)), second.rank[only]),
    )
    topic = np.append(topic, second.topic[only])
    shared = np.diff(
        np.searchsorted(np.flatnonzero(second.places(first.number) >= 0), first.begin + first.sizes), prepend=0
    )
    hidden = first.sizes + second.sizes - shared - np.bincount(topic, minlength=topics) + unseen
    return UnjudgedDocuments(topic, *ranks, hidden, depth)


def counts_of(first: Ranking, second: Ranking, unseen: int | Ints, rows: Ints) -> Counts:
    """How many unjudged documents two runs have in these topics, with `unseen` in each that neither retrieved."""
    sizes = first.sizes[rows]
    own = ranges(first.begin[rows], sizes)
    rank, place = first.rank[own], second.places(first.number[own])
    shared = np.flatnonzero(place >= 0)
    row = np.repeat(np.arange(len(rows)), sizes)[shared]
    both = cumulative_counts(row, np.maximum(place[shared], rank[shared]), len(rows), first.gain.shape[1])
    more = np.broadcast_to(unseen, first.sizes.shape)[rows]
    total = sizes + second.sizes[rows] - np.bincount(row, minlength=len(rows)) + more
    return Counts.of(total, first.unjudged[rows], second.unjudged[rows], both)


def shared_above(runs: Sequence[Ranking], first: Ints, ends: Ints) -> Iterator[Floats]:
    """of each topic: ends × first runs × runs: how many unjudged documents two runs have above each of these ranks."""
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
        found = np.empty((len(ends), len(first), len(runs)))
        for at, (rank, count) in enumerate(zip(ends.tolist(), counts, strict=True)):
            above = (place[:, :count] < rank).astype(np.float32)  # whose products are exact, and quick
            found[at] = above[first] @ above.T
        yield found


# How low and how high the score of each of two runs can come, whatever the unjudged documents of both turn out to be.
#
# The difference of two runs stays between low − high and high − low of each: no more is known where a measure is not a
# sum over ranks. What the other run alone retrieved cannot be found by this one, and may be relevant.


CELLS_OF_ONE = 1 << 18
"""Topics × ranks that are worked on in one go."""
PRECISION = 8
"""Missed documents are counted up to twice this; above, rounded up to an eighth of a power of two: a few more lower a
score little, and topics with as many are one."""


def separate_bounds(
    paired: Paired, first: Ints, second: Ints, reread: RereadRuns, beside_all: bool = False
) -> tuple[Floats, Floats]:
    """2 runs × pairs × topics, twice: the lowest and the highest score of each run, beside the other, or beside all
    that are paired; nan where it is not known."""
    ends, runs = np.full((2, 2, len(first), len(paired.topics)), np.nan), np.array([first, second])
    parts = [reread.parts(name, paired.topics) for name in paired.runs]
    readable = np.array([part is not None for part in parts])
    known = readable[runs].all(0)
    missed = np.zeros(ends.shape[1:], dtype=np.int64)
    if falls(reread.scorer.measures[reread.column[paired.measure]]):
        missed = _missed_counts(parts, runs, known, paired.topics, beside_all)
    for run in np.unique(runs[:, known]).tolist():
        at = (runs == run) & known
        some = parts[run]
        assert some is not None
        low, score, high = _score_bounds(reread, some, paired, missed[at])
        if np.allclose(score, paired.score[run], rtol=1e-9, atol=1e-9):  # else the file has changed since
            ends[:, at] = low, high
    return ends[0], ends[1]


def _missed_counts(
    parts: list[list[Part] | None], runs: Ints, known: Bools, topics: list[str], beside_all: bool
) -> Ints:
    """2 runs × pairs × topics: how many unjudged documents the other run alone retrieved, or any other run, rounded
    up."""
    row = {topic: row for row, topic in enumerate(topics)}
    of_run: list[tuple[Ints, Ints]] = []
    for some in parts:
        rows = [np.array([row[name] for name in part.names])[part.unjudged.nonzero()[0]] for part in some or ()]
        numbers = [part.number[part.unjudged] for part in some or ()]
        of_run.append(
            (np.concatenate([*rows, np.zeros(0, np.int64)]), np.concatenate([*numbers, np.zeros(0, np.int64)]))
        )
    size = max(int(number.max(initial=0)) for _, number in of_run) + 1
    missed = np.zeros((*runs.shape, len(topics)), dtype=np.int64)
    has = {}
    for run in np.unique(runs[:, known]).tolist():
        has[run] = np.zeros(size, dtype=bool)
        has[run][of_run[run][1]] = True
    count = [np.bincount(topic, minlength=len(topics)) for topic, _ in of_run]
    whole = documents_by_topic(of_run, len(topics)) if beside_all else None
    for pair in np.flatnonzero(known).tolist():
        one, other = runs[:, pair].tolist()
        topic, number = of_run[one]
        shared = np.bincount(topic[has[other][number]], minlength=len(topics))
        every = count[one] + count[other] - shared if whole is None else whole
        missed[0, pair], missed[1, pair] = every - count[one], every - count[other]
    step = 1 << np.maximum(np.frexp(missed / PRECISION)[1] - 1, 0)
    rounded: Ints = -(-missed // step) * step
    return rounded


def documents_by_topic(of_runs: Sequence[tuple[Ints, Ints]], topics: int) -> Ints:
    """topics: how many documents there are.

    of_runs  the topic and the number of each document of each run
    """
    topic_of = _topic_by_document(of_runs)
    counts: Ints = np.bincount(topic_of[topic_of >= 0], minlength=topics)
    return counts


def _topic_by_document(of_runs: Sequence[tuple[Ints, Ints]]) -> Ints:
    """number of a document -> its topic; −1 where no run has it."""
    topic_of = np.full(max(int(number.max(initial=-1)) for _, number in of_runs) + 1, -1)
    for topic, number in of_runs:
        topic_of[number] = topic
    return topic_of


def _score_bounds(reread: RereadRuns, parts: list[Part], paired: Paired, missed: Ints) -> Floats:
    """3 × pairs × topics: the lowest score of one run, which missed that many documents, its score, and the highest."""
    topics, column = len(paired.topics), reread.column[paired.measure]
    cell, place = distinct((missed * topics + np.arange(topics)).ravel())
    number, row = np.divmod(cell, topics)
    ends = np.full((3, len(cell)), np.nan)
    for part in parts:
        own = {name: at for at, name in enumerate(part.names)}
        at = np.array([own.get(topic, -1) for topic in paired.topics])[row]
        mine = np.flatnonzero(at >= 0)
        ends[:, mine] = _part_score_bounds(reread.scorer, part, column, at[mine], number[mine])
    return ends[:, place.reshape(missed.shape)]


def _part_score_bounds(scorer: Scorer, part: Part, column: int, rows: Ints, missed: Ints) -> Floats:
    """3 × rows: the same of topics of a part; a topic stands in as many rows as there are numbers."""
    known = bounds_beside_any(scorer, part.batch, column, rows, missed)
    if known is not None:
        return known
    size, ends = max(1, CELLS_OF_ONE // max(part.number.shape[1], 1)), np.empty((3, len(rows)))
    for begin in range(0, len(rows), size):
        at = slice(begin, begin + size)
        ends[:, at] = bounds_beside(scorer, part.batch.select(rows[at]), column, missed[at])
    return ends


# How low and how high the difference of two runs can come, whatever their unjudged documents turn out to be.
#
# Both runs are under one completion of the judgments: each document that one of them retrieved and nobody judged has a
# grade, or stays unjudged, for both. Of other documents `Options.unseen` may be relevant too, by default none.


CELLS = 1 << 18
"""Topics × ranks that are worked on in one go."""
ENDLESS = 1 << 40
"""The number of documents that stands for any number."""


class Differences:
    """All pairs of runs by one measure; beside the documents of the two perhaps those of all that are paired may turn
    out to be relevant."""

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
        """What is known of the measure, where it counts here."""
        options, measure = self.scorer.options, self.measure
        moved = options.ties == "average" or options.costs is not None or options.residual_depth == "full"
        mean = measure.residual != "none" and measure.reading.summary != "geometric" and not measure.by_intent
        return measure.rank_sum if mean and not moved and self.table.top > 0 else None

    @property
    def are_exact(self) -> bool:
        """Whether some completion comes as far as the bounds, of all topics."""
        sums = self.rank_sum
        return sums is not None and sums.of == "gain" and self.measure.residual != "beyond_run"

    def bounds(self, first: Ints, second: Ints, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """pairs × topics: how low and how high second − first can come; nan where it is not known.

        least  pairs × topics: what is known otherwise: where the difference can come as low, no more is asked; nan
               where nothing is. `most` is the same of how high
        """
        found = np.full((2, len(first), len(self.paired.topics)), np.nan)
        sums, names = self.rank_sum, self.paired.runs
        pairs = progress("pairs of runs")(list(zip(first.tolist(), second.tolist(), strict=True)))
        known = np.array([sums is not None and all(self._ranking(names[run]) for run in pair) for pair in pairs], bool)
        if sums is None or not known.any():
            return found[0], found[1]
        of = self._of_precision if sums.of == "precision" else self._of_gains
        greatest = of(first[known], second[known], np.array([most[known], -least[known]]))
        greatest = np.minimum(greatest, self.measure.definition.ceiling - self.measure.definition.floor)
        found[:, known] = -greatest[1], greatest[0]
        return found[0], found[1]

    def _others(self, first: Ranking, second: Ranking) -> int | Ints:
        """How many documents that neither run retrieved may be relevant; of each topic where those of others may."""
        if not self.beside_all:
            return self.unseen
        own = documents_by_topic([(one.topic, one.number) for one in (first, second)], len(first.gain))
        return self._every - own + self.unseen

    @cached_property
    def _every(self) -> Ints:
        """topics: how many unjudged documents all runs have together."""
        known = [ranking for ranking in map(self._ranking, self.paired.runs) if ranking is not None]
        return documents_by_topic([(one.topic, one.number) for one in known], len(self.paired.topics))

    def _known(self, run: int) -> Ranking:
        ranking = self._ranking(self.paired.runs[run])
        assert ranking is not None
        return ranking

    def _ranking(self, run: str) -> Ranking | None:
        if run not in self.rankings:
            self.rankings[run] = self._read(run)
        return self.rankings[run]

    def _read(self, run: str) -> Ranking | None:
        """None where the run cannot be read again as it was scored."""
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
        if not self.over:  # what stands below the cutoff changes nothing
            topic, rank, number = (column[rank < self.depth] for column in (topic, rank, number))
        return Ranking.of(gain, self.table.levels, beyond, topic, rank, number)

    @property
    def over(self) -> str:
        return self.rank_sum.pool if self.rank_sum is not None else ""

    @cached_property
    def deepest(self) -> int:
        """How many ranks the longest run has."""
        of_runs = (self.reread.parts(run, self.paired.topics) for run in self.paired.runs)
        return max((part.number.shape[1] for parts in of_runs for part in parts or ()), default=0)

    @cached_property
    def depth(self) -> int:
        """How many ranks count in any of the runs."""
        return min(self.deepest, self.measure.cutoff or self.deepest)

    @cached_property
    def weights(self) -> Floats:
        """What a document of gain 1 is worth at each rank that counts, if it is the only one."""
        ranks = self.depth
        found, size = [np.zeros(0)], max(1, CELLS // max(ranks, 1))
        for begin in range(0, ranks, size):
            at = np.arange(begin, min(begin + size, ranks))
            gain = (at[:, None] == np.arange(ranks)) * 1.0
            one = np.ones(len(at), dtype=np.int64)
            alone = Gains(gain, gain > 0, np.ones((len(at), 1)), ranks * one, one, np.ones(1), self.measure.cutoff)
            found.append(run_measure(self.measure, alone))
        return np.concatenate(found)

    @cached_property
    def steps(self) -> Floats:
        """levels: from each gain to the next higher one."""
        return np.diff(self.table.levels, prepend=0.0)

    @cached_property
    def ideal(self) -> Floats:
        """topics × …: the gains of the pool, descending."""
        row = {topic: row for row, topic in enumerate(self.paired.topics)}
        parts = self.reread.parts(next(run for run, found in self.rankings.items() if found), self.paired.topics) or []
        ideals = [(part, self.scorer.gains_cache(part.batch)(self.table, self.measure).ideal) for part in parts]
        found = np.zeros((len(row), max(ideal.shape[1] for _, ideal in ideals)))
        for part, ideal in ideals:
            found[[row[name] for name in part.names], : ideal.shape[1]] = ideal
        return found

    @cached_property
    def counts(self) -> Ints:
        """topics × levels: how many documents of the pool have that gain or more."""
        return np.stack([np.count_nonzero(self.ideal >= level, axis=1) for level in self.table.levels], axis=1)

    def _of_gains(self, first: Ints, second: Ints, enough: Floats) -> Floats:
        """2 × pairs × topics: what second − first does not exceed, and what first − second does not.

        enough  the same: a difference as large, or a larger one, need not be told from another; nan: all are. Here it
                takes no less to know whether it is
        """
        assert self.rank_sum is not None
        of = {"gain": self._of_gain, "stop": self._of_stop}[self.rank_sum.of]
        found, size = np.empty(enough.shape), max(1, CELLS // max(len(self.paired.topics) * self.depth, 1))
        for begin in range(0, len(first), size):
            part = slice(begin, begin + size)
            baselines, runs = ([self._known(run) for run in some[part].tolist()] for some in (first, second))
            unknown = [unjudged_of(*both, self._others(*both)) for both in zip(runs, baselines, strict=True)]
            unknown += [one.swapped() for one in unknown]
            greatest = of([*runs, *baselines], [*baselines, *runs], UnjudgedDocuments.joined(unknown))
            greatest += np.concatenate([ranking.beyond for ranking in (*runs, *baselines)])
            found[:, part] = greatest.reshape(2, -1, enough.shape[2])
        return found

    def _of_gain(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: UnjudgedDocuments) -> Floats:
        difference = np.concatenate([(a.gain - b.gain) @ self.weights for a, b in zip(first, second, strict=True)])
        return self._of_sum(difference, unknown, np.append(self.weights, 0.0))

    def _of_sum(self, difference: Floats, unknown: UnjudgedDocuments, weights: Floats) -> Floats:
        """pairs · topics: the greatest Σ gain · w, divided as the scores are, by `greatest_sum` or `greatest_share`."""
        if not self.over:
            return greatest_sum(difference, unknown, self.table.top * weights)
        counts = np.tile(self.counts, (len(difference) // len(self.counts), 1))
        most = int(counts.max(initial=0) + (unknown.counts + unknown.hidden).max(initial=0))
        return greatest_share(difference, unknown, weights, Ideal(self.steps, counts, self._ideal_of(most)))

    def bounds_of_means(self, first: Ints, second: Ints) -> Floats:
        """2 × topics: how low and how high the mean of the second runs less that of the first can come, by a measure
        that is a sum of gains; nan where that is not known, and by other measures.

        The mean of such sums is one, too: a document adds the mean of what it is worth at its rank in each run.
        """
        sums, names = self.rank_sum, self.paired.runs
        if sums is None or sums.of != "gain" or not all(self._ranking(names[run]) for run in (*first, *second)):
            return np.full((2, len(self.paired.topics)), np.nan)
        one, other = ([self._known(run) for run in runs.tolist()] for runs in (first, second))
        unknown, lift = self._lifts(one, other)
        judged = [np.mean([ranking.gain @ self.weights for ranking in runs], 0) for runs in (one, other)]
        beyond = [np.mean([ranking.beyond for ranking in runs], 0) for runs in (one, other)]
        most = self.measure.definition.ceiling - self.measure.definition.floor
        ends = [
            np.minimum(self._of_sum(sign * (judged[1] - judged[0]), unknown, sign * lift) + more, most)
            for sign, more in ((-1, beyond[0]), (1, beyond[1]))
        ]
        return np.array([-ends[0], ends[1]])

    def _lifts(self, one: Sequence[Ranking], other: Sequence[Ranking]) -> tuple[UnjudgedDocuments, Floats]:
        """The unjudged documents of all these runs, each at a rank of its own, and what a gain of 1 is worth there: the
        mean over the others less that over the first ones; 0 comes last."""
        weights, topics = np.append(self.weights, 0.0), len(self.paired.topics)
        size = max(int(ranking.number.max(initial=-1)) for ranking in (*one, *other)) + 1
        lift, topic, counted = np.zeros(size), np.full(size, -1), np.zeros(size, dtype=bool)
        for runs, sign in ((one, -1), (other, 1)):
            for ranking in runs:
                topic[ranking.number] = ranking.topic
                counted[ranking.number[ranking.top]] = True
                lift[ranking.number] += sign * weights[np.minimum(ranking.rank, self.depth)] / len(runs)
        hidden = np.bincount(topic[(topic >= 0) & ~counted], minlength=topics) + self.unseen
        number = np.flatnonzero(counted)
        ranks = np.arange(len(number))
        return (
            UnjudgedDocuments(topic[number], ranks, np.full(len(ranks), len(ranks)), hidden, len(ranks)),
            np.append(lift[number], 0.0),
        )

    def _ideal_of(self, most: int) -> Floats:
        """What 0, 1, 2, … documents of gain 1 come to in what scores are divided by, up to `most`, and the last of all
        that follow."""
        endless = most >= ENDLESS
        most = most - ENDLESS if endless else most
        value = np.arange(most + 1.0)
        if self.over == "ideal":
            ranks = min(most, self.measure.cutoff or most)
            value = np.append(0.0, self._discounts(ranks).cumsum())
            endless &= self.measure.cutoff is None
        return np.append(value, np.inf) if endless else value

    def _discounts(self, ranks: int) -> Floats:
        """The weights of the first ranks of an ideal ranking, that of the first 1."""
        sums = self.rank_sum
        assert sums is not None
        gain, one = np.zeros((1, ranks)), np.ones(1, dtype=np.int64)
        g = Gains(gain, gain > 0, np.ones((1, 1)), ranks * one, one, np.ones(1), self.measure.cutoff)
        undivided = replace(sums, over=None)
        weights = undivided.at_ranks(g, {**self.measure.definition.parameters, **self.measure.arguments})[0]
        found: Floats = weights / weights[:1]
        return found

    def _of_stop(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: UnjudgedDocuments) -> Floats:
        top, utility = self.table.top, self.weights
        own, other = (Cascade(np.concatenate([ranking.gain for ranking in some]), utility) for some in (first, second))
        found = greatest_cascade(own, other, unknown, top)
        if not self.over:
            return found
        # The ideal ranking is between that of the pool and that with all documents at the top.
        ranks = int(self.counts.max(initial=0)) + 2 * self.deepest
        utility = self._discounts(min(ranks, self.measure.cutoff or ranks))
        rank = np.arange(len(utility))
        ideal = np.pad(self.ideal, ((0, 0), (0, max(0, len(rank) - self.ideal.shape[1]))))[:, : len(rank)]
        ideal = np.tile(ideal, (len(first), 1))
        more = (unknown.counts + unknown.hidden)[:, None]
        best = np.where(rank < more, top, np.take_along_axis(ideal, np.maximum(rank - more, 0), 1))
        every = Cascade(best, utility)
        # Who gets past the last of these ranks stops at the next one, or further down.
        beyond = 0.0 if self.measure.cutoff == len(utility) else every.reached[:, -1] / (len(utility) + 1)
        whole = np.where(found < 0, every.score + beyond, Cascade(ideal, utility).score)
        share: Floats = np.divide(found, whole, out=np.where(found > 0, 1.0, 0.0), where=whole > 0)
        return np.minimum(share, 1.0)

    def _of_precision(self, first: Ints, second: Ints, enough: Floats) -> Floats:
        """As `_of_gains`; infinite where it is sure to be enough, which few ranks tell."""
        reached = self._reached(first, second, enough)
        found, size = np.where(reached, np.inf, np.nan), max(1, CELLS // max(self.depth, 1))
        pair, topic = np.nonzero(~reached.all(0))
        for begin in range(0, len(pair), size):
            pairs, topics = pair[begin : begin + size], topic[begin : begin + size]
            used, place = distinct(pairs)
            rows = np.split(topics, np.searchsorted(place, np.arange(1, len(used))))
            runs, baselines = ([self._known(run) for run in some[used].tolist()] for some in (second, first))
            both = [*zip(runs, baselines, rows, strict=True)]
            greatest = self._by_rank(both, enough[:, pairs, topics].ravel()).reshape(2, -1)
            found[:, pairs, topics] = np.where(reached[:, pairs, topics], np.inf, greatest)
        return found

    def _by_rank(self, both: Sequence[tuple[Ranking, Ranking, Ints]], enough: Floats) -> Floats:
        """What the difference of some topics of each pair does not exceed, and of all pairs the other way round."""
        counts = [counts_of(one, other, self._others(one, other), rows) for one, other, rows in both]
        sides = [*both, *((other, one, rows) for one, other, rows in both)]
        owner = np.repeat(np.arange(len(sides)), [len(rows) for *_, rows in sides])
        topic = np.concatenate([rows for *_, rows in sides])
        levels = [
            Threshold(
                step,
                np.concatenate([first.hits[at][rows] for first, _, rows in sides]),
                np.concatenate([second.hits[at][rows] for _, second, rows in sides]),
                np.concatenate([first.reach[at][rows] for first, _, rows in sides]),
                np.concatenate([second.reach[at][rows, 0] for _, second, rows in sides]),
                self.counts[topic, at] if self.over else None,
                self._most,
            )
            for at, step in enumerate(self.steps.tolist())
        ]

        def listed(rows: Ints) -> UnjudgedDocuments:
            used, place = distinct(owner[rows])
            runs = [(first, second) for first, second, _ in (sides[side] for side in used.tolist())]
            joined = UnjudgedDocuments.joined([unjudged_of(*pair, self._others(*pair)) for pair in runs])
            return joined.of_topics(place * len(self.paired.topics) + topic[rows])

        every = Counts.joined([*counts, *(one.swapped() for one in counts)])
        beyond = np.concatenate([first.beyond[rows] for first, _, rows in sides])
        greatest: Floats = greatest_precision(levels, every, listed, enough) + beyond
        return greatest

    @property
    def _most(self) -> float:
        """No more relevant documents count in what scores are divided by: those of an ideal ranking that is cut."""
        return (self.measure.cutoff or np.inf) if self.over == "ideal" else np.inf

    def _reached(self, first: Ints, second: Ints, enough: Floats) -> Bools:
        """2 × pairs × topics: whether the difference is sure to be enough."""
        if not self.depth:
            return np.zeros(enough.shape, dtype=bool)
        used, one = distinct(np.append(second, first))
        runs, edges = [self._known(run) for run in used.tolist()], rank_blocks(self.depth)
        other, (baselines, row) = np.roll(one, len(first)), distinct(one[len(second) :])
        begins, lasts, weights = edges[:-1], edges[1:] - 1, block_weights(edges)
        tables = [[run.unjudged, *run.hits] for run in runs]
        above, below = (
            np.array([[table[:, ranks] for table in of_run] for of_run in tables], dtype=np.int64)
            for ranks in (begins, lasts)
        )  # runs × tables × topics × blocks
        reach = np.array([[reach[:, 0] for reach in run.reach] for run in runs])
        found, unseen = np.empty(enough.shape, dtype=bool), np.broadcast_to(self.unseen, len(self.counts))
        for topic, table in enumerate(shared_above(runs, baselines, edges[1:])):
            both = np.tile(table[:, row, one[: len(second)]], 2).T.astype(np.int64)
            levels = [
                Threshold(
                    step,
                    above[one, 1 + at, topic],
                    below[other, 1 + at, topic],
                    reach[one, at, topic, None],
                    reach[other, at, topic],
                    np.full(len(one), self.counts[topic, at]) if self.over else None,
                    self._most,
                )
                for at, step in enumerate(self.steps.tolist())
            ]
            own, others = (below[side, 0, topic, -1] for side in (one, other))
            room = own - both[:, -1] + unseen[topic]
            outline = Outline(levels, above[one, 0, topic], both, room, own + others - both[:, -1], weights)
            found[:, :, topic] = outline.reaches(enough[:, :, topic].ravel()).reshape(2, -1)
        return found


def topic_bounds(
    paired: Paired, first: Ints, second: Ints, reread: RereadRuns | None, beside_all: bool = False
) -> Floats:
    """2 × pairs × topics: how low and how high the difference of scores (second − first) can come; nan where that is
    not known. Where the bounds of the difference are not the best possible ones or there are none, by those of each
    run.

    beside_all  whether documents of all runs that are paired may turn out to be relevant, not of the two alone
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
    """2 × topics: how low and how high the difference of two means over runs (second − first) can come, a document
    being judged alike for all runs; nan where that is not known.

    paired  these runs and no others

    By measures that are sums of gains, also divided by the ideal one, some completion comes as far. By others these are
    means of the bounds of all pairs of a run of each: no completion goes beyond them, but each pair is at its own
    worst, so that perhaps none comes as far.
    """
    several = len(first) * len(second) > 1
    means = np.full((2, len(paired.topics)), np.nan)
    if several and reread is not None:
        differences = Differences(reread, paired)
        means = differences.bounds_of_means(first, second)
        if differences.are_exact and not np.isnan(means).any():
            return means
    pairs = np.repeat(first, len(second)), np.tile(second, len(first))
    of_pairs = topic_bounds(paired, *pairs, reread, beside_all=several).mean(1)
    return np.array([np.fmax(of_pairs[0], means[0]), np.fmin(of_pairs[1], means[1])])


def difference_bounds(paired: Paired, first: Ints, second: Ints, reread: RereadRuns | None) -> tuple[Floats, Floats]:
    """pairs: how low and how high the difference of the summaries (second − first) can come; nan where that is not
    known. The documents of a topic have nothing to do with those of others, so that each may be at its worst."""
    summary = paired.reading.summary
    if summary == "geometric" and reread is not None:
        least, most = separate_bounds(paired, first, second, reread)
        lows, highs = paired.reading.summarize(least), paired.reading.summarize(most)
        return lows[1] - highs[0], highs[1] - lows[0]
    lowest, highest = topic_bounds(paired, first, second, reread)
    return paired.reading.summarize(lowest), paired.reading.summarize(highest)


def never_falls(label: str, reread: RereadRuns | None) -> bool:
    """Whether no judgment lowers a score by this measure, so that the score is the lowest one."""
    try:
        (measure,) = parse_measures(label) if reread is None else [reread.scorer.measures[reread.column[label]]]
    except (InputError, ValueError):
        return False
    return measure.bounds == "rises"


def drop_keeps_order(both: Paired, reread: RereadRuns | None) -> bool | None:
    """Whether the second of two runs stays behind the first, however the unjudged documents of both are judged; None
    where that is not known."""
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
    """Whether no judging can reverse the order of two scores: by the bounds of their difference, or else because the
    lower one cannot rise as far; None where nothing is known. If they are equal, either may be the lower one.

    difference  the second score − the first
    residuals   of the first and of the second; nan where there is none
    bounds      how low and how high the difference can come; nan where that is not known
    rises       whether no judging lowers a score: otherwise the residual settles nothing
    same        whether both are of the same ranking, so that nothing can tell them apart; None: of none that is known
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
    return [None if blank else bool(one) for blank, one in zip(unknown.tolist(), sure.tolist(), strict=True)]


# Documents that no run retrieved: whether scores depend on them, and what is taken for granted of them.


IF_JUDGED = "if fully judged"
"""The heading of what becomes of the order of two runs once all their documents are judged."""


def depends_on_unseen(notation: str) -> bool:
    """Whether a document that was not retrieved lowers a score by a measure where it is relevant: of what is divided by
    the number of relevant documents, or by the ideal ranking."""
    try:
        (measure,) = parse_measures(notation)
    except (InputError, ValueError):  # a measure of the user's own
        return True
    return falls(measure)


def unseen_notes(notations: Iterable[tuple[str, str]], options: Options | None, systems: bool = False) -> list[Note]:
    """A note where the order of two runs, once all is judged, is said of measures that depend on further documents.

    notations  what each measure is called, and its notation
    options    of the evaluation; None of saved scores
    systems    whether the two are systems of several runs
    """
    names = [label for label, notation in notations if depends_on_unseen(notation)]
    if options is None or options.unseen is not None or not names:
        return []
    who = "no run of either system" if systems else "neither run"
    return [unseen_note(", ".join(names), f"{who} retrieved")]
