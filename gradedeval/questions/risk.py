"""`risk`: losses of runs on some topics against gains on others, relative to a baseline and to each other."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import score_matrix, significance, tables
from gradedeval.analysis.tables import DisplayColumns, ScoredFrame, total_formatter
from gradedeval.arrays import TOLERANCE, Floats, np
from gradedeval.errors import InputError, emit_notes, flag, public, shorten, visible
from gradedeval.kernel import AnyMeasure, Column, Document, Layout, OptionKwargs, Setting, ranges
from gradedeval.questions.compare import WINS, format_wins
from gradedeval.questions.shared import baseline_setting

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired


MEAN_OF_RUNS = "(mean of runs)"
"""Name in tables of the baseline `mean`: the mean of all runs on each topic."""

Baseline = Annotated["AnyScores | None", baseline_setting("the first run", "mean")]
RiskAversion = Annotated[float, Setting("A loss weighs 1 + A times as much as a gain: the α of URisk.",
    ranges.RISK_AVERSION, metavar="A", short="A loss weighs 1 + A times as much as a gain.")]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Risk(ScoredFrame):
    """Risk of runs: the frame of `risk`, its scores, and the extra weight of a loss."""

    scores: Matrix
    aversion: float

    @property
    def settings_text(self) -> str:
        """Baseline, weight of a loss, and units."""
        baseline, runs = self.frame["baseline"].iloc[0], len(kernel.results.distinct(self.frame, "run"))
        weight = f"α {self.aversion:g}: a loss counts {1 + self.aversion:g} times"
        measures = list(dict.fromkeys(self.frame["measure"]))
        remarks = tables.describe_readings(self.scores, measures, tested=False)
        units = tables.describe_scales(self.scores, measures, "URisk")
        return " | ".join([visible(f"baseline {baseline}"), weight, f"GeoRisk among {runs} runs", *remarks, *units])

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each run and measure."""
        columns: DisplayColumns = {
            **tables.plain_columns(Column("measure"), Column("run")),
            Column("mean", "score"): total_formatter(self.scores, "mean"),
            Column("baseline mean", "score", wide=True): total_formatter(self.scores, "baseline_mean"),
            WINS: format_wins,
            Column("URisk", "signed"): itemgetter("u_risk"),
            Column("TRisk", "signed", digits=2): itemgetter("t_risk"),
            Column("ZRisk", "signed", digits=2): itemgetter("z_risk"),
            Column("GeoRisk", "score"): itemgetter("geo_risk"),
        }
        under = tables.signature_lines(self.settings_text, self.signature)
        return tables.frame_document(self.frame, layout, columns, under, signed=True)


def _is_mean(baseline: Any, scores: AnyScores) -> bool:
    """Return whether a baseline is the mean of all runs: `mean`, unless a run has that name."""
    named = isinstance(baseline, str) and baseline == score_matrix.MEAN
    return named and baseline not in score_matrix.to_matrix(scores).runs


def check_runs(runs: int) -> None:
    """Raise InputError (usage) for fewer than two runs."""
    score_matrix.require_two_runs("risk", runs, f"add a run or {flag.baseline}")


@kernel.takes_options("reading", "replicates")
@public
@kernel.shares_work
def risk(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    baseline: Baseline = None,
    risk_aversion: RiskAversion = 5,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Risk:
    """Measure the risk of runs, by every measure, on the topics that all runs share: losses weigh more than wins.

    runs            as in `gradedeval.evaluate`; without `qrels` results of `evaluate` or saved scores: one or a list
    qrels           as in `evaluate`, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are
                    computed
    baseline        one of the runs (None: the first), saved scores of a run, as a file, a DataFrame or `Scores`, or
                    "mean", the mean of all runs on each topic
    risk_aversion   the α of URisk, 0 or more: a loss weighs 1 + α times; 5 as in the TREC 2014 Web track

    Returns `Risk`, whose `.frame` has the columns measure, run, baseline, topics, mean, baseline_mean, wins, ties,
    losses (topics), u_risk (URisk, the mean of wins and weighted losses: Wang et al., SIGIR 2012), t_risk (TRisk,
    URisk / its standard error, below −2 a significant risk: Dinçer et al., SIGIR 2014), z_risk and geo_risk (ZRisk
    and GeoRisk against the scores expected from all runs: Dinçer et al., SIGIR 2016). The baseline is among the
    runs. z_risk and geo_risk are blank for negative scores and if lower is better; measures without a preferred
    direction are left out; both raise a warning of the class `gradedeval.EvaluationWarning`. Raises InputError
    (usage) for fewer than two runs, an invalid `risk_aversion`, and if no measure is left, and InputError for a
    measure with a single topic.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> gradedeval.risk(runs, "qrels_samples/rivers.qrels", "err@20").frame[["run", "losses", "u_risk"]].round(3)
                     run  losses  u_risk
    0    rivers-bm25.run       0   0.000
    1  rivers-neural.run       3   0.364
    """
    aversion = ranges.RISK_AVERSION.check(risk_aversion)
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    is_mean = _is_mean(baseline, scores)
    matrix, name = score_matrix.with_baseline(scores, None if is_mean else baseline)
    check_runs(len(matrix.runs))
    baseline_index = None if is_mean else matrix.run_index(matrix.runs[0] if name is None else name)
    usable, left_out = _measures_with_direction(matrix)
    frames = [kernel.results.to_frame(_columns(paired, baseline_index, aversion)) for paired in usable]
    frame = kernel.results.joined(frames)
    blank = list(dict.fromkeys(frame["measure"][frame["geo_risk"].isna()]))
    notes = [f"{', '.join(left_out)}: left out: no preferred direction"] if left_out else []
    problem = "no ZRisk or GeoRisk; both need means of scores that are never below 0, and the higher the better"
    emit_notes([*notes, *([f"{', '.join(blank)}: {problem}"] if blank else [])])
    return Risk(frame, matrix, aversion)


def _measures_with_direction(matrix: score_matrix.Matrix) -> tuple[list[score_matrix.Paired], list[str]]:
    """Return the scores by measures with a direction, and the other measures. Raises InputError (usage) for none."""
    compared = [score_matrix.shared_topics(matrix, label) for label in matrix.comparable_measures()]
    usable = [paired for paired in compared if paired.reading.better != "neither"]
    if not usable:
        problem = f"by {shorten([paired.measure for paired in compared])} neither run is better"
        raise InputError("", problem, f"name a measure such as {flag.measures:ap}", usage=True)
    return usable, [paired.measure for paired in compared if paired.reading.better == "neither"]


def _columns(paired: Paired, baseline: int | None, aversion: float) -> dict[str, Any]:
    topics, reading, summaries = len(paired.topics), paired.reading, paired.summaries
    base = paired.values.mean(0) if baseline is None else paired.values[baseline]
    differences = reading.sign * (paired.values - base)
    differences[np.abs(differences) <= TOLERANCE] = 0
    weighted = weigh_losses(differences, aversion)
    expectable = reading.better == "higher" and reading.summary != "geometric" and (paired.score >= 0).all()
    z_risk, geo_risk = geometric_risk(paired.score, aversion) if expectable else (np.nan, np.nan)
    return {
        "measure": paired.measure,
        "run": np.array(paired.runs, dtype=object),
        "baseline": MEAN_OF_RUNS if baseline is None else paired.runs[baseline],
        "topics": topics,
        "mean": summaries,
        "baseline_mean": reading.of_mean(base.mean(), topics) if baseline is None else summaries[baseline],
        "wins": (differences > 0).sum(1),
        "ties": (differences == 0).sum(1),
        "losses": (differences < 0).sum(1),
        "u_risk": weighted.mean(1),
        "t_risk": significance.effect_size(weighted) * math.sqrt(topics),
        "z_risk": z_risk,
        "geo_risk": geo_risk,
    }


def weigh_losses(differences: Floats, aversion: float) -> Floats:
    """Multiply the negative differences by 1 + the aversion."""
    return np.where(differences < 0, (1 + aversion) * differences, differences)


def geometric_risk(score: Floats, aversion: float) -> tuple[Floats, Floats]:
    """Return ZRisk and GeoRisk of each run.

    score  runs × topics, never negative

    The expected score of a run on a topic is e = sum of the run · sum of the topic / sum of all, as in a χ² table,
    and z = (score − e) / √e, losses weighted. ZRisk is the sum of z, GeoRisk √(mean score · Φ(ZRisk / topics)), Φ
    the normal distribution. Dinçer, Macdonald & Ounis, SIGIR 2016.
    """
    total = score.sum()
    expected = np.outer(score.sum(1), score.sum(0)) / (total or 1)
    z = (score - expected) / np.sqrt(np.where(expected > 0, expected, 1))
    z_risk = weigh_losses(z, aversion).sum(1)
    normal = np.array([0.5 * math.erfc(-mean / math.sqrt(2)) for mean in (z_risk / score.shape[1]).tolist()])
    return z_risk, np.sqrt(score.mean(1) * normal)
