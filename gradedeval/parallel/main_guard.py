"""Scripts without `if __name__ == "__main__"`: a process that is not forked runs its parent's script again.

There it comes to the same call, and must not start processes of its own. It ends without a word, and its parent, which
sees no more than that they die, finds out why and says it once.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any

from gradedeval.errors import InputError

STARTED_ANEW = ("spawn", "forkserver")
"""How processes are started that run the script again, in the words of `multiprocessing`."""

AGAIN = 79
"""The exit code of a process that ran the script again."""


def check_script(place: str) -> None:
    """To be called before processes are started that run the script again. One that does so now ends here.

    Raises InputError where there is no script to run, as in `python < script.py`.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as Python itself finds out
        atexit._run_exitfuncs()  # what the script has begun is put in order; its threads are not waited for
        os._exit(AGAIN)
    main = sys.modules["__main__"]
    if getattr(main, "__file__", "") == "<stdin>" and main.__spec__ is None:
        what = "new processes run the script again, and standard input cannot be read twice"
        raise InputError(place, what, "save the script to a file", usage=True)


def start_method(executor: Any) -> str:
    """How an executor starts its processes, in the words of `multiprocessing`; empty where it says nothing of it."""
    context = getattr(executor, "_mp_context", None)  # as the executors of the standard library and loky have it
    return str(context.get_start_method()) if context else ""


def guard_fault(place: str, method: str) -> InputError | None:
    """What to say where processes have died because they ran the script again: one more is started to find out."""
    import multiprocessing

    if method not in STARTED_ANEW:
        return None
    context: Any = multiprocessing.get_context(method)  # whose class declares no processes
    process = context.Process(target=int)
    process.start()
    process.join()
    what = "new processes run this script again, and come to this call once more"
    fault = InputError(place, what, 'put the call under `if __name__ == "__main__":`', usage=True)
    return fault if process.exitcode == AGAIN else None
