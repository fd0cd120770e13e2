"""Judgements as columns: of a file, read in blocks, or of dicts; and the index by which runs look them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Floats, Ints
from gradedeval.trec.blocks import NEWLINE, Irregular, check_beginning, split_lines
from gradedeval.trec.index import Index, build
from gradedeval.trec.lines import QRELS_FIELDS
from gradedeval.trec.stream import Stream
from gradedeval.trec.words import PAD, Bytes, Words, hashes, padded, words_at

PART = 1 << 20
"""Bytes of a qrels file that are worked on at once."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgements in file order.

    topics  the ids, in order of appearance
    labels  the distinct grades, ascending
    code    documents: index into the labels
    index   documents: topic, docno and its hash
    """

    topics: list[bytes]
    labels: Floats
    code: NDArray[Any]
    index: Index

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
        takes to score.
        """
        from hashlib import sha256

        text = b"".join(self.topics)
        of_topic = _text_hashes(text, [len(topic) for topic in self.topics])
        of_grade = (self.labels + 0.0).view(np.uint64)
        sums = []
        for odd in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            total = 0
            for at in range(0, len(self.code), PART):
                rows = slice(at, at + PART)
                mixed = (of_topic * np.uint64(odd))[self.index.topic[rows]]
                mixed ^= self.index.hashed[rows]
                mixed ^= mixed >> np.uint64(29)
                mixed *= np.uint64(odd)
                mixed ^= (of_grade * np.uint64(odd))[self.code[rows]]
                mixed ^= mixed >> np.uint64(32)
                mixed *= np.uint64(odd)
                mixed ^= mixed >> np.uint64(31)
                total += int(mixed.sum(dtype=np.uint64))
            sums.append(total % 2**64)
        return sha256(b"%d %d %d" % (len(self.code), *sums)).hexdigest()[:6]


def read_judged(stream: Stream) -> Judged:
    """The judgements of a file.

    Raises Irregular where a line is none, or one repeats another: the simple reader settles that, or says so.
    """
    buffer, end = _text(stream)
    number: dict[bytes, int] = {}
    topics, starts, ends, hashed, grades = [], [], [], [], []
    for begin, stop in _parts(buffer, end):
        lines = split_lines(buffer, begin, stop, len(QRELS_FIELDS))
        if not len(lines):
            continue
        names, own, first = lines.stretches()
        numbers = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int32)
        topics.append(np.repeat(numbers[own], np.diff(np.append(first, len(lines)))))
        starts.append(lines.starts[2].copy())
        ends.append(lines.ends[2].copy())
        hashed.append(lines.hashes(2))
        grades.append(lines.numbers(3))
    if not topics:
        raise Irregular
    start, length = np.concatenate(starts), np.concatenate(ends)
    length -= start
    labels, code = _coded(grades)
    index, again = build(buffer, start, length, np.concatenate(topics), len(number), np.concatenate(hashed))
    if len(again):
        raise Irregular
    return Judged(list(number), labels, code, index)


def judged_of(codes: Mapping[bytes, Mapping[bytes, int]], labels: Floats) -> Judged:
    """The same from dicts topic -> docno -> code."""
    docnos = [docno for documents in codes.values() for docno in documents]
    text = b"".join(docnos)
    length = np.array([len(docno) for docno in docnos], dtype=np.int64)
    start = PAD + np.cumsum(length) - length
    buffer = _buffer(text)
    topic = np.repeat(np.arange(len(codes)), [len(documents) for documents in codes.values()])
    small = np.min_scalar_type(len(labels))
    code = np.array([code for documents in codes.values() for code in documents.values()], dtype=small)
    index, _ = build(buffer, start, length, topic, len(codes), hashes(words_at(buffer), start, start + length))
    return Judged(list(codes), labels, code, index)


def _coded(grades: list[Floats]) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    seen: set[float] = set()
    for part in grades:
        rising = np.sort(part)
        seen.update(rising[np.append(True, rising[1:] != rising[:-1])].tolist())
    labels = np.array(sorted(seen))
    small = np.min_scalar_type(len(labels))
    return labels, np.concatenate([np.searchsorted(labels, part).astype(small) for part in grades])


def _text(stream: Stream) -> tuple[Bytes, int]:
    """All bytes of a stream in a buffer, and where they end: with a newline."""
    pieces: list[Bytes] = []
    size = 0
    while True:
        piece = np.empty(1 << 22, dtype=np.uint8)
        count = stream.read_into(memoryview(piece))  # type: ignore[arg-type]
        pieces.append(piece[:count])
        size += count
        if count < len(piece):
            break
    buffer = padded(size + 1)
    at = PAD
    for piece in pieces:
        buffer[at : at + len(piece)] = piece
        at += len(piece)
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


def _buffer(text: bytes) -> Bytes:
    buffer = padded(len(text))
    buffer[PAD : PAD + len(text)] = np.frombuffer(text, dtype=np.uint8)
    return buffer


def _text_hashes(text: bytes, lengths: list[int]) -> Words:
    buffer = _buffer(text)
    length = np.array(lengths, dtype=np.int64)
    end = PAD + np.cumsum(length)
    return hashes(words_at(buffer), end - length, end)
