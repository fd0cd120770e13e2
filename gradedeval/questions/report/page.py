"""`report`: an evaluation as the text of one HTML page."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import __version__, kernel
from gradedeval.analysis import pairs, significance
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import InputError, emit_notes, plural, public
from gradedeval.kernel import AnyMeasure, Column, Measure, OptionKwargs, Options, Setting, Table, parse_measures, ranges
from gradedeval.questions.compare import format_wins
from gradedeval.questions.limits import margins
from gradedeval.questions.report import views
from gradedeval.questions.shared import DEFAULT_DEPTH, Alpha, Correction, Draws, Measures, Rope, Seed, Test

if TYPE_CHECKING:
    from gradedeval.analysis.pairs import Pair, Prospect
    from gradedeval.analysis.significance import TestSettings

Baseline = Annotated[str | None, Setting("Compare every run with this one: one of RUN, or another file.", metavar="RUN",
    default_text="the first", reads=True, short="Run to compare with; the first by default.")]  # fmt: skip
At = Annotated[int, Setting("Depth of the count of unjudged documents.", ranges.AT, "N")]
Show = Annotated[int, Setting("Number of ranks of each ranking.", ranges.SHOW, "N")]
NoWorse = Annotated[Any, Setting("Say whether each run is no worse than the baseline, as `check --no-worse` does: "
    "whether the topics rule out a drop of the mean by X, or by X percent of the baseline's mean.",
    metavar="[MEASURE=]X|X%", repeats=True, short="Say whether a drop by X is ruled out.")]  # fmt: skip

SCORE = Column("", "score")


def number(value: float | None, measure: Measure | None = None) -> str:
    """Format a score; totals of counts are whole numbers."""
    counted = measure is not None and measure.definition.summary == "total"
    if value is None or math.isnan(value):
        return ""
    return f"{value:.0f}" if counted and float(value).is_integer() else SCORE.cells([float(value)])[0]


def run_rows(findings: views.Findings) -> list[dict[str, Any]]:
    """Return a row for each run: a cell for each measure, and the unjudged documents among its first ranks."""
    summaries = {(row.run, row.measure): row for row in findings.scores.rows(by_topic=False)}
    comparisons = {(row["run"], row["measure"]): row for row in findings.compared.rows}
    columns = []
    for column, measure in enumerate(findings.measures):
        rows = [summaries[run, measure.label] for run in findings.runs]
        alike = not _differing(findings, column)
        scale, best = _scale(rows), _best(rows, findings.matrix.reading(column).better) if alike else None
        columns.append(
            [
                _cell(row, measure, comparisons.get((row.run, row.measure)), findings, scale)
                | {"best": row.score is not None and best is not None and abs(row.score - best) <= TOLERANCE}
                for row in rows
            ]
        )
    top = {row["run"]: row for row in kernel.results.to_rows(findings.unjudged) if row["depth"] == findings.settings.at}
    return [
        {
            "name": run,
            "is_baseline": run == findings.baseline,
            "cells": [cells[index] for cells in columns],
            "unjudged": f"{top[run]['per_topic']:.1f}",
            "of_all": f"{top[run]['unjudged']} of {top[run]['documents']}",
        }
        for index, run in enumerate(findings.runs)
    ]


def _differing(findings: views.Findings, column: int) -> list[int]:
    """Return the number of topics of each run's mean if the runs differ in topics; else nothing."""
    included = findings.matrix.included[:, :, column]
    return [] if (included == included[0]).all() else included.sum(1).tolist()


def different_topics(findings: views.Findings) -> Iterator[str]:
    """Yield a line for each measure by which the means of runs are over different topics."""
    for column, measure in enumerate(findings.measures):
        if counts := _differing(findings, column):
            numbers = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]} each"
            shared = _on_topics(findings, column)
            comparison = f"runs are compared{shared}" if shared else "nothing is compared"
            problem = f"the means are over different topics ({numbers}), so that none is called the best"
            yield f"{measure.label}: {problem}; {comparison}"


def _on_topics(findings: views.Findings, column: int) -> str:
    """Return the topics on which runs are compared, in words; "" if all."""
    shared, topics = int(findings.matrix.included[:, :, column].all(0).sum()), len(findings.matrix.topics)
    return f" on the {shared} of {topics} topics that all runs are scored on" if 0 < shared < topics else ""


def _ends(row: kernel.scores.Row) -> dict[str, float]:
    """Return the known numbers of a bar: the score, the ends of its interval, and the maximum."""
    most = None if row.score is None or row.residual is None else row.score + row.residual
    named = {"score": row.score, "low": row.low, "high": row.high, "most": most}
    return {name: value for name, value in named.items() if value is not None and math.isfinite(value)}


def _scale(rows: list[kernel.scores.Row]) -> tuple[float, float]:
    """Return the lower and upper end of the bars of a measure."""
    ends = [0.0, *(value for row in rows for value in _ends(row).values())]
    low, high = min(ends), max(ends)
    return low, high if high > low else low + 1.0


def _best(rows: list[kernel.scores.Row], better: str) -> float | None:
    """Return the best score; None of a single one, and without a preferred direction."""
    scores = [row.score for row in rows if row.score is not None]
    if better == "neither" or len(scores) < 2:
        return None
    return min(scores) if better == "lower" else max(scores)


def _cell(
    row: kernel.scores.Row,
    measure: Measure,
    pair: dict[str, Any] | None,
    findings: views.Findings,
    scale: tuple[float, float],
) -> dict[str, Any]:
    """Return a cell: its text and mark, and the bar of its interval and residual, in words too."""
    level = f"{100 * (findings.scores.options.interval or 0):.10g}%"
    ends, (low, high) = _ends(row), scale
    words = [number(row.score, measure)]
    if {"low", "high"} <= ends.keys():
        words.append(f"{level} interval {number(ends['low'])} to {number(ends['high'])}")
    if "most" in ends:
        words.append(f"at most {number(ends['most'])} if all that is open had the top grade")
    places = {name: round(100 * (value - low) / (high - low), 2) for name, value in {**ends, "zero": 0.0}.items()}
    cell: dict[str, Any] = {"text": number(row.score, measure), "value": row.score, "words": "; ".join(words)}
    cell["bar"] = dict.fromkeys(("score", "low", "high", "most")) | places
    if pair is not None:
        cell["won"] = format_wins(pair)
        cell["mark"], cell["tested"] = _mark(pair, findings.settings.test)
    return cell


def _mark(pair: dict[str, Any], test: TestSettings) -> tuple[str, str]:
    """Return the mark of a run that differs from the baseline, and its p-value or probabilities in words."""
    if test.test == "bayes":
        probabilities = {name: pair[name] for name in ("better", "worse") if pair[name] is not None}
        words = ", ".join(f"P({name}) {value:.4f}" for name, value in probabilities.items())
        return "*" if any(value >= 1 - test.alpha for value in probabilities.values()) else "", words
    p = pair["p_corrected"]
    return ("", "") if p is None else ("*" if p <= test.alpha else "", f"p {significance.p_value(p)}")


def unknowns(findings: views.Findings) -> list[dict[str, Any]]:
    """Return by measure which pairs keep their order, and a sentence for each other, the most easily reversed first."""
    parts = []
    for column, measure in enumerate(findings.measures):
        comparisons = [row for row in findings.compared.rows if row["measure"] == measure.label]
        open_ = [row for row in comparisons if row["same_order"] is False]
        open_.sort(key=lambda row: (row["reversing"] is None, row["reversing"] or 0))
        topics = _on_topics(findings, column)
        sentences = [_reversing(row, topics, findings.compared.reversible) for row in open_]
        parts.append({"measure": measure.label, "same": _same_order(comparisons, topics), "sentences": sentences})
    return parts


NAMED = 5
"""Maximum number of runs that are named in a sentence; more are counted."""


def _same_order(rows: list[dict[str, Any]], topics: str) -> str:
    """Return a sentence with the pairs that keep their order by a measure."""
    if not rows:
        return "Not compared: no topic is scored for all runs."
    if all(row["same_order"] is None for row in rows):
        return "This measure has no residual, so the effect of unjudged documents is unknown."
    parts, same = [], [row for row in rows if row["same_order"] is True]
    for sign, order in ((1, "above"), (-1, "below"), (0, "level with")):
        runs = [row["run"] for row in same if (row["difference"] > 0) - (row["difference"] < 0) == sign]
        if runs:
            named = ", ".join(runs) if len(runs) <= NAMED else f"{len(runs)} runs"
            parts.append(f"{named} {'stays' if len(runs) == 1 else 'stay'} {order} {rows[0]['baseline']}")
    if not parts:
        return "No order is certain: judging could reverse it, or its effect is unknown."
    count = "" if len(rows) == 1 else f" ({len(same)} of {len(rows)} runs)"
    return f"More judging cannot change this{count}: {'; '.join(parts)}{topics}."


_PROSPECTS: dict[Prospect, str] = {
    "could be reversed": "could be reversed by further judging",
    "could be tied": "could become a tie, but not be reversed",
    "unknown": "is unknown: its bounds allow another one, but no judgments were found that lead to it",
}


def _reversing(row: dict[str, Any], topics: str, reversible: frozenset[Pair]) -> str:
    """Return a sentence on how further judging could reverse the order of a run and the baseline."""
    run, baseline, difference = row["run"], row["baseline"], row["difference"]
    ahead, behind = (run, baseline) if difference > 0 else (baseline, run)
    pair = f"The order of {ahead} (higher by {abs(difference):.4f}{topics}) and {behind}"
    event = f"{behind} would overtake {ahead} (ahead by {abs(difference):.4f}{topics})"
    if difference == 0:
        pair = f"The tie of {run} and {baseline}{topics}"
        event = f"{pair} would be broken"
    if row["reversing"] is None:
        return f"{pair} {_PROSPECTS[pairs.describe_prospect(row, reversible)]}"
    count, unjudged = row["reversing"], row["unjudged"]
    documents = f"{count:,} of {unjudged:,} unjudged {plural(unjudged, 'document')}"
    return f"{event} if {documents} were relevant (top grade); the deepest is at rank {row['reversing_rank']}"


def sizes(findings: views.Findings) -> Iterator[str]:
    """Yield the numbers of runs, topics and measures, for the head of the page."""
    for noun, parts in (("run", findings.runs), ("topic", findings.matrix.topics), ("measure", findings.measures)):
        yield f"{len(parts):,} {plural(len(parts), noun)}"


MOST_BYTES = 20_000_000
"""Maximum size of a page; beyond it, only the topics that differ most have rankings."""
MOST_CELLS = 60_000
"""Maximum number of cells of all heat maps together: more make a page slow to open."""
NAMED_IN_MAP = 120
"""Maximum number of topics named in a heat map; with more its rows are broken into lines, and the table names them."""
MADE_WITH = ("numpy", "pandas", "scipy", "jinja2")


@kernel.takes_options(
    "reading",
    "unseen",
    "queries",
    "slices",
    "replicates",
    residuals="leave it out: a page always has them",
    interval="give alpha, as in alpha=0.05: a page always has it",
)
@public
@kernel.shares_work
def html_report(
    runs: Any,
    qrels: Any,
    measures: Measures = kernel.parse.DEFAULT,
    *,
    baseline: Baseline = None,
    test: Test = "randomization",
    correction: Correction = None,
    rope: Rope = None,
    alpha: Alpha = 0.05,
    draws: Draws = 10_000,
    seed: Seed = 0,
    at: At = DEFAULT_DEPTH,
    show: Show = views.SHOW,
    no_worse: NoWorse = (),
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> str:
    """Write a report of runs as the text of one self-contained HTML page: scores with intervals and residuals,
    comparisons with a baseline, topics, two rankings side by side, judgments, and all settings.

    baseline  name of the run that the remaining runs are compared with; None: the first
    test      and correction, draws, alpha, seed, rope: as in `compare`; 1 − alpha is also the level of intervals
    at        depth of the count of unjudged documents next to the scores
    show      number of ranks of each ranking
    no_worse  margins, as of `check`: the page says whether each run is no worse than the baseline

    The remaining arguments are as in `evaluate`, except for `residuals` and `interval`, which the page always has.
    Needs jinja2 (`pip install 'gradedeval[report]'`). Raises InputError as `evaluate` and `compare` do; skipped data
    and assumptions are warnings, and are listed on the page.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> page = gradedeval.html_report(runs, "qrels_samples/rivers.qrels", "err@20", test="t")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    tested = significance.TestSettings(test, correction, draws, alpha, seed, rope)
    settings = views.ReportSettings(tested, at, show, no_worse)
    return report_of(runs, qrels, measures, settings, kernel.resolve_options(like, **keywords), baseline)


def report_of(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure],
    settings: views.ReportSettings,
    options: Options,
    baseline: str | None,
    command: str = "",
) -> str:
    """Return the page of `html_report`, with the command line if there is one."""
    views.page_template()  # fails before runs are read if jinja2 is missing
    chosen = parse_measures(measures)
    limits = margins(settings.no_worse, [measure.label for measure in chosen])
    chosen = kernel.parse.without_duplicates([*chosen, *(parse_measures(limit.measure)[0] for limit in limits)])
    if not chosen:
        raise InputError("", "no measure given", "for example 'err@20 ndcg@10'", usage=True)
    findings = views.collect(kernel.named_runs(runs, qrels), qrels, chosen, options, baseline, settings)
    emit_notes(findings.notes)
    return page(findings, command)


def page(findings: views.Findings, command: str = "", most_bytes: int = MOST_BYTES) -> str:
    """Return the page.

    command     the command line; empty in Python
    most_bytes  maximum size, unless it is larger without any ranking
    """
    template, context = views.page_template(), _context(findings, command)
    by_name = dict(zip(findings.ranked.names, views.rankings(findings), strict=True))
    parts = [by_name.get(topic, "null") for topic in findings.matrix.topics]

    def text(topics: Sequence[int]) -> str:
        first = views.default_topic(findings, context["pair"], topics or range(len(parts)))
        data = views.as_json({**context["data"], "shown": list(topics), "topic": first})
        return template.render({**context, "data": data}, rankings=[(topic, parts[topic]) for topic in topics])

    if sum(map(len, parts)) < most_bytes:  # as a rule all fit, and the page is made once
        whole = text(range(len(parts)))
        if len(whole.encode()) <= most_bytes:
            return whole
    remaining = most_bytes - len(text([]).encode())
    return text(sorted(_fitting(views.most_different(findings), parts, remaining)))


def _fitting(order: Sequence[int], parts: Sequence[str], room: int) -> Iterator[int]:
    """Yield the first topics of an order whose rankings fit into `room` bytes."""
    for topic in order:
        room -= len(parts[topic].encode()) + AROUND
        if room < 0:
            return
        yield topic


AROUND = 80
"""Number of bytes of the element around the rankings of a topic, and of its number in the data."""


def _context(findings: views.Findings, command: str) -> dict[str, Any]:
    """Return the values of the template, except for the rankings."""
    columns, matrix, pair = range(len(findings.measures)), findings.matrix, views.default_pair(findings)
    fitting = max(MOST_CELLS // (len(findings.runs) * len(columns)), 1)
    mapped = sorted(views.most_different(findings)[:fitting])
    (style, style_hash), (script, script_hash) = views.inline("report.css"), views.inline("report.js")
    return {
        "findings": findings,
        "style": style,
        "script": script,
        "policy": f"style-src {style_hash}; script-src {script_hash}",
        **{function.__name__: function for function in (sizes, run_rows, different_topics, unknowns, sortable)},
        **{
            function.__name__: function
            for function in (views.judged_by_run, views.unjudged_by_run, views.unique_by_run, views.grades_by_topic)
        },
        "differences_caption": views.differences_caption,
        "legend": views.legend(findings),
        "slices": views.slice_tables(findings),
        "mapped": mapped,
        "many": len(mapped) > NAMED_IN_MAP,
        "heat_maps": [views.heat_map(findings, column, mapped) for column in columns],
        "topic_rows": [views.topic_rows(findings, column, pair) for column in columns],
        "pair": pair,
        "scores": views.as_json(views.scores_of_topics(findings) if len(mapped) == len(matrix.topics) else None),
        "data": {
            "measures": [views.on_page(measure.label) for measure in findings.measures],
            "runs": list(map(views.on_page, findings.runs)),
            "topics": list(map(views.on_page, matrix.topics)),
            "texts": [views.on_page(findings.texts.get(topic, "")) for topic in matrix.topics]
            if findings.texts
            else [],
            "show": findings.settings.show,
            "grades": views.grade_classes(findings),
            "mapped": mapped,
            "pair": pair,
        },
        "how": how(findings, command),
    }


def sortable(table: Table) -> dict[str, Any]:
    """Return a table for the page: texts, alignment, and no empty column."""
    # Keeps a first word of one letter, as in `± sd` and `p (holm)`, from a line of its own.
    names = [f"{name[0]}\N{NO-BREAK SPACE}{name[2:]}" if name[1:2] == " " else name for name in table.names]
    return {"names": names, "left": table.left, "rows": table.cells()[1:]}


def how(findings: views.Findings, command: str) -> list[tuple[str, list[str]]]:
    """Return how the page was made: headings, each with lines."""
    versions = [f"gradedeval {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{name} {metadata.version(name)}" for name in MADE_WITH]
    systems = [] if findings.systems is None else findings.systems.lines
    parts = [
        ("Command line", [command]),
        ("Scores", findings.scores.signature.split(" | ")),
        ("Comparisons", findings.compared.settings.split(" | ")),
        ("Systems", systems),
        ("Versions", versions),
        ("Notes", [str(note) for note in findings.notes]),
    ]
    return [(name, [line for line in lines if line]) for name, lines in parts if any(lines)]
