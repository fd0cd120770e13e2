"""`--interval`: the standard error and the interval of each summary over topics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from gradedeval.arrays import Bools, Floats, chunks, shared
from gradedeval.kernel.measures.definition import Measure, Reading, Summary
from gradedeval.kernel.parallel import progress
from gradedeval.kernel.scoring.signature import DRAWS, SEED

# Bootstrap samples of topics, and the studentized interval of a mean.


MANY_TOPICS = 1000
"""The number of topics from which `_count_many` draws samples."""
WORDS = 1 << 16
"""The number of values of 16 bits."""


def topic_weights(topics: int, draws: int, seed: int | np.random.Generator) -> Floats:
    """Return draws × topics: the share of each topic in a bootstrap sample of as many topics."""
    drawn = np.random.default_rng(seed)
    if topics < MANY_TOPICS:
        counts = drawn.multinomial(topics, np.full(topics, 1 / topics), size=draws)
        weights: Floats = counts / topics
        return weights
    weights, table = np.empty((draws, topics)), _poisson_table(1 - 4 / math.sqrt(topics))
    for row in weights:
        _count_many(row, table, drawn)
        row /= topics
    return weights


@lru_cache(maxsize=1)
def _poisson_table(mean: float) -> Floats:
    """Return a Poisson variable's value for each number of 16 bits: each value's probability to 1 in 65,536."""
    probabilities = [math.exp(-mean) * mean**count / math.factorial(count) for count in range(20)]
    return shared(np.searchsorted(np.cumsum(probabilities), (np.arange(WORDS) + 0.5) / WORDS).astype(np.float64))


def _count_many(counts: Floats, table: Floats, drawn: np.random.Generator) -> None:
    """Count the occurrences of each topic in one sample of as many topics.

    Independent Poisson counts with a given total are a sample of that size. Their mean is below 1, so that almost
    always some topics remain to be drawn one by one. Takes a tenth of the time of a binomial count for each topic.
    """
    topics, missing = len(counts), -1
    while missing < 0:
        words = np.frombuffer(drawn.bytes(2 * topics), np.uint16)
        missing = topics - int(table.take(words, out=counts, mode="clip").sum())
    np.add.at(counts, drawn.integers(topics, size=missing), 1.0)


def centered(values: Floats) -> Floats:
    """Return the values minus the mean of their row; 0 if all are equal up to rounding."""
    shifted: Floats = values - values.mean(1, keepdims=True)
    shifted[np.abs(shifted) <= 1e-12 * np.abs(values).max(1, initial=0, keepdims=True)] = 0
    return shifted


def samples(values: Floats, draws: int, seed: int) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield bootstrap samples for some rows of values at a time: the rows, and rows × draws means and Student's t."""
    topics = values.shape[1]
    cost = (2 if topics < MANY_TOPICS else 8) * topics  # samples of many topics stay in the processor's cache
    for rows in progress("draws")(chunks(len(values), 4 * draws)):
        drawn = np.random.default_rng(seed)
        both = np.concatenate((values[rows], values[rows] ** 2))
        means = np.empty((len(both), draws))
        for part in chunks(draws, cost):
            means[:, part] = both @ topic_weights(topics, part.stop - part.start, drawn).T
        mean, square = np.split(means, 2)
        yield rows, mean, student_t(mean, square, topics)


def student_t(mean: Floats, square: Floats, topics: int) -> Floats:
    """Return Student's t from the mean and the mean square; 0 if no topic differs, infinite if all differ alike."""
    variance = square - mean**2
    # Cancellation leaves the last bits of the squares.
    variance = np.where(variance <= 1e-12 * square, 0.0, variance) * topics / max(1, topics - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Floats = mean / np.sqrt(variance / topics)
    return np.where(mean == 0, 0.0, t)


def standard_error(values: Floats) -> Floats:
    """Return the standard error of the mean of each row, deviation / √topics; nan for a single topic."""
    topics = values.shape[1]
    return centered(values).std(1, ddof=1) / math.sqrt(topics) if topics > 1 else np.full(len(values), np.nan)


def studentized_interval(values: Floats, draws: int, seed: int, alpha: float) -> tuple[Floats, Floats]:
    """Return the interval of each row's mean at level 1 − alpha: mean − t* · error, t* the quantiles of t in the
    samples.

    values  rows × topics. All rows share the samples

    An end is infinite if its quantile is, or with too few draws for the level: t is infinite in a sample of equal
    topics, and such samples are frequent with 3 topics or fewer, or if few topics differ. Both are nan for a single
    topic. Efron & Tibshirani 1993, section 12.5.
    """
    return studentized_test(values, draws, seed, alpha)[1:]


def studentized_test(values: Floats, draws: int, seed: int, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return the smallest level at which `studentized_interval` excludes 0, or 1, and the ends of the interval.

    With t = mean / error it is 2 · (1 + number of t* at least as far to its side) / (1 + draws).
    """
    p, low, high = np.ones(len(values)), *np.full((2, len(values)), np.nan)
    if values.shape[1] < 2:
        return p, low, high
    mean, error = values.mean(1), standard_error(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.where(mean == 0, 0.0, mean / error)
    # The quantiles as in a test by as many draws: of 999 at 0.05 the 25th from either end.
    nth = math.floor(alpha / 2 * (draws + 1) + 1e-9) - 1
    for rows, _, t in samples(centered(values), draws, seed):
        observed_t = observed[rows, None]
        beyond = np.minimum((t >= observed_t).sum(1), (t <= observed_t).sum(1))
        p[rows] = np.minimum(1, 2 * (1 + beyond) / (1 + draws))
        if nth >= 0:
            t.partition((nth, draws - 1 - nth), axis=1)
        lowest, highest = (t[:, nth], t[:, draws - 1 - nth]) if nth >= 0 else (-np.inf, np.inf)
        with np.errstate(invalid="ignore"):
            low[rows], high[rows] = mean[rows] - highest * error[rows], mean[rows] - lowest * error[rows]
    same = error == 0
    low[same] = high[same] = mean[same]
    return p, low, high


def summary_intervals(
    runs: Sequence[tuple[Floats, Bools]], measures: Sequence[Measure | Summary], alpha: float
) -> Floats:
    """Return runs × measures × 3: the standard error of each summary, and the ends of its interval at level 1 − alpha.

    runs      the scores, topics × measures, and which of them count
    measures  the measures; for unknown measures their summary

    The interval of a geometric mean comes from logarithms, and its standard error is the mean times their standard
    error. Intervals stay within the range of the scale. All are nan for a single topic, or if a score is infinite.
    """
    scales: list[tuple[Summary, float, float]] = []  # the summary of each, and the range of a topic's scores
    for measure in measures:
        if isinstance(measure, Measure):
            scales.append((measure.reading.summary, measure.definition.floor, measure.definition.ceiling))
        else:
            scales.append((measure, -np.inf, np.inf))
    result = np.full((len(runs), len(scales), 3), np.nan)
    alike: dict[int, dict[tuple[int, int], Floats]] = {}  # summaries over as many topics share the samples
    for number, (score, included) in enumerate(runs):
        for column in range(len(scales)):
            scores = score[included[:, column], column]
            if len(scores) > 1 and np.isfinite(scores).all():
                alike.setdefault(len(scores), {})[number, column] = scores
    for topics, cells in alike.items():
        summaries = [scales[column][0] for _, column in cells]
        pairs = zip(cells.values(), summaries, strict=True)
        values = np.array([Reading(summary).tested(scores) for scores, summary in pairs])
        parts = summaries, standard_error(values), *studentized_interval(values, DRAWS, SEED, alpha)
        for (cell, scores), summary, error, *interval in zip(cells.items(), *parts, strict=True):
            slope = {"mean": 1, "total": topics, "geometric": Reading("geometric").summarize(scores)}[summary]
            limits = np.array(scales[cell[1]][1:]) * (topics if summary == "total" else 1)
            result[cell] = error * slope, *Reading(summary).of_mean(np.array(interval), topics).clip(*limits)
    return result
