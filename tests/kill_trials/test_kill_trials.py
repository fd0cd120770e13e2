"""A few trials, and a planted fault that they find."""

import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from kill_trials import trials
from kill_trials.commands import COMMANDS
from kill_trials.trials import KINDS, Trials, draw_trials
from support.processes import linux

pytestmark = linux


def test_a_few_killed_commands_leave_no_partial_files(tmp_path: Path) -> None:
    here = Trials(tmp_path)
    for kind, name, dice in draw_trials(4, "a sample", ["killed", "full"], ["a file URL", "a history"]):
        trial = KINDS[kind][0](here, name, dice)
        assert not trial.problems, trial


@pytest.mark.exhaustive
def test_killed_commands_leave_no_partial_files(tmp_path: Path) -> None:
    here = Trials(tmp_path)
    finished = [KINDS[kind][0](here, name, dice) for kind, name, dice in draw_trials(20, "the whole")]
    assert [trial for trial in finished if trial.problems] == []


@pytest.mark.exhaustive
def test_a_temporary_file_that_is_left_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a fault: signals are not deferred."""
    imports = "import contextlib; from gradedeval.kernel.trec import atomic_write; "
    rash = f"{imports}atomic_write.defer_signals = contextlib.nullcontext; "
    monkeypatch.setitem(COMMANDS, "a run", replace(COMMANDS["a run"], set_up=rash))
    monkeypatch.setattr(trials, "STEPS", ["os.fsync"])
    trial = Trials(tmp_path).killed("a run", random.Random(2), signal.SIGTERM)
    assert (trial.cause, trial.problems) == ("SIGTERM after os.fsync 1", [".gradedeval-*"])
