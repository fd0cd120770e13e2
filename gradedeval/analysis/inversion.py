"""Pairs of runs tested, with the interval that belongs to the test: of all differences that it does not reject."""

from __future__ import annotations

import numpy as np

from gradedeval.analysis.resampling import randomization_interval
from gradedeval.analysis.signed_ranks import signed_rank_interval
from gradedeval.analysis.significance import Test, no_variance, p_values, scipy_stats
from gradedeval.arrays import TOLERANCE, Floats
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.bootstrap import standard_error, studentized_test

Tested = tuple[Floats, Floats, Floats]
"""p, and the ends of the interval."""


def with_interval(
    differences: Floats, test: Test, draws: int, seed: int, alpha: float, progress: Progress = no_progress
) -> Tested:
    """p of each pair as by `p_values`, and the ends of its interval at level 1 − alpha: of all δ for which the same
    test of differences − δ has a p above alpha.

    differences  pairs × topics

    The interval is of the mean difference, of wilcoxon of the pseudo-median, and of sign of the median. That of
    bootstrap comes first, and its p is the smallest level at which 0 is left out. An end is infinite where no
    difference is rejected to that side.
    """
    if test == "bootstrap":
        p, low, high = studentized_test(differences, draws, seed, alpha, progress)
        if differences.shape[1] < 2:
            low, high = np.full(len(p), -np.inf), np.full(len(p), np.inf)
        return agreed(np.where(no_variance(differences), np.nan, p), low, high, differences, alpha)
    p = p_values(differences, test, draws, seed, progress)
    if test == "randomization":
        low, high = randomization_interval(differences, draws, seed, alpha, progress)
    else:
        low, high = {"t": _t_interval, "wilcoxon": signed_rank_interval, "sign": _sign_interval}[test](
            differences, alpha
        )
    return agreed(p, low, high, differences, alpha)


def agreed(p: Floats, low: Floats, high: Floats, differences: Floats, alpha: float) -> Tested:
    """The same, with 0 inside an interval exactly where p is above alpha.

    The last bits may differ; and Wilcoxon's test and the sign test drop zeros, so that they may reject 0 and no
    difference beside it, or the other way round. Then 0 is an end: an open one, of the side of the mean, where p is no
    more than alpha. Without p there is no interval, and where no topic differs it is 0 to 0.
    """
    low, high = (np.where(np.abs(end) <= TOLERANCE, 0.0, end) for end in (low, high))
    cut, mean = (p <= alpha) & (low < 0) & (high > 0), differences.mean(1)
    above = np.where(mean == 0, high > -low, mean > 0)
    low = np.where(p > alpha, np.minimum(low, 0), np.where(cut & above, 0, low))
    high = np.where(p > alpha, np.maximum(high, 0), np.where(cut & ~above, 0, high))
    differ = differences.any(1)
    low, high = (np.where(np.isnan(p), np.nan, np.where(differ, end, 0)) for end in (low, high))
    return p, low, high


def _t_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    mean, topics = differences.mean(1), differences.shape[1]
    error = standard_error(differences) if topics > 1 else np.full(len(mean), np.inf)
    margin = scipy_stats().t.isf(alpha / 2, max(1, topics - 1)) * error
    return mean - margin, mean + margin


def _sign_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    pairs, topics = differences.shape
    tail = scipy_stats().binom.cdf(np.arange(topics // 2 + 1), topics, 0.5)
    rank = int(np.argmax(2 * tail > alpha))
    if rank == 0:
        return np.full(pairs, -np.inf), np.full(pairs, np.inf)
    ordered = np.sort(differences, axis=1)
    return ordered[:, rank - 1], ordered[:, topics - rank]
