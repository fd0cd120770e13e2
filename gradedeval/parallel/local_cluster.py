"""A dask cluster on this machine, which ends with the work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradedeval.errors import InputError, reason
from gradedeval.parallel.main_guard import check_script, guard_fault

FORKSERVER = "forkserver"
"""How workers of this machine are started where that is possible."""

METHOD = "distributed.worker.multiprocessing-method"
"""The setting of dask that says so."""

SAFE_PATH = "PYTHONSAFEPATH"
"""What keeps Python from looking for modules in the folder where it is started."""


def preload() -> None:
    """Begin to import what workers of this machine need, in the process that they are forked from, while this one does
    the same: each of them would take half a second of its processor for it."""
    check_script("--cluster")
    import multiprocessing
    from importlib.util import find_spec
    from multiprocessing import forkserver

    if FORKSERVER not in multiprocessing.get_all_start_methods() or not find_spec("distributed"):
        return
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"  # or it would import what lies in the user's folder
    try:
        multiprocessing.set_forkserver_preload(["distributed.nanny", "distributed.worker", "gradedeval.cluster"])
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def local_cluster(count: int) -> Iterator[Any]:
    """A cluster of so many processes with one thread each.

    Raises InputError where they cannot be started.
    """
    import logging
    import multiprocessing

    import dask.config
    from distributed import LocalCluster, utils

    # A task whose worker died is done again by itself, and not together with others: by `Workers`, as everywhere.
    settings: dict[str, Any] = {"distributed.scheduler.allowed-failures": 0}
    if FORKSERVER in multiprocessing.get_all_start_methods():
        settings[METHOD] = FORKSERVER
        utils._forkserver_preload_set = True  # it would import pandas here, for workers that need none
    with dask.config.set(settings):
        try:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=count,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # its port is free: of another, dask would warn
                scheduler_kwargs={"dashboard": False},  # whose pages take half a second
                silence_logs=logging.CRITICAL,
            )
        except (OSError, RuntimeError) as error:
            what = f"no workers can be started on this machine ({' '.join(reason(error).split())})"
            fault = guard_fault("--cluster", dask.config.get(METHOD))
            raise fault or InputError("--cluster", what, "use --jobs") from None
        with cluster:
            yield cluster
