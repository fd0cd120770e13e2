"""`informative`: how well a score alone determines the precision-recall curve of a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gradedeval.analysis.informative.curves import LEVELS
from gradedeval.analysis.informative.expected_scores import check_expected
from gradedeval.analysis.informative.run_curves import MEAN, RunCurves, Solver, Sparse
from gradedeval.arrays import distinct
from gradedeval.errors import InputError, plural, shorten, warn_caller
from gradedeval.formats.frames import to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OPTIONS, OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.signature import signature
from gradedeval.trec.source import Source, is_file

if TYPE_CHECKING:
    import pandas as pd

MEASURED = ("gap", "ndcg", "ap")
"""The measures unless told otherwise."""


@dataclass(frozen=True, eq=False)
class Informativeness(InNotebook, document="analysis.informative.tables.informative_document"):
    """How far the curves that scores determine are from those of the rankings.

    lists      a row for each measure, run, topic and curve: measure (a row `counts alone` knows no score), run, topic,
               curve (`rel=1`, `rel=2`, …: binary precision over recall from that grade on; `mean`: the mean of these;
               `graded`), rms (the root of the mean square difference of precision over the relevant documents of the
               list; blank where the solver did not converge), converged, score, entropy (in nats), ranks
    curves     a row for each measure, curve and level of recall, a share of the relevance in the list: measure, curve,
               recall, actual and inferred (precision, means over the lists that converged), lists (how many)
    signature  what the numbers depend on
    notes      what was skipped or assumed
    """

    lists: pd.DataFrame
    curves: pd.DataFrame
    signature: str
    notes: list[str] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each measure and curve: measure, curve, rms (the mean over lists), lists, converged (how many)."""
        groups = self.lists.groupby(["measure", "curve"], sort=False)
        means = groups.agg(rms=("rms", "mean"), lists=("rms", "size"), converged=("converged", "sum"))
        return means.reset_index()


def informativeness(
    runs: Any,
    qrels: Any,
    measures: AnyMeasure | Iterable[AnyMeasure] = MEASURED,
    *,
    min_ranks: int = Sparse.ranks,
    min_found: int = Sparse.found,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Informativeness:
    """How well a score alone determines the precision-recall curve: the maximum entropy method.

    runs       what `evaluate` takes: one run, a list of runs, or a dict of them by name
    qrels      what `evaluate` takes
    measures   notation, as in "gap(g=1:1) ndcg(gain=exp) ap": those whose expectation is known, which are gap, ap, sp,
               ndcg, dcg, err, nerr, cascade, rr, recall, grecall, rprec and measures with fixed weights
    min_ranks  leave out lists with fewer ranks
    min_found  leave out lists with fewer documents of any grade above 0
    keywords   options, as in `evaluate`; depth=100 cuts the lists

    Of all chances of grades at the ranks of a list under which the expected number of documents of each grade is that
    in the list, and the expected score that of the list, those with the greatest entropy are found. Precision over
    recall as they give it is compared with that of the list: the nearer, the more the score says. Documents that are
    not judged, or have a grade below 0, are not relevant. Robertson et al., SIGIR 2010, section 4.1; Aslam, Yilmaz &
    Pavlu, SIGIR 2005.

    Returns `Informativeness`: `.frame`, `.lists`, `.curves`, `.signature`. Raises `gradedeval.InputError` as
    `evaluate` does, where no list is left, and (usage) for a measure whose expectation is not known.
    """
    options = resolve_options(like, **keywords)
    found = informativeness_of(
        named_runs(runs, qrels), qrels, parse_measures(measures), options, Sparse(min_ranks, min_found)
    )
    warn_caller(found.notes)
    return found


def informativeness_of(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: Sequence[Measure],
    options: Options,
    sparse: Sparse,
    workers: Workers | None = None,
) -> Informativeness:
    """As `informativeness`, for runs by name, and measures and options that are settled."""
    _check(measures, options)
    workers = workers or Workers()
    judged = qrels_for(runs, qrels, options)
    scorer = Scorer(judged, measures, options, workers.limits)
    grades = distinct(np.append(np.maximum(scorer.grades.labels, 0), 0))[0]
    if not grades.any():
        raise InputError(judged.place, "no grade above 0, so there is no precision and recall")
    solver = Solver(scorer, grades, sparse)
    for measure, table in zip(scorer.measures, scorer.tables, strict=True):
        solver.worth(table, measure)
    if any(is_file(source) and Source(source).is_read_once for source in runs.values()):
        workers = workers.serial()
    shared = workers.silent().imap(solver.of_run, list(runs.items()))
    solved = list(workers.progress(shared, len(runs)))
    if not any(len(run.topics) for run in solved):
        what = f"no list has {sparse}"
        raise InputError("", what, "lower --min-ranks or --min-found, or raise --depth")
    counts = [run.scored for run in solved]
    under = signature(judged, options, scorer.measures, counts, [run.format for run in solved])
    settings = f"lists with {sparse}, or more"
    notes = [*scorer.notes, *(note for run in solved for note in run.notes)]
    notes += _notes(solver, solved)
    return Informativeness(_frame(solver, solved), _curve_frame(solver, solved), f"{under} | {settings}", notes)


def _check(measures: Sequence[Measure], options: Options) -> None:
    """Raise InputError (usage) for measures and options under which scores have no known expectation."""
    if not measures:
        raise InputError("", "no measure given", "for example 'gap ndcg ap'", usage=True)
    if options.ties == "average":
        raise OPTIONS["ties"].error("precision at a document needs one order", "choose an order")
    if options.costs is not None:
        raise OPTIONS["costs"].error("here every document costs 1", "leave it out")
    if options.fill is not None:
        raise OPTIONS["fill"].error("here what is not judged is not relevant", "leave it out")
    for measure in measures:
        check_expected(measure)


def _frame(solver: Solver, solved: Sequence[RunCurves]) -> pd.DataFrame:
    """A row for each measure, run, topic and curve."""
    rows = [
        (measure, run.name, topic, curve, rms[row, column], bool(own[row, 2]), own[row, 0], own[row, 1], ranks)
        for row, measure in enumerate(solver.measures)
        for run in solved
        for topic, ranks, own, rms in zip(run.topics, run.ranks, run.numbers, run.rms, strict=True)
        for column, curve in enumerate(solver.curves)
    ]
    columns = ["measure", "run", "topic", "curve", "rms", "converged", "score", "entropy", "ranks"]
    return to_frame(rows, columns=columns)


def _curve_frame(solver: Solver, solved: Sequence[RunCurves]) -> pd.DataFrame:
    """A row for each measure, curve and level of recall; the mean of curves has none."""
    converged = np.sum([own[:, 2] for run in solved for own in run.numbers], axis=0)
    means = sum(run.precision for run in solved) / np.maximum(converged, 1)[:, None, None, None]
    rows = [
        (measure, curve, level, *means[row, column, :, at], int(converged[row]))
        for row, measure in enumerate(solver.measures)
        for column, curve in enumerate(solver.curves)
        if curve != MEAN
        for at, level in enumerate(LEVELS.tolist())
    ]
    return to_frame(rows, columns=["measure", "curve", "recall", "actual", "inferred", "lists"])


def _notes(solver: Solver, solved: Sequence[RunCurves]) -> list[str]:
    """What is said of lists left out, and of those that the solver gave up."""
    count, every = sum(len(run.topics) for run in solved), sum(run.scored[0] for run in solved)
    notes = []
    if count < every:
        notes.append(f"{every - count} of {every} {plural(every, 'list')} left out: without {solver.sparse}")
    for row, measure in enumerate(solver.measures):
        failed = [
            f"{run.name} {topic}"
            for run in solved
            for topic, own in zip(run.topics, run.numbers, strict=True)
            if not own[row, 2]
        ]
        if failed:
            what = f"the solver did not converge on {len(failed)} of {count} {plural(count, 'list')}"
            notes.append(f"{measure}: {what} ({shorten(failed)}), which the means leave out")
    return notes
