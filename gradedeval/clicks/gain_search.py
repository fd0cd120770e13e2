"""Gains and utilities that agree best with what users did: exactly where that is linear, by a search where not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.clicks.graded_lists import GradedLists, Scored, stopping

STARTS = (-3.0, -1.0, 0.5)
"""Log odds that a search begins with; the best of what it finds counts."""
ADDITIVE = 1e-3
"""Below this top gain a cascade is a sum, and only the ratios of its gains are known."""
FLAT = 1e-9
"""Below this share of all weights, those of lists differ by rounding alone."""


def centred(values: Floats, count: Floats) -> Floats:
    """lists, or lists × columns: less the weighted mean, times the root of the weight: correlation is their cosine."""
    found: Floats = ((values - count @ values / count.sum()).T * np.sqrt(count)).T
    return found


def best_steps(steps: Floats, y: Floats, count: Floats) -> Floats:
    """columns: the factors, 0 or more, with which columns of lists × columns add up to what correlates best with `y`:
    least squares, since the nearest point of a cone has the largest cosine."""
    from scipy.optimize import nnls  # not before it is needed

    found: Floats = nnls(centred(steps, count), centred(y, count))[0]
    return found


def linear_gains(
    lists: GradedLists, scored: Scored, y: Floats, count: Floats, free: bool = False, zero: bool = False
) -> Floats:
    """grades: the gains of a sum of gains, the largest 1. That of the lowest grade is 0; free ones fall and rise, and
    are 0 or more, the least of them 0 where what all gain alike is the same in all lists."""
    of_grade = np.column_stack([(lists.code == code) @ scored.weight for code in range(len(lists.grades))])
    if free:
        gains = np.append([0.0] * zero, best_steps(of_grade[:, int(zero) :], y, count))
        if np.ptp(of_grade.sum(1)) < FLAT * scored.weight.sum():
            gains -= gains.min()
    else:
        above = np.cumsum(of_grade[:, ::-1], axis=1)[:, -2::-1]
        gains = np.append(0.0, np.cumsum(best_steps(above, y, count)))
    return gains / (gains.max() or 1)


def best_utility(gain: Floats, y: Floats, count: Floats, free: bool) -> Floats:
    """ranks: φ that makes the mean utility of stopping correlate best with `y`, φ(1) = 1, or where that is 0 the
    largest; unless free, it falls."""
    stops = stopping(gain)
    found = best_steps(stops if free else np.cumsum(stops, axis=1), y, count)
    phi = found if free else np.cumsum(found[::-1])[::-1]
    return phi / (phi[0] or phi.max() or 1)


def rising(odds: Floats) -> Floats:
    """R of each grade, of log odds: 1 − Π_{j≤g} (1 − σ(θ_j)), which rises with the grade."""
    found: Floats = -np.expm1(-np.cumsum(np.logaddexp(0, odds)))
    return found


def each_alone(odds: Floats) -> Floats:
    """σ(θ) of each grade."""
    found: Floats = np.exp(-np.logaddexp(0, -odds))
    return found


def searched(objective: Callable[[Floats], float], grades: int, free: bool, zero: bool, more: int = 0) -> Floats:
    """The gains of grades, and `more` other numbers, for which an objective of both is largest.

    free  whether gains may fall with the grade; `zero`: that of the lowest is 0
    """
    from scipy.optimize import minimize  # not before it is needed

    size = grades - zero

    def values(point: Floats) -> Floats:
        gains = (each_alone if free else rising)(point[:size])
        return np.concatenate([np.zeros(int(zero)), gains, point[size:]])

    best, lowest = np.full(size + more, STARTS[0]), np.inf
    for start in STARTS:
        point = np.append(np.full(size, start), np.ones(more))
        options = {"xatol": 1e-6, "fatol": 1e-12, "maxiter": 2000 * (size + more), "maxfev": 2000 * (size + more)}
        found = minimize(lambda point: -objective(values(point)), point, method="Nelder-Mead", options=options)
        if found.fun < lowest:
            best, lowest = found.x, found.fun
    return values(best)


def isotonic(values: Floats, weight: Floats) -> Floats:
    """The nearest values by weighted squares that never fall: neighbours that fall are given their mean."""
    blocks: list[list[float]] = []  # mean, weight, how many
    for value, mass in zip(values.tolist(), weight.tolist(), strict=True):
        blocks.append([value, mass, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, mass, size = blocks.pop()
            before = blocks[-1]
            total = before[1] + mass
            before[0] = (before[0] * before[1] + mean * mass) / total if total else (before[0] + mean) / 2
            before[1], before[2] = total, before[2] + size
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])
