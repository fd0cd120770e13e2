"""`gradedeval trec_eval QRELS RUN...`: trec_eval's command line, and its output byte for byte."""

from __future__ import annotations

import click

from gradedeval import __version__
from gradedeval.cli.arguments import check_standard_input, usage
from gradedeval.cli.options import HELP, READS, command_line, option
from gradedeval.cli.output import warn, write
from gradedeval.errors import InputError
from gradedeval.interop.trec_eval.evaluate import drop_in_options, evaluate_drop_in
from gradedeval.interop.trec_eval.help import help_text
from gradedeval.interop.trec_eval.measures import FORMATS as QRELS_FORMATS
from gradedeval.interop.trec_eval.measures import select_lines
from gradedeval.interop.trec_eval.output_lines import VERSIONS, Setting
from gradedeval.interop.trec_eval.printing import PrintOptions, read_norms
from gradedeval.options import numbers
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import FORMATS

# trec_eval's own flags, long names included; messages name the last one.
OPTIONS = [
    option("-q", "--query_eval_wanted", "by_topic", is_flag=True, help="Also print the scores of each topic."),
    option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Average over all topics of QRELS; a "
           "topic missing from the run counts as an empty ranking. Default: topics in both files."),
    option("--level_for_rel", numbers.LEVEL_FOR_REL, "level", metavar="N", help="Lowest relevant grade. "
           "Default: 1."),
    option("-n", "--nosummary", "no_summary", is_flag=True, help="Do not print the summary over topics."),
    option("--Max_retrieved_per_topic", numbers.MAX_RETRIEVED, "depth", metavar="N", help="Keep only the N "
           "highest-ranked documents of each topic."),
    option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Drop unjudged documents."),
    option("--Number_docs_in_coll", numbers.DOCS_IN_COLLECTION, "documents", metavar="N", help="Number of "
           "documents in the collection, for utility. Default: 0."),
    option("-m", "--measure", "measures", multiple=True, metavar="MEASURE[.PARAMETERS]", help="A measure, a set of "
           "measures (official, all_trec, set), or a measure in gradedeval's notation, such as err@20. May be "
           "repeated. Default: official."),
    option("-Z", "--Zscore", "norms", metavar="FILE", file=READS, help="Print z-scores, using the lines of topic, "
           "measure, mean and standard deviation in FILE."),
    option("--Rel_info_format", "-R", "qrels_format", type=click.Choice(list(QRELS_FORMATS)), default="qrels",
           help="Format of QRELS. Default: qrels."),
    option("--Results_format", "-T", "results_format", type=click.Choice(["trec_results"]), default="trec_results",
           help="Format of RUN."),
    option("-D", "--Debug_level", "debug", metavar="N", help="Accepted and ignored."),
    option("-f", "--format", "form", type=click.Choice(FORMATS), help="Print one of gradedeval's formats instead of "
           "trec_eval's three columns."),
    option("--compat", type=click.Choice(VERSIONS), default="10", help="Version of trec_eval to follow. Default: 10."),
    option("-v", "--version", "version", is_flag=True, help="Print the version and exit."),
    option("-h", "--help", "wants_help", section=HELP, is_flag=True, help="Show this message, or with -m a description "
           "of these measures, and exit."),
]  # fmt: skip


@command_line("trec_eval", "QRELS RUN...", OPTIONS, add_help_option=False)
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
    form: str | None,
    compat: str,
    version: bool,
    wants_help: bool,
) -> None:  # fmt: skip
    """Score runs as trec_eval does, with the same options and the same output.

    QRELS has lines of `topic iteration docno grade`, RUN of `topic Q0 docno rank score tag`; further fields of a line
    of RUN are ignored. `-h -m NAME` describes measures.
    """
    if version:
        write(f"gradedeval {__version__}, as trec_eval {compat}\n")
        return
    if wants_help:
        write(help_text(click.get_current_context().get_help(), measures, qrels_format))
        return
    _check_usage(files, form, [flag for flag, given in (("-Z", norms), ("-n", no_summary)) if given], qrels_format)
    lines = select_lines(measures or ["official"], Setting(compat, documents or 0), form=qrels_format)
    printing = PrintOptions(by_topic, not no_summary, read_norms(norms) if norms else None, compat != "9")
    options = drop_in_options(complete, level, depth, judged_only, compat)
    text, notes = evaluate_drop_in(
        named_runs(list(files[1:])),
        files[0],
        lines,
        options,
        printing,
        holds=qrels_format,
        form=form,
        workers=Workers.of(None, with_progress),
    )
    warn(notes)
    write(text)


def _check_usage(files: tuple[str, ...], form: str | None, printing: list[str], qrels_format: str) -> None:
    """Raise InputError (usage) for files and options that do not go together. `printing`: options of trec_eval's own
    output, given beside -f."""
    if len(files) < 2:
        raise InputError("", "expected a qrels file and a run", usage(), usage=True)
    check_standard_input(files)
    others = [*printing, *([f"-R {qrels_format}"] if qrels_format != "qrels" else [])]
    if form is not None and others:
        raise InputError("-f", f"cannot be combined with {others[0]}", "leave out one of them", usage=True)
