"""`gradedeval plot history FILE`: how scores went, evaluation by evaluation."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.history import LAST_OPTION, OPTIONS, history_of
from gradedeval.cli.options import command_line
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.course import course_panels
from gradedeval.plot.frames import grey_notes


@command_line("history", "FILE", OPTIONS, [LAST_OPTION], PICTURE_OPTIONS)
def command(last: int | None, **keywords: Any) -> None:
    """Draw the course of each run, a picture for each measure, with its interval.

    The scores of a run are joined as long as they are comparable; a vertical line stands between neighbouring
    evaluations whose qrels or options differ.
    """
    canvas = Canvas(keywords)
    found = history_of(keywords)
    warn(grey_notes(found.frame))
    canvas.draw(course_panels(found.frame, last), "\n".join(dict.fromkeys(found.frame["signature"])))
