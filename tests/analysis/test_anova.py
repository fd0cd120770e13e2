"""`compare --test anova`: the two-way analysis of variance and Tukey's HSD, against scipy, statsmodels and by hand."""

import json

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.analysis.significance import TwoWay, studentized_range, tukey
from gradedeval.errors import InputError
from support.commands import Command
from support.paths import QRELS, SAMPLES
from support.statistics import saved

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]


def test_by_hand() -> None:
    # Means of runs 1, 2, 3 and of topics 1, 3 about 2; residuals ±.5, 0, ∓.5.
    score = np.array([[0.5, 1.5], [1.0, 3.0], [1.5, 4.5]])
    two_way = TwoWay.of(score)
    assert two_way.squares.tolist() == [4, 6, 1]
    assert two_way.df == (2, 1, 2)
    assert two_way.mean_squares.tolist() == [2, 6, 0.5]
    frame = gradedeval.anova(saved(score)).frame
    assert frame["f"].tolist()[:2] == [4, 12]
    assert frame["p"][0] == pytest.approx(1 / (1 + 4))  # F(2, 2): P(F > f) = 1 / (1 + f)
    assert frame["p"].isna().tolist() == [False, False, True]


def test_a_run_and_topic_effect_without_residual() -> None:
    score = np.add.outer([0.1, 0.2, 0.2], [0.3, 0.6, 0.7])
    assert TwoWay.of(score).squares[2] == 0
    p, margin = tukey(score, np.array([0.1, 0.0]), 0.05)
    assert np.isnan(p).tolist() == [True, False]
    assert (p[1], margin) == (1, 0)
    assert gradedeval.anova(saved(score))[["f", "p"]].isna().all(axis=None)
    same = gradedeval.anova(saved(np.tile([0.1, 0.7, 0.3], (3, 1)))).frame
    assert (same["f"][0], same["p"][0], np.isnan(same["f"][1])) == (0, 1, True)


def test_two_runs_are_a_paired_t_test() -> None:
    score = np.random.default_rng(1).random((2, 9))
    expected = stats.ttest_rel(*score)
    p, margin = tukey(score, score.mean(1)[:1] - score.mean(1)[1:], 0.05)
    assert p == pytest.approx(expected.pvalue, abs=1e-11)
    interval = expected.confidence_interval(0.95)
    assert margin == pytest.approx((interval.high - interval.low) / 2)
    assert gradedeval.anova(saved(score))["f"][0] == pytest.approx(expected.statistic**2)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("runs", "df"), [(2, 1), (2, 5), (3, 2), (8, 7), (30, 1421), (100, 4851), (4, 80_000)])
def test_the_studentized_range_is_scipy_s(runs: int, df: int) -> None:
    quantiles = np.array([0, 1e-6, 0.5, 2, 3.3, 5, 8, 40])
    expected = stats.studentized_range.sf(quantiles, runs, df)
    np.testing.assert_allclose(studentized_range(runs, df)(quantiles), expected, rtol=0, atol=1e-10)


def test_the_interval_excludes_0_if_p_is_below_the_level() -> None:
    score = np.random.default_rng(4).random((6, 12)) + np.linspace(0, 0.4, 6)[:, None]
    frame = gradedeval.compare(saved(score), test="anova", alpha=0.1).frame
    significant = frame["p"] <= 0.1
    assert 0 < significant.sum() < len(frame)
    assert ((frame["low"] > 0) | (frame["high"] < 0)).tolist() == significant.tolist()
    assert frame["p_corrected"].equals(frame["p"])


@pytest.mark.exhaustive  # it takes long to import
def test_against_statsmodels() -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    from statsmodels.stats.anova import anova_lm

    scores = gradedeval.evaluate(RUNS, QRELS, "ap")
    long = scores.frame.loc[lambda frame: frame["topic"] != "all", ["run", "topic", "score"]]
    expected = anova_lm(formula.ols("score ~ C(run) + C(topic)", long).fit())
    frame = gradedeval.anova(scores).frame
    for ours, theirs in {"squares": "sum_sq", "df": "df", "mean_square": "mean_sq", "f": "F", "p": "PR(>F)"}.items():
        np.testing.assert_allclose(frame[ours], expected[theirs], rtol=1e-9)
    mixed = formula.mixedlm("score ~ C(run)", long, groups=long["topic"]).fit()
    contrasts = np.eye(5)[1:4]  # all runs alike
    assert frame["f"][0] == pytest.approx(mixed.f_test(contrasts).statistic, rel=1e-4)


@pytest.mark.exhaustive
def test_json_has_the_analysis(cli: Command) -> None:
    document = json.loads(cli("compare", *RUNS, QRELS, "-m", "ap", "--test", "anova", "-f", "json").text)
    assert [row["source"] for row in document["anova"]] == ["runs", "topics", "residual"]
    assert len(document["rows"]) == 3


def test_faults_of_usage(cli: Command) -> None:
    words = ("compare", *RUNS, QRELS, "-m", "ap", "--test")
    messages = cli(*words, "anova", "--correction", "holm").messages
    assert messages[0].startswith("--correction: anova already corrects for all pairs, by Tukey's HSD; ")
    with pytest.raises(InputError, match="needs at least two runs; add a run"):
        gradedeval.anova(saved(np.ones((1, 3))))
    with pytest.raises(InputError, match="test: anova already corrects"):
        gradedeval.check(
            gradedeval.evaluate(RUNS, QRELS, "ap"), [gradedeval.Bound("significant", "ap", 0.05)], "rivers-bm25.run",
            test="anova",
        )  # fmt: skip
