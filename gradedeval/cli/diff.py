"""`gradedeval diff A B [QRELS]`: which topics got worse, which documents made it; without qrels how far runs agree."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import click

from gradedeval.analysis.diff.agreement import AT, PERSISTENCE, AgreementSettings, agreement_of
from gradedeval.analysis.diff.agreement_tables import agreement_document, reproduction_document
from gradedeval.analysis.diff.by_topic import Only, diff_runs
from gradedeval.analysis.diff.overlap import TIES
from gradedeval.analysis.diff.reproduce import TIES_OF_ORIGINALS, reproduction_of
from gradedeval.analysis.diff.tables import diff_document
from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.ranked_runs import two_runs
from gradedeval.cli.arguments import Destination, check_without_qrels, measure_table, runs_and_qrels_if_any
from gradedeval.cli.options import (
    MEASURES_FROM,
    READS,
    command_line,
    given,
    is_given,
    measure_option,
    one_registered,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import warn
from gradedeval.errors import InputError, plural
from gradedeval.formats import formats_for
from gradedeval.measures.definition import Measure
from gradedeval.measures.parse import parse_measures
from gradedeval.options import Options, numbers
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs
from gradedeval.scoring.score_tables import preset_digits

OPTIONS = [
    option("--topic", metavar="ID", help="Show this topic, with qrels document by document."),
    option(numbers.TOP, metavar="N", help="Show the N topics that are worst, or agree least. "
           "Default: 10 in tables, all elsewhere."),
    option("--only", type=click.Choice(get_args(Only)), help="Only topics that got worse or better, or whose order "
           "judging could reverse."),
    option("--reproduce", nargs=2, metavar="BASE ADVANCED", file=READS, help="How well A and B reproduce these two "
           "original runs: KTU and RBO of the rankings, with qrels RMSE, effect ratio and ΔRI too."),
    option(numbers.PERSISTENCE, metavar="P", help="Of rank-biased overlap: the probability of going on from "
           f"rank to rank. Default: {PERSISTENCE}."),
    option(numbers.AT, metavar="N", help=f"Depth of the overlap column. Default: {AT}."),
    option("--rbo-ties", type=click.Choice(TIES), help="Tied documents in rank-biased overlap: the mean over their "
           "orders (a), the same corrected for what ties leave open (b), or a shared rank (w). Default: a, with "
           "--reproduce b."),
    measure_option("Measure to compare by.", default=DEFAULT),
    one_registered("unseen"),
    *output_options(formats_for(), digits="4"),
]  # fmt: skip

WITH_QRELS, WITHOUT = ("only", "measures"), ("persistence", "at", "rbo_ties")


@command_line("diff", "A B [QRELS]", OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(measures_from: tuple[str, ...], topic: str | None, top: int | None, **keywords: Any) -> None:
    """Show what changed from run A to run B: topics by difference, the worst first, and the documents that made it.

    A document entered, left, rose, fell, or stayed where it was and counts otherwise; what they explain sums to the
    difference. Where judging unjudged documents could reverse the order of the two scores of a topic, that is said.

    Without QRELS: how far the rankings agree, by rank-biased overlap (extrapolated, with its residual), overlap and
    Kendall's tau, of two runs by topic, of more as a matrix.

    \b
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --only worse
    gradedeval diff before.run after.run qrels.txt -m ndcg@10 --topic 301
    gradedeval diff runs/*.run
    gradedeval diff base.run new.run qrels.txt -m ap --reproduce a.run b.run
    """
    runs, qrels = runs_and_qrels_if_any(keywords["files"], keywords)
    destination = Destination(keywords)
    keywords.pop("files")
    own = {name: keywords.pop(name) for name in (*WITH_QRELS, *WITHOUT, "reproduce")}
    originals = own.pop("reproduce")
    wanted: tuple[str, ...] = WITH_QRELS if qrels is not None else WITHOUT
    if originals:
        wanted = ("persistence", "rbo_ties", *(["measures"] if qrels else []))
    shown = {} if not originals else {"topic": topic, "top": top}
    unused = given(shown | {name: value for name, value in own.items() if name not in wanted})
    _check(unused, qrels, bool(originals))
    if qrels is None:
        check_without_qrels(keywords)
        if top is not None and len(runs) > 2:
            what = f"applies to two runs, and {len(runs)} are given"
            raise InputError("--top", what, "leave it out", usage=True)
    options = resolve_options(**keywords)
    chosen = parse_measures(own["measures"] or DEFAULT, measure_table(measures_from))
    persistence = own["persistence"] if is_given(own["persistence"]) else PERSISTENCE
    ties = own["rbo_ties"] or (TIES_OF_ORIGINALS if originals else "a")
    settings = AgreementSettings(persistence, own["at"] or AT, ties)
    if originals:
        named = [*named_runs(runs).items()], [*named_runs(list(originals)).items()]
        reproduced = reproduction_of(*named, qrels, chosen, options, settings, Workers.of())
        warn(reproduced.notes)
        destination.deliver(partial(reproduction_document, reproduced))
    elif qrels is None:
        named_each = two_runs(*runs) if len(runs) == 2 else named_runs(runs)
        agreed = agreement_of(named_each, options, settings, Workers.of(None, with_progress))
        warn(agreed.notes)
        destination.deliver(partial(agreement_document, agreed.of_topic(topic), top=top, topic=topic))
    else:
        _with_qrels(runs, qrels, chosen, options, own["only"], topic, top, destination)


def _check(unused: list[str], qrels: str | None, reproduced: bool) -> None:
    """Raise InputError (usage) for the first of the flags given that have nothing to say here."""
    if unused:
        flag = unused[0].replace("--measures", "-m")
        if qrels is None and flag in ("-m", "--only") and not (reproduced and flag == "--only"):
            raise InputError(flag, "needs qrels", "add QRELS", usage=True)
        what = "does not apply to --reproduce" if reproduced else "applies to runs without qrels"
        raise InputError(flag, what, "leave it out", usage=True)


def _with_qrels(
    runs: list[str],
    qrels: str,
    chosen: list[Measure],
    options: Options,
    only: Only | None,
    topic: str | None,
    top: int | None,
    destination: Destination,
) -> None:
    """Two runs, topic by topic."""
    if len(runs) != 2:
        what, hint = f"{len(runs)} {plural(len(runs), 'run')} given", "with qrels diff compares two: diff A B QRELS"
        raise InputError("", what, hint, usage=True)
    whole = diff_runs(two_runs(*runs), qrels, chosen, options, Workers.of())
    shown = whole.only(only, topic)
    digits = preset_digits(options) if destination.digits is None else destination.digits
    warn(whole.notes)
    destination.deliver(partial(diff_document, whole, shown, top=top, alone=topic is not None, digits=digits))
