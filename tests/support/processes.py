"""Processes of the tests: waiting for them, and whether one is left."""

import asyncio
import io
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from support.commands import environment

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


def nobody_is_left() -> bool:
    """Return whether no process that shared work is left; the one that watches over spawned ones stays."""
    return not multiprocessing.active_children()


def processes_of(group: int) -> list[int]:
    """Return the living processes of a process group."""
    processes = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            processes.append(int(status.parent.name))
    return processes


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, for at most a minute."""
    seen = 0
    for _ in range(1200):
        seen = seen + 1 if condition() else 0
        if seen == 6:  # for good, and not in passing while processes start
            return
        time.sleep(0.05)
    pytest.fail("nothing happened")


def interrupted(
    script: str, *words: str, folder: Path, when: Callable[[int], bool], all_of_them: bool = True
) -> tuple[int, bytes, int]:
    """Exit code and stderr of a script that Ctrl-C met when something held of its process group, which comes third.

    all_of_them  whether the signal goes to all its processes, as at a terminal, or to the first alone
    """
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell has its background jobs ignore it
    )
    wait_for(lambda: when(process.pid))
    (os.killpg if all_of_them else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    return process.returncode, errors, process.pid


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def end_fsspec() -> None:
    """End the threads that fsspec keeps: no process is forked beside them, in any later test."""
    from fsspec import asyn, spec

    end = time.monotonic() + 5
    while any(thread.name == "request" for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    if asyn.loop[0] is not None:
        asyncio.run_coroutine_threadsafe(asyn.loop[0].shutdown_default_executor(), asyn.loop[0]).result(5)
        asyn.loop[0].call_soon_threadsafe(asyn.loop[0].stop)
        asyn.iothread[0].join(5)
        asyn.loop[0] = asyn.iothread[0] = None
    for kind in spec.AbstractFileSystem.__subclasses__() + asyn.AsyncFileSystem.__subclasses__():
        kind.clear_instance_cache()


class Far(Executor):
    """An executor that shares nothing with this process: tasks and results are pickled."""

    def __init__(self) -> None:
        self.sent: list[int] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        message = pickle.dumps((function, arguments, keywords))
        self.sent.append(len(message))
        future: Future[Any] = Future()
        try:
            function, arguments, keywords = pickle.loads(message)
            future.set_result(pickle.loads(pickle.dumps(function(*arguments, **keywords))))
        except Exception as error:
            future.set_exception(pickle.loads(pickle.dumps(error)))
        return future
