"""Shell completion by click, from the words in `completion.txt`: importing the commands would delay each key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from gradedeval.cli.output import write
from gradedeval.errors import InputError

FILES, MEASURE = "FILE", "MEASURE"
"""Words of `completion.txt` for any path, and for the name of any measure."""


class CompletionGroup(click.Group):
    """The commands. Any other first argument is a file for `eval`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_file = args and args[0] not in self.commands
        return super().parse_args(ctx, ["eval", *args] if is_file else args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=command.help)
            for name, command in self.commands.items()
            if name.startswith(incomplete)
        ]
        flags = self.commands["eval"].shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [*commands, *flags, CompletionItem(incomplete, type="file")]


def complete(instruction: str, variable: str, summaries: Mapping[str, str]) -> int:
    """Print the completion script of a shell, or the completions of a word, and return the exit code.

    instruction  value of the variable, as in `bash_source`
    variable     environment variable of click's scripts
    summaries    command -> its help in one sentence
    """
    return shell_complete(program(summaries), {}, "gradedeval", variable, instruction)


def program(summaries: Mapping[str, str]) -> click.Group:
    """Return the commands with their options and without their functions.

    The first line of `completion.txt` has the names of the measures. Each other line has a command, the values of its
    arguments, and its options, as in `-f,--format=table|csv` or `--output=FILE`. A command of a group has a colon, as
    in `plot:runs`.
    """
    measures, *lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()
    words = {line.split(maxsplit=1)[0]: line.replace(MEASURE, measures).split()[1:] for line in lines}
    commands: dict[str, click.Command] = {}
    for name in words:
        group, colon, inner = name.partition(":")
        if not colon:
            commands[name] = _command(name, summaries[name], *words[name])
            continue
        parent = commands.setdefault(group, click.Group(group, help=summaries[group]))
        if isinstance(parent, click.Group):
            parent.add_command(_command(inner, "", *words[name]))
    return CompletionGroup("gradedeval", commands={name: commands[name] for name in summaries})


def _command(name: str, summary: str, arguments: str, *options: str) -> click.Command:
    """Return a command that does nothing, from its words in `completion.txt`."""
    files = click.Argument(["files"], nargs=-1, type=_values(arguments))
    return click.Command(name, params=[*map(_option, options), files], help=summary)


def _option(word: str) -> click.Option:
    """Return an option from a word such as `-f,--format=table|csv`."""
    flags, equals, values = word.partition("=")
    names = [*flags.split(","), "value"]
    return click.Option(names, type=_values(values)) if equals else click.Option(names, is_flag=True)


def _values(word: str) -> Any:
    """Return the type of values such as `FILE` or `table|csv`."""
    if word == FILES:
        return click.Path()
    return click.Choice(word.split("|")) if word else click.STRING


@click.command("completion", options_metavar="")
@click.argument("shell", required=False, default="", metavar="bash|zsh|fish")
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell: for commands, options, measures and files.

    In bash and zsh: `eval "$(gradedeval completion bash)"` in the start-up file; in fish: `gradedeval completion fish |
    source`.
    """
    completer = get_completion_class(shell)
    if completer is None:
        problem = f"'{shell}' is not supported" if shell else "no shell given"
        raise InputError("completion", problem, "choose bash, zsh or fish", usage=True)
    name = str(context.find_root().info_name)
    write(completer(click.Command(name), {}, name, f"_{name}_complete".upper()).source() + "\n")
