"""`gradedeval plot runs`: means of runs, their intervals and residuals."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.many_runs import matrix_options, read_matrix
from gradedeval.cli.options import command_line
from gradedeval.cli.results import print_remarks
from gradedeval.cli.settings import setting_options
from gradedeval.questions.runs import run_panels, run_summaries

READING = matrix_options("queries", "slices", "replicates")


@command_line("runs", "RUN... QRELS", setting_options(run_summaries), PICTURE_OPTIONS, READING)
def picture(slice: str | None, **options: Any) -> None:
    """Draw runs by their mean, the best on top: score, bootstrap interval, and stacked above the score the
    residuals of unjudged documents and of ranks beyond the end of the run.

    With --replicates a bar is a system, and its interval is of other topics and other seeds; with fewer than three
    seeds it is of other topics alone.

    Several measures, and the slices of --slice, are drawn below each other.
    """
    canvas = Canvas(options)
    matrix, _ = read_matrix(options, paired=False)
    result = print_remarks(run_summaries(matrix, slice=slice))
    canvas.draw(run_panels(result.frame), result.signature)
