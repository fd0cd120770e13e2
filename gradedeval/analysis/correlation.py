"""Kendall's τ of many pairs of lists at once, which a call of scipy for each would take minutes for."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats, Ints, by_width, positions_of, ranges, ranks
from gradedeval.kernel import parallel

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
    """Return τ_b of each group of items, which come group by group and by their place in x; `by_y` by that in y."""
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
    agreeing = pairs - tied_x - tied_y + both - 2 * _inversions(by_y, sizes)  # less disagreeing ones
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(agreeing / np.sqrt((pairs - tied_x) * (pairs - tied_y)))


def _order_ties(group: Ints, first_place: Ints, second: Ints, groups: int) -> tuple[Ints | None, Floats, Floats]:
    """Return the order of items with ties by a second number, None if it holds; tied pairs, and pairs tied in both."""
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
    """Return the inversions of small groups: within a block one by one, between blocks by counts of items."""
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
    """Return the pairs of items in each block with the larger value first; positions count by their last bits."""
    table = np.full((1 << BITS, blocks), np.iinfo(np.int16).max, dtype=np.int16)
    table.ravel()[(position & ((1 << BITS) - 1)) * blocks + block] = value.astype(np.int16)
    more = np.zeros(table.shape, dtype=np.uint8)
    for step in range(1, 1 << BITS):
        more[step:] += (table[:-step] > table[step:]).view(np.uint8)
    inversions: Ints = more.sum(0, dtype=np.int64)
    return inversions
