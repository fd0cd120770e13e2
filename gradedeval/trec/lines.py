"""Bytes -> lines of fields; what a run and a qrels file have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from gradedeval.errors import Fault, Findings, plural

RUN_FIELDS = ("topic", "Q0", "docno", "rank", "score", "tag")
QRELS_FIELDS = ("topic", "iteration", "docno", "grade")

# Bytes that no text line holds: control characters, and a carriage return that ends no line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def fields(data: bytes, findings: Findings, expected: tuple[str, ...]) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line that has as many fields as expected; the others are findings.

    Blank lines and lines that begin with `#` are skipped. Raises Fault where there are no bytes, or they are no text.
    """
    if not data.strip():
        raise Fault(findings.place, "is empty", f"lines of {' '.join(expected)} are expected")
    _check_text(data, findings.place)
    width = len(expected)
    for number, line in enumerate(data.split(b"\n"), 1):
        found = line.split()
        if len(found) == width and line[0] != 35:
            yield number, found
        elif found and line[0] != 35:
            findings.add(number, f"{len(found)} fields, expected {width} ({' '.join(expected)})", _cure(found, width))


def _cure(found: list[bytes], width: int) -> str:
    if len(found) == 1 and found[0].count(b",") >= width - 1:
        return "separate fields with blanks or tabs, not commas"
    if len(found) > width:
        return "remove what is too much, or blanks inside ids"
    return ""


def _check_text(data: bytes, place: str) -> None:
    if data.startswith(BYTE_ORDER_MARKS):
        raise Fault(f"{place}:1", "begins with a byte order mark", "save the file as UTF-8 without one")
    control = _CONTROL.search(data)
    if control:
        line = data.count(b"\n", 0, control.start()) + 1
        what = "a carriage return inside the line" if control[0] == b"\r" else f"control byte 0x{control[0][0]:02x}"
        raise Fault(f"{place}:{line}", what, "give a text file with LF or CRLF line ends")


def settle(findings: Findings, lenient: bool, notes: list[str]) -> None:
    """Raise what was found in a file; `--lenient` makes a note of it instead."""
    if lenient and findings.count:
        skipped = f"{findings.count} bad {plural(findings.count, 'line')} skipped"
        notes.append(
            f"{findings.place}: {skipped}, the first of them line {findings.faults[0].place.rpartition(':')[2]}"
        )
    else:
        findings.check()


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


def text(name: bytes) -> str:
    """An id as text; bytes that are no UTF-8 survive the way back."""
    return name.decode("utf-8", "surrogateescape")


def raw(name: str) -> bytes:
    """An id as bytes: the way back of `text`."""
    return name.encode("utf-8", "surrogateescape")
