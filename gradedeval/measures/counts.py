"""Counts: how many were retrieved, are relevant, or both. Their summary over topics is the total."""

from __future__ import annotations

import numpy as np

from gradedeval.gains import Floats, Gains, total
from gradedeval.measures.definition import measure


@measure(gain=None, summary="total")
def num_ret(g: Gains) -> Floats:
    """Number of documents retrieved.

    n, or min(k, n)

    trec_eval's num_ret.
    """
    return g.retrieved.astype(np.float64)


@measure(cutoff="none", summary="total")
def num_rel(g: Gains) -> Floats:
    """Number of relevant documents in the pool.

    R

    trec_eval's num_rel.
    """
    return g.R.astype(np.float64)


@measure(summary="total")
def num_rel_ret(g: Gains) -> Floats:
    """Number of relevant documents retrieved.

    Σ_{i≤k} rel_i

    trec_eval's num_rel_ret.
    """
    return total(g.relevant)


@measure(gain=None, cutoff="none", summary="total")
def num_q(g: Gains) -> Floats:
    """Number of topics.

    1 for each topic

    trec_eval's num_q.
    """
    return np.ones(len(g.gain))
