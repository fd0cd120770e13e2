"""Cut runs into tasks for workers, and collect the results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError
from gradedeval.kernel.parallel import Workers, no_progress, raise_malloc_threshold
from gradedeval.kernel.parallel.executors import WorkerDied, keep_freed_memory
from gradedeval.kernel.rankings.grade import PartResult, RunFile
from gradedeval.kernel.scoring.scorer import BatchScores, Scorer
from gradedeval.kernel.scoring.tasks import RunResult, score_run, size_of
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.lines import LineLayout, NeedsLineReader
from gradedeval.kernel.trec.stream import PlacedPath, Source, Stream, is_file, is_path, is_url

if TYPE_CHECKING:
    from gradedeval.kernel.parallel import Progress
    from gradedeval.kernel.rankings.grade import RunPart


NumberedRun = tuple[int, str, Any]
"""The number, the name and the source of a run."""


@dataclass(eq=False, repr=False)
class Task:
    """The work of one worker: whole runs, or a part of a run.

    number    number of the task
    runs      runs to score, or the run of the part
    part      part of a large file: whole topics
    turn      index of the part in its run
    by_topic  whether to return scores of topics or summaries only
    """

    number: int
    runs: tuple[NumberedRun, ...]
    part: RunPart | None = None
    turn: int = 0
    by_topic: bool = True


@dataclass(eq=False, repr=False)
class Result:
    """The result of a task: results of its runs, scored part, or error."""

    number: int
    runs: list[RunResult] = field(default_factory=list)
    part: PartResult[BatchScores] | None = None
    error: InputError | NeedsLineReader | None = None


def work(scorer: Scorer, task: Task, progress: Progress = no_progress) -> Result:
    """Return the result of a task. `progress` shows the parts of a run that is read whole."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        keep_freed_memory()
    if task.part is None:
        alone = Workers(progress=progress)
        done = [score_run(name, source, scorer, alone, by_topic=task.by_topic) for _, name, source in task.runs]
        for result in done:
            if result.scores is not None and result.scores.topics is scorer.topics:
                result.scores = replace(result.scores, topics=[])  # most runs have the topics of the qrels
        return Result(task.number, done)
    try:
        return Result(task.number, part=scorer.score_part(task.part))
    except (InputError, NeedsLineReader) as error:
        return Result(task.number, error=error)


# Cut runs into tasks


def tasks_of(
    runs: Sequence[tuple[str, Any]],
    scorer: Scorer,
    workers: Workers,
    by_topic: bool = True,
) -> list[Task]:
    """Return the tasks of all runs: large files in parts, and whole runs, the largest first."""
    remote = workers.is_remote
    listed: list[NumberedRun] = [(number, name, source) for number, (name, source) in enumerate(runs)]
    if workers.count == 1 and not remote:
        return [Task(run[0], (run,), by_topic=by_topic) for run in listed]
    listed = [(number, name, _placed_path(source)) for number, name, source in listed] if remote else listed
    sizes = [size_of(source) for _, _, source in listed]
    tasks, whole = list[Task](), list[NumberedRun]()
    for run in listed:
        parts = _parts(run[2], sizes[run[0]], scorer, workers)
        tasks += [Task(len(tasks) + turn, (run,), part, turn, by_topic) for turn, part in enumerate(parts)]
        whole += [] if parts else [run]
    whole.sort(key=lambda run: (-sizes[run[0]], run[0]))
    most = min(workers.limits.runs, max(1, len(whole) // (4 * workers.count)))
    groups = enumerate(_groups(whole, sizes, most, workers.limits.segment), len(tasks))
    return tasks + [Task(number, group, by_topic=by_topic) for number, group in groups]


def _groups(
    runs: Sequence[NumberedRun], sizes: Sequence[int], most: int, size: int
) -> Iterator[tuple[NumberedRun, ...]]:
    """Yield groups of consecutive runs with at most `most` runs and about `size` bytes."""
    group: list[NumberedRun] = []
    for run in runs:
        if group and (len(group) == most or sum(sizes[number] for number, *_ in (*group, run)) > size):
            yield tuple(group)
            group = []
        group.append(run)
    if group:
        yield tuple(group)


def _placed_path(source: Any) -> Any:
    """Return a path that a process in a different folder can find."""
    if not is_path(source) or is_url(source) or os.fspath(source) == "-":
        return source
    return PlacedPath(os.path.abspath(source), os.fspath(source))


def _parts(source: Any, size: int, scorer: Scorer, workers: Workers) -> Sequence[RunPart]:
    """Return the parts of a large file; empty for other runs and unreadable files: the worker reports the error."""
    if not is_file(source) or size <= workers.limits.large_file or _stays_here(source):
        return []
    with suppress(InputError, NeedsLineReader), closing(Stream(Source(source))) as stream:
        form = format_of(stream, "run", scorer.options.run_format)
        if isinstance(form, LineLayout) and form.in_blocks and not scorer.grader.reads_types:
            file = RunFile(stream, scorer.grader, form)
            if file.is_large:
                from gradedeval.kernel.rankings.segments import segments_of  # few files are so large

                return [part.closed() for part in segments_of(file, workers)]
    return []


# Collect results


@dataclass(eq=False, repr=False)
class CutRun:
    """A run in parts, some of which are done.

    count    number of parts
    done     number of parts merged in order: `whole` is their content
    waiting  parts that arrived before their turn
    ended    whether further parts are ignored
    error    error that makes the parts useless
    """

    count: int = 0
    done: int = 0
    whole: PartResult[BatchScores] = field(default_factory=PartResult)
    waiting: dict[int, Result] = field(default_factory=dict)
    ended: bool = False
    error: InputError | NeedsLineReader | None = None

    def add(self, turn: int, result: Result) -> bool:
        """Add a part in any order; return whether the run is complete."""
        if self.ended:
            return False
        self.waiting[turn] = result
        while not self.ended and (following := self.waiting.pop(self.done, None)):
            self.done += 1
            if following.part is None:
                self.error = following.error
            else:
                self.whole.add(following.part)
            self.ended = self.done == self.count or self.whole.is_interleaved or self.error is not None
        return self.ended


class Collector:
    """Collects the results of tasks in any order, run by run."""

    def __init__(self, tasks: Sequence[Task], scorer: Scorer) -> None:
        self.scorer = scorer
        self.cut = {number: CutRun() for task in tasks if task.part for number, *_ in task.runs}
        self.unread: list[Task] = []
        self.partial: list[Task] = []
        for task in tasks:
            if task.part:
                self.cut[task.runs[0][0]].count += 1

    def needs_no_more(self, task: Task) -> bool:
        """Return whether the run of a task is complete."""
        return task.part is not None and self.cut[task.runs[0][0]].ended

    def add(self, task: Task, result: Result | WorkerDied) -> Iterator[tuple[int, RunResult]]:
        """Add the result of a task; yield the numbers and results of complete runs."""
        if task.part is not None:
            if isinstance(result, WorkerDied):
                result = Result(task.number, error=result.replace(place=task.runs[0][1]))
            yield from self._part(task, result)
        elif not isinstance(result, WorkerDied):
            for (number, _, source), run in zip(task.runs, result.runs, strict=True):
                yield number, self._arrived(run, source)
        elif len(task.runs) > 1:  # any of them may be the cause
            self.unread += [replace(task, runs=(run,)) for run in task.runs]
        else:
            ((number, name, source),) = task.runs
            hint = "run it again from a file" if _stays_here(source) else result.hint
            yield number, RunResult(name, error=result.replace(place=name, hint=hint))

    def _part(self, task: Task, result: Result) -> Iterator[tuple[int, RunResult]]:
        number, _, source = task.runs[0]
        run = self.cut[number]
        if not run.add(task.turn, result):
            return
        if isinstance(run.error, NeedsLineReader):
            self.unread.append(replace(task, part=None))
        elif run.error is not None:
            yield number, RunResult(Source(source).place, error=run.error)
        elif run.whole.is_interleaved or run.whole.divided:
            self.partial.append(task)
        else:
            yield number, self._finished(task, Workers())

    def _finished(self, task: Task, workers: Workers) -> RunResult:
        number, name, source = task.runs[0]
        result = score_run(name, source, self.scorer, workers, self.cut.pop(number).whole, by_topic=task.by_topic)
        return self._arrived(result, source)

    def _arrived(self, result: RunResult, source: Any) -> RunResult:
        if result.scores is not None and not result.scores.topics:  # runs share one list of topics
            result.scores = replace(result.scores, topics=self.scorer.topics)
        is_missing = isinstance(source, PlacedPath) and result.error is not None and result.error.kind == "no-file"
        if result.error and is_missing and os.path.exists(source):
            hint = "give a path, or a URL, that all of them reach"
            result.error = result.error.replace(problem="workers see no such file", hint=hint)
        return result

    def rest(self, workers: Workers) -> Iterator[tuple[int, RunResult]]:
        """Yield the numbers and results of runs with topics in several parts, which are read again."""
        for task in self.partial:
            yield task.runs[0][0], self._finished(task, workers)


def score_runs(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, workers: Workers, by_topic: bool = True
) -> Iterator[tuple[int, RunResult]]:
    """Yield the number and the result of each run as it is done. A single run has a progress bar of its parts."""
    raise_malloc_threshold()
    alone = len(runs) == 1
    tasks = tasks_of(runs, scorer, workers, by_topic)
    collector, parts = Collector(tasks, scorer), alone and len(tasks) > 1
    do = partial(work, scorer)
    if alone and not parts and workers.executor is None:
        do = partial(do, progress=workers.progress)
    while tasks:
        here = [task for task in tasks if workers.is_remote and any(_stays_here(source) for *_, source in task.runs)]
        sent = [task for task in tasks if task not in here]
        for crew, batch in ((workers, sent), (workers.serial(), here)):
            results = crew.imap_unordered(do, batch, _starts_once, collector.needs_no_more)
            with closing(results):
                for task, result in workers.progress(results, len(batch), "parts") if parts else results:
                    yield from collector.add(task, result)
        tasks, collector.unread = collector.unread, []
    yield from collector.rest(workers if alone else workers.silent())


def _stays_here(source: Any) -> bool:
    """Return whether a run can be read only in this process or its children, or only once."""
    if is_path(source) and is_url(source):
        return os.fspath(source).startswith("memory://")
    return is_file(source) and Source(source).is_read_once


def _starts_once(task: Task) -> bool:
    return any(_stays_here(source) for *_, source in task.runs)
