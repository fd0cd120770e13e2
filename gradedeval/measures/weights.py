"""Static weights: a document's gain counts by its rank alone, whatever stands above it."""

from __future__ import annotations

import numpy as np

from gradedeval.gains import Floats, Gains, total
from gradedeval.measures.definition import measure


@measure(gain="linear", scale="unit", residual="endless", ceiling=1, valid={"p": ("in [0, 1)", lambda p: 0 <= p < 1)})
def rbp(g: Gains, *, p: float = 0.8) -> Floats:
    """Rank-biased precision: the user goes on to the next document with probability p.

    (1 − p) Σ_i r_i p^(i−1)

    Moffat & Zobel, TOIS 2008.
    """
    beyond = g.tail * (p ** g.retrieved.astype(np.float64) - p**g.end)
    score: Floats = (1 - p) * total(g.gain * p ** (g.rank - 1)) + beyond
    return score
