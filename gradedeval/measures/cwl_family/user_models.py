"""C/W/L measures of users with a given patience: C(i), the chance of going on from rank i, is all they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.cwl_family.define import cwl
from gradedeval.measures.cwl_family.infinite_sums import damped, geometric, squared_ratios, trigamma
from gradedeval.measures.cwl_family.walk import Walk
from gradedeval.measures.parameters import POSITIVE, SHARE


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


def _ap_rest(walk: Walk) -> Any:
    return np.inf if walk.tail else np.where(walk.end == 0, 1.0, 0.0)  # somebody looks at rank 1, whatever is there


@cwl(rest=_ap_rest, residual="none")
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


@cwl(rest=lambda walk, h: -1 / np.expm1(-np.log(2) / h), valid={"h": POSITIVE}, unit="h is in seconds")
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


@cwl(rest=_u_rest, valid={"L": POSITIVE}, unit="L is in characters")
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


@cwl(rest=lambda walk, rate: 1 + 1 / rate, valid={"rate": POSITIVE})
def npv(walk: Walk, *, rate: float = 0.1) -> Any:
    """Net present value: RBP with p = 1 / (1 + rate).

    C(i) = 1 / (1 + rate)

    Azzopardi et al., SIGIR 2019, as cwl_eval.
    """
    return 1 / (1 + rate)


def _nerr6_rest(walk: Walk) -> Any:
    return damped(walk.tail, walk.end + 1.0, 1) if walk.tail else np.inf


@cwl(rest=lambda walk: 1 / walk.tail if walk.tail else np.inf, gain="exp", residual="none")
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


@cwl(rest=lambda walk, phi: 1 / (1 - phi + phi * walk.tail), gain="exp", valid={"phi": SHARE})
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
    return damped(walk.tail, at, 2)


@cwl(rest=_nerr11_rest, gain="exp", valid={"T": POSITIVE})
def nerr11(walk: Walk, *, T: float = 1.0) -> Any:
    """ERR's user with the patience of INSQ.

    C(i) = ((i+2T−1) / (i+2T))² (1 − r_i)

    Azzopardi et al., ICTIR 2021, eq. 11.
    """
    return ((walk.rank + 2 * T - 1) / (walk.rank + 2 * T)) ** 2 * (1 - walk.gain)
