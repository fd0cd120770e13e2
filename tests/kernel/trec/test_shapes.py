"""All shapes of JSON equal their TREC form; files in two columns, and lines with blanks in topics."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval.kernel.trec.file_formats import DESCRIPTIONS
from gradedeval.kernel.trec.lines import FORMATS
from gradedeval.kernel.trec.shapes import EXPECTED, RETRIEVED, SHAPES, Shape
from support.commands import Command

RUN = "1 Q0 d2 1 7.5 a\n1 Q0 d7 2 3.25 a\n2 Q0 d4 1 1.5 a\n"
QRELS = "1 0 d1 1\n1 0 d2 1\n2 0 d4 2\n"
NDCG = (1 / (1 + 1 / math.log2(3)) + 1) / 2
"""By hand: topic 1 has one of two relevant documents, at rank 1; topic 2 its only one, at rank 1."""
READ = [(shape, kind) for shape in SHAPES for kind in shape.holds]
VALUES = ("-m", "ap ndcg@10", "-q", "-f", "csv")


def renamed(content: str) -> str:
    """Return an example with the topics 1 and 2 in place of its queries."""
    return content.replace('"red shoes"', '"1"').replace('"boots"', '"2"')


def example(shape: Shape, kind: str) -> str:
    """Return the example of a shape as a run or as qrels: a table of pandas has scores in either."""
    if kind == "qrels" and shape.format:
        return {
            "nested": '{"1": {"d1": 1, "d2": 1}, "2": {"d4": 2}}',
            "keyed_golden": renamed(shape.example),
            "columns": '{"topic": {"0": "1", "1": "1", "2": "2"}, "docno": {"0": "d1", "1": "d2", "2": "d4"}, '
            '"grade": {"0": 1, "1": 1, "2": 2}}',
            "split": '{"columns": ["topic", "docno", "grade"], "data": [["1", "d1", 1], ["1", "d2", 1], '
            '["2", "d4", 2]]}',
        }.get(shape.name) or renamed(shape.example).replace('"score": 7.5', '"grade": 1').replace(
            '"score": 3.25', '"grade": 1'
        ).replace('"score": 1.5', '"grade": 2').replace('"d7"', '"d1"')
    return renamed(shape.example)


def scores(cli: Command, *words: str) -> list[str]:
    """Return the rows of scores without the name of the run."""
    done = cli(*words, *VALUES)
    assert done.code == 0, done.messages
    return [",".join(line.split(",")[1:4]) for line in done.text.splitlines()]


@pytest.fixture
def plain(tmp_path: Path, cli: Command) -> Path:
    (tmp_path / "plain.run").write_text(RUN)
    (tmp_path / "plain.qrels").write_text(QRELS)
    return tmp_path


def test_each_format_is_listed_and_described() -> None:
    assert {*DESCRIPTIONS} == {*FORMATS["run"], *FORMATS["qrels"]}
    for shape in SHAPES:
        if not shape.format:
            assert tuple(kind for kind, names in FORMATS.items() if shape.name in names) == shape.holds, shape.name


@pytest.mark.parametrize(("shape", "kind"), READ, ids=lambda value: getattr(value, "name", value))
def test_the_example_of_a_shape_scores_as_its_trec_form(shape: Shape, kind: str, plain: Path, cli: Command) -> None:
    (plain / "FILE").write_text(example(shape, kind))
    run, qrels = (plain / "FILE", plain / "plain.qrels") if kind == "run" else (plain / "plain.run", plain / "FILE")
    rows = scores(cli, str(run), str(qrels))
    assert rows == scores(cli, "plain.run", "plain.qrels")
    assert float(next(row for row in rows if row.startswith("all,ndcg@10")).rpartition(",")[2]) == pytest.approx(NDCG)
    named = cli(str(run), str(qrels), "-m", "ap")
    assert f"{kind} format {shape.format or shape.name}" in named.text


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.name != "rows"], ids=lambda shape: shape.name)
def test_an_object_in_python_scores_as_its_file(shape: Shape, plain: Path) -> None:
    if shape.layout == "table":
        pytest.skip("a table in Python is a DataFrame")
    text = renamed(shape.example)
    held: Any = [*map(json.loads, text.splitlines())] if shape.name == "golden" else json.loads(text)
    for kind in shape.holds:
        if shape.format == "json" and kind == "qrels":
            held = json.loads(example(shape, kind))
        run, qrels = (held, str(plain / "plain.qrels")) if kind == "run" else (str(plain / "plain.run"), held)
        with pytest.warns(gradedeval.EvaluationWarning):
            assert gradedeval.evaluate(run, qrels, "ndcg@10").means["ndcg@10"] == pytest.approx(NDCG, abs=1e-15)


@pytest.mark.parametrize(("shape", "kind"), READ, ids=lambda value: getattr(value, "name", value))
def test_a_shape_that_lists_one_kind_is_refused_as_the_other(
    shape: Shape, kind: str, plain: Path, cli: Command
) -> None:
    if len(shape.holds) > 1:
        return
    (plain / "FILE").write_text(shape.example)
    files = (plain / "plain.run", plain / "FILE") if kind == "run" else (plain / "FILE", plain / "plain.qrels")
    refused = cli(*map(str, files), "-m", "ap")
    assert refused.code == 1
    assert [shape.meaning in message for message in refused.messages] == [True]


@pytest.mark.parametrize("name", ["rank_eval", "judgments", "evaluator"])
def test_the_last_file_of_lint_is_qrels_if_it_lists_judgments_alone(name: str, plain: Path, cli: Command) -> None:
    shape = next(shape for shape in SHAPES if shape.name == name)
    (plain / "FILE").write_text(renamed(shape.example))
    with_qrels = cli("lint", "plain.run", "FILE", "-f", "csv")
    named = cli("lint", "plain.run", "--qrels", "FILE", "-f", "csv")
    assert (with_qrels.code, with_qrels.text) == (named.code, named.text)


# Golden sets ------------------------------------------------------------------------------------------------------


def evaluate_golden(cli: Command, folder: Path, content: str, *words: str) -> Any:
    (folder / "golden.jsonl").write_text(content)
    return cli("golden.jsonl", "golden.jsonl", "-m", "ap num_ret", "-q", "-f", "csv", *words)


@pytest.mark.parametrize(
    ("expected", "retrieved", "ap"),
    [
        (["d1"], ["d1"], 1.0),
        (["d1", "2"], ["2"], 0.5),  # an id that looks like a number is not the grade of the one before it
        (["7", "2"], ["2", "7"], 1.0),
        ([7, 2], ["2", "7"], 1.0),
        ([["d1", 2]], ["d1"], 1.0),
        ([{"id": "d1", "grade": 2}, {"id": "d3", "grade": 0}], ["d3", "d1"], 0.5),
        ({"d1": 1, "d2": 0}, ["d2", "d1"], 0.5),
        (["d1"], [{"chunk_id": "d2", "score": 0.1}, {"chunk_id": "d1", "score": 0.9}], 1.0),
        (["d1"], [{"id": "d2", "rank": 2}, {"id": "d1", "rank": 1}], 1.0),
        (["d1"], {"d2": 0.1, "d1": 0.9}, 1.0),
        (["d1"], [], 0.0),
    ],
)
def test_lists_of_ids_of_objects_and_numbers_are_read(
    expected: object, retrieved: object, ap: float, tmp_path: Path, cli: Command
) -> None:
    first = {"query": "q", "expected": expected, "retrieved": retrieved}
    scored = isinstance(retrieved, dict) or any(isinstance(entry, dict) and "score" in entry for entry in retrieved)
    second = {"query": "r", "expected": ["x"], "retrieved": {"x": 1} if scored else ["x"]}
    done = evaluate_golden(cli, tmp_path, "".join(json.dumps(record) + "\n" for record in (first, second)))
    assert done.code == 0, done.messages
    assert f"golden.jsonl,q,ap,{ap}" in done.text


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ('{"id": null, "question": "boots", "expected": ["d"], "retrieved": ["d"]}', "boots"),
        ('{"id": "", "question": "boots", "expected": ["d"], "retrieved": ["d"]}', "boots"),
        ('{"id": "q9", "question": "red shoes", "relevant": ["d1"], "results": ["d1"]}', "q9"),
        ('{"question": "a", "expected": ["d"], "retrieved": ["d"], "error": null}', "a"),  # no failed search
    ],
)
def test_an_id_with_a_value_is_the_topic_before_the_query(
    content: str, topic: str, tmp_path: Path, cli: Command
) -> None:
    assert f"golden.jsonl,{topic},ap,1.0" in evaluate_golden(cli, tmp_path, content).text


def test_topics_with_empty_lists_stay(tmp_path: Path, cli: Command) -> None:
    done = evaluate_golden(
        cli, tmp_path,
        '{"query": "a", "expected": ["d1"], "retrieved": []}\n{"query": "b", "expected": [], "retrieved": ["d1"]}\n'
        '{"query": "c", "expected": ["d1"], "retrieved": ["d1"]}\n', "--topics", "both",
    )  # fmt: skip
    assert [line.split(",")[1:4] for line in done.text.splitlines() if ",ap," in line] == [
        ["a", "ap", "0.0"], ["b", "ap", "0.0"], ["c", "ap", "1.0"], ["all", "ap", f"{1 / 3}"]
    ]  # fmt: skip
    assert any("1 of 3 topics has no relevant documents (b)" in message for message in done.messages)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("golden", '{"query": "1", "retrieved": []}\n{"query": "2", "retrieved": []}\n'),
        ("hits", '{"responses": [{"hits": {"hits": []}}, {"hits": {"hits": []}}]}'),
        ("nested", '{"1": [], "2": []}'),
        ("objects", '{"1": {}, "2": {}}'),
    ],
)
@pytest.mark.parametrize("options", [(), ("--lenient",)])
def test_a_run_without_documents_is_scored(
    name: str, content: str, options: tuple[str, ...], plain: Path, cli: Command
) -> None:
    (plain / f"{name}.json").write_text(content)
    (plain / "silent.qrels").write_text("1 0 d1 1\n2 0 d1 0\n")
    words = (f"{name}.json", "silent.qrels", "-m", "ap silence", "-f", "csv", *options)
    rows = [line.split(",")[1:4] for line in cli(*words).text.splitlines()[1:]]
    assert rows == [["all", "ap", "0.0"], ["all", "silence", "1.0"]]
    source = json.loads(content) if name != "golden" else [json.loads(line) for line in content.splitlines()]
    with pytest.warns(gradedeval.EvaluationWarning, match=r"returned nothing \(1\)"):
        means = gradedeval.evaluate(source, {"1": {"d1": 1}, "2": {"d1": 0}}, ["ap", "silence"]).means
    assert means == {"ap": 0, "silence": 1}


@pytest.mark.parametrize("judged", [{"1": {"d1": 1}, "2": {}}, {"1": ["d1"], "2": []}])
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_a_topic_without_judged_documents_has_no_answer(judged: Any, plain: Path) -> None:
    (plain / "judged.json").write_text(json.dumps(judged))
    run = {"1": {"d1": 1.0}, "2": {"d1": 1.0}}
    for qrels in (judged, str(plain / "judged.json")):
        assert gradedeval.evaluate(run, qrels, ["ap", "silence"]).means == {"ap": 0.5, "silence": 0}


def test_a_topic_without_documents_stays_despite_a_bad_entry(plain: Path, cli: Command) -> None:
    (plain / "run.json").write_text('{"1": {"d1": 1, "d2": "high"}, "2": {}}')
    done = cli("run.json", "plain.qrels", "--lenient", "--topics", "run", *VALUES)
    assert [line.split(",")[1] for line in done.text.splitlines() if ",ap," in line] == ["1", "2", "all"]


def test_a_named_field_that_is_missing_is_named(tmp_path: Path, cli: Command) -> None:
    content = '{"question": "a", "expected": ["d"], "retrieved": [{"id": "d"}]}\n'
    for options, says in [
        (("--qrels-format", "documents=chunks"), "no field 'chunks' for the documents among question, expected"),
        (("--run-format", "docno=doc.id"), "'retrieved' lists a document without 'doc.id', only id"),
    ]:
        refused = evaluate_golden(cli, tmp_path, content, *options)
        assert refused.code == 1
        assert says in refused.messages[-1]


def test_a_golden_set_is_the_qrels_of_runs_even_with_results(plain: Path, cli: Command) -> None:
    golden = plain / "golden.jsonl"
    golden.write_text(renamed(SHAPES[0].example))
    for run in ("a.run", "b.run"):
        (plain / run).write_text(RUN)
    runs = ("a.run", "b.run")
    changes = cli("diff", *runs, str(golden), "-m", "ap").text
    assert "ap: 0.7500 → 0.7500 (+0.0000) | 2 topics: 0 worse, 0 better, 2 equal" in changes
    assert "golden" in cli("diff", *runs, str(golden)).text  # a third ranking without a measure
    assert cli("pool", *runs, str(golden), "--leave-one-out").code == 0


def test_records_with_user_defined_fields_are_one_run() -> None:
    rows = [
        {"q": "1", "chunk": "d2", "s": 7.5},
        {"q": "1", "chunk": "d7", "s": 3.25},
        {"q": "2", "chunk": "d4", "s": 1},
    ]
    judged = {"1": {"d1": 1, "d2": 1}, "2": {"d4": 2}}
    named = gradedeval.evaluate(rows, judged, "ap", run_format="topic=q,docno=chunk,score=s")
    assert named.means == {"ap": 0.75}
    lists = [{"q": "1", "found": ["d2", "d7"]}, {"q": "2", "found": ["d4"]}]
    with pytest.warns(gradedeval.EvaluationWarning, match="ordered by rank"):
        assert gradedeval.evaluate(lists, judged, "ap", run_format="topic=q,documents=found").means == {"ap": 0.75}
    with pytest.raises(gradedeval.InputError, match="run: no column 'docno' among q, chunk, s"):
        gradedeval.evaluate(rows, judged, "ap")
    with pytest.warns(gradedeval.EvaluationWarning):
        assert gradedeval.evaluate([{"1": ["d2"]}, {"2": {"d4": 1.0}}], judged, "ap").means_by_run.keys() == {
            "run1",
            "run2",
        }


def test_fields_of_objects_in_python_are_named_too() -> None:
    frame = pd.DataFrame({"ask": ["q", "q"], "key": ["a", "b"], "score": [2.0, 1.0], "cos": [0.1, 0.9]})
    judged = [{"ask": "q", "gold": [{"key": "b", "worth": 2}]}]
    options = {"run_format": "topic=ask,docno=key,score=cos"}
    qrels = gradedeval.Qrels(judged, format="topic=ask,documents=gold,docno=key,grade=worth")
    with pytest.warns(gradedeval.EvaluationWarning):
        assert gradedeval.evaluate(frame, qrels, "rr", **options).means == {"rr": 1.0}
    with pytest.raises(gradedeval.InputError, match="no field 'cosine' for the score"):
        gradedeval.evaluate(frame, qrels, "rr", run_format="topic=ask,docno=key,score=cosine")
    with pytest.raises(gradedeval.InputError, match="has no fields that run_format could name"):
        gradedeval.evaluate({"q": {"b": 1.0}}, qrels, "rr", **options)


def test_user_defined_fields_are_named(tmp_path: Path, cli: Command) -> None:
    content = '{"ask": "red shoes", "gold": [{"key": "d1", "worth": 2}], "top": [{"key": "d1", "cos": 0.5}]}\n'
    done = evaluate_golden(cli, tmp_path, content, "--run-format", "topic=ask,documents=top,docno=key,score=cos",
              "--qrels-format", "topic=ask,documents=gold,docno=key,grade=worth")  # fmt: skip
    assert done.code == 0, done.messages
    assert "golden.jsonl,red shoes,ap,1.0" in done.text
    assert "qrels format topic=ask,documents=gold,docno=key,grade=worth" in done.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"question": "a", "expected": "text", "retrieved": ["d"]}', "'expected' is text, not a list of ids"),
        ('{"question": "a", "expected": [{"name": "x"}], "retrieved": ["d"]}', "without an id, only name"),
        ('{"question": "a", "expected": [{"id": "d", "worth": 2}], "retrieved": ["d"]}', "grade=worth"),
        ('{"question": "a", "expected": [{"id": "d", "grade": null}], "retrieved": ["d"]}', "whose grade is null"),
        ('{"question": "a", "expected": ["d"], "retrieved": [0.5]}', "'retrieved' lists a number: 0.5"),
        ('{"question": "a", "expected": ["d"]}', "no list of results (retrieved, results"),
        (
            '{"expected": ["d"], "retrieved": ["d"]}',
            "no topic (query, question, input, user_input, query_text, search_term, search_query, keyword or id)",
        ),
        ('{"question": ["a"], "expected": ["d"], "retrieved": ["d"]}', "the topic 'question' is a list"),
        ('{"question": "a", "expected": ["d"], "retrieved": ["d"]}\n' * 2, "topic 'a' again, first in record 1"),
        ('{"question": "a", "expected": ["d"], "retrieved": ["d", {"id": "e", "score": 1}]}', "some have none"),
        ('{"question": "a", "answer": "b"}', "nearest is golden"),
        ('{"question": "a", "expected": [], "retrieved": ["d"]}', "no judgments: all lists are empty"),
        ('{"question": "a", "expected": ["d"], "retrieved": [{"doc": {"id": "d"}}]}', "--run-format docno=doc.id"),
    ],
)
def test_missing_parts_are_named_in_one_line(content: str, says: str, tmp_path: Path, cli: Command) -> None:
    refused = evaluate_golden(cli, tmp_path, content)
    assert refused.code == 1
    assert [says in message for message in refused.messages] == [True], refused.messages


@pytest.mark.parametrize("name", [*EXPECTED, *RETRIEVED])
def test_common_names_of_lists_of_documents_are_read(name: str, plain: Path, cli: Command) -> None:
    listed = (["d2", "d7"], ["d4"]) if name in RETRIEVED else (["d1", "d2"], {"d4": 2})
    records = [{"id": topic, name: documents, "answer": "x"} for topic, documents in zip("12", listed, strict=True)]
    (plain / "FILE").write_text("\n".join(map(json.dumps, records)))
    run, qrels = "plain.run", "plain.qrels"
    files = ("FILE", qrels) if name in RETRIEVED else (run, "FILE")
    assert scores(cli, *files) == scores(cli, run, qrels)


@pytest.mark.parametrize("name", ["my_key", "doc_ids", "answers", "chunk ids", "mine"])
@pytest.mark.parametrize("topic", ["question", "id"])
@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_a_record_with_other_names_is_read_by_the_option_of_its_message(
    name: str, topic: str, kind: str, plain: Path, cli: Command
) -> None:
    listed = (["d2", "d7"], ["d4"]) if kind == "run" else (["d1", "d2"], {"d4": 2})
    records = [{topic: query, "tags": ["x"], name: ids} for query, ids in zip(("1", "2"), listed, strict=True)]
    (plain / "FILE").write_text("\n".join(map(json.dumps, records)))
    files = ("FILE", "plain.qrels") if kind == "run" else ("plain.run", "FILE")
    refused = cli(*files, "-m", "ap")
    assert refused.code == 1
    option = f"--{kind}-format topic={topic},documents={name}"
    assert [option in message for message in refused.messages] == [True], refused.messages
    done = cli(*files, "-m", "ap", *option.split(" ", 1))
    assert done.code == 0, done.messages


@pytest.mark.parametrize("form", ["lines", "list"])
def test_lint_counts_records_of_an_unknown_layout_once(form: str, tmp_path: Path, cli: Command) -> None:
    records = [{"id": f"q{number}", "my_key": ["d1"]} for number in range(20)]
    (tmp_path / "golden").write_text("\n".join(map(json.dumps, records)) if form == "lines" else json.dumps(records))
    done = cli("lint", "golden")
    assert done.code == 1
    assert "1 error, 0 warnings" in done.text
    assert done.text.count("my_key, here and 19 more times; name the list of documents") == 1


def test_a_bad_record_is_skipped_if_lenient(tmp_path: Path, cli: Command) -> None:
    content = '{"question": "a", "expected": ["d"], "retrieved": ["d"]}\n{"question": "b", "expected": 5}\n'
    done = evaluate_golden(cli, tmp_path, content, "--lenient")
    assert done.code == 0, done.messages
    assert any("skipped 1 bad line" in message for message in done.messages)


# Responses of search engines --------------------------------------------------------------------------------------


def response(*docnos: str) -> dict[str, Any]:
    return {"took": 3, "timed_out": False, "hits": {"total": {"value": len(docnos)}, "max_score": 9.5, "hits": [
        {"_index": "shop", "_id": docno, "_score": 9.5 - rank, "_source": {"title": "…"}}
        for rank, docno in enumerate(docnos)
    ]}}  # fmt: skip


RESPONSES: dict[str, Callable[[list[Any]], str]] = {
    "msearch": lambda responses: json.dumps({"took": 6, "responses": responses}),
    "lines": lambda responses: "\n".join(map(json.dumps, responses)),
    "list": json.dumps,
}


@pytest.mark.parametrize("form", RESPONSES)
def test_topics_of_responses_are_in_order_or_in_a_file(form: str, plain: Path, cli: Command) -> None:
    (plain / "hits.json").write_text(RESPONSES[form]([response("d2", "d7"), response("d4")]))
    assert "all,ap,0.75" in "\n".join(scores(cli, "hits.json", "plain.qrels"))
    (plain / "topics").write_text("red shoes\tin shops\nboots\n")
    (plain / "named.qrels").write_text("red shoes\t0\td1\t1\nred shoes\t0\td2\t1\nboots\t0\td4\t2\n")
    words = ("hits.json", "named.qrels", "--run-format", f"topic=@{plain / 'topics'}")
    assert "all,ap,0.75" in "\n".join(scores(cli, *words))
    (plain / "topics").write_text("red shoes\n")
    refused = cli(*words, "-m", "ap")
    assert refused.code == 1
    assert "has 1 topic, and the file 2 responses" in refused.messages[0]


@pytest.mark.parametrize("form", RESPONSES)
@pytest.mark.parametrize(("place", "others"), [(1, 1), (2, 1), (1, 0)])
def test_a_failed_search_is_an_error(form: str, place: int, others: int, plain: Path, cli: Command) -> None:
    responses = [response("d2")] * others
    responses.insert(place - 1, {"error": {"type": "x"}, "status": 400})
    (plain / "hits.json").write_text(RESPONSES[form](responses))
    refused = cli("hits.json", "plain.qrels", "-m", "ap")
    assert f"hits.json:{place}: is the response to a search that failed" in refused.messages[0]
    with pytest.raises(gradedeval.InputError, match=f"{place}: is the response to a search that failed"):
        gradedeval.evaluate(responses, "plain.qrels", ["ap"])


def test_ratings_exported_by_quepid_are_qrels(plain: Path, cli: Command) -> None:
    (plain / "short.csv").write_text("query,docid,rating\n1,d1,1\n1,d2,1\n2,d4,2\n")
    (plain / "long.csv").write_text(
        'Case ID,Query Text,Doc ID,Doc Position,Title,Rating\n5,1,d1,1,Red shoes,1\n5,1,d2,2,"Shoes, red",1\n'
        "5,2,d4,1,Boots,2\n"
    )
    plainly = scores(cli, "plain.run", "plain.qrels")
    for name in ("short.csv", "long.csv"):
        assert scores(cli, "plain.run", name) == plainly


# Two columns, and topics with blanks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("qrels", "words"),
    [
        ("1 d1\n1 d2\n2 d4\n", ()),
        ("1\td1\n1\td2\n2\td4\n", ()),
        ("query-id,corpus-id\n1,d1\n1,d2\n2,d4\n", ()),
        ("a b\n1 d1\n1 d2\n2 d4\n", ("--qrels-format", "topic,docno+header")),
        ('[{"question": "1", "chunk_id": "d1"}, {"question": "1", "chunk_id": "d2"}, '
         '{"question": "2", "chunk_id": "d4"}]', ()),
    ],
)  # fmt: skip
def test_qrels_of_topic_and_docno_have_grade_1_with_a_note(
    qrels: str, words: tuple[str, ...], plain: Path, cli: Command
) -> None:
    (plain / "pairs").write_text(qrels)
    done = cli("plain.run", "pairs", "-m", "ap", *words)
    assert any("no grades: the listed documents are relevant" in message for message in done.messages), done.messages
    assert "0.7500" in done.text


@pytest.mark.parametrize(
    ("run", "qrels"),
    [
        ("red shoes\td2\t7.5\nred shoes\td7\t3.25\nboots\td4\t1.5\n",
            "red shoes\td1\t1\nred shoes\td2\t1\nboots\td4\t2\n"),
        ("red shoes\tQ0\td2\t1\t7.5\ta\nred shoes\tQ0\td7\t2\t3.25\ta\nboots\tQ0\td4\t1\t1.5\ta\n",
         "red shoes\t0\td1\t1\nred shoes\t0\td2\t1\nboots\t0\td4\t2\n"),
        ("red shoes\td2\t1\nred shoes\td7\t2\nred shoes\td8\t3\nboots\td4\t1\n",
         "red shoes\td1\nred shoes\td2\nboots\td4\n"),
        # All of two words, of which the second is no iteration.
        ("red shoes\td2\t7.5\nred shoes\td7\t3\nblue hat\td4\t1.5\n",
         "red shoes\td1\t1\nred shoes\td2\t1\nblue hat\td4\t2\n"),
    ],
)  # fmt: skip
def test_lines_with_blanks_in_topics_are_split_at_tabs(run: str, qrels: str, plain: Path, cli: Command) -> None:
    (plain / "tabs.run").write_text(run)
    (plain / "tabs.qrels").write_text(qrels)
    rows = scores(cli, "tabs.run", "tabs.qrels")
    assert {"all,ap,0.75", "red shoes,ap,0.5"} <= set(rows)


def test_tabs_and_blanks_may_be_mixed(plain: Path, cli: Command) -> None:
    (plain / "mixed.qrels").write_text("1 0\td1\t1\n1 0\td2\t1\n2 0\td4\t2\n")
    (plain / "mixed.run").write_text("1 Q0 d2 1 7.5 a\n1 Q0 d7 2 3 a\n2 Q0 d4 1 1.5 a\n")
    assert "all,ap,0.75" in scores(cli, "mixed.run", "mixed.qrels")
    assert cli("diff", *(name for name in ("mixed.run", "plain.run", "mixed.qrels")), "-m", "ap").code == 0


@pytest.mark.parametrize("topic", ["red shoes", "what is new", "who sells red shoes"])
def test_commands_distinguish_runs_from_qrels_with_blanks_in_topics(topic: str, plain: Path, cli: Command) -> None:
    (plain / "short.run").write_text(f"{topic}\td1\t0.5\n{topic}\td2\t0.25\n")
    (plain / "long.run").write_text(f"{topic}\tQ0\td2\t1\t2.5\ta\n{topic}\tQ0\td1\t2\t1.5\ta\n")
    (plain / "named.qrels").write_text(f"{topic}\t0\td1\t1\n{topic}\t0\td2\t0\n")
    first, second, qrels = (name for name in ("short.run", "long.run", "named.qrels"))
    assert cli("diff", first, second).code == 0
    assert cli("diff", second, first).code == 0
    for runs in [(first, second), (second, first)]:
        assert "ap" in cli("diff", *runs, qrels, "-m", "ap").text
    for run in (first, second):
        assert f"topic {topic} of" in cli("explain", run, qrels, topic, "-m", "ap").text


def test_tabs_do_not_split_lines_with_a_known_form_between_blanks(plain: Path, cli: Command) -> None:
    (plain / "tags.run").write_text(RUN.replace(" ", "\t").replace("\ta\n", "\tmy tag\n"))
    done = cli("tags.run", "plain.qrels", "-m", "ap")
    assert "0.7500" in done.text
    assert "run format" not in done.text


@pytest.mark.parametrize(
    "hits",
    [
        [{"id": "d2", "score": 7.5}, {"id": "d7", "score": 3.25}],
        [{"_id": "d2", "_score": 7.5, "product": "shoe"}, {"_id": "d7", "_score": 3.25, "product": "shoe"}],
        {"total": 2, "hits": [{"_id": "d2", "_score": 7.5}, {"_id": "d7", "_score": 3.25}]},
        [{"sku": "d2"}, {"sku": "d7"}],
    ],
)
def test_hits_are_a_flat_list_or_inside_hits(hits: object, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.jsonl").write_text(json.dumps({"query": "1", "hits": hits}) + "\n")
    (tmp_path / "qrels.txt").write_text("1 0 d7 1\n")
    output = cli("eval", "run.jsonl", "qrels.txt", "-m", "rr", "-f", "csv")
    assert output.code == 0, output.messages
    assert "rr,0.5" in output.text


def test_an_object_of_totals_is_not_a_list_of_hits(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.json").write_text('{"query": "1", "hits": {"total": 5}}')
    (tmp_path / "qrels.txt").write_text("1 0 d7 1\n")
    assert cli("eval", "run.json", "qrels.txt").code == 1


@pytest.mark.parametrize("docno", ["product_id", "docno", "item_id", "sku", "asin"])
@pytest.mark.parametrize("rank", ["rank", "position"])
def test_a_table_of_ranks_needs_no_scores_with_any_name_of_docnos(
    docno: str, rank: str, tmp_path: Path, cli: Command
) -> None:
    (tmp_path / "r.csv").write_text(f"query,{docno},{rank}\nred shoes,w1,2\nred shoes,w2,1\n")
    (tmp_path / "q.csv").write_text(f"query,{docno},grade\nred shoes,w1,3\n")
    assert cli("r.csv", "q.csv", "-m", "rr", "-f", "trec").text.split() == ["rr", "all", "0.5000"]


@pytest.mark.parametrize("fields", ['"tags": ["x"]', '"total": 5'])
def test_a_response_with_other_fields_is_not_an_object_by_query(fields: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "q").write_text("1 0 d2 1\n")
    hits = '[{"id": "d1", "score": 9.5}, {"id": "d2", "score": 9.0}]'
    for text in (f'{{"hits": {hits}, {fields}}}', f'{{"response": {{"hits": {{"hits": {hits}}}, {fields}}}}}'):
        (tmp_path / "r.json").write_text(text)
        assert cli("r.json", "q", "-m", "rr", "-f", "trec").text.split() == ["rr", "all", "0.5000"]


# Objects query -> hits, response or record: read alike from a file and in Python, also without hits.

HITS = {"red shoes": [("p3", 3.0), ("p1", 2.0)], "boots": [("b1", 1.5)], "gift": []}
JUDGED = {"red shoes": {"p1": 2, "p2": 1}, "boots": {"b1": 1}, "gift": {"g1": 1}}
AP = (0.25 + 1 + 0) / 3
"""By hand: p1 at rank 2 of two relevant documents, b1 at rank 1, no hits."""

Pairs = list[tuple[str, float]]


def hits_of_engine(pairs: Pairs) -> Any:
    return [{"_index": "i", "_id": d, "_score": s, "_source": {"title": d, "id": "other"}} for d, s in pairs]


FORMS: dict[str, Any] = {
    "engine": hits_of_engine,
    "slim": lambda pairs: [{"_id": d, "_score": s} for d, s in pairs],
    "id": lambda pairs: [{"id": d, "score": s} for d, s in pairs],
    "doc_id": lambda pairs: [{"doc_id": d, "score": s} for d, s in pairs],
    "docno": lambda pairs: [{"docno": d, "score": s, "rank": r} for r, (d, s) in enumerate(pairs, 1)],
    "pred": lambda pairs: [{"docno": d, "y_pred": s} for d, s in pairs],
    "worst first": lambda pairs: [{"id": d, "score": s} for d, s in reversed(pairs)],
    "without scores": lambda pairs: [{"sku": d, "title": "shoe"} for d, _ in pairs],
    "null scores": lambda pairs: [{"_id": d, "_score": None, "sort": [1]} for d, _ in pairs],
    "own topic": lambda pairs: [{"query": {"p": "red shoes", "b": "boots"}[d[0]], "id": d, "score": s}
                                for d, s in pairs],
    "response": lambda pairs: {"took": 3, "hits": {"total": {"value": 9}, "hits": hits_of_engine(pairs)}},
    "hits first": lambda pairs: {"hits": {"hits": hits_of_engine(pairs)}, "took": 3},
    "flat response": lambda pairs: {"took": 3, "hits": [{"id": d, "score": s} for d, s in pairs]},
    "record": lambda pairs: {"answer": "text", "retrieved": [d for d, _ in pairs]},
    "record of scores": lambda pairs: {"retrieved": dict(pairs), "expected": {"x": 1}},
    "pairs": lambda pairs: [[d, s] for d, s in pairs],
    "ids": lambda pairs: [d for d, _ in pairs],
    "object": dict,
    "object, or an empty list": lambda pairs: dict(pairs) or [],
}  # fmt: skip


def evaluate_with_notes(source: Any, **options: Any) -> tuple[dict[str, float], list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        means = gradedeval.evaluate(source, JUDGED, "ap num_ret", **options).means
    return means, [str(warning.message) for warning in caught if warning.category is gradedeval.EvaluationWarning]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [("red shoes", "boots", "gift"), ("gift", "red shoes", "boots")])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_loop_over_queries_is_a_run(form: str, order: tuple[str, ...], indent: int | None, tmp_path: Path) -> None:
    held = {query: FORMS[form](HITS[query]) for query in order}
    (tmp_path / "run.json").write_text(json.dumps(held, indent=indent))
    for source in (held, str(tmp_path / "run.json")):
        means, notes = evaluate_with_notes(source)
        assert means == {"ap": pytest.approx(AP, abs=1e-15), "num_ret": 3}
        assert (
            sum("1 topic with relevant documents returned nothing (gift) and counts as" in note for note in notes) == 1
        )
        assert not any("missing" in note for note in notes)


def test_topics_without_relevant_documents_may_have_no_hits() -> None:
    run = {"boots": [{"id": "b1", "score": 1.0}], "none": []}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gradedeval.evaluate(run, {"boots": {"b1": 1}, "none": {"n1": 0}}, "ap")
    assert not any("returned nothing" in str(warning.message) for warning in caught)


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_judgments_by_query_are_lists_of_documents(tmp_path: Path) -> None:
    run = {"1": {"d1": 2.0, "d2": 1.0}}
    for judged in (
        {"1": [{"_id": "d2", "rating": 2}, {"_id": "d1", "rating": 0}]},
        {"1": [{"docno": "d2", "score": 1}, {"docno": "d1", "score": 0}]},
        {"1": {"question": "q", "expected": ["d2"]}},
    ):
        (tmp_path / "qrels.json").write_text(json.dumps(judged))
        for source in (judged, str(tmp_path / "qrels.json")):
            assert gradedeval.evaluate(run, source, "rr").means == {"rr": 0.5}
    intents = {"1": [{"docno": "d2", "subtopic": "a", "grade": 1}, {"docno": "d2", "subtopic": "b", "grade": 1}]}
    scores = gradedeval.evaluate(run, intents, "strec@1 strec@2", subtopics=True)
    assert scores.means == {"strec@1": 0, "strec@2": 1}


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
def test_named_runs_stay_apart() -> None:
    rows = [{"topic": "boots", "docno": "b1", "score": 1.0}]
    golden = [{"query": "boots", "retrieved": ["b1"]}]
    hits = {"boots": [{"id": "b1", "score": 1.0}]}
    for run in (rows, golden, hits, {"boots": FORMS["response"](HITS["boots"])}):
        means = gradedeval.evaluate({"old": run, "new": run}, JUDGED, "ap", topics="both").means_by_run
        assert means == {"old": {"ap": 1}, "new": {"ap": 1}}


def test_fields_of_hits_by_query_are_named(tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.json").write_text(
        '{"q": [{"key": "a", "cos": 0.5, "score": 1}, {"key": "b", "cos": 0.9, "score": 0}]}'
    )
    (tmp_path / "qrels").write_text("q 0 b 1\n")
    words = ("run.json", "qrels", "-m", "rr", "-f", "csv")
    done = cli(*words, "--run-format", "docno=key,score=cos")
    assert "rr,1.0" in done.text, done.messages
    refused = cli(*words, "--run-format", "docno=key,topic=@queries")
    assert (refused.code, len(refused.messages)) == (1, 1)


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({"q": [{"id": "a", "cosine": 0.5}]}, "lists documents without a score, but 'cosine' may be one; name it, as"),
        ({"q": [{"title": "a"}]}, "'q' lists a document without an id, only title"),
        ({"q": [{"query": "other", "docno": "a", "score": 1}]}, "holds records of other topics, such as 'other'"),
        ({"q": [{"id": "a", "score": 1}], "r": [{"id": "a"}]}, "some documents have scores and some have none"),
        ({"q": [{"id": "a", "score": 1}], "r": 5}, "holds JSON in an unknown layout"),
        ({"q": {"hits": {"hits": []}}, "r": {"error": {}, "status": 400}}, "response to a search that failed"),
        ({"q": {"error": {"type": "x"}, "status": 400}}, "response to a search that failed"),
        ({"q": {"retrieved": ["a"]}, "r": {"answer": "b"}}, "no list of results (retrieved, results"),
    ],
)  # fmt: skip
def test_problems_of_an_object_by_query_are_one_line(held: Any, says: str, tmp_path: Path, cli: Command) -> None:
    (tmp_path / "run.json").write_text(json.dumps(held))
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    refused = cli("run.json", "qrels", "-m", "ap")
    assert (refused.code, len(refused.messages)) == (1, 1)
    assert says in refused.messages[0]


@pytest.mark.parametrize("form", ["msearch", "lines"])
def test_responses_without_queries_ask_for_a_file_of_queries(form: str, tmp_path: Path, cli: Command) -> None:
    responses = [FORMS["response"](HITS[query]) for query in HITS]
    text = json.dumps({"responses": responses}) if form == "msearch" else "\n".join(map(json.dumps, responses))
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "qrels.json").write_text(json.dumps(JUDGED))
    refused = cli("run.json", "qrels.json", "-m", "ap")
    assert refused.code == 1
    assert "run.json: does not name its queries, so they are numbered (1, 2, …), and" in refused.messages[0]
    assert refused.messages[0].endswith("and add --run-format topic=@queries.txt")
    with pytest.raises(gradedeval.InputError, match=r'and add run_format="topic=@queries\.txt"'):
        gradedeval.evaluate(responses, JUDGED, "ap")
    (tmp_path / "queries.txt").write_text("".join(f"{query}\n" for query in HITS))
    assert evaluate_with_notes("run.json", run_format=f"topic=@{tmp_path / 'queries.txt'}")[0]["ap"] == pytest.approx(
        AP
    )


@pytest.mark.parametrize("word", ["msearch", "hits", "run-format"])
def test_help_leads_to_the_file_of_queries(word: str, cli: Command) -> None:
    assert "topic=@FILE" in " ".join(cli("help", word).text.split())
