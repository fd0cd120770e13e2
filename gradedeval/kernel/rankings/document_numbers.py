"""The numbers that the documents of several runs have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints
from gradedeval.kernel.rankings.docnos import SLOTS, Docnos, Slots, most_probes, new_secret
from gradedeval.kernel.trec.tokenizer import PAD, Words, equal, words_at


class _EveryTopic:
    """Contains the id of every topic, known or not."""

    def __contains__(self, topic: object) -> bool:
        return True


EVERY_TOPIC = _EveryTopic()


class DocumentNumbers:
    """Numbers of the documents of topics, from 0 on, in the order in which they are met: a hash table that grows.

    Equal hashes prove nothing: docnos are compared byte by byte.
    """

    def __init__(self) -> None:
        self._topic, self._key = _Column(np.int32), _Column(np.uint64)
        self._start, self._length, self._text = _Column(np.int64), _Column(np.int64), _Column(np.uint8)
        self._text.add(np.zeros(PAD, dtype=np.uint8))
        self._slots: Slots = np.full(1 << FEWEST_BITS, -1, dtype=np.int32)
        self._bits, self._secret = FEWEST_BITS, b""
        self.topic_numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._key.size

    def numbers(self, topic: Ints, docnos: Docnos) -> Ints:
        """The numbers of documents; those not met before are given the next ones.

        topic  documents: the topic's number, as `topics` gives it
        """
        key = self._keys(topic, docnos)
        if (number := self._find(key, topic, docnos)) is None:
            self._draw_secret()
            key = self._keys(topic, docnos)
            number = self._find(key, topic, docnos)
            assert number is not None
        new = np.flatnonzero(number < 0)
        if len(new):
            ordered = np.sort(key[new])
            first, same = new, np.arange(len(new))
            if (ordered[1:] == ordered[:-1]).any():  # a document may come twice
                first, same = _first_of_each(new, topic, docnos)
            number[new] = len(self) + same
            self._add(key[first], topic[first], docnos[first])
        return number

    def topics(self, names: Sequence[bytes], counts: Ints) -> Ints:
        """documents, `counts` of each of these topics: the topic's number; one not met before is given the next one."""
        known = self.topic_numbers
        return np.repeat(np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64), counts)

    def names(self, numbers: Ints) -> list[bytes]:
        """The docnos of documents."""
        return Docnos(self._text.values, self._start.values[numbers], self._length.values[numbers]).names()

    def _keys(self, topic: Ints, docnos: Docnos) -> Words:
        """Return what chooses the slot of each document."""
        hashed = docnos.keyed(self._secret) if self._secret else docnos.hashed
        return hashed + topic.astype(np.uint64) * TOPIC

    def _draw_secret(self) -> None:
        """Fill the table again, by a secret: too many keys chose the same slots."""
        self._secret = new_secret()
        start, length = (column.values[: len(self)] for column in (self._start, self._length))
        known = Docnos(self._text.values, start, length)
        self._key.values[: len(self)] = self._keys(self._topic.values[: len(self)], known)
        self._slots[:] = -1
        self._fill(0)

    def _places(self, key: Words) -> Ints:
        places: Ints = (key >> np.uint64(64 - self._bits)).view(np.int64)
        return places

    def _find(self, key: Words, topic: Ints, docnos: Docnos) -> Ints | None:
        """The numbers of documents, −1 of those that have none. Linear probing, of all of them in step. None where
        keys without a secret collide too often."""
        left = most_probes(len(key))
        found, wanted, at = np.full(len(key), -1, dtype=np.int64), np.arange(len(key)), self._places(key)
        while len(wanted):
            left -= len(wanted)
            if left < 0 and not self._secret:
                return None
            held = self._slots[at]
            there = held >= 0
            hit = np.flatnonzero(there & (self._key.values[held] == key[wanted]))
            hit = hit[self._same(held[hit], topic, docnos, wanted[hit])]
            found[wanted[hit]] = held[hit]
            there[hit] = False
            wanted, at = wanted[there], (at[there] + 1) & (len(self._slots) - 1)
        return found

    def _same(self, number: Slots, topic: Ints, docnos: Docnos, rows: Ints) -> Bools:
        """Whether these numbers are those of the documents in these rows."""
        length = docnos.length[rows]
        same: Bools = (self._topic.values[number] == topic[rows]) & (self._length.values[number] == length)
        at = slice(None) if same.all() else np.flatnonzero(same)
        start, other = self._start.values[number[at]], docnos.start[rows[at]]
        same[at] = equal(words_at(self._text.values), start, words_at(docnos.buffer), other, length[at])
        return same

    def _add(self, key: Words, topic: Ints, docnos: Docnos) -> None:
        """Give documents that are not known the next numbers."""
        before, packed = len(self), docnos.packed()
        self._start.add(self._text.size + packed.start - PAD)
        for column, more in ((self._key, key), (self._topic, topic), (self._length, docnos.length)):
            column.add(more)
        self._text.add(packed.buffer[PAD:-PAD])
        if len(self) * SLOTS > len(self._slots):
            self._bits = (2 * SLOTS * len(self)).bit_length()
            self._slots, before = np.full(1 << self._bits, -1, dtype=np.int32), 0
        if not self._fill(before):
            self._draw_secret()

    def _fill(self, first: int) -> bool:
        """Give the documents from a number on their slots. Return whether that was done: keys without a secret may
        collide too often."""
        number = np.arange(first, len(self), dtype=np.int32)
        at, left = self._places(self._key.values[number]), most_probes(len(number))
        while len(number):
            left -= len(number)
            if left < 0 and not self._secret:
                return False
            empty = np.flatnonzero(self._slots[at] < 0)
            self._slots[at[empty]] = number[empty]
            lost = np.flatnonzero(self._slots[at] != number)
            number, at = number[lost], (at[lost] + 1) & (len(self._slots) - 1)
        return True


def _first_of_each(rows: Ints, topic: Ints, docnos: Docnos) -> tuple[Ints, Ints]:
    """The rows without those of documents that have come before, and for each row which of these it is one of."""
    first: dict[tuple[int, bytes], int] = {}
    pairs = zip(topic[rows].tolist(), docnos[rows].names(), strict=True)
    same = np.array([first.setdefault(pair, len(first)) for pair in pairs])
    kept = np.append(True, np.maximum.accumulate(same)[1:] > np.maximum.accumulate(same)[:-1])
    return rows[kept], same


TOPIC = np.uint64(0x9E3779B97F4A7C15)
"""What tells the documents of one topic from those of the next."""

FEWEST_BITS = 12
"""Bits of the number of slots of an empty table."""


class _Column:
    """An array that grows; behind the first `size` of its values is room for PAD more, as words may be read there."""

    def __init__(self, dtype: Any) -> None:
        self.values, self.size = np.zeros(1 << FEWEST_BITS, dtype=dtype), 0

    def add(self, more: NDArray[Any]) -> None:
        end = self.size + len(more)
        if end + PAD > len(self.values):
            values = np.zeros(end + end // 2 + PAD, dtype=self.values.dtype)
            values[: self.size] = self.values[: self.size]
            self.values = values
        self.values[self.size : end] = more
        self.size = end
