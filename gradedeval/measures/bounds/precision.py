"""Bounds of average precision, graded or not, of graded recall, and of interpolated precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.bounds.ratios import Layer, at_ranks, from_above, from_below, greatest, least, steps
from gradedeval.measures.gains import Gains, row_sums, safe_divide
from gradedeval.measures.interpolated_precision import interpolated as interpolated_precision
from gradedeval.measures.tied import mean_gains, tied_sums

MANY = 1 << 40
"""More relevant documents than any level of recall is reached with."""


def graded_average(g: Gains, *, norm: str | None = None) -> tuple[Floats, Floats]:
    """gap, and ap as the gap of one threshold. With norm=k of each threshold no more documents than the cutoff count in
    the divisor: as in that of nDCG each further document adds no more to it than the one before, and as there what is
    best and worst is the same."""
    most = np.inf if norm is None else g.last_rank
    unknown, pairs = g.unknown.astype(np.float64), Pairs(g)
    worse, better, deep, shallow = [], [], from_below(unknown), from_above(unknown)
    deeper_too, before = pairs.below(unknown), pairs.above(unknown)  # which are relevant already
    for step, level, relevant in steps(g):
        reaches = (g.gain >= level).astype(np.float64)
        own = pairs.alone + pairs.above(reaches)
        base, one_more = row_sums(reaches * own)[:, None], own + pairs.below(reaches)
        found = base + from_below(unknown * (one_more + deeper_too)), base + from_above(unknown * (one_more + before))
        worse.append(Layer(step, found[0], np.minimum(relevant[:, None] + g.hidden[:, None] + deep, most)))
        better.append(Layer(step, found[1], np.minimum(relevant[:, None] + shallow, most)))
    return least(worse), greatest(better)


class Pairs:
    """The sum of precisions as a sum over pairs: a relevant document adds 1 / rank by itself, and as much for each
    relevant one above it.

    Over ties these are means over orders: of 1 / rank over the ranks of its tie, and of two documents of one tie of
    size n, Σ_i 2 (i − 1) / (n (n − 1) rank_i) over its first, second, … rank.

    alone  topics × ranks: what a relevant document adds by itself
    """

    def __init__(self, g: Gains) -> None:
        self.alone, self.first = at_ranks(g, 1 / g.rank), g.first
        if g.first is not None:
            column = np.arange(len(g.rank))
            size = tied_sums(np.ones(g.first.shape), g.first)[1]
            self.end, above = g.first + size, column - g.first
            within = np.where(g.rank <= g.last_rank, above / g.rank, 0.0)
            self.beside = 2 * mean_gains(within, g.first) / np.maximum(size - 1, 1)

    def above(self, counted: Floats) -> Floats:
        """topics × ranks: what a relevant document adds for these (1, or 0) at the columns to its left."""
        summed = from_above(counted)
        if self.first is None:
            return self.alone * summed[:, :-1]
        higher = np.take_along_axis(summed, self.first, 1)
        return self.alone * higher + self.beside * (summed[:, :-1] - higher)

    def below(self, counted: Floats) -> Floats:
        """The same of those to its right."""
        lower = from_below(counted * self.alone)
        if self.first is None:
            return lower[:, 1:]
        summed = from_below(counted)
        beside = summed[:, 1:] - np.take_along_axis(summed, self.end, 1)
        return np.take_along_axis(lower, self.end, 1) + self.beside * beside


def graded_recall(g: Gains) -> tuple[Floats, Floats]:
    """grecall."""
    share, unknown, top = at_ranks(g, np.ones_like(g.rank)), g.unknown.astype(np.float64), g.levels[-1]
    found, ideal = row_sums(g.gain * share)[:, None], row_sums(g.ideal)[:, None]
    low, high = (
        safe_divide(found + top * along(unknown * share), ideal + top * (further + along(unknown)))
        for along, further in ((from_below, g.hidden[:, None]), (from_above, 0.0))
    )
    return low.min(1), high.max(1)


def interpolated(g: Gains, *, recall: float | tuple[float, ...], add: float) -> tuple[Floats, Floats]:
    """iprec and iprec_avg. Each document judged relevant may make a level of recall harder to reach; the precisions at
    the ranks that reach it all the same are no lower. Where nothing is relevant yet, the first document that turns out
    to be reaches every level."""
    levels = np.atleast_1d(recall).tolist()
    further = np.minimum(row_sums(g.unknown) + g.hidden, MANY)
    few, best = replace(g, further=further), np.where(g.unknown, g.levels[-1], g.gain)
    many = replace(g, gain=best, further=(g.num_relevant == 0).astype(np.float64))
    low, high = (
        sum((interpolated_precision(seen, level, add) for level in levels), start=np.zeros(len(g.gain))) / len(levels)
        for seen in (few, many)
    )
    return low, high
