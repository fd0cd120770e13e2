"""`gradedeval clicks observe`: the examination probabilities of ranks."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.commands.clicks import check_count
from gradedeval.cli.options import command_line, output_options
from gradedeval.cli.results import Destination, call, format_at_terminal
from gradedeval.cli.settings import pop_settings, setting_options
from gradedeval.clicks.log import read_log
from gradedeval.clicks.observation import observe


@command_line("observe", "LOG", setting_options(observe, read_log),
              output_options(default="csv, at a terminal table", digits="4"))  # fmt: skip
def command(files: tuple[str, ...], **options: Any) -> None:
    """Estimate examination probabilities of ranks from gaps between clicks, last clicks and ends of pages.

    The CSV of ranks and weights is read by `wp(file=...)` and `fit --to-weights`. Zhang et al., Information Retrieval
    2010. It describes attention and estimates no parameter of a measure: `gradedeval clicks models` does.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval clicks observe log.tsv --per user -f table
    """
    destination = Destination(options, format_at_terminal(options["output"], "csv", "table"))
    settings, reading = pop_settings(observe, options), pop_settings(read_log, options)
    check_count(files, "a click log", 1, 1)
    log = read_log(files[0], **reading)
    destination.print(call(observe, log, **settings))
