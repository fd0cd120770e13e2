"""`gradedeval measures [NAME]`: the list of measures, or the description of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from gradedeval import kernel
from gradedeval.cli.arguments import measures_offered, usage
from gradedeval.cli.options import MEASURES_FROM, NAME, command_line, option
from gradedeval.cli.output import write
from gradedeval.errors import InputError
from gradedeval.kernel import Column, Document, Table, formats_for, render

if TYPE_CHECKING:
    from gradedeval.kernel import Description

OPTIONS = [
    MEASURES_FROM,
    option("-f", "--format", "form", section="Output", type=click.Choice(formats_for()), default="table",
           metavar="FORMAT", help=f"Output format of the list: {', '.join(formats_for())}. Default: table."),
]  # fmt: skip


@command_line("measures", NAME, OPTIONS)
def command(files: tuple[str, ...], measures_from: tuple[str, ...], form: str) -> None:
    """List the measures, or describe the one called NAME: formula, parameters, defaults, source."""
    table = measures_offered(measures_from)
    name, *others = files or [None]
    if others:
        raise InputError("", f"unexpected argument '{others[0]}'", usage(), usage=True)
    if name is not None:
        write(_page(kernel.Description.of(name, table)))
        return
    described = [kernel.Description(measure) for measure in table.values()]
    if form == "table":
        write(_list(described))
    else:
        rows = [one.row for one in described]
        columns = [Column(title) for title in rows[0]]
        write(render(lambda _: Document([Table(columns, [list(row.values()) for row in rows])]), form))


def _page(described: Description) -> str:
    lines = [f"{key:<12} {value}" for key, value in described.entries.items()]
    explained = [f"{key:<12} {meaning}" for key, meaning in described.meanings.items()]
    head = f"{described.measure.name}: {described.what}"
    return "\n".join([head, "", *lines, *([""] if explained else []), *explained]) + "\n"


def _list(described: Iterable[Description]) -> str:
    from tabulate import tabulate

    rows = [[one.measure.name, one.what, one.parameters] for one in described]
    headers = ("measure", "what it is", "parameters")
    text = tabulate(rows, headers=headers, disable_numparse=True, maxcolwidths=[None, 56, 34])
    return (
        f"{text}\n\n`gradedeval measures NAME` shows formula, gains, residual, bounds and source.\n"
        "ia(MEASURE) is the mean of MEASURE over the intents of a topic; see --subtopics.\n"
    )
