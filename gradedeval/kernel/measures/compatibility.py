"""Compatibility: how near a ranking is to an ideal one."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.kernel.measures.definition import Check, measure
from gradedeval.kernel.measures.gains import Gains, row_sums, safe_divide

ENOUGH = 400_000
"""Ranks after which nothing is left of the overlap, whatever the persistence."""
PERSISTENCE = Check("from 0 to 0.9999", lambda p: 0 <= p <= 0.9999)


def _overlap_from(p: float, depth: int, k: int | None) -> Floats:
    """What a document adds to rank-biased overlap that both rankings have from rank 1, 2, … `depth` on:
    Σ_{i≥rank} p^(i−1) / i, down to k."""
    last = min(k or 0, ENOUGH)
    rank = np.arange(1.0, max(depth, last) + 1)
    before = np.append(0.0, (p ** (rank - 1) / rank).cumsum())
    whole = before[last] if k is not None else -np.log1p(-p) / p if p else 1.0
    return np.maximum(whole - before[:depth], 0)


@measure(gain="linear", cutoff="renormalizes", ceiling=1, checks={"p": PERSISTENCE})
def compat(g: Gains, *, p: float = 0.95) -> Floats:
    """Compatibility: rank-biased overlap with the most similar ideal ranking, as a share of that one's with itself.

    RBO(run, ideal) / RBO(ideal, ideal), RBO = (1 − p) Σ_i p^(i−1) · (in both down to i) / i; the ideal: relevant
    documents by descending gain, those of equal gain in the order of the run

    Clarke, Vtyurina & Smucker, TOIS 2021; RBO: Webber et al., TOIS 2010.

    p  the persistence of the rank-biased overlap: the probability of going on to the next rank
    """
    overlap = _overlap_from(p, max(g.gain.shape[1], g.ideal.shape[1]), g.k)
    score = np.zeros(len(g.gain))
    for level in g.levels.tolist():
        here = g.gain == level
        place = np.count_nonzero(g.ideal > level, axis=1)[:, None] + here.cumsum(1)
        both = np.maximum(place, g.rank.astype(np.int64))  # the first rank down to which both rankings have it
        score += row_sums(np.where(here, overlap[np.where(here, both, 1) - 1], 0.0))
    return safe_divide(score, np.append(0.0, overlap.cumsum())[g.num_relevant])
