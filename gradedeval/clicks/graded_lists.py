"""Lists as grades by rank, and what gains or utilities make of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradedeval.analysis.fixed_weights import static_weights
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.clicks.lists import batch_of
from gradedeval.clicks.log import ClickLog
from gradedeval.errors import InputError
from gradedeval.measures.cascade_models import useful
from gradedeval.measures.definition import Measure
from gradedeval.rankings.qrels import Qrels


@dataclass(frozen=True, eq=False, repr=False)
class GradedLists:
    """Lists, as the grades of their documents.

    grades  the grades from 0 on that the qrels have, ascending, 0 among them; lower ones count as 0
    code    lists × ranks: index into the grades, −1 of a document that nobody judged, `len(grades)` past the end
    """

    grades: Floats
    code: Ints

    @cached_property
    def judged(self) -> Bools:
        """lists: whether all documents are judged."""
        return np.asarray((self.code >= 0).all(axis=1))

    def gains(self, gains: Floats) -> Floats:
        """lists × ranks: the gain of each document by that of its grade; 0 where it has none."""
        found: Floats = np.append(gains, [0.0, 0.0])[self.code]  # −1 is the last
        return found

    @property
    def has(self) -> Bools:
        """grades: whether a document has it."""
        return np.asarray(np.isin(np.arange(len(self.grades)), self.code))

    def select(self, rows: Bools) -> GradedLists:
        """Some of the lists."""
        return GradedLists(self.grades, self.code[rows])

    def of_grades(self, kept: Bools) -> GradedLists:
        """The same lists; the grades that are not kept, of which no document is, have no number."""
        size = int(kept.sum())
        number = np.append(np.cumsum(kept) - 1, [size, -1])  # −1 is the last
        return GradedLists(self.grades[kept], number[self.code])


def graded_lists(log: ClickLog, qrels: Qrels) -> GradedLists:
    """The lists of a log with the grades of their documents."""
    positive = np.maximum(qrels.labels, 0)
    grades = np.unique(np.append(positive, 0.0))
    code = np.append(np.searchsorted(grades, positive), [-1, len(grades)])  # past the labels: unjudged, and no document
    return GradedLists(grades, code[batch_of(log, qrels).codes])


@dataclass(frozen=True, eq=False, repr=False)
class Scored:
    """How a measure makes a score of gains, as far as clicks can teach them: the weight of each rank.

    cascade  whether a user stops at the first document that satisfies: then a weight is what that is worth; otherwise
             it is that of a gain
    """

    measure: Measure
    weight: Floats
    cascade: bool

    def scores(self, gain: Floats) -> Floats:
        """lists: the scores of lists × ranks of gains."""
        return (stopping(gain) if self.cascade else gain) @ self.weight


def stopping(gain: Floats) -> Floats:
    """lists × ranks: the probability of stopping there."""
    reached = np.cumprod(1 - gain, axis=1)
    return gain * np.column_stack([np.ones(len(gain)), reached[:, :-1]])


def scored_by(measure: Measure, ranks: int) -> Scored:
    """How a measure scores lists down to a rank. Raises InputError (usage) unless it is err, cascade, or a sum of gains
    with fixed weights."""
    last = ranks if measure.cutoff is None else min(ranks, measure.cutoff)
    rank = np.arange(1.0, ranks + 1)
    if measure.name in ("err", "cascade"):
        arguments = measure.arguments
        gamma = float(arguments.get("gamma", 1))  # type: ignore[arg-type]
        weight = useful(gamma ** (rank - 1), rank, str(arguments.get("utility", "rr")))
        return Scored(measure, weight * (rank <= last), True)
    try:
        return Scored(measure, np.pad(static_weights(measure, last), (0, ranks - last)), False)
    except InputError as error:
        hint = "name err, cascade, or a sum of gains with fixed weights such as rbp or dcg"
        raise error.replace(hint=hint) from None
