"""Judgements as columns: of a file, read in blocks, or of dicts; and the index by which runs look them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gradedeval.forked import Failed, in_turn, processes
from gradedeval.gains import Floats, Ints
from gradedeval.rules import Duplicates
from gradedeval.trec.blocks import Irregular, Lines, check_beginning, split_lines
from gradedeval.trec.index import Index, build
from gradedeval.trec.lines import QRELS_FIELDS
from gradedeval.trec.memory import keep_memory
from gradedeval.trec.stream import Stream
from gradedeval.trec.topic_numbers import TopicNumbers
from gradedeval.trec.words import NEWLINE, PAD, Bytes, Words, padded, text_hashes

PART = 1 << 20
"""Bytes of a qrels file that are worked on at once."""

SHARED = 1 << 23
"""Bytes of a qrels file that several processes are worth."""

PIECE = 1 << 22
ZERO, MINUS = 48, 45


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgements in file order.

    topics    the ids, in order of appearance
    labels    the distinct grades, ascending
    code      documents: index into the labels
    index     documents: topic, docno and its hash
    repeated  how many more there were, of the same documents with the same grades
    """

    topics: list[bytes]
    labels: Floats
    code: NDArray[Any]
    index: Index
    repeated: int = 0

    def pool(self) -> Ints:
        """topics × labels: how many documents of the topic have each."""
        cells = self.index.topic.astype(np.int64) * len(self.labels) + self.code
        counts: Ints = np.bincount(cells, minlength=len(self.topics) * len(self.labels))
        return counts.reshape(len(self.topics), len(self.labels))

    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """topic -> docno -> code, topics and docnos in order of appearance."""
        text = self.index.buffer.tobytes()
        found: dict[bytes, dict[bytes, int]] = {topic: {} for topic in self.topics}
        by_number = list(found.values())
        ends = self.index.start.astype(np.int64) + self.index.length
        columns = (self.index.topic.tolist(), self.index.start.tolist(), ends.tolist(), self.code.tolist())
        for topic, start, end, code in zip(*columns, strict=True):
            by_number[topic][text[start:end]] = code
        return found

    def digest(self) -> str:
        """Six hexadecimal digits that change with any judgement, and not with their order.

        A sum of one 64-bit hash for each judgement does not know their order; sorting them would take longer than a run
        takes to score. hashlib is not asked: it takes longer to import than the whole of a small file's judgements.
        """
        *_, of_topic = text_hashes(self.topics)
        of_grade = (self.labels + 0.0).view(np.uint64)
        odd, total = np.uint64(0xFF51AFD7ED558CCD), 0
        of_topic *= odd
        of_grade *= odd
        for at in range(0, len(self.code), PART):
            rows = slice(at, at + PART)
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


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines of a file as columns.

    own, size  of stretches of lines with one topic: its number among `topics`, and how many lines
    """

    topics: list[bytes]
    own: Ints
    size: Ints
    start: Ints
    length: NDArray[Any]
    hashed: Words
    grades: NDArray[Any]


def read_judged(stream: Stream, duplicates: Duplicates, jobs: int = 1) -> Judged:
    """The judgements of a file, by several processes where it is large.

    Raises Irregular where a line is none, or one differs from another of the same document: the simple reader settles
    that, or says so.
    """
    keep_memory()
    buffer, end = _text(stream)
    parts = list(_parts(buffer, end))

    def read(number: int) -> _Lines | None:
        lines = split_lines(buffer, *parts[number], len(QRELS_FIELDS))
        if not len(lines):
            return None
        topics = TopicNumbers()
        own, size = topics.stretches(lines)
        return _Lines(topics.names, own, size, lines.start(2), lines.length(2), lines.hashes(2), _grades(lines))

    topics = TopicNumbers()
    grades: list[NDArray[Any]] = []
    # Written where they stay: parts of columns that are joined later take their memory twice. No line is shorter.
    most = (end - PAD) // len(b"t 0 d 1\n")
    small = np.int32 if len(buffer) < 1 << 31 else np.int64
    start, length, topic, hashed = (_empty(most, kind) for kind in (small, np.int32, np.int32, np.uint64))
    count = 0
    for lines in in_turn(read, len(parts), processes(jobs) if end > SHARED else 1):
        if lines is None:
            continue
        if isinstance(lines, Failed):
            raise Irregular
        part = slice(count, count := count + len(lines.start))
        topic[part] = np.repeat(topics.numbers(lines.topics)[lines.own], lines.size)
        start[part], length[part], hashed[part] = lines.start, lines.length, lines.hashed
        grades.append(lines.grades)
    if not count:
        raise Irregular
    start, length, topic, hashed = (column[:count] for column in (start, length, topic, hashed))
    labels, code = _coded(grades)
    index, again = build(buffer, start, length, topic, len(topics.names), hashed)
    if not again:
        return Judged(topics.names, labels, code, index)
    rows, firsts = (np.concatenate(column) for column in zip(*again, strict=True))
    if duplicates == "refuse" or (code[rows] != code[firsts]).any():
        raise Irregular
    kept = np.ones(len(code), dtype=bool)
    kept[rows] = False
    index, _ = build(buffer, start[kept], length[kept], topic[kept], len(topics.names), hashed[kept])
    return Judged(topics.names, labels, code[kept], index, len(rows))


def _empty(count: int, kind: Any) -> NDArray[Any]:
    return np.empty(count, dtype=kind)


def judged_of(codes: Mapping[bytes, Mapping[bytes, int]], labels: Floats) -> Judged:
    """The same from dicts topic -> docno -> code."""
    buffer, start, length, hashed = text_hashes([docno for documents in codes.values() for docno in documents])
    topic = np.repeat(np.arange(len(codes), dtype=np.int32), [len(documents) for documents in codes.values()])
    small = np.min_scalar_type(len(labels))
    code = np.array([code for documents in codes.values() for code in documents.values()], dtype=small)
    index, _ = build(buffer, start, length, topic, len(codes), hashed)
    return Judged(list(codes), labels, code, index)


DIGITS = np.arange(-9, 10)


def _grades(lines: Lines) -> NDArray[Any]:
    """The grades of lines: int8 where each is one digit, which most are; otherwise float64."""
    start, length = lines.start(3), lines.length(3)
    digit = lines.buffer[start + (length - 1)] - np.uint8(ZERO)
    negative = (length == 2) & (lines.buffer[start] == MINUS)
    if not ((digit <= 9) & (negative | (length == 1))).all():
        return lines.numbers(3)
    grade: NDArray[np.int8] = digit.view(np.int8)
    np.negative(grade, out=grade, where=negative)
    return grade


def _coded(grades: list[NDArray[Any]]) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    seen: set[float] = set()
    for part in grades:
        if part.dtype == np.int8:
            seen.update(DIGITS[np.bincount(part + 9, minlength=len(DIGITS)) > 0].tolist())
        else:
            rising = np.sort(part)
            seen.update(rising[np.append(True, rising[1:] != rising[:-1])].tolist())
    labels = np.array(sorted(seen), dtype=np.float64) + 0.0  # no −0
    small = np.min_scalar_type(len(labels))
    of_digit = np.searchsorted(labels, DIGITS).astype(small)
    return labels, np.concatenate(
        [
            of_digit[part + 9] if part.dtype == np.int8 else np.searchsorted(labels, part).astype(small)
            for part in grades
        ]
    )


def _text(stream: Stream) -> tuple[Bytes, int]:
    """All bytes of a stream in a buffer, and where they end: with a newline."""
    file = stream.file
    pieces: list[Bytes] = []
    buffer = padded(file.end - file.at + 2 if file else 0)  # it ends short of this unless the file grows meanwhile
    size = stream.read_into(memoryview(buffer)[PAD:-PAD])  # type: ignore[arg-type]
    if size == len(buffer) - 2 * PAD:
        pieces.append(buffer[PAD:-PAD])
        while len(pieces) == 1 or len(pieces[-1]) == PIECE:
            piece = np.empty(PIECE, dtype=np.uint8)
            pieces.append(piece[: stream.read_into(memoryview(piece))])  # type: ignore[arg-type]
        size = sum(map(len, pieces))
        buffer = padded(size + 1)
        np.concatenate(pieces, out=buffer[PAD : PAD + size])
    at = PAD + size
    if size and buffer[at - 1] != NEWLINE:
        buffer[at] = NEWLINE
        at += 1
    check_beginning(buffer, PAD)
    return buffer, at


def _parts(buffer: Bytes, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of whole lines."""
    begin = PAD
    view = memoryview(buffer)  # type: ignore[arg-type]
    while begin < end:
        stop = min(begin + PART, end)
        if stop < end:
            size = 1 << 10
            newline = -1
            while newline < 0:  # the end of the line that goes on there
                newline = bytes(view[stop : stop + size]).find(b"\n")
                size *= 4
            stop += newline + 1
        yield begin, stop
        begin = stop
