"""The gate of examples/action: YAML that CI servers accept, and the shell steps, run."""

import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from support.gate import ACTION, loaded, run, steps, with_pip
from support.paths import ROOT
from support.sessions import reader_folder

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing: pip install '.[test]'")

TEXT, NAMES = {"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}, "minItems": 1}


def closed(required: str, optional: str = "", /, **of: Any) -> dict[str, Any]:
    """Return a schema of an object with these keys alone; keys without a description are text."""
    names = required.split() + optional.split()
    properties = {name: of.get(name, TEXT) for name in names}
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def mapping(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of, "minProperties": 1}


INPUT = closed("description", "required default", required={"type": "boolean"}, default={"type": "string"})
STEP = {
    "oneOf": [
        closed("name shell run", "env if", env=mapping({"type": "string"})),
        closed("name uses", "with if", **{"with": mapping({"type": "string"}), "uses": {"pattern": "^actions/.*@v"}}),
    ]
}
STEPS = {"type": "array", "items": STEP, "minItems": 1}
ARTIFACTS = closed("when paths reports", paths=NAMES, reports=closed("junit"), when={"enum": ["always"]})
JOB = closed(
    "image script artifacts", "variables before_script",
    script=NAMES, before_script=NAMES, artifacts=ARTIFACTS, variables=mapping({"type": "string"}),
)  # fmt: skip
HOOK = closed(
    "id name entry language", "files pass_filenames",
    language={"enum": ["system"]}, files={"type": "string", "format": "regex"}, pass_filenames={"type": "boolean"},
)  # fmt: skip
REPO = closed("repo hooks", repo={"enum": ["local"]}, hooks={"type": "array", "items": HOOK, "minItems": 1})
SCHEMAS = {
    "action.yml": closed(
        "name description inputs runs",
        inputs=mapping(INPUT),
        runs=closed("using steps", using={"enum": ["composite"]}, steps=STEPS),
    ),
    "gitlab-ci.yml": mapping(JOB),
    "pre-commit-config.yaml": closed("repos", repos={"type": "array", "items": REPO, "minItems": 1}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_yaml_has_the_keys_that_the_server_knows(name: str) -> None:
    jsonschema.validate(loaded(name), SCHEMAS[name])


def test_every_input_is_used_and_every_expression_is_an_input() -> None:
    action = loaded("action.yml")
    used = set(re.findall(r"\$\{\{ (.+?) \}\}", json.dumps(action["runs"])))
    assert used == {f"inputs.{name}" for name in action["inputs"]}
    # Text that others may choose, such as a branch's, reaches the shell by variables alone.
    assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a checkout with runs, and a `pip` that logs its arguments."""
    with_pip(reader_folder(tmp_path))
    for name, sample in (("new", "bm25"), ("main", "bm25-rm3")):
        (tmp_path / f"{name}.run").symlink_to(ROOT / "qrels_samples" / f"rivers-{sample}.run")
    (tmp_path / "qrels.txt").symlink_to(ROOT / "qrels_samples" / "rivers.qrels")
    (tmp_path / "gradedeval.toml").write_text('[min]\n"ndcg@10" = 0.25\n[max-drop]\n"ndcg@10" = "5%"\n')
    (tmp_path / "topics.tsv").write_text("306\tdams | and ``fish``\n347\tlength of the Nile\n")
    return tmp_path


def test_a_drop_fails_the_job_and_stands_on_its_page(folder: Path) -> None:
    ended = steps(folder, runs="new.run", qrels="qrels.txt", baseline="main.run", queries="topics.tsv")
    assert ended.code == 1
    assert (folder / "pip-said").read_text().split() == ["install", "--quiet", f"{ACTION}/../..[report]"]
    assert "::error title=max-drop ndcg@10::new.run: ndcg@10 fell by 0.0712" in ended.shown
    assert "| ❌ | new.run | max-drop ndcg@10 | 5% |" in re.sub(" +", " ", ended.summary)
    assert "347 (length of the Nile)" in ended.summary
    assert "| ndcg@20 |" in re.sub(" +", " ", ended.summary)  # the table of scores
    suite = ElementTree.parse(ended.out / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert "<title>" in (ended.out / "report.html").read_text(encoding="utf-8")


def test_the_job_summary_says_why_nothing_was_checked(folder: Path) -> None:
    (folder / "bad.run").write_text("1 Q0\n")
    ended = steps(folder, runs="new.run\nbad.run", qrels="qrels.txt", baseline="main.run", artifact="kept")
    assert ended.code == 3
    assert "### Search quality: nothing was checked" in ended.summary
    assert "bad.run:1: " in ended.summary
    assert "::error title=gradedeval check%3A nothing was checked::" in ended.shown
    assert ElementTree.parse(ended.out / "junit.xml").getroot().get("errors") == "1"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("undecided", "code", "mark"), [("", 4, "❔"), ("pass", 0, "✅"), ("fail", 1, "❌")])
def test_an_undecided_gate_is_shown_and_ends_as_configured(folder: Path, undecided: str, code: int, mark: str) -> None:
    (folder / "gradedeval.toml").write_text('no_worse = ["rr=5%"]\n')
    inputs = {"undecided": undecided} if undecided else {}
    ended = steps(folder, runs="new.run", qrels="qrels.txt", baseline="main.run", **inputs)
    assert ended.code == code
    assert f"| {mark} | new.run | no-worse rr | 5% |" in re.sub(" +", " ", ended.summary)
    level = "error" if code == 1 else "warning"
    assert f"::{level} title=no-worse rr::new.run: rr " in ended.shown
    assert "cannot tell whether it is no worse than -5%" in ended.shown
    assert "<title>" in (ended.out / "report.html").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_gitlab_gets_the_same_files(folder: Path) -> None:
    (job,) = loaded("gitlab-ci.yml").values()
    (folder / "gate.sh").symlink_to(ACTION / "gate.sh")
    (install,) = job["before_script"]
    assert run(install, folder, GRADEDEVAL="URL@COMMIT").returncode == 0
    assert (folder / "pip-said").read_text().splitlines()[-1] == "gradedeval[report] @ git+URL@COMMIT"
    (script,) = job["script"]
    (folder / "gradedeval.toml").write_text('[min]\n"ndcg@10" = 0.25\n')
    done = run(script, folder, **job["variables"])
    assert done.returncode == 0, done.stderr
    assert "ok    new.run: ndcg@10 0.2742 is at least 0.25" in done.stdout
    kept = {*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]}
    assert [name for name in kept if not (folder / name).exists()] == []
    assert "✅" in (folder / "search-quality" / "summary.md").read_text(encoding="utf-8")


def test_hooks_check_their_files_and_fail_on_bad_ones(folder: Path) -> None:
    lint, check = loaded("pre-commit-config.yaml")["repos"][0]["hooks"]
    assert [bool(re.search(lint["files"], name)) for name in ("a/new.run", "run.txt")] == [True, False]
    assert re.search(check["files"], "qrels.txt")
    assert run(f"{lint['entry']} new.run", folder).returncode == 0
    failed = run(check["entry"], folder)
    assert failed.returncode == 1
    assert "FAIL  new.run: ndcg@10 fell by 0.0712" in failed.stdout
    for hook in (lint, check):
        assert shlex.split(hook["entry"])[0] == "gradedeval"
