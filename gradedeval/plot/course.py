"""The course of scores, evaluation by evaluation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradedeval.errors import warn_caller
from gradedeval.plot.appearance import BLACK, LIGHT, MANY, drawn, inches_of, legend, looks, shown
from gradedeval.plot.figure import Panel
from gradedeval.plot.frames import LOWER, frame_of, grey_notes, lower, of_measure
from gradedeval.scoring.signature import Signature

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("run", "measure", "time", "label", "score", "low", "high", "topics", "changed", "signature")


def history(history: Any, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """The course of each run by a measure, with its interval. Scores of a run are joined as long as they are
    comparable; between neighbouring evaluations that are not, of whichever runs, stands a vertical line.

    history  what `gradedeval.read_history` returns, or its frame
    measure  which, where there are several
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes; of more than 7 runs the first 7 are in color, with a warning. Raises `gradedeval.InputError`
    (usage) for another frame, and where it is not said which measure.
    """
    frame = of_measure(
        frame_of(history, COLUMNS, "history", "what gradedeval.read_history returns"), measure, "history"
    )
    ax = drawn(partial(draw_course, frame=frame), ax)
    warn_caller(grey_notes(frame))
    return ax


def course_panels(frame: pd.DataFrame, last: int | None = None) -> list[Panel]:
    """A picture for each measure, of all evaluations or the last ones of each run."""
    if last is not None:
        frame = frame.groupby(["run", "measure"], sort=False).tail(last)
    return [Panel(partial(draw_course, frame=own), 1.9) for _, own in frame.groupby("measure", sort=False)]


def draw_course(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the runs of one measure over the evaluations, which stand at equal distances in the order of time."""
    # Comparable evaluations of several runs at one time by one name are one; the same run again is another.
    again = frame.groupby(["run", "time", "label"], sort=False).cumcount()
    keys = list(zip(frame["time"], again, frame["label"], _kinds(frame), strict=True))
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    frame = frame.assign(place=[places[key] for key in keys])
    runs = list(frame.groupby("run", sort=False))
    for number, ((run, own), look) in enumerate(zip(runs, looks(len(runs)), strict=True)):
        segment = own["changed"].fillna("").ne("").cumsum()
        marker: dict[str, Any] = {"marker": "osD^vP*"[number % 7]}
        for part, (_, stretch) in enumerate(own.groupby(segment, sort=False)):
            name = shown(str(run)) if part == 0 and number < MANY else None
            ax.plot(stretch["place"], stretch["score"], label=name, **look, **marker)
            ax.fill_between(stretch["place"], stretch["low"].astype(float), stretch["high"].astype(float),
                            color=look["color"], alpha=0.15, linewidth=0)  # fmt: skip
            alone = stretch if len(stretch) == 1 else stretch[:0]
            ax.vlines(alone["place"], alone["low"], alone["high"], color=look["color"], linewidth=0.8)
    kinds = [kind for *_, kind in places]
    changes = [place for place, (kind, before) in enumerate(zip(kinds[1:], kinds, strict=False), 1) if kind != before]
    for number, place in enumerate(changes):
        name = None if number else "qrels or options differ"
        ax.axvline(place - 0.5, color=BLACK, linewidth=0.7, linestyle=":", label=name)
    _name_evaluations(ax, list(places))
    ax.grid(axis="y", color=LIGHT, linewidth=0.4)
    measure = str(frame["measure"].iloc[0])
    ax.set_ylabel(f"{shown(measure)}, 95% interval{LOWER if lower(measure) else ''}")
    legend(ax)


def _kinds(frame: pd.DataFrame) -> list[int]:
    """A number for each evaluation by one measure: the same for those that are comparable."""
    measure, known, numbers = str(frame["measure"].iloc[0]), list[Any](), dict[Any, int]()
    for key in zip(frame["signature"], frame["topics"].tolist(), strict=True):
        if key not in numbers:
            same = (number for number, other in enumerate(known) if _comparable(key, other, measure))
            numbers[key] = next(same, len(known))
            known += [key] if numbers[key] == len(known) else []
    return [numbers[key] for key in zip(frame["signature"], frame["topics"].tolist(), strict=True)]


def _comparable(one: tuple[str, float], other: tuple[str, float], measure: str) -> bool:
    """Whether means may be compared, each by its signature and over so many topics."""
    (text, topics), (other_text, other_topics) = one, other
    mine, theirs = Signature.read(text), Signature.read(other_text)
    if mine is None or theirs is None:
        return text == other_text and topics == other_topics
    return topics == other_topics and not mine.differences_of_means(theirs, measure)


def _name_evaluations(ax: Axes, keys: list[tuple[str, int, str, int]]) -> None:
    """The labels of evaluations, or their dates, as many as there is room for."""
    names = [shown(label, 16) if label else time[:10] for time, _, label, _ in keys]
    step = max(1, int(np.ceil(len(names) / (inches_of(ax)[0] * 9))))
    ax.set_xticks(range(0, len(names), step), names[::step])
    if max(map(len, names)) * len(names[::step]) > inches_of(ax)[0] * 14:
        ax.tick_params(axis="x", labelrotation=90)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_xlabel("evaluation, in the order of time")
