"""`fit`: the parameter with which one measure agrees best with another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.correlation import BY_TOPIC, KINDS, Kind, between
from gradedeval.analysis.parameter_search import NEARLY, Family, Values, band, best, read_families, search
from gradedeval.analysis.score_matrix import Matrix, matrix_of
from gradedeval.analysis.significance import check_choice
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import InputError, plural
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
    """Runs by name, their judgements, and the rules by which measures are scored on them."""

    runs: dict[str, Any]
    qrels: Qrels
    options: Options
    workers: Workers = field(default_factory=Workers)

    def scores(self, measures: Sequence[Measure], residuals: bool = False) -> Matrix:
        """The scores by some measures; what is too uncertain is left out only where residuals are asked for."""
        options = self.options if residuals else replace(self.options, residuals=None, max_residual=None)
        return matrix_of(evaluate_runs(self.runs, self.qrels, measures, options, workers=self.workers))


def collected(runs: dict[str, Any], qrels: Any, options: Options, workers: Workers | None = None) -> Collection:
    """Runs by name with their qrels read. Raises InputError where they cannot be read."""
    judged = qrels if isinstance(qrels, Qrels) else qrels_for(runs, qrels, options)
    return Collection(runs, judged, options, workers or Workers())


@dataclass(frozen=True, eq=False)
class Truth:
    """The scores that others are to agree with, runs × topics, and which of the pairs count."""

    collection: Collection
    target: str
    topics: list[str]
    score: Floats
    included: Bools
    notes: list[str]
    signature: str

    @classmethod
    def of(cls, collection: Collection, target: Measure) -> Truth:
        """The target's scores. Raises InputError where no pair is certain enough."""
        matrix = collection.scores([target], residuals=True)
        kept = matrix.included[:, :, 0]
        if not kept.any():
            raise InputError("--max-residual", f"leaves no (run, topic) pair by {matrix.measures[0]}", "raise it")
        return cls(
            collection, matrix.measures[0], matrix.topics, matrix.score[:, :, 0], kept, matrix.notes, matrix.signature
        )

    def agreements(self, measures: Sequence[Measure], kinds: Sequence[Kind]) -> list[list[float]]:
        """For each measure the agreement of each kind."""
        matrix = self.collection.scores(measures)
        found = {
            name: [between(kind, self.score, matrix.score[:, :, at], self.included)[0] for kind in kinds]
            for at, name in enumerate(matrix.measures)
        }
        # By what they are under the rules, as the scores are: two ways to write a measure may come to the same.
        return [found[str(with_defaults(measure, self.collection.options))] for measure in measures]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found.

    frame      a row for each measure and kind of agreement: measure, parameter, by, value (the best), agreement, low,
               high (the band around it that is within 0.001), pairs; after a validation too: agreement_there (of the
               same value), value_there (the best there), best_there (its agreement)
    curve      measure, parameter, by, value, agreement[, agreement_there]: every value tried
    settings   how it was found
    signature  what the scores depend on
    notes      what was said on the way, and which values lie at the end of their range
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
) -> Fitted:
    """The parameter of each measure with which it agrees best with the measure `to`.

    runs          as for `gradedeval.evaluate`, several
    qrels         as for `gradedeval.evaluate`
    measures      with a range, as in "nerr10(phi=0.05..0.95)", "nerr9@1..40" or "rbp(p=0.1..0.9..0.1)" with its step
    to            the measure to agree with; with `max_residual`, the (run, topic) pairs that it is too uncertain of are
                  left out
    by            kinds of agreement; see `gradedeval.correlate`
    precision     of the value found: after the whole grid, ever finer ones around the best
    other_runs, other_qrels, other_topics
                  where the values found are validated: another collection, or other topics of the same (ids or a file)
    options       as for `gradedeval.evaluate`

    Raises InputError as `evaluate` does, and (usage) where a range or a kind is none. Azzopardi et al., ICTIR 2021,
    section 4.
    """
    options = resolve_options(like, **keywords)
    collection = collected(named_runs(runs), qrels, options)
    topics = None if other_topics is None else resolve_options(topics_from=other_topics).topics_from
    there = other(collection, other_runs, other_qrels, topics)
    (target,) = parse_measures(to)
    kinds = [by] if isinstance(by, str) else list(by)
    texts = [measures] if isinstance(measures, str) else list(measures)
    return fitted(collection, read_families(texts), target, kinds, precision, there)


def other(collection: Collection, runs: Any, qrels: Any, topics: frozenset[bytes] | None) -> Collection | None:
    """Where a fit is validated; None where nothing else is named. Raises InputError (usage) for runs without qrels."""
    if (runs is None) != (qrels is None):
        what = "runs of another collection need its qrels, and the other way round"
        raise InputError("--validate-qrels", what, "give both --validate RUN and --validate-qrels FILE", usage=True)
    if runs is None and topics is None:
        return None
    options = collection.options
    if runs is None:
        return replace(collection, options=replace(options, topics_from=topics))
    return collected(named_runs(runs), qrels, replace(options, topics_from=topics), collection.workers)


def fitted(
    collection: Collection,
    families: Sequence[Family],
    target: Measure,
    kinds: Sequence[Kind],
    precision: float,
    there: Collection | None = None,
) -> Fitted:
    """As `fit`, of what it reads."""
    for kind in kinds:
        check_choice(kind, KINDS, "--by")
    if not precision > 0:
        raise InputError("--precision", f"{precision:g} is too small", "as in 0.001", usage=True)
    truth = Truth.of(collection, target)
    if len(collection.runs) < 2 and not set(kinds) <= set(BY_TOPIC):
        raise InputError("--by", "one run has no ordering", "give more runs, or --by spearman", usage=True)
    found = search(families, _tried(truth, kinds), len(kinds), precision)
    second = None if there is None else Truth.of(there, target)
    elsewhere = second and search(families, _tried(second, kinds), len(kinds), precision)
    rows, curve, notes = [], [], [*truth.notes, *_fitted_too(truth, second)]
    for at, family in enumerate(families):
        for which, kind in enumerate(kinds):
            values = found[at][which]
            row, note = _row(family, kind, values, truth)
            if second is not None and elsewhere:
                row |= _validation(family, kind, best(values), elsewhere[at][which], second)
            rows.append(row)
            notes += note
            curve += _curve(family, kind, values, elsewhere[at][which] if elsewhere else None)
    import pandas as pd  # not before it is needed

    signature = truth.signature if second is None else f"{truth.signature}\nvalidated on {second.signature}"
    settings = f"agreement with {truth.target}, {int(truth.included.sum())} of {truth.included.size} (run, topic) pairs"
    return Fitted(pd.DataFrame(rows), pd.DataFrame(curve), f"{settings} | to {precision:g}", signature, notes)


def _tried(
    truth: Truth, kinds: Sequence[Kind]
) -> Callable[[list[tuple[Family, list[float]]]], list[list[list[float]]]]:
    def tried(grids: list[tuple[Family, list[float]]]) -> list[list[list[float]]]:
        agreements = iter(truth.agreements([family.at(value) for family, grid in grids for value in grid], kinds))
        return [[next(agreements) for _ in grid] for _, grid in grids]

    return tried


def _row(family: Family, kind: Kind, values: Values, truth: Truth) -> tuple[dict[str, Any], list[str]]:
    value = best(values)
    low, high = band(values, NEARLY)
    counted = int(truth.included.sum()) if kind in BY_TOPIC else len(truth.score)
    notes, shown = [], value
    if np.isnan(values[value]):
        shown, low, high = np.nan, np.nan, np.nan
        notes.append(f"{family.text} by {kind}: no agreement, the scores are all the same")
    elif family.end(value):
        notes.append(f"{family.text} by {kind}: {family.end(value)}")
    row = {"measure": family.text, "parameter": family.parameter, "by": kind, "value": shown}
    return {**row, "agreement": values[value], "low": low, "high": high, "pairs": counted}, notes


def _validation(family: Family, kind: Kind, value: float, values: Values, truth: Truth) -> dict[str, float]:
    """How a value found does elsewhere, and what would be best there."""
    known = values.get(value)
    same = known if known is not None else truth.agreements([family.at(value)], [kind])[0][0]
    there = best(values)
    there_shown = np.nan if np.isnan(values[there]) else there
    return {"agreement_there": same, "value_there": there_shown, "best_there": values[there]}


def _fitted_too(truth: Truth, there: Truth | None) -> list[str]:
    """A note where the same runs are validated on topics that they were fitted on."""
    if there is None or there.collection.runs is not truth.collection.runs:
        return []
    own, theirs = (
        {topic for topic, counts in zip(one.topics, one.included.T.tolist(), strict=True) if any(counts)}
        for one in (truth, there)
    )
    both = len(own & theirs)
    of = f"{both} of {len(theirs)} {plural(len(theirs), 'topic')}"
    what = f"--validate-topics: {of} {'was' if both == 1 else 'were'} fitted too"
    return [f"{what}; --topics-from FILE fits on others"] if both else []


def _curve(family: Family, kind: Kind, values: Values, there: Values | None) -> list[dict[str, Any]]:
    rows = []
    for value in sorted(values.keys() | (there or {}).keys()):
        row = {"measure": family.text, "parameter": family.parameter, "by": kind, "value": value}
        row["agreement"] = values.get(value, np.nan)
        rows.append(row if there is None else {**row, "agreement_there": there.get(value, np.nan)})
    return rows
