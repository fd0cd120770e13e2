"""Bytes -> lines of fields: what run files and qrels files have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Protocol

from gradedeval.errors import InputError, ProblemList, plural


class NeedsLineReader(Exception):
    """The block reader met something that it does not handle: the line reader reads the source again, and reports what
    is wrong, or, with `--lenient`, skips it."""


RUN_FIELDS = ("topic", "Q0", "docno", "rank", "score", "tag")
QRELS_FIELDS = ("topic", "iteration", "docno", "grade")
STRATA_FIELDS = ("topic", "iteration", "docno", "stratum", "grade")

# Bytes that no text line holds: control characters, and a carriage return that does not end the line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_HASH = 35
_STARTS_WITH_MARK = ("starts with a byte order mark", "save the file as UTF-8 without a byte order mark")


class Problems(Protocol):
    """Takes what is wrong with the lines of a file."""

    @property
    def place(self) -> str: ...

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None: ...


def records(
    data: bytes, expected: tuple[str, ...], problems: Problems, *, extra: bool = False, tolerant: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line that has as many fields as expected; other lines are problems.

    extra     what a line has beyond these fields is ignored
    tolerant  bytes that no text holds are problems of their lines; otherwise InputError is raised for them, and for an
              empty file

    Blank lines and lines that begin with `#` are skipped.
    """
    if not tolerant:
        if not data.strip():
            raise InputError(problems.place, "is empty", expected_lines(expected), kind="empty")
        check_text(data, problems.place)
    elif data.startswith(BYTE_ORDER_MARKS):
        problems.add(1, *_STARTS_WITH_MARK, kind="format")
        if not data.startswith(BYTE_ORDER_MARKS[0]):
            return  # UTF-16: none of its lines can be read
        data = data[len(BYTE_ORDER_MARKS[0]) :]
    has_control, width = tolerant and _CONTROL.search(data), len(expected)
    for number, line in enumerate(data.split(b"\n"), 1):
        if has_control and (control := _CONTROL.search(line)):
            problems.add(number, *about_control(control[0]), kind="format")
            continue
        fields = line.split()
        if len(fields) == width and line[0] != _HASH:
            yield number, fields
        elif extra and len(fields) > width and line[0] != _HASH:
            yield number, fields[:width]
        elif fields and line[0] != _HASH:
            what = f"{len(fields)} {plural(len(fields), 'field')}, expected {width} ({' '.join(expected)})"
            problems.add(number, what, _width_hint(fields, width), kind="fields")


def _width_hint(fields: list[bytes], width: int) -> str:
    if len(fields) == 1 and fields[0].count(b",") >= width - 1:
        return "separate fields by spaces or tabs, not commas"
    if len(fields) == len(STRATA_FIELDS) == width + 1:
        return "remove the extra field; --strata reads the strata of a sample"
    if len(fields) > width:
        return "remove extra fields, or spaces inside ids"
    if width == len(QRELS_FIELDS) and len(fields) == width - 1:
        return "add a 0 after the topic if the file has no iteration"
    return "add the missing fields; Q0, iteration and tag may be any word"


def expected_lines(expected: tuple[str, ...]) -> str:
    """The hint about a file that has no such lines."""
    return f"expected lines of '{' '.join(expected)}'"


def check_text(data: bytes, place: str) -> None:
    """Raise InputError where bytes are not text lines: a byte order mark, a control byte, a lone carriage return."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:1", *_STARTS_WITH_MARK, kind="format")
    if control := _CONTROL.search(data):
        line = data.count(b"\n", 0, control.start()) + 1
        raise InputError(f"{place}:{line}", *about_control(control[0]), kind="format")


def about_control(byte: bytes) -> tuple[str, str]:
    """The problem of a byte that no text line holds, and the hint."""
    what = "carriage return inside a line" if byte == b"\r" else f"control byte 0x{byte[0]:02x}"
    return what, "save the file as UTF-8" if byte == b"\x00" else "use a text file with LF or CRLF line ends"


def about_number(what: str, token: bytes, line: int) -> tuple[str, str]:
    """The problem of a token that should be a number, and the hint: the first line may be a header."""
    hint = "remove the line if it is a header" if line == 1 else "expected a finite decimal such as 12.5"
    return f"{what} '{decode(token)}' is not a number", hint


def check_read(
    what: str,
    present: bool,
    data: bytes,
    expected: tuple[str, ...],
    problems: ProblemList,
    lenient: bool,
    notes: list[str],
) -> None:
    """Raise InputError where lines of a file are bad, or none is left of `what` it should hold; with `--lenient` a note
    about the skipped lines is added instead."""
    bad = f"{problems.count} bad {plural(problems.count, 'line')}"
    other, name = (QRELS_FIELDS, "qrels") if expected == RUN_FIELDS else (RUN_FIELDS, "a run")
    if not present and looks_like(data, other):
        looks = f"looks like {name} ({len(other)} fields per line)"
        raise InputError(problems.place, looks, "the order is RUN... QRELS: are they swapped?", kind="swapped-files")
    if lenient and problems.count:
        first = problems.errors[0].place.rpartition(":")[2]
        notes.append(f"{problems.place}: skipped {bad}, the first on line {first}")
    else:
        problems.check()
    if not present:
        skipped = f" ({bad} skipped)" if problems.count else ""
        raise InputError(problems.place, f"no {what}{skipped}", expected_lines(expected), kind="empty")


def looks_like(data: bytes, expected: tuple[str, ...]) -> bool:
    """Whether the first line that is neither blank nor a comment has as many fields as expected."""
    for line in data[:65536].split(b"\n"):
        if line.split() and not line.startswith(b"#"):
            return len(line.split()) == len(expected)
    return False


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
