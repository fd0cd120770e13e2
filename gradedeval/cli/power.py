"""`gradedeval power RUN... QRELS`: the discriminative power of measures."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.power import power
from gradedeval.analysis.tables import power_document
from gradedeval.cli.many_runs import (
    ALPHA,
    MATRIX_OPTIONS,
    TABLE_OPTIONS,
    curve_form,
    deliver,
    draw_options,
    form_to,
    matrix_from,
    write_curve,
)
from gradedeval.cli.options import Command, option, with_options
from gradedeval.parallel.progress import with_progress

OPTIONS = [
    ALPHA,
    *draw_options(1000, "Number of bootstrap samples."),
    option("--best", type=int, metavar="N", help="Use only the N best runs by the mean of each measure."),
    option("--curve", metavar="FILE.csv", help="Write the achieved significance level of every pair, from the highest "
           "to the lowest."),
]  # fmt: skip


@click.command("power", cls=Command)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    from_scores: tuple[str, ...],
    draws: int,
    alpha: float,
    seed: int,
    best: int | None,
    curve: str | None,
    form: str | None,
    output: str | None,
    **keywords: Any,
) -> None:
    """Report how many pairs of runs each measure finds significantly different, and how large a difference that takes.

    Uses Sakai's paired bootstrap test (studentized, on shifted differences).
    """
    form = form_to(form, output, (*files, *from_scores))
    curve_form(curve)
    matrix, _ = matrix_from(files, measures, from_scores, keywords)
    result = power(
        matrix, draws=draws, alpha=alpha, seed=seed, best=best, progress=partial(with_progress, label="draws")
    )
    write_curve(result.curve, curve, result.settings)
    deliver(partial(power_document, result, matrix), form, output, result.settings)
