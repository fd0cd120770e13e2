"""`gradedeval plot topics RUN RUN QRELS`: two runs topic by topic."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.topic_differences import topic_differences
from gradedeval.cli.compare import BASELINE
from gradedeval.cli.many_runs import MATRIX_OPTIONS, matrix_from
from gradedeval.cli.options import command_line, one_registered
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.plot.topic_bars import topic_notes, topic_panel


@command_line("topics", "RUN RUN QRELS", [BASELINE, one_registered("unseen")], MATRIX_OPTIONS, PICTURE_OPTIONS)
def command(baseline: str | None, **keywords: Any) -> None:
    """Draw the difference of two runs on each topic, the second less the first, the largest gain first.

    A thin line says what judging could make of each difference. Topics whose order it could reverse are grey.
    Several measures are drawn below each other.
    """
    canvas = Canvas(keywords)
    matrix, name = matrix_from(keywords, baseline)
    differences = topic_differences(matrix, name)
    frames = [frame for _, frame in differences.groupby("measure", sort=False)]
    warn(note for frame in frames for note in topic_notes(frame, matrix))
    canvas.draw([topic_panel(frame) for frame in frames], matrix.signature)
