"""How low and how high the score of each of two runs can come, whatever the unjudged documents of both turn out to be.

The difference of two runs stays between low − high and high − low of each: no more is known where a measure is not a
sum over ranks. What the other run alone retrieved cannot be found by this one, and may be relevant.
"""

from __future__ import annotations

import numpy as np

from gradedeval.analysis.completions.reread import Reread
from gradedeval.analysis.score_matrix import Paired
from gradedeval.analysis.unjudged import Part, select
from gradedeval.arrays import Bools, Floats, Ints
from gradedeval.measures.bounds.of_measure import falls

CELLS = 1 << 18
"""So many topics × ranks are worked on in one go."""
PRECISION = 8
"""Missed documents are counted up to twice this; above, rounded up to an eighth of a power of two: a few more lower a
score little, and topics with as many are one."""


def separate_bounds(paired: Paired, first: Ints, second: Ints, reread: Reread) -> tuple[Floats, Floats]:
    """2 runs × pairs × topics, twice: the lowest and the highest score of each run, beside the other; nan where it is
    not known."""
    ends, runs = np.full((2, 2, len(first), len(paired.topics)), np.nan), np.array([first, second])
    parts = [reread.parts(name, paired.topics) for name in paired.runs]
    readable = np.array([part is not None for part in parts])
    known = readable[runs].all(0)
    missed = np.zeros(ends.shape[1:], dtype=np.int64)
    if falls(reread.scorer.measures[reread.column[paired.measure]]):
        missed = _missed(parts, runs, known, paired.topics)
    for run in np.unique(runs[:, known]).tolist():
        at = (runs == run) & known
        some = parts[run]
        assert some is not None
        low, score, high = _beside(reread, some, paired, missed[at])
        if np.allclose(score, paired.score[run], rtol=1e-9, atol=1e-9):  # else the file has changed since
            ends[:, at] = low, high
    return ends[0], ends[1]


def _missed(parts: list[list[Part] | None], runs: Ints, known: Bools, topics: list[str]) -> Ints:
    """2 runs × pairs × topics: how many unjudged documents the other run alone retrieved, rounded up."""
    row = {topic: row for row, topic in enumerate(topics)}
    of_run: list[tuple[Ints, Ints]] = []
    for some in parts:
        rows = [np.array([row[name] for name in part.names])[part.unjudged.nonzero()[0]] for part in some or ()]
        numbers = [part.number[part.unjudged] for part in some or ()]
        of_run.append(
            (np.concatenate([*rows, np.zeros(0, np.int64)]), np.concatenate([*numbers, np.zeros(0, np.int64)]))
        )
    size = max(int(number.max(initial=0)) for _, number in of_run) + 1
    missed = np.zeros((*runs.shape, len(topics)), dtype=np.int64)
    has = {}
    for run in np.unique(runs[:, known]).tolist():
        has[run] = np.zeros(size, dtype=bool)
        has[run][of_run[run][1]] = True
    count = [np.bincount(topic, minlength=len(topics)) for topic, _ in of_run]
    for pair in np.flatnonzero(known).tolist():
        one, other = runs[:, pair].tolist()
        topic, number = of_run[one]
        shared = np.bincount(topic[has[other][number]], minlength=len(topics))
        missed[0, pair], missed[1, pair] = count[other] - shared, count[one] - shared
    step = 1 << np.maximum(np.frexp(missed / PRECISION)[1] - 1, 0)
    rounded: Ints = -(-missed // step) * step
    return rounded


def _beside(reread: Reread, parts: list[Part], paired: Paired, missed: Ints) -> Floats:
    """3 × pairs × topics: the lowest score of one run, which missed so many documents, its score, and the highest."""
    topics, column = len(paired.topics), reread.column[paired.measure]
    cell, place = np.unique(missed * topics + np.arange(topics), return_inverse=True)
    number, row = np.divmod(cell, topics)
    ends = np.full((3, len(cell)), np.nan)
    for part in parts:
        own = {name: at for at, name in enumerate(part.names)}
        at = np.array([own.get(topic, -1) for topic in paired.topics])[row]
        mine = np.flatnonzero(at >= 0)
        size = max(1, CELLS // max(part.number.shape[1], 1))
        for begin in range(0, len(mine), size):
            some = mine[begin : begin + size]
            batch = select(part.batch, at[some])
            ends[:, some] = reread.scorer.bounds_beside(batch, column, number[some])
    return ends[:, place.reshape(missed.shape)]
