"""`gradedeval plot correlate RUN... QRELS -m A -m B`: how well measures agree, as a heat map or a scatter."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.correlate import Kind, correlate, correlation_settings
from gradedeval.analysis.tables import signature_lines
from gradedeval.cli.correlate import OPTIONS, matrix_of
from gradedeval.cli.many_runs import MATRIX_OPTIONS, matrix_from
from gradedeval.cli.options import command_line, option
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.agreement import agreement_panel, scatter_panel

SCATTER = option(
    "--scatter", is_flag=True, help="Draw two measures against each other, a point for each run and topic."
)


@command_line("correlate", "RUN... QRELS", [SCATTER], OPTIONS, MATRIX_OPTIONS, PICTURE_OPTIONS)
def command(scatter: bool, above: Kind, below: Kind, **keywords: Any) -> None:
    """Draw how well measures agree, as a heat map with the numbers; with --scatter two measures point by point."""
    canvas = Canvas(keywords)
    if scatter:
        matrix, _ = matrix_from(keywords, paired=False)
        canvas.draw([scatter_panel(matrix)], matrix.signature)
        return
    matrix = matrix_of(above, below, keywords)
    frame = correlate(matrix, above, below)
    canvas.draw([agreement_panel(frame)], signature_lines(correlation_settings(frame), matrix.signature))
