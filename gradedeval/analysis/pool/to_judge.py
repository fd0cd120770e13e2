"""What to judge next: the unjudged documents of runs, by how much their judgments would tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from gradedeval.analysis.pool.order import check_maskable
from gradedeval.analysis.pool.statistics import check_depth
from gradedeval.analysis.ranked_runs import NOWHERE, RankedRuns, rank_runs
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError, check_choice, warn_caller
from gradedeval.formats.notebook import InNotebook
from gradedeval.measures.applied import scores_of
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import OptionKwargs, Options
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.qrels import Qrels
from gradedeval.scoring.evaluate import qrels_for
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.scorer import Scorer

if TYPE_CHECKING:
    import pandas as pd

Strategy = Literal["depth", "rbp-a", "rbp-b", "rbp-c", "residual", "pairs"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BUDGET, PERSISTENCE, MEASURE = 100, 0.8, "ndcg@10"
DEFAULT: Strategy = "rbp-c"
"""What brings the order of runs nearest to the true one: tests/benchmarks/judging.py."""


@dataclass(frozen=True)
class JudgingSettings:
    """How documents are chosen: see `to_judge`. Raises InputError (usage) where a value is not allowed."""

    strategy: Strategy = DEFAULT
    budget: int = BUDGET
    p: float = PERSISTENCE
    pool_depth: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.strategy, STRATEGIES, "--strategy")
        if self.budget < 1:
            raise InputError("--budget", f"{self.budget} is no number of judgments", "give 1 or more", usage=True)
        if not 0 < self.p < 1:
            hint = "give a number between 0 and 1, such as 0.8"
            raise InputError("--persistence", f"{self.p:g} is no probability of going on", hint, usage=True)
        check_depth("--pool-depth", self.pool_depth)

    def words(self, measure: Measure) -> str:
        """The strategy in a line."""
        return {
            "depth": "depth: by the best rank in any run, then by how many runs have it there",
            "rbp-a": f"rbp-a: summed RBP weight in all runs, p {self.p:g}",
            "rbp-b": f"rbp-b: as rbp-a, each run weighed by its residual; greedy, p {self.p:g}",
            "rbp-c": f"rbp-c: as rbp-b, and by its projected score cubed; greedy, p {self.p:g}",
            "residual": f"residual: summed rise of {measure.label} in all runs, if the document had the top gain",
            "pairs": f"pairs: summed change of the difference in {measure.label} of unsettled pairs of runs",
        }[self.strategy]


@dataclass(frozen=True, eq=False)
class ToJudge(InNotebook, document="analysis.pool.tables.to_judge_document"):
    """What to judge, the most telling first.

    frame  topic, docno, weight, runs (how many have it), best_rank, wanted_by (runs and ranks, as text)
    left   how many other unjudged documents there are
    """

    frame: pd.DataFrame
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
                `residual`: how far it would lift the scores by `measure` if it had the top gain, summed over runs.
                `pairs`: how far it would change the differences of runs whose order judging could still turn around
    budget      how many documents at most
    measure     of `residual` and `pairs`
    p           persistence of the RBP methods
    pool_depth  documents below this rank are not asked for; None: all may be

    `rbp-b` and `rbp-c` choose one after the other: a run's residual shrinks with each document chosen. The others weigh
    each document by itself. The other arguments are those of `evaluate`. Returns `ToJudge`: `.frame`. Raises
    `gradedeval.InputError` as `evaluate` does.
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
    judged = Qrels.none() if qrels is None else qrels_for(runs, qrels, options)
    if qrels is None:
        top = 1.0 if options.top_grade is None else options.top_grade
        judged.labels = np.array([0.0, top])
        judged.pool = np.zeros((0, 2), dtype=np.int64)
        options = replace(options, topics="run")
    scorer = Scorer(judged, [measure], replace(options, residuals=None if options.judged_only else "total"))
    check_maskable(scorer, options, "--to-judge")
    ranked = rank_runs(runs, scorer.grader, workers)
    best = best_ranks(ranked)
    # What the qrels list is not asked for again, not even where its grade counts as unjudged.
    candidates = np.flatnonzero((ranked.code >= len(judged.labels)) & (best <= (settings.pool_depth or NOWHERE)))
    chosen, weights = choose(ranked, scorer, candidates, settings)
    notes = [*ranked.notes] if qrels is None else [*scorer.notes, *ranked.notes]
    return ToJudge(
        _frame(ranked, chosen, weights, best), len(candidates) - len(chosen), settings, scorer.measures[0], notes
    )


def best_ranks(ranked: RankedRuns) -> Ints:
    """documents: the best rank in any run."""
    best = np.full(len(ranked), NOWHERE, dtype=np.int64)
    for run in ranked.runs:
        np.minimum.at(best, run.document, run.rank)
    return best


def choose(ranked: RankedRuns, scorer: Scorer, candidates: Ints, settings: JudgingSettings) -> tuple[Ints, Floats]:
    """The documents to judge, among the candidates, and their weights; the most telling first, of equal ones the one
    with the better rank, then in the order of topics and docnos."""
    weigh: Callable[[], Floats] = {
        "depth": lambda: _by_depth(ranked),
        "rbp-a": lambda: _summed_weights(ranked, settings.p),
        "residual": lambda: _rises(ranked, scorer).sum(0),
        "pairs": lambda: _of_pairs(ranked, scorer),
    }.get(settings.strategy, lambda: np.zeros(0))
    if settings.strategy in ("rbp-b", "rbp-c"):
        return _greedy(ranked, scorer, candidates, settings)
    weights = weigh()[candidates]
    docnos, best = ranked.docnos[candidates], best_ranks(ranked)[candidates]
    order = np.lexsort((docnos.astype(str), ranked.topic[candidates], best, -weights))[: settings.budget]
    return candidates[order], weights[order]


def _by_depth(ranked: RankedRuns) -> Floats:
    """documents: −(best rank), and a fraction for the share of runs that have it there."""
    best, there = best_ranks(ranked), np.zeros(len(ranked))
    for run in ranked.runs:
        there[run.document] += run.rank == best[run.document]
    weights: Floats = there / (len(ranked.runs) + 1) - best
    return weights


def _summed_weights(ranked: RankedRuns, p: float) -> Floats:
    """documents: (1 − p) p^(rank − 1), summed over runs."""
    weights = np.zeros(len(ranked))
    for run in ranked.runs:
        weights[run.document] += (1 - p) * p ** (run.rank - 1)
    return weights


def _rises(ranked: RankedRuns, scorer: Scorer) -> Floats:
    """runs × documents: how far the mean score of a run would rise if an unjudged document alone had the top gain."""
    measure, table = scorer.measures[0], scorer.tables[0]
    row = {topic: number for number, topic in enumerate(ranked.topics)}
    rises = np.zeros((len(ranked.runs), len(ranked)), dtype=np.float32)
    for number, run in enumerate(ranked.runs):
        for batch in ranked.batches(run, scorer.grader):
            gains_of = scorer.gains_cache(batch)
            gains, best = gains_of(table, measure), gains_of(table, measure, unjudged=table.top)
            topics = np.array([row[topic] for topic in batch.topics])
            score = scores_of(measure, gains)
            for rank in range(gains.gain.shape[1]):
                open_ = np.flatnonzero((rank < gains.retrieved) & ~gains.judged[:, rank])
                if not len(open_):
                    continue
                gain = gains.gain.copy()
                gain[open_, rank] = best.gain[open_, rank]
                lifted = scores_of(measure, replace(gains, gain=gain))
                documents = run.document[run.begin[topics[open_]] + rank]
                rises[number, documents] = np.maximum(lifted - score, 0)[open_]
    return rises / max(len(ranked.topics), 1)


def _of_pairs(ranked: RankedRuns, scorer: Scorer) -> Floats:
    """documents: the change of the differences of all pairs of runs whose order of means could be turned around."""
    rises, values = _rises(ranked, scorer), ranked.scores(scorer)
    means, residuals = (np.nanmean(values[part, :, :, 0], axis=1) for part in (0, 2))
    weights = np.zeros(len(ranked))
    for one in range(len(means)):
        for other in range(one):
            lower = one if means[one] < means[other] else other
            if np.isnan(residuals[lower]) or abs(means[one] - means[other]) <= residuals[lower]:
                weights += np.abs(rises[one] - rises[other])
    return weights


def _greedy(ranked: RankedRuns, scorer: Scorer, candidates: Ints, settings: JudgingSettings) -> tuple[Ints, Floats]:
    """Methods B and C: the heaviest document, after which the residuals of the runs that have it are smaller."""
    p, topics = settings.p, len(ranked.topics)
    worth = np.append(scorer.tables[0].worth, [0.0, 0.0])
    top = scorer.tables[0].top or 1.0
    entries = [np.flatnonzero(np.isin(run.document, candidates)) for run in ranked.runs]
    base, residual = np.zeros((2, len(ranked.runs), topics))
    for number, run in enumerate(ranked.runs):
        share = (1 - p) * p ** (run.rank - 1)
        gained = np.where(ranked.judged[run.document], worth[ranked.code[run.document]] / top, 0.0)
        base[number] = np.bincount(ranked.topic[run.document], weights=share * gained, minlength=topics)
        unjudged = share * ~ranked.judged[run.document]
        residual[number] = np.bincount(ranked.topic[run.document], weights=unjudged, minlength=topics)
        residual[number] += p**run.counts
    number_of = np.full(len(ranked), -1)
    number_of[candidates] = np.arange(len(candidates))
    who = np.concatenate([np.full(len(entry), number) for number, entry in enumerate(entries)])
    at = number_of[np.concatenate([run.document[entry] for run, entry in zip(ranked.runs, entries, strict=True)])]
    share = np.concatenate(
        [(1 - p) * p ** (run.rank[entry] - 1) for run, entry in zip(ranked.runs, entries, strict=True)]
    )
    topic = ranked.topic[candidates]

    def importance(of: Any) -> Any:
        return residual[of] * ((base[of] + residual[of] / 2) ** 3 if settings.strategy == "rbp-c" else 1)

    weights = np.bincount(at, weights=share * importance((who, topic[at])), minlength=len(candidates))
    by_topic = np.argsort(topic[at], kind="stable")
    begin = np.searchsorted(topic[at][by_topic], np.arange(topics + 1))
    open_: Bools = np.ones(len(candidates), dtype=bool)
    chosen, found = [], []
    for _ in range(min(settings.budget, len(candidates))):
        number = int(np.argmax(np.where(open_, weights, -1.0)))
        chosen.append(number)
        found.append(weights[number])
        open_[number] = False
        same = by_topic[begin[topic[number]] : begin[topic[number] + 1]]
        mine = same[at[same] == number]
        residual[who[mine], topic[number]] -= share[mine]
        touched = np.unique(at[same])
        weights[touched] = np.bincount(
            at[same], weights=share[same] * importance((who[same], topic[at[same]])), minlength=len(candidates)
        )[touched]
    return candidates[chosen], np.array(found)


def _frame(ranked: RankedRuns, chosen: Ints, weights: Floats, best: Ints) -> pd.DataFrame:
    import pandas as pd  # not before it is needed

    wanted: list[list[str]] = [[] for _ in chosen]
    place = {document: number for number, document in enumerate(chosen.tolist())}
    for run in ranked.runs:
        hits = np.flatnonzero(np.isin(run.document, chosen))
        for document, rank in zip(run.document[hits].tolist(), run.rank[hits].tolist(), strict=True):
            wanted[place[document]].append(f"{run.name}:{rank}")
    names = np.array(ranked.names, dtype=object)
    return pd.DataFrame(
        {
            "topic": names[ranked.topic[chosen]],
            "docno": ranked.docnos[chosen],
            "weight": weights,
            "runs": [len(one) for one in wanted],
            "best_rank": best[chosen],
            "wanted_by": [" ".join(one) for one in wanted],
        }
    )
