"""Weighted means of topics: weighted values, and refusals of weights."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError, Scores
from support.commands import Command

DRAWN = random.Random(13)
QRELS = {str(topic): {f"d{number}": DRAWN.choice([0, 1, 2]) for number in range(20)} for topic in range(12)}
RUNS = {name: {topic: {f"d{n}": DRAWN.random() for n in range(5, 30)} for topic in QRELS} for name in "AB"}
WEIGHTS = {topic: number % 4 / 2 for number, topic in enumerate(QRELS)}
MEASURES = "ndcg@10 err@20 ap rbp(p=0.8)"

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # few topics


def score(measures: str = MEASURES, weights: Any = WEIGHTS, run: Any = RUNS["A"], **options: Any) -> Scores:
    return gradedeval.evaluate(run, QRELS, measures, topic_weights=weights, **options)


def weighted_mean(values: Any, topics: list[str] | None = None) -> float:
    kept = list(QRELS) if topics is None else topics
    return float(np.average(values, weights=[WEIGHTS[topic] for topic in kept]))


def test_means_residuals_and_bounds_are_weighted() -> None:
    scores = score(residuals=True, bounds=True)
    topics = scores.frame[scores.frame["topic"] != "all"]
    for label, rows in topics.groupby("measure"):
        assert scores.means[label] == pytest.approx(weighted_mean(rows["score"]), abs=1e-12)
        assert scores.residuals[label] == pytest.approx(weighted_mean(rows["residual"]), abs=1e-12)
        ends = [weighted_mean(rows["low"]), weighted_mean(rows["high"])]
        assert list(scores.bounds[label]) == pytest.approx(ends, abs=1e-12)


def test_geometric_means_are_weighted() -> None:
    logarithms = np.log(np.maximum(list(score("gm_ap").by_topic("gm_ap").values()), 1e-5))
    assert score("gm_ap").means["gm_ap"] == pytest.approx(np.exp(weighted_mean(logarithms)), abs=1e-12)


def test_equal_weights_change_only_the_signature() -> None:
    equal, plain = score(weights=dict.fromkeys(QRELS, 3)), score(weights=None)
    assert equal.means == pytest.approx(plain.means, abs=1e-15)
    assert equal.topics.equals(plain.topics)
    assert "topic weights" not in plain.signature
    assert " | topic weights " in equal.signature
    assert equal != plain


def test_a_weight_of_zero_leaves_a_topic_out() -> None:
    without = gradedeval.evaluate(RUNS["A"], QRELS, MEASURES, topics_from=[topic for topic in QRELS if topic != "3"])
    assert score(weights={topic: int(topic != "3") for topic in QRELS}).means == pytest.approx(without.means, abs=1e-12)


def test_the_means_of_slices_and_of_certain_topics_are_weighted() -> None:
    scores = score("ap", slices={topic: "even" if int(topic) % 2 == 0 else "odd" for topic in QRELS})
    for label, part in scores.by_slice["slice"].items():
        topics = [topic for topic in QRELS if (int(topic) % 2 == 0) == (label == "even")]
        by_topic = scores.by_topic("ap")
        expected = weighted_mean([by_topic[topic] for topic in topics], topics)
        assert part.means["ap"] == pytest.approx(expected, abs=1e-12)
    certain = score("ap", max_residual=0.4)
    kept = certain.by_topic("ap")
    assert 0 < len(kept) < len(QRELS)
    assert certain.means["ap"] == pytest.approx(weighted_mean(list(kept.values()), list(kept)), abs=1e-12)


def test_runs_are_sorted_by_weighted_means_and_processes_agree() -> None:
    scores = score("ap", run=RUNS, jobs=2)
    assert scores == score("ap", run=RUNS)
    assert scores.means_by_run["B"]["ap"] == score("ap", run=RUNS["B"]).means["ap"]


def test_weights_are_read_from_files_dicts_and_frames(tmp_path: Path) -> None:
    frame = pd.DataFrame({"topic": list(WEIGHTS), "weight": list(WEIGHTS.values())})
    frame.to_csv(tmp_path / "headed.csv", index=False)
    frame.to_csv(tmp_path / "bare.tsv", index=False, header=False, sep="\t")
    frame.to_csv(tmp_path / "spaces.txt", index=False, header=False, sep=" ")
    whole = score()
    for weights in (frame, *(tmp_path / name for name in ("headed.csv", "bare.tsv", "spaces.txt"))):
        assert score(weights=weights) == whole
    numbers = {int(topic): np.float64(weight) for topic, weight in WEIGHTS.items()}
    assert score(weights=numbers) == whole


def test_topics_may_have_spaces_between_tabs(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.run").write_text("red shoes\tQ0\td\t1\t2\tt\nblue hat\tQ0\te\t1\t3\tt\n")
    (tmp_path / "q").write_text("red shoes\t0\td\t1\nblue hat\t0\tf\t1\n")
    (tmp_path / "w").write_text("red shoes\t3\nblue hat\t1\n")
    done = cli("a.run", "q", "-m", "rr", "--topic-weights", "w", "-f", "csv", "--quiet")
    assert [line.split(",")[3] for line in done.text.splitlines()] == ["score", "0.75"]


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a negative weight": (
        lambda: score(weights={**WEIGHTS, "3": -1}),
        "weight -1 of topic '3' is not a finite number of 0 or more; leave a topic out of means with weight 0",
    ),
    "a word": (lambda: score(weights={**WEIGHTS, "3": "x"}), "weight 'x' of topic '3' is not a finite number"),
    "a topic without a weight": (
        lambda: score(weights={"1": 1}),
        "11 of 12 topics have no weight (0, 2, 3, 4, 5, …); give each topic one; 0 leaves it out of means",
    ),
    "zeros": (lambda: score(weights=dict.fromkeys(QRELS, 0)), "no topic has a weight above 0"),
    "a list": (lambda: score(weights=[1, 2]), "[1, 2] is not a file, a dict topic -> weight or a DataFrame"),
    "a frame without weights": (lambda: score(weights=pd.DataFrame({"topic": ["1"]})), "no column 'weight'"),
    "a total": (lambda: score("num_ret"), "'num_ret' is a total over topics, not a mean"),
    "an interval": (
        lambda: score(interval=0.9),
        "cannot be combined with interval, where all topics weigh the same; leave out one of them",
    ),
    "predictions": (lambda: score("p@5", predicted=QRELS), "cannot be combined with predicted"),
    "systems": (lambda: score(run=RUNS, replicates={"S": ["A", "B"]}), "cannot be combined with replicates"),
    "a comparison": (
        lambda: gradedeval.compare(score(run=RUNS)),
        "topics weigh the same in differences, tests and intervals; leave it out; eval and evaluate have",
    ),
    "a comparison of saved scores": (lambda: gradedeval.compare(score(run=RUNS).frame), "topics weigh the same"),
    "a check": (lambda: gradedeval.check(score()), "topics weigh the same"),
    "marks of significance": (lambda: gradedeval.table(score(run=RUNS), baseline="A"), "topics weigh the same"),
    "runs to compare": (
        lambda: gradedeval.compare(RUNS, QRELS, "ap", topic_weights=WEIGHTS),  # type: ignore[call-arg]
        "compare does not take it",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_weights_that_cannot_be_taken_are_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(InputError) as raised:
        call()
    assert str(raised.value).startswith(f"topic_weights: {message}")


def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path) -> None:
    for text, message in (("1 1\n2 -1\n", "w:2: "), ("1 1\n1 2\n", "w:2: "), ("1\n", "w:1: "), ("1 x\n2 y\n", "w:")):
        (tmp_path / "w").write_text(text)
        with pytest.raises(InputError) as raised:
            score(weights=tmp_path / "w")
        assert message in str(raised.value)


def test_weights_of_other_topics_are_noted() -> None:
    with pytest.warns(gradedeval.EvaluationWarning, match="1 weight is of a topic that is not in the qrels"):
        score(weights={**WEIGHTS, "99": 1})
