"""Learning to rank: the cost of a swap and of a gradient, and the quality of rankers that are trained by measures.

Run it as `python tests/benchmarks/ltr.py`; it is not part of the tests. `--quality` trains LightGBM by each objective
on five folds with three seeds, which takes some minutes, on the judged documents of the runs of TREC-COVID round 1
beside this checkout, and on a generated set. Times are medians of processor time.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from gradedeval import EvaluationWarning, ltr  # noqa: E402

COVID = ROOT.parent / "shared" / "data" / "covid-round1"
FOLDS, SEEDS, TREES = 5, (1, 2, 3), 60
MEASURES = ("ndcg@10", "ndcg", "gap", "err", "ap")
LIGHTGBM = {
    **{"learning_rate": 0.1, "num_leaves": 31, "bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.8},
    **{"lambdarank_truncation_level": 1000, "verbose": -1, "num_threads": 1, "deterministic": True},
}


class Set(NamedTuple):
    """Features of documents, their grades, and the sizes of lists."""

    features: Any
    grades: Any
    sizes: Any

    @property
    def list_of(self) -> Any:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def of(self, lists: Any) -> Set:
        """Return some of the lists."""
        rows = np.isin(self.list_of, np.flatnonzero(lists))
        return Set(self.features[rows], self.grades[rows], self.sizes[lists])


def covid() -> Set:
    """Return the judged documents of each topic; a feature is 1 / rank in a run, 0 where it is not retrieved."""
    judged: dict[str, dict[str, int]] = {}
    for line in (COVID / "qrels.txt").read_text().splitlines():
        topic, _, docno, grade = line.split()
        judged.setdefault(topic, {})[docno] = int(grade)
    place = {(topic, docno): row for row, (topic, docno) in enumerate((t, d) for t in judged for d in judged[t])}
    runs = sorted((COVID / "runs").glob("*.gz"))
    features = np.zeros((len(place), len(runs)))
    for column, path in enumerate(runs):
        scores: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            topic, _, docno, _, score, *_ = line.split()
            scores.setdefault(topic, []).append((-float(score), docno))
        for topic, listed in scores.items():
            for rank, (_, docno) in enumerate(sorted(listed, key=lambda judged_of_topic: judged_of_topic[0]), 1):
                if (row := place.get((topic, docno))) is not None:
                    features[row, column] = 1 / rank
    grades = np.array([grade for judged_of_topic in judged.values() for grade in judged_of_topic.values()])
    return Set(features, grades, np.array([len(judged_of_topic) for judged_of_topic in judged.values()]))


def generated(lists: int = 250, seed: int = 1) -> Set:
    """Lists of 3 to 40 documents with 30 features, of which ten tell the grade, 0 to 4, a little."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(3, 41, lists)
    features = draw.normal(size=(sizes.sum(), 30))
    relevance = features[:, :8] @ draw.normal(size=8) / 2 + features[:, 8] * features[:, 9]
    relevance += draw.normal(size=lists)[np.repeat(np.arange(lists), sizes)] + draw.normal(size=len(relevance))
    return Set(features, np.clip(np.floor(relevance), 0, 4).astype(int), sizes)


def objectives() -> dict[str, Any]:
    """Return name -> LightGBM's objective; None: no tree at all."""
    ours = {
        name: ltr.objective(text, truncation=None).lightgbm
        for name, text in {"ndcg": "ndcg(gain=exp)", "gap": "gap", "err": "err", "nerr": "nerr", "ap": "ap"}.items()
    }
    smooth = {"softgap": ltr.softgap().lightgbm, "approx ndcg": ltr.approx("ndcg(gain=exp)", sigma=0.5).lightgbm}
    return {"none: all scores 0": None, "built-in lambdarank": "lambdarank", **ours, **smooth}


def trained(data: Set, objective: Any, seed: int) -> Iterator[tuple[dict[str, float], float]]:
    """Yield for each fold the measures on its test lists, and the seconds of a tree."""
    import lightgbm

    fold = np.random.default_rng(0).permutation(len(data.sizes)) % FOLDS
    metrics = {name: ltr.metric(name, top=float(data.grades.max())) for name in MEASURES}
    for held_out in range(FOLDS):
        train, test = data.of(fold != held_out), data.of(fold == held_out)
        scores, seconds = np.zeros(len(test.grades)), 0.0
        if objective is not None:
            dataset = lightgbm.Dataset(train.features, train.grades, group=train.sizes)
            begin = time.process_time()
            booster = lightgbm.train(LIGHTGBM | {"objective": objective, "seed": seed}, dataset, TREES)
            seconds = (time.process_time() - begin) / TREES
            scores = booster.predict(test.features)
        yield (
            {name: metric.sklearn(test.grades, scores, None, test.sizes)[1] for name, metric in metrics.items()},
            seconds,
        )


def quality(name: str, data: Set) -> None:
    """Print test measures by objective: means over folds, and ± their deviation over seeds."""
    warnings.simplefilter("ignore", EvaluationWarning)  # some lists have no relevant document, and count 0
    print(f"\n{name}: {len(data.sizes)} lists of {data.sizes.min()} to {data.sizes.max()} documents\n")
    print(f"| trained for | {' | '.join(MEASURES)} | ms a tree |\n|---|{'---|' * (len(MEASURES) + 1)}")
    for row, objective in objectives().items():
        folds_of_seeds = [list(trained(data, objective, seed)) for seed in (SEEDS if objective else SEEDS[:1])]
        by_seed = np.array([np.mean([[*values.values()] for values, _ in folds], axis=0) for folds in folds_of_seeds])
        spread = by_seed.std(axis=0, ddof=1) if len(by_seed) > 1 else None
        cells = [
            f"{mean:.4f}" if spread is None else f"{mean:.4f} ± {spread[column]:.4f}"
            for column, mean in enumerate(by_seed.mean(axis=0))
        ]
        milliseconds = statistics.median(seconds for folds in folds_of_seeds for _, seconds in folds) * 1000
        print(f"| {row} | {' | '.join(cells)} | {milliseconds:.1f} |", flush=True)


def milliseconds(work: Callable[[], object], times: int) -> float:
    """Return the median processor time of a call."""
    work()
    spent = []
    for _ in range(times):
        begin = time.process_time()
        work()
        spent.append(time.process_time() - begin)
    return statistics.median(spent) * 1000


def times() -> None:
    """Time swaps of one list, and gradients of many."""
    draw = np.random.default_rng(1)
    for documents, calls in ((120, 200), (1000, 20)):
        grades, order = draw.choice(4, documents, p=[0.6, 0.2, 0.1, 0.1]), draw.permutation(documents)
        for name in ("gap", "ap", "ndcg", "rbp", "err", "nerr"):
            spent = milliseconds(lambda: ltr.swap_deltas(name, grades, order), calls)  # noqa: B023
            print(f"  swap_deltas, {documents:>5} documents, {name:<5} {spent:8.2f} ms")
    for lists, documents in ((200, 20), (24, 290), (1000, 120)):
        sizes = np.full(lists, documents)
        grades, scores = draw.choice(4, sizes.sum(), p=[0.6, 0.2, 0.1, 0.1]), draw.normal(size=sizes.sum())
        for truncation in (30, None):
            for name in ("gap", "ndcg", "err"):
                objective = ltr.objective(name, truncation=truncation)
                spent = milliseconds(lambda: objective.gradients(grades, scores, group=sizes), 5)  # noqa: B023
                pairs = "all pairs" if truncation is None else f"truncation {truncation}"
                print(f"  gradients, {lists:>4} × {documents:<3} {pairs:<13} {name:<5} {spent:8.1f} ms")
        soft = ltr.softgap()
        spent = milliseconds(lambda: soft.gradients(grades, scores, group=sizes), 3)  # noqa: B023
        print(f"  gradients, {lists:>4} × {documents:<3} {'':<13} softgap {spent:6.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quality", action="store_true", help="train rankers, in place of times")
    if not parser.parse_args().quality:
        times()
        return
    if COVID.is_dir():
        quality("TREC-COVID round 1", covid())
    quality("generated", generated())


if __name__ == "__main__":
    main()
