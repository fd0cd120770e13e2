"""The only join: a run seen through the qrels, as topics × depth grade codes and pool counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Bools, Floats, Ints
from gradedeval.rules import Rules
from gradedeval.topics import choose_topics
from gradedeval.trec.lines import raw
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.run import Retrieved, Run, read_run

Codes = NDArray[Any]

CELLS = 1 << 18
"""A batch has at most this many cells, topics × widest ranking or pool (one topic may be larger): it bounds memory."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some topics of a run, joined with their judgements. No string but the topics' names from here on.

    topics     the ids
    codes      topics × ranks: index into the labels of the qrels; `unjudged` and `beyond` are the two codes after them
    retrieved  topics: how many documents
    pool       topics × labels: how many judged documents have each label
    docnos     topic -> docnos in rank order, for the topics that the caller asked for
    """

    topics: list[bytes]
    codes: Codes
    retrieved: Ints
    pool: Ints
    docnos: dict[bytes, list[bytes]] = field(default_factory=dict)

    @property
    def unjudged(self) -> int:
        return int(self.pool.shape[1])

    @property
    def beyond(self) -> int:
        return self.unjudged + 1


@dataclass
class GradedRun:
    """A run joined with qrels. Iterating gives its batches, once; after the last of them the other fields are known.

    topics   the topics that count, in the order of the qrels, those that are not judged last
    missing  how many of them the run lacks: they score 0
    notes    what is said of topics and lines left out
    """

    place: str
    batches: Iterator[Batch]
    tag: str = ""
    topics: list[bytes] = field(default_factory=list)
    missing: int = 0
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Batch]:
        return self.batches


def grade_run(source: Any, qrels: Qrels, rules: Rules, docnos_of: frozenset[bytes] = frozenset()) -> GradedRun:
    """Read a run and join it with the qrels: whole topics, in bounded batches.

    source     whatever `read_run` takes
    docnos_of  topics whose docnos are wanted as well

    Raises Fault, here or while the batches are taken, where the run cannot be read or has no topic in common with the
    qrels.
    """
    run = read_run(source, rules)
    chosen = choose_topics(list(run.topics), run.place, qrels, rules)
    batches = _batches(run, qrels, rules, chosen.topics, docnos_of)
    return GradedRun(run.place, batches, run.tag, chosen.topics, chosen.missing, [*run.notes, *chosen.notes])


def judged_codes(labels: Floats, rules: Rules) -> Bools:
    """code: whether it is judged; the last two codes, unjudged and beyond, are not."""
    judged = np.ones(len(labels), dtype=bool) if rules.negative == "judged" else labels >= 0
    return np.append(judged, [False, False])


def _batches(run: Run, qrels: Qrels, rules: Rules, topics: list[bytes], docnos_of: frozenset[bytes]) -> Iterator[Batch]:
    pool = qrels.pool_of(topics)
    # Topics of similar depth share a batch, so that one of a million documents does not widen thousands of ten.
    width = np.maximum([len(run.topics[topic].docnos) if topic in run.topics else 0 for topic in topics], pool.sum(1))
    rows: list[int] = []
    for row in np.argsort(width, kind="stable").tolist():
        if rows and (len(rows) + 1) * width[row] > CELLS:
            yield _batch(run, [topics[own] for own in rows], pool[rows], qrels, rules, docnos_of)
            rows = []
        rows.append(row)
    yield _batch(run, [topics[own] for own in rows], pool[rows], qrels, rules, docnos_of)


def _batch(run: Run, topics: list[bytes], pool: Ints, qrels: Qrels, rules: Rules, docnos_of: frozenset[bytes]) -> Batch:
    found = [run.topics.get(topic) or Retrieved() for topic in topics]
    unjudged, beyond = pool.shape[1], pool.shape[1] + 1
    docnos: list[Any] = []
    codes: list[int] = []
    for topic, own in zip(topics, found, strict=True):
        judged: Any = qrels.text_codes if own.docnos and isinstance(own.docnos[0], str) else qrels.codes
        codes += map(judged.get(topic, {}).get, own.docnos, repeat(unjudged))
        docnos += own.docnos

    def docno_at(position: int) -> bytes:
        docno = docnos[position]
        return raw(docno) if isinstance(docno, str) else docno

    row = np.repeat(np.arange(len(topics)), [len(own.docnos) for own in found])
    code = np.array(codes, dtype=np.min_scalar_type(beyond))
    order = np.arange(len(row))
    if rules.order == "score":
        score = _concatenated([own.scores for own in found])
        rank = _concatenated([own.ranks for own in found]) if rules.ties == "rank" else None
        settled = np.array([topic in docnos_of for topic in topics])[row] if docnos_of else None
        grade = np.where(code == unjudged, -1, code.astype(np.int64))  # the unjudged stand below every grade
        order = _ordered(row, score, rank, grade, docno_at, rules, settled)
    if rules.judged_only:
        order = order[judged_codes(qrels.labels, rules)[code[order]]]
    row, code = row[order], code[order]
    retrieved = np.bincount(row, minlength=len(topics))
    rank_of = np.arange(len(row)) - np.repeat(np.cumsum(retrieved) - retrieved, retrieved)
    if rules.depth is not None:
        kept = rank_of < rules.depth
        order, row, code, rank_of = order[kept], row[kept], code[kept], rank_of[kept]
        retrieved = np.minimum(retrieved, rules.depth)
    matrix = np.full((len(topics), int(retrieved.max(initial=0))), beyond, dtype=code.dtype)
    matrix[row, rank_of] = code
    named = {
        topic: [docno_at(position) for position in order[row == at].tolist()]
        for at, topic in enumerate(topics)
        if topic in docnos_of
    }
    return Batch(topics, matrix, retrieved, pool, named)


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([np.empty(0), *(np.asarray(column, dtype=np.float64) for column in columns)])


def _ordered(
    topic: Ints,
    score: Floats,
    rank: Floats | None,
    grade: Ints,
    docno: Callable[[int], bytes],
    rules: Rules,
    settled: Bools | None,
) -> Ints:
    """The documents of each topic from the best to the worst, as positions.

    Docnos settle only the ties that can change a score, those between different grades, and the ones in `settled`.
    """
    falling: Floats = -score
    if rules.scores == "float32":
        with np.errstate(over="ignore"):  # what no single float holds is infinite, and ties
            falling = falling.astype(np.float32).astype(np.float64)
    if rules.ties == "rank" and rank is not None:
        return np.lexsort((rank, falling, topic))
    if rules.ties in ("best", "worst"):
        return np.lexsort((-grade if rules.ties == "best" else grade, falling, topic))
    order = np.arange(len(topic))
    # Most runs list their documents from the best to the worst already.
    if ((falling[1:] < falling[:-1]) & (topic[1:] == topic[:-1])).any():
        order = np.argsort(falling, kind="stable")
        small = topic.astype(np.min_scalar_type(int(topic[-1])))  # numpy sorts small integers by radix
        order = order[np.argsort(small[order], kind="stable")]
    if rules.ties != "file":
        _settle_ties(order, topic, falling, grade, docno, rules.ties == "docno-desc", settled)
    return order


def _settle_ties(
    order: Ints,
    topic: Ints,
    falling: Floats,
    grade: Ints,
    docno: Callable[[int], bytes],
    descending: bool,
    settled: Bools | None,
) -> None:
    """Put the documents of each tie in docno order, in place."""
    topic, falling, grade = topic[order], falling[order], grade[order]
    tied = (topic[1:] == topic[:-1]) & (falling[1:] == falling[:-1])
    if not tied.any():
        return
    # A tie is a stretch of positions each tied with the one before; it matters where the grade changes within it.
    group = np.cumsum(np.append(True, ~tied)) - 1
    matters = tied & (grade[1:] != grade[:-1])
    if settled is not None:
        matters |= tied & settled[order][1:]
    starts = np.flatnonzero(np.append(True, ~tied))
    ends = np.append(starts[1:], len(order))
    for which in np.unique(group[1:][matters]).tolist():
        start, end = starts[which], ends[which]
        order[start:end] = sorted(order[start:end].tolist(), key=docno, reverse=descending)
