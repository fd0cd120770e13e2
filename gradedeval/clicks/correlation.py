"""The correlation of click measures (Chapelle et al., CIKM 2009, section 6.2), over lists and over pairs of engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradedeval.arrays import Floats, Ints

CELLS = 1 << 21
"""Draws of pairs of lists that are held at a time."""


def weighted_correlation(x: Floats, y: Floats, n: Ints | Floats) -> Floats:
    """Columns of x × columns of y: Σ n(x−m_x)(y−m_y) / √(Σ n(x−m_x)² · Σ n(y−m_y)²), m the means weighted by n; nan
    where a column is the same everywhere, or has a nan. Chapelle et al., CIKM 2009, section 6.2."""
    weight = (n / n.sum())[:, None]
    dx, dy = x - (weight * x).sum(axis=0), y - (weight * y).sum(axis=0)
    vx, vy = ((weight * d**2).sum(axis=0) for d in (dx, dy))
    # What is left of a constant by rounding is not a variance.
    vx[vx <= (1e-12 * np.abs(x).max(axis=0)) ** 2] = np.nan
    vy[vy <= (1e-12 * np.abs(y).max(axis=0)) ** 2] = np.nan
    return np.asarray((weight * dx).T @ dy / np.sqrt(vx[:, None] * vy))


def paired_correlation(topics: Sequence[str], x: Floats, y: Floats, pairs: int, seed: int) -> Floats:
    """Columns of x × columns of y: the correlation of the mean differences of two engines, over so many pairs of them.
    Each pair draws two different lists of each topic that has two, uniformly. Chapelle et al., CIKM 2009, algorithm 3.

    topics  rows of x and y: ascending
    """
    first = np.flatnonzero([index == 0 or topics[index - 1] != topics[index] for index in range(len(topics))])
    lists = np.diff(np.append(first, len(topics)))
    first, lists = first[lists > 1], lists[lists > 1]
    if not len(first):
        return np.full((x.shape[1], y.shape[1]), np.nan)
    generator = np.random.default_rng(seed)
    step, differences = max(1, CELLS // len(first)), []
    for begin in range(0, pairs, step):
        draws = generator.random((min(step, pairs - begin), len(first), 2))
        one = (draws[..., 0] * lists).astype(np.int64)
        other = (draws[..., 1] * (lists - 1)).astype(np.int64)
        one, other = first + one, first + other + (other >= one)
        differences.append([np.stack([(v[one] - v[other]).mean(axis=1) for v in some.T], axis=1) for some in (x, y)])
    dx, dy = (np.concatenate([part[side] for part in differences]) for side in (0, 1))
    return weighted_correlation(dx, dy, np.ones(pairs))
