"""How measures agree: the matrix of agreement as a heat map, and two measures by run and topic as a scatter."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.analysis.correlate import NAMES
from gradedeval.analysis.correlate import correlate as correlated
from gradedeval.analysis.score_matrix import AnyScores, Matrix, comparable
from gradedeval.errors import InputError, plural
from gradedeval.plot.appearance import GREY, LIGHT, drawn, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import LOWER, frame_of, lower

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("measure", "other", "kind", "agreement")


def correlate(agreement: Any, *, ax: Axes | None = None) -> Axes:
    """The agreement of measures as a heat map with the numbers.

    agreement  what `gradedeval.correlate` returns; or scores, as it takes them
    ax         matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` as `gradedeval.correlate` does, and (usage) for another frame.
    """
    is_frame = hasattr(agreement, "columns") and "agreement" in agreement.columns
    frame = frame_of(agreement if is_frame else correlated(agreement), COLUMNS, "correlate", "that of correlate")
    return drawn(partial(draw_agreement, frame=frame), ax)


def agreement_panel(frame: pd.DataFrame) -> Panel:
    """The heat map, as high as wide."""
    return Panel(partial(draw_agreement, frame=frame), 0.9 + 0.36 * max(4, frame["measure"].nunique()))


def draw_agreement(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the matrix of measures."""
    names = list(dict.fromkeys([*frame["measure"], *frame["other"]]))
    cells = np.full((len(names), len(names)), np.nan)
    for measure, other, value in zip(frame["measure"], frame["other"], frame["agreement"], strict=True):
        cells[names.index(measure), names.index(other)] = value
    # Colors from the lowest agreement, so that they differ; where some disagree, white is 0.
    lowest = float(np.min(cells[np.isfinite(cells)], initial=1))
    low = -1.0 if lowest < 0 else min(lowest, 0.95)
    ax.imshow(cells, cmap="RdBu" if lowest < 0 else "Blues", vmin=low, vmax=1, aspect="auto")
    for (row, column), value in np.ndenumerate(cells):
        depth = abs(value) if lowest < 0 else (value - low) / (1 - low)
        text = "—" if np.isnan(value) else f"{value:.2f}"
        size = "medium" if len(names) <= 8 else "x-small"
        color = "white" if depth > 0.6 else "black"
        ax.text(column, row, text, ha="center", va="center", color=color, fontsize=size)
    labels = [shown(name) for name in names]
    ax.set_xticks(range(len(names)), labels, rotation=90 if max(map(len, labels)) * len(names) > 36 else 0)
    ax.set_yticks(range(len(names)), labels)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    kinds = list(dict.fromkeys(frame["kind"]))
    said = NAMES.get(kinds[0], kinds[0])
    if len(kinds) > 1:
        said = f"above the diagonal: {said}\nbelow: {NAMES.get(kinds[1], kinds[1])}"
    falling = [shown(name) for name in names if lower(name)]
    turned = f"\nof {', '.join(falling)} the lower score is the better one" if falling else ""
    ax.set_xlabel(f"{said}{turned}")
    ax.set_ylabel("measure")


def scatter(scores: AnyScores, x: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Two measures against each other: a point for each run and topic that both score.

    scores  what `gradedeval.evaluate` returns, or saved scores
    x, y    the measures; None: the first and the second
    ax      matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) where there are not two measures, or nothing that both
    score.
    """
    matrix = comparable(scores)
    return drawn(partial(draw_scatter, matrix=matrix, columns=_two(matrix, x, y)), ax)


def scatter_panel(matrix: Matrix) -> Panel:
    """The scatter of the only two measures."""
    if len(matrix.measures) != 2:
        what = f"{len(matrix.measures)} {plural(len(matrix.measures), 'measure')} given"
        raise InputError("--scatter", what, "give two, such as -m err@20 -m ndcg@10", usage=True)
    return Panel(partial(draw_scatter, matrix=matrix, columns=_two(matrix, None, None)), 3.0)


def _two(matrix: Matrix, x: Any, y: Any) -> tuple[int, int]:
    """The columns of two measures."""
    if len(matrix.measures) < 2:
        raise InputError("plot.scatter", "needs two measures", "evaluate by another too", usage=True)
    columns = (0 if x is None else matrix.measure_index(str(x)), 1 if y is None else matrix.measure_index(str(y)))
    if not _points(matrix, columns).any():
        names = " and ".join(matrix.measures[column] for column in columns)
        raise InputError("plot.scatter", f"no run and topic is scored by both {names}", matrix.hint, usage=True)
    return columns


def _points(matrix: Matrix, columns: tuple[int, int]) -> Any:
    """runs × topics: what both measures score."""
    return matrix.included[:, :, columns].all(2) & np.isfinite(matrix.score[:, :, columns]).all(2)


def draw_scatter(ax: Axes, matrix: Matrix, columns: tuple[int, int]) -> None:
    """Draw the points, those of each run in its color where there are few."""
    points = _points(matrix, columns)
    few = len(matrix.runs) <= 7
    for row, (run, look) in enumerate(zip(matrix.runs, looks(len(matrix.runs)), strict=True)):
        x, y = matrix.score[row, points[row]][:, columns].T
        color = look["color"] if few else GREY
        ax.scatter(x, y, s=7, marker="osD^vP*"[row % 7] if few else "o", facecolors="none", edgecolors=color,
                   linewidths=0.6, label=shown(run) if few else None)  # fmt: skip
    ax.grid(color=LIGHT, linewidth=0.4)
    x, y = (
        f"{shown(matrix.measures[one])}, by run and topic{LOWER if matrix.reading(one).sign < 0 else ''}"
        for one in columns
    )
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if few:
        legend(ax)
