"""Metrics for early stopping, against the command line on the same scores as files."""

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError, ltr
from support.commands import Command
from support.lists import TOP, Lists, drawn

MEASURES = "ndcg@10 err@10 gap ap nerr rbp q p@5 gm_ap esl"


def write_files(sample: Lists, folder: Path) -> None:
    """Write the lists as a run, with lines in the order of the arrays, and as qrels."""
    run, qrels = [], []
    for topic, (labels, scores) in enumerate(sample.each(), 1):
        for number, (label, score) in enumerate(zip(labels.tolist(), scores.tolist(), strict=True), 1):
            run.append(f"{topic} Q0 d{number} 0 {score!r} t\n")
            qrels.append(f"{topic} 0 d{number} {label:g}\n")
    (folder / "run.txt").write_text("".join(run), encoding="utf-8")
    (folder / "qrels.txt").write_text("".join(qrels), encoding="utf-8")


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_values_equal_the_output_of_the_command_line(cli: Command, tmp_path: Path) -> None:
    sample = drawn(11, (20, 7, 12, 30, 1, 9))
    write_files(sample, tmp_path)
    words = ["run.txt", "qrels.txt", "--ties", "file", "--top-grade", str(TOP), "-f", "json", "--digits", "17"]
    for text in MEASURES.split():
        printed = cli(*words, "-m", text).text
        _, value, _ = ltr.metric(text, top=TOP).sklearn(sample.labels, sample.scores, None, sample.sizes)
        assert repr(value) in printed, (text, value, printed)


def test_each_library_gets_its_form_of_tuple() -> None:
    sample = drawn(12, (5, 6))
    labels = sample.labels
    labels[0] = 1  # so that every list has a relevant document, without a warning
    metric = ltr.metric("gap(g=1:1:2)", top=TOP)
    (value,) = gradedeval.evaluate_arrays(
        labels, sample.scores, metric.measure, group=sample.sizes, ties="file", top_grade=TOP
    ).means.values()
    lightgbm = SimpleNamespace(get_label=lambda: labels, get_group=lambda: sample.sizes)
    ends = np.append(0, np.cumsum(sample.sizes))
    xgboost = SimpleNamespace(get_label=lambda: labels, get_uint_info=lambda name: ends)
    assert metric.lightgbm(sample.scores, lightgbm) == ("gap(g=1:1:2)", value, True)
    assert metric.sklearn(labels, sample.scores, None, sample.sizes) == ("gap(g=1:1:2)", value, True)
    assert metric.xgboost(sample.scores, xgboost) == ("gap(g=1+1+2)", value)  # it separates names and values by colons
    assert not ltr.metric("esl").higher_better


def test_assumptions_are_noted_once() -> None:
    metric, arrays = ltr.metric("err"), ([0, 2, 0, 0], [4.0, 3.0, 2.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = [metric.sklearn(*arrays, None, [2, 2])[1] for _ in range(2)]
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 3
    assert messages[0] == "err: the highest label of each data set is taken as the top grade; set top="
    assert messages[1] == "grades: 1 of 2 topics has no relevant documents (2) and scores 0"
    assert messages[2] == "the means are over 2 topics; too few to tell systems apart"
    assert values == [0.5 * 0.75 / 2] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", EvaluationWarning)
        assert ltr.metric("ndcg").sklearn([1, 0] * 10, [1.0, 0.0] * 10, None, [2] * 10) == ("ndcg", 1, True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ltr.metric("rbp(of=ed)"), r"'rbp\(of=ed\)': does not say which of two runs is better"),
        (lambda: ltr.metric("err", top=-1), "top=-1 is not a grade above 0"),
        (lambda: ltr.metric("err ap"), "names 2 measures"),
        (lambda: ltr.metric("ap").sklearn([0, 1], [0, np.inf], None, [2]), r"scores\[1\]: inf is not a finite number"),
        (lambda: ltr.metric("ap").sklearn([0, 1, 1], [0, 1, 2], None, [2]), "group: sums to 2, there are 3 documents"),
        (lambda: ltr.metric("ap").sklearn([0, -2], [0, 1], None, [2]), r"labels\[1\]: -2 is not a whole number from 0"),
    ],
)
def test_bad_arguments_of_metrics_have_a_clear_message(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
