"""What is known and not read, and lines that no layout fits: what they are, and what cures it."""

from __future__ import annotations

import re

from gradedeval.errors import InputError
from gradedeval.trec.column_names import COLUMNS, DOCNO, TOPIC, find_column
from gradedeval.trec.file_formats import HEADER, IGNORED
from gradedeval.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode

_UNPACK = "unpack it, and give its files"
_REFUSED = {
    b"PK\x03\x04": ("is a zip archive", _UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("is a 7z archive", _UNPACK),
    b"Rar!": ("is a rar archive", _UNPACK),
    b"\x80": ("is a Python pickle, which could run code when it is read", "save it as JSON, CSV or Parquet"),
    b"\x04\x22\x4d\x18": ("is packed with lz4 twice, as ranx packs CBOR", "save it from ranx as JSON or Parquet"),
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
"""Beginnings that text may have as well, in some encoding."""
_BINARY = re.compile(rb"[\x00-\x08]")
_MARKUP = re.compile(rb"\s*<(\?xml|!doctype|html|table)\b", re.IGNORECASE)
_TAR = slice(257, 262)
_WORKBOOK = b"[Content_Types].xml"
LINES = 50
"""First lines that are looked at."""

# What columns are, by a part of their names: for examples in messages alone, which a user takes or corrects.
_MAY_BE = {
    "topic": "topic|quer|question|qid|request|need",
    "docno": "doc|passage|url|uri|item|page|hit|candidate|answer|text",
    "score": "score|sim|weight|prob|rsv|value",
    "rank": "rank|position",
    "grade": "rel|grade|label|judg|rating|rated|score|value",
}


def check_bytes(head: bytes, place: str) -> None:
    """Raise InputError for what is recognized and not read: UTF-16, archives, pickles, zeros."""
    if head and not any(head[:64]):
        raise InputError(
            place, "begins with zero bytes, and is not text", "copy or write the file again", kind="format"
        )
    sides = head[0:64:2], head[1:64:2]
    if head.startswith(BYTE_ORDER_MARKS[1:]) or any(len(side) > 3 and not any(side) for side in sides):
        raise InputError(place, "is UTF-16", "save the file as UTF-8", kind="format")
    if head[_TAR] == b"ustar":
        raise InputError(place, "is a tar archive", _UNPACK, kind="format")
    for magic, (what, hint) in _REFUSED.items():
        if head.startswith(magic) and (magic not in _TEXT_OR_NOT or _BINARY.search(head, 1, 64)):
            if _WORKBOOK in head:
                what, hint = "is an Excel workbook", "save the table as CSV"
            raise InputError(place, what, hint, kind="format")
    if _MARKUP.match(head):
        raise InputError(place, "is XML or HTML", "save the table as CSV", kind="format")


def check_lines(lines: list[bytes], holds: str, width: int, place: str) -> None:
    """Raise InputError for lines between which something else stands than tabs, commas and spaces, and for a header
    of which no name is known.

    width  the fields of a line of TREC, for which the line reader has the words
    """
    lines = lines[:LINES]
    for mark in (b";", b"|"):
        if lines and all(line.count(mark) > 1 and len(line.split()) < line.count(mark) + 1 for line in lines):
            shown = decode(mark)
            hint = rf"separate them by tabs, as tr '{shown}' '\t' <OLD >NEW does"
            raise InputError(place, f"fields are separated by '{shown}'", hint, kind="format")
    separator = next((mark for mark in (b"\t", b",") if lines and mark in lines[0]), b"")
    header, *rows = [cells(separator, line) for line in lines] or [[]]
    if {"topic", "clicks"} <= set(header):
        hint = f"expected {'qrels' if holds == 'qrels' else 'a run'}; `gradedeval clicks` reads logs, before the qrels"
        raise InputError(place, "is a click log", hint, kind="format")
    if len(header) < 3 or {len(row) for row in rows} != {len(header)} or (len(header) == width and separator != b","):
        return
    numbers = [all(_is_number(row[at]) for row in rows) for at in range(len(header))]
    if any(map(_is_number, header)) or not any(numbers):
        return
    lacks = [known[0] for known in (TOPIC, DOCNO) if find_column(header, known) is None]
    if not lacks:
        return
    what = f"no known name for a {' and a '.join(lacks)} in the header '{shorten(decode(lines[0].strip()))}'"
    columns = ",".join(_likely(header, numbers, holds))
    hint = f"say what the columns are, in order, as in --{holds}-format {columns}{HEADER}"
    raise InputError(place, what, hint, kind="format")


def _is_number(cell: str) -> bool:
    number = decimal(encode(cell))
    return number == number


def _likely(names: list[str], numbers: list[bool], holds: str) -> list[str]:
    """What columns may be, by their names, by their order and by which are numbers."""
    found = [IGNORED] * len(names)

    def take(column: str, places: list[int]) -> bool:
        at = next((at for at in places if found[at] == IGNORED), None)
        if at is not None:
            found[at] = column
        return at is not None

    def like(column: str) -> list[int]:
        known = COLUMNS[column]
        sure = [at for at, name in enumerate(names) if find_column([name], known) is not None]
        return sure + [at for at, name in enumerate(names) if re.search(_MAY_BE[column], name.lower())]

    every = list(range(len(names)))
    values = ("score", "rank") if holds == "run" else ("grade",)
    wanted = [column for column in ("topic", "docno") if not take(column, like(column))]
    valued = any(take(column, [at for at in like(column) if numbers[at] or holds == "qrels"]) for column in values)
    if not valued:
        take(values[0], [at for at in reversed(every) if numbers[at]] + every[::-1])
    for column in wanted:
        take(column, every)
    return found


def cells(separator: bytes, line_of: bytes) -> list[str]:
    """The fields of a line as text, out of their quotes; none where the separator is not in it."""
    if separator and separator not in line_of:
        return []
    # pandas writes a tab before the header, above its index.
    line = decode(line_of.rstrip().lstrip(b" " if separator == b"\t" else None))
    if not separator:
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(decode(separator))]
    import csv

    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=decode(separator)))]
    except csv.Error:  # no text at all, or a quote that is not closed
        return []


def shorten(text: str) -> str:
    """A line for a message."""
    return text if len(text) <= 60 else f"{text[:60]}…"
