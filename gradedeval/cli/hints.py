"""Hints for mistyped commands and options, and the corrected command line."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path

import click

from gradedeval.cli.options import TOPICS
from gradedeval.errors import Guess, InputError, hint_of, shorten, synonyms
from gradedeval.kernel.measures.parse import is_measure

MIN_SIMILARITY = 0.75
"""Minimum share of letters that a mistyped option has in common with the suggested one."""

MAX_LINE = 400
"""Maximum length of a corrected command line: a longer one, as with a hundred runs, is not printed."""

MAX_COMMANDS = 4
"""Maximum number of commands that a hint lists for an option."""


def check_mistyped_command(word: str, arguments: Sequence[str], commands: Iterable[str]) -> None:
    """Raise InputError (usage) if a first word that is not a file is probably a mistyped command: it resembles one, or
    existing files follow it and it is not a measure.

    arguments  the words after it
    """
    if hint := hint_of("commands", word, [*commands, "--version"]):
        raise InputError("", f"no such command '{word}'", hint, usage=True)
    files = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    if len(files) > 1 and all(map(os.path.exists, files)) and not is_measure(word):
        hint = "to score runs, give files alone: gradedeval RUN... QRELS"
        raise InputError("", f"no such command '{word}', and no such file", hint, usage=True)


def option_error(error: click.NoSuchOption) -> InputError:
    """Return the error for an unknown option, with a similar option or the commands that have it as its hint."""
    params = error.ctx.command.params if error.ctx else []
    typed = error.option_name
    flags = [flag for param in params for flag in param.opts if isinstance(param, click.Option)]
    hint = hint_of("options", typed, flags, MIN_SIMILARITY) or _commands_with(typed)
    if not hint:
        hint = _help_of(error)
        if any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in params):
            hint += ", or put -- before a topic that begins with -"
    return InputError("", f"unknown option '{typed}'", hint, usage=True)


def _commands_with(typed: str) -> str:
    """Return a hint that lists the commands with an option or its synonym; empty if there are none."""
    ours, _ = synonyms()["options"].get(typed, ("", ""))
    lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()[1:]
    for flag in (typed, *(choice.split()[0] for choice in ours.split(" | ") if choice)):
        commands = [
            line.split()[0].replace(":", " ")
            for line in lines
            if any(flag in option.partition("=")[0].split(",") for option in line.split()[2:])
        ]
        if commands:
            return f"{'it' if flag == typed else flag} is an option of {shorten(commands, MAX_COMMANDS)}"
    return ""


def usage_error(error: click.UsageError) -> InputError:
    """Return a usage error of click as an InputError, in the same words for every version of click."""
    if isinstance(error, click.NoSuchOption):
        return option_error(error)
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.opts[0] == "-o":
        example = str(error.param.metavar).replace("FILE", "report")
        return InputError("-o", "missing file name", f"for example -o {example}", usage=True)
    problem = error.format_message().strip().rstrip(".")
    return InputError("", f"{problem[:1].lower()}{problem[1:]}", _help_of(error), usage=True)


def _help_of(error: click.UsageError) -> str:
    """Return a hint that names the help page of the command."""
    return f"see `{error.ctx.command_path if error.ctx else 'gradedeval'} --help`"


def corrected_command_line(arguments: Sequence[str], hint: str) -> str:
    """Return the command line with the hint's replacement, ready to be copied.

    Empty if the hint has no replacement, or the line is longer than `MAX_LINE`.
    """
    if not isinstance(hint, Guess) or hint.typed.isdigit():
        return ""
    typed, words = re.escape(hint.typed), list[str]()
    for word in arguments:
        if hint.typed.startswith("-"):
            # -l2 is -l 2
            match = re.fullmatch(rf"{typed}(=?)(.*)" if len(hint.typed) == 2 else rf"{typed}(?:(=)(.*))?", word)
            words += [*hint.meant.split(), *filter(None, match.groups()[1:])] if match else [word]
        elif word == hint.typed:
            words += hint.meant.split()
        else:
            words.append(re.sub(rf"(?<![\w./-]){typed}(?![\w./-])", lambda _: hint.meant, word, flags=re.IGNORECASE))
    line = shlex.join(["gradedeval", *words])
    return line if words != list(arguments) and len(line) <= MAX_LINE else ""
