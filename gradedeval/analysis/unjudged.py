"""The unjudged documents of runs: what scores would be if some of them were relevant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.measures.applied import scores_of
from gradedeval.rankings.batch import Batch
from gradedeval.scoring.batch_gains import GainsCache
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.summaries import tested
from gradedeval.trec.lines import decode

EXACT = 50
"""Down to so many unjudged documents of a topic each number is tried, below that every fifth part more."""


@dataclass(eq=False)
class Numbering:
    """A number for each unjudged document of a topic, the same in all runs; 0 is none."""

    of_topic: dict[bytes, defaultdict[bytes, int]] = field(default_factory=dict)
    following: count[int] = field(default_factory=lambda: count(1))
    size: int = 1

    def numbers(self, batch: Batch, unjudged: Bools) -> Ints:
        """topics × ranks: the number of each unjudged document."""
        found = np.zeros(batch.codes.shape, dtype=np.int64)
        for row, topic in enumerate(batch.topics):
            known = self.of_topic.setdefault(topic, defaultdict(self.following.__next__))
            docnos = batch.docnos.get(topic, ())
            at = np.flatnonzero(unjudged[row])
            found[row, at] = [known[docnos[rank]] for rank in at.tolist()]
        self.size = max(self.size, int(found.max(initial=0)) + 1)
        return found


@dataclass(frozen=True, eq=False)
class Part:
    """Some topics of a run: a batch, and topics × ranks: the numbers of its unjudged documents, 0 elsewhere."""

    batch: Batch
    number: Ints

    @property
    def names(self) -> list[str]:
        return [decode(topic) for topic in self.batch.topics]

    def select(self, rows: Ints) -> Part:
        """Some of its topics."""
        batch = self.batch
        kinds, first = (None if array is None else array[rows] for array in (batch.kinds, batch.first))
        topics = [batch.topics[row] for row in rows.tolist()]
        some = replace(
            batch,
            topics=topics,
            codes=batch.codes[rows],
            retrieved=batch.retrieved[rows],
            pool=batch.pool[rows],
            kinds=kinds,
            first=first,
        )
        return Part(some, self.number[rows])


def parts_of(batches: Sequence[Batch], topics: Sequence[str], judged: Bools, numbering: Numbering) -> list[Part]:
    """The batches of a run, of these topics alone; a topic that is in several of them is complete in the last."""
    last = {decode(topic): number for number, batch in enumerate(batches) for topic in batch.topics}
    wanted, parts = set(topics), []
    for place, batch in enumerate(batches):
        ranks = np.arange(1, batch.codes.shape[1] + 1)
        unjudged = ~judged[batch.codes] & (ranks <= batch.retrieved[:, None])
        names = [decode(topic) for topic in batch.topics]
        rows = [row for row, name in enumerate(names) if name in wanted and last[name] == place]
        if rows:
            parts.append(Part(batch, numbering.numbers(batch, unjudged)).select(np.array(rows)))
    return parts


@dataclass(frozen=True, eq=False)
class Judged:
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

    @property
    def ceiling(self) -> float:
        return self.scorer.measures[self.column].definition.ceiling

    def rise(self, chosen: Bools) -> float:
        """By how much the sum of scores rises where the chosen documents are relevant."""
        rise, begin = 0.0, 0
        for part in self.parts:
            end = begin + len(part.batch.topics)
            rows = np.flatnonzero(chosen[part.number].any(1))
            if len(rows):
                some = part.select(rows)
                values = value(self.scorer, self.column, some, chosen[some.number], self.ceiling)
                rise += float((values - self.base[begin:end][rows]).sum())
            begin = end
        return rise


def value(scorer: Scorer, column: int, part: Part, relevant: Bools, ceiling: float = np.inf) -> Floats:
    """The scores of topics with some unjudged documents at the top gain, as they are tested, no more than the ceiling.
    The others gain nothing, as what lies beyond the end."""
    codes = part.batch.codes.copy()
    codes[(part.number > 0) & ~relevant] = part.batch.beyond
    table, measure = scorer.tables[column], scorer.measures[column]
    gains = GainsCache(replace(part.batch, codes=codes), scorer.grader, scorer.by_intent)
    scores = scores_of(measure, gains(table, measure, unjudged=table.top))
    return tested(np.minimum(scores, ceiling), measure.definition.summary)


def judge(scorer: Scorer, column: int, parts: list[Part], by_rank: dict[bytes, Floats]) -> Judged:
    """What the unjudged documents of a run add to its scores.

    by_rank  topic -> what a document adds at each rank, where that depends on nothing else; more is put in
    """
    measure, found, begin = scorer.measures[column], [], 0
    ceiling = measure.definition.ceiling
    additive, bounded = True, False
    for part in parts:
        seen = (part.number > 0) & (
            np.arange(part.number.shape[1]) < (np.inf if measure.cutoff is None else measure.cutoff)
        )
        order = seen.cumsum(1)
        none, every, odd, even = (
            value(scorer, column, part, chosen)
            for chosen in (np.zeros_like(seen), seen, seen & (order % 2 == 1), seen & (order % 2 == 0))
        )
        most = value(scorer, column, part, seen, ceiling)
        fixed = np.zeros(seen.shape)
        additive = additive and part.batch.first is None and _close(odd + even, none + every)
        if additive:
            with np.errstate(invalid="ignore"):  # a topic without an ideal ranking
                fixed = _by_rank(scorer, column, part, by_rank) * seen
            additive = _close(fixed.sum(1), every - none)
        at_end = not _close(most, every)
        bounded = bounded or at_end
        weight = fixed if additive and not at_end else _by_hull(scorer, column, part, seen)
        topic, rank = np.nonzero(seen)
        found.append((none, part.number[seen], topic + begin, rank + 1, weight[seen], fixed[seen], most))
        begin += len(none)
    base, number, topics, ranks, weights, each, all_of_them = map(np.concatenate, zip(*found, strict=True))
    exact = each if additive else None
    return Judged(scorer, column, parts, base, number, topics, ranks, weights, exact, bounded, all_of_them)


def _close(one: Floats, other: Floats) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=1e-9))


def _by_rank(scorer: Scorer, column: int, part: Part, known: dict[bytes, Floats]) -> Floats:
    """topics × ranks: what a document would add, if it were the only one that gains."""
    batch, width = part.batch, part.batch.codes.shape[1]
    if any(topic not in known or len(known[topic]) < width for topic in batch.topics):
        empty = replace(
            batch, codes=np.full_like(batch.codes, batch.beyond), retrieved=np.full_like(batch.retrieved, width)
        )
        nothing = Part(empty, np.zeros_like(part.number))
        zero = value(scorer, column, nothing, nothing.number > 0)
        deepest = min(width, scorer.measures[column].cutoff or width)
        found = np.zeros((len(batch.topics), width))
        for rank in range(deepest):
            codes = empty.codes.copy()
            codes[:, rank] = batch.unjudged
            one = Part(replace(empty, codes=codes), nothing.number)
            found[:, rank] = value(scorer, column, one, nothing.number > 0) - zero
        known |= dict(zip(batch.topics, found, strict=True))
    return np.stack([known[topic][:width] for topic in batch.topics])


def _by_hull(scorer: Scorer, column: int, part: Part, seen: Bools) -> Floats:
    """topics × ranks: about what a document adds, with those above it: the slope of the upper hull of the score by how
    many of the first unjudged documents are relevant; 0 where it does not rise."""
    order, ceiling = np.where(seen, seen.cumsum(1), 0), scorer.measures[column].definition.ceiling
    number = order.max(1, initial=0)
    tried = _tried(int(number.max(initial=0)))
    values = np.stack([value(scorer, column, part, seen & (order <= most), ceiling) for most in tried], axis=1)
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


def _tried(most: int) -> Ints:
    """0, 1, 2, … to EXACT, then a fifth more each time, to the most there are."""
    tried = [*range(min(most, EXACT) + 1)]
    while tried[-1] < most:
        tried.append(min(most, tried[-1] * 6 // 5))
    return np.array(tried)
