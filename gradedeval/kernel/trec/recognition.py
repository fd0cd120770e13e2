"""Recognize files other than plain TREC by their first bytes. A file that could be read in two ways with different
numbers is an error that names both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from itertools import pairwise

from gradedeval.errors import Flag, InputError, flag
from gradedeval.kernel.trec.file_formats import (
    COLUMNS,
    DESCRIPTIONS,
    DOCNO,
    GRADE,
    MAY_BE,
    RANK,
    SCORE,
    TOPIC,
    check_distinct,
    check_no_score,
    check_one_grade,
    chosen_fields,
    example,
    find_column,
    find_value,
    kinds_of_columns,
    missing_column,
    plain,
    shorten,
    with_names,
)
from gradedeval.kernel.trec.line_reader import cells, check_mark, has_long_tag, too_long
from gradedeval.kernel.trec.lines import (
    BYTE_ORDER_MARKS,
    HEADER,
    IGNORED,
    LONGEST,
    MSMARCO,
    MSMARCO_RANKS,
    NO_GRADES,
    NTCIR,
    PAIRS,
    QRELS,
    STRATA,
    LineLayout,
    WholeFile,
    decimal,
    decode,
    encode,
    separator_in,
    with_point,
)
from gradedeval.kernel.trec.stream import Stream

LINES = 50
"""Number of first lines examined."""


def _check_lines(lines: list[bytes], holds: str, width: int, place: str) -> None:
    """Raise InputError for lines with separators other than tabs, commas and spaces, and for a header without known
    names, unless it has the `width` of TREC lines. Semicolons need a header or named columns."""
    _check_header(lines, holds, width, place)
    for mark in (b";", b"|"):
        if lines and all(line.count(mark) > 1 and len(line.split()) < line.count(mark) + 1 for line in lines):
            delimiter = decode(mark)
            hint = rf"separate them by tabs, as tr '{delimiter}' '\t' <OLD >NEW does"
            if mark == b";":
                hint = f"say what the columns are, as in {Flag(f'--{holds}-format'):{','.join(example(holds))}}"
            raise InputError(place, f"fields are separated by '{delimiter}'", hint, kind="format")


def _check_header(lines: list[bytes], holds: str, width: int, place: str) -> None:
    """Raise InputError for the header of a click log, and for one without known names for the topic and the docno."""
    separator = separator_in(lines[0]) if lines else b""
    header, *rows = [cells(separator, line) for line in lines] or [[]]
    if {"topic", "clicks"} <= set(header):
        hint = f"expected {'qrels' if holds == 'qrels' else 'a run'}; `gradedeval clicks` reads logs, before the qrels"
        raise InputError(place, "is a click log", hint, kind="format")
    is_trec = len(header) == width and separator in (b"", b"\t")
    if len(header) < 3 or {len(row) for row in rows} != {len(header)} or is_trec:
        return
    numbers = [all(_is_number(row[i]) for row in rows) for i in range(len(header))]
    if any(map(_is_number, header)) or not any(numbers):
        return
    lacks = [aliases[0] for aliases in (TOPIC, DOCNO) if find_column(header, aliases) is None]
    if not lacks:
        return
    problem = f"no known name for a {' and a '.join(lacks)} in the header '{shorten(decode(lines[0].strip()))}'"
    columns = ",".join(_guess_columns(header, numbers, holds))
    hint = f"say what the columns are, in order, as in {Flag(f'--{holds}-format'):{columns}{HEADER}}"
    raise InputError(place, problem, hint, kind="format")


def _is_number(cell: str) -> bool:
    number = decimal(with_point(encode(cell)))
    return number == number


def _guess_columns(names: list[str], numbers: list[bool], holds: str) -> list[str]:
    """Guess the content of columns from their names, their order, and which are numeric."""
    columns = [IGNORED] * len(names)

    def take(column: str, places: list[int]) -> bool:
        i = next((i for i in places if columns[i] == IGNORED), None)
        if i is not None:
            columns[i] = column
        return i is not None

    def like(column: str) -> list[int]:
        aliases = COLUMNS[column]
        sure = [i for i, name in enumerate(names) if find_column([name], aliases) is not None]
        return sure + [i for i, name in enumerate(names) if re.search(MAY_BE[column], name.lower())]

    every = list(range(len(names)))
    values = ("score", "rank") if holds == "run" else ("grade",)
    remaining = [column for column in ("topic", "docno") if not take(column, like(column))]
    valued = any(take(column, [i for i in like(column) if numbers[i] or holds == "qrels"]) for column in values)
    if not valued:
        take(values[0], [i for i in reversed(every) if numbers[i]] + every[::-1])
    for column in remaining:
        take(column, every)
    return columns


SAMPLE = 1 << 16
"""Number of first bytes examined."""

_SEPARATORS = {"tsv": b"\t", "csv": b",", "headed": b"", "beir": b"\t"}
"""Format of lines below a header -> the separator of fields; of csv also a semicolon."""

_LINES = ("trec", "strata", "msmarco", "ntcir", *_SEPARATORS)
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
    "scores increase with the rank, but are ordered from the highest; if they are distances, "
    f"{flag.run_format:topic,docno,rank,-} orders by rank"
)


def recognize(stream: Stream, holds: str, trec: LineLayout, requested: str | None) -> LineLayout | WholeFile:
    """Return the layout or format as `blocks.format_of`; `trec` is the layout that the file has in TREC."""
    for size in (SAMPLE, SAMPLE + LONGEST):
        head = stream.peek(size)
        sample = _Sample(head, len(head) < size, stream.place, holds, trec)
        if not sample.is_cut:
            break
    return sample.as_requested(requested) if requested else sample.by_content()


class _Sample:
    """The first bytes and lines of a file; `is_cut` if not even the first line is complete."""

    def __init__(self, head: bytes, complete: bool, place: str, holds: str, trec: LineLayout) -> None:
        self.place, self.holds, self.trec, self.is_tabbed = place, holds, trec, False
        check_bytes(head, place)
        marked = head.startswith(BYTE_ORDER_MARKS[0])
        self.skip = len(BYTE_ORDER_MARKS[0]) if marked else 0
        self.notes = ("starts with a byte order mark, which is skipped",) if marked else ()
        self.head = head[self.skip :]
        check_mark(self.head, place)  # a second mark
        matches = self._text_lines(len(self.head) if complete else self.head.rfind(b"\n") + 1)
        self.is_cut = not (matches or complete)
        matches = matches or self._text_lines(len(self.head))[:1]  # JSON in one line
        self.lines = [line[0] for line in matches]
        self.first, end = (matches[0][0], matches[0].end()) if matches else (b"", len(self.head))
        self.after_first = min(end + 1, len(self.head))

    def _text_lines(self, end: int) -> list[re.Match[bytes]]:
        return [line for line in _LINE.finditer(self.head, 0, end) if line[0].lstrip()[:1] not in (b"", b"#")]

    def _check_first(self) -> None:
        """Raise InputError if the first line is too long for a line of fields."""
        if self.is_cut and len(self.first) > LONGEST:
            line = 1 + self.head.count(b"\n")
            raise too_long(f"{self.place}:{line}")
        if self.is_cut:  # after a megabyte of comments
            self.lines, self.first = [], b""

    def by_content(self) -> LineLayout | WholeFile:
        binary = next((format for magic, format in _BINARY.items() if self.head.startswith(magic)), None)
        if binary:
            return WholeFile(binary, self.notes)
        if self._is_trec():
            return self._layout(self._tabbed_layout() or self.trec)
        if self.first.lstrip()[:1] in (b"{", b"["):
            return WholeFile("json", self.notes)
        if _LETOR.match(self.first.lstrip()):
            if self.holds == "run":
                raise self._error("looks like qrels of LETOR", "the order is RUN... QRELS: are they swapped?")
            return WholeFile("letor", self.notes)
        self._check_first()
        if format := self._format_of_lists():
            return WholeFile(format, self.notes)
        for format in ("tsv", "csv", "headed"):
            if (layout := self._headed_layout(format)) is not None:
                return layout
        widths = [len(line.split()) for line in self.lines[-2:]]
        if len(widths) > 1 and not self.head.endswith(b"\n") and widths[1] < widths[0]:
            del self.lines[-1]  # cut short; the reader will report it
        _check_lines(self.lines[:LINES], self.holds, self.trec.width, self.place)
        if (tabbed := self._tabbed_layout()) is not None:
            return self._layout(tabbed)
        if self.holds == "qrels" and self._has_pairs():
            return WholeFile(PAIRS, self.notes)
        return self._layout(self._lines_layout())

    def _lines_layout(self) -> LineLayout:
        return self._run_layout() if self.holds == "run" else self._qrels_layout()

    def _tabbed_layout(self) -> LineLayout | None:
        """Return the layout of lines whose topics or docnos have blanks, and all of which have as many tabs; None for
        any other lines, also if they have a known form between blanks."""
        has_blanks = any(b" " in line.strip() for line in self.lines)
        if b"\t" not in self.first or not has_blanks or len({line.count(b"\t") for line in self.lines}) != 1:
            return None
        fields = self.first.split()
        if len(fields) > self.trec.width and has_long_tag(fields, self.trec):
            return None
        rows = [line.split() for line in self.lines]
        is_trec = self._is_trec() and {len(row) for row in rows} == {self.trec.width}
        if is_trec and (self.holds == "run" or any(row[1].isdigit() or row[1] == b"Q0" for row in rows)):
            return None  # an iteration: not the second word of a topic
        tabbed = copy(self)
        tabbed.lines = [line.strip(b"\r\n ").replace(b" ", b"_") for line in self.lines]
        tabbed.first, tabbed.is_tabbed = tabbed.lines[0], True
        if tabbed.holds == "qrels" and tabbed._has_pairs():
            return None
        layout = self.trec if tabbed._is_trec() else tabbed._lines_layout()
        if {len(line.split()) for line in tabbed.lines} != {layout.width}:
            return None
        return LineLayout(",".join(layout.columns), layout.columns, b"\t", notes=layout.notes)

    def _has_pairs(self) -> bool:
        """Return whether all lines are of a topic and a docno, perhaps below a header that names no more than both."""
        separator = separator_in(self.first)
        rows = [line.split(separator or None) for line in self.lines]
        if not rows or {len(row) for row in rows} != {2}:
            return False
        return not {row[1].strip() for row in rows} <= {b"0", b"Q0"}

    def as_requested(self, requested: str) -> LineLayout | WholeFile:
        """Return the layout or format for the one requested. Raises InputError if the file does not have it."""
        base, header = requested.removesuffix(HEADER), requested.endswith(HEADER)
        if fields := chosen_fields(requested):
            return self._with_fields(fields, requested)
        if base == PAIRS and self.holds == "qrels":
            return WholeFile(requested, self.notes)
        if base in ("tsv", "csv", "golden") and (format := self._format_of_lists()) and base in (format, "golden"):
            return WholeFile(format, self.notes)
        if base in DESCRIPTIONS and base not in _LINES:
            return WholeFile(base, self.notes)
        self._check_first()
        if base in _SEPARATORS:
            layout = self._headed_layout(base)
            if layout is None:
                problem = f"has no header with columns for {base}: the first line is '{self._first_line()}'"
                raise self._error(problem, f"expected {DESCRIPTIONS[base]}")
            return layout
        skip = self.after_first if header else 0
        if base == "msmarco":
            widths = [len(line.split()) for line in self.lines[header:]]
            layout = max((MSMARCO, MSMARCO_RANKS), key=lambda layout: widths.count(layout.width))
        else:
            layout = {"trec": self.trec, "strata": STRATA, "ntcir": NTCIR}.get(base) or self._column_layout(
                base, header
            )
        if header:
            self._note_data(layout, requested)
        return self._layout(layout, skip, requested)

    def _with_fields(self, fields: Mapping[str, str], requested: str) -> LineLayout | WholeFile:
        """Return the layout or format of a file whose fields the user named."""
        if self.first.lstrip()[:1] in (b"{", b"[") or any(map(self.head.startswith, _BINARY)):
            binary = next((format for magic, format in _BINARY.items() if self.head.startswith(magic)), "json")
            return WholeFile(binary, self.notes, dict(fields))
        self._check_first()
        for format in ("tsv", "csv", "headed"):
            names = cells(self._separator(format), self.first)
            if len(names) > 1 and (fields["topic"] if "topic" in fields else next(iter(fields.values()))) in names:
                if fields.get("documents") in names:
                    return WholeFile(format, self.notes, dict(fields))
                layout = self._named_layout(format, with_names(names, fields, self.place))
                return replace(layout, format=requested)
        problem = f"has no header with the names of {Flag(f'--{self.holds}-format'):{requested}}"
        raise self._error(f"{problem}: the first line is '{self._first_line()}'", "name columns of the file")

    def _note_data(self, layout: LineLayout, requested: str) -> None:
        """Add a note if the line skipped as a header reads as data."""
        fields, value = layout.split(self.first), {"run": "score", "qrels": "grade"}[self.holds]
        index = layout.position(value if value in layout.columns else "rank")
        if index is None or len(fields) != layout.width:
            return
        if decimal(fields[index]) == decimal(fields[index]) or _LABEL.fullmatch(fields[index]):
            problem = f"the first line looks like data, but is skipped: '{self._first_line()}'"
            self.notes = (*self.notes, f"{problem}; leave out {HEADER} if it is not a header")

    def _decimal_notes(self, layout: LineLayout) -> tuple[str, ...]:
        """Return the note on decimal commas in a file between semicolons."""
        if layout.separator != b";":
            return ()
        positions = [at for name in ("score", "grade") if (at := layout.position(name)) is not None]
        rows = [cells(b";", line) for line in self.lines]
        tokens = (encode(row[at]) for row in rows if len(row) == layout.width for at in positions)
        token = next((token for token in tokens if with_point(token) != token), b"")
        return (f"commas in numbers are decimal: '{decode(token)}' is {decode(with_point(token))}",) if token else ()

    def _column_layout(self, columns: str, header: bool) -> LineLayout:
        """Return the layout of columns named by the user, with the separator that gives as many in most lines."""
        names, lines = tuple(columns.split(",")), self.lines[header:]
        layouts = [LineLayout(columns, names, separator) for separator in (b"", b"\t", b",", b";")]
        fitting = [sum(len(layout.split(line)) == len(names) for line in lines) for layout in layouts]
        if any(fitting):
            layout = layouts[fitting.index(max(fitting))]
            return replace(layout, notes=self._decimal_notes(layout))
        last = lines[-1] if lines else b""
        return LineLayout(columns, names, separator_in(last))

    def _layout(self, layout: LineLayout, skip: int = 0, requested: str = "") -> LineLayout:
        """Return the layout for this file, whose lines may not begin at its start."""
        skip += self.skip
        if not skip and not self.notes and requested in ("", layout.format):
            return layout
        return LineLayout(
            requested or layout.format, layout.columns, layout.separator, skip, (*self.notes, *layout.notes)
        )

    # Lines with a header

    def _separator(self, format: str) -> bytes:
        """Return the separator of fields below a header: spreadsheets write semicolons where commas are decimal."""
        is_semicolon = format == "csv" and separator_in(self.first.replace(b" ", b"")) == b";"
        return b";" if is_semicolon else _SEPARATORS[format]

    def _headed_layout(self, format: str) -> LineLayout | None:
        """Return the layout named by the first line; None if it names no columns."""
        names = cells(self._separator(format), self.first)
        topic, docno = find_column(names, TOPIC), find_column(names, DOCNO)
        known_names = [name for name in names if any(find_column([name], row) for row in COLUMNS.values())]
        if self.holds == "qrels" and len(names) == 2 and None not in (topic, docno):
            return None  # pairs
        if topic is None or docno is None or len(names) < 2:
            if len(known_names) < 2 or len(known_names) * 2 <= len(names) or not _SEPARATORS[format]:
                return None
            raise missing_column(names, TOPIC if topic is None else DOCNO, self.place, self.holds)
        beir = format in ("tsv", "beir") and [plain(name) for name in names] == ["queryid", "corpusid", "score"]
        if format == "beir" and not beir:
            return None
        layout = self._named_layout(format, names)
        if layout.columns == self.trec.columns and format == "headed":
            return None  # TREC with a header only on request
        return replace(layout, format="beir") if beir else layout

    def _format_of_lists(self) -> str:
        """Return the format of lines whose cells list documents by the names of their header; empty for others."""
        return next((name for name in ("tsv", "csv") if kinds_of_columns(cells(self._separator(name), self.first))), "")

    def _named_layout(self, format: str, names: list[str]) -> LineLayout:
        """Return the layout of lines below a header of names."""
        separator = self._separator(format)
        columns = self._columns(names, separator)
        pairs = zip(names, columns, strict=True)
        ignored = [name or "unnamed" for name, column in pairs if column.startswith(IGNORED)]
        notes = (f"ignored columns: {', '.join(ignored)}",) if ignored else ()
        skip = self.skip + self.after_first
        whole = self.holds == "qrels" and find_column(names, SCORE) == names[columns.index("grade")]
        layout = LineLayout(format, columns, separator, skip, (*self.notes, *notes), whole)
        return replace(layout, notes=(*layout.notes, *self._decimal_notes(layout)))

    def _columns(self, names: list[str], separator: bytes) -> tuple[str, ...]:
        """Return the content of each column; ignored columns keep their names after a hyphen."""
        holds = {find_column(names, COLUMNS[column]): column for column in _COLUMNS[self.holds]}
        value = find_value(names, self.holds)
        if value is None:
            raise missing_column(names, GRADE if self.holds == "qrels" else SCORE, self.place, self.holds)
        if self.holds == "run" and value == find_column(names, RANK):
            rows = [cells(separator, line) for line in self.lines[1:]]
            if separator == b";":
                rows = [[decode(with_point(encode(cell))) for cell in row] for row in rows]
            values = {name: [row[i] for row in rows if i < len(row)] for i, name in enumerate(names)}
            check_no_score(values, self.place)
        if self.holds == "qrels":
            holds[value] = "grade"
            columns = ",".join(holds.get(name, IGNORED) for name in names)
            check_one_grade(names, self.place, f"say which, as in {flag.qrels_format:{columns}{HEADER}}")
        check_distinct(names, self.place)
        return tuple(holds.get(name, IGNORED + name) for name in names)

    # Lines without a header

    def _is_trec(self) -> bool:
        fields, value = self.first.split(), self.trec.columns.index("score" if self.holds == "run" else "grade")
        if len(fields) != self.trec.width:
            return False
        number = decimal(fields[value])
        if (
            self.holds == "qrels"
            and self.trec is QRELS
            and fields[2] in (b"0", b"1")
            and self._has_counting_ranks(MSMARCO)
        ):
            rows = [line.split() for line in self.lines]
            if any(decimal(row[3]) % 1 for row in rows):
                problem = "looks like a run of MS MARCO, whose lines are 'qid pid rank score'"
                raise self._error(problem, "the order is RUN... QRELS: are they swapped?")
        if self.trec is QRELS and has_grades_for_docnos([line.split() for line in self.lines]):
            problem = f"has 4 fields in a line, and '{decode(fields[2])}' in the third, as grades are, and no docnos"
            raise self._ambiguous(problem, "topic,docno,grade,-", "trec")
        return number == number or (self.holds == "qrels" and _LABEL.fullmatch(fields[value]) is not None)

    def _has_counting_ranks(self, layout: LineLayout, surely: bool = False) -> bool:
        """Return whether the lines have ranks 1, 2, 3, … within topics, at least one of which has more than one
        document.

        surely  require ranks from 1 and a topic with three documents: 0 and 1 may be scores of a classifier
        """
        rows = [line.split() for line in self.lines]
        if any(len(row) != layout.width for row in rows):
            return False
        rank, count, most = layout.columns.index("rank"), 1, 1
        for previous, row in pairwise([[b""] * layout.width, *rows]):
            same = previous[0] == row[0]
            count = count + 1 if same else 1
            most = max(most, count)
            if same and (not follows(previous[rank], row[rank]) or previous[1] == row[1]):
                return False
            if not same and row[rank] not in ((b"1",) if surely else (b"0", b"1")):
                return False
        return most > (2 if surely else 1)

    def _run_layout(self) -> LineLayout:
        rows = [line.split() for line in self.lines]
        for layout in (MSMARCO_RANKS, MSMARCO):
            if self._has_counting_ranks(layout, surely=True):
                return replace(MSMARCO, notes=(_RISES,)) if layout is MSMARCO and scores_rise(rows) else layout
        numbers = [all(decimal(row[-1]) == decimal(row[-1]) for row in rows if row)] if rows else [False]
        widths = {len(row) for row in rows}
        if widths == {3} and all(numbers) and self.is_tabbed and are_scores(rows):
            return LineLayout("topic,docno,score", ("topic", "docno", "score"))
        if widths == {3} and all(numbers):
            few = self._has_counting_ranks(MSMARCO_RANKS)
            counts = "counts, but not from 1 to 3 or more" if few else "does not count 1, 2, 3, …"
            problem = f"has 3 fields in a line, and the third {counts} as the ranks of MS MARCO do"
            raise self._ambiguous(problem, "topic,docno,score", "topic,docno,rank")
        ranked = widths == {4} and all(row[2].isdigit() for row in rows) and has_docnos(rows)  # no iteration
        if widths == {4} and all(numbers) and (any(decimal(row[3]) % 1 for row in rows) or ranked):
            raise self._ambiguous("has 4 fields in a line", "msmarco", "topic,q0,docno,score", "topic,docno,score,tag")
        if widths == {4} and all(decimal(row[2]) == decimal(row[2]) for row in rows) and has_docnos(rows):
            problem = f"has 4 fields in a line, and words such as '{decode(rows[0][3])}' in the last, as tags are"
            raise self._ambiguous(problem, "topic,docno,score,tag", "topic,docno,rank,tag")
        return self.trec

    def _qrels_layout(self) -> LineLayout:
        rows = [line.split() for line in self.lines]
        if {len(row) for row in rows} != {NTCIR.width} or self.trec is not QRELS:
            return self.trec
        last = [row[2] for row in rows]
        if all(_LABEL.fullmatch(label) for label in last):
            return NTCIR
        if {row[1] for row in rows} <= {b"0", b"Q0"} and are_docnos(rows):
            problem = "has 3 fields in a line, 'topic iteration docno': the grade is missing"
            raise InputError(self.place, problem, "fill it in as the fourth field", kind=NO_GRADES)
        if any(decimal(label) != decimal(label) for label in last):
            return LineLayout("topic,docno,grade", NTCIR.columns)
        if self._has_counting_ranks(MSMARCO_RANKS):
            problem = "has 3 fields in a line, and the third counts 1, 2, 3, … as the ranks of a run do"
            raise self._ambiguous(problem, "topic,docno,grade")
        if len(rows) > 1 and len({row[1] for row in rows}) == 1:
            problem = f"has 3 fields in a line, and the second is always '{decode(rows[0][1])}' as an iteration is"
            raise self._ambiguous(problem, "topic,docno,grade")
        if any(decimal(label) % 1 for label in last):
            problem = "has 3 fields in a line, and fractions in the third, as scores are"
            raise self._ambiguous(problem, "topic,docno,grade")
        return LineLayout("topic,docno,grade", NTCIR.columns)

    def _ambiguous(self, problem: str, *candidates: str) -> InputError:
        option = Flag(f"--{self.holds}-format")
        return self._error(problem, f"say what they are: {' or '.join(f'{option:{name}}' for name in candidates)}")

    def _error(self, problem: str, hint: str) -> InputError:
        return InputError(self.place, problem, hint, kind="format")

    def _first_line(self) -> str:
        return shorten(decode(self.first.strip()))


# The content of fields without names.

HIGHEST_GRADE = 1000
"""Larger numbers are taken for docnos if grades may be missing."""


def are_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether the last of three fields cannot be grades or labels of a document named by the second."""
    repeated = len({row[0] for row in rows}) < len(rows)  # if these were topic and docno: judged more than once
    distinct = len({row[2] for row in rows}) == len(rows)
    return (repeated or distinct) and any(not decimal(row[2]) <= HIGHEST_GRADE for row in rows)


def scores_rise(rows: list[list[bytes]]) -> bool:
    """Return whether MS MARCO scores increase with the rank in every topic, as distances do."""
    pairs = [(previous, row) for previous, row in pairwise(rows) if previous[0] == row[0]]
    return all(decimal(previous[3]) < decimal(row[3]) for previous, row in pairs)


def are_scores(rows: list[list[bytes]]) -> bool:
    """Return whether the last of three fields has fractions and increases in no topic: so it is a score."""
    pairs = [(previous, row) for previous, row in pairwise(rows) if previous[0] == row[0]]
    falls = all(decimal(previous[2]) >= decimal(row[2]) for previous, row in pairs)
    return falls and any(decimal(row[2]) % 1 for row in rows)


def has_grades_for_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether qrels seem to be 'topic docno grade iteration', as ir_datasets exports them: one-digit grades with
    fewer values than the names before them, followed by a constant."""
    if {len(row) for row in rows} != {QRELS.width}:
        return False
    _, names, grades, last = (set(column) for column in zip(*rows, strict=True))
    are_names = len(names) > len(grades) and any(len(name) > 2 or not name.isdigit() for name in names)
    return are_names and len(last) == 1 and all(grade.isdigit() and len(grade) == 1 for grade in grades)


def has_docnos(rows: list[list[bytes]]) -> bool:
    """Return whether the second field may be a docno: not an iteration or Q0."""
    second = {row[1] for row in rows}
    return len(second) > 1 or not second & {b"0", b"1", b"Q0"}


def follows(previous: bytes, rank: bytes) -> bool:
    """Return whether a rank is the one after another."""
    return previous.isdigit() and rank.isdigit() and len(rank) < 20 and int(rank) == int(previous[:20]) + 1


# Files of recognized formats that are not read: archives, pickles, databases, UTF-16.

_UNPACK = "extract it, and give its files"
_REFUSED = {
    b"PK\x03\x04": ("is a zip archive", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("is a 7z archive", _UNPACK),
    b"Rar!": ("is a rar archive", _UNPACK),
    b"\x80": ("is a Python pickle, which could run code when it is read", "save it as JSON, CSV or Parquet"),
    b"\x04\x22\x4d\x18": ("is compressed with lz4 twice, as ranx packs CBOR", "save it from ranx as JSON or Parquet"),
    b"SQLite format 3\x00": ("is an SQLite database", "export the table as CSV"),
    b"Obj\x01": ("is an Avro file", "save it as Parquet or CSV"),
    b"ORC": ("is an ORC file", "save it as Parquet or CSV"),
    b"\x93NUMPY": ("is a NumPy array", "save a table with columns as Parquet or CSV"),
    b"______LightGBM_Binary_File_Token______": (
        "is a Dataset of LightGBM, which holds no docids",
        "its arrays are for evaluate_arrays in Python",
    ),
}
_TEXT_OR_NOT = (b"\x80", b"ORC")
"""Beginnings that text in some encoding may share."""
_CONTROL = re.compile(rb"[\x00-\x08]")
_MARKUP = re.compile(rb"\s*<(\?xml|!doctype|html|table)\b", re.IGNORECASE)
_TAR = slice(257, 262)
_WORKBOOK = b"[Content_Types].xml"


def check_bytes(head: bytes, place: str) -> None:
    """Raise InputError for recognized but unsupported data: UTF-16, archives, pickles, zeros."""
    if head and not any(head[:64]):
        raise InputError(place, "begins with zero bytes instead of text", "copy or write the file again", kind="format")
    sides = head[0:64:2], head[1:64:2]
    if head.startswith(BYTE_ORDER_MARKS[1:]) or any(len(side) > 3 and not any(side) for side in sides):
        raise InputError(place, "is UTF-16", "save the file as UTF-8", kind="format")
    if head[_TAR] == b"ustar":
        raise InputError(place, "is a tar archive", _UNPACK, kind="format")
    for magic, (problem, hint) in _REFUSED.items():
        if head.startswith(magic) and (magic not in _TEXT_OR_NOT or _CONTROL.search(head, 1, 64)):
            if _WORKBOOK in head:
                problem, hint = "is an Excel workbook", "save the table as CSV"
            raise InputError(place, problem, hint, kind="format")
    if _MARKUP.match(head):
        raise InputError(place, "is XML or HTML", "save the table as CSV", kind="format")
