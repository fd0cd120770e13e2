"""Files that a library reads whole: JSON, JSON Lines, Parquet, Arrow; LETOR; qrels of the package ir_datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gradedeval.errors import InputError
from gradedeval.trec.column_names import DOCNO, TOPIC, find_column
from gradedeval.trec.columns import Columns
from gradedeval.trec.lines import BYTE_ORDER_MARKS, decode

_JSON_HINT = 'expected topic -> docno -> number, or records such as {"topic": "51", "docno": "d7", …}'
_LETOR_LINE = re.compile(rb"\s*(\S+)\s+qid:(\S+)([^#]*)(?:#(.*))?")
_LETOR_DOCNO = re.compile(rb"(?<!\w)(?:docid|docno)\s*[=:]\s*(\S+)")


def read_document(format: str, data: bytes, place: str) -> tuple[str, Any]:
    """The format of a file and its content: a dict topic -> docno -> number, or `Columns`.

    Raises InputError where the file is not of that format, or a library is missing.
    """
    data = data.removeprefix(BYTE_ORDER_MARKS[0])
    if not data.strip():
        raise InputError(place, "is empty", f"expected {format}", kind="empty")
    return _READERS[format](data, place)


def ir_datasets_qrels(place: str) -> Columns:
    """The judgments of `ir_datasets:NAME`.

    Raises InputError where the package is missing, and with the package's own message where it has no such qrels or
    cannot download them.
    """
    try:
        import ir_datasets
    except ImportError:
        raise InputError(place, "needs the package ir_datasets", "pip install ir_datasets") from None
    import logging

    disabled = logging.root.manager.disable
    try:
        logging.disable(logging.WARNING)  # it says at length what the error says as well
        rows = list(ir_datasets.load(place.partition(":")[2]).qrels_iter())
    except KeyError:
        raise InputError(place, "ir_datasets knows no such data", "its site lists the names") from None
    except Exception as error:  # of the network, of files, of what is to be downloaded by hand
        what = str(error.args[0] if error.args else type(error).__name__).strip().partition("\n")[0]
        raise InputError(place, f"ir_datasets says: {what}", "try it with the package, or give a file") from None
    finally:
        logging.disable(disabled)
    names = rows[0]._fields if rows else ()
    return Columns.of({field: [getattr(row, field) for row in rows] for field in names})


# JSON


def _json(data: bytes, place: str) -> tuple[str, Any]:
    import json

    text = decode(data)
    try:
        document = json.loads(text, object_pairs_hook=_distinct(place))
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _invalid(place, error.lineno, error.msg) from None
        return "jsonl", _json_lines(text, place)
    except RecursionError:
        raise InputError(place, "is nested too deeply", _JSON_HINT, kind="format") from None
    if isinstance(document, dict) and (columns := _by_column(document, place)) is not None:
        return "json", columns
    if isinstance(document, dict) and _is_record(document):
        return "jsonl", _of_records([document], [1], place)
    if document == []:
        raise InputError(place, "is empty", _JSON_HINT, kind="empty")
    if isinstance(document, list):
        return "json", _of_records(document, range(1, len(document) + 1), place)
    if isinstance(document, dict) and all(isinstance(inner, dict | list) for inner in document.values()):
        return "json", document
    raise InputError(place, f"holds JSON of an unknown form ({_what(document)})", _JSON_HINT, kind="format")


def _json_lines(text: str, place: str) -> Columns:
    import json

    records, lines = [], []
    decode_line = json.JSONDecoder(object_pairs_hook=_distinct(place)).decode
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(decode_line(line))
            except InputError as error:
                raise error.replace(place=f"{place}:{number}") from None
            except (json.JSONDecodeError, RecursionError) as error:
                raise _invalid(place, number, getattr(error, "msg", "nested too deeply")) from None
            lines.append(number)
    return _of_records(records, lines, place)


def _distinct(place: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """Makes a dict of the pairs of a JSON object. Raises InputError where a name occurs twice: JSON would keep the last
    without a word."""

    def of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(pairs)
        if len(known) < len(pairs):
            names = [name for name, _ in pairs]
            again = next(name for position, name in enumerate(names) if name in names[:position])
            raise InputError(place, f"duplicate name '{again}' in a JSON object", "give each name once", kind="format")
        return known

    return of_pairs


def _invalid(place: str, line: int, what: str) -> InputError:
    return InputError(f"{place}:{line}", f"is not valid JSON ({what})", "write the file again", kind="format")


def _is_record(document: Mapping[str, Any]) -> bool:
    return find_column(document, TOPIC) is not None and find_column(document, DOCNO) is not None


def _of_records(records: Iterable[Any], lines: Sequence[int], place: str) -> Columns:
    records = list(records)
    shapes: set[tuple[str, ...]] = set()  # of which there are few
    for line, record in zip(lines, records, strict=True):
        if isinstance(record, dict) and tuple(record) in shapes:
            continue
        if isinstance(record, dict) and _is_record(record):
            shapes.add(tuple(record))
        else:
            what = f"no record with a topic and a docno: {_what(record)}"
            raise InputError(f"{place}:{line}", what, _JSON_HINT, kind="format")
    names = dict.fromkeys(name for record in records for name in record)
    return Columns.of({name: [record.get(name) for record in records] for name in names}, lines)


def _by_column(document: dict[str, Any], place: str) -> Columns | None:
    """The table of an object column -> values, as `DataFrame.to_json` writes it: lists, or index -> value."""
    if not _is_record(document) or not all(isinstance(values, dict | list) for values in document.values()):
        return None
    columns = {name: list(values.values() if isinstance(values, dict) else values) for name, values in document.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise InputError(place, "columns of different lengths", "give each row a value in each", kind="format")
    return Columns.of(columns)


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return f"object of {', '.join(map(str, list(value)[:5])) or 'nothing'}"
    words = {"list": "list", "str": "text", "bool": "true or false", "NoneType": "null"}
    return words.get(type(value).__name__, "number")


# Parquet and Arrow


def _parquet(data: bytes, place: str) -> tuple[str, Columns]:
    def read(pa: Any, source: Any) -> Any:
        import pyarrow.parquet

        return pyarrow.parquet.read_table(source)

    return "parquet", _table(read, data, place, "a Parquet file")


def _arrow(data: bytes, place: str) -> tuple[str, Columns]:
    def read(pa: Any, source: Any) -> Any:
        import pyarrow.feather

        is_stream = data.startswith(b"\xff\xff\xff\xff")
        return pa.ipc.open_stream(source).read_all() if is_stream else pyarrow.feather.read_table(source)

    return "arrow", _table(read, data, place, "an Arrow file")


def _table(read: Callable[[Any, Any], Any], data: bytes, place: str, what: str) -> Columns:
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(place, f"is {what}", "pip install 'gradedeval[parquet]'") from None
    try:
        table = read(pa, pa.BufferReader(data))
        return Columns.of({name: table.column(name).to_pylist() for name in table.column_names})
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise InputError(place, f"begins like {what} and is none", "write the file again", kind="format") from None


# LETOR


def _letor(data: bytes, place: str) -> tuple[str, Columns]:
    topics, docnos, grades, lines = [], [], [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        found = _LETOR_LINE.fullmatch(line.rstrip(b"\r"))
        if found is None:
            raise InputError(f"{place}:{number}", "no line of LETOR", "expected 'label qid:… features # docid'")
        label, topic, _, comment = found.groups()
        named = _LETOR_DOCNO.search(comment or b"")
        words = (comment or b"").split()
        if not named and not words:
            hint = "runs name documents by docid; rows without any are for evaluate_arrays in Python"
            raise InputError(f"{place}:{number}", "no docid behind #", hint, kind="fields")
        topics.append(topic)
        docnos.append(named[1] if named else words[0])
        grades.append(_label(label))
        lines.append(number)
    return "letor", Columns.of({"topic": topics, "docno": docnos, "grade": grades}, lines)


def _label(token: bytes) -> float | str:
    try:
        return float(token)
    except ValueError:
        return decode(token)


_READERS: dict[str, Callable[[bytes, str], tuple[str, Any]]] = {
    "json": _json,
    "jsonl": _json,
    "parquet": _parquet,
    "arrow": _arrow,
    "letor": _letor,
}
