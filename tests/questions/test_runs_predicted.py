"""`plot runs --predicted`: for each run an interval by people, by a machine, and by both."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import gradedeval
from gradedeval.questions.runs import run_summaries
from support.commands import Command
from support.predicted import DOCNOS, MACHINE, PEOPLE, TOPICS

_drawn = random.Random(7)
RUNS = {name: {topic: {docno: _drawn.random() for docno in DOCNOS} for topic in TOPICS} for name in ("one", "two")}


@pytest.mark.parametrize("measure", ["ndcg@10", "gm_ap", "num_rel_ret", "esl", "p@1"])
def test_estimates_are_those_of_an_evaluation(measure: str) -> None:
    frame = run_summaries(RUNS, PEOPLE, measure, predicted=MACHINE, level=0.9).frame
    scores = gradedeval.evaluate(RUNS, PEOPLE, measure, predicted=MACHINE, interval=0.9)
    rows = scores.frame.query("topic == 'all'")
    for name in ("score", "people", "machine", "lambda_", "narrower", "times"):
        assert frame[name].tolist() == pytest.approx(rows[name].tolist()), name
    for name in ("low", "high", "people_low", "people_high"):  # cut at the ends of the scale
        assert frame[name].tolist() == pytest.approx(rows[name].tolist()), name
    assert (frame["machine_low"] < frame["machine"]).all()
    assert (frame["machine"] < frame["machine_high"]).all()
    assert frame[["topics", "others"]].to_numpy().tolist() == [[20, 20]] * 2
    given = run_summaries(scores, level=0.9).frame
    assert given.equals(frame)


@pytest.mark.filterwarnings("ignore:.*only rough guides:gradedeval.EvaluationWarning")
def test_slices_have_estimates_of_their_own() -> None:
    labels = {topic: "even" if number % 4 < 2 else "odd" for number, topic in enumerate(TOPICS)}
    ask = {"predicted": MACHINE, "slices": {"kind": labels}}
    frame = run_summaries(RUNS, PEOPLE, "err@20", slice="kind", **ask).frame
    assert frame["slice"].tolist() == ["kind=even"] * 2 + ["kind=odd"] * 2
    rows = gradedeval.evaluate(RUNS, PEOPLE, "err@20", **ask).frame.query("slice == 'kind=odd'")
    assert frame["score"][2:].tolist() == pytest.approx(rows["score"].tolist())


@pytest.mark.filterwarnings("ignore:.*unjudged topics:gradedeval.EvaluationWarning")
def test_the_picture_has_three_intervals_for_each_run() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    gradedeval.plot.runs(gradedeval.evaluate(RUNS, PEOPLE, "err@20", predicted=MACHINE), ax=ax)
    assert [one.get_label() for one in ax.containers] == ["95% interval by people", "by both", "by the machine"]
    assert "20 topics and 20 by the machine" in ax.get_xlabel()
    pyplot.close(figure)


def test_at_the_prompt(cli: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, qrels in (("people", PEOPLE), ("machine", MACHINE)):
        lines = [f"{topic} 0 {docno} {grade}\n" for topic, own in qrels.items() for docno, grade in own.items()]
        (tmp_path / f"{name}.qrels").write_text("".join(lines))
    scored = [f"{topic} Q0 {docno} 1 {score} x\n" for topic, own in RUNS["one"].items() for docno, score in own.items()]
    (tmp_path / "one.run").write_text("".join(scored))
    files = [str(tmp_path / name) for name in ("one.run", "people.qrels")]
    out = tmp_path / "runs.svg"
    done = cli("plot", "runs", *files, "--predicted", str(tmp_path / "machine.qrels"), "-m", "err@20", "-o", str(out))
    assert done.code == 0
    assert out.stat().st_size
