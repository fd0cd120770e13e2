"""`gradedeval pool`: statistics of a pool, documents to judge next, reusability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradedeval.cli.arguments import (
    check_without_qrels,
    measure_table,
    named_measures,
    note_unused_cutoff,
    runs_and_optional_qrels,
    single_measure,
    unused_cutoff_error,
)
from gradedeval.cli.options import Option, command_line, output_options, scoring_options
from gradedeval.cli.output import STDOUT, context_option, write
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import check_mode, chosen_mode, pop_settings, setting_options
from gradedeval.errors import InputError, Note, emit_notes
from gradedeval.kernel.options.settings import settings_of
from gradedeval.questions.leave_one_out import leave_one_out
from gradedeval.questions.pool import pool
from gradedeval.questions.to_judge import qrels_lines, to_judge

TO_JUDGE = Option("--to-judge", "judged_next", is_flag=True, help="List the unjudged documents to judge next, the most "
                  "informative first.", short="List the documents to judge next.")  # fmt: skip
AS_QRELS = Option(
    "--as-qrels",
    is_flag=True,
    help="Write the documents of --to-judge as qrels lines without grades.",
    short="Write them as qrels lines without grades.",
)
LEAVE_ONE_OUT = Option("--leave-one-out", "one_left_out", is_flag=True, help="Score each run without the judgments "
                       "that only it, or its group, contributed, to test whether the collection is "
                       "reusable.", short="Score each run without its own judgments.")  # fmt: skip
SETTINGS = [
    TO_JUDGE,
    AS_QRELS,
    *setting_options(to_judge, without=("pool_depth", "measure")),
    LEAVE_ONE_OUT,
    *setting_options(leave_one_out, without=("groups", "pool_depth")),
    *setting_options(pool),
]
READING = scoring_options("queries")
FUNCTIONS: dict[str, Callable[..., Any]] = {"--to-judge": to_judge, "--leave-one-out": leave_one_out, "": pool}
"""Flag of a mode -> its function."""
OPTIONS_OF_MODE = {
    "--to-judge": {*settings_of(to_judge), "measures", "as_qrels", "queries"},
    "--leave-one-out": settings_of(leave_one_out),
    "": settings_of(pool),
}
"""Flag of a mode -> the options that it takes and another mode does not."""
FUTURE_GRADES = ("gain", "rel", "top_grade")
"""Options about judgments that --to-judge takes without qrels: they apply to future judgments."""

MEASURES, MEASURE_TO_JUDGE = ("err@20",), "ndcg@10"


@command_line("pool", "RUN... [QRELS]", SETTINGS, READING, output_options(),
              most_used="--to-judge --strategy --budget --as-qrels --leave-one-out --groups -m --at "
              "--pool-depth -f -o -k --gain --queries --quiet")  # fmt: skip
def command(
    files: tuple[str, ...],
    judged_next: bool,
    as_qrels: bool,
    one_left_out: bool,
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    **options: Any,
) -> None:
    """Show statistics of the pool: judged depth and unique documents of each run, and overlap of runs.

    \b
    gradedeval pool runs/*.run qrels.txt --groups teams.txt
    gradedeval pool runs/*.run qrels.txt --to-judge --as-qrels -o next.qrels
    gradedeval pool runs/*.run qrels.txt --leave-one-out -m ap
    """
    mode = chosen_mode({"--to-judge": judged_next, "--leave-one-out": one_left_out})
    check_mode(mode, OPTIONS_OF_MODE)
    check_cutoff(judged_next, one_left_out, measures)
    if as_qrels:
        if options["output_format"] is not None:
            raise InputError("-f", "does not apply to --as-qrels", "leave one of them out", usage=True)
        options["output_format"] = "table"  # whatever the extension of -o
    destination, table = Destination(options), measure_table(measures_from)
    function = FUNCTIONS[mode]
    settings = pop_settings(function, options, *FUNCTIONS.values())
    runs, qrels = _runs_and_qrels(files, mode, options)
    if mode == "--to-judge":
        settings["measure"] = single_measure("--measure", " ".join(measures) or MEASURE_TO_JUDGE, table)
    elif mode:
        settings["measures"] = named_measures(measures or MEASURES, table)
    note_unused_cutoff()
    result = call(function, runs=runs, qrels=qrels, **settings, **options)
    if as_qrels:
        write(qrels_lines(result), destination.output)
    else:
        destination.print(result)
    if not mode and destination.format == "table" and destination.output not in STDOUT:
        hint = "--to-judge --as-qrels lists documents to judge"
        emit_notes([Note("has statistics of the pool, not its documents", hint, place=destination.output)])


def check_cutoff(judged_next: bool, one_left_out: bool, measures: tuple[str, ...]) -> None:
    """Raise InputError (usage) for a cutoff where no measure is named: the depth of the pool is meant."""
    if context_option("k") is not None and not one_left_out and not (judged_next and measures):
        raise unused_cutoff_error("--pool-depth", "the depth of the pool")


def _runs_and_qrels(files: tuple[str, ...], mode: str, options: dict[str, Any]) -> tuple[list[str], str | None]:
    """Return the runs and the qrels; --to-judge and statistics of the pool need no qrels."""
    runs, qrels = runs_and_optional_qrels(files, options, needs_qrels=mode == "--leave-one-out")
    if qrels is None:
        check_without_qrels(options, FUTURE_GRADES if mode == "--to-judge" else ())
        if mode == "--leave-one-out":
            raise InputError(mode, "needs qrels", "add QRELS", usage=True)
    return runs, qrels
