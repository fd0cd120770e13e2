"""`gradedeval compare RUN... QRELS`: which run is better, and how sure that is."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import click

from gradedeval.analysis.compare import Trial, compared
from gradedeval.analysis.significance import Correction, Test
from gradedeval.analysis.tables import comparison_document, comparison_settings
from gradedeval.cli.many_runs import (
    DRAW_OPTIONS,
    MATRIX_OPTIONS,
    SAVED_OPTIONS,
    TABLE_OPTIONS,
    deliver,
    draws_option,
    form_to,
    matrix_from,
    tell,
)
from gradedeval.cli.options import Sectioned, with_options
from gradedeval.parallel.progress import with_progress

OPTIONS = [
    click.option("--baseline", metavar="RUN|SCORES.csv", help="Compare with this run: one of RUN, another file, or "
                 "saved scores. Default: all pairs."),
    click.option("--test", type=click.Choice(get_args(Test)), default="randomization", show_default=True,
                 help="tukey-hsd is its randomized form, which corrects for all pairs itself."),
    click.option("--correction", type=click.Choice(get_args(Correction)), help="Over the pairs of each measure. "
                 "Default: holm."),
    draws_option(10_000, "Permutations, and bootstrap samples."),
    *DRAW_OPTIONS,
]  # fmt: skip


@click.command("compare", cls=Sectioned)
@click.argument("files", nargs=-1, metavar="RUN... QRELS")
@with_options(OPTIONS, SAVED_OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    from_scores: tuple[str, ...],
    baseline: str | None,
    form: str | None,
    output: str | None,
    test: Test,
    correction: Correction | None,
    draws: int,
    alpha: float,
    seed: int,
    **options: Any,
) -> None:
    """Compare runs: means, differences, wins, ties and losses by topic, effect sizes, intervals, p values.

    A difference is 'not known' where it is no larger than the mean residual of the run behind: judging its unjudged
    documents could turn the order.
    """
    trial = Trial(test, correction, draws, alpha, seed)
    form = form_to(form, output, (*files, *from_scores))
    matrix, name = matrix_from(files, measures, from_scores, options, baseline)
    frame, notes = compared(matrix, name, trial, partial(with_progress, label="draws"))
    settings = comparison_settings(frame, matrix, trial)
    deliver(partial(comparison_document, frame, matrix, trial, settings), form, output, settings)
    tell(notes)
