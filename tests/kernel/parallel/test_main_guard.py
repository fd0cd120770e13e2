"""A script without `if __name__ == "__main__"` is told so in one line, not in the tracebacks of all its processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradedeval.errors import InputError
from gradedeval.kernel.parallel import executors
from gradedeval.kernel.parallel.executors import check_script
from support.commands import environment
from support.paths import ROOT

FILES = [str(ROOT / "qrels_samples" / name) for name in ("rivers-*.run", "rivers.qrels")]
CALLS = {"threads": "jobs=2", "spawn": 'executor=ProcessPoolExecutor(2, get_context("spawn"))'}
SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from threading import Event, Thread
import gradedeval
from gradedeval.kernel import parallel

parallel.LIMITS = parallel.Limits(small_runs=0)
Thread(target=Event().wait, daemon=True).start()
gradedeval.evaluate(*{files}, "ap", {call})
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("call", CALLS)
def test_a_script_that_new_processes_would_run_again_is_told_in_a_line(call: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(files=FILES, call=CALLS[call]))
    done = subprocess.run(
        [sys.executable, script], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    said = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
    if call == "spawn":  # the script's own pool: Python ends a process that has just made another, and may say so
        said = [line for line in said if "resource_tracker.py" not in line]
    assert (done.returncode, done.stdout) == (1, "")
    assert said == [
        "Traceback (most recent call last):",
        "gradedeval.errors.InputError: jobs: new processes run this script again, and come to this call once more; "
        'put the call under `if __name__ == "__main__":`',
    ]


def test_a_process_that_runs_the_script_again_starts_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be ended in the middle, and Python warn of semaphores that it leaves."""
    monkeypatch.setattr(executors, "check_script", lambda: pytest.fail("this process ends here"))
    monkeypatch.setattr(executors, "_processes", None)
    with pytest.raises(pytest.fail.Exception, match="ends here"), executors.spawned(abs, [1, 2], 2):
        pass


def test_a_script_from_standard_input_cannot_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__file__="<stdin>", __spec__=None))
    with pytest.raises(InputError, match=r"^jobs: new processes .* standard input cannot be read twice; save the"):
        check_script()
