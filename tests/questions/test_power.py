"""`power`: discriminative power over all pairs of runs; `power --plan`: numbers of topics, against known tables."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval import InputError
from gradedeval.analysis.score_matrix import Matrix, to_matrix
from gradedeval.analysis.significance import studentized
from gradedeval.questions.power import Aim, designs
from support.commands import Command, rows
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "manual")]
NEEDED = "difference needed: by the sample at that level (Sakai 2006, figure 5), the largest of all pairs"


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return to_matrix(gradedeval.evaluate(RUNS, QRELS, "ndcg@10 p@5"))


def test_the_levels_agree_with_each_pair(matrix: Matrix) -> None:
    power = gradedeval.power(matrix, draws=300, seed=4)
    paired = matrix.paired("ndcg@10")
    curve = power.curve[power.curve["measure"] == "ndcg@10"]
    for row in curve.itertuples():
        first, second = (paired.score[paired.runs.index(str(name))] for name in (row.run, row.other))
        level, needed = studentized((first - second)[None], 300, 4, 0.05)
        assert (row.level, row.needed) == (level[0], pytest.approx(needed[0]))
        assert row.difference == pytest.approx((first - second).mean())
    assert curve["pair"].tolist() == [1, 2, 3, 4, 5, 6]
    assert (np.diff(curve["level"]) <= 0).all()


def test_power_is_the_share_of_pairs_below_alpha(matrix: Matrix) -> None:
    power = gradedeval.power(matrix, draws=300, alpha=0.05)
    for row in power.frame.itertuples():
        curve = power.curve[power.curve["measure"] == row.measure]
        assert row.significant == (curve["level"] < 0.05).sum()
        assert row.power == row.significant / 6
        assert row.needed == curve["needed"].max()
        assert (row.runs, row.topics, row.pairs) == (4, 50, 6)


def test_the_best_runs_are_chosen_by_each_measure(matrix: Matrix) -> None:
    power = gradedeval.power(matrix, draws=50, best_runs=2)
    assert power.frame["pairs"].tolist() == [1, 1]
    for measure in matrix.measures:
        means = matrix.paired(measure).summaries
        best = {matrix.runs[index] for index in np.argsort(-means)[:2].tolist()}
        row = power.curve[power.curve["measure"] == measure].iloc[0]
        assert {row["run"], row["other"]} == best
    assert gradedeval.power(matrix, draws=50, best_runs=9).frame["runs"].tolist() == [4, 4]


def test_the_command_takes_settings_and_writes_a_curve(cli: Command, tmp_path: Path) -> None:
    words = ("power", *RUNS, QRELS, "-m", "ap ndcg@10", "--draws", "99", "--alpha", "0.1", "--seed", "7")
    table = cli(*words, "--best-runs", "3", "--curve", "curve.csv")
    settings = f"paired bootstrap, studentized, 99 draws, alpha 0.1, seed 7 | {NEEDED}"
    assert f"{settings} | the best 3 runs by each measure" in table.words
    rows = list(csv.DictReader((tmp_path / "curve.csv").open()))
    assert list(rows[0]) == ["measure", "pair", "run", "other", "difference", "level", "needed", "tested"]
    assert [row["pair"] for row in rows] == ["1", "2", "3"] * 2
    assert cli(*words, "-f", "csv").messages[1:] == [settings]


def test_invalid_usage_is_refused(matrix: Matrix) -> None:
    with pytest.raises(InputError, match="best_runs: 1 is too small; it must be at least 2"):
        gradedeval.power(matrix, best_runs=1)
    with pytest.raises(InputError, match="power needs at least two runs"):
        gradedeval.power(matrix.select(runs=matrix.runs[:1]))
    with pytest.raises(InputError, match="draws: with 99 draws only a level of 0"):
        gradedeval.power(matrix, draws=99, alpha=0.01)
    assert gradedeval.power(matrix, draws=100, alpha=0.01).frame["pairs"].tolist() == [6, 6]


def test_one_topic_has_no_power() -> None:
    problem = (
        r"^measure 'rr': both runs share a single topic \(1\), and a test needs two; compare runs with more topics"
    )
    with pytest.raises(InputError, match=problem):
        gradedeval.power({"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 1.0}}}, {"1": {"a": 1, "b": 0}}, "rr")


def planned(variance: float, difference: float = 0.1, systems: int = 2, alpha: float = 0.05,
            beta: float = 0.2) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Return designs for systems with this variance of scores in every topic."""
    rows = designs(Aim(difference, alpha, beta), systems, variance, variance)
    return {row["design"]: row for row in rows}


def needed(variance: float, difference: float = 0.1, systems: int = 2) -> dict[str, int]:
    return {design: row["needed"] for design, row in planned(variance, difference, systems).items()}


def test_known_sample_sizes() -> None:
    """Compare with Cohen 1988 and G*Power: paired t, d = .5: 34, d = .2: 199; one-way, three groups, f = .25: 53
    each."""
    assert needed(variance=1, difference=0.5 * math.sqrt(2))["t"] == 34
    assert needed(variance=1, difference=0.2 * math.sqrt(2))["t"] == 199
    assert needed(variance=1, difference=0.25 * math.sqrt(6), systems=3)["one-way anova"] == 53


def test_sakai_s_relations() -> None:
    """Check that ANOVA of two systems is the t test, and that ANOVA of ten is close to the interval as wide as the
    difference."""
    two = needed(variance=0.0471, difference=0.1)
    assert two["anova"] == two["t"]
    assert abs(two["one-way anova"] - two["t"]) <= 1
    ten = needed(variance=0.0471, difference=0.1, systems=10)
    assert abs(ten["one-way anova"] - ten["interval"]) <= 2


@pytest.mark.parametrize("difference", [0.05, 0.1, 0.3, 2])
@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.2), (0.01, 0.1)])
def test_no_smaller_number_suffices_by_the_noncentral_t(difference: float, alpha: float, beta: float) -> None:
    def power(topics: int) -> float:
        critical, shift = stats.t.isf(alpha / 2, topics - 1), difference * math.sqrt(topics / (2 * 0.06))
        wrong_way = np.nan_to_num(stats.nct.cdf(-critical, topics - 1, shift))  # nan if it is nearly 0
        return float(stats.nct.sf(critical, topics - 1, shift) + wrong_way)

    row = planned(0.06, difference, alpha=alpha, beta=beta)["t"]
    assert row["power"] == pytest.approx(power(row["needed"]))
    assert power(row["needed"]) >= 1 - beta
    assert row["needed"] == 2 or power(row["needed"] - 1) < 1 - beta


@pytest.mark.exhaustive
def test_against_statsmodels() -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    for systems, difference in ((3, 0.1), (10, 0.05), (30, 0.2)):
        topics, effect = needed(0.05, difference, systems), difference / math.sqrt(2 * 0.05)
        assert math.ceil(power.TTestPower().solve_power(effect, alpha=0.05, power=0.8)) == topics["t"]
        # Cohen's f of one system at each end and the others in the middle.
        f = math.sqrt(difference**2 / (2 * 0.05 * systems))
        solve = power.FTestAnovaPower().solve_power
        assert math.ceil(solve(f, alpha=0.05, power=0.8, k_groups=systems) / systems) == topics["one-way anova"]


@pytest.mark.parametrize("topics", [2, 5, 40])
def test_the_expected_width_agrees_with_simulated_intervals(topics: int) -> None:
    draws = np.random.default_rng(topics).normal(0, math.sqrt(2 * 0.05), (800_000 // topics, topics))
    width = 2 * stats.t.isf(0.05, topics - 1) * draws.std(1, ddof=1).mean() / math.sqrt(topics)
    assert Aim(0.1, 0.1, 0.2).width(topics, 0.05) == pytest.approx(width, rel=0.01)


def test_the_two_way_analysis_finds_the_difference_as_often_as_planned() -> None:
    row = planned(0.04, 0.2, systems=4)["anova"]
    topics, draws = int(row["needed"]), 4000
    means = np.array([-0.1, 0, 0, 0.1])[:, None]
    score = means + np.random.default_rng(2).normal(0, 0.2, (draws, 4, topics))  # the effect of topics drops out
    runs, columns = score.mean(2, keepdims=True), score.mean(1, keepdims=True)
    residual = ((score - runs - columns + score.mean((1, 2), keepdims=True)) ** 2).sum((1, 2)) / (3 * (topics - 1))
    f = topics * runs.var((1, 2), ddof=1) / residual
    assert (f >= stats.f.isf(0.05, 3, 3 * (topics - 1))).mean() == pytest.approx(row["power"], abs=0.02)


def test_variances_agree_with_the_runs() -> None:
    scores = gradedeval.evaluate(RUNS[:3], QRELS, "ap")
    frame = gradedeval.plan_topics(scores, difference=0.2).frame.set_index("design")
    score = to_matrix(scores).paired("ap").score
    differences = [np.var(score[a] - score[b], ddof=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert 2 * frame["variance"]["t"] == pytest.approx(np.mean(differences))
    assert frame["variance"]["one-way anova"] == pytest.approx(np.mean([np.var(run, ddof=1) for run in score]))
    assert set(frame["topics"]) == {50}
    assert frame["systems"].tolist() == [2, 3, 3, 2]


def test_constant_differences_need_two_topics_and_equal_runs_are_refused() -> None:
    qrels = {str(topic): {"a": 1} for topic in range(3)}
    runs = {name: {topic: {name: 1.0, "a": 0.0} for topic in qrels} for name in ("a", "b")}
    assert gradedeval.plan_topics(gradedeval.evaluate(runs, qrels, "ap"))["needed"].tolist()[0] == 2
    equal = gradedeval.evaluate({"a": runs["a"], "c": runs["a"]}, qrels, "ap")
    with pytest.raises(InputError, match="measure 'ap': the runs do not differ"):
        gradedeval.plan_topics(equal)


def test_a_plan_is_printed(cli: Command) -> None:
    text = cli("power", *RUNS[:3], QRELS, "--plan", "-m", "ap", "--difference", "0.05", "--beta", "0.1").words
    assert "topics to detect a difference of 0.05 with power 0.9 at alpha 0.05 | interval: 95%, as wide" in text
    outcome = cli("power", *RUNS[:3], QRELS, "--plan", "-m", "ap", "-f", "csv")
    frame = gradedeval.plan_topics(RUNS[:3], QRELS, "ap").frame
    assert [int(row["needed"]) for row in rows(outcome.text)] == frame["needed"].tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--beta", "0.1", *RUNS[:3], QRELS), "--beta: needs --plan; add --plan"),
        (("--plan", "--draws", "9", *RUNS[:3], QRELS), "--draws: does not apply to --plan; leave it out"),
        (("--plan", *RUNS[:3], QRELS, "-m", "ap", "--difference", "1e-5"),
         "--difference: more than 10000000 topics are needed; …"),
        (("--plan", RUNS[0], QRELS), "a plan needs at least two runs; add a run"),
    ],
)  # fmt: skip
def test_impossible_plans_are_a_one_line_error(words: tuple[str, ...], message: str, cli: Command) -> None:
    outcome = cli("power", *words)
    notes = [line for line in outcome.messages if "no relevant documents" in line]
    assert (outcome.code, len(outcome.messages)) == (2, 1 + len(notes))
    assert outcome.messages[-1] == message or (message[-1] == "…" and outcome.messages[-1].startswith(message[:-1]))
