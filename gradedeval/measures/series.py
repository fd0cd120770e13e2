"""Sums to infinity: how many ranks are viewed past the end, as closed forms or with an error below 1e-12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradedeval.distinct import distinct
from gradedeval.gains import Floats

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


NEAR, FAR = 32, 1 << 24
"""The first rank, at least, and the number of ranks, at most, at which a sum of unknown terms is looked at."""
SLICE, WINDOW = 1 << 16, 11
AHEAD = 2.0 ** np.arange(0, 41, 0.5)
"""How far ahead factors are looked at, before what they did so far is taken for what they go on to do."""


class Endless(ArithmeticError):
    """A sum that is not settled after so many ranks; `converges` is false where its terms fall off too slowly."""

    def __init__(self, rank: float, factor: float, converges: bool) -> None:
        self.rank, self.factor, self.converges = rank, factor, converges
        super().__init__("the sum is not settled")


def extrapolated(
    factor: Callable[[Floats], Floats], end: float, far: Callable[[Floats], Floats] | None = None
) -> float:
    """1 + f(1) + f(1) f(2) + …, of factors known only as numbers, to about ten digits.

    Raises Endless where FAR terms do not settle it.

    factor  m = 1, 2, … -> f(m), the factor of rank end + m
    far     the same for ranks that are only looked ahead at; there a factor may be anything

    Terms are added up until what the factors do so far is what they do at ranks far ahead as well: they are constant,
    and the rest is geometric; or the terms fall off as a power of the rank, and the sums down to each doubling of the
    rank approach their limit as a sum of geometric sequences, which the epsilon algorithm takes away one by one (Wynn,
    Math. Tables Aids Comput. 1956). Three estimates that follow each other must agree to 1e-11, or two to 1e-9 where
    FAR is reached.
    """
    total = term = last = 1.0
    sums: list[float] = []
    before, at, check, agreed = np.nan, 0, max(NEAR, int(end)), 0
    power, steady = 0.0, False
    while at < FAR:
        while at < check:
            factors = factor(at + np.arange(1.0, min(check - at, SLICE) + 1))
            terms = term * np.cumprod(factors)
            total, term, last, at = total + float(terms.sum()), float(terms[-1]), float(factors[-1]), at + len(terms)
        if term == 0:
            return total
        ahead = (far or factor)(np.floor(at * AHEAD) + 1)
        if last < 1 and (ahead == last).all():
            return total + term * last / (1 - last)
        power, steady = _falls(ahead, end + at * AHEAD)
        if power > 1 and term * at <= LEFT * total * (power - 1):
            return total
        # What was added up before the terms fell off steadily tells nothing of the limit.
        sums = [*sums, total] if steady and power > 1 + 1e-6 else []
        estimate = _limit(sums[-WINDOW:]) if sums else np.nan
        apart = abs(estimate - before) / abs(estimate) if len(sums) > 4 else np.inf
        agreed = agreed + 1 if apart <= 1e-11 else 0
        if agreed == 2 or (at >= FAR and apart <= 1e-9):
            return estimate
        before, check = estimate, 2 * at + max(NEAR, int(end))
    raise Endless(end + at, last, power > 1)


def _falls(factors: Floats, rank: Floats) -> tuple[float, bool]:
    """As which power of the rank the terms fall off, at the least, and whether it is the same at all of these ranks."""
    # Further down a double does not tell how far a factor is from 1.
    told = (rank < 1e8) | (factors < 1 - 1e-7)
    with np.errstate(divide="ignore"):
        powers = -np.log(factors[told]) * rank[told]
    if not len(powers):
        return 0.0, False
    steady = np.abs(powers - powers[0]) <= 0.25 * max(powers[0], 1)
    return float(powers.min()), bool(steady.all())


def _limit(sums: list[float]) -> float:
    """Wynn's epsilon algorithm: the limit that the sums approach."""
    older, newer = [0.0] * (len(sums) + 1), sums
    best = sums[-1]
    for order in range(1, len(sums)):
        steps = [newer[at + 1] - newer[at] for at in range(len(newer) - 1)]
        if 0.0 in steps:
            return best
        older, newer = newer, [older[at + 1] + 1 / step for at, step in enumerate(steps)]
        best = newer[-1] if order % 2 == 0 else best  # the columns between are only on the way
    return best
