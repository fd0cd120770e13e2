"""Resampling for all pairs of runs at once: randomization of signs and labels, what it does not reject, and Sakai's
bootstrap test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.bootstrap import centered, chunks, samples, student_t


def is_exact(topics: int, draws: int, runs: int = 2) -> bool:
    """Whether all permutations of the labels of `runs` runs by topic are listed: they are no more than the draws."""
    return topics * math.log(math.factorial(runs)) <= math.log(draws) + 1e-9


def sign_flips(topics: int, draws: int, seed: int) -> Floats:
    """draws × topics of −1 and 1: all 2^topics of them if those are no more than the draws, else random ones."""
    if is_exact(topics, draws):
        bits: Ints = np.arange(1 << topics)[:, None] >> np.arange(topics) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (draws, topics))
    return 1 - 2 * bits.astype(np.float64)


def randomization(differences: Floats, draws: int, seed: int, progress: Progress = no_progress) -> Floats:
    """Two-sided p of the randomization test of each pair: under the null hypothesis the sign of a topic is arbitrary.

    differences  pairs × topics

    p = (1 + as extreme) / (1 + draws) for random draws (Phipson & Smyth, 2010), and the exact share where all 2^topics
    are listed. All pairs share the draws. Fisher 1935; Smucker et al., CIKM 2007.
    """
    pairs, topics = differences.shape
    flips = sign_flips(topics, draws, seed)
    extreme = np.zeros(pairs)
    # Sums that are equal in exact arithmetic may differ in their last bits.
    observed = np.abs(differences.sum(1)) - 1e-12 * np.abs(differences).sum(1)
    for chunk in progress(chunks(pairs, len(flips))):
        extreme[chunk] = (np.abs(flips @ differences[chunk].T) >= observed[chunk]).sum(0)
    exact = is_exact(topics, draws)
    p: Floats = extreme / len(flips) if exact else (1 + extreme) / (1 + draws)
    return p


def randomization_interval(
    differences: Floats, draws: int, seed: int, alpha: float, progress: Progress = no_progress
) -> tuple[Floats, Floats]:
    """The ends of what the randomization test does not reject at level alpha: of all δ for which differences − δ have a
    p above alpha, by the same draws. The arguments are those of `randomization`.

    Signs s give a δ a mean as extreme from (d̄ − a) / (1 − b) to (d̄ + a) / (1 + b), or the other way round, where a is
    the mean of s · d and b that of s: between the means of the topics of either sign. Signs that are all alike do so
    everywhere. So the ends are order statistics of these means, or infinite.
    """
    pairs, topics = differences.shape
    flips = sign_flips(topics, draws, seed)
    rank, ups = extreme_rank(alpha, draws, len(flips), is_exact(topics, draws)), flips.sum(1)
    low, high = np.full(pairs, -np.inf), np.full(pairs, np.inf)
    alike = np.abs(ups) == topics
    down, up = 1 / np.where(alike, 1, topics - ups), 1 / np.where(alike, 1, topics + ups)
    for chunk in progress(chunks(pairs, 4 * len(flips))) if rank else ():
        sums, totals = differences[chunk] @ flips.T, differences[chunk].sum(1)[:, None]
        one, other = (totals - sums) * down, (totals + sums) * up
        lower, upper = np.minimum(one, other), np.maximum(one, other, out=one)
        lower[:, alike], upper[:, alike] = -np.inf, np.inf
        lower.partition(rank - 1, axis=1)
        upper.partition(len(flips) - rank, axis=1)
        low[chunk], high[chunk] = lower[:, rank - 1], upper[:, len(flips) - rank]
    return low, high


def extreme_rank(alpha: float, draws: int, listed: int, exact: bool) -> int:
    """How many permutations have to be as extreme for p to be above alpha: of all `listed`, or of random draws."""
    return math.floor(alpha * listed + 1e-9) + 1 if exact else math.floor(alpha * (1 + draws) + 1e-9)


def tukey_hsd(
    scores: Floats, differences: Floats, draws: int, seed: int, alpha: float, progress: Progress = no_progress
) -> tuple[Floats, float]:
    """Randomized Tukey HSD: how often the best and the worst mean lie further apart than two runs do: p of differences
    of means, and how far their intervals at level 1 − alpha reach to both sides.

    scores       runs × topics
    differences  of the means of two runs

    In each draw the runs' labels are shuffled within every topic; p and intervals hold for all pairs together.
    Carterette, TOIS 2012. Exact where all permutations are no more than the draws, else (1 + as extreme) / (1 + draws).
    """
    runs, topics = scores.shape
    exact = is_exact(topics, draws, runs)
    ranges = np.sort(np.concatenate(list(_ranges(scores.T, draws, seed, exact, progress))))
    scale = 1e-12 * np.abs(scores).mean(1).max(initial=0)
    extreme = len(ranges) - np.searchsorted(ranges, np.abs(differences) - scale)
    p: Floats = extreme / len(ranges) if exact else (1 + extreme) / (1 + draws)
    rank = extreme_rank(alpha, draws, len(ranges), exact)
    return p, float(ranges[-rank]) if rank else math.inf


def _ranges(by_topic: Floats, draws: int, seed: int, exact: bool, progress: Progress) -> Iterator[Floats]:
    """The distance of the best mean from the worst in each draw, some draws at a time."""
    topics, runs = by_topic.shape
    if exact:
        orders = [list(itertools.permutations(row)) for row in by_topic.tolist()]
        for shuffled in itertools.product(*orders):
            yield np.array([np.ptp(np.mean(shuffled, axis=0))])
        return
    draw = np.random.default_rng(seed)
    for chunk in progress(chunks(draws, topics * runs)):
        copies = np.broadcast_to(by_topic, (chunk.stop - chunk.start, topics, runs))
        yield np.ptp(draw.permuted(copies, axis=2).mean(1), axis=1)


def studentized(
    differences: Floats, draws: int, seed: int, alpha: float, progress: Progress = no_progress
) -> tuple[Floats, Floats]:
    """Sakai's paired bootstrap test of each pair: the achieved significance level, and the difference needed.

    differences  pairs × topics

    t = mean / (deviation / √n); each sample of the differences shifted to mean 0 gives a t*, and the level is the share
    of |t*| ≥ |t|. The difference needed is |mean*| of the sample with the (alpha · draws)-th largest |t*|. All pairs
    share the samples. Sakai, SIGIR 2006, figures 1 and 5.
    """
    topics = differences.shape[1]
    observed = np.abs(student_t(differences.mean(1), (differences**2).mean(1), topics))
    nth = min(draws, max(1, round(alpha * draws)))
    level, needed = np.empty(len(differences)), np.empty(len(differences))
    for rows, means, t in samples(centered(differences), draws, seed, progress):
        t = np.abs(t)
        level[rows] = (t >= observed[rows, None] * (1 - 1e-12)).mean(1)
        sample = np.argpartition(t, draws - nth, axis=1)[:, draws - nth]
        needed[rows] = np.abs(means[np.arange(len(means)), sample])
    return level, needed
