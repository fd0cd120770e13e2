"""Bounds and residuals of scores, and the cost of each.

Prints a row for each measure: the mean score over the runs, the means of low and high, score + residual, the widths of
the two intervals, and processor seconds of an evaluation of all runs by itself, with residuals and with bounds, medians
of several in turn; last, bounds ÷ residuals. Without files it takes the large run of `speed.py` (6,980 topics × 1,000).

    python tests/benchmarks/bounds.py 'err@20 ndcg ap' [QRELS RUN...]
"""

import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from generate import workload

import gradedeval

ROUNDS = 3
WAYS = {"plain": {}, "residuals": {"residuals": "total"}, "bounds": {"bounds": True}}


def row_of(measure: str, qrels: str, runs: list[str]) -> list[str]:
    """Return the cells of one measure."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    means = {}
    for _ in range(ROUNDS):
        for way, rules in WAYS.items():
            begin = time.process_time()
            scores = gradedeval.evaluate(runs, qrels, measure, jobs=1, **rules)
            seconds[way].append(time.process_time() - begin)
            parts = ("score", "residual") if way == "residuals" else ("score", "low", "high")
            means |= {part: np.mean([run.summary(part, 0, "mean") for run in scores.runs]) for part in parts}
    best = means["score"] + means["residual"]
    figures = (means["score"], means["low"], means["high"], best, means["high"] - means["low"], means["residual"])
    spent = [statistics.median(seconds[way]) for way in WAYS]
    cells = [*(f"{value:.4f}" for value in figures), *(f"{each:.2f}" for each in spent), f"{spent[2] / spent[1]:.2f}"]
    return [measure, *cells]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    measures, *files = sys.argv[1:]
    if not files:
        large = workload(Path(tempfile.gettempdir()) / "gradedeval-benchmarks", "large", 6980, 1000)
        files = [str(large.qrels), str(large.runs[0])]
    judged, *listed = files
    for measure in measures.split():
        print("|", " | ".join(row_of(measure, judged, listed)), "|", flush=True)
