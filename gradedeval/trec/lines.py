"""Bytes -> lines of fields: what run files and qrels files have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Protocol

from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.trec.layouts import QRELS, RUN, STRATA, LineLayout


class NeedsLineReader(Exception):
    """The block reader met something that it does not handle: the line reader reads the source again, and reports what
    is wrong, or, with `--lenient`, skips it."""


# Bytes that no text line holds: control characters, and a carriage return that does not end the line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")
_CONTROLS = bytes({*range(32)} - {*b"\t\n"})
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
    data: bytes, layout: LineLayout, problems: Problems, *, extra: bool = False, tolerant: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line that has the fields of a layout; other lines are problems.

    extra     what a line has beyond these fields is ignored
    tolerant  bytes that no text holds are problems of their lines; otherwise InputError is raised for them, and for an
              empty file

    Blank lines and lines that begin with `#` are skipped.
    """
    first, data = 1 + data.count(b"\n", 0, layout.skip), data[layout.skip :]
    if not tolerant:
        if not data.strip():
            raise InputError(problems.place, "is empty", expected_lines(layout), kind="empty")
        check_text(data, problems.place, first)
    if layout.separator:
        yield from _separated(data, layout, problems, first)
        return
    has_control, width = tolerant and _CONTROL.search(data), layout.width
    for number, line in enumerate(data.split(b"\n"), first):
        if has_control and (control := _CONTROL.search(line)):
            problems.add(number, *about_control(control[0]), kind="format")
            continue
        fields = line.split()
        if len(fields) == width and line[0] != _HASH:
            yield number, fields
        elif extra and len(fields) > width and line[0] != _HASH:
            yield number, fields[:width]
        elif fields and line[0] != _HASH:
            problems.add(number, _about_width(fields, layout), _width_hint(fields, layout), kind="fields")


def _separated(data: bytes, layout: LineLayout, problems: Problems, first: int) -> Iterator[tuple[int, list[bytes]]]:
    """The same of lines whose fields a tab or a comma separates: a field that nothing looks at may be empty, and the
    first may begin with `#`."""
    needed = [(name, layout.columns.index(name)) for name in ("topic", "docno")]
    quoted = b'"' in data
    for number, fields in _quoted(data, layout, problems, first) if quoted else _unquoted(data, layout, first):
        if len(fields) == layout.width:
            missing = next((name for name, position in needed if not fields[position]), "")
            if missing:
                problems.add(number, f"no {missing} in this line", "fill the field, or remove the line", kind="fields")
            else:
                yield number, fields
        elif any(fields) and not fields[0].startswith(b"#"):
            problems.add(number, _about_width(fields, layout), "every line has the fields of the first", kind="fields")


def _unquoted(data: bytes, layout: LineLayout, first: int) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in enumerate(data.split(b"\n"), first):
        yield number, layout.split(line)


def _quoted(data: bytes, layout: LineLayout, problems: Problems, first: int) -> Iterator[tuple[int, list[bytes]]]:
    import csv  # few files have quotes
    import io

    reader = csv.reader(io.StringIO(decode(data), newline=""), delimiter=decode(layout.separator), strict=True)
    try:
        for row in reader:
            yield reader.line_num + first - 1, [encode(field.strip()) for field in row]
    except csv.Error as error:
        problems.add(reader.line_num + first - 1, f"not valid {layout.format} ({error})", "close every quote", "format")


def _about_width(fields: list[bytes], layout: LineLayout) -> str:
    return f"{len(fields)} {plural(len(fields), 'field')}, expected {layout.width} ({layout.words})"


def _width_hint(fields: list[bytes], layout: LineLayout) -> str:
    holds, width, count = layout.holds, layout.width, len(fields)
    if count == 1 and fields[0].count(b",") >= 2:
        columns = "topic,docno,score" if holds == "run" else "topic,docno,grade"
        return f"separate fields by spaces or tabs, or name the columns, as in --{holds}-format {columns}"
    if layout is RUN and count == 5 and all(decimal(field) == decimal(field) for field in fields[3:]):
        return "add the tag, or read five columns with --run-format topic,q0,docno,rank,score"
    if layout is QRELS and count == STRATA.width:
        return "remove the extra field; --strata reads the strata of a sample"
    if count > width:
        return "remove extra fields, or spaces inside ids"
    if layout is QRELS and count == width - 1:
        return "add a 0 after the topic if the file has no iteration"
    return "add the missing fields" + ("; Q0, iteration and tag may be any word" if layout in (RUN, QRELS) else "")


def expected_lines(layout: LineLayout) -> str:
    """The hint about a file that has no such lines."""
    return f"expected lines of '{layout.words}'"


def check_text(data: bytes, place: str, first: int = 1) -> None:
    """Raise InputError where bytes are not text lines: a byte order mark, a control byte, a lone carriage return.

    first  the number of the first line
    """
    check_mark(data, place, first)
    # The pattern takes thirteen times as long as looking whether there is any such byte.
    if len(data.translate(None, _CONTROLS)) < len(data) and (control := _CONTROL.search(data)):
        line = data.count(b"\n", 0, control.start()) + first
        raise InputError(f"{place}:{line}", *about_control(control[0]), kind="format")


def check_mark(data: bytes, place: str, first: int = 1) -> None:
    """Raise InputError where bytes begin with a byte order mark."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:{first}", *_STARTS_WITH_MARK, kind="format")


def about_control(byte: bytes) -> tuple[str, str]:
    """The problem of a byte that no text line holds, and the hint."""
    what = "carriage return inside a line" if byte == b"\r" else f"control byte 0x{byte[0]:02x}"
    return what, "save the file as UTF-8" if byte == b"\x00" else "use a text file with LF or CRLF line ends"


def about_number(what: str, token: bytes, line: int) -> tuple[str, str]:
    """The problem of a token that should be a number, and the hint: the first line may be a header."""
    flag = "--qrels-format" if what == "grade" else "--run-format"
    hint = "expected a finite decimal such as 12.5"
    if line == 1:
        hint = f"remove the line if it is a header, or skip it with {flag} trec+header"
    elif what == "grade" and token.isalpha() and token.lower() not in (b"nan", b"inf", b"infinity"):
        hint = f"give the word its grade, as in --labels {decode(token)}=…"
    return f"{what} '{decode(token)}' is not a number", hint


def check_read(
    what: str,
    present: bool,
    data: bytes,
    layout: LineLayout,
    problems: ProblemList,
    lenient: bool,
    notes: list[str],
) -> None:
    """Raise InputError where lines of a file are bad, or none is left of `what` it should hold; with `--lenient` a note
    about the skipped lines is added instead."""
    bad = f"{problems.count} bad {plural(problems.count, 'line')}"
    other, name = (QRELS, "qrels") if layout.holds == "run" else (RUN, "a run")
    if not present and layout.format == "trec" and looks_like(data, other):
        looks = f"looks like {name} ({other.width} fields per line)"
        raise InputError(problems.place, looks, "the order is RUN... QRELS: are they swapped?", kind="swapped-files")
    if lenient and problems.count:
        first = problems.errors[0].place.rpartition(":")[2]
        notes.append(f"{problems.place}: skipped {bad}, the first on line {first}")
    else:
        problems.check()
    if not present:
        skipped = f" ({bad} skipped)" if problems.count else ""
        raise InputError(problems.place, f"no {what}{skipped}", expected_lines(layout), kind="empty")


def looks_like(data: bytes, layout: LineLayout) -> bool:
    """Whether the first line that is neither blank nor a comment has as many fields as a layout."""
    for line in data[:65536].split(b"\n"):
        if line.split() and not line.startswith(b"#"):
            return len(line.split()) == layout.width and not line.startswith((b"{", b"["))
    return False


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
