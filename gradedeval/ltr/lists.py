"""Prepare judged lists for training: blocks of lists of similar length, and changes of a measure by swaps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval import kernel
from gradedeval.arrays import Bools, Floats, Ints, distinct
from gradedeval.errors import InputError, public, safe_repr
from gradedeval.kernel import MEASURES, AnyMeasure, JudgedLists, Measure, parse_measures, scores_of

CELLS = 1 << 17
"""Maximum pairs of documents processed at once, to fit into the cache of a processor."""
SIMILAR = 0.75
"""The shortest list of a block, as a share of the longest."""


def one_measure(measure: AnyMeasure) -> Measure:
    """Return the measure, for arrays. Raises InputError (usage) for several measures, or if arrays do not suffice."""
    measures = parse_measures(measure)
    if len(measures) != 1:
        raise InputError(repr(measure), f"names {len(measures)} measures", "give one, as in 'ndcg@10'", usage=True)
    kernel.evaluate_arrays.check_measure(measures[0])
    return measures[0]


def check_better(measure: Measure) -> None:
    """Raise InputError (usage) for a measure without a better direction."""
    if measure.reading.better == "neither":
        problem = "does not say which of two runs is better"
        raise InputError(f"'{measure}'", problem, "choose a measure of quality or cost", usage=True)


TOP = kernel.ranges.Number("top", above=0)


def checked_top(measure: Measure, top: float | None) -> float | None:
    """Return the top grade. Raises InputError (usage) if it is invalid."""
    try:
        return TOP.check_or_none(top)  # type: ignore[no-any-return]
    except InputError:
        problem = f"top={safe_repr(top)} is not a grade above 0"
        raise InputError(f"'{measure}'", problem, "give the top grade of the scale", usage=True) from None


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Lists of similar length, padded to the longest.

    position  lists × documents: index into the arrays of the caller; past their end for the padding
    codes     lists × documents: index into the labels; their number for the padding
    gain      lists × documents: gains by the measure; 0 for the padding
    weights   lists × ranks: weights of `RankSum`; None if the measure is not such a sum
    lengths   lists: number of documents
    """

    position: Ints
    codes: Ints
    gain: Floats
    weights: Floats | None
    lengths: Ints

    def ordered(self, order: NDArray[Any]) -> Block:
        """Return the block with the documents in an order, lists × documents; ranks keep their weights."""
        moved = {name: np.take_along_axis(getattr(self, name), order, 1) for name in ("position", "codes", "gain")}
        return replace(self, **moved)


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Judged lists for a measure; blocks leave out lists with equal gains.

    judged  all lists
    labels  the distinct labels, ascending
    table   the gain of each
    varied  the numbers of the lists in blocks, block after block
    blocks  the lists with different gains
    """

    measure: Measure
    judged: JudgedLists
    labels: Floats
    table: kernel.gains.GainTable
    varied: Ints
    blocks: list[Block]


def lists_of(measure: Measure, judged: JudgedLists, top: float | None, above: int | None) -> Lists:
    """Prepare the lists for a measure.

    top    the top grade of the scale; None: the highest label
    above  number of ranks of a list paired with all ranks below; None: all

    Raises InputError if the top grade is below a label, or if the gains do not fit the labels.
    """
    kernel.parallel.raise_malloc_threshold()  # pairs of documents are many arrays, one after the other
    labels, codes = distinct(judged.labels)
    if top is not None and top < labels[-1]:
        hint = "raise top, or correct the label"
        raise InputError("labels", f"label {labels[-1]:g} is above the top grade {top:g}", hint, usage=True)
    highest = float(labels[-1] if top is None else top)
    table = kernel.gains.gain_table(measure, kernel.gains.Grades(labels, highest))
    gain, starts = table.gain_of_label[codes], np.cumsum(judged.sizes) - judged.sizes
    varied = np.flatnonzero(np.maximum.reduceat(gain, starts) > np.minimum.reduceat(gain, starts))
    varied = varied[np.argsort(-judged.sizes[varied], kind="stable")]
    documents = len(codes)
    places = np.append(np.arange(documents) if judged.order is None else judged.order, documents)
    codes, padded_gain = np.append(codes, len(labels)), np.append(table.gain_of_label, 0.0)
    blocks = []
    for begin, end in _cuts(judged.sizes[varied], above):
        lengths = judged.sizes[varied[begin:end]]
        column = np.arange(lengths[0])
        listed = np.where(column < lengths[:, None], starts[varied[begin:end], None] + column, documents)
        blocks.append(_block(measure, table, places[listed], codes[listed], padded_gain, lengths))
    return Lists(measure, judged, labels, table, varied, blocks)


def _gains_of(measure: Measure, table: kernel.gains.GainTable, codes: Ints, lengths: Ints) -> kernel.gains.Gains:
    """Return the gains of lists as the measure sees them, from the indices of labels, lists × ranks."""
    last, padded_gain = measure.last_rank, np.append(table.gain_of_label, 0.0)
    gain, judged = padded_gain[codes], codes != len(padded_gain) - 1
    ideal = -np.sort(-gain, axis=1)
    width = codes.shape[1] if last is None else min(last, codes.shape[1])
    return kernel.gains.Gains(
        gain[:, :last],
        judged[:, :last],
        ideal[:, : int(np.count_nonzero(ideal, axis=1).max())],
        np.minimum(width, np.broadcast_to(lengths, len(codes))),
        np.count_nonzero(judged, axis=1),
        table.levels,
        measure.cutoff,
    )


def _block(
    measure: Measure, table: kernel.gains.GainTable, position: Ints, codes: Ints, padded_gain: Floats, lengths: Ints
) -> Block:
    weights = None
    if measure.rank_sum is not None:
        seen = _gains_of(measure, table, codes, lengths)
        rank_weights = measure.rank_sum.at_ranks(seen, measure.arguments)
        weights = np.zeros(codes.shape)
        weights[:, : rank_weights.shape[1]] = rank_weights
    return Block(position, codes, padded_gain[codes], weights, lengths)


def _cuts(sizes: Ints, above: int | None) -> Iterator[tuple[int, int]]:
    """Yield the bounds of blocks: lists of similar length, descending, with at most `CELLS` pairs."""
    begin = 0
    while begin < len(sizes):
        longest = int(sizes[begin])
        most = max(1, CELLS // (longest * min(longest, above or longest)))
        similar = int(np.searchsorted(-sizes, -SIMILAR * longest, side="right"))
        end = min(begin + most, similar)
        yield begin, end
        begin = end


# Changes of a measure by swaps of two documents.


MOST_EVALUATED = 50
"""The longest list for scoring the ranking after each swap."""
ONE_THREAD = 1 << 18
"""The largest product of matrices, in multiplications, that libraries compute in one thread; more would wait."""


@public
def swap_deltas(measure: AnyMeasure, grades: Any, order: Any = None, *, top: float | None = None) -> Floats:
    """Compute |change of a measure| by a swap of two documents of a topic, for every pair: documents × documents.

    measure  any that needs only grades and a ranking
    grades   documents: whole numbers from 0
    order    the ranking: the numbers of the documents, 0, 1, …, from the best on, as `np.argsort(-scores)` gives them;
             None: as listed
    top      the top grade of the scale; None: the highest of `grades`

    Rows and columns are documents as `grades` lists them. There are closed forms for sums over ranks with fixed
    weights: of gains (ndcg, dcg, rbp, p@k, C/W/L measures of that kind …), of the chances to stop (err, nerr, rr,
    cascade) and of graded precision (ap, gap). Other measures score every ranking, of at most 50 documents. Robertson
    et al., SIGIR 2010, section 5. Raises InputError for mismatched arrays or a list that is too long.

    >>> gradedeval.ltr.swap_deltas("rr", [1, 0, 0]).round(2)
    array([[0.  , 0.5 , 0.67],
           [0.5 , 0.  , 0.  ],
           [0.67, 0.  , 0.  ]])
    """
    parsed = one_measure(measure)
    top = checked_top(parsed, top)
    documents = JudgedLists.of(grades, [np.size(grades)], None)
    ranking = _ranking(order, len(documents.labels))
    lists = lists_of(parsed, documents, top, None)
    size = len(ranking)
    deltas = np.zeros((size, size))
    for block in lists.blocks:  # one, or none if all gains are equal
        check_length(lists)
        ranked = block.ordered(ranking[None])
        for first, last in bands(ranked, size):
            (change,) = changes(lists, ranked, first, last)
            deltas[first:last, first + 1 :] = np.triu(np.abs(change, out=change))
        deltas += deltas.T
        back = np.argsort(ranking)
        deltas = deltas.take(back, 0).take(back, 1)
    return deltas


def _ranking(order: Any, documents: int) -> Any:
    ranking = np.arange(documents) if order is None else kernel.evaluate_arrays.as_numbers(order, "order").ravel()
    if not np.array_equal(np.sort(ranking), np.arange(documents)):
        problem = f"is not a ranking of {documents} documents by their numbers from 0"
        raise InputError("order", problem, "np.argsort(-scores) gives them", usage=True)
    return ranking.astype(np.int64)


def check_length(lists: Lists) -> None:
    """Raise InputError (usage) for a list that is too long for a measure without a closed form."""
    measure, longest = lists.measure, int(lists.judged.sizes.max())
    if measure.rank_sum is None and longest > MOST_EVALUATED:
        closed = [name for name, definition in MEASURES.items() if definition.rank_sum is not None]
        problem = f"has no closed form for a swap, so lists may have {MOST_EVALUATED} documents; one has {longest:,}"
        raise InputError(f"'{measure}'", problem, f"use one of {', '.join(closed)}", usage=True)


def bands(ranked: Block, above: int | None) -> Iterator[tuple[int, int]]:
    """Yield the bounds of bands of the first `above` ranks, each with at most `CELLS` pairs with the ranks below."""
    lists, width = ranked.gain.shape
    last, first = min(above or width, width - 1), 0
    while first < last:
        end = min(last, first + max(1, CELLS // (lists * (width - first))))
        yield first, end
        first = end


def pairs(ranked: Block, first: int, last: int) -> Floats:
    """Return the signs of upper gain − lower gain, lists × ranks of a band × ranks below; 0 if not a pair."""
    gain, width = ranked.gain, ranked.gain.shape[1]
    above: Bools = np.tri(last - first, width - first - 1, -1, dtype=np.bool_)  # column c is rank first + 1 + c
    there = np.arange(first + 1, width) < ranked.lengths[:, None]
    sign: Floats = np.sign(gain[:, first:last, None] - gain[:, None, first + 1 :])
    sign *= there[:, None]
    sign *= ~above
    return sign


def changes(lists: Lists, ranked: Block, first: int, last: int) -> Floats:
    """Return for the same pairs the change of the measure by a swap; arbitrary for cells that are not a pair."""
    if lists.measure.rank_sum is None:
        return _evaluated(lists, ranked, first, last)
    return _CLOSED[lists.measure.rank_sum.of](ranked, first, last)


def _of_gain(ranked: Block, first: int, last: int) -> Floats:
    """Return (gain_b − gain_a) (w_a − w_b)."""
    gain, weights = ranked.gain, _weights(ranked)
    change: Floats = gain[:, None, first + 1 :] - gain[:, first:last, None]
    change *= weights[:, first:last, None] - weights[:, None, first + 1 :]
    return change


def _of_stop(ranked: Block, first: int, last: int) -> Floats:
    """Return P_a (r_b − r_a) [w_a − E_ab − w_b M_ab]: M the chance of going on from after a to b, E the value between.

    It never divides by 1 − r, which may be 0.
    """
    r, weights, rows, below = ranked.gain, _weights(ranked), slice(first, last), slice(first + 1, None)
    reached = np.cumprod(1 - r, axis=1)
    reached = np.concatenate([np.ones((len(r), 1)), reached[:, :-1]], axis=1)
    going_on = np.broadcast_to((1 - r)[:, None, first:-1], (len(r), last - first, r.shape[1] - first - 1)).copy()
    # Column c is rank first + 1 + c, which its upper document a = first + row reaches past the ranks between them.
    going_on[:, np.tri(last - first, going_on.shape[2], dtype=np.bool_)] = 1
    np.multiply.accumulate(going_on, axis=2, out=going_on)
    stopped = (weights * r)[:, None, below] * going_on
    stopped[:, np.tri(last - first, stopped.shape[2], -1, dtype=np.bool_)] = 0
    change: Floats = weights[:, rows, None] - weights[:, None, below] * going_on
    change[:, :, 1:] -= np.add.accumulate(stopped, axis=2)[:, :, :-1]
    change *= r[:, None, below] - r[:, rows, None]
    change *= reached[:, rows, None]
    return change


def _of_precision(ranked: Block, first: int, last: int) -> Floats:
    """Σ_j g_j (rel_b − rel_a) (U_a − L_b) over the thresholds j.

    With u_i = w_i/i, H hits so far and S = Σ rel u so far: U_a = u_a (H_{a−1} + 1) − S_a, what rank a is worth to a hit
    that comes there, and L_b = u_b (H_{b−1} + rel_b) − S_{b−1} the same of rank b. Summed up to the gain of a document,
    that is U_a(gain_b) − U_a(gain_a) + L_b(gain_a) − L_b(gain_b): of tables, picked by a product with 0 and 1.
    """
    gain, rows, below = ranked.gain[:, None], slice(first, last), slice(first + 1, None)
    u = _weights(ranked)[:, None] / np.arange(1, gain.shape[2] + 1)
    levels, place = distinct(gain.ravel())
    levels = levels[:, None]
    step = np.diff(levels, axis=0, prepend=levels[:1])
    relevant, at_level = (gain >= levels).astype(np.float64), (gain == levels).astype(np.float64)
    hits, summed = relevant.cumsum(2), (relevant * u).cumsum(2)
    upper = (step * (u * (hits - relevant + 1) - summed)).cumsum(1)  # lists × levels × ranks
    lower = (step * (u * hits - summed + relevant * u)).cumsum(1)
    for table in (upper, lower):
        table -= np.take_along_axis(table, place.reshape(gain.shape), 1)
    upper_factor = np.concatenate([upper[:, :, rows], at_level[:, :, rows]], axis=1).transpose(0, 2, 1)
    lower_factor = np.concatenate([at_level[:, :, below], lower[:, :, below]], axis=1)
    change = np.empty((len(gain), last - first, lower_factor.shape[2]))
    together = max(1, ONE_THREAD // lower_factor[0].size)
    for begin in range(0, last - first, together):
        part = slice(begin, begin + together)
        np.matmul(upper_factor[:, part], lower_factor, out=change[:, part])
    return change


_CLOSED = {"gain": _of_gain, "stop": _of_stop, "precision": _of_precision}


def _weights(ranked: Block) -> Floats:
    assert ranked.weights is not None
    return ranked.weights


def _evaluated(lists: Lists, ranked: Block, first: int, last: int) -> Floats:
    """Return the change by scoring the ranking after each swap."""
    change = np.zeros((len(ranked.gain), last - first, ranked.gain.shape[1] - first - 1))
    pair = np.nonzero(pairs(ranked, first, last))
    row, a, b = pair[0], pair[1] + first, pair[2] + first + 1
    baseline, swapped = _scores(lists, ranked, ranked.codes, np.arange(len(ranked.codes))), np.zeros(len(row))
    step = max(1, CELLS // ranked.codes.shape[1])
    for begin in range(0, len(row), step):
        part = slice(begin, begin + step)
        codes, each = ranked.codes[row[part]], np.arange(len(row[part]))
        codes[each, a[part]], codes[each, b[part]] = codes[each, b[part]], codes[each, a[part]]
        swapped[part] = _scores(lists, ranked, codes, row[part])
    change[pair] = swapped - baseline[row]
    return change


def _scores(lists: Lists, ranked: Block, codes: Any, row: Any) -> Floats:
    seen = _gains_of(lists.measure, lists.table, codes, ranked.lengths[row])
    return scores_of(lists.measure, seen)
