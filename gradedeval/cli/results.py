"""Call a function of the library, and print its result or write it to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from gradedeval.cli import output
from gradedeval.cli.arguments import format_of_output, make_workers, runs_and_qrels, signature_formatter
from gradedeval.cli.output import STDOUT, terminal_width, view_of, write
from gradedeval.cli.settings import pop_settings, resolve_measures
from gradedeval.errors import InputError
from gradedeval.kernel.formats import FORMATS, TABLE_FORMATS, render
from gradedeval.kernel.scoring.results import InNotebook
from gradedeval.kernel.trec.stream import extension_of

Result = TypeVar("Result")


def call(function: Callable[..., Result], *arguments: Any, jobs: int | None = None, **settings: Any) -> Result:
    """Call a function of the library with the workers of --jobs or --cluster, and print the remarks of its result.

    jobs  number of processes; None: one for each core
    """
    from gradedeval.kernel.parallel import using_workers  # late, so that help pages are quick

    with using_workers(make_workers(jobs)):
        return print_remarks(function(*arguments, **settings))


def call_on_runs(
    function: Callable[..., Result],
    files: tuple[str, ...],
    options: dict[str, Any],
    jobs: int | None = None,
    modes: Sequence[Callable[..., Any]] = (),
) -> Result:
    """Call a function of runs and qrels with its settings and the other options of the command.

    modes  functions of the other modes of the command; their settings are popped and dropped
    """
    settings = pop_settings(function, options, *modes)
    runs, qrels = runs_and_qrels(files, options)
    settings = resolve_measures(function, settings, options)
    return call(function, runs, qrels, jobs=jobs, **settings, **options)


def print_remarks(result: Result) -> Result:
    """Print the remarks of a result, and return it."""
    if isinstance(result, InNotebook):
        output.print_remark_lines(result.remarks)
    return result


class Destination:
    """The destination and format of a result. Pops -f, -o and --digits from the options of the command.

    Raises InputError (usage) if no format has the extension of -o.
    """

    def __init__(self, options: dict[str, Any], default: str = "table") -> None:
        self.output, self.digits = options.pop("output"), options.pop("digits", None)
        self.format: str = options.pop("output_format") or format_of_output(self.output, TABLE_FORMATS, default)

    @property
    def layout(self) -> Any:
        """The layout of the format: `wide` for people, or `long` or `trec` for programs."""
        return FORMATS[self.format].layout

    def print(self, result: InNotebook, **keywords: Any) -> None:
        """Write the tables of a result. Its settings go to stderr if the format has no place for them.

        keywords  passed to `result.tables`
        """
        if result.settings_text and not FORMATS[self.format].signed:
            output.print_remark_lines([result.settings_text])
        make = partial(result.tables, **keywords)
        text = render(make, self.format, self.digits, signature_formatter(), view_of(self.output))
        write(text, self.output, colored=self.format == "table")


def format_or_default(output: str | None, extensions: dict[str, str], default: str) -> str:
    """Return the format with the extension of -o, or the default if no format has it.

    Unlike `format_of_output`, accept any extension and formats that only one command has.

    extensions  extension -> format that only this command has
    """
    formats = {FORMATS[name].extension: name for name in TABLE_FORMATS} | extensions
    return formats.get(extension_of(output), default)


def format_at_terminal(output: str | None, default: str, at_terminal: str) -> str:
    """Return `at_terminal` if the output goes to a terminal, else the default."""
    return at_terminal if output in STDOUT and terminal_width(sys.stdout) is not None else default


def curve_format(target: str | None) -> str:
    """Return the format of the file of --curve, by its extension, or csv.

    Raises InputError (usage) for the extension of a format that rounds values, such as .md.
    """
    name = format_of_output(target, TABLE_FORMATS)
    if name == "table":
        return "csv"
    if FORMATS[name].layout == "wide":
        problem, hint = f"cannot be written as {name} to '{target}'", "name a .csv, .tsv, .json or .jsonl file"
        raise InputError("--curve", problem, hint, usage=True)
    return name


def write_curve(curve: Any, target: str, signature: str) -> None:
    """Write a curve in the format of its file."""
    from gradedeval.analysis.tables import frame_document  # few commands have a curve

    write(render(partial(frame_document, curve, shown={}, signature=signature), curve_format(target)), target)
