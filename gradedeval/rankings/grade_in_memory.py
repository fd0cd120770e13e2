"""Runs that were read as a whole, topic by topic, joined with the qrels: those of dicts and DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.options import Options
from gradedeval.rankings.batch import Batch, Documents, GradedRun, by_width, judged_codes, same
from gradedeval.rankings.order import ranked
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults
from gradedeval.rankings.topics import choose_topics
from gradedeval.trec.lines import encode


def grade_listed(
    run: Run,
    qrels: Qrels,
    options: Options,
    keep_docnos_for: frozenset[bytes] = frozenset(),
    *,
    each: Callable[[Batch], Any] = same,
) -> GradedRun:
    """Join a run with the qrels. Raises InputError where they have no topic in common."""
    chosen = choose_topics(list(run.topics), run.place, qrels, options)
    batches = map(each, _batches(run, qrels, options, chosen.topics, keep_docnos_for))
    return GradedRun(run.place, batches, run.tag, chosen.topics, chosen.missing, [*run.notes, *chosen.notes])


def _batches(
    run: Run, qrels: Qrels, options: Options, topics: list[bytes], keep_docnos_for: frozenset[bytes]
) -> Iterator[Batch]:
    pool = qrels.pool_of(topics)
    judged = judged_codes(qrels.labels, options)
    retrieved = np.array([len(run.topics[topic].docnos) if topic in run.topics else 0 for topic in topics])
    for rows in by_width(np.maximum(retrieved, pool.sum(1))):
        documents = _documents(run, [topics[row] for row in rows.tolist()], qrels, options)
        yield ranked(documents, pool[rows], judged, options, keep_docnos_for)


def _documents(run: Run, topics: list[bytes], qrels: Qrels, options: Options) -> Documents:
    found = [run.topics.get(topic) or TopicResults() for topic in topics]
    unjudged = len(qrels.labels)
    docnos: list[Any] = []
    codes: list[int] = []
    types = sorted({kind for own in found for kind in own.types})
    kind_of = {kind: at for at, kind in enumerate(types)}
    for topic, own in zip(topics, found, strict=True):
        judged: Any = qrels.text_codes if own.docnos and isinstance(own.docnos[0], str) else qrels.codes
        codes += map(judged.get(topic, {}).get, own.docnos, repeat(unjudged))
        docnos += own.docnos

    def docno(position: int) -> bytes:
        one = docnos[position]
        return encode(one) if isinstance(one, str) else one

    return Documents(
        topics,
        np.array([len(own.docnos) for own in found], dtype=np.int64),
        # Bytes are the quickest way from a list to an array.
        np.frombuffer(bytes(codes), np.uint8) if unjudged < 255 else np.array(codes, np.min_scalar_type(unjudged + 1)),
        _concatenated([own.scores for own in found]) if options.order == "score" else None,
        _concatenated([own.ranks for own in found]) if options.ties == "rank" else None,
        docno,
        types,
        np.array([kind_of[kind] for own in found for kind in own.types], dtype=np.int64) if types else None,
    )


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([np.empty(0), *(np.asarray(column, dtype=np.float64) for column in columns)])
