"""The result of `informative` -> tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradedeval.analysis.informative.informativeness import Informativeness
from gradedeval.analysis.informative.run_curves import GRADED, MEAN
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, joined

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
"""What stands for the run and the topic of a mean over all lists."""


def informative_document(found: Informativeness, layout: Layout, *, by_topic: bool = False) -> Document:
    """For people a row for each measure and a column for each curve; `by_topic` before it a row for each list."""
    if layout == "long":
        return Document([frame_table(_long(found, by_topic))], found.signature)
    blocks: list[Table | str] = []
    if by_topic:
        keys = ("measure", "run", "topic")
        columns = [*map(Column, keys), Column("score", "score"), Column("converged")]
        blocks.append(_by_curve(frame_rows(found.lists), keys, columns, ("score", "converged")))
    columns = [Column("measure"), Column("lists", "count"), Column("converged", "count")]
    blocks += [_by_curve(frame_rows(found.frame), ("measure",), columns, ("lists", "converged"))]
    return Document(blocks, found.signature)


def _long(found: Informativeness, by_topic: bool) -> pd.DataFrame:
    """A row for each measure and curve, over all lists; `by_topic` before them those of lists."""
    means = found.frame.assign(run=ALL, topic=ALL)
    columns = ["measure", "run", "topic", "curve", "rms", "lists", "converged"]
    if not by_topic:
        return means[columns]
    lists = found.lists.assign(lists=1, converged=found.lists["converged"].astype(int))
    return joined([lists, means])[[*columns, "score", "entropy", "ranks"]]


def _by_curve(
    rows: list[dict[str, Any]], keys: tuple[str, ...], columns: list[Column], others: tuple[str, ...]
) -> Table:
    """Rows of a frame as one for each value of the keys, with a column for the distance of each curve."""
    curves = list(dict.fromkeys(row["curve"] for row in rows))
    table: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        table.setdefault(tuple(row[key] for key in keys), {})[row["curve"]] = row
    head, tail = columns[: len(keys)], columns[len(keys) :]
    shown = [*head, *(Column(_heading(curve), "score") for curve in curves), *tail]
    cells = [
        [*key, *(of[curve]["rms"] for curve in curves), *(_shown(of[MEAN][name]) for name in others)]
        for key, of in table.items()
    ]
    return Table(shown, cells)


def _heading(curve: str) -> str:
    return f"rms {curve}" if curve in (MEAN, GRADED) else f"rms {curve.replace('rel=', '≥')}"


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
