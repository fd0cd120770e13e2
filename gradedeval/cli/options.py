"""Options that several commands share, and help pages with a section for each kind."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain, islice
from typing import Any

import click

from gradedeval.cli.output import (
    KEPT_IN_CONTEXT,
    STDOUT,
    DocstringCommand,
    check_target,
    print_notes,
    report_written_files,
    size_of,
)
from gradedeval.cli.progress import with_progress
from gradedeval.errors import InputError, check_choice, handling_notes
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
SECTIONS = (THIS_COMMAND, PLANNING, GAINS, RESIDUALS, STANDARDIZATION, OUTPUT, PUBLISHED, MANY_RUNS, READING, HELP)
"""The sections of a help page, in order."""

READS, WRITES, APPENDS = "reads", "writes", "appends to"
"""What a command does with the file that an option names: it reads it, replaces it, or adds lines at its end."""

NO_VALUE = ""
"""What stands for the value of an option that is given without one."""

TOPICS = "[TOPIC]"
"""What stands in the metavar of arguments that are topics."""

NEGATIVE = re.compile(r"-\d")


class Option(click.Option):
    """An option of a command, which says in which section of a help page it stands, what is done with the file that it
    names, if it names one, and what is wrong with its value as the options of the registry do. One that takes a
    `number` has the flag of that, and its limits on the help page."""

    def __init__(
        self,
        *names: str,
        section: str = THIS_COMMAND,
        file: str = "",
        number: Number | None = None,
        **settings: Any,
    ) -> None:
        if number is not None:
            names = (*names, number.flag)
            settings |= {"type": str, "help": f"{settings['help']} {number.limits}".rstrip()}
        super().__init__(names, **settings)
        self.section, self.file, self.number = section, file, number

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        if self.number is not None and value is not None:
            return self.number.read(value) if isinstance(value, str) else value  # a default is read
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter:
            for word in [value] if isinstance(value, str) else value:
                check_choice(word, tuple(getattr(self.type, "choices", ())), self.opts[-1])
            raise


class Files(click.Argument):
    """The arguments of a command, all of them files that it reads."""

    file = READS


class Command(DocstringCommand):
    """A command with its options in sections. One whose value may be left out takes the next word only where that is
    one of its choices or a number, never a file. `-h` is a short help page, `--help` all of it."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return ["--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        return [*params[:-1], SHORT_HELP, params[-1]] if self.add_help_option else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        for section in SECTIONS:
            records = [param.get_help_record(ctx) for param in options if getattr(param, "section", HELP) == section]
            if shown := [record for record in records if record]:
                with formatter.section(section):
                    formatter.write_dl(shown)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.add_help_option:  # the drop-in has habits of its own
            args = self._with_topics(self._for_click(args))
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx  # which the parser leaves out at times
            raise

    def _with_topics(self, words: list[str]) -> list[str]:
        """The arguments of a command that takes topics, where one begins with a minus and a digit, as no option does:
        click takes what follows the options and -- as it is."""
        takes_topics = any(isinstance(param, click.Argument) and TOPICS in str(param.metavar) for param in self.params)
        if not takes_topics or not any(map(NEGATIVE.match, words)):
            return words
        valued = {flag for param in self.params if getattr(param, "is_flag", True) is False for flag in param.opts}
        options, arguments, rest = list[str](), list[str](), iter(words)
        for word in rest:
            if word == "--":
                arguments += rest
            elif word.startswith("-") and word != "-" and not NEGATIVE.match(word):
                options += [word, *islice(rest, word in valued)]
            else:
                arguments.append(word)
        return [*options, "--", *arguments]

    def _for_click(self, args: list[str]) -> list[str]:
        """The arguments as click reads them: options of other tools under their names here, where the command has them;
        several words after one -m joined, where they name measures and not files; and options whose value may be left
        out joined with it, or with NO_VALUE."""
        words: list[str] = []
        for word in args:
            if words and words[-1] in OPTIONAL_VALUES:
                is_value = OPTIONAL_VALUES[words[-1]].takes(word)
                words[-1] += f"={word if is_value else NO_VALUE}"
                if is_value:
                    continue
            if word.startswith("-"):
                name, equals, value = word.partition("=")
                if ours := OPTION_ALIASES.get(name):
                    flags = {flag for param in self.params for flag in param.opts}
                    ours = ours if name not in flags and ours[0] in flags else None
                words += [*ours, *([value] if equals else [])] if ours else [word]
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
        """Run the command, which prints the notes of what it calls. Its outputs are known before it reads anything: see
        `trec.stream`."""
        inputs: list[tuple[str, str]] = []
        outputs: list[tuple[str, str]] = []
        sizes: dict[str, int | None] = {}
        for param in self.params:
            for flag, file, does in _files_of(param, ctx.params.get(param.name or "")):
                (inputs if does == READS else outputs).append((flag, file))
                if does != READS:
                    sizes[file] = size_of(file) if does == APPENDS else None
        from gradedeval.kernel.parallel import Workers, showing_progress, using_workers  # not for a help page

        workers = Workers.of(None, with_progress)
        with (
            handling_notes(print_notes),
            using_workers(workers),
            showing_progress(with_progress),
            files_in_use() if outputs else nullcontext() as files,
        ):
            if files is not None:
                for flag, file in outputs:
                    _check_no_format(flag, file, ctx)
                    check_target(file)
                    files.will_write(file, flag)
                for flag, file in inputs:
                    files.will_read(file, flag)
            try:
                super().invoke(ctx)
            except click.exceptions.Exit:  # of `check`, whose report is written
                report_written_files(sizes)
                raise
            report_written_files(sizes)


def _check_no_format(flag: str, file: str, ctx: click.Context) -> None:
    """Raise InputError (usage) where -o names a format of the command, and no file that is there."""
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
"""What other tools call an option -> what it is here."""
FORMAT_ALIASES = {"md": "markdown", "tex": "latex", "text": "table", "txt": "table"}
"""What formats are called elsewhere -> what they are here."""
OPTIONAL_VALUES = {described.flag: described for described in OPTIONS.values() if described.optional_value}
"""Options that may stand without a value, as `Command` reads them."""


def _files_of(param: click.Parameter, values: Any) -> Iterator[tuple[str, str, str]]:
    """The files that an argument or an option names: the flag, if any, the file, and what is done with it. Raises
    InputError (usage) where an output has no name."""
    flag = min(param.opts, key=len) if isinstance(param, click.Option) else ""
    does: str = getattr(param, "file", "")
    for value in values if isinstance(values, tuple) else (values,):
        if value == "" and does in (WRITES, APPENDS):
            raise InputError(flag, "missing file name", f"name one, as in {flag} {param.metavar}", usage=True)
        if not isinstance(value, str) or not value:
            continue
        if flag and value.startswith("@"):
            yield flag, value[1:], READS
        elif does and (does == READS or value not in STDOUT):
            yield flag, value, does


def registry_options(commands: Commands) -> list[Option]:
    """Return the options of the registry for a kind of commands: `eval`, or all that read runs (`reading`)."""
    return [registry_option(name) for name, described in OPTIONS.items() if commands in described.taken_by]


def registry_option(name: str) -> Option:
    """Return an option of the registry by its name."""
    described = OPTIONS[name]
    choices = "|".join(described.choices)
    return Option(
        described.flag,
        section=described.section,
        file=READS if described.names_file else "",
        help=described.text,
        multiple=described.repeats,
        is_flag=described.is_flag,
        metavar=None if described.is_flag else described.metavar or f"[{choices}]",
        callback=_read,  # not a type: click would take an InputError, which is a ValueError, for its own
    )


def _read(context: click.Context, parameter: click.Parameter, text: Any) -> Any:
    """The value of an option of the registry."""
    if not is_given(text):
        return None if text == () else text
    described = OPTIONS[str(parameter.name)]
    return True if text == NO_VALUE and described.optional_value else described.parse(text)


def given_flags(keywords: Mapping[str, Any]) -> list[str]:
    """The flags of the options that have been given."""
    return [f"--{name.replace('_', '-')}" for name, value in keywords.items() if is_given(value)]


def is_given(value: Any) -> bool:
    """Whether an option has been given. 0 is a value."""
    return value is not None and value is not False and value != ()


def _short_page(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the short help page, and end."""
    if wanted:
        from gradedeval.cli.help import short_page  # not for `--help`

        click.echo(short_page(context))
        context.exit()


SHORT_HELP = Option("-h", section=HELP, is_flag=True, is_eager=True, expose_value=False, callback=_short_page,
    help="Show the options that most people need, one line each, and exit.")  # fmt: skip


QUIET = Option("--quiet", section=OUTPUT, is_flag=True, help="Print results and errors only: no notes, and no "
               "signature line below a table.", **KEPT_IN_CONTEXT)  # fmt: skip
WIDE = Option("--wide", section=OUTPUT, is_flag=True, help="Show all columns of tables, also those that few need.",
              **KEPT_IN_CONTEXT)  # fmt: skip
SIGNATURE = Option("--signature", section=OUTPUT, type=click.Choice(["short", "full"]), help="Sign tables with the "
                   "version, the qrels and what differs from the defaults (short), or with all that numbers depend on, "
                   "as files for programs are. Default: short; below pictures none.", **KEPT_IN_CONTEXT)  # fmt: skip
JOBS = Option(number=ranges.JOBS, section=MANY_RUNS, metavar="N", help="Number of parallel processes. Default: the "
              "number of cores.")  # fmt: skip
MEASURES_FROM = Option("--measures-from", multiple=True, section=GAINS, metavar="FILE.py", file=READS,
                       help="Load measures of your own.")  # fmt: skip
CUTOFF = Option(number=ranges.CUTOFF, section=GAINS, metavar="N", help="Cut the measures that have no cutoff at "
                "rank N, as in -m 'ap ndcg' -k 10.", **KEPT_IN_CONTEXT)  # fmt: skip
MEASURE_OPTIONS = [
    Option("-m", "--measure", "measures", multiple=True, section=GAINS, metavar="MEASURE", help=f"{MEASURE_HELP} "
           f"Default: {' '.join(DEFAULT)}."),
    CUTOFF,
]  # fmt: skip
HISTORY_OPTIONS = [
    Option("--history", metavar="FILE", file=APPENDS, help="Append the summaries to a history: a line for each run. "
           "See `gradedeval history`."),
    Option("--label", metavar="TEXT", help="Name of the line in the history, such as a commit."),
]  # fmt: skip


def scoring_options(*names: str) -> list[Option]:
    """Return -k, --measures-from, the named options of the registry, and its options of reading."""
    return [CUTOFF, MEASURES_FROM, *map(registry_option, names), *registry_options("reading")]


def output_file_option(help: str = "Write to FILE, atomically.", **settings: Any) -> Option:
    """Return -o."""
    return Option("-o", "--output", section=OUTPUT, file=WRITES, help=help, **{"metavar": "FILE", **settings})


def output_options(
    formats: Collection[str],
    default: str = "table",
    digits: str = "",
    by_extension: bool | str = True,
    output: Option | None = None,
) -> list[Option]:
    """Return -f, -o and --signature, and if `digits` are given also --digits.

    default       the format without -f, in words
    digits        the default of --digits, in words
    by_extension  whether the extension of -o sets the format; or the extensions, in words
    output        -o, if its help is unlike that of others
    """
    default = f"{default}, or by the extension of -o" if by_extension else default
    default = f"{default} ({by_extension})" if isinstance(by_extension, str) else default
    options = [
        Option("-f", "--format", "output_format", section=OUTPUT, metavar="FORMAT",
               type=click.Choice(list(formats), case_sensitive=False),
               help=f"Output format: {', '.join(formats)}. Default: {default}."),
        output or output_file_option(),
        SIGNATURE,
    ]  # fmt: skip
    if digits:
        help = f"Round to N digits. Default: {digits} in tables."
        options.append(Option(number=ranges.DIGITS, section=OUTPUT, metavar="N", help=help))
    return options


NAME = "[NAME]"
"""What the arguments of a command are called where they are no files."""


def command_line(
    name: str, files: str, *groups: list[Option], **settings: Any
) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a function a command: its name, what its help calls its `files`, and groups of options in the order
    written."""
    options = [*chain(*groups), QUIET]
    arguments = (click.Argument if files == NAME else Files)(["files"], nargs=-1, metavar=files)
    return click.command(name, cls=Command, params=[arguments, *options], **settings)
