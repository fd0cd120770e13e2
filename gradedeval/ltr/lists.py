"""Judged lists, as rankers are trained on them: what of them no score changes, in blocks of similar length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradedeval.arrays import Floats, Ints, distinct
from gradedeval.errors import InputError, shown
from gradedeval.measures.applied import gain_table
from gradedeval.measures.definition import AnyMeasure, Measure
from gradedeval.measures.gain_schemes import GainTable, Grades
from gradedeval.measures.on_arrays import check_finite, check_measure, gains_of, numbers
from gradedeval.measures.parse import parse_measures
from gradedeval.options.numbers import Number
from gradedeval.parallel.memory import raise_malloc_threshold
from gradedeval.scoring.evaluate_arrays import topic_sizes, topics_of

CELLS = 1 << 17
"""How many pairs of documents are worked on at once: what fits into a processor's cache."""
SIMILAR = 0.75
"""The shortest list of a block, as a share of the longest."""


@dataclass(frozen=True, eq=False, repr=False)
class Judged:
    """Documents and the lists that they are in.

    labels  documents: the grades, list after list
    sizes   lists: how many documents
    order   documents: where each one stands in the arrays of the caller; None: as here
    """

    labels: Floats
    sizes: Ints
    order: NDArray[Any] | None = None

    def same(self, other: Judged | None) -> bool:
        """Whether the other one has the same documents in the same lists."""
        if other is None or (self.order is None) != (other.order is None):
            return False
        pairs = ((self.labels, other.labels), (self.sizes, other.sizes), (self.order, other.order))
        return all(np.array_equal(own, others) for own, others in pairs if own is not None and others is not None)

    def listed(self, values: Floats) -> Floats:
        """Documents: the values, list after list."""
        return values if self.order is None else values[self.order]


def judged(labels: Any, group: Any, qid: Any) -> Judged:
    """The documents that have these labels, and their lists: `group` sizes, or the `qid` of each document.

    Raises InputError (usage) where a label is not a whole number from 0, or lists and labels do not fit each other.
    """
    given = numbers(labels, "labels").flatten()  # a copy: objectives keep it, and batches may reuse their memory
    wrong = ~(np.isfinite(given) & (given >= 0) & (given == np.floor(given)))
    if wrong.any() or not len(given):
        place, what = "labels", "is empty"
        if len(given):
            first = int(np.flatnonzero(wrong)[0])
            place, what = f"labels[{first}]", f"{given[first]:g} is not a whole number from 0"
        raise InputError(place, what, "expected the grade of each document: 0, 1, 2, …", usage=True)
    if (group is None) == (qid is None):
        what = "says in two ways" if group is not None else "does not say"
        hint = "give group, the sizes of lists, or qid, the list of each document"
        raise InputError("group", f"{what} which documents are in a list", hint, usage=True)
    if group is not None:
        return Judged(given, topic_sizes(group, len(given)))
    _, sizes, order = topics_of(qid, len(given))
    in_order = bool((order[1:] > order[:-1]).all())
    return Judged(given[order], sizes, None if in_order else order)


def finite_scores(scores: Any, documents: int) -> Floats:
    """Documents: the scores. Raises InputError where they are not one for each, or one is not finite."""
    given = numbers(scores, "scores").ravel()
    if len(given) != documents:
        raise InputError("scores", f"has {len(given)} values for {documents} documents", "give one each", usage=True)
    check_finite(given, "scores")
    return given


def one_measure(measure: AnyMeasure) -> Measure:
    """The measure, for arrays. Raises InputError (usage) where there are several, or it needs more than arrays have."""
    found = parse_measures(measure)
    if len(found) != 1:
        raise InputError(repr(measure), f"names {len(found)} measures", "give one, as in 'ndcg@10'", usage=True)
    check_measure(found[0])
    return found[0]


def check_better(measure: Measure) -> None:
    """Raise InputError (usage) for a measure by which neither of two rankings is better."""
    if measure.reading.better == "neither":
        what = "does not say which of two runs is better"
        raise InputError(f"'{measure}'", what, "choose a measure of quality or cost", usage=True)


TOP = Number("top", above=0)


def checked_top(measure: Measure, top: float | None) -> float | None:
    """The top grade. Raises InputError (usage) where it is none."""
    try:
        return TOP.check_or_none(top)  # type: ignore[no-any-return]
    except InputError:
        what = f"top={shown(top)} is not a grade above 0"
        raise InputError(f"'{measure}'", what, "give the top grade of the scale", usage=True) from None


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Lists of similar length, padded to the longest.

    at       lists × documents: where each one stands in the arrays of the caller; after their end for the padding
    codes    lists × documents: index into the labels; their number for the padding
    gain     lists × documents: what each one is worth to the measure; 0 for the padding
    weights  lists × ranks: those of `RankSum`; None where the measure is not such a sum
    lengths  lists: how many documents
    """

    at: Ints
    codes: Ints
    gain: Floats
    weights: Floats | None
    lengths: Ints

    def ordered(self, order: NDArray[Any]) -> Block:
        """The block with the documents in that order, lists × documents; ranks keep their weights."""
        moved = {name: np.take_along_axis(getattr(self, name), order, 1) for name in ("at", "codes", "gain")}
        return replace(self, **moved)


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Judged lists as a measure sees them, but for those in which all documents are worth the same.

    judged  all lists
    labels  the distinct labels, ascending
    table   what each is worth
    varied  the numbers of the lists in blocks, block after block
    blocks  the others
    """

    measure: Measure
    judged: Judged
    labels: Floats
    table: GainTable
    varied: Ints
    blocks: list[Block]


def lists_of(measure: Measure, judged: Judged, top: float | None, above: int | None) -> Lists:
    """The lists as a measure sees them.

    top    the top grade of the scale; None: the highest label
    above  how many ranks of a list are paired with all others; None: all

    Raises InputError where the top grade is below a label, or the measure's gains do not fit the labels.
    """
    raise_malloc_threshold()  # pairs of documents are many arrays, one after the other
    labels, codes = distinct(judged.labels)
    if top is not None and top < labels[-1]:
        hint = "raise top, or correct the label"
        raise InputError("labels", f"label {labels[-1]:g} is above the top grade {top:g}", hint, usage=True)
    table = gain_table(measure, Grades(labels, float(labels[-1]) if top is None else float(top)))
    gain, starts = table.worth[codes], np.cumsum(judged.sizes) - judged.sizes
    varied = np.flatnonzero(np.maximum.reduceat(gain, starts) > np.minimum.reduceat(gain, starts))
    varied = varied[np.argsort(-judged.sizes[varied], kind="stable")]
    documents = len(codes)
    places = np.append(np.arange(documents) if judged.order is None else judged.order, documents)
    codes, worth = np.append(codes, len(labels)), np.append(table.worth, 0.0)
    blocks = []
    for begin, end in _cuts(judged.sizes[varied], above):
        lengths = judged.sizes[varied[begin:end]]
        column = np.arange(lengths[0])
        listed = np.where(column < lengths[:, None], starts[varied[begin:end], None] + column, documents)
        blocks.append(_block(measure, table, labels, places[listed], codes[listed], worth, lengths))
    return Lists(measure, judged, labels, table, varied, blocks)


def _block(
    measure: Measure, table: GainTable, labels: Floats, at: Ints, codes: Ints, worth: Floats, lengths: Ints
) -> Block:
    weights = None
    if measure.rank_sum is not None:
        seen = gains_of(measure, table, codes, labels, lengths=lengths)
        found = measure.rank_sum.at_ranks(seen, measure.arguments)
        weights = np.zeros(codes.shape)
        weights[:, : found.shape[1]] = found
    return Block(at, codes, worth[codes], weights, lengths)


def _cuts(sizes: Ints, above: int | None) -> Iterator[tuple[int, int]]:
    """Where blocks of lists begin and end: lists of similar length, descending, and no more than `CELLS` pairs."""
    begin = 0
    while begin < len(sizes):
        longest = int(sizes[begin])
        most = max(1, CELLS // (longest * min(longest, above or longest)))
        similar = int(np.searchsorted(-sizes, -SIMILAR * longest, side="right"))
        end = min(begin + most, similar)
        yield begin, end
        begin = end
