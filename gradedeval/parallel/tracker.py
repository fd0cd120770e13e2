"""Python's own process that clears what others of its processes have left: it does so without a word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

SAFE_PATH = "PYTHONSAFEPATH"
"""What keeps Python from looking for modules in the folder where it is started."""

WARNINGS, QUIETLY = "PYTHONWARNINGS", "ignore:resource_tracker:UserWarning"
"""What keeps Python from telling that it clears what a killed process has left."""


def start_tracker() -> None:
    """Start it before anybody else does, who would let it warn where this process is killed. Raises OSError."""
    from multiprocessing import resource_tracker

    with environment({SAFE_PATH: "1", WARNINGS: ",".join(filter(None, (os.environ.get(WARNINGS), QUIETLY)))}):
        resource_tracker.ensure_running()


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """These values in the environment of what is started in the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
