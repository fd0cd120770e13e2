"""`gradedeval clicks fit LOG`: the weights of ranks that are nearest to what users look at."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.cli.arguments import Destination, measure_table
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from, one_file
from gradedeval.cli.clicks.observe import OBSERVATION_OPTIONS
from gradedeval.cli.options import MEASURES_FROM, READS, command_line, measure_option, option, output_options
from gradedeval.cli.output import warn
from gradedeval.clicks.fits import PRECISION, SCALES, Fits, families, fit_observation, fits_document
from gradedeval.clicks.observation import observe_log
from gradedeval.formats import formats_for
from gradedeval.options import numbers

OPTIONS = [
    measure_option("Measure with a range of parameter values, or without one. Default: geometric, Poisson, Zipf and "
                   "log-harmonic weights.", default=()),
    option("--scale", type=click.Choice(SCALES), default="sum", help="Weights of measures: scaled to sum 1 over the "
           "ranks of the observation (sum), as they are (none), or both. Default: sum."),
    option("--weights", metavar="FILE.csv", file=READS, help="Compare with these weights too: a column for each "
           "measure, as `gradedeval weights` writes."),
    option(numbers.PRECISION, default=PRECISION, metavar="X", help="Precision of the fitted values. Default: "
           f"{PRECISION}."),
    *OBSERVATION_OPTIONS,
]  # fmt: skip


@command_line("fit", "LOG", OPTIONS, [MEASURES_FROM], LOG_OPTIONS, output_options(formats_for(), digits="4"))
def command(**keywords: Any) -> None:
    """Find the weights of ranks that are nearest to what users look at, by Kullback-Leibler divergence.

    The measures are printed as -m takes them, the nearest first. They describe what users look at, and do not estimate
    a parameter that users have: `gradedeval clicks models` does. Zhang et al., Information Retrieval 2010.

    Columns: KL, the divergence in nats; within 0.001, the values of the parameter whose divergence is no larger than
    that by more than so many nats; covered, what the weights sum to over the ranks of the observation, before they are
    scaled.

    \b
    gradedeval clicks fit log.tsv
    gradedeval clicks fit log.tsv -m 'rbp(p=0.05..0.99) rbp(p=0.8)' --scale both
    gradedeval clicks fit log.tsv --weights weights.csv
    """
    destination = Destination(keywords)
    found = fits_of(**keywords)
    warn(found.notes)
    destination.deliver(partial(fits_document, found), found.settings)


def fits_of(
    files: tuple[str, ...],
    measures: tuple[str, ...],
    measures_from: tuple[str, ...],
    scale: str,
    weights: str | None,
    precision: float,
    **keywords: Any,
) -> Fits:
    """What the options ask for."""
    log, table = one_file(files), measure_table(measures_from)
    observation = observe_log(log_from(log, keywords), **keywords)
    default = [] if weights else [families(observation)]
    return fit_observation(observation, measures or default, table, scale, weights, precision)
