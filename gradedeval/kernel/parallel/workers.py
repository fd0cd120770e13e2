"""Who shares the work: how many processes, how progress shows, and at which sizes work is cut."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gradedeval.errors import InputError, at_prompt, flag
from gradedeval.kernel.parallel import Progress, cores, in_python, no_progress, progress_wanted, with_progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gradedeval.kernel.parallel.executors import Submit

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(eq=False, repr=False)
class Limits:
    """Sizes at which work is cut into pieces and shared. Scores do not depend on them: tests give small ones."""

    block: int = 1 << 21
    """Bytes of a block of whole topics: enough that calls of numpy cost nothing, and a few blocks fit in memory."""
    segment: int = 1 << 24
    """Bytes of a segment of a file that processes share: a few blocks."""
    runs: int = 1
    """Small runs that one task may be."""
    waiting: int = 0
    """Tasks that are with workers at any time, at least: they do not wait for the next, and a cluster that grows with
    its work sees it."""
    large_file: int = 1 << 25
    """Bytes of a file that is worth the start of further processes."""
    small_runs: int = 1 << 23
    """Bytes of all runs up to which the start of processes takes longer than it saves."""
    cells: int = 1 << 18
    """Topics × ranks of a batch, or × judged documents; one topic may have more. It bounds memory."""
    gathered: int = 1 << 16
    """Documents of interleaved topics that are graded at once; more where one topic has more."""
    topic_runs: int = 1 << 12
    """Runs of lines of one topic in a block, up to which each is looked up by itself."""
    judged_ratio: int = 2
    """Judged documents for each retrieved one, up to which the judged are looked up among the retrieved."""


LIMITS = Limits()
"""The limits where none are given."""

FAR = Limits(segment=1 << 28, runs=50, waiting=100)
"""Those of a cluster: to hand over a task takes milliseconds there, so that each is about a second of work."""


MORE_MEMORY = "the workers may be out of memory; see --memory-limit of `dask worker`"
"""What to do about a worker of a cluster that died."""


BESIDE = 3
"""What is started beside processes that share work: two threads that hand it over, and for spawned ones a process that
looks after what they share."""


class WorkerDied(InputError):
    """The process died that did a task, and so did the one that did it again, or it could not be done again."""

    def __init__(self, place: str = flag.jobs, hint: str = f"it may be out of memory; try {flag.jobs:1}") -> None:
        super().__init__(place, "a worker process died", hint)


@dataclass(frozen=True)
class _Raised:
    """What a worker raised instead of giving a result; that of the first task is raised, whichever came first."""

    error: BaseException


@dataclass(eq=False, repr=False)
class Workers:
    """Who shares work, through an Executor of the standard library.

    count     how many work at the same time; 1 is this process alone
    progress  shows how much is done
    limits    the sizes at which work is cut
    executor  who works: an Executor, or a client of dask; None for processes of our own, which are forked where that is
              safe, so that nothing is copied, and spawned elsewhere
    """

    count: int = 1
    progress: Progress = no_progress
    limits: Limits = field(default_factory=lambda: LIMITS)
    executor: Executor | Any = None

    @classmethod
    def of(cls, jobs: int | None = None, progress: Progress = no_progress, executor: Any = None) -> Workers:
        """So many as asked for, or as the executor or this machine has."""
        if executor is not None and is_client(executor):
            from gradedeval.kernel.parallel.clusters import threads_of  # few evaluations have one

            threads = threads_of(executor)  # which checks it, also where the number is given
            return cls(jobs or threads, progress, FAR, executor)
        own = getattr(executor, "_max_workers", None)  # as the executors of the standard library and loky have it
        return cls(jobs or own or cores(), progress, executor=executor)

    @classmethod
    def here(cls) -> Workers:
        """Who shares the work of a question: those that a command or a function was asked for; else, where a command
        runs, as many processes as there are cores, with a progress bar, and in Python this process alone."""
        return _SHARING.get() or (cls.of(None, with_progress) if at_prompt() else cls())

    @property
    def far(self) -> bool:
        """Whether those who work inherit nothing of this process, as forked ones would."""
        if self.executor is not None or self.count == 1:
            return self.executor is not None
        from gradedeval.kernel.parallel.executors import can_fork

        return not can_fork()

    def silent(self) -> Workers:
        """The same without a progress bar."""
        return replace(self, progress=no_progress)

    def serial(self) -> Workers:
        """This process alone."""
        return replace(self, count=1, executor=None)

    def imap(
        self, work: Callable[[Task], Result], tasks: Sequence[Task] | Iterator[Task], count: int | None = None
    ) -> Generator[Result, None, None]:
        """The result of each task, in their order.

        work   what is done with each: it travels to each worker once, and must be what pickle can write where the
               workers are not forked
        tasks  a sequence, which is shared; or an iterator, whose tasks this process does as they come
        count  how many those of an iterator are about; without it no progress is shown

        Raises what `work` raises, and WorkerDied.
        """
        if not isinstance(tasks, Sequence):
            results = map(work, tasks)
            yield from results if count is None else self.progress(results, count, "parts")
            return
        with closing(self._results(work, tasks)) as shared:
            for result in self.progress(in_order(shared), len(tasks), "parts"):
                if isinstance(result, _Raised):
                    raise result.error
                yield result

    def imap_unordered(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        once: Callable[[Task], bool] = lambda task: False,
        unwanted: Callable[[Task], bool] = lambda task: False,
    ) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
        """Each task and its result, as they are done. Raises what `work` raises.

        once      whether a task can be begun only once: it is not given to another worker when its own has died
        unwanted  whether a task that is not begun is no longer asked for: it is left out
        """
        with closing(self._results(work, tasks, once, unwanted)) as results:
            for number, result in results:
                if not isinstance(result, _Raised):
                    yield tasks[number], result
                elif isinstance(result.error, WorkerDied):
                    yield tasks[number], result.error
                else:
                    raise result.error

    def _results(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        once: Callable[[Task], bool] = lambda task: False,
        unwanted: Callable[[Task], bool] = lambda task: False,
    ) -> Generator[tuple[int, Result | _Raised], None, None]:
        count = min(self.count, len(tasks))
        if count > 1 and self.executor is None:
            count = min(count, startable(count + BESIDE) - BESIDE)
        if count < 2 and self.executor is None:
            yield from enumerate(map(work, tasks))
            return
        from gradedeval.kernel.parallel.executors import CannotShare  # a small run is worked on here

        try:
            yield from self._from_workers(work, tasks, once, unwanted, count)
        except CannotShare:  # before anything was done
            yield from enumerate(map(work, tasks))

    def _from_workers(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        once: Callable[[Task], bool],
        unwanted: Callable[[Task], bool],
        count: int,
    ) -> Generator[tuple[int, Result | _Raised], None, None]:
        from concurrent.futures import BrokenExecutor

        from gradedeval.kernel.parallel.executors import check_takes_tasks, completed, guard_fault

        left, at_once = list(range(len(tasks))), max(2 * count + 1, self.limits.waiting)
        while left:
            died = []
            with self._submit(work, tasks, count) as submit:
                for number, future in completed(submit, (one for one in left if not unwanted(tasks[one])), at_once):
                    error = future.exception()
                    if isinstance(error, BrokenExecutor):
                        died.append(number)
                    else:
                        yield number, future.result() if error is None else _Raised(error)
            if died and at_once > 1 and (unguarded := guard_fault(flag.jobs, self._start_method)):
                raise unguarded
            if died and self.executor is not None and not is_client(self.executor):
                check_takes_tasks(self.executor)
            # Of several that were with workers when one died, nobody knows which did it: then each goes alone.
            lost = died[:1] if at_once == 1 else [number for number in died if once(tasks[number])]
            fault = WorkerDied(flag.cluster, MORE_MEMORY) if is_client(self.executor) else WorkerDied()
            yield from ((number, _Raised(fault)) for number in lost)
            left, at_once = [number for number in died if number not in lost], 1

    @property
    def _start_method(self) -> str:
        """How the processes are started that share the work; empty where that is not known here."""
        from gradedeval.kernel.parallel.executors import can_fork, start_method

        if self.executor is not None:
            return start_method(self.executor)
        return "fork" if can_fork() else "spawn"

    def _submit(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], count: int
    ) -> AbstractContextManager[Submit]:
        from gradedeval.kernel.parallel.executors import can_fork, forked, lent, spawned

        if is_client(self.executor):
            from gradedeval.kernel.parallel.clusters import scattered

            return scattered(self.executor, work, tasks)
        if self.executor is not None:
            return lent(self.executor, work, tasks)
        return forked(work, tasks, count) if can_fork() else spawned(work, tasks, count)


def startable(most: int) -> int:
    """How many more threads or processes may be started, up to `most`: a limit of processes, as containers have it,
    counts both alike."""
    from threading import Event, Thread

    end, started = Event(), list[Thread]()
    with suppress(RuntimeError):
        while len(started) < most:
            thread = Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    end.set()
    for thread in started:
        thread.join()
    return len(started)


_SHARING: ContextVar[Workers | None] = ContextVar("sharing", default=None)


@contextmanager
def shared_by(those: Workers | None) -> Iterator[None]:
    """While this lasts, in this thread, these are the `workers`."""
    before = _SHARING.set(those)
    try:
        yield
    finally:
        _SHARING.reset(before)


@contextmanager
def asked_for(jobs: int, progress: bool) -> Iterator[None]:
    """While this lasts, in this thread, a function of Python shares its work by so many processes, and shows bars."""
    with (
        progress_wanted() if progress else nullcontext(),
        shared_by(Workers.of(jobs, in_python if progress else no_progress)),
    ):
        yield


def is_client(executor: Any) -> bool:
    """Whether this is a client of dask."""
    return "distributed" in sys.modules and isinstance(executor, sys.modules["distributed"].Client)


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """The results of 0, 1, 2, …, each as soon as all before it are there."""
    waiting: dict[int, Result] = {}
    turn = 0
    for number, result in results:
        waiting[number] = result
        while turn in waiting:
            yield waiting.pop(turn)
            turn += 1
