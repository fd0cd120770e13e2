"""Set measures: the retrieved documents regardless of their ranks, and counts of documents."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.kernel.measures.definition import NOT_NEGATIVE, NUMBER, measure
from gradedeval.kernel.measures.gains import Gains, row_sums, safe_divide


@measure(residual="from_bounds", bounds="counts", cutoff="required", ceiling=1, over_ties=True)
def relative_p(g: Gains) -> Floats:
    """Precision as a share of the best possible at the cutoff.

    hits_k / min(k, R)

    trec_eval's relative_P.
    """
    return safe_divide(g.num_relevant_retrieved, np.minimum(g.effective_depth, g.num_relevant))


@measure(residual="within_run", bounds="rises", cutoff="renormalizes", ceiling=1, over_ties=True)
def set_p(g: Gains) -> Floats:
    """Precision of the retrieved set.

    hits / n

    trec_eval's set_P; van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """
    return safe_divide(g.num_relevant_retrieved, g.retrieved)


@measure(residual="from_bounds", bounds="counts", cutoff="renormalizes", ceiling=1, over_ties=True)
def set_relative_p(g: Gains) -> Floats:
    """Precision of the retrieved set as a share of the best possible for a set of its size.

    hits / min(n, R)

    trec_eval's set_relative_P.
    """
    return safe_divide(g.num_relevant_retrieved, np.minimum(g.retrieved, g.num_relevant))


@measure(residual="from_bounds", bounds="counts", ceiling=1, over_ties=True)
def set_recall(g: Gains) -> Floats:
    """Recall of the retrieved set.

    hits / R

    trec_eval's set_recall; van Rijsbergen, Information Retrieval, 1979, chapter 7.
    """
    return safe_divide(g.num_relevant_retrieved, g.num_relevant)


@measure(residual="from_bounds", bounds="counts", cutoff="renormalizes", ceiling=1)
def set_map(g: Gains) -> Floats:
    """Precision times recall of the retrieved set: its average precision if the order is unknown.

    hits² / (n R)

    trec_eval's set_map.
    """
    return safe_divide(g.num_relevant_retrieved**2, g.retrieved * g.num_relevant)


@measure(
    residual="from_bounds",
    bounds="counts",
    cutoff="renormalizes",
    ceiling=1,
    checks={"x": NOT_NEGATIVE},
    over_ties=True,
)
def set_f(g: Gains, *, x: float = 1.0) -> Floats:
    """F: the weighted harmonic mean of the set's precision and recall; a larger x favors recall.

    (x + 1) P R / (R + x P), P: hits / n, R: hits / number of relevant documents

    trec_eval's set_F; van Rijsbergen, Information Retrieval, 1979, chapter 7.

    x  the weight of recall against precision
    """
    precision = safe_divide(g.num_relevant_retrieved, g.retrieved)
    # Without known relevant documents the only bound of recall is 1.
    recall = np.minimum(safe_divide(g.num_relevant_retrieved, g.num_relevant), 1)
    return safe_divide((x + 1) * precision * recall, recall + x * precision)


@measure(residual="from_bounds", bounds="counts", cutoff="renormalizes", ceiling=1, over_ties=True)
def f1(g: Gains) -> Floats:
    """F1 at the cutoff: the harmonic mean of p@k and recall@k; a run shorter than k is padded.

    2 hits_k / (k + R), k: n without a cutoff

    The definition is ranx's f1; F comes from van Rijsbergen, Information Retrieval, 1979.
    """
    return safe_divide(2 * g.num_relevant_retrieved, g.effective_depth + g.num_relevant)


@measure(residual="within_run", bounds="rises", over_ties=True)
def hits(g: Gains) -> Floats:
    """Mean number of relevant documents in the top k, trec_eval's num_rel_ret averaged; the hit rate is success.

    Σ_{i≤k} rel_i

    ranx's hits.
    """
    return np.asarray(g.num_relevant_retrieved, dtype=np.float64)


@measure(floor=-np.inf, relevance_only=False, checks={"docs": NOT_NEGATIVE}, over_ties=True)
def utility(g: Gains, *, a: float = 1.0, b: float = -1.0, c: float = 0.0, d: float = 0.0, docs: float = 0.0) -> Floats:
    """Linear utility of the retrieved set, with a value for each combination of relevant and retrieved.

    a·hits + b·(n − hits) + c·(R − hits) + d·(docs − n − R + hits), docs: number of documents in the collection

    The definition is trec_eval's utility.

    a     the value of a relevant document retrieved
    b     the value of a retrieved document that is not relevant
    c     the value of a relevant document that is not retrieved
    d     the value of a document neither retrieved nor relevant
    docs  the number of documents in the collection, which d needs
    """
    hits, retrieved, relevant = g.num_relevant_retrieved, g.retrieved, g.num_relevant
    value = a * hits + b * (retrieved - hits) + c * (relevant - hits)
    return np.asarray(value + (d * (docs - retrieved - relevant + hits) if d else 0.0), dtype=np.float64)


@measure(
    cutoff="none",
    ceiling=1,
    over_ties=True,
    relevance_only=False,
    may_skip=True,
    reads_scores=lambda arguments: arguments.get("min") is not None,
    checks={"min": NUMBER._replace(example="0.5")},
)
def silence(g: Gains, *, min: float | None = None) -> Floats:
    """The share of the topics without relevant documents for which the run returns nothing; no other topic counts.

    1 if n = 0, else 0; with min, n counts the documents with a score of min or more; blank if R > 0

    As the silent days of EG-1: Tan, Roegiest, Lin & Clarke, SIGIR 2016. It has no residual, because further judging may
    remove topics from the mean.

    min  the lowest score of a document that counts as returned; without it all count
    """
    if min is None:
        returned = g.retrieved > 0
    elif g.highest is not None:
        returned = g.highest >= min
    else:
        raise InputError("", "min needs the scores of the run, which are unknown here", "leave out min", usage=True)
    return np.where(g.num_relevant > 0, np.nan, np.where(returned, 0.0, 1.0))


@measure(judged=True, summary="total", better="lower", relevance_only=False)
def num_nonrel_judged_ret(g: Gains) -> Floats:
    """Number of documents retrieved that are judged and not relevant.

    Σ_{i≤k} judged_i − rel_i

    trec_eval's num_nonrel_judged_ret.
    """
    return row_sums(g.judged & ~g.relevant)


@measure(gain=None, summary="total", better="neither", over_ties=True)
def num_ret(g: Gains) -> Floats:
    """Number of documents retrieved.

    n, or min(k, n)

    trec_eval's num_ret.
    """
    return g.retrieved.astype(np.float64)


@measure(cutoff="none", summary="total", better="neither", over_ties=True)
def num_rel(g: Gains) -> Floats:
    """Number of relevant documents in the pool.

    R

    trec_eval's num_rel.
    """
    return g.num_relevant.astype(np.float64)


@measure(summary="total", over_ties=True)
def num_rel_ret(g: Gains) -> Floats:
    """Number of relevant documents retrieved.

    Σ_{i≤k} rel_i

    trec_eval's num_rel_ret.
    """
    return np.asarray(g.num_relevant_retrieved, dtype=np.float64)


@measure(gain=None, cutoff="none", summary="total", better="neither", over_ties=True)
def num_q(g: Gains) -> Floats:
    """Number of topics.

    1 for each topic

    trec_eval's num_q.
    """
    return np.ones(len(g.gain))
