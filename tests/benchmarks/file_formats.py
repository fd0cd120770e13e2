"""A run and qrels of a million lines in every format, as whole processes, in turn: processor seconds beside TREC.

python tests/benchmarks/file_formats.py --folder /tmp/formats --rounds 5 --write

With --write the figures go into file_formats.tsv, which docs/reference/file-formats.md shows.
"""

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
FIGURES = Path(__file__).with_suffix(".tsv")
TOPICS, DEPTH = 1000, 1000

Rows = list[tuple[str, str, int, float, int]]
"""Topic, docno, rank, score and grade."""


def rows() -> Rows:
    draw = random.Random(1)
    rows_made: Rows = []
    for topic in range(100, 100 + TOPICS):
        score = 30.0
        for rank, docno in enumerate(draw.sample(range(10**7), DEPTH), 1):
            score -= draw.random() / 50
            rows_made.append((str(topic), str(docno), rank, round(score, 6), draw.choice((0, 0, 0, 1, 2))))
    return rows_made


def lines(path: Path, header: str, line: str, rows: Rows) -> None:
    with open(path, "w") as file:
        file.write(header)
        file.writelines(line.format(*row) for row in rows)


def nested(path: Path, rows: Rows, column: int) -> None:
    topics: dict[str, dict[str, float]] = {}
    for row in rows:
        topics.setdefault(row[0], {})[row[1]] = row[column]
    path.write_text(json.dumps(topics))


def frame(rows: Rows, value: str) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "rank", "score", "relevance"])
    return table[["query_id", "doc_id", value]]


@dataclass(frozen=True)
class Kind:
    """Files that are timed.

    format   as the signature calls it
    holds    run or qrels
    write    writes one of a million lines
    what     what sets it apart from others of its format
    words    options that it needs
    """

    format: str
    holds: str
    write: Callable[[Path, Rows], object]
    what: str = ""
    words: tuple[str, ...] = ()


def text(line: str, header: str = "") -> Callable[[Path, Rows], object]:
    return lambda path, made: lines(path, header, line + "\n", made)


TREC_RUN, TREC_QRELS = text("{0} Q0 {1} {2} {3} bm25"), text("{0} 0 {1} {4}")
KINDS = [
    Kind("trec", "run", TREC_RUN),
    Kind("trec+header", "run", text("{0} Q0 {1} {2} {3} bm25", "qid Q0 docno rank score tag\n"),
         words=("--run-format", "trec+header")),
    Kind("topic,type,docno,rank,score", "run", text("{0} Q0 {1} {2} {3}"),
         words=("--run-format", "topic,q0,docno,rank,score")),
    Kind("topic,docno,score", "run", text("{0},{1},{3}"), words=("--run-format", "topic,docno,score")),
    Kind("msmarco", "run", text("{0}\t{1}\t{2}"), "ranks alone"),
    Kind("msmarco", "run", text("{0}\t{1}\t{2}\t{3}"), "with scores"),
    Kind("beir", "run", text("{0}\t{1}\t{3}", "query-id\tcorpus-id\tscore\n")),
    Kind("tsv", "run", text("{0}\t{1}\t{2}\t{3}", "qid\tdocno\trank\tscore\n")),
    Kind("csv", "run", text("{0},{1},{2},{3}", "qid,docno,rank,score\n")),
    Kind("csv", "run", text('{0},{1},{3},"wet, dry"', "qid,docno,score,query\n"), "quoted"),
    Kind("headed", "run", text("{0} {1} {2} {3}", "qid docno rank score\n")),
    Kind("json", "run", lambda path, made: nested(path, made, 3)),
    Kind("jsonl", "run", text('{{"qid": "{0}", "docno": "{1}", "score": {3}}}')),
    Kind("parquet", "run", lambda path, made: frame(made, "score").to_parquet(path)),
    Kind("arrow", "run", lambda path, made: frame(made, "score").to_feather(path)),
    Kind("trec", "qrels", TREC_QRELS),
    Kind("topic,docno,grade", "qrels", text("{0} {1} {4}")),
    Kind("beir", "qrels", text("{0}\t{1}\t{4}", "query-id\tcorpus-id\tscore\n")),
    Kind("csv", "qrels", text("{0},{1},{4}", "query,url,label\n")),
    Kind("tsv", "qrels", text("{0}\t{1}\t{4}", "query_id\tdoc_id\trelevance\n")),
    Kind("ntcir", "qrels", text("{0} {1} L{4}")),
    Kind("letor", "qrels", text("{4} qid:{0} 1:0.5 2:0.25 # {1}")),
    Kind("json", "qrels", lambda path, made: nested(path, made, 4)),
    Kind("jsonl", "qrels", text('{{"query": "{0}", "url": "{1}", "label": {4}}}')),
    Kind("parquet", "qrels", lambda path, made: frame(made, "relevance").to_parquet(path)),
    Kind("arrow", "qrels", lambda path, made: frame(made, "relevance").to_feather(path)),
]  # fmt: skip


def seconds(folder: Path, kind: Kind, path: Path) -> float:
    """Return the processor seconds of one evaluation by one process."""
    run, qrels = (path, folder / "small.qrels") if kind.holds == "run" else (folder / "small.run", path)
    words = [sys.executable, "-m", "gradedeval", str(run), str(qrels), "-m", "ndcg@10", "--jobs", "1", *kind.words]
    start = os.times()
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - start.children_user - start.children_system


def write(folder: Path, kinds: list[Kind]) -> dict[Kind, Path]:
    """Return the files of each kind, and a small one of the other kind in TREC form."""
    folder.mkdir(parents=True, exist_ok=True)
    rows_of_run = rows()
    files = {kind: folder / f"{kind.holds}-{kind.format}-{kind.what}".replace(" ", "-") for kind in kinds}
    for kind, path in files.items():
        if not path.exists():
            kind.write(path, rows_of_run)
    TREC_RUN(folder / "small.run", rows_of_run[: 50 * DEPTH])
    TREC_QRELS(folder / "small.qrels", rows_of_run[: 50 * DEPTH])
    return files


def measured(folder: Path, files: dict[Kind, Path], rounds: int) -> dict[Kind, tuple[float, float]]:
    """Return the median seconds of each kind, and the median ratio to the same file in TREC form, timed just before
    it."""
    times: dict[Kind, list[tuple[float, float]]] = {kind: [] for kind in files}
    trec = {kind.holds: kind for kind in files if kind.format == "trec"}
    for number in range(rounds + 1):
        for kind, path in files.items():
            plain = trec[kind.holds]
            plain_seconds = seconds(folder, plain, files[plain])
            now = seconds(folder, kind, path)
            if number:  # the first round warms the files
                times[kind].append((now, now / plain_seconds))
    return {
        kind: (statistics.median(each for each, _ in pairs), statistics.median(ratio for _, ratio in pairs))
        for kind, pairs in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/gradedeval-formats"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="formats that are timed beside TREC, separated by spaces")
    parser.add_argument("--write", action="store_true", help="write the figures into file_formats.tsv")
    options = parser.parse_args()
    chosen = {"trec", *(options.only or "").split()}
    files = write(options.folder, [kind for kind in KINDS if not options.only or kind.format in chosen])
    table = [("format", "holds", "what", "seconds", "ratio")]
    for kind, (median, ratio) in measured(options.folder, files, options.rounds).items():
        table.append((kind.format, kind.holds, kind.what, f"{median:.2f}", f"{ratio:.1f}"))
    csv.writer(sys.stdout, delimiter="\t", lineterminator="\n").writerows(table)
    if options.write:
        with open(FIGURES, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
