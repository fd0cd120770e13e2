"""Evaluations from Python, as in a training loop: ndcg@10 and ap from dicts, DataFrames and arrays, by gradedeval, and
by pytrec_eval's evaluator and ranx if they are installed.

Run it as `python tests/benchmarks/training_loop.py`; it is not part of the tests. All take turns in one process;
medians of processor time are compared, so that a busy machine slows all alike. Qrels are read before but in the rows
`fresh`; ranx has compiled its functions. In the rows `same run` one run is scored again and again, as where a training
ranks the same candidates anew, which remembered grades help; in all others every call has another of 40 runs (of fewer
where they are large), as where each step retrieves anew.
"""

import os
import random
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import cycle
from typing import Any

import gradedeval

os.environ.setdefault("NUMBA_NUM_THREADS", "1")
"""Idle threads of ranx would count in the time of the next tool."""

Dicts = dict[str, dict[str, Any]]
Works = dict[str, Callable[[], object]]

MEASURES_ASKED = "ndcg@10 ap"
SHAPES = ((1, 100), (10, 100), (50, 100), (200, 100), (50, 1000))
OTHERS = 40
"""How many runs of 5,000 documents take turns."""
DOCUMENTS = 40_000
"""How many are scored in a turn of one contestant."""


def other_runs(topics: int = 50, depth: int = 100) -> list[Dicts]:
    """Runs of the same topics that list other documents."""
    count = max(5, OTHERS * 5000 // max(topics * depth, 5000))
    return [collection(topics, depth, seed)[1] for seed in range(2, 2 + count)]


def collection(topics: int = 50, depth: int = 100, seed: int = 1) -> tuple[Dicts, Dicts]:
    """Return qrels with 1.5 judged documents for each retrieved one, and a run of which about a third are judged."""
    draw = random.Random(seed)
    qrels = {
        f"t{t}": {f"d{t}-{i}": draw.choice([0, 0, 0, 1, 2, 3]) for i in range(3 * depth // 2)} for t in range(topics)
    }
    run = {f"t{t}": {f"d{t}-{i}": draw.random() for i in draw.sample(range(4 * depth), depth)} for t in range(topics)}
    return qrels, run


def from_dicts(qrels: Dicts, *runs: Dicts, fresh: bool = False) -> Works:
    """Return evaluations of nested dicts, the runs in turn: qrels are read before, or each time."""
    measures = gradedeval.parse_measures(MEASURES_ASKED)
    source = qrels if fresh else gradedeval.Qrels(qrels)
    ours, theirs, compiled = cycle(runs), cycle(runs), cycle(runs)
    works: Works = {"gradedeval": lambda: gradedeval.evaluate(next(ours), source, measures).means}
    if find_spec("pytrec_eval"):
        import pytrec_eval

        wanted, make = {"map", "ndcg_cut_10"}, pytrec_eval.RelevanceEvaluator
        evaluator = make(qrels, wanted)
        works["pytrec_eval"] = lambda: (make(qrels, wanted) if fresh else evaluator).evaluate(next(theirs))
    if find_spec("ranx"):
        import ranx

        judged, names = ranx.Qrels(qrels), ["map", "ndcg@10"]
        works["ranx"] = lambda: ranx.evaluate(ranx.Qrels(qrels) if fresh else judged, ranx.Run(next(compiled)), names)
    return works


def from_frames(qrels: Dicts, *runs: Dicts, fresh: bool = False) -> Works:
    """Return the same of DataFrames, beside dicts."""
    import pandas as pd

    def frame(nested: Dicts, *names: str) -> Any:
        rows = [(topic, docno, value) for topic, documents in nested.items() for docno, value in documents.items()]
        return pd.DataFrame(rows, columns=list(names))

    grades = frame(qrels, "topic", "docno", "grade")
    source = grades if fresh else gradedeval.Qrels(grades)
    frames = cycle([frame(run, "topic", "docno", "score") for run in runs])
    works: Works = {
        f"gradedeval, pandas {pd.__version__}": lambda: gradedeval.evaluate(next(frames), source, MEASURES_ASKED).means,
        "gradedeval, dicts": from_dicts(qrels, *runs, fresh=fresh)["gradedeval"],
    }
    if find_spec("ranx"):
        import ranx

        def objects(nested: Dicts) -> Any:
            return frame(nested, "q_id", "doc_id", "score").astype({"q_id": object, "doc_id": object})

        theirs, judgments = cycle([objects(run) for run in runs]), objects(qrels)
        judged, names = ranx.Qrels(qrels), ["map", "ndcg@10"]

        def evaluated() -> object:
            ranx_qrels = ranx.Qrels.from_df(judgments) if fresh else judged
            return ranx.evaluate(ranx_qrels, ranx.Run.from_df(next(theirs)), names)

        works["ranx"] = evaluated
    return works


def from_arrays(topics: int, depth: int) -> Works:
    """Return grades and scores as arrays, which the others do not take."""
    import numpy as np

    draw = np.random.default_rng(1)
    grades, scores = draw.integers(0, 4, topics * depth), draw.random(topics * depth)
    group = [depth] * topics
    return {"gradedeval": lambda: gradedeval.evaluate_arrays(grades, scores, MEASURES_ASKED, group=group).means}


def rows() -> dict[str, tuple[Works, int]]:
    """Return row -> the works of each tool, and the number of documents they score at once."""
    table = {
        f"dicts, same run, {topics} × {depth}": (from_dicts(*collection(topics, depth)), topics * depth)
        for topics, depth in SHAPES
    }
    for topics, depth in SHAPES[1:]:
        works = from_dicts(collection(topics, depth)[0], *other_runs(topics, depth))
        table[f"dicts, other documents, {topics} × {depth}"] = (works, topics * depth)
    qrels, runs = collection()[0], other_runs()
    for topics in (1, 50):
        judgments = collection(topics)[0]
        table[f"fresh dicts, {topics} × 100"] = (
            from_dicts(judgments, *other_runs(topics), fresh=True),
            topics * 100,
        )
    table["DataFrames, 50 × 100"] = (from_frames(qrels, *runs), 5000)
    table["fresh DataFrames, 50 × 100"] = (from_frames(qrels, *runs, fresh=True), 5000)
    table |= {f"arrays, {topics} × {depth}": (from_arrays(topics, depth), topics * depth) for topics, depth in SHAPES}
    return table


def milliseconds(work: Callable[[], object], times: int) -> float:
    """Return processor time of one call."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times * 1000


def main(rounds: int = 15) -> None:
    warnings.simplefilter("ignore", gradedeval.EvaluationWarning)  # a topic alone is told of as too few
    print("\nevaluations from Python, topics × documents: medians of processor time")
    for name, (works, documents) in rows().items():
        times: dict[str, list[float]] = {who: [] for who in works}
        for work in works.values():
            work()  # ranx compiles
        turns, draw = list(works.items()), random.Random(1)
        for _ in range(rounds):
            draw.shuffle(turns)  # the next one starts with caches full of the data of the one before
            for who, work in turns:
                times[who].append(milliseconds(work, max(2, min(200, DOCUMENTS // documents))))
        for who, milliseconds_of_turn in times.items():
            print(f"  {name:<34} {who:<30} {statistics.median(milliseconds_of_turn):8.3f} ms")


if __name__ == "__main__":
    main()
