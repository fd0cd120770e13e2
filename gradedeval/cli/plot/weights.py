"""`gradedeval plot weights [RUN... QRELS]`: the weights of ranks as lines."""

from __future__ import annotations

from typing import Any

from gradedeval.analysis import fixed_weights
from gradedeval.analysis.rank_weights import DEPTH
from gradedeval.cli.options import MEASURES_FROM, command_line, option, registered
from gradedeval.cli.output import warn
from gradedeval.cli.plot.canvas import PICTURE_OPTIONS, Canvas
from gradedeval.cli.weights import MEASURE, OPTIONS, weights_of
from gradedeval.plot.rank_lines import RANKS, weight_panel

RANK_OPTION = option(fixed_weights.RANKS, metavar="N", help=f"Draw ranks 1 to N. Default: {RANKS}; with --log "
                     f"{DEPTH}.")  # fmt: skip
LOG = option("--log", is_flag=True, help="Logarithmic axes, down to a millionth of the largest weight of each measure.")


@command_line(
    "weights",
    "[RUN... QRELS]",
    [MEASURE, RANK_OPTION],
    OPTIONS,
    [LOG],
    PICTURE_OPTIONS,
    [MEASURES_FROM],
    registered("reading"),
)
def command(log: bool, **keywords: Any) -> None:
    """Draw the weight of each rank, a line for each measure; with runs and qrels also the background weights of ap, rr,
    sp, bpref and q.

    With --quantity C or L: the probability that a user with these weights goes on from a rank, or stops there.
    """
    canvas = Canvas(keywords)
    keywords["ranks"] = keywords["ranks"] or (DEPTH if log else RANKS)
    weights = weights_of(keywords)
    warn([*weights.notes, *weights.remarks])
    canvas.draw([weight_panel(weights, log)], weights.signature)
