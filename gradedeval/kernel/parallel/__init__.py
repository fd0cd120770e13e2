"""Who shares work, at which sizes it is cut, a bar that shows how far it has come, and memory that is kept."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gradedeval.arrays import np
from gradedeval.lazy import late_modules

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gradedeval.kernel.parallel.executors import Raised, WorkerDied

__getattr__ = late_modules(__name__)


Item = TypeVar("Item")


PATIENCE = 2.0
"""Seconds of work after which a progress bar appears."""


class Progress(Protocol):
    """Passes items on one by one, and may show how many are done.

    items  a list of work to do; or with `count`, that many results as they arrive
    label  what the items are, in the plural
    """

    def __call__(self, items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]: ...


def no_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterable[Item]:
    """The items as they are."""
    return items


_STANDING: list[Any] = []
"""The bar that stands now, if any."""


def with_progress(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar where stderr is a terminal and the work takes longer than two seconds. Of
    loops within each other one has a bar at a time."""
    first = 1  # what arrives is done; what is yet to do is done when the next is asked for
    if count is None:
        items = list(items)
        first, count = 0, len(items)
    begun = time.monotonic()
    watched = sys.stderr is not None and sys.stderr.isatty() and count > 1
    bar, shown = None, 0
    try:
        for done, item in enumerate(items, first):
            late = bar is None and watched and 0 < done < count and time.monotonic() - begun > PATIENCE
            if late and not _STANDING:
                import click

                bar = click.progressbar(length=count, label=label, file=sys.stderr)
                _STANDING.append(bar)
            if bar is not None:
                bar.update(done - shown)
                shown = done
            yield item
        if bar is not None:
            bar.update(count - shown)
    finally:
        if bar is not None:
            bar.render_finish()  # it hides the cursor while it stands
            _STANDING.remove(bar)


_PROGRESS: ContextVar[Progress] = ContextVar("progress", default=no_progress)


def progress(label: str) -> Progress:
    """Return the progress of a loop over the items that `label` names, in the plural: with a bar if one is asked for by
    `shown_by`."""
    shown = _PROGRESS.get()
    return shown if shown is no_progress else partial(shown, label=label)


@contextmanager
def shown_by(progress: Progress) -> Iterator[None]:
    """Show by `progress`, in this block and thread, how much is done."""
    before = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(before)


def in_python(items: Iterable[Item], count: int | None = None, label: str = "runs") -> Iterator[Item]:
    """Pass items on, with a progress bar: that of tqdm, which knows notebooks, where it is installed; else a line on
    stderr."""
    if count is None:
        items = list(items)
        count = len(items)
    try:
        from tqdm.auto import tqdm  # an extra
    except ImportError:
        yield from _in_text(items, count, label)
        return
    yield from tqdm(items, total=count, desc=label, leave=False)


WIDTH, OFTEN = 30, 0.1
"""Characters of a bar of text, and seconds between two states of it."""


def _in_text(items: Iterable[Item], count: int, label: str) -> Iterator[Item]:
    """The items, with a bar of text in a line that is written again and again."""
    last = -OFTEN
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if sys.stderr is not None and (now - last >= OFTEN or done == count):
            last, full = now, WIDTH * done // max(count, 1)
            sys.stderr.write(f"\r{label} [{'#' * full}{'.' * (WIDTH - full)}] {done}/{count}")
            sys.stderr.write("\n" if done == count else "")
            sys.stderr.flush()


# Who shares work, and the sizes at which it is cut.


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
    large_file: int = 1 << 25
    """Bytes of a file that is worth the start of further processes."""
    small_runs: int = 1 << 23
    """Bytes of all runs up to which the start of processes takes longer than it saves."""
    cells: int = 1 << 18
    """Topics × ranks of a batch, or × judged documents; one topic may have more. It bounds memory."""
    gathered: int = 1 << 16
    """Documents of interleaved topics that are graded at once; more where one topic has more."""
    topic_stretches: int = 1 << 12
    """Stretches of lines of one topic in a block, up to which each is looked up by itself."""
    judged_ratio: int = 2
    """Judged documents for each retrieved one, up to which the judged are looked up among the retrieved."""


LIMITS = Limits()
"""The limits where none are given."""

CLUSTER_LIMITS = Limits(segment=1 << 28, runs=50)
"""The limits of a dask cluster: submitting a task takes milliseconds, so that each is about a second of work."""


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False, repr=False)
class Workers:
    """Who shares work, through an Executor of the standard library.

    count     how many work at the same time; 1 is this process alone
    progress  shows how much is done
    limits    the sizes at which work is cut
    executor  who works; None for processes of our own, which are forked where that is safe, so that nothing is copied,
              and spawned elsewhere
    """

    count: int = 1
    progress: Progress = no_progress
    limits: Limits = field(default_factory=lambda: LIMITS)
    executor: Executor | None = None

    @classmethod
    def of(cls, jobs: int | None = None, progress: Progress = no_progress, executor: Executor | None = None) -> Workers:
        """As many workers as asked for, or else as the executor or this machine has."""
        if executor is not None:
            from gradedeval.kernel.parallel.executors import count_threads  # few evaluations have one

            if threads := count_threads(executor):
                return cls(jobs or threads, progress, CLUSTER_LIMITS, executor)
        own = getattr(executor, "_max_workers", None)  # as the executors of the standard library and loky have it
        return cls(jobs or own or cores(), progress, executor=executor)

    @classmethod
    def here(cls) -> Workers:
        """Return the workers of the block that runs, `shared_by`: this process alone, unless others are named."""
        return _SHARING.get() or cls()

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

    def _is_alone(self, tasks: Sequence[Any]) -> bool:
        return self.executor is None and min(self.count, len(tasks)) < 2

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
        if isinstance(tasks, Sequence):
            count = len(tasks)
        if not isinstance(tasks, Sequence) or self._is_alone(tasks):
            done = map(work, tasks)
            yield from done if count is None else self.progress(done, count, "parts")
            return
        from gradedeval.kernel.parallel.executors import Raised, in_order

        with closing(self._results(work, tasks)) as found:
            for result in self.progress(in_order(found), len(tasks), "parts"):
                if isinstance(result, Raised):
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
        if self._is_alone(tasks):
            yield from zip(tasks, map(work, tasks), strict=True)
            return
        from gradedeval.kernel.parallel.executors import Raised, WorkerDied

        with closing(self._results(work, tasks, once, unwanted)) as found:
            for number, result in found:
                if not isinstance(result, Raised):
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
    ) -> Generator[tuple[int, Result | Raised], None, None]:
        from gradedeval.kernel.parallel.executors import CannotShare, results

        try:
            yield from results(work, tasks, self.count, self.executor, once, unwanted)
        except CannotShare:
            yield from enumerate(map(work, tasks))


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
    """While this lasts, in this thread, a function of Python shares its work among `jobs` processes, and shows bars."""
    with (
        shown_by(in_python) if progress else nullcontext(),
        shared_by(Workers.of(jobs, in_python if progress else no_progress)),
    ):
        yield


# Freed memory that is kept for what is read next, and not given back to the system.


FREED = 31 << 20
"""Just below the most that glibc lets the threshold grow to."""


@cache
def raise_malloc_threshold() -> None:
    """Make the C library keep freed memory for what is read next; once in a process.

    It returns what is above a threshold to the system, which hands it out again page by page: a third of the time of
    many small runs, and of qrels. glibc raises that threshold to the largest array that was ever freed, up to 32 MiB.
    """
    np.empty(FREED, dtype=np.uint8)
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        from gradedeval.kernel.parallel.executors import keep_freed_memory  # which dask's workers need

        keep_freed_memory()
