"""`gradedeval history`: scores over time."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.arguments import single_file
from gradedeval.cli.options import command_line, output_options
from gradedeval.cli.results import Destination, print_remarks
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_options
from gradedeval.questions.history import read_history


@command_line("history", "FILE", setting_options(read_history), output_options(digits="4"))
def command(files: tuple[str, ...], **options: Any) -> None:
    """Show the scores of each run over time: score, interval, change from the last and from the best.

    FILE is written by `gradedeval eval --history FILE` and `gradedeval check --history FILE`. Where the qrels or an
    option changed, a mark says what; nothing is compared across it.
    """
    settings = resolve_measures(read_history, pop_settings(read_history, options), options)
    destination = Destination(options)
    destination.print(print_remarks(read_history(single_file(files, "history"), **settings)))
