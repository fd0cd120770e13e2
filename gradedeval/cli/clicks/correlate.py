"""`gradedeval clicks correlate LOG QRELS -m A -m B`: how well measures agree with clicks."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gradedeval.cli.arguments import Destination, measure_table, usage
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from
from gradedeval.cli.clicks.measures import SS_REL_OPTION
from gradedeval.cli.clicks.qrels_options import QRELS_OPTIONS
from gradedeval.cli.options import MEASURES_FROM, command_line, measure_option, one_registered, option, output_options
from gradedeval.cli.output import warn
from gradedeval.clicks.agreement import (
    DECILE,
    UNJUDGED,
    ClickCorrelations,
    Settings,
    click_correlations_document,
    correlate_log,
)
from gradedeval.errors import InputError
from gradedeval.formats import formats_for
from gradedeval.measures.parse import DEFAULT, parse_measures
from gradedeval.options import numbers
from gradedeval.options.presets import resolve_options
from gradedeval.scoring.evaluate import qrels_for

OPTIONS = [
    measure_option("Measure to correlate, such as err or 'ap(rel=3)'."),
    option("--by", metavar="COLUMN", help="Correlate each part of the log alone: by a column of it, or by 'decile', "
           "topics in ten parts by their number of sessions."),
    SS_REL_OPTION,
    option("--unjudged", type=click.Choice(UNJUDGED), default="drop", help="Lists with a document that is not judged: "
           "leave them out, or keep them. Default: drop."),
]  # fmt: skip

PAIR_OPTIONS = [
    option(numbers.PAIRS, metavar="N", help="Correlate the differences of N pairs of simulated engines instead, "
           "each of which shows a list of each topic that has several. Chapelle et al. draw 1000."),
    option(numbers.SEED, default=0, metavar="N", help="Seed of these pairs. Default: 0."),
    *output_options(formats_for(), digits="3"),
]  # fmt: skip

GAIN_OPTIONS = [one_registered(name) for name in ("gain", "top_grade", "negative", "fill")]
READING_OPTIONS = [MEASURES_FROM, *GAIN_OPTIONS, *LOG_OPTIONS, *QRELS_OPTIONS]


@command_line("correlate", "LOG QRELS", OPTIONS, PAIR_OPTIONS, READING_OPTIONS)
def command(**keywords: Any) -> None:
    """Correlate measures of lists with what users clicked on them, over all lists, weighted by sessions.

    Chapelle et al., CIKM 2009, section 6: tables 2 to 5 and figure 4, and with --pairs algorithm 3 and table 6.

    \b
    gradedeval clicks correlate log.tsv qrels.txt -m 'err ap(rel=2)' --depth 10
    gradedeval clicks correlate log.tsv qrels.txt -m 'err dcg' --by decile
    gradedeval clicks correlate log.tsv qrels.txt -m 'err dcg' --pairs 1000
    """
    destination = Destination(keywords)
    found = correlations_of(**keywords)
    warn(found.notes)
    destination.deliver(partial(click_correlations_document, found), found.settings)


def correlations_of(
    files: tuple[str, ...], measures: tuple[str, ...], measures_from: tuple[str, ...], **keywords: Any
) -> ClickCorrelations:
    """What the options ask for."""
    if len(files) != 2:
        raise InputError("", "expected a click log and qrels", usage(), usage=True)
    chosen = parse_measures(measures or DEFAULT, measure_table(measures_from))
    own = ("by", "ss_rel", "unjudged", "pairs", "seed")
    settings = Settings(**{name: keywords.pop(name) for name in own if name in keywords})
    depth, keywords["depth"] = keywords["depth"], None  # of the lists that count
    log = log_from(files[0], keywords, [settings.by] if settings.by not in (None, DECILE) else [])
    options = resolve_options(**keywords, depth=depth)
    return correlate_log(log, qrels_for({}, files[1], options), chosen, options, settings)
