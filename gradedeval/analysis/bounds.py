"""The bounds of a check, as demanded in words: `--min err@20=0.25`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from gradedeval.analysis.significance import check_choice
from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options
from gradedeval.scoring.scorer import with_defaults

Kind = Literal["min", "max-drop", "max-topic-drop", "significant", "max-unjudged"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMPARED = ("max-drop", "max-topic-drop", "significant")


@dataclass(frozen=True)
class Bound:
    """One bound on one measure.

    kind      `min` of the mean; `max-drop` of the mean from the baseline's; `max-topic-drop` of any topic;
              `significant` drop at a level; `max-unjudged`: what unjudged documents of the run could add to the mean
    measure   in words, as in the scores
    limit     the score, drop or level
    relative  whether the limit is a share of the baseline's mean
    place     what messages call it

    Raises InputError (usage) for another kind.
    """

    kind: Kind
    measure: str
    limit: float
    relative: bool = False
    place: str = ""

    def __post_init__(self) -> None:
        check_choice(self.kind, KINDS, self.place or "Bound")

    @property
    def allowed(self) -> str:
        """The limit in words."""
        return f"{100 * self.limit:g}%" if self.relative else f"{self.limit:g}"


@dataclass(frozen=True)
class Demand:
    """A bound as it was written: its `measure` is None where a bare value stands for the only measure.

    `significant` with a bare value means every measure.
    """

    kind: Kind
    measure: str | None
    value: Any
    place: str


def read_words(kind: Kind, words: Iterable[str]) -> list[Demand]:
    """The demands of `--KIND MEASURE=VALUE`, or of a bare VALUE."""
    found = []
    for word in words:
        measure, equals, value = word.rpartition("=")
        found.append(Demand(kind, measure if equals else None, value, f"--{kind} {word}"))
    return found


def settle(
    demands: Iterable[Demand], measures: Iterable[Measure], options: Options, table: Mapping[str, Measure] | None = None
) -> tuple[list[Bound], list[Measure]]:
    """The bounds that are demanded, the last of each kind and measure, and all measures that they need.

    measures  those of -m, for which bare values stand

    Raises InputError (usage) where a value is no limit, a measure is none, or a bare value has not one measure.
    """
    measures = list(measures)
    chosen = list(measures)
    found: dict[tuple[Kind, str], Bound] = {}
    written = list(demands)
    bare = [one for one in written if one.kind == "significant" and one.measure is None]
    # A level stands for every measure: of -m, or else of the other bounds, which are known last.
    for demand in [*(one for one in written if one not in bare), *bare]:
        limit, relative = _limit(demand)
        meant = _meant(demand, measures or chosen if demand in bare else measures, table)
        for measure in meant:
            name = str(with_defaults(measure, options))
            found[demand.kind, name] = Bound(demand.kind, name, limit, relative, demand.place)
        chosen += [one for one in meant if one not in chosen and demand.measure is not None]
    if not found:
        raise InputError("", "no bound to check", "as in --min err@20=0.25 or --max-drop err@20=5%", usage=True)
    return list(found.values()), list(dict.fromkeys(chosen))


def _meant(demand: Demand, measures: list[Measure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """The measures of a demand."""
    if demand.measure is not None:
        try:
            found = parse_measures(demand.measure, table)
        except InputError as error:
            said = f"{error.place}: {error.problem}" if error.place else error.problem
            raise error.replace(place=demand.place, problem=said, usage=True) from None
        return found
    unique = list(dict.fromkeys(measures))
    if demand.kind == "significant" and unique:
        return unique
    if len(unique) != 1:
        what = f"a bare value, and {len(unique)} measures" if unique else "a bare value, and no measure"
        raise InputError(demand.place, what, "write MEASURE=VALUE, as in err@20=0.25, or one -m", usage=True)
    return unique


def _limit(demand: Demand) -> tuple[float, bool]:
    """The limit, and whether it is a share."""
    word = demand.value
    relative = isinstance(word, str) and word.strip().endswith("%")
    if relative and demand.kind != "max-drop":
        raise InputError(demand.place, f"'{word}' is a percentage", "only --max-drop takes one", usage=True)
    try:
        limit = math.nan if isinstance(word, bool) else float(str(word).strip().removesuffix("%"))
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise InputError(demand.place, f"'{word}' is no number", "as in err@20=0.25", usage=True)
    if limit < 0 and demand.kind != "min":
        raise InputError(demand.place, f"{word} is below 0", "a limit is 0 or more", usage=True)
    if demand.kind == "significant" and not 0 < limit < 1:
        raise InputError(demand.place, f"{word} is no level", "between 0 and 1, as in 0.05", usage=True)
    return (limit / 100 if relative else limit), relative
