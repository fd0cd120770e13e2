"""The commands that are killed, with their inputs and outputs."""

import gzip
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from support.paths import SAMPLES

# Small files are shared by processes, too.
SHARED = "from gradedeval.kernel import parallel; parallel.LIMITS = parallel.Limits(small_runs=0, runs=1); "
IN_PARTS = SHARED.replace("runs=1", "large_file=1, segment=20_000, block=5_000")
THREAD = "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start(); "
"""Another thread: no process is forked beside it, and it may receive the signal."""

MEASURES = "-m 'ap err@20 ndcg@10 rbp bpref q gap p@10 recall@100 rr'"
RUNS = "bm25.run rm3.run dense.run neural.run qrels"


@dataclass(frozen=True)
class Killed:
    """A command that is killed.

    words   the command line
    writes  files that it writes atomically
    grows   the history that it appends to
    set_up  Python code that runs first
    shares  whether other processes do the work
    """

    words: str
    writes: tuple[str, ...] = ("out.csv",)
    grows: str = ""
    set_up: str = ""
    shares: bool = False

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.words)


COMMANDS = {
    "a run": Killed("bm25.run qrels -m 'err@20 ap' -q -f csv -o out.csv"),
    "a file URL": Killed("bm25.run qrels -m 'err@20 ap' -q -f csv -o file://out.csv"),
    "many numbers": Killed(f"{RUNS} {MEASURES} -q --residuals split -f csv -o out.csv --jobs 1", set_up=THREAD),
    "parquet": Killed(f"bm25.parquet dense.run qrels {MEASURES} -q -f csv -o out.csv --jobs 1"),
    "topics in turns": Killed("turns.run.gz qrels -m ap -q -f csv -o out.csv"),
    "processes": Killed(f"{RUNS} {MEASURES} -q -f csv -o out.csv --jobs 2", set_up=SHARED, shares=True),
    "parts": Killed("bm25.run qrels -m 'ap err@20' -q -f csv -o out.csv --jobs 2", set_up=IN_PARTS, shares=True),
    "new processes": Killed(f"{RUNS} -m ap -q -f csv -o out.csv --jobs 2", set_up=SHARED + THREAD, shares=True),
    "a history": Killed(f"{RUNS} -m 'ap err@20' --history history.jsonl -f csv -o out.csv", grows="history.jsonl"),
    "a check": Killed(
        "check bm25.run rm3.run qrels --min ap=0 --history history.jsonl -f json -o out.json",
        ("out.json",),
        "history.jsonl",
    ),
    "a reference": Killed(
        f"bm25.run rm3.run dense.run qrels {MEASURES} --standardize --save-reference reference.csv -f csv -o out.csv",
        ("reference.csv", "out.csv"),
    ),
    "models": Killed(
        "clicks models log.tsv --model sdbn --min-seen 1 --write-model model.json --write-relevance clicks.csv "
        "-o out.csv",
        ("model.json", "clicks.csv", "out.csv"),
    ),
    "a report": Killed("report bm25.run rm3.run qrels -m 'ndcg@10 ap' -o out.html", ("out.html",)),
    "a picture": Killed("plot topics bm25.run rm3.run qrels -m ndcg@10 -o out.svg", ("out.svg",)),
}


def write_inputs(folder: Path) -> None:
    """Write the inputs of the commands, from the samples, and old versions of their outputs."""
    for name in ("bm25", "dense", "neural"):
        shutil.copy(SAMPLES / f"rivers-{name}.run", folder / f"{name}.run")
    shutil.copy(SAMPLES / "rivers-bm25-rm3.run", folder / "rm3.run")
    shutil.copy(SAMPLES / "rivers.qrels", folder / "qrels")
    shutil.copy(SAMPLES / "rivers-clicks.tsv", folder / "log.tsv")
    lines = (folder / "bm25.run").read_bytes().splitlines(keepends=True)
    in_turns = sorted(lines, key=lambda line: (int(line.split()[3]), line))
    (folder / "turns.run.gz").write_bytes(gzip.compress(b"".join(in_turns)))
    try:
        import pandas as pd

        rows = [line.decode().split() for line in lines]
        table = pd.DataFrame({"topic": [row[0] for row in rows], "docno": [row[2] for row in rows]})
        table["score"] = [float(row[4]) for row in rows]
        table.to_parquet(folder / "bm25.parquet")
    except ImportError:
        pass
    for name in {file for command in COMMANDS.values() for file in command.writes}:
        (folder / name).write_bytes(b"yesterday's numbers\n" * 10)
    (folder / "history.jsonl").write_bytes(HISTORY)


HISTORY = (
    b'{"gradedeval_history":1,"time":"2026-01-01T00:00:00+00:00","label":"","run":"bm25.run","signature":"none",'
    b'"scores":{"ap":{"score":0.25,"low":0.2,"high":0.3,"topics":50}}}\n'
)
