"""`gradedeval plot informative RUN... QRELS`: actual precision over recall, and what scores alone tell of it."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.informative import OPTIONS, found_of
from gradedeval.cli.options import command_line, registered
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.inferred import inferred_panels


@command_line("informative", "RUN... QRELS", OPTIONS, PICTURE_OPTIONS, registered("reading"))
def command(**keywords: Any) -> None:
    """Draw actual precision over recall, and beside it the curve that each measure's score alone determines: binary
    from each grade on, and graded. Means over lists.

    Aslam, Yilmaz & Pavlu, SIGIR 2005; Robertson et al., SIGIR 2010, section 4.1.
    """
    canvas = Canvas(keywords)
    found = found_of(keywords)
    canvas.draw(inferred_panels(found.curves), found.signature)
