"""A measure as a value: a function of a batch of gains, with its parameters, gain scheme and cutoff."""

from __future__ import annotations

import importlib
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.measures.gain_schemes import Scale
from gradedeval.measures.gains import PRIOR, UNIFORM, Gains, is_prior
from gradedeval.measures.notation import IA, Spelling, Value, write_value
from gradedeval.measures.parameters import Valid, checked

Function = Callable[..., Floats]
Shows = Callable[..., Mapping[str, Floats]]
"""The workings of a measure, as a function of the gains and its parameters: column name -> topics × ranks. A column of
one rank more ends with what lies beyond the end, in sum; one called `contribution` is what each rank adds to the score,
where that is not the difference it makes to end the ranking one rank later."""
QUANTITIES = ("eu", "etu", "ec", "etc", "ed")
"""What C/W/L measures give: expected utility (per document), total utility, cost per document, total cost, depth."""

Own = Mapping[str, Value]
"""The parameters that a measure was given."""

Residual = Literal["endless", "retrieved", "none"]
"""`endless`: ranks past the end of the run could still score; `retrieved`: only retrieved documents can; `none`:
filling in the unjudged is no bound, so no residual is printed."""
Summary = Literal["mean", "total", "geometric"]
"""How the scores of topics are summed up; `geometric`: the geometric mean, where no score is less than 0.00001."""
Cutoff = Literal["stops", "renormalizes", "summed", "needed", "none"]
"""`stops`: the sum stops at k and nothing else changes; `renormalizes`: k also changes what the sum is divided by;
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
    summary: Summary
    sated: bool | Callable[[Own], bool] = False
    valid: Mapping[str, Valid] = field(default_factory=dict)
    unit: str = ""
    needs: Callable[[Own, int | None], None] | None = None
    types: Callable[[Own], frozenset[bytes]] | None = None
    shows: Shows | None = None
    intents: bool = False
    floor: float = 0.0
    rewards: bool = True
    sampled: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """As the measure of that name in its module: a copy is the same definition."""
        function = self.function
        if _defined(function.__module__, function.__name__) is not self:
            raise pickle.PicklingError(f"measure {self.name} cannot be imported from {function.__module__}")
        return _defined, (function.__module__, function.__name__)

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


def _defined(module: str, name: str) -> Definition | None:
    """What a measure that a module defines is of."""
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None
    return found.definition if isinstance(found, Measure) else None


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: `err @ 20`, `ndcg(gain="exp") @ 10`, `rbp(p=0.5)`. Prints as it is written.

    Calling it sets parameters, `@` sets the cutoff; both give a new value. `str` of it parses back. With a `prior`,
    uniform or a file, it is the mean over the intents of a topic: see `intent_aware`.
    """

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    prior: str | None = None

    def __call__(self, **parameters: Value) -> Measure:
        """The measure with parameters set. Raises InputError (usage) for a key or value that it does not take."""
        given = {key: checked(self.definition, key, value) for key, value in parameters.items()}
        merged = {**dict(self.parameters), **given}
        known = self.definition.keys
        order = [*(key for key in known if key in merged), *(key for key in merged if key not in known)]
        return replace(self, parameters=tuple((key, merged[key]) for key in order))

    def __matmul__(self, cutoff: int) -> Measure:
        """The measure cut at rank `cutoff`. Raises InputError (usage) where it takes none."""
        if self.definition.cutoff == "none":
            raise InputError(
                f"'{self.name}@{cutoff}'", f"{self.name} takes no cutoff", f"write {self.name}", usage=True
            )
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            raise InputError(f"'{self.name}@{cutoff}'", f"cutoff {cutoff} is no rank", "ranks count from 1", usage=True)
        return replace(self, cutoff=int(cutoff))

    def __str__(self) -> str:
        own = Spelling(self.name, self.parameters, self.cutoff)
        if self.prior is None:
            return str(own)
        return str(Spelling(IA, () if self.prior == UNIFORM else (("prior", self.prior),), None, own))

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
    def types(self) -> frozenset[bytes]:
        """The types of documents, column 2 of a run, that it knows; none where it looks at no type."""
        return self.definition.types(self.own) if self.definition.types is not None else frozenset()

    @property
    def own(self) -> dict[str, Value]:
        """The parameters that the function itself takes."""
        shared = ("gain", "rel") if self.definition.scale or self.definition.gain else ()
        return {key: value for key, value in self.parameters if key not in shared}

    @property
    def by_intent(self) -> bool:
        """Whether it is a function of the batch by intent."""
        return self.prior is not None or self.definition.intents

    @property
    def merely_stops(self) -> bool:
        """Whether the cutoff ends the sum and changes nothing else: without it the score is on the same scale."""
        return self.definition.cutoff in ("stops", "summed") and self.own.get("norm", "none") == "none"

    def score(self, gains: Gains) -> Floats:
        """The score of every topic of a batch."""
        if self.prior is None or gains.intents is None:
            return self.definition.function(gains, **self.own)
        scores = [self.definition.function(one, **self.own) for one in gains.intents.each]
        ceiling = self.definition.ceiling if gains.intents.best else np.inf
        return gains.intents.marginal([np.minimum(score, ceiling) for score in scores])

    def workings(self, gains: Gains) -> dict[str, Floats]:
        """What the measure shows of its way to the score: see `Shows`. Nothing where it has no `shows`."""
        return dict(self.definition.shows(gains, **self.own)) if self.definition.shows else {}

    def complete(self) -> Measure:
        """This measure where it lacks nothing; InputError (usage) where it needs a cutoff, or other parameters."""
        if self.definition.cutoff == "needed" and self.cutoff is None:
            raise InputError(f"'{self}'", f"{self.name} needs a cutoff", f"write {self}@10", usage=True)
        if self.definition.needs is not None:
            self.definition.needs(self.own, self.cutoff)
        return self


def intent_aware(measure: Measure, prior: str = UNIFORM) -> Measure:
    """The mean of a measure over the intents of each topic: `ia(err @ 20)`, in notation `ia(err@20)`.

    prior  the probabilities of the intents: `uniform` over those that have a relevant document, or `@FILE` with lines
           of topic, subtopic and probability

    Raises InputError (usage) where the measure is averaged over intents already, or is one that intents do not change.
    Agrawal et al., WSDM 2009; Chapelle et al., CIKM 2009, section 7.4.
    """
    if not isinstance(measure, Measure):
        raise InputError("ia", f"{measure!r} is no measure", "ia(err @ 20), or in notation 'ia(err@20)'", usage=True)
    place, definition = f"'{IA}({measure})'", measure.definition
    if measure.by_intent:
        what = f"{measure} is a mean over intents already" if measure.prior else f"{measure.name} looks at all intents"
        raise InputError(place, what, f"write {measure}", usage=True)
    if definition.gain is None or definition.summary == "total":
        what = "counts documents" if definition.summary == "total" else "looks at no gain"
        raise InputError(place, f"{measure.name} {what}: it has no mean over intents", f"write {measure}", usage=True)
    if not is_prior(prior):
        raise InputError(place, f"prior={write_value(prior)} is not {PRIOR}", f"write {IA}({measure})", usage=True)
    return replace(measure, prior=prior)


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
    summary: Summary = ...,
    sated: bool | Callable[[Own], bool] = ...,
    valid: Mapping[str, Valid] | None = ...,
    unit: str = ...,
    needs: Callable[[Own, int | None], None] | None = ...,
    shows: Shows | None = ...,
    intents: bool = ...,
    floor: float = ...,
    rewards: bool = ...,
    sampled: bool = ...,
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
    summary: Summary = "mean",
    sated: bool | Callable[[Own], bool] = False,
    valid: Mapping[str, Valid] | None = None,
    unit: str = "",
    needs: Callable[[Own, int | None], None] | None = None,
    shows: Shows | None = None,
    intents: bool = False,
    floor: float = 0.0,
    rewards: bool = True,
    sampled: bool = False,
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
    needs     raises InputError (usage) where the parameters and the cutoff given are not enough
    shows     its workings, rank by rank, for `gradedeval explain`: see `Shows`
    intents   whether it is a function of `Gains.intents`, the batch by intent
    floor     the lowest score there is
    rewards   whether relevant documents alone make the score; False where the others count too
    sampled   whether it takes grade −1, where that counts as unjudged, for pooled and left out of the sample
    """

    def define(function: Function) -> Measure:
        graded = None if gain in ("binary", None) else scale or "raw"
        rest = (residual, cutoff, ceiling, summary, sated, valid or {}, unit, needs)
        return Measure(Definition(function, graded, gain, *rest, None, shows, intents, floor, rewards, sampled))

    return define(function) if function else define
