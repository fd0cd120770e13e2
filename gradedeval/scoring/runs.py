"""Several runs, one after the other or by processes of their own: the same scores, notes and faults."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from gradedeval.errors import InputError
from gradedeval.parallel.forks import Failed, imap_unordered, raise_malloc_threshold, usable_workers
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.rankings.grade import grade_run
from gradedeval.rankings.grade_file import is_splittable
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import RunScores
from gradedeval.trec.source import Source

SMALL = 1 << 23
"""Bytes of runs up to which the start of processes would take longer than it saves."""

UNKNOWN = 1 << 20
"""What a run counts for that is no file."""


@dataclass
class RunResult:
    """What became of a run: its scores, or its fault; and what is said of it. `place` is what messages call it."""

    place: str
    scores: RunScores | None = None
    tag: str = ""
    notes: list[str] = field(default_factory=list)
    error: InputError | None = None


def score_runs(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, jobs: int, progress: Progress = no_progress
) -> Iterator[tuple[int, RunResult]]:
    """The number of each run and what became of it, as they are done.

    Processes share a large file, and take small ones whole, the largest first: never both at once. `progress` sees the
    parts of a run that is alone.
    """
    raise_malloc_threshold()
    jobs = usable_workers(jobs)
    sizes = [_size(source) for _, source in runs]
    shared = [number for number, (_, source) in enumerate(runs) if jobs > 1 and is_splittable(source)]
    whole = sorted(set(range(len(runs))) - set(shared), key=lambda number: (-sizes[number], number))
    if jobs > 1 and len(whole) > 1 and sum(sizes[number] for number in whole) > SMALL:
        yield from _spread(runs, scorer, whole, min(jobs, len(whole)))
    else:
        shared = list(range(len(runs)))
    for number in shared:
        yield number, score_run(*runs[number], scorer, jobs, progress if len(runs) == 1 else no_progress)


def _spread(
    runs: Sequence[tuple[str, Any]], scorer: Scorer, numbers: list[int], jobs: int
) -> Iterator[tuple[int, RunResult]]:
    names = scorer.topics

    def work(number: int) -> RunResult:
        found = score_run(*runs[number], scorer, 1)
        if found.scores is not None and found.scores.topics is names:
            found.scores = replace(found.scores, topics=[])  # most runs have the topics of the qrels
        return found

    with closing(imap_unordered(work, numbers, jobs)) as done:
        for number, found in done:
            if isinstance(found, Failed):
                name, source = runs[number]
                yield number, _lost(name) if _read_once(source) else score_run(name, source, scorer, 1)
                continue
            if found.scores is not None and not found.scores.topics:
                found.scores = replace(found.scores, topics=names)
            yield number, found


def score_run(name: str, source: Any, scorer: Scorer, jobs: int, progress: Progress = no_progress) -> RunResult:
    """What becomes of a run. A fault of the words, and no run's, is raised."""
    place = Source(source).place if isinstance(source, str | os.PathLike) or hasattr(source, "read") else name
    try:
        run = grade_run(
            source,
            scorer.qrels,
            scorer.options,
            types=scorer.types,
            jobs=jobs,
            depth=scorer.depth,
            each=scorer.score_batch,
            progress=progress,
        )
        return RunResult(run.place, scorer.score(run, name), run.tag, run.notes)
    except InputError as error:
        return RunResult(place, error=error)


def _lost(name: str) -> RunResult:
    """What becomes of a run that cannot be read again: the process that died took along what it had read."""
    return RunResult(
        name, error=InputError(name, "the process that read it died", "give it again, as a file if you can")
    )


def _read_once(source: Any) -> bool:
    """Whether a run is standard input, a pipe or an open file."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source) == "-" or (os.path.exists(source) and not os.path.isfile(source))
    return hasattr(source, "read") and not hasattr(source, "columns")


def _size(source: Any) -> int:
    try:
        return os.path.getsize(source) if isinstance(source, str | os.PathLike) else UNKNOWN
    except OSError:
        return UNKNOWN
