"""`pr`: precision over recall, graded and at each threshold of relevance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from gradedeval import kernel
from gradedeval.analysis import pictures
from gradedeval.arrays import TOLERANCE, Floats, np
from gradedeval.errors import InputError, emit_notes, plural, public
from gradedeval.kernel import AnyMeasure, Measure, OptionKwargs, Options, Setting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gradedeval.analysis.pictures import Panel
    from gradedeval.kernel import Document, Layout, Qrels, Scorer, Table


Of = Annotated["AnyMeasure", Setting("The measure whose thresholds the graded curve has, such as 'gap(g=1:1:2)' or "
    "gap@100.", metavar="MEASURE", section="Measures and gains", spelled=("-m", "--measure"),
    measure="one", short="Measure with the thresholds, such as gap@100.")]  # fmt: skip
LEVELS = 11
"""Levels of recall from 0 to 1 of interpolated precision since Salton & McGill 1983."""
MOST_CURVES = 100


@dataclass(frozen=True, eq=False)
class PrecisionRecall(kernel.results.InNotebook):
    """Precision-recall curves.

    frame      a row for each measure, run and level of recall: measure, rel (lowest relevant grade of a binary
               curve; blank for a graded one), run, recall, precision (interpolated, mean over topics), topics
    signature  settings that the numbers depend on
    notes      skipped data and assumptions
    """

    frame: pd.DataFrame
    signature: str
    notes: list[str] = field(default_factory=list)

    def document(self, layout: Layout) -> Document:
        """Return the curves as tables: for people, recall × runs for each measure."""
        if layout == "long":
            return kernel.Document([kernel.results.to_table(self.frame)], self.signature)
        blocks: list[Table | str] = []
        rel_of = dict(zip(self.frame["measure"], self.frame["rel"], strict=True))
        for name, curves in self.frame.groupby("measure", sort=False):
            numbered = curves.assign(number=kernel.results.group_numbers(curves, "run"))
            cells = numbered.pivot_table(index="recall", columns="number", values="precision", sort=False)
            columns = [kernel.Column("recall", "figures")]
            columns += [kernel.Column(run, "score", of_run=True) for run in kernel.results.distinct(curves, "run")]
            levels = [f"{level:.3g}" for level in cells.index]
            rows = [[level, *row] for level, row in zip(levels, cells.to_numpy().tolist(), strict=True)]
            blocks += [f"precision, {_named(str(name), rel_of)}", kernel.Table(columns, rows)]
        return kernel.Document(blocks, self.signature)


@kernel.takes_options("reading")
@public
@kernel.shares_work
def precision_recall(
    runs: Any,
    qrels: Any,
    measure: Of = "gap",
    *,
    like: str | None = None,
    jobs: int = 1,
    progress: bool = False,
    **keywords: Unpack[OptionKwargs],
) -> PrecisionRecall:
    """Compute graded precision over graded recall, and the binary curve of each threshold.

    runs      as in `evaluate`: one run, a list of runs, or a dict of them by name
    qrels     as in `evaluate`
    measure   gap, whose thresholds define the graded curve, as in "gap(g=1:1:2)", with a cutoff to leave out the
              ranks below. The area below the curve, not interpolated, is the measure
    keywords  options, as in `evaluate`

    Precision at a relevant document is 1/n Σ_{m≤n} Σ_{j ≤ min(i_m, i_n)} g_j / Σ_{j≤i_n} g_j, recall down to it
    Σ_{m≤n} Σ_{j≤i_m} g_j / Σ_i R_i Σ_{j≤i} g_j; with one threshold they are precision and recall. Interpolated
    precision at a level of recall is the highest precision at or beyond it, 0 if it is not reached; curves are means
    over topics. Robertson et al., SIGIR 2010, section 3.2; Salton & McGill 1983.

    Returns `PrecisionRecall`: `.frame`, `.signature`. Raises `gradedeval.InputError` as `evaluate` does, and (usage)
    for a measure without thresholds.

    >>> curves = gradedeval.precision_recall({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 2}})
    >>> curves.frame.query("measure == 'gap'")[["recall", "precision"]].tail(2)
        recall  precision
    9      0.9       0.75
    10     1.0       0.75
    """
    options = kernel.resolve_options(like, **keywords)
    (chosen,) = kernel.parse_measures(measure)
    named = kernel.named_runs(runs)
    _check(chosen, options)
    judged = kernel.qrels_for(named, qrels, options)
    graded = kernel.Scorer(judged, [chosen], options)
    scorer = kernel.Scorer(judged, [*graded.measures, *_binary(graded)], options, kernel.Workers.current().limits)
    frames, counts, formats, notes = _curves(named, graded, scorer)
    under = kernel.signature(judged, options, scorer.measures, counts, formats)
    signature = f"{under} | interpolated at {LEVELS} levels of recall"
    return PrecisionRecall(kernel.results.joined(frames), signature, emit_notes(notes))


def _curves(
    runs: Mapping[str, Any], graded: Scorer, scorer: Scorer
) -> tuple[list[pd.DataFrame], list[tuple[int, int]], list[str], list[str]]:
    """Return the curves of all runs by measure; for each run its numbers of topics and its format; and notes."""
    frames, counts, formats, notes, run_notes = [], [], [], list(scorer.notes), list[str]()
    barren: dict[str, set[bytes]] = {}
    averaged: list[frozenset[bytes]] = []
    share = kernel.Workers.current()
    for name, source in share.progress(list(runs.items())):
        run = kernel.tasks.grade_run(source, scorer.grader, share.silent(), name)
        curves: list[list[tuple[Floats, Floats]]] = [[] for _ in scorer.measures]
        for batch in run.settled():
            gains_of = scorer.gains_cache(batch)
            for points, measure, table in zip(curves, scorer.measures, scorer.tables, strict=True):
                gains = gains_of(table, measure)
                points += _of_topics(gains)
                without = np.flatnonzero(gains.num_relevant == 0).tolist()
                barren.setdefault(measure.label, set()).update(batch.topics[row] for row in without)
        for points, measure in zip(curves, scorer.measures, strict=True):
            rel = np.nan if measure == graded.measures[0] else measure.rel
            head = {"measure": measure.label, "rel": rel, "run": name}
            curve = {"recall": np.linspace(0, 1, LEVELS), "precision": _mean_curve(points), "topics": len(points)}
            frames.append(kernel.results.to_frame({**head, **curve}))
        counts.append((len(run.topics), run.missing))
        averaged.append(frozenset(run.topics))
        formats.append(run.format)
        run_notes += kernel.caveats.notes_of_run(run, graded)
    count = len(scorer.measures)
    notes += [
        *kernel.caveats.merge_run_notes(run_notes, len(runs)),
        *graded.unequal_topics(averaged),
        *kernel.caveats.few_topics_notes(max(count for count, _ in counts)),
        *_barren_notes(barren, scorer.qrels, max(count for count, _ in counts)),
    ]
    return [frame for column in range(count) for frame in frames[column::count]], counts, formats, notes


def _check(measure: Measure, options: Options) -> None:
    """Raise InputError (usage) for a measure or options without a curve."""
    if measure.name != "gap" or measure.prior is not None:
        hint = "give gap, or one with thresholds such as 'gap(g=1:1:2)'"
        raise InputError(f"'{measure}'", "has no graded precision and recall", hint, usage=True)
    if options.ties == "average":
        raise kernel.options.OPTIONS["ties"].error("precision at a document needs one order", "choose an order")


def _binary(graded: Scorer) -> list[Measure]:
    """Return the measure at each threshold, if several. Raises InputError (usage) for too many thresholds."""
    measure, levels = graded.measures[0], kernel.gains.thresholds(graded.grades)
    if measure.rel is None and measure.threshold_shares is None and levels[MOST_CURVES:]:
        problem = f"has more than {MOST_CURVES} thresholds up to grade {levels[-1]:g}, each with a binary curve"
        raise InputError(f"'{measure}'", problem, f"name one, as in 'gap(rel={levels[0]:g})'", usage=True)
    shares = measure.threshold_shares or [1.0] * len(levels[:MOST_CURVES])
    used = [threshold for threshold, share in zip(levels, shares, strict=False) if share > 0]
    if len(used) < 2 or measure.rel is not None:
        return []
    return [replace(measure, parameters=(("rel", threshold),), spellings=()) for threshold in used]


def _of_topics(g: kernel.gains.Gains) -> Iterator[tuple[Floats, Floats]]:
    """Yield for each topic recall at its relevant documents, ascending, and interpolated precision from each on."""
    total = g.ideal.sum(1)
    recall = g.gain.cumsum(1) / np.where(total > 0, total, 1.0)[:, None]
    precision = kernel.precision_at_relevant(g)
    best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    for row, relevant in enumerate(g.relevant):
        yield recall[row, relevant], best[row, relevant]


def _mean_curve(topics: list[tuple[Floats, Floats]]) -> Floats:
    """Return the mean over topics of interpolated precision at each level of recall."""
    levels, summed = np.linspace(0, 1, LEVELS), np.zeros(LEVELS)
    for recall, best in topics:
        summed += np.append(best, 0.0)[np.searchsorted(recall, levels - TOLERANCE)]
    return summed / max(1, len(topics))


def _barren_notes(barren: Mapping[str, set[bytes]], qrels: Qrels, counted: int) -> list[str]:
    """Return a note for all measures with the same topics without relevant documents, out of `counted` topics."""
    alike: dict[frozenset[bytes], list[str]] = {}
    for name, topics in barren.items():
        alike.setdefault(frozenset(topics), []).append(name)
    return [
        kernel.caveats.no_relevant_text(
            qrels.place,
            [kernel.decode(topic) for topic in qrels.topics if topic in topics],
            counted,
            names if len(alike) > 1 else (),
        )
        for topics, names in alike.items()
        if topics
    ]


COLUMNS = ("measure", "rel", "run", "recall", "precision", "topics")
DASHES = ((4, 1.5), (1, 1), (4, 1, 1, 1), (7, 2), (2, 2), (7, 1, 1, 1, 1, 1))
POINTS = 21
"""Maximum number of levels of recall that are drawn as points."""
TOGETHER = 8
"""Maximum number of lines on one axes; with more each measure has its own."""


@public
def plot_pr(curves: Any, measure: Any = None, *, ax: Axes | None = None) -> Axes:
    """Plot interpolated precision-recall curves: the graded curve of each run as a thick line, binary curves as thin
    lines, dashed by threshold. Of more than 7 runs the first 7 are in color, with a warning.

    curves   result of `gradedeval.precision_recall`, or its frame
    measure  a single measure to draw, such as "gap" or "gap(rel=2)"; None: all
    ax       matplotlib axes to draw on; None: the current ones

    Returns the axes. Raises `gradedeval.InputError` (usage) for another frame, or an unknown measure.

    >>> curves = gradedeval.precision_recall({"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1, "d2": 2}})
    >>> axes = gradedeval.plot.pr(curves)
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('recall (share of what is relevant)', 'precision (1 topic)')
    """
    frame = pictures.require_frame(curves, COLUMNS, "pr", "the result of gradedeval.precision_recall")
    frame = frame if measure is None else pictures.select_measure(frame, measure, "pr")
    ax = pictures.draw_on(partial(draw_curves, frame=frame), ax)
    emit_notes(pictures.grey_notes(frame))
    return ax


def curve_panels(frame: pd.DataFrame) -> list[Panel]:
    """Return one picture, or one for each measure if it had too many lines."""
    emit_notes(pictures.grey_notes(frame))
    if len(kernel.results.distinct(frame, "measure", "run")) <= TOGETHER:
        return [pictures.Panel(partial(draw_curves, frame=frame), 2.1)]
    groups = frame.groupby("measure", sort=False)
    top = frame["precision"].max()
    return [pictures.Panel(partial(draw_curves, frame=curves, top=top), 2.0) for _, curves in groups]


def draw_curves(ax: Axes, frame: pd.DataFrame, top: float | None = None) -> None:
    """Draw all curves of a frame, up to the precision `top`."""
    runs, measures = (list(dict.fromkeys(frame[name])) for name in ("run", "measure"))
    rel_of = dict(zip(frame["measure"], frame["rel"], strict=True))
    look_of, dash_of = dict(zip(runs, pictures.line_styles(len(runs)), strict=True)), _dashes(rel_of)
    few = frame["recall"].nunique() <= POINTS
    for measure, run in dict.fromkeys(zip(frame["measure"], frame["run"], strict=True)):
        curve = frame[(frame["measure"] == measure) & (frame["run"] == run)]
        is_marked = few and (np.isnan(rel_of[measure]) or len(measures) == 1)
        is_marked = is_marked and run in list(look_of)[: pictures.MAX_COLORED]
        marker: dict[str, Any] = {"marker": "o", "markersize": 2.5} if is_marked else {}
        # Between two levels, interpolated precision is the one of the next level.
        steps: dict[str, Any] = {} if few else {"drawstyle": "steps-pre"}
        look = {**look_of[run], **dash_of[measure], **marker, **steps}
        ax.plot(curve["recall"], curve["precision"], label=f"{run} {measure}", clip_on=False, **look)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.05 * (top or frame["precision"].max()) or 1)
    ax.grid(color=pictures.LIGHT, linewidth=0.4)
    topics = int(frame["topics"].max())
    only = f", {_named(measures[0], rel_of)}" if len(measures) == 1 else ""
    ax.set_xlabel("recall (share of what is relevant)")
    ax.set_ylabel(f"precision{only} ({topics} {plural(topics, 'topic')})")
    _explain_lines(ax, look_of, {_named(name, rel_of): dash_of[name] for name in measures})


def _named(measure: str, rel_of: Mapping[str, float]) -> str:
    """Return the name of a curve: for a binary one its threshold."""
    return pictures.label_text(measure) if np.isnan(rel_of[measure]) else f"grade ≥ {rel_of[measure]:g}"


def _dashes(rel_of: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Return the line style of each measure: graded curves are thick, binary ones thin and dashed."""
    binary = [name for name, rel in rel_of.items() if not np.isnan(rel)]
    thin = {
        name: {"linestyle": (0, DASHES[number % len(DASHES)]), "linewidth": 0.8} for number, name in enumerate(binary)
    }
    return {name: thin.get(name, {}) if len(rel_of) > 1 else {} for name in rel_of}


def _explain_lines(ax: Axes, look_of: Mapping[str, Any], dash_of: Mapping[str, Any]) -> None:
    """Add a legend with the colors of runs and the dashes of curves."""
    from matplotlib.lines import Line2D

    named = list(look_of)[: pictures.MAX_COLORED]
    labels = pictures.run_labels(look_of)
    handles = [Line2D([], [], label=labels[run], **look_of[run]) for run in named]
    if rest := len(look_of) - len(named):
        handles.append(Line2D([], [], label=f"{rest} other {plural(rest, 'run')}", color=pictures.LIGHT))
    if len(dash_of) > 1:
        handles += [Line2D([], [], label=name, color="#444444", **dash) for name, dash in dash_of.items()]
    pictures.legend(ax, handles=handles, runs=list(look_of))
