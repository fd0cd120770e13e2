"""Runs and qrels with all that is wrong in them: read in columns, or where a line is odd line by line; a bad line is
noted, and reading goes on."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Ints
from gradedeval.errors import InputError, flag, plural, visible, with_keywords
from gradedeval.kernel.options import Options
from gradedeval.kernel.options.metadata import Labels
from gradedeval.kernel.parallel import raise_malloc_threshold
from gradedeval.kernel.rankings import in_memory, whole_files
from gradedeval.kernel.rankings.docnos import Docnos, JudgmentColumns, TopicCodes, repeats
from gradedeval.kernel.rankings.grade import Rows
from gradedeval.kernel.rankings.qrels import Qrels, read_judgments
from gradedeval.kernel.rankings.run import Run, RunColumns, TopicResults, read_run, score_of
from gradedeval.kernel.trec import blocks, line_reader
from gradedeval.kernel.trec.blocks import parts_of, whole_text
from gradedeval.kernel.trec.file_formats import field_problem, is_header
from gradedeval.kernel.trec.line_reader import document, duplicate, looks_like, whole_lines
from gradedeval.kernel.trec.lines import QRELS, RUN, LineLayout, NeedsLineReader, WholeFile, decimal, decode, encode
from gradedeval.kernel.trec.stream import Source, Stream, without_suffix
from gradedeval.kernel.trec.tokenizer import NEWLINE, PAD, Bytes, lines_of

Weight = Literal["error", "warning"]


@dataclass(frozen=True)
class Defect:
    """What is wrong, where, and how to fix it; `kind` groups defects of the same sort."""

    weight: Weight
    kind: str
    place: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return visible(f"{self.place}: {self.problem}" + (f"; {self.hint}" if self.hint else ""))


@dataclass
class Ranking:
    """The documents of a topic that is read line by line, in file order: with line, score and stated rank (nan if it is
    not a number)."""

    line_of: dict[bytes, int] = field(default_factory=dict)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[float] = field(default_factory=lambda: array("d"))


NOTHING_LISTED = RunColumns.of_topics({})


@dataclass
class Submission:
    """A run with all its defects. `listed`: its documents, without those that are defects; `tags`: what its sixth
    column holds -> the first line of each; `format`: what the file was read as."""

    name: str
    place: str
    listed: RunColumns = field(default_factory=lambda: NOTHING_LISTED)
    tags: dict[bytes, int] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    format: str = ""
    words: Callable[[str], str] = with_keywords

    @classmethod
    def read(
        cls,
        name: str,
        path: str,
        wanted: str | None = None,
        *,
        by_line: bool = False,
        words: Callable[[str], str] = with_keywords,
    ) -> Submission:
        """A run, with the defects of its lines.

        wanted   its format, as `--run-format` takes it
        by_line  read all of it line by line, whatever it holds: the same comes of it
        words    names options by keywords or by flags in the texts of defects
        """
        run = cls(name, Source(path).place, words=words)
        topics: dict[bytes, Ranking] = {}

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_content(run, topics, stream)
            else:
                _add_lines(run, topics, form, stream)

        columns = None if by_line else partial(_columns_of, run)
        _read(path, run, wanted, f"give qrels with {flag.qrels}; a run has lines of", columns, add)
        if topics:
            run.listed = RunColumns.of_topics(
                {
                    topic: TopicResults(list(own.line_of), own.scores, own.ranks, array("q", own.line_of.values()))
                    for topic, own in topics.items()
                }
            )
        if not len(run.listed) and not run.defects:
            run.error("empty", "no documents", line_reader.expected_lines(RUN))
        return run

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None:
        """Note an error in a line: what the record reader calls."""
        self.error(kind, problem, hint, line)

    def error(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("error", kind, self._place(line), *map(self.words, (problem, hint))))

    def warn(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("warning", kind, self._place(line), *map(self.words, (problem, hint))))

    def _place(self, line: int | None) -> str:
        return self.place if line is None else f"{self.place}:{line}"

    @property
    def file_name(self) -> str:
        """The name of its file, without the suffix of a compression."""
        return os.path.basename(without_suffix(self.place))

    def forget(self) -> None:
        """Release the documents: the report does not need them."""
        self.listed = NOTHING_LISTED

    def count(self, weight: Weight) -> int:
        return sum(defect.weight == weight for defect in self.defects)


@dataclass
class Judgments(Submission):
    """A qrels file with all its defects; `grades`: topic -> docno -> grade, or their columns."""

    grades: dict[bytes, dict[bytes, float]] | JudgmentColumns = field(default_factory=dict)

    @classmethod
    def of_qrels(
        cls,
        path: str,
        wanted: str | None = None,
        labels: Mapping[bytes, float] | None = None,
        *,
        by_line: bool = False,
        words: Callable[[str], str] = with_keywords,
    ) -> Judgments:
        """A qrels file, with the defects of its lines.

        wanted   its format, as `--qrels-format` takes it
        labels   label -> grade, where grades are words
        by_line  read all of it line by line, whatever it holds: the same comes of it
        words    names options by keywords or by flags in the texts of defects
        """
        qrels = cls(path, Source(path).place, words=words)

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_judged(qrels, path, wanted, labels)
            else:
                _add_judgments(qrels, form, stream, labels)

        columns = None if by_line or labels else partial(_judged_columns, qrels)
        form = _read(path, qrels, wanted, "qrels have lines of", columns, add)
        if qrels.valid is None and not qrels.defects:
            qrels.error("empty", "no judgments", line_reader.expected_lines(QRELS))
        elif qrels.valid is not None and qrels.valid.labels[-1] <= 0:
            qrels.warn(
                "grade", "no grade above 0", "check that the grade is in the fourth column" if form is QRELS else ""
            )
        return qrels

    @cached_property
    def valid(self) -> Qrels | None:
        """The judgments without defects; None where there is none."""
        if isinstance(self.grades, JudgmentColumns):
            return Qrels(self.grades)
        named = {
            decode(topic): {decode(docno): grade for docno, grade in known.items()}
            for topic, known in self.grades.items()
        }
        return Qrels(named) if named else None


# A file in which nothing is odd, in columns.


def _columns_of(run: Submission, layout: LineLayout, stream: Stream) -> Callable[[], None]:
    """What adds the documents of a file to a run, once all are read. Raises NeedsLineReader where a line is bad, and
    where a document may repeat."""
    raise_malloc_threshold()
    at_docno, at_rank, at_score = map(layout.position, ("docno", "rank", "score"))
    if at_docno is None or (at_rank is None and at_score is None):
        raise NeedsLineReader
    buffer, end = whole_text(stream, layout, numbered=True)
    topics, first = TopicCodes(), {"type": dict[bytes, int](), "tag": dict[bytes, int]()}
    columns: list[tuple[Any, ...]] = []
    for bounds in parts_of(buffer, PAD + layout.skip, end):
        if not len(lines := lines_of(buffer, *bounds, layout)):
            continue
        codes, size = topics.topic_stretches(lines)
        rank = np.full(len(lines), np.nan) if at_rank is None else lines.numbers(at_rank)
        score = -rank if at_score is None else lines.numbers(at_score)
        where = lines.hashes(at_docno), lines.start(at_docno), lines.length(at_docno)
        columns.append((np.repeat(codes, size), *where, score, rank))
        for name, found in first.items():
            if (at := layout.position(name)) is not None:
                starts = lines.starts(at)
                for token, place in zip(lines.tokens(at, starts), lines.start(at)[starts].tolist(), strict=True):
                    found.setdefault(token, place)
    if not columns:
        raise NeedsLineReader
    topic, *others = map(np.concatenate, zip(*columns, strict=True))
    hashed, start, length = others[:3]
    if repeats(topic, len(topics.names), Docnos(buffer, start, length, hashed)):
        raise NeedsLineReader

    def add() -> None:
        run.listed = _by_topic(buffer, topics.names, topic, others)
        run.tags |= _numbered(buffer, first["tag"])
        if layout is RUN:
            _check_columns(run, _numbered(buffer, first["type"]), [])

    return add


def _by_topic(buffer: Bytes, names: list[bytes], topic: Ints, columns: list[NDArray[Any]]) -> RunColumns:
    """The columns of documents topic after topic: hash, start and length of the docno, score, rank."""
    if (topic[1:] < topic[:-1]).any():
        order = np.argsort(topic.astype(np.min_scalar_type(len(names))), kind="stable")
        topic, columns = topic[order], [column[order] for column in columns]
    hashed, start, length, score, rank = columns
    number, size = np.arange(len(names)), np.bincount(topic, minlength=len(names))
    code = np.zeros(len(topic), dtype=np.uint8)

    def token(start: int, length: int) -> bytes:
        return buffer[start : start + length].tobytes()

    rows = Rows(names, number, size, code, hashed, start, length, score, rank, token, buffer=buffer)
    return RunColumns(rows, lambda: _line_numbers(buffer, start))


def _numbered(buffer: Bytes, first: dict[bytes, int]) -> dict[bytes, int]:
    """The lines of tokens, from their places in a buffer."""
    lines = _line_numbers(buffer, np.array(list(first.values()), dtype=np.int64))
    return dict(zip(first, lines.tolist(), strict=True))


def _line_numbers(buffer: Bytes, places: Ints) -> Ints:
    """The lines, from 1, of places in a buffer whose text begins at PAD."""
    newlines = np.flatnonzero(buffer[PAD : int(places.max(initial=PAD))] == NEWLINE) + PAD
    lines: Ints = np.searchsorted(newlines, places) + 1
    return lines


def _judged_columns(qrels: Judgments, layout: LineLayout, stream: Stream) -> Callable[[], None]:
    """What adds the judgments of a file to qrels, once all are read. Raises NeedsLineReader where a line is bad, and
    where a document may repeat."""
    judged = read_judgments(stream, "refuse", layout=layout)

    def add() -> None:
        qrels.grades = judged

    return add


# A file line by line, or one that a library reads.


def _add_lines(run: Submission, topics: dict[bytes, Ranking], layout: LineLayout, stream: Stream) -> None:
    """Add the documents of a file of lines to the topics, and the defects of the lines to the run."""
    columns: dict[bytes, int] = {}
    bad_ranks: list[int] = []
    ranks: dict[bytes, float] = {}
    at_topic, at_docno = map(layout.columns.index, ("topic", "docno"))
    at_type, at_rank, at_score, at_tag = map(layout.position, ("type", "rank", "score", "tag"))
    for number, fields in line_reader.records(stream, layout, run, tolerant=True):
        topic, docno = fields[at_topic], fields[at_docno]
        rank = b"" if at_rank is None else fields[at_rank]
        stated = ranks[rank] if rank in ranks else ranks.setdefault(rank, decimal(rank))
        score = -stated if at_score is None else score_of(fields[at_score])
        if score != score:
            what = "rank" if at_score is None else "score"
            run.error(what, *field_problem(what, fields, number, layout), line=number)
            continue
        if at_type is not None and layout is RUN:
            columns.setdefault(fields[at_type], number)
        if at_tag is not None:
            run.tags.setdefault(fields[at_tag], number)
        if _add(run, topics, topic, docno, score, stated, number) and at_rank is not None and stated != stated:
            bad_ranks.append(number)
    _check_columns(run, columns, bad_ranks)


def _add(
    run: Submission, topics: dict[bytes, Ranking], topic: bytes, docno: bytes, score: float, rank: float, line: int
) -> bool:
    """Add a document, or the defect that it is there already."""
    ranking = topics.setdefault(topic, Ranking())
    first = ranking.line_of.setdefault(docno, line)
    if first != line:
        run.error("duplicate", duplicate(document(docno, topic), first), "give each document once", line)
        return False
    ranking.scores.append(score)
    ranking.ranks.append(rank)
    return True


def _add_content(run: Submission, topics: dict[bytes, Ranking], stream: Stream) -> None:
    """Add the documents of a file that a library reads, and the defects of what is bad in it."""

    def listed_in(lenient: bool) -> Run:
        run.format, content = whole_files.read_whole(form, stream, "run", lenient, None, [], partial(_add_bad, run))
        return read_run(content, Options(duplicates="first"), place=run.place)

    form = run.format
    listed = _read_twice(run, listed_in)
    if listed is None:
        return
    for topic, results in listed.topics.items():
        for number, (docno, score) in enumerate(zip(results.docnos, results.scores, strict=True)):
            name = encode(docno) if isinstance(docno, str) else docno
            _add(run, topics, topic, name, float(score), math.nan, results.lines[number])
    for note in listed.notes:
        run.warn("format", note.partition(": ")[2])


Read = TypeVar("Read")


def _read_twice(file: Submission, read: Callable[[bool], Read]) -> Read | None:
    """Return what `read` returns; where it raises InputError, what it returns with `lenient`, when it adds a defect for
    each bad part. None, and the defect of the file, where nothing can be left out."""
    try:
        return read(False)
    except InputError as error:
        first, count = error, len(file.defects)
    try:
        found = read(True)
    except InputError as error:
        if error.kind == "empty" and first.kind == "label":  # words alone for grades are one defect of the file
            del file.defects[count:]
            _add_error(file, first)
        elif error.kind != "empty" or len(file.defects) == count:
            _add_error(file, error)
        return None
    if len(file.defects) == count:
        _add_error(file, first)
        return None
    return found


def _add_bad(file: Submission, error: InputError, at: int | str) -> None:
    """Add the defect of a bad line, row or entry: its number, or its name."""
    if isinstance(at, int):
        file.error(error.kind or "format", error.problem, error.hint, at)
    else:
        file.error(error.kind or "format", f"{at}: {error.problem}", error.hint)


def _add_error(file: Submission, error: InputError, otherwise: str = "format") -> None:
    for each in (error, *error.also):
        line = each.place.removeprefix(f"{file.place}:")
        file.error(each.kind or otherwise, each.problem, each.hint, int(line) if line.isdigit() else None)


def _check_columns(run: Submission, columns: dict[bytes, int], bad_ranks: list[int]) -> None:
    odd = {column: line for column, line in columns.items() if column.upper() != b"Q0"}
    if odd:
        column, line = next(iter(odd.items()))
        what = f"the second column is '{decode(column)}', not Q0"
        run.warn("Q0", what, f"write Q0, unless it is a document type for {flag.costs}", line)
    if bad_ranks:
        what = f"{len(bad_ranks)} {plural(len(bad_ranks), 'rank')} not a number, the first on this line"
        run.warn("rank", what, "number ranks from 1", bad_ranks[0])


def _add_judgments(qrels: Judgments, layout: LineLayout, stream: Stream, labels: Mapping[bytes, float] | None) -> None:
    first: dict[tuple[bytes, bytes], int] = {}
    words: dict[bytes, int] = {}
    bad: list[tuple[int, bytes]] = []
    qrels.grades = judged = dict[bytes, dict[bytes, float]]()
    at_topic, at_docno, at_grade = map(layout.columns.index, ("topic", "docno", "grade"))
    for number, fields in line_reader.records(stream, layout, qrels, tolerant=True):
        topic, docno, token = fields[at_topic], fields[at_docno], fields[at_grade]
        grade = in_memory.grade_of(token, labels)
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
        what = duplicate(f"{document(docno, topic)} with grade {grade:g}", line, f" with grade {grades[docno]:g}")
        if grades[docno] == grade:
            qrels.warn("duplicate", what, "give each judgment once", number)
        else:
            qrels.error("duplicate", what, "keep one grade", number)
    try:
        in_memory.check_labels(qrels.place, words, labels, words)
    except InputError as error:
        _add_error(qrels, error)
        return
    for number, token in bad:
        qrels.error("grade", *line_reader.number_problem("grade", token, number), line=number)


def _add_judged(qrels: Judgments, path: str, wanted: str | None, labels: Mapping[bytes, float] | None) -> None:
    """Add the judgments of a file that a library reads, and the defects of what is bad in it."""

    skipped: list[str] = []

    def judged_in(lenient: bool) -> Qrels:
        if lenient:
            with closing(Stream(Source(path))) as stream:
                whole_files.read_whole(qrels.format, stream, "qrels", True, labels, skipped, partial(_add_bad, qrels))
        return Qrels(path, format=wanted, lenient=lenient, labels=Labels(labels) if labels else None)

    read = _read_twice(qrels, judged_in)
    if read is None:
        return
    qrels.format = read.format
    qrels.grades = {
        topic: {docno: float(read.labels[code]) for docno, code in codes.items()} for topic, codes in read.codes.items()
    }
    for note in read.notes:
        if note not in skipped:
            qrels.warn("format", note.partition(": ")[2])


def _read(
    path: str,
    file: Submission,
    wanted: str | None,
    hint: str,
    columns_of: Callable[[LineLayout, Stream], Callable[[], None]] | None,
    add: Callable[[LineLayout | WholeFile, Stream], None],
) -> LineLayout | WholeFile:
    """Add what a file holds, whose format is returned; or a defect, where it cannot be read or is the other kind of
    file. `columns_of` reads it where nothing is odd, and `add` everything else, from the beginning."""
    holds, trec, others, other = ("qrels", QRELS, RUN, "a run") if isinstance(file, Judgments) else _OF_RUN
    try:
        with closing(Stream(Source(path))) as stream:
            form = blocks.format_of(stream, holds, wanted)
            file.format, head = form.format, stream.peek(line_reader.HEAD)
            for note in form.notes:
                file.warn("format", note)
            if form is trec and looks_like(head, others) and not looks_like(head, trec):
                file.error("format", f"looks like {other} ({others.width} fields per line)", f"{hint} {trec.words}")
                return trec
            add_columns = None
            if columns_of is not None and isinstance(form, LineLayout) and form.in_blocks:
                with suppress(NeedsLineReader, InputError):  # the line reader says what is wrong, and where
                    add_columns = columns_of(form, stream)
            if not add_columns and isinstance(form, LineLayout) and next(whole_lines(stream), None) is None:
                file.error("empty", "is empty", line_reader.expected_lines(trec))
            elif isinstance(form, LineLayout) and form.by_rank:
                file.warn("rank", "has no scores", "its documents are ordered by rank")
            if add_columns:
                add_columns()
            else:
                add(form, stream)
            return form
    except InputError as error:
        _add_error(file, error, "file")
        return trec


_OF_RUN = ("run", RUN, QRELS, "qrels")
