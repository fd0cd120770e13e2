"""`gradedeval plot topics`: the difference of two runs on each topic."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import command_line
from gradedeval.cli.results import print_remarks
from gradedeval.cli.settings import setting_options
from gradedeval.questions.topics import check_runs, texts_of_largest, topic_differences, topic_panels

READING = matrix_options("unseen", "queries", "replicates")


@command_line("topics", "RUN RUN QRELS", setting_options(topic_differences), PICTURE_OPTIONS, READING)
def picture(baseline: str | None, **options: Any) -> None:
    """Draw the difference of two runs on each topic, the second less the first, the largest gain first.

    A thin line shows the range of each difference under further judging. Topics with an order that judging could
    reverse are grey. Several measures are drawn below each other.

    With --replicates a score is the mean over the seeds of a system, and a thin line is one standard error over
    seeds to each side. A topic is grey if judgments, the same for all seeds, could reverse the order.
    """
    canvas = Canvas(options)
    check_run_count(check_runs, options, baseline)
    matrix, name = read_matrix(options, baseline)
    result: Any = print_remarks(topic_differences(matrix, baseline=name))
    canvas.draw(topic_panels(result.frame, result.scores), result.signature, "\n".join(texts_of_largest(result)))
