"""The scores of one run: topics × measures, and what sums them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.kernel.measures.definition import Summary

# Scores of topics -> one number: the mean, the total or the geometric mean, and the scale on which it is tested.


LEAST = 0.00001
"""What a lower score counts as in a geometric mean, as in trec_eval: a topic at 0 would leave nothing of the rest."""


def summarize(scores: Floats, summary: Summary) -> Floats:
    """The summary of scores over topics, the last axis; nan where there are none."""
    if not scores.shape[-1]:
        return np.full(scores.shape[:-1], np.nan)
    if summary == "total":
        return np.asarray(scores.sum(-1))
    topics = scores.shape[-1]
    return of_mean(np.add.reduce(tested(scores, summary), axis=-1) / topics, topics, summary)


def summarize_rises(scores: Floats, rises: Floats, summary: Summary) -> Floats:
    """How far the summary would rise if each topic rose by so much: a residual, or a part of it."""
    if summary == "geometric":
        return summarize(scores + rises, summary) - summarize(scores, summary)
    return summarize(rises, summary)


def tested(scores: Floats, summary: Summary) -> Floats:
    """The values of topics whose mean is tested: logarithms for a geometric mean, else the scores.

    A difference of mean logarithms is the logarithm of the ratio of the geometric means.
    """
    return np.log(np.maximum(scores, LEAST)) if summary == "geometric" else scores


def of_mean(mean: Floats, topics: int, summary: Summary) -> Floats:
    """What a mean of `tested` values is as a summary; of a mean difference: the difference, or the ratio of geometric
    means."""
    return mean * topics if summary == "total" else np.exp(mean) if summary == "geometric" else mean


BOUNDS = ("low", "high")
"""The columns of --bounds, which --interval excludes: the lowest and the highest score."""


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
        score = self.score[kept, column]
        if part == "score":
            return float(summarize(score, summary))
        values = self.part(part)[kept, column]
        return float(summarize(values, summary) if part in BOUNDS else summarize_rises(score, values, summary))

    def part(self, name: str) -> Floats:
        """topics × measures: the score, a residual or a bound; nan where it is blank."""
        if name not in BOUNDS:
            return np.asarray(getattr(self, name))
        return np.full(self.score.shape, np.nan) if self.bounds is None else self.bounds[BOUNDS.index(name)]

    def count(self, column: int) -> int:
        """How many topics are kept by one measure."""
        return int(self.included[:, column].sum())

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
