"""Processes that share work, a bar that shows how far it has come, and memory that is kept for what is read next."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, Protocol, TypeVar

from gradedeval.arrays import np
from gradedeval.errors import at_prompt
from gradedeval.lazy import late_modules

__getattr__ = late_modules(__name__)


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


Item = TypeVar("Item")


PATIENCE = 2.0
"""Seconds of work after which a progress bar appears."""


class Progress(Protocol):
    """Passes items on one by one, and may show how many are done.

    items  a list of work to do; or with `count`, so many results as they arrive
    label  what the items are, in the plural
    """

    def __call__(self, items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]: ...


def no_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]:
    """The items as they are."""
    return items


_STANDING: list[Any] = []
"""The bar that stands now, if any."""


def with_progress(
    items: Iterable[Item], count: int | None = None, label: str = "runs", beside: str = ""
) -> Iterator[Item]:
    """Pass items on, with a progress bar where stderr is a terminal and the work takes longer than two seconds. Of
    loops within each other one has a bar at a time.

    beside  what the bar says too, such as where more can be seen
    """
    first = 1  # what arrives is done; what is yet to do is done when the next is asked for
    if count is None:
        items = list(items)
        first, count = 0, len(items)
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty() and count > 1
    bar, shown = None, 0
    try:
        for done, item in enumerate(items, first):
            late = bar is None and watched and 0 < done < count and time.monotonic() - begun > PATIENCE
            if late and not _STANDING:
                import click

                bar = click.progressbar(length=count, label=f"{label} {beside}".rstrip(), file=sys.stderr)
                _STANDING.append(bar)
            if bar is not None:
                bar.update(done - shown)
                shown = done
            yield item
        if bar is not None:
            bar.update(count - shown)
    finally:
        if bar is not None:
            bar.render_finish()  # it hides the cursor while it stands
            _STANDING.remove(bar)


_WANTED: ContextVar[bool] = ContextVar("wanted", default=False)


def progress(label: str) -> Progress:
    """What shows how far a loop has come over what `label` says, in the plural: a bar where a command runs, and in
    Python where `progress=True` asks for one."""
    import click

    if _WANTED.get():
        return partial(in_python, label=label)
    runs = at_prompt() and click.get_current_context(silent=True) is not None  # a page hears notes too
    return partial(with_progress, label=label) if runs else no_progress


@contextmanager
def progress_wanted() -> Iterator[None]:
    """While this lasts, in this thread, functions of Python show bars."""
    before = _WANTED.set(True)
    try:
        yield
    finally:
        _WANTED.reset(before)


def in_python(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar: that of tqdm, which knows notebooks, where it is installed; else a line on
    stderr."""
    if count is None:
        items = list(items)
        count = len(items)
    try:
        from tqdm.auto import tqdm  # an extra
    except ImportError:
        yield from _in_text(items, count, label)
        return
    yield from tqdm(items, total=count, desc=label, leave=False)


WIDTH, OFTEN = 30, 0.1
"""Characters of a bar of text, and seconds between two states of it."""


def _in_text(items: Iterable[Item], count: int, label: str) -> Iterator[Item]:
    """The items, with a bar of text in a line that is written again and again."""
    last = -OFTEN
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if sys.stderr is not None and (now - last >= OFTEN or done == count):
            last, full = now, WIDTH * done // max(count, 1)
            sys.stderr.write(f"\r{label} [{'#' * full}{'.' * (WIDTH - full)}] {done}/{count}")
            sys.stderr.write("\n" if done == count else "")
            sys.stderr.flush()


# Freed memory that is kept for what is read next, and not given back to the system.


FREED = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""


@cache
def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for what is read next; once in a process.

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
