"""Files line by line: the reference that the block reader agrees with, and what says where a file is wrong."""

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
)

if TYPE_CHECKING:
    from gradedeval.kernel.trec.stream import Stream

# A stream in pieces of whole lines: what has been read is forgotten, and no line is longer than a line may be.


SIZE = 1 << 20
"""Bytes that are read at a time."""


Pieces = Iterator[tuple[int, bytes]]
"""The number of the first line of each piece, and its bytes, without the end of the last line."""


def whole_lines(stream: Stream, *, longest: int | None = LONGEST, skip: int = 0) -> Pieces:
    """The stream from its beginning, in pieces of about SIZE bytes. A piece that holds blank lines alone is left out.

    longest  bytes that a line may have; None: any number
    skip     bytes that are left out, and whose lines count

    Raises InputError at a line that is longer.
    """
    stream.again()
    number, held, rest = 1, 0, list[bytes]()  # what begins a line that is not complete, and how much that is
    buffer = memoryview(bytearray(SIZE))
    while skip > 0 and (size := stream.read_into(buffer[:skip])):
        number, skip = number + bytes(buffer[:size]).count(b"\n"), skip - size
    while size := stream.read_into(buffer):
        got = bytes(buffer[:size])
        cut = got.rfind(b"\n")
        if cut >= 0:
            text = b"".join([*rest, got[:cut]])
            check_lengths(text, number, stream.place, longest)
            if not _is_blank(text):
                yield number, text
            number += text.count(b"\n") + 1
            held, rest = 0, []
        rest.append(got[cut + 1 :])
        held += size - cut - 1
        if longest is not None and held > longest:
            raise too_long(f"{stream.place}:{number}", longest)
    text = b"".join(rest)
    if not _is_blank(text):
        yield number, text


def _is_blank(text: bytes) -> bool:
    rest = text.translate(None, b" \t\n")
    return not rest or (not rest.strip(b"\r") and len(rest) == text.count(b"\r\n") + text.endswith(b"\r"))


def numbered_lines(stream: Stream, *, longest: int | None = LONGEST) -> Pieces:
    """The lines of a stream that are not blank, and their numbers. Raises InputError as `whole_lines`."""
    for number, text in whole_lines(stream, longest=longest):
        yield from ((at, line) for at, line in enumerate(text.split(b"\n"), number) if line.strip(b" \t\r"))


def check_lengths(text: bytes, number: int, place: str, longest: int | None = LONGEST) -> None:
    """Raise InputError where a text, whose first line has this number, has a line that is too long."""
    if longest is not None and (begin := long_line(memoryview(text), 0, len(text), longest)) is not None:
        number += text.count(b"\n", 0, begin)
        raise too_long(f"{place}:{number}", longest)


def too_long(place: str, longest: int = LONGEST) -> InputError:
    """What to say of a line that is too long."""
    hint = "check for a missing line end or another file format"
    return InputError(place, f"the line is longer than {longest:,} bytes", hint, kind="format")


OPEN_QUOTE = "a quote is not closed"
CLOSE_QUOTE = 'close it, or write """abc" for "abc'


def csv_rows(
    pieces: Pieces, delimiter: str, broken: Callable[[int, str, str], None], *, multiline: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line of each row and its cells, as Python's csv reads them. A line with a quote that is not
    closed is no row: `broken` is called with its number, the problem and the hint, and the next line is read.

    multiline  cells may hold line breaks, as texts do; then a quote that is not closed takes the rest of the file.
               Without it a stray quote in a table of ids cannot take another line
    """
    import csv  # few files have quotes

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a cell may be as long as a line
    rest = ((at, line) for number, text in pieces for at, line in enumerate(decode(text).split("\n"), number))
    first, is_open, is_broken = 0, False, False

    def lines() -> Iterator[str]:
        nonlocal first, is_open, is_broken
        for at, line in rest:
            first, is_open = first if is_open else at, True
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


# Bytes that no text line holds: control characters, and a carriage return that does not end the line.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n|\Z)")


_CONTROLS = bytes({*range(32)} - {*b"\t\n"})


_HASH = 35


HEAD = 1 << 16
"""First bytes in which there is a line, as a rule."""


_STARTS_WITH_MARK = ("starts with a byte order mark", "save the file as UTF-8 without a byte order mark")


class Problems(Protocol):
    """Takes what is wrong with the lines of a file."""

    @property
    def place(self) -> str: ...

    def add(self, line: int, problem: str, hint: str = "", kind: str = "") -> None: ...


def records(
    stream: Stream, layout: LineLayout, problems: Problems, *, extra: bool = False, tolerant: bool = False
) -> Iterator[tuple[int, list[bytes]]]:
    """Line number and fields of every line of a stream that has the fields of a layout; other lines are problems.

    extra     what a line has beyond these fields is ignored
    tolerant  bytes that no text holds are problems of their lines; otherwise InputError is raised for them, and for an
              empty file

    Blank lines and lines that begin with `#` are skipped. Raises InputError for a line that is too long.
    """
    pieces = whole_lines(stream, skip=layout.skip)
    if not tolerant:
        pieces = _checked(pieces, layout, problems.place)
    if layout.separator:
        yield from _separated(_without_control(pieces, problems) if tolerant else pieces, layout, problems)
        return
    for number, text in pieces:
        yield from _unseparated(number, text, layout, problems, extra, tolerant)


def _checked(pieces: Pieces, layout: LineLayout, place: str) -> Pieces:
    """The pieces as they are. Raises InputError where there is none, or one has bytes that no text holds."""
    empty = True
    for number, text in pieces:
        check_text(text, place, number)
        yield number, text
        empty = False
    if empty:
        raise InputError(place, "is empty", expected_lines(layout), kind="empty")


def _without_control(pieces: Pieces, problems: Problems) -> Pieces:
    """The pieces without the lines that have bytes that no text has: these are problems, and blank."""
    for number, text in pieces:
        if _CONTROL.search(text):
            lines = text.split(b"\n")
            for index, line in enumerate(lines):
                if control := _CONTROL.search(line):
                    problems.add(number + index, *about_control(control[0]), kind="format")
                    lines[index] = b""
            text = b"\n".join(lines)
        yield number, text


def _unseparated(
    first: int, text: bytes, layout: LineLayout, problems: Problems, extra: bool, tolerant: bool
) -> Iterator[tuple[int, list[bytes]]]:
    has_control, width = tolerant and _CONTROL.search(text), layout.width
    for number, line in enumerate(text.split(b"\n"), first):
        if has_control and (control := _CONTROL.search(line)):
            problems.add(number, *about_control(control[0]), kind="format")
            continue
        fields = line.split()
        if len(fields) == width and line[0] != _HASH:
            yield number, fields
        elif extra and len(fields) > width and line[0] != _HASH:
            yield number, fields[:width]
        elif len(fields) > width and line[0] != _HASH and _has_long_tag(fields, layout):
            yield number, [*fields[: width - 1], b" ".join(fields[width - 1 :])]
        elif fields and line[0] != _HASH:
            problems.add(number, _about_width(fields, layout), _width_hint(fields, layout), kind="fields")


def _has_long_tag(fields: list[bytes], layout: LineLayout) -> bool:
    """Whether what a line of a run has beyond its fields belongs to its tag, which comes last and has spaces. A docno
    with spaces shifts the fields: then the rank is no number, or the tag begins with one."""
    if layout.columns[-1] != "tag":
        return False
    numbers = [decimal(fields[layout.columns.index(name)]) for name in ("rank", "score") if name in layout.columns]
    begin = decimal(fields[layout.width - 1])
    return all(number == number for number in numbers) and begin != begin


def _separated(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    """The same of lines whose fields a tab or a comma separates: a field that nothing looks at may be empty, and the
    first may begin with `#`."""
    needed = [(name, layout.columns.index(name)) for name in ("topic", "docno")]
    for number, fields in _cells(pieces, layout, problems):
        if len(fields) == layout.width:
            missing = next((name for name, position in needed if not fields[position]), "")
            if missing:
                problems.add(number, f"no {missing} in this line", "fill the field, or remove the line", kind="fields")
            else:
                yield number, fields
        elif any(fields) and not fields[0].startswith(b"#"):
            problems.add(number, _about_width(fields, layout), "every line has the fields of the first", kind="fields")


def _cells(pieces: Pieces, layout: LineLayout, problems: Problems) -> Iterator[tuple[int, list[bytes]]]:
    def broken(number: int, problem: str, hint: str) -> None:
        problems.add(number, problem, hint, "format")

    for number, text in pieces:
        if b'"' in text:
            for at, row in csv_rows(iter([(number, text)]), decode(layout.separator), broken):
                yield at, [encode(field).strip() for field in row]
            continue
        for at, line in enumerate(text.split(b"\n"), number):
            yield at, layout.split(line)


def _about_width(fields: list[bytes], layout: LineLayout) -> str:
    return f"{len(fields)} {plural(len(fields), 'field')}, expected {layout.width} ({layout.words})"


def _width_hint(fields: list[bytes], layout: LineLayout) -> str:
    holds, width, count = layout.holds, layout.width, len(fields)
    if count == 1 and fields[0].count(b",") >= 2:
        columns = "topic,docno,score" if holds == "run" else "topic,docno,grade"
        return f"separate fields by spaces or tabs, or name the columns, as in {Flag(f'--{holds}-format'):{columns}}"
    if layout is RUN and count == 5 and all(decimal(field) == decimal(field) for field in fields[3:]):
        return f"add the tag, or read five columns with {flag.run_format:topic,q0,docno,rank,score}"
    if layout is QRELS and count == STRATA.width:
        return f"remove the extra field; {flag.qrels_format:strata} reads the strata of a sample"
    if count > width:
        tag = "; a tag may have spaces where it begins with no number" if layout.columns[-1] == "tag" else ""
        return f"remove extra fields, or spaces inside ids{tag}"
    if layout is QRELS and count == width - 1:
        return "add a 0 after the topic if the file has no iteration"
    return "add the missing fields" + ("; Q0, iteration and tag may be any word" if layout in (RUN, QRELS) else "")


def expected_lines(layout: LineLayout) -> str:
    """The hint about a file that has no such lines."""
    return f"expected lines of '{layout.words}'"


def check_text(data: bytes, place: str, first: int = 1) -> None:
    """Raise InputError where bytes are not text lines: a byte order mark, a control byte, a lone carriage return.

    first  the number of the first line; behind that of the file a mark is one of its characters
    """
    if first == 1:
        check_mark(data, place)
    # The pattern takes thirteen times as long as looking whether there is any such byte.
    if len(data.translate(None, _CONTROLS)) < len(data) and (control := _CONTROL.search(data)):
        line = data.count(b"\n", 0, control.start()) + first
        raise InputError(f"{place}:{line}", *about_control(control[0]), kind="format")


def checked_lines(
    stream: Stream, problems: ProblemList, *, longest: int | None = LONGEST, skip: int = 0
) -> Iterator[tuple[int, list[bytes]]]:
    """The lines of a stream in pieces, each with the number of its first. One with bytes that no text holds is blank,
    and a problem. Raises InputError as `whole_lines`, and where the first bytes are of no text."""
    for number, data in whole_lines(stream, longest=longest, skip=skip):
        yield number, _checked_piece(data, number, problems)


def _checked_piece(data: bytes, number: int, problems: ProblemList) -> list[bytes]:
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
                problems.add(number + index, *error.raw, error.kind)
                lines[index] = b""
    return lines


def check_mark(data: bytes, place: str) -> None:
    """Raise InputError where a file begins with a byte order mark."""
    if data.startswith(BYTE_ORDER_MARKS):
        raise InputError(f"{place}:1", *_STARTS_WITH_MARK, kind="format")


def about_control(byte: bytes) -> tuple[str, str]:
    """The problem of a byte that no text line holds, and the hint."""
    what = "carriage return inside a line" if byte == b"\r" else f"control byte 0x{byte[0]:02x}"
    return what, "save the file as UTF-8" if byte == b"\x00" else "use a text file with LF or CRLF line ends"


def about_number(what: str, token: bytes, line: int) -> tuple[str, str]:
    """The problem of a token that should be a number, and the hint: the first line may be a header."""
    form = flag.qrels_format if what == "grade" else flag.run_format
    hint = "expected a finite decimal such as 12.5"
    if line == 1:
        hint = f"remove the line if it is a header, or skip it with {form:trec+header}"
    elif what == "grade" and token.isalpha() and token.lower() not in (b"nan", b"inf", b"infinity"):
        hint = f"map the word to a grade, as in {flag.labels:{decode(token)}=…}"
    return f"{what} '{decode(token)}' is not a number", hint


def check_read(
    what: str,
    present: bool,
    stream: Stream,
    layout: LineLayout,
    problems: ProblemList,
    lenient: bool,
    notes: list[str],
) -> None:
    """Raise InputError where lines of a file are bad, or none is left of `what` it should hold; with `--lenient` a note
    about the skipped lines is added instead."""
    bad = f"{problems.count} bad {plural(problems.count, 'line')}"
    other, name = (QRELS, "qrels") if layout.holds == "run" else (RUN, "a run")
    if not present and layout.format == "trec" and looks_like(_head(stream), other):
        looks = f"looks like {name} ({other.width} fields per line)"
        raise InputError(problems.place, looks, "the order is RUN... QRELS: are they swapped?", kind="swapped-files")
    if lenient and problems.count:
        first = problems.errors[0].place.rpartition(":")[2]
        notes.append(f"{problems.place}: skipped {bad}, the first on line {first}")
    else:
        problems.check()
    if not present:
        skipped = f" ({bad} skipped)" if problems.count else ""
        raise InputError(problems.place, f"no {what}{skipped}", expected_lines(layout), kind="empty")


def _head(stream: Stream) -> bytes:
    stream.again()
    return stream.peek(HEAD)


def looks_like(data: bytes, layout: LineLayout) -> bool:
    """Whether the first line that is neither blank nor a comment has as many fields as a layout."""
    for line in data[:HEAD].split(b"\n"):
        if line.split() and not line.startswith(b"#"):
            return len(line.split()) == layout.width and not line.startswith((b"{", b"["))
    return False


# What `--lenient` leaves out of a file that is read whole, and the note about it.


@dataclass(eq=False)
class Skipped:
    """The bad lines, rows or entries of a file: errors, or with `lenient` counted.

    unit    what they are called
    report  is called with each error and its number or name, too
    """

    place: str
    lenient: bool = False
    unit: str = "line"
    report: Callable[[InputError, int | str], None] | None = None
    count: int = 0
    at: int | str = ""

    def add(self, error: InputError, at: int | str) -> None:
        """Count one, at its number or by its name. Raises the error unless that is wanted."""
        if not self.lenient:
            raise error
        if self.report is not None:
            self.report(error, at)
        self.count += 1
        if not self.at or (isinstance(at, int) and isinstance(self.at, int)):
            self.at = min(at, self.at or at)

    @property
    def notes(self) -> list[str]:
        """The note, if anything was skipped."""
        bad = f"skipped {self.count} bad {plural(self.count, self.unit)}".replace("entrys", "entries")
        first = f"{self.unit} {self.at}" if isinstance(self.at, int) else self.at
        return [f"{self.place}: {bad}, the first on {first}"] if self.count else []


# The one rule for what stands in a file twice: documents of a topic, judgments, ranks of a table.


Key = TypeVar("Key", bound=Hashable)


KEEP_ONE = f"use {flag.duplicates:first or last} to keep one"


def settle_duplicates(keys: Iterable[Key], policy: str, repeated: Callable[[int, int], None]) -> dict[Key, int]:
    """key -> the position that counts, in order of first appearance: the last one by the policy `last`, or the first.

    repeated  is called with the position of each repeated key and the position that counted so far: it decides whether
              that is an error or worth a note
    """
    chosen: dict[Key, int] = {}
    for position, key in enumerate(keys):
        before = chosen.setdefault(key, position)
        if before != position:
            repeated(position, before)
            if policy == "last":
                chosen[key] = position
    return chosen


def duplicate(what: str, line: int, details: str = "") -> str:
    """The problem of something that stands twice, first on a line."""
    return f"duplicate {what} (first on line {line}{details})"


def document(docno: bytes | str, topic: bytes) -> str:
    """How messages name a document of a topic."""
    return f"document '{docno if isinstance(docno, str) else decode(docno)}' in topic {decode(topic)}"
