"""The run that others are compared with: one of the runs, another file, or saved scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gradedeval.analysis.saved_scores import holds_scores
from gradedeval.analysis.score_matrix import AnyScores, Matrix, checked, join_matrices, to_matrix
from gradedeval.errors import InputError, shorten
from gradedeval.scoring.run_names import file_names
from gradedeval.trec.paths import same_file
from gradedeval.trec.source import is_named, is_url


@dataclass(frozen=True)
class Baseline:
    """What `--baseline` names; all None: no baseline.

    name    one of the runs
    path    another run
    saved   a file of saved scores, and the run `within` it if it has several; in Python also a frame or an evaluation
    """

    name: str | None = None
    path: str | None = None
    saved: AnyScores | None = None
    within: str | None = None

    @classmethod
    def read(cls, word: str | None, runs: Sequence[str]) -> Baseline:
        """What the value of `--baseline` names, given these run files: a run that is one of them counts once."""
        if word is None:
            return cls()
        names = file_names(list(runs))
        same = [name for name, path in zip(names, runs, strict=True) if word == path or same_file(word, path)]
        if same:
            return cls(name=same[0])
        file, colon, within = word.rpartition(":")
        names_one = colon and is_named(file) and "/" not in within
        if os.path.exists(word) or (is_url(word) and not names_one):
            return cls(saved=word) if holds_scores(word) else cls(path=word, name=file_names([*runs, word])[-1])
        if names_one and holds_scores(file):
            return cls(saved=file, within=within)
        return cls(name=word)


def add_baseline(matrix: Matrix, given: Baseline) -> tuple[Matrix, str | None]:
    """The scores with those of the baseline added, and its name; None without a baseline.

    Raises InputError if it is not found, or its file has several runs and none is named.
    """
    if given.saved is None:
        if given.name is not None and given.name not in matrix.runs:
            what = f"'{given.name}' is neither a file nor one of the runs ({shorten(matrix.runs)})"
            raise InputError("--baseline", what, "check the path")
        return matrix, given.name
    saved = to_matrix(given.saved)
    place = str(given.saved) if isinstance(given.saved, str | Path) else "baseline"
    if given.within is None and len(saved.runs) > 1:
        what = f"{len(saved.runs)} runs ({shorten(saved.runs)})"
        raise InputError(place, what, f"choose one: --baseline {place}:{saved.runs[0]}", usage=True)
    name = saved.runs[0] if given.within is None else given.within
    found = zip(matrix.measures, saved.columns_of(matrix), strict=True)
    if missing := [measure for measure, column in found if column is None]:
        what = f"no scores by '{missing[0]}' (only {shorten(saved.measures)})"
        raise InputError(place, what, f"save them with -m '{missing[0]}' too")
    alone = saved.select(runs=[name])
    if name in matrix.runs:
        # The scores may be of the same file, saved at another time.
        name = f"{place}:{name}"
        alone = replace(alone, runs=[name])
    both = join_matrices(matrix, alone)
    return replace(both, signature=f"{matrix.signature} | baseline {place}"), name


def with_baseline(scores: AnyScores, baseline: AnyScores | None, allow_mismatch: bool) -> tuple[Matrix, str | None]:
    """Scores with those of a baseline, for a function that compares them, and the name of the baseline.

    baseline  the name of one of the runs, or saved scores of a run in any form

    Raises InputError as `comparable` and `add_baseline` do.
    """
    if isinstance(scores, Matrix) and isinstance(baseline, str | None):
        return scores, baseline
    matrix = to_matrix(scores)
    if baseline is None or (isinstance(baseline, str) and baseline in matrix.runs):
        return checked(matrix, allow_mismatch, 4), baseline
    given = Baseline.read(baseline, ()) if isinstance(baseline, str) else Baseline(saved=baseline)
    if given.path is not None:
        what = f"'{given.path}' is a run, and there are no qrels to score it with"
        raise InputError("baseline", what, "score it with the others, and give its name", usage=True)
    if given.saved is None:
        matrix.run_index(str(given.name))  # which says what runs there are
    matrix, name = add_baseline(matrix, given)
    return checked(matrix, allow_mismatch, 4), name
