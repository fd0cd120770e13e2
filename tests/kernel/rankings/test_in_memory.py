"""Runs and judgments in Python objects of all kinds; other objects raise input errors."""

from __future__ import annotations

import io
import json
import random
import warnings
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval import EvaluationWarning, InputError

ROWS = [("q1", "a", 3.0), ("q1", "b", 2.0), ("q2", "c", 1.0), ("q2", "a", 0.5)]
JUDGED = [("q1", "a", 0), ("q1", "b", 2), ("q2", "c", 1)]
RUN = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0, "a": 0.5}}
QRELS = {"q1": {"a": 0, "b": 2}, "q2": {"c": 1}}
FRAME = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "score"])
JUDGMENTS = pd.DataFrame(JUDGED, columns=["query_id", "doc_id", "relevance"])

Document = namedtuple("Document", "score doc_id query_id")


@dataclass
class Retrieved:
    qid: str
    docno: str
    score: float


class RanxRun:
    """A run with the interface of ranx."""

    name = "bm25"

    def to_dict(self) -> dict[str, dict[str, float]]:
        return RUN


def mean(run: Any, qrels: Any = QRELS, **options: Any) -> float:
    return float(gradedeval.evaluate(run, qrels, "rr", **options).means["rr"])


def polars(frame: pd.DataFrame) -> Any:
    columns = {str(name): frame[name].tolist() for name in frame.columns}
    return pytest.importorskip("polars", reason="polars is not installed").DataFrame(columns)


def arrow(frame: pd.DataFrame) -> Any:
    columns = {str(name): frame[name].tolist() for name in frame.columns}
    return pytest.importorskip("pyarrow", reason="pyarrow is not installed").table(columns)


@pytest.mark.parametrize(
    "run",
    [
        ROWS,
        tuple(ROWS),
        list(map(list, ROWS)),
        [Document(score, docno, topic) for topic, docno, score in ROWS],
        [Retrieved(*row) for row in ROWS],
        [dict(zip(("Query-ID", "docno", "score", "x"), (*row, 1), strict=True)) for row in ROWS],
        np.array(ROWS, dtype=object),
        FRAME,
        FRAME.to_records(index=False),
        RanxRun(),
        {"q1": [("a", 3.0), ("b", 2.0)], "q2": [["c", 1], ["a", 0.5]]},
        {"only": ROWS},
        [FRAME],
    ],
)
def test_a_run_is_read_from_any_container(run: Any) -> None:
    assert mean(run) == 0.75


def test_a_topic_may_be_a_number_of_numpy() -> None:
    assert mean([(np.int64(1), "a", 1.0)], {"1": {"a": 1}}) == 1.0


@pytest.mark.parametrize("name", ["lines", "name"])
def test_a_column_may_be_called_like_an_attribute_of_a_file(name: str) -> None:
    run, judged = (frame.assign(**{name: "x"}) for frame in (FRAME, JUDGMENTS))
    assert mean(run, judged) == mean([run], judged) == 0.75


def test_qrels_remember_the_documents_of_a_run_only_if_a_run_lists_them_again() -> None:
    qrels, run = gradedeval.Qrels(QRELS), {topic: dict(documents) for topic, documents in RUN.items()}

    def remembered() -> int:
        assert gradedeval.evaluate(run, qrels, "rr").means == gradedeval.evaluate(run, QRELS, "rr").means
        return len(qrels._last[0][1])

    assert [remembered(), remembered()] == [1, 2]
    run["q1"] = {"z": 3.0, **run["q1"]}  # a dict does not report its changes
    assert [remembered(), remembered()] == [1, 2]
    run["q2"]["y"] = 9.0
    assert [remembered(), remembered()] == [2, 2]


@pytest.mark.filterwarnings("error", "ignore:the means are over")
@pytest.mark.parametrize("make", [pytest.param(polars, marks=pytest.mark.exhaustive), arrow])
def test_a_table_of_another_library_is_read_like_a_dataframe(make: Any) -> None:
    assert mean(make(FRAME)) == mean(RUN, make(JUDGMENTS)) == 0.75
    if make is polars:
        assert mean(make(FRAME).lazy()) == 0.75
    else:
        assert mean(make(FRAME).to_batches()[0]) == 0.75


def test_a_table_that_only_streams_is_read_by_pyarrow() -> None:
    class Relation:
        def __arrow_c_stream__(self, requested: Any = None) -> Any:
            return arrow(FRAME).__arrow_c_stream__(requested)

    assert mean(Relation()) == 0.75


def test_iterators_are_rows_or_runs(tmp_path: Any) -> None:
    assert mean((row for row in ROWS), iter(JUDGED)) == 0.75
    for name in "ab":
        (tmp_path / f"{name}.run").write_text("q1 Q0 b 1 1 t\nq2 Q0 b 1 1 t\n")
    paths = iter(sorted(tmp_path.glob("*.run")))
    assert [run.run for run in gradedeval.evaluate(paths, QRELS, "rr").runs] == ["a.run", "b.run"]
    assert [run.run for run in gradedeval.evaluate(iter([ROWS, RUN]), QRELS, "rr").runs] == ["run1", "run2"]


def test_a_run_of_ranx_keeps_its_name() -> None:
    assert [run.run for run in gradedeval.evaluate([RanxRun(), RUN], QRELS, "rr").runs] == ["bm25", "run2"]


@pytest.mark.parametrize("make", [list, tuple, np.array])
def test_a_list_of_docnos_is_a_ranking(make: Any) -> None:
    ranked = {"q1": make(["a", "b"]), "q2": make(["c", "a"])}
    with pytest.warns(EvaluationWarning, match="run: has no scores; its documents are ordered by rank"):
        assert mean(ranked) == 0.75
    with pytest.raises(InputError, match="duplicate document 'a'"):
        mean({"q1": ["a", "b", "a"]})


@pytest.mark.parametrize("make", [set, list])
def test_documents_listed_without_grades_are_relevant(make: Any) -> None:
    with pytest.warns(EvaluationWarning, match="no grades: the listed documents are relevant, with grade 1"):
        assert mean(RUN, {"q1": make(["b"]), "q2": make(["c"])}) == 0.75


def test_rows_of_judgments_by_subtopic_are_namedtuples() -> None:
    Qrel = namedtuple("Qrel", "query_id doc_id relevance subtopic_id")
    rows = [Qrel("q1", "a", 1, "1"), Qrel("q1", "b", 1, "2")]
    scores = gradedeval.evaluate({"q1": RUN["q1"]}, rows, "strec@1", subtopics=True)
    assert scores.means["strec@1"] == 0.5


NEITHER = [
    *(None, 5, 3.5, True, object(), print, int, b"run.txt", {1, 2}, range(3), np.int64(3), RUN.items),
    *([], [1, 2], [None], [("q1", "a")], [("q1", "a", 1.0), ("q1",)], [("q1", "a", 1.0), 5], [(None, "a", 1.0)]),
    *([("q1", "a", "x")], [("q1", None, 1.0)], [{"x": 1}], [{"qid": "1", "docno": "a", "x": 1}], [[ROWS], [5]]),
    *({}, {"q1": 5}, {"q1": ["a", ("b", 2)]}, {"q1": ["a"], "q2": {"b": 1}}, {"q1": [None]}, {None: {"a": 1}}),
    *(np.zeros(3), np.zeros((2, 3)), np.array("x"), pd.Series([1, 2]), pd.DataFrame(), pd.DataFrame({"a": [1]})),
    *(gradedeval.MEASURES["ap"], gradedeval.evaluate(RUN, QRELS, "rr"), io.StringIO(""), "", iter([5])),
]


@pytest.mark.parametrize("held", NEITHER, ids=lambda held: type(held).__name__)
def test_other_objects_are_input_errors(held: Any) -> None:
    with pytest.raises(InputError):
        mean(held)
    with pytest.raises(InputError):
        gradedeval.Qrels(held)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (5, "run: cannot read a run from an object of type int; give a path, an open file, a DataFrame"),
        ([("q1", "a", 1.0), ("q1", "b")], "run:2: has 2 values; expected topic, docno, score"),
        ({"q1": {"a"}}, "run['q1']: is a set, which has no order; expected a list, the best document first"),
        (FRAME.rename(columns={"doc_id": "score"}), "no column 'docno' among query_id, score, score"),
        (FRAME.set_axis(["qid", "qid", "score"], axis=1).assign(docno="a"), "run: has several columns 'qid'"),
        (np.zeros(3), "gradedeval.evaluate_arrays takes arrays of grades and scores"),
    ],
)
def test_the_error_names_the_expected_objects(run: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        mean(run)
    assert message in str(error.value)


COLUMNS = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [1, 2]}


@pytest.mark.parametrize("held", [COLUMNS, {name: dict(enumerate(values)) for name, values in COLUMNS.items()}])
def test_the_error_for_a_dict_of_columns_names_its_conversion_to_a_table(held: Any) -> None:
    """Check dicts with integers, which were once scored as documents of the topics `query_id` and `doc_id`."""
    message = r"is a dict of the columns \w+, doc_id, \w+; give pandas.DataFrame\(...\) of it, or a dict by topic"
    with pytest.raises(InputError, match=f"^qrels: {message}"):
        gradedeval.Qrels(held)
    for run in (held, dict(reversed(list(held.items())))):
        with pytest.raises(InputError, match=f"^run: {message}"):
            mean(run)


@pytest.mark.one_in(2)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("grades", [255, 254, 256, 257])
@pytest.mark.parametrize("ids", ["object", "string[pyarrow]"])
def test_dicts_and_tables_equal_files_with_any_number_of_grades(ids: str, grades: int) -> None:
    """Check codes of grades, of unjudged documents and of padding, which are bytes only if all fit."""
    if "pyarrow" in ids:
        pytest.importorskip("pyarrow")
    qrels = {"1": {f"d{grade}": grade for grade in range(grades)}, "2": {"d7": 7}}
    run = {"1": {f"d{grade}": float(grade % 97) for grade in range(0, grades, 2)} | {"u": 50.0}, "2": {"d7": 1.0}}
    lines = [
        f"{topic} Q0 {docno} 0 {score} x\n" for topic, documents in run.items() for docno, score in documents.items()
    ]
    measures = "ndcg err(gain=linear) rbp judged@50"
    held = gradedeval.evaluate(run, qrels, measures, residuals=True)
    filed = gradedeval.evaluate(io.StringIO("".join(lines)), qrels, measures, residuals=True)
    rows = [(topic, docno, score) for topic, documents in run.items() for docno, score in documents.items()]
    kinds = {"topic": ids, "docno": ids}
    table = pd.DataFrame(rows, columns=["topic", "docno", "score"]).astype(kinds)
    framed = gradedeval.evaluate(table, qrels, measures, residuals=True)
    assert held.means == filed.means == framed.means
    assert held.residuals == filed.residuals == framed.residuals


GRADED = {"4": {"a": 2}, "3": {}, "2": {"a": 1}, "10": {}, "1": {}}
ALIKE = {
    "grades": GRADED,
    "lists": {topic: list(documents) for topic, documents in GRADED.items()},
    "records": {topic: [{"docno": d, "grade": g} for d, g in of.items()] for topic, of in GRADED.items()},
    "golden": [{"query_id": topic, "relevant": list(documents)} for topic, documents in GRADED.items()],
    "ratings": {
        "requests": [
            {"id": topic, "request": {}, "ratings": [{"_id": d, "_index": "i", "rating": g} for d, g in of.items()]}
            for topic, of in GRADED.items()
        ]
    },
}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("judged", ALIKE.values(), ids=ALIKE)
@pytest.mark.parametrize("as_file", [False, True], ids=["object", "file"])
def test_topics_keep_the_order_of_the_judgments_even_if_nothing_is_listed(
    judged: Any, as_file: bool, tmp_path: Path
) -> None:
    if as_file:
        (tmp_path / "qrels.json").write_text(json.dumps(judged))
    run = {topic: {"a": 1.0} for topic in sorted(GRADED)}
    scores = gradedeval.evaluate(run, str(tmp_path / "qrels.json") if as_file else judged, "ap")
    assert list(scores.topics.index) == list(GRADED)
    assert scores.topics["ap"].tolist() == [1, 0, 1, 0, 0]


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_run_of_records_may_have_returned_nothing_for_a_topic() -> None:
    run = {"1": [], "2": [{"docno": "a", "score": 1.0}], "3": []}
    scores = gradedeval.evaluate(run, {topic: {"a": 1} for topic in "321"}, "ap", topics="both")
    assert scores.topics["ap"].to_dict() == {"3": 0, "2": 1, "1": 0}


# Runs and qrels swapped in dicts of whole numbers: an error or a note; right ones never are.

SCORED = {"q0": {"k3": 30, "k1": 20}, "q1": {"k7": 30, "k2": 9, "k5": 4}, "q3": {"k6": 40, "k1": 7}}
GRADES = {"q0": {"k1": 1}, "q1": {"k2": 1, "k5": 1}, "q3": {"k6": 1}}


def notes(run: Any, qrels: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradedeval.evaluate(run, qrels, "rr", **options)
    return [str(warning.message) for warning in caught if "swapped" in str(warning.message)]


def test_whole_scores_in_place_of_grades_are_an_error() -> None:
    assert notes(SCORED, GRADES) == []
    says = "grades fall in each topic, from up to 40.*swap them: the run comes first"
    with pytest.raises(gradedeval.InputError, match=says) as refused:
        gradedeval.evaluate(GRADES, SCORED, "rr")
    assert refused.value.kind == "swapped-files"
    assert notes(GRADES, gradedeval.Qrels(SCORED)) == []  # as the message says


def test_small_scores_in_place_of_grades_get_a_note() -> None:
    run = {topic: {f"d{rank}": 5 - rank for rank in range(4)} for topic in "abc"}
    qrels = {topic: {"d1": 1, "d2": 1, "d3": 0} for topic in "abc"}
    assert notes(run, qrels) == []
    assert len(notes(qrels, run)) == 1


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "y": 1, "z": 0}}),  # a lesson: too little to tell
        ({t: {"x": 0.5, "y": 0.5} for t in "abcd"}, {t: {"x": 100, "y": 50, "z": 10} for t in "abcd"}),
        ({t: {"x": 3, "y": 2, "z": 1} for t in "abcd"}, {t: {"x": 100, "y": 50, "z": 10} for t in "abcd"}),
        ({t: {"x": 1, "y": 1, "z": 0} for t in "abcd"}, {t: {"x": 10, "y": 50, "z": 100} for t in "abcd"}),
        ({t: {"x": 70, "y": 70, "z": 0} for t in "abcd"}, {t: {"x": 4, "y": 3, "z": 0} for t in "abcd"}),
    ],
)
def test_correct_runs_have_no_note(run: Any, qrels: Any) -> None:
    assert notes(run, qrels) == []


def test_random_qrels_are_never_taken_for_a_run() -> None:
    dice = random.Random(7)
    for _ in range(60):
        topics = [str(number) for number in range(dice.randint(2, 8))]
        docnos = [f"d{number}" for number in range(12)]
        scale = dice.choice([1, 2, 3, 4, 9])
        qrels = {t: {d: dice.randint(0, scale) for d in dice.sample(docnos, 6)} for t in topics}
        run = {t: {d: dice.randint(0, 3) for d in dice.sample(docnos, 8)} for t in topics}
        assert notes(run, qrels) == []
