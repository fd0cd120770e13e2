"""Measures with an open parameter, as in `nerr10(phi=0.05..0.95)` or `nerr9@1..40`: the search for its best value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import split, write_value
from gradedeval.measures.parse import parse_measures

_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)"
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})(?:\.\.(?P<step>{_NUMBER}))?")
NEARLY = 0.001
"""Values whose agreement is that close to the best are shown as a band."""

LEAST, MOST = 50, 10_000
"""A grid without a told step has at least that many steps, each 1, 2 or 5 times a power of ten; none has more."""


@dataclass(frozen=True)
class Family:
    """A measure with one open parameter.

    text       as it was written
    parameter  its name; k for the cutoff
    low, high  the ends of its range
    step       of the first grid
    whole      whether it takes whole numbers alone
    """

    text: str
    before: str
    after: str
    parameter: str
    low: float
    high: float
    step: float
    whole: bool
    table: Mapping[str, Measure] | None = None

    def at(self, value: float) -> Measure:
        """The measure with a value in place of the range."""
        word = write_value(int(value) if self.whole else round(value, 10))
        return parse_measures(f"{self.before}{word}{self.after}", self.table)[0]

    def end(self, value: float) -> str:
        """What to say of a value that is best at an end of the range, unless the measure takes no further one."""
        beyond = {self.low: self.low - self.step, self.high: self.high + self.step}
        if value not in beyond or not _takes(self, beyond[value]):
            return ""
        return f"the best value {value:g} is an end of the range; widen it"

    def grid(self) -> list[float]:
        """The values of the first grid, both ends included."""
        count = math.floor((self.high - self.low) / self.step + 1e-9)
        values = [round(self.low + at * self.step, 10) for at in range(count + 1)]
        return values if values[-1] >= self.high - 1e-9 else [*values, self.high]

    def around(self, value: float, step: float, finer: float) -> list[float]:
        """The values of a finer grid within one step of a value."""
        count = math.ceil(step / finer - 1e-9)
        near = [round(value + at * finer, 10) for at in range(-count, count + 1)]
        return [one for one in near if self.low <= one <= self.high]


def read_families(texts: Sequence[str], table: Mapping[str, Measure] | None = None) -> list[Family]:
    """The families that texts name, several in one separated by blanks.

    Raises InputError (usage) where one has no range, or two, or a value of it is no measure.
    """
    words = [word for text in texts for word in split(text)]
    if not words:
        raise InputError(
            "", "no measure with a range", "as in -m 'nerr10(phi=0.05..0.95)' or -m nerr9@1..40", usage=True
        )
    return [_family(word, table) for word in dict.fromkeys(words)]


def _family(text: str, table: Mapping[str, Measure] | None) -> Family:
    found = list(_RANGE.finditer(text))
    if len(found) != 1:
        what = f"has {len(found)} ranges" if found else "has no range"
        raise InputError(repr(text), what, "write one, as in phi=0.05..0.95 or @1..40", usage=True)
    spot = found[0]
    low, high, step = (None if spot[name] is None else float(spot[name]) for name in ("low", "high", "step"))
    before, after = text[: spot.start()], text[spot.end() :]
    key = re.search(r"(\w+)=$", before)
    if low is None or high is None or not low < high or step == 0:
        raise InputError(
            repr(text), f"{spot[0]} is no range", "from the lower to the higher, as in 0.05..0.95", usage=True
        )
    draft = Family(text, before, after, key[1] if key else "k", low, high, step or 1, False, table)
    whole = low.is_integer() and high.is_integer() and (before.endswith("@") or not _takes(draft, low + 0.5))
    if step is None:
        step = 1.0 if whole else _nice((high - low) / LEAST)
    if (high - low) / step > MOST:
        what = f"{spot[0]} makes more than {MOST} values"
        raise InputError(repr(text), what, "take larger steps, as in 1..1000..10", usage=True)
    family = Family(text, before, after, draft.parameter, low, high, step, whole, table)
    for end in (low, high):
        family.at(end)
    return family


def _takes(family: Family, value: float) -> bool:
    try:
        family.at(value)
    except InputError:
        return False
    return True


def _nice(step: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is no more than `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= step * (1 + 1e-9))


Values = dict[float, float]
"""Parameter -> how good it is."""
Search = Callable[[list[tuple[Family, list[float]]]], list[list[list[float]]]]
"""Families with values to try -> for each family and value, how good it is by each criterion."""


def search(families: Sequence[Family], tried: Search, criteria: int, precision: float) -> list[list[Values]]:
    """Try the whole grid of every family, then ever finer ones around the best value, until steps are `precision`.

    Returns, for each family and criterion, all values tried with how good they are. All families go together, so that
    the runs are read once for each grid.
    """
    found: list[list[Values]] = [[{} for _ in range(criteria)] for _ in families]
    steps = [family.step for family in families]
    todo: list[list[float]] = [family.grid() for family in families]
    while any(todo):
        trying = [at for at, values in enumerate(todo) if values]
        goods = tried([(families[at], todo[at]) for at in trying])
        for at, by_value in zip(trying, goods, strict=True):
            for value, by_criterion in zip(todo[at], by_value, strict=True):
                for values, good in zip(found[at], by_criterion, strict=True):
                    values[value] = good
        todo = [_finer(families[at], found[at], steps, at, precision) for at in range(len(families))]
    return found


def _finer(family: Family, found: list[Values], steps: list[float], at: int, precision: float) -> list[float]:
    """The values to try next; none where the steps are fine enough."""
    step = steps[at]
    if family.whole or step <= precision * (1 + 1e-9):
        return []
    steps[at] = finer = max(step / 10, precision)
    near = {value for values in found for value in family.around(best(values), step, finer)}
    return sorted(near - found[0].keys())


def best(values: Values) -> float:
    """The value that is best, the smallest where several are."""
    return min(values, key=lambda value: (-values[value] if values[value] == values[value] else math.inf, value))


def band(values: Values, within: float) -> tuple[float, float]:
    """The ends of the stretch of values around the best one that are nearly as good."""
    ordered = sorted(values)
    top = best(values)
    low = high = ordered.index(top)
    while low > 0 and values[ordered[low - 1]] >= values[top] - within:
        low -= 1
    while high + 1 < len(ordered) and values[ordered[high + 1]] >= values[top] - within:
        high += 1
    return ordered[low], ordered[high]
