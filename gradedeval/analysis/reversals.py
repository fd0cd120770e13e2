"""How many unjudged documents of the run behind would have to be relevant to reverse the order of two runs."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis.score_matrix import Paired
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, distinct, ranges, ranks
from gradedeval.errors import InputError
from gradedeval.kernel.measures.bounds import falls
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import as_scores, scores_of
from gradedeval.kernel.parallel import Workers, progress
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.docnos import EVERY_TOPIC, DocumentNumbers
from gradedeval.kernel.scoring.scorer import GainsCache, Scorer
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.scoring.tasks import GradedRun, grade_run
from gradedeval.kernel.trec.lines import decode
from gradedeval.kernel.trec.stream import Source, is_file

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRuns
    from gradedeval.kernel.rankings.grade import Grader


# The unjudged documents of runs: what scores would be if some of them were relevant.


EXACT = 50
"""Up to this many unjudged documents of a topic each number is tried, beyond it every fifth part more."""
CELLS = 1 << 16
"""Topics × ranks that are scored in one go: more no longer saves calls, and leaves the cache."""
HEAVIEST_COUNT = 1 << 10
"""Documents of the largest weights that are looked at first: as a rule those that serve best are among them."""
CELLS_OF_CHOICES = 1 << 21
"""Choices × topics × ranks that are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some topics of a run: a batch, and topics × ranks: the numbers of its unjudged documents, 0 elsewhere."""

    batch: Batch
    number: NDArray[Any]

    @property
    def names(self) -> list[str]:
        return [decode(topic) for topic in self.batch.topics]

    @cached_property
    def unjudged(self) -> Bools:
        """topics × ranks: whether the document is one of these."""
        return self.number > 0

    @cached_property
    def cell(self) -> NDArray[np.int32]:
        """number of a document -> its place in the flat topics × ranks; −1 of what is not there or beyond the last."""
        cells = np.full(int(self.number.max(initial=0)) + 2, -1, dtype=np.int32)
        cells[self.number.ravel()] = np.arange(self.number.size)
        cells[0] = -1
        return cells

    def cells(self, numbers: Ints) -> NDArray[Any]:
        """The places of documents in the flat topics × ranks; −1 of what is not there."""
        return self.cell.take(numbers, mode="clip")

    def choice(self, numbers: Ints) -> tuple[Ints, Bools]:
        """The rows of topics that have some of these documents, and rows × ranks: whether it is one."""
        cells = self.cells(numbers)
        topics, ranks = np.divmod(cells[cells >= 0], self.number.shape[1])
        rows, row = np.unique(topics, return_inverse=True)
        chosen = np.zeros((len(rows), self.number.shape[1]), dtype=bool)
        chosen[row, ranks] = True
        return rows, chosen


def number_documents(runs: Mapping[str, Sequence[Batch]], grader: Grader) -> dict[str, list[Part]]:
    """The batches of runs, whose documents have numbers, down to the last rank that counts.

    The documents of a topic have numbers that follow each other: what is looked up by number, topic after topic, is
    found in the cache.
    """
    parts = {
        run: [_number_unjudged(grader.down_to_last(batch), grader.judged) for batch in own] for run, own in runs.items()
    }
    every, row = list(chain.from_iterable(parts.values())), dict[bytes, int]()
    topic = np.full(max((int(part.number.max(initial=0)) for part in every), default=0) + 1, -1)
    for part in every:
        rows = np.array([row.setdefault(name, len(row)) for name in part.batch.topics], dtype=np.int64)
        topic[part.number] = rows[:, None]
    topic[0] = -1
    order = np.argsort(topic, kind="stable")
    order = order[np.searchsorted(topic[order], 0) :]
    number = np.zeros(len(topic), dtype=np.int32)
    number[order] = np.arange(1, len(order) + 1)
    return {run: [Part(part.batch, number[part.number]) for part in own] for run, own in parts.items()}


def _number_unjudged(batch: Batch, judged: Bools) -> Part:
    """A batch with the numbers of its unjudged documents."""
    assert batch.numbers is not None
    return Part(replace(batch, numbers=None), batch.numbers * unjudged_in(batch, judged))


def unjudged_in(batch: Batch, judged: Bools) -> Bools:
    """topics × ranks: whether there is a document that nobody judged."""
    ranks = np.arange(1, batch.codes.shape[1] + 1)
    found: Bools = ~judged[batch.codes] & (ranks <= batch.retrieved[:, None])
    return found


def select_topics(whole: Sequence[Part], topics: Sequence[str]) -> list[Part]:
    """The parts of a run, of these topics alone; a topic that is in several of them is complete in the last."""
    last = {topic: place for place, part in enumerate(whole) for topic in part.names}
    wanted, parts = set(topics), []
    for place, part in enumerate(whole):
        rows = [row for row, name in enumerate(part.names) if name in wanted and last[name] == place]
        if rows:
            parts.append(Part(part.batch.select(np.array(rows)), part.number[rows]))
    return parts


@dataclass(frozen=True, eq=False)
class RelevantCells:
    """What is relevant from a gain on.

    step   by how much that gain is above the next lower one
    cell   the documents as they are judged, down to the cutoff: their places in the flat topics × ranks
    begin  topics: where theirs begin among these, and `count` how many there are
    """

    step: float
    cell: Ints
    begin: Ints
    count: Ints

    @classmethod
    def of(cls, step: float, relevant: Bools) -> RelevantCells:
        """With these topics × ranks."""
        count = np.count_nonzero(relevant, axis=1)
        return cls(step, np.flatnonzero(relevant), np.cumsum(count) - count, count)


@dataclass(frozen=True, eq=False)
class Precisions:
    """Average precision of the topics of a part, graded or not, by the ranks of what is relevant alone, which is little
    of what a run retrieves: the same numbers, added in the same order, as the measure's own.

    measure  average precision, or the sum that it is a share of
    levels   what is relevant from each gain on
    whole    topics: what the sums are divided by
    width    how many ranks there are
    """

    measure: Measure
    levels: Sequence[RelevantCells]
    whole: Floats
    width: int

    @classmethod
    def of(cls, scorer: Scorer, column: int, part: Part) -> Precisions | None:
        """None by other measures, and where more than the ranks of relevant documents counts."""
        measure, table, batch = scorer.measures[column], scorer.tables[column], part.batch
        sums, plain = measure.rank_sum, batch.first is None and table.filled is None and len(table.levels)
        if sums is None or sums.of != "precision" or measure.judged_only or measure.by_intent or not plain:
            return None
        gains = scorer.gains_cache(batch)(table, measure)
        whole = 1 if sums.over is None else sums.over(gains, **{**measure.definition.parameters, **measure.arguments})
        levels = []
        for step, level in zip(np.diff(table.levels, prepend=0).tolist(), table.levels.tolist(), strict=True):
            relevant: Bools = np.zeros(batch.codes.shape, dtype=bool)
            relevant[:, : gains.gain.shape[1]] = gains.gain >= level
            levels.append(RelevantCells.of(step, relevant & ~part.unjudged))
        return cls(measure, levels, whole + np.zeros(len(batch.codes)), batch.codes.shape[1])

    @property
    def depth(self) -> int:
        """How many ranks count."""
        return self.width if self.measure.cutoff is None else min(self.width, self.measure.cutoff)

    def scores(self, asked: Sequence[Ints], ceiling: float = np.inf) -> list[tuple[Ints, Floats]]:
        """Of each choice of unjudged documents, by their places in the flat topics × ranks: the rows of topics that
        have any at a rank that counts, and their scores as they are tested where these are relevant too."""
        at_once = max(1, CELLS_OF_CHOICES // max(len(self.whole) * self.width, 1))
        return [
            found
            for begin in range(0, len(asked), at_once)
            for found in self._scores(asked[begin : begin + at_once], ceiling)
        ]

    def _scores(self, asked: Sequence[Ints], ceiling: float) -> list[tuple[Ints, Floats]]:
        topics, size = len(self.whole), len(self.whole) * self.width
        counted = [cells[cells % self.width < self.depth].astype(np.int64) for cells in asked]
        keys = np.concatenate([cells + number * size for number, cells in enumerate(counted)])
        rows, place = distinct(keys // self.width)  # choice · topics + topic
        topic, own = rows % topics, place * self.width + keys % self.width
        summed = np.zeros(len(rows))
        for level in self.levels:
            count, relevant = level.count[topic], np.zeros(len(rows) * self.width, dtype=bool)
            known = level.cell[ranges(level.begin[topic], count)]
            relevant[known + np.repeat((np.arange(len(rows)) - topic) * self.width, count)] = True
            relevant[own] = True
            place, rank = np.divmod(np.flatnonzero(relevant), self.width)
            ordinal = ranks(np.bincount(place, minlength=len(rows))) + 1.0
            summed += level.step * np.bincount(place, ordinal / (rank + 1.0), len(rows))
        values = self._tested(summed, topic, ceiling)
        ends = np.searchsorted(rows, topics * np.arange(1, len(asked)))
        return list(zip(np.split(topic, ends), np.split(values, ends), strict=True))

    def down_to(self, seen: Bools, tried: Ints, ceiling: float) -> Floats:
        """topics × …: the scores as they are tested where of the unjudged documents that are `seen`, topics × ranks, so
        many first ones are relevant, or all that there are."""
        number = seen.sum(1)
        counts = np.minimum(tried, number[:, None])
        place = np.full((len(seen), int(number.max(initial=0)) + 1), 0)  # after the last of that many documents
        topic, rank = seen.nonzero()
        place[topic, ranks(number) + 1] = rank + 1
        after = np.take_along_axis(place, counts, 1)
        total = np.zeros(counts.shape)
        for level in self.levels:
            total += level.step * self._down_to(level, seen, after, counts)
        return self._tested(total, np.arange(len(seen)), ceiling)

    def _down_to(self, level: RelevantCells, seen: Bools, after: Ints, counts: Ints) -> Floats:
        """topics × …: the sums of precisions where what is `seen` is relevant down to the ranks `after`: `counts`
        documents."""
        known = np.zeros(seen.shape, dtype=bool)
        known.ravel()[level.cell] = True
        relevant = seen | known
        each = np.where(relevant, relevant.cumsum(1) / np.arange(1.0, self.width + 1), 0.0)
        total: Floats = np.take_along_axis(np.pad(each, ((0, 0), (1, 0))).cumsum(1), after, 1)
        topic, rank = np.divmod(level.cell, self.width)
        at = np.full((len(seen), int(level.count.max(initial=0))), -1)
        at[topic, ranks(level.count)] = rank
        for nth in range(at.shape[1]):
            below = at[:, nth, None]
            total += np.where(below >= after, (nth + 1.0 + counts) / (below + 1.0 + (below < 0)), 0.0)
        return total

    def _tested(self, sums: Floats, rows: Ints, ceiling: float) -> Floats:
        whole = self.whole[rows] if sums.ndim == 1 else self.whole[rows, None]
        scores = np.divide(sums, whole, out=np.where(sums > 0, np.inf, 0.0), where=whole > 0)
        scores = as_scores(self.measure, scores.ravel()).reshape(sums.shape)
        tested: Floats = self.measure.reading.tested(np.minimum(scores, ceiling))
        return tested


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run by one measure, with some of its unjudged documents taken as relevant: they have the top gain.

    base    topics: the scores as they are, on the scale on which means are tested
    number  the unjudged documents that the measure looks at
    topic   of each: its row
    rank    of each: its rank
    weight  of each: about what it adds to the score of its topic
    fixed   of each: what it adds whatever the others are, as long as no score comes to the largest there is; None where
            it depends on them
    bounded whether a score may come to the largest there is
    most    topics: the score with all of them
    seen    of each part: topics × ranks: whether it is one of these documents
    precise of each part: the same scores in few steps; None where they are not
    """

    scorer: Scorer
    column: int
    parts: list[Part]
    base: Floats
    number: Ints
    topic: Ints
    rank: Ints
    weight: Floats
    fixed: Floats | None
    bounded: bool
    most: Floats
    seen: list[Bools]
    precise: list[Precisions] | None

    @cached_property
    def _places(self) -> list[NDArray[np.int32]]:
        """of each part: flat topics × ranks: the place of each document among those listed here; −1 of others."""
        found, begin = [], 0
        for seen in self.seen:
            place = np.full(seen.size + 1, -1, dtype=np.int32)
            cells = np.flatnonzero(seen)
            place[cells] = np.arange(begin, begin + len(cells))
            begin += len(cells)
            found.append(place)
        return found

    @cached_property
    def heaviest(self) -> tuple[Ints, float]:
        """The documents of the largest weights, of more than `HEAVIEST`, and what the weights of the others fall short
        of."""
        least = np.partition(self.weight, -HEAVIEST_COUNT)[-HEAVIEST_COUNT]
        return np.flatnonzero(self.weight >= least), float(least)

    @cached_property
    def lightest(self) -> float:
        """The smallest weight, or 0."""
        return float(self.weight.min(initial=0.0))

    def places(self, numbers: Ints) -> NDArray[Any]:
        """The places of documents among those listed here; −1 of others."""
        found: list[NDArray[Any]] = [
            place[part.cells(numbers)] for place, part in zip(self._places, self.parts, strict=True)
        ]
        return np.maximum.reduce(found) if len(found) > 1 else found[0]

    def rises(self, chosen: Sequence[Ints]) -> list[float]:
        """By how much the sum of scores rises where the documents of each choice, by number, are relevant."""
        if self.fixed is not None:
            return [self._rise_by_rank(self.fixed, numbers) for numbers in chosen]
        rises, begin = [0.0] * len(chosen), 0
        for number, part in enumerate(self.parts):
            end = begin + len(part.batch.topics)
            for which, (rows, values) in enumerate(self._scored(number, part, chosen)):
                rises[which] += float((values - self.base[begin:end][rows]).sum())
            begin = end
        return rises

    def _scored(self, number: int, part: Part, chosen: Sequence[Ints]) -> list[tuple[Ints, Floats]]:
        """Of each choice the topics of a part that have any of the documents, and their scores with them."""
        if self.precise is not None:
            cells = map(part.cells, chosen)
            return self.precise[number].scores([some[some >= 0] for some in cells], self.ceiling)
        choices = list(map(part.choice, chosen))
        values = top_gain_scores(self.scorer, self.column, part, choices, self.ceiling)
        return [(rows, of_rows) for (rows, _), of_rows in zip(choices, values, strict=True)]

    @property
    def ceiling(self) -> float:
        return self.scorer.measures[self.column].definition.ceiling

    def _rise_by_rank(self, fixed: Floats, numbers: Ints) -> float:
        places = self.places(numbers)
        places = places[places >= 0]
        added = np.bincount(self.topic[places], fixed[places], minlength=len(self.base))
        return float((np.minimum(self.base + added, _tested_ceiling(self.scorer, self.column)) - self.base).sum())


def top_gain_scores(
    scorer: Scorer, column: int, part: Part, asked: Iterable[tuple[Ints, Bools]], ceiling: float = np.inf
) -> list[Floats]:
    """The scores of topics with some unjudged documents at the top gain, as they are tested, no more than the ceiling.
    The others gain nothing, as what lies beyond the end. Many small questions are scored in one go.

    asked  rows of topics, and rows × ranks: the documents that are relevant
    """
    found: list[Floats] = []
    waiting: list[tuple[Ints, Bools]] = []
    for rows, relevant in asked:
        waiting.append((rows, relevant))
        if sum(each.size for _, each in waiting) >= CELLS:
            found += _values(scorer, column, part, waiting, ceiling)
            waiting = []
    return found + _values(scorer, column, part, waiting, ceiling) if waiting else found


def _values(
    scorer: Scorer, column: int, part: Part, asked: Sequence[tuple[Ints, Bools]], ceiling: float
) -> list[Floats]:
    rows, relevant = (np.concatenate(each) for each in zip(*asked, strict=True))
    batch = part.batch.select(rows)
    np.putmask(batch.codes, part.unjudged[rows] & ~relevant, batch.padding_code)
    table, measure = scorer.tables[column], scorer.measures[column]
    gains = GainsCache(batch, scorer.grader, scorer.by_intent)
    scores = scores_of(measure, gains(table, measure, unjudged=table.top))
    values = measure.reading.tested(np.minimum(scores, ceiling))
    return np.split(values, np.cumsum([len(each) for each, _ in asked])[:-1])


def _tested_ceiling(scorer: Scorer, column: int) -> float:
    """The largest score there is, as it is tested."""
    measure = scorer.measures[column]
    return float(measure.reading.tested(np.array([measure.definition.ceiling]))[0])


def judge_run(scorer: Scorer, column: int, parts: list[Part], by_rank: dict[bytes, Floats]) -> JudgedRun:
    """What the unjudged documents of a run add to its scores.

    by_rank  topic -> what a document adds at each rank, where that depends on nothing else; more is put in
    """
    measure, found, begin = scorer.measures[column], [], 0
    precise, looked_at = list[Precisions](), list[Bools]()
    additive, bounded = True, False
    for part in parts:
        seen = (part.number > 0) & (
            np.arange(part.number.shape[1]) < (np.inf if measure.cutoff is None else measure.cutoff)
        )
        order = seen.cumsum(1)
        rows = np.arange(len(seen))
        choices = np.zeros_like(seen), seen, seen & (order % 2 == 1), seen & (order % 2 == 0)
        none, every, odd, even = top_gain_scores(scorer, column, part, ((rows, chosen) for chosen in choices))
        most = np.minimum(every, _tested_ceiling(scorer, column))
        direct = _precisions(scorer, column, part, seen, (none, every, odd))
        precise += [direct] if direct is not None else []
        looked_at.append(seen)
        fixed = np.zeros(seen.shape)
        additive = additive and part.batch.first is None and _are_close(odd + even, none + every)
        if additive and seen.size:
            with np.errstate(invalid="ignore"):  # a topic without an ideal ranking
                fixed = _rank_weights(scorer, column, part, by_rank) * seen
            additive = _are_close(fixed.sum(1), every - none)
        at_end = not _are_close(most, every)
        bounded = bounded or at_end
        weight = fixed
        if not additive or at_end:
            weight = _hull_weights(
                scorer,
                column,
                part,
                seen,
                none[:, None] + np.pad(fixed, ((0, 0), (1, 0))).cumsum(1) if additive else None,
                direct,
            )
        topic, rank = np.nonzero(seen)
        places = ((topic + begin).astype(np.int32), (rank + 1).astype(np.int32))
        found.append((none, part.number[seen], *places, weight[seen], fixed[seen], most))
        begin += len(none)
    base, number, topics, places_of, weights, each, all_of_them = map(np.concatenate, zip(*found, strict=True))
    exact, direct_of = each if additive else None, precise if len(precise) == len(parts) else None
    columns = (base, number, topics, places_of, weights, exact, bounded, all_of_them)
    return JudgedRun(scorer, column, parts, *columns, looked_at, direct_of)


def _precisions(
    scorer: Scorer, column: int, part: Part, seen: Bools, known: tuple[Floats, Floats, Floats]
) -> Precisions | None:
    """The way to the scores by the ranks of what is relevant, where there is one.

    known  the scores with none of the documents that are seen, with all, and with each other one
    """
    found = Precisions.of(scorer, column, part)
    if found is None:
        return None
    none, every, odd = known
    ends = found.down_to(seen, np.array([0, seen.shape[1]]), np.inf)
    ((rows, values),) = found.scores([np.flatnonzero(seen & (seen.cumsum(1) % 2 == 1))])
    same = np.array_equal(ends.T, (none, every)) and np.array_equal(values, odd[rows])
    return found if same else None


def _are_close(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=1e-9))


def _rank_weights(scorer: Scorer, column: int, part: Part, known: dict[bytes, Floats]) -> Floats:
    """topics × ranks: what a document would add, if it were the only one that gains."""
    batch, width = part.batch, part.batch.codes.shape[1]
    if any(len(known.get(topic, ())) < width for topic in batch.topics):
        empty = replace(
            batch, codes=np.full_like(batch.codes, batch.unjudged_code), retrieved=np.full_like(batch.retrieved, width)
        )
        alone = Part(empty, np.ones_like(part.number))
        deepest = min(width, scorer.measures[column].cutoff or width)
        found = np.zeros((len(batch.topics), width))
        found[:, :deepest] = _single_document_gains(scorer, column, alone, deepest)
        known |= dict(zip(batch.topics, found, strict=True))
    return np.stack([known[topic][:width] for topic in batch.topics])


SAMPLED = 4
"""Ranks at which it is checked whether weights are what scores come to."""


def _single_document_gains(scorer: Scorer, column: int, alone: Part, deepest: int) -> Floats:
    """topics × ranks: by how much one document raises the scores of rankings without another that gains."""
    measure, table = scorer.measures[column], scorer.tables[column]
    rows, at = np.arange(len(alone.batch.topics)), np.arange(alone.batch.codes.shape[1])

    def scored(some: Iterable[int]) -> Floats:
        zero, *each = top_gain_scores(
            scorer, column, alone, ((rows, np.tile(at == rank, (len(rows), 1))) for rank in some)
        )
        return np.stack(each, axis=1) - zero[:, None]

    sums = measure.rank_sum
    if sums is not None and sums.of == "gain" and not measure.by_intent and not measure.judged_only:
        gains = GainsCache(alone.batch, scorer.grader, scorer.by_intent)(table, measure)
        weights = sums.at_ranks(gains, {**measure.definition.parameters, **measure.arguments})[:, :deepest]
        found: Floats = measure.reading.tested((weights * table.top).ravel()).reshape(weights.shape)
        some = np.unique(np.linspace(0, deepest - 1, SAMPLED).astype(np.int64))
        if np.array_equal(found[:, some], scored((-1, *some.tolist()))):
            return found
    return scored(range(-1, deepest))


def _hull_weights(
    scorer: Scorer, column: int, part: Part, seen: Bools, summed: Floats | None, precise: Precisions | None
) -> Floats:
    """topics × ranks: about what a document adds, with those above it: the slope of the upper hull of the score by how
    many of the first unjudged documents are relevant; 0 where it does not rise.

    summed  topics × (1 + ranks): the scores with all documents down to the rank, from 0, but for the ceiling; None
            where they are not sums
    precise  another way to the scores, where there is one
    """
    order, ceiling = np.where(seen, seen.cumsum(1), 0), scorer.measures[column].definition.ceiling
    number = order.max(1, initial=0)
    tried = _prefix_lengths(int(number.max(initial=0)))
    rows = np.arange(len(number))
    if summed is None and precise is not None:
        values = precise.down_to(seen, tried, ceiling)
    elif summed is None:
        below = [rows[number > before] for before in (-1, *tried[:-1])]  # the others have no more documents
        small = order.astype(np.int32)
        asked = ((some, seen[some] & (small[some] <= most)) for some, most in zip(below, tried, strict=True))
        values = np.zeros((len(number), len(tried)))
        for at, value in enumerate(top_gain_scores(scorer, column, part, asked, ceiling)):
            values[below[at], at] = value
    else:
        so_far = np.pad(seen, ((0, 0), (1, 0))).cumsum(1)
        down_to = np.array([np.searchsorted(so_far[row], np.minimum(tried, number[row])) for row in rows])
        values = np.minimum(summed[rows[:, None], down_to], _tested_ceiling(scorer, column))
    slopes = np.zeros((len(number), int(tried[-1]) + 1))
    for row, last in enumerate(np.searchsorted(tried, number).tolist()):
        counts, begin = np.minimum(tried, number[row]), 0
        while begin < last:
            steps = slice(begin + 1, last + 1)
            slope = (values[row, steps] - values[row, begin]) / (counts[steps] - counts[begin])
            end = begin + 1 + int(slope.argmax())
            if slope[end - begin - 1] <= 0:
                break
            slopes[row, counts[begin] + 1 : counts[end] + 1] = slope[end - begin - 1]
            begin = end
    return np.take_along_axis(slopes, order, 1)


def _prefix_lengths(most: int) -> Ints:
    """0, 1, 2, … to EXACT, then a fifth more each time, to the most there are."""
    tried = [*range(min(most, EXACT) + 1)]
    while tried[-1] < most:
        tried.append(min(most, tried[-1] * 6 // 5))
    return np.array(tried)


# The runs of an evaluation, read again: which of their documents nobody judged.


class RereadRuns:
    """All runs are read once more, when one is first asked for, with a number for each unjudged document; or they were
    kept as they were graded, or are `ranked` already."""

    @classmethod
    def of(cls, scores: Scores | None) -> RereadRuns | None:
        """None where judging would not change the scores as it is told here: where they are saved ones, or were
        standardized since, and as `of_runs` says."""
        if scores is None or scores.transformations or not scores.sources:
            return None
        return cls.of_runs(Scorer(scores.qrels, scores.measures, scores.options), scores.sources)

    @classmethod
    def of_runs(cls, scorer: Scorer, sources: Mapping[str, Any], ranked: RankedRuns | None = None) -> RereadRuns | None:
        """None without residuals, where the best case is that of the full ranking, and where grades order ties."""
        options = scorer.options
        bounded = options.wants_residuals and options.bounded_by_residuals and options.residual_depth == "cutoff"
        return cls(scorer, sources, ranked) if bounded else None

    def __init__(self, scorer: Scorer, sources: Mapping[str, Any], ranked: RankedRuns | None = None) -> None:
        self.scorer, self.sources, self.ranked = scorer, sources, ranked
        self.column = {measure.label: column for column, measure in enumerate(scorer.measures)}
        self.known: dict[tuple[str, tuple[str, ...]], list[Part] | None] = {}
        # What is relevant below the cutoff changes what scores are divided by.
        self.whole = any(map(falls, self.scorer.measures))

    def parts(self, run: str, topics: Sequence[str]) -> list[Part] | None:
        """These topics of a run; None where it cannot be read again."""
        key = (run, tuple(topics))
        if key not in self.known:
            parts = select_topics(self.runs.get(run, []), topics)
            self.known[key] = parts if {name for part in parts for name in part.names} == set(topics) else None
        return self.known[key]

    @cached_property
    def runs(self) -> dict[str, list[Part]]:
        """All topics of each run that can be read again."""
        if self.ranked is not None:
            return self._of_ranked(self.ranked)
        documents, graded = DocumentNumbers(), dict[str, Sequence[Batch]]()
        for run, source in self.sources.items():
            if isinstance(source, GradedRun):
                graded[run] = source.batches
            elif source is not None and not (is_file(source) and Source(source).is_read_once):
                grader = replace(self.grader, keep_docnos_for=EVERY_TOPIC, last_rank=None)
                with suppress(InputError):
                    batches = grade_run(source, grader, Workers()).batches
                    graded[run] = [batch.numbered(documents) for batch in batches]
        return number_documents(graded, self.grader)

    @property
    def grader(self) -> Grader:
        """That of all ranks that count."""
        return replace(self.scorer.grader, last_rank=None) if self.whole else self.scorer.grader

    def _of_ranked(self, ranked: RankedRuns) -> dict[str, list[Part]]:
        """The same of runs whose documents are numbered."""
        number = np.empty(len(ranked), dtype=np.int32)
        number[np.argsort(ranked.topic, kind="stable")] = np.arange(1, len(ranked) + 1)
        row, runs = {topic: row for row, topic in enumerate(ranked.topics)}, {}
        for run in ranked.runs:
            parts = []
            for batch in ranked.batches(run, self.grader):
                rows = [at for at, topic in enumerate(batch.topics) if run.listed[row[topic]]]
                batch = batch.select(np.array(rows, dtype=np.int64))
                numbers: NDArray[Any] = np.zeros(batch.codes.shape, dtype=np.int32)
                for at, topic in enumerate(batch.topics):
                    documents = run.of_topic(row[topic])[: batch.codes.shape[1]]
                    numbers[at, : len(documents)] = number[documents]
                parts.append(Part(batch, numbers * unjudged_in(batch, self.scorer.grader.judged)))
            runs[run.name] = parts
        return runs


COLUMNS = ("reversing", "unjudged", "reversing_share", "reversing_rank")
FIRST_SORTED = 512
"""How many of the best documents are sorted first: as a rule they suffice."""
TRIES = 2
"""How many smaller numbers are tried where one has been found that suffices."""


class Reversal(NamedTuple):
    """What reverses an order: how many `documents` of all `unjudged` ones that the measure looks at, down to some
    `rank`; nan where not even all of them do."""

    documents: float
    unjudged: int
    rank: float


ReversalQuery = tuple[str, str, Paired, float]
"""The run behind, the run ahead, their scores, and by how much the sum of the first must rise above the other's."""

Search = Generator[tuple[Ints, JudgedRun, JudgedRun], float, Reversal | None]


class ReversalFinder:
    """The runs of an evaluation, to see what judging their documents could do."""

    def __init__(self, reread: RereadRuns) -> None:
        self.reread = reread
        self.judged: dict[tuple[str, str], JudgedRun | None] = {}
        self.by_rank: dict[str, dict[bytes, Floats]] = {}

    def reversals(self, asked: Sequence[ReversalQuery]) -> list[Reversal | None]:
        """What reverses the order of two runs, by documents of the run behind, for each pair; None where one of them
        cannot be read again as it was scored, or where nothing was found."""
        searches: list[Search | None] = []
        for run, ahead, paired, needed in progress("pairs of runs")(list(asked)):
            behind, other = self._judged(run, paired), self._judged(ahead, paired)
            searches.append(None if behind is None or other is None else _search(behind, other, needed))
        return _run_searches(searches)

    def _judged(self, run: str, paired: Paired) -> JudgedRun | None:
        key = (run, paired.measure)
        if key not in self.judged:
            self.judged[key] = self._judge(run, paired)
        return self.judged[key]

    def _judge(self, run: str, paired: Paired) -> JudgedRun | None:
        parts = self.reread.parts(run, paired.topics)
        if parts is None:
            return None
        row = {name: row for row, name in enumerate(name for part in parts for name in part.names)}
        by_rank = self.by_rank.setdefault(paired.measure, {})
        judged = judge_run(self.reread.scorer, self.reread.column[paired.measure], parts, by_rank)
        scored = paired.values[paired.runs.index(run)]
        same = np.allclose(judged.base[[row[topic] for topic in paired.topics]], scored, rtol=1e-9, atol=1e-9)
        return judged if same else None


def _run_searches(searches: Sequence[Search | None]) -> list[Reversal | None]:
    """What searches find. All go on at the same time, so that what they ask of a run is scored in one go."""
    found: list[Reversal | None] = [None] * len(searches)
    answers: dict[int, Any] = {number: None for number, search in enumerate(searches) if search is not None}
    while answers:
        asked: dict[JudgedRun, list[tuple[int, int, Ints]]] = {}
        for number, answer in answers.items():
            search = searches[number]
            assert search is not None
            try:
                chosen, behind, ahead = search.send(answer)
            except StopIteration as done:
                found[number] = done.value
                continue
            asked.setdefault(behind, []).append((number, 1, chosen))
            asked.setdefault(ahead, []).append((number, -1, chosen))
        answers = {}
        for judged, questions in asked.items():
            rises = judged.rises([chosen for _, _, chosen in questions])
            for (number, sign, _), rise in zip(questions, rises, strict=True):
                answers[number] = answers.get(number, 0.0) + sign * rise
    return found


def _search(behind: JudgedRun, ahead: JudgedRun, needed: float) -> Search:
    """Asks by how much more the run behind rises than the run ahead where some documents are relevant, by number, and
    is told.

    The documents that raise the run behind most and the run ahead least are taken until the order is reversed. Where
    what a document adds depends on its rank alone, that is the fewest. Elsewhere both runs are scored again with the
    documents, and more are taken until it really is reversed.
    """
    unjudged, bounded = len(behind.number), behind.bounded or ahead.bounded
    reach = float((behind.most - behind.base).sum())
    if behind.fixed is not None and ahead.fixed is not None and not bounded:
        reach = float(np.maximum(_net_weights(behind, behind.fixed, ahead, ahead.fixed), 0).sum())
    if reach <= needed:
        return Reversal(np.nan, unjudged, np.nan)

    def found(chosen: Ints) -> Reversal:
        return Reversal(len(chosen), unjudged, int(behind.rank[chosen].max()))

    if behind.fixed is not None and ahead.fixed is not None:
        order, rises, _ = _best_documents(behind, behind.fixed, ahead, ahead.fixed, needed)
        chosen = order[: int(np.searchsorted(rises, needed, side="right")) + 1]
        if len(chosen) and rises[len(chosen) - 1] > needed:
            if not bounded:
                return found(chosen)
            rise = yield behind.number[chosen], behind, ahead
            if rise > needed:
                return found(chosen)
    order, rises, complete = _best_documents(behind, behind.weight, ahead, ahead.weight, needed)
    few, many, target = 0, 0, needed
    while few < len(rises) or not complete:
        if not complete and target >= rises[-1]:
            order, rises, complete = _best_documents(behind, behind.weight, ahead, ahead.weight, target)
        many = min(len(rises), max(few + 1, int(np.searchsorted(rises, target, side="right")) + 1))
        reached = yield behind.number[order[:many]], behind, ahead
        if reached > needed:
            break
        few, target = many, float(rises[many - 1]) + 1.2 * (needed - reached)
    else:
        return None
    for _ in range(TRIES):
        less = min(many - 1, int(np.searchsorted(rises, rises[many - 1] - 0.9 * (reached - needed))))
        if less <= few:
            break
        reached_then = yield behind.number[order[:less]], behind, ahead
        if reached_then <= needed:
            break
        many, reached = less, reached_then
    return found(order[:many])


def _net_weights(
    behind: JudgedRun, weight: Floats, ahead: JudgedRun, of_ahead: Floats, some: Any = slice(None)
) -> Floats:
    """What each unjudged document of the run behind, or some of them, adds to it, less what it adds to the run ahead,
    by its weights in either.

    0 where both are infinite, as where no document is known that is relevant: their difference is not known.
    """
    own, places = weight[some], ahead.places(behind.number[some])
    other, there = np.zeros(len(own)), places >= 0
    other[there] = of_ahead[places[there]]
    net: Floats = np.subtract(own, other, out=np.zeros(len(own)), where=own != other)
    return net


def _best_documents(
    behind: JudgedRun, weight: Floats, ahead: JudgedRun, of_ahead: Floats, reach: float
) -> tuple[Ints, Floats, bool]:
    """The documents that lift the run behind above the run ahead, the best first, and the sums of what they do: enough
    that these pass `reach`, and whether they are all there are."""
    if weight is behind.weight and of_ahead is ahead.weight and len(weight) > HEAVIEST_COUNT:
        heavy, others = behind.heaviest
        net = _net_weights(behind, weight, ahead, of_ahead, heavy)
        order, least = _sort_documents(net, FIRST_SORTED)
        rises = np.cumsum(net[order])
        if least > others - ahead.lightest and len(rises) and rises[-1] > reach:
            return heavy[order], rises, False
    net, count = _net_weights(behind, weight, ahead, of_ahead), FIRST_SORTED
    every = np.count_nonzero(net > 0)
    while True:
        order, _ = _sort_documents(net, count)
        rises = np.cumsum(net[order])
        if len(order) == every or rises[-1] > reach:
            return order, rises, len(order) == every
        count *= 8


def _sort_documents(net: Floats, count: int) -> tuple[Ints, float]:
    """The documents that lift a run, by topic and rank where they lift it alike: `count`, and those that are as good as
    the last of these; and what the others fall short of, 0 where there are none."""
    lifting, least = np.flatnonzero(net > 0), 0.0
    if count < len(lifting):
        every = net[lifting]
        least = np.partition(every, -count)[-count]
        lifting = lifting[every >= least]
    return lifting[np.argsort(-net[lifting], kind="stable")], float(least)


def reversal_columns(frame: pd.DataFrame, measures: Mapping[str, Paired], reread: RereadRuns | None) -> dict[str, Any]:
    """The columns reversing, unjudged, reversing_share and reversing_rank of a comparison, None where blank: what would
    reverse the
    order of the pairs whose order could be reversed.

    measures  name -> the scores that are compared
    reread    the runs that they are of, where it is known what judging would do to them
    """
    columns: dict[str, list[Any]] = {name: [None] * len(frame) for name in COLUMNS}
    if reread is None:
        return columns
    rows = sorted(_trailing_runs(frame, reread))
    listed = {name: frame[name].tolist() for name in ("run", "baseline", "measure", "difference")}
    asked: list[ReversalQuery] = []
    for run, row in rows:
        paired, difference = measures[listed["measure"][row]], listed["difference"][row]
        values = paired.values[[paired.runs.index(listed[name][row]) for name in ("run", "baseline")]]
        needed = 0.0 if difference == 0 else abs(float((values[0] - values[1]).sum()))
        ahead = listed["baseline" if listed["run"][row] == run else "run"][row]
        asked.append((run, ahead, paired, needed + TOLERANCE * len(paired.topics)))
    for (_, row), found in zip(rows, ReversalFinder(reread).reversals(asked), strict=True):
        if found is None or not (
            columns["unjudged"][row] is None or found.documents < (columns["reversing"][row] or math.inf)
        ):
            continue
        columns["unjudged"][row] = found.unjudged
        if not math.isnan(found.documents):
            columns["reversing"][row], columns["reversing_rank"][row] = found.documents, found.rank
            columns["reversing_share"][row] = found.documents / found.unjudged
    return columns


def _trailing_runs(frame: pd.DataFrame, reread: RereadRuns) -> Iterator[tuple[str, int]]:
    """The run behind and the row of each pair whose order may be reversed; both runs where they are equal."""
    columns = [frame[name].tolist() for name in ("run", "baseline", "difference")]
    for row in np.flatnonzero(frame["same_order"].eq(False)).tolist():
        run, baseline, difference = (column[row] for column in columns)
        for name, behind in ((run, difference <= 0), (baseline, difference >= 0)):
            if behind and name in reread.sources:
                yield name, row
