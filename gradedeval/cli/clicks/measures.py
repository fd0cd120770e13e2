"""`gradedeval clicks measures LOG [QRELS]`: what clicks say of each list."""

from __future__ import annotations

from functools import partial
from typing import Any

from gradedeval.cli.arguments import Destination, usage
from gradedeval.cli.clicks.log_options import LOG_OPTIONS, log_from
from gradedeval.cli.clicks.qrels_options import QRELS_OPTIONS, qrels_from
from gradedeval.cli.options import command_line, option, output_options
from gradedeval.cli.output import warn
from gradedeval.clicks.click_measures import SS_REL, click_measures, click_measures_document
from gradedeval.errors import InputError
from gradedeval.formats import formats_for
from gradedeval.options import numbers

SS_REL_OPTION = option(numbers.SS_REL, default=SS_REL, metavar="GRADE", help="Lowest grade that search success "
                       f"counts. Default: {SS_REL}.")  # fmt: skip
OPTIONS = [SS_REL_OPTION, *output_options(formats_for(), digits="4")]


@command_line("measures", "LOG [QRELS]", OPTIONS, LOG_OPTIONS, QRELS_OPTIONS)
def command(files: tuple[str, ...], ss_rel: float, **keywords: Any) -> None:
    """Report the click measures of each list that was shown for a topic, averaged over its sessions.

    \b
    qctr    clicks                      maxrr   1 / the first clicked rank
    uctr    whether there is a click    meanrr  mean of 1 / clicked ranks
    ss      whether a click is on a     minrr   1 / the last clicked rank
            relevant document           plc     clicks / the last clicked rank

    Each is 0 in a session without a click; ss needs QRELS. Chapelle et al., CIKM 2009, section 6.2.
    """
    if not 1 <= len(files) <= 2:
        raise InputError("", "expected a click log, and perhaps qrels", usage(), usage=True)
    destination = Destination(keywords)
    qrels = qrels_from(files[1:], keywords)
    found = click_measures(log_from(files[0], keywords), qrels, ss_rel)
    warn(found.notes)
    destination.deliver(partial(click_measures_document, found.frame, found.settings), found.settings)
