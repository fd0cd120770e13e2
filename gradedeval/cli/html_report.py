"""`gradedeval report RUN... QRELS -o report.html`: one HTML page with all that an evaluation found."""

from __future__ import annotations

import shlex
from typing import Any

import click

from gradedeval.analysis.baseline import Baseline
from gradedeval.analysis.pool.statistics import AT
from gradedeval.analysis.report.findings import SHOW, ReportSettings, find
from gradedeval.analysis.report.markup import template_of
from gradedeval.analysis.report.page import page
from gradedeval.analysis.significance import TestSettings
from gradedeval.cli.arguments import run_and_qrels
from gradedeval.cli.many_runs import SCORING_OPTIONS, TEST_OPTIONS, prepared
from gradedeval.cli.options import READS, WRITES, command_line, measure_option, one_registered, option
from gradedeval.cli.output import warn, write
from gradedeval.cli.sharing import sharing
from gradedeval.errors import InputError, redacted
from gradedeval.options import numbers
from gradedeval.options.definition import OUTPUT
from gradedeval.scoring.run_names import named_runs
from gradedeval.trec.source import extension_of

EXTENSIONS = (".html", ".htm")

OPTIONS = [
    option("--baseline", metavar="RUN", file=READS, help="Compare every run with this one: one of RUN, or another "
           "file. Default: the first."),
    *TEST_OPTIONS,
    one_registered("unseen"),
    option(numbers.AT, default=AT, metavar="N", help="Count unjudged documents beside the "
           f"scores down to rank N. Default: {AT}."),
    option(numbers.SHOW, default=SHOW, metavar="N", help="Show N ranks of each ranking. "
           f"Default: {SHOW}."),
    option("-o", "--output", section=OUTPUT, required=True, metavar="FILE.html", file=WRITES, help="Write to "
           "FILE.html, completely or not at all; - is standard output."),
]  # fmt: skip


@command_line("report", "RUN... QRELS", OPTIONS, [measure_option()], SCORING_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    at: int,
    show: int,
    output: str,
    **keywords: Any,
) -> None:
    """Write one HTML page that opens from disk and loads nothing: runs by measures with intervals, residuals and
    significance, whether more judging could change the result, topics, two rankings beside each other, judgments, and
    how all of it was computed.

    \b
    gradedeval report runs/*.run qrels.txt -m err@20 -m ndcg@10 -o report.html
    gradedeval report a.run b.run qrels.txt --baseline a.run -o report.html
    """
    test = TestSettings(**{name: keywords.pop(name) for name in TestSettings.__dataclass_fields__})
    settings = ReportSettings(test, at, show)
    if output != "-" and extension_of(output) not in EXTENSIONS:
        raise InputError(f"'{output}'", "a report is an HTML page", "name a .html file", usage=True)
    template_of("report.html")  # whether it can be written is known before runs are read
    compared = Baseline.read(baseline, files[:-1])
    if compared.saved is not None:
        what = f"'{baseline}' holds saved scores, and a report shows rankings"
        raise InputError("--baseline", what, "give the baseline as a run", usage=True)
    another = [compared.path] if compared.path is not None else []
    runs, qrels = run_and_qrels((*files[:-1], *another, *files[-1:]), keywords)
    chosen, options = prepared(measures, keywords)
    named = named_runs(runs)
    found = find(named, qrels, chosen, options, compared.name, settings, sharing())
    warn(found.notes)
    write(page(found, shlex.join(["gradedeval", *map(redacted, click.get_current_context().obj)])), output)
