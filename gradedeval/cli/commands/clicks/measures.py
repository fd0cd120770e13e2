"""`gradedeval clicks measures`: the click measures of lists."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.commands.clicks import QRELS_READ_BY, check_count, read_qrels
from gradedeval.cli.options import command_line, output_options
from gradedeval.cli.results import Destination, call
from gradedeval.cli.settings import pop_settings, setting_options
from gradedeval.clicks.click_measures import measures
from gradedeval.clicks.log import read_log


@command_line("measures", "LOG [QRELS]", setting_options(measures, read_log), QRELS_READ_BY,
              output_options(digits="4"))  # fmt: skip
def command(files: tuple[str, ...], **options: Any) -> None:
    """Report the click measures of each list shown for a topic, averaged over its sessions.

    \b
    qctr    clicks                      maxrr   1 / the first clicked rank
    uctr    whether there is a click    meanrr  mean of 1 / clicked ranks
    ss      whether a click is on a     minrr   1 / the last clicked rank
            relevant document           plc     clicks / the last clicked rank

    Each is 0 in a session without a click; ss needs QRELS. Chapelle et al., CIKM 2009, section 6.2.
    """
    destination = Destination(options)
    settings, reading = pop_settings(measures, options), pop_settings(read_log, options)
    check_count(files, "a click log, and perhaps qrels", 1, 2)
    qrels = read_qrels(files[1:], options)
    log = read_log(files[0], **reading)
    destination.print(call(measures, log, qrels, **settings))
