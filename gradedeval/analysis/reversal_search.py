"""Judgments that reverse the order of two runs: looked for topic by topic, and scored."""

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
"""No more documents that neither run retrieved are taken as relevant in a topic."""
MAX_TOGGLED = 24
"""Documents of a topic, the first in either run, that are judged the other way one by one."""
ROUNDS = 6
"""How often the best of these changes is made."""
NO_TOPIC = b"\n"
"""The name of topics whose judgments are not those of the qrels, and which therefore have no ideal ranking there."""


@dataclass(frozen=True, eq=False, repr=False)
class RankedTopics:
    """A run by topics × ranks. `number`: that of each unjudged document, 0 of others."""

    batch: Batch
    number: Ints

    @classmethod
    def of(cls, parts: Sequence[Part], topics: Sequence[str]) -> RankedTopics:
        """The parts of a run as one, its topics in this order."""
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
    """The unjudged documents of one topic: the rank of each in the run behind and in the run ahead, from 0; `NOWHERE`
    where it is not there."""

    behind: Ints
    ahead: Ints


Choice = tuple[int, Bools, int]
"""A topic, which of its documents are relevant, and how many that neither run retrieved."""


class ReversalSearch:
    """The runs of an evaluation by one measure, in whose unjudged documents reversals are looked for."""

    def __init__(self, reread: RereadRuns, paired: Paired) -> None:
        self.reread, self.paired, self.scorer = reread, paired, reread.scorer
        column = reread.column[paired.measure]
        self.measure, self.table = self.scorer.measures[column], self.scorer.tables[column]
        self.unseen = int(min(self.scorer.options.unseen or 0, MOST_UNSEEN))
        self.runs: dict[str, RankedTopics | None] = {}

    @property
    def is_open(self) -> bool:
        """Whether a document judged later may be given a grade here: not where gains depend on more than it."""
        options, definition = self.scorer.options, self.measure.definition
        more = options.costs is not None or options.fill is not None or options.ties == "average"
        more = more or self.measure.by_intent or self.measure.judged_only or definition.uses_strata
        return not more and bool(self.table.gain_of_label.max(initial=0) > 0)

    def reverses(self, run: str, ahead: str) -> bool:
        """Whether judgments have been found by which the first run comes to lie above the second, which has the higher
        score or the same.

        Tried are, in each topic by itself, the unjudged documents that serve the run behind more, some number of the
        first of them, without and with documents that serve neither or the run ahead less than they raise what scores
        are divided by; and then single documents. What is found is scored with all that it changes. That none is found
        proves nothing.
        """
        both = [self._ranked(name) for name in (run, ahead)]
        if both[0] is None or both[1] is None or not self.is_open:
            return False
        behind, other = both[0], both[1]
        topics = [_topic_documents(one, two) for one, two in zip(behind.number, other.number, strict=True)]
        needed = TOLERANCE * len(topics)
        choices = [choice for number, topic in enumerate(topics) for choice in self._first(number, topic)]
        best, value = _best_choices(choices, self._scored(behind, other, topics, choices), len(topics))
        for _ in range(ROUNDS):
            if value.sum() > needed:
                return True
            choices = [changed for choice in best for changed in self._changed(choice, topics[choice[0]])]
            found, better = _best_choices(choices, self._scored(behind, other, topics, choices), len(topics))
            if better.sum() <= value.sum() + TOLERANCE:
                return False
            best, value = found, better
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
        """The choices of a topic that are tried first: none of the documents is one."""
        lifting = np.flatnonzero(topic.behind < topic.ahead)
        lifting = lifting[np.argsort(topic.behind[lifting], kind="stable")]
        others = topic.behind >= topic.ahead
        last = self.measure.cutoff or 0
        hidden = others & (topic.ahead >= last) if last else np.zeros_like(others)
        found: list[Choice] = []
        for count in _prefix_counts(len(lifting)):
            chosen = np.zeros(len(others), dtype=bool)
            chosen[lifting[:count]] = True
            found.append((number, chosen, 0))
            for more in (hidden, others):
                if more.any():
                    found.append((number, chosen | more, self.unseen))
            for unseen in {1, self.unseen // 8, self.unseen} if self.unseen else ():
                found.append((number, chosen, unseen))
        return found

    def _changed(self, choice: Choice, topic: TopicDocuments) -> list[Choice]:
        """A choice, and each that differs by one document."""
        number, chosen, unseen = choice
        found = [choice]
        for place in np.argsort(np.minimum(topic.behind, topic.ahead), kind="stable")[:MAX_TOGGLED].tolist():
            other = chosen.copy()
            other[place] = not other[place]
            found.append((number, other, unseen))
        return found + [
            (number, chosen, other) for other in (unseen - 1, unseen + 1, 2 * unseen) if 0 <= other <= self.unseen
        ]

    def _scored(
        self, behind: RankedTopics, ahead: RankedTopics, topics: list[TopicDocuments], choices: list[Choice]
    ) -> Floats:
        """choices: the score of the run behind less that of the run ahead."""
        width = behind.number.shape[1] + ahead.number.shape[1]
        size, found = max(1, CELLS // max(width, 1)), [np.zeros(0)]
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
            found.append(values[0] - values[1])
        return np.concatenate(found)

    def _values(self, run: RankedTopics, rows: Ints, relevant: Bools, more: Ints) -> Floats:
        """The tested scores of topics at some rows: the documents at these ranks have the best grade there is, as have
        `more` documents of the pool, these included."""
        label = int(self.table.gain_of_label.argmax())
        codes, known = run.batch.codes[rows], run.batch.pool.select(rows)
        codes[relevant] = label
        topic, code = np.append(known.topic, np.arange(len(rows))), np.append(known.code, np.full(len(rows), label))
        pool = GradeCounts.summed(topic, code, np.append(known.count, more), len(rows), known.labels)
        batch = replace(run.batch, topics=[NO_TOPIC] * len(rows), codes=codes, retrieved=run.batch.retrieved[rows])
        gains = GainsCache(replace(batch, pool=pool), self.scorer.grader, self.scorer.by_intent)
        return self.paired.reading.tested(scores_of(self.measure, gains(self.table, self.measure)))


def _topic_documents(behind: Ints, ahead: Ints) -> TopicDocuments:
    """Of a topic, by the number of the unjudged document at each rank, 0 where there is none."""
    numbers = np.unique(np.append(behind[behind > 0], ahead[ahead > 0]))
    ranks = []
    for run in (behind, ahead):
        at = np.flatnonzero(run)
        rank = np.full(len(numbers), NOWHERE)
        rank[np.searchsorted(numbers, run[at])] = at
        ranks.append(rank)
    return TopicDocuments(*ranks)


def _prefix_counts(most: int) -> list[int]:
    """0, 1, 2, 3, 4, 6, 8, 12, … to the most there are."""
    counts = [*range(min(most, 4) + 1)]
    while counts[-1] < most:
        counts.append(min(most, counts[-1] * 3 // 2 if counts[-1] & (counts[-1] - 1) == 0 else counts[-1] * 4 // 3))
    return counts


def _best_choices(choices: list[Choice], values: Floats, topics: int) -> tuple[list[Choice], Floats]:
    """The choice of each topic with the highest value, and topics: that value."""
    best = [-1] * topics
    for place, (number, _, _) in enumerate(choices):
        if best[number] < 0 or values[place] > values[best[number]]:
            best[number] = place
    return [choices[place] for place in best], values[best]
