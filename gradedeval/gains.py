"""The batch of gains that every measure is a function of."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gradedeval.intents import Intents

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Item = TypeVar("Item", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Gains:
    """A batch of topics as one measure sees it; all that a measure is a function of.

    gain       topics × ranks: what the document at each rank is worth; 0 where it is unjudged or beyond the end
    judged     topics × ranks: whether it is judged
    ideal      topics × …: the gains of the whole pool that are above 0, descending, zeros after; never cut
    retrieved  topics: how many documents the run has, down to the cutoff
    pool       topics: how many documents are judged
    levels     the distinct gains above 0 of the scheme, ascending
    k          the cutoff, None without one
    cost       topics × ranks: what it costs to look at each document; None: 1 each
    tail       what every rank past the last document is worth, down to the cutoff: 0, or in the best case the top gain
    types      the types of documents, and `kind` topics × ranks: which of them, −1 beyond the end; None where no
               measure asks
    intents    the batch by intent, for the measures that ask for it
    memo       what several measures have in common
    unsampled  topics × ranks: whether it was pooled and left out of the sample that was judged (grade −1); None: none
    """

    gain: Floats
    judged: Bools
    ideal: Floats
    retrieved: Ints
    pool: Ints
    levels: Floats
    k: int | None = None
    tail: float = 0.0
    cost: Floats | None = None
    unsampled: Bools | None = None
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None
    intents: Intents | None = None
    # What several measures have in common: the five quantities of one walk, where the relevant documents stand.
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def by_topic(self) -> dict[str, Any]:
        """The arrays that have a row for each topic: all but the levels of the scheme."""
        each = {one.name: getattr(self, one.name) for one in fields(self) if one.init and one.name != "levels"}
        return {name: own for name, own in each.items() if isinstance(own, np.ndarray)}

    def of_topics(self, rows: slice) -> Gains:
        """Only these topics of the batch."""
        return replace(self, **{name: own[rows] for name, own in self.by_topic().items()})

    @cached_property
    def rank(self) -> Floats:
        """1, 2, 3, … for the columns of `gain`."""
        return shared(np.arange(1.0, self.gain.shape[1] + 1))

    @cached_property
    def relevant(self) -> Bools:
        """topics × ranks: whether the gain is above 0."""
        return shared(self.gain > 0)

    @cached_property
    def hits(self) -> Floats:
        """topics × ranks: how many relevant documents down to the rank, itself included."""
        return shared(self.relevant.cumsum(1, dtype=np.float64))

    @cached_property
    def R(self) -> Ints:
        """topics: how many judged documents are relevant (gain above 0)."""
        return shared(np.count_nonzero(self.ideal, axis=1))

    @property
    def end(self) -> float:
        """The last rank that counts: the cutoff, or infinity."""
        return np.inf if self.k is None else self.k

    @property
    def depth(self) -> Ints | int:
        """The cutoff; without one, the number of documents retrieved."""
        return self.retrieved if self.k is None else self.k

    @cached_property
    def perfect(self) -> Gains:
        """The ideal ranking of the pool, cut like this one."""
        ideal = self.ideal[:, : self.k]
        return replace(self, gain=ideal, retrieved=np.count_nonzero(ideal, axis=1), tail=0.0)

    def ideal_at_ranks(self) -> Floats:
        """topics × ranks: the ideal ranking's gains, cut or padded to the columns of `gain`."""
        width = self.gain.shape[1]
        return np.pad(self.ideal[:, :width], ((0, 0), (0, max(0, width - self.ideal.shape[1]))))


def shared(array: NDArray[Item]) -> NDArray[Item]:
    """The array, for several measures to look at: whoever wrote to it would change the scores of the next."""
    array.setflags(write=False)
    return array


def total(values: Floats | Bools) -> Floats:
    """The sum of each row, added up rank by rank.

    `values.sum(1)` would add in an order that depends on the width of the batch: a topic's last digit must not depend
    on which other topics share its batch.
    """
    if not values.shape[1]:
        return np.zeros(len(values))
    if values.dtype == bool:
        counted: Floats = np.count_nonzero(values, axis=1).astype(np.float64)
        return counted
    if len(values) == 1:
        alone: Floats = values.cumsum(1, dtype=np.float64)[:, -1]
        return alone
    # Rank below rank in memory: numpy then adds whole rows, one after the other, four times as fast as it accumulates.
    # One column it would add in pairs.
    by_rank = np.ascontiguousarray(values.T, dtype=np.float64)
    summed: Floats = np.add.reduce(by_rank, axis=0)
    return summed


def with_rest(values: Floats, ranks: int) -> Floats:
    """topics × (ranks + 1): values cut or padded to so many ranks, and then the sum of what stands below them."""
    padded = np.pad(values[:, :ranks], ((0, 0), (0, max(0, ranks - values.shape[1]))))
    return np.column_stack([padded, total(values[:, ranks:])])


def share(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """`part / whole` by topic, where 0 / 0 is 0: a topic with nothing to find scores 0.

    Anything else over 0 is infinite; that arises only in the best case of a topic without known relevant documents,
    and the residual caps it at the measure's ceiling.
    """
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Any = part / whole
    return np.where((whole == 0) & (part == 0), 0.0, quotient)
