"""The first bytes of a file that is not plain TREC -> its layout, or its format where it is not a file of lines.

What could be read in two ways that give different numbers is an error that names both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from gradedeval.errors import InputError
from gradedeval.trec.column_names import (
    COLUMNS,
    DOCNO,
    RANK,
    SCORE,
    TOPIC,
    check_distinct,
    check_no_score,
    check_one_grade,
    find_column,
    find_grades,
    no_column,
    plain,
)
from gradedeval.trec.file_formats import FORMATS, HEADER, IGNORED, WholeFile
from gradedeval.trec.layouts import MSMARCO, MSMARCO_RANKS, NTCIR, QRELS, LineLayout
from gradedeval.trec.lines import BYTE_ORDER_MARKS, NeedsLineReader, check_mark, decimal, decode
from gradedeval.trec.stream import Stream
from gradedeval.trec.unreadable import cells, check_bytes, check_lines, shorten

SAMPLE = 1 << 16
"""First bytes that are looked at."""

_SEPARATORS = {"tsv": b"\t", "csv": b",", "headed": b"", "beir": b"\t"}
_COLUMNS = {
    "run": ("topic", "docno", "score", "rank", "type", "tag"),
    "qrels": ("topic", "docno", "subtopic", "stratum"),
}
_BINARY = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff\xff\xff\xff": "arrow",  # a stream
}
_LETOR = re.compile(rb"[+-]?\d+(\.\d*)?[ \t]+qid:\S")
_LINE = re.compile(rb"[^\n]+")
_LABEL = re.compile(rb"L\d+")
_RISES = (
    "scores rise with the rank, and the highest comes first; if they are distances, --run-format topic,docno,rank,- "
    "orders by rank"
)


def recognize(stream: Stream, holds: str, trec: LineLayout, wanted: str | None) -> LineLayout | WholeFile:
    """As `recognition.format_of`; `trec` is the layout that the file has in TREC."""
    try:
        head = stream.peek(SAMPLE)
    except NeedsLineReader:  # broken compressed data, which the line reader reports
        return trec
    found = _Sample(head, stream.place, holds, trec)
    return found.as_wanted(wanted) if wanted else found.by_content()


class _Sample:
    """The first bytes of a file, and its first lines."""

    def __init__(self, head: bytes, place: str, holds: str, trec: LineLayout) -> None:
        self.place, self.holds, self.trec = place, holds, trec
        check_bytes(head, place)
        marked = head.startswith(BYTE_ORDER_MARKS[0])
        self.skip = len(BYTE_ORDER_MARKS[0]) if marked else 0
        self.notes = ("starts with a byte order mark, which is skipped",) if marked else ()
        self.head = head[self.skip :]
        check_mark(self.head, place)  # a second one
        cut = len(self.head) if len(head) < SAMPLE else self.head.rfind(b"\n") + 1
        cut = cut or len(self.head)  # JSON in one line
        found = [line for line in _LINE.finditer(self.head, 0, cut) if line[0].lstrip()[:1] not in (b"", b"#")]
        self.lines = [line[0] for line in found]
        self.first, self.end_of_first = (found[0][0], found[0].end()) if found else (b"", len(self.head))

    def by_content(self) -> LineLayout | WholeFile:
        binary = next((format for magic, format in _BINARY.items() if self.head.startswith(magic)), None)
        if binary:
            return WholeFile(binary, self.notes)
        if self._is_trec():
            return self._layout(self.trec)
        if self.first.lstrip()[:1] in (b"{", b"["):
            return WholeFile("json", self.notes)
        if _LETOR.match(self.first.lstrip()):
            if self.holds == "run":
                raise self._error("looks like qrels of LETOR", "the order is RUN... QRELS: are they swapped?")
            return WholeFile("letor", self.notes)
        for format in ("tsv", "csv", "headed"):
            if (layout := self._headed(format)) is not None:
                return layout
        if len(self.lines) > 1 and not self.head.endswith(b"\n") and len(self._fields(-1)) < len(self._fields(-2)):
            del self.lines[-1]  # cut short, as the reader will say
        check_lines(self.lines, self.holds, self.trec.width, self.place)
        return self._layout(self._of_run() if self.holds == "run" else self._of_qrels())

    def as_wanted(self, wanted: str) -> LineLayout | WholeFile:
        """Raises InputError where the file is not what the user says."""
        base, header = wanted.removesuffix(HEADER), wanted.endswith(HEADER)
        if base in _SEPARATORS:
            layout = self._headed(base)
            if layout is None:
                what = f"has no header with columns for {base}: the first line is '{self._shown()}'"
                raise self._error(what, f"expected {FORMATS[base][1]}")
            return layout
        if base in FORMATS and base not in ("trec", "msmarco", "ntcir"):
            return WholeFile(base, self.notes)
        skip = self._after_first() if header else 0
        if base == "msmarco":
            layout = MSMARCO if len(self._fields(1 if header else 0)) != MSMARCO_RANKS.width else MSMARCO_RANKS
        else:
            layout = {"trec": self.trec, "ntcir": NTCIR}.get(base) or self._of_columns(base)
        if header:
            self._note_data(layout, wanted)
        return self._layout(layout, skip, wanted)

    def _note_data(self, layout: LineLayout, wanted: str) -> None:
        """A note where the line that is skipped as a header reads as data."""
        fields, value = layout.split(self.first), {"run": "score", "qrels": "grade"}[self.holds]
        at = layout.position(value if value in layout.columns else "rank")
        if at is None or len(fields) != layout.width:
            return
        if decimal(fields[at]) == decimal(fields[at]) or _LABEL.fullmatch(fields[at]):
            what = f"the first line reads as data, and is skipped: '{self._shown()}'"
            self.notes = (*self.notes, f"{what}; leave out {HEADER} if it is not a header")

    def _fields(self, line: int) -> list[bytes]:
        return self.lines[line].split() if line < len(self.lines) else []

    def _of_columns(self, columns: str) -> LineLayout:
        """The layout of the columns that the user names; what separates them is what gives as many."""
        names = tuple(columns.split(","))
        line = self.lines[-1] if self.lines else b""
        for separator in (b"", b"\t", b","):
            layout = LineLayout(columns, names, separator)
            if len(layout.split(line)) == len(names):
                return layout
        return LineLayout(columns, names, next((mark for mark in (b"\t", b",") if mark in line), b""))

    def _layout(self, layout: LineLayout, skip: int = 0, wanted: str = "") -> LineLayout:
        """The layout in this file, which may have something before its lines."""
        skip += self.skip
        if not skip and not self.notes and wanted in ("", layout.format):
            return layout
        return LineLayout(wanted or layout.format, layout.columns, layout.separator, skip, (*self.notes, *layout.notes))

    def _after_first(self) -> int:
        """Where the line after the first begins, behind a byte order mark."""
        return min(self.end_of_first + 1, len(self.head))

    # Lines with a header

    def _headed(self, format: str) -> LineLayout | None:
        """The layout that the first line names; None where it names no columns."""
        names = cells(_SEPARATORS[format], self.first)
        topic, docno = find_column(names, TOPIC), find_column(names, DOCNO)
        known = [name for name in names if any(find_column([name], row) for row in COLUMNS.values())]
        if topic is None or docno is None or len(names) < 2:
            if len(known) < 2 or len(known) * 2 <= len(names) or not _SEPARATORS[format]:
                return None
            raise self._lacks(names, TOPIC if topic is None else DOCNO)
        columns = self._columns(names, _SEPARATORS[format])
        if columns == self.trec.columns and format == "headed":
            return None  # TREC with a header: only where that is asked for
        beir = format in ("tsv", "beir") and [plain(name) for name in names] == ["queryid", "corpusid", "score"]
        if format == "beir" and not beir:
            return None
        pairs = zip(names, columns, strict=True)
        ignored = [name or "one without a name" for name, column in pairs if column.startswith(IGNORED)]
        notes = (f"columns that are ignored: {', '.join(ignored)}",) if ignored else ()
        skip = self.skip + self._after_first()
        format, separator = "beir" if beir else format, _SEPARATORS[format]
        whole = self.holds == "qrels" and find_column(names, SCORE) == names[columns.index("grade")]
        return LineLayout(format, columns, separator, skip, (*self.notes, *notes), whole)

    def _columns(self, names: list[str], separator: bytes) -> tuple[str, ...]:
        """What each column holds; those that nothing looks at keep their names behind a hyphen."""
        holds = {find_column(names, COLUMNS[column]): column for column in _COLUMNS[self.holds]}
        value = find_grades(names) if self.holds == "qrels" else find_column(names, SCORE) or find_column(names, RANK)
        if value is None:
            raise self._lacks(names, COLUMNS["grade" if self.holds == "qrels" else "score"])
        if self.holds == "run" and value == find_column(names, RANK):
            rows = [cells(separator, line) for line in self.lines[1:]]
            values = {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(names)}
            check_no_score(values, self.place)
        if self.holds == "qrels":
            holds[value] = "grade"
            columns = ",".join(holds.get(name, IGNORED) for name in names)
            check_one_grade(names, self.place, f"say which, as in --qrels-format {columns}{HEADER}")
        check_distinct(names, self.place)
        return tuple(holds.get(name, IGNORED + name) for name in names)

    def _lacks(self, names: list[str], known: tuple[str, ...]) -> InputError:
        return no_column(names, known, self.place)

    # Lines without a header

    def _is_trec(self) -> bool:
        fields, value = self.first.split(), self.trec.columns.index("score" if self.holds == "run" else "grade")
        if len(fields) != self.trec.width:
            return False
        number = decimal(fields[value])
        if self.holds == "qrels" and self.trec is QRELS and fields[2] in (b"0", b"1") and self._counts(MSMARCO):
            rows = [line.split() for line in self.lines]
            if any(decimal(row[3]) % 1 for row in rows):
                what = "looks like a run of MS MARCO, whose lines are 'qid pid rank score'"
                raise self._error(what, "the order is RUN... QRELS: are they swapped?")
        if self.trec is QRELS and _has_grades_for_docnos([line.split() for line in self.lines]):
            what = f"has 4 fields in a line, and '{decode(fields[2])}' in the third, as grades are, and no docnos"
            raise self._ambiguous(what, "topic,docno,grade,-", "trec")
        return number == number or (self.holds == "qrels" and _LABEL.fullmatch(fields[value]) is not None)

    def _counts(self, layout: LineLayout, surely: bool = False) -> bool:
        """Whether the lines have ranks 1, 2, 3, … within topics, of which one has several documents at least.

        surely  they begin with 1, and some topic has a third document: 0 and 1 may be the scores of a classifier
        """
        rows = [line.split() for line in self.lines]
        if any(len(row) != layout.width for row in rows):
            return False
        rank, count, most = layout.columns.index("rank"), 1, 1
        for before, row in pairwise([[b""] * layout.width, *rows]):
            same = before[0] == row[0]
            count = count + 1 if same else 1
            most = max(most, count)
            if same and (not _follows(before[rank], row[rank]) or before[1] == row[1]):
                return False
            if not same and row[rank] not in ((b"1",) if surely else (b"0", b"1")):
                return False
        return most > (2 if surely else 1)

    def _of_run(self) -> LineLayout:
        rows = [line.split() for line in self.lines]
        for layout in (MSMARCO_RANKS, MSMARCO):
            if self._counts(layout, surely=True):
                return replace(MSMARCO, notes=(_RISES,)) if layout is MSMARCO and _rises(rows) else layout
        numbers = [all(decimal(row[-1]) == decimal(row[-1]) for row in rows if row)] if rows else [False]
        widths = {len(row) for row in rows}
        if widths == {3} and all(numbers):
            counts = (
                "counts, but not from 1 to 3 or more" if self._counts(MSMARCO_RANKS) else "does not count 1, 2, 3, …"
            )
            what = f"has 3 fields in a line, and the third {counts} as the ranks of MS MARCO do"
            raise self._ambiguous(what, "topic,docno,score", "topic,docno,rank")
        if widths == {4} and all(numbers) and (any(decimal(row[3]) % 1 for row in rows) or _may_have_ranks(rows)):
            raise self._ambiguous("has 4 fields in a line", "msmarco", "topic,q0,docno,score", "topic,docno,score,tag")
        if widths == {4} and all(decimal(row[2]) == decimal(row[2]) for row in rows) and _has_docnos(rows):
            what = f"has 4 fields in a line, and words such as '{decode(rows[0][3])}' in the last, as tags are"
            raise self._ambiguous(what, "topic,docno,score,tag", "topic,docno,rank,tag")
        return self.trec

    def _of_qrels(self) -> LineLayout:
        rows = [line.split() for line in self.lines]
        if {len(row) for row in rows} != {NTCIR.width} or self.trec is not QRELS:
            return self.trec
        last = [row[2] for row in rows]
        if all(_LABEL.fullmatch(label) for label in last):
            return NTCIR
        if any(decimal(label) != decimal(label) for label in last):
            return LineLayout("topic,docno,grade", NTCIR.columns)
        if self._counts(MSMARCO_RANKS):
            what = "has 3 fields in a line, and the third counts 1, 2, 3, … as the ranks of a run do"
            raise self._ambiguous(what, "topic,docno,grade")
        if len(rows) > 1 and len({row[1] for row in rows}) == 1:
            what = f"has 3 fields in a line, and the second is always '{decode(rows[0][1])}' as an iteration is"
            raise self._ambiguous(what, "topic,docno,grade")
        if any(decimal(label) % 1 for label in last):
            what = "has 3 fields in a line, and fractions in the third, as scores are"
            raise self._ambiguous(what, "topic,docno,grade")
        return LineLayout("topic,docno,grade", NTCIR.columns)

    def _ambiguous(self, what: str, *candidates: str) -> InputError:
        flag = f"--{self.holds}-format"
        return self._error(what, f"say what they are: {' or '.join(f'{flag} {name}' for name in candidates)}")

    def _error(self, what: str, hint: str) -> InputError:
        return InputError(self.place, what, hint, kind="format")

    def _shown(self) -> str:
        return shorten(decode(self.first.strip()))


def _rises(rows: list[list[bytes]]) -> bool:
    """Whether the scores of MS MARCO rise with the rank in every topic, as distances do."""
    pairs = [(before, row) for before, row in pairwise(rows) if before[0] == row[0]]
    return all(decimal(before[3]) < decimal(row[3]) for before, row in pairs)


def _has_grades_for_docnos(rows: list[list[bytes]]) -> bool:
    """Whether lines of qrels seem to be 'topic docno grade iteration', as ir_datasets exports tabs: grades of one
    digit, of which there are fewer than names before them, and always the same after them."""
    if {len(row) for row in rows} != {QRELS.width}:
        return False
    _, names, grades, last = (set(column) for column in zip(*rows, strict=True))
    are_docnos = len(names) > len(grades) and any(len(name) > 2 or not name.isdigit() for name in names)
    return are_docnos and len(last) == 1 and all(grade.isdigit() and len(grade) == 1 for grade in grades)


def _may_have_ranks(rows: list[list[bytes]]) -> bool:
    """Whether the third of four fields may be a rank; qrels have the same iteration in all lines, and docnos there."""
    return all(row[2].isdigit() for row in rows) and _has_docnos(rows)


def _has_docnos(rows: list[list[bytes]]) -> bool:
    """Whether the second field may be a docno: it is not an iteration, and no Q0."""
    second = {row[1] for row in rows}
    return len(second) > 1 or not second & {b"0", b"1", b"Q0"}


def _follows(before: bytes, rank: bytes) -> bool:
    return before.isdigit() and rank.isdigit() and int(rank) == int(before) + 1
