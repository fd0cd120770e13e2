"""The distinct values of an array, without what `np.unique` imports."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Values = TypeVar("Values", bound=NDArray[Any])


def distinct(values: Values) -> tuple[Values, NDArray[np.int64]]:
    """The distinct values, ascending, and the position of each value among them.

    `np.unique` would import numpy.ma for it: a tenth of the start.
    """
    rising: Any = np.sort(values)
    found = rising[np.append(True, rising[1:] != rising[:-1])[: len(rising)]]
    return found, np.searchsorted(found, values)
