"""Who shares the work: how many processes, how progress shows, and at which sizes work is cut."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gradedeval.parallel.forks import Failed, cores, imap, imap_unordered, usable_workers
from gradedeval.parallel.progress import Progress, no_progress

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class Limits:
    """Sizes at which work is cut into pieces and shared. Scores do not depend on them: tests give small ones."""

    block: int = 1 << 21
    """Bytes of a block of whole topics: enough that calls of numpy cost nothing, and a few blocks fit in memory."""
    segment: int = 1 << 24
    """Bytes of a segment of a file that processes share: a few blocks."""
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


class WorkerFailed(Exception):
    """Work failed in another process, whatever the reason: it is to be done again in this one."""


@dataclass(frozen=True, eq=False, repr=False)
class Workers:
    """Processes that share work, this one among them.

    count     how many; `of` settles it
    progress  shows how much is done
    limits    the sizes at which work is cut
    """

    count: int = 1
    progress: Progress = no_progress
    limits: Limits = field(default_factory=lambda: LIMITS)

    @classmethod
    def of(cls, jobs: int | None = None, progress: Progress = no_progress) -> Workers:
        """So many as asked for, or as there are processors; one where this process cannot be forked safely."""
        return cls(1 if jobs == 1 else usable_workers(jobs or cores()), progress)

    def silent(self) -> Workers:
        """The same without a progress bar."""
        return replace(self, progress=no_progress)

    def serial(self) -> Workers:
        """The same with one process."""
        return replace(self, count=1)

    def imap(
        self, work: Callable[[Task], Result], tasks: Sequence[Task] | Iterator[Task], count: int | None = None
    ) -> Generator[Result, None, None]:
        """The result of each task, in their order.

        tasks  a sequence, which processes share; or an iterator, whose tasks this process does as they come
        count  how many those of an iterator are about; without it no progress is shown

        Raises WorkerFailed where another process failed.
        """
        if not isinstance(tasks, Sequence):
            results = map(work, tasks)
            yield from results if count is None else self.progress(results, count, "parts")
            return
        with closing(imap(lambda number: work(tasks[number]), len(tasks), self.count)) as shared:
            for result in self.progress(shared, len(tasks), "parts"):
                if isinstance(result, Failed):
                    raise WorkerFailed
                yield result

    def imap_unordered(
        self, work: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[tuple[Task, Result | None], None, None]:
        """Each task and its result, as they are done; None where its process failed."""
        count = min(self.count, len(tasks))
        with closing(imap_unordered(lambda number: work(tasks[number]), range(len(tasks)), count)) as results:
            for number, result in results:
                yield tasks[number], None if isinstance(result, Failed) else result
