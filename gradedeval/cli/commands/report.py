"""`gradedeval report`: an HTML page about an evaluation."""

from __future__ import annotations

import shlex
from typing import Any

import click

from gradedeval.analysis import significance
from gradedeval.cli.arguments import make_workers
from gradedeval.cli.many_runs import runs_with_baseline
from gradedeval.cli.options import WRITES, Option, command_line, scoring_options
from gradedeval.cli.output import write
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_options
from gradedeval.errors import InputError, redacted
from gradedeval.kernel.options import resolve_options
from gradedeval.kernel.trec.stream import extension_of
from gradedeval.questions.report.page import html_report, report_of
from gradedeval.questions.report.views import SHOW, ReportSettings
from gradedeval.questions.shared import DEFAULT_DEPTH

READING = scoring_options("unseen", "queries", "slices", "replicates")
OUTPUT = Option("-o", "--output", section="Output", metavar="FILE.html", file=WRITES, required=True,
                help="Write to FILE.html, atomically; - is standard output.",
                short="Write to FILE.html; - is standard output.")  # fmt: skip


@command_line("report", "RUN... QRELS", setting_options(html_report), READING, [OUTPUT],
              most_used="-o -m --baseline --test --correction --alpha --at --show -k "
              "--gain --top-grade --topics --queries --quiet")  # fmt: skip
def command(files: tuple[str, ...], output: str, **options: Any) -> None:
    """Write one HTML page that opens from disk and loads nothing: runs by measures with intervals, residuals and
    significance, whether more judging could change the result, topics, two rankings side by side, judgments, and
    how all of it was computed.

    \b
    gradedeval report runs/*.run qrels.txt -m err@20 -m ndcg@10 -o report.html
    gradedeval report a.run b.run qrels.txt --baseline a.run -o report.html
    """
    from gradedeval.kernel.parallel import using_workers  # not for a help page

    settings = pop_settings(html_report, options)
    baseline = settings.get("baseline")
    test = significance.TestSettings(
        **{name: settings[name] for name in significance.TestSettings.__annotations__ if name in settings}
    )
    views = ReportSettings(
        test, settings.get("at", DEFAULT_DEPTH), settings.get("show", SHOW), settings.get("no_worse", ())
    )
    if output != "-" and extension_of(output) not in (".html", ".htm"):
        raise InputError(f"'{output}'", "a report is an HTML page", "name a .html file", usage=True)
    problem = f"'{baseline}' holds saved scores, and a report shows rankings"
    runs, qrels, resolved = runs_with_baseline(files, baseline, problem, options)
    measures = resolve_measures(html_report, settings, options)["measures"]
    command_words = shlex.join(["gradedeval", *map(redacted, click.get_current_context().obj)])
    with using_workers(make_workers()):
        page = report_of(runs, qrels, measures, views, resolve_options(**options), resolved.name, command_words)
    write(page, output)
