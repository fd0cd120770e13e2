"""Bytes -> lines of fields: what run files and qrels files have in common."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from functools import cached_property

# How the lines of a file stand for documents: what each column holds, and what separates them.


_WORDS = {"type": "Q0", "subtopic": "iteration"}
"""What columns are called in messages about TREC files."""


NO_GRADES = "missing-grades"
"""The kind of the error of qrels that nobody has filled in."""


@dataclass(eq=False, repr=False)
class LineLayout:
    """Lines of fields.

    format     what the signature and --run-format call it
    columns    what the columns hold, as in `file_formats.COLUMNS`; by other names, what nothing looks at
    separator  a tab or a comma alone; empty: any mix of spaces and tabs, as in TREC files
    skip       bytes before the first line that counts: a byte order mark, a header
    notes      what a user is told of the file
    whole      whether grades must be whole numbers: those of a column `score`, which may be that of a run
    width      how many columns there are
    by_rank    whether a run has ranks and no scores: then the rank orders its documents
    in_blocks  whether the block reader reads such lines: a topic begins each
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
        self.in_blocks = self.columns[0] == "topic"

    def position(self, column: str) -> int | None:
        """The number of a column, from 0; None where there is none."""
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
        """The fields of a line; quotes are part of them."""
        if not self.separator:
            return line.split()
        return [field.strip() for field in line.split(self.separator)] if line.strip() else []

    def after(self, skip: int, *notes: str) -> LineLayout:
        """The same lines in a file that has something before them."""
        return replace(self, skip=skip, notes=(*self.notes, *notes))


RUN = LineLayout("trec", ("topic", "type", "docno", "rank", "score", "tag"))
QRELS = LineLayout("trec", ("topic", "subtopic", "docno", "grade"))
STRATA = LineLayout("strata", ("topic", "subtopic", "docno", "stratum", "grade"))
MSMARCO = LineLayout("msmarco", ("topic", "docno", "rank", "score"))
MSMARCO_RANKS = LineLayout("msmarco", ("topic", "docno", "rank"))
PREFERENCES = LineLayout("trec", ("topic", "group", "subgroup", "docno", "value"))
NTCIR = LineLayout("ntcir", ("topic", "docno", "grade"))


# How long a line may be, and where lines end.


LONGEST = 1 << 20
"""Bytes of a line, at most. Documents of JSON are often one line, and may have any length."""


NEAR = 1 << 12
"""Bytes in which most lines end."""


def long_line(text: memoryview, begin: int, end: int, longest: int = LONGEST) -> int | None:
    """Where a line begins that is too long, in `text[begin:end]`; None if there is none. It looks at the ends of
    stretches of that length, and so at few of the bytes."""
    while end - begin > longest:
        newline = last_newline(text, begin, begin + longest + 1)
        if newline < begin:
            return begin
        begin = newline + 1
    return None


def last_newline(text: memoryview, begin: int, end: int) -> int:
    """Where the last newline is in `text[begin:end]`; before `begin` if there is none."""
    size = NEAR
    while True:
        low = max(begin, end - size)
        found = bytes(text[low:end]).rfind(b"\n")
        if found >= 0:
            return low + found
        if low == begin:
            return begin - 1
        size *= 16


class NeedsLineReader(Exception):
    """The block reader met something that it does not handle: the line reader reads the source again, and reports what
    is wrong, or, with `--lenient`, skips it."""


BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def is_trec(head: bytes, layout: LineLayout) -> bool:
    """Whether a text surely has the lines of a TREC layout: its first is one of them, with a number where a number
    belongs. The lines of MS MARCO have as many fields as qrels, and ranks where docnos are; those of ir_datasets have
    grades there."""
    fields = head[: head.find(b"\n")].split()
    if len(fields) != layout.width or head.startswith((b"#", *BYTE_ORDER_MARKS)):
        return False
    value = decimal(fields[4] if layout is RUN else fields[-1])
    return value == value and (layout is not QRELS or not fields[2].isdigit() or len(fields[2]) > 1)


def decimal(token: bytes) -> float:
    """The float of a plain decimal (`[+-]digits[.digits][e±digits]`); nan for anything else, nan and inf included."""
    if not _DECIMAL.fullmatch(token):
        return math.nan
    value = float(token)
    return value if math.isfinite(value) else math.nan


def decode(name: bytes) -> str:
    """An id as text; bytes that are not UTF-8 survive a round trip through `encode`."""
    return name.decode("utf-8", "surrogateescape")


def encode(name: str) -> bytes:
    """An id as bytes: the reverse of `decode`."""
    return name.encode("utf-8", "surrogateescape")


# The formats that runs and qrels may have, by name, as `--run-format` and `--qrels-format` take them.


BOTH = ("run", "qrels")


FORMATS: dict[str, tuple[tuple[str, ...], str]] = {
    "trec": (BOTH, "`topic Q0 docno rank score tag`, or `topic iteration docno grade`"),
    "msmarco": (("run",), "`qid pid rank`, with a score behind or without: then the rank orders"),
    "strata": (("qrels",), "`topic iteration docno stratum grade` of a stratified sample"),
    "beir": (BOTH, "tabs, and the header `query-id corpus-id score`"),
    "ntcir": (("qrels",), "`topic docno L2`"),
    "letor": (("qrels",), "`label qid:… features # docid`, as of LETOR and SVMlight"),
    "tsv": (BOTH, "tabs, and a header that names columns in any order"),
    "csv": (BOTH, "commas, and a header that names columns in any order"),
    "headed": (BOTH, "spaces, and a header that names columns in any order"),
    "json": (BOTH, "topic → docno → number, or records"),
    "jsonl": (BOTH, "a record in each line"),
    "parquet": (BOTH, "columns by name; `pip install 'gradedeval[parquet]'`"),
    "arrow": (BOTH, "Arrow files and streams, Feather; `pip install 'gradedeval[parquet]'`"),
}
"""Name of a format -> what may have it, and what it looks like."""


HEADER = "+header"
"""What follows a format whose first line is a header that says nothing."""


def is_stratified(format: str | None) -> bool:
    """Return whether a format of qrels has a column of strata: `strata`, or columns with one."""
    columns = (format or "").removesuffix(HEADER).split(",")
    return columns == ["strata"] or "stratum" in columns


IGNORED = "-"
"""A column that nothing looks at, in the value of --run-format."""


def formats_of(holds: str) -> list[str]:
    """The names of the formats that a run or qrels may have."""
    return [name for name, (of, _) in FORMATS.items() if holds in of]


@dataclass(eq=False, repr=False)
class WholeFile:
    """A file that is read whole, by a library: JSON, Parquet and the like."""

    format: str
    notes: tuple[str, ...] = ()
