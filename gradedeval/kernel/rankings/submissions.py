"""Runs and qrels read line by line; a bad line is noted, and reading goes on."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from gradedeval.arrays import Floats, Ints, np
from gradedeval.errors import InputError, as_said, flag, plural, visible
from gradedeval.kernel.options import Options
from gradedeval.kernel.options.definition import Labels
from gradedeval.kernel.rankings import objects
from gradedeval.kernel.trec import blocks, line_reader
from gradedeval.kernel.trec.documents import read_document
from gradedeval.kernel.trec.line_reader import document, duplicate, looks_like, whole_lines
from gradedeval.kernel.trec.lines import QRELS, RUN, LineLayout, WholeFile, decimal, decode, encode
from gradedeval.kernel.trec.stream import Source, Stream, without_suffix

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
    """The documents of a topic, in file order, with line, score and stated rank (nan if it is not a number)."""

    line_of: dict[bytes, int] = field(default_factory=dict)
    score_list: array[float] = field(default_factory=lambda: array("d"))
    rank_list: array[float] = field(default_factory=lambda: array("d"))

    @cached_property
    def docnos(self) -> list[bytes]:
        return list(self.line_of)

    @cached_property
    def lines(self) -> list[int]:
        return list(self.line_of.values())

    @cached_property
    def scores(self) -> Floats:
        return np.array(self.score_list, dtype=np.float64)

    @cached_property
    def ranks(self) -> Floats:
        return np.array(self.rank_list, dtype=np.float64)

    @cached_property
    def order(self) -> Ints:
        """Positions from the best to the worst: by score, ties by docno, both descending."""
        by_docno = sorted(range(len(self.docnos)), key=self.docnos.__getitem__, reverse=True)
        order: Ints = np.array(by_docno, dtype=np.int64)
        return order[np.argsort(-self.scores[order], kind="stable")]


@dataclass
class Submission:
    """A run with all its defects. `tags`: what its sixth column holds -> the first line of each; `format`: what the
    file was read as."""

    name: str
    place: str
    topics: dict[bytes, Ranking] = field(default_factory=dict)
    tags: dict[bytes, int] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    format: str = ""

    @classmethod
    def read(cls, name: str, path: str, wanted: str | None = None) -> Submission:
        """A run, with the defects of its lines.

        wanted  its format, as `--run-format` takes it
        """
        run = cls(name, Source(path).place)

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_content(run, stream)
            else:
                _add_lines(run, form, stream)

        _read(path, run, wanted, f"give qrels with {flag.qrels}; a run has lines of", add)
        if not run.topics and not run.defects:
            run.error("empty", "no documents", line_reader.expected_lines(RUN))
        return run

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None:
        """Note an error in a line: what the record reader calls."""
        self.error(kind, problem, hint, line)

    def error(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("error", kind, self._place(line), *map(as_said, (problem, hint))))

    def warn(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("warning", kind, self._place(line), *map(as_said, (problem, hint))))

    def _place(self, line: int | None) -> str:
        return self.place if line is None else f"{self.place}:{line}"

    @property
    def documents(self) -> int:
        return sum(len(ranking.line_of) for ranking in self.topics.values())

    @property
    def file_name(self) -> str:
        """The name of its file, without the suffix of a compression."""
        return os.path.basename(without_suffix(self.place))

    def forget(self) -> None:
        """Release the documents: the report does not need them."""
        self.topics = {}

    def count(self, weight: Weight) -> int:
        return sum(defect.weight == weight for defect in self.defects)


@dataclass
class Judgments(Submission):
    """A qrels file with all its defects; `grades`: topic -> docno -> grade."""

    grades: dict[bytes, dict[bytes, float]] = field(default_factory=dict)

    @classmethod
    def of_qrels(cls, path: str, wanted: str | None = None, labels: Mapping[bytes, float] | None = None) -> Judgments:
        """A qrels file, with the defects of its lines.

        wanted  its format, as `--qrels-format` takes it
        labels  label -> grade, where grades are words
        """
        qrels = cls(path, Source(path).place)

        def add(form: LineLayout | WholeFile, stream: Stream) -> None:
            if isinstance(form, WholeFile):
                _add_judged(qrels, path, wanted, labels)
            else:
                _add_judgments(qrels, form, stream, labels)

        form = _read(path, qrels, wanted, "qrels have lines of", add)
        if not qrels.grades and not qrels.defects:
            qrels.error("empty", "no judgments", line_reader.expected_lines(QRELS))
        elif qrels.grades and max(max(grades.values()) for grades in qrels.grades.values()) <= 0:
            qrels.warn(
                "grade", "no grade above 0", "check that the grade is in the fourth column" if form is QRELS else ""
            )
        return qrels


def _add_lines(run: Submission, layout: LineLayout, stream: Stream) -> None:
    """Add the documents of a file of lines, and the defects of the lines."""

    from gradedeval.kernel.rankings.run import score_of

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
            what, token = ("rank", rank) if at_score is None else ("score", fields[at_score])
            run.error(what, *line_reader.about_number(what, token, number), line=number)
            continue
        if at_type is not None and layout is RUN:
            columns.setdefault(fields[at_type], number)
        if at_tag is not None:
            run.tags.setdefault(fields[at_tag], number)
        if _add(run, topic, docno, score, stated, number) and at_rank is not None and stated != stated:
            bad_ranks.append(number)
    _check_columns(run, columns, bad_ranks)


def _add(run: Submission, topic: bytes, docno: bytes, score: float, rank: float, line: int) -> bool:
    """Add a document, or the defect that it is there already."""
    ranking = run.topics.setdefault(topic, Ranking())
    first = ranking.line_of.setdefault(docno, line)
    if first != line:
        run.error("duplicate", duplicate(document(docno, topic), first), "give each document once", line)
        return False
    ranking.score_list.append(score)
    ranking.rank_list.append(rank)
    return True


def _add_content(run: Submission, stream: Stream) -> None:
    """Add the documents of a file that a library reads; or its first defect: the library stops there."""

    from gradedeval.kernel.rankings.run import read_run

    try:
        run.format, content = read_document(run.format, stream)
        listed = read_run(content, Options(duplicates="first"), place=run.place)
    except InputError as error:
        _add_error(run, error)
        return
    for topic, results in listed.topics.items():
        for number, (docno, score) in enumerate(zip(results.docnos, results.scores, strict=True)):
            name = encode(docno) if isinstance(docno, str) else docno
            _add(run, topic, name, float(score), math.nan, results.lines[number])
    for note in listed.notes:
        run.warn("format", note.partition(": ")[2])


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
    at_topic, at_docno, at_grade = map(layout.columns.index, ("topic", "docno", "grade"))
    for number, fields in line_reader.records(stream, layout, qrels, tolerant=True):
        topic, docno, token = fields[at_topic], fields[at_docno], fields[at_grade]
        grade = objects.grade_of(token, labels)
        words.setdefault(token, number)
        if grade != grade:
            bad.append((number, token))
            continue
        line = first.setdefault((topic, docno), number)
        grades = qrels.grades.setdefault(topic, {})
        if line == number:
            grades[docno] = grade
            continue
        what = duplicate(f"{document(docno, topic)} with grade {grade:g}", line, f" with grade {grades[docno]:g}")
        if grades[docno] == grade:
            qrels.warn("duplicate", what, "give each judgment once", number)
        else:
            qrels.error("duplicate", what, "keep one grade", number)
    try:
        objects.check_labels(qrels.place, words, labels, words)
    except InputError as error:
        _add_error(qrels, error)
        return
    for number, token in bad:
        qrels.error("grade", *line_reader.about_number("grade", token, number), line=number)


def _add_judged(qrels: Judgments, path: str, wanted: str | None, labels: Mapping[bytes, float] | None) -> None:
    """Add the judgments of a file that a library reads; or its first defect."""

    from gradedeval.kernel.rankings.qrels import Qrels

    try:
        read = Qrels(path, format=wanted, labels=Labels(labels) if labels else None)
    except InputError as error:
        _add_error(qrels, error)
        return
    qrels.format = read.format
    for topic, codes in read.codes.items():
        qrels.grades[topic] = {docno: float(read.labels[code]) for docno, code in codes.items()}
    for note in read.notes:
        qrels.warn("format", note.partition(": ")[2])


def _read(
    path: str, file: Submission, wanted: str | None, hint: str, add: Callable[[LineLayout | WholeFile, Stream], None]
) -> LineLayout | WholeFile:
    """`add` what a file holds, whose format is returned; or a defect, where it cannot be read or is the other kind of
    file."""
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
            if isinstance(form, LineLayout) and next(whole_lines(stream), None) is None:
                file.error("empty", "is empty", line_reader.expected_lines(trec))
            elif isinstance(form, LineLayout) and form.by_rank:
                file.warn("rank", "has no scores", "its documents are ordered by rank")
            add(form, stream)
            return form
    except InputError as error:
        _add_error(file, error, "file")
        return trec


_OF_RUN = ("run", RUN, QRELS, "qrels")
