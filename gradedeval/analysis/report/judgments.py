"""The judgments of a report: grades of topics, what runs retrieved unjudged, and what one run alone found."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.report.findings import Findings
from gradedeval.analysis.tables import shown
from gradedeval.errors import plural
from gradedeval.formats import Column, Kind, Table

NAMED = 100
"""The documents of a run that the list of what it alone found names; the others are counted."""


def grades_by_topic(found: Findings) -> Table:
    """topics × grades: how many documents have each, how many are relevant, and how many of these any run has."""
    grades = [name for name in found.pool.topics.columns if name.startswith("grade ")]
    columns: dict[str, tuple[str, Kind]] = {"topic": ("topic", "text")}
    columns |= {name: (name, "count") for name in ("judged", "relevant", "found", *grades)}
    return shown(found.pool.topics, **columns)


def judged_by_run(found: Findings) -> Table:
    """What each run retrieved, how deep it is judged, and what no other run has."""
    at = found.pool.at
    alone: dict[str, tuple[str, Kind]] = {
        "unique": ("no other run has", "count"),
        "unique_judged": ("of them judged", "count"),
        "unique_relevant": ("of them relevant", "count"),
    }
    return shown(
        found.pool.runs,
        run=("run", "text"),
        topics=("topics", "count"),
        retrieved=("retrieved", "count"),
        judged_depth=("judged to rank (median)", "count"),
        least_judged_depth=("judged to rank (least)", "count"),
        judged=(f"judged@{at}", "share"),
        **(alone if len(found.runs) > 1 else {}),
    )


def unjudged_by_run(found: Findings) -> Table:
    """runs × depths: the unjudged documents down to a rank, the mean over topics."""
    frame = found.unjudged
    depths = list(dict.fromkeys(frame["depth"].tolist()))
    columns = [Column("run"), *(Column(f"to rank {depth}", "score", digits=1) for depth in depths)]
    by_run = frame["per_topic"].to_numpy().reshape(-1, len(depths)).tolist()
    return Table(columns, [[run, *values] for run, values in zip(found.runs, by_run, strict=True)])


def alone_by_run(found: Findings) -> list[dict[str, Any]]:
    """What each run alone found: how many relevant documents, and the first ones by name."""
    groups = {str(run): rows for run, rows in found.alone.groupby("run", sort=False)}
    lists = []
    for run in found.runs:
        if run not in groups:
            continue
        rows = groups[run]
        count, topics = len(rows), rows["topic"].nunique()
        named = shown(
            rows.head(NAMED),
            topic=("topic", "text"),
            docno=("document", "text"),
            grade=("grade", "number"),
            rank=("rank", "count"),
        )
        said = f"{count} relevant {plural(count, 'document')} on {topics} {plural(topics, 'topic')}"
        lists.append({"run": run, "said": said, "table": named, "more": count - len(named.rows)})
    return lists
