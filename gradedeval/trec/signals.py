"""Signals that end this process: they wait for a moment, or let it put in order first what it has begun."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import Any

_NAMES = ("HUP", "INT", "QUIT", "ALRM", "TERM", "USR1", "USR2", "VTALRM", "PROF", "XCPU", "BREAK")
ENDING = [getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")]
"""Those that end a process that says nothing of them, and that it may meet."""

GRACE = 5
"""Seconds after a first signal in which others change nothing: `timeout` sends it twice. After that they do what they
always do, so that nothing can make a process wait for ever."""

LEFT = 128
"""What shells add to the number of the signal that ended a process, for its exit code."""


@contextmanager
def held() -> Iterator[None]:
    """Signals wait until the block ends, whichever thread they meet: to block them would keep them from this thread
    alone, and libraries have threads of their own. For the main thread; in another nothing waits."""
    met: list[int] = []
    try:
        with _handled(met.append, lambda before: before != signal.SIG_IGN):
            yield
    finally:
        for number in met:
            signal.raise_signal(number)


@contextmanager
def unwinding() -> Iterator[None]:
    """A signal that would end this process at once leaves the block as SystemExit, with the exit code that shells have
    of such an end. For the main thread, as `held`."""

    def leave(number: int) -> None:
        raise SystemExit(LEFT + number)

    with _handled(leave, lambda before: before == signal.SIG_DFL):
        yield


@contextmanager
def left_in_order() -> Iterator[ExitStack]:
    """Blocks whose ends are not interrupted: signals wait meanwhile."""
    stack = ExitStack()
    try:
        yield stack
    finally:
        with held():
            stack.close()


@contextmanager
def _handled(handle: Callable[[int], None], concerns: Callable[[Any], bool]) -> Iterator[None]:
    """`handle` of the first signal, in place of what would become of it, where it concerns that."""
    before: dict[int, Any] = {}
    first: list[float] = []

    def meet(number: int, frame: Any) -> None:
        if not first:
            first.append(monotonic())
            handle(number)
        elif monotonic() - first[0] > GRACE:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    try:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                known = signal.getsignal(number)
                if known is not None and concerns(known):  # None is a handler that Python could not put back
                    before[number] = known
                    signal.signal(number, meet)
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)
