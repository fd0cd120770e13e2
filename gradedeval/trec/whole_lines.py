"""A stream in pieces of whole lines: what has been read is forgotten, and no line is longer than a line may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gradedeval.errors import InputError

if TYPE_CHECKING:
    import csv

    from gradedeval.trec.stream import Stream

LONGEST = 1 << 20
"""Bytes of a line, at most. Documents of JSON are often one line, and may have any length."""

SIZE = 1 << 20
"""Bytes that are read at a time."""

NEAR = 1 << 12
"""Bytes in which most lines end."""

Pieces = Iterator[tuple[int, bytes]]
"""The number of the first line of each piece, and its bytes, without the end of the last line."""


def whole_lines(stream: Stream, *, longest: int | None = LONGEST, skip: int = 0, end: bytes = b"\n") -> Pieces:
    """The stream from its beginning, in pieces of about SIZE bytes. A piece that holds blank lines alone is left out.

    longest  bytes that a line may have; None: any number
    skip     bytes that are left out, and whose lines count
    end      what ends a line

    Raises InputError at a line that is longer.
    """
    stream.again()
    number, held, rest = 1, 0, list[bytes]()  # what begins a line that is not complete, and how much that is
    buffer = memoryview(bytearray(SIZE))
    while skip > 0 and (size := stream.read_into(buffer[:skip])):
        number, skip = number + bytes(buffer[:size]).count(end), skip - size
    while size := stream.read_into(buffer):
        got = bytes(buffer[:size])
        cut = got.rfind(end)
        if cut >= 0:
            text = b"".join([*rest, got[:cut]])
            check_lengths(text, number, stream.place, longest)
            if not _is_blank(text):
                yield number, text
            number += text.count(end) + 1
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


def numbered_lines(stream: Stream, *, longest: int | None = LONGEST, end: bytes = b"\n") -> Pieces:
    """The lines of a stream that are not blank, and their numbers. Raises InputError as `whole_lines`."""
    for number, text in whole_lines(stream, longest=longest, end=end):
        yield from ((at, line) for at, line in enumerate(text.split(end), number) if line.strip(b" \t\r"))


def check_lengths(text: bytes, number: int, place: str, longest: int | None = LONGEST) -> None:
    """Raise InputError where a text, whose first line has this number, has a line that is too long."""
    if longest is not None and (begin := long_line(memoryview(text), 0, len(text), longest)) is not None:
        number += text.count(b"\n", 0, begin)
        raise too_long(f"{place}:{number}", longest)


def long_line(text: memoryview, begin: int, end: int, longest: int = LONGEST) -> int | None:
    """Where a line begins that is too long, in `text[begin:end]`; None if there is none. It looks at the ends of
    stretches of that length, and so at few of the bytes."""
    while end - begin > longest:
        newline = last_newline(text, begin, begin + longest + 1)
        if newline < begin:
            return begin
        begin = newline + 1
    return None


def last_newline(text: memoryview, begin: int, end: int) -> int:
    """Where the last newline is in `text[begin:end]`; before `begin` if there is none."""
    size = NEAR
    while True:
        low = max(begin, end - size)
        found = bytes(text[low:end]).rfind(b"\n")
        if found >= 0:
            return low + found
        if low == begin:
            return begin - 1
        size *= 16


def too_long(place: str, longest: int = LONGEST) -> InputError:
    """What to say of a line that is too long."""
    hint = "is a line end missing, or is the file of another format?"
    return InputError(place, f"the line is longer than {longest:,} bytes", hint, kind="format")


def csv_rows(
    pieces: Pieces, delimiter: str, broken: Callable[[int, csv.Error], None]
) -> Iterator[tuple[int, list[str]]]:
    """The rows of lines whose cells may have quotes, and the number of the last line of each; where they are not valid
    `broken` is called with a number and what is wrong, and they end."""
    import csv  # few files have quotes

    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))  # a cell may be as long as a line
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for number, text in pieces:
            for line in text.split(b"\n"):
                at, number = number, number + 1
                yield f"{line.decode('utf-8', 'surrogateescape')}\n"

    try:
        for row in csv.reader(lines(), delimiter=delimiter, strict=True):
            yield at, row
    except csv.Error as error:
        broken(at, error)
