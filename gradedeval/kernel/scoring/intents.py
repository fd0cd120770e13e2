"""Batches by intent: the gains of documents for each intent of a topic, and its probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gradedeval.errors import InputError, flag, plural, shorten
from gradedeval.kernel.measures.definition import Measure
from gradedeval.kernel.measures.gains import Gains, GainTable, Grades, gain_table
from gradedeval.kernel.measures.notation import UNIFORM
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec.lines import decode, encode

if TYPE_CHECKING:
    from gradedeval.kernel.measures.diversity import Intents, Pool


def check_intents(measures: Iterable[Measure], subtopics: bool) -> None:
    """Raise InputError (usage) if a measure weighs intents but the qrels are read without them."""
    for measure in measures:
        if not subtopics and (measure.prior is not None or prior_of(measure) != UNIFORM):
            hint = f"add {flag.subtopics:True} if the second column of the qrels holds them"
            raise InputError(f"'{measure}'", "the qrels have no intents", hint, usage=True)


def prior_of(measure: Measure) -> str:
    """Return the source of the probabilities of intents: `uniform`, or `@FILE`."""
    return measure.prior or str(measure.arguments.get("prior", UNIFORM))


class ByIntent:
    """The gains of one measure by intent; qrels without subtopics have one intent per topic. `notes`: unused
    probabilities."""

    def __init__(self, qrels: Qrels, measure: Measure, grades: Grades) -> None:
        self.qrels = qrels
        self.names = qrels.subtopics.names if qrels.subtopics else {}
        self.prior = None if prior_of(measure) == UNIFORM else read_prior(prior_of(measure)[1:])
        self.notes = [] if self.prior is None else self.prior.notes(self.names)
        self.names = self.names if self.prior is None else self.prior.with_names(self.names)
        self.pools: dict[bytes, Pool] = {}
        if qrels.subtopics is None:
            self.tables = [gain_table(measure, grades)]
            return
        # Documents have grade 0 for an intent without judgments.
        labels, code = np.unique(np.append(qrels.subtopics.grade, 0.0), return_inverse=True)
        table = gain_table(measure, replace(grades, labels=labels))
        gain_of_cell = table.gain_of_label[code.ravel()]
        judged_gains = gain_of_cell[:-1].reshape(qrels.subtopics.grade.shape)
        more = max(map(len, self.names.values())) - len(judged_gains)
        unknown = [np.full(len(qrels.labels), gain_of_cell[-1])] * more
        self.tables = [GainTable(gains, table.top, table.gain_of_label) for gains in [*judged_gains, *unknown]]

    def intents_of(self, topics: list[bytes], gains_of: Callable[[GainTable], Gains], best: bool) -> Intents:
        """Return the gains by intent of a batch of topics; a topic without intents gets one without judgments. `best`:
        whether any intent may have a relevant document."""
        from gradedeval.kernel.measures.diversity import Intents  # few evaluations are by intent

        minimum = 1 if self.qrels.subtopics is None else 0
        counts = np.array([max(minimum, len(self.names.get(topic, ()))) for topic in topics], dtype=np.int64)
        each = [gains_of(table) for table in self.tables[: int(counts.max(initial=1))]]
        judged_intents = np.array([gains.num_relevant > 0 for gains in each]) & (np.arange(len(each))[:, None] < counts)
        listed = np.arange(len(each))[:, None] < np.maximum(counts, 1)
        weight, may_open = judged_intents.astype(np.float64), listed & ~judged_intents
        if self.prior is not None:
            weight, may_open = np.zeros(weight.shape), np.zeros_like(judged_intents)
            for column, topic in enumerate(topics):
                chances = self._probabilities(topic, np.flatnonzero(judged_intents[:, column]).tolist())
                weight[: len(chances), column] = chances
        return Intents(each, weight, listed, lambda row: self._pool(topics[row]), best, may_open)

    def _probabilities(self, topic: bytes, judged: list[int]) -> list[float]:
        """Return the probabilities of a topic's intents."""
        assert self.prior is not None
        names, chances = self.names.get(topic, []), self.prior.chance.get(topic, {})
        missing = [decode(names[intent]) for intent in judged if names[intent] not in chances]
        if missing:
            problem = f"no probability for subtopic {shorten(missing)} of topic {decode(topic)}"
            raise InputError(self.prior.place, problem, "add a line for each, with 0 if no user means it")
        return [chances.get(name, 0.0) for name in names]

    def _pool(self, topic: bytes) -> Pool:
        from gradedeval.kernel.measures.diversity import Pool

        if topic not in self.pools:
            documents = self.qrels.codes.get(topic, {})
            codes = [documents[docno] for docno in sorted(documents, reverse=True)]
            intents = max(1, len(self.names.get(topic, ())))
            gains = np.array([table.gain_of_label for table in self.tables[:intents]]).T[codes]
            self.pools[topic] = Pool(gains[(gains > 0).any(1)])
        return self.pools[topic]


FIELDS = ("topic", "subtopic", "probability")
ROUNDED = 0.01
"""The tolerated error of the sum of a topic's probabilities, which often have two or three digits."""


@dataclass(eq=False, repr=False)
class Prior:
    """Probabilities of intents, `chance`: topic -> subtopic -> probability, with the sum 1 for each topic."""

    place: str
    chance: dict[bytes, dict[bytes, float]]

    def with_names(self, names: Mapping[bytes, list[bytes]]) -> dict[bytes, list[bytes]]:
        """Return topic -> subtopics: first with judgments, then with a probability only."""
        topics = dict.fromkeys([*names, *self.chance])
        judged = {topic: names.get(topic, []) for topic in topics}
        listed = {topic: self.chance.get(topic, {}).keys() for topic in topics}
        return {topic: [*judged[topic], *sorted(listed[topic] - set(judged[topic]))] for topic in topics}

    def notes(self, names: Mapping[bytes, list[bytes]]) -> list[str]:
        """Return notes on probabilities without effect and on subtopics without a probability."""
        others = [decode(topic) for topic in self.chance if topic not in names]
        lost = [
            f"{decode(subtopic)} of {decode(topic)}"
            for topic, listed in self.chance.items()
            for subtopic in listed.keys() - set(names.get(topic, listed))
        ]
        messages = []
        if others:
            messages.append(f"{self.place}: {len(others)} {plural(len(others), 'unjudged topic')} ({shorten(others)})")
        if lost:
            count = f"{len(lost)} {plural(len(lost), 'subtopic')} without judgments ({shorten(sorted(lost))})"
            messages.append(f"{self.place}: {count}; {'it scores' if len(lost) == 1 else 'they score'} 0")
        return messages


def read_prior(path: str) -> Prior:
    """Read probabilities from a file with lines of topic, subtopic and probability. A topic's probabilities are divided
    by their sum, which must be 1 up to rounding."""
    from gradedeval.kernel.trec.small_tables import SmallTable  # few evaluations need a table

    table = SmallTable.read(path, FIELDS, hint=f"expected lines of '{' '.join(FIELDS)}'", words=True)
    chance: dict[bytes, dict[bytes, float]] = {}
    last: dict[bytes, int] = {}
    for row in table.rows:
        topic, subtopic = encode(row.cells["topic"]), encode(row.cells["subtopic"])
        last[topic] = row.line
        chance.setdefault(topic, {})[subtopic] = table.number(row, "probability", 0, 1)
    keys = [(row.cells["topic"], row.cells["subtopic"]) for row in table.rows]
    table.check(keys, ("subtopic", "topic"))
    sums = {topic: sum(chances.values()) for topic, chances in chance.items()}
    for topic, total in sums.items():
        if abs(total - 1) > ROUNDED:
            problem = f"the probabilities of topic {decode(topic)} sum to {total:g}"
            table.problems.add(last[topic], problem, "they must sum to 1")
    table.check()
    scaled = {topic: {name: each / sums[topic] for name, each in chances.items()} for topic, chances in chance.items()}
    return Prior(table.place, scaled)
