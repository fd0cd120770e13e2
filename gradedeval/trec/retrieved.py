"""A block of a run -> its documents as columns, those of a topic together, with the codes of their grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Floats, Ints
from gradedeval.rules import Rules
from gradedeval.trec.blocks import Irregular, Lines, check_beginning, split_lines
from gradedeval.trec.index import regions, repeated
from gradedeval.trec.lines import RUN_FIELDS, text
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.stream import Block
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
    """The documents of a block.

    Raises Irregular where a line is no line of a run.
    """
    lines, topics, topic, tag = _lines(block)
    if (topic[1:] < topic[:-1]).any():
        order = np.argsort(topic.astype(np.min_scalar_type(len(topics))), kind="stable")
        lines, topic = lines.keep(order), topic[order]
    return _rows(block, lines, topics, topic, tag, qrels, rules)


def read_listed(block: Block, qrels: Qrels, rules: Rules, only: frozenset[bytes] | None) -> Rows:
    """The documents of a block as listed, topics among each other: those of the topics in `only`, or all.

    Raises Irregular where a line is no line of a run.
    """
    lines, topics, topic, tag = _lines(block)
    if only is not None and not only.issuperset(topics):
        wanted = np.array([name in only for name in topics], dtype=bool)
        kept = np.flatnonzero(wanted[topic])
        lines, topic = lines.keep(kept), (np.cumsum(wanted) - 1)[topic[kept]]
        topics = [name for name in topics if name in only]
    return _rows(block, lines, topics, topic, tag, qrels, rules)


def _lines(block: Block) -> tuple[Lines, list[bytes], Ints, str]:
    """The lines of a block, its topics in order of appearance, the number of each line's topic, and the tag."""
    if not block.offset:
        check_beginning(block.buffer, block.begin)
    lines = split_lines(block.buffer, block.begin, block.end, len(RUN_FIELDS))
    tag = text(lines.token(5, 0)) if len(lines) else ""
    topics, own, first = lines.stretches() if len(lines) else ([], np.empty(0, np.int64), np.empty(0, np.int64))
    return lines, topics, np.repeat(own, np.diff(np.append(first, len(lines)))), tag


def _rows(block: Block, lines: Lines, topics: list[bytes], topic: Ints, tag: str, qrels: Qrels, rules: Rules) -> Rows:
    scores = rules.order == "score"
    hashed = lines.hashes(2)
    start, end = lines.span(2)
    return Rows(
        topics,
        topic,
        _codes(lines, topics, topic, hashed, qrels),
        hashed,
        start,
        end - start,
        lines.numbers(4) if scores else None,
        lines.numbers(3) if scores and rules.ties == "rank" else None,
        lambda start, length: block.buffer[start : start + length].tobytes(),
        tag,
    )


def _codes(lines: Lines, topics: list[bytes], topic: Ints, hashed: Words, qrels: Qrels) -> NDArray[Any]:
    """The code of each document's grade."""
    unjudged = len(qrels.labels)
    code = np.full(len(topic), unjudged, dtype=np.min_scalar_type(unjudged + 1))
    number = np.array([qrels.row.get(name, -1) for name in topics], dtype=np.int64)
    judged, (start, end) = number[topic], lines.span(2)
    rows = None
    if (number < 0).any():
        rows = np.flatnonzero(judged >= 0)
        judged, start, end, hashed = judged[rows], start[rows], end[rows], hashed[rows]
    hit, found = qrels.index.find(judged, lines.buffer, start, end, hashed)
    code[hit if rows is None else rows[hit]] = qrels.code[found]
    return code


def settle_repeated(rows: Rows, rules: Rules) -> tuple[Rows, dict[bytes, int]]:
    """The documents without those that repeat in their topic, and how many were dropped of which topics.

    Raises Irregular where repeated documents are an error.
    """
    counts = np.bincount(rows.topic, minlength=len(rows.topics))
    table = regions(counts)
    suspects = repeated(rows.topic, rows.hashed, table.places(rows.topic, rows.hashed), table.size)
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
