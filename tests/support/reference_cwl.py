"""The C/W/L family once more, as one loop over the ranks: Azzopardi et al., ICTIR 2021, section 2.

A measure is its C(i), a function of the rank, the gains and the costs so far. Where a sum has no end the loop goes on
until nothing is left, or ends with the sum of 1/i² where that is what is left. None: no reference.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

FAR = 4_000
NOISE = 1e-9

REQUIRED = ("sdcg", "cwlp", "set", "nerr8", "nerr9")
GAINS = dict.fromkeys(
    ("insq", "inst", "sdcg", "cwlp", "cwlrr", "cwlap", "tbg", "u", "set", "npv", "bpm", "bpmd", "ift", "rbp"), "linear"
) | dict.fromkeys(("nerr8", "nerr9", "nerr10", "nerr11", "nerr5", "nerr6"), "exp")
BOUNDED = ("rbp", "insq", "inst", "sdcg", "cwlp", "tbg", "u", "set", "npv", "nerr8", "nerr9", "nerr10", "nerr11")
DEFAULTS: dict[str, dict[str, float]] = {
    "rbp": {"p": 0.8},
    "insq": {"T": 1},
    "inst": {"T": 1},
    "tbg": {"h": 224},
    "u": {"L": 1000},
    "set": {"beta": 0.5},
    "npv": {"rate": 0.1},
    "bpm": {"T": 1, "K": 10},
    "bpmd": {"T": 1, "K": 10, "hb": 1, "hc": 1, "mid": 0.5},
    "nerr10": {"phi": 0.8},
    "nerr11": {"T": 1},
}


class Walk:
    """What a user knows at rank i: the gains and costs of ranks 1..i, and what is still to come."""

    def __init__(self, gains: Callable[[int], float], costs: Callable[[int], float], last: int | None) -> None:
        self.gains, self.costs, self.last = gains, costs, last
        self.i, self.r, self.c, self.gained, self.spent = 0, 0.0, 0.0, 0.0, 0.0
        self.surplus = 0.0

    def step(self, mid: float) -> None:
        """Go to the next rank; `surplus` is Σ_{j<i} (r_j − mid)."""
        self.surplus += self.r - mid if self.i else 0.0
        self.i += 1
        self.r, self.c = self.gains(self.i), self.costs(self.i)
        self.gained += self.r
        self.spent += self.c


def chance(name: str, given: dict[str, Any], k: int | None, at: Walk, retrieved: int) -> float:
    """C(i)."""
    if name in REQUIRED and k is not None and at.i >= k:
        return 0.0
    if name == "cwlap":
        last = max(retrieved, at.last or 0)
        after = math.fsum(at.gains(j) / j for j in range(at.i + 1, last + 1))
        return after / (after + at.r / at.i) if after + at.r / at.i > 0 else 0.0
    return float(CHANCES[name](at, at.i, given))


def squares(i: float) -> float:
    return ((i - 1) / i) ** 2


def less_money(at: Walk, i: int, given: dict[str, Any]) -> float:
    before = max(0.0, 1 - (at.spent - at.c) / given["L"])
    return max(0.0, 1 - at.spent / given["L"]) / before if before > 0 else 0.0


def below_goals(at: Walk, i: int, given: dict[str, Any]) -> bool:
    by_gain = at.gained < given["T"] + given.get("hb", 0) * at.surplus - NOISE
    return by_gain and at.spent < given["K"] + given.get("hc", 0) * at.surplus - NOISE


def foraging(given: dict[str, Any], at: Walk) -> float:
    goal, rate = given.get("T"), given.get("A")
    if goal is None and rate is None:
        goal, rate = 2.0, 0.2
    c = 1.0
    if goal is not None:
        c *= 1 - 1 / (1 + given.get("b1", 0.9) * math.exp(min((goal - at.gained) * given.get("R1", 1), 600)))
    if rate is not None:
        c *= 1 / (1 + given.get("b2", 0.9) * math.exp(min((rate - at.gained / at.spent) * given.get("R2", 1), 600)))
    return c


CHANCES: dict[str, Callable[[Walk, int, dict[str, Any]], float]] = {
    "sdcg": lambda at, i, given: math.log2(i + 1) / math.log2(i + 2),
    "cwlp": lambda at, i, given: 1,
    "set": lambda at, i, given: (
        ((i + 2) ** given["beta"] - (i + 1) ** given["beta"]) / ((i + 1) ** given["beta"] - i ** given["beta"])
    ),
    "rbp": lambda at, i, given: given["p"],
    "npv": lambda at, i, given: 1 / (1 + given["rate"]),
    "cwlrr": lambda at, i, given: at.r == 0,
    "insq": lambda at, i, given: squares(i + 2 * given["T"]),
    "inst": lambda at, i, given: squares(i + given["T"] + (given["T"] - at.gained)),
    "tbg": lambda at, i, given: 2 ** (-at.c / given["h"]),
    "u": less_money,
    "bpm": below_goals,
    "bpmd": below_goals,
    "ift": lambda at, i, given: foraging(given, at),
    "nerr5": lambda at, i, given: 1 - at.r,
    "nerr6": lambda at, i, given: i / (i + 1) * (1 - at.r),
    "nerr8": lambda at, i, given: 1 - at.r,
    "nerr9": lambda at, i, given: i / (i + 1) * (1 - at.r),
    "nerr10": lambda at, i, given: given["phi"] * (1 - at.r),
    "nerr11": lambda at, i, given: squares(i + 2 * given["T"]) * (1 - at.r),
}
"""Measure -> C(i); but of cwlap, which looks ahead."""


def squares_from(x: float) -> float:
    """Σ_{m≥0} 1/(x+m)²: a hundred terms, and Euler and Maclaurin's sum of the others."""
    near = math.fsum(1 / (x + m) ** 2 for m in range(100))
    y = x + 100
    return near + 1 / y + 1 / (2 * y**2) + 1 / (6 * y**3) - 1 / (30 * y**5)


def score(
    name: str,
    parameters: dict[str, Any],
    k: int | None,
    ranking: Sequence[float],
    tail: float = 0.0,
    costs: Sequence[float] | None = None,
) -> float | None:
    """One of the five quantities (`of`): of a ranking of gains that goes on with the gain `tail` and the cost 1."""
    given = {**DEFAULTS.get(name, {}), **parameters}
    of, horizon = given.get("of", "eu"), given.get("horizon")
    n = len(ranking)
    ends = k if name in REQUIRED else None
    if horizon is not None:
        ends = horizon
    stops = any(gain > 0 if name == "cwlrr" else gain >= 1 for gain in ranking)
    if ends is None and name in ("cwlrr", "nerr5", "nerr6") and not tail and not stops:
        return 0.0 if of == "eu" and k is None else None  # nobody ever stops: the limit
    if name == "cwlap" and ends is None and tail:
        return None
    at = Walk(
        lambda i: ranking[i - 1] if i <= n else tail,
        lambda i: 1.0 if costs is None or i > n else costs[i - 1],
        max(n, k or 0) if ends is None else ends,
    )
    if name == "cwlap" and horizon is not None:
        at.gains = lambda i: 0.0 if i > horizon else ranking[i - 1] if i <= n else tail
    v = 1.0
    sums = dict.fromkeys(("eu", "etu", "ec", "etc", "ed"), 0.0)
    depth = 0.0
    while True:
        at.step(given.get("mid", 0.0))
        c = chance(name, given, k, at, n)
        depth += v
        if name in REQUIRED or k is None or at.i <= k:
            sums["eu"] += v * at.r
            sums["ec"] += v * at.c
            sums["ed"] += v
            sums["etu"] += v * (1 - c) * at.gained
            sums["etc"] += v * (1 - c) * at.spent
        v *= c
        if ends is not None and at.i >= ends:
            break
        enough = at.i >= max(n, k or 0)
        if enough and v < 1e-18:
            break
        # Only for insq do the weights stay the same where every rank past the end has a gain.
        like_squares = name == "insq" or (name in ("inst", "nerr11") and tail == 0)
        if enough and ends is None and like_squares and of in ("eu", "ed", "ec"):
            base = at.i + 1 + 2 * given["T"] - (at.gained if name == "inst" else 0) - 1
            rest = v * base**2 * squares_from(base)
            depth += rest
            if k is None:
                sums["ed"] += rest
                sums["ec"] += rest
                sums["eu"] += rest * tail
            break
        if at.i > FAR:
            return None
    return sums[of] / depth if of in ("eu", "ec") else sums[of]
