"""A group of commands, each of which is imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import click

from gradedeval.cli.output import say
from gradedeval.errors import InputError, did_you_mean

Table = Mapping[str, tuple[str, str]]
"""Command -> the module that defines it as `command`, and what it does, so that a help page imports none."""


class Described(click.Command):
    """A command whose help page begins with the docstring of its function, whether or not Python keeps docstrings."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        if not settings.get("help"):  # as with -OO
            from gradedeval.measures.docstrings import docstring

            settings["help"] = docstring(settings["callback"])
        super().__init__(*words, **settings)


class CommandGroup(Described, click.Group):
    """A group that imports a command of its `table` from its `package` when it is called."""

    table: ClassVar[Table]
    package: ClassVar[str]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        command: click.Command = importlib.import_module(f"{self.package}.{self.table[name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.table.items()])


class InnerGroup(CommandGroup):
    """A command of commands, each of them a `noun`; one that does not exist is an error with a hint."""

    noun: ClassVar[str] = "command"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            say(ctx.get_help())
            ctx.exit(2)
        if not args[0].startswith("-") and args[0] not in self.table:
            hint = did_you_mean(args[0], self.table) or f"choose from {', '.join(self.table)}"
            raise InputError(str(ctx.info_name), f"no such {self.noun} '{args[0]}'", hint, usage=True)
        return super().parse_args(ctx, args)
