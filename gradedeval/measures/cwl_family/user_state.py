"""What a C/W/L user knows at each rank, and how many ranks are viewed past the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, shared
from gradedeval.errors import InputError
from gradedeval.measures.cwl_family.infinite_sums import Unsettled, extrapolated
from gradedeval.measures.gains import Gains
from gradedeval.measures.properties import Cutoff


@dataclass(frozen=True, eq=False, repr=False)
class UserState:
    """What a user knows at each rank; what a C/W/L measure's C(i) is a function of.

    rank         ranks: 1, 2, 3, …
    gain         topics × ranks: r_i
    cost         topics × ranks: c_i; 1 where no costs are given
    end          topics: the last rank that is evaluated one by one; every rank after it has gain `tail` and cost 1
    k            the cutoff where it is a parameter of the measure
    has_horizon  whether nothing comes after the end
    has_costs    whether costs are given
    types        the document types, and `kind` topics × ranks: which of them, −1 past the end; None where the measure
                 does not distinguish them
    """

    rank: Floats
    gain: Floats
    cost: Floats
    end: Ints
    tail: float
    k: int | None = None
    has_horizon: bool = False
    has_costs: bool = False
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None

    @cached_property
    def cumulative_gain(self) -> Floats:
        """topics × ranks: Γ_i, the gain so far, rank i included."""
        return shared(self.gain.cumsum(1))

    @cached_property
    def cumulative_cost(self) -> Floats:
        """topics × ranks: K_i, the cost so far, rank i included."""
        return shared(self.cost.cumsum(1)) if self.has_costs else np.broadcast_to(self.rank, self.cost.shape)

    def at_end(self, values: Any, before: float = 0.0) -> Floats:
        """topics: `values` (topics × ranks) at the last rank evaluated, `before` where there is none."""
        if not values.shape[1]:
            return np.full(len(self.end), before)
        last: Floats = np.where(self.end > 0, values[np.arange(len(self.end)), self.end - 1], before)
        return last


@dataclass(frozen=True, eq=False, repr=False)
class TailState(UserState):
    """The state at ranks past the end, here topics × ranks; `before` is topics × 2: gain and cost up to the end."""

    before: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @cached_property
    def cumulative_gain(self) -> Floats:
        gain: Floats = self.before[:, :1] + (self.rank - self.end[:, None]) * self.tail
        return gain

    @cached_property
    def cumulative_cost(self) -> Floats:
        cost: Floats = self.before[:, 1:] + (self.rank - self.end[:, None])
        return cost


Continuation = Callable[..., Any]


def user_state(g: Gains, cutoff: Cutoff, horizon: int | None) -> UserState:
    """The state at the ranks evaluated one by one: those retrieved, and those down to a cutoff or horizon."""
    last = horizon if horizon is not None else g.k
    end = g.retrieved if last is None else np.full(len(g.gain), last)
    if horizon is None and cutoff == "sums_to_k":
        end = np.maximum(end, g.retrieved)
    width = int(end.max(initial=0))
    columns = min(width, g.gain.shape[1])
    inside = np.arange(columns) < g.retrieved[:, None]
    gain = np.full((len(end), width), g.tail, dtype=np.float64)
    gain[:, :columns][inside] = g.gain[:, :columns][inside]
    cost: Floats = np.broadcast_to(1.0, gain.shape)
    if g.cost is not None:
        given = np.ones(gain.shape)
        given[:, :columns][inside] = g.cost[:, :columns][inside]
        cost = shared(given)
    kind = None
    if g.kind is not None:
        kind = np.full(gain.shape, -1)
        kind[:, :columns][inside] = g.kind[:, :columns][inside]
    k = g.k if cutoff == "required" else None
    rank, has_costs = np.arange(1.0, width + 1), g.cost is not None
    return UserState(shared(rank), shared(gain), cost, end, g.tail, k, horizon is not None, has_costs, g.types, kind)


ULPS = 1e-14
"""How far rounding may take a probability below 0 or above 1."""


def checked(continuation: Any, state: UserState) -> Floats:
    """topics × ranks: C. Raises InputError where a value is not a probability."""
    given: Floats = np.asarray(continuation, dtype=np.float64)
    # What does not depend on the topic is looked at once.
    inside: Bools = (given >= -ULPS) & (given <= 1 + ULPS)
    if not inside.all():
        c = np.broadcast_to(given, state.gain.shape)
        row, column = np.argwhere(~np.broadcast_to(inside, c.shape))[0]
        value = "not a number" if np.isnan(c[row, column]) else f"{c[row, column]:.12g}, outside 0..1"
        rank = int(np.broadcast_to(state.rank, c.shape)[row, column])
        what = f"C({rank}) is {value}, at a document of gain {state.gain[row, column]:g}"
        raise InputError("", what, "C is the probability of going on: from 0 to 1")
    return np.broadcast_to(np.clip(given, 0.0, 1.0), state.gain.shape)


def ranks_viewed_past_end(
    continuation: Continuation, state: UserState, depends: Sequence[bool] = (True, True, True), **parameters: Any
) -> Floats:
    """topics: how many ranks a user who reaches the first rank past the end views, that one included, by extrapolation.

    depends  whether C depends on the rank, on the cumulative gain and on the cumulative cost: topics that do not differ
             in these share a sum

    Raises InputError where the sum is infinite or does not settle.
    """

    def c_of(state: UserState) -> Any:
        return continuation(state, **parameters)

    c = checked(c_of(state), state)
    unreached = ((c == 0) & (state.rank <= state.end[:, None])).any(1)
    viewed = np.ones(len(state.end))
    at_end = (state.end, state.at_end(state.cumulative_gain), state.at_end(state.cumulative_cost))
    starts = np.stack(at_end, axis=1)[~unreached]
    distinct_starts, topic = np.unique(starts * np.asarray(depends), axis=0, return_inverse=True)
    viewed[~unreached] = np.array([_extrapolated(state, c_of, start) for start in distinct_starts])[topic.ravel()]
    return viewed


def _extrapolated(state: UserState, c_of: Callable[[UserState], Any], start: Floats) -> float:
    """The same from one end, given as rank, cumulative gain and cumulative cost."""

    def past(m: Floats) -> TailState:
        gain, kind = np.full((1, len(m)), state.tail), np.full((1, len(m)), -1)
        rank, end = start[None, :1] + m, start[:1].astype(np.int64)
        cost, before = np.ones(gain.shape), start[None, 1:]
        return TailState(rank, gain, cost, end, state.tail, has_costs=True, types=state.types, kind=kind, before=before)

    def factor(m: Floats) -> Floats:
        tail = past(m)
        c: Floats = checked(c_of(tail), tail)[0]
        return c

    def far(m: Floats) -> Floats:
        c = np.broadcast_to(np.asarray(c_of(past(m)), dtype=np.float64), (1, len(m)))[0]
        return np.clip(np.where(np.isnan(c), 1.0, c), 0.0, 1.0)

    try:
        return extrapolated(factor, float(start[0]), far)
    except Unsettled as error:
        what = f"at rank {error.rank:,.0f} C is {float(error.factor)!r}"
        said = "has not converged yet" if error.converges else "does not converge"
        raise InputError("", f"the sum {said}: {what}", "set horizon=1000 to truncate it") from None
