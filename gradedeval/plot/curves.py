"""Precision over recall, graded and at each threshold."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import plural, warn_caller
from gradedeval.plot.appearance import LIGHT, MANY, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import frame_of, grey_notes, of_measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("measure", "rel", "run", "recall", "precision", "topics")
DASHES = ((4, 1.5), (1, 1), (4, 1, 1, 1), (7, 2), (2, 2), (7, 1, 1, 1, 1, 1))
POINTS = 21
"""Levels of recall of which each is a point."""
TOGETHER = 8
"""Lines that can be told apart on one axes: of more each curve has its own."""


def pr(curves: Any, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """Interpolated precision over recall: the graded curve of each run, and thinner the binary ones, a kind of dashes
    for each threshold. Of more than 7 runs the first 7 are in color, with a warning.

    curves   what `gradedeval.precision_recall` returns, or its frame
    measure  draw only this one, such as "gap" or "gap(rel=2)"; None: all
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, or a measure that is not in it.
    """
    frame = frame_of(curves, COLUMNS, "pr", "what gradedeval.precision_recall returns")
    frame = frame if measure is None else of_measure(frame, measure, "pr")
    ax = drawn(partial(draw_curves, frame=frame), ax)
    warn_caller(grey_notes(frame))
    return ax


def curve_panels(frame: pd.DataFrame) -> list[Panel]:
    """One picture; where it would hold too many lines, one for each measure."""
    if len(frame.groupby(["measure", "run"])) <= TOGETHER:
        return [Panel(partial(draw_curves, frame=frame), 2.1)]
    groups = frame.groupby("measure", sort=False)
    return [Panel(partial(draw_curves, frame=own, top=frame["precision"].max()), 2.0) for _, own in groups]


def draw_curves(ax: Axes, frame: pd.DataFrame, top: float | None = None) -> None:
    """Draw all curves of a frame, up to the precision `top`."""
    runs, measures = (list(dict.fromkeys(frame[name])) for name in ("run", "measure"))
    rel_of = dict(zip(frame["measure"], frame["rel"], strict=True))
    look_of, dash_of = dict(zip(runs, looks(len(runs)), strict=True)), _dashes(rel_of)
    few = frame["recall"].nunique() <= POINTS
    for measure, run in dict.fromkeys(zip(frame["measure"], frame["run"], strict=True)):
        own = frame[(frame["measure"] == measure) & (frame["run"] == run)]
        marker: dict[str, Any] = (
            {"marker": "o", "markersize": 2.5} if few and (np.isnan(rel_of[measure]) or len(measures) == 1) else {}
        )
        marker = marker if run in list(look_of)[:MANY] else {}
        # Between two levels precision is that of the next one.
        steps: dict[str, Any] = {} if few else {"drawstyle": "steps-pre"}
        look = {**look_of[run], **dash_of[measure], **marker, **steps}
        ax.plot(own["recall"], own["precision"], label=f"{run} {measure}", clip_on=False, **look)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.05 * (top or frame["precision"].max()) or 1)
    ax.grid(color=LIGHT, linewidth=0.4)
    topics = int(frame["topics"].max())
    only = f", {_named(measures[0], rel_of)}" if len(measures) == 1 else ""
    ax.set_xlabel("recall (share of what is relevant)")
    ax.set_ylabel(f"precision{only} ({topics} {plural(topics, 'topic')})")
    _explain_lines(ax, look_of, {_named(name, rel_of): dash_of[name] for name in measures})


def _named(measure: str, rel_of: Mapping[str, float]) -> str:
    """What a curve is called: a binary one after its threshold."""
    return shown(measure) if np.isnan(rel_of[measure]) else f"grade ≥ {rel_of[measure]:g}"


def _dashes(rel_of: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """How the curves of each measure are drawn: graded ones as thick lines, binary ones thin, each with its dashes."""
    binary = [name for name, rel in rel_of.items() if not np.isnan(rel)]
    thin = {
        name: {"linestyle": (0, DASHES[number % len(DASHES)]), "linewidth": 0.8} for number, name in enumerate(binary)
    }
    return {name: thin.get(name, {}) if len(rel_of) > 1 else {} for name in rel_of}


def _explain_lines(ax: Axes, look_of: Mapping[str, Any], dash_of: Mapping[str, Any]) -> None:
    """A legend with the colors of runs and the dashes of curves."""
    from matplotlib.lines import Line2D

    named = list(look_of)[:MANY]
    handles = [Line2D([], [], label=shown(run), **look_of[run]) for run in named]
    if rest := len(look_of) - len(named):
        handles.append(Line2D([], [], label=f"{rest} other {plural(rest, 'run')}", color=LIGHT))
    if len(dash_of) > 1:
        handles += [Line2D([], [], label=name, color="#444444", **dash) for name, dash in dash_of.items()]
    legend(ax, handles=handles)
