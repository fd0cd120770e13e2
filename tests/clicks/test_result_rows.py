"""Read logs with a row for each result shown as the same logs with a row for each session."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError
from support.commands import Command

HEADER = "session_id\tquery\trank\tdocid\tclick\n"
ROWS = "s1\t317\t1\td1\t0\ns1\t317\t2\td2\t1\ns2\t317\t2\td2\t0\ns2\t317\t1\td1\t1\n"
SESSIONS = "topic\tclicks\tshown\tsession\n317\t2\td1 d2\ts1\n317\t1\td1 d2\ts2\n"


def test_rows_and_sessions_have_the_same_measures(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "rows.tsv").write_text(HEADER + ROWS)
    (tmp_path / "sessions.tsv").write_text(SESSIONS)
    rows = cli("clicks", "measures", str(tmp_path / "rows.tsv"), "-f", "csv")
    assert rows.code == 0, rows.messages
    assert rows.text == cli("clicks", "measures", str(tmp_path / "sessions.tsv"), "-f", "csv").text
    means = pd.read_csv(tmp_path / "sessions.tsv", sep="\t")
    assert float((1 / means["clicks"]).mean()) == 0.75
    assert "0.75" in rows.text


def draw_sessions(dice: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return sessions, and the rows of their results in any order."""
    sessions, rows = [], []
    for number in range(dice.randint(1, 8)):
        docnos = [f"d{docno}" for docno in dice.sample(range(12), dice.randint(1, 6))]
        clicks = sorted(dice.sample(range(1, len(docnos) + 1), dice.randint(0, len(docnos))))
        session = {"topic": dice.choice("ab"), "session": f"s{number}", "user": dice.choice("uv")}
        sessions.append({**session, "clicks": clicks, "shown": docnos})
        rows += [
            {**session, "rank": rank, "docno": docno, "click": rank in clicks} for rank, docno in enumerate(docnos, 1)
        ]
    dice.shuffle(rows)
    return sessions, rows


@pytest.mark.one_in(2)
@pytest.mark.parametrize("clicks_as", ["rank", "docno"])
def test_random_rows_give_their_original_sessions(clicks_as: str, tmp_path: Path) -> None:
    for seed in range(20):
        sessions, rows = draw_sessions(random.Random(seed))
        expected = gradedeval.clicks.read_log(pd.DataFrame(sessions)).frame()
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for source in (pd.DataFrame(rows), str(tmp_path / "rows.jsonl")):
            log = gradedeval.clicks.read_log(source, clicks_as=clicks_as).frame()
            pairs = [
                sorted(map(str, frame[["topic", "clicks", "shown", "user"]].values.tolist()))
                for frame in (expected, log)
            ]
            assert pairs[0] == pairs[1], seed


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("s1\t317\t2\td2\t1\n", ":2: session 's1' has no result at rank 1; log all results shown"),
        ("s1\t317\t1\td2\t1\ns1\t317\t1\td3\t0\n", ":3: rank 1 of session 's1' a second time"),
        ("s1\t317\t0\td2\t1\n", ":2: rank '0' is not a whole number from 1"),
        ("s1\t317\t1\td2\tyes\n", ":2: click 'yes' is neither 0 nor 1"),
        ("s1\t317\t1\ta b\t1\n", ":2: docno 'a b' is empty or has blanks"),
        ("\t317\t1\ta\t1\n", ":2: no session in this line"),
    ],
)
def test_bad_rows_are_named_by_their_line(rows: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text(HEADER + rows)
    with pytest.raises(InputError) as refused:
        gradedeval.clicks.read_log(str(tmp_path / "rows.tsv"))
    assert message in str(refused.value)
    (tmp_path / "rows.tsv").write_text(HEADER + rows + ROWS.replace("s1", "s8").replace("s2", "s9"))
    log = gradedeval.clicks.read_log(str(tmp_path / "rows.tsv"), lenient=True)
    assert log.sessions == 2
    assert any("skipped 1 " in str(note) for note in log.notes), log.notes


def test_a_log_without_the_session_names_it(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("query\trank\tdocid\tclick\n317\t1\td1\t1\n")
    with pytest.raises(InputError, match="no column 'session'"):
        gradedeval.clicks.read_log(str(tmp_path / "rows.tsv"))
