"""Docnos as columns; judgments with the hash table by topic and docno, in which thousands of documents are looked up at
once; and the numbers of topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import urandom
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Floats, Ints, distinct, ranges
from gradedeval.kernel import parallel
from gradedeval.kernel.parallel import Limits
from gradedeval.kernel.trec.tokenizer import (
    NEAR,
    PAD,
    Bytes,
    Lines,
    Words,
    equal,
    gather,
    hashes,
    keyed_hashes,
    text_hashes,
    text_of,
    words_at,
)


@dataclass(frozen=True, eq=False, repr=False)
class Docnos:
    """The docnos of some documents.

    buffer  the text in which they stand
    start   documents: where the docno begins
    length  documents: its length
    known   documents: its hash, where that is known already
    """

    buffer: Bytes
    start: Ints
    length: NDArray[Any]
    known: Words | None = None

    @classmethod
    def of(cls, names: list[bytes]) -> Docnos:
        """The columns of docnos in a list."""
        return cls(*text_of(names))

    @classmethod
    def joined(cls, parts: Sequence[Docnos]) -> Docnos:
        """The docnos of all parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        before = np.cumsum([0, *(len(part.buffer) for part in parts)]).tolist()
        start = [part.start + begin for part, begin in zip(parts, before, strict=False)]
        buffer, length, known = (
            np.concatenate(column)
            for column in zip(*((part.buffer, part.length, part.hashed) for part in parts), strict=True)
        )
        return cls(buffer, np.concatenate(start), length, known)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, rows: Any) -> Docnos:
        """Some of them, in any order."""
        known = None if self.known is None else self.known[rows]
        return Docnos(self.buffer, self.start[rows], self.length[rows], known)

    @cached_property
    def hashed(self) -> Words:
        """documents: the docno's hash."""
        return hashes(gather(self.buffer, self.start, self.length), self.length) if self.known is None else self.known

    def keyed(self, secret: bytes) -> Words:
        """Return the hash of each docno by a secret."""
        return keyed_hashes(gather(self.buffer, self.start, self.length), self.length, secret)

    def names(self) -> list[bytes]:
        """The docnos themselves."""
        end = self.start + self.length
        first = int(self.start.min(initial=len(self.buffer)))
        text = self.buffer[first : int(end.max(initial=first))].tobytes()
        return list(map(text.__getitem__, map(slice, (self.start - first).tolist(), (end - first).tolist())))

    def packed(self) -> Docnos:
        """The same in a buffer without other text, so that what they stand in need not be kept."""
        longest = int(self.length.max(initial=0))
        if longest > NEAR:
            return Docnos(*text_of(self.names()), self.known)
        width = 8 * max(1, -(-longest // 8))
        cells = np.ndarray((len(self.buffer) - width + 1,), f"V{width}", self.buffer.data, strides=(1,))[self.start]
        buffer = np.zeros(2 * PAD + width * len(self), dtype=np.uint8)
        buffer[PAD : len(buffer) - PAD] = cells.view(np.uint8)
        return Docnos(buffer, PAD + width * np.arange(len(self)), self.length, self.known)


Slots = NDArray[np.int32]

SLOTS = 4
"""Minimum number of slots per document."""

TOGETHER = 1 << 16
"""Judged documents processed at a time, so that the arrays stay in the cache."""

PROBES, FEWEST_PROBES = 2, 1 << 8
"""Slots that a table with public hashes looks at for each document, and for a few of them, before it gives up. Hashes
that nobody chose need about 1.2 for each."""


def most_probes(documents: int) -> int:
    """Return how many slots may be looked at for this many documents, before their hashes count as chosen to collide.

    The table is then filled again with hashes by a secret, which is drawn after the ids are known.
    """
    return PROBES * documents + FEWEST_PROBES


def new_secret() -> bytes:
    """Return a secret for `keyed_hashes`."""
    return urandom(16)


class TopicBuckets:
    """A hash table divided by topic, a power of two slots for each.

    Runs list topic after topic: with separate slots for each topic, the slots in use stay in the cache.
    """

    def __init__(self, documents: Ints) -> None:
        """documents: how many each topic has."""
        bits = np.frexp((documents * SLOTS).astype(np.float64))[1].astype(np.int64)  # 2**bits exceeds the number
        bits = np.maximum(bits, 1)
        sizes = np.left_shift(1, bits)
        self.begin = np.cumsum(sizes) - sizes
        self.shift = (64 - bits).astype(np.uint64)
        self.size = int(sizes.sum())

    def places(self, topic: Ints, hashed: Words, size: Ints | None = None) -> Ints:
        """The slot of each document. topic: of each document; with `size`, of each stretch of that many documents."""
        shift, begin = self.shift[topic], self.begin[topic]
        place = (hashed >> (shift if size is None else np.repeat(shift, size))).view(np.int64)
        place += begin if size is None else np.repeat(begin, size)
        return place


@dataclass(eq=False, repr=False)
class _Table:
    """The hash table of an index.

    hashed   documents: the hash that chose the slot
    secret   what it depends on; None of public hashes
    buckets  the slots of each topic
    slots    the row of the document in each slot, −1 of none
    again    the rows of documents that repeat in their topic, and for each the first row; they have no slot
    """

    hashed: Words
    secret: bytes | None
    buckets: TopicBuckets
    slots: Slots
    again: tuple[Ints, Ints]

    def hashes_of(self, docnos: Docnos) -> Words:
        """Return the hashes by which docnos are looked up."""
        return docnos.hashed if self.secret is None else docnos.keyed(self.secret)


@dataclass(eq=False, repr=False)
class Index:
    """Judged documents as columns, with a hash table.

    buffer  the bytes that contain the docnos
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
        """topics: how many documents; the last entry is for documents without a topic, and 0."""
        count: Ints = np.bincount(self.topic, minlength=self.topics + 1)
        return count

    @cached_property
    def by_topic(self) -> tuple[Ints, Ints | None]:
        """topics: how many documents the topics before have; and the order that sorts documents by topic, None where
        they are sorted."""
        in_order = bool((self.topic[1:] >= self.topic[:-1]).all())
        return np.cumsum(self.count) - self.count, None if in_order else np.argsort(self.topic, kind="stable")

    def fill(self) -> None:
        """Fill the hash table that `find` needs: before processes are started, each of which would fill its buckets."""
        _ = self._filled

    def again(self) -> tuple[Ints, Ints]:
        """The rows of documents that repeat in their topic, and for each the first row. They have no slot."""
        return self._filled.again

    @cached_property
    def _filled(self) -> _Table:
        """The hash table of `find`."""
        return self._fill(self.hashed, None) or self._keyed()

    def _keyed(self) -> _Table:
        """Return the hash table with hashes by a new secret."""
        secret = new_secret()
        table = self._fill(Docnos(self.buffer, self.start, self.length).keyed(secret), secret)
        assert table is not None
        return table

    def _fill(self, hashed: Words, secret: bytes | None) -> _Table | None:
        """Return a hash table with these hashes; None where public ones collide too often."""
        buckets, left = TopicBuckets(self.count), most_probes(len(self.start))
        slots = np.full(buckets.size + 64, -1, dtype=np.int32)
        none = np.empty(0, dtype=np.int64)
        again = [(none, none)]
        for begin in range(0, len(self.start), TOGETHER):
            rows = np.arange(begin, min(begin + TOGETHER, len(self.start)))
            at = buckets.places(self.topic[rows], hashed[rows])
            while len(rows):
                left -= len(rows)
                if left < 0 and secret is None:
                    return None
                if at.max() + 1 >= len(slots):  # the last bucket is full: keep an empty slot behind it
                    slots = np.append(slots, np.full(len(slots), -1, dtype=np.int32))
                # Of documents with the same slot the first in file order wins: of several writes the last remains.
                empty = np.flatnonzero(slots[at] < 0)[::-1]
                slots[at[empty]] = rows[empty]
                there = slots[at].astype(np.int64)
                beaten = np.flatnonzero(there != rows)
                rows, at, there = rows[beaten], at[beaten], there[beaten]
                same = (hashed[there] == hashed[rows]) & (self.topic[there] == self.topic[rows])
                hit = np.flatnonzero(same)
                same[hit] = self.same(there[hit], words_at(self.buffer), self.start[rows[hit]], self.length[rows[hit]])
                if same.any():
                    again.append((rows[same], there[same]))
                rows, at = rows[~same], at[~same] + 1
        numbers, firsts = (np.concatenate(column) for column in zip(*again, strict=True))
        return _Table(hashed, secret, buckets, slots, (numbers, firsts))

    def rows_of(self, topic: Ints) -> tuple[Ints, Ints]:
        """The rows of the judged documents of these topics (−1: a topic without any), topic after topic; and how many
        each has."""
        count, (begin, order) = self.count[topic], self.by_topic
        rows = ranges(begin[topic], count)
        return rows if order is None else order[rows], count

    def find(self, topic: Ints, buffer: Bytes, start: Ints, length: NDArray[Any], hashed: Words) -> tuple[Ints, Slots]:
        """Which documents are judged, and the row of each of these in the index.

        topic  documents: the topic's number, −1 where it is not judged

        Equal hashes prove nothing: docnos are compared byte by byte.
        """
        docnos = Docnos(buffer, start, length, hashed)
        if (found := self._find(self._filled, topic, docnos)) is None:
            self._filled = self._keyed()
            found = self._find(self._filled, topic, docnos)
            assert found is not None
        return found

    def _find(self, table: _Table, topic: Ints, docnos: Docnos) -> tuple[Ints, Slots] | None:
        """As `find`, in a table; None where public hashes collide too often."""
        hashed, left = table.hashes_of(docnos), most_probes(len(topic))
        place = table.buckets.places(topic, hashed)
        rows = np.flatnonzero(table.slots[place] >= 0)
        topic, docnos, hashed, at = topic[rows], docnos[rows], hashed[rows], place[rows]
        words, match = words_at(docnos.buffer), np.full(len(rows), -1, dtype=np.int32)
        wanted = np.arange(len(rows))
        while len(wanted):
            left -= self._walk(table, wanted, at, hashed, match, left)
            if left < 0 and table.secret is None:
                return None
            wanted = wanted[match[wanted] >= 0]
            proven = self.topic[match[wanted]] == topic[wanted]
            proven &= self.same(match[wanted], words, docnos.start[wanted], docnos.length[wanted])
            wanted = wanted[~proven]
            match[wanted] = -1
            at[wanted] += 1
        hits = np.flatnonzero(match >= 0)
        return rows[hits], match[hits]

    def _walk(self, table: _Table, wanted: Ints, at: Ints, hashed: Words, match: Slots, left: int) -> int:
        """Linear probing: for each document wanted, go to the next slot until it is empty or has the same hash. Return
        how many slots were looked at; with public hashes it ends soon after `left` of them."""
        probes = 0
        while len(wanted) and (probes <= left or table.secret is not None):
            probes += len(wanted)
            judged = table.slots[at[wanted]]
            there = judged >= 0
            same = there & (table.hashed[judged] == hashed[wanted])
            match[wanted[same]] = judged[same]
            wanted = wanted[there & ~same]
            at[wanted] += 1
        return probes

    def same(self, judged: Ints | Slots, words: Words, start: Ints, length: NDArray[Any]) -> Bools:
        """Whether the docnos of judged documents equal these tokens of a text."""
        same: Bools = self.length[judged] == length
        rows = slice(None) if same.all() else np.flatnonzero(same)
        same[rows] = equal(words_at(self.buffer), self.start[judged[rows]], words, start[rows], length[rows])
        return same


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


DIGITS = np.arange(-9, 10)


def coded(grades: list[NDArray[Any]]) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades of all parts, and the index of each grade among them. Single digits may be int8."""
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


def hash_join(hashed: Words, place: Ints, size: int, wanted: Words, wanted_place: Ints) -> tuple[Ints, Slots, bool]:
    """A hash join: the hashes wanted that are there, as positions, and the row of each; and whether two rows may be the
    same document, because they have the same hash and slot, or hashes collide too often. Then the join is incomplete.

    place, size  the slot of each row in a table of `size` slots, in the bucket of its topic

    Each row writes its number into its slot; rows that lost their slot to another are joined in the next round.
    """
    slots = np.full(size, -1, dtype=np.int32)
    found, match = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    left, left_place = np.arange(len(wanted)), wanted_place
    rows, at = np.arange(len(hashed), dtype=np.int32), place
    again, probes = False, most_probes(len(hashed) + len(wanted))
    while len(rows) and not again:
        probes -= len(rows) + len(left)
        slots[at] = rows
        winner = slots.take(at)
        lost = np.flatnonzero(winner != rows)
        rows, at = rows.take(lost), at.take(lost)
        again = probes < 0 or bool(np.count_nonzero(hashed.take(winner.take(lost)) == hashed.take(rows)))
        there = slots.take(left_place)
        taken = np.flatnonzero(there >= 0)  # most slots are empty
        there, left = there.take(taken), left.take(taken)
        same = hashed.take(there) == wanted.take(left)
        hit = np.flatnonzero(same)
        found.append(left.take(hit))
        match.append(there.take(hit))
        if len(rows):
            going = np.flatnonzero(~same)
            left, left_place = left.take(going), left_place.take(taken.take(going))
    return np.concatenate(found), np.concatenate(match), again


def surely_distinct(topic: NDArray[Any], topics: int, hashed: Words) -> bool:
    """Whether no two documents of a topic can be the same, because all hashes differ. False, too, where hashes collide
    too often: `repeats` knows."""
    buckets = TopicBuckets(np.bincount(topic, minlength=topics))
    place = buckets.places(topic, hashed)
    return not hash_join(hashed, place, buckets.size, hashed[:0], place[:0])[2]


def repeats(topic: NDArray[Any], topics: int, docnos: Docnos) -> bool:
    """Return whether two documents of a topic are the same, as far as hashes by a secret tell."""
    return not surely_distinct(topic, topics, docnos.hashed) and len(duplicate_candidates(topic, docnos)) > 0


def duplicate_candidates(topic: NDArray[Any], docnos: Docnos) -> Ints:
    """All rows that have the same topic and hash by a secret as another row."""
    hashed = docnos.keyed(new_secret())
    order = np.lexsort((hashed, topic))
    same = (hashed[order[1:]] == hashed[order[:-1]]) & (topic[order[1:]] == topic[order[:-1]])
    return np.sort(order[np.append(same, False) | np.append(False, same)])


# Topics as numbers, in order of appearance: of lines that stand together, or take turns by the thousand.


class TopicCodes:
    """The topics of some blocks; `names` are in order of appearance."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or parallel.LIMITS
        self.names: list[bytes] = []
        self._number: dict[bytes, int] = {}
        self._rows: list[int] = []
        self._index: Index | None = None

    def topic_stretches(self, lines: Lines) -> tuple[Ints, Ints]:
        """The number of the topic of each stretch of lines with one topic, and how many lines it has."""
        first = lines.starts(0)
        size = np.diff(np.append(first, len(lines)))
        if len(first) > self._limits.topic_stretches:
            return self._many(lines, first), size
        return self.numbers(lines.tokens(0, first)), size

    def numbers(self, names: list[bytes]) -> Ints:
        """The numbers of topics by name."""
        known, number = self.names, self._number
        numbers = []
        for name in names:
            if (code := number.setdefault(name, len(known))) == len(known):
                known.append(name)
            numbers.append(code)
        return np.array(numbers, dtype=np.int64)

    def rows(self, row: Mapping[bytes, int]) -> Ints:
        """The row of each topic among others, −1 where it is none of them."""
        self._rows += [row.get(name, -1) for name in self.names[len(self._rows) :]]
        return np.array(self._rows, dtype=np.int64)

    def _many(self, lines: Lines, first: Ints) -> Ints:
        """As `numbers`, with one look at each topic and not at each stretch of lines."""
        start, length, hashed = lines.start(0)[first], lines.length(0)[first], lines.hashes(0)[first]
        known, codes = len(self.names), np.full(len(first), -1, dtype=np.int64)
        self._find(lines.buffer, start, length, hashed, codes)
        left = np.flatnonzero(codes < 0)
        if len(left):  # of new topics with one hash the first, which nearly all of them are
            _, new = np.unique(hashed[left], return_index=True)
            self.numbers(lines.tokens(0, first[left[np.sort(new)]]))
            self._find(lines.buffer, start, length, hashed, codes)
            left = np.flatnonzero(codes < 0)
            codes[left] = self.numbers(lines.tokens(0, first[left]))
        return self._by_appearance(codes, known)

    def _find(self, buffer: Bytes, start: Ints, length: NDArray[Any], hashed: Words, codes: Ints) -> None:
        """Write the numbers of the topics without one, −1, that are known to their codes."""
        if self._index is None or len(self._index.start) < len(self.names):
            names, starts, lengths, hashes = text_hashes(self.names)
            self._index = Index(names, starts, lengths, np.zeros(len(self.names), dtype=np.int32), hashes, 1)
        rows = np.flatnonzero(codes < 0)
        topic = np.zeros(len(rows), dtype=np.int64)
        hit, code = self._index.find(topic, buffer, start[rows], length[rows], hashed[rows])
        codes[rows[hit]] = code

    def _by_appearance(self, codes: Ints, known: int) -> Ints:
        """The numbers with those of new topics, from `known` on, in order of appearance."""
        if len(self.names) == known:
            return codes
        number, first = np.unique(codes, return_index=True)
        order = number[number >= known][np.argsort(first[number >= known])]
        if (order[1:] > order[:-1]).all():
            return codes
        self.names[known:] = [self.names[number] for number in order.tolist()]
        self._number = {name: number for number, name in enumerate(self.names)}
        self._index = None
        now = np.arange(len(self.names))
        now[order] = np.arange(known, len(self.names))
        return now[codes]


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
