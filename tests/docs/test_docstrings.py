"""Examples in the docstrings of public functions, run."""

import doctest
import inspect
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradedeval
from support.sessions import reader_folder

MODULES = ("clicks", "ltr", "plot", "testing")
NAMES = [
    *gradedeval.__all__,
    *(f"{module}.{name}" for module in MODULES for name in getattr(gradedeval, module).__all__),
]
FUNCTIONS = [name for name in NAMES if inspect.isfunction(attrgetter(name)(gradedeval))]
CLASSES = ["Bound", "InputError", "Measure", "Options", "Qrels", "RelevanceEvaluator"]
"""The public classes that users write themselves; the others are results of functions."""


def example(name: str) -> doctest.DocTest:
    """Run the example in the docstring of a public name."""
    documented: Callable[..., Any] = attrgetter(name)(gradedeval)
    names = {"gradedeval": gradedeval, "np": np}
    return doctest.DocTestParser().get_doctest(inspect.getdoc(documented) or "", names, name, None, 0)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_examples_of_docstrings_print_their_output(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reader_folder(tmp_path))
    if name.startswith("plot."):
        pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
        pyplot.switch_backend("agg")
        pyplot.close("all")
    written = example(name)
    assert 1 <= len(written.examples) <= 5
    printed: list[str] = []
    assert doctest.DocTestRunner().run(written, out=printed.append).failed == 0, "".join(printed)
