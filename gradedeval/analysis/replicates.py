"""Systems of several seeds: their scores by topic, and the comparison of two by a mixed model.

score = system + topic + system × topic + seed(system) + error, of which all but the system are random. Voorhees,
Samarov & Soboroff, "Using Replicates in Information Retrieval Evaluation", TOIS 2017; Ferro & Sanderson, "Improving the
Accuracy of System Performance Estimation by Using Shards", SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradedeval.analysis import significance
from gradedeval.arrays import TOLERANCE, Floats, Ints, distinct, np
from gradedeval.errors import InputError, flag

if TYPE_CHECKING:
    from gradedeval.analysis.score_matrix import Matrix, Paired

MODEL = "mixed model: topics and seeds random, t by Satterthwaite"


class Estimate(NamedTuple):
    """A mean over topics and seeds, or a difference of two, with its standard error and degrees of freedom."""

    mean: float
    se: float
    df: float


def estimate(by_topic: Floats, systems: Sequence[Floats]) -> Estimate:
    """The standard error of the mean of `by_topic`, where topics and seeds are random.

    by_topic  topics: the mean over the seeds of a system, or the difference of two such means
    systems   of each system that it is made of: seeds × topics

    With n topics, r seeds of a system, S² the variance of `by_topic` over the topics, c the sum of 1 / r, MSD the
    mean square of seeds within systems, MSE that of seeds × topics:

        E S² = what topics make of it + c · σ²,  E MSD = σ² + n · σ²(seed),  E MSE = σ²

    so that (S² + c · MSD − c · MSE) / n has the variance of the mean for its expectation, with any numbers of seeds.
    The three are independent, and all variances are the same in both systems. What would be a negative component is 0.
    A system of one run has no seeds. Of a single topic nothing but the mean is known.
    """
    topics, seeded = len(by_topic), [own for own in systems if len(own) > 1]
    if topics < 2:
        return Estimate(float(by_topic.mean()), float("nan"), float("nan"))
    spread, share = float(by_topic.var(ddof=1)), sum(1 / len(own) for own in seeded)
    df = topics - 1.0
    variance = spread
    if seeded:
        within, error, of_seeds, of_error = _mean_squares(seeded)
        within, error = share * within, share * error
        if within > error and spread > error:
            variance = spread + within - error
            df = variance**2 / (spread**2 / df + within**2 / of_seeds + error**2 / of_error)
        elif within > error:  # topics make no difference
            variance, df = within, of_seeds
        elif error > spread:  # neither topics nor seeds do
            variance, df = error, of_error
    return Estimate(float(by_topic.mean()), float(np.sqrt(variance / topics)), float(df))


def _mean_squares(seeded: Sequence[Floats]) -> tuple[float, float, float, float]:
    """The mean squares of seeds within systems and of seeds × topics, and their degrees of freedom."""
    topics = seeded[0].shape[1]
    of_seeds, within, error = 0.0, 0.0, 0.0
    for own in seeded:
        rest = own - own.mean(0)
        seeds = rest.mean(1, keepdims=True)
        within += topics * float((seeds**2).sum())
        error += float(((rest - seeds) ** 2).sum())
        of_seeds += len(own) - 1
    of_error = of_seeds * (topics - 1)
    return within / of_seeds, error / of_error, of_seeds, of_error


def compared(paired: Paired, seeds: Matrix, first: Ints, second: Ints, alpha: float) -> dict[str, Any]:
    """What the mixed model says of pairs of systems by one measure, in the columns of a comparison.

    paired  the scores of the systems
    seeds   the runs that they are made of
    """
    runs = _runs(paired, seeds)
    found = [
        estimate(runs[two].mean(0) - runs[one].mean(0), [runs[one], runs[two]])
        for one, two in zip(first.tolist(), second.tolist(), strict=True)
    ]
    mean, se, df = (np.array(part) for part in zip(*found, strict=True))
    p, margin = p_and_margin(mean, se, df, alpha)
    counts, sd = np.array([len(own) for own in runs]), deviations(paired, runs)
    low, high = (paired.reading.of_mean(end, len(paired.topics)) for end in (mean - margin, mean + margin))
    return {
        "seeds": counts[second],
        "sd": sd[second],
        "baseline_seeds": counts[first],
        "baseline_sd": sd[first],
        "se": se * (len(paired.topics) if paired.reading.summary == "total" else 1),
        "df": df,
        "low": low,
        "high": high,
        "p": p,
    }


def p_and_margin(mean: Floats, se: Floats, df: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Two-sided p of means, and how far their intervals at level 1 − alpha reach; nan where nothing varies but the mean
    is not 0."""
    stats = significance.scipy_stats()
    alike, zero = se <= TOLERANCE, np.abs(mean) <= TOLERANCE
    t = np.abs(mean) / np.where(alike, 1.0, se)
    p = np.where(alike, np.where(zero, 1.0, np.nan), 2 * stats.t.sf(t, df))
    margin = np.where(alike, np.where(zero, 0.0, np.nan), stats.t.isf(alpha / 2, df) * se)
    return p, margin


def _runs(paired: Paired, seeds: Matrix) -> list[Floats]:
    """Of each system: seeds × topics, the values that are tested."""
    assert seeds.replicates is not None
    systems, column = seeds.replicates.systems(seeds.runs), seeds.measure_index(paired.measure)
    at = {topic: number for number, topic in enumerate(seeds.topics)}
    topics = [at[topic] for topic in paired.topics]
    row = {run: number for number, run in enumerate(seeds.runs)}
    return [
        paired.reading.tested(seeds.score[[row[run] for run in systems[system]]][:, topics, column])
        for system in paired.runs
    ]


def deviations(paired: Paired, runs: Sequence[Floats]) -> Floats:
    """The standard deviation of the summaries of each system's seeds; nan of one."""
    summaries = [paired.reading.of_mean(own.mean(1), own.shape[1]) for own in runs]
    return np.array([own.std(ddof=1) if len(own) > 1 else np.nan for own in summaries])


def of_system(matrix: Matrix, system: int, column: int, alpha: float) -> dict[str, float]:
    """What is known of one system by one measure beside its mean: seeds, sd, low and high, by the same model."""
    assert matrix.seeds is not None
    alone = matrix.select(runs=[matrix.runs[system]]).paired(matrix.measures[column])
    (values,) = runs = _runs(alone, matrix.seeds)
    found = estimate(values.mean(0), runs) if values.shape[1] > 1 else Estimate(np.nan, np.nan, np.nan)
    _, margin = p_and_margin(np.array([found.mean]), np.array([found.se]), np.array([found.df]), alpha)
    ends = (found.mean - margin[0], found.mean + margin[0])
    low, high = (float(alone.reading.of_mean(np.asarray(end), values.shape[1])) for end in ends)
    return {"seeds": len(values), "sd": float(deviations(alone, runs)[0]), "low": low, "high": high}


def topic_errors(paired: Paired, seeds: Matrix, first: int, second: int) -> Floats:
    """topics: as `difference_errors`, of two systems; nan by measures with geometric means, too, whose scores are
    logarithms where they are averaged."""
    values = _runs(paired, seeds)
    if paired.reading.summary == "geometric":
        return np.full(len(paired.topics), np.nan)
    return difference_errors(values[first], values[second])


def difference_errors(one: Floats, other: Floats) -> Floats:
    """topics: the standard error over seeds of the difference of two means over seeds; nan where neither system has
    several.

    one, other  of each system: seeds × topics
    """
    parts = [own.var(0, ddof=1) / len(own) for own in (one, other) if len(own) > 1]
    if not parts:
        return np.full(one.shape[1], np.nan)
    variance: Floats = np.sum(parts, 0)
    return np.sqrt(variance)


def means_over_pairs(pair: Ints, topic: Ints, values: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """What pairs of runs have by topic, put together for each pair of systems: that pair, the topic, the means of the
    values, nan where none is known, and of how many pairs of runs; pair after pair, the topics with the smallest
    mean of the first value first.

    pair, topic  rows: the pair of systems, and the topic
    values       values × rows
    """
    topics = int(topic.max(initial=0)) + 1
    cells, place = distinct(pair * topics + topic)
    known = np.isfinite(values)
    sums = np.array(
        [np.bincount(place, np.where(there, row, 0.0), len(cells)) for row, there in zip(values, known, strict=True)]
    )
    counts = np.array([np.bincount(place, there, len(cells)) for there in known])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    order = np.lexsort((means[0], cells // topics))
    of_runs = np.bincount(place, minlength=len(cells))
    return (cells // topics)[order], (cells % topics)[order], means[:, order], of_runs[order]


def check_test(test: str) -> None:
    """Raise InputError (usage) where systems of several seeds are to be compared by a test of pairs of runs."""
    if test != "randomization":
        what = f"{test} compares runs, and systems with seeds are compared by a mixed model"
        raise InputError(flag.test, what, f"leave out {flag.test} or {flag.replicates}", usage=True)


def of_pair(matrix: Matrix, baseline: str, run: str, measure: str) -> float:
    """p of the difference of two systems by one measure."""
    assert matrix.seeds is not None
    both = matrix.select(runs=[baseline, run]).paired(measure)
    found = compared(both, matrix.seeds, np.array([0]), np.array([1]), 0.05)
    return float(found["p"][0])
