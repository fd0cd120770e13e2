"""Files that are nearly what they should be: read where they can mean one thing alone, else refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradedeval.rankings.qrels import Qrels
from support.commands import Command
from support.file_formats import TREC_QRELS, TREC_RUN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "trec.run").write_text(TREC_RUN)
    (tmp_path / "trec.qrels").write_text(TREC_QRELS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_of_records_by_topic_is_read(folder: Path, cli: Command) -> None:
    (folder / "a.json").write_text(json.dumps({"51": [{"docno": "d7", "score": 1}, {"docno": "d2", "score": 2}]}))
    (folder / "b.json").write_text(json.dumps({"51": {"d7": 1, "d2": 2}}))
    assert cli("a.json", "trec.qrels", "-m", "ap").text == cli("b.json", "trec.qrels", "-m", "ap").text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"results": [{"qid": "51", "docno": "d7", "score": 1}]}, "holds records of other topics, such as '51'"),
        ([{"qid": ["51"], "docno": "d7", "score": 1}], "id ['51'] is a list"),
        ([{"qid": "51", "docno": {"a": 1}, "score": 1}], "id {'a': 1} is a dict"),
        ({"51": [{"docno": "d7", "score": 1}, 3]}, "holds what is no record of a document"),
    ],
)
def test_json_that_is_no_run_spoils_no_other(content: object, says: str, folder: Path, cli: Command) -> None:
    (folder / "wrong.json").write_text(json.dumps(content))
    read = cli("wrong.json", "trec.run", "trec.qrels", "-m", "ap")
    assert says in read.err.decode()
    assert "trec.run" in read.text


@pytest.mark.parametrize("comment", ["#docid:D3", "# docno=D3", "# docid = D3 inc = 1", "#D3", "# 5 docno: D3"])
def test_letor_names_its_documents_in_several_ways(comment: str, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text(f"2 qid:51 1:0.5 {comment}\n")
    assert list(Qrels(tmp_path / "FILE").codes[b"51"]) == [b"D3"]
