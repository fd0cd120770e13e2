"""A block of a run -> its documents as columns, those of a topic together, with the codes of their grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.options import Options
from gradedeval.rankings.batch import Batch, Documents
from gradedeval.rankings.docno_index import TopicBuckets, duplicate_candidates, hash_join, surely_distinct
from gradedeval.rankings.frames import LAST_RANK
from gradedeval.rankings.grade import Grader, PartResult
from gradedeval.rankings.listing import NOT_LOOKED, Listing, listing_of, sample
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.layouts import LineLayout
from gradedeval.trec.lines import NeedsLineReader, decode
from gradedeval.trec.swar import Bytes, Words, words_at
from gradedeval.trec.tokenizer import Lines
from gradedeval.trec.topic_blocks import Block


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Documents of some topics, those of a topic as listed.

    topics  the ids, in order of appearance
    topic   stretches of documents of one topic: its number
    size    stretches: how many documents
    code    documents: index into the labels of the qrels, or the code `unjudged` after them
    hashed  documents: the docno's hash
    start   documents: where the docno begins in what `docno` reads
    length  documents: the docno's length
    score   documents, or numbers that order them alike; None where the order of the file counts
    rank    documents; None where stated ranks do not matter
    token   the bytes from a place on, so many
    tag     the sixth column of the first line
    buffer  the text in which docnos stand, where it is at hand
    listing what a look at the order says
    """

    topics: list[bytes]
    topic: Ints
    size: Ints
    code: NDArray[Any]
    hashed: Words
    start: Ints
    length: NDArray[Any]
    score: Floats | Ints | None
    rank: Floats | None
    token: Callable[[int, int], bytes]
    tag: str = ""
    buffer: Bytes | None = None
    listing: Listing = NOT_LOOKED

    def __len__(self) -> int:
        return len(self.code)

    @property
    def in_order(self) -> bool:
        """Whether the documents stand topic after topic."""
        return bool((self.topic[1:] > self.topic[:-1]).all())

    @cached_property
    def counts(self) -> Ints:
        """topics: how many documents."""
        counts = np.zeros(len(self.topics), dtype=np.int64)
        np.add.at(counts, self.topic, self.size)
        return counts

    @cached_property
    def topic_of(self) -> Ints:
        """documents: the number of the topic."""
        return np.repeat(self.topic, self.size)

    def documents(self) -> Documents:
        """The same as the next stage takes them; topic after topic."""
        several = None if self.buffer is None else self.docnos
        return Documents(self.topics, self.counts, self.code, self.score, self.rank, self.docno, docnos=several)

    def docno(self, row: int) -> bytes:
        return self.token(int(self.start[row]), int(self.length[row]))

    def docnos(self, rows: Ints) -> list[bytes]:
        """The docnos of documents in a text that is at hand."""
        assert self.buffer is not None
        start = self.start[rows]
        end = start + self.length[rows]
        first = int(start.min(initial=len(self.buffer)))
        text = self.buffer[first : int(end.max(initial=first))].tobytes()
        return [text[begin:end] for begin, end in zip((start - first).tolist(), (end - first).tolist(), strict=True)]

    def keep(self, rows: Any) -> Rows:
        """Only these documents."""
        topic = self.topic_of[rows]
        first = np.flatnonzero(np.append(topic[:1] >= 0, topic[1:] != topic[:-1]))
        return replace(
            self,
            topic=topic[first],
            size=np.diff(first, append=len(topic)),
            code=self.code[rows],
            hashed=self.hashed[rows],
            start=self.start[rows],
            length=self.length[rows],
            score=self.score[rows] if self.score is not None else None,
            rank=self.rank[rows] if self.rank is not None else None,
        )


def grade_as_listed(block: Block, grader: Grader, topics: TopicCodes, only: frozenset[bytes] | None = None) -> Rows:
    """The documents of a block as listed, topics among each other, numbered as they have been in the blocks before:
    those of the topics in `only`, or all.

    Raises NeedsLineReader where a line is not one of a run.
    """
    rows = read_rows(block, grader, topics, order_is_enough=False)
    if only is not None and not only.issuperset(topics.names):
        rows = rows.keep(np.flatnonzero(np.array([name in only for name in topics.names])[rows.topic_of]))
    _grade_each(rows, topics.rows(grader.qrels._row), grader.qrels)
    return rows


def grade_by_block(rows: Rows, topics: TopicCodes, grader: Grader) -> tuple[Rows, dict[bytes, int]]:
    """The documents of a block topic after topic, with the codes of their grades, without those that repeat in their
    topic; and how many were dropped of which topics.

    Raises NeedsLineReader where repeated documents are an error.
    """
    if not rows.in_order:
        rows = rows.keep(np.argsort(rows.topic_of.astype(np.min_scalar_type(len(rows.topics))), kind="stable"))
    number = topics.rows(grader.qrels._row)
    if _grade_from_judged(rows, number, grader):
        return rows, {}
    _grade_each(rows, number, grader.qrels)
    return settle_repeated(rows, grader.options)


def grade_whole_topics(rows: Rows, topics: TopicCodes, grader: Grader) -> PartResult[Batch]:
    """The batches of a block. Raises NeedsLineReader as `grade_by_block`."""
    rows, dropped = grade_by_block(rows, topics, grader)
    batches = list(grader.batches(grader.countable(rows.documents())))
    return PartResult(batches, rows.topics, dropped, rows.tag, listing=rows.listing)


def read_rows(block: Block, grader: Grader, topics: TopicCodes, order_is_enough: bool = True) -> Rows:
    """The documents of a block as listed, none of them judged.

    order_is_enough  whether their scores are compared with no other block's

    Raises NeedsLineReader where a line is not one of a run.
    """
    options, unjudged, layout = grader.options, len(grader.qrels.labels), block.layout
    lines, docno = block.lines, layout.columns.index("docno")
    some, tag = len(lines) > 0, layout.position("tag")
    none = np.empty(0, dtype=np.int64)
    codes, size = topics.topic_runs(lines) if some else (none, none)
    score, rank = _order(lines, layout, options, order_is_enough)
    return Rows(
        topics.names,
        codes,
        size,
        np.full(len(lines), unjudged, dtype=np.min_scalar_type(unjudged + 1)),
        lines.hashes(docno),
        lines.start(docno),
        lines.length(docno),
        score,
        rank,
        lambda start, length: block.buffer[start : start + length].tobytes(),
        decode(*lines.tokens(tag, np.zeros(1, dtype=np.int64))) if some and tag is not None else "",
        block.buffer,
        _listing(lines, layout, codes, size, score) if options.order == "score" and score is not None else NOT_LOOKED,
    )


def _listing(lines: Lines, layout: LineLayout, topic: Ints, size: Ints, score: Floats | Ints) -> Listing:
    """What a look at some lines says of the order of a run that has both ranks and scores."""
    column = layout.position("rank")
    if column is None or layout.by_rank:
        return NOT_LOOKED
    rows = sample(size)
    of_topic = topic[np.searchsorted(np.cumsum(size), rows, side="right")]
    return listing_of(of_topic.tolist(), lines.tokens(column, rows), score[rows].tolist())


def _order(
    lines: Lines, layout: LineLayout, options: Options, order_is_enough: bool
) -> tuple[Floats | Ints | None, Floats | None]:
    """The scores of documents, or of a run without scores their ranks, negated; and their ranks, where these matter."""
    if options.order == "file":
        return None, None
    rank, by_rank = None, layout.by_rank or options.order == "rank"
    if options.ties == "rank" or by_rank:
        rank = lines.numbers(layout.columns.index("rank"))
        if np.abs(rank).max(initial=0) > LAST_RANK:
            raise NeedsLineReader
    stated = rank if options.ties == "rank" else None
    if by_rank and rank is not None:
        return -rank, stated
    score = layout.columns.index("score")
    return lines.sort_keys(score) if order_is_enough and options.scores != "float32" else lines.numbers(score), stated


def _grade_from_judged(rows: Rows, number: Ints, grader: Grader) -> bool:
    """The codes of documents that stand topic after topic, in place: the judged ones are looked up among them, for they
    are fewer as a rule. Whether that was possible, and no document repeats.

    number  topics: the topic's number in the qrels, −1 where it is not judged
    """
    judgments, index = grader.qrels._judged, grader.qrels._judged.index
    judged, count = index.of_topics(number)
    if len(judged) > grader.limits.judged_ratio * len(rows):
        return False
    asked, table, topic = index.hashed[judged], TopicBuckets(rows.counts), np.arange(len(rows.topics))
    places = table.places(topic, rows.hashed, rows.counts)
    position, twice = hash_join(rows.hashed, places, table.size, asked, table.places(topic, asked, count))
    hit = np.flatnonzero(position >= 0)
    judged, position = judged[hit], position[hit]
    assert rows.buffer is not None
    if twice or not index.same(judged, words_at(rows.buffer), rows.start[position], rows.length[position]).all():
        return False
    rows.code[position] = judgments.code[judged]
    return True


def _grade_each(rows: Rows, number: Ints, qrels: Qrels) -> None:
    """The same, of each document by itself."""
    assert rows.buffer is not None
    hit, judged = qrels._judged.index.find(number[rows.topic_of], rows.buffer, rows.start, rows.length, rows.hashed)
    rows.code[hit] = qrels._judged.code[judged]


def settle_repeated(rows: Rows, options: Options) -> tuple[Rows, dict[bytes, int]]:
    """The documents without those that repeat in their topic, and how many were dropped of which topics.

    Raises NeedsLineReader where repeated documents are an error.
    """
    if surely_distinct(rows.topic_of, len(rows.topics), rows.hashed):
        return rows, {}
    places = TopicBuckets(rows.counts).places(rows.topic_of, rows.hashed)
    first: dict[tuple[int, bytes], int] = {}
    last: dict[tuple[int, bytes], int] = {}
    suspects = duplicate_candidates(rows.hashed, places)
    for row in suspects.tolist():
        key = (int(rows.topic_of[row]), rows.docno(row))
        first.setdefault(key, row)
        last[key] = row
    chosen = first if options.duplicates == "first" else last
    included = np.ones(len(rows), dtype=bool)
    included[suspects] = False
    included[list(chosen.values())] = True
    if included.all():
        return rows, {}
    if options.duplicates in ("error", "refuse"):
        raise NeedsLineReader
    dropped: dict[bytes, int] = {}
    for topic in rows.topic_of[~included].tolist():
        dropped[rows.topics[topic]] = dropped.get(rows.topics[topic], 0) + 1
    return rows.keep(included), dropped
