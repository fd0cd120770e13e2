"""Tables for people: which columns they see, the names of runs without what all have alike, and lines that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradedeval.kernel.formats.tables import GAP, Document, Table, View, across, aligned, cut

# Names of runs.

SEPARATORS = "-_./: "
ELLIPSIS = "…"


def short_names(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Each name without the beginning and the end that all of them share, and these, as in `rivers-*.run`; nothing
    where there is none, or a name would be empty or that of another. Names are cut at separators alone."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2:
        return {}, ""
    before, after = _start(distinct), _start([name[::-1] for name in distinct])[::-1]
    for start, end in ((before, after), ("", after), (before, "")):
        short = {name: name[len(start) : len(name) - len(end)] for name in distinct}
        whole = min(map(len, distinct)) > len(start) + len(end) and not set(short.values()) & set(distinct)
        if start + end and whole and all(re.search(r"\w", name) for name in short.values()):
            return short, f"{start}*{end}"
    return {}, ""


def _start(names: Sequence[str]) -> str:
    """What all names begin with, up to a separator."""
    first, last = min(names), max(names)  # all others lie between them
    alike = next((n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: 1 + max(first.rfind(sign, 0, alike) for sign in SEPARATORS)]


def _runs_of(tables: Sequence[Table]) -> list[str]:
    """The names of runs in tables, in their cells and above their columns."""
    found: list[str] = []
    for table in tables:
        found += [column.name for column in table.columns if column.of_run]
        for number, column in enumerate(table.columns):
            if column.names_runs:
                found += [row[number] for row in table.rows if row[number] not in (None, "", ELLIPSIS)]
    return found


def _with_short(table: Table, short: dict[str, str]) -> Table:
    columns = [replace(one, name=short.get(one.name, one.name)) if one.of_run else one for one in table.columns]
    at = [number for number, column in enumerate(columns) if column.names_runs]
    rows = table.rows
    if at:
        rows = [[short.get(cell, cell) if number in at else cell for number, cell in enumerate(row)] for row in rows]
    return replace(table, columns=columns, rows=rows)


def for_people(document: Document, view: View) -> Document:
    """The document without the columns that few need, unless they are wanted, and with short names of runs."""
    tables = [block for block in document.blocks if isinstance(block, Table)]
    left_out = [] if view.wide else [one.name for table in tables for one in table.columns if one.wide]
    runs = [*document.runs, *_runs_of(tables)]
    short, pattern = short_names(runs) if len(runs) > 1 else ({}, "")
    others = {one.name for table in tables for one in table.columns if not one.of_run}
    if others & set(short.values()):  # a run called as a column is
        short, pattern = {}, ""
    if not left_out and not short:
        return document
    blocks: list[Table | str] = []
    for block in document.blocks:
        if isinstance(block, Table):
            block = (
                block if view.wide else _of_columns(block, [n for n, one in enumerate(block.columns) if not one.wide])
            )
            block = _with_short(block, short) if short else block
        blocks.append(block)
    said = [f"runs: {pattern}"] if short else []
    if left_out and view.terminal:
        said.append(f"--wide adds {', '.join(dict.fromkeys(left_out))}")
    return replace(document, blocks=blocks, signature="\n".join(part for part in (*said, document.signature) if part))


def _of_columns(table: Table, at: Sequence[int]) -> Table:
    """Some columns of a table, with their marks."""
    place = {number: new for new, number in enumerate(at)}
    marks = {(row, place[column]): mark for (row, column), mark in table.marks.items() if column in place}
    columns, rows = [table.columns[n] for n in at], [[row[n] for n in at] for row in table.rows]
    return replace(table, columns=columns, rows=rows, marks=marks)


# Lines of text.


def wrapped(text: str, width: int, hang: int = 0) -> str:
    """Text in lines that fit, but for words that do not. A line that goes on stands under what its first words, or the
    space in their place, have behind them, as in `FAIL  run: why`; else it is indented by `hang`, or in a text of
    several lines by two."""
    if all(across(line) <= width for line in text.split("\n")):
        return text
    several = "\n" in text.rstrip("\n")
    lines: list[str] = []
    for line in text.split("\n"):
        column = re.match(r"\s*(\S.{0,16}?\s{2,})?", line)
        under = len(column[0]) if column and column[0] else hang or (2 if several or " | " in line else 0)
        lines += _lines(line, width, under if under < width // 2 else 2)
    return "\n".join(lines)


def _lines(text: str, width: int, hang: int = 0) -> list[str]:
    """A line of text as several, broken behind bars, else at spaces; those after the first are indented."""
    if across(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for part in re.findall(r".+?(?: \||$)", text):
        words = [part] if across(part.lstrip()) + hang <= width else _words(part, width - hang)
        for word in words:
            if line.strip() and across(line) + across(word) > width:
                lines.append(line)
                line = " " * hang + word.lstrip()
            else:
                line += word
    return [*lines, line]


def _words(text: str, width: int) -> list[str]:
    """The words of a text with the space before them, an option with the word behind it, which may be its value; one
    that no line has room for in pieces, as in `0:0.1:0.2`."""
    found: list[str] = []
    for tied in re.findall(rf"\s*(?:{_OPTION} )?\S+(?: \|)?", text):
        words = [tied] if across(tied.strip()) <= width else re.findall(r"\s*\S+(?: \|)?", tied)
        found += [
            one for word in words for one in ([word] if across(word.strip()) <= width else re.findall(_PIECE, word))
        ]
    return found


_OPTION = r"[(`']?--?[A-Za-z][\w-]*"
_PIECE = r"\s*[^:,]+[:,]*|[:,]+"


# Tables in lines that fit.

Grid = tuple[list[list[str]], list[list[list[str]]]]
"""The lines of the head of each column, and of each cell by rows."""

LEAST = 20
"""The narrowest that text may stand in a column."""


def fitted(table: Table, digits: int | None, view: View) -> str:
    """A plain table: columns two spaces apart, a rule below the header.

    One that is too wide has its headers in several lines, then its last column of text; else it is cut in tables of
    some of its columns each, or every row is a block of lines.
    """
    header, body = table.header(), table.cells(digits)
    widths = [max(map(across, column)) for column in zip(header, *body, strict=True)]
    if _total(widths) > view.width and any(column.cut for column in table.columns):
        body = _cut(table, body, widths, view.width)
        widths = [max(map(across, column)) for column in zip(header, *body, strict=True)]
    if _total(widths) <= view.width or (table.pipeline and not view.terminal):
        return _aligned(table, [[name] for name in header], [[[cell] for cell in row] for row in body], widths)
    cells = [max(map(across, column), default=0) for column in zip(*body, strict=True)] if body else [0] * len(header)
    heads, widths = _narrow_headers(header, cells, widths, view.width)
    grid = [[[cell] for cell in row] for row in body]
    if _total(widths) > view.width:
        for at, room in _rooms(table, header, body, widths, view.width).items():
            heads[at], widths[at] = _lines(header[at], room), room
            for row, whole in zip(grid, body, strict=True):
                row[at] = _lines(whole[at], room)
    if _total(widths) <= view.width:
        return _aligned(table, heads, grid, widths)
    return _in_parts(table, digits, view, widths) or _stacked(header, body, view.width)


def _cut(table: Table, body: list[list[str]], widths: list[int], width: int) -> list[list[str]]:
    """The cells, those of columns whose text may be cut no wider than the others leave room for."""
    wide = {n: max(LEAST, widths[n] - (_total(widths) - width)) for n, column in enumerate(table.columns) if column.cut}
    return [[cut(cell, wide[n]) if n in wide else cell for n, cell in enumerate(row)] for row in body]


def _rooms(table: Table, header: list[str], body: list[list[str]], widths: list[int], width: int) -> dict[int, int]:
    """How wide columns of text may be, but the first: equal parts of the room that there is, where they need it, and
    never less than their longest word."""
    texts = [n for n in range(1, len(header)) if table.columns[n].kind == "text"]
    words = {n: " ".join([header[n], *(row[n] for row in body)]).split() for n in texts}
    least = {
        n: max((across(piece) for word in set(words[n]) for piece in re.findall(_PIECE, word)), default=0)
        for n in texts
    }
    least = {n: max(min(LEAST, widths[n]), longest) for n, longest in least.items()}
    room, found = width - _total(widths) + sum(widths[n] for n in texts), dict[int, int]()
    for left, at in enumerate(sorted(texts, key=lambda n: widths[n]), 1 - len(texts)):
        found[at] = max(least[at], min(widths[at], room // (1 - left)))
        room -= found[at]
    return {at: wide for at, wide in found.items() if wide < widths[at]}


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _narrow_headers(
    header: list[str], cells: list[int], widths: list[int], width: int
) -> tuple[list[list[str]], list[int]]:
    """Headers in several lines and the widths of columns, as few of them as it takes, those first that save most."""
    heads, widths = [[name] for name in header], list(widths)
    narrow = [[*_lines_of_header(name, least)] for name, least in zip(header, cells, strict=True)]
    least = [max(own, *map(across, lines)) for own, lines in zip(cells, narrow, strict=True)]
    for number in sorted(range(len(header)), key=lambda n: least[n] - widths[n]):
        if _total(widths) <= width:
            break
        if least[number] < widths[number]:
            heads[number], widths[number] = narrow[number], least[number]
    return heads, widths


def _lines_of_header(name: str, cells: int) -> list[str]:
    """A header in lines as narrow as its cells, or its longest word; a slash ends a word too."""
    words = re.findall(r"[^\s/]+/?", name) or [name]
    return [line.replace("/ ", "/") for line in _lines(re.sub(r"/(?=\S)", "/ ", name), max(cells, *map(across, words)))]


def _aligned(table: Table, heads: list[list[str]], rows: list[list[list[str]]], widths: Sequence[int]) -> str:
    tallest = max(map(len, heads))
    grid: list[Iterable[Sequence[str]]] = [zip(*([""] * (tallest - len(own)) + own for own in heads), strict=True)]
    grid.append([["-" * width for width in widths]])
    for row in rows:
        if (height := max(map(len, row))) == 1:
            grid.append([[one for (one,) in row]])
        else:
            grid.append(zip(*(own + [""] * (height - len(own)) for own in row), strict=True))
    return aligned(table, (cells for lines in grid for cells in lines), widths)


def _in_parts(table: Table, digits: int | None, view: View, widths: Sequence[int]) -> str:
    """The table as several, one below the other, each with the columns that say what a row is of; nothing where these
    are too wide, there is text among the others, or one row, which reads better alone."""
    left = table.left
    keys = max(1, next((n for n, column in enumerate(table.columns) if not column.left and column.name != "rank"), 1))
    key, together = list(range(keys)), table.together
    groups = [list(range(n, min(n + together, len(left)))) for n in range(keys, len(left), together)]
    if any(left[keys:]) or len(table.rows) < 2 or not groups:
        return ""
    room = view.width - _total([widths[n] for n in key])
    wide = [sum(widths[n] + len(GAP) for n in group) for group in groups]
    if max(wide) > room:
        return ""
    parts: list[list[int]] = []
    free = 0
    for group, needs in zip(groups, wide, strict=True):
        if needs > free:
            parts.append(list(key))
            free = room
        parts[-1] += group
        free -= needs
    return "\n\n".join(fitted(_of_columns(table, part), digits, view) for part in parts)


def _stacked(header: Sequence[str], body: Sequence[Sequence[str]], width: int) -> str:
    """Each row as a block of lines, a name and a value in each; blanks are left out."""
    column = max(map(across, header)) + len(GAP)
    room, blocks = max(width - column, LEAST), []
    for row in body:
        cells = [(name, cell.strip()) for name, cell in zip(header, row, strict=True) if cell.strip()]
        lines = [f"{name:<{column}}" + ("\n" + " " * column).join(_lines(cell, room)) for name, cell in cells]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
