"""Freed memory that is kept for what is read next, and not given back to the system."""

from __future__ import annotations

from contextlib import suppress

LARGEST = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""glibc: what mallopt sets; from malloc.h."""


def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for what is read next.

    It returns what is above a threshold to the system, which hands it out again page by page: a third of the time of
    many small runs, and of qrels. glibc raises that threshold to the largest array that was ever freed, up to 32 MiB.
    """
    import numpy as np

    np.empty(LARGEST, dtype=np.uint8)


def keep_freed_memory() -> None:
    """The same where a setting of the process forbids it to grow, as MALLOC_TRIM_THRESHOLD_ of dask's workers does:
    every array that is freed would go back to the system, and its work take four times as long."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(M_TRIM_THRESHOLD, 1 << 30)
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)
