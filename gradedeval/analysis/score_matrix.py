"""Scores of runs × topics as arrays: what every comparison starts from, from an evaluation or from saved scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.saved_scores import SavedScore, read_saved
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, did_you_mean, plural, shorten
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores of runs × topics × measures.

    runs       names, in the order given
    topics     ids: every topic that some run is scored on
    measures   as applied, in words
    score      runs × topics × measures; nan where a run is not scored on a topic
    residual   the same: how far each could rise; nan where the measure has none or nobody asked
    unjudged   the same: the part of it that unjudged documents of the run have
    included   the same: whether the pair counts (it is there, and certain enough for `--max-residual`)
    signature  what the numbers depend on
    notes      what was said on the way
    """

    runs: list[str]
    topics: list[str]
    measures: list[str]
    score: Floats
    residual: Floats
    unjudged: Floats
    included: Bools
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def column(self, measure: str) -> int:
        """Where a measure stands. Raises InputError (usage) where it is not among them."""
        if measure not in self.measures:
            hint = did_you_mean(measure, self.measures) or f"there {_are(self.measures)} {shorten(self.measures)}"
            raise InputError("", f"no scores by '{measure}'", hint, usage=True)
        return self.measures.index(measure)

    def row(self, run: str) -> int:
        """Where a run stands. Raises InputError (usage) where it is not among them."""
        if run not in self.runs:
            hint = did_you_mean(run, self.runs) or f"there {_are(self.runs)} {shorten(self.runs)}"
            raise InputError("", f"no run '{run}'", hint, usage=True)
        return self.runs.index(run)

    def only(self, runs: Sequence[str] | None = None, measures: Sequence[str] | None = None) -> Matrix:
        """The same with some of the runs, or of the measures, alone. Raises InputError (usage) where one is missing."""
        rows = [self.row(run) for run in (self.runs if runs is None else runs)]
        columns = [self.column(measure) for measure in (self.measures if measures is None else measures)]
        parts = {name: getattr(self, name)[rows][:, :, columns] for name in ARRAYS}
        names: dict[str, Any] = {
            "runs": [self.runs[at] for at in rows],
            "measures": [self.measures[at] for at in columns],
        }
        return replace(self, **names, **parts)

    def of(self, measure: str) -> Paired:
        """The topics that every run keeps by one measure. Raises InputError where there are none, or a score is
        infinite."""
        column = self.column(measure)
        shared: Bools = np.logical_and.reduce(self.included[:, :, column], axis=0)
        if not shared.any():
            raise InputError(f"measure '{measure}'", f"no topic that all {len(self.runs)} runs keep", self.hint)
        score = self.score[:, shared, column]
        if not np.isfinite(score).all():
            raise InputError(f"measure '{measure}'", "an infinite score has no mean to compare", "leave it out")
        topics = [topic for topic, counts in zip(self.topics, shared.tolist(), strict=True) if counts]
        return Paired(measure, self.runs, topics, score, self.residual[:, shared, column])

    def comparable(self) -> list[str]:
        """The measures by which all runs keep some topic. Raises InputError where there are none."""
        shared: Bools = np.logical_and.reduce(self.included, axis=0)
        measures = [name for name, some_topic in zip(self.measures, shared.T, strict=True) if some_topic.any()]
        if not measures:
            raise InputError(
                f"measure '{self.measures[0]}'", f"no topic that all {len(self.runs)} runs keep", self.hint
            )
        return measures

    @property
    def hint(self) -> str:
        """What to do where too few pairs are kept."""
        uncertain = (~self.included & ~np.isnan(self.score)).any()
        return "compare fewer runs, or raise --max-residual" if uncertain else "take runs with topics in common"

    def left_out(self) -> list[str]:
        """For each measure by which topics are left out of comparisons, a note that says how many."""
        notes = []
        for column, measure in enumerate(self.measures):
            lost = int((~self.included[:, :, column].all(0)).sum())
            if lost:
                of = f"{lost} of {len(self.topics)} {plural(len(self.topics), 'topic')}"
                notes.append(f"{measure}: {of} left out: not every run keeps {'it' if lost == 1 else 'them'}")
        return notes


@dataclass(frozen=True, eq=False)
class Paired:
    """One measure's scores of all runs on the same topics: `score` and `residual` are runs × topics."""

    measure: str
    runs: list[str]
    topics: list[str]
    score: Floats
    residual: Floats

    @property
    def means(self) -> Floats:
        """The mean of each run."""
        means: Floats = self.score.mean(1)
        return means

    @property
    def doubt(self) -> Floats:
        """The mean residual of each run; nan where the measure has none."""
        doubt: Floats = self.residual.mean(1)
        return doubt


ARRAYS = ("score", "residual", "unjudged", "included")


def _are(words: Sequence[str]) -> str:
    return "is" if len(words) == 1 else "are"


def matrix_of(scores: Scores | Matrix | pd.DataFrame | str | Path) -> Matrix:
    """Scores as arrays.

    scores  what `gradedeval.evaluate` returns, or saved scores: a csv or tsv file written by `gradedeval -q`, or its
            rows as a DataFrame with the columns run, topic, measure, score[, residual][, unjudged]

    Raises InputError where a file or frame holds no scores by topic.
    """
    if isinstance(scores, Matrix):
        return scores
    if isinstance(scores, Scores):
        return _of_scores(scores)
    return _of_rows(*read_saved(scores))


def _of_scores(scores: Scores) -> Matrix:
    topics = list(dict.fromkeys(topic for run in scores.runs for topic in run.topics))
    names = [str(measure) for measure in scores.measures]
    found = _empty([run.run for run in scores.runs], topics, names)
    at = {topic: column for column, topic in enumerate(topics)}
    for row, run in enumerate(scores.runs):
        columns = [at[topic] for topic in run.topics]
        for name in ARRAYS:
            getattr(found, name)[row, columns] = getattr(run, name)
    if scores.options.residuals == "difference":  # signed differences are no bounds
        found.residual[:], found.unjudged[:] = np.nan, np.nan
    return replace(found, signature=scores.signature, notes=list(scores.notes))


def _of_rows(place: str, rows: Sequence[SavedScore]) -> Matrix:
    runs, topics, measures = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in SavedScore.KEY)
    found = _empty(runs, topics, measures)
    where: list[Mapping[str, int]] = [{name: at for at, name in enumerate(names)} for names in (runs, topics, measures)]
    for row in rows:
        cell = tuple(known[getattr(row, name)] for known, name in zip(where, SavedScore.KEY, strict=True))
        found.score[cell], found.residual[cell], found.unjudged[cell] = row.score, row.residual, row.unjudged
        found.included[cell] = True
    return replace(found, signature=f"{place}: {len(runs)} {plural(len(runs), 'run')}")


def _empty(runs: list[str], topics: list[str], measures: list[str]) -> Matrix:
    shape = (len(runs), len(topics), len(measures))
    blank: dict[str, Any] = {name: np.full(shape, np.nan) for name in ("score", "residual", "unjudged")}
    return Matrix(runs, topics, measures, **blank, included=np.zeros(shape, dtype=bool))


def joined(first: Matrix, second: Matrix) -> Matrix:
    """The runs of both, by the measures that both have. Raises InputError where a run is in both, or no measure is."""
    twice = [run for run in second.runs if run in first.runs]
    if twice:
        raise InputError("", f"run '{twice[0]}' is given twice", "give each run once", usage=True)
    measures = [measure for measure in first.measures if measure in second.measures]
    if not measures:
        what = f"no measure in common ({shorten(first.measures)} against {shorten(second.measures)})"
        raise InputError("", what, "score both by the same measures", usage=True)
    topics = list(dict.fromkeys([*first.topics, *second.topics]))
    found = _empty([*first.runs, *second.runs], topics, measures)
    at = {topic: column for column, topic in enumerate(topics)}
    for rows, part in ((slice(None, len(first.runs)), first), (slice(len(first.runs), None), second)):
        part = part.only(measures=measures)
        for name in ARRAYS:
            getattr(found, name)[rows, [at[topic] for topic in part.topics]] = getattr(part, name)
    signature = " | ".join(one.signature for one in (first, second) if one.signature)
    return replace(found, signature=signature, notes=[*first.notes, *second.notes])


def renamed(matrix: Matrix, name: str, new: str) -> Matrix:
    """The same with another name for one run."""
    return replace(matrix, runs=[new if run == name else run for run in matrix.runs])
