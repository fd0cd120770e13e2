"""Explanation -> tables: one for each measure for people, a row for each measure and rank for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradedeval.analysis.explain import BEFORE, BEYOND, DOCUMENT, LAST, Explained, Explanation
from gradedeval.errors import visible
from gradedeval.formats import Column, Document, Kind, Layout, Table

SHOWN = 20
"""Ranks that a table shows of a measure without a cutoff, where the user asks for no other number."""

LABELS = {BEFORE: "empty ranking", BEYOND: "beyond the end"}
RISES = "could_add: how far the score would rise if that alone had the top gain; they need not sum to the residual"


def explanation_document(
    explanations: Sequence[Explanation], layout: Layout, *, digits: int = 4, shown: int | None = None
) -> Document:
    """The explanations of topics of one run as tables.

    digits  of the numbers in tables, and above them
    shown   how many ranks a table shows at most; None: those down to the cutoff, or 20. The ranks left out make one
            row. The table for programs is always complete
    """
    if layout == "long":
        return _long(explanations)
    blocks: list[Table | str] = []
    for explanation in explanations:
        blocks.append(
            f"topic {explanation.topic} of {visible(explanation.run)} | {explanation.retrieved} retrieved,"
            f" {explanation.judged} of them judged | {explanation.pool} judged in all"
        )
        for explained in explanation.measures:
            ranks = explained.measure.cutoff or SHOWN if shown is None else shown
            blocks += [_summary(explained, digits), _table(explained, digits, ranks)]
    every = [explained for explanation in explanations for explained in explanation.measures]
    if any(any(explained.columns.get("could_add", [])) for explained in every):
        blocks.append(RISES)
    return Document(blocks, explanations[0].signature)


def _long(explanations: Sequence[Explanation]) -> Document:
    columns = dict.fromkeys(name for explanation in explanations for name in explanation.columns)
    rows = [[row.get(name) for name in columns] for explanation in explanations for row in explanation.rows()]
    head = {"run": explanations[0].run, "topics": [_head(explanation) for explanation in explanations]}
    return Document([Table([Column(name) for name in columns], rows)], explanations[0].signature, head=head)


def _head(explanation: Explanation) -> dict[str, Any]:
    """What a JSON document says of a topic before its rows."""
    numbers = ("score", "residual", "relevant")
    measures = [
        {"measure": explained.measure.label, **{name: getattr(explained, name) for name in numbers}}
        for explained in explanation.measures
    ]
    counts = {name: getattr(explanation, name) for name in ("topic", "retrieved", "judged", "pool")}
    return {**counts, "measures": measures}


def _summary(explained: Explained, digits: int) -> str:
    """The line above a table: the score, its residual, and how many documents are relevant."""
    score, residual = Column("", "score", digits).cells([explained.score, explained.residual])
    line = f"{explained.measure.label}: {score}" + (f", residual {residual}" if residual else "")
    return line if explained.relevant is None else f"{line} | {explained.relevant} relevant"


def _table(explained: Explained, digits: int, shown: int) -> Table:
    """The table of a measure, with one row for all documents below rank `shown`."""
    rows = list(explained.rows())
    documents = [row for row in rows if row["part"] == DOCUMENT]
    if len(documents) > shown + 1:  # a row about one document would be as long as its own
        first = [row for row in rows if row["part"] == BEFORE] + documents[:shown]
        rows = [*first, _left_out(documents[shown:]), *(row for row in rows if row["part"] == BEYOND)]
    rows = [{**row, "docno": LABELS.get(row["part"], row["docno"])} for row in rows]
    columns = [
        Column(name, _kind(name, values), digits) for name, values in explained.columns.items() if name != "part"
    ]
    return Table(columns, [[row[column.name] for column in columns] for row in rows])


def _kind(name: str, values: list[Any]) -> Kind:
    if name in ("rank", "docno"):
        return "text"
    whole = all(value is None or isinstance(value, str | int) or value == round(value) for value in values)
    return "count" if whole and name not in LAST else "score"


def _left_out(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The row for documents that have none of their own."""
    unjudged = sum(row["grade"] is None for row in documents)
    return {
        **dict.fromkeys(documents[0]),
        "rank": "…",
        "docno": f"{len(documents)} more" + (f", {unjudged} unjudged" if unjudged else ""),
        "contribution": sum(row["contribution"] for row in documents),
        "running": documents[-1]["running"],
    }
