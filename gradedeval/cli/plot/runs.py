"""`gradedeval plot runs RUN... QRELS`: what is known of each run, and what is not."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.run_summaries import LEVEL, run_summaries
from gradedeval.cli.many_runs import MATRIX_OPTIONS, matrix_from
from gradedeval.cli.options import command_line, option
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.options import numbers
from gradedeval.plot.run_bars import run_notes, run_panel

OPTIONS = [
    option(numbers.LEVEL, default=LEVEL, metavar="P", help=f"Level of the bootstrap interval. Default: "
           f"{LEVEL}."),
]  # fmt: skip


@command_line("runs", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, PICTURE_OPTIONS)
def command(level: float, **keywords: Any) -> None:
    """Draw runs by their mean, the best on top: score, bootstrap interval, and stacked above the score what the
    unjudged documents and what lies beyond the end of the run could add.

    Several measures are drawn below each other.
    """
    canvas = Canvas(keywords)
    matrix, _ = matrix_from(keywords, paired=False)
    summaries = run_summaries(matrix, level)
    frames = [frame for _, frame in summaries.groupby("measure", sort=False)]
    warn(note for frame in frames for note in run_notes(frame))
    canvas.draw([run_panel(frame, level) for frame in frames], matrix.signature)
