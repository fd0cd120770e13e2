"""Several runs by document: a document of a topic has one number in all of them, and what became of it is a lookup."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.errors import InputError
from gradedeval.options import OPTIONS, Options
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import EVERY_TOPIC, Batch, Codes, Documents, positions_of, ranks
from gradedeval.rankings.grade import Grader
from gradedeval.scoring.doubts import doubts_of, not_too_many, united
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.run_parts import GradedRun, grade_run
from gradedeval.scoring.scorer import Scorer
from gradedeval.trec.lines import decode

if TYPE_CHECKING:
    pass

NOWHERE = np.iinfo(np.int32).max
"""The rank of a document that a run did not retrieve: below all others."""


@dataclass(frozen=True, eq=False, repr=False)
class RankedRun:
    """One run as columns, topic after topic, each in rank order.

    place     what messages call it
    document  the numbers of its documents
    counts    topics: how many of them
    first     the rank, from 0, at which the documents tied with each one begin; None where ties were not asked for
    listed    topics: whether it counts for this run
    missing   how many topics it lacks
    """

    name: str
    place: str
    document: Ints
    counts: Ints
    first: Ints | None
    listed: Bools
    missing: int

    @cached_property
    def rank(self) -> Ints:
        """Of each of its documents, from 1."""
        return ranks(self.counts) + 1

    @cached_property
    def begin(self) -> Ints:
        """topics: where their documents begin."""
        begin: Ints = np.cumsum(self.counts) - self.counts
        return begin

    def of_topic(self, topic: int) -> Ints:
        """The documents of one topic, the best first."""
        return self.document[self.begin[topic] : self.begin[topic] + self.counts[topic]]

    def ranks_of(self, documents: int) -> Ints:
        """document: its rank, `NOWHERE` where this run did not retrieve it."""
        found = np.full(documents, NOWHERE, dtype=np.int64)
        found[self.document] = self.rank
        return found


@dataclass(frozen=True, eq=False, repr=False)
class RankedRuns:
    """Runs joined with one qrels.

    topics  the ids: in the order of the qrels, those that are not judged last
    code    documents: the code of its grade
    topic   documents: its topic's row
    notes   what is said of topics and lines left out
    """

    runs: list[RankedRun]
    topics: list[bytes]
    code: Codes
    topic: Ints
    grader: Grader
    numbering: Mapping[bytes, Mapping[bytes, int]]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.code)

    @cached_property
    def docnos(self) -> Any:
        """documents: its docno, as text."""
        docnos = np.empty(len(self), dtype=object)
        for numbers in self.numbering.values():
            docnos[list(numbers.values())] = [decode(docno) for docno in numbers]
        return docnos

    @property
    def names(self) -> list[str]:
        """The topics as text."""
        return [decode(topic) for topic in self.topics]

    @cached_property
    def judged(self) -> Bools:
        """documents: whether it is judged."""
        judged: Bools = self.grader.judged[self.code]
        return judged

    @cached_property
    def pool(self) -> Ints:
        """topics × labels: how many judged documents have each."""
        return self.grader.qrels._pool_of(self.topics)

    @cached_property
    def retrieved_by(self) -> Ints:
        """documents: how many runs retrieved it."""
        by: Ints = np.bincount(np.concatenate([run.document for run in self.runs]), minlength=len(self))
        return by

    @cached_property
    def best_rank(self) -> Ints:
        """documents: the best rank in any run."""
        best: Ints = np.full(len(self), NOWHERE, dtype=np.int64)
        for run in self.runs:
            np.minimum.at(best, run.document, run.rank)
        return best

    def grades(self, documents: Ints) -> Floats:
        """The grades of documents, nan where they have none."""
        labels = np.append(self.grader.qrels.labels, np.nan)
        grades: Floats = labels[np.minimum(self.code[documents], len(labels) - 1)]
        return grades

    def batches(
        self, run: RankedRun, grader: Grader, code: Codes | None = None, pool: Ints | None = None
    ) -> Iterator[Batch]:
        """The batches of a run, as measures take them; with other grades of documents and another pool where given."""
        codes = (self.code if code is None else code)[run.document]
        row = {topic: number for number, topic in enumerate(self.topics)}
        for batch in grader.batches(Documents(self.topics, run.counts, codes, None, None, lambda position: b"")):
            yield replace(batch, pool=(self.pool if pool is None else pool)[[row[topic] for topic in batch.topics]])

    def of_topics(self, topics: Ints) -> RankedRuns:
        """The same documents, in some of the topics alone. Documents keep their numbers."""
        runs = []
        for run in self.runs:
            chosen = positions_of(run.counts, topics)
            first = None if run.first is None else run.first[chosen]
            document, counts = run.document[chosen], run.counts[topics]
            runs.append(replace(run, document=document, counts=counts, first=first, listed=run.listed[topics]))
        row = np.full(len(self.topics), -1)
        row[topics] = np.arange(len(topics))
        named = [self.topics[topic] for topic in topics.tolist()]
        return replace(self, runs=runs, topics=named, topic=row[self.topic])

    def scores(self, scorer: Scorer, code: Codes | None = None, pool: Ints | None = None) -> Floats:
        """3 × runs × topics × measures: score, residual by the unjudged and residual in all, as `Scorer.score_batch`;
        nan where a topic does not count for a run."""
        scorer = scorer if pool is None else of_another_pool(scorer)
        values = np.full((3, len(self.runs), len(self.topics), len(scorer.measures)), np.nan)
        row = {topic: number for number, topic in enumerate(self.topics)}
        for number, run in enumerate(self.runs):
            for batch in self.batches(run, scorer.grader, code, pool):
                values[:, number, [row[topic] for topic in batch.topics]] = scorer.score_batch(batch).values
            values[:, number, ~run.listed] = np.nan
        return values


def rank_runs(
    runs: Mapping[str, Any], grader: Grader, workers: Workers | None = None, scorer: Scorer | None = None
) -> RankedRuns:
    """Read runs, and number their documents. Raises InputError where one cannot be read, or has no topic of the
    qrels.

    scorer  whose scores are shown: what may mislead in them is among the notes
    """
    if grader.options.ties == "average":
        raise OPTIONS["ties"].error("an average over orders has no ranks", "choose an order")
    grader = replace(grader, keep_docnos_for=EVERY_TOPIC, last_rank=None, types=False)
    workers, following = workers or Workers(), count()
    numbering: dict[bytes, defaultdict[bytes, int]] = {}
    read = []
    for name, source in workers.progress(iter(runs.items()), len(runs)):
        run = grade_run(source, grader, workers.silent())
        read.append((name, run, _numbered(run, numbering, following)))
    topics = [topic for topic in grader.qrels.topics if topic in numbering]
    topics += [topic for topic in numbering if topic not in grader.qrels._row]
    total = sum(map(len, numbering.values()))
    code, topic_of = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    ranked = []
    for name, run, columns in read:
        empty = np.empty(0, dtype=np.int64)
        of_topic = [columns.get(topic, (empty, empty, empty)) for topic in topics]
        document, codes, first = (np.concatenate([part[column] for part in of_topic]) for column in range(3))
        counts = np.array([len(part[0]) for part in of_topic], dtype=np.int64)
        code[document], topic_of[document] = codes, np.repeat(np.arange(len(topics)), counts)
        listed = np.array([topic in columns for topic in topics])
        ties = first if grader.keep_ties else None
        ranked.append(RankedRun(name, run.place, document, counts, ties, listed, run.missing))
    said = [not_too_many([*run.notes, *(doubts_of(run, scorer) if scorer else ())]) for _, run, _ in read]
    notes = united(dict.fromkeys(chain.from_iterable(said)))
    return RankedRuns(ranked, topics, code, topic_of, grader, numbering, notes)


def _numbered(
    run: GradedRun[Batch], numbering: dict[bytes, defaultdict[bytes, int]], following: Iterator[int]
) -> dict[bytes, tuple[Ints, Ints, Ints]]:
    """topic -> the numbers of its documents in rank order, their grade codes, and where their ties begin."""
    place = {topic: (batch, row) for batch in run.batches for row, topic in enumerate(batch.topics)}
    columns = {}
    for topic in run.topics:
        batch, row = place[topic]
        docnos = batch.docnos[topic]
        numbers = numbering.setdefault(topic, defaultdict(following.__next__))
        size = len(docnos)
        first = np.arange(size) if batch.first is None else batch.first[row, :size]
        numbered = np.fromiter(map(numbers.__getitem__, docnos), np.int64, size)
        columns[topic] = numbered, batch.codes[row, :size].astype(np.int64), first
    return columns


def of_another_pool(scorer: Scorer) -> Scorer:
    """The scorer without the ideal rankings that it knows: those of another pool differ."""
    other = copy(scorer)
    other.grader = replace(scorer.grader, ideals={})
    return other


def two_runs(baseline: Any, run: Any) -> dict[str, Any]:
    """Two runs by different names."""
    named = [named_runs(one) for one in (baseline, run)]
    if all(len(names) == 1 and isinstance(one, str) for names, one in zip(named, (baseline, run), strict=True)):
        return named_runs([baseline, run]) if baseline != run else {f"{baseline} (A)": baseline, f"{run} (B)": run}
    (first, source), (second, other) = (next(iter(names.items())) for names in named)
    return {first: source, second: other} if first != second else {f"{first} (A)": source, f"{second} (B)": other}


def check_maskable(scorer: Scorer, options: Options, what: str) -> None:
    """Raise InputError (usage) where scores with other judgments cannot be had from grade codes alone."""
    if options.subtopics or scorer.by_intent:
        raise InputError("--subtopics", f"{what} takes no judgments by intent", "leave it out", usage=True)
    if scorer.grader.types:
        raise InputError("--costs", f"{what} does not read the types of documents", "leave it out", usage=True)
