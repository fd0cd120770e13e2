"""Runs and qrels with all their defects: read in columns, or, if a line is bad, line by line, noting each defect."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.errors import InputError, flag, plural, truncate_words, visible, with_keywords
from gradedeval.kernel.options import Options
from gradedeval.kernel.options.metadata import Labels
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings import whole_files
from gradedeval.kernel.rankings.docnos import Docnos, JudgmentColumns, TopicCodes, repeats
from gradedeval.kernel.rankings.grade import Rows
from gradedeval.kernel.rankings.labels import check_labels, grade_of
from gradedeval.kernel.rankings.qrels import Qrels, read_judgments
from gradedeval.kernel.rankings.run import Run, RunColumns, TopicResults, read_run, score_of
from gradedeval.kernel.trec import blocks, line_reader
from gradedeval.kernel.trec.blocks import parts_of, whole_text
from gradedeval.kernel.trec.file_formats import field_problem, is_header
from gradedeval.kernel.trec.line_reader import document, duplicate, looks_like, whole_lines
from gradedeval.kernel.trec.lines import QRELS, RUN, LineLayout, NeedsLineReader, WholeFile, decimal, decode, encode
from gradedeval.kernel.trec.stream import Source, Stream, without_suffix
from gradedeval.kernel.trec.tokenizer import NEWLINE, PAD, Bytes, lines_of, run_starts

Weight = Literal["error", "warning"]


@dataclass(frozen=True)
class Defect:
    """A problem, its place and a hint; `kind` groups similar defects."""

    weight: Weight
    kind: str
    place: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return visible(f"{self.place}: {self.problem}" + (f"; {self.hint}" if self.hint else ""))


NOTHING_LISTED = RunColumns.of_topics({})


@dataclass
class Submission:
    """A run with all its defects. `listed`: its documents without defects; `tags`: values of the sixth column -> first
    line;
    `format`: the detected format."""

    name: str
    place: str
    listed: RunColumns = field(default_factory=lambda: NOTHING_LISTED)
    tags: dict[bytes, int] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    format: str = ""
    words: Callable[[str], str] = with_keywords

    @classmethod
    def read(
        cls, name: str, path: str, format_name: str | None = None, *, words: Callable[[str], str] = with_keywords
    ) -> Submission:
        """Read a run, with the defects of its lines.

        format_name  its format, as in `--run-format`; None: detected
        words        names options by keywords or by flags in the texts of defects
        """
        run = cls(name, Source(path).place, words=words)
        topics: dict[bytes, TopicResults] = {}
        first_lines: dict[tuple[bytes, bytes], int] = {}

        def add_document(topic: bytes, docno: bytes, score: float, rank: float, line: int) -> bool:
            """Add a document, or the defect of a duplicate; return whether it was added."""
            first = first_lines.setdefault((topic, docno), line)
            if first != line:
                run.error("duplicate", duplicate(document(docno, topic), first), "give each document once", line)
                return False
            results: Any = topics.setdefault(topic, TopicResults())
            results.docnos.append(docno)
            results.scores.append(score)
            results.ranks.append(rank)
            results.lines.append(line)
            return True

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_content(run, add_document, form, stream)
            else:
                _add_lines(run, add_document, form, stream)

        hint = f"give qrels with {flag.qrels}; a run has lines of"
        _read(path, run, format_name, hint, partial(_add_columns, run), add)
        if topics:
            run.listed = RunColumns.of_topics(topics)
        if not len(run.listed):
            run.count_alike()
        if not len(run.listed) and not run.defects:
            run.error("empty", "no documents", line_reader.expected_lines(RUN))
        return run

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None:
        """Add an error of a line, for the record reader."""
        self.error(kind, problem, hint, line)

    def error(self, kind: str, problem: str, hint: str = "", line: int | None = None, weight: Weight = "error") -> None:
        """Add a defect, with long words of its texts truncated."""
        texts = (truncate_words(self.words(text)) for text in (problem, hint))
        self.defects.append(Defect(weight, kind, self.place if line is None else f"{self.place}:{line}", *texts))

    def warn(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.error(kind, problem, hint, line, "warning")

    def count_alike(self) -> None:
        """Merge defects of the format with the same problem, as all lines of a file in another format have, into the
        first."""
        alike: dict[tuple[str, ...], list[Defect]] = {}
        for defect in self.defects:
            place = "" if defect.kind in ("fields", "format") else defect.place
            alike.setdefault((place, defect.weight, defect.kind, defect.problem, defect.hint), []).append(defect)
        self.defects = [
            replace(first, problem=f"{first.problem}, here and {len(more)} more {plural(len(more), 'time')}")
            if more
            else first
            for first, *more in alike.values()
        ]

    @property
    def file_name(self) -> str:
        """The name of its file, without a suffix of compression."""
        return os.path.basename(without_suffix(self.place))

    def forget(self) -> None:
        """Release the documents: the report does not need them."""
        self.listed = NOTHING_LISTED

    def count(self, weight: Weight) -> int:
        return sum(defect.weight == weight for defect in self.defects)


@dataclass
class Judgments(Submission):
    """A qrels file with all its defects; `grades`: topic -> docno -> grade, or columns."""

    grades: dict[bytes, dict[bytes, float]] | JudgmentColumns = field(default_factory=dict)

    @classmethod
    def of_qrels(
        cls,
        path: str,
        format_name: str | None = None,
        labels: Mapping[bytes, float] | None = None,
        *,
        words: Callable[[str], str] = with_keywords,
    ) -> Judgments:
        """Read a qrels file, with the defects of its lines.

        format_name  its format, as in `--qrels-format`; None: detected
        labels       label -> grade, if grades are words
        words        names options by keywords or by flags in the texts of defects
        """
        qrels = cls(path, Source(path).place, words=words)

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_judged(qrels, path, form, format_name, labels)
            else:
                _add_judgments(qrels, form, stream, labels)

        def add_columns(layout: LineLayout, stream: Stream) -> None:
            qrels.grades = read_judgments(stream, "refuse", layout=layout)

        form = _read(path, qrels, format_name, "qrels have lines of", None if labels else add_columns, add)
        if qrels.valid is None:
            qrels.count_alike()
        if qrels.valid is None and not qrels.defects:
            qrels.error("empty", "no judgments", line_reader.expected_lines(QRELS))
        elif qrels.valid is not None and qrels.valid.labels[-1] <= 0:
            qrels.warn(
                "grade", "no grade above 0", "check that the grade is in the fourth column" if form is QRELS else ""
            )
        return qrels

    @cached_property
    def valid(self) -> Qrels | None:
        """The judgments without defects; None if there are none."""
        if isinstance(self.grades, JudgmentColumns):
            return Qrels(self.grades)
        named = {
            decode(topic): {decode(docno): grade for docno, grade in documents.items()}
            for topic, documents in self.grades.items()
        }
        return Qrels(named) if named else None


# A file without defects, in columns.


def _add_columns(run: Submission, layout: LineLayout, stream: Stream) -> None:
    """Add the documents of a file to a run. Raises NeedsLineReader if a line is bad, or a document may repeat."""
    raise_malloc_threshold()
    docno_at, rank_at, score_at = map(layout.position, ("docno", "rank", "score"))
    if docno_at is None or (rank_at is None and score_at is None):
        raise NeedsLineReader
    buffer, end = whole_text(stream, layout, numbered=True)
    topics, first = TopicCodes(), {"type": dict[bytes, int](), "tag": dict[bytes, int]()}
    columns: list[tuple[Any, ...]] = []
    for bounds in parts_of(buffer, PAD + layout.skip, end):
        if not len(lines := lines_of(buffer, *bounds, layout)):
            continue
        codes, size = topics.topic_stretches(lines)
        rank = np.full(len(lines), np.nan) if rank_at is None else lines.numbers(rank_at)
        score = -rank if score_at is None else lines.numbers(score_at)
        docno_columns = lines.hashes(docno_at), lines.start(docno_at), lines.length(docno_at)
        columns.append((np.repeat(codes, size), *docno_columns, score, rank))
        for name, first_places in first.items():
            if (column := layout.position(name)) is not None:
                starts = run_starts(lines.word(column), lines.length(column))
                for token, place in zip(
                    lines.tokens(column, starts), lines.start(column)[starts].tolist(), strict=True
                ):
                    first_places.setdefault(token, place)
    if not columns:
        raise NeedsLineReader
    topic, *values = map(np.concatenate, zip(*columns, strict=True))
    hashed, start, length = values[:3]
    if repeats(topic, len(topics.names), Docnos(buffer, start, length, hashed)):
        raise NeedsLineReader

    run.listed = _by_topic(buffer, topics.names, topic, values)
    run.tags |= _numbered(buffer, first["tag"])
    if layout is RUN:
        _check_columns(run, _numbered(buffer, first["type"]), [])


def _by_topic(buffer: Bytes, names: list[bytes], topic: Ints, columns: list[NDArray[Any]]) -> RunColumns:
    """Sort columns of documents by topic: hash, start and length of the docno, score, rank."""
    if (topic[1:] < topic[:-1]).any():
        order = np.argsort(topic.astype(np.min_scalar_type(len(names))), kind="stable")
        topic, columns = topic[order], [column[order] for column in columns]
    hashed, start, length, score, rank = columns
    number, size = np.arange(len(names)), np.bincount(topic, minlength=len(names))
    code = np.zeros(len(topic), dtype=np.uint8)

    rows = Rows(names, number, size, code, hashed, start, length, score, rank, buffer)
    return RunColumns(rows, lambda: _line_numbers(buffer, start))


def _numbered(buffer: Bytes, first: dict[bytes, int]) -> dict[bytes, int]:
    """Return token -> its line, from places in a buffer."""
    lines = _line_numbers(buffer, np.array(list(first.values()), dtype=np.int64))
    return dict(zip(first, lines.tolist(), strict=True))


def _line_numbers(buffer: Bytes, places: Ints) -> Ints:
    """Return the line numbers, from 1, of places in a buffer whose text begins at PAD."""
    newlines = np.flatnonzero(buffer[PAD : int(places.max(initial=PAD))] == NEWLINE) + PAD
    lines: Ints = np.searchsorted(newlines, places) + 1
    return lines


# A file line by line, or in a library's format.

AddDocument = Callable[[bytes, bytes, float, float, int], bool]
"""Adds topic, docno, score, stated rank (nan if not a number) and line."""


def _add_lines(run: Submission, add: AddDocument, layout: LineLayout, stream: Stream) -> None:
    """Add the documents of a file of lines, and the defects of lines to the run."""
    columns: dict[bytes, int] = {}
    bad_ranks: list[int] = []
    ranks: dict[bytes, float] = {}
    topic_at, docno_at = map(layout.columns.index, ("topic", "docno"))
    type_at, rank_at, score_at, tag_at = map(layout.position, ("type", "rank", "score", "tag"))
    for number, fields in line_reader.records(stream, layout, run, tolerant=True):
        topic, docno = fields[topic_at], fields[docno_at]
        rank = b"" if rank_at is None else fields[rank_at]
        stated = ranks[rank] if rank in ranks else ranks.setdefault(rank, decimal(rank))
        score = -stated if score_at is None else score_of(fields[score_at])
        if score != score:
            column = "rank" if score_at is None else "score"
            run.error(column, *field_problem(column, fields, number, layout), line=number)
            continue
        if type_at is not None and layout is RUN:
            columns.setdefault(fields[type_at], number)
        if tag_at is not None:
            run.tags.setdefault(fields[tag_at], number)
        if add(topic, docno, score, stated, number) and rank_at is not None and stated != stated:
            bad_ranks.append(number)
    _check_columns(run, columns, bad_ranks)


def _add_content(run: Submission, add: AddDocument, form: WholeFile, stream: Stream) -> None:
    """Add the documents of a file in a library's format, and its defects."""

    def listed_in(lenient: bool) -> Run:
        run.format, content = whole_files.read_whole(form, stream, "run", lenient, None, [], partial(_add_bad, run))
        return read_run(content, Options(duplicates="first"), place=run.place)

    listed = _read_twice(run, listed_in)
    if listed is None:
        return
    for topic, results in listed.topics.items():
        for number, (docno, score) in enumerate(zip(results.docnos, results.scores, strict=True)):
            name = encode(docno) if isinstance(docno, str) else docno
            add(topic, name, float(score), math.nan, results.lines[number])
    for note in listed.notes:
        run.warn("format", note.partition(": ")[2])


Read = TypeVar("Read")


def _read_twice(file: Submission, read: Callable[[bool], Read]) -> Read | None:
    """Call `read` strictly; if it raises InputError, call it with `lenient`, which adds a defect for each bad part.
    Returns None, and adds the defect of the file, if no bad part can be skipped."""
    try:
        return read(False)
    except InputError as error:
        first, count = error, len(file.defects)
    try:
        result = read(True)
    except InputError as error:
        if error.kind == "empty" and first.kind == "label":  # only words as grades: a defect of the file
            del file.defects[count:]
            _add_error(file, first)
        elif error.kind != "empty" or len(file.defects) == count:
            _add_error(file, error)
        return None
    if len(file.defects) == count:
        _add_error(file, first)
        return None
    return result


def _add_bad(file: Submission, error: InputError, line_or_name: int | str) -> None:
    """Add the defect of a bad line, row or entry, by its number or name."""
    if isinstance(line_or_name, int):
        file.error(error.kind or "format", error.problem, error.hint, line_or_name)
    else:
        file.error(error.kind or "format", f"{line_or_name}: {error.problem}", error.hint)


def _add_error(file: Submission, error: InputError, default_kind: str = "format") -> None:
    for defect in (error, *error.also):
        line = defect.place.removeprefix(f"{file.place}:")
        file.error(defect.kind or default_kind, defect.problem, defect.hint, int(line) if line.isdigit() else None)


def _check_columns(run: Submission, columns: dict[bytes, int], bad_ranks: list[int]) -> None:
    odd = {column: line for column, line in columns.items() if column.upper() != b"Q0"}
    if odd:
        column, line = next(iter(odd.items()))
        problem = f"the second column is '{decode(column)}', not Q0"
        run.warn("Q0", problem, f"write Q0, unless it is a document type for {flag.costs}", line)
    if bad_ranks:
        problem = f"{len(bad_ranks)} {plural(len(bad_ranks), 'rank')} not a number, the first on this line"
        run.warn("rank", problem, "number ranks from 1", bad_ranks[0])


def _add_judgments(qrels: Judgments, layout: LineLayout, stream: Stream, labels: Mapping[bytes, float] | None) -> None:
    first: dict[tuple[bytes, bytes], int] = {}
    words: dict[bytes, int] = {}
    bad: list[tuple[int, bytes]] = []
    qrels.grades = judged = dict[bytes, dict[bytes, float]]()
    topic_at, docno_at, grade_at = map(layout.columns.index, ("topic", "docno", "grade"))
    for number, fields in line_reader.records(stream, layout, qrels, tolerant=True):
        topic, docno, token = fields[topic_at], fields[docno_at], fields[grade_at]
        grade = grade_of(token, labels)
        if grade != grade and is_header(fields, number, layout):
            qrels.error("grade", *field_problem("grade", fields, number, layout), line=number)
            continue
        words.setdefault(token, number)
        if grade != grade:
            bad.append((number, token))
            continue
        line = first.setdefault((topic, docno), number)
        grades = judged.setdefault(topic, {})
        if line == number:
            grades[docno] = grade
            continue
        problem = duplicate(f"{document(docno, topic)} with grade {grade:g}", line, f" with grade {grades[docno]:g}")
        if grades[docno] == grade:
            qrels.warn("duplicate", problem, "give each judgment once", number)
        else:
            qrels.error("duplicate", problem, "keep one grade", number)
    try:
        check_labels(qrels.place, words, labels, words)
    except InputError as error:
        _add_error(qrels, error)
        return
    for number, token in bad:
        qrels.error("grade", *line_reader.number_problem("grade", token, number), line=number)


def _add_judged(
    qrels: Judgments, path: str, form: WholeFile, format_name: str | None, labels: Mapping[bytes, float] | None
) -> None:
    """Add the judgments of a file in a library's format, and its defects."""

    skipped: list[str] = []

    def judged_in(lenient: bool) -> Qrels:
        if lenient:
            with closing(Stream(Source(path))) as stream:
                whole_files.read_whole(form, stream, "qrels", True, labels, skipped, partial(_add_bad, qrels))
        return Qrels(path, format=format_name, lenient=lenient, labels=Labels(labels) if labels else None)

    judged = _read_twice(qrels, judged_in)
    if judged is None:
        return
    qrels.format = judged.format
    qrels.grades = {
        topic: {docno: float(judged.labels[code]) for docno, code in codes.items()}
        for topic, codes in judged.codes.items()
    }
    for note in judged.notes:
        if note not in skipped:
            qrels.warn("format", note.partition(": ")[2])


def _read(
    path: str,
    file: Submission,
    format_name: str | None,
    hint: str,
    add_columns: Callable[[LineLayout, Stream], None] | None,
    add: Callable[[LineLayout | WholeFile, Stream], None],
) -> LineLayout | WholeFile:
    """Add the content of a file and return its format; or a defect, if it cannot be read or is the other kind of file.
    `add_columns` reads files without defects; `add` reads all other files from the beginning."""
    holds, layout, wrong_layout, wrong_kind = ("qrels", QRELS, RUN, "a run") if isinstance(file, Judgments) else _OF_RUN
    try:
        with closing(Stream(Source(path))) as stream:
            form = blocks.format_of(stream, holds, format_name)
            file.format, head = form.format, stream.peek(line_reader.HEAD)
            for note in form.notes:
                file.warn("format", note)
            if form is layout and looks_like(head, wrong_layout) and not looks_like(head, layout):
                problem = f"looks like {wrong_kind} ({wrong_layout.width} fields per line)"
                file.error("format", problem, f"{hint} {layout.words}")
                return layout
            is_read = False
            if add_columns is not None and isinstance(form, LineLayout) and form.in_blocks:
                with suppress(NeedsLineReader, InputError):  # the line reader reports it
                    add_columns(form, stream)
                    is_read = True
            if not is_read and isinstance(form, LineLayout) and next(whole_lines(stream), None) is None:
                file.error("empty", "is empty", line_reader.expected_lines(layout))
            elif isinstance(form, LineLayout) and form.by_rank:
                file.warn("rank", "has no scores", "its documents are ordered by rank")
            if not is_read:
                add(form, stream)
            return form
    except InputError as error:
        _add_error(file, error, "file")
        return layout


_OF_RUN = ("run", RUN, QRELS, "qrels")
