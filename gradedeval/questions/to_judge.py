"""`pool --to-judge`: which documents to judge next, by their ranks or by what a judgment could change."""

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
from gradedeval.errors import InputError, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel import (
    Column,
    Document,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Setting,
    Table,
    parse_measures,
    ranges,
    resolve_options,
    shares_work,
    takes_options,
)

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRuns
    from gradedeval.kernel import Batch, Scorer


# What a judgment could change of a measure: documents chosen one after the other, each given those before it.


AT_ONCE = 1 << 20
"""Up to this many cells, all weights that a choice may have changed are computed anew; above it, the heaviest."""


def choose_by_measure(
    ranked: RankedRuns, scorer: Scorer, candidates: Ints, budget: int, *, pairs: bool
) -> tuple[Ints, Floats]:
    """Which of the candidates to judge, as positions, and their weights: by what each adds to the means of all runs if
    it has the top gain, as have those chosen before it; of `pairs`, to the differences of runs whose order the
    residuals leave open. Where nothing is left to add, it begins anew, as if those chosen were not relevant. Fewer than
    the budget where the others cannot change a score.

    Greedy. A choice changes the weights of its topic in the runs that have it: at most runs × k rankings of k documents
    are scored for a measure with cutoff k. Above `AT_ONCE` cells, a weight is computed anew when it comes first: that
    is the same where documents never add more because others are relevant (rbp, dcg), and near it elsewhere (ap).
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
    """The rankings of one topic: a row for each run.

    judged, best  as they are, and with every unjudged document at the top gain
    member        the candidates that the measure sees in some run
    entry         where they stand: numbers of `Board.run`, `rank` and so on
    row           entries: which of the members
    """

    judged: kernel.gains.Gains
    best: kernel.gains.Gains
    member: Ints
    entry: Ints
    row: Ints


class Board:
    """What each candidate would add, given those chosen so far.

    run, rank, candidate  entries, one for each place of a candidate in a run
    rise                  entries: what it adds to the mean of the run
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
        # A residual from the bounds has other ideal rankings, and what a document adds here goes by that of the qrels.
        of_bounds = np.isnan(by_unjudged) & ~np.isnan(residual)
        most = np.where(of_bounds, self._most(), score + residual)
        self.judged_means, self.most = (
            np.nansum(self.reading.tested(values), axis=1) / self.topics_of_run for values in (score, most)
        )
        self.begin()

    def _most(self) -> Floats:
        """runs × topics: the scores if every unjudged document had the top gain."""
        scores = [kernel.scores_of(self.measure, topic.best) for topic in self.topics]
        return np.minimum(np.stack(scores, axis=1), self.measure.definition.ceiling)

    def begin(self) -> None:
        """With the judgments alone."""
        self.as_judged = True
        self.means, self.stale = self.judged_means.copy(), np.zeros(len(self.open), dtype=bool)
        self.unsettled = self._unsettled()
        self.gains = [topic.judged for topic in self.topics]
        ceiling = self.measure.definition.ceiling
        self.scores = [
            self.reading.tested(np.minimum(kernel.scores_of(self.measure, gains), ceiling)) for gains in self.gains
        ]
        self.weight: Floats = np.where(self.open, 0.0, -1.0)
        for number, topic in enumerate(self.topics):
            self._refresh(number, self.open[topic.member])

    def heaviest(self) -> int | None:
        """The candidate to choose next; None where none adds anything."""
        while True:
            number = int(self.weight.argmax()) if len(self.weight) else 0
            if not len(self.weight) or self.weight[number] <= TOLERANCE:
                return None
            if not self.stale[number]:
                return number
            topic = int(self.topic_of[number])
            self._refresh(topic, self.topics[topic].member == number)

    def choose(self, number: int) -> None:
        """Take a candidate as a document of the top gain."""
        at = int(self.topic_of[number])
        topic, gains = self.topics[at], self.gains[at]
        mine = topic.entry[self.candidate[topic.entry] == number]
        runs, ranks = self.run[mine], self.rank[mine]
        self.as_judged, self.open[number], self.weight[number] = False, False, -1.0
        after = self.reading.tested(ranked_runs.scores_if_relevant(self.measure, gains, topic.best, runs, ranks))
        self.means[runs] += (after - self.scores[at][runs]) / self.topics_of_run[runs]
        self.scores[at][runs] = after
        gain = gains.gain.copy()
        gain[runs, ranks] = topic.best.gain[runs, ranks]
        self.gains[at] = replace(gains, gain=gain)
        self.rise[mine] = 0.0
        touched = np.zeros(len(topic.member), dtype=bool)
        touched[topic.row[np.isin(self.run[topic.entry], runs)]] = True
        touched &= self.open[topic.member]
        if int(touched[topic.row].sum()) * gain.shape[1] <= AT_ONCE:
            self._refresh(at, touched)
        else:
            self.stale[topic.member[touched]] = True
        if self.pairs:
            self._settle()

    def _refresh(self, at: int, wanted: Bools) -> None:
        """Weigh some members of a topic, given its gains."""
        topic = self.topics[at]
        which = np.flatnonzero(wanted[topic.row])
        entry = topic.entry[which]
        runs = self.run[entry]
        after = self.reading.tested(
            ranked_runs.scores_if_relevant(self.measure, self.gains[at], topic.best, runs, self.rank[entry])
        )
        self.rise[entry] = np.maximum(after - self.scores[at][runs], 0) / self.topics_of_run[runs]
        rises = np.zeros((len(topic.member), len(self.means)))
        rises[topic.row[which], runs] = self.rise[entry]
        rises = rises[wanted]
        numbers = topic.member[wanted]
        self.weight[numbers] = _parted(rises, self.unsettled) if self.pairs else rises.sum(1)
        self.stale[numbers] = False

    def _settle(self) -> None:
        """Let pairs of runs count, or no longer, by the means as they are now."""
        unsettled = self._unsettled()
        for one, other in np.argwhere(np.triu(unsettled != self.unsettled)).tolist():
            rises = np.zeros((2, len(self.weight)))
            for row, run in enumerate((one, other)):
                rises[row, self.candidate[self.of_run[run]]] = self.rise[self.of_run[run]]
            parted = np.abs(rises[0] - rises[1]) * self.open
            self.weight += parted if unsettled[one, other] else -parted
        self.unsettled = unsettled

    def _unsettled(self) -> Bools:
        """runs × runs: whether the run behind could still come level with the other, as in `compare`."""
        lower = self.means[:, None] <= self.means
        behind = np.where(lower, self.most[:, None], self.most)
        ahead = np.where(lower, self.means, self.means[:, None])
        unsettled: Bools = (behind >= ahead) & ~((self.means[:, None] == self.means) & (behind == ahead))
        return unsettled & ~np.eye(len(self.means), dtype=bool)


def _parted(rises: Floats, unsettled: Bools) -> Floats:
    """candidates: the changes of the differences of unsettled pairs of runs, summed."""
    summed = np.zeros(len(rises))
    for run, others in enumerate(unsettled):
        summed += np.abs(rises[:, [run]] - rises[:, others]).sum(1)
    return summed / 2


def _places_among(ranked: RankedRuns, some: Ints) -> Ints:
    """documents: the place of each among some of them, −1 where it is none of these."""
    place = np.full(len(ranked), -1)
    place[some] = np.arange(len(some))
    return place


def _entries(ranked: RankedRuns, candidates: Ints, last: int | None) -> tuple[Ints, Ints, Ints]:
    """Of each place of a candidate in a run that the measure sees: the run, the rank from 0, and the candidate."""
    number_of = _places_among(ranked, candidates)
    runs, ranks, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for number, run in enumerate(ranked.runs):
        number_in = number_of[run.document]
        seen = (
            (number_in >= 0) & (run.rank <= (np.inf if last is None else last)) & run.listed[ranked.topic[run.document]]
        )
        runs.append(np.full(int(seen.sum()), number))
        ranks.append(run.rank[seen] - 1)
        numbers.append(number_in[seen])
    return np.concatenate(runs), np.concatenate(ranks), np.concatenate(numbers)


def _topics(ranked: RankedRuns, scorer: Scorer, topic_of: Ints, candidate: Ints) -> list[Topic]:
    """Each topic as rankings of all runs."""
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
    """A batch of one topic, with a row for each run."""
    counts = np.array([run.counts[topic] for run in ranked.runs])
    pool = ranked.pool.select(np.full(len(counts), topic))
    width = int(min(counts.max(initial=0), np.inf if last is None else last))
    codes: Ints = np.full((len(counts), width), pool.labels + 1)
    for row, run in enumerate(ranked.runs):
        some = ranked.code[run.of_topic(topic)[:width]]
        codes[row, : len(some)] = some
    return kernel.Batch([name] * len(counts), codes, counts, pool)


# What a judgment tells by the ranks of a document: the best of them, or by rank-biased precision.
#
# Moffat, Webber & Zobel, SIGIR 2007.


def depth_weights(ranked: RankedRuns) -> Floats:
    """documents: −(best rank), and a fraction for the share of runs that have it there."""
    best, there = ranked.best_rank, np.zeros(len(ranked))
    for run in ranked.runs:
        there[run.document] += run.rank == best[run.document]
    weights: Floats = there / (len(ranked.runs) + 1) - best
    return weights


def rbp_weights(ranked: RankedRuns, p: float) -> Floats:
    """documents: (1 − p) p^(rank − 1), summed over runs: method A."""
    weights = np.zeros(len(ranked))
    for run in ranked.runs:
        weights[run.document] += (1 - p) * p ** (run.rank - 1)
    return weights


def choose_by_residual(
    ranked: RankedRuns, scorer: Scorer, candidates: Ints, budget: int, p: float, *, cubed: bool
) -> tuple[Ints, Floats]:
    """Methods B and, `cubed`, C: the heaviest document, after which the residuals of the runs that have it are smaller.
    Returns which of the candidates, as positions, and their weights."""
    topics = len(ranked.topics)
    power = (p ** np.arange(max(int(run.counts.max(initial=0)) for run in ranked.runs))).astype(np.float64)
    number_of = _places_among(ranked, candidates)
    entries = [np.flatnonzero(number_of[run.document] >= 0) for run in ranked.runs]
    base, residual = _rbp(ranked, scorer, p, power)
    who = np.concatenate([np.full(len(entry), number) for number, entry in enumerate(entries)])
    at = number_of[np.concatenate([run.document[entry] for run, entry in zip(ranked.runs, entries, strict=True)])]
    share = np.concatenate(
        [(1 - p) * power[run.rank[entry] - 1] for run, entry in zip(ranked.runs, entries, strict=True)]
    )
    topic, found = ranked.topic[candidates], list[tuple[int, float]]()

    def importance(of: Any) -> Any:
        """Of runs, on some or all topics."""
        return residual[of] * ((base[of] + residual[of] / 2) ** 3 if cubed else 1)

    weights = np.bincount(at, weights=share * importance(slice(None))[who, topic[at]], minlength=len(candidates))
    by_topic = np.argsort(topic[at], kind="stable")
    begin = np.searchsorted(topic[at][by_topic], np.arange(topics + 1))

    @cache
    def of_topic(row: int) -> tuple[Ints, Ints, Ints]:
        """Its entries; its candidates; and which of these each entry is of."""
        same = by_topic[begin[row] : begin[row + 1]]
        return same, *distinct(at[same])

    open_: Bools = np.ones(len(candidates), dtype=bool)
    for _ in range(min(budget, len(candidates))):
        number = int(np.argmax(np.where(open_, weights, -1.0)))
        found.append((number, weights[number]))
        open_[number], row = False, int(topic[number])
        same, touched, which = of_topic(row)
        mine = same[touched[which] == number]
        residual[who[mine], row] -= share[mine]
        weights[touched] = np.bincount(which, weights=share[same] * importance((slice(None), row))[who[same]])
    return np.array([number for number, _ in found], dtype=np.int64), np.array([weight for _, weight in found])


def _rbp(ranked: RankedRuns, scorer: Scorer, p: float, power: Floats) -> tuple[Floats, Floats]:
    """runs × topics, twice: the scores by rank-biased precision, and their residuals.

    power  p to the power of 0, 1, 2, …
    """
    topics, table = len(ranked.topics), scorer.tables[0]
    worth, top = np.append(table.gain_of_label, [0.0, 0.0]), table.top or 1.0
    base, residual = np.zeros((2, len(ranked.runs), topics))
    for number, run in enumerate(ranked.runs):
        share, topic = (1 - p) * power[run.rank - 1], np.repeat(np.arange(topics), run.counts)
        judged, code = ranked.judged[run.document], ranked.code[run.document]
        gained = np.where(judged, worth[code] / top, 0.0)
        base[number] = np.bincount(topic, weights=share * gained, minlength=topics)
        residual[number] = np.bincount(topic, weights=share * ~judged, minlength=topics)
        residual[number] += p**run.counts
    return base, residual


# What to judge next: the unjudged documents of runs, by how much their judgments would tell.


Strategy = Literal["depth", "rbp-a", "rbp-b", "rbp-c", "residual", "pairs"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BY_MEASURE: tuple[Strategy, ...] = ("residual", "pairs")
DEFAULT: Strategy = "rbp-c"
"""What brings the order of runs nearest to the true one in nine of ten draws of topics: tests/benchmarks/judging.py."""
WANTED = 3
"""How many of the runs that want a document people see."""

Weighing = Annotated[Strategy, Setting("How --to-judge weights documents: by best rank (depth), by RBP weight as "
    "methods A, B and C of Moffat, Webber & Zobel, by residual, or by the pairs of runs whose order they could "
    "reverse (pairs).")]  # fmt: skip
Budget = Annotated[int, Setting("Maximum number of documents that --to-judge lists.", ranges.BUDGET, "N")]
Persistence = Annotated[float, Setting("Of the RBP strategies: the probability of going on from rank to rank.",
    ranges.PERSISTENCE, "P")]  # fmt: skip
By = Annotated["str | Measure", Setting("Measure of --to-judge.", spelled=("-m", "--measure"), measure="one",
    section="Measures and gains")]  # fmt: skip
PoolDepth = Annotated[int | None, Setting("Depth to which a run contributes to the pool.",
    ranges.POOL_DEPTH, "N", default_text="all are")]  # fmt: skip


@dataclass(frozen=True)
class JudgingSettings:
    """How documents are chosen: see `to_judge`. Raises InputError (usage) where a value is not allowed."""

    strategy: Strategy = DEFAULT
    budget: int = 100
    persistence: float = 0.8
    pool_depth: int | None = None

    def __post_init__(self) -> None:
        check_choice(self.strategy, STRATEGIES, flag.strategy)
        ranges.BUDGET.check_field(self, "budget")
        ranges.PERSISTENCE.check_field(self, "persistence")
        ranges.POOL_DEPTH.check_field(self, "pool_depth")

    def words(self, measure: Measure) -> str:
        """The strategy in a line."""
        given = "if it and those above it have the top gain; greedy"
        return {
            "depth": "depth: by the best rank in any run, then by how many runs have it there",
            "rbp-a": f"rbp-a: summed RBP weight in all runs, p {self.persistence:g}",
            "rbp-b": f"rbp-b: as rbp-a, each run weighed by its residual; greedy, p {self.persistence:g}",
            "rbp-c": f"rbp-c: as rbp-b, and by its projected score cubed; greedy, p {self.persistence:g}",
            "residual": f"residual: summed rise of {measure.label} in all runs, {given}",
            "pairs": f"pairs: summed change of the difference in {measure.label} of runs that judging could reverse, "
            f"{given}",
        }[self.strategy]


@dataclass(frozen=True, eq=False)
class ToJudge(kernel.results.InNotebook):
    """What to judge, the most telling first.

    frame   topic, docno, weight, runs (how many have it), best_rank, wanted_by (runs and ranks, as text)
    wanted  of each document: the parts of `wanted_by`, the best rank first
    left    how many other unjudged documents there are
    texts   the texts of topics, where they are known
    """

    frame: pd.DataFrame
    wanted: list[list[str]]
    left: int
    settings: JudgingSettings
    measure: Measure
    notes: list[str] = field(default_factory=list)
    texts: Mapping[str, str] = field(default_factory=dict)

    def document(self, layout: Layout) -> Document:
        """What to judge: a row for each document."""
        frame = self.frame
        signature, count = self.settings.words(self.measure), len(self.frame)
        if layout == "long":
            return Document([kernel.results.to_table(frame)], signature)
        line = f"{count} {plural(count, 'document')} to judge, {self.left} more unjudged"
        if self.settings.strategy in BY_MEASURE and self.left and count < self.settings.budget:
            what = "the order of two runs by " if self.settings.strategy == "pairs" else ""
            line += f", none of which could change {what}{self.measure.label}"
        return Document([line, self._table()] if count else [line], signature)

    def _table(self) -> Table:
        """A row for each document."""
        table = display_table(
            self.frame,
            topic=("topic", "text"),
            docno=("docno", "text"),
            weight=("weight", "number"),
            runs=("runs", "count"),
            best_rank=("best rank", "count"),
            wanted_by=("wanted by", "text"),
        )
        texts = [" ".join(one[:WANTED]) + (" …" if len(one) > WANTED else "") for one in self.wanted]
        weights = Column("weight", "figures")
        columns = [weights if one.name == weights.name else one for one in table.columns]
        at = columns.index(weights)
        rows = [
            [*row[:at], f"{row[at]:.4g}", *row[at + 1 : -1], text] for row, text in zip(table.rows, texts, strict=True)
        ]
        return Table(columns, rows)

    def __repr__(self) -> str:
        return f"<ToJudge {len(self.frame)} documents by {self.settings.strategy}>"


@takes_options("reading", "queries")
@public
@shares_work
def to_judge(
    runs: Any,
    qrels: Any = None,
    strategy: Weighing = DEFAULT,
    *,
    budget: Budget = 100,
    measure: By = "ndcg@10",
    persistence: Persistence = 0.8,
    pool_depth: PoolDepth = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> ToJudge:
    """The unjudged documents of runs that are to be judged next.

    strategy     `depth`: by the best rank in any run. `rbp-a`, `rbp-b`, `rbp-c`: the methods A to C of Moffat, Webber &
                 Zobel, SIGIR 2007: the weight of the document in rank-biased precision, summed over runs; each run
                 weighed by its residual on the topic; and by the cube of its projected score, base + residual/2, too.
                 `residual`: how far it would lift the means of runs by `measure` if it had the top gain, as have those
                 chosen before it, summed over runs. `pairs`: how far it would change the differences of runs whose
                 order judging could reverse
    budget       how many documents at most
    measure      of `residual` and `pairs`
    persistence  persistence of the RBP methods
    pool_depth   documents below this rank are not asked for; None: all may be

    `rbp-b` and `rbp-c` choose one after the other: a run's residual shrinks with each document chosen. So do `residual`
    and `pairs`, each document given those before it; where none adds anything more they begin anew, as if those chosen
    were not relevant, and they leave out documents that cannot change a score, so that there may be fewer than the
    budget. `depth` and `rbp-a` weigh each document by itself. The other arguments are those of `evaluate`. Returns
    `ToJudge`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does, for `judged_only`, and where `residual` or
    `pairs` go by a measure without residual.
    """
    options = resolve_options(like, **keywords)
    named, by = kernel.named_runs(runs), parse_measures(measure)[0]
    settings = JudgingSettings(strategy, budget, persistence, pool_depth)
    scorer = _scorer(named, qrels, by, options, strategy)
    ranked = ranked_runs.rank_runs(named, scorer.grader)
    best = ranked.best_rank
    # What the qrels list is not asked for again, not even where its grade counts as unjudged.
    candidates = np.flatnonzero(
        (ranked.code >= len(scorer.qrels.labels)) & (best <= (settings.pool_depth or ranked_runs.NOWHERE))
    )
    chosen, weights = choose(ranked, scorer, candidates, settings)
    notes = emit_notes(ranked.notes if qrels is None else [*scorer.notes, *ranked.notes])
    wanted = _wanted(ranked, chosen)
    frame = _frame(ranked, chosen, weights, best, wanted)
    return ToJudge(frame, wanted, len(candidates) - len(chosen), settings, scorer.measures[0], notes, options.texts)


def _scorer(runs: Mapping[str, Any], qrels: Any, measure: Measure, options: Options, strategy: Strategy) -> Scorer:
    """What scores the runs. Raises InputError (usage) where a strategy goes by what is not there."""
    if options.judged_only:
        raise InputError(flag.judged_only, "leaves no unjudged document to ask for", "leave it out", usage=True)
    if strategy in BY_MEASURE and measure.residual == "none":
        what = f"{measure.label} has no residual, by which {flag.strategy:{strategy}} goes"
        raise InputError(flag.measures, what, "choose another measure or strategy", usage=True)
    if qrels is None:
        judged = kernel.Qrels.none((0.0, options.top_of(1.0)))
        options = replace(options, topics="run")
    else:
        judged = kernel.qrels_for(runs, qrels, options)
    scorer = kernel.Scorer(judged, [measure], replace(options, residuals="total"))
    ranked_runs.check_maskable(scorer, options, flag.to_judge)
    return scorer


def choose(ranked: RankedRuns, scorer: Scorer, candidates: Ints, settings: JudgingSettings) -> tuple[Ints, Floats]:
    """The documents to judge, among the candidates, and their weights; the most telling first, of equal ones the one
    with the better rank, then in the order of topics and docnos."""
    names, best = ranked.numbers.names(candidates), ranked.best_rank[candidates]
    # As bytes they are sorted sooner, in the same order.
    docnos = np.array(names) if b"".join(names).isascii() else ranked.docnos(candidates).astype(str)
    candidates = candidates[np.lexsort((docnos, ranked.topic[candidates], best))]
    if settings.strategy in BY_MEASURE:
        pairs = settings.strategy == "pairs"
        chosen, weights = choose_by_measure(ranked, scorer, candidates, settings.budget, pairs=pairs)
    elif settings.strategy in ("rbp-b", "rbp-c"):
        cubed = settings.strategy == "rbp-c"
        chosen, weights = choose_by_residual(
            ranked, scorer, candidates, settings.budget, settings.persistence, cubed=cubed
        )
    else:
        each = depth_weights(ranked) if settings.strategy == "depth" else rbp_weights(ranked, settings.persistence)
        weights = each[candidates]
        chosen = np.argsort(-weights, kind="stable")[: settings.budget]
        weights = weights[chosen]
    return candidates[chosen], weights


def _wanted(ranked: RankedRuns, chosen: Ints) -> list[list[str]]:
    """Of each document: which runs have it at which rank, the best first."""
    found: list[list[tuple[int, str]]] = [[] for _ in chosen]
    place = _places_among(ranked, chosen)
    for run in ranked.runs:
        places = place[run.document]
        hits = np.flatnonzero(places >= 0)
        for number, rank in zip(places[hits].tolist(), run.rank[hits].tolist(), strict=True):
            found[number].append((rank, run.name))
    return [[f"{name}:{rank}" for rank, name in sorted(one, key=itemgetter(0))] for one in found]


def _frame(ranked: RankedRuns, chosen: Ints, weights: Floats, best: Ints, wanted: list[list[str]]) -> pd.DataFrame:
    names = np.array(ranked.names, dtype=object)
    return kernel.results.to_frame(
        {
            "topic": names[ranked.topic[chosen]],
            "docno": ranked.docnos(chosen),
            "weight": weights,
            "runs": [len(one) for one in wanted],
            "best_rank": best[chosen],
            "wanted_by": [" ".join(one) for one in wanted],
        }
    )


def qrels_lines(found: ToJudge) -> str:
    """What to judge as lines of a qrels file that lack the grade."""
    return "".join(f"{row['topic']} 0 {row['docno']}\n" for row in kernel.results.to_rows(found.frame))
