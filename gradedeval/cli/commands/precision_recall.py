"""`gradedeval pr` and `gradedeval plot pr`: precision-recall curves."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas, lines_under
from gradedeval.cli.options import CUTOFF, command_line, output_options, registry_options
from gradedeval.cli.results import Destination, call_on_runs
from gradedeval.cli.settings import setting_options
from gradedeval.questions.precision_recall import curve_panels, precision_recall

SETTINGS = setting_options(precision_recall)
READING = [CUTOFF, *registry_options("reading")]


@command_line("pr", "RUN... QRELS", SETTINGS, READING, output_options(digits="4"))
def command(files: tuple[str, ...], **options: Any) -> None:
    """Print graded precision over graded recall, interpolated, and the binary curve of each threshold.

    Means over topics of the highest precision at or beyond a level of recall. Robertson et al., SIGIR 2010.
    """
    destination = Destination(options)
    destination.print(call_on_runs(precision_recall, files, options))


@command_line("pr", "RUN... QRELS", SETTINGS, PICTURE_OPTIONS, READING)
def picture(files: tuple[str, ...], **options: Any) -> None:
    """Draw graded precision over graded recall, interpolated, and as thin lines the binary curve of each
    threshold.

    More than 8 curves are drawn in one picture per measure, below each other; of more than 7 runs the first 7 are
    in color. Robertson et al., SIGIR 2010, section 3.2.
    """
    canvas = Canvas(options)
    curves = call_on_runs(precision_recall, files, options)
    canvas.draw(curve_panels(curves.frame), lines_under(curves))
