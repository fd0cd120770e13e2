"""`gradedeval clicks observe LOG`: how likely users are to look at each rank."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.cli.arguments import Destination
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from, one_file
from gradedeval.cli.options import command_line, option, output_options
from gradedeval.cli.output import warn
from gradedeval.clicks.observation import (
    CLICKLESS,
    GAPS,
    LOG_RANKS,
    MU,
    PAGE,
    PER,
    RANKS,
    observation_document,
    observe_log,
)
from gradedeval.formats import formats_for
from gradedeval.options import numbers

OBSERVATION_OPTIONS = [
    option(numbers.MU, default=MU, metavar="X", help="Weight of all users' gaps in those of one user, in "
           f"clicks (Dirichlet smoothing). Default: {MU}."),
    option(numbers.PAGE, default=PAGE, metavar="N", help="Ranks on a page of results; 0: no pages. "
           f"Default: {PAGE}."),
    option(LOG_RANKS, metavar="N", help="Weigh ranks 1 to N. Default: as many as the longest list, or "
           f"{RANKS} where the log shows none."),
    option("--gaps", type=click.Choice(GAPS), default="mean", help="Whether a user's sessions count alike (mean), or "
           "all of the user's clicks (pooled). Default: mean."),
    option("--clickless", type=click.Choice(CLICKLESS), default="count", help="What sessions without a click do. "
           "Default: count; their user looked at rank 1."),
]  # fmt: skip

OPTIONS = [
    *OBSERVATION_OPTIONS,
    option("--per", type=click.Choice(PER), help="A model for each query or user, instead of one of all."),
    *output_options(formats_for(), "csv", digits="6"),
]  # fmt: skip


@command_line("observe", "LOG", OPTIONS, LOG_OPTIONS)
def command(files: tuple[str, ...], **keywords: Any) -> None:
    """Estimate how likely users are to look at each rank, from gaps between clicks, last clicks and ends of pages.

    The CSV of ranks and weights is what `wp(file=...)` and `fit --weights` read. Zhang et al., Information Retrieval
    2010. It describes attention and estimates no parameter of a measure: `gradedeval clicks models` does.

    \b
    gradedeval clicks observe log.tsv -o weights.csv
    gradedeval clicks observe log.tsv --per user -f table
    """
    log = one_file(files)
    destination = Destination(keywords, "csv")
    observation = observe_log(log_from(log, keywords), **keywords)
    warn(observation.notes)
    destination.deliver(partial(observation_document, observation), observation.settings)
