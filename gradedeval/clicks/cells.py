"""Sessions as click models see them: which parameter stands at each rank, and whether it was clicked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """Sessions, rank below rank in memory; those that show the same and click the same are one column, counted.

    item   ranks × columns: the number of the document or grade; `items` where it is none of them, and `items` + 1 past
           the end of a list
    click  ranks × columns: whether it was clicked
    count  columns: how many sessions
    items  how many documents or grades have parameters
    """

    item: Ints
    click: Bools
    count: Ints
    items: int

    @cached_property
    def shown(self) -> Bools:
        """ranks × columns: whether the list goes down to this rank."""
        return self.item <= self.items

    @cached_property
    def weight(self) -> Floats:
        """ranks × columns: how many sessions, 0 past the end of a list."""
        return np.where(self.shown, self.count.astype(np.float64), 0.0)

    @cached_property
    def last(self) -> Ints:
        """ranks × columns: the rank of the last click above, from 1; 0 without one."""
        rank = np.arange(1, len(self.click) + 1)[:, None]
        clicked = np.maximum.accumulate(np.where(self.click, rank, 0), axis=0)
        return np.vstack([np.zeros_like(clicked[:1]), clicked[:-1]])

    @cached_property
    def clicked_below(self) -> Bools:
        """ranks × columns: whether a document further down was clicked."""
        below = np.logical_or.accumulate(self.click[::-1], axis=0)[::-1]
        return np.vstack([below[1:], np.zeros_like(below[:1])])

    @cached_property
    def goes_on(self) -> Bools:
        """ranks × columns: whether there is a rank below."""
        return np.vstack([self.shown[1:], np.zeros_like(self.shown[:1])])

    def by_item(self, values: Floats | Bools) -> Floats:
        """items, and those without parameters: the sum of ranks × columns over all sessions."""
        weights = (self.weight * values).ravel()
        return np.bincount(self.item.ravel(), weights, minlength=self.items + 2)[:-1].astype(np.float64)

    def at(self, parameter: Floats) -> Floats:
        """ranks × columns: what a parameter of items, and of those without, is; 0 past the end of a list."""
        found: Floats = np.append(parameter, 0.0)[self.item]
        return found
