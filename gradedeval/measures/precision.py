"""Precision and recall: what share of the retrieved is relevant, and what share of the relevant is retrieved."""

from __future__ import annotations

import numpy as np

from gradedeval.gains import Floats, Gains, share, total
from gradedeval.measures.definition import measure


def summed_precision(g: Gains, least: float = 0.0) -> Floats:
    """topics: the sum of the precisions at the relevant documents, those whose gain is above 0 and `least` or more."""
    relevant, hits = (g.gain >= least, None) if least else (g.relevant, g.hits)
    hits = relevant.cumsum(1, dtype=np.float64) if hits is None else hits
    return total(relevant * hits / g.rank)


def mean_gain(g: Gains) -> Floats:
    """topics: gain per rank down to the cutoff, which must be given."""
    return share(total(g.gain) + g.tail * (g.depth - g.retrieved), g.depth)


def _precision(g: Gains) -> dict[str, Floats]:
    return {"precision": g.hits / g.rank}


def _beside_the_ideal(g: Gains) -> dict[str, Floats]:
    return {**_precision(g), "ideal": np.minimum(g.rank, g.R[:, None]) / g.rank}


def _preferred(g: Gains, *, k: float = 0) -> dict[str, Floats]:
    above = (g.judged & ~g.relevant).cumsum(1, dtype=np.float64)
    most = np.minimum(k + g.R, g.pool - g.R)[:, None]
    return {"above": above, "preferred": 1 - np.minimum(above, most) / np.maximum(most, 1)}


@measure(residual="retrieved", ceiling=1, shows=_beside_the_ideal)
def ap(g: Gains) -> Floats:
    """Average precision.

    1/R Σ_{i relevant} P@i; R is never cut

    Robertson, SIGIR 2008; Zhang et al., Information Retrieval 2010, section 2.1; trec_eval's map.
    """
    return share(summed_precision(g), g.R)


@measure(residual="retrieved", shows=_precision)
def sp(g: Gains) -> Floats:
    """Sum of precisions: average precision without the number of relevant documents.

    Σ_{i relevant} P@i

    Zhang et al., Information Retrieval 2010, section 2.2.
    """
    return summed_precision(g)


@measure(residual="endless", cutoff="needed", ceiling=1)
def p(g: Gains) -> Floats:
    """Precision: the share of the first k that is relevant; k also where fewer are retrieved.

    1/k Σ_{i≤k} rel_i

    trec_eval's P.
    """
    return mean_gain(g)


@measure(residual="retrieved", ceiling=1)
def recall(g: Gains) -> Floats:
    """The share of the relevant documents that is retrieved.

    1/R Σ_{i≤k} rel_i

    trec_eval's recall.
    """
    return share(total(g.relevant), g.R)


@measure(cutoff="none", ceiling=1)
def rprec(g: Gains) -> Floats:
    """R-precision: precision at rank R.

    1/R Σ_{i≤R} rel_i

    trec_eval's Rprec.
    """
    return share(total(g.relevant & (g.rank <= g.R[:, None])), g.R)


@measure(ceiling=1, valid={"k": ("0 or more", lambda k: k >= 0)}, shows=_preferred)
def bpref(g: Gains, *, k: float = 0) -> Floats:
    """Binary preference: how few documents judged non-relevant stand above the relevant ones.

    1/R Σ_{i relevant} 1 − min(k+R, non-relevant above i) / min(k+R, N), N: judged non-relevant

    Buckley & Voorhees, SIGIR 2004 as in trec_eval; k=10: Zhang et al., Information Retrieval 2010, section 2.1.
    """
    most = (k + g.R)[:, None]
    non_relevant = (g.pool - g.R)[:, None]
    above = (g.judged & ~g.relevant).cumsum(1)
    # Where N is 0 nothing can stand above, so any divisor will do.
    preferred = 1 - np.minimum(most, above) / np.maximum(np.minimum(most, non_relevant), 1)
    return share(total(g.relevant * preferred), g.R)


@measure(gain=None, ceiling=1)
def judged(g: Gains) -> Floats:
    """The share of the first k that is judged.

    judged among the first k / min(k, number retrieved)

    ir_measures' Judged.
    """
    return share(total(g.judged), g.retrieved)


@measure(gain=None, ceiling=1)
def unjudged(g: Gains) -> Floats:
    """The share of the first k that is not judged; k also where fewer are retrieved.

    unjudged among the first k / k

    trec_eval's unj.
    """
    return share(g.retrieved - total(g.judged), g.depth)
