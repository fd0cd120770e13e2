"""Differences of cascade measures: a document that a user may stop at takes the chance from those below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradedeval.analysis.completions.unknown import Unknown
from gradedeval.arrays import Bools, Floats, Ints

CELLS = 1 << 16
"""Up to so many completions × ranks of a topic each completion is tried."""
PASSES = 2
"""How often the documents whose effect is known narrow down that of the others."""
NEGLIGIBLE, WIDTHS = 1e-12, 4
"""Where no more than this can be gained below a rank, the ranks below it are left out: of rankings that are cut alike
to a power of this."""


@dataclass(frozen=True, eq=False, repr=False)
class Cascade:
    """One run.

    chance   topics × depth: of stopping at each rank, once there; 0 where the document is not judged
    utility  depth: of stopping there; it does not rise
    """

    chance: Floats
    utility: Floats

    def put(self, topic: Ints, rank: Ints, chance: float) -> Cascade:
        """The same where documents have another chance."""
        changed = self.chance.copy()
        changed[topic, rank] = chance
        return Cascade(changed, self.utility)

    def of_topics(self, rows: Ints | Bools) -> Cascade:
        """That of some topics alone."""
        return Cascade(self.chance[rows], self.utility)

    def cut(self, depth: int) -> Cascade:
        """Its first ranks."""
        return Cascade(self.chance[:, :depth], self.utility[:depth])

    @cached_property
    def reached(self) -> Floats:
        """topics × (depth + 1): the chance of getting to each rank, and past the last."""
        return _reached(1 - self.chance)

    @property
    def first_certain(self) -> Ints:
        """topics: the first rank, from 0, at which everybody stops; past the last where there is none."""
        first: Ints = np.pad(self.chance == 1, ((0, 0), (0, 1)), constant_values=True).argmax(1)
        return first

    @property
    def score(self) -> Floats:
        """topics."""
        summed: Floats = (self.reached[:, :-1] * self.chance) @ self.utility
        return summed

    @cached_property
    def after(self) -> Floats:
        """topics × depth: what a user who goes on from a rank can expect."""
        ends = self.chance == 1  # nobody goes on from there, and so what follows is divided by the way since then
        certain = ends.any()
        on = _reached(np.where(ends, 1.0, 1 - self.chance)) if certain else self.reached
        depth = self.chance.shape[1]
        summed = np.zeros((len(on), depth + 2))
        summed[:, :depth] = (on[:, :-1] * self.chance * self.utility)[:, ::-1].cumsum(1)[:, ::-1]
        following = summed[:, 1:-1]
        if certain:
            place = np.where(ends, np.arange(depth), depth)
            nearest = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
            last = np.pad(nearest[:, 1:], ((0, 0), (0, 1)), constant_values=depth)
            following = following - np.take_along_axis(summed, last + 1, 1)
        return np.divide(following, on[:, 1:], out=np.zeros_like(following), where=on[:, 1:] > 0)


def _reached(on: Floats) -> Floats:
    """topics × (ranks + 1): 1, and the products of the chances of going on."""
    reached = np.ones((len(on), on.shape[1] + 1))
    np.cumprod(on, axis=1, out=reached[:, 1:])
    return reached


def slopes(low: Cascade, high: Cascade, unknown: Unknown, rank: Ints) -> tuple[Floats, Floats]:
    """of each document: the least and the largest derivative of the score by its chance, with the others anywhere
    between two states of the run; 0 below the last rank that counts.

    By the chance at rank i the score grows by the chance of getting there times (utility there − what follows).
    """
    at = unknown.topic, np.minimum(rank, unknown.depth - 1)
    here = low.utility[at[1]] if unknown.depth else np.zeros(len(rank))
    if not unknown.depth:
        return here, here
    least = high.reached[at] * np.maximum(here - high.after[at], 0)
    most = low.reached[at] * np.maximum(here - low.after[at], 0)
    there = rank < unknown.depth
    return least * there, most * there


def greatest_cascade(first: Cascade, second: Cascade, unknown: Unknown, top: float) -> Floats:
    """topics: a difference (first − second) that none of the ways to judge the documents exceeds; exact where those
    that may serve either run are few.

    The score is linear in the chance of each document, so that the extremes are at 0 and `top`; it never falls where a
    document becomes better. So documents of the first run alone are at the top, those of the second alone at 0. Of
    those in both some have a derivative of known sign whatever the others are, which narrows down that of the rest.
    Few of these are tried in all ways; of more, no more is assumed than what the derivatives allow.
    """
    if top == 1 and (first.chance * (1 - first.chance) == 0).all() and (second.chance * (1 - second.chance) == 0).all():
        return _first_relevant(first, second, unknown)
    end = np.maximum(*(_end(run) for run in (first, second)))
    found, left = np.empty(len(end)), np.arange(len(end))
    width = WIDTHS
    while len(left):
        now = (end[left] <= width) | (width >= unknown.depth)
        rows, left, width = left[now], left[~now], width * WIDTHS
        if len(rows):
            last = width // WIDTHS
            rest = first.reached[rows, last] * first.utility[last] if last < unknown.depth else 0.0
            cut, other = (run.of_topics(rows).cut(last) for run in (first, second))
            found[rows] = _greatest(cut, other, unknown.of_topics(rows).cut(last), top) + rest
    return found


def _end(run: Cascade) -> Ints:
    """topics: the rank, from 0, below which next to nothing can be gained, whatever is known of the documents."""
    end: Ints = (run.reached[:, :-1] * run.utility > NEGLIGIBLE).sum(1)
    return end


def _greatest(first: Cascade, second: Cascade, unknown: Unknown, top: float) -> Floats:
    """As `greatest_cascade`, of rankings that are cut alike."""
    in_first, in_second = unknown.first < unknown.depth, unknown.second < unknown.depth
    alone = in_first & ~in_second
    first = first.put(unknown.topic[alone], unknown.first[alone], top)
    return _of_shared(first, second, unknown.select(in_first & in_second), top, PASSES)


def _of_shared(first: Cascade, second: Cascade, both: Unknown, top: float, passes: int) -> Floats:
    """The same, where no other documents are left than those of both runs: so many times those whose effect is known
    are settled, which narrows down that of the others."""
    done = both.counts == 0
    found = np.empty(len(done))
    found[done] = first.of_topics(done).score - second.of_topics(done).score
    if done.all():
        return found
    rows = np.flatnonzero(~done)
    first, second, both = first.of_topics(rows), second.of_topics(rows), both.of_topics(rows)
    least, most, ends = _ranges(first, second, both, top)
    sure = (least >= 0) | (most <= 0)
    if passes and sure.any():
        lifted = both.select(sure & (least >= 0))
        first = first.put(lifted.topic, lifted.first, top)
        second = second.put(lifted.topic, lifted.second, top)
        found[rows] = _of_shared(first, second, both.select(~sure), top, passes - 1)
        return found
    none, every = (one.score - other.score for one, other in ((ends[0], ends[2]), (ends[1], ends[3])))
    up, down = (np.bincount(both.topic, top * np.maximum(step, 0), minlength=len(rows)) for step in (most, -least))
    greatest: Floats = np.minimum.reduce([none + up, every + down, ends[1].score - ends[2].score])
    counts = both.counts
    few = both.depth * 2.0**counts <= CELLS
    for count in np.flatnonzero(np.bincount(counts[few])).tolist():
        some = np.flatnonzero(few & (counts == count))
        tried = first.of_topics(some), second.of_topics(some), both.of_topics(some)
        greatest[some] = _enumerated(*tried, top, count)
    found[rows] = greatest
    return found


def _first_relevant(first: Cascade, second: Cascade, unknown: Unknown) -> Floats:
    """As `greatest_cascade`, exact, where everybody stops at the first relevant document: that of the first run is one
    of its unjudged ones, or a judged one, and in the second no more need be relevant."""
    utility = np.append(first.utility, 0.0)
    worth = [utility[run.first_certain] for run in (first, second)]
    alone = (unknown.first < unknown.depth) & (unknown.second == unknown.depth)
    np.maximum.at(worth[0], unknown.topic[alone], utility[unknown.first[alone]])
    found: Floats = worth[0] - worth[1]
    both = unknown.select((unknown.first < unknown.depth) & (unknown.second < unknown.depth))
    own = np.maximum(worth[0][both.topic], utility[both.first])
    np.maximum.at(found, both.topic, own - np.maximum(worth[1][both.topic], utility[both.second]))
    return found


def _ranges(
    first: Cascade, second: Cascade, both: Unknown, top: float
) -> tuple[Floats, Floats, tuple[Cascade, Cascade, Cascade, Cascade]]:
    """of each document of both runs: the least and largest derivative of the difference; and the first run with none
    and with all of them at the top, and the second."""
    ends = (
        first,
        first.put(both.topic, both.first, top),
        second,
        second.put(both.topic, both.second, top),
    )
    own, other = slopes(ends[0], ends[1], both, both.first), slopes(ends[2], ends[3], both, both.second)
    return own[0] - other[1], own[1] - other[0], ends


def _enumerated(first: Cascade, second: Cascade, both: Unknown, top: float, count: int) -> Floats:
    """topics: the largest difference, by trying all.

    count  how many documents each topic has
    """
    chosen: Bools = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1 == 1  # ways × documents
    found, size = np.empty(len(both.hidden)), max(1, CELLS // (len(chosen) * both.depth))
    for begin in range(0, len(found), size):
        rows = np.arange(begin, min(begin + size, len(found)))
        some, scores = both.of_topics(rows), []
        for run, rank in ((first, some.first), (second, some.second)):
            chance = np.repeat(run.chance[rows], len(chosen), axis=0).reshape(len(rows), len(chosen), both.depth)
            at = some.padded(rank, 0)
            chance[np.arange(len(rows))[:, None, None], np.arange(len(chosen))[:, None], at[:, None]] = top * chosen
            scores.append(Cascade(chance.reshape(-1, both.depth), run.utility).score.reshape(len(rows), -1))
        found[rows] = (scores[0] - scores[1]).max(1)
    return found
