"""A click log as blocks of columns: of lines between tabs, of JSON Lines, or of a DataFrame."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gradedeval.errors import InputError, ProblemList, did_you_mean, plural, shorten
from gradedeval.rankings.objects import refuse, table
from gradedeval.trec.lines import BYTE_ORDER_MARKS, check_text, decode, encode
from gradedeval.trec.small_tables import SmallTable, TableRow, headed_table
from gradedeval.trec.source import Source, is_file
from gradedeval.trec.stream import Stream

NEEDED = ("topic", "clicks")
COLUMNS = (*NEEDED, "shown", "user", "session", "time", "count")
"""The columns that have a meaning; any other is kept where it is asked for."""

EXPECTED = "expected a header such as topic, clicks, shown between tabs, or JSON Lines with these keys"
MARK = BYTE_ORDER_MARKS[0]
SIZE = 1 << 22
"""Bytes that are read at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Some lines of a log.

    lines    the number of each
    columns  the columns that are wanted and there: the value of each line, nothing for one that a JSON line lacks
    """

    lines: Sequence[int]
    columns: Mapping[str, Sequence[bytes]]


def file_blocks(source: Source, wanted: Collection[str], problems: ProblemList, notes: list[str]) -> Iterator[Block]:
    """A file in blocks; the lines that cannot be taken apart are problems.

    wanted  the columns beside those that every log has
    notes   gets what is skipped

    Raises InputError where it cannot be read, or lacks a column.
    """
    with closing(Stream(source)) as stream:
        if stream.peek(len(MARK)) == MARK:
            stream.read_into(memoryview(bytearray(len(MARK))))
            notes.append(f"{source.place}: starts with a byte order mark, which is skipped")
        if stream.peek(64).lstrip()[:1] == b"{":
            yield from _json_blocks(stream, wanted, problems)
        else:
            yield from _tab_blocks(stream, wanted, problems)


def _pieces(stream: Stream, problems: ProblemList) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines of the stream, in pieces, and the number of the first; a line with bytes that no text holds is
    blank, and a problem."""
    number, rest = 1, b""
    buffer = bytearray(SIZE)
    while size := stream.read_into(memoryview(buffer)):
        whole, newline, rest_of = bytes(memoryview(buffer)[:size]).rpartition(b"\n")
        if not newline:
            rest += rest_of
            continue
        lines = _text_lines(rest + whole, number, problems)
        yield number, lines
        number, rest = number + len(lines), rest_of
    if rest:
        yield number, _text_lines(rest, number, problems)


def _text_lines(data: bytes, number: int, problems: ProblemList) -> list[bytes]:
    if number == 1:
        check_text(data[:4], problems.place)  # the header, or no text at all
    lines = data.split(b"\n")
    if b"\r" in data:
        lines = [line.removesuffix(b"\r") for line in lines]
    try:
        check_text(data, problems.place, number)
    except InputError:
        for index, line in enumerate(lines):
            try:
                check_text(line, problems.place, number + index)
            except InputError as error:
                problems.add(number + index, error.problem, error.hint, error.kind)
                lines[index] = b""
    return lines


def _tab_blocks(stream: Stream, wanted: Collection[str], problems: ProblemList) -> Iterator[Block]:
    names: list[str] = []
    width, chosen = 0, {}
    for number, lines in _pieces(stream, problems):
        rows, numbers = [line.split(b"\t") for line in lines], range(number, number + len(lines))
        if not names:
            header = next((index for index, line in enumerate(lines) if line.strip()), None)
            if header is None:
                continue
            names = [decode(cell.strip()) for cell in rows[header]]
            check_header(names, wanted, f"{problems.place}:{number + header}")
            width, chosen = len(names), {name: names.index(name) for name in (*COLUMNS, *wanted) if name in names}
            rows, numbers = rows[header + 1 :], numbers[header + 1 :]
        yield _tab_block(numbers, rows, width, chosen, names, problems)


def _tab_block(
    numbers: Sequence[int],
    rows: list[list[bytes]],
    width: int,
    chosen: dict[str, int],
    names: list[str],
    problems: ProblemList,
) -> Block:
    if any(len(row) != width for row in rows):
        kept = []
        for number, row in zip(numbers, rows, strict=True):
            if len(row) == width:
                kept.append((number, row))
            elif any(row) and not row[0].startswith(b"#"):
                what = f"{len(row)} {plural(len(row), 'field')}, expected {width} ({shorten(names, 8)})"
                problems.add(number, what, "separate the fields of the header by one tab each", "fields")
        numbers, rows = [number for number, _ in kept], [row for _, row in kept]
    columns = list(zip(*rows, strict=True)) or [()] * width
    return Block(numbers, {name: columns[index] for name, index in chosen.items()})


def check_header(names: Sequence[str], wanted: Collection[str], place: str) -> None:
    """Raise InputError where a column that is needed or `wanted` is missing, or one is there twice."""
    for name in (*NEEDED, *wanted):
        if name not in names:
            if name in NEEDED and len(names) == 1 and "," in names[0]:
                raise InputError(
                    place, "the header has commas, and no tab", "separate the fields by tabs", kind="fields"
                )
            what = "no column 'topic' in the header" if not set(names) & set(COLUMNS) else f"no column '{name}'"
            hint = EXPECTED if name in NEEDED else did_you_mean(name, names) or f"there are {shorten(names, 10)}"
            raise InputError(place, what, hint, kind="fields")
        if list(names).count(name) > 1:
            raise InputError(place, f"two columns '{name}'", "give each column a name of its own", kind="fields")


def _json_blocks(stream: Stream, wanted: Collection[str], problems: ProblemList) -> Iterator[Block]:
    import json  # few logs are

    seen: set[str] = set()
    for number, lines in _pieces(stream, problems):
        rows: list[tuple[int, Mapping[str, Any]]] = []
        for index, line in enumerate(lines, number):
            if not line.strip():
                continue
            try:
                row = json.loads(decode(line))
            except (ValueError, RecursionError) as error:
                what = f"is not valid JSON ({getattr(error, 'msg', 'nested too deep')})"
                problems.add(index, what, "write an object a line", "format")
                continue
            missing = [name for name in NEEDED if not isinstance(row, dict) or name not in row]
            if missing:
                problems.add(index, f"no key '{missing[0]}'", "every line needs topic and clicks", "fields")
            else:
                rows.append((index, row))
                seen |= row.keys()
        yield _value_block(rows, wanted, problems)
    for name in wanted:
        if name not in seen and seen:
            hint = did_you_mean(name, seen) or f"there are {shorten(sorted(seen), 10)}"
            raise InputError(problems.place, f"no key '{name}'", hint, kind="fields")


def _value_block(
    rows: Sequence[tuple[int, Mapping[str, Any]]], wanted: Collection[str], problems: ProblemList
) -> Block:
    """Rows of values as columns of text; a value that a log cannot hold is a problem of its row."""
    names = [name for name in (*COLUMNS, *wanted) if any(name in row for _, row in rows)]
    numbers, columns = [], []
    for number, row in rows:
        try:
            columns.append([_text(name, row.get(name)) for name in names])
            numbers.append(number)
        except InputError as error:
            problems.add(number, error.problem, error.hint)
    transposed = list(zip(*columns, strict=True)) or [()] * len(names)
    return Block(numbers, dict(zip(names, transposed, strict=True)))


LISTS = ("clicks", "shown", "list_a", "list_b")
"""The columns whose values may be lists."""


def _text(name: str, value: Any) -> bytes:
    """A value as it would stand between tabs. Raises InputError where it cannot."""
    if _is_missing(value):
        return b""
    if name in LISTS and not isinstance(value, str | bytes):
        if not hasattr(value, "__iter__") or isinstance(value, Mapping):
            return _word(name, value)  # one rank
        words = [_word(name, word) for word in value]
        if any(len(word.split()) != 1 for word in words):
            raise InputError("", f"a blank inside one of {name}, or nothing", "give ids without blanks")
        return b" ".join(words)
    return _word(name, value)


def _is_missing(value: Any) -> bool:
    """Whether it is None, nan or the NA of pandas."""
    if value is None or hasattr(value, "__iter__"):
        return value is None
    try:
        return bool(value != value)
    except TypeError:  # NA is neither
        return True


def _word(name: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | list | dict | set | tuple):
        raise InputError("", f"{name} is a {type(value).__name__}", "give text or numbers")
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    try:
        return encode(text)
    except UnicodeEncodeError:
        raise InputError("", f"{name} {text!r} is not valid text", "use characters that UTF-8 can encode") from None


def small_table_of(source: Any, needed: Sequence[str], place: str, hint: str) -> SmallTable:
    """A small file with a header, or a DataFrame as what a file of its columns is; rows of that are counted from 1.
    Raises InputError where it lacks a column."""
    if is_file(source):
        return headed_table(source, needed, hint)
    if (frame := table(source, place, place)) is None:
        refuse(source, place, place)
    found = SmallTable(place)
    for name in needed:
        if name not in frame.columns:
            raise InputError(place, f"no column '{name}'", hint, kind="fields")
    names = [str(name) for name in frame.columns]
    for number, row in enumerate(zip(*(frame[name].tolist() for name in frame.columns), strict=True), 1):
        try:
            cells = {name: decode(_text(name, value)) for name, value in zip(names, row, strict=True)}
            found.rows.append(TableRow(number, cells))
        except InputError as error:
            found.problems.add(number, error.problem, error.hint)
    return found


def frame_blocks(frame: Any, wanted: Collection[str], problems: ProblemList) -> Iterator[Block]:
    """A DataFrame in one block; rows are counted from 1. Raises InputError where it lacks a column."""
    names = [str(name) for name in frame.columns]
    check_header(names, wanted, problems.place)
    chosen = [name for name in (*COLUMNS, *wanted) if name in names]
    columns = [frame[name].tolist() for name in chosen]
    rows = [dict(zip(chosen, row, strict=True)) for row in zip(*columns, strict=True)]
    yield _value_block(list(enumerate(rows, 1)), wanted, problems)
