"""Judged documents by topic and docno: a table of slots that a block of documents is looked up in at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.gains import Ints
from gradedeval.trec.words import Bytes, Words, equal, words_at

Slots = NDArray[np.int32]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
SLOTS = 4
"""Slots for each document at least."""

_BIT = np.left_shift(1, np.arange(8)).astype(np.uint8)

TOGETHER = 1 << 16
"""Judged documents that are worked on at once: what is looked at stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Regions:
    """Each topic's own stretch of a table: where it begins, and how far a hash is shifted to give a place in it.

    A run lists topic after topic: stretches of their own keep what is looked at in the processor's cache.
    """

    begin: Ints
    shift: Words
    size: int

    def places(self, topic: Ints, hashed: Words) -> Ints:
        return self.begin[topic] + (hashed >> self.shift[topic]).astype(np.int64)

    def bits(self, topic: Ints, hashed: Words) -> Ints:
        """As `places`, eight times as fine."""
        shift = self.shift - np.uint64(3)
        return (self.begin << 3)[topic] + (hashed >> shift[topic]).view(np.int64)


def regions(documents: Ints) -> Regions:
    """Regions for topics with so many documents each, a power of two of slots for each topic."""
    bits = np.frexp((documents * SLOTS).astype(np.float64))[1].astype(np.int64)  # 2**bits is more
    bits = np.maximum(bits, 1)
    sizes = np.left_shift(1, bits)
    ends = np.cumsum(sizes)
    return Regions(ends - sizes, (64 - bits).astype(np.uint64), int(ends[-1]) if len(ends) else 0)


@dataclass(frozen=True, eq=False)
class Index:
    """Judged documents as columns, and the slots that hold their numbers.

    buffer   the text in which the docnos stand
    start    documents: where the docno begins
    length   documents: its length
    topic    documents: the topic's number
    hashed   documents: the docno's hash
    regions  each topic's slots
    slots    the number of a document, −1 where there is none
    marks    slots: a bit for each eighth of the hashes whose place it is, set where some judged document has one: most
             documents that are not judged are told by it alone
    """

    buffer: Bytes
    start: Ints
    length: NDArray[Any]
    topic: NDArray[Any]
    hashed: Words
    regions: Regions
    slots: Slots
    marks: NDArray[np.uint8]

    def find(self, topic: Ints, buffer: Bytes, start: Ints, end: Ints, hashed: Words) -> tuple[Ints, Slots]:
        """Which of the documents are judged, and the number of the judged document that each of them is.

        Equal hashes are no proof: the docnos are compared byte by byte.
        """
        bit = self.regions.bits(topic, hashed)
        place = bit >> 3
        rows = np.flatnonzero(self.marks[place] & _BIT[bit & 7])
        topic, start, hashed, at = topic[rows], start[rows], hashed[rows], place[rows]
        length = end[rows] - start
        found = np.full(len(rows), -1, dtype=np.int32)
        own, words = words_at(self.buffer), words_at(buffer)
        asked = np.arange(len(rows))
        candidate = self.slots[at]
        while len(asked):
            same = self.hashed[candidate] == hashed[asked]
            hit = np.flatnonzero(same & (candidate >= 0))
            judged, of = candidate[hit], asked[hit]
            proven = (self.topic[judged] == topic[of]) & (self.length[judged] == length[of])
            if not proven.all():
                hit, judged, of = hit[proven], judged[proven], of[proven]
            equals = equal(own, self.start[judged], words, start[of], length[of])
            found[of[equals]] = judged[equals]
            going = candidate >= 0
            going[hit[equals]] = False
            asked, at = asked[going], at[going] + 1  # the next slot, until one is empty
            candidate = self.slots[at]
        hits = np.flatnonzero(found >= 0)
        return rows[hits], found[hits]


def build(
    buffer: Bytes, start: Ints, length: Ints, topic: NDArray[Any], topics: int, hashed: Words
) -> tuple[Index, list[tuple[Ints, Ints]]]:
    """The index of judged documents; and pairs of columns: the numbers of documents that stand in their topic again,
    and of the first of each.

    Documents that repeat are in no slot.
    """
    own = regions(np.bincount(topic, minlength=topics))
    slots = np.full(own.size + 64, -1, dtype=np.int32)
    marks = np.zeros(own.size, dtype=np.uint8)
    words = words_at(buffer)
    again: list[tuple[Ints, Ints]] = []
    for begin in range(0, len(start), TOGETHER):
        rows = np.arange(begin, min(begin + TOGETHER, len(start)))
        bit = own.bits(topic[rows], hashed[rows])
        at = bit >> 3
        np.bitwise_or.at(marks, at, _BIT[bit & 7])
        while len(rows):
            if at.max() + 1 >= len(slots):  # the last region is full: an empty slot stays behind it
                slots = np.append(slots, np.full(len(slots), -1, dtype=np.int32))
            # Of documents with one place the first in file order wins: the last one written stays.
            empty = np.flatnonzero(slots[at] < 0)[::-1]
            slots[at[empty]] = rows[empty]
            there = slots[at].astype(np.int64)
            beaten = np.flatnonzero(there != rows)
            rows, at, there = rows[beaten], at[beaten], there[beaten]
            same = (hashed[there] == hashed[rows]) & (topic[there] == topic[rows]) & (length[there] == length[rows])
            hit = np.flatnonzero(same)
            same[hit] = equal(words, start[rows[hit]], words, start[there[hit]], length[rows[hit]])
            if same.any():
                again.append((rows[same], there[same]))
            rows, at = rows[~same], at[~same] + 1
    return Index(buffer, start, length, topic, hashed, own, slots, marks), again


def repeated(topic: Ints, hashed: Words, place: Ints, size: int) -> Ints:
    """Rows that may repeat the docno of another row of their topic: those with its hash, both of them.

    Each row writes its number into its slot; only those that do not find it there again are looked at further.
    """
    slots = np.empty(size, dtype=np.int32)
    rows = np.arange(len(hashed), dtype=np.int32)
    slots[place] = rows
    winner = slots[place]
    lost = np.flatnonzero(winner != rows)
    if not len(lost):
        return lost
    winner = winner[lost]
    keys = hashed[lost] + topic[lost].astype(np.uint64) * _SPREAD
    keys.sort()
    if not (hashed[winner] == hashed[lost]).any() and not (keys[1:] == keys[:-1]).any():
        return np.empty(0, dtype=np.int64)
    keys = hashed + topic.astype(np.uint64) * _SPREAD
    order = np.argsort(keys, kind="stable")
    same = keys[order[1:]] == keys[order[:-1]]
    return np.sort(order[np.append(same, False) | np.append(False, same)])
