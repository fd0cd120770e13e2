"""`gradedeval risk`: the risk of runs against a baseline, and among each other."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis import score_matrix
from gradedeval.cli.many_runs import check_run_count, matrix_options, read_matrix
from gradedeval.cli.options import WIDE, command_line, output_options
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.cli.settings import pop_settings, setting_options
from gradedeval.errors import emit_notes
from gradedeval.questions.risk import check_runs, risk


@command_line("risk", "RUN... QRELS", setting_options(risk), matrix_options(), output_options(), [WIDE])
def command(baseline: str | None, **options: Any) -> None:
    """Report the risk of runs: URisk and TRisk against a baseline, GeoRisk among all runs.

    A run that gains on most topics and loses much on a few has a low URisk, though its mean may be high.
    """
    destination = Destination(options)
    settings = pop_settings(risk, options)
    check_run_count(check_runs, options, baseline)
    matrix, name = read_matrix(options, None if baseline == score_matrix.MEAN else baseline)
    if baseline != score_matrix.MEAN:
        emit_notes(score_matrix.first_baseline_notes(matrix, name))
    result = print_remarks(risk(matrix, baseline=name or baseline, **settings))
    destination.print(result)
