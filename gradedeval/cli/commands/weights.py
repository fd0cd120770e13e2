"""`gradedeval weights` and `gradedeval plot weights`: the weight that measures give each rank."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import runs_and_qrels, split_measures
from gradedeval.cli.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.options import Option, command_line, given_flags, output_options, scoring_options
from gradedeval.cli.results import Destination, call, format_at_terminal
from gradedeval.cli.settings import hide_flag, pop_settings, resolve_measures, setting_options
from gradedeval.errors import InputError
from gradedeval.kernel.options import ranges
from gradedeval.questions.weights import RANKS_DRAWN, SHOWN, Weights, weight_panels, weights

FILES = "[MEASURE... | RUN... QRELS]"
SETTINGS = setting_options(weights)
READING = scoring_options()
OUTPUT = output_options(default="csv, at a terminal table", digits="6")
MEASURE, *SCALES = setting_options(weights, without=("ranks",))
RANKS_OF_PICTURE = Option("ranks", number=ranges.WEIGHED_RANKS, metavar="N", help="Draw ranks 1 to N. Default: "
                          f"{RANKS_DRAWN}.")  # fmt: skip
PICTURE_SETTINGS = [MEASURE, RANKS_OF_PICTURE, *SCALES]


@command_line("weights", FILES, SETTINGS, READING, OUTPUT)
def command(files: tuple[str, ...], **options: Any) -> None:
    """Print the weight of each rank, one column per measure.

    Without files: for measures that are sums of gains with fixed weights, such as p@10, dcg, rbp or insq; they may be
    named without -m. With runs and qrels also for ap, rr, sp, bpref and q: the weights implied by each ranking,
    averaged over all of them.

    \b
    gradedeval weights 'rbp(p=0.95)' insq dcg@10 --ranks 50
    gradedeval weights runs/*.run qrels.txt -m 'ap rr' --normalize sum -o w.csv
    """
    destination = Destination(options, format_at_terminal(options["output"], "csv", "table"))
    settings = pop_settings(weights, options)
    shown = None if "ranks" in settings else SHOWN
    destination.print(_weights(files, settings, options), shown=shown, digits=destination.digits)


@command_line("weights", FILES, PICTURE_SETTINGS, PICTURE_OPTIONS, READING)
def picture(files: tuple[str, ...], **options: Any) -> None:
    """Draw the weight of each rank, a line for each measure; with runs and qrels also the background weights of ap,
    rr, sp, bpref and q.

    With --quantity C or L: the probability that a user with these weights goes on from a rank, or stops there.
    """
    canvas = Canvas(options)
    settings = pop_settings(weights, options)
    settings.setdefault("ranks", RANKS_DRAWN)
    result = _weights(files, settings, options)
    canvas.draw(weight_panels(result), result.signature)


def _weights(files: tuple[str, ...], settings: dict[str, Any], options: dict[str, Any]) -> Weights:
    """Return the weights of the measures of -m, and of measures given without -m."""
    files, positional = split_measures(files)
    if positional:
        settings["measures"] = (*positional, *settings.get("measures", ()))
    runs, qrels = runs_and_qrels(files, options) if files else (None, None)
    with hide_flag("-m", positional):
        settings = resolve_measures(weights, settings, options)
    if not files and (flags := given_flags(options)):
        hint = "add RUN... QRELS; --ranks N ends the table"
        raise InputError(flags[0], "applies to runs, and none are given", hint, usage=True)
    return call(weights, runs=runs, qrels=qrels, **settings, **options)
