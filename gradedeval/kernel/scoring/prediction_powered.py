"""Prediction-powered inference: the mean of a measure over topics, of which people judged some and a machine all.

With h the scores of topics by people and m those by a machine, the mean over topics is estimated as that of h, less λ
times how far the mean of m over the judged topics lies from its mean over the others. It is unbiased regardless of the
errors that the machine makes, as long as the judged topics are a random sample; λ says how much the machine helps.
Angelopoulos et al., Science 382 (2023); Angelopoulos, Duchi & Zrnic, PPI++ (2023), for λ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gradedeval.arrays import Floats, chunks

LEAST, FEW = 5, 15
"""Judged topics that an estimate needs, and below which its interval is only a rough guide."""
CHOSEN = 0.01
"""A smaller p says that the judged topics are not a random sample."""
DRAWS, SEED = 10_000, 0
"""The permutations of that test."""


class Estimates(NamedTuple):
    """Estimates of means, an array each.

    mean, error  the estimate and its standard error
    low, high    the ends of its interval
    p            two-sided, that the mean is 0; nan where nothing varies and it is not
    power        λ, the mean over the judged topics
    """

    mean: Floats
    error: Floats
    low: Floats
    high: Floats
    p: Floats
    power: Floats


def powers(human: Floats, machine: Floats, others: Floats) -> Floats:
    """rows × judged topics: λ for each, estimated from all other topics and cut to 0..1; 0 where the machine's scores
    do not vary.

    human    rows × judged topics: scores by people
    machine  the same by the machine
    others   rows × other topics: scores by the machine; none at all: there are as many as one likes, whose mean and
             variance are those of the judged ones

    λ = cov(h, m) / ((1 + n/N) var(m)), with the n judged topics but one and the N others.
    """
    judged, count = human.shape[1] - 1, human.shape[1] - 1 + others.shape[1]
    middle = np.hstack([machine, others]).mean(1, keepdims=True)
    h, m, o = human - human.mean(1, keepdims=True), machine - middle, others - middle
    h_left, m_left = h.sum(1, keepdims=True) - h, m.sum(1, keepdims=True) - m
    products = (h * m).sum(1, keepdims=True) - h * m
    covariance = (products - h_left * m_left / judged) / (judged - 1)
    squares = (m**2).sum(1, keepdims=True) + (o**2).sum(1, keepdims=True) - m**2
    sums = m_left + o.sum(1, keepdims=True)
    variance = (squares - sums**2 / count) / (count - 1)
    scale = np.abs(middle) + np.abs(m).max(1, keepdims=True) + np.abs(o).max(1, keepdims=True, initial=0)
    varies = variance > (1e-12 * scale) ** 2
    shared = judged / others.shape[1] if others.size else 0
    ratio = covariance / np.where(varies, (1 + shared) * variance, 1)
    return np.asarray(np.where(varies, ratio, 0).clip(0, 1))


def estimate(human: Floats, machine: Floats, others: Floats, alpha: float, power: float | None = None) -> Estimates:
    """The mean of each row over the population of topics, and its interval at level 1 − alpha.

    human, machine, others  as in `powers`: five judged topics or more, and two others or more
    power                   λ of all topics; None: for each topic that of the others, without which intervals are too
                            narrow

    The interval is by Student's t with n − 1 degrees of freedom.
    """
    judged, weight = human.shape[1], powers(human, machine, others) if power is None else np.full(human.shape, power)
    apart = machine - others.mean(1, keepdims=True)
    rectified = human - weight * apart
    mean, mean_weight = rectified.mean(1), weight.mean(1)
    variance = mean_weight**2 * others.var(1, ddof=1) / others.shape[1] + rectified.var(1, ddof=1) / judged
    return Estimates(*_with_t(mean, np.sqrt(variance), judged - 1, alpha), mean_weight)


def by_people(human: Floats, alpha: float) -> Estimates:
    """The mean of each row as people alone tell it: λ is 0."""
    judged = human.shape[1]
    error = human.std(1, ddof=1) / np.sqrt(judged)
    return Estimates(*_with_t(human.mean(1), error, judged - 1, alpha), np.zeros(len(human)))


def _with_t(mean: Floats, error: Floats, freedom: int, alpha: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Mean, error, the ends of the interval and p, by Student's t."""
    from scipy.special import stdtr, stdtrit  # not before it is needed

    error = np.where(error <= 1e-12 * np.abs(mean), 0, error)
    margin = stdtrit(freedom, 1 - alpha / 2) * error
    steps = np.where(error == 0, 1, error)
    p = np.where(error == 0, np.where(mean == 0, 1, np.nan), 2 * stdtr(freedom, -np.abs(mean / steps)))
    return mean, error, mean - margin, mean + margin, p


def saved(people: Estimates, both: Estimates) -> tuple[Floats, Floats]:
    """By what share the interval of both is narrower than that of people alone, and how many times the topics people
    would have to judge for one as narrow; nan where an interval has no width."""
    wide, narrow = people.high - people.low, both.high - both.low
    known = (wide > 0) & (narrow > 0)
    share = np.where(known, narrow, np.nan) / np.where(known, wide, 1)
    return 1 - share, 1 / share**2


def could_save(human: Floats, machine: Floats) -> tuple[Floats, Floats]:
    """As `saved`, of each row, if the machine judged as many other topics as one likes: what it is worth on topics that
    both have judged, five or more."""
    none = machine[:, :0]
    rectified = human - powers(human, machine, none) * (machine - machine.mean(1, keepdims=True))
    wide, narrow = human.std(1, ddof=1), rectified.std(1, ddof=1)
    known = (wide > 1e-12) & (narrow > 1e-12)
    share = np.where(known, narrow, np.nan) / np.where(known, wide, 1)
    return 1 - share, 1 / share**2


def chosen_p(machine: Floats, others: Floats, draws: int = DRAWS, seed: int = SEED) -> float:
    """p that judged topics differ from the others as much as here, where they are a random sample: a two-sided
    permutation test of the mean by the machine.

    machine, others  its scores of judged topics, and of the others
    """
    values = np.concatenate([machine, others])
    values = values - values.mean()
    observed = abs(values[: len(machine)].sum())
    rng, beyond = np.random.default_rng(seed), 0
    slack = 1e-12 * np.abs(values).sum()
    for some in chunks(draws, 2 * len(values)):
        drawn = rng.permuted(np.broadcast_to(values, (some.stop - some.start, len(values))), axis=1)
        beyond += int(np.count_nonzero(np.abs(drawn[:, : len(machine)].sum(1)) >= observed - slack))
    return (beyond + 1) / (draws + 1)
