"""Graded judgments: which documents of a topic are judged, with which grade."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints, distinct
from gradedeval.errors import InputError, Note, ProblemList, plural
from gradedeval.options import Duplicates, Options
from gradedeval.options.definition import Labels, allowed_growth, read_format, read_labels
from gradedeval.parallel.executors import can_fork, raise_malloc_threshold, shared_array
from gradedeval.parallel.workers import Workers
from gradedeval.rankings.batch import GradeCounts, ranks
from gradedeval.rankings.docno_index import TOGETHER, Index, TopicCodes, surely_distinct
from gradedeval.rankings.frames import (
    Judgment,
    check_labels,
    grade_of,
    held,
    judgments_in,
    unused_labels,
    usual_judgments,
    words_of,
)
from gradedeval.rankings.objects import NOTHING_LISTED, Listed, readable
from gradedeval.trec import lines
from gradedeval.trec.file_formats import (
    DOCNO,
    GRADE,
    SCORE,
    STRATUM,
    SUBTOPIC,
    TOPIC,
    TableColumns,
    WholeFile,
    find_column,
    find_grades,
    no_column,
    not_whole,
    plain,
)
from gradedeval.trec.lines import (
    KEEP_ONE,
    QRELS,
    LineLayout,
    NeedsLineReader,
    decode,
    document,
    duplicate,
    encode,
    last_newline,
    long_line,
    numbered_lines,
    settle_duplicates,
)
from gradedeval.trec.recognition import format_of
from gradedeval.trec.stream import Source, Stream, is_file
from gradedeval.trec.tokenizer import (
    NEWLINE,
    PAD,
    SPACE,
    TAB,
    Bytes,
    Lines,
    Words,
    gather,
    hashes,
    is_sparse,
    lines_of,
    padded,
    run_starts,
    separate,
    text_hashes,
    tokens,
    words_at,
)

if TYPE_CHECKING:
    from gradedeval.rankings.supplements import Strata, Subtopics


# Judgments as columns, from a file read in blocks or from dicts, with the index in which runs look them up.


STEP = 1 << 22
"""Bytes of a qrels file that are read at once."""

PART = 1 << 20
"""Bytes of a qrels file that are worked on at once."""

SHARED = 1 << 23
"""Bytes of a qrels file that several processes are worth."""

ZERO, MINUS = 48, 45


@dataclass(frozen=True, eq=False, repr=False)
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

    def counts(self) -> GradeCounts:
        """How many documents of each topic have each label."""
        return GradeCounts.of(self.index.topic, self.code, len(self.topics), len(self.labels))

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


Columns = list[NDArray[Any]]
"""The docnos of all lines of a file: start, length and hash."""


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    """The topics and grades of the lines of a part of a file.

    count     how many lines have fields
    topics    the ids, in order of appearance
    topic     runs of lines of one topic: the index into `topics`
    size      runs: how many lines
    grades    lines
    distinct  whether no two lines can be the same document
    """

    count: int
    topics: list[bytes]
    topic: Ints
    size: Ints
    grades: NDArray[Any]
    distinct: bool


def read_judgments(
    stream: Stream, duplicates: Duplicates, jobs: int = 1, layout: LineLayout = QRELS
) -> JudgmentColumns:
    """The judgments of a file, by several processes where it is large.

    Raises NeedsLineReader where a line is none, or one differs from another of the same document: the line reader
    settles that, or says so.
    """
    raise_malloc_threshold()
    buffer, end = _text(stream, layout)
    bounds = list(_bounds(buffer, PAD + layout.skip, end))
    columns, parts = _columns(buffer, bounds, jobs if end > SHARED and can_fork() else 1, layout)
    start, length, hashed = columns
    topics, topic, distinct = _topics(parts, hashed)
    labels, code = _coded([part.grades for part in parts])
    index = Index(buffer, start, length, topic, hashed, len(topics))
    if distinct or not len((again := index.again())[0]):
        return JudgmentColumns(topics, labels, code, index)
    rows, firsts = again
    if duplicates == "refuse" or (code[rows] != code[firsts]).any():
        raise NeedsLineReader
    included = np.ones(len(code), dtype=bool)
    included[rows] = False
    index = Index(buffer, start[included], length[included], topic[included], hashed[included], len(topics))
    return JudgmentColumns(topics, labels, code[included], index, len(rows))


def _columns(
    buffer: Bytes, bounds: list[tuple[int, int]], jobs: int, layout: LineLayout
) -> tuple[Columns, list[_Part]]:
    """The columns of all lines in a buffer, whose parts are read by several processes. The rows of a part begin at an
    offset that leaves room for the parts before; the gaps that comments and blank lines leave are closed at the end."""
    newlines = [np.count_nonzero(buffer[begin:end] == NEWLINE) for begin, end in bounds]
    ends = np.cumsum(newlines).tolist()
    begins = [0, *ends[:-1]]
    count, small = ends[-1] if ends else 0, np.int32 if len(buffer) < 1 << 31 else np.int64
    make = shared_array if jobs > 1 else np.empty
    columns: Columns = [make(count, small), make(count, np.int32), make(count, np.uint64)]

    def read(number: int) -> _Part:
        return _read(lines_of(buffer, *bounds[number], layout), layout, columns, begins[number])

    parts = list(Workers(jobs).imap(read, range(len(bounds))))
    if not any(part.count for part in parts):
        raise NeedsLineReader
    size = 0
    for begin, part in zip(begins, parts, strict=True):
        if size < begin:
            for column in columns:
                column[size : size + part.count] = column[begin : begin + part.count]
        size += part.count
    return [column[:size] for column in columns], parts


def _read(lines: Lines, layout: LineLayout, columns: Columns, begin: int) -> _Part:
    """The lines of a part, written to the columns from a row on."""
    none = np.empty(0, dtype=np.int64)
    if not len(lines):
        return _Part(0, [], none, none, np.empty(0, dtype=np.int8), True)
    rows = slice(begin, begin + len(lines))
    start, length, hashed = columns
    docno, grade = layout.columns.index("docno"), layout.columns.index("grade")
    start[rows], length[rows], hashed[rows] = lines.start(docno), lines.length(docno), lines.hashes(docno)
    topics = TopicCodes()
    topic, size = topics.topic_runs(lines)
    distinct = surely_distinct(np.repeat(topic, size), len(topics.names), hashed[rows])
    return _Part(len(lines), topics.names, topic, size, _grades(lines, grade), distinct)


def _topics(parts: list[_Part], hashed: Words) -> tuple[list[bytes], NDArray[np.int32], bool]:
    """The topics of all parts, the topic of each line, and whether no two lines can be the same document. That is left
    open if many topics are in several parts."""
    topics = TopicCodes()
    numbers = [topics.numbers(part.topics) for part in parts]
    topic = np.concatenate(
        [np.repeat(number[part.topic], part.size) for number, part in zip(numbers, parts, strict=True)],
        dtype=np.int32,
        casting="same_kind",
    )
    divided = np.bincount(np.concatenate(numbers)) > 1  # topics in several parts
    rows = np.flatnonzero(divided[topic])
    distinct = all(part.distinct for part in parts) and len(rows) <= TOGETHER
    return topics.names, topic, distinct and surely_distinct(topic[rows], len(divided), hashed[rows])


def judgments_of_codes(codes: Mapping[bytes, Mapping[bytes, int]], labels: Floats) -> JudgmentColumns:
    """The columns of dicts topic -> docno -> code."""
    buffer, start, length, hashed = text_hashes([docno for documents in codes.values() for docno in documents])
    topic = np.repeat(np.arange(len(codes), dtype=np.int32), [len(documents) for documents in codes.values()])
    small = np.min_scalar_type(len(labels))
    code = np.array([code for documents in codes.values() for code in documents.values()], dtype=small)
    return JudgmentColumns(list(codes), labels, code, Index(buffer, start, length, topic, hashed, len(codes)))


DIGITS = np.arange(-9, 10)


def _grades(lines: Lines, column: int) -> NDArray[Any]:
    """The grades of lines: int8 if each is a single digit, as usual; otherwise float64."""
    start, length = lines.start(column), lines.length(column)
    digit = lines.buffer[start + (length - 1)] - np.uint8(ZERO)
    negative = (length == 2) & (lines.buffer[start] == MINUS)
    if not ((digit <= 9) & (negative | (length == 1))).all():
        return lines.numbers(column)
    grade: NDArray[np.int8] = digit.view(np.int8)
    np.negative(grade, out=grade, where=negative)
    return grade


def coded(grades: Floats) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
    digits = bool((np.abs(grades) <= DIGITS[-1]).all() and (grades == np.floor(grades)).all())
    return _coded([grades.astype(np.int8) if digits else grades])


def _coded(grades: list[NDArray[Any]]) -> tuple[Floats, NDArray[Any]]:
    """The distinct grades, and the index of each among them."""
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


def _text(stream: Stream, layout: LineLayout) -> tuple[Bytes, int]:
    """A buffer with the lines of a stream, and where they end, with a newline. Where most of some text is blanks and
    comments its lines are written anew, without these. Raises NeedsLineReader as `lines_of`, and for a line that is too
    long."""
    file = stream.file
    buffer = padded(file.end - file.at + 2 if file else STEP)  # reading ends before, unless the file grows meanwhile
    line, filled = PAD + layout.skip, PAD  # where the first line begins that is not looked at yet
    while True:
        if filled == len(buffer) - PAD:
            larger = padded(2 * filled)
            larger[:filled] = buffer[:filled]
            buffer = larger
        room = min(STEP, len(buffer) - PAD - filled)
        count = stream.read_into(memoryview(buffer)[filled : filled + room])  # type: ignore[arg-type]
        separate(buffer[filled : filled + count], layout)
        filled += count
        if count < room and filled > PAD and buffer[filled - 1] != NEWLINE:
            buffer[filled] = NEWLINE
            filled += 1
        if long_line(memoryview(buffer), line, filled) is not None:  # type: ignore[arg-type]
            raise NeedsLineReader
        if filled > line:
            line, filled = _without_blanks(buffer, line, filled, layout)
        if count < room:
            return buffer, filled


def _without_blanks(buffer: Bytes, begin: int, end: int, layout: LineLayout) -> tuple[int, int]:
    """The end of the whole lines in `buffer[begin:end]` and that of all, once they are written anew where most of them
    is blank."""
    whole = last_newline(memoryview(buffer), begin, end) + 1  # type: ignore[arg-type]
    if not is_sparse(buffer[begin:whole]):
        return whole, end
    text = lines_of(buffer, begin, whole, layout).joined(layout.width, TAB if layout.separator else SPACE)
    text = np.append(text, buffer[whole:end])
    buffer[begin : begin + len(text)] = text
    return begin + len(text) - (end - whole), begin + len(text)


def _bounds(buffer: Bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of whole lines."""
    view = memoryview(buffer)  # type: ignore[arg-type]
    while begin < end:
        stop = min(begin + PART, end)
        if stop < end:
            size = 1 << 10
            while (newline := bytes(view[stop : stop + size]).find(b"\n")) < 0:  # to the end of the line
                size *= 4
            stop += newline + 1
        yield begin, stop
        begin = stop


# Judgments of a file that is read line by line, in any layout.


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """How qrels are read: the arguments of `Qrels`. part: what a document is judged for besides its topic, SUBTOPIC or
    STRATUM, or nothing."""

    duplicates: Duplicates = "error"
    lenient: bool = False
    part: tuple[str, ...] = ()
    format: str | None = None
    labels: Mapping[bytes, float] | None = None


def judgments_of_lines(stream: Stream, layout: LineLayout, reading: Reading, notes: list[str]) -> list[Judgment]:
    """The judgments line by line: the reference that the block reader agrees with. What is skipped is added to `notes`.

    Raises InputError for bad lines, and for grades that are words without a number.
    """
    place, part, labels = stream.place, reading.part, reading.labels
    problems = ProblemList(place)
    grades: dict[bytes, float] = {}
    first: dict[bytes, int] = {}
    rows: list[Judgment] = []
    at_topic, at_docno, at_grade = map(layout.columns.index, ("topic", "docno", "grade"))
    at_part = layout.position(part[0]) if part else None
    if part and at_part is None:
        raise no_column(layout.columns, part, place)
    for number, fields in lines.records(stream, layout, problems):
        token, docno = fields[at_grade], fields[at_docno]
        if token not in grades:
            grades[token], first[token] = grade_of(token, labels), number
        if (grade := grades[token]) == grade:
            rows.append((fields[at_topic], (docno, fields[at_part]) if at_part is not None else docno, grade, number))
        else:
            problems.add(number, *lines.about_number("grade", token, number), kind="grade")
    if labels is not None or not reading.lenient:
        check_labels(place, grades, labels, first)
    if labels:
        notes += unused_labels(place, grades, labels)
    lines.check_read("judgments", bool(rows), stream, layout, problems, reading.lenient, notes)
    return rows


def has_iterations(stream: Stream) -> bool:
    """Whether the second column of a file, the iteration, has more than one value."""
    split = (line.split(None, 2) for _, line in numbered_lines(stream))
    return len({fields[1] for fields in split if len(fields) > 1}) > 1


IR_DATASETS = "ir_datasets:"
"""What a name of qrels begins with that the package ir_datasets holds."""


class Qrels:
    """Graded judgments, read once and used for any number of runs.

    source      a path (`-` is standard input), an open file, a DataFrame with the columns topic, docno and grade (or
                the names of ir_measures and PyTerrier), or a dict topic -> docno -> grade
    subtopics   read judgments by intent: the second column of a file is the subtopic, as are the column subtopic (or
                iteration) of a DataFrame and the inner keys of a dict topic -> docno -> subtopic -> grade; subtopic 0
                is not an intent. For all other measures a document has the highest of its grades
    strata      read a stratified sample: the fourth of five columns of a file is the stratum, as are the column stratum
                of a DataFrame and the inner keys of a dict topic -> docno -> stratum -> grade; a grade below 0 says
                pooled and not sampled
    duplicates  a document judged twice in a topic with different grades: `error`, or keep the `first` or `last`;
                `refuse` is an error for equal grades too
    lenient     skip bad lines of a file
    format      the format of a file, as `--qrels-format` takes it; None: as its content says
    labels      a dict label -> grade, or text as `--labels` takes it, where the grades are words; NTCIR's L0, L1, … are
                known
    jobs        processes that may share a large file
    max_growth  how many times its size a compressed file may unpack to: a number, or "inf"; None: 1000

    topics: the ids, in order of appearance. labels: the distinct grades, ascending. codes: topic -> docno -> index into
    labels. counts: how many documents of each topic have each label. pool: the same as a table topics × labels, made
    anew whenever it is asked for. subtopics, strata: the intents or strata, or None if not asked for; with them,
    documents whose grades differ for any intent, or whose strata differ, have different codes, and labels repeat.
    notes: what was skipped or assumed. format: what a file was read as; empty for objects in memory.
    Raises InputError where the source is not qrels.
    """

    def __init__(
        self,
        source: Any,
        *,
        duplicates: Duplicates = "error",
        lenient: bool = False,
        subtopics: bool = False,
        strata: bool = False,
        format: str | None = None,
        labels: str | Mapping[str, float] | Labels | None = None,
        jobs: int = 1,
        max_growth: float | str | None = None,
    ) -> None:
        if subtopics and strata:
            raise InputError("qrels", "subtopics and strata exclude each other", "leave out one of them", usage=True)
        part = SUBTOPIC if subtopics else STRATUM if strata else ()
        words: Labels | None = read_labels(labels)
        reading = Reading(duplicates, lenient, part, read_format(format, "qrels"), words.of if words else None)
        self._start(Source(source).place if is_file(source) else "qrels", reading)
        if isinstance(source, str) and source.startswith(IR_DATASETS) and not os.path.exists(source):
            self.format, source = source, _ir_datasets(source)
        with allowed_growth(max_growth):
            read = self._of_file(Source(source), reading, jobs) if is_file(source) else source
        if not isinstance(read, JudgmentColumns):
            read = self._readable(read)
            if words:
                self.notes += unused_labels(self.place, words_of(read, self.place), words.of)
            usual = None if part else _usual(read, self.place)
            if isinstance(usual, Listed):
                self._of_listed(usual)
                return
            read = usual or self._of_rows(judgments_in(read, part, self.place, reading.labels), reading)
        self._judged: JudgmentColumns = read
        self.labels: Floats = self._judged.labels
        if self._layout is not None and self._layout.whole and (self.labels % 1).any():
            raise not_whole("score", self.place)
        self.topics: list[bytes] = self._judged.topics
        self.counts: GradeCounts = self._judged.counts()

    def _start(self, place: str, reading: Reading | None = None) -> None:
        """What all qrels have, whatever they are made of."""
        self.place, self.format, self._reading = place, "", reading or Reading()
        self.could_be_run = False  # whether nothing but the numbers tells them from a run
        self.notes: list[str] = []
        self.subtopics: Subtopics | None = None
        self.strata: Strata | None = None
        self._layout: LineLayout | None = None
        self._scorers: dict[Any, Any] = {}  # see scoring.scorer
        self._last = NOTHING_LISTED

    def _readable(self, source: Any) -> Any:
        source = readable(source, "qrels", self.place)
        self.could_be_run = not hasattr(source, "columns") or plain(find_grades(source.columns)) in SCORE
        self.notes += [f"{self.place}: {note}"] if isinstance(source, TableColumns) and (note := source.note) else []
        return source

    def _of_listed(self, usual: Listed) -> None:
        """Take documents that are all different and need no further look."""
        self.topics, (self.labels, code) = usual.topics, coded(usual.values)
        counts = [len(docnos) for docnos in usual.docnos]
        topic = np.repeat(np.arange(len(counts)), counts)
        self.counts = GradeCounts.of(topic, code, len(counts), len(self.labels))
        codes = iter(code.tolist())  # of which each topic takes its part
        listed = zip(self.topics, usual.docnos, strict=True)
        self._text_codes = {topic: dict(zip(docnos, codes, strict=False)) for topic, docnos in listed}

    def _of_file(self, source: Source, reading: Reading, jobs: int) -> JudgmentColumns | Any:
        """The judgments of a file of lines; the content of any other, a dict or a table."""
        with closing(Stream(source)) as stream:
            form = format_of(stream, "qrels", reading.format, reading.part == STRATUM)
            self.format = form.format
            self.notes += [f"{self.place}: {note}" for note in form.notes]
            if isinstance(form, WholeFile):
                from gradedeval.rankings.whole_files import read_whole  # most files are lines

                rules = reading.lenient, reading.labels, self.notes
                self.format, read = read_whole(form.format, stream, "qrels", *rules)
                return read
            self._layout, self.could_be_run = form, form.whole
            if reading.part or reading.labels or not form.in_blocks:
                return self._by_line(stream, form, reading)
            try:
                judged = read_judgments(stream, reading.duplicates, jobs, form)
            except NeedsLineReader:
                return self._by_line(stream, form, reading)
        if judged.repeated:
            self.notes.append(_note_of_repeats(self.place, judged.repeated))
        return judged

    def _by_line(self, stream: Stream, layout: LineLayout, reading: Reading) -> JudgmentColumns:
        rows = judgments_of_lines(stream, layout, reading, self.notes)
        try:
            return self._of_rows(rows, reading)
        except InputError as error:
            iterations = error.kind == "duplicate-judgment" and layout is QRELS and has_iterations(stream)
            if reading.part or not iterations:
                raise
            raise error.replace(hint=f"{error.hint}, or --subtopics if the second column is a subtopic") from None

    def _of_rows(self, rows: list[Judgment], reading: Reading) -> JudgmentColumns:
        part = reading.part
        graded = _by_topic(self.place, rows, reading.duplicates, self.notes, part)
        if not graded:
            raise InputError(self.place, "no judgments", lines.expected_lines(QRELS), kind="empty")
        if part:
            if part == SUBTOPIC:
                from gradedeval.rankings.supplements import by_subtopic  # few qrels have subtopics

                self.codes, labels, self.subtopics = by_subtopic(graded)
            else:
                from gradedeval.rankings.supplements import by_stratum  # few qrels are of a sample

                self.codes, labels, self.strata = by_stratum(graded, self.place)
            return judgments_of_codes(self.codes, labels)
        # No −0.
        labels = np.array(sorted({grade for documents in graded.values() for grade in documents.values()})) + 0.0
        code_of = {grade: code for code, grade in enumerate(labels.tolist())}
        self.codes = {
            topic: {docno: code_of[grade] for docno, grade in documents.items()} for topic, documents in graded.items()
        }
        return judgments_of_codes(self.codes, labels)

    @classmethod
    def none(cls, labels: Sequence[float] = (0.0,)) -> Qrels:
        """No judgments at all, of grades that there could be: all topics of a run count, and no document is judged."""
        (qrels := cls.__new__(cls))._start("qrels")
        qrels.topics, qrels.codes, qrels.labels = [], {}, np.array(labels)
        none = np.empty(0, dtype=np.int64)
        qrels.counts = GradeCounts(len(labels), none, none, none)
        return qrels

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return f"<Qrels {self.place}: {len(self)} topics, {int(self.counts.count.sum())} judgments>"

    def _notes_for(self, options: Options) -> list[str]:
        """`notes`, and one more where these qrels were read with the opposite choice among duplicates."""
        duplicates = self._reading.duplicates
        if {options.duplicates, duplicates} != {"first", "last"}:
            return self.notes
        what = f"{self.place}: read with duplicates='{duplicates}'; '{options.duplicates}' counts for runs alone"
        return [*self.notes, Note(what, "give the same to Qrels")]

    @property
    def pool(self) -> Ints:
        """topics × labels: how many documents of the topic have each."""
        return self.counts.table()

    def _pool_of(self, topics: list[bytes]) -> GradeCounts:
        """How many documents of each topic have each label; none of a topic that is not judged."""
        if topics == self.topics:
            return self.counts
        rows = np.array([self._row.get(topic, -1) for topic in topics], np.int64)
        return self._pools.select(rows)

    @cached_property
    def _pools(self) -> GradeCounts:
        """`counts`, and a last row for topics that are not judged."""
        return replace(self.counts, size=np.append(self.counts.size, 0))

    @cached_property
    def _row(self) -> dict[bytes, int]:
        """topic -> its row in `counts`, and its number in `index`."""
        return {topic: row for row, topic in enumerate(self.topics)}

    @cached_property
    def _judged(self) -> JudgmentColumns:
        """The judgments as columns; those of dicts where a run is a file, or a digest is asked for."""
        return judgments_of_codes(self.codes, self.labels)

    @cached_property
    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """topic -> docno -> index into labels, for runs given as dicts."""
        if "_judged" in self.__dict__:
            return self._judged.codes()
        return {
            topic: {encode(docno): code for docno, code in documents.items()}
            for topic, documents in self._text_codes.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        """All but what is remembered of evaluations."""
        return {**self.__dict__, "_scorers": {}, "_last": NOTHING_LISTED}

    @cached_property
    def _text_codes(self) -> dict[bytes, dict[str, int]]:
        """`codes` with docnos as text, for runs given as dicts: a training loop scores thousands of them."""
        return {
            topic: {decode(docno): code for docno, code in documents.items()} for topic, documents in self.codes.items()
        }

    @cached_property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any judgment, but not with order, spaces or compression."""
        if self.strata is not None:
            return replace(self._judged, labels=self.strata.marks(self.labels)).digest()
        if self.subtopics is None:
            return self._judged.digest()
        return self.subtopics.digest(replace(self._judged, labels=self.subtopics.marks(self.labels)).digest())


def _ir_datasets(name: str) -> Any:
    from gradedeval.trec.documents import ir_datasets_qrels

    return ir_datasets_qrels(name)


def _usual(source: Any, place: str) -> JudgmentColumns | Listed | None:
    """The judgments of what needs no look at each; None of any other."""
    if hasattr(source, "iloc") and (judged := arrow_judgments(source, place)) is not None:
        return judged
    return usual_judgments(source, place)


def _by_topic(
    place: str, rows: list[Judgment], policy: Duplicates, notes: list[str], part: tuple[str, ...]
) -> dict[bytes, dict[Any, float]]:
    """topic -> docno -> grade. A document judged more than once in a topic has one of its grades, and a note says so;
    or InputError is raised."""
    problems = ProblemList(place)
    same = differing = 0

    def repeated(position: int, before: int) -> None:
        nonlocal same, differing
        (topic, docno, grade, line), (_, _, other, first) = rows[position], rows[before]
        if grade == other and policy != "refuse":
            same += 1
        elif policy in ("first", "last"):
            differing += 1
        else:
            what = f"{_document(docno, topic, part)} with grade {grade:g}"
            hint = "give each judgment once" if grade == other else KEEP_ONE
            problems.add(line, duplicate(what, first, f" with grade {other:g}"), hint, kind="duplicate-judgment")

    chosen = settle_duplicates((row[:2] for row in rows), policy, repeated)
    problems.check()
    if same:
        notes.append(_note_of_repeats(place, same))
    if differing:
        notes.append(f"{place}: {differing} duplicate {plural(differing, 'judgment')}; kept the {policy} grade of each")
    graded: dict[bytes, dict[Any, float]] = {}
    for (topic, docno), position in chosen.items():
        graded.setdefault(topic, {})[docno] = rows[position][2]
    return graded


def _note_of_repeats(place: str, count: int) -> str:
    return f"{place}: {count} {plural(count, 'judgment')} repeated with the same grade; counted once"


def _document(docno: bytes | tuple[bytes, bytes], topic: bytes, part: tuple[str, ...]) -> str:
    if isinstance(docno, bytes):
        return document(docno, topic)
    return f"{document(docno[0], topic)} for {part[0]} {decode(docno[1])}"


# DataFrames whose text Arrow holds: the bytes of ids as columns, as in a file. No string is made of an id.
#
# What is unusual, wrong included, is left to `frames`, which has the words for it.


class Text(NamedTuple):
    """A column of ids: a buffer, and where in it each begins, and how long it is."""

    buffer: Bytes
    start: Ints
    length: Ints

    def stretches(self) -> tuple[list[bytes], Ints]:
        """The id of each stretch of rows with one id, and how many rows it has."""
        first = run_starts(gather(words_at(self.buffer), self.start), self.length)
        begin = self.start[first]
        return tokens(self.buffer, begin, begin + self.length[first]), np.diff(first, append=len(self.start))

    def hashes(self) -> Words:
        """rows: the hash of the id."""
        return hashes(gather(words_at(self.buffer), self.start), self.length)


def id_columns(source: Any, what: str) -> tuple[Text, Text] | None:
    """The topics and docnos of a DataFrame whose text Arrow holds; None of any other."""
    names = getattr(source, "columns", ())  # a Series has none
    if any(find_column(names, known) is None for known in (TOPIC, DOCNO)):
        return None
    if (topic := _arrow_text(held(source, TOPIC, what))) is None or (
        docno := _arrow_text(held(source, DOCNO, what))
    ) is None:
        return None
    return topic, docno


def arrow_judgments(source: Any, what: str) -> JudgmentColumns | None:
    """The judgments in a DataFrame whose text Arrow holds; None of any other, and where a document comes again."""
    if (ids := id_columns(source, what)) is None or find_grades(source.columns) is None:
        return None
    grade = numeric_column(held(source, GRADE, what))
    if grade is None or (grade % 1).any():  # fractions may be scores
        return None
    (topic, docno), topics = ids, TopicCodes()
    names, size = topic.stretches()
    number, hashed = np.repeat(topics.numbers(names), size).astype(np.int32), docno.hashes()
    if not surely_distinct(number, len(topics.names), hashed):
        return None
    index = Index(docno.buffer, docno.start, docno.length, number, hashed, len(topics.names))
    return JudgmentColumns(topics.names, *coded(grade), index)


def _arrow_text(column: Any) -> Text | None:
    """A column of text in Arrow; None where it is anything else, or a value is missing or empty."""
    dtype = getattr(column, "dtype", None)
    if getattr(dtype, "storage", "") != "pyarrow" and not hasattr(dtype, "pyarrow_dtype"):
        return None
    values = column.array.__arrow_array__()
    values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
    wide = {"string": np.int32, "large_string": np.int64}.get(str(values.type))
    if wide is None or not hasattr(values, "buffers") or values.null_count or not len(values):
        return None
    _, offsets, data = values.buffers()
    end = np.frombuffer(offsets, wide)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    length = np.diff(end)
    if not length.all():
        return None
    size = int(end[-1] - end[0])
    buffer = padded(size)
    buffer[PAD : PAD + size] = np.frombuffer(data, np.uint8)[end[0] : end[-1]]
    return Text(buffer, end[:-1] + (PAD - end[0]), length)


def numeric_column(column: Any) -> Floats | None:
    """A column of finite numbers that NumPy holds; None of any other."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "fiu":
        return None
    numbers = column.to_numpy(np.float64)
    return numbers if np.isfinite(numbers).all() else None


# Judgments in arrays, topic after topic: documents have positions and no docnos.


class ArrayQrels(Qrels):
    """Qrels of documents that are called by their positions within a topic, from 1.

    topics  ids
    counts  topics: how many documents, judged or not
    labels  the distinct grades, ascending
    codes   documents: index into labels; their number where it is not judged
    """

    def __init__(self, topics: list[bytes], counts: Ints, labels: Floats, codes: NDArray[Any]) -> None:
        topic = np.repeat(np.arange(len(topics)), counts)
        judged = codes < len(labels)
        graded = GradeCounts.of(topic[judged], codes[judged], len(topics), len(labels))
        kept = np.flatnonzero(graded.size)  # a topic without a judgment is not judged
        self._start("grades")
        self.labels, self.counts = labels, graded.select(kept)
        self.topics = [topics[row] for row in kept.tolist()]
        self._columns = np.searchsorted(kept, topic[judged]), ranks(counts)[judged] + 1, codes[judged]

    @cached_property
    def _judged(self) -> JudgmentColumns:
        topic, position, codes = self._columns
        buffer, start, length, hashed = text_hashes([b"%d" % number for number in position.tolist()])
        index = Index(buffer, start, length, topic.astype(np.int32), hashed, len(self.topics))
        return JudgmentColumns(self.topics, self.labels, codes, index)
