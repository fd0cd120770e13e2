"""What a click log holds: how often users clicked which ranks of which lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Bools, Ints
from gradedeval.errors import InputError, plural
from gradedeval.formats.frames import to_frame
from gradedeval.trec.lines import encode

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """Sessions, as counts of identical ones: a row says how often the clicks of a pattern were made on a configuration.

    topics         configurations: the topic of each
    shown          configurations: its docnos from rank 1 on; () where the log does not tell them
    patterns       the clicked ranks, from 1, ascending; () of a session without a click
    configuration  rows: index into `topics` and `shown`
    pattern        rows: index into `patterns`
    count          rows: how many sessions, at least 1
    user           rows: index into `users`, −1 where each session is a user of its own; None: it is everywhere
    users          the names of the users
    columns        other columns by name: the values that there are, and for each row the index of its own
    place          what messages call the log
    notes          what was skipped or ignored when it was read
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
        """How many sessions there are."""
        return int(self.count.sum())

    @cached_property
    def lengths(self) -> Ints:
        """configurations: how many documents were shown; 0 where the log does not tell."""
        return np.array([len(shown) for shown in self.shown], dtype=np.int64)

    @cached_property
    def clicks(self) -> Ints:
        """patterns: how many ranks were clicked."""
        return np.array([len(ranks) for ranks in self.patterns], dtype=np.int64)

    @cached_property
    def last_click(self) -> Ints:
        """patterns: the deepest clicked rank; 0 without a click."""
        return np.array([ranks[-1] if ranks else 0 for ranks in self.patterns], dtype=np.int64)

    @cached_property
    def flat_clicks(self) -> tuple[Ints, Ints]:
        """Of each click of each pattern: the pattern and the rank."""
        ranks = np.fromiter(chain.from_iterable(self.patterns), dtype=np.int64)
        return np.repeat(np.arange(len(self.patterns)), self.clicks), ranks

    def clicked(self, depth: int) -> Bools:
        """patterns × ranks 1 to depth: whether the rank was clicked."""
        matrix = np.zeros((len(self.patterns), depth), dtype=bool)
        pattern, rank = self.flat_clicks
        inside = rank <= depth
        matrix[pattern[inside], rank[inside] - 1] = True
        return matrix

    def totals(self) -> tuple[Ints, Ints, Ints]:
        """Configuration, pattern and count of the rows, whoever the users are: each pair once, ascending."""
        (configuration, pattern), count = collapse([self.configuration, self.pattern], self.count)
        return configuration, pattern, count

    def cut(self, depth: int) -> ClickLog:
        """The log as if lists ended at a depth: clicks below it are ignored, and lists that are equal down to it are
        one configuration."""
        lists: dict[tuple[str, tuple[str, ...]], int] = {}
        ranks: dict[tuple[int, ...], int] = {}
        of_list = [
            lists.setdefault((topic, shown[:depth]), len(lists))
            for topic, shown in zip(self.topics, self.shown, strict=True)
        ]
        kept = [tuple(rank for rank in pattern if rank <= depth) for pattern in self.patterns]
        of_pattern = [ranks.setdefault(pattern, len(ranks)) for pattern in kept]
        lost = self.clicks - np.array([len(pattern) for pattern in kept], dtype=np.int64)
        ignored = int((lost[self.pattern] * self.count).sum())
        what = f"{self.place}: --depth {depth}: {ignored} {plural(ignored, 'click')} below it ignored"
        cut = replace(
            self,
            topics=[topic for topic, _ in lists],
            shown=[shown for _, shown in lists],
            patterns=list(ranks),
            configuration=np.array(of_list, dtype=np.int64)[self.configuration],
            pattern=np.array(of_pattern, dtype=np.int64)[self.pattern],
            notes=[*self.notes, what] if ignored else self.notes,
        )
        return cut.collapsed()

    def collapsed(self) -> ClickLog:
        """The same sessions, each kind of them in one row."""
        names = list(self.columns)
        user = [] if self.user is None else [self.user]
        keys = [self.configuration, self.pattern, *user, *(codes for _, codes in self.columns.values())]
        keys, count = collapse(keys, self.count)
        columns = {
            name: (self.columns[name][0], codes) for name, codes in zip(names, keys[2 + len(user) :], strict=True)
        }
        return replace(
            self,
            configuration=keys[0],
            pattern=keys[1],
            user=keys[2] if user else None,
            columns=columns,
            count=count,
        )

    def frame(self) -> pd.DataFrame:
        """A row for each kind of session: topic, clicks (a list of ranks), shown (a list of docnos), user (None where
        each session is a user of its own), the other columns, count."""
        found: dict[str, Any] = {
            "topic": [self.topics[code] for code in self.configuration.tolist()],
            "clicks": [list(self.patterns[code]) for code in self.pattern.tolist()],
            "shown": [list(self.shown[code]) for code in self.configuration.tolist()],
        }
        if self.user is not None:
            found["user"] = [self.users[code] if code >= 0 else None for code in self.user.tolist()]
        for name, (values, codes) in self.columns.items():
            found[name] = [values[code] for code in codes.tolist()]
        return to_frame(found | {"count": self.count})

    def lines(self) -> Iterator[str]:
        """The log as text, a header and a line for each row, which `read_log` reads.

        Raises InputError where a name has a tab or the end of a line, which no such text can hold.
        """
        shown = [" ".join(docnos) for docnos in self.shown]
        clicks = [" ".join(map(str, ranks)) or "-" for ranks in self.patterns]
        parts: list[tuple[str, Sequence[str], Ints]] = [
            ("topic", self.topics, self.configuration),
            ("clicks", clicks, self.pattern),
        ]
        if any(shown):
            parts.append(("shown", shown, self.configuration))
        if self.user is not None:
            parts.append(("user", [*self.users, ""], self.user))  # −1 is the last
        parts += [(name, values, codes) for name, (values, codes) in self.columns.items()]
        for name, values, _ in parts:
            if bad := next((value for value in values if any(mark in value for mark in "\t\n\r")), None):
                what = f"the {name} {bad!r} has a tab or the end of a line"
                raise InputError(self.place, what, "rename it; lines of fields cannot hold it")
        yield "\t".join([*(name for name, _, _ in parts), "count"]) + "\n"
        columns = [[values[code] for code in codes.tolist()] for _, values, codes in parts]
        for row in zip(*columns, map(str, self.count.tolist()), strict=True):
            yield "\t".join(row) + "\n"

    def write(self, file: IO[bytes]) -> None:
        """Write the log as text to a file that is open in binary mode. Raises InputError as `lines`."""
        file.writelines(map(encode, self.lines()))


def collapse(keys: Sequence[Ints], count: Ints) -> tuple[list[Ints], Ints]:
    """The distinct rows of several columns of codes from −1, ascending, and the sum of their counts."""
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
