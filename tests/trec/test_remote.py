"""Runs and qrels that a URL names are read through fsspec."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

import gradedeval
from gradedeval import InputError
from support.sessions import gradedeval as prompt

RUN, QRELS = "1 Q0 a 1 2 t\n2 Q0 b 1 1 t\n1 Q0 b 2 1 t\n", "1 0 b 1\n2 0 b 1\n"


@pytest.fixture
def bucket() -> str:
    """A folder in memory with two runs and their qrels."""
    files = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    for name in ("x.run", "y.run"):
        files.pipe(f"/bucket/runs/{name}", RUN.encode())
    files.pipe("/bucket/qrels.gz", gzip.compress(QRELS.encode()))
    return "memory://bucket"


def test_a_url_is_a_file_a_folder_or_a_pattern(bucket: str) -> None:
    qrels = f"{bucket}/qrels.gz"
    assert gradedeval.evaluate(f"{bucket}/runs/x.run", qrels, "rr").means == {"rr": 0.75}
    for word in (f"{bucket}/runs/*.run", f"{bucket}/runs/"):
        assert [run.run for run in gradedeval.evaluate(word, qrels, "rr").runs] == ["x.run", "y.run"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("runs/z.run", "bucket/runs/z.run: no such file; check the URL"),
        ("runs/*.txt", "names no file; check the URL"),
    ],
)
def test_a_url_that_names_nothing_says_so(bucket: str, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("*", r"\*")):
        gradedeval.evaluate(f"{bucket}/{name}", {"1": {"a": 1}}, "rr")


def test_a_protocol_that_nothing_opens_says_so_in_a_line() -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    with pytest.raises(InputError, match=r"^nowhere://a: no protocol is called 'nowhere'; as in s3://"):
        gradedeval.Qrels("nowhere://a")


def test_without_fsspec_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError) as error:
        gradedeval.evaluate("s3://bucket/x.run", {"1": {"a": 1}}, "rr")
    assert str(error.value) == "s3://bucket/x.run: is a URL, which fsspec opens; pip install 'gradedeval[remote]'"


def test_the_prompt_takes_urls(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    (tmp_path / "x.run").write_text(RUN)
    (tmp_path / "qrels").write_text(QRELS)
    words = [f"file://{tmp_path}/x.run", f"file://{tmp_path}/qrels", "-m", "rr", "-f", "csv"]
    assert prompt(words, tmp_path).startswith("run,topic,measure,score,signature\nx.run,all,rr,0.75,")


def test_folders_and_patterns_are_runs_in_python_too(tmp_path: Path) -> None:
    for name in ("b.run", "a.run"):
        (tmp_path / name).write_text(RUN)
    (tmp_path / "qrels").write_text(QRELS)
    for word in (tmp_path, f"{tmp_path}/*.run"):
        runs = gradedeval.evaluate(word, tmp_path / "qrels", "rr").runs
        assert [run.run for run in runs] == ["a.run", "b.run"]
    with pytest.raises(InputError, match="matches no file"):
        gradedeval.evaluate(f"{tmp_path}/*.txt", {"1": {"a": 1}}, "rr")
