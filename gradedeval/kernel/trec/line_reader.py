"""Read files line by line: the reference for the block reader, and the source of error messages about lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from gradedeval.errors import Flag, InputError, ProblemList, flag, plural
from gradedeval.kernel.trec.lines import (
    BYTE_ORDER_MARKS,
    LONGEST,
    QRELS,
    RUN,
    STRATA,
    LineLayout,
    decimal,
    decode,
    encode,
    long_line,
    with_point,
)

if TYPE_CHECKING:
    from gradedeval.kernel.trec.stream import Stream

SIZE = 1 << 20
"""Bytes read at a time."""

Pieces = Iterator[tuple[int, bytes]]
"""The number of the first line of each piece, and its bytes, without the final line end."""


def whole_lines(stream: Stream, *, longest: int | None = LONGEST, skip: int = 0) -> Pieces:
    """Yield the stream from its beginning in pieces of about SIZE bytes, without pieces that are entirely blank.

    longest  maximum bytes of a line; None: any number
    skip     bytes to skip, whose lines count

    Raises InputError for a longer line.
    """
    stream.again()
    number, pending, rest = 1, 0, list[bytes]()  # `rest` begins an incomplete line of `pending` bytes
    buffer = memoryview(bytearray(SIZE))
    while skip > 0 and (size := stream.read_into(buffer[:skip])):
        number, skip = number + bytes(buffer[:size]).count(b"\n"), skip - size
    while size := stream.read_into(buffer):
        data = bytes(buffer[:size])
        cut = data.rfind(b"\n")
        if cut >= 0:
            text = b"".join([*rest, data[:cut]])
            if longest is not None and (begin := long_line(memoryview(text), 0, len(text), longest)) is not None:
                number += text.count(b"\n", 0, begin)
                raise too_long(f"{stream.place}:{number}", longest)
            if not _is_blank(text):
                yield number, text
            number += text.count(b"\n") + 1
            pending, rest = 0, []
        rest.append(data[cut + 1 :])
        pending += size - cut - 1
        if longest is not None and pending > longest:
            raise too_long(f"{stream.place}:{number}", longest)
    text = b"".join(rest)
    if not _is_blank(text):
        yield number, text


def _is_blank(text: bytes) -> bool:
    rest = text.translate(None, b" \t\n")
    return not rest or (not rest.strip(b"\r") and len(rest) == text.count(b"\r\n") + text.endswith(b"\r"))


def numbered_lines(stream: Stream, *, longest: int | None = LONGEST) -> Pieces:
    """Yield number and bytes of each line that is not blank. Raises InputError as `whole_lines`."""
    for start, text in whole_lines(stream, longest=longest):
        yield from ((number, line) for number, line in enumerate(text.split(b"\n"), start) if line.strip(b" \t\r"))


def too_long(place: str, longest: int = LONGEST) -> InputError:
    """Return the error of a line that is too long."""
    hint = "check for a missing line end or another file format"
    return InputError(place, f"the line is longer than {longest:,} bytes", hint, kind="format")


OPEN_QUOTE = "a quote is not closed"
CLOSE_QUOTE = 'close it, or write """abc" for "abc'


def csv_rows(
    pieces: Pieces, delimiter: str, broken: Callable[[int, str, str], None], *, multiline: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number and the cells of each row, as Python's csv reads them. A line with an unclosed quote
    is not a row: `broken` is called with its number, the problem and the hint, and reading continues at the next line.

    multiline  allow line breaks in cells, as in texts; then an unclosed quote takes the rest of the file. Without it a
               stray quote in a table of ids cannot take another line
    """
    import csv  # few files have quotes

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a cell may be as long as a line
    rest = ((number, line) for start, text in pieces for number, line in enumerate(decode(text).split("\n"), start))
    first, is_open, is_broken = 0, False, False

    def lines() -> Iterator[str]:
        nonlocal first, is_open, is_broken
        for number, line in rest:
            first, is_open = first if is_open else number, True
            yield f"{line}\n"
            if is_open and not multiline:  # csv asks for another line of the same row
                break
        is_broken = is_open

    while True:
        error = ""
        try:
            for row in csv.reader(lines(), delimiter=delimiter):
                is_open = False
                if not is_broken:
                    yield first, row
        except csv.Error as caught:
            error, is_open = f"not a valid CSV line ({caught})", False
        if not (error or is_broken):
            return
        broken(first, error or OPEN_QUOTE + ("" if multiline else " on this line"), CLOSE_QUOTE)
        is_broken = False


def cells(separator: bytes, line_of: bytes) -> list[str]:
    """Return the unquoted fields of a line as text; none if the separator is missing or a quote is not closed."""
    if separator and separator not in line_of:
        return []
    # pandas writes a tab before the header, above its index.
    line = decode(line_of.rstrip().lstrip(b" " if separator == b"\t" else None))
    if not separator:
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(decode(separator))]
    rows = list(csv_rows(iter([(1, encode(line))]), decode(separator), lambda *problem: None))
    return [cell.strip() for cell in rows[0][1]] if rows else []


# Bytes not allowed in text: control characters, and a carriage return that does not end the line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")

_CONTROLS = bytes({*range(32)} - {*b"\t\n"})

_HASH = 35

HEAD = 1 << 16
"""Number of first bytes that usually contain a line."""

_STARTS_WITH_MARK = ("starts with a byte order mark", "save the file as UTF-8 without a byte order mark")


class Problems(Protocol):
    """Collects the problems of the lines of a file."""

    @property
    def place(self) -> str: ...

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None: ...


def records(
    stream: Stream, layout: LineLayout, problems: Problems, *, extra: bool = False, tolerant: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and fields of each line that has the fields of a layout; other lines are problems.

    extra     ignore additional fields
    tolerant  report control bytes as problems of their lines; otherwise raise InputError for them and for an empty file

    Blank lines and lines that begin with `#` are skipped. Raises InputError for a line that is too long.
    """
    pieces = whole_lines(stream, skip=layout.skip)
    if not tolerant:
        pieces = _checked(pieces, layout, problems.place)
    if layout.separator:
        if tolerant:
            pieces = ((number, _without_control(number, text, problems)) for number, text in pieces)
        yield from _separated(pieces, layout, problems)
        return
    for number, text in pieces:
        yield from _unseparated(number, text, layout, problems, extra, tolerant)


def _checked(pieces: Pieces, layout: LineLayout, place: str) -> Pieces:
    """Yield the pieces unchanged. Raises InputError if there is none, or one contains control bytes."""
    empty = True
    for number, text in pieces:
        check_text(text, place, number)
        yield number, text
        empty = False
    if empty:
        raise InputError(place, "is empty", expected_lines(layout), kind="empty")


def _control_in(text: bytes) -> re.Match[bytes] | None:
    """Find a byte not allowed in text, after a test for any such byte, which takes a thirteenth of the time."""
    return _CONTROL.search(text) if len(text.translate(None, _CONTROLS)) < len(text) else None


def _without_control(first: int, text: bytes, problems: Problems) -> bytes:
    """Report lines that contain control bytes as problems, and blank them."""
    if not _control_in(text):
        return text
    lines = text.split(b"\n")
    for index, line in enumerate(lines):
        if control := _CONTROL.search(line):
            problems.add(first + index, *control_problem(control[0]), kind="format")
            lines[index] = b""
    return b"\n".join(lines)


def _unseparated(
    first: int, text: bytes, layout: LineLayout, problems: Problems, extra: bool, tolerant: bool
) -> Iterator[tuple[int, list[bytes]]]:
    has_control, width = tolerant and _control_in(text), layout.width
    for number, line in enumerate(text.split(b"\n"), first):
        if has_control and (control := _CONTROL.search(line)):
            problems.add(number, *control_problem(control[0]), kind="format")
            continue
        fields = line.split()
        if len(fields) == width and line[0] != _HASH:
            yield number, fields
        elif extra and len(fields) > width and line[0] != _HASH:
            yield number, fields[:width]
        elif len(fields) > width and line[0] != _HASH and has_long_tag(fields, layout):
            yield number, [*fields[: width - 1], b" ".join(fields[width - 1 :])]
        elif fields and line[0] != _HASH:
            problems.add(number, _width_problem(fields, layout), _width_hint(fields, layout), kind="fields")


def has_long_tag(fields: list[bytes], layout: LineLayout) -> bool:
    """Return whether the extra words of a run's line belong to its tag, which is last and may have spaces. A docno with
    spaces shifts the fields: then the rank is not a number, or the tag begins with one."""
    if layout.columns[-1] != "tag":
        return False
    numbers = [decimal(fields[layout.columns.index(name)]) for name in ("rank", "score") if name in layout.columns]
    begin = decimal(fields[layout.width - 1])
    return all(number == number for number in numbers) and begin != begin


def _separated(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and fields of lines separated by tabs, commas or semicolons: an ignored field may be empty, and the
    first may begin with `#`."""
    needed = [(name, layout.columns.index(name)) for name in ("topic", "docno")]
    rows = _cells(pieces, layout, problems)
    for number, fields in _with_points(rows, layout, problems) if layout.separator == b";" else rows:
        if len(fields) == layout.width:
            missing = next((name for name, position in needed if not fields[position]), "")
            if missing:
                problems.add(number, f"no {missing} in this line", "fill the field, or remove the line", kind="fields")
            else:
                yield number, fields
        elif any(fields) and not fields[0].startswith(b"#"):
            problems.add(number, _width_problem(fields, layout), "use the fields of the first line", kind="fields")


def _with_points(
    rows: Iterable[tuple[int, list[bytes]]], layout: LineLayout, problems: Problems
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield number and fields of lines between semicolons, with decimal points for decimal commas. A comma in a file
    that has points, too, is a problem: it may group thousands."""
    positions = [position for name in ("score", "grade") if (position := layout.position(name)) is not None]
    first = dict[bytes, int]()
    for number, fields in rows:
        is_good = True
        for position in positions if len(fields) == layout.width else ():
            token = fields[position]
            fields[position] = with_point(token)
            is_point = b"." in token and decimal(token) == decimal(token)
            mark = b"," if fields[position] != token else b"." if is_point else b""
            other = first.get(b"." if mark == b"," else b",") if mark else None
            if mark:
                first.setdefault(mark, number)
            if other is not None:
                problem = f"{layout.columns[position]} '{decode(token)}' has a '{decode(mark)}', unlike line {other}"
                problems.add(number, problem, "write all numbers with a decimal point, or all with a comma", "number")
                is_good = False
        if is_good:
            yield number, fields


def _cells(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    def broken(number: int, problem: str, hint: str) -> None:
        problems.add(number, problem, hint, "format")

    for start, text in pieces:
        if b'"' in text:
            for number, row in csv_rows(iter([(start, text)]), decode(layout.separator), broken):
                yield number, [encode(field).strip() for field in row]
            continue
        for number, line in enumerate(text.split(b"\n"), start):
            yield number, layout.split(line)


def _width_problem(fields: list[bytes], layout: LineLayout) -> str:
    return f"{len(fields)} {plural(len(fields), 'field')}, expected {layout.width} ({layout.words})"


def _width_hint(fields: list[bytes], layout: LineLayout) -> str:
    holds, width, count = layout.holds, layout.width, len(fields)
    if count == 1 and fields[0].count(b",") >= 2:
        holds, columns = _comma_columns(fields[0].split(b","), holds)
        return f"separate fields by spaces or tabs, or name the columns, as in {Flag(f'--{holds}-format'):{columns}}"
    if layout is RUN and count == 5 and all(decimal(field) == decimal(field) for field in fields[3:]):
        return f"add the tag, or read five columns with {flag.run_format:topic,q0,docno,rank,score}"
    if layout is QRELS and count == STRATA.width:
        return f"remove the extra field; {flag.qrels_format:strata} reads the strata of a sample"
    if count > width:
        tag = "; a tag with spaces must not begin with a number" if layout.columns[-1] == "tag" else ""
        return f"remove extra fields, or spaces inside ids{tag}"
    if layout is QRELS and count == width - 1:
        return "add a 0 after the topic if the file has no iteration"
    return "add the missing fields" + ("; Q0, iteration and tag may be any word" if layout in (RUN, QRELS) else "")


_NUMBERS = frozenset(("rank", "score", "grade"))

_OF_WIDTH: dict[str, dict[int, tuple[str, ...]]] = {
    "run": {
        3: ("topic,docno,score",),
        4: ("topic,q0,docno,score", "topic,docno,rank,score", "topic,docno,score,tag"),
        5: ("topic,q0,docno,rank,score", "topic,docno,rank,score,tag"),
        6: ("topic,q0,docno,rank,score,tag",),
    },
    "qrels": {3: ("topic,docno,grade",), 4: ("topic,iteration,docno,grade",)},
}
"""Kind of file -> number of columns -> columns that a line separated by commas may have."""


def _comma_columns(cells: list[bytes], holds: str) -> tuple[str, str]:
    """Return the kind of file, and the columns of a line separated by commas: those whose numbers are numbers there."""
    if len(cells) == QRELS.width and cells[1] == b"0" and cells[3].isdigit():
        holds = "qrels"
    numbers = {index for index, cell in enumerate(cells) if decimal(cell) == decimal(cell)}
    for columns in _OF_WIDTH[holds].get(len(cells), ()):
        names = columns.split(",")
        has_second = "q0" not in names or cells[1] in (b"Q0", b"q0", b"0")
        if has_second and all(index in numbers for index, name in enumerate(names) if name in _NUMBERS):
            return holds, columns
    return holds, _OF_WIDTH[holds][3][0]


def expected_lines(layout: LineLayout) -> str:
    """Return the hint for a file without such lines."""
    return f"expected lines of '{layout.words}'"


def check_text(data: bytes, place: str, first: int = 1) -> None:
    """Raise InputError for a byte order mark, a control byte or a lone carriage return.

    first  the number of the first line; after line 1 a mark is an ordinary character
    """
    if first == 1:
        check_mark(data, place)
    if control := _control_in(data):
        line = data.count(b"\n", 0, control.start()) + first
        raise InputError(f"{place}:{line}", *control_problem(control[0]), kind="format")


def checked_lines(
    stream: Stream, problems: ProblemList, *, longest: int | None = LONGEST, skip: int = 0
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number of the first line, and the lines, of each piece of a stream. A line with control bytes is a
    problem, and becomes blank. Raises InputError as `whole_lines`, and if the first bytes are not text."""
    for number, data in whole_lines(stream, longest=longest, skip=skip):
        if number == 1:
            check_text(data[:4], problems.place)  # not text at all, or a mark before the header
        text = _without_control(number, data, problems)
        yield number, text.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")


def check_mark(data: bytes, place: str) -> None:
    """Raise InputError if a file begins with a byte order mark."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:1", *_STARTS_WITH_MARK, kind="format")


def control_problem(byte: bytes) -> tuple[str, str]:
    """Return problem and hint for a byte that text lines do not contain."""
    problem = "carriage return inside a line" if byte == b"\r" else f"control byte 0x{byte[0]:02x}"
    return problem, "save the file as UTF-8" if byte == b"\x00" else "use a text file with LF or CRLF line ends"


def number_problem(name: str, token: bytes, line: int) -> tuple[str, str]:
    """Return problem and hint for a token that should be a number: the first line may be a header."""
    form = flag.qrels_format if name == "grade" else flag.run_format
    hint = "expected a finite decimal such as 12.5"
    if line == 1:
        hint = f"remove the line if it is a header, or skip it with {form:trec+header}"
    elif name == "grade" and token.isalpha() and token.lower() not in (b"nan", b"inf", b"infinity"):
        hint = f"map the word to a grade, as in {flag.labels:{decode(token)}=…}"
    return f"{name} '{decode(token)}' is not a number", hint


def check_read(
    content: str,
    present: bool,
    stream: Stream,
    layout: LineLayout,
    problems: ProblemList,
    lenient: bool,
    notes: list[str],
) -> None:
    """Raise InputError if lines of a file are bad, or no content is left; with `lenient` add a note about the skipped
    lines instead."""
    bad = f"{problems.count} bad {plural(problems.count, 'line')}"
    swapped, name = (QRELS, "qrels") if layout.holds == "run" else (RUN, "a run")
    if not present:
        stream.again()
    if not present and layout.format == "trec" and looks_like(stream.peek(HEAD), swapped):
        looks = f"looks like {name} ({swapped.width} fields per line)"
        raise InputError(problems.place, looks, "the order is RUN... QRELS: are they swapped?", kind="swapped-files")
    if lenient and problems.count:
        first = problems.errors[0].place.rpartition(":")[2]
        notes.append(f"{problems.place}: skipped {bad}, the first on line {first}")
    else:
        problems.check()
    if not present:
        skipped = f" ({bad} skipped)" if problems.count else ""
        raise InputError(problems.place, f"no {content}{skipped}", expected_lines(layout), kind="empty")


def looks_like(data: bytes, layout: LineLayout) -> bool:
    """Return whether the first line, blanks and comments aside, has as many fields as a layout."""
    for line in data[:HEAD].split(b"\n"):
        if line.split() and not line.startswith(b"#"):
            return len(line.split()) == layout.width and not line.startswith((b"{", b"["))
    return False


# Bad entries of a file read whole, skipped with `--lenient`.


@dataclass(eq=False)
class Skipped:
    """Counts the bad lines, rows or entries of a file if `lenient`, and raises their errors otherwise.

    unit    the word for a line, row or entry
    report  is also called with each error and its number or name
    """

    place: str
    lenient: bool = False
    unit: str = "line"
    report: Callable[[InputError, int | str], None] | None = None
    count: int = 0
    first: int | str = ""

    def add(self, error: InputError, position: int | str) -> None:
        """Count an error at its number or name. Raises it unless `lenient`."""
        if not self.lenient:
            raise error
        if self.report is not None:
            self.report(error, position)
        self.count += 1
        if not self.first or (isinstance(position, int) and isinstance(self.first, int)):
            self.first = min(position, self.first or position)

    @property
    def notes(self) -> list[str]:
        """The note, if anything was skipped."""
        bad = f"skipped {self.count} bad {plural(self.count, self.unit)}".replace("entrys", "entries")
        first = f"{self.unit} {self.first}" if isinstance(self.first, int) else self.first
        return [f"{self.place}: {bad}, the first on {first}"] if self.count else []


# The rule for duplicates: documents of a topic, judgments, ranks of a table.

Key = TypeVar("Key", bound=Hashable)

KEEP_ONE = f"use {flag.duplicates:first or last} to keep one"


def settle_duplicates(keys: Iterable[Key], policy: str, repeated: Callable[[int, int], None]) -> dict[Key, int]:
    """Return key -> the position that counts, in order of first appearance: the last one by the policy `last`, or the
    first.

    repeated  is called with the position of each repeated key and the position that counted before: it decides whether
              that is an error or a note
    """
    chosen: dict[Key, int] = {}
    for position, key in enumerate(keys):
        previous = chosen.setdefault(key, position)
        if previous != position:
            repeated(position, previous)
            if policy == "last":
                chosen[key] = position
    return chosen


def duplicate(name: str, line: int, details: str = "") -> str:
    """Return the problem of an item that occurs twice, first on a line."""
    return f"duplicate {name} (first on line {line}{details})"


def document(docno: bytes | str, topic: bytes) -> str:
    """Return the name of a document of a topic for messages."""
    return f"document '{docno if isinstance(docno, str) else decode(docno)}' in topic {decode(topic)}"
