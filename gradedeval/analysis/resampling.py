"""Resampling for all pairs of runs at once: randomization of signs and labels, bootstrap samples of topics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from gradedeval.arrays import Floats, Ints
from gradedeval.parallel.progress import Progress, no_progress

CELLS = 1 << 22
"""Numbers held at once, draws × pairs: bounds memory for any number of pairs."""


def chunks(count: int, cost: int) -> list[slice]:
    """Slices of `count` items, each of at most CELLS numbers, where an item takes `cost` of them."""
    step = max(1, CELLS // max(1, cost))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)]


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


def tukey_hsd(scores: Floats, draws: int, seed: int, progress: Progress = no_progress) -> Callable[[Floats], Floats]:
    """Randomized Tukey HSD: how often the best and the worst mean lie further apart than two runs do.

    scores  runs × topics

    Returns a function from differences of means to p. In each draw the runs' labels are shuffled within every topic;
    the p values hold for all pairs together. Carterette, TOIS 2012. Exact where all permutations are no more than the
    draws, else (1 + as extreme) / (1 + draws).
    """
    runs, topics = scores.shape
    exact = is_exact(topics, draws, runs)
    ranges = np.sort(np.concatenate(list(_ranges(scores.T, draws, seed, exact, progress))))
    scale = 1e-12 * np.abs(scores).mean(1).max(initial=0)

    def p(differences: Floats) -> Floats:
        extreme = len(ranges) - np.searchsorted(ranges, np.abs(differences) - scale)
        values: Floats = extreme / len(ranges) if exact else (1 + extreme) / (1 + draws)
        return values

    return p


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


def topic_weights(topics: int, draws: int, seed: int) -> Floats:
    """draws × topics: the share that each topic has in a bootstrap sample of as many topics."""
    counts = np.random.default_rng(seed).multinomial(topics, np.full(topics, 1 / topics), size=draws)
    weights: Floats = counts / topics
    return weights


def bootstrap_interval(
    differences: Floats, draws: int, seed: int, alpha: float, progress: Progress = no_progress
) -> tuple[Floats, Floats]:
    """The percentile interval of each pair's mean difference at level 1 − alpha, by the paired bootstrap of topics.

    differences  pairs × topics. All pairs share the samples. Efron & Tibshirani 1993, section 13.3.
    """
    weights = topic_weights(differences.shape[1], draws, seed)
    low, high = np.empty(len(differences)), np.empty(len(differences))
    for chunk in progress(chunks(len(differences), draws)):
        means = differences[chunk] @ weights.T
        low[chunk], high[chunk] = np.quantile(means, [alpha / 2, 1 - alpha / 2], axis=1, overwrite_input=True)
    return low, high


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
    weights = topic_weights(topics, draws, seed)
    shifted = differences - differences.mean(1, keepdims=True)
    # Where all topics differ alike only the last bits are left.
    shifted[np.abs(shifted) <= 1e-12 * np.abs(differences).max(1, initial=0, keepdims=True)] = 0
    observed = np.abs(_t(differences.mean(1), (differences**2).mean(1), topics))
    nth = min(draws, max(1, round(alpha * draws)))
    level, needed = np.empty(len(differences)), np.empty(len(differences))
    for chunk in progress(chunks(len(differences), 4 * draws)):
        means = shifted[chunk] @ weights.T
        t = np.abs(_t(means, shifted[chunk] ** 2 @ weights.T, topics))
        level[chunk] = (t >= observed[chunk, None] * (1 - 1e-12)).mean(1)
        sample = np.argpartition(t, draws - nth, axis=1)[:, draws - nth]
        needed[chunk] = np.abs(means[np.arange(len(means)), sample])
    return level, needed


def _t(mean: Floats, square: Floats, topics: int) -> Floats:
    """Student's t from the mean and the mean square; 0 if no topic differs, infinite if all differ alike."""
    variance = square - mean**2
    # Cancellation leaves the last bits of the squares.
    variance = np.where(variance <= 1e-12 * square, 0.0, variance) * topics / max(1, topics - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Floats = mean / np.sqrt(variance / topics)
    return np.where(mean == 0, 0.0, t)
