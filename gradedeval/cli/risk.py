"""`gradedeval risk RUN... QRELS`: what runs lose on some topics for what they gain on others."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.analysis.comparison_tables import risk_document, risk_settings
from gradedeval.analysis.risk import ALPHA, risk_matrix
from gradedeval.cli.arguments import Destination
from gradedeval.cli.many_runs import MATRIX_OPTIONS, TABLE_OPTIONS, matrix_from
from gradedeval.cli.options import READS, command_line, option
from gradedeval.cli.output import warn
from gradedeval.options import numbers

OPTIONS = [
    option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Compare every run with this one: one of RUN, "
           "another file, or saved scores. Default: the mean of all runs on each topic."),
    option(numbers.LOSS_ALPHA, default=ALPHA, metavar="A", help="A loss counts 1 + A times as much as a win. "
           f"Default: {ALPHA}."),
]  # fmt: skip


@command_line("risk", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(baseline: str | None, alpha: float, **keywords: Any) -> None:
    """Report the risk of runs: URisk and TRisk against a baseline, GeoRisk among all runs.

    A run that gains on most topics and loses much on a few has a low URisk, though its mean may be high.
    """
    destination = Destination(keywords)
    matrix, name = matrix_from(keywords, baseline)
    frame, notes = risk_matrix(matrix, name, alpha)
    settings = risk_settings(frame, matrix, alpha)
    destination.deliver(partial(risk_document, frame, matrix, settings), settings)
    warn(notes)
