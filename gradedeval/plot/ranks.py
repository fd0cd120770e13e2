"""One topic rank by rank: grades as colors, contributions as bars, the score so far as a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.explain import DOCUMENT, Explanation
from gradedeval.arrays import Floats
from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.plot.appearance import BLACK, GREY, LIGHT, VERMILION, drawn, legend, shown, whole_numbers
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import frame_of, of_measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("run", "topic", "measure", "rank", "grade", "contribution", "running")
RANKS = 20
"""As many as a table of `explain` has unless told otherwise."""


def explain(explanation: Any, measure: Any = None, *, ranks: int | None = None, ax: Axes | None = None) -> Axes:
    """How the score of a topic comes about: what the document at each rank contributes, in the color of its grade, and
    the score so far. A hatched bar is what an unjudged document could add. A grade has one color for all runs, topics
    and measures of the same qrels.

    explanation  what `gradedeval.explain` returns; or its frame, whose colors are those of the grades in it
    measure      which, where there are several
    ranks        how many; None: down to the cutoff of the measure, or 20
    ax           matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, one of several runs or topics, where it
    is not said which measure, and for ranks that are not a number from 1.
    """
    ranks = numbers.RANKS.check_or_none(ranks)
    frame = frame_of(explanation, COLUMNS, "explain", "what gradedeval.explain returns")
    own = of_measure(frame, measure, "explain")
    if len(own[["run", "topic"]].drop_duplicates()) > 1:
        raise InputError("plot.explain", "several runs or topics", "give the explanation of one", usage=True)
    cutoff = None
    if isinstance(explanation, Explanation):
        cutoff = {one.measure.label: one.measure.cutoff for one in explanation.measures}[own["measure"].iloc[0]]
    grades = explanation.grades if isinstance(explanation, Explanation) else frame["grade"].dropna().unique().tolist()
    return drawn(partial(draw_ranks, frame=own, ranks=ranks or cutoff or RANKS, grades=grades), ax)


def explanation_panels(explanation: Explanation, ranks: int | None) -> list[Panel]:
    """A picture for each measure."""
    frame = explanation.frame
    return [
        Panel(
            partial(
                draw_ranks,
                frame=frame[frame["measure"] == one.measure.label],
                ranks=ranks or one.measure.cutoff or RANKS,
                grades=explanation.grades,
            ),
            2.0,
        )
        for one in explanation.measures
    ]


def draw_ranks(ax: Axes, frame: pd.DataFrame, ranks: int, grades: Sequence[float]) -> None:
    """Draw the first ranks of one topic by one measure, in the colors of these grades."""
    from matplotlib.patches import Patch

    documents = frame[(frame["part"] == DOCUMENT) & (frame["rank"] <= ranks)] if "part" in frame else frame[:ranks]
    if not len(documents):
        raise InputError("plot.explain", "the ranking has no documents", "choose another topic", usage=True)
    names = ("rank", "contribution", "running", "grade")
    rank, contribution, running, grade = (documents[name].to_numpy(dtype=float) for name in names)
    colors = _colors(grades)
    painted = [colors.get(value, "white") for value in grade.tolist()]
    ax.bar(rank, contribution, width=0.8, color=painted, edgecolor=BLACK, linewidth=0.3, label="contribution")
    handles: list[Any] = [
        Patch(label=name, facecolor=color, edgecolor=BLACK, linewidth=0.3) for name, color in _named(grade, colors)
    ]
    # The grade of every document, whatever it contributes: cells above the axes.
    hatches = ["////" if np.isnan(value) else "" for value in grade.tolist()]
    ax.bar(rank, 0.05, bottom=1.01, width=0.8, color=painted, hatch=hatches, edgecolor=GREY, linewidth=0.3,
           transform=ax.get_xaxis_transform(), clip_on=False, label="grade")  # fmt: skip
    open_ = np.isnan(grade)
    could = documents["could_add"].to_numpy(dtype=float) if "could_add" in documents else np.zeros(len(rank))
    adds = open_ & (could > 0)
    ax.bar(rank[adds], could[adds], bottom=contribution[adds], width=0.8, color="white", edgecolor=GREY, hatch="////",
           linewidth=0.3, label="could add")  # fmt: skip
    if open_.any():
        label = "unjudged, could add" if adds.any() else "unjudged"
        handles.append(Patch(label=label, facecolor="white", edgecolor=GREY, hatch="////", linewidth=0.3))
    (line,) = ax.plot(rank, running, color=VERMILION, marker=".", markersize=3, linewidth=1, label="score so far")
    ax.axhline(0, color=BLACK, linewidth=0.6)
    ax.grid(axis="y", color=LIGHT, linewidth=0.4)
    ax.set_xlim(0.4, rank[-1] + 0.6)
    if not ax.dataLim.height:  # nothing counts
        ax.set_ylim(0, 1)
    whole_numbers(ax)
    head = frame.iloc[0]
    ax.set_xlabel(f"rank in topic {shown(str(head['topic']), 16)} of {shown(str(head['run']))}")
    ax.set_ylabel(f"part of {shown(str(head['measure']))}")
    legend(ax, handles=[*handles, line], bottom=1.06)


def _colors(grades: Sequence[float]) -> dict[float, Any]:
    """The color of each of all grades: grey where it is not relevant."""
    from matplotlib import colormaps

    known = sorted(map(float, grades))
    relevant = [value for value in known if value > 0]
    scale = colormaps["viridis_r"]
    colors: dict[float, Any] = dict.fromkeys(known, LIGHT)
    return colors | {value: scale((place + 1) / len(relevant)) for place, value in enumerate(relevant)}


def _named(drawn: Floats, colors: Mapping[float, Any], most: int = 8) -> list[tuple[str, Any]]:
    """The grades that occur, for a legend: those that are not relevant as one; of very many some, from the lowest to
    the highest."""
    known = sorted(set(drawn[np.isfinite(drawn)].tolist()))
    below, above = ([value for value in known if (value > 0) == relevant] for relevant in (False, True))
    named = [(f"grade {below[0]:g}" if len(below) == 1 else "grade ≤ 0", LIGHT)] if below else []
    places = np.linspace(0, len(above) - 1, min(len(above), most - len(named))).round().astype(int).tolist()
    return named + [(f"grade {above[place]:g}", colors[above[place]]) for place in places]
