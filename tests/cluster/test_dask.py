"""`--cluster`, with a scheduler and workers as a user starts them: the same bytes, and faults in one line."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import gradedeval
from gradedeval.errors import InputError, heard_by
from gradedeval.kernel import parallel
from gradedeval.kernel.parallel import Workers, clusters
from gradedeval.kernel.parallel.clusters import connected
from gradedeval.kernel.parallel.executors import MORE_MEMORY, WorkerDied
from gradedeval.kernel.scoring import sharing
from gradedeval.kernel.trec import remote
from support.collection import SMALL, outcome, written_collection
from support.commands import Command, Outcome, environment
from support.dask_cluster import Started, started
from support.paths import DATA, ROOT, SAMPLES, shared
from support.processes import free_port, interrupted, linux, processes_of, wait_for
from support.storage import environment_of, storage_of_samples

pytestmark = [pytest.mark.exhaustive, linux, pytest.mark.skipif(not find_spec("distributed"), reason="no dask here")]

FILES = [str(SAMPLES / name) for name in ("rivers-bm25.run", "rivers-dense.run", "rivers.qrels")]
STORAGE = free_port()
MODULES = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Two workers with little memory, which know where a bucket is, and the functions of this file."""
    folder, few = tmp_path_factory.mktemp("dask"), ("--memory-limit", "700MiB")
    with started(folder, 2, *few, PYTHONPATH=MODULES, **environment_of(STORAGE)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    with connected("local", 2) as client:
        yield client


@pytest.fixture
def storage(client: Any) -> Iterator[Any]:
    with storage_of_samples(STORAGE) as files:
        yield files


@pytest.fixture
def client(cluster: Started) -> Iterator[Any]:
    from distributed import Client  # the quick run collects this file too, and dask takes long to import

    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return written_collection(tmp_path)


@pytest.mark.parametrize("by_topic", [True, False], ids=["topics", "summaries"])
@pytest.mark.parametrize(
    "options", [{"residuals": "total", "topics": "both"}, {"subtopics": True}], ids=["residuals", "intents"]
)
def test_a_cluster_gives_what_one_process_gives(by_topic: bool, options: Any, collection: Path, client: Any) -> None:
    """Runs whole and in parts, packed, with topics that take turns, and one that is broken."""
    expected = outcome(collection, Workers(), by_topic, **options)
    assert len(expected[2]) == 1
    for executor in (client, client.get_executor()):
        crew = Workers(2, limits=SMALL, executor=executor)
        assert outcome(collection, crew, by_topic, **options) == expected


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
def test_a_task_whose_worker_is_killed_is_done_by_another(deaths: int, found: Any, local: Any, tmp_path: Path) -> None:
    done = dict(Workers(2, executor=local).imap_unordered(Slow(tmp_path, deaths), range(8)))
    assert {number: result for number, result in done.items() if number != 3} == {n: n for n in range(8) if n != 3}
    assert done[3] == 3 if found is None else isinstance(done[3], found)


def test_who_stops_early_leaves_the_cluster_as_it_was(client: Any) -> None:
    results = Workers(2, executor=client).imap_unordered(time.sleep, [0.1] * 50)
    next(results)
    results.close()
    wait_for(lambda: tasks_on(client) == 0)


def test_other_versions_are_refused_with_both_named(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.__version__", "9.9")
    with pytest.raises(InputError, match=r"gradedeval 9\.9 here and gradedeval \S+ on the worker at tcp://"):
        Workers.of(executor=client)


def test_a_client_that_cannot_be_used_is_told(client: Any, cluster: Started) -> None:
    from distributed import Client

    async def evaluated() -> None:
        async with Client(cluster.address, asynchronous=True, set_as_default=False) as other:
            gradedeval.evaluate(*FILES[1:], executor=other)

    with pytest.raises(InputError, match=r"^executor: the client is asynchronous, .*; give Client\(address\)"):
        asyncio.run(evaluated())
    client.close()
    with pytest.raises(InputError, match=r"^executor: the client is closed; give an open one"):
        gradedeval.evaluate(*FILES[1:], executor=client, jobs=2)


def test_other_versions_on_machines_of_an_executor_are_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradedeval.__version__", "9.9")
    with pytest.raises(InputError, match=r"^executor: gradedeval 9\.9 here and gradedeval \S+ on a worker on "):
        list(Workers(2, executor=client.get_executor()).imap(abs, [1, 2]))


def test_what_is_not_a_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(InputError, match=f"^cluster: what answers at {address} is not a dask scheduler"),
            connected(address, 1),
        ):
            pass


def test_a_worker_without_gradedeval_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "VERSIONS", "__import__('no_such_package')")
    with pytest.raises(InputError, match=r"the worker at tcp://\S+ \(Python 3\.\d+\) has no no_such_package"):
        Workers.of(executor=client)


def test_the_first_worker_of_an_empty_cluster_is_waited_for_and_a_scheduler_that_goes_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    said: list[str] = []
    with (
        heard_by(said.extend),
        started(tmp_path, 0, pages=True) as cluster,
        Client(cluster.address) as client,
    ):
        page = r"http://127\.0\.0\.1:\d+/status" if find_spec("bokeh") else ""  # by which dask draws its pages
        assert re.fullmatch(page, clusters.dashboard(client))
        monkeypatch.setattr(clusters, "FIRST_WORKER", 0.1)
        with pytest.raises(InputError, match=r"^cluster: no worker has joined tcp://\S+ within 0\.1 seconds; "):
            Workers.of(executor=client)
        monkeypatch.setattr(clusters, "FIRST_WORKER", 60)
        cluster.add_worker(tmp_path)
        assert Workers.of(executor=client).count == 1
        assert said[1:] == [f"{cluster.address}: has no workers yet; waiting up to 60 seconds for the first one"]
        results = Workers(2, executor=client).imap_unordered(time.sleep, [0.2] * 100)
        next(results)
        os.killpg(cluster.processes[0].pid, signal.SIGKILL)
        with pytest.raises(InputError, match=r"^cluster: the scheduler at tcp://.* is gone"):
            list(results)


def test_a_scheduler_without_pages_names_none(client: Any) -> None:
    assert clusters.dashboard(client) == ""


def test_a_worker_that_joins_late_is_refused_as_the_others(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    crew = Workers.of(executor=client)
    monkeypatch.setattr("gradedeval.__version__", "9.9")
    with pytest.raises(InputError, match=r"gradedeval 9\.9 here and gradedeval \S+ on the worker at tcp://"):
        list(crew.imap_unordered(abs, [1]))


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            "gradedeval",
            r"a worker that joined late has no gradedeval; pip install 'gradedeval.*' there",
        ),
        ("torch", "a worker has no torch; install there what is installed here"),
    ],
)
def test_what_a_worker_lacks_is_told_in_a_line(module: str, said: str, client: Any) -> None:
    with pytest.raises(InputError, match=f"^cluster: {said}$"):
        list(Workers.of(executor=client).imap_unordered(partial(without, module), [1]))


def without(module: str, number: int) -> None:
    raise ModuleNotFoundError(f"No module named '{module}'", name=module)


def test_a_scheduler_without_gradedeval_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_answers", partial(_only_workers, clusters._answers))
    with pytest.raises(InputError, match=r"^cluster: the scheduler \(Python 3\.\d+\) has no gradedeval; pip install"):
        Workers.of(executor=client)


def _only_workers(asked: Any, client: Any, question: str) -> dict[str, Any]:
    answers = asked(client, question)
    if question == clusters.VERSIONS:
        with pytest.raises(ModuleNotFoundError) as lacking:
            client.run_on_scheduler(eval, "__import__('no_such_package')")
        answers["the scheduler"] = ModuleNotFoundError(str(lacking.value), name="gradedeval")
    return dict(answers)


def test_a_measure_that_cannot_travel_is_one_line(cluster: Started, process: Command) -> None:
    own = ("--measures-from", str(ROOT / "examples" / "my_measures.py"), "-m", "first_page")
    done = process(*FILES, *own, "--cluster", cluster.address)
    what = "measure first_page: other processes cannot import it from my_measures.py"
    cure = "put it into a package that they have too, which offers it by the entry point gradedeval.measures"
    assert (done.code, done.out, done.messages) == (2, b"", [f"{what}; {cure}"])


@pytest.mark.parametrize(
    "words",
    ["-m 'err@20 ap' --residuals -q -f csv", "-m insq(T=2) --cwl", "-m ap --topics both --keep-going none.run"],
    ids=["residuals", "cwl", "faults"],
)
def test_a_cluster_prints_what_one_process_prints(words: str, cluster: Started, process: Command) -> None:
    more = shlex.split(words)
    alone, shared = (process(*more, *FILES, *who) for who in (("--jobs", "1"), ("--cluster", cluster.address)))
    assert len(alone.messages) > 0
    assert shared == alone


def test_a_cluster_of_this_machine_prints_what_one_process_prints(process: Command) -> None:
    words = (*FILES, "-m", "err@20 rbp(p=0.8)", "--residuals", "-q")
    assert process(*words, "--cluster", "local", "--jobs", "2") == process(*words, "--jobs", "1")


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU])
def test_a_cluster_of_this_machine_leaves_nothing_behind(number: signal.Signals | None, tmp_path: Path) -> None:
    """No file, no process and no word, of its libraries either."""
    with tempfile.TemporaryDirectory() as temporary:  # whose name is short enough for a socket
        process = subprocess.Popen(
            [sys.executable, "-m", "gradedeval", *FILES, "-m", "ap", "--cluster", "local", "-o", "out.csv"],
            cwd=tmp_path,
            env={**environment(), "TMPDIR": temporary},
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        while number is not None and len(processes_of(process.pid)) < 4:  # the first worker
            assert process.poll() is None
            time.sleep(0.01)
        if number is not None:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
        assert process.returncode == (0 if number is None else 128 + number), said
        assert number is None or said == (b"interrupted\n" if number is signal.SIGINT else b"")
        wait_for(lambda: processes_of(process.pid) == [])
        assert os.listdir(temporary) == []
    assert os.listdir(tmp_path) == (["out.csv"] if number is None else [])


def test_a_folder_for_temporary_files_that_is_of_no_use_is_told(tmp_path: Path) -> None:
    (temporary := tmp_path / ("x" * 100)).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "gradedeval", *FILES, "-m", "ap", "--cluster", "local"],
        env={**environment(), "TMPDIR": str(temporary)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    said = b"--cluster: no workers can be started on this machine (AF_UNIX path too long); use --jobs\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", said)
    assert os.listdir(temporary) == []


def tasks_on(client: Any) -> int:
    """How many tasks the scheduler knows."""
    return int(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))


def test_a_worker_that_runs_out_of_memory_is_started_again_and_the_run_is_told(client: Any) -> None:
    done = dict(Workers(1, executor=client).imap_unordered(hungry, range(3)))
    assert (done[0], done[2], str(done[1])) == (0, 2, str(WorkerDied("cluster", MORE_MEMORY)))


def hungry(number: int) -> int:
    if number == 1:
        kept = [b"x" * (1 << 28) for _ in range(6)]
        time.sleep(5)
        return len(kept)
    return number


def test_ctrl_c_takes_back_what_was_handed_over(client: Any, cluster: Started, tmp_path: Path) -> None:
    script = (
        "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from distributed import Client; submit = Client.submit;"
        "Client.submit = lambda self, *given, **how: submit(self, time.sleep, 3, **how);"
        "from gradedeval.cli import main; main()"
    )
    words = (*FILES, "-o", "out.csv", "--cluster", cluster.address)
    code, said, _ = interrupted(script, *words, folder=tmp_path, when=lambda _: tasks_on(client) > 0)
    assert (code, said) == (130, b"interrupted\n")
    assert list(tmp_path.iterdir()) == []
    wait_for(lambda: tasks_on(client) == 0)
    assert len(client.nthreads()) == 2


def test_the_example_starts_a_cluster_and_evaluates_the_samples(process: Command) -> None:
    done = subprocess.run(
        [ROOT / "examples" / "cluster.sh"],
        env={**environment(), "PYTHON": sys.executable, "PORT": str(free_port())},
        capture_output=True,
        timeout=60,
        check=False,
    )
    runs = sorted(map(str, SAMPLES.glob("rivers-*.run")))
    alone = process(*runs, str(SAMPLES / "rivers.qrels"), "-m", "err@20 ap", "--sort", "err@20", "--jobs", "1")
    shared = Outcome(done.returncode, done.stdout, done.stderr)
    assert (shared.code, shared.out) == (0, alone.out)
    said = [line for line in shared.messages if "waiting up to" not in line]
    assert said == [line.replace(f"{ROOT}/", "") for line in alone.messages]


@pytest.mark.parametrize("large", [remote.LARGE, 1 << 10], ids=["whole", "parts"])
def test_a_cluster_reads_a_bucket(
    large: int, storage: Any, cluster: Started, collection: Path, cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints what the files of this machine print, of runs that are fetched and of runs that are read in parts."""
    storage.put(str(collection), "bucket/more", recursive=True)
    words = ("-m", "err@20 ap", "--duplicates", "first", "--residuals", "-q", "--keep-going")
    here = cli(*(path.name for path in sorted(collection.glob("*run*"))), "qrels", *words, "--jobs", "1")
    done: list[Any] = []
    monkeypatch.setattr(sharing.Collector, "add", lambda *given: done.append(given[1]) or added(*given))
    monkeypatch.setattr(remote, "LARGE", large)
    monkeypatch.setattr(parallel, "FAR", SMALL)
    far = cli("s3://bucket/more/*run*", "s3://bucket/more/qrels", *words, "--cluster", cluster.address)
    assert (far.code, far.out) == (1, here.out)
    names = re.compile(rb"^(?=\S*(run|qrels))", re.MULTILINE)
    assert far.err == names.sub(b"s3://bucket/more/", here.err)
    assert len([task for task in done if task.part]) > 20 or large == remote.LARGE


added = sharing.Collector.add


@shared
def test_a_cluster_reads_the_runs_of_a_track_from_a_bucket(storage: Any, cluster: Started, process: Command) -> None:
    storage.put(str(DATA / "covid-round1" / "runs"), "bucket/track", recursive=True)
    storage.put(str(DATA / "covid-round1" / "qrels.txt"), "bucket/track.txt")
    words = ("-m", "err@20 ndcg@10 ap", "-q", "-f", "csv")
    here = process(str(DATA / "covid-round1" / "runs"), str(DATA / "covid-round1" / "qrels.txt"), *words)
    far = process("s3://bucket/track/", "s3://bucket/track.txt", *words, "--cluster", cluster.address)
    assert (far.code, far.out) == (0, here.out)
    assert far.err == here.err.replace(f"{DATA / 'covid-round1'}/runs".encode(), b"s3://bucket/track")
    assert len(here.out.splitlines()) > 48 * 30
