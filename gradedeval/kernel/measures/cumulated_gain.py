"""Cumulated gain, which discounts gains by rank, and compatibility: rankings measured against an ideal one."""

from __future__ import annotations

from typing import cast

import numpy as np

from gradedeval.arrays import Floats, shared
from gradedeval.kernel.measures.definition import (
    BY_CUTOFF,
    NOT_NEGATIVE,
    Bounds,
    Check,
    RankingWeights,
    RankSum,
    measure,
    needs_cutoff,
)
from gradedeval.kernel.measures.gains import (
    Gains,
    divisor,
    divisors,
    maximum_found,
    row_sums,
    safe_divide,
    with_remainder,
)


def discounted(g: Gains, log: float | None = None) -> Floats:
    """Return the discounted gains of the relevant documents, in the columns of `Gains.ranks_of_relevant`."""
    return g.gains_of_relevant / divisor(g.ranks_of_relevant, log)


def ideally_discounted(g: Gains, log: float | None = None) -> Floats:
    """Return the discounted gains of the ideal ranking down to the cutoff: topics × ranks."""
    ideal = g.ideal[:, : g.k]
    return ideal / divisors(ideal.shape[1], log)


SHORT = 32
"""Depth up to which summing all ranks is faster than finding the ranks of relevant documents."""


def _cumulated(g: Gains, log: float | None = None) -> Floats:
    """Return the sums of discounted gains: topics."""
    ranks = g.gain.shape[1]
    return row_sums(g.gain / divisors(ranks, log) if ranks <= SHORT else discounted(g, log))


def _discounts(g: Gains, *, log: float | None = None) -> dict[str, Floats]:
    return {"discount": np.broadcast_to(_discount(g, log=log), g.gain.shape)}


def _discount(g: Gains, *, log: float | None = None) -> Floats:
    return 1 / divisor(g.rank, log)


def _ideal(g: Gains, *, log: float | None = None) -> Floats:
    key = "discounted", g.k, log
    if (total := g.ideal_memo.get(key)) is None:
        total = g.ideal_memo[key] = shared(row_sums(ideally_discounted(g, log)))
    return cast("Floats", total)


def _discounts_and_ideal(g: Gains, *, log: float | None = None) -> dict[str, Floats]:
    terms = with_remainder(ideally_discounted(g, log), g.gain.shape[1])
    return {**_discounts(g, log=log), "ideal": g.ideal_at_ranks(), "ideal_term": terms}


def _blend_details(g: Gains, *, beta: float = 1.0, norm: str | None = None) -> dict[str, Floats]:
    gained, ideal = g.gain.cumsum(1), g.ideal_at_ranks().cumsum(1)
    return {"gained": gained, "ideal": ideal, "blended": (g.hits + beta * gained) / (g.rank + beta * ideal)}


def _blended_ratio(g: Gains, *, beta: float = 1.0, norm: str | None = None) -> Floats:
    """Return precision blended with the share of the ideal's cumulated gain: topics × ranks."""
    return _blend_details(g, beta=beta)["blended"]


LOG = {"log": ("a base above 1", lambda base: isinstance(base, int | float) and base > 1)}


@measure(
    gain="linear",
    residual="within_run",
    bounds="rises",
    over_ties=True,
    checks=LOG,
    details=_discounts,
    rank_sum=RankSum("gain", _discount),
)
def dcg(g: Gains, *, log: float | None = None) -> Floats:
    """Discounted cumulated gain; log=b for the discount of Järvelin & Kekäläinen.

    Σ_i gain_i / log2(i+1); with log=b: gain_i down to rank b, then gain_i / log_b(i)

    Burges et al., ICML 2005, with gain=exp (eq. 1 of Chapelle et al., CIKM 2009, which does not name the base of the
    logarithm); log=b: Järvelin & Kekäläinen, TOIS 2002.

    log  the base: no discount down to that rank, then by log_base(i); without it log2(i+1)
    """
    return _cumulated(g, log)


@measure(
    gain="linear",
    residual="from_bounds",
    bounds=Bounds("discounted_share", over_ties=True),
    cutoff="renormalizes",
    ceiling=1,
    over_ties=True,
    checks=LOG,
    details=_discounts_and_ideal,
    rank_sum=RankSum("gain", _discount, over=_ideal, pool="ideal"),
)
def ndcg(g: Gains, *, log: float | None = None) -> Floats:
    """DCG as a share of the ideal ranking's.

    dcg@k / dcg@k of the pool in descending order of gain

    Järvelin & Kekäläinen, TOIS 2002, with log=2; the discount log2(i+1) as in Burges et al., ICML 2005.

    log  the base: no discount down to that rank, then by log_base(i); without it log2(i+1)
    """
    return safe_divide(_cumulated(g, log), _ideal(g, log=log))


@measure(
    gain="linear",
    residual="from_bounds",
    bounds=Bounds("blended", exact="binary", but="exact with gains of 0 and 1", of_scale=True),
    ceiling=1,
    checks={"beta": NOT_NEGATIVE, **BY_CUTOFF},
    validate=needs_cutoff("q"),
    details=_blend_details,
    weights_in_ranking=RankingWeights(_blended_ratio, over=lambda g, beta=1.0, norm=None: maximum_found(g, norm=norm)),
)
def q(g: Gains, *, beta: float = 1.0, norm: str | None = None) -> Floats:
    """Q-measure: average precision with precision blended with the share of the ideal's cumulated gain.

    1/R Σ_{i relevant} (C(i) + β cg(i)) / (i + β cg*(i)), C: relevant so far, cg, cg*: gain so far, and in the ideal

    Sakai, AIRS 2004, with β = 1; binary form in Zhang et al., Information Retrieval 2010, section 2.1; norm=k as
    NTCIREVAL's Q@k.

    beta  the weight of the gain against the number of relevant documents; at 0 it is ap
    norm  k: the sum is divided by the smaller of R and the cutoff; without it by R
    """
    return safe_divide(row_sums(g.relevant * _blended_ratio(g, beta=beta)), maximum_found(g, norm=norm))


ENOUGH = 400_000
"""Ranks after which the overlap is negligible for every persistence."""
PERSISTENCE = Check("from 0 to 0.9999", lambda p: 0 <= p <= 0.9999)


def _overlap_from(p: float, depth: int, k: int | None) -> Floats:
    """Return the amount that a document adds to rank-biased overlap if both rankings have it from rank 1, 2, … `depth`
    on: Σ_{i≥rank} p^(i−1) / i, down to k."""
    last = min(k or 0, ENOUGH)
    rank = np.arange(1.0, max(depth, last) + 1)
    sums = np.append(0.0, (p ** (rank - 1) / rank).cumsum())
    total = sums[last] if k is not None else -np.log1p(-p) / p if p else 1.0
    return np.maximum(total - sums[:depth], 0)


@measure(gain="linear", cutoff="renormalizes", ceiling=1, checks={"p": PERSISTENCE})
def compat(g: Gains, *, p: float = 0.95) -> Floats:
    """Compatibility: rank-biased overlap with the most similar ideal ranking, as a share of its overlap with itself.

    RBO(run, ideal) / RBO(ideal, ideal), RBO = (1 − p) Σ_i p^(i−1) · (in both down to i) / i; the ideal: relevant
    documents by descending gain, those of equal gain in the order of the run

    Clarke, Vtyurina & Smucker, TOIS 2021; RBO: Webber et al., TOIS 2010.

    p  the persistence of the rank-biased overlap: the probability of going on to the next rank
    """
    overlap = _overlap_from(p, max(g.gain.shape[1], g.ideal.shape[1]), g.k)
    score = np.zeros(len(g.gain))
    for level in g.levels.tolist():
        at_level = g.gain == level
        ideal_rank = np.count_nonzero(g.ideal > level, axis=1)[:, None] + at_level.cumsum(1)
        both = np.maximum(ideal_rank, g.rank.astype(np.int64))  # the first rank down to which both rankings have it
        score += row_sums(np.where(at_level, overlap[np.where(at_level, both, 1) - 1], 0.0))
    return safe_divide(score, np.append(0.0, overlap.cumsum())[g.num_relevant])
