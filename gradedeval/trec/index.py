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
"""Slots for each document at least: one in five that is not judged meets one that is, and is compared."""


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

    buffer  the text in which the docnos stand
    start   documents: where the docno begins
    length  documents: its length
    topic   documents: the topic's number
    hashed  documents: the docno's hash
    """

    buffer: Bytes
    start: Ints
    length: NDArray[Any]
    topic: NDArray[Any]
    hashed: Words
    regions: Regions
    slots: Slots

    def find(self, topic: Ints, buffer: Bytes, start: Ints, length: Ints, hashed: Words, place: Ints) -> Slots:
        """The number of the judged document that each of the documents is, −1 where it is not judged.

        `place` is `regions.places(topic, hashed)`. Equal hashes are no proof: the docnos are compared byte by byte.
        """
        found = np.full(len(start), -1, dtype=np.int32)
        slots = self.slots[place]
        rows = np.flatnonzero(slots >= 0)
        own, words = words_at(self.buffer), words_at(buffer)
        candidate, at = slots[rows], place[rows]
        while len(rows):
            same = self.hashed[candidate] == hashed[rows]
            hit = np.flatnonzero(same)
            judged, asked = candidate[hit], rows[hit]
            proven = (self.topic[judged] == topic[asked]) & (self.length[judged] == length[asked])
            proven[proven] = equal(own, self.start[judged[proven]], words, start[asked[proven]], length[asked[proven]])
            same[hit] = proven
            found[rows[same]] = candidate[same]
            rows, at = rows[~same], at[~same] + 1  # the next slot, until one is empty
            candidate = self.slots[at]
            going = candidate >= 0
            rows, at, candidate = rows[going], at[going], candidate[going]
        return found


def build(buffer: Bytes, start: Ints, length: Ints, topic: Ints, topics: int, hashed: Words) -> tuple[Index, Ints]:
    """The index of judged documents, and the numbers of those that stand in their topic again (not the first of each).

    Documents that repeat are in no slot.
    """
    own = regions(np.bincount(topic, minlength=topics))
    slots = np.full(own.size + 64, -1, dtype=np.int32)
    words = words_at(buffer)
    rows, at = np.arange(len(start)), own.places(topic, hashed)
    again: list[Ints] = [np.empty(0, dtype=np.int64)]
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
        again.append(rows[same])
        rows, at = rows[~same], at[~same] + 1
    small = np.int32 if len(buffer) < 1 << 31 else np.int64
    index = Index(buffer, start.astype(small), length.astype(np.int32), topic.astype(np.int32), hashed, own, slots)
    return index, np.sort(np.concatenate(again))


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
