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
from gradedeval.trec.index import look_up, regions, repeated
from gradedeval.trec.lines import RUN_FIELDS, text
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.stream import Block
from gradedeval.trec.topic_numbers import TopicNumbers
from gradedeval.trec.words import Bytes, Words, words_at

MORE = 2
"""Judged documents for each that was retrieved, up to which they are looked up."""


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
    buffer  the text in which docnos stand, where it is at hand
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
    buffer: Bytes | None = None

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
            self.buffer,
        )


def read_listed(
    block: Block, qrels: Qrels, rules: Rules, topics: TopicNumbers, only: frozenset[bytes] | None = None
) -> Rows:
    """The documents of a block as listed, topics among each other, numbered as they have been in the blocks before:
    those of the topics in `only`, or all.

    Raises Irregular where a line is no line of a run.
    """
    rows = read_rows(block, qrels, rules, topics)
    if only is not None and not only.issuperset(topics.names):
        rows = rows.keep(np.flatnonzero(np.array([name in only for name in topics.names])[rows.topic]))
    _join_each(rows, topics.rows(qrels.row), qrels)
    return rows


def joined(rows: Rows, topics: TopicNumbers, qrels: Qrels, rules: Rules) -> tuple[Rows, dict[bytes, int]]:
    """The documents of a block topic after topic, with the codes of their grades, without those that repeat in their
    topic; and how many were dropped of which topics.

    Raises Irregular where repeated documents are an error.
    """
    if (rows.topic[1:] < rows.topic[:-1]).any():
        rows = rows.keep(np.argsort(rows.topic.astype(np.min_scalar_type(len(rows.topics))), kind="stable"))
    number = topics.rows(qrels.row)
    if _join(rows, number, qrels):
        return rows, {}
    _join_each(rows, number, qrels)
    return settle_repeated(rows, rules)


def read_rows(block: Block, qrels: Qrels, rules: Rules, topics: TopicNumbers) -> Rows:
    """The documents of a block as listed, none of them judged.

    Raises Irregular where a line is no line of a run.
    """
    if not block.offset:
        check_beginning(block.buffer, block.begin)
    lines = split_lines(block.buffer, block.begin, block.end, len(RUN_FIELDS))
    scores, some = rules.order == "score", len(lines) > 0
    none = np.empty(0, dtype=np.int64)
    own, size = topics.stretches(lines) if some else (none, none)
    unjudged = len(qrels.labels)
    return Rows(
        topics.names,
        np.repeat(own, size),
        np.full(len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1)),
        lines.hashes(2),
        lines.start(2),
        lines.length(2),
        lines.numbers(4) if scores else None,
        lines.numbers(3) if scores and rules.ties == "rank" else None,
        lambda start, length: block.buffer[start : start + length].tobytes(),
        text(lines.token(5, 0)) if some else "",
        block.buffer,
    )


def _join(rows: Rows, number: Ints, qrels: Qrels) -> bool:
    """The codes of documents that stand topic after topic, in place: the judged ones are looked up among them, for they
    are fewer as a rule. Whether that was possible, and no document repeats.

    number  topics: the topic's number in the qrels, −1 where it is not judged
    """
    index = qrels.index
    judged, count = index.of_topics(number)
    if len(judged) > MORE * len(rows.topic):
        return False
    asked, table, topic = index.hashed[judged], regions(rows.counts), np.arange(len(rows.topics))
    places = table.places(topic, rows.hashed, rows.counts)
    found, twice = look_up(rows.hashed, places, table.size, asked, table.places(topic, asked, count))
    hit = np.flatnonzero(found >= 0)
    judged, found = judged[hit], found[hit]
    assert rows.buffer is not None
    if twice or not index.same(judged, words_at(rows.buffer), rows.start[found], rows.length[found]).all():
        return False
    rows.code[found] = qrels.code[judged]
    return True


def _join_each(rows: Rows, number: Ints, qrels: Qrels) -> None:
    """The same, of each document by itself."""
    assert rows.buffer is not None
    hit, found = qrels.index.find(number[rows.topic], rows.buffer, rows.start, rows.length, rows.hashed)
    rows.code[hit] = qrels.code[found]


def settle_repeated(rows: Rows, rules: Rules) -> tuple[Rows, dict[bytes, int]]:
    """The documents without those that repeat in their topic, and how many were dropped of which topics.

    Raises Irregular where repeated documents are an error.
    """
    table = regions(rows.counts)
    places = table.places(np.arange(len(rows.topics)), rows.hashed, rows.counts)
    if not look_up(rows.hashed, places, table.size, rows.hashed[:0], places[:0])[1]:
        return rows, {}
    first: dict[tuple[int, bytes], int] = {}
    last: dict[tuple[int, bytes], int] = {}
    suspects = repeated(rows.hashed, places)
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
