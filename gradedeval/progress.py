"""How far long work has come, for whoever watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

PATIENCE = 2.0
Item = TypeVar("Item")


def with_progress(done: Iterable[Item], count: int) -> Iterator[Item]:
    """Pass on what is done of `count` runs, with a progress bar where stderr is a terminal and the work lasts longer
    than two seconds."""
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty() and count > 1
    bar = None
    for number, item in enumerate(done, 1):
        if bar is None and watched and number < count and time.monotonic() - begun > PATIENCE:
            import click

            bar = click.progressbar(length=count, label="runs", file=sys.stderr)
            bar.update(number - 1)
        if bar is not None:
            bar.update(1)
        yield item
    if bar is not None:
        bar.render_finish()
