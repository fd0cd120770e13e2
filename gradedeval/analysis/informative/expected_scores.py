"""Expected scores of lists whose documents have each grade with a given chance, independently at each rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from gradedeval.analysis.contributions import check_by_rank
from gradedeval.analysis.fixed_weights import static_weights
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError
from gradedeval.measures.cascade_models import useful
from gradedeval.measures.cumulated_gain import divisor
from gradedeval.measures.definition import Measure
from gradedeval.measures.gains import Gains

Chances = Floats
"""lists × grades × ranks: the probability of each grade at each rank; 0 past the end of a list."""


class ExpectedScore(Protocol):
    """A measure over such lists. What depends on the pool alone, such as R or the ideal, is left out: it is the same
    for all lists of a topic, so that a score says no more with it."""

    @property
    def linear(self) -> bool:
        """Whether the slope is the same for all chances."""

    def value(self, chances: Chances) -> Floats:
        """lists: the expected score."""

    def slope(self, chances: Chances) -> Chances:
        """Its derivative by each chance."""

    def order(self, chances: Chances) -> Floats:
        """lists × ranks: the larger, the more a gain at the rank counts; 0 where it does not, equal where ranks may be
        exchanged."""

    def select(self, rows: Any) -> ExpectedScore:
        """The same for some of the lists."""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedGain:
    """Σ_n w_n E[gain_n]. weights: lists × ranks, worth: grades."""

    weights: Floats
    worth: Floats
    linear: bool = True

    def value(self, chances: Chances) -> Floats:
        summed: Floats = ((self.worth @ chances) * self.weights).sum(1)
        return summed

    def slope(self, chances: Chances) -> Chances:
        return self.weights[:, None, :] * self.worth[:, None]

    def order(self, chances: Chances) -> Floats:
        return self.weights

    def select(self, rows: Any) -> WeightedGain:
        return WeightedGain(self.weights[rows], self.worth)


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """Σ_n φ_n ρ_n Π_{m<n} (1 − ρ_m), ρ_n = E[gain_n]: linear in the gain of each rank. phi: ranks, worth: grades."""

    phi: Floats
    worth: Floats
    linear: bool = False

    def _stops(self, chances: Chances) -> tuple[Floats, Floats]:
        """lists × ranks: ρ, and the probability of coming to the rank."""
        gain = self.worth @ chances
        reached = np.ones_like(gain)
        np.cumprod(1 - gain[:, :-1], axis=1, out=reached[:, 1:])
        return gain, reached

    def value(self, chances: Chances) -> Floats:
        gain, reached = self._stops(chances)
        summed: Floats = (gain * reached) @ self.phi
        return summed

    def slope(self, chances: Chances) -> Chances:
        gain, reached = self._stops(chances)
        # From the end: the expected utility of a user who comes to the next rank, V_n = φ_n ρ_n + (1 − ρ_n) V_{n+1}.
        below = np.zeros((gain.shape[1] + 1, len(gain)))
        stay, now = (1 - gain).T, (gain * self.phi).T
        for rank in range(gain.shape[1] - 1, -1, -1):
            below[rank] = now[rank] + stay[rank] * below[rank + 1]
        by_gain = reached * (self.phi - below[1:].T)
        return by_gain[:, None, :] * self.worth[:, None]

    def order(self, chances: Chances) -> Floats:
        _, reached = self._stops(chances)
        return np.where((self.phi > 0) & (reached > 0), np.arange(len(self.phi), 0, -1.0), 0.0)

    def select(self, rows: Any) -> Cascade:
        return self


@dataclass(frozen=True, eq=False, repr=False)
class GradedPrecision:
    """Σ_j g_j Σ_{n≤k} T_n(j)/n (1 + Σ_{m<n} T_m(j)), T_n(j) the chance of grade j or more: gap, with one threshold ap.

    steps  thresholds: g_j
    holds  thresholds × grades: 1 where the grade is the threshold or more
    last   the cutoff k, or the number of ranks
    """

    steps: Floats
    holds: Floats
    last: int
    linear: bool = False

    def _parts(self, chances: Chances) -> tuple[Floats, Floats, Floats]:
        """lists × thresholds × ranks: T, its sum over the ranks above, and T/n down to the cutoff."""
        relevant = self.holds @ chances
        above = np.zeros_like(relevant)
        np.cumsum(relevant[:, :, :-1], axis=2, out=above[:, :, 1:])
        rank = np.arange(1.0, chances.shape[2] + 1)
        return relevant, above, np.where(rank <= self.last, relevant / rank, 0.0)

    def value(self, chances: Chances) -> Floats:
        _, above, share = self._parts(chances)
        summed: Floats = (share * (1 + above)).sum(2) @ self.steps
        return summed

    def slope(self, chances: Chances) -> Chances:
        _, above, share = self._parts(chances)
        rank = np.arange(1.0, chances.shape[2] + 1)
        to_come = share[:, :, ::-1].cumsum(2)[:, :, ::-1] - share
        by_threshold = np.where(rank <= self.last, (1 + above) / rank, 0.0) + to_come
        slope: Floats = (self.holds.T * self.steps) @ by_threshold
        return slope

    def order(self, chances: Chances) -> Floats:
        lists, _, ranks = chances.shape
        return np.tile(np.maximum(np.arange(self.last, self.last - ranks, -1.0), 0), (lists, 1))

    def select(self, rows: Any) -> GradedPrecision:
        return self


Maker = Callable[[Measure, Gains, Floats, int], ExpectedScore]
"""measure, gains of some topics, what each grade is worth, ranks -> its expected score."""


def _ranks_within(measure: Measure, ranks: int) -> Bools:
    within: Bools = np.arange(1, ranks + 1) <= (ranks if measure.cutoff is None else measure.cutoff)
    return within


def _same_weights(weights: Floats, g: Gains, worth: Floats) -> WeightedGain:
    return WeightedGain(np.tile(weights, (len(g.gain), 1)), worth)


def _precisions(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    levels = np.array(sorted({level for level in worth.tolist() if level > 0}))
    holds = (worth >= levels[:, None]).astype(np.float64)
    return GradedPrecision(np.diff(levels, prepend=0), holds, min(ranks, measure.cutoff or ranks))


def _cascade(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    given: Any = measure.arguments
    rank = np.arange(1.0, ranks + 1)
    phi = useful(given.get("gamma", 1.0) ** (rank - 1), rank, given.get("utility", "rr"))
    return Cascade(np.where(_ranks_within(measure, ranks), phi, 0.0), worth)


def _discounted(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    log: Any = measure.arguments.get("log")
    discount = 1 / divisor(np.arange(1.0, ranks + 1), log)
    return _same_weights(np.where(_ranks_within(measure, ranks), discount, 0.0), g, worth)


def _found(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    return _same_weights(_ranks_within(measure, ranks).astype(np.float64), g, worth)


def _found_to_r(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    return WeightedGain((np.arange(1, ranks + 1) <= g.num_relevant[:, None]).astype(np.float64), worth)


KNOWN: dict[str, Maker] = {
    **dict.fromkeys(("ap", "sp", "gap"), _precisions),
    **dict.fromkeys(("err", "nerr", "cascade", "rr"), _cascade),
    **dict.fromkeys(("ndcg", "dcg"), _discounted),
    **dict.fromkeys(("recall", "grecall"), _found),
    "rprec": _found_to_r,
}
"""Measures whose weights of ranks depend on the ranking or on the pool, and yet have an expectation."""


def check_expected(measure: Measure) -> None:
    """Raise InputError (usage) for a measure whose expectation is not known."""
    check_by_rank(measure)
    if measure.name in KNOWN and not measure.by_intent:
        return
    try:
        static_weights(measure, 1)
    except InputError:
        others = "measures with fixed weights, such as p@10, insq and rbp"
        hint = f"known are those of {', '.join(KNOWN)} and {others}"
        raise InputError(f"'{measure}'", "no expectation of it is known", hint, usage=True) from None


@lru_cache
def _fixed_weights(measure: Measure, ranks: int) -> Floats:
    return static_weights(measure, ranks, tried=True)


def expected_score(measure: Measure, g: Gains, worth: Floats, ranks: int) -> ExpectedScore:
    """The expected score of a measure over lists of so many ranks.

    g      the topics of the lists as the measure sees them
    worth  grades: what each is worth to the measure
    """
    if measure.name in KNOWN:
        return KNOWN[measure.name](measure, g, worth, ranks)
    return _same_weights(_fixed_weights(measure, ranks), g, worth)
