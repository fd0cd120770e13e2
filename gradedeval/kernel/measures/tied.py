"""Means over all orders of documents with equal scores: what `--ties average` gives measures."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.kernel.measures.gains import Gains, row_sums


def tied_sums(values: Floats | Bools, first: Ints) -> tuple[Floats, Ints]:
    """topics × ranks: the sum over the documents tied with each one, itself included, and how many these are.

    first  topics × ranks: the column where the documents tied with each one begin
    """
    tie = first + np.arange(len(first))[:, None] * first.shape[1]
    summed = np.bincount(tie.ravel(), values.ravel(), minlength=tie.size)[tie]
    return summed, np.bincount(tie.ravel(), minlength=tie.size)[tie]


def mean_gains(gain: Floats, first: Ints) -> Floats:
    """topics × ranks: the mean gain of the documents tied with each one."""
    summed, size = tied_sums(gain, first)
    return summed / size


def mean_summed_precision(g: Gains, min_gain: float) -> Floats:
    """topics: the mean sum of the precisions at documents whose gain is above 0 and `min_gain` or more.

    McSherry & Najork, ECIR 2008, section 2.5.
    """
    assert g.first is not None
    assert g.uncut is not None
    relevant = (g.uncut > 0) & (g.uncut >= min_gain)
    found, size = tied_sums(relevant, g.first)
    column = np.arange(g.first.shape[1])
    before = relevant.cumsum(1) - relevant
    above = np.take_along_axis(before, g.first, 1)
    # Where one of them is relevant, the others that stand above it share the other relevant ones.
    within = (column - g.first) * (found - 1) / np.maximum(size - 1, 1)
    terms = found / size * (above + 1 + within) / (column + 1)
    return row_sums(terms[:, : g.gain.shape[1]])


def survival(g: Gains) -> Floats:
    """topics × ranks: the mean probability of going on past each rank, Π_{j≤i} (1 − gain_j)."""
    assert g.first is not None
    assert g.uncut is not None
    width, unlike = g.gain.shape[1], np.zeros(g.uncut.shape, dtype=bool)
    left: Floats = np.multiply.accumulate(1 - g.uncut, axis=1)
    unlike[:, 1:] = (g.first[:, 1:] == g.first[:, :-1]) & (g.uncut[:, 1:] != g.uncut[:, :-1])
    topics, columns = np.nonzero(unlike)
    for topic, begin in dict.fromkeys(zip(topics.tolist(), g.first[topics, columns].tolist(), strict=True)):
        if begin < width:
            end = int(np.searchsorted(g.first[topic], begin, side="right"))
            reached = left[topic, begin - 1] if begin else 1.0
            means = _mean_products(1 - g.uncut[topic, begin:end], min(end, width) - begin)
            left[topic, begin : begin + len(means)] = reached * means
    return left[:, :width]


def _mean_products(factors: Floats, most: int) -> Floats:
    """The means over all sets of 1, 2, … `most` of the factors of their products."""
    others = factors[factors != 1]
    means = np.ones(1)  # over sets of 0, 1, … of these
    for number, factor in enumerate(others, 1):
        size = np.arange(number + 1)
        means = (np.append(means, 0) * (number - size) + np.append(0, means) * size * factor) / number
    count, unseen = len(factors), len(others) - np.arange(len(others) + 1)
    chance = np.zeros(len(others) + 1)  # that this many of the first are among these
    chance[0] = 1
    products = np.empty(most)
    for drawn in range(most):
        more = chance * unseen / (count - drawn)
        chance = chance * ((count - drawn - unseen) / (count - drawn))
        chance[1:] += more[:-1]
        products[drawn] = (chance * means).sum()
    return products
