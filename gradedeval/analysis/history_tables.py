"""Histories -> tables: the course of each run, a column for each measure and what became of it."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis.history import LEVEL, History
from gradedeval.errors import visible
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table

LAST = 20
MARK = "≠: not comparable with the line above, because of what has changed; change and best begin again"


def history_document(found: History, layout: Layout, *, last: int | None = None) -> Document:
    """The course of each run by each measure.

    last  how many evaluations of each a table shows, the last ones; None: 20, and all for programs
    """
    if layout == "long":
        frame = found.frame if last is None else found.frame.groupby(["run", "measure"], sort=False).tail(last)
        return Document([frame_table(frame)])
    blocks: list[Table | str] = []
    marked = False
    for (run, measure), course in found.frame.groupby(["run", "measure"], sort=False):
        rows = frame_rows(course)
        some = rows[-(LAST if last is None else last) :]
        marked = marked or any(row["changed"] for row in some)
        checked = any(row["passed"] is not None for row in some)
        columns = [
            Column("time"),
            Column("label"),
            Column(str(measure), "score"),
            Column(f"{LEVEL:.0%} interval", "figures"),
            Column("change", "signed"),
            Column("from best", "signed"),
            *([Column("check")] if checked else []),
            Column(""),
        ]
        left_out = len(rows) - len(some)
        blocks += [visible(str(run)) + (f" ({left_out} before)" if left_out else ""),
                   Table(columns, [_cells(row, checked) for row in some])]  # fmt: skip
    return Document(blocks, MARK if marked else "")


def _cells(row: dict[str, Any], checked: bool) -> list[Any]:
    interval = None if row["low"] is None or row["high"] is None else f"{row['low']:.4f} to {row['high']:.4f}"
    verdict = [{True: "passed", False: "FAILED", None: None}[row["passed"]]] if checked else []
    mark = f"≠ {row['changed']}" if row["changed"] else None
    return [row["time"], row["label"], row["score"], interval, row["change"], row["from_best"], *verdict, mark]
