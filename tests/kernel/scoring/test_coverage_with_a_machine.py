"""Intervals of prediction-powered estimates cover the truth as often as those by people alone, and are narrower;
`tests/benchmarks/machine_judgments.py` has the figures of more draws."""

from __future__ import annotations

import numpy as np
import pytest

from gradedeval.kernel.scoring.predicted import CHOSEN, chosen_p
from support import machine_judges as judges
from support.machine_judges import JUDGES, KINDS, MEASURES, drawn, unrelated, worths
from support.paths import shared


def _generated(seed=0):
    """runs × topics: scores by people and by machines of three kinds, which are biased and err."""
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
    found = worths(drawn(people, machines[judge], kind, 25, 200, 1500, 0))
    assert found["both"].covers >= found["people"].covers - 0.01
    assert found["both"].width <= (0.9 if kind == "mean" else 1.03)
    assert found["machine"].covers < 0.8 or kind == "difference"  # a bias of all runs leaves differences alone


@pytest.fixture(scope="module")
def real():
    """18 cells: what intervals are worth on the runs of TREC-COVID, round 1."""
    return list(judges.cells(judges.real_scores(), JUDGES, 25, 200, 1500))


@shared
@pytest.mark.exhaustive
def test_coverage_on_real_runs(real):
    assert len(real) == 18
    for *cell, found in real:
        assert found["both"].covers >= found["people"].covers - 0.01, cell
        assert 0.4 < found["both"].width < 0.8, cell
        assert found["machine"].covers < 0.7, cell


@shared
@pytest.mark.exhaustive
def test_one_power_of_all_topics_makes_intervals_too_narrow(real):
    both, one = (np.array([found[name].covers for *_, found in real]) for name in ("both", "one λ"))
    assert (one < both).all()
    assert one.mean() < 0.94 < both.mean()


@shared
@pytest.mark.exhaustive
@pytest.mark.parametrize(("judged", "most"), [(15, 1.03), (25, 1.03)])
@pytest.mark.parametrize("total", [50, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_a_worthless_machine_costs_nothing_on_real_runs(judged, total, kind, most):
    scores = judges.real_scores()
    for column, measure in enumerate(MEASURES):
        pair = scores["people"][:, :, column], scores["random"][:, :, column]
        found = worths(unrelated(drawn(*pair, kind, judged, total, 3000, column)))["both"]
        assert max(found.width, found.ratio) <= most, measure


@shared
@pytest.mark.exhaustive
def test_topics_that_people_chose_are_noticed():
    """The hardest fifth always, a sample of the harder three quarters sometimes, and a random sample as good as
    never."""
    people, machine = (judges.real_scores()[name][:, :, 0].mean(0) for name in ("people", "careful"))
    rng, noticed = np.random.default_rng(0), []
    for _ in range(100):
        topics = rng.integers(0, len(people), 50)
        order = topics[np.argsort(people[topics], kind="stable")]
        samples = rng.permutation(topics), order, np.append(rng.permutation(order[:38]), order[38:])
        noticed.append([chosen_p(machine[one[:15]], machine[one[15:]], 500) < CHOSEN for one in samples])
    random, hardest, harder = np.mean(noticed, axis=0)
    assert random < 0.05
    assert hardest == 1
    assert 0.1 < harder < 0.5
