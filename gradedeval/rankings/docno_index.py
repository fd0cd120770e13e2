"""JudgmentColumns documents by topic and docno: a table of slots that a block of documents is looked up in at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints
from gradedeval.trec.swar import Bytes, Words, equal, words_at

Slots = NDArray[np.int32]

SLOTS = 4
"""Slots for each document at least."""

TOGETHER = 1 << 16
"""JudgmentColumns documents that are worked on at once: what is looked at stays in the processor's cache."""


@dataclass(frozen=True, eq=False)
class TopicBuckets:
    """Each topic's own stretch of a table: where it begins, and how far a hash is shifted to give a place in it.

    A run lists topic after topic: stretches of their own keep what is looked at in the processor's cache.
    """

    begin: Ints
    shift: Words
    size: int

    def places(self, topic: Ints, hashed: Words, size: Ints | None = None) -> Ints:
        """The place of each document by the number of its topic; with `size`, of so many documents of each topic."""
        shift, begin = self.shift[topic], self.begin[topic]
        place = (hashed >> (shift if size is None else np.repeat(shift, size))).view(np.int64)
        place += begin if size is None else np.repeat(begin, size)
        return place


def topic_buckets(documents: Ints) -> TopicBuckets:
    """TopicBuckets for topics with so many documents each, a power of two of slots for each topic."""
    bits = np.frexp((documents * SLOTS).astype(np.float64))[1].astype(np.int64)  # 2**bits is more
    bits = np.maximum(bits, 1)
    sizes = np.left_shift(1, bits)
    ends = np.cumsum(sizes)
    return TopicBuckets(ends - sizes, (64 - bits).astype(np.uint64), int(ends[-1]) if len(ends) else 0)


@dataclass(frozen=True, eq=False)
class Index:
    """JudgmentColumns documents as columns, and ways to look them up.

    buffer  the text in which the docnos stand
    start   documents: where the docno begins
    length  documents: its length
    topic   documents: the topic's number
    hashed  documents: the docno's hash
    topics  how many topics there are
    """

    buffer: Bytes
    start: Ints
    length: NDArray[Any]
    topic: NDArray[Any]
    hashed: Words
    topics: int

    @cached_property
    def count(self) -> Ints:
        """topics: how many documents; the last is no topic, and has none."""
        count: Ints = np.bincount(self.topic, minlength=self.topics + 1)
        return count

    @cached_property
    def begin(self) -> Ints:
        """topics: how many documents those before have."""
        begin: Ints = np.cumsum(self.count) - self.count
        return begin

    @cached_property
    def order(self) -> Ints | None:
        """The documents topic after topic; None where they stand so."""
        in_order = bool((self.topic[1:] >= self.topic[:-1]).all())
        return None if in_order else np.argsort(self.topic, kind="stable")

    def fill(self) -> None:
        """Make ready what `find` needs, before processes are started that would do so, each for itself."""
        _ = self._filled

    def again(self) -> tuple[Ints, Ints]:
        """The numbers of documents that stand in their topic again, and of the first of each. They are in no slot."""
        return self._filled[2]

    @cached_property
    def _filled(self) -> tuple[TopicBuckets, Slots, tuple[Ints, Ints]]:
        """The table in which `find` looks: each topic's part of it; the number of a document in each slot, −1 where
        there is none; and what `again` gives."""
        own = topic_buckets(self.count)
        slots = np.full(own.size + 64, -1, dtype=np.int32)
        none = np.empty(0, dtype=np.int64)
        again = [(none, none)]
        for begin in range(0, len(self.start), TOGETHER):
            rows = np.arange(begin, min(begin + TOGETHER, len(self.start)))
            at = own.places(self.topic[rows], self.hashed[rows])
            while len(rows):
                if at.max() + 1 >= len(slots):  # the last region is full: an empty slot stays behind it
                    slots = np.append(slots, np.full(len(slots), -1, dtype=np.int32))
                # Of documents with one place the first in file order wins: the last one written stays.
                empty = np.flatnonzero(slots[at] < 0)[::-1]
                slots[at[empty]] = rows[empty]
                there = slots[at].astype(np.int64)
                beaten = np.flatnonzero(there != rows)
                rows, at, there = rows[beaten], at[beaten], there[beaten]
                same = (self.hashed[there] == self.hashed[rows]) & (self.topic[there] == self.topic[rows])
                hit = np.flatnonzero(same)
                same[hit] = self.same(there[hit], words_at(self.buffer), self.start[rows[hit]], self.length[rows[hit]])
                if same.any():
                    again.append((rows[same], there[same]))
                rows, at = rows[~same], at[~same] + 1
        numbers, firsts = (np.concatenate(column) for column in zip(*again, strict=True))
        return own, slots, (numbers, firsts)

    def of_topics(self, topic: Ints) -> tuple[Ints, Ints]:
        """The numbers of the judged documents of topics, −1 being none of them, one topic after the other; and how many
        each has."""
        count = self.count[topic]
        rows = np.repeat(self.begin[topic] - (np.cumsum(count) - count), count)
        rows += np.arange(len(rows))
        return rows if self.order is None else self.order[rows], count

    def find(self, topic: Ints, buffer: Bytes, start: Ints, length: NDArray[Any], hashed: Words) -> tuple[Ints, Slots]:
        """Which of the documents are judged, and the number of the judged document that each of them is.

        topic  documents: the topic's number, −1 where it is not judged

        Equal hashes are no proof: the docnos are compared byte by byte.
        """
        own, slots, _ = self._filled
        place = own.places(topic, hashed)
        rows = np.flatnonzero(slots[place] >= 0)
        topic, start, length, hashed, at = topic[rows], start[rows], length[rows], hashed[rows], place[rows]
        words, found = words_at(buffer), np.full(len(rows), -1, dtype=np.int32)
        asked = np.arange(len(rows))
        while len(asked):
            self._walk(slots, asked, at, hashed, found)
            asked = asked[found[asked] >= 0]
            proven = self.topic[found[asked]] == topic[asked]
            proven &= self.same(found[asked], words, start[asked], length[asked])
            asked = asked[~proven]
            found[asked] = -1
            at[asked] += 1
        hits = np.flatnonzero(found >= 0)
        return rows[hits], found[hits]

    def _walk(self, slots: Slots, asked: Ints, at: Ints, hashed: Words, found: Slots) -> None:
        """For those asked for, go on from slot to slot until one is empty or has a judged document of that hash: where
        that is, and its number."""
        while len(asked):
            judged = slots[at[asked]]
            there = judged >= 0
            same = there & (self.hashed[judged] == hashed[asked])
            found[asked[same]] = judged[same]
            asked = asked[there & ~same]
            at[asked] += 1

    def same(self, judged: Ints | Slots, words: Words, start: Ints, length: NDArray[Any]) -> Bools:
        """Whether the docnos of judged documents are those of tokens in a text."""
        same: Bools = self.length[judged] == length
        rows = slice(None) if same.all() else np.flatnonzero(same)
        same[rows] = equal(words_at(self.buffer), self.start[judged[rows]], words, start[rows], length[rows])
        return same


def hash_join(hashed: Words, place: Ints, size: int, asked: Words, asked_place: Ints) -> tuple[Slots, bool]:
    """The row that has each hash that is asked for, −1 where none has; and whether two rows may be one document, for
    they have one hash and one place: then not all is looked up.

    place, size  where each row belongs in a table of so many slots, in the region of its topic

    Each row writes its number into its slot, and those that do not find it there again try once more without the
    others.
    """
    slots = np.full(size, -1, dtype=np.int32)
    found = np.full(len(asked), -1, dtype=np.int32)
    left, left_place = np.arange(len(asked)), asked_place
    rows, at = np.arange(len(hashed), dtype=np.int32), place
    while len(rows):
        slots[at] = rows
        winner = slots[at]
        lost = np.flatnonzero(winner != rows)
        rows, at = rows[lost], at[lost]
        if (hashed[winner[lost]] == hashed[rows]).any():
            return found, True
        there = slots[left_place]
        hit = (hashed[there] == asked[left]) & (there >= 0)
        found[left[hit]] = there[hit]
        going = np.flatnonzero(~hit & (there >= 0))
        left, left_place = left[going], left_place[going]
    return found, False


def surely_distinct(topic: NDArray[Any], topics: int, hashed: Words) -> bool:
    """Whether no two documents of one topic can be the same: all have hashes of their own."""
    own = topic_buckets(np.bincount(topic, minlength=topics))
    place = own.places(topic, hashed)
    return not hash_join(hashed, place, own.size, hashed[:0], place[:0])[1]


def duplicate_candidates(hashed: Words, place: Ints) -> Ints:
    """Rows with the hash and the place of another row, all of them."""
    order = np.lexsort((hashed, place))
    same = (hashed[order[1:]] == hashed[order[:-1]]) & (place[order[1:]] == place[order[:-1]])
    return np.sort(order[np.append(same, False) | np.append(False, same)])
