"""Differences of Windows and macOS, as far as Linux can simulate them; docs/limits.md has the list."""

from __future__ import annotations

import errno
import io
import ntpath
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.cli import output
from gradedeval.kernel.options.metadata import matches
from gradedeval.kernel.parallel import executors
from gradedeval.kernel.scoring.evaluate import file_names
from gradedeval.kernel.trec import small_tables, stream
from support.commands import Command
from support.paths import QRELS, SAMPLES

RUNS = [str(SAMPLES / f"rivers-{name}.run") for name in ("bm25", "neural")]
MEASURES = ["err@20", "ndcg@10", "ap"]


def scores(*runs: str, qrels: str = QRELS, **options: Any) -> list[float]:
    frame = gradedeval.evaluate(list(runs), qrels, MEASURES, **options).frame
    return list(frame["score"])


def interleaved(folder: Path) -> str:
    """Write a run whose topics alternate, which is read twice."""
    lines = Path(RUNS[0]).read_text().splitlines(keepends=True)
    (folder / "interleaved.run").write_text("".join(lines[::2] + lines[1::2]))
    return str(folder / "interleaved.run")


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_are_read_without_pread(jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [*RUNS, interleaved(tmp_path)]
    expected = scores(*runs)
    for name in ("pread", "preadv"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr(executors, "can_fork", lambda: jobs == 2)
    assert scores(*runs, jobs=jobs) == expected


@pytest.mark.exhaustive  # processes take a second to start
def test_spawned_processes_score_as_forked_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scores(*RUNS, jobs=2)
    monkeypatch.setattr(executors, "can_fork", lambda: False)
    assert scores(*RUNS, jobs=2) == expected


def test_a_file_that_is_in_use_stays(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(errno.EACCES, "The process cannot access the file")

    (tmp_path / "scores.csv").write_text("old")
    monkeypatch.setattr(Path, "replace", refuse)
    outcome = cli(RUNS[0], QRELS, "-o", str(tmp_path / "scores.csv"), "--quiet")
    problem = "cannot be written (The process cannot access the file); nothing was written"
    assert (outcome.code, outcome.messages) == (1, [f"{tmp_path / 'scores.csv'}: {problem}"])
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"scores.csv": "old"}


class ClosedPipe(io.RawIOBase):
    """Standard output whose reader has gone, as on Windows."""

    @property
    def buffer(self) -> ClosedPipe:
        return self

    def write(self, data: Any) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


@pytest.mark.parametrize(("on_windows", "code"), [(True, 0), (False, 1)])
def test_a_closed_pipe_ends_quietly(on_windows: bool, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from gradedeval.cli import main

    messages: list[str] = []
    monkeypatch.setattr(output, "WINDOWS", on_windows)
    monkeypatch.setattr(output, "_discard", lambda descriptor: None)
    monkeypatch.setattr("gradedeval.cli.print_message", messages.append)
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    with pytest.raises(SystemExit) as end:
        main([RUNS[0], QRELS, "-m", "ap", "--quiet"])
    assert end.value.code == code
    assert messages == ([] if on_windows else ["<stdout>: Invalid argument; the output is incomplete"])


@pytest.mark.parametrize(
    ("call", "value", "expected"),
    [
        (stream.is_url, r"C:\runs\a.run", False),
        (stream.is_url, "C:/runs/a.run", False),
        (stream.local_path, "file:///C:/runs/a.run", "C:/runs/a.run"),
        (stream.local_path, r"C:\runs\a.run", r"C:\runs\a.run"),
        (small_tables.is_source, r"labels\texts.tsv", True),
        (small_tables.is_source, "grade", False),
        (file_names, [r"C:\a\x.run.gz", r"C:\b\y.run"], ["x.run", "y.run"]),
    ],
)
def test_paths_have_drives_and_backslashes(
    call: Callable[[Any], Any], value: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "path", ntpath)
    monkeypatch.setattr(stream, "WINDOWS", True)
    assert call(value) == expected


def test_patterns_of_seeds_match_folders_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    assert matches(r"new\seed1.run", "new/*.run")
    assert matches(r"new\seed1.run", r".\new\*.run")
    assert not matches(r"old\seed1.run", "new/*.run")


@pytest.mark.parametrize("which", ["run", "qrels", "gains"])
def test_lines_may_end_as_on_windows(which: str, tmp_path: Path) -> None:
    files = {
        "run": Path(RUNS[0]).read_bytes(),
        "qrels": Path(QRELS).read_bytes(),
        "gains": b"0,0\n1,0.1\n2,0.3\n3,0.6\n4,1\n",
    }
    expected = None
    for lines in (files, files | {which: files[which].replace(b"\n", b"\r\n")}):
        for name, content in lines.items():
            (tmp_path / name).write_bytes(content)
        paths = {name: str(tmp_path / name) for name in files}
        computed = scores(paths["run"], qrels=paths["qrels"], gain=f"@{paths['gains']}")
        expected = expected or computed
        assert computed == expected


@pytest.mark.parametrize("encoding", [pytest.param("cp1252", marks=pytest.mark.exhaustive), "ascii"])
def test_output_is_utf8_on_any_console(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "é.run").symlink_to(RUNS[0])
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "gradedeval", tmp_path / "é.run", QRELS, "-m", "ap", "-f", "csv"],
            env={**os.environ, "PYTHONIOENCODING": name, "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for name in (encoding, "utf-8")
    ]
    assert outputs[0] == outputs[1]
    assert "é.run".encode() in outputs[0]


@pytest.mark.parametrize(
    ("variables", "colored"),
    [({}, False), ({"WT_SESSION": "1"}, True), ({"TERM": "xterm"}, True), ({"FORCE_COLOR": "1"}, True)],
)
def test_old_consoles_get_no_color(variables: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Console(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("WT_SESSION", "TERM", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(output, "WINDOWS", True)
    assert output.in_color(Console()) == colored


def test_patterns_are_expanded_by_the_program(cli: Command) -> None:
    assert "neural" in cli(str(SAMPLES / "rivers-*.run"), QRELS, "-m", "ap", "--quiet").text
