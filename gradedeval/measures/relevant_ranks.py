"""The ranks of the relevant documents: most documents of a ranking are not relevant, and need not be looked at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradedeval.arrays import Floats, Ints, shared
from gradedeval.measures.gains import Gains


def ranks_of_relevant(g: Gains) -> Floats:
    """topics × …: the ranks of the relevant documents, ascending; infinite after the last."""
    return _once(g, "ranks", _find)


def _find(g: Gains) -> Floats:
    topic, column = np.nonzero(g.relevant)
    counts = np.bincount(topic, minlength=len(g.gain))
    number = np.arange(len(topic)) - np.repeat(np.cumsum(counts) - counts, counts)
    ranks = np.full((len(counts), int(counts.max(initial=0))), np.inf)
    ranks[topic, number] = column + 1.0
    return ranks


def ordinal(g: Gains) -> Floats:
    """1, 2, 3, … for the columns of `ranks_of_relevant`."""
    return np.arange(1.0, ranks_of_relevant(g).shape[1] + 1)


def num_relevant_retrieved(g: Gains) -> Ints:
    """topics: how many relevant documents are retrieved, down to the cutoff."""
    counted: Ints = np.count_nonzero(np.isfinite(ranks_of_relevant(g)), axis=1)
    return counted


def values_at_relevant(g: Gains, values: Floats | Ints) -> Floats:
    """The columns of `ranks_of_relevant`: `values` (topics × ranks) at these ranks; past its last rank, that at it."""
    ranks = ranks_of_relevant(g)
    finite = np.isfinite(ranks)
    column = np.minimum(np.where(finite, ranks, 1), values.shape[1]).astype(np.int64) - 1
    picked = np.take_along_axis(values, column, 1) if values.shape[1] else np.zeros(column.shape)
    return np.where(finite, picked, 0.0)


def gains_of_relevant(g: Gains) -> Floats:
    """The columns of `ranks_of_relevant`: the gain of each."""
    return _once(g, "gains", lambda g: values_at_relevant(g, g.gain))


def nonrelevant_above(g: Gains) -> Floats:
    """The columns of `ranks_of_relevant`: how many documents judged not relevant rank above."""
    return _once(g, "nonrelevant above", lambda g: values_at_relevant(g, (g.judged & ~g.relevant).cumsum(1)))


def _once(g: Gains, name: str, compute: Callable[[Gains], Floats]) -> Floats:
    """Computed for the first measure that needs it, and kept for the others."""
    if name not in g.memo:
        g.memo[name] = shared(compute(g))
    values: Floats = g.memo[name]
    return values
