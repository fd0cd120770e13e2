"""Search for judgments that reverse the order of two runs: chosen topic by topic, and scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradedeval.analysis.ranked_runs import NOWHERE
from gradedeval.analysis.reversals import CELLS, Part, RereadRuns
from gradedeval.analysis.score_matrix import Paired
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints
from gradedeval.kernel.measures.gains import scores_of
from gradedeval.kernel.rankings.batch import Batch, GradeCounts
from gradedeval.kernel.scoring.scorer import GainsCache

MOST_UNSEEN = 1000
"""Maximum documents of a topic, retrieved by neither run, that are assumed relevant."""
MAX_TOGGLED = 24
"""Documents of a topic, the first in either run, whose judgment is toggled one by one."""
ROUNDS = 6
"""Maximum rounds of best changes."""
NO_TOPIC = b"\n"
"""The name of topics with judgments that differ from the qrels: no cached ideal ranking applies to them."""


@dataclass(frozen=True, eq=False, repr=False)
class RankedTopics:
    """A run by topics × ranks; `number` has the numbers of unjudged documents, 0 for others."""

    batch: Batch
    number: Ints

    @classmethod
    def of(cls, parts: Sequence[Part], topics: Sequence[str]) -> RankedTopics:
        """Join the parts of a run, with topics in this order."""
        width, first = max(part.number.shape[1] for part in parts), parts[0].batch
        row = {topic: row for row, topic in enumerate(topics)}
        codes = np.full((len(topics), width), first.padding_code, dtype=first.codes.dtype)
        number = np.zeros((len(topics), width), dtype=np.int64)
        retrieved, cells = np.zeros(len(topics), np.int64), []
        for part in parts:
            rows = np.array([row[name] for name in part.names])
            codes[rows, : part.number.shape[1]] = part.batch.codes
            number[rows, : part.number.shape[1]] = part.number
            retrieved[rows] = part.batch.retrieved
            cells.append((rows[part.batch.pool.topic], part.batch.pool.code, part.batch.pool.count))
        topic, code, count = map(np.concatenate, zip(*cells, strict=True))
        pool = GradeCounts.summed(topic, code, count, len(topics), first.pool.labels)
        return cls(Batch([NO_TOPIC] * len(topics), codes, retrieved, pool), number)


@dataclass(frozen=True, eq=False, repr=False)
class TopicDocuments:
    """The unjudged documents of one topic: their ranks in the trailing and the leading run, from 0; `NOWHERE` if
    absent."""

    behind: Ints
    ahead: Ints


Choice = tuple[int, Bools, int]
"""A topic, a mask of its relevant documents, and the number of relevant ones that neither run retrieved."""


class ReversalSearch:
    """A search for reversals among the unjudged documents of runs, by one measure."""

    def __init__(self, reread: RereadRuns, paired: Paired) -> None:
        self.reread, self.paired, self.scorer = reread, paired, reread.scorer
        column = reread.column[paired.measure]
        self.measure, self.table = self.scorer.measures[column], self.scorer.tables[column]
        self.unseen = int(min(self.scorer.options.unseen or 0, MOST_UNSEEN))
        self.runs: dict[str, RankedTopics | None] = {}

    @property
    def is_open(self) -> bool:
        """Whether a document judged later may get a grade: not if gains depend on more than it."""
        options, definition = self.scorer.options, self.measure.definition
        more = options.costs is not None or options.fill is not None or options.ties == "average"
        more = more or self.measure.by_intent or self.measure.judged_only or definition.uses_strata
        return not more and bool(self.table.gain_of_label.max(initial=0) > 0)

    def reverses(self, run: str, ahead: str) -> bool:
        """Return whether judgments were found that put `run` above `ahead`, which has a score at least as high. In each
        topic the candidates are: some number of the first unjudged documents that serve the trailing run more, without
        and with documents that serve neither run, or the leading run less than they raise the divisor of scores; then
        single documents. Findings are scored with all their effects. A failed search proves nothing."""
        both = [self._ranked(name) for name in (run, ahead)]
        if both[0] is None or both[1] is None or not self.is_open:
            return False
        behind, leader = both[0], both[1]
        topics = [_topic_documents(a, b) for a, b in zip(behind.number, leader.number, strict=True)]
        needed = TOLERANCE * len(topics)
        choices = [choice for number, topic in enumerate(topics) for choice in self._first(number, topic)]
        best, value = _best_choices(choices, self._scored(behind, leader, topics, choices), len(topics))
        for _ in range(ROUNDS):
            if value.sum() > needed:
                return True
            choices = [changed for choice in best for changed in self._changed(choice, topics[choice[0]])]
            improved, better = _best_choices(choices, self._scored(behind, leader, topics, choices), len(topics))
            if better.sum() <= value.sum() + TOLERANCE:
                return False
            best, value = improved, better
        return bool(value.sum() > needed)

    def _ranked(self, run: str) -> RankedTopics | None:
        if run not in self.runs:
            parts = self.reread.parts(run, self.paired.topics)
            self.runs[run] = ranked = None if not parts else RankedTopics.of(parts, self.paired.topics)
            if ranked is not None:
                every = np.arange(len(self.paired.topics))
                values = self._values(ranked, every, np.zeros(ranked.number.shape, dtype=bool), np.zeros_like(every))
                if not np.allclose(values, self.paired.values[self.paired.runs.index(run)], rtol=1e-9, atol=1e-9):
                    self.runs[run] = None  # the file has changed since
        return self.runs[run]

    def _first(self, number: int, topic: TopicDocuments) -> list[Choice]:
        """Return the first choices of a topic: none of the documents is one."""
        lifting = np.flatnonzero(topic.behind < topic.ahead)
        lifting = lifting[np.argsort(topic.behind[lifting], kind="stable")]
        others = topic.behind >= topic.ahead
        last = self.measure.cutoff or 0
        hidden = others & (topic.ahead >= last) if last else np.zeros_like(others)
        choices: list[Choice] = []
        for count in _prefix_counts(len(lifting)):
            chosen = np.zeros(len(others), dtype=bool)
            chosen[lifting[:count]] = True
            choices.append((number, chosen, 0))
            for more in (hidden, others):
                if more.any():
                    choices.append((number, chosen | more, self.unseen))
            for unseen in {1, self.unseen // 8, self.unseen} if self.unseen else ():
                choices.append((number, chosen, unseen))
        return choices

    def _changed(self, choice: Choice, topic: TopicDocuments) -> list[Choice]:
        """Return a choice, and all that differ from it by one document."""
        number, chosen, unseen = choice
        choices = [choice]
        for place in np.argsort(np.minimum(topic.behind, topic.ahead), kind="stable")[:MAX_TOGGLED].tolist():
            toggled = chosen.copy()
            toggled[place] = not toggled[place]
            choices.append((number, toggled, unseen))
        return choices + [
            (number, chosen, toggled) for toggled in (unseen - 1, unseen + 1, 2 * unseen) if 0 <= toggled <= self.unseen
        ]

    def _scored(
        self, behind: RankedTopics, ahead: RankedTopics, topics: list[TopicDocuments], choices: list[Choice]
    ) -> Floats:
        """Return for each choice the score of the trailing run less that of the leading run."""
        width = behind.number.shape[1] + ahead.number.shape[1]
        size, differences = max(1, CELLS // max(width, 1)), [np.zeros(0)]
        for begin in range(0, len(choices), size):
            some = choices[begin : begin + size]
            rows = np.array([number for number, _, _ in some])
            more = np.array([int(chosen.sum()) + unseen for _, chosen, unseen in some])
            values = []
            for run, name in ((behind, "behind"), (ahead, "ahead")):
                ranks = [getattr(topics[number], name)[chosen] for number, chosen, _ in some]
                row, rank = np.repeat(np.arange(len(some)), list(map(len, ranks))), np.concatenate(ranks)
                relevant = np.zeros((len(some), run.number.shape[1]), dtype=bool)
                relevant[row[rank < NOWHERE], rank[rank < NOWHERE]] = True
                values.append(self._values(run, rows, relevant, more))
            differences.append(values[0] - values[1])
        return np.concatenate(differences)

    def _values(self, run: RankedTopics, rows: Ints, relevant: Bools, more: Ints) -> Floats:
        """Return the tested scores of topics, with relevant ranks and `more` relevant documents at the best grade."""
        label = int(self.table.gain_of_label.argmax())
        codes, counts = run.batch.codes[rows], run.batch.pool.select(rows)
        codes[relevant] = label
        topic, code = np.append(counts.topic, np.arange(len(rows))), np.append(counts.code, np.full(len(rows), label))
        pool = GradeCounts.summed(topic, code, np.append(counts.count, more), len(rows), counts.labels)
        batch = replace(run.batch, topics=[NO_TOPIC] * len(rows), codes=codes, retrieved=run.batch.retrieved[rows])
        gains = GainsCache(replace(batch, pool=pool), self.scorer.grader, self.scorer.by_intent)
        return self.paired.reading.tested(scores_of(self.measure, gains(self.table, self.measure)))


def _topic_documents(behind: Ints, ahead: Ints) -> TopicDocuments:
    """Return the documents of a topic, from the number of the unjudged document at each rank, 0 for none."""
    numbers = np.unique(np.append(behind[behind > 0], ahead[ahead > 0]))
    ranks = []
    for run in (behind, ahead):
        positions = np.flatnonzero(run)
        rank = np.full(len(numbers), NOWHERE)
        rank[np.searchsorted(numbers, run[positions])] = positions
        ranks.append(rank)
    return TopicDocuments(*ranks)


def _prefix_counts(most: int) -> list[int]:
    """Return 0, 1, 2, 3, 4, 6, 8, 12, … up to `most`."""
    counts = [*range(min(most, 4) + 1)]
    while counts[-1] < most:
        counts.append(min(most, counts[-1] * 3 // 2 if counts[-1] & (counts[-1] - 1) == 0 else counts[-1] * 4 // 3))
    return counts


def _best_choices(choices: list[Choice], values: Floats, topics: int) -> tuple[list[Choice], Floats]:
    """Return the choice of each topic with the highest value, and that value."""
    best = [-1] * topics
    for place, (number, _, _) in enumerate(choices):
        if best[number] < 0 or values[place] > values[best[number]]:
            best[number] = place
    return [choices[place] for place in best], values[best]
