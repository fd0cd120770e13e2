"""Whether judging could reverse the order of two scores."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import TOLERANCE, Bools, Floats


def settled(
    difference: Floats,
    residuals: tuple[Floats, Floats],
    bounds: tuple[Floats, Floats],
    rises: bool,
    same: Bools | None = None,
) -> list[bool | None]:
    """Whether no judging can reverse the order of two scores: by the bounds of their difference, or else because the
    lower one cannot rise as far; None where nothing is known. If they are equal, either may be the lower one.

    difference  the second score − the first
    residuals   of the first and of the second; nan where there is none
    bounds      how low and how high the difference can come; nan where that is not known
    rises       whether no judging lowers a score: otherwise the residual settles nothing
    same        whether both are of the same ranking, so that nothing can tell them apart; None: of none that is known
    """
    (old, new), (lowest, highest) = residuals, bounds
    lower = np.where(difference > 0, old, np.where(difference < 0, new, np.maximum(old, new)))
    with np.errstate(invalid="ignore"):
        by_residual = (np.abs(difference) > lower) | ((difference == 0) & (lower == 0))
        equal = (difference == 0) & (np.maximum(-lowest, highest) <= TOLERANCE)
        by_bounds = (lowest > TOLERANCE) | (highest < -TOLERANCE) | equal
    sure = np.where(np.isnan(lowest), by_residual & rises, by_bounds)
    sure = sure if same is None else sure | same
    unknown = np.isnan(lowest) & np.isnan(lower)
    return [None if blank else bool(one) for blank, one in zip(unknown.tolist(), sure.tolist(), strict=True)]
