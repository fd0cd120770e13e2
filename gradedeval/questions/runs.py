"""`plot runs`: runs by their summaries: score, interval, and how far judging could raise it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pictures, replicates, score_matrix
from gradedeval.analysis.tables import ScoredFrame
from gradedeval.arrays import np
from gradedeval.errors import InputError, Note, did_you_mean, emit_notes, flag, public, shorten
from gradedeval.kernel import OptionKwargs, Setting, parse_measures, shares_work, takes_options
from gradedeval.questions.shared import texts_unused

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.analysis.score_matrix import AnyScores, Matrix
    from gradedeval.kernel import AnyMeasure, Measure


# Runs by their summaries: score, interval, and how far judging could raise it.


LEVEL = 0.95
"""The level of intervals."""

Slice = Annotated[str | None, Setting("Column of labels of topics: a picture for each label.", metavar="COLUMN")]


@dataclass(frozen=True, eq=False, repr=False)
class RunSummaries(ScoredFrame):
    """The frame of `run_summaries` and the scores that it summarizes."""

    @property
    def remarks(self) -> list[str]:
        """What the command tells beside it: that texts of topics, or their labels, are not shown."""
        if self.scores is None:
            return []
        found = texts_unused(self.scores, "the picture has no topics", "`gradedeval plot topics` has them")
        column = None if "slice" in self.frame else next(iter(self.scores.labelled), None)
        hint = f"add --slice {shlex.quote(str(column))}"
        return [*found, *([Note(f"{flag.slices} is not used", hint, kind="slices-unused")] if column else [])]


@takes_options("reading", "queries", "slices", "replicates")
@public
@shares_work
def run_summaries(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    slice: Slice = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> RunSummaries:
    """Means, intervals and residuals of each run by each measure, over the topics on which it is scored.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed
    slice           a column of labels of topics: the same for each label; None: of all topics together

    Returns `RunSummaries`, whose `.frame` has the columns measure[, slice, as in `intent=head`], run, score, low, high
    (the 95% interval, by the studentized bootstrap), unjudged (how far the unjudged documents of the run could raise
    the score), beyond (how far what lies beyond its end could), residual (both), topics, summary (mean, total or
    geometric) and sign (1 where higher is better or no direction is preferred, −1 where lower is better). Where runs
    have replicates `run` is a system, its interval is of other topics and other seeds (with fewer than three seeds of
    other topics alone), and seeds and sd, the deviation of the summaries of its seeds, come last. What is not known is
    nan.
    Raises InputError (usage) where there is no such column.
    """
    given = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.comparable_matrix(given)
    if matrix.machine is None:
        emit_notes(matrix.unequal_topics())
    if slice is None:
        return RunSummaries(kernel.results.to_frame(_rows(matrix)), matrix)
    columns = matrix.labelled
    if slice not in columns:
        hint = did_you_mean(slice, columns) or (f"choose from {shorten(columns)}" if columns else f"add {flag.slices}")
        raise InputError("--slice", f"no column of labels '{slice}'", hint, usage=True)
    rows = [
        {"measure": row["measure"], "slice": f"{slice}={label}", **row}
        for label, kept in columns[slice].items()
        for row in _rows(matrix.of_topics(kept))
    ]
    return RunSummaries(kernel.results.to_frame(rows), matrix)


def _rows(matrix: Matrix) -> list[dict[str, Any]]:
    """The rows of all runs by each measure."""
    scored = [_scored(matrix, column) for column in range(len(matrix.measures))]
    cells = [(matrix.score[row], matrix.included[row]) for row in range(len(matrix.runs))]
    limits = kernel.summary_intervals(cells, scored, 1 - LEVEL)
    return [
        {
            "measure": name,
            "run": run,
            **_summary(matrix, row, column, limits[row, column].tolist()),
            **(replicates.system_estimate(matrix, row, column, 1 - LEVEL) if matrix.seeds is not None else {}),
        }
        for column, name in enumerate(matrix.measures)
        for row, run in enumerate(matrix.runs)
    ]


def _summary(matrix: Matrix, row: int, column: int, limits: Sequence[float]) -> dict[str, Any]:
    """What is known of a run by a measure; `limits` are its standard error and its interval."""
    reading, kept = matrix.reading(column), matrix.included[row, :, column]
    score = matrix.score[row, kept, column]
    unjudged, residual = (
        float(reading.summarize_rises(score, part[row, kept, column])) for part in (matrix.unjudged, matrix.residual)
    )
    _, low, high = limits
    return {
        "score": float(reading.summarize(score)),
        "low": low,
        "high": high,
        "unjudged": unjudged,
        "beyond": residual - unjudged if np.isfinite(residual) else residual,
        "residual": residual,
        "topics": int(kept.sum()),
        "summary": reading.summary,
        "sign": reading.sign,
    }


def _scored(matrix: Matrix, column: int) -> Measure | kernel.definition.Summary:
    """A measure whose scores have limits; what sums it up where it is not known, or scores were transformed."""
    name, summary = matrix.measures[column], matrix.reading(column).summary
    if matrix.scores is not None:
        scored = {} if matrix.scores.transformations else {one.label: one for one in matrix.scores.measures}
        return scored.get(name, summary)
    try:
        (measure,) = parse_measures(name)
    except (InputError, ValueError):
        return summary
    return measure


# Runs by their mean: what is known, what the unjudged documents could add, and what lies beyond.


@public
def plot_runs(scores: AnyScores, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """Runs by their mean, the best on top: score, bootstrap interval, and stacked above it the residuals of
    unjudged documents and of ranks beyond the end of the run.

    scores   what `gradedeval.evaluate` returns, with residuals="split" or "total" to have what could be added; or saved
             scores
    measure  which, where there are several
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. What is not known is not drawn, with a warning. Raises `gradedeval.InputError` (usage) where it is
    not said which measure, and where no run has a score.
    """
    frame = pictures.select_measure(run_summaries(scores).frame, measure, "runs")
    notes = run_notes(frame)
    ax = pictures.draw_on(partial(draw_runs, frame=frame), ax)
    emit_notes(notes)
    return ax


def run_panels(summaries: pd.DataFrame) -> list[Panel]:
    """A picture for each measure; those of its slices have the same scale, so that they can be compared."""
    parts = ["measure", *(["slice"] if "slice" in summaries else [])]
    frames = [frame for _, frame in summaries.groupby(parts, sort=False)]
    emit_notes(note for frame in frames for note in run_notes(frame))
    scales = {str(measure): _ends(frame) for measure, frame in summaries.groupby("measure")} if len(parts) > 1 else {}
    return [
        pictures.Panel(
            partial(draw_runs, frame=frame, scale=scales.get(frame["measure"].iloc[0])),
            0.45 + max(3, len(frame)) * (0.3 if "machine" in frame else 0.125),
        )
        for frame in frames
    ]


def _ends(frame: pd.DataFrame) -> tuple[float, float]:
    """The smallest and the largest number that is drawn of a measure, and 0."""
    ends = [name for name in (*frame, "low", "high") if name == "score" or name.endswith(("low", "high"))]
    drawn = frame[ends].assign(reach=frame["score"] + frame["residual"]).to_numpy(dtype=float)
    drawn = drawn[np.isfinite(drawn)]
    return float(drawn.min(initial=0.0)), float(drawn.max(initial=0.0))


def run_notes(frame: pd.DataFrame) -> list[str]:
    """What is not drawn because it is not known. Raises InputError (usage) where nothing is left."""
    measure = frame["measure"].iloc[0]
    blank = frame["run"][~np.isfinite(frame["score"])].tolist()
    if len(blank) == len(frame):
        raise InputError(f"measure '{measure}'", "no run has a finite score", "exclude this measure", usage=True)
    notes = [f"{measure}: no finite score of {', '.join(blank)}, not drawn"] if blank else []
    known = frame[~frame["run"].isin(blank)]
    if known["residual"].isna().all() and "machine" not in known:
        notes.append(f"{measure}: it has no residuals here, so what judging could add is not drawn")
    if not np.isfinite(known[["low", "high"]]).all(axis=None):
        notes.append(f"{measure}: an interval without an end is not drawn")
    return notes


def draw_runs(ax: Axes, frame: pd.DataFrame, scale: tuple[float, float] | None = None) -> None:
    """Draw the runs of one measure; `scale` is what its axis reaches to, beside what is drawn."""
    frame = frame[np.isfinite(frame["score"])]
    order = np.argsort(-frame["sign"].iloc[0] * frame["score"].to_numpy(), kind="stable")
    frame = frame.iloc[order]
    ax.use_sticky_edges = False  # a bar that ends in the air is not cut off
    _draw_bars(ax, frame)
    short, pattern = pictures.short_names(frame["run"].tolist())
    ax.set_yticks(np.arange(len(frame)), pictures.side_labels(ax, [short.get(run, run) for run in frame["run"]]))
    ax.set_ylim(len(frame) - 0.4, -0.6)
    if scale is not None:
        ax.update_datalim([(end, 0) for end in scale], updatey=False)
        ax.autoscale_view(scaley=False)
    if ax.dataLim.x0 >= 0:
        ax.set_xlim(0, None)
    ax.axvline(0, color=pictures.BLACK, linewidth=0.6)
    ax.grid(axis="x", color=pictures.LIGHT, linewidth=0.4)
    what = "system" if "seeds" in frame else "run"
    ax.set_ylabel(f"{what} ({pictures.label_text(pattern)})" if pattern else what)
    lower = pictures.LOWER if frame["sign"].iloc[0] < 0 else ""
    label = pictures.summary_label(frame["measure"].iloc[0], frame["summary"].iloc[0], frame["topics"].tolist())
    label += lower
    ax.set_xlabel(f"{label}, {pictures.label_text(frame['slice'].iloc[0])}" if "slice" in frame else label)
    pictures.legend(ax)


def _draw_bars(ax: Axes, frame: pd.DataFrame) -> None:
    """A bar for each run, what judging could add, and its interval."""
    place = np.arange(len(frame))
    score, unjudged, beyond = (frame[name].to_numpy(dtype=float) for name in ("score", "unjudged", "beyond"))
    # A residual that comes from the bounds is blank here, and all of it is of the run's unjudged documents.
    unjudged = np.where(np.isnan(unjudged), frame["residual"].to_numpy(dtype=float), unjudged)
    ax.barh(place, score, color=pictures.BLUE, height=0.7, label="score")
    left = score
    for part, color, hatch, name in (
        (unjudged, pictures.SKY, "", "unjudged"),
        (beyond, "white", "//////", "beyond the run"),
    ):
        width = np.where(np.isfinite(part), part, 0.0)
        look: dict[str, Any] = {"color": color, "hatch": hatch, "edgecolor": pictures.BLUE, "linewidth": 0.4}
        if width.any():
            ax.barh(place, width, left=left, height=0.7, label=name, **look)
        left = left + width
    ends = np.abs(frame[["low", "high"]].to_numpy(dtype=float).T - score)
    finite = np.isfinite(ends).all(0)
    if finite.any():
        ax.errorbar(score[finite], place[finite], xerr=ends[:, finite], fmt="none", ecolor=pictures.BLACK,
                    elinewidth=0.8, capsize=1.5, label=f"{100 * LEVEL:g}% interval")  # fmt: skip
