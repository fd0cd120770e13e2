"""Grades and scores as arrays: `evaluate_arrays`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import MEASURES, EvaluationWarning, InputError
from support.measures import VARIANTS

DRAW = np.random.default_rng(14)
GRADES = DRAW.integers(-1, 4, (6, 30)).astype(float)
SCORES = DRAW.permutation(180).reshape(6, 30) / 7.0
NDCG, ERR, AP = MEASURES["ndcg"] @ 10, MEASURES["err"] @ 20, MEASURES["ap"]
TIED = np.round(SCORES / 5)


def in_dicts(values: Any) -> dict[str, dict[str, float]]:
    """Return arrays as dicts without the nan values."""
    return {
        str(topic): {str(number): float(value) for number, value in enumerate(row, 1) if value == value}
        for topic, row in enumerate(values, 1)
    }


def takes_arrays(measure: gradedeval.Measure) -> bool:
    return not (measure.by_intent or measure.definition.uses_strata or measure.types)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_every_measure_scores_arrays_as_dicts() -> None:
    grades = np.where(DRAW.random(GRADES.shape) < 0.3, np.nan, GRADES)
    measures = [measure for measure in VARIANTS if takes_arrays(measure)]
    by_dicts = gradedeval.evaluate(in_dicts(SCORES), in_dicts(grades), measures)
    by_group = gradedeval.evaluate_arrays(grades.ravel(), SCORES.ravel(), measures, group=[30] * 6)
    assert by_group.runs[0].topics == by_dicts.runs[0].topics
    np.testing.assert_array_equal(by_group.runs[0].score, by_dicts.runs[0].score)


def test_a_measure_is_called_with_parameters_alone() -> None:
    hint = r"'ndcg@10': called with a value without a name; name it, .*gradedeval.evaluate_arrays scores arrays"
    with pytest.raises(InputError, match=hint):
        NDCG(GRADES, SCORES)


@pytest.mark.exhaustive
def test_means_over_ties_equal_scikit_learn() -> None:
    sklearn = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    grades = np.maximum(GRADES, 0)
    theirs = sklearn.ndcg_score(grades, TIED, k=10)
    averaged = gradedeval.evaluate_arrays(grades, TIED, NDCG, ties="average").means[str(NDCG)]
    assert averaged == pytest.approx(theirs, abs=1e-12)
    plain = gradedeval.evaluate_arrays(grades, SCORES, NDCG).means[str(NDCG)]
    assert plain == pytest.approx(sklearn.ndcg_score(grades, SCORES, k=10, ignore_ties=True))


@pytest.mark.parametrize("measure", [NDCG, AP, ERR], ids=str)
def test_ties_keep_the_order_of_arrays_by_default(measure: Any) -> None:
    grades, alike = [0, 2, 1], [1.0, 1.0, 1.0]
    with pytest.warns(EvaluationWarning, match="equal scores and different grades stay in the order of the arrays"):
        gradedeval.evaluate_arrays(grades, alike, measure)
    for ties, ordered in (("file", [3, 2, 1]), ("best", [1, 3, 2]), ("worst", [3, 1, 2])):
        expected = gradedeval.evaluate_arrays(grades, ordered, measure).means
        assert gradedeval.evaluate_arrays(grades, alike, measure, ties=ties).means == expected
    changes_nothing = gradedeval.evaluate_arrays([1, 1], [2.0, 2.0], measure)
    assert not [note for note in changes_nothing.notes if "equal scores" in note]


def test_topics_are_given_by_size_or_for_each_document() -> None:
    shuffled = DRAW.permutation(GRADES.size)
    by_group = gradedeval.evaluate_arrays(GRADES.ravel(), SCORES.ravel(), "err@20 ap", group=[30] * 6)
    qid = np.repeat([51, 7, 3, 4, 9, 1], 30)
    by_qid = gradedeval.evaluate_arrays(GRADES.ravel(), SCORES.ravel(), "err@20 ap", qid=qid)
    assert by_qid.runs[0].topics == ["51", "7", "3", "4", "9", "1"]
    assert by_qid.means == by_group.means == gradedeval.evaluate_arrays(GRADES, SCORES, "err@20 ap").means
    mixed = gradedeval.evaluate_arrays(
        GRADES.ravel()[shuffled], SCORES.ravel()[shuffled], "ap", qid=[f"q{name}" for name in qid[shuffled]]
    )
    assert mixed.by_topic("ap") == {topic: by_qid.by_topic("ap")[topic[1:]] for topic in mixed.runs[0].topics}


def test_arrays_have_residuals_and_a_signature() -> None:
    grades = GRADES.copy()
    grades[0, :5] = np.nan
    scores = gradedeval.evaluate_arrays(grades, SCORES, "err@20", residuals=True)
    by_dicts = gradedeval.evaluate(in_dicts(SCORES), in_dicts(grades), "err@20", residuals=True)
    assert scores.residuals == by_dicts.residuals
    assert scores.signature == by_dicts.signature.replace("ties docno-desc", "ties file")
    with pytest.warns(EvaluationWarning, match="1 unjudged topic"):
        gradedeval.evaluate_arrays([1, np.nan], [1, 1], "ap", qid=[1, 2])


WRONG: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (([1, 2], [1]), {}, "scores: has the shape (1,), grades (2,)"),
    (([1, 2], [1, np.nan]), {}, "scores[1]: nan is not a finite number"),
    (([1, np.inf], [1, 2]), {}, "grades: holds an infinite grade"),
    (([np.nan], [1]), {}, "grades: holds no grade"),
    ((["a"], [1]), {}, "grades: holds <U1 values; expected numbers"),
    (([], []), {}, "grades: is empty"),
    ((None, None), {}, "grades: has 0 dimensions"),
    (([[1], [2, 3]], [[1], [2, 3]]), {}, "grades: has rows of different lengths"),
    (([1, 2], [1, 2]), {"group": [3]}, "group: sums to 3, there are 2 documents"),
    (([1, 2], [1, 2]), {"group": [1, 2]}, "qid= takes the topic of each document"),
    (([1, 2], [1, 2]), {"group": [2, 0]}, "group: is not a list of sizes"),
    (([1, 2], [1, 2]), {"qid": [1]}, "qid: has the shape (1,)"),
    (([1, 2], [1, 2]), {"qid": [1.0, 2.0]}, "id 1.0 is a float"),
    (([[1, 2]], [[1, 2]]), {"group": [2]}, "group, qid and two dimensions; give one of them"),
    (([[[1]]], [[[1]]]), {}, "grades: has 3 dimensions"),
    (([1, 2], [1, 2], "erria"), {}, "needs intents, which arrays lack; use gradedeval.evaluate"),
    (([1, 2], [1, 2], "bpref"), {"ties": "average"}, "bpref has no average over ties"),
    (([1, 2], [1, 2], "ap"), {"ties": "docno-asc"}, "arrays have no docnos or ranks; choose from file"),
    (([1, 2], [1, 2], "ap"), {"subtopics": True}, "has no meaning for arrays"),
    (([1, 2], [1, 2], "ap"), {"top_grade": 1}, "grade 2 is above the top grade 1"),
]


@pytest.mark.parametrize(("arrays", "keywords", "message"), WRONG)
def test_arrays_that_do_not_fit_raise_input_errors(arrays: Any, keywords: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        gradedeval.evaluate_arrays(*arrays, **keywords)
    assert message in str(error.value)


def test_masked_ranks_are_refused() -> None:
    grades = np.ma.masked_array([3, 2, 0], mask=[False, False, True])
    with pytest.raises(gradedeval.InputError, match="grades: has masked values"):
        gradedeval.evaluate_arrays(grades, [3.0, 2.0, 1.0], "ndcg")
