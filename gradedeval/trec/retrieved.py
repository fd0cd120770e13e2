"""A block of a run -> its documents as columns, those of a topic together, with the codes of their grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Floats, Ints
from gradedeval.rules import Rules
from gradedeval.trec.blocks import Irregular, check_beginning, split_lines
from gradedeval.trec.index import regions, repeated
from gradedeval.trec.lines import RUN_FIELDS, text
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.stream import Block
from gradedeval.trec.topic_numbers import TopicNumbers
from gradedeval.trec.words import Words


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents of some topics, topic after topic, those of a topic as listed.

    topics  the ids, in order of appearance
    topic   documents: the number of the topic
    code    documents: index into the labels of the qrels, or the code `unjudged` after them
    hashed  documents: the docno's hash
    start   documents: where the docno begins in what `docno` reads
    length  documents: the docno's length
    score   documents; None where the order of the file counts
    rank    documents; None where stated ranks do not matter
    token   the bytes from a place on, so many
    tag     the sixth column of the first line
    """

    topics: list[bytes]
    topic: NDArray[Any]
    code: NDArray[Any]
    hashed: Words
    start: Ints
    length: NDArray[Any]
    score: Floats | None
    rank: Floats | None
    token: Callable[[int, int], bytes]
    tag: str = ""

    @cached_property
    def counts(self) -> Ints:
        """topics: how many documents, where they stand topic after topic."""
        return np.diff(np.searchsorted(self.topic, np.arange(len(self.topics) + 1)))

    def docno(self, row: int) -> bytes:
        return self.token(int(self.start[row]), int(self.length[row]))

    def keep(self, rows: Any) -> Rows:
        """Only these documents."""
        return Rows(
            self.topics,
            self.topic[rows],
            self.code[rows],
            self.hashed[rows],
            self.start[rows],
            self.length[rows],
            self.score[rows] if self.score is not None else None,
            self.rank[rows] if self.rank is not None else None,
            self.token,
            self.tag,
        )


def read_rows(block: Block, qrels: Qrels, rules: Rules) -> Rows:
    """The documents of a block, topic after topic.

    Raises Irregular where a line is no line of a run.
    """
    rows = read_listed(block, qrels, rules, TopicNumbers())
    if (rows.topic[1:] < rows.topic[:-1]).any():
        return rows.keep(np.argsort(rows.topic.astype(np.min_scalar_type(len(rows.topics))), kind="stable"))
    return rows


def read_listed(
    block: Block, qrels: Qrels, rules: Rules, topics: TopicNumbers, only: frozenset[bytes] | None = None
) -> Rows:
    """The documents of a block as listed, topics among each other, numbered as they have been in the blocks before:
    those of the topics in `only`, or all.

    Raises Irregular where a line is no line of a run.
    """
    if not block.offset:
        check_beginning(block.buffer, block.begin)
    lines = split_lines(block.buffer, block.begin, block.end, len(RUN_FIELDS))
    if not len(lines):
        none = np.empty(0, dtype=np.int64)
        return Rows(topics.names, none, none, none.astype(np.uint64), none, none, None, None, lambda *_: b"")
    own, size = topics.stretches(lines)
    start, length, hashed = lines.start(2), lines.length(2), lines.hashes(2)
    unjudged = len(qrels.labels)
    code = np.full(len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1))
    hit, found = qrels.index.find(topics.rows(qrels.row)[own], size, lines.buffer, start, length, hashed)
    code[hit] = qrels.code[found]
    scores = rules.order == "score"
    rows = Rows(
        topics.names,
        np.repeat(own, size),
        code,
        hashed,
        start,
        length,
        lines.numbers(4) if scores else None,
        lines.numbers(3) if scores and rules.ties == "rank" else None,
        lambda start, length: block.buffer[start : start + length].tobytes(),
        text(lines.token(5, 0)),
    )
    if only is None or only.issuperset(topics.names):
        return rows
    return rows.keep(np.flatnonzero(np.array([name in only for name in topics.names])[rows.topic]))


def settle_repeated(rows: Rows, rules: Rules) -> tuple[Rows, dict[bytes, int]]:
    """The documents without those that repeat in their topic, and how many were dropped of which topics.

    Raises Irregular where repeated documents are an error.
    """
    table = regions(rows.counts)
    places = table.places(np.arange(len(rows.topics)), rows.counts, rows.hashed)
    suspects = repeated(rows.hashed, places, table.size)
    if not len(suspects):
        return rows, {}
    first: dict[tuple[int, bytes], int] = {}
    last: dict[tuple[int, bytes], int] = {}
    for row in suspects.tolist():
        key = (int(rows.topic[row]), rows.docno(row))
        first.setdefault(key, row)
        last[key] = row
    chosen = first if rules.duplicates == "first" else last
    kept = np.ones(len(rows.topic), dtype=bool)
    kept[suspects] = False
    kept[list(chosen.values())] = True
    if kept.all():
        return rows, {}
    if rules.duplicates in ("error", "refuse"):
        raise Irregular
    dropped: dict[bytes, int] = {}
    for topic in rows.topic[~kept].tolist():
        dropped[rows.topics[topic]] = dropped.get(rows.topics[topic], 0) + 1
    return rows.keep(kept), dropped
