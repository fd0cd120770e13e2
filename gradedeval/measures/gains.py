"""The batch of gains that every measure is a function of."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.arrays import Bools, Floats, Ints, shared
from gradedeval.measures.gain_schemes import Sample

if TYPE_CHECKING:
    from gradedeval.measures.intents import Intents


@dataclass(frozen=True, eq=False, repr=False)
class Gains:
    """A batch of topics as one measure sees it; all that a measure is a function of.

    gain       topics × ranks: what the document at each rank is worth; 0 where it is unjudged or beyond the end
    judged     topics × ranks: whether it is judged
    ideal      topics × …: all gains above 0 in the pool, descending, then zeros; never cut
    retrieved  topics: the number of documents retrieved, down to the cutoff
    pool       topics: the number of judged documents
    levels     the distinct gains above 0 of the scheme, ascending
    k          the cutoff; None without one
    cost       topics × ranks: the cost of viewing each document; None: 1 each
    tail       the gain of every rank past the last document, down to the cutoff: 0, or in the best case the top gain
    types      the document types, and `kind` topics × ranks: which of them, −1 past the end; None where no measure
               distinguishes them
    intents    the batch by intent, for the measures that need it
    memo       intermediate results that several measures share
    unsampled  topics × ranks: whether the document was pooled but not sampled (grade below 0); None: none was
    first      topics × all ranks, below the cutoff too: the column where the documents tied with each one begin; then
               `gain` is their mean gain, and `uncut` topics × all ranks what each of them is worth, as is `gain` itself
               for bounds. None unless scores are means over the orders of tied documents
    sample     the strata that documents were sampled from, for the measures that need them
    below      topics: how many documents that nobody judged were retrieved below the last column; None: unknown
    unseen     how many documents that were not retrieved may be relevant too: a whole number, or infinity
    further    topics: how many documents are relevant beside those of the pool, where a bound supposes them
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
    first: Ints | None = None
    uncut: Floats | None = None
    sample: Sample | None = None
    below: Ints | None = None
    unseen: float = 0
    further: Floats | None = None
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None
    intents: Intents | None = None
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def by_topic(self) -> dict[str, Any]:
        """The arrays with a row for each topic: all but `levels`."""
        values = {name: getattr(self, name) for name in (entry.name for entry in fields(self)) if name != "levels"}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def select(self, rows: slice) -> Gains:
        """The batch with these topics only."""
        return replace(self, **{name: values[rows] for name, values in self.by_topic().items()})

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
        """topics × ranks: the number of relevant documents down to the rank, itself included."""
        return shared(self.relevant.cumsum(1, dtype=np.float64))

    @cached_property
    def unknown(self) -> Bools:
        """topics × ranks: whether there is a document that nobody judged."""
        return shared(~self.judged & (self.rank <= self.retrieved[:, None]))

    @cached_property
    def hidden(self) -> Floats:
        """topics: how many documents may be relevant and cannot be found: those below the last column that nobody
        judged, and `unseen`."""
        below: Floats = np.zeros(len(self.gain)) if self.below is None else self.below.astype(np.float64)
        return shared(below + self.unseen)

    @cached_property
    def nonrelevant_so_far(self) -> Floats:
        """topics × ranks: the number of documents judged not relevant down to the rank, itself included."""
        return shared((self.judged & ~self.relevant).cumsum(1, dtype=np.float64))

    @cached_property
    def num_relevant(self) -> Ints | Floats:
        """topics: R, the number of relevant documents in the pool (gain above 0)."""
        counts = np.count_nonzero(self.ideal, axis=1)
        return shared(counts if self.further is None else counts + self.further)

    @property
    def last_rank(self) -> float:
        """The cutoff, or infinity without one."""
        return np.inf if self.k is None else self.k

    @property
    def effective_depth(self) -> Ints | int:
        """The cutoff; without one, the number of documents retrieved."""
        return self.retrieved if self.k is None else self.k

    @cached_property
    def ranks_of_relevant(self) -> Floats:
        """topics × …: the ranks of the relevant documents, ascending; infinite after the last.

        Most documents are not relevant, and need not be looked at.
        """
        _, number, column = self._relevant_places
        ranks = np.full((len(self.gain), int(number.max(initial=-1)) + 1), np.inf)
        ranks.ravel()[self._slots(ranks.shape[1])] = column + 1.0
        return shared(ranks)

    @cached_property
    def _relevant_places(self) -> tuple[Ints, Ints, Ints]:
        """relevant documents: topic, column of `ranks_of_relevant`, and column of `gain`."""
        if len(self.gain) == 1:
            topic, column = self.relevant.nonzero()
            return topic, np.arange(len(topic)), column
        place = self.relevant.ravel().nonzero()[0]  # quicker than both coordinates at once
        topic = place // max(self.gain.shape[1], 1)
        counts = np.bincount(topic, minlength=len(self.gain))
        number = np.arange(len(place)) - (counts.cumsum() - counts).repeat(counts)
        return topic, number, place - topic * self.gain.shape[1]

    def _slots(self, width: int) -> Ints:
        """relevant documents: the position in `ranks_of_relevant`, of so many columns, row after row."""
        topic, number, _ = self._relevant_places
        return topic * width + number

    @cached_property
    def ordinal(self) -> Floats:
        """1, 2, 3, … for the columns of `ranks_of_relevant`."""
        return shared(np.arange(1.0, self.ranks_of_relevant.shape[1] + 1))

    @cached_property
    def num_relevant_retrieved(self) -> Ints | Floats:
        """topics: the number of relevant documents retrieved, down to the cutoff; over ties the sum of mean gains."""
        if self.first is not None:
            return shared(row_sums(self.gain))
        return shared(np.bincount(self._relevant_places[0], minlength=len(self.gain)))

    @cached_property
    def gains_of_relevant(self) -> Floats:
        """The columns of `ranks_of_relevant`: the gain of each."""
        return shared(self.at_relevant(self.gain))

    @cached_property
    def nonrelevant_above(self) -> Floats:
        """The columns of `ranks_of_relevant`: the number of documents judged not relevant that rank above."""
        return shared(self.at_relevant(self.nonrelevant_so_far))

    def at_relevant(self, values: Floats | Ints) -> Floats:
        """The columns of `ranks_of_relevant`: values (topics × ranks) at these ranks; past their last column, that."""
        topic, _, column = self._relevant_places
        picked = np.zeros_like(self.ranks_of_relevant)
        if width := values.shape[1]:
            picked.ravel()[self._slots(picked.shape[1])] = values.ravel()[topic * width + np.minimum(column, width - 1)]
        return picked

    @cached_property
    def ideal_batch(self) -> Gains:
        """The ideal ranking of the pool, cut like this one."""
        ideal = self.ideal[:, : self.k]
        return replace(self, gain=ideal, retrieved=np.count_nonzero(ideal, axis=1), tail=0.0, first=None)

    def ideal_at_ranks(self) -> Floats:
        """topics × ranks: the ideal ranking's gains, cut or padded to the columns of `gain`."""
        width = self.gain.shape[1]
        return np.pad(self.ideal[:, :width], ((0, 0), (0, max(0, width - self.ideal.shape[1]))))


def number_to_be_found(g: Gains, *, norm: str | None = None) -> Ints | Floats:
    """topics: R; with norm=k no more than the cutoff, which is as many as can be found."""
    return g.num_relevant if norm is None else np.minimum(g.num_relevant, g.last_rank)


def row_sums(values: Floats | Bools) -> Floats:
    """The sum of each row, added up rank by rank.

    `values.sum(1)` would add in an order that depends on the width of the batch: a topic's last digit must not depend
    on which other topics share its batch.
    """
    if not values.shape[1]:
        return np.zeros(len(values))
    if values.dtype == bool:
        return np.asarray(np.count_nonzero(values, axis=1), dtype=np.float64)
    if len(values) == 1:
        alone: Floats = values.cumsum(1, dtype=np.float64)[:, -1]
        return alone
    # Rank below rank in memory: numpy then adds whole rows, one after the other, four times as fast as it accumulates.
    # One column it would add in pairs.
    by_rank = np.ascontiguousarray(values.T, dtype=np.float64)
    summed: Floats = np.add.reduce(by_rank, axis=0)
    return summed


def with_remainder(values: Floats, ranks: int) -> Floats:
    """topics × (ranks + 1): the values cut or padded to so many ranks, and then the sum of those below."""
    padded = np.pad(values[:, :ranks], ((0, 0), (0, max(0, ranks - values.shape[1]))))
    return np.column_stack([padded, row_sums(values[:, ranks:])])


def safe_divide(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """`part / whole` by topic, where 0 / 0 is 0: a topic with nothing to find scores 0.

    Anything else over 0 is infinite; that arises only in the best case of a topic without known relevant documents,
    and the residual caps it at the measure's ceiling.
    """
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Any = part / whole
    return quotient if whole.all() else np.where((whole == 0) & (part == 0), 0.0, quotient)
