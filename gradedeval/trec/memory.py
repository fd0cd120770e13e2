"""Memory that is used again and again, and not handed back to the system between."""

from __future__ import annotations

import numpy as np

KEPT = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""


def keep_memory() -> None:
    """Make the C library keep freed memory for what is read next.

    It returns what is above a threshold to the system, which hands it out again page by page: a third of the time of
    many small runs, and of qrels. glibc raises that threshold to the largest array that was ever freed, up to 32 MiB.
    """
    np.empty(KEPT, dtype=np.uint8)
