"""Discriminative power: the achieved significance levels of all pairs of runs in descending order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.plot.appearance import GREY, LIGHT, drawn, legend, looks, shown, whole_numbers
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import check_numbers, frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SOURCE = "what gradedeval.power or gradedeval.compare returns"


def power(result: Any, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """The achieved significance levels of all pairs of runs, from the highest to the lowest, a line for each measure:
    the nearer to the axes, the more a measure tells apart.

    result  what `gradedeval.power` returns, its `curve`; or the frame of `gradedeval.compare`, whose p values are drawn
    alpha   the level of the horizontal line
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, and for an alpha that is not a level.
    """
    alpha = numbers.ALPHA.check(alpha)
    curve = frame_of(result, ["measure"], "power", SOURCE, "curve")
    level = next((name for name in ("level", "p") if name in curve.columns), None)
    if level is None:
        raise InputError("plot.power", "the frame has no levels and no p values", f"give {SOURCE}", usage=True)
    check_numbers(curve, [level], "power", SOURCE)
    return drawn(partial(draw_levels, curve=curve, level=level, alpha=alpha), ax)


def level_panel(curve: pd.DataFrame, alpha: float) -> Panel:
    """The picture of a curve of `power`."""
    return Panel(partial(draw_levels, curve=curve, level="level", alpha=alpha), 2.1)


def draw_levels(ax: Axes, curve: pd.DataFrame, level: str, alpha: float) -> None:
    """Draw the levels of each measure in descending order."""
    groups = list(curve.groupby("measure", sort=False))
    most = max(len(own) for _, own in groups)
    for number, ((measure, own), look) in enumerate(zip(groups, looks(len(groups)), strict=True)):
        levels = np.sort(own[level].dropna().to_numpy(dtype=float))[::-1]
        marker: dict[str, Any] = {"marker": "osD^vP*"[number % 7]} if most <= 30 else {}
        ax.plot(np.arange(1, len(levels) + 1), levels, label=shown(str(measure)), **look, **marker)
    ax.axhline(alpha, color=GREY, linewidth=0.7, linestyle="--", label=f"α = {alpha:g}")
    ax.set_ylim(0, None)
    ax.set_xlim(0.5, most + 0.5)
    ax.grid(color=LIGHT, linewidth=0.4)
    ax.set_xlabel("pair of runs, by level" if most > 1 else "pair of runs")
    ax.set_ylabel("achieved significance level" if level == "level" else "p")
    whole_numbers(ax)
    legend(ax)
