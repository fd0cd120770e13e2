"""NumPy types, and two helpers that avoid a copy or an import."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Item = TypeVar("Item", bound=np.generic)


def shared(array: NDArray[Item]) -> NDArray[Item]:
    """The array, made read-only: several measures share it, and writing to it would change the scores of the next."""
    array.setflags(write=False)
    return array


Values = TypeVar("Values", bound=NDArray[Any])


def distinct(values: Values) -> tuple[Values, NDArray[np.int64]]:
    """The distinct values, ascending, and the position of each value among them.

    `np.unique` would import numpy.ma, which is a tenth of the start-up time.
    """
    ordered: Any = np.sort(values)
    unique = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return unique, np.searchsorted(unique, values)
