"""Static weights: a document's gain counts by its rank alone, whatever stands above it."""

from __future__ import annotations

from gradedeval.gains import Floats, Gains
from gradedeval.measures.measure import measure


@measure(gain="linear", scale="unit", residual="endless", ceiling=1, valid={"p": ("in [0, 1)", lambda p: 0 <= p < 1)})
def rbp(g: Gains, *, p: float = 0.8) -> Floats:
    """Rank-biased precision: the user goes on to the next document with probability p.

    (1 − p) Σ_i r_i p^(i−1)

    Moffat & Zobel, TOIS 2008.
    """
    tail = p ** g.gain.shape[1] - p**g.end
    score: Floats = (1 - p) * (g.gain @ p ** (g.rank - 1)) + g.tail * tail
    return score
