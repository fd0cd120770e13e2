"""trec_eval's trials: gains discounted by how far the ranking is behind the ideal, and nDCG at several ranks."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.kernel.measures.cumulated_gain import discounted, ideally_discounted
from gradedeval.kernel.measures.definition import BELOW_1, measure
from gradedeval.kernel.measures.gains import Gains, row_sums, safe_divide


@measure(cutoff="none", ceiling=1)
def bing(g: Gains) -> Floats:
    """Binary G: each relevant document counts less, the more that are not relevant stand above it.

    1/R Σ_{i relevant} 1 / log2(2 + not relevant above i)

    trec_eval's binG.
    """
    ranks = g.ranks_of_relevant
    discounted = np.where(np.isfinite(ranks), 1 / np.log2(2 + ranks - g.ordinal), 0)
    return safe_divide(row_sums(discounted), g.num_relevant)


@measure(gain="linear", cutoff="none", ceiling=1, monotone=False)
def g_(g: Gains) -> Floats:
    """G: each gain counts less, the further the ranking lags behind the ideal's gain.

    Σ_i gain_i / log2(2 + ideal_i − gained_i) / Σ ideal gains, ideal_i, gained_i: sums down to rank i; past the last
    ideal document ideal_i rises by 1 a rank

    trec_eval's G, where ideal_i rises by 1 or more at every rank: another score where a gain is between 0 and 1.
    """
    # After its last document the ideal ranking goes on by 1 a rank, so that idle ranks cost something there too.
    gain, ranks = g.gains_of_relevant, g.ranks_of_relevant
    idle = np.maximum(ranks - g.num_relevant[:, None], 0)
    lag = np.where(np.isfinite(ranks), g.at_relevant(g.ideal.cumsum(1)) + idle - gain.cumsum(1), 0.0)
    return safe_divide(row_sums(gain / np.log2(2 + lag)), row_sums(g.ideal))


@measure(gain="linear", cutoff="none", ceiling=1)
def ndcg_rel(g: Gains) -> Floats:
    """nDCG averaged over the relevant documents: at each one's rank, and over the whole run for those it lacks.

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
    """nDCG averaged over the ranks where the ideal ranking goes on to a lower gain: R of each level.

    mean of nDCG@R_l over the gains l in the pool, R_l: how many gains are l or more; of a run longer than R + 1 its
    whole nDCG is averaged in as well

    trec_eval's Rndcg; Järvelin & Kekäläinen, TOIS 2002.
    """
    gain, ideal = discounted(g), ideally_discounted(g).cumsum(1)
    longer = g.retrieved >= g.num_relevant + 2
    summed = np.where(longer, safe_divide(_last(gain.cumsum(1)), _last(ideal)), 0.0)
    points = longer.astype(np.int64)
    for level in g.levels:
        here = (g.ideal == level).any(1)
        last = np.count_nonzero(g.ideal >= level, axis=1)
        reached = ideal[np.arange(len(ideal)), np.maximum(last, 1) - 1] if ideal.shape[1] else np.zeros(len(ideal))
        gained = row_sums(np.where(g.ranks_of_relevant <= last[:, None], gain, 0.0))
        summed = summed + np.where(here, safe_divide(gained, reached), 0.0)
        points = points + here
    return safe_divide(summed, points)


def _last(cumulated: Floats) -> Floats:
    """topics: the last column; 0 where there is none."""
    return cumulated[:, -1] if cumulated.shape[1] else np.zeros(len(cumulated))


@measure(gain="linear", ceiling=1, checks={"p": BELOW_1})
def rbp_topic(g: Gains, *, p: float = 0.9) -> Floats:
    """Rank-biased precision where the topic's own highest gain is worth 1: not comparable from topic to topic.

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
    """The residual of binary rank-biased precision as a measure of its own; 0 where nothing is retrieved.

    (1−p) Σ_{i unjudged} p^{i−1} + p^n, or p^n − p^k with a cutoff

    Moffat & Zobel, TOIS 2008; trec_eval 10's rbp_resid, which is 0 where every document retrieved is judged.

    p  the persistence: the probability of going on to the next document
    """
    here = g.rank <= g.retrieved[:, None]
    unknown = row_sums(np.where(here & ~g.judged, (1 - p) * p ** (g.rank - 1), 0.0))
    beyond = p ** g.retrieved.astype(np.float64) - (0.0 if g.k is None else p**g.k)
    return np.where(g.retrieved > 0, unknown + beyond, 0.0)
