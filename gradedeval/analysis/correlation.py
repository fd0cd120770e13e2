"""Correlation of lists: Kendall's τ and weighted τ, Pearson's r, Spearman's ρ, without scipy.stats, whose import takes
longer than most commands take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, Ints, by_width, distinct, positions_of, ranges, ranks
from gradedeval.kernel import parallel

# Kendall's τ, of many pairs of lists at once where one call of scipy for each would take minutes; and weighted τ.


BITS = 5
"""Items in blocks of `1 << BITS` are compared one by one, blocks by how many items they have; so are numbers of twice
as many bits."""


def kendall_taus(group: Ints, one: Ints, other: Ints, groups: int) -> Floats:
    """groups: τ_b between two places of the same items, nan where one is constant.

    group       items: which list each belongs to
    one, other  items: its place, whole numbers from 0; equal where tied

    Kendall, Biometrika 1945; as `scipy.stats.kendalltau`.
    """
    order = np.lexsort((one, group))
    group, one, other = group[order], one[order], other[order]
    return taus(np.bincount(group, minlength=groups), one, other, np.lexsort((other, group)))


def taus(sizes: Ints, one: Ints, other: Ints, by_other: Ints) -> Floats:
    """groups: τ_b of items that come group by group, `sizes` in each, and in a group by their place in the one.

    by_other  the items, group by group, in a group by their place in the other
    """
    agreeing, untied, others_untied = _pairs(sizes, one, other, by_other)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = agreeing / np.sqrt(untied * others_untied)
    return found


def kendall_tau(one: Floats, other: Floats) -> float:
    """τ_b of two lists, neither of which is constant; the same as `scipy.stats.kendalltau`."""
    place, then = (distinct(values)[1] for values in (one, other))
    order = np.argsort(place, kind="stable")
    then = then[order]
    by_other = np.argsort(then, kind="stable")
    counts = _pairs(np.array([len(one)]), place[order], then, by_other)
    agreeing, untied, others_untied = (float(count[0]) for count in counts)
    return min(1.0, max(-1.0, agreeing / math.sqrt(untied) / math.sqrt(others_untied)))


def weighted_tau(one: Floats, other: Floats) -> float:
    """The weighted τ of two lists, neither of which is constant: exchanging two items costs 1/rank of either together;
    the mean over the ranks by the one and by the other. Vigna, WWW 2015. To the last bit that of
    `scipy.stats.weightedtau`, which adds up in the same order.
    """
    place, then = (distinct(values)[1].tolist() for values in (one, other))
    return (_weighted_tau(place, then) + _weighted_tau(then, place)) / 2


def _weighted_tau(one: list[int], other: list[int]) -> float:
    """The same by the ranks of the one, of equal ones by the other, the highest first."""
    count = len(one)
    order = sorted(range(count), key=lambda item: (one[item], other[item]))
    weight = [0.0] * count
    for rank, item in enumerate(reversed(order), 1):
        weight[item] = 1.0 / rank
    both = _tied_weight(order, weight, [(one[item], other[item]) for item in range(count)])
    tied = _tied_weight(order, weight, one)
    by_other, exchanged = order[:], [0.0]
    _merge_sort(by_other, weight, other, 0, count, exchanged)
    others_tied = _tied_weight(by_other, weight, other)
    total = 0.0
    for item in by_other:
        total += weight[item]
    total *= count - 1
    agreeing = (total - (others_tied + tied - both)) - 2.0 * exchanged[0]
    return min(1.0, max(-1.0, agreeing / math.sqrt(total - tied) / math.sqrt(total - others_tied)))


def _tied_weight(order: list[int], weight: list[float], place: Sequence[Any]) -> float:
    """What pairs of items in one place weigh, of items in the order of their places."""
    found, within, first = 0.0, weight[order[0]], 0
    for at in range(1, len(order)):
        if place[order[first]] != place[order[at]]:
            found += within * (at - first - 1)
            first, within = at, 0.0
        within += weight[order[at]]
    return found + within * (len(order) - first - 1)


def _merge_sort(
    order: list[int], weight: list[float], place: list[int], begin: int, count: int, exchanged: list[float]
) -> float:
    """Merge sort by place, in place: adds to `exchanged` what exchanges weigh, and gives the weight of all items."""
    if count == 1:
        return weight[order[begin]]
    half, middle = count // 2, begin + count // 2
    left = _merge_sort(order, weight, place, begin, half, exchanged)
    whole = _merge_sort(order, weight, place, middle, count - half, exchanged) + left
    if place[order[middle - 1]] < place[order[middle]]:
        return whole
    ones, others, merged = order[begin:middle], order[middle : begin + count], list[int]()
    at = then = 0
    while at < len(ones) and then < len(others):
        if place[ones[at]] <= place[others[then]]:
            merged.append(ones[at])
            left -= weight[ones[at]]
            at += 1
        else:
            merged.append(others[then])
            exchanged[0] += weight[others[then]] * (len(ones) - at) + left
            then += 1
    order[begin : begin + count] = merged + ones[at:] + others[then:]
    return whole


def _pairs(sizes: Ints, one: Ints, other: Ints, by_other: Ints) -> tuple[Floats, Floats, Floats]:
    """groups, of items as `taus` takes them: how many more pairs agree than do not, and how many are untied in the one
    and in the other."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    order: Ints | None
    order, tied, both = _order_ties(group, one, other, len(sizes))
    if order is not None:  # items that are tied in the one come by the other
        seat = np.empty_like(order)
        seat[order] = np.arange(len(order))
        other, by_other = other[order], seat[by_other]
    order, others_tied, _ = _order_ties(group, other[by_other], by_other, len(sizes))
    by_other = by_other if order is None else by_other[order]
    pairs: Floats = sizes * (sizes - 1) / 2
    agreeing = pairs - tied - others_tied + both - 2 * _inversions(by_other, sizes)
    return agreeing, pairs - tied, pairs - others_tied


def _order_ties(group: Ints, place: Ints, then: Ints, groups: int) -> tuple[Ints | None, Floats, Floats]:
    """Items that come by group and place, with those of each tie by another number: as positions, None where they come
    so; and groups: how many pairs are tied, and how many in the other number too."""
    tied = np.flatnonzero((place[1:] == place[:-1]) & (group[1:] == group[:-1]))
    if not len(tied):
        return None, np.zeros(groups), np.zeros(groups)
    begins = np.append(True, np.diff(tied) > 1)  # of those a tie goes on with
    sizes = np.diff(np.flatnonzero(begins), append=len(tied)) + 1
    first = tied[begins]
    at = ranges(first, sizes)
    key = np.repeat(np.arange(len(sizes)), sizes) * (int(then.max()) + 1) + then[at]
    sort = np.argsort(key, kind="stable")
    order = np.arange(len(place))
    order[at] = at[sort]
    alike = np.flatnonzero(np.diff(key[sort], prepend=-1))
    both = _tied_pairs(group[at[alike]], np.diff(alike, append=len(key)), groups)
    return order, _tied_pairs(group[first], sizes, groups), both


def _tied_pairs(group: Ints, sizes: Ints, groups: int) -> Floats:
    """groups: the pairs within stretches of these sizes."""
    pairs: Floats = sizes * (sizes - 1) / 2
    return np.bincount(group, weights=pairs, minlength=groups).astype(np.float64)


def _inversions(order: Ints, sizes: Ints) -> Floats:
    """groups: how many pairs of items stand in the order opposite to that of their numbers.

    order  the numbers of the items, each once: those of the first group, as many as its size, then those of the next
    """
    place = order - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.zeros(len(sizes))
    for rows in by_width(sizes, parallel.LIMITS.cells):
        part = place if len(rows) == len(sizes) else place[positions_of(sizes, rows)]
        found[rows] = _inversions_by_bits(part, sizes[rows])
    return found


def _inversions_by_bits(place: Ints, sizes: Ints) -> Floats:
    """groups: inversions of 0, 1, 2, … in any order, group by group.

    Two numbers differ first in one bit: items whose higher bits agree stand together, in order, and each with a 0 there
    counts those with a 1 before it. Then both kinds are parted. The last bits are counted in blocks.
    """
    found, group = np.zeros(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    for bit in range((int(sizes.max(initial=0)) - 1).bit_length() - 1, 2 * BITS - 1, -1):
        higher = place >> (bit + 1)
        ones = (place >> bit) & 1
        begins = np.append(True, (group[1:] != group[:-1]) | (higher[1:] != higher[:-1]))[: len(group)]
        start = np.flatnonzero(begins)
        stretch = np.cumsum(begins) - 1
        before = np.cumsum(ones) - ones
        before -= before[start][stretch]
        found += np.bincount(group, weights=before * (1 - ones), minlength=len(sizes))
        at = np.arange(len(group)) - start[stretch]
        zeros = np.bincount(stretch, weights=1 - ones, minlength=len(start)).astype(np.int64)
        target = start[stretch] + np.where(ones, zeros[stretch] + before, at - before)
        parted = np.empty_like(place)
        parted[target] = place  # the group of a position stays
        place = parted
    parts = (sizes + (1 << 2 * BITS) - 1) >> 2 * BITS
    whole = np.repeat(np.arange(len(sizes)), parts)
    each = np.minimum(sizes[whole] - (ranks(parts) << 2 * BITS), 1 << 2 * BITS)
    return found + np.bincount(
        whole, weights=_inversions_by_blocks(place & ((1 << 2 * BITS) - 1), each), minlength=len(sizes)
    )


def _inversions_by_blocks(place: Ints, sizes: Ints) -> Floats:
    """The same of small groups: pairs that stand in one block, pairs of other blocks whose numbers are of one block,
    and all others by how many items stand in a block and have numbers of another."""
    groups, blocks = len(sizes), (sizes + (1 << BITS) - 1) >> BITS
    begin, stands = np.cumsum(blocks) - blocks, ranks(sizes)
    first = np.repeat(begin, sizes)
    found = _block_inversions(first + (stands >> BITS), stands, place, int(blocks.sum()))
    found += _block_inversions(first + (place >> BITS), place, stands >> BITS, len(found))
    most = int(blocks.max(initial=0))
    group = np.repeat(np.arange(groups) * most, sizes)
    cells = (group + (stands >> BITS)) * most + (place >> BITS)
    count = np.bincount(cells, minlength=groups * most * most).astype(np.int32).reshape(groups, most, most)
    earlier = np.cumsum(count, axis=1, dtype=np.int32) - count
    higher = np.cumsum(earlier[:, :, ::-1], axis=2, dtype=np.int32)[:, :, ::-1] - earlier
    others: Floats = (count * higher).sum((1, 2), dtype=np.float64)
    return others + np.bincount(np.repeat(np.arange(groups), blocks), weights=found, minlength=groups)


def _block_inversions(block: Ints, at: Ints, value: Ints, blocks: int) -> Ints:
    """blocks: how many pairs of its items have the larger value first.

    at  where an item is in its block, by the last bits; each block is filled from its begin
    """
    table = np.full((1 << BITS, blocks), np.iinfo(np.int16).max, dtype=np.int16)
    table.ravel()[(at & ((1 << BITS) - 1)) * blocks + block] = value.astype(np.int16)
    more = np.zeros(table.shape, dtype=np.uint8)
    for step in range(1, 1 << BITS):
        more[step:] += (table[:-step] > table[step:]).view(np.uint8)
    found: Ints = more.sum(0, dtype=np.int64)
    return found


# Pearson's r and Spearman's ρ of one list with many others, to the last bit as scipy's.


Correlate = Callable[[Floats], float]
"""The correlation of another list of the same length with the one that is known."""


def pearson_with(known: Floats) -> Correlate:
    """Pearson's r of finite numbers, neither list constant."""
    length = len(known)
    own = _scaled(known)

    def pearson(other: Floats) -> float:
        found = float(np.clip(np.vecdot(own, _scaled(other)), -1, 1))
        return round(found) if length == 2 else found

    return pearson


def _scaled(values: Floats) -> Floats:
    """The differences from the mean, of which the squares add up to 1; scaled first, so that no square overflows."""
    differences = values - values.mean()
    largest = np.abs(differences).max()
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: Floats = differences / (largest * np.linalg.norm(differences / largest, axis=-1))
    return scaled


def spearman_with(known: Floats) -> Correlate:
    """Spearman's ρ of finite numbers, neither list constant: Pearson's r of their ranks."""
    own = mean_ranks(known)

    def spearman(other: Floats) -> float:
        both: Any = np.corrcoef(np.stack([own, mean_ranks(other)]))
        return float(both[1, 0])

    return spearman


def mean_ranks(values: Floats) -> Floats:
    """The rank of each value from 1 for the least; equal ones have the mean of theirs."""
    order = np.argsort(values)
    ordered = values[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])
    begin = np.flatnonzero(begins)
    end = np.append(begin[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = ((begin + 1 + end) / 2)[np.cumsum(begins) - 1]
    return ranks
