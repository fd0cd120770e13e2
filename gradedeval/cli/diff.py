"""`gradedeval diff A B QRELS`: which topics got worse, and which documents made the difference."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import click

from gradedeval.analysis.diff.by_topic import Only, diff_runs
from gradedeval.analysis.diff.tables import diff_document
from gradedeval.analysis.explain import DEFAULT
from gradedeval.cli.arguments import Destination, measure_table, runs_and_qrels_if_any
from gradedeval.cli.options import MEASURES_FROM, command_line, measure_option, option, output_options, registered
from gradedeval.cli.output import warn
from gradedeval.errors import InputError, plural
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import preset_digits

OPTIONS = [
    option("--topic", metavar="ID", help="Show this topic, document by document."),
    option("--top", type=click.IntRange(min=1), metavar="N", help="Show the N worst topics. Default: 10 in tables, all "
           "elsewhere."),
    option("--only", type=click.Choice(get_args(Only)), help="Only topics that got worse or better, or whose order "
           "judging could still turn around."),
    measure_option("Measure to compare by.", default=DEFAULT),
    *output_options(formats_for(), digits="4"),
]  # fmt: skip


@command_line("diff", "A B QRELS", OPTIONS, [MEASURES_FROM], registered("reading"))
def command(
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    topic: str | None,
    top: int | None,
    only: Only | None,
    **keywords: Any,
) -> None:
    """Show what changed from run A to run B: topics by difference, the worst first, and the documents that made it.

    A document entered, left, rose, fell, or stayed where it was and counts otherwise; what they explain sums to the
    difference. A topic is 'unsettled' where judging unjudged documents could turn the order of the two scores around.

    \b
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --only worse
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --topic 301
    """
    chosen = parse_measures(measures or DEFAULT, measure_table(measures_from))
    destination = Destination(keywords)
    runs, qrels = runs_and_qrels_if_any(keywords.pop("files"), keywords)
    if len(runs) != 2 or qrels is None:
        given, hint = (
            f"{len(runs)} {plural(len(runs), 'run')} given",
            "diff compares two, and needs qrels: diff A B QRELS",
        )
        raise InputError("", given, hint, usage=True)
    options = resolve_options(**keywords)
    whole = diff_runs(named_runs(runs), qrels, chosen, options, Workers.of())
    shown = whole.only(only, topic)
    digits = preset_digits(options) if destination.digits is None else destination.digits
    make = partial(diff_document, whole, shown, top=top, alone=topic is not None, digits=digits)
    warn(whole.notes)
    destination.deliver(make)
