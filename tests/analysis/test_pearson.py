"""Pearson's r and Spearman's ρ of two lists beside scipy's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from gradedeval.analysis.correlation import mean_ranks, pearson_with, spearman_with


@pytest.mark.parametrize("values", [2, 5, 1000])
@pytest.mark.parametrize("size", [1e-200, 1, 1e150])
def test_both_are_those_of_scipy_to_the_last_bit(values: int, size: float) -> None:
    draw = np.random.default_rng(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for length in [2, 3, 4, 7, 8, 9, 30, 100, 501, 2400]:
            one, other = (draw.integers(0, values, length) * size / 7 for _ in range(2))
            one[:2], other[:2] = (0, size), (size, 0)  # none is constant
            assert pearson_with(one)(other) == stats.pearsonr(one, other).statistic
            assert spearman_with(one)(other) == stats.spearmanr(one, other).statistic
            assert mean_ranks(one).tolist() == stats.rankdata(one).tolist()
