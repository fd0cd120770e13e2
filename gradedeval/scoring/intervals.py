"""`--interval`: the standard error and the interval of each summary over topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.measures.definition import Measure
from gradedeval.measures.properties import Summary
from gradedeval.scoring.bootstrap import standard_error, studentized_interval
from gradedeval.scoring.signature import DRAWS, SEED
from gradedeval.scoring.summaries import of_mean, summarize, tested


class Scale(NamedTuple):
    """What sums a measure up over topics, and the range of a topic's scores."""

    summary: Summary = "mean"
    floor: float = -np.inf
    ceiling: float = np.inf

    @classmethod
    def of(cls, measure: Measure) -> Scale:
        """That of a measure as it is defined."""
        return cls(measure.reading.summary, measure.definition.floor, measure.definition.ceiling)


def summary_intervals(runs: Sequence[tuple[Floats, Bools]], scales: Sequence[Scale], alpha: float) -> Floats:
    """runs × measures × 3: the standard error of each summary, and the ends of its interval at level 1 − alpha.

    runs    the scores, topics × measures, and which of them count
    scales  those of the measures

    The interval of a geometric mean is made of logarithms, and its standard error is the mean times that of them. No
    interval leaves the range of its scale. All are nan for a single topic, and where a score is infinite.
    """
    found = np.full((len(runs), len(scales), 3), np.nan)
    alike: dict[int, dict[tuple[int, int], Floats]] = {}  # summaries over as many topics share the samples
    for number, (score, included) in enumerate(runs):
        for column in range(len(scales)):
            scores = score[included[:, column], column]
            if len(scores) > 1 and np.isfinite(scores).all():
                alike.setdefault(len(scores), {})[number, column] = scores
    for topics, cells in alike.items():
        summaries = [scales[column].summary for _, column in cells]
        values = np.array([tested(own, summary) for own, summary in zip(cells.values(), summaries, strict=True)])
        ends = studentized_interval(values, DRAWS, SEED, alpha)
        for (cell, own), summary, error, *interval in zip(
            cells.items(), summaries, standard_error(values), *ends, strict=True
        ):
            slope = {"mean": 1, "total": topics, "geometric": summarize(own, "geometric")}[summary]
            limits = np.array(scales[cell[1]][1:]) * (topics if summary == "total" else 1)
            found[cell] = error * slope, *of_mean(np.array(interval), topics, summary).clip(*limits)
    return found
