"""`gradedeval plot pr RUN... QRELS`: precision over recall, graded and at each threshold."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.options import command_line, registered
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.pr import OPTIONS, curves
from gradedeval.plot.curves import curve_panels
from gradedeval.plot.frames import grey_notes


@command_line("pr", "RUN... QRELS", OPTIONS, PICTURE_OPTIONS, registered("reading"))
def command(**keywords: Any) -> None:
    """Draw graded precision over graded recall, interpolated, and thinner the binary curve of each threshold.

    More than 8 curves are drawn below each other, alike, the runs by one measure in one picture; of more than 7 runs
    the first 7 are in color. Robertson et al., SIGIR 2010,
    section 3.2.
    """
    canvas = Canvas(keywords)
    found = curves(keywords)
    warn(grey_notes(found.frame))
    canvas.draw(curve_panels(found.frame), found.signature)
