"""Runs that do not differ: letters that they share, and the ranks that a run can have.

Letters are a compact letter display by insertion and absorption (Piepho, An algorithm for a letter-based representation
of all-pairwise comparisons, Journal of Computational and Graphical Statistics, 2004).
"""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradedeval.kernel.measures.definition import Reading


def shared_letters(differ: Bools) -> list[str]:
    """The letters of each run: two share one if and only if they do not differ. Those of the first runs come first.

    differ  runs × runs, symmetric: whether the difference of two is significant
    """
    runs = len(differ)
    groups = [frozenset(range(runs))]
    for one, other in zip(*np.nonzero(np.triu(differ, 1)), strict=True):
        parted = [group for group in groups if one in group and other in group]
        if parted:
            kept = [group for group in groups if group not in parted]
            groups = _largest([*kept, *(group - {one} for group in parted), *(group - {other} for group in parted)])
    groups = sorted(_needed(groups), key=sorted)
    names = [ascii_letters[number] if number < len(ascii_letters) else f"{number + 1}" for number in range(len(groups))]
    between = " " if len(groups) > len(ascii_letters) else ""
    return [
        between.join(name for name, group in zip(names, groups, strict=True) if run in group) for run in range(runs)
    ]


def _largest(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The groups that are not within another one."""
    kept: list[frozenset[int]] = []
    for group in sorted(dict.fromkeys(groups), key=len, reverse=True):
        if not any(group <= other for other in kept):
            kept.append(group)
    return kept


def _needed(groups: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The groups without those of which every pair, or the only run, is in another one too: the smallest go first."""
    kept = list(groups)
    for group in sorted(groups, key=lambda one: (len(one), [-run for run in sorted(one)])):
        others = [other for other in kept if other is not group]
        pairs = [{one, other} for one in group for other in group]
        if all(any(pair <= other for other in others) for pair in pairs):
            kept = others
    return kept


def ranks(score: Floats, differ: Bools, reading: Reading) -> tuple[Ints, Ints]:
    """The best and the worst rank that each run can have: 1 and the number of runs that are significantly better, and
    all but those that are significantly worse.

    score  of each run
    """
    gains = reading.sign * score
    better = differ & (gains[None] > gains[:, None])
    worse = differ & (gains[None] < gains[:, None])
    return 1 + better.sum(1), len(score) - worse.sum(1)


def rank_interval(values: Floats, sign: int, draws: int, seed: int, alpha: float) -> tuple[Ints, Ints]:
    """The percentile bootstrap interval of the rank of each run, over samples of topics; equal means share the better
    rank.

    values  runs × topics, whose means order the runs
    sign    what they are multiplied by so that more is better
    """
    runs, topics = values.shape
    rng, found, done = np.random.default_rng(seed), np.empty((draws, runs), dtype=np.int64), 0
    while done < draws:
        several = min(256, draws - done)
        times = rng.multinomial(topics, np.full(topics, 1 / topics), size=several)
        means = sign * (times @ values.T) / topics
        found[done : done + several] = 1 + (means[:, None] > means[:, :, None] + TOLERANCE).sum(2)
        done += several
    ends = np.quantile(found, [alpha / 2, 1 - alpha / 2], axis=0, method="inverted_cdf")
    return ends[0].astype(np.int64), ends[1].astype(np.int64)
