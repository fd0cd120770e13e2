"""`gradedeval correlate` and `gradedeval plot correlate`: how well measures agree."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import Option, command_line, output_options
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.cli.settings import check_mode, setting_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.correlate import (
    BY_TOPIC,
    Correlation,
    Kind,
    above_and_below,
    agreement_panel,
    check_runs,
    correlate,
    scatter_panel,
)

SETTINGS = setting_options(correlate)
DEFAULT: tuple[Kind, ...] = settings_of(correlate)["coefficient"].default
READING = matrix_options("residual_depth", "max_residual")
SCATTER = Option(
    "--scatter",
    is_flag=True,
    help="Draw two measures against each other, a point for each run and topic.",
    short="Two measures, a point for each run and topic.",
)


@command_line("correlate", "RUN... QRELS", SETTINGS, READING, output_options())
def command(coefficient: tuple[Kind, ...], **options: Any) -> None:
    """Correlate measures, over the scores of all topics or over the rankings of runs."""
    destination = Destination(options)
    destination.print(_correlate(coefficient or DEFAULT, options))


@command_line("correlate", "RUN... QRELS", [SCATTER], SETTINGS, PICTURE_OPTIONS, READING)
def picture(scatter: bool, coefficient: tuple[Kind, ...], **options: Any) -> None:
    """Draw how well measures agree, as a heat map with the numbers; with --scatter two measures point by point."""
    canvas = Canvas(options)
    check_mode("--scatter" if scatter else "", {"--scatter": (), "": ("coefficient",)})
    if scatter:
        matrix, _ = read_matrix(options, paired=False, residuals=False)
        canvas.draw([scatter_panel(matrix)], matrix.signature)
    else:
        correlation = _correlate(coefficient or DEFAULT, options)
        canvas.draw([agreement_panel(correlation.frame)], lines_under(correlation))


def _correlate(coefficients: tuple[Kind, ...], options: dict[str, Any]) -> Correlation:
    """Score the runs, and correlate the measures."""
    check_run_count(partial(check_runs, coefficient=coefficients), options)
    is_by_topic = set(above_and_below(coefficients)) <= set(BY_TOPIC)
    matrix, _ = read_matrix(options, paired=not is_by_topic, residuals=False)
    return print_remarks(correlate(matrix, coefficient=coefficients))
