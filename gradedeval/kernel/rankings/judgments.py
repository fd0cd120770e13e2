"""Judgments as columns, from a file read in blocks or from dicts, with the index in which runs look them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints, distinct
from gradedeval.errors import plural
from gradedeval.kernel.options import Duplicates
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.parallel.workers import Workers
from gradedeval.kernel.rankings.batch import GradeCounts
from gradedeval.kernel.rankings.docnos import TOGETHER, Index, TopicCodes, surely_distinct
from gradedeval.kernel.trec.blocks import parts_of, whole_text
from gradedeval.kernel.trec.lines import QRELS, LineLayout, NeedsLineReader
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.tokenizer import NEWLINE, PAD, Bytes, Lines, Words, lines_of, text_hashes

SHARED = 1 << 23
"""Bytes of a qrels file that several processes are worth."""


ZERO, MINUS = 48, 45


@dataclass(eq=False, repr=False)
class JudgmentColumns:
    """Judgments in file order.

    topics    the ids, in order of appearance
    labels    the distinct grades, ascending
    code      documents: index into the labels
    index     documents: topic, docno and its hash
    repeated  how many further judgments repeat a document with the same grade
    """

    topics: list[bytes]
    labels: Floats
    code: NDArray[Any]
    index: Index
    repeated: int = 0

    def counts(self) -> GradeCounts:
        """How many documents of each topic have each label."""
        return GradeCounts.of(self.index.topic, self.code, len(self.topics), len(self.labels))

    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """topic -> docno -> code, topics and docnos in order of appearance."""
        text = self.index.buffer.tobytes()
        codes: dict[bytes, dict[bytes, int]] = {topic: {} for topic in self.topics}
        by_number = list(codes.values())
        ends = self.index.start.astype(np.int64) + self.index.length
        columns = (self.index.topic.tolist(), self.index.start.tolist(), ends.tolist(), self.code.tolist())
        for topic, start, end, code in zip(*columns, strict=True):
            by_number[topic][text[start:end]] = code
        return codes

    def digest(self) -> str:
        """Six hexadecimal digits that change with any judgment, and not with their order.

        A sum of 64-bit hashes, one for each judgment, does not depend on their order; sorting would take longer than
        scoring a run, and importing hashlib longer than reading a small file.
        """
        *_, of_topic = text_hashes(self.topics)
        of_grade = (self.labels + 0.0).view(np.uint64)
        odd, total = np.uint64(0xFF51AFD7ED558CCD), 0
        of_topic *= odd
        of_grade *= odd
        for at in range(0, len(self.code), TOGETHER):
            rows = slice(at, at + TOGETHER)
            mixed = of_topic[self.index.topic[rows]]
            mixed ^= self.index.hashed[rows]
            mixed ^= mixed >> np.uint64(29)
            mixed *= odd
            mixed ^= of_grade[self.code[rows]]
            mixed ^= mixed >> np.uint64(32)
            mixed *= odd
            mixed ^= mixed >> np.uint64(31)
            total += int(mixed.sum(dtype=np.uint64))
        return f"{crc32(b'%d %d' % (len(self.code), total % 2**64)):08x}"[2:]


Columns = list[NDArray[Any]]
"""The docnos of all lines of a file: start, length and hash."""


@dataclass(eq=False, repr=False)
class _Part:
    """The topics and grades of the lines of a part of a file.

    count     how many lines have fields
    topics    the ids, in order of appearance
    topic     runs of lines of one topic: the index into `topics`
    size      runs: how many lines
    grades    lines
    distinct  whether no two lines can be the same document
    """

    count: int
    topics: list[bytes]
    topic: Ints
    size: Ints
    grades: NDArray[Any]
    distinct: bool


def read_judgments(
    stream: Stream, duplicates: Duplicates, jobs: int = 1, layout: LineLayout = QRELS
) -> JudgmentColumns:
    """The judgments of a file, by several processes where it is large.

    Raises NeedsLineReader where a line is none, or one differs from another of the same document: the line reader
    settles that, or says so.
    """
    raise_malloc_threshold()
    buffer, end = whole_text(stream, layout)
    bounds = list(parts_of(buffer, PAD + layout.skip, end))
    columns, parts = _columns(buffer, bounds, jobs if end > SHARED else 1, layout)
    start, length, hashed = columns
    topics, topic, distinct = _topics(parts, hashed)
    labels, code = _coded([part.grades for part in parts])
    index = Index(buffer, start, length, topic, hashed, len(topics))
    if distinct or not len((again := index.again())[0]):
        return JudgmentColumns(topics, labels, code, index)
    rows, firsts = again
    if duplicates == "refuse" or (code[rows] != code[firsts]).any():
        raise NeedsLineReader
    included = np.ones(len(code), dtype=bool)
    included[rows] = False
    index = Index(buffer, start[included], length[included], topic[included], hashed[included], len(topics))
    return JudgmentColumns(topics, labels, code[included], index, len(rows))


def _columns(
    buffer: Bytes, bounds: list[tuple[int, int]], jobs: int, layout: LineLayout
) -> tuple[Columns, list[_Part]]:
    """The columns of all lines in a buffer, whose parts are read by several processes. The rows of a part begin at an
    offset that leaves room for the parts before; the gaps that comments and blank lines leave are closed at the end."""
    newlines = [np.count_nonzero(buffer[begin:end] == NEWLINE) for begin, end in bounds]
    ends = np.cumsum(newlines).tolist()
    begins = [0, *ends[:-1]]
    count, small = ends[-1] if ends else 0, np.int32 if len(buffer) < 1 << 31 else np.int64
    make: Any = np.empty
    if jobs > 1:
        from gradedeval.kernel.parallel.executors import can_fork, shared_array  # few qrels are so large

        make, jobs = (shared_array, jobs) if can_fork() else (make, 1)
    columns: Columns = [make(count, small), make(count, np.int32), make(count, np.uint64)]
    read, tasks = partial(_read, buffer, layout, columns), list(zip(bounds, begins, strict=False))
    parts = list(Workers(jobs).imap(read, tasks) if jobs > 1 else map(read, tasks))
    if not any(part.count for part in parts):
        raise NeedsLineReader
    size = 0
    for begin, part in zip(begins, parts, strict=True):
        if size < begin:
            for column in columns:
                column[size : size + part.count] = column[begin : begin + part.count]
        size += part.count
    return [column[:size] for column in columns], parts


def _read(buffer: Bytes, layout: LineLayout, columns: Columns, task: tuple[tuple[int, int], int]) -> _Part:
    """The lines of a part of a buffer, written to the columns from a row on."""
    bounds, begin = task
    lines, none = lines_of(buffer, *bounds, layout), np.empty(0, dtype=np.int64)
    if not len(lines):
        return _Part(0, [], none, none, np.empty(0, dtype=np.int8), True)
    rows = slice(begin, begin + len(lines))
    start, length, hashed = columns
    docno, grade = layout.columns.index("docno"), layout.columns.index("grade")
    start[rows], length[rows], hashed[rows] = lines.start(docno), lines.length(docno), lines.hashes(docno)
    topics = TopicCodes()
    topic, size = topics.topic_runs(lines)
    distinct = surely_distinct(np.repeat(topic, size), len(topics.names), hashed[rows])
    return _Part(len(lines), topics.names, topic, size, _grades(lines, grade), distinct)


def _topics(parts: list[_Part], hashed: Words) -> tuple[list[bytes], NDArray[np.int32], bool]:
    """The topics of all parts, the topic of each line, and whether no two lines can be the same document. That is left
    open if many topics are in several parts."""
    topics = TopicCodes()
    numbers = [topics.numbers(part.topics) for part in parts]
    topic = np.concatenate(
        [np.repeat(number[part.topic], part.size) for number, part in zip(numbers, parts, strict=True)],
        dtype=np.int32,
        casting="same_kind",
    )
    divided = np.bincount(np.concatenate(numbers)) > 1  # topics in several parts
    rows = np.flatnonzero(divided[topic])
    distinct = all(part.distinct for part in parts) and len(rows) <= TOGETHER
    return topics.names, topic, distinct and surely_distinct(topic[rows], len(divided), hashed[rows])


def judgments_of_codes(codes: Mapping[bytes, Mapping[Any, int]], labels: Floats) -> JudgmentColumns:
    """The columns of dicts topic -> docno, as bytes or as text, -> code."""
    every = chain.from_iterable(documents.values() for documents in codes.values())
    code = np.fromiter(every, np.min_scalar_type(len(labels)), sum(map(len, codes.values())))
    return judgments_of_lists(list(codes), list(map(list, codes.values())), code, labels)


def judgments_of_lists(
    topics: list[bytes], docnos: list[list[Any]], code: NDArray[Any], labels: Floats
) -> JudgmentColumns:
    """The columns of topics, the docnos of each, as bytes or as text, and the code of every document."""
    buffer, start, length, hashed = text_hashes(list(chain.from_iterable(docnos)))
    topic = np.repeat(np.arange(len(topics), dtype=np.int32), list(map(len, docnos)))
    return JudgmentColumns(topics, labels, code, Index(buffer, start, length, topic, hashed, len(topics)))


DIGITS = np.arange(-9, 10)


def _grades(lines: Lines, column: int) -> NDArray[Any]:
    """The grades of lines: int8 if each is a single digit, as usual; otherwise float64."""
    start, length = lines.start(column), lines.length(column)
    digit = lines.buffer[start + (length - 1)] - np.uint8(ZERO)
    negative = (length == 2) & (lines.buffer[start] == MINUS)
    if not ((digit <= 9) & (negative | (length == 1))).all():
        return lines.numbers(column)
    grade: NDArray[np.int8] = digit.view(np.int8)
    np.negative(grade, out=grade, where=negative)
    return grade


def coded(grades: Floats) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    digits = bool((np.abs(grades) <= DIGITS[-1]).all() and (grades == np.floor(grades)).all())
    return _coded([grades.astype(np.int8) if digits else grades])


def _coded(grades: list[NDArray[Any]]) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    seen: set[float] = set()
    for part in grades:
        if part.dtype == np.int8:
            seen.update(DIGITS[np.bincount(part + 9, minlength=len(DIGITS)) > 0].tolist())
        else:
            seen.update(distinct(part)[0].tolist())
    labels = np.array(sorted(seen), dtype=np.float64) + 0.0  # no −0
    small = np.min_scalar_type(len(labels))
    of_digit = np.searchsorted(labels, DIGITS).astype(small)
    return labels, np.concatenate(
        [
            of_digit[part + 9] if part.dtype == np.int8 else np.searchsorted(labels, part).astype(small)
            for part in grades
        ]
    )


def note_of_repeats(place: str, count: int) -> list[str]:
    """The note about judgments that stand there more than once with the same grade, if there are any."""
    what = f"{place}: {count} {plural(count, 'judgment')} repeated with the same grade; counted once"
    return [what] if count else []
