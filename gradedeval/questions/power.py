"""`power`: how many pairs of runs a measure tells apart, and how many topics a collection needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pictures, score_matrix, significance
from gradedeval.analysis.tables import (
    DisplayColumns,
    Row,
    ScoredFrame,
    confidence_level,
    describe_scales,
    format_ratio,
    frame_document,
    plain_columns,
    signature_lines,
)
from gradedeval.arrays import TOLERANCE, np
from gradedeval.errors import InputError, flag, public
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    Layout,
    OptionKwargs,
    Setting,
    ranges,
    shares_work,
    takes_options,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.score_matrix import Matrix, Paired


Alpha = Annotated[float, Setting("Significance level.", ranges.ALPHA, metavar="P")]
Draws = Annotated[int, Setting("Number of bootstrap samples.", ranges.DRAWS, metavar="N")]
Seed = Annotated[int, Setting("Random seed.", ranges.SEED, metavar="N")]
BestRuns = Annotated[
    int | None, Setting("Use only the N best runs by the mean of each measure.", ranges.BEST_RUNS, "N")
]
Difference = Annotated[float, Setting("Difference of means to detect, in an analysis of variance between the best and "
    "the worst system, and the width that the interval may have.", ranges.DIFFERENCE, "D", "Planning")]  # fmt: skip
Beta = Annotated[float, Setting("Probability of missing it.", ranges.BETA, "P", "Planning")]


# How many topics a test collection needs, so that a difference is found or an interval is narrow.


CERTAIN = 1e20
"""A noncentrality from which on a difference is found; scipy knows no such distributions."""
MOST = 10_000_000
"""No plan asks for more topics."""


@dataclass(frozen=True)
class Aim:
    """What a plan is to reach: see `plan_topics`. Raises InputError (usage) if a value is invalid."""

    difference: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        ranges.ALPHA.check_field(self, "alpha")
        ranges.BETA.check_field(self, "beta")
        ranges.DIFFERENCE.check_field(self, "difference")

    def power(self, topics: int, variance: float, df: tuple[int, int]) -> float:
        """The probability that the F test with df finds a range of means as large as the difference, the runs between
        the best and the worst in the middle, where it is hardest. With df (1, n − 1) it is the paired t test."""
        if variance == 0:
            return 1.0
        stats = significance.scipy_stats()
        critical = stats.f.isf(self.alpha, *df)
        noncentral = topics * self.difference**2 / (2 * variance)
        return 1.0 if noncentral > CERTAIN else float(stats.ncf.sf(critical, *df, noncentral))

    def width(self, topics: int, variance: float) -> float:
        """The expected width of the t interval, at level 1 − alpha, of the difference of two means."""
        t = float(significance.scipy_stats().t.isf(self.alpha / 2, topics - 1))
        # A sample deviation is on average that of the population times √(2 / (n−1)) · Γ(n/2) / Γ((n−1)/2).
        ratio = math.exp(math.lgamma(topics / 2) - math.lgamma((topics - 1) / 2))
        return 4 * t * ratio * math.sqrt(variance / (topics * (topics - 1)))


@dataclass(frozen=True, eq=False, repr=False)
class Plan(ScoredFrame):
    """How many topics are needed: the frame of `plan_topics`, the scores that it is of, and what is sought."""

    scores: Matrix
    aim: Aim

    @property
    def aside(self) -> str:
        """What the topics of a plan suffice for."""
        found = f"topics to detect a difference of {self.aim.difference:g} with power {1 - self.aim.beta:g} at alpha"
        interval = f"interval: {confidence_level(self.aim.alpha)}, as wide as that difference"
        units = describe_scales(self.scores, self.scores.measures, "variance, difference and width")
        return " | ".join([f"{found} {self.aim.alpha:g}", interval, *units])

    def document(self, layout: Layout) -> Document:
        """A row for each measure and design."""
        counts = Column("systems", "count"), Column("variance", "score"), Column("topics", "count")
        shown: DisplayColumns = {
            **plain_columns(Column("measure"), Column("design"), *counts),
            Column("topics needed", "count"): itemgetter("needed"),
            **plain_columns(Column("power", "share")),
            Column("interval width", "score"): itemgetter("width"),
        }
        return frame_document(self.frame, layout, shown, signature_lines(self.aside, self.scores.signature))


@takes_options("reading")
@public
@shares_work
def plan_topics(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    difference: Difference = 0.1,
    alpha: Alpha = 0.05,
    beta: Beta = 0.2,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Plan:
    """How many topics are needed, by Sakai's topic set size design: each the smallest number that suffices.

    runs            on pilot topics, of which the variance is estimated: as for `gradedeval.evaluate`; or without
                    `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed
    difference      to be detected of two means (by topic for totals, of logarithms for geometric means): of the best
                    and the worst run in an analysis of variance; and how wide the interval of it may be
    alpha           significance level; the interval covers 1 − alpha
    beta            the probability of missing the difference: the power is 1 − beta

    Returns `Plan`, whose `.frame` has a row for each measure and design: measure, design, systems, variance, topics (of
    the runs), needed (topics), power (with these), width (expected, of the interval). Designs: `t`, a paired t test;
    `anova`, two-way over runs × topics; `one-way anova`; `interval`, that of a paired difference. The variance of
    `one-way anova` is that of the scores of a run, as Sakai takes it; of the others that of the residual of runs ×
    topics, which is half the mean variance of the differences of two runs. Raises InputError (usage) for fewer
    than two runs, and invalid values. Sakai, Information Retrieval Journal 19, 2016.
    """
    aim = Aim(difference, alpha, beta)
    given = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.require_single_runs("a plan", score_matrix.comparable_matrix(given))
    score_matrix.require_two_runs("a plan", len(matrix.runs))
    rows = []
    for paired in (score_matrix.shared_topics(matrix, name) for name in matrix.comparable_measures()):
        head = {"measure": paired.measure, "topics": len(paired.topics)}
        rows += [head | row for row in designs(aim, len(matrix.runs), *_variances(paired))]
    columns = ["measure", "design", "systems", "variance", "topics", "needed", "power", "width"]
    return Plan(kernel.results.to_frame(rows, columns=columns), matrix, aim)


def _variances(paired: Paired) -> tuple[float, float]:
    """The residual variance of runs × topics, and the mean variance of a run. Raises InputError (usage) for equal
    runs."""
    if (paired.values == paired.values[0]).all():
        what = "the runs do not differ, so there is no variance to plan with"
        raise InputError(f"measure '{paired.measure}'", what, "give other runs", usage=True)
    return float(significance.TwoWay.of(paired.values).mean_squares[2]), float(paired.values.var(1, ddof=1).mean())


def designs(aim: Aim, systems: int, residual: float, own: float) -> list[dict[str, Any]]:
    """Return the topics needed by each design: design, systems, variance, needed, power, width.

    systems   that an analysis of variance compares
    residual  variance of runs × topics, and `own` that of the scores of a run
    """

    def row(design: str, runs: int, variance: float, needed: int, **reached: float) -> dict[str, Any]:
        head = {"design": design, "systems": runs, "variance": variance, "needed": needed}
        return {**head, "power": None, "width": None, **reached}

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
            hint = f"plan for a larger {flag.difference}"
            raise InputError(flag.difference, f"more than {MOST} topics are needed", hint, usage=True)
    return bisect_left(range(high + 1), True, lo=2, key=enough)


# How many pairs of runs a measure tells apart.


NEEDED = "by the sample at that level (Sakai 2006, figure 5), the largest of all pairs"


@dataclass(frozen=True, eq=False)
class Power(kernel.results.InNotebook):
    """The discriminative power of measures.

    frame      a row for each measure: measure, runs, topics, pairs, significant (pairs with a level below alpha), power
               (their share), needed (Sakai's estimate of the difference that is significant: the largest of all
               pairs), tested (`difference` of means or totals, or `ratio` of geometric means, which needed is)
    curve      a row for each measure and pair, from the highest level to the lowest: measure, pair (its number from 1),
               run, other, difference (or ratio), level, needed, tested
    settings   draws, alpha and seed
    signature  what the scores depend on
    alpha      the significance level

    The difference needed of a pair is |mean| of the bootstrap sample whose |t| is the (alpha · draws)-th largest
    (Sakai, SIGIR 2006, figure 5). It goes by the deviation of that sample, and not by the standard error of the pair.
    """

    frame: pd.DataFrame
    curve: pd.DataFrame
    settings: str
    signature: str
    alpha: float

    @property
    def aside(self) -> str:
        """How the levels were found."""
        return self.settings

    def document(self, layout: Layout) -> Document:
        """A row for each measure."""
        counts = (Column(name, "count") for name in ("runs", "topics", "pairs", "significant"))
        shown: DisplayColumns = {
            **plain_columns(Column("measure"), *counts, Column("power", "share")),
            Column("difference needed", "score"): _needed,
        }
        return frame_document(self.frame, layout, shown, signature_lines(self.settings, self.signature))


def _needed(row: Row) -> Any:
    return format_ratio(row["needed"]) if row["tested"] == "ratio" else row["needed"]


def check_runs(runs: int) -> None:
    """Raise InputError (usage) for fewer than two runs."""
    score_matrix.require_two_runs("power", runs)


@takes_options("reading")
@public
@shares_work
def power(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    draws: Draws = 1000,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    best_runs: BestRuns = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Power:
    """The share of pairs of runs that each measure finds significantly different, by Sakai's paired bootstrap test.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed
    draws           bootstrap samples of the topics, the same for all pairs and measures
    alpha           significance level
    seed            of the random draws
    best_runs       only the runs that are the best by each measure's own mean, total or geometric mean

    Each measure uses the topics that all runs have. Raises InputError (usage) for fewer than two runs, or too few draws
    for alpha, and InputError if a measure has a single topic. Sakai, SIGIR 2006; used by Robertson et al., SIGIR 2010,
    section 4.2.
    """
    draws, alpha, seed = ranges.DRAWS.check(draws), ranges.ALPHA.check(alpha), ranges.SEED.check(seed)
    if draws * alpha < 1 - TOLERANCE:
        most = int(ranges.DRAWS.maximum or draws)
        what = f"with {draws} draws only a level of 0 is below {alpha:g}"
        hint = f"use {math.ceil(min(1 / alpha, most) - TOLERANCE)} or more for {flag.alpha:{alpha:g}}"
        if 1 / alpha > most:
            hint = f"use an {flag.alpha} of {1 / most:g} or more"
        raise InputError(flag.draws, what, hint, usage=True)
    given = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.comparable_matrix(given)
    best_runs = ranges.BEST_RUNS.check_or_none(best_runs)
    check_runs(len(score_matrix.require_single_runs("power", matrix).runs))
    of = [_best(matrix, measure, best_runs) for measure in matrix.comparable_measures()]
    curves = [kernel.results.to_frame(_levels(paired, draws, alpha, seed)) for paired in of]
    rows = [_row(paired, curve, alpha) for paired, curve in zip(of, curves, strict=True)]
    settings = (
        f"paired bootstrap, studentized, {draws} draws, alpha {alpha:g}, seed {seed} | difference needed: {NEEDED}"
    )
    settings += "" if best_runs is None else f" | the best {min(best_runs, len(matrix.runs))} runs by each measure"
    return Power(kernel.results.to_frame(rows), kernel.results.joined(curves), settings, matrix.signature, alpha)


def _best(matrix: Matrix, measure: str, best: int | None) -> Paired:
    """The best runs by a measure, or all."""
    paired = score_matrix.shared_topics(matrix, measure)
    order = np.argsort(-paired.reading.sign * paired.summaries, kind="stable")[:best]
    return matrix.select(runs=[paired.runs[index] for index in sorted(order.tolist())]).paired(measure)


def _levels(paired: Paired, draws: int, alpha: float, seed: int) -> dict[str, Any]:
    first, second = score_matrix.run_pairs(len(paired.runs))
    differences = score_matrix.topic_differences(paired.values, first, second)
    level, needed = significance.studentized(differences, draws, seed, alpha)
    topics = len(paired.topics)
    order = np.argsort(-level, kind="stable")
    names = np.array(paired.runs, dtype=object)
    return {
        "measure": paired.measure,
        "pair": np.arange(1, len(order) + 1),
        "run": names[second[order]],
        "other": names[first[order]],
        "difference": paired.reading.of_mean(differences.mean(1), topics)[order],
        "level": level[order],
        "needed": paired.reading.of_mean(needed, topics)[order],
        "tested": paired.tested,
    }


def _row(paired: Paired, curve: pd.DataFrame, alpha: float) -> dict[str, Any]:
    significant = int((curve["level"] < alpha).sum())
    counts = {"runs": len(paired.runs), "topics": len(paired.topics), "pairs": len(curve), "significant": significant}
    found = {"needed": curve["needed"].max(), "tested": paired.tested}
    return {"measure": paired.measure, **counts, "power": significant / len(curve), **found}


# Discriminative power: the achieved significance levels of all pairs of runs in descending order.


SOURCE = "what gradedeval.power or gradedeval.compare returns"


@public
def plot_power(result: Any, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """The achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each measure:
    the nearer to the axes, the more a measure tells apart.

    result  what `gradedeval.power` returns, its `curve`; or the frame of `gradedeval.compare`, whose p-values are drawn
    alpha   the level of the horizontal line
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, and for an alpha that is not a level.
    """
    alpha = ranges.ALPHA.check(alpha)
    curve = pictures.require_frame(result, ["measure"], "power", SOURCE, "curve")
    level = next((name for name in ("level", "p") if name in curve.columns), None)
    if level is None:
        raise InputError("plot.power", "the frame has no levels and no p-values", f"give {SOURCE}", usage=True)
    pictures.check_numbers(curve, [level], "power", SOURCE)
    return pictures.draw_on(partial(draw_levels, curve=curve, level=level, alpha=alpha), ax)


def power_panels(result: Power) -> list[pictures.Panel]:
    """Return the picture of all measures."""
    levels = partial(draw_levels, curve=result.curve, level="level", alpha=result.alpha)
    return [pictures.Panel(levels, 2.1)]


def draw_levels(ax: Axes, curve: pd.DataFrame, level: str, alpha: float) -> None:
    """Draw the levels of each measure in descending order."""
    groups = list(curve.groupby("measure", sort=False))
    most = max(len(own) for _, own in groups)
    for number, ((measure, own), look) in enumerate(zip(groups, pictures.line_styles(len(groups)), strict=True)):
        levels = np.sort(own[level].dropna().to_numpy(dtype=float))[::-1]
        marker: dict[str, Any] = {"marker": "osD^vP*"[number % 7]} if most <= 30 else {}
        ax.plot(np.arange(1, len(levels) + 1), levels, label=pictures.label_text(str(measure)), **look, **marker)
    ax.axhline(alpha, color=pictures.GREY, linewidth=0.7, linestyle="--", label=f"α = {alpha:g}")
    ax.set_ylim(0, None)
    ax.set_xlim(0.5, most + 0.5)
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    ax.set_xlabel("pair of runs, by level" if most > 1 else "pair of runs")
    ax.set_ylabel("achieved significance level" if level == "level" else "p")
    pictures.use_integer_ticks(ax)
    pictures.legend(ax)
