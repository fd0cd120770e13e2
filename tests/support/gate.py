"""The shell steps of examples/action, run as the CI servers run them."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is missing: pip install '.[test]'")

ACTION = ROOT / "examples" / "action"


def loaded(name: str) -> Any:
    return yaml.safe_load((ACTION / name).read_text(encoding="utf-8"))


def with_pip(folder: Path) -> Path:
    """Make a folder with a `pip` in `bin` that logs its arguments."""
    pip = folder / "bin" / "pip"
    pip.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > pip-said\n')
    pip.chmod(0o755)
    return folder


@dataclass
class Ended:
    """The outcome of the steps."""

    code: int
    shown: str
    summary: str
    out: Path


def steps(folder: Path, **given: str) -> Ended:
    """Return the shell steps of the action, one after the other, as GitHub runs them; the first that fails ends
    them."""
    action, summary = loaded("action.yml"), folder / "summary.md"
    inputs = {name: given.get(name, declared.get("default", "")) for name, declared in action["inputs"].items()}
    output, code = "", 0
    for step in action["runs"]["steps"]:
        if "run" in step and code == 0:
            filled = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
                      for key, value in step["env"].items()}  # fmt: skip
            github = {"GITHUB_ACTION_PATH": ACTION, "GITHUB_STEP_SUMMARY": summary, "GITHUB_ACTIONS": "true"}
            done = run(step["run"], folder, **filled, **{key: str(value) for key, value in github.items()})
            output, code = output + done.stdout, done.returncode
    return Ended(code, output, summary.read_text(encoding="utf-8"), folder / inputs["artifact"])


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command]
    return subprocess.run(
        words, cwd=folder, env={**path, **variables}, capture_output=True, text=True, timeout=120, check=False
    )
