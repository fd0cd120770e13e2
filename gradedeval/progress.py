"""How far long work has come, for whoever watches a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

PATIENCE = 2.0
Piece = TypeVar("Piece")


def with_progress(pieces: Iterable[Piece], count: int | None = None, label: str = "runs") -> Iterator[Piece]:
    """Pass on work piece by piece, with a progress bar where stderr is a terminal and it lasts longer than two seconds.

    pieces  a list of work that is still to do; or with `count`, so many pieces as they are done
    label   what the pieces are of
    """
    to_do = list(pieces) if count is None else pieces
    total = len(to_do) if isinstance(to_do, list) and count is None else count or 0
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty() and total > 1
    bar, shown = None, 0
    try:
        for done, piece in enumerate(to_do, 0 if count is None else 1):
            if bar is None and watched and 0 < done < total and time.monotonic() - begun > PATIENCE:
                import click

                bar = click.progressbar(length=total, label=label, file=sys.stderr)
            if bar is not None:
                bar.update(done - shown)
                shown = done
            yield piece
        if bar is not None:
            bar.update(total - shown)
    finally:
        if bar is not None:
            bar.render_finish()  # it hides the cursor while it stands
