"""Average precision and bpref on other scales, on which weak topics count for more; and estimated from samples."""

from __future__ import annotations

import numpy as np

from gradedeval.gains import Floats, Gains, share, total
from gradedeval.measures.definition import measure
from gradedeval.measures.precision import average_precision, preferred, summed_precision
from gradedeval.measures.standing import at_found, found, nth, passed

# trec_eval's guard against a sample without a document above.
EPSILON = 0.00001


@measure(residual="retrieved", ceiling=1, summary="geometric")
def gm_ap(g: Gains) -> Floats:
    """Average precision, summed up over topics by the geometric mean.

    1/R Σ_{i relevant} P@i; over topics exp(mean of ln max(AP, 0.00001))

    Robertson, CIKM 2006; trec_eval's gm_map.
    """
    return average_precision(g)


@measure(ceiling=1, summary="geometric")
def gm_bpref(g: Gains) -> Floats:
    """bpref, summed up over topics by the geometric mean.

    bpref; over topics exp(mean of ln max(bpref, 0.00001))

    Robertson, CIKM 2006; Buckley & Voorhees, SIGIR 2004; trec_eval's gm_bpref.
    """
    return preferred(g)


@measure(floor=-np.inf)
def yaap(g: Gains) -> Floats:
    """Yet another average precision: the log odds of average precision, kept finite by one document on either side.

    ln((1 + S) / (1 + R − S)), S: sum of precisions

    Robertson, CIKM 2006; trec_eval's yaap.
    """
    summed = summed_precision(g)
    odds: Floats = np.log((1 + summed) / (1 + g.R - summed))
    return np.where(g.R > 0, odds, 0.0)


@measure(ceiling=1, sampled=True)
def infap(g: Gains) -> Floats:
    """Inferred average precision: average precision estimated where only a sample of the pool is judged.

    1/R Σ_{i relevant} 1/i + (i−1)/i · (pooled above i)/(i−1) · (relevant above + ε) / (judged above + 2ε), ε=0.00001

    Yilmaz & Aslam, CIKM 2006. Grade −1 says pooled and not sampled; it needs --negative unjudged.
    """
    relevant_above = nth(g) - 1
    sampled = relevant_above + passed(g)
    pooled = sampled
    if g.unsampled is not None:
        pooled = sampled + at_found(g, (g.unsampled & ~g.judged).cumsum(1))
    precision_above = (relevant_above + EPSILON) / (sampled + 2 * EPSILON)
    with np.errstate(invalid="ignore"):  # past the last relevant document found
        expected = 1 / found(g) + pooled / found(g) * precision_above
    return share(total(np.where(np.isfinite(found(g)), expected, 0.0)), g.R)
