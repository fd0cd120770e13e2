"""`gradedeval trec_eval QRELS RUN...`: trec_eval's command line, and its output byte for byte."""

from __future__ import annotations

from dataclasses import replace

import click

from gradedeval import forked
from gradedeval.cli.output import say, write
from gradedeval.dropin.manual import manual
from gradedeval.dropin.names import UNLIMITED, VERSIONS, Setting, chosen_lines
from gradedeval.dropin.printing import Wanted, printed, read_norms
from gradedeval.dropin.scored import needed, read_qrels, score_run
from gradedeval.errors import Fault
from gradedeval.evaluation import named_runs
from gradedeval.render import FORMATS, render
from gradedeval.rules import Rules, rules_for
from gradedeval.scores import Scores
from gradedeval.scoring import Scorer
from gradedeval.version import __version__

QRELS_FORMATS = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
RESULTS_FORMATS = ("trec_results",)


@click.command("trec_eval", add_help_option=False)
@click.argument("files", nargs=-1, metavar="QRELS RUN...")
@click.option("-q", "--query_eval_wanted", "by_topic", is_flag=True, help="The scores of each topic as well.")
@click.option("-c", "--complete_rel_info_wanted", "complete", is_flag=True, help="Average over all topics of QRELS; one "
              "that the run lacks scores 0. Default: topics in both files.")
@click.option("-l", "--level_for_rel", "level", type=click.IntRange(min=1), metavar="N", help="The lowest relevant "
              "grade. Default: 1.")
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="No summary over the topics.")
@click.option("-M", "--Max_retrieved_per_topic", "depth", type=click.IntRange(min=1), metavar="N", help="Only the N "
              "best documents of each topic.")
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Drop documents that are not judged.")
@click.option("-N", "--Number_docs_in_coll", "documents", type=click.IntRange(min=1), metavar="N", help="How many "
              "documents the collection has, for utility.")
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE[.PARAMETERS]", help="A measure, a set of "
              "them (official, all_trec, set), or one in our notation, as in err@20. Several -m add up. Default: "
              "official.")
@click.option("-Z", "--Zscore", "norms", metavar="FILE", help="Print z scores, by FILE's lines of topic, measure, mean "
              "and standard deviation.")
@click.option("-R", "--Rel_info_format", "qrels_format", type=click.Choice(QRELS_FORMATS), default="qrels",
              help="What QRELS holds. Default: qrels.")
@click.option("-T", "--Results_format", "results_format", type=click.Choice(RESULTS_FORMATS), default="trec_results",
              help="What RUN holds.")
@click.option("-D", "--Debug_level", "debug", metavar="N", help="Read, and of no effect.")
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), help="One of gradedeval's formats in place of "
              "trec_eval's three columns.")
@click.option("--compat", type=click.Choice(VERSIONS), default="10", help="The version of trec_eval to follow. "
              "Default: 10.")
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
    if qrels_format != "qrels":
        raise Fault("-R", qrels_format, "", usage=True)
    if len(files) < 2:
        raise Fault("", "a qrels file and a run are needed", "gradedeval trec_eval QRELS RUN...", usage=True)
    setting = Setting(compat, documents or UNLIMITED)
    lines = chosen_lines(measures or ["official"], setting)
    wanted = Wanted(by_topic, not no_summary, read_norms(norms) if norms else None, compat != "9")
    rules = _rules(complete, level, depth, judged_only, compat)
    forked.allow()
    qrels = read_qrels(files[0], rules)
    scorer = Scorer(qrels, needed(lines), rules)
    notes, scores = list(scorer.notes), []
    for name, path in named_runs(list(files[1:])).items():
        scored = score_run(name, path, scorer, lines)
        notes += scored.notes
        if form is None:
            write(printed(scored, lines, wanted))
        scores.append(scored.scores)
    for note in notes:
        say(note)
    if form is not None:
        write(render(Scores(scores, scorer.measures, qrels, rules, notes), form, by_topic=by_topic))


def _rules(complete: bool, level: int | None, depth: int | None, judged_only: bool, compat: str) -> Rules:
    rules = rules_for(
        "trec_eval",
        topics="qrels" if complete else "both",
        rel=level,
        depth=depth,
        judged_only=judged_only,
        scores="float32" if compat == "9" else None,
    )
    return replace(rules, extra_fields=True)
