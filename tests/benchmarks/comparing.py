"""All pairs of many runs: gradedeval's `compare` beside ranx's and a loop over scipy's permutation test.

Run it as `python tests/benchmarks/comparing.py RUN... QRELS`; without files it draws 48 runs of 30 topics.
`--ranx PYTHON` names a Python that has ranx (it wants a numpy of its own). It is not part of the tests. The contestants
take turns; medians and ratios count. Each scores its runs by ndcg@10 and tests every pair by randomization with 10,000
draws: gradedeval and ranx from what they have read before, scipy from scores. ranx has compiled its loops before.
"""

import argparse
import gzip
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradedeval
from gradedeval.analysis.score_matrix import to_matrix

DRAWS, MEASURE = 10_000, "ndcg@10"
Rankings = dict[str, dict[str, Any]]

RANX = """
import json, sys, time
from ranx import Qrels, Run, compare
collection = json.load(open(sys.argv[1]))
qrels = Qrels(collection["qrels"])
runs = [Run(run, name=name) for name, run in collection["runs"].items()]
told = dict(metrics=["ndcg@10"], stat_test="fisher", make_comparable=True)
compare(qrels, runs[:2], n_permutations=10, **told)
started = time.perf_counter()
compare(qrels, runs, n_permutations=10_000, **told)
print(time.perf_counter() - started)
"""


def drawn(runs: int, topics: int) -> tuple[dict[str, Rankings], Rankings]:
    """Runs that find relevant documents each as often as its own luck has it, and their judgments."""
    draw = random.Random(1)
    qrels = {f"t{t}": {f"d{d}": draw.choice([0, 0, 0, 1, 2, 3]) for d in range(150)} for t in range(topics)}
    drawn_runs = {}
    for run in range(runs):
        luck = draw.uniform(0.2, 2)
        drawn_runs[f"run{run}"] = {
            topic: {docno: luck * grade + draw.random() * 4 for docno, grade in draw.sample(list(judged.items()), 100)}
            for topic, judged in qrels.items()
        }
    return drawn_runs, qrels


def read_files(paths: list[str]) -> tuple[dict[str, Rankings], Rankings]:
    """Read runs and qrels of TREC files as dicts."""
    runs: dict[str, Rankings] = {}
    for path in paths[:-1]:
        own = runs.setdefault(path, {})
        for topic, _, docno, _, score, _ in map(str.split, lines(path)):
            own.setdefault(topic, {})[docno] = float(score)
    qrels: Rankings = {}
    for topic, _, docno, grade in map(str.split, lines(paths[-1])):
        qrels.setdefault(topic, {})[docno] = max(0, int(float(grade)))
    return runs, qrels


def lines(path: str) -> list[str]:
    with gzip.open(path, "rt") if path.endswith(".gz") else Path(path).open() as file:
        return [line for line in file if line.strip()]


def scipy_loop(scores: Any, pairs: int) -> None:
    """Test the first `pairs` pairs by scipy's permutation test, vectorized over draws, one pair after the other."""
    from scipy import stats

    def mean(first: Any, second: Any, axis: int) -> Any:
        return (first - second).mean(axis)

    for first, second in itertools.islice(itertools.combinations(scores, 2), pairs):
        stats.permutation_test((first, second), mean, permutation_type="samples", vectorized=True, n_resamples=DRAWS)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="RUN... QRELS")
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--topics", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=60, help="of scipy's loop; its time is scaled to all pairs")
    parser.add_argument("--ranx", metavar="PYTHON")
    arguments = parser.parse_args()
    runs, judged = read_files(arguments.files) if arguments.files else drawn(arguments.runs, arguments.topics)
    qrels = gradedeval.Qrels(judged)
    scores = to_matrix(gradedeval.evaluate(runs, qrels, MEASURE)).score[:, :, 0]
    pairs = len(scores) * (len(scores) - 1) // 2
    some = min(arguments.pairs, pairs)
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "collection.json").write_text(json.dumps({"runs": runs, "qrels": judged}))
        for _ in range(arguments.rounds):
            measured = {
                "gradedeval": seconds(lambda: gradedeval.compare(gradedeval.evaluate(runs, qrels, MEASURE))),
                "scipy permutation_test in a loop": seconds(lambda: scipy_loop(scores, some)) * pairs / some,
            }
            if arguments.ranx:
                command = [arguments.ranx, "-c", RANX, f"{folder}/collection.json"]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                measured["ranx compare"] = float(done.stdout)
            for name, elapsed in measured.items():
                times.setdefault(name, []).append(elapsed)
    print(f"{len(scores)} runs × {scores.shape[1]} topics, {pairs} pairs, {DRAWS} draws; medians of {arguments.rounds}")
    base = statistics.median(times["gradedeval"])
    for name, durations in times.items():
        print(f"{name:<34} {statistics.median(durations):8.2f} s   {statistics.median(durations) / base:6.1f} ×")


if __name__ == "__main__":
    sys.exit(main())
