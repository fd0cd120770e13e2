"""`gradedeval correlate RUN... QRELS -m A -m B`: how well measures agree."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.correlate import BY_TOPIC, KINDS, Kind, correlate, correlation_document, correlation_settings
from gradedeval.analysis.score_matrix import Matrix
from gradedeval.cli.arguments import Destination
from gradedeval.cli.many_runs import MATRIX_OPTIONS, TABLE_OPTIONS, matrix_from
from gradedeval.cli.options import command_line, option

OPTIONS = [
    option("--above", type=click.Choice(KINDS), default="tau", help="Coefficient above the diagonal. pearson and "
           "spearman correlate the scores of all topics, the others the rankings of runs. Default: tau."),
    option("--below", type=click.Choice(KINDS), default="weighted-tau", help="Coefficient below the diagonal. "
           "tau-ap takes the row as the true ranking. Default: weighted-tau."),
]  # fmt: skip


@command_line("correlate", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(above: Kind, below: Kind, **keywords: Any) -> None:
    """Correlate measures, over the scores of all topics or over the rankings of runs."""
    destination = Destination(keywords)
    matrix = matrix_of(above, below, keywords)
    frame = correlate(matrix, above, below)
    settings = correlation_settings(frame)
    destination.deliver(partial(correlation_document, frame, matrix, settings), settings)


def matrix_of(above: Kind, below: Kind, keywords: dict[str, Any]) -> Matrix:
    """The scores that measures are correlated by."""
    return matrix_from(keywords, paired=not {above, below} <= set(BY_TOPIC))[0]
