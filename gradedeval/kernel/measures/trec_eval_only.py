"""Trial measures of trec_eval: gains discounted by the lag behind the ideal ranking, and nDCG at several ranks."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.kernel.measures.cumulated_gain import discounted, ideally_discounted
from gradedeval.kernel.measures.definition import BELOW_1, measure
from gradedeval.kernel.measures.gains import Gains, row_sums, safe_divide


@measure(cutoff="none", ceiling=1)
def bing(g: Gains) -> Floats:
    """Binary G: each relevant document is discounted by the number of non-relevant documents above it.

    1/R Σ_{i relevant} 1 / log2(2 + not relevant above i)

    trec_eval's binG.
    """
    ranks = g.ranks_of_relevant
    discounted = np.where(np.isfinite(ranks), 1 / np.log2(2 + ranks - g.ordinal), 0)
    return safe_divide(row_sums(discounted), g.num_relevant)


@measure(gain="linear", cutoff="none", ceiling=1, monotone=False)
def g_(g: Gains) -> Floats:
    """G: each gain is discounted by the lag of the ranking behind the ideal's gain.

    Σ_i gain_i / log2(2 + ideal_i − gained_i) / Σ ideal gains, ideal_i, gained_i: sums down to rank i; past the last
    ideal document ideal_i rises by 1 a rank

    trec_eval's G; there ideal_i rises by 1 or more at every rank, so scores differ if a gain is between 0 and 1.
    """
    # After its last document the ideal ranking goes on by 1 a rank, so that idle ranks cost something there too.
    gain, ranks = g.gains_of_relevant, g.ranks_of_relevant
    idle = np.maximum(ranks - g.num_relevant[:, None], 0)
    lag = np.where(np.isfinite(ranks), g.at_relevant(g.ideal.cumsum(1)) + idle - gain.cumsum(1), 0.0)
    return safe_divide(row_sums(gain / np.log2(2 + lag)), row_sums(g.ideal))


@measure(gain="linear", cutoff="none", ceiling=1)
def ndcg_rel(g: Gains) -> Floats:
    """nDCG averaged over the relevant documents: at each document's rank, and over the whole run for missing ones.

    1/R (Σ_{i relevant} nDCG@i + (R − hits) nDCG)

    trec_eval's ndcg_rel; Järvelin & Kekäläinen, TOIS 2002.
    """
    dcg, ideal = discounted(g).cumsum(1), ideally_discounted(g).cumsum(1)
    retrieved = np.isfinite(g.ranks_of_relevant)
    at_ranks = np.where(retrieved, safe_divide(dcg, g.at_relevant(ideal)), 0.0)
    whole = safe_divide(_last(dcg), _last(ideal))
    return safe_divide(row_sums(at_ranks) + (g.num_relevant - g.num_relevant_retrieved) * whole, g.num_relevant)


@measure(gain="linear", cutoff="none", ceiling=1)
def rndcg(g: Gains) -> Floats:
    """nDCG averaged over the ranks after which the ideal ranking goes on to a lower gain: R of each level.

    mean of nDCG@R_l over the gains l in the pool, R_l: how many gains are l or more; of a run longer than R + 1 its
    whole nDCG is averaged in as well

    trec_eval's Rndcg; Järvelin & Kekäläinen, TOIS 2002.
    """
    gain, ideal = discounted(g), ideally_discounted(g).cumsum(1)
    longer = g.retrieved >= g.num_relevant + 2
    summed = np.where(longer, safe_divide(_last(gain.cumsum(1)), _last(ideal)), 0.0)
    points = longer.astype(np.int64)
    for level in g.levels:
        occurs = (g.ideal == level).any(1)
        last = np.count_nonzero(g.ideal >= level, axis=1)
        reached = ideal[np.arange(len(ideal)), np.maximum(last, 1) - 1] if ideal.shape[1] else np.zeros(len(ideal))
        gained = row_sums(np.where(g.ranks_of_relevant <= last[:, None], gain, 0.0))
        summed = summed + np.where(occurs, safe_divide(gained, reached), 0.0)
        points = points + occurs
    return safe_divide(summed, points)


def _last(cumulated: Floats) -> Floats:
    """Return the last column, or 0 without columns: topics."""
    return cumulated[:, -1] if cumulated.shape[1] else np.zeros(len(cumulated))


@measure(gain="linear", ceiling=1, checks={"p": BELOW_1})
def rbp_topic(g: Gains, *, p: float = 0.9) -> Floats:
    """Rank-biased precision with each topic's highest gain scaled to 1: not comparable from topic to topic.

    (1−p) Σ_i gain_i / (highest gain in the pool) p^{i−1}

    trec_eval 10's rbp, if the bounds that it leaves uninitialized start at 0 and the highest gain is 1 or more; Moffat
    & Zobel, TOIS 2008.

    p  the persistence: the probability of going on to the next document
    """
    highest = g.ideal[:, 0] if g.ideal.shape[1] else np.zeros(len(g.ideal))
    gain, ranks = g.gains_of_relevant, g.ranks_of_relevant
    return safe_divide(row_sums((1 - p) * gain * p ** np.where(np.isfinite(ranks), ranks - 1, 0)), highest)


@measure(gain=None, judged=True, ceiling=1, better="lower", checks={"p": BELOW_1})
def rbp_resid(g: Gains, *, p: float = 0.9) -> Floats:
    """The residual of binary rank-biased precision as a measure; 0 if nothing is retrieved.

    (1−p) Σ_{i unjudged} p^{i−1} + p^n, or p^n − p^k with a cutoff

    Moffat & Zobel, TOIS 2008; trec_eval 10's rbp_resid, which is 0 if every document retrieved is judged.

    p  the persistence: the probability of going on to the next document
    """
    inside = g.rank <= g.retrieved[:, None]
    unknown = row_sums(np.where(inside & ~g.judged, (1 - p) * p ** (g.rank - 1), 0.0))
    beyond = p ** g.retrieved.astype(np.float64) - (0.0 if g.k is None else p**g.k)
    return np.where(g.retrieved > 0, unknown + beyond, 0.0)
