"""Smooth objectives: what a measure would be if documents ranked by noisy scores; it has a gradient on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.ltr.lists import CELLS, Block, Judged, Lists, lists_of, one_measure
from gradedeval.ltr.objectives import SIGMA, Gradients, Objective
from gradedeval.measures.definition import AnyMeasure
from gradedeval.measures.table import MEASURES

SMALLEST = 1e-100
"""What a chance of 0 is raised to where products are divided by it: two of them, and nothing is left to find."""


@dataclass(frozen=True, eq=False)
class SmoothObjective(Objective):
    """A measure in which π_mn, a chance that document m ranks above n, takes the place of whether it does.

    noise  what scores are spread by: `normal`, π_mn = Φ((s_m − s_n) / (√2 σ)), as SoftRank has it, or `logistic`,
           π_mn = 1 / (1 + e^(−(s_m − s_n) / σ)), as approximations like ApproxNDCG have it
    sigma  how much: as it goes to 0, values go to the measure's

    A document's rank becomes 1 + Σ_m π_mn, and weights are interpolated between ranks, in a straight line. With gain G,
    weights w and ranks B: Σ G_n w(B_n); of a cascade Σ r_n w(B_n) Π_m (1 − r_m π_mn); of ap and gap
    Σ w(B_n) A_n / B_n with A_n = G_n + Σ_m π_mn min(G_m, G_n). As a boosting objective the gradient of a list is
    multiplied by its length, and Hessians are 1. See `Objective` for how it is given to a library.
    """

    _: KW_ONLY
    noise: Literal["normal", "logistic"] = "normal"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        SIGMA.check_field(self, "sigma")

    def _seen(self, documents: Judged) -> Lists:
        lists = lists_of(self.measure, documents, self.top, None)
        # Documents without gain add nothing: the others come first.
        blocks = [block.ordered(np.argsort(-block.gain, axis=1, kind="stable")) for block in lists.blocks]
        lists.blocks[:] = blocks
        return lists

    def _of_lists(self, lists: Lists, scores: Floats) -> Gradients:
        _, slopes = self._smoothed(lists, scores)
        hessian = np.zeros(len(scores) + 1)
        for block in lists.blocks:
            slopes[block.at] *= block.lengths[:, None]
            hessian[block.at] = 1.0
        return slopes[:-1], hessian[:-1]

    def _slopes(self, lists: Lists, scores: Floats) -> Floats:
        return self._smoothed(lists, scores)[1][:-1]

    def _values(self, lists: Lists, scores: Floats) -> Floats:
        values = super()._values(lists, scores)  # those of lists in which no order is better
        values[lists.varied] = self._smoothed(lists, scores)[0]
        return values

    def _smoothed(self, lists: Lists, scores: Floats) -> tuple[Floats, Floats]:
        """The values of the lists in blocks, and minus their slopes: documents, and one more for the padding."""
        slopes, values, padded = np.zeros(len(scores) + 1), [], np.append(scores, -np.inf)
        for block in lists.blocks:
            value, slope = self._of_block(lists, block, padded[block.at])
            values.append(value)
            slopes[block.at] = -slope
        return np.concatenate([*values, np.zeros(0)]), slopes

    def _of_block(self, lists: Lists, block: Block, score: Floats) -> tuple[Floats, Floats]:
        """lists: values; lists × documents: slopes."""
        width = score.shape[1]
        value, slope = np.zeros(len(score)), np.zeros(score.shape)
        scores = np.where(np.isfinite(score), score, 0.0)
        there = np.arange(width) < block.lengths[:, None]
        last = int(np.count_nonzero(block.gain, axis=1).max())
        step = max(1, CELLS // score.size)
        smooth = _SMOOTH[lists.measure.rank_sum.of]  # type: ignore[union-attr]
        for first in range(0, last, step):
            rows = slice(first, min(first + step, last))
            above, density = _chances(scores[:, None, :] - scores[:, rows, None], self.noise, self.sigma)
            others = there[:, None, :] & (np.arange(width) != np.arange(width)[rows, None])
            above *= others
            density *= others
            found = smooth(block, rows, above)
            value += found.value.sum(1)
            density *= found.slope
            slope += density.sum(1)
            slope[:, rows] -= density.sum(2)
        return value, slope


def _chances(apart: Floats, noise: str, sigma: float) -> tuple[Floats, Floats]:
    """The chances that documents so far above another rank above it, and their slopes."""
    from scipy.special import expit, ndtr

    if noise == "normal":
        apart /= np.sqrt(2) * sigma
        return ndtr(apart), np.exp(-(apart**2) / 2) / (2 * sigma * np.sqrt(np.pi))
    above = expit(apart / sigma)
    return above, above * (1 - above) / sigma


class Smoothed(NamedTuple):
    """value  lists × rows: what documents add; slope: lists × rows × documents: its slope by the chances."""

    value: Floats
    slope: Floats


def _at(block: Block, rank: Floats) -> tuple[Floats, Floats]:
    """The weights at ranks that are not whole numbers, and their slopes."""
    assert block.weights is not None
    before = np.clip(rank.astype(np.int64) - 1, 0, block.weights.shape[1] - 2)
    weight = np.take_along_axis(block.weights, before, 1)
    slope = np.take_along_axis(block.weights, before + 1, 1) - weight
    return weight + (rank - 1 - before) * slope, slope


def _of_gain(block: Block, rows: slice, above: Floats) -> Smoothed:
    weight, slope = _at(block, 1 + above.sum(2))
    gain = block.gain[:, rows]
    return Smoothed(gain * weight, (gain * slope)[:, :, None])


def _of_stop(block: Block, rows: slice, above: Floats) -> Smoothed:
    weight, slope = _at(block, 1 + above.sum(2))
    going_on = np.maximum(1 - block.gain[:, None, :] * above, SMALLEST)
    stop = block.gain[:, rows] * going_on.prod(2)
    by_chance = -block.gain[:, None, :] * (stop * weight)[:, :, None] / going_on
    by_chance += (stop * slope)[:, :, None]
    return Smoothed(stop * weight, by_chance)


def _of_precision(block: Block, rows: slice, above: Floats) -> Smoothed:
    rank = 1 + above.sum(2)
    weight, slope = _at(block, rank)
    gain = block.gain[:, rows]
    shared = np.minimum(block.gain[:, None, :], gain[:, :, None])
    precision = (gain + (above * shared).sum(2)) / rank
    shared *= (weight / rank)[:, :, None]
    shared += (precision * (slope - weight / rank))[:, :, None]
    return Smoothed(weight * precision, shared)


_SMOOTH: dict[str, Callable[[Block, slice, Floats], Smoothed]] = {
    "gain": _of_gain,
    "stop": _of_stop,
    "precision": _of_precision,
}


def softgap(measure: AnyMeasure = "gap", *, sigma: float = 0.5, top: float | None = None) -> SmoothObjective:
    """SoftGAP: graded average precision, its documents ranked by scores with normal noise, as an objective.

    measure  gap, with any `g`, or ap or sp, of which it is the same
    sigma    the standard deviation of the noise: as it goes to 0, values go to the measure's
    top      the top grade of the scale; None: the highest label

    Robertson et al., SIGIR 2010, section 5; its sum over m holds m ≠ n, and its divisor Σ_i R_i Σ_{j≤i} g_j. Returns
    `SmoothObjective`. Raises InputError (usage) for another measure or a wrong value.
    """
    return _smooth(measure, "normal", sigma, top, ("precision",), "softgap", "approx(…)")


def approx(measure: AnyMeasure = "ndcg", *, sigma: float = 0.1, top: float | None = None) -> SmoothObjective:
    """A smooth approximation of any measure that is a sum over ranks with fixed weights, as an objective.

    measure  one that `swap_deltas` has a closed form for, as ndcg, err, rbp, ap and gap
    sigma    the temperature: as it goes to 0, values go to the measure's
    top      the top grade of the scale; None: the highest label

    Of ap this is ApproxAP of Qin, Liu & Li, Information Retrieval 2010, with α = 1/σ; of ndcg it is their ApproxNDCG,
    but that weights between whole ranks lie on straight lines. Returns `SmoothObjective`. Raises InputError (usage) for
    another measure or a wrong value.
    """
    return _smooth(measure, "logistic", sigma, top, ("gain", "stop", "precision"), "approx", "objective(…)")


def _smooth(
    measure: AnyMeasure,
    noise: Literal["normal", "logistic"],
    sigma: float,
    top: float | None,
    forms: tuple[str, ...],
    name: str,
    instead: str,
) -> SmoothObjective:
    asked = one_measure(measure)
    if asked.rank_sum is None or asked.rank_sum.of not in forms:
        known = [one for one, found in MEASURES.items() if found.rank_sum is not None and found.rank_sum.of in forms]
        hint = f"use one of {', '.join(known)}, or gradedeval.ltr.{instead}"
        raise InputError(f"'{asked}'", f"{name} has no formula for it", hint, usage=True)
    return SmoothObjective(asked, noise=noise, sigma=sigma, top=top)
