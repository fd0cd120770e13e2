"""What a report shows: scores, comparisons, topics, the first ranks and the judgments of several runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.compare import compare_matrix
from gradedeval.analysis.comparison_notes import order_notes
from gradedeval.analysis.comparison_tables import comparison_document, comparison_settings
from gradedeval.analysis.pool.statistics import AT, Pool, found_alone, pool_statistics, unjudged_by_depth
from gradedeval.analysis.prospects import measures_that_reach
from gradedeval.analysis.ranked_runs import RankedRuns, rank_runs
from gradedeval.analysis.ranked_terms import RankedTerms, terms_by_run
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.analysis.significance import TestSettings
from gradedeval.analysis.topic_table import topic_table
from gradedeval.errors import InputError, visible
from gradedeval.formats import Table
from gradedeval.formats.frames import frame_rows
from gradedeval.measures.definition import Measure
from gradedeval.options import OPTIONS, Options, numbers
from gradedeval.parallel.progress import Progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.evaluate import evaluate_runs
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.scores import Scores

if TYPE_CHECKING:
    import pandas as pd

SHOW = 20


@dataclass(frozen=True)
class ReportSettings:
    """What a report is asked for.

    test  how runs are compared with the baseline
    at    the depth down to which unjudged documents are counted on the first page
    show  the ranks of a ranking that are shown
    """

    test: TestSettings
    at: int = AT
    show: int = SHOW

    def __post_init__(self) -> None:
        numbers.AT.check_field(self, "at")
        numbers.SHOW.check_field(self, "show")


@dataclass(frozen=True, eq=False, repr=False)
class Compared:
    """Each run beside the baseline, by each measure: rows, the same as a table for people, what they are made by, and
    the measures by which some judgments lead as far as the bounds; empty where nothing is compared."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    table: Table | None = None
    settings: str = ""
    notes: list[str] = field(default_factory=list)
    reached: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """All that a page is made of.

    scores      the runs, the best by the first measure first, with residuals and intervals
    matrix      the same as arrays
    baseline    the run that the others are compared with; None where nothing is compared
    compared    what `compare` finds
    topics      what `topic_table` gives: topics × runs
    pool        what `pool` gives; `unjudged` by run and depth, `alone` the relevant documents that one run alone has
    ranked      the rankings, the runs in the same order, and `terms` what their first documents add
    notes       what was left out or assumed
    """

    scores: Scores
    settings: ReportSettings
    matrix: Matrix
    baseline: str | None
    compared: Compared
    topics: pd.DataFrame
    pool: Pool
    unjudged: pd.DataFrame
    alone: pd.DataFrame
    ranked: RankedRuns
    terms: RankedTerms
    notes: list[str]

    @property
    def measures(self) -> list[Measure]:
        return self.scores.measures

    @property
    def runs(self) -> list[str]:
        return self.matrix.runs


def find(
    runs: Mapping[str, Any],
    qrels: Any,
    measures: list[Measure],
    options: Options,
    baseline: str | None,
    settings: ReportSettings,
    workers: Workers | None = None,
) -> Findings:
    """All that a report of these runs shows; without a baseline runs are compared with the first one. Raises InputError
    as `evaluate` and `compare` do, and for options under which documents have no rank or no single gain."""
    if options.ties == "average":
        raise OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    workers = workers or Workers()
    options = replace(options, residuals=None if options.judged_only else "total", bounds=False)
    options = replace(options, interval=1 - settings.test.alpha)
    scores = evaluate_runs(runs, qrels, measures, options, workers=workers)
    scores = scores.sorted_by(scores.measures[0])
    scorer = Scorer(scores.qrels, scores.measures, replace(options, interval=None))
    if scorer.grader.types:
        what = "a report does not read the types of documents"
        raise InputError("--costs" if options.costs else "-m", what, "leave it out", usage=True)
    matrix, notes = to_matrix(scores), []
    if baseline is None and len(runs) > 1:
        baseline = next(iter(runs))
        notes.append(visible(f"the baseline is the first run, {baseline}; --baseline names another"))
    compared = _compared(matrix, baseline, settings.test, workers.progress)
    ranked = rank_runs({name: runs[name] for name in matrix.runs}, scorer.grader, workers.silent())
    return Findings(
        scores,
        settings,
        matrix,
        None if compared.table is None else baseline,
        compared,
        topic_table(matrix.select(measures=matrix.comparable_measures())),
        pool_statistics(ranked, matrix.runs, options, settings.at),
        unjudged_by_depth(ranked, settings.at),
        found_alone(ranked, options),
        ranked,
        terms_by_run(ranked, scorer, settings.show, could_add=True),
        list(dict.fromkeys([*scores.notes, *matrix.omission_notes(), *notes, *compared.notes])),
    )


def _compared(matrix: Matrix, baseline: str | None, test: TestSettings, progress: Progress) -> Compared:
    """The runs beside the baseline; nothing where there is one run alone, or a measure with a single topic."""
    if len(matrix.runs) == 1:
        return Compared()
    matrix.run_index(str(baseline))
    try:
        frame, notes = compare_matrix(matrix, baseline, test, progress)
    except InputError as error:
        if error.usage:
            raise
        return Compared(notes=[f"nothing is compared: {error.at_prompt}"])
    settings = comparison_settings(frame, matrix, test).replace("\n", " | ")
    blocks = comparison_document(frame, matrix, test, settings, "wide").blocks
    table = next(block for block in blocks if isinstance(block, Table))
    reached = measures_that_reach(frame, matrix)
    return Compared(frame_rows(frame), table, settings, [*notes, *order_notes(frame, matrix)], reached)
