"""A run file in parts: blocks of whole topics, each read, joined with the qrels and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import Batch, coalesce
from gradedeval.rankings.grade import Grader, PartResult, RunPart
from gradedeval.rankings.run_columns import grade_whole_topics, read_rows
from gradedeval.rankings.topic_codes import TopicCodes
from gradedeval.trec.layouts import LineLayout
from gradedeval.trec.open_files import Segment
from gradedeval.trec.stream import Stream
from gradedeval.trec.topic_blocks import Block, Stretch, blocks, segments

FIRST = 2
"""Blocks of the first part: the second tells whether topics take turns."""

BLOCKS = 8
"""Blocks of every other part: calls of numpy for the few topics of one would cost more than what they do."""

FEW_TOPICS = 16
"""Topics that may come again in a block before it counts as interleaved: more than once, as a rule."""


@dataclass(frozen=True, eq=False, repr=False)
class BlocksPart:
    """Blocks of a run file that are read one after the other, once: a part can be graded only once.

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
                whole.listing + graded.listing,
            )
            if graded.interleaved:
                break
        return whole.with_batches(list(coalesce(whole.batches, grader.limits.cells)))


@dataclass(frozen=True, eq=False, repr=False)
class SegmentPart:
    """A segment of a run file, which any process can read, and again where one died: of a URL on any machine.

    Raises InputError where the file is not the one that was cut.
    """

    segment: Segment | Stretch
    layout: LineLayout
    is_large: bool = False

    def grade(self, grader: Grader) -> PartResult[Batch]:
        own = self.segment.own()
        if own.at == own.end:
            return PartResult([])
        read = blocks(own, grader.limits.block, own.at, self.layout)
        try:
            return BlocksPart(read, self.is_large).grade(grader)
        finally:
            own.file.check()

    def closed(self) -> SegmentPart:
        """The same of a file that need not stay open."""
        return replace(self, segment=self.segment.closed())


def _grade_block(block: Block, grader: Grader, is_large: bool) -> PartResult[Batch]:
    numbers = TopicCodes(grader.limits)
    rows = read_rows(block, grader, numbers)
    if is_large and len(rows.topic) > FEW_TOPICS + 2 * len(rows.topics):
        # Topics take turns, and go on doing so in other blocks: nothing is to be made of this one.
        return PartResult([], rows.topics, tag=rows.tag, interleaved=True, listing=rows.listing)
    return grade_whole_topics(rows, numbers, grader)


class RunFile:
    """A run file, which is cut into parts; `is_large` says whether it is worth several processes."""

    def __init__(self, stream: Stream, grader: Grader, layout: LineLayout) -> None:
        self.stream, self.grader, self.layout, self.file = stream, grader, layout, stream.file
        self.is_large = self.file is not None and self.file.end - self.file.at > grader.limits.large_file

    def parts(self, workers: Workers) -> tuple[Sequence[RunPart] | Iterator[RunPart], int | None]:
        """All of it in parts that processes can share, or in parts to be worked on one after the other, each before the
        next is asked for; and how many there are about, where that is known."""
        limits, file = self.grader.limits, self.file
        if file is not None and workers.count > 1:
            cut = self.segments(workers)
            return cut, len(cut)
        count = None if file is None else (file.end - file.at) // limits.block
        parts = None if count is None else 1 + max(0, count + BLOCKS - FIRST - 1) // BLOCKS
        return self._in_turn(blocks(self.stream, limits.block, layout=self.layout)), parts

    def segments(self, workers: Workers) -> list[SegmentPart]:
        """All of a file on disk in parts that processes can share."""
        if self.file is None:
            return []
        limits = self.grader.limits
        cut = segments(self.file, workers.count, limits.segment, FIRST * limits.block, self.layout)
        return [SegmentPart(segment, self.layout, self.is_large) for segment in cut]

    def _in_turn(self, following: Iterator[Block]) -> Iterator[RunPart]:
        count = FIRST
        for block in following:
            yield BlocksPart(chain([block], islice(following, count - 1)), self.is_large)
            count = BLOCKS
