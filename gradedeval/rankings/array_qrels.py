"""Judgments in arrays, topic after topic: documents have positions and no docnos."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.rankings.batch import ranks
from gradedeval.rankings.docno_index import Index
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.qrels_columns import JudgmentColumns
from gradedeval.trec.swar import text_hashes


class ArrayQrels(Qrels):
    """Qrels of documents that are called by their positions within a topic, from 1.

    topics  ids
    counts  topics: how many documents, judged or not
    labels  the distinct grades, ascending
    codes   documents: index into labels; their number where it is not judged
    """

    def __init__(self, topics: list[bytes], counts: Ints, labels: Floats, codes: NDArray[Any]) -> None:
        topic = np.repeat(np.arange(len(topics)), counts)
        judged = codes < len(labels)
        cells = np.bincount(topic[judged] * len(labels) + codes[judged], minlength=len(topics) * len(labels))
        pool: Ints = cells.reshape(len(topics), len(labels))
        kept = np.flatnonzero(pool.any(1))  # a topic without a judgment is not judged
        self._start("grades")
        self.labels, self.pool = labels, pool[kept]
        self.topics = [topics[row] for row in kept.tolist()]
        self._columns = np.searchsorted(kept, topic[judged]), ranks(counts)[judged] + 1, codes[judged]

    @cached_property
    def _judged(self) -> JudgmentColumns:
        topic, position, codes = self._columns
        buffer, start, length, hashed = text_hashes([b"%d" % number for number in position.tolist()])
        index = Index(buffer, start, length, topic.astype(np.int32), hashed, len(self.topics))
        return JudgmentColumns(self.topics, self.labels, codes, index)
