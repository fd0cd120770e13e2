"""Graded average precision: each user has a threshold from which on grades count as relevant."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.kernel.measures.definition import BY_CUTOFF, Bounds, RankSum, measure, needs_cutoff
from gradedeval.kernel.measures.gains import Gains, row_sums, safe_divide, with_remainder
from gradedeval.kernel.measures.precision import precision_sum, summed_precision

# Here a gain is the share of users who regard the grade as relevant: Σ_{j ≤ grade} g_j. `gain=` or `g=` settles it
# before the function runs.


def _gap_details(g: Gains, *, norm: str | None = None) -> dict[str, Floats]:
    """The expected precision over users, that over those for whom the document is relevant, and the ideal's terms."""
    ideal = with_remainder(_divided_by(g, norm), g.gain.shape[1])
    return {"precision": g.gain.cumsum(1) / g.rank, "term": _terms(g), "ideal_term": ideal}


def _terms(g: Gains) -> Floats:
    """topics × ranks: 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j."""
    terms = np.zeros(g.gain.shape)
    for step, level in zip(np.diff(g.levels, prepend=0), g.levels, strict=True):
        relevant = g.gain >= level
        terms += step * relevant * relevant.cumsum(1) / g.rank
    return terms


def precision_at_relevant(g: Gains) -> Floats:
    """topics × ranks: graded precision at each relevant document, by those who regard it as relevant; 0 at the others.

    1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j / Σ_{j≤i_n} g_j

    With gains 0 and 1 it is precision. Robertson et al., SIGIR 2010, section 3.2.
    """
    return safe_divide(_terms(g), g.gain)


def _divided_by(g: Gains, norm: str | None) -> Floats:
    """topics × …: the gains that are to be found; with norm=k those of the ideal ranking down to the cutoff."""
    return g.ideal if norm is None else g.ideal[:, : g.k]


def _ideal(g: Gains, *, norm: str | None = None) -> Floats:
    """topics: the expected number of documents that a user regards as relevant, and that can be found."""
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
    rank_sum=precision_sum(_ideal),
)
def gap(g: Gains, *, norm: str | None = None) -> Floats:
    """Graded average precision: expected over users with different thresholds; g=1:1:2 weighs the grades.

    Σ_n 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j / Σ_i R_i Σ_{j≤i} g_j, with g_j = 1/top unless given

    Robertson et al., SIGIR 2010, section 2.2; it leaves g open, and takes equal ones in its experiments (section 4.1).
    The cutoff and norm=k are not in the paper.

    norm  k: of each threshold no more documents than the cutoff are counted in the divisor, which is the sum of the
          gains of the ideal ranking down to k; without it all of the pool
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
    """Graded precision: the expected share of the first k that a user regards as relevant.

    1/k Σ_{m≤k} Σ_{j≤i_m} g_j

    The numerator of graded recall in Robertson et al., SIGIR 2010, section 3.2, over k. What that section calls graded
    precision is that of the users who regard the document at rank k as relevant.
    """
    return safe_divide(row_sums(g.gain) + g.tail * (g.effective_depth - g.retrieved), g.effective_depth)
