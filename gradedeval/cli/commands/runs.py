"""`gradedeval plot runs`: the means of runs, their intervals, and what judging could add."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.many_runs import MATRIX_OPTIONS, matrix_from
from gradedeval.cli.options import command_line, one_registered
from gradedeval.cli.results import with_remarks
from gradedeval.cli.settings import setting_options, take_settings
from gradedeval.questions.runs import run_panels, run_summaries

READING = [*map(one_registered, ("queries", "slices", "replicates")), *MATRIX_OPTIONS]


@command_line("runs", "RUN... QRELS", setting_options(run_summaries), PICTURE_OPTIONS, READING)
def picture(**options: Any) -> None:
    """Draw runs by their mean, the best on top: score, bootstrap interval, and stacked above the score the
    residuals of unjudged documents and of ranks beyond the end of the run.

    With --replicates a bar is a system, and its interval is of other topics and other seeds; with fewer than three
    seeds it is of other topics alone.

    Several measures, and the slices of --slice, are drawn below each other.
    """
    canvas = Canvas(options)
    settings = take_settings(run_summaries, options)
    matrix, _ = matrix_from(options, paired=False)
    result = with_remarks(run_summaries(matrix, **settings))
    canvas.draw(run_panels(result.frame), result.signature)
