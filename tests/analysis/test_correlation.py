"""Kendall's τ, weighted τ, Pearson's r and Spearman's ρ of two lists beside scipy's."""

import warnings

import numpy as np
import pytest
from scipy import stats

from gradedeval.analysis.correlation import kendall_tau, mean_ranks, pearson_with, spearman_with, weighted_tau


@pytest.mark.parametrize("values", [2, 3, 5, 20, 10**9])
def test_tau_and_weighted_tau_are_those_of_scipy(values: int) -> None:
    draw, compared = np.random.default_rng(values), 0
    for size in [*range(2, 40), 100, 1500]:
        one = draw.integers(0, values, size) / 3
        other = np.where(draw.random(size) < 0.5, one, draw.integers(0, values, size) / 7)
        if np.ptp(one) == 0 or np.ptp(other) == 0:
            continue
        compared += 1
        assert kendall_tau(one, other) == pytest.approx(stats.kendalltau(one, other).statistic, abs=1e-14)
        expected = stats.weightedtau(one, other, rank=True, additive=True).statistic
        assert weighted_tau(one, other) == pytest.approx(expected, abs=1e-14)
    assert compared > 30


def test_opposite_lists_and_a_single_exchange() -> None:
    rising = np.arange(9.0)
    assert [kendall_tau(rising, rising), kendall_tau(rising, -rising)] == [1, -1]
    assert [weighted_tau(rising, rising), weighted_tau(rising, -rising)] == [1, -1]
    first, last = rising.copy(), rising.copy()
    first[[-1, -2]], last[[0, 1]] = first[[-2, -1]], last[[1, 0]]
    assert kendall_tau(rising, first) == kendall_tau(rising, last) == pytest.approx(1 - 4 / 72)
    assert weighted_tau(rising, first) < weighted_tau(rising, last)


@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("size", [1e-200, 1, 1e150])
def test_r_and_rho_are_those_of_scipy_to_the_last_bit(values: int, size: float) -> None:
    draw = np.random.default_rng(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in [2, 3, 4, 7, 8, 9, 30, 100, 501, 2400]:
            one, other = (draw.integers(0, values, length) * size / 7 for _ in range(2))
            one[:2], other[:2] = (0, size), (size, 0)  # none is constant
            assert pearson_with(one)(other) == stats.pearsonr(one, other).statistic
            assert spearman_with(one)(other) == stats.spearmanr(one, other).statistic
            assert mean_ranks(one).tolist() == stats.rankdata(one).tolist()
