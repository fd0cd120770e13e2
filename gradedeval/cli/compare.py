"""`gradedeval compare RUN... QRELS`: which runs are better, and which differences are significant."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from gradedeval.analysis.compare import TestSettings, compare_matrix
from gradedeval.analysis.comparison_tables import comparison_document, comparison_settings
from gradedeval.analysis.significance import Correction, Test
from gradedeval.analysis.topic_table import topic_table, topic_table_document
from gradedeval.cli.arguments import Destination
from gradedeval.cli.many_runs import MATRIX_OPTIONS, TABLE_OPTIONS, TEST_OPTIONS, matrix_from
from gradedeval.cli.options import READS, command_line, option
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.parallel.progress import with_progress

BASELINE = option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Compare every run with this one: one of "
    "RUN, another file, or saved scores. Default: compare all pairs.")  # fmt: skip
OPTIONS = [
    option("-q", "--by-topic", is_flag=True, help="Print the scores of all runs on each topic, with median, best and "
           "worst, in place of comparisons."),
    BASELINE,
    *TEST_OPTIONS,
]  # fmt: skip


@command_line("compare", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    by_topic: bool,
    baseline: str | None,
    test: Test,
    correction: Correction | None,
    draws: int,
    alpha: float,
    seed: int,
    rope: float | None,
    **keywords: Any,
) -> None:
    """Compare runs: means, differences, wins, ties and losses per topic, effect sizes, confidence intervals, p-values.

    The order of two runs is conclusive where no judging of their unjudged documents can reverse it, each judged alike
    for both. Elsewhere the last column says how many of the lower run would have to be relevant.
    """
    if by_topic:
        _check_by_topic()
    test_settings = TestSettings(test, correction, draws, alpha, seed, rope)
    destination = Destination(keywords)
    matrix, name = matrix_from(keywords, baseline)
    if by_topic:
        destination.deliver(partial(topic_table_document, topic_table(matrix), matrix))
        return
    frame, notes = compare_matrix(matrix, name, test_settings, partial(with_progress, label="draws"))
    settings = comparison_settings(frame, matrix, test_settings)
    destination.deliver(partial(comparison_document, frame, matrix, test_settings, settings), settings)
    warn(notes)


def _check_by_topic() -> None:
    """Raise InputError (usage) for an option of tests where nothing is tested."""
    context = click.get_current_context()
    for name in ("test", "correction", "rope", "alpha", "draws", "seed"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"--{name}", "does not apply to -q, which tests nothing", "leave it out", usage=True)
