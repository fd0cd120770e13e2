"""`power --plan`: how many topics a test collection needs, so that a difference is found or an interval is narrow."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.anova import TwoWay
from gradedeval.analysis.score_matrix import Matrix, Paired, comparable, shared_topics
from gradedeval.analysis.significance import scipy_stats
from gradedeval.analysis.tables import Shown, frame_document, level, same, scales, signature_lines
from gradedeval.errors import InputError
from gradedeval.formats import Column, Document, Layout
from gradedeval.formats.frames import to_frame
from gradedeval.options import numbers
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

DIFFERENCE, BETA = 0.1, 0.2
CERTAIN = 1e20
"""A noncentrality from which on a difference is found; scipy knows no such distributions."""
MOST = 10_000_000
"""No plan asks for more topics."""


@dataclass(frozen=True)
class Aim:
    """What a plan is to reach: see `plan_topics`. Raises InputError (usage) if a value is invalid."""

    difference: float = DIFFERENCE
    alpha: float = 0.05
    beta: float = BETA

    def __post_init__(self) -> None:
        numbers.ALPHA.check_field(self, "alpha")
        numbers.BETA.check_field(self, "beta")
        numbers.DIFFERENCE.check_field(self, "difference")

    def power(self, topics: int, variance: float, df: tuple[int, int]) -> float:
        """The probability that the F test with df finds a range of means as large as the difference, the runs between
        the best and the worst in the middle, where it is hardest. With df (1, n − 1) it is the paired t test."""
        if variance == 0:
            return 1.0
        stats = scipy_stats()
        critical = stats.f.isf(self.alpha, *df)
        noncentral = topics * self.difference**2 / (2 * variance)
        return 1.0 if noncentral > CERTAIN else float(stats.ncf.sf(critical, *df, noncentral))

    def width(self, topics: int, variance: float) -> float:
        """The expected width of the t interval, at level 1 − alpha, of the difference of two means."""
        t = float(scipy_stats().t.isf(self.alpha / 2, topics - 1))
        # A sample deviation is on average that of the population times √(2 / (n−1)) · Γ(n/2) / Γ((n−1)/2).
        ratio = math.exp(math.lgamma(topics / 2) - math.lgamma((topics - 1) / 2))
        return 4 * t * ratio * math.sqrt(variance / (topics * (topics - 1)))


def plan_topics(
    scores: Scores | Matrix | pd.DataFrame | str | Path | None = None,
    *,
    variance: float | None = None,
    difference: float = DIFFERENCE,
    systems: int | None = None,
    alpha: float = 0.05,
    beta: float = BETA,
    allow_mismatch: bool = False,
) -> pd.DataFrame:
    """How many topics are needed, by Sakai's topic set size design: each the smallest number that suffices.

    scores          runs on pilot topics, of which the variance is estimated: as of `evaluate`, or saved scores
    variance        of a score around the mean of its run, in place of scores
    difference      to be detected of two means (by topic for totals, of logarithms for geometric means): of the best
                    and the worst system in an analysis of variance; and how wide the interval of it may be
    systems         how many an analysis of variance compares; None: the runs, or 2 where there are none
    alpha           significance level; the interval covers 1 − alpha
    beta            the probability of missing the difference: the power is 1 − beta
    allow_mismatch  compare saved scores of different qrels or options all the same, with a warning

    Returns a frame with a row for each measure and design: measure, design, systems, variance, topics (of the runs),
    needed (topics), power (with these), width (expected, of the interval). Designs: `t`, a paired t test; `anova`,
    two-way over runs × topics; `one-way anova`; `interval`, that of a paired difference. The variance of
    `one-way anova` is that of the scores of a run, as Sakai takes it; of the others that of the residual of runs ×
    topics, which is half the mean variance of the differences of two runs. Raises InputError (usage) for neither or
    both of scores and variance, fewer than two runs, and invalid values. Sakai, Information Retrieval Journal 19, 2016.
    """
    aim = Aim(difference, alpha, beta)
    if (scores is None) == (variance is None):
        what = "no runs to estimate the variance from" if scores is None else "takes the place of runs"
        raise InputError("--variance", what, "give either --variance or RUN... QRELS", usage=True)
    systems = numbers.SYSTEMS.check_or_none(systems)
    if variance is not None:
        variance = numbers.VARIANCE.check(variance)
        return to_frame(_rows(aim, systems or 2, variance, variance, None, None))
    matrix = comparable(scores, allow_mismatch)  # type: ignore[arg-type]  # there are scores
    if len(matrix.runs) < 2:
        raise InputError("", "a plan needs at least two runs", "add a run, or give --variance", usage=True)
    rows = []
    for paired in (shared_topics(matrix, name) for name in matrix.comparable_measures()):
        rows += _rows(aim, systems or len(matrix.runs), *_variances(paired), paired.measure, len(paired.topics))
    return to_frame(rows)


def _variances(paired: Paired) -> tuple[float, float]:
    """The residual variance of runs × topics, and the mean variance of a run. Raises InputError (usage) for equal
    runs."""
    if (paired.values == paired.values[0]).all():
        what = "the runs do not differ, so there is no variance to plan with"
        raise InputError(f"measure '{paired.measure}'", what, "give other runs, or --variance", usage=True)
    return float(TwoWay.of(paired.values).mean_squares[2]), float(paired.values.var(1, ddof=1).mean())


def _rows(
    aim: Aim, systems: int, residual: float, own: float, measure: str | None, topics: int | None
) -> list[dict[str, Any]]:
    def row(design: str, runs: int, variance: float, needed: int, **reached: float) -> dict[str, Any]:
        head = {"measure": measure, "design": design, "systems": runs, "variance": variance}
        return {**head, "topics": topics, "needed": needed, "power": None, "width": None, **reached}

    def tested(design: str, runs: int, variance: float, df: Callable[[int], tuple[int, int]]) -> dict[str, Any]:
        needed = _smallest(lambda n: aim.power(n, variance, df(n)) >= 1 - aim.beta)
        return row(design, runs, variance, needed, power=aim.power(needed, variance, df(needed)))

    needed = _smallest(lambda n: aim.width(n, residual) <= aim.difference)
    return [
        tested("t", 2, residual, lambda n: (1, n - 1)),
        tested("anova", systems, residual, lambda n: (systems - 1, (systems - 1) * (n - 1))),
        tested("one-way anova", systems, own, lambda n: (systems - 1, systems * (n - 1))),
        row("interval", 2, residual, needed, width=aim.width(needed, residual)),
    ]


def _smallest(enough: Callable[[int], bool]) -> int:
    """The smallest number of topics, two or more, that is enough, where more always are. Raises InputError (usage) if
    that is more than MOST."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST:
            hint = "plan for a larger --difference"
            raise InputError("--difference", f"more than {MOST} topics are needed", hint, usage=True)
    return bisect_left(range(high + 1), True, lo=2, key=enough)


def plan_settings(aim: Aim, matrix: Matrix | None) -> str:
    """What the topics of a plan suffice for."""
    found = f"topics to detect a difference of {aim.difference:g} with power {1 - aim.beta:g} at alpha {aim.alpha:g}"
    interval = f"interval: {level(aim.alpha)}, as wide as that difference"
    units = [] if matrix is None else scales(matrix, matrix.measures, "variance, difference and width")
    return " | ".join([found, interval, *units])


def plan_document(frame: pd.DataFrame, signature: str, settings: str, layout: Layout) -> Document:
    """The result of `power --plan`."""
    known = [] if frame["measure"].isna().all() else [Column("measure")]
    had = [] if frame["topics"].isna().all() else [Column("topics", "count")]
    shown: Shown = {
        **same(*known, Column("design"), Column("systems", "count"), Column("variance", "score"), *had),
        Column("topics needed", "count"): itemgetter("needed"),
        **same(Column("power", "share")),
        Column("interval width", "score"): itemgetter("width"),
    }
    return frame_document(frame, layout, shown, signature_lines(settings, signature))
