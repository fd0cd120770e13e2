"""Agreement of rankings, without judgments: rank-biased overlap with ties and its bounds, and shared documents, for the
lists of many topics and runs at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradedeval.analysis.correlation import taus
from gradedeval.arrays import Bools, Floats, Ints, by_width, positions_of, ranges, ranks
from gradedeval.kernel import parallel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gradedeval.analysis.ranked_runs import RankedRun

Ties = Literal["a", "b"]
"""Treatment of tied documents: the mean over all their orders, or a correction (Corsi & Urbano, SIGIR 2024)."""
LARGEST_ODDS = 1e300
"""Maximum odds of stopping at a rank, for the smallest persistence: finite times the number of documents."""


@dataclass(frozen=True, eq=False, repr=False)
class RankedLists:
    """Rankings of some topics, topic after topic.

    document  their documents, by number
    counts    topics: the numbers of documents
    first     the rank, from 0, of the first document tied with each one, and `last` of the last
    """

    document: Ints
    counts: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, run: RankedRun) -> RankedLists:
        """Build the lists of all topics of a run, with their ties."""
        within = ranks(run.counts)
        first = within if run.first is None else run.first
        begins = np.flatnonzero(np.append(True, (first[1:] != first[:-1]) | (within[1:] == 0))[: len(first)])
        sizes = np.diff(begins, append=len(first))
        last = (first + np.repeat(sizes, sizes) - 1).astype(np.int32)
        return cls(run.document, run.counts, first.astype(np.int32), last)

    @cached_property
    def begin(self) -> Ints:
        """The index of the first document of each topic."""
        begin: Ints = np.cumsum(self.counts) - self.counts
        return begin

    @cached_property
    def share(self) -> Floats:
        """The share of each document present at its rank, if all orders of its tie are equally likely."""
        sizes = (self.last - self.first + 1).astype(np.float64)
        return (ranks(self.counts) - self.first + 1) / sizes

    @cached_property
    def squares(self) -> Floats:
        """The sum of squared shares at the rank of each document: documents above a tie are present whole."""
        sizes = (self.last - self.first + 1).astype(np.float64)
        squares: Floats = self.first + sizes * np.square(self.share)
        return squares

    @cached_property
    def visible(self) -> Floats:
        """The number of documents that have begun at the rank of each."""
        return (self.last + 1).astype(np.float64)

    @cached_property
    def ended(self) -> Floats:
        """The number of documents present whole at the rank of each."""
        depth = ranks(self.counts)
        return np.where(self.last == depth, depth + 1.0, self.first.astype(np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class _Side:
    """One list of each pair of lists, from some runs in turn.

    begin, counts  pairs: the index of the first document among the documents of these runs, and their number
    """

    runs: Sequence[RankedLists]
    begin: Ints
    counts: Ints

    @classmethod
    def concatenated(cls, runs: Sequence[RankedLists]) -> _Side:
        counts = np.concatenate([run.counts for run in runs])
        return cls(runs, np.cumsum(counts) - counts, counts)

    @classmethod
    def repeated(cls, run: RankedLists, times: int) -> _Side:
        return cls([run], np.tile(run.begin, times), np.tile(run.counts, times))

    def column(self, name: str) -> NDArray[Any]:
        """Return a column of all documents of these runs."""
        columns = [getattr(run, name) for run in self.runs]
        return columns[0] if len(columns) == 1 else np.concatenate(columns)

    def table(self, name: str, rows: Ints, width: int) -> Floats:
        """Return the column of these pairs, pairs × depths; below the end of a list, its values without ties."""
        table = np.ones((len(rows), width)) if name == "share" else np.tile(np.arange(1.0, width + 1), (len(rows), 1))
        counts = self.counts[rows]
        table[np.arange(width) < counts[:, None]] = self.column(name)[ranges(self.begin[rows], counts)]
        return table


@dataclass(frozen=True, eq=False, repr=False)
class ListPairs:
    """The lists of some runs beside the lists of another, with the documents of both lists of a pair.

    Pairs are in the order of runs, then topics.

    counts        pairs: the numbers of shared documents
    mine, theirs  their indices among the documents of either side
    first, last   2 × documents: the begins and ends of their ties in either list
    """

    one: _Side
    other: _Side
    counts: Ints
    mine: Ints
    theirs: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, runs: Sequence[RankedLists], other: RankedLists, place: Ints) -> ListPairs:
        """Build from lists; `place` has the index of each document in the other run, −1 if absent."""
        sides = _Side.concatenated(runs), _Side.repeated(other, len(runs))
        index = place.take(sides[0].column("document"), mode="clip")  # "raise" would look at each number twice
        mine = np.flatnonzero(index >= 0)
        theirs = index[mine].astype(np.int64)
        counts = np.diff(np.searchsorted(mine, sides[0].begin), append=len(mine))
        first: Ints = np.empty((2, len(mine)), dtype=np.int32)
        last = np.empty_like(first)
        for name, both in (("first", first), ("last", last)):
            for side, indices, column in zip(sides, (mine, theirs), both, strict=True):
                side.column(name).take(indices, out=column, mode="clip")
        return cls(*sides, counts, mine, theirs, first, last)

    @property
    def pair(self) -> Ints:
        """The pair of each shared document."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def shared_down_to(self, rank: int) -> Ints:
        """Count the documents of each pair at this rank or above in both lists."""
        near = np.flatnonzero((self.first < rank).all(0))
        pair = self.pair[near]
        stands = np.maximum(self.mine[near] - self.one.begin[pair], self.theirs[near] - self.other.begin[pair])
        among: Ints = np.bincount(pair[stands < rank], minlength=len(self.counts))
        return among

    def taus(self) -> Floats:
        """Return Kendall's τ of the shared documents of each pair."""
        size, runs = len(self.other.column("first")), len(self.one.runs)
        position = np.repeat(np.arange(runs) * size, self.counts.reshape(runs, -1).sum(1)) + self.theirs
        by_other: Ints = np.full(runs * size, -1, dtype=np.int32)
        by_other[position] = np.arange(len(position), dtype=np.int32)
        return taus(self.counts, self.first[0], self.first[1], by_other[by_other >= 0])

    def overlaps(self, p: float, ties: Ties) -> Floats:
        """Compute `rank_biased_overlap` of each pair, 3 × pairs."""
        overlaps_of = np.full((3, len(self.counts)), np.nan)
        counts = np.stack([self.one.counts, self.other.counts])
        for rows in _by_run_and_width(counts.max(0) * counts.min(0).astype(bool), len(self.one.runs)):
            overlaps_of[:, rows] = _overlap(_PairBatch.of(self, rows), p, ties)
        return overlaps_of


def document_positions(run: RankedLists, documents: int) -> Ints:
    """Return the index of each document in a run, −1 if absent."""
    place: Ints = np.full(documents, -1, dtype=np.int32)
    place[run.document] = np.arange(len(run.document), dtype=np.int32)
    return place


def _by_run_and_width(widths: Ints, runs: int) -> Iterator[Ints]:
    """Yield pairs in batches of bounded size, without pairs of an empty list. Pairs of a run stay together, with runs
    of the same width: sums over tables of other widths differ in their last bits."""
    topics, together, cells = len(widths) // runs, dict[int, list[Ints]](), parallel.LIMITS.cells
    for run in range(runs):
        rows = np.flatnonzero(widths[run * topics : (run + 1) * topics]) + run * topics
        for part in by_width(widths[rows], cells):
            width = int(widths[rows[part]].max(initial=0))
            waiting = together.setdefault(width, [])
            if waiting and (sum(map(len, waiting)) + len(part)) * width > cells:
                yield np.concatenate(waiting)
                waiting.clear()
            waiting.append(rows[part])
    yield from (np.concatenate(waiting) for waiting in together.values())


def run_blocks(lists: list[RankedLists], other: RankedLists, ones: Iterable[int]) -> Iterator[list[int]]:
    """Yield runs in blocks of bounded size, as lists beside the lists of another run. A block is a quarter of the
    memory limit: larger arrays would be returned to the system and allocated again."""
    block: list[int] = []
    cells, limit, longest = 0, parallel.LIMITS.cells // 4, int(other.counts.max(initial=0))
    for run in ones:
        size = len(other.counts) * max(longest, int(lists[run].counts.max(initial=0)))
        if block and cells + size > limit:
            yield block
            block, cells = [], 0
        block.append(run)
        cells += size
    yield block


def rank_biased_overlap(first: RankedLists, second: RankedLists, documents: int, p: float, ties: Ties) -> Floats:
    """Return rank-biased overlap, extrapolated, and its bounds over all continuations of the lists: 3 × topics.

    nan if a list is empty. Webber, Moffat & Zobel, TOIS 2010, equation 32; `b` as Corsi & Urbano, SIGIR 2024. For lists
    of different lengths with ties they extrapolate by a product of means, which is not the mean over orders: `a` is.

    documents  the number of documents
    p          persistence, between 0 and 1
    ties       `a`: the means over all orders of tied documents; `b`: the shared part relative to the agreement
               of a list with these ties with itself
    """
    return ListPairs.of([first], second, document_positions(second, documents)).overlaps(p, ties)


@lru_cache(maxsize=8)
def _series(p: float, width: int) -> tuple[Floats, Floats, Floats]:
    """Return (1 − p) p^(d − 1) by depth; and for n from 0 to twice as many Σ_{d ≤ n} p^d / d and Σ_{d ≤ n} p^d."""
    depth, twice = np.arange(1.0, width + 1), np.arange(1.0, 2 * width + 1)
    shares = np.zeros(2 * width + 1)
    np.cumsum(p**twice / twice, out=shares[1:])
    powers: NDArray[Any] = p * (1 - p ** np.arange(2 * width + 1)) / (1 - p)
    return (1 - p) * p ** (depth - 1), shares, powers


def _overlap(some: _PairBatch, p: float, ties: Ties) -> Floats:
    s, l, common = some.short, some.long, some.common  # noqa: E741
    depth = np.arange(1.0, some.width + 1)
    weight, shares, powers = _series(p, some.width)
    norm = some.norms(ties)
    agreed = some.shared()
    agreed /= norm
    at_short = agreed[np.arange(len(s)), s - 1]
    weighted = weight * agreed
    ending = np.flatnonzero(l < some.width)
    weighted[ending] *= depth <= l[ending, None]
    least = weighted.sum(1)
    rest = np.zeros((2, 1))
    uneven = np.flatnonzero(s < l)
    if len(uneven):
        # Unseen documents of the shorter list: as many as agreed so far are the longer one's, at its ranks.
        beyond = (depth > s[uneven, None]) & (depth <= l[uneven, None])
        extrapolated = best = np.where(beyond, depth - s[uneven, None], 0.0)
        below = norm if len(norm) == 1 else norm[uneven]
        if ties == "b":
            extrapolated, best = extrapolated * some.unmatched_mean(uneven), some.best_unmatched(best, uneven)
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = [extrapolated * at_short[uneven, None] / below, best / below]
        if ties == "b":  # above the end of the shorter list the mean may be of nothing
            sums = [np.where(beyond, part, 0.0) for part in sums]
        rest = np.zeros((2, len(s)))
        rest[:, uneven] = [(weight * part).sum(1) for part in sums]
    ends = (common + (l - s) * at_short) / l * p**l
    odds = min((1 - p) / p, LARGEST_ODDS)
    low = least + odds * common * (-math.log1p(-p) - shares[l])
    full = l + s - common  # the first depth at which all could be shared
    tail = 2 * (powers[full] - powers[l]) + (common - l - s) * (shares[full] - shares[l])
    return np.stack([least + rest[0] + ends, low, least + rest[1] + odds * tail + p**full])


@dataclass(frozen=True, eq=False, repr=False)
class _PairBatch:
    """Some pairs of lists that are not empty, the shorter and the longer list of each.

    rows         their indices
    width        the length of the longest list
    short, long  their lengths
    swapped      whether the shorter list is from the second side
    common       the number of documents in both lists
    row          shared documents: the row of their pair
    first, last  shared documents: the begins and ends of their ties, 2 × documents, in the shorter, the longer list
    """

    pairs: ListPairs
    rows: Ints
    width: int
    short: Ints
    long: Ints
    swapped: Bools
    common: Ints
    row: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, pairs: ListPairs, rows: Ints) -> _PairBatch:
        common, first, last = pairs.counts[rows], pairs.first, pairs.last
        if len(rows) < len(pairs.counts):
            inside = positions_of(pairs.counts, rows)
            first, last = first[:, inside], last[:, inside]
        counts = np.stack([pairs.one.counts[rows], pairs.other.counts[rows]])
        swapped, row = counts[0] > counts[1], np.repeat(np.arange(len(rows)), common)
        if swapped.any():
            first, last = (np.where(swapped[row], part[::-1], part) for part in (first, last))
        short, long = counts.min(0), counts.max(0)
        return cls(pairs, rows, int(long.max()), short, long, swapped, common, row, first, last)

    def table(self, number: int, name: str, some: Ints | None = None) -> Floats:
        """Return a column of the shorter lists (0) or the longer ones (1), pairs × depths, of all pairs or of some."""
        rows, swapped = (self.rows, self.swapped) if some is None else (self.rows[some], self.swapped[some])
        first, second = self.pairs.one, self.pairs.other
        straight, crossed = (first, second) if number == 0 else (second, first)
        if not swapped.any():
            return straight.table(name, rows, self.width)
        if swapped.all():
            return crossed.table(name, rows, self.width)
        table = np.empty((len(rows), self.width))
        table[~swapped] = straight.table(name, rows[~swapped], self.width)
        table[swapped] = crossed.table(name, rows[swapped], self.width)
        return table

    def shared(self) -> Floats:
        """Return the shared amount of the two lists down to each depth, pairs × depths. A document is present whole in
        both, or in part in one of them or in both. It is counted by depth, so that a tie of a million takes no more
        than a million untied documents."""
        (first, other_first), (last, other_last) = self.first, self.last
        total = np.cumsum(self._cells(self.row, self.last.max(0), len(self.rows)), axis=1).astype(np.float64)
        for begin, end, numbers in (
            (np.maximum(first, other_last), last, (0,)),
            (np.maximum(other_first, last), other_last, (1,)),
            (np.maximum(first, other_first), np.minimum(last, other_last), (0, 1)),
        ):
            standing = np.flatnonzero(begin < end)
            if len(standing):
                row = self.row[standing]
                some = np.flatnonzero(np.bincount(row, minlength=len(self.rows)))
                row = np.searchsorted(some, row)
                shares = [self.table(number, "share", some) for number in numbers]
                share = shares[0] if len(shares) == 1 else shares[0] * shares[1]
                begun, ended = (self._cells(row, at[standing], len(some)) for at in (begin, end))
                total[some] += share * np.cumsum(begun - ended, axis=1)
        return total

    def norms(self, ties: Ties) -> Floats:
        """Return the largest amount that could be shared, pairs × depths, or one row for all."""
        if ties == "b":
            could: Floats = np.sqrt(self.table(0, "squares") * self.table(1, "squares"))
            return could
        return np.arange(1.0, self.width + 1)[None]

    def unmatched_mean(self, some: Ints) -> Floats:
        """Return the mean presence of unmatched documents of the longer list that have begun, pairs × depths."""
        begun, whole = (np.cumsum(self._longer(part)[some], axis=1) for part in (self.first, self.last))
        there = whole + self.table(1, "share", some) * (begun - whole)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean: Floats = (np.arange(1.0, self.width + 1) - there) / (self.table(1, "visible", some) - begun)
        return mean

    def best_unmatched(self, unseen: Floats, some: Ints) -> Floats:
        """Return the most that unseen documents of the shorter list share with the longer, pairs × depths."""
        whole = self.table(1, "ended", some) - np.cumsum(self._longer(self.last)[some], axis=1)
        best: Floats = np.minimum(unseen, whole)
        best += np.maximum(unseen - whole, 0) * self.table(1, "share", some)
        return best

    def _longer(self, depth: Ints) -> Ints:
        return self._cells(self.row, depth[1], len(self.rows))

    def _cells(self, row: Ints, depth: Ints, rows: int) -> Ints:
        """Count the documents of each row at each depth."""
        cells: Ints = np.bincount(row * self.width + depth, minlength=rows * self.width)
        return cells.reshape(rows, self.width)
