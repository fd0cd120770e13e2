"""Intervals hold the values that the test does not reject: by hand, against scipy, enumerated, and at random."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from gradedeval.analysis.significance import PAIR_TESTS, p_values, tukey_hsd, with_interval

Floats = NDArray[np.float64]
LATER = partial(pytest.param, marks=pytest.mark.exhaustive)
SHIFTED = [test for test in PAIR_TESTS if test != "bootstrap"]
"""Tests with a p at δ equal to p of the differences less δ, by the same draws."""


def outcome(differences: Any, test: Any, draws: int = 999, alpha: float = 0.05, seed: int = 0) -> tuple[Floats, ...]:
    return with_interval(np.atleast_2d(np.asarray(differences, dtype=float)), test, draws, seed, alpha)


def interval(differences: Any, test: Any, **options: Any) -> tuple[float, float]:
    _, low, high = outcome(differences, test, **options)
    return float(low[0]), float(high[0])


def contradictions(p: Floats, low: Floats, high: Floats, alpha: float) -> NDArray[np.bool_]:
    """Return the pairs with a contradiction between p and interval about 0; an end of 0 is open if p is at most
    alpha."""
    rejected = p <= alpha
    without = (low > 0) | (high < 0) | (rejected & ((low == 0) | (high == 0)))
    defined = ~np.isnan(p)
    assert (np.isnan(low) == ~defined).all()
    assert (low[defined] <= high[defined]).all()
    return defined & (rejected != without)


def draw_differences(dice: np.random.Generator, pairs: int, topics: int) -> Floats:
    """Return differences of every kind: continuous, with ties, mostly zeros, of one sign, all alike."""
    shape, kind = (pairs, topics), dice.integers(7)
    values = dice.normal(dice.choice([0, 0.3, 0.6]), 1, shape)
    return [
        values,
        values.round(0),
        values.round(1),
        np.where(dice.random(shape) < 0.2, values, 0),
        np.where(dice.random(shape) < 0.3, np.abs(values), 0),
        dice.choice([0, 0, 0, 1, 0.5, -0.5], shape),
        np.repeat(values[:, :1], topics, axis=1),
    ][kind]


# p and the interval say the same


@pytest.mark.parametrize("test", PAIR_TESTS)
@pytest.mark.parametrize("rounds", [15, LATER(1000)])
def test_p_and_the_interval_never_contradict_each_other(test: str, rounds: int) -> None:
    dice = np.random.default_rng(5)
    for _ in range(rounds):
        differences = draw_differences(dice, 8, int(dice.integers(1, 51)))
        draws, alpha = int(dice.choice([19, 99, 999])), float(dice.choice([0.01, 0.05, 0.1, 0.5]))
        result = outcome(differences, test, draws, alpha)
        assert not contradictions(*result, alpha).any(), (differences.tolist(), draws, alpha)  # type: ignore[arg-type]


@pytest.mark.parametrize("test", PAIR_TESTS)
@pytest.mark.parametrize("topics", [1, 2, 3, *map(LATER, (4, 5, 6))])
def test_no_set_of_small_differences_contradicts(test: str, topics: int) -> None:
    differences = np.array(list(itertools.product([-1, 0, 1, 2], repeat=topics)), dtype=float) / 10
    for alpha in (0.05, 0.2, 0.5):
        result = outcome(differences, test, draws=99, alpha=alpha)
        assert not contradictions(*result, alpha).any()  # type: ignore[arg-type]


@pytest.mark.parametrize("test", SHIFTED)
@pytest.mark.parametrize("rounds", [10, LATER(500)])
def test_an_interval_holds_exactly_the_shifts_that_the_test_does_not_reject(test: Any, rounds: int) -> None:
    dice = np.random.default_rng(8)
    for _ in range(rounds):
        differences = draw_differences(dice, 1, int(dice.integers(2, 51)))
        if not differences.any():
            continue
        draws, alpha = int(dice.choice([99, 999])), float(dice.choice([0.05, 0.2]))
        low, high = interval(differences, test, draws=draws, alpha=alpha)
        spread = 2 * differences.std() / math.sqrt(differences.size) + 0.001
        shifts = dice.normal(differences.mean(), spread, (41, 1))
        p = p_values(differences - shifts, test, draws, 0)
        kept = (low < shifts[:, 0]) & (shifts[:, 0] < high)
        if not math.isnan(low):
            assert ((p > alpha) == kept).all(), (differences.tolist(), draws, alpha, low, high)


# By hand


def test_randomization_by_hand() -> None:
    # (d̄ − a) / (1 − b) is the mean of the topics of sign −, (d̄ + a) / (1 + b) that of sign +. Of 64 patterns ⌊3.2⌋ + 1
    # have to be as extreme. All + and all − are so everywhere; the next two set one topic apart from the others.
    assert interval([1, 2, 4, 8, 16, 32], "randomization") == (1, 32)
    # At 0.1 they are 7. The least means are 1, 3/2 and 2, the greatest 32, 48/2 and 40/2, each twice.
    assert interval([1, 2, 4, 8, 16, 32], "randomization", alpha=0.1) == (2, 20)


def test_randomization_has_the_crossings_of_the_draws_of_its_p() -> None:
    differences = np.random.default_rng(2).normal(0.1, 1, 20).round(1)
    signs = np.random.default_rng(4).integers(0, 2, (999, 20)) * -2 + 1
    d, a, b = differences.mean(), (signs * differences).mean(1), signs.mean(1)
    negative, positive = (d - a) / (1 - b), (d + a) / (1 + b)
    lower, upper = np.sort(np.minimum(negative, positive)), np.sort(np.maximum(negative, positive))
    # p is (1 + as extreme) / 1000: 50 as extreme are above 0.05, and 49 are not.
    assert interval(differences, "randomization", seed=4) == pytest.approx((lower[49], upper[-50]))


@pytest.mark.parametrize("test", ["randomization", "wilcoxon", "sign"])
def test_five_topics_or_fewer_leave_no_end(test: str) -> None:
    for topics in (1, 2, 3, 4, 5):
        assert interval(range(1, topics + 1), test) == (-math.inf, math.inf)
    assert np.isfinite(interval(range(1, 7), test)).all()


def test_too_few_draws_leave_no_end() -> None:
    differences = np.random.default_rng(1).normal(size=30)
    assert interval(differences, "randomization", draws=18) == (-math.inf, math.inf)
    assert np.isfinite(interval(differences, "randomization", draws=19)).all()


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_t_is_scipy_s(alpha: float) -> None:
    differences = np.random.default_rng(1).normal(0.1, 1, 25)
    theirs = stats.ttest_1samp(differences, 0)
    assert outcome(differences, "t", alpha=alpha)[0] == pytest.approx(theirs.pvalue)
    assert interval(differences, "t", alpha=alpha) == pytest.approx(tuple(theirs.confidence_interval(1 - alpha)))


def test_sign_by_hand() -> None:
    # Of ten topics P(at most 1 above) = 11/1024, and P(at most 2 above) = 56/1024 is more than 0.025.
    assert interval([3, 1, 4, 1.5, 9, 2, 6, 5, 3.5, 8], "sign") == (1.5, 8)


def test_wilcoxon_by_hand() -> None:
    # Of ten topics tables give 8 as the critical value at 0.05: the ends are the 9th means of two from either side.
    differences = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    means = sorted((x + y) / 2 for x, y in itertools.combinations_with_replacement(differences, 2))
    assert interval(differences, "wilcoxon") == (means[8], means[-9])


@pytest.mark.parametrize(("topics", "digits"), [(9, 12), (20, 12), (20, 1), (60, 12), (60, 1)])
def test_scipy_s_p_crosses_the_level_at_the_ends_of_wilcoxon_s_interval(topics: int, digits: int) -> None:
    differences = np.random.default_rng(topics).normal(0.3, 1, topics).round(digits)
    low, high = interval(differences, "wilcoxon")
    outside, inside = (
        [stats.wilcoxon(differences - end).pvalue for end in (low - side, high + side)] for side in (1e-6, -1e-6)
    )
    assert max(outside) <= 0.05 < min(inside)


def test_tukey_s_interval_leaves_out_0_exactly_if_p_is_below_the_level() -> None:
    scores = np.random.default_rng(6).random((4, 9)) + np.linspace(0, 0.5, 4)[:, None]
    for difference in np.linspace(-0.6, 0.6, 49):
        p, margin = tukey_hsd(scores, np.array([difference]), 499, 3, 0.05)
        assert (p[0] <= 0.05) == (abs(difference) > margin)


def test_the_p_of_the_bootstrap_is_the_smallest_level_at_which_its_interval_leaves_out_0() -> None:
    dice = np.random.default_rng(7)
    for _ in range(30):
        differences = dice.normal(0.3, 1, int(dice.integers(6, 40)))
        p = outcome(differences, "bootstrap")[0][0]
        for alpha in {p, p - 0.002, p + 0.002} if p < 0.99 else set():
            low, high = interval(differences, "bootstrap", alpha=alpha) if alpha > 0 else (-1, 1)
            assert (low > 0 or high < 0) == (alpha >= p)
        assert round(p * 500) == pytest.approx(p * 500)  # 2 · (1 + as far) / 1000


# Zeros


def test_zeros_that_are_dropped_leave_an_open_end_at_0() -> None:
    # Without the ten zeros p is 2/1024; a shift by the least amount makes them ten against ten, or twenty against none.
    for test in ("sign", "wilcoxon"):
        differences = [0.0] * 10 + [0.1 * step for step in range(1, 11)]
        p, low, high = (float(values[0]) for values in outcome(differences, test))
        assert p <= 0.05
        assert low == 0 < high
    # Most topics are equal: the median is 0, and no other value is left.
    assert interval([0.0] * 45 + [1.0] * 3 + [-1.0] * 2, "sign") == (0, 0)


# How often


@pytest.mark.parametrize("topics", [10, *map(LATER, (25, 50))])
def test_intervals_of_differences_of_skewed_scores_cover_95_percent(topics: int) -> None:
    dice = np.random.default_rng(topics)
    values = dice.beta(0.3, 2, (2, 2000, topics))
    _, low, high = outcome(values[0] - values[1], "randomization")
    assert 0.935 < ((low <= 0) & (high >= 0)).mean() < 0.965


# The bootstrap test rejects more of these: .095.
@pytest.mark.one_in(6)
@pytest.mark.parametrize("test", SHIFTED)
def test_no_more_than_5_percent_of_true_hypotheses_are_rejected(test: str) -> None:
    dice = np.random.default_rng(9)
    differences = dice.gamma(0.5, size=(1500, 12)) * (1 - 2 * dice.integers(0, 2, (1500, 12)))
    p = outcome(differences, test, draws=4999)[0]
    assert (p <= 0.05).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1500)
