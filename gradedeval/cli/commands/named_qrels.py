"""`gradedeval collections [NAME...]`: the named test collections, and those on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from gradedeval.cli.options import NAME, Option, command_line
from gradedeval.cli.output import view_of, wrap_for_terminal, write
from gradedeval.errors import InputError, did_you_mean, emit_notes
from gradedeval.kernel.formats import TABLE_FORMATS, Column, Document, Table, render
from gradedeval.kernel.trec.named_qrels import COLLECTIONS, Collection, find_collection

OPTIONS = [
    Option("--download", section="Options of this command", is_flag=True, help="Let the package ir_datasets download "
           "the qrels of NAME that this machine lacks.", short="Download the qrels of NAME by ir_datasets."),
    Option("-f", "--format", "output_format", section="Output", type=click.Choice(TABLE_FORMATS), default="table",
           metavar="FORMAT", help=f"Output format of the list, or of the rows of NAME: {', '.join(TABLE_FORMATS)}. "
           "Default: table.", short="Format, such as table, csv, json or latex."),
]  # fmt: skip


@command_line("collections", NAME, OPTIONS)
def command(files: tuple[str, ...], download: bool, output_format: str) -> None:
    """List the test collections whose qrels have a name, or describe the collections NAME.

    A name stands for a file of qrels: gradedeval run.txt dl19-passage. The package ir_datasets has the judgments in its
    cache; with --download it downloads what is missing there, and nothing is downloaded without.
    """
    if download and not files:
        raise InputError("--download", "downloads the collections that are named", "give a NAME", usage=True)
    chosen = [_collection(name) for name in files]
    if files and output_format == "table":
        write("\n".join(wrap_for_terminal(_page(collection, download), sys.stdout) for collection in chosen))
        return
    if files:
        rows = [{**_row(collection), "judgments": _judgments(collection, download)} for collection in chosen]
    else:
        rows = [_row(collection) for collection in COLLECTIONS.values()]
    emit_notes([] if next(iter(COLLECTIONS.values())).is_local is not None else [_MISSING])
    write(render(lambda _: _list(rows, output_format), output_format, view=view_of(None)))


_MISSING = "collections on this machine are unknown without ir_datasets; pip install 'gradedeval[collections]'"


def _collection(name: str) -> Collection:
    """Return the collection with this name. Raises InputError (usage) if there is none."""
    collection = find_collection(name)
    if collection is None:
        hint = did_you_mean(name, COLLECTIONS) or "`gradedeval collections` lists them"
        raise InputError("", f"no collection '{name}'", hint, usage=True)
    return collection


def _page(collection: Collection, download: bool) -> str:
    """Return the page of one collection, with the number of its judgments if they are on this machine."""
    entries: dict[str, str | None] = {
        "ir_datasets": collection.dataset,
        "measures": collection.measures,
        "relevant": collection.name and f"from grade {collection.rel}, to binary measures",
        "note": collection.note,
    }
    entries["judgments"] = _judgments(collection, download)
    entries["here"] = {True: "yes", False: "no", None: "not known: ir_datasets is not installed"}[collection.is_local]
    lines = [f"{key:<12} {value}" for key, value in entries.items() if value]
    head = f"{collection.name}: {collection.description}" if collection.name else collection.place
    return "\n".join([head, "", *lines]) + "\n"


def _judgments(collection: Collection, download: bool) -> str | None:
    """Return the number of judgments in words; None if they are not on this machine."""
    if not download and not collection.is_local:
        return None
    from gradedeval.kernel.rankings.qrels import Qrels, extent_of  # not for a help page

    return extent_of(Qrels(collection.place, download=download))


def _row(collection: Collection) -> dict[str, object]:
    """Return the row of one collection: title -> value."""
    return {
        "name": collection.name,
        "collection": collection.description,
        "measures": collection.measures,
        "here": {True: "yes", False: "no", None: ""}[collection.is_local],
        "rel": collection.rel,
        "ir_datasets": collection.dataset,
        "note": collection.note,
    }


def _list(rows: Sequence[dict[str, object]], output_format: str) -> Document:
    """Return the list of collections; for people with the first four columns only."""
    columns = list(rows[0])[: 4 if output_format == "table" else None]
    return Document([Table([Column(title) for title in columns], [[row[title] for title in columns] for row in rows])])
