"""Bytes -> lines of fields: what run files and qrels files have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.trec.layouts import QRELS, RUN, STRATA, LineLayout
from gradedeval.trec.whole_lines import Pieces, csv_rows, whole_lines

if TYPE_CHECKING:
    from gradedeval.trec.stream import Stream


class NeedsLineReader(Exception):
    """The block reader met something that it does not handle: the line reader reads the source again, and reports what
    is wrong, or, with `--lenient`, skips it."""


# Bytes that no text line holds: control characters, and a carriage return that does not end the line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")
_CONTROLS = bytes({*range(32)} - {*b"\t\n"})
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_HASH = 35
HEAD = 1 << 16
"""First bytes in which there is a line, as a rule."""
_STARTS_WITH_MARK = ("starts with a byte order mark", "save the file as UTF-8 without a byte order mark")


class Problems(Protocol):
    """Takes what is wrong with the lines of a file."""

    @property
    def place(self) -> str: ...

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None: ...


def records(
    stream: Stream, layout: LineLayout, problems: Problems, *, extra: bool = False, tolerant: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line of a stream that has the fields of a layout; other lines are problems.

    extra     what a line has beyond these fields is ignored
    tolerant  bytes that no text holds are problems of their lines; otherwise InputError is raised for them, and for an
              empty file

    Blank lines and lines that begin with `#` are skipped. Raises InputError for a line that is too long.
    """
    pieces = whole_lines(stream, skip=layout.skip)
    if not tolerant:
        pieces = _checked(pieces, layout, problems.place)
    if layout.separator:
        yield from _separated(pieces, layout, problems)
        return
    for number, text in pieces:
        yield from _unseparated(number, text, layout, problems, extra, tolerant)


def _checked(pieces: Pieces, layout: LineLayout, place: str) -> Pieces:
    """The pieces as they are. Raises InputError where there is none, or one has bytes that no text holds."""
    empty = True
    for number, text in pieces:
        check_text(text, place, number)
        yield number, text
        empty = False
    if empty:
        raise InputError(place, "is empty", expected_lines(layout), kind="empty")


def _unseparated(
    first: int, text: bytes, layout: LineLayout, problems: Problems, extra: bool, tolerant: bool
) -> Iterator[tuple[int, list[bytes]]]:
    has_control, width = tolerant and _CONTROL.search(text), layout.width
    for number, line in enumerate(text.split(b"\n"), first):
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


def _separated(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    """The same of lines whose fields a tab or a comma separates: a field that nothing looks at may be empty, and the
    first may begin with `#`."""
    needed = [(name, layout.columns.index(name)) for name in ("topic", "docno")]
    for number, fields in _cells(pieces, layout, problems):
        if len(fields) == layout.width:
            missing = next((name for name, position in needed if not fields[position]), "")
            if missing:
                problems.add(number, f"no {missing} in this line", "fill the field, or remove the line", kind="fields")
            else:
                yield number, fields
        elif any(fields) and not fields[0].startswith(b"#"):
            problems.add(number, _about_width(fields, layout), "every line has the fields of the first", kind="fields")


def _cells(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    def broken(number: int, error: Exception) -> None:
        problems.add(number, f"not valid {layout.format} ({error})", "close every quote", "format")

    for number, text in pieces:
        if b'"' in text:  # a quote may go on for many lines
            for at, row in csv_rows(chain([(number, text)], pieces), decode(layout.separator), broken):
                yield at, [encode(field).strip() for field in row]
            return
        for at, line in enumerate(text.split(b"\n"), number):
            yield at, layout.split(line)


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

    first  the number of the first line; behind that of the file a mark is one of its characters
    """
    if first == 1:
        check_mark(data, place)
    # The pattern takes thirteen times as long as looking whether there is any such byte.
    if len(data.translate(None, _CONTROLS)) < len(data) and (control := _CONTROL.search(data)):
        line = data.count(b"\n", 0, control.start()) + first
        raise InputError(f"{place}:{line}", *about_control(control[0]), kind="format")


def check_mark(data: bytes, place: str) -> None:
    """Raise InputError where a file begins with a byte order mark."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:1", *_STARTS_WITH_MARK, kind="format")


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
    stream: Stream,
    layout: LineLayout,
    problems: ProblemList,
    lenient: bool,
    notes: list[str],
) -> None:
    """Raise InputError where lines of a file are bad, or none is left of `what` it should hold; with `--lenient` a note
    about the skipped lines is added instead."""
    bad = f"{problems.count} bad {plural(problems.count, 'line')}"
    other, name = (QRELS, "qrels") if layout.holds == "run" else (RUN, "a run")
    if not present and layout.format == "trec" and looks_like(_head(stream), other):
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


def _head(stream: Stream) -> bytes:
    stream.again()
    return stream.peek(HEAD)


def looks_like(data: bytes, layout: LineLayout) -> bool:
    """Whether the first line that is neither blank nor a comment has as many fields as a layout."""
    for line in data[:HEAD].split(b"\n"):
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
