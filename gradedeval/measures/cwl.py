"""The C/W/L family: a measure is its C(i), the chance that a user at rank i goes on to rank i + 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.gains import Floats
from gradedeval.measures.definition import Valid
from gradedeval.measures.series import damped, geometric, squared_ratios, trigamma
from gradedeval.measures.walk import Walk, cwl

POSITIVE: Valid = ("a number above 0", lambda value: isinstance(value, int | float) and value > 0)
SHARE: Valid = ("in [0, 1)", lambda value: 0 <= value < 1)
NUMBER: Valid = ("a number", lambda value: isinstance(value, int | float))
NOT_BELOW_0: Valid = ("0 or more", lambda value: value >= 0)


def below(walk: Walk) -> Any:
    """ranks: whether they stand above the cutoff k, so that one may go on from them."""
    return walk.rank < (np.inf if walk.k is None else walk.k)


@cwl(cutoff="needed")
def cwlp(walk: Walk) -> Any:
    """Precision as a C/W/L measure: everyone looks at k documents.

    C(i) = 1 for i < k, else 0

    Moffat et al., CIKM 2013.
    """
    return below(walk) * 1.0


@cwl(cutoff="needed")
def sdcg(walk: Walk) -> Any:
    """Scaled DCG: DCG's discounts down to k, as weights that sum to 1.

    C(i) = log2(i+1) / log2(i+2) for i < k, else 0

    Moffat et al., CIKM 2013.
    """
    return below(walk) * np.log2(walk.rank + 1) / np.log2(walk.rank + 2)


@cwl(rest=lambda walk, p: geometric(p), valid={"p": SHARE})
def rbp(walk: Walk, *, p: float = 0.8) -> Any:
    """Rank-biased precision: the user goes on to the next document with probability p.

    C(i) = p; (1 − p) Σ_i r_i p^(i−1)

    Moffat & Zobel, TOIS 2008.
    """
    return p


@cwl(rest=lambda walk: 1.0 if walk.tail else np.inf, residual="none")
def cwlrr(walk: Walk) -> Any:
    """Reciprocal rank as a C/W/L measure: everyone goes on to the first document with any gain.

    C(i) = 1 while r_i = 0, else 0; the score is Σ W(i) r_i, the limit 0 without such a document

    Moffat et al., CIKM 2013.
    """
    return (walk.gain == 0) * 1.0


@cwl(rest=lambda walk: np.inf if walk.tail else 0.0, residual="none")
def cwlap(walk: Walk) -> Any:
    """Average precision as a C/W/L measure: the user knows what is still to come.

    C(i) = Σ_{j>i} (r_j/j) / Σ_{j≥i} (r_j/j), 0/0 = 0

    Moffat et al., CIKM 2013.
    """
    if walk.tail and not walk.closed:
        return 1.0  # there is always as much again to come
    to_come = (walk.gain / walk.rank)[:, ::-1].cumsum(1)[:, ::-1]
    after = np.concatenate([to_come[:, 1:], np.zeros((len(to_come), 1))], axis=1)[:, : to_come.shape[1]]
    return np.divide(after, to_come, out=np.zeros(after.shape), where=to_come > 0)


@cwl(rest=lambda walk, T: (walk.end + 2 * T) ** 2 * trigamma(walk.end + 2 * T), valid={"T": POSITIVE})
def insq(walk: Walk, *, T: float = 1.0) -> Any:
    """INSQ: the further down, the more a user is inclined to go on; T is the number of documents wanted.

    C(i) = ((i+2T−1) / (i+2T))²

    Moffat et al., ADCS 2012.
    """
    return ((walk.rank + 2 * T - 1) / (walk.rank + 2 * T)) ** 2


def _inst_rest(walk: Walk, T: float) -> Floats:
    return squared_ratios(walk.end + 2 * T - walk.at_end(walk.gained), 1 - walk.tail)


@cwl(rest=_inst_rest, valid={"T": ("0.5 or more (below it C could exceed 1)", lambda T: T >= 0.5)})
def inst(walk: Walk, *, T: float = 1.0) -> Any:
    """INST: as INSQ, and the closer to the goal T the gain so far is, the sooner the user stops.

    C(i) = ((i+T+T_i−1) / (i+T+T_i))², T_i = T − Γ_i

    Moffat et al., TOIS 2017.
    """
    at = walk.rank + 2 * T - walk.gained
    return ((at - 1) / at) ** 2


def _nerr6_rest(walk: Walk) -> Any:
    return _harmonic(walk) if walk.tail else np.inf


def _harmonic(walk: Walk) -> Floats:
    """Σ_{m≥0} (1−t)^m (n+1) / (n+1+m), t the gain of every rank after n."""
    return damped(1 - walk.tail, walk.end + 1.0, lambda at, m: at / (at + m))


@cwl(rest=lambda walk: geometric(1 - walk.tail), gain="exp", residual="none")
def nerr5(walk: Walk) -> Any:
    """ERR's continuation read as C/W/L: V does not converge, and the score is the limit 0 unless a gain of 1 stops all.

    C(i) = 1 − r_i

    Azzopardi et al., ICTIR 2021, eq. 5.
    """
    return 1 - walk.gain


@cwl(rest=_nerr6_rest, gain="exp", residual="none", fades=True)
def nerr6(walk: Walk) -> Any:
    """ERR's discount as a continuation: ΣV does not converge, the score is the limit 0 unless a gain of 1 stops all.

    C(i) = i/(i+1) · (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 6.
    """
    return walk.rank / (walk.rank + 1) * (1 - walk.gain)


@cwl(cutoff="needed", gain="exp")
def nerr8(walk: Walk) -> Any:
    """ERR's user, who gives up at k.

    C(i) = 1 − r_i for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 8.
    """
    return below(walk) * (1 - walk.gain)


@cwl(cutoff="needed", gain="exp")
def nerr9(walk: Walk) -> Any:
    """ERR's discount and user, who gives up at k.

    C(i) = i/(i+1) · (1 − r_i) for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 9.
    """
    return below(walk) * walk.rank / (walk.rank + 1) * (1 - walk.gain)


@cwl(rest=lambda walk, phi: geometric(phi * (1 - walk.tail)), gain="exp", valid={"phi": SHARE})
def nerr10(walk: Walk, *, phi: float = 0.8) -> Any:
    """ERR's user with the patience of RBP.

    C(i) = φ (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 10.
    """
    return phi * (1 - walk.gain)


def _nerr11_rest(walk: Walk, T: float) -> Floats:
    at = walk.end + 2 * T
    if not walk.tail:
        return at**2 * trigamma(at)
    return damped(1 - walk.tail, at, lambda at, m: (at / (at + m)) ** 2)


@cwl(rest=_nerr11_rest, gain="exp", valid={"T": POSITIVE})
def nerr11(walk: Walk, *, T: float = 1.0) -> Any:
    """ERR's user with the patience of INSQ.

    C(i) = ((i+2T−1) / (i+2T))² (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 11.
    """
    return ((walk.rank + 2 * T - 1) / (walk.rank + 2 * T)) ** 2 * (1 - walk.gain)


def _steps(needed: Floats, each: float) -> Floats:
    """How many ranks until steps of `each` reach what is needed: at least 1, infinite where they never do."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(needed <= each, 1, np.ceil(needed / each) if each > 0 else np.inf)
    return np.maximum(steps, 1)


def _bpm_rest(walk: Walk, T: float, K: float) -> Floats:
    gained, spent = walk.at_end(walk.gained), walk.at_end(walk.spent)
    return np.minimum(_steps(T - gained, walk.tail), _steps(K - spent, 1.0))


@cwl(rest=_bpm_rest, residual="none", valid={"T": POSITIVE, "K": POSITIVE})
def bpm(walk: Walk, *, T: float = 1.0, K: float = 10.0) -> Any:
    """Bejeweled player model: the user stops once enough is gained, T, or enough is spent, K.

    C(i) = 1 while Γ_i < T and K_i < K, else 0

    Zhang et al., SIGIR 2017.
    """
    return ((walk.gained < T) & (walk.spent < K)) * 1.0


def _bpmd_rest(walk: Walk, T: float, K: float, hb: float, hc: float, mid: float) -> Floats:
    surplus = walk.at_end(walk.gained) - mid * walk.end
    gap = walk.tail - mid  # by which every further rank moves both thresholds, one rank later
    by_gain = _steps(T + hb * (surplus - gap) - walk.at_end(walk.gained), walk.tail - hb * gap)
    by_cost = _steps(K + hc * (surplus - gap) - walk.at_end(walk.spent), 1 - hc * gap)
    return np.minimum(by_gain, by_cost)


@cwl(
    rest=_bpmd_rest,
    residual="none",
    valid={"T": POSITIVE, "K": POSITIVE, "hb": NOT_BELOW_0, "hc": NOT_BELOW_0, "mid": NUMBER},
)
def bpmd(walk: Walk, *, T: float = 1.0, K: float = 10.0, hb: float = 1.0, hc: float = 1.0, mid: float = 0.5) -> Any:
    """Dynamic bejeweled player model: good documents raise both thresholds of bpm, bad ones lower them.

    C(i) = 1 while Γ_i < T + hb Σ_{j<i} (r_j − mid) and K_i < K + hc Σ_{j<i} (r_j − mid), else 0

    Zhang et al., SIGIR 2017.
    """
    moved = (walk.gain - mid).cumsum(1) - (walk.gain - mid)
    return ((walk.gained < T + hb * moved) & (walk.spent < K + hc * moved)) * 1.0


# So few users are nobody; and so many ranks past the end are looked at one by one.
NOBODY, MOST = 1e-16, 1 << 20


def _logistic(x: Any, weight: float) -> Any:
    """1 / (1 + weight · e^x) without overflow."""
    if weight == 0:
        return np.ones_like(x)
    return 1 / (1 + np.exp(np.minimum(x + np.log(weight), 700.0)))


def _goal(gained: Any, T: float, b1: float, R1: float) -> Any:
    return 1 - _logistic((T - gained) * R1, b1)


def _rate(gained: Any, spent: Any, A: float, b2: float, R2: float) -> Any:
    return _logistic((A - gained / spent) * R2, b2)


def _added_up(walk: Walk, c: Any, limit: Any) -> Floats:
    """topics: the ranks viewed past the end, one by one until nobody is left; `limit` is what C tends to.

    c  C as a function of gain and cost so far, topics × ranks
    """
    gained, spent = walk.at_end(walk.gained), walk.at_end(walk.spent)
    viewed, ranks = np.ones(len(gained)), np.zeros(len(gained))
    block, at = 1024.0, 0.0
    while viewed.max(initial=0) > NOBODY and at < MOST:
        m = at + np.arange(1.0, block + 1)
        chances = c(gained[:, None] + m * walk.tail, spent[:, None] + m)
        products = np.cumprod(chances, axis=1)
        ranks += viewed * (1 + products[:, :-1].sum(1))
        viewed = viewed * products[:, -1]
        at += block
    return ranks + viewed * geometric(limit)


def _ift_parts(T: float | None, A: float | None) -> tuple[float | None, float | None]:
    return (2.0, 0.2) if T is None and A is None else (T, A)


def _ift_chance(
    gained: Any,
    spent: Any,
    T: float | None,
    b1: float,
    R1: float,
    A: float | None,
    b2: float,
    R2: float,
) -> Any:
    T, A = _ift_parts(T, A)
    goal = 1.0 if T is None else _goal(gained, T, b1, R1)
    return goal if A is None else goal * _rate(gained, spent, A, b2, R2)


def _ift_rest(
    walk: Walk,
    T: float | None,
    b1: float,
    R1: float,
    A: float | None,
    b2: float,
    R2: float,
) -> Floats:
    goal, rate = _ift_parts(T, A)
    gained = walk.at_end(walk.gained)
    if goal is not None and rate is None and not walk.tail:
        with np.errstate(over="ignore"):
            return 1 + b1 * np.exp((goal - gained) * R1)
    settled = np.inf if walk.tail and R1 else gained
    limit = 1.0 if goal is None else _goal(settled, goal, b1, R1)
    limit = limit if rate is None else limit * _rate(walk.tail, 1.0, rate, b2, R2)
    return _added_up(walk, lambda gained, spent: _ift_chance(gained, spent, T, b1, R1, A, b2, R2), limit)


@cwl(
    rest=_ift_rest,
    residual="none",
    valid={"T": NUMBER, "b1": NOT_BELOW_0, "R1": NOT_BELOW_0, "A": NUMBER, "b2": NOT_BELOW_0, "R2": NOT_BELOW_0},
)
def ift(
    walk: Walk,
    *,
    T: float | None = None,
    b1: float = 0.9,
    R1: float = 1.0,
    A: float | None = None,
    b2: float = 0.9,
    R2: float = 1.0,
) -> Any:
    """Information foraging: the user stops near the goal T, or at less than the rate A; given neither, T=2 and A=0.2.

    C1 = 1 − 1/(1 + b1 e^((T−Γ_i) R1)), C2 = 1/(1 + b2 e^((A−Γ_i/K_i) R2)), C = C1 · C2 or one of them

    Azzopardi et al., SIGIR 2018.
    """
    return _ift_chance(walk.gained, walk.spent, T, b1, R1, A, b2, R2)


@cwl(rest=lambda walk, h: geometric(2 ** (-1 / h)), valid={"h": POSITIVE})
def tbg(walk: Walk, *, h: float = 224.0) -> Any:
    """Time-biased gain: half of the users are gone after each h of cost.

    W(i) ∝ 2^(−K_{i−1}/h)

    Smucker & Clarke, SIGIR 2012.
    """
    return 2 ** (-walk.cost / h)


def _u_rest(walk: Walk, L: float) -> Floats:
    left = np.maximum(L - walk.at_end(walk.spent), 1e-300)
    ranks = np.ceil(left)
    viewed: Floats = ranks - ranks * (ranks - 1) / (2 * left)
    return viewed


@cwl(rest=_u_rest, valid={"L": POSITIVE})
def u(walk: Walk, *, L: float = 1000.0) -> Any:
    """U-measure: attention falls in a straight line, to 0 where the cost is L.

    W(i) ∝ max(0, 1 − K_{i−1}/L)

    Sakai & Dou, SIGIR 2013.
    """
    after, before = np.maximum(L - walk.spent, 0), np.maximum(L - walk.spent + walk.cost, 0)
    return np.divide(after, before, out=np.zeros(walk.gain.shape), where=before > 0)


@cwl(cutoff="needed", valid={"beta": ("in (0, 1]", lambda beta: 0 < beta <= 1)})
def set_(walk: Walk, *, beta: float = 0.5) -> Any:
    """Search economic theory: diminishing returns, a total of i^β documents' worth after rank i, down to k.

    C(i) = w(i+1)/w(i) for i < k, else 0, w(i) = (i+1)^β − i^β

    Azzopardi, SIGIR 2014, as cwl_eval.
    """
    weight = (walk.rank + 1) ** beta - walk.rank**beta
    after = (walk.rank + 2) ** beta - (walk.rank + 1) ** beta
    return below(walk) * after / weight


@cwl(rest=lambda walk, rate: geometric(1 / (1 + rate)), valid={"rate": POSITIVE})
def npv(walk: Walk, *, rate: float = 0.1) -> Any:
    """Net present value: RBP with p = 1 / (1 + rate).

    C(i) = 1 / (1 + rate)

    Azzopardi et al., SIGIR 2019, as cwl_eval.
    """
    return 1 / (1 + rate)
