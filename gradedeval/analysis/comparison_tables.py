"""Comparisons and risks -> tables: which columns people see, and how the numbers were made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.anova import anova
from gradedeval.analysis.compare import TestSettings, tests_of
from gradedeval.analysis.comparison_notes import interval_title, interval_words
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.significance import p_value
from gradedeval.analysis.tables import Row, Shown, frame_document, ratio, readings, same, scales, signature_lines
from gradedeval.errors import InputError, visible
from gradedeval.formats import Column, Document, Layout
from gradedeval.measures.bounds.of_measure import falls
from gradedeval.measures.parse import parse_measures

if TYPE_CHECKING:
    import pandas as pd


FLIP_SHARE = 0.1
"""A table tells how many documents turn an order round where they are no more than this share of the unjudged ones."""


def comparison_settings(
    frame: pd.DataFrame, matrix: Matrix, test_settings: TestSettings, share: float = FLIP_SHARE
) -> str:
    """What differences are from, how they were tested, and what the interval is."""
    measures = list(dict.fromkeys(frame["measure"]))
    tests, alpha = tests_of(frame, matrix, test_settings), test_settings.alpha
    mark = f"* probability ≥ {1 - alpha:.10g}" if test_settings.test == "bayes" else f"* p ≤ {alpha:g}"
    interval, *counted = interval_words(frame, test_settings)
    against = [] if frame["baseline"].nunique() > 1 else [visible(f"baseline {frame['baseline'].iloc[0]}")]
    flips = "order flips: unjudged documents of the lower run"
    flips += f", told up to {share:.0%} of them" if share < 1 else ", given the top grade"
    told, turning = [], list(dict.fromkeys(frame["measure"][frame["flip"].notna()]))
    if turning:
        kept = [measure for measure in turning if _may_fall(matrix.notations[matrix.measure_index(measure)])]
        told = [f"{flips}; of {', '.join(kept)} with R and the ideal ranking as judged" if kept else flips]
    return "\n".join([" | ".join([*against, *tests, mark, interval, *told, *readings(matrix, measures)]), *counted])


def _may_fall(notation: str) -> bool:
    """Whether judging may lower a score by a measure: what its flips count is then no completion of the judgments."""
    try:
        (measure,) = parse_measures(notation)
    except (InputError, ValueError):  # a measure of the user's own
        return True
    return falls(measure)


def whole(matrix: Matrix, name: str, sign: str = "") -> Callable[[Row], Any]:
    """What a column shows: the totals of counts are whole numbers."""

    def shown(row: Row) -> Any:
        value, reading = row[name], matrix.reading(matrix.measure_index(row["measure"]))
        counted = reading.summary == "total" and value is not None and float(value).is_integer()
        return f"{value:{sign}.0f}" if counted else value

    return shown


def comparison_document(
    frame: pd.DataFrame,
    matrix: Matrix,
    test_settings: TestSettings,
    settings: str,
    layout: Layout,
    share: float = FLIP_SHARE,
) -> Document:
    """The result of `compare`; with anova the analysis of variance too."""
    pairs = len(frame) // frame["measure"].nunique()
    title = f"p ({test_settings.correction_applied})" if test_settings.corrects(pairs) else "p"
    shown: Shown = {
        **same(Column("measure"), Column("run"), *([Column("baseline")] if frame["baseline"].nunique() > 1 else [])),
        Column("mean", "score"): whole(matrix, "mean"),
        Column("baseline mean", "score"): whole(matrix, "baseline_mean"),
        Column("difference", "signed"): whole(matrix, "difference", "+"),
        Column("%", "percent"): itemgetter("relative"),
        Column(interval_title(test_settings, pairs), "figures"): partial(_interval, alpha=test_settings.alpha),
        WON: _won,
        Column("effect", "signed", digits=2): itemgetter("effect"),
        **_verdict(test_settings, title),
        Column("order"): lambda row: _order(row, matrix, share),
    }
    document = frame_document(frame, layout, shown, signature_lines(settings, matrix.signature), signed=True)
    if test_settings.test != "anova":
        return document
    variances = frame_document(anova(matrix), layout, ANOVA, "").table
    if layout == "long":
        return replace(
            document, head={"anova": [dict(zip(variances.names, row, strict=True)) for row in variances.rows]}
        )
    return replace(document, blocks=[*document.blocks, variances])


def _interval(row: Row, alpha: float) -> str | None:
    """Of a ratio of geometric means, or of a difference; an end of no difference is open where the test rejects it."""
    if row["low"] is None:
        return None
    number, equal = (ratio, 1) if row["tested"] == "ratio" else ("{:+.4f}".format, 0)
    rejected = row.get("p", 1) <= alpha
    low, high = (
        f"{sign}{number(equal).lstrip('+')}" if rejected and row[end] == equal else number(row[end])
        for end, sign in (("low", ">"), ("high", "<"))
    )
    return f"{low} to {high}"


def _won(row: Row) -> str:
    """Only ties where neither score is better."""
    won, tied, lost = (row[name] for name in ("wins", "ties", "losses"))
    return f"–/{tied}/–" if won is None else f"{won}/{tied}/{lost}"


def _order(row: Row, matrix: Matrix, share: float) -> str:
    """Whether judging could turn the order of two runs round, and what it takes."""
    if row["conclusive"] is None:
        scored = set() if matrix.scores is None else {run.run for run in matrix.scores.runs}
        saved = not {row["run"], row["baseline"]} <= scored and _has_residual(row["measure"])
        return "residual not saved" if saved else "no residual"
    if row["conclusive"]:
        return "conclusive"
    if row["flip"] is None:
        return "inconclusive" if row["unjudged"] is None else "not by unjudged alone"
    if row["flip_share"] > share:
        return f"flips above {share:.0%}"
    are = "have the top grade" if share == 1 else "are relevant"
    return f"flips if {row['flip']} of {row['unjudged']} unjudged {are} (rank ≤ {row['flip_rank']})"


def _has_residual(measure: str) -> bool:
    """Whether a measure has a residual, as far as it is known here."""
    try:
        (known,) = parse_measures(measure)
    except (InputError, ValueError):
        return False
    return known.residual != "none"


ANOVA: Shown = {
    **same(Column("measure"), Column("source")),
    Column("sum of squares", "score"): itemgetter("squares"),
    **same(Column("df", "count")),
    Column("mean square", "number"): itemgetter("mean_square"),
    Column("F", "score", digits=2): itemgetter("f"),
    Column("p", "figures"): lambda row: None if row["p"] is None else p_value(row["p"]),
}
"""The analysis of variance for people."""


WON = Column("won/tied/lost", "figures")


def _verdict(settings: TestSettings, title: str) -> Shown:
    """p, or the posterior probabilities, with an asterisk where they reach the level."""
    alpha = settings.alpha
    if settings.test != "bayes":
        return {Column(title, "figures"): lambda row: _starred(row["p_corrected"], alpha)}

    def probability(name: str) -> Callable[[Row], str | None]:
        return lambda row: None if row[name] is None else f"{row[name]:.4f}" + ("*" if row[name] >= 1 - alpha else " ")

    return {Column(f"P({name})", "figures"): probability(name) for name in ("better", "equivalent", "worse")}


def _starred(p: float | None, alpha: float) -> str | None:
    """A p value with an asterisk if it is significant."""
    return None if p is None else p_value(p) + ("*" if p <= alpha else " ")


# Risk


def risk_settings(frame: pd.DataFrame, matrix: Matrix, alpha: float) -> str:
    """What runs are compared with, and how much a loss counts."""
    baseline, runs = frame["baseline"].iloc[0], frame["run"].nunique()
    weight = f"α {alpha:g}: a loss counts {1 + alpha:g} times"
    measures = list(dict.fromkeys(frame["measure"]))
    told, units = readings(matrix, measures, tested=False), scales(matrix, measures, "URisk")
    return " | ".join([visible(f"baseline {baseline}"), weight, f"GeoRisk among {runs} runs", *told, *units])


def risk_document(frame: pd.DataFrame, matrix: Matrix, settings: str, layout: Layout) -> Document:
    """The result of `risk`."""
    shown: Shown = {
        **same(Column("measure"), Column("run")),
        Column("mean", "score"): whole(matrix, "mean"),
        Column("baseline mean", "score"): whole(matrix, "baseline_mean"),
        WON: _won,
        Column("URisk", "signed"): itemgetter("u_risk"),
        Column("TRisk", "signed", digits=2): itemgetter("t_risk"),
        Column("ZRisk", "signed", digits=2): itemgetter("z_risk"),
        Column("GeoRisk", "score"): itemgetter("geo_risk"),
    }
    return frame_document(frame, layout, shown, signature_lines(settings, matrix.signature), signed=True)
