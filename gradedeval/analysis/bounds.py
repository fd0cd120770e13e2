"""The bounds of a check, and how they are written: `--min err@20=0.25`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gradedeval.errors import InputError, check_choice
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options
from gradedeval.options.numbers import Number
from gradedeval.scoring.by_measure import with_defaults

Kind = Literal["min", "max", "max-drop", "max-topic-drop", "significant", "max-unjudged", "min-topics"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMPARED = ("max-drop", "max-topic-drop", "significant")
LIMIT = Number("the limit")
EVERY_MEASURE = ("significant", "min-topics")
"""Bounds whose bare value is for each measure."""


@dataclass(frozen=True)
class Bound:
    """One bound on one measure.

    kind      `min` or `max` of the mean (or total, or geometric mean); `max-drop` of it from the baseline's;
              `max-topic-drop` of any topic; `significant` drop at a level; `max-unjudged`: what unjudged documents
              could add to the mean; `min-topics` that it is over and the run has documents for, those
              shared with the baseline if there is one.
              Where lower is better, a drop is a rise
    measure   its notation, as in the scores
    limit     the score, drop, level or number
    relative  whether the limit is a share of the baseline's mean
    place     what error messages call it

    Raises InputError (usage) for an unknown kind, or a limit that is not a finite number.
    """

    kind: Kind
    measure: str
    limit: float
    relative: bool = False
    place: str = ""

    def __post_init__(self) -> None:
        check_choice(self.kind, KINDS, self.place or "Bound")
        LIMIT.check_field(self, "limit")

    @property
    def allowed(self) -> str:
        """The limit as text."""
        return f"{100 * self.limit:g}%" if self.relative else f"{self.limit:g}"


@dataclass(frozen=True)
class BoundSpec:
    """A bound as it was written. Its `measure` is None for a bare value, which bounds the only measure.

    `significant` and `min-topics` with a bare value bound every measure. `from_file`: it stands in a file of settings,
    which the command line overrides.
    """

    kind: Kind
    measure: str | None
    value: Any
    place: str
    from_file: bool = False


def read_bound_specs(kind: Kind, words: Iterable[str]) -> list[BoundSpec]:
    """The bounds written as `--KIND MEASURE=VALUE`, or as a bare VALUE."""
    specs = []
    for word in words:
        measure, equals, value = word.rpartition("=")
        specs.append(BoundSpec(kind, measure if equals else None, value, f"--{kind} {word}"))
    return specs


def resolve_bounds(
    specs: Iterable[BoundSpec],
    measures: Iterable[Measure],
    options: Options,
    table: Mapping[str, Measure] | None = None,
) -> tuple[list[Bound], list[Measure]]:
    """The bounds, one of each kind and measure, and all measures that they need.

    measures  those of -m, which bare values bound

    Raises InputError (usage) for an invalid limit or measure, for a bare value without exactly one measure, and for a
    bound that is given twice, under whatever names of its measure: only the command line overrides a file.
    """
    measures, written = list(measures), list(specs)
    chosen = list(measures)
    bounds: dict[tuple[Kind, str], Bound] = {}
    given: dict[tuple[Kind, str], BoundSpec] = {}
    bare = [spec for spec in written if spec.kind in EVERY_MEASURE and spec.measure is None]
    # Such a value bounds every measure: of -m, or else of the other bounds, so it is resolved last.
    for spec in [*(spec for spec in written if spec not in bare), *bare]:
        limit, relative = _limit(spec)
        meant = _meant(spec, measures or chosen if spec in bare else measures, table)
        for measure in meant:
            _check_reach(spec, measure, limit, relative)
            applied = with_defaults(measure, options)
            key = spec.kind, str(applied)
            if _counts(spec, given.get(key), measure):
                given[key], bounds[key] = spec, Bound(spec.kind, applied.label, limit, relative, spec.place)
        chosen += [measure for measure in meant if measure not in chosen and spec.measure is not None]
    if not bounds:
        raise InputError("", "no bound to check", "for example --min err@20=0.25 or --max-drop err@20=5%", usage=True)
    return list(bounds.values()), list(dict.fromkeys(chosen))


def _counts(spec: BoundSpec, other: BoundSpec | None, measure: Measure) -> bool:
    """Whether a bound counts beside another of the same kind and measure. Raises InputError (usage) where both stand in
    one place."""
    if other is None or other is spec:
        return True
    if other.from_file == spec.from_file:
        what = f"given twice: {other.place} bounds '{measure.label}' as well"
        raise InputError(spec.place, what, "keep one of the two", usage=True)
    return other.from_file


def _meant(spec: BoundSpec, measures: list[Measure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """The measures of a bound."""
    if spec.measure is not None:
        try:
            return parse_measures(spec.measure, table)
        except InputError as error:
            said = f"{error.place}: {error.problem}" if error.place else error.problem
            raise error.replace(place=spec.place, problem=said, usage=True) from None
    unique = list(dict.fromkeys(measures))
    if spec.kind in EVERY_MEASURE and unique:
        return unique
    if len(unique) != 1:
        what = f"a bare value with {len(unique)} measures" if unique else "a bare value without a measure"
        raise InputError(spec.place, what, "write MEASURE=VALUE, for example err@20=0.25, or give one -m", usage=True)
    return unique


def _check_reach(spec: BoundSpec, measure: Measure, limit: float, relative: bool) -> None:
    """Raise InputError (usage) for a bound that no scores could break: such a check would always pass."""
    definition, (summary, better) = measure.definition, measure.reading
    if relative:
        most = 1.0 if better != "lower" and definition.floor >= 0 else math.inf
    else:
        most = definition.ceiling if summary != "total" and measure.arguments.get("of", "eu") == "eu" else math.inf
    if spec.kind in ("max", "max-drop", "max-topic-drop", "max-unjudged") and limit > most:
        hint = f"write {spec.value}% for a share of the baseline's mean" if spec.kind == "max-drop" else ""
        what = "can never fail: " + ("a mean drops by 100% at most" if relative else f"'{measure}' is {most:g} at most")
        raise InputError(spec.place, what, "" if relative else hint, usage=True)


def _limit(spec: BoundSpec) -> tuple[float, bool]:
    """The limit, and whether it is relative to the baseline."""
    word = spec.value
    relative = isinstance(word, str) and word.strip().endswith("%")
    if relative and spec.kind != "max-drop":
        raise InputError(spec.place, f"'{word}' is a percentage", "only --max-drop takes percentages", usage=True)
    try:
        limit = LIMIT.read(word.strip().removesuffix("%")) if isinstance(word, str) else LIMIT.check(word)
    except InputError:
        raise InputError(spec.place, f"'{word}' is not a number", "for example err@20=0.25", usage=True) from None
    if spec.kind == "min-topics" and (limit < 1 or not limit.is_integer()):
        raise InputError(spec.place, f"{word} is not a number of topics", "give 1 or more", usage=True)
    if limit < 0 and spec.kind not in ("min", "max"):
        raise InputError(spec.place, f"{word} is negative", "give 0 or more", usage=True)
    if spec.kind == "significant" and not 0 < limit < 1:
        hint = "give a number between 0 and 1, such as 0.05"
        raise InputError(spec.place, f"{word} is not a significance level", hint, usage=True)
    return (limit / 100 if relative else limit), relative
