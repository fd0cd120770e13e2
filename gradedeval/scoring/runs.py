"""Runs -> their scores: one after the other or shared by processes, with the same scores, notes and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gradedeval.errors import InputError, Note
from gradedeval.parallel.executors import raise_malloc_threshold
from gradedeval.parallel.workers import WorkerDied, Workers
from gradedeval.scoring.run_parts import GradedRun, map_run
from gradedeval.scoring.run_scores import RunScores
from gradedeval.scoring.scorer import BatchScores, Scorer
from gradedeval.trec.source import Source, is_file

UNKNOWN_SIZE = 1 << 20
"""Bytes that a run counts for that is no file on disk."""


@dataclass
class RunResult:
    """A run's scores, or why it has none. `place` is what messages call it, `tag` its sixth column."""

    place: str
    scores: RunScores | None = None
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    error: InputError | None = None


def score_runs(runs: Sequence[tuple[str, Any]], scorer: Scorer, workers: Workers) -> Iterator[tuple[int, RunResult]]:
    """The number of each run and its result, as they are done.

    Processes share a large file, and take small ones whole, the largest first: never both at once. The progress of
    parts is shown of a single run.
    """
    raise_malloc_threshold()
    sizes = [_size(source) for _, source in runs]
    shared = [number for number, (_, source) in enumerate(runs) if workers.count > 1 and _is_shared(source, workers)]
    whole = sorted(set(range(len(runs))) - set(shared), key=lambda number: (-sizes[number], number))
    if workers.count > 1 and len(whole) > 1 and sum(sizes[number] for number in whole) > workers.limits.small_runs:
        yield from _score_whole(runs, scorer, whole, workers)
    else:
        shared = list(range(len(runs)))
    for number in shared:
        yield number, score_run(*runs[number], scorer, workers if len(runs) == 1 else workers.silent())


def _score_whole(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, numbers: list[int], workers: Workers
) -> Iterator[tuple[int, RunResult]]:
    """The results of runs that are no large files, each by one process."""
    names, work = scorer.topics, partial(_score_far, scorer, workers.serial().silent())
    tasks = [(number, *runs[number]) for number in numbers]
    with closing(workers.imap_unordered(work, tasks, _is_read_once)) as results:
        for run, result in results:
            number, name, _ = run
            if isinstance(result, WorkerDied):
                error = WorkerDied(name, "run it again from a file") if _is_read_once(run) else WorkerDied(name)
                yield number, RunResult(name, error=error)
                continue
            if result.scores is not None and not result.scores.topics:
                result.scores = replace(result.scores, topics=names)
            yield number, result


def _score_far(scorer: Scorer, workers: Workers, run: tuple[int, str, Any]) -> RunResult:
    """The result of a run as it travels: most runs have the topics of the qrels, which are not sent."""
    result = score_run(*run[1:], scorer, workers)
    if result.scores is not None and result.scores.topics is scorer.topics:
        result.scores = replace(result.scores, topics=[])
    return result


def _is_read_once(run: tuple[int, str, Any]) -> bool:
    return is_file(run[2]) and Source(run[2]).is_read_once


def score_run(name: str, source: Any, scorer: Scorer, workers: Workers) -> RunResult:
    """The scores of a run, or the error in it."""
    try:
        run = map_run(scorer.score_part, source, scorer.grader, workers)
        scores = scorer.merge(name, run.batches, run.topics, run.missing, run.format)
        notes = [*run.notes, *scorer.type_notes(run.place, run.batches), *_unjudged_note(run, scorer)]
        return RunResult(run.place, scores, run.tag, notes)
    except InputError as error:
        return RunResult(Source(source).place if is_file(source) else name, error=error)


def _unjudged_note(run: GradedRun[BatchScores], scorer: Scorer) -> list[Note]:
    """A note where none of the documents that measures look at is judged: as a rule docnos are written in two ways."""
    judged = {batch.judged for batch in run.batches if batch.judged is not None}
    last = scorer.grader.last_rank
    what = f"{run.place}: none of its documents {'' if last is None else f'down to rank {last} '}is judged in its topic"
    return [Note(what, "are docnos written as in the qrels?", kind="none-judged")] if judged == {False} else []


def _is_shared(source: Any, workers: Workers) -> bool:
    """Whether a run is a file so large that processes share it."""
    if not is_file(source) or (Source(source).size or 0) <= workers.limits.large_file:
        return False
    try:
        return not Source(source).is_packed
    except InputError:
        return False


def _size(source: Any) -> int:
    size = Source(source).size if is_file(source) else None
    return UNKNOWN_SIZE if size is None else size
