"""`compare --test bayes`: posterior probabilities of a difference, against simulation, the t test and by hand."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.analysis.significance import posterior
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES

FILES = [str(SAMPLES / f"rivers-{name}") for name in ("bm25.run", "neural.run", "bm25-rm3.run")]


def summarize(differences: list[float], rope: float, alpha: float = 0.05) -> dict[str, float]:
    return {name: float(values[0]) for name, values in posterior(np.array([differences]), rope, alpha).items()}


def test_by_hand() -> None:
    # Mean .2, deviation .2·√2, over √2: .2. With one degree of freedom P(T > t) = ½ − atan(t)/π.
    summary = summarize([0.0, 0.4], rope=0.4)
    assert summary["better"] == pytest.approx(1 / 4)  # t = 1
    assert summary["worse"] == pytest.approx(0.5 - np.arctan(3) / np.pi)
    assert summary["equivalent"] == pytest.approx(1 - summary["better"] - summary["worse"])
    half = summarize([0.0, 0.4], rope=0, alpha=0.5)
    assert (half["low"], half["high"]) == (pytest.approx(0), pytest.approx(0.4))


def test_probabilities_without_a_region_mirror_the_t_test() -> None:
    differences = np.random.default_rng(3).normal(0.05, 0.2, 20)
    summary, test = summarize(differences.tolist(), rope=0), stats.ttest_1samp(differences, 0)
    assert summary["equivalent"] == 0
    assert 2 * min(summary["better"], summary["worse"]) == pytest.approx(test.pvalue)
    interval = test.confidence_interval(0.95)
    assert (summary["low"], summary["high"]) == (pytest.approx(interval.low), pytest.approx(interval.high))


def test_draws_from_the_posterior_agree() -> None:
    """Draw μ and σ² from their joint posterior: σ² scaled inverse χ², μ normal given σ²."""
    draw = np.random.default_rng(7)
    differences = draw.normal(0.01, 0.1, 12)
    variance = 11 * differences.var(ddof=1) / draw.chisquare(11, 400_000)
    mu = draw.normal(differences.mean(), np.sqrt(variance / 12))
    summary = summarize(differences.tolist(), rope=0.02)
    assert summary["better"] == pytest.approx((mu > 0.02).mean(), abs=0.003)
    assert summary["equivalent"] == pytest.approx((np.abs(mu) <= 0.02).mean(), abs=0.003)
    assert summary["worse"] == pytest.approx((mu < -0.02).mean(), abs=0.003)


@pytest.mark.parametrize("difference", [0.3, 0.01, -0.3])
def test_equal_differences_have_no_posterior(difference: float) -> None:
    assert np.isnan(list(summarize([difference] * 3, rope=0.01).values())).all()


def test_exchanged_runs_exchange_better_and_worse(cli: Command) -> None:
    def row(*files: str) -> dict[str, float]:
        (record,) = csv_rows(cli("compare", *files, QRELS, *words, "-f", "csv").text)
        return {name: float(record[name]) for name in ("better", "equivalent", "worse", "low", "high")}

    words = ("-m", "ap", "--test", "bayes", "--rope", "0.04")
    first, exchanged = row(*FILES[::2]), row(*FILES[::-2])
    assert exchanged["better"] == pytest.approx(first["worse"])
    assert exchanged["low"] == pytest.approx(-first["high"])
    assert sum(first[name] for name in ("better", "equivalent", "worse")) == pytest.approx(1)
    assert first["equivalent"] > 0.1


def test_no_p_is_printed(cli: Command) -> None:
    rows = cli("compare", *FILES, QRELS, "-m", "ap", "--test", "bayes", "-f", "csv").text.splitlines()
    assert not {"p", "p_corrected"} & set(rows[0].split(","))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--rope", "0.1"), "--rope: the test randomization has no region of practical equivalence; add --test bayes"),
        (
            ("--test", "bayes", "--correction", "bh"),
            "--correction: bayes gives posterior probabilities, which need no correction; leave out --correction, or "
            "choose another test",
        ),
    ],
)
def test_faults_of_usage(words: tuple[str, ...], message: str, cli: Command) -> None:
    result = cli("compare", *FILES, QRELS, "-m", "ap", *words)
    assert (result.code, result.messages) == (2, [message])


def test_better_and_worse_follow_the_direction_of_the_measure() -> None:
    scores = gradedeval.evaluate([FILES[0], FILES[2]], QRELS, "unjudged@20 judged@20 num_ret")
    frame = gradedeval.compare(scores, test="bayes").frame.set_index("measure")
    unjudged, judged, retrieved = (frame.loc[name] for name in ("unjudged@20", "judged@20", "num_ret"))
    assert unjudged["difference"] == pytest.approx(-judged["difference"])
    assert unjudged["better"] == pytest.approx(judged["better"])
    assert unjudged["worse"] == pytest.approx(judged["worse"])
    assert np.isnan([retrieved["better"], retrieved["worse"]]).all()
    assert retrieved["equivalent"] == 1


@pytest.mark.parametrize("test", ["anova", "bayes"])
def test_geometric_means_are_tested_by_logarithms_and_counts_have_totals(test: Any) -> None:
    scores = gradedeval.evaluate([FILES[0], FILES[2]], QRELS, "gm_ap ap num_rel_ret p@1000")
    frame = gradedeval.compare(scores, test=test).frame.set_index("measure")
    logarithms = np.log(np.maximum(to_matrix(scores).paired("gm_ap").score, 1e-5))
    interval = stats.ttest_1samp(logarithms[1] - logarithms[0], 0).confidence_interval(0.95)
    assert frame.loc["gm_ap", ["low", "high"]].tolist() == pytest.approx(np.exp(list(interval)))
    count, precision = (frame.loc[name, ["low", "high"]].astype(float) for name in ("num_rel_ret", "p@1000"))
    assert (count / 50_000).tolist() == pytest.approx(precision.tolist())
