"""A small evaluation as a process of its own: beside the same script with pytrec_eval, `import numpy` and Python alone.

Run it as `python tests/benchmarks/starting.py`, with an interpreter in which the wheel is installed and compiled; it
is not part of the tests. The processes take turns in random order; medians of wall and processor milliseconds.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec

DATA = """
qrels = {f"t{t}": {f"d{i}": i % 3 for i in range(20)} for t in range(5)}
run = {f"t{t}": {f"d{i}": float(i) for i in range(15)} for t in range(5)}
"""
SCRIPTS = {
    "gradedeval": f"{DATA}import gradedeval\ngradedeval.evaluate(run, qrels, 'ndcg@10 ap').means",
    "pytrec_eval": f"{DATA}import pytrec_eval\n"
    "pytrec_eval.RelevanceEvaluator(qrels, {'map', 'ndcg_cut_10'}).evaluate(run)",
    "import numpy": "import numpy",
    "Python alone": "pass",
}


def milliseconds(script: str) -> tuple[float, float]:
    """Wall and processor time of a process."""
    start, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return (time.perf_counter() - start) * 1000, processor * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    if sys.dont_write_bytecode:
        sys.exit("unset PYTHONDONTWRITEBYTECODE: every start would compile all modules again")
    names = [name for name in SCRIPTS if name != "pytrec_eval" or find_spec("pytrec_eval")]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    draw = random.Random(1)
    for name in names:
        milliseconds(SCRIPTS[name])  # warms the files
    for _ in range(rounds):
        draw.shuffle(names)
        for name in names:
            taken[name].append(milliseconds(SCRIPTS[name]))
    print(f"{'':<16}{'wall':>8}{'least':>8}{'CPU':>8}   ms")
    for name, times in taken.items():
        wall, processor = zip(*times, strict=True)
        print(f"{name:<16}{statistics.median(wall):8.0f}{min(wall):8.0f}{statistics.mean(processor):8.0f}")


if __name__ == "__main__":
    main()
