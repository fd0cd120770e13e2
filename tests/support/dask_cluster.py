"""A scheduler of dask and its workers, started from a shell as a user starts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.commands import environment
from support.processes import free_port


@contextmanager
def started(folder: Path, workers: int = 2, *words: str, pages: bool = False, **variables: str) -> Iterator[Started]:
    """Start `dask scheduler`, with or without the pages of its dashboard, and some `dask worker`, in a folder."""
    cluster = Started(f"tcp://127.0.0.1:{free_port()}", [])
    options = ("--dashboard-address", "127.0.0.1:0") if pages else ("--no-dashboard",)
    try:
        cluster.start(folder, "scheduler", "--host", cluster.address, *options, "--no-show", **variables)
        for _ in range(workers):
            cluster.add_worker(folder, *words, **variables)
        yield cluster
    finally:
        for process in cluster.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Started:
    """The address of a scheduler, its process and those of its workers."""

    def __init__(self, address: str, processes: list[subprocess.Popen[bytes]]) -> None:
        self.address, self.processes = address, processes

    def add_worker(self, folder: Path, *words: str, **variables: str) -> None:
        self.start(folder, "worker", self.address, "--nthreads", "1", "--no-dashboard", *words, **variables)

    def start(self, folder: Path, *words: str, **variables: str) -> None:
        self.processes.append(
            subprocess.Popen(
                (sys.executable, "-m", "dask", *words),
                cwd=folder,
                env={**environment(), **variables},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )
