"""`gradedeval clicks gains`: the gains of grades, learned from clicks or preferences."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.commands.clicks import QRELS_READ_BY, check_count, read_qrels
from gradedeval.cli.options import CUTOFF, MEASURES_FROM, command_line, output_options
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import pop_settings, resolve_measures, setting_options
from gradedeval.clicks.learned_gains import gains, read_evidence


@command_line("gains", "LOG QRELS", setting_options(gains, read_evidence), [CUTOFF, MEASURES_FROM],
              QRELS_READ_BY, output_options(digits="4"))  # fmt: skip
def command(files: tuple[str, ...], **options: Any) -> None:
    """Learn the gains of grades from clicks or preferences.

    The CSV is read by `--gain @FILE` or `cascade(utility=FILE)`.

    \b
    gradedeval clicks gains log.tsv qrels.txt -o gains.csv
    gradedeval run.txt qrels.txt -m err@20 --gain @gains.csv
    gradedeval clicks gains log.tsv qrels.txt --from correlation
    gradedeval clicks gains pairs.tsv qrels.txt --from preferences
    gradedeval clicks gains log.tsv qrels.txt --for gap
    """
    destination = Destination(options)
    settings = pop_settings(gains, options)
    reading = pop_settings(read_evidence, options)
    check_count(files, "a click log and qrels", 2, 2)
    settings = resolve_measures(gains, settings, options)
    qrels = read_qrels(files[1:], options)
    evidence = read_evidence(files[0], learn_from=settings.get("learn_from", "model"), **reading)
    destination.print(call(gains, evidence, qrels, **settings))
