"""The batch of gains that every measure is a function of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gradedeval.arrays import LARGEST, Bools, Floats, Ints, distinct, shared
from gradedeval.errors import InputError, shorten

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import Measure
    from gradedeval.kernel.measures.diversity import Intents
    from gradedeval.kernel.measures.sampled import Sample


# Gain schemes.


Scale = Literal["unit", "raw", "thresholds"]
"""The gains that a measure takes: `unit` in [0, 1], `raw` of any size, `thresholds` as graded precision."""


@dataclass(eq=False, repr=False)
class Grades:
    """The scale of a qrels file: its distinct labels, ascending, and the top grade: the highest, or a setting."""

    labels: Floats
    top: float
    max_gain: float | None = None


def thresholds(grades: Grades) -> Sequence[float]:
    """Return the possible thresholds of users, from which they regard documents as relevant: 1..top, also labels that
    do not occur; the positive labels and the top grade if one of these has a fraction."""
    positive = np.append(grades.labels[grades.labels > 0], max(grades.top, 0))
    if (positive == np.floor(positive)).all():
        return range(1, int(positive[-1]) + 1)
    levels: list[float] = distinct(positive)[0].tolist()  # with subtopics a label may repeat
    return levels


# Gains of labels, on the raw scale and on the scale from 0 to 1.
RAW: dict[str, Callable[[Floats, float], Floats]] = {
    "linear": lambda labels, top: labels,
    "exp": lambda labels, top: np.exp2(labels) - 1,
    "ntcir": lambda labels, top: labels,
    "grade": lambda labels, top: labels,
}
UNIT: dict[str, Callable[[Floats, float], Floats]] = {
    "linear": lambda labels, top: labels / top,
    "exp": lambda labels, top: np.exp2(labels - top) - np.exp2(-top),  # as (2^g − 1) / 2^top, without overflow
    "ntcir": lambda labels, top: labels / (top + 1),
    "grade": lambda labels, top: labels,
}


@dataclass(eq=False, repr=False)
class GainTable:
    """The gains of a measure.

    gain_of_label  the gain of each label of the qrels
    top            the highest gain of any label
    scheme         the gains of all labels, if the table is for a single intent
    filled         the gains of the codes past the labels, of unjudged documents, if the measure takes them
    """

    gain_of_label: Floats
    top: float
    scheme: Floats | None = None
    filled: Floats | None = None

    @cached_property
    def key(self) -> bytes:
        """A key with all inputs of the gains."""
        gains = self.gain_of_label.tobytes()
        return gains if self.filled is None else gains + self.filled.tobytes()

    def by_code(self, codes: int) -> Floats:
        """Return the gains of `codes` codes: 0 past the labels, unless filled."""
        gains = self.gain_of_label if self.filled is None else np.append(self.gain_of_label, self.filled)
        return np.append(gains, np.zeros(codes - len(gains)))

    @cached_property
    def levels(self) -> Floats:
        """The distinct gains above 0, ascending, including the largest of the scheme."""
        levels, _ = distinct(np.append(self.gain_of_label if self.scheme is None else self.scheme, self.top))
        return levels[levels > 0]


def gain_table(measure: Measure, grades: Grades) -> GainTable:
    """Return the gain of each grade for a measure. Raises InputError if its gain scheme does not fit the grades.

    Grades below 0 have gain 0: spam is judged, and not relevant. With a lowest relevant grade above the top grade no
    document is ever relevant, and the top gain is 0.
    """
    rel, scheme, scale = measure.rel, measure.gain, measure.definition.scale
    if grades.top <= 0 or (rel is None and (scale is None or scheme is None)):
        return GainTable(np.zeros(len(grades.labels)), 0.0)
    if rel is not None:
        return GainTable((grades.labels >= rel).astype(np.float64), float(rel <= grades.top))
    shares = measure.threshold_shares
    if shares is not None or scheme == "thresholds":
        return threshold_table(shares, grades, measure)
    if rule := (UNIT if scale == "unit" else RAW).get(str(scheme)):
        with np.errstate(over="ignore"):
            gains = rule(np.maximum(grades.labels, 0), grades.top)
            top = float(rule(np.array([grades.top]), grades.top)[0])
        if not np.isfinite(top):
            problem = f"the gain of grade {grades.top:g} is not finite"
            raise InputError(f"'{measure}'", problem, "use gain=linear, or list the gains")
    else:
        from gradedeval.kernel.measures.parameters import listed_gains  # few evaluations list gains

        gains, top = listed_gains(measure, grades)
    if top >= LARGEST:
        problem = f"the top gain {top:g} is not below {LARGEST:g}"
        raise InputError(f"'{measure}'", problem, "give smaller gains, or gain=linear")
    gains = np.where(grades.labels < 0, 0.0, gains)  # for every gain of grade 0
    if scale == "thresholds":
        # Steps between the gains, rescaled so that they sum to 1.
        return GainTable(gains / top, 1.0) if top > 0 else GainTable(gains, 0.0)
    if scale == "unit":
        if gains.max(initial=0) > 1:
            first = np.argmax(gains > 1)
            problem = f"grade {grades.labels[first]:g} is worth {gains[first]:g}, outside 0..1"
            raise InputError(f"'{measure}'", problem, "use gain=linear or gain=exp, or give values up to 1")
        top = top if grades.max_gain is None else float(grades.max_gain)
        if top > 1:
            raise InputError(f"'{measure}'", f"the top gain {top:g} is outside 0..1", "give values up to 1")
    return GainTable(gains, top)


def threshold_table(steps: tuple[float, ...] | None, grades: Grades, measure: Measure) -> GainTable:
    """Return the gains of `gap(g=...)`: the share of users who regard a grade as relevant; equal steps without `g`.

    Robertson et al., SIGIR 2010, section 2.1: g_j is the probability that a user's threshold is grade j.
    """
    levels = thresholds(grades)
    if steps is None and isinstance(levels, range):
        return GainTable(np.maximum(grades.labels, 0) / grades.top, 1.0)
    steps = steps or (1.0,) * len(levels)
    if len(levels[: len(steps) + 1]) != len(steps):  # a range may be longer than any list
        count = levels[-1] if isinstance(levels, range) else len(levels)
        hint = f"give one for each of the grades {shorten([f'{level:g}' for level in levels[:10]], 9)}"
        raise InputError(f"'{measure}'", f"g has {len(steps)} values for {count} thresholds", hint)
    shares = np.append(0, np.cumsum(steps))
    shares /= shares[-1]
    return GainTable(shares[np.searchsorted(np.array(levels), grades.labels, side="right")], 1.0)


@dataclass(eq=False, repr=False)
class Gains:
    """A batch of topics for one measure: the whole input of its function.

    gain       topics × ranks: the gain of the document at each rank; 0 if it is unjudged or beyond the end
    judged     topics × ranks: whether it is judged
    ideal      topics × …: all gains above 0 in the pool, descending, then zeros; never cut
    retrieved  topics: the number of documents retrieved, down to the cutoff
    pool       topics: the number of judged documents
    levels     the distinct gains above 0 of the scheme, ascending
    k          the cutoff; None without one
    cost       topics × ranks: the cost of viewing each document; None: 1 each
    tail       the gain of every rank past the last document, down to the cutoff: 0, or in the best case the top gain
    types      the document types, and `kind` topics × ranks: the index of a document's type, −1 past the end; None if
               no measure distinguishes them
    intents    the batch by intent, for the measures that need it
    memo       intermediate results that several measures share
    ideal_memo  intermediate results that depend on `ideal` alone, shared by all batches with the same `ideal`
    unsampled  topics × ranks: whether the document was pooled but not sampled (grade below 0); None: none was
    first      topics × all ranks, also below the cutoff: the first column of the document's tie; then `gain` is the
               mean gain of the tie, and `uncut` topics × all ranks the gain of each document, as is `gain` itself for
               bounds. None unless scores are means over the orders of tied documents
    sample     the strata that documents were sampled from, for the measures that need them
    below      topics: the number of unjudged documents retrieved below the last column; None: unknown
    unseen     the number of documents that were not retrieved and may be relevant: a whole number, or infinity
    further    topics: the number of relevant documents that a bound adds to the pool
    highest    topics: the highest score of a document, −inf without documents; None unless a measure reads it
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
    highest: Floats | None = None
    types: tuple[bytes, ...] = ()
    kind: Ints | None = None
    intents: Intents | None = None
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    ideal_memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def by_topic(self) -> dict[str, Any]:
        """Return the arrays with a row for each topic: all but `levels`."""
        values = {name: getattr(self, name) for name in (entry.name for entry in fields(self)) if name != "levels"}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def select(self, rows: slice) -> Gains:
        """Return the batch with these topics only."""
        return replace(self, **{name: values[rows] for name, values in self.by_topic().items()})

    @cached_property
    def rank(self) -> Floats:
        """1, 2, 3, … for the columns of `gain`."""
        rank = np.arange(1.0, self.gain.shape[1] + 1)
        rank.setflags(write=False)
        return rank

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
        """topics × ranks: whether there is an unjudged document."""
        return shared(~self.judged & (self.rank <= self.retrieved[:, None]))

    @cached_property
    def hidden(self) -> Floats:
        """topics: the number of documents that may be relevant and cannot be found: unjudged ones below the last
        column, and `unseen`."""
        below: Floats = np.zeros(len(self.gain)) if self.below is None else self.below.astype(np.float64)
        return shared(below + self.unseen)

    @cached_property
    def nonrelevant_so_far(self) -> Floats:
        """topics × ranks: the number of documents judged not relevant down to the rank, itself included."""
        return shared((self.judged & ~self.relevant).cumsum(1, dtype=np.float64))

    @cached_property
    def num_relevant(self) -> Ints | Floats:
        """topics: R, the number of relevant documents in the pool (gain above 0)."""
        if (counts := self.ideal_memo.get("relevant")) is None:
            counts = self.ideal_memo["relevant"] = shared(np.count_nonzero(self.ideal, axis=1))
        return counts if self.further is None else shared(counts + self.further)

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
        """topics × …: the ranks of the relevant documents, ascending; infinite after the last. Most documents are not
        relevant, and need not be inspected."""
        _, number, column = self._relevant_places
        if len(self.gain) == 1:
            return shared(np.add(column, 1, dtype=np.float64)[None])
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
        """Return the positions of the relevant documents in `ranks_of_relevant` with `width` columns, row after row."""
        topic, number, _ = self._relevant_places
        return topic * width + number

    @cached_property
    def _summed_precision(self) -> Floats:
        """topics: the sum of the precisions at the relevant documents, added up rank by rank."""
        topic, number, column = self._relevant_places
        summed = np.bincount(topic, (number + 1) / (column + 1), len(self.gain))
        return shared(summed.astype(np.float64, copy=False))  # numpy returns integers for no weights

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
        """Return values (topics × ranks) at the ranks of relevant documents, in the columns of `ranks_of_relevant`; the
        last column also for ranks past it."""
        topic, _, column = self._relevant_places
        picked = np.zeros_like(self.ranks_of_relevant)
        if width := values.shape[1]:
            picked.ravel()[self._slots(picked.shape[1])] = values.ravel()[topic * width + np.minimum(column, width - 1)]
        return picked

    @cached_property
    def ideal_batch(self) -> Gains:
        """The ideal ranking of the pool, with the same cutoff."""
        ideal = self.ideal[:, : self.k]
        return replace(self, gain=ideal, retrieved=np.count_nonzero(ideal, axis=1), tail=0.0, first=None)

    def ideal_at_ranks(self) -> Floats:
        """Return the ideal ranking's gains, cut or padded to the columns of `gain`: topics × ranks."""
        width = self.gain.shape[1]
        return np.pad(self.ideal[:, :width], ((0, 0), (0, max(0, width - self.ideal.shape[1]))))


def maximum_found(g: Gains, *, norm: str | None = None) -> Ints | Floats:
    """Return R; with norm=k at most the cutoff, the maximum that can be found: topics."""
    return g.num_relevant if norm is None else np.minimum(g.num_relevant, g.last_rank)


def row_sums(values: Floats | Bools) -> Floats:
    """Return the sum of each row, added up rank by rank.

    `values.sum(1)` would add in an order that depends on the width of the batch: a topic's last digit must not depend
    on the other topics of its batch.

    >>> gradedeval.row_sums(np.array([[0.5, 0.25], [1.0, 0.0]]))
    array([0.75, 1.  ])
    """
    if not values.shape[1]:
        return np.zeros(len(values))
    if values.dtype == bool:
        return np.asarray(np.count_nonzero(values, axis=1), dtype=np.float64)
    if len(values) == 1:
        alone: Floats = values.cumsum(1, dtype=np.float64)[:, -1]
        return alone
    # With ranks as rows numpy adds whole rows in order, four times as fast as `cumsum`; a single column it would add in
    # pairs.
    by_rank = np.ascontiguousarray(values.T, dtype=np.float64)
    summed: Floats = np.add.reduce(by_rank, axis=0)
    return summed


def with_remainder(values: Floats, ranks: int) -> Floats:
    """Return the values cut or padded to `ranks` ranks, and then the sum of the values below: topics × (ranks + 1)."""
    padded = np.pad(values[:, :ranks], ((0, 0), (0, max(0, ranks - values.shape[1]))))
    return np.column_stack([padded, row_sums(values[:, ranks:])])


def safe_divide(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """Return `part / whole` by topic, with 0 / 0 = 0: a topic with nothing to find scores 0.

    Any other number over 0 is infinite; that arises only in the best case of a topic without known relevant documents,
    and the residual caps it at the measure's ceiling.

    >>> gradedeval.safe_divide(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Any = part / whole
    return quotient if np.count_nonzero(whole) == whole.size else np.where((whole == 0) & (part == 0), 0.0, quotient)


def divisor(rank: Floats, log: float | None = None) -> Floats:
    """Return the divisor of a gain at each rank: log2(i+1), or with a base b: 1 down to rank b, then log_b(i)."""
    return np.log2(rank + 1) if log is None else np.maximum(np.log(rank) / np.log(log), 1)


@lru_cache
def divisors(ranks: int, log: float | None = None) -> Floats:
    """Return the divisors of the first `ranks` ranks, cached because cutoffs repeat."""
    return shared(divisor(np.arange(1.0, ranks + 1), log))


def scores_of(measure: Measure, gains: Gains) -> Floats:
    """Return the scores of a batch. Raises InputError if a user's measure fails, or returns NaN."""
    return as_scores(measure, run_measure(measure, gains))


def as_scores(measure: Measure, scores: Floats) -> Floats:
    """Return a function's result as scores. Raises InputError for NaN, unless the measure may skip topics."""
    highest = np.maximum.reduce(scores, initial=-np.inf)
    if highest != highest and not measure.definition.may_skip:
        raise InputError(f"measure '{measure}'", "returned NaN", "the gains may be too large")
    ceiling = measure.definition.ceiling  # rounding may pass it
    if highest > ceiling:
        return np.where((scores > ceiling) & (scores < ceiling + 1e-12), ceiling, scores)
    return scores.astype(np.float64)


def run_measure(measure: Measure, gains: Gains) -> Floats:
    """Return the result of the measure's function for a batch. Raises InputError if a user's measure fails."""
    if measure.definition.code:
        from gradedeval.kernel.measures.user_functions import run_user_measure  # few measures are a user's own

        return run_user_measure(measure, gains)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return measure.score(gains)
    except InputError as error:
        raise error if error.place else error.replace(place=f"measure '{measure}'") from None


# Means over all orders of documents with equal scores, for `--ties average`.


def tied_sums(values: Floats | Bools, first: Ints) -> tuple[Floats, Ints]:
    """Return the sum over the tie of each document, itself included, and the size of the tie: topics × ranks each.
    `first`: the first column of each document's tie."""
    tie = first + np.arange(len(first))[:, None] * first.shape[1]
    summed = np.bincount(tie.ravel(), values.ravel(), minlength=tie.size)[tie]
    return summed, np.bincount(tie.ravel(), minlength=tie.size)[tie]


def mean_gains(gain: Floats, first: Ints) -> Floats:
    """Return the mean gain of the tie of each document: topics × ranks."""
    summed, size = tied_sums(gain, first)
    return summed / size


def mean_summed_precision(g: Gains, min_gain: float) -> Floats:
    """Return the mean sum of the precisions at documents with gain above 0 and `min_gain` or more: topics.

    McSherry & Najork, ECIR 2008, section 2.5.
    """
    assert g.first is not None
    assert g.uncut is not None
    relevant = (g.uncut > 0) & (g.uncut >= min_gain)
    relevant_in_tie, size = tied_sums(relevant, g.first)
    column = np.arange(g.first.shape[1])
    above_it = relevant.cumsum(1) - relevant
    above = np.take_along_axis(above_it, g.first, 1)
    # If a document of the tie is relevant, the documents of the tie above it share its other relevant ones.
    within = (column - g.first) * (relevant_in_tie - 1) / np.maximum(size - 1, 1)
    terms = relevant_in_tie / size * (above + 1 + within) / (column + 1)
    return row_sums(terms[:, : g.gain.shape[1]])


def survival(g: Gains) -> Floats:
    """Return the mean probability of going on past each rank, Π_{j≤i} (1 − gain_j): topics × ranks."""
    assert g.first is not None
    assert g.uncut is not None
    width, unlike = g.gain.shape[1], np.zeros(g.uncut.shape, dtype=bool)
    remaining: Floats = np.multiply.accumulate(1 - g.uncut, axis=1)
    unlike[:, 1:] = (g.first[:, 1:] == g.first[:, :-1]) & (g.uncut[:, 1:] != g.uncut[:, :-1])
    topics, columns = np.nonzero(unlike)
    for topic, begin in dict.fromkeys(zip(topics.tolist(), g.first[topics, columns].tolist(), strict=True)):
        if begin < width:
            end = int(np.searchsorted(g.first[topic], begin, side="right"))
            reached = remaining[topic, begin - 1] if begin else 1.0
            means = _mean_products(1 - g.uncut[topic, begin:end], min(end, width) - begin)
            remaining[topic, begin : begin + len(means)] = reached * means
    return remaining[:, :width]


def _mean_products(factors: Floats, most: int) -> Floats:
    """Return the mean product of factors over all sets of 1, 2, … `most` of them."""
    others = factors[factors != 1]
    means = np.ones(1)  # over sets of 0, 1, … other factors
    for number, factor in enumerate(others, 1):
        size = np.arange(number + 1)
        means = (np.append(means, 0) * (number - size) + np.append(0, means) * size * factor) / number
    count, unseen = len(factors), len(others) - np.arange(len(others) + 1)
    chance = np.zeros(len(others) + 1)  # of 0, 1, … of the other factors in the set
    chance[0] = 1
    products = np.empty(most)
    for drawn in range(most):
        more = chance * unseen / (count - drawn)
        chance = chance * ((count - drawn - unseen) / (count - drawn))
        chance[1:] += more[:-1]
        products[drawn] = (chance * means).sum()
    return products
