"""How many ranks are viewed where the chance of going on changes from rank to rank, perhaps slowly and for long."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from gradedeval.errors import Fault
from gradedeval.gains import Floats

# Ranks are looked at one by one in blocks of FIRST up to BLOCK, at most PLAIN in all; past the first BLOCK also a panel
# of them at a time, where log C is a polynomial through NODES points but for a share SMOOTH of it.
FIRST, BLOCK, PLAIN = 1 << 8, 1 << 14, 1 << 24
NODES, SMOOTH = 33, 1e-13
NOBODY, FOREVER = 1e-17, 1e300

Chances = Callable[[Floats], tuple[Floats, Floats]]


def walked_on(chances: Chances, highest: float) -> float:
    """1 + C(1) + C(1) C(2) + …; infinite where C stays 1. Raises Fault where PLAIN ranks one by one are not enough.

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
            what = f"its sum is not settled {plain} ranks past the end of a ranking, where C still leaps"
            raise Fault("", what, "horizon=1000 ends it")
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
