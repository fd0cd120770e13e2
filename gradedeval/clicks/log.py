"""Read click logs: lines become counts of configurations and patterns of clicks."""

from __future__ import annotations

import csv
import itertools
import re
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, distinct, np
from gradedeval.clicks.result_rows import NEEDED as RESULT_COLUMNS
from gradedeval.clicks.result_rows import Block, by_session, has_results, known_names, our_names
from gradedeval.errors import InputError, Note, ProblemList, check_choice, did_you_mean, flag, plural, public, shorten
from gradedeval.kernel import Setting, decimal, decode, encode, ranges

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.kernel import SmallTable


# The click log in memory.


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """Sessions, as counts of identical ones: a row counts the sessions with one pattern of clicks on a configuration.

    topics         configurations: the topic of each
    shown          configurations: the docnos from rank 1 on; () if unknown
    patterns       the clicked ranks, from 1, ascending; () of a session without a click
    configuration  rows: index into `topics` and `shown`
    pattern        rows: index into `patterns`
    count          rows: number of sessions, at least 1
    user           rows: index into `users`, −1 if each session is a separate user; None: all sessions are
    users          the names of the users
    columns        other columns by name: the distinct values, and for each row an index into them
    place          name of the log in messages
    notes          notes on skipped and ignored input
    """

    topics: Sequence[str]
    shown: Sequence[tuple[str, ...]]
    patterns: Sequence[tuple[int, ...]]
    configuration: Ints
    pattern: Ints
    count: Ints
    user: Ints | None = None
    users: Sequence[str] = ()
    columns: Mapping[str, tuple[Sequence[str], Ints]] = field(default_factory=dict)
    place: str = "<log>"
    notes: Sequence[str] = ()

    @cached_property
    def sessions(self) -> int:
        """The number of sessions."""
        return int(self.count.sum())

    @cached_property
    def lengths(self) -> Ints:
        """configurations: the number of documents shown; 0 if unknown."""
        return np.array([len(docnos) for docnos in self.shown], dtype=np.int64)

    @cached_property
    def clicks(self) -> Ints:
        """patterns: the number of clicked ranks."""
        return np.array([len(ranks) for ranks in self.patterns], dtype=np.int64)

    @cached_property
    def last_click(self) -> Ints:
        """patterns: the deepest clicked rank; 0 without a click."""
        return np.array([ranks[-1] if ranks else 0 for ranks in self.patterns], dtype=np.int64)

    @cached_property
    def flat_clicks(self) -> tuple[Ints, Ints]:
        """The pattern and the rank of each click of each pattern."""
        ranks = np.fromiter(chain.from_iterable(self.patterns), dtype=np.int64)
        return np.repeat(np.arange(len(self.patterns)), self.clicks), ranks

    def clicked(self, depth: int) -> Bools:
        """Return patterns × ranks 1 to depth: whether the rank was clicked."""
        matrix = np.zeros((len(self.patterns), depth), dtype=bool)
        pattern, rank = self.flat_clicks
        inside = rank <= depth
        matrix[pattern[inside], rank[inside] - 1] = True
        return matrix

    def totals(self) -> tuple[Ints, Ints, Ints]:
        """Return configuration, pattern and count of the rows summed over users: each pair once, ascending."""
        (configuration, pattern), count = collapse([self.configuration, self.pattern], self.count)
        return configuration, pattern, count

    def cut(self, depth: int) -> ClickLog:
        """Return the log with lists cut at a depth, without clicks below it. Equal lists become one configuration."""
        lists: dict[tuple[str, tuple[str, ...]], int] = {}
        ranks: dict[tuple[int, ...], int] = {}
        shown = zip(self.topics, self.shown, strict=True)
        of_list = [lists.setdefault((topic, docnos[:depth]), len(lists)) for topic, docnos in shown]
        kept = [tuple(rank for rank in pattern if rank <= depth) for pattern in self.patterns]
        of_pattern = [ranks.setdefault(pattern, len(ranks)) for pattern in kept]
        lost = self.clicks - np.array([len(pattern) for pattern in kept], dtype=np.int64)
        ignored = int((lost[self.pattern] * self.count).sum())
        note = Note(f"{self.place}: {flag.depth:{depth}}: {ignored} {plural(ignored, 'click')} below it ignored")
        cut = replace(
            self,
            topics=[topic for topic, _ in lists],
            shown=[docnos for _, docnos in lists],
            patterns=list(ranks),
            configuration=np.array(of_list, dtype=np.int64)[self.configuration],
            pattern=np.array(of_pattern, dtype=np.int64)[self.pattern],
            notes=[*self.notes, note] if ignored else self.notes,
        )
        return cut.collapsed()

    def select(self, rows: Bools) -> ClickLog:
        """Return the log restricted to some sessions; its configurations stay."""
        return replace(
            self,
            configuration=self.configuration[rows],
            pattern=self.pattern[rows],
            count=self.count[rows],
            user=None if self.user is None else self.user[rows],
            columns={name: (values, codes[rows]) for name, (values, codes) in self.columns.items()},
        )

    def collapsed(self) -> ClickLog:
        """Return the same sessions with identical ones in one row."""
        names = list(self.columns)
        user = [] if self.user is None else [self.user]
        keys = [self.configuration, self.pattern, *user, *(codes for _, codes in self.columns.values())]
        keys, count = collapse(keys, self.count)
        kept = zip(names, keys[2 + len(user) :], strict=True)
        columns = {name: (self.columns[name][0], codes) for name, codes in kept}
        named = keys[2] if user else None
        return replace(self, configuration=keys[0], pattern=keys[1], user=named, columns=columns, count=count)

    def frame(self) -> pd.DataFrame:
        """Return a row for each distinct session: topic, clicks (a list of ranks), shown (a list of docnos), user (None
        for a separate user), the other columns, count."""
        data: dict[str, Any] = {
            "topic": [self.topics[code] for code in self.configuration.tolist()],
            "clicks": [list(self.patterns[code]) for code in self.pattern.tolist()],
            "shown": [list(self.shown[code]) for code in self.configuration.tolist()],
        }
        if self.user is not None:
            data["user"] = [self.users[code] if code >= 0 else None for code in self.user.tolist()]
        for name, (values, codes) in self.columns.items():
            data[name] = [values[code] for code in codes.tolist()]
        return kernel.results.to_frame(data | {"count": self.count})

    def lines(self) -> Iterator[str]:
        """Yield the log as text for `read_log`. Raises InputError if a name has a tab or a line end."""
        lists = [" ".join(docnos) for docnos in self.shown]
        clicks = [" ".join(map(str, ranks)) or "-" for ranks in self.patterns]
        parts: dict[str, tuple[Sequence[str], Ints]] = {
            "topic": (self.topics, self.configuration),
            "clicks": (clicks, self.pattern),
        }
        if any(lists):
            parts["shown"] = lists, self.configuration
        if self.user is not None:
            parts["user"] = [*self.users, ""], self.user  # −1 is the last
        parts |= self.columns
        for name, (values, _) in parts.items():
            if bad := next((value for value in values if any(mark in value for mark in "\t\n\r")), None):
                problem = f"the {name} {bad!r} has a tab or the end of a line"
                raise InputError(self.place, problem, "rename it; lines of fields cannot hold it")
        yield "\t".join([*parts, "count"]) + "\n"
        columns = [[values[code] for code in codes.tolist()] for values, codes in parts.values()]
        for row in zip(*columns, map(str, self.count.tolist()), strict=True):
            yield "\t".join(row) + "\n"

    def write(self, file: IO[bytes]) -> None:
        """Write the log as text to a file that is open in binary mode. Raises InputError as `lines`."""
        file.writelines(map(encode, self.lines()))


class FromLog(kernel.results.InNotebook):
    """A result computed from a click log; `settings` describe how."""

    settings: str

    @property
    def settings_text(self) -> str:
        """The settings of the computation."""
        return self.settings


def collapse(keys: Sequence[Ints], count: Ints) -> tuple[list[Ints], Ints]:
    """Return the distinct rows of several columns of codes from −1, ascending, and the sum of their counts."""
    if not len(count):
        return [key[:0] for key in keys], count
    widths = [int(key.max()) + 2 for key in keys]
    if np.prod(np.array(widths, dtype=np.float64)) < 2**62:
        whole = np.zeros(len(count), dtype=np.int64)
        for key, width in zip(keys, widths, strict=True):
            whole = whole * width + (key + 1)
        order = np.argsort(whole, kind="stable")
        first = np.append(True, np.diff(whole[order]) > 0)
    else:
        order = np.lexsort(list(reversed(keys)))
        first = np.append(True, np.any([np.diff(key[order]) != 0 for key in keys], axis=0))
    return [key[order][first] for key in keys], np.add.reduceat(count[order], np.flatnonzero(first))


# A click log as blocks of columns: of lines between tabs, of JSON Lines, or of a DataFrame.


NEEDED = ("topic", "clicks")
COLUMNS = (*NEEDED, "shown", "user", "session", "time", "count")
"""The columns with a meaning; others are kept on request."""

Pieces = Iterator[tuple[int, list[bytes]]]
"""Blocks of lines, each with the number of its first line."""

EXPECTED = (
    "expected a header such as topic, clicks, shown between tabs, commas or semicolons, or JSON Lines with these keys"
)


def file_blocks(
    source: kernel.stream.Source, extra: Collection[str], problems: ProblemList, notes: list[str]
) -> Iterator[Block]:
    """Yield the blocks of a file, with `extra` columns; malformed lines are problems, and `notes` receives notes."""
    with closing(kernel.stream.Stream(source)) as stream:
        marked = stream.peek(len(BOM_UTF8)) == BOM_UTF8
        if marked:
            notes.append(f"{source.place}: starts with a byte order mark, which is skipped")
        skip = len(BOM_UTF8) if marked else 0
        if stream.peek(64)[skip:].lstrip()[:1] == b"{":
            yield from _json_blocks(kernel.checked_lines(stream, problems, longest=None, skip=skip), extra, problems)
        else:
            yield from _line_blocks(kernel.checked_lines(stream, problems, skip=skip), extra, problems)


def _line_blocks(pieces: Pieces, extra: Collection[str], problems: ProblemList) -> Iterator[Block]:
    names: list[str] = []
    width, chosen, separator = 0, {}, b"\t"
    for number, lines in pieces:
        numbers: Sequence[int] = range(number, number + len(lines))
        if b"" in lines:
            numbers = [position for position, line in zip(numbers, lines, strict=True) if line]
            lines = list(filter(None, lines))
        if not names:
            header = next((index for index, line in enumerate(lines) if line.strip()), None)
            if header is None:
                continue
            marks = (b"\t", b",", b";")
            separator = next((mark for mark in marks if mark in lines[header]), separator)
            names = list(our_names(tuple(decode(cell.strip()) for cell in _cells(lines[header], separator))))
            check_header(names, extra, f"{problems.place}:{numbers[header]}")
            width, chosen = len(names), {name: names.index(name) for name in columns_read(names, extra)}
            lines, numbers = lines[header + 1 :], numbers[header + 1 :]
        rows = [_cells(line, separator) for line in lines]
        yield _block_of_rows(numbers, rows, width, chosen, names, problems)


def _cells(line: bytes, separator: bytes) -> list[bytes]:
    """Return the fields of a line, which may stand in quotes as in CSV; none if a quote does not end."""
    if separator == b"\t" or b'"' not in line:
        return line.split(separator)
    try:
        (cells,) = csv.reader([decode(line)], delimiter=decode(separator), strict=True)
    except (csv.Error, ValueError):
        return []
    return [encode(cell) for cell in cells]


def _block_of_rows(
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
            elif not row or (any(row) and not row[0].startswith(b"#")):
                problem = f"{len(row)} {plural(len(row), 'field')}, expected {width} ({shorten(names, 8)})"
                problem = problem if row else "a quote does not end on its line"
                problems.add(number, problem, "separate the fields as in the header", "fields")
        numbers, rows = [number for number, _ in kept], [row for _, row in kept]
    columns = list(zip(*rows, strict=True)) or [()] * width
    return Block(numbers, {name: columns[index] for name, index in chosen.items()})


def columns_read(names: Collection[str], extra: Collection[str]) -> list[str]:
    """Return the columns of a log that have a meaning or are requested."""
    known = (*COLUMNS, *RESULT_COLUMNS) if has_results(names) else COLUMNS
    return [name for name in dict.fromkeys((*known, *extra)) if name in names]


def check_header(names: Sequence[str], extra: Collection[str], place: str) -> None:
    """Raise InputError if a required or `extra` column is missing, or a column is there twice."""
    needed = RESULT_COLUMNS if has_results(names) else NEEDED
    extra = [name for name in extra if name != "shown"] if has_results(names) else extra
    for name in (*needed, *extra):
        if name not in names:
            problem = "no column 'topic' in the header" if not set(names) & set(COLUMNS) else f"no column '{name}'"
            hint = EXPECTED if name in NEEDED else did_you_mean(name, names) or f"there are {shorten(names, 10)}"
            if name in RESULT_COLUMNS and has_results(names):
                unknown = [column for column in names if column not in (*COLUMNS, *RESULT_COLUMNS)]
                hint = f"rename {shorten(unknown, 10)} if it holds it; " if len(unknown) == 1 else ""
                hint += f"known names: {', '.join(known_names()[name])}"
            raise InputError(place, problem, hint, kind="fields")
        if list(names).count(name) > 1:
            raise InputError(place, f"two columns '{name}'", "give each column a different name", kind="fields")


def _json_blocks(pieces: Pieces, extra: Collection[str], problems: ProblemList) -> Iterator[Block]:
    import json  # deferred: few logs are JSON

    seen: set[str] = set()
    for number, lines in pieces:
        rows: list[tuple[int, Mapping[str, Any]]] = []
        for index, line in enumerate(lines, number):
            if not line.strip():
                continue
            try:
                row = kernel.documents.read_json(decode(line))
            except json.JSONDecodeError as error:
                problem = f"is not valid JSON ({error.msg})"
                problems.add(index, problem, "write an object a line", "format")
                continue
            if isinstance(row, dict):
                row = dict(zip(our_names(tuple(row)), row.values(), strict=True))
            needed = RESULT_COLUMNS if isinstance(row, dict) and has_results(row) else NEEDED
            missing = [name for name in needed if not isinstance(row, dict) or name not in row]
            if missing:
                problems.add(index, f"no key '{missing[0]}'", f"every line needs {' and '.join(needed)}", "fields")
            else:
                rows.append((index, row))
                seen |= row.keys()
        yield _value_block(rows, extra, problems)
    for name in extra:
        if name not in seen and seen and not (name == "shown" and has_results(seen)):
            hint = did_you_mean(name, seen) or f"there are {shorten(sorted(seen), 10)}"
            raise InputError(problems.place, f"no key '{name}'", hint, kind="fields")


def _value_block(rows: Sequence[tuple[int, Mapping[str, Any]]], extra: Collection[str], problems: ProblemList) -> Block:
    """Return rows of values as columns of text; an invalid value is a problem of its row."""
    names = columns_read({name for _, row in rows for name in row}, extra)
    numbers, columns = [], []
    for number, row in rows:
        try:
            columns.append([_text(name, row.get(name)) for name in names])
            numbers.append(number)
        except InputError as error:
            problems.add(number, *error.raw)
    transposed = list(zip(*columns, strict=True)) or [()] * len(names)
    return Block(numbers, dict(zip(names, transposed, strict=True)))


LISTS = ("clicks", "shown", "list_a", "list_b")
"""The columns whose values may be lists."""


def _text(name: str, value: Any) -> bytes:
    """Return the text of a value as in a file of fields. Raises InputError if there is none."""
    if _is_missing(value):
        return b""
    if name == "click" and isinstance(value, bool):
        return b"1" if value else b"0"
    if name in LISTS and not isinstance(value, str | bytes):
        if not hasattr(value, "__iter__") or isinstance(value, Mapping):
            return _word(name, value)  # one rank
        words = [_word(name, word) for word in value]
        if any(len(word.split()) != 1 for word in words):
            raise InputError("", f"{name} has an id that is empty or has blanks", "give ids without blanks")
        return b" ".join(words)
    return _word(name, value)


def _is_missing(value: Any) -> bool:
    """Return whether the value is None, nan or the NA of pandas."""
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
    """Read a small file with a header, or a DataFrame, rows from 1. Raises InputError for a missing column."""
    if kernel.stream.is_file(source):
        return kernel.SmallTable.headed(source, needed, hint)
    frame = kernel.readable_table(source, place, place, needed=True)
    table = kernel.SmallTable(place)
    for name in needed:
        if name not in frame.columns:
            raise InputError(place, f"no column '{name}'", hint, kind="fields")
    names = [str(name) for name in frame.columns]
    for number, row in enumerate(zip(*(frame[name].tolist() for name in frame.columns), strict=True), 1):
        try:
            cells = {name: decode(_text(name, value)) for name, value in zip(names, row, strict=True)}
            table.add(number, cells)
        except InputError as error:
            table.problems.add(number, *error.raw)
    return table


# Reading a click log.


LAST_RANK, MOST_SESSIONS = 1_000_000, 10**12
ROWS = 1 << 21  # rows held before identical ones are merged


ClicksAs = Annotated[Literal["rank", "docno"], Setting("Content of the column clicks: ranks from 1, or docnos of the "
    "shown list.", section="Reading and ranking", short="What the column clicks holds.")]  # fmt: skip
Depth = Annotated[int | None, Setting("Cut shown lists to N documents, and ignore clicks below.", ranges.DEPTH,
    metavar="N", section="Reading and ranking", short="Cut shown lists to N documents.")]  # fmt: skip
Idle = Annotated[float | str | None, Setting("Merge lines of one user, topic and list that follow within TIME, such as "
    "60m, 1h or 90s, by the column time.", metavar="TIME", section="Reading and ranking",
    default_text="each line is a session", short="Merge a user's lines that follow within TIME.")]  # fmt: skip
Lenient = Annotated[bool, Setting("Skip malformed lines of the log, and report how many.",
    section="Reading and ranking", short="Skip malformed lines, and report how many.")]  # fmt: skip


@public
def read_log(
    source: Any,
    *,
    clicks_as: ClicksAs = "rank",
    depth: Depth = None,
    idle: Idle = None,
    columns: str | Sequence[str] = (),
    lenient: Lenient = False,
) -> ClickLog:
    """Read a click log with a line or row for each session: one query of one user.

    source     a path, `-`, an open file or a DataFrame with the columns topic and clicks, and optionally shown, user,
               session, time (seconds) and count; or with a row for each result shown: session, query, rank, docid and
               click (0 or 1). A file has columns between tabs, commas or semicolons under a header, or is JSON Lines;
               it may be compressed
    clicks_as  "rank": clicks are ranks from 1; "docno": they are docnos of the shown list
    depth      cut lists to this depth, and ignore clicks below
    idle       merge successive lines of one user, topic and list into a session if each follows within this many
               seconds, or as text "60m", "1h"; None: each line is a session
    columns    other columns to keep
    lenient    skip bad lines, and count them in a note

    A second click on a rank counts once. Chapelle et al., CIKM 2009, section 6.1. Raises InputError for bad lines, a
    missing column, or a log without sessions.

    >>> log = gradedeval.clicks.read_log("qrels_samples/rivers-clicks.tsv")
    >>> log.sessions, log.shown[0][:2]
    (6575, ('river-0202', 'river-1174'))
    """
    check_choice(clicks_as, ("rank", "docno"), flag.clicks_as)
    depth = ranges.DEPTH.check_or_none(depth)
    kept = [columns] if isinstance(columns, str) else list(columns)
    if isinstance(source, ClickLog):
        if missing := [name for name in kept if name not in source.columns]:
            raise InputError(source.place, f"was read without the column '{missing[0]}'", f"read_log(columns={kept})")
        if idle is not None or clicks_as == "docno" or lenient:
            raise InputError(source.place, "is read already", "leave out idle, clicks_as and lenient", usage=True)
        return source if depth is None else source.cut(depth)
    place = kernel.stream.Source(source).place if kernel.stream.is_file(source) else "log"
    problems, notes = ProblemList(place), list[str]()
    extra = [*kept, *(["user", "time"] if idle is not None else []), *(["shown"] if clicks_as == "docno" else [])]
    reader = _Reader(problems, kept, clicks_as == "docno", None if idle is None else idle_seconds(idle))
    blocks = by_session(_blocks(source, extra, problems, notes), clicks_as == "docno", problems)
    for block in filter(lambda block: block.lines, blocks):
        reader.add(block)
    log = reader.log(lenient, notes)
    return log if depth is None else log.cut(depth)


def _blocks(source: Any, extra: Sequence[str], problems: ProblemList, notes: list[str]) -> Iterable[Block]:
    """Return the blocks of a file, or a DataFrame as one block. Raises InputError for a missing column."""
    if kernel.stream.is_file(source):
        return file_blocks(kernel.stream.Source(source), extra, problems, notes)
    if (frame := kernel.readable_table(source, "click logs", "log")) is not None:
        stored = [str(name) for name in frame.columns]
        names = list(our_names(tuple(stored)))
        check_header(names, extra, problems.place)
        chosen = columns_read(names, extra)
        columns = [frame[stored[names.index(name)]].tolist() for name in chosen]
        rows = [dict(zip(chosen, row, strict=True)) for row in zip(*columns, strict=True)]
        return [_value_block(list(enumerate(rows, 1)), extra, problems)]
    problem = f"cannot read a click log from {type(source).__name__}"
    raise InputError("log", problem, "give a file or a DataFrame with the columns topic and clicks", usage=True)


_IDLE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)")


def idle_seconds(idle: float | str) -> float:
    """Return the seconds of a time such as "60m", "1h", "90s" or 90. Raises InputError (usage)."""
    if not isinstance(idle, str):
        return float(ranges.IDLE.check(idle))
    match = _IDLE.fullmatch(idle.strip())
    if not match:
        raise InputError(flag.idle, f"'{idle}' is not a time", "write 60m, 1h or 3600s", usage=True)
    return float(ranges.IDLE.read(match[1])) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


class _Codes(dict[Any, int]):
    """Distinct values by number, each parsed once."""

    def __init__(self, parse: Callable[[Any], Any] = decode, invalid: Any = None) -> None:
        self.parse, self.invalid = parse, invalid
        self.parsed: list[Any] = []
        self.faults: dict[int, InputError] = {}

    def __missing__(self, value: Any) -> int:
        self[value] = code = len(self.parsed)
        try:
            self.parsed.append(self.parse(value))
        except InputError as error:
            self.parsed.append(self.invalid)
            self.faults[code] = error
        return code

    def codes(self, values: Iterable[Any], faults: dict[int, InputError]) -> Ints:
        """Return the codes of values; add their errors to the faults of the lines."""
        codes = np.fromiter(map(self.__getitem__, values), np.int64)
        if self.faults:
            bad = np.flatnonzero(np.isin(codes, list(self.faults)))
            for index, code in zip(bad.tolist(), codes[bad].tolist(), strict=True):
                faults.setdefault(index, self.faults[code])
        return codes

    def numbers(self, codes: Ints) -> Any:
        """Return the parsed numbers of codes as an array."""
        few, position = distinct(codes)
        return np.array([self.parsed[code] for code in few.tolist()])[position]


class _Reader:
    """Collects the blocks of a log into a `ClickLog`."""

    def __init__(self, problems: ProblemList, kept: Sequence[str], as_docno: bool, idle: float | None) -> None:
        self.problems, self.as_docno, self.idle = problems, as_docno, idle
        self.docnos: dict[bytes, str] = {}
        self.patterns: dict[tuple[int, ...], int] = {(): 0}
        self.lists = _Codes(self._topic_list, ("", ()))  # topic and docnos
        self.clicks = _Codes(self._pattern, (0, 0, 0, 0))
        self.users, self.names = _Codes(), defaultdict[bytes, int](itertools.count().__next__)
        self.counts, self.kept = _Codes(_count, 1), {name: _Codes() for name in kept}
        self.sessions: set[bytes] = set()
        self.rows: list[list[Ints]] = []  # configuration, pattern, user, kept columns, count
        self.times: list[tuple[Ints, Floats]] = []
        self.waiting = self.repeated = self.disordered = 0
        self.timed = False  # whether time alone separates sessions

    def add(self, block: Block) -> None:
        """Add a block; faults of its lines become problems."""
        values, faults, lines = block.columns, dict[int, InputError](), np.arange(len(block.lines))
        blank = (b"",) * len(lines)
        list_texts = values.get("shown", blank)
        configuration = self.lists.codes(zip(values["topic"], list_texts, strict=True), faults)
        clicks = zip(configuration.tolist(), values["clicks"], strict=True) if self.as_docno else values["clicks"]
        pattern, last, repeated, disordered = self.clicks.numbers(self.clicks.codes(clicks, faults)).T
        length = np.fromiter((len(self.lists.parsed[code][1]) for code in configuration.tolist()), np.int64)
        for index in np.flatnonzero((last > length) & (length > 0)).tolist():
            shown = f"{length[index]} {plural(int(length[index]), 'document')} shown"
            problem = f"a click on rank {last[index]}, but {shown}"
            faults.setdefault(index, InputError("", problem, "ranks are those of the shown list, from 1"))
        count = np.ones(len(lines), dtype=np.int64)
        if "count" in values:
            count = self.counts.numbers(self.counts.codes(values["count"], faults))
        user = np.full(len(lines), -1)
        if any(values.get("user", ())):
            names = values["user"]
            codes_of_named = map(self.users.__getitem__, filter(None, names))
            user[np.fromiter(map(bool, names), bool)] = np.fromiter(codes_of_named, np.int64)
        kept = [codes.codes(values.get(name, blank), faults) for name, codes in self.kept.items()]
        if self.idle is not None:
            self._keep_times(values, blank, faults)
        elif "session" in values:
            self._check_sessions(values["session"], values.get("user", blank), configuration, faults)
        self.timed |= "time" in values and "session" not in values
        for index in sorted(faults):
            self.problems.add(block.lines[index], *faults[index].raw)
        good = np.delete(lines, sorted(faults))
        if faults and self.idle is not None:
            self.times[-1] = (self.times[-1][0][good], self.times[-1][1][good])
        self.repeated += int((repeated * count)[good].sum())
        self.disordered += int((disordered * count)[good].sum())
        self.rows.append([column[good] for column in (configuration, pattern, user, *kept, count)])
        self.waiting += len(good)
        if self.waiting > ROWS and self.idle is None:
            self._collapse()

    def _topic_list(self, key: tuple[bytes, bytes]) -> tuple[str, tuple[str, ...]]:
        topic, docnos = key[0].strip(), key[1].split()
        if not topic:
            raise InputError("", "no topic in this line", "fill the field, or remove the line")
        if len(set(docnos)) < len(docnos):
            again = next(docno for docno in docnos if docnos.count(docno) > 1)
            raise InputError("", f"'{decode(again)}' is shown twice", "give each document of a list once")
        # Documents are shown in many lists.
        return decode(topic), tuple(self.docnos.setdefault(docno, decode(docno)) for docno in docnos)

    def _pattern(self, key: Any) -> tuple[int, int, int, int]:
        """Return the pattern of clicks, its last rank, and whether ranks repeat and are out of order."""
        words = (key[1] if self.as_docno else key).split()
        words = [] if words == [b"-"] else words
        ranks = _positions(words, self.lists.parsed[key[0]][1]) if self.as_docno else list(map(_rank, words))
        once = list(dict.fromkeys(ranks))
        pattern = tuple(sorted(once))
        number = self.patterns.setdefault(pattern, len(self.patterns))
        return number, max(pattern, default=0), int(len(once) < len(ranks)), int(sorted(ranks) != ranks)

    def _check_sessions(
        self, sessions: Sequence[bytes], users: Sequence[bytes], configuration: Ints, faults: dict[int, InputError]
    ) -> None:
        """Add a fault for each repeated session of the same user and list."""
        for index, (session, user, code) in enumerate(zip(sessions, users, configuration.tolist(), strict=True)):
            if session:
                size = len(self.sessions)
                self.sessions.add(b"%d\t%b\t%b" % (code, session, user))
                if len(self.sessions) == size:
                    problem = f"session '{decode(session)}' a second time"
                    faults.setdefault(index, InputError("", problem, "give each session once, with all its clicks"))

    def _keep_times(self, values: Any, blank: Sequence[bytes], faults: dict[int, InputError]) -> None:
        if "count" in values:
            raise InputError(flag.idle, "the log has counts, which have no time", "remove the column count", usage=True)
        times, names = values.get("time", blank), map(self.names.__getitem__, values.get("session", blank))
        seconds = np.fromiter(map(decimal, times), np.float64)
        for index in np.flatnonzero(np.isnan(seconds)).tolist():
            problem = f"time '{decode(times[index])}' is not a number"
            faults.setdefault(index, InputError("", problem, "expected seconds, such as 12.5"))
        self.times.append((np.fromiter(names, np.int64), seconds))

    def _collapse(self) -> None:
        keys, count = collapse([np.concatenate(parts) for parts in zip(*self.rows, strict=True)][:-1], self._counts())
        self.rows, self.waiting = [[*keys, count]], 0

    def _counts(self) -> Ints:
        return np.concatenate([row[-1] for row in self.rows])

    def log(self, lenient: bool, notes: list[str]) -> ClickLog:
        """Return the log with its notes. Raises InputError for bad lines, or without sessions."""
        problems = self.problems
        bad = f"{problems.count} bad {plural(problems.count, 'line')}"
        if lenient and problems.count:
            first = min(int(error.place.rpartition(":")[2]) for error in problems.errors)
            notes.append(f"{problems.place}: skipped {bad}, the first on line {first}")
        else:
            problems.check()
        if not self.rows or not len(self._counts()):
            skipped = f" ({bad} skipped)" if problems.count else ""
            raise InputError(problems.place, f"no session{skipped}", EXPECTED, kind="empty")
        if self.idle is not None:
            self._merge_lines()
        self._collapse()
        configuration, pattern, user, *kept, count = self.rows[0]
        if self.repeated:
            notes.append(f"{problems.place}: a second click on a rank counts once, in {_sessions(self.repeated)}")
        if self.disordered:
            order = f"clicks are sorted by rank; the log has another order in {_sessions(self.disordered)}"
            notes.append(f"{problems.place}: {order}")
        if self.timed and self.users and self.idle is None:
            hint = f"{flag.idle:60m} merges lines of a user by time"
            notes.append(Note(f"{problems.place}: each line is a session", hint))
        topics, lists = map(list, zip(*self.lists.parsed, strict=True))
        named, users = user if self.users else None, self.users.parsed
        columns = {name: (self.kept[name].parsed, codes) for name, codes in zip(self.kept, kept, strict=True)}
        sessions = configuration, pattern, count
        return ClickLog(topics, lists, list(self.patterns), *sessions, named, users, columns, problems.place, notes)

    def _merge_lines(self) -> None:
        """Merge successive lines of one user, session and list into one row with the clicks of all."""
        names, seconds = (np.concatenate(parts) for parts in zip(*self.times, strict=True))
        self.names.clear()  # a million names need more memory than the rest
        self.times.clear()
        columns = [np.concatenate(parts) for parts in zip(*self.rows, strict=True)]
        self.rows.clear()
        configuration, pattern, user = columns[:3]
        alone = np.where(user < 0, np.arange(len(user)), -1)  # lines without a user are never merged
        keys = [user, names, configuration, *columns[3:-1], alone]
        order = np.lexsort([seconds, *reversed(keys)])
        changed = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
        first = np.append(True, changed | (np.diff(seconds[order]) > self.idle))
        begins = np.append(np.flatnonzero(first), len(order))
        ranks, clicked = list(self.patterns), pattern[order]
        for begin in np.flatnonzero(np.diff(begins) > 1).tolist():
            some = clicked[begins[begin] : begins[begin + 1]].tolist()
            union = tuple(sorted({rank for code in some for rank in ranks[code]}))
            clicked[begins[begin]] = self.patterns.setdefault(union, len(self.patterns))
        columns[1][order] = clicked
        self.rows = [[column[order][first] for column in columns]]


def _sessions(count: int) -> str:
    return f"{count} {plural(count, 'session')}"


def _rank(word: bytes) -> int:
    try:
        rank = int(word) if word.isdigit() or word[:1] == b"-" else 0
    except ValueError:  # digits without an end are refused by Python
        rank = LAST_RANK + 1
    if rank < 1 and not word.lstrip(b"-").isdigit():
        problem = f"rank '{decode(word)}' is not a whole number"
        raise InputError("", problem, f"write ranks separated by spaces; {flag.clicks_as:docno} reads docnos")
    if not 1 <= rank <= LAST_RANK:
        problem = f"rank {decode(word)[:20]} is {'too large' if rank > 0 else 'below 1'}"
        raise InputError("", problem, "ranks are counted from 1")
    return rank


def _positions(words: Sequence[bytes], docnos: tuple[str, ...]) -> list[int]:
    """Return the ranks of docnos in a list."""
    rank_of = {docno: rank for rank, docno in enumerate(docnos, 1)}
    try:
        return [rank_of[decode(word)] for word in words]
    except KeyError as error:
        problem = f"'{error.args[0]}' is clicked but not shown"
        raise InputError("", problem, "clicks are on documents of the list") from None


def _count(word: bytes) -> int:
    number = decimal(word.strip())
    if not (number == int(number if number == number else 0) and 1 <= number <= MOST_SESSIONS):
        raise InputError("", f"count '{decode(word)}' is not a whole number from 1", "write the number of sessions")
    return int(number)
