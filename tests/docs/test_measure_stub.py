"""The stub of measures for editors and type checkers; `--golden` rewrites it."""

import subprocess
import sys
from pathlib import Path

import pytest

import gradedeval
from support.commands import python
from support.measure_stub import stub
from support.paths import ROOT

STUB = ROOT / "gradedeval" / "measures.pyi"

RIGHT = """
import gradedeval
from gradedeval.measures import ndcg, rbp
short: gradedeval.Measure = rbp(p=0.5, gain="exp") @ 10
exponential: gradedeval.Measure = ndcg(gain="exp") @ 10
gradedeval.measures.gap(g=[1, 1, 2])
"""
WRONG = "import gradedeval\ngradedeval.measures.rbp(patience=0.5)\ngradedeval.measures.rpb\n"


def test_editors_know_the_measures_and_their_parameters(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--golden"):
        STUB.write_text(stub(), encoding="utf-8")
    assert STUB.read_text(encoding="utf-8") == stub()


def test_the_measures_are_there_once_the_package_is_imported() -> None:
    code = "import gradedeval; print(gradedeval.measures.ndcg @ 10)"
    done = python("-c", code)
    assert done.stdout == "ndcg@10\n"
    assert "measures" in dir(gradedeval)


@pytest.mark.exhaustive
def test_a_wrong_parameter_is_an_error_of_the_type_checker(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    words = ["--strict", "--config-file=", "--follow-imports=silent", tmp_path / "right.py", tmp_path / "wrong.py"]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "right.py" in done.stdout) == (1, False), done.stdout
    assert 'Unexpected keyword argument "patience"' in done.stdout
    assert 'has no attribute "rpb"' in done.stdout
