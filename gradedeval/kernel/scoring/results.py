"""Results as Python and notebooks show them: each as the tables of its command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel.formats import Document, Layout, Maker, Table

ENDS = 30
"""Rows that a notebook shows of each end of a long table."""


class _OfDocument:
    """What a result has of its document for programs, where it holds nothing by that name itself; made once."""

    def __init__(self, make: Callable[[Document], Any]) -> None:
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, found: Any, owner: type) -> Any:
        if found is None:  # a dataclass that asks for a default
            raise AttributeError(self.name)
        made = found.__dict__[self.name] = self.make(found.tables("long"))
        return made


def _framed(document: Document) -> pd.DataFrame:
    from gradedeval.kernel.scoring.frames import to_frame  # few evaluations come here

    return to_frame(document.table.rows, columns=list(document.table.names))


class InNotebook:
    """A result that shows itself as tables: `document`, which a notebook has as HTML, in which all that comes from
    files is text.

    frame      its table for programs
    signature  what it depends on
    texts      the texts of topics, where they are known: topic -> text
    """

    if TYPE_CHECKING:

        @property
        def frame(self) -> pd.DataFrame: ...
        @property
        def signature(self) -> str: ...
        @property
        def texts(self) -> Mapping[str, str]: ...
    else:
        texts = MappingProxyType({})
        frame = _OfDocument(_framed)
        signature = _OfDocument(lambda document: document.signature)

    def __str__(self) -> str:
        """The tables for people, as a command prints them where there is no terminal."""
        return self._as(self.tables, "table")

    def _repr_html_(self) -> str:
        return self._as(self._shortened, "html")

    def _as(self, make: Maker, form: str) -> str:
        from gradedeval.kernel.formats import render  # few results become text in Python
        from gradedeval.kernel.scoring.signature import short  # which waits for numpy: help pages do not

        return render(make, form, sign=short).rstrip("\n")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from gradedeval.kernel.formats import in_utf8

        printer.text(in_utf8(repr(self)))  # a notebook is UTF-8

    @property
    def aside(self) -> str:
        """How it was found: told beside it where a format has no place for it."""
        return ""

    @property
    def remarks(self) -> list[str]:
        """What a command tells beside it."""
        return []

    def document(self, layout: Layout) -> Document:
        """The tables, for people or for programs."""
        raise NotImplementedError

    def tables(self, layout: Layout, **how: Any) -> Document:
        """The `document`, in which topics have their texts."""
        document = self.document(layout, **how)
        if not self.texts or layout == "trec":
            return document
        from gradedeval.kernel.formats.tables import with_queries  # few topics have texts

        return with_queries(document, self.texts)

    def shown(self, **how: Any) -> InNotebook:
        """The same, shown as the keywords of `document` say: as in `found.shown(top=100)`."""
        return _Shown(self, how)

    def _shortened(self, layout: Layout) -> Document:
        document = self.tables(layout)
        return replace(document, blocks=[one if isinstance(one, str) else _ends(one) for one in document.blocks])


class FrameResult(InNotebook):
    """A result that is one table. `result["p"]`, `len(result)` and iteration are those of its `.frame`, a DataFrame;
    all else that pandas can do is done with that."""

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, key: Any) -> Any:
        return self.frame[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frame)

    def __repr__(self) -> str:
        return self._as(self._shortened, "table")


class _Shown(InNotebook):
    """A result as some keywords show it."""

    def __init__(self, found: InNotebook, how: dict[str, Any]) -> None:
        self.found, self.how = found, how

    @property
    def texts(self) -> Mapping[str, str]:
        return self.found.texts

    def document(self, layout: Layout) -> Document:
        return self.found.document(layout, **self.how)

    def __repr__(self) -> str:
        return str(self)


def _ends(table: Table) -> Table:
    """The table, of a long one the first rows and the last."""
    if len(table.rows) <= 2 * ENDS:
        return table
    between = [["…" for _ in table.columns]]
    return replace(table, rows=[*table.rows[:ENDS], *between, *table.rows[-ENDS:]], marks={})
