"""The cost of folding chunks into documents, as a multiple of reading the same run plainly.

Prints a row for each layout of the run: processor seconds of `eval` alone and with `--collapse`, medians of `--rounds`
rounds in turn, lines per second, their ratio, and peak memory. The exit code is 1 where folding reads less than half as
many lines per second as plain reading.

    python tests/benchmarks/chunks.py [--lines 10000000] [--rounds 3] [--only listed] [--folder PATH]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from speed import environment, program

LEAST = 0.5
DEPTH = 1000
"""Chunks of a topic."""

LAYOUTS = {
    "listed": "best first, in one topic after the other",
    "unsorted": "in no order within a topic",
    "tied": "best first, with ten chunks of equal score each",
    "table": "as listed, with a table of all chunks in place of a separator",
    "first": "as listed, with --collapse-by first",
}


def chunks_of(topic: int, layout: str) -> list[tuple[str, float]]:
    """Return the chunks of a topic with their scores: about three of each document."""
    draw = random.Random(topic)
    documents = [f"doc{draw.randrange(10**7)}" for _ in range(DEPTH // 3)]
    ids = [f"{draw.choice(documents)}#{number}" for number in range(DEPTH)]
    step = 10 if layout == "tied" else 1
    ranking = [(name, (DEPTH - rank // step) / 100) for rank, name in enumerate(ids)]
    if layout == "unsorted":
        draw.shuffle(ranking)
    return ranking


def write(folder: Path, layout: str, lines: int) -> None:
    """Write a run, judgments of a tenth of its documents, and of as many chunks for plain reading, and the table."""
    topics = range(1, lines // DEPTH + 1)

    def judgments(of_chunks: bool) -> Iterator[str]:
        for topic in topics:
            first = {name.partition("#")[0]: name for name, _ in reversed(chunks_of(topic, layout))}
            for number, document in enumerate(list(first)[::10]):
                yield f"{topic} 0 {first[document] if of_chunks else document} {number % 3}\n"

    with (folder / "run").open("w") as run, (folder / "table").open("w") as table:
        for topic in topics:
            ranking = chunks_of(topic, layout)
            run.writelines(f"{topic} Q0 {name} {rank} {score:.2f} t\n" for rank, (name, score) in enumerate(ranking, 1))
            if layout == "table":
                table.writelines(f"{name}\t{name.partition('#')[0]}\n" for name, _ in ranking)
    for of_chunks in (False, True):
        (folder / ("plain" if of_chunks else "qrels")).write_text("".join(judgments(of_chunks)))


def measured(folder: Path, words: list[str]) -> tuple[float, int]:
    """Return the processor seconds and the peak memory, in MiB, of an evaluation."""
    command = [*program(), "run", "qrels" if words else "plain", "-m", "ndcg@10 ap", *words]
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=LAYOUTS)
    parser.add_argument("--folder", type=Path, help="where the files go, for gigabytes")
    arguments = parser.parse_args()
    worst = 1.0
    print("layout      plain s  fold s  plain lines/s   fold lines/s  ratio  plain MiB  fold MiB")
    for layout in [arguments.only] if arguments.only else LAYOUTS:
        with TemporaryDirectory(dir=arguments.folder) as name:
            folder = Path(name)
            write(folder, layout, arguments.lines)
            words = ["--collapse", "table" if layout == "table" else "#"]
            words += ["--collapse-by", "first"] if layout == "first" else []
            rounds = [(measured(folder, []), measured(folder, words)) for _ in range(arguments.rounds + 1)][1:]
        plain, fold = (statistics.median(round[side][0] for round in rounds) for side in (0, 1))
        memory = [max(round[side][1] for round in rounds) for side in (0, 1)]
        lines, ratio = arguments.lines // DEPTH * DEPTH, plain / fold
        # The table is read once, before the run.
        worst = ratio if ratio < worst and layout != "table" else worst
        rates = f"{lines / plain:13,.0f}  {lines / fold:13,.0f}"
        print(f"{layout:10} {plain:8.2f} {fold:7.2f}  {rates}  {ratio:5.2f} {memory[0]:10} {memory[1]:9}")
    sys.exit(worst < LEAST)


if __name__ == "__main__":
    main()
