"""Texts and labels of topics from all kinds of files and objects."""

import gzip
import sys
import types
from collections import namedtuple
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gradedeval import InputError
from gradedeval.kernel.options.metadata import read_queries, read_slices, slices_of
from support import fake_ir_datasets
from support.broken import matches
from support.commands import Command

TEXTS = {"1": "length of the Nile", "2": "dams, and fish"}

FILES = {
    "sgml.txt": "<top>\n<num> Number: 1\n<title> length of the\nNile\n\n<desc> Description:\nHow long?\n</top>\n"
    "<top>\n<num> Number: 2\n<title> Topic: dams, and fish\n</top>\n",
    "closed.txt": "<top><num>1</num><title>length of the Nile</title></top><top><num>2</num><title>dams, and fish"
    "</title></top>",
    "web.xml": '<?xml version="1.0"?><webtrack><topic number="1" type="faceted"><query>length of the Nile</query>'
    '<subtopic number="1" type="inf">how long</subtopic></topic><topic number="2" type="single"><query>dams, and fish'
    "</query></topic></webtrack>",
    "ntcir.xml": "<queries><query><qid>1</qid><content>length of the Nile</content></query>"
    "<query><qid>2</qid><content>dams, and fish</content></query></queries>",
    "marco.tsv": "1\tlength of the Nile\n2\tdams, and fish\n",
    "headed.tsv": "query_id\ttext\n1\tlength of the Nile\n2\tdams, and fish\n",
    "quoted.csv": 'qid,lang,query\n1,en,length of the Nile\n2,de,"dams, and fish"\n',
    "bare.csv": "1,length of the Nile\n2,dams, and fish\n",
    "colon.txt": "1:length of the Nile\n2:dams, and fish\n",
    "spaces.txt": "1 length of the Nile\n2 dams, and fish\n",
    "queries.jsonl": '{"_id": "1", "text": "length of the Nile", "metadata": {"lang": "en"}}\n'
    '{"_id": "2", "text": "dams, and fish", "metadata": {}}\n',
    "dict.json": '{"1": "length of the Nile", "2": "dams, and fish"}',
    "records.json": '[{"topic": 1, "title": "length of the Nile"}, {"topic": 2, "title": "dams, and fish"}]',
    "packed.tsv.gz": "1\tlength of the Nile\n2\tdams, and fish\n",
    "marked.tsv": "\ufefftopic\tquery\r\n1\tlength of the Nile\r\n\r\n2\tdams, and fish\r\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_queries(name: str, tmp_path: Path) -> None:
    data = FILES[name].encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert read_queries(str(tmp_path / name)).texts == TEXTS


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    OBJECTS[2].to_parquet(tmp_path / "q.parquet")
    assert read_queries(tmp_path / "q.parquet").texts == TEXTS


Row = namedtuple("Row", "query_id text")
OBJECTS: list[Any] = [
    TEXTS,
    {1: "length of the Nile", 2: "dams, and fish"},
    pd.DataFrame({"qid": [1, 2], "query": list(TEXTS.values())}),
    [Row("1", "length of the Nile"), Row("2", "dams, and fish")],
    iter([{"_id": "1", "text": "length of the Nile"}, {"_id": "2", "text": "dams, and fish"}]),
    list(TEXTS.items()),
]


@pytest.mark.parametrize("given", OBJECTS, ids=lambda one: type(one).__name__)
def test_objects_of_python(given: Any) -> None:
    assert read_queries(given).texts == TEXTS


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = types.SimpleNamespace(
        queries_iter=lambda: iter([Row("1", "length of the Nile"), Row("2", "dams, and fish")])
    )
    monkeypatch.setitem(
        sys.modules, "ir_datasets", types.SimpleNamespace(load=lambda name: dataset, util=fake_ir_datasets)
    )
    assert read_queries("ir_datasets:any").texts == TEXTS


BROKEN = {
    "": "is empty",
    "topic\tkind\n1\ta\n": "no column 'query' among kind; known names:",
    "<topics><topic number='1'><query>a & b</query></topic></topics>": ":1: is not valid XML",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>": "defines XML entities",
    "<topics></topics>": "has no topic with a number and a text",
    "<top><title> a </top>": "<top> 1 has no <num>",
    '{"_id": "1", "text": "a"}\n{"_id": \n': ":2: is not valid JSON",
    "1\ta\n1\tb\n": "two lines of topic '1' differ in 'query'",
    "topic,query\n1,a,b\n": ":2: 3 fields, expected 2 (topic, query)",
    'topic,query\n1,"a\n': ":2: a quote is not closed; close it",
    "topic,query\n1,\n": "has no texts of topics",
    "1: b\n2 d\n": ":2: no ':' after the topic, as in the first line; write all lines as 'topic: text', or all as",
}


@pytest.mark.parametrize("content", BROKEN)
def test_problems_have_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(content)
    with pytest.raises(InputError) as raised:
        read_queries(str(tmp_path / "q"))
    assert str(raised.value).startswith(str(tmp_path / "q"))
    assert "\n" not in str(raised.value)
    assert BROKEN[content] in str(raised.value)


def test_texts_that_are_hostile_are_text() -> None:
    (text,) = read_queries({"1": "a\x1b[31m\n\tb <script>"}).texts.values()
    assert text == "a\x1b[31m b <script>"


LABELS = {"intent": {"1": ("fact",), "2": ("fact", "new")}, "lang": {"1": ("en",)}}


def test_labels(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("topic\tquery\tintent\tlang\n1\ta\tfact\ten\n2\tb\tfact|new\t\n")
    assert read_slices(str(tmp_path / "s.tsv")).of == LABELS
    frame = pd.DataFrame({"qid": [1, 2], "intent": ["fact", "fact|new"], "lang": ["en", None]})
    assert read_slices(frame).of == LABELS
    assert read_slices({"intent": {1: "fact", 2: ["fact", "new"]}, "lang": {1: "en"}}).of == LABELS
    assert read_slices({"1": "a", "2": 3.0}).of == {"slice": {"1": ("a",), "2": ("3",)}}


def test_labels_may_be_columns_of_the_queries(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text('topic,query,intent\n1,a,fact\n2,b,"fact|new"\n')
    queries = read_queries(tmp_path / "q.csv")
    assert slices_of(queries, read_slices("intent")).of == {"intent": LABELS["intent"]}
    with pytest.raises(InputError, match=r"'intend' is neither a file nor a column of .*did you mean 'intent'"):
        slices_of(queries, read_slices("intend"))
    with pytest.raises(InputError, match="no file 'intent'; check the path, or add"):
        slices_of(None, read_slices("intent"))


def test_labels_need_names(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("1\ta\tb\n")
    with pytest.raises(InputError, match="has no header with a column of topics, but 1, a, b"):
        read_slices(str(tmp_path / "s"))


def test_topics_without_counterpart_are_counted() -> None:
    queries, slices = read_queries(TEXTS), read_slices(LABELS)
    assert queries.unmatched(["1", "2"]) == []
    (note,) = queries.unmatched(["1", "3", "4"])
    assert note == "queries: 2 of 3 topics have no text (3, 4); 1 text is of a topic that is not in the qrels"
    assert slices.unmatched(["1", "2"]) == ["slices: lang: 1 of 2 topics has no label (2)"]


SHAPES = ["1: b c", "2 b c", "3\tb", "4,b", "5", ": b", "6:b", '"7" b', "::", "8 b: c"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize(("first", "second"), list(product(SHAPES, repeat=2)))
@pytest.mark.parametrize("option", ["--queries", "--slices"])
def test_lines_of_any_two_shapes_are_read_or_refused(option: str, first: str, second: str, cli: Command) -> None:
    Path("run").write_text("1 Q0 d 1 1 t\n")
    Path("qrels").write_text("1 0 d 1\n")
    Path("topics").write_text(f"{first}\n{second}\n")
    done = cli("run", "qrels", "-m", "ap", option, "topics")
    assert done.code in (0, 1)
    if done.code:
        assert matches("topics…; …", done.messages[-1])
