"""RUN... QRELS, --measures-from and -o: what the arguments name, and what they may not be."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from gradedeval.cli import COMMANDS
from gradedeval.cli.paths import files_of, listed_files
from gradedeval.errors import InputError, did_you_mean
from gradedeval.formats import EXTENSIONS
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.measures.plugins import load_measures
from gradedeval.measures.table import ALIASES, MEASURES


def measure_table(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """The table of measures, with those of --measures-from added."""
    if not files:
        return MEASURES
    table = dict(MEASURES)
    for file in files:
        for name, measure in load_measures(file).items():
            if name in table:
                raise InputError(file, f"measure '{name}' already exists", "rename one of the two", usage=True)
            table[name] = measure
    return table


def run_and_qrels(
    files: tuple[str, ...],
    other_files: Collection[str] = (),
    runs_from: str | None = None,
    usage: str = "gradedeval RUN... QRELS",
) -> tuple[list[str], str]:
    """The runs and the qrels among the arguments; the runs listed in --runs-from come last.

    other_files  files that options name, one of which may be standard input

    Raises InputError where an argument is not a file, a folder or a pattern. One that reads as a measure was probably
    meant for -m.
    """
    for file in files:
        if file != "-" and not os.path.exists(file) and _is_measure(file):
            raise InputError(file, "no such file", f"did you mean -m '{file}'?", usage=True)
    if not files or (len(files) < 2 and runs_from is None):
        hint = did_you_mean(files[0], COMMANDS) if files and not os.path.exists(files[0]) else ""
        raise InputError("", "expected a run and a qrels file", hint or f"usage: {usage}", usage=True)
    check_standard_input([*files, *other_files, runs_from])
    *words, qrels = files
    runs = [file for word in words for file in files_of(word, [qrels])]
    listed = [] if runs_from is None else listed_files(runs_from, [qrels])
    return [*runs, *listed], qrels


def check_standard_input(files: Collection[str | None]) -> None:
    """Raise InputError (usage) where more than one file is `-`."""
    if list(files).count("-") > 1:
        raise InputError("-", "standard input can only be read once", "give the other as a file", usage=True)


def form_of(output: str | None, forms: Collection[str]) -> str:
    """The format that the extension of -o stands for; a table without one."""
    if output == "":
        raise InputError("-o", "missing file name", "for example -o scores.csv", usage=True)
    extension = os.path.splitext(output or "")[1].lower()
    form = EXTENSIONS.get(extension, "")
    if form not in forms and not (output and os.path.exists(output) and not os.path.isfile(output)):
        hint = f"choose one with -f: {', '.join(forms)}"
        raise InputError(f"'{output}'", f"no format has the extension '{extension}'", hint, usage=True)
    return form if form in forms else "table"


def check_output(output: str | None, files: Collection[str]) -> None:
    """Raise InputError where the output would overwrite an input file."""
    read = [file for file in files if os.path.exists(file)]
    if output and os.path.isfile(output) and any(os.path.samefile(file, output) for file in read):
        raise InputError("-o", f"'{output}' is also an input file", "choose another output file", usage=True)


def _is_measure(text: str) -> bool:
    try:
        parse_measures(text)
    except InputError:
        return text.split("@")[0].lower() in (*MEASURES, *ALIASES)
    return True
