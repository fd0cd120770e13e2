"""`gradedeval power RUN... QRELS`: the discriminative power of measures."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.analysis.power import power
from gradedeval.analysis.tables import power_document
from gradedeval.cli.arguments import Target
from gradedeval.cli.many_runs import (
    ALPHA,
    MATRIX_OPTIONS,
    TABLE_OPTIONS,
    curve_form,
    draw_options,
    matrix_from,
    write_curve,
)
from gradedeval.cli.options import command_line, option
from gradedeval.parallel.progress import with_progress

OPTIONS = [
    ALPHA,
    *draw_options(1000, "Number of bootstrap samples."),
    option("--best", type=int, metavar="N", help="Use only the N best runs by the mean of each measure."),
    option("--curve", metavar="FILE.csv", help="Write the achieved significance level of every pair, from the highest "
           "to the lowest."),
]  # fmt: skip


@command_line("power", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(draws: int, alpha: float, seed: int, best: int | None, curve: str | None, **keywords: Any) -> None:
    """Report how many pairs of runs each measure finds significantly different, and how large a difference that takes.

    Uses Sakai's paired bootstrap test (studentized, on shifted differences).
    """
    target = Target(keywords)
    curve_form(curve)
    matrix, _ = matrix_from(keywords)
    progress = partial(with_progress, label="draws")
    result = power(matrix, draws=draws, alpha=alpha, seed=seed, best=best, progress=progress)
    write_curve(result.curve, curve, result.settings)
    target.deliver(partial(power_document, result, matrix), result.settings)
