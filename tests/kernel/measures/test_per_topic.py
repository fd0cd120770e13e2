"""A measure that is a plain function of one topic."""

from typing import Any

import numpy as np
import pytest

import gradedeval
from gradedeval import InputError

QRELS = {"1": {"a": 1, "b": 2, "c": 0, "z": -1}, "2": {"a": 1, "d": 3}, "3": {"x": 1}}
RUN = {"1": ["a", "q", "b", "c", "z"], "2": ["d", "e", "a"], "3": ["y"]}
pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")


@gradedeval.measure(per_topic=True)
def plain_ndcg(grades: Any, ideal: Any, *, base: float = 2) -> float:
    """Return nDCG of one ranking."""
    discount = np.log(np.arange(2, max(len(grades), len(ideal)) + 2)) / np.log(base)
    return float((grades / discount[: len(grades)]).sum() / (ideal / discount[: len(ideal)]).sum())


@pytest.mark.parametrize("cut", ["", "@1", "@2", "@10"])
def test_the_function_gets_the_grades_of_both_rankings_down_to_the_cutoff(cut: str) -> None:
    measure = plain_ndcg if not cut else plain_ndcg @ int(cut[1:])
    scores = gradedeval.evaluate(RUN, QRELS, [measure, f"ndcg{cut}"])
    mine, theirs = (scores.by_topic(name) for name in scores.labels)
    assert mine == pytest.approx(theirs)


def test_parameters_gain_schemes_and_arrays_work() -> None:
    ours, built_in = gradedeval.evaluate(RUN, QRELS, [plain_ndcg(base=10), plain_ndcg]).means.values()
    assert ours == pytest.approx(built_in)
    scores = gradedeval.evaluate(RUN, QRELS, [plain_ndcg(gain="exp"), "ndcg(gain=exp)"])
    ours, built_in = scores.means.values()
    assert ours == pytest.approx(built_in)
    ours, built_in = gradedeval.evaluate_arrays([1, 0, 2], [3.0, 2.0, 1.0], [plain_ndcg, "ndcg"]).means.values()
    assert ours == pytest.approx(built_in)


def rankings_seen(**properties: Any) -> list[tuple[list[float], list[float]]]:
    calls = []

    def watched(grades: Any, ideal: Any) -> int:
        calls.append((grades.tolist(), ideal.tolist()))
        grades[:] = 7  # its own copy
        return 0

    gradedeval.evaluate(RUN, QRELS, gradedeval.measure(per_topic=True)(watched), **properties)
    return calls


def test_unjudged_documents_are_as_the_options_say() -> None:
    assert rankings_seen()[0] == ([1, 0, 2, 0, 0], [2, 1])
    assert rankings_seen(judged_only=True)[0] == ([1, 2, 0, 0], [2, 1])
    assert rankings_seen(judged_only=True, negative="unjudged")[0] == ([1, 2, 0], [2, 1])
    assert rankings_seen(topics="qrels", depth=2)[1] == ([3, 0], [3, 1])


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (None, "returned None"),
        (float("nan"), "returned nan"),
        ([1, 2], r"returned an array of shape \(2,\)"),
        ("0.5", "returned '0.5'"),
        (1j, "returned 1j"),
    ],
)
def test_the_error_for_an_invalid_score_names_the_topic(returned: Any, problem: str) -> None:
    @gradedeval.measure(per_topic=True)
    def mine(grades: Any, ideal: Any) -> Any:
        return returned if len(grades) == 3 else 1

    message = rf"^measure 'mine', topic 2: {problem}; return one number for each topic$"
    with pytest.raises(InputError, match=message):
        gradedeval.evaluate(RUN, QRELS, mine)


@pytest.mark.parametrize("property", ["uses_strata", "intents"])
def test_errors_of_measures_with_strata_or_intents_name_the_topic(property: str) -> None:
    def mine(grades: Any, ideal: Any) -> float:
        return float("nan")

    measure = gradedeval.measure(per_topic=True, **{property: True})(mine)
    with pytest.raises(InputError, match=r"^measure 'mine', topic 1: returned nan"):
        gradedeval.evaluate(RUN, QRELS, measure)


def test_a_failure_names_the_line_and_the_topic() -> None:
    @gradedeval.measure(per_topic=True)
    def mine(grades: Any, ideal: Any) -> Any:
        return 1 / (len(grades) - 3)

    with pytest.raises(InputError, match=r"test_per_topic.py:\d+: measure 'mine', topic 2: failed \(ZeroDivisionError"):
        gradedeval.evaluate(RUN, QRELS, mine)
    with pytest.raises(InputError, match="topic number 1: failed"):
        gradedeval.ltr.swap_deltas(mine, [1, 0, 0])


def test_the_error_for_a_plain_function_names_the_keyword() -> None:
    def two(grades: Any, ideal: Any) -> Any:
        return grades[0]

    def one(grades: Any) -> Any:
        return sum(grades)

    def batch(g: Any) -> Any:
        return g.gian

    for function in (one, two):
        with pytest.raises(InputError, match=r"needs @gradedeval.measure\(per_topic=True\)"):
            gradedeval.evaluate(RUN, QRELS, gradedeval.measure(function))
    with pytest.raises(InputError, match="fix its function"):
        gradedeval.evaluate(RUN, QRELS, gradedeval.measure(batch))


def test_a_function_may_take_the_grades_of_the_ranking_alone() -> None:
    @gradedeval.measure(per_topic=True)
    def first(grades: Any, *, scale: float = 1.0) -> float:
        return float(grades[0]) * scale

    assert gradedeval.evaluate(RUN, QRELS, first).by_topic("first") == {"1": 1.0, "2": 3.0, "3": 0.0}
    assert gradedeval.evaluate(RUN, QRELS, first(scale=2.0)).means["first(scale=2)"] == 8 / 3
    assert gradedeval.evaluate(RUN, QRELS, gradedeval.measure(per_topic=True)(len)).means["len"] == 3.0

    @gradedeval.measure(per_topic=True)
    def any_number(*rankings: Any) -> int:
        return len(rankings)

    assert gradedeval.evaluate(RUN, QRELS, any_number).means["any_number"] == 2.0


def test_the_error_for_a_failing_function_names_its_traceback() -> None:
    @gradedeval.measure(per_topic=True)
    def mine(grades: Any) -> Any:
        return 1 / 0

    with pytest.raises(InputError, match=r"fix its function; \.trace of this error is its traceback$") as failed:
        gradedeval.evaluate(RUN, QRELS, mine)
    assert failed.value.trace.startswith("Traceback ")
    assert "ZeroDivisionError" in failed.value.trace


def test_a_measure_per_topic_has_no_residual() -> None:
    assert gradedeval.evaluate(RUN, QRELS, plain_ndcg, residuals=True).residuals["plain_ndcg"] is None


def test_the_error_for_a_positional_parameter_names_the_star() -> None:
    def forgot(grades: Any, ideal: Any, p: float = 0.5) -> float:
        return p

    message = (
        "^measure 'forgot': takes 3 positional arguments, but gets two: the grades of the ranking and of the ideal; "
        r"put parameters after \*: def forgot\(grades, ideal, \*, p\)$"
    )
    with pytest.raises(gradedeval.InputError, match=message):
        gradedeval.measure(per_topic=True)(forgot)


def test_the_error_for_an_undeclared_function_names_the_decorator() -> None:
    def mine(grades: Any, ideal: Any) -> float:
        return 1.0

    cure = r"^the function mine is not a measure; decorate it: @gradedeval.measure\(per_topic=True\)"
    for argument in (mine, ["ap", mine]):
        with pytest.raises(InputError, match=cure):
            gradedeval.evaluate(RUN, QRELS, argument)
    assert gradedeval.evaluate(RUN, QRELS, gradedeval.measure(per_topic=True)(mine)).means == {"mine": 1.0}
