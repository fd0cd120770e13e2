"""Runs and qrels swapped in dicts of whole numbers: an error or a note; right ones never are."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest

import gradedeval

RUN = {"q0": {"k3": 30, "k1": 20}, "q1": {"k7": 30, "k2": 9, "k5": 4}, "q3": {"k6": 40, "k1": 7}}
QRELS = {"q0": {"k1": 1}, "q1": {"k2": 1, "k5": 1}, "q3": {"k6": 1}}


def notes(run: Any, qrels: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradedeval.evaluate(run, qrels, "rr", **options)
    return [str(warning.message) for warning in caught if "swapped" in str(warning.message)]


def test_whole_scores_in_place_of_grades_are_an_error() -> None:
    assert notes(RUN, QRELS) == []
    says = "grades fall in each topic, from up to 40.*swap them: the run comes first"
    with pytest.raises(gradedeval.InputError, match=says) as refused:
        gradedeval.evaluate(QRELS, RUN, "rr")
    assert refused.value.kind == "swapped-files"
    assert notes(QRELS, gradedeval.Qrels(RUN)) == []  # as the message says


def test_small_scores_in_place_of_grades_get_a_note() -> None:
    run = {topic: {f"d{rank}": 5 - rank for rank in range(4)} for topic in "abc"}
    qrels = {topic: {"d1": 1, "d2": 1, "d3": 0} for topic in "abc"}
    assert notes(run, qrels) == []
    assert len(notes(qrels, run)) == 1


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "y": 1, "z": 0}}),  # a lesson: too little to tell
        ({t: {"x": 0.5, "y": 0.5} for t in "abcd"}, {t: {"x": 100, "y": 50, "z": 10} for t in "abcd"}),
        ({t: {"x": 3, "y": 2, "z": 1} for t in "abcd"}, {t: {"x": 100, "y": 50, "z": 10} for t in "abcd"}),
        ({t: {"x": 1, "y": 1, "z": 0} for t in "abcd"}, {t: {"x": 10, "y": 50, "z": 100} for t in "abcd"}),
        ({t: {"x": 70, "y": 70, "z": 0} for t in "abcd"}, {t: {"x": 4, "y": 3, "z": 0} for t in "abcd"}),
    ],
)
def test_right_ones_have_no_note(run: Any, qrels: Any) -> None:
    assert notes(run, qrels) == []


def test_random_qrels_are_never_taken_for_a_run() -> None:
    dice = random.Random(7)
    for _ in range(60):
        topics = [str(number) for number in range(dice.randint(2, 8))]
        docnos = [f"d{number}" for number in range(12)]
        scale = dice.choice([1, 2, 3, 4, 9])
        qrels = {t: {d: dice.randint(0, scale) for d in dice.sample(docnos, 6)} for t in topics}
        run = {t: {d: dice.randint(0, 3) for d in dice.sample(docnos, 8)} for t in topics}
        assert notes(run, qrels) == []
