"""`evaluate(executor=…)`: scores, residuals, notes and errors do not depend on the executor."""

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.errors import InputError
from gradedeval.kernel.options import Options
from gradedeval.kernel.parallel import Limits, Workers
from gradedeval.kernel.scoring.evaluate import evaluate_runs
from support.collection import written_collection
from support.processes import Far

LIMITS = Limits(small_runs=0, large_file=6000, segment=3000, block=800)
MEASURES = "err@20 ndcg@10 rbp(p=0.8) ap gap insq(T=2) num_ret"


PROCESSES = partial(ProcessPoolExecutor, 2, multiprocessing.get_context("fork"))


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return written_collection(tmp_path)


def outcome(collection: Path, workers: Workers, names: list[str]) -> Any:
    options = Options(residuals="total", duplicates="first", topics="both")
    runs = {name: collection / name for name in names}
    measures = gradedeval.parse_measures(MEASURES)
    scores = evaluate_runs(runs, collection / "qrels", measures, options, keep_going=True, workers=workers)
    return scores.frame.to_csv(), scores.notes, list(map(str, scores.errors)), scores.signature


@pytest.mark.one_in(16)
@pytest.mark.parametrize("crew", [lambda: ThreadPoolExecutor(3), PROCESSES, Far], ids=["threads", "processes", "far"])
@pytest.mark.parametrize(
    "names",
    [["0.run", "1.run", "2.run", "3.run", "broken.run"], ["0.run"], ["turns.run"]],
    ids=["many", "large", "turns"],
)
def test_every_executor_gives_equal_scores(crew: Any, names: list[str], collection: Path) -> None:
    expected = outcome(collection, Workers(), names)
    assert len(expected[0].splitlines()) > 7
    with crew() as executor:
        assert outcome(collection, Workers(2, limits=LIMITS, executor=executor), names) == expected


@pytest.mark.filterwarnings("ignore:.*(dropped|judged topics? (is|are) missing)")
def test_evaluate_takes_an_executor(collection: Path) -> None:
    paths = [collection / f"{number}.run" for number in range(4)]
    expected = gradedeval.evaluate(paths, collection / "qrels", MEASURES, duplicates="first").frame
    with ThreadPoolExecutor(3) as executor:
        scores = gradedeval.evaluate(paths, collection / "qrels", MEASURES, duplicates="first", executor=executor)
    assert scores.frame.equals(expected)
    with pytest.raises(InputError, match=r"^executor: int is not an Executor; give a concurrent\.futures\.Executor"):
        gradedeval.evaluate(paths, collection / "qrels", executor=3)  # type: ignore[arg-type]


def test_a_file_that_changes_on_the_way_is_an_error(collection: Path) -> None:
    path = collection / "0.run"

    class Late(Far):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            message = pickle.dumps((function, arguments, named))
            path.write_text(path.read_text() + "39 Q0 late 1 0 t\n")
            future: Future[Any] = Future()
            try:
                function, arguments, named = pickle.loads(message)
                future.set_result(function(*arguments, **named))
            except Exception as error:
                future.set_exception(error)
            return future

    with pytest.raises(InputError, match=r"0\.run: has changed while it was read; evaluate it when it is complete"):
        outcome(collection, Workers(2, limits=LIMITS, executor=Late()), ["0.run"])
