"""`gradedeval weights [RUN... QRELS]`: what each rank weighs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from gradedeval.analysis.rank_weights import DEEPEST, DEPTH, NORMALIZE, weights_by
from gradedeval.analysis.rank_weights_table import weights_document
from gradedeval.cli.arguments import check_output, form_of, measure_table, run_and_qrels
from gradedeval.cli.options import (
    GAIN_OPTIONS,
    READING_OPTIONS,
    Sectioned,
    chosen_rules,
    output_options,
    with_options,
)
from gradedeval.cli.output import say, write
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS, formats_for, render
from gradedeval.measures.parse import parse_measures
from gradedeval.options import option
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

WEIGHT_OPTIONS = [
    click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure, as in "
                 "'rbp(p=0.95)' or p@10; several in one, separated by blanks, or several -m."),
    *GAIN_OPTIONS,
    click.option(
        "--ranks", type=click.IntRange(1, DEEPEST), default=DEPTH, metavar="N", help=f"Ranks 1 to N. Default: {DEPTH}."
    ),
    click.option(
        "--normalize",
        type=click.Choice(NORMALIZE),
        default="none",
        help="'sum': the weights of ranks 1 to N sum to 1; 'max': the largest is 1. Default: none.",
    ),
    *output_options(formats_for(), "csv", digits="6"),
    *READING_OPTIONS,
]  # fmt: skip


@click.command("weights", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="[RUN... QRELS]")
@with_options(WEIGHT_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    ranks: int,
    normalize: str,
    form: str | None,
    output: str | None,
    digits: int | None,
    **keywords: Any,
) -> None:
    """Print the weight of each rank, a column a measure.

    Without files, for measures that are sums of gains with fixed weights, as p@10, dcg, rbp or insq. With runs and
    judgements also for ap, rr, sp, bpref and q: the weights that each ranking implies, averaged over all of them.

    \b
    gradedeval weights -m 'rbp(p=0.95) insq dcg@10' --ranks 50
    gradedeval weights runs/*.run qrels.txt -m 'ap rr' --ranks 50 --normalize sum -o weights.csv
    """
    runs, qrels = run_and_qrels(files, keywords["topics_from"]) if files else ([], None)
    if not measures:
        raise InputError("", "no measure", "as in -m 'rbp(p=0.95)'", usage=True)
    chosen = parse_measures(measures, measure_table(measures_from))
    form = form or _form_of(output)
    for name in () if files else (name for name, given in keywords.items() if given not in (None, False)):
        raise InputError(option(name), "says how runs are read, and there are none", "give RUN... QRELS", usage=True)
    check_output(output, files)
    options = chosen_rules(keywords)
    found = weights_by(
        chosen,
        named_runs(runs) if runs else None,
        qrels,
        options,
        ranks=ranks,
        normalize=normalize,
        workers=Workers.of(None, with_progress),
        rank_progress=partial(with_progress, label="ranks"),
    )
    for line in (*found.notes, *found.remarks, *(() if FORMATS[form].signed else (found.signature,))):
        say(line)
    write(render(partial(weights_document, found), form, digits), output)


def _form_of(output: str | None) -> str:
    """The format that the extension of -o asks for; csv without one."""
    return "csv" if output is None or (output and not Path(output).suffix) else form_of(output, formats_for())
