"""What a shell offers while the user types: click's completion, of words that are written down in `completion.txt`, so
that no key waits for numpy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from gradedeval.cli.output import write
from gradedeval.errors import InputError

FILES, MEASURE = "FILE", "MEASURE"
"""What stands for any path, and for the name of any measure."""


class Offered(click.Group):
    """The commands; what names none of them is a file to evaluate."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        evaluated = args and args[0] not in self.commands
        return super().parse_args(ctx, ["eval", *args] if evaluated else args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=command.help)
            for name, command in self.commands.items()
            if name.startswith(incomplete)
        ]
        flags = self.commands["eval"].shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [*commands, *flags, CompletionItem(incomplete, type="file")]


def complete(instruction: str, variable: str, summaries: Mapping[str, str]) -> int:
    """Print what click's scripts for bash, zsh and fish ask for: the script itself, or how a word may go on.

    instruction  the value of the variable, as in `bash_source`
    summaries    command -> what it does, in a sentence

    Returns the exit code.
    """
    return shell_complete(program(summaries), {}, "gradedeval", variable, instruction)


def program(summaries: Mapping[str, str]) -> click.Group:
    """The commands with their options, and nothing behind them.

    The first line of `completion.txt` has the names of the measures; each other line is a command, what its arguments
    are, and its options, as in `-f,--format=table|csv` or `--output=FILE`. A command of a group is written with a
    colon, as in `plot:runs`.
    """
    measures, *lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()
    words = {line.split(maxsplit=1)[0]: line.replace(MEASURE, measures).split()[1:] for line in lines}
    commands: dict[str, click.Command] = {}
    for name in words:
        group, colon, inner = name.partition(":")
        if not colon:
            commands[name] = _command(name, summaries[name], *words[name])
            continue
        of_group = commands.setdefault(group, click.Group(group, help=summaries[group]))
        if isinstance(of_group, click.Group):
            of_group.add_command(_command(inner, "", *words[name]))
    return Offered("gradedeval", commands={name: commands[name] for name in summaries})


def _command(name: str, summary: str, arguments: str, *options: str) -> click.Command:
    files = click.Argument(["files"], nargs=-1, type=_values(arguments))
    return click.Command(name, params=[*map(_option, options), files], help=summary)


def _option(written: str) -> click.Option:
    flags, equals, values = written.partition("=")
    names = [*flags.split(","), "value"]
    return click.Option(names, type=_values(values)) if equals else click.Option(names, is_flag=True)


def _values(written: str) -> Any:
    if written == FILES:
        return click.Path()
    return click.Choice(written.split("|")) if written else click.STRING


@click.command("completion", options_metavar="")
@click.argument("shell", required=False, default="", metavar="bash|zsh|fish")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell: for commands, options, measures and files.

    In bash and zsh: `eval "$(gradedeval completion bash)"` in the start-up file; in fish: `gradedeval completion fish |
    source`.
    """
    of_shell = get_completion_class(shell)
    if of_shell is None:
        what = f"'{shell}' is not supported" if shell else "no shell given"
        raise InputError("completion", what, "choose bash, zsh or fish", usage=True)
    name = str(context.find_root().info_name)
    write(of_shell(click.Command(name), {}, name, f"_{name}_complete".upper()).source() + "\n")
