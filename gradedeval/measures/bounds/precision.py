"""Bounds of average precision, graded or not, of graded recall, and of interpolated precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradedeval.arrays import Floats
from gradedeval.measures.bounds.ratios import Layer, from_above, from_below, greatest, least, steps
from gradedeval.measures.gains import Gains, row_sums, safe_divide
from gradedeval.measures.precision import interpolated as interpolated_precision
from gradedeval.measures.precision import summed_precision

MANY = 1 << 40
"""More relevant documents than any level of recall is reached with."""


def graded_average(g: Gains) -> tuple[Floats, Floats]:
    """gap, and ap as the gap of one threshold."""
    unknown, share = g.unknown.astype(np.float64), 1 / g.rank
    weight = unknown * share
    worse, better, deep, shallow = [], [], from_below(unknown), from_above(unknown)
    deeper_too = from_below(weight)[:, 1:]  # those below are relevant already
    for step, level, relevant in steps(g):
        reaches = g.gain >= level
        above = reaches.cumsum(1) - reaches
        after = from_below(reaches * share)[:, 1:]
        base = summed_precision(g, level)[:, None]
        one_more = (above + 1) * share + after  # what its own precision adds, and those of the documents below it
        worse.append(
            Layer(
                step, base + from_below(unknown * (one_more + deeper_too)), relevant[:, None] + g.hidden[:, None] + deep
            )
        )
        before = shallow[:, :-1] * share
        better.append(Layer(step, base + from_above(unknown * (one_more + before)), relevant[:, None] + shallow))
    return least(worse), greatest(better)


def graded_recall(g: Gains) -> tuple[Floats, Floats]:
    """grecall: lowest where all is relevant that cannot be found, and nothing else."""
    top, found, ideal = g.levels[-1], row_sums(g.gain), row_sums(g.ideal)
    more = top * row_sums(g.unknown)
    return safe_divide(found, ideal + top * g.hidden), safe_divide(found + more, ideal + more)


def interpolated(g: Gains, *, recall: float | tuple[float, ...], add: float) -> tuple[Floats, Floats]:
    """iprec and iprec_avg. Each document judged relevant may make a level of recall harder to reach; the precisions at
    the ranks that reach it all the same are no lower."""
    levels = np.atleast_1d(recall).tolist()
    further = np.minimum(row_sums(g.unknown) + g.hidden, MANY)
    few, many = replace(g, further=further), replace(g, gain=np.where(g.unknown, g.levels[-1], g.gain))
    low, high = (
        sum((interpolated_precision(seen, level, add) for level in levels), start=np.zeros(len(g.gain))) / len(levels)
        for seen in (few, many)
    )
    return low, high
