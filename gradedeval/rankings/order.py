"""Documents of a run with their grade codes -> rankings: ordered, cut, and laid out as topics × ranks."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints
from gradedeval.options import Options
from gradedeval.rankings.batch import Batch, Documents, Ties, ranks


def to_batch(
    documents: Documents,
    pool: Ints,
    judged: Bools,
    options: Options,
    keep_docnos_for: Container[bytes],
    keep_ties: bool = False,
    last_rank: int | None = None,
) -> Batch:
    """A batch of these topics: their documents ordered and cut by the options.

    pool       topics × labels
    judged     code: whether it is judged
    keep_ties  say which documents are tied, though no score is averaged over ties
    last_rank  the last rank that is looked at; None: all are
    """
    topics, code, retrieved, kind = documents.topics, documents.code, documents.counts, documents.kind
    row = np.repeat(np.arange(len(topics)), retrieved)
    order = _order(documents, row, pool.shape[1], options, keep_docnos_for) if options.order != "file" else None
    if options.judged_only:
        order = np.arange(len(row)) if order is None else order
        included = judged[code[order]]
        if options.like == "trec_eval" and options.depth is not None:  # it cuts first, and then drops
            included &= ranks(retrieved) < options.depth
        order = order[included]
        retrieved = np.bincount(row[order], minlength=len(topics))
    if order is not None:
        code = code[order]
        kind = kind[order] if kind is not None else None
    open_ties = _open_ties(documents, order, code, retrieved, pool.shape[1], options, last_rank)
    if options.depth is not None and retrieved.max(initial=0) > options.depth:
        included = ranks(retrieved) < options.depth
        order = np.flatnonzero(included) if order is None else order[included]
        code = code[included]
        kind = kind[included] if kind is not None else None
        retrieved = np.minimum(retrieved, options.depth)
        open_ties = open_ties and open_ties.down_to(options.depth)
    return Batch(
        topics,
        _to_matrix(code, retrieved, pool.shape[1] + 1),
        retrieved,
        pool,
        _named(documents, order, retrieved, keep_docnos_for),
        documents.types,
        _to_matrix(kind, retrieved, -1) if kind is not None else None,
        _ties(documents, order, retrieved, options) if options.ties == "average" or keep_ties else None,
        ties=open_ties,
    )


def _open_ties(
    documents: Documents,
    order: Ints | None,
    code: NDArray[Any],
    retrieved: Ints,
    unjudged: int,
    options: Options,
    last_rank: int | None,
) -> Ties | None:
    """What equal scores leave open, where the user has not chosen an order of ties, of lists that are not cut yet.

    code  documents in rank order
    """
    if documents.score is None or "ties" in options.given or not len(code):
        return None
    if options.depth is not None:
        if options.judged_only and options.like == "trec_eval":
            return None  # it has cut already: what stood below is not known
        last_rank = options.depth if last_rank is None else min(last_rank, options.depth)
    score = documents.score if order is None else documents.score[order]
    if options.scores == "float32":
        score = _falling(score, options)
    same = score[1:] == score[:-1]
    if not same.any():
        return None
    last = np.cumsum(retrieved) - 1
    same[last[(last >= 0) & (last < len(same))]] = False  # where one topic follows another
    if not same.any():
        return None
    first = np.append(True, ~same)
    tied = np.append(False, same) | np.append(same, False)
    begin = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
    matters = same & (code[1:] != code[:-1])
    if last_rank is not None:
        matters &= ranks(retrieved)[begin[1:]] < last_rank
    rows = np.unique(np.repeat(np.arange(len(retrieved)), retrieved)[1:][matters])
    if not len(rows):
        none = np.empty((2, 0, int(retrieved.max(initial=0))), code.dtype)
        return Ties(_to_matrix(tied, retrieved, False), rows, none)
    some = np.isin(np.repeat(np.arange(len(retrieved)), retrieved), rows)
    grade = np.where(code == unjudged, -1, code.astype(np.int64))[some]
    counts, begin, code = retrieved[rows], begin[some], code[some]
    codes = [_to_matrix(code[np.lexsort((up * grade, begin))], counts, unjudged + 1) for up in (1, -1)]
    width = int(retrieved.max(initial=0))
    beyond = [(0, 0), (0, 0), (0, width - codes[0].shape[1])]
    stacked = np.pad(np.array(codes), beyond, constant_values=unjudged + 1)
    return Ties(_to_matrix(tied, retrieved, False), rows, stacked)


def _ties(documents: Documents, order: Ints | None, retrieved: Ints, options: Options) -> Ints:
    """topics × ranks: the column where the documents tied with each one begin; no two are tied where scores do not
    matter."""
    if documents.score is None:
        return np.tile(np.arange(int(retrieved.max(initial=0))), (len(retrieved), 1))
    falling = _falling(documents.score if order is None else documents.score[order], options)
    within = ranks(retrieved)
    begins = (within == 0) | np.append(True, falling[1:] != falling[:-1])[: len(within)]
    first = within[np.maximum.accumulate(np.where(begins, np.arange(len(within)), 0))]
    matrix = _to_matrix(first, retrieved, -1)
    return np.where(matrix < 0, np.arange(matrix.shape[1]), matrix)


def _to_matrix(values: NDArray[Any], counts: Ints, beyond: int) -> NDArray[Any]:
    """topics × ranks: the values of each topic, so many of them, topic after topic."""
    width = int(counts.max(initial=0))
    if len(counts) * width == len(values):
        return values.reshape(len(counts), width)
    matrix = np.full((len(counts), width), beyond, dtype=values.dtype)
    matrix[np.arange(width) < counts[:, None]] = values
    return matrix


def _named(
    documents: Documents, order: Ints | None, counts: Ints, keep_docnos_for: Container[bytes]
) -> dict[bytes, list[bytes]]:
    """topic -> docnos in rank order, of the topics asked for."""
    if not keep_docnos_for:
        return {}
    ends = np.cumsum(counts)
    named = {}
    for row in [row for row, topic in enumerate(documents.topics) if topic in keep_docnos_for]:
        begin, end = int(ends[row] - counts[row]), int(ends[row])
        named[documents.topics[row]] = documents.names(np.arange(begin, end) if order is None else order[begin:end])
    return named


def _order(
    documents: Documents, topic: Ints, unjudged: int, options: Options, keep_docnos_for: Container[bytes]
) -> Ints | None:
    """The documents of each topic from the best to the worst, as positions; None where they are listed so.

    Docnos settle only the ties that can change a score, those between different grades or types, and all ties of the
    topics in `keep_docnos_for`.
    """
    score = documents.score
    # Most runs list their documents from the best to the worst already.
    if score is None or (options.scores == "float64" and _falls(score, documents.counts)):
        return None
    falling = _falling(score, options)
    code = documents.code
    if options.ties == "rank" and documents.rank is not None:
        return np.lexsort((documents.rank, falling, topic))
    if options.ties in ("best", "worst", "average"):
        grade = np.where(code == unjudged, -1, code.astype(np.int64))  # the unjudged stand below every grade
        return np.lexsort((grade if options.ties == "worst" else -grade, falling, topic))
    same = topic[1:] == topic[:-1]
    order = None
    rises = (falling[1:] < falling[:-1]) & same
    if rises.any():
        order = _sorted(falling, documents.counts, topic, np.flatnonzero(rises), options.ties == "file")
        falling = falling[order]
    tied = same & (falling[1:] == falling[:-1])
    if options.ties == "file" or not tied.any():
        return order
    # A tie is a stretch of positions each tied with the one before; it matters where something changes within it.
    matters = code[1:] != code[:-1] if order is None else np.diff(code[order]) != 0
    if documents.kind is not None:
        kind = documents.kind if order is None else documents.kind[order]
        matters |= kind[1:] != kind[:-1]
    if keep_docnos_for:
        matters |= np.array([name in keep_docnos_for for name in documents.topics])[topic[1:]]
    matters &= tied
    if not matters.any():
        return order
    order = np.arange(len(topic)) if order is None else order
    _settle_ties(order, tied, matters, documents.names, options.ties == "docno-desc")
    return order


def _falling(score: NDArray[Any], options: Options) -> NDArray[Any]:
    """The scores as they are compared, from the least for the best."""
    falling: NDArray[Any] = -score
    if options.scores == "float32":
        with np.errstate(over="ignore"):  # what no single float holds is infinite, and ties
            falling = falling.astype(np.float32).astype(np.float64)
    return falling


def _falls(score: NDArray[Any], counts: Ints) -> bool:
    """Whether each document of a topic scores less than the one before it."""
    climbs = score[1:] >= score[:-1]
    if np.count_nonzero(climbs) >= len(counts):
        return False  # more than where one topic follows another
    last = np.cumsum(counts) - 1
    climbs[last[(last >= 0) & (last < len(climbs))]] = False
    return not climbs.any()


def _sorted(falling: NDArray[Any], counts: Ints, topic: Ints, rises: Ints, stable: bool) -> Ints:
    """Positions by topic and falling score. Only with `stable` do equal scores stay as listed."""
    kind: Any = "stable" if stable else "quicksort"
    if counts.min() == counts.max():
        alike = np.argsort(falling.reshape(len(counts), -1), axis=1, kind=kind)
        return (alike + (np.cumsum(counts) - counts)[:, None]).ravel()
    if len(counts) * 64 > len(topic):  # many short topics: one sort of all costs less than one of each
        order = np.argsort(falling, kind=kind)
        small = topic.astype(np.min_scalar_type(int(topic[-1])))  # numpy sorts small integers by radix
        return order[np.argsort(small[order], kind="stable")]
    order = np.arange(len(topic))
    ends = np.cumsum(counts)
    unsorted = np.bincount(topic[rises], minlength=len(counts))
    for row in np.flatnonzero(unsorted).tolist():
        begin, end = int(ends[row] - counts[row]), int(ends[row])
        order[begin:end] = np.argsort(falling[begin:end], kind=kind) + begin
    return order


def _settle_ties(
    order: Ints, tied: Bools, matters: Bools, names: Callable[[Ints], list[bytes]], descending: bool
) -> None:
    """Put the documents of each tie in docno order, in place.

    tied, matters  of positions from 1: whether the document is tied with the one before, and whether that matters
    names          the docnos of documents
    """
    starts = np.flatnonzero(np.append(True, ~tied))
    which = np.searchsorted(starts, np.flatnonzero(matters) + 1, side="right") - 1
    which = which[np.append(True, which[1:] != which[:-1])]
    sizes = np.diff(starts, append=len(order))[which]
    at = np.repeat(starts[which], sizes) + ranks(sizes)
    docnos, settled, begin = names(order[at]), list[int](), 0
    for size in sizes.tolist():
        settled += sorted(range(begin, begin + size), key=docnos.__getitem__, reverse=descending)
        begin += size
    order[at] = order[at[settled]]
