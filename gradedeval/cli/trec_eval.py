"""`gradedeval trec_eval QRELS RUN...`: trec_eval's command line, and its output byte for byte."""

from __future__ import annotations

import click

from gradedeval.cli.output import say, write
from gradedeval.errors import InputError
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import FORMATS
from gradedeval.trec_eval.evaluate import evaluated, evaluated_by_groups, rules_of
from gradedeval.trec_eval.help import manual
from gradedeval.trec_eval.measures import FORMATS as QRELS_FORMATS
from gradedeval.trec_eval.measures import chosen_lines
from gradedeval.trec_eval.messages import adapt_note, adapted_errors
from gradedeval.trec_eval.output_lines import UNLIMITED, VERSIONS, Setting
from gradedeval.trec_eval.printing import Wanted, read_norms
from gradedeval.version import __version__

RESULTS_FORMATS = ("trec_results",)


@click.command("trec_eval", add_help_option=False)
@click.argument("files", nargs=-1, metavar="QRELS RUN...")
@click.option("-q", "--query_eval_wanted", "by_topic", is_flag=True, help="The scores of each topic as well.")
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Average over all topics of QRELS; one that the run lacks scores 0. Default: topics in both files.",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=click.IntRange(min=1),
    metavar="N",
    help="The lowest relevant grade. Default: 1.",
)
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="No summary over the topics.")
@click.option(
    "-M",
    "--Max_retrieved_per_topic",
    "depth",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N best documents of each topic.",
)
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Drop documents that are not judged.")
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "documents",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many documents the collection has, for utility.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE[.PARAMETERS]",
    help="A measure, a set of "
    "them (official, all_trec, set), or one in our notation, as in err@20. Several -m add up. Default: "
    "official.",
)
@click.option(
    "-Z",
    "--Zscore",
    "norms",
    metavar="FILE",
    help="Print z scores, by FILE's lines of topic, measure, mean and standard deviation.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "qrels_format",
    type=click.Choice(list(QRELS_FORMATS)),
    default="qrels",
    help="What QRELS holds. Default: qrels.",
)
@click.option(
    "-T",
    "--Results_format",
    "results_format",
    type=click.Choice(RESULTS_FORMATS),
    default="trec_results",
    help="What RUN holds.",
)
@click.option("-D", "--Debug_level", "debug", metavar="N", help="Read, and of no effect.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="One of gradedeval's formats in place of trec_eval's three columns.",
)
@click.option(
    "--compat", type=click.Choice(VERSIONS), default="10", help="The version of trec_eval to follow. Default: 10."
)
@click.option("-v", "--version", "version", is_flag=True, help="The version, and no more.")
@click.option("-h", "--help", "wants_help", is_flag=True, help="This; with -m about these measures.")
@click.pass_context
def command(
    context: click.Context,
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
    """Score runs as trec_eval does, with the same words and the same output.

    QRELS holds lines of `topic iteration docno grade`, RUN of `topic Q0 docno rank score tag`; what a line of RUN has
    beyond that is ignored. `-h -m NAME` explains measures.
    """
    if version:
        write(f"gradedeval {__version__}, as trec_eval {compat}\n")
        return
    if wants_help:
        write(manual(context.get_help(), measures, qrels_format))
        return
    _check_words(files, form, [word for word, given in (("-Z", norms), ("-n", no_summary)) if given], qrels_format)
    lines = chosen_lines(measures or ["official"], Setting(compat, documents or UNLIMITED), form=qrels_format)
    wanted = Wanted(by_topic, not no_summary, read_norms(norms) if norms else None, compat != "9")
    options = rules_of(complete, level, depth, judged_only, compat)
    runs = named_runs(list(files[1:]))
    if qrels_format == "qrels":
        outcomes = evaluated(runs, files[0], lines, options, wanted, form, Workers.of(None, with_progress))
    else:
        outcomes = evaluated_by_groups(runs, files[0], qrels_format, lines, options, wanted)
    with adapted_errors():
        found = list(outcomes)  # a fault in the last run leaves nothing half written
    for note in (note for outcome in found for note in outcome.notes):
        say(adapt_note(note))
    write("".join(outcome.text for outcome in found))


def _check_words(files: tuple[str, ...], form: str | None, printing: list[str], qrels_format: str) -> None:
    """Raise InputError (usage) for files and options that do not go together. `printing`: options that -f leaves no
    room."""
    if len(files) < 2:
        raise InputError("", "a qrels file and a run are needed", "gradedeval trec_eval QRELS RUN...", usage=True)
    if files.count("-") > 1:
        raise InputError("-", "standard input can be read once", "name a file for the other", usage=True)
    others = [*printing, *([f"-R {qrels_format}"] if qrels_format != "qrels" else [])]
    if form is not None and others:
        raise InputError("-f", f"cannot be had with {others[0]}", "leave out one of them", usage=True)
