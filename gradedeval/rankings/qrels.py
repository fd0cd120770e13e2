"""Graded judgments: which documents of a topic are judged, with which grade."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.errors import InputError, Note, ProblemList, plural
from gradedeval.options import Duplicates, Options
from gradedeval.options.values import Labels, allowed_growth, read_format, read_labels
from gradedeval.rankings.dicts import NOTHING_LISTED, Listed
from gradedeval.rankings.frames import Judgment, judgments_in, usual_judgments, words_of
from gradedeval.rankings.labels import unused_labels
from gradedeval.rankings.objects import readable
from gradedeval.rankings.qrels_columns import JudgmentColumns, coded, judgments_of_codes, read_judgments
from gradedeval.rankings.qrels_lines import Reading, has_iterations, judgments_of_lines
from gradedeval.rankings.subtopics import Subtopics, by_subtopic
from gradedeval.trec import lines
from gradedeval.trec.column_names import SCORE, STRATUM, SUBTOPIC, find_grades, not_whole, plain
from gradedeval.trec.columns import Columns
from gradedeval.trec.duplicates import KEEP_ONE, document, duplicate, settle_duplicates
from gradedeval.trec.file_formats import WholeFile
from gradedeval.trec.layouts import QRELS, LineLayout
from gradedeval.trec.lines import NeedsLineReader, decode, encode
from gradedeval.trec.recognition import format_of
from gradedeval.trec.source import Source, is_file
from gradedeval.trec.stream import Stream

if TYPE_CHECKING:
    from gradedeval.rankings.strata import Strata

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
    labels. pool: topics × labels, how many documents of the topic have each. subtopics, strata: the intents or strata,
    or None if not asked for; with them, documents whose grades differ for any intent, or whose strata differ, have
    different codes, and labels repeat. notes: what was skipped or assumed. format: what a file was read as; empty for
    objects in memory.
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
        self.pool: Ints = self._judged.pool()

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
        self.notes += [f"{self.place}: {note}"] if isinstance(source, Columns) and (note := source.note) else []
        return source

    def _of_listed(self, usual: Listed) -> None:
        """Take documents that are all different and need no further look."""
        self.topics, (self.labels, code) = usual.topics, coded(usual.values)
        counts = [len(docnos) for docnos in usual.docnos]
        cells = np.repeat(np.arange(len(counts)) * len(self.labels), counts) + code
        self.pool = np.bincount(cells, minlength=len(counts) * len(self.labels)).reshape(len(counts), -1)
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
                self.codes, labels, self.subtopics = by_subtopic(graded)
            else:
                from gradedeval.rankings.strata import by_stratum  # few qrels are of a sample

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
        qrels.pool = np.zeros((0, len(labels)), dtype=np.int64)
        return qrels

    def __len__(self) -> int:
        return len(self.topics)

    def __repr__(self) -> str:
        return f"<Qrels {self.place}: {len(self)} topics, {int(self.pool.sum())} judgments>"

    def _notes_for(self, options: Options) -> list[str]:
        """`notes`, and one more where these qrels were read with the opposite choice among duplicates."""
        duplicates = self._reading.duplicates
        if {options.duplicates, duplicates} != {"first", "last"}:
            return self.notes
        what = f"{self.place}: read with duplicates='{duplicates}'; '{options.duplicates}' counts for runs alone"
        return [*self.notes, Note(what, "give the same to Qrels")]

    def _pool_of(self, topics: list[bytes]) -> Ints:
        """topics × labels: how many documents have each label; 0 for a topic that is not judged."""
        rows = np.array([self._row.get(topic, -1) for topic in topics], np.int64)
        return np.take(self._pools, rows, axis=0)

    @cached_property
    def _pools(self) -> Ints:
        """`pool`, and a last row for topics that are not judged."""
        return np.append(self.pool, np.zeros((1, len(self.labels)), dtype=np.int64), axis=0)

    @cached_property
    def _row(self) -> dict[bytes, int]:
        """topic -> its row in `pool`, and its number in `index`."""
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
    if hasattr(source, "iloc"):
        from gradedeval.rankings.arrow_columns import arrow_judgments  # files need no tables

        if (judged := arrow_judgments(source, place)) is not None:
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
