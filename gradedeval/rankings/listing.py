"""How a run is listed: whether its scores rise with the ranks that it states, as distances do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gradedeval.arrays import Ints
from gradedeval.errors import Note
from gradedeval.options import Options
from gradedeval.trec.column_names import RANK, SCORE, TOPIC, find_column

TOPICS, DOCUMENTS = 8, 8
"""Topics of a block, and documents of each, whose ranks are looked at: to read all would take its time."""

LEAST = 3
"""Documents of a topic that tell its order from chance."""

ROWS = 512
"""Documents that are looked at where they are not read in blocks."""


@dataclass(frozen=True, eq=False, repr=False)
class Listing:
    """What a look at some topics of a run says of its order.

    looked    the topics looked at whose ranks count up
    rising    those of them in which the scores rise with the rank
    in_order  whether documents are listed by rank
    """

    looked: int = 0
    rising: int = 0
    in_order: bool = True

    def __add__(self, other: Listing) -> Listing:
        return Listing(self.looked + other.looked, self.rising + other.rising, self.in_order and other.in_order)

    def notes(self, place: str, options: Options) -> list[Note]:
        """What is said of a run whose scores rise with the rank, unless the user has chosen the order."""
        if 2 * self.rising <= self.looked or "order" in options.given:
            return []
        what = f"{place}: scores rise with the rank, as distances do, so the document ranked last comes first"
        rank = "--order rank or --order file" if self.in_order else "--order rank"
        hint = f"use {rank}, or negate the scores; --order score if they are right"
        return [Note(what, hint, kind="rising-scores")]


NOT_LOOKED = Listing()


def listing_of(topics: Iterable[Any], stated: Iterable[Any], scores: Iterable[float]) -> Listing:
    """A look at some documents, as listed: their topics, the ranks that they state, and their scores."""
    by_topic: dict[Any, list[tuple[float, float]]] = {}
    for topic, rank, score in zip(topics, stated, scores, strict=True):
        try:
            by_topic.setdefault(topic, []).append((float(rank), score))
        except (TypeError, ValueError):
            return NOT_LOOKED  # ranks are words, which order nothing
    looked, rising, in_order = 0, 0, True
    for documents in by_topic.values():
        ranks = [rank for rank, _ in documents]
        if len(set(ranks)) < len(ranks) or len(ranks) < LEAST:
            continue
        looked += 1
        in_order &= all(one < next for one, next in pairwise(ranks))
        following = list(pairwise(score for _, score in sorted(documents)))
        ups, downs = (sum(ordered) for ordered in zip(*((b > a, b < a) for a, b in following), strict=True))
        rising += ups > 2 * downs
    return Listing(looked, rising, in_order)


def sample(size: Ints) -> Ints:
    """The first documents of some topics, as positions.

    size  stretches of documents of one topic: how many
    """
    start = np.cumsum(size) - size
    several = np.flatnonzero(size > 1)
    if not len(several):
        return np.arange(min(ROWS, int(size.sum())))  # topics take turns
    some = several[np.linspace(0, len(several) - 1, min(TOPICS, len(several))).astype(np.int64)]
    within = np.arange(DOCUMENTS)
    positions: Ints = (start[some][:, None] + within)[within < size[some][:, None]]
    return positions


def listing_of_frame(frame: Any) -> Listing:
    """A look at the first rows of a DataFrame, or of columns of that form, that has both ranks and scores."""
    names = [find_column(frame.columns, known) for known in (TOPIC, RANK, SCORE)]
    if None in names:
        return NOT_LOOKED
    head = frame.head(ROWS) if hasattr(frame, "head") else frame
    columns: list[list[Any]] = [getattr(head[name], "tolist", list)()[:ROWS] for name in names]
    topics, ranks, scores = columns
    try:
        return listing_of(topics, ranks, map(float, scores))
    except (TypeError, ValueError):  # who reads the column says what is wrong
        return NOT_LOOKED
