"""`report`: an evaluation as the text of one HTML page."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from itertools import compress
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import __version__, kernel
from gradedeval.analysis import significance
from gradedeval.analysis.pairs import Pair, Prospect, prospect
from gradedeval.arrays import TOLERANCE
from gradedeval.errors import InputError, emit_notes, plural, public
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Measure,
    OptionKwargs,
    Options,
    Setting,
    Table,
    parse_measures,
    ranges,
    resolve_options,
    shares_work,
    takes_options,
)
from gradedeval.questions.compare import format_wins
from gradedeval.questions.report import views
from gradedeval.questions.report.views import (
    SHOW,
    Findings,
    ReportSettings,
    alone_by_run,
    as_json,
    differences_caption,
    find,
    grade_classes,
    grades_by_topic,
    inline,
    judged_by_run,
    legend,
    most_different,
    on_page,
    page_template,
    rankings,
    scores_of_topics,
    unjudged_by_run,
)
from gradedeval.questions.shared import DEFAULT_DEPTH, Alpha, Correction, Draws, Measures, Rope, Seed, Test

if TYPE_CHECKING:
    from gradedeval.analysis.significance import TestSettings

Baseline = Annotated[str | None, Setting("Compare every run with this one: one of RUN, or another file.", metavar="RUN",
    default_text="the first", reads=True)]  # fmt: skip
At = Annotated[int, Setting("Depth of the count of unjudged documents.", ranges.AT, "N")]
Show = Annotated[int, Setting("Number of ranks of each ranking.", ranges.SHOW, "N")]

# The first page of a report: runs × measures, and in words what is not known.


SCORE = Column("", "score")


def number(value: float | None, measure: Measure | None = None) -> str:
    """A score as people read it: the totals of counts are whole numbers."""
    counted = measure is not None and measure.definition.summary == "total"
    if value is None or math.isnan(value):
        return ""
    return f"{value:.0f}" if counted and float(value).is_integer() else SCORE.cells([float(value)])[0]


def run_rows(found: Findings) -> list[dict[str, Any]]:
    """A row for each run: its cells, one a measure, and the unjudged documents among its first ranks."""
    summaries = {(row.run, row.measure): row for row in found.scores.rows(by_topic=False)}
    pairs = {(row["run"], row["measure"]): row for row in found.compared.rows}
    columns = []
    for column, measure in enumerate(found.measures):
        rows = [summaries[run, measure.label] for run in found.runs]
        alike = not _differing(found, column)
        scale, best = _scale(rows), _best(rows, found.matrix.reading(column).better) if alike else None
        columns.append(
            [
                _cell(row, measure, pairs.get((row.run, row.measure)), found, scale)
                | {"best": row.score is not None and best is not None and abs(row.score - best) <= TOLERANCE}
                for row in rows
            ]
        )
    top = {row["run"]: row for row in kernel.results.to_rows(found.unjudged) if row["depth"] == found.settings.at}
    return [
        {
            "name": run,
            "is_baseline": run == found.baseline,
            "cells": [cells[index] for cells in columns],
            "unjudged": f"{top[run]['per_topic']:.1f}",
            "of_all": f"{top[run]['unjudged']} of {top[run]['documents']}",
        }
        for index, run in enumerate(found.runs)
    ]


def _differing(found: Findings, column: int) -> list[int]:
    """How many topics the mean of each run is over, where these are not the same topics; else nothing."""
    included = found.matrix.included[:, :, column]
    return [] if (included == included[0]).all() else included.sum(1).tolist()


def different_topics(found: Findings) -> Iterator[str]:
    """A line for each measure by which the means of runs are over different topics."""
    for column, measure in enumerate(found.measures):
        if counts := _differing(found, column):
            of = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{counts[0]} each"
            what = f"the means are over different topics ({of}), so that none is called the best"
            shared = _on_topics(found, column)
            yield f"{measure.label}: {what}; " + (f"runs are compared{shared}" if shared else "nothing is compared")


def _on_topics(found: Findings, column: int) -> str:
    """Which topics runs are compared on, where it is not all of them."""
    shared, topics = int(found.matrix.included[:, :, column].all(0).sum()), len(found.matrix.topics)
    return f" on the {shared} of {topics} topics that all runs are scored on" if 0 < shared < topics else ""


def _ends(row: kernel.scores.Row) -> dict[str, float]:
    """What a bar shows, as far as it is known: the score, the ends of its interval, and what it could be at most."""
    most = None if row.score is None or row.residual is None else row.score + row.residual
    named = {"score": row.score, "low": row.low, "high": row.high, "most": most}
    return {name: value for name, value in named.items() if value is not None and math.isfinite(value)}


def _scale(rows: list[kernel.scores.Row]) -> tuple[float, float]:
    """What the bars of a measure begin and end with."""
    ends = [0.0, *(value for row in rows for value in _ends(row).values())]
    low, high = min(ends), max(ends)
    return low, high if high > low else low + 1.0


def _best(rows: list[kernel.scores.Row], better: str) -> float | None:
    """The best score; None of a single one, and where no preferred direction."""
    scores = [row.score for row in rows if row.score is not None]
    if better == "neither" or len(scores) < 2:
        return None
    return min(scores) if better == "lower" else max(scores)


def _cell(
    row: kernel.scores.Row, measure: Measure, pair: dict[str, Any] | None, found: Findings, scale: tuple[float, float]
) -> dict[str, Any]:
    """One score: its text, what marks it, and the bar of its interval and residual, in words too."""
    level = f"{100 * (found.scores.options.interval or 0):.10g}%"
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
        cell["mark"], cell["tested"] = _mark(pair, found.settings.test)
    return cell


def _mark(pair: dict[str, Any], test: TestSettings) -> tuple[str, str]:
    """The mark of a run that differs from the baseline, and how that was found, in words."""
    if test.test == "bayes":
        known = {name: pair[name] for name in ("better", "worse") if pair[name] is not None}
        said = ", ".join(f"P({name}) {value:.4f}" for name, value in known.items())
        return "*" if any(value >= 1 - test.alpha for value in known.values()) else "", said
    p = pair["p_corrected"]
    return ("", "") if p is None else ("*" if p <= test.alpha else "", f"p {significance.p_value(p)}")


def unknowns(found: Findings) -> list[dict[str, Any]]:
    """By measure, whether more judging could reverse the order of each run and the baseline: which pairs keep it, and a
    sentence for each other one, those that are reversed most easily first."""
    parts = []
    for column, measure in enumerate(found.measures):
        own = [row for row in found.compared.rows if row["measure"] == measure.label]
        open_ = [row for row in own if row["same_order"] is False]
        open_.sort(key=lambda row: (row["reversing"] is None, row["reversing"] or 0))
        topics = _on_topics(found, column)
        parts.append(
            {
                "measure": measure.label,
                "same": _same_order(own, topics),
                "sentences": [_reversing(row, topics, found.compared.reversible) for row in open_],
            }
        )
    return parts


NAMED = 5
"""Up to this many runs are named in a sentence; more are counted."""


def _same_order(own: list[dict[str, Any]], topics: str) -> str:
    """Which pairs keep their order by a measure."""
    if not own:
        return "Not compared: there is no topic that all runs are scored on."
    if all(row["same_order"] is None for row in own):
        return "This measure has no residual: what unjudged documents could change is not known."
    parts, same = [], [row for row in own if row["same_order"] is True]
    for sign, order in ((1, "higher than"), (-1, "lower than"), (0, "equal to")):
        runs = [row["run"] for row in same if (row["difference"] > 0) - (row["difference"] < 0) == sign]
        if runs:
            named = ", ".join(runs) if len(runs) <= NAMED else f"{len(runs)} runs"
            parts.append(f"{named} {'is' if len(runs) == 1 else 'are'} {order} {own[0]['baseline']}")
    if not parts:
        return "Judging could reverse every order, or that is not known."
    count = "" if len(own) == 1 else f" ({len(same)} of {len(own)} runs)"
    return f"Same order if fully judged{count}: {'; '.join(parts)}{topics}."


_PROSPECTS: dict[Prospect, str] = {
    "could be reversed": "could be reversed: some judgments do it",
    "could be tied": "could become a tie, and no judgments reverse it",
    "unknown": "is unknown: its bounds leave room for another one, but no judgments were found that lead there",
}


def _reversing(row: dict[str, Any], topics: str, reversible: frozenset[Pair]) -> str:
    """What could reverse the order of a run and the baseline; of `reversible` pairs some judgments do it."""
    run, baseline, difference = row["run"], row["baseline"], row["difference"]
    ahead, behind = (run, baseline) if difference > 0 else (baseline, run)
    pair = f"The order of {ahead} (higher by {abs(difference):.4f}{topics}) and {behind}"
    if difference == 0:
        pair = f"The tie of {run} and {baseline}{topics}"
    if row["reversing"] is None:
        return f"{pair} {_PROSPECTS[prospect(row, reversible)]}"
    count, of = row["reversing"], row["unjudged"]
    are = f"{count:,} of {of:,} unjudged {plural(of, 'document')} {'is' if count == 1 else 'are'} relevant"
    return f"{pair} reverses if {are} (of the top grade), the lowest of them at rank {row['reversing_rank']}"


def sizes(found: Findings) -> Iterator[str]:
    """How much there is, for the head of the page."""
    for count, noun in (
        (len(found.runs), "run"),
        (len(found.matrix.topics), "topic"),
        (len(found.measures), "measure"),
    ):
        yield f"{count:,} {plural(count, noun)}"


# A report as the text of one HTML page.


MOST_BYTES = 20_000_000
"""The size up to which a page has the rankings of all topics; of more it has those that differ most."""
MOST_CELLS = 60_000
"""Cells of all heat maps together: more make a page slow to open."""
NAMED_IN_MAP = 120
"""Topics that a heat map names: of more its rows are broken into lines, and the table alone names them."""
MADE_WITH = ("numpy", "pandas", "scipy", "jinja2")


@takes_options(
    "reading",
    "unseen",
    "queries",
    "slices",
    "replicates",
    residuals="leave it out: a page always has them",
    interval="give alpha, as in alpha=0.05: a page always has it",
)
@public
@shares_work
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
    show: Show = SHOW,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> str:
    """A report of runs as the text of one HTML page that loads nothing: scores with intervals and residuals,
    comparisons with a baseline, topics, two rankings side by side, judgments, and how all of it was computed.

    baseline  the name of the run that the others are compared with; None: the first
    test      and correction, draws, alpha, seed, rope: as in `compare`; 1 − alpha is also the level of intervals
    at        the depth down to which unjudged documents are counted beside the scores
    show      how many ranks of a ranking are shown

    The other arguments are those of `evaluate`, but for `residuals` and `interval`, which the page always has. Needs
    jinja2 (`pip install 'gradedeval[report]'`). Raises InputError as `evaluate` and `compare` do; what is skipped or
    assumed is a warning, and stands on the page.
    """
    settings = ReportSettings(significance.TestSettings(test, correction, draws, alpha, seed, rope), at, show)
    return report_of(runs, qrels, measures, settings, resolve_options(like, **keywords), baseline)


def report_of(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure],
    settings: ReportSettings,
    options: Options,
    baseline: str | None,
    command: str = "",
) -> str:
    """Return the page of `html_report`.

    command  the command line that asks for it, which the page shows
    """
    page_template()  # whether it can be written is known before runs are read
    chosen = parse_measures(measures)
    if not chosen:
        raise InputError("", "no measure given", "for example 'err@20 ndcg@10'", usage=True)
    found = find(kernel.named_runs(runs, qrels), qrels, chosen, options, baseline, settings)
    emit_notes(found.notes)
    return page(found, command)


def page(found: Findings, command: str = "", most_bytes: int = MOST_BYTES) -> str:
    """The page.

    command     the command line that it was made by; empty in Python
    most_bytes  its size at most, unless it is larger without any ranking
    """
    template, context = page_template(), _context(found, command)
    by_name = dict(zip(found.ranked.names, rankings(found), strict=True))
    parts = [by_name.get(topic, "null") for topic in found.matrix.topics]

    def text(shown: Sequence[int]) -> str:
        topic = views.default_topic(found, context["pair"], shown or range(len(parts)))
        data = as_json({**context["data"], "shown": list(shown), "topic": topic})
        return template.render({**context, "data": data}, rankings=[(topic, parts[topic]) for topic in shown])

    if sum(map(len, parts)) < most_bytes:  # as a rule all fit, and the page is made once
        whole = text(range(len(parts)))
        if len(whole.encode()) <= most_bytes:
            return whole
    left = most_bytes - len(text([]).encode())
    return text(sorted(_fitting(most_different(found), parts, left)))


def _fitting(order: Sequence[int], parts: Sequence[str], left: int) -> Iterator[int]:
    """As many topics as there are bytes left for, the first of the order first."""
    for topic in order:
        left -= len(parts[topic].encode()) + AROUND
        if left < 0:
            return
        yield topic


AROUND = 80
"""Bytes of the element around the rankings of a topic, and of its number in the data."""


def _context(found: Findings, command: str) -> dict[str, Any]:
    """What the template shows, but for the rankings."""
    columns, matrix, pair = range(len(found.measures)), found.matrix, views.default_pair(found)
    fitting = max(MOST_CELLS // (len(found.runs) * len(columns)), 1)
    mapped = sorted(most_different(found)[:fitting])
    (style, style_hash), (script, script_hash) = inline("report.css"), inline("report.js")
    return {
        "found": found,
        "style": style,
        "script": script,
        "policy": f"style-src {style_hash}; script-src {script_hash}",
        **{made.__name__: made for made in (sizes, run_rows, different_topics, unknowns)},
        **{made.__name__: made for made in (judged_by_run, unjudged_by_run, alone_by_run, grades_by_topic)},
        "sortable": sortable,
        "differences_caption": differences_caption,
        "legend": legend(found),
        "slices": views.slice_tables(found),
        "mapped": mapped,
        "many": len(mapped) > NAMED_IN_MAP,
        "heat_maps": [views.heat_map(found, column, mapped) for column in columns],
        "topic_rows": [views.topic_rows(found, column, pair) for column in columns],
        "pair": pair,
        "scores": as_json(scores_of_topics(found) if len(mapped) == len(matrix.topics) else None),
        "data": {
            "measures": [on_page(measure.label) for measure in found.measures],
            "runs": list(map(on_page, found.runs)),
            "topics": list(map(on_page, matrix.topics)),
            "texts": [on_page(found.texts.get(topic, "")) for topic in matrix.topics] if found.texts else [],
            "show": found.settings.show,
            "grades": grade_classes(found),
            "mapped": mapped,
            "pair": pair,
        },
        "how": how(found, command),
    }


def sortable(table: Table) -> dict[str, Any]:
    """A table for people as the page draws it: texts, whether a column begins at the left, and no empty column."""
    # A name of one letter, as in `± sd` and `p (holm)`, does not stand in a line by itself.
    names = [f"{name[0]}\N{NO-BREAK SPACE}{name[2:]}" if name[1:2] == " " else name for name in table.names]
    return {"names": names, "left": table.left, "rows": table.cells()}


def how(found: Findings, command: str) -> list[tuple[str, list[str]]]:
    """How the page was made: what it is said of, and lines."""
    versions = [f"gradedeval {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{name} {metadata.version(name)}" for name in MADE_WITH]
    systems = [] if found.systems is None else found.systems.lines
    names = ("Command line", "Scores", "Comparisons", "Systems", "Versions", "Notes")
    parts = (
        [command],
        found.scores.signature.split(" | "),
        [part for part in found.compared.settings.split(" | ") if part],
        systems,
        versions,
        [str(note) for note in found.notes],
    )
    return list(compress(zip(names, parts, strict=True), map(any, parts)))
