"""Runs and qrels read line by line; a bad line is noted, and reading goes on."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, plural, visible
from gradedeval.rankings.run import score_of
from gradedeval.trec import lines
from gradedeval.trec.duplicates import document, duplicate
from gradedeval.trec.lines import QRELS_FIELDS, RUN_FIELDS, decimal, decode, looks_like
from gradedeval.trec.source import Source

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
        order: NDArray[np.int64] = np.array(by_docno, dtype=np.int64)
        return order[np.argsort(-self.scores[order], kind="stable")]


@dataclass
class Submission:
    """A run with all its defects. `tags`: what its sixth column holds -> the first line of each."""

    name: str
    place: str
    topics: dict[bytes, Ranking] = field(default_factory=dict)
    tags: dict[bytes, int] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None:
        """Note an error in a line: what the record reader calls."""
        self.error(kind, problem, hint, line)

    def error(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("error", kind, self._place(line), problem, hint))

    def warn(self, kind: str, problem: str, hint: str = "", line: int | None = None) -> None:
        self.defects.append(Defect("warning", kind, self._place(line), problem, hint))

    def _place(self, line: int | None) -> str:
        return self.place if line is None else f"{self.place}:{line}"

    @property
    def documents(self) -> int:
        return sum(len(ranking.line_of) for ranking in self.topics.values())

    def forget(self) -> None:
        """Release the documents: the report does not need them."""
        self.topics = {}

    def count(self, weight: Weight) -> int:
        return sum(defect.weight == weight for defect in self.defects)


@dataclass
class Judgments(Submission):
    """A qrels file with all its defects; `grades`: topic -> docno -> grade."""

    grades: dict[bytes, dict[bytes, float]] = field(default_factory=dict)


def read_submission(name: str, path: str) -> Submission:
    """A run, with the defects of its lines."""
    run = Submission(name, Source(path).place)
    data = _bytes_of(path, run, RUN_FIELDS, QRELS_FIELDS, "qrels", "give qrels with --qrels; a run has lines of")
    columns: dict[bytes, int] = {}
    bad_ranks: list[int] = []
    ranks: dict[bytes, float] = {}
    for number, (topic, column, docno, rank, token, tag) in lines.records(data, RUN_FIELDS, run, tolerant=True):
        score = score_of(token)
        if score != score:
            run.error("score", *lines.about_number("score", token, number), line=number)
            continue
        columns.setdefault(column, number)
        run.tags.setdefault(tag, number)
        ranking = run.topics.setdefault(topic, Ranking())
        first = ranking.line_of.setdefault(docno, number)
        if first != number:
            what = duplicate(document(docno, topic), first)
            run.error("duplicate", what, "give each document once", number)
            continue
        stated = ranks[rank] if rank in ranks else ranks.setdefault(rank, decimal(rank))
        if stated != stated:
            bad_ranks.append(number)
        ranking.score_list.append(score)
        ranking.rank_list.append(stated)
    _check_columns(run, columns, bad_ranks)
    if not run.topics and not run.defects:
        run.error("empty", "no documents", lines.expected_lines(RUN_FIELDS))
    return run


def _check_columns(run: Submission, columns: dict[bytes, int], bad_ranks: list[int]) -> None:
    odd = {column: line for column, line in columns.items() if column.upper() != b"Q0"}
    if odd:
        column, line = next(iter(odd.items()))
        what = f"the second column is '{decode(column)}', not Q0"
        run.warn("Q0", what, "write Q0, unless it is a document type for --costs", line)
    if bad_ranks:
        what = f"{len(bad_ranks)} {plural(len(bad_ranks), 'rank')} not a number, the first on this line"
        run.warn("rank", what, "number ranks from 1", bad_ranks[0])


def read_judgments(path: str) -> Judgments:
    """A qrels file, with the defects of its lines."""
    qrels = Judgments(path, Source(path).place)
    data = _bytes_of(path, qrels, QRELS_FIELDS, RUN_FIELDS, "a run", "qrels have lines of")
    first: dict[tuple[bytes, bytes], int] = {}
    for number, (topic, _, docno, token) in lines.records(data, QRELS_FIELDS, qrels, tolerant=True):
        grade = decimal(token)
        if grade != grade:
            qrels.error("grade", *lines.about_number("grade", token, number), line=number)
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
            qrels.error("duplicate", what, "decide on one grade", number)
    if not qrels.grades and not qrels.defects:
        qrels.error("empty", "no judgments", lines.expected_lines(QRELS_FIELDS))
    elif qrels.grades and max(max(grades.values()) for grades in qrels.grades.values()) <= 0:
        qrels.warn("grade", "no grade above 0", "is the grade in the fourth column?")
    return qrels


def _bytes_of(
    path: str, file: Submission, expected: tuple[str, ...], others: tuple[str, ...], other: str, hint: str
) -> bytes:
    """All of a file; nothing, and a defect, where it cannot be read or is the other kind of file."""
    try:
        data = Source(path).read()
    except InputError as error:
        file.error("file", error.problem, error.hint)
        return b""
    if not data.strip():
        file.error("empty", "is empty", lines.expected_lines(expected))
    elif looks_like(data, others) and not looks_like(data, expected):
        file.error("format", f"looks like {other} ({len(others)} fields per line)", f"{hint} {' '.join(expected)}")
        return b""
    return data
