"""What to judge next: the unjudged documents of runs, by how much their judgments would tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from gradedeval.analysis.pool.weigh_by_measure import choose_by_measure
from gradedeval.analysis.pool.weigh_by_rank import choose_by_residual, depth_weights, rbp_weights
from gradedeval.analysis.ranked_runs import NOWHERE, RankedRuns, check_maskable, rank_runs
from gradedeval.analysis.tables import shown
from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Document, Layout, Table
from gradedeval.formats.frames import frame_rows, frame_table, to_frame
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OPTIONS, OptionKwargs, Options, numbers
from gradedeval.options.presets import resolve_options, top_grade
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer

if TYPE_CHECKING:
    import pandas as pd

    pass

Strategy = Literal["depth", "rbp-a", "rbp-b", "rbp-c", "residual", "pairs"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BY_MEASURE: tuple[Strategy, ...] = ("residual", "pairs")
BUDGET, PERSISTENCE, MEASURE = 100, 0.8, "ndcg@10"
DEFAULT: Strategy = "rbp-c"
"""What brings the order of runs nearest to the true one in nine of ten draws of topics: tests/benchmarks/judging.py."""


@dataclass(frozen=True)
class JudgingSettings:
    """How documents are chosen: see `to_judge`. Raises InputError (usage) where a value is not allowed."""

    strategy: Strategy = DEFAULT
    budget: int = BUDGET
    p: float = PERSISTENCE
    pool_depth: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.strategy, STRATEGIES, "--strategy")
        numbers.BUDGET.check_field(self, "budget")
        numbers.PERSISTENCE.check_field(self, "p")
        numbers.POOL_DEPTH.check_field(self, "pool_depth")

    def words(self, measure: Measure) -> str:
        """The strategy in a line."""
        given = "if it and those above it have the top gain; greedy"
        return {
            "depth": "depth: by the best rank in any run, then by how many runs have it there",
            "rbp-a": f"rbp-a: summed RBP weight in all runs, p {self.p:g}",
            "rbp-b": f"rbp-b: as rbp-a, each run weighed by its residual; greedy, p {self.p:g}",
            "rbp-c": f"rbp-c: as rbp-b, and by its projected score cubed; greedy, p {self.p:g}",
            "residual": f"residual: summed rise of {measure.label} in all runs, {given}",
            "pairs": f"pairs: summed change of the difference in {measure.label} of runs that judging could reverse, "
            f"{given}",
        }[self.strategy]


@dataclass(frozen=True, eq=False)
class ToJudge(InNotebook, document="analysis.pool.to_judge.to_judge_document"):
    """What to judge, the most telling first.

    frame   topic, docno, weight, runs (how many have it), best_rank, wanted_by (runs and ranks, as text)
    wanted  of each document: the parts of `wanted_by`, the best rank first
    left    how many other unjudged documents there are
    """

    frame: pd.DataFrame
    wanted: list[list[str]]
    left: int
    settings: JudgingSettings
    measure: Measure
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<ToJudge {len(self.frame)} documents by {self.settings.strategy}>"


def to_judge(
    runs: Any,
    qrels: Any = None,
    strategy: Strategy = DEFAULT,
    *,
    budget: int = BUDGET,
    measure: str | Measure = MEASURE,
    p: float = PERSISTENCE,
    pool_depth: int | None = None,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> ToJudge:
    """The unjudged documents of runs that are to be judged next.

    strategy    `depth`: by the best rank in any run. `rbp-a`, `rbp-b`, `rbp-c`: the methods A to C of Moffat, Webber &
                Zobel, SIGIR 2007: the weight of the document in rank-biased precision, summed over runs; each run
                weighed by its residual on the topic; and by the cube of its projected score, base + residual/2, too.
                `residual`: how far it would lift the means of runs by `measure` if it had the top gain, as have those
                chosen before it, summed over runs. `pairs`: how far it would change the differences of runs whose order
                judging could reverse
    budget      how many documents at most
    measure     of `residual` and `pairs`
    p           persistence of the RBP methods
    pool_depth  documents below this rank are not asked for; None: all may be

    `rbp-b` and `rbp-c` choose one after the other: a run's residual shrinks with each document chosen. So do `residual`
    and `pairs`, each document given those before it; where none adds anything more they begin anew, as if those chosen
    were not relevant, and they leave out documents that cannot change a score, so that there may be fewer than the
    budget. `depth` and `rbp-a` weigh each document by itself. The other arguments are those of `evaluate`. Returns
    `ToJudge`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does, for `judged_only`, and where `residual` or
    `pairs` go by a measure without residual.
    """
    options = resolve_options(like, **keywords)
    settings = JudgingSettings(strategy, budget, p, pool_depth)
    found = judge_next(named_runs(runs), qrels, parse_measures(measure)[0], options, settings)
    warn_caller(found.notes)
    return found


def judge_next(
    runs: Mapping[str, Any],
    qrels: Any,
    measure: Measure,
    options: Options,
    settings: JudgingSettings,
    workers: Workers | None = None,
) -> ToJudge:
    """As `to_judge`, for runs by name."""
    if options.judged_only:
        raise InputError("--judged-only", "leaves no unjudged document to ask for", "leave it out", usage=True)
    if settings.strategy in BY_MEASURE and measure.residual == "none":
        what = f"{measure.label} has no residual, by which --strategy {settings.strategy} goes"
        raise InputError("-m", what, "choose another measure or strategy", usage=True)
    if options.fill is not None and settings.strategy not in BY_MEASURE:
        what = f"does not apply to --strategy {settings.strategy}, which goes by no measure"
        raise OPTIONS["fill"].error(what, "leave it out")
    if qrels is None:
        judged = Qrels.none((0.0, top_grade(options, 1.0)))
        options = replace(options, topics="run")
    else:
        judged = qrels_for(runs, qrels, options)
    scorer = Scorer(judged, [measure], replace(options, residuals="total"))
    check_maskable(scorer, options, "--to-judge")
    ranked = rank_runs(runs, scorer.grader, workers)
    best = ranked.best_rank
    # What the qrels list is not asked for again, not even where its grade counts as unjudged.
    candidates = np.flatnonzero((ranked.code >= len(judged.labels)) & (best <= (settings.pool_depth or NOWHERE)))
    chosen, weights = choose(ranked, scorer, candidates, settings)
    notes = [*ranked.notes] if qrels is None else [*scorer.notes, *ranked.notes]
    wanted = _wanted(ranked, chosen)
    frame = _frame(ranked, chosen, weights, best, wanted)
    return ToJudge(frame, wanted, len(candidates) - len(chosen), settings, scorer.measures[0], notes)


def choose(ranked: RankedRuns, scorer: Scorer, candidates: Ints, settings: JudgingSettings) -> tuple[Ints, Floats]:
    """The documents to judge, among the candidates, and their weights; the most telling first, of equal ones the one
    with the better rank, then in the order of topics and docnos."""
    docnos, best = ranked.docnos[candidates].astype(str), ranked.best_rank[candidates]
    candidates = candidates[np.lexsort((docnos, ranked.topic[candidates], best))]
    if settings.strategy in BY_MEASURE:
        pairs = settings.strategy == "pairs"
        chosen, weights = choose_by_measure(ranked, scorer, candidates, settings.budget, pairs=pairs)
    elif settings.strategy in ("rbp-b", "rbp-c"):
        cubed = settings.strategy == "rbp-c"
        chosen, weights = choose_by_residual(ranked, scorer, candidates, settings.budget, settings.p, cubed=cubed)
    else:
        each = depth_weights(ranked) if settings.strategy == "depth" else rbp_weights(ranked, settings.p)
        weights = each[candidates]
        chosen = np.argsort(-weights, kind="stable")[: settings.budget]
        weights = weights[chosen]
    return candidates[chosen], weights


def _wanted(ranked: RankedRuns, chosen: Ints) -> list[list[str]]:
    """Of each document: which runs have it at which rank, the best first."""
    found: list[list[tuple[int, str]]] = [[] for _ in chosen]
    place = {document: number for number, document in enumerate(chosen.tolist())}
    for run in ranked.runs:
        hits = np.flatnonzero(np.isin(run.document, chosen))
        for document, rank in zip(run.document[hits].tolist(), run.rank[hits].tolist(), strict=True):
            found[place[document]].append((rank, run.name))
    return [[f"{name}:{rank}" for rank, name in sorted(one, key=itemgetter(0))] for one in found]


def _frame(ranked: RankedRuns, chosen: Ints, weights: Floats, best: Ints, wanted: list[list[str]]) -> pd.DataFrame:
    names = np.array(ranked.names, dtype=object)
    return to_frame(
        {
            "topic": names[ranked.topic[chosen]],
            "docno": ranked.docnos[chosen],
            "weight": weights,
            "runs": [len(one) for one in wanted],
            "best_rank": best[chosen],
            "wanted_by": [" ".join(one) for one in wanted],
        }
    )


def to_judge_document(found: ToJudge, layout: Layout) -> Document:
    """What to judge: a row for each document."""
    frame = found.frame
    signature = found.settings.words(found.measure)
    if layout == "long":
        return Document([frame_table(frame)], signature)
    table = shown(
        frame,
        topic=("topic", "text"),
        docno=("docno", "text"),
        weight=("weight", "number"),
        runs=("runs", "count"),
        best_rank=("best rank", "count"),
        wanted_by=("wanted by", "text"),
    )
    texts = [" ".join(one[:WANTED]) + (" …" if len(one) > WANTED else "") for one in found.wanted]
    table = Table(table.columns, [[*row[:-1], text] for row, text in zip(table.rows, texts, strict=True)])
    count = len(frame)
    line = f"{count} {plural(count, 'document')} to judge, {found.left} more unjudged"
    if found.settings.strategy in BY_MEASURE and found.left and count < found.settings.budget:
        what = "the order of two runs by " if found.settings.strategy == "pairs" else ""
        line += f", none of which could change {what}{found.measure.label}"
    return Document([line, table] if count else [line], signature)


def qrels_lines(found: ToJudge) -> str:
    """What to judge as lines of a qrels file that lack the grade."""
    return "".join(f"{row['topic']} 0 {row['docno']}\n" for row in frame_rows(found.frame))


FEW_RUNS, WANTED = 8, 3
"""Runs up to which the overlap of each pair is shown, and how many of those that want a document are named."""
