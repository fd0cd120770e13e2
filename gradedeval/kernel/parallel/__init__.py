"""Share work among processes, set the sizes of tasks, show progress bars, and keep freed memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gradedeval.arrays import np

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gradedeval.kernel.parallel.executors import Raised, WorkerDied

    class Progress(Protocol):
        """Passes items on one by one, and may show how many are done.

        items  a list of tasks; or with `count`, that many results as they arrive
        label  the plural noun for the items
        """

        def __call__(self, items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]: ...


Item = TypeVar("Item")


def no_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]:
    """Return the items unchanged."""
    return items


def progress(label: str) -> Progress:
    """Return the progress of a loop over items named by a plural `label`, as that of `Workers.current`."""
    handler = Workers.current().progress
    return handler if handler is no_progress else partial(handler, label=label)


def progress_in_python(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar by tqdm, which supports notebooks, if installed; else by a line on stderr."""
    if count is None:
        items = list(items)
        count = len(items)
    try:
        from tqdm.auto import tqdm  # an extra
    except ImportError:
        yield from _in_text(items, count, label)
        return
    yield from tqdm(items, total=count, desc=label, leave=False)


WIDTH, UPDATE_INTERVAL = 30, 0.1
"""Characters of a text bar, and seconds between its updates."""


def _in_text(items: Iterable[Item], count: int, label: str) -> Iterator[Item]:
    """Yield the items, with a text bar on a line that is rewritten."""
    last = -UPDATE_INTERVAL
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if sys.stderr is not None and (now - last >= UPDATE_INTERVAL or done == count):
            last, full = now, WIDTH * done // max(count, 1)
            sys.stderr.write(f"\r{label} [{'#' * full}{'.' * (WIDTH - full)}] {done}/{count}")
            sys.stderr.write("\n" if done == count else "")
            sys.stderr.flush()


# Workers, and the sizes of pieces of work.

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(eq=False, repr=False)
class Limits:
    """Sizes of pieces of work. Scores do not depend on them: tests use small ones."""

    block: int = 1 << 21
    """Bytes of a block of whole topics: enough to make numpy calls cheap, and to fit a few blocks in memory."""
    segment: int = 1 << 24
    """Bytes of a segment of a shared file: a few blocks."""
    runs: int = 1
    """Maximum small runs per task."""
    large_file: int = 1 << 25
    """Minimum bytes of a file worth more processes."""
    small_runs: int = 1 << 23
    """Bytes of all runs up to which more processes do not pay."""
    cells: int = 1 << 18
    """Topics × ranks, or × judged documents, of a batch of more than one topic. It bounds memory."""
    gathered: int = 1 << 16
    """Documents of interleaved topics graded at once; more if one topic has more."""
    topic_stretches: int = 1 << 12
    """Maximum contiguous topics in a block for separate lookups."""
    judged_ratio: int = 2
    """Maximum judged documents per retrieved one for looking up the judged among the retrieved."""


LIMITS = Limits()
"""The default limits."""

CLUSTER_LIMITS = Limits(segment=1 << 28, runs=50)
"""The limits of a dask cluster: submitting a task takes milliseconds, so each should be about a second of work."""


def cores() -> int:
    """Return the number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False, repr=False)
class Workers:
    """Workers that share work through an Executor of the standard library.

    count     number of tasks at the same time; 1 is this process alone
    progress  shows how much is done
    limits    the sizes of pieces of work
    executor  of the caller; None for our own processes: forked if that is safe, so that nothing is copied, else spawned
    """

    count: int = 1
    progress: Progress = no_progress
    limits: Limits = field(default_factory=lambda: LIMITS)
    executor: Executor | None = None

    @classmethod
    def of(cls, jobs: int | None = None, progress: Progress = no_progress, executor: Executor | None = None) -> Workers:
        """Return `jobs` workers, or as many as the executor or this machine has."""
        if executor is not None:
            from gradedeval.kernel.parallel.executors import count_threads  # few evaluations have one

            if threads := count_threads(executor):
                return cls(jobs or threads, progress, CLUSTER_LIMITS, executor)
        width = getattr(executor, "_max_workers", None)  # as the executors of the standard library and loky have it
        return cls(jobs or width or cores(), progress, executor=executor)

    @classmethod
    def current(cls) -> Workers:
        """Return the workers of the enclosing `using_workers`; this process alone by default."""
        return _SHARING.get() or cls()

    @property
    def is_remote(self) -> bool:
        """Whether the workers inherit nothing of this process, unlike forked ones."""
        if self.executor is not None or self.count == 1:
            return self.executor is not None
        from gradedeval.kernel.parallel.executors import can_fork

        return not can_fork()

    def silent(self) -> Workers:
        """Return the same workers without a progress bar."""
        return replace(self, progress=no_progress)

    def serial(self) -> Workers:
        """Return this process alone."""
        return replace(self, count=1, executor=None)

    def _is_alone(self, tasks: Sequence[Any]) -> bool:
        return self.executor is None and min(self.count, len(tasks)) < 2

    def imap(
        self, work: Callable[[Task], Result], tasks: Sequence[Task] | Iterator[Task], count: int | None = None
    ) -> Generator[Result, None, None]:
        """Yield the result of each task, in their order.

        work   is called with each task; it is sent to each worker once, and must be picklable unless workers are forked
        tasks  a sequence, which is shared; or an iterator, whose tasks this process does as they come
        count  the approximate number of tasks of an iterator; without it no progress is shown

        Raises the errors of `work`, and WorkerDied.
        """
        if isinstance(tasks, Sequence):
            count = len(tasks)
        if not isinstance(tasks, Sequence) or self._is_alone(tasks):
            done = map(work, tasks)
            yield from done if count is None else self.progress(done, count, "parts")
            return
        from gradedeval.kernel.parallel.executors import Raised, in_order

        with closing(self._results(work, tasks)) as pairs:
            for result in self.progress(in_order(pairs), len(tasks), "parts"):
                if isinstance(result, Raised):
                    raise result.error
                yield result

    def imap_unordered(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        once: Callable[[Task], bool] = lambda task: False,
        obsolete: Callable[[Task], bool] = lambda task: False,
    ) -> Generator[tuple[Task, Result | WorkerDied], None, None]:
        """Yield each task and its result, in order of completion. Raises the errors of `work`.

        once      whether a task can be started only once: it is not retried if its worker dies
        obsolete  whether a task that has not started is obsolete: it is skipped
        """
        if self._is_alone(tasks):
            yield from zip(tasks, map(work, tasks), strict=True)
            return
        from gradedeval.kernel.parallel.executors import Raised, WorkerDied

        with closing(self._results(work, tasks, once, obsolete)) as pairs:
            for number, result in pairs:
                if not isinstance(result, Raised):
                    yield tasks[number], result
                elif isinstance(result.error, WorkerDied):
                    yield tasks[number], result.error
                else:
                    raise result.error

    def _results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], *rules: Callable[[Task], bool]
    ) -> Generator[tuple[int, Result | Raised], None, None]:
        from gradedeval.kernel.parallel.executors import CannotShare, results

        try:
            yield from results(work, tasks, self.count, self.executor, *rules)
        except CannotShare:
            yield from enumerate(map(work, tasks))


_SHARING: ContextVar[Workers | None] = ContextVar("sharing", default=None)


@contextmanager
def using_workers(workers: Workers | None) -> Iterator[None]:
    """Make these the workers of `Workers.current` in this block and thread."""
    token = _SHARING.set(workers)
    try:
        yield
    finally:
        _SHARING.reset(token)


@contextmanager
def using_jobs(jobs: int, progress: bool) -> Iterator[None]:
    """Share the work of Python functions among `jobs` processes in this block and thread, optionally with progress
    bars."""
    with using_workers(Workers.of(jobs, progress_in_python if progress else Workers.current().progress)):
        yield


# Freed memory that is kept for reuse, and not returned to the system.

FREED = 31 << 20
"""Just below the maximum threshold of glibc."""


@cache
def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for reuse; once per process.

    By default it returns memory above a threshold to the system, which hands it out again page by page: a third of the
    time of many small runs, and of qrels. glibc raises that threshold to the largest array ever freed, up to 32 MiB.
    """
    np.empty(FREED, dtype=np.uint8)
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        from gradedeval.kernel.parallel.executors import keep_freed_memory  # dask's workers need it

        keep_freed_memory()
