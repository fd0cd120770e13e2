"""Defer signals until a write is complete."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gradedeval.kernel.trec.atomic_write import ENDING, defer_signals
from support.commands import environment
from support.processes import linux

pytestmark = linux


class Met(Exception):
    """What the handler of a caller raises."""


@contextmanager
def handled(number: int, handler: object) -> Iterator[None]:
    original = signal.signal(number, handler)  # type: ignore[arg-type]
    try:
        yield
    finally:
        signal.signal(number, original)


def raises(number: int, frame: object) -> None:
    raise Met


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_waits_until_the_block_ends_whichever_thread_it_meets(number: signal.Signals) -> None:
    done = []

    def work() -> None:
        with defer_signals():
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


def test_ignored_signals_stay_ignored() -> None:
    with handled(signal.SIGHUP, signal.SIG_IGN), defer_signals():
        os.kill(os.getpid(), signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_repeated_late_signal_has_its_usual_effect() -> None:
    script = """
import os, signal
from gradedeval.kernel.trec import atomic_write
atomic_write.GRACE = 0
signal.signal(signal.SIGTERM, signal.SIG_DFL)
with atomic_write.defer_signals():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)
    print("never", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, b"", b"")


def test_signals_are_not_deferred_in_another_thread() -> None:
    handlers = []

    def work() -> None:
        with defer_signals():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]
