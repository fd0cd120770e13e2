"""Work shared through an Executor: each task runs once, in any worker, and no worker is left behind."""

import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradedeval.cli import progress as bars
from gradedeval.errors import InputError
from gradedeval.kernel import parallel
from gradedeval.kernel.parallel import Workers, executors
from gradedeval.kernel.parallel.executors import WorkerDied, check_script, in_order
from support.collection import SMALL, outcome, written_collection
from support.commands import environment, python
from support.examples import sampled
from support.paths import ROOT
from support.processes import Far, Terminal, linux, nobody_is_left


def squared(number: int) -> tuple[int, int]:
    time.sleep(0.005)
    return number * number, os.getpid()


@contextmanager
def forked() -> Iterator[Workers]:
    yield Workers(3)


@contextmanager
def spawned() -> Iterator[Workers]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not executors.can_fork()
        yield Workers(2)
    finally:
        stop.set()
        thread.join()


@contextmanager
def threads() -> Iterator[Workers]:
    with ThreadPoolExecutor(3) as pool:
        yield Workers.of(executor=pool)


@contextmanager
def processes_of_the_caller() -> Iterator[Workers]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        yield Workers.of(executor=pool)


@contextmanager
def far() -> Iterator[Workers]:
    yield Workers.of(2, executor=Far())


@linux
@pytest.mark.parametrize(
    "crew",
    [forked, pytest.param(spawned, marks=pytest.mark.exhaustive), threads, processes_of_the_caller, far],
    ids=lambda crew: crew.__name__,
)
def test_each_task_runs_once_and_results_are_in_order(crew: Any) -> None:
    with crew() as workers:
        tasks = list(range(20, 50))
        results = list(workers.imap(squared, tasks))
        assert [square for square, _ in results] == [task * task for task in tasks]
        squares = {task: square for task, (square, _) in workers.imap_unordered(squared, tasks)}
        assert squares == {task: task * task for task in tasks}
        if crew in (forked, spawned):
            assert os.getpid() not in {process for _, process in results}
    assert nobody_is_left()


def test_work_is_not_sent_with_every_task() -> None:
    """Send it only with tasks that were submitted before the first worker reported that it lacks it."""
    executor, large = Far(), bytes(100_000)
    results = list(Workers.of(2, executor=executor).imap(partial(counted, large), range(50)))
    assert results == [100_000 + number for number in range(50)]
    large_ones = [size for size in executor.sent if size > 300]
    assert len(large_ones) == 2 * 2 + 1
    assert len(executor.sent) == 50 + len(large_ones)


def counted(large: bytes, number: int) -> int:
    return len(large) + number


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_of_tasks_are_raised(jobs: int) -> None:
    def work(number: int) -> int:
        if number == 3:
            raise InputError("a.run:3", "what", "cure")
        return number

    results = Workers(jobs).imap(work, range(10))
    assert [next(results), next(results), next(results)] == [0, 1, 2]
    with pytest.raises(InputError, match=r"^a\.run:3: what; cure$"):
        next(results)
    assert nobody_is_left()


@linux
def test_tasks_of_a_dead_process_are_retried(tmp_path: Path) -> None:
    def work(number: int) -> int:
        if number == 3 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert list(Workers(2).imap(work, range(10))) == list(range(10))
    assert nobody_is_left()


@pytest.mark.exhaustive
@linux
def test_a_task_that_always_kills_is_named_and_other_tasks_succeed() -> None:
    def work(number: int) -> int:
        if number in (3, 7):
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    results = dict(Workers(2).imap_unordered(work, range(10)))
    assert {number for number, result in results.items() if isinstance(result, WorkerDied)} == {3, 7}
    assert {number: number for number in range(10) if number not in (3, 7)}.items() <= results.items()
    with pytest.raises(WorkerDied, match="a worker process died"):
        list(Workers(2).imap(work, range(10)))
    assert nobody_is_left()


def closed_threads() -> Executor:
    pool = ThreadPoolExecutor(2)
    pool.shutdown()
    return pool


def broken_threads() -> Executor:
    return ThreadPoolExecutor(2, initializer=os.fspath, initargs=(None,))


def closed_processes() -> Executor:
    pool = ProcessPoolExecutor(2)
    pool.shutdown()
    return pool


@pytest.mark.parametrize("factory", [closed_threads, broken_threads, closed_processes], ids=lambda made: made.__name__)
def test_the_error_names_an_executor_without_capacity_and_not_the_run(factory: Callable[[], Executor]) -> None:
    says = r"^executor: takes no more tasks \(.*\); give a new one$"
    with factory() as executor, pytest.raises(InputError, match=says):
        list(Workers.of(executor=executor).imap_unordered(squared, range(3)))


@linux
def test_no_task_is_blamed_for_a_broken_pool_of_the_caller() -> None:
    """Blame none, as any of its tasks may have broken it."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, context) as pool:
        results = Workers.of(executor=pool).imap_unordered(dies_of_three, range(300))
        mismatches = (result for task, result in results if result != task)
        with pytest.raises(InputError, match=r"^executor: takes no more tasks"):
            next(mismatches)


def dies_of_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_thread_does_not_wait_for_its_own_pool() -> None:
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: list(Workers.of(executor=pool).imap(abs, range(3))))
        assert done.result(timeout=10) == [0, 1, 2]


@linux
def test_an_unrepeatable_task_is_not_retried(tmp_path: Path) -> None:
    def work(number: int) -> int:
        with (tmp_path / str(number)).open("a") as log:
            log.write("begun\n")
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    results = dict(Workers(2).imap_unordered(work, range(10), lambda number: number == 3))
    assert isinstance(results[3], WorkerDied)
    assert (tmp_path / "3").read_text() == "begun\n"
    assert sorted(results) == list(range(10))


@linux
def test_stopping_early_leaves_no_process_behind() -> None:
    results = Workers(3).imap_unordered(lambda number: time.sleep(100 * (number > 0)), range(10))
    begin = time.monotonic()
    assert next(results) == (0, None)
    results.close()
    assert nobody_is_left()
    assert time.monotonic() - begin < 50


def test_without_new_processes_this_process_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: Any) -> None:
        raise OSError(38, "Function not implemented")

    for name in ("ProcessPoolExecutor.__init__", "ProcessPoolExecutor.submit"):
        with monkeypatch.context() as patch:
            patch.setattr(f"concurrent.futures.process.{name}", refuses)
            results = list(Workers(2).imap(squared, range(5)))
        assert results == [(number * number, os.getpid()) for number in range(5)]


def test_without_new_processes_after_a_death_no_task_runs_here_or_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run none, as one of them may have killed the process, and would kill this one."""
    here, rounds = os.getpid(), list[int]()

    @contextmanager
    def first_only(*given: Any) -> Iterator[Any]:
        rounds.append(len(given))
        if len(rounds) > 1:
            raise executors.CannotShare
        with scarce(*given) as submit:
            yield submit

    def kills(number: int) -> int:
        assert os.getpid() != here
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    scarce = partial(executors.forked, count=2)
    monkeypatch.setattr(executors, "forked", lambda work, tasks, count: first_only(work, tasks))
    monkeypatch.setattr(executors, "can_fork", lambda: True)
    results = list(Workers(2).imap_unordered(kills, range(4)))
    assert sorted(task for task, _ in results) == [0, 1, 2, 3]
    assert all(result == task for task, result in results if not isinstance(result, WorkerDied))
    assert 3 in {task for task, result in results if isinstance(result, WorkerDied)}


@pytest.mark.parametrize(("jobs", "tasks"), [(1, 5), (3, 1)])
def test_one_process_or_one_task_starts_no_other_process(jobs: int, tasks: int) -> None:
    assert list(Workers(jobs).imap(squared, range(tasks))) == [
        (number * number, os.getpid()) for number in range(tasks)
    ]


def test_a_single_startable_process_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "startable", lambda most: executors.OVERHEAD + 1)
    assert list(Workers(3).imap(squared, range(4))) == [(number * number, os.getpid()) for number in range(4)]


def test_in_order_sorts_results() -> None:
    assert list(in_order([(2, "c"), (0, "a"), (1, "b"), (3, "d")])) == ["a", "b", "c", "d"]


def test_an_error_survives_pickling() -> None:
    error = InputError("a.run:3", "what", "cure", usage=True, also=[InputError("a.run:4", "more")], beyond=5)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.usage, again.place, again.exit_code) == (str(error), True, "a.run:3", 2)
    assert str(pickle.loads(pickle.dumps(WorkerDied("a.run")))) == str(WorkerDied("a.run"))


def test_a_pool_that_breaks_at_once_counts_as_started() -> None:
    """Count it as started, though its threads may have begun and ended between two checks."""

    class Manager:
        def is_alive(self) -> bool:
            pool._call_queue._thread = SimpleNamespace(ident=1)
            return False

    pool = SimpleNamespace(_executor_manager_thread=Manager(), _call_queue=SimpleNamespace(_thread=None))
    executors._check_feeder(pool)
    pool._executor_manager_thread = SimpleNamespace(is_alive=lambda: False)
    pool._call_queue._thread = None
    with pytest.raises(executors.CannotShare):
        executors._check_feeder(pool)


KILLED = """
import os, signal
from gradedeval.kernel.parallel.executors import _processes
if __name__ == "__main__":
    with _processes("spawn", 2) as pool:
        pool.submit(int).result()
        os.kill(os.getpid(), signal.SIG{name})
"""


@linux
@pytest.mark.parametrize("name", sampled(["TERM", "KILL"], 2))
def test_a_killed_parent_of_new_processes_is_silent(name: str, tmp_path: Path) -> None:
    """Let Python's own process clean up without a warning."""
    script = tmp_path / "script.py"
    script.write_text(KILLED.format(name=name))
    done = python(str(script))
    assert (done.returncode, done.stdout, done.stderr) == (-signal.Signals[f"SIG{name}"], "", "")


FILES = [str(ROOT / "qrels_samples" / name) for name in ("rivers-*.run", "rivers.qrels")]
CALLS = {"threads": "jobs=2", "spawn": 'executor=ProcessPoolExecutor(2, get_context("spawn"))'}
SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from threading import Event, Thread
import gradedeval
from gradedeval.kernel import parallel

parallel.LIMITS = parallel.Limits(small_runs=0)
Thread(target=Event().wait, daemon=True).start()
gradedeval.evaluate(*{files}, "ap", {call})
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("call", CALLS)
def test_a_script_rerun_by_new_processes_is_one_line(call: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(files=FILES, call=CALLS[call]))
    done = python(str(script))
    message = [line for line in done.stderr.splitlines() if not line.startswith(" ")]
    if call == "spawn":  # the script's own pool: Python ends a process that has just made another, and may say so
        message = [line for line in message if "resource_tracker.py" not in line]
    assert (done.returncode, done.stdout) == (1, "")
    assert message == [
        "Traceback (most recent call last):",
        "gradedeval.errors.InputError: jobs: new processes rerun this script, and reach this call again; "
        'put the call under `if __name__ == "__main__":`',
    ]


def test_a_process_that_runs_the_script_again_starts_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start none: it would be ended early, and Python would warn of leaked semaphores."""
    monkeypatch.setattr(executors, "check_script", lambda: pytest.fail("this process ends here"))
    monkeypatch.setattr(executors, "_processes", None)
    with pytest.raises(pytest.fail.Exception, match="ends here"), executors.spawned(abs, [1, 2], 2):
        pass


def test_a_script_from_standard_input_cannot_be_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__file__="<stdin>", __spec__=None))
    with pytest.raises(InputError, match=r"^jobs: new processes .* standard input cannot be read twice; save the"):
        check_script()


@pytest.mark.parametrize(("module", "is_lost"), [("distributed.cfexecutor", True), ("a_measure", False)])
def test_a_result_that_dask_lost_with_its_worker_is_requested_again(module: str, is_lost: bool) -> None:
    """Ask again if dask unpacks the result as an error, but not if the task raised the same error."""
    code = {"__name__": module}
    exec("def unpack(result):\n    typ, exc, tb = result", code)
    submitted = list[int]()

    class Losing(Executor):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
            future = Future[Any]()
            submitted.append(len(submitted))
            try:
                future.set_result(code["unpack"](1) if submitted == [0] else function(*arguments))  # type: ignore[operator]
            except TypeError as error:
                future.set_exception(error)
            return future

    work = Workers(2, executor=Losing()).imap_unordered(abs, [-1, -2])
    if is_lost:
        assert sorted(work) == [(-2, 2), (-1, 1)]
    else:
        with pytest.raises(TypeError, match="cannot unpack"):
            list(work)


# Executors of libraries that are not dask.

OPTIONS = {"residuals": "total", "topics": "both"}
ON_MPI = """
import sys
from pathlib import Path
from mpi4py.futures import MPIPoolExecutor
from gradedeval.kernel.parallel import Workers
from support.collection import SMALL, outcome
if __name__ == "__main__":
    folder, options = Path(sys.argv[1]), {"residuals": "total", "topics": "both"}
    with MPIPoolExecutor(2) as pool:
        found = outcome(folder, Workers(2, limits=SMALL, executor=pool), True, **options)
    expected = outcome(folder, Workers(), True, **options)
    print(len(expected[0]), len(expected[2]), found == expected)
"""


@linux
@pytest.mark.exhaustive
def test_loky_shares_work(tmp_path: Path) -> None:
    loky = pytest.importorskip("loky", reason="loky is not installed")
    folder, executor = written_collection(tmp_path), loky.ProcessPoolExecutor(2)
    try:
        results = outcome(folder, Workers(2, limits=SMALL, executor=executor), True, **OPTIONS)
    finally:
        executor.shutdown()
    assert results == outcome(folder, Workers(), True, **OPTIONS)


@linux
@pytest.mark.exhaustive
def test_processes_of_mpi_share_work(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    begin = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if begin is None:
        pytest.skip("mpiexec, which starts processes of MPI, is not installed")
    folder, script = tmp_path / "files", tmp_path / "script.py"
    folder.mkdir()
    script.write_text(ON_MPI)
    words = [begin, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script), str(written_collection(folder))]
    path = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    done = subprocess.run(words, env={**environment(), "PYTHONPATH": path}, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()[1:]) == (0, ["1", "True"]), done.stderr


# A progress bar leaves no trace.


def test_a_bar_shows_how_many_runs_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(bars.with_progress(iter("abcd"), 4)) == list("abcd")
    assert "runs" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    terminal.truncate(0)
    monkeypatch.setattr(bars, "PATIENCE", 1000.0)
    assert list(bars.with_progress(iter("abcd"), 4)) == list("abcd")
    assert terminal.getvalue() == ""


def test_loops_have_a_bar_in_commands_but_not_in_python() -> None:
    assert parallel.progress("draws") is parallel.no_progress
    with parallel.using_workers(parallel.Workers(progress=bars.with_progress)):
        handler = parallel.progress("draws")
    assert (handler.func, handler.keywords) == (bars.with_progress, {"label": "draws"})  # type: ignore[attr-defined]


def test_an_abandoned_bar_restores_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    watched = bars.with_progress(iter("abcd"), 4)
    assert [next(watched), next(watched)] == ["a", "b"]
    watched.close()  # type: ignore[attr-defined]
    output = terminal.getvalue()
    assert output.rindex("\x1b[?25h") > output.rindex("\x1b[?25l")


def test_nested_loops_have_one_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(bars, "PATIENCE", -1.0)
    for measure in bars.with_progress(["ap", "rr", "err"], label="measures"):
        for _ in bars.with_progress(range(3), label=f"pairs by {measure}"):
            pass
    output = terminal.getvalue()
    assert "pairs by ap" in output  # the first, when no other stood yet
    assert "measures" in output
    assert "pairs by rr" not in output
    assert "pairs by err" not in output
