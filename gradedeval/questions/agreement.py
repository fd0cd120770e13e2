"""How far two rankings agree, by topic: rank-biased overlap, Kendall's τ, and whether a run reproduces another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack, get_args

from gradedeval import kernel
from gradedeval.analysis import ranked_runs, score_matrix
from gradedeval.arrays import Bools, Floats, Ints, np, positions_of, ranks
from gradedeval.errors import InputError, check_choice, did_you_mean, either, flag, plural, shorten, tell, visible
from gradedeval.kernel import (
    AnyMeasure,
    Column,
    Document,
    InNotebook,
    Layout,
    Measure,
    OptionKwargs,
    Options,
    Question,
    Setting,
    Table,
    distinct,
    frame_rows,
    frame_table,
    group_numbers,
    numbers,
    parse_measures,
    resolve_options,
    shares_work,
    to_frame,
)
from gradedeval.questions.explain import DEFAULT

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis.ranked_runs import RankedRun, RankedRuns
    from gradedeval.kernel import Workers


# Kendall's τ of many pairs of lists at once: one call of scipy a topic and pair of runs would take minutes.


def kendall_taus(group: Ints, one: Ints, other: Ints, groups: int) -> Floats:
    """groups: τ_b between two places of the same items, nan where one is constant.

    group       items: which list each belongs to
    one, other  items: its place, whole numbers from 0; equal where tied

    Kendall, Biometrika 1945; as `scipy.stats.kendalltau`.
    """
    order = np.lexsort((other, one, group))
    group, one, other = group[order], one[order], other[order]
    size = np.bincount(group, minlength=groups)
    both = _tied(group, groups, one, other)
    ties = _tied(group, groups, one), _tied(group, groups, other)
    pairs = size * (size - 1) / 2
    agreeing = pairs - ties[0] - ties[1] + both - 2 * _inversions(group, other, groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return agreeing / np.sqrt((pairs - ties[0]) * (pairs - ties[1]))


def _tied(group: Ints, groups: int, *places: Ints) -> Floats:
    """groups: how many pairs of items are tied in all these places."""
    key = group
    for place in places:
        key = key * (int(place.max(initial=0)) + 1) + place
    ordered = np.sort(key)
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    sizes = np.diff(first, append=len(ordered))
    width = 1
    for place in places:
        width *= int(place.max(initial=0)) + 1
    tied: Floats = np.bincount(ordered[first] // width, weights=sizes * (sizes - 1) / 2, minlength=groups).astype(float)
    return tied


def _inversions(group: Ints, place: Ints, groups: int) -> Floats:
    """groups: how many pairs of items stand in the order opposite to that of their places; items come group by group.

    Two places differ first in one bit: items whose higher bits agree stand together, in order, and each with a 0 there
    counts those with a 1 before it. Then both kinds are parted.
    """
    found = np.zeros(groups)
    for bit in range(int(place.max(initial=0)).bit_length() - 1, -1, -1):
        higher = place >> (bit + 1)
        ones = (place >> bit) & 1
        begins = np.append(True, (group[1:] != group[:-1]) | (higher[1:] != higher[:-1]))[: len(group)]
        start = np.flatnonzero(begins)
        stretch = np.cumsum(begins) - 1
        before = np.cumsum(ones) - ones
        before -= before[start][stretch]
        found += np.bincount(group, weights=before * (1 - ones), minlength=groups)
        at = np.arange(len(group)) - start[stretch]
        zeros = np.bincount(stretch, weights=1 - ones, minlength=len(start)).astype(np.int64)
        target = start[stretch] + np.where(ones, zeros[stretch] + before, at - before)
        parted = np.empty_like(place)
        parted[target] = place  # the group of a position stays
        place = parted
    return found


# How far rankings agree, without judgments: rank-biased overlap with ties and its bounds, of many topics at once.


Ties = Literal["a", "b", "w"]
TIES: tuple[Ties, ...] = get_args(Ties)
LARGEST_ODDS = 1e300
"""Of stopping at a rank, for the smallest persistence: times the number of documents it is still finite."""


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Rankings of some topics, topic after topic.

    document  their documents, by number
    counts    topics: how many
    first     the rank, from 0, where the documents tied with each one begin, and `last` where they end
    """

    document: Ints
    counts: Ints
    first: Ints
    last: Ints

    @property
    def topic(self) -> Ints:
        """The row of each document's topic."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def of_topics(self, rows: Ints) -> Lists:
        """Some of the topics."""
        inside = positions_of(self.counts, rows)
        return Lists(self.document[inside], self.counts[rows], self.first[inside], self.last[inside])


def lists_of(run: RankedRun, topics: Ints) -> Lists:
    """The rankings of some topics of a run, with their ties."""
    counts, chosen = run.counts[topics], positions_of(run.counts, topics)
    first = ranks(counts) if run.first is None else run.first[chosen]
    topic = np.repeat(np.arange(len(topics)), counts)
    begins = np.flatnonzero(np.append(True, (first[1:] != first[:-1]) | (topic[1:] != topic[:-1]))[: len(first)])
    sizes = np.diff(begins, append=len(first))
    return Lists(run.document[chosen], counts, first, first + np.repeat(sizes, sizes) - 1)


def rank_biased_overlap(one: Lists, other: Lists, documents: int, p: float, ties: Ties) -> Floats:
    """3 × topics: rank-biased overlap, extrapolated; and its bounds, whatever stands below the ends of the lists. nan
    where a list is empty.

    documents  how many there are
    p          persistence, between 0 and 1
    ties       `a`: the means over all orders of tied documents; `b`: what is shared, as a share of what a list with
               these ties agrees with itself; `w`: tied documents share the rank of the first

    Webber, Moffat & Zobel, TOIS 2010, equation 32; `b` and `w` as Corsi & Urbano, SIGIR 2024. Of lists of different
    lengths with ties they extrapolate by a product of means, which is not the mean over orders: `a` is.
    """
    found = np.full((3, len(one.counts)), np.nan)
    common = _Common.of(one, other, documents)
    for rows in kernel.by_width(np.maximum(one.counts, other.counts)):
        pair = _Pair.of(one.of_topics(rows), other.of_topics(rows), common.of_topics(rows), ties)
        found[:, rows] = _overlap(pair, p, ties)
    return found


def _overlap(pair: _Pair, p: float, ties: Ties) -> Floats:
    s, l, width = pair.short[:, None], pair.long[:, None], pair.width  # noqa: E741
    depth = np.arange(1.0, width + 1)
    beyond_short = (depth > s) & (depth <= l)
    weight = (1 - p) * p ** (depth - 1) * (depth <= l)
    seen, norm = pair.shared(), pair.norms(ties)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreed = np.where(norm > 0, seen / norm, 0.0)
        at_short = np.take_along_axis(agreed, np.maximum(s - 1, 0), 1)
        # Unseen documents of the shorter list: as many as agreed so far are the longer one's, at its ranks.
        extrapolated = best = np.where(beyond_short, depth - s, 0.0)
        if ties == "b":
            extrapolated, best = extrapolated * pair.unmatched_mean(), pair.best_unmatched(best)
        extrapolated, best = extrapolated * at_short / norm, best / norm
    common = np.take_along_axis(seen, np.maximum(l - 1, 0), 1)[:, 0] if width else np.zeros(len(s))
    s, l = pair.short, pair.long  # noqa: E741
    shares = np.cumsum(p ** np.arange(1.0, 2 * width + 1) / np.arange(1.0, 2 * width + 1))
    shares = np.append(0.0, shares)
    powers = p * (1 - p ** np.arange(2 * width + 1)) / (1 - p)
    full = (l + s - common).round().astype(np.int64)  # the first depth at which all could be shared
    least = (weight * agreed).sum(1)
    rest = np.where(beyond_short, extrapolated, 0.0), np.where(beyond_short, best, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (common + (l - s) * at_short[:, 0]) / l * p**l
    ext = least + (weight * rest[0]).sum(1) + ends
    odds = min((1 - p) / p, LARGEST_ODDS)
    low = least + odds * common * (-math.log1p(-p) - shares[l])
    tail = 2 * (powers[full] - powers[l]) + (common - l - s) * (shares[full] - shares[l])
    high = least + (weight * rest[1]).sum(1) + odds * tail + p**full
    return np.where(s > 0, np.stack([ext, low, high]), np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class _Common:
    """The documents that both rankings of a topic have, topic after topic.

    counts       topics: how many
    first, last  where their ties begin and end, 2 × documents, in the one list and in the other
    """

    counts: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, one: Lists, other: Lists, documents: int) -> _Common:
        at = np.full(documents, -1)
        at[other.document] = np.arange(len(other.document))
        there = at[one.document]
        mine = np.flatnonzero(there >= 0)
        theirs = there[mine]
        counts = np.bincount(one.topic[mine], minlength=len(one.counts))
        first = np.stack([one.first[mine], other.first[theirs]])
        return cls(counts, first, np.stack([one.last[mine], other.last[theirs]]))

    def of_topics(self, rows: Ints) -> _Common:
        """Those of some of the topics."""
        inside = positions_of(self.counts, rows)
        return _Common(self.counts[rows], self.first[:, inside], self.last[:, inside])


@dataclass(frozen=True, eq=False, repr=False)
class _Pair:
    """Two rankings of each topic, the shorter and the longer one.

    short, long          topics: their lengths
    topic                documents that both have: the row of the topic
    first, last          documents that both have: where their ties begin and end, 2 × documents, in the shorter list
                         and in the longer one
    visible, squares     2 × topics × depths: how many documents have begun in each list, and the sum of the squares of
                         what is there of them
    part                 2 × topics × depths: how much of the documents that are tied at this depth is there: all orders
                         are as likely
    ended                topics × depths: how many documents of the longer list are there whole
    """

    short: Ints
    long: Ints
    topic: Ints
    first: Ints
    last: Ints
    visible: Floats
    squares: Floats
    part: Floats
    ended: Floats

    @classmethod
    def of(cls, one: Lists, other: Lists, common: _Common, ties: Ties) -> _Pair:
        width = int(max(one.counts.max(initial=0), other.counts.max(initial=0)))
        topic = np.repeat(np.arange(len(common.counts)), common.counts)
        swap = one.counts > other.counts  # then the other one is the shorter
        swapped = swap[topic]
        last = common.first if ties == "w" else common.last
        first, last = (np.where(swapped, part[::-1], part) for part in (common.first, last))
        shown = [_alone(lists, width, ties) for lists in (one, other)]
        visible, squares, ended, part = (
            np.stack([np.where(swap[:, None], b, a), np.where(swap[:, None], a, b)])
            for a, b in zip(*shown, strict=True)
        )
        lengths = np.sort(np.stack([one.counts, other.counts]), axis=0)
        return cls(lengths[0], lengths[1], topic, first, last, visible, squares, part, ended[1])

    @property
    def width(self) -> int:
        return int(self.visible.shape[2])

    def shared(self) -> Floats:
        """topics × depths: how much of the two lists is shared down to each depth.

        A document is there whole in both, or in part in one of them or in both: counted by depth, so that a tie of a
        million takes no more than a million untied.
        """
        (first, other_first), (last, other_last) = self.first, self.last
        total = self._down_to(np.maximum(last, other_last))
        part, other_part = self.part
        for begin, end, share in (
            (np.maximum(first, other_last), last, part),
            (np.maximum(other_first, last), other_last, other_part),
            (self.first.max(0), self.last.min(0), part * other_part),
        ):
            total += share * self._standing(begin, end)
        return total

    def norms(self, ties: Ties) -> Floats:
        """topics × depths: how much could be shared."""
        if ties == "w":
            could: Floats = self.visible.mean(0)
        elif ties == "b":
            could = np.sqrt(self.squares[0] * self.squares[1])
        else:
            could = np.broadcast_to(np.arange(1.0, self.width + 1), self.visible.shape[1:])
        return could

    def unmatched_mean(self) -> Floats:
        """topics × depths: how much is there, on average, of the documents of the longer list that the shorter one
        lacks and that have begun."""
        first, last, part = self.first[1], self.last[1], self.part[1]
        there = self._down_to(last) + part * self._standing(first, last)
        mean: Floats = (np.arange(1.0, self.width + 1) - there) / (self.visible[1] - self._down_to(first))
        return mean

    def best_unmatched(self, unseen: Floats) -> Floats:
        """topics × depths: how much so many unseen documents of the shorter list can share with the longer one."""
        whole = self.ended - self._down_to(self.last[1])
        best: Floats = np.minimum(unseen, whole) + np.maximum(unseen - whole, 0) * self.part[1]
        return best

    def _standing(self, begin: Ints, end: Ints) -> Floats:
        """topics × depths: how many documents begin at this depth or above, and end below it."""
        some = np.flatnonzero(begin < end)
        return self._down_to(begin, some) - self._down_to(end, some) if len(some) else np.zeros((1, 1))

    def _down_to(self, depth: Ints, some: Ints | None = None) -> Floats:
        """topics × depths: how many documents, or how many of some, have this depth or one above."""
        topic, depth = (self.topic, depth) if some is None else (self.topic[some], depth[some])
        cells = np.bincount(topic * self.width + depth, minlength=len(self.short) * self.width)
        return np.cumsum(cells.reshape(len(self.short), self.width), axis=1, dtype=np.float64)


def _alone(lists: Lists, width: int, ties: Ties) -> tuple[Floats, Floats, Floats, Floats]:
    """Of lists by themselves, topics × depths: how many documents have begun, the sum of the squares of what is there,
    how many are there whole, and how much of those at this depth. Below its end a list goes on without ties."""
    counts = lists.counts
    topics, depth = len(counts), np.arange(width)
    if (lists.first == lists.last).all():
        whole = np.broadcast_to(depth + 1.0, (topics, width))
        return whole, whole, whole, np.ones((topics, width))
    inside: Bools = depth < counts[:, None]
    first, last = np.tile(depth, (topics, 1)), np.tile(depth, (topics, 1))
    first[inside] = lists.first
    last[inside] = lists.first if ties == "w" else lists.last
    visible = np.tile(depth + 1.0, (topics, 1))
    visible[inside] = lists.last + 1
    size = last - first + 1
    share = (depth - first + 1) / size if ties != "w" else np.ones((topics, width))
    # The documents before a tie are there whole, those of the tie in part.
    squares = first.astype(np.float64) + size * share**2
    ended = np.where(last == depth, depth + 1.0, first.astype(np.float64))
    return visible, squares, ended, share


# Runs without judgments: how far their rankings agree, topic by topic and pair by pair.


PERSISTENCE, AT, TOPICS = 0.9, 10, 10
FEW_PAIRS = 64
"""Pairs of runs that are not worth the start of further processes."""
PAIR = ("run", "other")
NUMBERS = ("rbo", "rbo_low", "rbo_high", "residual", "overlap", "tau", "common")
SHOWN = ("rbo", "residual", "overlap", "tau", "common")

Persistence = Annotated[float, Setting("Of rank-biased overlap: the probability of going on from rank to rank.",
    numbers.PERSISTENCE, metavar="P")]  # fmt: skip
At = Annotated[int, Setting("Depth of the column overlap.", numbers.AT, metavar="N")]
RboTies = Annotated[Ties, Setting("Ties in rank-biased overlap: the mean over their orders (a), the same corrected "
    "for ties (b), or a shared rank (w).", default_text="a, with --reproduce b")]  # fmt: skip
Topic = Annotated[str | None, Setting("Show this topic, with qrels document by document.", metavar="ID")]
Top = Annotated[int | None, Setting("Show the N topics that agree least.", numbers.TOP, metavar="N",
    default_text=f"{TOPICS} in tables, all elsewhere")]  # fmt: skip
Measures = Annotated["AnyMeasure | Iterable[AnyMeasure]", Setting("Measure to compare by. Repeat -m, or separate "
    "measures by spaces.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="several")]  # fmt: skip
Originals = Annotated[Any, Setting("How well A and B reproduce these two original runs: KTU and RBO of the rankings, "
    "with qrels RMSE, effect ratio and ΔRI too.", metavar="BASE ADVANCED", spelled=("--reproduce",),
    reads=True)]  # fmt: skip


@dataclass(frozen=True)
class AgreementSettings:
    """How agreement is measured: see `agreement`. Raises InputError (usage) where a value is not allowed."""

    persistence: float = PERSISTENCE
    at: int = AT
    ties: Ties = "a"

    def __post_init__(self) -> None:
        check_choice(self.ties, TIES, flag.rbo_ties)
        numbers.PERSISTENCE.check_field(self, "persistence")
        numbers.AT.check_field(self, "at")

    def __str__(self) -> str:
        how = {"a": "mean over the orders of ties", "b": "corrected for ties", "w": "tied documents share a rank"}
        rbo = f"rbo: extrapolated, p {self.persistence:g}, {how[self.ties]}"
        return f"{rbo} | overlap at {self.at} | tau: of what both retrieved"


@dataclass(frozen=True, eq=False)
class Agreement(InNotebook):
    """How far runs agree.

    frame  a row for each pair of runs and topic, those that agree least first: run, other, topic, rbo (extrapolated),
           rbo_low, rbo_high (its bounds, for any documents below the ends of the rankings), residual (rbo_high −
           rbo_low), overlap (documents among the first `at` of both, as a share of those of the longer), tau (Kendall's
           τ_b of the documents that both retrieved; blank with fewer than two), common (how many these are)
    """

    runs: list[str]
    frame: pd.DataFrame
    settings: AgreementSettings
    notes: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Agreement of {shorten(self.runs)}>"

    def of_topic(self, topic: str | None) -> Agreement:
        """The same, for one topic alone. Raises InputError (usage) where it is not among them."""
        if topic is None:
            return self
        known = list(dict.fromkeys(self.frame["topic"]))
        if topic not in known:
            hint = did_you_mean(topic, known) or f"as in {shorten(known)}"
            raise InputError(flag.topic, f"'{topic}' is not a topic of both runs", hint, usage=True)
        return replace(self, frame=self.frame[self.frame["topic"] == topic])

    @property
    def means(self) -> pd.DataFrame:
        """The means over topics of each pair of runs, and how many topics they share."""
        pairs = self.frame.groupby(group_numbers(self.frame, *PAIR), sort=False)
        means = pairs[list(NUMBERS)].mean().assign(topics=pairs.size())
        return to_frame(distinct(self.frame, *PAIR), PAIR).join(means)

    def document(self, layout: Layout, *, topic: Topic = None, top: Top = None) -> Document:
        """Of two runs by topic, those that agree least first, and in the mean; of more as a matrix.

        topic  the only one
        top    how many topics of two runs a table shows; None: 10
        """
        found = self.of_topic(topic)
        if layout == "long":
            pairs = found.frame.groupby(group_numbers(found.frame, *PAIR))
            return Document([frame_table(found.frame if top is None else pairs.head(top))], str(found.settings))
        if len(found.runs) > 2:
            of = "means over topics" if topic is None else f"topic {visible(topic)}"
            return Document([_matrix(found)], f"above the diagonal: rbo, below it: tau; {of}\n{found.settings}")
        numbers = [Column(name, "count" if name == "common" else "score") for name in SHOWN]
        rows = [[row["topic"], *(row[name] for name in SHOWN)] for row in frame_rows(found.frame)]
        some = rows[: TOPICS if top is None else top]
        means = [(row["topics"], [row[name] for name in SHOWN]) for row in frame_rows(found.means)]
        blocks: list[Table | str] = [f"{visible(found.runs[0])} and {visible(found.runs[1])}"]
        if topic is None:
            ((topics, values),) = means
            some.append([f"mean of {topics}", *(None if name == "common" else value
                                                 for name, value in zip(SHOWN, values, strict=True))])  # fmt: skip
        blocks.append(Table([Column("topic"), *numbers], some))
        left_out = len(rows) - len(some) + (topic is None)
        if left_out > 0:
            top_n = either("--top N", f".shown(top={len(rows)})")
            blocks.append(f"{left_out} more {plural(left_out, 'topic')}: {top_n}")
        return Document(blocks, str(found.settings))


def _matrix(found: Agreement) -> Table:
    values: dict[tuple[str, str], Any] = {}
    for row in frame_rows(found.means):
        values[row["run"], row["other"]], values[row["other"], row["run"]] = row["rbo"], row["tau"]
    columns = [Column("", "run"), *(Column(name, "score", digits=3, of_run=True) for name in found.runs)]
    return Table(columns, [[run, *(values.get((run, other), "—") for other in found.runs)] for run in found.runs])


@shares_work
def agreement(
    runs: Any,
    *,
    persistence: Persistence = PERSISTENCE,
    at: At = AT,
    rbo_ties: RboTies = "a",
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> Agreement:
    """How far the rankings of runs agree, without judgments.

    runs         two or more, as `evaluate` takes them
    persistence  persistence of rank-biased overlap: at depth d it weighs (1 − p) p^(d − 1)
    at           the depth of `overlap`
    rbo_ties     how rank-biased overlap takes tied documents: `a`, as the mean over all their orders, its bounds too;
                 `b`, as the mean share at each depth, over what a ranking with these ties agrees with itself; `w`, as
                 documents that share the rank of the first

    The other arguments are those of `evaluate` that say how runs are read and ranked; how ties are broken matters to
    overlap alone.

    Rank-biased overlap: Webber, Moffat & Zobel, TOIS 2010, equation 32; `b` and `w`: Corsi & Urbano, SIGIR 2024.
    Where the longer of two rankings has ties, their extrapolated RBO of kind `a` is a product of means, and not quite
    the mean over orders that is computed here. Returns `Agreement`: `.frame`, `.means`. Raises
    `gradedeval.InputError` where there are fewer than two runs, or two have no topic in common.
    """
    options = resolve_options(like, **keywords)
    options.check_unscored("agreement")
    named, workers = kernel.named_runs(runs), kernel.Workers.here()
    settings = AgreementSettings(persistence, at, rbo_ties)
    if len(named) < 2:
        what = f"{len(named)} {plural(len(named), 'run')} given"
        raise InputError("", what, "agreement is between two or more", usage=True)
    ranked = ranked_runs.rank_runs(named, kernel.Grader(kernel.Qrels.none(), options, keep_ties=True), workers)
    pairs = [(one, other) for other in range(len(named)) for one in range(other)]
    found = _of_pairs(ranked, pairs, settings, workers)
    names = np.array(ranked.names, dtype=object)
    frame = to_frame(
        {
            "run": np.repeat([ranked.runs[one].name for one, _ in pairs], [len(rows) for rows, _ in found]),
            "other": np.repeat([ranked.runs[other].name for _, other in pairs], [len(rows) for rows, _ in found]),
            "topic": names[np.concatenate([rows for rows, _ in found])],
            **dict(zip(NUMBERS, np.concatenate([numbers for _, numbers in found], axis=1), strict=True)),
        }
    ).astype({"common": int})
    left_out, of = len(ranked.topics) - min(len(rows) for rows, _ in found), len(ranked.topics)
    what = f"{left_out} of {of} {plural(of, 'topic')} left out of a pair: not in both runs"
    return Agreement(list(named), frame, settings, tell([*ranked.notes, *([what] if left_out else [])]))


def _of_pairs(
    ranked: RankedRuns, pairs: list[tuple[int, int]], settings: AgreementSettings, workers: Workers
) -> list[tuple[Ints, Floats]]:
    """What `_of_pair` gives for pairs of runs; processes share many."""
    if len(pairs) < FEW_PAIRS:
        workers = workers.serial()
    return list(workers.imap(partial(_of_pair, ranked, settings), pairs))


def _of_pair(ranked: RankedRuns, settings: AgreementSettings, pair: tuple[int, int]) -> tuple[Ints, Floats]:
    """The topics that two runs share, those that agree least first, and their `NUMBERS`. Raises InputError where they
    share none."""
    one, other = (ranked.runs[number] for number in pair)
    shared = np.flatnonzero((one.counts > 0) & (other.counts > 0))
    if not len(shared):
        own = [[ranked.topics[row] for row in np.flatnonzero(run.counts)] for run in (one, other)]
        raise kernel.no_common_topics(one.place, own[0], other.place, own[1])
    rbo, low, high = rank_biased_overlap(
        lists_of(one, shared), lists_of(other, shared), len(ranked), settings.persistence, settings.ties
    )
    # Where the other run has each document of the one.
    place = np.full(len(ranked), -1)
    place[other.document] = np.arange(len(other.document))
    theirs = place[one.document]
    mine = np.flatnonzero(theirs >= 0)
    theirs = theirs[mine]
    topic, topics = ranked.topic[one.document[mine]], len(ranked.topics)
    among = np.bincount(topic[np.maximum(one.rank[mine], other.rank[theirs]) <= settings.at], minlength=topics)
    longest = np.minimum(np.maximum(one.counts, other.counts)[shared], settings.at)
    firsts = [(run.rank - 1 if run.first is None else run.first)[at] for run, at in ((one, mine), (other, theirs))]
    tau = kendall_taus(topic, firsts[0], firsts[1], topics)[shared]
    common = np.bincount(topic, minlength=topics)[shared]
    order = np.argsort(rbo, kind="stable")
    return shared[order], np.stack([rbo, low, high, high - low, among[shared] / longest, tau, common])[:, order]


# Whether an experiment was reproduced: the rankings, the scores and the improvement beside the original's.


TIES_OF_ORIGINALS: Ties = "b"
"""With ties corrected for, a ranking agrees fully with itself."""

ROLES = ("baseline", "advanced")


@dataclass(frozen=True, eq=False)
class Reproduction(InNotebook):
    """How well an experiment was reproduced.

    frame  a row for each number: what, run, original, measure (blank for those of rankings), value. `ktu` and `rbo`
           say how far the ranking of a run is the original's, as a mean over topics; `rmse` how far its scores are from
           the original's, 0 at best; `er` is the improvement of the advanced run over the baseline as a share of the
           original one, 1 at best; `delta_ri` the original relative improvement less the reproduced one, 0 at best
    """

    frame: pd.DataFrame
    runs: list[str]
    settings: AgreementSettings
    signature: str = ""
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """An experiment beside its original: a row for each run, and one for each improvement."""
        signature = "\n".join(part for part in (_words(self), self.signature) if part)
        if layout == "long":
            return Document([frame_table(self.frame)], signature)
        rows = frame_rows(self.frame)
        measures = list(dict.fromkeys(row["measure"] for row in rows if row["measure"] is not None))
        cells = {(row["what"], row["run"], row["original"], row["measure"]): row["value"] for row in rows}
        pairs = dict.fromkeys((row["run"], row["original"]) for row in rows if row["what"] == "ktu")
        columns = [Column("run"), Column("original"), Column("KTU", "score"), Column("RBO", "score")]
        columns += [Column(f"RMSE {name}", "score") for name in measures]
        numbers = [("ktu", None), ("rbo", None), *(("rmse", name) for name in measures)]
        table = [[*pair, *(cells[what, *pair, name] for what, name in numbers)] for pair in pairs]
        blocks: list[Table | str] = [Table(columns, table)]
        if measures:
            effects = [row for row in rows if row["what"] == "er"]
            shown = [[row["measure"], row["value"], cells["delta_ri", row["run"], row["original"], row["measure"]]]
                     for row in effects]  # fmt: skip
            blocks.append(Table([Column("measure"), Column("effect ratio", "score"), Column("ΔRI", "signed")], shown))
        return Document(blocks, signature)


def _words(found: Reproduction) -> str:
    at_best = "as the original: KTU, RBO and effect ratio 1, RMSE and ΔRI 0"
    blank = any(math.isnan(value) for value in found.frame["value"])
    ktu, rbo = "ktu: union by docno", f"rbo: extrapolated, p {found.settings.persistence:g}, ties {found.settings.ties}"
    return " | ".join([at_best, ktu, rbo, *(["blank: not defined"] if blank else [])])


def reproduction(
    runs: Any,
    originals: Originals,
    qrels: Any = None,
    measures: Measures = DEFAULT,
    *,
    persistence: Persistence = PERSISTENCE,
    rbo_ties: RboTies = TIES_OF_ORIGINALS,
    like: str | None = None,
    **keywords: Unpack[OptionKwargs],
) -> Reproduction:
    """How well a baseline and an advanced run reproduce two original ones.

    runs         the baseline and the advanced run
    originals    the two that they reproduce, in the same order
    qrels        as `evaluate` takes them; without, rankings alone are compared
    persistence  and `rbo_ties`: as in `agreement`; with ties corrected for, a ranking agrees fully with itself

    The other arguments are those of `evaluate`. KTU, RBO, RMSE, ER and ΔRI as Breuer et al., SIGIR 2020. Returns
    `Reproduction`: `.frame`. Raises `gradedeval.InputError` as `evaluate` does.
    """
    options, chosen = resolve_options(like, **keywords), parse_measures(measures)
    settings = AgreementSettings(persistence, AT, rbo_ties)
    mine, theirs = kernel.named_runs(runs), kernel.named_runs(originals)
    if len(mine) != 2 or len(theirs) != 2:
        what = f"{len(mine)} runs and {len(theirs)} originals given"
        raise InputError("", what, "give a baseline and an advanced run, and the originals of both", usage=True)
    keyed = {
        f"{kind} {role}": source
        for kind, named in (("run", mine), ("original", theirs))
        for role, source in zip(ROLES, named.values(), strict=True)
    }
    ranked = ranked_runs.rank_runs(keyed, kernel.Grader(kernel.Qrels.none(), options, keep_ties=True))
    rows: list[tuple[str, str, str, str | None, float]] = []
    for number, names in enumerate(zip(mine, theirs, strict=True)):
        ktu, rbo = _rankings(ranked, ranked.runs[2 + number], ranked.runs[number], settings)
        rows += [("ktu", *names, None, ktu), ("rbo", *names, None, rbo)]
    notes, signature = list(ranked.notes), ""
    if qrels is not None:
        found, notes, signature = _scores(keyed, list(mine), list(theirs), qrels, chosen, options)
        rows += found
    frame = to_frame(rows, columns=["what", "run", "original", "measure", "value"])
    return Reproduction(frame, [*mine, *theirs], settings, signature, tell(notes))


def _rankings(
    ranked: RankedRuns, original: RankedRun, run: RankedRun, settings: AgreementSettings
) -> tuple[float, float]:
    """KTU and RBO, means over the topics that both have. Raises InputError where they share none."""
    shared = np.flatnonzero((original.counts > 0) & (run.counts > 0))
    if not len(shared):
        own = [[ranked.topics[row] for row in np.flatnonzero(one.counts)] for one in (run, original)]
        raise kernel.no_common_topics(run.place, own[0], original.place, own[1])
    lists = lists_of(original, shared), lists_of(run, shared)
    rbo = rank_biased_overlap(*lists, len(ranked), settings.persistence, settings.ties)[0]
    taus = kendall_tau_union(ranked, original, run)[shared]
    return float(np.nanmean(taus)) if np.isfinite(taus).any() else np.nan, float(rbo.mean())


def kendall_tau_union(ranked: RankedRuns, original: RankedRun, run: RankedRun) -> Floats:
    """topics: Kendall's τ of two rankings, rank by rank, of which each rank is the place of its document in the union,
    ordered by docno; down to the end of the shorter one.

    Breuer et al., SIGIR 2020, in the order of repro_eval: the paper leaves open how the union is ordered. In that of
    the original, followed by the others of the run, rankings that share nothing would agree fully.
    """
    place = np.empty(len(ranked), dtype=np.int64)
    place[np.argsort(ranked.docnos)] = np.arange(len(ranked))
    topic = ranked.topic[run.document]
    inside = run.rank <= original.counts[topic]
    topic, rank, document = topic[inside], run.rank[inside], run.document[inside]
    partner = original.document[original.begin[topic] + rank - 1]
    return kendall_taus(topic, place[partner], place[document], len(ranked.topics))


def _scores(
    sources: Mapping[str, Any],
    runs: list[str],
    originals: list[str],
    qrels: Any,
    measures: list[Measure],
    options: Options,
) -> tuple[list[tuple[str, str, str, str, float]], list[str], str]:
    """The numbers that come from scores, the notes, and the signature."""
    scores = kernel.evaluate_runs(sources, qrels, measures, options, workers=kernel.Workers.here())
    matrix, rows = score_matrix.to_matrix(scores), []
    for name in matrix.measures:
        paired = matrix.paired(name)
        base, advanced, old_base, old_advanced = paired.score
        for number, (mine, theirs) in enumerate(((base, old_base), (advanced, old_advanced))):
            rmse = float(np.sqrt(np.mean((mine - theirs) ** 2)))
            rows.append(("rmse", runs[number], originals[number], name, rmse))
        (before, after), (old, new) = (
            (one.mean(), two.mean()) for one, two in ((base, advanced), (old_base, old_advanced))
        )
        both = f"{runs[1]} − {runs[0]}", f"{originals[1]} − {originals[0]}"
        rows.append(("er", *both, name, (after - before) / (new - old) if new != old else np.nan))
        relative = (new - old) / old - (after - before) / before if old and before else np.nan
        rows.append(("delta_ri", *both, name, relative))
    return rows, list(scores.notes), scores.signature


# What `diff` is asked without qrels, and beside two originals.


def _check_top(files: tuple[list[str], str | None], top: int | None) -> dict[str, Any]:
    """Raise InputError (usage) for a number of topics where more than two runs make a matrix."""
    runs, _ = files
    if top is not None and len(runs) > 2:
        what = f"applies to two runs, and {len(runs)} are given"
        raise InputError(flag.top, what, "leave it out", usage=True)
    return {}


AGREEMENT = Question(
    "diff",
    agreement,
    "runs, qrels if any",
    takes=lambda runs, _: {"runs": ranked_runs.two_runs(*runs) if len(runs) == 2 else runs},
    asking=_check_top,
    shows=Agreement.document,
    besides=("unseen",),
)
REPRODUCTION = Question(
    "diff", reproduction, "runs, qrels if any", mode=Setting("", name="originals"), besides=("unseen",)
)
