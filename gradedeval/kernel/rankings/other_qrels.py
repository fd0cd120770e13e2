"""Qrels other than plain files: objects, lines with labels, by subtopic, of a sample, filled by clicks, or by several
judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import Flag, InputError, ProblemList, flag, plural
from gradedeval.kernel.options import Duplicates
from gradedeval.kernel.rankings import in_memory
from gradedeval.kernel.rankings.docnos import Docnos, Index, JudgmentColumns
from gradedeval.kernel.rankings.in_memory import Judgment
from gradedeval.kernel.rankings.labels import check_labels, grade_of, lacking_labels
from gradedeval.kernel.trec import file_formats, line_reader
from gradedeval.kernel.trec.file_formats import DOCNO, SCORE, SUBTOPIC, TOPIC, TableColumns
from gradedeval.kernel.trec.lines import PREFERENCES, QRELS, LineLayout, decimal, decode
from gradedeval.kernel.trec.stream import Source, Stream
from gradedeval.kernel.trec.tokenizer import text_hashes

if TYPE_CHECKING:
    from gradedeval.kernel.options.metadata import Fill
    from gradedeval.kernel.rankings.qrels import ListedJudgments, Qrels, QrelsRules

# Objects in Python, and files that are read whole: dicts, tables, and objects that convert to them.


@dataclass(eq=False, repr=False)
class QrelsData:
    """The judgments of a source other than a plain file.

    judgments     as columns, or as lists if of usual content
    labels        the distinct grades, or the highest grade of each code
    codes         topic -> docno -> code, if computed
    could_be_run  whether only the numbers distinguish them from a run
    """

    judgments: JudgmentColumns | ListedJudgments
    labels: Floats
    codes: dict[bytes, dict[bytes, int]] | None = None
    subtopics: Subtopics | None = None
    strata: Strata | None = None
    could_be_run: bool = False


def judgments_of_object(
    source: Any, place: str, rules: QrelsRules, notes: list[str], is_file: bool = False
) -> QrelsData:
    """Return the judgments of a Python object, or of the content of a file that is read whole; append notes.

    is_file  whether the fields that the user named have our names already
    """
    source = source if is_file else in_memory.with_own_names(source, rules.format, "qrels", place)
    source = _with_grade_one(in_memory.readable(source, "qrels", place))
    could_be_run = (
        not hasattr(source, "columns") or file_formats.plain(file_formats.find_grades(source.columns)) in SCORE
    )
    notes += [f"{place}: {note}"] if isinstance(source, TableColumns) and (note := source.note) else []
    if rules.labels is not None:
        notes += lacking_labels(place, in_memory.words_of(source, place), rules.labels)
    if not rules.part:
        has_columns = hasattr(source, "iloc") or isinstance(source, TableColumns)
        if has_columns and (columns := in_memory.arrow_judgments(source, place)) is not None:
            return QrelsData(columns, columns.labels, could_be_run=could_be_run)
        if (usual := in_memory.usual_judgments(source, place)) is not None:
            labels, code = in_memory.coded_floats(usual.values)
            return QrelsData((usual.topics, usual.docnos, code), labels, could_be_run=could_be_run)
    read = in_memory.dict_judgments if isinstance(source, Mapping) else in_memory.frame_judgments
    rows = read(source, rules.part, place, rules.labels)
    topics = [in_memory.ident(topic, place, "topic") for topic in in_memory.topics_in_order(source)]
    return replace(_of_rows(rows, place, rules, notes, topics), could_be_run=could_be_run)


def _with_grade_one(source: Any) -> Any:
    """Add the grade 1 to a table of topics and docnos alone; return anything else unchanged."""
    names = list(getattr(source, "columns", ()))
    topic, docno = (file_formats.find_column(names, aliases) for aliases in (TOPIC, DOCNO))
    if len(names) != 2 or None in (topic, docno) or not hasattr(source[topic], "tolist"):
        return source
    columns = {"topic": source[topic].tolist(), "docno": source[docno].tolist(), "grade": [1] * len(source)}
    table = TableColumns.of(columns, in_memory.lines_of(source))
    table.note = file_formats.NO_GRADES_LISTED
    return table


def _of_rows(
    rows: list[Judgment], place: str, rules: QrelsRules, notes: list[str], topics: Sequence[bytes] = ()
) -> QrelsData:
    """Convert rows, perhaps with duplicates, subtopics or strata; `topics`: all in their order, if some are empty."""
    part = rules.part
    graded = _by_topic(place, rows, rules.duplicates, notes, part)
    graded = {topic: graded.get(topic, {}) for topic in topics} or graded
    if not graded:
        raise InputError(place, "no judgments", line_reader.expected_lines(QRELS), kind="empty")
    if part and rules.collapse is not None:
        from gradedeval.kernel.rankings.chunks import fold_parts  # most judgments are of documents

        graded = fold_parts(graded, rules.collapse, place, notes)
    subtopics, strata = None, None
    if part == SUBTOPIC:
        codes, labels, subtopics = by_subtopic(graded)
    elif part:
        codes, labels, strata = by_stratum(graded, place)
    else:
        # No −0.
        labels = np.array(sorted({grade for documents in graded.values() for grade in documents.values()})) + 0.0
        code_of = {grade: code for code, grade in enumerate(labels.tolist())}
        codes = {
            topic: {docno: code_of[grade] for docno, grade in documents.items()} for topic, documents in graded.items()
        }
    return QrelsData(judgments_of_codes(codes, labels), labels, codes, subtopics, strata)


def judgments_of_codes(codes: Mapping[bytes, Mapping[Any, int]], labels: Floats) -> JudgmentColumns:
    """Convert dicts topic -> docno, as bytes or text, -> code to columns."""
    codes_in_order = chain.from_iterable(documents.values() for documents in codes.values())
    code = np.fromiter(codes_in_order, np.min_scalar_type(len(labels)), sum(map(len, codes.values())))
    return judgments_of_lists(list(codes), list(map(list, codes.values())), code, labels)


def judgments_of_lists(
    topics: list[bytes], docnos: list[list[Any]], code: NDArray[Any], labels: Floats
) -> JudgmentColumns:
    """Convert topics, the docnos of each, as bytes or text, and the code of every document to columns."""
    names = Docnos(*text_hashes(list(chain.from_iterable(docnos))))
    topic = np.repeat(np.arange(len(topics), dtype=np.int32), list(map(len, docnos)))
    return JudgmentColumns(topics, labels, code, Index(names, topic, len(topics)))


# Files line by line, in any layout: the reference for the block reader.


def judgments_by_line(stream: Stream, layout: LineLayout, rules: QrelsRules, notes: list[str]) -> QrelsData:
    """Return the judgments of a file with labels, parts, or bad lines, which are reported; append notes."""
    rows = judgments_of_lines(stream, layout, rules, notes)
    try:
        return replace(_of_rows(rows, stream.place, rules, notes), could_be_run=layout.whole)
    except InputError as error:
        if rules.part or error.kind != "duplicate-judgment" or layout is not QRELS:
            raise
        split = (line.split(None, 2) for _, line in line_reader.numbered_lines(stream))
        if len({fields[1] for fields in split if len(fields) > 1}) < 2:  # all of one iteration
            raise
        raise error.replace(
            hint=f"{error.raw[1]}, or {flag.subtopics:True} if the second column is a subtopic"
        ) from None


def judgments_of_lines(stream: Stream, layout: LineLayout, rules: QrelsRules, notes: list[str]) -> list[Judgment]:
    """Return the judgments line by line: the reference for the block reader. Notes on skipped lines are appended.

    Raises InputError for bad lines, and for labels without a number.
    """
    place, part, labels = stream.place, rules.part, rules.labels
    problems = ProblemList(place)
    grades: dict[bytes, float] = {}
    first: dict[bytes, int] = {}
    rows: list[Judgment] = []
    topic_at, docno_at, grade_at = map(layout.columns.index, ("topic", "docno", "grade"))
    part_at = layout.position(part[0]) if part else None
    if part and part_at is None:
        raise file_formats.missing_column(layout.columns, part, place)
    for number, fields in line_reader.records(stream, layout, problems):
        token, docno = fields[grade_at], fields[docno_at]
        if token not in grades:
            if (grade := grade_of(token, labels)) != grade and file_formats.is_header(fields, number, layout):
                problems.add(number, *file_formats.field_problem("grade", fields, number, layout), kind="format")
                continue
            grades[token], first[token] = grade, number
        if (grade := grades[token]) == grade:
            rows.append((fields[topic_at], (docno, fields[part_at]) if part_at is not None else docno, grade, number))
        else:
            problems.add(number, *line_reader.number_problem("grade", token, number), kind="grade")
    if labels is not None or not rules.lenient:
        check_labels(place, grades, labels, first)
    if labels:
        notes += lacking_labels(place, grades, labels)
    line_reader.check_read("judgments", bool(rows), stream, layout, problems, rules.lenient, notes)
    return rows


def _by_topic(
    place: str, rows: list[Judgment], policy: Duplicates, notes: list[str], part: tuple[str, ...]
) -> dict[bytes, dict[Any, float]]:
    """Return topic -> docno -> grade. A document judged twice in a topic gets one of its grades, with a note, or raises
    InputError."""
    problems = ProblemList(place)
    same = differing = 0

    def repeated(position: int, previous: int) -> None:
        nonlocal same, differing
        (topic, docno, grade, line), (_, _, second_grade, first) = rows[position], rows[previous]
        if grade == second_grade and policy != "refuse":
            same += 1
        elif policy in ("first", "last"):
            differing += 1
        else:
            problem = f"{_document(docno, topic, part)} with grade {grade:g}"
            hint = "give each judgment once" if grade == second_grade else line_reader.KEEP_ONE
            problem = line_reader.duplicate(problem, first, f" with grade {second_grade:g}")
            problems.add(line, problem, hint, kind="duplicate-judgment")

    chosen = line_reader.settle_duplicates((row[:2] for row in rows), policy, repeated)
    problems.check()
    if same:
        notes.append(note_of_repeats(place, same))
    if differing:
        notes.append(f"{place}: {differing} duplicate {plural(differing, 'judgment')}; kept the {policy} grade of each")
    graded: dict[bytes, dict[Any, float]] = {}
    for (topic, docno), position in chosen.items():
        graded.setdefault(topic, {})[docno] = rows[position][2]
    return graded


def _document(docno: bytes | tuple[bytes, bytes], topic: bytes, part: tuple[str, ...]) -> str:
    if isinstance(docno, bytes):
        return line_reader.document(docno, topic)
    return f"{line_reader.document(docno[0], topic)} for {part[0]} {decode(docno[1])}"


def note_of_repeats(place: str, count: int) -> str:
    """Return the note on judgments that repeat with the same grade."""
    return f"{place}: {count} {plural(count, 'judgment')} repeated with the same grade; counted once"


# Judgments by subtopic -> one code per document: its grades for the intents of its topic.

NO_INTENTS = {b"0"}
"""The subtopics of a file without intents, whose second column is TREC's iteration. Among others, 0 is an intent."""

Profile = tuple[float, tuple[tuple[int, float], ...]]
"""A document's highest grade, and (intent number, grade) for each of its judged intents."""


@dataclass(eq=False, repr=False)
class Subtopics:
    """The meaning of the codes of documents judged by subtopic. Intents are numbered within their topic.

    names  topic -> its intents, in order
    grade  intents × codes: grade for the intent; 0 without a line, because an assessor who judged the document for one
           intent did not find it relevant to the others
    """

    names: dict[bytes, list[bytes]]
    grade: Floats

    def digest(self, codes: str) -> str:
        """Return six hexadecimal digits that change with any judgment; `codes`: the digest of the codes."""
        from hashlib import sha256

        names = sorted((topic, *subtopics) for topic, subtopics in self.names.items())
        return sha256(f"{codes} {names}".encode()).hexdigest()[:6]

    def marks(self, labels: Floats) -> Floats:
        """Return a number for each code that depends only on the label and the grades, in any file."""
        from hashlib import sha256

        marks = []
        for label, grades in zip(labels.tolist(), self.grade.T.tolist(), strict=True):
            while grades and not grades[-1]:
                grades.pop()
            text = f"{label + 0.0} {[grade + 0.0 for grade in grades]}"
            marks.append(int(sha256(text.encode()).hexdigest()[:12], 16))
        return np.array(marks, dtype=np.float64)


def by_subtopic(
    graded: Mapping[bytes, Mapping[tuple[bytes, bytes], float]],
) -> tuple[dict[bytes, dict[bytes, int]], Floats, Subtopics]:
    """Assign codes to documents from grades by topic and (docno, subtopic).

    Returns topic -> docno -> code; the highest grade of each code, ascending, equal ones by the sum of grades; and the
    meaning of the codes.
    """
    listed = {topic: {subtopic for _, subtopic in grades} for topic, grades in graded.items()}
    no_intents = set[bytes]().union(*listed.values()) == NO_INTENTS
    names = {
        topic: [] if no_intents else sorted(subtopics, key=lambda name: (len(name), name))
        for topic, subtopics in listed.items()
    }
    profiles = {topic: _profiles(grades, names[topic]) for topic, grades in graded.items()}
    distinct = {profile for documents in profiles.values() for profile in documents.values()}
    ordered = sorted(distinct, key=lambda profile: (profile[0], sum(grade for _, grade in profile[1]), profile[1]))
    code = {profile: number for number, profile in enumerate(ordered)}
    grade = np.zeros((max([1, *map(len, names.values())]), len(ordered)))
    for profile, column in code.items():
        for intent, value in profile[1]:
            grade[intent, column] = value
    codes = {
        topic: {docno: code[profile] for docno, profile in documents.items()} for topic, documents in profiles.items()
    }
    return codes, np.array([label for label, _ in ordered]), Subtopics(names, grade)


def _profiles(grades: Mapping[tuple[bytes, bytes], float], names: list[bytes]) -> dict[bytes, Profile]:
    number = {subtopic: intent for intent, subtopic in enumerate(names)}
    profiles: dict[bytes, tuple[float, list[tuple[int, float]]]] = {}
    for (docno, subtopic), grade in grades.items():
        highest, grades_of = profiles.get(docno, (grade, []))
        if subtopic in number:
            grades_of.append((number[subtopic], grade))
        profiles[docno] = (max(highest, grade), grades_of)
    return {docno: (highest, tuple(sorted(grades_of))) for docno, (highest, grades_of) in profiles.items()}


# Judgments of a stratified sample -> one code per document: its grade and its stratum.


@dataclass(eq=False, repr=False)
class Strata:
    """The strata from which documents were sampled: their names; `of`: codes: number of the stratum."""

    names: list[bytes]
    of: Ints

    def marks(self, labels: Floats) -> Floats:
        """Return a number for each code that depends only on the label and the stratum's name, in any file."""
        named = np.array([crc32(name) for name in self.names], dtype=np.float64)
        return labels * 2.0**33 + named[self.of]


def by_stratum(
    graded: Mapping[bytes, Mapping[tuple[bytes, bytes], float]], place: str
) -> tuple[dict[bytes, dict[bytes, int]], Floats, Strata]:
    """Assign codes to documents from grades by topic and (docno, stratum).

    Returns topic -> docno -> code; the grade of each code, ascending; and the strata. Raises InputError if a document
    is in two strata of its topic.
    """
    kinds = {(grade, stratum) for documents in graded.values() for (_, stratum), grade in documents.items()}
    names = sorted({stratum for _, stratum in kinds}, key=lambda name: (len(name), name))
    ordered = sorted(kinds, key=lambda kind: (kind[0], names.index(kind[1])))
    code = {kind: number for number, kind in enumerate(ordered)}
    codes: dict[bytes, dict[bytes, int]] = {}
    for topic, documents in graded.items():
        docno_codes = codes[topic] = {docno: code[grade, stratum] for (docno, stratum), grade in documents.items()}
        if len(docno_codes) < len(documents):
            docnos = [docno for docno, _ in documents]
            repeated = next(docno for position, docno in enumerate(docnos) if docno in docnos[:position])
            strata_named = " and ".join(decode(stratum) for docno, stratum in documents if docno == repeated)
            problem = f"{line_reader.document(repeated, topic)} is in strata {strata_named}"
            raise InputError(place, problem, "a document belongs to one stratum")
    of = np.array([names.index(stratum) for _, stratum in ordered], dtype=np.int64)
    return codes, np.array([grade for grade, _ in ordered]) + 0.0, Strata(names, of)


# Gains of unjudged documents: each gain is a separate code, after the labels.

DIGITS = 6
"""Gains are rounded to these digits."""


def filled(qrels: Qrels, fill: Fill) -> tuple[Qrels, Floats, list[str]]:
    """Return qrels with a code for each filled document, the gain of each such code, and notes.

    The new codes have the label nan, and no document of the pool has one. Judged documents keep their grades. Raises
    InputError (usage) for qrels with subtopics or strata, where documents have no single gain.
    """
    _check_single(qrels, flag.fill)
    gains = sorted({round(gain, DIGITS) for documents in fill.of.values() for gain in documents.values()})
    code_of = {gain: code for code, gain in enumerate(gains, len(qrels.labels))}
    codes, judged, unknown = dict(qrels.codes), 0, 0
    for topic, documents in fill.of.items():
        if topic not in codes:
            unknown += len(documents)
            continue
        topic_codes = codes[topic]
        unjudged = {
            docno: code_of[round(gain, DIGITS)] for docno, gain in documents.items() if docno not in topic_codes
        }
        judged += len(documents) - len(unjudged)
        codes[topic] = {**topic_codes, **unjudged}
    notes = []
    for number, singular, plural_text in (
        (judged, "has a grade, and keeps it", "have a grade, and keep it"),
        (unknown, "is in an unjudged topic", "are in unjudged topics"),
    ):
        if number:
            fate = singular if number == 1 else plural_text
            notes.append(f"{fill.place}: {number} of {fill.count} {plural(fill.count, 'document')} {fate}")
    filled_qrels = copy(qrels)
    for name in ("columns", "_text_codes", "_pools", "codes", "digest"):  # derived from the previous codes
        filled_qrels.__dict__.pop(name, None)
    filled_qrels.codes, filled_qrels.labels = codes, np.append(qrels.labels, np.full(len(gains), np.nan))
    filled_qrels._listed, filled_qrels._scorers = None, {}
    filled_qrels.counts = replace(qrels.counts, labels=len(filled_qrels.labels))
    return filled_qrels, np.array(gains), notes


def _check_single(qrels: Qrels, option: Flag) -> None:
    """Raise InputError (usage) if documents have several grades."""
    parts_by_option = {f"{flag.subtopics:True}": qrels.subtopics, f"{flag.qrels_format:strata}": qrels.strata}
    for name, parts in parts_by_option.items():
        if parts is not None:
            raise InputError(option, f"cannot be combined with {name}", "leave out one of them", usage=True)


# Judgment groups, one for each judge's view of a topic, and preferences, as in trec_eval.

Lists = dict[bytes, dict[bytes, float]]
"""Subgroup -> docno -> value: the lists of one judgment group."""


@dataclass(frozen=True, eq=False)
class JudgmentGroups:
    """The judgments of a file, in file order: topic -> group -> lists. `place` names it in messages."""

    place: str
    topics: dict[bytes, dict[bytes, Lists]]

    @classmethod
    def read(cls, path: str, holds: str) -> JudgmentGroups:
        """Read a file of judgment groups (`qrels_jg`) or preferences (`prefs`, `qrels_prefs`).

        `prefs` has five fields per line; `qrels_prefs` is qrels, one list for each topic. Raises InputError for bad
        lines, and if a document repeats in a list.
        """
        place = Source(path).place
        problems = ProblemList(place)
        layout = PREFERENCES if holds == "prefs" else QRELS
        name, judgments = ("grade", "judgments") if holds == "qrels_jg" else ("value", "preferences")
        topics: dict[bytes, dict[bytes, Lists]] = {}
        first_line: dict[tuple[bytes, ...], int] = {}
        with closing(Stream(Source(path))) as stream:
            for number, row in line_reader.records(stream, layout, problems):
                topic, *_, docno, token = row
                if (value := decimal(token)) != value:
                    problems.add(number, *line_reader.number_problem(name, token, number))
                    continue
                group = b"" if holds == "qrels_prefs" else row[1]
                subgroup = row[2] if holds == "prefs" else b""
                first = first_line.setdefault((topic, group, subgroup, docno), number)
                if first != number:
                    context = f", group {decode(group)}" if holds == "qrels_jg" else " in its list"
                    problem = line_reader.duplicate(f"{line_reader.document(docno, topic)}{context}", first)
                    problems.add(number, problem, kind="duplicate-judgment")
                topics.setdefault(topic, {}).setdefault(group, {}).setdefault(subgroup, {})[docno] = value
        problems.check()
        if not topics:
            raise InputError(place, f"no {judgments}", line_reader.expected_lines(layout), kind="empty")
        return cls(place, topics)
