"""Sums to infinity: how many ranks are viewed past the end, as closed forms or with an error below 1e-12.

An error is a share of the sum. That of `extrapolated` is an estimate, which its docstring states.
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
# So many terms are added up before an expansion takes over, and from this x on a series in 1/x has so many terms.
STEPS, DISTANT, ORDERS = 4096, 64.0, 12


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


def damped(fall: float, at: Any, power: int) -> Floats:
    """topics: Σ_{m≥0} (1 − fall)^m (at / (at + m))^power, 0 < fall ≤ 1: Lerch's transcendent.

    The first terms are added up; what comes after them is an integral, with the corrections of Euler–Maclaurin.
    """
    if fall >= 1:
        return np.ones(np.shape(at))
    values, topic = distinct(np.asarray(at))
    rate = -np.log1p(-fall)
    m = np.arange(STEPS, dtype=np.float64)
    powers = np.exp(-rate * m)
    sums = np.array([float(powers @ (value / (value + m)) ** power) for value in values])
    after = np.exp(-rate * STEPS) * (values / (values + STEPS)) ** power * _lerch(values + STEPS, rate, power)
    return np.asarray((sums + after)[topic])


def _lerch(x: Floats, rate: float, power: int) -> Floats:
    """Σ_{m≥0} e^(−rate·m) (x / (x + m))^power, for a large x and a small rate (a large one leaves nothing to add)."""
    one, two, three = power / x, power * (power + 1) / x**2, power * (power + 1) * (power + 2) / x**3
    first = rate + one
    third = rate**3 + 3 * rate**2 * one + 3 * rate * two + three
    found: Floats = x * exponential_integral(power, rate * x) + 0.5 + first / 12 - third / 720
    return found


def exponential_integral(order: int, z: Any) -> Floats:
    """e^z E_n(z) = ∫_0^∞ e^(−z·t) (1 + t)^−n dt, for z > 0 and n = order, 1 or 2.

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
    found: Floats = np.where(z <= 1, near, 1 / fraction)
    return found


def squared_ratios(start: Floats, step: float) -> Floats:
    """topics: S(A) = Σ_{m≥0} Π_{j=1..m} ((A + j·s − 1) / (A + j·s))², A = start ≥ 1, 0 ≤ s = step ≤ 1.

    S(x) = 1 + ((x + s − 1) / (x + s))² S(x + s) leads back to the start, from an x beyond which a series in 1/x holds,
    or from a rank that nobody reaches.
    """
    if step == 0:
        return np.asarray(start**2 / (2 * start - 1))
    # So many for each topic, whoever is beside it: a score does not depend on company.
    ranks = np.clip(np.ceil((DISTANT - start) / step), 0, STEPS)
    found = _by_powers(np.maximum(start + ranks * step, DISTANT), step)
    for j in range(int(ranks.max(initial=0)), 0, -1):
        x = start + j * step
        found = np.where(j <= ranks, 1 + ((x - 1) / x) ** 2 * found, found)
    return found


def _by_powers(x: Floats, step: float) -> Floats:
    """The S of `squared_ratios` for x ≥ DISTANT, as Σ_k c_k x^(1−k).

    S(y − s) = 1 + (1 − 1/y)² S(y), power by power of y, gives one c after the other.
    """
    c: list[float] = []
    for k in range(ORDERS):
        # Of y^−k: c_k is what the c before it leave over.
        known = sum(c[i] * _binomial(1 - i, k + 1 - i) * (-step) ** (k + 1 - i) for i in range(k))
        c.append(((k == 0) + (c[k - 1] if k else 0.0) - known) / (2 + (k - 1) * step))
    found = np.zeros_like(x)
    for one in reversed(c):
        found = one + found / x
    return found * x


def _binomial(n: int, k: int) -> float:
    """n (n−1) … (n−k+1) / k!, for any whole n."""
    return math.prod((n - i) / (i + 1) for i in range(k))


NEAR, FAR = 32, 1 << 24
"""The first rank, at least, and the number of ranks, at most, at which a sum of unknown terms is looked at."""
SLICE, WINDOW = 1 << 16, 11
AHEAD = 2.0 ** np.arange(0, 41, 0.5)
"""How far ahead factors are looked at, before what they did so far is taken for what they go on to do."""


class Unsettled(ArithmeticError):
    """A sum that is not settled after so many ranks; `converges` is false where its terms never fall off enough."""

    def __init__(self, rank: float, factor: float, converges: bool) -> None:
        self.rank, self.factor, self.converges = rank, factor, converges
        super().__init__("the sum has not converged")


def extrapolated(
    factor: Callable[[Floats], Floats], end: float, far: Callable[[Floats], Floats] | None = None
) -> float:
    """1 + f(1) + f(1) f(2) + …, of factors known only as numbers, to about ten digits.

    Raises Unsettled where FAR terms do not settle it.

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
    raise Unsettled(end + at, last, power > 1 or not steady)


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


# Ranks are looked at one by one in blocks of FIRST up to BLOCK, at most PLAIN in all; past the first BLOCK also a panel
# of them at a time, where log C is a polynomial through NODES points but for a share SMOOTH of it.
FIRST, BLOCK, PLAIN = 1 << 8, 1 << 14, 1 << 24
NODES, SMOOTH = 33, 1e-13
NOBODY, FOREVER = 1e-17, 1e300

Chances = Callable[[Floats], tuple[Floats, Floats]]


def walked_on(chances: Chances, highest: float) -> float:
    """1 + C(1) + C(1) C(2) + …; infinite where C stays 1. Raises InputError where PLAIN ranks one by one are not
    enough.

    chances  m -> log C(m) in two parts to be added up: the first never rises
    highest  the limit of the second, which rises or falls all the way
    """
    ranks = log_viewed = at = 0.0  # V of the rank after `at` more, from which C(at + 1) leads on
    plain, width = 0, float(BLOCK)
    while at < FOREVER:
        falls, moves = (float(part[0]) for part in chances(np.array([at + 1])))
        most = falls + max(moves, highest)  # from here on log C is nowhere higher
        if most < 0 and log_viewed - np.log(-np.expm1(most)) <= np.log(NOBODY * max(ranks, 1)):
            return ranks
        panel = _panel(chances, at, width) if at >= BLOCK else None
        if panel is not None:
            added, lost, step = *panel, width
            width = min(2 * width, at)
        elif width > BLOCK:
            width = max(float(BLOCK), width / 4)
            continue
        elif plain < PLAIN:
            step = float(min(BLOCK, max(FIRST, plain)))
            logs = np.cumsum(np.add(*chances(at + np.arange(1.0, step + 1))))
            added, lost, plain = 1 + float(np.exp(logs[:-1]).sum()), float(logs[-1]), plain + int(step)
        else:
            what = f"the sum did not converge within {plain:,} ranks past the end, where C still jumps"
            raise InputError("", what, "set horizon=1000 to truncate it")
        ranks, log_viewed, at = ranks + float(np.exp(log_viewed)) * added, log_viewed + lost, at + step
    return np.inf


def _panel(chances: Chances, at: float, width: float) -> tuple[float, float] | None:
    """Over `width` ranks: Σ V where it starts at 1, and log V after them; None where log C is too rough or V falls far.

    Both are integrals over the ranks ± ½ with a correction for that, Euler–Maclaurin's first; the next is below 1e-16.
    """
    nodes, coefficients, integrals, slopes = _chebyshev()
    half = width / 2
    logs = np.add(*chances(at + half * (1 + nodes)))
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
    """Points from −1 to 1; what makes of values there Chebyshev coefficients, integrals from −1 on, and slopes."""
    from numpy.polynomial import chebyshev

    angles = np.pi * np.arange(NODES)[::-1] / (NODES - 1)
    nodes = np.cos(angles)
    values = chebyshev.chebvander(nodes, NODES - 1)
    coefficients = np.asarray(np.linalg.inv(values), dtype=np.float64)
    integrals = chebyshev.chebvander(nodes, NODES) @ chebyshev.chebint(np.eye(NODES), lbnd=-1)
    slopes = values[:, :-1] @ chebyshev.chebder(np.eye(NODES))
    return nodes, coefficients, np.asarray(integrals @ coefficients), np.asarray(slopes @ coefficients)
