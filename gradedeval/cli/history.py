"""`gradedeval history FILE`: how scores went, evaluation by evaluation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from gradedeval.analysis.history import History, read_history
from gradedeval.analysis.history_tables import LAST, history_document
from gradedeval.cli.arguments import Destination, usage
from gradedeval.cli.options import command_line, option, output_options
from gradedeval.cli.output import warn
from gradedeval.errors import InputError, did_you_mean, shorten
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers

OPTIONS = [
    option("--run", metavar="NAME", help="Only this run."),
    option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Only this measure. May be repeated."),
]
LAST_OPTION = option(numbers.LAST, metavar="N", help="Only the last N evaluations of each. "
    f"Default: {LAST} in tables, all elsewhere.")  # fmt: skip


@command_line("history", "FILE", OPTIONS, [LAST_OPTION], output_options(formats_for(), digits="4"))
def command(last: int | None, **keywords: Any) -> None:
    """Show the course of each run by each measure: score, interval, change from the last and from the best.

    FILE is written by `gradedeval eval --append-to FILE` and `gradedeval check --history FILE`. Where the qrels or an
    option changed, a mark says what; nothing is compared across it.
    """
    destination = Destination(keywords)
    destination.deliver(partial(history_document, history_of(keywords), last=last))


def history_of(keywords: dict[str, Any]) -> History:
    """The part of a history that is asked for."""
    files, run, measures = (keywords.pop(name) for name in ("files", "run", "measures"))
    if len(files) != 1:
        raise InputError(
            "", f"{len(files)} files given", f"name one history: {usage().removeprefix('usage: ')}", usage=True
        )
    found = read_history(files[0])
    wanted = {"run": [run] if run is not None else [], "measure": [one.label for one in parse_measures(measures)]}
    for column, names in wanted.items():
        known = list(dict.fromkeys(found.frame[column]))
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known) or f"it has {shorten(known)}"
                raise InputError(found.place, f"has no {column} '{name}'", hint, usage=True)
        if names:
            found = replace(found, frame=found.frame[found.frame[column].isin(names)])
    warn(found.notes)
    return found
