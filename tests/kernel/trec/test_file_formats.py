"""Score every format like its TREC form, and report its name; refuse ambiguous files."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradedeval.errors import InputError
from gradedeval.kernel.options import Options
from gradedeval.kernel.rankings.qrels import Qrels
from gradedeval.kernel.rankings.run import run_of_lines
from gradedeval.kernel.trec.blocks import format_of
from gradedeval.kernel.trec.lines import LONGEST, QRELS, RUN, LineLayout
from gradedeval.kernel.trec.stream import Source, Stream
from support.broken import matches
from support.commands import Command
from support.examples import sampled
from support.file_formats import BROKEN, KINDS, SAMPLES, TREC_QRELS, TREC_RUN, WRONG, Sample, Wrong, nested
from support.file_formats import QRELS as JUDGED
from support.file_formats import RUN as ROWS
from support.generated_docs import million_lines, time_rows
from support.runs import named, outcome, read_by_line, read_in_blocks

MARK = "starts with a byte order mark, which is skipped"
MEASURES = ("-m", "err@20 ap num_ret", "-q", "-f", "csv", "--digits", "6")


def numbers(text: str) -> list[str]:
    """Return the lines of a table of scores without their run and signature."""
    return [",".join(line.split(",")[1:4]) for line in text.splitlines() if not line.startswith("#")]


def parameters(samples: Iterable[Sample]) -> list[Any]:
    """Return the parameters of a test; samples of heavy tools are exhaustive."""
    return [
        pytest.param(sample, id=sample.name, marks=pytest.mark.exhaustive if sample.needs else ()) for sample in samples
    ]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("sample", parameters(SAMPLES))
def test_a_file_scores_as_its_trec_form_and_its_format_is_reported(sample: Sample, folder: Path, cli: Command) -> None:
    sample.write(folder / "FILE")
    plain = cli("trec.run", "trec.qrels", *MEASURES)
    scores_of_file = cli(*sample.files, *MEASURES, *sample.words)
    assert scores_of_file.code == 0, scores_of_file.messages
    assert numbers(scores_of_file.text) == numbers(plain.text)
    assert scores_of_file.messages == ([f"FILE: {sample.note}"] if sample.note else [])
    message = f" | {sample.holds} format {sample.format}"
    assert (message in scores_of_file.text) == (sample.format != "trec")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.what)
def test_a_broken_file_is_one_line(wrong: Wrong, folder: Path, cli: Command) -> None:
    wrong.write(folder / "FILE")
    refused = cli(*wrong.files, "-m", "ap", *wrong.words)
    assert refused.code in (1, 2)
    assert len(refused.messages) == 1, refused.messages
    assert matches(wrong.says, refused.messages[0]), refused.messages


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sample", KINDS, ids=lambda sample: f"{sample.holds}, {sample.format}")
@pytest.mark.parametrize("damage", BROKEN)
def test_every_format_has_one_line_for_a_broken_file(damage: str, sample: Sample, folder: Path, cli: Command) -> None:
    BROKEN[damage](sample, folder / "FILE")
    refused = cli(*sample.files, "-m", "ap", *sample.words)
    assert (refused.code, refused.text) == (1, "")
    assert len(refused.messages) == 1
    assert matches("FILE…; …", refused.messages[0]), refused.messages


def test_every_format_has_the_time_of_a_million_lines_and_tables_with_tabs_take_at_most_twice_as_long() -> None:
    times = million_lines()
    assert times.keys() == {(sample.format, sample.holds) for sample in SAMPLES}
    for kind in ("beir", "msmarco"):
        ratios = [float(row["ratio"]) for row in time_rows() if row["format"] == kind]
        assert ratios
        assert max(ratios) <= 2


# The block reader and the line reader -----------------------------------------------------------------------------


def rows_of(draw: random.Random, separator: str) -> str:
    """Return a file with a header, and with fields as tools write them: quoted, empty, with blanks in them."""
    shapes = ["qid docno rank score", "qid docno score note", "docno qid score"]
    columns = draw.choice(shapes).split()
    odd = draw.choice([0, 0, 0.05])
    lines = [separator.join(columns)]
    for topic in draw.sample(["1", "2", "t3", "51", "a b"] if odd else ["1", "2", "t3", "51"], draw.randint(1, 4)):
        for rank, docno in enumerate(draw.sample([f"doc-{i}" for i in range(60)], draw.randint(1, 30)), 1):
            values = {"qid": topic, "docno": docno, "rank": str(rank), "score": f"{20 - rank / 8:.3f}", "note": "x"}
            if draw.random() < odd:
                name = draw.choice(columns)
                values[name] = draw.choice(["", f'"{values[name]}"', f" {values[name]}", "#", f"{values[name]} z"])
            lines.append(separator.join(values[name] for name in columns))
            if draw.random() < odd:
                lines.append(draw.choice(["", "# by us", separator, "#1"]))
    return draw.choice(["", "\ufeff", "# by us\n"]) + draw.choice(["\n", "\r\n"]).join(lines) + draw.choice(["\n", ""])


@pytest.mark.parametrize("seeds", sampled([range(start, start + 20) for start in range(0, 1000, 20)], 50), ids=str)
def test_both_readers_find_the_same_in_a_separated_file(seeds: range) -> None:
    judgments = Qrels(
        {topic: {f"doc-{number}": number % 3 for number in range(0, 60, 2)} for topic in ("1", "2", "t3")}
    )
    for seed in seeds:
        draw = random.Random(seed)
        content = rows_of(draw, draw.choice("\t,")).encode()
        options = Options(lenient=draw.random() < 0.3)
        simple = outcome(partial(read_by_line, "run", content, judgments, options))
        for block in (64, 1 << 12):
            result = outcome(partial(read_in_blocks, named(content), judgments, options, block=block))
            assert result == simple, seed


@pytest.mark.parametrize(
    "line", ["1\td 1\t3\t2", '1\t"d1"\t3\t2', "1\t\td1\t2", "1\td1\t3\t2\t", "1\td1\t\t2", " \td1\t3\t2"]
)
def test_no_field_of_a_separated_line_moves_into_another_column(line: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(f"qid\tdocno\tnote\tscore\n{line}\n")
    with closing(Stream(Source(tmp_path / "run"))) as stream:
        layout = format_of(stream, "run")
        assert isinstance(layout, LineLayout)
        try:
            run = run_of_lines(stream, Options(), layout=layout)
        except InputError:
            return
    assert {
        docno: (topic, fields_read.scores[0])
        for topic, fields_read in run.topics.items()
        for docno in fields_read.docnos
    } in ({b"d1": (b"1", 2.0)}, {b"d 1": (b"1", 2.0)})


# Recognition ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("holds", "content", "format"),
    [
        ("run", b"q d 1\nq e 2\nq f 3\n", "msmarco"),
        ("run", b"r d 1\nq d 1\nq e 2\nq f 3\n", "msmarco"),
        ("run", b"q d 1 0.5\nq e 2 0.4\nq f 3 0\n", "msmarco"),
        ("run", b"q 0 d1 1\nq 0 d2 0\n", "trec"),  # qrels, as the line reader says
        ("run", b"# by us\n\nq Q0 d 1 2 t\n", "trec"),
        ("qrels", b"q 0 1 1\nq 0 2 0\n", "trec"),
        ("qrels", b"q d L1\nq e L0\n", "ntcir"),
        ("qrels", b"q 0 d L1\n", "trec"),
        ("run", b' {"q": {"d": 1}}', "json"),
        ("run", b'{"q": {' + b", ".join(b'"d%d": 1' % start for start in range(9000)) + b"}}", "json"),
        ("run", b'"qid","docno","score"\n"q","d",1\n', "csv"),
        ("run", b"Query ID\tDoc-ID\tScore\nq\td\t1\n", "tsv"),
        ("qrels", b"query-id\tcorpus-id\tscore\n", "beir"),
    ],
)
def test_formats_are_detected_from_the_content(holds: str, content: bytes, format: str) -> None:
    with closing(Stream(named(content))) as stream:
        assert format_of(stream, holds).format == format
        assert stream.peek(1 << 18) == content  # which is still to be read


@pytest.mark.parametrize(
    ("holds", "content", "says"),
    [
        ("run", b"q d 0\nq e 1\n", "has 3 fields in a line, and the third counts, but not from 1 to 3 or more as …"),
        ("run", b"q d 1\nq e 2\n", 'has 3 fields …; … run_format="topic,docno,score" or run_format="topic,docno,rank"'),
        ("run", b"q d 1 7\nr e 1 8\n", 'has 4 fields in a line; say what they are: run_format="msmarco" or …'),
        ("run", b"2 qid:3 1:0.5 # d\n", "looks like qrels of LETOR; the order is RUN... QRELS: are they swapped?"),
        ("run", b"qid,docno,rank,Similarity\nq,d,1,2\n", "has ranks but no column 'score', only 'Similarity', …"),
        ("run", b"qid docno rank x\nq d 1 5\nq e 2 0.5\n", "has ranks but no column 'score', only 'x', …"),
        ("qrels", b"q d 1\nq e 2\n", "has 3 fields in a line, and the third counts 1, 2, 3, … as the ranks of …"),
    ],
)
def test_ambiguous_files_are_refused(holds: str, content: bytes, says: str) -> None:
    with closing(Stream(named(content))) as stream, pytest.raises(InputError) as refused:
        format_of(stream, holds)
    assert matches(f"…: {says}", str(refused.value)), refused.value


def test_a_column_of_whole_numbers_next_to_the_rank_is_not_a_score(folder: Path, cli: Command) -> None:
    (folder / "a.csv").write_text("qid,docno,rank,length\n51,d7,1,3\n51,d2,2,30\n")
    assert cli("a.csv", "trec.qrels", "-m", "rr", "--topics", "both").messages[:2] == [
        "a.csv: ignored columns: length",
        "a.csv: has no scores; its documents are ordered by rank",
    ]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "sample",
    parameters(sample for sample in SAMPLES if sample.note != MARK and sample.format not in ("parquet", "arrow")),
)
def test_a_byte_order_mark_is_skipped_with_a_note(sample: Sample, folder: Path, cli: Command) -> None:
    sample.write(folder / "FILE")
    content = (folder / "FILE").read_bytes()
    (folder / "FILE").write_bytes(b"\xef\xbb\xbf" + content)
    output = cli(*sample.files, *MEASURES, *sample.words)
    assert numbers(output.text) == numbers(cli("trec.run", "trec.qrels", *MEASURES).text)
    assert output.messages[0] == f"FILE: {MARK}"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sample", parameters(sample for sample in SAMPLES if not sample.words))
def test_lint_finds_no_error_in_a_good_file(sample: Sample, folder: Path, cli: Command) -> None:
    sample.write(folder / "FILE")
    report = cli("lint", "FILE") if sample.holds == "run" else cli("lint", "trec.run", "--qrels", "FILE")
    assert report.code == 0, report.text


def test_a_header_may_be_quoted_in_a_comment(folder: Path, cli: Command) -> None:
    (folder / "run").write_text("# topic,docno,score\ntopic,docno,score\n51,d7,2\n51,d2,1\n")
    for order in ("score", "file"):
        output = cli("run", "trec.qrels", "-m", "num_ret", "--topics", "both", "--order", order, "-f", "csv")
        assert ",2" in output.text, output


def test_a_bad_record_is_named_by_its_line(folder: Path, cli: Command) -> None:
    (folder / "run").write_text(
        '{"qid": "51", "docno": "d7", "score": "2.5"}\n\n\n{"qid": "51", "docno": "d2", "score": "x"}\n'
    )
    assert matches("run:4: score 'x' is not a finite number; …", *cli("run", "trec.qrels").messages)


@pytest.mark.parametrize(
    "text",
    [
        '{"1": {"@": 1}}',
        '{"1": ["@", "b"]}',
        '[{"qid": "1", "docno": "@", "score": 1}, {"qid": "1", "docno": 7, "score": 2}]',
        '{"qid": "1", "docno": "@", "score": 1}\n{"qid": "1", "docno": "b", "score": 2}\n',
    ],
)
def test_a_docno_is_at_most_as_long_as_a_line(text: str, folder: Path, cli: Command) -> None:
    (folder / "qrels").write_text("1 0 b 1\n")
    for size, code in ((LONGEST, 0), (LONGEST + 1, 1)):
        (folder / "long.json").write_text(text.replace("@", "d" * size))
        done = cli("long.json", "qrels", "-m", "ap", "--quiet")
        assert done.code == code, done.messages
    says = "long.json: has a docno of more than 1,048,576 bytes; it may be the text of a document"
    assert done.messages == [says]
    assert cli("lint", "long.json").code == 1


@pytest.mark.parametrize("text", ['{"51": {"d7": "%s"}}', '[{"qid": "51", "docno": "d7", "label": "%s"}]'])
def test_grades_as_text_equal_grades_of_trec_files(text: str, folder: Path, cli: Command) -> None:
    (folder / "trec.run").write_text("51 Q0 d7 1 1 t\n")
    for grade, words, gain in (("2", (), 2), ("2.0", (), 2), ("2", ("--labels", "2=3"), 3), ("L1", (), 1)):
        (folder / "FILE").write_text(text % grade)
        assert f",{gain}.0" in cli("trec.run", "FILE", "-m", "dcg@1", "-f", "csv", *words).text


def test_plain_trec_is_recognized_by_its_first_bytes() -> None:
    for holds, text, layout in (("run", TREC_RUN, RUN), ("qrels", TREC_QRELS, QRELS)):
        with closing(Stream(named(text.encode()))) as stream:
            assert format_of(stream, holds) is layout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--run-format", "beer"), "--run-format: no format 'beer'; did you mean 'beir'? formats: trec, msmarco, …"),
        (("--run-format", "qid,docno,scor"), "--run-format: no column 'scor'; did you mean 'score'?"),
        (("--run-format", "qid,score"), "--run-format: no column 'docno' in 'qid,score'; as in topic,docno,score"),
        (
            ("--qrels-format", "msmarco"),
            "--qrels-format: no format 'msmarco'; msmarco is a format of runs; the formats: trec, …",
        ),
        (("--labels", "high"), "--labels: 'high' is not label=grade; as in --labels HRel=2,Rel=1,NRel=0"),
        (("--labels", "a=1,a=2"), "--labels: label 'a' is given twice; …"),
    ],
)
def test_a_wrong_name_is_reported_before_any_file_is_read(words: tuple[str, ...], says: str, cli: Command) -> None:
    refused = cli("none.run", "none.qrels", *words)
    assert refused.code == 2
    assert matches(says, *refused.messages), refused.messages


def test_a_named_format_is_the_format_read(folder: Path, cli: Command) -> None:
    refused = cli("trec.run", "trec.qrels", "--run-format", "csv")
    assert matches("trec.run: has no header with columns for csv: the first line is '51 Q0 …'; …", *refused.messages)
    topics = sorted({row[0] for row in ROWS})
    assert cli("trec.run", "trec.qrels", "--run-format", "trec", "-m", "num_q").text.count(f"{len(topics)}") >= 1


def test_options_report_a_missing_column(folder: Path, cli: Command) -> None:
    (folder / "a.tsv").write_text("qid\tdocno\tscore\n51\td7\t2\n")
    assert cli("a.tsv", "trec.qrels", "--ties", "rank").messages == [
        "a.tsv: has no ranks; --ties rank needs a column of them"
    ]
    (folder / "b").write_text("51 d7\n51 d2\n")
    words = ("b", "trec.qrels", "--run-format", "topic,docno", "-m", "rr", "--topics", "both")
    assert cli(*words).messages == ["b: has neither scores nor ranks; --order file keeps the order of its lines"]
    assert "1.0000" in cli(*words, "--order", "file").text


def test_scores_of_another_format_are_compared(folder: Path, cli: Command) -> None:
    (folder / "beir.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + TREC_QRELS.replace(" 0 ", "\t").replace(" ", "\t")
    )
    assert cli("trec.run", "trec.qrels", "-q", "-m", "ap", "-f", "csv", "-o", "saved.csv").code == 0
    done = cli("check", "trec.run", "beir.tsv", "-m", "ap", "--baseline", "saved.csv", "--max-drop", "1%")
    assert (done.code, done.messages) == (0, [])


def test_lint_names_the_format(folder: Path, cli: Command) -> None:
    (folder / "ms.tsv").write_text("".join(f"{row[0]}\t{row[1]}\t{row[2]}\n" for row in ROWS))
    (folder / "q.csv").write_text("query,url,label\n51,d7,1\n51,d7,2\n")
    text = cli("lint", "ms.tsv", "--qrels", "q.csv").text
    assert "ms.tsv (format msmarco): 0 errors" in text
    assert "  warning  has no scores; its documents are ordered by rank" in text
    assert "q.csv (format csv): 1 error" in text
    assert "  error    line 3: duplicate" in text


# Files of other tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["json", "trec", "parquet"])
def test_files_saved_by_ranx_are_read(kind: str, folder: Path, cli: Command) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    ranx.Run(nested(ROWS)).save("ranx.run", kind=kind)
    ranx.Qrels(nested(JUDGED)).save("ranx.qrels", kind=kind)
    plain, saved = cli("trec.run", "trec.qrels", *MEASURES), cli("ranx.run", "ranx.qrels", *MEASURES)
    assert sorted(numbers(saved.text)) == sorted(numbers(plain.text)), saved.messages


def test_exports_of_ir_datasets_are_read_or_refused(folder: Path, cli: Command) -> None:
    export = pytest.importorskip("ir_datasets.commands.export", reason="ir_datasets is not installed")
    formats = pytest.importorskip("ir_datasets.formats")
    rows = {
        "run": [formats.GenericScoredDoc(topic, docno, score) for topic, docno, _, score in ROWS],
        "qrels": [formats.TrecQrel(*row, "0") for row in JUDGED],
    }
    plain = cli("trec.run", "trec.qrels", *MEASURES)
    for holds, trec in (("run", export.TrecRunExporter), ("qrels", export.TrecQrelsExporter)):
        files = ("FILE", "trec.qrels") if holds == "run" else ("trec.run", "FILE")
        columns = {"run": "topic,docno,score", "qrels": "topic,docno,grade,-"}[holds]
        for exporter in (trec, export.JsonlExporter, export.TsvExporter):
            with open("FILE", "w") as file:
                writer = exporter(type(rows[holds][0]), file)
                for row in rows[holds]:
                    writer.next(row)
                writer.flush()
            words = ()
            if exporter is export.TsvExporter:
                assert matches(f"FILE: …--{holds}-format {columns}…", *cli(*files).messages)
                words = (f"--{holds}-format", columns)
            assert numbers(cli(*files, *MEASURES, *words).text) == numbers(plain.text), exporter


@pytest.mark.exhaustive
def test_files_saved_by_lightgbm_lack_docids(folder: Path, cli: Command) -> None:
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    data = lightgbm.Dataset(np.arange(400.0).reshape(200, 2), np.ones(200), group=[100, 100], params={"verbose": -1})
    data.save_binary("FILE")
    assert matches("FILE: is a Dataset of LightGBM, …evaluate_arrays in Python", *cli("trec.run", "FILE").messages)


@pytest.mark.parametrize("grade", ["1", "2"])
def test_numeric_docnos_and_subtopics_are_not_columns_of_ir_datasets(grade: str) -> None:
    for lines in (f"1 0 3 {grade}\n1 0 4 1\n", "1 1 3 1\n1 2 3 1\n1 3 3 1\n", "1 d1 300 1\n1 d2 300 1\n"):
        with closing(Stream(named(lines.encode()))) as stream:
            assert format_of(stream, "qrels").format == "trec"


@pytest.mark.parametrize(
    "content",
    [
        '{"columns": ["qid", "docno", "score", "score"], "data": [["51", "d7", 1, 2]]}',
        '{"columns": ["qid", "docno", "score"], "data": [["51", "d7"]]}',
        '{"columns": 3, "data": [4]}',
        '{"columns": [3], "data": "x"}',
    ],
)
def test_an_invalid_table_of_pandas_is_refused(content: str, folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text(content)
    refused = cli("FILE", "trec.qrels")
    assert (refused.code, len(refused.messages)) == (1, 1), refused.messages


def test_docnos_called_as_columns_are_docnos(folder: Path, cli: Command) -> None:
    (folder / "FILE").write_text('{"51": {"qid": 2, "docno": 1}}')
    assert ",2" in cli("FILE", "trec.qrels", "-m", "num_ret", "--topics", "both", "-f", "csv").text


def test_a_run_packed_with_lz4_is_read(folder: Path, cli: Command) -> None:
    frame = pytest.importorskip("lz4.frame", reason="lz4 is not installed")
    (folder / "run").write_bytes(frame.compress(TREC_RUN.encode()) + frame.compress(b"53 Q0 d1 1 1 t\n"))
    assert numbers(cli("run", "trec.qrels", *MEASURES).text) == numbers(cli("trec.run", "trec.qrels", *MEASURES).text)


def test_lz4_within_lz4_is_recognized(folder: Path, cli: Command) -> None:
    frame = pytest.importorskip("lz4.frame", reason="lz4 is not installed")
    (folder / "ranx.lz4").write_bytes(frame.compress(frame.compress(b"\xa1")))
    message = "ranx.lz4: is compressed with lz4 twice, as ranx packs CBOR; save it from ranx as JSON or Parquet"
    assert cli("ranx.lz4", "trec.qrels").messages == [message]


def test_an_lz4_file_is_recognized(folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lz4", None)
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    (folder / "run.lz4").write_bytes(b"\x04\x22\x4d\x18" + bytes(20))
    assert cli("run.lz4", "trec.qrels").messages == ["run.lz4: is compressed with lz4; pip install lz4"]


@pytest.mark.exhaustive
def test_dumps_of_scikit_learn_lack_docids(folder: Path, cli: Command) -> None:
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    datasets.dump_svmlight_file([[0.5, 1.0], [0.25, 0.0]], [2, 0], "train.svm", query_id=[51, 51], comment="of a test")
    refused = cli("trec.run", "train.svm")
    assert matches("train.svm:…: no docid after #; …evaluate_arrays in Python", *refused.messages), refused.messages


@pytest.mark.parametrize("package", ["pyarrow", "ir_datasets"])
def test_a_missing_package_is_named_with_its_cure(
    package: str, folder: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (folder / "q.parquet").write_bytes(b"PAR1")
    qrels, cure = {
        "pyarrow": ("q.parquet", "is a Parquet file; pip install 'gradedeval[parquet]'"),
        "ir_datasets": ("ir_datasets:vaswani", "needs the package ir_datasets; pip install 'gradedeval[collections]'"),
    }[package]
    assert cli("trec.run", qrels).messages == [f"{qrels}: {cure}"]
