"""Bytes -> lines of fields; what a run and a qrels file have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from gradedeval.errors import InputError, ProblemList, plural


class NeedsLineReader(Exception):
    """There is something in the bytes that only the simple reader has words for: it reads the source again, and says
    what is wrong, or, with `--lenient`, skips it."""


RUN_FIELDS = ("topic", "Q0", "docno", "rank", "score", "tag")
QRELS_FIELDS = ("topic", "iteration", "docno", "grade")

# Bytes that no text line holds: control characters, and a carriage return that ends no line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def fields(
    data: bytes, findings: ProblemList, expected: tuple[str, ...], extra: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line that has as many fields as expected; the others are findings.

    extra: what a line has beyond these fields is ignored.

    Blank lines and lines that begin with `#` are skipped. Raises InputError where there are no bytes, or they are no
    text.
    """
    if not data.strip():
        raise InputError(findings.place, "is empty", f"lines of {' '.join(expected)} are expected")
    check_text(data, findings.place)
    width = len(expected)
    for number, line in enumerate(data.split(b"\n"), 1):
        found = line.split()
        if len(found) == width and line[0] != 35:
            yield number, found
        elif extra and len(found) > width and line[0] != 35:
            yield number, found[:width]
        elif found and line[0] != 35:
            findings.add(number, *about_width(found, expected))


def about_width(found: list[bytes], expected: tuple[str, ...]) -> tuple[str, str]:
    """What is wrong with a line of too few or too many fields, and the cure."""
    what = f"{len(found)} {plural(len(found), 'field')}, expected {len(expected)} ({' '.join(expected)})"
    return what, _cure(found, len(expected))


def _cure(found: list[bytes], width: int) -> str:
    if len(found) == 1 and found[0].count(b",") >= width - 1:
        return "separate fields with blanks or tabs, not commas"
    if len(found) > width:
        return "remove what is too much, or blanks inside ids"
    if width == len(QRELS_FIELDS) and len(found) == width - 1:
        return "put a 0 after the topic where the file has no iteration"
    return "fill in what is missing; Q0, iteration and tag may be any word"


def check_text(data: bytes, place: str) -> None:
    """Raise InputError where bytes are no text lines: a byte order mark, a control byte, a lone carriage return."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:1", "begins with a byte order mark", "save the file as UTF-8 without one")
    control = _CONTROL.search(data)
    if control:
        line = data.count(b"\n", 0, control.start()) + 1
        raise InputError(f"{place}:{line}", *about_control(control[0]))


def control_byte(data: bytes) -> bytes:
    """The first byte that no text line holds; nothing where there is none."""
    control = _CONTROL.search(data)
    return control[0] if control else b""


def about_control(byte: bytes) -> tuple[str, str]:
    """What is wrong with such a byte, and the cure."""
    what = "a carriage return inside the line" if byte == b"\r" else f"control byte 0x{byte[0]:02x}"
    return what, "save the file as UTF-8" if byte == b"\x00" else "give a text file with LF or CRLF line ends"


def settle(findings: ProblemList, lenient: bool, notes: list[str]) -> None:
    """Raise what was found in a file; `--lenient` makes a note of it instead."""
    if lenient and findings.count:
        first = findings.errors[0].place.rpartition(":")[2]
        count = f"{findings.count} bad {plural(findings.count, 'line')}"
        notes.append(f"{findings.place}: {count} skipped, the first of them line {first}")
    else:
        findings.check()


def skipped(findings: ProblemList) -> str:
    """For the message about a file of which nothing is left: ` (12 bad lines skipped)`, or nothing."""
    return f" ({findings.count} bad {plural(findings.count, 'line')} skipped)" if findings.count else ""


def looks_like(data: bytes, expected: tuple[str, ...]) -> bool:
    """Whether the first line with anything on it has as many fields as expected."""
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
    """An id as text; bytes that are no UTF-8 survive the way back."""
    return name.decode("utf-8", "surrogateescape")


def encode(name: str) -> bytes:
    """An id as bytes: the way back of `text`."""
    return name.encode("utf-8", "surrogateescape")
