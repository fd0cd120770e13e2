"""A run file in parts: blocks of whole topics, each read, joined with the qrels and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Generic

from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch, coalesce
from gradedeval.rankings.grade import Grader, Made, PartResult, RunPart
from gradedeval.rankings.interleaved import gather_topics
from gradedeval.rankings.run_columns import grade_by_block, read_rows
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.lines import NeedsLineReader
from gradedeval.trec.stream import Segment, Stream
from gradedeval.trec.topic_blocks import Block, blocks, segments

FIRST = 2
"""Blocks of the first part: the second tells whether topics take turns."""

BLOCKS = 8
"""Blocks of every other part: calls of numpy for the few topics of one would cost more than what they do."""

FEW_TOPICS = 16
"""Topics that may stand in several places before a file counts as interleaved: they are then the larger part of those
met, or come again more than once in a block."""


@dataclass(frozen=True, eq=False)
class BlocksPart:
    """Blocks of a run file that are read one after the other.

    is_large  whether the file has many more
    """

    blocks: Iterable[Block]
    is_large: bool = False

    def grade(self, grader: Grader) -> PartResult[Batch]:
        whole: PartResult[Batch] = PartResult([])
        for block in self.blocks:
            graded = _grade_block(block, grader, self.is_large)
            whole = PartResult(
                whole.batches + graded.batches,
                whole.topics + graded.topics,
                whole.dropped | graded.dropped,
                whole.tag or graded.tag,
                graded.interleaved,
            )
            if graded.interleaved:
                break
        return whole.with_batches(list(coalesce(whole.batches, grader.limits.cells)))


def _grade_block(block: Block, grader: Grader, is_large: bool) -> PartResult[Batch]:
    numbers = TopicCodes(grader.limits)
    rows = read_rows(block, grader, numbers)
    if is_large and len(rows.topic) > FEW_TOPICS + 2 * len(rows.topics):
        # Topics take turns, and go on doing so in other blocks: nothing is to be made of this one.
        return PartResult([], rows.topics, tag=rows.tag, interleaved=True)
    rows, dropped = grade_by_block(rows, numbers, grader)
    return PartResult(list(grader.batches(grader.countable(rows.documents()))), rows.topics, dropped, rows.tag)


@dataclass(frozen=True)
class _SegmentBlocks:
    """The blocks of a segment of a file."""

    segment: Segment
    size: int

    def __iter__(self) -> Iterator[Block]:
        return blocks(replace(self.segment), self.size, self.segment.at)


@dataclass(eq=False)
class FileResult(Generic[Made]):
    """What the parts of a file give together.

    batches  a topic in several of them is complete in the last, which counts
    topics   all topics, in order of appearance
    divided  those whose lines were met in several blocks
    dropped  topic -> how many of its documents were dropped because they repeat
    """

    batches: list[Made] = field(default_factory=list)
    topics: dict[bytes, None] = field(default_factory=dict)
    divided: set[bytes] = field(default_factory=set)
    dropped: dict[bytes, int] = field(default_factory=dict)
    tag: str = ""
    interleaved: bool = False

    def add(self, part: PartResult[Made]) -> None:
        """Take the next part of the first pass."""
        self.tag = self.tag or part.tag
        for topic in part.topics:
            if topic in self.topics:
                self.divided.add(topic)
            self.topics[topic] = None
        self.dropped |= part.dropped
        self.batches += part.batches
        self.interleaved = part.interleaved or len(self.divided) > max(FEW_TOPICS, len(self.topics) // 2)

    def replace(self, part: PartResult[Made]) -> None:
        """Take topics that were divided, and are now complete."""
        for topic in part.topics:
            self.topics[topic] = None
            self.dropped.pop(topic, None)
        self.dropped |= part.dropped
        self.batches += part.batches


def grade_file(
    work: Callable[[RunPart], PartResult[Made]], stream: Stream, grader: Grader, workers: Workers
) -> FileResult[Made]:
    """`work` of each part of a run file, and again of topics whose lines stand in several parts.

    Raises NeedsLineReader where a line is no line of a run, and WorkerFailed.
    """
    result: FileResult[Made] = FileResult()
    is_large = stream.file is not None and stream.file.end - stream.file.at > grader.limits.large_file
    workers = workers if is_large else replace(workers, count=1)
    with closing(_first_pass(work, stream, grader, workers, is_large)) as done:
        for part in done:
            result.add(part)
            if result.interleaved:
                break
    if not result.topics:
        raise NeedsLineReader  # which says that the file is empty
    if result.divided or result.interleaved:
        only = None if result.interleaved else frozenset(result.divided)
        with closing(workers.imap(work, gather_topics(stream, grader, workers, only))) as again:
            for part in again:
                result.replace(part)
    return result


def _first_pass(
    work: Callable[[RunPart], PartResult[Made]], stream: Stream, grader: Grader, workers: Workers, is_large: bool
) -> Generator[PartResult[Made], None, None]:
    """`work` of each part of a file, in their order."""
    file, size = stream.file, grader.limits.block
    if file is not None and workers.count > 1:
        cut = segments(file, workers.count, grader.limits.segment, FIRST * size)
        yield from workers.imap(work, [BlocksPart(_SegmentBlocks(segment, size), is_large) for segment in cut])
        return
    results = map(work, _parts(blocks(stream, size), is_large))
    if file is None:
        yield from results
    else:
        count = (file.end - file.at) // size
        yield from workers.progress(results, 1 + max(0, count + BLOCKS - FIRST - 1) // BLOCKS, "parts")


def _parts(following: Iterator[Block], is_large: bool) -> Iterator[BlocksPart]:
    """The blocks of a stream, several in a part; each part is to be worked on before the next is asked for."""
    count = FIRST
    for block in following:
        yield BlocksPart(chain([block], islice(following, count - 1)), is_large)
        count = BLOCKS
