"""Correlation of lists: Kendall's τ and weighted τ, Pearson's r, Spearman's ρ, without the slow import of
scipy.stats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradedeval.arrays import Floats, Ints, by_width, distinct, positions_of, ranges, ranks
from gradedeval.kernel import parallel

# Kendall's τ of many pairs of lists at once, which a call of scipy for each would take minutes for; and weighted τ.


BITS = 5
"""Items in blocks of `1 << BITS` are compared one by one, blocks by their counts, for numbers of twice as many bits."""


def kendall_taus(group: Ints, x: Ints, y: Ints, groups: int) -> Floats:
    """Return τ_b of each group between two places of the same items, nan if one is constant.

    group  items: the list of each item
    x, y   items: its places, whole numbers from 0, equal if tied

    Kendall, Biometrika 1945; as `scipy.stats.kendalltau`.
    """
    order = np.lexsort((x, group))
    group, x, y = group[order], x[order], y[order]
    return taus(np.bincount(group, minlength=groups), x, y, np.lexsort((y, group)))


def taus(sizes: Ints, x: Ints, y: Ints, by_y: Ints) -> Floats:
    """Return τ_b of each group of items that come group by group, `sizes` in each, and in a group by their place in x.

    by_y  the items, group by group, in a group by their place in y
    """
    agreeing, untied_x, untied_y = _pairs(sizes, x, y, by_y)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: Floats = agreeing / np.sqrt(untied_x * untied_y)
    return tau


def kendall_tau(x: Floats, y: Floats) -> float:
    """Return τ_b of two lists, neither of them constant; the same as `scipy.stats.kendalltau`."""
    x_place, y_place = (distinct(values)[1] for values in (x, y))
    order = np.argsort(x_place, kind="stable")
    y_place = y_place[order]
    by_y = np.argsort(y_place, kind="stable")
    counts = _pairs(np.array([len(x)]), x_place[order], y_place, by_y)
    agreeing, untied_x, untied_y = (float(count[0]) for count in counts)
    return min(1.0, max(-1.0, agreeing / math.sqrt(untied_x) / math.sqrt(untied_y)))


def weighted_tau(x: Floats, y: Floats) -> float:
    """Return the weighted τ of two lists, neither of them constant: an exchange costs the 1/rank of both items
    together. The result is the mean over the ranks by x and by y, equal to the last bit to `scipy.stats.weightedtau`,
    which adds in the same order. Vigna, WWW 2015."""
    x_place, y_place = (distinct(values)[1].tolist() for values in (x, y))
    return (_weighted_tau(x_place, y_place) + _weighted_tau(y_place, x_place)) / 2


def _weighted_tau(x: list[int], y: list[int]) -> float:
    """Return the weighted τ by the ranks of x, ties by y, the highest first."""
    count = len(x)
    order = sorted(range(count), key=lambda item: (x[item], y[item]))
    weight = [0.0] * count
    for rank, item in enumerate(reversed(order), 1):
        weight[item] = 1.0 / rank
    both = _tied_weight(order, weight, [(x[item], y[item]) for item in range(count)])
    tied_x = _tied_weight(order, weight, x)
    by_y, exchanged = order[:], [0.0]
    _merge_sort(by_y, weight, y, 0, count, exchanged)
    tied_y = _tied_weight(by_y, weight, y)
    total = 0.0
    for item in by_y:
        total += weight[item]
    total *= count - 1
    agreeing = (total - (tied_y + tied_x - both)) - 2.0 * exchanged[0]
    return min(1.0, max(-1.0, agreeing / math.sqrt(total - tied_x) / math.sqrt(total - tied_y)))


def _tied_weight(order: list[int], weight: list[float], place: Sequence[Any]) -> float:
    """Return the weight of the pairs of items in one place; items come in the order of their places."""
    total, within, first = 0.0, weight[order[0]], 0
    for position in range(1, len(order)):
        if place[order[first]] != place[order[position]]:
            total += within * (position - first - 1)
            first, within = position, 0.0
        within += weight[order[position]]
    return total + within * (len(order) - first - 1)


def _merge_sort(
    order: list[int], weight: list[float], place: list[int], begin: int, count: int, exchanged: list[float]
) -> float:
    """Sort by place, in place; add the weight of exchanges to `exchanged`, and return the weight of all items."""
    if count == 1:
        return weight[order[begin]]
    half, middle = count // 2, begin + count // 2
    remaining = _merge_sort(order, weight, place, begin, half, exchanged)
    whole = _merge_sort(order, weight, place, middle, count - half, exchanged) + remaining
    if place[order[middle - 1]] < place[order[middle]]:
        return whole
    head, tail, merged = order[begin:middle], order[middle : begin + count], list[int]()
    i = k = 0
    while i < len(head) and k < len(tail):
        if place[head[i]] <= place[tail[k]]:
            merged.append(head[i])
            remaining -= weight[head[i]]
            i += 1
        else:
            merged.append(tail[k])
            exchanged[0] += weight[tail[k]] * (len(head) - i) + remaining
            k += 1
    order[begin : begin + count] = merged + head[i:] + tail[k:]
    return whole


def _pairs(sizes: Ints, x: Ints, y: Ints, by_y: Ints) -> tuple[Floats, Floats, Floats]:
    """Return for each group of `taus`: agreeing less disagreeing pairs, pairs untied in x, pairs untied in y."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    order: Ints | None
    order, tied_x, both = _order_ties(group, x, y, len(sizes))
    if order is not None:  # items that are tied in the one come by the other
        seat = np.empty_like(order)
        seat[order] = np.arange(len(order))
        y, by_y = y[order], seat[by_y]
    order, tied_y, _ = _order_ties(group, y[by_y], by_y, len(sizes))
    by_y = by_y if order is None else by_y[order]
    pairs: Floats = sizes * (sizes - 1) / 2
    agreeing = pairs - tied_x - tied_y + both - 2 * _inversions(by_y, sizes)
    return agreeing, pairs - tied_x, pairs - tied_y


def _order_ties(group: Ints, first_place: Ints, second: Ints, groups: int) -> tuple[Ints | None, Floats, Floats]:
    """Return the order of items, which come by group and place, with each tie ordered by a second number; None if it
    holds. Also returns for each group: the tied pairs, and the pairs tied in the second number too."""
    tied = np.flatnonzero((first_place[1:] == first_place[:-1]) & (group[1:] == group[:-1]))
    if not len(tied):
        return None, np.zeros(groups), np.zeros(groups)
    begins = np.append(True, np.diff(tied) > 1)  # of those a tie goes on with
    sizes = np.diff(np.flatnonzero(begins), append=len(tied)) + 1
    first = tied[begins]
    positions = ranges(first, sizes)
    key = np.repeat(np.arange(len(sizes)), sizes) * (int(second.max()) + 1) + second[positions]
    sort = np.argsort(key, kind="stable")
    order = np.arange(len(first_place))
    order[positions] = positions[sort]
    alike = np.flatnonzero(np.diff(key[sort], prepend=-1))
    both = _tied_pairs(group[positions[alike]], np.diff(alike, append=len(key)), groups)
    return order, _tied_pairs(group[first], sizes, groups), both


def _tied_pairs(group: Ints, sizes: Ints, groups: int) -> Floats:
    """Return the pairs of each group within stretches of these sizes."""
    pairs: Floats = sizes * (sizes - 1) / 2
    return np.bincount(group, weights=pairs, minlength=groups).astype(np.float64)


def _inversions(order: Ints, sizes: Ints) -> Floats:
    """Return for each group the pairs of items in the order opposite to their numbers.

    order  the number of each item, each once: all numbers of the first group, then all of the next
    """
    place = order - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inversions = np.zeros(len(sizes))
    for rows in by_width(sizes, parallel.LIMITS.cells):
        part = place if len(rows) == len(sizes) else place[positions_of(sizes, rows)]
        inversions[rows] = _inversions_by_bits(part, sizes[rows])
    return inversions


def _inversions_by_bits(place: Ints, sizes: Ints) -> Floats:
    """Return the inversions of each group of 0, 1, 2, … in any order, group by group. Two numbers first differ in one
    bit. Items with equal higher bits stand together, in order; each with a 0 in that bit counts the preceding items
    with a 1. Then both kinds are parted. The last bits are counted in blocks."""
    inversions, group = np.zeros(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    for bit in range((int(sizes.max(initial=0)) - 1).bit_length() - 1, 2 * BITS - 1, -1):
        higher = place >> (bit + 1)
        ones = (place >> bit) & 1
        begins = np.append(True, (group[1:] != group[:-1]) | (higher[1:] != higher[:-1]))[: len(group)]
        start = np.flatnonzero(begins)
        stretch = np.cumsum(begins) - 1
        preceding = np.cumsum(ones) - ones
        preceding -= preceding[start][stretch]
        inversions += np.bincount(group, weights=preceding * (1 - ones), minlength=len(sizes))
        offset = np.arange(len(group)) - start[stretch]
        zeros = np.bincount(stretch, weights=1 - ones, minlength=len(start)).astype(np.int64)
        target = start[stretch] + np.where(ones, zeros[stretch] + preceding, offset - preceding)
        parted = np.empty_like(place)
        parted[target] = place  # the group of a position stays
        place = parted
    parts = (sizes + (1 << 2 * BITS) - 1) >> 2 * BITS
    whole = np.repeat(np.arange(len(sizes)), parts)
    each = np.minimum(sizes[whole] - (ranks(parts) << 2 * BITS), 1 << 2 * BITS)
    return inversions + np.bincount(
        whole, weights=_inversions_by_blocks(place & ((1 << 2 * BITS) - 1), each), minlength=len(sizes)
    )


def _inversions_by_blocks(place: Ints, sizes: Ints) -> Floats:
    """Return the inversions of small groups. Pairs within one block of positions or of numbers are compared; all others
    are counted by the items of each block of positions with numbers in each block."""
    groups, blocks = len(sizes), (sizes + (1 << BITS) - 1) >> BITS
    begin, stands = np.cumsum(blocks) - blocks, ranks(sizes)
    first = np.repeat(begin, sizes)
    within = _block_inversions(first + (stands >> BITS), stands, place, int(blocks.sum()))
    within += _block_inversions(first + (place >> BITS), place, stands >> BITS, len(within))
    most = int(blocks.max(initial=0))
    group = np.repeat(np.arange(groups) * most, sizes)
    cells = (group + (stands >> BITS)) * most + (place >> BITS)
    count = np.bincount(cells, minlength=groups * most * most).astype(np.int32).reshape(groups, most, most)
    earlier = np.cumsum(count, axis=1, dtype=np.int32) - count
    higher = np.cumsum(earlier[:, :, ::-1], axis=2, dtype=np.int32)[:, :, ::-1] - earlier
    across: Floats = (count * higher).sum((1, 2), dtype=np.float64)
    return across + np.bincount(np.repeat(np.arange(groups), blocks), weights=within, minlength=groups)


def _block_inversions(block: Ints, position: Ints, value: Ints, blocks: int) -> Ints:
    """Return for each block its pairs of items with the larger value first.

    position  the position of an item in its block, by the last bits; each block is filled from its begin
    """
    table = np.full((1 << BITS, blocks), np.iinfo(np.int16).max, dtype=np.int16)
    table.ravel()[(position & ((1 << BITS) - 1)) * blocks + block] = value.astype(np.int16)
    more = np.zeros(table.shape, dtype=np.uint8)
    for step in range(1, 1 << BITS):
        more[step:] += (table[:-step] > table[step:]).view(np.uint8)
    inversions: Ints = more.sum(0, dtype=np.int64)
    return inversions


# Pearson's r and Spearman's ρ of one list with many others, to the last bit as scipy's.


Correlate = Callable[[Floats], float]
"""A function for the correlation of a list with a fixed one of the same length."""


def pearson_with(values: Floats) -> Correlate:
    """Return a function for Pearson's r of a list with `values`: finite numbers, neither list constant."""
    length = len(values)
    scaled = _scaled(values)

    def pearson(second: Floats) -> float:
        r = float(np.clip(np.vecdot(scaled, _scaled(second)), -1, 1))
        return round(r) if length == 2 else r

    return pearson


def _scaled(values: Floats) -> Floats:
    """Return the differences from the mean, with squares that sum to 1; they are scaled first, so that no square
    overflows."""
    differences = values - values.mean()
    largest = np.abs(differences).max()
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: Floats = differences / (largest * np.linalg.norm(differences / largest, axis=-1))
    return scaled


def spearman_with(values: Floats) -> Correlate:
    """Return a function for Spearman's ρ, Pearson's r of ranks: finite numbers, neither list constant."""
    value_ranks = mean_ranks(values)

    def spearman(second: Floats) -> float:
        both: Any = np.corrcoef(np.stack([value_ranks, mean_ranks(second)]))
        return float(both[1, 0])

    return spearman


def mean_ranks(values: Floats) -> Floats:
    """Return the rank of each value, from 1 for the least; equal values have the mean of their ranks."""
    order = np.argsort(values)
    ordered = values[order]
    begins = np.append(True, ordered[1:] != ordered[:-1])
    begin = np.flatnonzero(begins)
    end = np.append(begin[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = ((begin + 1 + end) / 2)[np.cumsum(begins) - 1]
    return ranks
