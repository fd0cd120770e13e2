"""`gradedeval pool RUN... [QRELS]`: what runs give the pool, what to judge next, what the collection is worth."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.analysis.explain import DEFAULT
from gradedeval.analysis.pool import to_judge as judging
from gradedeval.analysis.pool.assessors import assessors, assessors_document
from gradedeval.analysis.pool.leave_one_out import leave_out, left_out_document
from gradedeval.analysis.pool.statistics import AT, pool_document, pool_of
from gradedeval.analysis.pool.to_judge import JudgingSettings, judge_next, qrels_lines, to_judge_document
from gradedeval.cli.arguments import (
    Destination,
    check_without_qrels,
    is_qrels,
    measure_table,
    one_measure,
    runs_and_qrels_if_any,
)
from gradedeval.cli.options import (
    MEASURES_FROM,
    READS,
    command_line,
    is_given,
    measure_option,
    option,
    output_options,
    registered,
)
from gradedeval.cli.output import warn, write
from gradedeval.errors import InputError
from gradedeval.formats import formats_for
from gradedeval.measures.parse import parse_measures
from gradedeval.options import numbers
from gradedeval.options.presets import resolve_options
from gradedeval.parallel.progress import with_progress
from gradedeval.parallel.workers import Workers
from gradedeval.scoring.run_names import named_runs

MEASURED = ("gain", "rel", "top_grade", "max_gain")
"""What matters to what could rise, without judgments too."""
MODES = ("to_judge", "leave_one_out", "agreement")

OPTIONS = [
    option("--to-judge", is_flag=True, help="List the unjudged documents to judge next, the most telling first."),
    option("--as-qrels", is_flag=True, help="Write what --to-judge lists as lines of a qrels file that lack only the "
           "grade."),
    option("--strategy", type=click.Choice(judging.STRATEGIES), help="How --to-judge weighs documents: by their best "
           "rank (depth), by RBP weight as methods A, B and C of Moffat, Webber & Zobel, by what could rise "
           f"(residual), or by what could reverse the order of pairs of runs (pairs). Default: {judging.DEFAULT}."),
    option(numbers.BUDGET, metavar="N", help="Judgments that --to-judge asks for at most. "
           f"Default: {judging.BUDGET}."),
    option(numbers.PERSISTENCE, metavar="P", help="Of the RBP strategies: the probability of going on from "
           f"rank to rank. Default: {judging.PERSISTENCE}."),
    option("--leave-one-out", is_flag=True, help="Score each run without the judgments that it, or its group, alone "
           "gave: is the collection reusable?"),
    option("--agreement", metavar="QRELS2", file=READS, help="Compare the judgments with a second qrels file: "
           "confusion of grades, kappa, alpha, and the order of runs."),
    option("--groups", metavar="FILE", file=READS, help="Lines of run and group: which runs are of one team."),
    option(numbers.POOL_DEPTH, metavar="N", help="Documents below rank N are no part of what a "
           "run gives the pool. Default: all are."),
    option(numbers.AT, metavar="N", help=f"Depth of judged@ and overlap@. Default: {AT}."),
    measure_option(f"Measure of --leave-one-out and --agreement; of --to-judge ({judging.MEASURE}).", default=DEFAULT),
    *output_options(formats_for()),
]  # fmt: skip

TAKES = {
    "": ("groups", "pool_depth", "at"),
    "to_judge": ("strategy", "budget", "persistence", "pool_depth", "measures", "as_qrels"),
    "leave_one_out": ("groups", "pool_depth", "measures"),
    "agreement": ("measures",),
}


@command_line("pool", "RUN... [QRELS]", OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(measures_from: tuple[str, ...], **keywords: Any) -> None:
    """Show what runs give a pool of judgments: how deep each is judged, what it alone found, how far runs overlap.

    \b
    gradedeval pool runs/*.run qrels.txt --groups teams.txt
    gradedeval pool runs/*.run qrels.txt --to-judge --as-qrels -o next.qrels
    gradedeval pool runs/*.run qrels.txt --leave-one-out -m ap
    gradedeval pool runs/*.run qrels.txt --agreement second.qrels
    """
    own = {name: keywords.pop(name) for name in dict.fromkeys([*MODES, *(one for of in TAKES.values() for one in of)])}
    mode = _mode(own)
    alone = mode == "agreement" and len(keywords["files"]) == 1 and is_qrels(keywords["files"][0])
    runs, qrels = ([], keywords["files"][0]) if alone else runs_and_qrels_if_any(keywords["files"], keywords)
    if qrels is None:
        check_without_qrels(keywords, MEASURED if mode == "to_judge" else ())
    if own["as_qrels"]:
        if keywords["form"] is not None:
            raise InputError("-f", "does not apply to --as-qrels", "leave one of them out", usage=True)
        keywords["form"] = "table"
    destination = Destination(keywords)
    keywords.pop("files")
    if mode in ("leave_one_out", "agreement") and qrels is None:
        raise InputError(_flag(mode), "needs qrels", "add QRELS", usage=True)
    options, table, named = resolve_options(**keywords), measure_table(measures_from), named_runs(runs) if runs else {}
    chosen = parse_measures(own["measures"] or DEFAULT, table)
    workers, depth = Workers.of(None, with_progress), own["pool_depth"]
    found: Any
    make: Any
    if mode == "to_judge":
        measure = one_measure("-m", " ".join(own["measures"]) or judging.MEASURE, table)
        found, make = judge_next(named, qrels, measure, options, _settings(own), workers), to_judge_document
    elif mode == "leave_one_out":
        found = leave_out(named, qrels, chosen, options, groups=own["groups"], pool_depth=depth, workers=workers)
        make = left_out_document
    elif mode == "agreement":
        found, make = assessors(named, qrels, own["agreement"], chosen, options, workers), assessors_document
    else:
        more = {"groups": own["groups"], "at": own["at"] or AT, "pool_depth": depth}
        found, make = pool_of(named, qrels, options, **more, workers=workers), pool_document
    warn(found.notes)
    if own["as_qrels"]:
        write(qrels_lines(found), destination.output)
    else:
        destination.deliver(partial(make, found))


def _settings(own: dict[str, Any]) -> JudgingSettings:
    """How --to-judge chooses."""
    persistence = own["persistence"] if is_given(own["persistence"]) else judging.PERSISTENCE
    strategy, budget = own["strategy"] or judging.DEFAULT, own["budget"] or judging.BUDGET
    return JudgingSettings(strategy, budget, persistence, own["pool_depth"])


def _mode(own: dict[str, Any]) -> str:
    """What is asked for. Raises InputError (usage) for two things at once, or an option that goes with another."""
    asked = [name for name in MODES if is_given(own[name])]
    if len(asked) > 1:
        what = f"cannot be combined with {_flag(asked[1])}"
        raise InputError(_flag(asked[0]), what, "ask for one at a time", usage=True)
    mode = asked[0] if asked else ""
    for name, value in own.items():
        if name not in MODES and is_given(value) and name not in TAKES[mode]:
            takers = [_flag(other) for other, names in TAKES.items() if other and name in names]
            hint = f"add {' or '.join(takers)}" if takers and not mode else "leave it out"
            what = f"does not apply to {_flag(mode)}" if mode else "does not apply to the statistics"
            raise InputError(_flag(name), what, hint, usage=True)
    return mode


def _flag(name: str) -> str:
    return "-m" if name == "measures" else f"--{name.replace('_', '-')}"
