"""`plot runs`: summaries of runs: score, interval, and possible rise by judging."""

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


LEVEL = 0.95
"""Level of intervals."""

Slice = Annotated[str | None, Setting("Column of labels of topics: a picture for each label.", metavar="COLUMN",
    short="A picture for each label in this column.")]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class RunSummaries(ScoredFrame):
    """Frame of `run_summaries` and the scores that it summarizes."""

    @property
    def signature(self) -> str:
        """The settings and files that the scores depend on; each run is summarized over its own topics."""
        return "" if self.scores is None else self.scores.signature

    @property
    def remarks(self) -> list[str]:
        """Notes on unused texts and labels of topics."""
        if self.scores is None:
            return []
        notes = texts_unused(self.scores, "the picture has no topics", "`gradedeval plot topics` has them")
        column = None if "slice" in self.frame else next(iter(self.scores.labelled), None)
        hint = f"add --slice {shlex.quote(str(column))}"
        return [*notes, *([Note(f"{flag.slices} is not used", hint, kind="slices-unused")] if column else [])]


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
    """Summarize each run by each measure: means, intervals and residuals over its scored topics.

    runs            as in `gradedeval.evaluate`; without `qrels` results of `evaluate` or saved scores: one or a list
    qrels           as in `evaluate`, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are
                    computed
    slice           a column of labels of topics, for summaries by label; None: all topics together

    Returns `RunSummaries`, whose `.frame` has the columns measure[, slice, as in `intent=head`], run, score, low,
    high (the 95% interval, by the studentized bootstrap), unjudged (how far the unjudged documents of the run could
    raise the score), beyond (how far documents beyond its end could), residual (both), topics, summary (mean, total
    or geometric) and sign (1 if higher is better or no direction is preferred, −1 if lower is better). With
    replicates `run` is a system, its interval is over further topics and seeds (with fewer than three seeds over
    further topics alone), and seeds and sd, the deviation of the summaries of its seeds, come last. Unknown values
    are nan. Raises InputError (usage) for an unknown column.

    >>> runs = {"A": {"q1": {"d1": 2.0}}, "B": {"q1": {"d2": 2.0, "d1": 1.0}}}
    >>> gradedeval.run_summaries(runs, {"q1": {"d1": 1}}, "rr").frame[["run", "score", "unjudged"]]
      run  score  unjudged
    0   A    1.0       0.0
    1   B    0.5       0.5
    """
    scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix = score_matrix.comparable_matrix(scores)
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
    """Return the rows of all runs by each measure."""
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
    """Return the summary of a run by a measure; `limits` are its standard error and its interval."""
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
    """Return the measure of a column, or its kind of summary if it is unknown or its scores were transformed."""
    name, summary = matrix.measures[column], matrix.reading(column).summary
    if matrix.scores is not None:
        scored = [] if matrix.scores.transformations else matrix.scores.measures
        return next((measure for measure in scored if measure.label == name), summary)
    try:
        (measure,) = parse_measures(name)
    except (InputError, ValueError):
        return summary
    return measure


@public
def plot_runs(scores: AnyScores, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """Plot runs by their mean, the best on top: score, bootstrap interval, and stacked above the score the residuals of
    unjudged documents and of ranks beyond the end of the run.

    scores   result of `gradedeval.evaluate`, with residuals="split" or "total" to draw them; or saved scores
    measure  the measure, if there are several
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Unknown values are not drawn, with a warning. Raises `gradedeval.InputError` (usage) if several
    measures are possible, and if no run has a score.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> scores = gradedeval.evaluate(runs, "qrels_samples/rivers.qrels", "err@20", residuals="split")
    >>> axes = gradedeval.plot.runs(scores)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['neural', 'bm25']
    """
    frame = pictures.select_measure(run_summaries(scores).frame, measure, "runs")
    notes = run_notes(frame)
    ax = pictures.draw_on(partial(draw_runs, frame=frame), ax)
    emit_notes(notes)
    return ax


def run_panels(summaries: pd.DataFrame) -> list[Panel]:
    """Return a picture for each measure; pictures of its slices share their scale."""
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
    """Return the smallest and the largest drawn number of a measure, including 0."""
    ends = [name for name in (*frame, "low", "high") if name == "score" or name.endswith(("low", "high"))]
    drawn = frame[ends].assign(reach=frame["score"] + frame["residual"]).to_numpy(dtype=float)
    drawn = drawn[np.isfinite(drawn)]
    return float(drawn.min(initial=0.0)), float(drawn.max(initial=0.0))


def run_notes(frame: pd.DataFrame) -> list[str]:
    """Return notes on values that are unknown and so not drawn. Raises InputError (usage) if nothing is left."""
    measure = frame["measure"].iloc[0]
    blank = frame["run"][~np.isfinite(frame["score"])].tolist()
    if len(blank) == len(frame):
        raise InputError(f"measure '{measure}'", "no run has a finite score", "exclude this measure", usage=True)
    notes = [f"{measure}: no finite score of {', '.join(blank)}, not drawn"] if blank else []
    scored = frame[~frame["run"].isin(blank)]
    if scored["residual"].isna().all() and "machine" not in scored:
        notes.append(f"{measure}: it has no residuals here, so what judging could add is not drawn")
    if not np.isfinite(scored[["low", "high"]]).all(axis=None):
        notes.append(f"{measure}: an interval without an end is not drawn")
    return notes


def draw_runs(ax: Axes, frame: pd.DataFrame, scale: tuple[float, float] | None = None) -> None:
    """Draw the runs of one measure; `scale` is the minimum range of its axis."""
    frame = frame[np.isfinite(frame["score"])]
    order = np.argsort(-frame["sign"].iloc[0] * frame["score"].to_numpy(), kind="stable")
    frame = frame.iloc[order]
    ax.use_sticky_edges = False  # leaves a margin beyond the bars
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
    noun = "system" if "seeds" in frame else "run"
    ax.set_ylabel(f"{noun} ({pictures.label_text(pattern)})" if pattern else noun)
    lower = pictures.LOWER if frame["sign"].iloc[0] < 0 else ""
    label = pictures.summary_label(frame["measure"].iloc[0], frame["summary"].iloc[0], frame["topics"].tolist())
    label += lower
    ax.set_xlabel(f"{label}, {pictures.label_text(frame['slice'].iloc[0])}" if "slice" in frame else label)
    pictures.legend(ax)


def _draw_bars(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw a bar for each run, its residuals, and its interval."""
    position = np.arange(len(frame))
    score, unjudged, beyond = (frame[name].to_numpy(dtype=float) for name in ("score", "unjudged", "beyond"))
    # A residual from bounds has no parts: all of it is of the run's unjudged documents.
    unjudged = np.where(np.isnan(unjudged), frame["residual"].to_numpy(dtype=float), unjudged)
    ax.barh(position, score, color=pictures.BLUE, height=0.7, label="score")
    edge = score
    for part, color, hatch, name in (
        (unjudged, pictures.SKY, "", "unjudged"),
        (beyond, "white", "//////", "beyond the run"),
    ):
        width = np.where(np.isfinite(part), part, 0.0)
        look: dict[str, Any] = {"color": color, "hatch": hatch, "edgecolor": pictures.BLUE, "linewidth": 0.4}
        if width.any():
            ax.barh(position, width, left=edge, height=0.7, label=name, **look)
        edge = edge + width
    ends = np.abs(frame[["low", "high"]].to_numpy(dtype=float).T - score)
    finite = np.isfinite(ends).all(0)
    if finite.any():
        ax.errorbar(score[finite], position[finite], xerr=ends[:, finite], fmt="none", ecolor=pictures.BLACK,
                    elinewidth=0.8, capsize=1.5, label=f"{100 * LEVEL:g}% interval")  # fmt: skip
