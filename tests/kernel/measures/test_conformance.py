"""The conformance vectors: the exact program makes the files, and scores equal the values in the files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

import gradedeval
from gradedeval.kernel.measures.definition import MEASURES
from support.conformance import FOLDER, INPUTS, LICENSE, cases, families, written
from support.paths import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
DIGITS = 6e-15
"""Half of the fifteenth digit, and the rounding of doubles."""

WITHOUT_VECTORS = {
    **dict.fromkeys(("cwl", "ddm", "wp"), "the weights are a formula or a file of the user's"),
}


def contents(family: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("family", families())
def test_each_file_equals_the_output_of_the_program(family: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--golden"):
        (FOLDER / f"{family}.json").write_text(written(family), encoding="utf-8")
    assert (FOLDER / f"{family}.json").read_text(encoding="utf-8") == written(family)


def test_the_folder_has_only_the_vectors_and_their_license_allows_copying() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {"README.md", *(f"{family}.json" for family in families())}
    for page in (FOLDER / "README.md", ROOT / "docs/reference/conformance.md"):
        assert "Anyone may copy, change, publish and use the vectors" in page.read_text(encoding="utf-8")
    assert LICENSE.startswith("Anyone may copy, change, publish and use these vectors")
    assert {contents(family)["license"] for family in families()} == {LICENSE}


def qrels_of(data: dict[str, Any], options: dict[str, Any]) -> Any:
    """Return the qrels as `evaluate` takes them, nested by intents or strata."""
    if "subtopics" not in options and "qrels_format" not in options:
        return [(topic, docno, grade) for topic, _, docno, grade in data["qrels"]]
    nested: dict[str, Any] = {}
    for topic, intent, docno, grade in data["qrels"]:
        nested.setdefault(topic, {}).setdefault(docno, {})[intent] = grade
    return nested


@pytest.mark.one_in(3)
@pytest.mark.parametrize("family", families())
def test_scores_equal_the_vectors(family: str) -> None:
    vectors = contents(family)
    for case in vectors["cases"]:
        data, measure = vectors["inputs"][case["input"]], case["measure"]
        run = [tuple(row) for row in data["run"]]
        qrels = qrels_of(data, case["options"])
        scores = gradedeval.evaluate(run, qrels, measure, **case["options"])
        place = (measure, case["input"], case["options"])
        assert scores.by_topic(measure) == pytest.approx(case["topics"], rel=DIGITS, abs=DIGITS), place
        assert scores.means[measure] == pytest.approx(case["value"], rel=DIGITS, abs=DIGITS), place


def test_every_measure_with_one_definition_has_vectors() -> None:
    names = {re.split("[(@]", case.entry.measure)[0] for case in cases()}
    intent_aware = names - MEASURES.keys()
    assert intent_aware == {"ia"}
    assert MEASURES.keys() - names == WITHOUT_VECTORS.keys()


def test_the_vectors_are_many_and_each_is_there_once() -> None:
    keys = [(case.entry.measure, case.name, str(case.options)) for case in cases()]
    assert len(keys) == len(set(keys)) >= 900
    assert {case.name for case in cases()} == INPUTS.keys()


def test_the_exact_program_does_not_import_the_package() -> None:
    code = "import sys, tests.support.conformance; sys.exit(any(name.startswith('gradedeval') for name in sys.modules))"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    for module in ("conformance", "conformance_measures", "conformance_peers"):
        assert not re.search(r"^(from|import) gradedeval", (ROOT / f"tests/support/{module}.py").read_text(), re.M)
