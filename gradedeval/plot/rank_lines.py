"""The weights of ranks: W(i), C(i) or L(i) of measures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import InputError
from gradedeval.plot.appearance import LIGHT, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LABELS = {
    "W": "W(i): weight",
    "C": "C(i): probability of going on",
    "L": "L(i): probability of stopping",
}
FEW = 25
"""Ranks of which each is a point."""


def weights(weights: Any, *, log: bool = False, ax: Axes | None = None) -> Axes:
    """W(i), C(i) or L(i) over ranks, a line for each measure.

    weights  what `gradedeval.weights` returns, or its frame
    log      both axes logarithmic; what is 0 is left out
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, and where nothing is left to draw.
    """
    frame = frame_of(weights, ["rank"], "weights", "what gradedeval.weights returns")
    quantity = getattr(weights, "quantity", "W")
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
        marker: dict[str, Any] = {"marker": "osD^vP*"[column % 7]} if len(frame) <= FEW else {}
        ax.plot(rank, own, label=shown(name), **look, **marker)
    if log:
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_ylim(min(0.0, float(np.nanmin(values))), None)
    ax.grid(color=LIGHT, linewidth=0.4)
    ax.set_xlabel("rank i (documents)")
    ax.set_ylabel(LABELS[quantity])
    legend(ax)
