"""p values, their correction and effect sizes of paired differences, for many pairs of runs at once."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from gradedeval.analysis import significance
from gradedeval.analysis.bayes import ROPE
from gradedeval.analysis.resampling import is_exact, randomization
from gradedeval.analysis.score_matrix import Paired
from gradedeval.analysis.signed_ranks import signed_rank_p
from gradedeval.arrays import TOLERANCE, Bools, Floats
from gradedeval.errors import InputError, check_choice, plural
from gradedeval.options import numbers
from gradedeval.options.numbers import MOST_DRAWS
from gradedeval.parallel.progress import Progress, no_progress
from gradedeval.scoring.bootstrap import studentized_test

if TYPE_CHECKING:
    pass

Test = Literal["randomization", "bootstrap", "t", "wilcoxon", "sign", "tukey-hsd", "anova", "bayes"]
Correction = Literal["holm", "bonferroni", "bh", "none"]
TESTS: tuple[str, ...] = get_args(Test)
NOT_BY_PAIR = {
    "tukey-hsd": "already corrects for all pairs",
    "anova": "already corrects for all pairs, by Tukey's HSD",
    "bayes": "gives posterior probabilities, which need no correction",
}
"""Tests that do not give a p for each pair by itself, and why theirs is not corrected."""
PAIR_TESTS: tuple[str, ...] = tuple(test for test in TESTS if test not in NOT_BY_PAIR)
CORRECTIONS: tuple[str, ...] = get_args(Correction)
RANDOMIZED = ("randomization", "tukey-hsd")
DIVIDE_BY_DEVIATION = ("bootstrap", "t")


def scipy_stats() -> Any:
    """scipy.stats, which takes longer to import than most commands take. Raises InputError (usage) where it is missing
    though every installation has it."""
    try:
        from scipy import stats
    except ImportError:
        raise InputError("", "scipy is not installed", "pip install scipy", usage=True) from None
    return stats


def p_values(differences: Floats, test: Test, draws: int, seed: int, progress: Progress = no_progress) -> Floats:
    """Two-sided p value of each pair of runs; 1 where no topic differs, nan where a test has none: see `no_variance`.

    differences  pairs × topics
    test         `randomization`, `bootstrap` (studentized), `t` (Student 1908), `wilcoxon` (1945; zeros left out) or
                 `sign` (ties left out)
    """
    same = ~differences.any(1)
    p = np.ones(len(differences))
    others = differences[~same]
    if test == "randomization":
        p[~same] = randomization(others, draws, seed, progress)
    elif test == "bootstrap":
        p[~same] = studentized_test(others, draws, seed, 0.5, progress)[0]
    else:
        p[~same] = {"t": _t_test, "wilcoxon": signed_rank_p, "sign": _sign}[test](others)
    if test in DIVIDE_BY_DEVIATION:
        p[no_variance(differences)] = np.nan
    return p


def no_variance(differences: Floats) -> Bools:
    """Where two topics or more differ, and all alike: what is divided by the deviation has no value there."""
    found: Bools = (deviations(differences) == 0) & differences.any(1) & (differences.shape[1] > 1)
    return found


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
    """p values corrected for testing a whole family of hypotheses, so that each may be compared with α. One that is nan
    counts in the family, and stays nan.

    `holm` (1979) and `bonferroni` bound the family-wise error rate, `bh` (Benjamini & Hochberg 1995) the false
    discovery rate; `none` leaves p as it is.
    """
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
    """Standardized mean difference of each pair (Cohen's d for paired data): mean / sample deviation of differences.

    0 where no topic differs, infinite where all differ alike. Sakai, SIGIR Forum 2014.
    """
    mean = differences.mean(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect: Floats = mean / deviations(differences)
    return np.where(mean == 0, 0.0, effect)


def deviations(differences: Floats) -> Floats:
    """The sample deviation of each pair's differences; 0 for a single topic, and where all differ alike."""
    if differences.shape[1] < 2:
        return np.zeros(len(differences))
    deviation = differences.std(1, ddof=1)
    return np.where(deviation <= TOLERANCE * np.abs(differences.mean(1)), 0.0, deviation)


def p_value(p: float) -> str:
    """A p value for people: four digits, or that it is smaller."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def describe_test(test: Test, topics: int, draws: int, seed: int, runs: int = 2) -> str:
    """The test and its random draws in words, for the line under a table."""
    if uses_draws(test, topics, draws, runs):
        return f"{test}, {draws} draws, seed {seed}"
    return f"{test}, all permutations" if test in RANDOMIZED else test


def uses_draws(test: Test, topics: int, draws: int, runs: int = 2) -> bool:
    """Whether a test uses random draws; with few topics all permutations are listed."""
    return test == "bootstrap" or (
        test in RANDOMIZED and not is_exact(topics, draws, runs if test == "tukey-hsd" else 2)
    )


def min_p(test: Test, topics: int, draws: int, runs: int = 2) -> float:
    """The smallest p value that a test can give; 0 where it has no bound that is known beforehand.

    runs  whose labels tukey-hsd shuffles
    """
    if topics < 2:
        return 1.0
    if uses_draws(test, topics, draws, runs):
        return min(1.0, (2 if test == "bootstrap" else 1) / (1 + draws))
    labels = runs if test == "tukey-hsd" else 2
    # The difference turns round as often as all topics can be relabelled alike.
    return float(math.factorial(labels) ** (1 - topics)) if test in (*RANDOMIZED, "sign") else 0.0


def unattainable(
    level: float, p: float, test: Test, topics: int, draws: int, count: int, correction: Correction, runs: int = 2
) -> tuple[str, str] | None:
    """Why no p value can come down to the level, and what would help; None if it can.

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
    what = f"with {by} the smallest possible p is {minimum:.2g}{family}, so nothing is significant at {level:g}"
    smallest = 2 if test == "bootstrap" else 1  # of 1 + draws
    needed = math.ceil(min(smallest * factor / level, MOST_DRAWS + 1)) - 1
    needed += min_p(test, topics, needed, runs) * factor > level  # the last bit of a product
    enough = random and needed <= MOST_DRAWS and min_p(test, topics, needed, runs) * factor <= level
    return what, (f"use --draws {needed} or more" if enough else "use more topics") + (
        ", or --test t" if topics > 1 else ""
    )


@dataclass(frozen=True)
class TestSettings:
    """How differences are tested: see `compare`. Raises InputError (usage) if a value is invalid, or two exclude each
    other."""

    test: Test = "randomization"
    correction: Correction | None = None
    draws: int = 10_000
    alpha: float = 0.05
    seed: int = 0
    rope: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.test, TESTS, "--test")
        if self.correction is not None:
            check_choice(self.correction, CORRECTIONS, "--correction")
        numbers.DRAWS.check_field(self, "draws")
        numbers.ALPHA.check_field(self, "alpha")
        numbers.SEED.check_field(self, "seed")
        numbers.ROPE.check_field(self, "rope")
        if self.test in NOT_BY_PAIR and self.correction not in (None, "none"):
            what = f"{self.test} {NOT_BY_PAIR[self.test]}"
            raise InputError("--correction", what, "leave out --correction, or choose another test", usage=True)
        if self.rope is not None and self.test != "bayes":
            what = f"the test {self.test} has no region of practical equivalence"
            raise InputError("--rope", what, "add --test bayes", usage=True)

    @property
    def correction_applied(self) -> Correction:
        """Holm's, where the test takes one."""
        return self.correction or ("none" if self.test in NOT_BY_PAIR else "holm")

    @property
    def level(self) -> str:
        """That of intervals, in percent."""
        return f"{100 * (1 - self.alpha):.10g}%"

    @property
    def rope_applied(self) -> float:
        """Half the width of the region of practical equivalence."""
        return ROPE if self.rope is None else self.rope

    def corrects(self, pairs: int) -> bool:
        """Whether p is corrected for so many pairs; intervals are not, for they are of each pair alone."""
        return self.correction_applied != "none" and pairs > 1

    def describe(self, paired: Paired, pairs: int) -> str:
        """The test and its correction in words, for the line under a table."""
        if self.test == "anova":
            return "anova: two-way, runs × topics; Tukey's HSD over all pairs"
        if self.test == "bayes":
            return f"bayes: t posterior, region of practical equivalence ±{self.rope_applied:g}"
        test = significance.describe_test(self.test, len(paired.topics), self.draws, self.seed, len(paired.runs))
        return (
            f"{test} | {self.correction_applied} over {pairs} pairs of each measure" if self.corrects(pairs) else test
        )
