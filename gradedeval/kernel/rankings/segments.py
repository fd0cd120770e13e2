"""Run files in segments, which processes share; and topics whose lines stand here and there in a file: gathered as
columns, without their text, and then graded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.docnos import TopicCodes
from gradedeval.kernel.rankings.grade import (
    FIRST,
    BlocksPart,
    Grader,
    PartResult,
    Rows,
    RunFile,
    grade_each,
    read_rows,
    settle_repeated,
)
from gradedeval.kernel.trec.blocks import Block, blocks, segments
from gradedeval.kernel.trec.decompression import temporary_file_errors
from gradedeval.kernel.trec.lines import LineLayout
from gradedeval.kernel.trec.stream import Segment, Stream


@dataclass(eq=False, repr=False)
class SegmentPart:
    """A segment of a run file, which any process can read, and again where one died.

    Raises InputError where the file is not the one that was cut.
    """

    segment: Segment
    layout: LineLayout
    is_large: bool = False

    def grade(self, grader: Grader) -> PartResult[Batch]:
        own = self.segment.reopen()
        if own.position == own.end:
            return PartResult()
        read = blocks(own, grader.limits.block, own.position, self.layout)
        return BlocksPart(read, self.is_large).grade(grader)

    def closed(self) -> SegmentPart:
        """The same of a file that need not stay open."""
        return replace(self, segment=self.segment.closed())


def segments_of(file: RunFile, workers: Workers) -> list[SegmentPart]:
    """All of a file on disk in parts that processes can share."""
    if file.file is None:
        return []
    limits = file.grader.limits
    cut = segments(file.file, workers.count, limits.segment, FIRST * limits.block, file.layout)
    return [SegmentPart(segment, file.layout, file.is_large) for segment in cut]


# Topics that take turns.


def gather_topics(
    stream: Stream, layout: LineLayout, grader: Grader, workers: Workers, only: frozenset[bytes] | None
) -> list[InterleavedPart]:
    """Read a stream again, for the topics in `only` or for all: their documents in parts of whole topics.

    Raises NeedsLineReader where a line is not one of a run, and WorkerDied.
    """
    stream.again()
    gathered, file = InterleavedTopics(stream, grader.limits), stream.file
    size = 4 * grader.limits.block  # there may be thousands of topics in each
    if file is not None and workers.count > 1:
        grader.qrels.columns.index.fill()
        cut = segments(file, workers.count, grader.limits.segment, layout=layout)
        with closing(workers.imap(partial(_read_segment, layout, grader, only, size), cut)) as segment_columns:
            for listed in segment_columns:
                gathered.add(listed)
    else:
        for block in blocks(stream, size, layout=layout):
            rows = grade_as_listed(block, grader, gathered.topics, only)
            gathered.text.add(block)
            gathered.add(ListedColumns(gathered.topics.names, [_columns(block, rows)], block.end - block.begin))
    return gathered.parts()


def grade_as_listed(block: Block, grader: Grader, topics: TopicCodes, only: frozenset[bytes] | None = None) -> Rows:
    """The documents of a block as listed, topics among each other, numbered as they have been in the blocks before:
    those of the topics in `only`, or all.

    Raises NeedsLineReader where a line is not one of a run.
    """
    rows = read_rows(block, grader, topics, order_is_enough=False)
    if only is not None and not only.issuperset(topics.names):
        rows = rows.keep(np.flatnonzero(np.array([name in only for name in topics.names])[rows.topic_of]))
    grade_each(rows, topics.rows(grader.qrels.row_of), grader.qrels)
    return rows


@dataclass(eq=False, repr=False)
class ListedColumns:
    """What is kept of some blocks.

    topics  their topics, and perhaps others
    blocks  the documents of each as listed, by column; `topic` among the columns is the number of each one's topic
    size    how many bytes the blocks had
    """

    topics: list[bytes]
    blocks: list[dict[str, NDArray[Any]]]
    size: int


def _read_segment(
    layout: LineLayout, grader: Grader, only: frozenset[bytes] | None, size: int, segment: Segment
) -> ListedColumns:
    topics, own = TopicCodes(grader.limits), segment.reopen()
    begin = own.position
    read = blocks(own, size, begin, layout) if begin < own.end else ()
    columns = [_columns(block, grade_as_listed(block, grader, topics, only)) for block in read]
    return ListedColumns(topics.names, columns, own.end - begin)


def _columns(block: Block, rows: Rows) -> dict[str, NDArray[Any]]:
    columns = {
        "topic": rows.topic_of.astype(np.int32),
        "code": rows.code,
        "hashed": rows.hashed,
        "start": rows.start + (block.offset - block.begin),
        "length": rows.length.astype(np.int32),
        "score": rows.score,
        "rank": rows.rank,
    }
    return {name: column for name, column in columns.items() if column is not None}


class InterleavedTopics:
    """The documents of all blocks, about 35 bytes each; docnos are read from the stream when they are asked for."""

    def __init__(self, stream: Stream, limits: Limits) -> None:
        self.topics = TopicCodes(limits)
        self._limits = limits
        self._columns: dict[str, _Column] = {}
        self.text = _Text(stream)
        file = stream.file
        self._size = file.end - file.position if file is not None else 0

    def add(self, listed: ListedColumns) -> None:
        """Take the documents of the next blocks."""
        if listed.topics is not self.topics.names:  # numbers of another process
            number = self.topics.numbers(listed.topics).astype(np.int32)
            for columns in listed.blocks:
                columns["topic"] = number[columns["topic"]]
        count = sum(len(columns["topic"]) for columns in listed.blocks)
        expected = count * self._size // max(listed.size, 1)
        for columns in listed.blocks:
            for name, column in columns.items():
                self._columns.setdefault(name, _Column(column.dtype, expected, self._limits.gathered)).add(column)

    def parts(self) -> list[InterleavedPart]:
        """All that was taken, in parts of whole topics. It is not here any more."""
        columns = {name: column.all() for name, column in self._columns.items()}
        self._columns.clear()
        by_topic = ByTopic(self.topics.names, columns, self.text.reader)
        return [InterleavedPart(by_topic, *bounds) for bounds in by_topic.bounds(self._limits.gathered)]


class ByTopic:
    """Documents by topic."""

    def __init__(
        self, names: list[bytes], columns: dict[str, NDArray[Any]], token: Callable[[int, int], bytes]
    ) -> None:
        topic = columns.pop("topic")
        counts = np.bincount(topic, minlength=len(names))
        self._names, self._columns, self._token = names, columns, token
        self._order = _by_topic(topic)
        self._present = np.flatnonzero(counts)
        self._ends = np.append(0, np.cumsum(counts[self._present]))

    def bounds(self, documents: int) -> Iterator[tuple[int, int]]:
        """Stretches of topics that have that many documents together, or of one topic that has more: begin and end."""
        first = 0
        while first < len(self._present):
            full = int(np.searchsorted(self._ends, self._ends[first] + documents, side="right")) - 1
            yield first, max(first + 1, full)
            first = max(first + 1, full)

    def rows(self, first: int, after: int) -> Rows:
        """The documents of some topics, topic after topic."""
        order = self._order[self._ends[first] : self._ends[after]]
        part = {name: column[order] for name, column in self._columns.items()}
        return Rows(
            [self._names[topic] for topic in self._present[first:after].tolist()],
            np.arange(after - first),
            np.diff(self._ends[first : after + 1]),
            part["code"],
            part["hashed"],
            part["start"],
            part["length"],
            part.get("score"),
            part.get("rank"),
            self._token,
        )


@dataclass(eq=False, repr=False)
class InterleavedPart:
    """Some topics, all of whose documents were gathered: those numbered from `first` to before `after`."""

    gathered: ByTopic
    first: int
    after: int

    def __reduce__(self) -> Any:
        return GatheredRows, (self.gathered.rows(self.first, self.after),)

    def grade(self, grader: Grader) -> PartResult[Batch]:
        return GatheredRows(self.gathered.rows(self.first, self.after)).grade(grader)


@dataclass(eq=False, repr=False)
class GatheredRows:
    """The documents of some topics, without those of others: what travels to another process."""

    rows: Rows

    def grade(self, grader: Grader) -> PartResult[Batch]:
        rows = self.rows
        topics = dict.fromkeys(rows.topics)
        rows, dropped = settle_repeated(rows, grader.options)
        return PartResult(list(grader.batches(grader.countable(rows.documents()))), topics, dropped=dropped)


class _Column:
    """An array that grows in place: its parts and the whole are never in memory together."""

    def __init__(self, dtype: Any, expected: int, minimum: int) -> None:
        self._values = np.empty(max(minimum, expected + expected // 32), dtype=dtype)
        self._size = 0

    def add(self, more: NDArray[Any]) -> None:
        end = self._size + len(more)
        if end > len(self._values):
            self._values.resize(end + end // 8, refcheck=False)
        self._values[self._size : end] = more
        self._size = end

    def all(self) -> NDArray[Any]:
        return self._values[: self._size]


def _by_topic(topic: NDArray[Any]) -> Ints:
    """The positions of each topic's documents, as listed. numpy sorts integers of 16 bits by radix."""
    order = np.argsort(topic.astype(np.uint16), kind="stable")
    high = topic >> 16
    return order[np.argsort(high[order].astype(np.uint16), kind="stable")] if high.any() else order


class _Text:
    """The text of a stream at any place: of the file itself, or of a temporary one where it was packed or a pipe."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._file = stream, None
        if not stream.plain:
            from tempfile import TemporaryFile

            with temporary_file_errors():
                self._file = TemporaryFile()  # noqa: SIM115

    def add(self, block: Block) -> None:
        if self._file is not None:
            with temporary_file_errors():
                self._file.write(memoryview(block.buffer)[block.begin : block.end])  # type: ignore[arg-type]

    @property
    def reader(self) -> Callable[[int, int], bytes]:
        """Reads a token; of a file on disk it can travel to another process."""
        file = self._stream.file
        return self.token if file is None else partial(file.file.token, file.position)

    def token(self, start: int, length: int) -> bytes:
        if self._file is None:
            return self._stream.token(start, length)
        self._file.seek(start)
        return self._file.read(length)
