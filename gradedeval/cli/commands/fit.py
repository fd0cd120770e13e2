"""`gradedeval fit` and `gradedeval plot fit`: the parameter with which a measure agrees best with another."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.options import command_line, curve_option, output_options, scoring_options
from gradedeval.cli.results import Destination, call_on_runs, curve_format, print_remarks, write_curve
from gradedeval.cli.settings import check_mode, pop_settings, resolve_measures, setting_options
from gradedeval.errors import InputError
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.fit import FitResult, fit, fit_panels, fit_weights

SETTINGS = setting_options(fit_weights, fit)
CURVE = curve_option(
    "Write the curve: every value tried, with its correlation.", short="Write the curve of all values tried."
)
READING = scoring_options("residual_depth", "max_residual")
OPTIONS_OF_MODE = {"--to-weights": settings_of(fit_weights), "": settings_of(fit)}
"""Flag of a mode -> the options that it takes and another mode does not."""


@command_line("fit", "RUN... QRELS", SETTINGS, [CURVE], READING, output_options(),
              most_used="-m --to --coefficient --precision --validate --to-weights --ranks --normalize --curve "
              "-f -o -k --gain --topics --like --quiet")  # fmt: skip
def command(files: tuple[str, ...], curve: str | None, **options: Any) -> None:
    """Find the parameter value for which a measure agrees best with another, or has the closest weights.

    The parameter to fit is given as a range: 'nerr10(phi=0.05..0.95)', nerr9@1..40, or with the step of the first grid
    'rbp(p=0.1..0.9..0.1)'. After the whole grid, finer grids around the best value are tried.
    """
    destination = Destination(options)
    curve_format(curve)
    result = _fit(files, options)
    if curve:
        write_curve(result.curve, curve, result.settings_text or result.signature)
    destination.print(result)


@command_line("fit", "RUN... QRELS", SETTINGS, PICTURE_OPTIONS, READING)
def picture(files: tuple[str, ...], **options: Any) -> None:
    """Draw the agreement of measures with another measure over their parameter, the best value, and all values
    within 0.001 of it.

    A line for each measure and kind of agreement; measures whose parameters differ are drawn below each other.
    Azzopardi et al., ICTIR 2021, figure 5.
    """
    canvas = Canvas(options)
    result = _fit(files, options)
    canvas.draw(fit_panels(result), lines_under(result))


def _fit(files: tuple[str, ...], options: dict[str, Any]) -> FitResult:
    """Fit to the scores of runs, or with --to-weights to weights of ranks."""
    mode = "--to-weights" if options["weights"] is not None else ""
    check_mode(mode, OPTIONS_OF_MODE)
    if not mode:
        return call_on_runs(fit, files, options, modes=(fit_weights,))
    if files:
        raise InputError(mode, "cannot be combined with runs", "leave them out", usage=True)
    settings = pop_settings(fit_weights, options, fit)
    return print_remarks(fit_weights(**resolve_measures(fit_weights, settings, options)))
