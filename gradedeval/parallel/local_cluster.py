"""A dask cluster on this machine, which ends with the work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gradedeval.errors import InputError, reason
from gradedeval.parallel.main_guard import check_script, guard_fault
from gradedeval.parallel.tracker import SAFE_PATH, environment, start_tracker
from gradedeval.trec.signals import held

FORKSERVER = "forkserver"
"""How workers of this machine are started where that is possible."""

METHOD = "distributed.worker.multiprocessing-method"
"""The setting of dask that says so."""


def preload() -> None:
    """Begin to import what workers of this machine need, in the process that they are forked from, while this one does
    the same: each of them would take half a second of its processor for it. Raises InputError where it cannot be
    started."""
    check_script("--cluster")
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
    """A cluster of so many processes with one thread each.

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
            raise guard_fault("--cluster", dask.config.get(METHOD)) or _no_workers(error) from None
        yield cluster


def _no_workers(error: Exception) -> InputError:
    what = f"no workers can be started on this machine ({' '.join(reason(error).split())})"
    return InputError("--cluster", what, "use --jobs")
