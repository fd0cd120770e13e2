"""Runs and qrels with their defects: reading in columns equals reading by line, for files of all kinds."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.files import mutated
from gradedeval.kernel.rankings import submissions
from gradedeval.kernel.rankings.submissions import Judgments, Submission
from gradedeval.kernel.trec import blocks, line_reader
from gradedeval.kernel.trec.lines import NeedsLineReader
from support.runs import awkward

FORMATS = {
    "msmarco": ((0, 2, 3, 4), b"\t", b""),
    "ranks": ((0, 2, 3), b"\t", b""),
    "beir": ((0, 2, 4), b"\t", b"query-id\tcorpus-id\tscore\n"),
    "csv": ((0, 2, 3, 4, 5), b",", b"topic,docno,rank,score,tag\r\n"),
}
"""Columns of a TREC run, their separator, and the header."""


def spoil(run: bytes, dice: random.Random) -> bytes:
    """Return a run with tags, types, ranks and scores with defects for lint, perhaps in another format."""
    rows = [line.split() for line in run.split(b"\n")]
    full = [row for row in rows if len(row) == 6]
    for column, values in (
        (1, [b"Q0", b"0"]),
        (3, [b"1", b"2", b"x"]),
        (4, [b"1", b"1e39", b"1e-50"]),
        (5, [b"t", b"u"]),
    ):
        for row in dice.sample(full, min(len(full), 3)) if dice.random() < 0.2 else ():
            row[column] = dice.choice(values)
    if dice.random() < 0.3:
        order, between, header = FORMATS[dice.choice(list(FORMATS))]
        return header + b"".join(between.join(row[index] for index in order) + b"\n" for row in full)
    return b"\n".join(map(b" ".join, rows)) if dice.random() < 0.5 else run


def no_columns(*arguments: Any, **settings: Any) -> None:
    raise NeedsLineReader


def read_by_line(function: Callable[..., Any], *arguments: str) -> Any:
    """Read a file without columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "_add_columns", no_columns)
        patch.setattr(submissions, "read_judgments", no_columns)
        return function(*arguments)


def same_run(path: Path) -> None:
    in_columns, by_lines = Submission.read("run", str(path)), read_by_line(Submission.read, "run", str(path))
    assert in_columns.defects == by_lines.defects
    assert (in_columns.format, list(in_columns.tags.items())) == (by_lines.format, list(by_lines.tags.items()))
    listed, expected = in_columns.listed, by_lines.listed
    assert listed.topics == expected.topics
    assert listed.rows.counts.tolist() == expected.rows.counts.tolist()
    assert listed.rows.docnos(np.arange(len(listed))).names() == expected.rows.docnos(np.arange(len(expected))).names()
    for name in ("scores", "ranks", "lines"):
        np.testing.assert_array_equal(getattr(listed, name), getattr(expected, name), name)
    assert (listed.rows.hashed == expected.rows.hashed).all()


def same_judgments(path: Path) -> None:
    in_columns, by_lines = Judgments.of_qrels(str(path)), read_by_line(Judgments.of_qrels, str(path))
    assert (in_columns.defects, in_columns.format) == (by_lines.defects, by_lines.format)
    if in_columns.valid is None or by_lines.valid is None:
        assert in_columns.valid is by_lines.valid
        return
    assert in_columns.valid.codes == by_lines.valid.codes
    assert list(in_columns.valid.codes) == list(by_lines.valid.codes)
    assert in_columns.valid.labels.tolist() == by_lines.valid.labels.tolist()
    assert in_columns.valid.place == by_lines.valid.place


@pytest.mark.one_in(24)
@pytest.mark.parametrize("seed", range(24))
def test_columns_equal_the_line_reader(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice, path = random.Random(seed), tmp_path / "file"
    for _ in range(25):
        monkeypatch.setattr(blocks, "PART", dice.choice([1, 64, 1 << 20]))
        monkeypatch.setattr(blocks, "STEP", dice.choice([256, 1 << 22]))
        run, qrels = awkward(dice)
        run = spoil(run, dice)
        path.write_bytes(mutated(run, dice, dice.choice([3, 4])) if dice.random() < 0.4 else run)
        same_run(path)
        path.write_bytes(mutated(qrels, dice, 3) if dice.random() < 0.6 else qrels)
        same_judgments(path)


ODD = [
    b"1 Q0 a 1 2 t\n1 Q0 b 2 2 t\n",
    b"# first\r\n\r\n 1\tQ0  a 1 +2.5e0 t \r\n2 Q0 a 7 -0 u",
    b"1 Q0 a 3 1 t\n2 0 a 1 1e300 t\n1 Q0 b 3 1e-50 t\n",
    b"\xef\xbb\xbftopic,docno,score\n1,a,2\n2,a,1\n",
    b"1\ta\t1\n1\tb\t2\n1\tc\t3\n1\td\t4\n",
]


@pytest.mark.parametrize("content", ODD)
def test_legal_lines_are_read_in_columns(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").write_bytes(content)
    same_run(tmp_path / "run")
    monkeypatch.setattr(line_reader, "records", None)
    assert len(Submission.read("run", str(tmp_path / "run")).listed) > 1


def test_lines_before_the_break_of_a_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 1 2 t\n1 Q0 b x nan t\n" + b"d" * (1 << 21))
    same_run(path)
    assert len(Submission.read("run", str(path)).listed) == 1
