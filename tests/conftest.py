"""Options and fixtures that several test files share."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from gradedeval.cli import main

ROOT = Path(__file__).resolve().parent.parent

# Real runs and judgements, and what other tools print on them: beside the checkout, or nowhere.
DATA = ROOT.parent / "shared" / "data"
shared = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data are not beside this checkout")

# What Python does not show a user by default, and so is no part of what a command says.
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite golden files and the README's outputs, then review")


@dataclass(frozen=True)
class Outcome:
    """What a command came to: its exit code, and the bytes it wrote to standard output and standard error."""

    code: int
    out: bytes
    err: bytes

    @property
    def messages(self) -> list[str]:
        """The lines of standard error."""
        return self.err.decode("utf-8", "surrogateescape").splitlines()

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.out.decode()


Command = Callable[..., Outcome]


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Outcome]:
    """`cli("run.txt", "qrels.txt", stdin=b"")`: the command line in `tmp_path`, in this process, which is quicker.

    An exception that is no message of ours comes out as it is; a warning on stderr that is none fails the test.
    """
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            with pytest.raises(SystemExit) as stop:
                main(words)
        shown = [str(warning) for warning in caught if not issubclass(warning.category, HIDDEN)]
        assert not shown
        return Outcome(int(stop.value.code or 0), *capfdbinary.readouterr())

    return run


def environment() -> dict[str, str]:
    """What a process of its own finds: nothing of how Python is set up here, where even buffers may be switched off."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**plain, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., Outcome]:
    """`process("run.txt", "qrels.txt", stdin=b"", stdout=None)`: the same in a process of its own.

    stdout  a file or descriptor to write to, of which the outcome then knows nothing
    """

    def run(
        *words: str, stdin: bytes = b"", stdout: IO[Any] | int | None = None, python: Sequence[str] = ()
    ) -> Outcome:
        done = subprocess.run(
            [sys.executable, *python, "-m", "gradedeval", *words],
            cwd=tmp_path,
            env=environment(),
            input=stdin,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout or b"", done.stderr)

    return run


def shell(command: str, folder: Path) -> Outcome:
    """A line of bash in `folder`, where `gradedeval` is this one; a pipeline fails with the last part that fails."""
    script = f'set -o pipefail; gradedeval() {{ "{sys.executable}" -m gradedeval "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, timeout=60, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)
