"""The mistakes of `docs/how-to/check-your-own.md`: the number of the wrong code, and that of the package."""

from __future__ import annotations

import pytest

import gradedeval
from support.conformance import Case, by_topic, cases, summary
from support.wrong_ndcg import MISTAKES, Mistake, Qrels, Run, as_it_is

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")

SECOND = 0.6309297535714575  # 1 / log2(3)
FIGURES = {
    "the ideal ranking has only retrieved documents": (1, 1 / (3 + SECOND)),
    "the ideal ranking is not cut at k": ((1 + SECOND) / (1.5 + SECOND), 1),
    "logarithms to base 2 in the DCG, and natural ones in the ideal": (0.6931471805599453, 1),
    "discount log2(i), and none at rank 1": (1, SECOND),
    "ranks from 1 in the formula for ranks from 0, log2(i + 2)": (0.5 / SECOND, SECOND),
    "gain 2^g without − 1, so that a label of 0 gains 1": ((1 + 2 * SECOND) / (2 + SECOND), SECOND),
    "a document listed twice gains twice": ((1.5 + SECOND) / (1 + SECOND), 1),
    "topics without a result are left out of the mean": (1, 0.5),
    "a topic without relevant documents scores 1": (1, 0.5),
    "ties stay as listed": (1, SECOND),
    "grades below 0 are gains below 0": (-1, SECOND),
    "scores are sorted as text": (SECOND, 1),
}
"""Mistake -> the wrong number and the right one, by hand."""


def test_there_are_twelve() -> None:
    assert [mistake.name for mistake in MISTAKES] == list(FIGURES)
    assert len(FIGURES) == 12


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_wrong_number_and_the_right_one(mistake: Mistake) -> None:
    run, qrels = mistake.input
    wrong, right = FIGURES[mistake.name]
    name = f"ndcg@{mistake.k}"
    assert mistake.make(mistake.k)(run, qrels) == pytest.approx(wrong)
    assert gradedeval.evaluate(run, qrels, name, **mistake.options)[name] == pytest.approx(right)


def data(case: Case) -> tuple[Run, Qrels]:
    return case.input.run, tuple((topic, docno, grade) for topic, _, docno, grade in case.input.qrels)


VECTORS = [case for case in cases() if case.entry.measure == "ndcg@3" and case.options in ({}, {"duplicates": "first"})]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_conformance_vectors_find_each(mistake: Mistake) -> None:
    code = mistake.make(3)
    assert any(code(*data(case)) != pytest.approx(float(summary(case, by_topic(case)))) for case in VECTORS)


def test_the_right_code_passes_them() -> None:
    plain = [case for case in VECTORS if not case.options]
    assert len(plain) > 10
    for case in plain:
        assert as_it_is(3)(*data(case)) == pytest.approx(float(summary(case, by_topic(case)))), case.name


def test_a_document_twice_is_refused() -> None:
    (twice,) = (mistake for mistake in MISTAKES if mistake.options)
    with pytest.raises(gradedeval.InputError, match=r"--duplicates|duplicates="):
        gradedeval.evaluate(*twice.input, "ndcg@3")
