"""`gradedeval trec_eval QRELS RUN...`: trec_eval's command line, and its output byte for byte."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

import click

from gradedeval import __version__, kernel
from gradedeval.cli.arguments import check_standard_input, usage
from gradedeval.cli.options import HELP, READS, Option, command_line, short_page
from gradedeval.cli.output import view_of, write
from gradedeval.errors import InputError, did_you_mean
from gradedeval.interop.trec_eval import PrintOptions, drop_in_options, evaluate_drop_in, read_norms
from gradedeval.interop.trec_eval_lines import DROP_IN_FORMATS, VERSIONS, Entry, Setting, select_lines
from gradedeval.kernel.formats import SCORE_FORMATS
from gradedeval.kernel.options import ranges

# trec_eval's own flags, long names included; messages name the last one.
OPTIONS = [
    Option("-q", "--query_eval_wanted", "by_topic", is_flag=True, help="Also print the scores of each topic."),
    Option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Average over all topics of QRELS; a "
           "topic missing from the run counts as an empty ranking. Default: topics in both files.",
           short="Average over all topics of QRELS."),
    Option("--level_for_rel", "level", number=ranges.LEVEL_FOR_REL, metavar="N", help="Lowest relevant grade. "
           "Default: 1."),
    Option("-n", "--nosummary", "no_summary", is_flag=True, help="Do not print the summary over topics."),
    Option("--Max_retrieved_per_topic", "depth", number=ranges.MAX_RETRIEVED, metavar="N", help="Keep only the N "
           "highest-ranked documents of each topic.", short="Keep the N best-ranked documents of a topic."),
    Option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Drop unjudged documents."),
    Option("--Number_docs_in_coll", "documents", number=ranges.DOCS_IN_COLLECTION, metavar="N", help="Number of "
           "documents in the collection, for utility. Default: 0.", short="Documents in the collection, for utility."),
    Option("-m", "--measure", "measures", multiple=True, metavar="MEASURE[.PARAMETERS]", help="A measure, a set of "
           "measures (official, all_trec, set), or a measure in gradedeval's notation, such as err@20. May be "
           "repeated. Default: official.", short="A measure, or a set such as official."),
    Option("-Z", "--Zscore", "norms", metavar="FILE", file=READS, help="Print z-scores, using the lines of topic, "
           "measure, mean and standard deviation in FILE.", short="Print z-scores, by the statistics in FILE."),
    Option("--Rel_info_format", "-R", "qrels_format", type=click.Choice(list(DROP_IN_FORMATS)), default="qrels",
           help="Format of QRELS. Default: qrels."),
    Option("--Results_format", "-T", "results_format", type=click.Choice(["trec_results"]), default="trec_results",
           help="Format of RUN."),
    Option("-D", "--Debug_level", "debug", metavar="N", help="Accepted and ignored."),
    Option("-f", "--format", "output_format", type=click.Choice(SCORE_FORMATS), help="Print one of gradedeval's "
           "formats instead of trec_eval's three columns.", short="One of gradedeval's formats."),
    Option("--compat", type=click.Choice(VERSIONS), default="10", help="Version of trec_eval to follow. Default: 10."),
    Option("-v", "--version", "version", is_flag=True, help="Print the version and exit."),
    Option("-h", "wants_short", section=HELP, is_flag=True, help="Show the options, a line each, or with -m a "
           "description of these measures, and exit.", short="Show this page."),
    Option("--help", "wants_help", section=HELP, is_flag=True, help="Show this message, or with -m a description "
           "of these measures, and exit.", short="Explain all options."),
]  # fmt: skip


@command_line("trec_eval", "QRELS RUN...", OPTIONS, verbose=("--verbose",), add_help_option=False)
def command(
    files: tuple[str, ...],
    by_topic: bool,
    complete: bool,
    level: int | None,
    no_summary: bool,
    depth: int | None,
    judged_only: bool,
    documents: int | None,
    measures: tuple[str, ...],
    norms: str | None,
    qrels_format: str,
    results_format: str,
    debug: str | None,
    output_format: str | None,
    compat: str,
    version: bool,
    wants_short: bool,
    wants_help: bool,
) -> None:  # fmt: skip
    """Score runs as trec_eval does, with the same options and the same output.

    QRELS has lines of `topic iteration docno grade`, RUN of `topic Q0 docno rank score tag`; further fields of a line
    of RUN are ignored. `-h -m NAME` describes measures.
    """
    if version:
        write(f"gradedeval {__version__}, as trec_eval {compat}\n")
        return
    if wants_short and not measures and not wants_help:
        click.echo(f"{short_page(click.get_current_context())}\n-h -m NAME explains a measure.")
        return
    if wants_help or wants_short:
        write(help_text(click.get_current_context().get_help(), measures, qrels_format))
        return
    printed_by = [flag for flag, value in (("-Z", norms), ("-n", no_summary)) if value]
    _check_usage(files, output_format, printed_by, qrels_format)
    lines = select_lines(measures or ["official"], Setting(compat, documents or 0), form=qrels_format)
    printing = PrintOptions(by_topic, not no_summary, read_norms(norms) if norms else None, compat != "9")
    options = drop_in_options(complete, level, depth, judged_only, compat)
    qrels, *runs = files
    named, view = kernel.named_runs(runs), view_of(None)
    text = evaluate_drop_in(named, qrels, lines, options, printing, holds=qrels_format, form=output_format, view=view)
    write(text)


def _check_usage(files: tuple[str, ...], output_format: str | None, printing: list[str], qrels_format: str) -> None:
    """Raise InputError (usage) for missing files, or -f with options of trec_eval's own output.

    printing  flags of such options on the command line
    """
    if len(files) < 2:
        raise InputError("", "expected a qrels file and a run", usage(), usage=True)
    check_standard_input(files)
    excluded = [*printing, *([f"-R {qrels_format}"] if qrels_format != "qrels" else [])]
    if output_format is not None and excluded:
        raise InputError("-f", f"cannot be combined with {excluded[0]}", "leave out one of them", usage=True)


# The pages of -h and --help.


HOLDS = {
    "qrels": "lines of `topic iteration docno grade`; one judgment of each document",
    "qrels_jg": "the same lines, but the second column names a judgment group: one judge's view of the topic",
    "prefs": "lines of `topic group subgroup docno value`; in each subgroup a larger value is preferred",
    "qrels_prefs": "lines of qrels, read as preferences: a higher grade is preferred",
}


def help_text(usage: str, measures: Iterable[str], holds: str) -> str:
    """Return the help page, or the pages of measures. Raises InputError (usage) for an unknown name."""
    entries, nicknames = DROP_IN_FORMATS[holds]
    named: dict[str, Entry] = {}
    for word in measures:
        name = word.partition(".")[0]
        if name in nicknames:
            named |= _members(name, entries)
        elif name in entries:
            named[name] = entries[name]
        else:
            hint = did_you_mean(name, [*entries, *nicknames]) or "`gradedeval measures NAME` explains ours"
            raise InputError("-m", f"unknown measure '{name}' of trec_eval", hint, usage=True)
    if named:
        return "\n".join(_page(name, entry) for name, entry in named.items())
    parts = [usage, "", _folded(f"QRELS ({holds}): ", f"{HOLDS[holds]}.", 2), "", "Measures:"]
    parts += [_folded(f"  {nickname:<11} ", ", ".join(_members(nickname, entries))) for nickname in nicknames]
    alone = [name for name, entry in entries.items() if not entry.sets]
    parts += [_folded("  in no set   ", ", ".join(alone))] if alone else []
    return "\n".join([*parts, "", "-h -m NAME explains a measure, -h -m all_trec all of them."]) + "\n"


def _members(nickname: str, entries: dict[str, Entry]) -> dict[str, Entry]:
    """Return the measures of a set by their names."""
    return {name: entry for name, entry in entries.items() if nickname in entry.sets}


def _page(name: str, entry: Entry) -> str:
    """Return the page of a measure: description, formula, source, parameters, lines, and its name in gradedeval."""
    lines = entry.lines(name, "", Setting())
    ours = lines[0].measure
    description, rows = entry.what, []
    if ours is not None:
        about, formula, source = ours.definition.paragraphs
        description = description or about
        rows += [("formula", formula), ("source", source)]
    if entry.takes:
        rows.append(("parameters", entry.takes))
    if len(lines) > 1:
        rows.append(("prints", ", ".join(line.name for line in lines)))
    if not (lines[0].by_topic and lines[0].summary):
        rows.append(("printed", "in the summary only" if lines[0].summary else "for each topic only"))
    if ours is not None:
        rows.append(("ours", ", ".join(str(line.measure) for line in lines)))
    return (
        "\n".join([_folded(f"{name}: ", description, 2), *(_folded(f"  {key:<11} ", value) for key, value in rows)])
        + "\n"
    )


def _folded(head: str, words: str, indent: int = 14) -> str:
    """Return words after a head, in lines of at most 100 characters.

    indent  of the lines after the first
    """
    after = "".ljust(indent)
    text = f"{head}{words}"
    return textwrap.fill(text, 100, subsequent_indent=after, break_on_hyphens=False, break_long_words=False)
