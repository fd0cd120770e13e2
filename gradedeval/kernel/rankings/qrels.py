"""Graded judgments: the judged documents of each topic, and their grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.errors import InputError, Note, flag
from gradedeval.kernel.options import Duplicates, Options, read_format
from gradedeval.kernel.parallel import Workers, raise_malloc_threshold
from gradedeval.kernel.rankings.batch import GradeCounts
from gradedeval.kernel.rankings.docnos import (
    TOGETHER,
    Docnos,
    Index,
    JudgmentColumns,
    TopicCodes,
    coded,
    surely_distinct,
)
from gradedeval.kernel.trec.blocks import format_of, parts_of, whole_text
from gradedeval.kernel.trec.lines import QRELS, LineLayout, NeedsLineReader, WholeFile, decode, encode, is_stratified
from gradedeval.kernel.trec.stream import IR_DATASETS, Source, Stream, is_file
from gradedeval.kernel.trec.tokenizer import NEWLINE, PAD, Bytes, Words, lines_of, text_hashes

if TYPE_CHECKING:
    from gradedeval.kernel.options.metadata import Collapse, Labels
    from gradedeval.kernel.rankings.other_qrels import QrelsData, Strata, Subtopics
    from gradedeval.kernel.trec.named_qrels import Collection


@dataclass(eq=False, repr=False)
class QrelsRules:
    """The settings of reading qrels, arguments of `Qrels`. part: SUBTOPIC, STRATUM, or empty."""

    duplicates: Duplicates = "error"
    lenient: bool = False
    part: tuple[str, ...] = ()
    format: str | None = None
    labels: Mapping[bytes, float] | None = None
    collapse: Collapse | None = None


class Qrels:
    """Graded judgments, read once and used for any number of runs.

    source      a path (`-` is standard input), an open file, the name of a test collection such as "dl19-passage", a
                DataFrame with the columns topic, docno and grade (or the names of ir_measures and PyTerrier), or a dict
                topic -> docno -> grade
    subtopics   read judgments by intent: the subtopic is the second column of a file, the column subtopic (or
                iteration) of a DataFrame, or the inner key of a dict topic -> docno -> subtopic -> grade; qrels with 0
                as only subtopic have no intents. For all other measures a document has its highest grade
    duplicates  a document judged twice in a topic with different grades: `error`, or keep the `first` or `last`;
                `refuse` is an error for equal grades too
    lenient     skip bad lines of a file
    format      the format of a file, as in `--qrels-format`; None: detected. `strata` reads a stratified sample: the
                stratum is the fourth of five columns of a file, the column stratum of a DataFrame, or the inner key of
                a dict topic -> docno -> stratum -> grade; a grade below 0 means pooled but not sampled
    labels      a dict label -> grade, or text as in `--labels`, if grades are words; NTCIR's L0, L1, … are known
    collapse    fold judgments of chunks into documents with their highest grade, as in `--collapse-qrels`: a separator,
                a file, or a dict chunk -> document
    jobs        maximum number of processes for a large file
    download    whether the package ir_datasets may download a missing test collection

    topics: the ids, in order of appearance. labels: the distinct grades, ascending. codes: topic -> docno -> index into
    labels. counts: number of documents of each topic with each label. pool: the same as a table topics × labels,
    rebuilt on each access. subtopics, strata: the intents or strata, None unless requested; with them, documents whose
    grades differ for any intent, or whose strata differ, have different codes, and labels repeat. notes: notes on
    skipped lines and assumptions. format: the format of the file; empty for objects in memory. Raises InputError if the
    source is not qrels.

    >>> qrels = gradedeval.Qrels({"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}})
    >>> qrels.topics, qrels.labels
    ([b'q1', b'q2'], array([0., 1., 2.]))
    """

    _collection: Collection | None = None

    def __init__(
        self,
        source: Any,
        *,
        duplicates: Duplicates = "error",
        lenient: bool = False,
        subtopics: bool = False,
        format: str | None = None,
        labels: str | Mapping[str, float] | Labels | None = None,
        collapse: str | Mapping[str, str] | Collapse | None = None,
        jobs: int = 1,
        download: bool = False,
    ) -> None:
        form = None if format is None else read_format(format, "qrels")
        strata = form is not None and is_stratified(form)
        if subtopics and strata:
            raise InputError("qrels", "subtopics and strata exclude each other", "leave out one of them", usage=True)
        part: tuple[str, ...] = ()
        if subtopics or strata:
            from gradedeval.kernel.trec.file_formats import STRATUM, SUBTOPIC

            part = SUBTOPIC if subtopics else STRATUM
        words: Labels | None = None
        if labels is not None:
            from gradedeval.kernel.options.metadata import read_labels  # most grades are numbers

            words = read_labels(labels)
        rules = QrelsRules(duplicates, lenient, part, form, words.of if words else None)
        if collapse is not None:
            from gradedeval.kernel.options.metadata import collapse_of  # most judgments are of documents

            rules.collapse = collapse_of(collapse)
        file = Source(source) if is_file(source) else None
        self._start(file.place if file else "qrels", rules)
        content = source
        if isinstance(source, str) and (source.startswith(IR_DATASETS) or "." not in source):
            content = self._of_collection(source, download)
        if file is not None and content is source:
            content = self._of_file(file, rules, jobs)
        if isinstance(content, JudgmentColumns):
            self._set_columns(content)
        else:
            from gradedeval.kernel.rankings.other_qrels import QrelsData, judgments_of_object  # most are plain files

            if not isinstance(content, QrelsData):
                content = judgments_of_object(content, self.place, rules, self.notes, file is not None)
            self._set_data(content)
        if rules.collapse is not None and not part:
            self._fold_chunks(rules.collapse)

    @staticmethod
    def collections() -> Mapping[str, Collection]:
        """Return the test collections by short name.

        Each has name, dataset (its name in ir_datasets), a description, the usual measures, rel (the lowest grade that
        binary measures count) and is_local (whether its judgments are on this machine).
        """
        from gradedeval.kernel.trec.named_qrels import COLLECTIONS

        return COLLECTIONS

    @staticmethod
    def collection(name: str) -> Collection | None:
        """Return the test collection of a short name, or of `ir_datasets:NAME`; None if there is none."""
        from gradedeval.kernel.trec.named_qrels import find_collection

        return find_collection(name)

    def _of_collection(self, name: str, download: bool) -> Any:
        """Return the judgments of a test collection; any other name unchanged."""
        from gradedeval.kernel.trec.named_qrels import find_unless_file  # the names of most files have a dot

        if (collection := find_unless_file(name)) is None:
            return name
        from gradedeval.kernel.trec.documents import ir_datasets_rows

        self._collection, self.format = collection, collection.place
        try:
            return ir_datasets_rows(collection.place, "qrels", download)
        except InputError as error:
            raise error.replace(place=name) from None

    def _start(self, place: str, rules: QrelsRules | None = None) -> None:
        """Initialize the attributes of all qrels."""
        self.place, self.format, self._rules = place, "", rules or QrelsRules()
        self.could_be_run = False  # whether only the numbers distinguish them from a run
        self.notes: list[str] = []
        self.subtopics: Subtopics | None = None
        self.strata: Strata | None = None
        self._listed: ListedJudgments | None = None
        self._scorers: dict[Any, Any] = {}  # see scoring.scorer
        self._last = NOTHING_LISTED

    def _set_data(self, data: QrelsData) -> None:
        """Store the judgments of a source other than a plain file."""
        self.could_be_run, self.subtopics, self.strata = data.could_be_run, data.subtopics, data.strata
        if data.codes is not None:
            self.codes = data.codes
        if isinstance(data.judgments, JudgmentColumns):
            self._set_columns(data.judgments)
            return
        self._listed, self.labels = data.judgments, data.labels  # converted on demand
        self.topics, docnos, code = data.judgments
        topic = np.repeat(np.arange(len(docnos)), list(map(len, docnos)))
        self.counts = GradeCounts.of(topic, code, len(docnos), len(data.labels))

    def _set_columns(self, columns: JudgmentColumns) -> None:
        """Store judgments as columns."""
        self.columns: JudgmentColumns = columns
        self.labels = columns.labels
        self.topics = columns.topics
        self.counts = GradeCounts.of(columns.index.topic, columns.code, len(columns.topics), len(columns.labels))

    def _fold_chunks(self, collapse: Collapse) -> None:
        """Replace judgments of chunks by those of their documents."""
        from gradedeval.kernel.rankings.chunks import fold_judgments

        columns = fold_judgments(self.columns, collapse, self.place, self.notes)
        self._listed = None
        self.__dict__.pop("codes", None)
        self._set_columns(columns)

    def _of_file(self, source: Source, rules: QrelsRules, jobs: int) -> JudgmentColumns | QrelsData | Any:
        """Return the judgments of a file of lines, or the content of other files, a dict or a table.

        Raises InputError if the file is missing, with a hint if ir_datasets has the name.
        """
        try:
            stream = Stream(source)
        except InputError as error:
            from gradedeval.kernel.trec.named_qrels import suggest

            hint = suggest(str(source.target)) if error.kind == "no-file" else ""
            raise error.replace(hint=hint) if hint else error from None
        with closing(stream):
            form = format_of(stream, "qrels", rules.format)
            judged: JudgmentColumns | QrelsData | None = None
            self.format = form.format
            for note in form.notes:
                self.notes.append(f"{self.place}: {note}")
            if isinstance(form, WholeFile):
                return self._of_whole_file(stream, form, rules)
            self.could_be_run = form.whole
            with suppress(NeedsLineReader):
                if form.in_blocks and not (rules.part or rules.labels):
                    judged = columns = read_judgments(stream, rules.duplicates, jobs, form)
                    if columns.repeated:
                        from gradedeval.kernel.rankings.other_qrels import note_of_repeats  # few files repeat any

                        self.notes.append(note_of_repeats(self.place, columns.repeated))
            if judged is None:
                from gradedeval.kernel.rankings.other_qrels import judgments_by_line  # most are plain lines

                judged = judgments_by_line(stream, form, rules, self.notes)
            if form.whole and (judged.labels % 1).any():
                from gradedeval.kernel.trec.file_formats import fractional_grades

                names = ",".join("-" if name.startswith("-") else name for name in form.columns)
                raise fractional_grades("score", self.place, f", or read it with {flag.qrels_format:{names}+header}")
            return judged

    def _of_whole_file(self, stream: Stream, form: WholeFile, rules: QrelsRules) -> JudgmentColumns | Any:
        """Return the content of a file that is read whole; or the judgments of a plain JSON object topic -> docno ->
        grade."""
        from gradedeval.kernel.rankings.in_memory import json_judgments
        from gradedeval.kernel.rankings.whole_files import read_whole

        if form.format == "json" and not (form.fields or rules.lenient or rules.labels or rules.part):
            judged = json_judgments(stream)
            self.could_be_run = judged is not None
            if judged is not None:
                return judged
        self.format, content = read_whole(form, stream, "qrels", rules.lenient, rules.labels, self.notes)
        return content

    @classmethod
    def empty(cls, labels: Sequence[float] = (0.0,)) -> Qrels:
        """Return qrels without judgments and with these labels: all topics of a run count, and no document is
        judged."""
        (qrels := cls.__new__(cls))._start("qrels")
        qrels.topics, qrels.codes, qrels.labels = [], {}, np.array(labels)
        empty_column = np.empty(0, dtype=np.int64)
        qrels.counts = GradeCounts(len(labels), empty_column, empty_column, empty_column)
        return qrels

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return f"<Qrels {self.place}: {len(self)} topics, {int(self.counts.count.sum())} judgments>"

    @property
    def collapse(self) -> Collapse | None:
        """The rule by which judgments of chunks were folded."""
        return self._rules.collapse

    def _notes_for(self, options: Options) -> list[str]:
        """Return the notes, with one more if `options` contradict the choice among duplicates of these qrels."""
        duplicates = self._rules.duplicates
        if {options.duplicates, duplicates} != {"first", "last"}:
            return self.notes
        problem = f"{self.place}: read with duplicates='{duplicates}', so '{options.duplicates}' counts for runs alone"
        return [*self.notes, Note(problem, "give the same to Qrels")]

    @property
    def own_relevant(self) -> int:
        """The number of topics in which the document with the topic's id is relevant."""
        columns, numbers = self.columns, np.arange(len(self.topics))
        _, judged = columns.index.find(numbers, Docnos(*text_hashes(self.topics)))
        return int(np.count_nonzero(self.labels[columns.code[judged]] > 0))

    @property
    def pool(self) -> Ints:
        """topics × labels: number of documents."""
        return self.counts.table()

    def counts_for(self, topics: list[bytes]) -> GradeCounts:
        """Return the counts of these topics, in any order; an unjudged topic has none."""
        if topics == self.topics:
            return self.counts
        return self._pools.select(self._rows_of(topics))

    def _rows_of(self, topics: list[bytes]) -> Ints:
        """Return the row of each topic in `counts`, −1 for unjudged topics."""
        return np.fromiter(map(self.row_of.get, topics, repeat(-1)), np.int64, len(topics))

    @cached_property
    def _pools(self) -> GradeCounts:
        """The counts, with an additional last row for unjudged topics."""
        return replace(self.counts, size=np.append(self.counts.size, 0))

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """topic -> its row in `counts` and `pool`."""
        return dict(zip(self.topics, range(len(self.topics)), strict=True))

    @cached_property
    def columns(self) -> JudgmentColumns:
        """The judgments as columns; built from dicts for runs in files, and for the digest."""
        from gradedeval.kernel.rankings.other_qrels import judgments_of_codes, judgments_of_lists

        if self._listed is not None:
            return judgments_of_lists(*self._listed, self.labels)
        return judgments_of_codes(self.codes, self.labels)

    @cached_property
    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """topic -> docno -> index into labels, for runs given as dicts."""
        if "columns" in self.__dict__:
            return self.columns.codes()
        if self._listed is None:
            problem = "these qrels come with saved scores, without their judgments"
            raise InputError(self.place, problem, "read the qrels again", usage=True)
        return {
            topic: {encode(docno): code for docno, code in documents.items()}
            for topic, documents in self._text_codes.items()
        }

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without caches of evaluations."""
        return {**self.__dict__, "_scorers": {}, "_last": NOTHING_LISTED}

    def _without_judgments(self) -> Qrels:
        """Return the facts that signatures state, such as digest and grades, without the judged documents."""
        (qrels := Qrels.__new__(Qrels))._start(self.place, self._rules)
        stated = ("format", "notes", "topics", "labels", "counts", "subtopics", "strata", "digest", "_collection")
        qrels.__dict__ |= {name: getattr(self, name) for name in stated}
        return qrels

    @cached_property
    def _text_codes(self) -> dict[bytes, dict[str, int]]:
        """`codes` with docnos as text, for runs given as dicts: a training loop scores thousands of them."""
        if self._listed is not None:
            topics, docnos, code = self._listed
            codes = iter(code.tolist())  # each topic consumes its part
            return {
                topic: dict(zip(topic_docnos, codes, strict=False))
                for topic, topic_docnos in zip(topics, docnos, strict=True)
            }
        return {
            topic: {decode(docno): code for docno, code in documents.items()} for topic, documents in self.codes.items()
        }

    @cached_property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any judgment, but not with order, spaces or compression."""
        if self.strata is not None:
            return replace(self.columns, labels=self.strata.marks(self.labels)).digest()
        if self.subtopics is None:
            return self.columns.digest()
        return self.subtopics.digest(replace(self.columns, labels=self.subtopics.marks(self.labels)).digest())


def extent_of(qrels: Qrels) -> str:
    """Return how many judgments of how many topics there are, and their digest, in words."""
    return f"{int(qrels.counts.count.sum()):,} of {len(qrels):,} topics, qrels {qrels.digest}"


ListedJudgments = tuple[list[bytes], list[list[str]], NDArray[Any]]
"""Topics, the docnos of each, and the code of every document: the content of dicts and JSON before any conversion."""

LastListed = tuple[tuple[list[bytes], list[list[Any]]], NDArray[Any]]
"""The topics and docnos of a run, and the codes of their grades."""

NOTHING_LISTED: LastListed = ([], []), np.empty(0, np.uint8)


# The judgments of a file of lines, as columns.

SHARED = 1 << 23
"""Minimum bytes of a qrels file for several processes."""

ZERO, MINUS = 48, 45

Columns = list[NDArray[Any]]
"""The docnos of all lines of a file: start, length and hash."""


@dataclass(eq=False, repr=False)
class _Part:
    """The topics and grades of the lines of a part of a file.

    count     number of lines with fields
    topics    the ids, in order of appearance
    topic     stretches of lines with one topic: index into `topics`
    size      stretches: number of lines
    grades    lines: grade, int8 if each is a single digit
    distinct  whether surely no document repeats
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
    """Read the judgments of a file, by several processes if it is large.

    Raises NeedsLineReader if a line is malformed, or differs from another of the same document: the line reader settles
    or reports it.
    """
    raise_malloc_threshold()
    buffer, end = whole_text(stream, layout)
    bounds = list(parts_of(buffer, PAD + layout.skip, end))
    columns, parts = _columns(buffer, bounds, jobs if end > SHARED else 1, layout)
    start, length, hashed = columns
    topics, topic, distinct = _topics(parts, hashed)
    labels, code = coded([part.grades for part in parts])
    index = Index(Docnos(buffer, start, length, hashed), topic, len(topics))
    if distinct or not len((repeats := index.fill())[0]):
        return JudgmentColumns(topics, labels, code, index)
    rows, firsts = repeats
    if duplicates == "refuse" or (code[rows] != code[firsts]).any():
        raise NeedsLineReader
    included = np.ones(len(code), dtype=bool)
    included[rows] = False
    index = Index(index.docnos[included], topic[included], len(topics))
    return JudgmentColumns(topics, labels, code[included], index, len(rows))


def _columns(
    buffer: Bytes, bounds: list[tuple[int, int]], jobs: int, layout: LineLayout
) -> tuple[Columns, list[_Part]]:
    """Read the columns of all lines in a buffer, in parts that several processes may share: each has a row for every
    newline, and the gaps of comments and blank lines are closed at the end."""
    newlines = [np.count_nonzero(buffer[begin:end] == NEWLINE) for begin, end in bounds]
    ends = np.cumsum(newlines).tolist()
    begins = [0, *ends][:-1]
    count, start_type = ends[-1] if ends else 0, np.int32 if len(buffer) < 1 << 31 else np.int64
    make: Any = np.empty
    if jobs > 1:
        from gradedeval.kernel.parallel.executors import can_fork, shared_array  # few qrels are so large

        make, jobs = (shared_array, jobs) if can_fork() else (make, 1)
    columns: Columns = [make(count, start_type), make(count, np.int32), make(count, np.uint64)]
    read_part, tasks = partial(_read, buffer, layout, columns), list(zip(bounds, begins, strict=True))
    parts = list(Workers(jobs).imap(read_part, tasks) if jobs > 1 else map(read_part, tasks))
    size = 0
    for begin, part in zip(begins, parts, strict=True):
        if size < begin:
            for column in columns:
                column[size : size + part.count] = column[begin : begin + part.count]
        size += part.count
    if not size:
        raise NeedsLineReader
    return [column[:size] for column in columns], parts


def _read(buffer: Bytes, layout: LineLayout, columns: Columns, task: tuple[tuple[int, int], int]) -> _Part:
    """Read the lines of a part of a buffer into the columns, from a row on."""
    bounds, begin = task
    lines, empty_column = lines_of(buffer, *bounds, layout), np.empty(0, dtype=np.int64)
    if not len(lines):
        return _Part(0, [], empty_column, empty_column, np.empty(0, dtype=np.int8), True)
    rows = slice(begin, begin + len(lines))
    docno, grade = layout.columns.index("docno"), layout.columns.index("grade")
    for column, values in zip(columns, (lines.start(docno), lines.length(docno), lines.hashes(docno)), strict=True):
        column[rows] = values
    topics = TopicCodes()
    topic, size = topics.topic_stretches(lines)
    distinct = surely_distinct(np.repeat(topic, size), len(topics.names), columns[2][rows])
    start, length = lines.start(grade), lines.length(grade)
    digit = buffer[start + (length - 1)] - np.uint8(ZERO)
    negative = (length == 2) & (buffer[start] == MINUS)
    if ((digit <= 9) & (negative | (length == 1))).all():  # as usual
        grades: NDArray[Any] = digit.view(np.int8)
        np.negative(grades, out=grades, where=negative)
    else:
        grades = lines.numbers(grade)
    return _Part(len(lines), topics.names, topic, size, grades, distinct)


def _topics(parts: list[_Part], hashed: Words) -> tuple[list[bytes], NDArray[np.int32], bool]:
    """Return the topics of all parts, the topic of each line, and whether surely no document repeats: not checked if
    many topics are in several parts."""
    if len(parts) == 1:  # as of most files
        return parts[0].topics, np.repeat(parts[0].topic.astype(np.int32), parts[0].size), parts[0].distinct
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
