"""`gradedeval weights [RUN... QRELS]`: the weight of each rank."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis import fixed_weights
from gradedeval.analysis.rank_weights import DEPTH, NORMALIZE, QUANTITIES, Weights, weights_by, weights_document
from gradedeval.cli.arguments import Destination, measure_table, run_and_qrels
from gradedeval.cli.options import (
    MEASURES_FROM,
    command_line,
    given,
    measure_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

MEASURE = measure_option("Measure, such as 'rbp(p=0.95)' or p@10.", default=())
RANKS = option(fixed_weights.RANKS, default=DEPTH, metavar="N", help=f"Print ranks 1 to N. Default: {DEPTH}.")
OPTIONS = [
    option("--normalize", type=click.Choice(NORMALIZE), default="none", help="'sum': scale the weights of ranks 1 to N "
           "to sum to 1; 'max': scale the largest to 1. Default: none."),
    option("--quantity", type=click.Choice(QUANTITIES), default="W", help="W: the weights; C: the probability of going "
           "on from a rank to the next, W(i+1)/W(i); L: that a rank is the last one seen, (W(i) − W(i+1))/W(1). "
           "Default: W."),
]  # fmt: skip


@command_line(
    "weights",
    "[RUN... QRELS]",
    [MEASURE, RANKS],
    OPTIONS,
    output_options(formats_for(), "csv", digits="6"),
    [MEASURES_FROM],
    registered("reading"),
)
def command(**keywords: Any) -> None:
    """Print the weight of each rank, one column per measure.

    Without files: for measures that are sums of gains with fixed weights, such as p@10, dcg, rbp or insq. With runs and
    qrels also for ap, rr, sp, bpref and q: the weights implied by each ranking, averaged over all of them.

    \b
    gradedeval weights -m 'rbp(p=0.95) insq dcg@10' --ranks 50
    gradedeval weights runs/*.run qrels.txt -m 'ap rr' --normalize sum -o w.csv
    """
    destination = Destination(keywords, "csv")
    weights = weights_of(keywords)
    warn([*weights.notes, *weights.remarks])
    destination.deliver(partial(weights_document, weights), weights.signature)


def weights_of(keywords: dict[str, Any]) -> Weights:
    """The weights of the measures asked for, by themselves or in RUN... QRELS."""
    files, measures = keywords.pop("files"), keywords.pop("measures")
    settings = {name: keywords.pop(name) for name in ("ranks", "normalize", "quantity")}
    table = measure_table(keywords.pop("measures_from"))
    runs, qrels = run_and_qrels(files, keywords) if files else ([], None)
    if not measures:
        raise InputError("", "no measure given", "for example -m 'rbp(p=0.95)'", usage=True)
    chosen = parse_measures(measures, table)
    if given(keywords) and not files:
        raise InputError(given(keywords)[0], "applies to runs, and none are given", "add RUN... QRELS", usage=True)
    return weights_by(
        chosen,
        named_runs(runs) if runs else None,
        qrels,
        resolve_options(**keywords),
        **settings,
        workers=Workers.of(None, with_progress),
        rank_progress=partial(with_progress, label="ranks"),
    )
