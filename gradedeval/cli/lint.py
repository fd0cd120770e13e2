"""`gradedeval lint RUN... [--qrels QRELS]`: every defect of submissions, before they are scored."""

from __future__ import annotations

from functools import partial

import click

from gradedeval.analysis.lint.lint import lint
from gradedeval.analysis.lint.report import lint_document
from gradedeval.cli.arguments import measure_table
from gradedeval.cli.output import write
from gradedeval.cli.paths import files_of
from gradedeval.errors import InputError
from gradedeval.formats import formats_for, render
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.parallel.progress import with_progress
from gradedeval.scoring.run_names import named_runs


@click.command("lint")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "--qrels", metavar="QRELS", help="Judgements: topics missing or extra, shares of unjudged, what ties can change."
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help=f"A measure that ties may move. Default: {' '.join(DEFAULT)}.",
)
@click.option("--measures-from", multiple=True, metavar="FILE.py", help="Your own measures.")
@click.option("--max-depth", type=click.IntRange(min=1), metavar="N", help="A topic with more documents is an error.")
@click.option("--tag-is-filename", is_flag=True, help="A tag that is not the file's name is an error.")
@click.option("--all", "everything", is_flag=True, help="List every defect, not the first ten of a kind.")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option("-f", "--format", "form", type=click.Choice(formats_for()), default="table", help="Default: table.")
@click.option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.")
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    max_depth: int | None,
    tag_is_filename: bool,
    everything: bool,
    strict: bool,
    form: str,
    output: str | None,
) -> None:  # fmt: skip
    """Check runs before they are scored, and report all that is wrong or odd, each with its place and its cure.

    RUN is a file, a folder or a pattern as in 'runs/*.run'; QRELS among them is left out.

    Errors are what a scorer would refuse; warnings are what it would score otherwise than meant. Exit code 1: there
    are errors, or with --strict warnings.
    """
    chosen = parse_measures(measures or DEFAULT, measure_table(measures_from))
    if not runs and qrels is None:
        raise InputError("", "no run", "gradedeval lint RUN... [--qrels QRELS]", usage=True)
    if [*runs, qrels].count("-") > 1:
        raise InputError("-", "standard input can be read once", "name a file for the other", usage=True)
    files = [file for word in runs for file in files_of(word, [] if qrels is None else [qrels])]
    named = named_runs(files) if files else {}
    report = lint(named, qrels, chosen, max_depth=max_depth, tag_is_filename=tag_is_filename, progress=with_progress)
    write(render(partial(lint_document, report, show_all=everything), form), output)
    if report.errors or (strict and report.warnings):
        raise click.exceptions.Exit(1)
