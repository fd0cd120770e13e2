"""A training loop's evaluations: 1,000 times 50 topics × 100 documents from dicts, beside pytrec_eval's evaluator.

Run it as `python tests/benchmarks/training_loop.py`; it is no part of the tests. The two take turns, and medians
are compared, so that a busy machine slows both alike.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import gradedeval

ROUNDS, EVALUATIONS = 10, 100


def collection(seed: int = 1) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Qrels with 150 judged documents a topic, and a run of 100 of which about a third are judged."""
    draw = random.Random(seed)
    qrels = {f"t{t}": {f"d{t}-{i}": draw.choice([0, 0, 0, 1, 2, 3]) for i in range(150)} for t in range(50)}
    run = {f"t{t}": {f"d{t}-{i}": draw.random() for i in draw.sample(range(400), 100)} for t in range(50)}
    return qrels, run


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    for _ in range(EVALUATIONS):
        work()
    return time.perf_counter() - start


def main() -> None:
    qrels, run = collection()
    judged, measures = gradedeval.Qrels(qrels), gradedeval.parse("ap ndcg@10")
    contestants: dict[str, Callable[[], object]] = {
        "gradedeval": lambda: gradedeval.evaluate(run, judged, measures).means,
    }
    try:
        import pytrec_eval

        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
        contestants["pytrec_eval"] = lambda: evaluator.evaluate(run)
    except ImportError:
        print("pytrec_eval is not installed")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, work in contestants.items():
            times[name].append(seconds(work) / EVALUATIONS * 1000)
    for name, own in times.items():
        print(f"{name:<12} {statistics.median(own):6.2f} ms an evaluation ({ROUNDS * EVALUATIONS} of 50 topics × 100)")


if __name__ == "__main__":
    main()
