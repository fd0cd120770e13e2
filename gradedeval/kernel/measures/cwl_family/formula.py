"""C/W/L measures: the function C(i), the state of users at each rank, and C(i) as a formula written by a user."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache, partial, reduce, update_wrapper
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, shared
from gradedeval.errors import InputError, did_you_mean
from gradedeval.kernel.measures.cwl_family.infinite_sums import NotConverged, extrapolated
from gradedeval.kernel.measures.definition import (
    QUANTITIES,
    Arguments,
    Check,
    Cutoff,
    Definition,
    Measure,
    Properties,
    RankSum,
    Residual,
    decorator,
)
from gradedeval.kernel.measures.gains import Gains, Scale, row_sums, safe_divide, with_remainder


@dataclass(eq=False, repr=False)
class UserState:
    """The state of a user at each rank; the input of a C/W/L measure's C(i).

    rank         ranks: 1, 2, 3, …
    gain         topics × ranks: r_i
    cost         topics × ranks: c_i; 1 without costs
    end          topics: the last rank that is evaluated one by one; every rank after it has gain `tail` and cost 1
    k            the cutoff if it is a parameter of the measure
    has_horizon  whether nothing comes after the end
    has_costs    whether there are costs
    types        the document types, and `kind` topics × ranks: the index of a document's type, −1 past the end; None if
                 the measure does not distinguish them
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

    def at_end(self, values: Any, default: float = 0.0) -> Floats:
        """Return `values` (topics × ranks) at the last rank evaluated, or `default` without ranks: topics."""
        if not values.shape[1]:
            return np.full(len(self.end), default)
        last: Floats = np.where(self.end > 0, values[np.arange(len(self.end)), self.end - 1], default)
        return last


@dataclass(eq=False, repr=False)
class TailState(UserState):
    """The state at ranks past the end, here topics × ranks; `at_last` is topics × 2: gain and cost up to the end."""

    at_last: Floats = field(default_factory=lambda: np.empty((0, 2)))

    @cached_property
    def cumulative_gain(self) -> Floats:
        gain: Floats = self.at_last[:, :1] + (self.rank - self.end[:, None]) * self.tail
        return gain

    @cached_property
    def cumulative_cost(self) -> Floats:
        cost: Floats = self.at_last[:, 1:] + (self.rank - self.end[:, None])
        return cost


Continuation = Callable[..., Any]


def user_state(g: Gains, cutoff: Cutoff, horizon: int | None) -> UserState:
    """Return the state at the ranks evaluated one by one: those retrieved, and ranks down to a cutoff or horizon."""
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
        costs = np.ones(gain.shape)
        costs[:, :columns][inside] = g.cost[:, :columns][inside]
        cost = shared(costs)
    kind = None
    if g.kind is not None:
        kind = np.full(gain.shape, -1)
        kind[:, :columns][inside] = g.kind[:, :columns][inside]
    k = g.k if cutoff == "required" else None
    rank, has_costs = np.arange(1.0, width + 1), g.cost is not None
    return UserState(shared(rank), shared(gain), cost, end, g.tail, k, horizon is not None, has_costs, g.types, kind)


ULPS = 1e-14
"""Maximum rounding error of a probability below 0 or above 1."""


def checked(continuation: Any, state: UserState) -> Floats:
    """Return C, topics × ranks. Raises InputError if a value is not a probability."""
    chances: Floats = np.asarray(continuation, dtype=np.float64)
    # Values that do not depend on the topic are checked once.
    inside: Bools = (chances >= -ULPS) & (chances <= 1 + ULPS)
    if not inside.all():
        c = np.broadcast_to(chances, state.gain.shape)
        row, column = np.argwhere(~np.broadcast_to(inside, c.shape))[0]
        value = "not a number" if np.isnan(c[row, column]) else f"{c[row, column]:.12g}, outside 0..1"
        rank = int(np.broadcast_to(state.rank, c.shape)[row, column])
        problem = f"C({rank}) is {value}, at a document of gain {state.gain[row, column]:g}"
        raise InputError("", problem, "C is the probability of going on: from 0 to 1")
    return np.broadcast_to(np.clip(chances, 0.0, 1.0), state.gain.shape)


def ranks_viewed_past_end(
    continuation: Continuation, state: UserState, depends: Sequence[bool] = (True, True, True), **parameters: Any
) -> Floats:
    """Return the number of ranks that a user who reaches the first rank past the end views, including it, by
    extrapolation: topics.

    depends  whether C depends on the rank, on the cumulative gain and on the cumulative cost: topics that do not differ
             in these share a sum

    Raises InputError if the sum is infinite or does not converge.
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
    """Return the same from an end with rank, cumulative gain and cumulative cost in `start`."""

    def past(m: Floats) -> TailState:
        gain, kind = np.full((1, len(m)), state.tail), np.full((1, len(m)), -1)
        rank, end = start[None, :1] + m, start[:1].astype(np.int64)
        cost, last_sums = np.ones(gain.shape), start[None, 1:]
        return TailState(
            rank, gain, cost, end, state.tail, has_costs=True, types=state.types, kind=kind, at_last=last_sums
        )

    def factor(m: Floats) -> Floats:
        tail = past(m)
        c: Floats = checked(c_of(tail), tail)[0]
        return c

    def far(m: Floats) -> Floats:
        c = np.broadcast_to(np.asarray(c_of(past(m)), dtype=np.float64), (1, len(m)))[0]
        return np.clip(np.where(np.isnan(c), 1.0, c), 0.0, 1.0)

    try:
        return extrapolated(factor, float(start[0]), far)
    except NotConverged as error:
        problem = f"at rank {error.rank:,.0f} C is {float(error.factor)!r}"
        state_of_sum = "has not converged yet" if error.converges else "does not converge"
        raise InputError("", f"the sum {state_of_sum}: {problem}", "set horizon=1000 to truncate it") from None


# V, the probability of viewing each rank, and the five quantities that are sums over it.


TOTALS = ("etu", "etc")


@dataclass(eq=False, repr=False)
class Viewing:
    """V and its sums.

    continuation  topics × ranks: C(i)
    probability   topics × ranks: V(i), 0 past the end
    at_tail       topics: V of the first rank past the end
    rest          topics: the number of ranks that a user who reaches this rank will view, including it
    converges     whether V tends to 0 even if `rest` is infinite
    """

    state: UserState
    continuation: Floats
    probability: Floats
    at_tail: Floats
    rest: Floats
    converges: bool

    @cached_property
    def stopping(self) -> Floats:
        """topics × ranks: L(i), the probability that i is the last rank viewed."""
        return self.probability * (1 - self.continuation)

    @cached_property
    def past_end(self) -> Floats:
        """topics: the expected number of ranks viewed past the end; 0 if nobody gets there, even if `rest` is inf."""
        reached = self.at_tail > 0
        return np.where(reached, self.at_tail * np.where(reached, self.rest, 0), 0)

    @cached_property
    def depth(self) -> Floats:
        """topics: ΣV, the expected number of ranks viewed."""
        return row_sums(self.probability) + self.past_end

    @property
    def forever(self) -> Floats:
        """topics: the probability of never stopping."""
        return np.where(np.isinf(self.rest) & (not self.converges), self.at_tail, 0)

    def so_far(self, of: str) -> Floats:
        """Return the quantity of a total so far: the cumulative gain (etu) or cost (etc), topics × ranks."""
        return self.state.cumulative_gain if of == "etu" else self.state.cumulative_cost


def view_probabilities(state: UserState, continuation: Any, rest: Floats | float, converges: bool) -> Viewing:
    """Return V of every rank, from C; `rest` and `converges` as in `Viewing`."""
    shape = state.gain.shape
    c = checked(continuation, state)
    alike = c.strides[0] == 0  # all topics have one C: one product for all of them
    products = np.broadcast_to(np.cumprod(c[:1], axis=1), shape) if alike else np.cumprod(c, axis=1)
    v = np.ones(shape)
    v[:, 1:] = products[:, :-1]
    within: Bools = np.arange(shape[1]) < state.end[:, None]
    at_tail = state.at_end(products, default=1.0)
    ranks_past_end = np.broadcast_to(np.asarray(rest, dtype=np.float64), at_tail.shape)
    return Viewing(state, c, v * within, at_tail, ranks_past_end, converges)


def quantity(viewing: Viewing, of: str, cutoff: int | None) -> Floats:
    """Return a C/W/L quantity: topics. `cutoff` ends its sum at that rank; W and V are those of the full depth."""
    state, v = viewing.state, viewing.probability
    past_end, depth = viewing.past_end, viewing.depth
    if cutoff is not None:
        return _down_to(viewing, of, cutoff)
    if state.has_horizon and of in TOTALS:
        # A user still going on at the horizon has not stopped.
        return row_sums(viewing.stopping * viewing.so_far(of))
    if of == "ed":
        return depth
    if of in ("ec", "etc"):
        cost = row_sums(v * state.cost) + past_end if state.has_costs else depth
        return cost if of == "etc" else _rate(cost, depth, 1.0)
    gain = row_sums(v * state.gain) + (state.tail * past_end if state.tail else 0)
    if of == "eu":
        return _rate(gain, depth, state.tail)
    # A user who never stops has no total gain: the sum is over users who stop.
    never_stopped = viewing.forever * state.at_end(state.cumulative_gain) if state.tail == 0 else 0
    return gain - never_stopped


def _down_to(viewing: Viewing, of: str, cutoff: int) -> Floats:
    """Return the sum of a quantity down to a rank: ΣWr, ΣLΓ, ΣWc, ΣLK or ΣV."""
    state = viewing.state
    if of in TOTALS:
        return row_sums((viewing.stopping * viewing.so_far(of))[:, :cutoff])
    values = {"eu": state.gain, "ec": state.cost}.get(of)
    seen = row_sums((viewing.probability if values is None else viewing.probability * values)[:, :cutoff])
    return seen if of == "ed" else safe_divide(seen, viewing.depth)


def _rate(part: Floats, depth: Floats, limit: float) -> Floats:
    """Return part / depth; the limit if the depth is infinite."""
    endless = np.isinf(depth)
    return np.where(endless, limit, safe_divide(np.where(endless, 0, part), np.where(endless, 1, depth)))


def quantity_details(viewing: Viewing, g: Gains, of: str, cutoff: int | None) -> dict[str, Floats]:
    """Return the details at the ranks of `g`, and their sum after them: C, V, W, the contribution; the cost if there
    are costs; for a total, the probability of stopping (L) and the gain or cost so far.

    See `quantity` for the parameters. Contributions sum to the quantity: W·r for eu, L·Γ for etu, W·c for ec, L·K for
    etc, V for ed.
    """
    state, v, past_end, ranks = viewing.state, viewing.probability, viewing.past_end, g.gain.shape[1]
    depth = viewing.depth
    more: dict[str, Floats] = {}
    w, w_past_end = safe_divide(v, depth[:, None]), np.where(np.isinf(depth), 1.0, safe_divide(past_end, depth))
    if of in ("eu", "ec"):
        terms = w * (state.gain if of == "eu" else state.cost)
        rest = w_past_end * (state.tail if of == "eu" else 1.0)
    elif of == "ed":
        terms, rest = v, past_end
    else:
        so_far = viewing.so_far(of)
        terms = viewing.stopping * so_far
        # A user past the end keeps the total so far, and stops some time; a horizon is not a stop.
        rest = (viewing.at_tail - viewing.forever) * state.at_end(so_far) * (not state.has_horizon)
        rest = rest + (past_end if of == "etc" else state.tail * past_end if state.tail else 0)
        more = {"L": viewing.stopping, "gained" if of == "etu" else "spent": so_far}
    if cutoff is not None:
        terms, rest = terms * (state.rank <= cutoff), np.zeros(len(depth))
    columns = {
        "C": _without_remainder(viewing.continuation, ranks),
        "V": _with_past_end(v, ranks, past_end),
        "W": _with_past_end(w, ranks, w_past_end),
        **{name: _without_remainder(values, ranks) for name, values in more.items()},
        "contribution": _with_past_end(terms, ranks, rest),
    }
    return columns if g.cost is None else {"cost": g.cost, **columns}


def _without_remainder(values: Floats, ranks: int) -> Floats:
    """Return the values, cut or padded to `ranks` ranks: topics × ranks."""
    return with_remainder(values, ranks)[:, :-1]


def _with_past_end(values: Floats, ranks: int, past_end: Floats) -> Floats:
    """Return the values, and then the sum of the values below these ranks and past the end: topics × (ranks + 1)."""
    columns = with_remainder(values, ranks)
    columns[:, -1] += past_end
    return columns


# `@cwl`: a measure is its continuation probability C(i), the chance of going on from rank i; all else follows.


LAST_RANK, CELLS = 1 << 22, 1 << 22
"""The deepest horizon, and how many cells of topics × ranks are evaluated at once."""

# Parameters of every C/W/L measure.
GAINS = inspect.Parameter("g", inspect.Parameter.POSITIONAL_OR_KEYWORD)
SHARED = (
    inspect.Parameter("of", inspect.Parameter.KEYWORD_ONLY, default="eu"),
    inspect.Parameter("horizon", inspect.Parameter.KEYWORD_ONLY, default=None),
)
CHECKS = {
    "of": Check(f"one of {', '.join(QUANTITIES)}", lambda of: of in QUANTITIES),
    "horizon": Check(f"a rank from 1 to {LAST_RANK:,}", lambda rank: isinstance(rank, int) and 1 <= rank <= LAST_RANK),
}


@dataclass(repr=False, eq=False, kw_only=True)
class CWLProperties(Properties):
    """Properties of a C/W/L measure besides its continuation probability C(i).

    tail       the number of ranks that a user who reaches the first rank past the end will view, including it: a
               function of the state there and the parameters; without it C is evaluated rank by rank, and the sum
               extrapolated
    converges  whether V tends to 0 even if its sum is infinite
    cost_unit  the note if a parameter is a cost and there are no costs, as in `h is in seconds`
    costs      whether C depends on costs; or a function of the arguments
    types      the document types, column 2 of a run, that it distinguishes: a function of the arguments
    """

    gain: str | None = "linear"
    scale: Scale | None = "unit"
    cutoff: Cutoff = "sums_to_k"
    residual: Residual | Callable[[Arguments], Residual] = "beyond_run"
    ceiling: float = 1.0
    takes_fill: bool = True
    tail: Callable[..., Any] | None = None
    converges: bool = False
    cost_unit: str = ""
    costs: bool | Callable[[Arguments], bool] = False
    types: Callable[[Arguments], frozenset[bytes]] | None = None


@decorator(CWLProperties)
def cwl(continuation: Continuation, **keywords: Any) -> Measure:
    """Make a measure of a continuation function C(state, *, parameters): the chance of going on from each rank.

    C takes the state alone, which has ranks and gains; parameters of the measure follow `*` and have defaults.

    >>> @gradedeval.cwl
    ... def curious(state, *, p=0.5):
    ...     return p + (1 - p) / (state.rank + 1)
    >>> gradedeval.evaluate({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}, curious).means
    {'curious': 0.25}
    >>> impatient = gradedeval.cwl(lambda state: 0.9 - 0.5 * state.gain)
    >>> round(gradedeval.evaluate({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}, impatient).means["<lambda>"], 4)
    0.1636

    The state is a `UserState`. Besides the parameters of C the measure takes `of` (eu, etu, ec, etc, ed) and `horizon`,
    the rank at which all sums end. A cutoff only ends the sum: W is the weight at full depth, unless the cutoff is
    `required`; then it is `state.k`. All other properties of the measure are keywords:
    """
    properties = CWLProperties(**keywords)
    named, any_others = _parameters(continuation)
    defaults = {parameter.name: parameter.default for parameter in named}

    @np.errstate(over="ignore", invalid="ignore")  # `_viewing` raises errors for invalid chances
    def view(g: Gains, horizon: int | None, parameters: dict[str, Any]) -> tuple[Viewing, int | None]:
        cutoff = g.k if properties.cutoff != "required" else None
        return _viewing(g, properties, horizon, continuation, {**defaults, **parameters}), cutoff

    def function(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> Floats:
        if parts := _in_parts(g, horizon or g.k or 0):
            return np.concatenate([function(part, of=of, horizon=horizon, **parameters) for part in parts])
        viewing, cutoff = view(g, horizon, parameters)
        return quantity(viewing, of, cutoff)

    def details(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> dict[str, Floats]:
        viewing, cutoff = view(g, horizon, parameters)
        return quantity_details(viewing, g, of, cutoff)

    def weights(g: Gains, **parameters: Any) -> Floats:
        return details(replace(g, gain=np.ones(g.gain.shape)), **parameters)["contribution"][:, :-1]

    # W is the same for every ranking only if the score is linear in the gains.
    rank_sum = RankSum("gain", weights) if properties.over_ties else None
    update_wrapper(function, continuation)
    signature = inspect.Signature([GAINS, *named, *SHARED, *any_others])
    function.__signature__ = signature  # type: ignore[attr-defined]
    shared = {field.name: getattr(properties, field.name) for field in fields(Properties)}
    shared["checks"] = {**CHECKS, **(properties.checks or {})}
    shared["validate"] = partial(_validate, continuation.__name__.rstrip("_"), properties.validate)
    return Measure(Definition(function=function, cwl=properties, details=details, rank_sum=rank_sum, **shared))


def _validate(
    name: str, validate: Callable[[Arguments, int | None], None] | None, arguments: Arguments, cutoff: int | None
) -> None:
    """Raise InputError (usage) for a cutoff with more ranks than are viewed one by one, and as `validate` does."""
    if cutoff is not None and cutoff > LAST_RANK:
        hint = f"the maximum cutoff or horizon is {LAST_RANK:,}"
        raise InputError(f"'{name}@{cutoff}'", "is too deep", hint, usage=True)
    if validate is not None:
        validate(arguments, cutoff)


def _viewing(
    g: Gains, properties: CWLProperties, horizon: int | None, continuation: Continuation, parameters: dict[str, Any]
) -> Viewing:
    """Return V of every rank; past the end by a closed form, or extrapolated without one.

    The last result is cached for other quantities of the same measure.
    """
    tail, cutoff = properties.tail, properties.cutoff
    key = (continuation, tail, cutoff, horizon, *parameters.items())
    if g.memo.get("viewing", ((),))[0] != key:
        state_key = ("state", cutoff, horizon)
        if state_key not in g.memo:
            g.memo[state_key] = user_state(g, cutoff, horizon)
        state = g.memo[state_key]
        ends = state.has_horizon or state.k is not None
        rest = 0.0 if ends else (tail or partial(ranks_viewed_past_end, continuation))(state, **parameters)
        chances = continuation(state, **parameters)
        g.memo["viewing"] = (key, view_probabilities(state, chances, rest, properties.converges))
    viewing: Viewing = g.memo["viewing"][1]
    return viewing


def _parameters(continuation: Continuation) -> tuple[list[inspect.Parameter], list[inspect.Parameter]]:
    """Return the named parameters of C, and `**others`. Raises TypeError for others, and for missing defaults."""
    arguments = [*inspect.signature(continuation).parameters.values()]
    parameters = arguments[1:]
    named = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    any_others = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    positional = [parameter for parameter in parameters if parameter not in [*named, *any_others]]
    name, listed = continuation.__name__, ", ".join(map(str, parameters))
    if not arguments or any(parameter.default is parameter.empty for parameter in positional):
        problem = f"{name}: C takes the state alone, with state.rank and state.gain"
        raise TypeError(f"{problem}; for example cwl(lambda state: 0.9 - 0.5 * state.gain)")
    if positional:
        raise TypeError(f"{name}: parameters must follow a *; def {name}(state, *, {listed})")
    if missing := [parameter.name for parameter in named if parameter.default is parameter.empty]:
        hint = f"give it one, as in {missing[0]}=0.5, or take state.rank or state.gain"
        raise TypeError(f"{name}: the parameter {missing[0]} has no default; {hint}")
    return named, any_others


def _in_parts(g: Gains, last: int) -> list[Gains]:
    """Split the topics into parts that are evaluated together down to rank `last`; empty if one part holds all."""
    if last > LAST_RANK:
        raise InputError("", f"rank {last:,} is too deep", f"the maximum cutoff or horizon is {LAST_RANK:,}")
    size = max(1, CELLS // max(last, 1))
    return [g.select(slice(i, i + size)) for i in range(0, len(g.gain), size)] if size < len(g.gain) else []


LONGEST, MOST_PARTS, MOST_NESTED, HIGHEST_POWER = 300, 100, 80, 1000
# Formulas in a few variables: text -> a small tree -> arrays. Nothing in them is ever run as Python.


# Python syntax besides numbers, names and operators: comments, further lines, 1_000.
_OTHER = re.compile(r"[#\n\r\\]|\d_\d")

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
# Name -> minimum and maximum number of arguments, and the function.
FUNCTIONS: dict[str, tuple[int, int, Callable[..., Any]]] = {
    "where": (3, 3, np.where),
    "exp": (1, 1, np.exp),
    "log": (1, 1, np.log),
    "sqrt": (1, 1, np.sqrt),
    "min": (2, 9, lambda *values: reduce(np.minimum, values)),
    "max": (2, 9, lambda *values: reduce(np.maximum, values)),
}


@dataclass(frozen=True)
class Formula:
    """A number, a name, or a function of other formulas."""

    value: float | str = 0.0
    function: Callable[..., Any] | None = None
    of: tuple[Formula, ...] = ()

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return its value, broadcast from the values of the names; nan or infinite if arithmetic fails."""
        with np.errstate(all="ignore"):
            return self._value(values)

    def _value(self, values: Mapping[str, Any]) -> Any:
        if self.function is None:
            return values[self.value] if isinstance(self.value, str) else self.value
        # True counts as 1.
        return np.multiply(self.function(*(part._value(values) for part in self.of)), 1.0)

    @property
    def size(self) -> int:
        """The number of its parts, itself included."""
        return 1 + sum(part.size for part in self.of)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that it uses."""
        names = {self.value} if isinstance(self.value, str) else set()
        return frozenset(names.union(*(part.names for part in self.of)))


@lru_cache
def read_formula(text: str) -> Formula:
    """Return a formula of numbers, names, + - * / **, comparisons, parentheses and `where exp log sqrt min max`.

    Raises InputError (usage) for anything else, and if it is too long, too deep, or has too high a power.
    """
    if len(text) > LONGEST:
        raise _error(text[:20] + "…", f"a formula has at most {LONGEST} characters, this one {len(text)}")
    forbidden = _OTHER.search(text)
    if forbidden:
        raise _error(repr(text)[1:-1], f"{forbidden[0]!r} is not allowed", "as in phi*(1-r)")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _error(text, "it cannot be parsed", "as in phi*(1-r)") from None
    formula = _part(tree, text, MOST_NESTED)
    if formula.size > MOST_PARTS:
        raise _error(text, f"a formula has at most {MOST_PARTS} numbers, names and operators, this one {formula.size}")
    return formula


def _error(text: str, problem: str, hint: str = "") -> InputError:
    return InputError(f"formula '{text}'", problem, hint, usage=True)


def _part(node: ast.AST, text: str, depth: int) -> Formula:
    if not depth:
        raise _error(text, f"it is nested more than {MOST_NESTED} deep")

    def inner(child: ast.AST) -> Formula:
        return _part(child, text, depth - 1)

    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return Formula(_number(value, text))
        case ast.Name(id=name) if name not in FUNCTIONS:
            return Formula(name)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return Formula(function=_OPERATORS[type(op)], of=(inner(operand),))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            parts = (inner(left), inner(right))
            # Exponents that depend on the rank may be large, as in a decay.
            if (
                isinstance(op, ast.Pow)
                and not parts[1].names
                and not (power := abs(float(parts[1]({})))) <= HIGHEST_POWER
            ):
                raise _error(text, f"a power of {power:g} is too high", f"the highest is {HIGHEST_POWER}")
            return Formula(function=_OPERATORS[type(op)], of=parts)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return Formula(function=_OPERATORS[type(op)], of=(inner(left), inner(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            minimum, maximum, function = FUNCTIONS[name]
            if not minimum <= len(arguments) <= maximum:
                raise _error(text, f"{name} takes {minimum if minimum == maximum else f'{minimum} or more'} values")
            return Formula(function=function, of=tuple(map(inner, arguments)))
    source = ast.get_source_segment(text.strip(), node) if isinstance(node, ast.expr) else None
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    hint = did_you_mean(called, FUNCTIONS) if called else "write ** for powers" if "^" in (source or "") else ""
    allowed = f"allowed are numbers, names, + - * / **, comparisons, {' '.join(FUNCTIONS)}"
    raise _error(text, f"'{source or text}' is not allowed", hint or allowed)


def _number(value: float, text: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise _error(text, "it contains a number that is too large")
    return number
