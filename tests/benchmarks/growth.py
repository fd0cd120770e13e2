"""How the time and the memory of every command grow with hostile input: of n, 2n and 4n documents, sessions or lines.

Prints a row for each line of `LINES` and each shape of what it reads: processor seconds and MiB at the three sizes, and
by what the growth from 2n to 4n exceeds that from n to 2n: about 2 where it is linear, 4 where it is a square, a dash
where both are too small to tell. What grows by more than `STEEP` is marked, and so is what ends by a limit of memory
or time; the exit code is 1 where there is such a row.

    python tests/benchmarks/growth.py [--only 'diff compare'] [--shapes 'ties grades'] [--size 5000]
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from speed import environment, program

SIZE = 5_000
STEEP = 3.0
"""Growth that is no longer taken for linear: sorting, and a machine with other work to do, stay below."""

SECONDS, MEMORY = 60, 3 << 30
"""What a command may take before it is ended."""

TOLD = 0.3, 20.0
"""Seconds and MiB between n and 4n below which growth is not told."""

Rows = Sequence[tuple[object, ...]]
Pair = tuple[Rows, Rows, Rows]
"""Two runs of (topic, docno, score), and qrels."""


def write(path: Path, rows: Rows, blank: str = " ") -> None:
    path.write_text("".join(f"{blank.join(map(str, row))}\n" for row in rows))


def docs(n: int, letter: str = "d") -> list[str]:
    return [f"{letter}{i}" for i in range(n)]


def mixed(n: int) -> list[str]:
    return [f"d{i}" for i in random.Random(n).sample(range(n), n)]


def tied(docnos: list[str]) -> Rows:
    return [(1, docno, 1) for docno in docnos]


def down(docnos: list[str]) -> Rows:
    return [(1, docno, len(docnos) - at) for at, docno in enumerate(docnos)]


def half(n: int) -> Rows:
    """Judgments of every second document."""
    return [(1, 0, f"d{i}", i % 8 // 2) for i in range(0, n, 2)]


def turns(n: int) -> Pair:
    """Ten documents of each topic; topics take turns."""
    one = [(t, f"d{rank}", 10 - rank) for rank in range(10) for t in range(1, n // 10 + 1)]
    return one, [(t, d, 1) for t, d, _ in one], [(t, 0, d, (t + score) % 4) for t, d, score in one]


PAIRS: dict[str, Callable[[int], Pair]] = {
    # One topic, all documents tied; its documents in two orders; no document in both runs, and none of them judged.
    "ties": lambda n: (tied(docs(n)), tied(mixed(n)), half(n)),
    "falling": lambda n: (down(docs(n)), down(mixed(n)), half(n)),
    "apart": lambda n: (down(docs(n)), down(docs(n, "e")), [(1, 0, f"f{i}", i % 4) for i in range(n)]),
    # As many topics as documents.
    "topics": lambda n: (
        [(t, f"d{t % 7}", 1) for t in range(1, n + 1)],
        [(t, f"d{t % 5}", 1) for t in range(1, n + 1)],
        [(t, 0, f"d{t % 7}", t % 4) for t in range(1, n + 1)],
    ),
    "turns": turns,
    # One document again and again.
    "repeated": lambda n: ([(1, "d", i % 9) for i in range(n)],) * 2 + ([(1, 0, "d", 1)] * n,),
    # As many topics as documents, and as many grades; one topic with as many grades as documents.
    "grades": lambda n: (
        [(t, "d", 1) for t in range(1, n + 1)],
        [(t, "d", 1) for t in range(n, 0, -1)],
        [(t, 0, "d", t / n) for t in range(1, n + 1)],
    ),
    "ladder": lambda n: (down(docs(n)), down(mixed(n)), [(1, 0, f"d{i}", i) for i in range(n)]),
    # One topic with as many intents or strata as documents.
    "intents": lambda n: (down(docs(n)), down(mixed(n)), [(1, i + 1, f"d{i}", 1) for i in range(n)]),
    "strata": lambda n: (down(docs(n)), down(mixed(n)), [(1, 0, f"d{i}", i + 1, i % 3 - 1) for i in range(n)]),
}
"""Shapes of runs and qrels."""

LOGGED: dict[str, Callable[[int], list[tuple[object, str, Sequence[int], list[str]]]]] = {
    # Sessions of one user with one list; of each user, with a topic and a list of its own.
    "sessions": lambda n: [(1, "u", [1 + i % 10], docs(10)) for i in range(n)],
    "users": lambda n: [(i, f"u{i}", [1 + i % 3, 7], docs(10, f"d{i}-")) for i in range(1, n + 1)],
    # Lists of one topic, each shown once, without a document in common; one long list, clicked everywhere and nowhere.
    "listed": lambda n: [(1, "u", [1 + i % 10], docs(10, f"d{i}-")) for i in range(n)],
    "long": lambda n: [(1, "u", range(1, n + 1), docs(n)), (1, "v", [], docs(n))],
}
"""Shapes of click logs: topic, user, clicks, documents."""


def write_shape(shape: str, folder: Path, n: int) -> None:
    """Write files of a shape: of `PAIRS`, of `LOGGED`, one document in many runs, or histories of one or many runs."""
    if shape in LOGGED:
        sessions = LOGGED[shape](n)
        lines = [(t, u, ",".join(map(str, clicks)), ",".join(shown)) for t, u, clicks, shown in sessions]
        write(folder / "log.tsv", [("topic", "user", "clicks", "shown"), *lines], "\t")
        judged = dict.fromkeys((t, d) for t, _, _, shown in sessions for d in shown)
        write(folder / "qrels", [(t, 0, d, at % 4) for at, (t, d) in enumerate(judged)])
    elif shape == "many":
        (folder / "runs").mkdir()
        for number in range(n // 50):
            write(folder / "runs" / f"{number}.run", [(1, "Q0", "d", 1, 1, "x")])
        write(folder / "qrels", [(1, 0, "d", 1)])
    else:
        *runs, qrels = PAIRS[shape](n) if shape in PAIRS else ([(1, "d", 1)], [(1, "d", 1)], [(1, 0, "d", 1)])
        for name, rows in zip(("a.run", "b.run"), runs, strict=True):
            write(folder / name, [(topic, "Q0", docno, 1, score, name) for topic, docno, score in rows])
        write(folder / "qrels", qrels)
        if shape in HISTORIES:
            write_history(folder, n, 1 if shape == "history" else n)


def write_history(folder: Path, n: int, runs: int) -> None:
    command = [*program(), "eval", "a.run", "qrels", "-m", "ap", "--history", "line"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=environment())
    line = re.sub(r'(?<="time":)[^,]*', '"2026-01-01T00:00:00Z"', (folder / "line").read_text())
    with (folder / "history").open("w") as file:
        for i in range(n):
            day = f"{2000 + i // 336:04d}-{1 + i // 28 % 12:02d}-{1 + i % 28:02d}"
            file.write(line.replace("2026-01-01", day).replace('"a.run"', f'"{i % runs}.run"'))


PAIR = [shape for shape in PAIRS if shape not in ("intents", "strata")]
MANY, LOGS, HISTORIES = ["many"], list(LOGGED), ["history", "histories"]
UNCUT = "ap,ndcg,gap,q,err,bpref,rbp"

LINES: dict[str, list[tuple[str, list[str]]]] = {
    "eval": [
        ("a.run qrels -q", PAIR),
        ("a.run qrels --residuals split --bounds --unseen 3", PAIR),
        ("a.run b.run qrels --standardize --interval", PAIR),
        ("a.run qrels --interval --history line", PAIR),
        ("a.run qrels --ties average -m ap -m ndcg -m gap -m err -m q", PAIR),
        ("a.run qrels --judged-only --ties best", PAIR),
        ("a.run qrels --subtopics -m erria -m alpha_ndcg -m nrbp -m strec -m ia(ap)", ["intents"]),
        ("a.run qrels --qrels-format strata -m xinfap -m statap -m infndcg", ["strata"]),
        ("runs qrels --sort ap -m ap", MANY),
    ],
    "explain": [("a.run b.run qrels --topic 1 -f csv -m err -m ap -m ndcg -m gap -m q", PAIR)],
    "measures": [("-f csv", ["ties"])],
    "weights": [("a.run b.run qrels -m ap -m rr -m sp -m bpref -m q --ranks {n}", PAIR)],
    "compare": [("a.run b.run qrels", PAIR), ("a.run b.run qrels -q", PAIR), ("runs qrels -m ap", MANY)],
    "diff": [
        ("a.run b.run", PAIR),
        ("a.run b.run qrels -f csv", PAIR),
        ("a.run b.run qrels --reproduce b.run a.run", PAIR),
        ("runs", MANY),
    ],
    "pool": [
        ("a.run b.run qrels", PAIR),
        ("a.run b.run qrels --to-judge --strategy residual", PAIR),
        ("a.run b.run qrels --to-judge --strategy pairs", PAIR),
        ("a.run b.run qrels --leave-one-out", PAIR),
        ("runs qrels", MANY),
    ],
    "agreement": [("qrels qrels a.run b.run", PAIR)],
    "history": [("history", HISTORIES)],
    "report": [("a.run b.run qrels -o out.html", PAIR), ("runs qrels -m ap -o out.html", MANY)],
    "risk": [("a.run b.run qrels --baseline a.run", PAIR), ("runs qrels --baseline 0.run -m ap", MANY)],
    "check": [("a.run b.run qrels --min ap=0 --baseline a.run", PAIR)],
    "correlate": [("a.run b.run qrels --by topics", PAIR)],
    "fit": [("a.run b.run qrels -m rbp(p=0.1..0.9) --to ap", PAIR)],
    "power": [("a.run b.run qrels", PAIR)],
    "informative": [("a.run b.run qrels -m ap", PAIR)],
    "pr": [("a.run b.run qrels", PAIR)],
    "lint": [("a.run b.run --qrels qrels --all", PAIR), ("runs", MANY)],
    "trec_eval": [("-m all_trec -q qrels a.run", PAIR)],
    "plot pr": [("a.run b.run qrels -o out.png", PAIR)],
    "plot informative": [("a.run b.run qrels -m ap -o out.png", PAIR)],
    "plot topics": [("a.run b.run qrels -o out.png", PAIR)],
    "plot runs": [("a.run b.run qrels -o out.png", PAIR), ("runs qrels -m ap -o out.png", MANY)],
    "plot weights": [("a.run b.run qrels -m ap -m q --ranks {n} -o out.png", PAIR)],
    "plot fit": [("a.run b.run qrels -m rbp(p=0.1..0.9) --to ap -o out.png", PAIR)],
    "plot power": [("a.run b.run qrels -o out.png", PAIR)],
    "plot correlate": [("a.run b.run qrels --by topics -o out.png", PAIR)],
    "plot explain": [("a.run b.run qrels --topic 1 -o out.png", PAIR)],
    "plot clicks": [("log.tsv qrels -m err -o out.png", LOGS)],
    "clicks observe": [("log.tsv", LOGS), ("log.tsv --per user", LOGS)],
    "clicks fit": [("log.tsv", LOGS)],
    "clicks measures": [("log.tsv qrels", LOGS)],
    "clicks correlate": [("log.tsv qrels", LOGS), ("log.tsv qrels --pairs 100", LOGS)],
    "clicks gains": [("log.tsv qrels", LOGS), ("log.tsv qrels --from correlation", LOGS)],
    "clicks models": [(f"log.tsv --model {model}", LOGS) for model in ("dbn", "ubm", "pbm", "ccm", "dcm")],
    "clicks simulate": [("a.run b.run qrels --as err --depth {n} --sessions 100", PAIR)],
}
"""Command -> its words behind it, and the shapes of what it reads. `{n}` is the size."""

EXTRA = {"repeated": "--duplicates first"}
"""What a shape needs beside, where a command has it."""


class Taken(NamedTuple):
    """Processor seconds and MiB of a command; and its exit code, below 0 where a limit ended it."""

    seconds: float
    memory: float
    code: int
    said: str


def taken(command: list[str], folder: Path) -> Taken:
    """What a command takes."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    with tempfile.TemporaryFile("w+") as said:
        how = {"cwd": folder, "stdout": subprocess.DEVNULL, "env": environment()}
        process = subprocess.Popen(command, stderr=said, preexec_fn=limited, **how)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        lines = said.read().strip().splitlines()
    return Taken(
        usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, lines[-1] if lines else ""
    )


def growth(values: list[float], least: float) -> float:
    """By what the last step exceeds the one before; nan where both are too small to tell."""
    first, second = values[1] - values[0], values[2] - values[1]
    return second / max(first, least / 4) if second > least else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", type=str.split, metavar="'COMMAND ...'")
    parser.add_argument("--shapes", type=str.split, metavar="'SHAPE ...'")
    parser.add_argument("--size", type=int, default=SIZE, help="n")
    told = parser.parse_args()
    for command, lines in LINES.items():
        for words, shapes in lines:
            for shape in shapes:
                if (told.only and command.replace(" ", "_") not in told.only) or (
                    told.shapes and shape not in told.shapes
                ):
                    continue
                found = []
                for n in (told.size, 2 * told.size, 4 * told.size):
                    with tempfile.TemporaryDirectory() as name:
                        folder = Path(name)
                        write_shape(shape, folder, n)
                        line = f"{command} {words.format(n=n)} {EXTRA.get(shape, '')}"
                        found.append(taken([*program(), *line.split()], folder))
                rates = growth([one.seconds for one in found], TOLD[0]), growth([one.memory for one in found], TOLD[1])
                bad = [one for one in found if one.code]
                flag = "!!" if max(rates[0], 0) > STEEP or rates[1] > STEEP else "  "
                print(
                    flag,
                    f"{command} {words} | {shape:9}",
                    *(f"{one.seconds:6.2f}" for one in found),
                    *(f"{one.memory:6.0f}" for one in found),
                    *(f"{rate:5.1f}" for rate in rates),
                    *(f"{one.code}: {one.said[:150]}" for one in bad[:1]),
                    flush=True,
                )


if __name__ == "__main__":
    sys.exit(main())
