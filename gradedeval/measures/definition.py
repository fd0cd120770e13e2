"""A measure as a value: a function of a batch of gains, with its parameters, gain scheme and cutoff."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from gradedeval.errors import Fault, nearest
from gradedeval.gains import Floats, Gains, Scale, read_scheme
from gradedeval.notation import Spelling, Value, read_value, write_value

Function = Callable[..., Floats]
Shows = Callable[..., Mapping[str, Floats]]
"""The workings of a measure, as a function of the gains and its parameters: column name -> topics × ranks. A column of
one rank more ends with what lies beyond the end, in sum; one called `contribution` is what each rank adds to the score,
where that is not the difference it makes to end the ranking there and not one rank before."""
Own = Mapping[str, Value]
"""The parameters that a measure was given."""
Valid = tuple[str, Callable[[Any], bool]]

Residual = Literal["endless", "retrieved", "none"]
"""`endless`: ranks past the end of the run could still score; `retrieved`: only retrieved documents can; `none`:
filling in the unjudged is no bound, so no residual is printed."""
Cutoff = Literal["stops", "renormalises", "summed", "needed", "none"]
"""`stops`: the sum stops at k and nothing else changes; `renormalises`: k also changes what the sum is divided by;
`summed`: weights of the full depth are summed to k; `needed`: a parameter of the measure; `none`: it takes none."""


@dataclass(frozen=True, eq=False)
class Definition:
    """What stands in the table of measures. See `measure` for the fields."""

    function: Function
    scale: Scale | None
    gain: str | None
    residual: Residual | Callable[[Own], Residual]
    cutoff: Cutoff
    ceiling: float
    summary: Literal["mean", "total"]
    sated: bool | Callable[[Own], bool] = False
    valid: Mapping[str, Valid] = field(default_factory=dict)
    unit: str = ""
    needs: Callable[[Own, int | None], None] | None = None
    types: Callable[[Own], bool] | None = None
    shows: Shows | None = None

    @property
    def name(self) -> str:
        return self.function.__name__.lower().rstrip("_")

    @property
    def open(self) -> bool:
        """Whether it takes numbers under any other name as well."""
        kinds = [one.kind for one in inspect.signature(self.function).parameters.values()]
        return inspect.Parameter.VAR_KEYWORD in kinds

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """Own parameters and their defaults: the keyword-only arguments of the function."""
        signature = inspect.signature(self.function)
        return {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}

    @property
    def walks(self) -> bool:
        """Whether it is of the C/W/L family, with five quantities."""
        return "of" in self.parameters

    @property
    def keys(self) -> list[str]:
        """Everything that may stand in the parentheses."""
        shared = ["rel"] if self.gain == "binary" else ["gain", "rel"] if self.scale else []
        return [*self.parameters, *shared]

    @property
    def paragraphs(self) -> list[str]:
        """The docstring: what it is, its formula, its source."""
        return [" ".join(part.split()) for part in (inspect.getdoc(self.function) or "").split("\n\n")]


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: `err @ 20`, `ndcg(gain="exp") @ 10`, `rbp(p=0.5)`. Prints as it is written.

    Calling it sets parameters, `@` sets the cutoff; both give a new value. `str` of it parses back.
    """

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def __call__(self, **parameters: Value) -> Measure:
        """The measure with parameters set. Raises Fault (usage) for a key or value that it does not take."""
        checked = {key: self._check(key, value) for key, value in parameters.items()}
        merged = {**dict(self.parameters), **checked}
        known = self.definition.keys
        order = [*(key for key in known if key in merged), *(key for key in merged if key not in known)]
        return replace(self, parameters=tuple((key, merged[key]) for key in order))

    def __matmul__(self, cutoff: int) -> Measure:
        """The measure cut at rank `cutoff`. Raises Fault (usage) where it takes none."""
        if self.definition.cutoff == "none":
            raise Fault(f"'{self.name}@{cutoff}'", f"{self.name} takes no cutoff", f"write {self.name}", usage=True)
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            raise Fault(f"'{self.name}@{cutoff}'", f"cutoff {cutoff} is no rank", "ranks count from 1", usage=True)
        return replace(self, cutoff=int(cutoff))

    def __str__(self) -> str:
        return str(Spelling(self.name, self.parameters, self.cutoff))

    def __repr__(self) -> str:
        return f"<measure {self}>"

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def rel(self) -> float | None:
        """The lowest relevant grade, where gains are 0 and 1: a binary measure, or `rel=` in a graded one."""
        given = dict(self.parameters).get("rel", 1 if self.definition.gain == "binary" else None)
        return None if given is None else float(given)  # type: ignore[arg-type]

    @property
    def gain(self) -> Value | None:
        """The gain scheme; None for a binary measure."""
        return dict(self.parameters).get("gain", None if self.definition.gain == "binary" else self.definition.gain)

    @property
    def residual(self) -> Residual:
        """How far its residual reaches. Of the C/W/L quantities only expected utility has one that is a bound."""
        if self.own.get("of", "eu") != "eu":
            return "none"
        residual = self.definition.residual
        return residual(self.own) if callable(residual) else residual

    @property
    def sated(self) -> bool:
        """Whether a better document moved up may lower its score."""
        sated = self.definition.sated
        return sated(self.own) if callable(sated) else sated

    @property
    def types(self) -> bool:
        """Whether it looks at the types of documents, column 2 of a run."""
        return self.definition.types is not None and self.definition.types(self.own)

    @property
    def own(self) -> dict[str, Value]:
        """The parameters that the function itself takes."""
        shared = ("gain", "rel") if self.definition.scale or self.definition.gain else ()
        return {key: value for key, value in self.parameters if key not in shared}

    def score(self, gains: Gains) -> Floats:
        """The score of every topic of a batch."""
        return self.definition.function(gains, **self.own)

    def workings(self, gains: Gains) -> dict[str, Floats]:
        """What the measure shows of its way to the score: see `Shows`. Nothing where it has no `shows`."""
        return dict(self.definition.shows(gains, **self.own)) if self.definition.shows else {}

    def complete(self) -> Measure:
        """This measure where it lacks nothing; Fault (usage) where it needs a cutoff, or other parameters."""
        if self.definition.cutoff == "needed" and self.cutoff is None:
            raise Fault(f"'{self}'", f"{self.name} needs a cutoff", f"write {self}@10", usage=True)
        if self.definition.needs is not None:
            self.definition.needs(self.own, self.cutoff)
        return self

    def _check(self, key: str, value: Value) -> Value:
        place = f"'{self.name}'"
        if isinstance(value, list):
            value = tuple(float(part) for part in value)
        if key == "g" and isinstance(value, int | float):
            value = (float(value),)
        if isinstance(value, float | tuple) and not np.isfinite(value).all():
            raise Fault(
                place, f"{key}={write_value(value)} is not finite", f"as in {key}={_example(self, key)}", usage=True
            )
        if key not in self.definition.keys and self.definition.open:
            if not isinstance(value, int | float):
                raise Fault(place, f"{key}={write_value(value)} is not a number", f"as in {key}=0.5", usage=True)
            return value
        if key not in self.definition.keys:
            cure = nearest(key, self.definition.keys) or (
                f"it takes {', '.join(self.definition.keys)}" if self.definition.keys else "it takes none"
            )
            raise Fault(place, f"no parameter '{key}'", cure, usage=True)
        if key == "gain":
            return read_scheme(read_value(value) if isinstance(value, str) else value, place)
        what, valid = self.definition.valid.get(key, _REL if key == "rel" else _kind(self.definition.parameters[key]))
        if key in self.definition.parameters and isinstance(self.definition.parameters[key], str):
            value = value if isinstance(value, str) else write_value(value)
        try:
            good = valid(value)
        except TypeError:
            good = False
        if not good:
            raise Fault(
                place, f"{key}={write_value(value)} is not {what}", f"as in {key}={_example(self, key)}", usage=True
            )
        return value


_REL: Valid = ("a grade above 0", lambda value: isinstance(value, int | float) and value > 0)


def _kind(default: Any) -> Valid:
    if isinstance(default, str):
        return "a word", lambda value: isinstance(value, str)
    return "a number", lambda value: isinstance(value, int | float)


def _example(measure: Measure, key: str) -> str:
    default = measure.definition.parameters.get(key, 1)
    return "1:1:2" if default is None and key == "g" else "2" if default is None else write_value(default)


@overload
def measure(function: Function, /) -> Measure: ...
@overload
def measure(
    *,
    gain: str | None = ...,
    scale: Scale | None = ...,
    residual: Residual | Callable[[Own], Residual] = ...,
    cutoff: Cutoff = ...,
    ceiling: float = ...,
    summary: Literal["mean", "total"] = ...,
    sated: bool | Callable[[Own], bool] = ...,
    valid: Mapping[str, Valid] | None = ...,
    unit: str = ...,
    needs: Callable[[Own, int | None], None] | None = ...,
    shows: Shows | None = ...,
) -> Callable[[Function], Measure]: ...


def measure(
    function: Function | None = None,
    /,
    *,
    gain: str | None = "binary",
    scale: Scale | None = None,
    residual: Residual | Callable[[Own], Residual] = "none",
    cutoff: Cutoff = "stops",
    ceiling: float = np.inf,
    summary: Literal["mean", "total"] = "mean",
    sated: bool | Callable[[Own], bool] = False,
    valid: Mapping[str, Valid] | None = None,
    unit: str = "",
    needs: Callable[[Own, int | None], None] | None = None,
    shows: Shows | None = None,
) -> Measure | Callable[[Function], Measure]:
    """Make a measure of a function from a batch of `Gains` to one score a topic.

    Its name is the function's, its parameters are the keyword-only arguments, its help is the docstring (what it is,
    formula, source: three paragraphs).

    gain      the default gain scheme, or `binary` (gains 0 and 1, parameter `rel`); None: it looks at no gain
    scale     `unit` for gains in [0, 1], `raw` for gains of any size; graded measures only
    residual  see `Residual`; say `none` unless no judgement of the unjudged can lift a score past score + residual; a
              function of the parameters where it depends on them
    cutoff    see `Cutoff`
    ceiling   the highest score there is
    summary   how topics are summed up
    sated     whether a better document moved up may lower the score: a good one can end the walk, or lower ranks weigh
              more; a function of the parameters where it depends on them
    valid     parameter -> (what it must be, test)
    unit      what is said where a parameter is a cost and no costs are given, as in `h is in seconds`
    needs     raises Fault (usage) where the parameters and the cutoff given are not enough
    shows     its workings, rank by rank, for `gradedeval explain`: see `Shows`
    """

    def define(function: Function) -> Measure:
        graded = None if gain in ("binary", None) else scale or "raw"
        rest = (residual, cutoff, ceiling, summary, sated, valid or {}, unit, needs)
        return Measure(Definition(function, graded, gain, *rest, shows=shows))

    return define(function) if function else define
