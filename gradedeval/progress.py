"""How far long work has come, for whoever watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TypeVar

PATIENCE = 2.0
Part = TypeVar("Part")


def with_progress(parts: list[Part]) -> Iterator[Part]:
    """Pass on runs, or other parts of some work, with a progress bar where stderr is a terminal and the work lasts
    longer than two seconds."""
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty()
    bar = None
    for done, part in enumerate(parts):
        if bar is None and done and time.monotonic() - begun > PATIENCE and watched:
            import click

            bar = click.progressbar(length=len(parts), label=_label(parts[0]), file=sys.stderr)
            bar.update(done - 1)
        if bar is not None:
            bar.update(1)
        yield part
    if bar is not None:
        bar.update(1)
        bar.render_finish()


def _label(part: object) -> str:
    return "runs" if isinstance(part, tuple) else "working"
