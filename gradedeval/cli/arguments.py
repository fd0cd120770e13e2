"""Values of arguments and options that commands share: runs and qrels, measures, output formats, workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from itertools import takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import click

from gradedeval.cli.options import KEPT_IN_CONTEXT, MANY_RUNS, READS, STANDARDIZATION, Option, given_flags
from gradedeval.cli.output import context_option
from gradedeval.cli.progress import with_progress
from gradedeval.errors import SPREADSHEETS, Guess, InputError, Note, Rewritten, emit_notes, flag, shorten
from gradedeval.kernel.formats import EXTENSIONS
from gradedeval.kernel.measures.definition import MEASURES
from gradedeval.kernel.measures.parse import DEFAULT, is_measure, parse_measures
from gradedeval.kernel.options import GAINS, OPTIONS, Options
from gradedeval.kernel.trec.lines import HEADED, NO_GRADES, PAIRS, QRELS, RUN, STRATA, WholeFile
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


# Measures: -m, -k and --measures-from.


def measure_table(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """Return the measures by name, with the measures of --measures-from."""
    if not files:
        return MEASURES
    from gradedeval.kernel.measures.user_measures import load_measures  # few users define measures

    table = dict(MEASURES)
    for file in files:
        for name, measure in load_measures(file).items():
            if name in table:
                raise InputError(file, f"measure '{name}' already exists", "rename one of the two", usage=True)
            table[name] = measure
    return table


def measures_with_plugins(files: tuple[str, ...]) -> Mapping[str, Measure]:
    """Return the measures by name, with the measures of --measures-from and of installed plugins."""
    from gradedeval.kernel.measures.user_measures import entry_point_measures

    return {**measure_table(files), **entry_point_measures()}


def named_measures(texts: AnyMeasure | Iterable[AnyMeasure], table: Mapping[str, Measure] | None) -> list[Measure]:
    """Return the measures that -m names, from a table of measures, with the cutoff of -k.

    Emits a note on the measures that -k does not cut.
    """
    # Import numpy here, near the top of the stack: imported from deeper calls it outgrows Python's first 16 KiB frame
    # chunk, which costs a tenth of the start-up.
    import_module("numpy")
    cutoff = context_option("k")
    measures = parse_measures(texts, table, cutoff)
    if cutoff is None or not record_cutoff_use(texts, table):
        return measures
    if texts == DEFAULT:  # the cutoffs of the default measures are not typed by the user
        default = [measure for measure in measures if "@" in measure.label and measure.label in DEFAULT]
        kept = ", ".join(measure.label for measure in default if measure.cutoff != cutoff)
        emit_notes([f"-k {cutoff}: {kept} keep their cutoffs; name measures without one, as in -m 'err ndcg'"])
    if whole := [measure.label for measure in measures if measure.definition.cutoff == "none"]:
        emit_notes([f"-k {cutoff}: {', '.join(whole)} {'take' if len(whole) > 1 else 'takes'} no cutoff"])
    return measures


def chosen_measures(texts: Iterable[str], files: tuple[str, ...]) -> list[Measure]:
    """Load the measures of --measures-from, and return the measures that -m names, with the cutoff of -k.

    Emits a note if -k cuts none of them.
    """
    measures = named_measures(texts, measure_table(files))
    note_unused_cutoff()
    return measures


_CUTOFF_USES = f"{__name__}.cutoff_uses"
"""Key in the `meta` of click's context. Its value is a list of pairs: whether -k cuts some measures, their labels."""


def record_cutoff_use(texts: Any, table: Mapping[str, Measure] | None, cut: bool | None = None) -> bool:
    """Record whether -k cuts some measures, for `note_unused_cutoff`, and return it.

    cut  whether -k cuts any, if the caller knows; texts are then labels. None: parse with and without the cutoff
    """
    if cut is not None:
        click.get_current_context().meta.setdefault(_CUTOFF_USES, []).append((cut, texts))
        return cut
    try:
        uncut = parse_measures(texts, table)
        cut = uncut != parse_measures(texts, table, context_option("k"))
    except InputError:  # a measure needs a cutoff; other problems are reported elsewhere
        uncut, cut = [], True
    click.get_current_context().meta.setdefault(_CUTOFF_USES, []).append((cut, [measure.label for measure in uncut]))
    return cut


def note_unused_cutoff() -> None:
    """Emit a note if -k cuts no measure of the command."""
    recorded = click.get_current_context().meta.get(_CUTOFF_USES, [])
    if recorded and not any(cut for cut, _ in recorded):
        names = shorten(dict.fromkeys(label for _, labels in recorded for label in labels))
        hint = "it is for measures written without a cutoff, such as err and ap"
        emit_notes([Note(f"-k {context_option('k')}: no measure here uses it ({names})", hint, kind="unused-option")])


def single_measure(option: str, text: str | None, table: Mapping[str, Measure]) -> Measure:
    """Return the measure that an option names. Raises InputError (usage) unless it names exactly one."""
    cutoff = context_option("k")
    measures = parse_measures(text, table, cutoff) if text and text.strip() else []
    if cutoff is not None and measures:
        record_cutoff_use(text, table)
    if len(measures) != 1:
        problem = f"'{text}' names {len(measures)} measures" if measures else "no measure given"
        raise InputError(option, problem, f"name one, such as {option} err@20", usage=True)
    return measures[0]


# Files: RUN... QRELS and -o.


def usage() -> str:
    """Return the usage line of the running command, as a hint."""
    context = click.get_current_context()
    files = " ".join(str(param.metavar) for param in context.command.params if isinstance(param, click.Argument))
    return f"usage: {context.command_path.removesuffix(' eval')} {files}"


def unused_cutoff_error(option: str, purpose: str) -> InputError:
    """Return the error for -k in a command without measures. The hint suggests the option that has the purpose."""
    hint = Guess("-k", option, text=f"write {option} for {purpose}")
    return InputError("-k", "cuts measures, and none are named here", hint, usage=True)


def runs_and_qrels(files: tuple[str, ...], options: Mapping[str, Any] = MappingProxyType({})) -> tuple[list[str], str]:
    """Return the runs and the qrels among the arguments.

    options  options of the command; only one of their files and the arguments may be standard input

    A single file with both results and judgments is the run and the qrels. Raises InputError if an argument is not a
    file, a folder or a pattern; if the argument is the name of a measure, the hint suggests -m.
    """
    files = duplicate_combined_file(files)
    missing = [file for file in files if file != "-" and not os.path.exists(file)]
    if measures := [file for file in missing if is_measure(file)]:
        words = [word for word in click.get_current_context().find_root().obj or () if word not in measures]
        hint = f"did you mean -m '{' '.join(measures)}'?"
        raise InputError(measures[0], "no such file", Rewritten(hint, *words, "-m", " ".join(measures)), usage=True)
    if len(files) < 2:
        raise InputError("", "expected a run and a qrels file", usage(), usage=True)
    check_standard_input(files, options)
    if missing:
        check_qrels_last(files)
    *words, qrels = files
    has_baseline = len(files) > len(click.get_current_context().params["files"])
    if len(words) > 1 and not has_baseline and are_two_qrels(files[-2:]):
        *words, first = words
        runs_given = " ".join(words) if len(words) < 4 else "RUN..."
        hint = f"`gradedeval agreement {first} {qrels} {runs_given}` compares judgments, and the orders of runs by each"
        context = click.get_current_context()
        _, arguments = split_command(context.find_root().obj or (), context)
        line = Rewritten(hint, "agreement", *arguments)
        raise InputError(first, f"is a file of qrels, and so is {qrels}", line, usage=True)
    runs = [file for word in words for file in files_of(word, [qrels])]
    return runs, qrels


def split_command(words: Sequence[str], context: click.Context) -> tuple[list[str], list[str]]:
    """Return the name of the command of a context, if it was typed, and the words behind it."""
    path = context.command_path.split()[1:]
    return (path, list(words[len(path) :])) if list(words[: len(path)]) == path else ([], list(words))


def duplicate_combined_file(files: tuple[str, ...]) -> tuple[str, ...]:
    """Return a single file twice if it holds both results and judgments; return any other files unchanged."""
    return (*files, *files) if len(files) == 1 and holds_both(files[0]) else files


def holds_both(file: str) -> bool:
    """Return whether each record or row of a file has results and judgments."""
    from gradedeval.kernel.trec.blocks import format_of  # only for a single file

    if not os.path.isfile(file):
        return False
    chosen = click.get_current_context().params
    requested = [chosen.get(f"{kind}_format") for kind in ("run", "qrels")]
    if all(requested):
        return True
    try:
        with closing(Stream(Source(file))) as stream:
            run, qrels = (format_of(stream, kind, name) for kind, name in zip(("run", "qrels"), requested, strict=True))
    except InputError:
        return False
    if isinstance(run, WholeFile) or isinstance(qrels, WholeFile):
        from gradedeval.kernel.trec.documents import has_both

        return isinstance(run, WholeFile) and isinstance(qrels, WholeFile) and has_both(run, file)
    grade, score, rank = qrels.position("grade"), run.position("score"), run.position("rank")
    return run.format in HEADED and grade is not None and (score, rank) != (None, None) and grade not in (score, rank)


def single_file(files: tuple[str, ...], noun: str) -> str:
    """Return the only argument. Raises InputError (usage) for none or several."""
    if len(files) != 1:
        hint = f"name one {noun}: {usage().removeprefix('usage: ')}"
        raise InputError("", f"{len(files)} files given", hint, usage=True)
    return files[0]


def runs_and_optional_qrels(
    files: tuple[str, ...], options: Mapping[str, Any], needs_qrels: bool = False
) -> tuple[list[str], str | None]:
    """Return the runs among the arguments, and the qrels if the last file holds judgments.

    needs_qrels  whether the command needs qrels, as with -m: then the last file is the qrels unless it certainly is a
                 run

    Raises InputError as `runs_and_qrels` does.
    """
    if not files:
        raise InputError("", "no run given", usage(), usage=True)
    files = duplicate_combined_file(files) if needs_qrels else files
    if len(files) > 1 and (is_qrels(files[-1], needs_qrels) or _is_last_qrels(files[-1], options, needs_qrels)):
        return runs_and_qrels(files, options)
    check_qrels_last(files)
    check_standard_input(files, options)
    return [file for word in files for file in files_of(word)], None


def _is_last_qrels(file: str, options: Mapping[str, Any], needs_qrels: bool) -> bool:
    """Return whether the last file is the qrels because of --qrels-format, or because the command needs qrels and the
    file is not certainly a run. Its content need not show that it holds judgments."""
    if not (is_named(file) and _names_file(file)) or os.path.isdir(file):
        return False
    return options.get("qrels_format") is not None or (needs_qrels and not _is_run(file))


def check_standard_input(files: Collection[str | None], options: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Raise InputError (usage) if more than one of the files, or of the files that options name, is `-`."""
    named = [value for name, value in options.items() if name in OPTIONS and OPTIONS[name].names_file]
    if [*files, *named].count("-") > 1:
        raise InputError("-", "standard input can only be read once", "give the other as a file", usage=True)


def format_of_output(output: str | None, formats: Collection[str], default: str = "table") -> str:
    """Return the format with the extension of -o, or the default if it has none.

    Raises InputError (usage) for an extension of no format, except for a pipe or device.
    """
    if output is None:
        return default
    extension = extension_of(output)
    name = EXTENSIONS.get(extension, "") if extension else default
    if name not in formats and not (os.path.exists(output) and not os.path.isfile(output)):
        hint = f"choose one with -f: {', '.join(formats)}"
        if extension[1:] in SPREADSHEETS:
            hint = f"spreadsheets open CSV: -o {output.removesuffix(extension)}.csv"
        raise InputError(f"'{output}'", f"no format has the extension '{extension}'", hint, usage=True)
    return name if name in formats else default


def check_history(history: str | None, label: str | None) -> None:
    """Raise InputError (usage) for --label without --history, or a history on standard output."""
    if history is None and label is not None:
        raise InputError("--label", "there is no history to write to", "add --history FILE", usage=True)
    if history == "-":
        problem = "'-' is not a file that can be appended to"
        raise InputError("--history", problem, "name one, as in history.jsonl", usage=True)


def signature_kind() -> Literal["short", "full"] | None:
    """Return the kind of signature below tables for people, by --signature; None with --quiet."""
    return None if context_option("quiet") else context_option("signature") or "short"


def signature_formatter() -> Callable[[str], str]:
    """Return the function that formats a signature as the line below tables for people."""
    from gradedeval.kernel.scoring.signature import SIGNATURES  # late, so that help pages are quick

    return SIGNATURES[signature_kind()]


# Workers: --jobs and --cluster.


CLUSTER = Option(
    "--cluster",
    section=MANY_RUNS,
    metavar="ADDRESS",
    help="Share the work with a dask cluster: the address of its scheduler, as in tcp://host:8786. Worthwhile for "
    "jobs longer than about ten seconds.",
    **KEPT_IN_CONTEXT,
    short="Share the work with a dask cluster.",
)


def make_workers(jobs: int | None = None) -> Workers:
    """Return the workers of the running command: the cluster of --cluster, or local processes.

    jobs  number of processes; None: one for each core

    Raises InputError for a cluster that cannot be used.
    """
    from gradedeval.kernel.parallel import Workers

    address: str | None = context_option("cluster")
    if address is None:
        return Workers.of(jobs, with_progress)
    from gradedeval.kernel.parallel.executors import connect  # few evaluations use a cluster

    if jobs:
        raise InputError("--jobs", "a cluster has workers of its own", "leave out --jobs or --cluster", usage=True)
    executor = click.get_current_context().with_resource(connect(address))
    return Workers.of(None, with_progress, executor)


STANDARDIZATION_OPTIONS = [
    Option("--standardize", section=STANDARDIZATION, is_flag=True, help="Standardize scores as Φ(z) over the runs, "
           "topic by topic. `-m sp --standardize` is sSP.", short="Standardize the scores of each topic."),
    Option("--reference", section=STANDARDIZATION, metavar="FILE", file=READS, help="Standardize with the means and "
           "standard deviations in FILE.", short="Standardize with the statistics in FILE."),
]  # fmt: skip


# Arguments by their kind: runs, qrels, measures, topics.


def split_measures(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments as files and measures: all are measures if none is a file and one is a measure."""
    are_measures = not any(map(_names_file, words)) and any("@" in word or is_measure(word) for word in words)
    return ((), words) if are_measures else (words, ())


def split_qrels(
    files: tuple[str, ...], options: Mapping[str, Any], needs_qrels: bool
) -> tuple[tuple[str, ...], str | None]:
    """Return the arguments as files and qrels.

    The qrels are the last file that certainly holds judgments. If there is none and the command needs qrels, they are
    the last file, as in `runs_and_optional_qrels`.
    """
    if needs_qrels and duplicate_combined_file(files) != files:
        return files, files[0]
    qrels = next(filter(_is_certainly_qrels, reversed(files)), None)
    if qrels is None and files and _is_last_qrels(files[-1], options, needs_qrels and len(files) > 1):
        qrels = files[-1]
    return tuple(file for file in files if file != qrels), qrels


def split_topics(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments as files and the topics that follow them."""
    if len(words) > 1 and not _names_file(words[1]) and duplicate_combined_file(words[:1]) != words[:1]:
        return duplicate_combined_file(words[:1]), words[1:]
    topic_starts = (index for index, _ in enumerate(words) if index > 1 and not any(map(_names_file, words[index:])))
    files = words[: next(topic_starts, None)]
    if not files or _is_run(files[-1]):  # the next word is probably a misspelled name of qrels
        return words, ()
    return files, words[len(files) :]


def _is_certainly_qrels(file: str) -> bool:
    """Return whether a file certainly holds judgments: an unreadable file, or a run that lacks a field, does not."""
    from gradedeval.kernel.trec.line_reader import looks_like

    try:
        return is_qrels(file) and not (is_named(file) and looks_like(first_bytes(Source(file)), STRATA))
    except InputError:
        return False


def _names_file(word: str) -> bool:
    """Return whether an argument names an existing file or folder, standard input, a URL, a named dataset, or a pattern
    that matches files. A topic that ends with a question mark is not a pattern, because it matches none."""
    from glob import glob  # rarely needed: the shell expands most patterns

    if word == "-" or is_url(word) or word.startswith(IR_DATASETS) or os.path.exists(word):
        return True
    return bool(set(word) & set("*?") and glob(word, recursive=True))


def is_qrels(file: str, needs_qrels: bool = False) -> bool:
    """Return whether a file holds judgments, by its first line.

    A file of a format for both runs and judgments, such as JSON, counts as a run unless it holds only judgments.

    needs_qrels  whether such a file also counts as qrels if it holds both
    """
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
            layout = format_of(stream, "qrels")
        except InputError as error:
            return error.kind == NO_GRADES
        if isinstance(layout, WholeFile) and layout.format not in ("letor", PAIRS):
            from gradedeval.kernel.trec.documents import kinds_in  # only for formats such as JSON

            kinds = kinds_in(layout, stream)
            return kinds == "qrels" or (needs_qrels and "qrels" in kinds)
    return layout.format in ("letor", PAIRS) if isinstance(layout, WholeFile) else layout is not QRELS


def _is_run(file: str) -> bool:
    """Return whether a file certainly is a run, by its first line."""
    from gradedeval.kernel.trec.blocks import is_certain_run
    from gradedeval.kernel.trec.line_reader import looks_like

    if not is_named(file):
        return False
    head = first_bytes(Source(file))
    if looks_like(head, RUN) and not (b"\t" in head and _has_tabbed_judgments(file)):
        return True
    return is_certain_run(Source(file))


def _has_tabbed_judgments(file: str) -> bool:
    """Return whether a file is read as qrels whose topics have blanks, or whose cells list documents."""
    from gradedeval.kernel.trec.blocks import format_of

    with closing(Stream(Source(file))) as stream:
        try:
            layout = format_of(stream, "qrels")
        except InputError:
            return False
    return layout.format == "tsv" if isinstance(layout, WholeFile) else layout.separator == b"\t"


def named_files(words: Iterable[str]) -> list[str]:
    """Return the words before the first that is not a file."""
    return list(takewhile(_names_file, words))


def kind_if_qrels_first(files: Sequence[str], formats: Options) -> str:
    """Return the kind of the last file, such as "a run", if only the first file certainly is qrels; else ""."""
    if len(files) < 2 or "-" in (files[0], files[-1]):
        return ""
    from gradedeval.kernel.rankings.run import is_readable_only_as  # only for an error

    try:
        if not (_is_certainly_qrels(files[0]) or is_readable_only_as("qrels", files[0], formats)):
            return ""
        if any(map(_is_certainly_qrels, files[1:])):
            return ""
        if os.path.isdir(files[-1]):
            return "a folder"
        if not os.path.exists(files[-1]) and not is_url(files[-1]):
            return "a pattern"
        return "a run" if _is_run(files[-1]) or is_readable_only_as("run", files[-1], formats) else ""
    except (InputError, OSError):  # the command has reported a more specific error
        return ""


def are_two_qrels(files: Collection[str]) -> bool:
    """Return whether all these files certainly are TREC qrels: lines of four fields, of which the last is a number.
    Tables of other forms may be runs."""
    if click.get_current_context().params.get(flag.run_format.keyword):
        return False
    return all(map(_is_trec_qrels, files))


def _is_trec_qrels(file: str) -> bool:
    from gradedeval.kernel.trec.line_reader import looks_like

    if not os.path.isfile(file):
        return False
    try:
        head = first_bytes(Source(file))
    except (InputError, OSError):  # reported when the file is read
        return False
    lines = [line.split() for line in head.split(b"\n") if line.strip() and not line.startswith(b"#")]
    # Qrels have 0 in the second field; a run that lacks fields has Q0.
    return looks_like(head, QRELS) and lines[0][1] != b"Q0" and lines[0][-1].lstrip(b"-").isdigit()


def check_qrels_last(files: tuple[str, ...]) -> None:
    """Raise InputError (usage) if a word that is not a file follows the qrels."""
    *first, last = files
    if first and not _names_file(last) and is_qrels(first[-1]):
        raise InputError(last, "no such file", "the qrels are the last argument: RUN... QRELS", usage=True)


OPTIONS_NEEDING_QRELS = ["topics", "judged_only", "subtopics", "qrels_format", "labels"]
"""Names of the options that need qrels, besides those of the section of gains."""


def check_without_qrels(options: Mapping[str, Any], used: Collection[str] = ()) -> None:
    """Raise InputError (usage) for an option about judgments, in a command without qrels.

    used  names of options about judgments that the command uses even without qrels
    """
    names = [name for name, metadata in OPTIONS.items() if metadata.section == GAINS] + OPTIONS_NEEDING_QRELS
    if unused := given_flags({name: options.get(name) for name in names if name not in used}):
        raise InputError(unused[0], "needs qrels", "add QRELS", usage=True)
