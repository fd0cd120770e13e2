"""NumPy, imported when it is first used, its types, helpers that avoid a copy, and when two scores are equal."""

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
    """Whether no value is infinite or nan: of a few thousand it is quicker to count than to ask for all."""
    return int(np.count_nonzero(np.isfinite(values))) == values.size


LARGEST = 1e300
"""Numbers below it can be added up, however many they are."""
COMPARABLE = 1e150
"""Scores below it, and their differences, can be squared and summed over topics."""


def shared(array: NDArray[Item]) -> NDArray[Item]:
    """The array, made read-only: several measures share it, and writing to it would change the scores of the next."""
    array.setflags(write=False)
    return array


Values = TypeVar("Values", bound="NDArray[Any]")


def distinct(values: Values) -> tuple[Values, NDArray[np.int64]]:
    """The distinct values, ascending, and the position of each value among them.

    `np.unique` would import numpy.ma, which is a tenth of the start-up time.
    """
    ordered: Any = np.sort(values)
    unique = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return unique, np.searchsorted(unique, values)


def ranges(begin: Ints, size: Ints) -> Ints:
    """The numbers from each beginning on, that many of them, one range after the other."""
    positions: Ints = np.repeat(begin - (np.cumsum(size) - size), size)
    positions += np.arange(len(positions))
    return positions


def ranks(counts: Ints) -> Ints:
    """0, 1, 2, … within each group of that many items, group after group."""
    within: Ints = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return within


def positions_of(counts: Ints, rows: Ints) -> Ints:
    """Where the items of some groups stand, of items that come group after group."""
    return ranges((np.cumsum(counts) - counts)[rows], counts[rows])


CELLS = 1 << 22
"""Numbers held at once: bounds memory for any number of rows."""


def chunks(count: int, cost: int) -> list[slice]:
    """Slices of `count` items, each of at most CELLS numbers, where an item takes `cost` of them."""
    step = max(1, CELLS // max(1, cost))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)]


def by_width(widths: Ints, cells: int) -> Iterator[Ints]:
    """Rows in groups of at most this many cells, or of one row. Rows of similar width share a group, so that one of a
    million documents does not widen thousands of ten."""
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
    """The float of a number, infinite where it is beyond all floats, as an int or a Fraction may be."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


TOLERANCE = 1e-12
"""Scores that differ by no more than this are equal: the order of summation changes the last bits."""


def merge_close(values: Floats, distance: float = TOLERANCE) -> Floats:
    """The values, where each that lies no further than `distance` above the next lower one is made equal to it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.append(True, np.diff(ordered) > distance)[: len(ordered)]
    merged = np.empty_like(values)
    merged[order] = ordered[first][np.cumsum(first) - 1]
    return merged
