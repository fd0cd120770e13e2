"""Runs are cut into tasks, each is worked on by somebody, and the results are put together: whoever does the work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import methodcaller
from typing import Any, Generic

import numpy as np

from gradedeval.errors import InputError, Note
from gradedeval.measures.definition import Summary
from gradedeval.parallel.executors import keep_freed_memory, raise_malloc_threshold
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.parallel.workers import WorkerDied, Workers
from gradedeval.rankings.batch import Batch
from gradedeval.rankings.grade import Grader, ListedTopics, Made, Other, PartResult, RunFile, RunPart, SegmentPart
from gradedeval.rankings.objects import NOT_LOOKED, Listing
from gradedeval.rankings.run import Run, by_rank_note, check_layout, dropped_notes, read_run, run_of_lines
from gradedeval.rankings.topics import choose_topics
from gradedeval.scoring.doubts import doubts, not_too_many
from gradedeval.scoring.run_scores import BOUNDS, RunScores
from gradedeval.scoring.scorer import BatchScores, Scorer
from gradedeval.trec.decompression import growth_up_to
from gradedeval.trec.file_formats import WholeFile
from gradedeval.trec.lines import LineLayout, NeedsLineReader
from gradedeval.trec.recognition import format_of
from gradedeval.trec.stream import PlacedPath, Source, Stream, is_file, is_path, is_url

# Work on a run part by part: a file, a pipe, a DataFrame or a dict; then the topics that count are settled.


FEW_TOPICS = 16
"""Topics that may stand in several parts before a file counts as interleaved: they are then the larger part of those
met."""


@dataclass(frozen=True, eq=False, repr=False)
class GradedRun(Generic[Made]):
    """A run joined with the qrels.

    place    what messages call it
    tag      its sixth column
    batches  its batches, or what was made of each; a topic that is in several of them is complete in the last
    topics   the topics that count, in the order of the qrels, those that are not judged last
    missing  how many of them the run lacks
    notes    what is said of topics and lines left out
    format   what a file was read as; empty for objects in memory
    """

    place: str
    tag: str
    batches: list[Made]
    topics: list[bytes]
    missing: int = 0
    notes: list[str] = field(default_factory=list)
    format: str = ""

    def with_batches(self, batches: list[Other]) -> GradedRun[Other]:
        """The same with other batches, or what was made of them."""
        return GradedRun(self.place, self.tag, batches, self.topics, self.missing, self.notes, self.format)


@dataclass(eq=False)
class FileContents(Generic[Made]):
    """What the parts of a file give together.

    batches  a topic in several of them is complete in the last, which counts
    topics   all topics, in order of appearance
    divided  those whose lines were met in several blocks
    dropped  topic -> how many of its documents were dropped because they repeat
    listing  what a look at their order says
    """

    batches: list[Made] = field(default_factory=list)
    topics: dict[bytes, None] = field(default_factory=dict)
    divided: set[bytes] = field(default_factory=set)
    dropped: dict[bytes, int] = field(default_factory=dict)
    tag: str = ""
    interleaved: bool = False
    listing: Listing = NOT_LOOKED

    @property
    def is_partial(self) -> bool:
        """Whether there are topics whose documents are to be gathered from the whole file."""
        return self.interleaved or bool(self.divided)

    def add(self, part: PartResult[Made]) -> None:
        """Take the next part."""
        self.tag = self.tag or part.tag
        for topic in part.topics:
            if topic in self.topics:
                self.divided.add(topic)
            self.topics[topic] = None
        self.dropped |= part.dropped
        self.batches += part.batches
        self.listing += part.listing
        self.interleaved = part.interleaved or len(self.divided) > max(FEW_TOPICS, len(self.topics) // 2)


def grade_run(source: Any, grader: Grader, workers: Workers) -> GradedRun[Batch]:
    """Join a run with the qrels: whole topics, in batches of bounded size.

    source  a path (`-` is standard input), an open file, or what `read_run` takes

    Raises InputError where the run cannot be read or has no topic in common with the qrels.
    """
    return map_run(methodcaller("grade", grader), source, grader, workers)


def run_parts(source: Any, grader: Grader, workers: Workers) -> list[SegmentPart]:
    """A large run file in parts that workers can share, and the file need not stay open; none of another run. Raises
    InputError as `grade_run`."""
    with growth_up_to(grader.options.max_growth), closing(Stream(Source(source))) as stream:
        form = format_of(stream, "run", grader.options.run_format)
        if not isinstance(form, LineLayout) or not form.in_blocks or grader.types:
            return []
        file = RunFile(stream, grader, form)
        return [part.closed() for part in file.segments(workers)] if file.is_large else []


def map_run(
    work: Callable[[RunPart], PartResult[Made]],
    source: Any,
    grader: Grader,
    workers: Workers,
    found: FileContents[Made] | None = None,
) -> GradedRun[Made]:
    """`work` of each part of a run, shared by processes where it is a large file. Raises InputError as `grade_run`.

    found  what the parts of a file gave, where that is known
    """
    if not is_file(source):
        if hasattr(source, "iloc") and not grader.types:
            from gradedeval.rankings.grade import arrow_run  # files need no tables

            with suppress(NeedsLineReader):
                if (table := arrow_run(source, grader.options)) is not None:
                    whole = FileContents[Made]()
                    whole.add(work(table))
                    return _settled(work, whole, "run", grader)
        return map_lists(work, read_run(source, grader.options, grader.types), grader)
    with growth_up_to(grader.options.max_growth), closing(Stream(Source(source))) as stream:
        form = format_of(stream, "run", grader.options.run_format)
        run = _map_stream(work, stream, form, grader, workers, found)
    notes = [f"{run.place}: {note}" for note in form.notes]
    if isinstance(form, LineLayout) and form.by_rank and grader.options.order == "score":
        notes.append(by_rank_note(run.place))
    return replace(run, format=run.format or form.format, notes=[*notes, *run.notes])


def _map_stream(
    work: Callable[[RunPart], PartResult[Made]],
    stream: Stream,
    form: LineLayout | WholeFile,
    grader: Grader,
    workers: Workers,
    found: FileContents[Made] | None,
) -> GradedRun[Made]:
    """`work` of each part of a run file in a format."""
    options, types = grader.options, grader.types
    if isinstance(form, WholeFile):
        from gradedeval.rankings.whole_files import read_whole  # most files are lines

        notes: list[str] = []
        format, content = read_whole(form.format, stream, "run", options.lenient, None, notes)
        run = read_run(content, options, types, stream.place)
        run.notes[:0] = notes
        return replace(map_lists(work, run, grader), format=format)
    check_layout(stream.place, form, options, types)
    if form.in_blocks and not types:
        with suppress(NeedsLineReader):
            return _map_file(work, stream, form, grader, workers, found)
    return map_lists(work, run_of_lines(stream, options, types, form), grader)


def map_lists(work: Callable[[RunPart], PartResult[Made]], run: Run, grader: Grader) -> GradedRun[Made]:
    """`work` of a run in lists, as one part."""
    chosen = choose_topics(run.names, run.place, grader.qrels, grader.options)
    part = work(ListedTopics(run, chosen.topics))
    notes = [*run.notes, *run.listing.notes(run.place, grader.options), *chosen.notes]
    return GradedRun(run.place, run.tag, part.batches, chosen.topics, chosen.missing, notes)


def _map_file(
    work: Callable[[RunPart], PartResult[Made]],
    stream: Stream,
    layout: LineLayout,
    grader: Grader,
    workers: Workers,
    found: FileContents[Made] | None,
) -> GradedRun[Made]:
    """`work` of each part of a run file, and again of topics whose lines stand in several parts.

    Raises NeedsLineReader where a line is not one of a run, and WorkerDied.
    """
    file, whole = RunFile(stream, grader, layout), found or FileContents[Made]()
    workers = workers if file.is_large else workers.serial()
    if found is None:
        with closing(workers.imap(work, *file.parts(workers))) as results:
            for result in results:
                whole.add(result)
                if whole.interleaved:
                    break
    if not whole.topics:
        raise NeedsLineReader  # which says that the file is empty
    if whole.is_partial:
        from gradedeval.rankings.interleaved import gather_topics  # in few runs topics take turns

        only = None if whole.interleaved else frozenset(whole.divided)
        with closing(workers.imap(work, gather_topics(stream, layout, grader, workers, only))) as results:
            for result in results:
                for topic in result.topics:
                    whole.dropped.pop(topic, None)  # it is complete now, and counted again
                whole.add(result)
    return _settled(work, whole, stream.place, grader)


def _settled(
    work: Callable[[RunPart], PartResult[Made]], whole: FileContents[Made], place: str, grader: Grader
) -> GradedRun[Made]:
    """What the parts give, and `work` of the topics that they lack."""
    chosen = choose_topics(whole.topics, place, grader.qrels, grader.options)
    missing = [topic for topic in chosen.topics if topic not in whole.topics]
    if missing:
        whole.batches += work(ListedTopics(Run(place, {}), missing)).batches
    dropped = dropped_notes(place, sum(whole.dropped.values()), grader.options)
    notes = [*dropped, *whole.listing.notes(place, grader.options), *chosen.notes]
    return GradedRun(place, whole.tag, whole.batches, chosen.topics, chosen.missing, notes)


# A run -> its scores, or what is wrong with it.


@dataclass
class RunResult:
    """A run's scores, or why it has none. `place` is what messages call it, `tag` its sixth column."""

    place: str
    scores: RunScores | None = None
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    error: InputError | None = None


def score_run(
    name: str,
    source: Any,
    scorer: Scorer,
    workers: Workers | None = None,
    found: FileContents[BatchScores] | None = None,
    names: Sequence[str] | None = None,
) -> RunResult:
    """The scores of a run, or the error in it.

    found  what the parts of its file gave, where that is known
    names  what notes call the measures; without it by their labels
    """
    try:
        run = map_run(scorer.score_part, source, scorer.grader, workers or Workers(), found)
        scores = scorer.merge(name, run.batches, run.topics, run.missing, run.format)
        notes = [*run.notes, *scorer.type_notes(run.place, run.batches), *_unjudged_note(run, scorer)]
        notes += doubts(run, scores, scorer, names)
        return RunResult(run.place, scores, run.tag, not_too_many(notes))
    except InputError as error:
        return RunResult(Source(source).place if is_file(source) else name, error=error)


def _unjudged_note(run: GradedRun[BatchScores], scorer: Scorer) -> list[Note]:
    """A note where none of the documents that measures look at is judged: as a rule docnos are written in two ways."""
    judged = {batch.judged for batch in run.batches if batch.judged is not None}
    last = scorer.grader.last_rank
    what = f"{run.place}: none of its documents {'' if last is None else f'down to rank {last} '}is judged in its topic"
    return [Note(what, "are docnos written as in the qrels?", kind="none-judged")] if judged == {False} else []


# What is left of a run's scores where nobody asks for topics: of ten thousand runs far away little has to travel.


@dataclass(frozen=True, eq=False, repr=False)
class RunSummary(RunScores):
    """A run's scores without those of topics.

    summaries  "score", or a part of the residual, or a bound -> the summary by each measure
    counts     how many topics each measure's is over
    zero       the measures by which the topics without anything relevant all score 0
    """

    summaries: Mapping[str, Sequence[float]] = field(default_factory=dict)
    counts: Sequence[int] = ()
    zero: frozenset[int] = frozenset()

    def summary(self, part: str, column: int, summary: Summary) -> float:
        return self.summaries[part][column]

    def count(self, column: int) -> int:
        return self.counts[column]

    def is_zero(self, topics: Sequence[str], column: int) -> bool:
        return column in self.zero


def summarized(run: RunScores, scorer: Scorer) -> RunSummary:
    """The summaries of a run, and the little else that messages need."""
    kinds = [measure.definition.summary for measure in scorer.measures]
    parts = ["score", *(("residual", "unjudged") if scorer.options.wants_residuals else ())]
    parts += BOUNDS if scorer.options.bounds else ()
    none = np.empty((0, len(kinds)))
    empty = scorer.without_relevant.items() if scorer.grades.top > 0 else ()
    return RunSummary(
        *(run.run, run.topics, run.missing, none, none, none, none.astype(bool), run.format, run.empty, None),
        {part: [run.summary(part, column, kind) for column, kind in enumerate(kinds)] for part in parts},
        [run.count(column) for column in range(len(kinds))],
        frozenset(column for topics, columns in empty for column in columns if run.is_zero(topics, column)),
    )


def packed(run: RunScores, scorer: Scorer) -> RunScores:
    """The scores as they travel: most runs have the topics of the qrels, which are not sent."""
    return replace(run, topics=[]) if run.topics is scorer.topics else run


def unpacked(run: RunScores, scorer: Scorer) -> RunScores:
    """The same where they arrive; thousands of runs share one list of topics."""
    return run if run.topics else replace(run, topics=scorer.topics)


UNKNOWN_SIZE = 1 << 20
"""Bytes that a run counts for that is not a file on disk."""

ASKED = 100
"""Runs at URLs whose sizes no listing told and that are asked for them: a large one is cut into parts. Where there are
more each of these is taken whole."""

NumberedRun = tuple[int, str, Any]
"""The number of a run, its name and what it is read from."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What one worker does by itself: whole runs, or a part of one.

    number    its own, among the tasks of an evaluation
    runs      that are scored, or the one that the part is of
    part      of a large file: whole topics
    turn      the place of the part among those of the run
    by_topic  whether the scores of topics are wanted, or summaries alone
    plan      the name of the plan that it is of, where it is of one
    """

    number: int
    runs: tuple[NumberedRun, ...]
    part: RunPart | None = None
    turn: int = 0
    by_topic: bool = True
    plan: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What comes of the task of a number: the results of its runs, or what is in the part, or why it cannot be read.
    `plan` is that of the task."""

    number: int
    runs: list[RunResult] = field(default_factory=list)
    part: PartResult[BatchScores] | None = None
    error: InputError | NeedsLineReader | None = None
    plan: str = ""


def work(scorer: Scorer, task: Task, progress: Progress = no_progress) -> Result:
    """The result of a task, which depends on nothing else. One thread does it, in any process that has read the scorer;
    nothing but the files of its runs is read. `progress` shows the parts of a run that is taken whole."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        keep_freed_memory()
    if task.part is None:
        done = [score_run(name, source, scorer, Workers(progress=progress)) for _, name, source in task.runs]
        return Result(task.number, [_packed(result, task, scorer) for result in done])
    try:
        return Result(task.number, part=scorer.score_part(task.part))
    except (InputError, NeedsLineReader) as error:
        return Result(task.number, error=error)


def _packed(result: RunResult, task: Task, scorer: Scorer) -> RunResult:
    if result.scores is not None:
        scores = result.scores if task.by_topic else summarized(result.scores, scorer)
        result.scores = packed(scores, scorer)
    return result


# How runs are cut


def tasks_of(
    runs: Sequence[tuple[str, Any]],
    scorer: Scorer,
    workers: Workers,
    by_topic: bool = True,
    *,
    far: bool | None = None,
    most: int | None = None,
) -> list[Task]:
    """The tasks of all runs. A large file is cut into parts; others are taken whole, the largest first.

    far   whether those who work inherit nothing of this process; None: as these workers
    most  runs of a task; None: so many that each takes a while where it takes time to hand one over
    """
    far = workers.far if far is None else far
    listed: list[NumberedRun] = [(number, name, source) for number, (name, source) in enumerate(runs)]
    if workers.count == 1 and not far:
        return [Task(run[0], (run,), by_topic=by_topic) for run in listed]
    listed = [(number, name, _seen_from_afar(source)) for number, name, source in listed] if far else listed
    sizes = _sizes([source for _, _, source in listed])
    tasks, whole = list[Task](), list[NumberedRun]()
    for run in listed:
        parts = _parts(run[2], sizes[run[0]], scorer, workers)
        tasks += [Task(len(tasks) + turn, (run,), part, turn, by_topic) for turn, part in enumerate(parts)]
        whole += [] if parts else [run]
    whole.sort(key=lambda run: (-sizes[run[0]], run[0]))
    most = most or min(workers.limits.runs, max(1, len(whole) // (4 * workers.count)))
    groups = enumerate(_groups(whole, sizes, most, workers.limits.segment), len(tasks))
    return tasks + [Task(number, group, by_topic=by_topic) for number, group in groups]


def _groups(
    runs: Sequence[NumberedRun], sizes: Sequence[int], most: int, size: int
) -> Iterator[tuple[NumberedRun, ...]]:
    """Runs that follow each other, so many at most, and of about so many bytes."""
    group: list[NumberedRun] = []
    for run in runs:
        if group and (len(group) == most or sum(sizes[number] for number, *_ in (*group, run)) > size):
            yield tuple(group)
            group = []
        group.append(run)
    if group:
        yield tuple(group)


def _seen_from_afar(source: Any) -> Any:
    """A path as a process in another folder finds it."""
    if not is_path(source) or is_url(source) or os.fspath(source) == "-":
        return source
    return PlacedPath(os.path.abspath(source), os.fspath(source))


def _parts(source: Any, size: int, scorer: Scorer, workers: Workers) -> Sequence[RunPart]:
    """The parts of a file that is so large that workers share it; none of another run, or of one that cannot be read,
    which is told by who reads it whole."""
    if is_file(source) and size > workers.limits.large_file and not _stays(source):
        with suppress(InputError, NeedsLineReader):
            return run_parts(source, scorer.grader, workers)
    return []


def _sizes(sources: Sequence[Any]) -> list[int]:
    """Bytes of each run, as far as that is quickly known: servers are asked of a few that they did not list."""
    asked = [is_path(source) and is_url(source) and not _is_listed(source) for source in sources]
    few = sum(asked) <= ASKED
    return [UNKNOWN_SIZE if one and not few else _size(source) for source, one in zip(sources, asked, strict=True)]


def _is_listed(url: Any) -> bool:
    from gradedeval.trec.remote import LISTED  # few evaluations read a URL

    return os.fspath(url) in LISTED


def _size(source: Any) -> int:
    size = Source(source).size if is_file(source) else None
    return UNKNOWN_SIZE if size is None else size


# How results are put together


@dataclass(eq=False, repr=False)
class CutRun:
    """A run in parts, of which some are done.

    count    how many there are
    done     how many from the first on have been taken: `whole` is what is in them
    waiting  what came before its turn
    ended    whether nothing more is asked of the parts
    error    why they are of no use
    """

    count: int = 0
    done: int = 0
    whole: FileContents[BatchScores] = field(default_factory=FileContents)
    waiting: dict[int, Result] = field(default_factory=dict)
    ended: bool = False
    error: InputError | NeedsLineReader | None = None

    def add(self, turn: int, result: Result) -> bool:
        """Take a part, whichever comes; whether that ends the run."""
        if self.ended:
            return False
        self.waiting[turn] = result
        while not self.ended and (following := self.waiting.pop(self.done, None)):
            self.done += 1
            if following.part is None:
                self.error = following.error
            else:
                self.whole.add(following.part)
            self.ended = self.done == self.count or self.whole.interleaved or self.error is not None
        return self.ended


class Collector:
    """Puts the results of tasks together, run by run, in whatever order they come."""

    def __init__(self, tasks: Sequence[Task], scorer: Scorer) -> None:
        self.scorer = scorer
        self.cut = {number: CutRun() for task in tasks if task.part for number, *_ in task.runs}
        self.unread: list[Task] = []
        self.partial: list[Task] = []
        for task in tasks:
            if task.part:
                self.cut[task.runs[0][0]].count += 1

    def needs_no_more(self, task: Task) -> bool:
        """Whether the task is of a run that is at its end already."""
        return task.part is not None and self.cut[task.runs[0][0]].ended

    def add(self, task: Task, result: Result | WorkerDied) -> Iterator[tuple[int, RunResult]]:
        """Take the result of a task, or that there is none; gives the numbers and results of runs that are complete."""
        if task.part is not None:
            if isinstance(result, WorkerDied):
                result = Result(task.number, error=result.replace(place=task.runs[0][1]))
            yield from self._part(task, result)
        elif not isinstance(result, WorkerDied):
            for (number, _, source), run in zip(task.runs, result.runs, strict=True):
                yield number, self._arrived(run, source)
        elif len(task.runs) > 1:  # nobody knows on which of them
            self.unread += [replace(task, runs=(run,)) for run in task.runs]
        else:
            ((number, name, source),) = task.runs
            hint = "run it again from a file" if _stays(source) else result.hint
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
        elif run.whole.is_partial:
            self.partial.append(task)
        else:
            yield number, self._finished(task, Workers())

    def _finished(self, task: Task, workers: Workers) -> RunResult:
        number, name, source = task.runs[0]
        result = score_run(name, source, self.scorer, workers, self.cut.pop(number).whole)
        return self._arrived(_packed(result, task, self.scorer), source)

    def _arrived(self, result: RunResult, source: Any) -> RunResult:
        if result.scores is not None:
            result.scores = unpacked(result.scores, self.scorer)
        elif (
            isinstance(source, PlacedPath)
            and result.error
            and result.error.kind == "no-file"
            and os.path.exists(source)
        ):
            hint = "give a path, or a URL, that all of them reach"
            result.error = result.error.replace(problem="workers see no such file", hint=hint)
        return result

    def rest(self, workers: Workers) -> Iterator[tuple[int, RunResult]]:
        """The numbers and the results of runs whose topics stand in several parts: of these topics the file is read
        again."""
        for task in self.partial:
            yield task.runs[0][0], self._finished(task, workers)


def score_runs(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, workers: Workers, by_topic: bool = True
) -> Iterator[tuple[int, RunResult]]:
    """The number of each run and its result, as they are done. The progress of parts is shown of a single run."""
    raise_malloc_threshold()
    alone = len(runs) == 1
    if workers.count > 1 and workers.executor is None and not alone:
        near = [_size(source) for _, source in runs if not (is_path(source) and is_url(source))]
        small = len(near) == len(runs) and sum(near) <= workers.limits.small_runs
        workers = workers.serial() if small else workers
    tasks = tasks_of(runs, scorer, workers, by_topic)
    collector, parts = Collector(tasks, scorer), alone and len(tasks) > 1
    do = (
        partial(work, scorer, progress=workers.progress)
        if alone and not parts and workers.executor is None
        else partial(work, scorer)
    )
    while tasks:
        here = [task for task in tasks if workers.far and any(_stays(source) for *_, source in task.runs)]
        sent = [task for task in tasks if task not in here]
        for crew, some in ((workers, sent), (workers.serial(), here)):
            results = crew.imap_unordered(do, some, _is_begun_once, collector.needs_no_more)
            with closing(results):
                for task, result in workers.progress(results, len(some), "parts") if parts else results:
                    yield from collector.add(task, result)
        tasks, collector.unread = collector.unread, []
    yield from collector.rest(workers if alone else workers.silent())


def _stays(source: Any) -> bool:
    """Whether a run can be read by this process or its children alone, or only once."""
    if is_path(source) and is_url(source):
        from gradedeval.trec.remote import is_here_alone  # few evaluations read a URL

        return is_here_alone(os.fspath(source))
    return is_file(source) and Source(source).is_read_once


def _is_begun_once(task: Task) -> bool:
    return any(_stays(source) for *_, source in task.runs)
