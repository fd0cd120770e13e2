"""`gradedeval power RUN... QRELS`: how many pairs of runs a measure can tell apart."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.power import power
from gradedeval.analysis.tables import power_document
from gradedeval.cli.many_runs import (
    DRAW_OPTIONS,
    MATRIX_OPTIONS,
    SAVED_OPTIONS,
    TABLE_OPTIONS,
    curve_form,
    deliver,
    draws_option,
    form_to,
    matrix_from,
    write_curve,
)
from gradedeval.cli.options import Sectioned, with_options
from gradedeval.parallel.progress import with_progress

OPTIONS = [
    draws_option(1000, "Bootstrap samples."),
    *DRAW_OPTIONS,
    click.option("--best", type=int, metavar="N", help="Only the N best runs, by each measure's own mean."),
    click.option("--curve", metavar="FILE.csv", help="Write the level of every pair, from the highest to the lowest."),
]


@click.command("power", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, SAVED_OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
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
    **options: Any,
) -> None:
    """Tell how many pairs of runs each measure finds significantly different, and which difference that takes.

    Sakai's paired bootstrap test: studentised, on shifted differences.
    """
    form = form_to(form, output, (*files, *from_scores))
    curve_form(curve)
    matrix, _ = matrix_from(files, measures, from_scores, options)
    found = power(
        matrix, draws=draws, alpha=alpha, seed=seed, best=best, progress=partial(with_progress, label="draws")
    )
    write_curve(found.curve, curve, found.settings)
    deliver(partial(power_document, found, matrix), form, output, found.settings)
