"""Click models in which the chance of looking depends on the rank: position-based, and the user browsing model."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.clicks.cells import Cells
from gradedeval.clicks.going_down import Parameters, Prior, estimated, share
from gradedeval.measures.gains import safe_divide


def looks(parameters: Parameters, ranks: int) -> Floats:
    """ranks × last clicked rank above, 0 for none: the probability of looking; ½ where the model knows no such rank.

    Of the position-based model all columns are the same. Craswell et al., WSDM 2008; Dupret & Piwowarski, SIGIR 2008.
    """
    known, found = parameters["examination"], np.full((ranks, ranks), 0.5)
    same = min(ranks, len(known))
    found[:same, : same if known.ndim == 2 else ranks] = known[:same, None] if known.ndim == 1 else known[:same, :same]
    return found


def seen_from(parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of looking at the rank, given the clicks above it."""
    ranks = len(cells.click)
    found: Floats = looks(parameters, ranks)[np.arange(ranks)[:, None], cells.last]
    return found


def conditional(parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of a click, given those above."""
    return cells.at(parameters["attractiveness"]) * seen_from(parameters, cells)


def marginal(parameters: Parameters, cells: Cells) -> Floats:
    """ranks × columns: the probability of a click, whatever is clicked above."""
    a = cells.at(parameters["attractiveness"])
    chances, by_last = np.zeros(a.shape), looks(parameters, len(a))
    # (ranks + 1) × columns: the probability that the last click so far was at this rank.
    last = np.zeros((len(a) + 1, a.shape[1]))
    last[0] = 1
    for rank in range(len(a)):
        clicked = a[rank] * by_last[rank][:, None] * last[:-1]
        chances[rank] = clicked.sum(0)
        last[:-1] -= clicked
        last[rank + 1] += chances[rank]
    return chances


def scaled(parameters: Parameters) -> Parameters:
    """The same model with the examination of rank 1 at 1: only products of attractiveness and examination are known.

    Attractiveness is then the probability of a click at rank 1, and examination that of looking for each look at rank
    1, which may be above 1; no product of the two is. Where nobody looks at rank 1, all stays as it is.
    """
    first = parameters["examination"].flat[0]
    if not first > 0:
        return parameters
    return {
        "attractiveness": parameters["attractiveness"] * first,
        "examination": parameters["examination"] / first,
    }


def step(parameters: Parameters, cells: Cells, prior: Prior) -> tuple[Parameters, Floats]:
    """New parameters by EM, and the chances of clicks by the old ones."""
    a, e = cells.at(parameters["attractiveness"]), seen_from(parameters, cells)
    chance = a * e
    attracts = np.where(cells.click, 1.0, safe_divide(a - chance, 1 - chance))
    looked = np.where(cells.click, 1.0, safe_divide(e - chance, 1 - chance))
    examination = _by_rank(cells, looked, prior, parameters["examination"].ndim == 2)
    return {"attractiveness": estimated(cells, attracts, cells.shown, prior), "examination": examination}, chance


def _by_rank(cells: Cells, looked: Floats, prior: Prior, by_last: bool) -> Floats:
    """How often each rank was looked at: ranks, or ranks × last clicked rank above."""
    if not by_last:
        return share((cells.weight * looked).sum(1), cells.weight.sum(1), prior)
    ranks = len(cells.click)
    place = (np.arange(ranks)[:, None] * ranks + cells.last).ravel()
    part, whole = (
        np.bincount(place, values.ravel(), minlength=ranks**2).astype(np.float64)
        for values in (cells.weight * looked, cells.weight)
    )
    return share(part, whole, prior).reshape(ranks, ranks)
