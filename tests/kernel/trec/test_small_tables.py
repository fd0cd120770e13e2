"""Small tables are read equally: weights, gains, costs, probabilities, saved scores and others."""

import bz2
import gzip
import io
import re
import sys
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gradedeval
from gradedeval.analysis.saved_scores import read_saved
from gradedeval.analysis.standardize import Reference
from gradedeval.errors import InputError
from gradedeval.interop.trec_eval import read_norms
from gradedeval.kernel.measures.cwl_family.user_defined import read_chances
from gradedeval.kernel.measures.parameters import read_gains
from gradedeval.kernel.measures.parameters import read_utilities as read_utility
from gradedeval.kernel.measures.weighting_models import read_weights
from gradedeval.kernel.options.metadata import read_costs, read_queries, read_slices, slices_of
from gradedeval.kernel.scoring.intents import read_prior
from gradedeval.kernel.trec.small_tables import SmallTable
from gradedeval.questions.fit import read_vector
from support import fake_ir_datasets
from support.broken import matches
from support.commands import Command


@dataclass(frozen=True)
class Reader:
    """A reader of small tables: its function, and good rows, the first of them the header."""

    name: str
    read: Callable[[str], Any]
    rows: tuple[str, ...]
    ranked: bool = False
    headed: bool = False
    code: int = 1

    def __str__(self) -> str:
        return self.name


READERS = [
    Reader("costs", lambda path: read_costs(path).of, ("type cost", "video 30", "page 1.5")),
    Reader("gains", read_gains, ("grade gain", "0 0", "1 2.5", "2 10")),
    Reader("prior", lambda path: read_prior(path).chance, ("topic subtopic probability", "1 1 .25", "1 2 .75")),
    Reader("weights", lambda path: read_weights(path).tolist(),
           ("rank weight", "1 0.5", "2 0.25", "3 .125"), True, code=2),
    Reader("chances", lambda path: {kind: c.tolist() for kind, c in read_chances(path).items()},
           ("rank type C", "1 * .5", "1 ad .9", "2 * .25"), True, code=2),
    Reader("utility", lambda path: read_utility(path).tolist(), ("rank phi", "1 1", "2 0.5", "3 .25"), True, code=2),
    Reader("vector", lambda path: read_vector(path).tolist(), ("rank weight", "1 0.5", "2 0.25", "3 .125"), True),
    Reader("saved scores", lambda path: str(read_saved(path).rows),
           ("run topic measure score", "a 1 ap 0.5", "a 2 ap 0.25"), headed=True),
    Reader("reference", lambda path: Reference.read(path).standards,
           ("measure topic mean deviation runs", "ap 1 0.5 0.1 3", "ap 2 0.25 0 3"), headed=True),
    Reader("norms", read_norms, ("topic measure mean deviation", "1 map 0.5 0.1", "2 map 0.25 0.2")),
]  # fmt: skip
every_reader = pytest.mark.parametrize("reader", READERS, ids=str)


def lines(rows: tuple[str, ...], separator: str = " ", end: str = "\n") -> str:
    return "".join(row.replace(" ", separator) + end for row in rows)


def ways(reader: Reader) -> dict[str, bytes]:
    """Return one table in many notations."""
    header, *rows = reader.rows
    plain = lines(reader.rows)
    written = {
        "blanks": plain,
        "blanks around": "".join(f"  {row.replace(' ', '   ')}  \n" for row in reader.rows),
        "tabs": lines(reader.rows, "\t"),
        "commas": lines(reader.rows, ","),
        "carriage returns": lines(reader.rows, ",", "\r\n"),
        "no newline at the end": plain.rstrip("\n"),
        "a byte order mark": "\ufeff" + lines(reader.rows, "\t"),
        "comments": "# by hand, for 3 measures\n" + lines((header, "# one", *rows, "#"), ","),
        "blank lines": "\n" + lines((header, "", "", *rows, ""), "\t"),
        "quotes": lines((header, *('"' + row.replace(" ", '" "') + '"' for row in rows)), ","),
    }
    if not reader.headed:
        written["no header"] = lines(tuple(rows))
        written["no header, a byte order mark"] = "\ufeff" + lines(tuple(rows), ",")
    if reader.ranked:
        written["ranks out of order"] = lines((header, *reversed(rows)), ",")
        written["ranks out of order, no header"] = lines(tuple(reversed(rows)), "\t")
        written["ranks with a fraction of 0"] = plain.replace("\n2 ", "\n2.0 ")
    encoded = {name: text.encode() for name, text in written.items()}
    return encoded | {"gz": gzip.compress(plain.encode()), "bz2": bz2.compress(lines(reader.rows, ",").encode())}


@every_reader
def test_a_table_is_equal_in_every_notation(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(lines(reader.rows).encode())
    expected = reader.read(str(path))
    assert len(expected)
    for name, content in ways(reader).items():
        path.write_bytes(content)
        assert reader.read(str(path)) == expected, name


@every_reader
def test_a_bad_line_is_named(reader: Reader, tmp_path: Path) -> None:
    last = reader.rows[-1].split()
    bad = {
        "a short row": (last[0], "field"),
        "a long row": (" ".join([*last, "1", "1"]), "field"),
        "a word for a number": (" ".join([*last[:-1], "high"]), "'high' is not a number"),
    }
    for name, (row, says) in bad.items():
        path = tmp_path / "table"
        path.write_text(lines((*reader.rows[:-1], row)))
        with pytest.raises(InputError) as raised:
            reader.read(str(path))
        error = raised.value
        assert (error.place, error.exit_code) == (f"{path}:{len(reader.rows)}", reader.code), name
        assert says in error.problem, name
        assert error.hint, name


@every_reader
def test_a_repeated_row_is_a_duplicate_with_both_lines(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(lines((*reader.rows, reader.rows[1])))
    with pytest.raises(InputError, match=r"duplicate .*\(first on line 2\)") as raised:
        reader.read(str(path))
    assert raised.value.place == f"{path}:{len(reader.rows) + 1}"


@every_reader
def test_a_file_without_rows_or_that_cannot_be_read_is_an_error(reader: Reader, tmp_path: Path) -> None:
    for name, content in {
        "empty": b"",
        "blank": b"\n \n",
        "a comment": b"# nothing\n",
        "broken": b"\x1f\x8bnothing",
        "UTF-16": lines(reader.rows).encode("utf-16"),
    }.items():
        (tmp_path / "table").write_bytes(content)
        with pytest.raises(InputError) as raised:
            reader.read(str(tmp_path / "table"))
        assert raised.value.exit_code == reader.code, name
    with pytest.raises(InputError, match="no such file") as raised:
        reader.read(str(tmp_path / "none"))
    assert raised.value.exit_code == reader.code


BROKEN = [
    ("weights", "", "is empty; expected lines of rank,weight"),
    ("weights", "rank,weight\n", "is empty; expected lines of rank,weight"),
    ("weights", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1, in any order"),
    ("weights", "0,0.5\n", "1: rank 0 is out of range; expected a number of 1 or more"),
    ("weights", "1,0.5\n1.5,0.5\n", "2: rank 1.5 is not a whole number; ranks are 1, 2, 3, …"),
    ("weights", "1,0.5\n2,-0.1\n", "2: weight -0.1 is out of range; expected a number of 0 or more"),
    ("weights", "1,0.5,0.1\n", "1: 3 fields, expected 2 (rank, weight)"),
    ("weights", "1,0.9\n2,0.2\n", "the weights sum to 1.1; they must sum to 1, or less if the list was cut"),
    ("weights", "1,inf\n", "1: weight 'inf' is not a number"),
    ("vector", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1, in any order"),
    ("vector", "1,-1\n", "1: weight -1 is out of range; expected a number of 0 or more"),
    ("chances", "", "is empty; expected lines of rank,C"),
    ("chances", "1,0.5\n3,0.5\n", "rank 2 is missing; list every rank from 1"),
    ("chances", "1,1.5\n", "1: C 1.5 is out of range; expected a number from 0 to 1"),
    ("chances", "1,x,0.5\n", "no C for the type *"),
    ("chances", "1,0.5\n2,1\n", "the last continuation probability is 1, so users never stop; end with"),
    ("chances", "rank,C\nrank,C\n", "2: rank 'rank' is not a number"),
    ("chances", "1,a,b,0.5\n", "1: 4 fields, expected 2 (rank, C) or 3 (rank, type, C)"),
    ("prior", "1 1 .5\n1 2 x\n", "2: probability 'x' is not a number; expected a finite decimal such as 12.5"),
    ("prior", "1 1 -.5\n", "1: probability -.5 is out of range; expected a number from 0 to 1"),
    ("prior", "1 1 .5\n1 1 .5\n", "2: duplicate subtopic '1' of topic '1' (first on line 1); list each once"),
    ("prior", "1 1 .5\n1 2 .3\n1 3 .1\n", "3: the probabilities of topic 1 sum to 0.9; they must sum to 1"),
    ("prior", "1 1\n", "1: 2 fields, expected 3 (topic, subtopic, probability); expected lines of 'topic subtopic"),
    ("prior", "", "is empty; expected lines of 'topic subtopic probability'"),
    ("costs", "page -1\n", "1: cost -1 is not above 0; costs must be positive"),
    *(("costs", f"page {cost}\n", f"1: cost '{cost}' is not a number") for cost in ("inf", "nan", "1_0")),
]


@pytest.mark.parametrize(("name", "content", "says"), BROKEN)
def test_problems_of_a_table_are_reported(name: str, content: str, says: str, tmp_path: Path) -> None:
    (path := tmp_path / "table").write_text(content)
    (reader,) = (candidate for candidate in READERS if candidate.name == name)
    with pytest.raises(InputError) as raised:
        reader.read(str(path))
    assert re.sub(r"^: ?", "", str(raised.value).removeprefix(str(path))).startswith(says)
    assert raised.value.exit_code == reader.code


def test_a_weights_file_counts_the_same_for_a_measure_and_for_a_fit(tmp_path: Path) -> None:
    weights = tmp_path / "w.tsv"
    weights.write_bytes("\ufeff# by rank\r\n2\t0.25\r\n1\t0.5\r\n\r\n3\t0.125\r\n".encode())
    assert read_weights(str(weights)).tolist() == read_vector(weights).tolist() == [0.5, 0.25, 0.125]
    qrels, run = io.StringIO("1 0 a 1\n1 0 b 1\n"), io.StringIO("1 Q0 x 1 3 t\n1 Q0 a 2 2 t\n1 Q0 b 3 1 t\n")
    scores = gradedeval.evaluate(run, qrels, f"wp(file='{weights}')")
    assert list(scores.means.values()) == [0.375]
    fitted = gradedeval.fit_weights(weights, "rbp(p=0.45..0.55)").frame
    assert fitted.equals(gradedeval.fit_weights(np.array([0.5, 0.25, 0.125]), "rbp(p=0.45..0.55)").frame)


def test_a_run_may_be_called_after_a_comment_in_saved_scores(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("# saved\nrun,topic,measure,score\n#a.run,1,ap,0.5\n# the end\n")
    assert [row.run for row in read_saved(str(tmp_path / "s.csv")).rows] == ["#a.run"]


def test_saved_scores_are_read_as_csv_with_quotes(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text('topic,run,measure,score,more\n1,"a, b","cwl(C=""0.5"")",0.5,\n')
    (row,) = read_saved(str(tmp_path / "s.csv")).rows
    assert (row.run, row.topic, row.measure) == ("a, b", "1", 'cwl(C="0.5")')


def test_ids_keep_bytes_that_are_not_utf8_and_blanks_that_are_not_ascii(tmp_path: Path) -> None:
    (tmp_path / "costs").write_bytes(b"caf\xe9 2\nno\xc2\xa0break 3\n")
    assert read_costs(tmp_path / "costs").of == {b"caf\xe9": 2, b"no\xc2\xa0break": 3}


def test_a_measure_does_not_take_its_file_from_standard_input() -> None:
    with pytest.raises(InputError, match="cannot be standard input"):
        read_weights("-")


def test_small_tables_are_read(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a,b\n1,2\n")
    table = SmallTable.read(tmp_path / "t", ("a", "b"), hint="")
    assert [(row.line, row.cells) for row in table.rows] == [(2, {"a": "1", "b": "2"})]
    with pytest.raises(InputError, match="t:1: no column 'c'; as in c"):
        SmallTable.headed(tmp_path / "t", ("a", "c"), "as in c")


@pytest.mark.parametrize(
    ("content", "line"), [('type,"\na,1.5\n', 1), ('a,1.5\n"\n', 2), ('a,1.5\n"b,2\n', 2), ('a,1\n"b,2\nc",3\n', 2)]
)
def test_an_unclosed_quote_is_an_error_at_its_line(content: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text(content)
    with pytest.raises(InputError, match=rf"costs.csv:{line}: a quote is not closed on this line; close it, or "):
        read_costs(str(tmp_path / "costs.csv"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"1\t\t\n", "3 fields, expected 1 (phi) or 2 (rank, phi)"),  # a cell is missing, not a table of one column
        (b"1\n1\x0b0.5\n", "phi '1\x0b0.5' is not a number"),  # a control character is not a separator
        (b"\x0c\n1,0.5\n", "phi '1,0.5' is not a number"),  # and is not blank: the first line sets the separator
    ],
)
def test_outer_separators_do_not_change_columns(content: bytes, problem: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_utility(str(tmp_path / "table"))
    assert caught.value.problem == problem


# Texts and labels of topics from all kinds of files and objects.

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


def test_queries_are_read_from_parquet(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("content", OBJECTS, ids=lambda one: type(one).__name__)
def test_objects_of_python(content: Any) -> None:
    assert read_queries(content).texts == TEXTS


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = types.SimpleNamespace(
        queries_iter=lambda: iter([Row("1", "length of the Nile"), Row("2", "dams, and fish")])
    )
    monkeypatch.setitem(
        sys.modules, "ir_datasets", types.SimpleNamespace(load=lambda name: dataset, util=fake_ir_datasets)
    )
    assert read_queries("ir_datasets:any").texts == TEXTS


BROKEN_TOPICS = {
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


@pytest.mark.parametrize("content", BROKEN_TOPICS)
def test_problems_have_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(content)
    with pytest.raises(InputError) as raised:
        read_queries(str(tmp_path / "q"))
    assert str(raised.value).startswith(str(tmp_path / "q"))
    assert "\n" not in str(raised.value)
    assert BROKEN_TOPICS[content] in str(raised.value)


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
