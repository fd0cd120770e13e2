"""Where the relevant documents stand in a ranking: most of a ranking is not relevant, and need not be looked at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradedeval.arrays import Floats, Ints, shared
from gradedeval.measures.gains import Gains


def found(g: Gains) -> Floats:
    """topics × most relevant documents in one ranking: the ranks at which they stand, ascending; infinite after."""
    return _once(g, "found", _found)


def _found(g: Gains) -> Floats:
    topic, column = np.nonzero(g.relevant)
    counts = np.bincount(topic, minlength=len(g.gain))
    number = np.arange(len(topic)) - np.repeat(np.cumsum(counts) - counts, counts)
    ranks = np.full((len(counts), int(counts.max(initial=0))), np.inf)
    ranks[topic, number] = column + 1.0
    return ranks


def nth(g: Gains) -> Floats:
    """1, 2, 3, … for the columns of `found`."""
    return np.arange(1.0, found(g).shape[1] + 1)


def hits(g: Gains) -> Ints:
    """topics: how many relevant documents are retrieved, down to the cutoff."""
    counted: Ints = np.count_nonzero(np.isfinite(found(g)), axis=1)
    return counted


def at_found(g: Gains, values: Floats | Ints) -> Floats:
    """The columns of `found`: what topics × ranks holds at these ranks, past its last rank what it holds there."""
    some = np.isfinite(found(g))
    column = np.minimum(np.where(some, found(g), 1), values.shape[1]).astype(np.int64) - 1
    picked = np.take_along_axis(values, column, 1) if values.shape[1] else np.zeros(column.shape)
    return np.where(some, picked, 0.0)


def gain_found(g: Gains) -> Floats:
    """The columns of `found`: the gain of each."""
    return _once(g, "gain found", lambda g: at_found(g, g.gain))


def passed(g: Gains) -> Floats:
    """The columns of `found`: how many documents judged not relevant stand above."""
    return _once(g, "passed", lambda g: at_found(g, (g.judged & ~g.relevant).cumsum(1)))


def _once(g: Gains, name: str, made: Callable[[Gains], Floats]) -> Floats:
    """What several measures look at is worked out for the first of them."""
    if name not in g.memo:
        g.memo[name] = shared(made(g))
    known: Floats = g.memo[name]
    return known
