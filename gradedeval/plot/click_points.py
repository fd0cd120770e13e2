"""Click measures of lists against a measure: a point for each list, as large as its sessions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError, did_you_mean, shorten
from gradedeval.plot.appearance import GREY, LIGHT, MANY, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import LOWER, frame_of, lower, of_measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("measure", "clicks", "correlation")
SOURCE = "what gradedeval.clicks.correlate returns"
CLICKS = "meanrr"
LEAST, MOST = 4.0, 40.0
"""Areas of points, in square points: of a list with hardly a session, and of that with most."""


def clicks(correlations: Any, measure: Any = None, clicks: str = CLICKS, *, ax: Axes | None = None) -> Axes:
    """A click measure of lists against a measure of them: a point for each list, its area by its sessions, and the
    correlation in the legend.

    correlations  what `gradedeval.clicks.correlate` returns; where it is split, each part has its color
    measure       which measure, where there are several
    clicks        which click measure
    ax            matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for anything else, and where it is not said which measure.
    """
    frame = frame_of(correlations, COLUMNS, "clicks", SOURCE)
    if getattr(correlations, "lists", None) is None:
        raise InputError("plot.clicks", "there are no lists to draw", f"give {SOURCE} without pairs", usage=True)
    own = of_measure(frame, measure, "clicks")
    known = list(dict.fromkeys(own["clicks"]))
    if clicks not in known:
        hint = did_you_mean(clicks, known) or f"choose from {shorten(known)}"
        raise InputError("plot.clicks", f"no click measure '{clicks}'", hint, usage=True)
    return drawn(partial(draw_clicks, frame=own[own["clicks"] == clicks], lists=correlations.lists), ax)


def click_panels(correlations: Any, clicks: str) -> list[Panel]:
    """A picture for each measure."""
    frame = correlations.frame[correlations.frame["clicks"] == clicks]
    measures = dict.fromkeys(frame["measure"])
    return [
        Panel(partial(draw_clicks, frame=frame[frame["measure"] == name], lists=correlations.lists), 2.4)
        for name in measures
    ]


def draw_clicks(ax: Axes, frame: pd.DataFrame, lists: pd.DataFrame) -> None:
    """Draw the lists by the measure and the click measure of a frame, a row of which is the correlation of a part."""
    measure, name = (str(frame[column].iloc[0]) for column in ("measure", "clicks"))
    most = float(lists["sessions"].max())
    for number, (row, look) in enumerate(zip(frame.to_dict("records"), looks(len(frame)), strict=True)):
        part = lists[lists["by"] == row["by"]] if "by" in lists else lists
        color = look["color"] if number < MANY else GREY
        area = LEAST + (MOST - LEAST) * part["sessions"].to_numpy(dtype=float) / most
        ax.scatter(part[measure], part[name], s=area, facecolors="none", edgecolors=color, linewidths=0.6,
                   label=_label(row))  # fmt: skip
    ax.grid(color=LIGHT, linewidth=0.4)
    ax.set_xlabel(f"{shown(measure)}, by topic and list{LOWER if lower(measure) else ''}")
    ax.set_ylabel(f"{name} of clicks, mean over sessions")
    legend(ax)


def _label(row: Mapping[Any, Any]) -> str:
    """The part of the log and its correlation; nothing correlates where one side is the same everywhere."""
    value = row["correlation"]
    told = "—" if value is None or value != value else f"{value:.3f}"
    return f"{shown(str(row['by']))}: {told}" if "by" in row else f"correlation {told}"
