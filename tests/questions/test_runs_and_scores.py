"""Functions of comparison: runs with qrels or scores as input, and their progress."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel import parallel
from support.results import calls_on

QRELS = {str(topic): {"a": topic % 3, "b": 1, "c": 0} for topic in range(12)}
RUNS = {
    name: {
        str(topic): {docno: float((topic * factor + position) % 5) for position, docno in enumerate("abc")}
        for topic in range(12)
    }
    for name, factor in (("one", 2), ("two", 3), ("three", 7))
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "compare": lambda *given, **more: gradedeval.compare(*given, baseline="two", draws=50, **more),
    "risk": gradedeval.risk,
    "correlate": gradedeval.correlate,
    "power": lambda *given, **more: gradedeval.power(*given, draws=50, **more),
    "anova": gradedeval.anova,
    "plan_topics": gradedeval.plan_topics,
    "run_summaries": gradedeval.run_summaries,
    "topic_table": gradedeval.topic_table,
    "topic_differences": lambda runs, *given, **more: gradedeval.topic_differences(two(runs), *given, **more),
}


def two(inputs: Any) -> Any:
    """Return the first two of runs, or scores of the first two."""
    if not isinstance(inputs, gradedeval.Scores):
        return {"one": RUNS["one"], "two": RUNS["two"]} if inputs is RUNS else inputs
    return replace(inputs, runs=inputs.runs[:2])


pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_runs_and_qrels_are_scored_as_a_command_scores_them(name: str) -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "err ap", residuals="total", rel=2)
    direct, from_scores = FUNCTIONS[name](RUNS, QRELS, "err ap", rel=2), FUNCTIONS[name](scores)
    pd.testing.assert_frame_equal(direct.frame, from_scores.frame)
    assert direct.signature == from_scores.signature
    some = FUNCTIONS[name](scores, measures="ap err")
    assert set(some.frame["measure"]) == {"ap", "err"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_of_evaluation_are_refused_with_scores(name: str) -> None:
    scores = gradedeval.evaluate(RUNS, QRELS, "err ap")
    with pytest.raises(InputError, match="depth: says how runs are scored, and no qrels are given"):
        FUNCTIONS[name](scores, depth=10)
    with pytest.raises(InputError, match="unknown option 'dept'; did you mean 'depth'"):
        FUNCTIONS[name](scores, dept=10)
    with pytest.raises(InputError, match="qrels: is given beside scores; leave out qrels"):
        FUNCTIONS[name](scores, QRELS)
    with pytest.raises(InputError, match="qrels: is given beside scores; leave out qrels"):
        FUNCTIONS[name](scores.frame, QRELS)
    with pytest.raises(InputError, match="or runs and qrels"):
        FUNCTIONS[name](["a.run"])


CALLS = calls_on(RUNS, QRELS) | {
    "html_report": partial(gradedeval.html_report, RUNS, QRELS, "err", draws=50),
    "weights": partial(gradedeval.weights, "ap", RUNS, QRELS),
}
LONG = [name for name in CALLS if "progress" in inspect.signature(getattr(gradedeval, name)).parameters]


def test_every_function_with_progress_is_walked() -> None:
    offered = {name: getattr(gradedeval, name) for name in gradedeval.__all__}
    functions = {name: function for name, function in offered.items() if inspect.isfunction(function)}
    with_progress = {
        name for name, function in functions.items() if "progress" in inspect.signature(function).parameters
    }
    assert with_progress == {*LONG, "verify"}  # which takes a record
    assert all(inspect.signature(functions[name]).parameters["jobs"].default == 1 for name in with_progress)


@pytest.mark.parametrize("name", LONG)
def test_progress_is_optional(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if it were not installed
    CALLS[name]()
    assert capsys.readouterr().err == ""
    CALLS[name](progress=True)
    printed = capsys.readouterr().err
    assert "runs [" in printed
    assert printed.endswith("\n")
    with pytest.raises(InputError, match=r"jobs"):
        CALLS[name](jobs=0)


def test_progress_uses_tqdm_if_installed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[dict[str, Any]] = []

    def tqdm(items: Any, **how: Any) -> Any:
        bars.append(how)
        return items

    module: Any = ModuleType("tqdm.auto")
    module.tqdm = tqdm
    monkeypatch.setitem(sys.modules, "tqdm", SimpleNamespace(auto=module))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    gradedeval.evaluate(RUNS, QRELS, "err", progress=True)
    assert bars == [{"total": 3, "desc": "runs", "leave": False}]
    assert capsys.readouterr().err == ""


def test_a_bar_of_text_ends_full(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert list(parallel.progress_in_python([1, 2, 3], label="topics")) == [1, 2, 3]
    last = capsys.readouterr().err.split("\r")[-1]
    assert last == f"topics [{'#' * parallel.WIDTH}] 3/3\n"


def test_processes_share_the_work_of_a_function() -> None:
    alone, shared = (gradedeval.informativeness(RUNS, QRELS, "ap", min_found=1, jobs=jobs) for jobs in (1, 2))
    pd.testing.assert_frame_equal(alone.frame, shared.frame)
