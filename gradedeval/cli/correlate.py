"""`gradedeval correlate RUN... QRELS -m A -m B`: how far measures agree."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.correlate import correlate
from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind
from gradedeval.analysis.tables import correlation_document, correlation_settings
from gradedeval.cli.many_runs import MATRIX_OPTIONS, SAVED_OPTIONS, TABLE_OPTIONS, deliver, form_to, matrix_from
from gradedeval.cli.options import Sectioned, with_options

OPTIONS = [
    click.option("--above", type=click.Choice(KINDS), default="tau", show_default=True, help="Above the diagonal. "
                 "pearson and spearman compare the scores of all topics, the others the orderings of runs."),
    click.option("--below", type=click.Choice(KINDS), default="weighted-tau", show_default=True, help="Below the "
                 "diagonal. In tau-ap the row is the truth."),
]  # fmt: skip


@click.command("correlate", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, SAVED_OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    from_scores: tuple[str, ...],
    above: Kind,
    below: Kind,
    form: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Tell how far measures agree, by the scores of topics or by the ordering of runs."""
    form = form_to(form, output, (*files, *from_scores))
    orderings = not {above, below} <= set(BY_TOPIC)
    matrix, _ = matrix_from(files, measures, from_scores, options, paired=orderings)
    frame = correlate(matrix, above, below)
    settings = correlation_settings(frame)
    deliver(partial(correlation_document, frame, matrix, settings), form, output, settings)
