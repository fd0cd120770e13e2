"""Background distributions of ap and rr: the weights by rank that these measures have on a set of runs."""

from __future__ import annotations

import numpy as np

from gradedeval.experiments.fitting import Collection
from gradedeval.gains import Bools, Floats
from gradedeval.graded import Batch, grade_run


def background(collection: Collection, depth: int, rel: float = 1) -> tuple[Floats, Floats]:
    """The weights of ap and of rr at ranks 1 to `depth`, averaged over runs and topics; not scaled to sum 1.

    collection  runs, judgements and rules; a topic without relevant documents counts, with weights of 0
    rel         the lowest relevant grade

    W_AP(i) = 1/(s t i) Σ_run Σ_topic Σ_{m≤i} rel_m / R and W_RR(i) = 1/(s t i) · (number of rankings whose first
    relevant document stands at rank i). Zhang et al., Information Retrieval 2010, section 3.4.
    """
    ap, rr = np.zeros(depth), np.zeros(depth)
    count = 0
    relevant = np.append(collection.qrels.labels >= rel, [False, False])
    for source in collection.runs.values():
        run = grade_run(source, collection.qrels, collection.rules)
        # A topic may come again in a later batch, complete; that one counts.
        found = {
            topic: sums
            for batch in run
            for topic, sums in zip(batch.topics, _sums(batch, relevant, depth), strict=True)
        }
        ap, rr = np.array([ap, rr]) + np.sum([found[topic] for topic in run.topics], axis=0)
        count += len(run.topics)
    ranks = np.arange(1, depth + 1)
    return ap / count / ranks, rr / count / ranks


def _sums(batch: Batch, relevant: Bools, depth: int) -> Floats:
    """topics × 2 × ranks: the share of R found so far, and 1 at the rank of the first relevant document."""
    hits = np.zeros((len(batch.topics), depth))
    seen = relevant[batch.codes[:, :depth]]
    hits[:, : seen.shape[1]] = seen
    total = batch.pool @ relevant[: batch.unjudged].astype(np.int64)
    first = np.zeros_like(hits)
    topics = np.flatnonzero(hits.any(1))
    first[topics, hits[topics].argmax(1)] = 1
    return np.stack([hits.cumsum(1) / np.maximum(total, 1)[:, None], first], axis=1)
