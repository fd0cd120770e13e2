"""`gradedeval explain RUN QRELS --topic ID`: how a score comes about, rank by rank."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.explain import DEFAULT, explain_topic
from gradedeval.analysis.explain_tables import explanation_document
from gradedeval.cli.arguments import check_output, form_of, measure_table, run_and_qrels
from gradedeval.cli.options import GAIN_OPTIONS, READING_OPTIONS, Sectioned, chosen_rules, output_options, with_options
from gradedeval.cli.output import say, write
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS, formats_for, render
from gradedeval.measures.parse import parse_measures
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import preset_digits

OWN_OPTIONS = [
    click.option("--topic", metavar="ID", help="Which topic; may be left out where the qrels have only one."),
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure, as in err@20; "
                 "several in one, separated by blanks, or several -m: a table for each. Default: "
                 f"{' '.join(DEFAULT)}."),
]  # fmt: skip
OUTPUT_OPTIONS = [
    *output_options(formats_for(), digits="4"),
    click.option("--show", "shown", type=click.IntRange(min=1), metavar="N", help="Ranks that a table shows. Default: "
                 "those down to the cutoff, or 20. The other formats have them all."),
]  # fmt: skip


@click.command("explain", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN QRELS")
@with_options(OWN_OPTIONS, GAIN_OPTIONS, OUTPUT_OPTIONS, READING_OPTIONS)
def command(
    files: tuple[str, ...],
    topic: str | None,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    form: str | None,
    output: str | None,
    digits: int | None,
    shown: int | None,
    **keywords: Any,
) -> None:
    """Say how a topic's score comes about, rank by rank.

    For each rank: docno, grade (blank: unjudged), gain, the measure's own workings, what the document contributes to
    the score, the score so far, and what an unjudged document could still add. The contributions sum to the score.
    """
    chosen = parse_measures(measures or DEFAULT, measure_table(measures_from))
    form = form or form_of(output, formats_for())
    if shown is not None and FORMATS[form].layout != "wide":
        raise InputError("--show", f"{form} always has all ranks", "leave it out", usage=True)
    usage = "gradedeval explain RUN QRELS --topic ID"
    runs, qrels = run_and_qrels(files, keywords["topics_from"], usage=usage)
    check_output(output, files)
    options = chosen_rules(keywords)
    explanation = explain_topic(named_runs(runs), qrels, chosen, options, topic, Workers.of())
    for note in explanation.notes:
        say(note)
    in_tables = digits if digits is not None else preset_digits(options)
    write(render(partial(explanation_document, explanation, digits=in_tables, shown=shown), form, digits), output)
