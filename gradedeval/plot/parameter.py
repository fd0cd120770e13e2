"""Agreement over a parameter: the curve of a fit, its best value, and the values that are nearly as good."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.correlate import NAMES
from gradedeval.analysis.parameter_search import NEARLY
from gradedeval.errors import InputError, shorten
from gradedeval.plot.appearance import GREY, LIGHT, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NEEDED = ("measure", "parameter", "value")
SOURCE = "what gradedeval.fit or gradedeval.fit_weights returns"


def fit(result: Any, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """How well measures agree with another over their parameter: a line for each measure and kind of agreement, a point
    at the best value, and thick the values within 0.001 of it.

    result   what `gradedeval.fit` or `gradedeval.fit_weights` returns
    measure  draw only this one, written with its range; None: all
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for anything else, and for measures whose parameters
    differ, unless one is named.
    """
    best, curve = (frame_of(result, (*NEEDED, *more), "fit", SOURCE, part) for part, more in PARTS.items())
    if measure is not None:
        best, curve = (frame[frame["measure"] == str(measure)] for frame in (best, curve))
        frame_of(curve, NEEDED, "fit", f"one of {shorten(dict.fromkeys(result.frame['measure']))}")
    parameters = list(dict.fromkeys(curve["parameter"]))
    if len(parameters) > 1:
        what = f"the measures differ in their parameters ({shorten(parameters)})"
        raise InputError("plot.fit", what, f"name one, as in measure='{curve['measure'].iloc[0]}'", usage=True)
    return drawn(partial(draw_fit, best=best, curve=curve), ax)


PARTS: dict[str, tuple[str, ...]] = {"frame": ("low", "high"), "curve": ()}
"""The frames of a fit, and what each has beside the columns that both need."""


def fit_panels(result: Any) -> list[Panel]:
    """A picture for each parameter."""
    names = dict.fromkeys(result.curve["parameter"])
    parts = [[frame[frame["parameter"] == name] for frame in (result.frame, result.curve)] for name in names]
    return [Panel(partial(draw_fit, best=best, curve=curve), 2.1) for best, curve in parts]


def draw_fit(ax: Axes, best: pd.DataFrame, curve: pd.DataFrame) -> None:
    """Draw the curves of one parameter."""
    goodness = "agreement" if "agreement" in curve else "divergence"
    curve = curve.assign(by=curve.get("by", ""))
    keys = list(dict.fromkeys(zip(curve["measure"], curve["by"], strict=True)))
    several = len({measure for measure, _ in keys}) > 1
    for (measure, by), look in zip(keys, looks(len(keys)), strict=True):
        own, kind = curve[(curve["measure"] == measure) & (curve["by"] == by)], NAMES.get(by, "divergence")
        name = f"{shown(measure)}, {kind}" if several and by else shown(measure) if several else kind
        ax.plot(own["value"], own[goodness], label=name, **look)
        row = best[(best["measure"] == measure) & (best.get("by", by) == by)]
        near = own[own["value"].between(row["low"].iloc[0], row["high"].iloc[0])]
        ax.plot(near["value"], near[goodness], color=look["color"], linewidth=4, alpha=0.3, solid_capstyle="butt")
        ax.plot(row["value"], row[goodness], "o", color=look["color"], markersize=4)
    ax.plot([], [], color=GREY, linewidth=4, alpha=0.4, label=f"within {NEARLY:g} of the best")
    ax.grid(color=LIGHT, linewidth=0.4)
    only = keys[0][0]
    parameter = str(curve["parameter"].iloc[0])
    unit = "k (ranks)" if parameter == "k" else parameter
    ax.set_xlabel(unit if several else f"{unit} of {shown(only)}")
    ax.set_ylabel("Kullback–Leibler divergence (nats)" if goodness == "divergence" else "agreement")
    legend(ax)
