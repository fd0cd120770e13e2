"""A click log is read: lines become counts of configurations and patterns of clicks."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradedeval.arrays import Floats, Ints, distinct
from gradedeval.clicks.blocks import EXPECTED, Block, file_blocks, frame_blocks
from gradedeval.clicks.log import ClickLog, collapse
from gradedeval.errors import InputError, ProblemList, check_choice, plural
from gradedeval.options import numbers
from gradedeval.options.values import allowed_growth
from gradedeval.rankings.objects import table
from gradedeval.trec.lines import decimal, decode
from gradedeval.trec.source import Source, is_file

CLICKS_AS, LAST_RANK, MOST_SESSIONS = ("rank", "docno"), 1_000_000, 10**12
ROWS = 1 << 21  # that are kept before identical ones are added up


def read_log(
    source: Any,
    *,
    clicks_as: str = "rank",
    depth: int | None = None,
    idle: float | str | None = None,
    columns: str | Sequence[str] = (),
    lenient: bool = False,
    max_growth: float | str | None = None,
) -> ClickLog:
    """A click log, of which a line or a row is a session: one user's one query.

    source     a path, `-`, an open file or a DataFrame with the columns topic and clicks, and if they are there shown,
               user, session, time (seconds) and count. A file has them between tabs under a header, or is JSON Lines;
               it may be packed, and grow `max_growth` times: a number, or "inf"; None: 1000
    clicks_as  "rank": clicks are ranks from 1; "docno": they are docnos of the shown list
    depth      lists are cut to it, and clicks below it ignored
    idle       lines of one user, topic and list are one session as long as each follows within so many seconds, or as
               text "60m", "1h"; None: each line is one
    columns    other columns that are kept
    lenient    bad lines are skipped, and counted in a note

    A second click on a rank counts once. Chapelle et al., CIKM 2009, section 6.1. Raises InputError with the lines that
    are bad, where there is none, or a column is missing.
    """
    check_choice(clicks_as, CLICKS_AS, "--clicks-as")
    depth = numbers.DEPTH.check_or_none(depth)
    kept = [columns] if isinstance(columns, str) else list(columns)
    if isinstance(source, ClickLog):
        if missing := [name for name in kept if name not in source.columns]:
            raise InputError(source.place, f"was read without the column '{missing[0]}'", f"read_log(columns={kept})")
        if idle is not None or clicks_as == "docno" or lenient:
            raise InputError(source.place, "is read already", "leave out idle, clicks_as and lenient", usage=True)
        return source if depth is None else source.cut(depth)
    problems, notes = ProblemList(Source(source).place if is_file(source) else "log"), list[str]()
    wanted = [*kept, *(["user", "time"] if idle is not None else []), *(["shown"] if clicks_as == "docno" else [])]
    reader = _Reader(problems, kept, clicks_as == "docno", None if idle is None else idle_seconds(idle))
    with allowed_growth(max_growth):
        for block in filter(lambda block: block.lines, _blocks(source, wanted, problems, notes)):
            reader.add(block)
    log = reader.log(lenient, notes)
    return log if depth is None else log.cut(depth)


def _blocks(source: Any, wanted: Sequence[str], problems: ProblemList, notes: list[str]) -> Iterable[Block]:
    if is_file(source):
        return file_blocks(Source(source), wanted, problems, notes)
    if (frame := table(source, "click logs", "log")) is not None:
        return frame_blocks(frame, wanted, problems)
    what = f"cannot read a click log from {type(source).__name__}"
    raise InputError("log", what, "give a file or a DataFrame with the columns topic and clicks", usage=True)


_IDLE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)")


def idle_seconds(idle: float | str) -> float:
    """Seconds of a time such as "60m", "1h", "90s" or 90. Raises InputError (usage)."""
    if not isinstance(idle, str):
        return float(numbers.IDLE.check(idle))
    match = _IDLE.fullmatch(idle.strip())
    if not match:
        raise InputError("--idle", f"'{idle}' is not a time", "write 60m, 1h or 3600s", usage=True)
    return float(numbers.IDLE.read(match[1])) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


class _Interned(dict[Any, int]):
    """Distinct values by the number with which they came, and what each of them means, which is worked out once."""

    def __init__(self, meaning: Callable[[Any], Any] = decode, invalid: Any = None) -> None:
        self.meaning, self.invalid = meaning, invalid
        self.means: list[Any] = []
        self.faults: dict[int, InputError] = {}

    def __missing__(self, value: Any) -> int:
        self[value] = code = len(self.means)
        try:
            self.means.append(self.meaning(value))
        except InputError as error:
            self.means.append(self.invalid)
            self.faults[code] = error
        return code

    def codes(self, values: Iterable[Any], faults: dict[int, InputError]) -> Ints:
        """The codes of values; what is wrong with them is added to the faults of the lines."""
        codes = np.fromiter(map(self.__getitem__, values), np.int64)
        if self.faults:
            bad = np.flatnonzero(np.isin(codes, list(self.faults)))
            for index, code in zip(bad.tolist(), codes[bad].tolist(), strict=True):
                faults.setdefault(index, self.faults[code])
        return codes

    def numbers(self, codes: Ints) -> Any:
        """The meanings of codes that are numbers, as an array."""
        few, position = distinct(codes)
        return np.array([self.means[code] for code in few.tolist()])[position]


class _Shown(NamedTuple):
    """What a topic and its list mean."""

    topic: str
    docnos: tuple[str, ...]


class _Reader:
    """Takes the blocks of a log, and makes a log of them."""

    def __init__(self, problems: ProblemList, kept: Sequence[str], as_docno: bool, idle: float | None) -> None:
        self.problems, self.as_docno, self.idle = problems, as_docno, idle
        self.docnos: dict[bytes, str] = {}
        self.patterns: dict[tuple[int, ...], int] = {(): 0}
        self.lists = _Interned(self._shown, _Shown("", ()))
        self.clicks = _Interned(self._pattern, (0, 0, 0, 0))
        self.users, self.names = _Interned(), defaultdict[bytes, int](itertools.count().__next__)
        self.counts, self.kept = _Interned(_count, 1), {name: _Interned() for name in kept}
        self.sessions: set[bytes] = set()
        self.rows: list[list[Ints]] = []  # configuration, pattern, user, the columns that are kept, count
        self.times: list[tuple[Ints, Floats]] = []
        self.waiting = self.repeated = self.disordered = 0
        self.timed = False  # whether sessions are told apart by time alone

    def add(self, block: Block) -> None:
        """Take a block; what is wrong with its lines are problems."""
        given, faults, lines = block.columns, dict[int, InputError](), np.arange(len(block.lines))
        blank = (b"",) * len(lines)
        shown = given.get("shown", blank)
        configuration = self.lists.codes(zip(given["topic"], shown, strict=True), faults)
        clicks = zip(configuration.tolist(), given["clicks"], strict=True) if self.as_docno else given["clicks"]
        pattern, last, repeated, disordered = self.clicks.numbers(self.clicks.codes(clicks, faults)).T
        length = np.fromiter((len(self.lists.means[code].docnos) for code in configuration.tolist()), np.int64)
        for index in np.flatnonzero((last > length) & (length > 0)).tolist():
            what = f"a click on rank {last[index]}, and {length[index]} {plural(int(length[index]), 'document')} shown"
            faults.setdefault(index, InputError("", what, "ranks are those of the shown list, from 1"))
        count = np.ones(len(lines), dtype=np.int64)
        if "count" in given:
            count = self.counts.numbers(self.counts.codes(given["count"], faults))
        user = np.full(len(lines), -1)
        if any(given.get("user", ())):
            names = given["user"]
            known = map(self.users.__getitem__, filter(None, names))
            user[np.fromiter(map(bool, names), bool)] = np.fromiter(known, np.int64)
        kept = [codes.codes(given.get(name, blank), faults) for name, codes in self.kept.items()]
        if self.idle is not None:
            self._keep_times(given, blank, faults)
        elif "session" in given:
            self._check_sessions(given["session"], given.get("user", blank), configuration, faults)
        self.timed |= "time" in given and "session" not in given
        for index in sorted(faults):
            self.problems.add(block.lines[index], faults[index].problem, faults[index].hint)
        good = np.delete(lines, sorted(faults))
        if faults and self.idle is not None:
            self.times[-1] = (self.times[-1][0][good], self.times[-1][1][good])
        self.repeated += int((repeated * count)[good].sum())
        self.disordered += int((disordered * count)[good].sum())
        self.rows.append([column[good] for column in (configuration, pattern, user, *kept, count)])
        self.waiting += len(good)
        if self.waiting > ROWS and self.idle is None:
            self._collapse()

    def _shown(self, key: tuple[bytes, bytes]) -> _Shown:
        topic, docnos = key[0].strip(), key[1].split()
        if not topic:
            raise InputError("", "no topic in this line", "fill the field, or remove the line")
        if len(set(docnos)) < len(docnos):
            again = next(docno for docno in docnos if docnos.count(docno) > 1)
            raise InputError("", f"'{decode(again)}' is shown twice", "give each document of a list once")
        # Documents are shown in many lists.
        return _Shown(decode(topic), tuple(self.docnos.setdefault(docno, decode(docno)) for docno in docnos))

    def _pattern(self, key: Any) -> tuple[int, int, int, int]:
        """The pattern of clicks, its last rank, whether one was made again, and whether they are out of rank order."""
        words = (key[1] if self.as_docno else key).split()
        words = [] if words == [b"-"] else words
        ranks = _positions(words, self.lists.means[key[0]].docnos) if self.as_docno else [_rank(word) for word in words]
        once = list(dict.fromkeys(ranks))
        pattern = tuple(sorted(once))
        number = self.patterns.setdefault(pattern, len(self.patterns))
        return number, max(pattern, default=0), int(len(once) < len(ranks)), int(sorted(ranks) != ranks)

    def _check_sessions(
        self, sessions: Sequence[bytes], users: Sequence[bytes], configuration: Ints, faults: dict[int, InputError]
    ) -> None:
        """A session that has been there, of the same user and on the same list, is a fault."""
        for index, (session, user, code) in enumerate(zip(sessions, users, configuration.tolist(), strict=True)):
            if session:
                known = len(self.sessions)
                self.sessions.add(b"%d\t%b\t%b" % (code, session, user))
                if len(self.sessions) == known:
                    what = f"session '{decode(session)}' a second time"
                    faults.setdefault(index, InputError("", what, "give each session once, with all its clicks"))

    def _keep_times(self, given: Any, blank: Sequence[bytes], faults: dict[int, InputError]) -> None:
        if "count" in given:
            raise InputError("--idle", "the log has counts, which have no time", "remove the column count", usage=True)
        times, names = given.get("time", blank), map(self.names.__getitem__, given.get("session", blank))
        seconds = np.fromiter(map(decimal, times), np.float64)
        for index in np.flatnonzero(np.isnan(seconds)).tolist():
            what = f"time '{decode(times[index])}' is not a number"
            faults.setdefault(index, InputError("", what, "expected seconds, such as 12.5"))
        self.times.append((np.fromiter(names, np.int64), seconds))

    def _collapse(self) -> None:
        keys, count = collapse([np.concatenate(parts) for parts in zip(*self.rows, strict=True)][:-1], self._counts())
        self.rows, self.waiting = [[*keys, count]], 0

    def _counts(self) -> Ints:
        return np.concatenate([row[-1] for row in self.rows])

    def log(self, lenient: bool, notes: list[str]) -> ClickLog:
        """The log, with some notes that there are. Raises InputError where lines are bad, or there is none."""
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
            self._unite()
        self._collapse()
        configuration, pattern, user, *kept, count = self.rows[0]
        if self.repeated:
            notes.append(f"{problems.place}: a second click on a rank counts once, in {_sessions(self.repeated)}")
        if self.disordered:
            what = f"clicks are taken in the order of ranks, not so made in {_sessions(self.disordered)}"
            notes.append(f"{problems.place}: {what}")
        if self.timed and self.users and self.idle is None:
            notes.append(f"{problems.place}: each line is a session; --idle 60m unites lines of a user by their time")
        topics, lists = [shown.topic for shown in self.lists.means], [shown.docnos for shown in self.lists.means]
        named, users = user if self.users else None, self.users.means
        columns = {name: (self.kept[name].means, codes) for name, codes in zip(self.kept, kept, strict=True)}
        sessions = configuration, pattern, count
        return ClickLog(topics, lists, list(self.patterns), *sessions, named, users, columns, problems.place, notes)

    def _unite(self) -> None:
        """Lines of one user, session and list that follow each other become one row, with the clicks of all."""
        names, seconds = (np.concatenate(parts) for parts in zip(*self.times, strict=True))
        self.names.clear()  # a million of them take more than all the rest
        self.times.clear()
        columns = [np.concatenate(parts) for parts in zip(*self.rows, strict=True)]
        self.rows.clear()
        configuration, pattern, user = columns[:3]
        alone = np.where(user < 0, np.arange(len(user)), -1)  # lines without a user are never of one
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
        what = f"rank '{decode(word)}' is not a whole number"
        raise InputError("", what, "write ranks with blanks between them; --clicks-as docno reads docnos")
    if not 1 <= rank <= LAST_RANK:
        what = f"rank {decode(word)[:20]} is {'too large' if rank > 0 else 'below 1'}"
        raise InputError("", what, "ranks are counted from 1")
    return rank


def _positions(words: Sequence[bytes], docnos: tuple[str, ...]) -> list[int]:
    """The ranks of docnos in a list."""
    rank_of = {docno: rank for rank, docno in enumerate(docnos, 1)}
    try:
        return [rank_of[decode(word)] for word in words]
    except KeyError as error:
        what = f"'{error.args[0]}' is clicked and not shown"
        raise InputError("", what, "clicks are on documents of the list") from None


def _count(word: bytes) -> int:
    number = decimal(word.strip())
    if not (number == int(number if number == number else 0) and 1 <= number <= MOST_SESSIONS):
        raise InputError("", f"count '{decode(word)}' is not a whole number from 1", "write how many sessions it is")
    return int(number)
