"""Search length: what a user has to look at in vain."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.definition import measure
from gradedeval.measures.gains import Gains, row_sums
from gradedeval.measures.parameters import NOT_NEGATIVE, Check
from gradedeval.measures.tied import tied_sums

WANTED = Check("a whole number from 1", lambda n: isinstance(n, int) and n >= 1)


@measure(
    cutoff="none",
    better="lower",
    relevance_only=False,
    monotone=False,
    over_ties=True,
    checks={"n": WANTED, "docs": NOT_NEGATIVE},
)
def esl(g: Gains, *, n: int = 1, docs: float = 0) -> Floats:
    """Expected search length: how many documents a user looks at in vain before the n-th relevant one; less is better.

    non-relevant documents above the n-th relevant one, or all of them where fewer are relevant

    Cooper, American Documentation 1968. What the run lacks follows in random order: the other judged documents, or with
    docs=N the rest of a collection of N. Give docs to compare runs of different depths: without it a run that retrieves
    few documents leaves few to look through. With --ties average tied documents are in random order as well.

    n     how many relevant documents the user wants
    docs  the number of documents in the collection, for runs that find fewer; 0 if it is not known
    """
    relevant = g.relevant if g.uncut is None else g.uncut > 0
    found, others = row_sums(relevant), g.num_relevant - row_sums(relevant)
    rest = np.maximum(docs - g.retrieved, g.pool - row_sums(g.judged)) - others
    share = np.where(g.num_relevant >= n, (n - found) / (others + 1), 1.0)
    beyond: Floats = g.retrieved - found + share * rest
    if not g.gain.shape[1]:
        return beyond
    first = np.broadcast_to(np.arange(g.gain.shape[1]), g.gain.shape) if g.first is None else g.first
    hits, topic = relevant.cumsum(1), np.arange(len(first))
    nth = (hits >= n).argmax(1)
    begin = first[topic, nth]
    before = hits[topic, begin] - relevant[topic, begin]
    tied, size = (values[topic, nth] for values in tied_sums(relevant, first))
    # Of documents in random order the relevant ones stand at equal distances, on average.
    return np.where(found >= n, begin - before + (n - before) * (size - tied) / (tied + 1), beyond)
