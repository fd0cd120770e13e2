"""Columns by the names of other tools; ambiguous columns are refused."""

from pathlib import Path

import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.trec.file_formats import COLUMNS, DOCNO, GRADE, TOPIC, find_column, find_grades
from support.commands import Command


def frame(names: str, *values: object) -> pd.DataFrame:
    return pd.DataFrame([values], columns=names.split(","))


KINDS = [(content, name) for content in ("topic", "docno", "score", "grade") for name in COLUMNS[content]]


@pytest.mark.parametrize(("content", "name"), KINDS)
def test_runs_qrels_labels_weights_and_clicks_have_the_same_names(content: str, name: str, tmp_path: Path) -> None:
    """Read slices, topic weights and click logs by the names that qrels accept."""
    names = {column: column for column in ("topic", "docno", "score", "grade")} | {
        content: name.replace("_", "-").title()
    }
    both = f"{names['topic']},{names['docno']}"
    files = {
        "run.csv": f"{both},{names['score']}\n1,a,2.5\n1,b,1.5\n2,a,1\n",
        "qrels.csv": f"{both},{names['grade']}\n1,b,1\n2,a,1\n",
        "slices.csv": f"{names['topic']},kind,size\n1,new,small\n2,old,small\n",
        "weights.csv": f"{names['topic']},weight\n1,3\n2,1\n",
        "clicks.csv": f"session,{both},position,clicked\ns,1,a,1,0\ns,1,b,2,1\n",
    }
    for file, text in files.items():
        (tmp_path / file).write_text(text)
        (tmp_path / file.replace(".", ";.")).write_text(text.replace(",", ";"))
    for end in (".csv", ";.csv"):
        path = {kind: str(tmp_path / f"{kind}{end}") for kind in ("run", "qrels", "slices", "weights", "clicks")}
        scores = gradedeval.evaluate(
            path["run"], path["qrels"], "rr", slices=path["slices"], topic_weights=path["weights"]
        )
        assert scores.means == {"rr": (3 * 0.5 + 1) / 4}
        log = gradedeval.clicks.read_log(path["clicks"])
        assert (log.topics, log.shown, log.clicks.sum()) == (["1"], [("a", "b")], 1)


@pytest.mark.parametrize(
    ("kind", "header", "option"),
    [
        ("run", "query,my_id,score", "--run-format docno=my_id"),
        ("run", "request,my_id,score,rank,tag", "--run-format topic=request,docno=my_id"),
        ("run", "query,sku,points", "--run-format score=points"),
        ("qrels", "my_id,query,label", "--qrels-format docno=my_id"),
        ("qrels", "query,product_id,stars", "--qrels-format grade=stars"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_refusal_names_an_option_that_reads_the_file(
    kind: str, header: str, option: str, separator: str, tmp_path: Path, cli: Command
) -> None:
    values = {"score": "2", "points": "2", "label": "1", "stars": "1", "query": "1", "request": "1", "rank": "1"}
    row = [values.get(name, "a") for name in header.split(",")]
    files = {"run": tmp_path / "run.trec", "qrels": tmp_path / "qrels.trec"}
    files["run"].write_text("1 Q0 a 1 2 x\n")
    files["qrels"].write_text("1 0 a 1\n")
    files[kind].write_text(f"{separator.join(header.split(','))}\n{separator.join(row)}\n")
    command = ["eval", str(files["run"]), str(files["qrels"]), "-m", "rr", "-f", "csv"]
    refused = cli(*command)
    assert refused.code == 1
    assert refused.messages[-1].endswith(f"name it, as in {option}"), refused.messages
    output = cli(*command, *option.split(" "))
    assert output.code == 0, output.messages
    assert "rr,1" in output.text


def test_the_most_common_of_competing_column_names_wins() -> None:
    names = ["docid", "query", "docno", "qid"]
    assert (find_column(names, TOPIC), find_column(names, DOCNO)) == ("qid", "docno")
    assert find_grades(["score", "label"]) == "label"


def test_no_name_means_two_columns() -> None:
    names = [name for aliases in COLUMNS.values() for name in aliases]
    assert len(set(names)) == len(names)
    assert find_column(["Score"], GRADE) is None


def test_scores_of_a_run_are_not_taken_for_grades() -> None:
    with pytest.raises(gradedeval.InputError, match="qrels:1: 'score' holds fractions, as run scores do"):
        gradedeval.Qrels(frame("qid,docno,score", "1", "a", 12.5))
    with pytest.raises(gradedeval.InputError, match="no column 'grade' among qid, docno, score, rank"):
        gradedeval.Qrels(frame("qid,docno,score,rank", "1", "a", 12, 1))


def test_a_run_without_scores_is_ordered_by_its_ranks_with_a_note() -> None:
    run = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "rank": [2, 1]})
    with pytest.warns(gradedeval.EvaluationWarning, match="run: has no scores; its documents are ordered by rank"):
        assert gradedeval.evaluate(run, {"1": {"a": 1, "b": 0}}, "rr").means == {"rr": 0.5}


@pytest.mark.parametrize(("name", "value"), [("similarity", 5), ("RSV", 5), ("x", 5.5)])
def test_a_possible_score_column_next_to_ranks_is_refused(name: str, value: float) -> None:
    with pytest.raises(gradedeval.InputError, match=f"no column 'score', only '{name}', which may be one"):
        gradedeval.evaluate(frame(f"qid,docno,rank,{name}", "1", "a", 1, value), {"1": {"a": 1}}, "ap")
