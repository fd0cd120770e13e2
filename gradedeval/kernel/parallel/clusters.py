"""Connect to a dask cluster, whose workers then share work like those of any other executor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradedeval.errors import InputError, flag, reason

PATIENCE = 10
"""Seconds that a scheduler may take to answer."""

FIRST_WORKER = 300
"""Seconds that a cluster without workers may take until its first one joins: it may grow once it has work."""

RETRIES = 2
"""How often dask repeats a task that failed for a reason of the worker."""


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect to the dask scheduler at an address, and yield an executor of its workers.

    Raises InputError if dask is missing, no scheduler answers, or no worker joins.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(flag.cluster, "needs dask", "pip install 'gradedeval[cluster]'", usage=True) from None
    import logging
    import warnings

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors are reported as errors of runs
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
    """Return how many tasks the workers of a dask executor run at once; None for any other executor."""
    client: Any = getattr(executor, "_client", None)
    return max(1, sum(client.nthreads().values())) if hasattr(client, "nthreads") else None


def _reach(address: str) -> None:
    """Wait until a dask scheduler answers: a client that meets another server would wait forever."""
    import asyncio
    import socket
    import time
    from concurrent.futures import ThreadPoolExecutor
    from urllib.parse import urlsplit

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
        with ThreadPoolExecutor(1) as thread:  # a notebook runs an event loop of its own in this one
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
