"""Systems of several seeds: their scores by topic, and the comparison of two by a mixed model.

score = system + topic + system × topic + seed(system) + error, of which all but the system are random. Voorhees,
Samarov & Soboroff, "Using Replicates in Information Retrieval Evaluation", TOIS 2017; Ferro & Sanderson, "Improving the
Accuracy of System Performance Estimation by Using Shards", SIGIR 2019. Degrees of freedom: Welch, Biometrika 34 (1947).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradedeval.analysis import significance
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, distinct, np
from gradedeval.errors import InputError, flag, plural, shorten

if TYPE_CHECKING:
    import pandas as pd

    from gradedeval.analysis import Correction
    from gradedeval.analysis.score_matrix import Matrix, Paired

MODEL = "mixed model: topics and seeds random, t by Welch–Satterthwaite"
LEAST, TESTED = 3, 5
"""Minimum seeds of a system to estimate their variance, and to test systems. With three or four a test would reject too
often if seeds of one system vary more: docs/background/statistics.md has figures."""
WEIGHT = 2.5
"""Weight of the mean squares of seeds in the degrees of freedom. With few seeds a variance that is estimated too small
would also count as well known, and tests would reject too often: docs/background/statistics.md has figures."""


class Estimate(NamedTuple):
    """A mean over topics and seeds, or a difference of two, with its standard error and degrees of freedom."""

    mean: float
    se: float
    df: float


def estimate(by_topic: Floats, systems: Sequence[Floats]) -> Estimate:
    """Estimate the standard error of the mean of `by_topic`, where topics and seeds are random.

    by_topic  topics: the mean over the seeds of a system, or the difference of two such means
    systems   of each system that it is made of: seeds × topics

    With n topics, S² the variance of `by_topic` over the topics, and of each system with r seeds MSD the mean square of
    seeds and MSE that of seeds × topics:

        E S² = what topics make of it + Σ σ² / r,  E MSD = σ² + n · σ²(seed),  E MSE = σ²

    so that (S² − Σ MSE / r + Σ MSD / r) / n has the variance of the mean for its expectation, with any numbers of seeds
    and any variances of systems. All are independent. S² − Σ MSE / r counts as 0 where it is negative. The degrees of
    freedom are Welch's of 1947, (Σ weighted squares)² / Σ (weighted square)² / (its degrees + 1) less 1, and no fewer
    than those of the fewest seeds. A system of fewer than `LEAST` seeds is taken as it is: the mean is of these very
    runs. Of a single topic nothing but the mean is known.
    """
    topics, seeded = len(by_topic), [system for system in systems if len(system) >= LEAST]
    mean = float(by_topic.mean())
    if topics < 2:
        return Estimate(mean, float("nan"), float("nan"))
    spread = float(by_topic.var(ddof=1))
    if not seeded:
        return Estimate(mean, float(np.sqrt(spread / topics)), topics - 1.0)
    squares = [_mean_squares(system) for system in seeded]
    seeds, counts = [within for within, _ in squares], [len(system) for system in seeded]
    errors = sum(error for _, error in squares)
    of_topics = max(spread - errors, 0.0)
    variance = of_topics + sum(seeds)
    most, least = topics - 1.0, min(counts) - 1.0
    weighted = sum((WEIGHT * within) ** 2 / count for within, count in zip(seeds, counts, strict=True))
    if of_topics:
        weighted += spread**2 / topics
        for (_, error), count in zip(squares, counts, strict=True):
            weighted += error**2 / ((count - 1) * (topics - 1) + 1)
    df = (of_topics + WEIGHT * sum(seeds)) ** 2 / weighted - 1 if weighted else most
    return Estimate(mean, float(np.sqrt(variance / topics)), min(max(df, least), max(most, least)))


def _mean_squares(system: Floats) -> tuple[float, float]:
    """Return the mean squares of seeds and of seeds × topics of a system, each over the number of its seeds."""
    seeds, topics = system.shape
    rest = system - system.mean(0)
    means = rest.mean(1, keepdims=True)
    within = topics * float((means**2).sum()) / (seeds - 1)
    error = float(((rest - means) ** 2).sum()) / ((seeds - 1) * (topics - 1))
    return within / seeds, error / seeds


def compare_systems(paired: Paired, seeds: Matrix, first: Ints, second: Ints, alpha: float) -> dict[str, Any]:
    """Compare pairs of systems with the mixed model; `seeds` are their runs. Return the columns of a comparison."""
    runs = _seed_scores(paired, seeds)
    estimates = [
        estimate(runs[k].mean(0) - runs[i].mean(0), [runs[i], runs[k]])
        for i, k in zip(first.tolist(), second.tolist(), strict=True)
    ]
    mean, se, df = (np.array(part) for part in zip(*estimates, strict=True))
    p, margin = p_and_margin(mean, se, df, alpha)
    counts, sd = np.array([len(of_system) for of_system in runs]), deviations(paired, runs)
    p = np.where(have_enough_seeds(counts[second], counts[first]), p, np.nan)
    low, high = (paired.reading.of_mean(end, len(paired.topics)) for end in (mean - margin, mean + margin))
    se = se * (len(paired.topics) if paired.reading.summary == "total" else 1)
    of_seeds = {"seeds": counts[second], "sd": sd[second], "baseline_seeds": counts[first], "baseline_sd": sd[first]}
    return {**of_seeds, "se": se, "df": df, "low": low, "high": high, "p": p}


def have_enough_seeds(seeds: Ints, baseline_seeds: Ints) -> Bools:
    """Return for each pair whether both systems have the seeds that a test needs."""
    return np.minimum(seeds, baseline_seeds) >= TESTED


def are_tested(frame: pd.DataFrame) -> Bools:
    """Return for each row of a comparison of systems whether it can have p."""
    return have_enough_seeds(frame["seeds"].to_numpy(dtype=int), frame["baseline_seeds"].to_numpy(dtype=int))


def describe_test(frame: pd.DataFrame, correction: Correction) -> str:
    """Return how the systems of a comparison were tested: the correction is over the pairs that have p."""
    seeds, tested = frame[["seeds", "baseline_seeds"]].to_numpy(dtype=int), are_tested(frame)
    count = int(tested.sum()) // frame["measure"].nunique()
    parts = [MODEL if (seeds >= LEAST).any() else "t over topics"]
    parts += [f"{correction} over {count} pairs of each measure"] if correction != "none" and count > 1 else []
    parts += [] if tested.all() else [f"fewer than {TESTED} seeds: without p"]
    parts += [f"fewer than {LEAST} seeds: of these very runs"] if (seeds < LEAST).any() else []
    return " | ".join(parts)


def untested_notes(frame: pd.DataFrame) -> list[str]:
    """Return notes on the pairs that have no p because a system has too few seeds, and on their intervals."""
    few = frame[~are_tested(frame)]
    count = len(few.drop_duplicates(["run", "baseline"]))
    sides = [(few["run"], few["seeds"]), (few["baseline"], few["baseline_seeds"])]
    seeds = {name: count for names, counts in sides for name, count in zip(names, counts, strict=True)}
    untested, as_they_are = ([name for name in seeds if seeds[name] < least] for least in (TESTED, LEAST))
    notes = []
    if untested:
        have = "has" if len(untested) == 1 else "have"
        problem = f"no p for {count} {plural(count, 'pair')}: {shorten(untested)} {have} fewer than {TESTED} seeds"
        notes.append(f"{problem}, and a test would find a difference too often")
    if as_they_are:
        have, pronoun = ("has", "its") if len(as_they_are) == 1 else ("have", "their")
        problem = f"{shorten(as_they_are)} {have} fewer than {LEAST} seeds"
        notes.append(f"{problem}: intervals are of {pronoun} very runs, not of other seeds")
    return notes


def check_seeds(matrix: Matrix, systems: Sequence[str], place: str) -> None:
    """Raise InputError where one of the systems to be tested has too few seeds."""
    assert matrix.seeds is not None
    assert matrix.seeds.replicates is not None
    members = matrix.seeds.replicates.systems(matrix.seeds.runs)
    for system in systems:
        if (count := len(members[system])) < TESTED:
            problem = f"'{system}' has {count} {plural(count, 'seed')}, and a test needs {TESTED} of both systems"
            raise InputError(place, problem, "leave out the bound, or give more seeds", usage=True)


def p_and_margin(mean: Floats, se: Floats, df: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return two-sided p of means, and half the width of their intervals; nan if only the mean varies."""
    stats = significance.scipy_stats()
    alike, zero = se <= TOLERANCE, np.abs(mean) <= TOLERANCE
    t = np.abs(mean) / np.where(alike, 1.0, se)
    p = np.where(alike, np.where(zero, 1.0, np.nan), 2 * stats.t.sf(t, df))
    margin = np.where(alike, np.where(zero, 0.0, np.nan), stats.t.isf(alpha / 2, df) * se)
    return p, margin


def _seed_scores(paired: Paired, seeds: Matrix) -> list[Floats]:
    """Return the tested values of each system, seeds × topics."""
    assert seeds.replicates is not None
    systems, column = seeds.replicates.systems(seeds.runs), seeds.measure_index(paired.measure)
    topic_index = {topic: number for number, topic in enumerate(seeds.topics)}
    topics = [topic_index[topic] for topic in paired.topics]
    row = {run: number for number, run in enumerate(seeds.runs)}
    rows = ([row[run] for run in systems[system]] for system in paired.runs)
    return [paired.reading.tested(seeds.score[of_system][:, topics, column]) for of_system in rows]


def deviations(paired: Paired, runs: Sequence[Floats]) -> Floats:
    """Return the standard deviation of the summaries of each system's seeds; nan of one."""
    summaries = [paired.reading.of_mean(values.mean(1), values.shape[1]) for values in runs]
    return np.array([values.std(ddof=1) if len(values) > 1 else np.nan for values in summaries])


def system_estimate(matrix: Matrix, system: int, column: int, alpha: float) -> dict[str, float]:
    """Estimate one system by one measure beside its mean: seeds, sd, low and high, by the same model."""
    assert matrix.seeds is not None
    alone = matrix.select(runs=[matrix.runs[system]]).paired(matrix.measures[column])
    (values,) = runs = _seed_scores(alone, matrix.seeds)
    result = estimate(values.mean(0), runs) if values.shape[1] > 1 else Estimate(np.nan, np.nan, np.nan)
    _, margin = p_and_margin(np.array([result.mean]), np.array([result.se]), np.array([result.df]), alpha)
    ends = (result.mean - margin[0], result.mean + margin[0])
    low, high = (float(alone.reading.of_mean(np.asarray(end), values.shape[1])) for end in ends)
    return {"seeds": len(values), "sd": float(deviations(alone, runs)[0]), "low": low, "high": high}


def topic_errors(paired: Paired, seeds: Matrix, first: int, second: int) -> Floats:
    """Return `difference_errors` of two systems, per topic; nan by measures averaged as logarithms."""
    values = _seed_scores(paired, seeds)
    if paired.reading.summary == "geometric":
        return np.full(len(paired.topics), np.nan)
    return difference_errors(values[first], values[second])


def difference_errors(first: Floats, second: Floats) -> Floats:
    """Return the standard error over seeds of the difference of two systems, seeds × topics; nan of one seed each."""
    parts = [system.var(0, ddof=1) / len(system) for system in (first, second) if len(system) > 1]
    if not parts:
        return np.full(first.shape[1], np.nan)
    variance: Floats = np.sum(parts, 0)
    return np.sqrt(variance)


def means_over_pairs(pair: Ints, topic: Ints, values: Floats) -> tuple[Ints, Ints, Floats, Ints]:
    """Average values of pairs of runs by topic for each pair of systems.

    Returns the pair of systems, the topic, the means of the values, nan if none is known, and the number of pairs of
    runs; pair after pair, the topics with the smallest mean of the first value first.

    pair, topic  rows: the pair of systems, and the topic
    values       values × rows
    """
    topics = int(topic.max(initial=0)) + 1
    cells, place = distinct(pair * topics + topic)
    finite = np.isfinite(values)
    sums = np.array(
        [np.bincount(place, np.where(mask, row, 0.0), len(cells)) for row, mask in zip(values, finite, strict=True)]
    )
    counts = np.array([np.bincount(place, mask, len(cells)) for mask in finite])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    order = np.lexsort((means[0], cells // topics))
    of_runs = np.bincount(place, minlength=len(cells))
    return (cells // topics)[order], (cells % topics)[order], means[:, order], of_runs[order]


def check_test(test: str) -> None:
    """Raise InputError (usage) if systems with seeds are to be compared by a test of pairs of runs."""
    if test != "randomization":
        problem = f"{test} compares runs, and systems with seeds are compared by a mixed model"
        raise InputError(flag.test, problem, f"leave out {flag.test} or {flag.replicates}", usage=True)


def pair_p_value(matrix: Matrix, baseline: str, run: str, measure: str) -> float:
    """Return p of the difference of two systems by one measure."""
    assert matrix.seeds is not None
    both = matrix.select(runs=[baseline, run]).paired(measure)
    columns = compare_systems(both, matrix.seeds, np.array([0]), np.array([1]), 0.05)
    return float(columns["p"][0])
