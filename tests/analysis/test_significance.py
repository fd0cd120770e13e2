"""p values, corrections, intervals and levels: by hand, against scipy's own tests, and against loops over draws."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray
from scipy import stats

from gradedeval import arrays
from gradedeval.analysis.significance import (
    PAIR_TESTS,
    correct_p_values,
    describe_test,
    effect_size,
    nth_smallest,
    p_values,
    randomization_test,
    sign_flips,
    studentized,
    tukey_hsd,
)
from gradedeval.analysis.significance import TestSettings as Settings
from gradedeval.arrays import chunks
from gradedeval.errors import InputError
from gradedeval.kernel.scoring.intervals import studentized_interval, topic_weights
from support.examples import sampled

Floats = NDArray[np.float64]


def randomization(differences: Floats, draws: int, seed: int) -> Floats:
    return p_values(differences, "randomization", draws, seed)


def draw_differences(pairs: int, topics: int, seed: int = 1, digits: int = 12) -> Floats:
    """Return pairs × topics differences, some of them 0 or tied if `digits` are few."""
    return np.random.default_rng(seed).normal(0.05, 0.2, (pairs, topics)).round(digits)


# Sign flips and permutations


EIGHT = (0.31, -0.04, 0.22, 0.1, 0.05, -0.17, 0.4, 0.0)


def test_eight_topics_are_tested_by_all_permutations_exactly() -> None:
    observed = abs(sum(EIGHT))
    flipped = [
        abs(sum(s * d for s, d in zip(signs, EIGHT, strict=True))) for signs in itertools.product((1, -1), repeat=8)
    ]
    by_hand = sum(value >= observed - 1e-12 for value in flipped) / 256
    assert randomization(np.array([EIGHT]), 10_000, 0)[0] == by_hand
    theirs = stats.permutation_test((np.array(EIGHT), np.zeros(8)), lambda a, b, axis: (a - b).mean(axis),
                                    permutation_type="samples", vectorized=True, n_resamples=np.inf)  # fmt: skip
    assert by_hand == theirs.pvalue


def test_sums_equal_up_to_their_last_bits_are_equally_extreme() -> None:
    # 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1 in floating point.
    assert randomization(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]), 100, 0).tolist() == [0.25, 0.25]


def test_all_sign_flips_are_listed_once() -> None:
    flips = sign_flips(5, 32, 0)
    assert len({tuple(row) for row in flips.tolist()}) == 32
    assert set(flips.ravel().tolist()) == {-1.0, 1.0}
    assert sign_flips(5, 31, 0).shape == (31, 5)


def test_random_flips_count_the_observed_one_too() -> None:
    differences = draw_differences(3, 40)
    flips = sign_flips(40, 999, 7)
    naive = [
        (1 + sum(abs((flip * row).sum()) >= abs(row.sum()) - 1e-12 for flip in flips)) / 1000 for row in differences
    ]
    assert randomization(differences, 999, 7) == pytest.approx(naive, abs=1e-12)
    assert randomization(np.ones((1, 40)), 999, 7)[0] == 1 / 1000


def test_a_seed_determines_the_result() -> None:
    differences = draw_differences(4, 40)
    assert (randomization(differences, 500, 1) == randomization(differences, 500, 1)).all()
    assert (randomization(differences, 500, 1) != randomization(differences, 500, 2)).any()


def test_a_pair_does_not_depend_on_the_pairs_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = draw_differences(30, 40)
    functions: list[Callable[[Floats], Floats]] = [
        lambda rows: randomization(rows, 300, 1),
        lambda rows: np.array(randomization_test(rows, 300, 1, 0.05)[1:]).T,
        lambda rows: np.array(studentized_interval(rows, 300, 1, 0.05)).T,
        lambda rows: np.array(studentized(rows, 300, 1, 0.05)).T,
    ]
    together = [function(differences) for function in functions]
    monkeypatch.setattr(arrays, "CELLS", 1000)  # so few that every pair is a piece of its own
    assert len(chunks(30, 300)) == 10
    for function, whole in zip(functions, together, strict=True):
        assert function(differences) == pytest.approx(whole, abs=1e-12)
        assert np.concatenate([function(row[None]) for row in differences]) == pytest.approx(whole, abs=1e-12)


# Tukey


def test_two_runs_have_the_same_p_by_tukey_s_range_as_by_sign_flips() -> None:
    first, second = draw_differences(2, 8)
    p, _ = tukey_hsd(np.array([first, second]), np.array([(second - first).mean()]), 10_000, 0, 0.05)
    assert p == pytest.approx(randomization((second - first)[None], 10_000, 0), abs=1e-15)


def test_three_runs_on_three_topics_by_all_216_permutations() -> None:
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.6, 0.1], [0.2, 0.3, 0.4]])
    ranges = []
    for orders in itertools.product(itertools.permutations(range(3)), repeat=3):
        means = [sum(scores[orders[topic][run], topic] for topic in range(3)) / 3 for run in range(3)]
        ranges.append(max(means) - min(means))
    difference = scores[0].mean() - scores[2].mean()
    by_hand = sum(value >= difference - 1e-12 for value in ranges) / 216
    p, margin = tukey_hsd(scores, np.array([difference]), 216, 0, 0.05)
    assert p[0] == by_hand == pytest.approx(36 / 216)
    assert margin == pytest.approx(sorted(ranges)[-11])  # with 11 of 216 as far p is above 0.05


def test_random_permutations_of_labels_approximate_all_permutations() -> None:
    scores = draw_differences(3, 4)
    differences = np.array([0.01, 0.05, 0.1, 0.2])
    (exact, margin), (drawn_, drawn_margin) = (tukey_hsd(scores, differences, draws, 0, 0.05) for draws in (1296, 1295))
    assert np.abs(exact - drawn_).max() < 0.05
    assert margin == pytest.approx(drawn_margin, rel=0.1)


# scipy's tests


# Of 13 topics or fewer with ties scipy lists all 2^n sign flips, which takes a second a pair at 12.
TIED = pytest.param(12, marks=pytest.mark.exhaustive)
COUNTS_TIES = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15), reason="scipy counts ties in another way before 1.15"
)


@pytest.mark.one_in(6)
@COUNTS_TIES
@pytest.mark.parametrize(
    ("topics", "digits"),
    [(7, 1), pytest.param(12, 1, marks=pytest.mark.exhaustive), (30, 12), (30, 1), (60, 12), (60, 1)],
)
def test_wilcoxon_is_scipy_s_of_each_pair_on_its_own(topics: int, digits: int) -> None:
    pairs = 4 if topics == 12 else 12
    differences = draw_differences(pairs, topics, digits=digits)
    theirs = [stats.wilcoxon(row).pvalue for row in differences]
    assert p_values(differences, "wilcoxon", 1, 0) == pytest.approx(theirs, rel=1e-12)
    mixed = np.concatenate([differences, draw_differences(3, topics, 9)])
    assert p_values(mixed, "wilcoxon", 1, 0)[:pairs] == pytest.approx(theirs, rel=1e-12)


@pytest.mark.one_in(2)
@COUNTS_TIES
@pytest.mark.parametrize("denominator", sampled([10, 3, 7, 1024], 4))
@pytest.mark.parametrize("topics", [7, TIED, 60])
def test_wilcoxon_ties_differences_equal_up_to_their_last_bits(topics: int, denominator: int) -> None:
    # 0.3 − 0.2 is not 0.2 − 0.1 in floating point; whole numbers of hits have exact differences.
    pairs = 4 if topics == 12 else 12
    hits = np.random.default_rng(3).integers(0, denominator + 1, (2, pairs, topics))
    theirs = [stats.wilcoxon(row).pvalue for row in hits[0] - hits[1]]
    noisy = hits[0] / denominator - hits[1] / denominator
    assert p_values(noisy, "wilcoxon", 1, 0) == pytest.approx(theirs, rel=1e-12)


def test_sign_is_scipy_s_binomial_test_without_the_ties() -> None:
    differences = draw_differences(20, 25, digits=1)
    theirs = [stats.binomtest(int((row > 0).sum()), int((row != 0).sum())).pvalue for row in differences]
    assert p_values(differences, "sign", 1, 0) == pytest.approx(theirs, rel=1e-12)
    assert p_values(np.array([[1.0, 1, 1, 0]]), "sign", 1, 0)[0] == 0.25  # 2 · 1/2^3


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_equal_differences_have_no_p_in_tests_that_divide_by_the_deviation(test: Any) -> None:
    # 0.3 − 0.1 is not 0.5 − 0.3 in floating point.
    alike = np.array([[0.5] * 10, [0.3 - 0.1, 0.5 - 0.3] * 5, [0.5] * 9 + [0.4], [0.0] * 10])
    assert np.isnan(p_values(alike, test, 99, 0)).tolist() == [True, True, False, False]


def test_p_of_one_topic_is_1() -> None:
    for test in PAIR_TESTS:
        assert p_values(np.array([[0.5]]), test, 100, 0)[0] == 1  # type: ignore[arg-type]


# Corrections and effects


def test_corrections_by_hand() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.5])
    assert correct_p_values(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 1])
    assert correct_p_values(p, "holm") == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert correct_p_values(p, "bh") == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert correct_p_values(p, "none").tolist() == p.tolist()


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", "none"])
def test_a_pair_without_p_counts_in_the_family_and_stays_without(correction: Any) -> None:
    corrected = correct_p_values(np.array([0.01, np.nan, 0.03]), correction)
    assert corrected.tolist()[::2] == correct_p_values(np.array([0.01, 1, 0.03]), correction).tolist()[::2]
    assert np.isnan(corrected[1])


def test_bh_is_scipy_s() -> None:
    p = np.random.default_rng(1).uniform(size=200)
    assert correct_p_values(p, "bh") == pytest.approx(stats.false_discovery_control(p), rel=1e-12)


def test_effect_sizes_by_hand() -> None:
    # Mean 2 and sample deviation 2; no differences; equal differences.
    effects = effect_size(np.array([[0.0, 2, 4], [0, 0, 0], [0.3, 0.3, 0.3]]))
    assert effects.tolist() == [1, 0, np.inf]
    assert effect_size(np.array([[0.5]]))[0] == np.inf


def test_signs_drawn_in_parts_equal_signs_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.arrays.CELLS", 100)
    bits = np.random.default_rng(4).integers(0, 2, (50, 31))
    assert sign_flips(31, 50, 4).tolist() == (1 - 2 * bits).tolist()


# The bootstrap


def test_the_level_is_sakai_s_algorithm_in_a_loop() -> None:
    differences = draw_differences(5, 20)
    counts = (topic_weights(20, 300, 2) * 20).round().astype(int)  # which all pairs share
    samples = [np.repeat(np.arange(20), row) for row in counts]
    level, needed = studentized(differences, 300, 2, 0.05)

    def t(sample: Floats) -> float:
        return float(sample.mean() / (sample.std(ddof=1) / np.sqrt(len(sample))))

    for pair, row in enumerate(differences):
        shifted = row - row.mean()
        drawn_t = np.array([t(shifted[sample]) for sample in samples])
        assert level[pair] == (np.abs(drawn_t) >= abs(t(row))).mean()
        fifteenth = np.argsort(-np.abs(drawn_t))[14]
        assert needed[pair] == pytest.approx(abs(shifted[samples[fifteenth]].mean()), abs=1e-12)


def test_equal_runs_have_level_1_and_constant_differences_level_0() -> None:
    level, _ = studentized(np.array([np.zeros(10), np.full(10, 0.3)]), 200, 0, 0.05)
    assert level.tolist() == [1, 0]


def test_levels_of_a_true_null_hypothesis_are_uniform_or_nearly() -> None:
    level, _ = studentized(np.random.default_rng(4).normal(0, 1, (400, 30)), 500, 0, 0.05)
    assert 0.02 < (level < 0.05).mean() < 0.09
    assert 0.4 < (level < 0.5).mean() < 0.6


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "ttest"}, "test: invalid value 'ttest'"),
        ({"correction": "holmes"}, "correction: invalid value 'holmes'; did you mean 'holm'?"),
        ({"draws": 0}, "draws: 0 is too small; it must be at least 1"),
        ({"alpha": 1}, "alpha: 1 is too large; it must be below 1"),
        ({"seed": -1}, "seed: -1 is too small; it must be at least 0"),
        ({"test": "tukey-hsd", "correction": "bh"}, "correction: tukey-hsd already corrects for all pairs"),
    ],
)
def test_settings_that_make_no_sense_are_a_fault_of_usage(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match="^" + message.replace("?", r"\?")) as caught:
        Settings(**settings)  # type: ignore[arg-type]
    assert caught.value.usage


def test_a_description_has_the_draws_and_the_seed() -> None:
    assert describe_test("t", 50, 10_000, 0) == "t"
    assert describe_test("randomization", 50, 10_000, 3) == "randomization, 10000 draws, seed 3"
    assert describe_test("bootstrap", 8, 10_000, 3) == "bootstrap, 10000 draws, seed 3"
    assert describe_test("randomization", 8, 10_000, 3) == "randomization, all permutations"
    assert describe_test("tukey-hsd", 8, 10_000, 3, runs=3) == "tukey-hsd, 10000 draws, seed 3"
    assert describe_test("tukey-hsd", 5, 10_000, 3, runs=3) == "tukey-hsd, all permutations"


@pytest.mark.parametrize("is_falling", [False, True])
def test_the_nth_smallest_value_is_that_of_the_sorted_ones(is_falling: bool) -> None:
    values = np.random.default_rng(5).integers(-400, 400, (4, 3000)).astype(np.float64)
    values[1, ::2] = -np.inf
    values = np.sort(values)[:, ::-1].copy() if is_falling else values
    for nth in (0, 1, 74, 150, 700, 2999):
        assert (nth_smallest(values, nth) == np.sort(values)[:, nth]).all()
