"""The interval of a mean: comparison to loops over samples, coverage, and `--interval`."""

import csv
import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import gradedeval
from gradedeval.errors import InputError
from gradedeval.kernel.scoring import intervals
from gradedeval.kernel.scoring.intervals import MANY_TOPICS, standard_error, studentized_interval, topic_weights
from support.commands import Command
from support.paths import SAMPLES

Floats = NDArray[np.float64]
RUN, OTHER, QRELS = (str(SAMPLES / f"rivers{name}") for name in ("-bm25.run", "-neural.run", ".qrels"))


def test_the_interval_is_made_of_student_s_t_of_resampled_topics() -> None:
    values = np.random.default_rng(3).gamma(0.5, size=(3, 20))
    low, high = studentized_interval(values, 399, 5, 0.1)
    counts = (topic_weights(20, 399, 5) * 20).round().astype(int)
    for topic_scores, begin, end in zip(values, low, high, strict=True):
        drawn = np.array([np.repeat(topic_scores, row) for row in counts])
        t = np.sort((drawn.mean(1) - topic_scores.mean()) / (drawn.std(1, ddof=1) / math.sqrt(20)))
        error = topic_scores.std(ddof=1) / math.sqrt(20)
        assert standard_error(topic_scores[None])[0] == pytest.approx(error)
        assert (begin, end) == pytest.approx(
            (topic_scores.mean() - t[-20] * error, topic_scores.mean() - t[19] * error)
        )


def test_the_interval_shifts_scales_and_changes_sign_with_the_values() -> None:
    values = np.random.default_rng(4).gamma(0.5, size=(1, 12))
    (low,), (high,) = studentized_interval(values, 999, 0, 0.05)
    moved = studentized_interval(3 * values - 7, 999, 0, 0.05)
    assert np.ravel(moved) == pytest.approx([3 * low - 7, 3 * high - 7])
    assert np.ravel(studentized_interval(-values, 999, 0, 0.05)) == pytest.approx([-high, -low])


def test_values_that_are_alike_have_a_point_and_too_few_an_interval_without_end() -> None:
    alike = studentized_interval(np.full((1, 9), 0.1), 500, 0, 0.05)
    assert np.ravel(alike) == pytest.approx([0.1, 0.1])
    three = np.array([[0.1, 0.4, 0.7]])
    assert np.ravel(studentized_interval(three, 10_000, 0, 0.05)).tolist() == [-np.inf, np.inf]
    one_of_fifty = np.append(np.zeros(49), 0.5)[None]
    assert studentized_interval(one_of_fifty, 10_000, 0, 0.05)[1].tolist() == [np.inf]
    few_draws = studentized_interval(np.random.default_rng(0).normal(size=(1, 30)), 38, 0, 0.05)
    assert np.ravel(few_draws).tolist() == [-np.inf, np.inf]
    assert np.isnan(studentized_interval(np.array([[0.5]]), 100, 0, 0.05)).all()


@pytest.mark.parametrize("topics", [MANY_TOPICS - 1, MANY_TOPICS, 4 * MANY_TOPICS])
def test_samples_of_many_topics_are_multinomial(topics: int) -> None:
    counts = topic_weights(topics, 400, 7) * topics
    # pytest.approx compares arrays number by number in Python.
    assert np.abs(counts - counts.round()).max() < 1e-9
    assert np.abs(counts.sum(1) - topics).max() < 1e-6
    # Chi-squared of how many topics are in a sample that often: 10 degrees of freedom are beyond 30 in 1 of 1,100.
    often = np.bincount(counts.round().astype(int).ravel(), minlength=8)
    expected = 400 * topics * np.array([math.comb(topics, k) * (topics - 1) ** (topics - k) / topics**topics
                                        for k in range(8)])  # fmt: skip
    assert ((often[:8] - expected) ** 2 / expected).sum() < 30
    # Counts of two topics are correlated by −1 / (topics − 1), so sums over half of the topics vary half as much.
    halves = counts[:, : topics // 2].sum(1)
    assert halves.var() == pytest.approx(topics / 4, rel=0.25)
    assert halves.mean() == pytest.approx(topics // 2, abs=4 * math.sqrt(topics / 4 / 400))


def test_samples_continue_the_previous_samples() -> None:
    drawn = np.random.default_rng(5)
    parts = [topic_weights(MANY_TOPICS, draws, drawn) for draws in (3, 1, 4)]
    assert np.concatenate(parts).tolist() == topic_weights(MANY_TOPICS, 8, 5).tolist()


def test_intervals_of_many_topics_agree_with_binomial_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(8).gamma(0.5, size=(1, MANY_TOPICS))
    quick = np.array(studentized_interval(values, 5000, 0, 0.05))
    monkeypatch.setattr(intervals, "MANY_TOPICS", 10**9)
    slow = np.array(studentized_interval(values, 5000, 0, 0.05))
    assert np.abs((quick - slow) / standard_error(values)).max() < 0.2
    assert (quick != slow).all()


DRAWN: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Floats], float]] = {
    "normal": (lambda draw, shape: draw.normal(size=shape), 0.0),
    "beta(0.3, 2)": (lambda draw, shape: draw.beta(0.3, 2, shape), 0.3 / 2.3),
    "lognormal": (lambda draw, shape: draw.lognormal(size=shape), math.exp(0.5)),
}


COVERED = {5: (0.95, 0.94, 0.89), 10: (0.95, 0.96, 0.91), 50: (0.95, 0.96, 0.93)}
"""Topics -> the coverage of intervals of 95 % with each of these distributions."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("topics", COVERED)
@pytest.mark.parametrize("kind", DRAWN)
def test_intervals_cover_the_mean_as_often_as_documented(topics: int, kind: str) -> None:
    coverage = COVERED[topics][list(DRAWN).index(kind)]
    make, mean = DRAWN[kind]
    values = make(np.random.default_rng(topics), (10_000, topics))
    low, high = studentized_interval(values, 1999, 0, 0.05)
    assert ((low <= mean) & (mean <= high)).mean() == pytest.approx(coverage, abs=0.01)


# --interval


def test_each_summary_has_a_standard_error_and_an_interval(cli: Command) -> None:
    scores = gradedeval.evaluate(RUN, QRELS, "err@20 gm_ap num_rel_ret", interval=0.9)
    frame = scores.frame
    assert list(frame) == ["run", "topic", "measure", "score", "se", "low", "high", "signature"]
    assert frame[frame["topic"] != "all"][["se", "low", "high"]].isna().all(axis=None)
    summaries = frame[frame["topic"] == "all"].set_index("measure")
    ap = np.array(list(scores.by_topic("gm_ap").values()))
    for measure, values, slope, of in (
        ("err@20", np.array(list(scores.by_topic("err@20").values())), 1, lambda mean: mean),
        ("num_rel_ret", np.array(list(scores.by_topic("num_rel_ret").values())), 50, lambda mean: 50 * mean),
        ("gm_ap", np.log(np.maximum(ap, 0.00001)), summaries.loc["gm_ap", "score"], math.exp),
    ):
        low, high = (of(end[0]) for end in studentized_interval(values[None], 10_000, 0, 0.1))
        expected = [slope * values.std(ddof=1) / math.sqrt(50), low, high]
        assert summaries.loc[measure, ["se", "low", "high"]].tolist() == pytest.approx(expected)
    assert " | 90% interval: studentized bootstrap of topics, 10000 draws, seed 0 | " in scores.signature


@pytest.mark.exhaustive
def test_an_interval_in_every_layout(cli: Command) -> None:
    words = (RUN, OTHER, QRELS, "-m", "err@20 num_ret", "--interval")
    header = cli(*words).text.splitlines()[0].split()
    assert header == ["run", "err@20", "se", "low", "high", "num_ret", "se", "low", "high"]
    assert cli(*words, "0.99").text != cli(*words).text == cli(*words, "0.95").text == cli(*words, "--jobs", "1").text
    rows = json.loads(cli(*words, "-f", "json", "--residuals", "split").text)["rows"]
    assert list(rows[0])[3:] == ["score", "se", "low", "high", "residual", "unjudged", "beyond"]
    # All topics have 100 documents: no error, and a point.
    assert (rows[1]["se"], rows[1]["low"], rows[1]["high"]) == (0, rows[1]["score"], rows[1]["score"])
    lines = cli(RUN, QRELS, "-m", "err@20", "--interval", "-f", "trec").text.splitlines()
    assert [line.split()[0] for line in lines] == ["err@20", "err@20.se", "err@20.low", "err@20.high"]


def test_an_interval_is_of_the_topics_that_count_and_blank_for_one() -> None:
    qrels, run = {"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"u": 1.0}}
    with pytest.warns(gradedeval.EvaluationWarning, match="an interval needs 3 topics or more"):
        scores = gradedeval.evaluate(run, qrels, "rr", interval=True, topics_from=["1"])
    assert scores.frame.iloc[-1][["se", "low", "high"]].isna().all()
    with pytest.warns(gradedeval.EvaluationWarning, match="an interval needs 3 topics or more"):
        two = gradedeval.evaluate(run, qrels, "rr dcg", interval=True).intervals
    assert two.tolist() == [[[0.5, 0, 1], [0.5, 0, math.inf]]]


@pytest.mark.parametrize("level", ["0", "1", "95"])
def test_a_level_lies_between_0_and_1(level: str, cli: Command) -> None:
    with pytest.raises(InputError, match=r"^interval: .* is too (small|large); it must be (above 0|below 1)"):
        gradedeval.evaluate(RUN, QRELS, "rr", interval=float(level))
    assert cli(RUN, QRELS, "--interval", level).code == 2


def test_scores_saved_with_their_interval_are_read_back(cli: Command) -> None:
    cli(RUN, OTHER, QRELS, "-q", "-m", "rr", "--interval", "-o", "with.csv")
    cli(RUN, OTHER, QRELS, "-q", "-m", "rr", "-o", "without.csv")
    files = ("with.csv", "without.csv")
    tables = [cli("compare", "--from-scores", file, "-f", "csv", "--quiet").text for file in files]
    rows = [[row[:-1] for row in csv.reader(text.splitlines())] for text in tables]
    assert rows[0] == rows[1]  # but for the signature


def test_intervals_stay_in_the_range_of_measures_and_few_topics_are_noted() -> None:
    run = {str(topic): {"a": 2.0, "b": 1.0} for topic in range(8)}
    qrels = {str(topic): {"a" if topic else "x": 1} for topic in range(8)}
    ends = gradedeval.evaluate(run, qrels, "success@1", interval=0.95).intervals[0, 0]
    assert 0 <= ends[1] < ends[2] <= 1
    with pytest.warns(gradedeval.EvaluationWarning, match="an interval needs 3 topics or more"):
        gradedeval.evaluate({"1": run["1"], "2": run["2"]}, {"1": qrels["1"], "2": qrels["2"]}, "ap", interval=0.95)
