"""What ids that were made to have one hash cost, beside others of the same number and lengths.

Prints a row for each kind of file and question: processor seconds, the median of `--rounds` rounds in turn, with ids
whose hashes differ, with ids whose hashes are equal, and their ratio. What takes more than `MOST` times as long is
marked, and what needs more than `SECONDS`; the exit code is 1 where there is such a row.

    python tests/benchmarks/collisions.py [--only 'qrels topics'] [--lines 64000] [--program PATH]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from speed import environment, program

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.colliding_ids import colliding_ids, unlike_ids

MOST = 3.0
SECONDS = 120

Ids = list[str]


def run(ids: Ids, topics: int = 4, name: str = "t", step: int = 1) -> str:
    """Return a run whose topics take turns with the ids in stretches; every `step`-th score falls."""
    size = -(-len(ids) // topics)
    return "".join(f"{at // size} Q0 {docno} 1 {len(ids) - at // step} {name}\n" for at, docno in enumerate(ids))


def qrels(ids: Ids, topics: int = 4) -> str:
    size = -(-len(ids) // topics)
    return "".join(f"{at // size} 0 {docno} {at % 3}\n" for at, docno in enumerate(ids))


def plain(ids: Ids) -> Ids:
    """Return as many other ids, none of which is chosen by its hash."""
    return [f"document-{at:023d}" for at in range(len(ids))]


def by_topic(ids: Ids, values: str) -> str:
    """Return JSON of one topic."""
    return json.dumps({"0": {docno: at % 3 + (0.5 if values == "scores" else 0) for at, docno in enumerate(ids)}})


def turns(ids: Ids) -> str:
    """Return a run of as many topics as ids, each with two documents that stand apart."""
    half = ids[: len(ids) // 2]
    return "".join(f"{topic} Q0 d{at} 1 {2 - at} t\n" for at in range(2) for topic in half)


def turns_qrels(ids: Ids) -> str:
    half = ids[: len(ids) // 2]
    return "".join(f"{topic} 0 d{at} 1\n" for at in range(2) for topic in half)


Files = Callable[[Ids], dict[str, str]]

CASES: dict[str, tuple[Files, str]] = {
    "qrels": (lambda ids: {"run": run(plain(ids)), "q": qrels(ids)}, "run q -m ap --topics both"),
    "run": (lambda ids: {"run": run(ids), "q": qrels(plain(ids))}, "run q -m ap"),
    "both": (lambda ids: {"run": run(ids), "q": qrels(ids)}, "run q -m ap"),
    "few-judged": (lambda ids: {"run": run(ids), "q": qrels(ids[::50])}, "run q -m ap"),
    "few-ranked": (lambda ids: {"run": run(ids[::50]), "q": qrels(ids)}, "run q -m ap --topics both"),
    "duplicates": (
        lambda ids: {"run": run([*ids, *ids[-9:]], 1), "q": qrels(ids, 1)},
        "run q -m ap --duplicates first",
    ),
    "apart": (
        lambda ids: {"run": "".join(sorted(run(ids).splitlines(True), key=lambda line: line[2:])), "q": qrels(ids)},
        "run q -m ap",
    ),
    "topics": (lambda ids: {"run": turns(ids), "q": turns_qrels(ids)}, "run q -m ap"),
    "json": (lambda ids: {"run": by_topic(ids, "scores"), "q": by_topic(ids, "grades")}, "run q -m ap"),
    "lint": (lambda ids: {"run": run(ids), "q": qrels(ids)}, "lint run --qrels q"),
    "diff": (
        lambda ids: {"run": run(ids, 64), "other": run(ids, 64, step=3), "q": qrels(ids, 64)},
        "diff run other q -m ap",
    ),
    "compare": (
        lambda ids: {"run": run(ids, 8), "other": run(ids, 8, step=3), "q": qrels(ids, 8)},
        "compare run other q -m ap",
    ),
    "pool": (lambda ids: {"run": run(ids), "other": run(ids, step=3), "q": qrels(ids)}, "pool run other --depth 9999"),
}


def processor_seconds(command: list[str], folder: Path) -> float:
    """Return the processor seconds of a command, infinity where it is ended."""
    variables, before = environment(), os.times()
    if command[: len(program())] != program():  # another program has modules of its own
        del variables["PYTHONPATH"]
    try:
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return float("inf")
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def seconds_of(files: Files, words: str, lines: int, rounds: int, start: list[str]) -> tuple[float, float]:
    """Return the processor seconds with unlike ids and with colliding ones."""
    taken: dict[str, list[float]] = {"unlike": [], "colliding": []}
    with TemporaryDirectory() as folder:
        for name, ids in (("unlike", unlike_ids(lines)), ("colliding", colliding_ids(lines))):
            (Path(folder) / name).mkdir()
            for file, text in files([token.decode() for token in ids]).items():
                (Path(folder) / name / file).write_text(text)
        for _ in range(rounds):
            for name, seconds in taken.items():
                if seconds[-1:] != [float("inf")]:
                    seconds.append(processor_seconds([*start, *words.split()], Path(folder) / name))
    return statistics.median(taken["unlike"]), max(statistics.median(taken["colliding"]), taken["colliding"][-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=" ".join(CASES))
    parser.add_argument("--lines", type=int, default=64_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", type=Path, help="another gradedeval")
    given = parser.parse_args()
    start, slow = [str(given.program)] if given.program else program(), False
    print(f"{'':<12} {'unlike':>9} {'colliding':>9} {'ratio':>7}")
    for name in given.only.split():
        unlike, colliding = seconds_of(*CASES[name], given.lines, given.rounds, start)
        ratio = colliding / unlike
        slow |= ratio > MOST
        mark = "  slow" if ratio > MOST else ""
        print(f"{name:<12} {unlike:7.2f} s {colliding:7.2f} s {ratio:7.2f}{mark}", flush=True)
    sys.exit(int(slow))


if __name__ == "__main__":
    main()
