"""A few trials: the machine works, and what it looks for is not there."""

import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from kill_trials import trials
from kill_trials.commands import COMMANDS
from kill_trials.trials import KINDS, Trials, drawn
from support.processes import linux

pytestmark = linux


def test_a_few_commands_that_are_killed_leave_nothing(tmp_path: Path) -> None:
    here = Trials(tmp_path)
    for kind, name, dice in drawn(4, "a sample", ["killed", "full"], ["a file URL", "a history"]):
        trial = KINDS[kind][0](here, name, dice)
        assert not trial.found, trial


@pytest.mark.exhaustive
def test_commands_that_are_killed_leave_nothing(tmp_path: Path) -> None:
    here = Trials(tmp_path)
    found = [KINDS[kind][0](here, name, dice) for kind, name, dice in drawn(20, "the whole")]
    assert [trial for trial in found if trial.found] == []


@pytest.mark.exhaustive
def test_a_file_that_is_left_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no signal waits."""
    imports = "import contextlib; from gradedeval.kernel.trec import atomic_write; "
    rash = f"{imports}atomic_write.defer_signals = contextlib.nullcontext; "
    monkeypatch.setitem(COMMANDS, "a run", replace(COMMANDS["a run"], before=rash))
    monkeypatch.setattr(trials, "STEPS", ["os.fsync"])
    trial = Trials(tmp_path).killed("a run", random.Random(2), signal.SIGTERM)
    assert (trial.how, trial.found) == ("SIGTERM after os.fsync 1", [".gradedeval-*"])
