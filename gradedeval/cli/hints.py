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
from typing import Any, Self

import click

from gradedeval.cli.arguments import split_command
from gradedeval.cli.canvas import PICTURE
from gradedeval.cli.options import TOPICS
from gradedeval.errors import Added, Guess, InputError, Rewritten, flag, handling_notes, hint_of, shorten, synonyms
from gradedeval.kernel.measures.parse import is_measure, parse_measures
from gradedeval.kernel.options import Options

MIN_SIMILARITY = 0.75
"""Minimum share of letters that a mistyped option has in common with the suggested one."""

MAX_LINE = 400
"""Maximum length of a corrected command line, with patterns for its files: a longer one is not printed."""

MAX_COMMANDS = 4
"""Maximum number of commands that a hint lists for an option."""

MAX_CORRECTIONS = 8
"""Maximum number of errors that are corrected in one command line."""

FILES_ARE_ARGUMENTS = "files are arguments: "
"""Start of the sentence for options of other tools that name runs or qrels, which are arguments here."""

EXACT_OPTION = "it is an option of "
"""Start of the hint that lists the commands with an option of exactly the typed name."""

TREC_EVAL = "`gradedeval trec_eval"
"""Start of the sentence for words that the command `trec_eval` knows."""

OPTIONS_NAMING_QRELS = ("--qrels", "--qrel", "--qrels2", "--against", "--other-qrels", "--second-qrels")
"""The options of other tools that name qrels; the last four name a second qrels file."""


def check_mistyped_command(word: str, arguments: Sequence[str], commands: Iterable[str]) -> None:
    """Raise InputError (usage) if a first word that is not a file is probably a mistyped command.

    It is one if it resembles a command. It is also one if it is not a measure, and existing files, a folder or nothing
    follow it.

    arguments  the words after the first
    """
    if hint := hint_of("commands", word, [*commands, "--version"]):
        raise InputError("", f"no such command '{word}'", hint, usage=True)
    files = list(takewhile(lambda argument: not argument.startswith("-"), arguments))
    has_files = (len(files) > 1 and all(map(os.path.exists, files))) or any(map(os.path.isdir, files))
    if (has_files or not arguments) and not is_measure(word):
        hint = "to score runs, give files alone: gradedeval RUN... QRELS"
        raise InputError("", f"no such command '{word}', and no such file", hint, usage=True)


class Hint(str):
    """A hint whose attributes say how to correct the command line."""

    def __new__(cls, text: str, **attributes: Any) -> Self:
        hint = super().__new__(cls, text)
        hint.__dict__.update(attributes)
        return hint


class FilesHint(Hint):
    """The hint that files are arguments: `files are arguments: RUN... QRELS`.

    context  the context of the command that takes the files
    """

    context: click.Context


class OtherCommandHint(Hint):
    """The hint that another command has an option: `it is an option of check`.

    command  the name of the other command
    typed    the option as typed
    meant    the option as the other command calls it, with a value if it needs one
    context  the context of the command that was called
    """

    command: str
    typed: str
    meant: str
    context: click.Context


class MovedWordHint(Hint):
    """A hint that `word` belongs directly after the word `last` of the command line."""

    word: str
    last: str


def option_error(error: click.NoSuchOption) -> InputError:
    """Return the error for an unknown option, with a similar option or the commands that have it as its hint."""
    params = error.ctx.command.params if error.ctx else []
    typed = error.option_name
    flags = [name for param in params for name in param.opts if isinstance(param, click.Option)]
    hint = hint_of("options", typed, flags, MIN_SIMILARITY)
    if hint.startswith(FILES_ARE_ARGUMENTS) and error.ctx:
        hint = _files_hint(error.ctx)
    is_similar = isinstance(hint, Guess) and typed.replace("_", "-") not in synonyms()["options"]
    elsewhere = _commands_with(typed, error.ctx) if is_similar or not hint else ""
    hint = elsewhere if elsewhere.startswith(EXACT_OPTION) else hint or elsewhere
    if isinstance(hint, Guess) and error.ctx and _needs_baseline(hint, error.ctx):
        text = f"did you mean `gradedeval compare` with {hint.meant}? Without {flag.baseline} no test is made here"
        hint = OtherCommandHint(text, command="compare", typed=typed, meant=hint.meant, context=error.ctx)
    if not hint:
        hint = _help_of(error)
        if any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in params):
            hint += ", or put -- before a topic that begins with -"
    return InputError("", f"unknown option '{typed}'", hint, usage=True)


def _needs_baseline(hint: Guess, context: click.Context) -> bool:
    """Return whether a hint names an option of significance tests for `eval`, and the command line has no baseline."""
    baselines = (word for word in context.find_root().obj or () if word.startswith("--baseline"))
    return context.command.name == "eval" and hint.meant.startswith(("--test", "--correction")) and not any(baselines)


def _files_hint(context: click.Context) -> str:
    """Return a hint that lists the files that a command takes as arguments; empty if it takes no runs and qrels."""
    metavar = _metavar(context.command)
    if "QRELS" not in metavar:
        return ""
    names = (word.partition("=")[0] for word in context.find_root().obj or ())
    qrels_options = [name for name in names if name in OPTIONS_NAMING_QRELS]
    has_two = len(qrels_options) > 1 or not {*qrels_options} <= {*OPTIONS_NAMING_QRELS[:2]}
    both = "; `gradedeval agreement QRELS QRELS2 RUN...` compares two qrels"
    both = both if has_two and not metavar.startswith("QRELS") else ""
    return FilesHint(f"{FILES_ARE_ARGUMENTS}{metavar}{both}", context=context)


def _metavar(command: click.Command) -> str:
    """Return the metavar of the arguments of a command."""
    return " ".join(str(param.metavar) for param in command.params if isinstance(param, click.Argument))


def _commands_with(typed: str, context: click.Context | None) -> str:
    """Return a hint that lists the commands with an option or its synonym; empty if there are none.

    Commands on click logs are listed only in the errors of such commands: their options have common names.
    """
    ours, _ = synonyms()["options"].get(typed.replace("_", "-"), ("", ""))
    lines = Path(__file__).with_name("completion.txt").read_text(encoding="utf-8").splitlines()[1:]
    reads_clicks = context is not None and "clicks" in context.command_path
    for meant in (typed, *filter(None, ours.split(" | "))):
        name = meant.split()[0]
        commands = [
            line.split()[0].replace(":", " ")
            for line in lines
            if any(name in option.partition("=")[0].split(",") for option in line.split()[2:])
        ]
        commands = [command for command in commands if reads_clicks or "clicks" not in command]
        if commands:
            hint = f"{EXACT_OPTION if meant == typed else f'{name} is an option of '}{shorten(commands, MAX_COMMANDS)}"
            takes_qrels = context is not None and "QRELS" in _metavar(context.command)
            if context is not None and takes_qrels and len(commands) == 1 and commands != ["eval"]:
                return OtherCommandHint(hint, command=commands[0], typed=typed, meant=meant, context=context)
            return hint
    return ""


def usage_error(error: click.UsageError) -> InputError:
    """Return a usage error of click as an InputError, in the same words for every version of click."""
    if isinstance(error, click.NoSuchOption):
        return option_error(error)
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.opts[0] == "-o":
        example = str(error.param.metavar).replace("FILE", "report")
        return InputError("-o", "missing file name", Added(f"for example -o {example}", "-o", example), usage=True)
    problem = error.format_message().strip().rstrip(".")
    return InputError("", f"{problem[:1].lower()}{problem[1:]}", _help_of(error), usage=True)


def _help_of(error: click.UsageError) -> str:
    """Return a hint that names the help page of the command."""
    return f"see `{error.ctx.command_path if error.ctx else 'gradedeval'} --help`"


# The corrected command line.


def suggest_right_order(error: InputError, running: click.Context) -> InputError:
    """Return the error of a command with the right order of its files as the hint, if they are swapped.

    They are swapped if the first file certainly is the qrels and the last certainly is not; otherwise the error is
    returned unchanged. An error of kind swapped-files keeps its text.

    running  the context of the command
    """
    from gradedeval.cli.arguments import kind_if_qrels_first, named_files  # only for an error

    words = running.params.get("files", ())
    if error.kind == "unknown-measure":
        return error
    is_swap_error = error.kind == "swapped-files"
    concerns_files = is_swap_error or error.place in ("", "-m") or error.place.startswith(_place_prefixes(words))
    takes_runs = any(QRELS_LAST.match(str(param.metavar)) for param in running.command.params)
    if not (concerns_files and takes_runs):
        return error
    files = named_files(words)
    chosen = running.params
    formats = Options(run_format=chosen.get("run_format"), qrels_format=chosen.get("qrels_format"))
    if not (kind := kind_if_qrels_first(files, formats)):
        return error
    first, *_, last = files
    if is_swap_error:
        return error.replace(hint=MovedWordHint(error.raw[1], word=first, last=last))
    hint = MovedWordHint("swap them: the order is RUN... QRELS", word=first, last=last)
    return error.replace(place=first, problem=f"looks like qrels, and {last} is {kind}", hint=hint, also=(), beyond=0)


QRELS_LAST = re.compile(r".*\b(RUN|A)\b.*\bQRELS\b")
"""Matches the metavar of files if the qrels follow the runs."""


def _place_prefixes(words: Iterable[str]) -> tuple[str, ...]:
    """Return the prefixes of the places of errors in these files, and in the files of these folders and patterns."""
    return tuple(filter(None, (re.split(r"[*?\[]", word, maxsplit=1)[0] for word in words)))


def corrected_command_line(program: click.Group, arguments: Sequence[str], hint: str) -> str:
    """Return the command line, corrected as the hint and the hints of further errors propose, ready to be copied.

    Empty if a hint proposes no correction, or the line is longer than `MAX_LINE` even with patterns for its files.
    """
    words, files = list(arguments), list[str]()
    for _ in range(MAX_CORRECTIONS):
        typed = words
        if isinstance(hint, FilesHint):
            words, files = _with_files_in_place(words, hint.context)
        else:
            words = _correct(words, hint)
        if words == typed:
            return ""
        try:
            arguments_read = _parse_and_check(program, words).get("files") if words else None
        except click.exceptions.Exit:  # --help, --version
            return _join_words(words)
        except (click.UsageError, InputError) as error:
            hint = (error if isinstance(error, InputError) else usage_error(error)).raw[1]
            continue
        # An option may have taken one of the files as its value, or another argument may follow the qrels.
        return _join_words(words) if not files or list(arguments_read or ()) == files else ""
    return ""


def _correct(words: list[str], hint: str) -> list[str]:
    """Return the words of a command line, corrected as a hint proposes; unchanged if it proposes no correction."""
    if isinstance(hint, MovedWordHint):
        return _with_word_moved(words, hint)
    if isinstance(hint, OtherCommandHint):
        _, arguments = split_command(words, hint.context)
        return [*hint.command.split(), *_replace(arguments, Guess(hint.typed, hint.meant))]
    if isinstance(hint, Added):
        return [*hint.words] if isinstance(hint, Rewritten) else [*words, *hint.words]
    if hint.startswith(TREC_EVAL):
        return _as_trec_eval(words)
    if isinstance(hint, Guess) and not hint.typed.isdigit():
        is_parameter = hint.meant.startswith("--") and "=" in hint.typed
        return _with_option(words, hint) if is_parameter else _replace(words, hint)
    return words


def _with_option(words: Sequence[str], hint: Guess) -> list[str]:
    """Return the words with an option in place of the parameter of a measure: `err --top-grade 4` for `err(max=4)`."""
    parameter = re.compile(rf"(?<=[(,]){re.escape(hint.typed)},?")
    without = [re.sub(r"\(\)|,(?=\))", "", parameter.sub("", word)) for word in words]
    return list(words) if without == list(words) else [*without, *hint.meant.split()]


def _as_trec_eval(words: Sequence[str]) -> list[str]:
    """Return the words of an evaluation of one run as those of the command `trec_eval`, whose qrels come first."""
    from gradedeval.cli.arguments import kind_if_qrels_first  # only for an error

    files = [word for word in words if os.path.isfile(word)]
    if len(files) != 2 or words[0] == "trec_eval":
        return list(words)
    ordered = files if kind_if_qrels_first(files, Options()) else files[::-1]
    return ["trec_eval", *(word for word in words if word not in files and word != "eval"), *ordered]


def _with_word_moved(arguments: Sequence[str], hint: MovedWordHint) -> list[str]:
    """Return the arguments with a word moved after another; unchanged if an option's value may be the same word."""
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


def _replace(arguments: Sequence[str], hint: Guess) -> list[str]:
    """Return the words of a command line with the meant words in place of the typed word, but keep names of files."""
    typed, words = re.escape(hint.typed), list[str]()
    options = list[str]()  # options of a suggested command, which follow all other words
    for word in arguments:
        if hint.typed.startswith("-"):
            # -l2 is -l 2
            match = re.fullmatch(rf"{typed}(=?)(.*)" if len(hint.typed) == 2 else rf"{typed}(?:(=)(.*))?", word)
            words += [*hint.meant.split(), *filter(None, match.groups()[1:])] if match else [word]
        elif word == hint.typed and not os.path.exists(word):
            first, *rest = hint.meant.split()
            words.append(first)
            (options if len(words) == 1 and " -" in hint.meant else words).extend(rest)
        else:
            words.append(re.sub(rf"(?<![\w./-]){typed}(?![\w./-])", lambda _: hint.meant, word, flags=re.IGNORECASE))
    return [*words, *options]


def _with_files_in_place(arguments: Sequence[str], context: click.Context) -> tuple[list[str], list[str]]:
    """Return the words of a command line with its files as arguments, not after options, and these arguments.

    The words are unchanged if the command does not take all these files.
    """
    metavar, (head, others) = _metavar(context.command), split_command(arguments, context)
    words = deque(others)
    names = {name for param in context.command.params for name in param.opts}
    runs, qrels, rest = list[str](), list[str](), list[str]()
    while words:
        word = words.popleft()
        name, equals, value = word.partition("=")
        sentence, _ = synonyms()["options"].get(name, ("", ""))
        if name in names or not (sentence.startswith(FILES_ARE_ARGUMENTS) or name in OPTIONS_NAMING_QRELS):
            rest.append(word)
            continue
        values = qrels if name in OPTIONS_NAMING_QRELS else runs
        values_of_option = [value] if equals else list(takewhile(_is_value, words))
        values_of_option = values_of_option[: None if values is runs and "TOPIC" not in metavar else 1]
        values += values_of_option
        for _ in values_of_option[equals == "=" :]:
            words.popleft()
    first = list(takewhile(_is_value, rest))
    rest = rest[len(first) :]
    first = [file for file in first if file not in qrels]
    if len(qrels) == 1 and len(first) > 1 and _is_qrels(first[-1], first[0]) and not metavar.startswith("QRELS"):
        files = [first[-1], *qrels, *first[:-1], *runs]  # the order of runs under both
        return ["agreement", *files, *rest], files
    if metavar.startswith("QRELS"):
        files = [*qrels, *first, *runs]
    else:
        files = [*runs, *qrels, *first] if runs and "TOPIC" in metavar else [*first, *runs, *qrels]
    has_too_many = len(qrels) > (2 if "QRELS2" in metavar else 1) or (runs and "LOG" in metavar)
    return (list(arguments), []) if has_too_many else ([*head, *files, *rest], files)


def _is_qrels(file: str, run: str) -> bool:
    """Return whether a file certainly is qrels, and another certainly is not."""
    from gradedeval.cli.arguments import kind_if_qrels_first, named_files  # only for an error

    return bool(kind_if_qrels_first(named_files([file, run]), Options()))


def _is_value(word: str) -> bool:
    return word == "-" or not word.startswith("-")


def _parse(program: click.Group, words: Sequence[str]) -> click.Context:
    """Parse a command line without executing it, and return the context of its command.

    Raises click.UsageError or InputError for its first error, and Exit for a help page.
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


def _parse_and_check(program: click.Group, words: Sequence[str]) -> dict[str, Any]:
    """Parse a command line without executing it, check it further, and return its parameters.

    Raises the errors of `_parse`, and InputError for an unknown measure, wrong bounds, and a missing file of a picture.
    """
    context = _parse(program, words)
    params = context.params
    from gradedeval.cli.commands import explain, pool  # only for an error

    with context:
        if words[0] == "pool":
            pool.check_cutoff(params["judged_next"], params["one_left_out"], params["measures"])
        elif words[0] == "explain":
            explain.check_cutoff(params["measures"])
    if words[0] == "plot" and not params.get("output"):
        raise InputError("-o", "missing file name", Added("", "-o", PICTURE), usage=True)
    if words[0] == "check" and not params.get("config"):
        from gradedeval.questions.limits import KINDS, read_bound, resolve_bounds  # only for an error

        bounds = [read_bound(kind, word) for kind in KINDS for word in params.get(kind.replace("-", "_")) or ()]
        if bounds:
            resolve_bounds(bounds, parse_measures(list(params["measures"] or ())), Options())
    if not params.get("measures_from") and words[0] != "trec_eval":
        for measures in params.get("measures") or ():
            try:
                parse_measures(measures)
            except InputError as error:  # other kinds: some commands take notations of their own
                if error.kind == "unknown-measure":
                    raise
    return params


def _join_words(words: Sequence[str]) -> str:
    """Return the words as a command line, with patterns for files if it is too long; empty if it is still too long."""
    line = shlex.join(["gradedeval", *words])
    if len(line) <= MAX_LINE:
        return line
    quoted = list[str]()
    for folder, group in groupby(words, os.path.dirname):
        files = list(group)
        quoted += _as_patterns(folder, files) if len(files) > 1 else map(shlex.quote, files)
    line = " ".join(["gradedeval", *quoted])
    return line if len(line) <= MAX_LINE else ""


def _as_patterns(folder: str, files: Sequence[str]) -> list[str]:
    """Return a pattern that the shell expands to these files of a folder in this order; else the files, quoted.

    The pattern matches all files of the folder, or all files with an extension.
    """
    if shlex.quote(folder) not in (folder, "''"):
        return [*map(shlex.quote, files)]
    endings = {os.path.splitext(file)[1] for file in files}
    for pattern in (f"*{ending}" for ending in ({""} if len(endings) > 1 else endings)):
        expanded = sorted(glob(os.path.join(folder, pattern)))
        if files in (expanded, sorted(expanded, key=lambda file: re.sub(r"[\W_]", "", file.casefold()))):
            return [os.path.join(folder, pattern)]
    return [*map(shlex.quote, files)]
