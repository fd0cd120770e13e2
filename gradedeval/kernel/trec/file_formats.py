"""Recognize formats other than plain TREC, and name the columns of tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from gradedeval.errors import Flag, InputError, did_you_mean, flag
from gradedeval.kernel.trec import unnamed_fields
from gradedeval.kernel.trec.line_reader import cells, check_mark, has_long_tag, number_problem, too_long
from gradedeval.kernel.trec.lines import (
    BYTE_ORDER_MARKS,
    FORMATS,
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
from gradedeval.kernel.trec.shapes import EXPECTED, RETRIEVED, SHAPES, TOPIC_IDS
from gradedeval.kernel.trec.stream import Stream
from gradedeval.kernel.trec.unsupported import check_bytes

if TYPE_CHECKING:
    from gradedeval.arrays import Floats
    from gradedeval.kernel.trec.text_columns import Text


# Names of columns: one table for DataFrames, headed files, records and the values of --run-format.


# Our names first, then those of ir_measures, PyTerrier, BEIR, ranx, MS MARCO, annotation tools and shops. Where a table
# has more than one name of a row, the first counts: PyTerrier's docno, not its internal docid, and qid, not its query
# text; an id of a product before its name.
TOPIC = (
    *("topic", "query_id", "qid", "topic_id", "query", "question", "input", "user_input", "query_text"),
    *("search_term", "search_query", "keyword"),
)
DOCNO = (
    *("docno", "doc_id", "docid", "corpus_id", "document_id", "pid", "passage_id", "chunk_id", "url"),
    *("segment_id", "product_id", "item_id", "sku", "asin", "product", "item"),
)
SCORE = ("score", "sim", "pred", "y_pred", "prediction", "predicted_score", "model_score")
RANK = ("rank", "position")
GRADE = ("grade", "relevance", "rel", "label", "rating", "judgment", "judgement", "gain")
SUBTOPIC = ("subtopic", "subtopic_id", "iteration", "iter", "intent")
STRATUM = ("stratum",)
TYPE = ("type", "element_type", "q0")
TAG = ("tag", "run_id", "run_name", "system")

COLUMNS: dict[str, tuple[str, ...]] = {
    known[0]: known for known in (TOPIC, DOCNO, SCORE, RANK, GRADE, SUBTOPIC, STRATUM, TYPE, TAG)
}
"""Content of a column -> its known names."""

_SCORE_WORDS = (
    "score|simil|^relevance$|^rsv|prob|distance|^dist$|confidence|logit|cosine|^cos$|^dot|bm25|weight|predict|^pred$"
)
"""Other plain names of scores, which may contradict a rank in the same table."""


def plain(name: Any) -> str:
    """Return a name without case, hyphens, underscores and spaces: the `q_id` of ranx is `qid`."""
    return _plain(str(name))


@lru_cache(maxsize=1024)
def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


_PLAIN = {known: tuple(map(plain, known)) for known in COLUMNS.values()}
LISTED = {
    content: frozenset(map(plain, names))
    for content, names in (("topic", (*TOPIC, *TOPIC_IDS)), ("docno", DOCNO), ("run", RETRIEVED), ("qrels", EXPECTED))
}
"""Content of a column of a table that lists documents by topic -> its plain names; of `docno` in other tables."""


def find_column(names: Iterable[Any], aliases: tuple[str, ...]) -> Any:
    """Return the name among `names` that comes first in a row of `COLUMNS`; None if there is none."""
    names = tuple(names)
    return (_lookup if len(names) <= FEW else _lookup.__wrapped__)(names, aliases)


FEW = 32
"""Maximum names of a table for cached lookups, which loops repeat."""


@lru_cache(maxsize=256)
def _lookup(names: tuple[Any, ...], aliases: tuple[str, ...]) -> Any:
    present: dict[str, Any] = {}
    for name in names:
        present.setdefault(plain(name), name)
    return next((present[name] for name in _PLAIN[aliases] if name in present), None)


def is_record(document: Mapping[str, Any]) -> bool:
    """Return whether an object has keys for a topic and a docno."""
    return find_column(document, TOPIC) is not None and find_column(document, DOCNO) is not None


def kinds_of_columns(names: Iterable[Any]) -> str:
    """Return what the columns of a table list by topic: run, qrels or both, with a space between; empty for a table
    with a row for each document."""
    present = set(map(plain, names))
    if not present & LISTED["topic"] or present & LISTED["docno"]:
        return ""
    return " ".join(kind for kind in ("run", "qrels") if present & LISTED[kind])


def find_grades(names: Iterable[Any]) -> Any:
    """Return the column of grades; None if there is none. BEIR and ranx call it `score`: this counts as grades unless a
    rank or a tag indicates a run."""
    names = list(names)
    name = find_column(names, GRADE)
    if name is None and find_column(names, RANK) is None and find_column(names, TAG) is None:
        name = find_column([name for name in names if plain(name) in SCORE[:2]], SCORE)  # predictions are no grades
    return name


def check_one_grade(names: Iterable[Any], place: str, hint: str = "") -> None:
    """Raise InputError if more than one column could hold the grades; `hint` tells how to choose one by name."""
    names = list(map(str, names))
    candidates = [name for name in names if plain(name) in _PLAIN[GRADE]]
    if len(candidates) > 1:
        problem = f"several columns could be the grades: {', '.join(candidates)}"
        hint = hint if len(set(candidates)) == len(candidates) else ""
        raise InputError(place, problem, hint or "leave one of them, or rename the others", usage=True)


def check_distinct(names: Sequence[Any], place: str) -> None:
    """Raise InputError if a column that a reader may look for occurs twice under the same name."""
    for name in names:
        if names.count(name) > 1 and any(find_column([name], aliases) is not None for aliases in COLUMNS.values()):
            raise InputError(place, f"has several columns '{name}'", "give each column a different name")


def fractional_grades(name: str, place: str, cure: str = "") -> InputError:
    """Return the error of a column `score` used as grades that holds fractions; `cure` adds a way other than renaming
    it."""
    hint = f"if it holds grades rather than scores, name it 'grade'{cure}"
    return InputError(place, f"'{name}' holds fractions, as run scores do", hint)


def field_problem(name: str, fields: Sequence[bytes], line: int, layout: LineLayout) -> tuple[str, str]:
    """Return the problem and hint for a line whose field of this name should be a number: the line may be a header."""
    if is_header(fields, line, layout):
        return "is a header among the lines of data", f"remove the line, or skip it with {flag.lenient:True}"
    return number_problem(name, fields[layout.columns.index(name)], line)


def is_header(fields: Sequence[bytes], line: int, layout: LineLayout) -> bool:
    """Return whether a line other than the first of a file names the columns of the topic and the docno."""
    matches = (find_column([decode(fields[layout.columns.index(name)])], COLUMNS[name]) for name in ("topic", "docno"))
    return line > 1 and None not in matches


def check_no_score(columns: Mapping[Any, Iterable[Any]], place: str) -> None:
    """Raise InputError if a table with ranks but no scores has a column that may hold scores: by its name, or because
    it is unknown and holds fractions.

    columns  name -> values, as numbers or text
    """
    names = list(columns)
    unknown = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    if any(did_you_mean(str(name), SCORE) for name in unknown):
        raise missing_column(names, SCORE, place)
    for name, values in columns.items():
        if may_be_score(name) or (name in unknown and any(map(_is_fraction, values))):
            problem = f"has ranks but no column 'score', only '{name}', which may be one"
            raise InputError(place, problem, f"name it 'score', or remove '{name}' to order by rank", usage=True)


def may_be_score(name: Any) -> bool:
    """Return whether an unknown name of a column may be that of a score."""
    return re.search(_SCORE_WORDS, plain(name)) is not None


def _is_fraction(value: Any) -> bool:
    try:
        return float(value) % 1 > 0
    except (TypeError, ValueError):
        return False


def missing_column(names: Iterable[Any], aliases: tuple[str, ...], place: str, holds: str = "") -> InputError:
    """Return the error of a table that lacks a column.

    holds  run or qrels, of a file whose columns an option can name
    """
    names = list(map(str, names))
    others = [name for name in names if not any(find_column([name], row) for row in COLUMNS.values())]
    near = next(
        (hint for name in others if (hint := did_you_mean(name, aliases))), f"known names: {', '.join(aliases)}"
    )
    if holds and (fields := _missing_fields(names, others, holds)):
        near = f"name it, as in {Flag(f'--{holds}-format'):{fields}}"
    among = f" among {', '.join(names)}" if names else ": the table has no columns"
    return InputError(place, f"no column '{aliases[0]}'{among}", near)


def _missing_fields(names: list[str], others: list[str], holds: str) -> str:
    """Return an example of names for the contents that no column is known to hold, as in `docno=my_id`; empty if too
    few names are left.

    others  the columns of unknown content
    """
    value = find_grades(names) if holds == "qrels" else find_column(names, SCORE) or find_column(names, RANK)
    present = {"topic": find_column(names, TOPIC), "docno": find_column(names, DOCNO), _example(holds)[-1]: value}
    remaining, fields = [name for name in others if name and not set(name) & set(",=")], dict[str, str]()
    for content in (content for content, name in present.items() if name is None):
        if not remaining:
            return ""
        pattern = _MAY_BE[content]
        fields[content] = next((name for name in remaining if re.search(pattern, name.lower())), remaining[0])
        remaining.remove(fields[content])
    return ",".join(f"{content}={name}" for content, name in fields.items())


def format_name(value: str, holds: str) -> str:
    """Return the value of --run-format or --qrels-format in canonical spelling: a format name, or columns in order.

    Raises InputError (usage) if it is neither, or lacks a column.
    """
    flag, names = Flag(f"--{holds}-format"), FORMATS[holds]
    if "=" in value:
        return _field_names(value, holds, flag)
    base = value.strip().lower().removesuffix(HEADER)
    header = HEADER if value.strip().lower().endswith(HEADER) else ""
    if base in names:
        return base + header
    words = base.split(",")
    if len(words) == 1:
        opposite = "qrels" if holds == "run" else "runs"
        hint = f"{base} is a format of {opposite}; the" if base in DESCRIPTIONS else did_you_mean(base, names)
        listed = f"formats: {', '.join(names)}; or columns in order, as in {','.join(_example(holds))}"
        raise InputError(flag, f"no format '{value}'", f"{hint} {listed}".strip(), usage=True)
    columns = [_column(word, holds, flag) for word in words]
    if holds == "qrels" and columns == PAIRS.split(","):
        return PAIRS + header
    for needed in ("topic", "docno", *(("grade",) if holds == "qrels" else ())):
        if columns.count(needed) != 1:
            problem = "no column" if needed not in columns else "more than one column"
            raise InputError(
                flag, f"{problem} '{needed}' in '{value}'", f"as in {','.join(_example(holds))}", usage=True
            )
    return ",".join(columns) + header


_FIELDS = {"run": ("topic", "docno", "documents", "score", "rank", "type"),
           "qrels": ("topic", "docno", "documents", "grade", "subtopic", "stratum")}  # fmt: skip
"""Contents whose field the user may name; `documents` is the list of a record."""


def _field_names(value: str, holds: str, flag: Flag) -> str:
    """Return names of fields, as in `topic=question,docno=chunk_id`, with contents in canonical spelling."""
    fields: dict[str, str] = {}
    for word in value.split(","):
        content, _, name = (part.strip() for part in word.partition("="))
        row = next((row[0] for row in COLUMNS.values() if find_column([content], row)), content.lower())
        row = "grade" if holds == "qrels" and row == "score" else row
        if row not in _FIELDS[holds] or not name:
            problem = f"no content '{content}'" if name else f"'{word}' names no field"
            hint = did_you_mean(content, _FIELDS[holds]) or f"contents: {', '.join(_FIELDS[holds])}"
            raise InputError(flag, problem, f"{hint}; as in topic=question,docno=chunk_id", usage=True)
        if row in fields:
            raise InputError(flag, f"two names of the {row} in '{value}'", "give one", usage=True)
        fields[row] = name
    return ",".join(f"{content}={name}" for content, name in fields.items())


def chosen_fields(requested: str) -> dict[str, str]:
    """Return content -> name of names of fields as `format_name` spells them; empty for any other format."""
    if "=" not in requested:
        return {}
    return {content: name for content, _, name in (word.partition("=") for word in requested.split(","))}


def with_names(names: Sequence[Any], fields: Mapping[str, str], place: str) -> list[Any]:
    """Return the names of columns, with those that the user chose under our names; columns that we would have taken
    instead are ignored.

    Raises InputError for a name that is not there.
    """
    content_of = {name: content for content, name in fields.items()}
    for content, name in fields.items():
        if name not in names:
            hint = did_you_mean(name, list(map(str, names))) or f"there are {shorten(', '.join(map(str, names)))}"
            raise InputError(place, f"no field '{name}' for the {content}", hint, usage=True)
    others = [COLUMNS[content] for content in fields if content in COLUMNS]
    replaced = {name for name in names if any(find_column([name], row) for row in others)}
    return [content_of.get(name, f"({name})" if name in replaced else name) for name in names]


def with_fields(table: TableColumns, fields: Mapping[str, str], place: str) -> TableColumns:
    """Return a table with the columns that the user chose under our names, as `with_names`."""
    names = with_names(table.columns, fields, place)
    column_of = dict(zip(names, table.columns, strict=True))
    return replace(
        table,
        columns=names,
        values=lambda name: table.values(column_of[name]),
        array=lambda name: table.array(column_of[name]),
    )


def _example(holds: str) -> tuple[str, ...]:
    return ("topic", "docno", "score") if holds == "run" else ("topic", "docno", "grade")


def _column(word: str, holds: str, flag: str) -> str:
    """Return the content of a column named in the value of an option."""
    if plain(word) in ("", "skip"):
        return IGNORED
    column = next((column for column, aliases in COLUMNS.items() if find_column([word], aliases)), "")
    if holds == "qrels" and column == "score":
        return "grade"  # the name in BEIR
    if not column:
        aliases = sorted(name for names in COLUMNS.values() for name in names)
        hint = did_you_mean(word, aliases) or f"columns: {', '.join(COLUMNS)}, and {IGNORED} for what is ignored"
        raise InputError(flag, f"no column '{word.strip()}'", hint, usage=True)
    return column


# A table by columns, with the part of the DataFrame interface that readers use, for files and objects of libraries.


class Column(list[Any]):
    """A column with the interface of a DataFrame's."""

    def tolist(self) -> list[Any]:
        return self


def _no_array(name: str) -> None:
    """Return nothing: columns given as lists hold no arrays."""


@dataclass(eq=False, repr=False)
class TableColumns:
    """A table with the interface of a DataFrame: column names, and the values of each column on request.

    note   an assumption for the user
    lines  the line of each row in its file; empty if rows are counted
    array  return a column as one array of text or numbers, without an object per value; None for any other column
    bare   topic without a row -> the number of rows before it; `numbered`: topics have no names, and are counted
    """

    columns: list[str]
    values: Callable[[str], Iterable[Any]]
    length: int
    note: str = ""
    lines: Sequence[int] = ()
    array: Callable[[str], Text | Floats | None] = _no_array
    bare: Mapping[Any, int] = field(default_factory=dict)
    numbered: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]], lines: Sequence[int] = ()) -> TableColumns:
        """Make a table of columns of equal length."""
        return cls(list(values), lambda name: values[name], len(next(iter(values.values()), ())), lines=lines)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, name: str) -> Column:
        return Column(self.values(name))

    def head(self, rows: int) -> TableColumns:
        """Return the first rows; numbers of files are floats."""

        def first(name: str) -> list[Any]:
            array = self.array(name)
            return list(islice(self.values(name), rows)) if array is None else array[:rows].tolist()

        return TableColumns(self.columns, first, rows)


NO_GRADES_LISTED = "no grades: the listed documents are relevant, with grade 1"
"""The note on judgments without grades."""


def bare_topics(source: Any) -> Mapping[Any, int]:
    """Return the topics of a table that have no row, each with the number of rows before it."""
    return source.bare if isinstance(source, TableColumns) else {}


# Recognition of files other than plain TREC by their first bytes. A file that could be read in two ways with different
# numbers is an error that names both.


LINES = 50
"""Number of first lines examined."""

# The content of columns by parts of their names: only for examples in messages, which a user can correct.
_MAY_BE = {
    "topic": "topic|quer|question|qid|request|need",
    "docno": "doc|passage|url|uri|item|page|hit|candidate|answer|text",
    "score": "score|sim|weight|prob|rsv|value",
    "rank": "rank|position",
    "grade": "rel|grade|label|judg|rating|rated|score|value",
}


def check_lines(lines: list[bytes], holds: str, width: int, place: str) -> None:
    """Raise InputError for lines with separators other than tabs, commas and spaces, and for a header without known
    names. Semicolons need a header or named columns.

    width  the fields of a TREC line, about which the line reader reports
    """
    lines = lines[:LINES]
    _check_header(lines, holds, width, place)
    for mark in (b";", b"|"):
        if lines and all(line.count(mark) > 1 and len(line.split()) < line.count(mark) + 1 for line in lines):
            delimiter = decode(mark)
            hint = rf"separate them by tabs, as tr '{delimiter}' '\t' <OLD >NEW does"
            if mark == b";":
                hint = f"say what the columns are, as in {Flag(f'--{holds}-format'):{','.join(_example(holds))}}"
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
        return sure + [i for i, name in enumerate(names) if re.search(_MAY_BE[column], name.lower())]

    every = list(range(len(names)))
    values = ("score", "rank") if holds == "run" else ("grade",)
    remaining = [column for column in ("topic", "docno") if not take(column, like(column))]
    valued = any(take(column, [i for i in like(column) if numbers[i] or holds == "qrels"]) for column in values)
    if not valued:
        take(values[0], [i for i in reversed(every) if numbers[i]] + every[::-1])
    for column in remaining:
        take(column, every)
    return columns


def shorten(text: str) -> str:
    """Truncate a line for a message."""
    return text if len(text) <= 60 else f"{text[:60]}…"


DESCRIPTIONS = {
    "trec": "`topic Q0 docno rank score tag`, or `topic iteration docno grade`",
    "msmarco": "`qid pid rank`, with or without a score; without it the rank orders",
    "strata": "`topic iteration docno stratum grade` of a stratified sample",
    "beir": "tabs, and the header `query-id corpus-id score`",
    "ntcir": "`topic docno L2`",
    "letor": "`label qid:… features # docid`, as of LETOR and SVMlight",
    "tsv": "tabs, and a header that names columns in any order",
    "csv": "commas or semicolons, and a header that names columns in any order",
    "headed": "spaces, and a header that names columns in any order",
    "json": "topic → docno → number, or records",
    "jsonl": "a record in each line",
    "parquet": "columns by name; `pip install 'gradedeval[parquet]'`",
    "arrow": "Arrow files and streams, Feather; `pip install 'gradedeval[parquet]'`",
    **{shape.name: shape.meaning for shape in SHAPES if not shape.format},
}
"""Name of a format in `lines.FORMATS` -> its description."""

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
        if len(self.lines) > 1 and not self.head.endswith(b"\n") and len(self._fields(-1)) < len(self._fields(-2)):
            del self.lines[-1]  # cut short; the reader will report it
        check_lines(self.lines, self.holds, self.trec.width, self.place)
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

    def _fields(self, line: int) -> list[bytes]:
        return self.lines[line].split() if line < len(self.lines) else []

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
        value = find_grades(names) if self.holds == "qrels" else find_column(names, SCORE) or find_column(names, RANK)
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
        if self.trec is QRELS and unnamed_fields.has_grades_for_docnos([line.split() for line in self.lines]):
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
            if same and (not unnamed_fields.follows(previous[rank], row[rank]) or previous[1] == row[1]):
                return False
            if not same and row[rank] not in ((b"1",) if surely else (b"0", b"1")):
                return False
        return most > (2 if surely else 1)

    def _run_layout(self) -> LineLayout:
        rows = [line.split() for line in self.lines]
        for layout in (MSMARCO_RANKS, MSMARCO):
            if self._has_counting_ranks(layout, surely=True):
                return (
                    replace(MSMARCO, notes=(_RISES,))
                    if layout is MSMARCO and unnamed_fields.scores_rise(rows)
                    else layout
                )
        numbers = [all(decimal(row[-1]) == decimal(row[-1]) for row in rows if row)] if rows else [False]
        widths = {len(row) for row in rows}
        if widths == {3} and all(numbers) and self.is_tabbed and unnamed_fields.are_scores(rows):
            return LineLayout("topic,docno,score", ("topic", "docno", "score"))
        if widths == {3} and all(numbers):
            few = self._has_counting_ranks(MSMARCO_RANKS)
            counts = "counts, but not from 1 to 3 or more" if few else "does not count 1, 2, 3, …"
            problem = f"has 3 fields in a line, and the third {counts} as the ranks of MS MARCO do"
            raise self._ambiguous(problem, "topic,docno,score", "topic,docno,rank")
        ranked = (
            widths == {4} and all(row[2].isdigit() for row in rows) and unnamed_fields.has_docnos(rows)
        )  # no iteration
        if widths == {4} and all(numbers) and (any(decimal(row[3]) % 1 for row in rows) or ranked):
            raise self._ambiguous("has 4 fields in a line", "msmarco", "topic,q0,docno,score", "topic,docno,score,tag")
        if (
            widths == {4}
            and all(decimal(row[2]) == decimal(row[2]) for row in rows)
            and unnamed_fields.has_docnos(rows)
        ):
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
        if {row[1] for row in rows} <= {b"0", b"Q0"} and unnamed_fields.are_docnos(rows):
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
