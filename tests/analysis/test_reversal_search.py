"""Judgments that reverse the order of two runs: against every completion of small rankings."""

import itertools
import random
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval.analysis.pairs import describe_prospect, reversible_pairs
from gradedeval.analysis.score_matrix import to_matrix
from gradedeval.kernel.scoring.results import to_rows

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
TOPICS = ("1", "2")
MEASURES = ("ap", "gap", "q", "nerr", "ndcg@2", "recall", "f1", "err")
Judged = dict[str, dict[str, int]]


def case(seed: int) -> tuple[dict[str, dict[str, dict[str, float]]], Judged]:
    """Return two runs of two to four documents a topic, about half of them judged; a topic may lack relevant
    documents."""
    draw = random.Random(seed)
    qrels: Judged = {}
    runs: dict[str, dict[str, dict[str, float]]] = {"A": {}, "B": {}}
    for topic in TOPICS:
        qrels[topic] = {docno: draw.choice([0, 0, 1, 2]) for docno in "abcdefg" if draw.random() < 0.45}
        qrels[topic]["z"] = draw.choice([0, 1])
    for run in runs.values():
        for topic in TOPICS:
            ranking = draw.sample("abcdefg", draw.randint(2, 4))
            run[topic] = {docno: -float(rank) for rank, docno in enumerate(ranking)}
    return runs, qrels


def ends(runs: Any, qrels: Judged, unseen: int) -> dict[str, tuple[float, float]]:
    """Return the least and the largest sum of differences (A less B) by measure, scoring every completion."""
    totals = {measure: np.zeros(2) for measure in MEASURES}
    for topic in TOPICS:
        open_ = sorted({docno for run in runs.values() for docno in run[topic]} - qrels[topic].keys())
        ways = [
            {docno: grade for docno, grade in zip([*open_, *map(str, range(unseen))], grades, strict=True) if grade}
            for grades in itertools.product((0, 1, 2), repeat=len(open_) + unseen)
        ]
        names = [str(number) for number in range(len(ways))]
        judged = {name: qrels[topic] | way for name, way in zip(names, ways, strict=True)}
        many = {run: dict.fromkeys(names, runs[run][topic]) for run in runs}
        first, second = gradedeval.evaluate(many, judged, MEASURES, top_grade=2).runs
        for column, measure in enumerate(MEASURES):
            difference = first.score[:, column] - second.score[:, column]
            totals[measure] += (difference.min(), difference.max())
    return {measure: (low, high) for measure, (low, high) in totals.items()}


@pytest.mark.parametrize(
    "seed", [0, 2, 5, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(6, 60))]
)
@pytest.mark.parametrize("unseen", [0, 1])
def test_an_order_is_called_reversible_only_if_a_completion_reverses_it(seed: int, unseen: int) -> None:
    runs, qrels = case(seed)
    scores = gradedeval.evaluate(runs, qrels, MEASURES, top_grade=2, residuals="total", unseen=unseen)
    frame = gradedeval.compare(scores).frame
    reversible, every = reversible_pairs(frame, to_matrix(scores)), ends(runs, qrels, unseen)
    for row in to_rows(frame):
        low, high = every[row["measure"]]  # A less B
        low, high = (low, high) if row["run"] == "A" else (-high, -low)
        can = (row["difference"] <= 0 and high > 1e-9) or (row["difference"] >= 0 and low < -1e-9)
        if row["reversing"] is None:
            verdict = describe_prospect(row, reversible)
            assert verdict == "could be reversed" if can else verdict != "could be reversed", row


@pytest.mark.parametrize("measure", ["ap", "gap", "q", "nerr"])
def test_documents_that_neither_run_retrieved_reverse_an_order(measure: str) -> None:
    """Include a topic without known relevant documents: x serves the run behind alone."""
    runs = {"ahead": {"1": {"y": 2.0, "x": 1.0}, "2": {"r": 1.0}}, "behind": {"1": {"x": 1.0}, "2": {"n": 1.0}}}
    qrels = {"1": {"n": 0}, "2": {"r": 1, "n": 0}}
    verdicts = []
    for unseen in (0, 3):
        scores = gradedeval.evaluate(runs, qrels, measure, residuals="total", unseen=unseen)
        frame = gradedeval.compare(scores).frame
        reversible = reversible_pairs(frame, to_matrix(scores))
        (row,) = to_rows(frame)
        verdicts.append(describe_prospect(row, reversible))
    assert verdicts[0] != "could be reversed"
    more = {topic: {f"w{number}": 1 for number in range(3 if topic == "2" else 0)} for topic in qrels}
    judged = {topic: qrels[topic] | more[topic] for topic in qrels} | {"1": {"n": 0, "x": 1}}
    ahead, behind = gradedeval.evaluate(runs, judged, measure).means_by_run.values()
    assert verdicts[1] == ("could be reversed" if behind[measure] > ahead[measure] else "unknown")  # type: ignore[operator]
