"""The weights of ranks: W(i), C(i) or L(i) of measures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.plot.appearance import LIGHT, drawn, legend, looks, shown, whole_numbers
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import check_numbers, frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LABELS = {
    "W": "W(i): weight",
    "C": "C(i): probability of going on",
    "L": "L(i): probability of stopping",
}
FEW = 25
"""Points that a line marks one by one."""
RANKS = 50
"""As many as linear axes show unless told otherwise."""
LEAST = 1e-6
"""Part of the largest weight of a measure down to which logarithmic axes go."""
SOURCE = "what gradedeval.weights returns"


def weights(weights: Any, *, log: bool = False, ranks: int | None = None, ax: Axes | None = None) -> Axes:
    """W(i), C(i) or L(i) over ranks, a line for each measure.

    weights  what `gradedeval.weights` returns, or its frame
    log      both axes logarithmic, down to a millionth of the largest of each measure; what is 0 is left out
    ranks    how many; None: the first 50, with log all
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, for ranks that are not numbers from 1,
    and where nothing is left to draw.
    """
    ranks = numbers.RANKS.check_or_none(ranks)
    frame = frame_of(weights, ["rank"], "weights", SOURCE)
    if len(frame.columns) == 1:
        raise InputError("plot.weights", "the frame has no column but rank", f"give {SOURCE}", usage=True)
    check_numbers(frame, frame.columns, "weights", SOURCE)
    quantity = getattr(weights, "quantity", "W")
    ranks = ranks or (None if log else RANKS)
    frame = frame if ranks is None else frame[frame["rank"] <= ranks]
    return drawn(partial(draw_weights, frame=frame, quantity=quantity, log=log), ax)


def weight_panel(weights: Any, log: bool) -> Panel:
    """The picture of some weights."""
    return Panel(partial(draw_weights, frame=weights.frame, quantity=weights.quantity, log=log), 2.1)


def draw_weights(ax: Axes, frame: pd.DataFrame, quantity: str, log: bool) -> None:
    """Draw the columns of a frame over its ranks."""
    rank = frame["rank"].to_numpy(dtype=float)
    names = [str(name) for name in frame.columns if name != "rank"]
    values = frame[names].to_numpy(dtype=float)
    if log and not (values > 0).any():
        raise InputError("--log", "no weight is above 0", "leave it out", usage=True)
    for column, (name, look) in enumerate(zip(names, looks(len(names)), strict=True)):
        own = np.where(values[:, column] > 0, values[:, column], np.nan) if log else values[:, column]
        marker: dict[str, Any] = {"marker": "osD^vP*"[column % 7]} if np.isfinite(own).sum() <= FEW else {}
        ax.plot(rank, own, label=shown(name), **look, **marker)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
        largest = values.max(axis=0, where=values > 0, initial=0)
        floor = LEAST * largest[largest > 0].min()
        if values.min(where=values > 0, initial=np.inf) < floor:
            ax.set_ylim(floor, 2 * largest.max())
    else:
        ax.set_ylim(min(0.0, float(values.min(where=np.isfinite(values), initial=0))), None)
        ax.set_xlim(0.5, rank.max() + 0.5)
        whole_numbers(ax)
    ax.grid(color=LIGHT, linewidth=0.4)
    ax.set_xlabel("rank i (documents)")
    ax.set_ylabel(LABELS[quantity])
    legend(ax)
