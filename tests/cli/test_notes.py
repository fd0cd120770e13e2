"""Notes before a table: one line for each kind over many runs, a few lines in all, and everything with --verbose."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradedeval.cli.output import MAX_NOTES
from support.commands import Command

RUNS = 12


@pytest.fixture
def notable(tmp_path: Path) -> str:
    """Return a folder of runs with tied documents, missing and unjudged topics and rising scores, and `q.txt`."""
    lines = [f"{topic} 0 d{doc} {doc % 3}\n" for topic in range(1, 13) for doc in range(30)]
    (tmp_path / "q.txt").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    for number in range(RUNS):
        topics = range(1 + number % 3, 13 + number % 2)
        rows = [
            f"{topic} Q0 d{(rank * 7 + number) % 33} {rank + 1} {1 if number % 2 else rank} tag\n"
            for topic in topics
            for rank in range(20)
        ]
        (tmp_path / "runs" / f"run{number:02}.txt").write_text("".join(rows))
    return "runs"


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_many_runs_have_few_notes(command: str, notable: str, cli: Command) -> None:
    words = [command, notable, "q.txt", "-m", "ap@20", "-m", "ndcg@20"]
    few, every = cli(*words), cli(*words, "--verbose")
    assert few.code == every.code == 0
    assert few.out == every.out
    assert 3 <= len(few.lines) <= MAX_NOTES + 1
    if len(every.lines) > MAX_NOTES:
        rest = len(every.lines) - MAX_NOTES
        assert few.lines[:-1] == every.lines[:MAX_NOTES]
        assert few.lines[-1] == f"… and {rest} more {'note' if rest == 1 else 'notes'}; --verbose shows all"
    assert cli(*words, "-v").lines == every.lines
    assert cli(*words, "--quiet").lines == []


def test_notes_of_a_kind_are_one_line_that_counts_and_names_three(notable: str, cli: Command) -> None:
    notes = cli("eval", notable, "q.txt", "-m", "ndcg@20", "--verbose").lines
    shared = [note for note in notes if note.startswith(f"6 of {RUNS} runs (")]
    (ties,) = [note for note in shared if "equal scores" in note]
    (rising,) = [note for note in shared if "scores rise with the rank" in note]
    (unjudged,) = [note for note in shared if "unjudged topic" in note]
    assert ties.partition(")")[0].endswith("(runs/run01.txt, runs/run03.txt, runs/run05.txt, …")
    assert "many documents have equal scores, and means depend on their order; break the ties" in ties
    assert rising.endswith("or negate the scores (if they are right, --order score silences this note)")
    assert unjudged.endswith("1 unjudged topic (13); ignored")
    heads = [note.partition("): ")[2].partition(";")[0] for note in notes if " runs (" in note]
    assert len(heads) == len(set(heads))


def test_topics_that_no_file_has_are_one_line(notable: str, cli: Command, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("".join(f"{topic}\n" for topic in (1, 2, 3, 13, 99)))
    words = ["eval", notable, "q.txt", "-m", "ap@20", "-m", "ndcg@20", "--gain", "exp", "--negative", "judged"]
    every = cli(*words, "--topics-from", "few.txt", "-v").lines
    assert len([note for note in every if "topics of --topics-from are neither here nor in q.txt" in note]) == 1
    few = cli(*words, "--topics-from", "few.txt").lines
    assert few[:-1] == every[:MAX_NOTES]
    assert few[-1].startswith("… and ")
