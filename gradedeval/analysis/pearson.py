"""Pearson's r and Spearman's ρ of one list with many others: to the last bit as scipy's, whose scipy.stats takes longer
to import than most commands take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradedeval.arrays import Floats

Correlate = Callable[[Floats], float]
"""The correlation of another list of the same length with the one that is known."""


def pearson_with(known: Floats) -> Correlate:
    """Pearson's r of finite numbers, neither list constant."""
    length = len(known)
    own = _scaled(known)

    def pearson(other: Floats) -> float:
        found = float(np.clip(np.vecdot(own, _scaled(other)), -1, 1))
        return round(found) if length == 2 else found

    return pearson


def _scaled(values: Floats) -> Floats:
    """The differences from the mean, of which the squares add up to 1; scaled first, so that no square overflows."""
    differences = values - values.mean()
    largest = np.abs(differences).max()
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: Floats = differences / (largest * np.linalg.norm(differences / largest, axis=-1))
    return scaled


def spearman_with(known: Floats) -> Correlate:
    """Spearman's ρ of finite numbers, neither list constant: Pearson's r of their ranks."""
    own = mean_ranks(known)

    def spearman(other: Floats) -> float:
        both: Any = np.corrcoef(np.stack([own, mean_ranks(other)]))
        return float(both[1, 0])

    return spearman


def mean_ranks(values: Floats) -> Floats:
    """The rank of each value from 1 for the least; equal ones have the mean of theirs."""
    order = np.argsort(values)
    ordered = values[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])
    begin = np.flatnonzero(begins)
    end = np.append(begin[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = ((begin + 1 + end) / 2)[np.cumsum(begins) - 1]
    return ranks
