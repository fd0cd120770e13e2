"""The only join: a run seen through the qrels, as topics × depth grade codes and pool counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.errors import Fault, plural, some
from gradedeval.gains import Bools, Floats, Ints
from gradedeval.rules import Rules
from gradedeval.trec.lines import raw, text
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.run import Retrieved, Run, read_run

Codes = NDArray[Any]

CELLS = 1 << 18
"""A batch has at most this many cells, topics × widest ranking or pool (one topic may be larger): it bounds memory."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some topics of a run, joined with their judgements. No string from here on.

    rows       topics: where each stands among the topics of the run's `GradedRun`
    codes      topics × ranks: index into the labels of the qrels; `unjudged` and `beyond` are the two codes after them
    retrieved  topics: how many documents
    pool       topics × labels: how many judged documents have each label
    docnos     topic row -> docnos in rank order, for the topics that the caller asked for
    """

    rows: Ints
    codes: Codes
    retrieved: Ints
    pool: Ints
    docnos: dict[int, list[bytes]] = field(default_factory=dict)

    @property
    def unjudged(self) -> int:
        return int(self.pool.shape[1])

    @property
    def beyond(self) -> int:
        return self.unjudged + 1


@dataclass(frozen=True, eq=False)
class GradedRun:
    """A run joined with qrels: its topics by the rules, what is said of those left out, and the batches.

    `missing` counts the topics that the run lacks and that score 0.
    """

    place: str
    tag: str
    topics: list[bytes]
    missing: int
    notes: list[str]
    batches: Iterator[Batch]


def grade_run(source: Any, qrels: Qrels, rules: Rules, docnos_of: frozenset[bytes] = frozenset()) -> GradedRun:
    """Read a run and join it with the qrels: whole topics, in bounded batches.

    source     whatever `read_run` takes
    docnos_of  topics whose docnos are wanted as well

    Raises Fault where the run cannot be read or has no topic in common with the qrels.
    """
    run = read_run(source, rules)
    topics, missing, notes = _topics(run, qrels, rules)
    return GradedRun(run.place, run.tag, topics, missing, notes, _batches(run, qrels, rules, topics, docnos_of))


def judged_codes(labels: Floats, rules: Rules) -> Bools:
    """code: whether it is judged; the last two codes, unjudged and beyond, are not."""
    judged = np.ones(len(labels), dtype=bool) if rules.negative == "judged" else labels >= 0
    return np.append(judged, [False, False])


def _topics(run: Run, qrels: Qrels, rules: Rules) -> tuple[list[bytes], int, list[str]]:
    """The topics that count, how many of them the run lacks, and what to tell the user."""
    wanted = rules.topics_from
    judged = [topic for topic in qrels.topics if wanted is None or topic in wanted]
    if not judged:
        raise Fault("--topics-from", f"names no topic of {qrels.place}", f"as in {some(map(text, qrels.topics), 3)}")
    listed = [topic for topic in run.topics if wanted is None or topic in wanted]
    both = [topic for topic in judged if topic in run.topics]
    if not both:
        ours, theirs = (some(map(text, topics), 2) for topics in (run.topics, judged))
        raise Fault(
            run.place, f"no topic in common with {qrels.place} ({ours} against {theirs})", "are they one collection's?"
        )
    missing = [topic for topic in judged if topic not in run.topics]
    extra = [topic for topic in listed if topic not in qrels.codes]
    notes = list(run.notes)
    counted, cure = both, "left out"
    if rules.topics == "qrels":
        counted, cure = judged, "they score 0 (--topics both leaves them out)"
    elif rules.topics == "run":
        counted = both + extra
    elif rules.topics == "relevant":
        positive = (qrels.pool[:, qrels.labels > 0].sum(1) > 0).tolist()
        relevant = {topic for topic, any_relevant in zip(qrels.topics, positive, strict=True) if any_relevant}
        counted = [topic for topic in both if topic in relevant]
        if not counted:
            raise Fault(qrels.place, "no topic has a relevant document", "--topics both scores them all 0")
        if len(counted) < len(both):
            notes.append(f"{run.place}: {len(both) - len(counted)} topics without relevant documents; left out")
    if missing:
        of = f"{len(missing)} of {len(judged)} judged {plural(len(judged), 'topic')}"
        notes.append(f"{run.place}: {of} not in the run ({some(map(text, missing))}); {cure}")
    if extra:
        fate = "they score 0" if rules.topics == "run" else "ignored"
        notes.append(
            f"{run.place}: {len(extra)} {plural(len(extra), 'topic')} not judged ({some(map(text, extra))}); {fate}"
        )
    return counted, len(missing) if rules.topics == "qrels" else 0, notes


def _batches(run: Run, qrels: Qrels, rules: Rules, topics: list[bytes], docnos_of: frozenset[bytes]) -> Iterator[Batch]:
    nothing = np.zeros((1, len(qrels.labels)), dtype=np.int64)
    pool_row = {topic: row for row, topic in enumerate(qrels.topics)}
    pool = np.append(qrels.pool, nothing, axis=0)[[pool_row.get(topic, len(qrels)) for topic in topics]]
    found = [run.topics.get(topic) or Retrieved() for topic in topics]
    # Topics of similar depth share a batch, so that one of a million documents does not widen thousands of ten.
    width = np.maximum([len(one.docnos) for one in found], pool.sum(1))
    wanted = {row for row, topic in enumerate(topics) if topic in docnos_of}
    rows: list[int] = []
    for row in np.argsort(width, kind="stable").tolist():
        if rows and (len(rows) + 1) * width[row] > CELLS:
            yield _batch(rows, topics, found, pool, qrels, rules, wanted)
            rows = []
        rows.append(row)
    if rows:
        yield _batch(rows, topics, found, pool, qrels, rules, wanted)


def _batch(
    rows: list[int],
    topics: list[bytes],
    found: list[Retrieved],
    pool: Ints,
    qrels: Qrels,
    rules: Rules,
    wanted: set[int],
) -> Batch:
    unjudged, beyond = len(qrels.labels), len(qrels.labels) + 1
    docnos: list[Any] = []
    codes: list[int] = []
    for row in rows:
        own = found[row].docnos
        judged: Any = qrels.text_codes if own and isinstance(own[0], str) else qrels.codes
        codes += map(judged.get(topics[row], {}).get, own, repeat(unjudged))
        docnos += own

    def docno_at(position: int) -> bytes:
        docno = docnos[position]
        return raw(docno) if isinstance(docno, str) else docno

    topic = np.repeat(np.arange(len(rows)), [len(found[row].docnos) for row in rows])
    code = np.array(codes, dtype=np.min_scalar_type(beyond))

    order = np.arange(len(topic))
    if rules.order == "score":
        score = _concatenated(found, rows, lambda one: one.scores)
        rank = _concatenated(found, rows, lambda one: one.ranks) if rules.ties == "rank" else None
        settled = np.isin(topic, [at for at, row in enumerate(rows) if row in wanted]) if wanted else None
        grade = np.where(code == unjudged, -1, code.astype(np.int64))  # the unjudged stand below every grade
        order = _ordered(topic, score, rank, grade, docno_at, rules, settled)
    if rules.judged_only:
        order = order[judged_codes(qrels.labels, rules)[code[order]]]
    topic, code = topic[order], code[order]
    retrieved = np.bincount(topic, minlength=len(rows))
    rank_of = np.arange(len(topic)) - np.repeat(np.cumsum(retrieved) - retrieved, retrieved)
    if rules.depth is not None:
        kept = rank_of < rules.depth
        order, topic, code, rank_of = order[kept], topic[kept], code[kept], rank_of[kept]
        retrieved = np.minimum(retrieved, rules.depth)
    matrix = np.full((len(rows), int(retrieved.max(initial=0))), beyond, dtype=code.dtype)
    matrix[topic, rank_of] = code
    named = {
        row: [docno_at(at) for at in order[topic == position].tolist()]
        for position, row in enumerate(rows)
        if row in wanted
    }
    return Batch(np.array(rows), matrix, retrieved, pool[rows], named)


def _concatenated(found: list[Retrieved], rows: list[int], column: Callable[[Retrieved], Any]) -> Floats:
    return np.concatenate([np.empty(0), *(np.asarray(column(found[row]), dtype=np.float64) for row in rows)])


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
    falling: Floats = -(score.astype(np.float32).astype(np.float64) if rules.scores == "float32" else score)
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
