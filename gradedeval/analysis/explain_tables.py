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
        filled = f" and {explanation.filled} filled in" if explanation.filled else ""
        blocks.append(
            f"topic {explanation.topic} of {visible(explanation.run)} | {explanation.retrieved} retrieved,"
            f" {explanation.judged} of them judged{filled} | {explanation.pool} judged in all"
        )
        for explained in explanation.measures:
            ranks = explained.measure.cutoff or SHOWN if shown is None else shown
            blocks += [_summary(explained, digits), _table(explained, digits, ranks)]
    every = [explained for explanation in explanations for explained in explanation.measures]
    if any(any(explained.columns.get("could_add", [])) for explained in every):
        blocks.append(RISES)
    return Document(blocks, explanations[0].signature)


def own_document(explanation: Explanation, layout: Layout) -> Document:
    """One explanation, as its command prints it."""
    return explanation_document([explanation], layout)


def beside_document(
    one: Sequence[Explanation],
    other: Sequence[Explanation],
    layout: Layout,
    *,
    digits: int = 4,
    shown: int | None = None,
) -> Document:
    """The explanations of the same topics of two runs: for people rank by rank beside each other; for programs those of
    the one and then those of the other."""
    signature = "\n".join(dict.fromkeys(part.signature for part in (one[0], other[0])))
    if layout == "long":
        whole = _long([*one, *other])
        runs = {"runs": [one[0].run, other[0].run]}
        topics = [{"run": part.run, **_head(part)} for part in (*one, *other)]
        return Document(whole.blocks, signature, head={**runs, "topics": topics})
    blocks: list[Table | str] = []
    for first, second in zip(one, other, strict=True):
        names = f"{visible(first.run)} and {visible(second.run)}"
        retrieved = f"{first.retrieved} and {second.retrieved} retrieved, {first.judged} and {second.judged} judged"
        if first.filled or second.filled:
            retrieved += f", {first.filled} and {second.filled} filled in"
        blocks.append(f"topic {first.topic} of {names} | {retrieved} | {first.pool} judged in all")
        for mine, theirs in zip(first.measures, second.measures, strict=True):
            ranks = mine.measure.cutoff or SHOWN if shown is None else shown
            blocks += [_scores(mine, theirs, digits), _beside(first, second, mine, theirs, digits, ranks)]
    return Document(blocks, signature)


def _scores(mine: Explained, theirs: Explained, digits: int) -> str:
    """The line above a table: both scores with their residuals, and the difference."""
    column = Column("", "score", digits)
    parts = []
    for explained in (mine, theirs):
        score, residual = column.cells([explained.score, explained.residual])
        parts.append(score + (f" (residual {residual})" if residual else ""))
    return f"{mine.measure.label}: {parts[0]} and {parts[1]}, difference {theirs.score - mine.score:+.{digits}f}"


def _beside(
    first: Explanation, second: Explanation, mine: Explained, theirs: Explained, digits: int, shown: int
) -> Table:
    """Both rankings, rank by rank; of each document of the second run the rank that the first has it at."""
    sides = [[row for row in explained.rows() if row["part"] == DOCUMENT] for explained in (mine, theirs)]
    was = {docno: rank for rank, docno in enumerate(first.docnos, 1)}
    columns = [Column("rank")]
    for name in (first.run, second.run):
        columns += [Column(name), Column("grade", "number"), Column("contribution", "score", digits)]
    rows = []
    for rank in range(min(shown, max(map(len, sides)))):
        cells: list[Any] = [str(rank + 1)]
        for side in sides:
            row = side[rank] if rank < len(side) else {}
            cells += [row.get(name) for name in ("docno", "grade", "contribution")]
        rows.append([*cells, was.get(cells[4])])
    return Table([*columns, Column("was at", "count")], rows)


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
    counts = {name: getattr(explanation, name) for name in ("topic", "retrieved", "judged", "filled", "pool")}
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
