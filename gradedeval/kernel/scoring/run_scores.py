"""The scores of one run: topics × measures, and what sums them up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.kernel.measures.definition import Reading, Summary

BOUNDS = ("low", "high")
"""The columns of --bounds, which --interval excludes: the lowest and the highest score."""
PREDICTED = "prediction-powered, λ of the other topics, Student's t"
"""How estimates from two kinds of judgments are made, in a signature."""


@dataclass(eq=False, repr=False)
class RunScores:
    """One run's scores: topics × measures, nan where blank.

    missing   how many of the topics the run lacks; they score 0 rankings
    score     the score
    unjudged  how far it could rise by the unjudged documents of the run
    residual  how far it could rise in all
    included  whether the pair is certain enough for `max_residual`
    format    what its file was read as; empty for objects in memory
    empty     the topics for which it retrieved nothing
    bounds    2 × topics × measures: the lowest and the highest score, where asked for
    """

    run: str
    topics: list[str]
    missing: int
    score: Floats
    unjudged: Floats
    residual: Floats
    included: Bools
    format: str = ""
    empty: frozenset[str] = frozenset()
    bounds: Floats | None = None

    def summary(self, part: str, column: int, summary: Summary) -> float:
        """The summary of one measure over the topics kept, of a part of its residual, or of a bound; nan where there
        are none."""
        kept = self.included[:, column]
        score = self.score[:, column][kept]
        if part == "score":
            return float(Reading(summary).summarize(score))
        values = self.part(part)[:, column][kept]
        reading = Reading(summary)
        return float(reading.summarize(values) if part in BOUNDS else reading.summarize_rises(score, values))

    def part(self, name: str) -> Floats:
        """topics × measures: the score, a residual or a bound; nan where it is blank."""
        if name not in BOUNDS:
            return np.asarray(getattr(self, name))
        return np.full(self.score.shape, np.nan) if self.bounds is None else self.bounds[BOUNDS.index(name)]

    def of_topics(self, topics: Collection[str]) -> RunScores:
        """The same scores, of which those on some topics count."""
        among = np.array([[topic in topics] for topic in self.topics], dtype=bool)
        return replace(self, included=self.included & among)

    def count(self, column: int) -> int:
        """How many topics are kept by one measure."""
        return int(np.count_nonzero(self.included[:, column]))

    def most(self, measures: int) -> int:
        """Over how many topics any of so many measures is, at most."""
        return max(map(self.count, range(measures)), default=0)

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        """Whether all of some topics score 0, as far as they count."""
        row_of = {topic: row for row, topic in enumerate(self.topics)}
        return not self.score[[row_of[topic] for topic in topics if topic in row_of], column].any()


# What is left of a run's scores where nobody asks for topics: of ten thousand runs far away little has to travel.


@dataclass(eq=False, repr=False)
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
