"""A single file that holds results and judgments is the run and the qrels of each command that takes both."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradedeval
from support.commands import Command

FILES = {
    "golden.jsonl": '{"question": "a", "expected": ["d1"], "retrieved": ["d2", "d1"]}\n'
    '{"question": "b", "expected": ["d3"], "retrieved": ["d3"]}\n',
    "keyed.json": '{"a": {"expected": ["d1"], "retrieved": ["d2", "d1"]}, "b": {"expected": ["d3"], '
    '"retrieved": ["d3"]}}',
    "table.csv": "qid,docid,label,pred\na,d1,1,0.5\na,d2,0,0.9\nb,d3,1,0.2\n",
    "rows.jsonl": '{"qid": "a", "docno": "d1", "label": 1, "score": 0.5}\n'
    '{"qid": "a", "docno": "d2", "label": 0, "score": 0.9}\n{"qid": "b", "docno": "d3", "label": 1, "score": 0.2}\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "plain.run").write_text("a Q0 d1 1 2 t\nb Q0 d3 1 2 t\n")
    (tmp_path / "plain.qrels").write_text("a 0 d1 1\nb 0 d3 1\n")
    (tmp_path / "run.json").write_text('{"a": {"d1": 2.5}}')
    return tmp_path


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "FILE", "-m", "rr"),
        ("check", "FILE", "--min", "rr=0.5"),
        ("check", "FILE", "--baseline", "plain.run", "--max-drop", "rr=0.9"),
        ("pr", "FILE"),
        ("risk", "FILE", "--baseline", "plain.run", "-m", "rr"),
        ("compare", "FILE", "--baseline", "plain.run", "-m", "rr"),
    ],
    ids=" ".join,
)
def test_a_file_of_both_is_given_once(name: str, words: tuple[str, ...], folder: Path, cli: Command) -> None:
    position = words.index("FILE")
    once, twice = (cli(*words[:position], *[name] * count, *words[position + 1 :]) for count in (1, 2))
    assert (once.code, once.text) == (twice.code, twice.text), once.messages
    assert once.text


@pytest.mark.parametrize("name", FILES)
def test_a_topic_may_follow_a_file_of_both(name: str, folder: Path, cli: Command) -> None:
    for words in (("explain", name, "a", "-m", "rr"), ("explain", name, "--topic", "a", "-m", "rr")):
        assert "rr: 0.5000" in cli(*words).text
    assert "unjudged@10" in cli("lint", name, "-m", "rr").text


@pytest.mark.parametrize("name", ["plain.run", "plain.qrels", "run.json"])
def test_a_file_of_one_kind_needs_the_other(name: str, folder: Path, cli: Command) -> None:
    refused = cli(name, "-m", "rr")
    assert refused.code == 2
    assert "expected a run and a qrels file" in refused.messages[0]


def test_named_fields_of_one_file_are_of_both(folder: Path, cli: Command) -> None:
    (folder / "own.jsonl").write_text('{"ask": "a", "gold": ["d1"], "top": ["d2", "d1"]}\n')
    words = ("--run-format", "topic=ask,documents=top", "--qrels-format", "topic=ask,documents=gold")
    assert "rr,0.5" in cli("own.jsonl", *words, "-m", "rr", "-f", "csv").text


def test_python_says_to_give_data_of_both_twice() -> None:
    with pytest.raises(TypeError, match=r"data that hold both are given twice: evaluate\(data, data\)"):
        gradedeval.evaluate("golden.jsonl", measures="rr")  # type: ignore[call-arg]
