"""C/W/L measures of users who stop by their cumulative gain and cost."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.kernel.measures.cwl_family.formula import UserState, cwl
from gradedeval.kernel.measures.cwl_family.infinite_sums import sum_by_panels
from gradedeval.kernel.measures.definition import NOT_NEGATIVE, NUMBER, POSITIVE, Arguments

NOISE = 1e-9
"""Tolerance of sums that reach a limit: ten documents of 0.1 reach 1, but their sum in floats is less."""


def _below(so_far: Any, limit: Any) -> Any:
    """Return whether a cumulative value has not reached its limit."""
    return so_far < limit - NOISE


def _steps(needed: Floats, each: float) -> Floats:
    """Return the number of ranks until steps of `each` reach `needed`: at least 1, infinite if never."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(_below(each, needed), np.ceil((needed - NOISE) / each) if each > 0 else np.inf, 1)
    return np.maximum(steps, 1)


def _bpm_rest(state: UserState, T: float, K: float) -> Floats:
    gained, spent = state.at_end(state.cumulative_gain), state.at_end(state.cumulative_cost)
    return np.minimum(_steps(T - gained, state.tail), _steps(K - spent, 1.0))


@cwl(tail=_bpm_rest, residual="none", costs=True, monotone=False, checks={"T": POSITIVE, "K": POSITIVE})
def bpm(state: UserState, *, T: float = 1.0, K: float = 10.0) -> Any:
    """Bejeweled player model: the user stops once the gain reaches T, or the cost reaches K.

    C(i) = 1 while Γ_i < T and K_i < K, else 0

    Zhang et al., SIGIR 2017.

    T  the gain at which the user stops, satisfied
    K  the cost at which the user stops, in any case
    """
    return (_below(state.cumulative_gain, T) & _below(state.cumulative_cost, K)) * 1.0


def _bpmd_rest(state: UserState, T: float, K: float, hb: float, hc: float, mid: float) -> Floats:
    surplus = state.at_end(state.cumulative_gain) - mid * state.end
    gap = state.tail - mid  # moves both thresholds at every further rank, one rank later
    by_gain = _steps(T + hb * (surplus - gap) - state.at_end(state.cumulative_gain), state.tail - hb * gap)
    by_cost = _steps(K + hc * (surplus - gap) - state.at_end(state.cumulative_cost), 1 - hc * gap)
    return np.minimum(by_gain, by_cost)


@cwl(
    tail=_bpmd_rest,
    residual="none",
    costs=True,
    monotone=False,
    checks={"T": POSITIVE, "K": POSITIVE, "hb": NOT_NEGATIVE, "hc": NOT_NEGATIVE, "mid": NUMBER},
)
def bpmd(
    state: UserState, *, T: float = 1.0, K: float = 10.0, hb: float = 1.0, hc: float = 1.0, mid: float = 0.5
) -> Any:
    """Dynamic bejeweled player model: good documents raise both thresholds of bpm, bad ones lower them.

    C(i) = 1 while Γ_i < T + hb Σ_{j<i} (r_j − mid) and K_i < K + hc Σ_{j<i} (r_j − mid), else 0

    Zhang et al., SIGIR 2017; cwl_eval's code adapts T twice and leaves K as it is.

    T    the gain at which the user stops, before it is adapted
    K    the cost at which the user stops, before it is adapted
    hb   the rise of the gain threshold for each gain above mid
    hc   the rise of the cost threshold for each gain above mid
    mid  the gain that a user expects of a document
    """
    moved = (state.gain - mid).cumsum(1) - (state.gain - mid)
    return (_below(state.cumulative_gain, T + hb * moved) & _below(state.cumulative_cost, K + hc * moved)) * 1.0


def _logistic(x: Any, weight: float) -> Any:
    """Return 1 / (1 + weight · e^x) without overflow."""
    if weight == 0:
        return np.ones_like(x)
    return 1 / (1 + np.exp(np.minimum(x + np.log(weight), 700.0)))


def _ift_parts(T: float | None, A: float | None) -> tuple[float | None, float | None]:
    return (2.0, 0.2) if T is None and A is None else (T, A)


def _ift_rest(state: UserState, **parameters: Any) -> Floats:
    b1, R1, b2, R2 = (parameters[name] for name in ("b1", "R1", "b2", "R2"))
    goal, rate = _ift_parts(parameters["T"], parameters["A"])
    gained = state.at_end(state.cumulative_gain)
    if goal is not None and rate is None and not state.tail:
        with np.errstate(over="ignore"):
            viewed: Floats = 1 + b1 * np.exp((goal - gained) * R1)
        return viewed
    ends = np.stack([gained, state.at_end(state.cumulative_cost)], axis=1)
    states, topic = np.unique(ends, axis=0, return_inverse=True)
    with np.errstate(divide="ignore"):
        log_b1, log_b2 = np.log(b1), np.log(b2)
    highest = 0.0 if rate is None else -float(np.logaddexp(0, log_b2 + (rate - state.tail) * R2))

    def chances(m: Floats, so_far: float, spent: float) -> tuple[Floats, Floats]:
        gain = so_far + m * state.tail
        nothing = np.zeros(len(m))
        by_goal = nothing if goal is None else -np.logaddexp(0, (gain - goal) * R1 - log_b1)
        by_rate = nothing if rate is None else -np.logaddexp(0, log_b2 + (rate - gain / (spent + m)) * R2)
        return by_goal, by_rate

    viewed_past_end = [sum_by_panels(partial(chances, so_far=start[0], spent=start[1]), highest) for start in states]
    return np.array(viewed_past_end)[topic.reshape(-1)]


def _ift_needs(arguments: Arguments, cutoff: int | None) -> None:
    """Raise InputError if a parameter belongs to an unused part of C."""
    for part, names in (("T", ("b1", "R1")), ("A", ("b2", "R2"))):
        idle = [name for name in names if name in arguments]
        if idle and part not in arguments and {"T", "A"} & arguments.keys():
            used = "A" if part == "T" else "T"
            problem = f"{idle[0]} belongs to {part}, but only {used} is given"
            raise InputError("'ift'", problem, f"give {part} as well, or neither", usage=True)


@cwl(
    tail=_ift_rest,
    validate=_ift_needs,
    residual="none",
    costs=lambda arguments: "A" in arguments or "T" not in arguments,
    monotone=False,
    checks={"T": NUMBER, "b1": NOT_NEGATIVE, "R1": NOT_NEGATIVE, "A": NUMBER, "b2": NOT_NEGATIVE, "R2": NOT_NEGATIVE},
)
def ift(
    state: UserState,
    *,
    T: float | None = None,
    b1: float = 0.9,
    R1: float = 1.0,
    A: float | None = None,
    b2: float = 0.9,
    R2: float = 1.0,
) -> Any:
    """Information foraging: the user stops near the goal T, or below the rate A; with neither, T=2 and A=0.2.

    C1 = 1 − 1/(1 + b1 e^((T−Γ_i) R1)), C2 = 1/(1 + b2 e^((A−Γ_i/K_i) R2)), C = C1 · C2 or one of them

    Azzopardi et al., SIGIR 2018.

    T   the gain that the user wants, the goal; with A alone, the goal does not matter
    b1  the larger, the likelier the user goes on while the goal is not reached
    R1  how sharply the chance of going on falls at the goal
    A   the gain per cost that the user can have elsewhere; with T alone, the rate does not matter
    b2  the larger, the likelier the user stops because of the rate
    R2  how sharply the chance of going on falls as the rate falls below A
    """
    T, A = _ift_parts(T, A)
    gained, spent = state.cumulative_gain, state.cumulative_cost
    goal = 1.0 if T is None else 1 - _logistic((T - gained) * R1, b1)
    return goal if A is None else goal * _logistic((A - gained / spent) * R2, b2)
