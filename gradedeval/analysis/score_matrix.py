"""Scores of runs × topics as arrays: what every comparison starts from, from an evaluation or from saved scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradedeval.analysis.origins import Origin, Origins, check_origins
from gradedeval.analysis.saved_scores import SavedScore, SavedScores, read_saved
from gradedeval.arrays import COMPARABLE, TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError, did_you_mean, plural, shorten, warn_caller
from gradedeval.measures.parse import canonical, parse_measures
from gradedeval.measures.properties import Reading
from gradedeval.scoring.scores import Scores
from gradedeval.scoring.signature import Signature
from gradedeval.scoring.summaries import summarize, summarize_rises, tested

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores of runs × topics × measures.

    runs       names, in the order given
    topics     ids of all topics that some run is scored on
    measures   what they are called
    notations  what they are, as applied
    readings   what sums up each measure over topics, and which of two scores is better; None of an unknown measure
    score      runs × topics × measures; nan where a run is not scored on a topic
    residual   the same: how far each could rise; nan where the measure has none or none was asked for
    unjudged   the same: the part of it that unjudged documents of the run have
    included   the same: whether the pair counts (it is there, and certain enough for `--max-residual`)
    origin     runs × measures: where they come from
    signature  what the numbers depend on
    notes      notes for the user
    scores     the evaluation that they are of; None of saved scores
    """

    runs: list[str]
    topics: list[str]
    measures: list[str]
    notations: list[str]
    readings: list[Reading | None]
    score: Floats
    residual: Floats
    unjudged: Floats
    included: Bools
    origin: Origins
    signature: str = ""
    notes: list[str] = field(default_factory=list)
    scores: Scores | None = None

    def measure_index(self, measure: str) -> int:
        """The index of a measure, under any of its names. Raises InputError (usage) if it is not among them."""
        if (column := self._column(measure, canonical(measure))) is None:
            hint = did_you_mean(measure, self.measures) or f"choose from {shorten(self.measures)}"
            raise InputError("", f"no scores by '{measure}'", hint, usage=True)
        return column

    def _column(self, measure: str, notation: str) -> int | None:
        """The index of a measure by its name, by what it is, or by another name of it; None where it is missing."""
        for names, name in ((self.measures, measure), (self.notations, notation)):
            if name in names:
                return names.index(name)
        own = canonical(measure)
        return next((column for column, name in enumerate(self.measures) if canonical(name) == own), None)

    def columns_of(self, other: Matrix) -> list[int | None]:
        """The index of each measure of other scores; None of one that is missing here."""
        known, pairs = self.notations, zip(other.measures, other.notations, strict=True)
        return [known.index(own) if own in known else self._column(name, own) for name, own in pairs]

    def run_index(self, run: str) -> int:
        """The index of a run. Raises InputError (usage) if it is not among them."""
        if run not in self.runs:
            hint = did_you_mean(run, self.runs) or f"choose from {shorten(self.runs)}"
            raise InputError("", f"unknown run '{run}'", hint, usage=True)
        return self.runs.index(run)

    def select(self, runs: Sequence[str] | None = None, measures: Sequence[str] | None = None) -> Matrix:
        """The scores of some runs, or by some measures. Raises InputError (usage) if one is missing."""
        rows = [self.run_index(run) for run in (self.runs if runs is None else runs)]
        columns = range(len(self.measures)) if measures is None else map(self.measure_index, measures)
        return self._of(rows, list(columns))

    def _of(self, rows: list[int] | slice, columns: list[int]) -> Matrix:
        parts = {name: getattr(self, name)[rows][:, :, columns] for name in ARRAYS}
        lists = ("measures", "notations", "readings")
        names: dict[str, Any] = {name: [getattr(self, name)[column] for column in columns] for name in lists}
        names |= {"runs": np.array(self.runs, dtype=object)[rows].tolist(), "origin": self.origin[rows][:, columns]}
        return replace(self, **names, **parts)

    def paired(self, measure: str) -> Paired:
        """One measure on the topics that all runs are scored on. Raises InputError if there are none, or a score is
        too large."""
        column = self.measure_index(measure)
        shared: Bools = np.logical_and.reduce(self.included[:, :, column], axis=0)
        if not shared.any():
            raise self._nothing_shared(measure)
        score = self.score[:, shared, column]
        if not (np.abs(score) < COMPARABLE).all():
            finite = f"scores of {COMPARABLE:g} or more have no deviation to compare by"
            what = finite if np.isfinite(score).all() else "infinite scores have no mean to compare"
            raise InputError(f"measure '{measure}'", what, "leave this measure out")
        topics = [topic for topic, is_shared in zip(self.topics, shared.tolist(), strict=True) if is_shared]
        return Paired(measure, self.reading(column), self.runs, topics, score, self.residual[:, shared, column])

    def reading(self, column: int) -> Reading:
        """How the scores by a measure are read: those of an unknown one have a mean, and higher is better."""
        return self.readings[column] or Reading()

    def comparable_measures(self) -> list[str]:
        """The measures by which all runs are scored on some common topic. Raises InputError if there are none."""
        shared: Bools = np.logical_and.reduce(self.included, axis=0)
        measures = [name for name, of_topics in zip(self.measures, shared.T, strict=True) if of_topics.any()]
        if not measures:
            raise self._nothing_shared(self.measures[0])
        return measures

    def _nothing_shared(self, measure: str) -> InputError:
        return InputError(f"measure '{measure}'", f"no topic that all {len(self.runs)} runs are scored on", self.hint)

    @property
    def hint(self) -> str:
        """What to do if too few pairs are included."""
        uncertain = (~self.included & ~np.isnan(self.score)).any()
        return "compare fewer runs, or raise --max-residual" if uncertain else "compare runs with topics in common"

    def reading_notes(self) -> list[str]:
        """A note for measures of which it is not known how they are summed up and which of two scores is better."""
        unknown = [name for name, reading in zip(self.measures, self.readings, strict=True) if reading is None]
        what = "no measure known here; taken as a mean, the higher the better"
        return [f"{', '.join(unknown)}: {what}"] if unknown else []

    def omission_notes(self) -> list[str]:
        """A note for each measure by which topics are left out of comparisons."""
        notes = []
        for column, measure in enumerate(self.measures):
            omitted = int((~self.included[:, :, column].all(0)).sum())
            if omitted:
                of = f"{omitted} of {len(self.topics)} {plural(len(self.topics), 'topic')}"
                what = f"not every run is scored on {'it' if omitted == 1 else 'them'}"
                chosen = {origin.signature for origin in self.origin[:, column] if origin.signature}
                why = sorted({part for signature in chosen for part in signature.parts if _CHOICE.match(part)})
                notes.append(f"{measure}: {of} left out: {what}" + (f" ({', '.join(why)})" if why else ""))
        return notes


@dataclass(frozen=True, eq=False)
class Paired:
    """The scores of all runs by one measure on the same topics: `score` and `residual` are runs × topics."""

    measure: str
    reading: Reading
    runs: list[str]
    topics: list[str]
    score: Floats
    residual: Floats

    @property
    def summaries(self) -> Floats:
        """The mean, total or geometric mean of each run, as `gradedeval eval` prints it."""
        return summarize(self.score, self.reading.summary)

    @property
    def residuals(self) -> Floats:
        """The residual of each summary; nan where the measure has none."""
        return summarize_rises(self.score, self.residual, self.reading.summary)

    def wins(self, differences: Floats) -> dict[str, Any]:
        """How many topics each row of differences of scores wins, ties and loses; only ties where neither is better."""
        gains, known = differences * self.reading.sign, self.reading.better != "neither"
        counts = {"wins": (gains > 0).sum(1), "ties": (gains == 0).sum(1), "losses": (gains < 0).sum(1)}
        return counts if known else {**counts, "wins": None, "losses": None}

    @property
    def values(self) -> Floats:
        """runs × topics: the values whose means are tested and sampled: logarithms for geometric means."""
        return tested(self.score, self.reading.summary)

    @property
    def tested(self) -> str:
        """What of two runs is tested: the `difference` of their summaries, or the `ratio` of geometric means."""
        return "ratio" if self.reading.summary == "geometric" else "difference"


def shared_topics(matrix: Matrix, measure: str) -> Paired:
    """One measure on the topics that all runs are scored on. Raises InputError if there are fewer than two."""
    paired = matrix.paired(measure)
    if len(paired.topics) < 2:
        what = f"all {len(paired.runs)} runs share a single topic ({paired.topics[0]}), and a test needs two"
        raise InputError(f"measure '{measure}'", what, "compare runs with more topics in common")
    return paired


_CHOICE = re.compile(r"max residual |\d+ chosen topics? |topics (both|run|relevant)$")
"""The parts of a signature that say why a run is not scored on a topic."""
AnyScores: TypeAlias = "Scores | Matrix | pd.DataFrame | str | Path"
"""What `to_matrix` takes."""
ARRAYS = ("score", "residual", "unjudged", "included")


def to_matrix(scores: AnyScores) -> Matrix:
    """Scores as a matrix of arrays.

    scores  what `gradedeval.evaluate` returns, or saved scores: a csv, tsv, json or jsonl file that `gradedeval -q`
            wrote, or its rows as a DataFrame with the columns run, topic, measure, score[, residual][, unjudged]
            [, signature]

    Raises InputError if a file or frame has no scores by topic.
    """
    if isinstance(scores, Matrix):
        return scores
    if isinstance(scores, Scores):
        return _from_scores(scores)
    if not (isinstance(scores, str | Path) or hasattr(scores, "columns")):  # neither a file nor a frame
        what = f"expected scores, not a {type(scores).__name__}"
        raise InputError("scores", what, "give what `gradedeval.evaluate` returns", usage=True)
    return _from_saved(read_saved(scores))


def comparable(scores: AnyScores, allow_mismatch: bool = False) -> Matrix:
    """As `to_matrix`, for functions that compare: raises InputError (usage) where saved scores are of different qrels
    or options; with `allow_mismatch` that is a warning. A Matrix has been checked."""
    return scores if isinstance(scores, Matrix) else checked(to_matrix(scores), allow_mismatch, 4)


def checked(matrix: Matrix, allow_mismatch: bool, stacklevel: int) -> Matrix:
    """The same, where its scores may be compared; what is assumed of them is a warning."""
    notes = check_origins(matrix.runs, matrix.measures, matrix.origin, allow_mismatch)
    warn_caller([*notes, *matrix.reading_notes()], stacklevel)
    return matrix


def _from_scores(scores: Scores) -> Matrix:
    topics = list(dict.fromkeys(topic for run in scores.runs for topic in run.topics))
    readings: list[Reading | None] = [measure.reading for measure in scores.measures]
    matrix = _empty([run.run for run in scores.runs], topics, scores.labels, list(map(str, scores.measures)), readings)
    column_of = {topic: column for column, topic in enumerate(topics)}
    for row, run in enumerate(scores.runs):
        columns = [column_of[topic] for topic in run.topics]
        for name in ARRAYS:
            getattr(matrix, name)[row, columns] = getattr(run, name)
    if not scores.options.bounded_by_residuals:
        matrix.residual[:], matrix.unjudged[:] = np.nan, np.nan
    matrix.origin[:] = Origin("", Signature.read(scores.signature))
    return replace(matrix, signature=scores.signature, notes=list(scores.notes), scores=scores)


def _from_saved(saved: SavedScores) -> Matrix:
    place, rows = saved.place, saved.rows
    runs, topics, measures = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in SavedScore.KEY)
    matrix = _empty(runs, topics, measures, measures, list(map(_reading, measures)))
    indices: list[Mapping[str, int]] = [
        {name: index for index, name in enumerate(names)} for names in (runs, topics, measures)
    ]
    for row in rows:
        cell = tuple(index[getattr(row, name)] for index, name in zip(indices, SavedScore.KEY, strict=True))
        matrix.score[cell], matrix.residual[cell], matrix.unjudged[cell] = row.score, row.residual, row.unjudged
        matrix.included[cell] = True
    for index, run in enumerate(runs):
        matrix.origin[index] = [Origin(place, saved.signatures.get((run, measure)), saved.cut) for measure in measures]
    labels = [saved.labels[measure] for measure in measures]
    known = {name: notation for signed in saved.signatures.values() for name, notation in signed.notations().items()}
    notations = [known.get(label, measure) for label, measure in zip(labels, measures, strict=True)]
    parts = dict.fromkeys(part for signature in saved.signatures.values() for part in signature.parts)
    signed = " | ".join([f"{place}: {len(runs)} {plural(len(runs), 'run')}", *parts])
    return replace(matrix, measures=labels, notations=notations, signature=signed)


def _reading(measure: str) -> Reading | None:
    """How the scores by a saved measure are read; None where it is none that is known here."""
    try:
        (known,) = parse_measures(measure)
    except (InputError, ValueError):
        return None
    return known.reading


def _empty(
    runs: list[str], topics: list[str], measures: list[str], notations: list[str], readings: list[Reading | None]
) -> Matrix:
    shape = (len(runs), len(topics), len(measures))
    blank: dict[str, Any] = {name: np.full(shape, np.nan) for name in ("score", "residual", "unjudged")}
    origin = np.full((len(runs), len(measures)), None, dtype=object)
    blank["included"] = np.zeros(shape, dtype=bool)
    return Matrix(runs, topics, measures, notations, readings, **blank, origin=origin)


def join_matrices(first: Matrix, second: Matrix) -> Matrix:
    """The runs of both, by the measures of both. Raises InputError if a run is in both, or no measure is."""
    twice = [run for run in second.runs if run in first.runs]
    if twice:
        raise InputError("", f"duplicate run '{twice[0]}'", "give each run once", usage=True)
    found = second.columns_of(first)
    columns = [column for column, place in enumerate(found) if place is not None]
    if not columns:
        what = f"no measure in common ({shorten(first.measures)} vs {shorten(second.measures)})"
        raise InputError("", what, "score both by the same measures", usage=True)
    topics = list(dict.fromkeys([*first.topics, *second.topics]))
    first = first._of(slice(None), columns)
    second = second._of(slice(None), [place for place in found if place is not None])
    readings = [one or other for one, other in zip(first.readings, second.readings, strict=True)]
    matrix = _empty([*first.runs, *second.runs], topics, first.measures, first.notations, readings)
    column_of = {topic: column for column, topic in enumerate(topics)}
    for rows, part in ((slice(None, len(first.runs)), first), (slice(len(first.runs), None), second)):
        for name in ARRAYS:
            getattr(matrix, name)[rows, [column_of[topic] for topic in part.topics]] = getattr(part, name)
        matrix.origin[rows] = part.origin
    signature = " | ".join(part.signature for part in (first, second) if part.signature)
    scores = first.scores or second.scores
    return replace(matrix, signature=signature, notes=[*first.notes, *second.notes], scores=scores)


def run_pairs(runs: int, baselines: Sequence[int] = ()) -> tuple[Ints, Ints]:
    """The indices of the baseline and of the run of each pair, once; without a baseline of all pairs."""
    if not baselines:
        first, second = np.triu_indices(runs, 1)
        return first, second
    pairs = [
        (baseline, run)
        for at, baseline in enumerate(baselines)
        for run in range(runs)
        if run != baseline and run not in baselines[:at]
    ]
    first, second = np.array(pairs).T
    return first, second


def topic_differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """pairs × topics: value of the second run − value of the first, 0 where only the last bits differ.

    values  runs × topics
    """
    differences: Floats = values[second] - values[first]
    differences[np.abs(differences) <= TOLERANCE] = 0
    return differences
