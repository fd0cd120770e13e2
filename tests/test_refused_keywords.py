"""Functions in Python and the options of `evaluate` that not all take: the answer or a view shows the effect, a note
says that it has none, or it is refused in a line; nothing ignores it."""

import inspect
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import clicks, testing
from support.numbers import CALLS, PAIR, QRELS, RUNS, scores, write_files

LABELS = {topic: "even" if int(topic) % 2 == 0 else "odd" for topic in QRELS}
TEXTS = {topic: f"text of {topic}" for topic in QRELS}
GIVEN = {
    "slices": {"kind": LABELS},
    "queries": TEXTS,
    "replicates": {"both": ["a.run", "b.run"]},
    "predicted": QRELS,
    "residuals": "total",
    "interval": 0.9,
}
OF_RUNS: dict[str, Callable[..., Any]] = {
    name: lambda _, name=name, **given: getattr(gradedeval, name)(RUNS, QRELS, "ap", **given)
    for name in ("compare", "letters", "power", "risk", "run_summaries")
}
OTHERS = {"assert_no_worse", "assert_scores", "evaluate_arrays", "evaluate"}
"""They evaluate, and take what an evaluation does; arrays have refusals of their own."""


NAMES = [
    f"{prefix}{name}"
    for prefix, module in (("", gradedeval), ("clicks.", clicks), ("", testing))
    for name in module.__all__
    if inspect.isfunction(function := getattr(module, name)) and "OptionKwargs" in str(inspect.signature(function))
]


def seen(result: Any) -> list[str]:
    """Return the visible parts of an answer: its text, its frames, and the texts of its topics."""
    frames = [getattr(result, name, None) for name in ("frame", "topics", "slices", "systems")]
    tables = [frame.to_csv() for frame in frames if isinstance(frame, pd.DataFrame)]
    return [str(result), str(getattr(result, "texts", "")), *tables]


def outcome(call: Callable[..., Any], folder: Path, **given: Any) -> tuple[list[str], list[str]]:
    """Return the visible parts, and the notes with the remarks of the answer."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = call(folder, **given)
    return seen(result), [*(str(warning.message) for warning in heard), *map(str, getattr(result, "remarks", []))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    parent = tmp_path_factory.mktemp("refused")
    write_files(parent)
    return parent


def test_every_function_that_takes_options_is_walked() -> None:
    assert {*NAMES} - OTHERS <= CALLS.keys()


CASES = [*((name, CALLS[name]) for name in NAMES if name not in OTHERS), *OF_RUNS.items()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "call"), CASES)
def test_an_option_is_used_noted_or_refused(name: str, call: Callable[..., Any], folder: Path) -> None:
    plain, plain_notes = outcome(call, folder)
    for option, value in GIVEN.items():
        try:
            result, notes = outcome(call, folder, **{option: value})
        except gradedeval.InputError as error:
            message = str(error)
        else:
            message = next((note for note in notes if note not in plain_notes and option in note), "")
            assert result != plain or message, option
            continue
        assert re.fullmatch("[^;]+; .+", message), message


def test_options_are_refused_before_anything_is_read() -> None:
    with pytest.raises(gradedeval.InputError) as caught:
        gradedeval.topic_differences(["nowhere.run", "no.run"], "nowhere", slices="nowhere.csv")
    assert str(caught.value) == ("slices: topic_differences does not take it; leave it out, or use evaluate or compare")
    assert gradedeval.topic_differences(PAIR, QRELS, "ap", slices=None).frame is not None


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("name", OF_RUNS)
def test_saved_scores_take_labels_and_texts_in_any_form_or_refuse_them(name: str, folder: Path) -> None:
    labels, texts = (pd.DataFrame({"topic": [*of], column: [*of.values()]}) for of, column in
                     ((LABELS, "kind"), (TEXTS, "text")))  # fmt: skip
    labels.to_csv(folder / "labels.csv", index=False)
    texts.to_csv(folder / "texts.csv", index=False)
    forms: dict[str, tuple[Any, ...]] = {
        "slices": ({"kind": LABELS}, labels, str(folder / "labels.csv")),
        "queries": (TEXTS, texts, str(folder / "texts.csv")),
        "replicates": (GIVEN["replicates"], {"a.run": "both", "b.run": "both"}, "both=[ab].run"),
    }
    function, saved = getattr(gradedeval, name), scores()
    for option, values in forms.items():
        answers = set[str]()
        for value in values:
            try:
                result = function(saved, **{option: value})
                answers.add(result.frame.to_csv() + str(result.texts))
            except gradedeval.InputError as error:
                answers.add(str(error))
        assert len(answers) == 1
