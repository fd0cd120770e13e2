"""`fit --weights`: the parameter with which the rank weights of a measure are nearest to a given distribution."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradedeval.analysis.fit import FitResult
from gradedeval.analysis.fixed_weights import RANKS, static_weights
from gradedeval.analysis.parameter_search import MeasureRange, best_of, read_ranges, resolution, search
from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.formats.frames import to_frame
from gradedeval.measures.definition import Measure
from gradedeval.measures.weighting_models import rank_weights


def read_vector(path: str | Path) -> Floats:
    """The weights of ranks 1, 2, … in a file of rank,weight lines.

    Raises InputError with the line of whatever is not a weight, where ranks are missing, or where all weights are 0.
    """
    weights = rank_weights(path)
    if not weights.any():
        raise InputError(str(path), "no weight above 0", "expected lines of rank,weight")
    return weights


def divergence(reference: Floats, weights: Floats) -> float:
    """Kullback–Leibler divergence of weights from a reference distribution, in nats: Σ v ln(v / w), 0 where v is 0."""
    seen = reference > 0
    with np.errstate(divide="ignore"):
        return float((reference[seen] * (np.log(reference[seen]) - np.log(weights[seen]))).sum())


def fit_weights(
    weights: Floats | Sequence[float] | str | Path,
    measures: str | Sequence[str] | Sequence[MeasureRange],
    *,
    ranks: int | None = None,
    renormalize: bool = False,
    precision: float = 0.001,
) -> FitResult:
    """The parameter of each static measure whose weights are nearest to a given vector in Kullback–Leibler divergence.

    weights      of ranks 1, 2, …: numbers, or a file of rank,weight lines. They are scaled to sum 1 down to `ranks`
    measures     with a range, as in "rbp(p=0.05..0.99)"
    ranks        how many ranks are compared; None: all of the vector
    renormalize  scale the measure's weights to sum 1 down to `ranks` too; else they are what they are, and what a
                 geometric distribution has below `ranks` counts against it
    precision    of the value

    The columns of `frame` are measure, parameter, value, divergence (nats), low, high (the range around it within 0.001
    nats), depth, covered (what the measure's weights sum to down to `ranks`), renormalized, step (of the values tried
    over the whole range); those of `curve` measure, parameter, value, divergence. Zhang et al., Information Retrieval
    2010, section 5.2. Raises InputError if the vector is too short, a measure has no fixed rank weights, or its weights
    sum to more than 1.
    """
    reference = _reference(weights, ranks)
    depth = len(reference)
    ranges = _static(measures, depth)

    def closeness(grids: list[tuple[MeasureRange, list[float]]]) -> list[list[list[float]]]:
        return [
            [[-divergence(reference, _scaled(range_.at(value), depth, renormalize))] for value in grid]
            for range_, grid in grids
        ]

    rows, curve, notes = [], [], []
    for range_, (values,) in zip(ranges, search(ranges, closeness, 1, precision), strict=True):
        value, good, low, high, note = best_of(range_, values)
        head: dict[str, Any] = {"measure": range_.text, "parameter": range_.parameter}
        covered = float(static_weights(range_.at(value), depth).sum())
        found = {"value": value, "divergence": -good, "low": low, "high": high}
        scaled = {"depth": depth, "covered": covered, "renormalized": renormalize}
        rows.append({**head, **found, **scaled, "step": range_.resolution(precision)})
        curve += [{**head, "value": tried, "divergence": -values[tried]} for tried in sorted(values)]
        notes += [f"{range_.text}: {note}"] if note else []
    scaling = "the measures' scaled to 1 too" if renormalize else "the measures' as they are"
    settings = f"{depth} ranks | the vector scaled to sum 1, {scaling} | {resolution(ranges, precision)}"
    return FitResult(to_frame(rows), to_frame(curve), settings, "", notes)


def _static(measures: str | Sequence[str] | Sequence[MeasureRange], depth: int) -> list[MeasureRange]:
    """The measures with their ranges. Raises InputError (usage) for one without fixed weights."""
    given = [measures] if isinstance(measures, str) else measures
    ranges = [item for item in given if isinstance(item, MeasureRange)] or read_ranges([str(item) for item in given])
    for range_ in ranges:
        static_weights(range_.at(range_.low), depth)
    return ranges


def _reference(weights: Floats | Sequence[float] | str | Path, depth: int | None) -> Floats:
    """The vector down to a depth, scaled to sum 1."""
    vector = read_vector(weights) if isinstance(weights, str | Path) else np.asarray(weights, np.float64)
    depth = len(vector) if depth is None else RANKS.check(depth)
    if depth > len(vector) or depth < 1:
        what = f"{depth} is out of range for {len(vector)} weights"
        raise InputError("--ranks", what, f"give 1 to {len(vector)}", usage=True)
    if not vector[:depth].any():
        raise InputError("--ranks", f"all weights down to rank {depth} are 0", "use more ranks", usage=True)
    reference: Floats = vector[:depth] / vector[:depth].sum()
    return reference


def _scaled(measure: Measure, depth: int, renormalize: bool) -> Floats:
    weights = static_weights(measure, depth, tried=True)
    total = float(weights.sum())
    if renormalize and total > 0:
        return weights / total
    check_total(measure, total, "--renormalize scales them")
    return weights


def check_total(measure: Measure, total: float, hint: str) -> None:
    """Raise InputError (usage) where weights sum to more than 1: a divergence from them means nothing."""
    if total > 1 + 1e-6:
        what = f"the weights of '{measure}' sum to {total:.4g}, more than 1"
        raise InputError("", what, hint, usage=True, kind="weights-total")
