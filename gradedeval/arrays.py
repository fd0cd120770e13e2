"""NumPy, imported on first use, its types, helpers that avoid a copy, and the equality of scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from gradedeval.lazy import Late

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    np = numpy
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]
else:
    np, Floats, Ints, Bools = Late("numpy"), Any, Any, Any

Item = TypeVar("Item", bound="np.generic")


def all_finite(values: Floats) -> bool:
    """Return whether no value is infinite or nan. Counting is faster than `all` for a few thousand values."""
    return int(np.count_nonzero(np.isfinite(values))) == values.size


LARGEST = 1e300
"""Any count of numbers below it can be added without overflow."""
COMPARABLE = 1e150
"""Scores below it, and their differences, can be squared and summed over topics."""


def shared(array: NDArray[Item]) -> NDArray[Item]:
    """Return the array, made read-only: several measures share it, and writing to it would change later scores."""
    array.setflags(write=False)
    return array


Values = TypeVar("Values", bound="NDArray[Any]")


def distinct(values: Values) -> tuple[Values, NDArray[np.int64]]:
    """Return the distinct values, ascending, and the position of each value among them.

    `np.unique` would import numpy.ma, which is a tenth of the start-up time.
    """
    ordered: Any = np.sort(values)
    unique = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return unique, np.searchsorted(unique, values)


def ranges(begin: Ints, size: Ints) -> Ints:
    """Return the consecutive numbers begin, begin + 1, … (`size` of them) of each range, one range after the other."""
    positions: Ints = np.repeat(begin - (np.cumsum(size) - size), size)
    positions += np.arange(len(positions))
    return positions


def ranks(counts: Ints) -> Ints:
    """Return 0, 1, 2, … within each group of `counts` items, group after group."""
    positions: Ints = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return positions


def positions_of(counts: Ints, rows: Ints) -> Ints:
    """Return the positions of the items of some groups (`rows`), if items are ordered by group."""
    return ranges((np.cumsum(counts) - counts)[rows], counts[rows])


CELLS = 1 << 22
"""Maximum numbers in memory at once, for any number of rows."""


def chunks(count: int, cost: int) -> list[slice]:
    """Split `count` items into slices of at most CELLS numbers each, if an item takes `cost` numbers."""
    step = max(1, CELLS // max(1, cost))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)]


def by_width(widths: Ints, cells: int) -> Iterator[Ints]:
    """Yield rows in groups of at most `cells` cells, or of one row. Rows of similar width share a group, so that a row
    of a million documents does not widen thousands of short ones."""
    if len(widths) * int(widths.max(initial=0)) <= cells:
        yield np.arange(len(widths))
        return
    order = np.argsort(widths, kind="stable")
    begin = 0
    for end, width in enumerate(widths[order].tolist()):
        if end > begin and (end + 1 - begin) * width > cells:
            yield order[begin:end]
            begin = end
    yield order[begin:]


def as_float(number: Any) -> float:
    """Return the float of a number, infinite if it exceeds all floats, as an int or a Fraction may."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


TOLERANCE = 1e-12
"""Scores that differ by no more than this are equal: the order of summation changes the last bits."""


def merge_close(values: Floats, distance: float = TOLERANCE) -> Floats:
    """Return the values with each value within `distance` of the next lower one replaced by that one."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.append(True, np.diff(ordered) > distance)[: len(ordered)]
    merged = np.empty_like(values)
    merged[order] = ordered[first][np.cumsum(first) - 1]
    return merged
