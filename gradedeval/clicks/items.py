"""What a click model has parameters for: each document of a topic, or all documents of a grade together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gradedeval.arrays import Ints
from gradedeval.clicks.cells import Cells
from gradedeval.clicks.log import ClickLog
from gradedeval.errors import InputError
from gradedeval.rankings.qrels import Qrels
from gradedeval.trec.lines import encode

Tie = Literal["document", "grade"]
TIES = ("document", "grade")
NO_LIST = "no list is shown", "add the column shown, the docnos from rank 1 on"
UNJUDGED = None
"""What stands for the grade of a document that has none."""


@dataclass(frozen=True, eq=False, repr=False)
class Items:
    """The documents or grades that have parameters.

    names  a pair of topic and docno for each, or its grade; `UNJUDGED` for the documents that nobody judged
    qrels  where grades come from; None where documents have parameters
    """

    names: Sequence[Any]
    qrels: Qrels | None = None

    @property
    def tie(self) -> Tie:
        return "document" if self.qrels is None else "grade"

    @cached_property
    def number(self) -> Mapping[Any, int]:
        """The number of each document or grade."""
        return {name: number for number, name in enumerate(self.names)}

    def of(self, log: ClickLog) -> Ints:
        """configurations × ranks: the number of each document shown; as many as there are for one that is none of
        them, one more past the end of the list."""
        width, number, unknown = max(map(len, log.shown), default=0), self.number, len(self.names)
        item = np.full((len(log.shown), width), unknown + 1, dtype=np.int64)
        for row, (topic, shown) in enumerate(zip(log.topics, log.shown, strict=True)):
            if self.qrels is None:
                item[row, : len(shown)] = [number.get((topic, docno), unknown) for docno in shown]
            else:
                grades = grades_of(self.qrels, topic)
                item[row, : len(shown)] = [number.get(grades.get(docno, UNJUDGED), unknown) for docno in shown]
        return item

    def cells(self, log: ClickLog) -> Cells:
        """The sessions of a log."""
        item = self.of(log)
        alike, same = np.unique(item, axis=0, return_inverse=True)
        same = same.ravel()
        configuration, pattern, count = log.totals()
        patterns = max(len(log.patterns), 1)
        distinct, position = np.unique(same[configuration] * patterns + pattern, return_inverse=True)
        counted = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(counted, position.ravel(), count)
        list_of, pattern_of = np.divmod(distinct, patterns)
        clicked = log.clicked(item.shape[1])[pattern_of]
        return Cells(np.ascontiguousarray(alike[list_of].T), np.ascontiguousarray(clicked.T), counted, len(self.names))


def grades_of(qrels: Qrels, topic: str) -> dict[str, float]:
    """docno -> grade of the judged documents of a topic."""
    labels = qrels.labels.tolist()
    return {docno: labels[code] for docno, code in qrels._text_codes.get(encode(topic), {}).items()}


def items_of(log: ClickLog, tie: Tie, qrels: Qrels | None) -> Items:
    """What the documents shown in a log share parameters by. Raises InputError where the log tells no lists, or grades
    are asked for without judgments."""
    if not any(log.shown):
        raise InputError(log.place, *NO_LIST)
    if tie == "document":
        pairs = ((topic, docno) for topic, shown in zip(log.topics, log.shown, strict=True) for docno in shown)
        return Items(list(dict.fromkeys(pairs)))
    if qrels is None:
        raise InputError("--tie grade", "needs the grades of documents", "add QRELS", usage=True)
    judged = {topic: grades_of(qrels, topic) for topic in set(log.topics)}
    found = {
        judged[topic].get(docno, UNJUDGED)
        for topic, shown in zip(log.topics, log.shown, strict=True)
        for docno in shown
    }
    if found == {UNJUDGED}:
        raise InputError(log.place, f"no document shown is judged in {qrels.place}", "give the qrels of its topics")
    grades = sorted(grade for grade in found if grade is not UNJUDGED)
    return Items([*grades, *([UNJUDGED] if UNJUDGED in found else [])], qrels)
