"""Publishing: workflows, forms of issues, the citation, and a release that stops at an error."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from support.paths import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: pip install '.[test]'")
jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing: pip install '.[test]'")

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
TEXT = {"type": "string", "minLength": 1}


def closed(required: str, optional: str = "", /, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these keys and no others; keys that are not described hold text."""
    names = required.split() + optional.split()
    return {
        "type": "object",
        "required": required.split(),
        "properties": {name: properties.get(name, TEXT) for name in names},
        "additionalProperties": False,
    }


def mapping(values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, "minProperties": 1}


# GitHub's keys, as far as they are used here. `on` is the boolean True in YAML 1.1.
PERMISSIONS = mapping({"enum": ["read", "write"]})
STEP = {
    "oneOf": [
        closed("run", "name shell env", shell={"const": "bash"}, env=mapping(TEXT)),
        closed("uses", "name with", uses={"pattern": r"^[\w-]+/[\w-]+@[\w/.]+$"}, **{"with": {"type": "object"}}),
    ]
}
JOB = closed(
    "runs-on steps", "if needs permissions environment strategy timeout-minutes",
    permissions=PERMISSIONS, environment=closed("name"), strategy={"type": "object"},
    steps={"type": "array", "items": STEP, "minItems": 1}, **{"timeout-minutes": {"type": "integer"}},
)  # fmt: skip
EVENTS = closed(
    "", "push pull_request",
    push=closed("", "branches tags", branches={"type": "array"}, tags={"type": "array"}), pull_request={"type": "null"},
)  # fmt: skip
WORKFLOW = closed(
    "name on permissions jobs", "concurrency",
    on=EVENTS, permissions=PERMISSIONS, jobs=mapping(JOB), concurrency={"type": "object"},
)  # fmt: skip
FIELD = closed(
    "type id attributes", "validations",
    type={"enum": ["textarea", "input"]}, validations=closed("required", required={"type": "boolean"}),
    attributes=closed("label", "description render"),
)  # fmt: skip
FORM = closed(
    "name description labels body", labels={"type": "array"}, body={"type": "array", "items": FIELD, "minItems": 1}
)
HOOK = closed(
    "id name description entry language", "files pass_filenames",
    language={"const": "python"}, pass_filenames={"type": "boolean"},
)  # fmt: skip
CITATION = closed(
    "cff-version message title type version license authors", "repository-code keywords",
    authors={"type": "array", "items": closed("name"), "minItems": 1}, keywords={"type": "array", "items": TEXT},
)  # fmt: skip


def load(path: Path) -> Any:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in content.items()} if True in content else content


def steps() -> list[Any]:
    """Return a parameter for each shell step of the workflows."""
    return [
        pytest.param(step, id=f"{path.stem}: {step['run']}")
        for path in WORKFLOWS
        for job in load(path)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_the_keys_that_github_knows(path: Path) -> None:
    workflow = load(path)
    jsonschema.validate(workflow, WORKFLOW)
    for job in workflow["jobs"].values():
        assert set([job["needs"]] if "needs" in job else []) <= workflow["jobs"].keys()
    # Text that others choose, such as a branch's name, reaches the shell by variables alone.
    assert not any("${{" in step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"])


@pytest.mark.parametrize("name", ["bug.yml", "feature.yml"])
def test_a_form_of_issues_has_the_keys_that_github_knows(name: str) -> None:
    jsonschema.validate(load(GITHUB / "ISSUE_TEMPLATE" / name), FORM)


def test_hooks_of_pre_commit_call_commands(tmp_path: Path) -> None:
    hooks = load(ROOT / ".pre-commit-hooks.yaml")
    jsonschema.validate(hooks, {"type": "array", "items": HOOK, "minItems": 1})
    for hook in hooks:
        program, command = hook["entry"].split()
        assert program == "gradedeval"
        assert importlib.import_module(f"gradedeval.cli.commands.{command}").command


def test_the_citation_is_of_this_version() -> None:
    citation = load(ROOT / "CITATION.cff")
    jsonschema.validate(citation, CITATION)
    assert citation["version"] == gradedeval.__version__
    assert citation["authors"] == [{"name": "the gradedeval authors"}]  # as in LICENSE


@pytest.mark.parametrize("step", steps())
def test_a_step_of_a_workflow_names_programs_and_extras_that_exist(step: dict[str, Any], tmp_path: Path) -> None:
    """The shell runs each step, with recorders in place of `python` and `bash`."""
    for program in ("python", "bash"):
        (tmp_path / program).write_text(f'#!/bin/sh\nprintf "%s\\n" {program} "$@" > "$RECORD"\n')
        (tmp_path / program).chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "RECORD": str(tmp_path / "record"),
        "TAG": "v1",
    }
    subprocess.run(["/bin/sh", "-euc", step["run"]], cwd=ROOT, env=environment, check=True)
    program, *words = (tmp_path / "record").read_text().splitlines()
    if program == "bash":
        assert words[0] in (".ci/run", ".ci/release")
        assert os.access(ROOT / words[0], os.X_OK)
        return
    assert words[0] == "-m"
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    if words[1:3] == ["pip", "install"]:
        assert set(re.findall(r"\w+", words[3])) <= extras.keys()
    else:
        assert words[1] in ("pytest", "mkdocs")


@pytest.mark.parametrize(
    ("tag", "refusal"),
    [
        ("v9.9.9", f"v9.9.9: is not v{gradedeval.__version__}, the version in gradedeval/__init__.py"),
        (f"v{gradedeval.__version__}", "OWNER: is a placeholder; name the account"),
    ],
)
def test_a_release_is_refused_before_anything_is_built(tag: str, refusal: str, tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a release needs a checkout")
    ended = subprocess.run(["bash", ROOT / ".ci/release", tmp_path, tag], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (1, refusal)
    assert list(tmp_path.iterdir()) == []
