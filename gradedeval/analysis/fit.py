"""`fit`: the parameter with which one measure agrees best with another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind, scores_agreement
from gradedeval.analysis.parameter_search import (
    NEARLY,
    MeasureRange,
    Values,
    best,
    near_best_range,
    read_ranges,
    search,
)
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, check_choice, plural
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import evaluate_runs, qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import with_defaults

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
    """The scores that a measure is fitted to, runs × topics, and which of the pairs count."""

    collection: Collection
    target: str
    topics: list[str]
    score: Floats
    included: Bools
    notes: list[str]
    signature: str

    @classmethod
    def of(cls, collection: Collection, target: Measure) -> Target:
        """The scores by the target. Raises InputError if `max_residual` leaves no pair."""
        matrix = collection.scores([target], residuals=True)
        included = matrix.included[:, :, 0]
        if not included.any():
            raise InputError("--max-residual", f"no (run, topic) pair is left by {matrix.measures[0]}", "raise it")
        return cls(
            collection,
            matrix.measures[0],
            matrix.topics,
            matrix.score[:, :, 0],
            included,
            matrix.notes,
            matrix.signature,
        )

    def agreements(self, measures: Sequence[Measure], kinds: Sequence[Kind]) -> list[list[float]]:
        """For each measure its agreement of each kind."""
        matrix = self.collection.scores(measures)
        by_name = {
            name: [scores_agreement(kind, self.score, matrix.score[:, :, column], self.included)[0] for kind in kinds]
            for column, name in enumerate(matrix.measures)
        }
        # By the notation as applied, as in the scores: two notations may mean the same measure.
        return [by_name[str(with_defaults(measure, self.collection.options))] for measure in measures]


@dataclass(frozen=True, eq=False)
class FitResult:
    """The result of a fit.

    frame      a row for each measure and kind of agreement: measure, parameter, by, value (the best), agreement, low,
               high (the range around it with an agreement within 0.001), pairs; after a validation too: agreement_there
               (of the same value), value_there (the best there), best_there (its agreement)
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
    to: str | Measure,
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
    precision     of the value: after the grid over the whole range come finer ones around the best
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
    texts = [measures] if isinstance(measures, str) else list(measures)
    return fit_ranges(collection, read_ranges(texts), target, kinds, precision, there)


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
    if not precision > 0:
        raise InputError("--precision", f"{precision:g} is not above 0", "for example 0.001", usage=True)
    target_scores = Target.of(collection, target)
    if len(collection.runs) < 2 and not set(kinds) <= set(BY_TOPIC):
        hint = "add a run, or use --by spearman"
        raise InputError("--by", "rank correlation needs at least two runs", hint, usage=True)
    values_of = search(ranges, _scorer(target_scores, kinds), len(kinds), precision)
    second = None if there is None else Target.of(there, target)
    elsewhere = second and search(ranges, _scorer(second, kinds), len(kinds), precision)
    rows, curve, notes = [], [], [*target_scores.notes, *_overlap_notes(target_scores, second)]
    for index, range_ in enumerate(ranges):
        for which, kind in enumerate(kinds):
            values = values_of[index][which]
            row, note = _row(range_, kind, values, target_scores)
            if second is not None and elsewhere:
                row |= _validation(range_, kind, best(values), elsewhere[index][which], second)
            rows.append(row)
            notes += note
            curve += _curve(range_, kind, values, elsewhere[index][which] if elsewhere else None)
    import pandas as pd  # not before it is needed

    signature = (
        target_scores.signature if second is None else f"{target_scores.signature}\nvalidated on {second.signature}"
    )
    included = target_scores.included
    settings = f"agreement with {target_scores.target}, {int(included.sum())} of {included.size} (run, topic) pairs"
    return FitResult(pd.DataFrame(rows), pd.DataFrame(curve), f"{settings} | to {precision:g}", signature, notes)


def _scorer(
    target_scores: Target, kinds: Sequence[Kind]
) -> Callable[[list[tuple[MeasureRange, list[float]]]], list[list[list[float]]]]:
    def agreements_of(grids: list[tuple[MeasureRange, list[float]]]) -> list[list[list[float]]]:
        agreements = iter(
            target_scores.agreements([range_.at(value) for range_, grid in grids for value in grid], kinds)
        )
        return [[next(agreements) for _ in grid] for _, grid in grids]

    return agreements_of


def _row(range_: MeasureRange, kind: Kind, values: Values, target_scores: Target) -> tuple[dict[str, Any], list[str]]:
    value = best(values)
    low, high = near_best_range(values, NEARLY)
    pairs = int(target_scores.included.sum()) if kind in BY_TOPIC else len(target_scores.score)
    notes, shown = [], value
    if np.isnan(values[value]):
        shown, low, high = np.nan, np.nan, np.nan
        notes.append(f"{range_.text} by {kind}: no agreement is defined: the scores are all the same")
    elif range_.end(value):
        notes.append(f"{range_.text} by {kind}: {range_.end(value)}")
    row = {"measure": range_.text, "parameter": range_.parameter, "by": kind, "value": shown}
    return {**row, "agreement": values[value], "low": low, "high": high, "pairs": pairs}, notes


def _validation(
    range_: MeasureRange, kind: Kind, value: float, values: Values, target_scores: Target
) -> dict[str, float]:
    """The agreement of the best value elsewhere, and the best value there."""
    known = values.get(value)
    same = known if known is not None else target_scores.agreements([range_.at(value)], [kind])[0][0]
    there = best(values)
    there_shown = np.nan if np.isnan(values[there]) else there
    return {"agreement_there": same, "value_there": there_shown, "best_there": values[there]}


def _overlap_notes(target_scores: Target, there: Target | None) -> list[str]:
    """A note if the same runs are validated on topics that were also used for fitting."""
    if there is None or there.collection.runs is not target_scores.collection.runs:
        return []
    here, elsewhere = (
        {topic for topic, of_runs in zip(target.topics, target.included.T.tolist(), strict=True) if any(of_runs)}
        for target in (target_scores, there)
    )
    both = len(here & elsewhere)
    of = f"{both} of {len(elsewhere)} {plural(len(elsewhere), 'topic')}"
    what = f"--validate-topics: {of} {'was' if both == 1 else 'were'} also used for fitting"
    return [f"{what}; use --topics-from FILE to fit on others"] if both else []


def _curve(range_: MeasureRange, kind: Kind, values: Values, there: Values | None) -> list[dict[str, Any]]:
    rows = []
    for value in sorted(values.keys() | (there or {}).keys()):
        row = {"measure": range_.text, "parameter": range_.parameter, "by": kind, "value": value}
        row["agreement"] = values.get(value, np.nan)
        rows.append(row if there is None else {**row, "agreement_there": there.get(value, np.nan)})
    return rows
