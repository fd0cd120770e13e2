"""C/W/L measures of users with a given patience, each by its C(i), the probability of going on from rank i."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.kernel.measures.cwl_family.formula import UserState, cwl
from gradedeval.kernel.measures.cwl_family.infinite_sums import damped, geometric, squared_ratios, trigamma
from gradedeval.kernel.measures.definition import BELOW_1, POSITIVE, UP_TO_1


def below(state: UserState) -> Any:
    """Return whether ranks are above the cutoff k, so that a user may go on from them: ranks."""
    return state.rank < (np.inf if state.k is None else state.k)


@cwl(bounds="rises", cutoff="required", over_ties=True)
def cwlp(state: UserState) -> Any:
    """Precision as a C/W/L measure: every user views k documents.

    C(i) = 1 for i < k, else 0

    Moffat et al., CIKM 2013.
    """
    return below(state) * 1.0


@cwl(bounds="rises", cutoff="required", over_ties=True)
def sdcg(state: UserState) -> Any:
    """Scaled DCG: DCG's discounts down to k, as weights that sum to 1.

    C(i) = log2(i+1) / log2(i+2) for i < k, else 0

    Moffat et al., CIKM 2013.
    """
    return below(state) * np.log2(state.rank + 1) / np.log2(state.rank + 2)


@cwl(bounds="rises", tail=lambda state, p: geometric(p), checks={"p": BELOW_1}, over_ties=True)
def rbp(state: UserState, *, p: float = 0.8) -> Any:
    """Rank-biased precision: the user goes on to the next document with probability p.

    C(i) = p; (1 − p) Σ_i r_i p^(i−1)

    Moffat & Zobel, TOIS 2008.

    p  the persistence: the probability of going on to the next document
    """
    return p


@cwl(tail=lambda state: 1.0 if state.tail else np.inf, residual="none")
def cwlrr(state: UserState) -> Any:
    """Reciprocal rank as a C/W/L measure: every user goes on to the first document with any gain.

    C(i) = 1 while r_i = 0, else 0; the score is Σ W(i) r_i, the limit 0 without such a document

    Moffat et al., CIKM 2013.
    """
    return (state.gain == 0) * 1.0


# Every user views rank 1.
@cwl(tail=lambda state: np.inf if state.tail else np.where(state.end == 0, 1.0, 0.0), residual="none")
def cwlap(state: UserState) -> Any:
    """Average precision as a C/W/L measure: the user knows the gains still to come.

    C(i) = Σ_{j>i} (r_j/j) / Σ_{j≥i} (r_j/j), 0/0 = 0

    Moffat et al., CIKM 2013.
    """
    if state.tail and not state.has_horizon:
        return 1.0  # the same gain is always still to come
    to_come = (state.gain / state.rank)[:, ::-1].cumsum(1)[:, ::-1]
    after = np.concatenate([to_come[:, 1:], np.zeros((len(to_come), 1))], axis=1)[:, : to_come.shape[1]]
    return np.divide(after, to_come, out=np.zeros(after.shape), where=to_come > 0)


@cwl(
    bounds="rises",
    tail=lambda state, T: (state.end + 2 * T) ** 2 * trigamma(state.end + 2 * T),
    checks={"T": POSITIVE},
    over_ties=True,
)
def insq(state: UserState, *, T: float = 1.0) -> Any:
    """INSQ: the further down, the more a user is inclined to go on; T is the number of documents wanted.

    C(i) = ((i+2T−1) / (i+2T))²

    Moffat et al., ADCS 2012.

    T  the gain that the user expects to need: the larger, the more patient
    """
    return ((state.rank + 2 * T - 1) / (state.rank + 2 * T)) ** 2


def _inst_rest(state: UserState, T: float) -> Floats:
    return squared_ratios(state.end + 2 * T - state.at_end(state.cumulative_gain), 1 - state.tail)


@cwl(bounds="rises", tail=_inst_rest, checks={"T": ("0.5 or more (below it C could exceed 1)", lambda T: T >= 0.5)})
def inst(state: UserState, *, T: float = 1.0) -> Any:
    """INST: as INSQ, and the closer to the goal T the gain so far is, the sooner the user stops.

    C(i) = ((i+T+T_i−1) / (i+T+T_i))², T_i = T − Γ_i

    Moffat et al., ADCS 2015 and TOIS 2017.

    T  the gain that the user wants; gain so far counts towards it
    """
    base = state.rank + 2 * T - state.cumulative_gain
    return ((base - 1) / base) ** 2


@cwl(
    bounds="rises",
    tail=lambda state, h: -1 / np.expm1(-np.log(2) / h),
    checks={"h": POSITIVE},
    cost_unit="h is in seconds",
    costs=True,
    over_ties=True,
)
def tbg(state: UserState, *, h: float = 224.0) -> Any:
    """Time-biased gain: half of the users stop within each h of cost.

    W(i) ∝ 2^(−K_{i−1}/h)

    Smucker & Clarke, SIGIR 2012; there gains are added up and not divided by the documents viewed: of=etu.

    h  the time, in the unit of the costs, after which half of the users have stopped
    """
    return 2 ** (-state.cost / h)


def _u_rest(state: UserState, L: float) -> Floats:
    remaining = np.maximum(L - state.at_end(state.cumulative_cost), 1e-300)
    ranks = np.ceil(remaining)
    viewed: Floats = ranks - ranks * (ranks - 1) / (2 * remaining)
    return viewed


@cwl(
    bounds="rises",
    tail=_u_rest,
    checks={"L": POSITIVE},
    cost_unit="L is in characters",
    costs=True,
    over_ties=True,
)
def u(state: UserState, *, L: float = 1000.0) -> Any:
    """U-measure: attention falls linearly with cost, to 0 at cost L.

    W(i) ∝ max(0, 1 − K_{i−1}/L)

    Sakai & Dou, SIGIR 2013, as cwl_eval: attention is taken at the beginning of a document. In the paper it is taken
    at its end, 1 − K_i/L, and gains are added up and divided by a constant.

    L  the length, in the unit of the costs, after which nobody reads on
    """
    next_attention = np.maximum(L - state.cumulative_cost, 0)
    attention = np.maximum(L - state.cumulative_cost + state.cost, 0)
    return np.divide(next_attention, attention, out=np.zeros(state.gain.shape), where=attention > 0)


@cwl(bounds="rises", cutoff="required", checks={"beta": UP_TO_1}, over_ties=True)
def set_(state: UserState, *, beta: float = 0.5) -> Any:
    """Search economic theory: diminishing returns, rank i weighs (i+1)^β − i^β, down to k.

    C(i) = w(i+1)/w(i) for i < k, else 0, w(i) = (i+1)^β − i^β

    Azzopardi, SIGIR 2014, as cwl_eval: the total gain of the paper is i^β, here (i+1)^β − 1 over that of rank 1.

    beta  the exponent: the smaller, the sooner returns diminish; at 1 all ranks weigh the same
    """
    weight = (state.rank + 1) ** beta - state.rank**beta
    next_weight = (state.rank + 2) ** beta - (state.rank + 1) ** beta
    return below(state) * next_weight / weight


@cwl(bounds="rises", tail=lambda state, rate: 1 + 1 / rate, checks={"rate": POSITIVE}, over_ties=True)
def npv(state: UserState, *, rate: float = 0.1) -> Any:
    """Net present value: RBP with p = 1 / (1 + rate).

    C(i) = 1 / (1 + rate)

    Azzopardi et al., SIGIR 2019, as cwl_eval.

    rate  the interest rate by which each further rank is discounted
    """
    return 1 / (1 + rate)


def _nerr6_rest(state: UserState) -> Any:
    return damped(state.tail, state.end + 1.0, 1) if state.tail else np.inf


@cwl(tail=lambda state: 1 / state.tail if state.tail else np.inf, gain="exp", residual="none")
def nerr5(state: UserState) -> Any:
    """ERR's continuation read as C/W/L: V does not converge, and the score is the limit 0 unless a gain of 1 stops all.

    C(i) = 1 − r_i

    Azzopardi et al., ICTIR 2021, eq. 5.
    """
    return 1 - state.gain


@cwl(tail=_nerr6_rest, gain="exp", residual="none", converges=True)
def nerr6(state: UserState) -> Any:
    """ERR's discount as a continuation: ΣV does not converge, the score is the limit 0 unless a gain of 1 stops all.

    C(i) = i/(i+1) · (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 6.
    """
    return state.rank / (state.rank + 1) * (1 - state.gain)


@cwl(bounds="rises", cutoff="required", gain="exp")
def nerr8(state: UserState) -> Any:
    """ERR's user, who gives up at k.

    C(i) = 1 − r_i for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 8.
    """
    return below(state) * (1 - state.gain)


@cwl(bounds="rises", cutoff="required", gain="exp")
def nerr9(state: UserState) -> Any:
    """ERR's discount and user, who gives up at k.

    C(i) = i/(i+1) · (1 − r_i) for i < k, else 0

    Azzopardi et al., ICTIR 2021, eq. 9.
    """
    return below(state) * state.rank / (state.rank + 1) * (1 - state.gain)


@cwl(bounds="rises", tail=lambda state, phi: 1 / (1 - phi + phi * state.tail), gain="exp", checks={"phi": BELOW_1})
def nerr10(state: UserState, *, phi: float = 0.8) -> Any:
    """ERR's user with the patience of RBP.

    C(i) = φ (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 10.

    phi  φ, the probability that a user who is not satisfied goes on
    """
    return phi * (1 - state.gain)


def _nerr11_rest(state: UserState, T: float) -> Floats:
    base = state.end + 2 * T
    return damped(state.tail, base, 2) if state.tail else base**2 * trigamma(base)


@cwl(bounds="rises", tail=_nerr11_rest, gain="exp", checks={"T": POSITIVE})
def nerr11(state: UserState, *, T: float = 1.0) -> Any:
    """ERR's user with the patience of INSQ.

    C(i) = ((i+2T−1) / (i+2T))² (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 11, which allows T = 0: nobody goes on from rank 1.

    T  the gain that the user expects to need: the larger, the more patient
    """
    return ((state.rank + 2 * T - 1) / (state.rank + 2 * T)) ** 2 * (1 - state.gain)
