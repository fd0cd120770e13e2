"""Click models as tables: how well they predict, and what relevance they estimate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.clicks.held_out import MEANS
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_table, to_frame

MIN_SEEN = 10
"""Sessions that must have shown a document for its relevance to be written."""

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.clicks.click_models import ClickModel, ClickModels


def prediction_rows(models: ClickModels, name: str) -> Iterator[tuple[str, int, float]]:
    """Measure, rank (0: of all) and value of one model; its own parameters come last."""
    one, model = models.predictions[name], models[name]
    yield "ll_session", 0, one.ll_session
    yield "ll_rank", 0, one.ll_rank
    for label, field in MEANS.items():
        yield label, 0, one.mean(field)
        yield from ((label, rank, float(value)) for rank, value in enumerate(getattr(one, field), 1))
    for key, value in model.parameters.items():
        if value.ndim == 0:
            yield key, 0, float(value)
    for rank, value in enumerate(model.parameters.get("continuation", ()), 1):
        yield "continuation", rank, float(value)
    examination = model.parameters.get("examination", np.empty(0))
    if examination.ndim == 1:
        yield from (("examination", rank, float(value)) for rank, value in enumerate(examination, 1))


def models_document(models: ClickModels, layout: Layout) -> Document:
    """The result of `clicks models`."""
    if layout == "long":
        return Document([frame_table(models.frame)], models.settings)
    columns = [Column("model"), Column("LL session", "score"), Column("LL rank", "score", 6)]
    columns += [Column(label, "score", 6) for label in MEANS]
    columns.append(Column("estimated", "text"))
    rows = []
    for name in models.models:
        one = models.predictions[name]
        means = [one.mean(field) for field in MEANS.values()]
        rows.append([name, one.ll_session, one.ll_rank, *map(_plain, means), _estimated(models[name])])
    return Document([Table(columns, rows), *_by_grade(models)], models.settings)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else value


def _estimated(model: ClickModel) -> str:
    """The single numbers that were fitted, as in `gamma 0.778`."""
    fixed = () if model.chosen.kind.number is None or model.chosen.free else model.chosen.kind.number[:1]
    singles = {key: value for key, value in model.parameters.items() if value.ndim == 0 and key not in fixed}
    return ", ".join(f"{key} {float(value):.4f}" for key, value in singles.items())


def _by_grade(models: ClickModels) -> list[Table]:
    """The parameters of grades, where grades share them."""
    model = next(iter(models.models.values()))
    if model.items.tie == "document":
        return []
    rows = []
    for name, one in models.models.items():
        satisfies: Any = one.parameters.get("satisfaction")
        for number, grade in enumerate(one.items.names):
            s = None if satisfies is None else float(satisfies[number])
            attracts, relevance = float(one.parameters["attractiveness"][number]), float(one.relevance[number])
            rows.append([name, _grade(grade), int(one.seen[number]), attracts, s, relevance])
    names = ("attractiveness", "satisfaction", "relevance")
    counts = [Column("grade", "figures"), Column("seen", "count")]
    return [Table([Column("model"), *counts, *(Column(name, "score") for name in names)], rows)]


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else f"{grade:g}"


def relevance_frame(model: ClickModel, min_seen: int = 0) -> pd.DataFrame:
    """The estimated relevance of each item that enough sessions showed."""
    if model.items.tie == "grade":
        columns = {"grade": list(map(_grade, model.items.names))}
    else:
        topics, docnos = ([name[part] for name in model.items.names] for part in (0, 1))
        columns = {"topic": topics, "docno": docnos}
    frame = to_frame({**columns, "gain": model.relevance, "seen": model.seen})
    return frame[frame["seen"] >= min_seen].reset_index(drop=True)


def relevance_document(models: ClickModels, min_seen: int, layout: Layout = "long") -> Document:
    """The relevance of items by the only model: what --write-relevance writes."""
    return Document([frame_table(models.relevance(min_seen=min_seen))])
