"""`gradedeval history FILE`: how scores went, evaluation by evaluation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

from gradedeval.analysis.history import read_history
from gradedeval.analysis.history_tables import LAST, history_document
from gradedeval.cli.arguments import Destination
from gradedeval.cli.options import command_line, option, output_options
from gradedeval.cli.output import warn
from gradedeval.errors import InputError, did_you_mean, shorten
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures

OPTIONS = [
    option("--run", metavar="NAME", help="Only this run."),
    option("-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Only this measure. May be repeated."),
    option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N evaluations of each. Default: "
           f"{LAST} in tables, all elsewhere."),
    *output_options(formats_for(), digits="4"),
]  # fmt: skip


@command_line("history", "FILE", OPTIONS)
def command(run: str | None, measures: tuple[str, ...], last: int | None, **keywords: Any) -> None:
    """Show the course of each run by each measure: score, interval, change from the last and from the best.

    FILE is written by `gradedeval eval --append-to FILE` and `gradedeval check --history FILE`. Where the qrels or an
    option changed, a mark says what; nothing is compared across it.
    """
    if len(keywords["files"]) != 1:
        what = f"{len(keywords['files'])} files given"
        raise InputError("", what, "name one history: gradedeval history FILE", usage=True)
    destination = Destination(keywords)
    found = read_history(keywords["files"][0])
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
    destination.deliver(partial(history_document, found, last=last))
