"""`@cwl`: a measure is the chance C(i) of going on from rank i; everything else follows from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, overload

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.measures.cwl_family.quantities import Paths, at_horizon, paths, quantity, steps
from gradedeval.measures.cwl_family.walk import Continuation, counted, walk_of
from gradedeval.measures.definition import QUANTITIES, Cutoff, Definition, Measure, Own, Residual
from gradedeval.measures.gains import Gains
from gradedeval.measures.parameters import Valid

Rest = Callable[..., Any]


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
    key = (continuation, rest, cutoff, horizon, *parameters.items())
    if g.memo.get("paths", ((),))[0] != key:
        ranks = ("walk", cutoff, horizon)
        if ranks not in g.memo:
            g.memo[ranks] = walk_of(g, cutoff, horizon)
        walk = g.memo[ranks]
        ends = walk.closed or walk.k is not None
        left = 0.0 if ends else (rest or partial(counted, continuation))(walk, **parameters)
        g.memo["paths"] = (key, paths(walk, continuation(walk, **parameters), left))
    found: Paths = g.memo["paths"][1]
    return found


@overload
def cwl(continuation: Continuation, /) -> Measure: ...
@overload
def cwl(
    *,
    rest: Rest | None = ...,
    gain: str = ...,
    residual: Residual | Callable[[Own], Residual] = ...,
    cutoff: Cutoff = ...,
    fades: bool = ...,
    sated: bool | Callable[[Own], bool] = ...,
    valid: dict[str, Valid] | None = ...,
    unit: str = ...,
    needs: Callable[[Own, int | None], None] | None = ...,
    types: Callable[[Own], frozenset[bytes]] | None = ...,
) -> Callable[[Continuation], Measure]: ...


def cwl(
    continuation: Continuation | None = None,
    /,
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
    types: Callable[[Own], frozenset[bytes]] | None = None,
) -> Measure | Callable[[Continuation], Measure]:
    """Make a measure of a continuation function C(walk, *, parameters): the chance of going on from each rank.

    rest    how many ranks someone who reaches the first rank past the end will view, that one included, as a function
            of the walk and the parameters; without it C is looked at rank by rank, and the sum extrapolated
    cutoff  `needed` where k is a parameter of C; else W is that of the full depth, and summed to k
    fades   whether V tends to 0 where its sum is infinite
    types   the types of documents, column 2 of a run, that it knows, as a function of its parameters
    sated, unit, needs: see `measure`; each also takes `of` (eu, etu, ec, etc, ed) and `horizon`, where all sums stop
    """

    def define(continuation: Continuation) -> Measure:
        own = _parameters(continuation)
        defaults = {one.name: one.default for one in own if one.kind is one.KEYWORD_ONLY}

        def follow(g: Gains, horizon: int | None, parameters: dict[str, Any]) -> tuple[Paths, int | None]:
            found = followed(g, cutoff, horizon, continuation, rest, {**defaults, **parameters})
            return found, g.k if cutoff != "needed" else None

        def function(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> Floats:
            if parts := _in_parts(g, horizon or g.k or 0):
                return np.concatenate([function(part, of=of, horizon=horizon, **parameters) for part in parts])
            found, cut = follow(g, horizon, parameters)
            return quantity(found, of, cut, fades) if horizon is None else at_horizon(found, of, cut)

        def shows(g: Gains, *, of: str = "eu", horizon: int | None = None, **parameters: Any) -> dict[str, Floats]:
            found, cut = follow(g, horizon, parameters)
            return steps(found, g, of, cut, fades)

        _sign(function, continuation, own[: len(defaults)], own[len(defaults) :])
        given = ({**CHECKS, **(valid or {})}, unit, needs, types, shows)
        return Measure(Definition(function, "unit", gain, residual, cutoff, 1.0, "mean", sated, *given))

    return define if continuation is None else define(continuation)


def _parameters(continuation: Continuation) -> list[inspect.Parameter]:
    """What it takes beside the walk, by name. Raises TypeError where something could be given without one."""
    _, *own = inspect.signature(continuation).parameters.values()
    if any(one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in own):
        said = ", ".join(map(str, own))
        raise TypeError(f"parameters stand after a *: def {continuation.__name__}(walk, *, {said})")
    return own


def _sign(function: Any, continuation: Continuation, named: list[Any], others: list[Any]) -> None:
    """Give a measure's function the name, help and parameters of its continuation; what has no name comes last."""
    function.__name__, function.__doc__ = continuation.__name__, continuation.__doc__
    function.__module__ = continuation.__module__
    function.__signature__ = inspect.Signature([*SHARED[:1], *named, *SHARED[1:], *others])


FARTHEST, CELLS = 1 << 22, 1 << 22
"""The last rank that may be walked to one by one, and so many cells of topics × ranks are walked at once."""


def _in_parts(g: Gains, last: int) -> list[Gains]:
    """The topics in parts that are walked together down to a rank; none where all are."""
    each = topics_at_once(last)
    return [g.select(slice(at, at + each)) for at in range(0, len(g.gain), each)] if each < len(g.gain) else []


def topics_at_once(last: int) -> int:
    """How many topics are walked together down to a rank. Raises InputError where that is too far."""
    if last > FARTHEST:
        raise InputError("", f"rank {last:,} is too far to walk to", f"the last is {FARTHEST:,}")
    return max(1, CELLS // max(last, 1))


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
