"""`power`: the share of run pairs that a measure tells apart, and the number of topics that a collection needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import no_worse as answers
from gradedeval.analysis import pictures, score_matrix, significance, tables
from gradedeval.analysis.tables import DisplayColumns, Row, ScoredFrame, frame_document, plain_columns, signature_lines
from gradedeval.arrays import TOLERANCE, np
from gradedeval.errors import InputError, flag, public
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, OptionKwargs, Setting, ranges, shares_work
from gradedeval.questions.limits import Bound, margins
from gradedeval.questions.shared import Alpha, Seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.score_matrix import Matrix, Paired


Draws = Annotated[int, Setting("Number of bootstrap samples.", ranges.DRAWS, metavar="N")]
BestRuns = Annotated[int | None, Setting("Use only the N best runs by the mean of each measure.", ranges.BEST_RUNS, "N",
    short="Use only the N best runs.")]  # fmt: skip
Difference = Annotated[float, Setting("Difference of means to detect, in an analysis of variance between the best and "
    "the worst system, and the width that the interval may have.", ranges.DIFFERENCE, "D", "Planning",
    short="Difference of means to detect.")]  # fmt: skip
NoWorse = Annotated[Any, Setting("Plan `check --no-worse`: the topics with which a run as good as the first one is no "
    "worse in 8 of 10 evaluations, that is, with which a drop of the mean by X, or by X percent of the baseline's "
    "mean, is ruled out.", metavar="[MEASURE=]X|X%", section="Planning", repeats=True,
    short="Plan the topics of `check --no-worse`.")]  # fmt: skip
Beta = Annotated[float, Setting("Probability of missing it.", ranges.BETA, "P", "Planning",
    short="Probability of missing the difference.")]  # fmt: skip


CERTAIN = 1e20
"""Noncentrality beyond which power is 1; scipy fails there."""
MOST = 10_000_000
"""Maximum number of topics of a plan."""


@dataclass(frozen=True)
class Aim:
    """Aim of a plan: see `plan_topics`. Raises InputError (usage) if a value is invalid."""

    difference: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        ranges.ALPHA.check_field(self, "alpha")
        ranges.BETA.check_field(self, "beta")
        ranges.DIFFERENCE.check_field(self, "difference")

    def require_defaults(self) -> None:
        """Raise InputError (usage) unless it is the default, beside margins: they have one level and one power."""
        if self != Aim(0.1, 0.05, 0.2):
            problem = f"has one level and one power, so {flag.difference}, {flag.alpha} and {flag.beta} do not apply"
            raise InputError(flag.no_worse, problem, "leave them out", usage=True)

    def power(self, topics: int, variance: float, df: tuple[int, int]) -> float:
        """Return the probability that the F test with these degrees of freedom detects a range of means as large as the
        difference, with all remaining runs in the middle: the hardest case. With df (1, n − 1) it is the paired t
        test."""
        if variance == 0:
            return 1.0
        stats = significance.scipy_stats()
        critical = stats.f.isf(self.alpha, *df)
        noncentral = topics * self.difference**2 / (2 * variance)
        return 1.0 if noncentral > CERTAIN else float(stats.ncf.sf(critical, *df, noncentral))

    def width(self, topics: int, variance: float) -> float:
        """Return the expected width of the t interval, at level 1 − alpha, of the difference of two means."""
        t = float(significance.scipy_stats().t.isf(self.alpha / 2, topics - 1))
        # The expected sample deviation is the population's times √(2 / (n−1)) · Γ(n/2) / Γ((n−1)/2).
        ratio = math.exp(math.lgamma(topics / 2) - math.lgamma((topics - 1) / 2))
        return 4 * t * ratio * math.sqrt(variance / (topics * (topics - 1)))


@dataclass(frozen=True, eq=False, repr=False)
class Plan(ScoredFrame):
    """Numbers of topics needed: the frame of `plan_topics`, its scores, and the aim."""

    scores: Matrix
    aim: Aim | None

    @property
    def settings_text(self) -> str:
        """Aim and units of the plan."""
        if self.aim is None:
            level = f"paired t, one-sided, alpha {answers.ALPHA:g}, power {answers.POWER:g}"
            return f"topics with which an equal run is no worse | {level}"
        needed = f"topics to detect a difference of {self.aim.difference:g} with power {1 - self.aim.beta:g} at alpha"
        interval = f"interval: {tables.confidence_level(self.aim.alpha)}, as wide as that difference"
        units = tables.describe_scales(self.scores, self.scores.measures, "variance, difference and width")
        return " | ".join([f"{needed} {self.aim.alpha:g}", interval, *units])

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each measure and design."""
        counts = Column("systems", "count"), Column("variance", "score"), Column("topics", "count")
        columns: DisplayColumns = {
            **plain_columns(Column("measure"), Column("design"), *counts),
            Column("topics needed", "count"): itemgetter("needed"),
            **plain_columns(Column("power", "share")),
            Column("interval width", "score"): itemgetter("width"),
        }
        return frame_document(self.frame, layout, columns, signature_lines(self.settings_text, self.signature))


@kernel.takes_options("reading")
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
    no_worse: NoWorse = (),
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Plan:
    """Compute the number of topics needed, by Sakai's topic set size design: for each design the smallest sufficient
    number.

    runs            on pilot topics, from which the variance is estimated: as in `gradedeval.evaluate`; or without
                    `qrels` the result of `evaluate`, or saved scores
    qrels           as in `evaluate`, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are
                    computed
    difference      difference of two means to detect (by topic for totals, of logarithms for geometric means), in an
                    analysis of variance between the best and the worst run; and maximum width of its interval
    alpha           significance level; the interval covers 1 − alpha
    beta            probability of missing the difference: the power is 1 − beta
    no_worse        margins, as of `gradedeval.check`: plan its answer `no worse` instead, beside the first run

    Returns `Plan`, whose `.frame` has a row for each measure and design: measure, design, systems, variance, topics
    (of the runs), needed (topics), power (with these), width (expected, of the interval). Designs: `t`, a paired t
    test; `anova`, two-way over runs × topics; `one-way anova`; `interval` of a paired difference. The variance of
    `one-way anova` is the variance of the scores of a run, as in Sakai's paper; of the remaining designs the
    residual variance of runs × topics, half the mean variance of the differences of two runs. Raises InputError
    (usage) for fewer than two runs, and invalid values. Sakai, Information Retrieval Journal 19, 2016.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-bm25-rm3.run"]
    >>> plan = gradedeval.plan_topics(runs, "qrels_samples/rivers.qrels", "err@20", difference=0.05)
    >>> plan.frame[["design", "topics", "needed"]].head(2)
      design  topics  needed
    0      t      50     351
    1  anova      50     351
    """
    aim = Aim(difference, alpha, beta)
    if no_worse:
        aim.require_defaults()
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.require_single_runs("a plan", score_matrix.comparable_matrix(scores))
    score_matrix.require_two_runs("a plan", len(matrix.runs))
    return _plan(matrix, aim, no_worse)


def _plan(matrix: Matrix, aim: Aim, no_worse: Any) -> Plan:
    """Return the plan of margins, if there are any, else of the designs."""
    columns = ["measure", "design", "systems", "variance", "topics", "needed", "power", "width"]
    measures, rows = matrix.comparable_measures(), list[dict[str, Any]]()
    if no_worse:
        rows = [_no_worse_row(matrix, bound) for bound in margins(no_worse, measures)]
    else:
        for paired in (score_matrix.shared_topics(matrix, name) for name in measures):
            head = {"measure": paired.measure, "topics": len(paired.topics)}
            rows += [head | row for row in designs(aim, len(matrix.runs), *_variances(paired))]
    return Plan(kernel.results.to_frame(rows, columns=columns), matrix, None if no_worse else aim)


def _no_worse_row(matrix: Matrix, bound: Bound) -> dict[str, Any]:
    """Return the plan of a margin. Raises InputError (usage) for a slice, of which nothing is planned."""
    if bound.slice:
        raise InputError(bound.place, "a plan is of all topics", "leave out the slice", usage=True)
    paired = score_matrix.shared_topics(matrix, bound.measure)
    margin, relative = answers.planned_margin(paired.reading, bound.limit, bound.relative, bound.place)
    variance, _ = _variances(paired)
    mean = float(paired.values[0].mean()) if relative else 1.0
    if mean <= TOLERANCE:
        problem = f"the first run's {bound.measure} is {mean:g}, and a margin cannot be a share of it"
        raise InputError(bound.place, problem)
    deviation = math.sqrt(2 * variance) / mean
    needed = answers.topics_needed(deviation, margin)
    if needed is None:
        problem = f"more than {answers.MOST} topics are needed"
        raise InputError(bound.place, problem, "allow a larger margin", usage=True)
    lost = "+" if paired.reading.sign < 0 else "-"
    return {
        "measure": paired.measure,
        "design": f"no worse than {lost}{bound.allowed}",
        "systems": 2,
        "variance": variance,
        "topics": len(paired.topics),
        "needed": needed,
        "power": answers.power_of_no_worse(deviation, needed, margin),
        "width": None,
    }


def _variances(paired: Paired) -> tuple[float, float]:
    """Return the residual variance of runs × topics, and that of a run. Raises InputError (usage) for equal runs."""
    if (paired.values == paired.values[0]).all():
        problem = "the runs do not differ, so there is no variance to plan with"
        raise InputError(f"measure '{paired.measure}'", problem, "give other runs", usage=True)
    return float(significance.TwoWay.of(paired.values).mean_squares[2]), float(paired.values.var(1, ddof=1).mean())


def designs(aim: Aim, systems: int, residual: float, within: float) -> list[dict[str, Any]]:
    """Return the topics needed by each design: design, systems, variance, needed, power, width.

    systems   number of systems in an analysis of variance
    residual  variance of runs × topics
    within    variance of the scores of a run
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
        tested("one-way anova", systems, within, lambda n: (systems - 1, systems * (n - 1))),
        row("interval", 2, residual, needed, width=aim.width(needed, residual)),
    ]


def _smallest(enough: Callable[[int], bool]) -> int:
    """Return the smallest sufficient number of topics. Raises InputError (usage) if it exceeds MOST."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST:
            hint = f"plan for a larger {flag.difference}"
            raise InputError(flag.difference, f"more than {MOST} topics are needed", hint, usage=True)
    return bisect_left(range(high + 1), True, lo=2, key=enough)


NEEDED = "by the sample at that level (Sakai 2006, figure 5), the largest of all pairs"


@dataclass(frozen=True, eq=False)
class Power(kernel.results.InNotebook):
    """Discriminative power of measures.

    frame      a row for each measure: measure, runs, topics, pairs, significant (pairs with a level below alpha),
               power (their share), needed (Sakai's estimate of the smallest significant difference: the largest of
               all pairs), tested (unit of needed: `difference` of means or totals, or `ratio` of geometric means)
    curve      a row for each measure and pair, from the highest level to the lowest: measure, pair (its number from
               1), run, other, difference (or ratio), level, needed, tested
    settings   draws, alpha and seed
    signature  settings that the scores depend on
    alpha      significance level

    The difference needed by a pair is |mean| of the bootstrap sample whose |t| is the (alpha · draws)-th largest
    (Sakai, SIGIR 2006, figure 5). It goes by the deviation of that sample, and not by the standard error of the
    pair.
    """

    frame: pd.DataFrame
    curve: pd.DataFrame
    settings: str
    signature: str
    alpha: float

    @property
    def settings_text(self) -> str:
        """Settings of the test."""
        return self.settings

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each measure."""
        counts = (Column(name, "count") for name in ("runs", "topics", "pairs", "significant"))
        columns: DisplayColumns = {
            **plain_columns(Column("measure"), *counts, Column("power", "share")),
            Column("difference needed", "score"): _needed,
        }
        return frame_document(self.frame, layout, columns, signature_lines(self.settings, self.signature))


def _needed(row: Row) -> Any:
    return tables.format_ratio(row["needed"]) if row["tested"] == "ratio" else row["needed"]


def check_runs(runs: int) -> None:
    """Raise InputError (usage) for fewer than two runs."""
    score_matrix.require_two_runs("power", runs)


@kernel.takes_options("reading")
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
    """Compute the share of pairs of runs with a significant difference by each measure, by Sakai's paired bootstrap
    test.

    runs            as in `gradedeval.evaluate`; without `qrels` results of `evaluate` or saved scores: one or a list
    qrels           as in `evaluate`, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are
                    computed
    draws           bootstrap samples of the topics, the same for all pairs and measures
    alpha           significance level
    seed            random seed
    best_runs       only the best runs by each measure's mean, total or geometric mean

    Each measure uses the topics that all runs have. Raises InputError (usage) for fewer than two runs, or too few
    draws for alpha, and InputError if a measure has a single topic. Sakai, SIGIR 2006; used by Robertson et al.,
    SIGIR 2010, section 4.2.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> power = gradedeval.power(runs, "qrels_samples/rivers.qrels", "err@20", draws=100)
    >>> power.frame[["pairs", "significant", "needed"]].round(3)
       pairs  significant  needed
    0      1            1   0.101
    """
    draws, alpha, seed = ranges.DRAWS.check(draws), ranges.ALPHA.check(alpha), ranges.SEED.check(seed)
    _check_draws(draws, alpha)
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.comparable_matrix(scores)
    best_runs = ranges.BEST_RUNS.check_or_none(best_runs)
    check_runs(len(score_matrix.require_single_runs("power", matrix).runs))
    by_measure = [_best(matrix, measure, best_runs) for measure in matrix.comparable_measures()]
    curves = [kernel.results.to_frame(_levels(paired, draws, alpha, seed)) for paired in by_measure]
    rows = [_row(paired, curve, alpha) for paired, curve in zip(by_measure, curves, strict=True)]
    settings = f"paired bootstrap, studentized, {draws} draws, alpha {alpha:g}, seed {seed}"
    settings += f" | difference needed: {NEEDED}"
    settings += "" if best_runs is None else f" | the best {min(best_runs, len(matrix.runs))} runs by each measure"
    return Power(kernel.results.to_frame(rows), kernel.results.joined(curves), settings, matrix.common_signature, alpha)


def _check_draws(draws: int, alpha: float) -> None:
    """Raise InputError (usage) if with these draws no level above 0 is below alpha."""
    if draws * alpha < 1 - TOLERANCE:
        max_draws = int(ranges.DRAWS.maximum or draws)
        problem = f"with {draws} draws only a level of 0 is below {alpha:g}"
        hint = f"use {math.ceil(min(1 / alpha, max_draws) - TOLERANCE)} or more for {flag.alpha:{alpha:g}}"
        if 1 / alpha > max_draws:
            hint = f"use an {flag.alpha} of {1 / max_draws:g} or more"
        raise InputError(flag.draws, problem, hint, usage=True)


def _best(matrix: Matrix, measure: str, best: int | None) -> Paired:
    """Return the best runs by a measure, or all."""
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
    needed = {"needed": curve["needed"].max(), "tested": paired.tested}
    return {"measure": paired.measure, **counts, "power": significant / len(curve), **needed}


SOURCE = "the result of gradedeval.power or gradedeval.compare"


@public
def plot_power(result: Any, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """Plot the achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each
    measure: the nearer to the axes, the more pairs a measure tells apart.

    result  result of `gradedeval.power`, its `curve`; or the frame of `gradedeval.compare`, for its p-values
    alpha   level of the horizontal line
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, and for an invalid alpha.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> power = gradedeval.power(runs, "qrels_samples/rivers.qrels", "err@20", draws=100)
    >>> gradedeval.plot.power(power).get_ylabel()
    'achieved significance level'
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
    num_pairs = max(len(pairs) for _, pairs in groups)
    for number, ((measure, pairs), look) in enumerate(zip(groups, pictures.line_styles(len(groups)), strict=True)):
        levels = np.sort(pairs[level].dropna().to_numpy(dtype=float))[::-1]
        marker: dict[str, Any] = {"marker": "osD^vP*"[number % 7]} if num_pairs <= 30 else {}
        ax.plot(np.arange(1, len(levels) + 1), levels, label=pictures.label_text(str(measure)), **look, **marker)
    ax.axhline(alpha, color=pictures.GREY, linewidth=0.7, linestyle="--", label=f"α = {alpha:g}")
    ax.set_ylim(0, None)
    ax.set_xlim(0.5, num_pairs + 0.5)
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    ax.set_xlabel("pair of runs, by level" if num_pairs > 1 else "pair of runs")
    ax.set_ylabel("achieved significance level" if level == "level" else "p")
    pictures.use_integer_ticks(ax)
    pictures.legend(ax)
