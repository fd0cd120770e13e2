"""Share work through an Executor of the standard library: our own processes, or one of the caller.

Each worker receives the work once, and then one task after the other. Forked processes inherit both.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import multiprocessing
import os
import pickle
import platform
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import islice
from mmap import mmap
from multiprocessing import resource_tracker
from traceback import walk_tb
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

from gradedeval.arrays import np
from gradedeval.errors import InputError, flag, reason, shorten

# Scripts without `if __name__ == "__main__"`: a process that is not forked reruns its parent's script.
#
# When it reaches the same call, it must not start processes itself. It exits silently; the parent, which only sees that
# processes die, finds the cause and reports it once.

RERUNS_SCRIPT = ("spawn", "forkserver")
"""Start methods of `multiprocessing` that rerun the script."""

RERAN = 79
"""The exit code of a process that reran the script."""


def check_script() -> None:
    """Check that processes may be started that rerun the script; exit if this is such a process.

    Raises InputError if there is no script to run, as in `python < script.py`.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # the check of multiprocessing itself
        atexit._run_exitfuncs()  # clean up after the script without waiting for its threads
        os._exit(RERAN)
    main = sys.modules["__main__"]
    if getattr(main, "__file__", "") == "<stdin>" and main.__spec__ is None:
        problem = "new processes rerun the script, but standard input cannot be read twice"
        raise InputError(flag.jobs, problem, "save the script to a file", usage=True)


def start_method(executor: Any) -> str:
    """Return how an executor starts its processes, in the terms of `multiprocessing`; empty if unknown. None stands for
    our own processes."""
    if executor is None:
        return "fork" if can_fork() else "spawn"
    context = getattr(executor, "_mp_context", None)  # an attribute in the standard library and in loky
    return str(context.get_start_method()) if context else ""


def rerun_fault(method: str) -> InputError | None:
    """Return the error if processes have died because they reran the script; one more is started to find out."""
    if method not in RERUNS_SCRIPT:
        return None
    context: Any = multiprocessing.get_context(method)  # its stub declares no Process
    process = context.Process(target=int)
    process.start()
    process.join()
    problem = "new processes rerun this script, and reach this call again"
    fault = InputError(flag.jobs, problem, 'put the call under `if __name__ == "__main__":`', usage=True)
    return fault if process.exitcode == RERAN else None


# Python's resource tracker, which cleans up after killed processes, silenced.

SAFE_PATH = "PYTHONSAFEPATH"
"""Prevents Python from importing modules from the working directory."""

WARNINGS, QUIETLY = "PYTHONWARNINGS", "ignore:resource_tracker:UserWarning"
"""Silences the tracker's warning that it cleans up after a killed process."""


def start_tracker() -> None:
    """Start the tracker first, since others would let it warn if this process is killed. Raises OSError."""
    values = {SAFE_PATH: "1", WARNINGS: ",".join(filter(None, (os.environ.get(WARNINGS), QUIETLY)))}
    previous = {name: os.environ.pop(name) for name in values if name in os.environ}
    os.environ.update(values)
    try:
        resource_tracker.ensure_running()
    finally:
        for name in values:
            del os.environ[name]
        os.environ.update(previous)


Task = TypeVar("Task")
Result = TypeVar("Result")
Work = Callable[[Any], Any]

PR_SET_PDEATHSIG = 1
"""Linux: sets the signal sent to a process when its parent ends; from linux/prctl.h."""

POLL_INTERVAL = 0.0002
"""Seconds between checks of a thread that is about to start."""

MAX_CACHED = 4
"""Maximum pieces of work cached by a remote worker."""


class Reply(Enum):
    """A reply of a worker in place of a result."""

    UNKNOWN = "it has not received the work yet"


Submit = Callable[..., "futures.Future[Any]"]
"""number, with_work=False -> the future of that task; `with_work` if the worker lacks the work."""


def can_fork() -> bool:
    """Return whether this process can be forked safely: on Linux, without other threads that could hold a lock."""
    alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    return sys.platform == "linux" and alone


def completed(
    submit: Submit, numbers: Iterable[int], at_once: int
) -> Generator[tuple[int, futures.Future[Any]], None, None]:
    """Yield the number and future of each task, in order of completion; at most `at_once` are submitted at any time.

    Tasks that have not started are canceled when the generator is closed.
    """
    following = iter(numbers)
    waiting: dict[futures.Future[Any], int] = {}
    try:
        waiting |= {_submitted(submit, number): number for number in islice(following, at_once)}
        while waiting:
            for future in futures.wait(waiting, return_when=futures.FIRST_COMPLETED).done:
                number = waiting.pop(future)
                if not future.cancelled() and future.exception() is None and future.result() is Reply.UNKNOWN:
                    waiting[_submitted(submit, number, with_work=True)] = number
                    continue
                waiting |= {_submitted(submit, next_number): next_number for next_number in islice(following, 1)}
                yield number, future
    finally:
        for future in waiting:
            future.cancel()


def _submitted(submit: Submit, number: int, with_work: bool = False) -> futures.Future[Any]:
    try:
        return submit(number, with_work)
    except futures.BrokenExecutor as error:  # it no longer takes tasks
        future: futures.Future[Any] = futures.Future()
        future.set_exception(error)
        return future


# Forked processes

_INHERITED: dict[int, tuple[Work, Sequence[Any]]] = {}
"""The work and the tasks inherited by processes that are forked from now on."""


def _inherited_task(key: int, number: int) -> Any:
    work, tasks = _INHERITED[key]
    return work(tasks[number])


@contextmanager
def forked(work: Callable[[Task], Any], tasks: Sequence[Task], count: int) -> Iterator[Submit]:
    """Start `count` processes that inherit work and tasks. They end with the block, even on errors.

    Raises CannotShare, on entry or when the first task is submitted, which starts them.
    """
    key = max(_INHERITED, default=0) + 1
    _INHERITED[key] = work, tasks
    try:
        with _processes("fork", count) as pool:
            yield lambda number, with_work=False: _submit_forked(pool, _inherited_task, key, number)
    finally:
        del _INHERITED[key]


@contextmanager
def _processes(method: str, count: int) -> Iterator[futures.Executor]:
    """Start `count` own processes. If the block ends by an error, they are killed."""
    previous = set(multiprocessing.active_children())
    try:
        if method == "spawn":
            start_tracker()
        pool = futures.ProcessPoolExecutor(count, multiprocessing.get_context(method), _initialize, (os.getpid(),))
    except OSError:  # a system without shared memory for semaphores
        raise CannotShare from None
    try:
        yield pool
    except BaseException:
        # Cancel before killing: Python 3.11 fails to report the death of a process to a canceled task.
        manager = getattr(pool, "_executor_manager_thread", None)
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - previous:
            process.kill()
        if manager is not None and manager.ident is not None:
            manager.join()
        raise
    else:
        pool.shutdown()


def _submit_forked(pool: futures.Executor, task: Callable[..., Any], *arguments: Any) -> futures.Future[Any]:
    """Submit a task to a pool, which starts its processes and threads for the first one."""

    hook = threading.excepthook
    threading.excepthook = lambda failed: None  # `_check_feeder` detects failed threads of the pool
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about idle threads of numpy's libraries
            future = pool.submit(task, *arguments)
        _check_feeder(pool)
        return future
    except futures.BrokenExecutor:  # a worker died, which `results` handles
        raise
    except (OSError, RuntimeError):
        raise CannotShare from None
    finally:
        threading.excepthook = hook


def _check_feeder(pool: Any) -> None:
    """Raise CannotShare if no thread feeds the processes of a pool: the manager thread starts it, and ends if it
    cannot; then nobody would answer."""
    manager = getattr(pool, "_executor_manager_thread", None)
    while manager is not None:
        alive = manager.is_alive()  # first: it also ends if a worker dies, but has then started the feeder
        feeder = getattr(getattr(pool, "_call_queue", None), "_thread", manager)
        if feeder is not None and feeder.ident is not None:
            return
        if not alive:
            raise CannotShare
        time.sleep(POLL_INTERVAL)


def _initialize(parent: int) -> None:
    """End this process together with its parent, even if the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    with suppress(OSError, AttributeError, TypeError):  # without prctl it ends when its queue is closed
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before prctl took effect
            os._exit(0)


def shared_array(count: int, kind: Any) -> Any:
    """Return an array of `count` numbers in memory shared with processes forked later."""
    try:
        memory = mmap(-1, max(count, 1) * np.dtype(kind).itemsize)
    except OSError:
        raise MemoryError from None
    return np.frombuffer(memory, dtype=kind)[:count]


# Workers that inherit nothing: spawned processes, threads, other machines


@contextmanager
def spawned(work: Callable[[Task], Any], tasks: Sequence[Task], count: int) -> Iterator[Submit]:
    """Start `count` processes, which import what they need. They end with the block, as in `forked`."""
    check_script()  # before there is a pool, which an exiting process would leave behind
    with _processes("spawn", count) as pool, external(pool, work, tasks) as submit:
        yield submit


@contextmanager
def external(executor: futures.Executor, work: Callable[[Task], Any], tasks: Sequence[Task]) -> Iterator[Submit]:
    """Use an executor whose workers inherit nothing. Only the executor knows which worker takes a task: so a task is
    sent without the work first, and again with it if the worker replies that it lacks it.

    Raises CannotShare in a thread of that executor, and InputError if it is shut down.
    """
    if isinstance(executor, futures.ThreadPoolExecutor):
        # Such a thread would wait for itself. Identify it by name: the executor may not list it yet.
        if threading.current_thread().name.rpartition("_")[0] == getattr(executor, "_thread_name_prefix", ""):
            raise CannotShare
        yield lambda number, with_work=False: _submit_to(executor, work, tasks[number])
        return
    if start_method(executor) in RERUNS_SCRIPT:
        check_script()
    name, packed, ours = uuid4().hex, b"", local_versions()

    def submit(number: int, with_work: bool = False) -> futures.Future[Any]:
        nonlocal packed
        if not with_work:
            return _submit_to(executor, sent_task, name, b"", tasks[number])
        packed = packed or pickle.dumps(work, protocol=5)
        return _submit_to(executor, checked_task, ours, name, packed, tasks[number])

    yield submit


def _submit_to(executor: futures.Executor, task: Callable[..., Any], *arguments: Any) -> futures.Future[Any]:
    try:
        return executor.submit(task, *arguments)
    except futures.BrokenExecutor:  # a worker died, which `results` handles
        raise
    except RuntimeError:
        check_takes_tasks(executor)
        raise


def check_takes_tasks(executor: futures.Executor) -> None:
    """Raise InputError if an executor takes no tasks: it is shut down, or broken by a worker that died."""
    try:
        executor.submit(int)
    except RuntimeError as error:
        raise InputError("executor", f"takes no more tasks ({error})", "give a new one", usage=True) from None


SENT: dict[str, Work] = {}
"""The work sent to this process, by name."""


def sent_task(name: str, packed: bytes, task: Any) -> Any:
    """Return the result of a task by named work, which is cached; UNKNOWN if it is neither cached nor sent."""
    if name not in SENT:
        if not packed:
            return Reply.UNKNOWN
        while len(SENT) >= MAX_CACHED:
            del SENT[next(iter(SENT))]
        keep_freed_memory()
        SENT[name] = pickle.loads(packed)
    return SENT[name](task)


def checked_task(ours: dict[str, str], name: str, packed: bytes, task: Any) -> Any:
    """Return the result as `sent_task`, on a worker that may be on another machine."""
    if fault := version_fault(ours, local_versions(), f"a worker on {platform.node()}"):
        raise fault
    return sent_task(name, packed, task)


# Versions that affect results, compared between processes that share work.


def local_versions() -> dict[str, str]:
    """Return the versions that must be the same on all workers."""
    from gradedeval import __version__

    return {
        "gradedeval": __version__,
        "numpy": np.__version__,
        "Python": "{}.{}".format(*sys.version_info),
    }  # the third number does not affect pickles


def version_fault(ours: dict[str, str], theirs: dict[str, str], worker: str) -> InputError | None:
    """Return the error for a worker with other versions; None if they are the same."""
    names = [name for name in ours if ours[name] != theirs[name]]
    here, there = (shorten(f"{name} {versions[name]}" for name in names) for versions in (ours, theirs))
    problem = f"{here} here and {there} on {worker}"
    return InputError("executor", problem, "install the same versions in both places") if names else None


class CannotShare(Exception):
    """No processes can be started here."""


# Tasks of workers, and the consequences of a process that dies.

OVERHEAD = 3
"""Threads and processes started in addition to workers: two threads that submit tasks, and for spawned workers the
resource tracker."""


class WorkerDied(InputError):
    """The process of a task died, and so did the one that retried it, or it could not be retried."""

    def __init__(self, place: str = flag.jobs, hint: str = f"it may be out of memory; try {flag.jobs:1}") -> None:
        super().__init__(place, "a worker process died", hint)


@dataclass(frozen=True)
class Raised:
    """An error raised by a worker in place of a result; in order, the error of the first task is raised."""

    error: BaseException


def results(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    count: int,
    executor: futures.Executor | None,
    once: Callable[[Task], bool] = lambda task: False,
    obsolete: Callable[[Task], bool] = lambda task: False,
) -> Generator[tuple[int, Result | Raised], None, None]:
    """Yield number and result of each task, in order of completion, as for `Workers.imap_unordered`.

    count     number of tasks at the same time
    executor  as in `Workers`

    Raises CannotShare before any task is done.
    """
    count = min(count, len(tasks))
    if executor is None and (count := min(count, startable(count + OVERHEAD) - OVERHEAD)) < 2:
        raise CannotShare
    start = forked if can_fork() else spawned
    begin = partial(start, count=count) if executor is None else partial(external, executor)
    remaining, at_once = list(range(len(tasks))), 2 * count + 1
    while remaining:
        died = []
        try:
            with begin(work, tasks) as submit:
                for number, future in completed(submit, (n for n in remaining if not obsolete(tasks[n])), at_once):
                    error = _error_of(future)
                    if _is_worker_death(error):
                        died.append(number)
                    else:
                        yield number, future.result() if error is None else Raised(error)
        except CannotShare:
            if at_once > 1:
                raise
            died = remaining  # no process is left to retry them, and one of them may have killed the last
        if died and at_once > 1 and (unguarded := rerun_fault(start_method(executor))):
            raise unguarded
        if died and executor is not None:
            check_takes_tasks(executor)
        # Any of the submitted tasks may have killed the worker: retry them one at a time.
        lost = died[:1] if at_once == 1 else [number for number in died if once(tasks[number])]
        fault = WorkerDied() if executor is None else WorkerDied("executor", "it may be out of memory")
        yield from ((number, Raised(fault)) for number in lost)
        remaining, at_once = [number for number in died if number not in lost], 1


def _error_of(future: futures.Future[Any]) -> BaseException | None:
    """Return the error of a task to report; None if it has a result."""
    if future.cancelled():
        return InputError("executor", "the task was cancelled", "check that the scheduler and its workers still run")
    error = future.exception()
    if isinstance(error, ModuleNotFoundError):
        return InputError("executor", f"a worker has no module {error.name}", "install there what is installed here")
    return error


def _is_worker_death(error: BaseException | None) -> bool:
    """Return whether a task failed because its worker died, with an error of Python's executors or of dask's."""
    dask = sys.modules.get("distributed")
    if isinstance(error, futures.BrokenExecutor) or (dask is not None and isinstance(error, dask.KilledWorker)):
        return True
    # When a worker dies while its result is fetched, dask reads the result as an error, and fails in its own code.
    frames = [frame for frame, _ in walk_tb(error.__traceback__)] if isinstance(error, TypeError) else []
    return bool(frames) and frames[-1].f_globals.get("__name__") == "distributed.cfexecutor"


def startable(most: int) -> int:
    """Return how many more threads or processes can be started, up to `most`: a limit of processes, as in containers,
    counts both."""
    end, started = threading.Event(), list[threading.Thread]()
    with suppress(RuntimeError):
        while len(started) < most:
            thread = threading.Thread(target=end.wait, daemon=True)
            thread.start()
            started.append(thread)
    end.set()
    for thread in started:
        thread.join()
    return len(started)


def in_order(results: Iterable[tuple[int, Result]]) -> Iterator[Result]:
    """Yield the results of 0, 1, 2, …, each as soon as all earlier ones have arrived."""
    waiting: dict[int, Result] = {}
    following = 0
    for number, result in results:
        waiting[number] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""glibc: parameters of mallopt; from malloc.h."""


def keep_freed_memory() -> None:
    """Make the C library keep freed memory even if MALLOC_TRIM_THRESHOLD_ forbids it, as for dask's workers: otherwise
    every freed array would be returned to the system, and work take four times as long."""
    with suppress(OSError, AttributeError, TypeError):  # another C library
        library = ctypes.CDLL(None)
        library.mallopt(M_TRIM_THRESHOLD, 1 << 30)
        library.mallopt(M_MMAP_THRESHOLD, 1 << 30)


PATIENCE = 10
"""Maximum seconds until a scheduler answers."""

FIRST_WORKER = 300
"""Maximum seconds until the first worker joins a cluster, which may grow only once it has work."""

RETRIES = 2
"""How often dask retries a task that failed because of its worker."""


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to the dask scheduler at an address, and yield an executor of its workers.

    Raises InputError if dask is missing, no scheduler answers, or no worker joins.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(flag.cluster, "needs dask", "pip install 'gradedeval[cluster]'", usage=True) from None
    for name in ("distributed", "tornado.application"):  # errors are reported as errors of runs
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _reach(address)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # judgments are large, and sent once per worker
        try:
            client: Any = distributed.Client(address, timeout=PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise _no_answer(address, error) from None
        with client:
            try:
                client.wait_for_workers(1, timeout=FIRST_WORKER)
            except TimeoutError:
                problem = f"no worker has joined {address} within {FIRST_WORKER} seconds"
                cure = f"start one with `dask worker {address} --nthreads 1`"
                raise InputError(flag.cluster, problem, cure) from None
            yield client.get_executor(pure=False, retries=RETRIES)


def count_threads(executor: Any) -> int | None:
    """Return the number of tasks that the workers of a dask executor run at once; None for any other executor."""
    client: Any = getattr(executor, "_client", None)
    return max(1, sum(client.nthreads().values())) if hasattr(client, "nthreads") else None


def _reach(address: str) -> None:
    """Wait until a dask scheduler answers: a client that meets another server would wait forever."""
    import asyncio

    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InputError(flag.cluster, f"'{address}' is not an address", "as in tcp://host:8786", usage=True)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((host, port), timeout=PATIENCE).close()
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise _no_answer(address, error) from None
        time.sleep(0.2)
    try:
        with futures.ThreadPoolExecutor(1) as thread:  # in a notebook this thread runs an event loop
            thread.submit(asyncio.run, asyncio.wait_for(_greet(address), PATIENCE)).result()
    except Exception:
        problem = f"the server at {address} is not a dask scheduler"
        cure = "`dask scheduler` prints its address, as in tcp://host:8786 or tls://host:8786"
        raise InputError(flag.cluster, problem, cure) from None


async def _greet(address: str) -> None:
    """Exchange greetings with a scheduler."""
    from distributed import Security
    from distributed.comm import core

    arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    connection = await core.connect(address, timeout=PATIENCE, **arguments)  # type: ignore[no-untyped-call]
    connection.abort()


def _no_answer(address: str, error: Exception) -> InputError:
    problem = f"no scheduler answers at {address} ({' '.join(reason(error).split())})"
    return InputError(flag.cluster, problem, "start one with `dask scheduler`, or check the address")
