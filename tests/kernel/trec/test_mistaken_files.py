"""Read files that are nearly correct if they have a single meaning; refuse others in one line."""

import json
import re
import traceback
from pathlib import Path

import pytest

import gradedeval
from gradedeval import evaluate
from gradedeval.errors import EvaluationWarning, InputError
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.trec import documents
from gradedeval.kernel.trec.line_reader import Skipped
from gradedeval.kernel.trec.stream import Source, Stream, first_bytes
from support.commands import Command, succeed
from support.file_formats import TREC_RUN, WRONG, Wrong


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
        ({"51": [{"docno": "d7", "score": 1}, 3]}, "some documents have scores and some have none"),
    ],
)
def test_invalid_json_does_not_affect_other_runs(content: object, says: str, folder: Path, cli: Command) -> None:
    (folder / "wrong.json").write_text(json.dumps(content))
    output = cli("wrong.json", "trec.run", "trec.qrels", "-m", "ap")
    assert says in output.err.decode()
    assert "trec.run" in output.text


def test_comma_separated_fields_get_a_hint(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("51,d7,1\n51,d2,2\n")
    with pytest.raises(InputError, match="separate fields by spaces or tabs, or name the columns"):
        evaluate(tmp_path / "run", {"51": {"d7": 1}}, ["ap"], run_format="trec")


COMMAS = [
    ("run", "51,Q0,d{rank},{rank},{score},tag", "--run-format topic,q0,docno,rank,score,tag"),
    ("run", "51,Q0,d{rank},{rank},{score}", "--run-format topic,q0,docno,rank,score"),
    ("run", "51,d{rank},{rank},{score},tag", "--run-format topic,docno,rank,score,tag"),
    ("run", "51,Q0,d{rank},{score}", "--run-format topic,q0,docno,score"),
    ("run", "51,d{rank},{rank},{score}", "--run-format topic,docno,rank,score"),
    ("run", "51,d{rank},{score},tag", "--run-format topic,docno,score,tag"),
    ("run", "51,d{rank},{score}", "--run-format topic,docno,score"),
    ("qrels", "51,0,d{rank},1", "--qrels-format topic,iteration,docno,grade"),
    ("qrels", "51,d{rank},1", "--qrels-format topic,docno,grade"),
]


@pytest.mark.parametrize(("kind", "line", "option"), COMMAS, ids=lambda text: text)
def test_a_file_with_commas_is_read_by_the_option_of_its_message(
    kind: str, line: str, option: str, folder: Path, cli: Command
) -> None:
    (folder / "commas").write_text("".join(line.format(rank=rank, score=9.5 - rank) + "\n" for rank in range(1, 9)))
    files = ("commas", "trec.qrels") if kind == "run" else ("trec.run", "commas")
    refused = cli(*files, "-m", "ap")
    assert refused.code == 1
    assert [message.endswith(f"as in {option}") for message in refused.messages] == [True], refused.messages
    done = cli(*files, "-m", "ap", *option.split())
    assert done.code == 0, done.messages
    checked = cli("lint", *(files[:1] if kind == "run" else ("trec.run", "--qrels", "commas")), "-f", "csv").text
    assert checked.count("here and 7 more times") == checked.count("error,fields") == 1


@pytest.mark.parametrize("comment", ["#docid:D3", "# docno=D3", "# docid = D3 inc = 1", "#D3", "# 5 docno: D3"])
def test_letor_names_its_documents_in_several_ways(comment: str, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text(f"2 qid:51 1:0.5 {comment}\n")
    assert list(Qrels(tmp_path / "FILE").codes[b"51"]) == [b"D3"]


def swapped_files(name: str, folder: Path) -> tuple[str, str]:
    """Write a run and qrels in a form that fits either; return their names."""
    judged = [(f"t{topic}", f"d{docno}", (docno + topic) % 3) for topic in range(3) for docno in range(20)]
    files = [(f"t{topic}", f"d{2 * rank}", 90 - 7 * rank) for topic in range(3) for rank in range(12)]
    for file, rows in (("q", judged), ("r", files)):
        nested: dict[str, dict[str, float]] = {}
        for topic, docno, value in rows:
            nested.setdefault(topic, {})[docno] = value / 8 if file == "r" else value
        (folder / f"{file}.json").write_text(json.dumps(nested))
        table = "".join(f"{topic}\t{docno}\t{value}\n" for topic, docno, value in rows)
        (folder / f"{file}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{table}")
    return f"r.{name}", f"q.{name}"


@pytest.mark.parametrize("name", ["json", "tsv"])
def test_a_run_in_the_place_of_the_qrels_is_an_error(name: str, folder: Path, cli: Command) -> None:
    run, qrels = swapped_files(name, folder)
    assert cli(run, qrels, "-m", "ap").code == 0
    refused = cli(qrels, run, "-m", "ap")
    assert refused.code == 2
    assert f"{run}: looks like a run (12 different grades" in refused.messages[0]
    named = {"json": "json", "tsv": "beir"}[name]
    assert cli(qrels, run, "-m", "ap", "--qrels-format", named).code == 0


@pytest.mark.parametrize("swapped", [("trec.qrels", "trec.run"), ("trec.run", "trec.run")])
def test_the_error_of_swapped_files_follows_no_other_error(swapped: tuple[str, str], folder: Path) -> None:
    with pytest.raises(InputError, match="looks like a run") as raised:
        evaluate(*(folder / name for name in swapped), "ap")
    trace = "".join(traceback.format_exception(raised.value))
    assert trace.count("Traceback") == 1
    assert "During handling" not in trace


@pytest.mark.parametrize("wrong", WRONG, ids=lambda case: case.what)
def test_an_error_about_a_file_hides_its_causes(wrong: Wrong, folder: Path) -> None:
    wrong.write(folder / "FILE")
    with pytest.raises(InputError) as raised:
        evaluate(*(folder / name for name in wrong.files), "ap")
    assert "errors.InputError" not in "".join(traceback.format_exception(raised.value)).rpartition("During handling")[0]


def test_swapped_dicts_are_an_error_but_fractional_grades_are_not() -> None:
    judged = {topic: {docno: rank % 3 for rank, docno in enumerate("abcdefgh")} for topic in "12"}
    run = {topic: {docno: 0.95 - rank / 16 for rank, docno in enumerate("abcdefghijkl")} for topic in judged}
    with pytest.raises(InputError, match="swap them: the run comes first"):
        evaluate(judged, run, "ap")
    evaluate(judged, Qrels(run), "ap(rel=0.5)")
    one_each = {str(topic): {"a": 1} for topic in range(12)}
    with pytest.raises(InputError, match="swap them: the run comes first"):
        evaluate(one_each, dict.fromkeys(one_each, run["1"]), "ap")
    ranked = {topic: {docno: 9 - rank for rank, docno in enumerate("abcd")} for topic in judged}
    evaluate(ranked, run, "ap(rel=0.5)")  # fractional grades, and scores that count ranks
    few = {"1": {"a": 2, "b": 1}}  # too few documents for an error: they may not be swapped
    with pytest.warns(EvaluationWarning, match="are the two swapped"):
        evaluate({"1": {"a": 5, "b": 3}}, {"1": {"a": 0.5, "b": 1, "c": 1 / 3}}, "ap(rel=0.5)")
    with pytest.warns(
        EvaluationWarning, match="grades are floats, and the run's scores integers from 0; are the two sw"
    ):
        evaluate({"1": {"a": 2, "b": 0, "d": 1}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "ap")
    evaluate({"1": {"a": 2, "b": 0, "d": 1}}, {"1": {"a": 3, "b": 2, "c": 1}}, "ap")  # both are integers
    evaluate(few, {"1": {"a": 0.5, "b": 1, "c": 1 / 3, "d": 0.25, "e": 2}}, "ap(rel=0.25)")


def test_letor_of_six_fields_is_not_a_run(folder: Path, cli: Command) -> None:
    (folder / "letor.txt").write_text("2 qid:51 1:1 # query_1 D16\n1 qid:51 1:1 # query_1 D17\n")
    assert "duplicate document 'query_1'" in cli("trec.run", "letor.txt", "-m", "ap").messages[0]


def test_two_columns_of_grades_are_an_error_that_names_both(folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text("query,url,label,relevance\n51,d7,2,0\n51,d2,0,1\n")
    refused = cli("trec.run", "FILE", "-m", "ap")
    assert refused.messages == [
        "FILE: several columns could be the grades: label, relevance; say which, as in --qrels-format "
        "topic,docno,-,grade+header"
    ]
    assert cli("trec.run", "FILE", "-m", "ap", "--qrels-format", "topic,docno,-,grade+header").code == 0
    (folder / "FILE").write_text("query,url,label,label\n51,d7,2,0\n")
    assert "could be the grades: label, label; leave one" in cli("trec.run", "FILE", "-m", "ap").messages[0]
    (folder / "FILE.jsonl").write_text('{"qid": "51", "docno": "d7", "label": 1, "rel": 0}\n')
    assert "could be the grades: label, rel; leave one" in cli("trec.run", "FILE.jsonl", "-m", "ap").messages[0]


def test_distances_of_ms_marco_are_noted(folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text("51\td7\t1\t0.5\n51\td9\t2\t0.75\n52\td7\t1\t0.5\n52\td3\t2\t0.6\n52\td1\t3\t0.7\n")
    output = cli("FILE", "trec.qrels", "-m", "ap")
    assert "scores increase with the rank" in output.messages[0]
    (folder / "FILE").write_text("51\td7\t1\t0.5\n51\td9\t2\t0.75\n52\td7\t1\t0.5\n52\td3\t2\t0.4\n52\td1\t3\t0.3\n")
    assert cli("FILE", "trec.qrels", "-m", "ap").messages == []


def test_a_header_that_looks_like_data_is_noted(folder: Path, cli: Command) -> None:
    output = cli("trec.run", "trec.qrels", "-m", "ap", "--run-format", "trec+header")
    assert output.messages == [
        "trec.run: the first line looks like data, but is skipped: '51 Q0 d7 1 12.5 bm25'; leave out +header if it is "
        "not a header"
    ]


def test_diff_knows_runs_of_ms_marco_and_beir(folder: Path, cli: Command) -> None:
    rows = [line.split() for line in TREC_RUN.splitlines()]
    (folder / "ms3").write_text("".join(f"{row[0]}\t{row[2]}\t{row[3]}\n" for row in rows))
    (folder / "ms4").write_text("".join(f"{row[0]}\t{row[2]}\t{row[3]}\t{row[4]}\n" for row in rows))
    beir = "".join(f"{row[0]}\t{row[2]}\t{row[4]}\n" for row in rows)
    (folder / "beir").write_text(f"query-id\tcorpus-id\tscore\n{beir}")
    for last in ("ms3", "ms4", "beir"):
        succeed(cli("diff", "trec.run", last))


def test_the_error_for_words_as_grades_names_the_option_labels(folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text('{"51": {"d7": "HRel", "d2": "Rel"}}')
    says = "the labels found are HRel, Rel: give each a grade, as in --labels HRel=…,Rel=…"
    assert cli("trec.run", "FILE", "-m", "ap").messages == [f"FILE: grade 'HRel' is a word; {says}"]


@pytest.mark.parametrize("wrong", [case for case in WRONG if "-format" in case.says], ids=lambda case: case.what)
def test_the_cure_in_a_message_works(wrong: Wrong, folder: Path, cli: Command) -> None:
    wrong.write(folder / "FILE")
    cures = re.findall(r"(--\w+-format) (\S+)", wrong.says)
    assert any(cli(*wrong.files, "-m", "ap", *cure).code == 0 for cure in cures)


BAD_LINES = """{"qid": "51", "docno": "d4", "score": "high"}
{"qid": "51", "docno": "d4"}
{"qid": "51", "docno": ["d4"], "score": 1}
{"docno": "d4", "score": 1}
{"qid": "51", "docno": "d4", "docno": "d5", "score": 1}
"no record"
{"qid": "51",
"""


def test_only_bad_lines_are_an_error(folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text(BAD_LINES)
    assert cli("FILE", "trec.qrels", "--lenient").messages[0].startswith("FILE: no ")


def test_json_lines_are_read_in_pieces(folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        json.dumps({"qid": f"{topic}", "docno": f"d{rank}", "score": 50 - rank} | ({"note": "x"} if rank == 30 else {}))
        for topic in (51, 52)
        for rank in range(40)
    ]
    (folder / "FILE").write_text("\n\n".join(lines))
    whole = cli("FILE", "trec.qrels", "-q", "-f", "csv", "-m", "ap")
    monkeypatch.setattr("gradedeval.kernel.trec.documents.PIECE", 100)
    assert cli("FILE", "trec.qrels", "-q", "-f", "csv", "-m", "ap") == whole
    # Records of a million lines at a time would be a million dicts.
    pieces = list(documents._pieces("\n".join(lines).encode(), Skipped("FILE")))
    held = [len(records) for _, records in pieces]
    assert max(held) <= 4
    assert [line for numbers, _ in pieces for line in numbers] == [*range(1, 81)]


def test_a_header_of_invalid_utf8_is_shown(folder: Path, cli: Command) -> None:
    (folder / "odd.csv").write_bytes(b"r\xffun,topic,measure,score\nr,2,ap,0.5\n")
    (message,) = cli("odd.csv", "trec.qrels", "-m", "ap").messages
    assert message.startswith("odd.csv: no known name for a ")


@pytest.mark.parametrize("words", ["lint FILE", "FILE trec.qrels -m ap", "trec.run FILE -m ap"])
def test_a_table_without_columns_lacks_the_topic(words: str, folder: Path, cli: Command) -> None:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pyarrow.parquet as parquet

    parquet.write_table(arrow.table({}), folder / "FILE")
    done = cli(*words.split())
    message = [line for line in (*done.messages, *done.text.splitlines()) if "TableColumns" in line or "column" in line]
    assert done.code == 1
    assert "no column 'topic': the table has no columns; known names: topic," in message[0]
    assert "TableColumns" not in " ".join(message)


def test_a_file_is_closed_after_its_first_bytes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").write_bytes(b"51 Q0 d7 1 2 t\n")
    closed: list[Stream] = []
    monkeypatch.setattr(Stream, "close", lambda stream: closed.append(stream))
    assert first_bytes(Source(tmp_path / "run")) == b"51 Q0 d7 1 2 t\n"
    assert len(closed) == 1


@pytest.mark.parametrize(
    ("keyword", "says"),
    [
        ("k", 'write cutoffs in measures, here "ap@2"'),
        ("relevance_level", "did you mean 'rel'?"),
        ("threads", "did you mean 'jobs'?"),
        ("return_mean", r"scores.by_topic\(measure\) has a number a topic"),
    ],
)
def test_keywords_of_other_libraries_are_answered(keyword: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, "ap", **{keyword: 2})  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="measures are text"):
        _ = gradedeval.nDCG
