"""`gradedeval clicks models LOG [QRELS]`: click models fitted to a log, and how well they predict another."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.cli.arguments import Destination, usage
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from
from gradedeval.cli.clicks.qrels_options import QRELS_OPTIONS, qrels_from
from gradedeval.cli.options import READS, WRITES, command_line, option, output_options
from gradedeval.cli.output import warn, write
from gradedeval.clicks.click_models import ITERATIONS, ClickModel, fit_models, pair
from gradedeval.clicks.items import TIES
from gradedeval.clicks.kinds import FIT, KINDS, read_models
from gradedeval.clicks.model_files import model_text
from gradedeval.clicks.model_tables import MIN_SEEN, models_document, relevance_document
from gradedeval.errors import InputError
from gradedeval.formats import formats_for, render
from gradedeval.options import numbers

DEFAULT = "dbn"

OPTIONS = [
    option("-m", "--model", "models", multiple=True, metavar="MODEL", help=f"Click model: {', '.join(KINDS)}; with its "
           f"parameter as in 'dbn(gamma={FIT})' or 'reader(p=0.8)'. Repeat -m, or separate models by spaces. Default: "
           f"{DEFAULT}."),
    option("--test", metavar="LOG", file=READS, help="Try the models on this log. Default: on the log that they are "
           "fitted to."),
    option("--tie", type=click.Choice(TIES), default="document", help="What has parameters of its own: each document "
           "of a topic, or each grade of the QRELS. Default: document."),
    option("--prior", default="1", metavar="A[,B]", help="Clicks and skips that each document or grade is counted with "
           "beside those of the log. Default: 1, one of each."),
    option(numbers.ITERATIONS, default=ITERATIONS, metavar="N", help="Iterations of EM, at most. "
           f"Default: {ITERATIONS}."),
    option(numbers.TOLERANCE, default=0.0, metavar="X", help="End EM once the mean log-likelihood of a session "
           "rises by less. Default: 0, all iterations."),
    option(numbers.FLOOR, default=0.0, metavar="X", help="Raise the probability of what a session did at a "
           "rank to X: the cascade model gives 0 to a second click. Default: 0."),
    option("--write-model", metavar="FILE.json", file=WRITES, help="Write the only model, for `clicks simulate "
           "--model`."),
    option("--write-relevance", metavar="FILE.csv", file=WRITES, help="Write the relevance of each document by the "
           "only model, as lines of topic,docno,gain,seen, for --fill."),
    option(numbers.MIN_SEEN, metavar="N", help="Leave out of --write-relevance what fewer than N "
           f"sessions showed. Default: {MIN_SEEN}."),
    *output_options(formats_for(), digits="4 or 6"),
]  # fmt: skip


@command_line("models", "LOG [QRELS]", OPTIONS, LOG_OPTIONS, QRELS_OPTIONS)
def command(
    files: tuple[str, ...],
    models: tuple[str, ...],
    test: str | None,
    write_model: str | None,
    write_relevance: str | None,
    min_seen: int | None,
    **keywords: Any,
) -> None:
    """Fit click models to a log, and report how well they predict it, or another log.

    LL session is the mean of ln P(clicks of a session), LL rank that of ln P(click or skip of a rank), given the clicks
    above. Perplexity is 2^(-mean log2 P) of a rank, and the arithmetic mean over ranks; unconditional that of P of a
    click whatever is clicked above.

    \b
    gradedeval clicks models train.tsv --test test.tsv -m 'dbn dbn(gamma=fit) ubm'
    gradedeval clicks models log.tsv qrels.txt --tie grade -m dbn
    gradedeval clicks models log.tsv --write-relevance clicks.csv
    """
    if not 1 <= len(files) <= 2:
        raise InputError("", "expected a click log, and perhaps qrels", usage(), usage=True)
    destination = Destination(keywords)
    chosen = read_models(models or (DEFAULT,))
    for flag, file in (("--write-model", write_model), ("--write-relevance", write_relevance)):
        if file and len(chosen) != 1:
            raise InputError(flag, f"{len(chosen)} models", "name one with -m", usage=True)
    if write_relevance and keywords["tie"] == "grade":
        hint = "`gradedeval clicks gains` writes the gains of grades"
        raise InputError("--write-relevance", "applies to documents, not to grades", hint, usage=True)
    if min_seen is not None and not write_relevance:
        raise InputError("--min-seen", "applies to --write-relevance", "add it", usage=True)
    keywords["prior"] = pair(keywords["prior"])
    reading = {name: keywords[name] for name in ("clicks_as", "depth", "idle", "lenient")}
    qrels = qrels_from(files[1:], keywords)
    log = log_from(files[0], keywords)
    tried = log_from(test, reading) if test else None
    result = fit_models(log, chosen, test=tried, qrels=qrels, **keywords)
    model, least = next(iter(result.models.values())), MIN_SEEN if min_seen is None else min_seen
    warn([*result.notes, *(_too_few(model, least, write_relevance) if write_relevance else [])])
    if write_model:
        write(model_text(model), write_model)
    if write_relevance:
        write(render(partial(relevance_document, result, least), "csv"), write_relevance)
    destination.deliver(partial(models_document, result), result.settings)


def _too_few(model: ClickModel, least: int, place: str) -> list[str]:
    """What is said of documents that are left out, as fewer sessions showed them. Raises InputError where all are."""
    few, documents = int((model.seen < least).sum()), len(model.seen)
    what = f"{few} of {documents} documents were shown in fewer than {least} sessions"
    if few == documents:
        raise InputError(place, what, "give a lower --min-seen", usage=True)
    return [f"{place}: {what}, and are left out; --min-seen says how many it takes"] if few else []
