"""Executors of libraries that are not dask: the same scores, notes and errors."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradedeval.kernel.parallel import Workers
from support.collection import SMALL, outcome, written_collection
from support.commands import environment
from support.paths import ROOT
from support.processes import linux

pytestmark = [pytest.mark.exhaustive, linux]

OPTIONS = {"residuals": "total", "topics": "both"}
ON_MPI = """
import sys
from pathlib import Path
from mpi4py.futures import MPIPoolExecutor
from gradedeval.kernel.parallel import Workers
from support.collection import SMALL, outcome
if __name__ == "__main__":
    folder, options = Path(sys.argv[1]), {"residuals": "total", "topics": "both"}
    with MPIPoolExecutor(2) as pool:
        found = outcome(folder, Workers(2, limits=SMALL, executor=pool), True, **options)
    expected = outcome(folder, Workers(), True, **options)
    print(len(expected[0]), len(expected[2]), found == expected)
"""


def test_loky_shares_work(tmp_path: Path) -> None:
    loky = pytest.importorskip("loky", reason="loky is not installed")
    folder, executor = written_collection(tmp_path), loky.ProcessPoolExecutor(2)
    try:
        results = outcome(folder, Workers(2, limits=SMALL, executor=executor), True, **OPTIONS)
    finally:
        executor.shutdown()
    assert results == outcome(folder, Workers(), True, **OPTIONS)


def test_processes_of_mpi_share_work(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    begin = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if begin is None:
        pytest.skip("mpiexec, which starts processes of MPI, is not installed")
    folder, script = tmp_path / "files", tmp_path / "script.py"
    folder.mkdir()
    script.write_text(ON_MPI)
    words = [begin, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script), str(written_collection(folder))]
    path = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    done = subprocess.run(words, env={**environment(), "PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()[1:]) == (0, ["1", "True"]), done.stderr
