"""`pool --to-judge`: documents to judge next, by their ranks or by the possible effect of a judgment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import ranked_runs
from gradedeval.analysis.tables import display_table
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, distinct, np
from gradedeval.errors import InputError, Note, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import Column, Document, Layout, Measure, OptionKwargs, Options, Setting, Table, ranges
from gradedeval.questions.shared import counts

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRuns
    from gradedeval.kernel import Batch, Scorer


AT_ONCE = 1 << 20
"""Maximum number of cells for which all weights affected by a choice are recomputed; above it, only the heaviest."""


def choose_by_measure(
    ranked: RankedRuns, scorer: Scorer, candidates: Ints, budget: int, *, pairs: bool
) -> tuple[Ints, Floats]:
    """Choose the candidates to judge; return their positions and weights.

    The weight is the rise of the means of all runs if the document has the top gain, like all documents chosen
    before; with `pairs` the change of the differences of runs whose order the residuals leave open. If nothing can
    be added, it begins anew, as if the chosen documents were not relevant. It chooses fewer than the budget if the
    remaining candidates cannot change a score.

    Greedy. A choice changes the weights of its topic in the runs that have it: at most runs × k rankings of k
    documents are scored for a measure with cutoff k. Above `AT_ONCE` cells, a weight is recomputed when it comes
    first: the result is the same if documents never add more because others are relevant (rbp, dcg), and close
    elsewhere (ap).
    """
    board = Board(ranked, scorer, candidates, pairs)
    chosen: list[int] = []
    weights: list[float] = []
    while len(chosen) < budget:
        number = board.heaviest()
        if number is None:
            if board.as_judged:
                break
            board.begin()
            continue
        chosen.append(number)
        weights.append(float(board.weight[number]))
        board.choose(number)
    return np.array(chosen, dtype=np.int64), np.array(weights)


@dataclass(frozen=True, eq=False)
class Topic:
    """Rankings of one topic: a row for each run.

    judged, best  gains as judged, and with every unjudged document at the top gain
    member        candidates that the measure sees in some run
    entry         their entries: numbers of `Board.run`, `rank` and so on
    row           entries: index of the member
    """

    judged: kernel.gains.Gains
    best: kernel.gains.Gains
    member: Ints
    entry: Ints
    row: Ints


class Board:
    """Weights of candidates, given the documents chosen so far.

    run, rank, candidate  entries, one for each place of a candidate in a run
    rise                  entries: rise of the mean of the run
    weight                candidates: −1 once chosen
    as_judged             whether nothing has been chosen since the beginning
    """

    def __init__(self, ranked: RankedRuns, scorer: Scorer, candidates: Ints, pairs: bool) -> None:
        self.measure, self.table = scorer.measures[0], scorer.tables[0]
        self.reading = self.measure.reading
        self.pairs, self.topic_of = pairs, ranked.topic[candidates]
        self.topics_of_run = np.array([max(int(run.listed.sum()), 1) for run in ranked.runs])
        self.run, self.rank, self.candidate = _entries(ranked, candidates, scorer.last_rank)
        self.topics = _topics(ranked, scorer, self.topic_of, self.candidate)
        self.rise = np.zeros(len(self.run))
        self.of_run = [np.flatnonzero(self.run == run) for run in range(len(ranked.runs))]
        self.open: Bools = np.ones(len(candidates), dtype=bool)
        score, by_unjudged, residual = ranked.scores(scorer)[:, :, :, 0]
        # A residual from bounds assumes other ideal rankings; rises here use the ideal ranking of the qrels.
        of_bounds = np.isnan(by_unjudged) & ~np.isnan(residual)
        most = np.where(of_bounds, self._most(), score + residual)
        self.judged_means, self.most = (
            np.nansum(self.reading.tested(values), axis=1) / self.topics_of_run for values in (score, most)
        )
        self.begin()

    def _most(self) -> Floats:
        """Return the scores if every unjudged document had the top gain: runs × topics."""
        scores = [kernel.scores_of(self.measure, topic.best) for topic in self.topics]
        return np.minimum(np.stack(scores, axis=1), self.measure.definition.ceiling)

    def begin(self) -> None:
        """Reset the weights to the judgments alone."""
        self.as_judged = True
        self.means, self.stale = self.judged_means.copy(), np.zeros(len(self.open), dtype=bool)
        self.unsettled = self._unsettled()
        self.gains = [topic.judged for topic in self.topics]
        ceiling = self.measure.definition.ceiling
        scores = (np.minimum(kernel.scores_of(self.measure, gains), ceiling) for gains in self.gains)
        self.scores = list(map(self.reading.tested, scores))
        self.weight: Floats = np.where(self.open, 0.0, -1.0)
        for number, topic in enumerate(self.topics):
            self._refresh(number, self.open[topic.member])

    def heaviest(self) -> int | None:
        """Return the candidate to choose next; None if none adds anything."""
        while True:
            number = int(self.weight.argmax()) if len(self.weight) else 0
            if not len(self.weight) or self.weight[number] <= TOLERANCE:
                return None
            if not self.stale[number]:
                return number
            topic = int(self.topic_of[number])
            self._refresh(topic, self.topics[topic].member == number)

    def choose(self, number: int) -> None:
        """Assume the top gain for a candidate."""
        index = int(self.topic_of[number])
        topic, gains = self.topics[index], self.gains[index]
        entries = topic.entry[self.candidate[topic.entry] == number]
        runs, ranks = self.run[entries], self.rank[entries]
        self.as_judged, self.open[number], self.weight[number] = False, False, -1.0
        new = self.reading.tested(ranked_runs.scores_if_relevant(self.measure, gains, topic.best, runs, ranks))
        self.means[runs] += (new - self.scores[index][runs]) / self.topics_of_run[runs]
        self.scores[index][runs] = new
        gain = gains.gain.copy()
        gain[runs, ranks] = topic.best.gain[runs, ranks]
        self.gains[index] = replace(gains, gain=gain)
        self.rise[entries] = 0.0
        touched = np.zeros(len(topic.member), dtype=bool)
        touched[topic.row[np.isin(self.run[topic.entry], runs)]] = True
        touched &= self.open[topic.member]
        if int(touched[topic.row].sum()) * gain.shape[1] <= AT_ONCE:
            self._refresh(index, touched)
        else:
            self.stale[topic.member[touched]] = True
        if self.pairs:
            self._settle()

    def _refresh(self, index: int, members: Bools) -> None:
        """Recompute the weights of some members of a topic, given its gains."""
        topic = self.topics[index]
        selected = np.flatnonzero(members[topic.row])
        entry = topic.entry[selected]
        runs = self.run[entry]
        gains, ranks = self.gains[index], self.rank[entry]
        new = self.reading.tested(ranked_runs.scores_if_relevant(self.measure, gains, topic.best, runs, ranks))
        self.rise[entry] = np.maximum(new - self.scores[index][runs], 0) / self.topics_of_run[runs]
        rises = np.zeros((len(topic.member), len(self.means)))
        rises[topic.row[selected], runs] = self.rise[entry]
        rises = rises[members]
        numbers = topic.member[members]
        self.weight[numbers] = _parted(rises, self.unsettled) if self.pairs else rises.sum(1)
        self.stale[numbers] = False

    def _settle(self) -> None:
        """Add pairs of runs whose order has become open, and remove settled ones, by the current means."""
        unsettled = self._unsettled()
        for first, second in np.argwhere(np.triu(unsettled != self.unsettled)).tolist():
            rises = np.zeros((2, len(self.weight)))
            for row, run in enumerate((first, second)):
                rises[row, self.candidate[self.of_run[run]]] = self.rise[self.of_run[run]]
            parted = np.abs(rises[0] - rises[1]) * self.open
            self.weight += parted if unsettled[first, second] else -parted
        self.unsettled = unsettled

    def _unsettled(self) -> Bools:
        """Return whether the trailing run could still draw level with the leading one, as in `compare`: runs × runs."""
        lower = self.means[:, None] <= self.means
        behind = np.where(lower, self.most[:, None], self.most)
        ahead = np.where(lower, self.means, self.means[:, None])
        unsettled: Bools = (behind >= ahead) & ~((self.means[:, None] == self.means) & (behind == ahead))
        return unsettled & ~np.eye(len(self.means), dtype=bool)


def _parted(rises: Floats, unsettled: Bools) -> Floats:
    """Return the summed changes of the differences of unsettled pairs of runs, for each candidate."""
    summed = np.zeros(len(rises))
    for run, rivals in enumerate(unsettled):
        summed += np.abs(rises[:, [run]] - rises[:, rivals]).sum(1)
    return summed / 2


def _places_among(ranked: RankedRuns, some: Ints) -> Ints:
    """Return the position of each document among some of them, −1 for the rest."""
    place = np.full(len(ranked), -1)
    place[some] = np.arange(len(some))
    return place


def _entries(ranked: RankedRuns, candidates: Ints, last: int | None) -> tuple[Ints, Ints, Ints]:
    """Return run, rank from 0, and candidate of each entry that the measure sees."""
    number_of = _places_among(ranked, candidates)
    runs, ranks, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number, run in enumerate(ranked.runs):
        number_in = number_of[run.document]
        within = run.rank <= (np.inf if last is None else last)
        seen = (number_in >= 0) & within & run.listed[ranked.topic[run.document]]
        runs.append(np.full(int(seen.sum()), number))
        ranks.append(run.rank[seen] - 1)
        numbers.append(number_in[seen])
    return np.concatenate(runs), np.concatenate(ranks), np.concatenate(numbers)


def _topics(ranked: RankedRuns, scorer: Scorer, topic_of: Ints, candidate: Ints) -> list[Topic]:
    """Return each topic as rankings of all runs."""
    measure, table = scorer.measures[0], scorer.tables[0]
    order = np.argsort(topic_of[candidate], kind="stable")
    ends = np.searchsorted(topic_of[candidate][order], np.arange(len(ranked.topics) + 1))
    topics = []
    for row, name in enumerate(ranked.topics):
        batch = _rankings(ranked, row, name, scorer.last_rank)
        gains_of = scorer.gains_cache(batch)
        entry = order[ends[row] : ends[row + 1]]
        member, place = np.unique(candidate[entry], return_inverse=True)
        judged, best = gains_of(table, measure), gains_of(table, measure, unjudged=table.top)
        topics.append(Topic(judged, best, member, entry, place))
    return topics


def _rankings(ranked: RankedRuns, topic: int, name: bytes, last: int | None) -> Batch:
    """Return a batch of one topic, with a row for each run."""
    counts = np.array([run.counts[topic] for run in ranked.runs])
    pool = ranked.pool.select(np.full(len(counts), topic))
    width = int(min(counts.max(initial=0), np.inf if last is None else last))
    codes: Ints = np.full((len(counts), width), pool.labels + 1)
    for row, run in enumerate(ranked.runs):
        run_codes = ranked.code[run.of_topic(topic)[:width]]
        codes[row, : len(run_codes)] = run_codes
    return kernel.Batch([name] * len(counts), codes, counts, pool)


def depth_weights(ranked: RankedRuns) -> Floats:
    """Return −(best rank) of each document, plus a fraction for the share of runs with that rank."""
    best, num_runs = ranked.best_rank, np.zeros(len(ranked))
    for run in ranked.runs:
        num_runs[run.document] += run.rank == best[run.document]
    return np.asarray(num_runs / (len(ranked.runs) + 1) - best)


def rbp_weights(ranked: RankedRuns, p: float) -> Floats:
    """Return (1 − p) p^(rank − 1) of each document, summed over runs: method A of Moffat et al., SIGIR 2007."""
    weights = np.zeros(len(ranked))
    for run in ranked.runs:
        weights[run.document] += (1 - p) * p ** (run.rank - 1)
    return weights


def choose_by_residual(
    ranked: RankedRuns, scorer: Scorer, candidates: Ints, budget: int, p: float, *, cubed: bool
) -> tuple[Ints, Floats]:
    """Choose documents by method B or, `cubed`, C of Moffat, Webber & Zobel, SIGIR 2007: the heaviest first, which
    lowers the residuals of the runs that have it. Return the positions of the chosen candidates and their weights."""
    topics = len(ranked.topics)
    power = (p ** np.arange(max(int(run.counts.max(initial=0)) for run in ranked.runs))).astype(np.float64)
    number_of = _places_among(ranked, candidates)
    entries = [np.flatnonzero(number_of[run.document] >= 0) for run in ranked.runs]
    pairs = list(zip(ranked.runs, entries, strict=True))
    base, residual = _rbp(ranked, scorer, p, power)
    run_of = np.concatenate([np.full(len(entry), number) for number, entry in enumerate(entries)])
    candidate_of = number_of[np.concatenate([run.document[entry] for run, entry in pairs])]
    share = np.concatenate([(1 - p) * power[run.rank[entry] - 1] for run, entry in pairs])
    topic, chosen = ranked.topic[candidates], list[tuple[int, float]]()

    def importance(index: Any) -> Any:
        """Return the importance of runs on some or all topics."""
        return residual[index] * ((base[index] + residual[index] / 2) ** 3 if cubed else 1)

    share_of_importance = share * importance(slice(None))[run_of, topic[candidate_of]]
    weights = np.bincount(candidate_of, weights=share_of_importance, minlength=len(candidates))
    by_topic = np.argsort(topic[candidate_of], kind="stable")
    begin = np.searchsorted(topic[candidate_of][by_topic], np.arange(topics + 1))

    @cache
    def entries_of_topic(row: int) -> tuple[Ints, Ints, Ints]:
        """Return the entries of a topic, its candidates, and the index of the candidate of each entry."""
        same = by_topic[begin[row] : begin[row + 1]]
        return same, *distinct(candidate_of[same])

    open_: Bools = np.ones(len(candidates), dtype=bool)
    for _ in range(min(budget, len(candidates))):
        number = int(np.argmax(np.where(open_, weights, -1.0)))
        chosen.append((number, weights[number]))
        open_[number], row = False, int(topic[number])
        same, touched, which = entries_of_topic(row)
        of_number = same[touched[which] == number]
        residual[run_of[of_number], row] -= share[of_number]
        weights[touched] = np.bincount(which, weights=share[same] * importance((slice(None), row))[run_of[same]])
    return np.array([number for number, _ in chosen], dtype=np.int64), np.array([weight for _, weight in chosen])


def _rbp(ranked: RankedRuns, scorer: Scorer, p: float, power: Floats) -> tuple[Floats, Floats]:
    """Return scores by rank-biased precision and their residuals, runs × topics; `power` has p⁰, p¹, p², …"""
    topics, table = len(ranked.topics), scorer.tables[0]
    gains, top = np.append(table.gain_of_label, [0.0, 0.0]), table.top or 1.0
    base, residual = np.zeros((2, len(ranked.runs), topics))
    for number, run in enumerate(ranked.runs):
        share, topic = (1 - p) * power[run.rank - 1], np.repeat(np.arange(topics), run.counts)
        judged, code = ranked.judged[run.document], ranked.code[run.document]
        gained = np.where(judged, gains[code] / top, 0.0)
        base[number] = np.bincount(topic, weights=share * gained, minlength=topics)
        residual[number] = np.bincount(topic, weights=share * ~judged, minlength=topics)
        residual[number] += p**run.counts
    return base, residual


Strategy = Literal["depth", "rbp-a", "rbp-b", "rbp-c", "residual", "pairs"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BY_MEASURE: tuple[Strategy, ...] = ("residual", "pairs")
DEFAULT: Strategy = "rbp-c"
"""The best strategy for the order of runs in nine of ten draws of topics: tests/benchmarks/judging.py."""
DEFAULT_BUDGET = 100
"""Maximum number of documents if neither a budget nor a depth is given: with a depth, the whole pool is expected."""
RUNS_LISTED = 3
"""Number of runs listed for each document in a table for people."""

Weighing = Annotated[Strategy, Setting("How --to-judge weights documents: by best rank (depth), by RBP weight as "
    "methods A, B and C of Moffat, Webber & Zobel, by residual, or by the pairs of runs whose order they could "
    "reverse (pairs).", short="How to choose the documents to judge.")]  # fmt: skip
Budget = Annotated[int | None, Setting("Maximum number of documents that --to-judge lists.", ranges.BUDGET, "N",
    default_text=f"{DEFAULT_BUDGET}, or with --pool-depth or --depth all",
    short="Maximum number of documents to judge.")]  # fmt: skip
Persistence = Annotated[float, Setting("Of the RBP strategies: the probability of going on from rank to rank.",
    ranges.PERSISTENCE, "P", short="Persistence of the RBP strategies.")]  # fmt: skip
By = Annotated["str | Measure", Setting("Measure of --to-judge.", spelled=("-m", "--measure"), measure="one",
    section="Measures and gains")]  # fmt: skip
PoolDepth = Annotated[int | None, Setting("Depth to which a run contributes to the pool.",
    ranges.POOL_DEPTH, "N", default_text="all are")]  # fmt: skip


@dataclass(frozen=True)
class JudgingSettings:
    """Settings of the choice of documents, budget None for all. Raises InputError (usage) for an invalid value."""

    strategy: Strategy = DEFAULT
    budget: int | None = None
    persistence: float = 0.8
    pool_depth: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.strategy, STRATEGIES, flag.strategy)
        ranges.BUDGET.check_field(self, "budget")
        ranges.PERSISTENCE.check_field(self, "persistence")
        ranges.POOL_DEPTH.check_field(self, "pool_depth")

    def words(self, measure: Measure) -> str:
        """Describe the strategy in a line."""
        condition = "if it and those above it have the top gain; greedy"
        return {
            "depth": "depth: by the best rank in any run, then by how many runs have it there",
            "rbp-a": f"rbp-a: summed RBP weight in all runs, p {self.persistence:g}",
            "rbp-b": f"rbp-b: as rbp-a, each run weighed by its residual; greedy, p {self.persistence:g}",
            "rbp-c": f"rbp-c: as rbp-b, and by its projected score cubed; greedy, p {self.persistence:g}",
            "residual": f"residual: summed rise of {measure.label} in all runs, {condition}",
            "pairs": f"pairs: summed change of the difference in {measure.label} of runs that judging could reverse, "
            f"{condition}",
        }[self.strategy]


@dataclass(frozen=True, eq=False)
class ToJudge(kernel.results.InNotebook):
    """Documents to judge, the most informative first.

    frame       topic, docno, weight, runs (number that have it), best_rank, wanted_by (runs and ranks, as text)
    ranks       of each document: the parts of `wanted_by`, the best rank first
    remaining   number of further unjudged documents
    texts       texts of topics, if known
    """

    frame: pd.DataFrame
    ranks: list[list[str]]
    remaining: int
    settings: JudgingSettings
    measure: Measure
    notes: list[str] = field(default_factory=list)
    texts: Mapping[str, str] = field(default_factory=dict)

    def document(self, layout: Layout) -> Document:
        """Return a table with a row for each document."""
        frame = self.frame
        signature, count = self.settings.words(self.measure), len(self.frame)
        if layout == "long":
            return Document([kernel.results.to_table(frame)], signature)
        line = f"{count} {plural(count, 'document')} to judge, {self.remaining} more unjudged"
        stopped = self.settings.budget is None or count < self.settings.budget
        if self.settings.strategy in BY_MEASURE and self.remaining and stopped:
            effect = "the order of two runs by " if self.settings.strategy == "pairs" else ""
            line += f", none of which could change {effect}{self.measure.label}"
        return Document([line, self._table()] if count else [line], signature)

    def _table(self) -> Table:
        """Return the documents as a table."""
        table = display_table(
            self.frame,
            topic=("topic", "text"),
            docno=("docno", "text"),
            weight=("weight", "number"),
            **counts("runs", "best_rank"),
            wanted_by=("wanted by", "text"),
        )
        texts = [" ".join(ranks[:RUNS_LISTED]) + (" …" if len(ranks) > RUNS_LISTED else "") for ranks in self.ranks]
        index = table.names.index("weight")
        columns = [*table.columns[:index], Column("weight", "figures"), *table.columns[index + 1 :]]
        rows = [
            [*row[:index], f"{row[index]:.4g}", *row[index + 1 : -1], text]
            for row, text in zip(table.rows, texts, strict=True)
        ]
        return Table(columns, rows)

    def __repr__(self) -> str:
        return f"<ToJudge {len(self.frame)} documents by {self.settings.strategy}>"


@kernel.takes_options("reading", "queries")
@public
@kernel.shares_work
def to_judge(
    runs: Any,
    qrels: Any = None,
    strategy: Weighing = DEFAULT,
    *,
    budget: Budget = None,
    measure: By = "ndcg@10",
    persistence: Persistence = 0.8,
    pool_depth: PoolDepth = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> ToJudge:
    """Choose the unjudged documents of runs to judge next.

    strategy     `depth`: by the best rank in any run. `rbp-a`, `rbp-b`, `rbp-c`: methods A to C of Moffat, Webber &
                 Zobel, SIGIR 2007: the weight of the document in rank-biased precision, summed over runs; each run
                 weighed by its residual on the topic; and by the cube of its projected score, base + residual/2,
                 too. `residual`: rise of the means of runs by `measure`, summed, if the document and all chosen
                 before have the top gain. `pairs`: change of the differences of runs whose order judging could
                 reverse, in the same way
    budget       maximum number of documents; None: 100, or all if `pool_depth` or `depth` is given
    measure      of `residual` and `pairs`
    persistence  persistence of the RBP methods
    pool_depth   last rank of candidates; None: all ranks

    `rbp-b` and `rbp-c` choose one document after the other: each choice lowers the residual of its runs. So do
    `residual` and `pairs`, each document given the ones before; if none adds anything more they begin anew, as if
    the chosen ones were not relevant. They leave out documents that cannot change a score, so that there may be
    fewer than the budget. `depth` and `rbp-a` weigh each document by itself. The remaining arguments are as in
    `evaluate`. Returns `ToJudge`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does, for `judged_only`,
    and for `residual` or `pairs` by a measure without residual.

    >>> runs = {"A": {"q1": {"d1": 2.0, "d2": 1.0}}, "B": {"q1": {"d3": 2.0, "d1": 1.0}}}
    >>> gradedeval.to_judge(runs, budget=2).frame["docno"].tolist()
    ['d1', 'd3']
    """
    options, named = kernel.resolve_options(like, **keywords), kernel.named_runs(runs)
    default = DEFAULT_BUDGET if pool_depth is None and options.depth is None else None
    settings = JudgingSettings(strategy, default if budget is None else budget, persistence, pool_depth)
    scorer = _scorer(named, qrels, kernel.parse_measures(measure)[0], options, strategy)
    ranked = ranked_runs.rank_runs(named, scorer.grader)
    candidates = _candidates(ranked, scorer, settings.pool_depth)
    chosen, weights = choose(ranked, scorer, candidates, settings)
    ranks = _ranks_by_run(ranked, chosen)
    frame, (by,) = _frame(ranked, chosen, weights, ranked.best_rank, ranks), scorer.measures
    notes = [*([] if qrels is None else scorer.notes), *ranked.notes]
    notes += [] if budget else _default_budget_notes(settings, by, len(chosen), len(candidates))
    return ToJudge(frame, ranks, len(candidates) - len(chosen), settings, by, emit_notes(notes), options.texts)


def _default_budget_notes(settings: JudgingSettings, measure: Measure, chosen: int, candidates: int) -> list[str]:
    """Return the note that the default budget leaves out documents, if it does."""
    if chosen != settings.budget or chosen == candidates:
        return []
    those = f"that could change {measure.label}" if settings.strategy in BY_MEASURE else "of them"
    return [Note(f"{chosen} of {candidates:,} unjudged documents", f"{flag.budget:{candidates}} takes all {those}")]


def _scorer(runs: Mapping[str, Any], qrels: Any, measure: Measure, options: Options, strategy: Strategy) -> Scorer:
    """Return the scorer of the runs. Raises InputError (usage) for a strategy that cannot be followed."""
    if options.judged_only:
        raise InputError(flag.judged_only, "leaves no unjudged documents", "leave it out", usage=True)
    if strategy in BY_MEASURE and measure.residual == "none":
        problem = f"{measure.label} has no residual, by which {flag.strategy:{strategy}} goes"
        raise InputError(flag.measures, problem, "choose another measure or strategy", usage=True)
    if qrels is None:
        judged = kernel.Qrels.empty((0.0, options.top_of(1.0)))
        options = replace(options, topics="run")
    else:
        judged = kernel.qrels_for(runs, qrels, options)
    scorer = kernel.Scorer(judged, [measure], replace(options, residuals="total"))
    ranked_runs.check_maskable(scorer, options, flag.to_judge)
    return scorer


def _candidates(ranked: RankedRuns, scorer: Scorer, depth: int | None) -> Ints:
    """Return the documents down to the depth that are not in the qrels."""
    # Documents in the qrels are not requested again, even if their grade counts as unjudged.
    unjudged = ranked.code >= len(scorer.qrels.labels)
    return np.flatnonzero(unjudged & (ranked.best_rank <= (depth or ranked_runs.NOWHERE)))


def choose(ranked: RankedRuns, scorer: Scorer, candidates: Ints, settings: JudgingSettings) -> tuple[Ints, Floats]:
    """Return the documents to judge and their weights, the heaviest first, then by rank, topic and docno."""
    names, best = ranked.numbers.names(candidates), ranked.best_rank[candidates]
    budget = len(candidates) if settings.budget is None else settings.budget
    # Bytes sort faster, in the same order if ASCII.
    docnos = np.array(names) if b"".join(names).isascii() else ranked.docnos(candidates).astype(str)
    candidates = candidates[np.lexsort((docnos, ranked.topic[candidates], best))]
    if settings.strategy in BY_MEASURE:
        pairs = settings.strategy == "pairs"
        chosen, weights = choose_by_measure(ranked, scorer, candidates, budget, pairs=pairs)
    elif settings.strategy in ("rbp-b", "rbp-c"):
        cubed = settings.strategy == "rbp-c"
        chosen, weights = choose_by_residual(ranked, scorer, candidates, budget, settings.persistence, cubed=cubed)
    else:
        each = depth_weights(ranked) if settings.strategy == "depth" else rbp_weights(ranked, settings.persistence)
        weights = each[candidates]
        chosen = np.argsort(-weights, kind="stable")[:budget]
        weights = weights[chosen]
    return candidates[chosen], weights


def _ranks_by_run(ranked: RankedRuns, chosen: Ints) -> list[list[str]]:
    """Return for each document the runs that have it with their ranks, the best first."""
    ranks_of: list[list[tuple[int, str]]] = [[] for _ in chosen]
    positions = _places_among(ranked, chosen)
    for run in ranked.runs:
        of_run = positions[run.document]
        hits = np.flatnonzero(of_run >= 0)
        for number, rank in zip(of_run[hits].tolist(), run.rank[hits].tolist(), strict=True):
            ranks_of[number].append((rank, run.name))
    return [[f"{name}:{rank}" for rank, name in sorted(pairs, key=itemgetter(0))] for pairs in ranks_of]


def _frame(ranked: RankedRuns, chosen: Ints, weights: Floats, best: Ints, ranks: list[list[str]]) -> pd.DataFrame:
    names = np.array(ranked.names, dtype=object)
    return kernel.results.to_frame(
        {
            "topic": names[ranked.topic[chosen]],
            "docno": ranked.docnos(chosen),
            "weight": weights,
            "runs": [len(runs) for runs in ranks],
            "best_rank": best[chosen],
            "wanted_by": [" ".join(runs) for runs in ranks],
        }
    )


def qrels_lines(documents: ToJudge) -> str:
    """Return the documents as lines of a qrels file that lack the grade."""
    return "".join(f"{row['topic']} 0 {row['docno']}\n" for row in kernel.results.to_rows(documents.frame))
