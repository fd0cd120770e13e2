"""`gradedeval diff`: what changed between two runs, how far rankings agree, how well an experiment is reproduced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from gradedeval import kernel
from gradedeval.analysis import ranked_runs, score_matrix
from gradedeval.cli.arguments import check_without_qrels, runs_and_optional_qrels
from gradedeval.cli.options import (
    READS,
    WIDE,
    Option,
    command_line,
    is_given,
    output_options,
    scoring_options,
)
from gradedeval.cli.output import context_option
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import check_mode, pop_settings, resolve_measures, setting_options
from gradedeval.errors import InputError, flag
from gradedeval.kernel.options import ranges, resolve_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.agreement import TOPICS, agreement, reproduction
from gradedeval.questions.diff import Only, diff, two_runs_error

BASELINE = Option("--baseline", metavar="RUN", file=READS, help="Compare every run with this one: one of the two, or "
                  "another file. Default: the first run.")  # fmt: skip
VIEWS = [
    Option("--topic", metavar="ID", help="Show this topic, with qrels document by document."),
    Option(number=ranges.TOP, metavar="N", help=f"Show the N topics that agree least. Default: {TOPICS} in tables, "
           "all elsewhere."),
    Option("--only", type=click.Choice(get_args(Only)), help="Only topics that got worse or better, or whose order "
           "judging could reverse."),
]  # fmt: skip
SETTINGS = [
    *setting_options(agreement),
    *setting_options(reproduction, without=("measures", "persistence")),
    BASELINE,
    *setting_options(diff),
    *VIEWS,
]
USED = ("unseen", "queries", "slices", "replicates")
READING = scoring_options(*USED)
OF_CHANGES = {*settings_of(diff), "baseline", "topic", "top", "only", *USED}
OF_RANKINGS = {*settings_of(agreement), "topic", "top", "unseen", "replicates"}
OF_REPRODUCTION = {*settings_of(reproduction), "unseen", "replicates"}


@command_line("diff", "A B [QRELS]", SETTINGS, READING, output_options(digits="4"), [WIDE])
def command(
    files: tuple[str, ...],
    baseline: str | None,
    topic: str | None,
    top: int | None,
    only: Only | None,
    **options: Any,
) -> None:
    """Show what changed from run A to run B: topics by difference, the worst first, and the documents that made
    it.

    A document entered, left, rose, fell, or stayed where it was and counts otherwise; what they explain sums to the
    difference. Where judging unjudged documents could reverse the order of the two scores of a topic, that is said.

    Without QRELS: how far the rankings agree, by rank-biased overlap (extrapolated, with its residual), overlap and
    Kendall's tau, of two runs by topic, of more as a matrix.

    With --replicates of two systems: scores and contributions are means over their seeds, ranks medians. Without QRELS
    agreement is a mean over pairs of seeds, of each system with itself, too: that is how far the seed moves a ranking.

    \b
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --only worse
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --topic 301
    gradedeval diff runs/*.run
    gradedeval diff *.run qrels.txt --replicates 'old=a-*' --replicates 'new=b-*'
    gradedeval diff base.run new.run qrels.txt -m ap --reproduce a.run b.run
    """
    runs, qrels = runs_and_optional_qrels(files, options)
    if is_given(options["originals"]):
        taken = {"--reproduce": OF_REPRODUCTION, "": OF_CHANGES | OF_RANKINGS}
        check_mode("--reproduce", taken)
        _show_reproduction(runs, qrels, options)
    elif qrels is None:
        check_mode("", {"": OF_RANKINGS, "QRELS": OF_CHANGES}, unmet=("needs qrels", "add QRELS"))
        if context_option("k") is not None:
            raise InputError("-k", "needs qrels", "add QRELS", usage=True)
        _show_agreement(runs, topic, top, options)
    else:
        unmet = ("applies to runs without qrels", "leave it out")
        check_mode("", {"": OF_CHANGES, "--reproduce": OF_REPRODUCTION, "no qrels": OF_RANKINGS}, unmet=unmet)
        _show_changes(runs, qrels, baseline, {"topic": topic, "top": top, "only": only}, options)


def _show_changes(
    runs: list[str], qrels: str, baseline: str | None, views: dict[str, Any], options: dict[str, Any]
) -> None:
    """Print what changed from the baseline, the first run unless another is named."""
    destination = Destination(options)
    settings = pop_settings(diff, options, agreement, reproduction)
    if baseline is not None:
        runs, options["replicates"] = _with_first(runs, baseline, options["replicates"])
    settings = resolve_measures(diff, settings, options)
    if len(runs) < 2:
        raise two_runs_error(runs)
    two = {"baseline": runs[0], "run": runs[1], "qrels": qrels}
    systems = {"baseline": runs, "run": qrels}
    result = call(diff, **(two if len(runs) == 2 else systems), **settings, **options)
    result = replace(result, digits=kernel.options.preset_digits(options["like"]))
    destination.print(result, **views, digits=destination.digits)


def _show_agreement(runs: list[str], topic: str | None, top: int | None, options: dict[str, Any]) -> None:
    """Print how far rankings agree: of two runs, or systems, by topic, of more as a matrix."""
    destination = Destination(options)
    settings = pop_settings(agreement, options, diff, reproduction)
    options.pop("measures_from")
    if top is not None and len(runs) > 2:
        count, noun = len(runs), "runs"
        if options["replicates"] is not None:
            seeds = resolve_options(replicates=options["replicates"]).replicates
            assert seeds is not None
            options["replicates"] = seeds
            count, noun = len(seeds.systems(list(kernel.named_runs(list(runs))))), "systems"
        if count > 2:
            problem = f"applies to two {noun}, and {count} are given"
            raise InputError(flag.top, problem, "leave it out", usage=True)
    check_without_qrels(options)
    named: Any = ranked_runs.name_two_runs(*runs) if len(runs) == 2 else runs
    destination.print(call(agreement, named, **settings, **options), topic=topic, top=top)


def _show_reproduction(runs: list[str], qrels: str | None, options: dict[str, Any]) -> None:
    """Print how well two runs reproduce the originals."""
    destination = Destination(options)
    settings = pop_settings(reproduction, options, diff, agreement)
    if qrels is None:
        check_without_qrels(options)
        if "measures" in settings:
            raise InputError("-m", "needs qrels", "add QRELS", usage=True)
    settings = resolve_measures(reproduction, settings, options)
    destination.print(call(reproduction, runs, qrels=qrels, **settings, **options))


def _with_first(runs: Sequence[str], baseline: str, replicates: Any) -> tuple[list[str], Any]:
    """Return the runs with the baseline, or those of that system, as the first; and the replicates, read."""
    names = list(kernel.named_runs(list(runs)))
    members = {name: [name] for name in names}
    seeds = None if replicates is None else resolve_options(replicates=replicates).replicates
    if seeds is not None:
        members = seeds.systems(names)
    word = score_matrix.full_name(baseline, list(members))
    if seeds is not None and word in members:
        front = [runs[names.index(name)] for name in members[word]]
        return [*front, *(run for run in runs if run not in front)], seeds
    compared = score_matrix.Baseline.read(baseline, runs)
    if compared.saved is not None:
        problem = f"'{baseline}' holds saved scores, and a diff shows rankings"
        raise InputError(flag.baseline, problem, "give the baseline as a run", usage=True)
    if compared.path is None and compared.name not in members:
        raise score_matrix.unknown_baseline_error(baseline, list(members), seeds is not None)
    path = compared.path or runs[names.index(str(compared.name))]
    return [path, *(run for run in runs if run != path)], seeds
