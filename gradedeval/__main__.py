"""The program: what `gradedeval` and `python -m gradedeval` run."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

RARELY = 100_000
"""How many objects may be made between two searches for cycles: imports make tens of thousands, all to stay."""


def run() -> NoReturn:
    """Run the command line in a process of its own, and end that process.

    It exits at once: normal teardown would take a sixth of the time of a small evaluation. Output is flushed before,
    temporary files are gone, and other processes have ended. With foreign code at work, such as a user's measures or a
    profiler, it exits normally.
    """
    gc.set_threshold(RARELY)
    try:
        code = _code()
    except KeyboardInterrupt:  # before the command line is there to say so
        os.write(2, b"interrupted; nothing was written\n")
        os._exit(130)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


def _code() -> int:
    """Run the command line and return its exit code."""
    code = 0
    try:
        from gradedeval.cli import main

        main()
    except SystemExit as end:
        if _others_at_work() or not isinstance(end.code, int):
            raise
        code = end.code
    return code


def _others_at_work() -> bool:
    measures = sys.modules.get("gradedeval.kernel.measures.user_measures")
    monitoring = getattr(sys, "monitoring", None)
    watched = monitoring is not None and any(monitoring.get_tool(tool) for tool in range(6))
    return bool(watched or sys.gettrace() or sys.getprofile() or (measures and measures.loaded_code))


if __name__ == "__main__":
    run()
