"""Batches: topics of a run joined with their judgments, and the documents that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.options import Options

Codes = NDArray[Any]


class _EveryTopic:
    """Contains the id of every topic, known or not."""

    def __contains__(self, topic: object) -> bool:
        return True


EVERY_TOPIC = _EveryTopic()


@dataclass(frozen=True, eq=False, repr=False)
class Ties:
    """What equal scores leave open in a batch.

    tied   topics × ranks: whether another document has the same score
    rows   the topics in which documents of different grades are tied
    codes  2 × these topics × ranks: their codes in the order that is worst, and in the best; the unjudged stand below
           every grade
    """

    tied: Bools
    rows: Ints
    codes: NDArray[Any]

    def of_row(self, row: int) -> Ties:
        """The same of one topic."""
        here = np.flatnonzero(self.rows == row)
        return Ties(self.tied[row : row + 1], np.zeros(len(here), dtype=np.int64), self.codes[:, here])

    def down_to(self, rank: int) -> Ties:
        """The same of the first ranks."""
        return replace(self, tied=self.tied[:, :rank], codes=self.codes[:, :, :rank])


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Some topics of a run, joined with their judgments. No string but the topics' names from here on.

    topics     the ids
    codes      topics × ranks, those asked for: index into the labels of the qrels; `unjudged` and `beyond` follow them
    retrieved  topics: how many documents
    pool       topics × labels: how many judged documents have each label
    docnos     topic -> docnos in rank order, for the topics that the caller asked for
    types      what column 2 of the run calls its documents, where that was asked for
    kinds      topics × ranks: index into `types`, −1 beyond the end; None where it was not asked for
    first      topics × ranks: the column where the documents tied with each one begin, for `--ties average`
    below      topics: how many documents that nobody judged stand below these ranks; None: none, or nobody asked
    ties       what equal scores leave open; None: nothing, or nobody asked
    """

    topics: list[bytes]
    codes: Codes
    retrieved: Ints
    pool: Ints
    docnos: dict[bytes, list[bytes]] = field(default_factory=dict)
    types: list[bytes] = field(default_factory=list)
    kinds: Ints | None = None
    first: Ints | None = None
    below: Ints | None = None
    ties: Ties | None = None

    @property
    def unjudged(self) -> int:
        return int(self.pool.shape[1])

    @property
    def beyond(self) -> int:
        return self.unjudged + 1


@dataclass(frozen=True, eq=False, repr=False)
class Documents:
    """Documents of some topics as listed, topic after topic.

    topics  the ids
    counts  topics: how many documents of each
    code    documents: index into the labels of the qrels, or the code `unjudged` after them
    score   documents, or numbers that order them alike: nothing where scores do not matter
    rank    documents: the rank that the run states; nothing where that does not matter
    docno   the docno of a document, by its position
    docnos  those of several at once, where there is a quicker way to them
    types   the names of the types, and `kind` documents: which of them; None where that does not matter
    """

    topics: list[bytes]
    counts: Ints
    code: Codes
    score: Floats | Ints | None
    rank: Floats | None
    docno: Callable[[int], bytes]
    types: list[bytes] = field(default_factory=list)
    kind: Ints | None = None
    docnos: Callable[[Ints], list[bytes]] | None = None

    def names(self, positions: Ints) -> list[bytes]:
        """The docnos of the documents at these positions."""
        return list(map(self.docno, positions.tolist())) if self.docnos is None else self.docnos(positions)

    def select(self, rows: Ints) -> Documents:
        """Only these topics, numbers in any order."""
        positions = positions_of(self.counts, rows)
        return replace(
            self,
            topics=[self.topics[row] for row in rows.tolist()],
            counts=self.counts[rows],
            code=self.code[positions],
            score=self.score[positions] if self.score is not None else None,
            rank=self.rank[positions] if self.rank is not None else None,
            docno=lambda position: self.docno(int(positions[position])),
            kind=self.kind[positions] if self.kind is not None else None,
            docnos=lambda chosen: self.names(positions[chosen]),
        )


def ranks(counts: Ints) -> Ints:
    """0, 1, 2, … for the documents of each topic, topic after topic."""
    within: Ints = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return within


def positions_of(counts: Ints, rows: Ints) -> Ints:
    """Where the documents of some topics stand, of documents that come topic after topic."""
    chosen = counts[rows]
    positions: Ints = np.repeat((np.cumsum(counts) - counts)[rows], chosen) + ranks(chosen)
    return positions


def judged_codes(labels: Floats, options: Options, sampled: bool) -> Bools:
    """code: whether it is judged; the last two codes, unjudged and beyond, are not. Where documents were `sampled`, a
    grade below 0 says that this one was not."""
    judged = ~np.isnan(labels) if options.negative == "judged" and not sampled else labels >= 0  # nan: filled
    return np.append(judged, [False, False])


def count_unjudged(codes: Codes, judged: Bools) -> Ints:
    """topics: how many of these documents nobody judged.

    codes   topics × ranks
    judged  code: whether it is judged; the last code is beyond the end
    """
    counts: Ints = np.count_nonzero(~judged[codes] & (codes != len(judged) - 1), axis=1)
    return counts


def condensed(batch: Batch, judged: Bools) -> Batch:
    """The batch without the documents that nobody judged; its codes are those of full rankings.

    judged  code: whether it is judged
    """
    kept = judged[batch.codes]
    counts = np.count_nonzero(kept, axis=1)
    width = int(counts.max(initial=0))
    order = np.argsort(~kept, axis=1, kind="stable")[:, :width]
    there = np.arange(width) < counts[:, None]
    codes = np.where(there, np.take_along_axis(batch.codes, order, 1), batch.beyond).astype(batch.codes.dtype)
    kinds, first = batch.kinds, batch.first
    if kinds is not None:
        kinds = np.where(there, np.take_along_axis(kinds, order, 1), -1)
    if first is not None:  # where the first of those that are kept and tied with it stands now
        above = np.take_along_axis(kept.cumsum(1) - kept, first, 1)
        first = np.where(there, np.take_along_axis(above, order, 1), np.arange(width))
    return replace(batch, codes=codes, retrieved=counts, kinds=kinds, first=first, below=None, docnos={})


def by_width(widths: Ints, cells: int) -> Iterator[Ints]:
    """Topics in batches of at most so many cells, or of one topic. Topics of similar width share one, so that a topic
    of a million documents does not widen thousands of ten."""
    if len(widths) * int(widths.max(initial=0)) <= cells:
        yield np.arange(len(widths))
        return
    order = np.argsort(widths, kind="stable")
    begin = 0
    for end, width in enumerate(widths[order].tolist()):
        if end > begin and (end + 1 - begin) * width > cells:
            yield order[begin:end]
            begin = end
    yield order[begin:]


def coalesce(batches: Iterable[Batch], cells: int) -> Iterator[Batch]:
    """The topics of all batches in as few as may be, of at most so many cells: calls of numpy for a few topics cost
    more than what they do."""
    waiting: list[Batch] = []
    topics = width = 0
    for batch in batches:
        size, widest = len(batch.topics), max(batch.codes.shape[1], int(batch.pool.sum(1).max(initial=0)))
        if waiting and (topics + size) * max(width, widest) > cells:
            yield _concatenate(waiting)
            waiting, topics, width = [], 0, 0
        waiting.append(batch)
        topics, width = topics + size, max(width, widest)
    if waiting:
        yield _concatenate(waiting)


def _concatenate(batches: list[Batch]) -> Batch:
    """One batch of the topics of several, without the types of documents."""
    if len(batches) == 1:
        return batches[0]
    sizes = [len(batch.topics) for batch in batches]
    width = max(batch.codes.shape[1] for batch in batches)
    codes = np.full((sum(sizes), width), batches[0].beyond, dtype=batches[0].codes.dtype)
    first = None if batches[0].first is None else np.tile(np.arange(width), (len(codes), 1))
    for begin, batch in zip(np.cumsum([0, *sizes]).tolist(), batches, strict=False):
        codes[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.codes
        if first is not None and batch.first is not None:
            first[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.first
    return Batch(
        [topic for batch in batches for topic in batch.topics],
        codes,
        np.concatenate([batch.retrieved for batch in batches]),
        np.concatenate([batch.pool for batch in batches]),
        {topic: docnos for batch in batches for topic, docnos in batch.docnos.items()},
        first=first,
        below=None if batches[0].below is None else np.concatenate([batch.below for batch in batches]),
        ties=_concatenate_ties(batches, width),
    )


def _concatenate_ties(batches: list[Batch], width: int) -> Ties | None:
    """What equal scores leave open in several batches, of at most so many ranks."""
    if not any(batch.ties for batch in batches):
        return None
    tied = np.zeros((sum(len(batch.topics) for batch in batches), width), bool)
    rows, codes, begin = [np.empty(0, np.int64)], [np.empty((2, 0, width), batches[0].codes.dtype)], 0
    for batch in batches:
        if batch.ties is not None:
            own = batch.ties.tied.shape[1]
            tied[begin : begin + len(batch.topics), :own] = batch.ties.tied
            rows.append(begin + batch.ties.rows)
            beyond = [(0, 0), (0, 0), (0, width - own)]
            codes.append(np.pad(batch.ties.codes, beyond, constant_values=batch.beyond))
        begin += len(batch.topics)
    return Ties(tied, np.concatenate(rows), np.concatenate(codes, axis=1))
