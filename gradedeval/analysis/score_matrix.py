"""Scores of runs × topics as arrays, from an evaluation or from saved scores: the input of every comparison."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gradedeval.analysis import saved_scores, several_results
from gradedeval.analysis.saved_scores import Origin, Origins, check_origins
from gradedeval.arrays import COMPARABLE, TOLERANCE, Bools, Floats, Ints
from gradedeval.errors import InputError, Note, did_you_mean, emit_notes, flag, plural, shorten, visible
from gradedeval.kernel.measures.definition import AnyMeasure, Measure, Reading
from gradedeval.kernel.measures.parse import DEFAULT, canonical, parse_measures
from gradedeval.kernel.options import Options, resolve_options
from gradedeval.kernel.parallel import Workers
from gradedeval.kernel.scoring.caveats import different_topics_notes
from gradedeval.kernel.scoring.evaluate import evaluate_runs, file_names, named_runs
from gradedeval.kernel.scoring.scores import Scores
from gradedeval.kernel.scoring.signature import on_common_topics
from gradedeval.kernel.trec.stream import is_named, is_url, same_file

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.saved_scores import SavedScores
    from gradedeval.kernel.options.metadata import Queries, Replicates, Slices
    from gradedeval.kernel.scoring.predicted import Limits


NO_LIMITS = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores of runs × topics × measures.

    runs       names, in the order of the input
    topics     ids of all topics with a score of any run
    measures   their labels
    notations  their notations, as applied
    readings   the summary of each measure over topics, and the better of two scores; None for an unknown measure
    score      runs × topics × measures; nan if a run is not scored on a topic
    residual   the same: possible rise; nan if the measure has none or none was requested
    unjudged   the same: the part of it from unjudged documents of the run
    included   the same: whether the pair counts (it is scored, and certain enough for `--max-residual`)
    origin     runs × measures: their origins
    signature  the signature of the numbers
    notes      notes for the user
    scores     the evaluation; None of saved scores
    queries    the texts of topics, or None
    slices     the labels of topics, or None
    replicates the systems whose seeds are runs, or None
    seeds      the scores of the runs, if these are of systems
    machine    runs × topics × measures: scores by a machine's judgments, if means are estimated from these, too; nan
               for a topic that it did not judge. Topics that it alone judged are not included
    limits     per measure: the least and the largest value on a topic, if means are estimated
    means      runs × measures: the summaries of runs that were saved without their topics; None with topics
    baseline   a run to compare these with, if it was saved without its topics: not among the runs
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
    means: Floats | None = None
    baseline: Matrix | None = None

    def measure_index(self, measure: str) -> int:
        """Return the index of a measure, under any of its names. Raises InputError (usage) if it is missing."""
        if (column := self._column(measure, canonical(measure))) is None:
            hint = did_you_mean(measure, self.measures) or f"choose from {shorten(self.measures)}"
            raise InputError("", f"no scores by '{measure}'", hint, usage=True)
        return column

    def _column(self, measure: str, notation: str) -> int | None:
        """Return the index of a measure by its label, its notation, or another spelling; None if it is missing."""
        for names, name in ((self.measures, measure), (self.notations, notation)):
            if name in names:
                return names.index(name)
        canonical_name = canonical(measure)
        return next((column for column, name in enumerate(self.measures) if canonical(name) == canonical_name), None)

    def columns_of(self, scores: Matrix) -> list[int | None]:
        """Return the index of each measure of other scores; None for missing ones."""
        names, pairs = self.notations, zip(scores.measures, scores.notations, strict=True)
        return [
            names.index(notation) if notation in names else self._column(name, notation) for name, notation in pairs
        ]

    def run_index(self, run: str) -> int:
        """Return the index of a run. Raises InputError (usage) if it is missing."""
        if run not in self.runs:
            hint = did_you_mean(run, self.runs) or f"choose from {shorten(self.runs)}"
            raise InputError("", f"unknown run '{run}'", hint, usage=True)
        return self.runs.index(run)

    def select(self, runs: Sequence[str] | None = None, measures: Sequence[str] | None = None) -> Matrix:
        """Select runs, or measures. Raises InputError (usage) if one is missing."""
        rows = [self.run_index(run) for run in (self.runs if runs is None else runs)]
        columns = range(len(self.measures)) if measures is None else map(self.measure_index, measures)
        return self._of(rows, list(columns))

    def _of(self, rows: list[int] | slice, columns: list[int]) -> Matrix:
        parts = {name: part[rows][:, :, columns] for name, part in self.arrays.items()}
        lists = ("measures", "notations", "readings")
        names: dict[str, Any] = {name: [getattr(self, name)[column] for column in columns] for name in lists}
        if self.limits is not None:
            names["limits"] = [self.limits[column] for column in columns]
        if self.means is not None:
            names["means"] = self.means[rows][:, columns]
        names |= {"runs": np.array(self.runs, dtype=object)[rows].tolist(), "origin": self.origin[rows][:, columns]}
        return replace(self, **names, **parts)

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays of runs × topics × measures, by name."""
        parts = {name: getattr(self, name) for name in ARRAYS}
        return parts if self.machine is None else parts | {"machine": self.machine}

    @property
    def labelled(self) -> dict[str, dict[str, Bools]]:
        """column -> label -> mask of its topics; empty without slices."""
        columns = {} if self.slices is None else self.slices.topics

        def mask(members: Collection[str]) -> Bools:
            return np.array([topic in members for topic in self.topics], dtype=bool)

        return {column: {label: mask(members) for label, members in of.items()} for column, of in columns.items()}

    def of_topics(self, kept: Bools) -> Matrix:
        """Select topics."""
        topics = [topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep]
        seeds = None if self.seeds is None else self.seeds.of_topics(kept)
        arrays: dict[str, Any] = {name: part[:, kept] for name, part in self.arrays.items()}
        return replace(self, topics=topics, seeds=seeds, **arrays)

    def shared(self, measure: str) -> Bools:
        """Return the mask of topics with scores of all runs by one measure, and by the machine if there is one."""
        column = self.measure_index(measure)
        mask: Bools = np.logical_and.reduce(self.included[:, :, column], axis=0)
        return mask if self.machine is None else mask & ~np.isnan(self.machine[:, :, column]).any(0)

    def paired(self, measure: str) -> Paired:
        """Return one measure on the topics of all runs. Raises InputError if there are none, or for huge scores."""
        column, shared = self.measure_index(measure), self.shared(measure)
        by_machine: dict[str, Floats] = {}
        limits = NO_LIMITS if self.limits is None else self.limits[column]
        if self.machine is not None:
            others = ~np.isnan(self.machine[:, :, column]).any(0) & ~self.included[:, :, column].any(0)
            by_machine = {"machine": self.machine[:, shared, column], "others": self.machine[:, others, column]}
        if not shared.any():
            raise self._nothing_shared(measure)
        score = self.score[:, shared, column]
        if not all((np.abs(array) < COMPARABLE).all() for array in (score, *by_machine.values())):
            finite = f"scores of {COMPARABLE:g} or more have no deviation to compare by"
            problem = finite if np.isfinite(score).all() else "infinite scores have no mean to compare"
            raise InputError(f"measure '{measure}'", problem, "exclude this measure")
        topics = [topic for topic, is_shared in zip(self.topics, shared.tolist(), strict=True) if is_shared]
        residual = self.residual[:, shared, column]
        return Paired(measure, self.reading(column), self.runs, topics, score, residual, **by_machine, limits=limits)

    def reading(self, column: int) -> Reading:
        """Return the reading of a measure; by default scores have a mean, and higher is better."""
        return self.readings[column] or Reading()

    def comparable_measures(self) -> list[str]:
        """Return the measures with some topic that all runs are scored on. Raises InputError if there are none."""
        shared: Bools = np.logical_and.reduce(self.included, axis=0)
        measures = [name for name, of_topics in zip(self.measures, shared.T, strict=True) if of_topics.any()]
        if not measures:
            raise self._nothing_shared(self.measures[0])
        return measures

    def _nothing_shared(self, measure: str) -> InputError:
        return InputError(f"measure '{measure}'", f"no topic that {all_runs(self.runs)} are scored on", self.hint)

    @property
    def hint(self) -> str:
        """The cure for too few included pairs."""
        if (~self.included & ~np.isnan(self.score)).any():  # uncertain
            return f"compare fewer runs, or raise {flag.max_residual}"
        return "compare runs with topics in common"

    def reading_notes(self) -> list[str]:
        """Return a note on measures with unknown summary and direction."""
        unknown = [name for name, reading in zip(self.measures, self.readings, strict=True) if reading is None]
        problem = "no measure known here; taken as a mean, the higher the better"
        return [f"{', '.join(unknown)}: {problem}"] if unknown else []

    def unequal_topics(self, averaged: Mapping[str, Iterable[Hashable]] | None = None) -> list[Note]:
        """Return a note if the means of runs are over different topics: `averaged`, or those that each is scored on."""
        if averaged is None:
            each = self.included.transpose(2, 0, 1)
            averaged = {name: [run.tobytes() for run in rows] for name, rows in zip(self.measures, each, strict=True)}
        return different_topics_notes(averaged, None if self.scores is None else self.scores.options)

    @property
    def judged(self) -> Bools:
        """Mask of topics that are not judged by a machine alone."""
        if self.machine is None:
            return np.ones(len(self.topics), dtype=bool)
        return np.asarray(self.included.any((0, 2)) | np.isnan(self.machine).all((0, 2)))

    @property
    def common_signature(self) -> str:
        """The signature of what is over the topics that all runs are scored on."""
        is_scored = ~np.isnan(self.score).all(2)
        return on_common_topics(self.signature, int((is_scored.all(0) & self.judged).sum()))

    def other_notes(self) -> list[str]:
        """Return the notes of the scores except notes that `omission_notes` repeats for all runs."""
        if not self.omission_notes():
            return self.notes
        left_out = "missing-topics"  # with a hint they are not left out, but count as empty rankings
        return [n for n in self.notes if not (isinstance(n, Note) and n.kind == left_out and not n.raw[1])]

    def omission_notes(self) -> list[str]:
        """Return the notes on topics left out of comparisons, one for all measures that lack the same."""
        measures_of, judged = dict[str, list[str]](), self.judged
        if self.machine is not None:
            judged &= ~np.isnan(self.machine).all((0, 2))
        for column, measure in enumerate(self.measures):
            scored = judged & ~np.isnan(self.score[:, :, column]).all(0)
            is_omitted = ~self.included[:, :, column] & scored
            if is_omitted.any():
                text = self._omission(column, is_omitted, int(scored.sum()))
                measures_of.setdefault(text, []).append(measure)
        return [f"{shorten(measures, 3)}: {text}" for text, measures in measures_of.items()]

    def _omission(self, column: int, is_omitted: Bools, scored: int) -> str:
        """Return the text on topics left out for one measure: which, by which runs, and why."""
        of_topic, of_run = np.logical_or.reduce(is_omitted, axis=0), np.logical_or.reduce(is_omitted, axis=1)
        topics, runs = list(compress(self.topics, of_topic.tolist())), list(compress(self.runs, of_run.tolist()))
        them = "it" if len(topics) == 1 else "them"
        lacks = f"{runs[0]} is not scored on {them}"
        if len(runs) > 1:
            same = (is_omitted[of_run] == of_topic).all()
            lacks = f"{shorten(runs, 3)} are not scored on {'' if same else 'all of '}{them}"
        chosen = {origin.signature for origin in self.origin[:, column] if origin.signature}
        why = sorted({part for signature in chosen for part in signature.parts if _CHOICE.match(part)})
        count = f"{len(topics)} of {scored} {plural(scored, 'topic')} left out ({shorten(topics)})"
        return f"{count}: {lacks}" + (f" ({', '.join(why)})" if why else "")


@dataclass(frozen=True, eq=False)
class Paired:
    """The scores of all runs by one measure on the same topics. `score`, `residual` and `machine`, the scores by a
    machine's judgments, are runs × topics; `others` has the scores on topics that it alone judged. `limits` are the
    least and the largest value on a topic, if means are estimated."""

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
        """The number of topics, with topics that a machine alone judged."""
        return len(self.topics) + (0 if self.others is None else self.others.shape[1])

    @property
    def by_machine(self) -> tuple[Floats, Floats]:
        """The scores by a machine on the topics that people judged, and on the others."""
        assert self.machine is not None
        assert self.others is not None
        return self.machine, self.others

    @property
    def summaries(self) -> Floats:
        """The mean, total or geometric mean of each run, as `gradedeval eval` prints it."""
        return self.reading.summarize(self.score)

    @property
    def residuals(self) -> Floats:
        """The residual of each summary; nan if the measure has none."""
        return self.reading.summarize_rises(self.score, self.residual)

    def wins(self, differences: Floats) -> dict[str, Any]:
        """Count the topics that each row of differences wins, ties and loses; only ties without a better direction."""
        gains, has_direction = differences * self.reading.sign, self.reading.better != "neither"
        counts = {"wins": (gains > 0).sum(1), "ties": (gains == 0).sum(1), "losses": (gains < 0).sum(1)}
        return counts if has_direction else {**counts, "wins": None, "losses": None}

    @property
    def values(self) -> Floats:
        """The values whose means are tested and sampled, runs × topics: logarithms for geometric means."""
        return self.reading.tested(self.score)

    @property
    def tested(self) -> str:
        """The tested quantity of two runs: the `difference` of their summaries, or the `ratio` of geometric means."""
        return "ratio" if self.reading.summary == "geometric" else "difference"


def shared_topics(matrix: Matrix, measure: str) -> Paired:
    """Return one measure on the topics that all runs are scored on. Raises InputError for fewer than two."""
    paired = matrix.paired(measure)
    if len(paired.topics) < 2:
        problem = f"{all_runs(paired.runs)} share a single topic ({paired.topics[0]}), and a test needs two"
        raise InputError(f"measure '{measure}'", problem, "compare runs with more topics in common")
    return paired


_CHOICE = re.compile(r"max residual |\d+ chosen topics? |topics (both|run|relevant)$")
"""The parts of a signature with the reason why a run is not scored on a topic."""
OneResult: TypeAlias = "Scores | Matrix | pd.DataFrame | str | Path"
AnyScores: TypeAlias = "OneResult | Sequence[OneResult] | Mapping[str, OneResult]"
"""The input of `to_matrix`."""
ARRAYS = ("score", "residual", "unjudged", "included")


def to_matrix(scores: AnyScores, means_suffice: bool = False) -> Matrix:
    """Convert scores to a matrix of arrays.

    scores         the result of `gradedeval.evaluate`, or saved scores: a csv, tsv, json or jsonl file of `gradedeval
                   -q`, or its rows as a DataFrame with the columns run, topic, measure, score[, residual][, unjudged]
                   [, signature]; or a list of any of these, or a dict name -> any of these
    means_suffice  accept means without scores by topic: a matrix of no topics, with `means`

    Raises InputError if a file or frame has no scores by topic.
    """
    given: Any = as_one(scores)
    if isinstance(given, Matrix):
        return given
    if isinstance(given, Scores):
        return _from_scores(given)
    if not (isinstance(given, str | Path) or hasattr(given, "columns")):  # neither a file nor a frame
        problem = f"expected scores, not a {type(given).__name__}"
        raise InputError("scores", problem, CURE, usage=True)
    return _from_saved(saved_scores.read_saved(given, means_suffice))


CURE = "give what `gradedeval.evaluate` returns, or runs and qrels"


def as_one(results: Any) -> Any:
    """Return several results as one; anything else unchanged.

    A dict names results of one run; unnamed runs of a list become run1, run2, … Raises InputError (usage) if a run is
    in two results, or if they depend on different qrels or options.
    """
    if not _are_results(results):
        return results
    parts = list(results.values() if isinstance(results, Mapping) else results)
    if all(isinstance(part, Scores) and part.measures == parts[0].measures for part in parts):
        return several_results.joined_scores(results)
    matrices = list(map(to_matrix, parts))
    if isinstance(results, Mapping):
        for name, matrix in zip(results, matrices, strict=True):
            several_results.check_single_run(str(name), matrix.runs)
        matrices = [replace(matrix, runs=[str(name)]) for name, matrix in zip(results, matrices, strict=True)]
    return check_matrix(reduce(join_matrices, matrices))


def as_scores(results: Any) -> Scores:
    """Return evaluations by the same measures as one. Raises InputError (usage) for anything else, as `as_one`."""
    scores = as_one(results)
    if isinstance(scores, Scores):
        return scores
    if _are_results(results):
        problem = "results are by different measures, or saved"
        raise InputError("scores", problem, "give evaluations by the same measures", usage=True)
    raise InputError("scores", f"expected scores, not a {type(results).__name__}", CURE, usage=True)


def _are_results(results: Any) -> bool:
    """Return whether this is a list or a dict of results, and not of runs."""
    if not isinstance(results, list | tuple | Mapping) or not results:
        return False
    return all(map(_is_result, results.values() if isinstance(results, Mapping) else results))


def _is_result(result: Any) -> bool:
    if isinstance(result, str | Path):
        return os.path.isfile(result) and saved_scores.holds_scores(str(result))
    columns = () if isinstance(result, Mapping) else getattr(result, "columns", ())
    return isinstance(result, Scores | Matrix) or set(saved_scores.REQUIRED_COLUMNS) <= set(columns)


def comparable_matrix(scores: AnyScores) -> Matrix:
    """Convert scores with `to_matrix`, and check them. A Matrix has been checked."""
    scores = as_one(scores)
    return scores if isinstance(scores, Matrix) else check_matrix(to_matrix(scores))


def check_matrix(matrix: Matrix) -> Matrix:
    """Check that the scores are comparable, emit notes on assumptions, and return the matrix."""
    single = matrix.seeds or matrix
    notes = check_origins(single.runs, single.measures, single.origin)
    emit_notes([*notes, *matrix.reading_notes()])
    return matrix


def with_machine(scores: Scores) -> Matrix:
    """Convert scores with `to_matrix`, along with the scores by a machine's judgments, if any."""
    return _from_scores(scores, predicts=True)


def with_estimates(scores: AnyScores) -> AnyScores:
    """Return the scores; an evaluation with a machine's judgments as a matrix, for functions that support estimates."""
    return with_machine(scores) if isinstance(scores, Scores) and scores.machine is not None else scores


def _unweighted(signatures: Iterable[str]) -> None:
    """Raise InputError (usage) for weighted means: in differences, tests and intervals topics weigh the same."""
    if any(re.search(r"(^| \| )topic weights \w+( \||$)", text) for text in signatures):
        problem = "topics weigh the same in differences, tests and intervals"
        raise InputError(flag.topic_weights, problem, "leave it out; eval and evaluate have weighted means", usage=True)


def _from_scores(scores: Scores, predicts: bool = False) -> Matrix:
    _unweighted([scores.signature])
    by_machine = scores.by_machine
    if by_machine and not predicts:
        problem = "estimates from people's judgments and a machine's are not known here"
        raise InputError(flag.predicted, problem, "leave it out, or use eval or compare", usage=True)
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
    metadata: dict[str, Any] = {name: getattr(scores.options, name) for name in METADATA_OPTIONS}
    signature = scores.signature
    if by_machine:
        from gradedeval.kernel.scoring.predicted import PREDICTED, limits_of  # few evaluations have predictions

        metadata["machine"] = _by_machine(matrix, scores, column_of)
        metadata["limits"] = [limits_of(measure) for measure in scores.measures]
        signature = " | ".join(part for part in signature.split(" | ") if not part.endswith(PREDICTED))
    return with_systems(replace(matrix, signature=signature, notes=list(scores.notes), scores=scores, **metadata))


def _by_machine(matrix: Matrix, scores: Scores, column_of: Mapping[str, int]) -> Floats:
    """Return the scores by the machine, runs × topics × measures; nan for topics that do not count for people."""
    scores_by_machine = np.full(matrix.score.shape, np.nan)
    for row, (people, machine) in enumerate(zip(scores.runs, scores.by_machine, strict=True)):
        columns = [column_of[topic] for topic in machine.topics]
        scores_by_machine[row, columns] = np.where(machine.included, machine.score, np.nan)
        judged = [column_of[topic] for topic in people.topics]
        scores_by_machine[row, judged] = np.where(people.included, scores_by_machine[row, judged], np.nan)
    return scores_by_machine


def _from_saved(saved: SavedScores) -> Matrix:
    _unweighted(map(str, set(saved.signatures.values())))
    place, rows, key = saved.place, saved.rows, saved_scores.SavedScore.KEY
    runs, topics, measures = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in key)
    means = None
    if not rows:
        runs, measures = (list(dict.fromkeys(names)) for names in zip(*saved.means, strict=True))
        means = np.array([[saved.means.get((run, measure), np.nan) for measure in measures] for run in runs])
    parsed = map(known_measure, measures)
    readings = [None if measure is None else measure.reading for measure in parsed]
    matrix = _empty(runs, topics, measures, measures, readings)
    indices = [{name: index for index, name in enumerate(names)} for names in (runs, topics, measures)]
    for row in rows:
        cell = tuple(index[getattr(row, name)] for index, name in zip(indices, key, strict=True))
        matrix.score[cell], matrix.residual[cell], matrix.unjudged[cell] = row.score, row.residual, row.unjudged
        matrix.included[cell] = True
    for index, run in enumerate(runs):
        matrix.origin[index] = [
            Origin(place, str(saved.signatures.get((run, measure), "")), saved.cut, not rows) for measure in measures
        ]
    labels = [saved.labels[measure] for measure in measures]
    notation_of = {
        name: notation for joined in saved.signatures.values() for name, notation in joined.notations().items()
    }
    notations = [notation_of.get(label, measure) for label, measure in zip(labels, measures, strict=True)]
    parts = dict.fromkeys(part for signature in saved.signatures.values() for part in signature.parts)
    joined = " | ".join([f"{place}: {len(runs)} {plural(len(runs), 'run')}", *parts])
    return replace(matrix, measures=labels, notations=notations, signature=joined, means=means)


def known_measure(notation: str) -> Measure | None:
    """Return a measure by its notation; None for an unknown one, as of the user's own."""
    try:
        (measure,) = parse_measures(notation)
    except (InputError, ValueError):
        return None
    return measure


def _empty(
    runs: list[str], topics: list[str], measures: list[str], notations: list[str], readings: list[Reading | None]
) -> Matrix:
    shape = (len(runs), len(topics), len(measures))
    blank: dict[str, Any] = {name: np.full(shape, np.nan) for name in ("score", "residual", "unjudged")}
    origin = np.full((len(runs), len(measures)), None, dtype=object)
    blank["included"] = np.zeros(shape, dtype=bool)
    return Matrix(runs, topics, measures, notations, readings, **blank, origin=origin)


METADATA_OPTIONS = ("queries", "slices", "replicates")
"""Options with metadata of topics and runs: they go with saved scores, too."""


def with_systems(matrix: Matrix) -> Matrix:
    """Return the scores of systems in place of their runs, which become its `seeds`: means or geometric means."""
    if matrix.replicates is None:
        return matrix
    systems = matrix.replicates.systems(matrix.runs)
    rows = [[matrix.runs.index(run) for run in runs] for runs in systems.values()]
    geometric = np.array([matrix.reading(column).summary == "geometric" for column in range(len(matrix.measures))])
    parts: dict[str, Any] = {"included": np.array([matrix.included[members].all(0) for members in rows])}
    for name, part in matrix.arrays.items():
        if name == "included":
            continue
        values = np.array([part[members].mean(0) for members in rows])
        values[:, :, geometric] = np.nan  # a mean of residuals bounds no geometric mean
        parts[name] = values
        for column in np.flatnonzero(geometric).tolist() if name in ("score", "machine") else ():
            reading = matrix.reading(column)
            values[:, :, column] = np.exp([reading.tested(part[members, :, column]).mean(0) for members in rows])
    from gradedeval.kernel.options.metadata import seeds_in_words  # most runs have no seeds

    origin = matrix.origin[[members[0] for members in rows]]
    signature = " | ".join(part for part in (matrix.signature, seeds_in_words(systems)) if part)
    # Estimates from a machine's judgments are of these seeds: the mixed model does not support them.
    seeds = matrix if matrix.machine is None else None
    fields: dict[str, Any] = {"seeds": seeds, "scores": None, "signature": signature}
    return replace(matrix, runs=list(systems), origin=origin, **parts, **fields)


def with_metadata(matrix: Matrix, given_metadata: Mapping[str, Any]) -> Matrix:
    """Add metadata of topics and runs, as in `METADATA_OPTIONS`; unmatched ones are noted."""
    if not any(value is not None for value in given_metadata.values()):
        return matrix
    from gradedeval.kernel.options.metadata import unmatched_notes

    options = resolve_options(**given_metadata)
    emit_notes(unmatched_notes(options.queries, options.slices, matrix.topics))
    if options.replicates is not None:
        matrix = matrix.seeds or matrix
        emit_notes(options.replicates.notes(matrix.runs))
    matrix = replace(matrix, **{name: getattr(options, name) or getattr(matrix, name) for name in METADATA_OPTIONS})
    return matrix if options.replicates is None else with_systems(matrix)


def join_matrices(first: Matrix, second: Matrix) -> Matrix:
    """Join the runs of both, by the measures of both. Raises InputError if a run is in both, or no measure is."""
    twice = [run for run in second.runs if run in first.runs]
    if twice:
        raise InputError("", f"duplicate run '{twice[0]}'", "give each run once", usage=True)
    matches = second.columns_of(first)
    columns = [column for column, place in enumerate(matches) if place is not None]
    if not columns:
        problem = f"no measure in common ({shorten(first.measures)} vs {shorten(second.measures)})"
        raise InputError("", problem, "score both by the same measures", usage=True)
    topics = list(dict.fromkeys([*first.topics, *second.topics]))
    first = first._of(slice(None), columns)
    second = second._of(slice(None), [place for place in matches if place is not None])
    readings = [reading or fallback for reading, fallback in zip(first.readings, second.readings, strict=True)]
    matrix = _empty([*first.runs, *second.runs], topics, first.measures, first.notations, readings)
    column_of = {topic: column for column, topic in enumerate(topics)}
    for rows, part in ((slice(None, len(first.runs)), first), (slice(len(first.runs), None), second)):
        for name in ARRAYS:
            getattr(matrix, name)[rows, [column_of[topic] for topic in part.topics]] = getattr(part, name)
        matrix.origin[rows] = part.origin
    signature = " | ".join(part.signature for part in (first, second) if part.signature)
    metadata = {name: getattr(first, name) or getattr(second, name) for name in ("scores", *METADATA_OPTIONS)}
    seeds = None
    if first.seeds is not None or second.seeds is not None:
        by_seed = [replace(part.seeds or part, notes=[], replicates=None, seeds=None) for part in (first, second)]
        seeds = replace(join_matrices(*by_seed), replicates=metadata["replicates"])
    return replace(matrix, signature=signature, notes=[*first.notes, *second.notes], seeds=seeds, **metadata)


def all_runs(runs: Sequence[str]) -> str:
    """Return all of some runs, in words."""
    return "both runs" if len(runs) == 2 else f"all {len(runs)} runs"


def require_two_runs(name: str, count: int, hint: str = "add a run") -> None:
    """Raise InputError (usage) for fewer than two runs, if `name` compares them."""
    if count < 2:
        raise InputError("", f"{name} needs at least two runs", hint, usage=True)


def require_single_runs(name: str, matrix: Matrix) -> Matrix:
    """Return the scores. Raises InputError (usage) for systems: `name` tests runs as if no seed varied."""
    if matrix.seeds is not None:
        problem = f"{name} tests single runs: that seeds vary would go unseen"
        raise InputError(flag.replicates, problem, "leave it out, or compare the systems", usage=True)
    return matrix


def run_pairs(runs: int, baselines: Sequence[int] = ()) -> tuple[Ints, Ints]:
    """Return the indices of the baseline and of the run of each pair, once; of all pairs without a baseline."""
    if not baselines:
        first, second = np.triu_indices(runs, 1)
        return first, second
    each = ((baseline, baselines[: i + 1]) for i, baseline in enumerate(baselines))
    first, second = np.array([(baseline, run) for baseline, done in each for run in range(runs) if run not in done]).T
    return first, second


def topic_differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """Return second − first of values by topic, pairs × topics; 0 if only the last bits differ."""
    differences: Floats = values[second] - values[first]
    differences[np.abs(differences) <= TOLERANCE] = 0
    return differences


# Runs that are scored here, or scores.


def options_with_residuals(like: str | None = None, *, bounded: bool = True, **keywords: Any) -> Options:
    """Return the options with residuals, if there are any and `bounded` does not exclude them."""
    options = resolve_options(like, **keywords)
    bounded = bounded and options.predicted is None and not options.judged_only
    defaults = frozenset({"residuals", "bounds"})  # which are not the user's choice here
    given, may_be_unused = options.given | defaults, options.may_be_unused | defaults
    options = replace(options, bounds=False, given=given, may_be_unused=may_be_unused)
    return replace(options, residuals="total" if bounded else None)


def scores_to_compare(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] | None,
    like: str | None,
    keywords: Mapping[str, Any],
    keep: bool = False,
    predicts: bool = False,
    bounded: bool = True,
    omits: bool = False,
) -> AnyScores:
    """Return the scores that a function compares.

    With qrels, runs are scored, with residuals, as commands have them; otherwise scores are passed in, all or by some
    measures.

    keep      keep the documents of runs with the scores, as `evaluate_runs` does
    predicts  whether the function supports estimates by --predicted, which is an error elsewhere
    bounded   have residuals
    omits     whether the function emits `omission_notes`

    Raises InputError as `evaluate` does, and (usage) for options beside scores.
    """
    runs = as_one(runs)
    columns = getattr(runs, "columns", None)
    framed = columns is not None and set(saved_scores.REQUIRED_COLUMNS) <= set(columns)
    if qrels is not None and (framed or isinstance(runs, Scores | Matrix)):
        hint = "leave out qrels; a run that the others are compared with is baseline="
        raise InputError("qrels", "is given beside scores", hint, usage=True)
    if qrels is not None:
        options = options_with_residuals(like, bounded=bounded, **keywords)
        chosen = parse_measures(DEFAULT if measures is None else measures)
        settings: dict[str, Any] = {"keep": keep, "predicts": predicts, "workers": Workers.current()}
        scores = evaluate_runs(named_runs(runs, qrels), qrels, chosen, options, **settings)
        scored = with_estimates(scores)
        emit_notes(to_matrix(scored).other_notes() if omits else scores.notes)
        return scored
    runs = with_estimates(runs) if predicts else runs
    resolve_options(**dict.fromkeys(keywords))  # which refuses what is no option
    metadata = {name: keywords.get(name) for name in METADATA_OPTIONS}
    for name, value in {"like": like, **keywords}.items():
        if value is not None and value is not False and name not in metadata:
            problem = "says how runs are scored, and no qrels are given"
            raise InputError(name, problem, "give runs and qrels; saved scores cannot be changed", usage=True)
    if measures is not None:
        labels = [measure.label for measure in parse_measures(measures)]
        runs = replace(to_matrix(runs).select(measures=labels), measures=labels)
    return runs if all(value is None for value in metadata.values()) else with_metadata(to_matrix(runs), metadata)


# The baseline: one of the runs, another file, or saved scores.


@dataclass(frozen=True)
class Baseline:
    """The value of `--baseline`; all None for no baseline.

    name    one of the runs
    path    another run
    saved   a file of saved scores, and the run `within` it if it has more; in Python also a frame or an evaluation
    """

    name: str | None = None
    path: str | None = None
    saved: AnyScores | None = None
    within: str | None = None

    @classmethod
    def read(cls, word: str | None, runs: Sequence[str]) -> Baseline:
        """Read the value of `--baseline` for these run files: a run that is one of them counts once."""
        if word is None:
            return cls()
        names = file_names(list(runs))
        matches = [name for name, path in zip(names, runs, strict=True) if word == path or same_file(word, path)]
        if matches:
            return cls(name=matches[0])
        file, colon, within = word.rpartition(":")
        names_run = colon and is_named(file) and "/" not in within
        if os.path.exists(word) or (is_url(word) and not names_run):
            if saved_scores.holds_scores(word):
                return cls(saved=word)
            return cls(path=word, name=file_names([*runs, word])[-1])
        if names_run and saved_scores.holds_scores(file):
            return cls(saved=file, within=within)
        return cls(name=full_name(word, names))

    def is_unknown(self, runs: Sequence[str]) -> bool:
        """Return whether it is neither a file nor one of these runs."""
        return self.name is not None and self.path is None and self.name not in file_names(list(runs))

    def count(self, runs: Sequence[str]) -> int:
        """Count the compared runs: these, and the baseline if it is another one."""
        return len(runs) + (self.path is not None or self.saved is not None)


def full_name(word: str, names: Sequence[str]) -> str:
    """Return the name of the run that a terminal or a picture shortens to this word, or else the word itself."""
    from gradedeval.analysis.pictures import short_names  # not where scores are made
    from gradedeval.kernel.formats.fitting import ELLIPSIS

    if word in names:
        return word
    start, ellipsis, end = word.partition(ELLIPSIS)
    matches = [name for name, short in short_names(names)[0].items() if short == word]
    if ellipsis and start and end:
        matches += [name for name in names if visible(name).startswith(start) and visible(name).endswith(end)]
    return matches[0] if len(matches) == 1 else word


def first_baseline_notes(matrix: Matrix, baseline: str | None, *, fewest: int = 3, named: bool = False) -> list[Note]:
    """Return a note that the first run is the baseline, if none is named; with its name if `named`."""
    if baseline is not None or len(matrix.runs) < fewest:
        return []
    name = f", {visible(matrix.runs[0])}," if named else ""
    return [Note(f"using the first run{name} as baseline", f"change it with {flag.baseline:RUN}")]


MEAN = "mean"
"""The name of the mean of all runs as a baseline of `risk`."""


def unknown_baseline_error(word: str, runs: Sequence[str], systems: bool) -> InputError:
    """Return the error of a baseline that is neither a file nor one of the runs, or systems."""
    problem = f"'{word}' is neither a file nor one of the {'systems' if systems else 'runs'} ({shorten(runs)})"
    near = did_you_mean(word, runs)
    hint = "only risk compares with the mean of runs" if word == MEAN else near or "check the path"
    return InputError(flag.baseline, problem, hint)


def add_baseline(matrix: Matrix, source: Baseline, means_suffice: bool = False) -> tuple[Matrix, str | None]:
    """Add the scores of the baseline; return them with its name, None without a baseline. If means suffice, one saved
    without topics is the `baseline` of the matrix. Raises InputError if it is not found, or if its file has more than
    one run and none is named."""
    if source.saved is None:
        name = source.name if source.name is None else full_name(source.name, matrix.runs)
        if name is not None and name not in matrix.runs:
            raise unknown_baseline_error(name, matrix.runs, matrix.replicates is not None)
        return matrix, name
    if matrix.machine is not None:
        problem = "saved scores have no judgments by a machine"
        raise InputError(flag.baseline, problem, "give the baseline as a run", usage=True)
    saved = to_matrix(source.saved, means_suffice)
    place = str(source.saved) if isinstance(source.saved, str | Path) else "baseline"
    if source.within is None and len(saved.runs) > 1:
        problem = f"{len(saved.runs)} runs ({shorten(saved.runs)})"
        raise InputError(place, problem, f"choose one: {flag.baseline:{place}:{saved.runs[0]}}", usage=True)
    name = saved.runs[0] if source.within is None else source.within
    alone = saved.select(runs=[name])
    columns = zip(matrix.measures, saved.columns_of(matrix), strict=True)
    if missing := [measure for measure, column in columns if column is None]:
        problem = f"no scores by '{missing[0]}' (only {shorten(saved.measures)})"
        raise InputError(place, problem, f"save them with {flag.measures:'{missing[0]}'} too")
    if name in matrix.runs:
        # The scores may be of the same file, saved at another time.
        name = f"{place}:{name}"
        alone = replace(alone, runs=[name])
    both = join_matrices(matrix, alone) if alone.means is None else _beside_means(matrix, alone)
    return replace(both, signature=f"{matrix.signature} | baseline {place}"), name


def _beside_means(matrix: Matrix, baseline: Matrix) -> Matrix:
    """Return scores beside a baseline without topics. Raises InputError (usage) if it is of other settings."""
    baseline = baseline._of(slice(None), [column for column in baseline.columns_of(matrix) if column is not None])
    of_runs = matrix.seeds or matrix
    origins = np.array([*of_runs.origin, *baseline.origin])
    emit_notes(check_origins([*of_runs.runs, *baseline.runs], matrix.measures, origins))
    return replace(matrix, baseline=replace(baseline, measures=matrix.measures))


def with_baseline(
    scores: AnyScores, baseline: AnyScores | None, means_suffice: bool = False
) -> tuple[Matrix, str | None]:
    """Return scores with the scores of a baseline, for a function that compares them, and the name of the baseline.

    baseline       the name of one of the runs, or saved scores of a run in any form
    means_suffice  as of `add_baseline`

    Raises InputError as `comparable_matrix` and `add_baseline` do.
    """
    scores = as_one(scores)
    if isinstance(scores, Matrix) and isinstance(baseline, str | None):
        return scores, baseline
    matrix = to_matrix(scores)
    if baseline is None or (isinstance(baseline, str) and baseline in matrix.runs):
        return check_matrix(matrix), baseline
    source = Baseline.read(baseline, ()) if isinstance(baseline, str) else Baseline(saved=baseline)
    if source.path is not None:
        problem = f"'{source.path}' is a run, and there are no qrels to score it with"
        raise InputError("baseline", problem, "score it with the others, and give its name", usage=True)
    if source.saved is None:
        full = full_name(str(source.name), matrix.runs)
        if full not in matrix.runs:
            raise unknown_baseline_error(full, matrix.runs, matrix.replicates is not None)
    matrix, name = add_baseline(matrix, source, means_suffice)
    return check_matrix(matrix), name
