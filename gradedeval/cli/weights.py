"""`gradedeval weights [RUN... QRELS]`: the weight of each rank."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from gradedeval.analysis.rank_weights import DEEPEST, DEPTH, NORMALIZE, weights_by
from gradedeval.analysis.rank_weights_table import weights_document
from gradedeval.cli.arguments import check_output, form_of, measure_table, run_and_qrels
from gradedeval.cli.options import (
    MEASURES_FROM,
    Command,
    files_named,
    given,
    measure_option,
    option,
    output_options,
    registered,
    with_options,
)
from gradedeval.cli.output import say, write
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS, formats_for, render
from gradedeval.measures.parse import parse_measures
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

OPTIONS = [
    measure_option("Measure, such as 'rbp(p=0.95)' or p@10.", default=()),
    option("--ranks", type=click.IntRange(1, DEEPEST), default=DEPTH, metavar="N", help="Print ranks 1 to N. Default: "
           f"{DEPTH}."),
    option("--normalize", type=click.Choice(NORMALIZE), default="none", help="'sum': scale the weights of ranks 1 to N "
           "to sum to 1; 'max': scale the largest to 1. Default: none."),
    *output_options(formats_for(), "csv", digits="6"),
]  # fmt: skip


@click.command("weights", cls=Command)
@click.argument("files", nargs=-1, metavar="[RUN... QRELS]")
@with_options(OPTIONS, [MEASURES_FROM], registered("reading"))
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
    """Print the weight of each rank, one column per measure.

    Without files: for measures that are sums of gains with fixed weights, such as p@10, dcg, rbp or insq. With runs and
    qrels also for ap, rr, sp, bpref and q: the weights implied by each ranking, averaged over all of them.

    \b
    gradedeval weights -m 'rbp(p=0.95) insq dcg@10' --ranks 50
    gradedeval weights runs/*.run qrels.txt -m 'ap rr' --normalize sum -o w.csv
    """
    runs, qrels = run_and_qrels(files, files_named(keywords)) if files else ([], None)
    if not measures:
        raise InputError("", "no measure given", "for example -m 'rbp(p=0.95)'", usage=True)
    chosen = parse_measures(measures, measure_table(measures_from))
    form = form or _form_of(output)
    if given(keywords) and not files:
        raise InputError(given(keywords)[0], "applies to runs, and none are given", "add RUN... QRELS", usage=True)
    check_output(output, files)
    options = resolve_options(**keywords)
    weights = weights_by(
        chosen,
        named_runs(runs) if runs else None,
        qrels,
        options,
        ranks=ranks,
        normalize=normalize,
        workers=Workers.of(None, with_progress),
        rank_progress=partial(with_progress, label="ranks"),
    )
    for line in (*weights.notes, *weights.remarks, *(() if FORMATS[form].signed else (weights.signature,))):
        say(line)
    write(render(partial(weights_document, weights), form, digits), output)


def _form_of(output: str | None) -> str:
    """The format that the extension of -o stands for; csv without one."""
    return "csv" if output is None or (output and not Path(output).suffix) else form_of(output, formats_for())
