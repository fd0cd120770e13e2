"""Turn click logs with a row for each result shown into rows of sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import NamedTuple

from gradedeval import kernel
from gradedeval.errors import InputError, ProblemList, shorten
from gradedeval.kernel import decode

NEEDED = ("session", "topic", "rank", "docno", "click")
"""Contents of the columns of a log with a row for each result."""

_CLICKED = {b"1": True, b"true": True, b"True": True, b"0": False, b"false": False, b"False": False, b"": False}


class Block(NamedTuple):
    """Some lines of a log: the number of each, and the value of each in the requested columns."""

    lines: Sequence[int]
    columns: Mapping[str, Sequence[bytes]]


@cache
def known_names() -> dict[str, tuple[str, ...]]:
    """Return the names of columns: content -> its known names."""
    names = kernel.file_formats  # not for a help page
    of_sessions, of_clicks = ("session", "session_id"), ("click", "clicked", "is_click")
    return dict(zip(NEEDED, (of_sessions, names.TOPIC, names.RANK, names.DOCNO, of_clicks), strict=True))


@lru_cache(maxsize=64)
def our_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of columns in our spelling: the topic's, and all in a log with a row for each result."""
    columns = {content: _find(names, row) for content, row in known_names().items()}
    present = [content for content, name in columns.items() if name]
    if "clicks" in map(kernel.file_formats.plain, names) or not has_results(present):
        columns = {"topic": columns["topic"]}
    content_of = {names.index(name): content for content, name in columns.items() if name}
    return tuple(content_of.get(index, name) for index, name in enumerate(names))


def _find(names: tuple[str, ...], aliases: tuple[str, ...]) -> str:
    """Return the name that comes first among some aliases; empty if there is none."""
    plain = kernel.file_formats.plain
    present = {plain(name): name for name in reversed(names)}
    return next((present[name] for name in map(plain, aliases) if name in present), "")


def has_results(names: Collection[str]) -> bool:
    """Return whether columns are of a log with a row for each result: a rank, docno or click, and no list of clicks."""
    return "clicks" not in names and len({"rank", "docno", "click"} & set(names)) > 1


@dataclass(eq=False, repr=False)
class _Session:
    """The results of one session: rank -> docno, and its clicks; `other` columns have one value in all its rows."""

    line: int
    other: dict[str, bytes]
    shown: dict[int, bytes] = field(default_factory=dict)
    clicked: list[int] = field(default_factory=list)
    faults: list[tuple[int, InputError]] = field(default_factory=list)


def by_session(blocks: Iterable[Block], as_docno: bool, problems: ProblemList) -> Iterator[Block]:
    """Yield blocks of sessions unchanged, and rows of results, in any order, as sessions with ranks or docnos."""
    sessions: dict[tuple[bytes, ...], _Session] = {}
    for block in blocks:
        if not has_results(block.columns):
            yield block
            continue
        names = [name for name in block.columns if name not in ("rank", "docno", "click", "time")]
        columns = [block.columns[name] for name in names]
        times = block.columns.get("time", (b"",) * len(block.lines))
        for index, line in enumerate(block.lines):
            other = {name: column[index] for name, column in zip(names, columns, strict=True)}
            key = (other["session"], other.get("user", b""), other["topic"])
            session = sessions.setdefault(key, _Session(line, other | {"time": times[index]}))
            rank, docno, click = (block.columns[name][index] for name in ("rank", "docno", "click"))
            try:
                _add(session, rank, docno, click, other)
            except InputError as error:
                session.faults.append((line, error))
    if sessions:
        yield _sessions_block(list(sessions.values()), as_docno, problems)


def _add(session: _Session, rank: bytes, docno: bytes, click: bytes, other: dict[str, bytes]) -> None:
    """Add a result to its session. Raises InputError if a field is bad, or a rank is there twice."""
    if not other["session"].strip():
        raise InputError("", "no session in this line", "fill the field, or remove the line")
    if not rank.strip().isdigit() or not 0 < int(rank) <= 1_000_000:
        raise InputError("", f"rank '{decode(rank)}' is not a whole number from 1", "count the results shown from 1")
    if len(docno.split()) != 1:
        raise InputError("", f"docno '{decode(docno)}' is empty or has blanks", "give ids without blanks")
    if click.strip() not in _CLICKED:
        raise InputError("", f"click '{decode(click)}' is neither 0 nor 1", "write 1 for a result that was clicked")
    if int(rank) in session.shown:
        hint = "give each showing of a list a session of its own"
        raise InputError("", f"rank {int(rank)} of session '{decode(other['session'])}' a second time", hint)
    if differing := [name for name, value in other.items() if session.other[name] != value]:
        problem = f"{differing[0]} '{decode(other[differing[0]])}' differs from the first row of its session"
        raise InputError("", problem, "give all rows of a session the same")
    session.shown[int(rank)] = docno.strip()
    if _CLICKED[click.strip()]:
        session.clicked.append(int(rank))


def _sessions_block(sessions: Sequence[_Session], as_docno: bool, problems: ProblemList) -> Block:
    """Return a block with a row for each session; one with a bad row, or with gaps between ranks, is a problem."""
    good = []
    for session in sessions:
        gaps = [rank for rank in range(1, len(session.shown) + 1) if rank not in session.shown]
        if gaps and not session.faults:
            problem = f"session '{decode(session.other['session'])}' has no result at rank {gaps[0]}"
            hint = f"log all results shown, not only clicked ones; ranks here: {shorten(map(str, session.shown), 8)}"
            session.faults.append((session.line, InputError("", problem, hint)))
        for line, error in session.faults:
            problems.add(line, *error.raw)
        good += [] if session.faults else [session]
    shown = [[session.shown[rank] for rank in sorted(session.shown)] for session in good]
    columns: dict[str, Sequence[bytes]] = {
        "clicks": [
            b" ".join(session.shown[rank] if as_docno else b"%d" % rank for rank in session.clicked) or b"-"
            for session in good
        ],
        "shown": list(map(b" ".join, shown)),
    }
    for name in sessions[0].other:
        columns[name] = [session.other[name] for session in good]
    if not any(columns["time"]):
        del columns["time"]
    return Block([session.line for session in good], columns)
