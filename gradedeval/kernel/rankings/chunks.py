"""Chunks folded into documents: docnos cut at the last separator or replaced by a table, and the best chunk kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Bools, Ints
from gradedeval.errors import Flag, InputError, Note, ProblemList, flag, plural, shorten
from gradedeval.kernel.rankings.docnos import Docnos, Index, JudgmentColumns, TopicBuckets, most_probes
from gradedeval.kernel.trec.lines import NeedsLineReader, decode, encode
from gradedeval.kernel.trec.tokenizer import Bytes, Words, equal, text_hashes, words_at

if TYPE_CHECKING:
    from gradedeval.kernel.options import Options
    from gradedeval.kernel.options.metadata import Collapse
    from gradedeval.kernel.rankings.grade import Rows
    from gradedeval.kernel.rankings.run import Run, TopicResults

MISSING = "list each chunk with its document"

# The last separator of each docno, eight positions at a time (SWAR, as in the tokenizer).

_EACH = 0x0101010101010101
_SEVEN, _HIGH = np.uint64(0x7F * _EACH), np.uint64(0x80 * _EACH)
_LAST = np.array([(2**64 - 1) ^ (2 ** (8 * (8 - count)) - 1) for count in range(9)], dtype=np.uint64)
"""count: a word whose last `count` bytes are all ones."""

ROWS = 1 << 14
"""Docnos cut at a time, so that the arrays stay in the cache."""


def cut_lengths(buffer: Bytes, start: Ints, length: NDArray[Any], separator: bytes) -> Ints:
    """Return the length of each docno up to its last separator; the whole length without one, or if nothing is before
    it."""
    words, cut = words_at(buffer), length.astype(np.int64)
    for begin in range(0, len(cut), ROWS):
        rows: Any = slice(begin, begin + ROWS)
        last, begins = cut[rows] - len(separator), start[rows]  # the last place where a separator may begin
        if not (last > 0).all():
            rows = np.flatnonzero(last > 0) + begin
            last, begins = cut[rows] - len(separator), start[rows]
        while len(last):
            at = _last_match(words, begins + (last - 7), separator, last)
            hit = at > 0
            if hit.all():
                cut[rows] = last - 8 + at
                break
            numbers = np.arange(rows.start, rows.start + len(last)) if isinstance(rows, slice) else rows
            cut[numbers[hit]] = last[hit] - 8 + at[hit]
            left = np.flatnonzero(~hit & (last > 8))
            rows, last, begins = numbers[left], last[left] - 8, begins[left]
    return cut


def _last_match(words: Words, position: Ints, separator: bytes, most: Ints) -> Ints:
    """Return for each position which of the eight places from there on is the last with a separator, from 1; 0: none.

    most  only the last `most` of the eight places count
    """
    match = _LAST.take(np.minimum(most, 8))
    match &= _HIGH
    for offset, byte in enumerate(separator):
        differs = words[position + offset] if offset else words[position]
        differs ^= np.uint64(byte * _EACH)
        seven = differs & _SEVEN
        seven += _SEVEN
        seven |= differs  # the highest bit of each byte: whether it differs
        match &= ~seven
    return (np.frexp(match.astype(np.float64))[1] >> 3).astype(np.int64)


@dataclass(eq=False, repr=False)
class Chunks:
    """Turns ids of chunks into ids of documents."""

    collapse: Collapse

    @cached_property
    def table(self) -> tuple[Index, Docnos, Ints]:
        """The ids of chunks with a hash table, the ids of documents, and for each chunk the number of its document."""
        numbers: dict[bytes, int] = {}
        number = [numbers.setdefault(document, len(numbers)) for document in self.collapse.of.values()]
        chunks = Docnos(*text_hashes(list(self.collapse.of)))
        index = Index(chunks, np.zeros(len(chunks), dtype=np.int32), 1)
        index.fill()
        return index, Docnos(*text_hashes(list(numbers))), np.array(number, dtype=np.int64)

    def documents_of(self, chunks: Docnos) -> tuple[Docnos, int]:
        """Return the document of each chunk, and how many ids have changed. Raises NeedsLineReader if a chunk is
        missing from the table: the line reader reports it."""
        if self.collapse.separator:
            length = cut_lengths(chunks.buffer, chunks.start, chunks.length, self.collapse.separator)
            changed = int(np.count_nonzero(length != chunks.length))
            return Docnos(chunks.buffer, chunks.start, length) if changed else chunks, changed
        index, documents, number = self.table
        hit, row = index.find(np.zeros(len(chunks), dtype=np.int64), chunks)
        if len(hit) < len(chunks):
            raise NeedsLineReader
        return documents[number[row]], len(chunks)  # `find` returns positions in ascending order

    def fold(self, rows: Rows, options: Options) -> Rows:
        """Fold the chunks of a run, which stand topic after topic and are all distinct; keep the order of the list."""
        documents, changed = self.documents_of(chunks := rows.ids)
        if not changed:
            return rows
        leader = leaders(rows.counts, documents)
        best = best_chunks(leader, rows, chunks, options)
        folded = rows.keep(best).named(documents[best])
        folded.changed = changed
        if options.collapse_by == "first":
            folded.chunks = chunks[best]
        return folded


def leaders(counts: Ints, documents: Docnos) -> NDArray[Any]:
    """Return for each row, topic after topic (`counts` rows each), the first row of the topic with the same docno."""
    hashed, count = documents.hashed, len(documents)
    buckets = TopicBuckets(counts)
    slot = buckets.places(np.arange(len(counts)), hashed, counts)
    slots, leader = np.empty(buckets.size, dtype=np.int32), np.empty(count, dtype=np.int32)
    rows, probes_left = np.arange(count, dtype=np.int32), most_probes(2 * count)
    while len(rows):
        probes_left -= len(rows)
        if probes_left < 0:
            return _leaders_by_name(counts, documents)
        slots[slot[::-1]] = rows[::-1]  # of several writes the last remains
        winner = slots.take(slot)
        same = hashed.take(winner) == hashed.take(rows)
        if same.all():
            leader[rows] = winner
            break
        leader[rows[same]] = winner[same]
        left = np.flatnonzero(~same)
        rows, slot = rows.take(left), slot.take(left)
    behind = np.flatnonzero(leader != np.arange(count, dtype=np.int32))
    first, words = leader[behind], words_at(documents.buffer)
    if not (documents.length[behind] == documents.length[first]).all():
        return _leaders_by_name(counts, documents)
    same_text = equal(words, documents.start[behind], words, documents.start[first], documents.length[behind])
    return leader if same_text.all() else _leaders_by_name(counts, documents)


def _leaders_by_name(counts: Ints, documents: Docnos) -> NDArray[Any]:
    """Return the same as `leaders`, for docnos whose hashes collide."""
    topics = np.repeat(np.arange(len(counts)), counts).tolist()
    first: dict[tuple[int, bytes], int] = {}
    keys = zip(topics, documents.names(), strict=True)
    return np.array([first.setdefault(key, row) for row, key in enumerate(keys)], dtype=np.int32)


def best_chunks(leader: NDArray[Any], rows: Rows, chunks: Docnos, options: Options) -> Ints:
    """Return the best row of each document, ascending: of the highest score; among equal ones of the lowest rank by
    `--ties rank`, of the chunk id that comes first by `--collapse-by first`, or the first one listed."""
    listed = np.arange(len(leader), dtype=leader.dtype)
    is_first = leader == listed
    firsts = np.flatnonzero(is_first)
    if rows.score is None:
        return firsts
    score = comparable(rows.score, options)
    top = score[leader]
    by_name = options.collapse_by == "first" and options.ties in ("docno-desc", "docno-asc")
    is_settled = rows.rank is None and not by_name
    if is_settled and (score <= top).all():
        return firsts
    top = score.copy()
    np.maximum.at(top, leader, score)
    candidate: Bools = score == top[leader]
    if rows.rank is not None:
        lowest = np.full(len(leader), np.inf)
        np.minimum.at(lowest, leader[candidate], rows.rank[candidate])
        candidate &= rows.rank == lowest[leader]
    candidates = np.flatnonzero(candidate)
    best = listed.copy()
    best[leader[candidates[::-1]]] = candidates[::-1]
    if by_name:
        _settle_by_name(best, leader, candidates, chunks, options.ties == "docno-desc")
    return np.sort(best[firsts])


def comparable(score: NDArray[Any], options: Options) -> NDArray[Any]:
    """Return scores in the precision in which they are compared."""
    if options.order != "float32":
        return score
    with np.errstate(over="ignore"):
        return score.astype(np.float32)


def _settle_by_name(
    best: NDArray[Any], leader: NDArray[Any], candidates: Ints, chunks: Docnos, descending: bool
) -> None:
    """Choose among equally good chunks of a document by id, in place."""
    count = np.bincount(leader[candidates], minlength=len(leader))
    several = candidates[count[leader[candidates]] > 1]
    chosen: dict[int, tuple[bytes, int]] = {}
    for document, name, row in zip(leader[several].tolist(), chunks[several].names(), several.tolist(), strict=True):
        rival = chosen.setdefault(document, (name, row))
        if (name > rival[0]) if descending else (name < rival[0]):
            chosen[document] = name, row
    for document, (_, row) in chosen.items():
        best[document] = row


# Runs in lists.


def fold_run(run: Run, collapse: Collapse, options: Options) -> None:
    """Fold the chunks of a run in lists, topic by topic: the reference for columns.

    Raises InputError if a chunk is missing from the table.
    """
    problems = ProblemList(run.place)
    for topic, results in run.topics.items():
        chunks = [encode(docno) if isinstance(docno, str) else docno for docno in results.docnos]
        documents = [collapse.document(chunk) for chunk in chunks]
        for position, document in enumerate(documents):
            if document is None:
                problem = f"chunk '{decode(chunks[position])}' is not in {collapse.place}"
                problems.add(results.lines[position], problem, MISSING, kind="missing-chunk")
        run.changed += sum(map(bytes.__ne__, chunks, [document or b"" for document in documents]))
        best: dict[bytes | None, int] = {}
        for position, document in enumerate(documents):
            rival = best.setdefault(document, position)
            if rival != position and _is_better(results, chunks, position, rival, options):
                best[document] = position
        positions = sorted(best.values())
        folded = results.keep(positions)
        folded.docnos = [documents[position] for position in positions]
        folded.chunks = [chunks[position] for position in positions] if options.collapse_by == "first" else []
        run.topics[topic] = folded
    problems.check()


def _is_better(results: TopicResults, chunks: list[bytes], position: int, rival: int, options: Options) -> bool:
    """Return whether a chunk is better than another one of its document that is listed before it."""
    if options.order == "file":  # an object in memory has its scores even so
        return False
    score, rival_score = comparable(np.array([results.scores[position], results.scores[rival]]), options).tolist()
    if score != rival_score:
        return bool(score > rival_score)
    if len(results.ranks):
        return bool(results.ranks[position] < results.ranks[rival])
    if options.collapse_by == "first" and options.ties in ("docno-desc", "docno-asc"):
        descending = options.ties == "docno-desc"
        return chunks[position] > chunks[rival] if descending else chunks[position] < chunks[rival]
    return False


def unchanged_note(place: str, collapse: Collapse, option: Flag) -> Note:
    """Return the note on a file without a chunk."""
    separator = decode(collapse.separator)
    text = f"{place}: no docno has '{separator}' after its first character, so {option} changes nothing"
    return Note(text, "check the separator, or give the name of an existing file", kind="no-chunks")


# Judgments: a document has the highest grade of its chunks.


def fold_judgments(columns: JudgmentColumns, collapse: Collapse, place: str, notes: list[str]) -> JudgmentColumns:
    """Return the judgments of documents from those of chunks; append a note if none is folded.

    Raises InputError if a chunk is missing from the table.
    """
    index, chunks = columns.index, columns.index.docnos
    try:
        documents, changed = Chunks(collapse).documents_of(chunks)
    except NeedsLineReader:
        raise _missing_chunks(place, chunks.names(), collapse) from None
    if not changed:
        notes.append(unchanged_note(place, collapse, flag.collapse_qrels))
        return columns
    order = index.by_topic[1]
    rows = np.arange(len(chunks)) if order is None else order
    documents, code = documents[rows], columns.code[rows]
    leader = leaders(index.count[: len(columns.topics)], documents)
    highest = code.copy()
    np.maximum.at(highest, leader, code)  # labels ascend
    firsts = np.flatnonzero(leader == np.arange(len(leader)))
    labels, codes = np.unique(highest[firsts], return_inverse=True)
    folded = Index(documents[firsts], index.topic[rows[firsts]], len(columns.topics))
    small = codes.astype(np.min_scalar_type(len(labels)))
    return JudgmentColumns(columns.topics, columns.labels[labels], small, folded)


def fold_parts(
    graded: Mapping[bytes, Mapping[Any, float]], collapse: Collapse, place: str, notes: list[str]
) -> dict[bytes, dict[Any, float]]:
    """Return topic -> (document, subtopic or stratum) -> grade from judgments of chunks, as `fold_judgments`."""
    pairs = {pair for documents in graded.values() for pair in documents}
    documents = {chunk: collapse.document(chunk) for chunk, _ in pairs}
    if None in documents.values():
        raise _missing_chunks(place, sorted(documents), collapse)
    if collapse.separator and all(chunk == document for chunk, document in documents.items()):
        notes.append(unchanged_note(place, collapse, flag.collapse_qrels))
    folded: dict[bytes, dict[tuple[bytes, bytes], float]] = {}
    for topic, grades in graded.items():
        highest = folded.setdefault(topic, {})
        for (chunk, part), grade in grades.items():
            key = documents[chunk] or b"", part
            highest[key] = max(grade, highest.get(key, grade))
    return folded


def _missing_chunks(place: str, chunks: Iterable[bytes], collapse: Collapse) -> InputError:
    """Return the error of judged chunks that the table lacks."""
    missing = [decode(chunk) for chunk in dict.fromkeys(chunks) if collapse.document(chunk) is None]
    verb = "is" if len(missing) == 1 else "are"
    problem = (
        f"{len(missing)} judged {plural(len(missing), 'chunk')} {verb} not in {collapse.place} ({shorten(missing)})"
    )
    return InputError(place, problem, MISSING, kind="missing-chunk")
