"""What users look at, estimated from where they click: gaps between clicks, the last click, and ends of pages.

Zhang, Park & Moffat, Information Retrieval 2010, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from gradedeval.analysis.tables import frame_document, same
from gradedeval.arrays import Floats, Ints
from gradedeval.clicks.log import ClickLog, collapse
from gradedeval.clicks.read import LAST_RANK, read_log
from gradedeval.errors import InputError, check_choice, plural, warn_caller
from gradedeval.formats import Column, Document, Layout, Table
from gradedeval.formats.frames import frame_table, to_frame
from gradedeval.options import numbers
from gradedeval.options.numbers import Number

if TYPE_CHECKING:
    import pandas as pd

GAPS = ("mean", "pooled")
CLICKLESS = ("count", "drop")
PER = ("query", "user")
MU, PAGE, RANKS = 5, 10, 50
LOG_RANKS = Number("--ranks", whole=True, minimum=1, maximum=LAST_RANK)
PAST_THE_LAST_PAGE = 1e-8
"""What a page boundary leaves that no click has been seen beyond."""

CELLS = 1 << 21
"""Users × ranks that are worked on at a time."""


class Pages(NamedTuple):
    """Pages of results, from the first: of how many sessions each has the last click, how many sessions have it there
    or further on, and the share of these that go on to the next page."""

    last: Ints
    reached: Ints
    share: Floats


@dataclass(frozen=True, eq=False)
class Observation:
    """How likely users are to look at each rank.

    frame      rank, weight, observed: the weights sum to 1 over the ranks, `observed` is the probability that they are
               made of. With `per`, first the topic or the user
    gaps       P(gap ≥ i) of all clicks, for i = 1, 2, … up to the largest
    pages      where last clicks are, page by page; None without pages
    settings   how it was estimated
    notes      notes for the user
    """

    frame: pd.DataFrame
    gaps: Floats
    pages: Pages | None
    settings: str
    notes: list[str]

    @property
    def weights(self) -> Floats:
        """The weight of rank 1, 2, …"""
        return np.asarray(self.frame["weight"].to_numpy(), dtype=np.float64)


def observe(
    log: Any,
    *,
    mu: float = MU,
    page: int = PAGE,
    ranks: int | None = None,
    gaps: Literal["mean", "pooled"] = "mean",
    clickless: Literal["count", "drop"] = "count",
    per: Literal["query", "user"] | None = None,
) -> Observation:
    """The observation model of a click log: how likely users are to look at each rank.

    log        as for `read_log`, or what it returned
    mu         weight of all users' gaps in those of one user, in clicks
    page       ranks on a page of results; 0: there are no pages
    ranks      how many ranks get a weight; None: as many as the longest list, or 50 where the log shows none
    gaps       "mean": a user's sessions count alike; "pooled": a user's clicks do
    clickless  "count" or "drop" sessions without a click
    per        "query" or "user": a model for each; None: one of all users

    A user who clicked rank L looked at ranks 1 to L, and at each further rank i with the probability that a gap between
    clicks is that long, less what the ends of pages between L and i hold back. It is averaged over the sessions of a
    user, then over users. It describes attention, and is not an estimate of a measure's parameter. Raises InputError
    where the log has no click. Zhang et al., Information Retrieval 2010, section 4.
    """
    found = observe_log(read_log(log), mu, page, ranks, gaps, clickless, per)
    warn_caller(found.notes)
    return found


def observe_log(
    log: ClickLog,
    mu: float = MU,
    page: int = PAGE,
    ranks: int | None = None,
    gaps: str = "mean",
    clickless: str = "count",
    per: str | None = None,
) -> Observation:
    """As `observe`, of a log that is read."""
    mu, page, ranks = numbers.MU.check(mu), numbers.PAGE.check(page), LOG_RANKS.check_or_none(ranks)
    check_choice(gaps, GAPS, "--gaps")
    check_choice(clickless, CLICKLESS, "--clickless")
    if per is not None:
        check_choice(per, PER, "--per")
    if not (log.clicks[log.pattern] > 0).any():
        raise InputError(log.place, "no click in any session", "nothing can be observed without clicks")
    depth = ranks or int(log.lengths.max(initial=0)) or RANKS
    model = _Model(log, mu, page, depth, gaps == "pooled")
    rows = _rows(log, per)
    if clickless == "drop":
        rows = rows.only(rows.last > 0)
    names, notes = _names(log, per), list(log.notes)
    if per == "user" and (rows.outer < 0).any():
        notes.append(f"{log.place}: sessions without a user are left out")
        rows = rows.only(rows.outer >= 0)
    observed = model.mean(rows, len(names))
    kept = np.flatnonzero(np.bincount(rows.outer, minlength=len(names)))
    observed, names = observed[kept], [names[index] for index in kept.tolist()]
    settings = _settings(log, mu, page, gaps, clickless, depth)
    return Observation(_frame(observed, names, per), model.gaps, model.pages, settings, notes)


class _Rows(NamedTuple):
    """Sessions of one user, with one last click, in what is averaged over: a query, a user or all.

    outer   which query, or which user
    reader  index of the user; after the users, index of the pattern of clicks of those who are users of their own
    """

    outer: Ints
    reader: Ints
    last: Ints
    sessions: Ints

    def only(self, chosen: Any) -> _Rows:
        return _Rows(*(column[chosen] for column in self))


def _readers(log: ClickLog) -> Ints:
    """rows: whose habits a session shows. Sessions that are users of their own are alike where their clicks are."""
    own = len(log.users) + log.pattern
    return own if log.user is None else np.where(log.user >= 0, log.user, own)


def _rows(log: ClickLog, per: str | None) -> _Rows:
    outer = np.zeros(len(log.count), dtype=np.int64)
    if per == "query":
        outer = _topics(log)[1][log.configuration]
    elif per == "user":
        if log.user is None:
            raise InputError("--per user", f"{log.place} has no users", "add the column user", usage=True)
        outer = log.user
    keys, sessions = collapse([_readers(log), outer, log.last_click[log.pattern]], log.count)
    return _Rows(keys[1], keys[0], keys[2], sessions)


def _topics(log: ClickLog) -> tuple[list[str], Ints]:
    """The topics, and which of them each configuration is of."""
    codes: dict[str, int] = {}
    of = np.array([codes.setdefault(topic, len(codes)) for topic in log.topics], dtype=np.int64)
    return list(codes), of


def _names(log: ClickLog, per: str | None) -> list[str]:
    return [""] if per is None else _topics(log)[0] if per == "query" else list(log.users)


class _Model:
    """What all users have in common, and the habits of each."""

    def __init__(self, log: ClickLog, mu: float, page: int, depth: int, pooled: bool) -> None:
        self.mu, self.depth, self.page, self.named = mu, depth, page, len(log.users)
        pattern, rank = log.flat_clicks
        gap = np.diff(rank, prepend=0)
        first = np.append(True, pattern[1:] != pattern[:-1])[: len(gap)]
        gap[first] = rank[first]
        begin = np.cumsum(log.clicks) - log.clicks
        (reader, clicked), sessions = collapse([_readers(log), log.pattern], log.count)
        made = log.clicks[clicked]
        # Each click of each pattern of each reader.
        self.reader = np.repeat(reader, made)
        within = np.arange(int(made.sum())) - np.repeat(np.cumsum(made) - made, made)
        self.gap = gap[np.repeat(begin[clicked], made) + within]
        each = np.repeat(sessions, made)
        self.weight = each.astype(np.float64) if pooled else each / np.repeat(np.maximum(made, 1), made)
        self.clicks = np.bincount(reader, sessions * made, minlength=self.named + len(log.patterns))
        self.own = np.bincount(reader, sessions, minlength=self.named + len(log.patterns))
        self.gaps = _at_least(np.bincount(self.gap, each)[None, 1:])[0]
        everyone = np.zeros(depth)
        everyone[: len(self.gaps)] = self.gaps[:depth]
        self.everyone = everyone
        last = collapse([log.last_click[log.pattern]], log.count)
        self.pages = _pages(last[0][0], last[1], page) if page else None

    def smoothed(self, begin: int, end: int) -> Floats:
        """readers begin to end × i = 1, 2, …: P(gap ≥ i) of each, mixed with that of everybody."""
        end = min(end, len(self.own))
        low, high = np.searchsorted(self.reader, [begin, end]).tolist()
        row, gap = self.reader[low:high] - begin, np.minimum(self.gap[low:high], self.depth) - 1
        size = (end - begin) * self.depth
        counted = np.bincount(row * self.depth + gap, self.weight[low:high], minlength=size)
        # A session that is a user of its own has its own clicks only, however many sessions are like it.
        alike = np.where(np.arange(begin, end) < self.named, 1, np.maximum(self.own[begin:end], 1))
        clicks = self.clicks[begin:end] / alike
        alpha = clicks / np.where(clicks + self.mu > 0, clicks + self.mu, 1)
        own = _at_least(counted.reshape(-1, self.depth))
        mixed: Floats = alpha[:, None] * own + (1 - alpha)[:, None] * self.everyone
        return mixed

    def kept(self, last: int) -> Floats:
        """ranks: the share of those whose last click is at `last` that the ends of pages let through."""
        if self.pages is None:
            return np.ones(self.depth)
        reached = self.pages.reached
        page = -(-np.arange(1, self.depth + 1) // self.page)
        beyond = np.maximum(page - len(reached), 0)
        at = reached[np.minimum(page, len(reached)) - 1] * PAST_THE_LAST_PAGE**beyond
        return np.asarray(at / reached[-(-max(last, 1) // self.page) - 1])

    def mean(self, rows: _Rows, size: int) -> Floats:
        """outer × ranks: P(observed), the mean over the sessions of each user, then over users."""
        (pair_outer, pair_reader), inside = collapse([rows.outer, rows.reader], rows.sessions)
        users = np.bincount(pair_outer, np.where(pair_reader < self.named, 1, inside), minlength=size)
        pair = np.searchsorted(pair_outer * len(self.own) + pair_reader, rows.outer * len(self.own) + rows.reader)
        of_user = np.where(rows.reader < self.named, inside[pair], 1)
        share = rows.sessions / of_user / users[rows.outer]
        total, most = np.zeros((size, self.depth)), max(1, CELLS // self.depth)
        for begin in range(0, len(self.own), most):
            low, high = np.searchsorted(rows.reader, [begin, begin + most]).tolist()
            smoothed = self.smoothed(begin, begin + most) if low < high else np.zeros((0, 0))
            for last in np.unique(rows.last[low:high]).tolist():
                here, seen = low + np.flatnonzero(rows.last[low:high] == last), min(last, self.depth)
                for some in (here[at : at + most] for at in range(0, len(here), most)):
                    looked = np.ones((len(some), self.depth))
                    looked[:, seen:] = smoothed[rows.reader[some] - begin, : self.depth - seen] * self.kept(last)[seen:]
                    _add_rows(total, rows.outer[some], share[some, None] * looked)
        return total


def _at_least(counted: Any) -> Floats:
    """rows × 1, 2, …: the share of the whole row from there on; 0 where the row is."""
    sums = np.cumsum(counted[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(sums / np.where(sums[:, :1] > 0, sums[:, :1], 1))


def _add_rows(total: Floats, where: Ints, added: Floats) -> None:
    """Add rows to those of the total that they belong to."""
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    total[ordered[first]] += np.add.reduceat(added[order], first, axis=0)


def _pages(last: Ints, sessions: Ints, page: int) -> Pages:
    """Where last clicks are; sessions without a click are on no page."""
    clicked = last > 0
    counts = np.bincount(-(-last[clicked] // page) - 1, sessions[clicked]).astype(np.int64)
    reached = np.cumsum(counts[::-1])[::-1]
    share = np.append(reached[1:] / reached[:-1], PAST_THE_LAST_PAGE)
    return Pages(counts, reached, share)


def _frame(observed: Floats, names: list[str], per: str | None) -> pd.DataFrame:
    depth = observed.shape[1]
    weight = observed / observed.sum(axis=1, keepdims=True)
    columns: dict[str, Any] = {}
    if per is not None:
        columns["topic" if per == "query" else "user"] = [name for name in names for _ in range(depth)]
    columns["rank"] = np.tile(np.arange(1, depth + 1), len(names))
    return to_frame({**columns, "weight": weight.ravel(), "observed": observed.ravel()})


def _settings(log: ClickLog, mu: float, page: int, gaps: str, clickless: str, depth: int) -> str:
    """How the model was made, in words."""
    made = log.clicks[log.pattern]
    clicks, without = int((made * log.count).sum()), int(log.count[made == 0].sum())
    parts = [
        f"{log.sessions} {plural(log.sessions, 'session')}",
        f"{without} without a click {'counted' if clickless == 'count' else 'left out'}",
        f"{len(log.users)} {plural(len(log.users), 'user')}" if log.user is not None else "each a user of its own",
        f"{clicks} {plural(clicks, 'click')}",
        f"mu {mu:g}",
        f"{page} ranks a page" if page else "no pages",
        f"gaps {'by session' if gaps == 'mean' else 'pooled'}",
        f"sum 1 over {depth} {plural(depth, 'rank')}",
    ]
    return " | ".join(parts)


def observation_document(found: Observation, layout: Layout) -> Document:
    """The result of `clicks observe`: of all users the weights alone for programs, so that measures read them, with
    the gaps and the pages beside them in JSON."""
    whole, *_ = names = list(found.frame.columns)
    if whole != "rank":
        keys = same(
            Column(whole), Column("rank", "count"), Column("weight", "score", 6), Column("observed", "score", 6)
        )
        return frame_document(found.frame, layout, keys, found.settings)
    pages = (
        []
        if found.pages is None
        else [list(row) for row in zip(*(column.tolist() for column in found.pages), strict=True)]
    )
    if layout == "long":
        head: dict[str, Any] = {
            "gaps": found.gaps.tolist(),
            "pages": [dict(zip(("last_clicks", "reached", "share"), row, strict=True)) for row in pages],
        }
        return Document([frame_table(found.frame[["rank", "weight"]])], found.settings, head=head)
    shown = [Column("rank", "count"), Column("weight", "score", 6), Column("observed", "score", 6)]
    gaps = [[gap, share] for gap, share in enumerate(found.gaps.tolist(), 1)]
    blocks: list[Table | str] = [
        Table(shown, frame_table(found.frame[names]).rows),
        Table([Column("gap", "count"), Column("P(gap >= it)", "score", 6)], gaps),
    ]
    if pages:
        columns = [Column("page", "count"), *(Column(name, "count") for name in ("last clicks", "reached"))]
        blocks.append(
            Table([*columns, Column("go on", "score", 6)], [[page, *row] for page, row in enumerate(pages, 1)])
        )
    return Document(blocks, found.settings)
