"""`judged_only=True` in a measure: a condensed list for that measure alone."""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError, Measure, parse_measures
from gradedeval.measures import ap, ndcg, p
from support.measures import VARIANTS, every
from support.topics import Topic, scored

TOPICS = [
    Topic((None, 3, None, 0, 1), (2,), ties=(2, 3)),
    Topic((1, None, -1, None, 2), (), ties=(1, 4)),
    Topic((None, None), (2,)),
    Topic((2, 0), (1,)),
    Topic((), (1,)),
]
RUN = {"1": {"u": 4.0, "a": 3.0, "v": 2.0, "b": 1.0}}
QRELS = {"1": {"a": 2, "b": 1, "n": 0}}


@pytest.mark.one_in(5)
@every(VARIANTS)
@pytest.mark.parametrize("options", [{}, {"ties": "average"}, {"negative": "unjudged"}], ids=str)
def test_a_condensed_list_is_a_run_of_judged_documents(measures: Sequence[Measure], options: dict[str, Any]) -> None:
    if "ties" in options:
        measures = [measure for measure in measures if measure.definition.over_ties]
    measures = [measure for measure in measures if not measure.reads_scores]  # test_skipped_topics has the refusal
    condensed = [measure(judged_only=True) for measure in measures]
    score = scored(TOPICS, condensed, residuals=None, **options).score
    expected = scored(TOPICS, measures, residuals=None, judged_only=True, **options).score
    np.testing.assert_array_equal(score, expected)


def test_ties_of_judged_documents_are_averaged_without_unjudged_ones() -> None:
    run, qrels = {"1": {"u": 3.0, "a": 2.0, "v": 2.0, "b": 2.0}}, {"1": {"a": 1, "b": 0}}
    assert gradedeval.evaluate(run, qrels, "ap(judged_only=True)", ties="average").means == {
        "ap(judged_only=True)": (1 + 1 / 2) / 2
    }


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_condensed_lists_of_one_measure_leave_the_others_whole() -> None:
    # Judged are a and b, at ranks 2 and 4 of the run, and at 1 and 2 of the condensed list.
    scores = gradedeval.evaluate(RUN, QRELS, "p@2 P(judged_only=True)@2 ap AP(judged_only=True) judged@2", top_grade=2)
    assert list(scores.means.values()) == [1 / 2, 1, (1 / 2 + 2 / 4) / 2, 1, 1 / 2]
    assert list(scores.means) == ["p@2", "P(judged_only=True)@2", "ap", "AP(judged_only=True)", "judged@2"]
    alone = gradedeval.evaluate(RUN, QRELS, "p(judged_only=True)@1", top_grade=2)
    assert list(alone.means.values()) == [1]


def test_judged_only_is_printed_and_parsed_as_a_parameter() -> None:
    measure = (p @ 5)(judged_only=True)
    assert str(measure) == "p(judged_only=True)@5"
    assert parse_measures("P(judged_only=True)@5 p:judged_only=true@5") == [measure]
    assert measure(judged_only=False) == parse_measures("p(judged_only=False)@5")[0] == p @ 5
    assert measure(rel=2) == parse_measures("p(rel=2,judged_only=True)@5")[0]
    assert str(parse_measures("ia(p(judged_only=True)@5)")[0]) == "ia(p(judged_only=True)@5)"
    with pytest.raises(InputError, match="judged_only=maybe is not True or False; write judged_only=True"):
        parse_measures("ap(judged_only=maybe)")


def test_condensed_lists_of_arrays_omit_unjudged_documents() -> None:
    grades, scores = [math.nan, 2, math.nan, 0, 1], [5, 4, 3, 2, 1]
    measures = [p @ 1, ap, ndcg @ 3]
    condensed = [measure(judged_only=True) for measure in measures]
    expected = [*gradedeval.evaluate_arrays([2, 0, 1], [4, 2, 1], measures).means.values()]
    assert [*gradedeval.evaluate_arrays(grades, scores, condensed).means.values()] == expected
    plain = gradedeval.evaluate_arrays(grades, scores, measures).means.values()
    assert all(value != judged for value, judged in zip(plain, expected, strict=True))


def test_a_condensed_list_has_no_residual_and_no_bounds() -> None:
    measures = "P(judged_only=True)@2 rbp(judged_only=True) p@2"
    scores = gradedeval.evaluate(RUN, QRELS, measures, residuals=True, top_grade=2)
    assert list(scores.residuals.values()) == [None, None, 0.5]
    with pytest.warns(gradedeval.EvaluationWarning, match="low and high are blank for P"):
        bounds = gradedeval.evaluate(RUN, QRELS, measures, bounds=True, top_grade=2).runs[0].bounds
    assert bounds is not None
    assert np.isnan(bounds[:, 0]).tolist() == [[True, True, False]] * 2


def test_runs_are_compared_by_condensed_lists() -> None:
    runs = {name: dict.fromkeys("123", RUN["1"]) for name in ("one", "other")}
    runs["other"] = {topic: {"n": 2.0, "a": 1.0} for topic in "123"}
    qrels = dict.fromkeys("123", QRELS["1"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = gradedeval.evaluate(runs, qrels, "P(judged_only=True)@1", residuals=True)
        (row,) = gradedeval.compare(scores, draws=10).frame.to_dict("records")
    assert (row["difference"], row["same_order"]) == (-1, None)


def test_analyses_of_ranks_refuse_condensed_lists(tmp_path: Path) -> None:
    message = "uses a condensed list, whose ranks are not those of the run; leave out judged_only"
    measure = "P(judged_only=True)@2"
    with pytest.raises(InputError, match=message):
        gradedeval.explain(RUN, QRELS, measure, topic="1")
    with pytest.raises(InputError, match=message):
        gradedeval.diff({"one": RUN}, {"other": RUN}, QRELS, measure)
    with pytest.raises(InputError, match=message):
        gradedeval.weights(measure)
    with pytest.raises(InputError, match=message):
        gradedeval.weights("ap(judged_only=True)", RUN, QRELS)
    with pytest.raises(InputError, match=message):
        gradedeval.informativeness(RUN, QRELS, measure)


def test_filled_documents_are_not_judged() -> None:
    fill = {"1": {"u": 0.5}}
    with pytest.warns(gradedeval.EvaluationWarning, match="stay unjudged in err\\(judged_only=True\\)@1"):
        scores = gradedeval.evaluate(RUN, QRELS, "err@1 err(judged_only=True)@1", fill=fill, top_grade=2)
    assert list(scores.means.values()) == [1 / 2, 3 / 4]


def test_ir_measures_calls_grades_below_0_unjudged() -> None:
    qrels, run = {"1": {"s": -1, "a": 1}}, {"1": {"s": 2.0, "a": 1.0}}
    with pytest.warns(gradedeval.EvaluationWarning, match="in ir_measures grades below 0 count as unjudged"):
        assert gradedeval.evaluate(run, qrels, "RR(judged_only=True)").means["RR(judged_only=True)"] == 1 / 2
    scores = gradedeval.evaluate(run, qrels, "RR(judged_only=True)", negative="unjudged")
    assert scores.means["RR(judged_only=True)"] == 1
