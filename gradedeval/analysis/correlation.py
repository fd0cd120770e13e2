"""Agreement of two lists of scores: correlation of their values, or of the orderings that they make."""

from __future__ import annotations

import math
import warnings
from typing import Literal, get_args

import numpy as np

from gradedeval.analysis.score_matrix import Matrix
from gradedeval.analysis.significance import TOLERANCE, merge_close, scipy_stats
from gradedeval.arrays import Bools, Floats

Kind = Literal["pearson", "spearman", "tau", "weighted-tau", "tau-ap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
BY_TOPIC = ("pearson", "spearman")
"""Kinds that compare the scores of (run, topic) pairs; the others compare the orderings of runs by their means."""
NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "tau": "Kendall's τ",
    "weighted-tau": "τ weighted by 1/(rank + 1)",
    "tau-ap": "τ_AP of the column against the row",
}


def agreement(kind: Kind, truth: Floats, scores: Floats) -> float:
    """How far `scores` agree with `truth`, from −1 to 1; nan if either is constant or infinite.

    `pearson` (1895); `spearman` (1904); `tau` (Kendall 1945, τ_b); `weighted-tau` (Vigna, WWW 2015: additive hyperbolic
    weights by the rank in either list, the mean of both); `tau-ap` (see `tau_ap`). Raises InputError (usage) without
    scipy.
    """
    if len(truth) < 2 or np.ptp(truth) == 0 or np.ptp(scores) == 0 or not np.isfinite([truth, scores]).all():
        return float("nan")
    if kind == "tau-ap":
        return tau_ap(truth, scores)
    stats = scipy_stats()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of nearly constant lists, and gives the value all the same
        if kind == "weighted-tau":
            return float(stats.weightedtau(truth, scores, rank=True, additive=True).statistic)
        function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "tau": stats.kendalltau}[kind]
        return float(function(truth, scores).statistic)


def tau_ap(truth: Floats, scores: Floats) -> float:
    """AP correlation: 2/(n−1) Σ_{i≥2} C(i)/(i−1) − 1, C(i) the items above rank i of `scores` that belong there.

    Errors at the top of the ordering by `scores` weigh more. Where items are tied in `scores` it is the mean over all
    their orders; a tie in `truth` is half right. Yilmaz et al., SIGIR 2008; ties as τ_AP,a of Urbano & Marrero, ICTIR
    2017.
    """
    right = (np.sign(truth[:, None] - truth) + 1) / 2  # [i, j]: whether i belongs above j
    above = scores[:, None] > scores
    level = (scores[:, None] == scores) & ~np.eye(len(scores), dtype=bool)
    total = 0.0
    for item in range(len(scores)):
        before, tied = int(above[:, item].sum()), int(level[:, item].sum())
        sure, among = right[above[:, item], item].sum(), right[level[:, item], item].sum()
        # Each place among the tied is as likely; at the m-th of them, m − 1 of the others stand above.
        others = np.arange(tied + 1)
        ahead = before + others
        share = (sure + others / max(1, tied) * among) / np.maximum(1, ahead)
        total += float(share[ahead > 0].sum()) / (tied + 1)
    return 2 * total / (len(scores) - 1) - 1


def scores_agreement(kind: Kind, truth: Floats, scores: Floats, included: Bools) -> tuple[float, int]:
    """The agreement of the scores by two measures, runs × topics, and the number of pairs or runs compared.

    included  runs × topics: which pairs count; orderings use the topics that are included for all runs
    """
    if kind in BY_TOPIC:
        return agreement(kind, truth[included], scores[included]), int(included.sum())
    shared = np.logical_and.reduce(included, axis=0)
    if not shared.any():
        return float("nan"), len(truth)
    return agreement(kind, _means(truth[:, shared]), _means(scores[:, shared])), len(truth)


def _means(scores: Floats) -> Floats:
    """The mean of each run, equal where runs differ in the last bits alone: those depend on the order of topics."""
    if not np.isfinite(scores).all():
        return np.full(len(scores), np.inf)
    return merge_close(np.array([math.fsum(row) / len(row) for row in scores.tolist()]), TOLERANCE)


def measure_agreement(matrix: Matrix, kind: Kind, truth: int, scores: int) -> tuple[float, int]:
    """The agreement of two measures of a matrix, given their indices, on the pairs that both have."""
    included = matrix.included[:, :, truth] & matrix.included[:, :, scores]
    return scores_agreement(kind, matrix.score[:, :, truth], matrix.score[:, :, scores], included)
