"""Tables for people: choice of columns, names of runs, and lines that fit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradedeval.errors import visible
from gradedeval.kernel.formats.tables import GAP, Document, Table, View, across, aligned, beginning, cut

# Names of runs.

ELLIPSIS = "…"

LEAST_NAME = 13
"""The minimum width of a cut name."""


def cut_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Cut names that are wider than `width` in the middle; return name -> cut name. The ellipsis moves from the middle
    where cut names would be equal; empty if they are equal wherever it stands."""
    distinct = list(dict.fromkeys(names))
    for head in sorted(range(width - 2, 0, -1), key=lambda head: abs(width - 1 - 2 * head)):
        short = {name: _cut_name(visible(name), head, width) for name in distinct}
        if len(set(short.values())) == len(distinct):
            return short
    return {}


def _cut_name(name: str, head: int, width: int) -> str:
    """Cut a name to its first `head` columns, an ellipsis, and its end."""
    if across(name) <= width:
        return name
    return beginning(name, head) + ELLIPSIS + beginning(name[::-1], width - 1 - head)[::-1]


def _runs_of(table: Table) -> list[str]:
    """Return the names of runs in the cells of a table and above its columns."""
    names = [column.name for column in table.columns if column.of_run]
    for number, column in enumerate(table.columns):
        if column.names_runs:
            names += [row[number] for row in table.rows if row[number] not in (None, "", ELLIPSIS)]
    return list(dict.fromkeys(names))


def _with_cut_names(table: Table, digits: int | None, width: int) -> Table:
    """Return the table with names of runs that are cut as little as it takes to fit. If it fits with no cut, names have
    half of a line; a single row, which becomes a block of lines, keeps them whole."""
    names = _runs_of(table)
    longest = max((across(visible(name)) for name in names), default=0)
    of_names = [number for number, column in enumerate(table.columns) if column.names_runs]
    room = _room_of_names(table, digits, width, longest)
    if room is None and len(table.rows) > 1:
        room = max(LEAST_NAME, width // 2 // max(1, len(of_names)))
    if room is None or room >= longest:
        return table
    short = next(short for size in range(room, longest + 1) if (short := cut_names(names, size)))
    columns = [replace(c, name=short.get(c.name, c.name)) if c.of_run else c for c in table.columns]
    rows = [[short.get(cell, cell) if n in of_names else cell for n, cell in enumerate(row)] for row in table.rows]
    return replace(table, columns=columns, rows=rows)


def _room_of_names(table: Table, digits: int | None, width: int, longest: int) -> int | None:
    """Return the greatest width of names, up to `longest`, at which the table fits with narrow headers and wrapped
    text; None if there is none."""
    header, *body = table.cells(digits)
    cells = [max(map(across, column), default=0) for column in zip(*body, strict=True)] if body else [0] * len(header)
    needed = list[int]()
    for name, column, cell in zip(header, table.columns, cells, strict=True):
        narrow = max(map(across, _lines_of_header(name, cell)))
        needed.append(max(narrow, min(cell, 2 * LEAST)) if column.kind == "text" and needed else max(narrow, cell))
    for room in range(longest, LEAST_NAME - 1, -1):
        widths = [
            max(across(name), min(cell, room))
            if column.names_runs
            else max(cell, min(across(name), room))
            if column.of_run
            else width_needed
            for name, column, cell, width_needed in zip(header, table.columns, cells, needed, strict=True)
        ]
        if _total(widths) <= width:
            return room
    return None


def without_wide_columns(document: Document, view: View) -> Document:
    """Return the document without the columns that only --wide shows, and with a remark on them at a terminal."""
    tables = [block for block in document.blocks if isinstance(block, Table)]
    hidden = [column.name for table in tables for column in table.columns if column.wide]
    if view.wide or not hidden:
        return document
    blocks = [_of_columns(b, [n for n, c in enumerate(b.columns) if not c.wide]) if isinstance(b, Table) else b
              for b in document.blocks]  # fmt: skip
    remark, (*names, last) = "", dict.fromkeys(hidden)
    if view.terminal:
        verb, pronoun = ("are", "them") if names else ("is", "it")
        listed = f"{', '.join(names)} and {last}" if names else last
        remark = f"{listed} {verb} not shown; --wide shows {pronoun}"
    return replace(document, blocks=blocks, signature="\n".join(filter(None, (remark, document.signature))))


def _of_columns(table: Table, columns_kept: Sequence[int]) -> Table:
    """Return a table of some columns, with their marks."""
    new_position = {number: position for position, number in enumerate(columns_kept)}
    marks = {(row, new_position[column]): mark for (row, column), mark in table.marks.items() if column in new_position}
    columns, rows = [table.columns[n] for n in columns_kept], [[row[n] for n in columns_kept] for row in table.rows]
    return replace(table, columns=columns, rows=rows, marks=marks)


# Lines of text.


def wrapped(text: str, width: int, hang: int = 0) -> str:
    """Break text into lines that fit; words longer than a line stay whole.

    A continuation line is indented to the text behind the line's label, as in `FAIL  run: why`, or behind its leading
    space; else by `hang`, or by two in a text of several lines.
    """
    if all(across(line) <= width for line in text.split("\n")):
        return text
    is_paragraph = "\n" in text.rstrip("\n")
    lines: list[str] = []
    for line in text.split("\n"):
        column = re.match(r"\s*(\S.{0,16}?\s{2,})?", line)
        indent = len(column[0]) if column and column[0] else hang or (2 if is_paragraph or " | " in line else 0)
        lines += _lines(line, width, indent if indent < width // 2 else 2)
    return "\n".join(lines)


def _lines(text: str, width: int, hang: int = 0) -> list[str]:
    """Break a line of text behind bars, else at spaces; continuation lines are indented."""
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
    """Split a text into words, each with the space before it; keep an option with the word behind it, perhaps a value.
    A word longer than a line is split into pieces, as in `0:0.1:0.2`."""
    parts: list[str] = []
    for phrase in re.findall(rf"\s*(?:{_OPTION} )?\S+(?: \|)?", text):
        words = [phrase] if across(phrase.strip()) <= width else re.findall(r"\s*\S+(?: \|)?", phrase)
        parts += [
            piece for word in words for piece in ([word] if across(word.strip()) <= width else re.findall(_PIECE, word))
        ]
    return parts


_OPTION = r"[(`']?--?[A-Za-z][\w-]*"
_PIECE = r"\s*[^:,]+[:,]*|[:,]+"


# Tables in lines that fit.

Grid = tuple[list[list[str]], list[list[list[str]]]]
"""The lines of each column's header, and of each cell by rows."""

LEAST = 20
"""The minimum width of wrapped or cut text."""


def fitted(table: Table, digits: int | None, view: View) -> str:
    """Write a plain table: columns two spaces apart, a rule below the header.

    A table that is too wide gets narrow headers, then its columns of text are wrapped; else it is split into tables
    of some columns each, or each row becomes a block of lines. Names of runs are cut at a terminal only.
    """
    table = _with_cut_names(table, digits, view.width) if view.terminal else table
    header, *body = table.cells(digits)
    widths = [max(map(across, column)) for column in zip(header, *body, strict=True)]
    if _total(widths) > view.width and any(column.cut for column in table.columns):
        excess = _total(widths) - view.width
        wide = {n: max(LEAST, widths[n] - excess) for n, column in enumerate(table.columns) if column.cut}
        body = [[cut(cell, wide[n]) if n in wide else cell for n, cell in enumerate(row)] for row in body]
        widths = [max(map(across, column)) for column in zip(header, *body, strict=True)]
    if _total(widths) <= view.width or (table.pipeline and not view.terminal):
        return _aligned(table, [[name] for name in header], [[[cell] for cell in row] for row in body], widths)
    cells = [max(map(across, column), default=0) for column in zip(*body, strict=True)] if body else [0] * len(header)
    heads, widths = _narrow_headers(header, cells, widths, view.width)
    grid = [[[cell] for cell in row] for row in body]
    if _total(widths) > view.width:
        for n, room in _rooms(table, header, body, widths, view.width).items():
            heads[n], widths[n] = _lines(header[n], room), room
            for row, whole in zip(grid, body, strict=True):
                row[n] = _lines(whole[n], room)
    if _total(widths) <= view.width:
        return _aligned(table, heads, grid, widths)
    return _in_parts(table, digits, view, widths) or _stacked(header, body, view.width)


def _rooms(table: Table, header: list[str], body: list[list[str]], widths: list[int], width: int) -> dict[int, int]:
    """Return the new widths of columns of text, except the first: they share the free room equally, where needed. No
    width is below the column's longest word."""
    texts = [n for n in range(1, len(header)) if table.columns[n].kind == "text"]
    words = {n: " ".join([header[n], *(row[n] for row in body)]).split() for n in texts}
    minimum = {
        n: max((across(piece) for word in set(words[n]) for piece in re.findall(_PIECE, word)), default=0)
        for n in texts
    }
    minimum = {n: max(min(LEAST, widths[n]), longest) for n, longest in minimum.items()}
    room, widths_of = width - _total(widths) + sum(widths[n] for n in texts), dict[int, int]()
    for missing, k in enumerate(sorted(texts, key=lambda n: widths[n]), 1 - len(texts)):
        widths_of[k] = max(minimum[k], min(widths[k], room // (1 - missing)))
        room -= widths_of[k]
    return {k: new_width for k, new_width in widths_of.items() if new_width < widths[k]}


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _narrow_headers(
    header: list[str], cells: list[int], widths: list[int], width: int
) -> tuple[list[list[str]], list[int]]:
    """Break headers into lines and return them with the widths of columns; only as many as needed, widest savings
    first."""
    heads, widths = [[name] for name in header], list(widths)
    narrow = [[*_lines_of_header(name, narrow_widths)] for name, narrow_widths in zip(header, cells, strict=True)]
    narrow_widths = [max(cell_width, *map(across, lines)) for cell_width, lines in zip(cells, narrow, strict=True)]
    for number in sorted(range(len(header)), key=lambda n: narrow_widths[n] - widths[n]):
        if _total(widths) <= width:
            break
        if narrow_widths[number] < widths[number]:
            heads[number], widths[number] = narrow[number], narrow_widths[number]
    return heads, widths


def _lines_of_header(name: str, cells: int) -> list[str]:
    """Break a header into lines as narrow as its cells or its longest word; a slash also ends a word."""
    words = re.findall(r"[^\s/]+/?", name) or [name]
    return [line.replace("/ ", "/") for line in _lines(re.sub(r"/(?=\S)", "/ ", name), max(cells, *map(across, words)))]


def _aligned(table: Table, heads: list[list[str]], rows: list[list[list[str]]], widths: Sequence[int]) -> str:
    tallest = max(map(len, heads))
    grid: list[Iterable[Sequence[str]]] = [
        zip(*([""] * (tallest - len(lines_of)) + lines_of for lines_of in heads), strict=True)
    ]
    grid.append([["-" * width for width in widths]])
    for row in rows:
        if (height := max(map(len, row))) == 1:
            grid.append([[line for (line,) in row]])
        else:
            grid.append(zip(*(lines_of + [""] * (height - len(lines_of)) for lines_of in row), strict=True))
    return aligned(table, (cells for lines in grid for cells in lines), widths)


def _in_parts(table: Table, digits: int | None, view: View, widths: Sequence[int]) -> str:
    """Split the table by columns into several, one below the other, each with the columns that identify the rows; empty
    if these are too wide, if there is text among the other columns, or for a single row, which reads better alone."""
    aligned_left = table.left
    keys = max(1, next((n for n, column in enumerate(table.columns) if not column.left and column.name != "rank"), 1))
    key, together = list(range(keys)), table.together
    groups = [list(range(n, min(n + together, len(aligned_left)))) for n in range(keys, len(aligned_left), together)]
    if any(aligned_left[keys:]) or len(table.rows) < 2 or not groups:
        return ""
    room = view.width - _total([widths[n] for n in key])
    wide = [sum(widths[n] + len(GAP) for n in group) for group in groups]
    if max(wide) > room:
        return ""
    parts: list[list[int]] = []
    free = 0
    for group, needed in zip(groups, wide, strict=True):
        if needed > free:
            parts.append(list(key))
            free = room
        parts[-1] += group
        free -= needed
    return "\n\n".join(fitted(_of_columns(table, part), digits, view) for part in parts)


def _stacked(header: Sequence[str], body: Sequence[Sequence[str]], width: int) -> str:
    """Write each row as a block of lines, each a name and a value; blanks are left out."""
    column = max(map(across, header)) + len(GAP)
    room, blocks = max(width - column, LEAST), []
    for row in body:
        cells = [(name, cell.strip()) for name, cell in zip(header, row, strict=True) if cell.strip()]
        lines = [f"{name:<{column}}" + ("\n" + " " * column).join(_lines(cell, room)) for name, cell in cells]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
