"""Processes of our own that share work, where forking is safe.

Threads would wait for each other: much of numpy keeps Python's lock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from typing import Any, TypeVar

from gradedeval.errors import InputError, reason

Result = TypeVar("Result")

PIPE = 1 << 20
"""Bytes of results that may wait in the pipe of a process until they are looked at."""

WAITING = 2
"""Results of a process that wait until they are written."""

PR_SET_PDEATHSIG = 1
"""Linux: the signal that a process is to get when its parent ends; from linux/prctl.h."""


class Failed:
    """What stands for a result where a process failed, in whatever way: the work is done again by whoever asked."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usable_workers(jobs: int) -> int:
    """How many of `jobs` processes may work at once: 1 where forking is not safe, beside other threads and elsewhere
    than on Linux."""
    import threading

    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    return jobs if sys.platform == "linux" and alone else 1


def shared(count: int, kind: Any) -> Any:
    """An array of so many numbers that this process and those it starts from now on read and write in common."""
    from mmap import mmap

    import numpy as np

    try:
        memory = mmap(-1, max(count, 1) * np.dtype(kind).itemsize)
    except OSError:
        raise MemoryError from None
    return np.frombuffer(memory, dtype=kind)[:count]


def imap_unordered(
    work: Callable[[int], Result], numbers: Sequence[int], jobs: int
) -> Generator[tuple[int, Result | Failed], None, None]:
    """`work(number)` for each number, as they are done; `jobs` processes, of which this is one, take the next one
    whenever they are free.

    Whoever stops early stops the other processes too.
    """
    import signal
    import struct

    tasks = os.memfd_create("tasks")
    os.write(tasks, struct.pack(f"<{len(numbers)}q", *numbers))
    os.lseek(tasks, 0, os.SEEK_SET)
    children: dict[int, int] = {}
    done = set()
    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # no child is unknown to its parent
        try:
            for _ in range(jobs - 1):
                child, pipe = _child(work, tasks, list(children))
                children[pipe] = child
        except OSError as error:
            raise InputError("--jobs", f"a process cannot be started ({reason(error)})", "ask for fewer") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, result in chain(_here(work, tasks, children), _results(children)):
            done.add(number)
            yield number, result
        for number in numbers:
            if number not in done:  # its process is dead
                yield number, Failed()
    finally:
        os.close(tasks)
        for pipe, child in children.items():
            _end(child, pipe)


def imap(work: Callable[[int], Result], count: int, jobs: int) -> Generator[Result | Failed, None, None]:
    """`work` of 0, 1, …, so many, in order; as by `imap_unordered` where there are several jobs."""
    jobs = min(jobs, count)
    if jobs < 2:
        yield from map(work, range(count))
        return
    with closing(imap_unordered(work, range(count), jobs)) as done:
        yield from in_order(done)


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """The results of 0, 1, 2, …, each as soon as all before it are there."""
    waiting: dict[int, Result] = {}
    turn = 0
    for number, result in results:
        waiting[number] = result
        while turn in waiting:
            yield waiting.pop(turn)
            turn += 1


def _here(work: Callable[[int], Result], tasks: int, children: dict[int, int]) -> Iterator[tuple[int, Result | Failed]]:
    """What this process does, and between what came through the pipes meanwhile."""
    while task := os.read(tasks, 8):
        number = int.from_bytes(task, "little")
        yield number, _done(work, number)
        yield from _results(children, wait=False)


def _results(children: dict[int, int], wait: bool = True) -> Iterator[tuple[int, Any]]:
    """What comes through the pipes, until all are closed; without `wait`, what is there."""
    import pickle
    import select

    ready = select.poll()
    for pipe in children:
        ready.register(pipe, select.POLLIN)
    going = len(children)
    while going and (events := ready.poll(None if wait else 0)):
        for pipe, _ in events:
            frame = _received(pipe)
            if frame is None:
                ready.unregister(pipe)
                going -= 1
            else:
                yield pickle.loads(frame)


def _received(pipe: int) -> bytearray | None:
    """The next frame of a pipe: eight bytes of length, and so many; None where there is no whole one any more."""
    head = _filled(pipe, bytearray(8))
    return None if head is None else _filled(pipe, bytearray(int.from_bytes(head, "little")))


def _filled(pipe: int, frame: bytearray) -> bytearray | None:
    view = memoryview(frame)
    while view:
        count = os.readv(pipe, [view])
        if not count:
            return None
        view = view[count:]
    return frame


def _child(work: Callable[[int], Any], tasks: int, others: list[int]) -> tuple[int, int]:
    """A process that takes numbers from `tasks`, and the pipe on which its results come."""
    import fcntl
    import warnings

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # what waits there would be written twice
    ours, theirs = os.pipe()
    with suppress(OSError):  # all of one user's pipes share a limit; a smaller pipe waits more often
        fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE)
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that sleep inside numpy's libraries
        child = os.fork()
    if not child:
        _be_child(work, tasks, theirs, [ours, *others], parent)
    os.close(theirs)
    return child, ours


def _be_child(work: Callable[[int], Any], tasks: int, pipe: int, others: list[int], parent: int) -> None:
    """Work until there are no numbers any more, and end this process."""
    import signal

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
        _end_with(parent)
        for other in others:
            os.close(other)
        results = _Sender(pipe)
        while task := os.read(tasks, 8):  # the place in the file is shared: each number is read once
            number = int.from_bytes(task, "little")
            results.send(_frame(number, _done(work, number)))
        results.close()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    finally:
        os._exit(0)  # nothing of the parent is the child's to finish


def _end_with(parent: int) -> None:
    """Have this process end when its parent does, even where that is killed and has no time to end its children."""
    import ctypes
    import signal

    with suppress(OSError, AttributeError):  # a system without prctl: it ends when it writes to its pipe
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # which ended before the system knew
        os._exit(0)


def _done(work: Callable[[int], Result], number: int) -> Result | Failed:
    try:
        return work(number)
    except Exception:  # whoever asked does it again, and sees what is wrong
        return Failed()


def _frame(number: int, result: Any) -> bytes:
    import pickle

    try:
        return pickle.dumps((number, result), protocol=5)
    except Exception:
        return pickle.dumps((number, Failed()), protocol=5)


class _Sender:
    """The way of results to the parent, which has work of its own: what is more than a pipe holds is written by a
    thread, and the process works on."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._thread: Any = None

    def send(self, frame: bytes) -> None:
        if self._thread is None and len(frame) < PIPE:
            self._write(frame)
            return
        if self._thread is None:
            from queue import Queue
            from threading import Thread

            self._waiting: Queue[bytes | None] = Queue(WAITING)
            self._thread = Thread(target=self._write_all)
            self._thread.start()
        self._waiting.put(frame)

    def close(self) -> None:
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

    def _write_all(self) -> None:
        try:
            while (frame := self._waiting.get()) is not None:
                self._write(frame)
        except OSError:  # nobody reads it any more
            os._exit(0)

    def _write(self, frame: bytes) -> None:
        for part in (len(frame).to_bytes(8, "little"), frame):
            view = memoryview(part)
            while view:
                view = view[os.write(self._pipe, view) :]


def _end(child: int, pipe: int) -> None:
    import signal

    os.close(pipe)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


KEPT = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""


def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for what is read next.

    It returns what is above a threshold to the system, which hands it out again page by page: a third of the time of
    many small runs, and of qrels. glibc raises that threshold to the largest array that was ever freed, up to 32 MiB.
    """
    import numpy as np

    np.empty(KEPT, dtype=np.uint8)
