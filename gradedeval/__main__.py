"""The program: what `gradedeval` and `python -m gradedeval` run."""

import gc
import os
import sys
from typing import NoReturn

RARELY = 100_000
"""How many objects may be made between two searches for cycles: imports make tens of thousands, all to stay."""


def run() -> NoReturn:
    """Run the command line in a process of its own, and end that process.

    It ends at once: taking the interpreter and numpy's modules apart would take a sixth of the time of a small
    evaluation. What is written is flushed before, temporary files are gone, and other processes have ended.
    """
    gc.set_threshold(RARELY)
    from gradedeval.cli import main

    code = 1
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
