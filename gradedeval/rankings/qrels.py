"""Graded judgements: which documents of a topic are judged, and how."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.options import Duplicates
from gradedeval.rankings.docno_index import Index
from gradedeval.rankings.frames import dict_intents, dict_judgements, frame_intents, frame_judgements
from gradedeval.rankings.qrels_columns import Judged, judged_of, read_judged
from gradedeval.rankings.subtopics import Subtopics, by_subtopic
from gradedeval.trec.lines import (
    QRELS_FIELDS,
    RUN_FIELDS,
    NeedsLineReader,
    check_text,
    decimal,
    decode,
    fields,
    looks_like,
    settle,
    skipped,
)
from gradedeval.trec.source import Source, is_file
from gradedeval.trec.stream import Stream

Judgement = tuple[bytes, Any, float, int]
"""Topic, docno (or docno and subtopic), grade, and the line (or row) it stands in."""


class Qrels:
    """Graded judgements, read once and used for any number of runs.

    source      a path (`-` is standard input), an open file, a DataFrame with the columns topic, docno and grade (or
                the names of ir_measures and PyTerrier), or a dict topic -> docno -> grade
    subtopics   read judgements by intent: the second column of a file is the subtopic, as are the column subtopic (or
                iteration) of a DataFrame and the inner keys of a dict topic -> docno -> subtopic -> grade; subtopic 0
                is no intent. For all other measures a document has the highest of its grades
    duplicates  one docno twice in a topic with different grades: `error`, or keep the `first` or `last`; `refuse` is an
                error for equal grades too
    lenient     skip bad lines of a file
    jobs        processes that may share a large file

    topics: the ids, in order of appearance. labels: the distinct grades, ascending. codes: topic -> docno -> index into
    labels. pool: topics × labels, how many documents of the topic have each. subtopics: the intents, None where not
    asked for; then documents with unlike grades for any intent have codes of their own, and labels repeat. notes: what
    was skipped or assumed.
    Raises InputError where the source is no qrels.
    """

    def __init__(
        self,
        source: Any,
        *,
        duplicates: Duplicates = "error",
        lenient: bool = False,
        subtopics: bool = False,
        jobs: int = 1,
    ) -> None:
        self.notes: list[str] = []
        self.subtopics: Subtopics | None = None
        self.place = Source(source).place if is_file(source) else "qrels"
        self._judged = (
            self._of_file(Source(source), duplicates, lenient, subtopics, jobs)
            if is_file(source)
            else self._of_rows(_judgements(source, subtopics), duplicates, subtopics)
        )
        self.labels: Floats = self._judged.labels
        self.topics: list[bytes] = self._judged.topics
        self.pool: Ints = self._judged.pool()

    def _of_file(self, source: Source, duplicates: Duplicates, lenient: bool, subtopics: bool, jobs: int) -> Judged:
        stream = Stream(source)
        try:
            if subtopics:
                raise NeedsLineReader
            found = read_judged(stream, duplicates, jobs)
        except NeedsLineReader:
            data = stream.whole()
            rows = _judgements_of_bytes(self.place, data, lenient, self.notes, subtopics)
            try:
                return self._of_rows(rows, duplicates, subtopics)
            except InputError as error:
                if subtopics or not _tells_subtopics(data):
                    raise
                hint = f"{error.hint}; --subtopics keeps all, where the second column is a subtopic"
                raise InputError(error.place, error.problem, hint, also=error.also, beyond=error.beyond) from None
        finally:
            stream.close()
        if found.repeated:
            self.notes.append(_repeated(self.place, found.repeated))
        return found

    def _of_rows(self, rows: list[Judgement], duplicates: Duplicates, subtopics: bool) -> Judged:
        graded = _by_topic(self.place, rows, duplicates, self.notes)
        if not graded:
            raise InputError(self.place, "no judgements", f"lines of {' '.join(QRELS_FIELDS)} are expected")
        if subtopics:
            self.codes, labels, self.subtopics = by_subtopic(graded)
            return judged_of(self.codes, labels)
        # No −0.
        labels = np.array(sorted({grade for documents in graded.values() for grade in documents.values()})) + 0.0
        code_of = {grade: code for code, grade in enumerate(labels.tolist())}
        self.codes = {
            topic: {docno: code_of[grade] for docno, grade in documents.items()} for topic, documents in graded.items()
        }
        return judged_of(self.codes, labels)

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return f"<Qrels {self.place}: {len(self)} topics, {int(self.pool.sum())} judgements>"

    def pool_of(self, topics: list[bytes]) -> Ints:
        """topics × labels: how many documents have each label; none for a topic that is not judged."""
        rows = [self.row.get(topic, -1) for topic in topics]
        counts: Ints = self._pools[rows]
        return counts

    @cached_property
    def _pools(self) -> Ints:
        """`pool`, and a row for topics that are not judged."""
        return np.append(self.pool, np.zeros((1, len(self.labels)), dtype=np.int64), axis=0)

    @cached_property
    def row(self) -> dict[bytes, int]:
        """topic -> its row in `pool`, and its number in `index`."""
        return {topic: row for row, topic in enumerate(self.topics)}

    @property
    def index(self) -> Index:
        """The judged documents, for runs that come in blocks."""
        return self._judged.index

    @property
    def code(self) -> NDArray[Any]:
        """documents of the index: index into labels."""
        return self._judged.code

    @cached_property
    def codes(self) -> dict[bytes, dict[bytes, int]]:
        """topic -> docno -> index into labels, for runs that come as dicts."""
        return self._judged.codes()

    @cached_property
    def text_codes(self) -> dict[bytes, dict[str, int]]:
        """`codes` with docnos as text: for runs that come as dicts, thousands of them in a training loop."""
        return {
            topic: {decode(docno): code for docno, code in documents.items()} for topic, documents in self.codes.items()
        }

    @cached_property
    def digest(self) -> str:
        """Six hexadecimal digits that change with any judgement, and not with order, blanks or compression."""
        if self.subtopics is None:
            return self._judged.digest()
        return self.subtopics.digest(replace(self._judged, labels=self.subtopics.marks(self.labels)).digest())


def _judgements(source: Any, subtopics: bool) -> list[Judgement]:
    if isinstance(source, Mapping):
        return dict_intents(source) if subtopics else dict_judgements(source)
    if hasattr(source, "columns"):
        return frame_intents(source) if subtopics else frame_judgements(source)
    raise InputError(
        "qrels",
        f"cannot read a {type(source).__name__}",
        "give a path, an open file, a DataFrame or a dict",
        usage=True,
    )


def _judgements_of_bytes(place: str, data: bytes, lenient: bool, notes: list[str], subtopics: bool) -> list[Judgement]:
    """The judgements line by line: the reference that the block reader agrees with."""
    findings = ProblemList(place)
    grades: dict[bytes, float] = {}
    rows: list[Judgement] = []
    for number, (topic, subtopic, docno, token) in fields(data, findings, QRELS_FIELDS):
        grade = grades[token] if token in grades else grades.setdefault(token, decimal(token))
        if grade == grade:
            rows.append((topic, (docno, subtopic) if subtopics else docno, grade, number))
        else:
            findings.add(number, *about_grade(token, number))
    if not rows and looks_like(data, RUN_FIELDS):
        raise InputError(
            place, f"looks like a run ({len(RUN_FIELDS)} fields a line)", "the order is RUN... QRELS: are they swapped?"
        )
    settle(findings, lenient, notes)
    if not rows:
        raise InputError(place, f"no judgements{skipped(findings)}", f"lines of {' '.join(QRELS_FIELDS)} are expected")
    return rows


def about_grade(token: bytes, number: int) -> tuple[str, str]:
    """What is wrong with the grade in line `number`, and the cure."""
    hint = "remove the line if it is a header" if number == 1 else "a grade is a number, as in 2 or 0.5"
    return f"grade '{decode(token)}' is no number", hint


def _tells_subtopics(data: bytes) -> bool:
    """Whether the second column of a file, the iteration, is more than one."""
    return len({line.split(None, 2)[1] for line in data.split(b"\n") if len(line.split(None, 2)) > 1}) > 1


def _by_topic(place: str, rows: list[Judgement], policy: Duplicates, notes: list[str]) -> dict[bytes, dict[Any, float]]:
    graded: dict[bytes, dict[Any, float]] = {}
    again: list[Judgement] = []
    for row in rows:
        documents = graded.setdefault(row[0], {})
        if row[1] in documents:
            again.append(row)
        else:
            documents[row[1]] = row[2]
    if again:
        _settle_duplicates(place, rows, again, policy, graded, notes)
    return graded


def _settle_duplicates(
    place: str,
    rows: list[Judgement],
    again: list[Judgement],
    policy: Duplicates,
    graded: dict[bytes, dict[Any, float]],
    notes: list[str],
) -> None:
    """Docnos judged more than once in a topic: an error, or the first or last grade, and a note either way."""
    twice = {(topic, docno) for topic, docno, _, _ in again}
    first = {row[:2]: row[3] for row in reversed(rows) if row[:2] in twice}
    findings = ProblemList(place)
    same = differing = 0
    for topic, docno, grade, number in again:
        before = graded[topic][docno]
        if grade == before and policy != "refuse":
            same += 1
        elif policy in ("first", "last"):
            differing += 1
            graded[topic][docno] = before if policy == "first" else grade
        else:
            what = f"grade {grade:g}, and {before:g} in line {first[topic, docno]}"
            hint = "give it once" if grade == before else "--duplicates first or last keeps one"
            findings.add(number, f"docno {_called(docno)} of topic {decode(topic)} again: {what}", hint)
    findings.check()
    if same:
        notes.append(_repeated(place, same))
    if differing:
        notes.append(
            f"{place}: {differing} {plural(differing, 'judgement')} repeated; the {policy} grade of each counts"
        )


def _repeated(place: str, count: int) -> str:
    return f"{place}: {count} {plural(count, 'judgement')} repeated with the same grade; counted once"


def _called(docno: bytes | tuple[bytes, bytes]) -> str:
    return decode(docno) if isinstance(docno, bytes) else f"{decode(docno[0])} for subtopic {decode(docno[1])}"


def topics_of_file(path: str | os.PathLike[str]) -> frozenset[bytes]:
    """The topic ids of a `--topics-from` file: the first field of every line. Raises InputError for a file without
    any."""
    source = Source(path)
    data = source.read()
    check_text(data, source.place)
    lines = [line.split() for line in data.split(b"\n") if not line.startswith(b"#")]
    topics = frozenset(line[0] for line in lines if line)
    if not topics:
        raise InputError(source.place, "names no topic", "one topic a line")
    return topics
