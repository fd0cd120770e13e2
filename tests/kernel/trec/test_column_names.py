"""Columns of DataFrames go by the names of other tools; what could be taken for another column is refused."""

import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.trec.file_formats import COLUMNS, DOCNO, GRADE, TOPIC, find_column, find_grades

MEANS = {"ap": 1.0}


def frame(names: str, *values: object) -> pd.DataFrame:
    return pd.DataFrame([values], columns=names.split(","))


RUNS = (
    "topic,docno,score query_id,doc_id,score qid,docno,score query-id,corpus-id,score q_id,doc_id,score QID,DocNo,Sim"
)
QRELS = "topic,docno,grade query_id,doc_id,relevance qid,docno,label query-id,corpus-id,score q_id,doc_id,score"


@pytest.mark.parametrize("names", RUNS.split())
def test_a_run_has_its_columns_under_the_names_of_other_tools(names: str) -> None:
    scores = gradedeval.evaluate(frame(names, "1", "a", 2.5), {"1": {"a": 1}}, "ap")
    assert scores.means == MEANS


@pytest.mark.parametrize("names", [*QRELS.split(), "Query,URL,Label"])
def test_qrels_have_their_columns_under_the_names_of_other_tools(names: str) -> None:
    assert gradedeval.evaluate({"1": {"a": 2.5}}, frame(names, "1", "a", 2), "ap").means == MEANS


def test_the_best_known_of_competing_column_names_counts() -> None:
    names = ["docid", "query", "docno", "qid"]
    assert (find_column(names, TOPIC), find_column(names, DOCNO)) == ("qid", "docno")
    assert find_grades(["score", "label"]) == "label"


def test_no_name_stands_for_two_columns() -> None:
    names = [name for known in COLUMNS.values() for name in known]
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
