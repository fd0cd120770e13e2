"""`plot topics`: differences of two runs by topic, and whether judging could reverse their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, pairs, pictures, replicates, reversals, score_matrix
from gradedeval.analysis.tables import ScoredFrame, text_lines
from gradedeval.arrays import TOLERANCE, Bools, Floats, np
from gradedeval.errors import InputError, emit_notes, plural, public
from gradedeval.kernel import OptionKwargs, shares_work, takes_options
from gradedeval.questions.shared import baseline_setting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.analysis.reversals import RereadRuns
    from gradedeval.analysis.score_matrix import AnyScores, Matrix, Paired
    from gradedeval.kernel import AnyMeasure


Baseline = Annotated["AnyScores | None", baseline_setting("the first")]


@dataclass(frozen=True, eq=False, repr=False)
class TopicDifferences(ScoredFrame):
    """Differences of two runs by topic: the frame of `topic_differences`, and its scores."""


def check_runs(runs: int, noun: str = "run") -> None:
    """Raise InputError (usage) unless there are two runs, or two systems."""
    if runs != 2:
        problem = f"{runs} {plural(runs, noun)} given, and two are compared topic by topic"
        raise InputError("", problem, f"add a {noun}" if runs < 2 else "choose two", usage=True)


@takes_options("reading", "unseen", "queries", "replicates")
@public
@shares_work
def topic_differences(
    runs: Any,
    qrels: Any = None,
    measures: AnyMeasure | Iterable[AnyMeasure] | None = None,
    *,
    baseline: Baseline = None,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> TopicDifferences:
    """Compare two runs on each topic that both are scored on, by each measure, the largest gain first.

    runs            as in `gradedeval.evaluate`; or without `qrels` the result of `evaluate`, with residuals="total"
                    to get `same_order`, or saved scores
    qrels           as in `evaluate`, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are
                    computed
    baseline        the name of one run, or its saved scores; None: the first of the two

    Returns `TopicDifferences`, whose `.frame` has the columns measure, topic, baseline, run, baseline_score, score,
    difference (score − baseline_score), baseline_residual, residual, low, high (range of the difference under
    further judging, if a document in both runs gets the same judgment; blank if unknown), same_order (whether
    judging could not reverse the order of the two; blank without residuals), sign (1 if higher is better or no
    direction is preferred, −1 if lower is better). `.frame.attrs["if_fully_judged"]` states the assumptions of low,
    high and same_order. With replicates `run` and `baseline` are systems, scores and residuals are means over their
    seeds, a document gets the same judgment for all of them, and se, the standard error of the difference over
    seeds, comes last; the range is blank for geometric means over seeds. Raises InputError (usage) unless there are
    two runs, or two systems.

    >>> runs = {"A": {"q1": {"d1": 2.0}}, "B": {"q1": {"d2": 2.0, "d1": 1.0}}}
    >>> differences = gradedeval.topic_differences(runs, {"q1": {"d1": 1}}, "rr")
    >>> differences.frame[["topic", "difference", "low", "high"]]
      topic  difference  low  high
    0    q1        -0.5 -0.5   0.0
    """
    all_scores = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix, name = score_matrix.with_baseline(all_scores, baseline)
    check_runs(len(matrix.runs), "run" if matrix.seeds is None else "system")
    first = matrix.run_index(name) if name is not None else 0
    by_measure = [matrix.paired(measure) for measure in matrix.comparable_measures()]
    reread = reversals.RereadRuns.of((matrix.seeds or matrix).scores)
    frame = kernel.results.joined([_differences(paired, first, matrix.seeds, reread) for paired in by_measure])
    assumptions = pairs.unseen_notes(frame, matrix, "same_order")
    frame.attrs = {"if_fully_judged": "; ".join(note.in_python() for note in assumptions)}
    return TopicDifferences(frame, matrix)


def _by_topic(paired: Paired, first: int, bounds: Floats, rises: bool) -> pd.DataFrame:
    """Return the rows of one measure, the largest gain first.

    bounds  2 × topics: lowest and highest difference; nan if unknown
    rises   whether no judgment lowers a score
    """
    baseline_score, run_score = paired.score[[first, 1 - first]]
    baseline_residual, run_residual = paired.residual[[first, 1 - first]]
    difference = run_score - baseline_score
    difference[np.abs(difference) <= TOLERANCE] = 0
    lowest, highest = bounds
    low, high = (difference - baseline_residual, difference + run_residual) if rises else (np.nan, np.nan)
    low, high = np.where(np.isnan(lowest), low, lowest), np.where(np.isnan(highest), high, highest)
    columns = {
        "measure": paired.measure,
        "topic": np.array(paired.topics, dtype=object),
        "baseline": paired.runs[first],
        "run": paired.runs[1 - first],
        "baseline_score": baseline_score,
        "score": run_score,
        "difference": difference,
        "baseline_residual": baseline_residual,
        "residual": run_residual,
        "low": np.minimum(low, difference),  # guards against rounding
        "high": np.maximum(high, difference),
        "same_order": difference_bounds.same_order(
            difference, (baseline_residual, run_residual), (lowest, highest), rises
        ),
        "sign": paired.reading.sign,
    }
    order = np.argsort(-paired.reading.sign * difference, kind="stable")
    return kernel.results.to_frame(columns).astype({"same_order": "boolean"}).iloc[order]


def _differences(paired: Paired, first: int, seeds: Matrix | None, reread: RereadRuns | None) -> pd.DataFrame:
    """Return the rows of one measure for two runs, or for two systems with the standard error over seeds."""
    if seeds is None:
        bounds = difference_bounds.topic_bounds(paired, np.array([first]), np.array([1 - first]), reread)[:, 0]
        return _by_topic(paired, first, bounds, difference_bounds.never_falls(paired.measure, reread))
    assert seeds.replicates is not None
    systems = seeds.replicates.systems(seeds.runs)
    old, new = (systems[paired.runs[side]] for side in (first, 1 - first))
    bounds, rises = np.full((2, len(paired.topics)), np.nan), False
    if paired.reading.summary != "geometric":  # bounds are of arithmetic means
        paired_seeds, rows = seeds.select(runs=[*old, *new]).paired(paired.measure), np.arange(len(old) + len(new))
        bounds = difference_bounds.bounds_of_means(paired_seeds, rows[: len(old)], rows[len(old) :], reread)
        rises = difference_bounds.never_falls(paired.measure, reread)
    frame = _by_topic(paired, first, bounds, rises)
    return frame.assign(se=replicates.topic_errors(paired, seeds, first, 1 - first)[frame.index])


COLUMNS = ("measure", "topic", "baseline", "run", "difference", "low", "high", "same_order", "sign")
MANY = 400
"""Maximum number of topics drawn as bars; more bars would be thinner than a dot, and are drawn as areas."""


@public
def plot_topics(
    scores: AnyScores, measure: Any = None, *, baseline: AnyScores | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the difference of two runs on each topic, the largest gain first. A thin line shows its range under further
    judging; topics whose order judging could reverse are grey.

    scores    result of `gradedeval.evaluate` for two runs, with residuals="total" for the effect of judging; saved
              scores; or the result of `gradedeval.topic_differences`
    measure   the measure, if there are several
    baseline  the name of one run, or its saved scores; None: the first
    ax        matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) unless there are two runs, and if several measures are
    possible.

    >>> runs = ["qrels_samples/rivers-bm25.run", "qrels_samples/rivers-neural.run"]
    >>> scores = gradedeval.evaluate(runs, "qrels_samples/rivers.qrels", "err@20", residuals="total")
    >>> axes = gradedeval.plot.topics(scores)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('topic', 'err@20: neural − bm25')
    """
    result: Any = scores
    if not (isinstance(scores, TopicDifferences) or "difference" in getattr(scores, "columns", ())):
        result = topic_differences(scores, baseline=baseline)
    matrix = result.scores if isinstance(result, TopicDifferences) else None
    frame = pictures.require_frame(result, COLUMNS, "topics", "the result of gradedeval.topic_differences")
    frame = pictures.select_measure(frame, measure, "topics")
    ax = pictures.draw_on(partial(draw_topics, frame=frame), ax)
    emit_notes(topic_notes(frame, matrix))
    return ax


def topic_panels(differences: pd.DataFrame, matrix: Matrix) -> list[Panel]:
    """Return a picture for each measure."""
    frames = [frame for _, frame in differences.groupby("measure", sort=False)]
    emit_notes(note for frame in frames for note in topic_notes(frame, matrix))
    return [pictures.Panel(partial(draw_topics, frame=frame), 1.9) for frame in frames]


def texts_of_largest(differences: TopicDifferences) -> list[str]:
    """Return the texts of the topics that differ most by the first measure, if known: a line for each."""
    frame, texts = differences.frame, differences.texts
    frame = frame[frame["measure"] == frame["measure"].iloc[0]] if len(frame) else frame
    names, difference = frame["topic"].tolist(), frame["difference"].to_numpy(dtype=float)
    largest = [names[row] for row in sorted(_largest(difference, 0))] if texts else []
    return text_lines({name: texts[name] for name in largest if name in texts})


def topic_notes(frame: pd.DataFrame, matrix: Matrix | None) -> list[str]:
    """Return notes on unknown values, which are not drawn, and on assumptions of the scores."""
    measure = frame["measure"].iloc[0]
    unknown = int(frame["same_order"].isna().sum())
    note = f"{measure}: {unknown} of {len(frame)} topics have no residual"
    notes = [f"{note}, so whether judging could reverse them is not drawn"] if unknown else []
    return notes if matrix is None else [*notes, *pairs.unseen_notes(frame, matrix, "same_order")]


def draw_topics(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the topics of one measure."""
    difference, low, high = (frame[name].to_numpy(dtype=float) for name in ("difference", "low", "high"))
    better = frame["sign"].to_numpy() * difference
    open_ = frame["same_order"].eq(False).fillna(False).to_numpy(dtype=bool)
    position = np.arange(len(frame))
    baseline, run = frame["baseline"].iloc[0], frame["run"].iloc[0]
    labels = pictures.run_labels([baseline, run])
    baseline_label, run_label = labels[baseline], labels[run]
    kinds = (
        (~open_ & (better > 0), pictures.BLUE, f"{run_label} better"),
        (~open_ & (better < 0), pictures.VERMILION, f"{baseline_label} better"),
        (open_, pictures.PALE, "could be reversed"),
    )
    handles: list[Any] = []
    tied = ~open_ & (better == 0)
    ax.use_sticky_edges = False  # leaves a margin beyond the bars
    for selected, color, name in kinds:
        if selected.any():
            label = f"{name}: {selected.sum()}"
            handles.append(_draw(ax, selected, difference, width=0.8, color=color, label=label))
    if tied.any():
        marks: dict[str, Any] = {"marker": "d", "linestyle": "", "color": pictures.BLACK, "clip_on": False}
        marks["markersize"] = 2 if len(frame) <= MANY else 1
        handles += ax.plot(position[tied], difference[tied], label=f"tied: {tied.sum()}", **marks)
    label = "range if all judged"
    if "se" in frame:
        se = frame["se"].to_numpy(dtype=float)
        low, high, label = difference - se, difference + se, "± standard error over seeds"
    finite = np.isfinite(low) & np.isfinite(high) & (high > low)
    if finite.any():
        alpha = 0.7 if len(frame) > MANY else 1
        handles.append(_draw(ax, finite, high, low, width=0.25, color=pictures.DARK, label=label, alpha=alpha))
    elif tied.all():
        ax.set_ylim(-1, 1)
    ax.axhline(0, color=pictures.BLACK, linewidth=0.6)
    ax.grid(axis="y", color=pictures.LIGHT, linewidth=0.4)
    room = max(0.7, (8 - len(frame)) / 2)
    ax.set_xlim(-room, len(frame) - 1 + room)
    _name_topics(ax, frame["topic"].tolist(), difference)
    lower = pictures.LOWER if frame["sign"].iloc[0] < 0 else ""
    ax.set_ylabel(f"{pictures.label_text(frame['measure'].iloc[0])}: {run_label} − {baseline_label}{lower}")
    pictures.legend(ax, handles=handles, runs=[baseline, run])


def _draw(ax: Axes, chosen: Bools, ends: Floats, begins: Floats | None = None, *, width: float, **look: Any) -> Any:
    """Draw bars on the chosen topics from `begins`, or 0, to `ends`; more than MANY as an area."""
    begins = np.zeros(len(ends)) if begins is None else begins
    place = np.arange(len(ends))
    if len(ends) <= MANY:
        return ax.bar(place[chosen], (ends - begins)[chosen], bottom=begins[chosen], width=width, **look)
    first, last = (np.where(chosen, side, 0.0) for side in (begins, ends))
    return ax.fill_between(place, first, last, step="mid", linewidth=0, **look)


EXTREMES = 5
"""Number of topics of each sign that are named if there is no room for all."""
SMALLEST = 4.5
"""Smallest font size of names of topics, in points."""


def _name_topics(ax: Axes, names: list[str], differences: Floats) -> None:
    """Name topics below their bars, in two rows if one has no room, or only the ones with the largest differences."""
    inches, _ = pictures.size_in_inches(ax)
    labels = [pictures.label_text(name, 16) for name in names]
    longest, font_size = max(map(len, labels)), float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
    flat, width = longest * len(names) <= inches * 12, 72 * inches / (len(names) + 1.4)
    points = min(font_size, 2 * width)
    every = flat or points >= SMALLEST
    places = list(range(len(names))) if every else _largest(differences, int(font_size * 1.1 / width) + 1)
    ax.set_xticks(places, [labels[place] for place in places])
    if not flat:
        points = points if every else font_size
        ax.tick_params(axis="x", labelrotation=90, labelsize=points, pad=1.5)
        for tick in ax.xaxis.get_major_ticks()[1::2] if every and font_size > width else ():
            tick.set_pad(1.5 + 0.62 * points * longest + 2)
    count = f"{len(names)} {plural(len(names), 'topic')}"
    ax.set_xlabel("topic" if every else f"{count} (largest named)")


def _largest(differences: Floats, apart: int) -> list[int]:
    """Return the positions of the largest differences of each sign, at least `apart` from each other."""
    chosen: list[int] = []
    for better in (differences > 0, differences < 0):
        of_sign: list[int] = []
        for position in np.argsort(-np.abs(np.where(better, differences, 0)), kind="stable").tolist():
            near = any(abs(position - neighbor) < apart for neighbor in chosen + of_sign)
            if better[position] and not near and len(of_sign) < EXTREMES:
                of_sign.append(position)
        chosen += of_sign
    return sorted(chosen)
