"""`gradedeval plot weights [RUN... QRELS]`: the weights of ranks as lines."""

from __future__ import annotations

from typing import Any

from gradedeval.cli.options import MEASURES_FROM, command_line, option, registered
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.weights import OPTIONS, weights_of
from gradedeval.plot.rank_lines import weight_panel

LOG = option("--log", is_flag=True, help="Logarithmic axes.")


@command_line("weights", "[RUN... QRELS]", OPTIONS, [LOG], PICTURE_OPTIONS, [MEASURES_FROM], registered("reading"))
def command(log: bool, **keywords: Any) -> None:
    """Draw the weight of each rank, a line for each measure; with runs and qrels also the background weights of ap, rr,
    sp, bpref and q.

    With --quantity C or L: the probability that a user with these weights goes on from a rank, or stops there.
    """
    canvas = Canvas(keywords)
    weights = weights_of(keywords)
    warn([*weights.notes, *weights.remarks])
    canvas.draw([weight_panel(weights, log)], weights.signature)
