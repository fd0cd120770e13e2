"""Signals that wait, and signals that let a process put in order what it has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gradedeval.kernel.trec.written import ENDING, held, left_in_order, unwinding
from support.commands import environment
from support.processes import linux

pytestmark = linux


class Met(Exception):
    """What the handler of a caller raises."""


@contextmanager
def handled(number: int, handler: object) -> Iterator[None]:
    before = signal.signal(number, handler)  # type: ignore[arg-type]
    try:
        yield
    finally:
        signal.signal(number, before)


def raises(number: int, frame: object) -> None:
    raise Met


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_waits_until_the_block_ends_whichever_thread_it_meets(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with held():
            thread = threading.Thread(target=lambda: signal.pthread_kill(threading.get_ident(), number))
            thread.start()
            thread.join()
            os.kill(os.getpid(), number)
            done.append(number)

    with handled(number, raises):
        with pytest.raises(Met):
            work()
        assert done == [number]
        assert signal.getsignal(number) is raises


def test_what_is_ignored_stays_ignored() -> None:
    with handled(signal.SIGHUP, signal.SIG_IGN), held(), unwinding():
        os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_signal_that_would_end_the_process_leaves_the_blocks_first() -> None:
    left = []

    def work() -> None:
        with unwinding(), left_in_order() as stack:
            stack.callback(left.append, "in order")
            stack.callback(os.kill, os.getpid(), signal.SIGTERM)  # `timeout` sends it twice
            os.kill(os.getpid(), signal.SIGTERM)

    with handled(signal.SIGTERM, signal.SIG_DFL):
        with pytest.raises(SystemExit) as end:
            work()
        assert (end.value.code, left) == (143, ["in order"])
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_handler_of_the_caller_is_left_to_him() -> None:
    with handled(signal.SIGTERM, raises), pytest.raises(Met), unwinding():
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("block", ["held", "unwinding"])
def test_a_signal_that_comes_again_later_does_what_it_always_does(block: str) -> None:
    script = f"""
import contextlib, os, signal
from gradedeval.kernel.trec import written
written.GRACE = 0
signal.signal(signal.SIGTERM, signal.SIG_DFL)
with written.{block}():
    for _ in range(2):
        with contextlib.suppress(SystemExit):
            os.kill(os.getpid(), signal.SIGTERM)
    print("never", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, b"", b"")


def test_in_another_thread_nothing_waits() -> None:
    found = []

    def work() -> None:
        with held(), unwinding():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]
