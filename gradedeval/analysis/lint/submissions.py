"""Files line by line, where a bad line is noted and reading goes on."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, plural
from gradedeval.rankings.qrels import about_grade
from gradedeval.rankings.run import about_score, score_of
from gradedeval.trec.lines import (
    BYTE_ORDER_MARKS,
    QRELS_FIELDS,
    RUN_FIELDS,
    about_control,
    about_width,
    control_byte,
    decimal,
    decode,
    looks_like,
)
from gradedeval.trec.source import Source

Weight = Literal["error", "warning"]


@dataclass(frozen=True)
class Defect:
    """What is wrong, where, and how to mend it; `kind` is one word for all of its sort."""

    weight: Weight
    kind: str
    place: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}" + (f"; {self.hint}" if self.hint else "")


@dataclass
class Ranking:
    """A topic of a submission as listed: its documents with their lines, their scores and stated ranks (nan: none)."""

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
        order: NDArray[np.int64] = np.array(by_docno, dtype=np.int64)
        return order[np.argsort(-self.scores[order], kind="stable")]


@dataclass
class Submission:
    """A run with all its defects. `tags`: what stands in its sixth column -> the first line that has it."""

    name: str
    place: str
    topics: dict[bytes, Ranking] = field(default_factory=dict)
    tags: dict[bytes, int] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)

    def add(self, weight: Weight, kind: str, error: str, hint: str = "", line: int | None = None) -> None:
        place = self.place if line is None else f"{self.place}:{line}"
        self.defects.append(Defect(weight, kind, place, error, hint))

    def error(self, kind: str, error: str, hint: str = "", line: int | None = None) -> None:
        self.add("error", kind, error, hint, line)

    def warn(self, kind: str, error: str, hint: str = "", line: int | None = None) -> None:
        self.add("warning", kind, error, hint, line)

    @property
    def documents(self) -> int:
        return sum(len(ranking.line_of) for ranking in self.topics.values())

    def forget(self) -> None:
        """Let go of the documents: the report needs no more of them."""
        self.topics = {}

    def count(self, weight: Weight) -> int:
        return sum(defect.weight == weight for defect in self.defects)


@dataclass
class Judgements(Submission):
    """A qrels file with all its defects; `grades`: topic -> docno -> grade."""

    grades: dict[bytes, dict[bytes, float]] = field(default_factory=dict)


def read_submission(name: str, path: str) -> Submission:
    """A run, with the defects of its lines."""
    run = Submission(name, Source(path).place)
    data = _bytes_of(path, run, RUN_FIELDS)
    if looks_like(data, QRELS_FIELDS) and not looks_like(data, RUN_FIELDS):
        what = f"looks like qrels ({len(QRELS_FIELDS)} fields a line)"
        run.error("format", what, "a run has lines of " + " ".join(RUN_FIELDS))
        return run
    columns: dict[bytes, int] = {}
    bad_ranks: list[int] = []
    ranks: dict[bytes, float] = {}
    for number, (topic, column, docno, rank, token, tag) in _lines(data, run, RUN_FIELDS):
        score = score_of(token)
        if score != score:
            run.error("score", *about_score(token, number), line=number)
            continue
        columns.setdefault(column, number)
        run.tags.setdefault(tag, number)
        ranking = run.topics.setdefault(topic, Ranking())
        before = ranking.line_of.setdefault(docno, number)
        if before != number:
            what = f"docno {decode(docno)} of topic {decode(topic)} again, first in line {before}"
            run.error("duplicate", what, "give each document once", number)
            continue
        listed = ranks[rank] if rank in ranks else ranks.setdefault(rank, decimal(rank))
        if listed != listed:
            bad_ranks.append(number)
        ranking.score_list.append(score)
        ranking.rank_list.append(listed)
    _about_columns(run, columns, bad_ranks)
    if not run.topics and not run.defects:
        run.error("empty", "no documents", f"lines of {' '.join(RUN_FIELDS)} are expected")
    return run


def _about_columns(run: Submission, columns: dict[bytes, int], bad_ranks: list[int]) -> None:
    odd = {column: line for column, line in columns.items() if column.upper() != b"Q0"}
    if odd:
        column, line = next(iter(odd.items()))
        run.warn(
            "Q0",
            f"the second column is '{decode(column)}', not Q0",
            "write Q0 there, unless it is a type of document for --costs",
            line,
        )
    if bad_ranks:
        what = f"{len(bad_ranks)} {plural(len(bad_ranks), 'rank')} no number, the first in this line"
        run.warn("rank", what, "count ranks from 1", bad_ranks[0])


def read_judgements(path: str) -> Judgements:
    """A qrels file, with the defects of its lines."""
    qrels = Judgements(path, Source(path).place)
    data = _bytes_of(path, qrels, QRELS_FIELDS)
    if looks_like(data, RUN_FIELDS) and not looks_like(data, QRELS_FIELDS):
        what = f"looks like a run ({len(RUN_FIELDS)} fields a line)"
        qrels.error("format", what, "qrels have lines of " + " ".join(QRELS_FIELDS))
        return qrels
    first: dict[tuple[bytes, bytes], int] = {}
    for number, (topic, _, docno, token) in _lines(data, qrels, QRELS_FIELDS):
        grade = decimal(token)
        if grade != grade:
            qrels.error("grade", *about_grade(token, number), line=number)
            continue
        before = first.setdefault((topic, docno), number)
        known = qrels.grades.setdefault(topic, {})
        if before == number:
            known[docno] = grade
        elif known[docno] == grade:
            what = f"docno {decode(docno)} of topic {decode(topic)} again with the same grade, first in line {before}"
            qrels.warn("duplicate", what, "give it once", number)
        else:
            what = (
                f"docno {decode(docno)} of topic {decode(topic)} again: grade {grade:g}, and {known[docno]:g} in line"
            )
            qrels.error("duplicate", f"{what} {before}", "decide for one", number)
    if not qrels.grades and not qrels.defects:
        qrels.error("empty", "no judgements", f"lines of {' '.join(QRELS_FIELDS)} are expected")
    elif qrels.grades and max(max(known.values()) for known in qrels.grades.values()) <= 0:
        qrels.warn("grade", "no grade above 0", "is the grade the fourth column?")
    return qrels


def _bytes_of(path: str, file: Submission, expected: tuple[str, ...]) -> bytes:
    """All of a file; nothing, and a defect, where it cannot be read."""
    try:
        data = Source(path).read()
    except InputError as error:
        file.error("file", error.problem, error.hint)
        return b""
    if not data.strip():
        file.error("empty", "is empty", f"lines of {' '.join(expected)} are expected")
    return data


def _lines(data: bytes, file: Submission, expected: tuple[str, ...]) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of the lines that have as many as expected; the others are defects."""
    if data.startswith(BYTE_ORDER_MARKS):
        file.error("format", "begins with a byte order mark", "save the file as UTF-8 without one", 1)
        if not data.startswith(BYTE_ORDER_MARKS[0]):
            return  # UTF-16: no line of it can be read
        data = data[len(BYTE_ORDER_MARKS[0]) :]
    suspicious = bool(control_byte(data))
    for number, line in enumerate(data.split(b"\n"), 1):
        control = control_byte(line) if suspicious else b""
        if control:
            file.error("format", *about_control(control), line=number)
            continue
        found = line.split()
        if not found or line[0] == 35:
            continue
        if len(found) == len(expected):
            yield number, found
        else:
            file.error("fields", *about_width(found, expected), line=number)
