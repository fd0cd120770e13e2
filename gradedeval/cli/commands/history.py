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

    FILE is written by `gradedeval eval --history FILE` and `gradedeval check --history FILE`. A mark names a change of
    the qrels or of an option; scores before and after it are not compared.
    """
    destination = Destination(options)
    settings = resolve_measures(read_history, pop_settings(read_history, options), options)
    history = print_remarks(read_history(single_file(files, "history"), **settings))
    destination.print(history)
