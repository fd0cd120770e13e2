"""Tables in a JSON document, as `DataFrame.to_json` writes them: by column, by row, or apart from their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradedeval.errors import InputError
from gradedeval.trec.column_names import DOCNO, TOPIC, find_column
from gradedeval.trec.columns import Columns


def is_record(document: Mapping[str, Any]) -> bool:
    """Whether the names of an object are those of a topic and a docno."""
    return find_column(document, TOPIC) is not None and find_column(document, DOCNO) is not None


def by_column(document: dict[str, Any], place: str) -> Columns | None:
    """The table of an object column -> values, as `DataFrame.to_json` writes it: lists, or index -> value."""
    if not is_record(document) or not all(isinstance(values, dict | list) for values in document.values()):
        return None
    columns = {name: list(values.values() if isinstance(values, dict) else values) for name, values in document.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise InputError(place, "columns of different lengths", "give each row a value in each", kind="format")
    return Columns.of(columns)


def records_of_pandas(document: Any) -> Any:
    """The records of a table of orient split, table or index; any other document as it is."""
    if not isinstance(document, dict):
        return document
    rows = list(document.values())
    if {"columns", "data"} <= document.keys() <= {"columns", "index", "data"} and _are(list, rows):
        names, data = document["columns"], document["data"]
        distinct = _are(str, names) and len(set(names)) == len(names)
        if distinct and _are(list, data) and {len(row) for row in data} <= {len(names)}:
            return [dict(zip(names, row, strict=True)) for row in data]
    if document.keys() == {"schema", "data"} and isinstance(document["data"], list):
        return document["data"]
    # Beside numbers alone, the names could be docnos.
    are_records = _are(dict, rows) and all(is_record(row) and str in map(type, row.values()) for row in rows)
    return rows if rows and are_records else document


def _are(kind: type, values: list[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)
