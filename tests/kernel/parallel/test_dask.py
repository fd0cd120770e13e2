"""`--cluster` and executors of dask, with a scheduler and four workers as a user starts them."""

import os
import shlex
import signal
import socket
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.errors import InputError
from gradedeval.kernel.parallel import Workers, executors
from gradedeval.kernel.parallel.executors import WorkerDied, connect
from support.collection import SMALL, outcome, written_collection
from support.commands import Command
from support.dask_cluster import Started, started
from support.paths import DATA, ROOT, SAMPLES, shared
from support.processes import interrupted, linux, wait_for

pytestmark = [pytest.mark.exhaustive, linux, pytest.mark.skipif(not find_spec("distributed"), reason="no dask here")]

FILES = [str(SAMPLES / name) for name in ("rivers-bm25.run", "rivers-dense.run", "rivers.qrels")]
MODULES = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
WORKERS = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Start four worker processes that can import the functions of this file."""
    with started(tmp_path_factory.mktemp("dask"), WORKERS, PYTHONPATH=MODULES) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Started) -> Iterator[Any]:
    from distributed import Client  # the quick run collects this file too, and dask takes long to import

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(WORKERS, timeout=60)
        yield client


def executor_of(client: Any) -> Any:
    return client.get_executor(pure=False)


@pytest.mark.parametrize("by_topic", [True, False], ids=["topics", "summaries"])
@pytest.mark.parametrize(
    "options", [{"residuals": "total", "topics": "both"}, {"subtopics": True}], ids=["residuals", "intents"]
)
def test_dask_executors_equal_one_process(by_topic: bool, options: Any, tmp_path: Path, client: Any) -> None:
    """Score runs whole and in parts, compressed, with interleaved topics, and a broken one."""
    collection = written_collection(tmp_path)
    expected = outcome(collection, Workers(), by_topic, **options)
    assert len(expected[2]) == 1
    crew = Workers(WORKERS, limits=SMALL, executor=executor_of(client))
    assert outcome(collection, crew, by_topic, **options) == expected


@pytest.mark.parametrize(
    "words",
    ["-m 'err@20 ap' --residuals -q -f csv", "-m insq(T=2) --cwl", "-m ap --topics both --keep-going none.run"],
    ids=["residuals", "cwl", "faults"],
)
def test_a_cluster_prints_the_output_of_one_process(words: str, cluster: Started, process: Command) -> None:
    more = shlex.split(words)
    alone, distributed = (
        process(*more, *FILES, *options) for options in (("--jobs", "1"), ("--cluster", cluster.address))
    )
    assert len(alone.messages) > 0
    assert distributed == alone


@shared
def test_a_cluster_scores_the_runs_of_a_track(cluster: Started, process: Command) -> None:
    track = DATA / "covid-round1"
    words = (str(track / "runs"), str(track / "qrels.txt"), "-m", "err@20 ndcg@10 ap", "-q", "-f", "csv")
    alone = process(*words)
    assert process(*words, "--cluster", cluster.address) == alone
    assert len(alone.out.splitlines()) > 48 * 30


@pytest.mark.filterwarnings("ignore::gradedeval.EvaluationWarning")  # a topic is missing from one run
def test_python_takes_an_executor_and_its_number_of_threads(client: Any) -> None:
    assert Workers.of(executor=executor_of(client)).count == WORKERS
    here = gradedeval.evaluate(FILES[:2], FILES[2], "ap").means_by_run
    assert gradedeval.evaluate(FILES[:2], FILES[2], "ap", executor=executor_of(client)).means_by_run == here


class Slow:
    """Slow work; the worker of one task kills itself for a number of times."""

    def __init__(self, folder: Path, deaths: int = 0) -> None:
        self.folder, self.deaths = folder, deaths

    def __call__(self, number: int) -> int:
        if number == 3 and len(list(self.folder.glob("died*"))) < self.deaths:
            (self.folder / f"died{time.monotonic()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.05)
        return number


@pytest.mark.parametrize(("deaths", "dies"), [(1, False), (99, True)], ids=["once", "always"])
def test_the_task_of_a_killed_worker_is_retried(deaths: int, dies: bool, client: Any, tmp_path: Path) -> None:
    crew = Workers(WORKERS, executor=executor_of(client))
    done = dict(crew.imap_unordered(Slow(tmp_path, deaths), range(8)))
    assert {number: result for number, result in done.items() if number != 3} == {n: n for n in range(8) if n != 3}
    assert isinstance(done[3], WorkerDied) if dies else done[3] == 3
    assert not dies or str(done[3]) == "executor: a worker process died; it may be out of memory"


def tasks_on(client: Any) -> int:
    """Return the number of tasks known to the scheduler."""
    return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def test_stopping_early_cancels_remaining_tasks(client: Any) -> None:
    results = Workers(WORKERS, executor=executor_of(client)).imap_unordered(time.sleep, [0.1] * 50)
    next(results)
    results.close()
    wait_for(lambda: tasks_on(client) == 0)


def test_ctrl_c_withdraws_submitted_tasks(client: Any, cluster: Started, tmp_path: Path) -> None:
    script = (
        "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from distributed import Client; submit = Client.submit;"
        "Client.submit = lambda self, *given, **how: submit(self, time.sleep, 3, pure=False);"
        "from gradedeval.cli import main; main()"
    )
    words = (*FILES, "-o", "out.csv", "--cluster", cluster.address)
    code, stderr, _ = interrupted(script, *words, folder=tmp_path, when=lambda _: tasks_on(client) > 0)
    assert (code, stderr) == (130, b"interrupted; nothing was written\n")
    assert list(tmp_path.iterdir()) == []
    wait_for(lambda: tasks_on(client) == 0)
    assert len(client.nthreads()) == WORKERS


def test_other_versions_are_refused_with_both_named(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.__version__", "9.9")
    with pytest.raises(InputError, match=r"^executor: gradedeval 9\.9 here and gradedeval \S+ on a worker on "):
        list(Workers(2, executor=executor_of(client)).imap(abs, [1, 2]))


def without(module: str, number: int) -> None:
    raise ModuleNotFoundError(f"No module named '{module}'", name=module)


def test_a_module_missing_on_a_worker_is_one_line(client: Any) -> None:
    message = "^executor: a worker has no module torch; install there what is installed here$"
    with pytest.raises(InputError, match=message):
        list(Workers(2, executor=executor_of(client)).imap_unordered(partial(without, "torch"), [1, 2]))


def test_an_unpicklable_measure_is_one_line(cluster: Started, process: Command) -> None:
    arguments = ("--measures-from", str(ROOT / "examples" / "my_measures.py"), "-m", "first_page")
    done = process(*FILES, *arguments, "--cluster", cluster.address)
    problem = "measure first_page: other processes cannot import it from my_measures.py"
    cure = "put it into a package that is installed there and has an entry point gradedeval.measures"
    assert (done.code, done.out, done.messages) == (2, b"", [f"{problem}; {cure}"])


def test_a_client_is_not_an_executor(client: Any) -> None:
    message = r"^executor: Client is not an Executor; give .* client\.get_executor\(\) of a dask client$"
    with pytest.raises(InputError, match=message):
        gradedeval.evaluate(*FILES[1:], executor=client)


def test_an_address_without_a_scheduler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match=f"^cluster: the server at {address} is not a dask scheduler"):
            connect(address).__enter__()
    with pytest.raises(InputError, match=f"^cluster: no scheduler answers at {address}"):
        connect(address).__enter__()


def test_no_workers_and_a_dead_scheduler_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "FIRST_WORKER", 0.1)
    with started(tmp_path, 0) as cluster:
        with pytest.raises(InputError, match=r"^cluster: no worker has joined tcp://\S+ within 0\.1 seconds; "):
            connect(cluster.address).__enter__()
        monkeypatch.setattr(executors, "FIRST_WORKER", 60)
        cluster.add_worker(tmp_path)
        with connect(cluster.address) as executor:
            results = Workers(2, executor=executor).imap_unordered(time.sleep, [0.2] * 100)
            next(results)
            os.killpg(cluster.processes[0].pid, signal.SIGKILL)
            with pytest.raises(InputError, match=r"^executor: the task was cancelled; check that the scheduler"):
                list(results)
