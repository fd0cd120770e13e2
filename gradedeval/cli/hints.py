"""Hints for mistyped commands and options, and the corrected command line."""

from __future__ import annotations

import io
import os
import re
import shlex
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from glob import glob
from itertools import dropwhile, groupby, takewhile
from pathlib import Path

import click

from gradedeval.cli.options import TOPICS
from gradedeval.errors import Guess, InputError, handling_notes, hint_of, shorten, synonyms
from gradedeval.kernel.measures.parse import is_measure
from gradedeval.kernel.options import Options

MIN_SIMILARITY = 0.75
"""Minimum share of letters that a mistyped option has in common with the suggested one."""

MAX_LINE = 400
"""Maximum length of a corrected command line, with patterns for its files: a longer one is not printed."""

MAX_COMMANDS = 4
"""Maximum number of commands that a hint lists for an option."""

MAX_FAULTS = 8
"""Maximum number of faults that are mended in one command line."""

FILES = "files are arguments: "
"""Start of the sentence for options of other tools that name runs or qrels, which are arguments here."""

QRELS_OPTIONS = ("--qrels", "--qrel", "--qrels2")
"""Those that name qrels; the others name runs."""


def check_mistyped_command(word: str, arguments: Sequence[str], commands: Iterable[str]) -> None:
    """Raise InputError (usage) if a first word that is not a file is probably a mistyped command: it resembles one, or
    existing files, a folder or nothing follow it and it is not a measure.

    arguments  the words after it
    """
    if hint := hint_of("commands", word, [*commands, "--version"]):
        raise InputError("", f"no such command '{word}'", hint, usage=True)
    files = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    follows = (len(files) > 1 and all(map(os.path.exists, files))) or any(map(os.path.isdir, files)) or not arguments
    if follows and not is_measure(word):
        hint = "to score runs, give files alone: gradedeval RUN... QRELS"
        raise InputError("", f"no such command '{word}', and no such file", hint, usage=True)


class FilesHint(str):
    """The hint that files are arguments: `files are arguments: RUN... QRELS`.

    context  the context of the command, which takes them
    """

    context: click.Context


def option_error(error: click.NoSuchOption) -> InputError:
    """Return the error for an unknown option, with a similar option or the commands that have it as its hint."""
    params = error.ctx.command.params if error.ctx else []
    typed = error.option_name
    flags = [flag for param in params for flag in param.opts if isinstance(param, click.Option)]
    hint = hint_of("options", typed, flags, MIN_SIMILARITY)
    if hint.startswith(FILES) and error.ctx:
        hint = _files_hint(error.ctx)
    hint = hint or _commands_with(typed, error.ctx)
    if not hint:
        hint = _help_of(error)
        if any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in params):
            hint += ", or put -- before a topic that begins with -"
    return InputError("", f"unknown option '{typed}'", hint, usage=True)


def _files_hint(context: click.Context) -> str:
    """Return a hint that lists the files that a command takes as arguments; empty if it takes no runs and qrels."""
    metavar = _metavar(context.command)
    if "QRELS" not in metavar:
        return ""
    given = [word for word in context.find_root().obj or () if word.partition("=")[0] in QRELS_OPTIONS]
    both = "; `gradedeval agreement QRELS QRELS2 RUN...` compares two qrels"
    hint = FilesHint(f"{FILES}{metavar}{both if len(given) > 1 and not metavar.startswith('QRELS') else ''}")
    hint.context = context
    return hint


def _metavar(command: click.Command) -> str:
    """Return the metavar of the arguments of a command."""
    return " ".join(str(param.metavar) for param in command.params if isinstance(param, click.Argument))


def _commands_with(typed: str, context: click.Context | None) -> str:
    """Return a hint that lists the commands with an option or its synonym; empty if there are none.

    Commands on click logs have many options of common names, and are listed in each other's errors only.
    """
    ours, _ = synonyms()["options"].get(typed, ("", ""))
    lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()[1:]
    of_clicks = context is not None and "clicks" in context.command_path
    for flag in (typed, *(choice.split()[0] for choice in ours.split(" | ") if choice)):
        commands = [
            line.split()[0].replace(":", " ")
            for line in lines
            if any(flag in option.partition("=")[0].split(",") for option in line.split()[2:])
        ]
        commands = [command for command in commands if of_clicks or "clicks" not in command]
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


# The corrected command line.


class Moved(str):
    """A hint that a word of the command line belongs behind another, for the corrected command line."""

    word: str
    last: str

    def __new__(cls, hint: str, word: str, last: str) -> Moved:
        moved = super().__new__(cls, hint)
        moved.word, moved.last = word, last
        return moved


def with_right_order(error: InputError, running: click.Context) -> InputError:
    """Return the error of a command whose first file is certainly the qrels, and whose last certainly none, with the
    right order as its hint; any other error unchanged. An error that says so keeps its text.

    running  the context of the command
    """
    from gradedeval.cli.arguments import kind_if_qrels_first, named_files  # only for an error

    words = running.params.get("files", ())
    if error.kind == "unknown-measure":
        return error
    says_so = error.kind == "swapped-files"
    is_of_files = says_so or error.place in ("", "-m") or error.place.startswith(_beginnings(words))
    takes_runs = any(RUNS_FIRST.match(str(param.metavar)) for param in running.command.params)
    if not (is_of_files and takes_runs):
        return error
    files = named_files(words)
    chosen = running.params
    formats = Options(run_format=chosen.get("run_format"), qrels_format=chosen.get("qrels_format"))
    if not (kind := kind_if_qrels_first(files, formats)):
        return error
    first, *_, last = files
    if says_so:
        return error.replace(hint=Moved(error.raw[1], first, last))
    hint = Moved("swap them: the order is RUN... QRELS", first, last)
    return error.replace(place=first, problem=f"looks like qrels, and {last} is {kind}", hint=hint, also=(), beyond=0)


RUNS_FIRST = re.compile(r".*\b(RUN|A)\b.*\bQRELS\b")
"""Matches the metavar of files of which the qrels are the last."""


def _beginnings(words: Iterable[str]) -> tuple[str, ...]:
    """Return how places of errors begin that are about these files, or about files in these folders and patterns."""
    return tuple(filter(None, (re.split(r"[*?\[]", word, maxsplit=1)[0] for word in words)))


def corrected_command_line(program: click.Group, arguments: Sequence[str], hint: str) -> str:
    """Return the command line with the hint's replacement, and those of further faults, ready to be copied.

    Empty if a fault has no replacement, or the line is longer than `MAX_LINE` even with patterns for its files.
    """
    words, files = list(arguments), list[str]()
    for _ in range(MAX_FAULTS):
        before = words
        if isinstance(hint, FilesHint):
            words, files = _with_files_in_place(words, hint.context)
        elif isinstance(hint, Moved):
            words = _with_word_moved(words, hint)
        elif isinstance(hint, Guess) and not hint.typed.isdigit():
            words = _replaced(words, hint)
        if words == before:
            return ""
        try:
            arguments_read = _parsed(program, words).params.get("files") if words else None
        except click.exceptions.Exit:  # --help, --version
            return _line(words)
        except (click.UsageError, InputError) as error:
            hint = (error if isinstance(error, InputError) else usage_error(error)).raw[1]
            continue
        # An option may have taken one of the files, or another argument stands behind the qrels.
        return _line(words) if not files or list(arguments_read or ()) == files else ""
    return ""


def _with_word_moved(arguments: Sequence[str], hint: Moved) -> list[str]:
    """Return the arguments with a word behind another; unchanged if the value of an option may be the same word."""
    after = list(dropwhile(lambda word: word != hint.word, arguments))
    has_option = any(word.startswith("-") for word in takewhile(lambda word: word != hint.last, after))
    if arguments.count(hint.word) > 1 or (after.count(hint.last) > 1 and has_option):
        return list(arguments)
    words, is_held = list[str](), False
    for word in arguments:
        if word == hint.word:
            is_held = True
            continue
        words.append(word)
        if is_held and word == hint.last:
            words.append(hint.word)
            is_held = False
    return list(arguments) if is_held else words


def _replaced(arguments: Sequence[str], hint: Guess) -> list[str]:
    """Return the words of a command line with what is meant in place of what was typed; no file is renamed."""
    typed, words = re.escape(hint.typed), list[str]()
    for word in arguments:
        if hint.typed.startswith("-"):
            # -l2 is -l 2
            match = re.fullmatch(rf"{typed}(=?)(.*)" if len(hint.typed) == 2 else rf"{typed}(?:(=)(.*))?", word)
            words += [*hint.meant.split(), *filter(None, match.groups()[1:])] if match else [word]
        elif word == hint.typed and not os.path.exists(word):
            words += hint.meant.split()
        else:
            words.append(re.sub(rf"(?<![\w./-]){typed}(?![\w./-])", lambda _: hint.meant, word, flags=re.IGNORECASE))
    return words


def _with_files_in_place(arguments: Sequence[str], context: click.Context) -> tuple[list[str], list[str]]:
    """Return the words of a command line with its files as arguments, not after options, and these arguments.

    The words are unchanged if the command does not take as many.
    """
    metavar, path = _metavar(context.command), context.command_path.split()[1:]
    head = path if list(arguments[: len(path)]) == path else []
    known = {flag for param in context.command.params for flag in param.opts}
    words = deque(arguments[len(head) :])
    runs, qrels, rest = list[str](), list[str](), list[str]()
    while words:
        word = words.popleft()
        flag, equals, value = word.partition("=")
        sentence, _ = synonyms()["options"].get(flag, ("", ""))
        if flag in known or not (sentence.startswith(FILES) or flag in QRELS_OPTIONS):
            rest.append(word)
            continue
        values = qrels if flag in QRELS_OPTIONS else runs
        taken = [value] if equals else list(takewhile(_is_value, words))
        taken = taken[: None if values is runs and "TOPIC" not in metavar else 1]
        values += taken
        for _ in taken[equals == "=" :]:
            words.popleft()
    first = list(takewhile(_is_value, rest))
    rest = rest[len(first) :]
    first = [file for file in first if file not in qrels]
    if metavar.startswith("QRELS"):
        files = [*qrels, *first, *runs]
    else:
        files = [*runs, *qrels, *first] if runs and "TOPIC" in metavar else [*first, *runs, *qrels]
    has_too_many = len(qrels) > (2 if "QRELS2" in metavar else 1) or (runs and "LOG" in metavar)
    return (list(arguments), []) if has_too_many else ([*head, *files, *rest], files)


def _is_value(word: str) -> bool:
    return word == "-" or not word.startswith("-")


def _parsed(program: click.Group, words: Sequence[str]) -> click.Context:
    """Parse a command line without executing it, and return the context of its command.

    Raises click.UsageError or InputError for its first fault, and Exit for a help page.
    """
    command: click.Command = program
    name, context = "gradedeval", None
    with redirect_stdout(io.StringIO()), handling_notes(lambda _: None):
        while isinstance(command, click.Group):
            context = command.make_context(name, list(words), parent=context, obj=tuple(words))
            if inner := command.get_command(context, words[0]):
                name, words = words[0], words[1:]
            else:
                inner, name = command.get_command(context, "eval"), "eval"
            assert inner is not None
            command = inner
        return command.make_context(name, list(words), parent=context)


def _line(words: Sequence[str]) -> str:
    """Return the words as a command line, with a pattern for files that are many; empty if it is too long even so."""
    line = shlex.join(["gradedeval", *words])
    if len(line) <= MAX_LINE:
        return line
    quoted = list[str]()
    for (folder, ending), group in groupby(words, lambda word: (os.path.dirname(word), os.path.splitext(word)[1])):
        files = list(group)
        pattern = os.path.join(folder, f"*{ending}")
        # Only what the shell expands to the same files in the same order.
        is_plain = shlex.quote(folder) in (folder, "''") and len(files) > 1
        expanded = sorted(glob(pattern)) if is_plain else []
        is_same = files in (expanded, sorted(expanded, key=lambda file: re.sub(r"[\W_]", "", file.casefold())))
        quoted += [pattern] if expanded and is_same else map(shlex.quote, files)
    line = " ".join(["gradedeval", *quoted])
    return line if len(line) <= MAX_LINE else ""
