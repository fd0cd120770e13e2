"""The benchmark runs; its figures are not tested."""

from pathlib import Path

import pytest

from support.commands import python

SPEED = Path(__file__).parent / "benchmarks" / "speed.py"


@pytest.mark.exhaustive
@pytest.mark.parametrize("row", ["many", "loop", "large", "forms", "growth", "all_trec"])
def test_a_row_of_the_benchmark_runs_on_a_small_workload(row: str, tmp_path: Path) -> None:
    words = f"--folder {tmp_path} --rounds 1 --topics 20 --runs 3 --only {row}"
    done = python(str(SPEED), *words.split())
    assert done.returncode == 0, done.stderr
    assert (" ms\n" if row == "loop" else " MiB ") in done.stdout


@pytest.mark.exhaustive
def test_the_benchmark_of_questions_runs_on_samples(tmp_path: Path) -> None:
    samples = SPEED.parents[2] / "qrels_samples"
    files = ["--runs", str(samples / "rivers-[bd]*.run"), "--qrels", str(samples / "rivers.qrels")]
    words = ["--folder", str(tmp_path), "--rounds", "1", *files, "--only", "lint pr"]
    done = python(str(SPEED.with_name("questions.py")), *words)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == ["eval", "lint", "lint", "pr"]
