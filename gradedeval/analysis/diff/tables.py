"""Changes between two runs -> tables: a line for each topic in words, or a row for each document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradedeval.analysis.diff.by_topic import Diff
from gradedeval.analysis.diff.changes import ENTERED, LEFT
from gradedeval.analysis.explain import DOCUMENT
from gradedeval.analysis.unseen import IF_JUDGED
from gradedeval.errors import plural, visible
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, merged
from gradedeval.measures.definition import Measure
from gradedeval.scoring.summaries import summarize

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

TOPICS, DOCUMENTS, NAMED, FIRST = 10, 20, 2, 20
"""Topics of a table, documents of a topic's own table, documents that a line about a topic names, and the rank down to
which it tells of unjudged ones."""


def diff_document(
    whole: Diff, shown: Diff, layout: Layout, *, top: int | None = None, alone: bool = False, digits: int = 4
) -> Document:
    """The changes between two runs.

    shown   those of them that are asked for
    top     how many topics a table shows, the worst first; None: 10
    alone   whether a topic is asked for: then its documents have a table
    digits  of the numbers in tables and in words
    """
    names = [visible(whole.baseline), visible(whole.run)]
    if layout == "long":
        return _long(shown, top)
    blocks: list[Table | str] = [f"from {names[0]} to {names[1]}"]
    for measure in whole.measures:
        topics = shown.topics[shown.topics["measure"] == measure.label]
        decimals = 0 if measure.definition.summary == "total" else digits  # of counts
        blocks.append(_summary(whole, measure, decimals))
        if alone:
            for row in frame_rows(topics):
                blocks += [_of_topic(row, decimals), _documents(shown, row, decimals)]
            continue
        changed = frame_rows(topics[(topics["changed"] > 0) | (topics["difference"] != 0)])
        some = changed[: TOPICS if top is None else top]
        if some:
            blocks.append(_topics(shown, some, names, decimals))
        if len(changed) > len(some):
            blocks.append(f"{len(changed) - len(some)} more {plural(len(changed) - len(some), 'topic')}: --top N")
    return Document(blocks, whole.signature)


def own_document(diff: Diff, layout: Layout) -> Document:
    """All changes, as their command prints them."""
    return diff_document(diff, diff, layout)


def _long(shown: Diff, top: int | None) -> Document:
    """A row for each document, with the scores of its topic."""
    topics = shown.topics.drop(columns="changed")
    if top is not None:
        topics = topics.groupby("measure", sort=False).head(top)
    found = frame_table(merged(topics, shown.documents, on=["measure", "topic"]))
    columns = [Column("run"), Column("baseline"), *found.columns]
    return Document([Table(columns, [[shown.run, shown.baseline, *row] for row in found.rows])], shown.signature)


def _summary(whole: Diff, measure: Measure, digits: int) -> str:
    """What became of the mean, and of how many topics."""
    topics = whole.topics[whole.topics["measure"] == measure.label]
    before, after = (
        float(summarize(topics[name].to_numpy(), measure.definition.summary)) for name in ("baseline_score", "score")
    )
    gains = topics["difference"] * measure.reading.sign
    same = int((topics["changed"] == 0).sum())
    counts = [
        f"{int((gains < 0).sum())} worse",
        f"{int((gains > 0).sum())} better",
        f"{int((gains == 0).sum())} equal" + (f" ({same} with the same documents)" if same else ""),
    ]
    reversible = int(topics["settled"].eq(False).fillna(False).sum())
    open_ = f" | judging could reverse the order of {reversible}" if reversible else ""
    numbers = f"{before:.{digits}f} → {after:.{digits}f} ({after - before:+z.{digits}f})"
    return f"{measure.label}: {numbers} | {len(topics)} {plural(len(topics), 'topic')}: {', '.join(counts)}{open_}"


def _topics(shown: Diff, rows: list[Row], names: list[str], digits: int) -> Table:
    residuals = any(row["residual"] is not None for row in rows)
    columns = [Column("topic")]
    for name in names:
        columns += [Column(name, "score", digits), *([Column("residual", "score", digits)] if residuals else [])]
    reversible = any(row["settled"] is False for row in rows)
    order = [Column(IF_JUDGED)] if reversible else []
    columns += [Column("difference", "signed", digits), *order, Column("why")]
    cells = []
    for row in rows:
        line = [row["topic"]]
        for score, residual in (("baseline_score", "baseline_residual"), ("score", "residual")):
            line += [row[score], *([row[residual]] if residuals else [])]
        line += [row["difference"], *([_if_fully_judged(row)] if reversible else [])]
        cells.append([*line, in_words(shown, row, digits)])
    return Table(columns, cells)


def in_words(shown: Diff, row: Row, digits: int, named: int = NAMED) -> str:
    """What made the difference of a topic: the documents that explain most of it, and what is to be judged."""
    found: pd.DataFrame | None = shown.by_topic.get((row["measure"], row["topic"]))
    documents = [] if found is None else frame_rows(found)
    counting = [one for one in documents if one["explains"]]
    parts = [_sentence(one, digits) for one in counting[:named]]
    if len(counting) > named:
        parts.append(f"{len(counting) - named} more")
    parts += [] if counting else ["only documents of no gain moved"]
    parts += _risen([one for one in documents if one["above"] is not None and one["rank"] <= FIRST])
    return "; ".join(parts)


def _risen(unjudged: list[Row]) -> list[str]:
    """The unjudged documents that moved above relevant ones: the first, and how many more above the same or others."""
    if not unjudged:
        return []
    first = min(unjudged, key=lambda one: one["rank"])
    same = sum(one["above"] == first["above"] for one in unjudged)
    others = len(unjudged) - same
    more = (f" and {same - 1} more" if same > 1 else "", f", {others} above others" if others else "")
    return [f"unjudged {visible(first['docno'])}{more[0]} moved above relevant {visible(first['above'])}{more[1]}"]


def _sentence(row: Row, digits: int) -> str:
    """What became of a document, as in `d7 (grade 2) fell 2 → 14: −0.1875`."""
    if row["part"] != DOCUMENT:
        return f"what is {row['part']} the end: {row['explains']:+.{digits}f}"
    grade = "unjudged" if row["grade"] is None else f"grade {row['grade']:g}"
    where = {ENTERED: f"entered at {row['rank']}", LEFT: f"left from {row['baseline_rank']}"}
    moved = f"{row['change']} {row['baseline_rank']} → {row['rank']}"
    stayed = f"stayed at {row['rank']}" if row["baseline_rank"] == row["rank"] else moved
    return f"{visible(row['docno'])} ({grade}) {where.get(row['change'], stayed)}: {row['explains']:+.{digits}f}"


def _of_topic(row: Row, digits: int) -> str:
    scores = f"{row['baseline_score']:.{digits}f} → {row['score']:.{digits}f} ({row['difference']:+.{digits}f})"
    if row["residual"] is None:
        return f"topic {row['topic']}: {scores}"
    residuals = f"residuals {row['baseline_residual']:.{digits}f} and {row['residual']:.{digits}f}"
    return f"topic {row['topic']}: {scores} | {residuals} | {IF_JUDGED}: {_if_fully_judged(row)}"


def _if_fully_judged(row: Row) -> str:
    """Whether judging could reverse the order of the two scores of a topic."""
    return "unknown" if row["settled"] is None else "same order" if row["settled"] else "could be reversed"


def _documents(shown: Diff, topic: Row, digits: int) -> Table:
    """The documents of one topic, those that explain most first, and one row for the others."""
    found: pd.DataFrame | None = shown.by_topic.get((topic["measure"], topic["topic"]))
    rows = [] if found is None else frame_rows(found)
    names = ("docno", "grade", "change", "baseline_rank", "rank", "baseline_contribution", "contribution", "explains")
    kinds = ("text", "number", "text", "count", "count", "score", "score", "signed", "text")
    cells = [[row[name] for name in (*names, "above")] for row in rows[:DOCUMENTS]]
    for line, row in zip(cells, rows, strict=False):
        line[0] = row["docno"] if row["part"] == DOCUMENT else f"{row['part']} the end"
    if rows[DOCUMENTS:]:
        left_out = sum(row["explains"] for row in rows[DOCUMENTS:])
        cells.append([f"{len(rows) - DOCUMENTS} more", *[None] * 6, left_out, None])
    titles = ("docno", "grade", "change", "old rank", "rank", "old contribution", "contribution", "explains",
              "unjudged, above")  # fmt: skip
    columns = [Column(title, kind, digits) for title, kind in zip(titles, kinds, strict=True)]  # type: ignore[arg-type]
    return Table(columns, cells)
