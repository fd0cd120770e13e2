"""Options that several commands share, and help pages with a section for each kind."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import click

from gradedeval.cli.output import COLOR_HELP, STDOUT, Described, ask_for, check_target, say_written, size_of, warn
from gradedeval.errors import GUESSES, InputError, check_choice, did_you_mean, guessed, heard_by
from gradedeval.kernel.measures.parse import DEFAULT, is_measure
from gradedeval.kernel.options import (
    GAINS,
    OPTIONS,
    OUTPUT,
    PLANNING,
    READING,
    RESIDUALS,
    THIS_COMMAND,
    Commands,
    Number,
    Option,
    numbers,
)
from gradedeval.kernel.trec.stream import files_in_use

Decorator = Callable[[Any], Any]

STANDARDIZATION, MANY_RUNS, PUBLISHED, HELP = "Standardization", "Many runs", "Tables to publish", "Help"
SECTIONS = (THIS_COMMAND, PLANNING, GAINS, RESIDUALS, STANDARDIZATION, OUTPUT, PUBLISHED, MANY_RUNS, READING, HELP)
"""The sections of a help page, in order."""

READS, WRITES, GROWS = "reads", "writes", "appends to"
"""What a command does with the file that an option names: it reads it, replaces it, or adds lines at its end."""

BARE = ""
"""What stands for the value of an option that is given without one."""

REPORTED = "Measure to report, such as err@20 or 'ndcg(gain=exp)@10'. Repeat -m, or separate measures by spaces."


class SectionedOption(click.Option):
    """An option that says in which section of a help page it stands, what is done with the file that it names, if it
    names one, and what is wrong with its value as the options of the registry do. One of a `number` has its limits on
    the help page."""

    def __init__(
        self, *names: Any, section: str, file: str = "", number: Number | None = None, **settings: Any
    ) -> None:
        if number is not None:
            settings |= {"type": str, "help": f"{settings['help']} {number.limits}".rstrip()}
        super().__init__(*names, **settings)
        self.section, self.file, self.number = section, file, number

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        if self.number is not None and value is not None:
            given = value if self.multiple else (value,)
            read = tuple(self.number.read(one) if isinstance(one, str) else one for one in given)  # not a default
            return read if self.multiple else read[0]
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            for word in [value] if isinstance(value, str) else value:
                check_choice(word, tuple(getattr(self.type, "choices", ())), self.opts[-1])
            raise


def option(*names: str | Number, section: str = THIS_COMMAND, **settings: Any) -> Decorator:
    """`click.option`, in a section of the help page; a `Number` stands for the flag of an option that takes numbers."""
    number = next((name for name in names if isinstance(name, Number)), None)
    flags = [name.flag if isinstance(name, Number) else name for name in names]
    return click.option(*flags, cls=SectionedOption, section=section, number=number, **settings)


def _short_page(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the short help page, and end."""
    if wanted:
        from gradedeval.cli.help import short_page  # not for `--help`

        click.echo(short_page(context))
        context.exit()


SHORT_HELP = click.Option(["-h"], is_flag=True, is_eager=True, expose_value=False, callback=_short_page,
    help="Show the options that most people need, one line each, and exit.")  # fmt: skip


class Command(Described):
    """A command with its options in sections. One whose value may be left out takes the next word only where that is
    one of its choices or a number, never a file. `-h` is a short help page, `--help` all of it."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return ["--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *params, last = super().get_params(ctx)
        return [*params, SHORT_HELP, last] if self.add_help_option else [*params, last]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        for section in SECTIONS:
            records = [param.get_help_record(ctx) for param in options if getattr(param, "section", HELP) == section]
            if shown := [record for record in records if record]:
                with formatter.section(section):
                    formatter.write_dl(shown)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.add_help_option:  # the drop-in has habits of its own
            args = _joined_measures(_translated(args, {flag for param in self.params for flag in param.opts}))
        optional = {described.flag: described for described in OPTIONS.values() if described.optional_value}
        merged: list[str] = []
        for word in [*args, BARE]:
            if merged and merged[-1] in optional:
                is_value = optional[merged[-1]].takes(word)
                merged[-1] += f"={word if is_value else BARE}"
                if is_value:
                    continue
            merged.append(word)
        try:
            return super().parse_args(ctx, merged[:-1])
        except click.UsageError as error:
            error.ctx = ctx  # which the parser leaves out at times
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, which hears the notes of what it calls. Its outputs are known before it reads anything: see
        `trec.stream`."""
        named = [one for param in self.params for one in _files_of(param, ctx.params.get(param.name or ""))]
        with heard_by(warn), files_in_use() as files:
            for flag, file in ((flag, file) for flag, file, does in named if does != READS):
                _check_no_format(flag, file, ctx)
                check_target(file)
                files.will_write(file, flag)
            for flag, file in ((flag, file) for flag, file, does in named if does == READS):
                files.will_read(file, flag)
            written = [file for _, file, does in named if does == WRITES]
            grown = {file: size_of(file) for _, file, does in named if does == GROWS}
            try:
                found = super().invoke(ctx)
            except click.exceptions.Exit:  # of `check`, whose report is written
                say_written(written, grown)
                raise
            say_written(written, grown)
            return found


def _check_no_format(flag: str, file: str, ctx: click.Context) -> None:
    """Raise InputError (usage) where -o names a format of the command, and no file that is there."""
    forms = next((param.type for param in ctx.command.params if param.name == "form"), None)
    form = FORMS.get(file.lower(), file.lower())
    if flag != "-o" or ctx.params.get("form") or os.path.exists(file) or form not in getattr(forms, "choices", ()):
        return
    hint = f"did you mean -f {form}? For a file of that name write ./{file}"
    raise InputError(flag, f"'{file}' is the name of a format", hint, usage=True)


ELSEWHERE = {
    **dict.fromkeys(("--metric", "--metrics", "--measures"), ("-m",)),
    **dict.fromkeys(("--per-query", "--per_query", "--by-query", "--by_query", "--per-topic"), ("-q",)),
    **{f"--{form}": ("-f", form) for form in ("json", "jsonl", "csv", "tsv", "latex", "markdown", "html")},
    **dict.fromkeys(("--threads", "--workers"), ("--jobs",)),
    **dict.fromkeys(("--min-rel", "--relevance-level"), ("--rel",)),
    "--interval": ("--level",),
    **dict.fromkeys(("--cutoff", "--k"), ("-k",)),
    "--out": ("--output",),
    "--decimals": ("--digits",),
    "--max-p": ("--alpha",),
}
"""What other tools call an option -> what it is here."""
FORMS = {"md": "markdown", "tex": "latex", "text": "table", "txt": "table"}
"""What formats are called elsewhere -> what they are here."""
RENAMED = {
    "--append-to": "--history",
    "--alpha": "--risk-aversion",
    "--best": "--best-runs",
    "--by": "--coefficient",
    "--model": "--model-from",
    "--ranks": "--numbered",
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
    **dict.fromkeys(("--best", "--percent", "--caption", "--latex-label"), "`gradedeval A B C Q -f latex --best "
                    "--baseline A` writes tables to publish"),
    "-n": "did you mean '--ranks'?",
    "-k": "it cuts measures, and none are named here",
    "--level": "did you mean '--interval' or '--rel'?",
    "--seeds": "the option '--seed' takes one number",
    "--topic": "`gradedeval explain RUN QRELS TOPIC` shows one topic, --by-topic lists all",
}  # fmt: skip
"""Options of other tools, and of other commands, that have no counterpart of their own -> what to do instead."""

NEAR = 0.75
"""The share of letters that an option has in common with the one that is meant: with fewer it is another word."""


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
    longer = next((name for name in words if name.startswith(f"{word}-")), word)
    return did_you_mean(longer, words, NEAR).replace(" '", " '--", 1)


def _translated(args: list[str], flags: set[str]) -> list[str]:
    """The arguments with the options of other tools under their names here, where the command has these `flags`."""
    words: list[str] = []
    for word in args:
        name, equals, value = word.partition("=")
        if words[-1:] in (["-f"], ["--format"]):
            word = FORMS.get(word.lower(), word)
        ours = ELSEWHERE.get(name, ()) if name not in flags else ()
        words += [*ours, *([value] if equals else [])] if ours and ours[0] in flags else [word]
    return words


def _joined_measures(args: list[str]) -> list[str]:
    """The arguments with several words after one -m joined into one, where they name measures and not files."""
    words: list[str] = []
    for word in args:
        follows = len(words) > 1 and words[-2] in ("-m", "--measure") and not word.startswith("-")
        if follows and not os.path.exists(word) and is_measure(word):
            words[-1] += f" {word}"
        else:
            words.append(word)
    return words


def _files_of(param: click.Parameter, values: Any) -> Iterator[tuple[str, str, str]]:
    """The files that an argument or an option names: the flag, if any, the file, and what is done with it. Raises
    InputError (usage) where an output has no name."""
    flag = min(param.opts, key=len) if isinstance(param, click.Option) else ""
    does: str = getattr(param, "file", "")
    for value in values if isinstance(values, tuple) else (values,):
        if value == "" and does in (WRITES, GROWS):
            raise InputError(flag, "missing file name", f"name one, as in {flag} {param.metavar}", usage=True)
        if not isinstance(value, str) or not value:
            continue
        if flag and value.startswith("@"):
            yield flag, value[1:], READS
        elif does and (does == READS or value not in STDOUT):
            yield flag, value, does


class Files(click.Argument):
    """The arguments of a command, all of them files that it reads."""

    file = READS


def registered(commands: Commands) -> list[Decorator]:
    """The options of the registry that such commands take."""
    return [_click_option(described) for described in OPTIONS.values() if commands in described.taken_by]


def one_registered(name: str) -> Decorator:
    """One option of the registry, for a command that takes it and not the others."""
    return _click_option(OPTIONS[name])


def _click_option(described: Option, **settings: Any) -> Decorator:
    def within(context: click.Context, _: click.Parameter, on: bool) -> bool:
        if on and described.within is not None:
            context.with_resource(described.within(on))
        return on

    if described.is_flag:
        return option(described.flag, section=described.section, is_flag=True, help=described.text, callback=within)

    def parsed(context: click.Context, _: click.Parameter, text: Any) -> Any:
        if text is None or text == ():
            return None
        value = True if text == BARE and described.optional_value else described.parse(text)
        if described.within is not None:
            context.with_resource(described.within(described.read(value)))
        return value

    return option(
        described.flag,
        section=described.section,
        file=READS if described.names_file else "",
        metavar=described.metavar or f"[{'|'.join(described.choices)}]",
        help=described.text,
        multiple=described.repeats,
        callback=parsed,  # not a type: click would take an InputError, which is a ValueError, for its own
        **settings,
    )


def given(keywords: Mapping[str, Any]) -> list[str]:
    """The flags of the options that have been given."""
    return [f"--{name.replace('_', '-')}" for name, value in keywords.items() if is_given(value)]


def is_given(value: Any) -> bool:
    """Whether an option has been given. 0 is a value."""
    return value is not None and value is not False and value != ()


def files_named(keywords: Mapping[str, Any]) -> list[str]:
    """The files that options of the registry name."""
    named = [keywords[name] for name, described in OPTIONS.items() if described.names_file and name in keywords]
    return [file for file in named if file is not None]


def _remembered(name: str | Number, section: str, help: str, **settings: Any) -> Decorator:
    """An option that no command reads itself: see `asked_for`."""
    return option(name, section=section, expose_value=False, callback=ask_for, help=help, **settings)


_MEASURES_FROM = option(
    "--measures-from", multiple=True, section=GAINS, metavar="FILE.py", file=READS, help="Load measures of your own."
)
_DEBUG = _remembered("--debug", GAINS, "Print the traceback where a measure of your own fails.", is_flag=True)
QUIET = _remembered("--quiet", OUTPUT, "Print results and errors only: no notes, and no signature line below a table.",
                    is_flag=True)  # fmt: skip
WIDE = _remembered("--wide", OUTPUT, "Show all columns of tables, also those that few need.", is_flag=True)
COLOR = _remembered("--color", OUTPUT, COLOR_HELP,
                    type=click.Choice(["auto", "always", "never"]))  # fmt: skip
SIGNATURE = _remembered("--signature", OUTPUT, "Sign tables with the version, the qrels and what differs from the "
                        "defaults (short), or with all that numbers depend on, as files for programs are. Default: "
                        "short; below pictures none.", type=click.Choice(["short", "full"]))  # fmt: skip


JOBS = option(
    numbers.JOBS, section=MANY_RUNS, metavar="N", help="Number of parallel processes. Default: the number of cores."
)


def MEASURES_FROM(function: Any) -> Any:
    """--measures-from, and --debug for what is loaded."""
    return _MEASURES_FROM(_DEBUG(function))


MISMATCH = "Use saved scores even if their qrels or options differ; a warning lists the differences."


def mismatch_option(section: str = THIS_COMMAND) -> Decorator:
    """--allow-mismatch."""
    return option("--allow-mismatch", section=section, is_flag=True, help=MISMATCH)


CUTOFF = _remembered(numbers.CUTOFF, GAINS, "Cut the measures that have no cutoff at rank N, as in -m 'ap ndcg' -k 10.",
                     metavar="N")  # fmt: skip
_MEASURES = option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE", help=f"{REPORTED} "
                   f"Default: {' '.join(DEFAULT)}.")  # fmt: skip


def MEASURES(function: Any) -> Any:
    """-m, and -k for the measures that it names."""
    return _MEASURES(CUTOFF(function))


HISTORY = "Append the summaries to a history: a line for each run. See `gradedeval history`."
LABEL = "Name of the line in the history, such as a commit."
TIME = "Time of the line in the history, as in 2026-11-22T13:00:00Z; file: that of the run file."


def output_file(help: str = "Write to FILE, atomically.", **settings: Any) -> Decorator:
    """-o."""
    return option("-o", "--output", section=OUTPUT, file=WRITES, help=help, **{"metavar": "FILE", **settings})


OUTPUT_FILE = output_file()


def output_options(
    formats: Collection[str],
    default: str = "table",
    digits: str = "",
    by_extension: bool | str = True,
    output: str = "",
) -> list[Decorator]:
    """-f and -o, and where `digits` says what is the default there, --digits. `by_extension` may name extensions."""
    default = f"{default}, or by the extension of -o" if by_extension else default
    default = f"{default} ({by_extension})" if isinstance(by_extension, str) else default
    options = [
        option("-f", "--format", "form", section=OUTPUT, type=click.Choice(list(formats), case_sensitive=False),
               metavar="FORMAT", help=f"Output format: {', '.join(formats)}. Default: {default}."),
        output_file(output) if output else OUTPUT_FILE,
        SIGNATURE,
    ]  # fmt: skip
    if digits:
        help = f"Round to N digits. Default: {digits} in tables."
        options.append(option(numbers.DIGITS, section=OUTPUT, metavar="N", help=help))
    return options


NAME = "[NAME]"
"""What the arguments of a command are called where they are no files."""


def command_line(name: str, files: str, *groups: list[Decorator], **settings: Any) -> Decorator:
    """Makes a function a command: its name, what its help calls its `files`, and groups of options in the order
    written. Options that all commands take, and that are not among those, it need not know."""

    def decorate(function: Any) -> click.Command:
        for decorator in reversed([*(decorator for group in groups for decorator in group), QUIET, COLOR]):
            function = decorator(function)
        known = {param.name for param in function.__click_params__}
        for described in OPTIONS.values():
            if described.commands == "all" and described.name not in known:
                function = _click_option(described, expose_value=False)(function)
        kind = click.Argument if files == NAME else Files
        function = click.argument("files", cls=kind, nargs=-1, metavar=files)(function)
        return click.command(name, cls=Command, **settings)(function)

    return decorate
