"""Cascade measures: the user goes down the ranking and stops at the first document that satisfies."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats, distinct
from gradedeval.kernel.measures.definition import UP_TO_1, Bounds, Check, RankingWeights, RankSum, measure
from gradedeval.kernel.measures.gains import Gains, divisor, row_sums, safe_divide, survival, with_remainder

# The best case past the last column is summed until at most this probability is left, or over this many ranks.
NEGLIGIBLE, DEEPEST = 1e-13, 1_000_000
# Below this gain DEEPEST ranks are not enough.
SMALL = 3e-5


def _utilities_of(file: str) -> Floats:
    """Return φ(1), φ(2), … of a file; 0 after the last."""
    from gradedeval.kernel.measures.parameters import read_utilities  # few evaluations have one

    return read_utilities(file)


def useful(chance: Floats, rank: Floats, utility: str) -> Floats:
    """Return the probability of being satisfied at each rank, times the utility φ of the rank."""
    if utility == "one":
        return chance
    if utility in ("rr", "dcg"):
        return chance / (rank if utility == "rr" else divisor(rank))
    phi: Floats = np.append(_utilities_of(utility), 0)
    weighted: Floats = chance * phi[np.minimum(rank.astype(np.int64), len(phi)) - 1]
    return weighted


def expected_utility(g: Gains, utility: str = "rr", gamma: float = 1.0) -> Floats:
    """Return the mean of φ(rank) γ^(rank−1) over the ranks at which the user stops: topics."""
    if g.first is None:
        reached = np.cumprod(1 - g.gain, axis=1)
        stops = g.gain.copy()
        stops[:, 1:] *= reached[:, :-1]
    else:
        reached = survival(g)
        stops = -np.diff(reached, axis=1, prepend=1.0)
    score = row_sums(useful(stops * gamma ** (g.rank - 1), g.rank, utility))
    if g.tail:
        remaining = reached[:, -1] if reached.shape[1] else np.ones(len(score))
        score += remaining * beyond(g, utility, gamma)
    return score


def beyond(g: Gains, utility: str, gamma: float) -> Floats:
    """Return the best case past the last document, for a user who gets there; never below the true sum."""
    lengths, topic = distinct(g.retrieved)
    return np.array([_tail(g.tail, int(length), g.last_rank, utility, gamma) for length in lengths])[topic]


def _tail(gain: float, length: int, end: float, utility: str, gamma: float) -> float:
    stay = (1 - gain) * gamma
    if utility == "rr" and gamma == 1 and gain < SMALL and end == np.inf:
        # Σ_{i>n} stay^i / i = −ln(gain) − Σ_{i≤n} stay^i / i: too many terms to add up, and nothing cancels yet.
        rank = np.arange(1.0, length + 1)
        return float(gain * stay ** -(length + 1.0) * (-np.log(gain) - (stay**rank / rank).sum()))
    enough = DEEPEST if stay >= 1 else 1 if stay <= 0 else min(np.ceil(np.log(NEGLIGIBLE) / np.log(stay)) + 1, DEEPEST)
    terms = int(min(enough, end - length))
    if terms <= 0:
        return 0.0
    step = np.arange(terms, dtype=np.float64)
    summed = float(useful(gain * gamma**length * stay**step, length + 1 + step, utility).sum())
    if length + terms >= end:
        return summed
    # A user who got this far may still stop at the next rank, with the utility of that rank.
    remaining = np.array([gamma**length * stay**terms])
    return summed + float(useful(remaining, np.array([length + terms + 1.0]), utility)[0])


def stops(g: Gains, utility: str = "rr", gamma: float = 1.0) -> dict[str, Floats]:
    """Return the probabilities of reaching and of stopping at each rank, and the utility of each rank."""
    reached = np.ones(g.gain.shape)
    reached[:, 1:] = np.cumprod(1 - g.gain[:, :-1], axis=1)
    reached *= gamma ** (g.rank - 1)
    return {"reached": reached, "stops": reached * g.gain, "utility": useful(np.ones(reached.shape), g.rank, utility)}


def _utilities(g: Gains, utility: str = "rr", gamma: float = 1.0) -> Floats:
    """Return φ(rank) γ^(rank−1): ranks."""
    return useful(gamma ** (g.rank - 1), g.rank, utility)


def _ideal(g: Gains) -> Floats:
    return expected_utility(g.ideal_batch)


def _nerr_details(g: Gains) -> dict[str, Floats]:
    ideal = stops(g.ideal_batch)
    terms = with_remainder(ideal["stops"] * ideal["utility"], g.gain.shape[1])
    return {**stops(g), "ideal": g.ideal_at_ranks(), "ideal_term": terms}


@measure(
    gain="exp",
    scale="unit",
    residual="beyond_run",
    bounds="rises",
    ceiling=1,
    over_ties=True,
    takes_fill=True,
    details=stops,
    rank_sum=RankSum("stop", _utilities),
)
def err(g: Gains) -> Floats:
    """Expected reciprocal rank, of the first document that satisfies the user.

    Σ_i 1/i · r_i · Π_{j<i} (1 − r_j)

    Chapelle et al., CIKM 2009, eq. 5 and algorithm 2; its gains, eq. 4, are gain=exp.
    """
    return expected_utility(g)


@measure(
    gain="exp",
    scale="unit",
    residual="from_bounds",
    bounds=Bounds("cascade_share", exact=False, but="low is exact, high if few documents are unjudged", of_scale=True),
    cutoff="renormalizes",
    ceiling=1,
    over_ties=True,
    details=_nerr_details,
    rank_sum=RankSum("stop", _utilities, over=_ideal, pool="ideal"),
)
def nerr(g: Gains) -> Floats:
    """ERR as a share of the ideal ranking's.

    err@k / err@k of the pool in descending order of gain

    Chapelle et al., CIKM 2009, eq. 5, over the ideal as Järvelin & Kekäläinen, TOIS 2002.
    """
    return safe_divide(expected_utility(g), _ideal(g))


_UTILITY = Check(
    "rr, dcg, one or a file", lambda word: word in ("rr", "dcg", "one") or len(_utilities_of(word)) > 0, names_file=True
)


@measure(
    gain="exp",
    scale="unit",
    residual="beyond_run",
    bounds="rises",
    over_ties=True,
    takes_fill=True,
    checks={"utility": _UTILITY, "gamma": UP_TO_1},
    details=stops,
    rank_sum=RankSum("stop", _utilities),
)
def cascade(g: Gains, *, utility: str = "rr", gamma: float = 1.0) -> Floats:
    """Cascade measure with any utility of the rank (rr, dcg, one, or a file) and a chance γ of going on unsatisfied.

    Σ_i φ(i) · γ^(i−1) · r_i · Π_{j<i} (1 − r_j), with φ(i) = 1/i, 1/log2(i+1), 1, or line i of the file (0 after it)

    Chapelle et al., CIKM 2009, definition 1 for φ and section 7.2 for γ, there with φ = 1.

    utility  φ, the utility of being satisfied at rank i: rr (1/i), dcg (1/log2(i+1)), one, or a file
             with a value a line
    gamma    the probability that a user who is not satisfied goes on
    """
    return expected_utility(g, utility, gamma)


def _first_relevant(g: Gains) -> Floats:
    weights: Floats = (g.relevant & (g.hits == 1)) / g.rank
    return weights


@measure(
    residual="beyond_run",
    bounds="rises",
    ceiling=1,
    over_ties=True,
    details=stops,
    weights_in_ranking=RankingWeights(_first_relevant, finite=True),
    rank_sum=RankSum("stop", _utilities),
)
def rr(g: Gains) -> Floats:
    """Reciprocal rank of the first relevant document.

    1 / rank of the first relevant document; 0 without one

    Voorhees & Tice, TREC-8, 1999; ERR with gains 0 and 1.
    """
    if g.tail or g.first is not None:
        return expected_utility(g)
    return 1 / g.ranks_of_relevant[:, 0] if g.ranks_of_relevant.shape[1] else np.zeros(len(g.gain))


@measure(
    residual="beyond_run",
    bounds="rises",
    ceiling=1,
    over_ties=True,
    details=lambda g: stops(g, "one"),
    rank_sum=RankSum("stop", lambda g: _utilities(g, "one")),
)
def success(g: Gains) -> Floats:
    """Success: whether any of the first k documents is relevant.

    1 if any of the first k is relevant, else 0

    Craswell & Hawking, TREC 2004; trec_eval's success.
    """
    if g.tail or g.first is not None:
        return expected_utility(g, "one")
    return np.minimum(g.num_relevant_retrieved, 1.0)
