"""Refuse files of recognized formats that are not read: archives, pickles, databases, UTF-16."""

from __future__ import annotations

import re

from gradedeval.errors import InputError
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS

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
