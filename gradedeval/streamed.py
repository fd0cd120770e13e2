"""Runs in files: read in blocks of whole topics, each joined with the qrels and forgotten."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from gradedeval.forked import forked, processes, segments
from gradedeval.listed import grade_listed
from gradedeval.ranking import Batch, Documents, GradedRun, by_width, judged_codes, ranked
from gradedeval.rules import Rules
from gradedeval.topics import choose_topics
from gradedeval.trec.blocks import Irregular
from gradedeval.trec.qrels import Qrels
from gradedeval.trec.retrieved import Rows, read_listed, read_rows, settle_repeated
from gradedeval.trec.run import dropped_notes, run_of_bytes
from gradedeval.trec.scattered import Scattered
from gradedeval.trec.source import Source
from gradedeval.trec.stream import BLOCK, Block, Segment, Stream, blocks

LARGE = 1 << 25
"""Bytes of a file that is worth the start of further processes."""

SCATTERED = 16
"""Topics that come again before a file counts as one where topics take turns, if they are the larger part."""


def grade_file(
    source: Source, qrels: Qrels, rules: Rules, docnos_of: frozenset[bytes], *, size: int = BLOCK
) -> GradedRun:
    """Read a run from a file and join it with the qrels. Raises Fault, here or while the batches are taken."""
    reading = _Reading(Stream(source), qrels, rules, docnos_of, size)
    try:
        reading.begin()
    except Irregular:
        return grade_listed(run_of_bytes(source.place, reading.stream.whole(), rules), qrels, rules, docnos_of)
    return reading.run


@dataclass(frozen=True)
class _Part:
    """What a block holds: its topics, batches of those that count, and how many repeated documents were dropped."""

    topics: list[bytes]
    batches: list[Batch]
    dropped: dict[bytes, int]
    tag: str


class _Reading:
    """One run on its way from a stream to batches."""

    def __init__(self, stream: Stream, qrels: Qrels, rules: Rules, docnos_of: frozenset[bytes], size: int) -> None:
        self.stream, self.qrels, self.rules, self.docnos_of, self.size = stream, qrels, rules, docnos_of, size
        self.judged = judged_codes(qrels.labels, rules)
        self.found: dict[bytes, None] = {}
        self.dropped: dict[bytes, int] = {}
        self.run = GradedRun(stream.place, iter(()))

    def begin(self) -> None:
        """Read the first block, which has the tag. Raises Irregular."""
        parts = self._parts()
        first = next(parts)
        if not first.topics:
            raise Irregular
        self.run.tag = first.tag
        self.run.batches = self._batches(first, parts)

    def _parts(self) -> Generator[_Part, None, None]:
        """What the blocks hold, in order; several processes share those of a large file."""
        stream = blocks(self.stream, self.size)
        begin = 0
        for block in islice(stream, 2):  # the second tells whether topics take turns
            begin += block.end - block.begin
            yield self._part(block)
        file = self.stream.file
        if file is not None and file.end - file.at > LARGE and (jobs := processes()) > 1:
            rest = segments(file.file, file.at + begin, file.end)
            with closing(forked(self._segment, rest, jobs)) as found:
                for parts in found:
                    yield from parts
        else:
            yield from map(self._part, stream)

    def _segment(self, segment: Segment) -> list[_Part]:
        return [self._part(block) for block in blocks(segment, self.size, segment.at)]

    def _batches(self, first: _Part, rest: Generator[_Part, None, None]) -> Iterator[Batch]:
        try:
            again: set[bytes] = set()
            turns = False
            for part in chain([first], rest):
                again.update(self.found.keys() & part.topics)
                self.found.update(dict.fromkeys(part.topics))
                self.dropped.update(part.dropped)
                yield from part.batches
                turns = len(again) > max(SCATTERED, len(self.found) // 2)
                if turns:
                    rest.close()
                    break
            if again:
                yield from self._gathered(None if turns else frozenset(again))
        except Irregular:
            place, rules = self.stream.place, self.rules
            listed = grade_listed(run_of_bytes(place, self.stream.whole(), rules), self.qrels, rules, self.docnos_of)
            yield from listed
            self.run.topics, self.run.missing, self.run.notes = listed.topics, listed.missing, listed.notes
            return
        finally:
            rest.close()
            self.stream.close()
        chosen = choose_topics(self.found, self.stream.place, self.qrels, self.rules)
        yield from self._missing([topic for topic in chosen.topics if topic not in self.found])
        self.run.topics, self.run.missing = chosen.topics, chosen.missing
        self.run.notes = [*dropped_notes(self.stream.place, sum(self.dropped.values()), self.rules), *chosen.notes]

    def _part(self, block: Block) -> _Part:
        rows = read_rows(block, self.qrels, self.rules)
        rows, dropped = settle_repeated(rows, self.rules)
        return _Part(rows.topics, list(self._ranked(rows)), dropped, rows.tag)

    def _gathered(self, only: frozenset[bytes] | None) -> Iterator[Batch]:
        """A second pass, for topics that came again: those in `only`, or all."""
        self.stream.again()
        gathered = Scattered(self.stream)
        for block in blocks(self.stream, 4 * self.size):  # there may be thousands of topics to name in each
            gathered.add(block, read_listed(block, self.qrels, self.rules, only))
        self.found.update(dict.fromkeys(gathered.topics))
        for rows in gathered.parts():
            for topic in rows.topics:
                self.dropped.pop(topic, None)
            rows, dropped = settle_repeated(rows, self.rules)
            self.dropped.update(dropped)
            yield from self._ranked(rows)

    def _ranked(self, rows: Rows) -> Iterator[Batch]:
        """Batches of the topics that may count: which do is known when all have been seen."""
        wanted, unjudged_too = self.rules.topics_from, self.rules.topics == "run"
        counts = np.bincount(rows.topic, minlength=len(rows.topics))
        documents = Documents(rows.topics, counts, rows.code, rows.score, rows.rank, rows.docno)
        counted = [
            at
            for at, topic in enumerate(rows.topics)
            if (unjudged_too or topic in self.qrels.row) and (wanted is None or topic in wanted)
        ]
        if len(counted) < len(rows.topics):
            documents = documents.of(np.array(counted, dtype=np.int64))
        pool = self.qrels.pool_of(documents.topics)
        for own in by_width(np.maximum(documents.counts, pool.sum(1))):
            some = documents if len(own) == len(documents.topics) else documents.of(own)
            yield ranked(some, pool[own], self.judged, self.rules, self.docnos_of)

    def _missing(self, topics: list[bytes]) -> Iterator[Batch]:
        """Batches of topics that the run lacks."""
        code = np.empty(0, dtype=np.min_scalar_type(len(self.qrels.labels) + 1))
        pool = self.qrels.pool_of(topics)
        for own in by_width(pool.sum(1)):
            if len(own):
                none = Documents([topics[row] for row in own.tolist()], pool[own, 0] * 0, code, None, None, _no_docno)
                yield ranked(none, pool[own], self.judged, self.rules, self.docnos_of)


def _no_docno(position: int) -> bytes:
    raise IndexError(position)
