"""Tags with spaces: fields of a run's line beyond the sixth belong to the tag, unless other fields are shifted."""

from pathlib import Path

import pytest

import gradedeval
from gradedeval import InputError
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.run import run_of_lines
from gradedeval.kernel.trec.stream import Source, Stream
from support.commands import Command

QRELS = {"1": {"a": 1, "c": 2}}


@pytest.mark.parametrize("tag", ["my run", "bm25 k1 = 0.9", "run 2", "x 1 2 3", "a\tb"])
def test_a_tag_may_have_spaces(tag: str, tmp_path: Path) -> None:
    path, plain = tmp_path / "run", tmp_path / "plain"
    path.write_text(f"1 Q0 a 1 3 {tag}\n1 Q0 x 2 2.5 one\n1 Q0 c 3 2 {tag}\n")
    plain.write_text("1 Q0 a 1 3 x\n1 Q0 x 2 2.5 x\n1 Q0 c 3 2 x\n")
    for options in ({}, {"ties": "rank"}, {"order": "rank"}, {"order": "file"}):
        scores = gradedeval.evaluate(path, QRELS, "ndcg err num_ret", **options)
        assert scores.means == gradedeval.evaluate(plain, QRELS, "ndcg err num_ret", **options).means
    assert run_of_lines(Stream(Source(str(path))), Options()).tag == " ".join(tag.split())


@pytest.mark.parametrize(
    "line",
    [
        "1 Q0 doc a 1 3 x",  # a docno with a space
        "1 Q0 doc 7 1 3 x",
        "1 Q0 doc 7 8 1 3 x",
        "topic 5 Q0 d 1 3 x",  # a topic with one
        "5 6 Q0 d 1 3 x",
        "1 Q0 d 1 high 3 x",  # a score that is none
        "1 Q0 d 1 3 4 x",  # a tag that begins with a number, or a score too many
    ],
)
def test_fields_that_are_shifted_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(f"1 Q0 a 1 3 x\n{line}\n")
    with pytest.raises(InputError, match=r"run:2: [78] fields, expected 6"):
        gradedeval.evaluate(tmp_path / "run", QRELS, "ap")


def test_qrels_take_no_more_fields_than_they_have(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1 x\n")
    with pytest.raises(InputError, match="qrels:1: 5 fields, expected 4"):
        gradedeval.Qrels(tmp_path / "qrels")


def test_a_tag_with_spaces_names_a_run_and_passes_lint(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 a 1 3 my run\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    assert "my run" in cli("run", "qrels", "-m", "ap", "--run-name", "tag", "-f", "csv").text
    assert cli("lint", "run", "qrels").code == 0
