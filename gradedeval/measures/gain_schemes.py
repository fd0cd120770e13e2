"""Gain schemes: what a grade is worth to a measure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gradedeval.arrays import LARGEST, Bools, Floats, Ints, distinct
from gradedeval.errors import InputError, shorten
from gradedeval.measures.notation import Value, write_value
from gradedeval.trec.source import is_named

Scale = Literal["unit", "raw", "thresholds"]
"""The gains that a measure takes: `unit` in [0, 1], `raw` of any size, `thresholds` those of graded precision."""


@dataclass(frozen=True, eq=False, repr=False)
class Grades:
    """The scale of a qrels file: its distinct labels, ascending, and the top grade: the highest, or the one given."""

    labels: Floats
    top: float
    max_gain: float | None = None


def thresholds(grades: Grades) -> Sequence[float]:
    """The grades from which a user may regard documents as relevant: 1..top, whether a label in between occurs or not;
    the positive labels and the top grade where one of these has a fraction."""
    positive = np.append(grades.labels[grades.labels > 0], max(grades.top, 0))
    if (positive == np.floor(positive)).all():
        return range(1, int(positive[-1]) + 1)
    levels: list[float] = distinct(positive)[0].tolist()  # with subtopics a label may repeat
    return levels


# What a label is worth: on the raw scale, and on the scale whose values lie in [0, 1].
RAW: dict[str, Callable[[Floats, float], Floats]] = {
    "linear": lambda labels, top: labels,
    "exp": lambda labels, top: np.exp2(labels) - 1,
    "ntcir": lambda labels, top: labels,
    "grade": lambda labels, top: labels,
}
UNIT: dict[str, Callable[[Floats, float], Floats]] = {
    "linear": lambda labels, top: labels / top,
    "exp": lambda labels, top: np.exp2(labels - top) - np.exp2(-top),  # as (2^g − 1) / 2^top, without overflow
    "ntcir": lambda labels, top: labels / (top + 1),
    "grade": lambda labels, top: labels,
}
SCHEMES = tuple(UNIT)


@dataclass(frozen=True, eq=False, repr=False)
class GainTable:
    """What each label of the qrels is worth to one measure (`worth`, as long as the labels), and the most it can be;
    `scheme`: what all labels are worth, where the table is for one intent alone; `filled`: the gains of the codes past
    the labels, of documents that nobody judged, where the measure takes them."""

    worth: Floats
    top: float
    scheme: Floats | None = None
    filled: Floats | None = None

    @property
    def key(self) -> bytes:
        """All that gains depend on."""
        worth = self.worth.tobytes()
        return worth if self.filled is None else worth + self.filled.tobytes()

    def by_code(self, codes: int) -> Floats:
        """What each of so many codes is worth: 0 past the labels, unless that is filled."""
        known = self.worth if self.filled is None else np.append(self.worth, self.filled)
        return np.append(known, np.zeros(codes - len(known)))

    @cached_property
    def levels(self) -> Floats:
        """The distinct gains above 0, ascending, the largest that the scheme can give included."""
        levels, _ = distinct(np.append(self.worth if self.scheme is None else self.scheme, self.top))
        return levels[levels > 0]


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """A batch as documents sampled from the strata of a pool.

    strata     how many strata there are
    stratum    topics × ranks: the number of each document's, −1 where it was not pooled
    sampled    topics × ranks: whether the document was sampled, and judged
    weight     topics × ranks: documents of its stratum for each sampled one; 0 where it was not sampled
    estimated  topics × levels: the estimated number of documents in the pool of each gain above 0
    """

    strata: int
    stratum: Ints
    sampled: Bools
    weight: Floats
    estimated: Floats


def read_scheme(value: Value, place: str) -> Value:
    """`value` where it names a gain scheme; InputError (usage) where it does not."""
    if not (value in SCHEMES or isinstance(value, tuple) or is_pairs(value) or str(value).startswith("@")):
        some = 'values as in 0:0.5:1, some as in "1=3,2=9", or a file of grade,gain lines as in @gains.csv'
        hint = f"choose from {', '.join(SCHEMES)}, {some}"
        raise InputError(place, f"unknown gain scheme '{write_value(value)}'", hint, usage=True)
    values = value if isinstance(value, tuple) else list(read_pairs(str(value)).values()) if is_pairs(value) else [0]
    if min(values) < 0:
        raise InputError(place, f"gain {write_value(min(values))} is negative", "gains must be 0 or more", usage=True)
    if isinstance(value, str) and value.startswith("@") and not is_named(value[1:]):
        raise InputError(place, f"no file '{value[1:]}'", "gain=@FILE reads lines of grade,gain", usage=True)
    return value


def graded_table(scheme: Value, scale: Scale, grades: Grades, place: str) -> GainTable:
    """The table of a graded measure. Grades below 0 are worth 0: spam is judged, and not wanted."""
    if grades.top <= 0:
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    positive = np.maximum(grades.labels, 0)
    if scheme == "thresholds":
        return threshold_table(None, grades, place)
    given: dict[float, float] = {}
    if isinstance(scheme, str) and scheme.startswith("@"):
        given = read_gains(scheme[1:])
    elif isinstance(scheme, tuple):
        given = dict(enumerate(scheme))
    if given:
        worth, top = _looked_up(given, scheme, grades, place)
        top = given[grades.top] if scale == "thresholds" else top
    else:
        rule = (UNIT if scale == "unit" else RAW)["linear" if is_pairs(scheme) else str(scheme)]
        with np.errstate(over="ignore"):
            worth, top = rule(positive, grades.top), float(rule(np.array([grades.top]), grades.top)[0])
        if is_pairs(scheme):
            worth, top = _replaced(worth, top, read_pairs(str(scheme)), grades)
        if not np.isfinite(top):
            what = f"the gain of grade {grades.top:g} is not finite"
            raise InputError(place, what, "use gain=linear, or list the gains")
    if top >= LARGEST:
        raise InputError(place, f"the top gain {top:g} is not below {LARGEST:g}", "give smaller gains, or gain=linear")
    worth = np.where(grades.labels < 0, 0.0, worth)  # whatever the scheme gives grade 0
    if scale == "unit":
        _check_unit(worth, grades, place)
    if scale == "thresholds":
        _check_thresholds(worth, given.get(0, 0.0), place)
        # Steps between the gains, rescaled so that they sum to 1.
        return GainTable(worth / top, 1.0) if top > 0 else GainTable(worth, 0.0)
    if grades.max_gain is not None and scale == "unit":
        top = _max_gain(grades.max_gain, worth, place)
    if scale == "unit" and top > 1:
        raise InputError(place, f"the top gain {top:g} is outside 0..1", "give values up to 1, or --max-gain 1")
    return GainTable(worth, top)


def binary_table(rel: float, grades: Grades) -> GainTable:
    """1 for the grades from `rel` on, 0 below."""
    if grades.top <= 0:
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    return GainTable((grades.labels >= rel).astype(np.float64), 1.0)


def threshold_table(steps: tuple[float, ...] | None, grades: Grades, place: str) -> GainTable:
    """What a grade is worth to `gap(g=...)`: the share of users who regard it as relevant; equal steps without `g`.

    Robertson et al., SIGIR 2010, section 2.1: g_j is the probability that a user's threshold is grade j.
    """
    levels = thresholds(grades)
    if steps is None and isinstance(levels, range):
        return GainTable(np.maximum(grades.labels, 0) / grades.top, 1.0)
    steps = steps or (1.0,) * len(levels)
    if len(levels[: len(steps) + 1]) != len(steps):  # a range may be longer than any list
        count = levels[-1] if isinstance(levels, range) else len(levels)
        hint = f"give one for each of the grades {shorten([f'{level:g}' for level in levels[:10]], 9)}"
        raise InputError(place, f"g has {len(steps)} values for {count} thresholds", hint)
    shares = np.append(0, np.cumsum(steps))
    shares /= shares[-1]
    return GainTable(shares[np.searchsorted(np.array(levels), grades.labels, side="right")], 1.0)


def _looked_up(given: dict[float, float], scheme: Value, grades: Grades, place: str) -> tuple[Floats, float]:
    """The gains of a scheme that names each grade's, and the largest of them."""
    needed = [*grades.labels[grades.labels >= 0].tolist(), grades.top]
    missing = [grade for grade in needed if grade not in given]
    if missing and isinstance(scheme, str):
        hint = "add a line for each grade, including the top grade"
        raise InputError(scheme[1:], f"no gain for grade {missing[0]:g}", hint)
    if missing:
        what = f"gains {write_value(scheme)} have no value for grade {missing[0]:g}"
        raise InputError(place, what, "give one for each grade from 0, or a file: gain=@gains.csv")
    top = max(gain for grade, gain in given.items() if grade >= 0)
    return np.array([given.get(label, 0.0) for label in grades.labels.tolist()]), top


def _replaced(worth: Floats, top: float, given: dict[float, float], grades: Grades) -> tuple[Floats, float]:
    """The gains where those of some grades are named and the others stay, and the largest of them."""
    pairs = zip(grades.labels.tolist(), worth.tolist(), strict=True)
    gains = np.array([given.get(label, gain) for label, gain in pairs])
    return gains, max(given.get(grades.top, top), *gains[grades.labels >= 0].tolist(), 0.0)


def _check_unit(worth: Floats, grades: Grades, place: str) -> None:
    outside = np.flatnonzero(worth > 1)
    if len(outside):
        what = f"grade {grades.labels[outside[0]]:g} is worth {worth[outside[0]]:g}, outside 0..1"
        raise InputError(place, what, "use gain=linear or gain=exp, or give values up to 1")


def _max_gain(given: float, worth: Floats, place: str) -> float:
    highest = worth.max(initial=0)
    if not highest <= given <= 1:
        what = f"{given:g} cannot be the top gain of {place}"
        hint = f"use a value from {highest:g} to 1" if highest < 1 else "the only one is 1"
        raise InputError("--max-gain", what, hint, usage=True)
    return float(given)


def _check_thresholds(worth: Floats, at_zero: float, place: str) -> None:
    if (np.diff(worth) < 0).any() or at_zero:
        name = place.strip("'").partition("(")[0]
        what = f"{name} needs gain 0 for grade 0 and gains that rise with the grade"
        raise InputError(place, what, "or give g=… itself")


_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_PAIRS = re.compile(rf"{_NUMBER}={_NUMBER}(?:,{_NUMBER}={_NUMBER})*")


def is_pairs(value: object) -> bool:
    """Whether a scheme names the gains of some grades: `1=3,2=9`."""
    return isinstance(value, str) and _PAIRS.fullmatch(value) is not None


def read_pairs(value: str) -> dict[float, float]:
    """grade -> gain, of the grades that the words name."""
    return {float(grade): float(gain) for grade, gain in (pair.split("=") for pair in value.split(","))}


def read_gains(name: str) -> dict[float, float]:
    """grade -> gain, from a file. Raises InputError where it has none, or a line is not a pair."""
    from gradedeval.trec.small_tables import small_table  # few evaluations need a table

    table = small_table(name, ("grade", "gain"), hint="expected lines of grade,gain")
    grades = [table.number(row, "grade") for row in table.rows]
    gains = [table.number(row, "gain", 0) for row in table.rows]
    table.check(grades, ("grade",))
    return dict(zip(grades, gains, strict=True))
