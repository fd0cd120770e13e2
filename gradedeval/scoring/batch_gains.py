"""A batch of grade codes -> the gains that each measure sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.measures.applied import last_rank
from gradedeval.measures.definition import Measure
from gradedeval.measures.gain_schemes import GainTable, Sample
from gradedeval.measures.gains import Gains
from gradedeval.options.values import Costs
from gradedeval.rankings.batch import Batch, condensed, count_unjudged
from gradedeval.rankings.grade import Grader
from gradedeval.scoring.intents import ByIntent


class GainsCache:
    """A batch as measures see it; what several measures look at is looked up once.

    missed  topics: how many unjudged documents were not retrieved, and may be relevant in a bound
    """

    def __init__(
        self, batch: Batch, grader: Grader, by_intent: Mapping[Measure, ByIntent], missed: Ints | None = None
    ) -> None:
        self.batch, self.grader, self.by_intent, self.cells = batch, grader, by_intent, grader.limits.cells
        self.unsampled_code = grader.unsampled
        self.strata = grader.qrels.strata
        # The ideal rankings of all topics are those of every run.
        self.all_ideals = grader.ideals if batch.topics == grader.qrels.topics else None
        self.cost = _costs(batch, grader.options.costs)
        self.unseen = grader.options.unseen or 0
        self.missed = missed
        self.below: dict[int | None, Ints] | None = {} if grader.options.bounds or missed is not None else None
        self.judged_code = judged = grader.judged
        self.pool = batch.pool @ judged[: batch.unjudged].astype(np.int64)
        self.gains: dict[tuple[bytes, float, int | None], Floats] = {}
        self.judged: dict[int | None, Bools] = {}
        self.ideals: dict[bytes, Floats] = {}
        # Measures of the same gains share all that is worked out from them.
        self.seen: dict[tuple[bytes, float, float, float, int | None, int | None], Gains] = {}

    def __call__(self, table: GainTable, measure: Measure, unjudged: float = 0.0, tail: float = 0.0) -> Gains:
        if measure.judged_only:
            return self._condensed(table, replace(measure, judged_only=False), unjudged, tail)
        last = last_rank(measure)
        key = (table.key, table.top, unjudged, tail, last, measure.cutoff)
        if key not in self.seen:
            if self.batch.codes.size > self.cells:  # one deep topic: two views of it would take more memory than time
                self.seen.clear()
            self.seen[key] = self._seen(table, measure, last, unjudged, tail)
        if measure.definition.uses_strata:
            return replace(self.seen[key], sample=self._sample(table, last))
        if not measure.by_intent:
            return self.seen[key]
        intents = self.by_intent[replace(measure, cutoff=None)].seen(
            self.batch.topics,
            lambda intent: self._seen(intent, measure, last, unjudged, tail),
            best=unjudged > 0 or tail > 0,
        )
        return replace(self.seen[key], intents=intents)

    @cached_property
    def _condensed(self) -> GainsCache:
        """The same of the rankings without the documents that nobody judged."""
        return GainsCache(condensed(self.batch, self.judged_code), self.grader, self.by_intent)

    def _seen(self, table: GainTable, measure: Measure, last: int | None, unjudged: float, tail: float) -> Gains:
        gain, ideal, first, uncut = self._gain(table, unjudged, last), self._ideal(table), self.batch.first, None
        if first is not None:
            from gradedeval.measures.tied import mean_gains  # few evaluations average over ties

            uncut = self._gain(table, unjudged, None)
            gain = mean_gains(uncut, first)[:, :last]
        if last not in self.judged:
            self.judged[last] = self.judged_code[self.batch.codes[:, :last]]
        judged = self.judged[last]
        retrieved = self.batch.retrieved if last is None else np.minimum(self.batch.retrieved, last)
        # Measures share these arrays: whoever writes to one would change the scores of the next.
        for array in (gain, judged, ideal, retrieved, self.pool, table.levels):
            array.setflags(write=False)
        cost, kinds, unsampled = self.cost, self.batch.kinds, self.unsampled_code
        return Gains(
            gain,
            judged,
            ideal,
            retrieved,
            self.pool,
            table.levels,
            measure.cutoff,
            tail,
            cost=cost[:, :last] if cost is not None else None,
            types=tuple(self.batch.types),
            kind=kinds[:, :last] if kinds is not None else None,
            unsampled=unsampled[self.batch.codes[:, :last]] if unsampled.any() else None,
            first=first,
            uncut=uncut,
            below=self._below(last),
            unseen=self.unseen,
        )

    def _below(self, last: int | None) -> Ints | None:
        """topics: how many unjudged documents were retrieved below a rank, or missed, where bounds are asked for."""
        if self.below is None:
            return None
        if last not in self.below:
            deeper = self.batch.codes[:, last if last is not None else self.batch.codes.shape[1] :]
            counted = 0 if self.batch.below is None else self.batch.below
            missed = 0 if self.missed is None else self.missed
            self.below[last] = count_unjudged(deeper, self.judged_code) + counted + missed
        return self.below[last]

    def _sample(self, table: GainTable, last: int | None) -> Sample:
        """The documents as a sample: of the strata of the qrels, or of one, where the judged ones are the sample."""
        codes, pool = self.batch.codes[:, :last], self.batch.pool
        of = self.strata.of if self.strata is not None else np.zeros(pool.shape[1], dtype=np.int64)
        sampled = self.judged_code[: len(of)]
        member = (of[:, None] == np.arange(of.max(initial=0) + 1)).astype(np.float64)
        size = (pool * sampled) @ member
        weight = np.where(size > 0, pool @ member / np.maximum(size, 1), 0.0)[:, of] * sampled
        estimated = (pool * weight) @ (table.worth[:, None] == table.levels)
        at_code = np.pad(weight, ((0, 0), (0, 2)))
        return Sample(
            member.shape[1],
            np.append(of, [-1, -1])[codes],
            self.judged_code[codes],
            np.take_along_axis(at_code, codes.astype(np.int64), 1),
            estimated,
        )

    def _gain(self, table: GainTable, unjudged: float, last: int | None) -> Floats:
        """The gains down to a rank: most rankings go on far below the cutoff."""
        whole, key = (table.key, unjudged, None), (table.key, unjudged, last)
        if whole in self.gains:
            return self.gains[whole][:, :last]
        if key not in self.gains:
            worth, unknown = table.by_code(len(self.judged_code)), ~self.judged_code
            if table.filled is not None:  # nobody judged them, and yet they are known
                unknown[len(table.worth) : -2] = False
            worth[unknown] = unjudged
            worth[self.batch.beyond] = 0  # it is not judged either, but the padding of short rankings gains nothing
            self.gains[key] = worth[self.batch.codes[:, :last]]
        return self.gains[key]

    def _ideal(self, table: GainTable) -> Floats:
        """topics × …: the gains above 0 of the pool, descending, padded with zeros."""
        key = table.worth.tobytes()
        if self.all_ideals is not None and key in self.all_ideals:
            return self.all_ideals[key]
        if key not in self.ideals:
            order = np.argsort(-table.worth, kind="stable")[: np.count_nonzero(table.worth)]
            counts = self.batch.pool[:, order]
            each = counts.sum(1)
            ideal = np.zeros((len(counts), int(each.max(initial=0))))
            ideal[np.arange(ideal.shape[1]) < each[:, None]] = np.repeat(
                np.tile(table.worth[order], len(counts)), counts.ravel()
            )
            self.ideals[key] = ideal
            if self.all_ideals is not None and ideal.size <= self.cells:
                self.all_ideals[key] = ideal
        return self.ideals[key]


def _costs(batch: Batch, costs: Costs | None) -> Floats | None:
    """topics × ranks: the cost of each document by its type; 1 beyond the end."""
    if costs is None:
        return None
    if batch.kinds is None:
        return np.ones(batch.codes.shape)
    cost: Floats = np.array([*(costs.of[kind] for kind in batch.types), 1.0])
    return cost[batch.kinds]
