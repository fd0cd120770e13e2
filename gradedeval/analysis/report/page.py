"""A report as the text of one HTML page."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from itertools import compress
from typing import Any, Unpack

from gradedeval import __version__
from gradedeval.analysis.pool.statistics import AT
from gradedeval.analysis.report import judgments, overview, topics
from gradedeval.analysis.report.findings import SHOW, Findings, ReportSettings, find
from gradedeval.analysis.report.first_ranks import grade_classes, legend, most_different, rankings, scores_of_topics
from gradedeval.analysis.report.markup import as_json, inline, on_page, template_of
from gradedeval.analysis.significance import Correction, Test, TestSettings
from gradedeval.errors import InputError, warn_caller
from gradedeval.formats import Table
from gradedeval.measures.definition import AnyMeasure
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import OptionKwargs
from gradedeval.options.presets import resolve_options
from gradedeval.scoring.run_names import named_runs

MOST_BYTES = 20_000_000
"""The size up to which a page has the rankings of all topics; of more it has those that differ most."""
MOST_CELLS = 60_000
"""Cells of all heat maps together: more make a page slow to open."""
NAMED_IN_MAP = 120
"""Topics that a heat map names: of more its rows are broken into lines, and the table alone names them."""
MADE_WITH = ("numpy", "pandas", "scipy", "jinja2")


def html_report(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = DEFAULT,
    *,
    baseline: str | None = None,
    test: Test = "randomization",
    correction: Correction | None = None,
    draws: int = TestSettings.draws,
    alpha: float = 0.05,
    seed: int = 0,
    rope: float | None = None,
    at: int = AT,
    show: int = SHOW,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> str:
    """A report of runs as the text of one HTML page that loads nothing: scores with intervals and residuals,
    comparisons with a baseline, topics, two rankings beside each other, judgments, and how all of it was computed.

    baseline  the name of the run that the others are compared with; None: the first
    test      and correction, draws, alpha, seed, rope: as in `compare`; 1 − alpha is also the level of intervals
    at        the depth down to which unjudged documents are counted beside the scores
    show      how many ranks of a ranking are shown

    The other arguments are those of `evaluate`, but for `residuals` and `interval`, which the page always has. Needs
    jinja2 (`pip install 'gradedeval[report]'`). Raises InputError as `evaluate` and `compare` do; what is skipped or
    assumed is a warning, and stands on the page.
    """
    template_of("report.html")  # whether it can be written is known before runs are read
    settings = ReportSettings(TestSettings(test, correction, draws, alpha, seed, rope), at, show)
    for name in ("residuals", "interval"):
        if keywords.get(name) is not None:
            hint = "leave it out" if name == "residuals" else "give alpha, as in alpha=0.05"
            raise InputError("", f"{name} is not an argument of a report, which always has both", hint, usage=True)
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    if not chosen:
        raise InputError("", "no measure given", "for example 'err@20 ndcg@10'", usage=True)
    found = find(named_runs(runs, qrels), qrels, chosen, options, baseline, settings)
    warn_caller(tuple(found.notes))  # the page is that of the command line
    return page(found)


def page(found: Findings, command: str = "", most_bytes: int = MOST_BYTES) -> str:
    """The page.

    command     the command line that it was made by; empty in Python
    most_bytes  its size at most, unless it is larger without any ranking
    """
    template, context = template_of("report.html"), _context(found, command)
    by_name = dict(zip(found.ranked.names, rankings(found), strict=True))
    parts = [by_name.get(topic, "null") for topic in found.matrix.topics]

    def text(shown: Sequence[int]) -> str:
        topic = topics.default_topic(found, context["pair"], shown or range(len(parts)))
        data = as_json({**context["data"], "shown": shown, "topic": topic})
        return template.render({**context, "data": data}, rankings=[(topic, parts[topic]) for topic in shown])

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
    columns, matrix, pair = range(len(found.measures)), found.matrix, topics.default_pair(found)
    fitting = max(MOST_CELLS // (len(found.runs) * len(columns)), 1)
    mapped = sorted(most_different(found)[:fitting])
    (style, style_hash), (script, script_hash) = inline("report.css"), inline("report.js")
    return {
        "found": found,
        "style": style,
        "script": script,
        "policy": f"style-src {style_hash}; script-src {script_hash}",
        "overview": overview,
        "judgments": judgments,
        "sortable": sortable,
        "legend": legend(found),
        "mapped": mapped,
        "many": len(mapped) > NAMED_IN_MAP,
        "heat_maps": [topics.heat_map(found, column, mapped) for column in columns],
        "topic_rows": [topics.topic_rows(found, column, pair) for column in columns],
        "pair": pair,
        "scores": as_json(scores_of_topics(found) if len(mapped) == len(matrix.topics) else None),
        "data": {
            "measures": [on_page(measure.label) for measure in found.measures],
            "runs": list(map(on_page, found.runs)),
            "topics": list(map(on_page, matrix.topics)),
            "show": found.settings.show,
            "grades": grade_classes(found),
            "mapped": mapped,
            "pair": pair,
        },
        "how": how(found, command),
    }


def sortable(table: Table) -> dict[str, Any]:
    """A table for people as the page draws it: texts, whether a column begins at the left, and no empty column."""
    return {"names": table.names, "left": table.left, "rows": table.cells()}


def how(found: Findings, command: str) -> list[tuple[str, list[str]]]:
    """How the page was made: what it is said of, and lines."""
    versions = [f"gradedeval {__version__}", f"Python {platform.python_version()}"]
    versions += [f"{name} {metadata.version(name)}" for name in MADE_WITH]
    names = ("Command line", "Scores", "Comparisons", "Versions", "Notes")
    parts = (
        [command],
        found.scores.signature.split(" | "),
        [part for part in found.compared.settings.split(" | ") if part],
        versions,
        [str(note) for note in found.notes],
    )
    return list(compress(zip(names, parts, strict=True), map(any, parts)))
