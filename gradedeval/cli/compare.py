"""`gradedeval compare RUN... QRELS`: which runs are better, and which differences are significant."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from gradedeval.analysis.compare import compare_matrix
from gradedeval.analysis.comparison_notes import order_notes
from gradedeval.analysis.comparison_tables import comparison_document, comparison_settings
from gradedeval.analysis.significance import Correction, Test, TestSettings
from gradedeval.analysis.topic_table import topic_table, topic_table_document
from gradedeval.cli.arguments import Destination
from gradedeval.cli.many_runs import MATRIX_OPTIONS, TABLE_OPTIONS, TEST_OPTIONS, matrix_from
from gradedeval.cli.options import READS, command_line, one_registered, option
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.formats import FORMATS
from gradedeval.parallel.progress import with_progress

BASELINE = option("--baseline", metavar="RUN|SCORES.csv", file=READS, help="Compare every run with this one: one of "
    "RUN, another file, or saved scores. Default: compare all pairs.")  # fmt: skip
OPTIONS = [
    option("-q", "--by-topic", is_flag=True, help="Print the scores of all runs on each topic, with median, best and "
           "worst, in place of comparisons."),
    BASELINE,
    option("--judging", is_flag=True, help="Say of each pair whether more judging could reverse its order, in a table "
           "of its own."),
    *TEST_OPTIONS,
    one_registered("unseen"),
]  # fmt: skip


@command_line("compare", "RUN... QRELS", OPTIONS, MATRIX_OPTIONS, TABLE_OPTIONS)
def command(
    by_topic: bool,
    baseline: str | None,
    judging: bool,
    test: Test,
    correction: Correction | None,
    draws: int,
    alpha: float,
    seed: int,
    rope: float | None,
    **keywords: Any,
) -> None:
    """Compare runs: means, differences, wins, ties and losses per topic, effect sizes, confidence intervals, p-values.

    With --judging a second table says what becomes of the order of two runs if all their documents are judged, each
    alike for both: it stays the same, or so many unjudged documents of the lower run would reverse it, or that is not
    known.
    """
    if by_topic:
        _check_by_topic()
    judging = judging or keywords["unseen"] is not None
    test_settings = TestSettings(test, correction, draws, alpha, seed, rope)
    destination = Destination(keywords)
    matrix, name = matrix_from(keywords, baseline)
    if by_topic:
        destination.deliver(partial(topic_table_document, topic_table(matrix), matrix))
        return
    progress, told = partial(with_progress, label="draws"), judging or FORMATS[destination.form].layout == "long"
    frame, notes = compare_matrix(matrix, name, test_settings, progress, judging=told)
    settings = comparison_settings(frame, matrix, test_settings)
    make = partial(comparison_document, frame, matrix, test_settings, settings, judging=judging)
    destination.deliver(make, settings)
    warn([*notes, *(order_notes(frame, matrix) if told else [])])


def _check_by_topic() -> None:
    """Raise InputError (usage) for an option of tests where nothing is tested."""
    context = click.get_current_context()
    for name in ("test", "correction", "rope", "alpha", "draws", "seed", "judging", "unseen"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise InputError(f"--{name}", "does not apply to -q, which tests nothing", "leave it out", usage=True)
