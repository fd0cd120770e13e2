"""JSON in one notation is read by columns: the same scores and errors as by objects."""

from __future__ import annotations

import json
import math
import warnings
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from gradedeval.errors import InputError
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.scoring.evaluate import evaluate
from gradedeval.kernel.trec import documents, text_columns
from gradedeval.kernel.trec.file_formats import TableColumns
from gradedeval.kernel.trec.stream import Source, Stream
from gradedeval.kernel.trec.text_columns import regular_lines

WHOLE = {
    "plain": '{"1": {"a": 2.5, "b": 1}, "2": {"c": 1e2, "é": -0.0}}',
    "one document": '{"1": {"a": 2}}',
    "several lines": '{"1": {"a": 2.5,\n"b": 1}, "2": {"c": 1}}',
    "a space more": '{"1": {"a": 2.5, "b": 1 }, "2": {"c": 1}}',
    "unlike scores": '{"1": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "2": {"c": 1, "a": 2, "b": 2}}',
    "a name twice": '{"1": {"a": 2.5, "a": 1}, "2": {"c": 1}}',
    "a topic twice": '{"1": {"a": 2.5}, "1": {"b": 1}}',
    "a number in quotes": '{"1": {"a": "2", "b": 1}}',
    "a quote in a name": '{"1": {"a\\"": 2, "b": 1}}',
    "a name in escapes": '{"1": {"\\u0061": 2, "b": 1}}',
    "not a number": '{"1": {"a": NaN, "b": 1}}',
    "too large a number": '{"1": {"a": 1e999, "b": 1}}',
    "true": '{"1": {"a": true, "b": 1}}',
    "nothing": '{"1": {"a": null, "b": 1}}',
    "a brace too few": '{"1": {"a": 1, "b": 1}',
    "a list for a topic": '{"1": {"a": 1, "b": 1}, "2": ["c", "a"]}',
    "cut off": '{"1": {"a": 1, "b"',
    "deeper": '{"1": {"a": {"1": 1}, "b": {"1": 0}}}',
    "an empty name": '{"1": {"": 1, "b": 1}}',
    "no topics": "{}",
    "an empty topic": '{"1": {}, "2": {"c": 1}}',
    "columns of numbers": '{"topic": {"0": 1, "1": 1}, "docno": {"0": 7, "1": 8}, "score": {"0": 2, "1": 1}}',
    "records": '[{"topic": "1", "docno": "a", "score": 1}, {"topic": "1", "docno": "b", "score": 2}]',
    "no UTF-8": '{"1": {"\udcff": 1, "b": 1}}',
}
LINE = '{{"topic": "{}", "docno": "{}", "score": {}}}\n'
GOOD = LINE.format(1, "a", 1) + LINE.format(2, "c", 0.5) + LINE.format(1, "b", 2)
LINES = {
    "plain": GOOD,
    "ends of Windows": GOOD.replace("\n", "\r\n"),
    "a blank line": GOOD.replace("\n", "\n\n", 1),
    "two on a line and a blank one": GOOD.replace("}\n{", "}{", 1).replace("}\n", "}\n\n", 1),
    "a name twice": GOOD.replace('"docno"', '"topic": "1", "docno"', 1),
    "another name": GOOD + '{"topic": "1", "docno": "x", "sim": 3}\n',
    "a name more": GOOD + '{"topic": "1", "docno": "x", "score": 3, "note": "wet"}\n',
    "a name less": GOOD + '{"topic": "1", "score": 3}\n',
    "a topic as a number": GOOD + '{"topic": 1, "docno": "x", "score": 3}\n',
    "scores in quotes": LINE.format(1, "a", '"2"') + LINE.format(1, "b", '"1"'),
    "a score in quotes": GOOD + LINE.format(1, "x", '"2"'),
    "too large a number": GOOD + LINE.format(1, "x", "1e999"),
    "dates": "".join(LINE.format(1, f"2024-01-0{day}", day) for day in (1, 2, 3)),
    "an empty docno": GOOD + LINE.format(1, "", 1),
    "escapes": GOOD + LINE.format(1, "\\u0062", 9),
    "no UTF-8": GOOD + LINE.format(1, "\udcff", 9),
    "a rank, too": "".join(
        f'{{"topic": "1", "docno": "{name}", "rank": {rank}, "score": {rank}}}\n'
        for rank, name in enumerate("abcde", 1)
    ),
    "more than that": GOOD.replace("}", ', "text": "wet, dry", "length": 3}'),
    "broken": GOOD + '{"topic": "1", "docno"\n',
    "words behind it": GOOD + "and so on\n",
}
AS_QRELS = ("plain", "a name twice", "a name more", "a score in quotes", "escapes")


def result_of(path: Path, held: str) -> object:
    """Return the result of an evaluation of a file: scores by topic, notes and the format; or the error."""
    qrels, run = {"1": {"a": 1, "b": 0, "é": 2}, "2": {"c": 1}}, {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are in the notes
            judged = Qrels(qrels) if held == "run" else Qrels(str(path))
            scores = evaluate(str(path) if held == "run" else run, judged, "ndcg@10 ap num_rel")
    except InputError as error:
        return str(error)
    by_topic = [scores.by_topic(name) for name in scores]
    return by_topic, scores.notes, scores.signature, judged.digest, judged.labels.tolist()


def columns_of(data: bytes, first: dict[str, Any]) -> TableColumns | None:
    with closing(Stream(Source(BytesIO(data)))) as stream:
        return regular_lines(stream, data.partition(b"\n")[0], first)


@pytest.mark.parametrize("held", ["run", "qrels"])
@pytest.mark.parametrize("name", WHOLE)
def test_documents_say_the_same_by_columns_and_by_objects(
    name: str, held: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "x.json").write_text(WHOLE[name], errors="surrogateescape")
    by_columns = result_of(path, held)
    monkeypatch.setattr("gradedeval.kernel.trec.text_columns.nested_numbers", lambda stream: None)
    assert result_of(path, held) == by_columns


@pytest.mark.one_in(4)
@pytest.mark.parametrize("together", [1, 2, 5])
@pytest.mark.parametrize("changed", ["\t", "\\", '"', "{", "}", ",", ":", " ", "x"])
def test_documents_in_usual_notation_become_columns(
    changed: str, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradedeval.kernel.trec.text_columns.NAMES", together)
    monkeypatch.setattr("gradedeval.kernel.trec.text_columns.PART", together)
    usual = {"1": {"a}, {": 2.5, "b": 1, "c d": -7}, "2": {"é": 0}, "3": {"a": 1e-7, "e" * 40: 123456.5}}
    whole = json.dumps(usual, ensure_ascii=False), json.dumps(usual, ensure_ascii=False, separators=(",", ":")) + "\n"
    for text in whole:
        with closing(Stream(Source(BytesIO(text.encode())))) as stream:
            table = text_columns.nested_numbers(stream)
        assert table is not None
        assert (table.topics, table.size.tolist()) == ([b"1", b"2", b"3"], [3, 1, 2])
        pairs = zip(table.docno.tolist(), table.value.tolist(), strict=True)
        assert list(pairs) == [pair for documents in usual.values() for pair in documents.items()]
    for position in range(len(whole[0])):
        variant = whole[0][:position] + changed + whole[0][position:]
        with closing(Stream(Source(BytesIO(variant.encode())))) as stream:
            table = text_columns.nested_numbers(stream)
        if table is not None:
            names = [name for documents in json.loads(variant).values() for name in documents]
            assert table.docno.tolist() == names


@pytest.mark.parametrize("name", LINES)
def test_lines_are_equal_together_and_one_by_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "x.jsonl").write_text(LINES[name], errors="surrogateescape", newline="")

    def both() -> tuple[object, object]:
        return result_of(path, "run"), result_of(path, "qrels") if name in AS_QRELS else ""

    at_once = both()
    monkeypatch.setattr("gradedeval.kernel.trec.text_columns.regular_lines", lambda stream, line, first: None)
    assert both() == at_once


NUMBERS = [
    *["7", "-7", "0", "-0", "0.5", "-0.5", "1e5", "1E-05", "2.5e+3", "10", "123456789.123456789", "0.1e1"],
    "9" * 400,
]
NO_NUMBERS = ["+7", "07", "-07", ".5", "-.5", "5.", "5.e3", "-", "", "1_0", "0x1", "1e", "Infinity", "--1", "1.5.2"]


@pytest.mark.parametrize("number", [*NUMBERS, "9" * 400, *NO_NUMBERS])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_numbers_equal_the_numbers_of_json(number: str, index: int) -> None:
    lines = [LINE.format(1, f"a.e{row}", row + 0.25).encode() for row in range(3)]
    lines[index] = LINE.format(1, "x", number).encode()
    data = b"".join(lines)
    try:
        scores = [float(json.loads(line)["score"]) for line in lines]
    except (ValueError, OverflowError):
        scores = None
    scores = scores if scores and all(map(math.isfinite, scores)) else None
    table = columns_of(data, {"topic": "1", "docno": "x", "score": 1})
    assert (table and table.array("score").tolist()) == scores
    if table:
        assert table["score"] == [json.loads(line)["score"] for line in lines]
        assert table["docno"] == [json.loads(line)["docno"] for line in lines]


@pytest.mark.parametrize(
    "line",
    [
        '{"topic":"1","docno":"q b, {c}: 2","score":2}',
        '{ "topic" : "1" , "docno" : "q" , "score" : 2 }',
        '{"score": 2, "docno": "q", "topic": "1"}',
        '{"topic": "1", "docno": "' + "é" * 40 + '", "text": "wet: dry, {1}", "rank": 3, "score": 2.5, "tag": "bm25"}',
    ],
)
def test_lines_in_one_notation_become_columns(line: str) -> None:
    variant = line.replace("1", "22").replace("q", "bcdef").replace("é", "è").replace("wet", "wetter" * 20)
    data = "\n".join([line, variant, line]).encode()
    table = columns_of(data, json.loads(line))
    assert table is not None
    assert table.columns == list(json.loads(line))
    for name in table.columns:
        assert table[name] == [json.loads(row)[name] for row in data.decode().split("\n")]
        assert table.head(2)[name] == table[name][:2]


def test_plain_lines_are_read_by_columns() -> None:
    first = json.loads(GOOD.split("\n")[0])
    table = columns_of(GOOD.encode(), first)
    assert table is not None
    values = [[*table[name]] for name in ("docno", "score")]
    assert (table.columns, values) == (["topic", "docno", "score"], [[*"acb"], [1, 0.5, 2]])
    assert columns_of(LINES["two on a line and a blank one"].encode(), first) is None


def test_short_texts_are_recognized_without_examining_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST", 20)
    short = b'{"1": {"a": 1, "b": 2, "c": 3}}'
    assert documents._has_short_texts(short)
    assert not documents._has_short_texts(short.replace(b'"b"', b'"\\""'))
    for length in (18, 25, 40):
        data = short.replace(b'"b"', b'"' + b"b" * length + b'"')
        assert documents._has_short_texts(data) <= (length <= 20)
