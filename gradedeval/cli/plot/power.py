"""`gradedeval plot power RUN... QRELS`: the significance levels of all pairs of runs in descending order."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.tables import signature_lines
from gradedeval.cli.many_runs import MATRIX_OPTIONS
from gradedeval.cli.options import command_line
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.power import OPTIONS, power_of
from gradedeval.plot.levels import level_panel


@command_line("power", "RUN... QRELS", OPTIONS, PICTURE_OPTIONS, MATRIX_OPTIONS)
def command(alpha: float, **keywords: Any) -> None:
    """Draw the achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each
    measure: the nearer to the axes, the more it tells apart.

    Sakai, SIGIR 2006; Robertson et al., SIGIR 2010, figure 3.
    """
    canvas = Canvas(keywords)
    result, matrix = power_of(alpha, keywords)
    canvas.draw([level_panel(result.curve, alpha)], signature_lines(result.settings, matrix.signature))
