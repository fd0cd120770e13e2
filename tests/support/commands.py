"""Outcomes of commands, and commands in processes of their own."""

import csv
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gradedeval.analysis.reversals import COLUMNS
from support.paths import ROOT

# Python hides these warnings from users by default.
HIDDEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


# Nearly all examples of tests are small, which is said each time: tests/kernel/scoring/test_caveats.py looks for it.
FEW = re.compile(
    rb"^(there is one topic|the means are over \d topics); too few to tell systems apart\n"
    rb"|^.*: each topic has .* looks? at all ranks; .*\n",
    re.MULTILINE,
)


MARKED = re.compile("\ufdd0-.*?\ufdd1".encode())
"""An option in a message that was not rendered for its reader."""

CORRECTED = "  gradedeval "
"""The beginning of the corrected command line below an error."""


@dataclass(frozen=True)
class Outcome:
    """The exit code of a command, and its standard output and error without the notes on few topics and short lists."""

    code: int
    out: bytes
    err: bytes

    def __post_init__(self) -> None:
        object.__setattr__(self, "err", FEW.sub(b"", self.err))
        assert MARKED.search(self.err + (self.out or b"")) is None

    @property
    def messages(self) -> list[str]:
        """Return the lines of standard error, but for the corrected command line below an error."""
        return [line for line in self.lines if not line.startswith(CORRECTED)]

    @property
    def corrected(self) -> list[str]:
        """Return the corrected command line below an error."""
        return [line.strip() for line in self.lines if line.startswith(CORRECTED)]

    @property
    def lines(self) -> list[str]:
        """Return all lines of standard error."""
        return self.err.decode("utf-8", "surrogateescape").splitlines()

    @property
    def text(self) -> str:
        """Return standard output as text."""
        return self.out.decode()

    @property
    def words(self) -> str:
        """Return standard output as text without its lines: a space between any two words."""
        return " ".join(self.text.split())


Command = Callable[..., Outcome]


def succeed(outcome: Outcome) -> Outcome:
    """Return the outcome; fail if the command failed."""
    assert outcome.code == 0, outcome.messages
    return outcome


def rows(text: str) -> list[dict[str, str]]:
    """Return the lines of a csv by their header."""
    return list(csv.DictReader(io.StringIO(text)))


def environment() -> dict[str, str]:
    """Return the variables of a process without the settings of Python here, which may switch off even buffers."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**plain, "PYTHONPATH": str(ROOT)}


def python(*words: str, folder: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these words, and with this package, in a process of its own."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def shell(command: str, folder: Path) -> Outcome:
    """Run a line of bash in `folder`, with this package as `gradedeval`; a pipeline fails with its last part that
    fails."""
    script = f'set -o pipefail; gradedeval() {{ "{sys.executable}" -m gradedeval "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, timeout=60, check=False
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def without_flips(text: str, *more: str) -> str:
    """Return a comparison as CSV without its signature and the columns of reversals: these need the runs, and saved
    scores have none. `more`: other columns to leave out."""
    header, *rows = csv.reader(io.StringIO(text))
    dropped = {*COLUMNS, "lowest", "highest", "signature", *more}
    kept = [place for place, name in enumerate(header) if name not in dropped]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[place] for place in kept] for row in (header, *rows))
    return out.getvalue()
