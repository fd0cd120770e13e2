"""The join: documents of a run meet the judgments of their topics, and become batches of grade codes."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats
from gradedeval.options import Options
from gradedeval.parallel import workers
from gradedeval.parallel.workers import Limits
from gradedeval.rankings.batch import Batch, Documents, by_width, count_unjudged, judged_codes
from gradedeval.rankings.frames import NONE
from gradedeval.rankings.listing import NOT_LOOKED, Listing
from gradedeval.rankings.order import to_batch
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import Run, TopicResults
from gradedeval.trec.lines import encode

Made = TypeVar("Made")
Other = TypeVar("Other")


@dataclass(frozen=True, eq=False, repr=False)
class PartResult(Generic[Made]):
    """What a part of a run gives.

    batches      its batches, or what was made of each
    topics       the topics in it, in order of appearance; those that stand in several blocks, several times
    dropped      topic -> how many of its documents were dropped because they repeat
    tag          the sixth column of its first line
    interleaved  whether topics take turns line by line: then nothing is made of the part
    listing      what a look at its order says
    """

    batches: list[Made]
    topics: list[bytes] = field(default_factory=list)
    dropped: dict[bytes, int] = field(default_factory=dict)
    tag: str = ""
    interleaved: bool = False
    listing: Listing = NOT_LOOKED

    def with_batches(self, batches: list[Other]) -> PartResult[Other]:
        """The same with something else made of its batches."""
        return PartResult(batches, self.topics, self.dropped, self.tag, self.interleaved, self.listing)


class RunPart(Protocol):
    """Part of a run: whole topics, or some of their lines, that one process reads and grades by itself."""

    def grade(self, grader: Grader) -> PartResult[Batch]:
        """Its documents as batches. Raises NeedsLineReader where the line reader must read the whole run instead."""


@dataclass(frozen=True, eq=False, repr=False)
class Grader:
    """Joins the documents of runs with one qrels under one set of options.

    keep_docnos_for  topics whose docnos stay in the batches
    keep_ties        whether the batches say which documents are tied
    types            whether the type of each document, column 2 of a run, stays as well
    last_rank        no rank below this one is looked at; None where all are
    ideals           gain table -> the ideal rankings of all topics of the qrels, once they are known
    """

    qrels: Qrels
    options: Options
    keep_docnos_for: Container[bytes] = frozenset()
    keep_ties: bool = False
    types: bool = False
    last_rank: int | None = None
    limits: Limits = field(default_factory=lambda: workers.LIMITS)
    ideals: dict[bytes, Floats] = field(default_factory=dict)

    @cached_property
    def judged(self) -> Bools:
        """code: whether it is judged."""
        return judged_codes(self.qrels.labels, self.options, self.qrels.strata is not None)

    @cached_property
    def unsampled(self) -> Bools:
        """code: whether it was pooled and not sampled."""
        return np.append(self.qrels.labels < 0, [False, False])

    def batches(self, documents: Documents) -> Iterator[Batch]:
        """The documents ordered, cut, and laid out as topics × ranks, in batches of bounded size."""
        pool = self.qrels._pool_of(documents.topics)
        for rows in by_width(np.maximum(documents.counts, pool.sum(1)), self.limits.cells):
            some = documents if len(rows) == len(documents.topics) else documents.select(rows)
            batch = to_batch(
                some, pool[rows], self.judged, self.options, self.keep_docnos_for, self.keep_ties, self.last_rank
            )
            if self.last_rank is not None:
                kinds = batch.kinds[:, : self.last_rank] if batch.kinds is not None else None
                deeper = batch.codes[:, self.last_rank :]
                below = count_unjudged(deeper, self.judged) if self.options.bounds else None
                ties = batch.ties and batch.ties.down_to(self.last_rank)
                batch = replace(batch, codes=batch.codes[:, : self.last_rank], kinds=kinds, below=below, ties=ties)
            yield batch

    def countable(self, documents: Documents) -> Documents:
        """Only the topics that may count: which of them do is known when the whole run has been seen."""
        chosen, unjudged_too = self.options.topics_from, self.options.topics == "run" or not self.qrels.topics
        rows = [
            row
            for row, topic in enumerate(documents.topics)
            if (unjudged_too or topic in self.qrels._row) and (chosen is None or topic in chosen)
        ]
        return documents if len(rows) == len(documents.topics) else documents.select(np.array(rows, dtype=np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class ListedTopics:
    """Topics of a run in lists; one that the run lacks has no documents."""

    run: Run
    topics: list[bytes]

    def grade(self, grader: Grader) -> PartResult[Batch]:
        return PartResult(list(grader.batches(self.documents(grader))), self.topics, tag=self.run.tag)

    def documents(self, grader: Grader) -> Documents:
        """The documents of these topics as columns, with the codes of their grades."""
        if self.run.listed is not None:
            listed = self.run.listed.select(self.topics)
            return self._joined(grader, listed.docnos, listed.values)
        rankings = [self.run.topics.get(topic) or TopicResults() for topic in self.topics]
        types = sorted({kind for ranking in rankings for kind in ranking.types})
        kind_of = {kind: number for number, kind in enumerate(types)}
        joined = self._joined(
            grader,
            [ranking.docnos for ranking in rankings],
            _concatenated([ranking.scores for ranking in rankings]),
            _concatenated([ranking.ranks for ranking in rankings]),
        )
        if not types:
            return joined
        kind = np.array([kind_of[kind] for ranking in rankings for kind in ranking.types], np.int64)
        return replace(joined, types=types, kind=kind)

    def _joined(
        self, grader: Grader, docnos: list[list[Any]], scores: Floats, stated: Floats | None = None
    ) -> Documents:
        """The documents with the codes of their grades, their scores, and the ranks that the run states."""
        options = grader.options
        by_score = options.order != "file"
        every: list[Any] = []  # few runs have ties that matter

        def docno(position: int) -> bytes:
            if not every:
                every.extend(chain.from_iterable(docnos))
            name = every[position]
            return encode(name) if isinstance(name, str) else name

        return Documents(
            self.topics,
            np.array([len(own) for own in docnos], dtype=np.int64),
            self._codes(grader, docnos),
            scores if by_score else None,
            stated if by_score and options.ties == "rank" else None,
            docno,
        )

    def _codes(self, grader: Grader, docnos: list[list[Any]]) -> NDArray[Any]:
        """documents: the codes of their grades. Those of a run that lists the same as the one before, as where a model
        ranks the same candidates anew, are not looked up again."""
        qrels, unjudged = grader.qrels, len(grader.qrels.labels)
        (topics, before), codes = qrels._last
        if before == docnos and topics == self.topics:
            return codes
        # The qrels become a dict when they are first asked for, which takes time and memory.
        kinds = {type(own[0]) for own in docnos if own}
        known: Any = {kind: qrels._text_codes if issubclass(kind, str) else qrels.codes for kind in kinds}
        none: dict[Any, int] = {}
        otherwise = repeat(unjudged)
        graded = chain.from_iterable(
            map(known[type(own[0])].get(topic, none).get, own, otherwise)
            for topic, own in zip(self.topics, docnos, strict=True)
            if own
        )
        # Bytes are the quickest way from many small numbers to an array.
        small = np.min_scalar_type(unjudged + 1)
        codes = np.frombuffer(bytes(graded), np.uint8) if unjudged < 255 else np.fromiter(graded, small)
        if sum(map(len, docnos)) <= grader.limits.cells:
            # Where each run lists others, to keep them would cost more than it gains: all are kept of the second alike.
            qrels._last = (self.topics, docnos if before[:1] == docnos[:1] else docnos[:1]), codes
        return codes


def _concatenated(columns: list[Any]) -> Floats:
    return np.concatenate([NONE, *columns], dtype=np.float64)
