"""Read small tables given by users: weights, gains, costs, probabilities, saved scores; texts and labels of topics.

Each may be compressed; have tabs, commas, semicolons or spaces between columns; have a byte order mark, a header, blank
lines and comments (lines that begin with `#`); and list ranks in any order. Topics are read from TREC topics (SGML or
XML), tables, JSON, JSON Lines as in BEIR, Parquet, Arrow, Python objects, or the package ir_datasets.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple

from gradedeval.errors import InputError, ProblemList, plural, safe_repr, shorten
from gradedeval.kernel.trec.file_formats import COLUMNS, TOPIC, find_column, plain
from gradedeval.kernel.trec.line_reader import Pieces, csv_rows, duplicate, settle_duplicates, whole_lines
from gradedeval.kernel.trec.lines import BYTE_ORDER_MARKS, decimal, decode, encode, with_point
from gradedeval.kernel.trec.stream import IR_DATASETS, Source, Stream, is_url

SPACE = " \t\r"
"""Characters stripped from cells."""


class TableRow(NamedTuple):
    """A row: column -> cell, and its line number."""

    line: int
    cells: dict[str, str]


class SmallTable:
    """The rows of a file, and their `problems`."""

    def __init__(self, place: str, usage: bool = False) -> None:
        self.place, self.problems = place, ProblemList(place, usage=usage)
        self.rows: list[TableRow] = []

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *columns: tuple[str, ...],
        hint: str,
        words: bool = False,
        usage: bool = False,
        pieces: Iterable[tuple[int, bytes]] | None = None,
    ) -> SmallTable:
        """Read a file that may have a header.

        columns  the names of the columns; more than one tuple if rows may have different numbers of columns
        hint     the expected content, for messages
        words    whether the first column holds words: then its name identifies a header; otherwise the lack of numbers
        usage    whether problems are errors of the command line (exit code 2), as for the file of a measure's parameter
        pieces   its lines as from `whole_lines`, if already read

        Raises InputError if the file cannot be read, or is empty. Rows with a wrong number of columns are `problems`.
        """
        table = cls(Source(path).place, usage)
        widths = {len(shape): shape for shape in columns}
        may_be_header, unnamed_header = True, 0
        for line, record in _records(path, pieces, widths=set(widths), usage=usage):
            cells = [cell.strip(SPACE) for cell in record]
            if cells[0].startswith("#"):
                continue
            if may_be_header and _is_header(cells, columns[0][0], words):
                may_be_header = False
                unnamed_header = 0 if _is_name(cells[0], columns[0][0]) else line
                continue
            may_be_header = False
            shape = widths.get(len(cells))
            if shape is None:
                expected = " or ".join(f"{len(shape)} ({', '.join(shape)})" for shape in columns)
                problem = f"{len(cells)} {plural(len(cells), 'field')}, expected {expected}"
                table.problems.add(line, problem, hint, kind="fields")
            else:
                table.add(line, dict(zip(shape, cells, strict=True)))
        if not table.rows and not table.problems.count:
            if unnamed_header:
                place = f"{table.place}:{unnamed_header}"
                raise InputError(place, "a number is missing", hint, kind="number", usage=usage)
            raise InputError(table.place, "is empty", hint, kind="empty", usage=usage)
        return table

    @classmethod
    def headed(
        cls, path: Any, columns: Sequence[str], hint: str, pieces: Pieces | None = None, *, multiline: bool = False
    ) -> SmallTable:
        """Read a file whose header names these columns, in any order, and perhaps others; cells stay unchanged.

        pieces     as in `read`
        multiline  as in `csv_rows`: for files written by this program

        Raises InputError if the file cannot be read, or a column is missing.
        """
        table = cls(Source(path).place)
        header: list[str] = []
        for line, cells in _records(path, pieces, multiline=multiline):
            # A row may begin with #, too, as some names of runs do.
            if cells[0].startswith("#") and len(cells) != len(header):
                continue
            if not header:
                header = cells
                if missing := [name for name in columns if name not in header]:
                    raise InputError(f"{table.place}:{line}", f"no column '{missing[0]}'", hint)
            elif len(cells) != len(header):
                problem = f"{len(cells)} {plural(len(cells), 'field')}, expected {len(header)}"
                table.problems.add(line, problem, hint, kind="fields")
            else:
                table.add(line, dict(zip(header, cells, strict=True)))
        if not header:
            raise InputError(table.place, "is empty", hint, kind="empty")
        return table

    def add(self, line: int, cells: dict[str, str]) -> None:
        """Add the row on a line."""
        self.rows.append(TableRow(line, cells))

    def number(self, row: TableRow, column: str, minimum: float = -math.inf, maximum: float = math.inf) -> float:
        """Return a cell as a finite number from `minimum` to `maximum`; nan, and a problem, for any other."""
        cell = row.cells[column]
        value = decimal(encode(cell))
        if value != value:
            point = decode(with_point(encode(cell)))
            hint = (
                "expected a finite decimal such as 12.5" if point == cell else f"write a decimal point, as in {point}"
            )
            self.problems.add(row.line, f"{column} '{cell}' is not a number", hint)
        elif not minimum <= value <= maximum:
            limits = f"from {minimum:g} to {maximum:g}" if maximum < math.inf else f"of {minimum:g} or more"
            self.problems.add(row.line, f"{column} {cell} is out of range", f"expected a number {limits}")
            value = math.nan
        return value

    def check(self, keys: Sequence[Hashable] = (), columns: Sequence[str] = ()) -> None:
        """Raise InputError if there is any problem, or if rows have the same key, which is in these columns."""
        self.problems.check()

        def repeated(position: int, first: int) -> None:
            row = self.rows[position]
            name = " of ".join(f"{column} '{row.cells[column]}'" for column in columns)
            self.problems.add(row.line, duplicate(name, self.rows[first].line), "list each once")

        settle_duplicates(keys, "error", repeated)
        self.problems.check()

    def by_rank(self, column: str, rows: Iterable[TableRow] | None = None, maximum: float = math.inf) -> list[float]:
        """Return the numbers of a column, from 0 to `maximum`, by ascending rank.

        Raises InputError unless each rank from 1 to the last has exactly one row.
        """
        values: dict[int, tuple[int, float]] = {}
        for row in self.rows if rows is None else rows:
            rank, value = self.number(row, "rank", 1), self.number(row, column, 0, maximum)
            if rank % 1 > 0:
                self.problems.add(row.line, f"rank {rank:g} is not a whole number", "ranks are 1, 2, 3, …")
            elif rank in values:
                self.problems.add(row.line, duplicate(f"rank {rank:g}", values[int(rank)][0]), "list each once")
            elif rank == rank:
                values[int(rank)] = row.line, value
        self.problems.check()
        missing = next((rank for rank in range(1, len(values) + 1) if rank not in values), None)
        if missing is not None:
            problem, hint = f"rank {missing} is missing", "list every rank from 1, in any order"
            raise InputError(self.place, problem, hint, usage=self.problems.usage)
        return [values[rank][1] for rank in sorted(values)]


def _is_header(cells: list[str], first: str, words: bool) -> bool:
    is_named = _is_name(cells[0], first) if len(cells) > 1 else cells[0].lower() == first.lower()
    return (is_named or not words) and all(math.isnan(decimal(encode(cell))) for cell in cells)


def _is_name(cell: str, column: str) -> bool:
    """Return whether a cell names a column, perhaps as other tools do."""
    return cell.lower() == column.lower() or (column in COLUMNS and find_column([cell], COLUMNS[column]) is not None)


def _records(
    path: Any,
    pieces: Iterable[tuple[int, bytes]] | None,
    *,
    widths: Collection[int] = (),
    usage: bool = False,
    multiline: bool = False,
) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each line that is not blank. Raises InputError if there is no text."""
    try:
        if pieces is not None:
            yield from _cells(iter(pieces), Source(path).place, widths, multiline)
            return
        with closing(Stream(Source(path))) as stream:
            yield from _cells(whole_lines(stream), stream.place, widths, multiline)
    except InputError as error:
        raise error.replace(usage=usage) from None


def _cells(pieces: Pieces, place: str, widths: Collection[int], multiline: bool) -> Iterator[tuple[int, list[str]]]:
    space, rows = encode(SPACE), list[bytes]()
    for start, text in pieces:
        if start == 1 and text.startswith(BYTE_ORDER_MARKS[1:]):
            raise InputError(f"{place}:1", "is UTF-16", "save the file as UTF-8", kind="format")
        text = text.removeprefix(BYTE_ORDER_MARKS[0]) if start == 1 else text
        rows = [line for line in text.split(b"\n") if line.strip(space) and not line.lstrip(space).startswith(b"#")]
        if rows:
            pieces = chain([(start, text)], pieces)
            break
    separator = _separator(rows[0], widths) if rows else None
    if separator is None:
        for start, text in pieces:
            for number, line in enumerate(text.split(b"\n"), start):
                if cells := [cell for cell in re.split(f"[{SPACE}]+", decode(line)) if cell]:
                    yield number, cells
        return

    for number, row in csv_rows(pieces, separator, _refuse_in(place), multiline=multiline):
        if any(cell.strip(SPACE) for cell in row):
            yield number, row


def _refuse_in(place: str) -> Callable[[int, str, str], None]:
    """Return a function that raises InputError for a bad line of a file."""

    def refuse(line: int, problem: str, hint: str) -> None:
        raise InputError(f"{place}:{line}", problem, hint, kind="format")

    return refuse


def _separator(line: bytes, widths: Collection[int]) -> str | None:
    """Return the column separator: a tab, a semicolon or a comma if the first line has it, else None for spaces. Tabs
    may occur among spaces, but not at the end, where a cell would be missing. With semicolons a comma may be decimal.
    """
    present = [separator for separator in (b"\t", b";", b",") if separator in line]
    fitting = [separator for separator in present if len(line.split(separator)) in widths or not widths]
    if not fitting and len(line.split()) in widths and not line.rstrip(b" \r").endswith(b"\t"):
        return None
    return next((decode(separator) for separator in (*fitting, *present)), None)


# Tables of topics: their texts and labels, as records.

Record = dict[str, Any]
"""A topic: column -> value."""

TOPIC_NAMES = ("topic", "query_id", "qid", "topic_id", "_id", "id", "number", "num", "topic_number", "query_number")
LABELED_NAMES = (*TOPIC_NAMES, *(name for name in TOPIC if name not in TOPIC_NAMES))
TEXT_NAMES = ("query", "text", "title", "question", "content", "description", "desc", "topic_text", "query_text")
"""Names of the columns of topics, of topics with labels, where a text may be the topic, and of texts; the first one
present counts."""

LABEL = "slice"
"""The column of unnamed labels."""


@dataclass(eq=False, repr=False)
class TopicTable:
    """Texts and labels of topics.

    records  topic -> its record
    """

    place: str
    records: dict[str, Record]

    def text_column(self) -> str:
        """Return the column of texts. Raises InputError if there is none."""
        if (column := _named(self.records.values(), TEXT_NAMES)) is None:
            raise _no_column(self.place, TEXT_NAMES, self.records.values())
        return column

    def columns(self, without: Collection[str] = ()) -> dict[str, dict[str, Any]]:
        """Return column -> topic -> value, without the columns of these names, in any spelling."""
        excluded, result = {plain(name) for name in without}, dict[str, dict[str, Any]]()
        for topic, record in self.records.items():
            for column, value in record.items():
                if plain(column) not in excluded and value is not None:
                    result.setdefault(column, {})[topic] = value
        return result


def topic_table(source: Any, content: Literal["queries", "slices"]) -> TopicTable | None:
    """Return the topics in a file, `ir_datasets:NAME`, a DataFrame, a dict topic -> text or label, or an iterable of
    records: dicts, namedtuples or pairs. None for any other object.

    Raises InputError if a file cannot be read, there is no column of topics, or two lines of a topic differ.
    """
    if (parsed := _records_of(source, content)) is None:
        return None
    place, records = parsed
    aliases = TOPIC_NAMES if content == "queries" else LABELED_NAMES
    if (column := _named(records, aliases)) is None:
        raise _no_column(place, aliases, records)
    topics: dict[str, Record] = {}
    for record in records:
        topic = _id(record.pop(column, None), place)
        fields = {name: None if value != value else value for name, value in record.items()}  # missing in pandas
        previous = topics.setdefault(topic, fields)
        if conflict := next((name for name in fields if previous.get(name) != fields[name]), None):
            raise InputError(place, f"two lines of topic '{topic}' differ in '{conflict}'", "list each topic once")
    return TopicTable(place, topics)


def _named(records: Iterable[Record], aliases: Sequence[str]) -> str | None:
    """Return the column of records that comes first among some aliases."""
    present = {plain(name): name for record in records for name in record}
    return next((present[plain(name)] for name in aliases if plain(name) in present), None)


def _no_column(place: str, aliases: Sequence[str], records: Iterable[Record]) -> InputError:
    names = list(dict.fromkeys(name for record in records for name in record))
    among = f" among {shorten(names)}" if names else ""
    return InputError(place, f"no column '{aliases[0]}'{among}", f"known names: {', '.join(aliases)}")


def _id(value: Any, place: str) -> str:
    """Return the id of a topic as text. Raises InputError for a value that cannot be one."""
    if isinstance(value, bytes):
        return decode(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise InputError(place, f"{safe_repr(value)} is not a topic", "give each line the number of its topic")
    return str(value).strip()


# Sources -> records.


def is_source(text: str) -> bool:
    """Return whether a text names a source to read, rather than a column."""
    is_name = text == "-" or text.startswith(IR_DATASETS) or is_url(text)
    return is_name or os.path.exists(text) or bool(os.path.dirname(text))


def _records_of(source: Any, content: str) -> tuple[str, list[Record]] | None:
    """Return the place and records of a source of "queries" or "slices"; None if its kind is unknown."""
    if isinstance(source, str) and source.startswith(IR_DATASETS):
        from gradedeval.kernel.trec.documents import ir_datasets_rows

        table = ir_datasets_rows(source, "queries")
        return source, list(_of_table(table, table.columns))
    if isinstance(source, str | os.PathLike):
        return _of_file(Source(source), content)
    if (names := getattr(source, "columns", getattr(source, "column_names", None))) is not None:
        names = [str(name) for name in getattr(source, "column_names", names)]
        return content, list(_of_table(source, names))
    if isinstance(source, Mapping):
        return content, [_of_pair(topic, value, content) for topic, value in source.items()]
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return content, [_of_row(row, content) for row in source]
    return None


def _of_table(table: Any, names: Sequence[str]) -> Iterator[Record]:
    columns = [_values(table[name]) for name in names]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def _values(column: Any) -> list[Any]:
    """Return the values of a column of any library as Python objects."""
    for method in ("to_pylist", "tolist", "to_list"):
        if callable(getattr(column, method, None)):
            return list(getattr(column, method)())
    return list(column)


def _of_pair(topic: Any, value: Any, content: str) -> Record:
    """Return the record of an item of a dict topic -> text or label, or topic -> record."""
    if isinstance(value, Mapping) or hasattr(value, "_asdict"):
        return {TOPIC_NAMES[0]: topic, **_of_row(value, content)}
    return {TOPIC_NAMES[0]: topic, (TEXT_NAMES[0] if content == "queries" else LABEL): value}


def _of_row(row: Any, content: str) -> Record:
    """Return a dict, a namedtuple, or a pair of topic and text, as a flat record; nested dicts, as the metadata of
    BEIR, are merged into it."""
    if hasattr(row, "_asdict"):
        row = row._asdict()
    if isinstance(row, Mapping):
        flat: Record = {}
        for name, value in row.items():
            flat |= {str(key): v for key, v in value.items()} if isinstance(value, Mapping) else {str(name): value}
        return flat
    if isinstance(row, Sequence) and not isinstance(row, str | bytes) and len(row) == 2:
        return _of_pair(row[0], row[1], content)
    raise InputError(content, f"{safe_repr(row)} is not a topic", "as in {'301': 'text'}, or rows with names")


def _of_file(file: Source, content: str) -> tuple[str, list[Record]]:
    with closing(Stream(file)) as stream:
        place, head = stream.place, stream.peek(1 << 12).removeprefix(BYTE_ORDER_MARKS[0]).lstrip()
        if head.startswith((b"PAR1", b"ARROW1", b"FEA1")):
            from gradedeval.kernel.trec import documents, line_reader  # few tables are such

            read = documents.read_parquet if head.startswith(b"PAR1") else documents.read_arrow
            _, table = read(stream.whole(), line_reader.Skipped(place))
            return place, list(_of_table(table, table.columns))
        data = stream.whole().removeprefix(BYTE_ORDER_MARKS[0])
    if data.startswith(BYTE_ORDER_MARKS[1:]):
        raise InputError(place, "is UTF-16", "save the file as UTF-8", kind="format")
    text = decode(data)
    if not text.strip():
        raise InputError(place, "is empty", f"expected {content} of topics", kind="empty")
    if head.startswith(b"<"):
        return place, _marked_up(text, place)
    if head.startswith((b"{", b"[")):
        return place, [_of_row(row, content) for row in _json(text, place, content)]
    return place, _rows(text, place, content)


def _json(text: str, place: str, noun: str) -> list[Any]:
    """Return the records of a JSON document or of JSON Lines."""
    from gradedeval.kernel.trec.documents import read_json

    try:
        content = read_json(text)
    except json.JSONDecodeError as whole:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        records = []
        for number, line in lines:
            try:
                records.append(read_json(line))
            except json.JSONDecodeError as error:
                position = number if records else whole.lineno
                problem = f"is not valid JSON ({(error if records else whole).msg})"
                raise InputError(f"{place}:{position}", problem, "write the file again", kind="format") from None
        return records
    if isinstance(content, Mapping):
        inner = list(content.values())
        if len(inner) == 1 and isinstance(inner[0], list):
            return inner[0]
        if plain(TEXT_NAMES[1]) in map(plain, content) and _named([dict(content)], TOPIC_NAMES):
            return [content]  # the only line of JSON Lines
        return [_of_pair(topic, value, noun) for topic, value in content.items()]
    return content if isinstance(content, list) else [content]


# Lines of text.


def _rows(text: str, place: str, content: str) -> list[Record]:
    """Return the records of lines with tabs, commas, semicolons, `topic:text`, or spaces between topic and text."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    first = next(line for line in lines if line.strip() and not line.startswith("#"))
    mark = re.match(r'\s*("[^"]*"|[^\s,;]+)\s*([,;])', first)
    separator = "\t" if "\t" in first else mark[2] if mark else ""
    if separator in (",", ";"):  # quoted cells may contain line breaks
        pieces = iter([(1, encode(re.sub("\r\n?", "\n", text)))])
        rows = [
            (number, cells)
            for number, cells in csv_rows(pieces, separator, _refuse_in(place), multiline=True)
            if any(map(str.strip, cells)) and not cells[0].startswith("#")
        ]
    else:
        numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
        with_colon = bool(_COLON.match(first))
        parts = [
            (number, line.split("\t") if separator else _cut(line, with_colon, f"{place}:{number}"))
            for number, line in numbered
        ]
        rows = [(number, [_unquoted(cell) for cell in cells]) for number, cells in parts]
    header = rows[0][1]
    aliases = {plain(name) for name in (*LABELED_NAMES, *(TEXT_NAMES[:1] if content == "queries" else ()))}
    if plain(header[0]) in aliases or any(plain(name) in map(plain, TOPIC_NAMES) for name in header):
        return [_of_cells(header, cells, f"{place}:{number}") for number, cells in rows[1:]]
    names = [TOPIC_NAMES[0], TEXT_NAMES[0] if content == "queries" else LABEL]
    if content == "slices" and len(header) > 2:
        hint = f"begin with a line such as 'topic,intent,language'; names of topics: {', '.join(LABELED_NAMES)}"
        problem = f"has no header with a column of topics, but {shorten(header)}"
        raise InputError(f"{place}:{rows[0][0]}", problem, hint, kind="format")
    joint = [(number, [cells[0], (separator or " ").join(cells[1:])]) for number, cells in rows]
    return [_of_cells(names, cells, f"{place}:{number}") for number, cells in joint]


_COLON = re.compile(r"\s*([^\s:]+):\s*(.*)")
_SPACE = re.compile(r"\s*(\S+)\s*(.*)")


def _cut(line: str, with_colon: bool, place: str) -> list[str]:
    """Split a line at the first colon or space into topic and text."""
    parts = (_COLON if with_colon else _SPACE).match(line)
    if parts is None:
        problem = "no ':' after the topic, as in the first line"
        raise InputError(place, problem, "write all lines as 'topic: text', or all as 'topic text'", kind="fields")
    return list(parts.groups())


def _of_cells(names: Sequence[str], cells: Sequence[str], place: str) -> Record:
    if len(names) != len(cells):
        problem = f"{len(cells)} {plural(len(cells), 'field')}, expected {len(names)} ({', '.join(names)})"
        raise InputError(place, problem, "quote a text that has the separator in it", kind="fields")
    return {name.strip(): cell.strip() for name, cell in zip(names, cells, strict=True)}


def _unquoted(cell: str) -> str:
    """Return a cell between tabs without the quotes added by spreadsheets; quotes within texts stay."""
    inner = cell[1:-1]
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if is_quoted else cell


# TREC topics.

_FIELD = re.compile(r"<(\w+)[^>]*>([^<]*)", re.ASCII)
_PREFIX = re.compile(r"\s*(number|topic|description|title)\s*:\s*", re.IGNORECASE)


def _marked_up(text: str, place: str) -> list[Record]:
    """Return the topics of a file in SGML, used by TREC since 1992, or in XML."""
    blocks = re.findall(r"<top>(.*?)</top>", text, re.DOTALL | re.IGNORECASE)
    if not blocks:
        return _xml(text, place)
    records = []
    for number, block in enumerate(blocks, 1):
        fields: Record = {}
        for name, content in _FIELD.findall(block):
            if (words := _PREFIX.sub("", content, count=1).strip()) and name.lower() != "top":
                fields.setdefault(name.lower(), words)
        if _named([fields], TOPIC_NAMES) is None:
            raise InputError(place, f"<top> {number} has no <num>", "as in <num> Number: 301", kind="format")
        records.append(fields)
    return records


def _xml(text: str, place: str) -> list[Record]:
    from xml.etree import ElementTree

    if "<!ENTITY" in text:  # nested entities can exhaust the memory
        raise InputError(place, "defines XML entities, which are unsupported", "write out their text", kind="format")
    try:
        root = ElementTree.fromstring(text.encode("utf-8", "replace"))
    except ElementTree.ParseError as error:
        line = error.position[0]
        problem = f"is not valid XML ({str(error).partition(':')[0]})"
        raise InputError(f"{place}:{line}", problem, "write & as &amp; and < as &lt;", kind="format") from None
    records = list(_topics_in(root))
    if not records:
        hint = 'as in <topic number="1"><query>text</query></topic>'
        raise InputError(place, "has no topic with a number and a text", hint, kind="format")
    return records


def _topics_in(element: Any) -> Iterator[Record]:
    """Yield the records of an element or of its descendants. Subtopics have numbers and texts, too, but are not
    topics."""
    if (record := _of_element(element)) is not None:
        yield record
        return
    for child in element:
        yield from _topics_in(child)


def _of_element(element: Any) -> Record | None:
    """Return the record of an element with a number and a text, as attributes or children; None for any other
    element."""
    record: Record = dict(element.attrib)
    for child in element:
        words = " ".join("".join(child.itertext()).split())
        if words and isinstance(child.tag, str):
            record.setdefault(child.tag, words)
    content = (element.text or "").strip()
    if content and not len(element):
        record.setdefault(TEXT_NAMES[0], content)
    number, text = _named([record], TOPIC_NAMES), _named([record], TEXT_NAMES)
    return record if number is not None and text is not None else None
