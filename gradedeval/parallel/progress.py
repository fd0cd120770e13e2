"""A progress bar for long work, where there is a terminal to show it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

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


def with_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar where stderr is a terminal and the work takes longer than two seconds."""
    to_do = list(items) if count is None else items
    total = len(to_do) if isinstance(to_do, list) and count is None else count or 0
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty() and total > 1
    bar, shown = None, 0
    try:
        for done, item in enumerate(to_do, 0 if count is None else 1):
            if bar is None and watched and 0 < done < total and time.monotonic() - begun > PATIENCE:
                import click

                bar = click.progressbar(length=total, label=label, file=sys.stderr)
            if bar is not None:
                bar.update(done - shown)
                shown = done
            yield item
        if bar is not None:
            bar.update(total - shown)
    finally:
        if bar is not None:
            bar.render_finish()  # it hides the cursor while it stands
