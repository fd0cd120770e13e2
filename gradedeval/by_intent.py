"""Batches by intent: the gains that each intent of a topic gives its documents, and how probable it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gradedeval.errors import Fault, some
from gradedeval.gains import Gains
from gradedeval.intents import UNIFORM, Intents, Pool
from gradedeval.measures import Measure
from gradedeval.priors import read_prior
from gradedeval.schemes import GainTable, Grades
from gradedeval.trec.lines import text
from gradedeval.trec.qrels import Qrels


def check_intents(measures: Iterable[Measure], subtopics: bool) -> None:
    """Raise Fault (usage) where a measure weighs intents, and the qrels are read without them."""
    for measure in measures:
        if not subtopics and (measure.prior is not None or prior_of(measure) != UNIFORM):
            cure = "add --subtopics: the second column of the qrels tells them"
            raise Fault(f"'{measure}'", "there are no intents", cure, usage=True)


def prior_of(measure: Measure) -> str:
    """Where the probabilities of the intents come from: `uniform`, or `@FILE`."""
    return measure.prior or str(measure.own.get("prior", UNIFORM))


class ByIntent:
    """How one measure sees batches by intent; qrels without subtopics have one intent a topic.

    table_of  the measure's gains on a scale of grades

    notes: what of the intents' probabilities is not used. Raises Fault where they cannot be read.
    """

    def __init__(
        self, qrels: Qrels, measure: Measure, grades: Grades, table_of: Callable[[Measure, Grades], GainTable]
    ) -> None:
        self.qrels = qrels
        self.names = qrels.subtopics.names if qrels.subtopics else {}
        self.prior = None if prior_of(measure) == UNIFORM else read_prior(prior_of(measure)[1:])
        self.notes = [] if self.prior is None else self.prior.notes(self.names)
        self.names = self.names if self.prior is None else self.prior.with_names(self.names)
        self.pools: dict[bytes, Pool] = {}
        if qrels.subtopics is None:
            self.tables = [table_of(measure, grades)]
            return
        # Grade 0 is that of every document for an intent of which the qrels know nothing.
        labels, code = np.unique(np.append(qrels.subtopics.grade, 0.0), return_inverse=True)
        table = table_of(measure, Grades(labels, grades.top, grades.told, grades.max_gain))
        worth = table.worth[code.ravel()]
        known = worth[:-1].reshape(qrels.subtopics.grade.shape)
        unknown = [np.full(len(qrels.labels), worth[-1])] * (max(map(len, self.names.values())) - len(known))
        self.tables = [GainTable(one, table.top, table.worth) for one in [*known, *unknown]]

    def seen(self, topics: list[bytes], gains_of: Callable[[GainTable], Gains], best: bool) -> Intents:
        """A batch of these topics. A topic without intents has one of which nothing is known.

        best  in the best case, where any intent may turn out to have a relevant document
        """
        least = 1 if self.qrels.subtopics is None else 0
        counts = np.array([max(least, len(self.names.get(topic, ()))) for topic in topics], dtype=np.int64)
        each = [gains_of(table) for table in self.tables[: int(counts.max(initial=1))]]
        known = np.array([one.R > 0 for one in each]) & (np.arange(len(each))[:, None] < counts)
        listed = np.arange(len(each))[:, None] < np.maximum(counts, 1)
        if self.prior is None:
            return Intents(each, known.astype(np.float64), listed, self._pools(topics), best, listed & ~known & best)
        weight = np.zeros((len(each), len(topics)))
        for at, topic in enumerate(topics):
            own = self._probabilities(topic, np.flatnonzero(known[:, at]).tolist())
            weight[: len(own), at] = own
        return Intents(each, weight, listed, self._pools(topics), best, np.zeros_like(known))

    def _probabilities(self, topic: bytes, known: list[int]) -> list[float]:
        """The probabilities of a topic's intents, of which these have a relevant document."""
        assert self.prior is not None
        names, given = self.names.get(topic, []), self.prior.chance.get(topic, {})
        missing = [text(names[at]) for at in known if names[at] not in given]
        if missing:
            what = f"no probability for subtopic {some(missing)} of topic {text(topic)}"
            raise Fault(self.prior.place, what, "give each a line, with 0 if nobody means it")
        return [given.get(name, 0.0) for name in names]

    def _pools(self, topics: list[bytes]) -> Callable[[int], Pool]:
        return lambda row: self._pool(topics[row])

    def _pool(self, topic: bytes) -> Pool:
        if topic not in self.pools:
            documents = self.qrels.codes.get(topic, {})
            codes = [documents[docno] for docno in sorted(documents, reverse=True)]
            intents = max(1, len(self.names.get(topic, ())))
            worth = np.array([table.worth for table in self.tables[:intents]]).T[codes]
            self.pools[topic] = Pool(worth[(worth > 0).any(1)])
        return self.pools[topic]
