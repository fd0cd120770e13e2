"""A measure as a value: a function of a batch of gains, with its parameters, gain scheme and cutoff."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal, Protocol, cast, overload

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.errors import InputError, NotImportable, redacted
from gradedeval.measures.decorator import decorator
from gradedeval.measures.gains import Gains
from gradedeval.measures.notation import IA, LAST_CUTOFF, UNIFORM, Spelling, Value, cutoff_too_large
from gradedeval.measures.parameters import Parameters
from gradedeval.measures.properties import Better, CWLProperties, MeasureProperties, RankSum, Reading, Residual, Rule

ArrayTies = Literal["file", "best", "worst", "average"]
"""Orders of documents with equal scores that need no docnos; `file`: as arrays list them."""

QUANTITIES = ("eu", "etu", "ec", "etc", "ed")
"""What C/W/L measures give: expected utility (per document), total utility, cost per document, total cost, depth."""
# Less cost is better; a user who looks deeper is neither better nor worse off.
BETTER_QUANTITY: dict[Value, Better] = {"ec": "lower", "etc": "lower", "ed": "neither"}


@dataclass(kw_only=True, repr=False, eq=False)
class Definition(MeasureProperties):
    """A measure as it stands in the table: its function, and what it states about itself.

    function  from a batch of `Gains`, and its parameters by keyword, to one score per topic
    cwl       its C/W/L part; None outside that family
    """

    function: Callable[..., Floats]
    cwl: CWLProperties | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """As the measure of that name in its module: a copy is the same definition."""
        module, name = self.function.__module__, self.function.__name__
        if getattr(getattr(sys.modules.get(module), name, None), "definition", None) is not self:
            raise NotImportable(os.path.basename(inspect.getfile(inspect.unwrap(self.function))), name)
        return _defined, (module, name)

    @property
    def name(self) -> str:
        return self.function.__name__.lower().rstrip("_")

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The keyword-only arguments of the function and their defaults."""
        signature = inspect.signature(self.function)
        return {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}

    @property
    def gain_parameters(self) -> tuple[str, ...]:
        """The parameters that say what grades are worth."""
        if self.scale is None:
            return ("rel",) if self.gain == "binary" else ()
        return ("g", "gain", "rel") if self.scale == "thresholds" else ("gain", "rel")

    @cached_property
    def accepted(self) -> Parameters:
        """What may stand in the parentheses."""
        kinds = {parameter.kind for parameter in inspect.signature(self.function).parameters.values()}
        others = inspect.Parameter.VAR_KEYWORD in kinds
        return Parameters(f"'{self.name}'", self.parameters, self.gain_parameters, self.checks or {}, others)

    @property
    def cost_unit(self) -> str:
        """What to say of a parameter that is a cost, as in `h is in seconds`."""
        return self.cwl.cost_unit if self.cwl is not None else ""

    @property
    def paragraphs(self) -> list[str]:
        """The docstring: what it is, its formula, its source, and nothing else. Blank where it does not say."""
        return [" ".join(part.split()) for part in (*self._docstring.split("\n\n"), "", "")][:3]

    @property
    def meanings(self) -> dict[str, str]:
        """What each parameter means, as the lines `name  meaning` of the docstring say."""
        named = re.findall(r"^(\w+) {2,}(\S.*(?:\n +.*)*)", self._docstring, re.M)
        return {name: " ".join(meaning.split()) for name, meaning in named if name in self.parameters}

    @property
    def _docstring(self) -> str:
        return cast(str, importlib.import_module("gradedeval.measures.docstrings").docstring(self.function))


def _defined(module: str, name: str) -> Definition:
    """The definition of the measure that a module has under that name. Raises NotImportable."""
    try:
        return cast(Definition, getattr(importlib.import_module(module), name).definition)
    except (ImportError, AttributeError):
        raise NotImportable(module, name) from None


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: `err @ 20`, `ndcg(gain="exp") @ 10`, `rbp(p=0.5)`. Prints as it is written.

    Calling it sets parameters, `@` sets the cutoff; both return a new value. `str` of it parses back. With a `prior`,
    uniform or a file, it is the mean over the intents of a topic: see `intent_aware`. `asked` is how it was written,
    as in `map` for ap, every way once; measures are equal however they were written.

    Called with arrays it gives scores, as in `(ndcg @ 10)(y_true, y_score)`: a float for one topic (documents), an
    array of one score per topic for several of the same length (topics × documents).

    y_true     the grade of each document; nan where it is not judged. All that is relevant to the topic is among them
    y_score    the score of each document, finite; the highest ranks first
    ties       documents with equal scores: `file`, in the order of the arrays; so that the score is the `best` or the
               `worst`; the `average` over all orders. None: `file`, with an `EvaluationWarning` where it matters
    top_grade  the top grade of the scale, for gains that depend on it; None: the highest in `y_true`, with an
               `EvaluationWarning` where that is one topic

    Raises InputError for anything else, and for measures that need intents, strata or types.
    """

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    prior: str | None = None
    asked: tuple[str, ...] = field(default=(), compare=False)

    @overload
    def __call__(self, /, **parameters: Value) -> Measure: ...
    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        /,
        *,
        ties: ArrayTies | None = None,
        top_grade: float | None = None,
        **parameters: Value,
    ) -> Any: ...
    def __call__(self, /, *arrays: Any, **parameters: Any) -> Any:
        """The measure with parameters set, or its scores of arrays. Raises InputError (usage) for an unknown parameter
        or a wrong value."""
        if not parameters and not arrays:
            return self
        if array := next((name for name in ("y_true", "y_score") if name in parameters), ""):
            hint = f"write {self.name}(y_true, y_score), without names"
            raise InputError(f"'{self}'", f"{array} is given by name", hint, usage=True)
        if arrays:
            return self._score_arrays(arrays, parameters)
        accepted = self.definition.accepted
        given = {name: accepted.read(name, value) for name, value in parameters.items()}
        merged = {**dict(self.parameters), **given}
        known = accepted.names
        order = [*(name for name in known if name in merged), *(name for name in merged if name not in known)]
        return replace(self, parameters=tuple((name, merged[name]) for name in order), asked=())

    def _score_arrays(self, arrays: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if len(arrays) != 2:
            what = f"called with {len(arrays)} arrays" if len(arrays) > 2 else "called with one array"
            raise InputError(f"'{self}'", what, "expected grades and scores: (y_true, y_score)", usage=True)
        ties, top_grade = keywords.pop("ties", None), keywords.pop("top_grade", None)
        return _score_arrays()(self(**keywords) if keywords else self, *arrays, ties, top_grade)

    def __matmul__(self, cutoff: int) -> Measure:
        """The measure cut at rank `cutoff`. Raises InputError (usage) where it takes none."""
        place = f"'{self.name}@{cutoff}'"
        if self.definition.cutoff == "none":
            raise InputError(place, f"{self.name} takes no cutoff", f"write {self.name}", usage=True)
        if isinstance(cutoff, bool) or not isinstance(cutoff, int | np.integer) or cutoff < 1:
            raise InputError(place, f"invalid cutoff {cutoff}", "cutoffs start at 1", usage=True)
        if cutoff > LAST_CUTOFF:
            raise cutoff_too_large(place, str(cutoff))
        return replace(self, cutoff=int(cutoff), asked=())

    def __str__(self) -> str:
        spelling = Spelling(self.name, self.parameters, self.cutoff)
        if self.prior is None:
            return str(spelling)
        return str(Spelling(IA, () if self.prior == UNIFORM else (("prior", self.prior),), None, spelling))

    __repr__ = __str__

    @property
    def label(self) -> str:
        """What tables and results call it: as it was written first, or `str` of it."""
        return redacted(self.asked[0]) if self.asked else str(self)

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def rel(self) -> float | None:
        """The lowest relevant grade, where gains are 0 and 1: a binary measure, or `rel=` in a graded one."""
        given = dict(self.parameters).get("rel", 1 if self.definition.gain == "binary" else None)
        return None if given is None else float(cast(float, given))

    @property
    def gain(self) -> Value | None:
        """The gain scheme; None for a binary measure."""
        return dict(self.parameters).get("gain", None if self.definition.gain == "binary" else self.definition.gain)

    @property
    def threshold_shares(self) -> tuple[float, ...] | None:
        """The share of users whose threshold is each grade, where the measure was given them: `gap(g=1:1:2)`."""
        shares = dict(self.parameters).get("g") if self.definition.scale == "thresholds" else None
        return shares if isinstance(shares, tuple) else None

    @property
    def residual(self) -> Residual:
        """What its residual covers. Of the C/W/L quantities only expected utility has one that is a bound."""
        if self.arguments.get("of", "eu") != "eu":
            return "none"
        residual = self.definition.residual
        return residual(self.arguments) if callable(residual) else residual

    @property
    def bounds(self) -> Rule:
        """How the bounds of its scores come about; `none` where it has no residual."""
        rule = self.definition.bounds if self.residual != "none" else "none"
        return rule(self.arguments) if callable(rule) else rule

    @property
    def monotone(self) -> bool:
        """Whether a better document moved up never lowers its score."""
        monotone = self.definition.monotone
        return monotone(self.arguments) if callable(monotone) else monotone

    @property
    def rank_sum(self) -> RankSum | None:
        """Its score as a sum over ranks; None where it is none, as of the C/W/L quantities but expected utility."""
        return self.definition.rank_sum if self.arguments.get("of", "eu") == "eu" else None

    @property
    def reading(self) -> Reading:
        """What sums its scores up over topics, and which of two is better."""
        definition = self.definition
        of = self.arguments.get("of", "eu") if definition.cwl else "eu"
        return Reading(definition.summary, BETTER_QUANTITY.get(of, definition.better))

    @property
    def types(self) -> frozenset[bytes]:
        """The document types, column 2 of a run, that it distinguishes; none where it ignores them."""
        cwl = self.definition.cwl
        return cwl.types(self.arguments) if cwl is not None and cwl.types is not None else frozenset()

    @property
    def arguments(self) -> dict[str, Value]:
        """The parameters that the function itself takes."""
        return {name: value for name, value in self.parameters if name not in self.definition.gain_parameters}

    @property
    def files(self) -> list[str]:
        """The values of the parameters that may name files, on whose content its scores then depend."""
        check = self.definition.accepted.check
        return [str(value) for name, value in self.arguments.items() if check(name).names_file]

    @property
    def by_intent(self) -> bool:
        """Whether it is a function of the batch by intent."""
        return self.prior is not None or self.definition.intents

    @property
    def only_truncates(self) -> bool:
        """Whether the cutoff ends the sum and changes nothing else: without it the score is on the same scale."""
        truncates = self.definition.cutoff in ("truncates", "sums_to_k")
        return truncates and self.arguments.get("norm", "none") == "none"

    def score(self, gains: Gains) -> Floats:
        """The score of each topic of a batch."""
        if self.prior is None or gains.intents is None:
            return self.definition.function(gains, **self.arguments)
        scores = [self.definition.function(intent, **self.arguments) for intent in gains.intents.each]
        ceiling = self.definition.ceiling if gains.intents.best else np.inf
        return gains.intents.marginal([np.minimum(score, ceiling) for score in scores])

    def details(self, gains: Gains) -> dict[str, Floats]:
        """Column name -> topics × ranks: how it comes to its score. Empty where the measure defines no details."""
        return dict(self.definition.details(gains, **self.arguments)) if self.definition.details else {}

    def complete(self) -> Measure:
        """The measure itself. Raises InputError (usage) where it lacks a cutoff or a parameter that it requires."""
        if self.definition.cutoff == "required" and self.cutoff is None:
            raise InputError(f"'{self}'", f"{self.name} needs a cutoff", f"write {self}@10", usage=True)
        if self.definition.validate is not None:
            self.definition.validate(self.arguments, self.cutoff)
        return self


class ForeignMeasure(Protocol):
    """A measure of ir_measures, which prints as it is written there."""

    SUPPORTED_PARAMS: dict[str, Any]


AnyMeasure = str | Measure | ForeignMeasure
"""Whatever says which measure is meant; text may name several."""


@cache
def _score_arrays() -> Callable[..., Any]:
    """What scores arrays: it builds on this module, and few evaluations need it."""
    function: Callable[..., Any] = importlib.import_module("gradedeval.measures.on_arrays").score_arrays
    return function


@decorator(MeasureProperties)
def measure(function: Callable[..., Floats], **properties: Any) -> Measure:
    """Make a measure of a function from a batch of `Gains` to one score per topic.

    Its name is the function's, its parameters are the keyword-only arguments, its help is the docstring: what it is,
    formula and source, in three paragraphs, and lines of `name  meaning` for its parameters. Whatever else is to be
    said of it is a keyword:
    """
    return Measure(Definition(function=function, **properties))
