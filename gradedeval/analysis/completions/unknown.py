"""The documents of two runs that nobody judged: a document that both retrieved is one, and has one grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints, Item


@dataclass(frozen=True, eq=False, repr=False)
class Unknown:
    """The unjudged documents of two runs, those of all topics one after the other.

    topic   of each that one of the runs has at a rank that counts: its row
    first   of each: its rank in the first run, from 0; `depth` where it is below the last rank that counts, or not
            there
    second  of each: its rank in the second run
    hidden  topics: how many more there are, at no rank that counts
    depth   how many ranks count
    """

    topic: Ints
    first: Ints
    second: Ints
    hidden: Ints
    depth: int

    @classmethod
    def joined(cls, several: Sequence[Unknown]) -> Unknown:
        """Those of several pairs of runs, the topics of one pair after those of the other."""
        begin = np.cumsum([0, *(len(one.hidden) for one in several)]).tolist()
        topic = np.concatenate([one.topic + row for one, row in zip(several, begin, strict=False)])
        first, second, hidden = (
            np.concatenate([getattr(one, name) for one in several]) for name in ("first", "second", "hidden")
        )
        return cls(topic, first, second, hidden, several[0].depth)

    def swapped(self) -> Unknown:
        """The same of the second run and the first."""
        return replace(self, first=self.second, second=self.first)

    def select(self, chosen: Bools) -> Unknown:
        """Some of the documents."""
        return replace(self, topic=self.topic[chosen], first=self.first[chosen], second=self.second[chosen])

    def of_topics(self, rows: Ints) -> Unknown:
        """Those of some topics alone, which become the rows 0, 1, …"""
        row = np.full(len(self.hidden), -1)
        row[rows] = np.arange(len(rows))
        some = self.select(row[self.topic] >= 0)
        return replace(some, topic=row[some.topic], hidden=self.hidden[rows])

    def cut(self, depth: int) -> Unknown:
        """Those of rankings with no more ranks; what stands below them is no longer there."""
        if depth >= self.depth:
            return self
        first, second = np.minimum(self.first, depth), np.minimum(self.second, depth)
        return replace(self, first=first, second=second, depth=depth).select(np.minimum(first, second) < depth)

    @property
    def counts(self) -> Ints:
        """topics: how many documents that count at their ranks."""
        counts: Ints = np.bincount(self.topic, minlength=len(self.hidden))
        return counts

    def padded(self, values: NDArray[Item], fill: float) -> NDArray[Item]:
        """topics × …: values of the documents, the rest filled."""
        counts = self.counts
        order = np.argsort(self.topic, kind="stable")
        table = np.full((len(counts), int(counts.max(initial=0))), fill, dtype=values.dtype)
        table[np.arange(table.shape[1]) < counts[:, None]] = values[order]
        return table


def within(topic: Ints, rank: NDArray[Any], topics: int, depth: int) -> Ints:
    """topics × depth: how many documents stand at or above each rank, where these are the topics and ranks of all."""
    at = np.bincount(topic * (depth + 1) + rank, minlength=topics * (depth + 1)).reshape(topics, depth + 1)
    counts: Ints = at[:, :depth].cumsum(1, dtype=small_integers(depth))
    return counts


def small_integers(most: int) -> Any:
    """The kind of whole numbers that is used up to this one: the smaller it is, the faster tables of them are read."""
    return np.int16 if most < 1 << 15 else np.int64
