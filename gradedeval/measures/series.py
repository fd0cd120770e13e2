"""Sums to infinity: how many ranks are viewed past the end, as closed forms or with an error below 1e-12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradedeval.gains import Floats, distinct

LEFT = 1e-15
MOST = 1 << 20
STEPS = 4096


def trigamma(x: Any) -> Floats:
    """ψ₁(x) = Σ_{m≥0} 1/(x+m)², for x > 0."""
    x = np.array(x, dtype=np.float64)
    head = np.zeros_like(x)
    for _ in range(16):
        small = x < 16
        head += np.where(small, 1 / np.where(small, x, 1) ** 2, 0)
        x = np.where(small, x + 1, x)
    inverse = 1 / x
    square = inverse**2
    series = 1 / 6 + square * (-1 / 30 + square * (1 / 42 + square * (-1 / 30 + square * 5 / 66)))
    found: Floats = head + inverse + square / 2 + inverse * square * series
    return found


def geometric(ratio: Floats | float) -> Floats:
    """1 + ratio + ratio² + …; infinite for 1."""
    ratio = np.asarray(ratio, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 - ratio))


def damped(ratio: float, at: Any, weight: Callable[[Floats, Floats], Floats]) -> Floats:
    """topics: Σ_{m≥0} ratio^m · weight(at, m), for 0 ≤ ratio < 1 and weights that fall from weight(at, 0) = 1."""
    values, topic = distinct(np.asarray(at))
    terms = 1 if ratio <= 0 else int(min(np.ceil(np.log(LEFT * (1 - ratio)) / np.log(ratio)) + 1, MOST))
    m = np.arange(terms, dtype=np.float64)
    powers = ratio**m
    sums = np.array([float(powers @ weight(value, m)) for value in values])
    # Nothing is left after that many terms but where the ratio is within 1e-5 of 1.
    after = np.array([float(weight(value, m[-1:] + 1)[0]) for value in values]) * ratio**terms / (1 - ratio)
    return np.asarray((sums + after)[topic])


def squared_ratios(start: Floats, step: float) -> Floats:
    """topics: Σ_{m≥0} Π_{j=1..m} ((A + j·s − 1) / (A + j·s))², A = start ≥ 1, 0 ≤ s = step ≤ 1.

    The first terms are added up; from there on a term is w^(−2/s) (1 + δ/w²) up to a factor and w^−4, by the expansion
    of a ratio of gamma functions (Tricomi & Erdélyi, Pacific J. Math. 1951), and Euler–Maclaurin sums it.
    """
    if step == 1:
        return start**2 * trigamma(start)
    if step < 1e-12:
        return geometric(((start - 1) / start) ** 2)
    j = np.arange(1, STEPS + 1, dtype=np.float64)
    terms = np.cumprod(((start[:, None] + j * step - 1) / (start[:, None] + j * step)) ** 2, axis=1)
    power = 2 / step
    w = STEPS + 0.5 + (2 * start - 1) / (2 * step)
    delta = (1 / step) * (1 / step**2 - 1) / 12
    correction = 1 + delta / w**2
    tail = (_zeta(power, w) + delta / w**2 * _zeta(power + 2, w)) / correction
    found: Floats = 1 + terms[:, :-1].sum(1) + terms[:, -1] * tail
    return found


def _zeta(power: float, w: Floats) -> Floats:
    """w^power · Σ_{m≥0} (w+m)^−power, by Euler–Maclaurin."""
    found: Floats = w / (power - 1) + 0.5 + power / (12 * w) - power * (power + 1) * (power + 2) / (720 * w**3)
    return found
