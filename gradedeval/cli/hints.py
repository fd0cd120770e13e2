"""What may be meant by a command line that is wrong, and the whole line as it is meant."""

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

NEAR = 0.75
"""The share of letters that an option has in common with the one that is meant: with fewer it is another word."""

LONGEST = 400
"""The characters that a corrected command line has at most: a longer one, as with a hundred runs, is not printed."""

SHOWN = 4
"""The commands that are named for an option which they have."""


def check_mistyped_command(word: str, others: Sequence[str], known: Iterable[str]) -> None:
    """Raise InputError (usage) where a first argument that is no file was meant for a command: it is spelt like one, or
    it is no measure and stands before a run and qrels that are there."""
    if hint := hint_of("commands", word, [*known, "--version"]):
        raise InputError("", f"no such command '{word}'", hint, usage=True)
    files = list(takewhile(lambda other: not other.startswith("-"), others))
    if len(files) > 1 and all(map(os.path.exists, files)) and not is_measure(word):
        hint = "to score runs, give files alone: gradedeval RUN... QRELS"
        raise InputError("", f"no such command '{word}', and no such file", hint, usage=True)


def option_error(error: click.NoSuchOption) -> InputError:
    """Return the error of an option that a command does not have, with the one that is meant, or where it is."""
    params = error.ctx.command.params if error.ctx else []
    typed = error.option_name
    known = [flag for param in params for flag in param.opts if isinstance(param, click.Option)]
    hint = hint_of("options", typed, known, NEAR) or _elsewhere(typed)
    if not hint:
        hint = _help_of(error)
        if any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in params):
            hint += ", or put -- before a topic that begins with -"
    return InputError("", f"unknown option '{typed}'", hint, usage=True)


def _elsewhere(typed: str) -> str:
    """Return which commands have an option, or the one that is meant by it; "" where none has."""
    ours, _ = synonyms()["options"].get(typed, ("", ""))
    lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()[1:]
    for flag in (typed, *(choice.split()[0] for choice in ours.split(" | ") if choice)):
        commands = [
            line.split()[0].replace(":", " ")
            for line in lines
            if any(flag in option.partition("=")[0].split(",") for option in line.split()[2:])
        ]
        if commands:
            return f"{'it' if flag == typed else flag} is an option of {shorten(commands, SHOWN)}"
    return ""


def usage_error(error: click.UsageError) -> InputError:
    """Return a usage error of click as problem; hint, in the same words for every version of click."""
    if isinstance(error, click.NoSuchOption):
        return option_error(error)
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.opts[0] == "-o":
        example = str(error.param.metavar).replace("FILE", "report")
        return InputError("-o", "missing file name", f"for example -o {example}", usage=True)
    problem = error.format_message().strip().rstrip(".")
    return InputError("", f"{problem[:1].lower()}{problem[1:]}", _help_of(error), usage=True)


def _help_of(error: click.UsageError) -> str:
    return f"see `{error.ctx.command_path if error.ctx else 'gradedeval'} --help`"


def corrected_command_line(arguments: Sequence[str], hint: str) -> str:
    """Return the command line with what is meant in place of what was typed, ready to be copied; "" where the hint
    names no replacement, or the line is long."""
    if not isinstance(hint, Guess) or hint.typed.isdigit():
        return ""
    typed, words = re.escape(hint.typed), list[str]()
    for word in arguments:
        if hint.typed.startswith("-"):
            # -l2 is -l 2
            found = re.fullmatch(rf"{typed}(=?)(.*)" if len(hint.typed) == 2 else rf"{typed}(?:(=)(.*))?", word)
            words += [*hint.meant.split(), *filter(None, found.groups()[1:])] if found else [word]
        elif word == hint.typed:
            words += hint.meant.split()
        else:
            words.append(re.sub(rf"(?<![\w./-]){typed}(?![\w./-])", lambda _: hint.meant, word, flags=re.IGNORECASE))
    line = shlex.join(["gradedeval", *words])
    return line if words != list(arguments) and len(line) <= LONGEST else ""
