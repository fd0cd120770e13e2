"""A run and qrels in every format that is read, and files that are wrong: for tests, and for the page about them."""

import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

RUN = [("51", "d7", 1, 12.5), ("51", "d2", 2, 11.25), ("51", "d9", 3, 7.0), ("52", "d3", 1, 0.5), ("52", "d7", 2, 0.25)]
QRELS = [("51", "d7", 1), ("51", "d2", 0), ("51", "d4", 2), ("51", "d9", 2), ("52", "d7", 1), ("52", "d3", 0)]
"""In no order that ranks could have."""

TREC_RUN = "".join(f"{topic} Q0 {docno} {rank} {score} bm25\n" for topic, docno, rank, score in RUN)
TREC_QRELS = "".join(f"{topic} 0 {docno} {grade}\n" for topic, docno, grade in QRELS)


def files_with(holds: str) -> tuple[str, str]:
    """Return the arguments of an evaluation, of which FILE is in question."""
    return ("FILE", "trec.qrels") if holds == "run" else ("trec.run", "FILE")


@dataclass(frozen=True)
class Sample:
    """A file in a format.

    format   what the signature says
    holds    run or qrels
    by       who writes such files
    make     makes it
    words    options that it needs
    note     what is said of it on standard error
    needs    the package of its tool, where the plain test command installs more than other test runs do
    """

    format: str
    holds: str
    by: str
    make: Callable[[Path], object]
    words: tuple[str, ...] = ()
    note: str = ""
    needs: str = ""

    @property
    def files(self) -> tuple[str, str]:
        return files_with(self.holds)

    def write(self, path: Path) -> None:
        """Write the file, or skip the test if its tool is not installed."""
        if self.needs:
            pytest.importorskip(self.needs, reason=f"{self.needs} is not installed")
        self.make(path)

    @property
    def name(self) -> str:
        return f"{self.holds}, {self.format}, {self.by}"


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content.encode())


def lines(rows: list[tuple[object, ...]], separator: str, header: str = "") -> Callable[[Path], object]:
    body = "".join(separator.join(map(str, row)) + "\n" for row in rows)
    return text((header + "\n" if header else "") + body)


def run_frame(*names: str) -> pd.DataFrame:
    return pd.DataFrame(RUN, columns=["qid", "docno", "rank", "score"]).rename(
        columns=dict(zip(["qid", "docno", "rank", "score"], names, strict=False))
    )


def qrels_frame(*names: str) -> pd.DataFrame:
    return pd.DataFrame(QRELS, columns=list(names))


def nested(rows: list[tuple[object, ...]]) -> dict[str, dict[str, object]]:
    topics: dict[str, dict[str, object]] = {}
    for topic, docno, *_, value in rows:
        topics.setdefault(str(topic), {})[str(docno)] = value
    return topics


def pyterrier() -> pd.DataFrame:
    """Write a frame of a transformer, with a query text that has commas and quotes."""
    frame = run_frame()
    frame.insert(1, "docid", range(len(frame)))
    return frame.assign(query='rivers, "dry" and wet')


def arrow_stream(path: Path) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(run_frame(), preserve_index=False)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def polars(*columns: str) -> Any:
    """Return the run as polars has it, or the qrels, if their columns are named."""
    import polars as pl

    return pl.DataFrame(QRELS if columns else RUN, schema=columns or ("qid", "docno", "rank", "score"), orient="row")


def parquet_with_docnos_twice(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    columns = list(zip(*PAIRS, strict=True))
    names = ["topic", "docno", "docno", "score"]
    pyarrow.parquet.write_table(pa.Table.from_arrays([pa.array(columns[index]) for index in (0, 1, 1, 2)], names), path)


def pyarrow_csv(path: Path) -> None:
    """Write CSV with quotes around all text, as by default."""
    import pyarrow as pa
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.Table.from_pandas(run_frame(), preserve_index=False), str(path))


def ranx_parquet(path: Path) -> None:
    qrels_frame("q_id", "doc_id", "score").to_parquet(path, index=False)


def packed(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, TREC_RUN)


def tar(path: Path) -> None:
    """Write a compressed tar archive whose first line could be one of qrels."""
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("51 0 d7 1\n")
        entry.size = len(TREC_QRELS)
        archive.addfile(entry, io.BytesIO(TREC_QRELS.encode()))


IGNORED = "ignored columns: "
RANKS = "has no scores; its documents are ordered by rank"
PAIRS = [(topic, docno, score) for topic, docno, _, score in RUN]
RECORDS = [{"qid": topic, "docno": docno, "score": score} for topic, docno, _, score in RUN]
LABELLED = [{"query": topic, "url": docno, "label": grade} for topic, docno, grade in QRELS]

SAMPLES = [
    Sample("trec", "run", "any system", text(TREC_RUN)),
    Sample("trec", "run", "an editor that adds a byte order mark", text("\ufeff" + TREC_RUN),
           note="starts with a byte order mark, which is skipped"),
    Sample("trec", "run", "ranx, without a last line end", text(TREC_RUN.rstrip("\n"))),
    Sample("trec+header", "run", "a script", text("qid Q0 docno rank score tag\n" + TREC_RUN),
           ("--run-format", "trec+header")),
    Sample("topic,type,docno,rank,score", "run", "a script", lines([(t, "Q0", d, r, s) for t, d, r, s in RUN], " "),
           ("--run-format", "topic,q0,docno,rank,score")),
    Sample("topic,docno,score", "run", "a script", lines(PAIRS, ","), ("--run-format", "topic,docno,score")),
    Sample("msmarco", "run", "MS MARCO baselines", lines([row[:3] for row in RUN], "\t"), note=RANKS),
    Sample("msmarco", "run", "rerankers of MS MARCO", lines(list(RUN), "\t")),
    Sample("beir", "run", "scripts for BEIR", lines(PAIRS, "\t", "query-id\tcorpus-id\tscore")),
    Sample("tsv", "run", "pandas, with the names of ir_measures",
           lambda path: run_frame("query_id", "doc_id").to_csv(path, sep="\t", index=False)),
    Sample("csv", "run", "pandas, a result of PyTerrier", lambda path: pyterrier().to_csv(path, index=False),
           note=f"{IGNORED}docid, query"),
    Sample("csv", "run", "pandas, with its index", lambda path: run_frame().to_csv(path),
           note=f"{IGNORED}unnamed"),
    Sample("tsv", "run", "pandas, with its index", lambda path: run_frame().to_csv(path, sep="\t"),
           note=f"{IGNORED}unnamed"),
    Sample("csv", "run", "a spreadsheet where commas are decimal", lines(
        [(t, d, str(s).replace(".", ",")) for t, d, s in PAIRS], ";", "Search Term;Product ID;Score"),
           note="commas in numbers are decimal: '12,5' is 12.5"),
    Sample("csv", "run", "pyarrow, write_csv", pyarrow_csv),
    Sample("csv", "run", "polars, write_csv", lambda path: polars().write_csv(path), needs="polars"),
    Sample("headed", "run", "pandas, with spaces", lambda path: run_frame().to_csv(path, sep=" ", index=False)),
    Sample("json", "run", "Python, json.dumps of a dict of dicts", text(json.dumps(nested(list(RUN))))),
    Sample("json", "run", "pandas, records", lambda path: run_frame().to_json(path, orient="records")),
    Sample("json", "run", "pandas, columns", lambda path: run_frame().to_json(path)),
    Sample("json", "run", "pandas, split", lambda path: run_frame().to_json(path, orient="split")),
    Sample("json", "run", "pandas, index", lambda path: run_frame().to_json(path, orient="index")),
    Sample("json", "run", "pandas, table", lambda path: run_frame().to_json(path, orient="table")),
    Sample("json", "run", "polars, write_json", lambda path: polars().write_json(path), needs="polars"),
    Sample("json", "run", "ranx", text(json.dumps(nested(list(RUN)), indent=2))),
    Sample("jsonl", "run", "pandas, records in lines",
           lambda path: run_frame().to_json(path, orient="records", lines=True)),
    Sample("jsonl", "run", "polars, write_ndjson", lambda path: polars().write_ndjson(path), needs="polars"),
    Sample("jsonl", "run", "ir_datasets export", text("".join(
        json.dumps({"query_id": t, "doc_id": d, "score": s}) + "\n" for t, d, s in PAIRS))),
    Sample("jsonl", "run", "a script", text("".join(json.dumps(row) + "\n" for row in RECORDS))),
    Sample("jsonl", "run", "a search service, with positions", text("".join(
        json.dumps({"query": t, "asin": d, "position": r}) + "\n" for t, d, r, _ in RUN)), note=RANKS),
    Sample("parquet", "run", "pandas", lambda path: run_frame().to_parquet(path)),
    Sample("parquet", "run", "pandas, with the names of ranx",
           lambda path: run_frame("q_id", "doc_id").drop(columns="rank").to_parquet(path)),
    Sample("parquet", "run", "polars, write_parquet", lambda path: polars().write_parquet(path), needs="polars"),
    Sample("arrow", "run", "polars, write_ipc", lambda path: polars().write_ipc(path), needs="polars"),
    Sample("arrow", "run", "pandas, Feather", lambda path: run_frame().to_feather(path)),
    Sample("arrow", "run", "pyarrow, a stream", arrow_stream),
    Sample("trec", "qrels", "any collection", text(TREC_QRELS)),
    Sample("trec", "qrels", "ranx, without a last line end", text(TREC_QRELS.rstrip("\n"))),
    Sample("topic,docno,grade", "qrels", "a script", lines(list(QRELS), " ")),
    Sample("beir", "qrels", "BEIR", lines(list(QRELS), "\t", "query-id\tcorpus-id\tscore")),
    Sample("csv", "qrels", "an annotation tool", lines(list(QRELS), ",", "query,url,label")),
    Sample("tsv", "qrels", "pandas, with the names of ir_measures",
           lambda path: qrels_frame("query_id", "doc_id", "relevance").to_csv(path, sep="\t", index=False)),
    Sample("csv", "qrels", "a spreadsheet where commas are decimal", lines(list(QRELS), ";", "keyword;sku;grade")),
    Sample("csv", "qrels", "a click model, `clicks models --write-relevance`",
           lines([(t, d, g, 10) for t, d, g in QRELS], ",", "topic,docno,gain,seen"), note=f"{IGNORED}seen"),
    Sample("ntcir", "qrels", "NTCIREVAL", lines([(t, d, f"L{g}") for t, d, g in QRELS], " ")),
    Sample("trec", "qrels", "assessors, with words", text(
        "".join(f"{t} 0 {d} {('NRel', 'Rel', 'HRel')[g]}\n" for t, d, g in QRELS)),
        ("--labels", "HRel=2,Rel=1,NRel=0")),
    Sample("letor", "qrels", "LETOR, SVMlight", text("".join(
        f"{g} qid:{t} 1:0.5 2:0.25 #docid = {d} inc = 1\n" for t, d, g in QRELS))),
    Sample("json", "qrels", "Python, json.dumps of a dict of dicts", text(json.dumps(nested(list(QRELS)), indent=1))),
    Sample("jsonl", "qrels", "an annotation tool", text("".join(json.dumps(row) + "\n" for row in LABELLED))),
    Sample("jsonl", "qrels", "ir_datasets export", text("".join(
        json.dumps({"query_id": t, "doc_id": d, "relevance": g, "iteration": "0"}) + "\n" for t, d, g in QRELS))),
    Sample("csv", "qrels", "polars, write_csv",
           lambda path: polars("query_id", "doc_id", "relevance").write_csv(path), needs="polars"),
    Sample("parquet", "qrels", "ranx", ranx_parquet),
    Sample("parquet", "qrels", "pandas, with the names of BEIR",
           lambda path: qrels_frame("query-id", "corpus-id", "score").to_parquet(path)),
    Sample("arrow", "qrels", "pandas, Feather",
           lambda path: qrels_frame("q_id", "doc_id", "score").to_feather(path)),
]  # fmt: skip


_NAMES = [(sample.format, sample.holds) for sample in SAMPLES]
KINDS = [sample for at, sample in enumerate(SAMPLES) if _NAMES.index(_NAMES[at]) == at]
"""The first file of each format of runs, and of qrels."""


def cut_short(sample: Sample, path: Path) -> None:
    """Write the file of a sample without half of its last line, or without half of its bytes, like a broken copy."""
    sample.write(path)
    content = path.read_bytes()
    if sample.format in ("parquet", "arrow", "json"):
        path.write_bytes(content[: len(content) // 2])
    else:
        *others, last = content.rstrip().split(b"\n")
        path.write_bytes(b"\n".join([*others, last[: len(last) // 2]]))


def with_a_word(sample: Sample, path: Path) -> None:
    """Write the file of a sample with a word in place of one score or grade."""
    name, value = ("score", 11.25) if sample.holds == "run" else ("grade", 0)
    if sample.format in ("parquet", "arrow"):
        frame = run_frame() if sample.holds == "run" else qrels_frame("qid", "docno", "grade")
        frame = frame.assign(**{name: frame[name].astype(object).where(frame["docno"] != "d2", "high").astype(str)})
        (frame.to_parquet if sample.format == "parquet" else frame.to_feather)(path)
        return
    sample.write(path)
    content = path.read_text()
    position = content.index("d2")
    old = {"msmarco": "2", "ntcir": "L0"}.get(sample.format, str(value))
    position = (
        content.rindex("\n", 0, position) + 1 if sample.format == "letor" else content.index(old, position + len("d2"))
    )
    word = '"high"' if sample.format in ("json", "jsonl") else "high"
    path.write_text(content[:position] + word + content[position + len(old) :])


BROKEN = {"cut short": cut_short, "with a word for a number": with_a_word}
"""Changes of a file of every format for which it is refused."""


@dataclass(frozen=True)
class Wrong:
    """A refused file, its fault and the message."""

    what: str
    holds: str
    write: Callable[[Path], object]
    says: str
    words: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, str]:
        return files_with(self.holds)


FIVE = "".join(line.rsplit(" ", 1)[0] + "\n" for line in TREC_RUN.splitlines())
LFS_POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
LFS_MESSAGE = "FILE: is a Git LFS pointer in place of the file; fetch it with git lfs pull"

WRONG = [
    Wrong("TREC without the tag", "run", text(FIVE),
          "FILE:1: 5 fields, expected 6 (topic Q0 docno rank score tag), here and on 4 more lines; add the tag, or "
          "read five columns with --run-format topic,q0,docno,rank,score"),
    Wrong("TREC with a header", "run", text("qid Q0 docno rank score tag\n" + TREC_RUN),
          "FILE:1: score 'score' is not a number; remove the line if it is a header, or skip it with --run-format "
          "trec+header"),
    Wrong("UTF-16", "run", lambda path: path.write_bytes(TREC_RUN.encode("utf-16")),
          "FILE: is UTF-16; save the file as UTF-8"),
    Wrong("topic, docno and score without a header", "run", lines(PAIRS, " "),
          "FILE: has 3 fields in a line, and the third does not count 1, 2, 3, … as the ranks of MS MARCO do; say what "
          "they are: --run-format topic,docno,score or --run-format topic,docno,rank"),
    Wrong("topic, Q0, docno and score without a header", "run", lines([(t, "Q0", d, s) for t, d, s in PAIRS], " "),
          "FILE: has 4 fields in a line; say what they are: --run-format msmarco or --run-format topic,q0,docno,score "
          "or --run-format topic,docno,score,tag"),
    Wrong("CSV without a header", "run", lines(PAIRS, ","),
          "FILE:1: 1 field, expected 6 (topic Q0 docno rank score tag), here and on 4 more lines; separate fields by "
          "spaces or tabs, or name the columns, as in --run-format topic,docno,score"),
    Wrong("CSV with a column of an unknown name", "run", lines(list(RUN), ",", "qid,docno,rank,scor"),
          "FILE: no column 'score' among qid, docno, rank, scor; did you mean 'score'?"),
    Wrong("CSV without a column of docnos", "run", lines(PAIRS, ",", "qid,hit,score"),
          "FILE: no column 'docno' among qid, hit, score; name it, as in --run-format docno=hit"),
    Wrong("CSV with the two columns that it needs only", "run", lines([(t, d) for t, d, _ in PAIRS], ",", "qid,docno"),
          "FILE: no column 'score' among qid, docno; known names: score, sim, …"),
    Wrong("CSV with two columns of one name", "run", lines(RUN, ",", "qid,docno,docno,score"),
          "FILE: has several columns 'docno'; give each column a different name"),
    Wrong("CSV with a field too few in a line", "run", text("qid,docno,score\n51,d7,2\n52,d3\n"),
          "FILE:3: 2 fields, expected 3 (topic docno score); use the fields of the first line"),
    Wrong("CSV with an empty docno", "run", text("qid,docno,score\n51,d7,2\n52,,1\n"),
          "FILE:3: no docno in this line; fill the field, or remove the line"),
    Wrong("CSV with an open quote", "run", text('qid,docno,score\n51,d7,2\n52,"d3,1\n'),
          'FILE:3: a quote is not closed on this line; close it, or write """abc" for "abc'),
    Wrong("JSON that ends early", "run", text('{"51": {"d7": 12.5'),
          "FILE:1: is not valid JSON (Expecting ',' delimiter); write the file again"),
    Wrong("JSON with a number of 5,000 digits", "run", text('{"51":\n {"d7": ' + "1" * 5000 + "}}"),
          "FILE:2: is not valid JSON (a number has too many digits); write the file again"),
    Wrong("JSON with 50,000 brackets", "qrels", text("[" * 50_000 + "]" * 50_000),
          "FILE:1: is not valid JSON (nested too deeply); write the file again"),
    Wrong("JSON Lines with a grade of 5,000 digits", "qrels", text(
        '{"qid": "51", "docno": "d7", "grade": 2}\n{"qid": "52", "docno": "d3", "grade": ' + "1" * 5000 + "}\n"),
          "FILE:2: is not valid JSON (a number has too many digits); write the file again"),
    Wrong("JSON Lines with a score of 400 digits", "run", text(
        '{"qid": "51", "docno": "d7", "score": 2}\n{"qid": "52", "docno": "d3", "score": ' + "1" * 400 + "}\n"),
          f"FILE:2: score {'1' * 100}… is not a finite number; expected a number for each score"),
    Wrong("JSON with a docno twice", "run", text('{"51": {"d7": 12.5, "d7": 1}}'),
          "FILE: duplicate name 'd7' in a JSON object; give each name once"),
    Wrong("JSON of another kind", "run", text('{"version": 2, "results": []}'),
          "FILE: holds JSON in an unknown layout (object of version, results); nearest is golden, a record for each "
          "query, with the documents expected, retrieved, or both: no topic (query, question, input, user_input, "
          "query_text, search_term, search_query, keyword or id)"),
    Wrong("JSON Lines with a score that is text", "run", text(
        '{"qid": "51", "docno": "d7", "score": 2}\n{"qid": "52", "docno": "d3", "score": "high"}\n'),
          "FILE:2: score 'high' is not a finite number; expected a number for each score"),
    Wrong("Parquet that was cut", "run", lambda path: path.write_bytes(b"PAR1\x15\x04\x15"),
          "FILE: begins like a Parquet file but cannot be read as one; write the file again"),
    Wrong("Parquet with two columns of one name", "run", parquet_with_docnos_twice,
          "FILE: has several columns 'docno'; give each column a different name"),
    Wrong("CSV with a header of unknown names", "qrels", lines(list(QRELS), ",", "question_id,document,relevance"),
          "FILE: no known name for a topic and a docno in the header 'question_id,document,relevance'; say what the "
          "columns are, in order, as in --qrels-format topic,docno,grade+header"),
    Wrong("TSV with a header of unknown names", "run", lines(
        [(r, f'"{d}, x"', t, s) for t, d, r, s in RUN], "\t", "nr\tpassage\tquestion\tweight"),
          "FILE: no known name for a docno in the header 'nr\\tpassage\\tquestion\\tweight'; say what the "
          "columns are, in order, as in --run-format -,docno,topic,score+header"),
    Wrong("semicolons without a header", "run", lines(PAIRS, ";"),
          "FILE: fields are separated by ';'; say what the columns are, as in --run-format topic,docno,score"),
    Wrong("semicolons with decimal commas and points", "run", text("qid;docno;score\n51;d7;1,5\n52;d3;0.5\n"),
          "FILE:3: score '0.5' has a '.', unlike line 2; write all numbers with a decimal point, or all with a comma"),
    Wrong("semicolons with thousands", "run", text("qid;docno;score\n51;d7;1.234,5\n52;d3;5,5\n"),
          "FILE:2: score '1.234,5' is not a number; expected a finite decimal such as 12.5"),
    Wrong("bars", "qrels", lines(list(QRELS), "|"),
          r"FILE: fields are separated by '|'; separate them by tabs, as tr '|' '\t' <OLD >NEW does"),
    Wrong("topic, docno, score and tag", "run", lines([(t, d, s, "bm25") for t, d, s in PAIRS], " "),
          "FILE: has 4 fields in a line, and words such as 'bm25' in the last, as tags are; say what they are: "
          "--run-format topic,docno,score,tag or --run-format topic,docno,rank,tag"),
    Wrong("an Excel workbook", "run", lambda path: packed(path, "[Content_Types].xml"),
          "FILE: is an Excel workbook; save the table as CSV"),
    Wrong("a zip archive", "run", lambda path: packed(path, "a.run"),
          "FILE: is a zip archive; extract it, and give its files"),
    Wrong("a tar archive", "qrels", tar, "FILE: is a tar archive; extract it, and give its files"),
    Wrong("a pickle", "run", lambda path: path.write_bytes(b"\x80\x04\x95" + bytes(30)),
          "FILE: is a Python pickle, which could run code when it is read; save it as JSON, CSV or Parquet"),
    Wrong("a run of MS MARCO where qrels belong", "qrels", lines(list(RUN), "\t"),
          "FILE: looks like a run of MS MARCO, whose lines are 'qid pid rank score'; the order is RUN... QRELS: are "
          "they swapped?"),
    Wrong("qrels that count like ranks", "qrels", lines([row[:3] for row in RUN], " "),
          "FILE: has 3 fields in a line, and the third counts 1, 2, 3, … as the ranks of a run do; say what they are: "
          "--qrels-format topic,docno,grade"),
    Wrong("qrels of ir_datasets with tabs", "qrels", lines([(*row, 0) for row in QRELS], "\t"),
          "FILE: has 4 fields in a line, and '1' in the third, as grades are, and no docnos; say what they are: "
          "--qrels-format topic,docno,grade,- or --qrels-format trec"),
    Wrong("an Avro file", "run", lambda path: path.write_bytes(b"Obj\x01\x02\x16avro.schema" + bytes(30)),
          "FILE: is an Avro file; save it as Parquet or CSV"),
    Wrong("an ORC file", "qrels", lambda path: path.write_bytes(b"ORC\n\x06\x12\x04\x08" + bytes(30)),
          "FILE: is an ORC file; save it as Parquet or CSV"),
    Wrong("a NumPy array", "run", lambda path: path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + bytes(30)),
          "FILE: is a NumPy array; save a table with columns as Parquet or CSV"),
    Wrong("a Dataset of LightGBM", "qrels",
          lambda path: path.write_bytes(b"______LightGBM_Binary_File_Token______\n" + bytes(30)),
          "FILE: is a Dataset of LightGBM, which holds no docids; its arrays are for evaluate_arrays in Python"),
    Wrong("XML", "run", text('<?xml version="1.0" encoding="utf-8"?>\n<data>\n</data>\n'),
          "FILE: is XML or HTML; save the table as CSV"),
    Wrong("scores for grades", "qrels", lines(PAIRS, "\t", "qid\tdocno\tscore"),
          "FILE: 'score' holds fractions, as run scores do; if it holds grades rather than scores, name it "
          "'grade', or read it with --qrels-format topic,docno,grade+header"),
    Wrong("scores for grades in JSON Lines", "qrels", text(
        '{"qid": "51", "docno": "d7", "score": 1}\n{"qid": "51", "docno": "d2", "score": 0.5}\n'),
          "FILE:2: 'score' holds fractions, as run scores do; if it holds grades rather than scores, name it "
          "'grade'"),
    Wrong("a header in the middle of a run", "run",
          text("qid,docno,score\n51,d7,2\nqid,docno,score\n51,d2,1\n"),
          "FILE:3: is a header among the lines of data; remove the line, or skip it with --lenient"),
    Wrong("a header in the middle of qrels", "qrels",
          text("51 0 d7 2\nqid iter docno rel\n51 0 d2 1\n"),
          "FILE:2: is a header among the lines of data; remove the line, or skip it with --lenient"),
    Wrong("a docno with a space", "run", text("51 Q0 d 7 1 2 x\n"),
          "FILE:1: 7 fields, expected 6 (topic Q0 docno rank score tag); remove extra fields, or spaces inside ids; a "
          "tag with spaces must not begin with a number"),
    Wrong("a Git LFS pointer", "run", text(LFS_POINTER), LFS_MESSAGE),
    Wrong("a Git LFS pointer for qrels", "qrels", text(LFS_POINTER), LFS_MESSAGE),
    Wrong("words for grades", "qrels", text("51 0 d7 HRel\n51 0 d2 NRel\n"),
          "FILE:1: grade 'HRel' is a word; the labels found are HRel, NRel: give each a grade, as in --labels "
          "HRel=…,NRel=…"),
    Wrong("a label that --labels leaves out", "qrels", text("51 0 d7 HRel\n51 0 d2 NRel\n"),
          "FILE:1: grade 'HRel' is a word; the labels found are HRel, NRel: give each a grade, as in --labels "
          "HRel=…,NRel=0", ("--labels", "NRel=0")),
    Wrong("words beside those of NTCIR", "qrels", text("51 d7 L1\n51 d2 S\n51 d9 H+\n"),
          "FILE:2: grade 'S' is a word; the labels found are H+, L1, S: give each a grade, as in --labels "
          "H+=…,L1=1,S=…"),
    Wrong("a word among numbers", "qrels", text("51 0 d7 1\n51 0 d2 H\n"),
          "FILE:2: grade 'H' is not a number; map the word to a grade, as in --labels H=…"),
    Wrong("LETOR without docids", "qrels", text("2 qid:51 1:0.5 2:0.25\n"),
          "FILE:1: no docid after #; runs name documents by docid; rows without any are for evaluate_arrays in "
          "Python"),
]  # fmt: skip
