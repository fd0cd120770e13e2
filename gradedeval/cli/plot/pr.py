"""`gradedeval plot pr RUN... QRELS`: precision over recall, graded and at each threshold."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.options import command_line, registered
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.pr import OPTIONS, curves
from gradedeval.plot.curves import curve_panels


@command_line("pr", "RUN... QRELS", OPTIONS, PICTURE_OPTIONS, registered("reading"))
def command(**keywords: Any) -> None:
    """Draw graded precision over graded recall, interpolated, and thinner the binary curve of each threshold.

    More than 8 curves are drawn below each other, the runs by one measure in one picture. Robertson et al., SIGIR 2010,
    section 3.2.
    """
    canvas = Canvas(keywords)
    found = curves(keywords)
    canvas.draw(curve_panels(found.frame), found.signature)
