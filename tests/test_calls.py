"""Wrong calls of public functions are refused in a sentence, by one rule for all of them."""

import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest

import gradedeval
from gradedeval.errors import InputError, WrongCall, public

QRELS = {topic: {"a": 2, "b": 1, "c": 0} for topic in "1234"}
RUNS = {
    "first": {topic: {"a": 1.0, "b": 2.0, "c": 3.0} for topic in "1234"},
    "second": {topic: {"a": 3.0, "b": 2.0, "d": 1.0} for topic in "1234"},
}

ARITHMETIC = {"row_sums", "safe_divide"}
"""Helpers for measures of one's own, which are called for each batch."""
DECORATORS = {"measure", "cwl"}
"""Their errors name them as decorators: see tests/kernel/measures/test_public_names.py."""
METHODS = {"Scores": ("by_topic", "column", "rows", "sorted_by"), "Diff": ("only",)}


def functions() -> dict[str, Callable[..., Any]]:
    """Return all public functions, and the methods of results that take keywords."""
    public_functions: dict[str, Callable[..., Any]] = {}
    modules = {"": gradedeval, **{name: getattr(gradedeval, name) for name in ("clicks", "ltr", "plot", "testing")}}
    for room, module in modules.items():
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) and name not in ARITHMETIC | DECORATORS:
                public_functions[f"{room}.{name}".lstrip(".")] = function
    for owner, names in METHODS.items():
        public_functions |= {f"{owner}.{name}": getattr(getattr(gradedeval, owner), name) for name in names}
    return public_functions


@pytest.mark.parametrize("name", functions())
def test_a_keyword_that_no_function_has_is_refused_in_a_sentence(name: str) -> None:
    function = functions()[name]
    parameters = inspect.signature(function).parameters.values()
    needed = [
        None
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    with pytest.raises(InputError, match=r"^unknown option 'frobnicate'; see help\(\w+\)$") as raised:
        function(*needed, frobnicate=1)
    assert raised.value.usage


@pytest.mark.parametrize("name", functions())
def test_too_many_arguments_are_refused_in_a_sentence(name: str) -> None:
    function = functions()[name]
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.kind in kinds]
    count = len([parameter for parameter in placed if parameter.name != "self"])
    message = (
        rf"takes {count} positional arguments?, but {count + 1} were given; (as in \w+\(|scores come from evaluate)"
    )
    with pytest.raises(TypeError, match=message):
        function(*[None] * (len(placed) + 1))


@pytest.mark.parametrize("name", functions())
def test_an_argument_that_is_missing_is_named(name: str) -> None:
    function = functions()[name]
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    needed = [
        parameter
        for parameter in needed
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name != "self"
    ]
    if not needed:
        return
    arguments = [object()] if "." in name and name.split(".")[0] in METHODS else []
    with pytest.raises(WrongCall, match=rf": needs {needed[0].name}.*; as in \w+\("):
        function(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("compare(RUNS, QRELS, tests='t')", "unknown option 'tests'; did you mean 'test'?"),
        ("compare(RUNS, QRELS, n_jobs=2)", "unknown option 'n_jobs'; did you mean 'jobs'?"),
        ("run_summaries()", "run_summaries: needs runs; as in run_summaries(runs, qrels, measures)"),
        ("plot.runs(None, measures='ap')", "unknown option 'measures'; did you mean 'measure'?"),
        ("evaluate(RUNS, QRELS, 'ap ndcg', k=10)",
         "unknown option 'k'; write cutoffs in measures, here \"ap@10 ndcg@10\""),
        ("evaluate(RUNS, QRELS, k=10)", "unknown option 'k'; write cutoffs in measures, as in 'ndcg@10'"),
        ("pool(RUNS, QRELS, k=10)",
         "unknown option 'k'; measures have cutoffs, and none are taken here; depth cuts rankings"),
        ("check(RUNS, QRELS, min='ap>0.1')",
         "unknown option 'min'; bounds are objects, as in check(scores, [Bound('min', 'err@20', 0.25)])"),
        ("append_history(RUNS, QRELS, 'ap')",
         "append_history: takes 2 positional arguments, but 3 were given; "
         "scores come from evaluate, as in append_history(evaluate(runs, qrels, measures))"),
        ("evaluate(RUNS)", "evaluate: needs qrels; as in evaluate(run, qrels, measures); "
         "data that hold both are given twice: evaluate(data, data)"),
        ("evaluate(RUNS, QRELS, run='a')",
         "evaluate: multiple values for argument 'run'; as in evaluate(run, qrels, measures)"),
    ],
)  # fmt: skip
def test_a_call_that_leads_astray_leads_on(call: str, message: str) -> None:
    names = {**{name: getattr(gradedeval, name) for name in gradedeval.__all__}, "RUNS": RUNS, "QRELS": QRELS}
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        eval(call, names)


def test_an_error_inside_a_function_is_not_taken_for_a_wrong_call() -> None:
    @public
    def fails(text: str) -> int:
        return len(5)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        fails("a")


def test_a_public_function_is_pickled_by_its_name_and_has_its_own_signature() -> None:
    assert pickle.loads(pickle.dumps(gradedeval.compare)) is gradedeval.compare
    assert next(iter(inspect.signature(gradedeval.compare).parameters)) == "runs"


def test_all_unknown_keywords_are_named_at_once_each_with_its_hint() -> None:
    with pytest.raises(TypeError) as error:
        gradedeval.evaluate("A", "Q", threads=2, per_query=True, zzz=1)  # type: ignore[call-arg]
    assert str(error.value) == (
        "unknown options threads, per_query, zzz; for threads: did you mean 'jobs'?; "
        "for per_query: scores.by_topic(measure) has a number a topic, scores.topics a row a topic"
    )


def test_metrics_are_understood_as_measures() -> None:
    run, qrels = {topic: {"a": 1.0, "b": 0.5} for topic in "12"}, {topic: {"b": 1} for topic in "12"}
    for name in ("metrics", "metric"):
        assert gradedeval.evaluate(run, qrels, **{name: "rr"}).means == {"rr": 0.5}  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="unknown option 'metrics'"):
        gradedeval.evaluate(run, qrels, measures="rr", metrics="rr")  # type: ignore[call-arg]
    frame = gradedeval.compare({"A": run, "B": run}, qrels, metrics="rr").frame  # type: ignore[call-arg]
    assert set(frame["measure"]) == {"rr"}


def test_several_runs_outside_a_list_are_told_to_be_in_one() -> None:
    says = r"give several runs as a list, as in compare\(\['A', 'B'\], 'Q', measures\)"
    for arguments, keywords in ((("A", "B", "Q"), {"metrics": "ap"}), (("A", "B", "Q", "ap"), {})):
        with pytest.raises(TypeError, match=says):
            gradedeval.compare(*arguments, **keywords)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"name the rest$"):
        gradedeval.compare({}, {}, "ap", 1)  # type: ignore[call-arg]
