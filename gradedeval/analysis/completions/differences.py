"""How low and how high the difference of two runs can come, whatever their unjudged documents turn out to be.

Both runs are under one completion of the judgments: each document that one of them retrieved and nobody judged has a
grade, or stays unjudged, for both. Other documents are as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis.completions.cascades import Cascade, greatest_cascade
from gradedeval.analysis.completions.precisions import Level, greatest_precision
from gradedeval.analysis.completions.ratios import Ideal, greatest_share, greatest_sum
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.completions.separate import separate_bounds
from gradedeval.analysis.completions.unknown import Unknown, small_integers, within
from gradedeval.analysis.score_matrix import Paired
from gradedeval.arrays import TOLERANCE, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.measures.applied import run_measure, scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains
from gradedeval.measures.parse import parse_measures
from gradedeval.measures.properties import RankSum
from gradedeval.scoring.summaries import summarize

CELLS = 1 << 18
"""So many topics × ranks are worked on in one go."""


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """One run by one measure.

    gain    topics × depth: of what is judged
    levels  the gains there are
    beyond  topics: how much what lies past the end of the run could add
    topic   of each unjudged document that counts at its rank, or in what scores are divided by: its row
    number  of each: its number
    place   number of a document -> its rank, from 0, `depth` where it is below the last that counts, −1 where it is not
            there
    """

    gain: Floats
    levels: Floats
    beyond: Floats
    topic: Ints
    number: Ints
    place: NDArray[np.int32]

    def places(self, number: Ints) -> NDArray[np.int32]:
        """The places of documents, also of those that had no number when this run was read."""
        found: NDArray[np.int32] = self.place[np.minimum(number, len(self.place) - 1)]
        return found

    @cached_property
    def hits(self) -> list[Ints]:
        """of each level: topics × depth: how many documents of that gain or more stand at or above each rank."""
        kind = small_integers(2 * self.gain.shape[1] + 1)
        return [(self.gain >= level).cumsum(1, dtype=kind) for level in self.levels.tolist()]

    @cached_property
    def unjudged(self) -> Ints:
        """topics × depth: how many unjudged documents stand at or above each rank."""
        return within(self.topic, self.places(self.number), *self.gain.shape)


def unknown_of(first: Ranking, second: Ranking) -> Unknown:
    """The unjudged documents of two runs."""
    topics, depth = first.gain.shape
    only = second.number[first.places(second.number) < 0]
    topic, number = np.append(first.topic, second.topic[first.places(second.number) < 0]), np.append(first.number, only)
    ranks = [np.where(place < 0, depth, place) for place in (first.places(number), second.places(number))]
    seen = np.minimum(*ranks) < depth
    hidden = np.bincount(topic[~seen], minlength=topics)
    return Unknown(topic[seen], ranks[0][seen], ranks[1][seen], hidden, depth)


class Differences:
    """All pairs of runs by one measure."""

    def __init__(self, reread: Reread, paired: Paired) -> None:
        self.reread, self.paired = reread, paired
        self.scorer, self.column = reread.scorer, reread.column[paired.measure]
        self.measure: Measure = self.scorer.measures[self.column]
        self.table = self.scorer.tables[self.column]
        self.rankings: dict[str, Ranking | None] = {}

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

    def bounds(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """pairs × topics: how low and how high second − first can come; nan where it is not known."""
        names, topics = self.paired.runs, len(self.paired.topics)
        found = np.full((2, len(first), topics), np.nan)
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        chosen = [
            number
            for number, (baseline, run) in enumerate(pairs)
            if self.rank_sum is not None and self._ranking(names[baseline]) and self._ranking(names[run])
        ]
        size = max(1, CELLS // max(topics * self.depth, 1)) if chosen else 1
        for begin in range(0, len(chosen), size):
            some = chosen[begin : begin + size]
            baselines, runs = zip(
                *(map(self._known, map(names.__getitem__, pairs[number])) for number in some), strict=True
            )
            unknown = Unknown.joined([unknown_of(run, baseline) for run, baseline in zip(runs, baselines, strict=True)])
            found[0, some] = -self._greatest(baselines, runs, unknown.swapped()).reshape(-1, topics)
            found[1, some] = self._greatest(runs, baselines, unknown).reshape(-1, topics)
        return found[0], found[1]

    def _known(self, run: str) -> Ranking:
        ranking = self._ranking(run)
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
                unknown = unknown & ((codes < len(self.table.worth)) | (codes >= part.batch.unjudged))
            topic, rank = np.nonzero(unknown)
            topics.append(rows[topic])
            ranks.append(rank)
            numbers.append(part.number[unknown])
        topic, rank, number = map(np.concatenate, (topics, ranks, numbers))
        if not np.allclose(score, self.paired.score[self.paired.runs.index(run)], rtol=1e-9, atol=1e-9):
            return None
        if not self.over:  # what stands below the cutoff changes nothing
            topic, rank, number = (column[rank < self.depth] for column in (topic, rank, number))
        place = np.full(int(number.max(initial=0)) + 2, -1, dtype=np.int32)
        place[number] = np.minimum(rank, self.depth)
        return Ranking(gain, self.table.levels, beyond, topic, number, place)

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
        """What a document of gain 1 is worth at each rank, if it is the only one: of all ranks that count, and of those
        of the ideal ranking, which holds what the pool holds and both runs may add."""
        ranks = self.depth
        if self.over == "ideal":
            ranks = max(ranks, int(self.counts.max(initial=0)) + 2 * self.deepest)
            ranks = min(ranks, self.measure.cutoff or ranks)
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

    def _greatest(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        """pairs · topics: what first − second does not exceed."""
        assert self.rank_sum is not None
        of = {"gain": self._of_gain, "stop": self._of_stop, "precision": self._of_precision}[self.rank_sum.of]
        greatest: Floats = of(first, second, unknown) + np.concatenate([ranking.beyond for ranking in first])
        return np.minimum(greatest, self.measure.definition.ceiling - self.measure.definition.floor)

    def _of_gain(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        weights = np.append(self.weights[: self.depth], 0.0)
        difference = np.concatenate([(a.gain - b.gain) @ weights[:-1] for a, b in zip(first, second, strict=True)])
        if not self.over:
            return greatest_sum(difference, unknown, self.table.top * weights)
        counts = np.tile(self.counts, (len(first), 1))
        most = int(counts.max(initial=0) + (unknown.counts + unknown.hidden).max(initial=0)) + 1
        value = np.append(0.0, self.weights.cumsum()) if self.over == "ideal" else np.arange(most + 0.0)
        return greatest_share(difference, unknown, weights, Ideal(self.steps, counts, value))

    def _of_stop(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        top, utility = self.table.top, self.weights[: self.depth]
        own, other = (Cascade(np.concatenate([ranking.gain for ranking in some]), utility) for some in (first, second))
        found = greatest_cascade(own, other, unknown, top)
        if not self.over:
            return found
        # The ideal ranking is between that of the pool and that with all documents at the top.
        utility, rank = self.weights, np.arange(len(self.weights))
        ideal = np.pad(self.ideal, ((0, 0), (0, max(0, len(rank) - self.ideal.shape[1]))))[:, : len(rank)]
        ideal = np.tile(ideal, (len(first), 1))
        more = (unknown.counts + unknown.hidden)[:, None]
        best = np.where(rank < more, top, np.take_along_axis(ideal, np.maximum(rank - more, 0), 1))
        whole = np.where(found < 0, Cascade(best, utility).score, Cascade(ideal, utility).score)
        share: Floats = np.divide(found, whole, out=np.where(found > 0, 1.0, 0.0), where=whole > 0)
        return np.minimum(share, 1.0)

    def _of_precision(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        counts = np.tile(self.counts, (len(first), 1)).T
        most = (self.measure.cutoff or np.inf) if self.over == "ideal" else np.inf  # at which the ideal ranking is cut
        hits = [[np.concatenate(one) for one in zip(*(a.hits for a in some), strict=True)] for some in (first, second)]
        levels = [
            Level(step, own, other, number if self.over else None, most)
            for step, own, other, number in zip(self.steps.tolist(), *hits, counts, strict=True)
        ]
        unjudged = (np.concatenate([ranking.unjudged for ranking in some]) for some in (first, second))
        return greatest_precision(levels, unknown, *unjudged)


def topic_bounds(paired: Paired, first: Ints, second: Ints, reread: Reread | None) -> Floats:
    """2 × pairs × topics: how low and how high the difference of scores (second − first) can come; nan where that is
    not known. Where the bounds of the difference are not the best possible ones or there are none, by those of each
    run."""
    if reread is None:
        return np.full((2, len(first), len(paired.topics)), np.nan)
    differences = Differences(reread, paired)
    lowest, highest = differences.bounds(first, second)
    if not differences.are_exact:
        least, most = separate_bounds(paired, first, second, reread)
        lowest, highest = np.fmax(lowest, least[1] - most[0]), np.fmin(highest, most[1] - least[0])
    return np.array([lowest, highest])


def difference_bounds(paired: Paired, first: Ints, second: Ints, reread: Reread | None) -> tuple[Floats, Floats]:
    """pairs: how low and how high the difference of the summaries (second − first) can come; nan where that is not
    known. The documents of a topic have nothing to do with those of others, so that each may be at its worst."""
    summary = paired.reading.summary
    if summary == "geometric" and reread is not None:
        least, most = separate_bounds(paired, first, second, reread)
        lows, highs = summarize(least, summary), summarize(most, summary)
        return lows[1] - highs[0], highs[1] - lows[0]
    lowest, highest = topic_bounds(paired, first, second, reread)
    return summarize(lowest, summary), summarize(highest, summary)


def never_falls(label: str, reread: Reread | None) -> bool:
    """Whether no judgment lowers a score by this measure, so that the score is the lowest one."""
    try:
        (measure,) = parse_measures(label) if reread is None else [reread.scorer.measures[reread.column[label]]]
    except (InputError, ValueError):
        return False
    return measure.bounds == "rises"


def drop_is_settled(both: Paired, reread: Reread | None) -> bool | None:
    """Whether the second of two runs stays behind the first, however the unjudged documents of both are judged; None
    where that is not known."""
    lowest, highest = difference_bounds(both, np.array([0]), np.array([1]), reread)
    ends = both.reading.sign * np.array([lowest[0], highest[0]])
    return None if np.isnan(ends).any() else bool(ends.max() < -TOLERANCE)
