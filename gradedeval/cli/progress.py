"""A progress bar on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import click

Item = TypeVar("Item")

PATIENCE = 2.0
"""Seconds of work after which a progress bar appears."""

_VISIBLE: list[Any] = []
"""The bar on the screen, if any."""


def with_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar if stderr is a terminal and the work takes longer than `PATIENCE`.

    count  number of finished items to expect; None: the items are still to be processed, each before the next is taken

    Of nested loops only one has a bar at a time.
    """
    number = 1
    if count is None:
        items = list(items)
        number, count = 0, len(items)
    start = time.monotonic()
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and count > 1
    bar, reported = None, 0
    try:
        for done, item in enumerate(items, number):
            is_due = bar is None and is_terminal and 0 < done < count and time.monotonic() - start > PATIENCE
            if is_due and not _VISIBLE:
                bar = click.progressbar(length=count, label=label, file=sys.stderr)
                _VISIBLE.append(bar)
            if bar is not None:
                bar.update(done - reported)
                reported = done
            yield item
        if bar is not None:
            bar.update(count - reported)
    finally:
        if bar is not None:
            bar.render_finish()  # shows the cursor again
            _VISIBLE.remove(bar)
