"""Judgments of a file that is read line by line, in any layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradedeval.errors import ProblemList
from gradedeval.options import Duplicates
from gradedeval.rankings.frames import Judgment
from gradedeval.rankings.labels import check_labels, grade_of, unused_labels
from gradedeval.trec import lines
from gradedeval.trec.column_names import no_column
from gradedeval.trec.layouts import LineLayout
from gradedeval.trec.stream import Stream
from gradedeval.trec.whole_lines import numbered_lines


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
