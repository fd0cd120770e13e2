"""`risk`: URisk, TRisk, ZRisk and GeoRisk by hand, by loops that follow the papers, and at the prompt."""

import math
from statistics import NormalDist, stdev

import numpy as np
import pytest
from scipy import stats

import gradedeval
from gradedeval.errors import EvaluationWarning, InputError
from support.commands import Command
from support.commands import rows as csv_rows
from support.paths import QRELS, SAMPLES
from support.statistics import saved

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural")]


def test_by_hand() -> None:
    """Check the example of docs/background/statistics.md."""
    frame = gradedeval.risk(saved([[0.5, 0.5, 0.5, 0.5], [0.8, 0.6, 0.5, 0.2]]), baseline="r0", risk_aversion=1).frame
    base, run = frame.iloc[0], frame.iloc[1]
    assert (run["wins"], run["ties"], run["losses"]) == (2, 1, 1)
    assert run["u_risk"] == pytest.approx(-0.05)  # (.3 + .1 + 0 − 2·.3) / 4
    assert run["t_risk"] == pytest.approx(-0.05 / math.sqrt(0.15 / 4))
    assert (base["u_risk"], base["t_risk"]) == (0, 0)
    # Expected of the run: 2.1/4.1 of 1.3, 1.1, 1 and .7.
    expected = [2.1 * total / 4.1 for total in (1.3, 1.1, 1.0, 0.7)]
    z = [(x - e) / math.sqrt(e) for x, e in zip((0.8, 0.6, 0.5, 0.2), expected, strict=True)]
    assert [round(value, 4) for value in z] == [0.1644, 0.0487, -0.0170, -0.2648]
    assert run["z_risk"] == pytest.approx(z[0] + z[1] + 2 * (z[2] + z[3]))
    assert run["geo_risk"] == pytest.approx(math.sqrt(2.1 / 4 * NormalDist().cdf(run["z_risk"] / 4)))
    assert (round(run["z_risk"], 4), round(run["geo_risk"], 4)) == (-0.3505, 0.4941)


def by_loops(score: np.ndarray, base: np.ndarray, run: int, alpha: float) -> tuple[float, float, float, float]:
    """Compute the risks by the formulas of the papers, topic by topic."""
    topics = range(score.shape[1])
    rewards = [max(0.0, score[run, topic] - base[topic]) for topic in topics]
    risks = [max(0.0, base[topic] - score[run, topic]) for topic in topics]
    utility = [reward - (1 + alpha) * risk for reward, risk in zip(rewards, risks, strict=True)]
    u_risk = sum(utility) / len(utility)
    positive = negative = 0.0
    for topic in topics:
        expected = sum(score[run]) * sum(score[:, topic]) / sum(score.ravel())
        z = (score[run, topic] - expected) / math.sqrt(expected)
        if z > 0:
            positive += z
        else:
            negative += z
    z_risk = positive + (1 + alpha) * negative
    geo_risk = math.sqrt(sum(score[run]) / len(topics) * NormalDist().cdf(z_risk / len(topics)))
    return u_risk, math.sqrt(len(topics)) * u_risk / stdev(utility), z_risk, geo_risk


@pytest.mark.parametrize("alpha", [0, 1, 10])
@pytest.mark.parametrize("baseline", ["mean", None, "r2"])
def test_against_loops(baseline: str | None, alpha: float) -> None:
    score = np.random.default_rng(6).beta(1, 3, (4, 25))
    frame = gradedeval.risk(saved(score.tolist()), baseline=baseline, risk_aversion=alpha).frame
    base = {"mean": score.mean(0), "r2": score[2]}.get(baseline or "", score[0])
    for run in (0, 1, 3) if baseline else (1, 2, 3):
        risks = frame.loc[run, ["u_risk", "t_risk", "z_risk", "geo_risk"]].astype(float)
        np.testing.assert_allclose(risks, by_loops(score, base, run, alpha), rtol=1e-12)
    assert frame["baseline"].unique().tolist() == [{"mean": "(mean of runs)"}.get(baseline or "", baseline or "r0")]


def test_without_weight_urisk_is_the_difference_and_trisk_student_s_t() -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "ap")
    frame = gradedeval.risk(scores, baseline="rivers-bm25.run", risk_aversion=0).frame.set_index("run")
    pairs = gradedeval.compare(scores, baseline="rivers-bm25.run", test="t").frame.set_index("run")
    for run, pair in pairs.iterrows():
        assert frame.loc[run, "u_risk"] == pytest.approx(pair["difference"])
        p = 2 * stats.t.sf(abs(frame.loc[run, "t_risk"]), pair["topics"] - 1)
        assert p == pytest.approx(pair["p"])


def test_topics_and_runs_without_any_score() -> None:
    frame = gradedeval.risk(saved([[0, 0, 0], [0, 0.2, 0.4]]), baseline="r0").frame
    assert frame["geo_risk"][0] == 0
    assert np.isfinite(frame[["u_risk", "t_risk", "z_risk", "geo_risk"]]).all(axis=None)
    zeros = gradedeval.risk(saved([[0, 0], [0, 0]])).frame
    assert not zeros[["u_risk", "t_risk", "z_risk", "geo_risk"]].any(axis=None)


def test_scores_below_0_have_no_georisk() -> None:
    with pytest.warns(EvaluationWarning, match="ap: no ZRisk or GeoRisk; both need means"):
        frame = gradedeval.risk(saved([[0.1, -0.5], [0.2, 0.3]]), baseline="r0", risk_aversion=2).frame
    assert frame["geo_risk"].isna().all()
    assert frame["u_risk"].tolist() == [0, pytest.approx(0.45)]


def test_a_rise_is_a_loss_if_lower_is_better_and_undirected_measures_have_no_risk(cli: Command) -> None:
    outcome = cli("risk", *RUNS, QRELS, "-m", "unjudged@20 num_ret judged@20", "--baseline", RUNS[0], "-f", "csv")
    rows = {(row["measure"], row["run"]): row for row in csv_rows(outcome.text)}
    assert {measure for measure, _ in rows} == {"unjudged@20", "judged@20"}
    for run in ("rivers-bm25-rm3.run", "rivers-neural.run"):
        unjudged, judged = rows["unjudged@20", run], rows["judged@20", run]
        assert float(unjudged["u_risk"]) == pytest.approx(float(judged["u_risk"]))
        assert (unjudged["wins"], unjudged["geo_risk"]) == (judged["wins"], "")
    needs = "both need means of scores that are never below 0, and the higher the better"
    messages = ["num_ret: left out: no preferred direction", f"unjudged@20: no ZRisk or GeoRisk; {needs}"]
    assert [message for message in outcome.messages if message in messages] == messages
    assert cli("risk", *RUNS, QRELS, "-m", "num_ret").code == 2


def test_the_command_prints_the_risk(cli: Command) -> None:
    words = ("risk", *RUNS[1:], QRELS, "-m", "ap", "--baseline", RUNS[0], "--risk-aversion", "1")
    text = cli(*words).text
    assert "baseline rivers-bm25.run | α 1: a loss counts 2 times | GeoRisk among 3 runs" in text
    rows = csv_rows(cli(*words, "-f", "csv").text)
    scores = gradedeval.evaluate([*RUNS[1:], RUNS[0]], QRELS, "ap")
    expected = gradedeval.risk(scores, baseline="rivers-bm25.run", risk_aversion=1).frame
    assert list(rows[0]) == [*expected, "signature"]
    assert [float(row["geo_risk"]) for row in rows] == pytest.approx(expected["geo_risk"].tolist())


def test_a_run_alone_has_no_risk() -> None:
    with pytest.raises(InputError, match="risk needs at least two runs; add a run or baseline"):
        gradedeval.risk(saved([[0.1, 0.2]]))
