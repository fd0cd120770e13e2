"""Two-way analysis of variance over runs × topics, and Tukey's honestly significant difference of all pairs of runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.analysis.score_matrix import Matrix, comparable, shared_topics
from gradedeval.analysis.significance import scipy_stats
from gradedeval.arrays import TOLERANCE, Floats
from gradedeval.errors import InputError
from gradedeval.formats.frames import to_frame
from gradedeval.scoring.bootstrap import chunks
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

SOURCES = ("runs", "topics", "residual")


@dataclass(frozen=True, eq=False, repr=False)
class TwoWay:
    """Sums of squares and degrees of freedom of SOURCES: score = mean + effect of run + effect of topic + residual."""

    squares: Floats
    df: tuple[int, int, int]

    @classmethod
    def of(cls, score: Floats) -> TwoWay:
        """Those of scores, runs × topics, each at least two."""
        runs, topics = score.shape
        mean = score.mean()
        of_runs, of_topics = score.mean(1) - mean, score.mean(0) - mean
        residual = score - mean - of_runs[:, None] - of_topics
        # Where runs or topics are alike only the last bits are left.
        bits = TOLERANCE * np.abs(score).max()
        sums = [(np.where(np.abs(effect) <= bits, 0, effect) ** 2).sum() for effect in (of_runs, of_topics, residual)]
        squares: Floats = np.array(sums) * (topics, runs, 1)
        return cls(squares, (runs - 1, topics - 1, (runs - 1) * (topics - 1)))

    @property
    def mean_squares(self) -> Floats:
        """Those of the residual are the variance of a score that neither its run nor its topic explains."""
        return np.asarray(self.squares / self.df)


def anova(scores: Scores | Matrix | pd.DataFrame | str | Path, *, allow_mismatch: bool = False) -> pd.DataFrame:
    """Two-way analysis of variance of the scores of each measure: runs × topics, without replication. Of geometric
    means it is of the logarithms of scores.

    scores          what `gradedeval.evaluate` returns, or saved scores; each measure uses the topics that all runs have
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with the columns measure, source (runs, topics, residual), squares (sum of), df, mean_square, f, p;
    f and p are blank for the residual, and where it is 0. F of the runs is the same where topics are random effects, as
    in a mixed model. Raises InputError (usage) for fewer than two runs, and InputError if a measure has a single topic.
    Fisher 1925; Tague-Sutcliffe & Blustein, TREC-3, 1995.
    """
    matrix = comparable(scores, allow_mismatch)
    if len(matrix.runs) < 2:
        raise InputError("", "an analysis of variance needs at least two runs", "add a run", usage=True)
    stats, rows = scipy_stats(), []
    for measure in matrix.comparable_measures():
        two_way = TwoWay.of(shared_topics(matrix, measure).values)
        error = two_way.mean_squares[2]
        for source, squares, df, square in zip(SOURCES, two_way.squares, two_way.df, two_way.mean_squares, strict=True):
            unknown = source == "residual" or (square and not error)
            f = np.nan if unknown else square / error if square else 0.0
            p = stats.f.sf(f, df, two_way.df[2])
            rows.append((measure, source, squares, df, square, f, p))
    return to_frame(rows, columns=["measure", "source", "squares", "df", "mean_square", "f", "p"])


def tukey(score: Floats, differences: Floats, alpha: float) -> tuple[Floats, float]:
    """Tukey's HSD after a two-way analysis of variance: p of differences of means, and how far their intervals at level
    1 − alpha reach to both sides. Both hold for all pairs of runs together.

    score        runs × topics
    differences  of the means of two runs

    For two runs it is the paired t test. Where the runs differ by the same on all topics nothing is left to hold a
    difference against, and p is nan. Tukey 1953; Carterette, TOIS 2012, section 3.
    """
    two_way = TwoWay.of(score)
    error = math.sqrt(two_way.mean_squares[2] / score.shape[1])  # of the mean of a run
    sizes = np.abs(differences)
    if error == 0:
        return np.where(sizes > 0, np.nan, 1.0), 0.0
    tail = studentized_range(len(score), two_way.df[2])
    from scipy.optimize import brentq  # which is there if scipy.stats is

    far = 1.0
    while tail(np.array([far]))[0] > alpha:
        far *= 2
    quantile = brentq(lambda q: tail(np.array([q]))[0] - alpha, 0, far)
    return tail(sizes / error), float(quantile * error)


def studentized_range(runs: int, df: int) -> Callable[[Floats], Floats]:
    """The function q → P(range of `runs` means / their standard error, with df degrees of freedom, > q).

    scipy.stats.studentized_range takes 20 ms for each q; this is the same double integral by the trapezoidal rule,
    whose error falls exponentially where an integrand dies away at both ends.
    """
    scipy_stats()
    from scipy.interpolate import CubicSpline
    from scipy.special import ndtr

    # The highest of the runs lies at z, all others within the range below it.
    z, ranges = np.linspace(-9, 9, 200), np.linspace(0, 18, 4001)
    density = runs * np.exp(-(z**2) / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    within = CubicSpline(ranges, (ndtr(z) - ndtr(z - ranges[:, None])) ** (runs - 1) @ density)
    # Over the logarithm of s / σ, whose density falls like exp(−df·u²) near 0 and like exp(df·u) far to the left.
    reach = math.sqrt(40 / df)
    u = np.linspace(-reach * (1 + reach), reach, 256)
    weight = np.exp(df * (u + 0.5 - np.exp(2 * u) / 2))
    weight /= weight.sum()

    def tail(quantiles: Floats) -> Floats:
        above = np.empty(len(quantiles))
        for chunk in chunks(len(quantiles), len(u)):
            above[chunk] = (1 - within(np.minimum(quantiles[chunk, None] * np.exp(u), ranges[-1]))) @ weight
        return np.clip(above, 0, 1)

    return tail
