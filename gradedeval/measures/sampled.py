"""Measures estimated from a sample of the pool, with more of it judged in some strata than in others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradedeval.arrays import Bools, Floats
from gradedeval.measures.cumulated_gain import divisor
from gradedeval.measures.definition import measure
from gradedeval.measures.gain_schemes import Sample
from gradedeval.measures.gains import Gains, row_sums, safe_divide
from gradedeval.measures.precision import EPSILON


def _strata(g: Gains) -> Iterator[tuple[Sample, Bools]]:
    """The sample, and topics × ranks: whether the document is of the first, second, … stratum."""
    assert g.sample is not None
    for number in range(g.sample.strata):
        yield g.sample, g.sample.stratum == number


@measure(ceiling=1, uses_strata=True, uses_unsampled=True)
def xinfap(g: Gains) -> Floats:
    """Extended inferred average precision: average precision estimated from a stratified sample (`--strata`).

    1/R Σ_{i relevant} w_i/i (1 + Σ_s (above i in stratum s) · (relevant above in s + ε) / (sampled above in s + 3ε)),
    w: documents of the stratum for each sampled one, R: Σ w over relevant documents, ε=0.00001

    Yilmaz, Kanoulas & Aslam, SIGIR 2008; NIST's sample_eval, which ends at rank 1000: xinfap@1000.
    """
    expected, weighted = np.ones(g.gain.shape), np.zeros(g.gain.shape)
    for sample, here in _strata(g):
        above, relevant, sampled = (
            values.cumsum(1) - values for values in (here, here & g.relevant, here & sample.sampled)
        )
        expected += above * ((relevant + EPSILON) / (sampled + 3 * EPSILON))
        weighted = np.where(g.relevant, sample.weight, 0.0)
        total = row_sums(sample.estimated)
    return safe_divide(row_sums(weighted * expected / g.rank), total)


@measure(gain="linear", cutoff="renormalizes", monotone=False, uses_strata=True, uses_unsampled=True)
def infndcg(g: Gains) -> Floats:
    """Inferred nDCG: nDCG estimated from a stratified sample (`--strata`); it can exceed 1.

    Σ_s (retrieved of stratum s) / (sampled of them) · Σ_{i in s} gain_i / log2(i+1) over dcg@k of the ideal, which has
    Σ_s w_s · (sampled with that gain), rounded, documents of each gain

    Yilmaz, Kanoulas & Aslam, SIGIR 2008; NIST's sample_eval, which ends at rank 1000: infndcg@1000.
    """
    gained, ideal = np.zeros(len(g.gain)), np.zeros(len(g.gain))
    discounted = g.gain / divisor(g.rank)
    for sample, here in _strata(g):
        retrieved, sampled = row_sums(here), row_sums(here & sample.sampled)
        gained += np.where(sampled > 0, retrieved / np.maximum(sampled, 1), 0.0) * row_sums(
            np.where(here, discounted, 0.0)
        )
        counts = np.floor(sample.estimated + 0.5).astype(np.int64)
    # From the highest gain on, each takes the ranks after those above it.
    ends = np.minimum(counts[:, ::-1].cumsum(1), g.last_rank).astype(np.int64)
    sums = np.append(0.0, (1 / divisor(np.arange(1.0, ends.max(initial=0) + 1))).cumsum())
    ideal = row_sums(np.diff(sums[ends], axis=1, prepend=0.0) * g.levels[::-1])
    return safe_divide(gained, ideal)
