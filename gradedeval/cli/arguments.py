"""Arguments and options that name files or workers: RUN... QRELS, -o, --measures-from, --jobs, --standardize."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import click

from gradedeval.cli.options import MANY_RUNS, READS, STANDARDIZATION, Option, given_flags
from gradedeval.cli.output import KEPT_IN_CONTEXT, context_option
from gradedeval.cli.progress import with_progress
from gradedeval.errors import InputError, Note, emit_notes, shorten
from gradedeval.kernel.formats import EXTENSIONS
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.measures.parse import DEFAULT, is_measure, parse_measures
from gradedeval.kernel.options import GAINS, OPTIONS
from gradedeval.kernel.trec.lines import NO_GRADES, QRELS, RUN, STRATA, WholeFile
from gradedeval.kernel.trec.stream import (
    IR_DATASETS,
    Source,
    Stream,
    extension_of,
    files_of,
    first_bytes,
    is_named,
    is_url,
)

if TYPE_CHECKING:
    from gradedeval.kernel.measures.definition import AnyMeasure, Measure
    from gradedeval.kernel.parallel import Workers


# RUN... QRELS, --measures-from and -o: what the arguments name, and what they may not be.


def measure_table(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """The table of measures, with those of --measures-from added."""
    if not files:
        return MEASURES
    from gradedeval.kernel.measures.user_measures import load_measures  # few evaluations have measures of their own

    table = dict(MEASURES)
    for file in files:
        for name, measure in load_measures(file).items():
            if name in table:
                raise InputError(file, f"measure '{name}' already exists", "rename one of the two", usage=True)
            table[name] = measure
    return table


def measures_with_plugins(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """The same, with those that other packages offer."""
    from gradedeval.kernel.measures.user_measures import entry_point_measures

    return {**measure_table(files), **entry_point_measures()}


def named_measures(texts: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """The measures that -m names, cut as -k says. A note tells of those that take no cutoff."""
    # Import numpy here, near the top of the stack: imported from deeper calls it outgrows Python's first 16 KiB frame
    # chunk, which costs a tenth of the start-up.
    import_module("numpy")
    cutoff = context_option("k")
    measures = parse_measures(texts, table, cutoff)
    if cutoff is None or not record_cutoff_use(texts, table):
        return measures
    if texts == DEFAULT:  # nobody has written these cutoffs
        kept = [one.label for one in measures if "@" in one.label and one.label in DEFAULT and one.cutoff != cutoff]
        emit_notes(
            [f"-k {cutoff}: {', '.join(kept)} keep their cutoffs; name measures without one, as in -m 'err ndcg'"]
        )
    if whole := [one.label for one in measures if one.definition.cutoff == "none"]:
        emit_notes([f"-k {cutoff}: {', '.join(whole)} {'take' if len(whole) > 1 else 'takes'} no cutoff"])
    return measures


_CUT = f"{__name__}.cut"
"""Where a command keeps whether -k cuts the measures that it was given, and what they are called."""


def record_cutoff_use(texts: Any, table: Mapping[str, Measure] | None, cut: bool | None = None) -> bool:
    """Remember whether -k cuts the measures of texts, and return that; `cut` says so of texts that are read
    otherwise."""
    if cut is not None:
        click.get_current_context().meta.setdefault(_CUT, []).append((cut, texts))
        return cut
    try:
        whole = parse_measures(texts, table)
        cut = whole != parse_measures(texts, table, context_option("k"))
    except InputError:  # of one that needs a cutoff; what is wrong otherwise is said elsewhere
        whole, cut = [], True
    click.get_current_context().meta.setdefault(_CUT, []).append((cut, [measure.label for measure in whole]))
    return cut


def note_unused_cutoff() -> None:
    """Tell where -k cuts none of the measures that the command was given."""
    known = click.get_current_context().meta.get(_CUT, [])
    if known and not any(cut for cut, _ in known):
        names = dict.fromkeys(label for _, labels in known for label in labels)
        hint = "it is for measures written without a cutoff, such as err and ap"
        emit_notes(
            [Note(f"-k {context_option('k')}: no measure here uses it ({shorten(names)})", hint, kind="unused-option")]
        )


def single_measure(flag: str, text: str | None, table: Mapping[str, Measure]) -> Measure:
    """The measure that an option names. Raises InputError (usage) unless it is one."""
    cutoff = context_option("k")
    measures = parse_measures(text, table, cutoff) if text and text.strip() else []
    if cutoff is not None and measures:
        record_cutoff_use(text, table)
    if len(measures) != 1:
        what = f"'{text}' names {len(measures)} measures" if measures else "no measure given"
        raise InputError(flag, what, f"name one, such as {flag} err@20", usage=True)
    return measures[0]


def usage() -> str:
    """How the command that runs is called, as a hint."""
    context = click.get_current_context()
    files = " ".join(str(param.metavar) for param in context.command.params if isinstance(param, click.Argument))
    return f"usage: {context.command_path.removesuffix(' eval')} {files}"


def runs_and_qrels(files: tuple[str, ...], keywords: Mapping[str, Any] = MappingProxyType({})) -> tuple[list[str], str]:
    """The runs and the qrels among the arguments.

    keywords  options, whose files may be standard input as well

    Raises InputError where an argument is not a file, a folder or a pattern. One that reads as a measure was probably
    meant for -m.
    """
    missing = [file for file in files if file != "-" and not os.path.exists(file)]
    for file in missing:
        if is_measure(file):
            raise InputError(file, "no such file", f"did you mean -m '{file}'?", usage=True)
    if len(files) < 2:
        raise InputError("", "expected a run and a qrels file", usage(), usage=True)
    check_standard_input(files, keywords)
    if missing:
        check_qrels_last(files)
    *words, qrels = files
    runs = [file for word in words for file in files_of(word, [qrels])]
    return runs, qrels


def single_file(files: tuple[str, ...], noun: str) -> str:
    """Return the only argument. Raises InputError (usage) for none or several."""
    if len(files) != 1:
        hint = f"name one {noun}: {usage().removeprefix('usage: ')}"
        raise InputError("", f"{len(files)} files given", hint, usage=True)
    return files[0]


def runs_and_optional_qrels(files: tuple[str, ...], options: Mapping[str, Any]) -> tuple[list[str], str | None]:
    """Return the runs among the arguments, and the qrels where the last of them is not a run, by its first line. Raises
    InputError as `runs_and_qrels` does."""
    if not files:
        raise InputError("", "no run given", usage(), usage=True)
    if len(files) > 1 and is_qrels(files[-1]):
        return runs_and_qrels(files, options)
    check_qrels_last(files)
    check_standard_input(files, options)
    return [file for word in files for file in files_of(word)], None


def check_standard_input(files: Collection[str | None], keywords: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Raise InputError (usage) where more than one file is `-`, of these and of those that options name."""
    count = list(files).count("-")
    for name, value in keywords.items():
        if value == "-" and name in OPTIONS and OPTIONS[name].names_file:
            count += 1
    if count > 1:
        raise InputError("-", "standard input can only be read once", "give the other as a file", usage=True)


def format_of_output(output: str | None, formats: Collection[str], default: str = "table") -> str:
    """The format that the extension of -o stands for; the default without one."""
    if output is None:
        return default
    extension = extension_of(output)
    name = EXTENSIONS.get(extension, "") if extension else default
    if name not in formats and not (os.path.exists(output) and not os.path.isfile(output)):
        hint = f"choose one with -f: {', '.join(formats)}"
        raise InputError(f"'{output}'", f"no format has the extension '{extension}'", hint, usage=True)
    return name if name in formats else default


def check_history(history: str | None, label: str | None) -> None:
    """Raise InputError (usage) where the label of a line in a history goes with none."""
    if history is None and label is not None:
        raise InputError("--label", "there is no history to write to", "add --history FILE", usage=True)
    if history == "-":
        what = "'-' is not a file that can be appended to"
        raise InputError("--history", what, "name one, as in history.jsonl", usage=True)


def signature_kind() -> Literal["short", "full"] | None:
    """How the command that runs signs tables for people: see --signature and --quiet."""
    return None if context_option("quiet") else context_option("signature") or "short"


def signature_formatter() -> Callable[[str], str]:
    """The function that makes the line under a table for people from a signature, in the command that runs."""
    from gradedeval.kernel.scoring.signature import SIGNATURES  # not for a help page

    return SIGNATURES[signature_kind()]


# --jobs and --cluster: who shares the work of a command over runs.


CLUSTER = Option(
    "--cluster",
    section=MANY_RUNS,
    metavar="ADDRESS",
    help="Share the work with a dask cluster: the address of its scheduler, as in tcp://host:8786. Worthwhile for "
    "jobs longer than about ten seconds.",
    **KEPT_IN_CONTEXT,
)


def make_workers(jobs: int | None = None) -> Workers:
    """Who shares the work of the command that runs, until it ends: the cluster that it was given, or else processes of
    this machine, as many as asked for or as it has cores. Raises InputError where a cluster cannot be used."""
    from gradedeval.kernel.parallel import Workers

    address: str | None = context_option("cluster")
    if address is None:
        return Workers.of(jobs, with_progress)
    from gradedeval.kernel.parallel.executors import connect  # few evaluations have one

    if jobs:
        raise InputError("--jobs", "a cluster has workers of its own", "leave out --jobs or --cluster", usage=True)
    executor = click.get_current_context().with_resource(connect(address))
    return Workers.of(None, with_progress, executor)


# The options of standardized scores, for the commands that take several runs.


STANDARD_OPTIONS = [
    Option("--standardize", section=STANDARDIZATION, is_flag=True, help="Standardize scores as Φ(z) over the runs, "
           "topic by topic. `-m sp --standardize` is sSP."),
    Option("--reference", section=STANDARDIZATION, metavar="FILE", file=READS, help="Standardize with the means and "
           "standard deviations in FILE."),
]  # fmt: skip


# Which of the arguments of a command are runs, which are qrels, and which stand for a setting.


def split_measures(files: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files among the arguments, and the measures: all of them, if none is a file."""
    named = not any(map(_exists, files)) and any("@" in word or is_measure(word) for word in files)
    return ((), files) if named else (files, ())


def split_qrels(files: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Return the other files among the arguments, and the last that is qrels beyond doubt, if there is one."""
    qrels = next(filter(_is_qrels_beyond_doubt, reversed(files)), None)
    return tuple(file for file in files if file != qrels), qrels


def split_topics(files: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files among the arguments, and the topics behind them."""
    behind = (index for index, _ in enumerate(files) if index > 1 and not any(map(_exists, files[index:])))
    there = files[: next(behind, None)]
    if not there or _is_run(there[-1]):  # then the word is the name of qrels, with a mistake
        return files, ()
    return there, files[len(there) :]


def _is_qrels_beyond_doubt(file: str) -> bool:
    """Whether a file holds judgments, and is not a run that lacks a field, or that cannot be read."""
    from gradedeval.kernel.trec.line_reader import looks_like

    try:
        return is_qrels(file) and not (is_named(file) and looks_like(first_bytes(Source(file)), STRATA))
    except InputError:
        return False


def _exists(word: str) -> bool:
    """Whether an argument names a file or a folder, or files by a pattern, or elsewhere."""
    elsewhere = is_url(word) or word.startswith(IR_DATASETS) or bool(set(word) & set("*?"))
    return word == "-" or elsewhere or os.path.exists(word)


def is_qrels(file: str) -> bool:
    """Whether the first line of a file is a judgment. Of a format that holds both runs and judgments, such as JSON, the
    last file is taken for a run."""
    from gradedeval.kernel.trec.blocks import format_of
    from gradedeval.kernel.trec.line_reader import looks_like

    if file.startswith(IR_DATASETS):
        return True
    if not is_named(file) or _is_run(file):
        return False
    head = first_bytes(Source(file))
    if any(looks_like(head, layout) for layout in (QRELS, STRATA)):
        return True
    with closing(Stream(Source(file))) as stream:
        try:
            form = format_of(stream, "qrels")
        except InputError as error:
            return error.kind == NO_GRADES
    return form.format == "letor" if isinstance(form, WholeFile) else form is not QRELS


def _is_run(file: str) -> bool:
    """Whether a file is a run beyond doubt, by its first line."""
    from gradedeval.kernel.trec.blocks import is_certain_run
    from gradedeval.kernel.trec.line_reader import looks_like

    return is_named(file) and (looks_like(first_bytes(Source(file)), RUN) or is_certain_run(Source(file)))


def check_qrels_last(files: tuple[str, ...]) -> None:
    """Raise InputError (usage) where a word that is no file follows the qrels: it was meant for an option before it."""
    *others, last = files
    if others and not _exists(last) and is_qrels(others[-1]):
        raise InputError(last, "no such file", "the qrels are the last argument: RUN... QRELS", usage=True)


QRELS_OPTIONS = ["topics", "judged_only", "subtopics", "qrels_format", "labels"]
"""Options about judgments, beside those about gains."""


def check_without_qrels(keywords: Mapping[str, Any], used: Collection[str] = ()) -> None:
    """Raise InputError (usage) for an option about judgments where there are none, but for those used all the same."""
    about = [name for name, described in OPTIONS.items() if described.section == GAINS] + QRELS_OPTIONS
    if unused := given_flags({name: keywords.get(name) for name in about if name not in used}):
        raise InputError(unused[0], "needs qrels", "add QRELS", usage=True)
