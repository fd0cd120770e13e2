"""Small batches that become one of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gradedeval.kernel.rankings.batch import Batch, GradeCounts, Ties
from gradedeval.kernel.rankings.docnos import Docnos


def coalesce(batches: Iterable[Batch], cells: int, least: int = 0) -> Iterator[Batch]:
    """The topics of all batches in as few as may be, of at most `cells` cells: calls of numpy for a few topics cost
    more than what they do. A topic counts as `least` cells or more."""
    waiting: list[Batch] = []
    topics, width = 0, least
    for batch in batches:
        size, widest = len(batch.topics), max(batch.codes.shape[1], int(batch.pool.judged.max(initial=0)))
        if waiting and (topics + size) * max(width, widest) > cells:
            yield _concatenate(waiting)
            waiting, topics, width = [], 0, least
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
    codes = np.full((sum(sizes), width), batches[0].padding_code, dtype=batches[0].codes.dtype)
    first = None if batches[0].first is None else np.tile(np.arange(width), (len(codes), 1))
    for begin, batch in zip(np.cumsum([0, *sizes]).tolist(), batches, strict=False):
        codes[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.codes
        if first is not None and batch.first is not None:
            first[begin : begin + len(batch.topics), : batch.codes.shape[1]] = batch.first
    return Batch(
        [topic for batch in batches for topic in batch.topics],
        codes,
        np.concatenate([batch.retrieved for batch in batches]),
        counts_of_all([batch.pool for batch in batches]),
        _concatenate_docnos(batches),
        first=first,
        below=None if batches[0].below is None else np.concatenate([batch.below for batch in batches]),
        ties=_concatenate_ties(batches, width),
    )


def _concatenate_docnos(batches: list[Batch]) -> Docnos | None:
    """The docnos of several batches, without names where a batch has none; None where none has any."""
    if all(batch.docnos is None for batch in batches):
        return None
    return Docnos.joined([batch.docnos or Docnos.of([b""] * int(batch.retrieved.sum())) for batch in batches])


def _concatenate_ties(batches: list[Batch], width: int) -> Ties | None:
    """What equal scores leave open in several batches, of at most `width` ranks."""
    if not any(batch.ties for batch in batches):
        return None
    deepest = max(width, *(batch.ties.codes.shape[2] for batch in batches if batch.ties is not None))
    rows, codes, begin = [np.empty(0, np.int64)], [np.empty((2, 0, deepest), batches[0].codes.dtype)], 0
    tied = np.zeros((sum(len(batch.topics) for batch in batches), deepest), bool)
    counts = [np.empty((2, 0), np.int64)]
    for batch in batches:
        if batch.ties is not None:
            own = batch.ties.tied.shape[1]
            tied[begin : begin + len(batch.topics), :own] = batch.ties.tied
            rows.append(begin + batch.ties.rows)
            beyond = [(0, 0), (0, 0), (0, deepest - batch.ties.codes.shape[2])]
            codes.append(np.pad(batch.ties.codes, beyond, constant_values=batch.padding_code))
            counts.append(batch.ties.counts)
        begin += len(batch.topics)
    return Ties(tied, np.concatenate(rows), np.concatenate(codes, axis=1), np.concatenate(counts, axis=1))


def counts_of_all(parts: list[GradeCounts]) -> GradeCounts:
    """The counts of the topics of all parts, one after the other."""
    columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("size", "code", "count"))
    return GradeCounts(parts[0].labels, *columns)
