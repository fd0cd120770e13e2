"""Read tables with a row for each topic whose cells list documents, as `EvaluationDataset` of ragas becomes one."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

from gradedeval.errors import InputError
from gradedeval.kernel.trec.file_formats import LISTED, TableColumns, check_distinct, kinds_of_columns, plain
from gradedeval.kernel.trec.line_reader import Skipped, csv_rows
from gradedeval.kernel.trec.lines import decode, separator_in
from gradedeval.kernel.trec.records import Fields, Numbered, read_shape
from gradedeval.kernel.trec.shapes import SHAPES

_GOLDEN = next(shape for shape in SHAPES if shape.name == "golden")
_TEXTS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ADJACENT = re.compile(r"''\s*''")


def read_table_of_lists(table: Any, kind: str, skipped: Skipped, fields: Fields | None = None) -> TableColumns | None:
    """Return the documents that the cells of a table list, as `read_shape`; None for a table with a row for each
    document.

    fields  names that the user gave
    """
    names = list(table.columns)
    if not ("documents" in (fields or {}) or kinds_of_columns(names)):
        return None
    read = frozenset(map(plain, (fields or {}).values())).union(*LISTED.values())
    # Texts and vectors that may accompany the lists are not unpacked.
    columns = (map(_value, table[name].tolist()) if plain(name) in read else repeat(None, len(table)) for name in names)
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    lines = getattr(table, "lines", ()) or range(1, len(records) + 1)
    return read_shape(_GOLDEN, Numbered(zip(lines, records, strict=True)), kind, skipped, fields)


def _value(value: Any) -> Any:
    """Return a cell as JSON has it: lists of arrays, of tuples and of text; None if nothing is there."""
    if isinstance(value, str):
        return _of_text(value)
    if callable(convert := getattr(value, "tolist", None) or getattr(value, "to_list", None)):
        value = convert()
    if isinstance(value, list | tuple):
        return [_value(entry) if not isinstance(entry, str) else entry for entry in value]
    return None if type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _of_text(text: str) -> Any:
    """Return the list or object that a text holds in JSON or as Python prints it; any other text unchanged."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except _Again:
        return text
    except (ValueError, RecursionError):
        return _of_python(text.strip())


class _Again(ValueError):
    """A name occurs twice in an object."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(record := dict(pairs)) < len(pairs):
        raise _Again
    return record


def _of_python(text: str) -> Any:
    """Return the list or dict that Python printed; any other text unchanged."""
    if _ADJACENT.search(_TEXTS.sub("''", text)):  # of an array, without commas: Python would join its texts
        return text
    import ast  # few files are such

    try:
        tree = ast.parse(text, mode="eval")
        dicts = [list(map(ast.dump, filter(None, node.keys))) for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        value = ast.literal_eval(tree)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    is_distinct = all(len(keys) == len(set(keys)) for keys in dicts)
    return value if is_distinct and isinstance(value, list | dict) else text


def read_lines_of_lists(data: bytes, skipped: Skipped) -> tuple[str, TableColumns]:
    """Return the format and the table of lines below a header; quoted cells may have line breaks, as texts have."""
    header = next(line for line in data.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#"))
    separator = decode(separator_in(header.replace(b" ", b"")) or b",")

    def refuse(line: int, problem: str, hint: str) -> None:
        skipped.add(InputError(f"{skipped.place}:{line}", problem, hint, kind="format"), line)

    pieces = iter([(1, re.sub(b"\r\n?", b"\n", data))])
    numbered = [row for row in csv_rows(pieces, separator, refuse, multiline=True) if any(map(str.strip, row[1]))]
    first = next(place for place, (_, row) in enumerate(numbered) if not row[0].startswith("#"))
    names = [name.strip() for name in numbered[first][1]]
    check_distinct(names, skipped.place)
    rows, lines = list[list[str]](), array("q")
    for line, row in numbered[first + 1 :]:
        if len(row) == len(names):
            rows.append(row)
            lines.append(line)
        else:
            refuse(line, f"{len(row)} fields, expected {len(names)} ({', '.join(names)})", "quote lists and texts")
    columns: Mapping[str, Sequence[str]] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=False))
    return ("tsv" if separator == "\t" else "csv"), TableColumns.of(
        {name: columns.get(name, []) for name in names}, lines
    )
