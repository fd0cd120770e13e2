"""Runs in files: read in blocks of whole topics, each joined with the qrels and forgotten."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from gradedeval.errors import InputError
from gradedeval.options import Options
from gradedeval.parallel.forks import Failed, imap, usable_workers
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.rankings.batch import Batch, Documents, GradedRun, by_width, judged_codes, same, together
from gradedeval.rankings.grade_in_memory import grade_listed
from gradedeval.rankings.interleaved import InterleavedTopics, Listed
from gradedeval.rankings.order import ranked
from gradedeval.rankings.qrels import Qrels
from gradedeval.rankings.run import dropped_notes, run_of_bytes
from gradedeval.rankings.run_columns import Rows, joined, read_listed, read_rows, settle_repeated
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.rankings.topics import choose_topics
from gradedeval.trec.lines import NeedsLineReader
from gradedeval.trec.source import Source, opener
from gradedeval.trec.stream import Segment, Stream
from gradedeval.trec.topic_blocks import BLOCK, Block, blocks, segments

TOGETHER = 8
"""Blocks whose batches are joined."""

FIRST = 2
"""Blocks that are looked at before all others: the second tells whether topics take turns."""

LARGE = 1 << 25
"""Bytes of a file that is worth the start of further processes."""

SCATTERED = 16
"""Topics that may come again before a file counts as one where topics take turns: they are then the larger part of
those met, or come again more than once in a block."""


def grade_file(
    source: Source,
    qrels: Qrels,
    options: Options,
    keep_docnos_for: frozenset[bytes],
    *,
    size: int = BLOCK,
    jobs: int = 1,
    depth: int | None = None,
    each: Callable[[Batch], Any] = same,
    progress: Progress = no_progress,
) -> GradedRun:
    """Read a run from a file and join it with the qrels. Raises InputError, here or while the batches are taken.

    jobs   processes that may share a large file
    depth  rankings may be cut below this rank, if there is one
    each   what is made of each batch, in the process that read it
    progress  passes on parts of a file as they are done, of so many in all
    """
    reading = _Reading(Stream(source), qrels, options, keep_docnos_for, size, jobs, depth, each, progress)
    try:
        reading.begin()
    except NeedsLineReader:
        return reading.listed()
    return reading.run


def is_splittable(source: Any) -> bool:
    """Whether a run is a file so large that processes share it."""
    try:
        if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-" or os.path.getsize(source) <= LARGE:
            return False
        with open(source, "rb") as file:
            return opener(file.read(8), os.fspath(source)) is None
    except (OSError, InputError):
        return False


@dataclass(frozen=True)
class _Part:
    """What a block holds: its topics, what was made of the batches of those that count, and how many repeated documents
    were dropped; or nothing, where topics take turns."""

    topics: list[bytes]
    batches: list[Any]
    dropped: dict[bytes, int]
    tag: str
    turns: bool = False


class _Reading:
    """One run on its way from a stream to batches."""

    def __init__(
        self,
        stream: Stream,
        qrels: Qrels,
        options: Options,
        keep_docnos_for: frozenset[bytes],
        size: int,
        jobs: int,
        depth: int | None,
        each: Callable[[Batch], Any],
        progress: Progress,
    ) -> None:
        self.stream, self.qrels, self.options, self.keep_docnos_for, self.size = (
            stream,
            qrels,
            options,
            keep_docnos_for,
            size,
        )
        self.jobs, self.depth, self.each, self.progress = jobs, depth, each, progress
        self.judged = judged_codes(qrels.labels, options)
        self.found: dict[bytes, None] = {}
        self.dropped: dict[bytes, int] = {}
        self.run = GradedRun(stream.place, iter(()))
        file = stream.file
        self.large = file is not None and file.end - file.at > LARGE

    def begin(self) -> None:
        """Read the first block, which has the tag. Raises NeedsLineReader."""
        parts = self._parts()
        first = next(parts)
        if not first.topics:
            raise NeedsLineReader
        self.run.tag = first.tag
        self.run.batches = self._batches(first, parts)

    def _parts(self) -> Generator[_Part, None, None]:
        """What the blocks hold, in order; several processes share those of a large file."""
        file = self.stream.file
        if file is not None and self._processes() > 1:
            shares = segments(file.file, file.at, file.end, self._processes(), FIRST * self.size)

            def parts_of(number: int) -> list[_Part]:
                return self._made([self._part(block) for block in _blocks_of(shares[number], self.size)])

            for parts in self.progress(self._each(parts_of, len(shares)), len(shares), "parts"):
                yield from parts
        elif file is not None:
            yield from self.progress(self._one_by_one(), (file.end - file.at) // self.size, "parts")
        else:
            yield from self._one_by_one()

    def _processes(self) -> int:
        """How many processes may share the work."""
        return usable_workers(self.jobs) if self.large else 1

    def _each(self, work: Callable[[int], Any], count: int) -> Iterator[Any]:
        """`work` of 0, 1, …, so many, in order, by several processes where that is worth it.

        Raises NeedsLineReader where one fails: the line reader has words for it."""
        for result in imap(work, count, self._processes()):
            if isinstance(result, Failed):
                raise NeedsLineReader
            yield result

    def _one_by_one(self) -> Iterator[_Part]:
        """What the blocks hold, in order."""
        stream, count = blocks(self.stream, self.size), FIRST
        while parts := [self._part(block) for block in islice(stream, count)]:
            yield from self._made(parts)
            count = TOGETHER

    def _made(self, parts: list[_Part]) -> list[_Part]:
        """The parts with what is made of their batches, of several at once: the first part has it all."""
        made = [self.each(batch) for batch in together(batch for part in parts for batch in part.batches)]
        return [replace(part, batches=[] if at else made) for at, part in enumerate(parts)]

    def listed(self) -> GradedRun:
        """The same by the simple reader."""
        run = run_of_bytes(self.stream.place, self.stream.whole(), self.options)
        return grade_listed(run, self.qrels, self.options, self.keep_docnos_for, each=self.each)

    def _batches(self, first: _Part, rest: Generator[_Part, None, None]) -> Iterator[Any]:
        try:
            again: set[bytes] = set()
            turns = False
            for part in chain([first], rest):
                again.update(self.found.keys() & part.topics)
                self.found.update(dict.fromkeys(part.topics))
                self.dropped.update(part.dropped)
                yield from part.batches
                turns = part.turns or len(again) > max(SCATTERED, len(self.found) // 2)
                if turns:
                    rest.close()
                    break
            if again or turns:
                yield from self._gathered(None if turns else frozenset(again))
        except NeedsLineReader:
            listed = self.listed()
            yield from listed
            self.run.topics, self.run.missing, self.run.notes = listed.topics, listed.missing, listed.notes
            return
        finally:
            rest.close()
            self.stream.close()
        chosen = choose_topics(self.found, self.stream.place, self.qrels, self.options)
        yield from self._missing([topic for topic in chosen.topics if topic not in self.found])
        self.run.topics, self.run.missing = chosen.topics, chosen.missing
        self.run.notes = [*dropped_notes(self.stream.place, sum(self.dropped.values()), self.options), *chosen.notes]

    def _part(self, block: Block) -> _Part:
        topics = TopicCodes()
        rows = read_rows(block, self.qrels, self.options, topics)
        if self.large and len(rows.topic) > SCATTERED + 2 * len(rows.topics):
            # Topics take turns, and go on doing so in other blocks: nothing is to be made of this one.
            return _Part(rows.topics, [], {}, rows.tag, turns=True)
        rows, dropped = joined(rows, topics, self.qrels, self.options)
        return _Part(rows.topics, list(self._ranked(rows)), dropped, rows.tag)

    def _gathered(self, only: frozenset[bytes] | None) -> Iterator[Any]:
        """A second pass, for topics that came again: those in `only`, or all."""
        gathered = self._scattered(only)
        self.found.update(dict.fromkeys(gathered.topics.names))
        divided = gathered.parts()

        def part_of(number: int) -> _Part:
            rows = divided[number]
            topics = rows.topics
            rows, dropped = settle_repeated(rows, self.options)
            return _Part(topics, [self.each(batch) for batch in self._ranked(rows)], dropped, "")

        for part in self.progress(self._each(part_of, len(divided)), len(divided), "parts"):
            for topic in part.topics:
                self.dropped.pop(topic, None)
            self.dropped.update(part.dropped)
            yield from part.batches

    def _scattered(self, only: frozenset[bytes] | None) -> InterleavedTopics:
        """The documents of these topics, or of all, as columns."""
        self.stream.again()
        gathered, file = InterleavedTopics(self.stream), self.stream.file
        size = 4 * self.size  # there may be thousands of topics in each
        if file is not None and self._processes() > 1:
            self.qrels.index.fill()
            shares, topics = segments(file.file, file.at, file.end, self._processes()), TopicCodes()

            def listed(number: int) -> list[Listed]:
                found = []
                for block in _blocks_of(shares[number], size):
                    rows = read_listed(block, self.qrels, self.options, topics, only)
                    found.append(Listed.of(block, rows, list(topics.names)))  # there will be more of them
                return found

            for several in self.progress(self._each(listed, len(shares)), len(shares), "parts"):
                for one in several:
                    gathered.add(one)
        else:
            for block in blocks(self.stream, size):
                rows = read_listed(block, self.qrels, self.options, gathered.topics, only)
                gathered.keep_text(block)
                gathered.add(Listed.of(block, rows, gathered.topics.names))
        return gathered

    def _ranked(self, rows: Rows) -> Iterator[Batch]:
        """Batches of the topics that may count: which do is known when all have been seen."""
        wanted, unjudged_too = self.options.topics_from, self.options.topics == "run"
        documents = Documents(rows.topics, rows.counts, rows.code, rows.score, rows.rank, rows.docno)
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
            batch = ranked(some, pool[own], self.judged, self.options, self.keep_docnos_for)
            yield batch if self.depth is None else replace(batch, codes=batch.codes[:, : self.depth])

    def _missing(self, topics: list[bytes]) -> Iterator[Any]:
        """Batches of topics that the run lacks."""
        code = np.empty(0, dtype=np.min_scalar_type(len(self.qrels.labels) + 1))
        pool = self.qrels.pool_of(topics)
        for own in by_width(pool.sum(1)):
            if len(own):
                none = Documents([topics[row] for row in own.tolist()], pool[own, 0] * 0, code, None, None, _no_docno)
                yield self.each(ranked(none, pool[own], self.judged, self.options, self.keep_docnos_for))


def _blocks_of(segment: Segment, size: int) -> Iterator[Block]:
    return blocks(segment, size, segment.at)


def _no_docno(position: int) -> bytes:
    raise IndexError(position)
