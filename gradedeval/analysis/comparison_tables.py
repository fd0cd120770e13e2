"""Comparisons and risks -> tables: which columns people see, and how the numbers were made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.anova import anova
from gradedeval.analysis.compare import tests_of
from gradedeval.analysis.comparison_notes import interval_title, interval_words
from gradedeval.analysis.prospects import measures_that_reach, prospect
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.significance import TestSettings, p_value
from gradedeval.analysis.tables import Row, Shown, frame_document, ratio, readings, same, scales, signature_lines
from gradedeval.analysis.unseen import IF_JUDGED, depends_on_unseen
from gradedeval.errors import visible
from gradedeval.formats import Column, Document, Layout, Table

if TYPE_CHECKING:
    import pandas as pd


def comparison_settings(frame: pd.DataFrame, matrix: Matrix, test_settings: TestSettings) -> str:
    """What differences are from, how they were tested, and what the interval is."""
    measures = list(dict.fromkeys(frame["measure"]))
    tests, alpha = tests_of(frame, matrix, test_settings), test_settings.alpha
    mark = f"* probability ≥ {1 - alpha:.10g}" if test_settings.test == "bayes" else f"* p ≤ {alpha:g}"
    interval, *counted = interval_words(frame, test_settings)
    against = [] if frame["baseline"].nunique() > 1 else [visible(f"baseline {frame['baseline'].iloc[0]}")]
    return "\n".join([" | ".join([*against, *tests, mark, interval, *readings(matrix, measures)]), *counted])


def judging_words(frame: pd.DataFrame, matrix: Matrix) -> str:
    """What is meant by documents that would reverse an order, where some would."""
    reversing = list(dict.fromkeys(frame["measure"][frame["flip"].notna()]))
    kept = [measure for measure in reversing if depends_on_unseen(matrix.notations[matrix.measure_index(measure)])]
    said = f"{IF_JUDGED}: the documents that would reverse an order are of the run behind, given the top grade"
    of = f"; of {', '.join(kept)} with R and the ideal ranking as judged" if kept else ""
    return f"{said}{of}" if reversing else ""


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
    judging: bool = False,
) -> Document:
    """The result of `compare`; with anova the analysis of variance too.

    judging  whether people see what more judging could do to the order of each pair
    """
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
    }
    document = frame_document(frame, layout, shown, signature_lines(settings, matrix.signature), signed=True)
    if judging and layout == "wide":
        words = [said] if (said := judging_words(frame, matrix)) else []
        document = replace(document, blocks=[*document.blocks, judging_table(frame, matrix), *words])
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


def judging_table(frame: pd.DataFrame, matrix: Matrix) -> Table:
    """Whether more judging could reverse the order of each pair: how low and how high its difference could come."""
    shown: Shown = {
        **same(Column("measure"), Column("run"), Column("baseline")),
        Column("difference", "signed"): whole(matrix, "difference", "+"),
        Column("lowest", "signed"): whole(matrix, "lowest", "+"),
        Column("highest", "signed"): whole(matrix, "highest", "+"),
        Column(IF_JUDGED): partial(if_fully_judged, reached=measures_that_reach(frame, matrix)),
    }
    (table,) = frame_document(frame, "wide", shown, "").blocks
    assert isinstance(table, Table)
    return table


def if_fully_judged(row: Row, reached: frozenset[str] = frozenset()) -> str:
    """Whether judging could reverse the order of two runs, and what it takes.

    reached  the measures by which some judgments lead to `lowest` and `highest`
    """
    if row["flip"] is None:
        return prospect(row, reached)
    are = "doc is" if row["flip"] == row["unjudged"] == 1 else "docs are" if row["flip"] > 1 else "docs is"
    return f"reverses if {row['flip']:,} of {row['unjudged']:,} unjudged {are} relevant"


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
