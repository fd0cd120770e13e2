"""Options that several commands share, and help pages with a section for each kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from gradedeval.cli.group import Described
from gradedeval.cli.output import ask_for
from gradedeval.errors import InputError, check_choice
from gradedeval.measures.parse import DEFAULT
from gradedeval.options import OPTIONS
from gradedeval.options.definition import GAINS, OUTPUT, READING, RESIDUALS, Commands, Option

Decorator = Callable[[Any], Any]

THIS_COMMAND, STANDARDIZATION, MANY_RUNS = "Options of this command", "Standardization", "Many runs"
PLANNING, PUBLISHED = "Planning", "Tables to publish"
HELP = "Help"
SECTIONS = (THIS_COMMAND, PLANNING, GAINS, RESIDUALS, STANDARDIZATION, OUTPUT, PUBLISHED, MANY_RUNS, READING, HELP)
"""The sections of a help page, in order."""

BARE = ""
"""What stands for the value of an option that is given without one."""


class SectionedOption(click.Option):
    """An option that says in which section of a help page it stands, and what is wrong with its value as the options
    of the registry do."""

    def __init__(self, *names: Any, section: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            flag, kind = self.opts[-1], self.type
            if isinstance(kind, click.Choice):
                for word in [value] if isinstance(value, str) else value:
                    check_choice(word, tuple(kind.choices), flag)
            low, high = getattr(kind, "min", None), getattr(kind, "max", None)
            limits = "" if low is None else f" of {low} or more" if high is None else f" from {low} to {high}"
            number = "number" if isinstance(kind, click.types.FloatParamType) else "whole number"
            raise InputError(flag, f"'{value}' is not a {number}{limits}", usage=True) from None


def option(*names: str, section: str = THIS_COMMAND, **settings: Any) -> Decorator:
    """`click.option`, in a section of the help page."""
    return click.option(*names, cls=SectionedOption, section=section, **settings)


class Command(Described):
    """A command with its options in sections. One whose value may be left out takes the next word only where that is
    one of its choices or a number, never a file."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        for section in SECTIONS:
            records = [param.get_help_record(ctx) for param in options if getattr(param, "section", HELP) == section]
            if shown := [record for record in records if record]:
                with formatter.section(section):
                    formatter.write_dl(shown)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        optional = {described.flag: described for described in OPTIONS.values() if described.optional_value}
        merged: list[str] = []
        for word in [*args, BARE]:
            if merged and merged[-1] in optional:
                is_value = optional[merged[-1]].takes(word)
                merged[-1] += f"={word if is_value else BARE}"
                if is_value:
                    continue
            merged.append(word)
        try:
            return super().parse_args(ctx, merged[:-1])
        except click.UsageError as error:
            error.ctx = ctx  # which the parser leaves out at times
            raise


def registered(commands: Commands) -> list[Decorator]:
    """The options of the registry that such commands take."""
    return [_click_option(described) for described in OPTIONS.values() if described.is_of(commands)]


def one_registered(name: str) -> Decorator:
    """One option of the registry, for a command that takes it and not the others."""
    return _click_option(OPTIONS[name])


def _click_option(described: Option) -> Decorator:
    if described.is_flag:
        return option(described.flag, section=described.section, is_flag=True, help=described.text)
    return option(
        described.flag,
        section=described.section,
        metavar=described.metavar or f"[{'|'.join(described.choices)}]",
        help=described.text,
        # Not a type: click would take an InputError, which is a ValueError, for its own.
        callback=lambda _, __, value: True if value == BARE and described.optional_value else described.parse(value),
    )


def given(keywords: Mapping[str, Any]) -> list[str]:
    """The flags of the options that have been given."""
    return [f"--{name.replace('_', '-')}" for name, value in keywords.items() if is_given(value)]


def is_given(value: Any) -> bool:
    """Whether an option has been given. 0 is a value."""
    return value is not None and value is not False and value != ()


def files_named(keywords: Mapping[str, Any]) -> list[str]:
    """The files that options of the registry name."""
    named = [keywords[name] for name, described in OPTIONS.items() if described.names_file and name in keywords]
    return [file for file in named if file is not None]


def _remembered(name: str, section: str, help: str) -> Decorator:
    """A flag that no command reads itself: see `asked_for`."""
    return option(name, section=section, is_flag=True, expose_value=False, callback=ask_for, help=help)


_MEASURES_FROM = option(
    "--measures-from", multiple=True, section=GAINS, metavar="FILE.py", help="Load measures of your own."
)
_DEBUG = _remembered("--debug", GAINS, "Print the traceback where a measure of your own fails.")
QUIET = _remembered("--quiet", OUTPUT, "Print results and errors only: no notes, and no signature line below a table.")


JOBS = option(
    "--jobs", section=MANY_RUNS, type=click.IntRange(min=1), metavar="N", help="Number of parallel processes. "
    "Default: the number of cores.",
)  # fmt: skip


def MEASURES_FROM(function: Any) -> Any:
    """--measures-from, and --debug for what is loaded."""
    return _MEASURES_FROM(_DEBUG(function))


def mismatch_option(section: str = THIS_COMMAND) -> Decorator:
    """--allow-mismatch."""
    help = "Use saved scores even if their qrels or options differ; a message says how."
    return option("--allow-mismatch", section=section, is_flag=True, help=help)


def measure_option(
    help: str = "Measure to report, such as err@20 or 'ndcg(gain=exp)@10'.", default: Collection[str] = DEFAULT
) -> Decorator:
    """-m, which may be repeated, and its default."""
    help = f"{help} Repeat -m, or separate measures by spaces."
    help = f"{help} Default: {' '.join(default)}." if default else help
    return option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE", help=help)


def history_options(label: str = "What the line in the history is called: a commit, a version.") -> list[Decorator]:
    """--label, by what it means to the command, and --time."""
    return [
        option("--label", metavar="TEXT", help=label),
        option("--time", metavar="TIME", help="Time of the line in the history, as in 2026-11-22T13:00:00Z. Default: "
               "that of the run file."),
    ]  # fmt: skip


def output_options(formats: Collection[str], default: str = "table", digits: str = "") -> list[Decorator]:
    """-f and -o, and where `digits` says what is the default there, --digits."""
    options = [
        option("-f", "--format", "form", section=OUTPUT, type=click.Choice(list(formats)), metavar="FORMAT", help=
               f"Output format: {', '.join(formats)}. Default: {default}, or by the extension of -o."),
        option("-o", "--output", section=OUTPUT, metavar="FILE", help="Write to FILE, completely or not at all."),
    ]  # fmt: skip
    if digits:
        help = f"Round to N digits. Default: {digits} in tables."
        options.append(option("--digits", section=OUTPUT, type=click.IntRange(0, 17), metavar="N", help=help))
    return options


def command_line(name: str, files: str, *groups: list[Decorator], **settings: Any) -> Decorator:
    """Makes a function a command: its name, what its help calls its `files`, and groups of options in the order
    written."""

    def decorate(function: Any) -> click.Command:
        for decorator in reversed([*(decorator for group in groups for decorator in group), QUIET]):
            function = decorator(function)
        function = click.argument("files", nargs=-1, metavar=files)(function)
        return click.command(name, cls=Command, **settings)(function)

    return decorate
