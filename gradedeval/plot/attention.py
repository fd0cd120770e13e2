"""What users look at by rank, and the weights of measures that are nearest to it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gradedeval.errors import InputError
from gradedeval.options import numbers
from gradedeval.plot.appearance import LIGHT, PALE, drawn, legend, looks, shown, whole_numbers
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import check_numbers, frame_of
from gradedeval.plot.rank_lines import FEW, RANKS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SOURCE = "what gradedeval.clicks.fit or clicks.observe returns"


def observation(observed: Any, *, ranks: int | None = None, ax: Axes | None = None) -> Axes:
    """The observation model of a click log as bars, and the weights that are nearest to it as lines.

    observed  what `gradedeval.clicks.fit` returns, or its `curves`; or what `clicks.observe` returns, of all users,
              which has no lines
    ranks     how many; None: at most 50
    ax        matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, and for ranks that are not numbers from
    1.
    """
    ranks = numbers.RANKS.check_or_none(ranks)
    frame = frame_of(observed, ["rank"], "observation", SOURCE, "curves" if hasattr(observed, "curves") else "frame")
    if list(frame.columns) == ["rank", "weight", "observed"]:
        frame = frame[["rank", "weight"]].rename(columns={"weight": "observation"})
    if "observation" not in frame.columns:
        raise InputError("plot.observation", "the frame has no column observation", f"give {SOURCE}", usage=True)
    check_numbers(frame, frame.columns, "observation", SOURCE)
    divergences = _divergences(observed) if hasattr(observed, "curves") else {}
    return drawn(partial(draw_observation, frame=frame, divergences=divergences, ranks=ranks or RANKS), ax)


def observation_panel(fits: Any, ranks: int | None) -> Panel:
    """The picture of what `clicks.fit` found."""
    return Panel(
        partial(draw_observation, frame=fits.curves, divergences=_divergences(fits), ranks=ranks or RANKS), 2.1
    )


def _divergences(fits: Any) -> dict[str, float]:
    """The divergence of each curve, which stand in the order of the rows."""
    return dict(zip(list(fits.curves.columns)[2:], fits.frame["divergence"].tolist(), strict=True))


def draw_observation(ax: Axes, frame: pd.DataFrame, divergences: dict[str, float], ranks: int) -> None:
    """Draw the observation and the other columns of a frame over its first ranks."""
    own = frame[frame["rank"] <= ranks]
    rank = own["rank"].to_numpy(dtype=float)
    handles: list[Any] = [
        ax.bar(rank, own["observation"].to_numpy(dtype=float), width=0.8, color=PALE, label="observation")
    ]
    names = [str(name) for name in own.columns if name not in ("rank", "observation")]
    for column, (name, look) in enumerate(zip(names, looks(len(names)), strict=True)):
        marker: dict[str, Any] = {"marker": "osD^vP*"[column % 7]} if len(rank) <= FEW else {}
        told = f", KL {divergences[name]:.4f}" if name in divergences else ""
        handles += ax.plot(rank, own[name].to_numpy(dtype=float), label=shown(name) + told, **look, **marker)
    ax.set_xlim(0.4, rank.max() + 0.6)
    ax.set_ylim(0, None)
    whole_numbers(ax)
    ax.grid(axis="y", color=LIGHT, linewidth=0.4)
    ax.set_xlabel("rank i (documents)")
    ax.set_ylabel("weight")
    legend(ax, handles=handles)
