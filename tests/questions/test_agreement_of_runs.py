"""`diff` without qrels: how far runs agree, and reproduced experiments."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

import gradedeval
from gradedeval import InputError
from support.commands import Command
from support.paths import QRELS, SAMPLES

BM25, RM3, NEURAL, DENSE = (str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "bm25-rm3", "neural", "dense"))
Groups = list[list[int]]


def test_the_numbers_of_two_runs() -> None:
    runs = {"A": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}, "only": {"x": 1.0}}, "B": {"t": {"b": 9.0, "a": 8.0, "d": 7.0}}}
    with pytest.warns(gradedeval.EvaluationWarning, match="1 of 2 topics left out of a pair: not in both runs"):
        found = gradedeval.agreement(runs, at=2)
    (row,) = found.frame.to_dict("records")
    assert (row["topic"], row["overlap"], row["tau"], row["common"]) == ("t", 1, -1, 2)
    assert row["residual"] == pytest.approx(row["rbo_high"] - row["rbo_low"])
    assert list(found.means["topics"]) == [1]
    assert gradedeval.agreement([BM25, RM3]).of_topic("301").frame["overlap"].tolist() == [0.2]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_reproduced_experiment_is_the_original() -> None:
    frame = gradedeval.reproduction([BM25, NEURAL], [BM25, NEURAL], QRELS, "ndcg@10 ap", topics="relevant").frame
    best = {"ktu": 1, "rbo": 1, "rmse": 0, "er": 1, "delta_ri": 0}
    for row in frame.to_dict("records"):
        assert row["value"] == pytest.approx(best[row["what"]])


def test_how_rankings_of_a_reproduction_agree_is_measured_as_its_command_does(cli: Command) -> None:
    runs, originals = [NEURAL, BM25], [BM25, NEURAL]
    frame = gradedeval.reproduction(runs, originals, persistence=0.8).frame
    outcome = cli("diff", *runs, "--reproduce", *originals, "--persistence", "0.8", "-f", "csv")
    assert [float(row["value"]) for row in csv.DictReader(outcome.text.splitlines())] == pytest.approx(
        frame["value"].tolist(), abs=1e-12
    )


def test_the_numbers_of_a_reproduction() -> None:
    """Breuer et al.: the union of d1 d2 d3 and d1 d2 d4 is d1 d2 d3 d4, so that ranks 1 2 3 meet 1 2 4."""
    qrels = {"t": {"d1": 1, "d3": 1}, "u": {"d1": 1}}
    old = {"t": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    better = {"t": {"d3": 3.0, "d1": 2.0}, "u": {"d1": 2.0}}
    mine = {"t": {"d1": 3.0, "d2": 2.0, "d4": 1.0}, "u": {"d2": 2.0, "d1": 1.0}}
    good = {"t": {"d1": 3.0, "d4": 2.0}, "u": {"d1": 2.0}}
    frame = gradedeval.reproduction({"b": mine, "a": good}, {"B": old, "A": better}, qrels, "p@2").frame
    value = {(row["what"], row["run"]): row["value"] for row in frame.to_dict("records")}
    assert value["ktu", "b"] == 1
    assert value["rmse", "b"] == 0
    assert value["rmse", "a"] == pytest.approx(math.sqrt((0.5**2 + 0) / 2))
    improved, original = 0.5 - 0.5, 0.75 - 0.5
    assert value["er", "a − b"] == pytest.approx(improved / original)
    assert value["delta_ri", "a − b"] == pytest.approx(original / 0.5 - improved / 0.5)


# --- at the prompt ----------------------------------------------------------------------------------------------------


def test_two_runs_by_topic_and_more_as_a_matrix(cli: Command) -> None:
    two = cli("diff", BM25, RM3, "--top", "1").text
    assert "mean of 50  0.2361" in two
    assert "49 more topics: --top N" in two
    matrix = cli("diff", BM25, RM3, NEURAL).text
    assert "bm25          —     0.236   0.152" in matrix
    lines = cli("diff", BM25, RM3, "-f", "jsonl", "--top", "1").text.splitlines()
    assert json.loads(lines[0]).keys() >= {"run", "other", "topic", "rbo", "residual", "overlap", "tau"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((BM25,), "1 run given; agreement is between two or more"),
        ((BM25, RM3, "--only", "worse"), "--only: needs qrels; add QRELS"),
        ((BM25, RM3, QRELS, "--at", "3"), "--at: applies to runs without qrels; leave it out"),
        ((BM25, RM3, "--topic", "nine"), "--topic: 'nine' is not a topic of both runs; as in "),
        ((BM25, QRELS, "--reproduce", DENSE, NEURAL), "1 runs and 2 originals given; give a baseline"),
    ],
)
def test_what_cannot_be_compared_is_one_line(words: tuple[str, ...], message: str, cli: Command) -> None:
    done = cli("diff", *words)
    assert done.code == 2
    assert len(done.messages) == 1
    assert message in done.messages[0]


def test_runs_without_a_topic_in_common() -> None:
    runs: Any = {"A": {"t": {"a": 1.0}}, "B": {"u": {"a": 1.0}}}
    with pytest.raises(InputError, match="shares no topics with"):
        gradedeval.agreement(runs)


@pytest.mark.parametrize("words", [("diff", BM25, RM3), ("pool", BM25, RM3)])
def test_runs_without_a_topic_that_is_listed(words: tuple[str, ...], tmp_path: Path, cli: Command) -> None:
    (tmp_path / "topics").write_text("none\n")
    done = cli(*words, "--topics-from", "topics")
    said = f"--topics-from: no topic of {BM25} is listed; its topics are 301, 302, 303, 304, 305, …"
    assert (done.code, done.out, done.messages) == (1, b"", [said])
    with pytest.raises(InputError, match=r"^A: is empty"):
        gradedeval.agreement({"A": {}, "B": {"t": {"a": 1.0}}})


def test_ktu_orders_the_union_by_docno_as_repro_eval() -> None:
    """By loops; rankings without a common document agree no more than chance has it, and those of the paper's example
    fully."""
    draw = random.Random(17)

    def ktu(run: list[str], original: list[str]) -> float:
        ranked = [{"t": {docno: float(-rank) for rank, docno in enumerate(one)}} for one in (run, original)]
        found = gradedeval.reproduction([ranked[0]] * 2, [ranked[1]] * 2).frame
        return float(found[found["what"] == "ktu"]["value"].iloc[0])

    docnos = [f"d{number:02}" for number in range(60)]
    for _ in range(5):
        run, original = draw.sample(docnos, draw.randint(2, 30)), draw.sample(docnos, draw.randint(2, 30))
        union = sorted({*run, *original})
        places = [[union.index(one) for one in ranking[: min(len(run), len(original))]] for ranking in (run, original)]
        assert ktu(run, original) == pytest.approx(kendalltau(*places).statistic)
    assert ktu(["d1", "d2", "d4"], ["d1", "d2", "d3"]) == 1
    mixed = draw.sample(docnos, 60)
    assert abs(ktu(mixed[:30], mixed[30:])) < 0.4
