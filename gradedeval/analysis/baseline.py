"""The run that others are compared with: one of them, another file, or saved scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradedeval.analysis.saved_scores import holds_scores
from gradedeval.analysis.score_matrix import Matrix, joined, matrix_of, renamed
from gradedeval.errors import InputError, shorten
from gradedeval.scoring.run_names import file_names


@dataclass(frozen=True)
class Baseline:
    """What `--baseline` names; all None: there is none.

    name    one of the runs
    path    another run
    saved   a file of saved scores, and the run `within` it where it has several
    """

    name: str | None = None
    path: str | None = None
    saved: str | None = None
    within: str | None = None

    @classmethod
    def read(cls, word: str | None, runs: Sequence[str]) -> Baseline:
        """What the word of `--baseline` means beside these run files. A run that is both counts once.

        Raises InputError (usage) where it is nothing.
        """
        if word is None:
            return cls()
        names = file_names(list(runs))
        same = [name for name, path in zip(names, runs, strict=True) if word == path or _same(word, path)]
        if same:
            return cls(name=same[0])
        if os.path.exists(word):
            return cls(saved=word) if holds_scores(word) else cls(path=word, name=file_names([*runs, word])[-1])
        file, colon, within = word.rpartition(":")
        if colon and os.path.isfile(file) and holds_scores(file):
            return cls(saved=file, within=within)
        return cls(name=word)


def _same(word: str, path: str) -> bool:
    return os.path.isfile(word) and os.path.isfile(path) and os.path.samefile(word, path)


def add_baseline(matrix: Matrix, given: Baseline) -> tuple[Matrix, str | None]:
    """The scores with the baseline's among them, and the name it goes by; no name where there is no baseline.

    Raises InputError where it is nowhere, or its file has several runs and none is named.
    """
    if given.saved is None:
        if given.name is not None and given.name not in matrix.runs:
            what = f"'{given.name}' is neither a file nor one of the runs ({shorten(matrix.runs)})"
            raise InputError("--baseline", what, "check the path", usage=True)
        return matrix, given.name
    saved = matrix_of(given.saved)
    if given.within is None and len(saved.runs) > 1:
        what = f"holds {len(saved.runs)} runs ({shorten(saved.runs)})"
        raise InputError(given.saved, what, f"name one: --baseline {given.saved}:{saved.runs[0]}", usage=True)
    name = saved.runs[0] if given.within is None else given.within
    missing = [measure for measure in matrix.measures if measure not in saved.measures]
    if missing:
        raise InputError(
            given.saved, f"has no scores by '{missing[0]}' ({shorten(saved.measures)})", "save them with that too"
        )
    alone = saved.only(runs=[name])
    if name in matrix.runs:
        # Scores saved of the same file at another time.
        alone, name = renamed(alone, name, f"{given.saved}:{name}"), f"{given.saved}:{name}"
    both = joined(matrix, alone)
    return replace(both, signature=f"{matrix.signature} | baseline {given.saved}"), name
