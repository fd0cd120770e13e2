"""`gradedeval diff`: what changed between two runs, how far rankings agree, how well an experiment is reproduced."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import click

from gradedeval import kernel
from gradedeval.analysis import ranked_runs, score_matrix
from gradedeval.cli.arguments import check_without_qrels, runs_and_optional_qrels
from gradedeval.cli.options import READS, WIDE, Option, command_line, is_given, output_options, scoring_options
from gradedeval.cli.output import context_option
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import check_mode, pop_settings, resolve_measures, setting_options
from gradedeval.errors import InputError, flag
from gradedeval.kernel.options import ranges, resolve_options
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.diff import Diff, Only, diff, two_runs_error
from gradedeval.questions.ranking_agreement import (
    TOPICS,
    RankingAgreement,
    Reproduction,
    ranking_agreement,
    reproduction,
)

if TYPE_CHECKING:
    from gradedeval.kernel.options.metadata import Replicates

BASELINE = Option("--baseline", metavar="RUN", file=READS, help="Compare every run with this one: one of the two, or "
                  "another file. Default: the first run.",
                  short="Run to compare with; the first by default.")  # fmt: skip
VIEWS = [
    Option("--topic", metavar="ID", help="Show this topic, with qrels document by document.",
        short="Show this topic, document by document."),
    Option(number=ranges.TOP, metavar="N", help=f"Show the N topics that agree least. Default: {TOPICS} in tables, "
           "all elsewhere."),
    Option("--only", type=click.Choice(get_args(Only)), help="Only topics that got worse or better, or whose order "
           "judging could reverse.", short="Only worse, better or reversible topics."),
]  # fmt: skip
SETTINGS = [
    *setting_options(ranking_agreement),
    *setting_options(reproduction, without=("measures", "persistence")),
    BASELINE,
    *setting_options(diff),
    *VIEWS,
]
USED = ("unseen", "queries", "slices", "replicates")
READING = scoring_options(*USED)
OF_CHANGES = {*settings_of(diff), "baseline", "topic", "top", "only", *USED}
OF_RANKINGS = {*settings_of(ranking_agreement), "topic", "top", "unseen", "replicates"}
OF_REPRODUCTION = {*settings_of(reproduction), "unseen", "replicates"}
FUNCTIONS = (diff, ranking_agreement, reproduction)


@command_line("diff", "A B [QRELS]", SETTINGS, READING, output_options(digits="4"), [WIDE],
              most_used="-m --topic --top --only --baseline -f -o -k "
              "--gain --top-grade --reproduce --at --queries --wide --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    baseline: str | None,
    topic: str | None,
    top: int | None,
    only: Only | None,
    originals: tuple[str, ...],
    replicates: Any,
    **options: Any,
) -> None:
    """Show changes from run A to run B: topics by difference, the worst first, and the documents behind it.

    A document entered, left, rose, fell, or kept its rank but not its contribution; the contributions sum to the
    difference. The table says if judging could reverse the order of the two scores of a topic.

    Without QRELS: the agreement of rankings, by rank-biased overlap (extrapolated, with its residual), overlap and
    Kendall's tau; of two runs by topic, of more as a matrix.

    With --replicates of two systems: scores and contributions are means over their seeds, ranks medians. Without QRELS
    agreement is a mean over pairs of seeds, also of each system with itself, which shows the effect of the seed.

    \b
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --only worse
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --topic 301
    gradedeval diff runs/*.run
    gradedeval diff *.run qrels.txt --replicates 'old=a-*' --replicates 'new=b-*'
    gradedeval diff base.run new.run qrels.txt -m ap --reproduce a.run b.run
    """
    destination = Destination(options)
    runs, qrels = runs_and_optional_qrels(files, options, needs_qrels=is_given(options["measures"]))
    seeds = resolve_options(replicates=replicates).replicates
    if originals:
        check_mode("--reproduce", {"--reproduce": OF_REPRODUCTION, "": OF_CHANGES | OF_RANKINGS})
        destination.print(_reproduction(runs, originals, qrels, seeds, options))
    elif qrels is None:
        check_mode("", {"": OF_RANKINGS, "QRELS": OF_CHANGES}, without=("needs qrels", "add QRELS"))
        if context_option("k") is not None:
            raise InputError("-k", "needs qrels", "add QRELS", usage=True)
        _check_top(top, runs, seeds)
        destination.print(_agreement(runs, seeds, options), topic=topic, top=top)
    else:
        modes = {"": OF_CHANGES, "--reproduce": OF_REPRODUCTION, "no qrels": OF_RANKINGS}
        check_mode("", modes, without=("applies to runs without qrels", "leave it out"))
        if baseline is not None:
            runs = _with_baseline(runs, baseline, seeds)
        result = _changes(runs, qrels, seeds, options)
        destination.print(result, topic=topic, top=top, only=only, digits=destination.digits)


def _changes(runs: list[str], qrels: str, seeds: Replicates | None, options: dict[str, Any]) -> Diff:
    """Return the changes from the first run, or the system of the first run, to the second."""
    settings = resolve_measures(diff, pop_settings(diff, options, *FUNCTIONS), options)
    if len(runs) < 2:
        raise two_runs_error(runs)
    arguments: Any = (*runs, qrels) if len(runs) == 2 else (runs, qrels)
    result = call(diff, *arguments, replicates=seeds, **settings, **options)
    return replace(result, digits=kernel.options.preset_digits(options["like"]))


def _agreement(runs: list[str], seeds: Replicates | None, options: dict[str, Any]) -> RankingAgreement:
    """Return the agreement of the rankings of runs or systems."""
    settings = pop_settings(ranking_agreement, options, *FUNCTIONS)
    options.pop("measures_from")
    check_without_qrels(options)
    named: Any = ranked_runs.name_two_runs(*runs) if len(runs) == 2 else runs
    return call(ranking_agreement, named, replicates=seeds, **settings, **options)


def _reproduction(
    runs: list[str], originals: tuple[str, ...], qrels: str | None, seeds: Replicates | None, options: dict[str, Any]
) -> Reproduction:
    """Return how well two runs reproduce the originals."""
    settings = pop_settings(reproduction, options, *FUNCTIONS)
    if qrels is None:
        check_without_qrels(options)
        if "measures" in settings:
            raise InputError("-m", "needs qrels", "add QRELS", usage=True)
    settings = resolve_measures(reproduction, settings, options)
    return call(reproduction, runs, originals, qrels, replicates=seeds, **settings, **options)


def _check_top(top: int | None, runs: list[str], seeds: Replicates | None) -> None:
    """Raise InputError (usage) for --top with more than two runs or systems: their agreement is a matrix."""
    if top is None or len(runs) <= 2:
        return
    count, noun = len(runs), "runs"
    if seeds is not None:
        count, noun = len(seeds.systems(list(kernel.named_runs(runs)))), "systems"
    if count > 2:
        raise InputError(flag.top, f"applies to two {noun}, and {count} are given", "leave it out", usage=True)


def _with_baseline(runs: list[str], baseline: str, seeds: Replicates | None) -> list[str]:
    """Return the runs with the baseline, or the runs of the baseline system, first."""
    names = list(kernel.named_runs(runs))
    members = {name: [name] for name in names} if seeds is None else seeds.systems(names)
    name = score_matrix.full_name(baseline, list(members))
    if seeds is not None and name in members:
        first = [runs[names.index(member)] for member in members[name]]
    else:
        resolved = score_matrix.Baseline.read(baseline, runs)
        if resolved.saved is not None:
            problem = f"'{baseline}' holds saved scores, and a diff shows rankings"
            raise InputError(flag.baseline, problem, "give the baseline as a run", usage=True)
        if resolved.path is None and resolved.name not in members:
            raise score_matrix.unknown_baseline_error(baseline, list(members), seeds is not None)
        first = [resolved.path or runs[names.index(str(resolved.name))]]
    return [*first, *(run for run in runs if run not in first)]
