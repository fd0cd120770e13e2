"""`compare --predicted`: differences that are estimated from people's judgments and a machine's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.scoring.predicted import by_people, estimate, saved
from support.commands import Command
from support.predicted import JUDGED, MACHINE, OTHERS, PEOPLE, RUNS, TOPICS, write_files


def _compared(measures: str = "ndcg@10", runs: Any = RUNS, **options: Any) -> Any:
    return gradedeval.compare(runs, PEOPLE, measures, predicted=MACHINE, **options)


def _differences(measure: str, one: str, other: str) -> list[np.ndarray]:
    """Of the judged topics by people and by the machine, and of the others by the machine: as they are tested."""
    parts = []
    for qrels, topics in ((PEOPLE, JUDGED), (MACHINE, JUDGED), (MACHINE, OTHERS)):
        runs = {name: {topic: RUNS[name][topic] for topic in qrels} for name in (one, other)}
        scores = gradedeval.evaluate(runs, qrels, measure)
        (reading,) = (found.reading for found in scores.measures)
        by_topic = scores.frame.pivot(index="topic", columns="run", values="score").loc[topics]
        values = reading.tested(by_topic.to_numpy(dtype=float).T)
        parts.append(np.array([values[1] - values[0]]))
    return parts


@pytest.mark.parametrize("measure", ["ndcg@10", "err@20", "gm_ap", "num_rel_ret"])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_difference_is_estimated_from_those_by_topic(measure: str, alpha: float) -> None:
    row = _compared(measure, {name: RUNS[name] for name in "ab"}, alpha=alpha).frame.iloc[0]
    human, machine, others = _differences(measure, "a", "b")
    both, alone = estimate(human, machine, others, alpha), by_people(human, alpha)
    times = 40 if measure == "num_rel_ret" else 1
    power = np.exp if measure == "gm_ap" else lambda value: times * value
    ends = [power(float(value[0])) for value in (both.low, both.high, alone.low, alone.high)]
    assert row[["low", "high", "people_low", "people_high"]].tolist() == pytest.approx(ends)
    narrower, fold = saved(alone, both)
    assert row[["p", "lambda_", "narrower", "times"]].tolist() == pytest.approx(
        [both.p[0], both.power[0], narrower[0], fold[0]]
    )
    assert (row["topics"], row["others"]) == (20, 20)
    means = {run: gradedeval.evaluate(RUNS[run], PEOPLE, measure, predicted=MACHINE)[measure] for run in "ab"}
    assert row[["mean", "baseline_mean"]].tolist() == pytest.approx([means["b"], means["a"]])
    difference = means["b"] - means["a"] if measure == "gm_ap" else power(float(both.mean[0]))
    assert row["difference"] == pytest.approx(difference)


def test_p_is_corrected_over_pairs() -> None:
    found = _compared(all_pairs=True)
    p = np.sort(found.frame["p"].to_numpy())
    corrected = np.minimum(np.maximum.accumulate(p * [3, 2, 1]), 1)
    assert np.sort(found.frame["p_corrected"].to_numpy()) == pytest.approx(corrected)
    assert "prediction-powered" in found.frame.attrs["test"]
    assert "holm over 3 pairs" in found.frame.attrs["test"]
    assert "20 judged and 20 other topics" in found.signature
    assert "95% interval" not in found.signature  # the level is that of alpha
    alone = _compared(all_pairs=True, correction="none").frame
    assert (alone["p"] == alone["p_corrected"]).all()


def test_other_columns_are_those_of_people() -> None:
    frame = _compared().frame
    runs = {name: {topic: run[topic] for topic in JUDGED} for name, run in RUNS.items()}
    people = gradedeval.compare(runs, PEOPLE, "ndcg@10", judging=False).frame
    same = ["wins", "ties", "losses", "effect"]
    assert (frame[same] == people[same]).to_numpy().all()
    assert frame["people"].to_numpy() == pytest.approx(people["difference"].to_numpy())
    assert list(frame.columns)[-1] == "tested"
    assert not {"lowest", "highest", "same_order"} & set(frame.columns)


def test_runs_that_do_not_differ() -> None:
    row = _compared(runs={"a": RUNS["a"], "b": RUNS["a"]}).frame.iloc[0]
    assert (row["difference"], row["p"], row["low"], row["high"]) == (0, 1, 0, 0)
    assert pd.isna(row["narrower"])


def test_a_difference_that_is_the_same_on_all_topics_has_no_p(cli: Command, files: None) -> None:
    words = ("short.run", "a.run", "people.qrels", "--predicted", "machine.qrels", "-m", "num_ret")
    lines = [f"{topic} Q0 {docno} 0 {score!r} r\n" for topic in TOPICS for docno, score in (("d00", 2.0), ("d01", 1.0))]
    Path("short.run").write_text("".join(lines))
    Path("long.run").write_text("".join([*lines, *(f"{topic} Q0 d02 0 0.5 r\n" for topic in TOPICS)]))
    done = cli("compare", "long.run", *words[:1], *words[2:], "--wide")
    assert done.code == 0
    assert b"no p for 1 pair with the same difference on all topics" in done.err
    assert re.search(r"— +0\.0000 +-40\.0000 to -40\.0000", done.out.decode())


@pytest.mark.filterwarnings("ignore:.*only rough guides:gradedeval.EvaluationWarning")
def test_slices_are_estimated_one_by_one() -> None:
    labels = {topic: "first" if number < 24 else "rest" for number, topic in enumerate(TOPICS)}
    labels |= dict.fromkeys(TOPICS[-6:], "few")
    with pytest.warns(gradedeval.EvaluationWarning, match="part=few: fewer than 5 topics that people judged"):
        found = _compared(runs={name: RUNS[name] for name in "ab"}, slices={"part": labels})
    rows = found.slices.set_index("label")
    first = [topic for topic in TOPICS if labels[topic] == "first"]
    runs = {name: {topic: RUNS[name][topic] for topic in first} for name in "ab"}
    people, machine = ({topic: own[topic] for topic in first if topic in own} for own in (PEOPLE, MACHINE))
    with pytest.warns(gradedeval.EvaluationWarning, match="12 topics that people judged"):
        alone = gradedeval.compare(runs, people, "ndcg@10", predicted=machine).frame.iloc[0]
    same = ["difference", "mean", "low", "high", "p", "lambda_"]
    assert rows.loc["first", same].tolist() == pytest.approx(alone[same].tolist())
    assert (rows.loc[["first", "rest"], "p_corrected"] >= rows.loc[["first", "rest"], "p"]).all()
    assert rows["p_between"].isna().all()
    assert rows.loc["few", ["difference", "p", "low", "high"]].isna().all()
    assert "few" in " ".join(found.slice_words)


def test_seeds_are_compared_by_their_means() -> None:
    runs = {"a1": RUNS["a"], "a2": RUNS["b"], "c1": RUNS["c"], "c2": RUNS["c"]}
    row = _compared(runs=runs, replicates={"a": ["a1", "a2"], "c": ["c1", "c2"]}).frame.iloc[0]
    parts = [(first + second) / 2 for first, second in zip(
        _differences("ndcg@10", "a", "c"), _differences("ndcg@10", "b", "c"), strict=True)]  # fmt: skip
    both = estimate(*parts, 0.05)
    assert (row["run"], row["baseline"]) == ("c", "a")
    assert row[["difference", "p"]].tolist() == pytest.approx([both.mean[0], both.p[0]])


def test_scores_that_were_estimated_are_compared_too() -> None:
    scores = gradedeval.evaluate(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE)
    pd.testing.assert_frame_equal(gradedeval.compare(scores).frame, _compared().frame)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _compared(test="t"), "t compares scores by topic, and estimates have a test of their own"),
        (lambda: _compared(baseline=gradedeval.evaluate({"x": {t: RUNS["a"][t] for t in JUDGED}}, PEOPLE, "ndcg@10")),
         "saved scores have no judgments by a machine"),
        (lambda: _compared(judged_only=True), "cannot be combined with judged_only=True"),
        (lambda: _compared(fill={"t00": {"d99": 0.5}}), "cannot be combined with fill"),
        (lambda: gradedeval.letters(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE), "does not take it"),
        (lambda: gradedeval.topic_table(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE), "does not take it"),
        (lambda: gradedeval.risk(RUNS, PEOPLE, "ndcg@10", predicted=MACHINE), "does not take it"),
        (lambda: gradedeval.correlate(RUNS, PEOPLE, "ndcg@10 ap", predicted=MACHINE), "does not take it"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_it(call: Any, message: str) -> None:
    with pytest.raises(gradedeval.InputError, match=message):
        call()


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_files(tmp_path)


COMMAND = ("compare", "a.run", "b.run", "people.qrels", "--predicted", "machine.qrels", "-m", "ndcg@10")


def test_the_table_says_what_the_machine_saves(cli: Command, files: None) -> None:
    done = cli(*COMMAND, "-m", "gm_ap")
    assert (done.code, done.err) == (0, b"")
    head, _, *rows = done.out.decode().split("\n")
    assert head.split() == ["measure", "run", "mean", "difference", "p", "±", "people", "λ", "saves"]
    assert max(map(len, done.out.decode().split("\n"))) <= 100
    assert max(map(len, [head, *rows[:4]])) <= 80
    assert re.search(r"gm_ap +b +0\.\d{4} +\+0\.\d{4} +.*×1\.\d\d +\+0\.\d{4} +\d\.\d\d +-?\d+%, ×\d", "\n".join(rows))
    wide = cli(*COMMAND, "--wide").out.decode()
    assert "95% interval" in wide
    assert "won/tied/lost (people)" in wide
    assert "effect (people)" in wide
    assert "machine" in wide
    csv = cli(*COMMAND, "-f", "csv").out.decode().split("\n")[0].split(",")
    assert csv[csv.index("people") : csv.index("people") + 7] == [
        "people", "people_low", "people_high", "machine", "lambda_", "narrower", "times"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("--judging", "--predicted: what judging could do to estimates is not known; leave out --judging and --unseen"),
        (
            "--unseen 3",
            "--predicted: what judging could do to estimates is not known; leave out --judging and --unseen",
        ),
        ("--letters", "--predicted: "),
        ("-q", "--predicted: "),
        ("--standardize", "--predicted: cannot be combined with --standardize; leave out one of them"),
        ("--test wilcoxon", "--test: wilcoxon compares scores by topic"),
        ("--topics both", "--predicted: cannot be combined with --topics both"),
    ],
)
def test_options_that_do_not_go_with_it(more: str, message: str, cli: Command, files: None) -> None:
    done = cli(*COMMAND, *more.split())
    assert (done.code, done.out) == (2, b"")
    assert message in done.err.decode()
    assert "\n" not in done.err.decode().strip()


def test_estimates_that_were_saved_are_not_compared(cli: Command, files: None) -> None:
    assert cli(*COMMAND[1:], "-q", "-o", "saved.csv").code == 0
    done = cli("compare", "--from-scores", "saved.csv")
    assert (done.code, done.out) == (1, b"")
    assert b"saved.csv: holds estimates by --predicted, which cannot be compared once they are saved" in done.err
    assert cli("a.run", "people.qrels", "-m", "ndcg@10", "-q", "-o", "plain.csv").code == 0
    done = cli(*COMMAND, "--baseline", "plain.csv")
    assert b"--baseline: saved scores have no judgments by a machine; give the baseline as a run" in done.err
