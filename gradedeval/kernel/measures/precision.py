"""Precision, recall and average precision, binary and graded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.kernel.measures.definition import (
    BELOW_1,
    BY_CUTOFF,
    NOT_NEGATIVE,
    POSITIVE,
    SHARE,
    Arguments,
    Bounds,
    Check,
    RankingWeights,
    RankSum,
    measure,
    needs_cutoff,
)
from gradedeval.kernel.measures.gains import (
    Gains,
    maximum_found,
    mean_summed_precision,
    row_sums,
    safe_divide,
    tied_sums,
    with_remainder,
)


def summed_precision(g: Gains, min_gain: float = 0.0) -> Floats:
    """Return the sum of the precisions at the documents with gain above 0 and `min_gain` or more: topics."""
    if g.first is not None:
        return mean_summed_precision(g, min_gain)
    if not min_gain:
        return g._summed_precision
    relevant = g.gain >= min_gain
    return row_sums(relevant * relevant.cumsum(1, dtype=np.float64) / g.rank)


def hits_down_to(g: Gains, depth: Ints | Floats) -> Ints | Floats:
    """Return the number of relevant documents down to a rank of each topic: topics; over ties the sum of mean gains."""
    if g.first is not None:
        return row_sums(np.where(g.rank <= depth[:, None], g.gain, 0.0))
    counts: Ints = np.count_nonzero(g.ranks_of_relevant <= depth[:, None], axis=1)
    return counts


def average_precision(g: Gains, norm: str | None = None) -> Floats:
    """Return AP: topics."""
    return safe_divide(summed_precision(g), maximum_found(g, norm=norm))


def preference(g: Gains, above: Floats, k: float = 0) -> Floats:
    """Return the bpref term of a relevant document below `above` documents judged non-relevant: topics × …."""
    bound = (k + g.num_relevant)[:, None]
    non_relevant = (g.pool - g.num_relevant)[:, None]
    # If N is 0 nothing can stand above, so any divisor will do.
    counts: Floats = 1 - np.minimum(bound, above) / np.maximum(np.minimum(bound, non_relevant), 1)
    return counts


def binary_preference(g: Gains, k: float = 0) -> Floats:
    """Return bpref: topics."""
    preferred = preference(g, g.nonrelevant_above, k)
    return safe_divide(row_sums(np.where(np.isfinite(g.ranks_of_relevant), preferred, 0.0)), g.num_relevant)


def _precision(g: Gains, *, norm: str | None = None) -> Floats:
    """Return P@i: topics × ranks."""
    return g.hits / g.rank


def _preferences(g: Gains, *, k: float = 0) -> Floats:
    """Return the bpref term of each document, if relevant: topics × ranks."""
    return preference(g, g.nonrelevant_so_far, k)


def sum_over(of: Literal["gain", "precision"], over: Callable[..., Any]) -> Callable[[Arguments], RankSum]:
    """Return a function of the arguments that makes the `RankSum` of a quantity over `over`: the total of the pool, or
    with norm=k of the ideal ranking down to the cutoff."""
    return lambda arguments: RankSum(of, over=over, pool="ideal" if "norm" in arguments else "relevant")


@measure(
    residual="from_bounds",
    bounds=Bounds("graded_average", over_ties=True),
    ceiling=1,
    over_ties=True,
    checks=BY_CUTOFF,
    validate=needs_cutoff("ap"),
    details=lambda g, norm=None: {
        "precision": _precision(g),
        "ideal": np.minimum(g.rank, g.num_relevant[:, None]) / g.rank,
    },
    weights_in_ranking=RankingWeights(_precision, over=maximum_found),
    rank_sum=sum_over("precision", maximum_found),
)
def ap(g: Gains, *, norm: str | None = None) -> Floats:
    """Average precision.

    1/R Σ_{i relevant} P@i; R is not cut, unless norm=k

    Robertson, SIGIR 2008; Zhang et al., Information Retrieval 2010, section 2.1; trec_eval's map.

    norm  k: the sum is divided by the smaller of R and the cutoff; without it by R
    """
    return average_precision(g, norm)


@measure(
    residual="within_run",
    bounds="rises",
    over_ties=True,
    details=lambda g: {"precision": _precision(g)},
    weights_in_ranking=RankingWeights(_precision),
    rank_sum=RankSum("precision"),
)
def sp(g: Gains) -> Floats:
    """Sum of precisions: average precision without the number of relevant documents.

    Σ_{i relevant} P@i

    Zhang et al., Information Retrieval 2010, section 2.2.
    """
    return summed_precision(g)


@measure(
    residual="beyond_run",
    bounds="rises",
    cutoff="required",
    ceiling=1,
    over_ties=True,
    rank_sum=RankSum("gain", over=lambda g: g.effective_depth),
)
def p(g: Gains) -> Floats:
    """Precision: the share of the first k documents that is relevant; k also if fewer are retrieved.

    1/k Σ_{i≤k} rel_i

    trec_eval's P.
    """
    return safe_divide(g.num_relevant_retrieved + g.tail * (g.effective_depth - g.retrieved), g.effective_depth)


@measure(
    residual="from_bounds",
    bounds="counts",
    ceiling=1,
    over_ties=True,
    checks=BY_CUTOFF,
    validate=needs_cutoff("recall"),
    rank_sum=sum_over("gain", maximum_found),
)
def recall(g: Gains, *, norm: str | None = None) -> Floats:
    """The share of the relevant documents that is retrieved; with norm=k, of as many as the cutoff admits.

    1/R Σ_{i≤k} rel_i; with norm=k 1/min(R, k) Σ_{i≤k} rel_i

    trec_eval's recall. With norm=k: BEIR's capped recall, R_cap (Thakur et al., NeurIPS 2021), which is relative_p.

    norm  k: the number found is divided by the smaller of R and the cutoff; without it by R
    """
    return safe_divide(g.num_relevant_retrieved, maximum_found(g, norm=norm))


@measure(
    cutoff="none",
    ceiling=1,
    over_ties=True,
    rank_sum=RankSum("gain", lambda g: g.rank <= g.num_relevant[:, None], over=lambda g: g.num_relevant),
)
def rprec(g: Gains) -> Floats:
    """R-precision: precision at rank R.

    1/R Σ_{i≤R} rel_i

    trec_eval's Rprec.
    """
    return safe_divide(hits_down_to(g, g.num_relevant), g.num_relevant)


@measure(
    judged=True,
    ceiling=1,
    checks={"k": NOT_NEGATIVE},
    details=lambda g, k=0: {"above": g.nonrelevant_so_far, "preferred": _preferences(g, k=k)},
    weights_in_ranking=RankingWeights(_preferences, over=lambda g, k=0: g.num_relevant),
)
def bpref(g: Gains, *, k: float = 0) -> Floats:
    """Binary preference: the mean share of documents judged non-relevant that rank below a relevant one.

    1/R Σ_{i relevant} (1 − min(k+R, non-relevant above i) / min(k+R, N)), N: judged non-relevant

    Buckley & Voorhees, SIGIR 2004 as in trec_eval; k=10: Zhang et al., Information Retrieval 2010, section 2.1.

    k  the number of judged non-relevant documents counted beyond R
    """
    return binary_preference(g, k)


@measure(cutoff="renormalizes", ceiling=1, monotone=False)
def accuracy(g: Gains) -> Floats:
    """The share of pairs of a relevant and a non-relevant retrieved document with the relevant document first.

    1 − Σ_{relevant i≤k} (i − hits_i) / (H (n − H)), H: hits_k, n: documents retrieved; 0 where H is 0, 1 where it is n

    ir_measures' Accuracy, which leaves out topics in which nothing relevant is retrieved.
    """
    hits = g.num_relevant_retrieved
    above = np.where(np.isfinite(g.ranks_of_relevant), g.ranks_of_relevant - g.ordinal, 0.0)
    return np.where(hits > 0, 1 - safe_divide(row_sums(above), hits * (g.retrieved - hits)), 0.0)


@measure(gain=None, judged=True, ceiling=1)
def judged(g: Gains) -> Floats:
    """The share of the first k documents that is judged.

    judged among the first k / min(k, number retrieved)

    ir_measures' Judged.
    """
    return safe_divide(row_sums(g.judged), g.retrieved)


@measure(gain=None, judged=True, ceiling=1, better="lower")
def unjudged(g: Gains) -> Floats:
    """The share of the first k documents that is not judged; k also if fewer are retrieved.

    unjudged among the first k / k

    trec_eval's unj.
    """
    return safe_divide(g.retrieved - row_sums(g.judged), g.effective_depth)


@measure(cutoff="none", ceiling=1, over_ties=True, checks={"times": POSITIVE})
def rprec_mult(g: Gains, *, times: float = 1.0) -> Floats:
    """Precision at a multiple of R.

    P@k with k = ⌊times·R + 0.9⌋

    trec_eval's Rprec_mult.

    times  the multiple of R at which precision is taken
    """
    depth = np.floor(times * g.num_relevant + 0.9).astype(np.int64)
    depth = np.where(g.num_relevant > 0, depth, 0)
    return safe_divide(hits_down_to(g, depth), depth)


@measure(residual="from_bounds", bounds=Bounds("graded_average"), ceiling=1, summary="geometric")
def gm_ap(g: Gains) -> Floats:
    """Average precision, averaged over topics by the geometric mean.

    1/R Σ_{i relevant} P@i; over topics exp(mean of ln max(AP, 0.00001))

    Robertson, CIKM 2006; trec_eval's gm_map.
    """
    return average_precision(g)


@measure(judged=True, ceiling=1, summary="geometric")
def gm_bpref(g: Gains) -> Floats:
    """bpref, averaged over topics by the geometric mean.

    bpref; over topics exp(mean of ln max(bpref, 0.00001))

    Robertson, CIKM 2006; Buckley & Voorhees, SIGIR 2004; trec_eval's gm_bpref.
    """
    return binary_preference(g)


@measure(floor=-np.inf)
def yaap(g: Gains) -> Floats:
    """Yet another average precision: the log odds of average precision, kept finite by one document on either side.

    ln((1 + S) / (1 + R − S)), S: sum of precisions

    Robertson, ECIR 2012, which trec_eval's yaap names; log odds of average precision: Robertson, CIKM 2006.
    """
    summed = summed_precision(g)
    odds: Floats = np.log((1 + summed) / (1 + g.num_relevant - summed))
    return np.where(g.num_relevant > 0, odds, 0.0)


# Interpolated precision: the best precision at a level of recall.


INTERPOLATED = Bounds("interpolated", exact=False, but="exact at recall=0")
ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def interpolated(g: Gains, recall: float, add: float) -> Floats:
    """Return the highest precision at or below the rank that reaches `recall`: topics."""
    precision = g.ordinal / g.ranks_of_relevant
    # From the end: the best precision still to come.
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    needed = np.maximum(np.floor(recall * g.num_relevant + add), 1).astype(np.int64)
    reached = np.append(best, np.zeros((len(best), 1)), axis=1)
    value = reached[np.arange(len(best)), np.minimum(needed - 1, best.shape[1])]
    return safe_divide(value, np.minimum(g.num_relevant, 1))


@measure(
    residual="from_bounds",
    bounds=INTERPOLATED,
    ceiling=1,
    checks={"recall": SHARE, "add": BELOW_1},
)
def iprec(g: Gains, *, recall: float = 0.0, add: float = 0.5) -> Floats:
    """Interpolated precision: the highest precision at a rank that reaches a level of recall, or at any rank below it.

    max of P@i over the i with hits_i ≥ ⌊recall·R + add⌋

    trec_eval's iprec_at_recall; add=0.5 as version 10, add=0.9 as version 9.

    recall  the level of recall
    add     the number added to recall · R before rounding down
    """
    return interpolated(g, recall, add)


SHARES = Check("numbers in [0, 1]", lambda shares: all(0 <= share <= 1 for share in np.atleast_1d(shares)))


@measure(
    residual="from_bounds",
    bounds=INTERPOLATED,
    ceiling=1,
    checks={"recall": SHARES, "add": BELOW_1},
)
def iprec_avg(g: Gains, *, recall: tuple[float, ...] = ELEVEN, add: float = 0.5) -> Floats:
    """Interpolated precision averaged over levels of recall, by tradition eleven.

    mean of iprec(recall=x) over the levels x

    trec_eval's 11pt_avg; Salton & McGill, Introduction to Modern Information Retrieval, 1983.

    recall  the levels of recall, as in 0:0.5:1
    add     the number added to recall · R before rounding down
    """
    levels = np.atleast_1d(recall).tolist()
    return sum((interpolated(g, level, add) for level in levels), start=np.zeros(len(g.gain))) / len(levels)


# Search length: the non-relevant documents that a user inspects.


WANTED = Check("a whole number from 1", lambda n: isinstance(n, int) and n >= 1)


@measure(
    judged=True,
    cutoff="none",
    better="lower",
    relevance_only=False,
    monotone=False,
    over_ties=True,
    checks={"n": WANTED, "docs": NOT_NEGATIVE},
)
def esl(g: Gains, *, n: int = 1, docs: float = 0) -> Floats:
    """Expected search length: the number of non-relevant documents above the n-th relevant one; lower is better.

    non-relevant documents above the n-th relevant one, or all of them where fewer are relevant

    The idea is from Cooper, American Documentation 1968; the formula is by this package. The missing documents follow
    the run in random order: the other judged documents, or with docs=N the rest of a collection of N. Set docs to
    compare runs of different depths: without it a run that retrieves few documents leaves few to search. With
    --ties average tied documents are in random order as well.

    n     the number of relevant documents that the user wants
    docs  the number of documents in the collection, for runs that retrieve fewer; 0 if unknown
    """
    relevant = g.relevant if g.uncut is None else g.uncut > 0
    count, others = row_sums(relevant), g.num_relevant - row_sums(relevant)
    rest = np.maximum(docs - g.retrieved, g.pool - row_sums(g.judged)) - others
    share = np.where(g.num_relevant >= n, (n - count) / (others + 1), 1.0)
    beyond: Floats = g.retrieved - count + share * rest
    if not g.gain.shape[1]:
        return beyond
    first = np.broadcast_to(np.arange(g.gain.shape[1]), g.gain.shape) if g.first is None else g.first
    hits, topic = relevant.cumsum(1), np.arange(len(first))
    nth = (hits >= n).argmax(1)
    begin = first[topic, nth]
    above = hits[topic, begin] - relevant[topic, begin]
    tied, size = (values[topic, nth] for values in tied_sums(relevant, first))
    # In random order the relevant documents stand at equal distances, on average.
    return np.where(count >= n, begin - above + (n - above) * (size - tied) / (tied + 1), beyond)


@measure(better="lower", monotone=False, may_skip=True)
def rank1(g: Gains) -> Floats:
    """The rank of the first relevant document; a topic without one is left out of the mean, so lower is better only
    beside the share of topics with one, success.

    min {i ≤ k: rel_i = 1}; blank if there is none

    The reciprocal is rr; 1 + esl where a relevant document is retrieved. It has no residual, because further judging
    may add topics to the mean.
    """
    ranks = g.ranks_of_relevant
    first: Floats = ranks[:, 0] if ranks.shape[1] else np.full(len(ranks), np.inf)
    return np.where(np.isfinite(first), first, np.nan)


# Here a gain is the share of users who regard the grade as relevant: Σ_{j ≤ grade} g_j. `gain=` or `g=` determines it.


def _gap_details(g: Gains, *, norm: str | None = None) -> dict[str, Floats]:
    """Return the expected precision over users, its terms by users who find the document relevant, and the ideal's."""
    ideal = with_remainder(_divided_by(g, norm), g.gain.shape[1])
    return {"precision": g.gain.cumsum(1) / g.rank, "term": _terms(g), "ideal_term": ideal}


def _terms(g: Gains) -> Floats:
    """Return 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j: topics × ranks."""
    terms = np.zeros(g.gain.shape)
    for step, level in zip(np.diff(g.levels, prepend=0), g.levels, strict=True):
        relevant = g.gain >= level
        terms += step * relevant * relevant.cumsum(1) / g.rank
    return terms


def precision_at_relevant(g: Gains) -> Floats:
    """Return graded precision at each relevant document, by users who regard it as relevant: topics × ranks; 0
    elsewhere.

    1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j / Σ_{j≤i_n} g_j

    With gains 0 and 1 it is precision. Robertson et al., SIGIR 2010, section 3.2.
    """
    return safe_divide(_terms(g), g.gain)


def _divided_by(g: Gains, norm: str | None) -> Floats:
    """Return the ideal gains in the divisor: topics × …; with norm=k down to the cutoff."""
    return g.ideal if norm is None else g.ideal[:, : g.k]


def _ideal(g: Gains, *, norm: str | None = None) -> Floats:
    """Return the expected number of documents that a user regards as relevant, and that can be found: topics."""
    return row_sums(_divided_by(g, norm))


@measure(
    gain="thresholds",
    scale="thresholds",
    ratio=True,
    residual="from_bounds",
    bounds=Bounds("graded_average", over_ties=True),
    ceiling=1,
    over_ties=True,
    checks=BY_CUTOFF,
    validate=needs_cutoff("gap"),
    details=_gap_details,
    rank_sum=sum_over("precision", _ideal),
)
def gap(g: Gains, *, norm: str | None = None) -> Floats:
    """Graded average precision: expected over users with different thresholds; g=1:1:2 weighs the grades.

    Σ_n 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j / Σ_i R_i Σ_{j≤i} g_j, with g_j = 1/top unless given

    Robertson et al., SIGIR 2010, section 2.2; it leaves g open, and takes equal ones in its experiments (section 4.1).
    The cutoff and norm=k are not in the paper.

    norm  k: the divisor is the sum of the gains of the ideal ranking down to the cutoff; without it of the whole pool
    """
    # The same sum turned round: for each threshold, its g times the sum of precisions with that threshold.
    steps = np.diff(g.levels, prepend=0)
    precisions = sum(
        (step * summed_precision(g, level) for step, level in zip(steps, g.levels, strict=True)),
        start=np.zeros(len(g.gain)),
    )
    return safe_divide(precisions, _ideal(g, norm=norm))


@measure(
    gain="thresholds",
    scale="thresholds",
    ratio=True,
    residual="from_bounds",
    bounds=Bounds("graded_recall", over_ties=True),
    ceiling=1,
    over_ties=True,
    rank_sum=RankSum("gain", over=_ideal, pool="relevant"),
)
def grecall(g: Gains) -> Floats:
    """Graded recall: the expected share of the documents a user regards as relevant that is retrieved.

    Σ_{m≤k} Σ_{j≤i_m} g_j / Σ_i R_i Σ_{j≤i} g_j

    Robertson et al., SIGIR 2010, section 3.2.
    """
    return safe_divide(row_sums(g.gain), _ideal(g))


@measure(
    gain="thresholds",
    scale="thresholds",
    residual="beyond_run",
    bounds="rises",
    cutoff="required",
    ceiling=1,
    over_ties=True,
    rank_sum=RankSum("gain", over=lambda g: g.effective_depth),
)
def gprecision(g: Gains) -> Floats:
    """Graded precision: the expected share of the first k documents that a user regards as relevant.

    1/k Σ_{m≤k} Σ_{j≤i_m} g_j

    The numerator of graded recall in Robertson et al., SIGIR 2010, section 3.2, over k. In that section graded
    precision is the precision of users who regard the document at rank k as relevant.
    """
    return safe_divide(row_sums(g.gain) + g.tail * (g.effective_depth - g.retrieved), g.effective_depth)
