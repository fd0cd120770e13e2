"""All texts of the program, which `gradedeval help WORD` searches, and the page of formats."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from gradedeval.cli.options import flags_and_value
from gradedeval.kernel.formats import FORMATS
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.measures.description import Description
from gradedeval.kernel.measures.spellings import ALIASES, notation_of
from gradedeval.kernel.trec.file_formats import DESCRIPTIONS
from gradedeval.kernel.trec.lines import FORMATS as INPUT_FORMATS

PAGES = Path(__file__).with_name("pages.txt")
"""A line for each page of the documentation: its path, its title and its headings, between tabs."""


class Entry(NamedTuple):
    """A text of the program.

    kind     command, option, measure, format or page
    place    the words that lead to it: a command, a command and its option, a measure, a format, a page
    title    heading: its names and the metavar of its value
    names    the words that name it
    summary  its text in one line
    text     its whole text
    """

    kind: str
    place: str
    title: str
    names: tuple[str, ...]
    summary: str
    text: str

    def mentions(self, word: str) -> bool:
        """Return whether its names, summary or text contain the word, or its plural with -s."""
        return self.distance(word) < 3

    def distance(self, word: str) -> int:
        """Return where the word occurs first: 0 in the names, 1 in the summary, 2 in the text, 3 nowhere. A single
        letter is searched in the names only."""
        word = word.lstrip("-")
        pattern = re.compile(rf"(?<![\w-])_*{re.escape(word)}s?(?!\w)", re.IGNORECASE)
        names = " ".join(name.lstrip("-") for name in self.names)
        texts = (names.replace("-", " "), *((self.summary, self.text) if len(word) > 1 else ("", "")))
        return next((number for number, text in enumerate(texts) if pattern.search(text)), len(texts))


def texts_of(context: click.Context) -> list[Entry]:
    """Return the texts of the program: commands and their options, measures, formats, and pages."""
    return [*_commands(context, context.command), *_measures(), *_formats(), *_pages()]


def _commands(context: click.Context, group: Any, before: str = "") -> Iterator[Entry]:
    """Yield the commands of a group, each followed by its options."""
    for name, (_, summary) in getattr(group, "all_commands", {}).items():
        command = group.get_command(context, name)
        path = f"{before}{name}"
        yield Entry("command", path, path, (path,), summary, " ".join(str(command.help or "").split()))
        for option in command.params:
            if isinstance(option, click.Option):
                flags = tuple(sorted(option.opts, key=len))
                choices = ", ".join(getattr(option.type, "choices", ()))
                text = " ".join([*(option.help or "").split(), *([f"Values: {choices}."] if choices else [])])
                title, summary = flags_and_value(option), getattr(option, "short", text)
                yield Entry("option", f"{path} {flags[-1]}", title, flags, summary, text)
        yield from _commands(context, command, f"{path} ")


def _measures() -> Iterator[Entry]:
    aliases: dict[str, list[str]] = {}
    for alias in ALIASES:
        aliases.setdefault(str(notation_of(alias)), []).append(alias)
    for name, measure in MEASURES.items():
        described = Description(measure)
        text = "\n".join([*described.entries.values(), *described.meanings.values()])
        names = (name, *aliases.get(name, ()))
        yield Entry("measure", f"measures {name}", name, names, f"{described.summary.rstrip('.')}.", text)


def _formats() -> Iterator[Entry]:
    for name, form in FORMATS.items():
        text = f"An output format, of files {form.extension}: {PURPOSES[form.layout]}."
        yield Entry("format", f"-f {name}", f"-f {name}", (name, form.extension), text, text)
    for name, text in DESCRIPTIONS.items():
        holds = [kind for kind, names in INPUT_FORMATS.items() if name in names]
        title = " or ".join(f"--{held}-format {name}" for held in holds)
        yield Entry("format", title, title, (name,), f"A format of {' and '.join(holds)}: {text}.", text)


def _pages() -> Iterator[Entry]:
    for line in PAGES.read_text(encoding="utf-8").splitlines():
        path, title, headings = line.split("\t")
        yield Entry("page", path, path, (Path(path).stem,), f"{title}.", headings)


PURPOSES = {
    "wide": "tables for people, rounded",
    "long": "a row for each value, in full precision, for programs",
    "trec": "trec_eval's three columns, of scores alone",
}
"""Layout -> its purpose."""


def formats_page() -> str:
    """Return the page of output formats, and of the formats of runs and qrels."""
    rows = [(name, form.extension, PURPOSES[form.layout]) for name, form in FORMATS.items()]
    lines = [
        f"{name:<9}  {extension:<9}  {purpose}"
        for name, extension, purpose in (("format", "extension", "what it is"), *rows)
    ]
    input_formats = [f"--{holds}-format: {', '.join(names)}" for holds, names in INPUT_FORMATS.items()]
    return "\n".join([
        "Output formats, chosen by -f FORMAT or by the extension of -o FILE:", "", *lines, "",
        r"Tables in latex need \usepackage{booktabs,graphicx}, and shrink to \columnwidth.", "",
        "The format of runs and qrels is recognized from their content. If that is ambiguous, name a format, or the",
        "columns in order, as in topic,docno,score:", "", *input_formats, "",
    ])  # fmt: skip
