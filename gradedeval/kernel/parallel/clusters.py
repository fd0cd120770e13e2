"""A dask cluster as those who share the work: found by its address, compared with this process, left as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future, InvalidStateError
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any, TypeVar
from uuid import uuid4

from gradedeval.errors import InputError, flag, reason, tell
from gradedeval.kernel.parallel.executors import (
    SAFE_PATH,
    SENT,
    Submit,
    check_script,
    different,
    environment,
    guard_fault,
    minor,
    own_versions,
    sent_task,
    start_tracker,
)
from gradedeval.kernel.trec.written import held, left_in_order, unwinding

# A dask cluster on this machine, which ends with the work.


FORKSERVER = "forkserver"
"""How workers of this machine are started where that is possible."""

METHOD = "distributed.worker.multiprocessing-method"
"""The setting of dask that says so."""


def preload() -> None:
    """Begin to import what workers of this machine need, in the process that they are forked from, while this one does
    the same: each of them would take half a second of its processor for it. Raises InputError where it cannot be
    started."""
    check_script(flag.cluster)
    import multiprocessing
    import signal
    from importlib.util import find_spec
    from multiprocessing import forkserver

    if FORKSERVER not in multiprocessing.get_all_start_methods() or not find_spec("distributed"):
        return
    try:
        start_tracker()  # which would undo that Ctrl-C waits
    except OSError as error:
        raise _no_workers(error) from None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # this process ends them, and Ctrl-C meets all
    try:
        multiprocessing.set_forkserver_preload(["distributed.nanny", "distributed.worker", "gradedeval.cluster"])
        with environment({SAFE_PATH: "1"}):  # or it would import what lies in the user's folder
            forkserver.ensure_running()
    except OSError as error:  # no folder for temporary files, or one with a name too long for a socket
        raise _no_workers(error) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def local_cluster(count: int) -> Iterator[Any]:
    """A cluster of `count` processes with one thread each.

    Raises InputError where they cannot be started.
    """
    import logging
    import multiprocessing
    from tempfile import TemporaryDirectory

    import dask.config
    from distributed import LocalCluster, utils

    # A task whose worker died is done again by itself, and not together with others: by `Workers`, as everywhere.
    settings: dict[str, Any] = {"distributed.scheduler.allowed-failures": 0}
    if FORKSERVER in multiprocessing.get_all_start_methods():
        settings[METHOD] = FORKSERVER
        utils._forkserver_preload_set = True  # it would import pandas here, for workers that need none
    with ExitStack() as stack:
        try:
            with held():  # dask does not put in order a cluster whose start was interrupted
                # The folder would stay that dask makes, and it need not be there when a worker still writes to it.
                folder = stack.enter_context(TemporaryDirectory(prefix="gradedeval-", ignore_cleanup_errors=True))
                stack.enter_context(dask.config.set({**settings, "temporary-directory": folder}))
                cluster = LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=count,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # its port is free: of another, dask would warn
                    scheduler_kwargs={"dashboard": False},  # whose pages take half a second
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
        except (OSError, RuntimeError) as error:
            raise guard_fault(flag.cluster, dask.config.get(METHOD)) or _no_workers(error) from None
        yield cluster


def _no_workers(error: Exception) -> InputError:
    what = f"no workers can be started on this machine ({' '.join(reason(error).split())})"
    return InputError(flag.cluster, what, f"use {flag.jobs}")


Task = TypeVar("Task")

LOCAL = "local"
"""The address of a cluster that is started on this machine, and ends with the work."""

PATIENCE = 10
"""Seconds that a scheduler may take to answer."""

RETRIES = 2
"""How often dask does a task again that failed for a reason of the worker."""

RUNNING = "running"
"""What the status of a client is that has a scheduler, in the words of dask."""

VERSIONS = "{name: __import__(name).__version__ for name in ('gradedeval', 'numpy')}"
PYTHON = "__import__('sys').version"
"""What a process that may not have gradedeval is asked: so it is not a function of ours."""

FIRST_WORKER = 300
"""Seconds that a cluster without workers may take until it has one: it may grow when it is given work."""


@contextmanager
def connected(address: str, count: int) -> Iterator[Any]:
    """A client of the scheduler at an address, or of a cluster of `count` processes of this machine, which ends with
    the block. What was found stays as it is.

    Raises InputError where nobody answers, and as `check_versions`.
    """
    import logging

    with unwinding() if address == LOCAL else nullcontext(), left_in_order() as stack:
        with held():  # what is half imported turns an interruption into an error of its own
            if address == LOCAL:
                preload()
            distributed = _library()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # who dies and comes back is told as runs are
        if address == LOCAL:
            address = stack.enter_context(local_cluster(count))
        else:
            _reach(address)
        try:
            client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise _no_answer(address, error) from None
        yield stack.enter_context(client)


def _reach(address: str) -> None:
    """Wait for a scheduler to answer at an address: a client of dask that finds nobody takes its time to end, and one
    that finds something else waits for ever."""
    import socket
    import time
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InputError(
            flag.cluster, f"'{address}' is not an address", f"as in tcp://host:8786, or '{LOCAL}'", usage=True
        )
    until = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection((host, port), timeout=PATIENCE).close()
            return _greet(address)
        except OSError as error:
            if time.monotonic() > until:
                raise _no_answer(address, error) from None
        time.sleep(0.2)


def _greet(address: str) -> None:
    """Exchange greetings with a scheduler, in a thread: a notebook runs a loop of its own. Raises InputError where what
    answers is something else, or says nothing."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from distributed import Security
    from distributed.comm import core

    async def greeted() -> None:
        how = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
        comm = await core.connect(address, timeout=PATIENCE, **how)  # type: ignore[no-untyped-call]
        comm.abort()

    try:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, asyncio.wait_for(greeted(), PATIENCE)).result()
    except Exception:
        what = f"what answers at {address} is not a dask scheduler"
        raise InputError(
            flag.cluster, what, "`dask scheduler` prints its address, as in tcp://host:8786 or tls://host:8786"
        ) from None


def _no_answer(address: str, error: Exception) -> InputError:
    what = f"no scheduler answers at {address} ({' '.join(reason(error).split())})"
    return InputError(flag.cluster, what, "start one with `dask scheduler`, or check the address")


def dashboard(client: Any) -> str:
    """Where a browser shows what a cluster does; empty where there is no such page. One of this machine has none."""
    with suppress(KeyError):  # of a variable in the user's own template of such links
        return str(client.dashboard_link) if client.run_on_scheduler(_has_pages) else ""
    return ""


def _has_pages(dask_scheduler: Any) -> bool:
    """Whether a scheduler shows pages, or its port answers programs alone."""
    return any("Bokeh" in type(one).__name__ for one in dask_scheduler.http_application.applications)


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(flag.cluster, "needs dask", "pip install 'gradedeval[cluster]'", usage=True) from None
    return distributed


def threads_of(client: Any) -> int:
    """How many tasks the workers of a cluster do at a time. Where it has none yet, that is told, and waited for one.

    Raises InputError where none comes, where the client cannot be used, and as `check_versions`.
    """
    if client.scheduler is None:
        raise InputError("executor", "the client is closed", "give an open one, as Client(address)", usage=True)
    if client.asynchronous:
        what = "the client is asynchronous, and an evaluation waits for its results"
        raise InputError("executor", what, "give Client(address), without asynchronous=True", usage=True)
    try:
        if not client.nthreads():
            _wait_for_worker(client)
        check_versions(client)
        return max(1, int(sum(client.nthreads().values())))
    except OSError as error:
        raise scheduler_gone(client, error) from None


def _wait_for_worker(client: Any) -> None:
    """Give a cluster that has no workers something to do, and wait until it is done."""
    address = client.scheduler.address
    tell([f"{address}: has no workers yet; waiting up to {FIRST_WORKER} seconds for the first one"])
    try:
        client.submit(int, pure=False).result(timeout=FIRST_WORKER)
    except TimeoutError:
        what = f"no worker has joined {address} within {FIRST_WORKER} seconds"
        raise InputError(flag.cluster, what, f"start one with `dask worker {address} --nthreads 1`") from None


def check_versions(client: Any) -> None:
    """Raise InputError where the scheduler or a worker has no gradedeval or another version, of numpy or Python
    either."""
    try:
        found, pythons = _answers(client, VERSIONS), _answers(client, PYTHON)
    except Exception as error:  # of the connection, each in its own way
        raise scheduler_gone(client, error) from None
    for who, versions in found.items():
        if not isinstance(pythons.get(who), str):
            continue  # a worker that has left between the two questions
        python = minor(pythons[who])
        if isinstance(versions, ModuleNotFoundError):
            raise _lacking(versions, f"{who} (Python {python})")
        if isinstance(versions, Exception):
            raise InputError(flag.cluster, f"{who} cannot load gradedeval ({versions})", "install it there")
        if fault := different(own_versions(), {**versions, "Python": python}, who):
            raise fault


def _answers(client: Any, question: str) -> dict[str, Any]:
    """What an expression gives in each process of a cluster, or the exception that it raises there."""
    found = client.run(eval, question, on_error="return")
    answers = {f"the worker at {address}": answer for address, answer in found.items()}
    try:
        return {**answers, "the scheduler": client.run_on_scheduler(eval, question)}
    except ImportError as error:
        return {**answers, "the scheduler": error}


def _lacking(error: ModuleNotFoundError, who: str) -> InputError:
    """What to say of a process of the cluster that has no gradedeval, or lacks what that needs."""
    return InputError(
        flag.cluster,
        f"{who} has no {error.name}",
        f"pip install 'gradedeval[cluster]=={own_versions()['gradedeval']}' there",
    )


def scheduler_gone(client: Any, error: BaseException) -> InputError:
    """What to say of a client that has lost its scheduler."""
    address = getattr(client.scheduler, "address", "") or "the address"
    what = f"the scheduler at {address} is gone ({' '.join(str(error).split()) or type(error).__name__})"
    return InputError(flag.cluster, what, "start it and its workers again, and evaluate again")


@contextmanager
def scattered(client: Any, work: Callable[[Task], Any], tasks: Sequence[Task]) -> Iterator[Submit]:
    """The workers of a cluster. Each has the work once: it is sent to all, and to those that join when they need it."""
    ours, name, packed = own_versions(), uuid4().hex, _scattered(client, work)

    def submit(number: int, with_work: bool = False) -> Future[Any]:
        nonlocal packed
        try:
            if packed.status not in ("finished", "pending") and client.status == RUNNING:  # all who had it have died
                packed = _scattered(client, work)
            task = client.submit(far_task, ours, name, packed, tasks[number], pure=False, retries=RETRIES)
        except OSError as error:
            raise scheduler_gone(client, error) from None
        return _Awaited(client, task)

    yield submit


def far_task(ours: dict[str, str], name: str, packed: bytes, task: Any) -> Any:
    """As `sent_task`, on a worker that may have joined after the versions of the others were compared with ours."""
    if name not in SENT and (fault := different(ours, own_versions(), f"the worker at {_own_address()}")):
        raise fault
    return sent_task(name, packed, task)


def _own_address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def _scattered(client: Any, work: Callable[[Task], Any]) -> Any:
    from distributed.protocol.pickle import dumps  # which can write what a notebook defines

    packed: bytes = dumps(work)  # type: ignore[no-untyped-call]
    return client.scatter(packed, broadcast=True, hash=False)


class _Awaited(Future[Any]):
    """The result of a task of dask as other executors give it; cancelled there where it is cancelled here."""

    def __init__(self, client: Any, task: Any) -> None:
        super().__init__()
        self._client, self._task = client, task
        task.add_done_callback(self._arrived)

    def cancel(self) -> bool:
        cancelled = super().cancel()  # first: dask calls `_arrived` for what it cancels
        if self._client.status == RUNNING:
            with suppress(Exception):  # the scheduler may go in this moment
                self._task.cancel()
        return cancelled

    def _arrived(self, task: Any) -> None:
        with suppress(InvalidStateError):  # it was cancelled here
            try:
                self.set_result(task.result())
            except (Exception, CancelledError) as error:
                self.set_exception(self._reason(error))

    def _reason(self, error: BaseException) -> BaseException:
        """What a task failed of, in the words of other executors."""
        from distributed import KilledWorker

        if self._client.status != RUNNING:
            return scheduler_gone(self._client, error)
        if isinstance(error, KilledWorker | CancelledError):
            return BrokenExecutor(str(error))
        if isinstance(error, ModuleNotFoundError):
            if str(error.name).startswith("gradedeval"):  # those that were there before have it
                return _lacking(error, "a worker that joined late")
            return InputError(flag.cluster, f"a worker has no {error.name}", "install there what is installed here")
        return error
