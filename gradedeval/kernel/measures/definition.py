"""Measures as values: functions of a batch of gains with parameters, a gain scheme and a cutoff; their table."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, Protocol, TypeAlias, cast, overload

from gradedeval.arrays import Floats, np
from gradedeval.errors import InputError, NotImportable, did_you_mean, redacted
from gradedeval.kernel.measures.notation import IA, LAST_CUTOFF, UNIFORM, Spelling, Value, cutoff_too_large, plain_value

if TYPE_CHECKING:
    from gradedeval.kernel.measures.cwl_family.formula import CWLProperties
    from gradedeval.kernel.measures.gains import Gains, Scale
    from gradedeval.kernel.measures.parameters import Parameters

# Valid values of the parameters in a measure's parentheses.


class Check(NamedTuple):
    """The values that a parameter may have.

    expected    a description that completes "is not …"
    test        a function that returns whether a value is valid
    names_file  whether a value may name a file, whose content the scores then depend on
    example     a valid value, for parameters without a default
    """

    expected: str
    test: Callable[[Any], bool]
    names_file: bool = False
    example: str = "2"


Checks = Mapping[str, Check | tuple[str, Callable[[Any], bool]]]

NUMBER = Check("a number", lambda value: isinstance(value, int | float))
POSITIVE = Check("a number above 0", lambda value: value > 0)
NOT_NEGATIVE = Check("0 or more", lambda value: value >= 0)
BELOW_1 = Check("in [0, 1)", lambda value: 0 <= value < 1)
UP_TO_1 = Check("in (0, 1]", lambda value: 0 < value <= 1)
SHARE = Check("in [0, 1]", lambda value: 0 <= value <= 1)
WORD = Check("a word", lambda value: isinstance(value, str))
BY_CUTOFF = {"norm": Check("k", lambda value: value == "k", example="k")}

# The parameters that determine gains: every measure that reads gains takes some of them.
GAIN_CHECKS = {
    "g": Check(
        "a list of shares from 0 up, as in 1:1:2", lambda g: isinstance(g, tuple) and min(g) >= 0 < sum(g) < np.inf
    ),
    "gain": Check("a gain scheme", lambda value: True),  # `read_scheme` checks it, with better messages
    "rel": Check("a grade above 0", POSITIVE.test),
}


def needs_cutoff(name: str) -> Callable[[Mapping[str, Value], int | None], None]:
    """Return a check of arguments that raises InputError (usage) for norm=k without a cutoff."""

    def check(arguments: Mapping[str, Value], cutoff: int | None) -> None:
        if arguments.get("norm") == "k" and cutoff is None:
            problem = "norm=k needs a cutoff: it divides by the smaller of R and k"
            raise InputError(f"'{name}'", problem, f"as in {name}(norm=k)@10", usage=True)

    return check


# Properties of a measure: the keywords of `@measure` and `@cwl`, each defined here and only here.


Arguments = Mapping[str, Value]
"""Values of a measure's parameters, by name."""

Cutoff = Literal["truncates", "renormalizes", "sums_to_k", "required", "none"]
Residual = Literal["beyond_run", "within_run", "from_bounds", "none"]
Summary = Literal["mean", "total", "geometric"]
Better = Literal["higher", "lower", "neither"]


ALL = "all"
"""The topic name in the row of a summary."""

LEAST = 0.00001
"""The lowest score in a geometric mean, as in trec_eval: a topic at 0 would make the mean 0."""


class Reading(NamedTuple):
    """How scores by a measure are read: their summary over topics, and which of two scores is better."""

    summary: Summary = "mean"
    better: Better = "higher"

    @property
    def sign(self) -> int:
        """The factor that makes higher scores better: 1 or −1."""
        return -1 if self.better == "lower" else 1

    def summarize(self, scores: Floats, weights: Floats | None = None) -> Floats:
        """Return the summary of scores over topics, the last axis; nan without topics, or if all weigh 0."""
        if weights is not None:
            heavy = weights > 0  # a topic that weighs nothing may have an infinite cost
            total = np.float64(weights.sum()) if heavy.any() else np.nan
            return self.of_mean(self.tested(scores[..., heavy]) @ weights[heavy] / total, scores.shape[-1])
        if not scores.shape[-1]:
            return np.full(scores.shape[:-1], np.nan)
        if self.summary == "total":
            return np.asarray(scores.sum(-1))
        if self.summary == "geometric":
            return self.of_mean(np.add.reduce(self.tested(scores), axis=-1) / scores.shape[-1], scores.shape[-1])
        mean: Floats = np.add.reduce(scores, axis=-1) / scores.shape[-1]
        return mean

    def summarize_rises(self, scores: Floats, rises: Floats, weights: Floats | None = None) -> Floats:
        """Return the rise of the summary if each topic's score rose by `rises`: a residual, or a part of it."""
        if self.summary == "geometric":
            return self.summarize(scores + rises, weights) - self.summarize(scores, weights)
        return self.summarize(rises, weights)

    def tested(self, scores: Floats) -> Floats:
        """Return the values of topics whose mean is tested: logarithms for a geometric mean, else the scores.

        A difference of mean logarithms is the logarithm of the ratio of the geometric means.
        """
        return np.log(np.maximum(scores, LEAST)) if self.summary == "geometric" else scores

    def of_mean(self, mean: Floats, topics: int) -> Floats:
        """Convert a mean of `tested` values to a summary; a mean difference to a difference, or to a ratio."""
        return mean * topics if self.summary == "total" else np.exp(mean) if self.summary == "geometric" else mean


@dataclass(eq=False, repr=False)
class RankingWeights:
    """Weights W(i) that depend on the ranking: Σ_i W(i) [gain_i > 0] is the score.

    function  a function of the gains and the parameters that returns topics × ranks
    over      the divisor of the weights, a function of the same that returns topics; weights over 0 are 0
    finite    whether the weights of all ranks sum to the score
    """

    function: Callable[..., Floats]
    over: Callable[..., Any] | None = None
    finite: bool = False

    def at_ranks(self, g: Any, arguments: Arguments) -> Floats:
        """Return the weights of the ranks of a batch of gains: topics × ranks."""
        weights = self.function(g, **arguments)
        if self.over is None:
            return weights
        total = np.reshape(self.over(g, **arguments), (-1, 1))
        return np.where(total > 0, weights / np.maximum(total, 1), 0.0)


@dataclass(eq=False, repr=False)
class RankSum:
    """A score as a sum over the ranks, with weights that no order of the documents changes.

    of       the weighted quantity: the document's `gain`; the probability that a user stops there (`stop`), if gains
             are probabilities of satisfaction; or graded `precision`: 1/n Σ_{m≤n} min(gain_m, gain_n)
    weights  a function of the gains and the parameters that returns topics × ranks, or ranks; None: 1 each
    over     the divisor of the weights, a function of the same that returns topics, or a number; weights over 0 are 0
    pool     the source of the divisor, if judging changes it: the score of the pool's `ideal` ranking down to the
             cutoff, or the sum of the gains of `relevant` documents; then the weights depend on the rank alone
    """

    of: Literal["gain", "stop", "precision"]
    weights: Callable[..., Any] | None = None
    over: Callable[..., Any] | None = None
    pool: Literal["", "ideal", "relevant"] = ""

    def at_ranks(self, g: Any, arguments: Arguments) -> Floats:
        """Return the weights of the ranks of a batch of gains: topics × ranks."""
        weights = np.zeros(g.gain.shape) + (1.0 if self.weights is None else self.weights(g, **arguments))
        if self.over is None:
            return weights
        total = np.reshape(self.over(g, **arguments), (-1, 1))
        return np.divide(weights, total, out=np.zeros(weights.shape), where=np.broadcast_to(total > 0, weights.shape))


@dataclass(eq=False, repr=False)
class Bounds:
    """The lowest and the highest possible score over all judgments of the unjudged documents: for `--bounds`.

    function  a function of the gains and the parameters that returns the lowest and the highest score of each topic, or
              its name in `gradedeval.kernel.measures.bounds`, which is then imported only if bounds are requested
    exact     whether both are reached; `binary`: if gains are 0 and 1
    but       which bounds are reached, in words, if not both are
    of_scale  whether they depend on the gains of grades that occur nowhere: `Gains.levels` then includes them
    over_ties  whether it also handles the documents of a run with ties one by one, for scores that are means over their
              orders: `Gains.first` is set then, and the columns go on below the cutoff
    """

    function: Callable[..., tuple[Floats, Floats]] | str
    exact: bool | Literal["binary"] = True
    but: str = ""
    of_scale: bool = False
    over_ties: bool = False


Rule = Bounds | Literal["rises", "intents", "counts", "none"]
"""How the bounds of a score are computed: see `Properties`."""


@dataclass(init=False, repr=False, eq=False, kw_only=True)
class Properties:
    """The judgments that a measure reads.

    gain     the default gain scheme, or `binary` (gains 0 and 1, parameter `rel`); None: the measure reads no gains
    scale    `unit` for gains in [0, 1], `raw` (the default) for gains of any size; graded measures only
    intents  whether it is a function of `Gains.intents`, the batch by intent
    judged   whether it distinguishes documents judged not relevant from unjudged ones
    ratio    whether a common factor of all gains leaves the score unchanged

    The effect of a cutoff, the meaning of the residual, and the range of scores.

    cutoff     `truncates`: the sum stops at k and nothing else changes; `renormalizes`: k also changes the divisor;
               `sums_to_k`: the weights are those of the full depth, summed to k; `required`: k is a parameter of the
               measure, which has no score without it; `none`: the measure takes no cutoff
    residual   `beyond_run`: ranks past the end of the run could still add to the score; `within_run`: only retrieved
               documents could; `from_bounds`: as `within_run`, but judging also changes the divisor, so the residual is
               the highest score of `bounds` minus the score; `none`: no residual is printed, because filling in the
               unjudged documents gives no bound: some judgment of them can lift a score above score + residual; or a
               function of the arguments
    bounds     the range of scores that judging unjudged documents can lead to: `rises`: between the score and score +
               residual; `intents`: the same for each intent, if the score is their mean; `counts`: the score follows
               from the numbers of relevant documents retrieved and in total (`Gains.num_relevant`), rises with the
               first, falls with the second, and does not fall if both grow by one; `Bounds` for others; `none`; or a
               function of the arguments. A measure without residual has none
    floor      the lowest possible score
    ceiling    the highest possible score
    over_ties  whether `--ties average` gives its mean over all orders of tied documents: the score is linear in the
               gains, which are then mean gains, or its function reads `Gains.first`
    summary    how topics are summarized: `mean`, `total`, or `geometric`: the geometric mean, with scores below
               0.00001 raised to that
    better     whether `higher` scores are better, `lower` ones, or `neither`; of a C/W/L measure, expected utility

    The valid parameters.

    checks    parameter -> (description of valid values; function that tests a value): see `Check`
    validate  a function of the arguments and the cutoff that raises InputError (usage) if together they are incomplete
              or contradict each other

    Exceptions for tests of all measures at once.

    monotone              whether a better document moved up never lowers the score; False if a good document can end
                          the search, or lower ranks weigh more; or a function of the arguments
    relevance_only        whether relevant documents alone make the score
    uses_strata           whether it needs the strata of a sample, `Gains.sample`
    takes_fill            whether unjudged documents may have gains in it: see --fill
    may_skip              whether it scores some topics only: it returns nan for the others, which are in no mean
    reads_scores          whether it reads `Gains.highest`, the highest score of a topic; or a function of the
                          arguments
    uses_unsampled        whether it reads grades below 0, if they count as unjudged, as pooled but not sampled
    """

    gain: str | None = "binary"
    scale: Scale | None = None
    intents: bool = False
    judged: bool = False
    ratio: bool = False
    cutoff: Cutoff = "truncates"
    residual: Residual | Callable[[Arguments], Residual] = "none"
    bounds: Rule | Callable[[Arguments], Rule] = "none"
    floor: float = 0.0
    ceiling: float = math.inf
    over_ties: bool = False
    summary: Summary = "mean"
    better: Better = "higher"
    checks: Checks | None = None
    validate: Callable[[Arguments, int | None], None] | None = None
    monotone: bool | Callable[[Arguments], bool] = True
    relevance_only: bool = True
    uses_strata: bool = False
    uses_unsampled: bool = False
    takes_fill: bool = False
    may_skip: bool = False
    reads_scores: bool | Callable[[Arguments], bool] = False


@dataclass(repr=False, eq=False, kw_only=True)
class MeasureProperties(Properties):
    """Other quantities of a measure besides its score.

    details             a function of the gains and the parameters: column name -> topics × ranks, for `gradedeval
                        explain`. A column of one more rank ends with the sum of the values beyond the end; one called
                        `contribution` is the part of the score that each rank adds, if that differs from the change of
                        the score when the ranking ends one rank later
    weights_in_ranking  see `RankingWeights`, for `gradedeval weights`
    rank_sum            see `RankSum`: how the score changes when two documents change places, for `gradedeval.ltr`;
                        or a function of the arguments

    The form of the function.

    per_topic  it is a plain function of one topic, `mine(grades, ideal)` or `mine(grades)`: of the grades of the
               ranking, 0 for unjudged documents, and of the grades above 0 of the ideal ranking, both 1-D and cut at k.
               For convenience, not for speed: as with `numpy.vectorize` it is a loop in Python. The default gain is
               `grade` then
    """

    details: Callable[..., Mapping[str, Floats]] | None = None
    weights_in_ranking: RankingWeights | None = None
    rank_sum: RankSum | Callable[[Arguments], RankSum] | None = None
    per_topic: bool = False


if TYPE_CHECKING:
    Keywords = ParamSpec("Keywords")

    class Decorator(Protocol[Keywords]):
        """A decorator with optional keywords: `@measure`, or `@measure(...)`."""

        @overload
        def __call__(
            self, function: None = None, /, *_: Keywords.args, **keywords: Keywords.kwargs
        ) -> Callable[[Callable[..., Any]], Measure]: ...
        @overload
        def __call__(self, function: Callable[..., Any], /) -> Measure: ...


def decorator(properties: Callable[Keywords, Properties]) -> Callable[[Callable[..., Measure]], Decorator[Keywords]]:
    """Return a decorator for functions that define a measure from a function and the keywords of `properties`.

    An editor completes the keywords, mypy checks them, `help` shows them, and the decorator raises TypeError for any
    other.
    """
    keywords = inspect.signature(properties).parameters

    def decorate_definition(define: Callable[..., Measure]) -> Decorator[Keywords]:
        name = define.__name__

        @wraps(define)
        def decorate(function: Callable[..., Any] | None = None, /, **values: Any) -> Any:
            if not values.keys() <= keywords.keys():
                unknown = next(keyword for keyword in values if keyword not in keywords)
                hint = did_you_mean(unknown, keywords) or f"it takes {', '.join(keywords)}"
                raise TypeError(f"@{name} has no keyword '{unknown}'; {hint}")
            if function is None:
                return partial(decorate, **values)
            if not callable(function):
                raise TypeError(f"@{name} makes a measure of a function, not of {function!r}")
            return define(function, **values)

        first = inspect.Parameter("function", inspect.Parameter.POSITIONAL_ONLY, default=None)
        documented: Any = decorate
        documented.__signature__ = inspect.Signature([first, *keywords.values()])
        classes = inspect.getmro(cast(type, properties))[-2::-1]  # all but `object`, from the general to the special
        documented.__doc__ = "\n\n".join(filter(None, map(inspect.getdoc, (define, *classes))))
        return documented  # type: ignore[no-any-return]

    return decorate_definition


QUANTITIES = ("eu", "etu", "ec", "etc", "ed")
"""Results of C/W/L measures: expected utility (per document), total utility, cost per document, total cost, depth."""
COSTS = ("ec", "etc")
"""The quantities that are costs."""
# Less cost is better; a user who looks deeper is neither better nor worse off.
BETTER_QUANTITY: dict[Value, Better] = {"ec": "lower", "etc": "lower", "ed": "neither"}


@dataclass(kw_only=True, repr=False, eq=False)
class Definition(MeasureProperties):
    """A measure as defined in the table: its function and its properties.

    function  from a batch of `Gains`, and its parameters by keyword, to one score per topic
    cwl       its C/W/L part; None outside that family
    """

    function: Callable[..., Floats]
    cwl: CWLProperties | None = None
    name: str = field(default="", init=False)
    code: str = field(default="", init=False)
    """Six digits of the checksum of a user's code; empty for measures of this package."""

    def __post_init__(self) -> None:
        self.name = self.function.__name__.lower().rstrip("_")
        self.scale = None if self.gain in ("binary", None) else self.scale or "raw"
        if not f"{self.function.__module__}.".startswith("gradedeval."):
            from gradedeval.kernel.measures.user_functions import code_of  # few measures are a user's own

            self.code = code_of(inspect.unwrap(self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        """Reduce to the measure of this name in its module: a copy is the same definition."""
        module, name = self.function.__module__, self.function.__name__
        if getattr(getattr(sys.modules.get(module), name, None), "definition", None) is not self:
            raise NotImportable(os.path.basename(inspect.getfile(inspect.unwrap(self.function))), name)
        return _defined, (module, name)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The keyword-only arguments of the function and their defaults."""
        signature = inspect.signature(self.function)
        return {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}

    @cached_property
    def gain_parameters(self) -> tuple[str, ...]:
        """The parameters that determine gains."""
        if self.scale is None:
            return ("rel",) if self.gain == "binary" else ()
        return ("g", "gain", "rel") if self.scale == "thresholds" else ("gain", "rel")

    @cached_property
    def accepted(self) -> Parameters:
        """The parameters accepted in parentheses."""
        from gradedeval.kernel.measures.parameters import Parameters  # most measures are used without any

        kinds = {parameter.kind for parameter in inspect.signature(self.function).parameters.values()}
        declared = self.checks or {}
        checks = {
            name: Check(*declared.get(name, WORD if isinstance(default, str) else NUMBER))
            for name, default in self.parameters.items()
        }
        checks |= {name: GAIN_CHECKS[name] for name in self.gain_parameters}
        any_other = NUMBER if inspect.Parameter.VAR_KEYWORD in kinds else None
        return Parameters(f"'{self.name}'", self.parameters, self.gain_parameters, checks, any_other)

    @property
    def paragraphs(self) -> list[str]:
        """The first three paragraphs of the docstring: definition, formula and source; blank if missing."""
        return [" ".join(part.split()) for part in (*docstring(self.function).split("\n\n"), "", "")][:3]

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of each parameter, from the lines `name  meaning` of the docstring."""
        named = re.findall(r"^(\w+) {2,}(\S.*(?:\n +.*)*)", docstring(self.function), re.M)
        return {name: " ".join(meaning.split()) for name, meaning in named if name in self.parameters}


def _defined(module: str, name: str) -> Definition:
    """Return the definition of a measure of a module. Raises NotImportable."""
    try:
        return cast(Definition, getattr(importlib.import_module(module), name).definition)
    except (ImportError, AttributeError):
        raise NotImportable(module, name) from None


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters: `err @ 20`, `ndcg(gain="exp") @ 10`, `rbp(p=0.5)`. Prints as it is written.

    Calling it sets parameters, `@` sets the cutoff; both return a new value. `str` of it parses back. With a `prior`,
    uniform or a file, it is the mean over the intents of a topic: see `intent_aware`. With `judged_only` it scores
    rankings without their unjudged documents. `spellings` lists the distinct ways it was written, as in `map` for ap;
    measures are equal however they were written.

    >>> gradedeval.measures.rbp(p=0.9) @ 10
    rbp(p=0.9)@10
    """

    definition: Definition
    parameters: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None
    prior: str | None = None
    judged_only: bool = False
    spellings: tuple[str, ...] = field(default=(), compare=False)

    def __call__(self, /, *values: Any, **parameters: Any) -> Measure:
        """Return the measure with parameters set. Raises InputError (usage) for an unknown parameter, a wrong value or
        a value without a name."""
        if values:
            hint = "name it, as in rbp(p=0.8); gradedeval.evaluate_arrays scores arrays"
            raise InputError(f"'{self}'", "called with a value without a name", hint, usage=True)
        if not parameters:
            return self
        from gradedeval.kernel.measures.parameters import read_flag

        judged_only = read_flag(self.name, "judged_only", parameters.pop("judged_only", self.judged_only))
        accepted = self.definition.accepted
        changed = {name: accepted.read(name, value) for name, value in parameters.items()}
        merged = {**dict(self.parameters), **changed}
        declared = accepted.names
        order = [*(name for name in declared if name in merged), *(name for name in merged if name not in declared)]
        parts = tuple((name, merged[name]) for name in order)
        return replace(self, parameters=parts, judged_only=judged_only, spellings=())

    def __matmul__(self, cutoff: int) -> Measure:
        """Return the measure cut at rank `cutoff`. Raises InputError (usage) if it takes none."""
        whole = isinstance(cutoff, int | np.integer) and not isinstance(cutoff, bool)
        if self.definition.cutoff != "none" and whole and 1 <= cutoff <= LAST_CUTOFF:
            return replace(self, cutoff=int(cutoff), spellings=())
        number = str(plain_value(cutoff))
        place = f"'{self.name}@{number}'"
        if self.definition.cutoff == "none":
            raise InputError(place, f"{self.name} takes no cutoff", f"write {self.name}", usage=True)
        if whole and cutoff > LAST_CUTOFF:
            raise cutoff_too_large(place, number)
        raise InputError(place, f"invalid cutoff {number}", "cutoffs start at 1", usage=True)

    def __str__(self) -> str:
        condensed = (("judged_only", "True"),) if self.judged_only else ()
        spelling = Spelling(self.name, (*self.parameters, *condensed), self.cutoff)
        if self.prior is None:
            return str(spelling)
        return str(Spelling(IA, () if self.prior == UNIFORM else (("prior", self.prior),), None, spelling))

    __repr__ = __str__

    @cached_property
    def label(self) -> str:
        """Its name in tables and results: as first written, or `str` of it."""
        return redacted(self.spellings[0]) if self.spellings else str(self)

    @cached_property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def rel(self) -> float | None:
        """The lowest relevant grade, if gains are 0 and 1: in a binary measure, or by `rel=`; else None."""
        grade = dict(self.parameters).get("rel", 1 if self.definition.gain == "binary" else None)
        return None if grade is None else float(cast(float, grade))

    @cached_property
    def gain(self) -> Value | None:
        """The gain scheme; None for a binary measure."""
        return dict(self.parameters).get("gain", None if self.definition.gain == "binary" else self.definition.gain)

    @cached_property
    def threshold_shares(self) -> tuple[float, ...] | None:
        """The share of users with each grade as their threshold, if set: `gap(g=1:1:2)`."""
        shares = dict(self.parameters).get("g") if self.definition.scale == "thresholds" else None
        return shares if isinstance(shares, tuple) else None

    @property
    def residual(self) -> Residual:
        """The scope of its residual. Among C/W/L quantities only expected utility has one, as a bound; a condensed
        list has none: a newly judged document could enter above others."""
        bounded = self.arguments.get("of", "eu") == "eu" and not self.judged_only
        residual = self.definition.residual if bounded else "none"
        return residual(self.arguments) if callable(residual) else residual

    @property
    def bounds(self) -> Rule:
        """The rule for the bounds of its scores; `none` without a residual."""
        rule = self.definition.bounds if self.residual != "none" else "none"
        return rule(self.arguments) if callable(rule) else rule

    @property
    def reads_scores(self) -> bool:
        """Whether it depends on the highest score of a topic."""
        reads = self.definition.reads_scores
        return reads(self.arguments) if callable(reads) else reads

    @property
    def monotone(self) -> bool:
        """Whether a better document moved up never lowers its score."""
        monotone = self.definition.monotone
        return monotone(self.arguments) if callable(monotone) else monotone

    @property
    def rank_sum(self) -> RankSum | None:
        """Its score as a sum over ranks, or None; of the C/W/L quantities only expected utility has one."""
        rank_sum = self.definition.rank_sum if self.arguments.get("of", "eu") == "eu" else None
        return rank_sum(self.arguments) if callable(rank_sum) else rank_sum

    @property
    def reading(self) -> Reading:
        """The summary of its scores over topics, and the better direction."""
        definition = self.definition
        of = self.arguments.get("of", "eu") if definition.cwl else "eu"
        return Reading(definition.summary, BETTER_QUANTITY.get(of, definition.better))

    @cached_property
    def last_rank(self) -> int | None:
        """The last rank that it reads; None for all: weights of the full depth need the gains of the full depth."""
        return None if self.definition.cutoff == "sums_to_k" else self.cutoff

    @property
    def reads_costs(self) -> bool:
        """Whether it depends on the cost of viewing a document."""
        cwl = self.definition.cwl
        if cwl is None:
            return False
        costs = cwl.costs(self.arguments) if callable(cwl.costs) else cwl.costs
        return costs or self.arguments.get("of", "eu") in COSTS

    @property
    def takes_fill(self) -> bool:
        """Whether unjudged documents may have gains in it."""
        return self.definition.takes_fill and not self.by_intent and not self.judged_only

    @property
    def depends_on_top(self) -> bool:
        """Whether gains depend on the top grade of the scale."""
        scale = self.definition.scale if self.rel is None else None
        return scale == "thresholds" or (scale == "unit" and self.gain in ("linear", "exp", "ntcir"))

    @cached_property
    def types(self) -> frozenset[bytes]:
        """The document types, column 2 of a run, that it distinguishes; empty if it ignores them."""
        cwl = self.definition.cwl
        return cwl.types(self.arguments) if cwl is not None and cwl.types is not None else frozenset()

    @cached_property
    def arguments(self) -> dict[str, Value]:
        """The parameters of the function itself."""
        return {name: value for name, value in self.parameters if name not in self.definition.gain_parameters}

    @cached_property
    def files(self) -> list[str]:
        """The values of parameters that may name files, on whose content its scores then depend."""
        if not self.arguments:
            return []
        check = self.definition.accepted.check
        return [str(value) for name, value in self.arguments.items() if check(name).names_file]

    @cached_property
    def by_intent(self) -> bool:
        """Whether it is a function of the batch by intent."""
        return self.prior is not None or self.definition.intents

    @property
    def only_truncates(self) -> bool:
        """Whether the cutoff ends the sum and changes nothing else: without it the score is on the same scale."""
        plain = self.definition.parameters.get("norm")
        return self.definition.cutoff in ("truncates", "sums_to_k") and self.arguments.get("norm", plain) == plain

    def score(self, gains: Gains) -> Floats:
        """Return the score of each topic of a batch."""
        if self.prior is None or gains.intents is None:
            return self.definition.function(gains, **self.arguments)
        scores = [self.definition.function(intent, **self.arguments) for intent in gains.intents.each]
        ceiling = self.definition.ceiling if gains.intents.best else np.inf
        return gains.intents.marginal([np.minimum(score, ceiling) for score in scores])

    def details(self, gains: Gains) -> dict[str, Floats]:
        """Return column name -> topics × ranks: the steps to the score. Empty if the measure defines no details."""
        return dict(self.definition.details(gains, **self.arguments)) if self.definition.details else {}

    def complete(self) -> Measure:
        """Return the measure. Raises InputError (usage) if it lacks a required cutoff or parameter."""
        if self.definition.cutoff == "required" and self.cutoff is None:
            raise InputError(f"'{self}'", f"{self.name} needs a cutoff", f"write {self}@10", usage=True)
        if self.definition.validate is not None:
            self.definition.validate(self.arguments, self.cutoff)
        return self


if TYPE_CHECKING:

    class ForeignMeasure(Protocol):
        """A measure of ir_measures, which prints as it is written there."""

        SUPPORTED_PARAMS: dict[str, Any]


AnyMeasure: TypeAlias = "str | Measure | ForeignMeasure"
"""A measure, or text that names one or more."""


@decorator(MeasureProperties)
def measure(function: Callable[..., Floats], **properties: Any) -> Measure:
    """Make a measure of a function from a batch of `Gains` to one score per topic.

    >>> @gradedeval.measure
    ... def found(g):
    ...     return gradedeval.row_sums(g.relevant)
    >>> gradedeval.evaluate({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d2": 1}}, found).means
    {'found': 1.0}

    Its name is the function's, its parameters are the keyword-only arguments, its help is the docstring: definition,
    formula and source, in three paragraphs, and lines of `name  meaning` for its parameters. All other properties are
    keywords:
    """
    if isinstance(function, Measure):
        raise InputError(f"measure '{function.name}'", "is already a measure", "write @measure once", usage=True)
    if properties.get("per_topic"):
        from gradedeval.kernel.measures.user_functions import DEFAULTS, apply_per_topic  # few measures are per topic

        function, properties = apply_per_topic(function), DEFAULTS | properties
    return Measure(Definition(function=function, **properties))


def docstring(function: Any) -> str:
    """Return the docstring of a function, from its source if Python drops docstrings (-OO); empty without one."""
    if text := inspect.getdoc(function):
        return text
    import ast  # only where Python left docstrings out
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # there is no source, as at a prompt
        return ""
    definition = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    return (ast.get_docstring(definition) if definition else None) or ""


# Module and names, the most informative measures first: the order in help, documentation and `gradedeval measures`.
LINES = (
    ("cascade_models", "err nerr cascade"),
    ("cumulated_gain", "ndcg dcg q compat"),
    ("cwl_family.user_models", "rbp insq inst sdcg cwlp cwlrr cwlap tbg u set npv"),
    ("cwl_family.goal_models", "bpm bpmd ift"),
    ("cwl_family.user_models", "nerr8 nerr9 nerr10 nerr11 nerr5 nerr6"),
    ("cwl_family.user_defined", "cwl ddm"),
    ("weighting_models", "zipf uniform poisson logharmonic wp"),
    ("precision", "ap gap sp p"),
    ("cascade_models", "rr"),
    ("precision", "recall rprec"),
    ("cascade_models", "success"),
    ("precision", "bpref accuracy gprecision grecall iprec iprec_avg rprec_mult"),
    ("sets", "relative_p"),
    ("precision", "esl rank1"),
    ("precision", "gm_ap gm_bpref yaap"),
    ("sampled", "infap xinfap statap infndcg"),
    ("trec_eval_only", "bing g ndcg_rel rndcg"),
    ("trec_eval_only", "rbp_topic rbp_resid"),
    ("sets", "set_p set_relative_p set_recall set_map set_f f1 utility silence"),
    ("diversity", "erria alpha_ndcg nrbp strec nerria alpha_dcg nnrbp"),
    ("precision", "judged unjudged"),
    ("sets", "num_q num_ret num_rel num_rel_ret hits num_nonrel_judged_ret"),
)

COMMON = (
    *("err", "nerr", "ndcg", "dcg", "q", "rbp", "inst", "ap", "gap", "p", "rr", "recall", "rprec", "success", "bpref"),
    *("infap", "f1", "erria", "alpha_ndcg", "judged"),
)
"""Measures of most papers and shared tasks: the first list of `gradedeval measures`."""
HISTORICAL = (
    *("nerr5", "nerr6", "iprec_avg", "rprec_mult", "relative_p", "esl", "yaap", "bing", "g", "ndcg_rel", "rndcg"),
    *("rbp_topic", "rbp_resid", "gm_bpref", "utility"),
)
"""Measures kept to reproduce old results: trials of trec_eval, and definitions without a limit."""

Status = Literal["common", "specialized", "historical"]


def status_of(name: str) -> Status:
    """Return how widely a measure is used."""
    return "common" if name in COMMON else "historical" if name in HISTORICAL else "specialized"


class MeasureTable(Mapping[str, Measure]):
    """name -> measure, in the order of the lines.

    A module is imported when one of its measures is first used: an evaluation by ERR does not import all others.
    """

    def __init__(self, lines: tuple[tuple[str, str], ...]) -> None:
        self._home = dict[str, str]()
        for module, names in lines:
            self._home |= dict.fromkeys(names.split(), module)
        self._loaded: dict[str, Measure] = {}

    def __getitem__(self, name: str) -> Measure:
        if name not in self._loaded:
            module = vars(importlib.import_module(f"gradedeval.kernel.measures.{self._home[name]}"))
            # If Python or the module uses the name for something else, it ends with an underscore: set_.
            self._loaded[name] = module.get(f"{name}_") or module[name]
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._home

    def __iter__(self) -> Iterator[str]:
        return iter(self._home)

    def __len__(self) -> int:
        return len(self._home)


MEASURES = MeasureTable(LINES)
