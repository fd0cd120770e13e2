"""`gradedeval measures [NAME]`: the list of measures, or the description of one."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from gradedeval.cli.arguments import measures_with_plugins, usage
from gradedeval.cli.options import MEASURES_FROM, NAME, Option, command_line
from gradedeval.cli.output import view_of, wrap_for_terminal, write
from gradedeval.errors import InputError
from gradedeval.kernel.formats import TABLE_FORMATS, Column, Document, Table, render

if TYPE_CHECKING:
    from gradedeval.kernel.measures.description import Description

BIBTEX = "bibtex"

OPTIONS = [
    MEASURES_FROM,
    Option("--all", "every", is_flag=True, help="List specialized and historical measures too."),
    Option("-f", "--format", "output_format", section="Output", type=click.Choice([*TABLE_FORMATS, BIBTEX]),
           default="table", metavar="FORMAT", help="Output format of the list, or of the rows of NAME: "
           f"{', '.join(TABLE_FORMATS)}; or {BIBTEX}, the papers to cite. Default: table.",
           short="Format, such as table, csv, json or bibtex."),
]  # fmt: skip


@command_line("measures", NAME, OPTIONS)
def command(files: tuple[str, ...], measures_from: tuple[str, ...], every: bool, output_format: str) -> None:
    """List the common measures, or describe the one called NAME: formula, parameters, defaults, source."""
    from gradedeval.kernel.measures.description import Description  # not for a help page

    table = measures_with_plugins(measures_from)
    name, *rest = files or [None]
    if rest:
        raise InputError("", f"unexpected argument '{rest[0]}'", usage(), usage=True)
    if every and name is not None:
        raise InputError("--all", f"cannot be combined with the name '{name}'", "leave out one of them", usage=True)
    described = [Description(measure) for measure in table.values()]
    if name is not None:
        described = [Description.of(name, table)]
        if output_format == "table":
            write(wrap_for_terminal(_page(*described), sys.stdout))
            return
    hidden = []
    if not every and name is None:
        hidden = [description for description in described if description.status not in ("common", "your own")]
    listed = [description for description in described if description not in hidden]
    if output_format == BIBTEX:
        write(_bibliography(listed))
        return
    write(render(lambda _: _list(listed, output_format, len(hidden)), output_format, view=view_of(None)))


def _bibliography(described: Iterable[Description]) -> str:
    """Return the entries of all papers that measures cite. Raises InputError (usage) if there are none."""
    described = list(described)
    entries = dict.fromkeys(entry for description in described for entry in description.bibtex)
    if not entries:
        name, source = described[0].measure.name, described[0].row["source"]
        problem = f"no paper is known for '{name}'" + (f" ({source.rstrip('.')})" if source else "")
        raise InputError("-f bibtex", problem, "cite its source yourself", usage=True)
    return "\n".join(entries)


def _page(described: Description) -> str:
    """Return the page of one measure."""
    lines = [f"{key:<12} {value}" for key, value in described.entries.items()]
    explained = [f"{key:<12} {meaning}" for key, meaning in described.meanings.items()]
    head = f"{described.measure.name}: {described.summary}"
    return "\n".join([head, "", *lines, *([""] if explained else []), *explained]) + "\n"


def _list(descriptions: Iterable[Description], output_format: str, hidden: int) -> Document:
    """Return the list of measures; for people with three columns only.

    hidden  number of measures that are not listed
    """
    if output_format != "table":
        rows = [description.row for description in descriptions]
        return Document([Table([Column(title) for title in rows[0]], [list(row.values()) for row in rows])])
    columns = [Column(title) for title in ("measure", "what it is", "parameters")]
    text = f"{hidden} more, specialized and historical: `gradedeval measures --all`.\n" if hidden else ""
    text += "`gradedeval measures NAME` shows formula, gains, residual, bounds and source.\n"
    text += "ia(MEASURE) is the mean of MEASURE over the intents of a topic; see --subtopics."
    cells = [[each.measure.name, each.summary, each.parameters] for each in descriptions]
    return Document([Table(columns, cells), text])
