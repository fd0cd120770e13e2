"""A bar on stderr that shows how much of a loop is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import click

Item = TypeVar("Item")

PATIENCE = 2.0
"""Seconds of work after which a progress bar appears."""

_STANDING: list[Any] = []
"""The bar that stands now, if any."""


def with_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar if stderr is a terminal and the work takes longer than two seconds. Of nested
    loops only one has a bar at a time."""
    number = 1  # what arrives is done; what is yet to do is done when the next is asked for
    if count is None:
        items = list(items)
        number, count = 0, len(items)
    start = time.monotonic()
    is_visible = sys.stderr is not None and sys.stderr.isatty() and count > 1
    bar, reported = None, 0
    try:
        for done, item in enumerate(items, number):
            is_due = bar is None and is_visible and 0 < done < count and time.monotonic() - start > PATIENCE
            if is_due and not _STANDING:
                bar = click.progressbar(length=count, label=label, file=sys.stderr)
                _STANDING.append(bar)
            if bar is not None:
                bar.update(done - reported)
                reported = done
            yield item
        if bar is not None:
            bar.update(count - reported)
    finally:
        if bar is not None:
            bar.render_finish()  # it hides the cursor while it stands
            _STANDING.remove(bar)
