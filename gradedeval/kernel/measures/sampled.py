"""Measures estimated from a sample of the pool, with more of it judged in some strata than in others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.kernel.measures.definition import measure
from gradedeval.kernel.measures.gains import Gains, divisor, row_sums, safe_divide


@dataclass(eq=False, repr=False)
class Sample:
    """A batch as documents sampled from the strata of a pool.

    strata     the number of strata
    stratum    topics × ranks: the stratum of each document, −1 if it was not pooled
    sampled    topics × ranks: whether the document was sampled, and judged
    weight     topics × ranks: documents of its stratum for each sampled one; 0 if it was not sampled
    estimated  topics × levels: the estimated number of documents in the pool of each gain above 0
    """

    strata: int
    stratum: Ints
    sampled: Bools
    weight: Floats
    estimated: Floats


# trec_eval's guard against a sample without a document above.
EPSILON = 0.00001


def _sample(g: Gains) -> Sample:
    """Return the sample; without one, all judged documents as a single stratum."""
    if g.sample is not None:
        return g.sample
    counts = np.array([np.count_nonzero(g.ideal == level, axis=1) for level in g.levels], dtype=np.float64)
    return Sample(
        1, np.where(g.judged, 0, -1), g.judged, g.judged.astype(np.float64), counts.reshape(-1, len(g.gain)).T
    )


@measure(ceiling=1, uses_unsampled=True, judged=True)
def infap(g: Gains) -> Floats:
    """Inferred average precision: average precision estimated from judgments of a sample of the pool.

    1/R Σ_{i relevant} (1/i + (i−1)/i · (pooled above i)/(i−1) · (relevant above + ε) / (judged above + 2ε)), ε=0.00001

    Yilmaz & Aslam, CIKM 2006; trec_eval's infAP. With --negative unjudged a grade below 0 means pooled, not sampled.
    """
    relevant_above = g.ordinal - 1
    sampled = relevant_above + g.nonrelevant_above
    pooled = sampled
    if g.unsampled is not None:
        pooled = sampled + g.at_relevant((g.unsampled & ~g.judged).cumsum(1))
    precision_above = (relevant_above + EPSILON) / (sampled + 2 * EPSILON)
    with np.errstate(invalid="ignore"):  # past the last relevant document found
        expected = 1 / g.ranks_of_relevant + pooled / g.ranks_of_relevant * precision_above
    return safe_divide(row_sums(np.where(np.isfinite(g.ranks_of_relevant), expected, 0.0)), g.num_relevant)


@measure(ceiling=1, uses_strata=True, uses_unsampled=True, judged=True)
def xinfap(g: Gains) -> Floats:
    """Extended inferred average precision: AP estimated from a stratified sample (`--qrels-format strata`).

    1/R Σ_{i relevant} w_i/i (1 + Σ_s (above i in stratum s) · (relevant above in s + ε) / (sampled above in s + 3ε)),
    w: documents of the stratum for each sampled one, R: Σ w over relevant documents, ε=0.00001

    Yilmaz, Kanoulas & Aslam, SIGIR 2008; NIST's sample_eval.pl of October 2011, which ends at rank 1000:
    xinfap@1000.
    """
    sample, expected = _sample(g), np.ones(g.gain.shape)
    for number in range(sample.strata):
        in_stratum = sample.stratum == number
        above, relevant, sampled = (
            values.cumsum(1) - values for values in (in_stratum, in_stratum & g.relevant, in_stratum & sample.sampled)
        )
        expected += above * ((relevant + EPSILON) / (sampled + 3 * EPSILON))
    precision = np.where(g.relevant, sample.weight, 0.0) * expected / g.rank
    return safe_divide(row_sums(precision), row_sums(sample.estimated))


@measure(uses_strata=True, uses_unsampled=True, judged=True)
def statap(g: Gains) -> Floats:
    """statAP: average precision estimated from a stratified sample (`--qrels-format strata`); it can exceed 1.

    1/R Σ_{i relevant} w_i/i Σ_{j ≤ i, relevant} w_j, w = 1/π: the documents of the stratum for each sampled one,
    R: Σ w over relevant documents. R and the precision at a rank are unbiased estimates; the sum of the products is too
    high if little is sampled

    After Aslam & Pavlu, Northeastern University 2007, and the TREC 2007 Million Query track; the formula is by this
    package.
    """
    sample = _sample(g)
    weight = np.where(g.relevant, sample.weight, 0.0)
    return safe_divide(row_sums(weight * weight.cumsum(1) / g.rank), row_sums(sample.estimated))


@measure(gain="linear", cutoff="renormalizes", monotone=False, uses_strata=True, uses_unsampled=True, judged=True)
def infndcg(g: Gains) -> Floats:
    """Inferred nDCG: nDCG estimated from a stratified sample (`--qrels-format strata`); it can exceed 1.

    Σ_s (retrieved of stratum s) / (sampled of them) · Σ_{i in s} gain_i / log2(i+1) over dcg@k of the ideal, which has
    Σ_s w_s · (sampled with that gain), rounded, documents of each gain

    Yilmaz, Kanoulas & Aslam, SIGIR 2008; NIST's sample_eval.pl of October 2011, with its rounding of the
    ideal, which ends at rank 1000: infndcg@1000.
    """
    sample, gained = _sample(g), np.zeros(len(g.gain))
    discounted = g.gain / divisor(g.rank)
    for number in range(sample.strata):
        in_stratum = sample.stratum == number
        share = row_sums(in_stratum & sample.sampled) / np.maximum(row_sums(in_stratum), 1)
        gained += safe_divide(row_sums(np.where(in_stratum, discounted, 0.0)), share)
    # From the highest gain on, each takes the ranks after those above it.
    counts = np.floor(sample.estimated + 0.5)[:, ::-1]
    ends = np.minimum(counts.cumsum(1), g.last_rank).astype(np.int64)
    sums = np.append(0.0, (1 / divisor(np.arange(1.0, ends.max(initial=0) + 1))).cumsum())
    ideal = row_sums(np.diff(sums[ends], axis=1, prepend=0.0) * g.levels[::-1])
    return safe_divide(gained, ideal)
