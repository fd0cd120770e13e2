"""`gradedeval plot fit RUN... QRELS -m 'nerr10(phi=0.05..0.95)' --to err@20`: agreement over a parameter."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.tables import signature_lines
from gradedeval.cli.fit import OPTIONS, fitted
from gradedeval.cli.many_runs import SCORING_OPTIONS
from gradedeval.cli.options import command_line
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.parameter import fit_panels


@command_line("fit", "RUN... QRELS", OPTIONS, PICTURE_OPTIONS, SCORING_OPTIONS)
def command(**keywords: Any) -> None:
    """Draw how well measures agree with another over their parameter: the best value, and those within 0.001 of it.

    A line for each measure and kind of agreement; measures whose parameters differ are drawn below each other.
    Azzopardi et al., ICTIR 2021, figure 5.
    """
    canvas = Canvas(keywords)
    result = fitted(keywords)
    warn(result.notes)
    canvas.draw(fit_panels(result), signature_lines(result.settings, result.signature))
