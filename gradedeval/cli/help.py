"""`COMMAND -h`, the most used options, one line each; and `gradedeval help`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from textwrap import wrap

import click

from gradedeval.cli.output import write
from gradedeval.errors import InputError, did_you_mean
from gradedeval.kernel.formats import FORMATS, cut
from gradedeval.kernel.options import OPTIONS, THIS_COMMAND
from gradedeval.kernel.trec.lines import formats_of

COMMON = ("-m", "-q", "-f", "-o", "--baseline", "--topics", "--like")
"""The most used of the options that several commands share."""

MAX_COLUMN = 26
"""Maximum width of the column of options."""
MAX_LINES = 20
"""Maximum number of lines of a short page, so that it fits a terminal of 24 lines with its last lines and a prompt."""


def short_page(context: click.Context) -> str:
    """Return the short help page: usage, summary, the command's own options, and the shared ones in `COMMON`."""
    options = [param for param in context.command.get_params(context) if isinstance(param, click.Option)]
    specific = [option for option in options if _is_specific(option)]
    shared = [option for name in COMMON for option in options if name in option.opts and option not in specific]
    formatter = context.make_formatter()
    context.command.format_usage(context, formatter)
    formatter.write_paragraph()
    formatter.write_text(_sentence(context.command.help or ""))
    head = formatter.getvalue().splitlines()
    flags: list[str] = []
    also: list[str] = []
    while specific and len([*head, *specific, *shared, *also]) > MAX_LINES:
        flags.insert(0, min(specific.pop().opts, key=len))
        also = wrap(f"  also: {' '.join(flags)}", formatter.width, subsequent_indent="        ", break_on_hyphens=False)
    names = {option: _flags_and_value(option) for option in (*specific, *shared)}
    column = min(MAX_COLUMN, max(map(len, names.values())))
    formatter.write_paragraph()
    for option, name in names.items():
        text = cut(f"  {name:<{column}}  {_sentence(option.help or '')}", formatter.width)
        formatter.write(f"{text}\n")
    formatter.write("".join(f"{line}\n" for line in also))
    formatter.write_paragraph()
    formatter.write(f"`{context.command_path} --help` explains all {len(options)} options.")
    return formatter.getvalue()


def _is_specific(option: click.Option) -> bool:
    """Return if an option is specific to its command, or to `eval` and few other commands."""
    metadata = OPTIONS.get(option.name or "")
    return getattr(option, "section", "") == THIS_COMMAND or (metadata is not None and metadata.commands == "eval")


def _flags_and_value(option: click.Option) -> str:
    """Return the flags of an option and its metavar, or the first of its choices."""
    value = option.metavar or ""
    if isinstance(option.type, click.Choice) and not option.metavar:
        value = f"[{'|'.join(option.type.choices)}]"
    if len(value) > 12 and "|" in value:
        value = f"{value.partition('|')[0]}|…{']' if value.startswith('[') else ''}"
    flags = sorted(option.opts, key=len)
    whole = " ".join(part for part in (", ".join(flags), value) if part)
    return whole if len(whole) <= MAX_COLUMN else " ".join(part for part in (flags[0], value) if part)


def _sentence(text: str) -> str:
    """Return the first sentence of a text, in one line."""
    return " ".join(re.split(r"(?<=[.])\s", text.strip(), maxsplit=1)[0].split())


# `gradedeval help [COMMAND|MEASURE|OPTION|measures|formats]`.

PURPOSES = {
    "wide": "tables for people, rounded",
    "long": "a row for each value, in full precision, for programs",
    "trec": "trec_eval's three columns, of scores alone",
}
"""Layout -> its purpose."""


@click.command("help", options_metavar="")
@click.argument("words", nargs=-1, metavar="[COMMAND|MEASURE|OPTION|measures|formats]")
@click.pass_context
def help_page(context: click.Context, words: tuple[str, ...]) -> None:
    """Explain a command, such as `compare` or `plot runs`, a measure, or an option, such as `predicted`, or list the
    measures or the formats."""
    program = context.find_root()
    if words == ("formats",):
        return write(_formats())
    if words == ("measures",):
        return _run(program, "measures")
    commands = program.command.list_commands(program) if isinstance(program.command, click.Group) else []
    if not words or words[0] in (*commands, "help"):
        return _run(program, *words, "--help")
    with suppress(InputError):
        return _run(program, "measures", *words)
    word = " ".join(words)
    if by_command := _commands_with(program, program.command, word):
        return write(_option_page(by_command, click.Context(program.command).make_formatter().width))
    hint = did_you_mean(word, [*commands, "formats"]) or "`gradedeval help` lists the commands"
    raise InputError("help", f"no command, measure or option is called '{word}'", hint, usage=True)


def _commands_with(context: click.Context, group: click.Command, word: str) -> dict[str, click.Option]:
    """Return the commands of a group that take --word, each with its option."""
    by_command: dict[str, click.Option] = {}
    if not isinstance(group, click.Group):
        return by_command
    for name in group.list_commands(context):
        if (command := group.get_command(context, name)) is None or command.hidden:
            continue
        options = [param for param in command.params if isinstance(param, click.Option) and f"--{word}" in param.opts]
        by_command.update((name, option) for option in options)
        by_command.update((f"{name} {part}", option) for part, option in _commands_with(context, command, word).items())
    return by_command


def _option_page(by_command: Mapping[str, click.Option], width: int) -> str:
    """Return the help of an option in the first command that takes it, and the names of all that do."""
    option = next(iter(by_command.values()))
    texts = [" ".join((option.help or "").split()), f"Commands: {', '.join(by_command)}."]
    lines = ["\n".join(wrap(text, width, initial_indent="  ", subsequent_indent="  ")) for text in texts]
    return "\n\n".join([_flags_and_value(option), *lines]) + "\n"


def _run(program: click.Context, *words: str) -> None:
    """Run the program with these arguments."""
    with program.command.make_context("gradedeval", list(words)) as context:
        context.meta.update(program.meta)
        program.command.invoke(context)


def _formats() -> str:
    """Return the page of output formats, and of the formats of runs and qrels."""
    rows = [(name, form.extension, PURPOSES[form.layout]) for name, form in FORMATS.items()]
    lines = [
        f"{name:<9}  {extension:<9}  {purpose}"
        for name, extension, purpose in (("format", "extension", "what it is"), *rows)
    ]
    input_formats = [f"--{holds}-format: {', '.join(formats_of(holds))}" for holds in ("run", "qrels")]
    return "\n".join([
        "Output formats, chosen by -f FORMAT or by the extension of -o FILE:", "", *lines, "",
        r"Tables in latex need \usepackage{booktabs,graphicx}, and shrink to \columnwidth.", "",
        "The format of runs and qrels is recognized from their content. If that is ambiguous, name a format, or the",
        "columns in order, as in topic,docno,score:", "", *input_formats, "",
    ])  # fmt: skip
