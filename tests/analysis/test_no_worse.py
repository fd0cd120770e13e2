"""The three answers by slow formulas: Fieller's interval by search, t by sums, power by integration."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np
import pytest
from scipy import integrate, stats

from gradedeval.analysis.no_worse import (
    ALPHA,
    Margin,
    answer,
    intervals,
    p_of_drop,
    power_of_no_worse,
    power_of_worse,
    smallest_drop,
    topics_needed,
)

Sample = tuple[list[float], list[float]]


def variance(values: Sequence[float]) -> float:
    """Return the sample variance, a hundred times faster than the fractions of `statistics.variance`."""
    return float(np.var(values, ddof=1))


def draw_samples(count: int) -> list[Sample]:
    """Return pairs of new and old scores: usual numbers of topics, few or all of which differ."""
    dice = random.Random(51)
    pairs = []
    for _ in range(count):
        topics = dice.choice([2, 5, 9, 10, 11, 25, 60])
        differs, lost, off = (
            dice.choice([0.1, 0.5, 1.0]),
            dice.choice([0.0, 0.05, 0.2, -0.1]),
            dice.choice([0.02, 0.2]),
        )
        old = [dice.betavariate(3, 2) for _ in range(topics)]
        new = [a * (1 - lost) + dice.gauss(0, off) if dice.random() < differs else a for a in old]
        pairs.append((new, old))
    return pairs


def with_one_more(new: Sequence[float], old: Sequence[float], side: int) -> Sample:
    """Return the sample at one end: if fewer than ten topics differ, add one as far off as the farthest."""
    off = [abs(a - b) for a, b in zip(new, old, strict=True)]
    if sum(each > 1e-12 for each in off) >= 10:
        return list(new), list(old)
    return [*new, fmean(old) + side * max(off)], [*old, fmean(old)]


def t_of(values: Sequence[float]) -> float:
    """Return Student's t of a mean above 0."""
    error = math.sqrt(variance(values) / len(values))
    return fmean(values) / error if error else math.copysign(math.inf, fmean(values) or -1)


def t_at(new: Sequence[float], old: Sequence[float], ratio: float) -> float:
    return t_of([a - ratio * b for a, b in zip(new, old, strict=True)])


def root(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def slow_ends(new: Sequence[float], old: Sequence[float], relative: bool) -> list[float]:
    """Return the ratios, or the differences, that a t test does not reject on either side."""
    ends = []
    for side in (-1, 1):
        some_new, some_old = with_one_more(new, old, side)
        critical = float(stats.t.isf(ALPHA, len(some_new) - 1))
        if not relative:
            changes = [a - b for a, b in zip(some_new, some_old, strict=True)]
            ends.append(fmean(changes) + side * critical * math.sqrt(variance(changes) / len(changes)))
        elif t_of(some_old) <= critical:
            ends.append(side * math.inf)
        else:
            aim, middle = -side * critical, fmean(some_new) / fmean(some_old)
            reach = [middle, middle + side * 1000]
            ends.append(root(lambda ratio: t_at(some_new, some_old, ratio) - aim, min(reach), max(reach)) - 1)  # noqa: B023
    return ends


def slow_p(new: Sequence[float], old: Sequence[float], margin: Margin) -> float:
    some_new, some_old = with_one_more(new, old, margin.sign)
    falls = [margin.sign * (b - a) for a, b in zip(some_new, some_old, strict=True)]
    tested = [falls, some_old] if margin.relative else [falls]
    return max(float(stats.t.sf(t_of(each), len(each) - 1)) for each in tested)


def slow_answer(new: Sequence[float], old: Sequence[float], margin: Margin) -> str:
    low, high = slow_ends(new, old, margin.relative)
    worst, best = (low, high) if margin.sign > 0 else (-high, -low)
    if all(abs(a - b) <= 1e-12 for a, b in zip(new, old, strict=True)):
        return "no worse"
    if len(new) < 10:
        return "cannot tell"
    return "no worse" if worst > -margin.value else "worse" if best < 0 else "cannot tell"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("relative", [True, False])
def test_ends_and_answers_agree_with_slow_formulas(relative: bool, sign: int) -> None:
    seen = set()
    for number, (new, old) in enumerate(draw_samples(80)):
        margin = Margin((0.02, 0.05, 0.15)[number % 3], relative, sign)
        arrays = np.array([new]), np.array([old])
        ends, p = intervals(*arrays, relative), p_of_drop(*arrays, margin)
        assert [end[0] for end in ends] == pytest.approx(slow_ends(new, old, relative), rel=1e-7, abs=1e-9)
        assert p[0] == pytest.approx(slow_p(new, old, margin), rel=1e-7, abs=1e-12)
        verdict = answer(*arrays, margin, ends, p)[0]
        assert verdict == slow_answer(new, old, margin), (number, new, old, margin)
        seen.add(verdict)
    assert seen == {"no worse", "worse", "cannot tell"}


def test_many_samples_at_once_are_each_their_own() -> None:
    some = [sample for sample in draw_samples(300) if len(sample[0]) == 11][:30]
    assert len(some) == 30
    margin = Margin(0.05, True)
    new, old = (np.array(part) for part in zip(*some, strict=True))
    together = answer(new, old, margin, intervals(new, old, True), p_of_drop(new, old, margin))
    assert together.tolist() == [slow_answer(*sample, margin) for sample in some]


def test_a_relative_margin_cannot_tell_if_the_mean_of_the_baseline_may_be_0() -> None:
    old = np.array([[0.0] * 19 + [1.0]])
    new = old * 0.2
    low, high = intervals(new, old, True)
    assert (low[0], high[0]) == (-math.inf, math.inf)
    margin = Margin(0.05, True)
    assert answer(new, old, margin, (low, high), p_of_drop(new, old, margin))[0] == "cannot tell"


@pytest.mark.parametrize("change", [-0.1, -0.01, 0.1])
def test_a_change_that_is_the_same_on_all_topics_is_certain(change: float) -> None:
    old = np.linspace(0.3, 0.9, 12)[None]
    new, margin = old + change, Margin(0.05)
    verdict = answer(new, old, margin, intervals(new, old, False), p_of_drop(new, old, margin))[0]
    assert verdict == ("worse" if change < -0.05 else "no worse")


CELLS = [(0.13, 50, 0.05), (0.05, 300, 0.05), (0.3, 12, 0.01), (0.02, 40, 0.1)]


@pytest.mark.parametrize(("sd", "topics", "margin"), CELLS)
def test_power_is_the_integral_over_the_deviation_of_samples(sd: float, topics: int, margin: float) -> None:
    df = topics - 1
    critical = float(stats.t.isf(ALPHA, df))

    def chance(drop: float) -> float:
        """Return P(the mean is below both −half and half − margin), over the density of the sample's deviation."""

        def integrand(share: float) -> float:
            half = critical * share * sd / math.sqrt(topics)
            density = 2 * df * share * float(stats.chi2.pdf(df * share**2, df))
            return density * float(stats.norm.cdf((drop - max(half, margin - half)) * math.sqrt(topics) / sd))

        return float(integrate.quad(integrand, 0, 6, points=[0.5, 1, 1.5], limit=200)[0])

    for drop in (0.5 * margin, margin, 2 * margin, margin + 2 * sd / math.sqrt(topics)):
        assert power_of_worse(drop, sd, topics, margin) == pytest.approx(chance(drop), abs=1e-3)
    assert chance(smallest_drop(sd, topics, margin)) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize(("sd", "margin"), [(0.13, 0.05), (0.05, 0.05), (0.4, 0.1), (0.3, 0.02)])
def test_topics_needed_are_the_fewest_with_which_an_equal_run_passes(sd: float, margin: float) -> None:
    needed = topics_needed(sd, margin)
    assert needed is not None

    def passes(topics: int) -> float:
        df = topics - 1
        critical = float(stats.t.isf(ALPHA, df))

        def integrand(share: float) -> float:
            density = 2 * df * share * float(stats.chi2.pdf(df * share**2, df))
            return density * float(stats.norm.sf(critical * share - margin * math.sqrt(topics) / sd))

        return float(integrate.quad(integrand, 0, 6, points=[0.9, 1, 1.1], limit=500)[0])

    assert passes(needed) >= 0.8 - 1e-6
    assert needed == 10 or passes(needed - 1) < 0.8 + 1e-6


def test_plans_have_an_end() -> None:
    assert topics_needed(1.0, 1e-6) is None
    assert topics_needed(0.0, 0.05) == 10
    assert topics_needed(1e-9, 0.5) == 10
    assert smallest_drop(0.0, 50, 0.05) == 0.05
    assert power_of_no_worse(1e-6, 10**6, 0.5) == 1.0
