"""Differences that are sums of gains by rank, and such sums over what both runs share: that of the ideal ranking."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gradedeval.analysis.completions.unknown import Unknown
from gradedeval.arrays import Floats, Ints

ROUNDS = 100
"""Most rounds of a search that takes two to five."""


def greatest_sum(difference: Floats, unknown: Unknown, worth: Floats) -> Floats:
    """topics: the largest Σ gain · w of the first run less that of the second. Exact: of each document that is the
    better for the first run the gain is the highest there is, of the others 0.

    difference  topics: of what is judged
    worth       depth + 1: what a document of the top gain adds at each rank; the last is 0
    """
    rise = worth[unknown.first] - worth[unknown.second]
    return difference + np.bincount(unknown.topic, np.maximum(rise, 0.0), minlength=len(unknown.hidden))


@dataclass(frozen=True, eq=False, repr=False)
class Ideal:
    """What the sums of both runs are divided by: Σ_j step_j I(number of documents with a gain of level j or more).

    steps   levels: from each gain to the next higher one
    counts  topics × levels: how many judged documents have that gain or more
    value   I(0), I(1), I(2), …, concave, and the last one of all that follow
    """

    steps: Floats
    counts: Ints
    value: Floats

    def of_topics(self, rows: Ints) -> Ideal:
        """That of some topics alone."""
        return replace(self, counts=self.counts[rows])

    def at(self, more: Ints, level: int) -> Floats:
        """topics × …: the part of a level, with so many more documents of that gain."""
        number = np.minimum(self.counts[:, level, None] + more, len(self.value) - 1)
        part: Floats = self.steps[level] * self.value[number]
        return part


def greatest_share(difference: Floats, unknown: Unknown, weights: Floats, ideal: Ideal) -> Floats:
    """topics: the largest Σ gain · w of the first run less that of the second, as a share of the ideal. Exact.

    For a share λ the numerator less λ times the ideal is a sum over levels of gain. Of a level it is best to lift the
    documents that serve the first run most, some number of them, and the numbers of the levels fit each other where λ
    is 0 or more: a lift costs the less the more documents have that gain already. Below 0 it is the other way round,
    and all levels have one number: each document has no gain or the top gain.

    difference  topics: of what is judged, before the division
    weights     depth + 1: of a gain of 1 at each rank; the last is 0
    """
    lift = weights[unknown.first] - weights[unknown.second]
    rising = lift > 0
    rises = unknown.select(rising).padded(lift[rising], 0.0)
    lifted = np.pad(-np.sort(-rises, axis=1), ((0, 0), (1, 0))).cumsum(1)
    number = np.arange(lifted.shape[1])
    steps = [step * lifted for step in ideal.steps]
    parts = [ideal.at(number, level) for level in range(len(ideal.steps))]
    top = ideal.steps.sum()
    below = np.flatnonzero(difference + top * lifted[:, -1] < 0)
    found = largest_ratio(difference, steps, parts, parts)
    if len(below):
        found[below] = _alike(difference[below], unknown.of_topics(below), weights, ideal.of_topics(below))
    return found


def _alike(difference: Floats, unknown: Unknown, weights: Floats, ideal: Ideal) -> Floats:
    """As `greatest_share`, where it is below 0. What serves no run makes the ideal larger, and the difference
    smaller."""
    lift = -np.sort(-unknown.padded(weights[unknown.first] - weights[unknown.second], -np.inf), axis=1)
    there = np.pad(np.isfinite(lift), ((0, 0), (1, 0)), constant_values=True)
    lifted = np.pad(np.where(np.isfinite(lift), lift, 0.0), ((0, 0), (1, 0))).cumsum(1)
    number = np.arange(lifted.shape[1])
    number = number + np.where(number >= (lift > 0).sum(1)[:, None], unknown.hidden[:, None], 0)
    numerator = difference[:, None] + ideal.steps.sum() * lifted
    whole = np.sum([ideal.at(number, level) for level in range(len(ideal.steps))], axis=0)
    largest: Floats = np.where(there, numerator / whole, -np.inf).max(1)
    return largest


def largest_ratio(base: Floats, parts: list[Floats], least: list[Floats], most: list[Floats]) -> Floats:
    """topics: the largest (base + Σ_j parts_j[c_j]) / Σ_j whole_j[c_j] over all choices of a cell c_j in every part; 0
    where both are 0. Dinkelbach, Management Science 1967: from below, each round takes what is best at the ratio found.

    base   topics
    parts  of each: topics × cells, -inf where there is none
    least  of each: topics × cells, the smallest that the whole may be there, and `most` the largest: what makes the
           ratio larger is taken. In the first cell they are the same
    """
    ratio = _ratio(base + _firsts(parts), _firsts(least), np.zeros(len(base)))
    for _ in range(ROUNDS):
        numerator, low, high = base.copy(), np.zeros(len(base)), np.zeros(len(base))
        for part, *wholes in zip(parts, least, most, strict=True):
            best = (part - ratio[:, None] * np.where(ratio[:, None] < 0, wholes[1], wholes[0])).argmax(1)[:, None]
            for total, cells in zip((numerator, low, high), (part, *wholes), strict=True):
                total += np.take_along_axis(cells, best, 1)[:, 0]
        found = _ratio(numerator, np.where(numerator < 0, high, low), ratio)
        if not (found > ratio).any():
            break
        ratio = np.maximum(found, ratio)
    return ratio


def _firsts(parts: list[Floats]) -> Floats:
    """topics: the sum of the first cells."""
    firsts: Floats = np.sum([part[:, 0] for part in parts], axis=0)
    return firsts


def _ratio(numerator: Floats, whole: Floats, otherwise: Floats) -> Floats:
    return np.divide(numerator, whole, out=otherwise.copy(), where=whole > 0)
