"""The only join: a run seen through the qrels, as topics × depth grade codes and pool counts."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gradedeval.options import Options
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.rankings.batch import Batch, GradedRun, judged_codes, same
from gradedeval.rankings.grade_file import grade_file
from gradedeval.rankings.grade_in_memory import grade_listed
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import read_run, run_of_bytes
from gradedeval.trec.source import Source

__all__ = ["Batch", "GradedRun", "grade_run", "judged_codes"]


def grade_run(
    source: Any,
    qrels: Qrels,
    options: Options,
    keep_docnos_for: frozenset[bytes] = frozenset(),
    types: bool = False,
    *,
    jobs: int = 1,
    depth: int | None = None,
    each: Callable[[Batch], Any] = same,
    progress: Progress = no_progress,
) -> GradedRun:
    """Read a run and join it with the qrels: whole topics, in bounded batches.

    source     a path (`-` is standard input), an open file, or what `read_run` takes
    keep_docnos_for  topics whose docnos are wanted as well
    types      whether column 2, the type of each document, is wanted as well: a file is then read line by line
    jobs       processes that may share a large file
    depth      rankings of a file may be cut below this rank, if there is one
    each       what is made of each batch, in the process that read it; this is what the run gives then
    progress      passes on parts of a file as they are done, of so many in all

    Raises InputError, here or while the batches are taken, where the run cannot be read or has no topic in common with
    the qrels.
    """
    if isinstance(source, str | os.PathLike) or (hasattr(source, "read") and not hasattr(source, "columns")):
        if types:
            one = Source(source)
            listed = run_of_bytes(one.place, one.read(), options, types=True)
            return grade_listed(listed, qrels, options, keep_docnos_for, each=each)
        return grade_file(
            Source(source), qrels, options, keep_docnos_for, jobs=jobs, depth=depth, each=each, progress=progress
        )
    return grade_listed(read_run(source, options, types), qrels, options, keep_docnos_for, each=each)
