"""Files that a library reads whole: JSON, JSON Lines, Parquet, Arrow; LETOR; qrels of the package ir_datasets."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from gradedeval.errors import InputError
from gradedeval.trec.arrow_files import read_arrow, read_parquet
from gradedeval.trec.column_names import TOPIC, find_column
from gradedeval.trec.columns import Columns
from gradedeval.trec.json_tables import by_column, is_record, records_of_pandas
from gradedeval.trec.json_values import read_json
from gradedeval.trec.lines import BYTE_ORDER_MARKS, decode
from gradedeval.trec.skipped import Skipped
from gradedeval.trec.stream import Stream
from gradedeval.trec.whole_lines import numbered_lines

_JSON_HINT = 'expected topic -> docno -> number, or records such as {"topic": "51", "docno": "d7", …}'
_TEXT = re.compile(rb"\S")
PIECE = 1 << 18
"""Bytes of JSON Lines that become text and then columns at a time: a million dicts would take five times as much."""
_LETOR_LINE = re.compile(rb"\s*(\S+)\s+qid:(\S+)([^#]*)(?:#(.*))?")
_LETOR_DOCNO = re.compile(rb"(?<!\w)(?:docid|docno)\s*[=:]\s*(\S+)")


def read_document(format: str, stream: Stream, skipped: Skipped | None = None) -> tuple[str, Any]:
    """The format of a file and its content: a dict topic -> docno -> number, or `Columns`.

    skipped  takes bad lines; without it they are errors

    Raises InputError where the file is not of that format, or a library is missing.
    """
    skipped = skipped or Skipped(stream.place)
    if format == "letor":
        return _letor(stream, skipped)
    data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
    if not data.strip():
        raise InputError(stream.place, "is empty", f"expected {format}", kind="empty")
    return _READERS[format](data, skipped)


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


def _json(data: bytes, skipped: Skipped) -> tuple[str, Any]:
    import json

    place = skipped.place
    if _begins_with_a_value(data):
        return "jsonl", _json_lines(data, skipped)
    try:
        document = read_json(decode(data), _distinct(place))
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise _invalid(place, error.lineno, error.msg) from None
        return "jsonl", _json_lines(data, skipped)
    document = records_of_pandas(document)
    if document == []:
        raise InputError(place, "is empty", _JSON_HINT, kind="empty")
    if isinstance(document, list):
        skipped.unit = "record"
        return "json", _of_records([(range(1, len(document) + 1), document)], skipped)
    if isinstance(document, dict):
        if (columns := by_column(document, place)) is not None:
            return "json", columns
        if is_record(document):
            return "jsonl", _of_records([([1], [document])], skipped)
        nested = {topic: inner for topic, inner in document.items() if isinstance(inner, dict | list)}
        if len(nested) == len(document) or (nested and skipped.lenient):
            skipped.unit = "entry"
            for topic in document.keys() - nested.keys():
                skipped.add(InputError(place, "is not a topic"), f"topic '{topic}'")
            return "json", nested
    raise InputError(place, f"holds JSON of an unknown form ({_what(document)})", _JSON_HINT, kind="format")


def _begins_with_a_value(data: bytes) -> bool:
    """Whether the first line is JSON, and not the last: such a file has a record in each line."""
    import json

    begin = _TEXT.search(data)
    end = data.find(b"\n", begin.start() if begin else 0)
    if end < 0 or not _TEXT.search(data, end):
        return False
    try:
        read_json(decode(data[:end]))
    except json.JSONDecodeError:
        return False
    return True


def _json_lines(data: bytes, skipped: Skipped) -> Columns:
    return _of_records(_pieces(data, skipped), skipped)


def _pieces(data: bytes, skipped: Skipped) -> Iterator[tuple[list[int], list[Any]]]:
    """The records of some lines at a time, and their lines. Together they are decoded as one list, in half the time."""
    import json

    load = partial(read_json, of_pairs=_distinct(skipped.place))
    begin, number = 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin + PIECE)
        end = len(data) if end < 0 else end
        text = decode(data[begin:end]).split("\n")
        lines = [number + at for at, line in enumerate(text) if line and not line.isspace()]
        begin, number = end + 1, number + len(text)
        text = [line.strip() for line in text if line and not line.isspace()]
        try:
            records = load(f"[{','.join(text)}]") if all(line[0] == "{" and line[-1] == "}" for line in text) else []
        except (InputError, json.JSONDecodeError):
            records = []
        if len(records) == len(lines):
            yield lines, records
        else:
            for line, one in zip(lines, text, strict=True):
                yield from _one(load, line, one, skipped)


def _one(load: Callable[[str], Any], line: int, text: str, skipped: Skipped) -> Iterator[tuple[list[int], list[Any]]]:
    """The record of a line, unless it is bad."""
    import json

    try:
        yield [line], [load(text)]
    except InputError as error:
        skipped.add(error.replace(place=f"{skipped.place}:{line}"), line)
    except json.JSONDecodeError as error:
        skipped.add(_invalid(skipped.place, line, error.msg), line)


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


def _of_records(pieces: Iterable[tuple[Sequence[int], list[Any]]], skipped: Skipped) -> Columns:
    """The columns of records, which come in pieces with their lines."""
    columns = dict[str, list[Any]]()
    topics = dict[str, str]()  # one text for all the lines that have it
    shapes: set[tuple[str, ...] | None] = set()  # of which there are few
    lines = array("q")
    for numbers, records in pieces:
        if not shapes.issuperset(map(_shape, records)):
            numbers, records = _checked(numbers, records, skipped)
            new_shapes = dict.fromkeys(map(_shape, records))  # in the order of the file
            shapes.update(new_shapes)
            for name in (name for shape in new_shapes for name in shape or ()):
                columns.setdefault(name, [None] * len(lines))
        of_topic = find_column(columns, TOPIC)
        for name, values in columns.items():
            new = [record.get(name) for record in records]
            if name == of_topic:
                new = [topics.setdefault(value, value) if type(value) is str else value for value in new]
            values += new
        lines.extend(numbers)
    if not lines:
        raise InputError(skipped.place, f"no records ({skipped.count} bad skipped)", _JSON_HINT, kind="empty")
    return Columns.of(columns, lines)


def _shape(record: Any) -> tuple[str, ...] | None:
    return tuple(record) if isinstance(record, dict) else None


def _checked(lines: Sequence[int], records: list[Any], skipped: Skipped) -> tuple[list[int], list[dict[str, Any]]]:
    """Those records that have a topic and a docno."""
    good: list[tuple[int, dict[str, Any]]] = []
    for line, record in zip(lines, records, strict=True):
        if isinstance(record, dict) and is_record(record):
            good.append((line, record))
        else:
            what = f"no record with a topic and a docno: {_what(record)}"
            error = InputError(f"{skipped.place}:{line}", what, _JSON_HINT, kind="format")
            skipped.add(error, line)
    return [line for line, _ in good], [record for _, record in good]


def _what(value: Any) -> str:
    if isinstance(value, dict):
        return f"object of {', '.join(map(str, list(value)[:5])) or 'nothing'}"
    words = {"list": "list", "str": "text", "bool": "true or false", "NoneType": "null"}
    return words.get(type(value).__name__, "number")


# LETOR


def _letor(stream: Stream, skipped: Skipped) -> tuple[str, Columns]:
    topics, docnos, grades, lines = [], [], [], array("q")
    for number, line in numbered_lines(stream):
        line = line.removeprefix(BYTE_ORDER_MARKS[0]) if number == 1 else line
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        found = _LETOR_LINE.fullmatch(line.rstrip(b"\r\n"))
        named = _LETOR_DOCNO.search(found[4] or b"") if found else None
        words = (found[4] or b"").split() if found else []
        if found is None or not (named or words):
            what = ("no line of LETOR", "expected 'label qid:… features # docid'")
            hint = "runs name documents by docid; rows without any are for evaluate_arrays in Python"
            what = what if found is None else ("no docid behind #", hint)
            kind = "" if found is None else "fields"
            skipped.add(InputError(f"{skipped.place}:{number}", *what, kind=kind), number)
            continue
        topics.append(found[2])
        docnos.append(named[1] if named else words[0])
        grades.append(_label(found[1]))
        lines.append(number)
    if not lines and not skipped.count:
        raise InputError(skipped.place, "is empty", "expected letor", kind="empty")
    return "letor", Columns.of({"topic": topics, "docno": docnos, "grade": grades}, lines)


def _label(token: bytes) -> float | str:
    try:
        return float(token)
    except ValueError:
        return decode(token)


_READERS: dict[str, Callable[[bytes, Skipped], tuple[str, Any]]] = {
    "json": _json,
    "jsonl": _json,
    "parquet": read_parquet,
    "arrow": read_arrow,
}
