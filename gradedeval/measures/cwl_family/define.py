"""`@cwl`: a measure is its continuation probability C(i), the chance of going on from rank i; all else follows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.measures.cwl_family.quantities import Viewing, quantity, quantity_details, view_probabilities
from gradedeval.measures.cwl_family.user_state import Continuation, ranks_viewed_past_end, user_state
from gradedeval.measures.decorator import decorator
from gradedeval.measures.definition import QUANTITIES, Definition, Measure
from gradedeval.measures.gains import Gains
from gradedeval.measures.parameters import Check
from gradedeval.measures.properties import Arguments, CWLProperties, Properties, RankSum

DEEPEST, CELLS = 1 << 22, 1 << 22
"""The deepest horizon, and how many cells of topics × ranks are evaluated at once."""

# What every C/W/L measure takes beside its own parameters.
GAINS = inspect.Parameter("g", inspect.Parameter.POSITIONAL_OR_KEYWORD)
SHARED = (
    inspect.Parameter("of", inspect.Parameter.KEYWORD_ONLY, default="eu"),
    inspect.Parameter("horizon", inspect.Parameter.KEYWORD_ONLY, default=None),
)
CHECKS = {
    "of": Check(f"one of {', '.join(QUANTITIES)}", lambda of: of in QUANTITIES),
    "horizon": Check(f"a rank from 1 to {DEEPEST:,}", lambda rank: isinstance(rank, int) and 1 <= rank <= DEEPEST),
}


@decorator(CWLProperties)
def cwl(continuation: Continuation, **keywords: Any) -> Measure:
    """Make a measure of a continuation function C(state, *, parameters): the chance of going on from each rank.

    The state is a `UserState`. Beside the parameters of C the measure takes `of` (eu, etu, ec, etc, ed) and `horizon`,
    the rank at which all sums end. A cutoff only ends the sum: W is that of the full depth, unless the cutoff is
    `required`; then it is `state.k`. Whatever else is to be said of the measure is a keyword:
    """
    properties = CWLProperties(**keywords)
    named, others = _parameters(continuation)
    defaults = {parameter.name: parameter.default for parameter in named}

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

    # Only where the score is linear in the gains is W that of every ranking.
    rank_sum = RankSum("gain", weights) if properties.over_ties else None
    update_wrapper(function, continuation)
    signature = inspect.Signature([GAINS, *named, *SHARED, *others])
    function.__signature__ = signature  # type: ignore[attr-defined]
    shared = {field.name: getattr(properties, field.name) for field in fields(Properties)}
    shared["checks"] = {**CHECKS, **(properties.checks or {})}
    shared["validate"] = partial(_validate, continuation.__name__.rstrip("_"), properties.validate)
    return Measure(Definition(function=function, cwl=properties, details=details, rank_sum=rank_sum, **shared))


def _validate(
    name: str, validate: Callable[[Arguments, int | None], None] | None, arguments: Arguments, cutoff: int | None
) -> None:
    """Raise InputError (usage) for a cutoff with more ranks than are viewed one by one, and as `validate` does."""
    if cutoff is not None and cutoff > DEEPEST:
        hint = f"the maximum cutoff or horizon is {DEEPEST:,}"
        raise InputError(f"'{name}@{cutoff}'", "is too deep", hint, usage=True)
    if validate is not None:
        validate(arguments, cutoff)


def _viewing(
    g: Gains, properties: CWLProperties, horizon: int | None, continuation: Continuation, parameters: dict[str, Any]
) -> Viewing:
    """V of every rank; past the end by a closed form, or extrapolated where there is none.

    That found last is kept, for another quantity of the same measure.
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
    """The parameters of C by name, and `**others`. Raises TypeError where one could be given by position."""
    _, *parameters = inspect.signature(continuation).parameters.values()
    named = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    others = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    if len(named) + len(others) < len(parameters):
        listed = ", ".join(map(str, parameters))
        raise TypeError(f"parameters must follow a *: def {continuation.__name__}(state, *, {listed})")
    return named, others


def _in_parts(g: Gains, last: int) -> list[Gains]:
    """The topics in parts that are evaluated together down to rank `last`; none where one part holds all."""
    size = topics_at_once(last)
    return [g.select(slice(i, i + size)) for i in range(0, len(g.gain), size)] if size < len(g.gain) else []


def topics_at_once(last: int) -> int:
    """How many topics are evaluated together down to a rank. Raises InputError where that is too deep."""
    if last > DEEPEST:
        raise InputError("", f"rank {last:,} is too deep", f"the maximum cutoff or horizon is {DEEPEST:,}")
    return max(1, CELLS // max(last, 1))
