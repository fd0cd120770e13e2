"""`gradedeval plot observation LOG`: what users look at, and the weights of ranks that are nearest to it."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.clicks.fit import OPTIONS, fits_of
from gradedeval.cli.clicks.log_options import LOG_OPTIONS
from gradedeval.cli.options import MEASURES_FROM, command_line
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.attention import observation_panel


@command_line("observation", "LOG", OPTIONS, PICTURE_OPTIONS, [MEASURES_FROM], LOG_OPTIONS)
def command(**keywords: Any) -> None:
    """Draw what the users of a click log look at, as `gradedeval clicks observe` estimates it, and the weights of
    measures that are nearest to it, as `gradedeval clicks fit` finds them.
    """
    canvas = Canvas(keywords)
    fits = fits_of(**keywords)
    warn(fits.notes)
    canvas.draw([observation_panel(fits, keywords["ranks"])], fits.settings)
