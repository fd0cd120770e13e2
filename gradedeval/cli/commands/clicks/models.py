"""`gradedeval clicks models`: click models, and how well they predict a log."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.commands.clicks import QRELS_READ_BY, check_count, read_qrels
from gradedeval.cli.options import WRITES, Option, command_line, output_options
from gradedeval.cli.output import write
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import pop_settings, setting_options
from gradedeval.clicks.click_models import DEFAULT, MIN_SEEN, model_text, models, pair, relevance_text
from gradedeval.clicks.log import read_log
from gradedeval.clicks.model_kinds import read_models
from gradedeval.errors import InputError, flag
from gradedeval.kernel.options import ranges

WRITTEN = [
    Option("--write-model", metavar="FILE.json", file=WRITES, help="Write the only model, for `clicks simulate "
           "--model-from`.", short="Write the model, for simulate."),
    Option("--write-relevance", metavar="FILE.csv", file=WRITES, help="Write the relevance of each document by the "
           "only model, as lines of topic,docno,gain,seen, for --fill or as qrels.",
           short="Write the relevance of documents, for --fill."),
    Option(number=ranges.MIN_SEEN, metavar="N", help="Leave out of --write-relevance documents shown in fewer "
           f"than N sessions. Default: {MIN_SEEN}.", short="Leave out what fewer than N sessions saw."),
]  # fmt: skip


@command_line("models", "LOG [QRELS]", setting_options(models, read_log), WRITTEN, QRELS_READ_BY,
              output_options(digits="4 or 6"))  # fmt: skip
def command(
    files: tuple[str, ...], write_model: str | None, write_relevance: str | None, min_seen: int | None, **options: Any
) -> None:
    """Fit click models to a log, and report how well they predict it, or another log.

    LL session is the mean of ln P(clicks of a session), LL rank that of ln P(click or skip of a rank), given the clicks
    above. Perplexity is 2^(-mean log2 P) of a rank, and the arithmetic mean over ranks; unconditional that of P of a
    click regardless of clicks above.

    \b
    gradedeval clicks models train.tsv --test-log test.tsv --model 'dbn ubm'
    gradedeval clicks models log.tsv qrels.txt --tie grade --model dbn
    gradedeval clicks models log.tsv --write-relevance clicks.csv
    """
    settings, reading = pop_settings(models, options), pop_settings(read_log, options)
    _check_written(settings, write_model, write_relevance, min_seen)
    destination = Destination(options)
    check_count(files, "a click log, and perhaps qrels", 1, 2)
    qrels = read_qrels(files[1:], options)
    log = read_log(files[0], **reading)
    test_log = settings.pop("test_log", None)
    test = read_log(test_log, **reading) if test_log else None
    result = call(models, log, qrels=qrels, test_log=test, **settings)
    relevance = relevance_text(result, write_relevance, min_seen) if write_relevance else ""
    if write_model:
        (model,) = result.models.values()
        write(model_text(model), write_model)
    if write_relevance:
        write(relevance, write_relevance)
    destination.print(result)


def _check_written(
    settings: dict[str, Any], write_model: str | None, write_relevance: str | None, min_seen: int | None
) -> None:
    """Raise InputError (usage) if the models cannot be written as requested."""
    specs = read_models(settings.get("models", DEFAULT))
    for place, file in ((flag.write_model, write_model), (flag.write_relevance, write_relevance)):
        if file and len(specs) != 1:
            raise InputError(place, f"{len(specs)} models", "name one with --model", usage=True)
    if write_relevance and settings.get("tie") == "grade":
        hint = "`gradedeval clicks gains` writes the gains of grades"
        raise InputError(flag.write_relevance, "applies to documents, not to grades", hint, usage=True)
    if min_seen is not None and not write_relevance:
        raise InputError(flag.min_seen, f"applies to {flag.write_relevance}", "add it", usage=True)
    pair(settings.get("prior", 1.0))
