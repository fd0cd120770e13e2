"""`gradedeval clicks simulate RUN... QRELS`: a click log of users whose behaviour is known."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import measure_table, one_measure, run_and_qrels, runs_and_qrels_if_any
from gradedeval.cli.options import MEASURES_FROM, OUTPUT_FILE, READS, command_line, option, registered
from gradedeval.cli.output import warn, write
from gradedeval.clicks.model_files import read_model
from gradedeval.clicks.read import read_log
from gradedeval.clicks.simulation import DEPTH, OF_MODEL, SEED, SESSIONS, simulated
from gradedeval.errors import InputError
from gradedeval.options import OF_MEASURES, numbers, refuse_options
from gradedeval.options.presets import resolve_options
from gradedeval.scoring.run_names import named_runs

OPTIONS = [
    option("--as", "user", metavar="MEASURE", help="Users are those of a measure: of err, rr or cascade they stop at "
           "the first click, made with the probability of the gain; of a C/W/L measure they go on as it says, and "
           "click with the probability of the gain."),
    option("--model", metavar="FILE.json", file=READS, help="Users are those of a click model that `clicks models "
           "--write-model` wrote."),
    option(numbers.SESSIONS, default=SESSIONS, metavar="N", help=f"Default: {SESSIONS}."),
    option(numbers.SEED, default=SEED, metavar="N", help="The same seed draws the same sessions. "
           f"Default: {SEED}."),
    option("--lists", metavar="LOG", file=READS, help="Show the lists of this log, as often as there, and not those of "
           "runs."),
    option("--each", is_flag=True, help="Write a line for each session, in the order drawn, not one for identical ones "
           "with their count."),
    OUTPUT_FILE,
]  # fmt: skip


@command_line("simulate", "RUN... [QRELS]", OPTIONS, [MEASURES_FROM], registered("measuring"))
def command(
    files: tuple[str, ...],
    user: str | None,
    model: str | None,
    measures_from: tuple[str, ...],
    sessions: int,
    seed: int,
    lists: str | None,
    each: bool,
    output: str | None,
    **keywords: Any,
) -> None:
    """Draw sessions of users whose behaviour is known, as a click log.

    The first documents of each topic of each run are a list (10 of them, or as --depth says), and each session shows
    one of the lists, drawn uniformly.

    \b
    gradedeval clicks simulate runs/*.run qrels.txt --as err -o log.tsv
    gradedeval clicks simulate runs/*.run qrels.txt --as 'rbp(p=0.8)' --seed 7
    gradedeval clicks simulate runs/*.run --model dbn.json
    """
    if (user is None) == (model is None):
        what = "users of a measure or of a click model" if user is None else "cannot be combined with --model"
        raise InputError("--as" if user else "", what, "give either --as MEASURE or --model FILE", usage=True)
    if model is not None:
        refuse_options(keywords, OF_MEASURES, OF_MODEL)
        if measures_from:
            raise InputError("--measures-from", f"does not apply to {OF_MODEL}", "leave it out", usage=True)
    users = read_model(model) if model else one_measure("--as", user, measure_table(measures_from))
    shown = None if lists is None else read_log(lists, depth=keywords["depth"] or DEPTH)
    if lists is not None:
        runs, qrels = None, files[0] if files else None
        if len(files) > 1:
            raise InputError("--lists", "cannot be combined with runs", "give QRELS alone", usage=True)
    else:
        found, qrels = (run_and_qrels if user else runs_and_qrels_if_any)(files, keywords)
        runs = named_runs(found)
    options = resolve_options(**keywords)
    log = simulated(users, runs, qrels, options, lists=shown, sessions=sessions, seed=seed, each=each)
    warn(log.notes)
    write("".join(log.lines()), output)
