"""Results in a notebook: each shows itself as the tables of its command."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from gradedeval.formats import render
from gradedeval.formats.tables import Document, Layout, Table, in_utf8

ENDS = 30
"""Rows that a notebook shows of each end of a long table."""


class InNotebook:
    """A result that a notebook shows as HTML, in which all that comes from files is text.

    A subclass names, below `gradedeval`, the function that makes its document from it and a layout. It stands beside
    the tables, which import the result and are imported when they are shown.
    """

    _makes: ClassVar[str] = ""

    def __init_subclass__(cls, document: str = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls._makes = document or cls._makes

    def _repr_html_(self) -> str:
        return render(self._shortened, "html")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(in_utf8(repr(self)))  # a notebook is UTF-8

    def _shortened(self, layout: Layout) -> Document:
        module, _, name = self._makes.rpartition(".")
        make: Callable[[Any, Layout], Document] = getattr(importlib.import_module(f"gradedeval.{module}"), name)
        document = make(self, layout)
        return replace(document, blocks=[_ends(one) if isinstance(one, Table) else one for one in document.blocks])


def _ends(table: Table) -> Table:
    """The table, of a long one the first rows and the last."""
    if len(table.rows) <= 2 * ENDS:
        return table
    between = [["…" for _ in table.columns]]
    return replace(table, rows=[*table.rows[:ENDS], *between, *table.rows[-ENDS:]], marks={})
