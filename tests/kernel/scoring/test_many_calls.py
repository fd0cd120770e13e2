"""Qrels reused by many evaluations, also concurrent ones, give the same results as new qrels."""

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval import Qrels
from gradedeval.kernel.scoring.scorer import CACHED_SCORERS

DRAW = random.Random(5)
QRELS = {f"q{t}": {f"d{i}": DRAW.choice([0, 0, 1, 2]) for i in range(15)} for t in range(5)}
RUNS = [
    {f"q{t}": {f"d{i}": DRAW.random() for i in DRAW.sample(range(25), 12)} for t in DRAW.sample(range(5), 5)}
    for _ in range(6)
]
ASKED = ["ndcg@10 ap", "map nDCG@10", "err@20", "err(gain=linear)@20 rbp", "bpref judged@5"]
OPTIONS: list[dict[str, Any]] = [{}, {"residuals": True}, {"rel": 2}, {"depth": 3}, {"ties": "average"}]


def evaluations(qrels: Any, count: int) -> list[Any]:
    """Return the arguments of `count` calls, each with another run and other measures or options."""
    drawn = random.Random(9)
    chosen = [(drawn.choice(RUNS), drawn.choice(ASKED), drawn.choice(OPTIONS[:4])) for _ in range(count)]
    return [(run, qrels, measures, options) for run, measures, options in chosen]


def means(call: tuple[Any, ...]) -> tuple[Any, ...]:
    run, qrels, measures, options = call
    scores = gradedeval.evaluate(run, qrels, measures, **options)
    return list(scores.means.items()), list(scores.residuals.items()), scores.signature


@pytest.mark.filterwarnings("ignore:.*no measure here uses it:gradedeval.EvaluationWarning")
@pytest.mark.exhaustive
def test_300_calls_on_8_threads_are_equal() -> None:
    expected: dict[str, Any] = {}
    for call in evaluations(QRELS, 300):
        if (key := repr((id(call[0]), *call[2:]))) not in expected:
            expected[key] = means(call)
    calls = evaluations(Qrels(QRELS), 300)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(means, calls))
    assert results == [expected[repr((id(call[0]), *call[2:]))] for call in calls]


@pytest.mark.filterwarnings("ignore:.*no measure here uses it")
def test_a_scorer_is_found_again_by_measures_names_and_options() -> None:
    qrels = Qrels(QRELS)
    for measures in ASKED:
        for options in OPTIONS[:4] + OPTIONS[:1]:
            assert means((RUNS[0], qrels, measures, options)) == means((RUNS[0], QRELS, measures, options))
    assert 0 < len(qrels._scorers) <= CACHED_SCORERS
    assert pickle.loads(pickle.dumps(qrels))._scorers == {}


def test_gains_in_a_file_are_read_each_time(tmp_path: Path) -> None:
    qrels, gains = Qrels(QRELS), tmp_path / "gains.csv"
    values = []
    for top in (3, 9):
        gains.write_text(f"0,0\n1,1\n2,{top}\n")
        values.append(gradedeval.evaluate(RUNS[0], qrels, f"dcg(gain=@{gains})").means)
    assert values[0] != values[1]


def test_qrels_do_not_change_with_their_dict() -> None:
    mine = {topic: dict(documents) for topic, documents in QRELS.items()}
    qrels = Qrels(mine)
    original = gradedeval.evaluate(RUNS[0], qrels, "ap").means
    mine["q0"].clear()
    assert gradedeval.evaluate(RUNS[0], qrels, "ap").means == original
    assert qrels.digest == Qrels(QRELS).digest
