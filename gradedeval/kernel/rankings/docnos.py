"""Docnos as columns, judgments with a hash table by topic and docno for bulk lookups, and numbers of topics."""

from __future__ import annotations

from collections.abc import Sequence
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
    run_starts,
    text_hashes,
    text_of,
    words_at,
)


@dataclass(frozen=True, eq=False, repr=False)
class Docnos:
    """The docnos of some documents.

    buffer  the text that contains them
    start   documents: start of the docno
    length  documents: its length
    known   documents: its hash, if already computed
    """

    buffer: Bytes
    start: Ints
    length: NDArray[Any]
    known: Words | None = None

    @classmethod
    def of(cls, names: list[bytes]) -> Docnos:
        return cls(*text_of(names))

    @classmethod
    def joined(cls, parts: Sequence[Docnos]) -> Docnos:
        """Concatenate parts."""
        if len(parts) == 1:
            return parts[0]
        offsets = np.cumsum([0, *(len(part.buffer) for part in parts)]).tolist()
        start = [part.start + begin for part, begin in zip(parts, offsets, strict=False)]
        buffer, length, all_hashes = (
            np.concatenate(column)
            for column in zip(*((part.buffer, part.length, part.hashed) for part in parts), strict=True)
        )
        return cls(buffer, np.concatenate(start), length, all_hashes)

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, rows: Any) -> Docnos:
        """Return some docnos, in any order."""
        known = None if self.known is None else self.known[rows]
        return Docnos(self.buffer, self.start[rows], self.length[rows], known)

    @cached_property
    def hashed(self) -> Words:
        """documents: hash of the docno."""
        return hashes(gather(self.buffer, self.start, self.length), self.length) if self.known is None else self.known

    def keyed(self, secret: bytes) -> Words:
        """Return the hash of each docno by a secret."""
        return keyed_hashes(gather(self.buffer, self.start, self.length), self.length, secret)

    def names(self) -> list[bytes]:
        """Return the docnos as a list."""
        end = self.start + self.length
        first = int(self.start.min(initial=len(self.buffer)))
        text = self.buffer[first : int(end.max(initial=first))].tobytes()
        return list(map(text.__getitem__, map(slice, (self.start - first).tolist(), (end - first).tolist())))

    def packed(self) -> Docnos:
        """Copy the docnos to a buffer without other text, so that the original can be freed."""
        longest = int(self.length.max(initial=0))
        if longest > NEAR:
            return Docnos(*text_of(self.names()), self.known)
        width = 8 * max(1, -(-longest // 8))
        cells = np.ndarray((len(self.buffer) - width + 1,), f"V{width}", self.buffer.data, strides=(1,))[self.start]
        buffer = np.zeros(2 * PAD + width * len(self), dtype=np.uint8)
        buffer[PAD : len(buffer) - PAD] = cells.view(np.uint8)
        return Docnos(buffer, PAD + width * np.arange(len(self)), self.length, self.known)


class Growing:
    """An array that grows in place, so that parts and whole are never in memory together. PAD more values follow the
    first `size`, as words may be read there."""

    def __init__(self, dtype: Any, room: int) -> None:
        self.values, self.size = np.zeros(room, dtype=dtype), 0

    def add(self, more: NDArray[Any]) -> None:
        end = self.size + len(more)
        if end + PAD > len(self.values):
            self.values.resize(end + end // 8 + PAD, refcheck=False)
        self.values[self.size : end] = more
        self.size = end


Slots = NDArray[np.int32]

SLOTS = 4
"""Minimum number of slots per document."""

TOGETHER = 1 << 16
"""Judged documents processed at a time, so that the arrays stay in the cache."""

PROBES, FEWEST_PROBES = 2, 1 << 8
"""Maximum slots probed per document in a table with public hashes, plus a constant for small tables. Ordinary hashes
need about 1.2 per document."""


def most_probes(documents: int) -> int:
    """Return how many slots may be looked at for this many documents, before their hashes count as chosen to collide.
    The table is then filled again with hashes by a secret, which is drawn after the ids are known."""
    return PROBES * documents + FEWEST_PROBES


def new_secret() -> bytes:
    """Return a secret for `keyed_hashes`."""
    return urandom(16)


class TopicBuckets:
    """A hash table divided by topic, a power of two slots for each: as runs list topic after topic, the slots in use
    stay in the cache."""

    def __init__(self, documents: Ints) -> None:
        """Size the buckets; `documents`: topics: number of documents."""
        bits = np.frexp((documents * SLOTS).astype(np.float64))[1].astype(np.int64)  # 2**bits exceeds the number
        bits = np.maximum(bits, 1)
        sizes = np.left_shift(1, bits)
        self.begin = np.cumsum(sizes) - sizes
        self.shift = (64 - bits).astype(np.uint64)
        self.size = int(sizes.sum())

    def places(self, topic: Ints, hashed: Words, size: Ints | None = None) -> Ints:
        """Return the slot of each document; `topic`: of each document or, with `size`, of each stretch of documents."""
        shift, begin = self.shift[topic], self.begin[topic]
        place = (hashed >> (shift if size is None else np.repeat(shift, size))).view(np.int64)
        place += begin if size is None else np.repeat(begin, size)
        return place


@dataclass(eq=False, repr=False)
class _Table:
    """The hash table of an index.

    hashed   documents: the hash that chose the slot
    secret   the key of these hashes; None: public hashes
    buckets  the slots of each topic
    slots    row of the document in each slot, −1: empty
    again    rows of documents that repeat in their topic, and the first row of each; they have no slot
    """

    hashed: Words
    secret: bytes | None
    buckets: TopicBuckets
    slots: Slots
    again: tuple[Ints, Ints]


@dataclass(eq=False, repr=False)
class Index:
    """Judged documents as columns, with a hash table.

    topic   documents: number of the topic
    topics  number of topics
    """

    docnos: Docnos
    topic: NDArray[Any]
    topics: int

    @cached_property
    def count(self) -> Ints:
        """topics: number of documents; an additional last entry, 0, is for documents without a topic."""
        count: Ints = np.bincount(self.topic, minlength=self.topics + 1)
        return count

    @cached_property
    def by_topic(self) -> tuple[Ints, Ints | None]:
        """The first position of each topic in documents sorted by topic, and the order that sorts them; None: already
        sorted."""
        in_order = bool((self.topic[1:] >= self.topic[:-1]).all())
        return np.cumsum(self.count) - self.count, None if in_order else np.argsort(self.topic, kind="stable")

    def fill(self) -> tuple[Ints, Ints]:
        """Fill the hash table that `find` needs: before processes are started, each of which would fill its buckets.
        Return the rows of documents that repeat in their topic and have no slot, and the first row of each."""
        return self._filled.again

    @cached_property
    def _filled(self) -> _Table:
        """The hash table of `find`."""
        return self._fill(self.docnos.hashed, None) or self._keyed()

    def _keyed(self) -> _Table:
        """Return the hash table with hashes by a new secret."""
        secret = new_secret()
        table = self._fill(self.docnos.keyed(secret), secret)
        assert table is not None
        return table

    def _fill(self, hashed: Words, secret: bytes | None) -> _Table | None:
        """Build a hash table with these hashes; None if public ones collide too often."""
        buckets, probes_left = TopicBuckets(self.count), most_probes(len(self.docnos))
        slots = np.full(buckets.size + 64, -1, dtype=np.int32)
        none = np.empty(0, dtype=np.int64)
        again = [(none, none)]
        for begin in range(0, len(self.docnos), TOGETHER):
            rows = np.arange(begin, min(begin + TOGETHER, len(self.docnos)))
            slot = buckets.places(self.topic[rows], hashed[rows])
            while len(rows):
                probes_left -= len(rows)
                if probes_left < 0 and secret is None:
                    return None
                if slot.max() + 1 >= len(slots):  # the last bucket is full: keep an empty slot behind it
                    slots = np.append(slots, np.full(len(slots), -1, dtype=np.int32))
                # Of documents with the same slot the first in file order wins: of several writes the last remains.
                empty = np.flatnonzero(slots[slot] < 0)[::-1]
                slots[slot[empty]] = rows[empty]
                row_there = slots[slot].astype(np.int64)
                lost = np.flatnonzero(row_there != rows)
                rows, slot, row_there = rows[lost], slot[lost], row_there[lost]
                same = (hashed[row_there] == hashed[rows]) & (self.topic[row_there] == self.topic[rows])
                hit = np.flatnonzero(same)
                same[hit] = self.same(row_there[hit], self.docnos, rows[hit])
                if same.any():
                    again.append((rows[same], row_there[same]))
                rows, slot = rows[~same], slot[~same] + 1
        numbers, firsts = (np.concatenate(column) for column in zip(*again, strict=True))
        return _Table(hashed, secret, buckets, slots, (numbers, firsts))

    def rows_of(self, topic: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the judged documents of these topics (−1: none), topic after topic; and the number of each
        topic."""
        count, (begin, order) = self.count[topic], self.by_topic
        rows = ranges(begin[topic], count)
        return rows if order is None else order[rows], count

    def find(self, topic: Ints, docnos: Docnos) -> tuple[Ints, Slots]:
        """Find the judged documents among some; return their positions, and the row of each in the index.

        topic  documents: number of the topic, −1 if it is not judged

        Docnos are compared byte by byte, as different docnos may have equal hashes.
        """
        if (result := self._find(self._filled, topic, docnos)) is None:
            self._filled = self._keyed()
            result = self._find(self._filled, topic, docnos)
            assert result is not None
        return result

    def _find(self, table: _Table, topic: Ints, docnos: Docnos) -> tuple[Ints, Slots] | None:
        """Find documents in a table, as `find`; None if public hashes collide too often."""
        hashed = docnos.hashed if table.secret is None else docnos.keyed(table.secret)
        probes_left = most_probes(len(topic))
        place = table.buckets.places(topic, hashed)
        rows = np.flatnonzero(table.slots[place] >= 0)
        topic, docnos, hashed, slot = topic[rows], docnos[rows], hashed[rows], place[rows]
        match = np.full(len(rows), -1, dtype=np.int32)
        open_rows = np.arange(len(rows))
        while len(open_rows):
            probes_left -= self._walk(table, open_rows, slot, hashed, match, probes_left)
            if probes_left < 0 and table.secret is None:
                return None
            open_rows = open_rows[match[open_rows] >= 0]
            proven = self.topic[match[open_rows]] == topic[open_rows]
            proven &= self.same(match[open_rows], docnos, open_rows)
            open_rows = open_rows[~proven]
            match[open_rows] = -1
            slot[open_rows] += 1
        hits = np.flatnonzero(match >= 0)
        return rows[hits], match[hits]

    def _walk(self, table: _Table, open_rows: Ints, slot: Ints, hashed: Words, match: Slots, probes_left: int) -> int:
        """Advance each open document until its slot is empty or has the same hash; return the number of slots probed.
        With public hashes it stops soon after `probes_left`."""
        probes = 0
        while len(open_rows) and (probes <= probes_left or table.secret is not None):
            probes += len(open_rows)
            judged = table.slots[slot[open_rows]]
            is_filled = judged >= 0
            same = is_filled & (table.hashed[judged] == hashed[open_rows])
            match[open_rows[same]] = judged[same]
            open_rows = open_rows[is_filled & ~same]
            slot[open_rows] += 1
        return probes

    def same(self, judged: Ints | Slots, docnos: Docnos, rows: Ints | Slots) -> Bools:
        """Compare the docnos of judged documents with those in these rows."""
        same: Bools = self.docnos.length[judged] == docnos.length[rows]
        hit = slice(None) if same.all() else np.flatnonzero(same)
        start, row, words = self.docnos.start[judged[hit]], rows[hit], words_at(self.docnos.buffer)
        same[hit] = equal(words, start, words_at(docnos.buffer), docnos.start[row], docnos.length[row])
        return same


@dataclass(eq=False, repr=False)
class JudgmentColumns:
    """Judgments in file order.

    topics    the ids, in order of appearance
    labels    the distinct grades, ascending
    code      documents: index into the labels
    index     documents: topic, docno and its hash
    repeated  number of further judgments that repeat a document with the same grade
    """

    topics: list[bytes]
    labels: Floats
    code: NDArray[Any]
    index: Index
    repeated: int = 0

    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """Return topic -> docno -> code, topics and docnos in order of appearance."""
        codes: dict[bytes, dict[bytes, int]] = {topic: {} for topic in self.topics}
        by_number, columns = (
            list(codes.values()),
            (self.index.topic.tolist(), self.index.docnos.names(), self.code.tolist()),
        )
        for topic, docno, code in zip(*columns, strict=True):
            by_number[topic][docno] = code
        return codes

    def docnos_of(self, topic: int) -> list[bytes]:
        """Return the documents of a topic, by its number."""
        rows, _ = self.index.rows_of(np.array([topic], dtype=np.int64))
        return self.index.docnos[rows].names()

    def digest(self) -> str:
        """Return six hexadecimal digits that change with any judgment, but not with their order.

        They derive from a sum of 64-bit hashes, one for each judgment; sorting would take longer than scoring a run,
        and importing hashlib longer than reading a small file.
        """
        *_, of_topic = text_hashes(self.topics)
        of_grade = (self.labels + 0.0).view(np.uint64)
        odd, total = np.uint64(0xFF51AFD7ED558CCD), 0
        of_topic *= odd
        of_grade *= odd
        for begin in range(0, len(self.code), TOGETHER):
            rows = slice(begin, begin + TOGETHER)
            mixed = of_topic[self.index.topic[rows]]
            mixed ^= self.index.docnos.hashed[rows]
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
    """Return the distinct grades of all parts, and the index of each grade among them. Single digits may be int8."""
    seen: set[float] = set()
    for part in grades:
        if part.dtype == np.int8:
            seen.update(DIGITS[np.bincount(part + 9, minlength=len(DIGITS)) > 0].tolist())
        else:
            seen.update(distinct(part)[0].tolist())
    labels = np.array(sorted(seen), dtype=np.float64) + 0.0  # no −0
    small = np.min_scalar_type(len(labels))
    of_digit = np.searchsorted(labels, DIGITS).astype(small)
    codes = []
    for part in grades:
        codes.append(of_digit[part + 9] if part.dtype == np.int8 else np.searchsorted(labels, part).astype(small))
    return labels, np.concatenate(codes)


def hash_join(hashed: Words, place: Ints, size: int, sought: Words, sought_place: Ints) -> tuple[Ints, Slots, bool]:
    """Join rows with sought hashes; return the positions of sought hashes with a match, their rows, and whether it
    failed.

    It fails, with an incomplete result, if two rows may be the same document (equal hash and slot), or if hashes
    collide too often.

    place, size  the slot of each row in a table of `size` slots, in the bucket of its topic

    Each row writes its number into its slot; rows that lost their slot to another are joined in the next round.
    """
    slots = np.full(size, -1, dtype=np.int32)
    hits, match = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    open_rows, open_place = np.arange(len(sought)), sought_place
    rows, slot = np.arange(len(hashed), dtype=np.int32), place
    again, probes = False, most_probes(len(hashed) + len(sought))
    while len(rows) and not again:
        probes -= len(rows) + len(open_rows)
        slots[slot] = rows
        winner = slots.take(slot)
        lost = np.flatnonzero(winner != rows)
        rows, slot = rows.take(lost), slot.take(lost)
        again = probes < 0 or bool(np.count_nonzero(hashed.take(winner.take(lost)) == hashed.take(rows)))
        row_there = slots.take(open_place)
        filled = np.flatnonzero(row_there >= 0)  # most slots are empty
        row_there, open_rows = row_there.take(filled), open_rows.take(filled)
        same = hashed.take(row_there) == sought.take(open_rows)
        hit = np.flatnonzero(same)
        hits.append(open_rows.take(hit))
        match.append(row_there.take(hit))
        if len(rows):
            unmatched = np.flatnonzero(~same)
            open_rows, open_place = open_rows.take(unmatched), open_place.take(filled.take(unmatched))
    return np.concatenate(hits), np.concatenate(match), again


def surely_distinct(topic: NDArray[Any], topics: int, hashed: Words) -> bool:
    """Check if all hashes in each topic differ, so that no document repeats. Also False if hashes collide too often;
    then `repeats` decides."""
    buckets = TopicBuckets(np.bincount(topic, minlength=topics))
    place = buckets.places(topic, hashed)
    return not hash_join(hashed, place, buckets.size, hashed[:0], place[:0])[2]


def repeats(topic: NDArray[Any], topics: int, docnos: Docnos) -> bool:
    """Check if a document repeats in its topic, by hashes with a secret if need be."""
    return not surely_distinct(topic, topics, docnos.hashed) and len(duplicate_candidates(topic, docnos)) > 0


def duplicate_candidates(topic: NDArray[Any], docnos: Docnos) -> Ints:
    """Return all rows that share topic and secret hash with another row."""
    hashed = docnos.keyed(new_secret())
    order = np.lexsort((hashed, topic))
    same = (hashed[order[1:]] == hashed[order[:-1]]) & (topic[order[1:]] == topic[order[:-1]])
    return np.sort(order[np.append(same, False) | np.append(False, same)])


# Topics as numbers, in order of appearance; fast for contiguous topics and for thousands of alternating ones.


class TopicCodes:
    """The numbers of topics of some blocks; `names` are in order of appearance."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or parallel.LIMITS
        self.names: list[bytes] = []
        self._number: dict[bytes, int] = {}
        self._index: Index | None = None

    def topic_stretches(self, lines: Lines) -> tuple[Ints, Ints]:
        """Return the topic's number and the number of lines of each stretch of lines with one topic."""
        first = run_starts(lines.word(0), lines.length(0))
        size = np.diff(np.append(first, len(lines)))
        if len(first) > self._limits.topic_stretches:
            return self._many(lines, first), size
        return self.numbers(lines.tokens(0, first)), size

    def numbers(self, names: list[bytes]) -> Ints:
        """Return the numbers of topics by name; new topics get the next numbers."""
        names_so_far, number = self.names, self._number
        numbers = []
        for name in names:
            if (code := number.setdefault(name, len(names_so_far))) == len(names_so_far):
                names_so_far.append(name)
            numbers.append(code)
        return np.array(numbers, dtype=np.int64)

    def _many(self, lines: Lines, first: Ints) -> Ints:
        """Return the numbers as `numbers`, with a lookup for each topic instead of each stretch of lines."""
        names = Docnos(lines.buffer, lines.start(0)[first], lines.length(0)[first], lines.hashes(0)[first])
        first_new, codes = len(self.names), np.full(len(first), -1, dtype=np.int64)
        self._find(names, codes)
        without_code = np.flatnonzero(codes < 0)
        if len(without_code):  # only the first new topic of each hash; nearly all hashes are unique
            _, first_rows = np.unique(names.hashed[without_code], return_index=True)
            self.numbers(lines.tokens(0, first[without_code[np.sort(first_rows)]]))
            self._find(names, codes)
            without_code = np.flatnonzero(codes < 0)
            codes[without_code] = self.numbers(lines.tokens(0, first[without_code]))
        return self._by_appearance(codes, first_new)

    def _find(self, names: Docnos, codes: Ints) -> None:
        """Fill in the codes of topics that have a number; −1 marks codes to fill in."""
        if self._index is None or len(self._index.docnos) < len(self.names):
            topic = np.zeros(len(self.names), dtype=np.int32)
            self._index = Index(Docnos(*text_hashes(self.names)), topic, 1)
        rows = np.flatnonzero(codes < 0)
        hit, code = self._index.find(np.zeros(len(rows), dtype=np.int64), names[rows])
        codes[rows[hit]] = code

    def _by_appearance(self, codes: Ints, first_new: int) -> Ints:
        """Renumber new topics, from `first_new` on, in order of appearance."""
        if len(self.names) == first_new:
            return codes
        number, first = np.unique(codes, return_index=True)
        order = number[number >= first_new][np.argsort(first[number >= first_new])]
        if (order[1:] > order[:-1]).all():
            return codes
        self.names[first_new:] = [self.names[number] for number in order.tolist()]
        self._number = {name: number for number, name in enumerate(self.names)}
        self._index = None
        new_number = np.arange(len(self.names))
        new_number[order] = np.arange(first_new, len(self.names))
        return new_number[codes]
