"""`gradedeval plot clicks LOG QRELS -m MEASURE`: a click measure of lists against a measure."""

from __future__ import annotations

from typing import Any

import click

from gradedeval.cli.clicks.correlate import OPTIONS, READING_OPTIONS, correlations_of
from gradedeval.cli.options import command_line, option
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.clicks.click_measures import CLICK_MEASURES
from gradedeval.plot.click_points import CLICKS, click_panels

CLICK_MEASURE = option("--click-measure", "clicks", type=click.Choice([*CLICK_MEASURES]), default=CLICKS, help="Which "
                       f"is drawn. Default: {CLICKS}.")  # fmt: skip


@command_line("clicks", "LOG QRELS", [CLICK_MEASURE], OPTIONS, PICTURE_OPTIONS, READING_OPTIONS)
def command(clicks: str, **keywords: Any) -> None:
    """Draw what users clicked on lists against a measure of these lists, a point for each list, as large as its
    sessions, with the correlation that `gradedeval clicks correlate` prints."""
    canvas = Canvas(keywords)
    found = correlations_of(**keywords)
    warn(found.notes)
    canvas.draw(click_panels(found, clicks), found.settings)
