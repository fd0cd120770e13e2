"""Read whole files through libraries: JSON, JSON Lines, Parquet, Arrow; LETOR; qrels of the package ir_datasets."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any, Literal, TypeVar

from gradedeval.errors import InputError, ProblemList, plural
from gradedeval.kernel.trec import file_formats
from gradedeval.kernel.trec.decompression import check_growth
from gradedeval.kernel.trec.file_formats import DOCNO, GRADE, RANK, SCORE, TOPIC, TableColumns
from gradedeval.kernel.trec.line_reader import Skipped, numbered_lines
from gradedeval.kernel.trec.lines import (
    BYTE_ORDER_MARKS,
    HEADER,
    LONGEST,
    PAIRS,
    LineLayout,
    WholeFile,
    decode,
    separator_in,
)
from gradedeval.kernel.trec.records import (
    Numbered,
    find_shape,
    has_lists_alone,
    listed_kinds,
    nearest,
    read_lines_of_lists,
    read_shape,
    read_table_of_lists,
    refuse_duplicates,
)
from gradedeval.kernel.trec.shapes import BOTH, SHAPE_NAMES, SHAPES, Shape
from gradedeval.kernel.trec.stream import Source, Stream

# Parquet and Arrow files, from which only requested columns are read.

Value = TypeVar("Value")

ROW = 24
"""Minimum bytes of memory for a row: topic, docno and a number."""

Table = tuple[list[str], Callable[[str], Any], int]
"""Names of columns, a function that returns one as Arrow data, and the number of rows."""


def read_parquet(data: bytes, skipped: Skipped) -> tuple[str, TableColumns]:
    def opened(pa: Any) -> Table:
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(pa.BufferReader(data), pre_buffer=False)
        about, names = file.metadata, list(file.schema_arrow.names)
        unpacked = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        check_growth(max(unpacked, about.num_rows * ROW), len(data), skipped.place)
        # Unpack only requested columns, not the texts and vectors that may accompany them.
        return names, lambda name: file.read([name], use_threads=False).column(name), about.num_rows

    skipped.unit = "row"
    return "parquet", _table(opened, skipped.place, "a Parquet file")


def read_arrow(data: bytes, skipped: Skipped) -> tuple[str, TableColumns]:
    def opened(pa: Any) -> Table:
        source, baseline, batches = pa.BufferReader(data), pa.total_allocated_bytes(), []
        is_stream = data.startswith(b"\xff\xff\xff\xff")
        reader = pa.ipc.open_stream(source) if is_stream else pa.ipc.open_file(source)
        for batch in reader if is_stream else map(reader.get_batch, range(reader.num_record_batches)):
            check_growth(pa.total_allocated_bytes() - baseline, len(data), skipped.place)
            batch.validate()  # a column may be too short here, and too long in another batch
            batches.append(batch)
        table = pa.Table.from_batches(batches, reader.schema)
        return table.column_names, table.column, table.num_rows

    if data.startswith(b"FEA1"):  # the only version whose reader trusts the offsets in the file
        problem = "is a Feather file of version 1, which pyarrow cannot read safely"
        hint = "save the table as Parquet, or as Feather of version 2"
        raise InputError(skipped.place, problem, hint, kind="format")
    skipped.unit = "row"
    return "arrow", _table(opened, skipped.place, "an Arrow file")


def _table(opened: Callable[[Any], Table], place: str, description: str) -> TableColumns:
    """Return a table whose columns are read on first use, which may raise InputError, too."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(place, f"is {description}", "pip install 'gradedeval[parquet]'") from None

    def whole(load: Callable[[Any], Value], argument: Any) -> Value:
        try:
            return load(argument)
        except InputError:
            raise
        except (pa.ArrowException, OSError, ValueError, KeyError):
            problem = f"begins like {description} but cannot be read as one"
            raise InputError(place, problem, "write the file again", kind="format") from None

    from gradedeval.kernel.trec.text_columns import array_of_arrow, check_column  # few files are such

    names, values, rows = whole(opened, pa)
    file_formats.check_distinct(names, place)
    column = cache(lambda name: check_column(whole(values, name), name, rows, place))
    listed = cache(lambda name: whole(lambda name: column(name).to_pylist(), name))
    return TableColumns(names, listed, rows, array=cache(lambda name: array_of_arrow(column(name))))


# Tables in a JSON document, as written by `DataFrame.to_json`: by column, by row, or split from their names.


def of_pandas(document: Any, place: str, fields: Mapping[str, str]) -> Any:
    """Return the records or columns of a table of pandas in any orientation; any other document unchanged.

    fields  names that the user gave
    """
    if isinstance(document, dict):
        for shape in SHAPES:
            is_table = shape.layout == "table" and document.keys() >= {*shape.needs}
            if is_table and (table := _TABLES[shape.name](document, place)) is not None:
                return table
        is_named = "documents" in fields and document.keys() >= {*fields.values()}
        if (is_named or file_formats.kinds_of_columns(document)) and _all_are(dict, document.values()):
            return _columns(document, place)
    return document


def _of_split(document: dict[str, Any], place: str) -> list[dict[str, Any]] | None:
    names, data = document["columns"], document["data"]
    if document.keys() > {"columns", "index", "data"} or not _all_are(list, document.values()):
        return None
    distinct = _all_are(str, names) and len(set(names)) == len(names)
    if distinct and _all_are(list, data) and {len(row) for row in data} <= {len(names)}:
        return [dict(zip(names, row, strict=True)) for row in data]
    return None


def _by_row(document: dict[str, Any], place: str) -> list[Any] | None:
    rows = list(document.values())
    # With numbers only, the names could be docnos.
    are_records = _all_are(dict, rows) and all(
        file_formats.is_record(row) and str in map(type, row.values()) for row in rows
    )
    return rows if rows and are_records else None


def by_column(document: dict[str, Any], place: str) -> TableColumns | None:
    """Return the table of an object column -> values: lists, or index -> value."""
    is_table = file_formats.is_record(document) and all(isinstance(values, dict | list) for values in document.values())
    return _columns(document, place) if is_table else None


def _columns(document: dict[str, Any], place: str) -> TableColumns:
    columns = {name: list(values.values() if isinstance(values, dict) else values) for name, values in document.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise InputError(place, "columns of different lengths", "give each row a value in each", kind="format")
    return TableColumns.of(columns)


_TABLES: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "split": _of_split,
    "table": lambda document, place: (
        document["data"] if len(document) == 2 and _all_are(list, [document["data"]]) else None
    ),
    "index": _by_row,
    "columns": by_column,
}
"""Name of a shape -> its reader, which returns None for a document of another shape."""


def _all_are(kind: type, values: Iterable[Any]) -> bool:
    return all(isinstance(value, kind) for value in values)


# JSON, with the limits of Python reported like syntax errors.

TOO_DEEP, TOO_LONG = "nested too deeply", "a number has too many digits"
"""Messages about valid JSON beyond the limits of Python: hundreds of nested brackets, and thousands of digits."""

# Lower bounds of Python's configurable limits: errors are located at the first position that exceeds them.
_NESTED, _DIGITS = 100, 640
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+"?|(?P<bracket>[][{}])|(?P<digits>[0-9]++)(?P<fraction>[.eE][0-9.eE+-]*+)?', re.DOTALL
)


def read_json(text: str, of_pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a text.

    of_pairs  converts the pairs of an object to a value, and may raise InputError

    Raises json.JSONDecodeError, with `msg` and `lineno`, if it is not JSON, is `TOO_DEEP` or `TOO_LONG`.
    """
    try:
        return json.loads(text, object_pairs_hook=of_pairs)
    except (json.JSONDecodeError, InputError):
        raise
    except RecursionError:
        raise json.JSONDecodeError(TOO_DEEP, text, _deep(text)) from None
    except ValueError:  # of int()
        raise json.JSONDecodeError(TOO_LONG, text, _long(text)) from None


def json_lines(stream: Stream) -> Iterator[tuple[int, Any, str]]:
    """Yield number, value and fault of each line that is not blank. The fault is the message for a number that is too
    long, or "torn" for the beginning of an object; the value may be None if the line is not an object."""
    for number, line in numbered_lines(stream, longest=None):
        value, fault = None, ""
        try:
            value = read_json(decode(line))
        except json.JSONDecodeError as error:
            if error.msg == TOO_LONG:
                fault = error.msg
            elif error.msg != TOO_DEEP and line.lstrip().startswith(b"{"):
                fault = "torn"
        yield number, value, fault


def _deep(text: str) -> int:
    """Return the position at which brackets are nested too deeply."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token["bracket"], 0)
        if depth > _NESTED:
            return token.start()
    return 0


def _long(text: str) -> int:
    """Return the position of the first integer with too many digits."""
    digits = (token for token in _TOKEN.finditer(text) if token["digits"] and not token["fraction"])
    return next((token.start() for token in digits if len(token["digits"]) > _DIGITS), 0)


_JSON_HINT = 'expected topic -> docno -> number, or records such as {"topic": "51", "docno": "d7", …}'
_TEXT = re.compile(rb"\S")
PIECE = 1 << 18
"""Bytes of JSON Lines converted at a time: a million dicts would take five times the memory."""
MOST_OF_LINE = 1 << 16
"""Maximum bytes of the first of uniform JSON Lines."""
_LETOR_LINE = re.compile(rb"\s*(\S+)\s+qid:(\S+)([^#]*)(?:#(.*))?")
_LETOR_DOCNO = re.compile(rb"(?<!\w)(?:docid|docno)\s*[=:]\s*(\S+)")


def read_document(form: WholeFile, stream: Stream, kind: str, skipped: Skipped | None = None) -> tuple[str, Any]:
    """Return the format of a file and its content: a dict topic -> docno -> number, or `TableColumns`.

    form     its format, and names that the user gave to its fields
    kind     "run" or "qrels", of a file that holds both
    skipped  collects bad lines; without it they are errors

    Raises InputError if the file does not have that format, a docno is longer than a line may be, or a library is
    missing.
    """
    skipped = skipped or Skipped(stream.place)
    if form.format == "letor":
        return _letor(stream, skipped)
    if form.format.removesuffix(HEADER) == PAIRS:
        return form.format, _pairs(stream, skipped, form.format.endswith(HEADER))
    is_json = form.format not in _READERS
    table = _uniform_lines(stream) if is_json and not form.fields else None
    if table is not None and _longest_docno(table) <= LONGEST:
        return "jsonl", table
    data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
    if not data or data.isspace():
        raise InputError(stream.place, "is empty", f"expected {form.format}", kind="empty")
    read = _READERS.get(form.format) or partial(_json, form=form, kind=kind)
    format, content = read(data, skipped)
    if form.format in _READERS:
        content = _named(content, form, kind, skipped)
    format = ",".join(f"{field}={name}" for field, name in form.fields.items()) or format
    surely_short = is_json and _has_short_texts(data)
    if not surely_short and _longest_docno(content) > LONGEST:
        problem = f"has a docno of more than {LONGEST:,} bytes"
        raise InputError(stream.place, problem, "it may be the text of a document")
    return format, content


def _has_short_texts(data: bytes) -> bool:
    """Return whether certainly no JSON text is longer than a line may be, looking at few of the bytes."""
    position = 0
    while len(data) - position > LONGEST:
        if (quote := data.rfind(b'"', position, position + LONGEST)) < 0:
            return False
        position = quote + 1
    return b"\\" not in data  # a quote within a text is escaped


def _longest_docno(content: Any) -> int:
    """Return the length of the longest docno."""
    if isinstance(content, dict):
        nested = (inner for inner in content.values() if isinstance(inner, dict | list))
        return max((_longest(inner) for inner in nested), default=0)
    if (name := file_formats.find_column(content.columns, DOCNO)) is None:
        return 0
    lengths = getattr(content.array(name), "length", None)  # of text
    if lengths is not None and (longest := int(lengths.max())) <= LONGEST:
        return longest
    return _longest(content.values(name))


def _longest(docnos: Collection[Any]) -> int:
    try:
        return max(map(len, docnos), default=0)
    except TypeError:  # some are no text
        return max((len(docno) for docno in docnos if isinstance(docno, str)), default=0)


def ir_datasets_rows(place: str, kind: Literal["qrels", "queries"], download: bool = False) -> TableColumns:
    """Return the judgments of `ir_datasets:NAME`, or its queries.

    Raises InputError if the package is missing, if a download is necessary but not allowed, and with the message of the
    package if it lacks them or cannot download them.
    """
    from gradedeval.kernel.trec.named_qrels import INSTALL, offline, suggest  # few qrels are of ir_datasets

    short = place.partition(":")[2]
    try:
        import ir_datasets
    except ImportError:
        raise InputError(place, "needs the package ir_datasets", INSTALL) from None
    import logging

    disabled = logging.root.manager.disable
    try:
        logging.disable(logging.WARNING)  # it repeats the error at length
        with offline(ir_datasets, place, kind, download):
            rows = list(getattr(ir_datasets.load(short), f"{kind}_iter")())
    except InputError:
        raise
    except KeyError:
        hint = suggest(short) or "see https://ir-datasets.com for the names"
        raise InputError(place, "unknown to ir_datasets", hint) from None
    except Exception as error:  # of the network, of files, of manual downloads
        message = str(error.args[0] if error.args else type(error).__name__).strip().partition("\n")[0]
        raise InputError(place, f"ir_datasets says: {message}", "try it with the package, or give a file") from None
    finally:
        logging.disable(disabled)
    names = rows[0]._fields if rows else ()
    return TableColumns.of({field: [getattr(row, field) for row in rows] for field in names})


# JSON


def _json(data: bytes, skipped: Skipped, form: WholeFile, kind: str) -> tuple[str, Any]:
    place, document = skipped.place, None
    has_lines = _begins_with_a_value(data)
    if not has_lines:
        try:
            document = read_json(decode(data), refuse_duplicates(place))
        except json.JSONDecodeError as error:
            rows = (line for line in data.split(b"\n", 64) if _TEXT.search(line))
            # If the second line is an object, only the first line is bad.
            if error.msg != "Extra data" and not _is_object(decode(next(islice(rows, 1, None), b""))):
                raise _invalid(place, error.lineno, error.msg) from None
            has_lines = True
    if has_lines:
        pieces = _pieces(data, skipped)
        first = next(pieces, ([], []))
        if (shape := _shape_of(first[1], form, place)) is not None:
            records = Numbered(pair for lines, rows in chain([first], pieces) for pair in zip(lines, rows, strict=True))
            return shape[0].name, read_shape(shape[0], records, kind, skipped, form.fields)
        return "jsonl", _named(_columns_of(chain([first], pieces), skipped, kind), form, kind, skipped)
    document = of_pandas(document, place, form.fields)
    if document == []:
        raise InputError(place, "is empty", _JSON_HINT, kind="empty")
    if isinstance(document, TableColumns):
        return "json", _named(document, form, kind, skipped)
    if (shape := _shape_of(document, form, place)) is not None:
        return shape[0].format or shape[0].name, read_shape(*shape, kind, skipped, form.fields)
    format, content = _of_rows_or_topics(document, skipped, kind)
    return format, _named(content, form, kind, skipped)


def _named(content: Any, form: WholeFile, kind: str, skipped: Skipped) -> Any:
    """Return a table with the names that the user gave to its columns, and a row for each document if its cells list
    them; nested dicts unchanged."""
    if not isinstance(content, TableColumns):
        return content
    if (listed := read_table_of_lists(content, kind, skipped, form.fields)) is not None:
        return listed
    return file_formats.with_fields(content, form.fields, skipped.place) if form.fields else content


def kinds_in(form: WholeFile, stream: Stream) -> str:
    """Return what a file lists by topic, as `listed_kinds`; empty for a file with a record or row for each document."""
    data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
    if form.format in _READERS:
        return file_formats.kinds_of_columns(_READERS[form.format](data, Skipped(stream.place))[1].columns)
    if form.format != "json":
        return ""
    text = data.lstrip().partition(b"\n")[0] if _begins_with_a_value(data) else data
    try:
        return listed_kinds(read_json(decode(text)))
    except json.JSONDecodeError:
        return ""


def has_both(form: WholeFile, file: str) -> bool:
    """Return whether a file that is read whole has results and judgments in each record or row."""
    with closing(Stream(Source(file))) as stream:
        if kinds := kinds_in(form, stream):
            return kinds == " ".join(BOTH)
    with closing(Stream(Source(file))) as stream:
        content = read_document(form, stream, "run")[1]
    names = content.columns if isinstance(content, TableColumns) else ()
    scores = file_formats.find_column(names, SCORE), file_formats.find_column(names, RANK)
    return scores != (None, None) and file_formats.find_column(names, GRADE) is not None


def _shape_of(document: Any, form: WholeFile, place: str) -> tuple[Shape, Any] | None:
    """Return the shape of a document that lists documents, as `find_shape`. Raises InputError if the user asked for
    another."""
    only = form.format if form.format in SHAPE_NAMES else ""
    shape = find_shape(document, form.fields, only, place)
    if only and shape is None:
        record = document[0] if isinstance(document, list) and document else document
        problem = f"is not of the shape {only} ({_describe(record)})"
        raise InputError(place, problem, f"expected {file_formats.DESCRIPTIONS[only]}", kind="format")
    return shape


def _of_rows_or_topics(document: Any, skipped: Skipped, kind: str) -> tuple[str, Any]:
    """Return the table of records, or the object topic -> documents."""
    place = skipped.place
    if isinstance(document, list):
        skipped.unit = "record"
        return "json", _columns_of([(range(1, len(document) + 1), document)], skipped, kind)
    if isinstance(document, dict):
        if file_formats.is_record(document):
            return "jsonl", _columns_of([([1], [document])], skipped, kind)
        nested = {topic: inner for topic, inner in document.items() if isinstance(inner, dict | list)}
        if not has_lists_alone(document) and (len(nested) == len(document) or (nested and skipped.lenient)):
            skipped.unit = "entry"
            for topic in document:
                if topic not in nested:
                    skipped.add(InputError(place, "is not a topic"), f"topic '{topic}'")
            return "json", nested
    hint = nearest(document, kind) if isinstance(document, dict) else ""
    problem = f"holds JSON in an unknown layout ({_describe(document)})"
    raise InputError(place, problem, hint or _JSON_HINT, kind="format")


def _begins_with_a_value(data: bytes) -> bool:
    """Return whether the first of several lines is valid JSON: such a file has one record per line."""
    begin = _TEXT.search(data)
    end = data.find(b"\n", begin.start() if begin else 0)
    if end < 0 or not _TEXT.search(data, end):
        return False
    try:
        read_json(decode(data[:end]))
    except json.JSONDecodeError:
        return False
    return True


def _uniform_lines(stream: Stream) -> TableColumns | None:
    """Return the columns of JSON Lines with a uniform format, in a tenth of the time; None for any other file."""
    line, _, following = stream.peek(MOST_OF_LINE).partition(b"\n")
    if not following or (first := _uniform_record(line)) is None:
        return None
    from gradedeval.kernel.trec.text_columns import regular_lines  # few files are such

    return regular_lines(stream, line, first)


def _uniform_record(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line that has only text and numbers, and text for topic and docno; None for any other
    line."""
    try:
        first = read_json(decode(line), refuse_duplicates(""))
    except (json.JSONDecodeError, InputError):
        return None
    if not isinstance(first, dict) or not {type(value) for value in first.values()} <= {str, int, float}:
        return None
    if not all(type(first.get(file_formats.find_column(first, names))) is str for names in (TOPIC, DOCNO)):
        return None
    return first


def _pieces(data: bytes, skipped: Skipped) -> Iterator[tuple[list[int], list[Any]]]:
    """Yield line numbers and records of some lines at a time: decoding them as one list halves the time."""
    load = partial(read_json, of_pairs=refuse_duplicates(skipped.place))
    begin, number = 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin + PIECE)
        end = len(data) if end < 0 else end
        text = decode(data[begin:end]).split("\n")
        lines = [number + i for i, line in enumerate(text) if line and not line.isspace()]
        begin, number = end + 1, number + len(text)
        text = [line.strip() for line in text if line and not line.isspace()]
        try:
            records = load(f"[{','.join(text)}]") if all(line[0] == "{" and line[-1] == "}" for line in text) else []
        except (InputError, json.JSONDecodeError):
            records = []
        if len(records) == len(lines):
            yield lines, records
        else:
            for line, record in zip(lines, text, strict=True):
                yield from _record_of(load, line, record, skipped)


def _record_of(
    load: Callable[[str], Any], line: int, text: str, skipped: Skipped
) -> Iterator[tuple[list[int], list[Any]]]:
    """Yield the record of a line, unless it is bad."""
    try:
        yield [line], [load(text)]
    except InputError as error:
        skipped.add(error.replace(place=f"{skipped.place}:{line}"), line)
    except json.JSONDecodeError as error:
        skipped.add(_invalid(skipped.place, line, error.msg), line)


def _invalid(place: str, line: int, problem: str, hint: str = "write the file again") -> InputError:
    return InputError(f"{place}:{line}", f"is not valid JSON ({problem})", hint, kind="format")


def _columns_of(pieces: Iterable[tuple[Sequence[int], list[Any]]], skipped: Skipped, kind: str) -> TableColumns:
    """Return the columns of records, which come in pieces with their lines."""
    columns = dict[str, list[Any]]()
    topics = dict[str, str]()  # interned
    shapes: set[tuple[str, ...] | None] = set()  # few are distinct
    lines = array("q")
    for numbers, records in pieces:
        if not shapes.issuperset(map(_shape, records)):
            numbers, records = _valid_records(numbers, records, skipped, kind)
            new_shapes = dict.fromkeys(map(_shape, records))  # in the order of the file
            shapes.update(new_shapes)
            for name in (name for shape in new_shapes for name in shape or ()):
                columns.setdefault(name, [None] * len(lines))
        of_topic = file_formats.find_column(columns, TOPIC)
        for name, values in columns.items():
            new = [record.get(name) for record in records]
            if name == of_topic:
                new = [topics.setdefault(value, value) if type(value) is str else value for value in new]
            values += new
        lines.extend(numbers)
    if not lines:
        raise InputError(skipped.place, f"no records ({skipped.count} bad skipped)", _JSON_HINT, kind="empty")
    return TableColumns.of(columns, lines)


def _shape(record: Any) -> tuple[str, ...] | None:
    return tuple(record) if isinstance(record, dict) else None


def _valid_records(
    lines: Sequence[int], records: list[Any], skipped: Skipped, kind: str
) -> tuple[list[int], list[dict[str, Any]]]:
    """Return the records with a topic and a docno, and their lines."""
    good: list[tuple[int, dict[str, Any]]] = []
    for line, record in zip(lines, records, strict=True):
        if isinstance(record, dict) and file_formats.is_record(record):
            good.append((line, record))
        else:
            problem = f"not a record with a topic and a docno: {_describe(record)}"
            hint = nearest(record, kind) if isinstance(record, dict) else ""
            error = InputError(f"{skipped.place}:{line}", problem, hint or _JSON_HINT, kind="format")
            skipped.add(error, line)
    return [line for line, _ in good], [record for _, record in good]


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        return f"object of {', '.join(map(str, list(value)[:5])) or 'nothing'}"
    words = {"list": "list", "str": "text", "bool": "true or false", "NoneType": "null"}
    return words.get(type(value).__name__, "number")


# LETOR


def _letor(stream: Stream, skipped: Skipped) -> tuple[str, TableColumns]:
    topics, docnos, grades, lines = [], [], [], array("q")
    for number, line in numbered_lines(stream):
        line = line.removeprefix(BYTE_ORDER_MARKS[0]) if number == 1 else line
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        match = _LETOR_LINE.fullmatch(line.rstrip(b"\r\n"))
        docno = _LETOR_DOCNO.search(match[4] or b"") if match else None
        words = (match[4] or b"").split() if match else []
        if match is None or not (docno or words):
            problem = ("not a LETOR line", "expected 'label qid:… features # docid'")
            hint = "runs name documents by docid; rows without any are for evaluate_arrays in Python"
            problem = problem if match is None else ("no docid after #", hint)
            kind = "" if match is None else "fields"
            skipped.add(InputError(f"{skipped.place}:{number}", *problem, kind=kind), number)
            continue
        topics.append(match[2])
        docnos.append(docno[1] if docno else words[0])
        grades.append(_label(match[1]))
        lines.append(number)
    if not lines and not skipped.count:
        raise InputError(skipped.place, "is empty", "expected letor", kind="empty")
    return "letor", TableColumns.of({"topic": topics, "docno": docnos, "grade": grades}, lines)


def _pairs(stream: Stream, skipped: Skipped, has_header: bool) -> TableColumns:
    """Return the topics and docnos of lines with both; `has_header`: whether the first is to be skipped."""
    topics, docnos, lines = [], [], array("q")
    separator: bytes | None = None
    layout = LineLayout(PAIRS, ("topic", "docno"))
    is_first = True
    for number, line in numbered_lines(stream):
        line = line.removeprefix(BYTE_ORDER_MARKS[0]) if number == 1 else line
        if not line.strip() or line.startswith(b"#"):
            continue
        if is_first:
            separator = separator_in(line)
            layout = replace(layout, separator=separator)
            is_first = False
            names = [decode(field) for field in layout.split(line)]
            if has_header or None not in (
                file_formats.find_column(names[:1], TOPIC),
                file_formats.find_column(names[1:], DOCNO),
            ):
                continue
        fields = layout.split(line)
        if len(fields) == 2 and all(fields):
            topics.append(decode(fields[0]))
            docnos.append(decode(fields[1]))
            lines.append(number)
        else:
            problem = f"{len(fields)} {plural(len(fields), 'field')}, expected 2 ({layout.words})"
            hint = "use the fields of the first line"
            skipped.add(InputError(f"{skipped.place}:{number}", problem, hint, kind="fields"), number)
    if not lines:
        raise InputError(skipped.place, "no judgments", f"expected lines of {layout.words}", kind="empty")
    return TableColumns.of({"topic": topics, "docno": docnos}, lines)


def _label(token: bytes) -> float | str:
    try:
        return float(token)
    except ValueError:
        return decode(token)


_READERS: dict[str, Callable[[bytes, Skipped], tuple[str, Any]]] = {
    "parquet": read_parquet,
    "arrow": read_arrow,
    "csv": read_lines_of_lists,
    "tsv": read_lines_of_lists,
}


# Rows of a JSON document, or of JSON Lines, with their line numbers.

Rows = list[tuple[int, Mapping[str, Any]]]


def json_rows(text: str, place: str, needed: Sequence[str], hint: str) -> tuple[dict[str, Any], Rows]:
    """Return the values of a document other than `rows`, and the rows with their lines. JSON Lines and lists of rows,
    as pandas writes records, have no other values; rows of a list are numbered from 1.

    Raises InputError if the text is not JSON, or a row lacks a needed key.
    """
    problems = ProblemList(place)
    try:
        document = read_json(text)
    except json.JSONDecodeError as error:
        document = None
        if not _is_object(text.lstrip().partition("\n")[0]):
            raise _invalid(place, error.lineno, error.msg, hint) from None
    is_document = isinstance(document, dict) and isinstance(document.get("rows"), list)
    if is_document:
        pairs = _rows_of(text, len(document["rows"]))
    elif isinstance(document, list):
        pairs = iter(enumerate(document, 1))  # they may all be on one line
    else:
        pairs = _lines_of(text, place, hint)
    rows = []
    for line, row in pairs:
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


def _rows_of(text: str, count: int) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a valid document with their lines. Within strings the quotes of '"rows"' would be escaped."""
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
                raise _invalid(place, line, error.msg, hint) from None
