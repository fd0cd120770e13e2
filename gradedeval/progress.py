"""How far long work has come, for whoever watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TypeVar

PATIENCE = 2.0
Part = TypeVar("Part")


def with_progress(parts: list[Part], label: str = "runs") -> Iterator[Part]:
    """Pass on work piece by piece, with a progress bar where stderr is a terminal and it lasts longer than two
    seconds. `label`: what the pieces are of."""
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty()
    bar = None
    for done, part in enumerate(parts):
        if bar is None and done and time.monotonic() - begun > PATIENCE and watched:
            import click

            bar = click.progressbar(length=len(parts), label=label, file=sys.stderr)
            bar.update(done - 1)
        if bar is not None:
            bar.update(1)
        yield part
    if bar is not None:
        bar.update(1)
        bar.render_finish()
