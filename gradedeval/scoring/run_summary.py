"""What is left of a run's scores where nobody asks for topics: of ten thousand runs far away little has to travel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradedeval.measures.properties import Summary
from gradedeval.scoring.run_scores import BOUNDS, RunScores
from gradedeval.scoring.scorer import Scorer


@dataclass(frozen=True, eq=False, repr=False)
class RunSummary(RunScores):
    """A run's scores without those of topics.

    summaries  "score", or a part of the residual, or a bound -> the summary by each measure
    counts     how many topics each measure's is over
    zero       the measures by which the topics without anything relevant all score 0
    """

    summaries: Mapping[str, Sequence[float]] = field(default_factory=dict)
    counts: Sequence[int] = ()
    zero: frozenset[int] = frozenset()

    def summary(self, part: str, column: int, summary: Summary) -> float:
        return self.summaries[part][column]

    def count(self, column: int) -> int:
        return self.counts[column]

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        return column in self.zero


def summarized(run: RunScores, scorer: Scorer) -> RunSummary:
    """The summaries of a run, and the little else that messages need."""
    kinds = [measure.definition.summary for measure in scorer.measures]
    parts = ["score", *(("residual", "unjudged") if scorer.options.wants_residuals else ())]
    parts += BOUNDS if scorer.options.bounds else ()
    none = np.empty((0, len(kinds)))
    empty = scorer.without_relevant.items() if scorer.grades.top > 0 else ()
    return RunSummary(
        *(run.run, run.topics, run.missing, none, none, none, none.astype(bool), run.format, run.empty, None),
        {part: [run.summary(part, column, kind) for column, kind in enumerate(kinds)] for part in parts},
        [run.count(column) for column in range(len(kinds))],
        frozenset(column for topics, columns in empty for column in columns if run.is_zero(topics, column)),
    )


def packed(run: RunScores, scorer: Scorer) -> RunScores:
    """The scores as they travel: most runs have the topics of the qrels, which are not sent."""
    return replace(run, topics=[]) if run.topics is scorer.topics else run


def unpacked(run: RunScores, scorer: Scorer) -> RunScores:
    """The same where they arrive; thousands of runs share one list of topics."""
    return run if run.topics else replace(run, topics=scorer.topics)
