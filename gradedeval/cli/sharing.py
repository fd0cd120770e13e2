"""--jobs and --cluster: who shares the work of a command over runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import click

from gradedeval.cli.options import MANY_RUNS, Decorator, option
from gradedeval.cli.output import warn
from gradedeval.errors import InputError
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers

_ADDRESS = f"{__name__}.cluster"


def _remember(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[_ADDRESS] = value


CLUSTER: Decorator = option(
    "--cluster",
    section=MANY_RUNS,
    metavar="ADDRESS",
    expose_value=False,
    callback=_remember,
    help="Share the work with a dask cluster: the address of its scheduler, as in tcp://host:8786, or 'local' for "
    "one of this machine. Pays from ten seconds of work on.",
)


def check_no_cluster(beside: str, why: str) -> None:
    """Raise InputError (usage) where a cluster is given beside an option that leaves it nothing to do."""
    if click.get_current_context().meta.get(_ADDRESS) is not None:
        raise InputError("--cluster", f"cannot be combined with {beside}: {why}", "leave out one of them", usage=True)


def sharing(jobs: int | None = None) -> Workers:
    """Who shares the work of the command that runs, until it ends: the cluster that it was given, or else processes of
    this machine, so many as asked for or as it has cores. Raises InputError where a cluster cannot be used."""
    context = click.get_current_context()
    address: str | None = context.meta.get(_ADDRESS)
    if address is None:
        return Workers.of(jobs, with_progress)
    from gradedeval.parallel.clusters import LOCAL, connected, dashboard  # few evaluations have one

    if jobs and address != LOCAL:
        raise InputError("--jobs", "a cluster has workers of its own", "leave out --jobs or --cluster", usage=True)
    client: Any = context.with_resource(connected(address, jobs))
    workers = Workers.of(None, with_progress, client, warn)
    return workers if address == LOCAL else replace(workers, progress=partial(with_progress, beside=dashboard(client)))
