"""Define the layouts of lines and the names of formats, common to runs and qrels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_WORDS = {"type": "Q0", "subtopic": "iteration"}
"""Names of columns in messages about TREC files."""

NO_GRADES = "missing-grades"
"""The kind of error for qrels without grades."""


@dataclass(eq=False, repr=False)
class LineLayout:
    """Lines of fields.

    format     its name in the signature and in --run-format
    columns    the content of the columns, as in `file_formats.COLUMNS`; ignored columns have other names
    separator  a tab, a comma or a semicolon; empty: any mix of spaces and tabs, as in TREC files
    skip       bytes before the first line that counts: a byte order mark, a header
    notes      about the file, for the user
    whole      whether grades must be whole numbers: a column `score` may be of a run
    width      number of columns
    by_rank    whether a run has ranks but no scores: then the rank orders its documents
    in_blocks  whether the block reader reads such lines: they begin with a topic, and have no decimal commas
    """

    format: str
    columns: tuple[str, ...]
    separator: bytes = b""
    skip: int = 0
    notes: tuple[str, ...] = ()
    whole: bool = False
    width: int = field(init=False)
    by_rank: bool = field(init=False)
    in_blocks: bool = field(init=False)

    def __post_init__(self) -> None:
        self.width = len(self.columns)
        self.by_rank = "score" not in self.columns and "rank" in self.columns
        self.in_blocks = self.columns[0] == "topic" and self.separator != b";"

    def position(self, column: str) -> int | None:
        """Return the index of a column; None if there is none."""
        return self.columns.index(column) if column in self.columns else None

    @cached_property
    def words(self) -> str:
        """The columns, for messages: `topic Q0 docno rank score tag`."""
        return " ".join(_WORDS.get(name, name) for name in self.columns)

    @property
    def holds(self) -> str:
        """Run or qrels."""
        return "qrels" if "grade" in self.columns else "run"

    def split(self, line: bytes) -> list[bytes]:
        """Split a line into fields, without removing quotes."""
        if not self.separator:
            return line.split()
        return [field.strip() for field in line.split(self.separator)] if line.strip() else []


RUN = LineLayout("trec", ("topic", "type", "docno", "rank", "score", "tag"))
QRELS = LineLayout("trec", ("topic", "subtopic", "docno", "grade"))
STRATA = LineLayout("strata", ("topic", "subtopic", "docno", "stratum", "grade"))
MSMARCO = LineLayout("msmarco", ("topic", "docno", "rank", "score"))
MSMARCO_RANKS = LineLayout("msmarco", ("topic", "docno", "rank"))
PREFERENCES = LineLayout("trec", ("topic", "group", "subgroup", "docno", "value"))
NTCIR = LineLayout("ntcir", ("topic", "docno", "grade"))
PAIRS = "topic,docno"
"""The format of qrels that list the relevant documents, without grades."""


# Lengths and ends of lines.

LONGEST = 1 << 20
"""Maximum bytes of a line. JSON documents, often one line, may have any length."""

NEAR = 1 << 12
"""Bytes in which most lines end."""


def long_line(text: memoryview, begin: int, end: int, longest: int = LONGEST) -> int | None:
    """Return the start of a line that is too long in `text[begin:end]`; None if there is none. It looks only at the
    ends of stretches of that length."""
    while end - begin > longest:
        newline = last_newline(text, begin, begin + longest + 1)
        if newline < begin:
            return begin
        begin = newline + 1
    return None


def last_newline(text: memoryview, begin: int, end: int) -> int:
    """Return the position of the last newline in `text[begin:end]`; begin - 1 if there is none."""
    size = NEAR
    while True:
        low = max(begin, end - size)
        position = bytes(text[low:end]).rfind(b"\n")
        if position >= 0:
            return low + position
        if low == begin:
            return begin - 1
        size *= 16


class NeedsLineReader(Exception):
    """The block reader cannot handle the source: the line reader rereads it and reports problems, or with `--lenient`
    skips bad lines."""


BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def is_trec(head: bytes, layout: LineLayout) -> bool:
    """Return whether a text certainly has the lines of a TREC layout: its first line matches, with a number in its
    place. MS MARCO lines have as many fields as qrels, but ranks in place of docnos; those of ir_datasets have grades
    there."""
    first = head[: head.find(b"\n")]
    fields = first.split()
    if b"\t" in first and first.count(b"\t") + 1 != layout.width:
        return False  # topics may have blanks
    if len(fields) != layout.width or head.startswith((b"#", *BYTE_ORDER_MARKS)):
        return False
    value = decimal(fields[4] if layout is RUN else fields[-1])
    return value == value and (layout is not QRELS or not fields[2].isdigit() or len(fields[2]) > 1)


def decimal(token: bytes) -> float:
    """Return the float of a plain decimal (`[+-]digits[.digits][e±digits]`); nan for anything else, even nan and
    inf."""
    if not _DECIMAL.fullmatch(token):
        return math.nan
    value = float(token)
    return value if math.isfinite(value) else math.nan


_DECIMAL_COMMA = rb"[+-]?(?:\d+,\d+|,\d+)(?:[eE][+-]?\d+)?"


def with_point(token: bytes) -> bytes:
    """Return a number that has a decimal comma with a decimal point, and anything else unchanged: `1.234,5` is no
    number."""
    return token.replace(b",", b".") if re.fullmatch(_DECIMAL_COMMA, token) else token


def separator_in(line: bytes) -> bytes:
    """Return the separator of fields in a line: a tab, a comma, or a semicolon if the line has no blanks; empty without
    one."""
    found = next((mark for mark in (b"\t", b",", b";") if mark in line), b"")
    return b"" if found == b";" and len(line.split()) > 1 else found


def decode(name: bytes) -> str:
    """Return an id as text; bytes that are not UTF-8 survive a round trip through `encode`."""
    return name.decode("utf-8", "surrogateescape")


def encode(name: str) -> bytes:
    """Return an id as bytes: the inverse of `decode`."""
    return name.encode("utf-8", "surrogateescape")


# Names of the formats of runs and qrels: values of `--run-format` and `--qrels-format`.

_BOTH = "tsv", "csv", "headed", "json", "jsonl", "parquet", "arrow", "golden"
FORMATS = {
    "run": ("trec", "msmarco", "beir", *_BOTH, "hits", "rated_hits", "mteb"),
    "qrels": ("trec", "strata", "beir", "ntcir", "letor", *_BOTH, "rank_eval", "judgments", "evaluator"),
}
"""Formats of runs and of qrels; from `golden` on they are `shapes.SHAPES`."""

HEADED = ("tsv", "csv", "headed")
"""Formats of lines below a header that names their columns."""

HEADER = "+header"
"""The suffix of a format whose first line is a header to skip."""


def is_stratified(format: str | None) -> bool:
    """Return whether a format of qrels has a column of strata: `strata`, or columns with one."""
    columns = (format or "").removesuffix(HEADER).split(",")
    return columns == ["strata"] or "stratum" in columns


IGNORED = "-"
"""An ignored column in the value of --run-format."""


@dataclass(eq=False, repr=False)
class WholeFile:
    """A file that a library reads as a whole: JSON, Parquet and similar.

    fields  content -> the name that the user gave to its field
    """

    format: str
    notes: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
