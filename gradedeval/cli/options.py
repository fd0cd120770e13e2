"""Options that several commands share, and help pages with a section for each kind."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import chain, islice, pairwise
from typing import Any

import click

from gradedeval.cli.output import (
    FILES_IN_USE,
    OPTION_KEY_PREFIX,
    STDOUT,
    DocstringCommand,
    check_target,
    print_count_of_other_notes,
    print_notes,
    report_written_files,
    size_of,
)
from gradedeval.cli.progress import with_progress
from gradedeval.errors import Guess, InputError, check_choice, handling_notes
from gradedeval.kernel.formats import TABLE_FORMATS
from gradedeval.kernel.measures.parse import DEFAULT, is_measure
from gradedeval.kernel.options import (
    GAINS,
    MEASURE_HELP,
    OPTIONS,
    OUTPUT,
    PLANNING,
    READING,
    RESIDUALS,
    THIS_COMMAND,
    Commands,
    Number,
    ranges,
)
from gradedeval.kernel.trec.stream import files_in_use

STANDARDIZATION, MANY_RUNS, PUBLISHED, HELP = "Standardization", "Many runs", "Tables to publish", "Help"
MOST_USED = "Most used"
SECTIONS = (THIS_COMMAND, PLANNING, GAINS, RESIDUALS, STANDARDIZATION, OUTPUT, PUBLISHED, MANY_RUNS, READING, HELP)
"""Sections of a help page, in order, after the most used options of the command."""

EVERYDAY = "-q -f -o --size -k --gain --top-grade --topics --like --quiet"
"""The most used of the options that several commands share, besides -m."""

MAX_SHORT_OPTIONS = 16
"""Maximum number of options on a short help page with all options of its command: it fits a terminal of 24 lines."""

MAX_FLAGS_WIDTH = 28
"""Maximum width of the column of flags on the short help page."""

MAX_SHORT_TEXT = 46
"""Maximum length of the short text of an option, so that its line fits 80 columns."""

READS, WRITES, APPENDS = "reads", "writes", "appends to"
"""Use of the file that an option names: it is read, replaced, or lines are appended to it."""

NO_VALUE = ""
"""Stands for the value of an option that is typed without one."""

RUNNING = f"{__name__}.running"
"""Key in the `meta` of click's contexts. Its value is the context of the running command, which `main` cannot reach."""

TOPICS = "[TOPIC]"
"""Part of the metavar of arguments that are topics."""

NEGATIVE = re.compile(r"-\d")
"""Start of a topic such as -1, which is not an option."""


class Option(click.Option):
    """An option of a command.

    section  its section of the help page
    short    its text on the short help page, in at most `MAX_SHORT_TEXT` characters; empty: the first sentence of help
    file     the use of the file that it names: READS, WRITES or APPENDS; empty: it names none
    number   the range of a numeric value: gives the flag, and the limits in the help
    """

    def __init__(
        self,
        *names: str,
        section: str = THIS_COMMAND,
        short: str = "",
        file: str = "",
        number: Number | None = None,
        **settings: Any,
    ) -> None:
        if number is not None:
            names = (*names, number.flag)
            settings |= {"type": str, "help": f"{settings['help']} {number.limits}".rstrip()}
        super().__init__(names, **settings)
        self.section, self.file, self.number, self._short = section, file, number, short

    @property
    def short(self) -> str:
        """Its text on the short help page."""
        return self._short or _first_sentence(self.help or "")

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        if self.number is not None and value is not None:
            return self.number.read(value) if isinstance(value, str) else value
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            for word in [value] if isinstance(value, str) else value:
                check_choice(word, tuple(getattr(self.type, "choices", ())), self.opts[-1])
            raise


class Files(click.Argument):
    """The arguments of a command, all of them input files."""

    file = READS


class Command(DocstringCommand):
    """A command with options in sections, a short help page (`-h`) and a full one (`--help`).

    The word after an option with an optional value is its value only if the option takes such a word.

    most_used  the flags of the short page, in order, separated by spaces; empty: all if they are few, else -m, the
               command's own options, and those of `EVERYDAY`
    """

    def __init__(self, *words: Any, most_used: str = "", **settings: Any) -> None:
        super().__init__(*words, **settings)
        self.flags = most_used.split()

    @property
    def most_used(self) -> list[Option]:
        """The options of the short page, in order."""
        options = [param for param in self.params if isinstance(param, Option) and param.section != HELP]
        is_short = len(options) <= MAX_SHORT_OPTIONS
        flags_here = [min(option.opts, key=len) for option in options if is_short or option.section == THIS_COMMAND]
        flags = self.flags or list(dict.fromkeys(("-m", *flags_here, *EVERYDAY.split())))
        return [option for flag in flags for option in options if flag in option.opts]

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return ["--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        return [*params[:-1], SHORT_HELP, params[-1]] if self.add_help_option else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[click.Option]] = {MOST_USED: [*self.most_used], **{name: [] for name in SECTIONS}}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and param not in sections[MOST_USED]:
                sections[getattr(param, "section", HELP)].append(param)
        for section, options in sections.items():
            if records := [record for record in (option.get_help_record(ctx) for option in options) if record]:
                with formatter.section(section):
                    formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.add_help_option:  # `trec_eval` has none, and parses its arguments itself
            args = self._normalize(args)
            if any(map(NEGATIVE.match, args)):
                args = self._separate_topics(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx  # the parser does not always set it
            raise

    def _separate_topics(self, words: list[str]) -> list[str]:
        """Move options before -- if the command takes topics: an argument such as -1 would be read as an option."""
        if not any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in self.params):
            return words
        flags_with_value = {
            flag for param in self.params if getattr(param, "is_flag", True) is False for flag in param.opts
        }
        options, arguments, rest = list[str](), list[str](), iter(words)
        for word in rest:
            if word == "--":
                arguments += rest
            elif word.startswith("-") and word != "-" and not NEGATIVE.match(word):
                options += [word, *islice(rest, word in flags_with_value)]
            else:
                arguments.append(word)
        return [*options, "--", *arguments]

    def _normalize(self, args: list[str]) -> list[str]:
        """Rewrite arguments for click.

        Replace aliases of options and formats, join several measures after one -m, and join an option with its
        optional value or NO_VALUE.
        """
        words: list[str] = []
        for previous, word in pairwise(("", *args)):
            if words and words[-1] in OPTIONAL_VALUES:
                is_value = OPTIONAL_VALUES[words[-1]](word)
                words[-1] += f"={word if is_value else NO_VALUE}"
                if is_value:
                    continue
            if word.startswith("-"):
                name, equals, value = word.partition("=")
                if alias := OPTION_ALIASES.get(name):
                    flags = {flag for param in self.params for flag in param.opts}
                    alias = alias if name not in flags and alias[0] in flags else None
                words += [*alias, *([value] if equals else [])] if alias else [word]
            elif _names_output(previous, word):
                hint = Guess(previous, f"-f {OPTION_ALIASES[previous][1]} -o")
                raise InputError(previous, f"takes no file, here '{word}'", hint, usage=True)
            elif words[-1:] in (["-f"], ["--format"]):
                words.append(FORMAT_ALIASES.get(word.lower(), word))
            elif words[-2:-1] in (["-m"], ["--measure"]) and not os.path.exists(word) and is_measure(word):
                words[-1] += f" {word}"
            else:
                words.append(word)
        if words and words[-1] in OPTIONAL_VALUES:
            words[-1] += f"={NO_VALUE}"
        return words

    def invoke(self, ctx: click.Context) -> None:
        """Run the command, print its notes, and refuse to write a file that is also read."""
        ctx.meta[RUNNING] = ctx
        inputs: list[tuple[str, str, str]] = []
        outputs: list[tuple[str, str, str]] = []
        for param in self.params:
            for file in _files_of(param, ctx.params.get(param.name or "")):
                (inputs if file[-1] == READS else outputs).append(file)
        from gradedeval.kernel.parallel import Workers, using_workers  # late, so that help pages are quick

        with (
            handling_notes(print_notes),
            using_workers(Workers.of(None, with_progress)),
            _writing(inputs, outputs, ctx) if outputs else nullcontext(),
        ):
            try:
                super().invoke(ctx)
            finally:
                print_count_of_other_notes()


@contextmanager
def _writing(
    inputs: Collection[tuple[str, str, str]], outputs: Collection[tuple[str, str, str]], context: click.Context
) -> Iterator[None]:
    """Refuse to write a file that is also read, and afterwards report the files that a command has written.

    inputs, outputs  flag, file and use of each file of the command
    """
    sizes = {file: size_of(file) if use == APPENDS else None for _, file, use in outputs}
    with files_in_use() as in_use:
        context.meta[FILES_IN_USE] = in_use
        for flag, file, _ in outputs:
            _check_output_is_no_format(flag, file, context)
            check_target(file)
            in_use.will_write(file, flag)
        for flag, file, _ in inputs:
            in_use.will_read(file, flag)
        try:
            yield
        except click.exceptions.Exit:  # `check` has written its report
            report_written_files(sizes)
            raise
        report_written_files(sizes)


def _names_output(option: str, word: str) -> bool:
    """Return whether the word after --csv or the option of another format names a file to write."""
    first, *format_name = OPTION_ALIASES.get(option, ("",))
    suffix = os.path.splitext(word)[1].removeprefix(".").lower()
    return first == "-f" and [FORMAT_ALIASES.get(suffix, suffix)] == format_name and not os.path.exists(word)


def _check_output_is_no_format(flag: str, file: str, ctx: click.Context) -> None:
    """Raise InputError (usage) if -o names a format of the command, and not an existing file."""
    formats = next((param.type for param in ctx.command.params if param.name == "output_format"), None)
    name = FORMAT_ALIASES.get(file.lower(), file.lower())
    is_format = name in getattr(formats, "choices", ())
    if flag != "-o" or not is_format or ctx.params.get("output_format") or os.path.exists(file):
        return
    hint = f"did you mean -f {name}? For a file of that name write ./{file}"
    raise InputError(flag, f"'{file}' is the name of a format", hint, usage=True)


OPTION_ALIASES = {
    **dict.fromkeys(("--metric", "--metrics", "--measures"), ("-m",)),
    **dict.fromkeys(("--per-query", "--per_query", "--by-query", "--by_query", "--per-topic"), ("-q",)),
    **{f"--{name}": ("-f", name) for name in ("json", "jsonl", "csv", "tsv", "latex", "markdown", "html")},
    **dict.fromkeys(("--threads", "--workers"), ("--jobs",)),
    **dict.fromkeys(("--min-rel", "--relevance-level"), ("--rel",)),
    **dict.fromkeys(("--cutoff", "--k"), ("-k",)),
    "--out": ("--output",),
    "--decimals": ("--digits",),
    "--max-p": ("--alpha",),
}
"""Option of other tools -> our option."""
FORMAT_ALIASES = {"md": "markdown", "tex": "latex", "text": "table", "txt": "table"}
"""Other name of a format -> our name."""


def _is_value_of_sort(word: str) -> bool:
    """Return whether the word after --sort is its value: a measure, or a word that is neither an option nor a file."""
    return word != "" and not word.startswith("-") and (is_measure(word) or not os.path.exists(word))


OPTIONAL_VALUES: dict[str, Callable[[str], bool]] = {
    "--sort": _is_value_of_sort,
    **{metadata.flag: metadata.takes for metadata in OPTIONS.values() if metadata.optional_value},
}
"""Flag of each option with an optional value -> whether it takes a word as its value."""


def flags_and_value(option: click.Option) -> str:
    """Return the flags and the metavar of an option, short enough for the short help page.

    Of a long metavar only the first alternative is returned, and NAME for choices.
    """
    value = option.metavar or ""
    if isinstance(option.type, click.Choice) and not option.metavar:
        value = f"[{'|'.join(option.type.choices)}]"
    if len(value) > 12 and "|" in value:
        is_optional = f"--{option.name}".replace("_", "-") in OPTIONAL_VALUES
        value = ("[NAME]" if is_optional else "NAME") if value.startswith("[") and value.endswith("]") else value
        value = value.partition("|")[0]
    value, flags = value.partition(",…")[0], sorted(option.opts, key=len)
    whole = " ".join(part for part in (", ".join(flags), value) if part)
    return whole if len(whole) <= MAX_FLAGS_WIDTH else " ".join(part for part in (flags[0], value) if part)


def _files_of(param: click.Parameter, values: Any) -> Iterator[tuple[str, str, str]]:
    """Yield flag, file and use of each file that a parameter names. Raises InputError (usage) for an unnamed output."""
    flag = min(param.opts, key=len) if isinstance(param, click.Option) else ""
    use: str = getattr(param, "file", "")
    for value in values if isinstance(values, tuple) else (values,):
        if value == "" and use in (WRITES, APPENDS):
            raise InputError(flag, "missing file name", f"name one, as in {flag} {param.metavar}", usage=True)
        if not isinstance(value, str) or not value:
            continue
        if flag and value.startswith("@"):
            yield flag, value[1:], READS
        elif flag == "--gain" and os.path.isfile(value):
            yield flag, value, READS
        elif use and (use == READS or value not in STDOUT):
            yield flag, value, use


def registry_options(commands: Commands) -> list[Option]:
    """Return the options of the registry, `kernel.options.OPTIONS`, that these commands take.

    commands  eval, or reading for all commands that read runs
    """
    return [registry_option(name) for name, metadata in OPTIONS.items() if commands in metadata.taken_by]


def registry_option(name: str) -> Option:
    """Return an option of the registry by its name."""
    metadata = OPTIONS[name]
    choices = "|".join(metadata.choices)
    return Option(
        metadata.flag,
        section=metadata.section,
        file=READS if metadata.names_file else "",
        help=metadata.text,
        short=metadata.short,
        multiple=metadata.repeats,
        is_flag=metadata.is_flag or None,  # with False click reads a value such as -1 as an option
        metavar=None if metadata.is_flag else metadata.metavar or f"[{choices}]",
        callback=_parse_value,  # not a type: click would catch an InputError, which is a ValueError
    )


def _parse_value(context: click.Context, parameter: click.Parameter, text: Any) -> Any:
    """Parse the value of an option of the registry, as a callback of click."""
    if not is_given(text):
        return None if text == () else text
    metadata = OPTIONS[str(parameter.name)]
    return True if text == NO_VALUE and metadata.optional_value else metadata.parse(text)


def given_flags(options: Mapping[str, Any]) -> list[str]:
    """Return the flags of the options on the command line."""
    return [f"--{name.replace('_', '-')}" for name, value in options.items() if is_given(value)]


def is_given(value: Any) -> bool:
    """Return whether the option with this value is on the command line. 0 and an empty text count."""
    return value is not None and value is not False and value != ()


def short_page(context: click.Context) -> str:
    """Return the short help page: usage, summary, and a line for each of the most used options."""
    most_used = context.command.most_used if isinstance(context.command, Command) else []
    count = len([param for param in context.command.get_params(context) if isinstance(param, click.Option)])
    formatter = context.make_formatter()
    context.command.format_usage(context, formatter)
    formatter.write_paragraph()
    formatter.write_text(_first_sentence(" ".join((context.command.help or "").split())))
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_dl([(flags_and_value(option), option.short) for option in most_used], MAX_FLAGS_WIDTH)
    formatter.write_paragraph()
    formatter.write(f"`{context.command_path} --help` explains all {count} options.")
    return formatter.getvalue()


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.])\s", text.strip(), maxsplit=1)[0]


def _print_short_page(context: click.Context, _: click.Parameter, requested: bool) -> None:
    """Print the short help page and exit, as a callback of click."""
    if requested:
        click.echo(short_page(context))
        context.exit()


def _keep_in_context(context: click.Context, parameter: click.Parameter, value: bool | str | int | None) -> None:
    """Store the value of an option in the context, as a callback of click."""
    context.meta[f"{OPTION_KEY_PREFIX}{parameter.name}"] = value


KEPT_IN_CONTEXT: dict[str, Any] = {"expose_value": False, "callback": _keep_in_context}
"""Keywords of an option that is read by `output.context_option` and not passed to the command."""

SHORT_HELP = Option("-h", section=HELP, is_flag=True, is_eager=True, expose_value=False, callback=_print_short_page,
    help="Show the options that most people need, one line each, and exit.")  # fmt: skip
QUIET = Option("--quiet", section=OUTPUT, is_flag=True, help="Print results and errors only: no notes, and no "
               "signature line below a table.", **KEPT_IN_CONTEXT,
               short="No notes, and no signature below a table.")  # fmt: skip
WIDE = Option("--wide", section=OUTPUT, is_flag=True, help="Show all columns of tables, also those that few need.",
              **KEPT_IN_CONTEXT, short="All columns of tables.")  # fmt: skip
SIGNATURE = Option("--signature", section=OUTPUT, type=click.Choice(["short", "full"]), help="Add a line with "
                   "the version, the qrels and the non-default settings (short) or all settings (full). CSV "
                   "and JSON always have all settings. Default: short, but none below pictures.",
                   **KEPT_IN_CONTEXT,
                   short="Line with version, qrels and settings.")  # fmt: skip
JOBS = Option(number=ranges.JOBS, section=MANY_RUNS, metavar="N", help="Number of parallel processes. Default: the "
              "number of cores.")  # fmt: skip
MEASURES_FROM = Option("--measures-from", multiple=True, section=GAINS, metavar="FILE.py", file=READS,
                       help="Load measures of your own.")  # fmt: skip
CUTOFF = Option(number=ranges.CUTOFF, section=GAINS, metavar="N", help="Apply cutoff N to measures without one, "
                "as in -m 'ap ndcg' -k 10.", **KEPT_IN_CONTEXT,
                short="Cutoff of measures without one.")  # fmt: skip


MEASURE_OPTIONS = [
    Option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE",
           help=f"{MEASURE_HELP} Default: {' '.join(DEFAULT)}.", short="Measure, such as err@20; may be repeated."),
    CUTOFF,
]  # fmt: skip
HISTORY_OPTIONS = [
    Option("--history", metavar="FILE", file=APPENDS, help="Append the summaries to a history: a line for each run. "
           "See `gradedeval history`.", short="Append the summaries to a history."),
    Option("--label", metavar="TEXT", help="Name of the line in the history, such as a commit.",
        short="Name of the line in the history."),
]  # fmt: skip


def scoring_options(*names: str) -> list[Option]:
    """Return -k, --measures-from, the named options of the registry, and those of all commands that read runs."""
    return [CUTOFF, MEASURES_FROM, *map(registry_option, names), *registry_options("reading")]


def curve_option(help: str, short: str) -> Option:
    """Return --curve."""
    return Option("--curve", metavar="FILE.csv", file=WRITES, help=help, short=short)


OUTPUT_FILE = Option("-o", "--output", section=OUTPUT, metavar="FILE", file=WRITES, help="Write to FILE, atomically.")


def output_options(
    *,
    formats: Collection[str] = TABLE_FORMATS,
    short: str = "Format, such as table, csv, json or latex.",
    default: str = "table",
    digits: str = "",
    by_extension: bool | str = True,
    output: Option = OUTPUT_FILE,
) -> list[Option]:
    """Return -f, -o and --signature, and also --digits if it has a default.

    formats       the choices of -f
    short         the short text of -f: formats that most people need
    default       the format without -f, in words
    digits        the default of --digits, in words; empty: no --digits
    by_extension  whether the extension of -o sets the format; or the extensions, in words
    output        the option -o
    """
    default = f"{default}, or by the extension of -o" if by_extension else default
    default = f"{default} ({by_extension})" if isinstance(by_extension, str) else default
    options = [
        Option("-f", "--format", "output_format", section=OUTPUT, metavar="FORMAT",
               type=click.Choice(list(formats), case_sensitive=False),
               help=f"Output format: {', '.join(formats)}. Default: {default}.", short=short),
        output,
        SIGNATURE,
    ]  # fmt: skip
    if digits:
        help = f"Round to N digits. Default: {digits} in tables."
        options.append(Option(number=ranges.DIGITS, section=OUTPUT, metavar="N", help=help))
    return options


NAME = "[NAME]"
"""Metavar of arguments that are not files."""


def command_line(
    name: str, files: str, *groups: list[Option], verbose: tuple[str, ...] = ("-v", "--verbose"), **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a function a command.

    files     metavar of its arguments
    groups    its options
    verbose   flags of --verbose
    settings  keywords of `Command`
    """
    all_notes = Option(*verbose, section=OUTPUT, is_flag=True, help="Print all notes, not only the first five.",
                       **KEPT_IN_CONTEXT)  # fmt: skip
    arguments = (click.Argument if files == NAME else Files)(["files"], nargs=-1, metavar=files)
    params = [arguments, *chain(*groups), QUIET, all_notes]
    return click.command(name, cls=Command, params=params, **settings)
