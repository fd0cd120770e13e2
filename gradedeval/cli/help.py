"""`gradedeval help [WORD]`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from gradedeval.cli.options import OPTION_ALIASES
from gradedeval.cli.output import write
from gradedeval.errors import InputError, did_you_mean, synonyms

if TYPE_CHECKING:
    from gradedeval.cli.search import Entry


MAX_MENTIONS = 8
"""Maximum number of mentions of a word that are listed; the others are counted."""


@click.command("help", options_metavar="", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[WORD]")
@click.pass_context
def help_page(context: click.Context, words: tuple[str, ...]) -> None:
    """Explain a word: a command, such as `compare` or `plot runs`, a measure, an option, such as `predicted` or `-m`, a
    format, such as `latex`, or a subject, such as `kappa`. `help measures` lists all measures, `help formats` all
    formats."""
    program = context.find_root()
    if not words or words == ("help",):
        return _run(program, *words, "--help")
    if words == ("measures",):
        return _run(program, "measures")
    if any(word.startswith("-") for word in words[1:]):  # options of the page of a measure, such as -f bibtex
        return _run(program, "measures", *words)
    from gradedeval.cli.search import formats_page, texts_of  # imports all commands

    if words == ("formats",):
        return write(formats_page())
    texts, word = texts_of(program), " ".join(words)
    explained = _explain(program, words, texts)
    mentions = [entry for entry in texts if entry not in explained and entry.mentions(word)]
    theirs = [] if explained else _of_other_tools(word)
    if theirs:
        formatter = click.Context(program.command).make_formatter()
        formatter.write_dl(theirs)
        write(formatter.getvalue())
    if not explained and not mentions and not theirs:
        commands = [entry.place for entry in texts if entry.kind == "command"]
        if words[0] in commands:
            return _run(program, *words, "--help")
        hint = did_you_mean(word, [*commands, "formats"]) or "`gradedeval help` lists the commands"
        raise InputError("help", f"no command, measure or option is called '{word}'", hint, usage=True)
    if mentions:
        heading = "\nAlso in" if explained or theirs else f"Nothing is called '{word}'; the word appears in"
        write(_format_mentions(heading, mentions, word, program))
    return None


def _explain(program: click.Context, words: tuple[str, ...], texts: Sequence[Entry]) -> list[Entry]:
    """Print the page of a command or a measure, or the help of an option or a format. Return its entries."""
    word = " ".join(words)
    if named := [entry for entry in texts if entry.kind == "command" and word in entry.names]:
        with suppress(click.exceptions.Exit):
            _run(program, *words, "--help")
        return [entry for entry in texts if entry in named or entry.place.startswith(f"{word} ")]
    with suppress(InputError):
        if not word.startswith("-"):
            _run(program, "measures", *words)
            return [entry for entry in texts if entry.kind == "measure" and word.lower() in entry.names]
    *_, ours = OPTION_ALIASES.get(word) or OPTION_ALIASES.get(f"--{word}") or (word,)  # of --latex: latex
    for kind, names in (("option", {ours, f"-{ours}", f"--{ours}"}), ("format", {ours, f".{ours}"})):
        if named := [entry for entry in texts if entry.kind == kind and names & {*entry.names}]:
            write(_entries_page(named, program))
            return named
    if word.startswith("--"):  # a command, typed like an option
        return _explain(program, (word.lstrip("-"), *words[1:]), texts)
    return []


def _entries_page(named: Sequence[Entry], program: click.Context) -> str:
    """Return the distinct texts of an option, each with its commands, or of a format."""
    by_text: dict[tuple[str, str], list[str]] = {}
    for entry in named:
        by_text.setdefault((entry.title, entry.text), []).append(entry.place.rpartition(" ")[0])
    formatter = click.Context(program.command).make_formatter()
    for (title, text), commands in by_text.items():
        formatter.write_paragraph()
        formatter.write(f"{title}\n")
        with formatter.indentation():
            formatter.write_text(text)
            if named[0].kind == "option":
                formatter.write_paragraph()
                formatter.write_text(f"Commands: {', '.join(commands)}.")
    return formatter.getvalue().lstrip("\n")


def _format_mentions(heading: str, mentions: Sequence[Entry], word: str, program: click.Context) -> str:
    """Return a list of the first entries that mention a word: in their names, then in summaries, then in texts.

    An option of several commands is listed once.
    """
    distinct: dict[tuple[str, str], Entry] = {}
    for entry in mentions:
        distinct.setdefault((entry.title, entry.summary), entry)
    ordered = sorted(distinct.values(), key=lambda entry: entry.distance(word))
    formatter = click.Context(program.command).make_formatter()
    formatter.write(f"{heading}:\n")
    with formatter.indentation():
        formatter.write_dl([(entry.place, entry.summary) for entry in ordered[:MAX_MENTIONS]])
    rest = len(ordered[MAX_MENTIONS:])
    if rest:
        formatter.write_paragraph()
        formatter.write(f"{rest} more {'text contains' if rest == 1 else 'texts contain'} the word.\n")
    return formatter.getvalue()


def _of_other_tools(word: str) -> list[tuple[str, str]]:
    """Return each meaning of a word of another tool and its equivalent here, or all words of a tool."""
    entries = []
    for kind in ("commands", "options", "measures"):
        for theirs, (ours, tool) in synonyms()[kind].items():
            if word.lower() in (theirs.lower().lstrip("-"), theirs.lower(), tool):
                meant, _, sentence = ours.split(" | ")[0].rpartition("? ")[2].partition(" := ")
                of_tool = "" if tool in ("plain", "gradedeval", "irtools") else f" ({tool})"
                entries.append((f"{theirs}{of_tool}", sentence.replace("{}", meant) or meant))
    return entries


def _run(program: click.Context, *words: str) -> None:
    """Run the program with these arguments."""
    with program.command.make_context("gradedeval", list(words)) as context:
        context.meta.update(program.meta)
        program.command.invoke(context)
