"""Run files in segments, which processes share; and interleaved topics of a file, gathered as columns without text
before they are graded.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.rankings import grade as grading
from gradedeval.kernel.rankings.batch import Batch
from gradedeval.kernel.rankings.docnos import Growing, TopicCodes
from gradedeval.kernel.trec.blocks import Block, blocks, segments
from gradedeval.kernel.trec.decompression import temporary_file_errors
from gradedeval.kernel.trec.lines import LineLayout
from gradedeval.kernel.trec.stream import Segment, Stream
from gradedeval.kernel.trec.tokenizer import PAD


@dataclass(eq=False, repr=False)
class SegmentPart:
    """A segment of a run file, which any process can read, also again after a process died. Raises InputError if the
    file has changed since it was cut."""

    segment: Segment
    layout: LineLayout
    is_large: bool = False

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        opened = self.segment.reopen()
        if opened.position == opened.end:
            return grading.PartResult()
        segment_blocks = blocks(opened, grader.limits.block, opened.position, self.layout)
        return grading.BlocksPart(segment_blocks, self.is_large).grade(grader)

    def closed(self) -> SegmentPart:
        """Return the part for a file that need not stay open."""
        return replace(self, segment=self.segment.closed())


def segments_of(file: grading.RunFile, workers: Workers) -> list[SegmentPart]:
    """Cut a file on disk into parts that processes can share."""
    if file.file is None:
        return []
    limits = file.grader.limits
    cut = segments(file.file, workers.count, limits.segment, grading.FIRST * limits.block, file.layout)
    return [SegmentPart(segment, file.layout, file.is_large) for segment in cut]


# Interleaved topics.


def gather_topics(
    stream: Stream, layout: LineLayout, grader: grading.Grader, workers: Workers, selected: frozenset[bytes] | None
) -> list[InterleavedPart]:
    """Read a stream again, for the selected topics or all: return their documents in parts of whole topics.

    Raises NeedsLineReader if a line is not a line of a run, and WorkerDied.
    """
    stream.again()
    gathered, file = InterleavedTopics(stream, grader.limits), stream.file
    size = 4 * grader.limits.block  # a block may have thousands of topics
    if file is not None and workers.count > 1:
        grader.qrels.columns.index.fill()
        cut = segments(file, workers.count, grader.limits.segment, layout=layout)
        with closing(workers.imap(partial(_read_segment, layout, grader, selected, size), cut)) as segment_columns:
            for listed in segment_columns:
                gathered.add(listed)
    else:
        for block in blocks(stream, size, layout=layout):
            rows = grade_as_listed(block, grader, gathered.topics, selected)
            gathered.text.add(block)
            gathered.add(ListedColumns(gathered.topics.names, [_columns(block, rows)], block.end - block.begin))
    return gathered.parts()


def grade_as_listed(
    block: Block, grader: grading.Grader, topics: TopicCodes, selected: frozenset[bytes] | None = None
) -> grading.Rows:
    """Grade the documents of a block as listed, of the selected topics or all; `topics` numbers topics across blocks.

    Raises NeedsLineReader if a line is not a line of a run.
    """
    rows = grading.read_rows(block, grader, topics, order_is_enough=False)
    if selected is not None and not selected.issuperset(topics.names):
        rows = rows.keep(np.flatnonzero(np.array([name in selected for name in topics.names])[rows.topic_of]))
    if grader.options.collapse is None:  # chunks are graded when they are folded
        grading.grade_each(rows, grader.qrels._rows_of(topics.names), grader.qrels)
    return rows


@dataclass(eq=False, repr=False)
class ListedColumns:
    """The gathered columns of some blocks.

    topics  their topics, and perhaps others
    blocks  the documents of each block as listed, by column; the column `topic` has the numbers of topics
    size    the number of bytes of the blocks
    """

    topics: list[bytes]
    blocks: list[dict[str, NDArray[Any]]]
    size: int


def _read_segment(
    layout: LineLayout, grader: grading.Grader, selected: frozenset[bytes] | None, size: int, segment: Segment
) -> ListedColumns:
    topics, opened = TopicCodes(grader.limits), segment.reopen()
    begin = opened.position
    segment_blocks = blocks(opened, size, begin, layout) if begin < opened.end else ()
    columns = [_columns(block, grade_as_listed(block, grader, topics, selected)) for block in segment_blocks]
    return ListedColumns(topics.names, columns, opened.end - begin)


def _columns(block: Block, rows: grading.Rows) -> dict[str, NDArray[Any]]:
    start, length = rows.start + (block.offset - block.begin), rows.length.astype(np.int32)
    values = rows.code, rows.hashed, start, length, rows.score, rows.rank
    columns = {"topic": rows.topic_of.astype(np.int32), **dict(zip(grading.COLUMNS, values, strict=True))}
    return {name: column for name, column in columns.items() if column is not None}


class InterleavedTopics:
    """The documents of all blocks, about 35 bytes each, then by topic; docnos are read from the stream on demand."""

    def __init__(self, stream: Stream, limits: Limits) -> None:
        self.topics = TopicCodes(limits)
        self._limits = limits
        self._columns: dict[str, Growing] = {}
        self.text = _Text(stream)
        file = stream.file
        self._size = file.end - file.position if file is not None else 0

    def add(self, listed: ListedColumns) -> None:
        """Add the documents of the next blocks."""
        if listed.topics is not self.topics.names:  # numbers of another process
            number = self.topics.numbers(listed.topics).astype(np.int32)
            for columns in listed.blocks:
                columns["topic"] = number[columns["topic"]]
        count = sum(len(columns["topic"]) for columns in listed.blocks)
        expected = count * self._size // max(listed.size, 1)
        room = max(self._limits.gathered, expected + expected // 32 + PAD)
        for columns in listed.blocks:
            for name, column in columns.items():
                self._columns.setdefault(name, Growing(column.dtype, room)).add(column)

    def parts(self) -> list[InterleavedPart]:
        """Return all documents in parts of whole topics, of as many documents as are graded at once."""
        column = self._columns.pop("topic")
        topic = column.values[: column.size]
        counts = np.bincount(topic, minlength=len(self.topics.names))
        self._order, self._present = _by_topic(topic), np.flatnonzero(counts)
        self._ends = np.append(0, np.cumsum(counts[self._present]))
        parts, first = list[InterleavedPart](), 0
        while first < len(self._present):
            full = int(np.searchsorted(self._ends, self._ends[first] + self._limits.gathered, side="right")) - 1
            parts.append(InterleavedPart(self, first, max(first + 1, full)))
            first = parts[-1].end
        return parts

    def rows(self, first: int, end: int) -> grading.Rows:
        """Return the documents of some topics, topic after topic."""
        order = self._order[self._ends[first] : self._ends[end]]
        part = {name: column.values[order] for name, column in self._columns.items()}
        names = [self.topics.names[topic] for topic in self._present[first:end].tolist()]
        columns: dict[str, Any] = {name: part.get(name) for name in grading.COLUMNS}
        size = np.diff(self._ends[first : end + 1])
        return grading.Rows(names, np.arange(end - first), size, **columns, buffer=None, token=self.text.reader)


@dataclass(eq=False, repr=False)
class InterleavedPart:
    """Some topics with all their documents, with numbers from `first` to before `end`."""

    gathered: InterleavedTopics
    first: int
    end: int

    def __reduce__(self) -> Any:
        return GatheredRows, (self.gathered.rows(self.first, self.end),)

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        return GatheredRows(self.gathered.rows(self.first, self.end)).grade(grader)


@dataclass(eq=False, repr=False)
class GatheredRows:
    """The documents of some topics, without others, for transfer to another process."""

    rows: grading.Rows

    def grade(self, grader: grading.Grader) -> grading.PartResult[Batch]:
        rows = self.rows
        if grader.options.collapse is None:
            rows, dropped = grading.settle_repeated(rows, grader.options)
        else:
            docnos = rows.docnos(np.arange(len(rows.code)))
            rows, dropped = grading.grade_by_block(rows.named(docnos), grader)
        if grader.options.ignore_identical_ids:
            rows = rows.without_own()
        topics = dict.fromkeys(rows.topics)
        return grading.PartResult(grader.batches_of(rows), topics, dropped=dropped, changed=rows.changed, own=rows.own)


def _by_topic(topic: NDArray[Any]) -> Ints:
    """Return the positions of each topic's documents, as listed. NumPy sorts integers of 16 bits by radix."""
    order = np.argsort(topic.astype(np.uint16), kind="stable")
    high = topic >> 16
    return order[np.argsort(high[order].astype(np.uint16), kind="stable")] if high.any() else order


class _Text:
    """Random access to the text of a stream: to the file, or to a temporary copy of compressed files and pipes."""

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
        """A function that reads a token; of a file on disk, it can be sent to another process."""
        file = self._stream.file
        return self.token if file is None else partial(file.file.token, file.position)

    def token(self, start: int, length: int) -> bytes:
        if self._file is None:
            return self._stream.token(start, length)
        self._file.seek(start)
        return self._file.read(length)
