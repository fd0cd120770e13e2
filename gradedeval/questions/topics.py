"""`plot topics`: two runs topic by topic: by how much they differ, and whether judging could reverse their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import difference_bounds, pictures, replicates, reversals, score_matrix
from gradedeval.analysis.pairs import unseen_notes
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


# Two runs topic by topic: by how much they differ, and whether judging could reverse their order.


Baseline = Annotated["AnyScores | None", baseline_setting("the first")]


@dataclass(frozen=True, eq=False, repr=False)
class TopicDifferences(ScoredFrame):
    """How two runs differ on each topic: the frame of `topic_differences`, and the scores that it is of."""


def check_runs(runs: int, what: str = "run") -> None:
    """Raise InputError (usage) unless there are two runs, or two systems."""
    if runs != 2:
        message = f"{runs} {plural(runs, what)} given, and two are compared topic by topic"
        raise InputError("", message, f"add a {what}" if runs < 2 else "choose two", usage=True)


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
    """How two runs differ on each topic that both are scored on, by each measure, the largest gain first.

    runs            as for `gradedeval.evaluate`; or without `qrels` what that returns, with residuals="total" to get
                    `same_order`, or saved scores
    qrels           as there, and so are `measures`, `like`, `jobs`, `progress` and `keywords`; residuals are computed
    baseline        the run that the other is compared with: its name, or its saved scores; None: the first of the two

    Returns `TopicDifferences`, whose `.frame` has the columns measure, topic, baseline, run, baseline_score, score,
    difference (score − baseline_score), baseline_residual, residual, low, high (what judging could make of the
    difference, a document that both runs have being judged alike for both; blank where that is not known), same_order
    (whether judging could not reverse the order of the two; blank without residuals), sign (1 where higher is better or
    no direction is preferred, −1 where lower is better). `.frame.attrs["if_fully_judged"]` is what low, high and
    same_order assume. Where runs have replicates `run` and `baseline` are systems, scores and residuals are means over
    their seeds, a document is judged alike for all of them, and se, the standard error of the difference over seeds,
    comes last; what judging could do to geometric means over seeds is blank. Raises InputError (usage) unless there are
    two runs, or two systems.
    """
    given = score_matrix.scores_to_compare(runs, qrels, measures, like, keywords)
    matrix, name = score_matrix.with_baseline(given, baseline)
    check_runs(len(matrix.runs), "run" if matrix.seeds is None else "system")
    first = matrix.run_index(name) if name is not None else 0
    by_measure = [matrix.paired(measure) for measure in matrix.comparable_measures()]
    reread = reversals.RereadRuns.of((matrix.seeds or matrix).scores)
    if matrix.seeds is not None:
        frame = kernel.results.joined([_of_seeds(paired, first, matrix.seeds, reread) for paired in by_measure])
    else:
        frame = kernel.results.joined([_of_runs(paired, first, reread) for paired in by_measure])
    frame.attrs = {"if_fully_judged": "; ".join(note.in_python() for note in unseen_notes(frame, matrix, "same_order"))}
    return TopicDifferences(frame, matrix)


def _of_runs(paired: Paired, first: int, reread: RereadRuns | None) -> pd.DataFrame:
    """The rows of one measure where runs are compared."""
    bounds = difference_bounds.topic_bounds(paired, np.array([first]), np.array([1 - first]), reread)[:, 0]
    return _by_topic(paired, first, bounds, difference_bounds.never_falls(paired.measure, reread))


def _by_topic(paired: Paired, first: int, bounds: Floats, rises: bool) -> pd.DataFrame:
    """The rows of one measure, the largest gain first.

    bounds  2 × topics: how low and how high the difference can come; nan where that is not known
    rises   whether no judgment lowers a score
    """
    before, after = paired.score[[first, 1 - first]]
    old, new = paired.residual[[first, 1 - first]]
    difference = after - before
    difference[np.abs(difference) <= TOLERANCE] = 0
    lowest, highest = bounds
    low, high = (difference - old, difference + new) if rises else (np.nan, np.nan)
    low, high = np.where(np.isnan(lowest), low, lowest), np.where(np.isnan(highest), high, highest)
    columns = {
        "measure": paired.measure,
        "topic": np.array(paired.topics, dtype=object),
        "baseline": paired.runs[first],
        "run": paired.runs[1 - first],
        "baseline_score": before,
        "score": after,
        "difference": difference,
        "baseline_residual": old,
        "residual": new,
        "low": np.minimum(low, difference),  # but for the last bits they are
        "high": np.maximum(high, difference),
        "same_order": difference_bounds.same_order(difference, (old, new), (lowest, highest), rises),
        "sign": paired.reading.sign,
    }
    order = np.argsort(-paired.reading.sign * difference, kind="stable")
    return kernel.results.to_frame(columns).astype({"same_order": "boolean"}).iloc[order]


def _of_seeds(paired: Paired, first: int, seeds: Matrix, reread: RereadRuns | None) -> pd.DataFrame:
    """The rows of one measure where systems are compared, with the standard error over seeds."""
    assert seeds.replicates is not None
    systems = seeds.replicates.systems(seeds.runs)
    old, new = (systems[paired.runs[side]] for side in (first, 1 - first))
    bounds, rises = np.full((2, len(paired.topics)), np.nan), False
    if paired.reading.summary != "geometric":  # bounds are of arithmetic means
        own, rows = seeds.select(runs=[*old, *new]).paired(paired.measure), np.arange(len(old) + len(new))
        bounds = difference_bounds.bounds_of_means(own, rows[: len(old)], rows[len(old) :], reread)
        rises = difference_bounds.never_falls(paired.measure, reread)
    frame = _by_topic(paired, first, bounds, rises)
    return frame.assign(se=replicates.topic_errors(paired, seeds, first, 1 - first)[frame.index])


# Two runs topic by topic: the differences, what judging could make of them, and which it could reverse.


COLUMNS = ("measure", "topic", "baseline", "run", "difference", "low", "high", "same_order", "sign")
MANY = 400
"""Topics: the bars of more would be thinner than a dot, and so are drawn as areas."""


@public
def plot_topics(
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
    found: Any = scores
    if not (isinstance(scores, TopicDifferences) or "difference" in getattr(scores, "columns", ())):
        found = topic_differences(scores, baseline=baseline)
    matrix = found.scores if isinstance(found, TopicDifferences) else None
    frame = pictures.select_measure(
        pictures.require_frame(found, COLUMNS, "topics", "that of gradedeval.topic_differences"), measure, "topics"
    )
    ax = pictures.draw_on(partial(draw_topics, frame=frame), ax)
    emit_notes(topic_notes(frame, matrix))
    return ax


def topic_panels(differences: pd.DataFrame, matrix: Matrix) -> list[Panel]:
    """A picture for each measure."""
    frames = [frame for _, frame in differences.groupby("measure", sort=False)]
    emit_notes(note for frame in frames for note in topic_notes(frame, matrix))
    return [pictures.Panel(partial(draw_topics, frame=frame), 1.9) for frame in frames]


def texts_of_largest(found: TopicDifferences) -> list[str]:
    """The texts of the topics that differ most by the first measure, where texts are known: a line for each."""
    own = found.frame[found.frame["measure"] == found.frame["measure"].iloc[0]] if len(found.frame) else found.frame
    names, difference = own["topic"].tolist(), own["difference"].to_numpy(dtype=float)
    shown = sorted(_largest(difference, 0)) if found.texts else []
    return text_lines({names[at]: found.texts[names[at]] for at in shown if names[at] in found.texts})


def topic_notes(frame: pd.DataFrame, matrix: Matrix | None) -> list[str]:
    """What is not drawn of a measure because it is not known; and what is assumed of the scores it was made from."""
    measure = frame["measure"].iloc[0]
    unknown = int(frame["same_order"].isna().sum())
    what = f"{measure}: {unknown} of {len(frame)} topics have no residual"
    what += ", so whether judging could reverse them is not drawn"
    return [*([what] if unknown else []), *(unseen_notes(frame, matrix, "same_order") if matrix is not None else [])]


def draw_topics(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw the topics of one measure."""
    difference, low, high = (frame[name].to_numpy(dtype=float) for name in ("difference", "low", "high"))
    better = frame["sign"].to_numpy() * difference
    open_ = frame["same_order"].eq(False).fillna(False).to_numpy(dtype=bool)
    place = np.arange(len(frame))
    baseline, run = frame["baseline"].iloc[0], frame["run"].iloc[0]
    labels = pictures.run_labels([baseline, run])
    before, after = labels[baseline], labels[run]
    kinds = (
        (~open_ & (better > 0), pictures.BLUE, f"{after} better"),
        (~open_ & (better < 0), pictures.VERMILION, f"{before} better"),
        (open_, pictures.PALE, "could be reversed"),
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
        marks: dict[str, Any] = {
            "marker": "d",
            "linestyle": "",
            "markersize": size,
            "color": pictures.BLACK,
            "clip_on": False,
        }
        handles += ax.plot(place[tied], difference[tied], label=f"tied: {tied.sum()}", **marks)
    label = "range if all judged"
    if "se" in frame:
        se = frame["se"].to_numpy(dtype=float)
        low, high, label = difference - se, difference + se, "± standard error over seeds"
    known = np.isfinite(low) & np.isfinite(high) & (high > low)
    if known.any():
        alpha = 0.7 if len(frame) > MANY else 1
        handles.append(_draw(ax, known, high, low, width=0.25, color=pictures.DARK, label=label, alpha=alpha))
    elif tied.all():
        ax.set_ylim(-1, 1)
    ax.axhline(0, color=pictures.BLACK, linewidth=0.6)
    ax.grid(axis="y", color=pictures.LIGHT, linewidth=0.4)
    room = max(0.7, (8 - len(frame)) / 2)
    ax.set_xlim(-room, len(frame) - 1 + room)
    _name_topics(ax, frame["topic"].tolist(), difference)
    lower = pictures.LOWER if frame["sign"].iloc[0] < 0 else ""
    ax.set_ylabel(f"{pictures.label_text(frame['measure'].iloc[0])}: {after} − {before}{lower}")
    pictures.legend(ax, handles=handles, runs=[baseline, run])


def _draw(ax: Axes, chosen: Bools, ends: Floats, begins: Floats | None = None, *, width: float, **look: Any) -> Any:
    """Draw bars on the chosen topics, from 0 or where they begin to where they end; of very many topics an area."""
    begins = np.zeros(len(ends)) if begins is None else begins
    place = np.arange(len(ends))
    if len(ends) <= MANY:
        return ax.bar(place[chosen], (ends - begins)[chosen], bottom=begins[chosen], width=width, **look)
    first, last = (np.where(chosen, side, 0.0) for side in (begins, ends))
    return ax.fill_between(place, first, last, step="mid", linewidth=0, **look)


EXTREMES = 5
"""Topics of each sign that are named where there is no room for all."""
SMALLEST = 4.5
"""Points: the smallest letters in which topics are named."""


def _name_topics(ax: Axes, names: list[str], differences: Floats) -> None:
    """The names of topics below their bars, in two rows where one has no room; or else of the largest differences."""
    inches, _ = pictures.size_in_inches(ax)
    labels = [pictures.label_text(name, 16) for name in names]
    longest, own = max(map(len, labels)), float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())
    flat, width = longest * len(names) <= inches * 12, 72 * inches / (len(names) + 1.4)
    points = min(own, 2 * width)
    every = flat or points >= SMALLEST
    places = list(range(len(names))) if every else _largest(differences, int(own * 1.1 / width) + 1)
    ax.set_xticks(places, [labels[place] for place in places])
    if not flat:
        points = points if every else own
        ax.tick_params(axis="x", labelrotation=90, labelsize=points, pad=1.5)
        for tick in ax.xaxis.get_major_ticks()[1::2] if every and own > width else ():
            tick.set_pad(1.5 + 0.62 * points * longest + 2)
    count = f"{len(names)} {plural(len(names), 'topic')}"
    ax.set_xlabel("topic" if every else f"{count} (largest named)")


def _largest(differences: Floats, apart: int) -> list[int]:
    """The places of the largest differences of each sign, no two closer than their names allow."""
    chosen: list[int] = []
    for better in (differences > 0, differences < 0):
        of_sign: list[int] = []
        for place in np.argsort(-np.abs(np.where(better, differences, 0)), kind="stable").tolist():
            near = any(abs(place - other) < apart for other in chosen + of_sign)
            if better[place] and not near and len(of_sign) < EXTREMES:
                of_sign.append(place)
        chosen += of_sign
    return sorted(chosen)
