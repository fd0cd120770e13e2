"""No Arrow or Parquet data is read before all of its offsets, indices and lengths are known to be valid."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import InputError
from support.commands import Command

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

from fuzz.columnar import batch, packed  # noqa: E402 - which need pyarrow

QRELS = {"1": {"d1": 1, "d4": 2}, "2": {"d3": 1}}
NAMES = ("topic", "docno", "score")


def damage_column(values: Any, index: int, number: int, buffer: int = 1) -> Any:
    """Return a column with a changed number in one of its buffers."""
    buffers = values.buffers()
    content = bytearray(buffers[buffer].to_pybytes())
    content[index : index + 4] = number.to_bytes(4, "little", signed=True)
    buffers[buffer] = pa.py_buffer(bytes(content))
    return pa.Array.from_buffers(values.type, len(values), buffers)


DOCNOS = pa.array(["d1", "d2", "d3", "d4"])
COLUMNS = {
    "an offset far beyond the text": lambda: damage_column(DOCNOS, 8, 2**31 - 1),
    "an offset below the one before": lambda: damage_column(DOCNOS, 8, 0),
    "a negative offset": lambda: damage_column(DOCNOS, 4, -8),
    "a text that is not UTF-8": lambda: damage_column(DOCNOS, 0, -1, buffer=2),
    "an index of no entry": lambda: pa.DictionaryArray.from_arrays(
        damage_column(pa.array([0, 1, 0, 1], pa.int32()), 4, 7), DOCNOS, safe=False
    ),
}


def write_arrow(table: Any, path: Path) -> str:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return str(path)


SOURCES: dict[str, Callable[[Any, Path], Any]] = {
    "an Arrow file": lambda table, folder: write_arrow(table, folder / "FILE"),
    "pyarrow": lambda table, folder: table,
    "a stream of Arrow": lambda table, folder: type("Result", (), {"__arrow_c_stream__": table.__arrow_c_stream__})(),
    "pandas": lambda table, folder: table.to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("column", NAMES[:2])
@pytest.mark.parametrize("damage", COLUMNS)
def test_a_damaged_column_is_refused_by_its_name(damage: str, column: str, source: str, tmp_path: Path) -> None:
    columns = {"topic": pa.array(["1", "1", "1", "2"]), "docno": DOCNOS, "score": pa.array([4.0, 3.0, 2.0, 1.0])}
    source_with_damage = SOURCES[source](pa.table({**columns, column: COLUMNS[damage]()}), tmp_path)
    with pytest.raises(InputError) as error:
        gradedeval.evaluate(source_with_damage, QRELS, "ap")
    assert f"column '{column}' is damaged; write the table again" in str(error.value)


def test_a_batch_with_columns_of_different_lengths_is_refused(cli: Command, tmp_path: Path) -> None:
    """Change the length of a column: the documents of the second batch would have the scores of others."""
    short = [pa.array(["1"] * 3), pa.array(["d1", "d2", "d3"]), pa.array([9.0, 8.0, 7.0])]
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.record_batch(short, NAMES).schema) as out:
        for _ in range(2):
            out.write_batch(pa.record_batch(short, NAMES))
    content = bytearray(sink.getvalue().to_pybytes())
    # A node of a batch says how many values a column has, and how many of them are missing: 3, 0; the column of scores
    # comes last.
    nodes = [
        offset
        for offset in range(0, len(content) - 48, 8)
        if content[offset : offset + 48] == bytes([3, *bytes(15)]) * 3
    ]
    assert len(nodes) == 2
    for offset, number in zip(nodes, (2, 4), strict=True):
        content[offset + 32] = number
    (tmp_path / "FILE").write_bytes(bytes(content))
    done = cli("FILE", "qrels", "-m", "ap")
    assert (done.code, done.out) == (1, b"")
    assert done.messages == ["FILE: begins like an Arrow file but cannot be read as one; write the file again"]


def test_feather_of_version_1_is_refused(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_bytes(b"FEA1" + bytes(64) + b"FEA1")
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    for words in (("FILE", "qrels"), ("qrels", "qrels", "--queries", "FILE")):
        done = cli(*words, "-m", "ap", *(["--run-format", "topic,-,docno,score"] if words[0] == "qrels" else []))
        assert (done.code, done.out) == (1, b"")
        assert done.messages == [
            "FILE: is a Feather file of version 1, which pyarrow cannot read safely; "
            "save the table as Parquet, or as Feather of version 2"
        ]


@pytest.mark.parametrize("files", [8, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_each_damaged_file_is_one_message_or_has_the_scores_of_an_honest_reader(files: int) -> None:
    """Check a few damages; for more: `python -m tests.fuzz --only columnar`."""
    ways, wrong = batch(0, files)
    assert wrong == []
    assert {way.partition(" ")[2] for way in ways} == {"scored", "refused"}


def test_files_that_are_whole_have_the_scores_of_their_rows(tmp_path: Path) -> None:
    table: dict[str, list[Any]] = {
        "topic": ["1"] * 4 + ["2"] * 4,
        "docno": ["d1", "d2", "d3", "d4"] * 2,
        "score": [8.0, 7.0, 6.0, 5.0] * 2,
    }
    expected = dict(gradedeval.evaluate(list(zip(*table.values(), strict=True)), QRELS, "ap ndcg").means)
    for seed in range(16):
        dice = random.Random(seed)
        (tmp_path / "FILE").write_bytes(packed(dice, table, dice.choice(["file", "stream", "feather", "parquet"])))
        assert dict(gradedeval.evaluate(str(tmp_path / "FILE"), QRELS, "ap ndcg").means) == expected, seed
