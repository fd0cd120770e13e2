"""Orders of runs: the rank of each, and how far two orders agree."""

from __future__ import annotations

import numpy as np

from gradedeval.analysis.correlate import agreement
from gradedeval.arrays import TOLERANCE, Floats, Ints, merge_close
from gradedeval.measures.definition import Measure
from gradedeval.scoring.summaries import summarize


def summaries(scores: Floats, measure: Measure) -> Floats:
    """runs: the mean (or total, or geometric mean) of each over the topics that count for it.

    scores  runs × topics, nan where a topic does not count
    """
    return np.array([float(summarize(row[~np.isnan(row)], measure.reading.summary)) for row in scores])


def standing(values: Floats, measure: Measure) -> Ints:
    """runs: the rank of each by these values, from 1; equal runs share one."""
    merged = merge_close(values * measure.reading.sign, TOLERANCE)
    ranks: Ints = 1 + (merged[:, None] < merged).sum(1)
    return ranks


def agreements(true: Floats, other: Floats, measure: Measure) -> tuple[float, float]:
    """Kendall's τ_b and τ_AP of an order of runs, `other`, with the true one."""
    values = [merge_close(one * measure.reading.sign, TOLERANCE) for one in (true, other)]
    return agreement("tau", *values), agreement("tau-ap", *values)
