"""Two runs topic by topic: the differences, what judging could make of them, and which it could reverse."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.baseline import with_baseline
from gradedeval.analysis.comparison_notes import unseen_in
from gradedeval.analysis.score_matrix import AnyScores, Matrix
from gradedeval.analysis.topic_differences import topic_differences
from gradedeval.arrays import Bools, Floats
from gradedeval.errors import plural, warn_caller
from gradedeval.plot.appearance import BLACK, BLUE, DARK, LIGHT, PALE, VERMILION, drawn, inches_of, legend, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import LOWER, frame_of, of_measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("measure", "topic", "baseline", "run", "difference", "low", "high", "settled", "sign")
NAMED = 12
"""Topics an inch: of more the names would be too small to read."""
MANY = 400
"""Topics: the bars of more would be thinner than a dot, and so are drawn as areas."""


def topics(
    scores: AnyScores, measure: Any = None, *, baseline: AnyScores | None = None, ax: Axes | None = None
) -> Axes:
    """The difference of two runs on each topic, the largest gain first; a thin line says what judging could make of it,
    and topics whose order judging could reverse are grey.

    scores    what `gradedeval.evaluate` returns of two runs, with residuals="total" to know what judging could do;
              saved scores; or what `gradedeval.topic_differences` returns
    measure   which, where there are several
    baseline  the run that the other is compared with; None: the first
    ax        matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) unless there are two runs, and where it is not said which
    measure.
    """
    matrix, frame = None, scores if hasattr(scores, "columns") and "difference" in scores.columns else None
    if frame is None:
        matrix, name = with_baseline(scores, baseline, False)
        frame = topic_differences(matrix, name)
    frame = of_measure(frame_of(frame, COLUMNS, "topics", "that of gradedeval.topic_differences"), measure, "topics")
    ax = drawn(partial(draw_topics, frame=frame), ax)
    warn_caller(topic_notes(frame, matrix))
    return ax


def topic_panel(frame: pd.DataFrame) -> Panel:
    """The picture of one measure."""
    return Panel(partial(draw_topics, frame=frame), 1.9)


def topic_notes(frame: pd.DataFrame, matrix: Matrix | None = None) -> list[str]:
    """What is not drawn of a measure because it is not known; and what is assumed of the scores it was made from."""
    measure = frame["measure"].iloc[0]
    unknown = int(frame["settled"].isna().sum())
    what = f"{measure}: {unknown} of {len(frame)} topics have no residual"
    what += ", so whether judging could reverse them is not drawn"
    return [*([what] if unknown else []), *(unseen_in(frame, matrix, "settled") if matrix is not None else [])]


def draw_topics(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the topics of one measure."""
    difference, low, high = (frame[name].to_numpy(dtype=float) for name in ("difference", "low", "high"))
    better = frame["sign"].to_numpy() * difference
    open_ = frame["settled"].eq(False).fillna(False).to_numpy(dtype=bool)
    place = np.arange(len(frame))
    before, after = shown(frame["baseline"].iloc[0]), shown(frame["run"].iloc[0])
    kinds = (
        (~open_ & (better > 0), BLUE, f"{after} better"),
        (~open_ & (better < 0), VERMILION, f"{before} better"),
        (open_, PALE, "judging could reverse it"),
    )
    handles: list[Any] = []
    tied = ~open_ & (better == 0)
    ax.use_sticky_edges = False  # a bar that ends in the air is not cut off
    for chosen, color, name in kinds:
        if chosen.any():
            label = f"{name}: {chosen.sum()}"
            handles.append(_draw(ax, chosen, difference, width=0.8, color=color, label=label))
    if tied.any():
        size = 2 if len(frame) <= MANY else 1
        marks: dict[str, Any] = {"marker": "d", "linestyle": "", "markersize": size, "color": BLACK, "clip_on": False}
        handles += ax.plot(place[tied], difference[tied], label=f"tied: {tied.sum()}", **marks)
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    if known.any():
        alpha = 0.7 if len(frame) > MANY else 1
        label = "range if all were judged"
        handles.append(_draw(ax, known, high, low, width=0.25, color=DARK, label=label, alpha=alpha))
    elif tied.all():
        ax.set_ylim(-1, 1)
    ax.axhline(0, color=BLACK, linewidth=0.6)
    ax.grid(axis="y", color=LIGHT, linewidth=0.4)
    room = max(0.7, (8 - len(frame)) / 2)
    ax.set_xlim(-room, len(frame) - 1 + room)
    _name_topics(ax, frame["topic"].tolist())
    ax.set_ylabel(f"difference in {shown(frame['measure'].iloc[0])}{LOWER if frame['sign'].iloc[0] < 0 else ''}")
    legend(ax, handles=handles)


def _draw(ax: Axes, chosen: Bools, ends: Floats, begins: Floats | None = None, *, width: float, **look: Any) -> Any:
    """Draw bars on the chosen topics, from 0 or where they begin to where they end; of very many topics an area."""
    begins = np.zeros(len(ends)) if begins is None else begins
    place = np.arange(len(ends))
    if len(ends) <= MANY:
        return ax.bar(place[chosen], (ends - begins)[chosen], bottom=begins[chosen], width=width, **look)
    first, last = (np.where(chosen, side, 0.0) for side in (begins, ends))
    return ax.fill_between(place, first, last, step="mid", linewidth=0, **look)


def _name_topics(ax: Axes, names: list[str]) -> None:
    """The names of topics below their bars, where there is room for them."""
    inches, _ = inches_of(ax)
    few = len(names) <= inches * NAMED
    ax.set_xticks(range(len(names)) if few else [], [shown(name, 16) for name in names] if few else [])
    if few and max(map(len, names)) * len(names) > inches * 12:
        ax.tick_params(axis="x", labelrotation=90)
    count = f"{len(names)} {plural(len(names), 'topic')}"
    ax.set_xlabel("topic" if few else f"{count}, by difference")
