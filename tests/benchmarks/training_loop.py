"""A training loop's evaluations: 1,000 times 50 topics × 100 documents from dicts and from DataFrames, beside
pytrec_eval's evaluator and ranx where they are installed.

Run it as `python tests/benchmarks/training_loop.py`; it is no part of the tests. All take turns in one process, and
medians are compared, so that a busy machine slows all alike. Qrels are read before; ranx has compiled its functions.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import gradedeval

EVALUATIONS = 100
Dicts = dict[str, dict[str, Any]]


def collection(seed: int = 1) -> tuple[Dicts, Dicts]:
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


def ours(qrels: Dicts, run: Dicts) -> dict[str, Callable[[], object]]:
    import pandas as pd

    judged, measures = gradedeval.Qrels(qrels), gradedeval.parse_measures("ap ndcg@10")
    rows = [(topic, docno, score) for topic, documents in run.items() for docno, score in documents.items()]
    frame = pd.DataFrame(rows, columns=["topic", "docno", "score"])
    return {
        "gradedeval, dicts": lambda: gradedeval.evaluate(run, judged, measures).means,
        "gradedeval, DataFrame": lambda: gradedeval.evaluate(frame, judged, measures).means,
    }


def theirs(qrels: Dicts, run: Dicts) -> dict[str, Callable[[], object]]:
    found: dict[str, Callable[[], object]] = {}
    try:
        import pytrec_eval

        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut_10"})
        found["pytrec_eval, dicts"] = lambda: evaluator.evaluate(run)
    except ImportError:
        print("pytrec_eval is not installed")
    try:
        import pandas as pd
        import ranx

        rows = [(topic, docno, score) for topic, documents in run.items() for docno, score in documents.items()]
        frame = pd.DataFrame(rows, columns=["q_id", "doc_id", "score"])
        frame = frame.astype({"q_id": object, "doc_id": object})
        judged = ranx.Qrels(qrels)
        names = ["map", "ndcg@10"]
        found["ranx, dicts"] = lambda: ranx.evaluate(judged, ranx.Run(run), names)
        found["ranx, DataFrame"] = lambda: ranx.evaluate(judged, ranx.Run.from_df(frame), names)
        for work in (found["ranx, dicts"], found["ranx, DataFrame"]):
            work()  # it compiles
    except ImportError:
        print("ranx is not installed")
    return found


def main(rounds: int = 10) -> None:
    contestants = {**ours(*collection()), **theirs(*collection())}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, work in contestants.items():
            times[name].append(seconds(work) / EVALUATIONS * 1000)
    print(f"\nan evaluation of 50 topics × 100 documents, {rounds * EVALUATIONS} times")
    for name, own in times.items():
        print(f"  {name:<34} {statistics.median(own):8.2f} ms")


if __name__ == "__main__":
    main()
