"""Modules that are imported late, NumPy types, helpers that avoid a copy, and when two scores are equal."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar


class Late(ModuleType):
    """A module that is imported when something in it is first asked for, so that a help page waits for none."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self.__name__), name)
        if self.__name__ == "numpy":  # asked in loops; tests change other modules alone
            self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(import_module(self.__name__), name, value)


def late_modules(package: str) -> Callable[[str], Late]:
    """The `__getattr__` of a package whose modules are imported late by `from package import module`, and at once by
    `from package.module import name`."""

    def module(name: str) -> Late:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return Late(f"{package}.{name}")

    return module


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
    """The numbers from each beginning on, so many of them, one range after the other."""
    positions: Ints = np.repeat(begin - (np.cumsum(size) - size), size)
    positions += np.arange(len(positions))
    return positions


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


# Freed memory that is kept for what is read next, and not given back to the system.


FREED = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""


def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for what is read next.

    It returns what is above a threshold to the system, which hands it out again page by page: a third of the time of
    many small runs, and of qrels. glibc raises that threshold to the largest array that was ever freed, up to 32 MiB.
    """
    np.empty(FREED, dtype=np.uint8)
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        keep_freed_memory()


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""glibc: what mallopt sets; from malloc.h."""


def keep_freed_memory() -> None:
    """The same where a setting of the process forbids it to grow, as MALLOC_TRIM_THRESHOLD_ of dask's workers does:
    every array that is freed would go back to the system, and its work take four times as long."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(M_TRIM_THRESHOLD, 1 << 30)
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)
