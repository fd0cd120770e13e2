"""Tests of differences: p values, corrections, effect sizes, resampling, and intervals that agree with p."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Unpack, get_args

import numpy as np

from gradedeval.analysis import Correction, PairTest, Test, score_matrix
from gradedeval.analysis.score_matrix import Paired, comparable_matrix, require_single_runs, require_two_runs, run_pairs
from gradedeval.analysis.tables import ScoredFrame, confidence_level
from gradedeval.arrays import TOLERANCE, Bools, Floats, Ints, chunks
from gradedeval.errors import InputError, Note, check_choice, emit_notes, flag, plural, public
from gradedeval.kernel.measures.definition import AnyMeasure
from gradedeval.kernel.options import OptionKwargs, ranges
from gradedeval.kernel.options.ranges import MOST_DRAWS
from gradedeval.kernel.options.settings import shares_work, takes_options
from gradedeval.kernel.parallel import progress
from gradedeval.kernel.scoring.intervals import centered, samples, standard_error, student_t, studentized_test
from gradedeval.kernel.scoring.results import to_frame

# Resampling for all pairs of runs at once: randomization of signs and labels, its intervals, and Sakai's bootstrap
# test.


TestResult = tuple[Floats, Floats, Floats]
"""p, and the ends of the interval."""


def is_exact(topics: int, draws: int, runs: int = 2) -> bool:
    """Return whether all permutations of the labels of `runs` runs by topic are listed: there are at most `draws`."""
    return topics * math.log(math.factorial(runs)) <= math.log(draws) + 1e-9


def sign_flips(topics: int, draws: int, seed: int) -> Floats:
    """Return draws × topics of −1 and 1: all 2^topics of them if there are at most `draws`, else random ones."""
    if is_exact(topics, draws):
        bits: Ints = np.arange(1 << topics)[:, None] >> np.arange(topics) & 1
        return 1 - 2 * bits.astype(np.float64)
    flips, drawn = np.empty((draws, topics)), np.random.default_rng(seed)
    for some in chunks(draws, topics):  # the integers of all draws would take gigabytes
        np.subtract(1, 2 * drawn.integers(0, 2, flips[some].shape), out=flips[some])
    return flips


def randomization_test(differences: Floats, draws: int, seed: int, alpha: float | None) -> TestResult:
    """Return two-sided p of the randomization test of each pair, by which the sign of a topic is arbitrary, and the
    ends of the interval that it does not reject at level alpha; infinite without alpha.

    p = (1 + as extreme) / (1 + draws) for random draws (Phipson & Smyth, 2010), and the exact share if all 2^topics are
    listed. All pairs share the draws. Fisher 1935; Smucker et al., CIKM 2007.

    The interval has all δ for which differences − δ have a p above alpha, by the same draws. Signs s give a δ a mean as
    extreme from (d̄ − a) / (1 − b) to (d̄ + a) / (1 + b), or the other way round, with a the mean of s · d and b the
    mean of s: between the means of the topics of either sign. Signs that are all alike do so everywhere. So the ends
    are order statistics of these means, or infinite.

    differences  pairs × topics
    """
    pairs, topics = differences.shape
    flips, exact = sign_flips(topics, draws, seed), is_exact(topics, draws)
    rank, ups = 0 if alpha is None else extreme_rank(alpha, draws, len(flips), exact), flips.sum(1)
    low, high, extreme = np.full(pairs, -np.inf), np.full(pairs, np.inf), np.zeros(pairs)
    # Sums that are equal in exact arithmetic may differ in their last bits.
    observed = np.abs(differences.sum(1)) - 1e-12 * np.abs(differences).sum(1)
    alike = np.abs(ups) == topics
    down, up = 1 / np.where(alike, 1, topics - ups), 1 / np.where(alike, 1, topics + ups)
    for chunk in progress("draws")(chunks(pairs, 4 * len(flips))):
        sums, totals = differences[chunk] @ flips.T, differences[chunk].sum(1)[:, None]
        extreme[chunk] = (np.abs(sums) >= observed[chunk, None]).sum(1)
        if not rank:
            continue
        a, b = (totals - sums) * down, (totals + sums) * up
        lower, upper = np.minimum(a, b), np.maximum(a, b, out=a)
        lower[:, alike], upper[:, alike] = -np.inf, np.inf
        low[chunk] = nth_smallest(lower, rank - 1)
        high[chunk] = -nth_smallest(np.negative(upper, out=upper), rank - 1)
    return extreme / len(flips) if exact else (1 + extreme) / (1 + draws), low, high


SAMPLED = 10
"""The sample has one value in this many."""


def nth_smallest(values: Floats, nth: int) -> Floats:
    """Return the n-th smallest value of each row, from 0, faster than a partition of the whole row: only values are
    ordered that are at most a later value of a sample."""
    sample = values[:, : values.shape[1] // SAMPLED]
    expected = nth / SAMPLED
    place = math.ceil(expected + 4 * math.sqrt(expected) + 4)
    if place >= sample.shape[1] // 2:
        return np.partition(values, nth, axis=1)[:, nth]
    limit = np.partition(sample, place, axis=1)[:, place]
    smallest = np.empty(len(values))
    for row, (row_values, few) in enumerate(zip(values, values <= limit[:, None], strict=True)):
        first = row_values[few]
        smallest[row] = np.partition(first if len(first) > nth else row_values, nth)[nth]
    return smallest


def extreme_rank(alpha: float, draws: int, listed: int, exact: bool) -> int:
    """Return how many permutations as extreme put p above alpha: of all `listed`, or of random draws."""
    return math.floor(alpha * listed + 1e-9) + 1 if exact else math.floor(alpha * (1 + draws) + 1e-9)


def tukey_hsd(scores: Floats, differences: Floats, draws: int, seed: int, alpha: float) -> tuple[Floats, float]:
    """Return p of differences of means by randomized Tukey HSD, and half the width of their intervals at level 1 −
    alpha.

    p is the frequency of draws with the best and the worst mean further apart than the two runs.

    scores       runs × topics
    differences  of the means of two runs

    In each draw the runs' labels are shuffled within every topic; p and intervals hold for all pairs together.
    Carterette, TOIS 2012. Exact if there are at most `draws` permutations, else (1 + as extreme) / (1 + draws).
    """
    runs, topics = scores.shape
    exact = is_exact(topics, draws, runs)
    ranges = np.sort(np.concatenate(list(_ranges(scores.T, draws, seed, exact))))
    scale = 1e-12 * np.abs(scores).mean(1).max(initial=0)
    extreme = len(ranges) - np.searchsorted(ranges, np.abs(differences) - scale)
    p: Floats = extreme / len(ranges) if exact else (1 + extreme) / (1 + draws)
    rank = extreme_rank(alpha, draws, len(ranges), exact)
    return p, float(ranges[-rank]) if rank else math.inf


def _ranges(by_topic: Floats, draws: int, seed: int, exact: bool) -> Iterator[Floats]:
    """Yield the distance of the best mean from the worst in each draw, some draws at a time."""
    topics, runs = by_topic.shape
    if exact:
        orders = [list(itertools.permutations(row)) for row in by_topic.tolist()]
        for shuffled in itertools.product(*orders):
            yield np.array([np.ptp(np.mean(shuffled, axis=0))])
        return
    draw = np.random.default_rng(seed)
    for chunk in progress("draws")(chunks(draws, topics * runs)):
        copies = np.broadcast_to(by_topic, (chunk.stop - chunk.start, topics, runs))
        yield np.ptp(draw.permuted(copies, axis=2).mean(1), axis=1)


def studentized(differences: Floats, draws: int, seed: int, alpha: float) -> tuple[Floats, Floats]:
    """Return the achieved significance level of each pair by Sakai's paired bootstrap test, and the difference needed.

    differences  pairs × topics

    t = mean / (deviation / √n); each sample of the differences shifted to mean 0 gives a t*, and the level is the share
    of |t*| ≥ |t|. The difference needed is |mean*| of the sample with the (alpha · draws)-th largest |t*|. All pairs
    share the samples. Sakai, SIGIR 2006, figures 1 and 5.
    """
    topics = differences.shape[1]
    observed = np.abs(student_t(differences.mean(1), (differences**2).mean(1), topics))
    nth = min(draws, max(1, round(alpha * draws)))
    level, needed = np.empty(len(differences)), np.empty(len(differences))
    for rows, means, t in samples(centered(differences), draws, seed):
        t = np.abs(t)
        level[rows] = (t >= observed[rows, None] * (1 - 1e-12)).mean(1)
        sample = np.argpartition(t, draws - nth, axis=1)[:, draws - nth]
        needed[rows] = np.abs(means[np.arange(len(means)), sample])
    return level, needed


# Wilcoxon's signed ranks of many pairs of runs at once: p values, and the interval of the pseudo-median.


COUNTED, LISTED = 50, 13
"""All signs of the ranks are counted of up to 50 topics without zeros and ties, and of up to 13 with them; p is that of
a normal distribution elsewhere. So does scipy from 1.15."""
CLOSE = 1e-9
"""Sizes that differ by no more than this share of the largest are tied."""


def signed_rank_p(differences: Floats) -> Floats:
    """Return two-sided p of Wilcoxon's signed-rank test of each pair; zeros are dropped. 1 if no topic differs.

    differences  pairs × topics
    """
    rank, above, tied = _ranks(differences)
    count, topics = (rank > 0).sum(1), differences.shape[1]
    plus, mean = (rank * above).sum(1), count * (count + 1) / 4
    variance = count * (count + 1) * (2 * count + 1) / 24 - (tied**2 - 1).sum(1) / 48
    distance = np.abs(plus - mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(distance > 0, distance / np.sqrt(variance), 0)
    p = np.array([math.erfc(distant / math.sqrt(2)) for distant in z.tolist()])
    plain = (count == topics) & (tied == 1).all(1)
    for row in np.flatnonzero((topics <= LISTED) | (plain & (topics <= COUNTED))).tolist():
        doubled = np.rint(2 * rank[row]).astype(int)
        tail = _tail(tuple(doubled[doubled > 0].tolist()))
        p[row] = min(1.0, 2 * tail[round(2 * min(plus[row], 2 * mean[row] - plus[row]))])
    return p


def _ranks(differences: Floats) -> tuple[Floats, Bools, Floats]:
    """Return rank (0 for a zero), sign and number of ties of the differences of each pair, in order of their sizes."""
    pairs, topics = differences.shape
    ordered = np.take_along_axis(differences, np.argsort(np.abs(differences), axis=1), 1)
    sizes = np.abs(ordered)
    apart = np.diff(sizes, axis=1, prepend=0) > CLOSE * sizes[:, -1:]  # the first of those that are tied
    place, after = np.arange(topics), np.hstack([apart[:, 1:], np.ones((pairs, 1), dtype=bool)])
    first = np.maximum.accumulate(np.where(apart, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(after, place, topics)[:, ::-1], axis=1)[:, ::-1]
    counted = np.logical_or.accumulate(apart, axis=1)
    zeros = topics - counted.sum(1, keepdims=True)
    rank = np.where(counted, (first + last) / 2 + 1 - zeros, 0)
    return rank, ordered > 0, np.where(counted, last - first + 1.0, 1)


@lru_cache(maxsize=1 << 13)
def _tail(doubled: tuple[int, ...]) -> Floats:
    """Return the probability by s that the ranks, doubled here, of random signs above 0 sum to s / 2 or less."""
    ways = np.zeros(sum(doubled) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    tail: Floats = ways.cumsum() / 2.0 ** len(doubled)
    return tail


def signed_rank_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the interval of each pair's pseudo-median, the median of the means of two topics.

    It reaches from the lowest to the highest difference that `signed_rank_p` does not reject, but for single values at
    which differences tie or are dropped. The ends are such means, or infinite; if topics that differ alike leave none,
    they are the pseudo-median.

    differences  pairs × topics
    """
    low, high = np.empty((2, len(differences)))
    for row, ordered in enumerate(np.sort(differences, axis=1)):
        means = np.concatenate([ordered[i:] + ordered[i] for i in range(len(ordered))]) / 2
        least, most = _acceptance_counts(ordered, means, alpha)
        low[row] = np.partition(means, least - 1)[least - 1] if least > 0 else -np.inf
        high[row] = np.partition(means, most)[most] if most < len(means) else np.inf
    return low, high


def _acceptance_counts(ordered: Floats, means: Floats, alpha: float) -> tuple[int, int]:
    """Return the least and the greatest number of means of two topics below a difference that is not rejected."""
    topics, count = len(ordered), len(means)
    alike = np.diff(np.flatnonzero(np.diff(ordered, prepend=-np.inf, append=np.inf) > CLOSE * np.abs(ordered).max()))
    plain = bool((alike == 1).all())
    if topics <= LISTED and not plain:
        return _acceptance_counts_by_p(ordered, means, alpha)
    if plain and topics <= COUNTED:
        least = int(np.argmax(2 * _tail(tuple(range(2, 2 * topics + 1, 2)))[::2] > alpha))
    else:
        variance = topics * (topics + 1) * (2 * topics + 1) / 24 - (alike**3.0 - alike).sum() / 48
        least = max(0, math.floor(count / 2 + NormalDist().inv_cdf(alpha / 2) * math.sqrt(variance)) + 1)
    return least, count - least


def _acceptance_counts_by_p(values: Floats, means: Floats, alpha: float) -> tuple[int, int]:
    """Compute `_acceptance_counts` by the p of a value between each two means."""
    ordered = np.sort(means)
    edges = np.hstack([ordered[0] - 1, ordered, ordered[-1] + 1])
    wide = np.diff(edges) > 2 * CLOSE * np.abs(edges).max()
    tried = (edges[1:] + edges[:-1]) / 2
    kept = np.flatnonzero(wide & (signed_rank_p(values - tried[:, None]) > alpha))
    middle = len(means) // 2
    return (int(kept[0]), int(kept[-1])) if len(kept) else (middle + 1, middle)


# The Bayesian comparison of two runs: the probability that one is better, or that they are practically equal.


ROPE = 0.01
"""Means that differ by no more are practically equal, by default."""


def posterior(differences: Floats, rope: float, alpha: float) -> dict[str, Floats]:
    """Return the posterior of the difference μ of two means by the Bayesian t test of each pair.

    differences  pairs × topics
    rope         the region of practical equivalence is −rope to rope, in units of the score
    alpha        the credible interval, with equal tails, has the probability 1 − alpha

    With the uninformative prior 1/σ, μ has Student's t distribution with n − 1 degrees of freedom around the mean
    difference, scaled by deviation / √n. Returns low and high (the interval), better P(μ > rope), equivalent P(|μ| ≤
    rope) and worse P(μ < −rope). If no topic differs, μ is 0; if all differ alike, they tell nothing of the variance,
    and all is nan. Raises InputError (usage) without scipy. Benavoli et al., JMLR 2017, section 3 (ρ = 0: topics are
    independent); Carterette, ICTIR 2015.
    """
    stats = scipy_stats()
    topics = differences.shape[1]
    mean, scale = differences.mean(1), deviations(differences) / np.sqrt(topics)
    around = stats.t(topics - 1)
    steps = np.where(scale == 0, 1.0, scale)
    with np.errstate(over="ignore"):
        better = np.where(scale == 0, 0, around.sf((rope - mean) / steps))
        worse = np.where(scale == 0, 0, around.sf((rope + mean) / steps))
    margin = around.isf(alpha / 2) * scale
    probabilities = {"better": better, "equivalent": np.maximum(1 - better - worse, 0), "worse": worse}
    probabilities = {"low": mean - margin, "high": mean + margin, **probabilities}
    blank = no_variance(differences)
    return {name: np.where(blank, np.nan, values) for name, values in probabilities.items()}


SIMULTANEOUS = {
    "tukey-hsd": "already corrects for all pairs",
    "anova": "already corrects for all pairs, by Tukey's HSD",
    "bayes": "gives posterior probabilities, which need no correction",
}
"""Tests that do not give a p for each pair by itself, and why theirs is not corrected."""
RANDOMIZED = ("randomization", "tukey-hsd")
DIVIDE_BY_DEVIATION = ("bootstrap", "t")


def scipy_stats() -> Any:
    """Import scipy.stats on first use: the import takes longer than most commands."""
    try:
        from scipy import stats
    except ImportError:
        raise InputError("", "scipy is not installed", "pip install scipy", usage=True) from None
    return stats


TESTS: tuple[str, ...] = get_args(Test)
PAIR_TESTS: tuple[str, ...] = get_args(PairTest)
CORRECTIONS: tuple[str, ...] = get_args(Correction)


def p_values(differences: Floats, test: Test, draws: int, seed: int) -> Floats:
    """Return the two-sided p value of each pair of runs; 1 if no topic differs, nan if a test has none: see
    `no_variance`.

    differences  pairs × topics
    test         `randomization`, `bootstrap` (studentized), `t` (Student 1908), `wilcoxon` (1945; zeros left out) or
                 `sign` (ties left out)
    """
    same = ~differences.any(1)
    p = np.ones(len(differences))
    others = differences[~same]
    if test == "randomization":
        p[~same] = randomization_test(others, draws, seed, None)[0]
    elif test == "bootstrap":
        p[~same] = studentized_test(others, draws, seed, 0.5)[0]
    else:
        p[~same] = {"t": _t_test, "wilcoxon": signed_rank_p, "sign": _sign}[test](others)
    if test in DIVIDE_BY_DEVIATION:
        p[no_variance(differences)] = np.nan
    return p


def no_variance(differences: Floats) -> Bools:
    """Return the mask of pairs with topics that differ, all alike: nothing can be divided by the deviation."""
    mask: Bools = (deviations(differences) == 0) & differences.any(1) & (differences.shape[1] > 1)
    return mask


def _t_test(differences: Floats) -> Floats:
    stats = scipy_stats()
    if differences.shape[1] < 2:
        return np.ones(len(differences))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all topics may differ alike
        p: Floats = stats.ttest_1samp(differences, 0.0, axis=1).pvalue
    return p


def _sign(differences: Floats) -> Floats:
    stats = scipy_stats()
    wins, losses = (differences > 0).sum(1).tolist(), (differences < 0).sum(1).tolist()
    counts = list(zip(wins, losses, strict=True))
    p_of = {(won, lost): stats.binomtest(won, won + lost).pvalue for won, lost in set(counts)}
    return np.array([p_of[count] for count in counts])


def correct_p_values(p: Floats, correction: Correction) -> Floats:
    """Correct p values for testing a whole family of hypotheses, so that each may be compared with α. A p that is nan
    counts in the family, and stays nan. `holm` (1979) and `bonferroni` bound the family-wise error rate, `bh`
    (Benjamini & Hochberg 1995) the false discovery rate; `none` leaves p as it is."""
    count, blank = len(p), np.isnan(p)
    if correction == "bonferroni":
        return np.minimum(p * count, 1)
    p = np.where(blank, 1, p)
    corrected = p.copy()
    if correction == "holm":
        order = np.argsort(p, kind="stable")
        corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(count, 0, -1)), 1)
    elif correction == "bh":
        order = np.argsort(-p, kind="stable")
        corrected[order] = np.minimum(np.minimum.accumulate(p[order] * (count / np.arange(count, 0, -1))), 1)
    return np.where(blank, np.nan, corrected)


def effect_size(differences: Floats) -> Floats:
    """Return the standardized mean difference of each pair (Cohen's d for paired data): mean / sample deviation. 0 if
    no topic differs, infinite if all differ alike. Sakai, SIGIR Forum 2014."""
    mean = differences.mean(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect: Floats = mean / deviations(differences)
    return np.where(mean == 0, 0.0, effect)


def deviations(differences: Floats) -> Floats:
    """Return the sample deviation of each pair's differences; 0 for a single topic, and if all differ alike."""
    if differences.shape[1] < 2:
        return np.zeros(len(differences))
    deviation = differences.std(1, ddof=1)
    return np.where(deviation <= TOLERANCE * np.abs(differences.mean(1)), 0.0, deviation)


def p_value(p: float) -> str:
    """Format a p value for people: four digits, or that it is smaller."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def describe_test(test: Test, topics: int, draws: int, seed: int, runs: int = 2) -> str:
    """Describe the test and its random draws, for the line under a table."""
    if uses_draws(test, topics, draws, runs):
        return f"{test}, {draws} draws, seed {seed}"
    return f"{test}, all permutations" if test in RANDOMIZED else test


def uses_draws(test: Test, topics: int, draws: int, runs: int) -> bool:
    """Return whether a test uses random draws; with few topics all permutations are listed."""
    labels = runs if test == "tukey-hsd" else 2
    return test == "bootstrap" or (test in RANDOMIZED and not is_exact(topics, draws, labels))


def min_p(test: Test, topics: int, draws: int, runs: int = 2) -> float:
    """Return the smallest p value that a test can give, of `runs` for tukey-hsd; 0 if no bound is known."""
    if topics < 2:
        return 1.0
    if uses_draws(test, topics, draws, runs):
        return min(1.0, (2 if test == "bootstrap" else 1) / (1 + draws))
    labels = runs if test == "tukey-hsd" else 2
    # The difference turns round as often as all topics can be relabelled alike.
    return float(math.factorial(labels) ** (1 - topics)) if test in (*RANDOMIZED, "sign") else 0.0


def explain_unattainable(
    level: float, p: float, test: Test, topics: int, draws: int, count: int, correction: Correction, runs: int = 2
) -> tuple[str, str] | None:
    """Explain that no p value can reach the level, and suggest a cure; None if one can.

    p      the smallest by `min_p`, after correction
    count  number of p values that the correction is over
    """
    if p <= level:
        return None
    minimum = min_p(test, topics, draws, runs)
    random = uses_draws(test, topics, draws, runs)
    by = f"{draws} draws" if random else f"{topics} {plural(topics, 'topic')}"
    factor = count if correction in ("holm", "bonferroni") else 1  # bh corrects nothing where all p are as small
    family = f" ({p:.4g} after {correction} over {count})" if factor > 1 else ""
    problem = f"with {by} the smallest possible p is {minimum:.2g}{family}, so nothing is significant at {level:g}"
    smallest = 2 if test == "bootstrap" else 1  # of 1 + draws
    needed = math.ceil(min(smallest * factor / level, MOST_DRAWS + 1)) - 1
    needed += min_p(test, topics, needed, runs) * factor > level  # the last bit of a product
    enough = random and needed <= MOST_DRAWS and min_p(test, topics, needed, runs) * factor <= level
    cure = f"use {flag.draws:{needed}} or more" if enough else "use more topics"
    return problem, f"{cure}, or {flag.test:t}" if topics > 1 else cure


@dataclass(frozen=True)
class TestSettings:
    """The settings of tests of differences: see `compare`. Raises InputError (usage) for invalid or conflicting
    values."""

    test: Test = "randomization"
    correction: Correction | None = None
    draws: int = 10_000
    alpha: float = 0.05
    seed: int = 0
    rope: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.test, TESTS, flag.test)
        if self.correction is not None:
            check_choice(self.correction, CORRECTIONS, flag.correction)
        ranges.DRAWS.check_field(self, "draws")
        ranges.ALPHA.check_field(self, "alpha")
        ranges.SEED.check_field(self, "seed")
        ranges.ROPE.check_field(self, "rope")
        if self.test in SIMULTANEOUS and self.correction not in (None, "none"):
            hint = f"leave out {flag.correction}, or choose another test"
            raise InputError(flag.correction, f"{self.test} {SIMULTANEOUS[self.test]}", hint, usage=True)
        if self.rope is not None and self.test != "bayes":
            problem = f"the test {self.test} has no region of practical equivalence"
            raise InputError(flag.rope, problem, f"add {flag.test:bayes}", usage=True)

    @property
    def correction_applied(self) -> Correction:
        """The correction; by default Holm's, for tests that take one."""
        return self.correction or ("none" if self.test in SIMULTANEOUS else "holm")

    @property
    def level(self) -> str:
        """The level of intervals, in percent."""
        return confidence_level(self.alpha)

    @property
    def rope_applied(self) -> float:
        """Half the width of the region of practical equivalence."""
        return ROPE if self.rope is None else self.rope

    def corrects(self, pairs: int) -> bool:
        """Return whether p is corrected for that many pairs; intervals are not, for they are of each pair alone."""
        return self.correction_applied != "none" and pairs > 1

    def describe(self, paired: Paired, pairs: int) -> str:
        """Describe the test and its correction, for the line under a table."""
        if self.test == "anova":
            return "anova: two-way, runs × topics; Tukey's HSD over all pairs"
        if self.test == "bayes":
            return f"bayes: t posterior, region of practical equivalence ±{self.rope_applied:g}"
        test = describe_test(self.test, len(paired.topics), self.draws, self.seed, len(paired.runs))
        return (
            f"{test} | {self.correction_applied} over {pairs} pairs of each measure" if self.corrects(pairs) else test
        )


# Pairs of runs tested, with the interval that belongs to the test: of all differences that it does not reject.


def with_interval(differences: Floats, test: Test, draws: int, seed: int, alpha: float) -> TestResult:
    """Return p of each pair as by `p_values`, and the ends of its interval at level 1 − alpha.

    The interval has all δ for which the same test of differences − δ has a p above alpha. It is of the mean difference,
    for wilcoxon of the pseudo-median, and for sign of the median. For bootstrap the interval comes first, and p is the
    smallest level at which 0 is left out. An end is infinite if no difference is rejected to that side.

    differences  pairs × topics
    """
    if test == "bootstrap":
        p, low, high = studentized_test(differences, draws, seed, alpha)
        if differences.shape[1] < 2:
            low, high = np.full(len(p), -np.inf), np.full(len(p), np.inf)
        return reconcile(np.where(no_variance(differences), np.nan, p), low, high, differences, alpha)
    if test == "randomization":
        return reconcile(*randomization_test(differences, draws, seed, alpha), differences, alpha)
    p = p_values(differences, test, draws, seed)
    low, high = {"t": _t_interval, "wilcoxon": signed_rank_interval, "sign": _sign_interval}[test](differences, alpha)
    return reconcile(p, low, high, differences, alpha)


def reconcile(p: Floats, low: Floats, high: Floats, differences: Floats, alpha: float) -> TestResult:
    """Return p and the interval, with 0 inside exactly if p is above alpha. The last bits may differ; and Wilcoxon's
    test and the sign test drop zeros, so that they may reject 0 and no difference beside it, or the other way round.
    Then 0 is an end: an open one, on the side of the mean, if p is at most alpha. Without p there is no interval, and
    if no topic differs it is 0 to 0."""
    low, high = (np.where(np.abs(end) <= TOLERANCE, 0.0, end) for end in (low, high))
    cut, mean = (p <= alpha) & (low < 0) & (high > 0), differences.mean(1)
    above = np.where(mean == 0, high > -low, mean > 0)
    low = np.where(p > alpha, np.minimum(low, 0), np.where(cut & above, 0, low))
    high = np.where(p > alpha, np.maximum(high, 0), np.where(cut & ~above, 0, high))
    differ = differences.any(1)
    low, high = (np.where(np.isnan(p), np.nan, np.where(differ, end, 0)) for end in (low, high))
    return p, low, high


def _t_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    mean, topics = differences.mean(1), differences.shape[1]
    error = standard_error(differences) if topics > 1 else np.full(len(mean), np.inf)
    margin = scipy_stats().t.isf(alpha / 2, max(1, topics - 1)) * error
    return mean - margin, mean + margin


def _sign_interval(differences: Floats, alpha: float) -> tuple[Floats, Floats]:
    pairs, topics = differences.shape
    tail = scipy_stats().binom.cdf(np.arange(topics // 2 + 1), topics, 0.5)
    rank = int(np.argmax(2 * tail > alpha))
    if rank == 0:
        return np.full(pairs, -np.inf), np.full(pairs, np.inf)
    ordered = np.sort(differences, axis=1)
    return ordered[:, rank - 1], ordered[:, topics - rank]


# Two-way analysis of variance over runs × topics, and Tukey's honestly significant difference of all pairs of runs.


SOURCES = ("runs", "topics", "residual")


@dataclass(frozen=True, eq=False, repr=False)
class TwoWay:
    """Sums of squares and degrees of freedom of SOURCES: score = mean + effect of run + effect of topic + residual."""

    squares: Floats
    df: tuple[int, int, int]

    @classmethod
    def of(cls, score: Floats) -> TwoWay:
        """Build from scores, runs × topics, each at least two."""
        runs, topics = score.shape
        mean = score.mean()
        of_runs, of_topics = score.mean(1) - mean, score.mean(0) - mean
        residual = score - mean - of_runs[:, None] - of_topics
        # If runs or topics are alike, only the last bits differ.
        bits = TOLERANCE * np.abs(score).max()
        sums = [(np.where(np.abs(effect) <= bits, 0, effect) ** 2).sum() for effect in (of_runs, of_topics, residual)]
        squares: Floats = np.array(sums) * (topics, runs, 1)
        return cls(squares, (runs - 1, topics - 1, (runs - 1) * (topics - 1)))

    @property
    def mean_squares(self) -> Floats:
        """The mean squares; for the residual, the variance of a score that neither its run nor its topic explains."""
        return np.asarray(self.squares / self.df)


@takes_options("reading")
@public
@shares_work
def anova(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> ScoredFrame:
    """Compute a two-way analysis of variance of the scores of each measure: runs × topics, without replication. Scores
    of geometric means enter as logarithms.

    runs            as for `gradedeval.evaluate`; or, without `qrels`, its result or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed

    Each measure uses the topics that all runs have. Returns a `ScoredFrame`; the columns of its `.frame` are measure,
    source (runs, topics, residual), squares (sum of), df, mean_square, f, p. f and p are blank for the residual, and if
    it is 0. F of the runs is the same for random topic effects, as in a mixed model. Raises InputError (usage) for
    fewer than two runs, and InputError if a measure has a single topic. Fisher 1925; Tague-Sutcliffe & Blustein,
    TREC-3, 1995.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> table = gradedeval.anova(runs, "qrels_samples/rivers.qrels", "err@20").frame
    >>> table[["source", "df", "f"]].round(2)
         source  df      f
    0      runs   1  73.81
    1    topics  49   1.83
    2  residual  49    NaN
    """
    matrix = comparable_matrix(score_matrix.scores_to_compare(runs, qrels, measures, like, keywords))
    require_two_runs("an analysis of variance", len(require_single_runs("a two-way analysis of variance", matrix).runs))
    stats, rows = scipy_stats(), []
    for measure in matrix.comparable_measures():
        two_way = TwoWay.of(score_matrix.shared_topics(matrix, measure).values)
        error = two_way.mean_squares[2]
        for source, squares, df, square in zip(SOURCES, two_way.squares, two_way.df, two_way.mean_squares, strict=True):
            unknown = source == "residual" or (square and not error)
            f = np.nan if unknown else square / error if square else 0.0
            p = stats.f.sf(f, df, two_way.df[2])
            rows.append((measure, source, squares, df, square, f, p))
    frame = to_frame(rows, columns=["measure", "source", "squares", "df", "mean_square", "f", "p"])
    return ScoredFrame(frame, matrix)


def tukey(score: Floats, differences: Floats, alpha: float) -> tuple[Floats, float]:
    """Return p of differences of means by Tukey's HSD after a two-way analysis of variance, and half their intervals'
    width.

    The intervals are at level 1 − alpha. Both hold for all pairs of runs together. For two runs it is the paired t
    test. If the runs differ by the same on all topics there is no variance, and p is nan. Tukey 1953; Carterette, TOIS
    2012, section 3.

    score        runs × topics
    differences  of the means of two runs
    """
    two_way = TwoWay.of(score)
    error = math.sqrt(two_way.mean_squares[2] / score.shape[1])  # of the mean of a run
    sizes = np.abs(differences)
    if error == 0:
        return np.where(sizes > 0, np.nan, 1.0), 0.0
    tail = studentized_range(len(score), two_way.df[2])
    from scipy.optimize import brentq  # which is there if scipy.stats is

    far = 1.0
    while tail(np.array([far]))[0] > alpha:
        far *= 2
    quantile = brentq(lambda q: tail(np.array([q]))[0] - alpha, 0, far)
    return tail(sizes / error), float(quantile * error)


def studentized_range(runs: int, df: int) -> Callable[[Floats], Floats]:
    """Return the function q → P(range of `runs` means / their standard error, with df degrees of freedom, > q).
    scipy.stats.studentized_range takes 20 ms for each q; this is the same double integral by the trapezoidal rule, with
    an error that falls exponentially if an integrand dies away at both ends."""
    scipy_stats()
    from scipy.interpolate import CubicSpline
    from scipy.special import ndtr

    # The highest of the runs lies at z, all others within the range below it.
    z, ranges = np.linspace(-9, 9, 200), np.linspace(0, 18, 4001)
    density = runs * np.exp(-(z**2) / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    within = CubicSpline(ranges, (ndtr(z) - ndtr(z - ranges[:, None])) ** (runs - 1) @ density)
    # Over the logarithm of s / σ, whose density falls like exp(−df·u²) near 0 and like exp(df·u) far to the left.
    reach = math.sqrt(40 / df)
    u = np.linspace(-reach * (1 + reach), reach, 256)
    weight = np.exp(df * (u + 0.5 - np.exp(2 * u) / 2))
    weight /= weight.sum()

    def tail(quantiles: Floats) -> Floats:
        above = np.empty(len(quantiles))
        for chunk in chunks(len(quantiles), len(u)):
            above[chunk] = (1 - within(np.minimum(quantiles[chunk, None] * np.exp(u), ranges[-1]))) @ weight
        return np.clip(above, 0, 1)

    return tail


# Pairs of runs by one measure, by any of these tests.


def run_joint_test(paired: Paired, difference: Floats, settings: TestSettings) -> tuple[Floats, float]:
    """Return p of each pair by a test of all pairs together, and half the width of their intervals."""
    if settings.test == "anova":
        return tukey(paired.values, difference, settings.alpha)
    return tukey_hsd(paired.values, difference, settings.draws, settings.seed, settings.alpha)


def run_test(paired: Paired, differences: Floats, settings: TestSettings) -> TestResult:
    """Return p of each pair, and the interval of its mean difference of values, pairs × topics."""
    test, draws, seed, alpha = settings.test, settings.draws, settings.seed, settings.alpha
    if test not in SIMULTANEOUS:
        return with_interval(differences, test, draws, seed, alpha)
    difference = differences.mean(1)
    p, margin = run_joint_test(paired, difference, settings)
    return reconcile(p, difference - margin, difference + margin, differences, alpha)


def pair_p_values(paired: Paired, differences: Floats, settings: TestSettings) -> dict[str, Floats]:
    """Return p of each pair, and p corrected for all of them."""
    if settings.test in SIMULTANEOUS:
        p = run_joint_test(paired, differences.mean(1), settings)[0]
    else:
        p = p_values(differences, settings.test, settings.draws, settings.seed)
    return {"p": p, "p_corrected": correct_p_values(p, settings.correction_applied)}


def unattainable_notes(
    measures: list[Paired], pairs: int, settings: TestSettings, *, fixed_draws: bool = False
) -> list[str]:
    """Return a note on measures by which no difference could be significant, with too few draws or `fixed_draws`."""
    causes: dict[tuple[str, str], list[str]] = {}
    for paired in measures:
        topics, runs = len(paired.topics), len(paired.runs)
        if not uses_draws(settings.test, topics, settings.draws, runs):
            continue
        smallest = np.full(pairs, min_p(settings.test, topics, settings.draws, runs))
        p = float(correct_p_values(smallest, settings.correction_applied)[0])
        cause = explain_unattainable(
            settings.alpha, p, settings.test, topics, settings.draws, pairs, settings.correction_applied, runs
        )
        if cause:
            causes.setdefault(cause, []).append(paired.measure)
    cure = f"use {flag.test:t}" if fixed_draws else ""
    return [Note(f"{', '.join(names)}: {problem}", cure or hint) for (problem, hint), names in causes.items()]


def significant_differences(paired: Paired, settings: TestSettings) -> Bools:
    """Return whether the difference of each two runs is significant, runs × runs, with p corrected over all pairs. A
    pair without p, whose difference is the same on all topics, counts as not different; a note says so."""
    runs = len(paired.runs)
    first, second = run_pairs(runs)
    differences = score_matrix.topic_differences(paired.values, first, second)
    p = pair_p_values(paired, differences, settings)["p_corrected"]
    differ = np.zeros((runs, runs), dtype=bool)
    differ[first, second] = differ[second, first] = p <= settings.alpha  # nan is not
    alike = int((np.isnan(p) & differences.any(1)).sum())
    if alike:
        problem = f"{settings.test} has no p for {alike} {plural(alike, 'pair')} with the same difference on all topics"
        emit_notes([Note(f"{paired.measure}: {problem}, which counts as none", f"use {flag.test:randomization}")])
    return differ
