"""What click logs tell -> tables."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.tables import Shown, frame_document, near_best, same
from gradedeval.clicks.agreement import ClickCorrelations
from gradedeval.clicks.click_measures import CLICK_MEASURES
from gradedeval.clicks.fits import Fits
from gradedeval.clicks.observation import Observation
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table

if TYPE_CHECKING:
    import pandas as pd


def observation_document(found: Observation, layout: Layout) -> Document:
    """The result of `clicks observe`: of all users the weights alone for programs, so that measures read them, with
    the gaps and the pages beside them in JSON."""
    whole, *_ = names = list(found.frame.columns)
    if whole != "rank":
        keys = same(
            Column(whole), Column("rank", "count"), Column("weight", "score", 6), Column("observed", "score", 6)
        )
        return frame_document(found.frame, layout, keys, found.settings)
    pages = (
        []
        if found.pages is None
        else [list(row) for row in zip(*(column.tolist() for column in found.pages), strict=True)]
    )
    if layout == "long":
        head: dict[str, Any] = {
            "gaps": found.gaps.tolist(),
            "pages": [dict(zip(("last_clicks", "reached", "share"), row, strict=True)) for row in pages],
        }
        return Document([frame_table(found.frame[["rank", "weight"]])], found.settings, head=head)
    shown = [Column("rank", "count"), Column("weight", "score", 6), Column("observed", "score", 6)]
    gaps = [[gap, share] for gap, share in enumerate(found.gaps.tolist(), 1)]
    blocks: list[Table | str] = [
        Table(shown, frame_table(found.frame[names]).rows),
        Table([Column("gap", "count"), Column("P(gap >= it)", "score", 6)], gaps),
    ]
    if pages:
        columns = [Column("page", "count"), *(Column(name, "count") for name in ("last clicks", "reached"))]
        blocks.append(
            Table([*columns, Column("go on", "score", 6)], [[page, *row] for page, row in enumerate(pages, 1)])
        )
    return Document(blocks, found.settings)


def fits_document(found: Fits, layout: Layout) -> Document:
    """The result of `clicks fit`."""
    both = [] if found.frame["scaled"].nunique() < 2 else [Column("scaled")]
    shown: Shown = {
        **same(Column("measure"), *both),
        Column("KL (nats)", "score"): itemgetter("divergence"),
        Column("within 0.001", "figures"): near_best,
        **same(Column("covered", "score")),
    }
    return frame_document(found.frame, layout, shown, found.settings)


def click_measures_document(frame: pd.DataFrame, settings: str, layout: Layout) -> Document:
    """The result of `clicks measures`; for people lists are numbered within their topic."""
    if layout == "long":
        return Document([frame_table(frame)], settings)
    names = [name for name in CLICK_MEASURES if name in frame]
    columns = [
        Column("topic"),
        Column("list", "count"),
        Column("sessions", "count"),
        *(Column(n, "score") for n in names),
    ]
    numbers = (frame.groupby("topic", sort=False).cumcount() + 1).tolist()
    rows = [
        [row["topic"], number, row["sessions"], *(row[name] for name in names)]
        for number, row in zip(numbers, frame_rows(frame), strict=True)
    ]
    return Document([Table(columns, rows)], settings)


def click_correlations_document(found: ClickCorrelations, layout: Layout) -> Document:
    """The result of `clicks correlate`, for people with a column for each click measure."""
    if layout == "long":
        return Document([frame_table(found.frame)], found.settings)
    split = "by" in found.frame
    lines: dict[tuple[Any, ...], list[Any]] = {}
    for row in frame_rows(found.frame):
        head = (row["by"], row["measure"], row["configurations"], row["sessions"]) if split else (row["measure"],)
        lines.setdefault(head, []).append("—" if row["correlation"] is None else row["correlation"])
    heads = [Column("by"), Column("measure"), Column("lists", "count"), Column("sessions", "count")]
    columns = [*(heads if split else heads[1:2]), *(Column(name, "score", 3) for name in CLICK_MEASURES)]
    return Document([Table(columns, [[*head, *cells] for head, cells in lines.items()])], found.settings)
