"""A group of commands, each of which is imported when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import ClassVar

import click

Table = Mapping[str, tuple[str, str]]
"""Command -> the module that defines it as `command`, and what it does, so that a help page imports none."""


class CommandGroup(click.Group):
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
