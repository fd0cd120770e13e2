"""`gradedeval lint RUN... [--qrels QRELS]`: the problems of runs, before they are scored."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.lint.lint import lint
from gradedeval.analysis.lint.report import lint_document
from gradedeval.cli.arguments import check_standard_input, measure_table, usage
from gradedeval.cli.options import (
    MEASURES_FROM,
    OUTPUT_FILE,
    READS,
    command_line,
    measure_option,
    one_registered,
    option,
)
from gradedeval.cli.output import write
from gradedeval.errors import InputError
from gradedeval.formats import formats_for, render
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import numbers
from gradedeval.options.definition import OUTPUT
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.scoring.run_names import named_runs
from gradedeval.trec.paths import files_of

OPTIONS = [
    option("--qrels", metavar="QRELS", file=READS, help="Also check against these qrels: missing and extra topics, the "
           "share of unjudged documents, and how much ties could change scores."),
    measure_option("Measure to check for the effect of ties."),
    MEASURES_FROM,
    option(numbers.MAX_DEPTH, metavar="N", help="Report topics with more than N documents as "
           "errors."),
    option("--tag-is-filename", is_flag=True, help="Report a tag that differs from the file name as an error."),
    option("--strict", is_flag=True, help="Exit with code 1 for warnings too."),
    option("--all", "everything", section=OUTPUT, is_flag=True, help="List every problem, not only the first ten of a "
           "kind."),
    *(one_registered(name) for name in ("run_format", "qrels_format", "labels")),
    option("-f", "--format", "form", section=OUTPUT, type=click.Choice(formats_for()), default="table",
           metavar="FORMAT", help=f"Output format: {', '.join(formats_for())}. Default: table."),
    OUTPUT_FILE,
]  # fmt: skip


@command_line("lint", "RUN...", OPTIONS)
def command(
    files: tuple[str, ...],
    qrels: str | None,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    max_depth: int | None,
    tag_is_filename: bool,
    everything: bool,
    strict: bool,
    form: str,
    output: str | None,
    **formats: Any,
) -> None:  # fmt: skip
    """Check runs before scoring, and report every problem with its place and how to fix it.

    RUN is a file, a folder or a pattern such as 'runs/*.run'; QRELS is skipped where it is among them.

    Errors are what an evaluator would refuse; warnings are what it would score, but not as intended. Exit code 1: there
    are errors, or warnings with --strict.
    """
    chosen = parse_measures(measures or DEFAULT, measure_table(measures_from))
    if not files and qrels is None:
        raise InputError("", "no run given", f"{usage()} [--qrels QRELS]", usage=True)
    check_standard_input([*files, qrels])
    runs = [file for word in files for file in files_of(word, [] if qrels is None else [qrels])]
    named = named_runs(runs) if runs else {}
    options = resolve_options(**formats)
    report = lint(
        named,
        qrels,
        chosen,
        max_depth=max_depth,
        tag_is_filename=tag_is_filename,
        run_format=options.run_format,
        qrels_format=options.qrels_format,
        labels=options.labels,
        progress=with_progress,
    )
    write(render(partial(lint_document, report, show_all=everything), form), output)
    if report.errors or (strict and report.warnings):
        raise click.exceptions.Exit(1)
