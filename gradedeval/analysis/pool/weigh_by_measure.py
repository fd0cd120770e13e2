"""What a judgment could change of a measure: documents chosen one after the other, each given those before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradedeval.analysis.contributions import lifted
from gradedeval.analysis.ranked_runs import RankedRuns
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.measures.applied import scores_of
from gradedeval.measures.gains import Gains
from gradedeval.rankings.batch import Batch, Codes
from gradedeval.scoring.scorer import Scorer
from gradedeval.scoring.summaries import tested

AT_ONCE = 1 << 20
"""Up to so many cells all weights that a choice may have changed are computed anew; above that, the heaviest alone."""


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

    judged: Gains
    best: Gains
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
        self.summary = self.measure.definition.summary
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
            np.nansum(tested(values, self.summary), axis=1) / self.topics_of_run for values in (score, most)
        )
        self.begin()

    def _most(self) -> Floats:
        """runs × topics: the scores if every unjudged document had the top gain."""
        scores = [scores_of(self.measure, topic.best) for topic in self.topics]
        return np.minimum(np.stack(scores, axis=1), self.measure.definition.ceiling)

    def begin(self) -> None:
        """With the judgments alone."""
        self.as_judged = True
        self.means, self.stale = self.judged_means.copy(), np.zeros(len(self.open), dtype=bool)
        self.unsettled = self._unsettled()
        self.gains = [topic.judged for topic in self.topics]
        ceiling = self.measure.definition.ceiling
        self.scores = [
            tested(np.minimum(scores_of(self.measure, gains), ceiling), self.summary) for gains in self.gains
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
        after = tested(lifted(self.measure, gains, topic.best, runs, ranks), self.summary)
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
        after = tested(lifted(self.measure, self.gains[at], topic.best, runs, self.rank[entry]), self.summary)
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


def _entries(ranked: RankedRuns, candidates: Ints, last: int | None) -> tuple[Ints, Ints, Ints]:
    """Of each place of a candidate in a run that the measure sees: the run, the rank from 0, and the candidate."""
    number_of = np.full(len(ranked), -1)
    number_of[candidates] = np.arange(len(candidates))
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
    pool = np.tile(ranked.pool[topic], (len(counts), 1))
    width = int(min(counts.max(initial=0), np.inf if last is None else last))
    codes: Codes = np.full((len(counts), width), pool.shape[1] + 1)
    for row, run in enumerate(ranked.runs):
        some = ranked.code[run.of_topic(topic)[:width]]
        codes[row, : len(some)] = some
    return Batch([name] * len(counts), codes, counts, pool)
