"""A bad line costs that line alone: in every format, for every defect, in runs and in qrels.

All lines count: each line of a file is scored or reported.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
import pytest

import gradedeval
from gradedeval import InputError, Qrels
from gradedeval.analysis.saved_scores import read_saved
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.run import run_of_lines
from gradedeval.kernel.rankings.submissions import Judgments, Submission
from gradedeval.kernel.trec.file_formats import DESCRIPTIONS
from gradedeval.kernel.trec.lines import FORMATS
from gradedeval.kernel.trec.shapes import SHAPE_NAMES
from gradedeval.kernel.trec.stream import Source, Stream
from support.commands import Command, rows

TOPICS, DOCUMENTS = ("1", "2", "3"), ("a", "b", "c", "d")
PAIRS = [(topic, docno) for topic in TOPICS for docno in DOCUMENTS]


@dataclass(frozen=True)
class Form:
    """A format and the notation of its lines.

    line       a line of a topic, a docno and a value: a number as text, or another text
    separated  whether tabs or commas alone separate fields, so that these may be quoted
    words      the value of --run-format or --qrels-format, if the content does not show the format
    """

    holds: str
    format: str
    line: Callable[[str, str, str], str]
    header: str = ""
    separated: bool = False
    words: str | None = None

    @property
    def name(self) -> str:
        return f"{self.holds}, {self.format}" + (" with a header" if self.words and self.header else "")

    def value(self, index: int) -> str:
        """Return the score or grade of a good line; ranks count within a topic."""
        value = str(index % len(DOCUMENTS) + 1)
        return f"L{value}" if self.format == "ntcir" else value


def joined(pattern: str) -> Callable[[str, str, str], str]:
    return lambda topic, docno, value: pattern.format(topic, docno, value)


def record(value_name: str) -> Callable[[str, str, str], str]:
    def line(topic: str, docno: str, value: str) -> str:
        names = {"qid": json.dumps(topic), "docno": json.dumps(docno), value_name: value}
        return "{" + ", ".join(f'"{name}": {of}' for name, of in names.items()) + "}"

    return line


def delimited(holds: str, format: str, columns: str, header: bool = True) -> Form:
    mark = "," if format in ("csv", "by commas") else "\t"
    pattern = mark.join("{" + {"topic": "0", "docno": "1"}.get(name, "2") + "}" for name in columns.split(","))
    names = {"topic": "query-id", "docno": "corpus-id"} if format == "beir" else {"docno": "doc_id"}
    first = mark.join(names.get(name, name) for name in columns.split(",")) if header else ""
    # Columns in order and without a header are separated by blanks, if there are any.
    return Form(holds, format, joined(pattern), first, header or mark == ",", None if header else columns)


FORMS = [
    Form("run", "trec", joined("{0} Q0 {1} 1 {2} t")),
    Form("run", "trec", joined("{0}\tQ0\t{1}\t1\t{2}\tt"), "qid q0 docno rank score tag", words="trec+header"),
    Form("run", "msmarco", joined("{0}\t{1}\t{2}"), words="msmarco"),
    delimited("run", "beir", "topic,docno,score"),
    delimited("run", "tsv", "score,docno,topic"),
    delimited("run", "csv", "docno,topic,score"),
    delimited("run", "by commas", "topic,docno,score", header=False),
    Form("run", "headed", joined("{1} {0} {2}"), "docno qid score"),
    Form("run", "jsonl", record("score")),
    Form("qrels", "trec", joined("{0} 0 {1} {2}")),
    Form("qrels", "trec", joined("{0}\t0\t{1}\t{2}"), "qid iter docno rel", words="trec+header"),
    Form("qrels", "strata", joined("{0} 0 {1} 1 {2}"), words="strata"),
    Form("qrels", "ntcir", joined("{0} {1} {2}"), words="ntcir"),
    Form("qrels", "letor", joined("{2} qid:{0} 1:0.5 # {1}")),
    delimited("qrels", "beir", "topic,docno,score"),
    delimited("qrels", "tsv", "grade,docno,topic"),
    delimited("qrels", "csv", "docno,topic,grade"),
    delimited("qrels", "by tabs", "topic,docno,grade", header=False),
    Form("qrels", "headed", joined("{1} {0} {2}"), "docno qid grade"),
    Form("qrels", "jsonl", record("grade")),
]
WHOLE = ("json", "parquet", "arrow")
"""Formats without lines: their entries and rows are counted."""


def test_every_format_of_lines_is_walked() -> None:
    for holds in ("run", "qrels"):
        assert {form.format for form in FORMS if form.holds == holds} & {*DESCRIPTIONS} == {*FORMATS[holds]} - {
            *WHOLE,
            *SHAPE_NAMES,
        }


def defective_lines(form: Form) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of a defect, a line with it and a docno of its own, and whether the line is invalid."""
    good, separated = form.value(0), form.separated
    is_json = form.format == "jsonl"
    yield "a quote that opens a docno", form.line("1", '"DOC', good), separated
    yield "a quote that opens a value", form.line("1", "DOC", '"' + good), True
    if separated:
        yield "a quote for a docno", form.line("1", '"', good), True
    yield "a quote that ends a docno", form.line("1", 'DOC"', good), False
    yield "two quotes in a docno", form.line("1", 'a"DOC"c', good), False
    yield "a quoted docno", form.line("1", '"DOC"', good), False
    yield (
        "a quote with text behind",
        form.line("1", '"DOC" y', good),
        not separated and form.format not in ("jsonl", "letor", "by tabs"),
    )
    yield "a word for a number", form.line("1", "DOC", "high"), True
    yield "nan", form.line("1", "DOC", "nan"), True
    yield "an infinite number", form.line("1", "DOC", "-inf"), True
    yield "a number that is not UTF-8", form.line("1", "DOC", "\udcff"), True
    yield "a docno that is not UTF-8", form.line("1", "DOC\udcff", good), False
    yield "a field too few", "x,1" if "," in form.line("", "", "") else "x\t1", True
    yield "one word", "x", True
    if form.format != "letor" and not is_json:
        yield "a field too many", ("0," if "," in form.line("", "", "") else "0\t") + form.line("1", "DOC", good), True
    if not is_json:
        yield "an empty docno", form.line("1", "", good), True
        yield "an empty topic", form.line("", "DOC", good), True
    else:
        yield "text for a number", form.line("1", "DOC", '"high"'), True
        yield "a record without a docno", '{"qid": "1", "score": 1, "grade": 1}', True
        yield "a number behind a record", form.line("1", "DOC", good) + " 1", True
        yield "a torn record", form.line("1", "DOC", good)[:-5], True
        yield "a name twice", form.line("1", "DOC", good)[:-1] + ', "qid": "1"}', True
        yield "a list for a docno", form.line("1", "DOC", good).replace('"DOC"', '["DOC"]'), True


CASES = [pytest.param(form, *flaw, id=f"{form.name}: {flaw[0]}") for form in FORMS for flaw in defective_lines(form)]


WORDS = ("a quote that opens a value", "a word for a number", "a number that is not UTF-8")
"""Defects that `lint` reads as words without a grade if grades may be words: one defect of the file, once."""


def write_lines(path: Path, form: Form, odd: Sequence[str], places: Sequence[int]) -> tuple[int, list[int]]:
    """Write good lines with odd ones at the places; return the number of lines and the numbers of the odd ones."""
    lines = [form.line(topic, docno, form.value(index)) for index, (topic, docno) in enumerate(PAIRS)]
    for count, (line, place) in enumerate(sorted(zip(odd, places, strict=True), key=lambda pair: -pair[1])):
        lines.insert(place, line.replace("DOC", f"x{count}"))
    first = 2 if form.header else 1
    numbers = [place + offset + first for offset, place in enumerate(sorted(places))]
    content = "\n".join([form.header, *lines] if form.header else lines) + "\n"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    return len(lines), numbers


def count_scored(form: Form, path: Path, words: str | None, **options: Any) -> tuple[int, list[str]]:
    """Return the number of scored lines of a file, and the notes."""
    if form.holds == "qrels":
        qrels = Qrels(str(path), format=words, **options)
        return sum(map(len, qrels.codes.values())), qrels.notes
    judged = Qrels({topic: {"a": 1} for topic in TOPICS})
    scores = gradedeval.evaluate(str(path), judged, "num_ret", run_format=words, **options)
    return int(sum(scores.means.values())), scores.notes


def count_listed(file: Submission) -> int:
    """Return the number of documents or judgments in a file that `lint` has read."""
    if isinstance(file, Judgments):
        return sum(map(len, file.valid.codes.values())) if file.valid else 0
    return len(file.listed)


def lint_lines(form: Form, path: Path, words: str | None) -> tuple[int, list[int]]:
    """Return the number of lines that `lint` accepts, and the numbers of the lines with errors."""
    is_run = form.holds == "run"
    file = Submission.read("FILE", str(path), words) if is_run else Judgments.of_qrels(str(path), words)
    errors = [defect.place for defect in file.defects if defect.weight == "error"]
    return count_listed(file), sorted(int(place.rpartition(":")[2]) for place in errors)


def parse_skipped(notes: Sequence[str]) -> tuple[int, int]:
    """Return the number of skipped lines in a note, and the first of them; 0 without a note."""
    matches = [match for note in notes if (match := re.search(r"FILE: skipped (\d+) bad lines?, .* line (\d+)$", note))]
    assert len(matches) <= 1
    return (int(matches[0][1]), int(matches[0][2])) if matches else (0, 0)


@pytest.mark.one_in(4)
@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize(("form", "defect", "line", "is_bad"), CASES)
def test_a_bad_line_costs_no_other_line(form: Form, defect: str, line: str, is_bad: bool, tmp_path: Path) -> None:
    path = tmp_path / "FILE"
    # A format is known by the first line, unless it is named.
    for places, words in (((5,), form.words), ((0, 5, 6, len(PAIRS)), form.words or form.format)):
        count, numbers = write_lines(path, form, [line] * len(places), places)
        bad = numbers if is_bad else []
        kept, notes = count_scored(form, path, words, lenient=True)
        assert (kept, *parse_skipped(notes)) == (count - len(bad), len(bad), bad[0] if bad else 0)
        accepted, errors = lint_lines(form, path, words)
        if defect in WORDS and form.format == "ntcir":
            assert errors == bad[:1]
        else:
            assert (accepted, errors) == (kept, bad)
        if not bad:
            assert count_scored(form, path, words)[0] == count
            continue
        with pytest.raises(InputError) as raised:
            count_scored(form, path, words)
        assert str(raised.value).startswith(f"{path}:{bad[0]}: ")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_commands_count_the_same(form: Form, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Command) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("FILE", "qrels") if form.holds == "run" else ("run", "FILE")
    words = (*files, f"--{form.holds}-format", form.words or form.format, "-m", "num_ret num_rel", "-f", "csv")
    Path("qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in TOPICS))
    Path("run").write_text("".join(f"{topic} Q0 a 1 1 t\n" for topic in TOPICS))
    bad_lines = {defect: line for defect, line, is_bad in defective_lines(form) if is_bad}
    places = (0, 5, 6, len(PAIRS))
    _, bad = write_lines(Path("FILE"), form, [bad_lines["a word for a number"]] * len(places), places)
    refused = cli(*words)
    assert refused.code == 1
    assert refused.messages[0].startswith(f"FILE:{bad[0]}: ")
    places = tuple(5 * number % len(PAIRS) for number in range(len(bad_lines)))
    count, bad = write_lines(Path("FILE"), form, [*bad_lines.values()], places)
    lenient = cli(*words, "--lenient")
    assert lenient.code == 0
    assert parse_skipped(lenient.messages) == (len(bad), bad[0])
    measure = "num_ret" if form.holds == "run" else "num_rel"
    kept = next(row["score"] for row in rows(lenient.text) if row["measure"] == measure)
    assert int(kept) == count - len(bad)


# Files that are read whole ---------------------------------------------------------------------------------------

ENTRIES = {
    "no docno": ("1", "", 1.0),
    "no topic": ("", "x", 1.0),
    "a missing docno": ("1", None, 1.0),
    "a missing topic": (None, "x", 1.0),
    "a missing number": ("1", "x", None),
    "nan": ("1", "x", math.nan),
    "an infinite number": ("1", "x", math.inf),
    "a word for a number": ("1", "x", "high"),
}


def write_table(format: str, path: Path, rows: list[tuple[Any, ...]], value: str) -> bool:
    """Write rows in a format; return False if it cannot hold them."""
    records = [dict(zip(("qid", "docno", value), row, strict=True)) for row in rows]
    if format in ("parquet", "arrow"):
        frame = pd.DataFrame(records)
        if any(isinstance(row[2], str) for row in rows):
            frame[value] = frame[value].astype(str)
        (frame.to_parquet if format == "parquet" else frame.to_feather)(path)
    elif format == "json, nested":
        nested: dict[Any, dict[Any, Any]] = {}
        for topic, docno, number in rows:
            nested.setdefault(topic, {})[docno] = number
        path.write_text(json.dumps(nested))
        return not any(name is None for row in rows for name in row[:2])  # JSON has text alone for names
    else:
        path.write_text(json.dumps(records))
    return True


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("defect", ENTRIES)
@pytest.mark.parametrize("format", ["json", "json, nested", "parquet", "arrow"])
@pytest.mark.parametrize("holds", ["run", "qrels"])
def test_a_bad_entry_costs_no_other_entry(holds: str, format: str, defect: str, tmp_path: Path) -> None:
    if format in ("parquet", "arrow"):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path, form = tmp_path / "FILE", Form(holds, format, joined(""))
    good: list[tuple[Any, ...]] = [(topic, docno, 1.0) for topic, docno in PAIRS]
    if not write_table(format, path, [*good[:5], ENTRIES[defect], *good[5:]], "score" if holds == "run" else "grade"):
        return
    kept, notes = count_scored(form, path, None, lenient=True)
    matching = [note for note in notes if "skipped" in note]
    assert (kept, len(matching)) == (len(good), 1)
    assert re.match(r".*FILE: skipped 1 bad (row|record|entry), the first on .*(6|'.*')$", matching[0])
    with pytest.raises(InputError) as raised:
        count_scored(form, path, None)
    assert str(raised.value).startswith(str(path))
    file = Judgments.of_qrels(str(path)) if holds == "qrels" else Submission.read("FILE", str(path))
    assert file.count("error") == 1
    assert count_listed(file) == kept


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")
@pytest.mark.parametrize("holds", ["run", "qrels"])
@pytest.mark.parametrize(
    ("content", "kept", "says"),
    [
        ({"1": [["a", 2], [None, 1], ["", 1], ["b", 1]]}, 2, "skipped 2 bad entries, the first on topic '1'"),
        (
            {"1": {"a": 2, "d": "x", "b": 1}, "2": {"c": None}, "3": 3},
            2,
            "skipped 3 bad entries, the first on topic '3'",
        ),
    ],
)
def test_bad_entries_are_skipped(content: dict[str, Any], kept: int, says: str, holds: str, tmp_path: Path) -> None:
    (tmp_path / "FILE").write_text(json.dumps(content))
    count, notes = count_scored(Form(holds, "json", joined("")), tmp_path / "FILE", None, lenient=True)
    texts = [note.partition("FILE: ")[2] for note in notes]
    assert (count, [text for text in texts if text.startswith("skipped")]) == (kept, [says])


# Quotes ---------------------------------------------------------------------------------------------

OPEN = 'a quote is not closed on this line; close it, or write """abc" for "abc'


def test_an_open_quote_in_a_table_costs_no_other_line(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text('query-id\tcorpus-id\tscore\n1\t"abc\t1\n1\td"\t2\n1\te\t1\n')
    (tmp_path / "fill.csv").write_text('1,"b,0.5\n1,b",0.7\n')
    (tmp_path / "run.csv").write_text('qid,docno,score,query\n1,a,2,"two\nlines"\n1,b,1,one\n')
    judged, run = Qrels({"1": {"a": 1}}), {"1": {"a": 1.0}}
    for name, line, function in (
        ("qrels.tsv", 2, lambda path: Qrels(path)),
        ("fill.csv", 1, lambda path: gradedeval.evaluate(run, judged, "ap", fill=path)),
        ("run.csv", 2, lambda path: gradedeval.evaluate(path, judged, "ap")),
    ):
        with pytest.raises(InputError) as raised:
            function(str(tmp_path / name))
        assert str(raised.value).startswith(f"{tmp_path / name}:{line}: {OPEN}")


@pytest.mark.parametrize("mark", [",", "\t"], ids=["commas", "tabs"])
def test_quoted_fields_equal_the_fields_of_csv(mark: str, tmp_path: Path) -> None:
    fields = ['"a"', '"b" x', 'c"d', '"e""f"', f'"g{mark}h"', '"""i"', "j"]
    text = "".join(mark.join(["1", field, "1", '"weird" al', "\n"]) for field in fields)
    expected = [row[1] for row in csv.reader(io.StringIO(text), delimiter=mark)]
    (tmp_path / "FILE").write_text(mark.join(["qid", "docno", "grade", "query", "more\n"]) + text)
    assert list(Qrels(str(tmp_path / "FILE")).codes[b"1"]) == [name.encode() for name in expected]


def test_lines_with_open_quotes_are_each_read_once(tmp_path: Path) -> None:
    """Check lines each of which would close an open quote and open another, to the end of the file."""
    count = 20_000
    (tmp_path / "FILE").write_text("qid,docno,grade,more\n" + '1,a,1,x"y,"z\n' * count + "1,b,1,x\n")
    begin = process_time()
    qrels = Qrels(str(tmp_path / "FILE"), lenient=True)
    assert process_time() - begin < 5
    assert qrels.notes[-1] == f"{tmp_path / 'FILE'}: skipped {count} bad lines, the first on line 2"
    assert list(qrels.codes[b"1"]) == [b"b"]


def test_saved_scores_may_have_line_breaks_in_quotes(tmp_path: Path) -> None:
    run, judged = {"1": {"a": 1.0}, "2\nx": {"a": 1.0}}, {"1": {"a": 1}, "2\nx": {"a": 1}}
    (tmp_path / "s.csv").write_text(gradedeval.evaluate({"my\nrun": run}, judged, "ap").frame.to_csv(index=False))
    assert [(row.run, row.topic) for row in read_saved(tmp_path / "s.csv").rows] == [
        ("my\nrun", "1"),
        ("my\nrun", "2\nx"),
    ]
    (tmp_path / "open.csv").write_text('run,topic,measure,score\na,1,ap,0.5\n"b,1,ap,0.5\nc,1,ap,0.5\n')
    with pytest.raises(InputError, match=r"open.csv:3: a quote is not closed; close it"):
        read_saved(tmp_path / "open.csv")


# Tags with spaces: fields beyond the sixth belong to the tag, unless other fields are shifted.

TAGGED = {"1": {"a": 1, "c": 2}}


@pytest.mark.parametrize("tag", ["my run", "bm25 k1 = 0.9", "run 2", "x 1 2 3", "a\tb"])
def test_a_tag_may_have_spaces(tag: str, tmp_path: Path) -> None:
    path, plain = tmp_path / "run", tmp_path / "plain"
    path.write_text(f"1 Q0 a 1 3 {tag}\n1 Q0 x 2 2.5 one\n1 Q0 c 3 2 {tag}\n")
    plain.write_text("1 Q0 a 1 3 x\n1 Q0 x 2 2.5 x\n1 Q0 c 3 2 x\n")
    for options in ({}, {"ties": "rank"}, {"order": "rank"}, {"order": "file"}):
        scores = gradedeval.evaluate(path, TAGGED, "ndcg err num_ret", **options)
        assert scores.means == gradedeval.evaluate(plain, TAGGED, "ndcg err num_ret", **options).means
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
        gradedeval.evaluate(tmp_path / "run", TAGGED, "ap")


def test_qrels_take_no_more_fields_than_they_have(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1 x\n")
    with pytest.raises(InputError, match="qrels:1: 5 fields, expected 4"):
        gradedeval.Qrels(tmp_path / "qrels")


def test_a_tag_with_spaces_names_a_run_and_passes_lint(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 a 1 3 my run\n")
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    assert "my run" in cli("run", "qrels", "-m", "ap", "--run-name", "tag", "-f", "csv").text
    assert cli("lint", "run", "qrels").code == 0
