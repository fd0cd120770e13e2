"""No command reads a run twice, but for its beginning."""

import random
from collections import Counter
from pathlib import Path

import pytest

from gradedeval.kernel.trec.stream import Stream
from support.commands import Command

COMMANDS = {
    "eval": ("eval", "{runs}", "qrels"),
    "compare": ("compare", "{runs}", "qrels", "--all-pairs"),
    "judging": ("compare", "{runs}", "qrels", "-m", "ap ndcg@10", "--judging"),
    "for programs": ("compare", "{runs}", "qrels", "-f", "csv", "--baseline", "0"),
    "another baseline": ("compare", "1", "2", "qrels", "--judging", "--baseline", "0"),
    "report": ("report", "{runs}", "qrels", "-o", "page.html"),
    "diff": ("diff", "{runs}"),
    "diff by qrels": ("diff", "0", "1", "qrels"),
    "pool": ("pool", "{runs}", "qrels"),
    "leave one out": ("pool", "{runs}", "qrels", "--leave-one-out"),
    "to judge": ("pool", "{runs}", "qrels", "--to-judge"),
    "lint": ("lint", "{runs}", "qrels"),
    "correlate": ("correlate", "{runs}", "qrels", "-m", "ap ndcg@10"),
    "risk": ("risk", "{runs}", "qrels"),
    "pr": ("pr", "{runs}", "qrels"),
    "plot": ("plot", "runs", "{runs}", "qrels", "-m", "ap", "-o", "picture.svg"),
}


def run_of(seed: int) -> str:
    draw = random.Random(seed)
    return "".join(
        f"{topic} Q0 d{docno} {rank} {40 - rank + draw.random() / 2:.5f} tag{seed}\n"
        for topic in range(1, 301)
        for rank, docno in enumerate(draw.sample(range(60), 30), 1)
    )


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", COMMANDS)
def test_each_run_is_read_once(tmp_path: Path, cli: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    runs = ["0", "1", "2", "3"]
    for run in runs:
        (tmp_path / run).write_text(run_of(int(run)))
    grades = "".join(f"{topic} 0 d{docno} {docno % 3}\n" for topic in range(1, 301) for docno in range(0, 60, 2))
    (tmp_path / "qrels").write_text(grades)
    bytes_read, read_into = Counter[str](), Stream.read_into

    def counted(stream: Stream, view: memoryview) -> int:
        count = read_into(stream, view)
        bytes_read[stream.place] += count
        return count

    monkeypatch.setattr(Stream, "read_into", counted)
    words = [word for part in COMMANDS[name] for word in (runs if part == "{runs}" else [part])]
    assert cli(*words).code == 0
    sizes = {run: (tmp_path / run).stat().st_size for run in runs if run in words}
    assert all(size <= bytes_read[run] < 2 * size for run, size in sizes.items()), (bytes_read, sizes)
