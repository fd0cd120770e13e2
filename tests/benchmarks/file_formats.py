"""A run and qrels of a million lines in every format, as whole processes, in turn: processor seconds beside TREC.

python tests/benchmarks/file_formats.py --folder /tmp/formats --rounds 5
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
TOPICS, DEPTH = 1000, 1000

Rows = list[tuple[str, str, int, float, int]]
"""Topic, docno, rank, score and grade."""


def rows() -> Rows:
    draw = random.Random(1)
    made: Rows = []
    for topic in range(100, 100 + TOPICS):
        score = 30.0
        for rank, docno in enumerate(draw.sample(range(10**7), DEPTH), 1):
            score -= draw.random() / 50
            made.append((str(topic), str(docno), rank, round(score, 6), draw.choice((0, 0, 0, 1, 2))))
    return made


def lines(path: Path, header: str, line: str, made: Rows) -> None:
    with open(path, "w") as file:
        file.write(header)
        file.writelines(line.format(*row) for row in made)


def nested(path: Path, made: Rows, at: int) -> None:
    topics: dict[str, dict[str, float]] = {}
    for row in made:
        topics.setdefault(row[0], {})[row[1]] = row[at]
    path.write_text(json.dumps(topics))


def frame(made: Rows, value: str) -> pd.DataFrame:
    table = pd.DataFrame(made, columns=["query_id", "doc_id", "rank", "score", "relevance"])
    return table[["query_id", "doc_id", value]]


RUNS: dict[str, Callable[[Path, Rows], object]] = {
    "trec": lambda path, made: lines(path, "", "{0} Q0 {1} {2} {3} bm25\n", made),
    "msmarco, ranks alone": lambda path, made: lines(path, "", "{0}\t{1}\t{2}\n", made),
    "msmarco, with scores": lambda path, made: lines(path, "", "{0}\t{1}\t{2}\t{3}\n", made),
    "beir": lambda path, made: lines(path, "query-id\tcorpus-id\tscore\n", "{0}\t{1}\t{3}\n", made),
    "tsv": lambda path, made: lines(path, "qid\tdocno\trank\tscore\n", "{0}\t{1}\t{2}\t{3}\n", made),
    "csv": lambda path, made: lines(path, "qid,docno,rank,score\n", "{0},{1},{2},{3}\n", made),
    "csv, quoted": lambda path, made: lines(path, "qid,docno,score,query\n", '{0},{1},{3},"wet, dry"\n', made),
    "json": lambda path, made: nested(path, made, 3),
    "jsonl": lambda path, made: lines(path, "", '{{"qid": "{0}", "docno": "{1}", "score": {3}}}\n', made),
    "parquet": lambda path, made: frame(made, "score").to_parquet(path),
    "arrow": lambda path, made: frame(made, "score").to_feather(path),
}
QRELS: dict[str, Callable[[Path, Rows], object]] = {
    "trec": lambda path, made: lines(path, "", "{0} 0 {1} {4}\n", made),
    "beir": lambda path, made: lines(path, "query-id\tcorpus-id\tscore\n", "{0}\t{1}\t{4}\n", made),
    "csv": lambda path, made: lines(path, "query,url,label\n", "{0},{1},{4}\n", made),
    "topic,docno,grade": lambda path, made: lines(path, "", "{0} {1} {4}\n", made),
    "ntcir": lambda path, made: lines(path, "", "{0} {1} L{4}\n", made),
    "letor": lambda path, made: lines(path, "", "{4} qid:{0} 1:0.5 2:0.25 # {1}\n", made),
    "json": lambda path, made: nested(path, made, 4),
    "jsonl": lambda path, made: lines(path, "", '{{"query": "{0}", "url": "{1}", "label": {4}}}\n', made),
    "parquet": lambda path, made: frame(made, "relevance").to_parquet(path),
    "arrow": lambda path, made: frame(made, "relevance").to_feather(path),
}


def seconds(run: Path, qrels: Path) -> float:
    """The processor seconds of one evaluation by one process."""
    words = [sys.executable, "-m", "gradedeval", str(run), str(qrels), "-m", "ndcg@10", "--jobs", "1"]
    before = os.times()
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def write(folder: Path) -> dict[str, dict[str, Path]]:
    """The files of each format, and a small one of the other kind in TREC form."""
    folder.mkdir(parents=True, exist_ok=True)
    made = rows()
    files: dict[str, dict[str, Path]] = {}
    for holds, formats in (("run", RUNS), ("qrels", QRELS)):
        files[holds] = {name: folder / f"{holds}-{number}" for number, name in enumerate(formats)}
        for name, path in files[holds].items():
            if not path.exists():
                formats[name](path, made)
    RUNS["trec"](folder / "small.run", made[: 50 * DEPTH])
    QRELS["trec"](folder / "small.qrels", made[: 50 * DEPTH])
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/gradedeval-formats"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="formats that are timed beside TREC, separated by spaces")
    options = parser.parse_args()
    files = write(options.folder)
    if options.only:
        chosen = {"trec", *options.only.split()}
        files = {holds: {name: each[name] for name in each if name in chosen} for holds, each in files.items()}
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(options.rounds + 1):
        for holds, formats in files.items():
            for name, path in formats.items():
                pair = (
                    (path, options.folder / "small.qrels") if holds == "run" else (options.folder / "small.run", path)
                )
                if number:  # the first round warms the files
                    taken.setdefault((holds, name), []).append(seconds(*pair))
                else:
                    seconds(*pair)
    print("| format | run | qrels |\n|---|---|---|")
    for name in dict.fromkeys([*RUNS, *QRELS]):
        cells = []
        for holds in ("run", "qrels"):
            if (holds, name) not in taken:
                cells.append("")
                continue
            median = statistics.median(taken[holds, name])
            ratio = median / statistics.median(taken[holds, "trec"])
            cells.append(f"{median:.2f} s" + ("" if name == "trec" else f" ({ratio:.1f} ×)"))
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
