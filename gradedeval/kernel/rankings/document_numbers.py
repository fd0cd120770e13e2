"""Numbers of the documents of several runs, by topic and docno."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradedeval.arrays import Bools, Ints
from gradedeval.kernel.rankings.docnos import SLOTS, Docnos, Growing, Slots, most_probes, new_secret
from gradedeval.kernel.trec.tokenizer import PAD, Words, equal, words_at


class _EveryTopic:
    """A container that contains every topic id."""

    def __contains__(self, topic: object) -> bool:
        return True


EVERY_TOPIC = _EveryTopic()


class DocumentNumbers:
    """Numbers of the documents of topics, from 0 in order of appearance: a hash table that grows. Docnos are compared
    byte by byte, as different docnos may have equal hashes."""

    def __init__(self) -> None:
        kinds: tuple[Any, ...] = np.int32, np.uint64, np.int64, np.int64, np.uint8
        columns = [Growing(kind, 1 << FEWEST_BITS) for kind in kinds]
        self._topic, self._key, self._start, self._length, self._text = columns
        self._text.add(np.zeros(PAD, dtype=np.uint8))
        self._slots: Slots = np.full(1 << FEWEST_BITS, -1, dtype=np.int32)
        self._bits, self._secret = FEWEST_BITS, b""
        self.topic_numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._key.size

    def numbers(self, topic: Ints, docnos: Docnos) -> Ints:
        """Return the numbers of documents; new ones get the next numbers.

        topic  documents: number of the topic, from `topics`
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
        """Return the topic's number for each document, `counts` documents of each topic; new topics get the next
        numbers."""
        lookup = self.topic_numbers
        return np.repeat(np.array([lookup.setdefault(name, len(lookup)) for name in names], dtype=np.int64), counts)

    def names(self, numbers: Ints) -> list[bytes]:
        """Return the docnos of documents."""
        return Docnos(self._text.values, self._start.values[numbers], self._length.values[numbers]).names()

    def _keys(self, topic: Ints, docnos: Docnos) -> Words:
        """Return the key of each document, which determines its slot."""
        hashed = docnos.keyed(self._secret) if self._secret else docnos.hashed
        return hashed + topic.astype(np.uint64) * TOPIC

    def _draw_secret(self) -> None:
        """Rebuild the table with a secret, after too many collisions."""
        self._secret = new_secret()
        start, length = (column.values[: len(self)] for column in (self._start, self._length))
        docnos = Docnos(self._text.values, start, length)
        self._key.values[: len(self)] = self._keys(self._topic.values[: len(self)], docnos)
        self._slots[:] = -1
        self._fill(0)

    def _places(self, key: Words) -> Ints:
        places: Ints = (key >> np.uint64(64 - self._bits)).view(np.int64)
        return places

    def _find(self, key: Words, topic: Ints, docnos: Docnos) -> Ints | None:
        """Return the numbers of documents, −1 if new, by linear probing of all in step; None if keys without a secret
        collide too often."""
        probes_left = most_probes(len(key))
        result, open_rows, slot = np.full(len(key), -1, dtype=np.int64), np.arange(len(key)), self._places(key)
        while len(open_rows):
            probes_left -= len(open_rows)
            if probes_left < 0 and not self._secret:
                return None
            number = self._slots[slot]
            is_filled = number >= 0
            hit = np.flatnonzero(is_filled & (self._key.values[number] == key[open_rows]))
            hit = hit[self._same(number[hit], topic, docnos, open_rows[hit])]
            result[open_rows[hit]] = number[hit]
            is_filled[hit] = False
            open_rows, slot = open_rows[is_filled], (slot[is_filled] + 1) & (len(self._slots) - 1)
        return result

    def _same(self, number: Slots, topic: Ints, docnos: Docnos, rows: Ints) -> Bools:
        """Compare the documents of these numbers with the documents in these rows."""
        length = docnos.length[rows]
        same: Bools = (self._topic.values[number] == topic[rows]) & (self._length.values[number] == length)
        candidates = slice(None) if same.all() else np.flatnonzero(same)
        start, docno_start = self._start.values[number[candidates]], docnos.start[rows[candidates]]
        same[candidates] = equal(
            words_at(self._text.values), start, words_at(docnos.buffer), docno_start, length[candidates]
        )
        return same

    def _add(self, key: Words, topic: Ints, docnos: Docnos) -> None:
        """Assign the next numbers to new documents."""
        first_new, packed = len(self), docnos.packed()
        self._start.add(self._text.size + packed.start - PAD)
        for column, values in ((self._key, key), (self._topic, topic), (self._length, docnos.length)):
            column.add(values)
        self._text.add(packed.buffer[PAD:-PAD])
        if len(self) * SLOTS > len(self._slots):
            self._bits = (2 * SLOTS * len(self)).bit_length()
            self._slots, first_new = np.full(1 << self._bits, -1, dtype=np.int32), 0
        if not self._fill(first_new):
            self._draw_secret()

    def _fill(self, first: int) -> bool:
        """Insert documents from number `first` on; return False if keys without a secret collide too often."""
        number = np.arange(first, len(self), dtype=np.int32)
        slot, probes_left = self._places(self._key.values[number]), most_probes(len(number))
        while len(number):
            probes_left -= len(number)
            if probes_left < 0 and not self._secret:
                return False
            empty = np.flatnonzero(self._slots[slot] < 0)
            self._slots[slot[empty]] = number[empty]
            lost = np.flatnonzero(self._slots[slot] != number)
            number, slot = number[lost], (slot[lost] + 1) & (len(self._slots) - 1)
        return True


def _first_of_each(rows: Ints, topic: Ints, docnos: Docnos) -> tuple[Ints, Ints]:
    """Return the rows of first occurrences, and for each row the index of its first occurrence among them."""
    first: dict[tuple[int, bytes], int] = {}
    pairs = zip(topic[rows].tolist(), docnos[rows].names(), strict=True)
    same = np.array([first.setdefault(pair, len(first)) for pair in pairs])
    kept = np.append(True, np.maximum.accumulate(same)[1:] > np.maximum.accumulate(same)[:-1])
    return rows[kept], same


TOPIC = np.uint64(0x9E3779B97F4A7C15)
"""The multiplier that separates the keys of different topics."""

FEWEST_BITS = 12
"""Bits of the number of slots of an empty table."""
