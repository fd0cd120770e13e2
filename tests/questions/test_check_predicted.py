"""`check --predicted`: bounds of estimates, and of the ends of their intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import Bound
from gradedeval.testing import assert_scores
from support.commands import Command
from support.predicted import JUDGED, MACHINE, PEOPLE, RUNS, write_files


@pytest.fixture
def files(tmp_path: Path) -> None:
    write_files(tmp_path)


PAIR = {name: RUNS[name] for name in "ab"}


def _checked(bounds: list[Bound], runs: Any = PAIR, **options: Any) -> Any:
    scores = gradedeval.evaluate(runs, PEOPLE, "ndcg@10 gm_ap unjudged@10", predicted=MACHINE)
    return gradedeval.check(scores, bounds, **options).frame


def _estimate(run: str, level: float = 0.95) -> Any:
    scores = gradedeval.evaluate(RUNS[run], PEOPLE, "ndcg@10", predicted=MACHINE, interval=level)
    return scores.frame.query("topic == 'all'").iloc[0]


def test_bounds_are_of_the_estimate() -> None:
    found = _estimate("b")
    bounds = [Bound("min", "ndcg@10", found["score"] + above) for above in (-0.001, 0.001)]
    frame = _checked(bounds, baseline="a")
    assert frame["value"].tolist() == pytest.approx([found["score"]] * 2)
    assert frame["passed"].tolist() == [True, False]


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_with_a_level_they_are_of_the_end_of_the_interval(level: float) -> None:
    found = _estimate("b", level)
    significant = Bound("significant", "ndcg@10", 1 - level)
    bounds = [Bound("min", "ndcg@10", found["low"] + 0.001), Bound("max", "ndcg@10", found["high"] + 0.001)]
    with pytest.warns(gradedeval.EvaluationWarning, match="so this bound passes worse runs"):
        frame = _checked([*bounds, significant], {"b": RUNS["b"]})  # which needs no baseline
    assert frame["bound"].tolist() == ["min", "max"]
    assert frame["value"].tolist() == pytest.approx([found["low"], found["high"]])
    assert frame["passed"].tolist() == [False, True]
    assert f"the {100 * level:g}% interval of ndcg@10" in frame["verdict"][0]


@pytest.mark.parametrize(("run", "baseline"), [("a", "b"), ("b", "a")])
def test_a_drop_is_that_of_compare(run: str, baseline: str) -> None:
    runs = {name: RUNS[name] for name in (baseline, run)}
    row = gradedeval.compare(runs, PEOPLE, "ndcg@10", predicted=MACHINE).frame.iloc[0]
    bounds = [Bound("max-drop", "ndcg@10", -row["difference"] + 0.001), Bound("max-drop", "ndcg@10", 0.05, True)]
    frame = _checked(bounds, runs, baseline=baseline)
    assert frame["value"].tolist() == pytest.approx([-row["difference"], -row["difference"] / row["baseline_mean"]])
    assert frame["passed"].tolist() == [True, baseline == "a"]
    bounds = [Bound("max-drop", "ndcg@10", -row["low"] - 0.001), Bound("significant", "ndcg@10", 0.05)]
    frame = _checked(bounds, runs, baseline=baseline)
    assert frame["value"].tolist() == pytest.approx([-row["low"], row["p"]])
    assert frame["passed"].tolist() == [False, baseline == "a"]


def test_a_drop_of_a_geometric_mean() -> None:
    row = gradedeval.compare(PAIR, PEOPLE, "gm_ap", predicted=MACHINE, baseline="b").frame.iloc[0]
    bounds = [Bound("max-drop", "gm_ap", 1.0)]
    assert _checked(bounds, baseline="b")["value"][0] == pytest.approx(row["baseline_mean"] - row["mean"], rel=0.05)
    both = _checked([*bounds, Bound("significant", "gm_ap", 0.05)], baseline="b")
    assert both["value"][0] == pytest.approx(row["baseline_mean"] * (1 - row["low"]))
    assert both["value"][1] == pytest.approx(row["p"])


def test_a_rise_where_lower_is_better() -> None:
    judged = {topic: dict(list(own.items())[:12]) for topic, own in PEOPLE.items()}
    machine = {topic: dict(list(own.items())[:14]) for topic, own in MACHINE.items()}
    scores = gradedeval.evaluate(PAIR, judged, "unjudged@10", predicted=machine)
    row = gradedeval.compare(scores).frame.iloc[0]
    bounds = [Bound("max-drop", "unjudged@10", 1.0), Bound("significant", "unjudged@10", 0.05)]
    frame = gradedeval.check(scores, bounds, "a").frame
    assert frame["value"].tolist() == pytest.approx([row["high"], row["p"]])


def test_topics_are_those_that_people_judged() -> None:
    frame = _checked([Bound("min-topics", "ndcg@10", 20), Bound("max-topic-drop", "ndcg@10", 1.1)], baseline="a")
    assert frame["topics"].tolist() == [20, 20]
    assert not frame["verdict"].str.contains("of 40").any()


def test_the_command_reads_them_from_a_file_of_settings(cli: Command, files: None, tmp_path: Path) -> None:
    words = ("check", "b.run", "people.qrels", "-m", "ndcg@10", "--min", "0.1", "--significant", "0.05")
    done = cli(*words, "--predicted", "machine.qrels", "-f", "json")
    assert (done.code, done.err) == (0, b"")
    found = json.loads(done.out)
    assert [row["bound"] for row in found["bounds"]] == ["min"]
    assert "predicted machine.qrels" in found["signature"]
    (tmp_path / "gradedeval.toml").write_text('predicted = "machine.qrels"\n')
    assert json.loads(cli(*words, "-f", "json").out) == found


def test_a_bare_level_is_of_all_bounds_and_slices(cli: Command, files: None, tmp_path: Path) -> None:
    (tmp_path / "labels.tsv").write_text("topic\tkind\n" + "".join(f"{topic}\tall\n" for topic in MACHINE))
    words = ("people.qrels", "--predicted", "machine.qrels", "--slices", "labels.tsv", "--significant", "0.05")
    bounds = ("-m", "ndcg@10", "--min", "ap=0.01", "--max", "kind=all: ndcg@10=0.99")
    for runs in (("b.run",), ("a.run", "b.run")):
        done = cli("check", *runs, *words, *bounds)
        assert done.code == 0
        assert "the 95% interval of ap, " in done.out.decode()
        assert "kind=all: the 95% interval of ndcg@10, " in done.out.decode()


def test_a_drop_is_said_with_its_interval() -> None:
    row = gradedeval.compare(PAIR, PEOPLE, "ndcg@10", predicted=MACHINE).frame.iloc[0]
    significant = Bound("significant", "ndcg@10", 0.05)
    bounds = [significant, Bound("max-drop", "ndcg@10", 0.01)]
    said = _checked(bounds, baseline="a")["verdict"][1]
    interval = f"(95% interval {row['low']:+.4f} to {row['high']:+.4f})"
    assert said == f"ndcg@10 rose by {row['difference']:.4f} {interval}, so fell by no more than 0.01"
    bounds[1] = Bound("max-drop", "ndcg@10", 0.05, relative=True)
    said = _checked(bounds, baseline="b")["verdict"][1]
    assert f"ndcg@10 fell by {row['difference']:.4f} (95% interval" in said
    assert f", so it may have fallen by {row['high']:.4f}, " in said
    assert said.endswith("%, more than 5%")


def test_intervals_end_where_the_scale_does() -> None:
    found = gradedeval.evaluate(RUNS["b"], PEOPLE, "p@1", predicted=MACHINE).frame.query("topic == 'all'").iloc[0]
    assert found["high"] == 1
    scores = gradedeval.evaluate({"b": RUNS["b"]}, PEOPLE, "p@1", predicted=MACHINE)
    bounds = [Bound("max", "p@1", 1.0), Bound("significant", "p@1", 0.05)]
    with pytest.warns(gradedeval.EvaluationWarning, match="so this bound passes worse runs"):
        assert gradedeval.check(scores, bounds).frame["value"].tolist() == [1]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            "--max-unjudged 0.1",
            "--predicted estimates means, and says nothing of what judging could add",
        ),
        ("--min 0.1 --history kept.jsonl", "--predicted: cannot be combined with --history; leave out one of them"),
        (
            "--significant 0.05 --test t --baseline a.run",
            "--test: t compares scores by topic, and",
        ),
        ("--significant 0.05", "--significant needs a baseline; add --baseline RUN"),
    ],
)
def test_what_does_not_go_with_it(more: str, message: str, cli: Command, files: None) -> None:
    done = cli("check", "b.run", "people.qrels", "--predicted", "machine.qrels", "-m", "ndcg@10", *more.split())
    assert (done.code, done.out) == (2, b"")
    assert message in done.err.decode()


def test_too_few_topics_are_an_error_of_the_data(cli: Command, files: None, tmp_path: Path) -> None:
    lines = "".join(f"{topic}\t{'few' if topic in JUDGED[:3] else 'most'}\n" for topic in MACHINE)
    (tmp_path / "labels.tsv").write_text(f"topic\tkind\n{lines}")
    words = ("b.run", "people.qrels", "--predicted", "machine.qrels", "--slices", "labels.tsv")
    done = cli("check", *words, "--min", "kind=few: ndcg@10=0.1")
    assert (done.code, done.out) == (3, b"")
    assert b"ndcg@10: 3 topics that people judged, and 0 others; an estimate needs 5 and 2" in done.err
    assert cli("check", *words, "--min", "kind=most: ndcg@10=0.1").code == 0


def test_a_test_of_a_search_system_takes_them() -> None:
    found = assert_scores(RUNS["b"], PEOPLE, {"ndcg@10": 0.1}, predicted=MACHINE)
    assert found.frame["value"][0] == pytest.approx(_estimate("b")["score"])
