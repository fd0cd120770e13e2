"""`gradedeval collections [NAME...]`: the test collections that have names, and which are on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gradedeval import kernel
from gradedeval.cli.options import NAME, Option, command_line
from gradedeval.cli.output import in_lines, view_of, write
from gradedeval.errors import InputError, did_you_mean, emit_notes
from gradedeval.kernel import Column, Document, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradedeval.kernel.trec.named_qrels import Collection

FORMATS = kernel.formats.formats_for()
OPTIONS = [
    Option("--download", section="Options of this command", is_flag=True, help="Let the package ir_datasets download "
           "the qrels of NAME that this machine lacks."),
    Option("-f", "--format", "form", section="Output", type=click.Choice(FORMATS), default="table",
           metavar="FORMAT", help=f"Output format of the list, or of the rows of NAME: {', '.join(FORMATS)}. "
           "Default: table."),
]  # fmt: skip


@command_line("collections", NAME, OPTIONS)
def command(files: tuple[str, ...], download: bool, form: str) -> None:
    """List the test collections whose qrels have a name, or describe those called NAME.

    A name stands for a file of qrels: gradedeval run.txt dl19-passage. The package ir_datasets has the judgments in its
    cache; with --download it downloads what is missing there, and nothing is downloaded without.
    """
    known = kernel.Qrels.collections()
    chosen = [found for found in map(kernel.Qrels.collection, files) if found is not None]
    if download and not files:
        raise InputError("--download", "downloads the collections that are named", "give a NAME", usage=True)
    for name in files:
        if kernel.Qrels.collection(name) is None:
            hint = did_you_mean(name, known) or "`gradedeval collections` lists them"
            raise InputError("", f"no collection '{name}'", hint, usage=True)
    if files and form == "table":
        write("\n".join(in_lines(_page(one, download), sys.stdout) for one in chosen))
        return
    rows = [{**_row(one), "judgments": _judgments(one, download)} for one in chosen] or list(map(_row, known.values()))
    emit_notes([] if next(iter(known.values())).here is not None else [_MISSING])
    write(kernel.formats.render(lambda _: _listed(rows, form), form, view=view_of(None)))


_MISSING = "what is on this machine is not known without ir_datasets; pip install 'gradedeval[collections]'"


def _page(collection: Collection, download: bool) -> str:
    """What is known of one collection; with what is read of its judgments, where they are here."""
    entries: dict[str, str | None] = {
        "ir_datasets": collection.dataset,
        "measures": collection.measures,
        "relevant": collection.name and f"from grade {collection.rel}, to binary measures",
        "note": collection.note,
    }
    entries["judgments"] = _judgments(collection, download)
    entries["here"] = {True: "yes", False: "no", None: "not known: ir_datasets is not installed"}[collection.here]
    lines = [f"{key:<12} {value}" for key, value in entries.items() if value]
    head = f"{collection.name}: {collection.what}" if collection.name else collection.place
    return "\n".join([head, "", *lines]) + "\n"


def _judgments(collection: Collection, download: bool) -> str | None:
    """How many judgments a collection has; None where they are not here."""
    if not download and not collection.here:
        return None
    qrels = kernel.Qrels(collection.place, download=download)
    return f"{int(qrels.counts.count.sum()):,} of {len(qrels):,} topics, qrels {qrels.digest}"


def _row(one: Collection) -> dict[str, object]:
    return {
        "name": one.name,
        "collection": one.what,
        "measures": one.measures,
        "here": {True: "yes", False: "no", None: ""}[one.here],
        "rel": one.rel,
        "ir_datasets": one.dataset,
        "note": one.note,
    }


def _listed(rows: Sequence[dict[str, object]], form: str) -> Document:
    """The collections as a table; of the plain one, which is read at a prompt, the columns that people choose by."""
    shown = list(rows[0])[: 4 if form == "table" else None]
    return Document([Table([Column(title) for title in shown], [[row[title] for title in shown] for row in rows])])
