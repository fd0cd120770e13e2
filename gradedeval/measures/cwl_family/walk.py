"""What a C/W/L user knows at each rank, and how far the walk goes past the end of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, shared
from gradedeval.errors import InputError
from gradedeval.measures.cwl_family.infinite_sums import Endless, extrapolated
from gradedeval.measures.definition import Cutoff
from gradedeval.measures.gains import Gains


@dataclass(frozen=True, eq=False)
class Walk:
    """What a user knows at each rank; what a C/W/L measure's C(i) is a function of.

    rank    1, 2, 3, …
    gain    topics × ranks: r_i
    cost    topics × ranks: c_i, 1 where no costs are given
    end     topics: the last rank that is looked at one by one; what comes after it has gain `tail` and cost 1
    k       the cutoff where it is a parameter of the measure
    types   the types of documents, and `kind` topics × ranks: which of them, −1 past the end; None where nobody asked
    closed  whether nothing comes after the end: a horizon
    priced  whether costs are given
    """

    rank: Floats
    gain: Floats
    cost: Floats
    end: Ints
    tail: float
    k: int | None = None
    closed: bool = False
    priced: bool = False
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None

    @cached_property
    def gained(self) -> Floats:
        """topics × ranks: Γ_i, the gain so far, rank i included."""
        return shared(self.gain.cumsum(1))

    @cached_property
    def spent(self) -> Floats:
        """topics × ranks: K_i, the cost so far, rank i included."""
        return shared(self.cost.cumsum(1)) if self.priced else np.broadcast_to(self.rank, self.cost.shape)

    def at_end(self, values: Any, before: float = 0.0) -> Floats:
        """topics: `values` at the last rank looked at, `before` where there is none."""
        if not values.shape[1]:
            return np.full(len(self.end), before)
        found: Floats = np.where(self.end > 0, values[np.arange(len(self.end)), self.end - 1], before)
        return found


@dataclass(frozen=True, eq=False)
class Onward(Walk):
    """The same for ranks past the end, here topics × ranks: `before` topics × 2, gain and cost up to the end."""

    before: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @cached_property
    def gained(self) -> Floats:
        found: Floats = self.before[:, :1] + (self.rank - self.end[:, None]) * self.tail
        return found

    @cached_property
    def spent(self) -> Floats:
        found: Floats = self.before[:, 1:] + (self.rank - self.end[:, None])
        return found


Continuation = Callable[..., Any]


def walk_of(g: Gains, cutoff: Cutoff, horizon: int | None) -> Walk:
    """The ranks that are looked at one by one: those retrieved, and down to the cutoff or horizon if there is one."""
    last = horizon if horizon is not None else g.k
    end = g.retrieved if last is None else np.full(len(g.gain), last)
    if horizon is None and cutoff == "summed":
        end = np.maximum(end, g.retrieved)
    width = int(end.max(initial=0))
    own = min(width, g.gain.shape[1])
    inside = np.arange(own) < g.retrieved[:, None]
    gain = np.full((len(end), width), g.tail, dtype=np.float64)
    gain[:, :own][inside] = g.gain[:, :own][inside]
    cost: Floats = np.broadcast_to(1.0, gain.shape)
    if g.cost is not None:
        known = np.ones(gain.shape)
        known[:, :own][inside] = g.cost[:, :own][inside]
        cost = shared(known)
    kind = None
    if g.kind is not None:
        kind = np.full(gain.shape, -1)
        kind[:, :own][inside] = g.kind[:, :own][inside]
    k = g.k if cutoff == "needed" else None
    rank, priced = np.arange(1.0, width + 1), g.cost is not None
    return Walk(shared(rank), shared(gain), cost, end, g.tail, k, horizon is not None, priced, g.types, kind)


ULPS = 1e-14
"""What rounding may take a chance beyond 0 or 1."""


def checked(continuation: Any, walk: Walk) -> Floats:
    """topics × ranks: C. Raises InputError where it is no chance."""
    given: Floats = np.asarray(continuation, dtype=np.float64)
    # What does not depend on the topic is looked at once.
    inside: Bools = (given >= -ULPS) & (given <= 1 + ULPS)
    if not inside.all():
        c = np.broadcast_to(given, walk.gain.shape)
        row, column = np.argwhere(~np.broadcast_to(inside, c.shape))[0]
        what = "no number" if np.isnan(c[row, column]) else f"{c[row, column]:.12g}, outside 0..1"
        rank = int(np.broadcast_to(walk.rank, c.shape)[row, column])
        what = f"C({rank}) is {what}, at a document of gain {walk.gain[row, column]:g}"
        raise InputError("", what, "C is the chance of going on: from 0 to 1")
    return np.broadcast_to(np.clip(given, 0.0, 1.0), walk.gain.shape)


def counted(
    continuation: Continuation, walk: Walk, matters: Sequence[bool] = (True, True, True), **parameters: Any
) -> Floats:
    """topics: how many ranks are viewed past the end, that one included, where no closed form is known.

    matters  whether C looks at the rank, at what is gained and at what is spent: topics that do not differ there share
             a sum

    Raises InputError where that is endless.
    """

    def chance(one: Walk) -> Any:
        return continuation(one, **parameters)

    c = checked(chance(walk), walk)
    nobody = ((c == 0) & (walk.rank <= walk.end[:, None])).any(1)
    viewed = np.ones(len(walk.end))
    states = np.stack([walk.end, walk.at_end(walk.gained), walk.at_end(walk.spent)], axis=1)[~nobody]
    apart, topic = np.unique(states * np.asarray(matters), axis=0, return_inverse=True)
    viewed[~nobody] = np.array([_counted(walk, chance, state) for state in apart])[topic]
    return viewed


def _counted(walk: Walk, chance: Callable[[Walk], Any], state: Floats) -> float:
    """The same from one end, with what is gained and spent there."""

    def past(m: Floats) -> Onward:
        gain, kind = np.full((1, len(m)), walk.tail), np.full((1, len(m)), -1)
        rank, end = state[None, :1] + m, state[:1].astype(np.int64)
        cost, before = np.ones(gain.shape), state[None, 1:]
        return Onward(rank, gain, cost, end, walk.tail, priced=True, types=walk.types, kind=kind, before=before)

    def chances(m: Floats) -> Floats:
        onward = past(m)
        c: Floats = checked(chance(onward), onward)[0]
        return c

    def far(m: Floats) -> Floats:
        c = np.broadcast_to(np.asarray(chance(past(m)), dtype=np.float64), (1, len(m)))[0]
        return np.clip(np.where(np.isnan(c), 1.0, c), 0.0, 1.0)

    try:
        return extrapolated(chances, float(state[0]), far)
    except Endless as endless:
        what = f"at rank {endless.rank:,.0f} C is {float(endless.factor)!r}"
        said = "is not settled" if endless.converges else "does not converge"
        raise InputError("", f"its sum {said}: {what}", "horizon=1000 ends it there") from None
