"""Gain schemes, and the batch of gains that every measure is a function of."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradedeval.distinct import distinct
from gradedeval.errors import Fault, reason, some
from gradedeval.notation import Value, write_value

if TYPE_CHECKING:
    from gradedeval.intents import Intents

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

Scale = Literal["unit", "raw", "thresholds"]
"""What a measure asks of its gains: `unit` in [0, 1], `raw` as large as they like, `thresholds` of graded precision."""


@dataclass(frozen=True)
class Grades:
    """The scale of a qrels file: its distinct labels, ascending, and the top grade: the highest, or as `told`."""

    labels: Floats
    top: float
    told: bool = False
    max_gain: float | None = None


def thresholds(grades: Grades) -> Floats:
    """The grades from which a user may regard documents as relevant: 1..top, or the positive labels where those have
    fractions, or gaps that no top grade told fills."""
    positive = distinct(grades.labels[grades.labels > 0])[0]  # with subtopics a label may repeat
    whole = (positive == np.floor(positive)).all() and grades.top == np.floor(grades.top)
    if whole and (grades.told or len(positive) == positive.max(initial=0)):
        return np.arange(1, grades.top + 1)
    return distinct(np.append(positive, grades.top))[0]


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


@dataclass(frozen=True, eq=False)
class GainTable:
    """What each label of the qrels is worth to one measure (`worth`, as long as the labels), and the most it can be;
    `scheme`: what all labels are worth, where the table is for one intent alone."""

    worth: Floats
    top: float
    scheme: Floats | None = None

    @cached_property
    def levels(self) -> Floats:
        """The distinct gains above 0, ascending, the largest that the scheme can give included."""
        levels, _ = distinct(np.append(self.worth if self.scheme is None else self.scheme, self.top))
        return levels[levels > 0]


def read_scheme(value: Value, place: str) -> Value:
    """`value` where it names a gain scheme; Fault (usage) where it does not."""
    known = value in SCHEMES or isinstance(value, tuple) or (isinstance(value, str) and value.startswith("@"))
    if not known:
        raise Fault(
            place,
            f"no gain scheme '{write_value(value)}'",
            f"{', '.join(SCHEMES)}, values as in 0:0.5:1, or a file of grade,gain lines as in @gains.csv",
            usage=True,
        )
    if isinstance(value, tuple) and min(value) < 0:
        raise Fault(place, f"gain {write_value(min(value))} is below 0", "gains are 0 or more", usage=True)
    if isinstance(value, str) and value.startswith("@") and not os.path.isfile(value[1:]):
        raise Fault(place, f"no file '{value[1:]}'", "gain=@FILE reads lines of grade,gain", usage=True)
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
        given = _read_gains(scheme[1:])
    elif isinstance(scheme, tuple):
        given = dict(enumerate(scheme))
    if given:
        worth, top = _looked_up(given, scheme, grades, place)
        top = given[grades.top] if scale == "thresholds" else top
    else:
        rule = (UNIT if scale == "unit" else RAW)[str(scheme)]
        with np.errstate(over="ignore"):
            worth, top = rule(positive, grades.top), float(rule(np.array([grades.top]), grades.top)[0])
        if not np.isfinite(top):
            what = f"the gain of grade {grades.top:g} is no finite number"
            raise Fault(place, what, "give gain=linear, or the gains themselves")
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
        raise Fault(place, f"the top gain {top:g} is outside 0..1", "give values up to 1, or --max-gain 1")
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
    steps = steps or (1.0,) * len(levels)
    if len(steps) != len(levels):
        raise Fault(
            place,
            f"g has {len(steps)} values for {len(levels)} thresholds",
            f"give one for each of the grades {some([f'{level:g}' for level in levels], 9)}",
        )
    shares = np.append(0, np.cumsum(steps))
    shares /= shares[-1]
    return GainTable(shares[np.searchsorted(levels, grades.labels, side="right")], 1.0)


def _looked_up(given: dict[float, float], scheme: Value, grades: Grades, place: str) -> tuple[Floats, float]:
    """The gains of a scheme that names each grade's, and the largest of them."""
    needed = [*grades.labels[grades.labels >= 0].tolist(), grades.top]
    missing = [grade for grade in needed if grade not in given]
    if missing and isinstance(scheme, str):
        raise Fault(scheme[1:], f"no gain for grade {missing[0]:g}", "give each grade, and the top grade, a line")
    if missing:
        what = f"gains {write_value(scheme)} have no value for grade {missing[0]:g}"
        raise Fault(place, what, "give one for each grade from 0, or a file: gain=@gains.csv")
    top = max(gain for grade, gain in given.items() if grade >= 0)
    return np.array([given.get(label, 0.0) for label in grades.labels.tolist()]), top


def _read_gains(name: str) -> dict[float, float]:
    known: dict[float, float] = {}
    try:
        lines = Path(name).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(name, f"cannot be read ({reason(error)})", "a gain file has lines of grade,gain") from None
    if lines and lines[0].startswith("\ufeff"):
        raise Fault(f"{name}:1", "begins with a byte order mark", "save the file as UTF-8 without one")
    for number, row in enumerate((line.split(",") for line in lines), 1):
        if not "".join(row).strip() or row[0].startswith("#") or (number == 1 and row[0].strip().lower() == "grade"):
            continue
        try:
            grade, gain = (float(cell) for cell in row)
        except ValueError:
            grade = gain = np.nan
        if not (np.isfinite(grade) and np.isfinite(gain)) or gain < 0 or grade in known:
            what = f"{','.join(row)!r} is no new grade,gain pair"
            raise Fault(f"{name}:{number}", what, "as in 2,0.5; gains from 0 up")
        known[grade] = gain
    if not known:
        raise Fault(name, "has no gains", "a gain file has lines of grade,gain")
    return known


def _check_unit(worth: Floats, grades: Grades, place: str) -> None:
    outside = np.flatnonzero(worth > 1)
    if len(outside):
        what = f"grade {grades.labels[outside[0]]:g} is worth {worth[outside[0]]:g}, outside 0..1"
        raise Fault(place, what, "use gain=linear or gain=exp, or give values up to 1")


def _max_gain(given: float, worth: Floats, place: str) -> float:
    highest = worth.max(initial=0)
    if not highest <= given <= 1:
        raise Fault("--max-gain", f"{given:g} is no top gain for {place}", f"it must be from {highest:g} up to 1")
    return float(given)


def _check_thresholds(worth: Floats, at_zero: float, place: str) -> None:
    if (np.diff(worth) < 0).any() or at_zero:
        name = place.strip("'").partition("(")[0]
        raise Fault(place, f"{name} needs gain 0 for grade 0 and gains that rise with the grade", "or give g=… itself")


@dataclass(frozen=True, eq=False)
class Gains:
    """A batch of topics as one measure sees it; all that a measure is a function of.

    gain       topics × ranks: what the document at each rank is worth; 0 where it is unjudged or beyond the end
    judged     topics × ranks: whether it is judged
    ideal      topics × …: the gains of the whole pool that are above 0, descending, zeros after; never cut
    retrieved  topics: how many documents the run has, down to the cutoff
    pool       topics: how many documents are judged
    levels     the distinct gains above 0 of the scheme, ascending
    k          the cutoff, None without one
    cost       topics × ranks: what it costs to look at each document; None: 1 each
    tail       what every rank past the last document is worth, down to the cutoff: 0, or in the best case the top gain
    types      the types of documents, and `kind` topics × ranks: which of them, −1 beyond the end; None where no
               measure asks
    intents    the batch by intent, for the measures that ask for it
    """

    gain: Floats
    judged: Bools
    ideal: Floats
    retrieved: Ints
    pool: Ints
    levels: Floats
    k: int | None = None
    tail: float = 0.0
    cost: Floats | None = None
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None
    intents: Intents | None = None
    # What measures that follow each other have in common: the five quantities of one walk.
    memo: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def rank(self) -> Floats:
        """1, 2, 3, … for the columns of `gain`."""
        return np.arange(1.0, self.gain.shape[1] + 1)

    @cached_property
    def relevant(self) -> Bools:
        """topics × ranks: whether the gain is above 0."""
        return self.gain > 0

    @cached_property
    def hits(self) -> Floats:
        """topics × ranks: how many relevant documents down to the rank, itself included."""
        return self.relevant.cumsum(1, dtype=np.float64)

    @cached_property
    def R(self) -> Ints:
        """topics: how many judged documents are relevant (gain above 0)."""
        counted: Ints = np.count_nonzero(self.ideal, axis=1)
        return counted

    @property
    def end(self) -> float:
        """The last rank that counts: the cutoff, or infinity."""
        return np.inf if self.k is None else self.k

    @property
    def depth(self) -> Ints | int:
        """The cutoff; without one, the number of documents retrieved."""
        return self.retrieved if self.k is None else self.k

    @cached_property
    def perfect(self) -> Gains:
        """The ideal ranking of the pool, cut like this one."""
        ideal = self.ideal[:, : self.k]
        return replace(self, gain=ideal, retrieved=np.count_nonzero(ideal, axis=1), tail=0.0)

    def ideal_at_ranks(self) -> Floats:
        """topics × ranks: the ideal ranking's gains, cut or padded to the columns of `gain`."""
        width = self.gain.shape[1]
        return np.pad(self.ideal[:, :width], ((0, 0), (0, max(0, width - self.ideal.shape[1]))))


def total(values: Floats | Bools) -> Floats:
    """The sum of each row, added up rank by rank.

    `values.sum(1)` would add in an order that depends on the width of the batch: a topic's last digit must not depend
    on which other topics share its batch.
    """
    if not values.shape[1]:
        return np.zeros(len(values))
    summed: Floats = values.cumsum(1, dtype=np.float64)[:, -1]
    return summed


def with_rest(values: Floats, ranks: int) -> Floats:
    """topics × (ranks + 1): values cut or padded to so many ranks, and then the sum of what stands below them."""
    padded = np.pad(values[:, :ranks], ((0, 0), (0, max(0, ranks - values.shape[1]))))
    return np.column_stack([padded, total(values[:, ranks:])])


def share(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """`part / whole` by topic, where 0 / 0 is 0: a topic with nothing to find scores 0.

    Anything else over 0 is infinite; that arises only in the best case of a topic without known relevant documents,
    and the residual caps it at the measure's ceiling.
    """
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Any = part / whole
    return np.where((whole == 0) & (part == 0), 0.0, quotient)
