"""Scores of runs × topics as arrays: what every comparison starts from, from an evaluation or from saved scores."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradedeval.analysis import saved_scores
from gradedeval.arrays import COMPARABLE, TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import (
    InputError,
    Note,
    did_you_mean,
    emit_notes,
    flag,
    plural,
    shorten,
    visible,
)
from gradedeval.kernel.measures.definition import AnyMeasure, Reading
from gradedeval.kernel.measures.parse import DEFAULT, canonical, parse_measures
from gradedeval.kernel.options import Options, resolve_options
from gradedeval.kernel.parallel import Workers
from gradedeval.kernel.scoring.caveats import different_topics_notes
from gradedeval.kernel.scoring.evaluate import evaluate_runs, file_names, named_runs
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.trec.stream import is_named, is_url, same_file

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.saved_scores import SavedScores, Signature
    from gradedeval.kernel.options.metadata import Queries, Replicates, Slices
    from gradedeval.kernel.scoring.predicted import Limits


# Where scores come from, and whether those of several runs may be compared.


Origins = NDArray[Any]
"""runs × measures: the `Origin` of each column of scores."""


@dataclass(frozen=True)
class Origin:
    """Where the scores of a run by a measure come from.

    place  the file; "" if they are computed here
    text   what they depend on, as the line under their table says it; "" if that is not known
    cut    whether the file had signatures, and rows that have them were taken out
    """

    place: str
    text: str
    cut: bool = False

    @cached_property
    def signature(self) -> Signature | None:
        """What they depend on, read when it is compared."""
        return saved_scores.Signature.read(self.text)


def check_origins(runs: Sequence[str], measures: Sequence[str], origins: Origins) -> list[str]:
    """Raise InputError (usage) where scores by one measure depend on other qrels or options than the first run's, and
    InputError where rows that have the signature were taken out of a file.

    Returns notes: scores of unknown origin, and scores of another version.
    """
    if len({*origins.flat}) == 1 and not origins.flat[0].place:  # computed here, together
        return []
    cut = next((origin.place for origin in origins.flat if origin.cut and origin.signature is None), None)
    if cut is not None:
        what = "the row of the mean (topic 'all') of a run is missing, and with it the signature: the file was cut"
        raise InputError(cut, what, "save the scores again", kind="no-signature")
    found: dict[tuple[str, str, str], list[str]] = {}
    for column, measure in enumerate(measures):
        signed = [(run, origin) for run, origin in zip(runs, origins[:, column], strict=True) if origin.signature]
        for run, origin in signed[1:]:
            if problem := _origin_mismatch(*signed[0], origin, measure):
                found.setdefault((origin.place, run.removeprefix(f"{origin.place}:"), problem), []).append(measure)
    notes = [
        (place, f"{shorten(of)} of '{run}' {'is' if len(of) == 1 else 'are'} {problem}")
        for (place, run, problem), of in found.items()
    ]
    if notes:
        raise mismatch_error(*notes[0])
    return [*_unsigned_notes(origins), *_version_notes(origins)]


def mismatch_error(place: str, problem: str) -> InputError:
    """The error of scores that are not comparable, and how to go on."""
    return InputError(place, problem, "score it again with the same qrels and options", kind="mismatch", usage=True)


def describe_mismatch(signature: Signature, other: Signature, measure: str, elsewhere: str) -> str:
    """In words, what scores by a measure depend on that is another elsewhere: `scored with qrels 3f2a9c (here
    77aa01)`; nothing where all agrees."""
    differences = signature.differences(other, measure)
    said = [
        f"{name} {_setting_text(mine)} ({elsewhere} {_setting_text(theirs)})"
        for name, (mine, theirs) in differences.items()
    ]
    return f"scored with {', '.join(said)}" if said else ""


def _setting_text(value: str | None) -> str:
    return "unset" if value is None else value or "set"


def _origin_mismatch(first: str, known: Origin, origin: Origin, measure: str) -> str:
    """What the scores of a run depend on that is another for the first run."""
    if origin.text == known.text or origin.signature is None or known.signature is None:
        return ""
    return describe_mismatch(origin.signature, known.signature, measure, f"{first}:" if known.place else "here")


def _unsigned_notes(origins: Origins) -> list[str]:
    """A note of files without signatures, and of a frame that is compared with scores from elsewhere: who makes one
    frame of all knows what is in it."""
    alone = {origin.place for origin in origins.flat} == {saved_scores.FRAME}
    places = dict.fromkeys(origin.place for origin in origins.flat if origin.signature is None)
    if not places or alone:
        return []
    what = f"no {plural(len(places), 'signature')}, so qrels and options cannot be checked"
    return [Note(f"{', '.join(places)}: {what}", kind="no-signature")]


def _version_notes(origins: Origins) -> list[str]:
    versions: dict[str, str] = {}
    for origin in origins.flat:
        if origin.signature is not None:
            versions.setdefault(origin.signature.version, origin.place or "the runs")
    if len(versions) < 2:
        return []
    said = ", ".join(f"{place} by {version}" for version, place in versions.items())
    return [f"scores come from several versions: {said}"]


NO_LIMITS = (-np.inf, np.inf)


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
    queries    the texts of topics, where they are known
    slices     the labels of topics, where there are any
    replicates which runs are seeds of one system, where that is known
    seeds      the scores of the runs, where these are of systems
    machine    runs × topics × measures: scores by a machine's judgments, where means are estimated from these, too; nan
               of a topic that it did not judge. Topics that it alone judged are not included
    limits     of each measure: the least and the most that it can be on a topic, where means are estimated
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
    queries: Queries | None = None
    slices: Slices | None = None
    replicates: Replicates | None = None
    seeds: Matrix | None = None
    machine: Floats | None = None
    limits: list[Limits] | None = None

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
        parts = {name: part[rows][:, :, columns] for name, part in self.arrays.items()}
        lists = ("measures", "notations", "readings")
        names: dict[str, Any] = {name: [getattr(self, name)[column] for column in columns] for name in lists}
        if self.limits is not None:
            names["limits"] = [self.limits[column] for column in columns]
        names |= {"runs": np.array(self.runs, dtype=object)[rows].tolist(), "origin": self.origin[rows][:, columns]}
        return replace(self, **names, **parts)

    @property
    def arrays(self) -> dict[str, Any]:
        """What there is for each run, topic and measure, by name."""
        parts = {name: getattr(self, name) for name in ARRAYS}
        return parts if self.machine is None else parts | {"machine": self.machine}

    @property
    def labelled(self) -> dict[str, dict[str, Bools]]:
        """column -> label -> which topics have it; empty where there are no slices."""
        known = {} if self.slices is None else self.slices.topics
        return {
            column: {label: np.array([topic in own for topic in self.topics], dtype=bool) for label, own in of.items()}
            for column, of in known.items()
        }

    def of_topics(self, kept: Bools) -> Matrix:
        """The scores on some topics."""
        topics = [topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep]
        seeds = None if self.seeds is None else self.seeds.of_topics(kept)
        arrays: dict[str, Any] = {name: part[:, kept] for name, part in self.arrays.items()}
        return replace(self, topics=topics, seeds=seeds, **arrays)

    def shared(self, measure: str) -> Bools:
        """Which topics all runs are scored on by one measure, and by the machine where there is one."""
        column = self.measure_index(measure)
        found: Bools = np.logical_and.reduce(self.included[:, :, column], axis=0)
        return found if self.machine is None else found & ~np.isnan(self.machine[:, :, column]).any(0)

    def paired(self, measure: str) -> Paired:
        """One measure on the topics that all runs are scored on. Raises InputError if there are none, or a score is
        too large."""
        column, shared = self.measure_index(measure), self.shared(measure)
        by_machine: dict[str, Floats] = {}
        limits = NO_LIMITS if self.limits is None else self.limits[column]
        if self.machine is not None:
            others = ~np.isnan(self.machine[:, :, column]).any(0) & ~self.included[:, :, column].any(0)
            by_machine = {"machine": self.machine[:, shared, column], "others": self.machine[:, others, column]}
        if not shared.any():
            raise self._nothing_shared(measure)
        score = self.score[:, shared, column]
        if not all((np.abs(one) < COMPARABLE).all() for one in (score, *by_machine.values())):
            finite = f"scores of {COMPARABLE:g} or more have no deviation to compare by"
            what = finite if np.isfinite(score).all() else "infinite scores have no mean to compare"
            raise InputError(f"measure '{measure}'", what, "exclude this measure")
        topics = [topic for topic, is_shared in zip(self.topics, shared.tolist(), strict=True) if is_shared]
        residual = self.residual[:, shared, column]
        return Paired(measure, self.reading(column), self.runs, topics, score, residual, **by_machine, limits=limits)

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
        return InputError(f"measure '{measure}'", f"no topic that {all_runs(self.runs)} are scored on", self.hint)

    @property
    def hint(self) -> str:
        """What to do if too few pairs are included."""
        uncertain = (~self.included & ~np.isnan(self.score)).any()
        return (
            f"compare fewer runs, or raise {flag.max_residual}" if uncertain else "compare runs with topics in common"
        )

    def reading_notes(self) -> list[str]:
        """A note for measures of which it is not known how they are summed up and which of two scores is better."""
        unknown = [name for name, reading in zip(self.measures, self.readings, strict=True) if reading is None]
        what = "no measure known here; taken as a mean, the higher the better"
        return [f"{', '.join(unknown)}: {what}"] if unknown else []

    def unequal_topics(self, averaged: Mapping[str, Iterable[Hashable]] | None = None) -> list[Note]:
        """Return a note where the means of runs are over different topics.

        averaged  measure -> for each run, the topics that its mean is over; None: those that it is scored on
        """
        if averaged is None:
            each = self.included.transpose(2, 0, 1)
            averaged = {name: [run.tobytes() for run in rows] for name, rows in zip(self.measures, each, strict=True)}
        return different_topics_notes(averaged, None if self.scores is None else self.scores.options)

    @property
    def judged(self) -> Bools:
        """Which topics are not judged by a machine alone."""
        if self.machine is None:
            return np.ones(len(self.topics), dtype=bool)
        return np.asarray(self.included.any((0, 2)) | np.isnan(self.machine).all((0, 2)))

    def omission_notes(self) -> list[str]:
        """A note for each measure by which topics are left out of comparisons; those that a machine lacks have notes of
        their own."""
        notes, judged = [], self.judged
        if self.machine is not None:
            judged &= ~np.isnan(self.machine).all((0, 2))
        for column, measure in enumerate(self.measures):
            omitted = int((~self.included[:, judged, column].all(0)).sum())
            if omitted:
                of = f"{omitted} of {judged.sum()} {plural(int(judged.sum()), 'topic')}"
                what = f"not every run is scored on {'it' if omitted == 1 else 'them'}"
                chosen = {origin.signature for origin in self.origin[:, column] if origin.signature}
                why = sorted({part for signature in chosen for part in signature.parts if _CHOICE.match(part)})
                notes.append(f"{measure}: {of} left out: {what}" + (f" ({', '.join(why)})" if why else ""))
        return notes


@dataclass(frozen=True, eq=False)
class Paired:
    """The scores of all runs by one measure on the same topics: `score` and `residual` are runs × topics, and so is
    `machine`, the scores by a machine's judgments; `others` are those of runs × topics that it alone judged. `limits`
    are the least and the most that the measure can be on a topic, where means are estimated."""

    measure: str
    reading: Reading
    runs: list[str]
    topics: list[str]
    score: Floats
    residual: Floats
    machine: Floats | None = None
    others: Floats | None = None
    limits: Limits = NO_LIMITS

    @property
    def count(self) -> int:
        """How many topics there are, with those that a machine alone judged."""
        return len(self.topics) + (0 if self.others is None else self.others.shape[1])

    @property
    def by_machine(self) -> tuple[Floats, Floats]:
        """Where a machine judged too: its scores on the topics that people judged, and on the others."""
        assert self.machine is not None
        assert self.others is not None
        return self.machine, self.others

    @property
    def summaries(self) -> Floats:
        """The mean, total or geometric mean of each run, as `gradedeval eval` prints it."""
        return self.reading.summarize(self.score)

    @property
    def residuals(self) -> Floats:
        """The residual of each summary; nan where the measure has none."""
        return self.reading.summarize_rises(self.score, self.residual)

    def wins(self, differences: Floats) -> dict[str, Any]:
        """How many topics each row of differences of scores wins, ties and loses; only ties where neither is better."""
        gains, known = differences * self.reading.sign, self.reading.better != "neither"
        counts = {"wins": (gains > 0).sum(1), "ties": (gains == 0).sum(1), "losses": (gains < 0).sum(1)}
        return counts if known else {**counts, "wins": None, "losses": None}

    @property
    def values(self) -> Floats:
        """runs × topics: the values whose means are tested and sampled: logarithms for geometric means."""
        return self.reading.tested(self.score)

    @property
    def tested(self) -> str:
        """What of two runs is tested: the `difference` of their summaries, or the `ratio` of geometric means."""
        return "ratio" if self.reading.summary == "geometric" else "difference"


def shared_topics(matrix: Matrix, measure: str) -> Paired:
    """One measure on the topics that all runs are scored on. Raises InputError if there are fewer than two."""
    paired = matrix.paired(measure)
    if len(paired.topics) < 2:
        what = f"{all_runs(paired.runs)} share a single topic ({paired.topics[0]}), and a test needs two"
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
        raise InputError("scores", what, "give what `gradedeval.evaluate` returns, or runs and qrels", usage=True)
    return _from_saved(saved_scores.read_saved(scores))


def comparable_matrix(scores: AnyScores) -> Matrix:
    """As `to_matrix`, for functions that compare: raises InputError (usage) where saved scores are of different qrels
    or options. A Matrix has been checked."""
    return scores if isinstance(scores, Matrix) else check_matrix(to_matrix(scores))


def check_matrix(matrix: Matrix) -> Matrix:
    """The same, where its scores may be compared; what is assumed of them is told."""
    own = matrix.seeds or matrix
    notes = check_origins(own.runs, own.measures, own.origin)
    emit_notes([*notes, *matrix.reading_notes()])
    return matrix


def with_machine(scores: Scores) -> Matrix:
    """As `to_matrix`, for what knows estimates: with the scores by a machine's judgments, where there are any."""
    return _from_scores(scores, predicts=True)


def with_estimates(scores: AnyScores) -> AnyScores:
    """The scores, for what knows estimates: those of an evaluation with a machine's judgments as a matrix."""
    return with_machine(scores) if isinstance(scores, Scores) and scores.machine is not None else scores


def _from_scores(scores: Scores, predicts: bool = False) -> Matrix:
    by_machine = scores.by_machine
    if by_machine and not predicts:
        what = "estimates from people's judgments and a machine's are not known here"
        raise InputError(flag.predicted, what, "leave it out, or use eval or compare", usage=True)
    topics = list(dict.fromkeys(topic for run in [*scores.runs, *by_machine] for topic in run.topics))
    readings: list[Reading | None] = [measure.reading for measure in scores.measures]
    matrix = _empty([run.run for run in scores.runs], topics, scores.labels, list(map(str, scores.measures)), readings)
    column_of = {topic: column for column, topic in enumerate(topics)}
    for row, run in enumerate(scores.runs):
        columns = [column_of[topic] for topic in run.topics]
        for name in ARRAYS:
            getattr(matrix, name)[row, columns] = getattr(run, name)
    if not scores.options.bounded_by_residuals:
        matrix.residual[:], matrix.unjudged[:] = np.nan, np.nan
    matrix.origin[:] = Origin("", scores.signature)
    known: dict[str, Any] = {name: getattr(scores.options, name) for name in METADATA_OPTIONS}
    signature = scores.signature
    if by_machine:
        from gradedeval.kernel.scoring.predicted import PREDICTED, limits_of  # few evaluations have predictions

        known["machine"] = _by_machine(matrix, scores, column_of)
        known["limits"] = [limits_of(measure) for measure in scores.measures]
        signature = " | ".join(part for part in signature.split(" | ") if not part.endswith(PREDICTED))
    return with_systems(replace(matrix, signature=signature, notes=list(scores.notes), scores=scores, **known))


def _by_machine(matrix: Matrix, scores: Scores, column_of: Mapping[str, int]) -> Floats:
    """runs × topics × measures: the scores by the machine, nan where people judged a topic and it does not count."""
    found = np.full(matrix.score.shape, np.nan)
    for row, (people, machine) in enumerate(zip(scores.runs, scores.by_machine, strict=True)):
        columns = [column_of[topic] for topic in machine.topics]
        found[row, columns] = np.where(machine.included, machine.score, np.nan)
        judged = [column_of[topic] for topic in people.topics]
        found[row, judged] = np.where(people.included, found[row, judged], np.nan)
    return found


def _from_saved(saved: SavedScores) -> Matrix:
    place, rows, key = saved.place, saved.rows, saved_scores.SavedScore.KEY
    runs, topics, measures = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in key)
    matrix = _empty(runs, topics, measures, measures, list(map(_reading, measures)))
    indices: list[Mapping[str, int]] = [
        {name: index for index, name in enumerate(names)} for names in (runs, topics, measures)
    ]
    for row in rows:
        cell = tuple(index[getattr(row, name)] for index, name in zip(indices, key, strict=True))
        matrix.score[cell], matrix.residual[cell], matrix.unjudged[cell] = row.score, row.residual, row.unjudged
        matrix.included[cell] = True
    for index, run in enumerate(runs):
        matrix.origin[index] = [
            Origin(place, str(saved.signatures.get((run, measure), "")), saved.cut) for measure in measures
        ]
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


METADATA_OPTIONS = ("queries", "slices", "replicates")
"""Options that say what is known of topics and runs: they go with saved scores, too."""


def with_systems(matrix: Matrix) -> Matrix:
    """The scores of systems in place of those of their runs, which are its `seeds`: on each topic the mean over the
    seeds, by measures with geometric means the geometric one. The same where there are no replicates."""
    if matrix.replicates is None:
        return matrix
    systems = matrix.replicates.systems(matrix.runs)
    rows = [[matrix.runs.index(run) for run in runs] for runs in systems.values()]
    geometric = np.array([matrix.reading(column).summary == "geometric" for column in range(len(matrix.measures))])
    parts: dict[str, Any] = {"included": np.array([matrix.included[own].all(0) for own in rows])}
    for name, part in matrix.arrays.items():
        if name == "included":
            continue
        values = np.array([part[own].mean(0) for own in rows])
        values[:, :, geometric] = np.nan  # a mean of residuals bounds no geometric mean
        parts[name] = values
        for column in np.flatnonzero(geometric).tolist() if name in ("score", "machine") else ():
            reading = matrix.reading(column)
            values[:, :, column] = np.exp([reading.tested(part[own, :, column]).mean(0) for own in rows])
    from gradedeval.kernel.options.metadata import seeds_in_words  # most runs have no seeds

    origin = matrix.origin[[own[0] for own in rows]]
    signature = " | ".join(part for part in (matrix.signature, seeds_in_words(systems)) if part)
    # What is estimated from a machine's judgments is of these seeds: the mixed model does not know it.
    seeds = matrix if matrix.machine is None else None
    others: dict[str, Any] = {"seeds": seeds, "scores": None, "signature": signature}
    return replace(matrix, runs=list(systems), origin=origin, **parts, **others)


def with_metadata(matrix: Matrix, known: Mapping[str, Any]) -> Matrix:
    """The scores with what is known of their topics and runs, as `KNOWN` are given; what has no counterpart is told."""
    if not any(value is not None for value in known.values()):
        return matrix
    from gradedeval.kernel.options.metadata import unmatched_notes

    options = resolve_options(**known)
    emit_notes(unmatched_notes(options.queries, options.slices, matrix.topics))
    if options.replicates is not None:
        matrix = matrix.seeds or matrix
        emit_notes(options.replicates.notes(matrix.runs))
    matrix = replace(matrix, **{name: getattr(options, name) or getattr(matrix, name) for name in METADATA_OPTIONS})
    return matrix if options.replicates is None else with_systems(matrix)


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
    known = {name: getattr(first, name) or getattr(second, name) for name in ("scores", *METADATA_OPTIONS)}
    seeds = None
    if first.seeds is not None or second.seeds is not None:
        own = [replace(part.seeds or part, notes=[], replicates=None, seeds=None) for part in (first, second)]
        seeds = replace(join_matrices(*own), replicates=known["replicates"])
    return replace(matrix, signature=signature, notes=[*first.notes, *second.notes], seeds=seeds, **known)


def all_runs(runs: Sequence[str]) -> str:
    """All of several runs, in words."""
    return "both runs" if len(runs) == 2 else f"all {len(runs)} runs"


def require_two_runs(name: str, count: int, hint: str = "add a run") -> None:
    """Raise InputError (usage) for fewer than two runs, where `name` compares them."""
    if count < 2:
        raise InputError("", f"{name} needs at least two runs", hint, usage=True)


def require_single_runs(name: str, matrix: Matrix) -> Matrix:
    """The scores. Raises InputError (usage) where they are of systems, and `name` tests runs as if no seed varied."""
    if matrix.seeds is not None:
        what = f"{name} tests single runs: that seeds vary would go unseen"
        raise InputError(flag.replicates, what, "leave it out, or compare the systems", usage=True)
    return matrix


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


# Runs that are scored here, or scores.


def options_with_residuals(like: str | None = None, *, bounded: bool = True, **keywords: Any) -> Options:
    """The options, with residuals unless lists are condensed, or scores estimated, or `bounded` says that none are
    wanted."""
    options = resolve_options(like, **keywords)
    bounded = bounded and options.predicted is None and not options.judged_only
    own = frozenset({"residuals", "bounds"})  # which are not the user's choice here
    given, untold = options.given | own, options.untold | own
    return replace(options, residuals="total" if bounded else None, bounds=False, given=given, untold=untold)


def scores_to_compare(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] | None,
    like: str | None,
    keywords: Mapping[str, Any],
    keep: bool = False,
    predicts: bool = False,
    bounded: bool = True,
) -> AnyScores:
    """What a function compares: the scores of runs against qrels, with residuals, as commands have them; or, without
    qrels, scores that are given, all or those by some measures.

    keep      have the documents of runs with the scores, as `evaluate_runs` does
    predicts  whether the function knows of estimates by --predicted, which is an error elsewhere
    bounded   have residuals

    Raises InputError as `evaluate` does, and (usage) for options beside scores.
    """
    columns = getattr(runs, "columns", None)
    framed = columns is not None and set(saved_scores.REQUIRED_COLUMNS) <= set(columns)
    if qrels is not None and (framed or isinstance(runs, Scores | Matrix)):
        hint = "leave out qrels; a run that the others are compared with is baseline="
        raise InputError("qrels", "is given beside scores", hint, usage=True)
    if qrels is not None:
        options = options_with_residuals(like, bounded=bounded, **keywords)
        chosen = parse_measures(DEFAULT if measures is None else measures)
        how: dict[str, Any] = {"keep": keep, "predicts": predicts, "workers": Workers.current()}
        scores = evaluate_runs(named_runs(runs, qrels), qrels, chosen, options, **how)
        emit_notes(scores.notes)
        return with_estimates(scores)
    runs = with_estimates(runs) if predicts else runs
    resolve_options(**dict.fromkeys(keywords))  # which refuses what is no option
    known = {name: keywords.get(name) for name in METADATA_OPTIONS}
    for name, value in {"like": like, **keywords}.items():
        if value is not None and value is not False and name not in known:
            what = "says how runs are scored, and no qrels are given"
            raise InputError(name, what, "give runs and qrels; saved scores cannot be changed", usage=True)
    if measures is not None:
        labels = [measure.label for measure in parse_measures(measures)]
        runs = replace(to_matrix(runs).select(measures=labels), measures=labels)
    return runs if all(value is None for value in known.values()) else with_metadata(to_matrix(runs), known)


# The run that others are compared with: one of the runs, another file, or saved scores.


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
            if saved_scores.holds_scores(word):
                return cls(saved=word)
            return cls(path=word, name=file_names([*runs, word])[-1])
        if names_one and saved_scores.holds_scores(file):
            return cls(saved=file, within=within)
        return cls(name=full_name(word, names))

    def is_unknown(self, runs: Sequence[str]) -> bool:
        """Whether it is neither a file nor one of these runs."""
        return self.name is not None and self.path is None and self.name not in file_names(list(runs))

    def count(self, runs: Sequence[str]) -> int:
        """How many runs are compared: these, and itself where it is another."""
        return len(runs) + (self.path is not None or self.saved is not None)


def full_name(word: str, names: Sequence[str]) -> str:
    """The name of a run that tables show as this word, without what all names have alike; or the word."""
    from gradedeval.kernel.formats.fitting import short_names  # not where scores are made

    short, _ = short_names(names) if word not in names else ({}, "")
    return next((name for name, shown in short.items() if shown == word), word)


def first_baseline_notes(matrix: Matrix, baseline: str | None, *, fewest: int = 3, named: bool = False) -> list[Note]:
    """Return a note that the first run is the baseline, where none is named and there are `fewest` runs or more.

    named  whether the note names it: frames do
    """
    if baseline is not None or len(matrix.runs) < fewest:
        return []
    name = f", {visible(matrix.runs[0])}," if named else ""
    return [Note(f"using the first run{name} as baseline", f"change it with {flag.baseline:RUN}")]


MEAN = "mean"
"""What `risk` calls the mean of all runs, as a baseline."""


def unknown_baseline_error(word: str, runs: Sequence[str], systems: bool) -> InputError:
    """The error of a baseline that is neither a file nor one of the runs, or systems."""
    what = f"'{word}' is neither a file nor one of the {'systems' if systems else 'runs'} ({shorten(runs)})"
    near = did_you_mean(word, runs)
    hint = "only risk compares with the mean of runs" if word == MEAN else near or "check the path"
    return InputError(flag.baseline, what, hint)


def add_baseline(matrix: Matrix, given: Baseline) -> tuple[Matrix, str | None]:
    """The scores with those of the baseline added, and its name; None without a baseline.

    Raises InputError if it is not found, or its file has several runs and none is named.
    """
    if given.saved is None:
        name = given.name if given.name is None else full_name(given.name, matrix.runs)
        if name is not None and name not in matrix.runs:
            raise unknown_baseline_error(name, matrix.runs, matrix.replicates is not None)
        return matrix, name
    if matrix.machine is not None:
        what = "saved scores have no judgments by a machine"
        raise InputError(flag.baseline, what, "give the baseline as a run", usage=True)
    saved = to_matrix(given.saved)
    place = str(given.saved) if isinstance(given.saved, str | Path) else "baseline"
    if given.within is None and len(saved.runs) > 1:
        what = f"{len(saved.runs)} runs ({shorten(saved.runs)})"
        raise InputError(place, what, f"choose one: {flag.baseline:{place}:{saved.runs[0]}}", usage=True)
    name = saved.runs[0] if given.within is None else given.within
    found = zip(matrix.measures, saved.columns_of(matrix), strict=True)
    if missing := [measure for measure, column in found if column is None]:
        what = f"no scores by '{missing[0]}' (only {shorten(saved.measures)})"
        raise InputError(place, what, f"save them with {flag.measures:'{missing[0]}'} too")
    alone = saved.select(runs=[name])
    if name in matrix.runs:
        # The scores may be of the same file, saved at another time.
        name = f"{place}:{name}"
        alone = replace(alone, runs=[name])
    both = join_matrices(matrix, alone)
    return replace(both, signature=f"{matrix.signature} | baseline {place}"), name


def with_baseline(scores: AnyScores, baseline: AnyScores | None) -> tuple[Matrix, str | None]:
    """Scores with those of a baseline, for a function that compares them, and the name of the baseline.

    baseline  the name of one of the runs, or saved scores of a run in any form

    Raises InputError as `comparable` and `add_baseline` do.
    """
    if isinstance(scores, Matrix) and isinstance(baseline, str | None):
        return scores, baseline
    matrix = to_matrix(scores)
    if baseline is None or (isinstance(baseline, str) and baseline in matrix.runs):
        return check_matrix(matrix), baseline
    given = Baseline.read(baseline, ()) if isinstance(baseline, str) else Baseline(saved=baseline)
    if given.path is not None:
        what = f"'{given.path}' is a run, and there are no qrels to score it with"
        raise InputError("baseline", what, "score it with the others, and give its name", usage=True)
    if given.saved is None:
        whole = full_name(str(given.name), matrix.runs)
        if whole not in matrix.runs:
            raise unknown_baseline_error(whole, matrix.runs, matrix.replicates is not None)
    matrix, name = add_baseline(matrix, given)
    return check_matrix(matrix), name
