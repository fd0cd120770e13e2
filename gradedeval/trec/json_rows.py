"""Rows of a JSON document, or of JSON Lines, each with the line that it begins on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gradedeval.errors import InputError, ProblemList
from gradedeval.trec.json_values import read_json

Rows = list[tuple[int, Mapping[str, Any]]]


def json_rows(text: str, place: str, needed: Sequence[str], hint: str) -> tuple[dict[str, Any], Rows]:
    """What a document says beside its `rows`, and the rows with their lines; of JSON Lines and of a list of rows, as
    pandas writes records, nothing and the rows, those of a list with their numbers.

    Raises InputError where the text is not JSON, or a row lacks a key that is needed.
    """
    problems = ProblemList(place)
    try:
        document = read_json(text)
    except json.JSONDecodeError as error:
        document = None
        if not _is_object(text.lstrip().partition("\n")[0]):
            raise _invalid(error, f"{place}:{error.lineno}", hint) from None
    is_document = isinstance(document, dict) and isinstance(document.get("rows"), list)
    if is_document:
        found = _rows_of(text, len(document["rows"]))
    elif isinstance(document, list):
        found = iter(enumerate(document, 1))  # all of them may stand on one line
    else:
        found = _lines_of(text, place, hint)
    rows = []
    for line, row in found:
        missing = [name for name in needed if not isinstance(row, dict) or name not in row]
        if missing:
            problems.add(line, f"no key '{missing[0]}'", hint)
        else:
            rows.append((line, row))
    problems.check()
    return {key: value for key, value in document.items() if key != "rows"} if is_document else {}, rows


def _is_object(text: str) -> bool:
    try:
        return isinstance(read_json(text), dict)
    except json.JSONDecodeError:
        return False


def _invalid(error: json.JSONDecodeError, place: str, hint: str) -> InputError:
    return InputError(place, f"is not valid JSON ({error.msg})", hint, kind="format")


def _rows_of(text: str, count: int) -> Iterator[tuple[int, Any]]:
    """The rows of a valid document. Within strings the quotes of '"rows"' would be escaped."""
    decoder, line, counted = json.JSONDecoder(), 1, 0
    position = text.index("[", text.index('"rows"'))
    for _ in range(count):
        position += 1
        while text[position].isspace() or text[position] == ",":
            position += 1
        line, counted = line + text.count("\n", counted, position), position
        row, position = decoder.raw_decode(text, position)
        position -= 1
        yield line, row


def _lines_of(text: str, place: str, hint: str) -> Iterator[tuple[int, Any]]:
    for line, row in enumerate(text.split("\n"), 1):
        if row.strip():
            try:
                yield line, read_json(row)
            except json.JSONDecodeError as error:
                raise _invalid(error, f"{place}:{line}", hint) from None
