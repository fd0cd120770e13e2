"""`fit`: the parameter with which one measure agrees best with another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis import parameter_search
from gradedeval.analysis.correlate import BY_TOPIC, KINDS, Kind, scores_agreement
from gradedeval.analysis.parameter_search import MeasureRange, Values, best, best_of, read_ranges, resolution
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.analysis.tables import Row, Shown, frame_document, near_best, same, signature_lines
from gradedeval.arrays import Bools
from gradedeval.errors import InputError, check_choice, plural
from gradedeval.formats import Column, Document, Layout
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.bootstrap import chunks
from gradedeval.scoring.by_measure import with_defaults
from gradedeval.scoring.evaluate import evaluate_runs, qrels_for
from gradedeval.scoring.run_names import named_runs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Collection:
    """Runs by name, their judgments, and the options by which they are scored."""

    runs: dict[str, Any]
    qrels: Qrels
    options: Options
    workers: Workers = field(default_factory=Workers)

    def scores(self, measures: Sequence[Measure], residuals: bool = False) -> Matrix:
        """The scores by some measures; `max_residual` applies only if `residuals` are asked for."""
        options = self.options if residuals else replace(self.options, residuals=None, max_residual=None)
        return to_matrix(evaluate_runs(self.runs, self.qrels, measures, options, workers=self.workers))


def read_collection(runs: dict[str, Any], qrels: Any, options: Options, workers: Workers | None = None) -> Collection:
    """Runs by name with their qrels read. Raises InputError where they cannot be read."""
    judged = qrels_for(runs, qrels, options)
    return Collection(runs, judged, options, workers or Workers())


@dataclass(frozen=True, eq=False)
class Target:
    """The scores of a collection by the one measure that others are fitted to."""

    collection: Collection
    matrix: Matrix

    @classmethod
    def of(cls, collection: Collection, target: Measure) -> Target:
        """The scores by the target. Raises InputError if `max_residual` leaves no pair."""
        matrix = collection.scores([target], residuals=True)
        if not matrix.included.any():
            raise InputError("--max-residual", f"no (run, topic) pair is left by {matrix.measures[0]}", "raise it")
        return cls(collection, matrix)

    @property
    def included(self) -> Bools:
        """runs × topics: which pairs count."""
        return self.matrix.included[:, :, 0]

    def agreements(self, measures: Sequence[Measure], kinds: Sequence[Kind]) -> list[list[float]]:
        """For each measure its agreement of each kind."""
        by_name: dict[str, list[float]] = {}
        labels: dict[Measure, str] = {}  # two notations may mean the same measure as applied
        applied = [with_defaults(measure, self.collection.options) for measure in measures]
        for measure in applied:
            labels.setdefault(measure, measure.label)
        for some in chunks(len(measures), self.included.size):
            matrix = self.collection.scores(measures[some])
            for column, name in enumerate(matrix.measures):
                by_name[name] = [self._agreement(kind, matrix, column) for kind in kinds]
        return [by_name[labels[measure]] for measure in applied]

    def _agreement(self, kind: Kind, matrix: Matrix, column: int) -> float:
        readings = self.matrix.reading(0), matrix.reading(column)
        return scores_agreement(kind, self.matrix.score[:, :, 0], matrix.score[:, :, column], self.included, readings)[
            0
        ]

    def search(self, ranges: Sequence[MeasureRange], kinds: Sequence[Kind], precision: float) -> list[list[Values]]:
        """For each measure and kind of agreement, the values tried and how well they agree."""

        def agreements_of(grids: list[tuple[MeasureRange, list[float]]]) -> list[list[list[float]]]:
            measures = [range_.at(value) for range_, grid in grids for value in grid]
            agreements = iter(self.agreements(measures, kinds))
            return [list(islice(agreements, len(grid))) for _, grid in grids]

        return parameter_search.search(ranges, agreements_of, len(kinds), precision)


@dataclass(frozen=True, eq=False)
class FitResult(InNotebook, document="analysis.fit.fit_document"):
    """The result of a fit.

    frame      a row for each measure and kind of agreement: measure, parameter, by, value (the best), agreement, low,
               high (the range around it with an agreement within 0.001), pairs; after a validation too: agreement_there
               (of the same value), value_there (the best there), best_there (its agreement); step (of the values that
               were tried over the whole range)
    curve      measure, parameter, by, value, agreement[, agreement_there]: every value agreements_of
    settings   how it was fitted
    signature  what the scores depend on
    notes      notes for the user, as on values at the end of their range
    """

    frame: pd.DataFrame
    curve: pd.DataFrame
    settings: str
    signature: str
    notes: list[str]


def fit(
    runs: Any,
    qrels: Any,
    measures: str | Sequence[str],
    to: AnyMeasure,
    *,
    by: Kind | Sequence[Kind] = ("pearson", "spearman"),
    precision: float = 0.001,
    other_runs: Any = None,
    other_qrels: Any = None,
    other_topics: Any = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> FitResult:
    """The parameter of each measure with which it agrees best with the measure `to`.

    runs          as for `gradedeval.evaluate`, several
    qrels         as for `gradedeval.evaluate`
    measures      with a range, as in "nerr10(phi=0.05..0.95)", "nerr9@1..40" or "rbp(p=0.1..0.9..0.1)" with its step
    to            the measure to agree with; with `max_residual`, (run, topic) pairs with a larger residual are left out
    by            kinds of agreement; see `gradedeval.correlate`
    precision     of the value, tried over the whole range; a range of more than a thousand such values has larger
                  steps (the column `step`), and finer ones around the best
    other_runs, other_qrels, other_topics
                  where the values are validated: another collection, or other topics of the same (ids or a file)
    options       as for `gradedeval.evaluate`

    Raises InputError as `evaluate` does, and (usage) for an invalid range or kind. Azzopardi et al., ICTIR 2021,
    section 4.
    """
    options = resolve_options(like, **keywords)
    collection = read_collection(named_runs(runs), qrels, options)
    topics = None if other_topics is None else resolve_options(topics_from=other_topics).topics_from
    there = other(collection, other_runs, other_qrels, topics)
    (target,) = parse_measures(to)
    kinds = [by] if isinstance(by, str) else list(by)
    return fit_ranges(collection, read_ranges(measures), target, kinds, precision, there)


def other(collection: Collection, runs: Any, qrels: Any, topics: frozenset[bytes] | None) -> Collection | None:
    """Where a fit is validated; None if nowhere. Raises InputError (usage) for runs without qrels."""
    if (runs is None) != (qrels is None):
        what = "--validate and --validate-qrels go together"
        raise InputError("", what, "give both --validate RUN and --validate-qrels FILE", usage=True)
    if runs is None and topics is None:
        return None
    options = collection.options
    if runs is None:
        return replace(collection, options=replace(options, topics_from=topics))
    return read_collection(named_runs(runs), qrels, replace(options, topics_from=topics), collection.workers)


def fit_ranges(
    collection: Collection,
    ranges: Sequence[MeasureRange],
    target: Measure,
    kinds: Sequence[Kind],
    precision: float,
    there: Collection | None = None,
) -> FitResult:
    """As `fit`, from parsed arguments and collections that are read."""
    for kind in kinds:
        check_choice(kind, KINDS, "--by")
    here = Target.of(collection, target)
    if len(collection.runs) < 2 and not set(kinds) <= set(BY_TOPIC):
        hint = "add a run, or use --by spearman"
        raise InputError("--by", "rank correlation needs at least two runs", hint, usage=True)
    second = None if there is None else Target.of(there, target)
    values_of = here.search(ranges, kinds, precision)
    elsewhere = second and second.search(ranges, kinds, precision)
    rows, curve, notes = [], [], [*here.matrix.notes, *_overlap_notes(here, second)]
    for index, range_ in enumerate(ranges):
        for which, kind in enumerate(kinds):
            values, values_there = values_of[index][which], elsewhere[index][which] if elsewhere else None
            value, agreement, low, high, note = best_of(range_, values)
            pairs = int(here.included.sum()) if kind in BY_TOPIC else len(here.included)
            head = {"measure": range_.text, "parameter": range_.parameter, "by": kind}
            row = {
                **head,
                "step": range_.resolution(precision),
                "value": value,
                "agreement": agreement,
                "low": low,
                "high": high,
                "pairs": pairs,
            }
            if second is not None and values_there is not None:
                row |= _validation(range_, kind, best(values), values_there, second)
            rows.append({**row, "step": range_.resolution(precision)})
            notes += [f"{range_.text} by {kind}: {note}"] if note else []
            curve += _curve(head, values, values_there)
    signature = here.matrix.signature + (f"\nvalidated on {second.matrix.signature}" if second else "")
    count = f"{int(here.included.sum())} of {here.included.size} (run, topic) pairs"
    settings = f"agreement with {here.matrix.measures[0]}, {count} | {resolution(ranges, precision)}"
    return FitResult(to_frame(rows), to_frame(curve), settings, signature, notes)


def _validation(range_: MeasureRange, kind: Kind, value: float, values: Values, there: Target) -> dict[str, float]:
    """The agreement of the best value elsewhere, and the best value there."""
    same = values[value] if value in values else there.agreements([range_.at(value)], [kind])[0][0]
    found = best_of(range_, values)
    return {"agreement_there": same, "value_there": found.value, "best_there": found.good}


def _overlap_notes(here: Target, there: Target | None) -> list[str]:
    """A note if the same runs are validated on topics that were also used for fitting."""
    if there is None or there.collection.runs is not here.collection.runs:
        return []
    fitted, validated = (
        {topic for topic, of_runs in zip(target.matrix.topics, target.included.T, strict=True) if of_runs.any()}
        for target in (here, there)
    )
    both = len(fitted & validated)
    of = f"{both} of {len(validated)} {plural(len(validated), 'topic')}"
    what = f"--validate-topics: {of} {'was' if both == 1 else 'were'} also used for fitting"
    return [f"{what}; use --topics-from FILE to fit on others"] if both else []


def _curve(head: dict[str, Any], values: Values, there: Values | None) -> list[dict[str, Any]]:
    rows = []
    for value in sorted(values.keys() | (there or {}).keys()):
        row = {**head, "value": value, "agreement": values.get(value, np.nan)}
        rows.append(row if there is None else {**row, "agreement_there": there.get(value, np.nan)})
    return rows


def fit_document(result: FitResult, layout: Layout) -> Document:
    """The result of `fit` or `fit_weights`: of these columns, those that its frame has."""
    shown: dict[str, Shown] = {
        "measure": same(Column("measure")),
        "by": same(Column("by")),
        "parameter": same(Column("parameter")),
        "value": {Column("best", "number"): itemgetter("value")},
        "agreement": same(Column("agreement", "score")),
        "divergence": {Column("KL (nats)", "score"): itemgetter("divergence")},
        "low": {Column("within 0.001", "figures"): near_best},
        "step": {Column("step", "number"): itemgetter("step")},
        "covered": same(Column("covered", "score")),
        "pairs": same(Column("pairs", "count")),
        "agreement_there": {Column("there", "score"): itemgetter("agreement_there")},
        "best_there": {Column("best there", "figures"): _best_there},
    }
    columns = {column: value for name, part in shown.items() if name in result.frame for column, value in part.items()}
    return frame_document(result.frame, layout, columns, signature_lines(result.settings, result.signature))


def _best_there(row: Row) -> str | None:
    return None if row["best_there"] is None else f"{row['best_there']:.4f} at {row['value_there']:.6g}"
