"""Nested dicts and columns of usual content, whole columns at once: a training loop scores thousands of runs.

What is unusual, wrong included, is left to `frames`, which looks at each entry and has the words for it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats
from gradedeval.trec.lines import encode

LastListed = tuple[tuple[list[bytes], list[list[Any]]], NDArray[Any]]
"""The topics and docnos of a run, and the codes of their grades."""

NOTHING_LISTED: LastListed = ([], []), np.empty(0, np.uint8)


class Listed(NamedTuple):
    """Documents topic by topic: ids of topics, the docnos of each, all different, and a number for every document."""

    topics: list[bytes]
    docnos: list[list[str]]
    values: Floats

    def select(self, topics: list[bytes]) -> Listed:
        """Only these topics, in any order; one that is not there has no documents."""
        if topics == self.topics:
            return self
        row = {topic: row for row, topic in enumerate(self.topics)}
        ends = np.cumsum([len(docnos) for docnos in self.docnos]).tolist()
        rows = [row[topic] for topic in topics if topic in row]
        parts = [self.values[ends[at] - len(self.docnos[at]) : ends[at]] for at in rows]
        docnos = [self.docnos[row[topic]] if topic in row else [] for topic in topics]
        return Listed(topics, docnos, np.concatenate([np.empty(0), *parts]))


def usual_dict(nested: Mapping[Any, Any]) -> Listed | None:
    """The documents of a dict topic -> docno -> number; None unless all ids are text and all numbers finite."""
    inner = list(nested.values())
    if not all(isinstance(documents, dict) for documents in inner):
        return None
    return _listed(nested, map(list, inner), list(chain.from_iterable(map(dict.values, inner))))


def usual_columns(topics: list[Any], docnos: list[Any], values: list[Any] | Floats) -> Listed | None:
    """The documents of three columns; None also where a document or the rows of a topic come back."""
    names: list[Any] = []
    listed: list[list[Any]] = []
    begin = 0
    try:
        for topic, rows in groupby(topics):
            end = begin + len(list(rows))
            names.append(topic)
            listed.append(docnos[begin:end])
            if len(set(listed[-1])) < end - begin:
                return None
            begin = end
        return _listed(names, listed, values) if len(set(names)) == len(names) else None
    except (TypeError, ValueError):  # what is not an id may have no hash, or no truth of being equal
        return None


def _listed(topics: Iterable[Any], docnos: Iterable[list[Any]], values: list[Any] | Floats) -> Listed | None:
    """The documents, where all ids are text and all values finite numbers."""
    listed = list(docnos)
    try:
        # What is not text has nothing to encode and cannot be joined; what is not a number fits no array of them.
        names = list(map(encode, topics))
        if not (joined := "".join(map("".join, listed))).isascii():
            encode(joined)
        numbers = np.asarray(values if isinstance(values, np.ndarray) else array("d", values), np.float64)
    except (TypeError, AttributeError, ValueError, OverflowError):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum()  # quicker than a look at each: where it is finite, all are
    return Listed(names, listed, numbers) if np.isfinite(total) or np.isfinite(numbers).all() else None
