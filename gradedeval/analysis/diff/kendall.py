"""Kendall's τ of many pairs of lists at once: one call of scipy a topic and pair of runs would take minutes."""

from __future__ import annotations

import numpy as np

from gradedeval.arrays import Floats, Ints


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
