"""How low and how high the difference of two runs can come, whatever their unjudged documents turn out to be.

Both runs are under one completion of the judgments: each document that one of them retrieved and nobody judged has a
grade, or stays unjudged, for both. Of other documents `Options.unseen` may be relevant too, by default none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from gradedeval.analysis.completions.cascades import Cascade, greatest_cascade
from gradedeval.analysis.completions.precisions import Level, greatest_precision
from gradedeval.analysis.completions.ranking import Ranking, unknown_of
from gradedeval.analysis.completions.ratios import Ideal, greatest_share, greatest_sum
from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.completions.separate import separate_bounds
from gradedeval.analysis.completions.unknown import Unknown
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
ENDLESS = 1 << 40
"""The number of documents that stands for any number."""


class Differences:
    """All pairs of runs by one measure."""

    def __init__(self, reread: Reread, paired: Paired) -> None:
        self.reread, self.paired = reread, paired
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
            both = zip(runs, baselines, strict=True)
            unknown = Unknown.joined([unknown_of(run, baseline, self.unseen) for run, baseline in both])
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

    def _greatest(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        """pairs · topics: what first − second does not exceed."""
        assert self.rank_sum is not None
        of = {"gain": self._of_gain, "stop": self._of_stop, "precision": self._of_precision}[self.rank_sum.of]
        greatest: Floats = of(first, second, unknown) + np.concatenate([ranking.beyond for ranking in first])
        return np.minimum(greatest, self.measure.definition.ceiling - self.measure.definition.floor)

    def _of_gain(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
        weights = np.append(self.weights, 0.0)
        difference = np.concatenate([(a.gain - b.gain) @ weights[:-1] for a, b in zip(first, second, strict=True)])
        if not self.over:
            return greatest_sum(difference, unknown, self.table.top * weights)
        counts = np.tile(self.counts, (len(first), 1))
        most = int(counts.max(initial=0) + (unknown.counts + unknown.hidden).max(initial=0))
        return greatest_share(difference, unknown, weights, Ideal(self.steps, counts, self._ideal_of(most)))

    def _ideal_of(self, most: int) -> Floats:
        """What 0, 1, 2, … documents of gain 1 come to in what scores are divided by, up to so many, and the last of all
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
        """The weights of so many ranks of an ideal ranking, that of the first 1."""
        sums = self.rank_sum
        assert sums is not None
        gain, one = np.zeros((1, ranks)), np.ones(1, dtype=np.int64)
        g = Gains(gain, gain > 0, np.ones((1, 1)), ranks * one, one, np.ones(1), self.measure.cutoff)
        undivided = replace(sums, over=None)
        weights = undivided.at_ranks(g, {**self.measure.definition.parameters, **self.measure.arguments})[0]
        found: Floats = weights / weights[:1]
        return found

    def _of_stop(self, first: Sequence[Ranking], second: Sequence[Ranking], unknown: Unknown) -> Floats:
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
