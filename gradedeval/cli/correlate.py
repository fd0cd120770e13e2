"""`gradedeval correlate RUN... QRELS -m A -m B`: how well measures agree."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.correlate import correlate
from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind
from gradedeval.analysis.tables import correlation_document, correlation_settings
from gradedeval.cli.many_runs import MATRIX_OPTIONS, TABLE_OPTIONS, deliver, form_to, matrix_from
from gradedeval.cli.options import Command, option, with_options

OPTIONS = [
    option("--above", type=click.Choice(KINDS), default="tau", help="Coefficient above the diagonal. pearson and "
           "spearman correlate the scores of all topics, the others the rankings of runs. Default: tau."),
    option("--below", type=click.Choice(KINDS), default="weighted-tau", help="Coefficient below the diagonal. "
           "tau-ap takes the row as the true ranking. Default: weighted-tau."),
]  # fmt: skip


@click.command("correlate", cls=Command)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    from_scores: tuple[str, ...],
    above: Kind,
    below: Kind,
    form: str | None,
    output: str | None,
    **keywords: Any,
) -> None:
    """Correlate measures, over the scores of all topics or over the rankings of runs."""
    form = form_to(form, output, (*files, *from_scores))
    ranks_runs = not {above, below} <= set(BY_TOPIC)
    matrix, _ = matrix_from(files, measures, from_scores, keywords, paired=ranks_runs)
    frame = correlate(matrix, above, below)
    settings = correlation_settings(frame)
    deliver(partial(correlation_document, frame, matrix, settings), form, output, settings)
