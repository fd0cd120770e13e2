"""`gradedeval pool`: statistics of a pool, what to judge next, whether it is reusable, agreement with other qrels."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import (
    check_without_qrels,
    is_qrels,
    measure_table,
    named_measures,
    one_measure,
    runs_and_perhaps_qrels,
    tell_unused_cutoff,
)
from gradedeval.cli.options import (
    CUTOFF,
    MEASURES_FROM,
    Option,
    command_line,
    one_registered,
    output_options,
    registered,
)
from gradedeval.cli.output import asked_for, show
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import check_mode, only_one, setting_options, take_settings
from gradedeval.errors import InputError
from gradedeval.kernel.formats import formats_for
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.assessors import assessor_agreement
from gradedeval.questions.leave_one_out import leave_one_out
from gradedeval.questions.pool import pool
from gradedeval.questions.to_judge import qrels_lines, to_judge

TO_JUDGE = Option("--to-judge", "judged_next", is_flag=True, help="List the unjudged documents to judge next, the most "
                  "informative first.")  # fmt: skip
AS_QRELS = Option("--as-qrels", is_flag=True, help="Write the documents of --to-judge as qrels lines without grades.")
LEAVE_ONE_OUT = Option("--leave-one-out", "one_left_out", is_flag=True, help="Score each run without the judgments "
                       "that only it, or its group, contributed, to test whether the collection is "
                       "reusable.")  # fmt: skip
SETTINGS = [
    TO_JUDGE,
    AS_QRELS,
    *setting_options(to_judge, without=("pool_depth", "measure")),
    LEAVE_ONE_OUT,
    *setting_options(leave_one_out, without=("groups", "pool_depth")),
    *setting_options(assessor_agreement, without=("measures",)),
    *setting_options(pool),
]
READING = [CUTOFF, *MEASURES_FROM, one_registered("queries"), *registered("reading")]
TAKEN = {
    "--to-judge": {*settings_of(to_judge), "measures", "as_qrels", "queries"},
    "--leave-one-out": settings_of(leave_one_out),
    "--agreement": settings_of(assessor_agreement),
    "": settings_of(pool),
}
"""Flag of a mode -> the names of the options that not all modes take, and it does."""
UNJUDGED = ("gain", "rel", "top_grade")
"""Options about judgments that --to-judge takes without any: those that are to come."""

FUNCTIONS = (to_judge, leave_one_out, assessor_agreement, pool)
MEASURES, MEASURE_TO_JUDGE = ("err@20",), "ndcg@10"


@command_line("pool", "RUN... [QRELS]", SETTINGS, READING, output_options(formats_for()))
def command(
    files: tuple[str, ...],
    judged_next: bool,
    as_qrels: bool,
    one_left_out: bool,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    **options: Any,
) -> None:
    """Show statistics of the pool: how deep each run is judged, what only it found, how far runs overlap.

    \b
    gradedeval pool runs/*.run qrels.txt --groups teams.txt
    gradedeval pool runs/*.run qrels.txt --to-judge --as-qrels -o next.qrels
    gradedeval pool runs/*.run qrels.txt --leave-one-out -m ap
    gradedeval pool runs/*.run qrels.txt --agreement second.qrels
    """
    mode = only_one({"--to-judge": judged_next, "--leave-one-out": one_left_out, "--agreement": options["other"]})
    check_mode(mode, TAKEN)
    if asked_for("k") is not None and not mode:
        hint = "add --to-judge or --leave-one-out or --agreement"
        raise InputError("-k", "cuts measures, and none are taken here", hint, usage=True)
    if as_qrels and options["form"] is not None:
        raise InputError("-f", "does not apply to --as-qrels", "leave one of them out", usage=True)
    options["form"] = "table" if as_qrels else options["form"]
    destination, table = Destination(options), measure_table(measures_from)
    if mode == "--to-judge":
        settings = take_settings(to_judge, options, *FUNCTIONS)
        runs, qrels = _runs_for_statistics(files, options, UNJUDGED)
        settings["measure"] = one_measure("--measure", " ".join(measures) or MEASURE_TO_JUDGE, table)
        tell_unused_cutoff()
        documents = call(to_judge, runs, qrels, **settings, **options)
        if as_qrels:
            show(qrels_lines(documents), destination.output)
        else:
            destination.print(documents)
    elif mode:
        function: Any = leave_one_out if mode == "--leave-one-out" else assessor_agreement
        settings = take_settings(function, options, *FUNCTIONS)
        compared, qrels = _runs_and_qrels(files, options, mode)
        chosen = named_measures(measures or MEASURES, table)
        tell_unused_cutoff()
        destination.print(call(function, runs=compared, qrels=qrels, measures=chosen, **settings, **options))
    else:
        settings = take_settings(pool, options, *FUNCTIONS)
        runs, qrels = _runs_for_statistics(files, options)
        destination.print(call(pool, runs, qrels, **settings, **options))


def _runs_for_statistics(
    files: tuple[str, ...], options: dict[str, Any], used: tuple[str, ...] = ()
) -> tuple[list[str], str | None]:
    """Return the runs and the qrels, if there are any; without them options about judgments are refused but for those
    that are `used` all the same."""
    runs, qrels = runs_and_perhaps_qrels(files, options)
    if qrels is None:
        check_without_qrels(options, used)
    return runs, qrels


def _runs_and_qrels(files: tuple[str, ...], options: dict[str, Any], mode: str) -> tuple[list[str] | None, str]:
    """Return the runs, if there are any, and the qrels, which --leave-one-out and --agreement need."""
    if mode == "--agreement" and len(files) == 1 and is_qrels(files[0]):
        return None, files[0]
    runs, qrels = runs_and_perhaps_qrels(files, options)
    if qrels is None:
        check_without_qrels(options)
        raise InputError(mode, "needs qrels", "add QRELS", usage=True)
    return runs, qrels
