"""`--cluster`, with a scheduler and workers as a user starts them: the same bytes, and faults in one line."""

from __future__ import annotations

import gzip
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradedeval.errors import InputError
from gradedeval.options import Options
from gradedeval.parallel import clusters
from gradedeval.parallel.clusters import connected
from gradedeval.parallel.workers import Limits, WorkerDied, Workers
from gradedeval.scoring.evaluate import evaluate_runs
from support.dask_cluster import Started, started
from support.processes import linux

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.exhaustive, linux]

LIMITS = Limits(large_file=6000, segment=3000, block=800, runs=2, waiting=4)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(tmp_path_factory.mktemp("dask")) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Started) -> Iterator[Any]:
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    draw = random.Random(3)
    judged = [f"{topic} {at % 2} d{at} {draw.choice([0, 1, 2, 3])}\n" for topic in range(40) for at in range(0, 60, 2)]
    (tmp_path / "qrels").write_text("".join(judged))
    for number in range(5):
        lines = [f"{t} Q0 d{at} {at} {draw.randrange(50)} t\n" for t in range(number, 40) for at in range(9)]
        (tmp_path / f"{number}.run").write_text("".join(lines))
    (tmp_path / "packed.run.gz").write_bytes(gzip.compress((tmp_path / "0.run").read_bytes()))
    turns = [f"{topic} Q0 d{at} {at} {draw.randrange(9)} t\n" for at in range(20) for topic in range(30)]
    (tmp_path / "turns.run").write_text("".join(turns))
    (tmp_path / "broken.run").write_text("".join(turns[:70]) + "1 Q0 d\n")
    return tmp_path


def outcome(folder: Path, workers: Workers, by_topic: bool, **options: Any) -> Any:
    import gradedeval

    measures = "err@20 alpha_dcg@10 num_ret" if options.get("subtopics") else "err@20 ap insq(T=2) num_ret"
    runs = {path.name: path for path in sorted(folder.iterdir()) if "run" in path.name}
    scores = evaluate_runs(
        *(runs, folder / "qrels", gradedeval.parse_measures(measures), Options(**options)),
        keep_going=True,
        by_topic=by_topic,
        workers=workers,
    )
    return list(scores.rows(by_topic)), scores.notes, list(map(str, scores.errors)), scores.signature


@pytest.mark.parametrize("by_topic", [True, False], ids=["topics", "summaries"])
@pytest.mark.parametrize(
    "options", [{"residuals": "total", "topics": "both"}, {"subtopics": True}], ids=["residuals", "intents"]
)
def test_a_cluster_gives_what_one_process_gives(by_topic: bool, options: Any, collection: Path, client: Any) -> None:
    """Runs whole and in parts, packed, with topics that take turns, and one that is broken."""
    expected = outcome(collection, Workers(), by_topic, **options)
    assert len(expected[2]) == 1
    for executor in (client, client.get_executor()):
        crew = Workers(2, limits=LIMITS, executor=executor)
        assert outcome(collection, crew, by_topic, **options) == expected
    assert (
        outcome(collection, Workers(2, limits=LIMITS, executor=client.get_executor()), by_topic, **options) == expected
    )


class Slow:
    """Work that takes a while, and says who does it; by one task the worker dies as often as asked."""

    def __init__(self, folder: Path, dies: int = 0) -> None:
        self.folder, self.dies = folder, dies

    def __call__(self, number: int) -> int:
        if number == 3 and len(list(self.folder.glob("died*"))) < self.dies:
            (self.folder / f"died{time.monotonic()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return number


@pytest.mark.parametrize(("deaths", "found"), [(1, None), (99, WorkerDied)], ids=["once", "always"])
def test_a_task_whose_worker_is_killed_is_done_by_another(deaths: int, found: Any, tmp_path: Path) -> None:
    with connected("local", 2) as client:
        done = dict(Workers(2, executor=client).imap_unordered(Slow(tmp_path, deaths), range(8)))
    assert {number: result for number, result in done.items() if number != 3} == {n: n for n in range(8) if n != 3}
    assert done[3] == 3 if found is None else isinstance(done[3], found)


def test_a_scheduler_that_goes_is_told_in_a_line(tmp_path: Path) -> None:
    with started(tmp_path) as cluster, distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        threading.Timer(1.0, lambda: os.killpg(cluster.processes[0].pid, signal.SIGKILL)).start()
        with pytest.raises(InputError, match=r"^cluster: the scheduler at tcp://.* is gone"):
            list(Workers(2, executor=client).imap_unordered(time.sleep, [0.2] * 100))


def test_who_stops_early_leaves_the_cluster_as_it_was(client: Any) -> None:
    results = Workers(2, executor=client).imap_unordered(time.sleep, [0.1] * 50)
    next(results)
    results.close()
    until = time.monotonic() + 20
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < until:
        time.sleep(0.1)
    assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_other_versions_are_refused_with_both_named(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.__version__", "9.9")
    with pytest.raises(InputError, match=r"gradedeval 9\.9 here and gradedeval \S+ on a worker \(at tcp://"):
        Workers.of(executor=client)


def test_a_worker_without_gradedeval_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "VERSIONS", "__import__('no_such_package')")
    with pytest.raises(InputError, match=r"a worker has no no_such_package \(at tcp://"):
        Workers.of(executor=client)
