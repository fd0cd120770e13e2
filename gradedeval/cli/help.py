"""`COMMAND -h`, the options that most people need, a line each; and `gradedeval help`."""

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
"""What most people need of the options that several commands share."""

WIDEST = 26
"""The widest that the column of options may be."""
SCREEN = 20
"""The lines of a page without those around its options: a terminal of 24 has one more for its prompt."""


def short_page(context: click.Context) -> str:
    """The usage of a command, what it does, its own options, and those of the shared ones that most people need."""
    options = [param for param in context.command.get_params(context) if isinstance(param, click.Option)]
    own = [option for option in options if _is_own(option)]
    shared = [option for name in COMMON for option in options if name in option.opts and option not in own]
    formatter = context.make_formatter()
    context.command.format_usage(context, formatter)
    formatter.write_paragraph()
    formatter.write_text(_sentence(context.command.help or ""))
    head = formatter.getvalue().splitlines()
    named: list[str] = []
    also: list[str] = []
    while own and len([*head, *own, *shared, *also]) > SCREEN:
        named.insert(0, min(own.pop().opts, key=len))
        also = wrap(f"  also: {' '.join(named)}", formatter.width, subsequent_indent="        ", break_on_hyphens=False)
    names = {option: _spelled(option) for option in (*own, *shared)}
    column = min(WIDEST, max(map(len, names.values())))
    formatter.write_paragraph()
    for option, name in names.items():
        text = cut(f"  {name:<{column}}  {_sentence(option.help or '')}", formatter.width)
        formatter.write(f"{text}\n")
    formatter.write("".join(f"{line}\n" for line in also))
    formatter.write_paragraph()
    formatter.write(f"`{context.command_path} --help` explains all {len(options)} options.")
    return formatter.getvalue()


def _is_own(option: click.Option) -> bool:
    """Whether the command alone takes it, or hardly another."""
    known = OPTIONS.get(option.name or "")
    return getattr(option, "section", "") == THIS_COMMAND or (known is not None and known.commands == "eval")


def _spelled(option: click.Option) -> str:
    """The names of an option, and what its value is; of several choices the first."""
    value = option.metavar or ""
    if isinstance(option.type, click.Choice) and not option.metavar:
        value = f"[{'|'.join(option.type.choices)}]"
    if len(value) > 12 and "|" in value:
        value = f"{value.partition('|')[0]}|…{']' if value.startswith('[') else ''}"
    flags = sorted(option.opts, key=len)
    whole = " ".join(part for part in (", ".join(flags), value) if part)
    return whole if len(whole) <= WIDEST else " ".join(part for part in (flags[0], value) if part)


def _sentence(text: str) -> str:
    """The first sentence, in one line."""
    return " ".join(re.split(r"(?<=[.])\s", text.strip(), maxsplit=1)[0].split())


# `gradedeval help [COMMAND|MEASURE|OPTION|measures|formats]`.

PURPOSES = {
    "wide": "tables for people, rounded",
    "long": "a row for each value, in full precision, for programs",
    "trec": "trec_eval's three columns, of scores alone",
}
"""What a layout is for."""


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
    if found := _with_option(program, program.command, word):
        return write(_option_page(found, click.Context(program.command).make_formatter().width))
    hint = did_you_mean(word, [*commands, "formats"]) or "`gradedeval help` lists the commands"
    raise InputError("help", f"no command, measure or option is called '{word}'", hint, usage=True)


def _with_option(context: click.Context, command: click.Command, word: str) -> dict[str, click.Option]:
    """The commands that take an option of this name, and the option of each."""
    found: dict[str, click.Option] = {}
    if not isinstance(command, click.Group):
        return found
    for name in command.list_commands(context):
        if (of := command.get_command(context, name)) is None or of.hidden:
            continue
        options = [param for param in of.params if isinstance(param, click.Option) and f"--{word}" in param.opts]
        found.update((name, option) for option in options)
        found.update((f"{name} {part}", option) for part, option in _with_option(context, of, word).items())
    return found


def _option_page(found: Mapping[str, click.Option], width: int) -> str:
    """What an option is for, in the words of the first command that takes it, and which others do."""
    option = next(iter(found.values()))
    texts = [" ".join((option.help or "").split()), f"Commands: {', '.join(found)}."]
    lines = ["\n".join(wrap(text, width, initial_indent="  ", subsequent_indent="  ")) for text in texts]
    return "\n\n".join([_spelled(option), *lines]) + "\n"


def _run(program: click.Context, *words: str) -> None:
    """Run the program with other words."""
    with program.command.make_context("gradedeval", list(words)) as context:
        context.meta.update(program.meta)
        program.command.invoke(context)


def _formats() -> str:
    """The output formats, and what runs and qrels may be."""
    rows = [(name, form.extension, PURPOSES[form.layout]) for name, form in FORMATS.items()]
    lines = [
        f"{name:<9}  {extension:<9}  {purpose}"
        for name, extension, purpose in (("format", "extension", "what it is"), *rows)
    ]
    read = [f"--{what}-format: {', '.join(formats_of(what))}" for what in ("run", "qrels")]
    return "\n".join([
        "Output formats, chosen by -f FORMAT or by the extension of -o FILE:", "", *lines, "",
        r"Tables in latex need \usepackage{booktabs,graphicx}, and shrink to \columnwidth.", "",
        "The format of runs and qrels is recognized from their content. Where that is ambiguous, name a format, or the",
        "columns in order, as in topic,docno,score:", "", *read, "",
    ])  # fmt: skip
