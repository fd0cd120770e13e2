"""RUN... QRELS and -o: which files the words name, and what they may not be."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from gradedeval.cli import VERBS
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
                raise InputError(
                    file, f"measure '{name}' is another file's too", "give one of them another name", usage=True
                )
            table[name] = measure
    return table


def run_and_qrels(
    files: tuple[str, ...],
    topics_from: str | None = None,
    runs_from: str | None = None,
    usage: str = "gradedeval RUN... QRELS",
) -> tuple[list[str], str]:
    """The runs and the qrels among the arguments: with --runs-from, those that it lists come last. Raises InputError
    where an argument is no file, folder or pattern.

    An argument that is no file but reads as a measure was probably meant for -m.
    """
    for file in files:
        if file != "-" and not os.path.exists(file) and _is_measure(file):
            raise InputError(file, "no such file", f"did you mean -m '{file}'?", usage=True)
    if not files or (len(files) < 2 and runs_from is None):
        hint = did_you_mean(files[0], VERBS) if files and not os.path.exists(files[0]) else ""
        raise InputError("", "a run and a qrels file are needed", hint or usage, usage=True)
    if [*files, topics_from, runs_from].count("-") > 1:
        raise InputError("-", "standard input can be read once", "name a file for the other", usage=True)
    *words, qrels = files
    runs = [file for word in words for file in files_of(word, [qrels])]
    listed = [] if runs_from is None else listed_files(runs_from, [qrels])
    return [*runs, *listed], qrels


def form_of(output: str | None, forms: Collection[str]) -> str:
    """The format that the extension of -o asks for; a table without one."""
    if output == "":
        raise InputError("-o", "names no file", "as in -o scores.csv", usage=True)
    extension = os.path.splitext(output or "")[1].lower()
    form = EXTENSIONS.get(extension, "")
    if form not in forms and not (output and os.path.exists(output) and not os.path.isfile(output)):
        raise InputError(f"'{output}'", f"no format for {extension}", f"-f says which: {', '.join(forms)}", usage=True)
    return form if form in forms else "table"


def check_output(output: str | None, files: Collection[str]) -> None:
    """Raise InputError where the output would take the place of a file that is read."""
    read = [one for one in files if os.path.exists(one)]
    if output and os.path.isfile(output) and any(os.path.samefile(one, output) for one in read):
        raise InputError("-o", f"'{output}' is one of the files read", "write to another", usage=True)


def _is_measure(text: str) -> bool:
    try:
        parse_measures(text)
    except InputError:
        return text.split("@")[0].lower() in (*MEASURES, *ALIASES)
    return True
