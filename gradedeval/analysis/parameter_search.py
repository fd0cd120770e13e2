"""Measures with an open parameter, as in `nerr10(phi=0.05..0.95)` or `nerr9@1..40`: the search for its best value."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gradedeval.errors import InputError
from gradedeval.measures.definition import Measure
from gradedeval.measures.notation import split, write_value
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers

_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})(?:\.\.(?P<step>{_NUMBER}))?")
NEARLY = 0.001
"""Values whose agreement is so close to the best count as near best."""

MIN_STEPS, ENOUGH_STEPS, MAX_STEPS = 50, 1000, 10_000
"""A grid whose step is not given has from 50 to 1,000 steps, of 1, 2 or 5 times a power of ten; none has more."""


@dataclass(frozen=True)
class MeasureRange:
    """A measure with one open parameter.

    text       as it was written
    parameter  its name; k for the cutoff
    low, high  the ends of its range
    step       of the grid over all of it, as given or for whole numbers; None: by the precision
    whole      whether it takes whole numbers only
    """

    text: str
    before: str
    after: str
    parameter: str
    low: float
    high: float
    step: float | None
    whole: bool
    table: Mapping[str, Measure] | None = None

    def at(self, value: float) -> Measure:
        """The measure with a value in place of the range."""
        word = write_value(int(value) if self.whole else round(value, 10))
        return parse_measures(f"{self.before}{word}{self.after}", self.table)[0]

    def end(self, value: float) -> str:
        """A note if the best value is an end of the range and the measure takes values beyond it."""
        step = self.step or _nice((self.high - self.low) / MIN_STEPS)
        beyond = {self.low: self.low - step, self.high: self.high + step}
        if value not in beyond or not _takes(self, beyond[value]):
            return ""
        return f"the best value {value:g} is at the end of the range; widen the range"

    def resolution(self, precision: float) -> float:
        """The step of the grid over the whole range, so that no optimum as wide as that is missed: as given, else the
        precision, or as near to it as a thousand values come."""
        width = self.high - self.low
        return self.step or min(max(precision, 1 / _nice(ENOUGH_STEPS / width)), _nice(width / MIN_STEPS))

    def grid(self, step: float) -> list[float]:
        """The values of a grid over the whole range, both ends included."""
        count = math.floor((self.high - self.low) / step + 1e-9)
        values = [round(self.low + index * step, 10) for index in range(count + 1)]
        return values if values[-1] >= self.high - 1e-9 else [*values, self.high]

    def around(self, value: float, step: float, finer: float) -> list[float]:
        """The values of a finer grid within one step of a value."""
        count = math.ceil(step / finer - 1e-9)
        near = (round(value + index * finer, 10) for index in range(-count, count + 1))
        return [value for value in near if self.low <= value <= self.high]


def read_ranges(texts: Sequence[str], table: Mapping[str, Measure] | None = None) -> list[MeasureRange]:
    """The measures with a range, several in one text separated by spaces.

    Raises InputError (usage) if one has no range, or two, or an end of it is not a valid value.
    """
    words = [word for text in ([texts] if isinstance(texts, str) else texts) for word in split(text)]
    if not words:
        hint = "for example -m 'nerr10(phi=0.05..0.95)' or -m nerr9@1..40"
        raise InputError("", "no measure with a range", hint, usage=True)
    return [_read_range(word, table) for word in dict.fromkeys(words)]


def _read_range(text: str, table: Mapping[str, Measure] | None) -> MeasureRange:
    matches = list(_RANGE.finditer(text))
    if len(matches) != 1:
        what = f"has {len(matches)} ranges" if matches else "has no range"
        raise InputError(repr(text), what, "write one, for example phi=0.05..0.95 or @1..40", usage=True)
    match = matches[0]
    low, high, step = (None if match[name] is None else float(match[name]) for name in ("low", "high", "step"))
    before, after = text[: match.start()], text[match.end() :]
    key = re.search(r"(\w+)=$", before)
    if low is None or high is None or not low < high < math.inf or step == 0:
        raise InputError(repr(text), f"invalid range {match[0]}", "write LOW..HIGH, for example 0.05..0.95", usage=True)
    draft = MeasureRange(text, before, after, key[1] if key else "k", low, high, step, False, table)
    whole = low.is_integer() and high.is_integer() and (before.endswith("@") or not _takes(draft, low + 0.5))
    step = 1.0 if step is None and whole else step
    if step is not None and (high - low) / step > MAX_STEPS:
        what = f"{match[0]} makes more than {MAX_STEPS} values"
        raise InputError(repr(text), what, "use larger steps, for example 1..1000..10", usage=True)
    range_ = MeasureRange(text, before, after, draft.parameter, low, high, step, whole, table)
    for end in (low, high):
        range_.at(end)
    return range_


def _takes(range_: MeasureRange, value: float) -> bool:
    try:
        range_.at(value)
    except InputError:
        return False
    return True


def _nice(step: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is no more than `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return max(factor * power for factor in (1, 2, 5) if factor * power <= step * (1 + 1e-9))


Values = dict[float, float]
"""Parameter -> how good it is."""
Search = Callable[[list[tuple[MeasureRange, list[float]]]], list[list[list[float]]]]
"""Measures with values to try -> for each measure and value, how good it is by each criterion."""


def resolution(ranges: Sequence[MeasureRange], precision: float) -> str:
    """How fine the search is, in words: the steps stand beside the values."""
    finer = any(not range_.whole and range_.resolution(precision) > precision * (1 + 1e-9) for range_ in ranges)
    return "every step tried" + (f", then to {precision:g} around the best" if finer else "")


def search(ranges: Sequence[MeasureRange], goodness: Search, criteria: int, precision: float) -> list[list[Values]]:
    """Try the whole grid of every measure; where its step is larger than `precision`, then finer ones around the best.

    Returns, for each measure and criterion, all values tried and how good they are. All measures are tried together, so
    that the runs are read once for each grid.
    """
    precision = numbers.PRECISION.check(precision)
    results: list[list[Values]] = [[{} for _ in range(criteria)] for _ in ranges]
    steps = [range_.resolution(precision) for range_ in ranges]
    todo: list[list[float]] = [range_.grid(step) for range_, step in zip(ranges, steps, strict=True)]
    while any(todo):
        trying = [index for index, values in enumerate(todo) if values]
        goods = goodness([(ranges[index], todo[index]) for index in trying])
        for index, by_value in zip(trying, goods, strict=True):
            for value, by_criterion in zip(todo[index], by_value, strict=True):
                for values, good in zip(results[index], by_criterion, strict=True):
                    values[value] = good
        todo = [_finer(ranges[index], results[index], steps, index, precision) for index in range(len(ranges))]
    return results


def _finer(
    range_: MeasureRange, results: list[Values], steps: list[float], index: int, precision: float
) -> list[float]:
    """The values to try next; none if the step is fine enough."""
    step = steps[index]
    if range_.whole or step <= precision * (1 + 1e-9):
        return []
    steps[index] = finer = max(step / 10, precision)
    near = {value for values in results for value in range_.around(best(values), step, finer)}
    return sorted(near - results[0].keys())


def best(values: Values) -> float:
    """The best value; of several the smallest."""
    return min(values, key=lambda value: (-values[value] if values[value] == values[value] else math.inf, value))


def near_best_range(values: Values, within: float) -> tuple[float, float]:
    """The ends of the range of values around the best one that are nearly as good."""
    ordered = sorted(values)
    top = best(values)
    low = high = ordered.index(top)
    while low > 0 and values[ordered[low - 1]] >= values[top] - within:
        low -= 1
    while high + 1 < len(ordered) and values[ordered[high + 1]] >= values[top] - within:
        high += 1
    return ordered[low], ordered[high]


class Best(NamedTuple):
    """The best value, how `good` it is, the ends of the range around it that is nearly as good, and what is to be said
    of them; nan where no value is any good."""

    value: float
    good: float
    low: float
    high: float
    note: str


def best_of(range_: MeasureRange, values: Values) -> Best:
    """The best of the values that were tried."""
    value = best(values)
    if math.isnan(values[value]):
        nothing = math.nan
        return Best(nothing, nothing, nothing, nothing, "no agreement is defined: the scores are all the same")
    low, high = near_best_range(values, NEARLY)
    if near_best_range(values, 1e-12) == (range_.low, range_.high):
        return Best(value, values[value], low, high, "all values agree equally well")
    return Best(value, values[value], low, high, range_.end(value))
