"""`gradedeval correlate` and `gradedeval plot correlate`: how well measures agree."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import Option, command_line, output_options
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.cli.settings import check_mode, pop_settings, setting_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.correlate import (
    BY_TOPIC,
    Correlation,
    above_and_below,
    agreement_panel,
    check_runs,
    correlate,
    scatter_panel,
)

READING = matrix_options("residual_depth", "max_residual")
SCATTER = Option(
    "--scatter", is_flag=True, help="Draw two measures against each other, a point for each run and topic."
)


@command_line("correlate", "RUN... QRELS", setting_options(correlate), READING, output_options())
def command(**options: Any) -> None:
    """Correlate measures, over the scores of all topics or over the rankings of runs."""
    destination = Destination(options)
    destination.print(_correlation(options))


@command_line("correlate", "RUN... QRELS", [SCATTER], setting_options(correlate), PICTURE_OPTIONS, READING)
def picture(scatter: bool, **options: Any) -> None:
    """Draw how well measures agree, as a heat map with the numbers; with --scatter two measures point by point."""
    check_mode("--scatter" if scatter else "", {"--scatter": (), "": settings_of(correlate)})
    canvas = Canvas(options)
    if scatter:
        pop_settings(correlate, options)
        matrix, _ = read_matrix(options, paired=False, bounded=False)
        canvas.draw([scatter_panel(matrix)], matrix.signature)
        return
    correlation = _correlation(options)
    canvas.draw([agreement_panel(correlation.frame)], lines_under(correlation))


def _correlation(options: dict[str, Any]) -> Correlation:
    settings = pop_settings(correlate, options)
    coefficients = settings.get("coefficient", settings_of(correlate)["coefficient"].default)
    check_run_count(partial(check_runs, coefficient=coefficients), options)
    of_orderings = not set(above_and_below(coefficients)) <= set(BY_TOPIC)
    matrix, _ = read_matrix(options, paired=of_orderings, bounded=False)
    correlation: Correlation = print_remarks(correlate(matrix, **settings))
    return correlation
