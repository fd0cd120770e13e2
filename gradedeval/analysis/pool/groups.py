"""Which team made which run: `--groups FILE`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns
from gradedeval.arrays import Bools, Ints
from gradedeval.errors import InputError, ProblemList, did_you_mean, plural, shorten

if TYPE_CHECKING:
    pass


def read_groups(
    source: str | os.PathLike[str] | Mapping[str, str] | None, runs: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The group of each run, and notes. A run that is in none is a group of its own.

    source  a file with lines of run and group, or a dict; None: each run is a group

    Raises InputError where it names a run that is not there, or one twice.
    """
    if source is None:
        return list(runs), []
    if isinstance(source, Mapping):
        group_of: dict[str, str] = {str(run): str(group) for run, group in source.items()}
        for run in group_of:
            if run not in runs:
                raise InputError("groups", f"unknown run '{run}'", _hint(run, runs), usage=True)
        place = "groups"
    else:
        group_of, place = _read(source, runs)
    alone = [run for run in runs if run not in group_of]
    notes = [f"{place}: {len(alone)} {plural(len(alone), 'run')} in no group ({shorten(alone)}); each is its own"]
    return [group_of.get(run, run) for run in runs], notes if alone else []


def _read(source: Any, runs: Sequence[str]) -> tuple[dict[str, str], str]:
    from gradedeval.trec.small_tables import small_table  # few pools need a table

    table = small_table(source, ("run", "group"), hint="expected lines such as 'bm25.run team'", words=True)
    problems: ProblemList = table.problems
    for row in table.rows:
        if row.cells["run"] not in runs:
            problems.add(row.line, f"unknown run '{row.cells['run']}'", _hint(row.cells["run"], runs))
    table.check([row.cells["run"] for row in table.rows], ("run",))
    return {row.cells["run"]: row.cells["group"] for row in table.rows}, table.place


def _hint(run: str, runs: Sequence[str]) -> str:
    return did_you_mean(run, runs) or f"as in {shorten(runs)}"


def group_counts(ranked: RankedRuns, group_of: list[str], depth: int | None) -> tuple[dict[str, Bools], Ints]:
    """What each group gives to the pool; and documents: how many groups give it."""
    given: dict[str, Bools] = {}
    for run, group in zip(ranked.runs, group_of, strict=True):
        own = contributed(run, depth, len(ranked))
        given[group] = given[group] | own if group in given else own
    by = np.zeros(len(ranked), dtype=np.int64)
    for own in given.values():
        by += own
    return given, by


def contributed(run: RankedRun, depth: int | None, documents: int) -> Bools:
    """documents: whether a run gives it to the pool."""
    given = np.zeros(documents, dtype=bool)
    given[run.document if depth is None else run.document[run.rank <= depth]] = True
    return given
