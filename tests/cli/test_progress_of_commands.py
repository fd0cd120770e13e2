"""Every command that reads several runs shows how far it has come."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gradedeval.cli import progress
from support.terminal import at_terminal, without_escapes

RUNS = " ".join(f"{number}.run" for number in range(4))
COMMANDS = {
    "eval": f"{RUNS} qrels -m err@5",
    "compare": f"{RUNS} qrels -m err@5",
    "risk": f"{RUNS} qrels -m err@5",
    "check": f"{RUNS} qrels --min err@5=0",
    "correlate": f"{RUNS} qrels -m err@5,ap",
    "power": f"{RUNS} qrels -m err@5 --draws 50",
    "diff": "0.run 1.run qrels",
    "pool": f"{RUNS} qrels",
    "pool --to-judge": f"{RUNS} qrels",
    "pool --leave-one-out": f"{RUNS} qrels",
    "lint": f"{RUNS} qrels",
    "informative": f"{RUNS} qrels --min-found 1",
    "pr": f"{RUNS} qrels",
    "fit": f"{RUNS} qrels -m rbp(p=0.1..0.9) --to ndcg",
    "weights": f"{RUNS} qrels -m ap",
    "report": f"{RUNS} qrels -m err@5 -o page.html",
    "clicks simulate": f"{RUNS} qrels --as err@5 --sessions 20",
    "plot runs": f"{RUNS} qrels -m ap -o runs.svg",
    "plot correlate": f"{RUNS} qrels -m err@5,ap -o tau.svg",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("runs"), random.Random(1)
    judged = [f"{topic} 0 d{doc} {draw.randrange(3)}" for topic in range(6) for doc in range(20)]
    (folder / "qrels").write_text("\n".join([*judged, ""]))
    for number in range(4):
        lines = [f"{topic} Q0 d{doc} 1 {draw.random()} t{number}" for topic in range(6) for doc in range(30)]
        (folder / f"{number}.run").write_text("\n".join([*lines, ""]))
    return folder


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_over_runs_has_a_bar_and_leaves_the_cursor(
    name: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1)
    seen = at_terminal(*name.split(), *COMMANDS[name].split(), "--quiet", folder=files)
    assert seen.code == 0, seen.err
    assert "runs" in without_escapes(seen.err)
    assert "100%" in seen.err
    assert seen.err.rindex("\33[?25h") > seen.err.rindex("\33[?25l")
