"""Numbers of options, on the command line and in Python: within limits that are said, or one line says why not."""

from __future__ import annotations

import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.options import LARGEST, OPTIONS, Number
from support.commands import Command
from support.examples import sampled
from support.generated_docs import LEAVES
from support.numbers import CALLS, METAVARS, QRELS, RUNS, TEXTS, VALUES, WORDS, number_of, options, write_files

NUMBERS = list(dict.fromkeys(number for _, number in options()))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_files(tmp_path)
    return tmp_path


def test_every_option_that_takes_a_number_says_which() -> None:
    for name, command in LEAVES.items():
        for param in command.params:
            numeric = isinstance(param.type, click.types.IntParamType | click.types.FloatParamType)
            assert not numeric, f"{name} {param.opts[-1]}"
            if getattr(param, "metavar", None) in METAVARS and param.opts[-1] != "--Debug_level":
                number = number_of(param)
                assert number is not None, f"{name} {param.opts[-1]}"
                assert number.flag in param.opts
                assert number.limits in (param.help or "")  # type: ignore[attr-defined]


def refused(call: Callable[[], Any]) -> tuple[Any, InputError | None]:
    """Return the result of a call and no error, or the error."""
    try:
        return call(), None
    except InputError as error:
        return None, error


def within(value: Any, number: Number) -> bool:
    """Return whether a value is a number of Python that an option may have."""
    if value == number.word:
        return True
    low = number.above is None or value > number.above
    high = number.below is None or value < number.below
    largest = (LARGEST if number.whole else math.inf) if number.maximum is None else number.maximum
    kind = type(value) is (int if number.whole else float)
    return kind and low and high and math.isfinite(value) and (number.minimum or -math.inf) <= value <= largest


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number.flag} {number.limits}")
def test_a_number_is_within_its_limits_or_one_line_says_why_not(number: Number) -> None:
    for take, values in ((number.read, TEXTS), (number.check, VALUES)):
        for value in values:
            result, error = refused(lambda take=take, value=value: take(value))
            if error is None:
                assert within(result, number)
            else:
                assert error.usage
                assert error.line.startswith(f"{number.flag}: ")
                assert len(error.line) < 300
    for end in (number.minimum, number.maximum, LARGEST if number.whole and number.maximum is None else None):
        if end is not None:
            assert number.read(f"{end}") == end
            assert number.check(np.int64(end) if number.whole else np.float64(end)) == end
    for end in (number.above, number.below):
        if end is not None:
            with pytest.raises(InputError, match=r"is too (small|large); it must be (above|below)"):
                number.read(f"{end}")


@pytest.mark.parametrize(
    ("text", "means"),
    [("5", 5), (" 5 ", 5), ("+5", 5), ("0005", 5), ("0" * 5000 + "5", 5), ("5.0", None), ("5e0", None), ("٥", None)],
)
def test_a_whole_number_is_written_in_digits(text: str, means: int | None) -> None:
    number = Number("--at", whole=True, minimum=1)
    if means is None:
        with pytest.raises(InputError, match="is not a whole number from 1"):
            number.read(text)
    else:
        assert number.read(text) == means


def test_each_command_that_takes_a_number_is_tried() -> None:
    assert {name for name, _ in options()} == WORDS.keys()


PAIRS = [(name, number) for name, number in options() if number.flag not in ("--jobs", "-o")]


@pytest.mark.parametrize(("name", "number"), sampled(PAIRS, 40))
def test_no_number_on_the_command_line_is_a_traceback(name: str, number: Number, files: Path, cli: Command) -> None:
    # A third of the texts at each option: how its number is read is tested above with all of them.
    for text in TEXTS[PAIRS.index((name, number)) % 3 :: 3]:
        value = [f"{number.flag}={text}"] if number.flag.startswith("--") else [number.flag, text]
        outcome = cli(*name.split(), *shlex.split(WORDS[name]), *value)
        refused = [line for line in outcome.messages if line.startswith(f"{number.flag}: ")]
        if refused or outcome.code == 2:
            assert outcome.code == (1 if name == "trec_eval" else 2)
            assert not outcome.out
            assert len(outcome.messages) == 1
            assert len(outcome.messages[0]) < 300
        assert outcome.code in (0, 1, 2, 4)


@pytest.mark.parametrize(
    "kind", ["min", "max", "max-drop", "no-worse", "max-topic-drop", "significant", "max-unjudged", "min-topics"]
)
def test_a_bound_is_a_number_or_one_line(kind: str, files: Path, cli: Command) -> None:
    for text in (*TEXTS, "ap=1e400", "ap=" + "1" * 5000):
        outcome = cli("check", "a.run", "qrels", "-m", "ap", "--baseline", "b.run", f"--{kind}={text}")
        assert outcome.code in (0, 1, 2)
        assert outcome.code != 2 or (len(outcome.messages) == 1 and len(outcome.messages[0]) < 300)


# Python --------------------------------------------------------------------------------------------------------------


def public() -> Iterator[tuple[str, str]]:
    """Yield every keyword of a public function that is said to be a number."""
    modules = {"": gradedeval, **{name: getattr(gradedeval, name) for name in ("clicks", "plot", "ltr")}}
    for prefix, module in modules.items():
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function) or name == "Bound":
                for parameter in inspect.signature(function).parameters.values():
                    kinds = {part.strip() for part in str(parameter.annotation).split("|")}
                    if kinds & {"int", "float"} and not kinds & {"Floats", "bytes"}:
                        yield f"{prefix}.{name}".strip("."), parameter.name


OF_PLOT = {"plot.style", "safe_divide"}
"""Functions that take no option: sizes of pictures in inches, which matplotlib knows, and a division."""
KEYWORDS = [
    *(pair for pair in public() if pair[0] not in OF_PLOT),
    *(("evaluate", name) for name, described in OPTIONS.items() if described.number or name == "unseen"),
    *(("clicks.gains", name) for name in ("prior", "iterations", "ss_rel")),
]


def test_every_function_that_takes_a_number_is_tried() -> None:
    assert {name for name, _ in public()} - OF_PLOT - CALLS.keys() <= {"cwl", "measure", "RelevanceEvaluator"}


@pytest.mark.parametrize(("name", "keyword"), sampled([pair for pair in KEYWORDS if pair[0] in CALLS], 12))
def test_no_number_in_python_is_a_traceback(name: str, keyword: str, files: Path) -> None:
    more = (
        {"learn_from": "correlation", "click_measure": "ss"} if keyword == "ss_rel" and name == "clicks.gains" else {}
    )
    for value in VALUES:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", gradedeval.EvaluationWarning)
            _, error = refused(lambda value=value: CALLS[name](files, **{keyword: value}, **more))
        if error is not None:
            assert len(str(error).splitlines()) == 1
            assert len(str(error)) < 1000


def test_numbers_of_numpy_are_numbers() -> None:
    plain = gradedeval.evaluate(RUNS, QRELS, "err ap", depth=3, rel=2, top_grade=3)
    arrays = gradedeval.evaluate(
        RUNS, QRELS, "err ap", depth=np.int32(3), rel=np.float32(2), top_grade=np.uint64(3), jobs=np.int64(1)
    )
    assert arrays.means_by_run == plain.means_by_run
    assert arrays.signature == plain.signature


@pytest.mark.parametrize(
    "wrong", [10**400, 10**5000, float("inf"), np.float64("nan")], ids=["400", "5000", "inf", "nan"]
)
def test_a_number_in_python_data_is_finite_or_one_line(wrong: Any) -> None:
    tries = {
        "score": lambda: gradedeval.evaluate({"1": {"d1": wrong}}, QRELS, "ap"),
        "grade": lambda: gradedeval.evaluate(RUNS, {"1": {"d1": wrong}}, "ap"),
        "labels": lambda: gradedeval.evaluate(RUNS, {"1": {"d1": "A"}}, "ap", labels={"A": wrong}),
        "cost": lambda: gradedeval.evaluate(RUNS, QRELS, "rbp(of=ec)", costs={"Q0": wrong}),
        "fill": lambda: gradedeval.evaluate(RUNS, QRELS, "err", fill={"1": {"z": wrong}}),
        "gain": lambda: gradedeval.evaluate(RUNS, QRELS, "ndcg", gain=[0, 1, 2, wrong]),
        "p": lambda: gradedeval.measures.rbp(p=wrong),
        "cutoff": lambda: gradedeval.measures.err @ wrong,
        "scores": lambda: gradedeval.evaluate_arrays([1, 0], [0.5, wrong], "ap"),
        "top_grade": lambda: gradedeval.evaluate_arrays([1, 0], [0.5, 0.2], "err", top_grade=wrong),
    }
    for name, call in tries.items():
        with pytest.raises(InputError) as caught:
            call()
        assert len(str(caught.value)) < 300, name
