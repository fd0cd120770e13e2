"""Counts of unjudged documents of the trailing run that would reverse the order of two runs, if relevant."""

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
from gradedeval.kernel.measures.bounds import may_fall
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import as_scores, scores_of
from gradedeval.kernel.parallel import Workers, progress
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.document_numbers import EVERY_TOPIC, DocumentNumbers
from gradedeval.kernel.scoring.scorer import GainsCache, Scorer
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.scoring.tasks import GradedRun, grade_run
from gradedeval.kernel.trec.lines import decode
from gradedeval.kernel.trec.stream import Source, is_file

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRuns
    from gradedeval.kernel.rankings.grade import Grader


# Scores of runs with some unjudged documents relevant.


EXACT = 50
"""Up to this many unjudged documents of a topic each number is tried; then steps grow by a fifth."""
CELLS = 1 << 16
"""Topics × ranks scored in one go: more saves no calls, and leaves the cache."""
HEAVIEST_COUNT = 1 << 10
"""Documents of the largest weights, tried first: as a rule the best ones are among them."""
CELLS_OF_CHOICES = 1 << 21
"""Choices × topics × ranks scored in one go."""


@dataclass(frozen=True, eq=False)
class Part:
    """A batch of some topics of a run, and `number`, topics × ranks: the numbers of its unjudged documents, 0 for
    others."""

    batch: Batch
    number: NDArray[Any]

    @property
    def names(self) -> list[str]:
        return [decode(topic) for topic in self.batch.topics]

    @cached_property
    def unjudged(self) -> Bools:
        """Mask of unjudged documents, topics × ranks."""
        return self.number > 0

    @cached_property
    def cell(self) -> NDArray[np.int32]:
        """Cells of documents in the flat topics × ranks, by number; −1 if absent, and last for larger numbers."""
        cells = np.full(int(self.number.max(initial=0)) + 2, -1, dtype=np.int32)
        cells[self.number.ravel()] = np.arange(self.number.size)
        cells[0] = -1
        return cells

    def cells(self, numbers: Ints) -> NDArray[Any]:
        """Return the cells of documents in the flat topics × ranks; −1 if absent."""
        return self.cell.take(numbers, mode="clip")

    def choice(self, numbers: Ints) -> tuple[Ints, Bools]:
        """Return the rows of topics that have any of these documents, and a mask of them, rows × ranks."""
        cells = self.cells(numbers)
        topics, ranks = np.divmod(cells[cells >= 0], self.number.shape[1])
        rows, row = np.unique(topics, return_inverse=True)
        chosen = np.zeros((len(rows), self.number.shape[1]), dtype=bool)
        chosen[row, ranks] = True
        return rows, chosen


def number_documents(runs: Mapping[str, Sequence[Batch]], grader: Grader) -> dict[str, list[Part]]:
    """Number the unjudged documents of runs, consecutively in a topic: lookups then hit the cache."""
    parts = {
        run: [_number_unjudged(grader.down_to_last(batch), grader.judged) for batch in batches]
        for run, batches in runs.items()
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
    return {run: [Part(part.batch, number[part.number]) for part in whole] for run, whole in parts.items()}


def _number_unjudged(batch: Batch, judged: Bools) -> Part:
    """Return a batch with the numbers of its unjudged documents."""
    assert batch.numbers is not None
    return Part(replace(batch, numbers=None), batch.numbers * unjudged_in(batch, judged))


def unjudged_in(batch: Batch, judged: Bools) -> Bools:
    """Return a mask, topics × ranks, of unjudged documents."""
    ranks = np.arange(1, batch.codes.shape[1] + 1)
    unjudged: Bools = ~judged[batch.codes] & (ranks <= batch.retrieved[:, None])
    return unjudged


def select_topics(whole: Sequence[Part], topics: Sequence[str]) -> list[Part]:
    """Return the parts of a run for some topics; a topic of more than one part is complete in the last."""
    last = {topic: place for place, part in enumerate(whole) for topic in part.names}
    chosen, parts = set(topics), []
    for place, part in enumerate(whole):
        rows = [row for row, name in enumerate(part.names) if name in chosen and last[name] == place]
        if rows:
            parts.append(Part(part.batch.select(np.array(rows)), part.number[rows]))
    return parts


@dataclass(frozen=True, eq=False)
class RelevantCells:
    """The documents judged at a gain or above.

    step   the difference of that gain from the next lower one
    cell   their places in the flat topics × ranks, down to the cutoff
    begin  topics: the index of the first document in `cell`, and `count` their number
    """

    step: float
    cell: Ints
    begin: Ints
    count: Ints

    @classmethod
    def of(cls, step: float, relevant: Bools) -> RelevantCells:
        """Build from a mask, topics × ranks."""
        count = np.count_nonzero(relevant, axis=1)
        return cls(step, np.flatnonzero(relevant), np.cumsum(count) - count, count)


@dataclass(frozen=True, eq=False)
class Precisions:
    """Average precision, graded or not, of the topics of a part, from the ranks of relevant documents alone.

    These are few of the retrieved documents. The same numbers are added in the same order as by the measure itself.

    measure  average precision, or the sum that it is a share of
    levels   the relevant documents from each gain on
    whole    topics: the divisors of the sums
    width    the number of ranks
    """

    measure: Measure
    levels: Sequence[RelevantCells]
    whole: Floats
    width: int

    @classmethod
    def of(cls, scorer: Scorer, column: int, part: Part) -> Precisions | None:
        """Build for a measure; None for other measures, and if more than the ranks of relevant documents counts."""
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
        """The number of ranks that count."""
        return self.width if self.measure.cutoff is None else min(self.width, self.measure.cutoff)

    def scores(self, choices: Sequence[Ints], ceiling: float = np.inf) -> list[tuple[Ints, Floats]]:
        """Return for each choice of unjudged documents, cells of the flat topics × ranks, its topics and their scores.
        Topics are rows with a chosen document at a rank that counts. Scores are on the tested scale, with the chosen
        documents relevant too."""
        at_once = max(1, CELLS_OF_CHOICES // max(len(self.whole) * self.width, 1))
        parts = (choices[begin : begin + at_once] for begin in range(0, len(choices), at_once))
        return [scored for part in parts for scored in self._scores(part, ceiling)]

    def _scores(self, choices: Sequence[Ints], ceiling: float) -> list[tuple[Ints, Floats]]:
        topics, size = len(self.whole), len(self.whole) * self.width
        counted = [cells[cells % self.width < self.depth].astype(np.int64) for cells in choices]
        keys = np.concatenate([cells + number * size for number, cells in enumerate(counted)])
        rows, place = distinct(keys // self.width)  # choice · topics + topic
        topic, chosen = rows % topics, place * self.width + keys % self.width
        summed = np.zeros(len(rows))
        for level in self.levels:
            count, relevant = level.count[topic], np.zeros(len(rows) * self.width, dtype=bool)
            judged = level.cell[ranges(level.begin[topic], count)]
            relevant[judged + np.repeat((np.arange(len(rows)) - topic) * self.width, count)] = True
            relevant[chosen] = True
            place, rank = np.divmod(np.flatnonzero(relevant), self.width)
            ordinal = ranks(np.bincount(place, minlength=len(rows))) + 1.0
            summed += level.step * np.bincount(place, ordinal / (rank + 1.0), len(rows))
        values = self._tested(summed, topic, ceiling)
        ends = np.searchsorted(rows, topics * np.arange(1, len(choices)))
        return list(zip(np.split(topic, ends), np.split(values, ends), strict=True))

    def down_to(self, seen: Bools, tried: Ints, ceiling: float) -> Floats:
        """Return the scores, topics × lengths, on the tested scale, with the first `tried` unjudged documents of `seen`
        relevant.

        seen  mask, topics × ranks; all documents are relevant if fewer than the number tried
        """
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
        """Return the sums of precisions, topics × lengths, with `counts` documents relevant down to `after`."""
        judged = np.zeros(seen.shape, dtype=bool)
        judged.ravel()[level.cell] = True
        relevant = seen | judged
        each = np.where(relevant, relevant.cumsum(1) / np.arange(1.0, self.width + 1), 0.0)
        total: Floats = np.take_along_axis(np.pad(each, ((0, 0), (1, 0))).cumsum(1), after, 1)
        topic, rank = np.divmod(level.cell, self.width)
        rank_of = np.full((len(seen), int(level.count.max(initial=0))), -1)
        rank_of[topic, ranks(level.count)] = rank
        for nth in range(rank_of.shape[1]):
            below = rank_of[:, nth, None]
            total += np.where(below >= after, (nth + 1.0 + counts) / (below + 1.0 + (below < 0)), 0.0)
        return total

    def _tested(self, sums: Floats, rows: Ints, ceiling: float) -> Floats:
        whole = self.whole[rows] if sums.ndim == 1 else self.whole[rows, None]
        scores = np.divide(sums, whole, out=np.where(sums > 0, np.inf, 0.0), where=whole > 0)
        scores = as_scores(self.measure, scores.ravel()).reshape(sums.shape)
        values: Floats = self.measure.reading.tested(np.minimum(scores, ceiling))
        return values


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run by one measure, with some of its unjudged documents relevant: they have the top gain.

    base    topics: the scores as they are, on the scale on which means are tested
    number  the unjudged documents that the measure looks at
    topic   per document: its row
    rank    per document: its rank
    weight  per document: approximate gain to the score of its topic
    fixed   per document: its gain regardless of the others, for scores below the largest possible one; None if it
            depends on the others
    bounded whether a score may reach the largest possible one
    most    topics: the score with all of them relevant
    seen    parts: masks of these documents, topics × ranks
    precise parts: the same scores in few steps; None if there is no such way
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
        """Indices of documents in the lists above, for each part by flat topics × ranks; −1 for others."""
        places, begin = [], 0
        for seen in self.seen:
            place = np.full(seen.size + 1, -1, dtype=np.int32)
            cells = np.flatnonzero(seen)
            place[cells] = np.arange(begin, begin + len(cells))
            begin += len(cells)
            places.append(place)
        return places

    @cached_property
    def heaviest(self) -> tuple[Ints, float]:
        """The documents of the largest weights, if more than `HEAVIEST_COUNT`, and an upper bound of all others."""
        least = np.partition(self.weight, -HEAVIEST_COUNT)[-HEAVIEST_COUNT]
        return np.flatnonzero(self.weight >= least), float(least)

    @cached_property
    def lightest(self) -> float:
        """The smallest weight, or 0."""
        return float(self.weight.min(initial=0.0))

    def places(self, numbers: Ints) -> NDArray[Any]:
        """Return the indices of documents in the lists above; −1 for others."""
        parts = zip(self._places, self.parts, strict=True)
        return np.asarray(np.maximum.reduce([place[part.cells(numbers)] for place, part in parts]))

    def rises(self, chosen: Sequence[Ints]) -> list[float]:
        """Return the rise of the sum of scores for each choice of relevant documents, by number."""
        if self.fixed is not None:
            return [self._rise_by_rank(self.fixed, numbers) for numbers in chosen]
        rises, begin = [0.0] * len(chosen), 0
        for number, part in enumerate(self.parts):
            end = begin + len(part.batch.topics)
            for choice, (rows, values) in enumerate(self._scored(number, part, chosen)):
                rises[choice] += float((values - self.base[begin:end][rows]).sum())
            begin = end
        return rises

    def _scored(self, number: int, part: Part, chosen: Sequence[Ints]) -> list[tuple[Ints, Floats]]:
        """Return for each choice the rows of topics of a part with any of its documents, and their scores."""
        if self.precise is not None:
            cells = map(part.cells, chosen)
            return self.precise[number].scores([inside[inside >= 0] for inside in cells], self.ceiling)
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
    scorer: Scorer, column: int, part: Part, choices: Iterable[tuple[Ints, Bools]], ceiling: float = np.inf
) -> list[Floats]:
    """Return scores of topics with some unjudged documents at the top gain, on the tested scale, up to the ceiling.

    The other unjudged documents gain nothing. Many small choices are scored in one go.

    choices  rows of topics, and a mask of relevant documents, rows × ranks
    """
    scores: list[Floats] = []
    waiting: list[tuple[Ints, Bools]] = []
    for rows, relevant in choices:
        waiting.append((rows, relevant))
        if sum(each.size for _, each in waiting) >= CELLS:
            scores += _values(scorer, column, part, waiting, ceiling)
            waiting = []
    return scores + _values(scorer, column, part, waiting, ceiling) if waiting else scores


def _values(
    scorer: Scorer, column: int, part: Part, choices: Sequence[tuple[Ints, Bools]], ceiling: float
) -> list[Floats]:
    rows, relevant = (np.concatenate(each) for each in zip(*choices, strict=True))
    batch = part.batch.select(rows)
    np.putmask(batch.codes, part.unjudged[rows] & ~relevant, batch.padding_code)
    table, measure = scorer.tables[column], scorer.measures[column]
    gains = GainsCache(batch, scorer.grader, scorer.by_intent)
    scores = scores_of(measure, gains(table, measure, unjudged=table.top))
    values = measure.reading.tested(np.minimum(scores, ceiling))
    return np.split(values, np.cumsum([len(each) for each, _ in choices])[:-1])


def _tested_ceiling(scorer: Scorer, column: int) -> float:
    """Return the largest possible score, on the tested scale."""
    measure = scorer.measures[column]
    return float(measure.reading.tested(np.array([measure.definition.ceiling]))[0])


def judge_run(scorer: Scorer, column: int, parts: list[Part], by_rank: dict[bytes, Floats]) -> JudgedRun:
    """Compute what the unjudged documents of a run add to its scores; gains that depend on ranks go to `by_rank`."""
    measure, columns_of_parts, begin = scorer.measures[column], [], 0
    precise, looked_at = list[Precisions](), list[Bools]()
    additive, bounded = True, False
    for part in parts:
        seen = (part.number > 0) & (np.arange(part.number.shape[1]) < (measure.cutoff or np.inf))
        order, rows = seen.cumsum(1), np.arange(len(seen))
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
            summed = none[:, None] + np.pad(fixed, ((0, 0), (1, 0))).cumsum(1) if additive else None
            weight = _hull_weights(scorer, column, part, seen, summed, direct)
        topic, rank = np.nonzero(seen)
        places = ((topic + begin).astype(np.int32), (rank + 1).astype(np.int32))
        columns_of_parts.append((none, part.number[seen], *places, weight[seen], fixed[seen], most))
        begin += len(none)
    base, number, topics, ranks, weights, each, most = map(np.concatenate, zip(*columns_of_parts, strict=True))
    exact, direct_of = each if additive else None, precise if len(precise) == len(parts) else None
    lists = (base, number, topics, ranks, weights, exact, bounded, most)
    return JudgedRun(scorer, column, parts, *lists, looked_at, direct_of)


def _precisions(
    scorer: Scorer, column: int, part: Part, seen: Bools, expected: tuple[Floats, Floats, Floats]
) -> Precisions | None:
    """Return the direct way to the scores, or None if it misses the scores with none, all or half of the documents."""
    direct = Precisions.of(scorer, column, part)
    if direct is None:
        return None
    none, every, odd = expected
    ends = direct.down_to(seen, np.array([0, seen.shape[1]]), np.inf)
    ((rows, values),) = direct.scores([np.flatnonzero(seen & (seen.cumsum(1) % 2 == 1))])
    same = np.array_equal(ends.T, (none, every)) and np.array_equal(values, odd[rows])
    return direct if same else None


def _are_close(a: Floats, b: Floats) -> bool:
    return bool(np.allclose(a, b, rtol=0, atol=1e-9))


def _rank_weights(scorer: Scorer, column: int, part: Part, by_topic: dict[bytes, Floats]) -> Floats:
    """Return the gain, topics × ranks, of a document if it is the only relevant one."""
    batch, width = part.batch, part.batch.codes.shape[1]
    if any(len(by_topic.get(topic, ())) < width for topic in batch.topics):
        codes, retrieved = np.full_like(batch.codes, batch.unjudged_code), np.full_like(batch.retrieved, width)
        alone = Part(replace(batch, codes=codes, retrieved=retrieved), np.ones_like(part.number))
        deepest = min(width, scorer.measures[column].cutoff or width)
        rows, ranks = np.arange(len(batch.topics)), np.arange(width)
        choices = ((rows, np.tile(ranks == rank, (len(rows), 1))) for rank in range(-1, deepest))
        zero, *each = top_gain_scores(scorer, column, alone, choices)
        weights = np.zeros((len(rows), width))
        weights[:, :deepest] = np.stack(each, axis=1) - zero[:, None]
        by_topic |= dict(zip(batch.topics, weights, strict=True))
    return np.stack([by_topic[topic][:width] for topic in batch.topics])


def _hull_weights(
    scorer: Scorer, column: int, part: Part, seen: Bools, summed: Floats | None, precise: Precisions | None
) -> Floats:
    """Return the approximate gain, topics × ranks, of a document along with the unjudged ones above it.

    It is the slope of the upper hull of the score by the number of leading relevant documents; 0 if it does not rise.

    summed   topics × (1 + ranks): the scores with all documents relevant down to the rank, from 0, but for the ceiling;
             None if they are not sums
    precise  a direct way to the scores, or None
    """
    order, ceiling = np.where(seen, seen.cumsum(1), 0), scorer.measures[column].definition.ceiling
    number = order.max(1, initial=0)
    tried = _prefix_lengths(int(number.max(initial=0)))
    rows = np.arange(len(number))
    if summed is None and precise is not None:
        values = precise.down_to(seen, tried, ceiling)
    elif summed is None:
        below = [rows[number > previous] for previous in (-1, *tried[:-1])]  # the others have no more documents
        small = order.astype(np.int32)
        choices = ((some, seen[some] & (small[some] <= most)) for some, most in zip(below, tried, strict=True))
        values = np.zeros((len(number), len(tried)))
        for i, value in enumerate(top_gain_scores(scorer, column, part, choices, ceiling)):
            values[below[i], i] = value
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
    """Return 0, 1, 2, … to EXACT, then a fifth more each time, up to `most`."""
    tried = [*range(min(most, EXACT) + 1)]
    while tried[-1] < most:
        tried.append(min(most, tried[-1] * 6 // 5))
    return np.array(tried)


# The unjudged documents of the runs of an evaluation.


class RereadRuns:
    """The runs of an evaluation with a number for each unjudged document. They are read again on first use, or were
    kept as graded, or are `ranked` already."""

    @classmethod
    def of(cls, scores: Scores | None) -> RereadRuns | None:
        """Build for scores; None if judging cannot change them: saved or standardized ones, and as `of_runs`."""
        if scores is None or scores.transformations or not scores.sources:
            return None
        return cls.of_runs(Scorer(scores.qrels, scores.measures, scores.options), scores.sources)

    @classmethod
    def of_runs(cls, scorer: Scorer, sources: Mapping[str, Any], ranked: RankedRuns | None = None) -> RereadRuns | None:
        """Build for runs; None without residuals, if the best case is of the full ranking, or if grades order ties."""
        options = scorer.options
        bounded = options.wants_residuals and options.bounded_by_residuals and options.residual_depth == "cutoff"
        return cls(scorer, sources, ranked) if bounded else None

    def __init__(self, scorer: Scorer, sources: Mapping[str, Any], ranked: RankedRuns | None = None) -> None:
        self.scorer, self.sources, self.ranked = scorer, sources, ranked
        self.column = {measure.label: column for column, measure in enumerate(scorer.measures)}
        self.cached: dict[tuple[str, tuple[str, ...]], list[Part] | None] = {}
        # Relevant documents below the cutoff change the divisor of scores.
        self.whole = any(map(may_fall, self.scorer.measures))

    def parts(self, run: str, topics: Sequence[str]) -> list[Part] | None:
        """Return these topics of a run; None if it cannot be read again."""
        key = (run, tuple(topics))
        if key not in self.cached:
            parts = select_topics(self.runs.get(run, []), topics)
            self.cached[key] = parts if {name for part in parts for name in part.names} == set(topics) else None
        return self.cached[key]

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
        """The grader of all ranks that count."""
        return replace(self.scorer.grader, last_rank=None) if self.whole else self.scorer.grader

    def _of_ranked(self, ranked: RankedRuns) -> dict[str, list[Part]]:
        """Return the parts of ranked runs, which have numbered documents."""
        number = np.empty(len(ranked), dtype=np.int32)
        number[np.argsort(ranked.topic, kind="stable")] = np.arange(1, len(ranked) + 1)
        row, runs = {topic: row for row, topic in enumerate(ranked.topics)}, {}
        for run in ranked.runs:
            parts = []
            for batch in ranked.batches(run, self.grader):
                rows = [position for position, topic in enumerate(batch.topics) if run.listed[row[topic]]]
                batch = batch.select(np.array(rows, dtype=np.int64))
                numbers: NDArray[Any] = np.zeros(batch.codes.shape, dtype=np.int32)
                for position, topic in enumerate(batch.topics):
                    documents = run.of_topic(row[topic])[: batch.codes.shape[1]]
                    numbers[position, : len(documents)] = number[documents]
                parts.append(Part(batch, numbers * unjudged_in(batch, self.scorer.grader.judged)))
            runs[run.name] = parts
        return runs


COLUMNS = ("reversing", "unjudged", "reversing_share", "reversing_rank")
FIRST_SORTED = 512
"""Number of best documents sorted first: as a rule they suffice."""
TRIES = 2
"""Smaller numbers of documents to try after one that suffices."""


class Reversal(NamedTuple):
    """A reversal: `documents` of all `unjudged` ones that the measure looks at, down to a `rank`; nan if all are too
    few."""

    documents: float
    unjudged: int
    rank: float


ReversalQuery = tuple[str, str, Paired, float]
"""The trailing run, the leading run, their scores, and the rise of the first sum over the second to exceed."""

Search = Generator[tuple[Ints, JudgedRun, JudgedRun], float, Reversal | None]


class ReversalFinder:
    """The runs of an evaluation, with the effects of judging their documents."""

    def __init__(self, reread: RereadRuns) -> None:
        self.reread = reread
        self.judged: dict[tuple[str, str], JudgedRun | None] = {}
        self.by_rank: dict[str, dict[bytes, Floats]] = {}

    def reversals(self, queries: Sequence[ReversalQuery]) -> list[Reversal | None]:
        """Return the reversal of each pair; None if there is none, or a run cannot be read again as it was scored."""
        searches: list[Search | None] = []
        for run, ahead, paired, needed in progress("pairs of runs")(list(queries)):
            behind, leader = self._judged(run, paired), self._judged(ahead, paired)
            searches.append(None if behind is None or leader is None else _search(behind, leader, needed))
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
    """Return the results of searches. They run in step, so that all choices of a run are scored in one go."""
    results: list[Reversal | None] = [None] * len(searches)
    answers: dict[int, Any] = {number: None for number, search in enumerate(searches) if search is not None}
    while answers:
        requests: dict[JudgedRun, list[tuple[int, int, Ints]]] = {}
        for number, answer in answers.items():
            search = searches[number]
            assert search is not None
            try:
                chosen, behind, ahead = search.send(answer)
            except StopIteration as done:
                results[number] = done.value
                continue
            requests.setdefault(behind, []).append((number, 1, chosen))
            requests.setdefault(ahead, []).append((number, -1, chosen))
        answers = {}
        for judged, questions in requests.items():
            rises = judged.rises([chosen for _, _, chosen in questions])
            for (number, sign, _), rise in zip(questions, rises, strict=True):
                answers[number] = answers.get(number, 0.0) + sign * rise
    return results


def _search(behind: JudgedRun, ahead: JudgedRun, needed: float) -> Search:
    """Search for a reversal. Yields document numbers, and receives the rise of the trailing run over the leading one.
    Documents that raise the trailing run most and the leading run least are taken until the order is reversed. This is
    the minimum if the gain of a document depends on its rank alone. Otherwise both runs are scored again with the
    documents, and more are taken until the order is really reversed."""
    unjudged, bounded = len(behind.number), behind.bounded or ahead.bounded
    reach = float((behind.most - behind.base).sum())
    if behind.fixed is not None and ahead.fixed is not None and not bounded:
        reach = float(np.maximum(_net_weights(behind, behind.fixed, ahead, ahead.fixed), 0).sum())
    if reach <= needed:
        return Reversal(np.nan, unjudged, np.nan)

    def reversal(chosen: Ints) -> Reversal:
        return Reversal(len(chosen), unjudged, int(behind.rank[chosen].max()))

    if behind.fixed is not None and ahead.fixed is not None:
        order, rises, _ = _best_documents(behind, behind.fixed, ahead, ahead.fixed, needed)
        chosen = order[: int(np.searchsorted(rises, needed, side="right")) + 1]
        if len(chosen) and rises[len(chosen) - 1] > needed:
            if not bounded:
                return reversal(chosen)
            rise = yield behind.number[chosen], behind, ahead
            if rise > needed:
                return reversal(chosen)
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
    return reversal(order[:many])


def _net_weights(
    behind: JudgedRun, weight: Floats, ahead: JudgedRun, of_ahead: Floats, some: Ints | slice = slice(None)
) -> Floats:
    """Return the gain of unjudged documents, all or some, to the trailing run less their gain to the leading run; 0 if
    unknown."""
    gain, places = weight[some], ahead.places(behind.number[some])
    loss, shared = np.zeros(len(gain)), places >= 0
    loss[shared] = of_ahead[places[shared]]
    net: Floats = np.subtract(gain, loss, out=np.zeros(len(gain)), where=gain != loss)
    return net


def _best_documents(
    behind: JudgedRun, weight: Floats, ahead: JudgedRun, of_ahead: Floats, reach: float
) -> tuple[Ints, Floats, bool]:
    """Return the documents that lift the trailing run, the best first, their cumulative rises, and whether all are."""
    if weight is behind.weight and of_ahead is ahead.weight and len(weight) > HEAVIEST_COUNT:
        heavy, lighter = behind.heaviest
        net = _net_weights(behind, weight, ahead, of_ahead, heavy)
        order = _sort_documents(net, FIRST_SORTED)
        rises, least = np.cumsum(net[order]), float(net[order[-1]]) if len(order) >= FIRST_SORTED else 0.0
        if least > lighter - ahead.lightest and rises[-1] > reach:
            return heavy[order], rises, False
    net, count = _net_weights(behind, weight, ahead, of_ahead), FIRST_SORTED
    every = np.count_nonzero(net > 0)
    while True:
        order = _sort_documents(net, count)
        rises = np.cumsum(net[order])
        if len(order) == every or rises[-1] > reach:
            return order, rises, len(order) == every
        count *= 8


def _sort_documents(net: Floats, count: int) -> Ints:
    """Return `count` lifting documents and ties of the last, by gain, then topic and rank."""
    lifting = np.flatnonzero(net > 0)
    if count < len(lifting):
        every = net[lifting]
        lifting = lifting[every >= np.partition(every, -count)[-count]]
    return lifting[np.argsort(-net[lifting], kind="stable")]


def reversal_columns(frame: pd.DataFrame, measures: Mapping[str, Paired], reread: RereadRuns | None) -> dict[str, Any]:
    """Return the columns of a comparison on documents that reverse orders; blank if the runs are unknown."""
    columns: dict[str, list[Any]] = {name: [None] * len(frame) for name in COLUMNS}
    if reread is None:
        return columns
    rows = sorted(_trailing_runs(frame, reread))
    listed = {name: frame[name].tolist() for name in ("run", "baseline", "measure", "difference")}
    queries: list[ReversalQuery] = []
    for run, row in rows:
        paired, difference = measures[listed["measure"][row]], listed["difference"][row]
        values = paired.values[[paired.runs.index(listed[name][row]) for name in ("run", "baseline")]]
        needed = 0.0 if difference == 0 else abs(float((values[0] - values[1]).sum()))
        ahead = listed["baseline" if listed["run"][row] == run else "run"][row]
        queries.append((run, ahead, paired, needed + TOLERANCE * len(paired.topics)))
    for (_, row), reversal in zip(rows, ReversalFinder(reread).reversals(queries), strict=True):
        if reversal is None or not (
            columns["unjudged"][row] is None or reversal.documents < (columns["reversing"][row] or math.inf)
        ):
            continue
        columns["unjudged"][row] = reversal.unjudged
        if not math.isnan(reversal.documents):
            columns["reversing"][row], columns["reversing_rank"][row] = reversal.documents, reversal.rank
            columns["reversing_share"][row] = reversal.documents / reversal.unjudged
    return columns


def _trailing_runs(frame: pd.DataFrame, reread: RereadRuns) -> Iterator[tuple[str, int]]:
    """Yield the trailing run and the row of each pair with a reversible order; both runs if they are equal."""
    columns = [frame[name].tolist() for name in ("run", "baseline", "difference")]
    for row in np.flatnonzero(frame["same_order"].eq(False)).tolist():
        run, baseline, difference = (column[row] for column in columns)
        for name, behind in ((run, difference <= 0), (baseline, difference >= 0)):
            if behind and name in reread.sources:
                yield name, row
