"""Infinite sums: the number of ranks viewed past the end, in closed form or with a relative error below 1e-12.

The error of `extrapolated` is an estimate; see its docstring.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, distinct
from gradedeval.errors import InputError

LEFT = 1e-15
# Terms added up before an expansion takes over; the x from which on a series in 1/x is used, and its number of terms.
STEPS, DISTANT, ORDERS = 4096, 64.0, 12


def trigamma(x: Any) -> Floats:
    """Return ψ₁(x) = Σ_{m≥0} 1/(x+m)², for x > 0."""
    x = np.array(x, dtype=np.float64)
    head = np.zeros_like(x)
    for _ in range(16):
        small = x < 16
        head += np.where(small, 1 / np.where(small, x, 1) ** 2, 0)
        x = np.where(small, x + 1, x)
    inverse = 1 / x
    square = inverse**2
    series = 1 / 6 + square * (-1 / 30 + square * (1 / 42 + square * (-1 / 30 + square * 5 / 66)))
    total: Floats = head + inverse + square / 2 + inverse * square * series
    return total


def geometric(ratio: Floats | float) -> Floats:
    """Return 1 + ratio + ratio² + …; infinite for 1."""
    ratio = np.asarray(ratio, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 - ratio))


def damped(fall: float, start: Any, power: int) -> Floats:
    """Return Σ_{m≥0} (1 − fall)^m (at / (at + m))^power, 0 < fall ≤ 1, at = start: topics. It is Lerch's transcendent.

    The first terms are added up; the others are an integral with Euler–Maclaurin corrections.
    """
    if fall >= 1:
        return np.ones(np.shape(start))
    values, topic = distinct(np.asarray(start))
    rate = -np.log1p(-fall)
    m = np.arange(STEPS, dtype=np.float64)
    powers = np.exp(-rate * m)
    sums = np.array([float(powers @ (value / (value + m)) ** power) for value in values])
    after = np.exp(-rate * STEPS) * (values / (values + STEPS)) ** power * _lerch(values + STEPS, rate, power)
    return np.asarray((sums + after)[topic])


def _lerch(x: Floats, rate: float, power: int) -> Floats:
    """Return Σ_{m≥0} e^(−rate·m) (x / (x + m))^power, for a large x and a small rate: a large one leaves nothing."""
    slope, curve, twist = power / x, power * (power + 1) / x**2, power * (power + 1) * (power + 2) / x**3
    first = rate + slope
    third = rate**3 + 3 * rate**2 * slope + 3 * rate * curve + twist
    total: Floats = x * exponential_integral(power, rate * x) + 0.5 + first / 12 - third / 720
    return total


def exponential_integral(order: int, z: Any) -> Floats:
    """Return e^z E_n(z) = ∫_0^∞ e^(−z·t) (1 + t)^−n dt, for z > 0 and n = order, 1 or 2.

    Abramowitz & Stegun 1964, 5.1.11 and 5.1.14 up to 1; the continued fraction 5.1.22, contracted, above.
    """
    z = np.array(z, dtype=np.float64)
    small = np.minimum(z, 1)
    term, series = np.ones_like(small), np.zeros_like(small)
    for k in range(1, 24):
        term = term * -small / k
        series -= term / k
    near = np.exp(small) * (series - np.euler_gamma - np.log(small))
    near = near if order == 1 else 1 - small * near
    large = np.maximum(z, 1)
    fraction = large + order + 2 * 128
    for k in range(128, 0, -1):
        fraction = large + order + 2 * (k - 1) - k * (order + k - 1) / fraction
    value: Floats = np.where(z <= 1, near, 1 / fraction)
    return value


def squared_ratios(start: Floats, step: float) -> Floats:
    """Return S(A) = Σ_{m≥0} Π_{j=1..m} ((A + j·s − 1) / (A + j·s))², A = start ≥ 1, 0 ≤ s = step ≤ 1: topics.

    S(x) = 1 + ((x + s − 1) / (x + s))² S(x + s) leads back to the start, from an x for which a series in 1/x holds, or
    from a rank that nobody reaches.
    """
    if step == 0:
        return np.asarray(start**2 / (2 * start - 1))
    # By topic: a score must not depend on the other topics of the batch.
    ranks = np.clip(np.ceil((DISTANT - start) / step), 0, STEPS)
    total = _by_powers(np.maximum(start + ranks * step, DISTANT), step)
    for j in range(int(ranks.max(initial=0)), 0, -1):
        x = start + j * step
        total = np.where(j <= ranks, 1 + ((x - 1) / x) ** 2 * total, total)
    return total


def _by_powers(x: Floats, step: float) -> Floats:
    """Return S of `squared_ratios` for x ≥ DISTANT, as Σ_k c_k x^(1−k).

    S(y − s) = 1 + (1 − 1/y)² S(y), power by power of y, gives each c from the previous ones.
    """
    c: list[float] = []
    for k in range(ORDERS):
        # The coefficient of y^−k determines c_k by the earlier ones.
        earlier_terms = sum(c[i] * _binomial(1 - i, k + 1 - i) * (-step) ** (k + 1 - i) for i in range(k))
        c.append(((k == 0) + (c[k - 1] if k else 0.0) - earlier_terms) / (2 + (k - 1) * step))
    total = np.zeros_like(x)
    for coefficient in reversed(c):
        total = coefficient + total / x
    return total * x


def _binomial(n: int, k: int) -> float:
    """Return n (n−1) … (n−k+1) / k!, for any whole n."""
    return math.prod((n - i) / (i + 1) for i in range(k))


NEAR, FAR = 32, 1 << 24
"""The first rank at which a sum is checked, and the maximum number of its terms."""
SLICE, WINDOW = 1 << 16, 11
AHEAD = 2.0 ** np.arange(0, 41, 0.5)
"""Multiples of the rank at which factors are probed, before their behavior is assumed to continue."""


class NotConverged(ArithmeticError):
    """A sum that has not converged at rank `rank`; `converges` is False if its terms do not fall fast enough."""

    def __init__(self, rank: float, factor: float, converges: bool) -> None:
        self.rank, self.factor, self.converges = rank, factor, converges
        super().__init__("the sum has not converged")


def extrapolated(
    factor: Callable[[Floats], Floats], end: float, far: Callable[[Floats], Floats] | None = None
) -> float:
    """Return 1 + f(1) + f(1) f(2) + …, of factors known only as numbers, to about ten digits.

    Raises NotConverged if FAR terms are not enough.

    factor  m = 1, 2, … -> f(m), the factor of rank end + m
    far     the same for ranks that are only probed; there a factor may have any value

    Terms are added up until the factors behave as they do at ranks far ahead: they are constant, and the rest is
    geometric; or the terms fall off as a power of the rank, and the sums down to each doubling of the rank approach
    their limit as a sum of geometric sequences, which the epsilon algorithm eliminates one by one (Wynn,
    Math. Tables Aids Comput. 1956). Three successive estimates must agree to 1e-11, or two to 1e-9 if FAR is reached.
    """
    total = term = last = 1.0
    sums: list[float] = []
    previous, count, check, agreed = np.nan, 0, max(NEAR, int(end)), 0
    power, steady = 0.0, False
    while count < FAR:
        while count < check:
            factors = factor(count + np.arange(1.0, min(check - count, SLICE) + 1))
            terms = term * np.cumprod(factors)
            total, count = total + float(terms.sum()), count + len(terms)
            term, last = float(terms[-1]), float(factors[-1])
        if term == 0:
            return total
        ahead = (far or factor)(np.floor(count * AHEAD) + 1)
        if last < 1 and (ahead == last).all():
            return total + term * last / (1 - last)
        power, steady = _falls(ahead, end + count * AHEAD)
        if power > 1 and term * count <= LEFT * total * (power - 1):
            return total
        # Sums before the steady fall of the terms say nothing about the limit.
        sums = [*sums, total] if steady and power > 1 + 1e-6 else []
        estimate = _limit(sums[-WINDOW:]) if sums else np.nan
        apart = abs(estimate - previous) / abs(estimate) if len(sums) > 4 else np.inf
        agreed = agreed + 1 if apart <= 1e-11 else 0
        if agreed == 2 or (count >= FAR and apart <= 1e-9):
            return estimate
        previous, check = estimate, 2 * count + max(NEAR, int(end))
    raise NotConverged(end + count, last, power > 1 or not steady)


def _falls(factors: Floats, rank: Floats) -> tuple[float, bool]:
    """Return the lowest power of the rank at which the terms fall, and whether it is the same at all of these ranks."""
    # Further down a double cannot represent the difference of a factor from 1.
    informative = (rank < 1e8) | (factors < 1 - 1e-7)
    with np.errstate(divide="ignore"):
        powers = -np.log(factors[informative]) * rank[informative]
    if not len(powers):
        return 0.0, False
    steady = np.abs(powers - powers[0]) <= 0.25 * max(powers[0], 1)
    return float(powers.min()), bool(steady.all())


def _limit(sums: list[float]) -> float:
    """Return the limit that the sums approach, by Wynn's epsilon algorithm."""
    older, newer = [0.0] * (len(sums) + 1), sums
    best = sums[-1]
    for order in range(1, len(sums)):
        steps = [newer[i + 1] - newer[i] for i in range(len(newer) - 1)]
        if 0.0 in steps:
            return best
        older, newer = newer, [older[i + 1] + 1 / step for i, step in enumerate(steps)]
        best = newer[-1] if order % 2 == 0 else best  # odd columns are intermediate
    return best


# Ranks are evaluated one by one in blocks of FIRST up to BLOCK, at most PLAIN in all; past the first BLOCK also a panel
# at a time, if log C is a polynomial through NODES points up to a relative error SMOOTH.
FIRST, BLOCK, PLAIN = 1 << 8, 1 << 14, 1 << 24
NODES, SMOOTH = 33, 1e-13
NOBODY, FOREVER = 1e-17, 1e300

Chances = Callable[[Floats], tuple[Floats, Floats]]


def sum_by_panels(chances: Chances, highest: float) -> float:
    """Return 1 + C(1) + C(1) C(2) + …; infinite if C stays 1. Raises InputError if PLAIN ranks evaluated one by one
    are not enough.

    chances  m -> log C(m) as a sum of two parts, the first of which never rises
    highest  the limit of the second, which is monotone
    """
    ranks = log_viewed = count = 0.0  # V of the rank after `count` more
    plain, width = 0, float(BLOCK)
    while count < FOREVER:
        falls, moves = (float(part[0]) for part in chances(np.array([count + 1])))
        highest_log = falls + max(moves, highest)  # log C is nowhere higher from here on
        if highest_log < 0 and log_viewed - np.log(-np.expm1(highest_log)) <= np.log(NOBODY * max(ranks, 1)):
            return ranks
        panel = _panel(chances, count, width) if count >= BLOCK else None
        if panel is not None:
            added, lost, step = *panel, width
            width = min(2 * width, count)
        elif width > BLOCK:
            width = max(float(BLOCK), width / 4)
            continue
        elif plain < PLAIN:
            step = float(min(BLOCK, max(FIRST, plain)))
            logs = np.cumsum(np.add(*chances(count + np.arange(1.0, step + 1))))
            added, lost, plain = 1 + float(np.exp(logs[:-1]).sum()), float(logs[-1]), plain + int(step)
        else:
            problem = f"the sum did not converge within {plain:,} ranks past the end; C still jumps there"
            raise InputError("", problem, "set horizon=1000 to truncate it")
        ranks, log_viewed, count = ranks + float(np.exp(log_viewed)) * added, log_viewed + lost, count + step
    return np.inf


def _panel(chances: Chances, start: float, width: float) -> tuple[float, float] | None:
    """Return Σ V over `width` ranks with V = 1 at first, and log V after them; None if log C is not smooth or V falls
    far.

    Both are integrals over the ranks ± ½ with the first Euler–Maclaurin correction; the next is below 1e-16.
    """
    nodes, coefficients, integrals, slopes = _chebyshev()
    half = width / 2
    logs = np.add(*chances(start + half * (1 + nodes)))
    if not -logs.min() * width <= 4:
        return None
    shape = np.abs(coefficients @ logs)
    if shape[-4:].max() > SMOOTH * shape.max():
        return None
    slope = slopes @ logs / half
    so_far = half * (integrals @ logs)
    # log V(z − ½), z = 0 … width: Σ_{j≤z−½} log C(j) = ∫_½^z log C − [slope] / 24.
    viewed = np.exp(so_far - logs[0] / 2 - slope[0] / 8 - (slope - slope[0]) / 24)
    added = half * (integrals[-1] @ viewed) - (viewed[-1] * logs[-1] - viewed[0] * logs[0]) / 24
    return float(added), float(so_far[-1] + (logs[-1] - logs[0]) / 2 + (slope[-1] - slope[0]) / 12)


@lru_cache(1)
def _chebyshev() -> tuple[Floats, Floats, Floats, Floats]:
    """Return points from −1 to 1; the matrices from values to Chebyshev coefficients, integrals and slopes."""
    from numpy.polynomial import chebyshev

    angles = np.pi * np.arange(NODES)[::-1] / (NODES - 1)
    nodes = np.cos(angles)
    values = chebyshev.chebvander(nodes, NODES - 1)
    coefficients = np.asarray(np.linalg.inv(values), dtype=np.float64)
    integrals = chebyshev.chebvander(nodes, NODES) @ chebyshev.chebint(np.eye(NODES), lbnd=-1)
    slopes = values[:, :-1] @ chebyshev.chebder(np.eye(NODES))
    return nodes, coefficients, np.asarray(integrals @ coefficients), np.asarray(slopes @ coefficients)
