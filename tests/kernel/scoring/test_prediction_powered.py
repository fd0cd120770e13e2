"""Prediction-powered estimates: by a plain loop, by the package ppi-python, and with machines of all kinds."""

import math
import statistics

import numpy as np
import pytest
from scipy import stats

from gradedeval.kernel.scoring.predicted import by_people, chosen_p, could_save, estimate, powers, saved
from support import machine_judges as judges
from support.machine_judges import JUDGES, KINDS, drawn, grossly_wrong, mostly_zeros, worths
from support.paths import shared


def _case(rng, judged, others, noise=0.5):
    """Return scores by people and by a machine that errs."""
    true = rng.beta(2, 3, size=(1, judged + others))
    machine = (1 - noise) * true + noise * rng.beta(2, 2, size=true.shape)
    return true[:, :judged], machine[:, :judged], machine[:, judged:]


def _power(human, machine, without, others):
    """Return λ of a judged topic by its definition: from the other judged topics."""
    h, m = (scores[:without] + scores[without + 1 :] for scores in (human, machine))
    if len(set(m)) == 1:
        return 0
    ratio = statistics.covariance(h, m) / ((1 + len(human) / others) * statistics.variance(m))
    return min(1, max(0, ratio))


def _by_loop(human, machine, others, alpha):
    """Return estimate, error, ends and λ, computed topic by topic."""
    n, middle = len(human), statistics.fmean(others)
    weights = [_power(human, machine, topic, len(others)) for topic in range(n)]
    rectified = [h - w * (m - middle) for h, m, w in zip(human, machine, weights, strict=True)]
    mean, weight = statistics.fmean(rectified), statistics.fmean(weights)
    variance = weight**2 * statistics.variance(others) / len(others) + statistics.variance(rectified) / n
    error = math.sqrt(variance)
    margin = stats.t.isf(alpha / 2, n - 1) * error
    return mean, error, mean - margin, mean + margin, 2 * stats.t.sf(abs(mean / error), n - 1), weight


@pytest.mark.parametrize(("judged", "others"), [(5, 2), (5, 40), (15, 10), (40, 160)])
def test_estimates_equal_a_plain_loop(judged, others):
    rng = np.random.default_rng(judged)
    for _ in range(25):
        human, machine, rest = _case(rng, judged, others, rng.uniform())
        result = estimate(human, machine, rest, 0.1)
        expected = _by_loop(human[0].tolist(), machine[0].tolist(), rest[0].tolist(), 0.1)
        assert [float(value[0]) for value in result[: len(expected)]] == pytest.approx(expected, abs=1e-12)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(8))
def test_estimates_equal_ppi_python(seed):
    """Compare to ppi_python without its single λ, normal distribution and divisor n."""
    ppi_py = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(seed)
    for _ in range(125):
        judged, others = rng.integers(5, 60), rng.integers(2, 200)
        human, machine, rest = _case(rng, judged, others, rng.uniform())
        power, alpha = rng.uniform(), rng.uniform(0.01, 0.3)
        result = estimate(human, machine, rest, alpha, power)
        # Their variance of each part, made that of a sample.
        low, high = ppi_py.ppi_mean_ci(human[0], machine[0], rest[0], alpha=alpha, lam=power)
        middle = (low[0] + high[0]) / 2
        assert result.mean[0] == pytest.approx(middle, abs=1e-9)
        variance = power**2 * rest[0].var() / others + (human[0] - power * machine[0]).var() / judged
        assert (high[0] - low[0]) / 2 / stats.norm.isf(alpha / 2) == pytest.approx(math.sqrt(variance), abs=1e-9)
        sample = power**2 * rest[0].var() / (others - 1) + (human[0] - power * machine[0]).var() / (judged - 1)
        margin = (high[0] - low[0]) / 2 / stats.norm.isf(alpha / 2) * math.sqrt(sample / variance)
        assert result.high[0] == pytest.approx(middle + margin * stats.t.isf(alpha / 2, judged - 1), abs=1e-9)


def test_no_power_is_people_alone():
    human, machine, others = _case(np.random.default_rng(1), 20, 80)
    for powered, by_hand in zip(estimate(human, machine, others, 0.05, 0), by_people(human, 0.05), strict=True):
        assert powered == pytest.approx(by_hand, abs=1e-15)
    low, high = stats.t.interval(0.95, 19, human.mean(), stats.sem(human[0]))
    assert (by_people(human, 0.05).low[0], by_people(human, 0.05).high[0]) == pytest.approx((low, high))
    assert by_people(human - 0.4, 0.05).p[0] == pytest.approx(stats.ttest_1samp(human[0], 0.4).pvalue)


@pytest.mark.parametrize("judged", [15, 25, 50])
def test_a_worthless_machine_costs_nothing(judged):
    """Check 2,000 collections, as λ of a single one is uncertain."""
    rng = np.random.default_rng(judged)
    human = rng.beta(2, 3, size=(2000, judged))
    machine, others = rng.beta(2, 3, size=(2000, judged)), rng.beta(2, 3, size=(2000, 200 - judged))
    both, people = estimate(human, machine, others, 0.05), by_people(human, 0.05)
    assert np.median(both.power) < 0.05
    assert (both.high - both.low).mean() <= 1.03 * (people.high - people.low).mean()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("a", "b", "most"), [(0.4, 2, 1.080), (0.8, 1.5, 1.072), (2, 3, 1.073)])
def test_with_five_judged_topics_a_worthless_machine_costs_a_thirteenth(a, b, most):
    """Compute the mean width over 20,000 collections: 7.9 % more if most scores are low, 7.1 % and 7.2 % if they are
    spread out. λ of four topics is less certain than one with the machine's variance over all would be, and is paid
    for by being independent of them. It stays, since intervals by a useful machine are much narrower."""
    rng = np.random.default_rng(0)
    human, machine, others = (rng.beta(a, b, size=(20_000, topics)) for topics in (5, 5, 195))
    both, people = estimate(human, machine, others, 0.05), by_people(human, 0.05)
    assert 1.07 < (both.high - both.low).mean() / (people.high - people.low).mean() < most
    machine, others = (0.7 * part + 0.3 * rng.beta(a, b, size=part.shape) for part in (human, others))
    useful = estimate(human, machine, others, 0.05)
    covers = [((part.low <= a / (a + b)) & (a / (a + b) <= part.high)).mean() for part in (useful, people)]
    assert (useful.high - useful.low).mean() < 0.65 * (people.high - people.low).mean()
    assert covers[0] >= covers[1] - 0.01


def test_a_perfect_machine_is_as_all_topics_judged():
    human, machine, others = _case(np.random.default_rng(3), 25, 175, noise=0)
    both = estimate(human, machine, others, 0.05)
    every = np.hstack([human, others])
    assert both.power[0] > 0.6
    assert both.error[0] == pytest.approx(every.std(ddof=1) / math.sqrt(200), rel=0.1)
    share, times = saved(by_people(human, 0.05), both)
    assert share[0] > 0.5
    assert times[0] == pytest.approx(1 / (1 - share[0]) ** 2)


def test_a_machine_with_reversed_scores_has_no_power():
    human, _, others = _case(np.random.default_rng(3), 25, 175, noise=0)
    assert not powers(human, 1 - human, others.shape[1]).any()


@pytest.mark.parametrize("size", [1, 1e-9, 1e9])
def test_power_is_zero_only_if_the_other_judged_topics_do_not_vary(size):
    """Check one topic far from all others: without it the variance is 0, or 1e-20 of the variance with it."""
    human = np.random.default_rng(7).uniform(size=(1, 9))
    flat = np.full((1, 9), 0.3 * size)
    flat[0, 4] = size
    power = powers(human, flat, 30)[0]
    assert (power[4], np.delete(power, 4).any()) == (0, human[0, 4] > human.mean())
    nearly = 1e-10 * size * human
    nearly[0, 4] = size
    expected = [_power(human[0].tolist(), nearly[0].tolist(), topic, 30) for topic in range(9)]
    assert powers(human, nearly, 30)[0].tolist() == pytest.approx(expected, rel=1e-9)
    assert expected[4] == 1


@pytest.mark.parametrize("draws", [20_000, pytest.param(200_000, marks=pytest.mark.exhaustive)])
def test_estimates_of_skewed_scores_are_unbiased(draws):
    """Draw 25 judged topics and 25 others; the mean over all is .1."""
    human, machine, others, _ = mostly_zeros(25, 25, draws)
    both, people = estimate(human, machine, others, 0.05), by_people(human, 0.05)
    errors = both.mean - 0.1
    assert abs(errors.mean()) < 2 * errors.std() / math.sqrt(draws)
    covers, alone = (((estimates.low <= 0.1) & (estimates.high >= 0.1)).mean() for estimates in (both, people))
    assert covers > alone + 0.02
    assert (both.high - both.low).mean() < 0.8 * (people.high - people.low).mean()


def test_gross_errors_on_few_topics_make_intervals_too_narrow():
    """Check the failure that the page describes: estimates are unbiased, but intervals are narrow if none of the
    wrong topics is judged."""
    some, seen = grossly_wrong(0.05, 25, 975, 2000)
    both, people = estimate(*some[:3], 0.05), by_people(some.human, 0.05)
    covers, alone = (((estimates.low <= 0.5) & (estimates.high >= 0.5)) for estimates in (both, people))
    assert abs((both.mean - 0.5).mean()) < 3 * both.mean.std() / math.sqrt(2000)
    assert covers.mean() < 0.8 < 0.93 < alone.mean()
    assert covers[~seen].mean() < 0.5
    assert (both.share[seen] > 0.5).mean() > 0.3


def test_power_does_not_depend_on_the_machine_s_score_of_its_topic_nor_of_others():
    human, machine, others = _case(np.random.default_rng(8), 12, 30)
    original = powers(human, machine, 30)
    machine[0, 5] += 0.4
    after = powers(human, machine, 30)
    assert after[0, 5] == pytest.approx(original[0, 5], rel=1e-12)
    assert (np.delete(after, 5) != np.delete(original, 5)).all()
    shifted = estimate(human, machine, others + np.linspace(-0.1, 0.1, 30), 0.05)
    assert shifted.mean == pytest.approx(estimate(human, machine, others, 0.05).mean, rel=1e-12)


def test_the_topic_that_makes_most_of_the_variance_is_found():
    human = np.full((2, 8), 0.5) + np.linspace(-0.01, 0.01, 8)
    human[1, 3] = 0.9
    result = by_people(human, 0.05)
    squares = (human[1] - human[1].mean()) ** 2
    assert result.farthest[1] == 3
    assert result.share == pytest.approx([7 / 24, squares[3] / squares.sum()], rel=1e-9)
    assert np.isnan(by_people(np.full((1, 8), 0.3), 0.05).share[0])


def test_estimates_without_variance():
    same, zero = np.full((1, 6), 0.3), np.zeros((1, 6))
    result = estimate(same, same, same, 0.05)
    assert (result.low[0], result.mean[0], result.high[0], result.power[0]) == pytest.approx((0.3, 0.3, 0.3, 0))
    assert math.isnan(result.p[0])
    assert estimate(zero, zero, zero, 0.05).p[0] == 1
    assert np.isnan(saved(by_people(same, 0.05), result)).all()


@pytest.mark.parametrize("noise", [0.1, 0.5, 1])
def test_possible_savings_equal_savings_with_very_many_topics(noise):
    human, machine, _ = _case(np.random.default_rng(4), 30, 2, noise)
    many = np.tile(machine, 5000)
    both, people = estimate(human, machine, many, 0.05), by_people(human, 0.05)
    for could, saves in zip(could_save(human, machine), saved(people, both), strict=True):
        assert could == pytest.approx(saves, rel=0.01, abs=0.005)
    assert np.isnan(could_save(np.ones((1, 8)), machine[:, :8])).all()


def test_judged_topics_that_were_chosen_are_noticed():
    rng = np.random.default_rng(0)
    values = np.sort(rng.uniform(size=60))
    assert chosen_p(values[:15], values[15:]) < 0.001
    assert chosen_p(values[::4], np.delete(values, np.arange(0, 60, 4))) > 0.1
    tested = stats.permutation_test(
        (values[:20:2], values[20:]), lambda a, b: a.mean() - b.mean(), n_resamples=10_000, rng=0
    )
    assert chosen_p(values[:20:2], values[20:]) == pytest.approx(tested.pvalue, abs=0.01)


def test_random_samples_are_called_chosen_at_the_nominal_rate():
    rng = np.random.default_rng(5)
    p_values = [chosen_p(drawn[:12], drawn[12:], draws=400) for drawn in rng.uniform(size=(400, 40))]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.05)


def _generated(seed=0):
    """Return runs × topics: scores by people and by machines of three kinds, which are biased and err."""
    rng = np.random.default_rng(seed)
    hard = rng.beta(2, 2, size=300)
    people = (0.7 * hard + 0.3 * rng.beta(2, 3, size=(20, 300))).clip(0, 1)
    kinds = {"careful": (0.1, 0.05), "generous": (0.1, 0.3), "careless": (0.4, -0.1)}
    return people, {
        name: (1 - noise) * people + noise * rng.beta(2, 2, size=people.shape) + bias
        for name, (noise, bias) in kinds.items()
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("judge", JUDGES)
def test_coverage_on_generated_scores(judge, kind):
    people, machines = _generated()
    results = worths(drawn(people, machines[judge], kind, 25, 200, 1500, 0))
    assert results["both"].covers >= results["people"].covers - 0.01
    assert results["both"].width <= (0.9 if kind == "mean" else 1.03)
    assert results["machine"].covers < 0.8 or kind == "difference"  # a bias of all runs leaves differences alone


@pytest.fixture(scope="module")
def real():
    """Return results of 18 cells: the value of intervals on the runs of TREC-COVID, round 1."""
    return list(judges.cells(judges.real_scores(), JUDGES, 25, 200, 1500))


@shared
@pytest.mark.exhaustive
def test_coverage_on_real_runs(real):
    assert len(real) == 18
    for *cell, results in real:
        assert results["both"].covers >= results["people"].covers - 0.01, cell
        assert 0.4 < results["both"].width < 0.8, cell
        assert results["machine"].covers < 0.7, cell


@shared
@pytest.mark.exhaustive
def test_one_power_of_all_topics_makes_intervals_too_narrow(real):
    both, pooled = (np.array([results[name].covers for *_, results in real]) for name in ("both", "one λ"))
    assert (pooled < both).all()
    assert pooled.mean() < 0.94 < both.mean()
