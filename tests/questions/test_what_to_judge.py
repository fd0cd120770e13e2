"""`pool --to-judge` by what a measure could rise: greedy, against a brute-force greedy; what is refused."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.questions import to_judge
from support.commands import Command
from support.paths import QRELS, SAMPLES

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning", "error::RuntimeWarning")
RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense")]


def some_runs(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    draw = random.Random(seed)
    docnos = [f"d{number}" for number in range(9)]
    runs = {
        name: {topic: {one: draw.random() for one in draw.sample(docnos, 5)} for topic in ("t", "u")} for name in "ABC"
    }
    return runs, {topic: {one: draw.randint(0, 2) for one in draw.sample(docnos, 3)} | {"x": 2} for topic in ("t", "u")}


def weight(runs: Any, before: Any, after: Any, most: Any, measure: str, pairs: bool) -> float:
    rises = {run: after[run][measure] - before[run][measure] for run in runs}
    if not pairs:
        return sum(rises.values())
    weight = 0.0
    for pair in combinations(runs, 2):
        low, high = sorted(pair, key=lambda run: before[run][measure])
        if most[low][measure] >= before[high][measure]:
            weight += abs(rises[low] - rises[high])
    return weight


@pytest.mark.one_in(10)
@pytest.mark.parametrize("strategy", ["residual", "pairs"])
@pytest.mark.parametrize(("measure", "seed"), [("err@4", 1), ("rbp(p=0.5)", 2), ("p@3", 3)])
def test_each_choice_is_the_heaviest_given_those_before_it(strategy: Any, measure: str, seed: int) -> None:
    """What is chosen becomes a judgment of the top grade, for measures that no ideal ranking changes."""
    runs, qrels = some_runs(seed)
    found = gradedeval.to_judge(runs, qrels, strategy, measure=measure, budget=5).frame
    scores = gradedeval.evaluate(runs, qrels, measure, residuals="total")
    most = {
        name: {measure: float((run.score + run.residual).mean())} for name, run in zip(runs, scores.runs, strict=True)
    }
    before = scores.means_by_run
    for topic, docno, expected in found[["topic", "docno", "weight"]].itertuples(index=False):
        weights = {}
        for one in {(t, d) for run in runs.values() for t in run for d in run[t] if d not in qrels[t]}:
            more = {t: judged | ({one[1]: 2} if t == one[0] else {}) for t, judged in qrels.items()}
            after = gradedeval.evaluate(runs, more, measure).means_by_run
            weights[one] = weight(runs, before, after, most, measure, strategy == "pairs")
        assert expected == pytest.approx(max(weights.values()))
        assert weights[topic, docno] == pytest.approx(expected)
        qrels[topic][docno] = 2
        before = gradedeval.evaluate(runs, qrels, measure).means_by_run


@pytest.mark.parametrize("strategy", ["residual", "pairs"])
def test_a_late_look_finds_the_same_where_documents_do_not_help_each_other(
    strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, qrels = some_runs(4)
    exact = gradedeval.to_judge(runs, qrels, strategy, measure="err@5").frame
    monkeypatch.setattr(to_judge, "AT_ONCE", 0)
    late = gradedeval.to_judge(runs, qrels, strategy, measure="err@5").frame
    if strategy == "residual":
        assert late["docno"].tolist() == exact["docno"].tolist()
    assert sorted(late["docno"]) == sorted(exact["docno"])


def test_a_topic_without_relevant_documents_can_rise_to_the_ceiling_once() -> None:
    """By ndcg with the ideal ranking of the qrels: of no relevant document any gain is all there is."""
    runs = {name: {"none": {"a": 3.0, "b": 2.0}, "one": {"c": 3.0, "r": 2.0, "d": 1.0}} for name in "AB"}
    runs["B"]["none"] = {"b": 3.0, "e": 2.0}
    qrels = {"none": {"x": 0}, "one": {"r": 1, "y": 1}}
    found = gradedeval.to_judge(runs, qrels, "residual", measure="ndcg@5").frame
    assert np.isfinite(found["weight"]).all()
    first = found.iloc[0]
    assert (first["docno"], first["weight"]) == ("b", 1.0)  # two runs rise by ½, to the ceiling
    # The others of that topic add nothing to it; they come when all begins anew.
    assert found["docno"].tolist()[1] == "c"
    assert set(found["docno"]) == set("abcde")
    assert np.isfinite(gradedeval.to_judge(runs, qrels, "pairs", measure="ndcg@5").frame["weight"]).all()


def test_topics_without_relevant_documents_do_not_come_first(cli: Command, tmp_path: Path) -> None:
    """Of the real qrels, without the relevant ones of a topic."""
    qrels = tmp_path / "some.qrels"
    lines = [line.split() for line in Path(QRELS).read_text().splitlines()]
    qrels.write_text("".join(" ".join(one) + "\n" for one in lines if one[0] != "301" or int(one[3]) < 1))
    for strategy in ("residual", "pairs"):
        done = cli("pool", *RUNS, str(qrels), "--to-judge", "--strategy", strategy, "-m", "ap", "--budget", "30")
        assert "inf" not in done.text
        assert not [line for line in done.messages if "RuntimeWarning" in line]
        topics = [line.split()[0] for line in done.text.split("\n\n")[1].splitlines()[2:] if not line.startswith(" ")]
        assert len(set(topics)) > 3


def test_what_cannot_change_the_measure_is_left_out() -> None:
    runs = {"A": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}, "B": {"t": {"a": 3.0, "x": 2.0}}}
    qrels = {"t": {"a": 0, "x": 1}}
    strategy: Any
    for strategy in ("residual", "pairs"):
        found = gradedeval.to_judge(runs, qrels, strategy, measure="ndcg@2")
        assert found.frame["docno"].tolist() == ["b"]
        assert found.left == 1
    assert gradedeval.to_judge(runs, qrels, "residual", measure="ndcg@1").frame.empty


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--judged-only",), "--judged-only: leaves no unjudged document to ask for; leave it out"),
        (
            ("--strategy", "residual", "-m", "bpref"),
            "-m: bpref has no residual, by which --strategy residual goes; choose another measure or strategy",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(words: tuple[str, ...], message: str, cli: Command) -> None:
    done = cli("pool", *RUNS, QRELS, "--to-judge", *words)
    assert done.code == 2
    assert message in done.messages[-1]


def test_half_a_judgment_is_none() -> None:
    with pytest.raises(InputError, match=r"budget: 2.5 is not a whole number from 1"):
        gradedeval.to_judge({"A": {"t": {"a": 1.0}}}, budget=2.5)  # type: ignore[arg-type]


def test_those_that_want_a_document_are_named_by_rank(tmp_path: Path, cli: Command) -> None:
    ranks = {"first one": 4, "second; [x]": 3, "third": 1, "fourth": 2}
    files = []
    for name, rank in ranks.items():
        files.append(tmp_path / name)
        docnos = [f"{name[0]}{number}" for number in range(1, rank)] + ["wanted"]
        files[-1].write_text("".join(f"1 Q0 {docno} 0 {-place} r\n" for place, docno in enumerate(docnos)))
    done = cli("pool", *map(str, files), "--to-judge", "--strategy", "depth", "--budget", "9")
    line = next(line for line in done.text.splitlines() if "wanted  " in line)
    assert line.endswith("third:1 fourth:2 second; [x]:3 …")


def test_a_short_list_says_that_no_other_document_counts(cli: Command) -> None:
    done = cli("pool", *RUNS, QRELS, "--to-judge", "--strategy", "residual", "-m", "ndcg@5")
    assert "documents to judge" in done.text or "document to judge" in done.text
    assert ", none of which could change ndcg@5\n" in done.text
