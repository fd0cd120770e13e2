"""What arguments and options name: RUN... QRELS, --measures-from, -o, --jobs and --cluster, --standardize."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import click

from gradedeval.cli.options import MANY_RUNS, READS, STANDARDIZATION, WRITES, Option
from gradedeval.cli.output import REMEMBERED, asked_for
from gradedeval.errors import InputError, tell
from gradedeval.kernel.formats import EXTENSIONS
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.measures.parse import DEFAULT, is_measure, parse_measures
from gradedeval.kernel.options import OPTIONS
from gradedeval.kernel.trec.stream import (
    extension_of,
    files_of,
)

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import AnyMeasure, Measure
    from gradedeval.kernel.parallel import Workers


# RUN... QRELS, --measures-from and -o: what the arguments name, and what they may not be.


def measure_table(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """The table of measures, with those of --measures-from added."""
    if not files:
        return MEASURES
    from gradedeval.kernel.measures.user_measures import load_measures  # few evaluations have measures of their own

    table = dict(MEASURES)
    for file in files:
        for name, measure in load_measures(file).items():
            if name in table:
                raise InputError(file, f"measure '{name}' already exists", "rename one of the two", usage=True)
            table[name] = measure
    return table


def measures_offered(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """The same, with those that other packages offer."""
    from gradedeval.kernel.measures.user_measures import offered

    return {**measure_table(files), **offered()}


def named_measures(texts: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """The measures that -m names, cut as -k says. A note tells of those that take no cutoff."""
    # Import numpy here, near the top of the stack: imported from deeper calls it outgrows Python's first 16 KiB frame
    # chunk, which costs a tenth of the start-up.
    import_module("numpy")
    cutoff = asked_for("k")
    measures = parse_measures(texts, table, cutoff)
    if cutoff is not None and texts == DEFAULT:  # nobody has written these cutoffs
        kept = [one.label for one in measures if "@" in one.label and one.label in DEFAULT and one.cutoff != cutoff]
        tell([f"-k {cutoff}: {', '.join(kept)} keep their cutoffs; name measures without one, as in -m 'err ndcg'"])
    if cutoff is not None and (whole := [one.label for one in measures if one.definition.cutoff == "none"]):
        tell([f"-k {cutoff}: {', '.join(whole)} {'take' if len(whole) > 1 else 'takes'} no cutoff"])
    return measures


def one_measure(flag: str, text: str | None, table: Mapping[str, Measure]) -> Measure:
    """The measure that an option names. Raises InputError (usage) unless it is one."""
    measures = parse_measures(text, table, asked_for("k")) if text and text.strip() else []
    if len(measures) != 1:
        what = f"'{text}' names {len(measures)} measures" if measures else "no measure given"
        raise InputError(flag, what, f"name one, such as {flag} err@20", usage=True)
    return measures[0]


def usage() -> str:
    """How the command that runs is called, as a hint."""
    context = click.get_current_context()
    files = " ".join(str(param.metavar) for param in context.command.params if isinstance(param, click.Argument))
    return f"usage: {context.command_path.removesuffix(' eval')} {files}"


def run_and_qrels(
    files: tuple[str, ...], keywords: Mapping[str, Any] = MappingProxyType({}), runs_from: str | None = None
) -> tuple[list[str], str]:
    """The runs and the qrels among the arguments; the runs listed in --runs-from come last.

    keywords  options, whose files may be standard input as well

    Raises InputError where an argument is not a file, a folder or a pattern. One that reads as a measure was probably
    meant for -m.
    """
    missing = [file for file in files if file != "-" and not os.path.exists(file)]
    for file in missing:
        if is_measure(file):
            raise InputError(file, "no such file", f"did you mean -m '{file}'?", usage=True)
    if not files or (len(files) < 2 and runs_from is None):
        raise InputError("", "expected a run and a qrels file", usage(), usage=True)
    check_standard_input([*files, runs_from], keywords)
    if missing:
        from gradedeval.cli.files import check_last

        check_last(files)
    *words, qrels = files
    runs = [file for word in words for file in files_of(word, [qrels])]
    if runs_from is not None:
        from gradedeval.cli.files import listed_files  # few lists

        runs += listed_files(runs_from, [qrels])
    return runs, qrels


def check_standard_input(files: Collection[str | None], keywords: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Raise InputError (usage) where more than one file is `-`, of these and of those that options name."""
    count = list(files).count("-")
    for name, value in keywords.items():
        if value == "-" and name in OPTIONS and OPTIONS[name].names_file:
            count += 1
    if count > 1:
        raise InputError("-", "standard input can only be read once", "give the other as a file", usage=True)


def form_of(output: str | None, forms: Collection[str], default: str = "table") -> str:
    """The format that the extension of -o stands for; the default without one."""
    if output is None:
        return default
    extension = extension_of(output)
    form = EXTENSIONS.get(extension, "") if extension else default
    if form not in forms and not (os.path.exists(output) and not os.path.isfile(output)):
        hint = f"choose one with -f: {', '.join(forms)}"
        raise InputError(f"'{output}'", f"no format has the extension '{extension}'", hint, usage=True)
    return form if form in forms else default


OF_FILE = "file"
"""The --time of a line in a history that is the time of the run file."""


def check_history(history: str | None, keywords: Mapping[str, Any], form: str | None = None) -> None:
    """Raise InputError (usage) where the options of a line in a history go with none.

    form  the output format, where the command has an option for the label of a LaTeX table
    """
    for name in ("label", "time") if history is None else ():
        if keywords[name] is not None:
            hint = r"; for \label in LaTeX use --latex-label" if (name, form) == ("label", "latex") else ""
            raise InputError(f"--{name}", "there is no history to write to", f"add --history FILE{hint}", usage=True)
    if history is not None and keywords["time"] not in (None, OF_FILE):
        as_time(keywords["time"])
    if history == "-":
        what = "'-' is not a file that can be appended to"
        raise InputError("--history", what, "name one, as in history.jsonl", usage=True)


def signed() -> Literal["short", "full"] | None:
    """How the command that runs signs tables for people: see --signature and --quiet."""
    return None if asked_for("quiet") else asked_for("signature") or "short"


def signing() -> Callable[[str], str]:
    """The function that makes the line under a table for people from a signature, in the command that runs."""
    from gradedeval.kernel.scoring.signature import SIGNATURES  # not for a help page

    return SIGNATURES[signed()]


def as_time(time: str | datetime | None) -> datetime | None:
    """A time as the caller gives it. Raises InputError (usage) where it is none."""
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            hint = "write it like 2026-11-22T13:00:00Z"
            raise InputError("--time", f"'{time}' is not a time", hint, usage=True) from None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time


# --jobs and --cluster: who shares the work of a command over runs.


CLUSTER = Option(
    "--cluster",
    section=MANY_RUNS,
    metavar="ADDRESS",
    help="Share the work with a dask cluster: the address of its scheduler, as in tcp://host:8786. Worthwhile for "
    "jobs longer than about ten seconds.",
    **REMEMBERED,
)


def sharing(jobs: int | None = None) -> Workers:
    """Who shares the work of the command that runs, until it ends: the cluster that it was given, or else processes of
    this machine, as many as asked for or as it has cores. Raises InputError where a cluster cannot be used."""
    from gradedeval.kernel.parallel import Workers, with_progress

    address: str | None = asked_for("cluster")
    if address is None:
        return Workers.of(jobs, with_progress)
    from gradedeval.kernel.parallel.clusters import connect  # few evaluations have one

    if jobs:
        raise InputError("--jobs", "a cluster has workers of its own", "leave out --jobs or --cluster", usage=True)
    executor = click.get_current_context().with_resource(connect(address))
    return Workers.of(None, with_progress, executor)


# The options of standardized scores, for the commands that take several runs.


STANDARD_OPTIONS = [
    Option("--standardize", section=STANDARDIZATION, is_flag=True, help="Standardize scores as Φ(z) over the runs, "
           "topic by topic. `-m sp --standardize` is sSP."),
    Option("--reference", section=STANDARDIZATION, metavar="FILE", file=READS, help="Standardize with the means and "
           "standard deviations in FILE."),
    Option("--save-reference", section=STANDARDIZATION, metavar="FILE", file=WRITES, help="Standardize, and save the "
           "means and standard deviations as CSV."),
]  # fmt: skip
