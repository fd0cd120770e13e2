"""What may be meant by a command line that is wrong: the words of other tools, of other commands, misspelt ones."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

import click

from gradedeval.cli.options import TOPICS
from gradedeval.errors import GUESSES, InputError, did_you_mean, guessed
from gradedeval.kernel.measures.parse import is_measure
from gradedeval.kernel.options import OPTIONS

MEANT = {
    **dict.fromkeys(("evaluate", "score", "measure"), "eval"),
    **dict.fromkeys(("cmp", "significance", "ttest", "test"), "compare"),
    **dict.fromkeys(("validate", "verify"), "lint"),
    **dict.fromkeys(("draw", "figure"), "plot"),
    **dict.fromkeys(("list", "metric", "metrics"), "measures"),
    "version": "--version",
}
"""What users of other tools call a command -> its name here."""
# Flags of trec_eval that are not ours -> the parameter that does the same, if there is one.
TREC_EVAL_FLAGS: dict[str, str | None] = {
    "-c": "topics",
    "-l": "rel",
    "-M": "depth",
    "-J": "judged_only",
    **dict.fromkeys(("-n", "-N", "-Z", "-R", "-T", "-D")),
}


def check_no_command(word: str, others: Sequence[str], known: Iterable[str]) -> None:
    """Raise InputError (usage) where a first argument that is no file was meant for a command: it is spelt like one, or
    it is no measure and stands before a run and qrels that are there."""
    hint = f"did you mean '{MEANT[word]}'?" if word in MEANT else did_you_mean(word, known, 0.7)
    if hint:
        raise InputError("", f"no such command '{word}'", hint, usage=True)
    files = list(takewhile(lambda other: not other.startswith("-"), others))
    if len(files) > 1 and all(map(os.path.exists, files)) and not is_measure(word):
        hint = "to score runs, give files alone: gradedeval RUN... QRELS"
        raise InputError("", f"no such command '{word}', and no such file", hint, usage=True)


RENAMED = {
    "--append-to": "--history",
    "--alpha": "--risk-aversion",
    "--best": "--best-runs",
    "--by": "--coefficient",
    "--model": "--model-from",
    "--test": "--test-log",
    "--weights": "--to-weights",
    "-m": "--model",
}
"""What an option was called, where another command has that name for something else -> what it is called there now."""
INSTEAD = {
    **dict.fromkeys(("--qrels", "--qrel", "--run", "--runs", "--input"), "files are arguments: RUN... QRELS"),
    **dict.fromkeys(("--list", "--list-measures", "--all-measures"), "`gradedeval measures` lists them"),
    **dict.fromkeys(("--cutoff", "--cutoffs", "--k"), "write cutoffs in measures, as in -m ndcg@10"),
    **dict.fromkeys(("--threshold", "--binary"), "did you mean '--rel'?"),
    **dict.fromkeys(("--precision", "-p"), "did you mean '--digits'?"),
    **dict.fromkeys(("--ttest", "--t-test", "-t"), "did you mean '--test t'?"),
    **dict.fromkeys(("-V", "-v"), "`gradedeval --version` prints the version"),
    **dict.fromkeys(("--install-completion", "--show-completion"), "`gradedeval completion bash` prints a script"),
    **dict.fromkeys(("--best", "--percent", "--caption"), "`gradedeval A B C Q -f latex --best "
                    "--baseline A` writes tables to publish"),
    "--color": "the variables NO_COLOR=1 and FORCE_COLOR=1 decide",
    "--strata": "did you mean '--qrels-format strata'?",
    "--allow-mismatch": "score the saved runs again with the same qrels and options",
    "--gaps": "the gaps of each session count alike",
    "--lists": "`gradedeval clicks simulate RUN...` shows the lists of runs",
    "--max-gain": "did you mean '--top-grade'?",
    **dict.fromkeys(("--width", "--height", "--dpi"), "did you mean '--size WIDTHxHEIGHT'?"),
    **dict.fromkeys(("--renormalize", "--scale"), "did you mean '--normalize sum'?"),
    "-n": "did you mean '--ranks'?",
    "-k": "it cuts measures, and none are named here",
    "--level": "did you mean '--interval' or '--rel'?",
    "--seeds": "the option '--seed' takes one number",
    "--topic": "`gradedeval explain RUN QRELS TOPIC` shows one topic, --by-topic lists all",
}  # fmt: skip
"""Options of other tools, and of other commands, that have no counterpart of their own -> what to do instead."""

NEAR = 0.75
"""The share of letters that an option has in common with the one that is meant: with fewer it is another word."""

PREFIX = 3
"""The letters that the beginning of an option has at least; it goes before options that are spelt alike."""


def option_hint(typed: str, known: Sequence[str]) -> str:
    """What may be meant by an option that a command does not have, of those that it has; nothing where none is near."""
    renamed = f"did you mean '{RENAMED[typed]}'?" if typed in RENAMED else ""
    of_others = next((described.instead for described in OPTIONS.values() if described.flag == typed), "")
    for ours in filter(None, (renamed, INSTEAD.get(typed), of_others)):
        if all(name in known for name in re.findall(r"'(-[^\s']+)[^']*'", ours)):
            return ours
    if typed in INSTEAD:  # and is no misspelling, though a word may be near
        return ""
    if typed.startswith("--") and (name := typed[2:].replace("-", "_")) in GUESSES:
        flags = {one.lstrip("-").replace("-", "_"): one for one in known}
        return guessed(name, flags, flags.__getitem__)
    words = [name.removeprefix("--") for name in known if name.startswith("--")]
    word = typed.lstrip("-")
    begun = [name for name in words if name.startswith(word)] if len(word) >= PREFIX else []
    return did_you_mean(min(begun, key=len, default=word), words, NEAR).replace(" '", " '--", 1)


def in_a_line(error: click.UsageError) -> str:
    """A usage error of click as problem; hint, in the same words for every version of click."""
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.opts[0] == "-o":
        return f"-o: missing file name; for example -o {str(error.param.metavar).replace('FILE', 'report')}"
    problem = error.format_message().strip().rstrip(".")
    problem = f"{problem[:1].lower()}{problem[1:]}"
    hint = f"see `{error.ctx.command_path if error.ctx else 'gradedeval'} --help`"
    if isinstance(error, click.NoSuchOption):
        problem = f"unknown option '{error.option_name}'"
        params = error.ctx.command.params if error.ctx else []
        own = option_hint(error.option_name, [name for param in params for name in param.opts])
        if own:
            hint = own
        elif error.option_name in TREC_EVAL_FLAGS:
            ours = [param.opts[0] for param in params if param.name == TREC_EVAL_FLAGS[error.option_name]]
            hint = f"did you mean '{ours[0]}'? " if ours else ""
            hint += "`gradedeval trec_eval` takes trec_eval's options"
        elif any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in params):
            hint += ", or put -- before a topic that begins with -"
    return f"{problem}; {hint}"
