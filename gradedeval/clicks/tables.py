"""What click logs tell -> tables."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.frames import frame_table
from gradedeval.analysis.tables import frame_document, same
from gradedeval.clicks.observation import Observation
from gradedeval.formats import Column, Document, Layout, Table


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
