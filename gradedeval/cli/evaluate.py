"""`gradedeval [eval] RUN... QRELS`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gradedeval.cli.arguments import check_output, form_of, measure_table, run_and_qrels
from gradedeval.cli.options import (
    MEASURE_OPTIONS,
    READING_OPTIONS,
    RESIDUAL_OPTIONS,
    RUN_OPTIONS,
    Sectioned,
    chosen_rules,
    output_options,
    with_options,
)
from gradedeval.cli.output import say, write
from gradedeval.cli.standardize import STANDARD_OPTIONS, standard_options, standardized_as_told
from gradedeval.errors import SHOWN, InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import CWL_DEFAULT, DEFAULT, parse_measures
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.cwl_quantities import all_quantities
from gradedeval.scoring.evaluate import evaluate_runs
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import FORMATS, render
from gradedeval.scoring.scorer import with_defaults
from gradedeval.scoring.scores import Scores

OUTPUT_OPTIONS = [
    click.option("-q", "--by-topic", is_flag=True, help="A row for each topic; the summary comes last."),
    *output_options(FORMATS, digits="4"),
    click.option(
        "--cwl", is_flag=True, help="The five quantities of each C/W/L measure as columns: eu, etu, ec, etc, ed."
    ),
    click.option("--sort", metavar="MEASURE", help="Order runs by their summary of MEASURE, the best first."),
    click.option("--run-name", type=click.Choice(["file", "tag"]), default="file", help="What runs are called."),
]


@click.command("eval", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(MEASURE_OPTIONS, RESIDUAL_OPTIONS, OUTPUT_OPTIONS, STANDARD_OPTIONS, RUN_OPTIONS, READING_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    by_topic: bool,
    form: str | None,
    output: str | None,
    cwl: bool,
    digits: int | None,
    sort: str | None,
    run_name: str,
    runs_from: str | None,
    jobs: int | None,
    keep_going: bool,
    **keywords: Any,
) -> None:
    """Score runs against graded judgements and print a table.

    RUN holds lines of `topic Q0 docno rank score tag`, QRELS of `topic iteration docno grade`; either may be
    compressed (gz, bz2, xz, zst), and one of them may be - for standard input. RUN may also be a folder of runs, or a
    pattern in quotes. `gradedeval measures` lists the measures.
    """
    table, told = measure_table(measures_from), standard_options(keywords)
    chosen = parse_measures(measures or (CWL_DEFAULT if cwl else DEFAULT), table)
    if cwl:
        chosen = all_quantities(chosen)
        if keywords["max_residual"] is not None:
            what = "--max-residual leaves out topics by measure, and expected utility alone has a residual"
            raise InputError("--cwl", what, "leave out one of them", usage=True)
        if any(told.values()):
            raise InputError("--cwl", "a standardized cost says nothing", "leave out --standardize", usage=True)
    order = None if sort is None else _one(sort, table)
    form = form or form_of(output, FORMATS)
    runs, qrels = run_and_qrels(files, keywords["topics_from"], runs_from)
    check_output(output, (*runs, qrels))
    options = chosen_rules(keywords)
    tags, workers = run_name == "tag", _workers(jobs)
    scores = evaluate_runs(named_runs(runs), qrels, chosen, options, by_tag=tags, keep_going=True, workers=workers)
    for note in scores.notes:
        say(note)
    scores = standardized_as_told(scores, told)
    scores = scores.sorted_by(with_defaults(order, options)) if order else scores
    written = bool(scores.runs) and (output is None or keep_going or not scores.errors)
    if written:
        write(render(scores, form, by_topic=by_topic, digits=digits, cwl=cwl), output)
    _tell(scores, output, written)


def _workers(jobs: int | None) -> Workers:
    """Who shares the work: as many processes as --jobs says, or as there are cores."""
    workers = Workers.of(jobs, with_progress)
    if jobs is not None and workers.count < jobs:
        say("--jobs: parallel processing is not available here; using one process")
    return workers


def _tell(scores: Scores, output: str | None, written: bool) -> None:
    """Why runs are not scored, and what became of the output; then the exit code is 1."""
    if not scores.errors:
        return
    for error in scores.errors[:SHOWN]:
        say(str(error))
    if output is None or written:
        say(scores.unscored)
    else:
        hint = "; --keep-going writes the others" if scores.runs else ""
        say(f"{scores.unscored}, and {output} is not written{hint}")
    click.get_current_context().exit(1)


def _one(text: str, table: Mapping[str, Measure]) -> Measure:
    """The measure of --sort."""
    found = parse_measures(text, table) if text.strip() else []
    if len(found) != 1:
        raise InputError("--sort", f"'{text}' names {len(found)} measures", "name one", usage=True)
    return found[0]
