"""`compare -q` and `explain A B`: topics × runs, and two rankings side by side."""

from __future__ import annotations

import json

import pytest

import gradedeval
from support.commands import Command
from support.paths import SAMPLES

BM25, NEURAL, QRELS = (str(SAMPLES / f"rivers{name}") for name in ("-bm25.run", "-neural.run", ".qrels"))


def test_median_best_and_worst_of_each_topic() -> None:
    qrels = {"t": {"a": 1}, "u": {"a": 1}}
    runs = {
        name: {"t": {"a": first, "b": 0.5}, "u": {"b": 1.0, "a": 0.5}}
        for name, first in (("x", 1.0), ("y", 0.1), ("z", 0.2))
    }
    frame = gradedeval.topic_table(gradedeval.evaluate(runs, qrels, "rr esl")).frame
    rr = frame[(frame["measure"] == "rr") & (frame["topic"] == "t")]
    assert dict(zip(rr["run"], rr["score"], strict=True)) == {"x": 1, "y": 0.5, "z": 0.5}
    assert rr[["median", "best", "worst"]].iloc[0].tolist() == [0.5, 1, 0.5]
    esl = frame[(frame["measure"] == "esl") & (frame["topic"] == "t")].iloc[0]
    assert esl["best"] < esl["worst"]
    means = frame[(frame["measure"] == "rr") & (frame["topic"] == "all")]
    assert means["score"].tolist() == [0.75, 0.5, 0.5]
    assert means[["median", "best", "worst"]].iloc[0].tolist() == [0.5, 0.75, 0.5]


def test_compare_q_prints_topics_and_runs(cli: Command) -> None:
    text = cli("compare", BM25, NEURAL, QRELS, "-q", "-m", "err@20").text
    head = text.splitlines()[0].split()
    assert head == ["err@20", "bm25", "neural", "median", "best", "worst"]
    assert "all     0.2886  0.7176  0.5031" in text
    rows = [
        json.loads(line)
        for line in cli("compare", BM25, NEURAL, QRELS, "-q", "-f", "jsonl", "-m", "ap").text.splitlines()
    ]
    assert len(rows) == 2 * 51
    said = cli("compare", BM25, NEURAL, QRELS, "-q", "--alpha", "0.1").messages
    assert said == ["--alpha: does not apply to -q, which tests nothing; leave it out"]


def test_two_rankings_beside_each_other(cli: Command) -> None:
    text = cli("explain", BM25, NEURAL, QRELS, "--topic", "301", "-m", "ndcg@5").text
    assert "ndcg@5: 0.5900 (residual 0.0000) and 0.5326 (residual 0.0000), difference -0.0573" in text
    assert "1     river-0202      4        0.5326  river-0202      4        0.5326           1" in text
    rows = [
        json.loads(line)
        for line in cli(
            "explain", BM25, NEURAL, QRELS, "--topic", "301", "-m", "ndcg@5", "-f", "jsonl"
        ).text.splitlines()
    ]
    for run, score in (("rivers-bm25.run", 0.58996), ("rivers-neural.run", 0.53262)):
        assert sum(row["contribution"] for row in rows if row["run"] == run) == pytest.approx(score, abs=1e-4)
    done = cli("explain", BM25, NEURAL, str(SAMPLES / "rivers-dense.run"), QRELS, "--topic", "301")
    assert done.messages == ["3 runs given; explain one, or two side by side"]
