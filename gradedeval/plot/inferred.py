"""Actual precision over recall, and what scores alone tell of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.analysis.informative.run_curves import COUNTS, GRADED
from gradedeval.errors import InputError, did_you_mean, plural, shorten
from gradedeval.plot.appearance import BLACK, COLORS, GREY, LIGHT, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import frame_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("measure", "curve", "recall", "actual", "inferred", "lists")


def informative(result: Any, curve: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Actual precision over recall in black, and a line for each measure: the curve that its score alone determines.
    Dotted is what the number of documents of each grade determines without a score.

    result  what `gradedeval.informativeness` returns, or its `curves`
    curve   `rel=1`, `rel=2`, …: binary precision and recall from that grade on; `graded`; None: the first
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, or a curve that is not in it.
    """
    frame = frame_of(result, COLUMNS, "informative", "what gradedeval.informativeness returns", "curves")
    known = list(dict.fromkeys(frame["curve"]))
    if curve is not None and curve not in known:
        hint = did_you_mean(curve, known) or f"choose from {shorten(known)}"
        raise InputError("plot.informative", f"no curve '{curve}'", hint, usage=True)
    return drawn(partial(draw_inferred, frame=frame[frame["curve"] == (curve or known[0])]), ax)


def inferred_panels(curves: pd.DataFrame) -> list[Panel]:
    """A picture for each kind of curve."""
    return [Panel(partial(draw_inferred, frame=own), 1.9) for _, own in curves.groupby("curve", sort=False)]


def draw_inferred(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw one kind of curve: the actual one, and that of each measure."""
    by_measure = dict(list(frame.groupby("measure", sort=False)))
    counts = by_measure.pop(COUNTS, None)
    widest = max([*by_measure.values(), *([] if counts is None else [counts])], key=lambda own: own["lists"].iloc[0])
    ax.plot(widest["recall"], widest["actual"], color=BLACK, linewidth=1.6, label="actual", zorder=3)
    # Black is the actual curve alone.
    styles = [look for look in looks(len(COLORS) - 1 + len(by_measure)) if look["color"] != BLACK]
    for (measure, own), look in zip(by_measure.items(), styles, strict=False):
        ax.plot(own["recall"], own["inferred"], label=shown(str(measure)), **look)
    if counts is not None:
        ax.plot(counts["recall"], counts["inferred"], color=GREY, linestyle=":", label=COUNTS)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, None)
    ax.grid(color=LIGHT, linewidth=0.4)
    name, lists = str(frame["curve"].iloc[0]), int(frame["lists"].max())
    kind = "graded precision" if name == GRADED else f"precision, grade ≥ {name.removeprefix('rel=')}"
    ax.set_xlabel("recall (share of what is relevant in the list)")
    ax.set_ylabel(f"{kind} ({lists} {plural(lists, 'list')})")
    legend(ax)
