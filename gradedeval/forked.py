"""Segments of a large file, worked on by processes of their own and given back in order.

Threads would wait for each other: much of numpy keeps Python's lock.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from gradedeval.trec.blocks import Irregular
from gradedeval.trec.stream import Segment

Result = TypeVar("Result")

SEGMENT = 1 << 24
"""Bytes of a segment: results of a few blocks, which wait in a pipe of PIPE bytes until their turn comes."""
PIPE = 1 << 20


_allowed = False


def allow() -> None:
    """Let this process fork. Only for one that is nobody else's: a library cannot know what threads its host has."""
    global _allowed
    _allowed = sys.platform == "linux"


def processes() -> int:
    """How many processes may work at once; 1 where forking is not safe: beside other threads, or where not allowed."""
    import threading

    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    return len(os.sched_getaffinity(0)) if _allowed and alone else 1


def segments(file: int, begin: int, end: int) -> list[Segment]:
    """The bytes `begin` to `end` of a file in segments, each of which begins with a topic."""
    starts = [begin]
    for near in range(begin + SEGMENT, end - SEGMENT // 2, SEGMENT):
        if near > starts[-1] and (start := _topic_start(file, near, end)):
            starts.append(start)
    return [Segment(file, *bounds) for bounds in zip(starts, [*starts[1:], end], strict=True)]


def _topic_start(file: int, at: int, end: int) -> int | None:
    """Where the first line begins whose topic is not that of the line before, from `at` on."""
    size = 1 << 18
    while True:
        window = os.pread(file, size, at)
        begin, before = window.find(b"\n") + 1, b""
        while begin and (stop := window.find(b"\n", begin)) >= 0:
            line = window[begin:stop]
            if line[:1] > b" " and not line.startswith(b"#"):  # the others do not tell their topic at once
                topic = line.split(None, 1)[0]
                if before not in (b"", topic):
                    return at + begin
                before = topic
            begin = stop + 1
        if at + size >= end:
            return None
        size *= 4


def forked(work: Callable[[Segment], Result], parts: list[Segment], jobs: int) -> Generator[Result, None, None]:
    """`work(part)` for each part, in order; `jobs` processes take them in turn.

    Raises Irregular where one of them fails in any way: the simple reader has words for it.
    """
    import pickle

    children: list[tuple[int, Any]] = []
    try:
        for first in range(jobs):
            children.append(_child(work, parts[first::jobs], [pipe for _, pipe in children]))
        for number in range(len(parts)):
            try:
                result = pickle.load(children[number % jobs][1])
            except (EOFError, pickle.UnpicklingError):
                raise Irregular from None
            yield result
    finally:
        for child, pipe in children:
            _end(child, pipe)


def _child(work: Callable[[Segment], Result], parts: list[Segment], others: list[Any]) -> tuple[int, Any]:
    """A process that works on these parts, and the pipe on which its results come."""
    import fcntl
    import warnings

    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, PIPE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that sleep inside numpy's libraries
        child = os.fork()
    if child:
        os.close(theirs)
        return child, os.fdopen(ours, "rb")
    try:
        for pipe in (ours, *(other.fileno() for other in others)):
            os.close(pipe)
        _work_on(work, parts, theirs)
    finally:
        os._exit(0)  # nothing of the parent is the child's to finish


def _work_on(work: Callable[[Segment], Result], parts: list[Segment], pipe: int) -> None:
    import pickle
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    with os.fdopen(pipe, "wb") as results:
        for part in parts:
            pickle.dump(work(part), results, protocol=5)
            results.flush()


def _end(child: int, pipe: Any) -> None:
    import signal

    pipe.close()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
