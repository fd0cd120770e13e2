"""The C/W/L machinery: a measure is the chance C(i) of going on from rank i; everything else follows from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from gradedeval.errors import Fault
from gradedeval.gains import Bools, Floats, Gains, Ints, share, total
from gradedeval.measures.definition import Cutoff, Definition, Measure, Own, Residual
from gradedeval.measures.parameters import Valid
from gradedeval.measures.series import Endless, extrapolated
from gradedeval.measures.steps import steps

QUANTITIES = ("eu", "etu", "ec", "etc", "ed")
"""Expected utility (gain per document), total utility, cost (per document), total cost, and depth."""


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
    """

    rank: Floats
    gain: Floats
    cost: Floats
    end: Ints
    tail: float
    k: int | None = None
    closed: bool = False
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None

    @cached_property
    def gained(self) -> Floats:
        """topics × ranks: Γ_i, the gain so far, rank i included."""
        return self.gain.cumsum(1)

    @cached_property
    def spent(self) -> Floats:
        """topics × ranks: K_i, the cost so far, rank i included."""
        return self.cost.cumsum(1)

    def at_end(self, values: Any, before: float = 0.0) -> Floats:
        """topics: `values` at the last rank looked at, `before` where there is none."""
        padded: Floats = np.concatenate([np.full((len(self.end), 1), before), values], axis=1)
        return padded[np.arange(len(self.end)), self.end]


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
Rest = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Paths:
    """V and its sums: viewed topics × ranks, V(i), zero past the end; `onward` topics: V of the rank after the end."""

    walk: Walk
    continuation: Floats
    viewed: Floats
    onward: Floats
    rest: Floats

    @cached_property
    def after(self) -> Floats:
        """topics: how many ranks are viewed past the end; none by nobody, however long they would go on."""
        somebody = self.onward > 0
        found: Floats = np.where(somebody, self.onward * np.where(somebody, self.rest, 0), 0)
        return found

    @cached_property
    def depth(self) -> Floats:
        """topics: ΣV, how many ranks are viewed."""
        return total(self.viewed) + self.after

    def forever(self, fades: bool) -> Floats:
        """topics: the chance of never stopping; `fades` says that V tends to 0."""
        return np.where(np.isinf(self.rest) & (not fades), self.onward, 0)


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
        cost = np.ones(gain.shape)
        cost[:, :own][inside] = g.cost[:, :own][inside]
    kind = None
    if g.kind is not None:
        kind = np.full(gain.shape, -1)
        kind[:, :own][inside] = g.kind[:, :own][inside]
    k = g.k if cutoff == "needed" else None
    return Walk(np.arange(1.0, width + 1), gain, cost, end, g.tail, k, horizon is not None, g.types, kind)


def checked(continuation: Any, walk: Walk) -> Floats:
    """topics × ranks: C. Raises Fault where it is no chance."""
    c: Floats = np.broadcast_to(np.asarray(continuation, dtype=np.float64), walk.gain.shape)
    wrong = (c < 0) | (c > 1) | np.isnan(c)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        what = "no number" if np.isnan(c[row, column]) else f"{c[row, column]:g}, outside 0..1"
        rank = int(np.broadcast_to(walk.rank, c.shape)[row, column])
        what = f"C({rank}) is {what}, at a document of gain {walk.gain[row, column]:g}"
        raise Fault("", what, "C is the chance of going on: from 0 to 1")
    return c


def counted(continuation: Continuation, walk: Walk, **parameters: Any) -> Floats:
    """topics: how many ranks are viewed past the end, that one included, where no closed form is known.

    Raises Fault where that is endless.
    """

    def chance(one: Walk) -> Any:
        return continuation(one, **parameters)

    c = checked(chance(walk), walk)
    nobody = ((c == 0) & (walk.rank <= walk.end[:, None])).any(1)
    viewed = np.ones(len(walk.end))
    states = np.stack([walk.end, walk.at_end(walk.gained), walk.at_end(walk.spent)], axis=1)[~nobody]
    apart, topic = np.unique(states, axis=0, return_inverse=True)
    viewed[~nobody] = np.array([_counted(walk, chance, state) for state in apart])[topic]
    return viewed


def _counted(walk: Walk, chance: Callable[[Walk], Any], state: Floats) -> float:
    """The same from one end, with what is gained and spent there."""

    def chances(m: Floats) -> Floats:
        gain, kind = np.full((1, len(m)), walk.tail), np.full((1, len(m)), -1)
        rank, end = state[None, :1] + m, state[:1].astype(np.int64)
        onward = Onward(rank, gain, np.ones(gain.shape), end, walk.tail, None, False, walk.types, kind, state[None, 1:])
        c: Floats = checked(chance(onward), onward)[0]
        return c

    try:
        return extrapolated(chances, float(state[0]))
    except Endless as endless:
        what = f"C tends to {endless.factor:g} past rank {state[0]:g}, the end of a ranking"
        raise Fault("", f"its sum does not converge: {what}", "horizon=1000 ends it") from None


def paths(walk: Walk, continuation: Any, rest: Floats | float) -> Paths:
    """V of every rank. `rest`: how many ranks someone at the first rank past the end will view, that one included."""
    shape = walk.gain.shape
    c = checked(continuation, walk)
    products = np.cumprod(c, axis=1)
    viewed = np.ones(shape)
    viewed[:, 1:] = products[:, :-1]
    within: Bools = np.arange(shape[1]) < walk.end[:, None]
    onward = walk.at_end(products, before=1.0)
    return Paths(walk, c, viewed * within, onward, np.broadcast_to(np.asarray(rest, dtype=np.float64), onward.shape))


def followed(
    g: Gains,
    cutoff: Cutoff,
    horizon: int | None,
    continuation: Continuation,
    rest: Rest | None,
    parameters: dict[str, Any],
) -> Paths:
    """V of every rank by a continuation function; the rest by a closed form, or extrapolated where there is none.

    Those just found, where another quantity of the same measure was asked for before.
    """
    key = (continuation, horizon, *parameters.items())
    if g.memo.get("walk", ((),))[0] != key:
        walk = walk_of(g, cutoff, horizon)
        ends = walk.closed or walk.k is not None
        left = 0.0 if ends else (rest or partial(counted, continuation))(walk, **parameters)
        g.memo["walk"] = (key, paths(walk, continuation(walk, **parameters), left))
    found: Paths = g.memo["walk"][1]
    return found


def quantity(paths: Paths, of: str, cut: int | None, fades: bool) -> Floats:
    """One of the five quantities of every topic; `cut` sums W·r to that rank only, `fades` says that V tends to 0."""
    walk, viewed = paths.walk, paths.viewed
    after, depth = paths.after, paths.depth
    if of == "ed":
        return depth
    if of in ("ec", "etc"):
        spent = total(viewed * walk.cost) + after
        return spent if of == "etc" else _rate(spent, depth, 1.0)
    worth = viewed * walk.gain
    if cut is not None and of == "eu":
        return share(total(worth[:, :cut]), depth)
    gained = total(worth) + (walk.tail * after if walk.tail else 0)
    if of == "eu":
        return _rate(gained, depth, walk.tail)
    # Whoever never stops gains nothing in all: the sum is over those who stop.
    left = paths.forever(fades) * walk.at_end(walk.gained) if walk.tail == 0 else 0
    return gained - left


def _rate(part: Floats, depth: Floats, limit: float) -> Floats:
    """part / depth; where the walk never ends, the limit."""
    endless = np.isinf(depth)
    return np.where(endless, limit, share(np.where(endless, 0, part), np.where(endless, 1, depth)))


def cwl(
    *,
    rest: Rest | None = None,
    gain: str = "linear",
    residual: Residual | Callable[[Own], Residual] = "endless",
    cutoff: Cutoff = "summed",
    fades: bool = False,
    sated: bool | Callable[[Own], bool] = False,
    valid: dict[str, Valid] | None = None,
    unit: str = "",
    needs: Callable[[Own, int | None], None] | None = None,
    types: Callable[[Own], bool] | None = None,
) -> Callable[[Continuation], Measure]:
    """Make a measure of a continuation function C(walk, *, parameters): the chance of going on from each rank.

    rest    how many ranks someone who reaches the first rank past the end will view, that one included, as a function
            of the walk and the parameters; without it C is looked at rank by rank, and the sum extrapolated
    cutoff  `needed` where k is a parameter of C; else W is that of the full depth, and summed to k
    fades   whether V tends to 0 where its sum is infinite
    types   whether it looks at the types of documents, column 2 of a run, as a function of its parameters
    sated, unit, needs: see `measure`

    Every measure takes `of` (eu, etu, ec, etc, ed) and `horizon`, a rank at which all sums stop.
    """

    def define(continuation: Continuation) -> Measure:
        own = list(inspect.signature(continuation).parameters.values())[1:]
        defaults = {one.name: one.default for one in own if one.kind is one.KEYWORD_ONLY}

        def follow(g: Gains, horizon: int | None, parameters: dict[str, Any]) -> tuple[Paths, int | None]:
            found = followed(g, cutoff, horizon, continuation, rest, {**defaults, **parameters})
            return found, g.k if cutoff != "needed" else None

        def function(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> Floats:
            found, cut = follow(g, horizon, parameters)
            return quantity(found, of, cut, fades) if horizon is None else _at_horizon(found, of, cut)

        def shows(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> dict[str, Floats]:
            found, cut = follow(g, horizon, parameters)
            return steps(found, g, of, cut, fades)

        function.__name__ = continuation.__name__
        function.__doc__ = continuation.__doc__
        # Whatever else a measure takes comes last.
        order = [*SHARED[:1], *own[: len(defaults)], *SHARED[1:], *own[len(defaults) :]]
        function.__signature__ = inspect.Signature(order)  # type: ignore[attr-defined]
        given = ({**CHECKS, **(valid or {})}, unit, needs, types, shows)
        return Measure(Definition(function, "unit", gain, residual, cutoff, 1.0, "mean", sated, *given))

    return define


# What every C/W/L measure takes beside its own parameters.
SHARED = [
    inspect.Parameter("g", inspect.Parameter.POSITIONAL_OR_KEYWORD),
    inspect.Parameter("of", inspect.Parameter.KEYWORD_ONLY, default="eu"),
    inspect.Parameter("horizon", inspect.Parameter.KEYWORD_ONLY, default=None),
]
CHECKS: dict[str, Valid] = {
    "of": (f"one of {', '.join(QUANTITIES)}", lambda of: of in QUANTITIES),
    "horizon": ("a rank from 1", lambda rank: isinstance(rank, int) and rank >= 1),
}


def _at_horizon(paths: Paths, of: str, cut: int | None) -> Floats:
    """As `quantity` where everything stops at the last rank: whoever is still on the way has not stopped."""
    walk, viewed = paths.walk, paths.viewed
    if of not in ("etu", "etc"):
        return quantity(paths, of, cut, fades=True)
    so_far = walk.gained if of == "etu" else walk.spent
    return total(viewed * (1 - paths.continuation) * so_far)
