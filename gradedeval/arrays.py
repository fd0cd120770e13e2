"""NumPy types, and two helpers that spare an import or a copy."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Item = TypeVar("Item", bound=np.generic)


def shared(array: NDArray[Item]) -> NDArray[Item]:
    """The array, for several measures to look at: whoever wrote to it would change the scores of the next."""
    array.setflags(write=False)
    return array


Values = TypeVar("Values", bound=NDArray[Any])


def distinct(values: Values) -> tuple[Values, NDArray[np.int64]]:
    """The distinct values, ascending, and the position of each value among them.

    `np.unique` would import numpy.ma for it: a tenth of the start.
    """
    rising: Any = np.sort(values)
    found = rising[np.append(True, rising[1:] != rising[:-1])[: len(rising)]]
    return found, np.searchsorted(found, values)
