"""The cost of every question about many runs, as a multiple of `eval` of the same files in the same rounds.

python tests/benchmarks/questions.py                          48 generated runs of 50 topics × 1,000 documents
python tests/benchmarks/questions.py --runs 'runs/*' --qrels qrels.txt    runs of one's own
python tests/benchmarks/questions.py --growth                 exponents in runs, topics and documents
python tests/benchmarks/questions.py --only 'lint pool'       some rows

A row has the median of the processor seconds of all processes, that over `eval`'s, the peak memory of the process tree,
and with --growth the exponents between 12, 24 and 48 runs, 10, 20 and 40 topics, and 250, 500 and 1,000 documents: 1
where twice as much takes twice as long.
"""

import argparse
import glob
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
from generate import Workload
from speed import apart, program, timed

MEASURES = ("-m", "ap ndcg@10")
DEEP = ("--depth", "100")
RUNS, TOPICS, DOCUMENTS = 48, 50, 1000
STEPS = {"runs": (12, 24, 48), "topics": (10, 20, 40), "documents": (250, 500, 1000)}


def questions(files: Workload, target: Path) -> dict[str, list[str]]:
    """Return the command lines, `eval` first."""
    runs, qrels = list(map(str, files.runs)), str(files.qrels)
    page, picture = ["-o", str(target / "page.html")], ["-o", str(target / "picture.svg")]
    commands = {
        "eval": [*runs, qrels, *MEASURES],
        "lint": ["lint", *runs],
        "lint with qrels": ["lint", *runs, qrels],
        "compare": ["compare", *runs, qrels, *MEASURES],
        "compare --all-pairs": ["compare", *runs, qrels, *MEASURES, "--all-pairs"],
        "compare --all-pairs --judging": ["compare", *runs, qrels, *MEASURES, "--all-pairs", "--judging"],
        "report": ["report", *runs, qrels, *MEASURES, *page],
        "diff without qrels": ["diff", *runs],
        "diff of two": ["diff", *runs[:2], qrels],
        "informative": ["informative", *runs, qrels, *MEASURES, *DEEP],
        "fit": ["fit", *runs, qrels, "-m", "rbp(p=0.05..0.95)", "--to", "err@20"],
        "pool": ["pool", *runs, qrels],
        "pool --leave-one-out": ["pool", *runs, qrels, "--leave-one-out"],
        "pool --to-judge": ["pool", *runs, qrels, "--to-judge"],
        "correlate": ["correlate", *runs, qrels, *MEASURES],
        "risk": ["risk", *runs, qrels, *MEASURES],
        "power": ["power", *runs, qrels, *MEASURES],
        "pr": ["pr", *runs, qrels],
        "plot runs": ["plot", "runs", *runs, qrels, "-m", "ap", *picture],
        "plot pr": ["plot", "pr", *runs[:5], qrels, *picture],
    }
    return {name: [*program(), *words] for name, words in commands.items()}


def generated(folder: Path, runs: int, topics: int, documents: int) -> Workload:
    """Write runs that agree about as much as those of a track: each ranks the documents of a topic by their quality
    and an error of its own. A tenth of the documents is judged, more of them the better they are."""
    workload = Workload([folder / f"run{number:02d}" for number in range(runs)], folder / "qrels")
    if workload.qrels.exists():
        return workload
    folder.mkdir(parents=True, exist_ok=True)
    qualities = [np.random.default_rng(topic).normal(size=3 * documents) for topic in range(topics)]
    for number, path in enumerate(workload.runs):
        dice, lines = np.random.default_rng(1000 + number), []
        for topic, values in enumerate(qualities, 1):
            seen = values + dice.normal(size=len(values)) * (0.5 + number / runs)
            for rank, docno in enumerate(np.argsort(-seen)[:documents].tolist(), 1):
                lines.append(f"{topic} Q0 doc-{docno:05d} {rank} {seen[docno]:.6f} {path.name}\n")
        path.write_text("".join(lines))
    with workload.qrels.open("w") as file:
        for topic, values in enumerate(qualities, 1):
            dice = np.random.default_rng(2000 + topic)
            judged = np.argsort(-(values + dice.normal(size=len(values))))[: len(values) // 10]
            file.writelines(
                f"{topic} 0 doc-{docno:05d} {int(np.clip(round(values[docno] - 0.7), 0, 2))}\n" for docno in judged
            )
    return workload


def exponent(steps: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope of the logarithm of the seconds over that of the size."""
    return float(np.polyfit([math.log(step) for step in steps], [math.log(duration) for duration in seconds], 1)[0])


def growth(folder: Path, names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Return question -> dimension -> exponent."""
    exponents: dict[str, dict[str, float]] = {name: {} for name in names}
    for dimension, steps in STEPS.items():
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for step in steps:
            size = {"runs": 24, "topics": 20, "documents": 500} | {dimension: step}
            files = apart(generated, folder / "-".join(map(str, size.values())), *size.values())
            commands = {name: words for name, words in questions(files, folder).items() if name in names}
            for name, measurement in timed(commands, rounds).items():
                seconds[name].append(measurement.processor)
        for name in names:
            exponents[name][dimension] = exponent(steps, seconds[name])
    return exponents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "gradedeval-benchmark")
    parser.add_argument("--runs", help="a pattern of run files")
    parser.add_argument("--qrels", type=Path)
    parser.add_argument("--only", default="", help="the first words of rows")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--growth", action="store_true", help="exponents, of three sizes of generated runs each")
    arguments = parser.parse_args()
    if (arguments.runs is None) != (arguments.qrels is None):
        sys.exit("give both --runs and --qrels, or neither")
    if arguments.runs:
        files = Workload([Path(path) for path in sorted(glob.glob(arguments.runs))], arguments.qrels)
    else:
        files = apart(generated, arguments.folder / "questions", RUNS, TOPICS, DOCUMENTS)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    commands = questions(files, arguments.folder)
    names = [name for name in commands if not arguments.only or name.split()[0] in (*arguments.only.split(), "eval")]
    costs_of = timed({name: commands[name] for name in names}, arguments.rounds)
    exponents = growth(arguments.folder, names, arguments.rounds) if arguments.growth else {}
    heads = "".join(f"{dimension:>11}" for dimension in STEPS) if arguments.growth else ""
    print(f"{'':<32}{'seconds':>9}{'× eval':>8}{'MiB':>7}{heads}")
    for name, cost in costs_of.items():
        more = "".join(f"{exponents[name][dimension]:>11.2f}" for dimension in STEPS) if arguments.growth else ""
        times = cost.processor / costs_of["eval"].processor
        print(f"{name:<32}{cost.processor:>9.2f}{times:>8.2f}{cost.memory:>7.0f}{more}")


if __name__ == "__main__":
    main()
